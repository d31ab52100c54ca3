// The people who wait to be let in, for those who may decide about them: the list, the number, a note and a sound.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { announce, h, put } from "../lib/dom.js";
import { browser_storage } from "../lib/storage.js";
import { face } from "../lib/face.js";
import { refusal } from "./refused.js";
import { words } from "./words.js";

/** @typedef {{ id: string, name: string, user_id: string, role: string, until?: string }} Ticket `until` a denial holds */

// Milliseconds until the list is read again without a message.
const EVERY = 15000;
const QUIET = "door_quiet";
// Milliseconds for which a note offers to take a denial back, and in a minute; minutes that a denial lasts.
const TAKE_BACK = 10000;
const MINUTE = 60000;
const DENIED = 10;
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
 * @param {{ server: import("./service.js").Service, note: import("./notes.js").Notes,
 *   is_open: () => boolean, show: () => void, changed: () => void, elsewhere: () => void, role_shown: (name: string) => string,
 *   take_door: (door: any, asked_at: number) => void, signal: AbortSignal }} call
 * `elsewhere` puts the focus where it goes when nobody waits any more; `take_door` gets what the list says of the door
 */
export function door({ server, note, is_open, show, changed, elsewhere, role_shown, take_door, signal }) {
	const { say, warn } = note;
	const title = h("h3", { id: "door-title" });
	const rows = h("ul", { role: "list" });
	const more = h("p.quiet.small-text.waiting-more", { hidden: true });
	const all = h("button.small.full", { type: "button", onclick: () => admit_all(counted()) }, words.admit_all);
	const element = h("section.waiting-list", { hidden: true, "aria-labelledby": "door-title" }, title, rows, more, all);
	const denied_title = h("h3", { id: "denied-title" });
	const denied_rows = h("ul", { role: "list" });
	const denied = h("section.list-part", { hidden: true, "aria-labelledby": "denied-title" }, denied_title, denied_rows);
	/** @type {Ticket[]} */
	let tickets = [];
	let count = 0;
	/** @type {Ticket[]} */
	let refused = [];
	/** @type {string | null} */
	let etag = null;
	let drawn = "";
	/** What the note says. */
	let noted = "";
	let is_mine = false;
	let is_reading = false;
	let is_stale = false;
	/** Decisions that are under way, and when the last one ended. */
	let acting = 0;
	let acted_at = 0;
	/** @type {ReturnType<typeof setTimeout> | undefined} */
	let timer;
	signal.addEventListener("abort", () => clearTimeout(timer));
	const is_quiet = () => browser_storage.get(QUIET) !== null;

	/** @param {Ticket} one @param {Node | string} line @param {Node[]} buttons */
	const person = (one, line, ...buttons) =>
		h(
			"li.person",
			{ "data-id": one.id },
			h("span", { "aria-hidden": "true" }, face(one.name)),
			h("span.person-text", null, h("span.person-name", null, h("bdi", null, one.name)), h("span.person-role", null, line)),
			buttons,
		);
	/** @param {Ticket} one */
	const row = (one) =>
		person(
			one,
			role_shown(one.role),
			h("button.small", { type: "button", "aria-label": words.deny_label(one.name), onclick: () => decide(one, "denied") }, words.deny),
			h(
				"button.small.primary",
				{ type: "button", "aria-label": words.admit_label(one.name), onclick: () => decide(one, "admitted") },
				words.admit,
			),
		);
	/** @param {Ticket} one */
	const take_back = (one) =>
		act(async () => {
			await server.decide(one.id, "admitted");
			return { text: words.admitted(one.name) };
		}, words.not_waiting(one.name));
	const minutes_of = (/** @type {Ticket} */ { until }) => Math.ceil((Date.parse(until ?? "") - Date.now()) / MINUTE);
	/** Shows whose denial can be taken back, and for how long it holds. */
	function show_denied() {
		const focused = document.activeElement?.closest("li");
		const id = focused && denied_rows.contains(focused) ? focused.dataset.id : "";
		// The clock of the device may be wrong.
		const shown_of = (/** @type {Ticket} */ one) => Math.min(DENIED, Math.max(1, minutes_of(one) || DENIED));
		const now = JSON.stringify(refused.map((one) => [one.id, one.name, shown_of(one)]));
		if (now === drawn) return;
		drawn = now;
		put(
			denied_rows,
			refused.map((one) =>
				person(
					one,
					words.denied_until(shown_of(one)),
					h("button.small", { type: "button", "aria-label": words.admit_after_all_label(one.name), onclick: () => take_back(one) }, words.admit),
				),
			),
		);
		put(denied_title, words.denied_title(refused.length));
		denied.hidden = refused.length === 0;
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
		more.hidden = n <= next.length;
		put(more, words.waiting_more(n - next.length));
		all.hidden = n < 2;
		if (has_focus && !element.contains(document.activeElement)) focus();
		changed();
		tell(next.some((one) => !known.has(one.id)));
	}
	/** Those whom Admit all admits: who is named now, or all if there are more. */
	const counted = () => (count > tickets.length ? "all" : tickets.map((one) => one.id));
	/** @param {boolean} is_new */
	function tell(is_new) {
		if (count === 0 || is_open()) note.drop("door");
		const [first] = tickets;
		const text = count === 1 && first ? words.knocks(first.name) : words.knock_many(count);
		if (is_new && !is_quiet()) {
			chime();
			// A note is read by screen readers.
			if (is_open()) return announce(text);
		} else if (!note.has("door") || text === noted) return;
		noted = text;
		const ids = counted();
		const admit = first && count === 1 ? { text: words.admit, label: words.admit_label(first.name), do: () => decide(first, "admitted") } : { text: words.admit_all, do: () => admit_all(ids) };
		say(text, { key: "door", symbol: "person", stay: true, act: admit, also: { text: words.show, do: show } });
	}
	/** Puts the focus on who waits, or elsewhere if nobody does. */
	function focus() {
		/** @type {HTMLElement | null} */
		const next = rows.querySelector("button.primary");
		if (element.hidden || !next) elsewhere();
		else next.focus();
	}

	/** @param {any} list @param {string | null} tag @param {number} asked_at */
	function take_list(list, tag, asked_at) {
		etag = tag;
		const named = (/** @type {Ticket[]} */ all) => all.map((one) => ({ ...one, name: one.name || one.user_id }));
		take(named(list.tickets), list.count);
		refused = named(list.denied ?? []);
		take_door(list, asked_at);
	}
	async function read() {
		if (signal.aborted || !is_mine) return;
		is_stale = is_reading;
		if (is_reading) return;
		is_reading = true;
		clearTimeout(timer);
		try {
			const asked_at = performance.now();
			const { data, etag: tag } = await server.waiting(etag);
			// A list from before a decision still has the people whom it was about.
			const is_old = acting > 0 || asked_at < acted_at;
			is_stale ||= is_old && acting === 0;
			if (is_mine && !is_old && !signal.aborted) {
				if (data) take_list(data, tag, asked_at);
				show_denied();
			}
		} catch {
			// It is read again soon.
		}
		is_reading = false;
		if (is_stale) return read();
		if (!signal.aborted && is_mine) timer = setTimeout(read, EVERY);
	}
	/**
	 * Does something, says how it went, and reads the list again.
	 * @param {() => Promise<{ text: string } & import("./notes.js").Kind>} doing @param {string} gone
	 */
	async function act(doing, gone) {
		acting += 1;
		try {
			const { text, ...more } = await doing();
			say(text, { symbol: "check", ...more });
		} catch (error) {
			warn(refusal(error, { 404: gone, 409: gone }));
		}
		acting -= 1;
		acted_at = performance.now();
		etag = null;
		await read();
	}
	/** @param {Ticket} one @param {"admitted" | "denied"} state */
	function decide(one, state) {
		const left = tickets.filter((other) => other.id !== one.id);
		take(left, count - (tickets.length - left.length));
		return act(async () => {
			await server.decide(one.id, state);
			if (state === "admitted") return { text: words.admitted(one.name) };
			const back = { text: words.admit_after_all, do: () => take_back(one) };
			return { text: words.denied_note(one.name), key: "denied", act: back, shown: TAKE_BACK };
		}, words.not_waiting(one.name));
	}
	/** @param {"all" | string[]} whom */
	function admit_all(whom) {
		const left = whom === "all" ? [] : tickets.filter((one) => !whom.includes(one.id));
		take(left, whom === "all" ? 0 : count - (tickets.length - left.length));
		return act(async () => ({ text: words.admitted_many((await server.admit(whom)).data.admitted) }), words.not_now);
	}
	return {
		element,
		denied,
		/** @returns {number} */
		count: () => (is_quiet() ? 0 : count),
		focus,
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
			refused = [];
			show_denied();
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
