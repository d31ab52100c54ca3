// The panel of the chat: messages, recipient, and the field. What others write is only ever a text.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { h, icon, put } from "../../lib/dom.js";
import { face } from "../../lib/face.js";
import { time_of } from "../clock.js";
import { host_mark } from "../host_mark.js";
import { menu, menu_button } from "../menu.js";
import { close_button } from "../panels.js";
import { words as common } from "../words.js";
import { LONGEST, clean, clean_name, length_of } from "./texts.js";
import { words } from "./words.js";

/** @typedef {import("./store.js").Entry} Entry */
/** @typedef {import("./store.js").Only} Only */
/** @typedef {import("../media.js").Person} Person */

// Characters that are left when their number is shown, and pixels that count as the end.
const COUNTED = 200;
const END = 40;
// Milliseconds: after which a message of the same person has its name and time again; for which nothing is read aloud
// when the panel has been opened; until a saved file is let go.
const LATER = 300000;
const QUIET = 500;
const LET_GO = 10000;

const LINK = /(https:\/\/[^\s<>"]+[^\s<>".,;:!?)])/i;

/** Splits a text at its links. @param {string} text */
const linked = (text) =>
	text
		.split(LINK)
		.map((part, i) =>
			i % 2 && (URL.canParse?.(part) ?? true) ? h("a", { href: part, target: "_blank", rel: "noopener noreferrer", dir: "auto" }, part) : part,
		);

