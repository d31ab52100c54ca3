// The people who wait to be let in, for those who may decide about them: the list, the number, a note and a sound.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { Refusal } from "../lib/api.js";
import { announce, h, put } from "../lib/dom.js";
import { browser_storage } from "../lib/storage.js";
import { dialog } from "./dialog.js";
import { face } from "./face.js";
import { words } from "./words.js";

/** @typedef {{ id: string, name: string, user_id: string, role: string }} Ticket */

// Milliseconds until the list is read again without a message.
const EVERY = 15000;
const QUIET = "door_quiet";
// The sound: frequencies in Hz, one after the other, seconds of each, and the volume.
const TONES = [660, 880];
const TONE = 0.14;
const VOLUME = 0.08;

/** Plays a short sound. */
function chime() {
	const context = new AudioContext();
	const volume = context.createGain();
	volume.gain.value = VOLUME;
	volume.connect(context.destination);
	TONES.forEach((frequency, i) => {
		const tone = context.createOscillator();
		tone.frequency.value = frequency;
		tone.connect(volume);
		tone.start(context.currentTime + i * TONE);
		tone.stop(context.currentTime + (i + 1) * TONE);
		tone.onended = () => i === TONES.length - 1 && context.close();
	});
}

/**
 * @param {{ server: import("./service.js").Service, note: ReturnType<typeof import("./notes.js").notes>,
 *   is_open: () => boolean, show: () => void, changed: () => void, elsewhere: () => void, role_shown: (name: string) => string, signal: AbortSignal }} call
 * `elsewhere` puts the focus where it goes when nobody waits any more
 */
