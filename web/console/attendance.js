// One session: when it was, and who was in it, as the table for spreadsheets (attendance.csv) has it.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { Refusal, call, get, segment } from "../lib/api.js";
import { h, icon, put } from "../lib/dom.js";
import { poll } from "../lib/poll.js";
import { go } from "../lib/router.js";
import { renew_times, rows_in, set_text } from "../lib/rows.js";
import { count_of, moment, number } from "../lib/text.js";
import {
	busy,
	copy_button,
	empty,
	menu,
	page_head,
	remove_with,
	sentence,
	show_call,
	toast,
} from "../lib/ui.js";
import { exact_time, exact_words, person_name, person_note, put_once, table_of } from "./inside.js";
import { recordings_section } from "./recordings.js";
import { length_of, name_of, open_session, room_name, room_names } from "./sessions.js";
import { may } from "./session.js";

/** @typedef {import("./sessions.js").Meeting} Meeting */
/** @typedef {import("./sessions.js").Stay} Stay */
/** A person in a session: name and role of the last stay; `left` "" while inside; `agreed` the last stay with a consent.
 * @typedef {{ stay: Stay, first: string, left: string, time: number, stays: number, agreed: Stay | undefined }} Attendant */

/** The most rows. */
const MOST = 200;
const TOO_LARGE = 413;
const CONFLICT = 409;
const BAD_REQUEST = 400;
const CONSENT = "Agreed to be recorded";
const ANONYMOUS =
	"This account keeps no names (sessions=off): people are counted, and there is no table of them.";

/**
 * Returns the people of a session, in the order in which they first joined.
 * @param {Stay[]} stays in the order in which they joined @param {number} now
 */
function attendants_of(stays, now) {
	/** @type {Map<string, Attendant>} */
	const found = new Map();
	for (const stay of stays) {
		const { user_id, joined_at, left_at = "" } = stay;
		const known = found.get(user_id);
		const time = (left_at ? Date.parse(left_at) : now) - Date.parse(joined_at);
		const inside = !left_at || (known !== undefined && known.left === "");
		found.set(user_id, {
			stay,
			first: known?.first ?? joined_at,
			left: inside ? "" : left_at > (known?.left ?? "") ? left_at : (known?.left ?? ""),
			time: (known?.time ?? 0) + time,
			stays: (known?.stays ?? 0) + 1,
			agreed: stay.consented_at ? stay : known?.agreed,
		});
	}
	return [...found.values()];
}

/** @param {Attendant} first */
function attendant_row(first) {
	const name = h("span.row-name");
	const note = h("span.note.break");
	const role = h("td", { "data-label": "Role" });
	const left = h("td", { "data-label": "Left" });
	const time = h("td.right", { "data-label": "Minutes" });
	const stays = h("td.right", { "data-label": "Stays" });
	const consent = h("td.consent", { "data-label": CONSENT });
	let shown = "none";
	let agreed = "";
	return {
		element: h(
			"tr",
			null,
			h("td", { "data-label": "Name" }, name, note),
			role,
			h("td", { "data-label": "Joined" }, exact_time(first.first)),
			left,
			time,
			stays,
			consent,
		),
		/** @param {Attendant} one */
		update(one) {
			set_text(name, person_name(one.stay));
			set_text(note, person_note(one.stay));
			set_text(role, one.stay.role || "No role");
			set_text(time, (one.time / 60000).toFixed(1));
			set_text(stays, number(one.stays));
			const { consented_at = "", consent_withdrawn_at: withdrawn = "" } = one.agreed ?? {};
			if (agreed !== consented_at + withdrawn) {
				agreed = consented_at + withdrawn;
				consent.replaceChildren(exact_time(consented_at), ...(withdrawn ? [h("span.note", null, "Withdrawn ", exact_words(withdrawn)[0])] : []));
			}
			if (shown === one.left) return;
			shown = one.left;
			left.replaceChildren(
				one.left ? exact_time(one.left) : h("span.badge.accent", null, "Inside"),
			);
		},
	};
}

