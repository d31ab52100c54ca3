// The picture of a person without video: the initials on a colour that follows from the name.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { h } from "./dom.js";

const HUES = [15, 50, 85, 145, 185, 230, 275, 330];

/** @param {string} text */
export function hue_of(text) {
	let sum = 7;
	for (const one of text) sum = (Math.imul(sum, 31) + (one.codePointAt(0) ?? 0)) >>> 0;
	return String(HUES[((sum ^ (sum >>> 7) ^ (sum >>> 15)) >>> 0) % HUES.length]);
}

// What the service puts behind a name that is taken: "Anna (2)".
const NUMBER = / \(\d+\)$/;

/** Returns the first letters of the first and the last word. @param {string} name */
function initials(name) {
	const parts = name.trim().replace(NUMBER, "").split(/\s+/);
	const first = (/** @type {string | undefined} */ text) => [...(text ?? "")][0] ?? "";
	return (first(parts[0]) + (parts.length > 1 ? first(parts.at(-1)) : "")).toLocaleUpperCase();
}

/** Creates the circle with the initials. Screen readers skip it. @param {string} name */
export function face(name) {
	const element = h("span.face", { "aria-hidden": "true" }, initials(name));
	element.style.setProperty("--hue", hue_of(name));
	return element;
}
