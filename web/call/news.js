// Says to screen readers who came and went, and who raised a hand or shares a screen. Many at once are one
// sentence; in a large call, people who come and go are not announced.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { announce } from "../lib/dom.js";
import { words } from "./words.js";

const LARGE = 50;
const NAMED = 2;
// Milliseconds in which a hand is told of once for each person.
const HAND = 10000;

/** @typedef {import("./media.js").Person} Person */

/** @param {string} room its name @param {(person: Person) => unknown} raised shows a note of a hand that goes up, unless it returns false */
export function news(room, raised) {
	/** @type {Map<string, Person> | null} */
	let before = null;
	/** When each hand was last told of. @type {Map<string, number>} */
	const told = new Map();

	/** @param {Person[]} people @param {(name: string) => string} one @param {(n: number) => string} many */
	const sentence = (people, one, many) =>
		people.length > NAMED ? [many(people.length)] : people.map(({ name }) => one(name));

	/** @param {Person[]} people all who are in the call now */
	return function tell(people) {
		const now = new Map(people.filter((one) => !one.me).map((one) => [one.id, one]));
		const known = before;
		before = now;
		if (!known) return announce(words.in_the_call(room, people.length));
		const lines = [];
		if (people.length <= LARGE) {
			const came = [...now.values()].filter((one) => !known.has(one.id));
			const went = [...known.values()].filter((one) => !now.has(one.id));
			lines.push(...sentence(came, words.joined, words.joined_many), ...sentence(went, words.went, words.went_many));
		}
		for (const one of now.values()) {
			const was = known.get(one.id);
			if (one.hand && !was?.hand && Date.now() - (told.get(one.id) ?? -HAND) >= HAND) {
				told.set(one.id, Date.now());
				if (raised(one) === false) lines.push(words.raised(one.name));
			}
			if (one.shares && !was?.shares) lines.push(words.shares(one.name));
		}
		if (lines.length > 0) announce(lines.join(" "));
	};
}
