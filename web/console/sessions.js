// The sessions of an account or of a room: when a meeting was, how long, and how many people were in it.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { Refusal, address, get, segment } from "../lib/api.js";
import { h, icon } from "../lib/dom.js";
import { poll } from "../lib/poll.js";
import { set_query } from "../lib/router.js";
import { renew_times, set_text } from "../lib/rows.js";
import { ago, count_of, duration, moment, number } from "../lib/text.js";
import { empty, page_head } from "../lib/ui.js";
import { newest } from "./newest.js";
import { may } from "./session.js";
import { shown_name } from "./title.js";

/** @typedef {{ id: string, name: string, role: string, user_id: string, joined_at: string, left_at?: string,
 *   consented_at?: string, consent_withdrawn_at?: string }} Stay */
/**
 * @typedef {object} Meeting a session, as the API calls it
 * @property {string} id
 * @property {string} room_id
 * @property {string} [title] of the room when the session began
 * @property {boolean} active
 * @property {Record<string, Stay>} peers
 * @property {boolean} [peers_truncated]
 * @property {number} peer_count
 * @property {string} created_at
 * @property {string} updated_at
 */

const PATH = "/v2/sessions";
// The service shows the fewer peers of each session, the more sessions are asked for.
const LIMIT = 25;
const MOST = 100;
const FEW = 10;

/** Returns how long a session has lasted, in words. @param {Meeting} one */
export const length_of = ({ active, created_at, updated_at }) =>
	duration(((active ? Date.now() : Date.parse(updated_at)) - Date.parse(created_at)) / 1000);

/** Returns how many people were in a session, and how many are inside; null if not all are shown.
 * @param {Meeting} one */
export function people_of({ peers, peers_truncated }) {
	if (peers_truncated) return null;
	const stays = Object.values(peers);
	const known = new Set(stays.map((one) => one.user_id).filter(Boolean));
	// Stays of people whose names are not kept cannot be told apart.
	const unknown = stays.filter((one) => !one.user_id).length;
	const inside = stays.filter((one) => !one.left_at).length;
	return { all: known.size + unknown, inside };
}

/** @param {Meeting} one @returns {[string, string]} */
function people_words(one) {
	const people = people_of(one);
	if (!people) return [count_of(one.peer_count, "stay"), ""];
	if (!one.active) return [number(people.all), ""];
	return [`${number(people.inside)} inside`, `${number(people.all)} so far`];
}

/** The titles or names of rooms, by ID; "" for deleted ones. @type {Map<string, string>} */
const names = new Map();

/** Fetches the names of rooms that are not known yet.
 * @param {{ room_id: string }[]} things in rooms @param {AbortSignal} signal */
export async function room_names(things, signal) {
	if (!may("rooms:read")) return;
	const wanted = new Set(things.map((one) => one.room_id).filter((id) => !names.has(id)));
	await Promise.all(
		[...wanted].map(async (id) => {
			try {
				names.set(id, shown_name(await get(`/v2/rooms/${segment(id)}`, signal)));
			} catch (error) {
				if (!(error instanceof Refusal && error.status === 404)) throw error;
				names.set(id, "");
			}
		}),
	);
}

/** Returns the title or name of a room, or words for one without. @param {string} id */
export const room_name = (id) => names.get(id) ?? `Room ${id}`;

/** Returns what the room of a session is called: by its title at the beginning, or its name now. @param {Meeting} one */
export const name_of = ({ title, room_id }) => shown_name({ name: room_name(room_id), title: title ?? "" });

/** @param {Meeting} one */
const room_words = (one) => name_of(one) || "Deleted room";

/** Returns the open session of a room, with as few peers as possible; null if there is none.
 * @param {string} room_id @param {AbortSignal} signal @returns {Promise<Meeting | null>} */
export async function open_session(room_id, signal) {
	const query = { active: true, room_id, limit: MOST };
	return (await get(address(PATH, query), signal)).data?.[0] ?? null;
}

