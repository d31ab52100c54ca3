// Creates a form from a schema: objects, lists and maps of the controls of controls.js. Only the service
// checks values; the form shows each error that it reports at the field.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { fault_line, reveal, single } from "./controls.js";
import { h, icon, put, unique } from "./dom.js";
import { label_of } from "./labels.js";
import { is_scalar } from "./schema.js";

/** @typedef {import("./schema.js").Plain} Plain */
/** @typedef {import("./controls.js").Control} Control */
/** @typedef {import("./api.js").Fault} Fault */
/** @typedef {{ suggestions?: Record<string, string[]>, folded?: string[] }} Extras suggestions by
 *   pointer; the folded fields of the root */
/** @typedef {{ node: Plain, name: string, pointer: string, depth: number, extras: Extras }} Place */

/** @param {Place} place @returns {Control} */
function control(place) {
	switch (place.node.kind) {
		case "object":
			return object(place);
		case "map":
			return place.node.item && is_scalar(place.node.item) ? pairs(place) : map(place);
		case "list":
			return list(place);
		default:
			return single(place, place.extras.suggestions?.[place.pointer] ?? []);
	}
}

/** Escapes a name for a JSON Pointer. @param {string} name */
const step_of = (name) => name.replace(/~/g, "~0").replace(/\//g, "~1");

/** Splits a JSON Pointer into its steps. @param {string} pointer */
export const steps = (pointer) =>
	pointer
		.split("/")
		.slice(1)
		.map((step) => step.replace(/~1/g, "/").replace(/~0/g, "~"));

/**
 * Creates the frame of a value with parts: title, hint, errors and parts.
 * @param {Place} place @param {(Node | string | null | false)[]} about @param {Node[]} parts
 */
function group({ name, pointer, depth }, about, parts) {
	const id = unique("group");
	const fault = fault_line(`${id}-fault`);
	const title = h("span.group-title", { id }, label_of(name));
	const element = h(
		"div",
		{
			class: depth === 1 ? "section" : "group",
			role: "group",
			"aria-labelledby": id,
			"aria-describedby": `${id}-fault`,
			"data-pointer": pointer,
		},
		h("div.group-head", null, title, about),
		fault.element,
		parts,
	);
	return {
		id,
		element,
		label: label_of(name),
		/** @param {string} text */
		show(text) {
			fault.add(text);
			element.classList.add("wrong");
		},
		clear() {
			fault.clear();
			element.classList.remove("wrong");
		},
		changed: () => element.dispatchEvent(new Event("input", { bubbles: true })),
	};
}

/** Lists the rules between fields. @param {string[]} rules */
const sentences = (rules) =>
	rules.length > 0 &&
	h(
		"ul.rules",
		null,
		rules.map((rule) => h("li", null, rule)),
	);

/** Puts the width before the height, and fields that cannot be changed last. @param {[string, Plain][]} fields */
function ordered(fields) {
	const weight = (/** @type {[string, Plain]} */ [name, node]) => {
		if (node.kind === "choice" && node.options.length === 1) return 3;
		return { width: 0, height: 1 }[name] ?? 2;
	};
	return fields.toSorted((a, b) => weight(a) - weight(b));
}

/** @param {Place} place @returns {Control} */
function object(place) {
	const { node, name, pointer, depth, extras } = place;
	/** @type {Map<string, Control>} */
	const members = new Map();
	for (const [field, one] of depth === 0 ? node.fields : ordered(node.fields)) {
		const at = { node: one, name: field, pointer: `${pointer}/${step_of(field)}`, extras };
		members.set(field, control({ ...at, depth: depth + 1 }));
	}
	const flat = depth > 0 && node.fields.every(([, one]) => is_scalar(one));
	const switches = flat && node.fields.some(([, one]) => one.kind === "boolean");
	const layout = switches ? "rows" : flat ? "grid" : "";
	const fields = h("div.fields", { class: layout });
	const whole = depth === 0 || name === "";
	const parts = whole ? bare(place, fields) : titled(place, fields);
	const folded = depth === 0 ? (extras.folded ?? []) : [];
	const shown = [...members].filter(([field]) => !folded.includes(field));
	const hidden = [...members].filter(([field]) => folded.includes(field));
	const fold = h("details.fold", null, h("summary", null, icon("next"), "More options"));
	fold.append(...hidden.map(([, one]) => one.element));
	put(
		fields,
		shown.map(([, one]) => one.element),
		hidden.length > 0 && fold,
	);
	return {
		element: parts.element,
		label: name === "" ? "" : label_of(name),
		child: (step) => members.get(step) ?? null,
		read() {
			if (!parts.present()) return undefined;
			/** @type {Record<string, any>} */
			const value = {};
			for (const [field, one] of members) {
				const part = one.read();
				if (part !== undefined) value[field] = part;
			}
			return value;
		},
		write(value) {
			parts.set_present(value !== undefined && value !== null);
			for (const [field, one] of members) one.write(value?.[field]);
		},
		show: parts.show,
		clear() {
			parts.clear();
			for (const [, one] of members) one.clear();
		},
		focus() {
			if (parts.focus()) return;
			const [first] = members.values();
			first?.focus();
		},
	};
}

/** Creates an object without a frame: the form itself, or an item of a list. @param {Place} place @param {HTMLElement} fields */
function bare({ node, depth, pointer }, fields) {
	const fault = fault_line(unique("fault"));
	const rules = node.rules.filter(is_news);
	const element = h(
		"div",
		{ class: depth === 0 ? "form-root" : "bare", "data-pointer": pointer || null },
		fault.element,
		depth > 0 && sentences(rules),
		fields,
	);
	return {
		element,
		present: () => true,
		/** @param {boolean} _there */
		set_present(_there) {},
		show: fault.add,
		clear: fault.clear,
		focus: () => false,
	};
}

/** Leaves out the rule that a name equals its key: the form has one field for both. @param {string} rule */
const is_news = (rule) => !/name is the same as its key/.test(rule);

/** Creates an object with a title, and with a switch if it may be absent. @param {Place} place @param {HTMLElement} fields */
function titled(place, fields) {
	const { node, depth } = place;
	const optional = !node.required && node.fallback === undefined;
	const rules = node.rules.filter(is_news);
	const about = node.description.split(" In a map,")[0] ?? "";
	const telling = about.split(" ").length >= 5 || depth === 1 || optional;
	const present = optional ? h("input.switch", { type: "checkbox", role: "switch" }) : null;
	const around = group(
		place,
		[
			present,
			about !== "" &&
				telling &&
				h("p.hint", null, rules.length > 0 ? (about.split(". ")[0] ?? "") : about),
			sentences(rules),
		],
		[fields],
	);
	present?.setAttribute("aria-labelledby", around.id);
	present?.addEventListener("change", () => {
		fields.hidden = !present.checked;
	});
	return {
		...around,
		present: () => present?.checked ?? true,
		/** @param {boolean} there */
		set_present(there) {
			if (!present) return;
			present.checked = there;
			fields.hidden = !there;
		},
		focus() {
			reveal(around.element);
			present?.focus();
			return present !== null;
		},
	};
}

/** Creates a list of items with buttons to move and remove them. @param {Place} place @returns {Control} */
function list(place) {
	const { node, name, pointer, depth, extras } = place;
	const item = /** @type {Plain} */ (node.item);
	/** @type {Control[]} */
	let items = [];
	let stated = false;
	const rows = h("ol.items");
	const one = name === "layers" ? "layer" : "item";
	// There can be layers of video and layers of the screen.
	const outer = steps(pointer).at(-2);
	const of_outer = outer === undefined ? "" : ` (${label_of(outer)})`;
	const add = h(
		"button.small",
		{ type: "button", "aria-label": of_outer ? `Add ${one}${of_outer}` : null },
		icon("plus"),
		`Add ${one}`,
	);
	const around = group(
		place,
		[node.description && h("p.hint", null, node.description)],
		[h("div.fields", null, rows, add)],
	);
	add.addEventListener("click", () => {
		append(undefined);
		change();
		items.at(-1)?.focus();
	});
	/** @param {any} value */
	function append(value) {
		const at = { node: item, name: "", pointer: `${pointer}/${items.length}`, extras };
		const made = control({ ...at, depth: depth + 1 });
		made.write(value);
		items.push(made);
	}
	function change() {
		stated = true;
		draw();
		around.changed();
	}
	/** Pointers contain the index, so the items are created again. @param {Control[]} next */
	function rearrange(next) {
		const values = next.map((one) => one.read());
		items = [];
		for (const value of values) append(value);
		change();
	}
	/** @param {Control} made @param {number} i */
	function row(made, i) {
		const up = () =>
			rearrange(items.toSpliced(i - 1, 2, made, /** @type {Control} */ (items[i - 1])));
		const remove = () => rearrange(items.toSpliced(i, 1));
		const label = `${one} ${i + 1}${of_outer}`;
		return h(
			"li.item",
			null,
			h("span.ordinal", { "aria-hidden": "true" }, i + 1),
			made.element,
			h(
				"div.item-actions",
				null,
				h(
					"button.plain",
					{ type: "button", "aria-label": `Move ${label} up`, disabled: i === 0, onclick: up },
					icon("up"),
				),
				h(
					"button.plain",
					{ type: "button", "aria-label": `Remove ${label}`, onclick: remove },
					icon("trash"),
				),
			),
		);
	}
	function draw() {
		put(rows, items.map(row));
		add.disabled = node.most !== undefined && items.length >= node.most;
	}
	return {
		element: around.element,
		label: around.label,
		listed: true,
		child: (step) => items[Number(step)] ?? null,
		read: () => (stated || items.length > 0 ? items.map((made) => made.read()) : undefined),
		write(value) {
			stated = Array.isArray(value);
			items = [];
			for (const part of value ?? []) append(part);
			draw();
		},
		show: around.show,
		clear() {
			around.clear();
			for (const made of items) made.clear();
		},
		focus() {
			reveal(around.element);
			if (items[0]) items[0].focus();
			else add.focus();
		},
	};
}

/** Returns "RTMP destination" for "RTMP destinations", and "browser recording" for "Browser recordings".
 * @param {string} label */
function one_of(label) {
	const lower = /^[A-Z][a-z]/.test(label);
	return (lower ? label.charAt(0).toLowerCase() + label.slice(1) : label).replace(/s$/, "");
}

/** Creates a map from names to objects. @param {Place} place @returns {Control} */
function map(place) {
	const { node, name, pointer, depth, extras } = place;
	const item = /** @type {Plain} */ (node.item);
	/** @type {{ key: HTMLInputElement, value: Control, box: HTMLDetailsElement }[]} */
	let entries = [];
	const rows = h("div.entries");
	const add = h("button.small", { type: "button" }, icon("plus"), `Add ${one_of(label_of(name))}`);
	const about = item.description.split(". ")[0]?.replace(/\.?$/, ".") ?? "";
	const around = group(
		place,
		[about !== "." && h("p.hint", null, about)],
		[h("div.fields", null, rows, add)],
	);
	add.addEventListener("click", () => {
		append("", undefined);
		change();
		entries.at(-1)?.key.focus();
	});
	function change() {
		put(
			rows,
			entries.map((entry) => entry.box),
		);
		around.changed();
	}
	/** @param {string} key @param {any} value */
	function append(key, value) {
		const id = unique("key");
		const title = h("span.entry-name", null, key || "Unnamed");
		const input = h("input", {
			id,
			type: "text",
			value: key,
			autocomplete: "off",
			spellcheck: "false",
		});
		// The key is the name, so the field "name" is left out.
		const inner = { ...item, fields: item.fields.filter(([field]) => field !== "name") };
		const at = { node: inner, name: "", pointer: `${pointer}/${step_of(key)}`, extras };
		const made = control({ ...at, depth: depth + 1 });
		made.write(value ?? {});
		const remove = h(
			"button.small.danger",
			{ type: "button", "aria-label": `Remove ${key || "this entry"}` },
			icon("trash"),
			"Remove",
		);
		const box = h(
			"details.entry",
			{ open: key === "" },
			h("summary", null, icon("next"), title),
			h(
				"div.entry-body",
				null,
				h("div.field", null, h("label.label", { for: id }, "Name"), input),
				made.element,
				remove,
			),
		);
		remove.addEventListener("click", () => {
			entries = entries.filter((other) => other.box !== box);
			change();
			add.focus();
		});
		input.addEventListener("input", () => put(title, input.value || "Unnamed"));
		entries.push({ key: input, value: made, box });
	}
	return {
		element: around.element,
		label: around.label,
		child: (step) => entries.find((entry) => entry.key.value === step)?.value ?? null,
		read() {
			if (entries.length === 0) return undefined;
			return Object.fromEntries(entries.map((one) => [one.key.value, one.value.read()]));
		},
		write(value) {
			entries = [];
			for (const [key, one] of Object.entries(value ?? {})) append(key, one);
			put(
				rows,
				entries.map((entry) => entry.box),
			);
		},
		show: around.show,
		clear() {
			around.clear();
			for (const entry of entries) entry.value.clear();
		},
		focus() {
			reveal(around.element);
			add.focus();
		},
	};
}

/** Creates a map from names to texts: two fields in a row. @param {Place} place @returns {Control} */
function pairs(place) {
	const { node, name, pointer } = place;
	/** @type {{ key: HTMLInputElement, value: HTMLInputElement, row: HTMLElement, fault: ReturnType<fault_line> }[]} */
	let entries = [];
	let stated = false;
	const rows = h("div.pairs");
	const add = h("button.small", { type: "button" }, icon("plus"), "Add");
	const around = group(
		place,
		[node.description && h("p.hint", null, node.description)],
		[h("div.fields", null, rows, add)],
	);
	add.addEventListener("click", () => {
		append("", "");
		change();
		entries.at(-1)?.key.focus();
	});
	function change() {
		stated = true;
		put(
			rows,
			entries.map((entry) => entry.row),
		);
		around.changed();
	}
	/** @param {string} key @param {string} value */
	function append(key, value) {
		const fault = fault_line(unique("fault"));
		const field = (/** @type {string} */ label, /** @type {string} */ text) =>
			h("input", {
				type: "text",
				value: text,
				placeholder: label,
				"aria-label": `${label_of(name)}: ${label.toLowerCase()}`,
				"aria-describedby": fault.element.id,
				autocomplete: "off",
				spellcheck: "false",
			});
		const remove = h(
			"button.plain",
			{ type: "button", "aria-label": `Remove ${key || "this row"}` },
			icon("trash"),
		);
		const entry = { key: field("Name", key), value: field("Value", value), row: h("div"), fault };
		entry.row = h(
			"div.pair",
			{ "data-pointer": `${pointer}/${step_of(key)}` },
			entry.key,
			entry.value,
			remove,
			fault.element,
		);
		entry.row.addEventListener("input", fault.clear);
		remove.addEventListener("click", () => {
			entries = entries.filter((other) => other !== entry);
			change();
			add.focus();
		});
		entries.push(entry);
	}
	return {
		element: around.element,
		label: around.label,
		child(step) {
			const entry = entries.find((one) => one.key.value === step);
			if (!entry) return null;
			return {
				element: entry.row,
				label: step,
				read: () => entry.value.value,
				write() {},
				child: () => null,
				show: entry.fault.add,
				clear: entry.fault.clear,
				focus() {
					reveal(entry.row);
					entry.value.focus();
				},
			};
		},
		read() {
			if (!stated && entries.length === 0) return undefined;
			return Object.fromEntries(entries.map((one) => [one.key.value, one.value.value]));
		},
		write(value) {
			stated = false;
			entries = [];
			for (const [key, one] of Object.entries(value ?? {})) append(key, String(one));
			stated = value !== undefined && value !== null;
			put(
				rows,
				entries.map((entry) => entry.row),
			);
		},
		show: around.show,
		clear() {
			around.clear();
			for (const entry of entries) entry.fault.clear();
		},
		focus() {
			reveal(around.element);
			add.focus();
		},
	};
}

/**
 * Finds the control of a pointer, or the nearest control around it; returns it with the labels on the way
 * and the steps that have no control.
 * @param {Control} root @param {string} pointer
 */
function find(root, pointer) {
	let at = root;
	/** @type {string[]} */
	const way = [];
	const rest = steps(pointer);
	while (rest.length > 0) {
		const step = /** @type {string} */ (rest[0]);
		const next = at.child(step);
		if (!next) break;
		if (at.listed) way.push(`${way.pop() ?? ""} ${Number(step) + 1}`);
		else if (next.label) way.push(next.label);
		else if (!/^\d+$/.test(step)) way.push(step);
		at = next;
		rest.shift();
	}
	return { at, words: way.join(" › "), rest };
}

/**
 * Creates a form for a schema. Its elements fire "input" and "change" when the user changes a value.
 * @param {Plain} node @param {any} value @param {Extras} [extras]
 */
export function form_of(node, value, extras = {}) {
	const root = control({ node, name: "", pointer: "", depth: 0, extras });
	root.write(value);
	const summary = h("div.faults", { role: "alert", tabindex: "-1", hidden: true });
	const clear = () => {
		root.clear();
		summary.hidden = true;
	};

	/** @param {Fault} fault */
	function line({ pointer, message }) {
		const { at, words, rest } = find(root, pointer);
		const where = rest.length > 0 && !/^\d+$/.test(rest.join("")) ? ` (${rest.join("/")})` : "";
		if (pointer === "") return h("li", null, message);
		at.show(message + where);
		const link = h("a", { href: "#" }, words || pointer);
		link.addEventListener("click", (event) => {
			event.preventDefault();
			at.focus();
		});
		return h("li", null, link, `: ${message}${where}`);
	}

	return {
		element: h("div.generated", null, summary, root.element),
		read: () => root.read(),
		/** @param {any} value */
		write(value) {
			root.write(value);
			clear();
		},
		clear,
		/**
		 * Shows each error at its field, or at the nearest control around it, and all errors at the top.
		 * @param {string} message shown if there is no list of errors @param {Fault[]} faults
		 */
		show(message, faults) {
			root.clear();
			const lines = faults.map(line);
			const title =
				faults.length > 1
					? `${faults.length} problems to fix`
					: faults.length === 1
						? "1 problem to fix"
						: message;
			put(summary, h("h2", null, icon("warning"), title), lines.length > 0 && h("ul", null, lines));
			summary.hidden = false;
			summary.focus();
			summary.scrollIntoView({ block: "start" });
		},
	};
}

/**
 * Returns the pointers at which two values differ.
 * @param {any} a @param {any} b @param {string} [pointer] @returns {string[]}
 */
export function differences(a, b, pointer = "") {
	if (JSON.stringify(a) === JSON.stringify(b)) return [];
	if (!is_object(a) || !is_object(b)) return [pointer];
	return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((key) =>
		differences(a[key], b[key], `${pointer}/${step_of(key)}`),
	);
}

/** Returns the value at a pointer, or undefined. @param {any} value @param {string} pointer */
export const value_at = (value, pointer) =>
	steps(pointer).reduce(
		(at, step) => (at === undefined || at === null ? undefined : at[step]),
		value,
	);

/**
 * Returns your changes on top of theirs; where both have changed a value, theirs.
 * @param {any} before @param {any} theirs @param {any} yours @returns {any}
 */
export function merged(before, theirs, yours) {
	const same = (/** @type {any} */ a, /** @type {any} */ b) =>
		JSON.stringify(a) === JSON.stringify(b);
	if (same(before, theirs)) return yours;
	if (same(before, yours)) return theirs;
	if (![before, theirs, yours].every(is_object)) return theirs;
	const names = new Set([theirs, yours].flatMap((one) => Object.keys(one)));
	const entries = [...names].map((name) => [name, merged(before[name], theirs[name], yours[name])]);
	return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** @param {any} one */
const is_object = (one) => typeof one === "object" && one !== null && !Array.isArray(one);
