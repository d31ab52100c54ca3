// The media servers of the account (backends), and the keys that sign for them.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { all_of, call, openapi, segment } from "../lib/api.js";
import { h, icon, put } from "../lib/dom.js";
import { go, show } from "../lib/router.js";
import { body_of, changed } from "../lib/schema.js";
import { ago } from "../lib/text.js";
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
import { editor, maker } from "./editor.js";
import { form_for, worded } from "./hints.js";
import { may, session } from "./session.js";

const PATH = "/v2/backends";
const KEYS = "/v2/signing-keys";

/** @type {import("../lib/router.js").Maker} */
export async function media_page(_, signal) {
	const backends = await all_of(PATH, {}, signal);
	const add = (/** @type {Record<string, any>} */ props) =>
		h(
			"a.button.primary",
			{ href: "/console/media/new", ...props },
			icon("plus"),
			"New media server",
		);
	const text =
		"A media server of yours (LiveKit, Jitsi Meet, Galene, BigBlueButton, Janus): who joins a room gets a token or a link for it.";
	const rows = backends.map((one) =>
		h(
			"tr",
			null,
			h(
				"td",
				{ "data-label": "Name" },
				h(
					"a.row-link",
					{ href: `/console/media/${one.id}` },
					h(
						"span.name-cell",
						null,
						h("span.row-name", null, one.name),
						one.default && h("span.badge.accent", null, "default"),
					),
				),
			),
			h("td", { "data-label": "Type" }, one.type),
			h("td", { "data-label": "URL" }, h("span.quiet.break", null, one.url)),
			h("td", { "data-label": "Updated" }, ago(one.updated_at)),
		),
	);
	const head = ["Name", "Type", "URL", "Updated"].map((name) => h("th", { scope: "col" }, name));
	const list = h(
		"div.list-place",
		null,
		rows.length === 0
			? empty("media", "No media servers yet", text, add({}))
			: h("table.list.things", null, h("thead", null, h("tr", null, head)), h("tbody", null, rows)),
	);
	return {
		title: "Media servers",
		element: h(
			"div.page",
			null,
			page_head({
				title: "Media servers",
				actions: [rows.length > 0 && add({ "data-create": "" })],
			}),
			list,
			may("keys:write") && (await keys_section(signal)),
		),
	};
}

/** @type {import("../lib/router.js").Maker} */
export async function backend_page({ id = "" }, signal) {
	const doc = await openapi();
	/** @type {[string, string][]} */
	const way = [["Media servers", "/console/media"]];
	if (id === "new") return new_backend(doc, way);
	const path = `${PATH}/${segment(id)}`;
	const own = await call("GET", path, { signal });
	const edit = editor({
		schema: form_of_type(doc, `PATCH ${PATH}/{}`, own.data.type),
		path,
		method: "PATCH",
		value: own.data,
		etag: own.etag,
		saved() {
			toast("Saved.");
			show();
		},
	});
	const remove = () =>
		remove_with(
			{
				title: `Delete “${own.data.name}”?`,
				text: "Who joins from now on gets nothing for it. One that a template names is not deleted.",
				verb: "Delete",
			},
			async () => {
				await call("DELETE", path);
				await go("/console/media", { force: true });
			},
		);
	const head = page_head({
		way,
		title: own.data.name,
		badge: h("span.badge", null, own.data.type),
		about: [
			h(
				"span.id",
				null,
				h("span.mono", null, own.data.id),
				copy_button(own.data.id, "Copy the id"),
			),
		],
		actions: [
			menu("More for this media server", [
				{ symbol: "terminal", words: "As a call", action: () => show_call("GET", path) },
				{ symbol: "trash", words: "Delete", danger: true, action: remove },
			]),
		],
	});
	return {
		title: own.data.name,
		leave: edit.leave,
		unsaved: edit.unsaved,
		element: h("div.page", null, head, edit.element),
	};
}

/** @typedef {import("../lib/schema.js").Plain} Plain */

/**
 * The form for a media server of a type, with the members of `config` that it has: the document says of each
 * which types these are.
 * @param {any} doc @param {string} which is the call @param {string} type @returns {Plain}
 */
export function form_of_type(doc, which, type) {
	const schema = body_of(doc, which);
	const config = schema.fields.find(([name]) => name === "config")?.[1];
	if (!config) return schema;
	const word = new RegExp(`\\b${type}\\b`);
	const fields = config.fields.filter(([, one]) => word.test(one.description));
	const own = changed(schema, "config", { fields, rules: [], description: "" });
	return worded(worded(own, "backend"), type);
}

