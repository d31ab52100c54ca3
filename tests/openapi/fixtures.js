// Objects for the parameters of paths, created for a request, so that stored objects do not prevent
// a body that obeys the document from being accepted. Templates belong to one account and rooms to
// another, which always keeps its default template.
//
// SPDX-License-Identifier: GPL-3.0-or-later
import { createHash } from "node:crypto";

import { MediaServer } from "./live.js";

export const ROLE = "host";
// An agent of the templates for rooms.
export const AGENT = "helper";
// A backend of the account with the templates.
export const BACKEND_OF_TEMPLATES = "backend of templates";

// IDs of objects that are imported again and again.
export const IMPORTED = {
	template_id: "62bbc84000000000000000a1",
	room_id: "62bbc84100000000000000b1",
};

export class Fixtures {
	constructor(client, tokens) {
		Object.assign(this, { client, tokens, shared: new Map() });
	}

	// Returns the token of the account that is used for an operation.
	token(operation) {
		if (operation.id === "joinBackend") return this.appToken;
		if (operation.id === "getMe") return this.insideToken;
		return /^\/v2\/(rooms|room-codes|room-summaries|token|bulk|backends|bans|service)/.test(operation.path)
			? this.tokens.rooms
			: this.tokens.templates;
	}

	async make(token, target, body, status = 200) {
		const answer = await this.client.send({
			method: "POST",
			target,
			token,
			body: JSON.stringify(body),
		});

		if (answer.status !== status)
			throw new Error(`${target}: ${answer.status} ${answer.text}`);
		return answer.json;
	}

	async open() {
		const template = await this.make(this.tokens.rooms, "/v2/templates", {
			default: true,
			roles: { [ROLE]: {} },
			settings: { agents: [{ agentName: AGENT }] },
		});

		this.templateOfRooms = template.id;
		this.roomOfBulk = (await this.room()).id;
		for (const alg of ["ES256", "RS256", "EdDSA"])
			await this.make(this.tokens.rooms, "/v2/signing-keys", { alg });
		await this.make(this.tokens.templates, "/v2/backends", {
			name: BACKEND_OF_TEMPLATES,
			...this.livekit(),
		});
	}

	// Removes the account's default template and returns its token.
	async withoutDefault() {
		const token = this.tokens.templates;
		const marked = await this.client.send({
			method: "GET",
			target: "/v2/templates?default=true",
			token,
		});

		for (const { id } of marked.json.data)
			await this.make(token, `/v2/templates/${id}`, { default: false });
		return token;
	}

	template(roles = { [ROLE]: {} }) {
		return this.make(this.tokens.templates, "/v2/templates", { roles });
	}

	// Creates a template for rooms and returns its ID.
	async templateOf(roles) {
		return (await this.make(this.tokens.rooms, "/v2/templates", { roles })).id;
	}

	// A template with a storage to which the service does not connect.
	async templateWithStorage() {
		const credentials = { key: "k", secretKey: "s" };
		const options = { endpoint: "https://127.0.0.1" };
		const upload = { type: "s3", location: "bucket", prefix: "", options, credentials };

		return (
			await this.make(this.tokens.templates, "/v2/templates", {
				roles: { [ROLE]: {} },
				settings: { recording: { upload } },
			})
		).id;
	}

	room() {
		return this.make(this.tokens.rooms, "/v2/rooms", {});
	}

	async code(room) {
		const made = await this.make(
			this.tokens.rooms,
			`/v2/room-codes/room/${room}/role/${ROLE}`,
			{},
		);

		return made.code;
	}