/** Returns the date as a file's name has it. @param {Date} date */
const day_of = (date) => [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((n) => String(n).padStart(2, "0")).join("-");

/**
 * Fills the panel.
 * @param {HTMLElement} element
 * @param {{ room: string, people: () => Person[], role_shown: (name: string) => string,
 *   note: import("../notes.js").Notes, show: (open: boolean) => void, entries: Entry[],
 *   state: import("../chat.js").State, alerts: () => boolean, turn_alerts: () => void,
 *   send: (text: string, identities: string[], only: Only) => void, retry: (entry: Entry) => void, wait: () => number,
 *   signal: AbortSignal }} call
 */
export function chat_panel(element, call) {
	const { entries, state } = call;
	/** @type {Map<Entry, { root: HTMLElement, same: boolean, update: () => void }>} */
	const rows = new Map();
	/** Who gets the next message. @type {Only} */
	let chosen = null;
	let newer = 0;
	let offered = "";
	let drawn = "";
	/** Until when nothing can be sent. */
	let blocked = 0;

	// ---- the parts ----

	const title = h("h2", { tabindex: "-1" }, common.chat);
	const options = menu_button("plain.square", "more", words.options, open_options);
	const end = close_button(() => call.show(false));
	const top = h("div");
	const list = h("div");
	const log = h("div.chat-log", { role: "log", "aria-label": words.place, "aria-relevant": "additions", tabindex: "0", onscroll: at_end }, top, list);
	const pill = h("button.small.chat-newer", { type: "button", hidden: true, onclick: to_end });
	const to = h("select", { id: "chat-to", onchange: choose, onblur: people });
	const field = h("textarea", {
		id: "chat-text",
		rows: "1",
		dir: "auto",
		placeholder: words.hint,
		"aria-label": words.message,
		"aria-describedby": "chat-fault chat-count",
		oninput: grow,
		onkeydown: press,
	});
	const send = h("button.primary.square", { type: "submit", "aria-label": words.send, title: words.send }, icon("send"));
	const fault = h("p.fault.chat-fault", { id: "chat-fault", role: "status" });
	const count = h("p.hint", { id: "chat-count", hidden: true });
	const form = h(
		"form.chat-form",
		{ onsubmit: submit },
		h("div.chat-to", null, h("label", { for: "chat-to" }, words.to), h("div.select", null, to, icon("down"))),
		h("div.chat-write", null, field, send),
		fault,
		count,
	);
	const read_only = h("p.quiet.chat-read", { hidden: true }, icon("lock"), words.read_only);
	put(
		element,
		h("div.panel-head", null, title, h("div.head-buttons", null, options, end)),
		h("div.chat-body", null, log, pill),
		h("div.chat-foot", null, read_only, form),
	);
	// Messages stay at the end when the keyboard of a phone opens, and when the field grows.
	let follows = true;
	new ResizeObserver(() => follows && to_end()).observe(log);
	addEventListener("resize", grow, { signal: call.signal });

	// ---- messages ----

	function at_end() {
		follows = log.scrollHeight - log.scrollTop - log.clientHeight < END;
		if (follows) show_newer(0);
	}
	function to_end() {
		log.scrollTop = log.scrollHeight;
		follows = true;
		show_newer(0);
	}
	/** @param {number} n */
	function show_newer(n) {
		newer = n;
		pill.hidden = n === 0;
		put(pill, icon("down"), common.chat_new(n));
	}
	/** Who else got a message; "" for everyone. @param {Only} only */
	function only_text(only) {
		if (!only) return "";
		if ("me" in only) return words.only_you;
		if ("role" in only) return words.only_to(call.role_shown(only.role));
		return "n" in only ? words.only_people(only.n) : words.only_to(only.name);
	}
	/** Whether a message follows another without its own name and time. @param {Entry} entry @param {Entry | undefined} before */
	const follows_on = (entry, before) =>
		entry.kind === "text" &&
		before?.kind === "text" &&
		entry.from === before.from &&
		entry.mine === before.mine &&
		JSON.stringify(entry.only) === JSON.stringify(before.only) &&
		entry.at.getTime() - before.at.getTime() < LATER;
	/** @param {Entry} entry */
	const time = ({ at }) => h("time", { datetime: at.toISOString() }, time_of.format(at));
	/** @param {Entry} entry @param {boolean} same */
	function row(entry, same) {
		if (entry.kind === "lost") {
			const line = document.createTextNode("");
			const update = () => {
				if (entry.why) line.data = words.lost[entry.why](entry.n, entry.name);
			};
			update();
			return { root: h("p.chat-line", null, line), same, update };
		}
		const text = h("p.chat-text", { dir: "auto" }, linked(entry.text));
		if (entry.kind === "service") {
			const by = h("p.chat-by", null, icon("info"), h("b", null, words.announcement), time(entry));
			return { root: h("div.chat-entry.service", null, by, text), same, update() {} };
		}
		const only = only_text(entry.only);
		const failed = h("p.fault", { hidden: true });
		const by = h(
			"p.chat-by",
			null,
			h("b", null, h("bdi", null, entry.mine ? common.you : entry.name)),
			entry.host && host_mark(`, ${common.host}`),
			only && h("span.chat-only", null, icon("lock"), h("bdi", null, only)),
			time(entry),
		);
		const root = h(
			"div.chat-entry",
			{ class: `${entry.mine ? "mine" : ""} ${only ? "private" : ""} ${same ? "same" : ""}` },
			!entry.mine && !same && face(entry.name),
			h("div.chat-said", null, !same && by, text, failed),
		);
		const update = () => {
			const is_failed = entry.state === "failed";
			failed.hidden = !is_failed;
			const again = () => {
				if (attempt(entry.text, entry.only)) call.retry(entry);
			};
			const retry = () => h("button.as-link", { type: "button", onclick: again }, common.try_again);
			put(failed, is_failed && [icon("warning"), common.chat_failed, " ", retry()]);
		};
		if (entry.state === "failed") update();
		return { root, same, update };
	}
	/** Shows what has changed. */
	function draw() {
		if (element.hidden) return;
		const kept = new Set(entries);
		for (const [entry, { root }] of rows) {
			if (kept.has(entry)) continue;
			root.remove();
			rows.delete(entry);
		}
		let added = 0;
		let is_mine = false;
		/** @type {Entry | undefined} */
		let before;
		for (const entry of entries) {
			const same = follows_on(entry, before);
			const known = rows.get(entry);
			if (known?.same !== same) {
				const now = row(entry, same);
				if (known) known.root.replaceWith(now.root);
				else {
					list.append(now.root);
					is_mine ||= entry.mine;
					if (entry.kind !== "lost") added += 1;
				}
				rows.set(entry, now);
			}
			before = entry;
		}
		const is_empty = !entries.some((one) => one.kind !== "lost");
		log.classList.toggle("is-empty", is_empty);
		const joined = state.joined && h("p.chat-line", null, words.joined(time_of.format(state.joined)));
		const first = () =>
			is_empty
				? h("div.chat-empty", null, icon("chat"), h("p", null, h("b", null, words.empty)), h("p.quiet", null, words.empty_help), h("p.quiet.small-text", null, words.ends))
				: h("p.chat-line", null, words.ends);
		const now = `${is_empty} ${state.joined}`;
		if (now !== drawn) put(top, first(), joined);
		drawn = now;
		if (follows || is_mine) to_end();
		else if (added > 0) show_newer(newer + added);
	}

	// ---- recipients ----

	const others = () => call.people().filter((one) => !one.me);
	/** Returns the people whom a message goes to, or null if they have left; empty for everyone. @param {Only} only */
	function identities_of(only) {
		if (!only) return [];
		const is_meant = (/** @type {Person} */ one) =>
			"role" in only ? one.role === only.role : "identity" in only && one.identity === only.identity;
		const found = others().filter(is_meant);
		return found.length > 0 ? found.map((one) => one.identity) : null;
	}
	const name_of = (/** @type {Only} */ only) => (only && "role" in only ? call.role_shown(only.role) : only && "name" in only ? only.name : "");
	const value_of = (/** @type {Only} */ only) => (only && "role" in only ? `role ${only.role}` : only && "identity" in only ? `to ${only.identity}` : "");
	function choose() {
		const { value } = to;
		const one = others().find(({ identity }) => `to ${identity}` === value);
		chosen = value.startsWith("role ") ? { role: value.slice(5) } : one ? { name: one.name, identity: one.identity } : null;
		blocked = 0;
		people();
	}
	/** Offers who is inside, and says what is in the way of sending. */
	function people() {
		if (element.hidden) return;
		form.hidden = !state.may_write;
		read_only.hidden = state.may_write;
		const all = others();
		const roles = [...new Set(call.people().map((one) => one.role))].filter((role) => role !== "");
		const offers = [
			["", words.everyone],
			...(roles.length > 1 && all.length > 1 ? roles : [])
				.filter((role) => all.some((one) => one.role === role))
				.map((role) => [`role ${role}`, words.role(call.role_shown(role))]),
			...all.map((one) => [`to ${one.identity}`, one.name]),
		];
		// Who has left stays chosen, so that nothing goes to somebody else.
		if (!offers.some(([value]) => value === value_of(chosen))) offers.push([value_of(chosen), name_of(chosen)]);
		form.classList.toggle("to-one", chosen !== null);
		form.classList.toggle("only-one", all.length < 2 && chosen === null);
		const now = JSON.stringify([offers, value_of(chosen)]);
		// A list that is open would close.
		if (now !== offered && document.activeElement !== to) {
			offered = now;
			put(to, offers.map(([value, text]) => h("option", { value, selected: value === value_of(chosen) }, text)));
			to.value = value_of(chosen);
		}
		tell();
	}

	// ---- the field ----

	/** Says what is in the way of sending, or how many characters are left. */
	function tell() {
		const left = LONGEST - length_of(field.value);
		const wait = Math.ceil((blocked - performance.now()) / 1000);
		const text =
			(state.away && words.away) ||
			(identities_of(chosen) === null && words.gone(name_of(chosen))) ||
			(wait > 0 && words.fast(wait)) ||
			(left < 0 && words.long) ||
			"";
		if (fault.textContent !== text) put(fault, text && icon("warning"), text);
		count.hidden = text !== "" || left > COUNTED;
		put(count, words.left(left));
		send.disabled = state.away;
	}
	/** Makes the field as high as what is written in it. */
	function grow() {
		if (element.hidden) return;
		field.style.height = "auto";
		field.style.height = `${field.scrollHeight + 2}px`;
		tell();
	}
	/** @param {KeyboardEvent} event */
	function press(event) {
		if (event.key !== "Enter" || event.shiftKey || event.isComposing || matchMedia("(pointer: coarse)").matches) return;
		event.preventDefault();
		form.requestSubmit();
	}
	/** Sends a text if that is possible; else says why not. @param {string} text @param {Only} only @returns {boolean} */
	function attempt(text, only) {
		const identities = identities_of(only);
		const wait = call.wait();
		if (wait > 0) {
			blocked = performance.now() + wait;
			setTimeout(tell, wait + 50);
		}
		if (!identities && only !== chosen) put(fault, icon("warning"), words.gone(name_of(only)));
		else tell();
		if (!identities || wait > 0 || state.away || text === "" || length_of(text) > LONGEST) return false;
		call.send(text, identities, only);
		return true;
	}
	/** @param {SubmitEvent} event */
	function submit(event) {
		event.preventDefault();
		if (attempt(clean(field.value), chosen)) {
			field.value = "";
			grow();
		}
		field.focus();
	}

	// ---- options ----

	function open_options() {
		const has_messages = entries.some((one) => one.kind !== "lost");
		menu(options, [
			has_messages && { icon: "download", text: words.save, act: save },
			{ icon: call.alerts() ? "sound-off" : "sound", text: words.alerts[call.alerts() ? "on" : "off"], act: call.turn_alerts },
		]);
	}
	/** Saves the messages as a file. Lines of a message are indented, so that none looks like the beginning of another. */
	function save() {
		const head = (/** @type {Entry} */ one) =>
			one.kind === "service" ? words.announcement : `${one.mine ? common.you : one.name} (${only_text(one.only) || words.everyone})`;
		const said = entries
			.filter((one) => one.kind !== "lost" && one.state !== "failed")
			.map((one) => `${time_of.format(one.at)} ${head(one)}\n${one.text.replace(/^/gm, "    ")}\n`);
		const day = day_of(new Date());
		const address = URL.createObjectURL(new Blob([[`${call.room}, ${day}\n`, ...said].join("\n")], { type: "text/plain;charset=utf-8" }));
		h("a", { href: address, download: `chat ${clean_name(call.room).replace(/[/\\:]/g, "-")} ${day}.txt` }).click();
		setTimeout(() => URL.revokeObjectURL(address), LET_GO);
		call.note.say(words.saved, { symbol: "check" });
	}
	return {
		draw,
		people,
		/** Shows that a message was not sent, or a line has another number. @param {Entry} entry */
		change: (entry) => rows.get(entry)?.update(),
		/** The panel has been opened. */
		open() {
			// What was there already is not read aloud as new.
			log.setAttribute("aria-live", "off");
			setTimeout(() => log.removeAttribute("aria-live"), QUIET);
			draw();
			people();
			grow();
			to_end();
			if (state.may_write && matchMedia("(hover: hover)").matches) field.focus();
			else title.focus();
		},
		/** Chooses who gets the next message. @param {Person} person */
		write_to({ name, identity }) {
			chosen = { name, identity };
			people();
			if (state.may_write) field.focus();
		},
	};
}
