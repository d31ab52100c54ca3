// The controls of a call. A control exists only if the role and the browser allow what it does.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { h, icon, put } from "../lib/dom.js";
import { menu_button } from "./menu.js";
import { rove } from "./rove.js";
import { words } from "./words.js";

/** @typedef {"on" | "off" | "bad" | "held"} Switch "held": a host has turned it off for all */
/** @typedef {"audio" | "video" | "screen" | "hand"} Toggle */
/** @typedef {(button: HTMLElement) => void} Act */
/** @typedef {Record<Toggle | "leave" | "chat" | "people" | "more" | "audio_devices" | "video_devices", Act>} Acts */

/** A button: a symbol in a disc, and a word below it. @param {string} name @param {string} symbol @param {string} label @param {Act} act */
function control(name, symbol, label, act) {
	const disc = h("span.disc", null, icon(symbol));
	const word = h("span.word", { "aria-hidden": "true" }, label);
	const button = h("button.control", { type: "button", "data-control": name, onclick: () => act(button) }, disc, word);
	return { button, disc, word };
}

/**
 * A control with two states, which its name tells.
 * @param {Toggle} name @param {[string, string]} symbols on and off
 * @param {{ on: string, off: string, held?: string, label: string, label_on?: string }} says @param {Act} act
 */
function toggle(name, symbols, says, act) {
	const { button, disc, word } = control(name, symbols[1], says.label, act);
	return {
		button,
		/** @param {Switch} state */
		draw(state) {
			const on = state === "on";
			const is_held = state === "held";
			const name = on ? says.on : ((is_held && says.held) || says.off);
			put(disc, icon(symbols[on ? 0 : 1]), state === "bad" && h("span.alarm", { "aria-hidden": "true" }, "!"), is_held && h("span.lock-mark", null, icon("lock")));
			button.classList.toggle("is-on", on);
			button.classList.toggle("is-off", !on && !is_held);
			button.classList.toggle("is-held", is_held);
			button.setAttribute("aria-label", name);
			button.title = name;
			put(word, on ? (says.label_on ?? says.label) : says.label);
		},
	};
}

/** The small button for devices. @param {string} name @param {string} label @param {Act} act */
function caret(name, label, act) {
	const button = menu_button("caret", "up", label, act);
	button.dataset.control = name;
	return button;
}

