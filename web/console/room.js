// One room: its state, who waits and who is inside, codes, sessions, joins and settings.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { call, get, openapi, segment } from "../lib/api.js";
import { h, icon } from "../lib/dom.js";
import { go } from "../lib/router.js";
import { changed, only } from "../lib/schema.js";
import { ago, moment } from "../lib/text.js";
import {
	copy_button,
	menu,
	page_head,
	remove_with,
	sentence,
	show_call,
	toast,
} from "../lib/ui.js";
import { call_notice } from "./calls.js";
import { codes_section } from "./codes.js";
import { door_section, set_door } from "./door.js";
import { editor } from "./editor.js";
import { form_for } from "./hints.js";
import { inside_section } from "./inside.js";
import { joins_section } from "./joins.js";
import { with_templates } from "./new.js";
import { recordings_section } from "./recordings.js";
import { may, session } from "./session.js";
import { sessions_section } from "./sessions.js";
import { template_names } from "./templates.js";
import { name_below, role_words, shown_name } from "./title.js";

/** The first fields of the form; the others follow, folded. */
const FIRST = [
	"title",
	"name",
	"description",
	"template_id",
	"region",
	"opens_at",
	"closes_at",
	"size",
	"large_room",
	"max_duration_seconds",
];

/** @type {import("../lib/router.js").Maker} */
export async function room_page({ id = "" }, signal) {
	const path = `/v2/rooms/${segment(id)}`;
	const who = await session();
	const readable = may("templates:read");
	const [own, doc, names] = await Promise.all([
		call("GET", path, { signal }),
		openapi(),
		readable ? template_names(signal) : [],
	]);
	let room = own.data;
	const whole = with_templates(form_for(doc, "PATCH /v2/rooms/{}"), names);
	// The hint applies only to new rooms.
	const schema = changed(whole, "region", { description: "" });
	const rest = schema.fields.map(([name]) => name).filter((name) => !FIRST.includes(name));
	const edit = editor({
		schema: { ...only(schema, [...FIRST, ...rest]), rules: schema.rules },
		path,
		method: "PATCH",
		value: room,
		etag: own.etag,
		extras: { folded: rest },
		// For rooms, null leaves a field unchanged, and an empty string unsets a time or the title.
		unset: "",
		async saved(answer) {
			toast("Room saved.");
			await take(answer.data);
		},
	});
	/** Enables or disables the room. @param {boolean} enabled */
	async function enable(enabled) {
		const answer = await call("PATCH", path, { body: { enabled } });
		edit.renew(answer);
		await take(answer.data);
	}
	/** Reads the room again. */
	async function renew() {
		const answer = await call("GET", path, { signal });
		edit.renew(answer);
		await take(answer.data);
	}
	/** The roles of the room's template, by name; none if the session may not see them. @type {Record<string, any>} */
	let roles = {};
	async function read_roles() {
		if (readable) roles = (await get(`/v2/templates/${room.template_id}`, signal)).roles;
	}
	const role_shown = (/** @type {string} */ name) => role_words(roles)(name);
	const make_codes = async () => (may("codes:read") ? await codes_section(room, roles, who, signal) : null);
	/** Shows the room as a request returned it; what did not change stays as it is. @param {any} next */
	async function take(next) {
		const before = room;
		room = next;
		const focus = document.activeElement?.closest(".labelled-switch");
		const new_head = head_of(room, path, enable);
		head.replaceWith(new_head);
		head = new_head;
		/** @type {HTMLElement | null} */
		const again = focus ? head.querySelector(".labelled-switch input") : null;
		again?.focus();
		document.title = `${shown_name(room)} – Anteroom`;
		const same = ["enabled", "template_id", "name", "title"].every((name) => before[name] === room[name]);
		if (same) return;
		await read_roles();
		const now = await make_codes();
		if (!now || !codes) return;
		codes.element.replaceWith(now.element);
		codes = now;
	}
	/** Shows where a room of a pool is, which changes while it is shown. @param {string} backend */
	const moved_to = (backend) => void (backend !== room.backend && take({ ...room, backend }));
	let head = head_of(room, path, enable);
	await read_roles();
	const [first_codes, door, inside, no_call] = await Promise.all([
		make_codes(),
		may("tickets:write") ? door_section(id, role_shown, signal) : null,
		may("live:read") ? inside_section(() => room, role_shown, renew, signal, moved_to) : null,
		call_notice(room, signal),
	]);
	let codes = first_codes;
	return {
		title: shown_name(room),
		leave: edit.leave,
		unsaved: edit.unsaved,
		element: h(
			"div.page",
			null,
			head,
			no_call,
			door,
			inside,
			codes?.element,
			may("recordings:read") && recordings_section({ room_id: room.id }, signal),
			h(
				"div.side-by-side",
				null,
				may("sessions:read") && sessions_section(room, signal),
				may("events:read") && joins_section(room, (hash) => codes?.find(hash), signal),
			),
			h(
				"section",
				{ "aria-labelledby": "about-room" },
				h("h2.section-title", { id: "about-room" }, "Room settings"),
				edit.element,
			),
		),
	};
}

