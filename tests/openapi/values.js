// Values that obey a schema: the least one, a sample, one with all members, random ones.
//
// SPDX-License-Identifier: GPL-3.0-or-later
import { IMPORTED } from "./fixtures.js";
import { charactersOf, singles } from "./singles.js";

// The n-th sample, and a full value, of components whose members cannot be chosen independently.
let backends = 0;
const backend = () => ({
	name: `sample ${backends++}`,
	type: "livekit",
	url: "wss://media.invalid",
	config: samples.BackendConfigInput(),
});
const samples = {
	ImportedTemplateInput: () => ({ id: IMPORTED.template_id }),
	ImportedRoomInput: () => ({ id: IMPORTED.room_id }),
	BackendSetupInput: backend,
	BackendInput: backend,
	BackendConfigInput: () => ({ api_key: "k", api_secret: "s".repeat(32) }),
	BackendConfigPatch: () => ({ api_key: "k" }),
	SimulcastLayerInput: (n) => ({
		rid: "fhq"[n % 3],
		scaleResolutionDownBy: n + 1,
		maxFramerate: 30,
	}),
};
const fulls = {
	SimulcastLayerInput: (n) => ({ ...samples.SimulcastLayerInput(n), maxBitrate: 100 }),
	HlsLayerInput: () => ({ width: 640, height: 360, videoBitrate: 500, audioBitrate: 64 }),
};

// Returns "Role" for "RoleInput" and "RolePatch", "Template" for "TemplateUpdate".
export function stem(component) {
	return component?.replace(/(Input|Patch|Update)$/, "");
}

// Returns random numbers from 0 to 1, the same in every run (mulberry32).
export function source(seed) {
	let state = seed;

	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);

		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
	};
}

// Members that a rule forbids together with the others.
const apart = { RoomCodeInput: ["expires_in"] };

// In a map, the key is the name, so an entry does not have a name.
function unnamed(entry) {
	if (typeof entry !== "object") return entry;

	const { name: _, ...rest } = entry ?? {};

	return entry === null ? null : rest;
}

export class Values {
	// salt: a character for names, so that operations use different ones. members: by component
	// and member ("Room.template_id"), the only value to use, for members that must match a
	// stored object.
	constructor(document, { salt, members = {} }) {
		Object.assign(this, { document, salt, members, count: 0 });
	}

	// Resolves a schema: adds the name of its component, its type, and whether it may be null.
	look(schema) {
		const inner = schema.anyOf?.[0] ?? schema;
		const whole = inner.$ref ? this.document.resolve(inner) : inner;

		const more = whole.additionalProperties;

		return {
			...whole,
			description: schema.description ?? whole.description,
			// A map with any members has no described members.
			additionalProperties: more === true ? undefined : more,
			component: inner.$ref?.split("/").pop(),
			isNullable: schema.anyOf !== undefined,
		};
	}

	given(seen, name) {
		return this.members[`${stem(seen.component)}.${name}`];
	}

	// Returns the members that a whole object needs, because a patch may have to supply them.
	required(seen) {
		const whole = seen.component?.replace(/(Patch|Update)$/, "Input");

		return this.document.schemas[whole]?.required ?? seen.required ?? [];
	}

	// Returns a name that was not used before, if the schema allows one.
	name(seen) {
		const text = `${this.salt}-${this.count++}`.padEnd(seen.minLength ?? 0, this.salt);
		const characters = seen.pattern && charactersOf(seen.pattern);

		if (!characters || [...text].every((one) => characters.all.includes(one))) return text;
		return characters.outer[0].repeat(seen.minLength ?? 0);
	}

	// Returns a time later than the previous one.
	time() {
		return new Date(Date.UTC(2990, 0, 1, 0, 0, this.count++)).toISOString();
	}

	sample(schema, n = 0) {
		const seen = this.look(schema);

		if (seen.enum) return seen.enum[n % seen.enum.length];
		if (seen.format === "date-time") return this.time();
		switch (seen.type) {
			case "boolean":
				return true;
			case "integer":
			case "number":
				return seen.minimum;
			case "string":
				return this.name(seen);
			case "array":
				return [this.sample(seen.items)];
			case "object":
				return this.least(seen, n);
		}
		return "anything";
	}

	// Returns an object with only the required members.
	least(seen, n = 0) {
		const names = this.required(seen);

		if (samples[seen.component]) return samples[seen.component](n);
		return Object.fromEntries(names.map((name) => [name, this.member(seen, name, n)]));
	}

	member(seen, name, n = 0) {
		return this.given(seen, name) ?? this.sample(seen.properties[name], n);
	}

	// Returns a value with all members.
	full(schema, n = 0) {
		return this.fullOf(this.look(schema), n);
	}

	fullOf(seen, n = 0) {
		const map = seen.additionalProperties;

		if (fulls[seen.component]) return fulls[seen.component](n);
		if (seen.type === "array") return [this.full(seen.items)];
		if (map) return { [this.name(seen.propertyNames)]: unnamed(this.full(map)) };
		if (seen.type !== "object") return this.sample(seen, n);
		// Ignored members, as in a response that a client sends back.
		const ignored = (seen["x-ignored"] ?? []).map((name) => [name, "whatever it is"]);

		return Object.fromEntries([
			...ignored,
			...Object.entries(seen.properties ?? {})
				.filter(([name]) => !apart[seen.component]?.includes(name))
				.map(([name, below]) => [name, this.given(seen, name) ?? this.full(below)]),
		]);
	}

	// Returns a random value, from a source of random numbers.
	random(schema, next) {
		const seen = this.look(schema);

		if (seen.isNullable && next() < 0.1) return null;
		if (fulls[seen.component]) return fulls[seen.component](0);
		if (seen.type === "array") return this.randomList(seen, next);
		if (seen.additionalProperties) return this.randomMap(seen, next);
		if (seen.type === "object") return this.randomObject(seen, next);
		const values = [...singles(seen, this.salt)].filter((one) => one.isValid);

		return values[Math.floor(next() * values.length)]?.value ?? "anything";
	}

	randomList(seen, next) {
		const least = seen.minItems ?? 0;
		const count = Math.max(least, Math.floor(next() * (Math.min(seen.maxItems ?? 4, 4) + 1)));
		const make = fulls[this.look(seen.items).component];
		const items = Array.from({ length: count }, (_, n) =>
			make ? make(n) : this.random(seen.items, next),
		);

		return seen.uniqueItems ? [...new Set(items)] : items;
	}

	randomMap(seen, next) {
		const names = Array.from({ length: Math.floor(next() * 4) }, () =>
			this.name(seen.propertyNames),
		);
		const entry = () => unnamed(this.random(seen.additionalProperties, next));

		return Object.fromEntries(names.map((name) => [name, entry()]));
	}

	randomObject(seen, next) {
		const value = this.least(seen);

		for (const [name, below] of Object.entries(seen.properties ?? {})) {
			const single = name === "name" ? this.name(this.look(below)) : undefined;

			if (next() < 0.4)
				value[name] = this.given(seen, name) ?? single ?? this.random(below, next);
		}
		return value;
	}
}
