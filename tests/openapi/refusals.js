// Rejections caused by stored objects: 403, 409 and finally 429, for each operation for which the
// document names the status.
//
// SPDX-License-Identifier: GPL-3.0-or-later

const CODES_MOST = 100;
const MISSES_MOST = 20;
const SIGNING_KEYS_MOST = 4;
const RSA_KEYS_MOST = 10;
const KEYS_MOST = 100;
const WEBHOOKS_MOST = 20;
const TESTS_MOST = 10;

// Too rare, too large, or caused by the command line, another build, or many calls from inside in a second
// (tests/cases/live/inside).
const UNSEEN = [
	"getOpenApi 429",
	"testSettings 501",
	"listActivePeers 413",
	"getLiveSession 413",
	"createBan 409",
	"getAttendance 409",
	"createToken 501",
	"joinBackend 501",
	"joinLivekit 501",
	"getActivePeer 501",
	"getMe 404",
	"mutePeer 501",
	"mutePeers 501",
	"mutePeers 504",
	"lowerHands 501",
	"sendMessage 501",
	"removePeers 501",
	"removePeers 409",
	"updateActivePeer 501",
	"endRoom 501",
	"getMe 429",
	"updateActivePeer 429",
	"mutePeer 429",
	"mutePeers 429",
	"lowerHands 429",
	"setDoor 429",
	"removePeers 429",
	"endRoom 429",
	"sendMessage 429",
	"listTickets 429",
	"admitTickets 429",
	"decideTicket 429",
];

export async function proveRefusals(proof) {
	const expect = async (status, id, place, sent) => {
		const operation = proof.operation(id);
		const body = sent && JSON.stringify(sent);
		const what = `to cause ${status}`;
		const answer = await proof.ask(operation, what, { place, body });

		if (answer.status !== status)
			proof.problem(operation, what, "unexpected response", answer);
	};

	await proveTaken(proof, expect);
	await proveDisabled(proof, expect);
	await proveDeletedRole(proof, expect);
	await proveFullRoom(proof, expect);
	await proveBulk(proof, expect);
	await proveJoining(proof, expect);
	await proveBackends(proof, expect);
	await proveDoor(proof);
	await proveLive(proof, expect);
	await proveSigningKeys(proof, expect);
	await proveKeys(proof);
	await proveGone(proof);
	await proveScopes(proof);
	await proveManyKeys(proof, expect);
	await proveManyWebhooks(proof, expect);
	await proveSessions(proof, expect);
	await proveCodes(proof, expect);
	await proveMisses(proof, expect);
	for (const operation of proof.operations) {
		for (const status of Object.keys(operation.responses)) {
			const isForeseen =
				["503", "default"].includes(status) || UNSEEN.includes(`${operation.id} ${status}`);

			if (!isForeseen && !proof.seen.has(`${operation.id} ${status}`))
				proof.problem(operation, status, "documented, but never returned");
		}
	}
}

// What people are answered who come to a room where somebody has to let them in.
async function proveDoor(proof) {
	const { fixtures } = proof;
	const place = await fixtures.waiting();
	const { code } = place;
	const expect = async (status, id, at, { body, ...more }, shown) => {
		const operation = proof.operation(id);
		const what = `at the door, to cause ${status}`;
		const sent = body && JSON.stringify(body);
		const answer = await proof.ask(operation, what, { place: at, body: sent, ...more });
		const isShown = Object.entries(shown).every(([name, value]) => answer.json?.[name] === value);

		if (answer.status !== status || !isShown)
			proof.problem(operation, what, `is not ${JSON.stringify(shown)}`, answer);
	};
	const decided = (state, reason) => ({ body: { state, reason } });
	const reason = "This is a private meeting.";
	const headers = { Prefer: "handling=strict" };
	const needed = { message: "Admission is needed" };

	await expect(200, "describeCode", place, {}, { admission: "ask" });
	await expect(403, "createToken", {}, { body: { code } }, needed);
	await expect(403, "joinLivekit", place, { body: {} }, needed);
	await expect(202, "createToken", {}, { body: { code, wait: true, unknown: 1 } }, {});
	await expect(202, "createToken", {}, { body: { code, wait: true }, headers }, {});
	await expect(200, "listTickets", place, {}, { count: 3 });
	const inside = await fixtures.live();
	const outside = { message: "Missing permission removeOthers" };

	await expect(403, "listTickets", inside, { token: fixtures.insideToken }, outside);
	await expect(200, "getTicket", place, {}, { state: "waiting" });
	await expect(200, "decideTicket", place, decided("admitted"), { state: "admitted" });
	await expect(409, "decideTicket", place, decided("denied"), { message: "Ticket was decided" });
	await expect(200, "getTicket", place, {}, { state: "admitted", room_id: place.room_id });
	await expect(200, "admitTickets", place, { body: { admit: ["x"] } }, { admitted: 0 });
	await expect(200, "admitTickets", place, { body: { admit: "all" } }, { admitted: 2 });

	const denied = await fixtures.waiting();
	const again = { code: denied.code, wait: true };

	await expect(200, "decideTicket", denied, decided("denied", reason), { state: "denied" });
	await expect(200, "getTicket", denied, {}, { state: "denied", reason });
	await expect(403, "createToken", {}, { body: again }, { message: "Not admitted" });
}

