// Computes where the tiles of a call go. Pure arithmetic without a document, so a test can try every window.
//
// SPDX-License-Identifier: GPL-3.0-or-later

/** @typedef {{ x: number, y: number, width: number, height: number }} Place */

export const GAP = 8;
const WIDEST = 16 / 9;

/** Returns the smallest ratio of a tile: in upright windows, tiles may be upright. @param {number} w @param {number} h */
const narrowest = (w, h) => (w < h ? 3 / 4 : 1);

/** Returns the largest tile in a cell. @param {number} w @param {number} h @param {number} low */
function fit(w, h, low) {
	const ratio = Math.min(WIDEST, Math.max(low, w / h));
	return w / h > ratio ? { width: h * ratio, height: h } : { width: w, height: w / ratio };
}

/**
 * Returns the grid in which n tiles are largest; tries every number of columns. If tiles would be narrower than
 * `least`, the grid has as many columns as fit, and is higher than the window.
 * @param {number} n @param {number} w @param {number} h @param {number} [least] @param {number} [gap]
 * @returns {{ places: Place[], columns: number, rows: number, width: number, height: number, scrolls: boolean }}
 */
export function grid(n, w, h, least = 0, gap = GAP) {
	const low = narrowest(w, h);
	let best = { columns: 1, rows: n, width: 0, height: 0, score: -1 };
	for (let columns = 1; columns <= n; columns++) {
		const rows = Math.ceil(n / columns);
		const cell_width = (w - gap * (columns - 1)) / columns;
		const cell_height = (h - gap * (rows - 1)) / rows;
		if (cell_width <= 0 || cell_height <= 0) continue;
		const tile = fit(cell_width, cell_height, low);
		// The share of a 16:9 picture that the tile cuts off counts a fifth as much as the size.
		const lost = 1 - Math.min(1, tile.width / tile.height / WIDEST);
		const score = tile.width * tile.height * (1 - lost / 5);
		if (score > best.score) best = { columns, rows, ...tile, score };
	}
	let { columns, rows, width, height } = best;
	const scrolls = n > 1 && width < least;
	if (scrolls) {
		columns = Math.max(1, Math.floor((w + gap) / (least + gap)));
		rows = Math.ceil(n / columns);
		width = (w - gap * (columns - 1)) / columns;
		height = width / Math.max(low, 1);
	}
	const shape = { columns, rows, width, height, scrolls };
	return { places: places_in(n, w, h, shape, gap), ...shape };
}

/**
 * Returns the places of a grid, row by row; the last row is centred.
 * @param {number} n @param {number} w @param {number} h
 * @param {{ columns: number, rows: number, width: number, height: number, scrolls: boolean }} shape
 * @param {number} gap @returns {Place[]}
 */
function places_in(n, w, h, { columns, rows, width, height, scrolls }, gap) {
	const top = scrolls ? 0 : (h - rows * height - (rows - 1) * gap) / 2;
	return Array.from({ length: n }, (_, i) => {
		const row = Math.floor(i / columns);
		const in_row = Math.min(columns, n - row * columns);
		const left = (w - in_row * width - (in_row - 1) * gap) / 2;
		return {
			x: Math.round(left + (i % columns) * (width + gap)),
			y: Math.round(top + row * (height + gap)),
			width: Math.floor(width),
			height: Math.floor(height),
		};
	});
}

/**
 * Returns the places of one large picture (a shared screen, or a person kept large) and of a strip of people,
 * beside it or below it, whichever leaves the larger picture.
 * @param {number} n people @param {number} w @param {number} h @param {number} [ratio] of the picture
 * @param {number} [line] the height of a line below the picture, which its place has too
 * @returns {{ main: Place, places: Place[], left_out: number }}
 */
export function beside(n, w, h, ratio = WIDEST, line = 0, gap = GAP) {
	if (n === 0) return { main: { x: 0, y: 0, width: w, height: h }, places: [], left_out: 0 };
	const side = Math.round(Math.min(260, Math.max(136, w * 0.18)));
	const area = (/** @type {number} */ pw, /** @type {number} */ ph) => Math.min(pw, (ph - line) * ratio) ** 2;
	const low_strip = Math.round(Math.min(150, Math.max(84, h * 0.2)));
	// In upright windows, the picture takes the width, and the people take the rest.
	const upright = w < h;
	const under = upright ? Math.round(Math.max(low_strip, h - w / ratio - line - gap)) : low_strip;
	if (!upright && area(w - side - gap, h) >= area(w, h - under - gap)) {
		const height = Math.round((side * 9) / 16);
		const room = Math.max(1, Math.floor((h + gap) / (height + gap)));
		const shown = Math.min(n, room);
		const top = (h - shown * height - (shown - 1) * gap) / 2;
		return {
			main: { x: 0, y: 0, width: w - side - gap, height: h },
			places: Array.from({ length: shown }, (_, i) => ({
				x: w - side,
				y: Math.round(top + i * (height + gap)),
				width: side,
				height,
			})),
			left_out: n - shown,
		};
	}
	const main = { x: 0, y: 0, width: w, height: h - under - gap };
	const least = upright ? 104 : 120;
	let shown = n;
	let people = grid(shown, w, under, 0, gap);
	while (shown > 1 && people.width < least) {
		shown -= 1;
		people = grid(shown, w, under, 0, gap);
	}
	return {
		main,
		places: people.places.map((one) => ({ ...one, y: one.y + main.height + gap })),
		left_out: n - shown,
	};
}

/**
 * Returns the largest part of a place, in its middle, for a picture of the given ratio with a line below it, which needs
 * a width of its own.
 * @param {Place} place @param {number} ratio @param {number} [line] its height @param {number} [least] its width
 * @returns {Place}
 */
export function contain(place, ratio, line = 0, least = 0) {
	const high = place.height - line;
	const width = Math.round(Math.min(place.width, Math.max(least, high * ratio)));
	const height = Math.round(Math.min(high, place.width / ratio)) + line;
	return {
		x: place.x + Math.round((place.width - width) / 2),
		y: place.y + Math.round((place.height - height) / 2),
		width,
		height,
	};
}

/** Returns the places of two people: the other one fills the stage, your own picture is in the corner. @param {number} w @param {number} h */
export function pair(w, h) {
	const upright = w < h;
	const width = Math.round(upright ? Math.min(120, w * 0.3) : Math.min(260, Math.max(128, w * 0.18)));
	const height = Math.round(upright ? (width * 4) / 3 : (width * 9) / 16);
	return {
		main: { x: 0, y: 0, width: w, height: h },
		self: { x: w - width - 16, y: h - height - 16, width, height },
	};
}
