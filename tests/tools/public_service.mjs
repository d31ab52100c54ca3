// A stand-in for 100ms, from which fetch-100ms reads: it responds as the documentation of 100ms shows, with
// data as accounts have gathered it over the years. Prints its port.
//
//	node public_service.mjs TOKEN
//
// A token TOKEN-WAY gets a faulty response; `ways` lists them.
//
// SPDX-License-Identifier: GPL-3.0-or-later
import { createServer } from "node:http";

const TOKEN = process.argv[2];
const TEMPLATES = 130;
const ROOMS = 150;
const DISABLED = 5;
const MANY_CODES = 130;

const CUSTOMER = "627cdddff2e4e30487862ad1";
const YEAR_ONE = "0001-01-01T00:00:00Z";
// IDs of MongoDB: a time, five random bytes, and a counter.
const START = Date.UTC(2022, 5, 29);
const hex = (number, digits) => number.toString(16).padStart(digits, "0");
const idOf = (n) => hex(START / 1000 + n * 60, 8) + "d11d6db790" + hex(n, 6);
const timeOf = (n) => new Date(START + n * 60000 + 618).toISOString();

// Returns letters that are unique for the number.
function letters(n, count) {
	let text = "";

	for (let i = 0; i < count; i++, n = Math.floor(n / 26))
		text += String.fromCharCode("a".charCodeAt(0) + (n % 26));
	return text;
}
const oldCode = (n) => `${letters(n, 3)}-${letters(n + 7, 3)}-old`;
const newCode = (n) => `${letters(n, 3)}-${letters(n, 4)}-new`;

const role = (name, more) => ({
	name,
	publishParams: {
		allowed: ["audio", "video", "screen"],
		audio: { bitRate: 32, codec: "opus" },
		video: { bitRate: 300, codec: "vp8", frameRate: 30, width: 480, height: 360 },
		screen: { codec: "vp8", frameRate: 10, width: 1920, height: 1080 },
	},
	subscribeParams: { subscribeToRoles: ["host", "guest"], maxSubsBitRate: 3200 },
	permissions: { rtmpStreaming: true, hlsStreaming: true, browserRecording: true },
	priority: 1,
	maxPeerCount: 0,
	...more,
});
const templates = Array.from({ length: TEMPLATES }, (_, n) => ({
	id: idOf(n),
	name: `default_videoconf_${n}`,
	customerId: CUSTOMER,
	roles: { host: role("host"), guest: role("guest", { note: 'with "quotes", {braces} and \\' }) },
	settings: {
		region: "in",
		recording: null,
		roomState: { messageInterval: 5, sendPeerList: false, stopRoomStateOnJoin: true, enabled: false },
		retry: {},
	},
	// Large, so that the templates need more than one request body.
	destinations: { transcriptions: { text: "x".repeat(9000) } },
	createdAt: timeOf(n),
	updatedAt: "2022-09-07T11:31:33.23Z",
	_id: idOf(n),
	customer: CUSTOMER,
}));
const rooms = Array.from({ length: ROOMS }, (_, n) => ({
	id: idOf(1000 + n),
	name: n === 7 ? "a name that is none" : `room-${n}`,
	enabled: n >= DISABLED,
	description: "A ünicode [description]",
	customer: CUSTOMER,
	recording_source_template: n % 2 === 0,
	...(n % 2 === 1 && { recording: { enabled: false } }),
	template_id: idOf(n % TEMPLATES),
	template: `default_videoconf_${n % TEMPLATES}`,
	region: "in",
	created_at: timeOf(1000 + n),
	key: `${CUSTOMER}:room-${n}`,
	updated_at: YEAR_ONE,
}));

const codeOf = (room, code, name, enabled) => ({
	code,
	room_id: room,
	role: name,
	enabled,
	created_at: "2023-03-03T11:41:08.082Z",
	updated_at: "2023-03-14T15:54:20Z",
});
const codesOf = (id) => {
	const n = rooms.findIndex((room) => room.id === id);
	const codes = [
		codeOf(id, oldCode(n), "host", true),
		codeOf(id, newCode(n), "guest", n % 3 > 0),
		codeOf(id, newCode(1000 + n), "a role that is gone", false),
	];

	for (let i = 0; n === 20 && i < MANY_CODES; i++)
		codes.push(codeOf(id, newCode(2000 + i), "guest", i < 50));
	return codes;
};

function page(list, key, query, standard) {
	const limit = Math.min(Number(query.get("limit") ?? standard), 100);
	const start = query.get("start");
	const from = start === null ? 0 : list.findIndex((one) => one[key] === start) + 1;
	const data = list.slice(from, from + limit);

	return { limit, data: data.length > 0 ? data : null, last: data.at(-1)?.[key] ?? "" };
}

let requests = 0;

