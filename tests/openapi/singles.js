// Single values at the edges of what a schema allows, and just beyond: { value, isValid, what }.
//
// SPDX-License-Identifier: GPL-3.0-or-later
import { Written } from "./json.js";

const LARGEST = "9223372036854775807";
const BEYOND = "9223372036854775808";

const good = (value, what) => ({ value, isValid: true, what });
const bad = (value, what) => ({ value, isValid: false, what });

// Clients that cannot omit the member send "" for it.
const mayBeEmpty = (seen) => /"" (counts as not sent|removes it)/.test(seen.description ?? "");

// salt: the character that texts are filled with, if it is allowed.
export function* singles(seen, salt) {
	if (seen.enum) yield* choices(seen);
	else if (seen.format === "date-time") yield* times();
	else if (seen.type === "string") yield* texts(seen, salt);
	else if (seen.type === "integer") yield* integers(seen);
	else if (seen.type === "number") yield* numbers(seen);
	else if (seen.type === "boolean") yield* [good(true, "true"), good(false, "false")];
}

function otherCase(text) {
	return text === text.toUpperCase() ? text.toLowerCase() : text.toUpperCase();
}

function* choices(seen) {
	for (const choice of seen.enum.filter((one) => one !== null)) yield good(choice, choice);
	yield bad(`${seen.enum[0]}x`, "no choice");
	yield bad(otherCase(seen.enum[0]), "in the other case");
	if (!mayBeEmpty(seen)) yield bad("", "empty");
}

function* times() {
	yield good("9999-12-31T23:59:59Z", "the last");
	yield good("2990-06-30T12:00:00.5+02:00", "with a fraction and an offset");
	for (const one of ["seven", "2026-11-23", "2026-11-23T09:00Z", "2026-02-30T00:00:00Z"])
		yield bad(one, `the time ${one}`);
}

function* numbers({ minimum, maximum }) {
	yield good(minimum, "the least");
	yield good(maximum, "the most");
	yield bad(minimum - 0.1, "below the least");
	yield bad(maximum + 0.1, "above the most");
}

function* integers({ minimum, maximum, multipleOf = 1 }) {
	if (minimum === undefined) throw new Error("an integer without a minimum");
	yield good(minimum, "the least");
	yield good(minimum + multipleOf, "one more than the least");
	yield good(new Written(`${minimum}.0`), "written as a real");
	yield bad(minimum - multipleOf, "below the least");
	yield bad(minimum + 0.5, "a fraction");
	if (multipleOf > 1) yield bad(minimum + 1, "no multiple");
	if (maximum === undefined) {
		yield good(new Written(LARGEST), "the largest of 64 bits");
		yield { ...bad(new Written(BEYOND), "beyond 64 bits"), isMalformed: true };
		return;
	}
	yield good(maximum, "the most");
	yield bad(maximum + multipleOf, "above the most");
}

// ---- texts ----

// Returns the characters that a pattern of the document allows: all of them, and those allowed at
// the ends.
export function charactersOf(pattern) {
	const classes = [...pattern.matchAll(/\[([^\]]*)\]/g)].map((match) => expand(unescaped(match[1])));

	if (!/^\^\[[^\]]*\](\*|\(\[[^\]]*\]\*\[[^\]]*\]\)\?)\$$/.test(pattern))
		throw new Error(`this test does not know the pattern ${pattern}`);
	return { all: classes[1] ?? classes[0], outer: classes[0] };
}

function unescaped(inside) {
	return inside.replaceAll(/\\u([0-9a-f]{4})/g, (_, digits) => String.fromCharCode(parseInt(digits, 16)));
}

// The characters up to U+00FF, and two others, stand for all that a class with ^ allows.
const SOME = Array.from({ length: 256 }, (_, at) => String.fromCodePoint(at)).join("") + "\u20ac\u{1f600}";

function expand(inside) {
	if (inside.startsWith("^")) {
		const without = expand(inside.slice(1));

		return [...SOME].filter((one) => !without.includes(one)).join("");
	}
	const ranges = inside.replaceAll(/(.)-(.)/gu, (_, first, last) => {
		let range = "";

		for (let at = first.codePointAt(0); at <= last.codePointAt(0); at++)
			range += String.fromCodePoint(at);
		return range;
	});

	return [...new Set(ranges)].join("");
}

export function* texts(seen, salt) {
	const any = { all: `${salt} "\\/\u00e9\u{1f600}\t`, outer: salt };
	const characters = seen.pattern ? charactersOf(seen.pattern) : any;
	const filler = characters.outer.includes(salt) ? salt : characters.outer[0];
	const { minLength: least = 0, maxLength: most = Infinity } = seen;

	yield good(filler.repeat(least), "the shortest");
	if (least > 1 || (least > 0 && !mayBeEmpty(seen)))
		yield bad(filler.repeat(least - 1), "too short");
	if (most !== Infinity) yield* longest(seen, filler, most);
	if (least < 3) yield* characterTexts(characters, filler, most);
	if (seen.pattern) yield* patternBreakers(characters, filler, least, most);
}

function* longest(seen, filler, most) {
	const bytes = seen["x-maxBytes"];
	const wide = seen.pattern || bytes ? filler : "\u{1f600}";

	yield good(wide.repeat(most), "the longest");
	yield bad(wide.repeat(most + 1), "too long");
	if (bytes === undefined) return;
	yield good("\u00e9".repeat(bytes / 2), "the most bytes");
	yield bad("\u00e9".repeat(bytes / 2 + 1), "too many bytes");
}

// Yields texts that are short enough and together contain every character.
function* characterTexts(characters, filler, most) {
	const size = Math.min(most, 100) - 2;

	for (let at = 0; at < characters.all.length; at += size)
		yield good(filler + characters.all.slice(at, at + size) + filler, `from ${at}`);
}

function* patternBreakers({ all, outer }, filler, least, most) {
	const rest = filler.repeat(Math.max(least - 1, 1)).slice(0, most - 1);

	for (const one of ["/", "\u00e9", "\n", "%", " "]) {
		const shown = JSON.stringify(one);

		if (!outer.includes(one)) yield bad(one + rest, `begins with ${shown}`);
		if (!outer.includes(one)) yield bad(rest + one, `ends with ${shown}`);
		if (!all.includes(one) && least < 3) yield bad(filler + one + filler, `has ${shown}`);
	}
}
