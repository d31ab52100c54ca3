// One role, as a form generated from the schema of its endpoint.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { call, get, openapi, segment } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { go } from "../lib/router.js";
import { menu, page_head, remove_with, show_call, toast } from "../lib/ui.js";
import { editor } from "./editor.js";
import { media_type, with_effects } from "./effects.js";
import { form_for } from "./hints.js";
import { may } from "./session.js";
import { shown_name } from "./title.js";

/** @type {import("../lib/router.js").Maker} */
export async function role_page({ id = "", role: name = "" }, signal) {
	const path = `/v2/templates/${segment(id)}/roles/${segment(name)}`;
	const [doc, own, template] = await Promise.all([
		openapi(),
		call("GET", path, { signal }),
		get(`/v2/templates/${segment(id)}`, signal),
	]);
	const type = await media_type(template.settings, signal);
	const edit = editor({
		schema: with_effects(form_for(doc, "POST /v2/templates/{}/roles/{}"), "role", type),
		path,
		method: "POST",
		value: own.data,
		etag: own.etag,
		extras: {
			suggestions: { "/subscribeParams/subscribeToRoles": Object.keys(template.roles) },
		},
		saved(answer) {
			toast(`Role ${answer.data.name} saved.`);
			if (answer.data.name === name) return;
			const to = `/console/templates/${id}/roles/${segment(answer.data.name)}`;
			go(to, { replace: true, force: true });
		},
	});
	const remove = () =>
		remove_with(
			{
				kind: "Role",
				title: `Delete role “${name}”?`,
				text: "Its codes stop working in every room and cannot be enabled again, even if you add a role with the same name.",
				verb: "Delete role",
			},
			async () => {
				await call("DELETE", path);
				await go(`/console/templates/${id}`, { force: true });
			},
		);
	const head = page_head({
		way: [
			["Templates", "/console/templates"],
			[template.name, `/console/templates/${id}`],
		],
		title: shown_name(own.data),
		badge: h("span.badge", null, "Role"),
		about: [own.data.title && h("span.mono", null, name)],
		actions: [
			menu("Role actions", [
				{ symbol: "terminal", words: "Show API request", action: () => show_call("GET", path) },
				may("templates:write") && {
					symbol: "trash",
					words: "Delete role",
					danger: true,
					action: remove,
				},
			]),
		],
	});
	return {
		title: `${name} – ${template.name}`,
		leave: edit.leave,
		unsaved: edit.unsaved,
		element: h("div.page", null, head, edit.element),
	};
}
