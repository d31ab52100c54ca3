// Verifies the response of /v2/token for media servers with independent programs: jose verifies
// every JWT with the published keys, LiveKit's own verifier reads its tokens, and Node's crypto
// recomputes the checksums of BigBlueButton and the tokens of Janus.
//
//	BASE_URL=... TOKEN=... node prove.js
//
// TOKEN is the token of a new account.
//
// SPDX-License-Identifier: GPL-3.0-or-later
import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import { createLocalJWKSet, createRemoteJWKSet, decodeJwt, decodeProtectedHeader, importSPKI, jwtVerify } from "jose";
import { TokenVerifier } from "livekit-server-sdk";

const { BASE_URL, TOKEN } = process.env;
const SECRET = "0123456789abcdef0123456789abcdef";
const KEY = Buffer.alloc(32, 7);
const NAME = "Zoë / ?>~";

async function call(method, path, body, headers = { Authorization: `Bearer ${TOKEN}` }) {
	const answer = await fetch(BASE_URL + path, {
		method,
		headers,
		body: body && JSON.stringify(body),
	});
	const text = await answer.text();

	assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
	return text && JSON.parse(text);
}

const hash = (name, text) => createHash(name).update(text).digest("hex");
const hex = (text) => [...text].map((one) => one.charCodeAt(0).toString(16)).join();

// ---- a room and its participants ----

const moderator = { endRoom: true, removeOthers: true, mute: true, changeRole: true };
const roles = {
	host: { permissions: moderator },
	guest: { publishParams: { allowed: ["video"] }, permissions: { rtmpStreaming: true } },
	watcher: { publishParams: { allowed: [] }, subscribeParams: { subscribeToRoles: [] } },
};

for (const alg of ["ES256", "RS256", "EdDSA"]) await call("POST", "/v2/signing-keys", { alg });

const template = await call("POST", "/v2/templates", { default: true, roles });
const room = await call("POST", "/v2/rooms", { name: "r", size: 7, max_duration_seconds: 120 });
const made = await call("POST", `/v2/room-codes/room/${room.id}`, {});
const codes = Object.fromEntries(made.data.map(({ role, code }) => [role, code]));
const jwks = createRemoteJWKSet(new URL(`${BASE_URL}/v2/jwks/${room.customer_id}.json`));
const local = createLocalJWKSet(await call("GET", `/v2/jwks/${room.customer_id}.json`));

async function use(type, url, config) {
	const { data } = await call("GET", "/v2/backends");

	for (const { id } of data) await call("DELETE", `/v2/backends/${id}`);
	await call("POST", "/v2/backends", { name: "b", type, url, default: true, config });
}

async function join(role, user_id = "ada") {
	const before = Math.floor(Date.now() / 1000);
	const answer = await call("POST", "/v2/token", { code: codes[role], user_id, name: NAME }, {});
	const after = Math.floor(Date.now() / 1000);

	const { entry, code_hash } = decodeJwt(answer.token);
	const within = (time, offset) => time >= before + offset && time <= after + offset;

	assert.equal(answer.join.room, room.id);
	assert.match(entry, /^[0-9a-f]{32}$/);
	return { ...answer.join, entry, code: code_hash.slice(0, 16), within };
}

