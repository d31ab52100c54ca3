// The list of rooms.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { h, icon } from "../lib/dom.js";
import { ago } from "../lib/text.js";
import { empty, page_head } from "../lib/ui.js";
import { list_of } from "./list.js";
import { may, session } from "./session.js";
import { template_names } from "./templates.js";

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

/** @type {import("../lib/router.js").Maker} */
export async function rooms_page(_, signal, query) {
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
		search: "Search rooms by name",
		columns: ["Name", "Template", "Updated"],
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
					h("span.row-name", null, one.name),
					!one.enabled && h("span.badge.off", null, "Disabled"),
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
	const head = page_head({ title: "Rooms", actions: [new_room({ "data-create": "" })] });
	return { title: "Rooms", element: h("div.page", null, head, list.element) };
}