/** Returns the query of the table: times as in the browser, and the separator that spreadsheets expect in its
 * language, where it has a decimal comma. */
function csv_query() {
	const query = new URLSearchParams();
	const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
	if (zone) query.set("timezone", zone);
	if (new Intl.NumberFormat(navigator.language).format(1.5).includes(",")) query.set("separator", ";");
	return query;
}

/** Returns the date of a time here, as 2026-01-31. @param {string} iso */
function day_of(iso) {
	const time = new Date(iso);
	const parts = [time.getFullYear(), time.getMonth() + 1, time.getDate()];
	return parts.map((one) => String(one).padStart(2, "0")).join("-");
}

/** Returns the table. A server that does not know the time zone sends the times in UTC.
 * @param {string} path @returns {Promise<string>} */
async function read_csv(path) {
	const query = csv_query();
	try {
		return (await call("GET", `${path}?${query}`)).data;
	} catch (error) {
		if (!(error instanceof Refusal && error.status === BAD_REQUEST)) throw error;
		query.delete("timezone");
		return (await call("GET", `${path}?${query}`)).data;
	}
}

/** Returns the link that downloads the table. @param {string} path @param {Meeting} session */
function csv_link(path, session) {
	const day = session.created_at ? ` ${day_of(session.created_at)}` : "";
	const file = `attendance ${name_of(session) || session.room_id}${day}.csv`;
	const table = `${path}/attendance.csv`;
	const href = `${table}?${csv_query()}`;
	const link = h("a.button", { href, download: file }, icon("download"), "Download CSV");
	link.addEventListener("click", (event) => {
		event.preventDefault();
		busy(link, async () => {
			try {
				// Reading a response as text removes its byte order mark, which spreadsheets need.
				const parts = ["\ufeff", await read_csv(table)];
				const blob = URL.createObjectURL(new Blob(parts, { type: "text/csv" }));
				h("a", { href: blob, download: file }).click();
				setTimeout(() => URL.revokeObjectURL(blob), 1000);
			} catch (error) {
				if (!(error instanceof Refusal && error.status === CONFLICT)) throw error;
				toast(ANONYMOUS, "bad");
			}
		});
	});
	return link;
}

/** @param {string} path @param {Meeting} session */
function session_menu(path, session) {
	const remove = () =>
		remove_with(
			{
				kind: "Session",
				title: `Delete the session of ${moment(session.created_at)}?`,
				text: "This deletes the session and who was in it. It cannot be undone.",
				verb: "Delete session",
			},
			async () => {
				await call("DELETE", path);
				await go("/console/sessions", { force: true });
			},
		);
	return menu("Session actions", [
		{ symbol: "terminal", words: "Show API request", action: () => show_call("GET", path) },
		may("sessions:write") &&
			!session.active && {
				symbol: "trash",
				words: "Delete session",
				danger: true,
				action: remove,
			},
	]);
}

/** @param {string} path @param {Meeting} session */
function head_of(path, session) {
	const name = name_of(session);
	const now = room_name(session.room_id);
	const room =
		now && may("rooms:read")
			? h("a", { href: `/console/rooms/${session.room_id}` }, icon("room"), now)
			: h("span", null, icon("room"), now || "Deleted room");
	const badge = h("span.badge.accent", null, "In session");
	const actions = h("div.menu-holder");
	const element = page_head({
		way: [["Sessions", "/console/sessions"]],
		title: name || "Deleted room",
		badge,
		about: [
			h("span.id", null, h("span.mono", null, session.id), copy_button(session.id, "Copy ID")),
			room,
			h("span", null, icon("clock"), "Started ", exact_words(session.created_at)),
		],
		actions: [csv_link(path, session), actions],
	});
	/** @param {Meeting} now */
	function update(now) {
		const focused = actions.contains(document.activeElement);
		badge.hidden = !now.active;
		put(actions, session_menu(path, now));
		if (focused) actions.querySelector("button")?.focus();
	}
	update(session);
	return { element, update };
}

