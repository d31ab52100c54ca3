// Recordings and streams: the list of an account, a room or a session; one of them with its files, to play, download,
// link and delete; what starts and stops a recording in a live room; and the recorders.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { address, call, get, segment } from "../lib/api.js";
import { h, icon, put } from "../lib/dom.js";
import { plays } from "../lib/media.js";
import { poll } from "../lib/poll.js";
import { set_query } from "../lib/router.js";
import { renew_times, set_text } from "../lib/rows.js";
import { ago, bytes, duration, moment } from "../lib/text.js";
import { busy, confirm_with, copy_button, dialog, empty, menu, page_head, remove_with, sentence, show_call, toast } from "../lib/ui.js";
import { put_once, table_of } from "./inside.js";
import { newest } from "./newest.js";
import { may } from "./session.js";
import { room_name, room_names } from "./sessions.js";

/** @typedef {"starting" | "running" | "stopping" | "post_processing" | "completed" | "failed"} Status */
/** A file of a recording.
 * @typedef {{ id: string, type: "room-composite" | "chat", path: string, duration: number, size: number, status: "completed" | "missing",
 *   created_at: string, metadata: { resolution?: { height: number, width: number }, gaps?: { at_ms: number, missing_ms: number }[] } }} Asset */
/** @typedef {"recording" | "live" | "external"} Type */
/** @typedef {{ url: string, state: "connecting" | "live" | "failed", since: string, error: string }} Output */
/**
 * @typedef {object} Recording
 * @property {string} id
 * @property {Type} type
 * @property {{ url: string }} [playback]
 * @property {Output[]} [outputs]
 * @property {string} room_id
 * @property {string} session_id
 * @property {string} room_name
 * @property {Status} status
 * @property {boolean} paused
 * @property {string | null} interrupted_since
 * @property {string} created_at
 * @property {string | null} started_at
 * @property {string | null} stopped_at
 * @property {number} recorded_seconds
 * @property {number} gaps
 * @property {string} destination
 * @property {string} reason
 * @property {string} error
 * @property {string[]} not_enforced
 * @property {Asset[] | null} [recording_assets]
 */

const PATH = "/v2/recordings";
const LIMIT = 25;
const FEW = 10;
const DAY = 86400;
/** How long a link is valid, in words and seconds. @type {[string, number][]} */
const LINKS = [
	["1 hour", 3600],
	["1 day", DAY],
	["7 days", 7 * DAY],
];
/** @type {Record<Status, string>} */
const STATUSES = {
	starting: "Starting",
	running: "Recording",
	stopping: "Stopping",
	post_processing: "Being saved",
	completed: "Saved",
	failed: "Failed",
};
/** @type {Record<string, string>} */
const STATES_OF_RECORDERS = { free: "Free", busy: "Recording", full: "Full", draining: "Takes nothing new", lost: "Not reachable" };
const ENDED = ["completed", "failed"];
/** What the page lists, and what it says of one. @type {Record<Type, { path: string, all: string, one: string, noun: string, running: string, completed: string, none: string }>} */
const TYPES = {
	recording: { path: PATH, all: "Recordings", one: "Recording", noun: "recording", running: STATUSES.running, completed: STATUSES.completed, none: "A recording begins when somebody who may presses Record in a call, or here, on the page of a room." },
	live: { path: "/v2/live-streams", all: "Live streams", one: "Live stream", noun: "live stream", running: "Streaming", completed: "Ended", none: "A live stream is played by anybody who has its address, some seconds later." },
	external: { path: "/v2/external-streams", all: "External streams", one: "External stream", noun: "external stream", running: "Streaming", completed: "Ended", none: "An external stream is sent to RTMP servers, such as those of video platforms." },
};
/** @type {Record<Output["state"], string>} */
const OUTPUT_STATES = { connecting: "Connecting", live: "Live", failed: "Given up" };
/** @param {string | null | undefined} word @returns {Type} */
const type_of = (word) => (word === "live" || word === "external" ? word : "recording");

