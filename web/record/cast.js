// Who is recorded: those whom the recording may show, and of many of them those who spoke last. Arithmetic alone.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { seats } from "../call/quality.js";

/**
 * What the service says of a recording: its picture, bit rates in kbit/s, whether people have to agree, which roles are
 * heard (without `roles` all), and whether what is written to everyone is kept. A `test` has a picture of its own.
 * @typedef {{ width: number, height: number, fps: number, video_kbps: number, audio_kbps: number, audio_only?: boolean,
 *   consent?: "notice" | "asked" | "required", roles?: string[], chat?: boolean, test?: boolean }} Look
 */

// People who are drawn and heard at once.
const MOST = 25;
// What LiveKit calls participants: people, and those that are none: what records, and agents.
const PERSON = 0;
const EGRESS = 2;
const AGENT = 4;
// When somebody has agreed, in seconds since 1970, as the service writes it.
const TIME = /^[1-9]\d*$/;

/**
 * Returns true if a recording may have somebody in it: whoever has not agreed is neither seen nor heard where people
 * are asked. Nobody asks a telephone or a stream.
 * @param {Look} look @param {any} one a participant of the library
 */
export function may_be_recorded({ consent = "notice", roles, test = false }, { kind = PERSON, permissions, attributes }) {
	if (test || kind === EGRESS || kind === AGENT || permissions?.hidden) return false;
	if (consent !== "notice" && !(kind === PERSON && TIME.test(attributes.consent ?? ""))) return false;
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
