// Generates, for each place of a schema, values at the edges of what it allows and just beyond.
// Each case is a value for the whole schema that is special in one place:
//
//	{ value, isValid, place, what, pointer }
//
// place: where it is special, with * for any entry of a map or list; what: how it is special;
// pointer: the JSON Pointer that a rejection must name, or null if the JSON parser already rejects
// it.
//
// SPDX-License-Identifier: GPL-3.0-or-later
import { jsonText } from "./json.js";
import { beside, breaking } from "./rules.js";
import { singles, texts } from "./singles.js";
import { stem } from "./values.js";

const kinds = {
	null: [null],
	boolean: [true],
	number: [7],
	string: ["seven", "7", ""],
	array: [[], [7]],
	object: [{}, { seven: 7 }],
};

function special(value, isValid, what, pointer = "", place = pointer) {
	return { value, isValid, what, pointer, place };
}

// Turns a case for a member, key or index into a case for the whole value.
function within(below, name, value, place = name) {
	const pointer = below.pointer === null ? null : `/${name}${below.pointer}`;

	return { ...below, value, pointer, place: `/${place}${below.place}` };
}

// n: the index in a list, if a sample depends on it.
export function* cases(values, schema, n = 0) {
	const seen = values.look(schema);

	if (seen.type === undefined) {
		for (const value of [null, 7, "x", { a: [] }]) yield special(value, true, "anything");
		return;
	}
	yield* otherKinds(seen);
	for (const one of singles(seen, values.salt))
		yield { pointer: one.isMalformed ? null : "", place: "", ...one };
	if (seen.type === "array") yield* lists(values, seen);
	else if (seen.additionalProperties) yield* maps(values, seen);
	else if (seen.type === "object") yield* objects(values, seen, n);
}

function* otherKinds(seen) {
	const own = seen.type === "integer" ? "number" : seen.type;

	for (const [kind, others] of Object.entries(kinds)) {
		if (kind === own) continue;
		for (const value of others) {
			// An empty array counts as an empty object.
			if (own === "object" && kind === "array" && value.length === 0) continue;
			const isValid = value === null && seen.isNullable;
			// The document does not mention null here, which mostly counts as not
			// sent.
			const isUnsaid = value === null && !isValid;

			yield { ...special(value, isValid, `${jsonText(value)} as ${seen.type}`), isUnsaid };
		}
	}
}

function* objects(values, seen, n) {
	const least = values.least(seen, n);
	const component = stem(seen.component);

	yield special(least, true, "what is required");
	yield special(values.fullOf(seen, n), true, "all members");
	for (const value of breaking[component] ?? [])
		yield { ...special(value, true, "made to break a rule"), isBreaking: true };
	for (const name of seen.required ?? []) {
		const { [name]: _, ...rest } = least;

		yield special(rest, false, "missing", `/${name}`);
	}
	for (const name of Object.keys(seen.properties ?? {})) {
		const around = { ...least, ...beside[`${component}.${name}`] };

		for (const below of members(values, seen, name))
			yield within(below, name, { ...around, [name]: below.value });
	}
}

// Members whose invalid texts are reported at another member.
const elsewhere = new Set(["BulkOperation.method", "BulkOperation.path"]);

function* members(values, seen, name) {
	const given = values.given(seen, name);

	if (elsewhere.has(`${stem(seen.component)}.${name}`)) {
		yield* otherKinds(values.look(seen.properties[name]));
		return yield special(given, true, `given: ${given}`);
	}
	for (const below of cases(values, seen.properties[name])) {
		if (given === undefined || !below.isValid || below.value === null) yield below;
	}
	if (given !== undefined) yield special(given, true, `given: ${given}`);
}

function* maps(values, seen) {
	const item = seen.additionalProperties;
	const form = values.look(item);
	const shortest = form.minLength > 0 ? values.sample(item) : "";
	const least = form.type === "object" ? {} : shortest;
	const entry = (n) => [`${values.salt}${n}`, least];
	const many = (count) =>
		Object.fromEntries(Array.from({ length: count }, (_, n) => entry(n)));

	yield special({}, true, "empty");
	for (const { value: key, isValid, what } of texts(seen.propertyNames, values.salt)) {
		const escaped = key.replaceAll("~", "~0").replaceAll("/", "~1");
		const value = { [key]: values.sample(item) };

		yield special(value, isValid, `a key: ${what}`, `/${escaped}`, "");
	}
	for (const below of cases(values, item)) {
		// An entry with a name is valid only under that name.
		const name = below.isValid && !below.isBreaking ? below.value?.name : undefined;
		const key = typeof name === "string" ? name : `${values.salt}k`;

		yield within(below, key, { [key]: below.value }, "*");
	}
	if (seen.maxProperties === undefined) return;
	yield special(many(seen.maxProperties), true, "the most entries");
	yield special(many(seen.maxProperties + 1), false, "too many entries");
}

function* lists(values, seen) {
	const sample = (n) => values.sample(seen.items, n);
	const many = (count) => Array.from({ length: count }, (_, n) => sample(n));

	yield special([], !seen.minItems, "empty");
	for (const place of seen.uniqueItems || seen.maxItems === 1 ? [0] : [0, 1]) {
		for (const below of cases(values, seen.items, place))
			yield within(below, place, [...many(place), below.value], "*");
	}
	if (seen.uniqueItems) {
		const one = sample(0);

		yield special(values.look(seen.items).enum ?? many(3), true, "all different");
		yield special([one, one], false, "one repeated", "/1", "");
	}
	if (seen.maxItems === undefined) return;
	yield special(many(seen.maxItems), true, "the most items");
	yield special(many(seen.maxItems + 1), false, "too many items");
}
