// The API keys of the account, each with scopes and an expiry.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { all_of, call, openapi, segment } from "../lib/api.js";
import { h, icon, put } from "../lib/dom.js";
import { ago, count_of, moment } from "../lib/text.js";
import {
	busy,
	copy_button,
	dialog,
	empty,
	menu,
	page_head,
	remove_with,
	secret_dialog,
	toast,
} from "../lib/ui.js";
import { maker } from "./editor.js";
import { form_for } from "./hints.js";

/** @typedef {{ id: string, name: string, scopes: string[], expires_at?: string, created_at: string }} Key */

const PATH = "/v2/keys";
/** @param {Key} key */
const path_of = (key) => `${PATH}/${segment(key.id)}`;

/** @type {import("../lib/router.js").Maker} */
export async function keys_page(_, signal) {
	const place = h("div.list-place");
	/** @type {Key[]} */
	let keys = [];
	const add = (/** @type {Record<string, any>} */ props) => {
		const button = h("button.primary", { type: "button", ...props }, icon("plus"), "New API key");
		button.addEventListener("click", () => busy(button, () => new_key(read)));
		return button;
	};
	// An empty list has the button itself.
	const actions = h("div.actions");
	async function read() {
		keys = await all_of(PATH, {}, signal);
		draw();
	}
	function draw() {
		put(actions, keys.length > 0 && add({ "data-create": "" }));
		if (keys.length === 0) {
			const text =
				"An API key lets a program call the API with only the scopes you choose. Create one for each program.";
			put(place, empty("key", "No API keys yet", text, add({})));
			return;
		}
		const columns = ["Name", "Scopes", "Expires", "Created", ""];
		const head = columns.map((name) =>
			h("th", { scope: "col" }, name || h("span.off-screen", null, "Actions")),
		);
		put(
			place,
			h(
				"table.list.things",
				null,
				h("thead", null, h("tr", null, head)),
				h("tbody", null, keys.map(row)),
			),
			h("div.list-foot", null, h("p.list-state", null, count_of(keys.length, "API key"))),
		);
	}
	/** @param {Key} key */
	function row(key) {
		const ended = key.expires_at !== undefined && Date.parse(key.expires_at) <= Date.now();
		const end = key.expires_at ? moment(key.expires_at) : "Never";
		const actions = menu(`Actions for API key ${key.name}`, [
			{ symbol: "pen", words: "Edit", action: () => change_key(key, read) },
			{ symbol: "trash", words: "Delete", danger: true, action: () => delete_key(key) },
		]);
		return h(
			"tr",
			{ class: ended ? "dim" : "" },
			h(
				"td",
				{ "data-label": "Name" },
				h("span.row-name", null, key.name),
				h(
					"span.note.id",
					null,
					h("span.mono", null, `ak_${key.id}`),
					copy_button(key.id, `Copy ID of ${key.name}`),
				),
			),
			h(
				"td",
				{ "data-label": "Scopes" },
				h(
					"div.chips",
					null,
					key.scopes.map((one) => h("span.chip", null, one)),
				),
			),
			h(
				"td",
				{ "data-label": "Expires" },
				ended ? h("span.badge.off", null, "Expired") : h("span.quiet", null, end),
			),
			h("td", { "data-label": "Created" }, ago(key.created_at)),
			h("td.menu-cell", null, actions),
		);
	}
	/** @param {Key} key */
	const delete_key = (key) =>
		remove_with(
			{
				kind: "API key",
				title: `Delete API key “${key.name}”?`,
				text: "Programs that use it lose access immediately, and console sessions opened with it end. This cannot be undone.",
				verb: "Delete API key",
			},
			async () => {
				await call("DELETE", path_of(key));
				await read();
			},
		);
	await read();
	const head = page_head({
		title: "API keys",
		about: ["For programs that call the API."],
		actions: [actions],
	});
	return { title: "API keys", element: h("div.page", null, head, place) };
}

/** @param {() => Promise<void>} done */
async function new_key(done) {
	const { element } = maker({
		schema: form_for(await openapi(), `POST ${PATH}`),
		verb: "Create API key",
		async send(body) {
			const made = await call("POST", PATH, { body });
			box.close();
			await done();
			await secret_dialog(
				`API key “${made.data.name}” created`,
				"Copy the key now: it is not shown again. Anteroom stores only a hash of it.",
				made.data.key,
			);
		},
	});
	const box = dialog("New API key", [element], { class: "form-dialog" });
	box.querySelector("input")?.focus();
}

/** @param {Key} key @param {() => Promise<void>} done */
async function change_key(key, done) {
	const { element, form } = maker({
		schema: form_for(await openapi(), `PATCH ${PATH}/{}`),
		value: key,
		verb: "Save",
		async send(value) {
			const names = Object.keys({ ...before, ...value });
			const changes = names.filter(
				(name) => JSON.stringify(before[name]) !== JSON.stringify(value[name]),
			);
			const body = Object.fromEntries(changes.map((name) => [name, value[name] ?? null]));
			await call("PATCH", path_of(key), { body });
			box.close();
			await done();
			toast("API key saved.");
		},
	});
	const before = form.read();
	const box = dialog(`Edit API key “${key.name}”`, [element], { class: "form-dialog" });
	box.querySelector("input")?.focus();
}