/** @param {any} doc @param {[string, string][]} way @returns {import("../lib/router.js").Page} */
function new_backend(doc, way) {
	const title = "New media server";
	const schema = body_of(doc, `POST ${PATH}`);
	const types = schema.fields.find(([name]) => name === "type")?.[1].options ?? [];
	const place = h("div");
	const kinds = h("div.segmented.wrapped", { role: "group", "aria-label": "Type" });
	/** @param {string} type */
	function choose(type) {
		const button = (/** @type {string} */ one) =>
			h(
				"button",
				{ type: "button", "aria-pressed": String(one === type), onclick: () => choose(one) },
				one,
			);
		put(kinds, types.map(button));
		const whole = form_of_type(doc, `POST ${PATH}`, type);
		const { element } = maker({
			schema: { ...whole, fields: whole.fields.filter(([name]) => name !== "type"), rules: [] },
			verb: "Make the media server",
			cancel: h("a.button", { href: "/console/media" }, "Cancel"),
			async send(body) {
				const made = await call("POST", PATH, { body: { ...body, type } });
				await go(`/console/media/${made.data.id}`, { force: true });
			},
		});
		put(place, element);
	}
	choose(types[0] ?? "");
	const panel = h("div.panel.stack", null, kinds, place);
	return { title, element: h("div.page.narrow", null, page_head({ way, title }), panel) };
}

/** @param {AbortSignal} signal */
async function keys_section(signal) {
	const place = h("div.list-place");
	const add = h("button", { type: "button" }, icon("plus"), "New signing key");
	add.addEventListener("click", () => busy(add, () => new_key(read)));
	async function read() {
		const keys = await all_of(KEYS, {}, signal);
		const text =
			"Media servers check tokens with their public parts. Jitsi with RS256, Galene and others need one.";
		const head = ["Key", "State", "Made", ""].map((name) =>
			h("th", { scope: "col" }, name || h("span.off-screen", null, "More")),
		);
		if (keys.length === 0) put(place, empty("key", "No signing keys", text));
		else
			put(
				place,
				h(
					"table.list.things",
					null,
					h("thead", null, h("tr", null, head)),
					h("tbody", null, keys.map(row)),
				),
			);
	}
	/** @param {any} key */
	function row(key) {
		const path = `${KEYS}/${segment(key.kid)}`;
		const activate = async () => {
			try {
				await call("POST", `${path}/activate`);
				toast("It signs from now on.");
				await read();
			} catch (error) {
				toast(sentence(error), "bad");
			}
		};
		const remove = () =>
			remove_with(
				{
					title: "Delete the signing key?",
					text: "Tokens that it signed are refused by media servers as soon as they read the keys anew.",
					verb: "Delete key",
				},
				async () => {
					await call("DELETE", path);
					await read();
				},
			);
		return h(
			"tr",
			null,
			h(
				"td",
				{ "data-label": "Key" },
				h("span.row-name", null, key.alg),
				h("span.note.mono.break", null, key.kid),
			),
			h(
				"td",
				{ "data-label": "State" },
				h("span.badge", { class: key.state === "active" ? "accent" : "" }, key.state),
			),
			h("td", { "data-label": "Made" }, ago(key.created_at)),
			h(
				"td.menu-cell",
				null,
				menu(`More for the key ${key.kid}`, [
					key.state === "next" && { symbol: "check", words: "Make it sign", action: activate },
					{ symbol: "trash", words: "Delete", danger: true, action: remove },
				]),
			),
		);
	}
	await read();
	const { account, public_url } = await session();
	const url = `${public_url}/v2/jwks/${account.id}.json`;
	return h(
		"section",
		{ "aria-labelledby": "signing" },
		h(
			"div.toolbar.between",
			null,
			h("h2.section-title", { id: "signing" }, "Signing keys"),
			h("div.actions", null, add),
		),
		place,
		h(
			"p.hint.id",
			null,
			h("span", null, "Published at"),
			h("span.mono.break", null, url),
			copy_button(url, "Copy the address of the keys"),
		),
	);
}

/** @param {() => Promise<void>} done */
async function new_key(done) {
	const { element } = maker({
		schema: form_for(await openapi(), `POST ${KEYS}`),
		verb: "Make the key",
		async send(body) {
			await call("POST", KEYS, { body });
			box.close();
			await done();
		},
	});
	const box = dialog("New signing key", [element]);
	box.querySelector("select")?.focus();
}
