// Who is inside a room now: read again and again while the page is visible. The people and the order of
// their rows come from the room; their names are fetched only when somebody comes, or may have changed. What
// can be done with them is in acts.js.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { Refusal, get, segment } from "../lib/api.js";
import { announce, h, put } from "../lib/dom.js";
import { poll } from "../lib/poll.js";
import { renew_times, rows_in, set_text } from "../lib/rows.js";
import { ago, clock, count_of, moment, number } from "../lib/text.js";
import { sentence } from "../lib/ui.js";
import { crowd_buttons, person_menu } from "./acts.js";
import { may } from "./session.js";

/**
 * @typedef {object} Peer
 * @property {string} id
 * @property {string} name
 * @property {string} user_id
 * @property {string} role
 * @property {string} metadata
 * @property {string} joined_at
 */
/**
 * @typedef {object} Active
 * @property {string} [backend] where a room of a pool is
 * @property {{ id: string, created_at: string, peers: string[] }} session
 * @property {number} peer_count
 * @property {Record<string, number>} roles
 * @property {string | null} seen_at
 */

/** The most rows. */
const MOST = 200;
// Milliseconds after which names are fetched again in rooms whose people all have rows.
const NAMES = 10000;
// Milliseconds between two announcements for screen readers.
const QUIET = 10000;
// Milliseconds after which news of the room is old: the media server is asked every 30 s.
const OLD = 120000;
const DAY = 86400000;
const GENERATED = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const NOBODY = 404;

/** Returns the name of a person, or words for one without. @param {{ name: string, user_id: string }} peer */
export const person_name = ({ name, user_id }) =>
	name || (GENERATED.test(user_id) ? "" : user_id) || "No name";

/** Returns the user ID if it says more than the name. @param {{ name: string, user_id: string }} peer */
export const person_note = ({ name, user_id }) =>
	name && user_id !== name && !GENERATED.test(user_id) ? user_id : "";

/** Returns a time as "3 minutes ago", and below it the exact one. @param {string} iso */
export function exact_time(iso) {
	const old = Date.now() - Date.parse(iso) > DAY;
	const exact = old ? moment(iso) : clock(Date.parse(iso));
	return h("span.event-time", null, ago(iso), h("span.note", null, exact));
}

/**
 * Creates a table; a column without a name has the actions.
 * @param {string[]} columns @param {HTMLElement} body @param {string} [label]
 */
export function table_of(columns, body, label) {
	const head = columns.map((name) =>
		h("th", { scope: "col" }, name || h("span.off-screen", null, "Actions")),
	);
	return h(
		"table.list.things",
		{ "aria-label": label },
		h("thead", null, h("tr", null, head)),
		body,
	);
}

/** Returns how many people have each role. @param {Record<string, number>} roles @param {(name: string) => string} role_shown */
export const role_chips = (roles, role_shown) =>
	Object.entries(roles).map(([role, count]) =>
		h("li.chip", null, role_shown(role) || "No role", " ", h("b", null, number(count))),
	);

/** @param {import("./acts.js").Acts | null} acts null if nothing can be done @param {(name: string) => string} role_shown */
const person_row = (acts, role_shown) => (/** @type {Peer} */ first) => {
	const name = h("span.row-name");
	const note = h("span.note.break");
	const role = h("td", { "data-label": "Role" });
	let now = first;
	const actions =
		acts && person_menu(acts, () => ({ id: now.id, name: person_name(now), peer: now }));
	const element = h(
		"tr",
		null,
		h("td", { "data-label": "Name" }, name, note),
		role,
		h("td", { "data-label": "Since" }, exact_time(first.joined_at)),
		actions && h("td.menu-cell", null, actions.element),
	);
	return {
		element,
		/** @param {Peer} peer */
		update(peer) {
			set_text(name, person_name(peer));
			set_text(note, person_note(peer));
			set_text(role, role_shown(peer.role) || "No role");
			now = peer;
			actions?.renew();
		},
	};
};

