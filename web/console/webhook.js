// One webhook: whether it sends, the deliveries that failed or wait, a test, its secret, and its form.
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
	["pending", "Waiting"],
	["failed", "Failed"],
	["delivered", "Delivered later"],
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
			toast("Saved.");
			show();
		},
	});
	const title = hook.description || new URL(hook.url).host;
	const deliveries = await deliveries_section(path, signal);
	const test = h("button", { type: "button" }, icon("send"), "Send a test");
	test.addEventListener("click", () =>
		busy(test, async () => {
			await call("POST", `${path}/test`);
			toast("A test is on its way.");
			await deliveries.read();
		}),
	);
	const head = page_head({
		way: [["Webhooks", "/console/webhooks"]],
		title,
		badge: badge_of(hook),
		about: [
			h("span.id", null, h("span.mono", null, hook.id), copy_button(hook.id, "Copy the id")),
			h("span.break", null, hook.url),
			h("span", null, "made ", ago(hook.created_at)),
		],
		actions: [
			enabled_switch(hook, path),
			test,
			menu("More for this webhook", [
				{ symbol: "refresh", words: "New secret", action: () => rotate(path) },
				{ symbol: "terminal", words: "As a call", action: () => show_call("GET", path) },
				{
					symbol: "trash",
					words: "Delete",
					danger: true,
					action: () =>
						remove_with(
							{
								title: `Delete “${title}”?`,
								text: "Nothing is sent to it any more, and what waits is dropped. The events stay in the log.",
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
				h("h2.section-title", { id: "about-hook" }, "The webhook"),
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
			toast(input.checked ? "It sends what happens from now on." : "It sends nothing any more.");
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
		"Make a new secret?",
		"For 24 hours both secrets sign, so that your program can change over.",
		"Make a new secret",
	);
	if (!agreed) return;
	try {
		const made = await call("POST", `${path}/rotate`);
		await secret_dialog("The new secret", "This is shown once.", made.data.secret);
	} catch (error) {
		toast(sentence(error), "bad");
	}
}

/** @param {string} path @param {AbortSignal} signal */
async function deliveries_section(path, signal) {
	const filter = h(
		"select",
		{ "aria-label": "State of the deliveries" },
		STATES.map(([value, words]) => h("option", { value }, words)),
	);
	const place = h("div.list-place");
	const body = h("tbody");
	const columns = ["Event", "State", "Attempts", "Last answer", "Next attempt"];
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
			"Deliveries stand here of which an attempt failed. What arrives at once leaves no trace.";
		if (data.length > 0) put(place, table, h("div.list-foot", null, state));
		else put(place, empty("check", "Nothing failed", text));
	}
	/** @param {any} one */
	function row(one) {
		/** @type {Record<string, [string, string]>} */
		const moods = {
			pending: ["clock", "waiting"],
			failed: ["warning", "failed"],
			delivered: ["check", "delivered"],
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
				{ "data-label": "Last answer" },
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
		{ type: "button", "aria-label": "Read again", title: "Read again" },
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
