// Decides which videos play, so that together they need no more than a phone or a computer should receive.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { phone } from "./device.js";

/** @typedef {import("./media.js").Person} Person */
/** @typedef {import("./grid.js").Place} Place */

// kbit/s of all videos together.
const MOST_PHONE = 3000;
const MOST = 12000;
// Frames per second if the limit is exceeded, and what a video then needs of its bit rate.
export const SLOW_FPS = 8;
const SLOW_COST = 0.6;
// kbit/s of a video whose layers are not known yet.
const UNKNOWN = 300;

/** Device pixels per CSS pixel that a video is worth. */
export const density = () => (phone() ? 1 : Math.min(devicePixelRatio, 2));

/** True while all videos play with fewer frames per second. */
let was_slow = false;

/**
 * Returns the bit rate of the layer that the server sends for this place: what arrives, or what the sender says, if
 * nothing has arrived. @param {Person} person @param {Place} place
 */
function cost_of(person, place) {
	if (person.me || !person.camera_on) return 0;
	if (person.kbps > 0) return person.kbps / (was_slow ? SLOW_COST : 1);
	const wanted = place.height * density() * 0.9;
	const layer = person.layers.find((one) => one.height >= wanted) ?? person.layers.at(-1);
	return layer?.kbps ?? UNKNOWN;
}

/**
 * Returns whether all videos play with fewer frames per second, and the people whose video is paused: those who
 * spoke last keep theirs.
 * @param {Person[]} shown @param {Place[]} places in the same order @param {number} in_sight how many of them
 * are visible at once @param {Map<string, number>} spoken when people spoke last
 */
export function afford(shown, places, in_sight, spoken) {
	const most = phone() ? MOST_PHONE : MOST;
	const costs = shown.map((one, i) => cost_of(one, /** @type {Place} */ (places[i])));
	const sum = costs.reduce((all, one) => all + one, 0);
	// In a grid that scrolls, any of them can be in sight.
	const share = shown.length > 0 ? Math.min(1, in_sight / shown.length) : 1;
	const paused = new Set();
	const slow = sum * share > most;
	was_slow = slow;
	if (!slow) return { slow, paused };
	let left = most;
	const order = shown
		.map((one, i) => ({ id: one.id, i, cost: (costs[i] ?? 0) * SLOW_COST * share, at: spoken.get(one.id) ?? 0 }))
		.filter(({ cost }) => cost > 0)
		.sort((a, b) => b.at - a.at || a.i - b.i);
	for (const { id, cost } of order) {
		if (left >= cost) left -= cost;
		else paused.add(id);
	}
	return { slow, paused };
}
