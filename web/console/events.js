// The event log of the account: what changed, who changed it, and when. The newest events come first; new
// events appear automatically.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { Refusal, address, get } from "../lib/api.js";
import { announce, h, icon, put } from "../lib/dom.js";
import { ago, clock, count_of } from "../lib/text.js";
import { busy, code_block, dialog, empty, page_head, sentence } from "../lib/ui.js";

/**
 * @typedef {object} Entry
 * @property {number} seq
 * @property {string} id
 * @property {string} type
 * @property {string} timestamp
 * @property {{ kind: string, id: string }} actor
 * @property {string} request_id
 * @property {Record<string, any>} data
 */

const PATH = "/v2/events";
const EVERY = 4000;
const PAGE = 50;
// The server examines at most this many events per request.
const LOOKED_AT = 10000;

/** The filters on offer; the address can contain any other type. @type {[string, string][]} */
const TYPES = [
	["", "All events"],
	["template.*", "Templates"],
	["role.*", "Roles"],
	["room.*", "Rooms"],
	["room_code.*", "Room codes"],
	["join.*", "Joins"],
	["webhook.*", "Webhooks"],
	["key.*", "API keys"],
	["backend.*", "Media servers"],
	["signing_key.*", "Signing keys"],
	["account.*", "Account"],
];

/** @param {number} after @param {string} type @param {number} limit @param {AbortSignal} signal */
async function page_after(after, type, limit, signal) {
	const answer = await get(address(PATH, { after, type, limit }), signal);
	/** @type {Entry[]} */
	const data = answer.data ?? [];
	return { data, last: Number(answer.last) };
}

/**
 * Returns the `seq` of the newest event and of the oldest kept event. No endpoint returns the newest `seq`:
 * it is found digit by digit, with parallel requests for each digit.
 * @param {AbortSignal} signal
 */
async function ends_of(signal) {
	const first = await get(address(PATH, { limit: 10 }), signal);
	const oldest = first.data?.[0]?.seq ?? 0;
	let newest = Number(first.last);
	if ((first.data ?? []).length < 10) return { oldest, newest };
	const has_more = async (/** @type {number} */ after) =>
		(await page_after(after, "", 10, signal)).data.length > 0;
	let step = 10;
	while (await has_more(newest + step)) step *= 10;
	for (step /= 10; step >= 1; step /= 10) {
		const base = newest;
		const found = await Promise.all(
			[1, 2, 3, 4, 5, 6, 7, 8, 9].map((digit) => has_more(base + digit * step)),
		);
		newest = base + (found.lastIndexOf(true) + 1) * step;
	}
	// If an event follows, it is the newest.
	return { oldest, newest: (await has_more(newest)) ? newest + 1 : newest };
}

/**
 * Returns the events after `after` up to and including `until`, oldest first.
 * @param {number} after @param {number} until @param {string} type @param {AbortSignal} signal
 */
async function between(after, until, type, signal) {
	/** @type {Entry[]} */
	const found = [];
	let at = after;
	while (at < until) {
		const { data, last } = await page_after(at, type, 100, signal);
		found.push(...data.filter((one) => one.seq <= until));
		if (last <= at) break;
		at = last;
	}
	return found;
}

