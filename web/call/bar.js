// The controls of a call. A control exists only if the role and the browser allow what it does.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { h, icon, put } from "../lib/dom.js";
import { rove } from "./rove.js";
import { words } from "./words.js";

/** @typedef {"on" | "off" | "bad"} Switch */
/** @typedef {"audio" | "video" | "screen" | "hand"} Toggle */
/** @typedef {(button: HTMLElement) => void} Act */
/** @typedef {Record<Toggle | "leave" | "people" | "more" | "audio_devices" | "video_devices", Act>} Acts */

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
 * @param {{ on: string, off: string, label: string, label_on?: string }} says @param {Act} act
 */
function toggle(name, symbols, says, act) {
	const { button, disc, word } = control(name, symbols[1], says.label, act);
	return {
		button,
		/** @param {Switch} state */
		draw(state) {
			const on = state === "on";
			put(disc, icon(symbols[on ? 0 : 1]), state === "bad" && h("span.alarm", { "aria-hidden": "true" }, "!"));
			button.classList.toggle("is-on", on);
			button.classList.toggle("is-off", !on);
			button.setAttribute("aria-label", on ? says.on : says.off);
			button.title = on ? says.on : says.off;
			put(word, on ? (says.label_on ?? says.label) : says.label);
		},
	};
}

/** The small button for devices. @param {string} name @param {string} label @param {Act} act */
function caret(name, label, act) {
	const button = h(
		"button.caret",
		{
			type: "button",
			"data-control": name,
			"aria-label": label,
			title: label,
			"aria-haspopup": "menu",
			"aria-expanded": "false",
			onclick: () => act(button),
		},
		icon("up"),
	);
	return button;
}

/** @param {string} title @param {Acts} acts */
export function bar(title, acts) {
	const toggles = {
		audio: toggle("audio", ["mic", "mic-off"], words.microphone, acts.audio),
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
	const people = control("people", "people", words.people, acts.people);
	people.button.setAttribute("aria-controls", "people");
	// The number is generated content, because the name of the button has it in words.
	const count = h("span.count");
	people.disc.append(count);
	const more = control("more", "more", words.more, acts.more);
	more.button.setAttribute("aria-label", words.more);
	more.button.setAttribute("aria-haspopup", "menu");
	more.button.setAttribute("aria-expanded", "false");
	const element = h(
		"div.call-bar",
		{ role: "toolbar", "aria-label": words.controls },
		h("p.call-name", null, title),
		h("div.controls", null, Object.values(parts), toggles.hand.button, leave.button),
		h("div.controls.side", null, people.button, more.button),
	);

	const all = [...element.querySelectorAll("button")];
	const usable = () => all.filter((one) => one.offsetParent !== null);
	element.addEventListener("focusin", (event) => rove(all, /** @type {Element} */ (event.target).closest("button")));
	element.addEventListener("keydown", (event) => {
		const buttons = usable();
		const at = buttons.findIndex((one) => one === document.activeElement);
		/** @type {Record<string, number>} */
		const targets = { ArrowRight: at + 1, ArrowLeft: at - 1, ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 };
		const to = targets[event.key];
		if (to === undefined || at < 0) return;
		event.preventDefault();
		buttons.at(to % buttons.length)?.focus();
	});
	for (const one of Object.values(toggles)) one.draw("off");
	return {
		element,
		/** @param {Toggle} name @param {Switch} state */
		draw: (name, state) => toggles[name].draw(state),
		/** Shows what can be published. @param {string[]} kinds @param {boolean} has_hand */
		allow(kinds, has_hand) {
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
		/** @param {number} n @param {boolean} open @param {number} waiting how many wait to be let in */
		people(n, open, waiting) {
			count.dataset.count = String(waiting || n);
			count.classList.toggle("waiting", waiting > 0);
			people.button.setAttribute("aria-label", words.people_label(n, waiting));
			people.button.setAttribute("aria-expanded", String(open));
			people.button.classList.toggle("is-on", open);
		},
		focus: () => usable()[0]?.focus({ preventScroll: true }),
		focus_people: () => people.button.focus(),
	};
}
