// Reads a room code as people type, paste or dictate it, with other dashes, spaces, quotes or a whole link
// around it. The service follows the same rules (src/resources/code_typed.c); it looks up ten letters
// without hyphens first as a custom code, then as the three groups of a generated code.
//
// SPDX-License-Identifier: GPL-3.0-or-later

// Character classes: ignored characters, spaces, dashes, quotes and brackets, full stops.
const LEFT_OUT =
	/[\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]/g;
const BLANKS = /[\t-\r\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/g;
const DASHES = /[\u00ad\u02d7\u2010-\u2015\u2043\u2212\u30fc\ufe58\ufe63\uff70]/g;
const QUOTES =
	/[\u00ab\u00b4\u00bb\u02b9-\u02bc\u2018-\u201f\u2032\u2033\u2039\u203a\u3008-\u3011\u3014-\u301f]/g;
// ASCII characters in full width.
const WIDE = /[\uff01-\uff5e]/g;
const STOPS = /[\u2026\u3001\u3002]/g;
// Characters around a word that are not part of it.
const ENDS = "\"'`()[]{}<>.,;:!?*_#/-";

const GENERATED = /^[a-z]{3}-[a-z]{3,4}-[a-z]{3}$/;
const WORDS = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** @param {string} text */
function fold(text) {
	return text
		.replace(WIDE, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
		.replace(LEFT_OUT, "")
		.replace(BLANKS, " ")
		.replace(DASHES, "-")
		.replace(QUOTES, '"')
		.replace(STOPS, ".")
		.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** @param {string} text */
function trim(text) {
	let from = 0;
	let to = text.length;
	while (from < to && ENDS.includes(text.charAt(from))) from++;
	while (from < to && ENDS.includes(text.charAt(to - 1))) to--;
	return text.slice(from, to);
}

/** Returns the words without query, fragment and surrounding characters. @param {string} folded */
const words_in = (folded) =>
	folded.split(" ").map((word) => trim(trim(word).split(/[?#]/, 1)[0] ?? ""));

/** Joins all words with single hyphens. @param {string} folded */
const joined = (folded) =>
	words_in(folded)
		.flatMap((word) => word.split("-"))
		.filter((part) => part !== "")
		.join("-");

/** @param {string} text */
const is_code = (text) =>
	GENERATED.test(text) || (text.length >= 6 && text.length <= 40 && WORDS.test(text));

/** Returns the last path segment of a link if it is a code, else null. @param {string} word @returns {string | null} */
function code_of_link(word) {
	const parts = word.split("/");
	const behind = parts[0]?.endsWith(":") && parts[1] === "" ? 3 : 1;
	const segment = parts.length > behind ? parts.at(-1) : "";
	try {
		const text = decodeURIComponent(segment ?? "");
		const code = /[/\0]/.test(text) ? "" : joined(fold(text));
		return is_code(code) ? code : null;
	} catch {
		return null;
	}
}

// As long as a code can be; and a generated code with digits in it.
const LONGEST = 40;
const DIGITS = /^[a-z0-9]{3}-?[a-z0-9]{3,4}-?[a-z0-9]{3}$/;

/**
 * Returns the character of what was typed that no code has, or a digit where a generated code has letters, and says
 * which of both; null if there is none, or what was typed is too long for a code.
 * @param {string} text @returns {{ character: string, is_digit: boolean } | null}
 */
export function wrong_character(text) {
	const typed = trim(trim(fold(text)).split("/").at(-1)?.split(/[?#]/, 1)[0] ?? "").replace(/ +/g, "-");
	if (typed.length > LONGEST) return null;
	const odd = [...typed].find((one) => !/[a-z0-9-]/.test(one));
	if (odd) return { character: odd, is_digit: false };
	const digit = DIGITS.test(typed) && /[a-z]/.test(typed) ? /[0-9]/.exec(typed)?.[0] : undefined;
	return digit ? { character: digit, is_digit: true } : null;
}

/** @param {Set<string>} found */
const only = (found) => (found.size === 1 ? [...found].join("") : null);

/** Undoes the line breaks that mail programs insert. @param {string} text */
const unbroken = (text) =>
	text
		.replace(/=\r?\n/g, "")
		.replace(/-(?:\r?\n)+/g, "-")
		.replace(/\r?\n-/g, "-");

/** @param {string} text */
function decoded(text) {
	try {
		const plain = decodeURIComponent(text.replace(/\+/g, " "));
		return plain.includes("\0") ? text : plain;
	} catch {
		return text;
	}
}

/**
 * Returns the generated code in a text if there is exactly one, else null. The characters around it must be
 * spaces or ASCII punctuation except hyphen and underscore.
 * @param {string} folded
 */
const lone_code = (folded) =>
	only(
		new Set(
			folded
				.split(/[^a-z0-9_\-\0-\x1f\x7f-\uffff]/)
				.map((run) => run.replace(/^-+|-+$/g, ""))
				.filter((run) => GENERATED.test(run)),
		),
	);

/**
 * Returns the code in a text. A soft hyphen is a dash between the groups of a generated code; in a custom code it is
 * nothing: word processors put it where a word may be divided.
 * @param {string} text @returns {string | null}
 */
export function code_of(text) {
	const code = find_code(text);
	if (code !== null && GENERATED.test(code)) return code;
	const whole = text.replace(/\u00ad|%c2%ad/gi, "");
	return (whole === text ? null : find_code(whole)) ?? code;
}

/**
 * Returns the code in a text: a generated code, else the last part of the link, else all words joined; else a
 * generated code anywhere in the text, also percent-encoded as in a link within a link. Returns null if there
 * is no code or more than one.
 * @param {string} text @returns {string | null}
 */
function find_code(text) {
	const code = read_code(fold(text));
	if (code !== null && GENERATED.test(code)) return code;
	const whole = unbroken(text);
	return read_code(fold(whole)) ?? code ?? lone_code(fold(decoded(whole)));
}

/** @param {string} folded @returns {string | null} */
function read_code(folded) {
	const generated = new Set();
	const linked = new Set();
	let has_link = false;
	for (const word of words_in(folded)) {
		const is_link = word.includes("/");
		const code = is_link ? code_of_link(word) : GENERATED.test(word) ? word : null;
		has_link ||= is_link;
		if (code !== null) (GENERATED.test(code) ? generated : linked).add(code);
	}
	if (generated.size > 0) return only(generated);
	if (has_link) return only(linked);
	const code = joined(folded);
	return is_code(code) ? code : null;
}
