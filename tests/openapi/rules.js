// An independent copy of the schemas' named rules: each function gets an object that obeys its
// schema and yields the pointers of the members that break the rule, relative to the object. A rule
// of the document that is missing here fails the test.
//
// SPDX-License-Identifier: GPL-3.0-or-later
import { ROLE } from "./fixtures.js";

function* simulcastOrder({ layers }) {
	const places = (layers ?? []).map((layer) => "fhq".indexOf(layer.rid));

	for (let i = 0; i < places.length; i++) {
		if (i === 0 ? places[0] !== 0 : places[i] <= places[i - 1]) yield `/layers/${i}/rid`;
	}
}

function* simulcastScale({ layers }) {
	const scales = (layers ?? []).map((layer) => layer.scaleResolutionDownBy);

	for (let i = 0; i < scales.length; i++) {
		if (i === 0 ? scales[0] !== 1 : scales[i] <= scales[i - 1])
			yield `/layers/${i}/scaleResolutionDownBy`;
	}
}

function* layerSides({ width, height }) {
	if (width == null || height == null) return;
	if (Math.min(width, height) > 1080) yield width < height ? "/width" : "/height";
	if (Math.max(width, height) < 192) yield width < height ? "/height" : "/width";
}

/** A missing side has a fault of its own. */
function* pictureSize({ width, height }) {
	if (width == null || height == null) return;
	if (width >= height) {
		if (height > 1080) yield "/height";
		return;
	}
	if (width > 1080) yield "/width";
	if (height < 500) yield "/height";
}

