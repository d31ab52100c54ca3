// Who is recorded: those whom the recording may show, and of many of them those who spoke last. Arithmetic alone.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { seats } from "../call/quality.js";
import { agreed_at } from "../call/room.js";

/**
 * What the service says of a recording: its picture, bit rates in kbit/s, whether people have to agree, which roles are
 * heard (without `roles` all), and whether what is written to everyone is kept. A `test` has a picture of its own.
 * `withdrawn` is the consent that people have withdrawn: until when, in seconds, that of an entry does not count.
 * @typedef {{ width: number, height: number, fps: number, video_kbps: number, audio_kbps: number, audio_only?: boolean,
 *   consent?: "notice" | "asked" | "required", withdrawn?: { entry: string, at: number }[], roles?: string[], chat?: boolean, test?: boolean }} Look
 */

// People who are drawn and heard at once.
const MOST = 25;
// What LiveKit calls participants that are no people: those that record, and agents.
const EGRESS = 2;
const AGENT = 4;

/**
 * Returns what knows whether people agree to be recorded. A consent that was withdrawn never counts again for that
 * entry, even if the media server takes it from an older token: who agrees again gets a greater time.
 */
export function consents() {
	/** The greatest times, by entry: seen, and withdrawn. @type {Map<string, number>} */
	const seen = new Map();
	/** @type {Map<string, number>} */
	const withdrawn = new Map();
	const withdraw = (/** @type {string} */ entry, /** @type {number} */ at) => withdrawn.set(entry, Math.max(at, withdrawn.get(entry) ?? 0));
	return {
		/** Takes what was withdrawn before, as another recorder may have seen. @param {Look} look */
		take: ({ withdrawn: all = [] }) => all.forEach(({ entry, at }) => withdraw(entry, at)),
		/** Looks whether somebody agrees; has to be called at each change. @param {any} one a participant of the library */
		of(one) {
			const { entry = "" } = one.attributes;
			const time = agreed_at(one);
			const before = seen.get(entry) ?? 0;
			if (time > before) seen.set(entry, time);
			if (time === 0 && before > 0) withdraw(entry, before);
			return time > (withdrawn.get(entry) ?? 0);
		},
	};
}

/**
 * Returns true if a recording may have somebody in it: whoever has not agreed is neither seen nor heard where people
 * are asked.
 * @param {Look} look @param {any} one a participant of the library @param {boolean} agrees
 */
export function may_be_recorded({ consent = "notice", roles, test = false }, { kind, permissions, attributes }, agrees) {
	if (test || kind === EGRESS || kind === AGENT || permissions?.hidden) return false;
	if (consent !== "notice" && !agrees) return false;
	return !roles || roles.includes(attributes.role ?? "");
}

/** Keeps who is recorded while more people may speak than fit. */
export function cast() {
	/** @type {string[]} */
	let before = [];
	/** @type {Set<string>} */
	let speaking = new Set();
	/** When people spoke last. @type {Map<string, number>} */
	const spoken = new Map();
	return {
		/** @param {Set<string>} ids of all who speak @param {number} now */
		speaking(ids, now) {
			speaking = ids;
			for (const id of ids) spoken.set(id, now);
		},
		/**
		 * Returns those who are recorded. Who is, stays, and nobody else changes places if somebody takes a place.
		 * @template {{ id: string, me: boolean, priority: number }} T
		 * @param {T[]} all who may be recorded @returns {T[]}
		 */
		of(all) {
			const found = all.length > MOST ? seats(all, before, MOST, speaking, spoken) : all;
			before = found.map(({ id }) => id);
			const ids = new Set(all.map(({ id }) => id));
			for (const id of spoken.keys()) if (!ids.has(id)) spoken.delete(id);
			return found;
		},
	};
}
