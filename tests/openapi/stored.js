// The named rules of operations: conditions that a schema cannot express because they depend on
// stored objects or on the query. Each rule is broken here by operations that have it.
//
// SPDX-License-Identifier: GPL-3.0-or-later
import { isRefusal } from "./proof.js";

const ABSENT = "0123456789abcdef01234567";
const PEER = "0a6e7c9e-97ad-8d1e-8b1c-5bb2d1a1c2ab";
const PAST = "2020-01-01T00:00:00Z";
const HOOK = "https://example.org";
const LONG = "z".repeat(250000);

function roles(count, role = {}) {
	return Object.fromEntries(Array.from({ length: count }, (_, n) => [`r${n}`, role]));
}

// rule: [operation, path parameters, body or query, pointer, token]
async function requests(fixtures) {
	const subscribing = (text) => ({ subscribeParams: { subscribeToRoles: [text] } });
	const room = { room_id: (await fixtures.room()).id };
	const full = { template_id: (await fixtures.template(roles(100))).id };
	const large = {
		template_id: (await fixtures.template(roles(100, subscribing("y".repeat(2400))))).id,
		role_name: "r0",
	};
	const upload = { type: "s3", location: LONG, prefix: "" };
	const streams = { rtmpDestinations: { a: { rtmpUrls: [] } }, hlsDestinations: {} };

	const segments = { hlsDestinations: { a: { numPlaylistSegments: 13 } } };
	const ofSegments = "/hlsDestinations/a/numPlaylistSegments";

	const livekit = fixtures.livekit();
	const signed = {
		name: "signed",
		type: "jitsi",
		url: "https://example.org/",
		config: { app_id: "a", alg: "RS256" },
	};
	const config = { app_id: "a", alg: "HS256", app_secret: "s".repeat(32) };
	const withoutKeys = fixtures.tokens.templates;

	await fixtures.signingKey();
	const jitsi = { ...signed, name: "not signed", config };
	const unsigned = {
		backend_id: (await fixtures.make(withoutKeys, "/v2/backends", jitsi)).id,
	};

	const pool = "of-livekit";

	await fixtures.make(withoutKeys, "/v2/backends", { ...livekit, name: "pooled", pool });

	const live = await fixtures.live();
	const webhook = { webhook_id: await fixtures.webhook({ url: HOOK, headers: { B: "b" } }) };

	for (let n = 0; n < 4000; n++)
		streams.hlsDestinations[`a-destination-of-a-long-name-${n}`] = {};
	const many = { template_id: await fixtures.templateOf(roles(100)) };
	const made = Array.from({ length: 101 }, (_, n) => [
		{ method: "POST", path: "/v2/rooms", ref: `r${n}`, body: many },
		{ method: "POST", path: `/v2/room-codes/room/{r${n}}` },
	]);
	const bulk = (...operations) => ({ operations });
	const tooLong = { recording: { upload: { ...upload, location: LONG.repeat(3) } } };
	const codeOfNoRoom = { code: "abc-defg-hij", room_id: ABSENT, role: "host" };

	return {
		bulkPaths: [
			["bulk", {}, bulk({ method: "GET", path: "/v2/rooms" }), "/operations/0/path"],
		],
		bulkRefs: [
			[
				"bulk",
				{},
				bulk({ method: "DELETE", path: "/v2/rooms/{a}" }),
				"/operations/0/path",
			],
		],
		bulkCodes: [["bulk", {}, bulk(...made.flat()), "/operations"]],
		type: [["listEvents", {}, "type=x", "type"]],
		direction: [["listEvents", {}, "after=1000000000&before=1", "before"]],
		times: [["listRooms", {}, "after=x", "after"]],
		search: ["listTemplates", "listTemplateSummaries", "listRooms", "listRoomSummaries"].map(
			(id) => [id, {}, "q=a&name_prefix=b", "q"],
		),
		backendExists: [
			["createTemplate", {}, { settings: { backend: "x" } }, "/settings/backend"],
			["updateTemplate", full, { settings: { backend: "x" } }, "/settings/backend"],
			["patchTemplate", full, { settings: { backend: "x" } }, "/settings/backend"],
			["replaceSettings", full, { backend: "x" }, "/settings/backend"],
			["patchSettings", full, { backend: "x" }, "/settings/backend"],
			[
				"import",
				{},
				{ templates: [{ settings: { backend: "x" } }] },
				"/templates/0/settings/backend",
			],
		],
		segments: [
			["createTemplate", {}, { destinations: segments }, `/destinations${ofSegments}`],
			["updateTemplate", full, { destinations: segments }, `/destinations${ofSegments}`],
			["patchTemplate", full, { destinations: segments }, `/destinations${ofSegments}`],
			["replaceDestinations", full, segments, ofSegments],
			["patchDestinations", full, segments, ofSegments],
		],
		recordedRole: [["replaceRecordings", full, [{ name: "a", role: "absent" }], "/0/role"]],
		activeKey: [
			["createBackend", {}, signed, "/config/alg", withoutKeys],
			["replaceBackend", unsigned, signed, "/config/alg", withoutKeys],
			["patchBackend", unsigned, { config: { alg: "RS256" } }, "/config/alg", withoutKeys],
		],
		keyExpiry: [
			["createKey", {}, { name: "a", scopes: ["keys:write"], expires_at: PAST }, "/expires_at"],
			["patchKey", { key_id: (await fixtures.key()).id }, { expires_at: PAST }, "/expires_at"],
		],
		keptHeaders: [
			["createWebhook", {}, { url: HOOK, headers: { A: "***" } }, "/headers/A"],
			["replaceWebhook", webhook, { url: HOOK, headers: { A: "***" } }, "/headers/A"],
			["patchWebhook", webhook, { headers: { A: "***" } }, "/headers/A"],
		],
		newServer: [
			[
				"replaceBackend",
				unsigned,
				{ ...jitsi, url: "https://example.net/", config: { ...config, app_secret: undefined } },
				"/config/app_secret",
				withoutKeys,
			],
			["patchBackend", unsigned, { url: "https://example.net/" }, "/config/app_secret", withoutKeys],
		],
		newPlace: [
			["replaceWebhook", webhook, { url: `${HOOK}.example`, headers: { B: "***" } }, "/headers"],
			["patchWebhook", webhook, { url: `${HOOK}.example` }, "/headers"],
		],
		typeStays: [
			["replaceBackend", unsigned, { name: "b", ...livekit }, "/type", withoutKeys],
			["patchBackend", unsigned, { type: "janus" }, "/type", withoutKeys],
		],
		poolType: [
			["createBackend", {}, { ...jitsi, name: "c", pool }, "/type", withoutKeys],
			["replaceBackend", unsigned, { ...jitsi, pool }, "/type", withoutKeys],
			["patchBackend", unsigned, { pool }, "/type", withoutKeys],
		],
		startOfKeys: [["listSigningKeys", {}, `start=${"A".repeat(43)}`, "start"]],
		startOfPeers: [["listLiveSessionPeers", live, `start=${PEER}`, "start"]],
		roleOfRoom: [
			["removePeers", live, { role: "absent" }, "/role"],
			["sendMessage", live, { message: "hello", role: "absent" }, "/role"],
		],
		bannedThings: [
			["createBan", {}, { user_id: "a", room_id: ABSENT }, "/room_id"],
			["createBan", {}, { code: "abc-defg-hij" }, "/code"],
		],
		sessionTimes: [["listLiveSessions", {}, "after=x", "after"]],
		usageDays: [["getUsage", {}, "after=2019-01-01", "after"]],
		startOfRoom: [["listRoomCodes", room, "start=abc-defg-hij", "start"]],
		templateExists: [
			...["createRoom", "updateRoom", "patchRoom"].map((id) => [
				id,
				room,
				{ template_id: ABSENT },
				"/template_id",
			]),
			["import", {}, { rooms: [{ template_id: ABSENT }] }, "/rooms/0/template_id"],
		],
		knownTimezone: [["getAttendance", live, "timezone=No%2FSuch_Zone", "timezone"]],
		importedRoom: [
			[
				"import",
				{},
				{ rooms: [{ template_id: full.template_id, size: 2501 }] },
				"/rooms/0/size",
			],
		],
		roomOfCode: [
			["import", {}, { room_codes: [codeOfNoRoom] }, "/room_codes/0/room_id"],
		],
		defaultTemplate: [
			["createRoom", {}, {}, "/template_id", await fixtures.withoutDefault()],
			["import", {}, { rooms: [{}] }, "/rooms/0/template_id"],
		],
		roleCount: [["putRole", { ...full, role_name: "another" }, {}, "/roles"]],
		roleName: [["putRole", { ...full, role_name: "a,b" }, {}, null]],
		templateSize: [
			["putRole", large, subscribing(LONG), "/roles"],
			["patchRole", large, subscribing(LONG), "/roles"],
			["replaceSettings", large, { recording: { upload } }, "/roles"],
			["patchSettings", large, { recording: { upload } }, "/roles"],
			["updateTemplate", large, { settings: { recording: { upload } } }, "/roles"],
			["patchTemplate", large, { settings: { recording: { upload } } }, "/roles"],
			["replaceDestinations", large, streams, "/roles"],
			["patchDestinations", large, streams, "/roles"],
			["import", {}, { templates: [{ settings: tooLong }] }, "/templates/0/roles"],
		],
		result: [
			[
				"patchSettings",
				full,
				{ recording: { upload: { type: "s3", prefix: "" } } },
				"/recording/upload/location",
			],
			["patchTemplate", full, { roles: { another: {} } }, "/roles"],
			["updateRoom", room, { size: 2501 }, "/size"],
			["patchRoom", room, { size: 2501 }, "/size"],
		],
	};
}

export async function proveStoredRules(proof) {
	const rows = await requests(proof.fixtures);

	for (const operation of proof.operations) {
		for (const { name } of operation["x-rules"] ?? []) {
			if (rows[name] === undefined)
				proof.problem(operation, name, "the test does not know this rule");
		}
	}
	for (const [rule, broken] of Object.entries(rows)) {
		for (const row of broken) await proveBroken(proof, rule, row);
		proof.brokenRules.add(rule);
	}
}

async function proveBroken(proof, rule, [id, place, sent, pointer, token]) {
	const operation = proof.operation(id);
	const request = typeof sent === "string" ? { query: sent } : { body: JSON.stringify(sent) };
	const answer = await proof.ask(operation, rule, {
		place,
		...request,
		...(token && { token }),
	});

	if (!operation["x-rules"]?.some(({ name }) => name === rule))
		proof.problem(operation, rule, "the operation does not have this rule");
	if (pointer === null ? answer.status !== 400 : !isRefusal(answer, pointer))
		proof.problem(operation, rule, "broken, but not rejected", answer);
}
