// The bans of the account: who may not be in a room, or in any room. Newest first, page by page, found by
// the user ID of a person and by room.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { address, call, get, openapi, segment } from "../lib/api.js";
import { on_change } from "../lib/changes.js";
import { h, icon, put } from "../lib/dom.js";
import { set_query } from "../lib/router.js";
import { renew_times, rows_in } from "../lib/rows.js";
import { changed, only } from "../lib/schema.js";
import { ago, count_of, moment } from "../lib/text.js";
import {
	busy,
	copy_button,
	dialog,
	empty,
	menu,
	page_head,
	remove_with,
	sentence,
	show_call,
	toast,
} from "../lib/ui.js";
import { maker } from "./editor.js";
import { room_named, who_of } from "./events.js";
import { form_for } from "./hints.js";
import { put_once, table_of } from "./inside.js";
import { room_name, room_names } from "./sessions.js";
import { may } from "./session.js";

/**
 * @typedef {object} Ban
 * @property {string} id
 * @property {string} [user_id]
 * @property {string} [code_hash] in place of the user ID
 * @property {string} [room_id] of all rooms if there is none
 * @property {string} reason
 * @property {string} [expires_at]
 * @property {string} created_at
 * @property {{ kind: string, id: string }} created_by
 */

const PATH = "/v2/bans";
const LIMIT = 50;
// Milliseconds without typing after which a search starts.
const PAUSE = 250;
const ID = /^[0-9a-f]{24}$/;
// The fields that people fill in most often; the others are folded.
const USUAL = ["user_id", "room_id", "expires_at", "reason"];

/** @param {Ban} ban */
const path_of = (ban) => `${PATH}/${segment(ban.id)}`;

/** Returns whom a ban is about. @param {Ban} ban */
const subject_of = ({ user_id }) => user_id ?? "A room code";

/**
 * Returns the ID of a room; "" if no room has the name.
 * @param {string} text a name or an ID @param {AbortSignal} signal
 */
const room_id_of = async (text, signal) => (ID.test(text) ? text : await room_named(text, signal));

