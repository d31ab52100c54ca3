// The event log of the account: what changed, who changed it, and when. The newest events come first; new
// events appear automatically. A row opens into the change.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { address, get } from "../lib/api.js";
import { announce, h, icon, put } from "../lib/dom.js";
import { label_of } from "../lib/labels.js";
import { set_query } from "../lib/router.js";
import { ago, clock, count_of, duration, moment, number } from "../lib/text.js";
import { busy, code_block, empty, page_head, sentence } from "../lib/ui.js";
import { LONGEST } from "./find.js";
import { may } from "./session.js";
import { shown_name } from "./title.js";

/**
 * @typedef {object} Entry
 * @property {number} seq
 * @property {string} id
 * @property {string} type
 * @property {string} timestamp
 * @property {{ kind: string, id: string }} actor
 * @property {string} request_id
 * @property {Record<string, any>} data
 */

const PATH = "/v2/events";
const EVERY = 4000;
const PAGE = 50;
const MOST = 100;
// Events that are examined for rare matches before the user is asked to go on.
const EXAMINED = 20000;
const PAUSE = 250;
const MINUTE = 60000;
const DAY = 24 * 60 * MINUTE;

/** The filters on offer; the address can contain any other type. @type {[string, string][]} */
const TYPES = [
	["", "All events"],
	["template.*", "Templates"],
	["role.*", "Roles"],
	["room.*", "Rooms"],
	["room_code.*", "Room codes"],
	["join.*", "Joins"],
	["session.*", "Sessions"],
	["peer.*", "People in rooms"],
	["peer.waiting", "People who asked to join"],
	["peer.admitted", "People admitted"],
	["peer.denied", "People denied"],
	["beam.*", "Recordings"],
	["hls.*", "Live streams"],
	["recording.*", "Pauses of recordings"],
	["recorder.*", "Recorders"],
	["ban.*", "Bans"],
	["webhook.*", "Webhooks"],
	["key.*", "API keys"],
	["backend.*", "Media servers"],
	["signing_key.*", "Signing keys"],
	["account.*", "Account"],
];

/** Times by the parameter `time`. @type {[string, string][]} */
const TIMES = [
	["", "Any time"],
	["hour", "Last hour"],
	["today", "Today"],
	["week", "Last 7 days"],
	["month", "Last 30 days"],
	["custom", "From … until"],
];

/**
 * Returns the newest events below a seq, newest first; 0 stands for the end of the log.
 * @param {number} before @param {string} type @param {number} limit @param {AbortSignal} signal
 */
export async function page_before(before, type, limit, signal) {
	const answer = await get(address(PATH, { before, type, limit }), signal);
	/** @type {Entry[]} */
	const data = answer.data ?? [];
	return { data, last: Number(answer.last) };
}

/**
 * Returns a seq above all events up to a time, by bisection; 0 if the time is now or later.
 * @param {number} time @param {AbortSignal} signal
 */
async function end_at(time, signal) {
	if (time >= Date.now()) return 0;
	let high = ((await page_before(0, "", 10, signal)).data[0]?.seq ?? 0) + 1;
	let low = 0;
	while (high - low > MOST) {
		const middle = Math.floor((low + high) / 2);
		const [newest] = (await page_before(middle, "", 10, signal)).data;
		if (newest && Date.parse(newest.timestamp) > time) high = middle;
		else low = middle;
	}
	return high;
}

/** @param {string} value of a field with a time */
const time_of = (value) => (value === "" ? Number.NaN : new Date(value).getTime());

/** @param {string} label @param {[string, string][]} options @param {string} value */
const select_of = (label, options, value) =>
	h(
		"select",
		{ "aria-label": label },
		options.map(([one, words]) => h("option", { value: one, selected: one === value }, words)),
	);