const is_running = (/** @type {Recording} */ one) => ["starting", "running"].includes(one.status);
/** @param {Recording} one */
function state_words(one) {
	const { running, completed } = TYPES[type_of(one.type)];
	if (one.status !== "running") return one.status === "completed" ? completed : STATUSES[one.status];
	return one.interrupted_since ? "Interrupted" : one.paused ? "Paused" : running;
}
/** Returns when it began, or was to begin. @param {Recording} one */
const began = (one) => one.started_at ?? one.created_at;
/** @param {Recording} one */
const name_of = (one) => room_name(one.room_id) || one.room_name || "Deleted room";
const path_of_room = (/** @type {string} */ room, /** @type {string} */ act) => `${PATH}/room/${segment(room)}/${act}`;

/** Sets a badge to the state of a recording. @param {HTMLElement} badge @param {Recording} one */
function draw_badge(badge, one) {
	set_text(badge, state_words(one));
	badge.classList.toggle("accent", is_running(one) && !one.interrupted_since);
	badge.classList.toggle("off", one.status === "failed" || Boolean(one.interrupted_since));
}

/** @param {boolean} of_room true to leave out the room */
const recording_row = (of_room) => (/** @type {Recording} */ first) => {
	const name = h("span.row-name");
	const badge = h("span.badge");
	const length = h("td", { "data-label": "Length" });
	const when = h("span.row-name", null, moment(began(first)));
	const link = (/** @type {Node} */ words) => h("a.row-link", { href: address(`/console/recordings/${first.id}`, { type: type_of(first.type) === "recording" ? "" : first.type }) }, words);
	const element = h(
		"tr",
		null,
		!of_room && h("td", { "data-label": "Room" }, link(name)),
		h("td", { "data-label": "Started" }, h("span", null, of_room ? link(when) : moment(began(first)), h("span.note", null, ago(began(first))))),
		length,
		h("td", { "data-label": "State" }, badge),
	);
	return {
		element,
		/** @param {Recording} one */
		update(one) {
			set_text(name, name_of(one));
			set_text(length, one.started_at ? duration(one.recorded_seconds) : "–");
			draw_badge(badge, one);
		},
	};
};

/** @param {{ type?: () => Type, query: () => Record<string, any>, of_room: boolean, none: () => HTMLElement, signal: AbortSignal }} what */
const recording_list = ({ type = () => "recording", query, of_room, none, signal }) =>
	newest({
		path: () => TYPES[type()].path,
		kind: "recordings",
		noun: "recording",
		label: "Recordings",
		columns: ["Room", "Started", "Length", "State"].slice(of_room ? 1 : 0),
		limit: of_room ? FEW : LIMIT,
		query,
		row: recording_row(of_room),
		prepare: async (found) => of_room || (await room_names(found, signal)),
		none,
		signal,
	});

/**
 * Creates the section with the recordings of a room or a session, which fills itself. In a room that has one, it has
 * what starts, pauses and stops one.
 * @param {{ room_id: string, session_id?: string }} of @param {AbortSignal} signal
 */
export function recordings_section({ room_id, session_id }, signal) {
	const of_session = session_id !== undefined;
	const actions = h("div.actions");
	const none = () =>
		empty("record", "No recordings", of_session ? "Nothing was recorded in this session." : "A recording is made of everybody in the call, by a recorder that this server has.");
	const list = recording_list({ query: () => (of_session ? { session_id } : { room_id }), of_room: true, none, signal });
	/** @type {Recording | undefined} */
	let open;
	let drawn = "";
	function draw() {
		open = list.items().find(is_running);
		const now = JSON.stringify([open?.id, open?.status, open?.paused]);
		if (of_session || !may("recordings:write") || drawn === now) return;
		drawn = now;
		const had_focus = actions.contains(document.activeElement);
		const button = (/** @type {string} */ symbol, /** @type {string} */ words, /** @type {string} */ act, /** @type {string} */ done) => {
			const made = h("button", { type: "button" }, icon(symbol), words);
			made.addEventListener("click", () =>
				busy(made, async () => {
					await call("POST", path_of_room(room_id, act), { body: {} });
					toast(done);
					await list.restart();
					draw();
				}),
			);
			return made;
		};
		const buttons = !open
			? [button("record", "Start recording", "start", "Recording started. Everyone inside is told.")]
			: [
					open.status === "running" && (open.paused ? button("record", "Resume recording", "resume", "Recording resumed.") : button("pause", "Pause recording", "pause", "Recording paused.")),
					button("stop", "Stop recording", "stop", "Recording stopped."),
				];
		put(actions, buttons);
		if (had_focus) actions.querySelector("button")?.focus();
	}
	async function follow() {
		await list.restart();
		draw();
	}
	follow().catch(list.failed);
	poll(follow, signal, list.failed);
	return h(
		"section",
		{ "aria-labelledby": "recordings" },
		h("div.toolbar.between", null, h("h2.section-title", { id: "recordings" }, "Recordings"), actions),
		list.element,
	);
}