export function door({ server, note, is_open, show, changed, elsewhere, role_shown, signal }) {
	const { say } = note;
	const title = h("h3", { id: "door-title" });
	const rows = h("ul", { role: "list" });
	const all = h("button.small.full", { type: "button", onclick: admit_all }, words.admit_all);
	const element = h("section.waiting-list", { hidden: true, "aria-labelledby": "door-title" }, title, rows, all);
	const denied_rows = h("ul", { role: "list" });
	const denied = h(
		"section.waiting-list",
		{ hidden: true, "aria-labelledby": "denied-title" },
		h("h3", { id: "denied-title" }, words.denied_title),
		denied_rows,
	);
	/** @type {Ticket[]} */
	let tickets = [];
	let count = 0;
	/** @type {string | null} */
	let etag = null;
	let is_mine = false;
	let is_reading = false;
	let is_stale = false;
	/** @type {ReturnType<typeof setTimeout> | undefined} */
	let timer;
	signal.addEventListener("abort", () => clearTimeout(timer));
	const is_quiet = () => browser_storage.get(QUIET) !== null;

	/** @param {Ticket} one @param {Node[]} buttons */
	const person = (one, ...buttons) =>
		h(
			"li.person",
			{ "data-id": one.id },
			face(one.name),
			h("span.person-text", null, h("span.person-name", null, one.name), h("span.person-role", null, role_shown(one.role))),
			buttons,
		);
	/** @param {Ticket} one */
	const row = (one) =>
		person(
			one,
			h("button.small", { type: "button", "aria-label": words.deny_label(one.name), onclick: () => deny(one) }, words.deny),
			h(
				"button.small.primary",
				{ type: "button", "aria-label": words.admit_label(one.name), onclick: () => decide(one, "admitted") },
				words.admit,
			),
		);
	/** Shows whose denial can be taken back. @param {Ticket[]} list */
	function show_denied(list) {
		/** @type {HTMLElement | undefined} */
		const focused = document.activeElement?.closest("li") ?? undefined;
		const id = denied.contains(focused ?? null) ? focused?.dataset.id : "";
		const back = (/** @type {Ticket} */ one) =>
			act(async () => {
				await server.decide(one.id, "admitted", "");
				return words.admitted(one.name);
			}, words.not_waiting(one.name));
		const button = (/** @type {Ticket} */ one) =>
			h("button.small", { type: "button", "aria-label": words.admit_label(one.name), onclick: () => back(one) }, words.admit);
		put(denied_rows, list.map((one) => person(one, button(one))));
		denied.hidden = list.length === 0;
		if (!id) return;
		/** @type {HTMLElement | null} */
		const again = denied_rows.querySelector(`[data-id="${id}"] button`);
		if (again) again.focus();
		else elsewhere();
	}
	/** Shows who waits. @param {Ticket[]} next @param {number} n of all, also of those who are not in the list */
	function take(next, n) {
		const has_focus = element.contains(document.activeElement);
		const known = new Set(tickets.map((one) => one.id));
		const ids = next.map((one) => one.id);
		// Rows that stay keep their place and the focus.
		for (const old of [...rows.children]) if (!ids.includes(/** @type {HTMLElement} */ (old).dataset.id ?? "")) old.remove();
		next.forEach((one, i) => {
			const at = rows.children[i];
			if (/** @type {HTMLElement | undefined} */ (at)?.dataset.id !== one.id) rows.insertBefore(row(one), at ?? null);
		});
		tickets = next;
		count = n;
		element.hidden = n === 0;
		put(title, words.waiting_title(n));
		all.hidden = n < 2;
		if (has_focus && !element.contains(document.activeElement)) focus();
		changed();
		tell(next.some((one) => !known.has(one.id)));
	}
	/** @param {boolean} is_new */
	function tell(is_new) {
		if (count === 0 || is_open()) note.drop("door");
		if (!is_new || is_quiet()) return;
		const text = count === 1 && tickets[0] ? words.knocks(tickets[0].name) : words.knock_many(count);
		chime();
		// A note is read by screen readers.
		if (is_open()) announce(text);
		else say(text, { key: "door", symbol: "person", act: { text: words.show, do: show } });
	}
	function focus() {
		/** @type {HTMLElement | null} */
		const next = rows.querySelector("button.primary");
		if (element.hidden || !next) elsewhere();
		else next.focus();
	}

	async function read() {
		if (signal.aborted || !is_mine) return;
		is_stale = is_reading;
		if (is_reading) return;
		is_reading = true;
		clearTimeout(timer);
		try {
			const answer = await server.waiting(etag);
			if (answer.data && is_mine && !signal.aborted) {
				etag = answer.etag;
				const named = (/** @type {Ticket[]} */ list) => list.map((one) => ({ ...one, name: one.name || one.user_id }));
				take(named(answer.data.tickets), answer.data.count);
				show_denied(named(answer.data.denied ?? []));
			}
		} catch {
			// It is read again soon.
		}
		is_reading = false;
		if (is_stale) return read();
		if (!signal.aborted && is_mine) timer = setTimeout(read, EVERY);
	}
	/** Does something, says how it went, and reads the list again. @param {() => Promise<string>} doing @param {string} gone */
	async function act(doing, gone) {
		try {
			say(await doing(), { symbol: "check" });
		} catch (error) {
			const status = error instanceof Refusal ? error.status : 0;
			const text = status === 404 || status === 409 ? gone : status === 403 ? words.not_allowed : words.not_now;
			say(text, { symbol: "warning", bad: true });
		}
		etag = null;
		await read();
	}
	/** @param {Ticket} one @param {"admitted" | "denied"} state @param {string} [reason] */
	function decide(one, state, reason = "") {
		take(
			tickets.filter((other) => other !== one),
			count - 1,
		);
		const done = state === "admitted" ? words.admitted : words.denied;
		return act(async () => {
			await server.decide(one.id, state, reason);
			return done(one.name);
		}, words.not_waiting(one.name));
	}
	/** @param {Ticket} one */
	async function deny(one) {
		const reason = h("input", { type: "text", id: "reason", maxlength: "256", autocomplete: "off" });
		const answer = await dialog({
			title: words.deny_title(one.name),
			content: [
				h("p.quiet", null, words.deny_help),
				h("div.field", null, h("label.label", { for: "reason" }, words.reason), reason),
			],
			buttons: [
				{ value: "", text: words.cancel },
				{ value: "yes", text: words.deny, class: "danger solid", focus: true },
			],
		});
		if (answer === "yes") await decide(one, "denied", reason.value.trim());
	}
	function admit_all() {
		take([], 0);
		return act(async () => words.admitted_many((await server.admit_all()).data.admitted), words.not_now);
	}
	return {
		element,
		denied,
		/** @returns {number} */
		count: () => (is_quiet() ? 0 : count),
		focus,
		waits: () => !element.hidden,
		/** The service says that the number has changed. */
		read,
		/** Begins or ends to show who waits. @param {boolean} yes */
		allow(yes) {
			if (yes === is_mine) return;
			is_mine = yes;
			clearTimeout(timer);
			etag = null;
			if (yes) return read();
			take([], 0);
			show_denied([]);
		},
		/** The entry of the menu that switches note, sound and number off and on. */
		entry: () =>
			is_mine && {
				icon: is_quiet() ? "sound" : "sound-off",
				text: is_quiet() ? words.alerts.off : words.alerts.on,
				act() {
					if (is_quiet()) browser_storage.remove(QUIET);
					else browser_storage.set(QUIET, "1");
					note.drop("door");
					changed();
				},
			},
	};
}
