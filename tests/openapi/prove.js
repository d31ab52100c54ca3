// Proves that the OpenAPI document is valid and that the program does what it says. Requests are
// generated from it: for each operation, values at the edges of what each schema allows and beyond,
// then random bodies from a fixed seed. A body that is valid and breaks no named rule must be
// accepted, an invalid one must be rejected with its place named, and every response must be one
// that the document describes.
//
//	BASE_URL=... TOKEN=... TOKEN_B=... PRINTED=... node prove.js
//
// The tokens belong to two new accounts; PRINTED is a file with the output of `anteroom openapi`.
// With TIMES=1, also prints the time that each operation took. With ONLY="getRoom listRooms", proves
// these operations alone, without the stored rules and the refusals.
//
// SPDX-License-Identifier: GPL-3.0-or-later
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";

import { newCode, proveBodies } from "./bodies.js";
import { AGENT, BACKEND_OF_TEMPLATES, IMPORTED, ROLE } from "./fixtures.js";
import { proveOthers } from "./others.js";
import { Proof, RULES_OF_RECORDERS } from "./proof.js";
import { proveQuery } from "./queries.js";
import { proveRefusals } from "./refusals.js";
import { namedRules } from "./rules.js";
import { proveStatuses } from "./statuses.js";
import { proveStoredRules } from "./stored.js";
import { Values } from "./values.js";

const PROBLEMS_SHOWN = 40;
const SALTS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

const { BASE_URL, TOKEN, TOKEN_B, PRINTED, TIMES, ONLY } = process.env;
const proof = new Proof({ base: BASE_URL, tokens: { templates: TOKEN, rooms: TOKEN_B } });

await proof.open();
if (!isDeepStrictEqual(JSON.parse(readFileSync(PRINTED)), proof.document.whole))
	proof.problems.push("the printed document differs from the served one");
for (const [n, operation] of proof.operations.entries()) {
	if (ONLY && !ONLY.split(" ").includes(operation.id)) continue;
	const members = {
		"Room.template_id": proof.fixtures.templateOfRooms,
		"Ban.room_id": proof.fixtures.roomOfBulk,
		"BulkOperation.method": "POST",
		"BulkOperation.path": `/v2/rooms/${proof.fixtures.roomOfBulk}`,
		"BulkOperation.body": {},
		"BulkOperation.if_match": "*",
		"BulkOperation.if_none_match": '"0"',
		"ImportedTemplate.id": IMPORTED.template_id,
		"ImportedTemplate.createdAt": "2022-06-29T03:34:30.194Z",
		"ImportedTemplate.updatedAt": "0001-01-01T00:00:00Z",
		"ImportedTemplate.default": true,
		"ImportedRoom.id": IMPORTED.room_id,
		"ImportedRoom.template_id": IMPORTED.template_id,
		"ImportedRoom.created_at": "2022-06-29T03:34:30.194Z",
		"ImportedRoom.updated_at": "2022-06-29T03:34:30+01:00",
		// One room is imported again and again: its stored members must not break a rule
		// together with later ones.
		"ImportedRoom.size": 2500,
		"ImportedRoom.opens_at": "2989-01-01T00:00:00Z",
		"ImportedRoom.closes_at": "2990-01-01T00:00:00Z",
		get "ImportedRoomCode.code"() {
			return newCode();
		},
		"ImportedRoomCode.room_id": IMPORTED.room_id,
		"ImportedRoomCode.created_at": "2022-06-29T03:34:30.194Z",
		"ImportedRoomCode.updated_at": "2022-06-29T03:34:30Z",
		"RoomMessage.peer_id": "",
		"RoomMessage.role": "",
		"PeerUpdate.role": ROLE,
		"PeerRemoval.ban": true,
		"LivekitAgent.agent_name": AGENT,
		"Admission.admit": "all",
		"Webhook.url": "https://example.org/hook",
		"UploadOptions.endpoint": "https://s3.example.org",
		"Webhook.events": ["room.*"],
		"Webhook.headers": { "X-Of-A-Test": "1" },
		"Webhook.secret": `whsec_${"A".repeat(32)}`,
		"SigningKey.alg": "ES256",
		"Settings.backend": BACKEND_OF_TEMPLATES,
		// Larger ones only if they are stored.
		"HlsDestination.numPlaylistSegments": 12,
		"RecordingConfig.role": ROLE,
		...Object.fromEntries(
			Object.entries(proof.fixtures.livekit()).flatMap(([name, value]) => [
				[`BackendSetup.${name}`, value],
				[`Backend.${name}`, value],
			]),
		),
	};
	const values = new Values(proof.document, { salt: SALTS[n % SALTS.length], members });
	const started = Date.now();

	await proveStatuses(proof, operation, values);
	await proveBodies(proof, operation, values);
	await proveQuery(proof, operation, values);
	if (TIMES) console.error(`${operation.id}: ${Date.now() - started} ms`);
}
if (!ONLY) {
	await proveOthers(proof);
	await proveStoredRules(proof);
	await proveRefusals(proof);
}
for (const rule of ONLY ? [] : namedRules(proof.document)) {
	if (!proof.brokenRules.has(rule) && !RULES_OF_RECORDERS.includes(rule)) proof.problems.push(`the rule ${rule} was never broken`);
}
proof.client.close();

for (const problem of proof.problems.slice(0, PROBLEMS_SHOWN)) console.error(problem);
console.log(
	`${proof.operations.length} operations, ${proof.client.count} requests, ` +
		`${proof.problems.length} problems`,
);
process.exitCode = proof.problems.length > 0 ? 1 : 0;