/** @type {import("../lib/router.js").Maker} */
export async function events_page(_, signal, query) {
	const asked = (/** @type {string} */ name) => query.get(name) ?? "";
	const type = asked("type");
	const known = TYPES.some(([value]) => value === type);
	const types = select_of("Event type", known ? TYPES : [...TYPES, [type, type]], type);
	const times = select_of(
		"Time",
		TIMES,
		asked("from") || asked("until") ? "custom" : asked("time"),
	);
	const field = (/** @type {string} */ label, /** @type {string} */ name) =>
		h("input", {
			type: "search",
			placeholder: label,
			"aria-label": label,
			value: asked(name),
			autocomplete: "off",
			spellcheck: "false",
		});
	const room = field("Room name or ID", "room");
	const person = field("Person, key or ID", "person");
	const time_field = (/** @type {string} */ label, /** @type {string} */ name) =>
		h("input", { type: "datetime-local", "aria-label": label, title: label, value: asked(name) });
	const [from, until] = [time_field("From", "from"), time_field("Until", "until")];
	const span = h("div.toolbar.span", null, from, h("span.quiet", null, "until"), until);
	const going = h("input.switch", { type: "checkbox", role: "switch", checked: true });
	const body = h("tbody", { id: "events" });
	const columns = ["Time", "Event", "Object", "By"];
	const head = h(
		"tr",
		null,
		columns.map((name) => h("th", { scope: "col" }, name)),
	);
	const table = h("table.list.events", null, h("thead", null, head), body);
	const state = h("p.list-state");
	const more = h(
		"button.small",
		{ type: "button", onclick: () => busy(more, older) },
		"Show older",
	);
	const foot = h("div.list-foot", null, state, more);
	const place = h("div.list-place", null, table, foot);

	/** The newest seq seen, and the oldest one examined. */
	let newest = 0;
	let reached = 0;
	let shown = 0;
	let done = false;
	// Counts the searches: the response to an older one is dropped.
	let turn = 0;
	/** The ID of the room that the filter names. */
	let room_id = "";

	/** Returns the first and the last time that the filters allow. */
	function bounds() {
		const now = Date.now();
		const midnight = new Date().setHours(0, 0, 0, 0);
		/** @type {Record<string, number>} */
		const starts = {
			hour: now - 60 * MINUTE,
			today: midnight,
			week: now - 7 * DAY,
			month: now - 30 * DAY,
			custom: time_of(from.value),
		};
		const start = starts[times.value] ?? Number.NaN;
		const end = times.value === "custom" ? time_of(until.value) : Number.NaN;
		return [Number.isNaN(start) ? 0 : start, Number.isNaN(end) ? Infinity : end];
	}
	const narrowed = () => [types, times, room, person].some((one) => one.value.trim() !== "");

	/** @param {Entry} entry */
	function fits({ data, actor }) {
		const wanted = room.value.trim().toLowerCase();
		const own = data.kind === "room" ? data.id : data.room_id;
		const name = data.kind === "room" ? data.name : data.room_name;
		const named = String(name ?? "").toLowerCase() === wanted;
		if (wanted && !named && (!own || (own !== room_id && own !== wanted))) return false;
		const who = person.value.trim().toLowerCase();
		const texts = [data.user_id, actor.id, actor.kind, who_of(actor), data.name];
		return (
			!who ||
			texts.some((one) =>
				String(one ?? "")
					.toLowerCase()
					.includes(who),
			)
		);
	}

	/** Searches anew, and stores the search in the address. */
	async function restart() {
		turn += 1;
		const mine = turn;
		const custom = times.value === "custom";
		span.hidden = !custom;
		set_query({
			type: types.value,
			time: custom ? "" : times.value,
			room: room.value,
			person: person.value,
			from: custom ? from.value : "",
			until: custom ? until.value : "",
		});
		newest ||= (await page_before(0, "", 10, signal)).data[0]?.seq ?? 0;
		room_id = await room_named(room.value.trim(), signal);
		const end = bounds()[1] ?? Infinity;
		const start = await end_at(end, signal);
		if (mine !== turn) return;
		put(body);
		shown = 0;
		done = false;
		reached = start;
		await older();
	}

	/** Loads older events until a page is full, the log ends, or enough were examined. */
	async function older() {
		const mine = turn;
		const [first = 0, end = Infinity] = bounds();
		const least = shown + PAGE;
		for (let examined = 0; !done && shown < least && examined < EXAMINED;) {
			const { data, last } = await page_before(reached, types.value, MOST, signal);
			if (mine !== turn) return;
			examined += reached === 0 ? data.length : reached - last;
			done = data.length === 0 && (last === reached || last === 0);
			const found = data.filter((one) => {
				const time = Date.parse(one.timestamp);
				return time >= first && time <= end && fits(one);
			});
			done ||= data.some((one) => Date.parse(one.timestamp) < first);
			newest = Math.max(newest, data[0]?.seq ?? 0);
			reached = last;
			done ||= reached <= 1;
			body.append(...found.map(row));
			shown += found.length;
			if (examined > MOST)
				put(state, `Searched ${number(examined)} events, found ${number(shown)}…`);
		}
		draw();
	}

	function draw() {
		more.hidden = done;
		more.textContent = shown === 0 ? "Search older events" : "Show older";
		put(state, count_of(shown, "event"), done ? "" : " shown");
		const nothing = shown === 0 && done;
		const text = narrowed()
			? "No events that are kept match these filters."
			: "Every change in this account is recorded here: what changed, who changed it, and when.";
		const title = narrowed() ? "No matching events" : "No events yet";
		put(place, nothing ? empty("events", title, text) : [table, foot]);
	}

	/** @type {ReturnType<typeof setTimeout> | undefined} */
	let timer;
	async function follow() {
		clearTimeout(timer);
		if (signal.aborted) return;
		if (going.checked && document.visibilityState === "visible") {
			try {
				const path = address(PATH, { after: newest, type: types.value, limit: MOST });
				const mine = turn;
				const { data, last } = await get(path, signal);
				if (mine === turn) add(data ?? [], Number(last));
			} catch (error) {
				if (signal.aborted) return;
				put(state, sentence(error), " Retrying…");
			}
		}
		timer = setTimeout(follow, EVERY);
	}
	/** Shows new events. @param {Entry[]} entries oldest first @param {number} last */
	function add(entries, last) {
		newest = Math.max(newest, last);
		const end = bounds()[1] ?? Infinity;
		const rows = entries
			.filter((one) => fits(one) && Date.parse(one.timestamp) <= end)
			.map(row)
			.reverse();
		if (rows.length === 0) return;
		for (const one of rows) one.classList.add("fresh");
		body.prepend(...rows);
		shown += rows.length;
		draw();
		announce(count_of(rows.length, "new event"));
	}
	const seen = () => document.visibilityState === "visible" && follow();
	document.addEventListener("visibilitychange", seen);
	signal.addEventListener("abort", () => {
		clearTimeout(timer);
		document.removeEventListener("visibilitychange", seen);
	});

	/** @type {ReturnType<typeof setTimeout> | undefined} */
	let waiting;
	const search = () => restart().catch((error) => !signal.aborted && put(state, sentence(error)));
	for (const one of [types, times, from, until]) one.addEventListener("change", search);
	for (const one of [room, person]) {
		one.addEventListener("input", () => {
			clearTimeout(waiting);
			waiting = setTimeout(search, PAUSE);
		});
	}
	await restart();
	timer = setTimeout(follow, EVERY);
	const page = page_head({
		title: "Events",
		about: ["Changes in this account, newest first."],
		actions: [h("label.labelled-switch", null, going, h("span", null, "Live"))],
	});
	const boxed = (/** @type {HTMLElement} */ one) => h("div.select", null, one, icon("down"));
	const bar = h("div.toolbar.filters", null, boxed(types), boxed(times), room, person);
	return { title: "Events", element: h("div.page", null, page, bar, span, place) };
}