/** @param {string} title @param {Acts} acts */
export function bar(title, acts) {
	const toggles = {
		audio: toggle("audio", ["mic", "mic-off"], { ...words.microphone, held: words.microphone_locked }, acts.audio),
		video: toggle("video", ["camera", "camera-off"], words.camera, acts.video),
		screen: toggle("screen", ["screen-off", "screen"], words.screen, acts.screen),
		hand: toggle("hand", ["hand", "hand"], words.hand, acts.hand),
	};
	/** @type {Record<string, HTMLElement>} */
	const parts = {
		audio: h(
			"div.with-caret",
			null,
			toggles.audio.button,
			caret("audio-devices", words.microphone_choice, acts.audio_devices),
		),
		video: h(
			"div.with-caret",
			null,
			toggles.video.button,
			caret("video-devices", words.camera_choice, acts.video_devices),
		),
		screen: toggles.screen.button,
	};
	const leave = control("leave", "leave", words.leave, acts.leave);
	leave.button.classList.add("leave");
	leave.button.setAttribute("aria-label", words.leave);
	const chat = control("chat", "chat", words.chat, acts.chat);
	chat.button.setAttribute("aria-controls", "chat");
	const unread = h("span.count.unread", { hidden: true });
	chat.disc.append(unread);
	const people = control("people", "people", words.people, acts.people);
	people.button.setAttribute("aria-controls", "people");
	// The number is generated content, because the name of the button has it in words.
	const count = h("span.count");
	people.disc.append(count);
	const more = control("more", "more", words.more, acts.more);
	more.button.setAttribute("aria-label", words.more);
	more.button.setAttribute("aria-haspopup", "menu");
	more.button.setAttribute("aria-expanded", "false");
	const lock = h("span.call-lock", { title: words.locked, hidden: true }, icon("lock"), h("span.off-screen", null, words.locked));
	const length = h("span.call-length");
	const line = h("div.call-line", null, length);
	const about = h(
		"div.call-about",
		null,
		h("p.call-name", { title }, lock, h("bdi", null, title)),
		line,
	);
	const element = h(
		"div.call-bar",
		{ role: "toolbar", "aria-label": words.controls },
		about,
		h("div.controls", null, Object.values(parts), toggles.hand.button, leave.button),
		h("div.controls.side", null, chat.button, people.button, more.button),
	);

	const all = [...element.querySelectorAll("button")];
	const is_seen = (/** @type {HTMLElement} */ one) => one.offsetParent !== null;
	const usable = () => all.filter(is_seen);
	/** What was allowed last, in this size of the bar. */
	let allowed = "";
	new ResizeObserver(() => (allowed = "")).observe(element);
	element.addEventListener("focusin", (event) => rove(all, /** @type {Element} */ (event.target).closest("button")));
	element.addEventListener("keydown", (event) => {
		const buttons = usable();
		const at = buttons.findIndex((one) => one === document.activeElement);
		const next = getComputedStyle(element).direction === "rtl" ? -1 : 1;
		/** @type {Record<string, number>} */
		const targets = { ArrowRight: at + next, ArrowLeft: at - next, ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 };
		const to = targets[event.key];
		if (to === undefined || at < 0) return;
		event.preventDefault();
		buttons.at(to % buttons.length)?.focus();
	});
	for (const one of Object.values(toggles)) one.draw("off");
	const panels = { chat: chat.button, people: people.button };
	for (const one of Object.values(panels)) one.setAttribute("aria-expanded", "false");
	/** @param {number} n */
	function show_unread(n) {
		unread.hidden = n === 0;
		unread.dataset.count = n > 99 ? "99+" : String(n);
		chat.button.setAttribute("aria-label", words.chat_label(n));
	}
	show_unread(0);
	return {
		element,
		/** Where the length stands, behind what runs. */
		line,
		/** @param {Toggle} name @param {Switch} state */
		draw: (name, state) => toggles[name].draw(state),
		/** Shows what can be published. @param {string[]} kinds @param {boolean} has_hand */
		allow(kinds, has_hand) {
			const now = JSON.stringify([kinds, has_hand]);
			// To tell what is seen, the browser has to lay out the page.
			if (now === allowed) return;
			allowed = now;
			const focused = document.activeElement;
			for (const [kind, part] of Object.entries(parts)) {
				part.hidden = !kinds.includes(kind);
			}
			toggles.hand.button.hidden = !has_hand;
			const buttons = usable();
			const stop = buttons.find((one) => one.tabIndex === 0) ?? buttons[0];
			rove(all, stop);
			// A control that disappears gives its focus to another one.
			if (element.contains(focused) && !buttons.some((one) => one === focused)) stop?.focus();
		},
		/**
		 * @param {number} n @param {number} waiting how many wait to be let in
		 * @param {number} hands how many have raised a hand, for those who can lower it
		 */
		people(n, waiting, hands) {
			count.dataset.count = String(waiting || hands || n);
			count.classList.toggle("waiting", waiting > 0);
			count.classList.toggle("hands", !waiting && hands > 0);
			put(count, waiting > 0 ? icon("person") : hands > 0 && icon("hand"));
			people.button.setAttribute("aria-label", !waiting && hands ? words.people_hands(n, hands) : words.people_label(n, waiting));
		},
		/** Shows how many messages are unread. @param {number} n */
		unread: show_unread,
		/** Shows that the chat is being loaded. @param {boolean} yes */
		loads_chat: (yes) => (yes ? chat.button.setAttribute("aria-busy", "true") : chat.button.removeAttribute("aria-busy")),
		/** Shows which panel is open. @param {string | null} open */
		panel(open) {
			for (const [name, button] of Object.entries(panels)) {
				button.setAttribute("aria-expanded", String(name === open));
				button.classList.toggle("is-on", name === open);
			}
		},
		/** Shows the length of the call. @param {string} text @param {boolean} soon whether it ends soon */
		length(text, soon) {
			put(length, soon && icon("clock"), text);
			length.classList.toggle("soon", soon);
		},
		/** Shows whether the room is locked. @param {boolean} yes */
		lock: (yes) => void (lock.hidden = !yes),
		/** Room and length, for where the bar has no space for them. */
		about: () => [h("p.menu-room", null, h("bdi", null, title)), h("p.quiet.small-text", null, length.textContent)],
		/** Menu entries of the controls that the window is too small for. @returns {import("./menu.js").Entry[]} */
		left_out() {
			const own = { hand: toggles.hand.button, people: people.button, screen: toggles.screen.button };
			const symbols = { hand: "hand", people: "people", screen: "screen" };
			return /** @type {(keyof typeof own)[]} */ (Object.keys(own))
				.filter((name) => !own[name].hidden && !is_seen(own[name]))
				.map((name) => {
					const number = name === "people" ? ` (${count.dataset.count})` : "";
					const text = own[name].getAttribute("aria-label") ?? "";
					return { icon: symbols[name], text: number ? words.people + number : text, act: () => acts[name](own[name]) };
				});
		},
		/** Whether the window is too small for the small buttons for devices. */
		lacks_devices: () => !all.some((one) => one.matches(".caret") && is_seen(one)),
		focus: () => usable()[0]?.focus({ preventScroll: true }),
		/** Focuses the control of a panel, or More where it is. @param {keyof typeof panels} name */
		focus_on: (name) => (is_seen(panels[name]) ? panels[name] : more.button).focus(),
	};
}
