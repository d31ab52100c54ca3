// One webhook: its switch, its deliveries, the test event, its secret and its settings.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { address, call, get, openapi, segment } from "../lib/api.js";
import { h, icon, put } from "../lib/dom.js";
import { go, show } from "../lib/router.js";
import { only } from "../lib/schema.js";
import { ago, count_of, moment } from "../lib/text.js";
import {
	busy,
	confirm_with,
	copy_button,
	empty,
	menu,
	page_head,
	remove_with,
	secret_dialog,
	sentence,
	show_call,
	toast,
} from "../lib/ui.js";
import { editor } from "./editor.js";
import { form_for } from "./hints.js";
import { PATH, TYPES, badge_of } from "./webhooks.js";

const STATES = /** @type {const} */ ([
	["", "All deliveries"],
	["pending", "Pending"],
	["failed", "Failed"],
	["delivered", "Delivered after a retry"],
]);

/** @type {import("../lib/router.js").Maker} */
export async function webhook_page({ id = "" }, signal) {
	const path = `${PATH}/${segment(id)}`;
	const [own, doc] = await Promise.all([call("GET", path, { signal }), openapi()]);
	const hook = own.data;
	const schema = form_for(doc, "PATCH /v2/webhooks/{}");
	const names = schema.fields
		.map(([name]) => name)
		.filter((name) => name !== "secret" && name !== "enabled");
	const edit = editor({
		schema: { ...only(schema, names), rules: schema.rules },
		path,
		method: "PATCH",
		value: hook,
		etag: own.etag,
		extras: { suggestions: { "/events": TYPES } },
		saved() {
			toast("Webhook saved.");
			show();
		},
	});
	const title = hook.description || new URL(hook.url).host;
	const deliveries = await deliveries_section(path, signal);
	const test = h("button", { type: "button" }, icon("send"), "Send test event");
	test.addEventListener("click", () =>
		busy(test, async () => {
			await call("POST", `${path}/test`);
			toast("Sending a test event…");
			await deliveries.read();
		}),
	);
	const head = page_head({
		way: [["Webhooks", "/console/webhooks"]],
		title,
		badge: badge_of(hook),
		about: [
			h("span.id", null, h("span.mono", null, hook.id), copy_button(hook.id, "Copy ID")),
			h("span.break", null, hook.url),
			h("span", null, "Created ", ago(hook.created_at)),
		],
		actions: [
			enabled_switch(hook, path),
			test,
			menu("Webhook actions", [
				{ symbol: "refresh", words: "Rotate secret", action: () => rotate(path) },
				{ symbol: "terminal", words: "Show API request", action: () => show_call("GET", path) },
				{
					symbol: "trash",
					words: "Delete webhook",
					danger: true,
					action: () =>
						remove_with(
							{
								kind: "Webhook",
								title: `Delete webhook “${title}”?`,
								text: "It receives no more events, and pending deliveries are dropped. The events stay in the event log.",
								verb: "Delete webhook",
							},
							async () => {
								await call("DELETE", path);
								await go("/console/webhooks", { force: true });
							},
						),
				},
			]),
		],
	});
	return {
		title,
		leave: edit.leave,
		unsaved: edit.unsaved,
		element: h(
			"div.page",
			null,
			head,
			deliveries.element,
			h(
				"section",
				{ "aria-labelledby": "about-hook" },
				h("h2.section-title", { id: "about-hook" }, "Webhook settings"),
				edit.element,
			),
		),
	};
}

/** @param {any} hook @param {string} path */
function enabled_switch(hook, path) {
	const input = h("input.switch", { type: "checkbox", role: "switch", checked: hook.enabled });
	input.addEventListener("change", async () => {
		try {
			await call("PATCH", path, { body: { enabled: input.checked } });
			toast(
				input.checked
					? "Webhook enabled. It receives events from now on."
					: "Webhook disabled. It receives no more events.",
			);
			await show();
		} catch (error) {
			input.checked = !input.checked;
			toast(sentence(error), "bad");
		}
	});
	return h("label.labelled-switch", null, input, h("span", null, "Enabled"));
}

/** @param {string} path */
async function rotate(path) {
	const agreed = await confirm_with(
		"Rotate the secret?",
		"For the next 24 hours, deliveries are signed with both the new and the old secret, so that you can update your program.",
		"Rotate secret",
	);
	if (!agreed) return;
	try {
		const made = await call("POST", `${path}/rotate`);
		await secret_dialog(
			"New webhook secret",
			"Copy the secret now: it is not shown again.",
			made.data.secret,
		);
	} catch (error) {
		toast(sentence(error), "bad");
	}
}

/** @param {string} path @param {AbortSignal} signal */
async function deliveries_section(path, signal) {
	const filter = h(
		"select",
		{ "aria-label": "Filter deliveries by state" },
		STATES.map(([value, words]) => h("option", { value }, words)),
	);
	const place = h("div.list-place");
	const body = h("tbody");
	const columns = ["Event", "State", "Attempts", "Last response", "Next attempt"];
	const head = h(
		"tr",
		null,
		columns.map((name) =>
			h("th", { scope: "col", class: name === "Attempts" ? "right" : null }, name),
		),
	);
	const state = h("p.list-state");
	const table = h("table.list.things", null, h("thead", null, head), body);
	async function read() {
		const answer = await get(
			address(`${path}/deliveries`, { state: filter.value, limit: 100 }),
			signal,
		);
		const data = answer.data ?? [];
		put(body, data.map(row));
		put(state, count_of(data.length, "delivery", "deliveries"));
		const text =
			"A delivery is listed here when an attempt fails. Deliveries that succeed at the first attempt are not listed.";
		if (data.length > 0) put(place, table, h("div.list-foot", null, state));
		else put(place, empty("check", "No failed deliveries", text));
	}
	/** @param {any} one */
	function row(one) {
		/** @type {Record<string, [string, string]>} */
		const moods = {
			pending: ["clock", "Pending"],
			failed: ["warning", "Failed"],
			delivered: ["check", "Delivered"],
		};
		const [symbol, words] = moods[one.state] ?? ["info", one.state];
		return h(
			"tr",
			null,
			h(
				"td",
				{ "data-label": "Event" },
				h("span.row-name", null, one.type),
				h("span.note.mono", null, `${one.seq} · ${one.event_id}`),
			),
			h(
				"td",
				{ "data-label": "State" },
				h(
					"span.badge",
					{ class: one.state === "failed" ? "off" : one.state === "delivered" ? "accent" : "" },
					icon(symbol),
					words,
				),
			),
			h("td.right", { "data-label": "Attempts" }, one.attempts),
			h(
				"td",
				{ "data-label": "Last response" },
				[one.last_status || null, one.last_error].filter(Boolean).join(" · ") || "–",
			),
			h(
				"td",
				{ "data-label": "Next attempt" },
				one.next_at ? h("span", { title: moment(one.next_at) }, ago(one.next_at)) : "–",
			),
		);
	}
	const refresh = h(
		"button.plain.square",
		{ type: "button", "aria-label": "Refresh", title: "Refresh" },
		icon("refresh"),
	);
	refresh.addEventListener("click", () => busy(refresh, read));
	filter.addEventListener("change", () => busy(refresh, read));
	await read();
	const element = h(
		"section",
		{ "aria-labelledby": "deliveries" },
		h(
			"div.toolbar.between",
			null,
			h("h2.section-title", { id: "deliveries" }, "Deliveries"),
			h("div.actions", null, refresh, h("div.select.compact", null, filter, icon("down"))),
		),
		place,
	);
	return { element, read };
}
