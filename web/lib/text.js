// Numbers and times for people.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { h } from "./dom.js";

const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
const absolute = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const minute = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const number_format = new Intl.NumberFormat();

/** Units of relative times: up to how many seconds each is used, and the seconds it has.
 * @type {[number, number, Intl.RelativeTimeFormatUnit][]} */
const UNITS = [
	[3600, 60, "minute"],
	[86400, 3600, "hour"],
	[86400 * 14, 86400, "day"],
];

/** Returns "3 minutes ago" or "in 2 days". @param {Date} then */
export function ago_words(then) {
	const seconds = (then.getTime() - Date.now()) / 1000;
	const size = Math.abs(seconds);
	const unit = UNITS.find(([end]) => size < end);
	if (size < 45) return "just now";
	return unit ? relative.format(Math.round(seconds / unit[1]), unit[2]) : day.format(then);
}

/** Returns the same as an element, with the exact time as its tooltip. @param {string} iso */
export function ago(iso) {
	const then = new Date(iso);
	return h("time", { datetime: iso, title: absolute.format(then) }, ago_words(then));
}

/** Returns "3 seconds ago", and from a minute on what ago_words returns. @param {Date} then */
export function seconds_ago_words(then) {
	// A clock that is ahead of the server's does not show times that are to come.
	const seconds = Math.max(0, Math.round((Date.now() - then.getTime()) / 1000));
	return seconds < 60 ? relative.format(-seconds, "second") : ago_words(then);
}

/** Returns "Nov 24, 2026, 14:00", or with seconds. @param {string} iso @param {boolean} [exact] */
export const moment = (iso, exact = false) => (exact ? absolute : minute).format(new Date(iso));

/** Returns a time span with its two largest units: "3 days 4 h", "2 h 5 min". @param {number} seconds */
export function duration(seconds) {
	const minutes = Math.floor(seconds / 60);
	const hours = Math.floor(minutes / 60);
	if (minutes < 1) return "Less than 1 min";
	if (hours < 1) return `${minutes} min`;
	if (hours < 24) return `${hours} h ${minutes % 60} min`;
	return `${count_of(Math.floor(hours / 24), "day")} ${hours % 24} h`;
}

/** Returns "14:03:27". @param {number} time as Date.now() returns it */
export const clock = (time) =>
	new Date(time).toLocaleTimeString(undefined, {
		hour: "2-digit",
		minute: "2-digit",
		second: "2-digit",
	});

/** @param {number} value */
export const number = (value) => number_format.format(value);

/** Returns "1 code" or "12 codes". @param {number} count @param {string} one @param {string} [many] */
export const count_of = (count, one, many = `${one}s`) =>
	`${number(count)} ${count === 1 ? one : many}`;

/** @param {number} value */
export function bytes(value) {
	const units = ["B", "kB", "MB", "GB", "TB"];
	let i = 0;
	while (value >= 1000 && i < units.length - 1) {
		value /= 1000;
		i += 1;
	}
	return `${value >= 100 || i === 0 ? Math.round(value) : value.toFixed(1)} ${units[i]}`;
}
