// How long the call has lasted and until when it can last, by the service's clock, and a warning before it ends.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { language } from "../join/words.js";
import { words } from "./words.js";

/** @typedef {import("./service.js").Me} Me */

const MINUTE = 60000;
const DAY = 1440 * MINUTE;
// Minutes before the end at which it is told, the last first.
const TOLD = [1, 5];
// The end may have been moved since the service was asked: it is asked again, spread over this many milliseconds, since
// all who are in the call do so at the same time.
const SPREAD = 4000;

/** The format of a time of day. */
export const time_of = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

/**
 * @param {{ note: import("./notes.js").Notes, draw: (text: string, soon: boolean) => void,
 *   ask: () => Promise<Me>, signal: AbortSignal }} call `draw` shows the length, `ask` asks the service anew
 * @returns {(me: Me) => void} takes what the service says
 */
export function clock({ note, draw, ask, signal }) {
	/** Milliseconds by which the service's clock is ahead of the device's. */
	let ahead = 0;
	let begin = NaN;
	let end = NaN;
	/** When the service was asked last. */
	let asked = 0;
	/** The last of the warnings that were given, in minutes before the end. */
	let told = Infinity;
	/** @type {ReturnType<typeof setTimeout> | undefined} */
	let timer;
	signal.addEventListener("abort", () => clearTimeout(timer));
	/** Goes on after a time, in milliseconds. @param {() => void} act @param {number} time */
	function later(act, time) {
		clearTimeout(timer);
		timer = setTimeout(act, time);
	}

	/** @param {Me} me */
	function take({ started_at, ends_at, at = NaN }) {
		asked = Date.now();
		ahead = at - asked || 0;
		begin = Date.parse(started_at ?? "");
		const next = Date.parse(ends_at ?? "");
		if (next !== end) {
			told = Infinity;
			note.drop("clock");
		}
		end = next;
		tick();
	}
	async function ask_again() {
		const me = await ask().catch(() => null);
		if (signal.aborted) return;
		asked = Date.now();
		if (me) take(me);
		else tick();
	}
	function tick() {
		if (Number.isNaN(begin)) return;
		const now = Date.now() + ahead;
		const lasted = Math.max(0, now - begin);
		const length = words.minutes(Math.floor(lasted / MINUTE));
		const to_length = MINUTE - (lasted % MINUTE);
		// A moment later, so that the number has changed.
		later(tick, to_length + 1);
		if (!(end - now < DAY)) return draw(length, false);
		const left = Math.max(1, Math.ceil((end - now) / MINUTE));
		const time = time_of.format(end);
		const to_left = Math.max(0, end - now) % MINUTE || MINUTE;
		const due = TOLD.find((one) => left <= one) ?? Infinity;
		if (due === Infinity) {
			later(tick, Math.min(to_length, to_left) + 1);
			return draw(`${length} · ${words.until(time)}`, false);
		}
		if (due < told && Date.now() - asked > MINUTE / 2) return later(ask_again, Math.random() * SPREAD);
		later(tick, to_left + 1);
		draw(words.left_short(left), true);
		if (due < told) note.say(words.ends_soon(left, time), { key: "clock", symbol: "clock", stay: true, bad: true });
		else note.reword("clock", words.ends_soon(left, time));
		told = due;
	}
	return take;
}