/**
 * Creates the section with the people inside a room.
 * @param {() => import("./acts.js").Room} room_now returns the room as it is now
 * @param {(name: string) => string} role_shown returns what people see of a role
 * @param {() => Promise<any>} locked called after the room was disabled here @param {AbortSignal} signal
 * @param {(backend: string) => void} is_at gets the media server of a room of a pool each time that it is read
 */
export async function inside_section(room_now, role_shown, locked, signal, is_at) {
	const room = room_now();
	const path = `/v2/active-rooms/${segment(room.id)}`;
	/** @type {Map<string, Peer>} */
	let known = new Map();
	/** The room as it was last shown; null if nobody was inside. @type {Active | null} */
	let shown = null;
	let named_at = 0;
	let gone = false;

	const body = h("tbody");
	/** Names and roles are fetched again after something was done. */
	const done = () => {
		named_at = -Infinity;
	};
	const acts = may("live:write") ? { room: room_now, done, locked } : null;
	const show_rows = rows_in(body, (/** @type {Peer} */ one) => one.id, person_row(acts, role_shown));
	const columns = ["Name", "Role", "Since", ...(acts ? [""] : [])];
	const table = table_of(columns, body, "People inside");
	const count = h("strong");
	const since = h("span.quiet");
	const roles = h("ul.chips", { "aria-label": "People by role" });
	const summary = h("div.inside-now", null, count, since, roles);
	const state = h("p.list-state");
	const foot = h("div.list-foot", null, state);
	const nobody = h(
		"div.inside-now",
		null,
		h("strong", null, "Nobody is inside."),
		h("span.quiet", null, "People in rooms on LiveKit appear here as soon as they join."),
	);
	const title = h("h2.section-title", { id: "inside", tabindex: "-1" }, "Inside now");
	const bans = h("a", { href: `/console/bans?room=${room.id}` }, "Bans");
	const attendance = h("a", null, "Attendance");
	const buttons = acts ? crowd_buttons(acts) : [];
	const actions = h("div.actions", null, may("bans:read") && bans, attendance, buttons);
	const place = h("div.list-place");

	/** Returns the room; null if it is not in session. @returns {Promise<Active | null>} */
	async function read_room() {
		try {
			return await get(path, signal);
		} catch (error) {
			if (!(error instanceof Refusal && error.status === NOBODY)) throw error;
			gone = /^room/i.test(error.message);
			return null;
		}
	}
	/** Fetches names if they may have changed. @param {Active} room @param {string[]} ids of the rows */
	async function read_names(room, ids) {
		const complete = room.peer_count <= MOST;
		const old = complete && performance.now() - named_at > NAMES;
		const moved = complete && JSON.stringify(room.roles) !== JSON.stringify(shown?.roles ?? {});
		if (!old && !moved && ids.every((id) => known.has(id))) return;
		const { peers } = await get(`${path}/peers`, signal);
		known = new Map(Object.entries(peers));
		named_at = performance.now();
	}
	async function refresh() {
		const now = await read_room();
		if (now?.backend) is_at(now.backend);
		const ids = (now?.session.peers ?? []).slice(0, MOST);
		if (now) {
			try {
				await read_names(now, ids);
			} catch (error) {
				// The session may have closed in between. A list that is too long leaves the numbers.
				if (!(error instanceof Refusal && [NOBODY, 413].includes(error.status))) throw error;
			}
		}
		draw(now, ids);
	}
	/** @param {Active | null} now @param {string[]} ids */
	function draw(now, ids) {
		const before = shown;
		shown = now;
		if (!now || now.peer_count === 0) {
			show_rows([]);
			known.clear();
			if (gone) set_text(nobody, "This room no longer exists.");
			put_once(place, nobody);
		} else {
			const people = now.peer_count;
			set_text(count, people === 1 ? "1 person is inside." : `${number(people)} people are inside.`);
			if (before?.session.id !== now.session.id)
				put(since, "In session since ", exact_words(now.session.created_at));
			put_changed(roles, role_chips(now.roles, role_shown));
			show_rows(ids.flatMap((id) => known.get(id) ?? []));
			const rows = body.childElementCount;
			put_once(place, ...(rows > 0 ? [summary, table, foot] : [summary, foot]));
		}
		offer_actions(now);
		say_state(now);
		renew_times(place);
		tell_changes(now);
	}
	/** Offers what there is while somebody is inside. @param {Active | null} now */
	function offer_actions(now) {
		const focus = document.activeElement;
		if (now) attendance.href = `/console/sessions/${now.session.id}`;
		attendance.hidden = !now || !may("sessions:read");
		for (const one of buttons) one.hidden = !now || now.peer_count === 0;
		if (focus instanceof HTMLElement && focus.hidden && actions.contains(focus)) title.focus();
	}
	/** Says below the rows what they do not show. @param {Active | null} now */
	function say_state(now) {
		const rows = body.childElementCount;
		const more = now !== null && now.peer_count > rows;
		const words =
			more && rows > 0
				? `The first ${count_of(rows, "person", "people")} of ${number(now.peer_count)} are shown.`
				: more
					? "The list is too long to show."
					: "";
		const seen = now?.seen_at ? Date.parse(now.seen_at) : Date.now();
		const old =
			Date.now() - seen > OLD
				? `The media server was last heard ${ago(new Date(seen).toISOString()).textContent}; this may be out of date.`
				: "";
		set_text(state, [words, old].filter(Boolean).join(" "));
		foot.hidden = state.textContent === "";
	}

	// What was last announced, and the IDs of the people then.
	let told_at = -Infinity;
	/** @type {Set<string> | null} */
	let told = null;
	/** Tells screen readers who came and went, not more often than they can read it. @param {Active | null} now */
	function tell_changes(now) {
		const ids = new Set(now?.session.peers ?? []);
		if (told === null) told = ids;
		if (performance.now() - told_at < QUIET) return;
		const before = told;
		const joined = [...ids].filter((id) => !before.has(id));
		const left = [...before].filter((id) => !ids.has(id));
		if (joined.length + left.length === 0) return;
		told = ids;
		told_at = performance.now();
		const [only] = joined;
		const peer = joined.length === 1 && only ? known.get(only) : undefined;
		const came = peer ? `${person_name(peer)} joined` : `${people_words(joined.length)} joined`;
		const parts = [
			joined.length > 0 && came,
			left.length > 0 && `${people_words(left.length)} left`,
		];
		const inside = now?.peer_count ? `${people_words(now.peer_count)} inside` : "Nobody is inside";
		announce(`${parts.filter(Boolean).join(", ")}. ${inside}.`);
	}

	/** @param {unknown} error */
	function failed(error) {
		put_once(place, ...[...place.children].filter((one) => one !== foot), foot);
		foot.hidden = false;
		set_text(state, `${sentence(error)} Retrying…`);
	}
	try {
		await refresh();
	} catch (error) {
		if (signal.aborted) throw error;
		failed(error);
	}
	poll(async () => !gone && (await refresh()), signal, failed);
	return h(
		"section",
		{ "aria-labelledby": "inside" },
		h(
			"div.toolbar.between",
			null,
			title,
			actions,
		),
		place,
	);
}

/** @param {number} count */
const people_words = (count) => count_of(count, "person", "people");

/** Returns "14:03:27 (3 minutes ago)". @param {string} iso */
export const exact_words = (iso) => {
	const old = Date.now() - Date.parse(iso) > DAY;
	return [old ? moment(iso) : clock(Date.parse(iso)), " (", ago(iso), ")"];
};

/** Shows elements, unless they are shown already. @param {Element} place @param {Element[]} elements */
export function put_once(place, ...elements) {
	const same =
		place.children.length === elements.length &&
		elements.every((one, i) => place.children[i] === one);
	if (!same) put(place, ...elements);
}

/** Shows elements, unless those that are shown read the same. @param {Element} place @param {Element[]} elements */
function put_changed(place, elements) {
	const text = (/** @type {Iterable<Element>} */ all) =>
		[...all].map((one) => one.textContent).join("\n");
	if (text(place.children) !== text(elements)) put(place, elements);
}