/** @type {[string, string][]} */
const FILTERS = [
	["", "All recordings"],
	["running", "Recording now"],
	["completed", "Saved"],
	["failed", "Failed"],
];

/** The recorders that may record for this account. @param {AbortSignal} signal */
function recorders_section(signal) {
	const place = h("div.list-place");
	const body = h("tbody");
	const table = table_of(["Recorder", "State"], body, "Recorders");
	async function follow() {
		const { data } = await get("/v2/recorders", signal);
		put(
			body,
			data.map((/** @type {{ name: string, state: string }} */ one) =>
				h("tr", null, h("td", { "data-label": "Recorder" }, h("span.row-name", null, one.name)), h("td", { "data-label": "State" }, h("span.badge", { class: one.state === "lost" ? "off" : one.state === "busy" ? "accent" : "" }, STATES_OF_RECORDERS[one.state] ?? one.state))),
			),
		);
		if (data.length > 0) put_once(place, table);
		else put(place, empty("record", "No recorder has reported", "A recorder is a program beside a browser, on a machine of its own or on this one: anteroom-record(8) says how to set one up."));
	}
	/** @param {unknown} error */
	const failed = (error) => signal.aborted || put(place, h("p.list-foot", null, `${sentence(error)} Retrying…`));
	follow().catch(failed);
	poll(follow, signal, failed);
	return h("section", { "aria-labelledby": "recorders" }, h("h2.section-title", { id: "recorders" }, "Recorders"), place);
}

/** @type {import("../lib/router.js").Maker} */
export async function recordings_page(_, signal, query) {
	const types = h("select", { "aria-label": "Type" }, Object.entries(TYPES).map(([value, { all }]) => h("option", { value }, all)));
	types.value = type_of(query.get("type"));
	const type = () => type_of(types.value);
	const states = h("select", { "aria-label": "State" }, FILTERS.map(([value, words]) => h("option", { value }, words)));
	states.value = query.get("status") ?? "";
	if (states.selectedIndex < 0) states.value = "";
	const none = () =>
		states.value === ""
			? empty("record", `No ${TYPES[type()].noun}s`, TYPES[type()].none)
			: empty("record", `No ${TYPES[type()].noun}s`, `No ${TYPES[type()].noun} has this state.`);
	const list = recording_list({ type, query: () => ({ status: states.value }), of_room: false, none, signal });
	for (const select of [types, states])
		select.addEventListener("change", () => {
			set_query({ type: type() === "recording" ? "" : type(), status: states.value });
			list.restart().catch(list.failed);
		});
	await list.restart();
	poll(list.restart, signal, list.failed);
	return {
		title: "Recordings",
		element: h(
			"div.page",
			null,
			page_head({ title: "Recordings", about: ["What was recorded and streamed in your rooms, newest first."] }),
			h("div.toolbar.filters", null, h("div.select", null, types, icon("down")), h("div.select", null, states, icon("down"))),
			list.element,
			recorders_section(signal),
		),
	};
}

/** Returns a link to a file. @param {Asset} one @param {number} [seconds] @param {boolean} [inline] */
async function link_of(one, seconds, inline = false) {
	const query = { presign_duration: seconds ?? "", inline: inline ? "1" : "" };
	return (await get(address(`/v2/recording-assets/${segment(one.id)}/presigned-url`, query))).url;
}