function* streamAddresses({ rtmp_urls }) {
	for (const [i, url] of (rtmp_urls ?? []).entries())
		if (!/^rtmps?:\/\/[A-Za-z0-9._-]+(:[0-9]+)?(\/[!#-&(-[\]-~]*)?$/i.test(url ?? "rtmp://a")) yield `/rtmp_urls/${i}`;
}

function* layerOrder({ layers }) {
	let size = Infinity;
	let rate = Infinity;

	for (const [i, { width, height, videoBitrate }] of (layers ?? []).entries()) {
		if (width != null && height != null) {
			if (width * height > size) yield `/layers/${i}/width`;
			size = width * height;
		}
		if (videoBitrate != null) {
			if (videoBitrate > rate) yield `/layers/${i}/videoBitrate`;
			rate = videoBitrate;
		}
	}
}

function* layerSubset({ layers, recording }) {
	const agree = (a, b) =>
		Object.keys(a).every(
			(name) => a[name] == null || b[name] == null || a[name] === b[name],
		);

	if (!layers?.length) return;
	for (const [i, layer] of (recording?.layers ?? []).entries()) {
		if (!layers.some((other) => agree(layer, other))) yield `/recording/layers/${i}`;
	}
}

function* roomSize({ size, large_room }) {
	if (size > 2500 && large_room !== true) yield "/size";
}

function* roomWindow({ opens_at, closes_at }) {
	if (opens_at && closes_at && Date.parse(closes_at) <= Date.parse(opens_at)) yield "/closes_at";
}

function* expiryOrder({ not_before, expires_at }) {
	if (not_before && expires_at && Date.parse(expires_at) <= Date.parse(not_before))
		yield "/expires_at";
}

function* expiry({ not_before, expires_at, expires_in }) {
	const now = Date.now();

	yield* expiryOrder({ not_before, expires_at });
	if (expires_at && Date.parse(expires_at) <= now) yield "/expires_at";
	if (expires_in && expires_at) yield "/expires_in";
	else if (expires_in && not_before && now + expires_in * 1000 <= Date.parse(not_before))
		yield "/expires_in";
}

function* words({ code }) {
	const isWords = /^[a-z0-9]+(-[a-z0-9]+)*$/.test(code ?? "words");

	if (!isWords || /^[a-z]{3}-([a-z]{4}|[a-z]{3})-[a-z]{3}$/.test(code)) yield "/code";
}

const AHEAD_MOST = 60000;

// The rule for an object with an ID and two times.
function* times(object, ...members) {
	const latest = Date.now() + AHEAD_MOST;

	if (object.id && parseInt(object.id.slice(0, 8), 16) * 1000 > latest) yield "/id";
	for (const name of members) {
		const value = object[name] ?? "0001-01-01T00:00:00Z";
		const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(value);
		const time = Date.parse(value);

		if (!isTime || Number.isNaN(time) || time > latest) yield `/${name}`;
		else if (time < 0 && !value.startsWith("0001-")) yield `/${name}`;
	}
}

const templateTimes = (object) => times(object, "createdAt", "updatedAt");
const roomTimes = (object) => times(object, "created_at", "updated_at");
const codeTimes = (object) => times(object, "created_at", "updated_at");

function* codeForm({ code }) {
	if (!/^[a-z]{3}-([a-z]{4}|[a-z]{3})-[a-z]{3}$/.test(code)) yield "/code";
}

function* refs({ operations }) {
	const used = new Set();

	for (const [i, { ref }] of operations.entries()) {
		if (used.has(ref)) yield `/operations/${i}/ref`;
		if (ref != null) used.add(ref);
	}
}

const urls = {
	livekit: /^wss?:\/\/[^/:@?#][^/@?#]*(\/[^?#]*)?$/,
	jitsi: /^https:\/\/[^/:@?#][^/@?#]*\/([^?#]*\/)?$/,
	janus: /^wss?:\/\/[^/:@?#][^/@?#]*(\/[^?#]*)?$/,
	jwt: /^[^:]+:[^?#]+$/,
};
const configs = {
	livekit: { required: ["api_key"], secrets: ["api_secret"], optional: ["room_admin", "create_rooms"] },
	jitsi: { required: ["app_id", "alg"], secrets: [], optional: [] },
	janus: { required: [], secrets: ["secret"], optional: [] },
	jwt: { required: ["audience", "alg"], secrets: [], optional: [] },
};

function* backendUrl({ type, url, api_url }) {
	if (type && url && !urls[type].test(url)) yield "/url";
	if (!type || !api_url) return;
	if (type !== "livekit" || !/^https?:\/\/[^/:@?#][^/@?#]*(\/[^?#]*)?$/.test(api_url)) yield "/api_url";
}

// A patch may omit members that are stored.
function* backendConfig({ type, config }, _, isPatch) {
	if (!type) return;
	const { required, secrets, optional } = configs[type];

	for (const name of isPatch && config !== null ? [] : required)
		if (!(name in (config ?? {}))) yield `/config/${name}`;
	for (const name of Object.keys(config ?? {}))
		if (![...required, ...secrets, ...optional].includes(name)) yield `/config/${name}`;
}

function* backendSecrets({ type, config }) {
	if (!type) return;
	for (const name of configs[type].secrets)
		if (!(name in (config ?? {}))) yield `/config/${name}`;
}

function* sessionCredentials({ token, access_key, secret }) {
	for (const [name, value] of Object.entries({ access_key, secret })) {
		if ((token != null) === (value != null)) yield `/${name}`;
	}
}

function* peerOrRole({ peer_id, role }) {
	if (!peer_id && !role) yield "/peer_id";
}

// The names in camel case are read too.
function* participantAttributes({ participant_attributes, participantAttributes }) {
	const names = Object.keys(participant_attributes ?? participantAttributes ?? {});

	if (names.some((name) => /^(role|user_id|entry|code|consent)$|^(lk\.|anteroom)/.test(name)))
		yield "/participant_attributes";
}

function* admit({ admit }) {
	const isList = Array.isArray(admit) && admit.length <= 100;

	if (admit !== "all" && !(isList && admit.every((id) => typeof id === "string"))) yield "/admit";
}

function* banLength({ ban }) {
	const isLength = Number.isInteger(ban) && ban >= 1 && ban <= 315360000;

	if (ban != null && typeof ban !== "boolean" && !isLength) yield "/ban";
}

function* peerUpdate({ name, role, metadata, hand, door, consent, consent_text }) {
	const others = [metadata, hand, consent, consent_text];

	if (hand != null && metadata != null) yield "/metadata";
	if (!door && consent_text && consent == null) yield "/consent";
	if (door ? !role : !name && !role && others.every((one) => one == null)) yield "/role";
}

function* banSubject({ user_id, code }) {
	if (!user_id && !code) yield "/user_id";
	else if (user_id && code) yield "/code";
}

function* banExpiry({ expires_at, expires_in }) {
	if (expires_at && Date.parse(expires_at) <= Date.now()) yield "/expires_at";
	if (expires_in && expires_at) yield "/expires_in";
}

function* webhookUrl({ url }) {
	if (url == null) return;
	const isRight =
		/^https:\/\/(\[[^\]@]+\]|[^/?#@:[\]!$&'()*+,;=\s"<>\\^`{|}]+)(:\d{0,5})?([/?][^#\s"<>\\^`{|}]*)?$/i;

	if (!isRight.test(url) || /[^!-~]/.test(url)) yield "/url";
}

function* uploadEndpoint({ endpoint }) {
	const found = /^https?:\/\/[a-zA-Z0-9._:[\]-]+$/.exec(endpoint ?? "https://a");
	const port = /:(\d+)$/.exec((endpoint ?? "").replace(/\[.*\]/, "a"));

	if (endpoint && (!found || /:[^\d]|:\d*:/.test(endpoint.slice(8).replace(/\[.*\]/, "a")) ||
			 (port && (+port[1] < 1 || +port[1] > 65535))))
		yield "/endpoint";
}

function* webhookEvents({ events }) {
	for (const [i, event] of (events ?? []).entries()) {
		if (event !== "*" && !/^[a-z_]+(\.[a-z_]+){0,2}\.([a-z_]+|\*)$/.test(event))
			yield `/events/${i}`;
	}
}

function* webhookHeaders({ headers }) {
	const seen = new Set();
	const ours =
		/^(content-.*|webhook-.*|proxy-.*|host|user-agent|te|trailer|upgrade|expect|keep-alive|transfer-encoding|connection)$/;

	for (const name of Object.keys(headers ?? {})) {
		if (ours.test(name.toLowerCase()) || seen.has(name.toLowerCase()))
			yield `/headers/${name.replace(/~/g, "~0").replace(/\//g, "~1")}`;
		seen.add(name.toLowerCase());
	}
}

function* webhookSecret({ secret }) {
	if (secret == null) return;
	const text = /^whsec_([A-Za-z0-9+/]*={0,2})$/.exec(secret)?.[1];
	const size = text === undefined || text.length % 4 !== 0 ? 0 : Buffer.from(text, "base64").length;

	if (size < 24 || size > 64) yield "/secret";
}

function* key({ name }, entry) {
	if (entry !== undefined && name != null && name !== entry) yield "/name";
}

const rules = {
	simulcastOrder,
	simulcastScale,
	layerSides,
	pictureSize,
	streamAddresses,
	layerOrder,
	layerSubset,
	roomSize,
	roomWindow,
	expiry,
	expiryOrder,
	words,
	templateTimes,
	roomTimes,
	codeTimes,
	codeForm,
	backendUrl,
	backendConfig,
	backendSecrets,
	sessionCredentials,
	peerOrRole,
	participantAttributes,
	admit,
	banLength,
	peerUpdate,
	banSubject,
	banExpiry,
	webhookUrl,
	uploadEndpoint,
	webhookEvents,
	webhookHeaders,
	webhookSecret,
	refs,
	key,
};

// Rules that depend on the result of merging the object with the stored one.
const ofResults = {
	ImportedRoomInput: [{ name: "roomSize" }, { name: "roomWindow" }],
};

// Returns the names of all rules that a request can break.
export function namedRules(document) {
	const components = Object.entries(document.schemas).filter(([name]) =>
		/(Input|Patch|Update)$/.test(name),
	);
	const described = [...components.map(([, schema]) => schema), ...document.operations()];

	return new Set(described.flatMap((one) => (one["x-rules"] ?? []).map((rule) => rule.name)));
}

// Yields the pointers at which a value that obeys its schema breaks named rules, with the names of
// the rules.
export function* broken(values, schema, value, pointer = "", entry = undefined) {
	const seen = values.look(schema);

	if (value === null || typeof value !== "object" || seen.type === undefined) return;
	if (Array.isArray(value)) {
		for (const [i, item] of value.entries())
			yield* broken(values, seen.items, item, `${pointer}/${i}`);
		return;
	}
	for (const rule of [...(seen["x-rules"] ?? []), ...(ofResults[seen.component] ?? [])]) {
		if (!rules[rule.name])
			throw new Error(
				`${seen.component}: the rule ${rule.name} is unknown to the test`,
			);
		for (const below of rules[rule.name](value, entry, /Patch$/.test(seen.component)))
			yield { rule: rule.name, pointer: pointer + below };
	}
	for (const [name, member] of Object.entries(value)) {
		const below = seen.additionalProperties ?? seen.properties?.[name];

		if (below)
			yield* broken(
				values,
				below,
				member,
				`${pointer}/${name}`,
				seen.additionalProperties ? name : undefined,
			);
	}
}

// Bodies that break each rule of a schema at least once, by component (of requests and patches).
const WEBHOOKS = [
	{ url: "https://example.org/", events: ["room"] },
	{ url: "https://example.org/", events: ["room.a.b.c.d"] },
	{ url: "ftp://example.org/" },
	{ url: "https://example.org/", headers: { Host: "x" } },
	{ url: "https://example.org/", secret: `whsec_${"A".repeat(33)}` },
];

export const breaking = {
	UploadOptions: [{ endpoint: "s3.example.org" }, { endpoint: "https://example.org/path" }],
	Webhook: WEBHOOKS,
	PeerRemoval: [{}, { role: ROLE, ban: 0 }, { role: ROLE, ban: "x" }, { role: ROLE, ban: 315360001 }],
	PeerUpdate: [{}, { door: "ask" }],
	LivekitJoin: [
		...["role", "user_id", "entry", "code", "consent", "lk.", "lk.a", "anteroom", "anteroom.a"].map((name) => ({
			participant_attributes: { a: "b", [name]: "" },
		})),
		{ participantAttributes: { role: ROLE } },
	],
	Admission: ["ALL", "", 7, [7], ["x", null], { all: true }, Array(101).fill("x")].map((admit) => ({
		admit,
	})),
	SimulcastLayers: [
		{ layers: [{ rid: "h", scaleResolutionDownBy: 1, maxFramerate: 30 }] },
		{
			layers: [
				{ rid: "f", scaleResolutionDownBy: 1, maxFramerate: 30 },
				{ rid: "f", scaleResolutionDownBy: 2, maxFramerate: 30 },
			],
		},
		{ layers: [{ rid: "f", scaleResolutionDownBy: 1.5, maxFramerate: 30 }] },
		{
			layers: [
				{ rid: "f", scaleResolutionDownBy: 1, maxFramerate: 30 },
				{ rid: "h", scaleResolutionDownBy: 1, maxFramerate: 30 },
			],
		},
	],
	HlsLayer: [
		{ width: 1082, height: 1082 },
		{ width: 190, height: 190 },
	],
	HlsRecording: [{ layers: [{ videoBitrate: 1 }, {}, { videoBitrate: 2 }] }],
	HlsDestination: [
		{
			layers: [
				{ width: 640, height: 360 },
				{ width: 642, height: 360 },
			],
		},
		{ layers: [{ width: 640 }], recording: { layers: [{}, { width: 642 }] } },
		{ name: "another" },
	],
	Role: [{ name: "another" }],
	BrowserRecording: [{ name: "another" }],
	RtmpDestination: [{ name: "another" }],
	Room: [
		{ size: 2501 },
		{ size: 2501, large_room: false },
		{ opens_at: "2030-01-01T00:00:00Z", closes_at: "2030-01-01T00:00:00Z" },
	],
	ImportedTemplate: [
		{ id: "ffbbc84000000000000000a1" },
		{ updatedAt: "2990-01-01T00:00:00Z" },
		{ createdAt: "1969-12-31T23:59:59Z" },
	],
	ImportedRoom: [
		{ id: "ffbbc84000000000000000a1" },
		{ created_at: "2990-01-01T00:00:00Z" },
	],
	ImportedRoomCode: [
		{ code: "abcd-efg-hij", room_id: "x", role: "r" },
		{ code: "abc-def-ghi", room_id: "x", role: "r", created_at: "2990-01-01T00:00:00Z" },
	],
	Backend: [
		{ name: "b", type: "livekit", url: "https://h", config: { api_key: "k" } },
		{ name: "b", type: "livekit", url: "ws://h", config: { api_key: "k", app_id: "a" } },
	],
	BackendSetup: [
		{ name: "b", type: "janus", url: "ws://h" },
		{ name: "b", type: "jwt", url: "x:y", config: { alg: "ES256" } },
		{ name: "b", type: "janus", url: "ws://u@h", config: { secret: "s" } },
	],
	RoomCode: [
		{ not_before: "2030-01-01T00:00:00Z", expires_at: "2030-01-01T00:00:00Z" },
		{ expires_at: "2020-01-01T00:00:00Z" },
		{ not_before: "2990-01-01T00:00:00Z", expires_at: "2989-01-01T00:00:00Z" },
		{ not_before: "2990-01-01T00:00:00Z", expires_in: 1 },
		{ expires_in: 1, expires_at: "2990-01-01T00:00:00Z" },
		{ code: "two--hyphens" },
		{ code: "abc-defg-hij" },
	],
	BulkOperations: [
		{
			operations: [
				{ method: "POST", path: "/v2/rooms", ref: "a" },
				{ method: "POST", path: "/v2/rooms", ref: "a" },
			],
		},
	],
};

// Values that every schema allows, but a named rule always forbids.
export const needed = new Set([
	// Metadata and hand exclude each other.
	"updateActivePeer / all members",
	"/config null as object",
	"removePeers / what is required",
	"admitTickets /admit anything",
	"updateActivePeer / what is required",
]);

// Additional members that a member needs so that no rule forbids what its schema allows.
export const beside = {
	"Room.size": { large_room: true },
	"ImportedRoom.size": { large_room: true },
	"PeerRemoval.peer_id": { role: ROLE },
	"PeerRemoval.role": { peer_id: "x" },
	"PeerRemoval.reason": { role: ROLE },
	"PeerRemoval.ban": { role: ROLE },
	"PeerRemoval.door": { role: ROLE },
	"PeerUpdate.name": { role: ROLE },
	"PeerUpdate.role": { metadata: "" },
	"PeerUpdate.door": { role: ROLE },
	"PeerUpdate.consent_text": { consent: true },
};