// Checks the claims of all JWTs, and that the payload is ASCII, which any decoder can read.
function checkTimes(claims, ticket) {
	assert.ok(ticket.within(claims.iat, -10) && claims.nbf === claims.iat);
	assert.ok(ticket.within(claims.exp, 600));
	assert.equal(new Date(claims.exp * 1000).toISOString().replace(".000", ""), ticket.expires_at);
	assert.match(claims.jti, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
}

function checkText(token) {
	const [, payload] = token.split(".");
	const text = Buffer.from(payload, "base64url").toString("latin1");

	assert.match(payload, /^[A-Za-z0-9]+$/);
	assert.match(text, /^[\x20-\x7e]+$/);
	assert.doesNotMatch(text, /\\u[0-9a-f]*[A-F]/);
	return text;
}

const person = (ticket, user = "ada") => `${user}#${ticket.entry.slice(0, 8)}`;

// ---- LiveKit ----

async function proveLivekit() {
	const verifier = new TokenVerifier("key", SECRET);

	const config = { api_key: "key", api_secret: SECRET };
	const all = ["microphone", "camera", "screen_share", "screen_share_audio"];

	for (const [room_admin, role, sources, canSubscribe, roomAdmin] of [
		[false, "host", all, true, undefined],
		[true, "host", all, true, true],
		[true, "guest", ["camera"], true, undefined],
		[true, "watcher", undefined, false, undefined],
	]) {
		await use("livekit", "wss://lk.example.org", { ...config, room_admin });
		const ticket = await join(role);
		const claims = await verifier.verify(ticket.token);
		const { payload } = await jwtVerify(ticket.token, Buffer.from(SECRET));
		const wanted = {
			iss: "key",
			sub: person(ticket),
			name: NAME,
			iat: payload.iat,
			nbf: payload.nbf,
			exp: payload.exp,
			jti: payload.jti,
			attributes: { role, user_id: "ada", entry: ticket.entry, code: ticket.code },
			video: {
				room: room.id,
				roomJoin: true,
				canPublish: sources !== undefined,
				...(sources && { canPublishSources: sources }),
				canSubscribe,
				canPublishData: true,
				...(roomAdmin && { roomAdmin }),
			},
			roomConfig: { maxParticipants: 7 },
		};

		assert.equal(claims.video.room, room.id);
		assert.equal(JSON.stringify(payload), JSON.stringify(wanted));
		assert.deepEqual(decodeProtectedHeader(ticket.token), { alg: "HS256", typ: "JWT" });
		checkTimes(payload, ticket);
		checkText(ticket.token);
	}
	const long = await join("host", "x".repeat(256));
	const { payload } = await jwtVerify(long.token, Buffer.from(SECRET));

	assert.equal(payload.sub, hash("sha256", person(long, "x".repeat(256))));
	await assert.rejects(new TokenVerifier("key", `${SECRET}x`).verify(long.token));
}

// ---- Jitsi Meet ----

async function proveJitsi() {
	for (const [config, sub, aud, kid] of [
		[{ alg: "HS256", app_secret: SECRET }, "meet.example.org", "app", undefined],
		[{ alg: "RS256", tenant: "t" }, "t", "app", true],
		[{ alg: "RS256", subject: "s", audience: "x", key_id: "k/1" }, "s", "x", "k/1"],
	]) {
		await use("jitsi", "https://Meet.example.org:8443/", { app_id: "app", ...config });
		for (const [role, isModerator, screen] of [
			["host", true, true],
			["guest", false, false],
		]) {
			const ticket = await join(role);
			const key = config.alg === "HS256" ? Buffer.from(SECRET) : rsaKey(config);
			const { payload, protectedHeader } = await jwtVerify(ticket.token, await key);
			const wanted = {
				aud,
				iss: "app",
				sub,
				room: room.id,
				iat: payload.iat,
				nbf: payload.nbf,
				exp: payload.exp,
				jti: payload.jti,
				context: {
					user: {
						id: person(ticket),
						name: NAME,
						affiliation: isModerator ? "owner" : "member",
						moderator: String(isModerator),
					},
					features: {
						livestreaming: String(isModerator),
						recording: String(isModerator),
						"screen-sharing": String(screen),
					},
				},
			};

			assert.equal(JSON.stringify(payload), JSON.stringify(wanted));
			if (kid === true) assert.match(protectedHeader.kid, /^[A-Za-z0-9_-]{43}$/);
			else assert.equal(protectedHeader.kid, kid);
			assert.equal(
				ticket.link,
				`https://Meet.example.org:8443/${config.tenant ? "t/" : ""}${room.id}?jwt=${ticket.token}`,
			);
			checkTimes(payload, ticket);
			checkText(ticket.token);
		}
	}
}

// Jitsi finds the key by the SHA-256 of the kid.
async function rsaKey() {
	const { data } = await call("GET", "/v2/signing-keys");
	const { kid } = data.find(({ alg }) => alg === "RS256");
	const path = `/v2/jwks/${room.customer_id}/${hash("sha256", kid)}.pem`;
	const pem = await (await fetch(BASE_URL + path)).text();

	return importSPKI(pem, "RS256");
}

// ---- Galene, and any server that accepts a JWT ----

async function proveGalene() {
	const audience = `https://g.example.org/group/rooms/${room.id}/`;

	for (const config of [
		{ group: "rooms", alg: "HS256", key: KEY.toString("base64url") },
		{ group: "rooms", alg: "RS256" },
		{ group: "rooms" },
	]) {
		await use("galene", "https://g.example.org/", config);
		for (const [role, permissions] of [
			["host", ["op", "present", "message", "caption", "record"]],
			["guest", ["present", "message"]],
			["watcher", ["message"]],
		]) {
			const ticket = await join(role);
			const key = config.alg === "HS256" ? KEY : jwks;
			const { payload } = await jwtVerify(ticket.token, key, { audience });
			const wanted = {
				iss: `anteroom:${room.customer_id}`,
				sub: NAME.replace("/", "-"),
				aud: audience,
				iat: payload.iat,
				nbf: payload.nbf,
				exp: payload.exp,
				jti: payload.jti,
				permissions,
			};

			assert.equal(JSON.stringify(payload), JSON.stringify(wanted));
			assert.equal(ticket.link, `${audience}?token=${ticket.token}`);
			checkTimes(payload, ticket);
			checkText(ticket.token);
		}
	}
}

async function proveJwt() {
	for (const alg of ["ES256", "RS256", "EdDSA"]) {
		await use("jwt", "any:where", { audience: "them", alg });
		const ticket = await join("guest");
		const { payload, protectedHeader } = await jwtVerify(ticket.token, local, {
			audience: "them",
			algorithms: [alg],
		});
		const wanted = {
			iss: `anteroom:${room.customer_id}`,
			aud: "them",
			sub: person(ticket),
			name: NAME,
			room_id: room.id,
			role: "guest",
			iat: payload.iat,
			nbf: payload.nbf,
			exp: payload.exp,
			jti: payload.jti,
		};

		assert.equal(JSON.stringify(payload), JSON.stringify(wanted));
		assert.deepEqual(Object.keys(protectedHeader), ["alg", "typ", "kid"]);
		checkTimes(payload, ticket);
		checkText(ticket.token);
	}
}

// ---- BigBlueButton ----

const encoded = (text) =>
	encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${hex(one).toUpperCase()}`);

async function proveBigbluebutton() {
	const url = "https://b.example.org/bigbluebutton/";

	for (const checksum of ["sha256", "sha384", "sha512"]) {
		await use("bigbluebutton", url, { secret: "639259d4-9dd8-4b25-bf01-95f9567eaf4b", checksum });
		const ticket = await join("host");
		const check = (link, name, pattern) => {
			const [, query, sum] = link.match(/^.*\/api\/[a-z]+\?(.*)&checksum=([0-9a-f]+)$/);

			assert.ok(link.startsWith(`${url}api/${name}?`));
			assert.match(query, pattern);
			assert.equal(
				sum,
				hash(checksum, `${name}${query}639259d4-9dd8-4b25-bf01-95f9567eaf4b`),
			);
		};

		check(
			ticket.link,
			"join",
			new RegExp(
				`^fullName=${encoded(NAME)}&meetingID=${room.id}&role=MODERATOR&userID=ada%23[0-9a-f]{8}&redirect=true$`,
			),
		);
		// BigBlueButton does not accept a name of one letter.
		check(
			ticket.start_link,
			"create",
			new RegExp(
				`^name=${room.id}&meetingID=${room.id}&maxParticipants=7&duration=2&record=false$`,
			),
		);
	}
}

// ---- Janus ----

async function proveJanus() {
	await use("janus", "wss://j.example.org", { secret: "janus" });
	const ticket = await join("guest");

	for (const [token, rest] of [
		[ticket.token, "janus,janus.plugin.videoroom"],
		[ticket.room_token, `janus.plugin.videoroom,room=${room.id}`],
	]) {
		const [text, sum] = token.split(":");
		const [, exp, told] = text.match(/^(\d+),(.*)$/);

		assert.equal(told, rest);
		assert.ok(ticket.within(Number(exp), 600));
		assert.equal(sum, createHmac("sha1", "janus").update(text).digest("base64"));
	}
}

await proveLivekit();
await proveJitsi();
await proveGalene();
await proveJwt();
await proveBigbluebutton();
await proveJanus();
assert.ok(template.id);
console.log("every token and link is what the manual says");