/** @param {Asset} one @param {string} words */
async function show_link(one, words) {
	const [, seconds] = LINKS.find(([name]) => name === words) ?? [];
	const url = await link_of(one, seconds);
	dialog("Link", [
		h("p", null, `Anyone with this link can download the file for ${words}.`),
		h("div.code-block", null, h("pre", { tabindex: "0" }, url), copy_button(url, "Copy link")),
	]);
}

/** @param {Asset} one @param {() => void} removed */
function asset_element(one, removed) {
	const is_video = one.type === "room-composite";
	const { resolution, gaps = [] } = one.metadata ?? {};
	const missing = Math.round(gaps.reduce((sum, gap) => sum + gap.missing_ms, 0) / 1000);
	const kind = !is_video ? "Chat" : resolution ? `Video, ${resolution.width} × ${resolution.height}` : "Sound";
	const about = [is_video && duration(one.duration), bytes(one.size), missing > 0 && `${missing} s are missing in ${gaps.length === 1 ? "one place" : `${gaps.length} places`}`];
	const player = h("div");
	const play = h("button.primary", { type: "button" }, icon("play"), "Play");
	play.addEventListener("click", () =>
		busy(play, async () => {
			const src = await link_of(one, undefined, true);
			if (!plays(src)) return void open(src, "_blank", "noopener");
			const video = h("video.recording-player", { controls: true, autoplay: true, src, "aria-label": kind });
			put(player, video);
			video.focus();
		}),
	);
	const download = h("button", { type: "button" }, icon("download"), "Download");
	download.addEventListener("click", () => busy(download, async () => location.assign(await link_of(one))));
	const path = `/v2/recording-assets/${segment(one.id)}`;
	const remove = () =>
		remove_with({ kind: "File", title: "Delete this file?", text: "The file is deleted, and every link to it stops working. It cannot be undone.", verb: "Delete file" }, async () => {
			await call("DELETE", path);
			removed();
		});
	const failed = (/** @type {unknown} */ error) => toast(sentence(error), "bad");
	const is_there = one.status === "completed";
	return h(
		"li.recording-file",
		null,
		h(
			"div.toolbar.between",
			null,
			h("span", null, h("span.row-name", null, kind), h("span.note", null, about.filter(Boolean).join(" · "))),
			h(
				"div.actions",
				null,
				!is_there && h("span.badge.off", null, "The file no longer exists"),
				is_there && is_video && play,
				is_there && download,
				menu("File actions", [
					...(is_there ? LINKS.map(([words]) => ({ symbol: "link", words: `Link for ${words}`, action: () => show_link(one, words).catch(failed) })) : []),
					{ symbol: "terminal", words: "Show API request", action: () => show_call("GET", path) },
					may("recordings:write") && { symbol: "trash", words: "Delete file", danger: true, action: remove },
				]),
			),
		),
		player,
	);
}

/** Why a recording has ended, in words. @type {Record<string, string>} */
const REASONS = {
	"client request": "Somebody stopped it.",
	"room ended": "The room was ended.",
	"last peer left": "Everybody had left.",
	"max duration reached": "It had reached its longest duration.",
	"no space left": "The space was used up.",
	"failure: NO_RECORDER": "No recorder was free.",
	"failure: MAX_RETRIES_REACHED": "No recorder could record the room.",
	"failure: UPLOAD_ERROR": "The files could not be sent.",
	"failure: BEAM_STOPPED": "It was stopped before it began.",
	"failure: INTERNAL_ERROR": "The recorder was lost.",
};

