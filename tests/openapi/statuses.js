// Headers and statuses: each one that the document names for an operation appears when it should.
//
// SPDX-License-Identifier: GPL-3.0-or-later
import { jsonText } from "./json.js";
import { withCode } from "./bodies.js";
import { isRefusal } from "./proof.js";

const LARGE = " ".repeat((256 << 10) + 1);
const LARGER = " ".repeat((1 << 20) + 1);

// Returns an object with the required members, or a list with one item.
function leastBody(values, operation) {
	const seen = values.look(operation.body);

	return seen.type === "array" ? values.sample(operation.body) : values.least(seen);
}

// Adds members to an object, or to the items of a list.
function withMore(value, more) {
	return Array.isArray(value) ? value.map((one) => withMore(one, more)) : { ...value, ...more };
}

export async function proveStatuses(proof, operation, values) {
	const can = (status) => operation.responses[status] !== undefined;
	// Sends a valid request, changed only as the arguments say.
	const expect = async (status, what, { place, more, ...request } = {}) => {
		const at = place ?? (await proof.fixtures.fresh(operation));
		const least = operation.body && withCode(operation, leastBody(values, operation), at);
		const body = least && jsonText(withMore(least, more));
		const answer = await proof.ask(operation, what, { place: at, body, ...request });

		if (String(answer.status) !== status)
			proof.problem(operation, what, `is not ${status}`, answer);
		return answer;
	};

	await expect(operation.success, "a valid request");
	if (!operation.isOpen) await expect("401", "without a token", { token: undefined });
	const tooLarge = ["bulk", "import"].includes(operation.id) ? LARGER : LARGE;

	if (can("413")) await expect("413", "a large body", { body: tooLarge });
	if (operation.parameters.some(({ name }) => name === "validate_only")) {
		const answer = await expect("200", "validated only", { query: "validate_only=true" });

		if (answer.text !== '{"valid":true}')
			proof.problem(operation, "validated only", "unexpected response", answer);
	}
	if (can("304")) await proveReading(proof, operation, expect);
	if (operation.parameters.some(({ name }) => name === "If-Match"))
		await expect("412", "an old ETag", { headers: { "If-Match": '"0"' } });
	if (can("412") && operation.path.includes("{"))
		await expect("412", "exists already", { headers: { "If-None-Match": "*" } });
	if (operation.parameters.some(({ name }) => name === "Prefer"))
		await proveUnknown(proof, operation, values, expect);
	await proveKey(proof, operation, expect);
	await proveReplay(proof, operation, values);
	await provePath(proof, operation, expect);
}

// A key that the pattern does not allow is invalid.
async function proveKey(proof, operation, expect) {
	const key = operation.parameters.find(({ name }) => name === "Idempotency-Key");

	for (const text of key ? ['"half', 'half"', 'a"b', "a\\b"] : []) {
		const what = `the key ${text}`;
		const answer = await expect("400", what, { headers: { "Idempotency-Key": text } });

		if (new RegExp(key.schema.pattern, "u").test(text))
			proof.problem(operation, what, "the document allows it", answer);
	}
}

// The stored response is one that the document describes, too.
async function proveReplay(proof, operation, values) {
	if (!operation.parameters.some(({ name }) => name === "Idempotency-Key")) return;
	const place = await proof.fixtures.fresh(operation);
	const body = operation.body && jsonText(withCode(operation, leastBody(values, operation), place));
	const request = { place, body, headers: { "Idempotency-Key": `again-${operation.id}` } };
	const first = await proof.ask(operation, "with a key", request);
	const again = await proof.ask(operation, "with the key again", request);

	if (first.status !== again.status || again.headers["idempotency-replayed"] !== "true")
		proof.problem(operation, "with the key again", "is not the response of before", again);
}

async function proveReading(proof, operation, expect) {
	const place = await proof.fixtures.fresh(operation);
	const shown = await expect("200", "read", { place });
	const headers = { "If-None-Match": shown.headers.etag };

	await expect("304", "read again", { place, headers });
}

async function proveUnknown(proof, operation, values, expect) {
	const more = { unknown: 1 };
	const pointer = values.look(operation.body).type === "array" ? "/0/unknown" : "/unknown";
	const headers = { Prefer: "handling=strict" };
	const ignored = await expect(operation.success, "an unknown member", { more });
	const strict = await expect("400", "an unknown member, strict", { more, headers });

	if (ignored.headers["x-unknown-fields"] !== pointer)
		proof.problem(operation, "an unknown member", "it is not named", ignored);
	if (!isRefusal(strict, pointer) || strict.headers["preference-applied"] === undefined)
		proof.problem(operation, "an unknown member, strict", "not rejected for it", strict);
}

// An object with an unknown or malformed ID is not found, unless the request creates it.
async function provePath(proof, operation, expect) {
	for (const { name, schema } of operation.parameters.filter((one) => one.in === "path")) {
		const isMade =
			(operation.id === "putRole" && name === "role_name") ||
			(operation.id === "getKeySet" && name === "customer_id");
		const isId = schema.pattern === "^[0-9a-f]*$";
		const unknown = isId ? "0123456789abcdef01234567" : "zzz-zzzz-zzz";
		const place = await proof.fixtures.fresh(operation);
		// Attempts with unknown codes are counted, see refusals.js.
		const isCounted = operation.isOpen && operation.responses["429"] !== undefined;

		await expect("400", `a slash in ${name}`, { place: { ...place, [name]: "a/b" } });
		if (isCounted) continue;
		const isRefused = isMade && name === "role_name";
		// A person inside learns of no other room.
		const absent = operation.id === "getMe" ? "403" : "404";

		await expect(isRefused ? "400" : absent, `a bad ${name}`, {
			place: { ...place, [name]: "a,b" },
		});
		await expect(isMade ? "200" : absent, `an unknown ${name}`, {
			place: { ...place, [name]: unknown },
		});
	}
}
