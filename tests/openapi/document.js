// The OpenAPI document: proves that it conforms to OpenAPI 3.1, compiles its schemas, and lists its
// operations.
//
// @seriousme/openapi-schema-validator checks it against the official meta-schema of 3.1 and
// resolves every $ref; it needs only Ajv, which is needed here anyway. That meta-schema leaves
// Schema Objects open, so Ajv (JSON Schema 2020-12, the dialect of OpenAPI 3.1) compiles them in
// strict mode, in which unknown keywords, a pattern on a number and similar mistakes are errors.
//
// SPDX-License-Identifier: GPL-3.0-or-later
import { Validator } from "@seriousme/openapi-schema-validator";
import Ajv from "ajv/dist/2020.js";
import formats from "ajv-formats";

const PREFIX = "#/components/schemas/";

// Yields every object and array within a value, with its path.
function* parts(value, path = "") {
	if (value === null || typeof value !== "object") return;
	yield [path, value];
	for (const [name, below] of Object.entries(value)) yield* parts(below, `${path}/${name}`);
}

function rewrite(schema) {
	return JSON.parse(JSON.stringify(schema).replaceAll(`"${PREFIX}`, '"anteroom#/$defs/'));
}

// Forbids unnamed members in responses, although the document allows them.
function close(schemas) {
	for (const [path, schema] of parts(schemas)) {
		if (schema.type !== "object" || !schema.properties || path.endsWith("/properties")) continue;
		schema.additionalProperties = false;
		for (const [double, member] of Object.entries(schema["x-doubles"] ?? {}))
			schema.properties[double] = schema.properties[member];
	}
	return schemas;
}

function validator(schemas) {
	const ajv = new Ajv({ strict: true, allowUnionTypes: true, allErrors: true });

	formats.default(ajv);
	ajv.addKeyword({ keyword: "x-rules", schemaType: "array" });
	ajv.addKeyword({ keyword: "x-unit", schemaType: "string" });
	ajv.addKeyword({ keyword: "x-usualMaximum", schemaType: "number" });
	ajv.addKeyword({ keyword: "x-ignored", schemaType: "array" });
	ajv.addKeyword({ keyword: "x-doubles", schemaType: "object" });
	ajv.addKeyword({ keyword: "x-default" });
	// Texts that a rule of the schema checks, see rules.js.
	ajv.addFormat("uri", true);
	for (const number of ["int32", "int64", "double"])
		ajv.addFormat(number, { type: "number", validate: () => true });
	ajv.addKeyword({
		keyword: "x-maxBytes",
		type: "string",
		schemaType: "number",
		validate: (most, text) => Buffer.byteLength(text) <= most,
	});
	ajv.addSchema({ $id: "anteroom", $defs: schemas });
	return ajv;
}

// Returns the status of a request that is carried out: with 200, some only say that it would be.
function success(responses) {
	const only = JSON.stringify(responses["200"] ?? {}).includes(`"${PREFIX}Validation"`);
	const statuses = only ? ["204", "201", "202"] : ["204", "201"];

	return statuses.find((status) => responses[status]) ?? "200";
}

export class Document {
	constructor(text) {
		this.whole = JSON.parse(text);
		this.schemas = this.whole.components.schemas;
		this.sent = validator(rewrite(this.schemas));
		this.answered = validator(close(rewrite(this.schemas)));
		this.compiled = new Map();
	}

	// Returns the problems of the document, one per line.
	async problems() {
		const result = await new Validator({ allErrors: true }).validate(this.whole);
		const problems = result.valid ? [] : [JSON.stringify(result.errors)];

		for (const name of Object.keys(this.schemas)) {
			try {
				this.sent.compile({ $ref: `anteroom#/$defs/${name}` });
			} catch (error) {
				problems.push(`${name}: ${error.message}`);
			}
		}
		return problems.concat(
			this.#defaultProblems(),
			this.#ruleProblems(),
			this.#exampleProblems(),
		);
	}

	// Checks that each example of a body, response or parameter obeys its schema.
	#exampleProblems() {
		const problems = [];

		for (const [path, part] of parts(this.whole)) {
			if (path.includes("/examples/") || part.schema === undefined) continue;
			const values = Object.values(part.examples ?? {}).map((one) => one.value);

			for (const value of "example" in part ? [part.example] : values) {
				if (!this.obeys(part.schema, value)) problems.push(`${path}: invalid example`);
			}
		}
		return problems;
	}

	#defaultProblems() {
		const problems = [];

		for (const [path, schema] of parts(this.schemas)) {
			if (
				!path.endsWith("/properties") &&
				"x-default" in schema &&
				!this.obeys(schema, schema["x-default"])
			)
				problems.push(`${path}: its default breaks its own schema`);
		}
		return problems;
	}

	// Checks that each named rule is also part of the description.
	#ruleProblems() {
		const problems = [];

		for (const [path, part] of parts(this.whole)) {
			for (const rule of part["x-rules"] ?? []) {
				if (!rule.name || !part.description.includes(rule.description))
					problems.push(`${path}: the rule ${rule.name} is not in the description`);
			}
		}
		return problems;
	}

	#check(ajv, schema) {
		const key = (ajv === this.sent ? "sent" : "answered") + JSON.stringify(schema);

		if (!this.compiled.has(key)) this.compiled.set(key, ajv.compile(rewrite(schema)));
		return this.compiled.get(key);
	}

	obeys(schema, value) {
		return this.#check(this.sent, schema)(value);
	}

	// Yields what is wrong with a part of a response.
	*answerProblems(schema, value) {
		const check = this.#check(this.answered, schema);

		if (!check(value)) yield this.answered.errorsText(check.errors);
	}

	// Resolves a reference to another part of the document.
	resolve(part) {
		while (part.$ref) {
			const path = part.$ref.slice(2).split("/");

			part = path.reduce((at, name) => at[name], this.whole);
		}
		return part;
	}

	operations() {
		const operations = [];

		for (const [path, item] of Object.entries(this.whole.paths)) {
			for (const [method, operation] of Object.entries(item)) {
				const parameters = operation.parameters.map((parameter) =>
					this.resolve(parameter),
				);

				operations.push({
					...operation,
					id: operation.operationId,
					method: method.toUpperCase(),
					path,
					parameters,
					query: parameters.filter((parameter) => parameter.in === "query"),
					body: operation.requestBody?.content["application/json"].schema,
					isOpen: operation.security?.length === 0,
					success: success(operation.responses),
				});
			}
		}
		return operations;
	}
}
