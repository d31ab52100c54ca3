// The work with the client that @hey-api/openapi-ts generates.
//
// SPDX-License-Identifier: GPL-3.0-or-later
import { client } from "./hey-api/client.gen.js";
import * as sdk from "./hey-api/sdk.gen.js";
import { type Calls, type Refusal, work } from "./work.js";

const { BASE_URL, TOKEN } = process.env;

client.setConfig({ baseUrl: BASE_URL, auth: ({ scheme }) => (scheme === "bearer" ? TOKEN : undefined) });

interface Answered<Value> {
	data?: Value;
	error?: unknown;
	response: Response;
}

// Returns the one of the possible results that has this member.
async function outcome<Value, Name extends string>(call: Promise<Answered<Value>>, name: Name) {
	const { data, error, response } = await call;

	return {
		value: data as Extract<Value, { [name in Name]: unknown }> | undefined,
		error: error as Refusal | undefined,
		etag: response.headers.get("ETag"),
	};
}

const calls: Calls = {
	createTemplate: (body) => outcome(sdk.createTemplate({ body }), "id"),
	createRoom: (body, key) =>
		outcome(sdk.createRoom({ body, headers: { "Idempotency-Key": key } }), "id"),
	async validateRoom(body) {
		const { data } = await sdk.createRoom({ body, query: { validate_only: true } });

		return data !== undefined && "valid" in data && data.valid === true;
	},
	getRoom: (room_id) => outcome(sdk.getRoom({ path: { room_id } }), "id"),
	patchRoom: (room_id, body, tag) =>
		outcome(sdk.patchRoom({ path: { room_id }, body, headers: { "If-Match": tag } }), "id"),
	listRooms: (template_id, start) =>
		outcome(sdk.listRooms({ query: { template_id, start, limit: 10 } }), "data"),
	createCodes: (room_id) => outcome(sdk.createRoomCodes({ path: { room_id } }), "data"),
	createCode: (room_id, role, body) =>
		outcome(sdk.createRoomCode({ path: { room_id, role }, body }), "code"),
	listCodes: (room_id, start) =>
		outcome(sdk.listRoomCodes({ path: { room_id }, query: { start, limit: 10 } }), "data"),
};

await work(calls, "hey-api");
