// The list of templates.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { all_of } from "../lib/api.js";
import { h, icon } from "../lib/dom.js";
import { choice_name } from "../lib/labels.js";
import { ago } from "../lib/text.js";
import { empty, page_head } from "../lib/ui.js";
import { list_of } from "./list.js";
import { may, session } from "./session.js";

const ROLES_SHOWN = 4;

const new_template = (/** @type {Record<string, any>} */ props = {}) =>
	may("templates:write") &&
	h("a.button.primary", { href: "/console/templates/new", ...props }, icon("plus"), "New template");

/** @param {string[]} roles */
const chips = (roles) =>
	h(
		"div.chips",
		null,
		roles.slice(0, ROLES_SHOWN).map((role) => h("span.chip", null, role)),
		roles.length > ROLES_SHOWN && h("span.chip.quiet", null, `+${roles.length - ROLES_SHOWN}`),
	);

/** @type {import("../lib/router.js").Maker} */
export async function templates_page(_, signal, query) {
	const list = list_of({
		path: "/v2/templates",
		noun: "template",
		signal,
		query,
		search: "Search templates by name or ID",
		columns: ["Name", "Roles", "Region", "Updated"],
		row: (one) => ({
			href: `/console/templates/${one.id}`,
			cells: [
				h(
					"span.name-cell",
					null,
					h("span.row-name", null, one.name),
					one.default && h("span.badge.accent", null, "Default"),
				),
				chips(one.roles),
				h("span.quiet", null, choice_name("region", one.region)),
				ago(one.updatedAt),
			],
		}),
		none: () =>
			empty(
				"template",
				"No templates yet",
				"A template defines the roles in a room: what each role can publish, whom it sees and hears, and what it is allowed to do. Create one before your first room.",
				new_template() || null,
			),
	});
	await Promise.all([list.load(), session()]);
	const head = page_head({ title: "Templates", actions: [new_template({ "data-create": "" })] });
	return { title: "Templates", element: h("div.page", null, head, list.element) };
}

/**
 * Returns summaries of the templates to choose from: at most the first 1,000.
 * @param {AbortSignal} [signal]
 */
export const template_names = (signal) =>
	all_of("/v2/templates", { view: "summary" }, signal, 1000);
