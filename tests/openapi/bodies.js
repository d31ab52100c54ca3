// Bodies: a body that is valid in the document and breaks no named rule must be accepted; a body
// that is invalid or breaks a rule must be rejected at the right place.
//
// SPDX-License-Identifier: GPL-3.0-or-later
import { cases } from "./cases.js";
import { each } from "./client.js";
import { ROLE } from "./fixtures.js";
import { jsonText, plain } from "./json.js";
import { isRefusal, isRefusalWith } from "./proof.js";
import { broken, needed } from "./rules.js";
import { source } from "./values.js";

const SEED = 20;
const RANDOM_BODIES = 25;

function* randomCases(values, schema) {
	const next = source(SEED);

	for (let n = 0; n < RANDOM_BODIES; n++)
		yield {
			value: values.random(schema, next),
			isValid: true,
			what: `random ${n}`,
			place: "",
		};
}

export async function proveBodies(proof, operation, values) {
	const seen = { expected: new Set(), accepted: new Set() };

	// Only a few of these may exist, so each request first removes the others.
	const atOnce = /^\/v2\/(keys|signing-keys|backends|webhooks|import)/.test(operation.path) ? 1 : undefined;
	const prove = (one) => proveBody(proof, operation, values, one, seen);

	if (operation.body === undefined) return;
	await each(cases(values, operation.body), prove, atOnce);
	// Each edge value must be accepted somewhere, and not always be rejected because of a named
	// rule.
	for (const what of seen.expected) {
		if (!seen.accepted.has(what)) proof.problem(operation, what, "never accepted");
	}
	await each(randomCases(values, operation.body), prove, atOnce);
}

async function proveBody(proof, operation, values, one, seen) {
	const what = `${one.place || "/"} ${one.what}`;
	const value = plain(one.value);
	const breaks = one.isValid ? [...broken(values, operation.body, value)] : [];
	const isGood = one.isValid && breaks.length === 0;

	if (!one.isMalformed && proof.document.obeys(operation.body, value) !== one.isValid)
		return proof.problem(operation, what, "generated with the wrong validity according to Ajv");
	const place = await placeFor(proof, operation, isGood || one.isUnsaid);
	const body = jsonText(withCode(operation, one.value, place, isGood));
	const answer = await proof.ask(operation, what, { place, body });

	if (one.isUnsaid) return proveUnsaid(proof, operation, what, answer);
	// Two members of a session, or of a ban, exclude each other, so hardly any value is accepted alone.
	const isPaired = ["beginSession", "createBan"].includes(operation.id);

	const isNeeded = needed.has(what) || needed.has(`${operation.id} ${what}`);

	if (one.isValid && !one.isBreaking && !isNeeded && !isPaired) seen.expected.add(what);
	if (isGood) seen.accepted.add(what);
	for (const { rule } of breaks) proof.brokenRules.add(rule);
	if (isGood && answer.status >= 300)
		proof.problem(operation, what, "valid, but rejected", answer);
	if (!isGood && !isRefusedRightly(one, breaks, answer, isPaired))
		proof.problem(
			operation,
			what,
			`not rejected at ${breaks[0]?.pointer ?? one.pointer}`,
			answer,
		);
}

// The response may accept or reject it.
function proveUnsaid(proof, operation, what, answer) {
	if (answer.status >= 300 && answer.status !== 400)
		proof.problem(operation, what, "neither accepted nor rejected", answer);
}

// The object is created anew for a change, so that only this body determines the response.
function placeFor(proof, operation, isGood) {
	const isChange =
		operation.path.includes("{") ||
		["createSigningKey", "createBackend", "createKey", "createWebhook", "import"].includes(operation.id);

	const isScarce = /^\/v2\/(keys|backends|webhooks|import)/.test(operation.path);

	return (isGood || isScarce) && isChange
		? proof.fixtures.fresh(operation)
		: proof.fixtures.once(operation);
}

const A = "a".charCodeAt(0);
let codes = 0;

// Returns a code of the older form that does not exist yet.
export function newCode() {
	const letters = (codes++).toString(26).padStart(9, "0");
	const text = [...letters].map((one) => String.fromCharCode(A + parseInt(one, 26))).join("");

	return `${text.slice(0, 3)}-${text.slice(3, 6)}-${text.slice(6)}`;
}

let words = 0;

const withNewCode = (one) => (one?.code ? { ...one, code: newCode() } : one);

// If a body contains a code, it is the code created for the request; for a new code, one that does
// not exist yet.
export function withCode(operation, value, place, isGood) {
	if (operation.id === "createRoomCode")
		return isGood && value?.code ? { ...value, code: `words-${words++}` } : value;
	if (operation.id === "import" && isGood && value?.room_codes)
		return { ...value, room_codes: value.room_codes.map(withNewCode) };

	if (operation.id === "beginSession" && isGood !== false) return { token: place.token };
	if (operation.id === "removePeers" && (isGood !== false || value?.role === null))
		return { ...value, peer_id: place.peer_id, ...(value?.role && { role: ROLE }) };
	// Only people inside agree to be recorded, for themselves.
	if (operation.id === "updateActivePeer" && (isGood !== false || value?.consent_text === null)) {
		const mine = { ...value, consent: undefined, consent_text: undefined };
		return value?.hand == null ? { metadata: "", ...mine } : { ...mine, metadata: undefined };
	}
	if (["mutePeers", "lowerHands"].includes(operation.id) && isGood !== false && value?.role)
		return { ...value, role: ROLE };
	if (operation.id === "createBan" && isGood === undefined) return { ...value, user_id: "somebody" };

	if (operation.id === "joinLivekit" && isGood !== false && value?.room_name)
		return { ...value, room_name: place.room_id };

	const isWithCode =
		typeof value?.code === "string" && place.code !== undefined &&
		(operation.id !== "createBan" || value.code !== "");

	return isWithCode ? { ...value, code: place.code } : value;
}

function isRefusedRightly(one, breaks, answer, isPaired) {
	const isWhole = one.pointer === "" && one.place === "";

	if (breaks.length > 0) return breaks.every(({ pointer }) => isRefusalWith(answer, pointer));
	// As a body, null counts as {}; any other value that is not an object, or for some operations an
	// array, is not accepted as a body.
	if (isWhole && one.value === null) return answer.json?.message === "Invalid body param";
	if (isWhole && one.what === "too many items") return answer.json?.message === "Invalid body param";
	if (isWhole || one.isMalformed) return answer.json?.message === "Malformed JSON";
	// Too many layers cannot be in order either; the same goes for similar cases.
	const breaksMore = ["too many items", "too many entries", "one repeated"];

	if (breaksMore.includes(one.what) || isPaired) return isRefusalWith(answer, one.pointer);
	return isRefusal(answer, one.pointer);
}
