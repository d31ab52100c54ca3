// Tells who came and went, and who raised a hand or shares a screen. What happens within a second is told together;
// many at once are one sentence; in a large call, people who come and go are not announced.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { announce } from "../lib/dom.js";
import { words } from "./words.js";

const LARGE = 50;
const NAMED = 2;
// Milliseconds: what is told together, and in which a hand is told of once for each person.
const GATHER = 1000;
const HAND = 10000;

/** @typedef {import("./media.js").Person} Person */

/**
 * @param {string} room its name
 * @param {(text: string, key: string) => unknown} raised shows a note of it when hands go up, unless it returns false
 * @param {AbortSignal} signal ends it
 */
export function news(room, raised, signal) {
	/** The people of the last time it was told. @type {Map<string, Person> | null} */
	let before = null;
	/** @type {Map<string, Person>} */
	let now = new Map();
	/** @type {ReturnType<typeof setTimeout> | undefined} */
	let timer;
	/** Whose hands were up the last time. @type {Set<string>} */
	let raised_ids = new Set();
	let last_hand = -GATHER;
	/** When each hand was last told of, by name: whoever comes back has another ID. @type {Map<string, number>} */
	const told = new Map();
	signal.addEventListener("abort", () => clearTimeout(timer));

	/** @param {Person[]} people @param {(name: string) => string} one @param {(n: number) => string} many */
	const sentences = (people, one, many) =>
		people.length > NAMED ? [many(people.length)] : people.map(({ name }) => one(name));

	/** Tells of the hands that went up; of the first one at once. Returns the sentences that no note says. */
	function hands() {
		const time = Date.now();
		for (const [name, at] of told) if (time - at >= HAND) told.delete(name);
		const up = [...now.values()].filter((one) => one.hand);
		const new_ones = up.filter((one) => !raised_ids.has(one.id) && !told.has(one.name));
		raised_ids = new Set(up.map((one) => one.id));
		for (const one of new_ones) told.set(one.name, time);
		if (new_ones.length > 0) last_hand = time;
		const lines = sentences(new_ones, words.raised, words.raised_many);
		const is_named = lines.length === new_ones.length;
		return lines.filter((text, i) => raised(text, is_named ? `hand ${new_ones[i]?.name}` : "hands") === false);
	}
	function tell() {
		timer = undefined;
		const known = before ?? now;
		before = now;
		const lines = [];
		if (now.size < LARGE) {
			const came = [...now.values()].filter((one) => !known.has(one.id));
			const went = [...known.values()].filter((one) => !now.has(one.id));
			lines.push(...sentences(came, words.joined, words.joined_many), ...sentences(went, words.went, words.went_many));
		}
		lines.push(...hands());
		for (const one of now.values()) if (one.shares && !known.get(one.id)?.shares) lines.push(words.shares(one.name));
		if (lines.length > 0) announce(lines.join(" "));
	}
	/** @param {Person[]} people all who are in the call now */
	return (people) => {
		now = new Map(people.filter((one) => !one.me).map((one) => [one.id, one]));
		if (!before) {
			before = now;
			raised_ids = new Set(people.filter((one) => one.hand).map((one) => one.id));
			return announce(words.in_the_call(room, people.length));
		}
		if (Date.now() - last_hand >= GATHER) for (const text of hands()) announce(text);
		timer ??= setTimeout(tell, GATHER);
	};
}
