// The names of others as they are shown: whatever somebody calls themselves, it stays one line in its own place, and
// is not taken for you.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { words } from "./words.js";

// Characters of a name that are shown, and marks on one letter.
const MOST = 64;
const MARKS = /(\p{M}{4})\p{M}+/gu;
// Characters that turn the direction of the text after them, and invisible ones. Scripts and emoji need joiners.
const HIDDEN = /[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;
const BLANKS = /[\p{Cc}\p{Zl}\p{Zp}\s]+/gu;

/** @param {string} text */
function cleaned(text) {
	// More than this cannot be shown in any case.
	const name = text.slice(0, 8 * MOST).replace(HIDDEN, "").replace(BLANKS, " ").replace(MARKS, "$1").trim();
	const letters = [...name];
	return letters.length > MOST ? `${letters.slice(0, MOST).join("")}…` : name;
}

/** Returns the name of another person. @param {string} text @param {string} own your name */
export function shown_name(text, own) {
	const name = cleaned(text);
	const is_yours = [words.you, words.name_you(own)].some((one) => one.toLowerCase() === name.toLowerCase());
	return is_yours ? `${name} (2)` : name;
}
