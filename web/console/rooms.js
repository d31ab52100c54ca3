// The list of rooms.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { h, icon } from "../lib/dom.js";
import { ago, count_of } from "../lib/text.js";
import { confirm_with, empty, page_head, toast } from "../lib/ui.js";
import { list_of } from "./list.js";
import { may, session } from "./session.js";
import { bulk, names_of, several } from "./several.js";
import { template_names } from "./templates.js";
import { name_below, shown_name } from "./title.js";

/** @typedef {{ id: string, name: string, title?: string, enabled: boolean, template: string, updated_at: string }} Room */

// A template can have many roles, and a request creates at most 10,000 codes.
const CODES_AT_ONCE = 100;

const new_room = (/** @type {Record<string, any>} */ props = {}) =>
	may("rooms:write") &&
	h("a.button.primary", { href: "/console/rooms/new", ...props }, icon("plus"), "New room");

/** @param {string} label @param {[string, string][]} options */
const filter = (label, options) =>
	h(
		"select",
		{ "aria-label": label },
		options.map(([value, words]) => h("option", { value }, words)),
	);

const off_badge = () => h("span.badge.off", null, "Disabled");

/** Creates what can be done with several rooms. @param {() => Promise<void>} refresh reads the list again */
function several_rooms(refresh) {
	const called = (/** @type {Room} */ room) => `Room “${shown_name(room)}”`;
	const path_of = (/** @type {Room} */ room) => `/v2/rooms/${room.id}`;
	/** The row of a room that is shown. @param {Room} room */
	const row_of = (room) =>
		document.querySelector(`#page a[href="/console/rooms/${room.id}"]`)?.closest("tr");
	/** @param {Room[]} rooms @param {boolean} enabled */
	const set_enabled = (rooms, enabled) =>
		bulk(
			rooms,
			(room) => ({ method: "PATCH", path: path_of(room), body: { enabled } }),
			called,
			(room) => {
				room.enabled = enabled;
				const row = row_of(room);
				row?.classList.toggle("dim", !enabled);
				row?.querySelector(".badge.off")?.remove();
				if (!enabled) row?.querySelector(".name-cell")?.append(off_badge());
			},
		);
	/** @param {Room[]} rooms @param {boolean} enabled */
	async function flip(rooms, enabled) {
		const changed = rooms.filter((one) => one.enabled !== enabled);
		await set_enabled(changed, enabled);
		const words = `${count_of(changed.length, "room")} ${enabled ? "enabled" : "disabled"}.`;
		const undo = () => set_enabled(changed, !enabled);
		toast(words, changed.length > 0 ? { undo } : "ok");
	}
	/** @param {Room[]} rooms */
	async function make_codes(rooms) {
		const open = rooms.filter((one) => one.enabled);
		await bulk(
			open,
			(room) => ({ method: "POST", path: `/v2/room-codes/room/${room.id}` }),
			called,
			() => {},
			CODES_AT_ONCE,
		);
		const left = rooms.length - open.length;
		const rest = left > 0 ? ` Disabled rooms (${left}) get none.` : "";
		toast(`Each role of ${count_of(open.length, "room")} has a code now.${rest}`);
	}
	/** @param {Room[]} rooms */
	async function remove(rooms) {
		const some = count_of(rooms.length, "room");
		const text = `This deletes ${names_of(rooms.map(shown_name))} with their codes, and every join link to them stops working. It cannot be undone.`;
		if (!(await confirm_with(`Delete ${some}?`, text, `Delete ${some}`))) return;
		await bulk(
			rooms,
			(room) => ({ method: "DELETE", path: path_of(room) }),
			called,
			() => {},
		);
		pick.drop();
		await refresh();
		toast(`${some} deleted.`);
	}
	const codes = may("codes:write");
	/** @type {import("./several.js").Action<Room>[]} */
	const actions = [
		{ symbol: "check", words: "Enable", action: (rooms) => flip(rooms, true) },
		{ symbol: "lock", words: "Disable", action: (rooms) => flip(rooms, false) },
		...(codes ? [{ symbol: "key", words: "Create codes", action: make_codes }] : []),
		{ symbol: "trash", words: "Delete", danger: true, action: remove },
	];
	const pick = several({ noun: "room", name: (/** @type {Room} */ room) => shown_name(room), actions });
	return pick;
}

/** @type {import("../lib/router.js").Maker} */
export async function rooms_page(_, signal, query) {
	const pick = several_rooms(() => list.refresh());
	const state = filter("Status", [
		["", "All rooms"],
		["true", "Enabled"],
		["false", "Disabled"],
	]);
	const template = filter("Template", [["", "Any template"]]);
	const wanted = query.get("template_id") ?? "";
	if (wanted) template.append(h("option", { value: wanted }, "Selected template"));
	const list = list_of({
		path: "/v2/rooms",
		noun: "room",
		signal,
		query,
		search: "Search rooms by title, name, code, link or ID",
		columns: ["Name", "Template", "Updated"],
		pick,
		filters: [
			{ name: "enabled", control: state },
			{ name: "template_id", control: template },
		],
		row: (one) => ({
			href: `/console/rooms/${one.id}`,
			dim: !one.enabled,
			cells: [
				h(
					"span.name-cell",
					null,
					h("span", null, h("span.row-name", null, shown_name(one)), name_below(one) && h("span.note", null, name_below(one))),
					!one.enabled && off_badge(),
				),
				h("span", null, one.template),
				ago(one.updated_at),
			],
		}),
		none: () =>
			empty(
				"room",
				"No rooms yet",
				"A room is where people meet. It gets its roles from a template, and people join it with a code.",
				new_room() || null,
			),
	});
	// Only the filter needs the names, so the list does not wait for them.
	if (may("templates:read")) {
		template_names(signal)
			.then((names) => {
				const chosen = template.value;
				const options = names.map((one) => h("option", { value: one.id }, one.name));
				template.replaceChildren(h("option", { value: "" }, "Any template"), ...options);
				template.value = chosen;
			})
			.catch(() => {});
	}
	await Promise.all([list.load(), session()]);
	list.element.append(pick.bar);
	list.element.classList.toggle("no-pick", !may("rooms:write"));
	const head = page_head({ title: "Rooms", actions: [new_room({ "data-create": "" })] });
	return { title: "Rooms", element: h("div.page", null, head, list.element) };
}