/** Returns the ID of the room with a name, or with a title; "" if there is none. @param {string} name @param {AbortSignal} signal */
export async function room_named(name, signal) {
	if (!name || !may("rooms:read")) return "";
	const page = await get(address("/v2/rooms", { name, view: "summary" }), signal);
	if (page.data?.[0]) return page.data[0].id;
	const wanted = name.toLowerCase();
	const titled = await get(address("/v2/rooms", { q: name.slice(0, LONGEST), view: "summary" }), signal);
	return titled.data?.find((/** @type {any} */ one) => shown_name(one).toLowerCase() === wanted)?.id ?? "";
}

/** @type {Record<string, string>} */
const SYMBOLS = {
	template: "template",
	role: "person",
	room: "room",
	room_code: "key",
	webhook: "webhook",
	key: "key",
	backend: "media",
	signing_key: "key",
	account: "person",
	join: "out",
	session: "people",
	peer: "person",
	ban: "ban",
	beam: "media",
	hls: "media",
	recording: "media",
	recorder: "media",
};
/** @type {Record<string, string>} */
const ACTORS = {
	cli: "Command line",
	code: "Guest",
	key: "API key",
	service: "Anteroom",
	session: "Console",
	token: "Management token",
};

/** What the events of rooms in session and of media servers say, in words.
 * @type {Record<string, (data: Record<string, any>) => string>} */