/** @type {import("../lib/router.js").Maker} */
export async function events_page(_, signal, query) {
	let type = query.get("type") ?? "";
	const known = TYPES.some(([value]) => value === type);
	const options = known ? TYPES : [...TYPES, /** @type {[string, string]} */ ([type, type])];
	const filter = h(
		"select",
		{ "aria-label": "Event type", onchange: () => choose(filter.value) },
		options.map(([value, words]) => h("option", { value, selected: value === type }, words)),
	);
	const going = h("input.switch", { type: "checkbox", role: "switch", checked: true });
	const body = h("tbody", { id: "events" });
	const columns = ["Time", "Event", "Object", "By"];
	const head = h(
		"tr",
		null,
		columns.map((name) => h("th", { scope: "col" }, name)),
	);
	const table = h("table.list.events", null, h("thead", null, head), body);
	const state = h("p.list-state");
	const more = h(
		"button.small",
		{ type: "button", onclick: () => busy(more, older) },
		"Show older",
	);
	const foot = h("div.list-foot", null, state, more);
	const place = h("div.list-place", null, table, foot);

	let { oldest, newest } = await ends_of(signal);
	// The oldest event examined so far.
	let reached = newest + 1;
	let shown = 0;

	/** @param {string} next */
	async function choose(next) {
		type = next;
		const here = new URL(location.href);
		if (type) here.searchParams.set("type", type);
		else here.searchParams.delete("type");
		history.replaceState(null, "", here);
		put(body);
		shown = 0;
		reached = newest + 1;
		await older();
	}

	/** Loads older events until a page is full or the oldest kept event is reached. */
	async function older() {
		let span = PAGE;
		let found = 0;
		try {
			while (reached > oldest && found < PAGE) {
				const until = reached - 1;
				const after = Math.max(oldest - 1, until - span, 0);
				const entries = await between(after, until, type, signal);
				body.append(...entries.reverse().map(row));
				found += entries.length;
				reached = after + 1;
				// Rare types are searched for in larger and larger steps.
				span = Math.min(span * 4, LOOKED_AT);
			}
		} catch (error) {
			// The oldest events can expire while they are being read.
			if (!(error instanceof Refusal && error.status === 410)) throw error;
			reached = oldest;
		}
		shown += found;
		draw();
	}

	function draw() {
		more.hidden = reached <= oldest;
		put(state, count_of(shown, "event"), more.hidden ? "" : " shown");
		const nothing = shown === 0 && more.hidden;
		const text = type
			? "No events of this type are kept."
			: "Every change in this account is recorded here: what changed, who changed it, and when.";
		const title = type ? "No matching events" : "No events yet";
		put(place, nothing ? empty("events", title, text) : [table, foot]);
	}

	/** @type {ReturnType<typeof setTimeout> | undefined} */
	let timer;
	async function follow() {
		clearTimeout(timer);
		if (signal.aborted) return;
		if (going.checked && document.visibilityState === "visible") {
			try {
				const { data, last } = await page_after(newest, type, 100, signal);
				newest = Math.max(newest, last);
				if (data.length > 0) {
					if (oldest === 0) oldest = data[0]?.seq ?? 0;
					const rows = data.map(row).reverse();
					for (const one of rows) one.classList.add("fresh");
					body.prepend(...rows);
					shown += rows.length;
					draw();
					announce(count_of(rows.length, "new event"));
				}
			} catch (error) {
				if (signal.aborted) return;
				put(state, sentence(error), " Retrying…");
			}
		}
		timer = setTimeout(follow, EVERY);
	}
	const seen = () => document.visibilityState === "visible" && follow();
	document.addEventListener("visibilitychange", seen);
	signal.addEventListener("abort", () => {
		clearTimeout(timer);
		document.removeEventListener("visibilitychange", seen);
	});

	await older();
	timer = setTimeout(follow, EVERY);
	const page = page_head({
		title: "Events",
		about: ["Changes in this account, newest first."],
		actions: [h("label.labelled-switch", null, going, h("span", null, "Live"))],
	});
	const bar = h("div.toolbar", null, h("div.select", null, filter, icon("down")));
	return { title: "Events", element: h("div.page", null, page, bar, place) };
}

/** @type {Record<string, string>} */
const SYMBOLS = {
	template: "template",
	role: "person",
	room: "room",
	room_code: "key",
	webhook: "webhook",
	key: "key",
	backend: "media",
	signing_key: "key",
	account: "person",
	join: "out",
};
/** @type {Record<string, string>} */
const ACTORS = {
	cli: "Command line",
	code: "Guest",
	key: "API key",
	service: "Anteroom",
	session: "Console",
	token: "Management token",
};

/** Returns the page of the object; null if it has none or was deleted. @param {Entry} entry */
function target_of({ type, data }) {
	const [kind, verb] = type.split(".");
	if (verb === "deleted") return null;
	if (kind === "template") return `/console/templates/${data.id}`;
	if (kind === "role") {
		return `/console/templates/${data.template_id}/roles/${encodeURIComponent(data.role ?? data.name)}`;
	}
	if (kind === "room") return `/console/rooms/${data.id}`;
	if (data.room_id) return `/console/rooms/${data.room_id}`;
	if (kind === "webhook") return `/console/webhooks/${data.id}`;
	if (kind === "backend") return `/console/media/${data.id}`;
	return null;
}

/** @param {Entry} entry */
function row(entry) {
	const { data } = entry;
	const [kind = "", verb = ""] = entry.type.split(".");
	const bad = verb === "deleted" || verb === "refused" || verb === "disabled";
	const name = data.name || data.role || data.id || kind.replace("_", " ");
	const words =
		data.role && data.name !== data.role && kind !== "role" ? `${data.role} ${data.name}` : name;
	const href = target_of(entry);
	const changed = (data.changed ?? []).slice(0, 3).join("  ");
	const rest = (data.changed ?? []).length - 3;
	const by = ACTORS[entry.actor.kind] ?? entry.actor.kind;
	return h(
		"tr",
		null,
		h(
			"td",
			{ "data-label": "Time" },
			h(
				"span.event-time",
				null,
				ago(entry.timestamp),
				h("span.note", null, clock(Date.parse(entry.timestamp))),
			),
		),
		h(
			"td",
			{ "data-label": "Event" },
			h(
				"button.event-type",
				{
					type: "button",
					class: bad ? "bad" : "",
					title: "Show details",
					onclick: () =>
						dialog(
							`Event ${entry.seq}`,
							[code_block(JSON.stringify(entry, null, 2), "Event")],
							{
								class: "wide",
							},
						),
				},
				icon(SYMBOLS[kind] ?? "events"),
				entry.type,
			),
		),
		h(
			"td",
			{ "data-label": "Object" },
			href ? h("a.row-name", { href }, words) : h("span.row-name", null, words),
			changed && h("span.note.mono", null, changed, rest > 0 && ` +${rest}`),
			data.reason && h("span.note", null, data.reason.replace(/_/g, " ")),
		),
		h("td", { "data-label": "By" }, h("span.quiet", { title: entry.actor.id }, by)),
	);
}