/** @param {boolean} of_room true to leave out the room */
const session_row = (of_room) => (/** @type {Meeting} */ first) => {
	const name = h("span.row-name");
	const badge = h("span.badge.accent", null, "In session");
	const length = h("td", { "data-label": "Length" });
	const people = h("span");
	const note = h("span.note");
	const when = h("span.row-name", null, moment(first.created_at));
	const link = (/** @type {Node} */ words) =>
		h(
			"a.row-link",
			{ href: `/console/sessions/${first.id}` },
			h("span.name-cell", null, words, badge),
		);
	const started = of_room ? link(when) : moment(first.created_at);
	const element = h(
		"tr",
		null,
		!of_room && h("td", { "data-label": "Room" }, link(name)),
		h(
			"td",
			{ "data-label": "Started" },
			h("span", null, started, h("span.note", null, ago(first.created_at))),
		),
		length,
		h("td", { "data-label": "People" }, h("span", null, people, note)),
	);
	return {
		element,
		/** @param {Meeting} one */
		update(one) {
			const [words, more] = people_words(one);
			set_text(name, room_words(one));
			set_text(length, length_of(one));
			set_text(people, words);
			set_text(note, more);
			badge.hidden = !one.active;
		},
	};
};

/**
 * Creates a list of sessions.
 * @param {{ query: () => Record<string, any>, of_room: boolean, none: () => HTMLElement, signal: AbortSignal }} what
 */
const session_list = ({ query, of_room, none, signal }) =>
	newest({
		path: PATH,
		kind: "sessions",
		noun: "session",
		label: "Sessions",
		columns: ["Room", "Started", "Length", "People"].slice(of_room ? 1 : 0),
		limit: of_room ? FEW : LIMIT,
		query,
		row: session_row(of_room),
		prepare: async (found) => of_room || (await room_names(found, signal)),
		none,
		signal,
	});

/**
 * Creates the section with the sessions of a room, which fills itself.
 * @param {{ id: string }} room @param {AbortSignal} signal
 */
export function sessions_section(room, signal) {
	const list = session_list({
		query: () => ({ room_id: room.id }),
		of_room: true,
		none: () =>
			empty(
				"clock",
				"No sessions yet",
				"A session begins when somebody joins, and stays here with who was in it.",
			),
		signal,
	});
	let loaded = false;
	async function follow() {
		const now = loaded ? await open_session(room.id, signal) : null;
		if (!loaded || now?.id !== list.items().find((one) => one.active)?.id) await list.restart();
		else if (now) list.renew(now);
		loaded = true;
	}
	follow().catch(list.failed);
	poll(follow, signal, list.failed);
	return h(
		"section",
		{ "aria-labelledby": "sessions" },
		h(
			"div.toolbar.between",
			null,
			h("h2.section-title", { id: "sessions" }, "Sessions"),
			h("div.actions"),
		),
		list.element,
	);
}

/** @type {[string, string][]} */
const STATES = [
	["", "All sessions"],
	["true", "In session now"],
	["false", "Ended"],
];

/** Returns what changes whenever somebody comes or goes, in few bytes. @param {AbortSignal} signal */
async function usage_now(signal) {
	const today = new Date().toISOString().slice(0, 10);
	return JSON.stringify(await get(address("/v2/usage", { after: today }), signal));
}

/** @type {import("../lib/router.js").Maker} */
export async function sessions_page(_, signal, query) {
	const states = h(
		"select",
		{ "aria-label": "State" },
		STATES.map(([value, words]) => h("option", { value }, words)),
	);
	states.value = query.get("active") ?? "";
	if (states.selectedIndex < 0) states.value = "";
	const nothing = () =>
		states.value === "true"
			? empty("people", "No room is in session", "Nobody is inside a room now.")
			: empty(
					"people",
					"No sessions",
					"A session begins when somebody joins a room on LiveKit, and stays here with who was in it.",
				);
	const list = session_list({
		query: () => ({ active: states.value }),
		of_room: false,
		none: nothing,
		signal,
	});
	states.addEventListener("change", () => {
		set_query({ active: states.value });
		list.restart().catch(list.failed);
	});
	let seen = await usage_now(signal);
	await list.restart();
	poll(
		async () => {
			const now = await usage_now(signal);
			if (now !== seen) await list.restart();
			else renew_times(list.element);
			seen = now;
		},
		signal,
		list.failed,
	);
	return {
		title: "Sessions",
		element: h(
			"div.page",
			null,
			page_head({ title: "Sessions", about: ["Meetings in your rooms, newest first."] }),
			h("div.toolbar.filters", null, h("div.select", null, states, icon("down"))),
			list.element,
		),
	};
}