async function proveLive(proof, expect) {
	const { fixtures } = proof;
	const place = await fixtures.live();
	const { room_id, token } = await fixtures.admitted();
	const ask = async (status, id, at, bearer) => {
		const operation = proof.operation(id);
		const what = `from inside, to cause ${status}`;
		const answer = await proof.ask(operation, what, { place: at, token: bearer });

		if (answer.status !== status) proof.problem(operation, what, "unexpected response", answer);
		return answer;
	};

	await expect(409, "deleteLiveSession", place);
	for (const id of ["getActiveRoom", "listActivePeers", "getActivePeer"]) {
		const operation = proof.operation(id);
		let status = 200;

		for (let n = 0; n < 20 && status === 200; n++)
			({ status } = await proof.ask(operation, "often", { place, token: fixtures.insideToken }));
		if (status !== 429) proof.problem(operation, "often", `${status} is not 429`);
	}
	await ask(403, "getMe", { room_id }, token);
	fixtures.mediaServer.say("no object");
	await expect(409, "updateActivePeer", place, { hand: true });
	fixtures.mediaServer.say('{"isHandRaised":true}');
	fixtures.mediaServer.isLosing = true;
	await expect(504, "sendMessage", place, { message: "hello" });
	await expect(504, "mutePeer", place, { type: "audio", mute: true });
	await expect(504, "lowerHands", place, {});
	await expect(504, "updateActivePeer", place, { role: "host" });
	await expect(504, "removePeers", place, { peer_id: place.peer_id });
	await expect(504, "endRoom", place, {});
	fixtures.mediaServer.isLosing = false;
	await fixtures.client.send({
		method: "DELETE",
		target: `/v2/rooms/${room_id}`,
		token: fixtures.tokens.templates,
	});
	await ask(403, "getMe", { room_id }, token);
	fixtures.mediaServer.close();
	await expect(502, "getActivePeer", place);
	await expect(502, "sendMessage", place, { message: "hello" });
	await expect(502, "mutePeer", place, { type: "audio", mute: true });
	await expect(502, "mutePeers", place, { type: "audio" });
	await expect(502, "lowerHands", place, {});
	await expect(502, "updateActivePeer", place, { role: "host" });
	await expect(502, "removePeers", place, { peer_id: place.peer_id });
	await expect(502, "endRoom", place, {});
}

// The responder keeps entries of its event log for a second, and each later write drops a few.
async function proveGone(proof) {
	const operation = proof.operation("listEvents");
	const until = Date.now() + 20000;

	while (Date.now() < until) {
		await proof.fixtures.template();
		const answer = await proof.ask(operation, "after=0", { query: "after=0", place: {} });

		if (answer.status === 410) return;
	}
	proof.problem(operation, "after=0", "entries are not dropped");
}

