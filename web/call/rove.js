// A group of buttons that is one stop of the Tab key; arrows move inside.
//
// SPDX-License-Identifier: GPL-3.0-or-later

/** Makes one button the stop of its group. @param {HTMLElement[]} buttons @param {HTMLElement | null | undefined} stop */
export function rove(buttons, stop) {
	for (const one of buttons) one.tabIndex = one === stop ? 0 : -1;
}

/** The ways of the arrow keys, as x and y. @type {Record<string, [number, number]>} */
const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/**
 * Returns the nearest place in the direction of an arrow key, or null; what lies aside counts three times. `mirrored`
 * places begin at the right.
 * @template {{ place: import("./grid.js").Place }} T
 * @param {string} key @param {T} from @param {T[]} all @param {boolean} [mirrored] @returns {T | null}
 */
export function nearest(key, from, all, mirrored = false) {
	const way = WAYS[key];
	if (!way) return null;
	const [on, down] = way;
	const right = mirrored ? -on : on;
	const centre = (/** @type {T} */ { place }) => ({ x: place.x + place.width / 2, y: place.y + place.height / 2 });
	const start = centre(from);
	let best = null;
	let least = Infinity;
	for (const one of all) {
		const { x, y } = centre(one);
		const along = (x - start.x) * right + (y - start.y) * down;
		const aside = Math.abs((x - start.x) * down) + Math.abs((y - start.y) * right);
		if (along < 10 || along + aside * 3 >= least) continue;
		least = along + aside * 3;
		best = one;
	}
	return best;
}