const id = idOf(1);
const item = { ...templates[1], destinations: {} };
const full = (n) => Array.from({ length: 100 }, (_, i) => ({ id: idOf(n * 100 + i), name: `t-${n}-${i}` }));
const SIGN_IN = "<!doctype html><title>Sign in</title><form></form>";
// For each way, page `n` (from 0) of the templates: an object, or a text. Rooms and codes are empty lists
// unless the way defines them.
const ways = {
	page: () => SIGN_IN,
	empty: () => "",
	object: () => ({}),
	array: () => [item],
	string: () => '"data"',
	"data-object": () => ({ limit: 100, data: { id }, last: id }),
	"data-text": () => ({ limit: 100, data: "none", last: "" }),
	"data-number": () => ({ limit: 100, data: 0, last: "" }),
	"data-false": () => ({ limit: 100, data: false, last: "" }),
	"data-items": () => ({ limit: 100, data: [7, "x"], last: "" }),
	"data-lists": () => ({ limit: 100, data: [[item]], last: "" }),
	"data-twice": () => `{"data":[],"data":{"id":"${id}"},"last":""}`,
	"data-deep": () => ({ result: { data: [item] } }),
	cut: () => '{"limit":100,"data":[{"id":"' + id + '"',
	two: () => '{"data":null,"last":""}{"data":null,"last":""}',
	trailing: () => '{"data":null,"last":""} and more',
	crossed: () => '{"data":[{"id":"x"]}}',
	"third-page": (n) => (n < 2 ? { limit: 100, data: full(n), last: idOf(n * 100 + 99) } : SIGN_IN),
	"third-object": (n) => (n < 2 ? { limit: 100, data: full(n), last: idOf(n * 100 + 99) } : {}),
	"third-no-last": (n) => (n < 2 ? { limit: 100, data: full(n), last: idOf(n * 100 + 99) } : { limit: 100, data: full(n) }),
	repeated: (n) => ({ limit: 100, data: full(n), last: id }),
	circle: (n) => ({ limit: 100, data: full(n), last: idOf(n % 3) }),
	"no-limit": (n) => ({ data: n < 3 ? full(n).slice(0, 20) : null, last: n < 3 ? idOf(n) : "" }),
	"too-high": (n) => ({ limit: 500, data: n < 3 ? full(n) : [], last: idOf(n) }),
	endless: (n) => ({ limit: 10, data: full(n).slice(0, 10), last: idOf(n + 1) }),
};
let turn = { way: "", pages: 0 };

function answerOutOfOrder(way, pathname) {
	if (turn.way !== way) turn = { way, pages: 0 };
	if (way === "again-later") return [429, { code: 429, message: "Too many requests" }, "0"];
	if (way === "later") return [429, { code: 429, message: "Too many requests" }, "7200"];
	if (way === "much-later") return [429, { code: 429, message: "Too many requests" }, "99999999999999999999"];
	if (pathname !== "/v2/templates") return [200, page([], "id", new URLSearchParams(), 10)];
	return [200, ways[way](turn.pages++)];
}

function answerTo(request) {
	const { pathname, searchParams: query } = new URL(request.url, "http://localhost");
	const codes = /^\/v2\/room-codes\/room\/([0-9a-f]{24})$/.exec(pathname);
	const room = codes && rooms.find(({ id }) => id === codes[1]);

	const way = request.headers.authorization?.split(`Bearer ${TOKEN}-`)[1];

	if (way in ways || /later$/.test(way)) return answerOutOfOrder(way, pathname);
	if (request.headers.authorization !== `Bearer ${TOKEN}`)
		return [401, { code: 401, message: "Token validation error" }];
	if (++requests % 90 === 0) return [429, { code: 429, message: "Too many requests" }];
	if (requests === 50) return [502, { message: "Bad gateway" }];
	if (pathname === "/v2/templates") return [200, page(templates, "id", query, 10)];
	if (pathname === "/v2/rooms") {
		const wanted = rooms.filter(({ enabled }) => String(enabled) === (query.get("enabled") ?? "true"));

		return [200, page(wanted, "id", query, 10)];
	}
	if (!room) return [404, { code: 404, message: "room not found" }];
	if (!room.enabled) return [403, { code: 403, message: "room is disabled" }];
	return [200, page(codesOf(room.id), "code", query, 20)];
}

const server = createServer((request, response) => {
	const [status, body, wait] = answerTo(request);
	// Indented, as the documentation shows it, or compact, as services send it.
	const text =
		typeof body === "string" ? body : JSON.stringify(body, null, requests % 2 === 0 ? 4 : 0);

	response.writeHead(status, {
		"Content-Type": "application/json",
		...(status === 429 && { "Retry-After": wait ?? "1" }),
	});
	response.end(text);
});

server.listen(0, "127.0.0.1", () => console.log(server.address().port));