async function proveTaken(proof, expect) {
	const { fixtures } = proof;
	const other = await fixtures.template();
	const template = {
		template_id: (await fixtures.template({ a: {}, b: {} })).id,
		role_name: "a",
	};
	const room = { room_id: (await fixtures.room()).id };
	const taken = await fixtures.room();
	const users = fixtures.tokens.templates;
	const used = await fixtures.template();

	await expect(409, "updateTemplate", template, { name: other.name });
	await expect(409, "patchTemplate", template, { name: other.name });
	await expect(409, "import", {}, { templates: [{ name: other.name }] });
	await expect(409, "putRole", template, { name: "b" });
	await expect(409, "patchRole", template, { name: "b" });
	await expect(409, "updateRoom", room, { name: taken.name });
	await expect(409, "patchRoom", room, { name: taken.name });
	await fixtures.make(users, "/v2/rooms", { template_id: used.id });
	await expect(409, "deleteTemplate", { template_id: used.id });

	const stored = { template_id: await fixtures.templateWithStorage() };

	for (let n = 0; n < TESTS_MOST; n++) await expect(200, "testSettings", stored);
	await expect(429, "testSettings", stored);
	await expect(409, "testSettings", template);
}

async function proveDisabled(proof, expect) {
	const { fixtures } = proof;
	const room = await fixtures.room();
	const place = { room_id: room.id, role: "host" };
	const code = await fixtures.code(room.id);

	await fixtures.make(fixtures.tokens.rooms, `/v2/rooms/${room.id}`, { enabled: false });
	for (const id of ["createRoomCodes", "listRoomCodes", "createRoomCode", "rotateRoomCode"])
		await expect(403, id, place);
	await expect(403, "createToken", {}, { code });
	await expect(403, "joinLivekit", { code }, {});
	await expect(403, "describeCode", { code });
}

async function proveDeletedRole(proof, expect) {
	const { fixtures } = proof;
	const token = fixtures.tokens.rooms;
	const roles = { host: {}, guest: {} };
	const template = await fixtures.make(token, "/v2/templates", { roles });
	const room = await fixtures.make(token, "/v2/rooms", { template_id: template.id });
	const code = await fixtures.code(room.id);

	await fixtures.make(token, `/v2/templates/${template.id}`, { roles: { guest: {} } });
	await expect(403, "switchRoomCode", {}, { code, enabled: true });
	await expect(403, "switchRoomCodeNamed", { code }, { enabled: true });
	await expect(403, "patchRoomCode", { code }, { enabled: true });
}

// The guest has no code, so a rotation would create one more.
async function proveFullRoom(proof, expect) {
	const { fixtures } = proof;
	const token = fixtures.tokens.rooms;
	const roles = { host: {}, guest: {} };
	const template = await fixtures.make(token, "/v2/templates", { roles });
	const room = await fixtures.make(token, "/v2/rooms", { template_id: template.id });
	const disabled = await fixtures.code(room.id);
	const target = `/v2/room-codes/code/${disabled}`;

	await fixtures.make(fixtures.tokens.rooms, target, { enabled: false });
	for (let n = 0; n < CODES_MOST; n++) await fixtures.code(room.id);
	await expect(409, "createRoomCode", { room_id: room.id, role: "host" });
	await expect(409, "switchRoomCode", {}, { code: disabled, enabled: true });
	await expect(409, "switchRoomCodeNamed", { code: disabled }, { enabled: true });
	await expect(409, "patchRoomCode", { code: disabled }, { enabled: true });
	await expect(409, "rotateRoomCode", { room_id: room.id, role: "guest" });
}

async function proveBulk(proof, expect) {
	const { fixtures } = proof;
	const room = await fixtures.room();
	const taken = await fixtures.room();
	const path = `/v2/rooms/${room.id}`;
	const one = (operation) => ({ operations: [{ method: "POST", ...operation }] });

	await expect(404, "bulk", {}, one({ path: "/v2/rooms/0123456789abcdef01234567" }));
	await expect(412, "bulk", {}, one({ path, if_match: '"0"' }));
	await expect(409, "bulk", {}, one({ path, body: { name: taken.name } }));
	await fixtures.make(fixtures.tokens.rooms, path, { enabled: false });
	await expect(403, "bulk", {}, one({ path: `/v2/room-codes/room/${room.id}` }));
}