/** @type {import("../lib/router.js").Maker} */
export async function session_page({ id = "" }, signal) {
	const path = `/v2/sessions/${segment(id)}`;
	/** @type {Meeting} */
	let session;
	try {
		session = await get(path, signal);
	} catch (error) {
		if (!(error instanceof Refusal && error.status === TOO_LARGE)) throw error;
		return too_large(path, id);
	}
	await room_names([session], signal);
	const head = head_of(path, session);
	const summary = h("p.inside-now");
	const anonymous = h("p.notice", null, icon("info"), h("span", null, ANONYMOUS));
	const body = h("tbody");
	const show_rows = rows_in(body, (/** @type {Attendant} */ one) => one.stay.user_id, attendant_row);
	const table = table_of(["Name", "Role", "Joined", "Left", "Minutes", "Stays", CONSENT], body, "Attendance");
	const headings = [...table.querySelectorAll("th")];
	for (const one of headings.slice(-3, -1)) one.classList.add("right");
	headings.at(-1)?.classList.add("consent");
	const state = h("p.list-state");
	const foot = h("div.list-foot", null, state);
	const place = h("div.list-place");
	const title = h("h2.section-title", { id: "attendance" }, "Attendance");

	function draw() {
		const stays = Object.values(session.peers);
		const named = stays.filter((one) => one.user_id);
		const unnamed = stays.length - named.length;
		const people = attendants_of(named, Date.now());
		show_rows(people.slice(0, MOST));
		// Where nobody is asked, nobody has agreed.
		table.classList.toggle("without-consent", !people.some((one) => one.agreed));
		const inside = stays.filter((one) => !one.left_at).length;
		const length = length_of(session).toLowerCase();
		const parts = [
			people.length > 0 && count_of(people.length, "person", "people"),
			unnamed > 0 && `${count_of(unnamed, "stay")} without a name`,
			session.active && `${number(inside)} inside now`,
			session.active ? `${length} so far` : `lasted ${length}`,
		];
		set_text(summary, parts.filter(Boolean).join(" · "));
		const cut = people.length > MOST;
		const words = `The first ${number(MOST)} of ${number(people.length)} people are shown; the CSV has all.`;
		set_text(state, cut ? words : "");
		foot.hidden = !cut;
		put_once(place, summary, ...(unnamed > 0 ? [anonymous] : []), ...(people.length > 0 ? [table] : []), foot);
		renew_times(place);
	}
	/** Reads the session again if somebody came or went, or it has closed. */
	async function follow() {
		if (!session.active) return;
		const now = await open_session(session.room_id, signal);
		const same = now?.id === session.id && now.updated_at === session.updated_at;
		if (!same || now.peer_count !== session.peer_count) {
			session = await get(path, signal);
			if (!session.active) head.update(session);
		}
		draw();
	}
	draw();
	poll(follow, signal, (error) => {
		foot.hidden = false;
		set_text(state, `${sentence(error)} Retrying…`);
	});
	return {
		title: name_of(session) || "Session",
		element: h(
			"div.page",
			null,
			head.element,
			h("section", { "aria-labelledby": "attendance" }, title, place),
			may("recordings:read") && recordings_section({ room_id: session.room_id, session_id: id }, signal),
		),
	};
}

/** @param {string} path @param {string} id @returns {import("../lib/router.js").Page} */
function too_large(path, id) {
	const session = /** @type {Meeting} */ ({ id, room_id: id, created_at: "" });
	return {
		title: "Session",
		element: h(
			"div.page",
			null,
			page_head({ way: [["Sessions", "/console/sessions"]], title: "Session" }),
			h(
				"div.list-place",
				null,
				empty(
					"people",
					"Too many people to show",
					"The CSV has all of them.",
					csv_link(path, session),
				),
			),
		),
	};
}