/** @param {any} room @param {string} path @param {(enabled: boolean) => Promise<void>} enable */
const head_of = (room, path, enable) =>
	page_head({
		way: [["Rooms", "/console/rooms"]],
		title: shown_name(room),
		badge: state_of(room),
		about: [
			name_below(room) && h("span.mono", null, name_below(room)),
			h("span.id", null, h("span.mono", null, room.id), copy_button(room.id, "Copy ID")),
			h("a", { href: `/console/templates/${room.template_id}` }, icon("template"), room.template),
			h("span", null, "Created ", ago(room.created_at)),
			hours_of(room),
			room.backend && h("span", null, icon("media"), `On ${room.backend}`),
		],
		actions: [may("rooms:write") && enabled_switch(room, enable), room_menu(room, path)],
	});

/** @param {any} room */
function state_of(room) {
	const now = Date.now();
	if (!room.enabled) return h("span.badge.off", null, "Disabled");
	if (room.opens_at && now < Date.parse(room.opens_at))
		return h("span.badge.off", null, "Not open yet");
	if (room.closes_at && now >= Date.parse(room.closes_at))
		return h("span.badge.off", null, "Closed");
	return room.opens_at || room.closes_at ? h("span.badge.accent", null, "Open") : null;
}

/** @param {any} room */
function hours_of({ opens_at, closes_at }) {
	const parts = [
		opens_at && `Opens ${moment(opens_at)}`,
		closes_at && `Closes ${moment(closes_at)}`,
	];
	const words = parts.filter(Boolean).join(" · ");
	return words ? h("span", null, icon("clock"), words) : null;
}

/** @param {any} room @param {(enabled: boolean) => Promise<void>} enable */
function enabled_switch(room, enable) {
	const input = h("input.switch", { type: "checkbox", role: "switch", checked: room.enabled });
	let going = false;
	input.addEventListener("change", async () => {
		const wanted = input.checked;
		input.checked = going ? !wanted : wanted;
		if (going) return;
		going = true;
		try {
			await enable(wanted);
			toast(wanted ? "Room enabled." : "Room disabled. Nobody can join it now.", {
				undo: () => enable(!wanted),
			});
		} catch (error) {
			input.checked = !wanted;
			toast(sentence(error), "bad");
		}
		going = false;
	});
	return h("label.labelled-switch", null, input, h("span", null, "Enabled"));
}

/** @param {any} room @param {string} path */
function room_menu(room, path) {
	const remove = () =>
		remove_with(
			{
				kind: "Room",
				title: `Delete room “${shown_name(room)}”?`,
				text: "This deletes the room and its codes, and every join link to it stops working. It cannot be undone.",
				verb: "Delete room",
			},
			async () => {
				await call("DELETE", path);
				await go("/console/rooms", { force: true });
			},
		);
	return menu("Room actions", [
		{ symbol: "terminal", words: "Show API request", action: () => show_call("GET", path) },
		may("tickets:write") && {
			symbol: "lock",
			words: "Set door",
			action: () => set_door(room.id).catch((error) => toast(sentence(error), "bad")),
		},
		may("rooms:write") && { symbol: "trash", words: "Delete room", danger: true, action: remove },
	]);
}
