// Reads the text format of Prometheus, and computes rates and quantiles from two readings.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { count_of } from "./text.js";

/** @typedef {Record<string, string>} Labels */
/** @typedef {(labels: Labels) => boolean} Which */
/** @typedef {{ time: number, series: Map<string, { labels: Labels, value: number }[]> }} Reading time in s */

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/** @param {string} text @returns {Reading} */
export function read(text) {
	/** @type {Reading["series"]} */
	const series = new Map();
	for (const line of text.split("\n")) {
		const [, name, pairs, value] = LINE.exec(line) ?? [];
		if (name === undefined) continue;
		const labels = Object.fromEntries(
			[...(pairs ?? "").matchAll(LABEL)].map(([, key, one]) => [key, one]),
		);
		const samples = series.get(name) ?? [];
		samples.push({ labels, value: Number(value) });
		series.set(name, samples);
	}
	return { time: performance.now() / 1000, series };
}

const any = () => true;

/** Returns the sum of the chosen series. @param {Reading} reading @param {string} name @param {Which} [which] */
export const sum = (reading, name, which = any) =>
	(reading.series.get(name) ?? [])
		.filter((one) => which(one.labels))
		.reduce((total, one) => total + one.value, 0);

/**
 * Returns the increase of a counter per second.
 * @param {Reading} before @param {Reading} now @param {string} name @param {Which} [which]
 */
export const rate = (before, now, name, which) =>
	Math.max(0, sum(now, name, which) - sum(before, name, which)) / (now.time - before.time);

/**
 * Returns a quantile of a histogram between two readings, in seconds; null if it counted nothing.
 * @param {Reading} before @param {Reading} now @param {string} name @param {number} q
 * @param {Which} [which]
 */
export function quantile(before, now, name, q, which = any) {
	/** @type {Map<number, number>} */
	const counts = new Map();
	for (const [reading, sign] of /** @type {const} */ ([
		[now, 1],
		[before, -1],
	])) {
		for (const { labels, value } of reading.series.get(`${name}_bucket`) ?? []) {
			if (!which(labels)) continue;
			const edge = labels.le === "+Inf" ? Infinity : Number(labels.le);
			counts.set(edge, (counts.get(edge) ?? 0) + sign * value);
		}
	}
	const edges = [...counts].sort((a, b) => a[0] - b[0]);
	const total = edges.at(-1)?.[1] ?? 0;
	if (total <= 0) return null;
	const rank = q * total;
	let low = 0;
	let below = 0;
	for (const [edge, count] of edges) {
		if (count >= rank) {
			const part = count === below ? 1 : (rank - below) / (count - below);
			return edge === Infinity ? low : low + (edge - low) * part;
		}
		low = edge;
		below = count;
	}
	return low;
}

/**
 * Returns whether the service is well, and a sentence that says so.
 * @param {Reading} reading @returns {[boolean, string]}
 */
export function health(reading) {
	const stopped =
		reading.series.has("anteroom_store_writable") && sum(reading, "anteroom_store_writable") !== 1;
	const damaged = sum(reading, "anteroom_files_damaged");
	if (stopped) return [false, "The store cannot write. Check the free space on its disk."];
	if (damaged === 0) return [true, "Healthy. The store accepts writes, and no damage was found."];
	return [false, `${count_of(damaged, "damaged file")}. Run “anteroom check” on the server.`];
}