/** @type {import("../lib/router.js").Maker} */
export async function recording_page({ id = "" }, signal, query) {
	const type = type_of(query.get("type"));
	const { one: kind, noun } = TYPES[type];
	const path = `${TYPES[type].path}/${segment(id)}`;
	/** @type {Recording} */
	let recording = await get(path, signal);
	await room_names([recording], signal);
	const badge = h("span.badge");
	const actions = h("div.actions");
	const facts = h("dl.facts");
	const files = h("ul.recording-files");
	const place = h("div");
	let drawn = "";
	let listed = "";

	const act = (/** @type {string} */ url, /** @type {string} */ done) => async () => {
		try {
			await call("POST", url, { body: {} });
			toast(done);
			await follow();
		} catch (error) {
			toast(sentence(error), "bad");
		}
	};
	async function stop() {
		if (await confirm_with(`Stop this ${noun}?`, type === "recording" ? "What was recorded so far is saved." : "Nobody can follow the call there any more.", `Stop ${noun}`)) await act(`${path}/stop`, `${kind} stopped.`)();
	}
	function draw() {
		draw_badge(badge, recording);
		const now = JSON.stringify(recording);
		if (now === drawn) return;
		drawn = now;
		const { room_id, paused } = recording;
		/** @type {[string, string | HTMLElement | false][]} */
		const rows = [
			["Room", h("a", { href: `/console/rooms/${room_id}` }, name_of(recording))],
			["Session", h("a", { href: `/console/sessions/${recording.session_id}` }, recording.session_id)],
			["Length", recording.started_at !== null && duration(recording.recorded_seconds)],
			["Ended", recording.stopped_at !== null && moment(recording.stopped_at)],
			["Why it ended", recording.reason !== "" && (REASONS[recording.reason] ?? recording.reason)],
			["Error", recording.error !== "" && recording.error],
			["Destination", recording.destination !== "" && recording.destination],
			["Playlist", recording.playback !== undefined && h("span", null, recording.playback.url, " ", copy_button(recording.playback.url, "Copy address of the playlist"))],
			...(recording.outputs ?? []).map((/** @type {Output} */ one) => /** @type {[string, string]} */ ([one.url, [OUTPUT_STATES[one.state], one.error].filter(Boolean).join(": ")])),
			["Interruptions and pauses", recording.gaps > 0 && String(recording.gaps)],
			["Not done as the template says", recording.not_enforced.length > 0 && recording.not_enforced.join(", ")],
		];
		put(facts, rows.map(([name, value]) => value !== false && h("div", null, h("dt", null, name), h("dd", null, value))));
		const is_open = is_running(recording) && may("recordings:write");
		put(
			actions,
			is_open && type === "recording" && recording.status === "running" && h("button", { type: "button", onclick: act(path_of_room(room_id, paused ? "resume" : "pause"), paused ? "Recording resumed." : "Recording paused.") }, icon(paused ? "record" : "pause"), paused ? "Resume recording" : "Pause recording"),
			is_open && h("button", { type: "button", onclick: stop }, icon("stop"), `Stop ${noun}`),
			menu(`${kind} actions`, [{ symbol: "terminal", words: "Show API request", action: () => show_call("GET", path) }]),
		);
		const all = recording.recording_assets ?? [];
		// What is played stays as it is.
		const files_now = JSON.stringify(all);
		if (files_now !== listed) put(files, all.map((one) => asset_element(one, () => void follow().catch(() => {}))));
		listed = files_now;
		if (all.length > 0) put_once(place, files);
		else if (ENDED.includes(recording.status)) put(place, empty("record", "No files", recording.status === "failed" ? "Nothing could be saved." : "It made none, or they were deleted."));
		else put(place, empty("record", "Not ready yet", `The files are here a short time after the ${noun} has ended, if it makes any.`));
	}
	async function follow() {
		recording = await get(path, signal);
		draw();
		renew_times(head);
	}
	const head = page_head({
		way: [[TYPES[type].all, address("/console/recordings", { type: type === "recording" ? "" : type })]],
		title: name_of(recording),
		badge,
		about: [h("span", null, "Started ", ago(began(recording)), ` (${moment(began(recording))})`)],
		actions: [actions],
	});
	draw();
	poll(async () => (ENDED.includes(recording.status) ? undefined : follow()), signal, () => {});
	return {
		title: `${kind} of ${name_of(recording)}`,
		element: h("div.page", null, head, h("section", { "aria-labelledby": "files" }, h("h2.section-title", { id: "files" }, "Files"), place), h("section", { "aria-labelledby": "about-recording" }, h("h2.section-title", { id: "about-recording" }, `About this ${noun}`), facts)),
	};
}
