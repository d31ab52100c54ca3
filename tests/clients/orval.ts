// The work with the client that orval generates.
//
// SPDX-License-Identifier: GPL-3.0-or-later
import * as client from "./orval/client.js";
import { type Calls, type Refusal, work } from "./work.js";

const { TOKEN } = process.env;

const options = (headers: Record<string, string> = {}) => ({
	headers: { Authorization: `Bearer ${TOKEN}`, ...headers },
});

interface Answered {
	data: unknown;
	status: number;
	headers: Headers;
}

// Returns the one of the possible results that has this member.
async function outcome<Answer extends Answered, Name extends string>(
	call: Promise<Answer>,
	name: Name,
) {
	type Value = Extract<Extract<Answer, { status: 200 }>["data"], { [name in Name]: unknown }>;
	const { data, status, headers } = await call;
	const etag = headers.get("ETag");

	if (status !== 200) return { error: data as Refusal, etag };
	return { value: data as Value, etag };
}

const calls: Calls = {
	createTemplate: (body) => outcome(client.createTemplate(body, {}, options()), "id"),
	createRoom: (body, key) =>
		outcome(client.createRoom(body, {}, options(key ? { "Idempotency-Key": key } : {})), "id"),
	async validateRoom(body) {
		const { data } = await client.createRoom(body, { validate_only: true }, options());

		return "valid" in data && data.valid === true;
	},
	getRoom: (id) => outcome(client.getRoom(id, options()), "id"),
	patchRoom: (id, body, tag) =>
		outcome(client.patchRoom(id, body, {}, options({ "If-Match": tag })), "id"),
	listRooms: (template_id, start) =>
		outcome(client.listRooms({ template_id, start, limit: 10 }, options()), "data"),
	createCodes: (room) => outcome(client.createRoomCodes(room, {}, options()), "data"),
	createCode: (room, role, body) =>
		outcome(client.createRoomCode(room, role, body, {}, options()), "code"),
	listCodes: (room, start) =>
		outcome(client.listRoomCodes(room, { start, limit: 10 }, options()), "data"),
};

await work(calls, "orval");
