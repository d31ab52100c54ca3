// A media server with one room, for the operations about live rooms. It tells its backend who joins
// and leaves, with signed events, and answers what Anteroom asks about people.
//
// SPDX-License-Identifier: GPL-3.0-or-later
import { createHash, createHmac } from "node:crypto";
import http from "node:http";

const KEY = "live";
const SECRET = "l".repeat(32);

const encoded = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");

function signed(body) {
	const sha256 = createHash("sha256").update(body).digest("base64");
	const claims = { iss: KEY, sha256, exp: Math.floor(Date.now() / 1000) + 60 };
	const text = `${encoded({ alg: "HS256", typ: "JWT" })}.${encoded(claims)}`;

	return `${text}.${createHmac("sha256", SECRET).update(text).digest("base64url")}`;
}

export class MediaServer {
	constructor(client) {
		Object.assign(this, { client, people: new Map(), rooms: 0 });
	}

	// Starts the server and returns a backend for it.
	async open() {
		this.server = http.createServer((request, answer) => this.#answer(request, answer));
		this.server.unref();
		await new Promise((resolve) => this.server.listen(0, "127.0.0.1", resolve));
		return {
			name: "live",
			type: "livekit",
			url: `ws://127.0.0.1:${this.server.address().port}`,
			config: { api_key: KEY, api_secret: SECRET },
		};
	}

	// From now on, it does not answer.
	close() {
		this.server.close();
		this.server.closeAllConnections();
	}

	#answer(request, answer) {
		const chunks = [];

		request.on("data", (chunk) => chunks.push(chunk));
		request.on("end", () => {
			const { room, identity } = JSON.parse(Buffer.concat(chunks).toString());
			const person = this.people.get(`${room} ${identity}`);
			const isList = request.url.includes("/List");

			if (request.url.endsWith("/ListParticipants")) {
				const participants = [...this.people].filter(([place]) => place.startsWith(`${room} `));

				answer.writeHead(200, { "Content-Type": "application/json" });
				return answer.end(JSON.stringify({ participants: participants.map(([, one]) => one) }));
			}

			const acts = /\/(SendData|MutePublishedTrack|UpdateParticipant|RemoveParticipant|DeleteRoom)$/;

			if (acts.test(request.url)) return this.#take(answer, person);
			answer.writeHead(isList ? 500 : person ? 200 : 404, { "Content-Type": "application/json" });
			answer.end(JSON.stringify(isList ? {} : (person ?? { code: "not_found" })));
		});
	}

	// From now on, everybody has this metadata.
	say(metadata) {
		for (const person of this.people.values()) person.metadata = metadata;
	}

	// Takes a request that changes something. With isLosing, the connection is lost before the answer.
	#take(answer, person) {
		if (this.isLosing) return answer.socket.destroy();
		answer.writeHead(200, { "Content-Type": "application/json" });
		answer.end(JSON.stringify(person ?? {}));
	}

	async #tell(backend, event) {
		const body = JSON.stringify({ createdAt: `${Math.floor(Date.now() / 1000)}`, ...event });
		const answer = await this.client.send({
			method: "POST",
			target: `/v2/backends/${backend}/events`,
			headers: { Authorization: signed(body) },
			body,
		});

		if (answer.status !== 204) throw new Error(`an event: ${answer.status} ${answer.text}`);
	}

	// Somebody with the entry joins the room, which the server makes for that.
	async join(backend, name, entry = "") {
		const room = { sid: `RM_${this.rooms++}`, name, creationTimeMs: `${Date.now()}` };
		const participant = {
			sid: `PA_${room.sid}`,
			identity: "ada",
			state: "ACTIVE",
			name: "Ada",
			joinedAtMs: `${Date.now()}`,
			attributes: { role: "host", user_id: "ada", entry },
			tracks: [
				{ sid: "TR_1", type: "VIDEO", source: "CAMERA" },
				{ sid: "TR_2", type: "AUDIO", source: "MICROPHONE" },
				{ sid: "TR_3", type: "VIDEO", source: "SCREEN_SHARE" },
			],
		};

		this.people.set(`${name} ada`, participant);
		await this.#tell(backend, { event: "participant_joined", room, participant });
		return room;
	}

	end(backend, room) {
		return this.#tell(backend, { event: "room_finished", room });
	}
}
