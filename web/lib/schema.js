// Simplifies the schemas of the OpenAPI document: follows references, removes "or null", and gives each
// schema one of a few kinds, each with a control. The code names no field of the API.
//
// SPDX-License-Identifier: GPL-3.0-or-later

/**
 * @typedef {"boolean" | "integer" | "number" | "text" | "time" | "choice" | "choices" | "texts" | "list"
 *   | "map" | "object" | "json"} Kind
 *
 * @typedef {object} Plain
 * @property {Kind} kind
 * @property {string} description
 * @property {string | undefined} [label] replaces the label of the name
 * @property {string} unit "" if there is none
 * @property {any} fallback the default; undefined if there is none
 * @property {boolean} required
 * @property {boolean} write_only
 * @property {number | undefined} least
 * @property {number | undefined} most
 * @property {number | undefined} step
 * @property {string[]} options of a choice, or of choices
 * @property {string[]} [words] names of the options
 * @property {Plain | null} item of a list, of texts or of a map
 * @property {[string, Plain][]} fields of an object
 * @property {string[]} rules sentences on rules between fields
 */

/** @param {any} doc @param {any} schema @returns {any} */
function follow(doc, schema) {
	if (schema?.$ref === undefined) return schema;
	const steps = schema.$ref.slice(2).split("/");
	return steps.reduce((/** @type {any} */ at, /** @type {string} */ step) => at[step], doc);
}

/**
 * Returns the schema without its reference and "or null". Members next to the reference take precedence.
 * @param {any} doc @param {any} schema @returns {any}
 */
function without_null(doc, schema) {
	const alternatives = (schema.anyOf ?? []).filter((/** @type {any} */ one) => one.type !== "null");
	const target = alternatives.length === 1 ? alternatives[0] : schema;
	return { ...follow(doc, target), ...schema, anyOf: undefined, $ref: undefined };
}

/** @param {any} schema @param {any} items @param {any[]} options @returns {Kind} */
function kind_of(schema, items, options) {
	const [type] = [schema.type ?? []].flat().filter((one) => one !== "null");
	if (options.length > 0) return "choice";
	switch (type) {
		case "boolean":
		case "integer":
		case "number":
			return type;
		case "string":
			return schema.format === "date-time" ? "time" : "text";
		case "array":
			if (items?.enum) return "choices";
			if (items?.type === "string") return "texts";
			return items?.properties || items?.anyOf ? "list" : "json";
		case "object":
			if (schema.properties) return "object";
			return typeof schema.additionalProperties === "object" ? "map" : "json";
		default:
			return "json";
	}
}

/** Removes sentences for programs: the field itself shows the default. @param {string} description */
const words_of = (description) => description.replace(/ ?(Default: |null (removes|restores) ).*$/, "");

/** @param {any} doc @param {any} schema @param {boolean} [required] @returns {Plain} */
export function plain(doc, schema, required = false) {
	const inner = without_null(doc, schema);
	const items = inner.items ? without_null(doc, inner.items) : null;
	const options = (inner.enum ?? []).filter((/** @type {any} */ one) => one !== null);
	const kind = kind_of(inner, items, options);
	/** @type {Plain | null} */
	let item = null;
	if (kind === "list" || kind === "texts") item = plain(doc, inner.items, true);
	else if (kind === "map") item = plain(doc, inner.additionalProperties, true);
	return {
		kind,
		description: words_of(inner.description ?? ""),
		unit: inner["x-unit"] ?? "",
		fallback: inner["x-default"],
		required,
		write_only: inner.writeOnly === true,
		least: inner.minimum,
		most: inner["x-usualMaximum"] ?? inner.maximum ?? inner.maxItems ?? inner.maxProperties,
		step: inner.multipleOf,
		options: kind === "choices" ? items.enum : options,
		item,
		fields: kind === "object" ? fields_of(doc, inner) : [],
		rules: (inner["x-rules"] ?? []).map((/** @type {any} */ rule) => rule.description),
	};
}

/** Returns the fields that a body may set. @param {any} doc @param {any} schema @returns {[string, Plain][]} */
function fields_of(doc, schema) {
	const required = schema.required ?? [];
	return Object.entries(schema.properties)
		.map(([name, value]) => [name, plain(doc, value, required.includes(name))]);
}

/**
 * Returns the schema of the body of an endpoint such as "POST /v2/rooms/{}".
 * @param {any} doc @param {string} which @returns {Plain}
 */
export function body_of(doc, which) {
	const [method, wanted] = which.split(" ");
	for (const [path, methods] of Object.entries(doc.paths)) {
		if (path.replace(/\{[^}]*\}/g, "{}") !== wanted) continue;
		const body = /** @type {any} */ (methods)[String(method).toLowerCase()]?.requestBody;
		if (body) return plain(doc, body.content["application/json"].schema);
	}
	throw new Error(`This version of the service does not have ${which}.`);
}

/**
 * Returns the object with only the named fields, in this order.
 * @param {Plain} node @param {string[]} names @returns {Plain}
 */
export function only(node, names) {
	const fields = names.map((name) => node.fields.find(([field]) => field === name));
	return { ...node, rules: [], fields: fields.filter((one) => one !== undefined) };
}

/**
 * Returns the object with one of its fields changed.
 * @param {Plain} node @param {string} name @param {Partial<Plain>} change @returns {Plain}
 */
export function changed(node, name, change) {
	return {
		...node,
		fields: node.fields.map(([field, one]) => [
			field,
			field === name ? { ...one, ...change } : one,
		]),
	};
}

/** @param {Plain} node */
export const is_scalar = (node) =>
	["boolean", "integer", "number", "text", "time", "choice"].includes(node.kind);