async function proveJoining(proof, expect) {
	const { fixtures } = proof;

	fixtures.joined = undefined;
	await fixtures.join();
	const asked = { roomConfig: { agents: [{ agentName: "another" }] } };

	await expect(403, "joinLivekit", { code: fixtures.codeOfToken }, asked);
	await expect(403, "joinLivekit", { code: fixtures.codeOfToken }, { roomName: "another" });
	const away = { ...fixtures.livekit(), url: "ws://127.0.0.1:1", api_url: "http://127.0.0.1:1" };

	away.config.create_rooms = true;
	await fixtures.make(fixtures.tokens.rooms, "/v2/backends", { name: "away", default: true, ...away });
	await expect(502, "createToken", {}, { code: fixtures.codeOfToken });
	await expect(502, "joinBackend", {}, {});
	await expect(502, "joinLivekit", { code: fixtures.codeOfToken }, {});
	await fixtures.removeAll(fixtures.tokens.rooms, "/v2/backends", "id");
	await expect(404, "joinBackend", {}, {});
	await expect(409, "joinLivekit", { code: fixtures.codeOfToken }, {});
	await fixtures.make(fixtures.tokens.rooms, `/v2/room-codes/code/${fixtures.codeOfToken}`, {
		enabled: false,
	});
	await expect(403, "joinBackend", {}, {});
}

async function proveBackends(proof, expect) {
	const { fixtures } = proof;
	const place = { backend_id: await fixtures.backend() };
	const other = { name: "other", ...fixtures.livekit() };
	const galene = { name: "galene", type: "galene", url: "https://example.org/" };
	const settings = { backend: "a backend" };

	await fixtures.make(fixtures.tokens.rooms, "/v2/backends", other);
	await expect(409, "createBackend", {}, other);
	await expect(409, "replaceBackend", place, other);
	await expect(409, "patchBackend", place, { name: "other" });
	await expect(409, "moveBackendRooms", place);
	const janus = { name: "janus", type: "janus", url: "wss://example.org", config: { secret: "s" } };

	await expect(501, "testBackend", {
		backend_id: (await fixtures.make(fixtures.tokens.rooms, "/v2/backends", janus)).id,
	});
	const target = `/v2/backends/${place.backend_id}/test`;

	for (let n = 0; n < TESTS_MOST; n++)
		await fixtures.client.send({ method: "POST", target, token: fixtures.tokens.rooms });
	await expect(429, "testBackend", place);
	await fixtures.make(fixtures.tokens.rooms, "/v2/templates", { settings });
	await expect(409, "deleteBackend", place);

	const kid = await fixtures.signingKey("ES256");
	const { id } = await fixtures.make(fixtures.tokens.templates, "/v2/backends", galene);

	await expect(409, "deleteSigningKey", { kid });
	await fixtures.client.send({
		method: "DELETE",
		target: `/v2/backends/${id}`,
		token: fixtures.tokens.templates,
	});
}

// Too many signing keys, and too new ones; RSA keys come last.
async function proveSigningKeys(proof, expect) {
	const { fixtures } = proof;
	const token = fixtures.tokens.templates;

	await fixtures.signingKey("ES256");
	for (let n = 1; n < SIGNING_KEYS_MOST; n++) {
		const { kid } = await fixtures.make(token, "/v2/signing-keys", { alg: "ES256" });

		await expect(409, "activateSigningKey", { kid });
	}
	await expect(409, "createSigningKey", {}, { alg: "ES256" });
	for (let n = 0, status = 200; n <= RSA_KEYS_MOST && status === 200; n++) {
		const sent = { token, method: "POST", target: "/v2/signing-keys" };

		if (n % SIGNING_KEYS_MOST === 0) await fixtures.signingKey();
		({ status } = await fixtures.client.send({ ...sent, body: '{"alg":"RS256"}' }));
	}
	await expect(429, "createSigningKey", {}, { alg: "RS256" });
}

// An Idempotency-Key that was used for another request.
async function proveKeys(proof) {
	const { fixtures } = proof;
	const headers = { "Idempotency-Key": "used" };

	for (const token of Object.values(fixtures.tokens)) {
		await fixtures.client.send({
			method: "POST",
			target: "/v2/templates?first",
			token,
			body: "{}",
			headers,
		});
	}
	for (const operation of proof.operations) {
		if (!operation.responses["422"]) continue;
		const what = "with a key of another request";
		const place = await fixtures.once(operation);
		const answer = await proof.ask(operation, what, { place, headers, body: "null" });

		if (answer.status !== 422) proof.problem(operation, what, "unexpected response", answer);
	}
}