	// Creates objects and returns the values of the path's parameters.
	async fresh(operation) {
		const path = operation.path;
		const values = { role: ROLE, role_name: ROLE };

		if (operation.id === "testSettings") values.template_id = await this.templateWithStorage();
		else if (path.startsWith("/v2/templates/")) values.template_id = (await this.template()).id;
		if (path.startsWith("/v2/rooms/") || /^\/v2\/(room-codes|token|livekit|join|bans)/.test(path))
			values.room_id = (await this.room()).id;
		if (/^\/v2\/(room-codes|token|livekit|join|bans)/.test(path))
			values.code = await this.code(values.room_id);
		if (operation.id === "describeCode") await this.tellWhoIsInside(values.room_id);
		if (path === "/v2/token/join" || path.startsWith("/v2/livekit/")) await this.join();
		if (["endRoom", "removePeers"].includes(operation.id))
			Object.assign(values, await this.occupied());
		else if (/\/tickets\b/.test(path)) Object.assign(values, await this.waiting());
		else if (/^\/v2\/(active-rooms|sessions)\//.test(path)) Object.assign(values, await this.live());
		if (operation.id === "deleteLiveSession") values.session_id = await this.closedSession();
		if (path === "/v2/import") await this.imported();
		if (operation.id === "moveBackendRooms") values.backend_id = await this.drainedBackend();
		else if (path.startsWith("/v2/backends")) values.backend_id = await this.backend();
		if (path.includes("{event_id}")) Object.assign(values, await this.delivery());
		else if (path.startsWith("/v2/webhooks")) values.webhook_id = await this.webhook();
		if (path.startsWith("/v2/bans/")) values.ban_id = await this.ban();
		if (path.startsWith("/v2/keys")) values.key_id = (await this.key()).id;
		if (path === "/v2/session") values.token = this.tokens.templates;
		if (path.startsWith("/v2/signing-keys")) values.kid = await this.signingKey();
		if (path.startsWith("/v2/jwks/"))
			Object.assign(values, await this.publishedKey(path.endsWith(".pem")));
		return values;
	}

	// Imports the objects that imports refer to, and a default template.
	async imported() {
		const token = this.tokens.templates;
		const { template_id, room_id } = IMPORTED;

		await this.make(token, "/v2/import", {
			templates: [{ id: template_id, default: true }],
			rooms: [{ id: room_id }],
		});
		await this.make(token, `/v2/rooms/${room_id}`, {
			large_room: false,
			size: 0,
			opens_at: "",
			closes_at: "",
		});
	}

	// From now on, codes of this room show who is inside.
	async tellWhoIsInside(room_id) {
		const token = this.tokens.rooms;
		const template = await this.make(token, "/v2/templates", {
			roles: { [ROLE]: { permissions: { sendRoomState: true } } },
			settings: { roomState: { enabled: true, sendPeerList: true } },
		});

		await this.make(token, `/v2/rooms/${room_id}`, { template_id: template.id });
	}

	livekit() {
		const config = { api_key: "k", api_secret: "s".repeat(32) };

		return { type: "livekit", url: "wss://media.invalid", api_url: "https://media.invalid", config };
	}

	async removeAll(token, target, key) {
		const made = await this.client.send({
			method: "GET",
			target: `${target}?limit=100`,
			token,
		});

		for (const one of made.json.data)
			await this.client.send({
				method: "DELETE",
				target: `${target}/${one[key]}`,
				token,
			});
	}

	// Gets a join token while there is a default backend.
	join() {
		this.joined ??= (async () => {
			await this.backend({ default: true });
			this.codeOfToken = await this.code((await this.room()).id);
			this.appToken = (
				await this.make(undefined, "/v2/token", { code: this.codeOfToken })
			).token;
		})();
		return this.joined;
	}

	// Returns a room in which somebody is, whose join token is insideToken.
	live() {
		this.inside ??= (async () => {
			const token = this.tokens.templates;

			this.mediaServer = new MediaServer(this.client);
			const { id: backend } = await this.make(token, "/v2/backends", await this.mediaServer.open());
			const { id: template_id } = await this.make(token, "/v2/templates", {
				roles: { [ROLE]: { permissions: { sendRoomState: true } } },
				settings: { backend: "live" },
			});

			Object.assign(this, { liveBackend: backend, liveTemplate: template_id });
			const { token: insideToken, ...place } = await this.occupied();

			this.insideToken = insideToken;
			return place;
		})();
		return this.inside;
	}

	// Returns a new room in which somebody is, with the join token.
	async occupied() {
		if (!this.liveTemplate) await this.live();
		const { room_id, token } = await this.admitted();
		const { entry } = JSON.parse(Buffer.from(token.split(".")[1], "base64url").toString());

		await this.mediaServer.join(this.liveBackend, room_id, entry);
		const { id: session_id } = await this.sessionOf(room_id, true);
		const { id: peer_id } = await this.until(`/v2/sessions/${session_id}/peers`);

		return { room_id, session_id, peer_id, token };
	}

	// Returns a new room for live(), and a join token for it.
	async admitted() {
		const { room_id, code } = await this.liveCode({});

		return { room_id, token: (await this.make(undefined, "/v2/token", { code })).token };
	}

	// Returns a new room with a code that asks at the door, and the ticket of somebody who waits there.
	async waiting() {
		if (!this.liveTemplate) await this.live();
		const { room_id, code } = await this.liveCode({ admission: "ask" });
		const body = { code, wait: true };
		const { ticket } = await this.make(undefined, "/v2/token", body, 202);
		const target = `/v2/active-rooms/${room_id}/tickets`;
		const token = this.tokens.templates;
		const { json } = await this.client.send({ method: "GET", target, token });

		return { room_id, code, ticket, ticket_id: json.tickets[0].id };
	}

	// Returns a new room with a code.
	async liveCode(members) {
		const token = this.tokens.templates;
		const { liveTemplate: template_id } = this;
		const { id: room_id } = await this.make(token, "/v2/rooms", { template_id });
		const target = `/v2/room-codes/room/${room_id}/role/${ROLE}`;

		return { room_id, code: (await this.make(token, target, members)).code };
	}

	async closedSession() {
		await this.live();
		const { room_id } = await this.admitted();
		const room = await this.mediaServer.join(this.liveBackend, room_id);

		await this.mediaServer.end(this.liveBackend, room);
		return (await this.sessionOf(room_id, false)).id;
	}

	sessionOf(room, active) {
		return this.until(`/v2/sessions?room_id=${room}&active=${active}`);
	}

	// Returns the first item of a list, once there is one: events are merged a little later.
	async until(target) {
		for (;;) {
			const token = this.tokens.templates;
			const { json } = await this.client.send({ method: "GET", target, token });

			if (json.data.length > 0) return json.data[0];
		}
	}

	async ban() {
		return (await this.make(this.tokens.rooms, "/v2/bans", { user_id: "somebody" })).id;
	}

	// Deletes earlier backends, because there may be only 100.
	async backend(more) {
		const token = this.tokens.rooms;
		const body = { name: "a backend", ...this.livekit(), ...more };

		await this.removeAll(token, "/v2/backends", "id");
		return (await this.make(token, "/v2/backends", body)).id;
	}

	// One that drains, and another one of its pool.
	async drainedBackend() {
		const id = await this.backend({ pool: "a pool", draining: true });

		await this.make(this.tokens.rooms, "/v2/backends", {
			...this.livekit(),
			name: "another backend",
			pool: "a pool",
		});
		return id;
	}

	// Deletes earlier webhooks, because there may be only twenty.
	async webhook(more) {
		const token = this.tokens.templates;
		const body = { url: "https://example.org/hook", enabled: false, ...more };

		await this.removeAll(token, "/v2/webhooks", "id");
		return (await this.make(token, "/v2/webhooks", body)).id;
	}

	// Creates a webhook with a delivery that failed: the sender does not connect to this machine.
	async delivery() {
		const token = this.tokens.templates;
		const hook = { url: "https://127.0.0.1/", events: ["template.created"], enabled: true };
		const webhook_id = await this.webhook(hook);
		const target = `/v2/webhooks/${webhook_id}/deliveries`;

		await this.template();
		for (;;) {
			const { json } = await this.client.send({ method: "GET", target, token });

			if (json.data.length > 0) return { webhook_id, event_id: json.data[0].event_id };
		}
	}

	// Deletes earlier signing keys, because there may be only four.
	async signingKey(alg = "EdDSA") {
		const token = this.tokens.templates;

		await this.removeAll(token, "/v2/signing-keys", "kid");
		return (await this.make(token, "/v2/signing-keys", { alg })).kid;
	}

	// Deletes earlier API keys, because there may be only a hundred.
	async key(scopes = ["keys:write"], token = this.tokens.templates) {
		await this.removeAll(token, "/v2/keys", "id");
		return this.make(token, "/v2/keys", { name: "a key", scopes });
	}

	async publishedKey(isRsa) {
		const { customerId } = await this.template();
		const kid = await this.signingKey(isRsa ? "RS256" : "EdDSA");

		return {
			customer_id: customerId,
			kid_hash: createHash("sha256").update(kid).digest("hex"),
		};
	}

	// Returns the same values for all requests of an operation.
	once(operation) {
		if (!this.shared.has(operation.id))
			this.shared.set(operation.id, this.fresh(operation));
		return this.shared.get(operation.id);
	}
}
