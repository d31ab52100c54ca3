// The list of webhooks, and the dialog that creates one.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { all_of, call, openapi } from "../lib/api.js";
import { h, icon } from "../lib/dom.js";
import { go } from "../lib/router.js";
import { only } from "../lib/schema.js";
import { ago, count_of } from "../lib/text.js";
import { busy, dialog, empty, page_head, secret_dialog } from "../lib/ui.js";
import { maker } from "./editor.js";
import { form_for } from "./hints.js";

export const PATH = "/v2/webhooks";
const USUAL = ["url", "events", "description"];
/** Event types that the form suggests. */
export const TYPES = [
	"*",
	"template.*",
	"role.*",
	"room.*",
	"room_code.*",
	"join.*",
	"session.*",
	"peer.*",
	"peer.waiting",
	"ban.*",
	"backend.*",
	"account.*",
];

/** Returns the badge of a disabled webhook, or null. @param {any} hook */
export function badge_of(hook) {
	if (hook.enabled) return null;
	/** @type {Record<string, string>} */
	const reasons = { gone: "Disabled: receiver gone", failing: "Disabled: failing" };
	return h("span.badge.off", null, reasons[hook.disabled_reason] ?? "Disabled");
}

/** @type {import("../lib/router.js").Maker} */
export async function webhooks_page(_, signal) {
	const hooks = await all_of(PATH, {}, signal);
	const add = (/** @type {Record<string, any>} */ props) => {
		const button = h("button.primary", { type: "button", ...props }, icon("plus"), "New webhook");
		button.addEventListener("click", () => busy(button, new_webhook));
		return button;
	};
	const text =
		"A webhook sends the events of this account to your URL. Each delivery is signed, and retried if it fails.";
	const head = ["URL", "Events", "Created"].map((name) => h("th", { scope: "col" }, name));
	const rows = hooks.map((hook) =>
		h(
			"tr",
			{ class: hook.enabled ? "" : "dim" },
			h(
				"td",
				{ "data-label": "URL" },
				h(
					"a.row-link",
					{ href: `/console/webhooks/${hook.id}` },
					h("span.name-cell", null, h("span.row-name.break", null, hook.url), badge_of(hook)),
				),
				hook.description && h("span.note", null, hook.description),
			),
			h(
				"td",
				{ "data-label": "Events" },
				h(
					"div.chips",
					null,
					hook.events.slice(0, 4).map((/** @type {string} */ one) => h("span.chip", null, one)),
				),
			),
			h("td", { "data-label": "Created" }, ago(hook.created_at)),
		),
	);
	const list = h(
		"div.list-place",
		null,
		rows.length === 0
			? empty("webhook", "No webhooks yet", text, add({}))
			: [
					h(
						"table.list.things",
						null,
						h("thead", null, h("tr", null, head)),
						h("tbody", null, rows),
					),
					h("div.list-foot", null, h("p.list-state", null, count_of(rows.length, "webhook"))),
				],
	);
	return {
		title: "Webhooks",
		element: h(
			"div.page",
			null,
			page_head({ title: "Webhooks", actions: [rows.length > 0 && add({ "data-create": "" })] }),
			list,
		),
	};
}

async function new_webhook() {
	const schema = form_for(await openapi(), `POST ${PATH}`);
	const rest = schema.fields.map(([name]) => name).filter((name) => !USUAL.includes(name));
	const { element } = maker({
		schema: { ...only(schema, [...USUAL, ...rest]), rules: schema.rules },
		value: { events: ["*"] },
		extras: { folded: rest, suggestions: { "/events": TYPES } },
		verb: "Create webhook",
		async send(body) {
			const made = await call("POST", PATH, { body });
			box.close();
			await secret_dialog(
				"Webhook secret",
				"Copy the secret now: it is not shown again. Your program verifies signatures with it.",
				made.data.secret,
			);
			await go(`/console/webhooks/${made.data.id}`);
		},
	});
	const box = dialog("New webhook", [element], { class: "form-dialog" });
	box.querySelector("input")?.focus();
}