// With an API key that lacks all scopes that the document names.
async function proveScopes(proof) {
	const { fixtures } = proof;

	for (const operation of proof.operations) {
		const named = operation["x-scopes"] ?? [];

		if (named.length === 0) continue;
		const place = await fixtures.once(operation);
		const owner = operation.id === "getMe" ? fixtures.tokens.templates : fixtures.token(operation);
		const other = named.includes("events:read") ? "rooms:read" : "events:read";
		const { key } = await fixtures.key([other], owner);
		const what = "without its scope";
		const answer = await proof.ask(operation, what, { place, token: key, body: "{}" });
		const needs = answer.json?.details?.[0].replace("needs ", "");

		if (answer.status !== 403 || !named.includes(needs))
			proof.problem(operation, what, "unexpected response", answer);
	}
}

async function proveSessions(proof, expect) {
	const { fixtures } = proof;
	const ask = async (status, id, request) => {
		const operation = proof.operation(id);
		const what = `a session, to cause ${status}`;
		const answer = await proof.ask(operation, what, { place: {}, ...request });

		if (answer.status !== status) proof.problem(operation, what, "unexpected response", answer);
		return answer;
	};
	const body = JSON.stringify({ token: fixtures.tokens.templates });
	const headers = { "Anteroom-Console": "0" };
	const begun = await ask(204, "beginSession", { body });
	const [Cookie] = begun.headers["set-cookie"];

	await ask(200, "getSession", { token: undefined, headers: { Cookie } });
	await ask(403, "beginSession", { body, headers });
	await ask(403, "endSession", { token: undefined, headers: { ...headers, Cookie } });
	await ask(403, "getServiceMetrics", { token: fixtures.tokens.templates });
	await ask(403, "getServiceHistory", { token: fixtures.tokens.templates });
	for (let n = 0; n < MISSES_MOST; n++)
		await ask(401, "beginSession", { body: JSON.stringify({ token: "x" }) });
	await ask(429, "beginSession", { body });
}

async function proveManyWebhooks(proof, expect) {
	const { fixtures } = proof;
	const body = { url: "https://example.org/", enabled: false };
	const sent = await fixtures.delivery();

	await fixtures.make(fixtures.tokens.templates, `/v2/webhooks/${sent.webhook_id}`, body);
	await expect(409, "retryWebhookDelivery", sent);

	const place = { webhook_id: await fixtures.webhook() };

	for (let n = 0; n < TESTS_MOST; n++) await expect(200, "testWebhook", place);
	await expect(429, "testWebhook", place);
	for (let n = 1; n < WEBHOOKS_MOST; n++)
		await fixtures.make(fixtures.tokens.templates, "/v2/webhooks", body);
	await expect(409, "createWebhook", {}, body);
}

async function proveManyKeys(proof, expect) {
	const { fixtures } = proof;
	const body = { name: "a key", scopes: ["keys:write"] };

	await fixtures.key();
	for (let n = 1; n < KEYS_MOST; n++) await fixtures.make(fixtures.tokens.templates, "/v2/keys", body);
	await expect(409, "createKey", {}, body);
}

// Codes of the other account.
async function proveCodes(proof, expect) {
	const { fixtures } = proof;
	const { id } = await fixtures.room();
	const code = await fixtures.code(id);
	const room = { id, template_id: (await fixtures.template()).id };
	const body = { rooms: [room], room_codes: [{ code, room_id: id, role: "host" }] };

	for (let n = 0; n < MISSES_MOST; n++) await expect(409, "import", {}, body);
	await expect(429, "import", {}, body);
}

// Must come last: from now on, this address gets no join tokens.
async function proveMisses(proof, expect) {
	const unknown = { code: "no code" };

	await expect(404, "createToken", {}, unknown);
	await expect(404, "switchRoomCode", {}, { ...unknown, enabled: true });
	await expect(404, "describeCode", unknown);
	await expect(404, "joinLivekit", unknown, {});
	for (let n = 3; n < MISSES_MOST; n++) await expect(404, "createToken", {}, unknown);
	await expect(429, "createToken", {}, unknown);
	await expect(429, "joinLivekit", unknown, {});
	await expect(429, "describeCode", unknown);
}
