// Who gets in by a link: as roles and codes say, everybody, those who are admitted, or nobody.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { announce } from "../lib/dom.js";
import { refusal } from "./refused.js";
import { words } from "./words.js";

/** @typedef {"open" | "ask" | "locked" | null} State null: as roles and codes say */

/**
 * @param {{ server: import("./service.js").Service, note: import("./notes.js").Notes, changed: () => void,
 *   read: () => void }} call `read` reads who waits again, about whom a change may decide
 */
export function lock({ server, note, changed, read }) {
	/** @type {State} */
	let state = null;
	/** What it was before it was locked. @type {State} */
	let was = null;
	let is_known = false;
	let is_busy = false;
	let changed_at = 0;
	const is_locked = () => state === "locked";

	/** @param {{ state?: State, was?: State }} now */
	function put(now) {
		state = now.state ?? null;
		was = now.was ?? null;
		is_known = true;
		changed();
	}
	/** @param {State} next @param {string} done @param {string} symbol */
	async function set(next, done, symbol) {
		if (is_busy || next === state) return;
		is_busy = true;
		try {
			const { data } = await server.door(next);
			changed_at = performance.now();
			put(data);
			note.say(done, { key: "lock", symbol });
		} catch (error) {
			note.warn(refusal(error), "lock");
		}
		is_busy = false;
		read();
	}
	const close = () => set("locked", words.locked_done, "lock");
	/** @type {[State, string, () => void][]} */
	const CHOICES = [
		[null, words.door_mixed, () => set(null, words.door_done.mixed, "check")],
		["open", words.door_open, () => set("open", words.door_done.open, "check")],
		["ask", words.door_ask, () => set("ask", words.door_done.ask, "check")],
		["locked", words.door_locked, close],
	];
	return {
		is_locked,
		toggle: () => (is_locked() ? set(was, words.unlocked_done, "unlock") : close()),
		/** The door as the service tells it. @param {{ state?: State, was?: State }} now @param {number} asked_at when it was asked for */
		take(now, asked_at) {
			// An answer from before your own change is out of date.
			if (is_busy || asked_at < changed_at) return;
			const was_locked = is_locked();
			const was_known = is_known;
			put(now);
			if (was_known && is_locked() !== was_locked) announce(is_locked() ? words.locked_done : words.unlocked_done, "lock");
		},
		entries: () => [
			{ title: words.door_title },
			...CHOICES.map(([one, text, act]) => ({ text, chosen: one === state, act })),
		],
	};
}
