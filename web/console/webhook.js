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
	code_block,
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
import { session } from "./session.js";
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
	const deliveries = await deliveries_section(hook, path, signal);
	const test = h("button", { type: "button" }, icon("send"), "Send test");
	test.addEventListener("click", () =>
		busy(test, async () => {
			await call("POST", `${path}/test`);
			toast("Test event sent. It is not listed below.");
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

// How often, and how many times, a delivery that is sent again is looked at until its outcome is known.
const LOOK_EVERY = 600;
const LOOKS = 10;

/** @param {any} hook @param {string} path @param {AbortSignal} signal */
async function deliveries_section(hook, path, signal) {
	const filter = h(
		"select",
		{ "aria-label": "Filter deliveries by state" },
		STATES.map(([value, words]) => h("option", { value }, words)),
	);
	const place = h("div.list-place");
	const body = h("tbody");
	const columns = ["Event", "State", "Attempts", "Last response", "Next attempt", ""];
	const head = h(
		"tr",
		null,
		columns.map((name) =>
			h(
				"th",
				{ scope: "col", class: name === "Attempts" ? "right" : null },
				name || h("span.off-screen", null, "Actions"),
			),
		),
	);
	const state = h("p.list-state");
	const table = h("table.list.things.deliveries", null, h("thead", null, head), body);
	/** Deliveries whose details are open, by event ID. @type {Set<string>} */
	const open = new Set();
	/** @type {any[]} */
	let data = [];
	async function read() {
		const query = { state: filter.value, limit: 100 };
		data = (await get(address(`${path}/deliveries`, query), signal)).data ?? [];
		put(body, data.map(rows_of));
		put(state, count_of(data.length, "delivery", "deliveries"));
		const text =
			"A delivery is listed here when an attempt fails. Deliveries that succeed at the first attempt are not listed.";
		if (data.length > 0) put(place, table, h("div.list-foot", null, state));
		else put(place, empty("check", "No failed deliveries", text));
	}
	/** Sends a delivery again, and shows its outcome in its row. @param {any} one */
	async function send_again(one) {
		/** @type {any} */
		let now = (await call("POST", `${path}/deliveries/${one.event_id}/retry`)).data;
		for (let i = 0; i < LOOKS && now.state === "pending" && now.attempts === one.attempts; i += 1) {
			await new Promise((turn) => setTimeout(turn, LOOK_EVERY));
			const list = await get(`${path}/deliveries?limit=100`, signal);
			now = list.data?.find((/** @type {any} */ other) => other.event_id === one.event_id) ?? now;
		}
		const at = [...body.querySelectorAll("tr[data-event]")].filter(
			(row) => row instanceof HTMLElement && row.dataset.event === one.event_id,
		);
		const rows = rows_of(now);
		at.slice(1).forEach((row) => row.remove());
		at[0]?.replaceWith(...rows);
		rows[0]?.classList.add("fresh");
		const outcome = now.state === "pending" ? now.last_error || "still pending" : now.state;
		toast(`Sent again: ${outcome}.`, now.state === "delivered" ? "ok" : "bad");
	}
	/** Returns the row of a delivery, and its details if they are open. @param {any} one @returns {HTMLElement[]} */
	function rows_of(one) {
		/** @type {Record<string, [string, string]>} */
		const moods = {
			pending: ["clock", "Pending"],
			failed: ["warning", "Failed"],
			delivered: ["check", "Delivered"],
		};
		const [symbol, words] = moods[one.state] ?? ["info", one.state];
		const name = `${one.type}, event ${one.seq}`;
		const again = h(
			"button.small",
			{ type: "button", "aria-label": `Send again: ${name}`, disabled: !hook.enabled },
			"Send again",
		);
		again.addEventListener("click", () => busy(again, () => send_again(one)));
		const detail = h("tr.detail", { "data-event": one.event_id });
		const button = h(
			"button.event-type",
			{
				type: "button",
				"aria-expanded": String(open.has(one.event_id)),
				"aria-label": `Details of ${name}`,
			},
			one.type,
		);
		button.addEventListener("click", () => {
			const opens = !open.delete(one.event_id);
			if (opens) open.add(one.event_id);
			button.setAttribute("aria-expanded", String(opens));
			if (opens) {
				show_detail(one, detail, signal);
				line.after(detail);
			} else detail.remove();
		});
		if (open.has(one.event_id)) show_detail(one, detail, signal);
		const line = h(
			"tr",
			{ "data-event": one.event_id },
			h(
				"td",
				{ "data-label": "Event" },
				button,
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
			h("td", { "data-label": "Last response" }, came_back(one) || "–"),
			h(
				"td",
				{ "data-label": "Next attempt" },
				one.next_at ? h("span", { title: moment(one.next_at) }, ago(one.next_at)) : "–",
			),
			h("td.menu-cell", null, again),
		);
		return open.has(one.event_id) ? [line, detail] : [line];
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

/** Returns the last response to a delivery in words. @param {any} one */
const came_back = (one) =>
	[one.last_status && `Status ${one.last_status}`, one.last_error].filter(Boolean).join(" · ");

/**
 * Shows the last response and the body that was sent, which is the event.
 * @param {any} one @param {HTMLElement} row @param {AbortSignal} signal
 */
async function show_detail(one, row, signal) {
	const sent = h("div", null, h("p.quiet", null, "Loading…"));
	const { account } = await session();
	const fact = (/** @type {string} */ name, /** @type {any} */ value) =>
		h("div", null, h("dt", null, name), h("dd", null, value));
	put(
		row,
		h(
			"td",
			{ colspan: "6" },
			h(
				"div.event-change",
				null,
				h("h3", null, "Response"),
				h(
					"dl.facts",
					null,
					fact("Last response", came_back(one) || "None yet"),
					fact("Attempts", one.attempts),
					one.next_at && fact("Next attempt", moment(one.next_at, true)),
				),
				h("h3", null, "Request body"),
				sent,
			),
		),
	);
	try {
		const page = await get(address("/v2/events", { after: one.seq - 1, limit: 10 }), signal);
		const event = page.data?.[0];
		if (event?.seq !== one.seq) throw new Error("The event is no longer in the log.");
		const { seq, id, type, timestamp, actor, data } = event;
		const body = { version: "2.0", id, account_id: account.id, timestamp, type, data, seq, actor };
		put(sent, code_block(JSON.stringify(body, null, 2), `Body of event ${seq}`));
	} catch (error) {
		if (!signal.aborted) put(sent, h("p.quiet", null, sentence(error)));
	}
}
