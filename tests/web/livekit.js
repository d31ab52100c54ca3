// A LiveKit server for the tests: it answers what Anteroom asks from a table of people, and sends signed
// events when the table changes.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { createHash, createHmac, randomBytes } from "node:crypto";
import { createServer } from "node:http";

const base64url = (text) => Buffer.from(text).toString("base64url");
const random = (prefix) => `${prefix}_${randomBytes(6).toString("hex")}`;

/** The answer to what its configuration forbids. */
const REFUSED = { code: "failed_precondition" };

/** Starts the server on a free port. */
export async function start_livekit() {
	const key = random("key");
	const secret = randomBytes(24).toString("hex");
	/** Rooms by name: `{ sid, created, people: Map }`, the people by identity. */
	const rooms = new Map();
	/** The address for events; set by the test. */
	const told = { events_url: "", broken: 0, unmutes: true };
	/** The messages that were to be sent to people. */
	const messages = [];
	const person_of = ({ room, identity }) => rooms.get(room)?.people.get(identity);
	/** What Anteroom asked to be done: `[method, body]`. */
	const asked = [];

	const room_message = (name, { sid, created }) => ({
		name,
		sid,
		creation_time_ms: String(created),
		turn_password: "secret",
	});
	const people_of = (name) => [...(rooms.get(name)?.people.values() ?? [])];
	const answers = {
		ListRooms: ({ names = [] }) => ({
			rooms: [...rooms]
				.filter(([name]) => names.length === 0 || names.includes(name))
				.map(([name, room]) => room_message(name, room)),
		}),
		ListParticipants: ({ room }) => ({ participants: people_of(room) }),
		GetParticipant: person_of,
		UpdateParticipant({ name, attributes, metadata, ...of }) {
			const person = person_of(of);
			if (person) Object.assign(person, { attributes }, name && { name }, metadata && { metadata });
			return person;
		},
		MutePublishedTrack({ track_sid, muted, ...of }) {
			const track = person_of(of)?.tracks.find((one) => one.sid === track_sid);
			if (!muted && !told.unmutes) return REFUSED;
			if (track) track.muted = muted;
			return track && { track };
		},
		SendData({ topic, data, destination_identities }) {
			const text = Buffer.from(data, "base64").toString();
			messages.push(`${topic} to ${destination_identities}: ${text}`);
			return {};
		},
		RemoveParticipant: ({ room, identity }) =>
			rooms.get(room)?.people.delete(identity) ? {} : undefined,
		DeleteRoom: ({ room }) => (rooms.delete(room) ? {} : undefined),
	};
	const server = createServer(async (request, response) => {
		let body = "";
		for await (const part of request) body += part;
		const method = request.url.split("/").at(-1);
		if (request.method === "GET" && method === "validate") {
			response.writeHead(told.lacks_rooms ? 404 : 200).end(told.lacks_rooms ? "requested room does not exist" : "success");
			return;
		}
		const found = told.broken ? null : answers[method]?.(JSON.parse(body));
		const status = told.broken || (found === REFUSED ? 412 : found ? 200 : 404);
		if (!/^(List|Get)/.test(method)) asked.push([method, JSON.parse(body)]);
		response.writeHead(status, { "Content-Type": "application/json" });
		response.end(JSON.stringify(found ?? { code: "not_found" }));
	});
	await new Promise((turn) => server.listen(0, "127.0.0.1", turn));
	// It does not keep the test alive.
	server.unref();

	async function send(event, name, room, participant) {
		const now = Math.floor(Date.now() / 1000);
		const message = { event, room: room_message(name, room), participant, createdAt: String(now) };
		const body = JSON.stringify({ ...message, id: random("EV") });
		const sha256 = createHash("sha256").update(body).digest("base64");
		const head = base64url(JSON.stringify({ alg: "HS256" }));
		const claims = base64url(JSON.stringify({ iss: key, nbf: now, exp: now + 300, sha256 }));
		const mac = createHmac("sha256", secret).update(`${head}.${claims}`).digest("base64url");
		const headers = {
			"Content-Type": "application/webhook+json",
			Authorization: `${head}.${claims}.${mac}`,
		};
		const { status } = await fetch(told.events_url, { method: "POST", headers, body });
		if (status !== 204) throw new Error(`an event was answered ${status}`);
	}
	/** Adds somebody to a room, without an event. */
	function add(name, identity, more = {}) {
		const { role = "guest", shown = identity, joined = Date.now() } = more;
		if (!rooms.has(name))
			rooms.set(name, { sid: random("RM"), created: Date.now(), people: new Map() });
		const person = {
			sid: random("PA"),
			identity,
			name: shown,
			state: "ACTIVE",
			kind: "STANDARD",
			attributes: { role, user_id: more.user_id ?? identity, ...more.attributes },
			tracks: (more.tracks ?? []).map((one) => {
				const [type, source] = Array.isArray(one) ? one : [];
				return type ? { sid: random("TR"), type, source, muted: false } : one;
			}),
			joined_at_ms: String(joined),
		};
		rooms.get(name).people.set(identity, person);
		return person;
	}
	return {
		key,
		secret,
		told,
		messages,
		asked,
		url: `ws://127.0.0.1:${server.address().port}`,
		add,
		async join(name, identity, more) {
			const person = add(name, identity, more);
			await send("participant_joined", name, rooms.get(name), person);
			return person;
		},
		async leave(name, identity) {
			const { people } = rooms.get(name);
			const person = people.get(identity);
			people.delete(identity);
			const gone = { ...person, state: "DISCONNECTED", disconnect_reason: "CLIENT_INITIATED" };
			await send("participant_left", name, rooms.get(name), gone);
		},
		async end(name) {
			const room = rooms.get(name);
			rooms.delete(name);
			await send("room_finished", name, room);
		},
		/** Sends an event that changes nothing. @param {string} name of a room */
		tell: (name) => send("egress_updated", name, { sid: random("RM"), created: Date.now(), people: new Map() }),
		stop: () => server.close(),
	};
}
