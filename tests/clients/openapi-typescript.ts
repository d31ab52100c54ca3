// The work with openapi-fetch and the types of openapi-typescript.
//
// SPDX-License-Identifier: GPL-3.0-or-later
import createClient from "openapi-fetch";

import type { components, paths } from "./types/schema.js";
import { type Calls, work } from "./work.js";

const { BASE_URL, TOKEN } = process.env;
const client = createClient<paths>({
	baseUrl: BASE_URL,
	headers: { Authorization: `Bearer ${TOKEN}` },
});

interface Answered<Value> {
	data?: Value;
	error?: components["schemas"]["Error"];
	response: Response;
}

// Returns the one of the possible results that has this member.
async function outcome<Value extends object, Name extends string>(
	call: Promise<Answered<Value>>,
	name: Name,
) {
	const { data, error, response } = await call;
	const value = data && name in data ? (data as Extract<Value, { [name in Name]: unknown }>) : undefined;

	return { value, error, etag: response.headers.get("ETag") };
}

const calls: Calls = {
	createTemplate: (body) => outcome(client.POST("/v2/templates", { body }), "id"),
	createRoom: (body, key) =>
		outcome(client.POST("/v2/rooms", { body, params: { header: { "Idempotency-Key": key } } }), "id"),
	async validateRoom(body) {
		const query = { validate_only: true };
		const { data } = await client.POST("/v2/rooms", { body, params: { query } });

		return data !== undefined && "valid" in data && data.valid === true;
	},
	getRoom: (room_id) =>
		outcome(client.GET("/v2/rooms/{room_id}", { params: { path: { room_id } } }), "id"),
	patchRoom: (room_id, body, tag) =>
		outcome(
			client.PATCH("/v2/rooms/{room_id}", {
				body,
				params: { path: { room_id }, header: { "If-Match": tag } },
			}),
			"id",
		),
	listRooms: (template_id, start) =>
		outcome(client.GET("/v2/rooms", { params: { query: { template_id, start, limit: 10 } } }), "data"),
	createCodes: (room_id) =>
		outcome(
			client.POST("/v2/room-codes/room/{room_id}", { params: { path: { room_id } } }),
			"data",
		),
	createCode: (room_id, role, body) =>
		outcome(
			client.POST("/v2/room-codes/room/{room_id}/role/{role}", {
				body,
				params: { path: { room_id, role } },
			}),
			"code",
		),
	listCodes: (room_id, start) =>
		outcome(
			client.GET("/v2/room-codes/room/{room_id}", {
				params: { path: { room_id }, query: { start, limit: 10 } },
			}),
			"data",
		),
};

await work(calls, "openapi-typescript");
