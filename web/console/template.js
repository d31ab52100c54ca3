// One template: its roles side by side, its settings and destinations, and the template as JSON.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { Refusal, all_of, call, get, openapi, segment } from "../lib/api.js";
import { h, icon, put } from "../lib/dom.js";
import { choice_name, label_of } from "../lib/labels.js";
import { go, show } from "../lib/router.js";
import { changed, only } from "../lib/schema.js";
import { ago } from "../lib/text.js";
import {
	busy,
	code_block,
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
import { editor, maker } from "./editor.js";
import { media_type, with_effects } from "./effects.js";
import { form_for } from "./hints.js";
import { agrees_to_keep } from "./keep.js";
import { names_of } from "./servers.js";
import { may } from "./session.js";
import { shown_name } from "./title.js";

/** @typedef {import("../lib/router.js").Page} Page */

/** @type {[string, string][]} */
const PARTS = [
	["roles", "Roles"],
	["settings", "Settings"],
	["destinations", "Destinations"],
	["json", "JSON"],
];
// The most roles of the matrix; with more it would be unreadable.
const MATRIX = 16;

/** @type {import("../lib/router.js").Maker} */
export async function template_page({ id = "", part = "roles" }, signal) {
	const path = `/v2/templates/${segment(id)}`;
	const [own, marked] = await Promise.all([
		call("GET", path, { signal }),
		get("/v2/templates?default=true&view=summary", signal),
	]);
	const template = own.data;
	const is_default = marked.data?.[0]?.id === id;
	const tabs = PARTS.map(([name, words]) =>
		h(
			"a",
			{
				href: `/console/templates/${id}/${name}`,
				"aria-current": name === part ? "page" : null,
			},
			words,
			name === "roles" && h("span.count", null, Object.keys(template.roles).length),
		),
	);
	const head = page_head({
		way: [["Templates", "/console/templates"]],
		title: template.name,
		badge: is_default ? h("span.badge.accent", null, "Default") : null,
		about: [
			h(
				"span.id",
				null,
				h("span.mono", null, template.id),
				copy_button(template.id, "Copy ID"),
			),
			h("span", null, "Updated ", ago(template.updatedAt)),
		],
		actions: [
			h("a.button", { href: `/console/rooms?template_id=${id}` }, icon("room"), "Rooms"),
			menu("Template actions", actions(template, path, own.etag, is_default)),
		],
	});
	const warnings = (template.warnings ?? []).map((/** @type {string} */ text) =>
		h("p.notice.warn", null, icon("warning"), h("span", null, `${text}.`)),
	);
	const bar = h("nav.tab-bar", { "aria-label": "Template sections" }, tabs);
	/** @type {Page} */
	const page = { title: template.name, element: h("div.page", null, head, warnings, bar) };
	if (part === "json") {
		const text = JSON.stringify(template, null, 2);
		page.element.append(code_block(text, "Template as JSON", "tall"));
	} else if (part === "settings" || part === "destinations") {
		const [doc, type, value, backends] = await Promise.all([
			openapi(),
			media_type(template.settings, signal),
			call("GET", `${path}/${part}`, { signal }),
			part === "settings" && may("backends:write") ? all_of("/v2/backends", {}, signal) : null,
		]);
		const schema = with_effects(form_for(doc, `POST /v2/templates/{}/${part}`), part, type);
		const options = backends && names_of(backends);
		const edit = editor({
			schema: options ? changed(schema, "backend", { kind: "choice", options }) : schema,
			path: `${path}/${part}`,
			method: "POST",
			value: value.data,
			etag: value.etag,
			agrees: async (before, now) => part !== "settings" || agrees_to_keep(id, before, now),
			saved: (answer) => {
				toast(part === "settings" ? "Settings saved." : "Destinations saved.");
				storage?.tell(answer.data);
			},
		});
		const storage =
			part === "settings" && may("templates:write") ? storage_section(path, value.data) : null;
		page.element.append(edit.element, ...(storage ? [storage.element] : []));
		page.leave = edit.leave;
		page.unsaved = edit.unsaved;
	} else page.element.append(roles(template));
	return page;
}

/**
 * A button that tests the storage of recordings, as it is saved; hidden if the settings name none. Returns what is
 * shown, and `tell`, which gets the settings as they are now.
 * @param {string} path @param {any} settings
 */
function storage_section(path, settings) {
	const place = h("div", { role: "status" });
	const test = h("button.small", { type: "button" }, icon("refresh"), "Test storage");
	test.addEventListener("click", () =>
		busy(test, async () => {
			const { data } = await call("POST", `${path}/settings/test`);
			const is_up = data.state === "up";
			const words = is_up ? "An empty object was stored and deleted." : data.message;
			put(
				place,
				h(
					"p.notice",
					{ class: is_up ? "ok" : "warn" },
					icon(is_up ? "check" : "warning"),
					h("span", null, words),
				),
			);
		}),
	);
	const element = h(
		"section",
		{ "aria-labelledby": "storage" },
		h(
			"div.toolbar.between",
			null,
			h("h2.section-title", { id: "storage" }, "Storage of recordings"),
			h("div.actions", null, test),
		),
		h("p.hint", null, "Tests the storage as it is saved."),
		place,
	);
	const tell = (/** @type {any} */ now) => {
		element.hidden = !now.recording?.upload;
		put(place);
	};
	tell(settings);
	return { element, tell };
}

/**
* Returns the entries of a template's menu.
 * @param {any} template @param {string} path @param {string | null} etag @param {boolean} is_default
 */
function actions(template, path, etag, is_default) {
	const writing = may("templates:write");
	return [
		writing && { symbol: "pen", words: "Rename", action: () => rename(path, template.name, etag) },
		writing &&
			!is_default && {
				symbol: "star",
				words: "Make default",
				action: () => make_default(path),
			},
		writing && { symbol: "copy", words: "Duplicate", action: () => duplicate(template) },
		{ symbol: "terminal", words: "Show API request", action: () => show_call("GET", path) },
		writing && {
			symbol: "trash",
			words: "Delete template",
			danger: true,
			action: () =>
				remove_with(
					{
						kind: "Template",
						title: `Delete template “${template.name}”?`,
						text: "This deletes the template and its roles, and cannot be undone. A template that rooms still use cannot be deleted.",
						verb: "Delete template",
					},
					async () => {
						await call("DELETE", path);
						await go("/console/templates", { force: true });
					},
				),
		},
	];
}

/** @param {any} template */
function roles(template) {
	const names = Object.keys(template.roles);
	const add =
		may("templates:write") &&
		h(
			"button.primary",
			{ type: "button", "data-create": "", onclick: () => add_role(template) },
			icon("plus"),
			"New role",
		);
	if (names.length === 0) {
		const text =
			"A role defines what people can do in a room. Rooms of this template have no codes until you add one.";
		return h("div.panel.flush", null, empty("people", "No roles yet", text, add || null));
	}
	return h(
		"div",
		null,
		h(
			"div.toolbar.between",
			null,
			h(
				"p.quiet.lead",
				null,
				"On a poor connection, roles with a higher priority number lose quality first.",
			),
			add,
		),
		h(
			"div.role-cards",
			null,
			names.map((name) => role_card(template, name)),
		),
		names.length > 1 && sight(template),
	);
}

/** @type {[string, string, string][]} */
const MEDIA = [
	["audio", "mic", "mic-off"],
	["video", "camera", "camera-off"],
	["screen", "screen", "screen-off"],
];
const STREAMS = /Recording|Streaming/;

/** @param {any} template @param {string} name */
function role_card(template, name) {
	const role = template.roles[name];
	const { allowed, video } = role.publishParams;
	const heard = role.subscribeParams.subscribeToRoles;
	const granted = Object.entries(role.permissions).filter(([, value]) => value === true);
	const rights = granted.map(([key]) => key).filter((key) => !STREAMS.test(key));
	const streams = granted.length - rights.length;
	const everyone = Object.keys(template.roles).every((one) => heard.includes(one));
	const sign = (/** @type {[string, string, string]} */ [kind, on, off]) => {
		const yes = allowed.includes(kind);
		const words = `${yes ? "Publishes" : "Does not publish"} ${kind}`;
		return h(
			"span",
			{ class: yes ? "on" : "off", title: words },
			icon(yes ? on : off),
			h("span.off-screen", null, words),
		);
	};
	const size = `${video?.width}×${video?.height} · ${video?.frameRate} fps`;
	const about = allowed.length === 0 ? "Watches and listens only" : allowed.includes("video") && size;
	const fact = (/** @type {string} */ title, /** @type {any} */ ...content) =>
		h("div", null, h("dt", null, title), h("dd", null, content));
	const people = { "-1": "Nobody can join", 0: "No limit" }[String(role.maxPeerCount)];
	return h(
		"article.role-card",
		null,
		h(
			"div.role-head",
			null,
			h(
				"h2",
				null,
				h("a.stretch", { href: `/console/templates/${template.id}/roles/${segment(name)}` }, shown_name(role)),
				role.title && h("span.note", null, name),
			),
			h("span.badge", null, `Priority ${role.priority}`),
		),
		h("div.publishes", null, MEDIA.map(sign), about && h("span.quiet", null, about)),
		h(
			"dl.facts",
			null,
			fact("Sees and hears", everyone ? "Everyone" : heard.join(", ") || "Nobody"),
			fact(
				"Permissions",
				rights.map((key, i) => (i > 0 ? label_of(key).toLowerCase() : label_of(key))).join(", ") ||
					"None",
				streams > 0 &&
					h(
						"span.quiet",
						null,
						streams === 3 ? " · recording and streaming" : " · some recording or streaming",
					),
			),
			fact("Limit", people ?? String(role.maxPeerCount)),
			role.admission === "ask" && fact("Admission", choice_name("admission", role.admission)),
		),
	);
}

/** Returns the table of who sees and hears whom. @param {any} template */
function sight(template) {
	const names = Object.keys(template.roles).slice(0, MATRIX);
	/** @param {string} from @param {string} to */
	function cell(from, to) {
		const sees = template.roles[from].subscribeParams.subscribeToRoles.includes(to);
		const silent = template.roles[to].publishParams.allowed.length === 0;
		if (!sees) return h("td", null, h("span.off-screen", null, "No"));
		const words = silent ? "Yes, but that role publishes nothing" : "Yes";
		return h(
			"td",
			{ class: silent ? "idle" : "yes", title: `${from}: ${words}` },
			icon(silent ? "dash" : "check"),
			h("span.off-screen", null, words),
		);
	}
	const corner = h("td", null, h("span.off-screen", null, "Role sees and hears"));
	const head = names.map((name) => h("th", { scope: "col" }, name));
	const rows = names.map((name) =>
		h(
			"tr",
			null,
			h("th", { scope: "row" }, name),
			names.map((other) => cell(name, other)),
		),
	);
	return h(
		"section.sight",
		{ "aria-labelledby": "sight" },
		h("h2", { id: "sight" }, "Who sees and hears whom"),
		h(
			"div.scroll",
			{ tabindex: "0", role: "group", "aria-labelledby": "sight" },
			h(
				"table.matrix",
				null,
				h("thead", null, h("tr", null, corner, head)),
				h("tbody", null, rows),
			),
		),
		h(
			"p.hint.legend-line",
			null,
			h("span", null, icon("check"), "Sees and hears the role in this column"),
			h("span", null, icon("dash"), "Subscribed, but that role publishes nothing"),
		),
	);
}

/** @param {any} template */
async function add_role(template) {
	const schema = only(form_for(await openapi(), "POST /v2/templates/{}/roles/{}"), ["name"]);
	const { element } = maker({
		schema: {
			...schema,
			fields: schema.fields.map(([name, one]) => [name, { ...one, required: true }]),
		},
		verb: "Create role",
		between: h(
			"p.hint",
			null,
			"Rooms of this template that already have codes get one for the new role automatically.",
		),
		taken: "a role with this name already exists",
		async send({ name }) {
			// The name is part of the path of the request.
			if (name.trim() === "") {
				const fault = { pointer: "/name", message: "enter a name" };
				throw new Refusal(400, { message: "", faults: [fault] }, new Headers());
			}
			const at = `/templates/${template.id}/roles/${segment(name)}`;
			await call("POST", `/v2${at}`, { body: {}, create: true });
			box.close();
			await go(`/console${at}`);
		},
	});
	const box = dialog("New role", [element]);
	box.querySelector("input")?.focus();
}

/** @param {string} path @param {string} name @param {string | null} etag */
async function rename(path, name, etag) {
	const { element } = maker({
		schema: only(form_for(await openapi(), "PATCH /v2/templates/{}"), ["name"]),
		value: { name },
		verb: "Rename",
		taken: "someone else has changed this template; close this dialog and check",
		async send(body) {
			await call("PATCH", path, { body, etag });
			box.close();
			await show();
		},
	});
	const box = dialog("Rename template", [element]);
	box.querySelector("input")?.focus();
}

/** @param {string} path */
async function make_default(path) {
	try {
		await call("POST", path, { body: { default: true } });
		toast("This is now the default template.");
		await show();
	} catch (error) {
		toast(sentence(error), "bad");
	}
}

/** Copies a template under the next free name: "Class 2", "Class 3". @param {any} template */
async function duplicate(template) {
	const base = template.name.replace(/ \d+$/, "");
	for (let i = 2; i < 100; i += 1) {
		const body = { ...template, name: `${base.slice(0, 124)} ${i}` };
		try {
			const made = await call("POST", "/v2/templates", { body, create: true });
			toast("Template duplicated.");
			await go(`/console/templates/${made.data.id}`);
			return;
		} catch (error) {
			if (error instanceof Refusal && error.status === 412) continue;
			toast(sentence(error), "bad");
			return;
		}
	}
}