const WORDS = {
	"session.open.success": () => "Session opened",
	"session.close.success": (data) => `Session closed after ${lasted(data.session_duration)}`,
	"session.deleted": () => "Session deleted",
	"peer.join.success": (data) => `Joined ${data.room_name}${as_role(data)}`,
	"peer.leave.success": (data) =>
		`Left ${data.room_name} after ${lasted(data.duration)}${because(data.cause)}${quoted(data.message)}`,
	"peer.waiting": (data) => `Waits to join ${data.room_name}${as_role(data)}`,
	"peer.admitted": (data) => `Admitted to ${data.room_name}${as_role(data)}`,
	"peer.denied": (data) => `Not admitted to ${data.room_name}${as_role(data)}${quoted(data.reason)}`,
	"role.change.success": (data) =>
		`Role in ${data.room_name} changed from ${data.previous_role || "none"} to ${data.role}`,
	"room.moved": (data) => `Moved from ${data.from} to ${data.to}${data.reason === "down" ? ", because the media server was down" : ""}`,
	"room.end.success": (data) =>
		`Ended for all${data.lock_room ? ", and locked" : ""}${quoted(data.reason)}`,
	"beam.started.success": () => "Recording began",
	"beam.stopped.success": (data) => `Recording stopped after ${lasted(data.duration)}: ${data.reason}`,
	"beam.recording.success": (data) => `File of ${lasted(data.duration)} is ready`,
	"beam.failure": (data) => `Recording failed: ${data.error_message}`,
	"hls.started.success": () => "Live stream began",
	"hls.stopped.success": (data) => `Live stream stopped after ${lasted(data.duration)}: ${data.reason}`,
	"hls.recording.success": (data) => `File of ${lasted(data.duration)} is ready`,
	"hls.failure": (data) => `Live stream failed: ${data.error_message}`,
	"recording.paused": () => "Recording paused",
	"recording.resumed": () => "Recording resumed",
	"recorder.lost": () => "Recorder is lost",
	"recorder.back": () => "Recorder is back",
	"ban.created": (data) => `Banned from ${banned_from(data)}${quoted(data.reason)}`,
	"ban.updated": (data) => `Ban from ${banned_from(data)} changed${quoted(data.reason)}`,
	"ban.deleted": (data) => `No longer banned from ${banned_from(data)}`,
	"backend.up": () => "Media server is up",
	"backend.down": (data) => `Media server is down${data.message ? `: ${data.message}` : ""}`,
};

/** Why somebody left, by the cause in the log; none if they chose to. @type {Record<string, string>} */
const CAUSES = {
	other_device: "joined again on another device",
	removed: "removed",
	banned: "banned",
	full: "the room or the role was full",
	not_admitted: "not admitted",
	ended: "the session was ended",
	signal: "the connection was lost",
	sip: "the call ended",
	media: "audio and video failed",
	server: "the media server ended it",
	unseen: "no longer there",
	moved: "the room was moved",
};

/** @param {any} seconds */
const lasted = (seconds) => duration(Number(seconds ?? 0)).toLowerCase();

/** @param {Record<string, any>} data */
const as_role = ({ role }) => (role ? ` as ${role}` : "");

/** @param {any} cause */
const because = (cause) => (CAUSES[cause] ? `: ${CAUSES[cause]}` : "");

/** Returns what somebody wrote, in quotation marks. @param {any} text */
const quoted = (text) => (text ? ` (“${text}”)` : "");

/** @param {Record<string, any>} data */
const banned_from = ({ room_id }) => (room_id ? "one room" : "all rooms");

/** Returns an event in words; "" if its type says enough. @param {Entry} entry */
const words_of = ({ type, data }) => WORDS[type]?.(data) ?? "";

/** @param {Entry["actor"]} actor */
export const who_of = ({ kind }) => ACTORS[kind] ?? kind;

/** Returns where a session is shown. @param {Record<string, any>} data */
const place_of = ({ session_id, room_id }) =>
	may("sessions:read") ? `sessions/${session_id}` : `rooms/${room_id}`;

/** Returns the page of the object; null if it has none or was deleted. @param {Entry} entry */
function target_of({ type, data }) {
	const [kind, verb] = type.split(".");
	if (kind === "ban") return may("bans:read") ? "/console/bans" : null;
	if (verb === "deleted") return null;
	if (data.session_id) return `/console/${place_of(data)}`;
	if (kind === "template") return `/console/templates/${data.id}`;
	if (kind === "role") {
		return `/console/templates/${data.template_id}/roles/${encodeURIComponent(data.role ?? data.name)}`;
	}
	if (kind === "room") return `/console/rooms/${data.kind === "room" ? data.id : data.room_id}`;
	if (data.room_id) return `/console/rooms/${data.room_id}`;
	if (kind === "webhook") return `/console/webhooks/${data.id}`;
	if (kind === "backend") return `/console/media/${data.id}`;
	return null;
}