/** @type {import("../lib/router.js").Maker} */
export async function bans_page(_, signal, query) {
	/** @type {Ban[]} */
	let bans = [];
	let last = "";
	// Counts the searches: the response to an older one is dropped.
	let turn = 0;
	const field = (/** @type {string} */ label, /** @type {string} */ name) =>
		h("input", {
			type: "search",
			placeholder: label,
			"aria-label": label,
			value: query.get(name) ?? "",
			autocomplete: "off",
			spellcheck: "false",
		});
	const person = field("User ID", "person");
	const room = field("Room name or ID", "room");
	const narrowed = () => person.value.trim() !== "" || room.value.trim() !== "";

	const add = (/** @type {Record<string, any>} */ props) => {
		if (!may("bans:write")) return null;
		const button = h("button.primary", { type: "button", ...props }, icon("plus"), "New ban");
		button.addEventListener("click", () =>
			busy(button, () => new_ban(room.value.trim(), restart, signal)),
		);
		return button;
	};
	// An empty list has the button itself.
	const actions = h("div.actions");
	const body = h("tbody");
	// A ban that was changed is another row.
	const key = (/** @type {Ban} */ one) => [one.id, one.reason, one.expires_at].join();
	const show_rows = rows_in(body, key, row);
	const table = table_of(["Person", "Room", "Expires", "Created", ""], body, "Bans");
	const state = h("p.list-state");
	const more = h("button.small", { type: "button" }, "Show older");
	more.addEventListener("click", () => busy(more, () => read(last, bans)));
	const foot = h("div.list-foot", null, state, more);
	const place = h("div.list-place", null, h("p.list-foot", null, "Loading…"));

	/** Adds a page to bans, and shows them. @param {string} start @param {Ban[]} before */
	async function read(start, before) {
		turn += 1;
		const mine = turn;
		const wanted = room.value.trim();
		const room_id = wanted && (await room_id_of(wanted, signal));
		/** @type {Ban[]} */
		let data = [];
		let next = "";
		// A name that no room has finds nothing.
		if (!wanted || room_id) {
			const asked = { user_id: person.value.trim(), room_id, limit: LIMIT, start };
			const answer = await get(address(PATH, asked), signal);
			data = answer.data ?? [];
			next = data.length < LIMIT ? "" : answer.last;
			await room_names(
				data.flatMap(({ room_id: id }) => (id ? { room_id: id } : [])),
				signal,
			);
		}
		if (mine !== turn) return;
		bans = [...before, ...data];
		last = next;
		draw();
	}
	/** Reads the first page of what is searched for. */
	async function restart() {
		set_query({ person: person.value, room: room.value });
		await read("", []);
	}
	function draw() {
		show_rows(bans);
		renew_times(body);
		put(state, last ? "First " : "", count_of(bans.length, "ban"));
		more.hidden = last === "";
		put(actions, (bans.length > 0 || narrowed()) && add({ "data-create": "" }));
		if (bans.length > 0) put_once(place, table, foot);
		else put(place, nothing());
	}
	function nothing() {
		if (narrowed())
			return empty("ban", "No matching bans", "Bans are found by the exact user ID, and by room.");
		const text =
			"A ban keeps a person, or everybody with a room code, out of one room or of all rooms. It ends when it expires or when you delete it.";
		return empty("ban", "No bans", text, add({}));
	}
	/** @param {Ban} ban */
	function row(ban) {
		const of_room = ban.room_id ? room_name(ban.room_id) || "Deleted room" : "All rooms";
		const link = ban.room_id && may("rooms:read");
		const acts = menu(`Actions for the ban of ${subject_of(ban)}`, [
			{ symbol: "terminal", words: "Show API request", action: () => show_call("GET", path_of(ban)) },
			may("bans:write") && {
				symbol: "trash",
				words: "Delete ban",
				danger: true,
				action: () => delete_ban(ban),
			},
		]);
		const hash =
			ban.code_hash &&
			h(
				"span.note.id",
				null,
				h("span.mono", null, ban.code_hash.slice(0, 16)),
				copy_button(ban.code_hash, "Copy the hash of the code"),
			);
		const element = h(
			"tr",
			null,
			h(
				"td",
				{ "data-label": "Person" },
				h("span.row-name.break", null, subject_of(ban)),
				hash,
				ban.reason && h("span.note.break", null, ban.reason),
			),
			h(
				"td",
				{ "data-label": "Room" },
				link ? h("a", { href: `/console/rooms/${ban.room_id}` }, of_room) : of_room,
			),
			h(
				"td",
				{ "data-label": "Expires" },
				h("span.quiet", null, ban.expires_at ? moment(ban.expires_at) : "Never"),
			),
			h(
				"td",
				{ "data-label": "Created" },
				h("span", null, ago(ban.created_at), h("span.note", null, who_of(ban.created_by))),
			),
			h("td.menu-cell", null, acts),
		);
		return { element, update() {} };
	}
	/** @param {Ban} ban */
	const delete_ban = (ban) =>
		remove_with(
			{
				kind: "Ban",
				title: `Delete the ban of ${subject_of(ban)}?`,
				text: ban.code_hash
					? "People with another code can join again. The code itself stays disabled until you enable it."
					: "The person can join again.",
				verb: "Delete ban",
			},
			async () => {
				await call("DELETE", path_of(ban));
				bans = bans.filter((one) => one.id !== ban.id);
				draw();
			},
		);

	/** @param {unknown} error */
	function failed(error) {
		if (!signal.aborted) put(state, sentence(error));
		put_once(place, ...(bans.length > 0 ? [table, foot] : [foot]));
	}
	/** @type {ReturnType<typeof setTimeout> | undefined} */
	let waiting;
	for (const one of [person, room])
		one.addEventListener("input", () => {
			clearTimeout(waiting);
			waiting = setTimeout(() => restart().catch(failed), PAUSE);
		});
	signal.addEventListener("abort", () => clearTimeout(waiting));
	on_change(({ kind }, own) => {
		if (kind === "bans" && !own) read("", []).catch(failed);
	}, signal);
	await read("", []);
	return {
		title: "Bans",
		element: h(
			"div.page",
			null,
			page_head({
				title: "Bans",
				about: ["People and codes that are kept out of rooms, newest first."],
				actions: [actions],
			}),
			h("div.toolbar.filters", null, person, room),
			place,
		),
	};
}

/**
 * @param {string} room that the form is filled with: a name or an ID
 * @param {() => Promise<void>} done @param {AbortSignal} signal
 */
async function new_ban(room, done, signal) {
	const schema = form_for(await openapi(), `POST ${PATH}`);
	const rest = schema.fields.map(([name]) => name).filter((name) => !USUAL.includes(name));
	const { element, form } = maker({
		schema: changed(only(schema, [...USUAL, ...rest]), "user_id", { required: false }),
		value: { room_id: room || undefined },
		extras: { folded: rest },
		verb: "Create ban",
		async send(value) {
			const named = value.room_id?.trim();
			const room_id = named && (await room_id_of(named, signal));
			if (named && !room_id) {
				const message = may("rooms:read") ? "no room has this name" : "must be the ID of a room";
				form.show("", [{ pointer: "/room_id", message }]);
				return;
			}
			await call("POST", PATH, { body: { ...value, room_id: room_id || undefined } });
			box.close();
			await done();
			toast("Ban created.");
		},
	});
	const box = dialog("New ban", [element], { class: "form-dialog" });
	box.querySelector("input")?.focus();
}
