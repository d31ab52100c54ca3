// A chart of readings: lines in SVG, of the last readings or of a span of time. Screen readers read a table
// with the last values.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { h, put, s } from "./dom.js";
import { clock } from "./text.js";

/** @typedef {{ time: number, values: (number | null)[] }} Row null if nothing was measured */
/** A span of time; readings that are further apart than `gap` form no line.
 * @typedef {{ from: number, until: number, gap: number }} Span */

// Units of the viewBox, which is stretched to the size of the element.
const WIDTH = 600;
const HEIGHT = 140;
const TOP = 8;
const BOTTOM = 18;

/**
 * @param {{ title: string, lines: { name: string, filled?: boolean }[],
 *   format: (value: number) => string, label?: (time: number) => string, points?: number, least?: number }} what
 * label: a time in words; points: number of readings kept; least: the smallest maximum of the scale
 */
export function chart({ title, lines, format, label = clock, points = 90, least = 0 }) {
	/** @type {Row[]} */
	let rows = [];
	/** The span that is shown; null for the last readings, at equal distances. @type {Span | null} */
	let span = null;
	const picture = s("svg", {
		viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
		preserveAspectRatio: "none",
		"aria-hidden": "true",
		class: "plot",
	});
	const scale = h("div.chart-scale", { "aria-hidden": "true" });
	const now = h("div.chart-now");
	const tip = h("div.chart-tip", { hidden: true });
	const body = h("tbody");
	const names = lines.map((line) => h("th", { scope: "col" }, line.name));
	const head = h("thead", null, h("tr", null, h("th", { scope: "col" }, "Time"), names));
	const table = h("table.off-screen", null, h("caption", null, title), head, body);
	const caption = h("figcaption", null, h("span.chart-title", null, title), now);
	const box = h("div.chart-box", null, picture, scale, tip);
	const element = h("figure.chart", null, caption, box, table);

	/** @param {number} top @param {number} value */
	const y = (top, value) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top);
	/** @param {number} i */
	const x = (i) =>
		span
			? (WIDTH * ((rows[i]?.time ?? 0) - span.from)) / (span.until - span.from)
			: (WIDTH * (i + points - rows.length)) / (points - 1);
	/** @param {number} i */
	const is_apart = (i) =>
		span !== null && i > 0 && (rows[i]?.time ?? 0) - (rows[i - 1]?.time ?? 0) > span.gap;
	/** @param {number | null | undefined} value */
	const words = (value) => (value === null || value === undefined ? "–" : format(value));
	/** @param {number} k */
	const dot = (k) => h("i.dot", { class: `line-${k}` });

	/** @param {number} k @param {number} top */
	function shapes(k, top) {
		// Readings without a gap form one line; a single reading is a dot.
		/** @type {string[]} */
		const pieces = [];
		const floor = y(top, 0);
		let area = "";
		for (let i = 0; i < rows.length; i++) {
			const from = i;
			/** @type {string[]} */
			const places = [];
			for (; i < rows.length; i++) {
				const value = rows[i]?.values[k] ?? null;
				if (value === null || (i > from && is_apart(i))) break;
				places.push(`${x(i).toFixed(1)} ${y(top, value).toFixed(1)}`);
			}
			if (places.length === 0) continue;
			// The reading that ended the line begins the next one.
			if (i < rows.length && (rows[i]?.values[k] ?? null) !== null) i -= 1;
			const piece = `M${places.join("L")}`;
			pieces.push(places.length === 1 ? `${piece}h0` : piece);
			area += `${piece}V${floor}H${x(from).toFixed(1)}Z`;
		}
		if (pieces.length === 0) return [];
		return [
			lines[k]?.filled && s("path", { d: area, class: `fill line-${k}` }),
			s("path", {
				d: pieces.join(""),
				class: `stroke line-${k}`,
				"vector-effect": "non-scaling-stroke",
			}),
		];
	}

	function draw() {
		const highest = Math.max(least, ...rows.flatMap((row) => row.values.map((one) => one ?? 0)));
		const top = round_up(highest);
		const rules = [0, 0.5, 1].map((part) => {
			const at = y(top, top * part);
			return s("line", { x1: 0, x2: WIDTH, y1: at, y2: at, class: "rule" });
		});
		put(
			picture,
			rules,
			lines.map((_, k) => shapes(k, top)),
		);
		put(
			scale,
			[top, top / 2].map((one) => h("span", null, format(one))),
			h("span", null, "0"),
		);
		const last = rows.at(-1);
		put(
			now,
			lines.map((line, k) =>
				h("span.legend", null, dot(k), line.name, h("b", null, words(last?.values[k]))),
			),
		);
		put(
			body,
			rows.slice(-5).map((row) =>
				h(
					"tr",
					null,
					h("td", null, label(row.time)),
					lines.map((_, k) => h("td", null, words(row.values[k]))),
				),
			),
		);
	}

	/** @param {number} time */
	const nearest = (time) =>
		rows.reduce(
			(/** @type {Row | undefined} */ best, row) =>
				!best || Math.abs(row.time - time) < Math.abs(best.time - time) ? row : best,
			undefined,
		);
	picture.addEventListener("pointermove", (event) => {
		const place = picture.getBoundingClientRect();
		const left = /** @type {PointerEvent} */ (event).clientX - place.left;
		const row = span
			? nearest(span.from + (left / place.width) * (span.until - span.from))
			: rows[Math.round((left / place.width) * (points - 1)) - points + rows.length];
		tip.hidden = !row;
		if (!row) return;
		put(
			tip,
			h("span.quiet", null, label(row.time)),
			lines.map((line, k) => h("span", null, dot(k), `${line.name} ${words(row.values[k])}`)),
		);
		tip.style.left = `${Math.min(left + 10, place.width - tip.offsetWidth - 4)}px`;
	});
	picture.addEventListener("pointerleave", () => {
		tip.hidden = true;
	});
	draw();
	return {
		element,
		/** Adds a reading. @param {(number | null)[]} values one for each line */
		add(values) {
			rows.push({ time: Date.now(), values });
			if (rows.length > points) rows.shift();
			draw();
		},
		/** Shows other readings, oldest first. @param {Row[]} next @param {Span | null} over null for the last readings */
		set(next, over) {
			rows = next;
			span = over;
			draw();
		},
	};
}

/** Returns the next round number. @param {number} value */
function round_up(value) {
	if (value <= 0) return 1;
	const size = 10 ** Math.floor(Math.log10(value));
	const step = [1, 2, 2.5, 5, 10].find((one) => one * size >= value * 0.999);
	return size * (step ?? 10);
}