/** Returns the name of the object of an event. @param {Entry} entry */
function object_of({ type, data }) {
	const [kind = ""] = type.split(".");
	if (kind === "peer" || data.kind === "peer") return data.name || data.user_id || "Someone";
	if (kind === "ban") return data.user_id || "A room code";
	if (data.kind === "session") return data.room_name || data.id;
	const name = data.name || data.role || data.id || kind.replace("_", " ");
	const with_role = data.role && data.name !== data.role && kind !== "role";
	return with_role ? [data.role, data.name].filter(Boolean).join(" ") : name;
}

/** Returns the path of a changed field in words. @param {string} pointer */
const field_words = (pointer) => pointer.split("/").slice(1).map(label_of).join(" › ");

/** Returns a reason: a word of the API, or what somebody wrote. @param {Entry} entry */
const reason_of = ({ type, data }) =>
	/^(ban|room)\.|^peer\.denied/.test(type) ? data.reason : data.reason?.replace(/_/g, " ");

/** Returns the change in words: a list of names and values. @param {Entry} entry */
function change_of(entry) {
	const { data, actor } = entry;
	const changed = (data.changed ?? []).map(field_words);
	/** @type {[string, any][]} */
	const facts = [
		["When", moment(entry.timestamp, true)],
		["By", [who_of(actor), actor.id && h("span.mono.break", null, ` ${actor.id}`)]],
		[
			"Changed",
			changed.length > 0 &&
				h(
					"ul.rules",
					null,
					changed.map((/** @type {string} */ one) => h("li", null, one)),
				),
		],
		["What", words_of(entry)],
		["Formerly", data.old_role ?? data.previous_role],
		["Reason", reason_of(entry)],
		["Person", data.user_id],
		["Role", data.role],
		["Room", data.room_id && [data.room_name, " ", h("span.mono", null, data.room_id)]],
		["ID", data.id && h("span.mono.break", null, data.id)],
		["Request", entry.request_id && h("span.mono.break", null, entry.request_id)],
	];
	const lines = facts
		.filter(([, value]) => Boolean(value))
		.map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value)));
	const href = target_of(entry);
	return h(
		"div.event-change",
		null,
		h("dl.facts", null, lines),
		href && h("a", { href }, `Open ${object_of(entry)}`),
		h(
			"details.fold",
			null,
			h("summary", null, icon("next"), "Event as JSON"),
			code_block(JSON.stringify(entry, null, 2), `Event ${entry.seq}`),
		),
	);
}

/** Returns the row of an event; its button opens the change below it. @param {Entry} entry */
export function row(entry) {
	const { data } = entry;
	const [kind = "", ...verbs] = entry.type.split(".");
	const bad = verbs.some((one) => ["deleted", "refused", "disabled", "down"].includes(one));
	const words = object_of(entry);
	const told = words_of(entry);
	const href = target_of(entry);
	const changed = (data.changed ?? []).slice(0, 3).map(field_words).join(", ");
	const rest = (data.changed ?? []).length - 3;
	/** @type {HTMLElement | null} */
	let detail = null;
	const button = h(
		"button.event-type",
		{
			type: "button",
			class: bad ? "bad" : "",
			"aria-expanded": "false",
			"aria-label": `${entry.type} ${words}, event ${entry.seq}`,
			onclick() {
				const open = detail === null;
				button.setAttribute("aria-expanded", String(open));
				detail?.remove();
				detail = open ? h("tr.detail", null, h("td", { colspan: "4" }, change_of(entry))) : null;
				if (detail) line.after(detail);
			},
		},
		icon(SYMBOLS[kind] ?? "events"),
		h(
			"span",
			null,
			kind,
			verbs.map((one) => [".", h("wbr"), one]),
		),
	);
	const line = h(
		"tr",
		null,
		h(
			"td",
			{ "data-label": "Time" },
			h(
				"span.event-time",
				null,
				ago(entry.timestamp),
				h("span.note", null, clock(Date.parse(entry.timestamp))),
			),
		),
		h("td", { "data-label": "Event" }, button),
		h(
			"td",
			{ "data-label": "Object" },
			href ? h("a.row-name", { href }, words) : h("span.row-name", null, words),
			changed && h("span.note", null, changed, rest > 0 && ` +${rest}`),
			told && h("span.note", null, told),
			data.user_id && data.user_id !== words && h("span.note", null, data.user_id),
			data.reason && !told && h("span.note", null, reason_of(entry)),
		),
		h(
			"td",
			{ "data-label": "By" },
			h("span.quiet", { title: entry.actor.id || null }, who_of(entry.actor)),
		),
	);
	return line;
}
