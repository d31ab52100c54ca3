// The start page: the state of the service, rooms in session and the people inside, the number of rooms and
// templates, failing webhooks, the last changes, and usage by day. In an empty account it shows the three steps to the first meeting.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { address, call, get, openapi, segment } from "../lib/api.js";
import { chart } from "../lib/chart.js";
import { h, icon, put } from "../lib/dom.js";
import { health, read } from "../lib/metrics.js";
import { poll } from "../lib/poll.js";
import { set_text } from "../lib/rows.js";
import { only } from "../lib/schema.js";
import { count_of, number } from "../lib/text.js";
import { busy, copy_button, page_head, sentence } from "../lib/ui.js";
import { maker } from "./editor.js";
import { page_before, row } from "./events.js";
import { form_for } from "./hints.js";
import { STARTS } from "./new.js";
import { may, session } from "./session.js";
import { shown_name } from "./title.js";

const MOST = 100;
// Pages of joins that are counted.
const PAGES = 10;
const EVENTS = 8;
const DAY = 86400000;
const DAYS = 30;

/** @type {import("../lib/router.js").Maker} */
export async function overview_page(_, signal) {
	const who = await session();
	const list = (/** @type {string} */ path) => get(`${path}?view=summary&limit=${MOST}`, signal);
	const [templates, rooms] = await Promise.all([list("/v2/templates"), list("/v2/rooms")]);
	const writing = may("templates:write") && may("rooms:write") && may("codes:write");
	if (writing && ((templates.data ?? []).length === 0 || (rooms.data ?? []).length === 0)) {
		return first_steps(templates.data ?? [], who);
	}
	const reading_events = may("events:read");
	const [state, joins, failing, changes, usage] = await Promise.all([
		state_of_service(who.operator, signal),
		reading_events ? joins_today(signal) : null,
		may("webhooks:write") ? failing_webhooks(signal) : null,
		reading_events ? page_before(0, "", MOST, signal) : null,
		may("sessions:read") ? get("/v2/usage", signal) : null,
	]);
	const head = page_head({
		title: "Overview",
		about: [who.account.name],
		actions: [
			may("templates:write") &&
				h(
					"a.button",
					{ href: "/console/templates/new", "data-create": "" },
					icon("plus"),
					"New template",
				),
			may("rooms:write") &&
				h("a.button.primary", { href: "/console/rooms/new" }, icon("plus"), "New room"),
		],
	});
	const tile = (
		/** @type {string} */ name,
		/** @type {string} */ value,
		/** @type {string} */ href,
		/** @type {string} */ note = "",
	) =>
		h(
			"div.tile",
			null,
			h("dt", null, name),
			h("dd", null, h("a.stretch", { href }, value)),
			note && h("dd.tile-note", null, note),
		);
	return {
		title: "Overview",
		element: h(
			"div.page",
			null,
			head,
			state,
			h(
				"dl.tiles.linked",
				null,
				usage && live_tiles(usage, tile, signal),
				tile("Rooms", count(rooms), "/console/rooms"),
				tile("Templates", count(templates), "/console/templates"),
				joins &&
					tile("Joins today", joins.words, "/console/events?type=join.*&time=today", joins.note),
				failing && tile("Failing webhooks", number(failing.length), "/console/webhooks"),
			),
			failing && failing.length > 0 && webhooks_section(failing),
			changes && changes_section(changes.data),
			usage?.data.length > 0 && usage_section(usage.data),
		),
	};
}

/**
 * Returns the tiles of rooms in session and of the people inside, which stay up to date.
 * @param {any} usage @param {(name: string, value: string, href: string) => HTMLElement} tile
 * @param {AbortSignal} signal
 */
function live_tiles(usage, tile, signal) {
	const to = "/console/sessions?active=true";
	const rooms = tile("Rooms in session", number(usage.now.sessions), to);
	const people = tile("People inside", number(usage.now.peers), to);
	poll(async () => {
		const today = new Date().toISOString().slice(0, 10);
		const { now } = await get(address("/v2/usage", { after: today }), signal);
		for (const [one, value] of [
			[rooms, now.sessions],
			[people, now.peers],
		])
			set_text(one.querySelector("a"), number(value));
	}, signal);
	return [rooms, people];
}

/** @typedef {{ day: string, sessions: number, peers: number, minutes: number, peak: number }} Usage */

/** Returns charts of the last 30 days. @param {Usage[]} days those with something in them */
function usage_section(days) {
	const by_day = new Map(days.map((one) => [one.day, one]));
	const last = Math.floor(Date.now() / DAY) * DAY;
	const times = Array.from({ length: DAYS }, (_, i) => last - (DAYS - 1 - i) * DAY);
	const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" });
	/** @param {string} title @param {[string, "sessions" | "minutes" | "peak"][]} lines */
	function of_days(title, lines) {
		const one = chart({
			title,
			lines: lines.map(([name], i) => ({ name, filled: i === 0 })),
			format: number,
			label: (time) => format.format(time),
			least: 4,
		});
		const rows = times.map((time) => {
			const day = by_day.get(new Date(time).toISOString().slice(0, 10));
			return { time, values: lines.map(([, name]) => day?.[name] ?? 0) };
		});
		one.set(rows, { from: times[0] ?? 0, until: last, gap: 2 * DAY });
		return one.element;
	}
	return h(
		"section",
		{ "aria-labelledby": "usage" },
		h(
			"div.toolbar.between",
			null,
			h("h2.section-title", { id: "usage" }, "Last 30 days"),
			h("a", { href: "/console/sessions" }, "All sessions"),
		),
		h(
			"div.charts",
			null,
			of_days("People and sessions", [
				["Most inside at once", "peak"],
				["Sessions", "sessions"],
			]),
			of_days("Time spent in rooms", [["Minutes", "minutes"]]),
		),
	);
}

/** Returns the number of objects in a list, at most 100. @param {any} page */
const count = ({ data }) =>
	(data ?? []).length >= MOST ? `${MOST}+` : number((data ?? []).length);

/** @param {boolean} operator @param {AbortSignal} signal */
async function state_of_service(operator, signal) {
	const notice = (/** @type {boolean} */ good, /** @type {any} */ ...words) =>
		h(
			"div.notice",
			{ class: good ? "ok" : "warn", role: "status" },
			icon(good ? "check" : "warning"),
			h("span", null, words),
		);
	if (!operator) return notice(true, "The service responds.");
	try {
		const [good, words] = health(read(await get("/v2/service/metrics", signal)));
		return notice(good, words, " ", h("a", { href: "/console/service" }, "Service"));
	} catch (error) {
		if (signal.aborted) throw error;
		return notice(false, sentence(error));
	}
}

/** Counts the joins since midnight. @param {AbortSignal} signal */
async function joins_today(signal) {
	const midnight = new Date().setHours(0, 0, 0, 0);
	let joins = 0;
	let before = 0;
	let ever = false;
	for (let i = 0; i < PAGES; i += 1) {
		const { data, last } = await page_before(before, "join.granted", MOST, signal);
		const today = data.filter((one) => Date.parse(one.timestamp) >= midnight);
		ever ||= data.length > 0;
		joins += today.length;
		const end = today.length < data.length || last === before || last <= 1;
		if (end) return { words: number(joins), note: ever ? "" : "Recorded if log_joins is on" };
		before = last;
	}
	return { words: `${number(joins)}+`, note: "" };
}

/** Returns webhooks that were disabled automatically or have pending deliveries, with the reason.
 * @param {AbortSignal} signal @returns {Promise<{ hook: any, words: string }[]>} */
async function failing_webhooks(signal) {
	const hooks = (await get(`/v2/webhooks?limit=${MOST}`, signal)).data ?? [];
	/** @type {Record<string, string>} */
	const reasons = { gone: "Disabled: receiver gone", failing: "Disabled: failing" };
	const found = await Promise.all(
		hooks.map(async (/** @type {any} */ hook) => {
			if (hook.disabled_reason) return { hook, words: reasons[hook.disabled_reason] ?? "Disabled" };
			if (!hook.enabled) return null;
			const path = `/v2/webhooks/${segment(hook.id)}/deliveries`;
			const { data } = await get(address(path, { state: "pending", limit: MOST }), signal);
			const pending = data?.length ?? 0;
			return pending > 0
				? { hook, words: count_of(pending, "delivery to retry", "deliveries to retry") }
				: null;
		}),
	);
	return found.filter((one) => one !== null);
}

/** @param {{ hook: any, words: string }[]} failing */
function webhooks_section(failing) {
	const rows = failing.map(({ hook, words }) =>
		h(
			"tr",
			null,
			h(
				"td",
				{ "data-label": "URL" },
				h(
					"a.row-link",
					{ href: `/console/webhooks/${hook.id}` },
					h("span.row-name.break", null, hook.url),
				),
			),
			h("td", { "data-label": "State" }, h("span.badge.off", null, words)),
		),
	);
	const head = ["URL", "State"].map((name) => h("th", { scope: "col" }, name));
	return h(
		"section",
		{ "aria-labelledby": "failing" },
		h("h2.section-title", { id: "failing" }, "Failing webhooks"),
		h(
			"div.list-place",
			null,
			h("table.list.things", null, h("thead", null, h("tr", null, head)), h("tbody", null, rows)),
		),
	);
}

/** @param {import("./events.js").Entry[]} entries */
function changes_section(entries) {
	const head = ["Time", "Event", "Object", "By"].map((name) => h("th", { scope: "col" }, name));
	// People who come and go would leave no room for changes.
	const changes = entries.filter(({ type }) => !/^(peer|session)\./.test(type));
	const rows = changes.slice(0, EVENTS).map(row);
	return h(
		"section",
		{ "aria-labelledby": "changes" },
		h(
			"div.toolbar.between",
			null,
			h("h2.section-title", { id: "changes" }, "Last changes"),
			h("a", { href: "/console/events" }, "All events"),
		),
		h(
			"div.list-place",
			null,
			h("table.list.events", null, h("thead", null, h("tr", null, head)), h("tbody", null, rows)),
		),
	);
}

/**
 * Returns the page of an empty account: a template, a room, and links to invite people, on one screen.
 * @param {any[]} templates summaries @param {import("./session.js").Session} who
 */
async function first_steps(templates, who) {
	const doc = await openapi();
	/** The template of the room: the default one, or the newest. @type {{ id: string, name: string } | undefined} */
	let template = templates.find((one) => one.default) ?? templates[0];
	const first = h("li.step");
	const second = h("li.step");
	const third = h("li.step");
	/** @param {HTMLElement} place @param {string} title @param {boolean} done @param {any[]} content */
	const fill = (place, title, done, ...content) => {
		const at = [first, second, third].indexOf(/** @type {HTMLLIElement} */ (place)) + 1;
		place.classList.toggle("done", done);
		put(
			place,
			h("span.step-sign", null, done ? icon("check") : at),
			h("div.step-body", null, h("h2", null, title), content),
		);
	};

	function draw_template() {
		if (template) {
			const link = h("a", { href: `/console/templates/${template.id}` }, template.name);
			fill(first, "Create a template", true, h("p", null, "Template: ", link));
			return;
		}
		const { words = "", roles } = STARTS[0] ?? {};
		const one = h("button.primary", { type: "button" }, `Create the template “${words}”`);
		one.addEventListener("click", () =>
			busy(one, async () => {
				// The only media server of an account is meant, also if it is not the default.
				const { data } = may("backends:read") ? await get("/v2/backends") : { data: [] };
				const only_one = data.length === 1 && { settings: { backend: data[0].name } };
				const body = { name: words, default: true, roles, ...only_one };
				template = (await call("POST", "/v2/templates", { body })).data;
				draw_template();
				draw_room();
				second.querySelector("input")?.focus();
			}),
		);
		const names = Object.keys(roles ?? {}).join(" and ");
		fill(
			first,
			"Create a template",
			false,
			h(
				"p.quiet",
				null,
				`It defines the roles of a room. “${words}” has the roles ${names}; you can change everything later.`,
			),
			h(
				"div.row-of-buttons.start",
				null,
				one,
				h("a.button", { href: "/console/templates/new" }, "Choose other roles"),
			),
		);
	}
	function draw_room() {
		const about = h("p.quiet", null, "A room is where people meet. It gets a code for each role.");
		if (!template) return fill(second, "Create a room", false, about);
		const { id } = template;
		const { element } = maker({
			schema: only(form_for(doc, "POST /v2/rooms"), ["title", "name"]),
			verb: "Create room",
			taken: "another room already has this name",
			async send(value) {
				const body = { ...value, template_id: id };
				const { data: room } = await call("POST", "/v2/rooms", { body, create: true });
				const { data: codes } = await call("POST", `/v2/room-codes/room/${room.id}`);
				const link = h("a", { href: `/console/rooms/${room.id}` }, shown_name(room));
				fill(second, "Create a room", true, h("p", null, "Room: ", link));
				draw_links(room, codes.data ?? []);
				third.querySelector("button")?.focus();
			},
		});
		fill(second, "Create a room", false, about, element);
	}
	/** @param {any} room @param {any[]} codes */
	function draw_links(room, codes) {
		const lines = codes.map(({ code, role }) => {
			const url = `${who.public_url}/join/${segment(code)}`;
			const subject = encodeURIComponent(shown_name(room));
			return h(
				"li",
				null,
				h("strong", null, role),
				h("span.mono.break", null, url),
				copy_button(url, `Copy join link for ${role}`, { symbol: "link" }),
				h(
					"a.button.plain",
					{
						href: `mailto:?subject=${subject}&body=${encodeURIComponent(url)}`,
						"aria-label": `Mail join link for ${role}`,
						title: `Mail join link for ${role}`,
					},
					icon("send"),
				),
			);
		});
		fill(
			third,
			"Invite people",
			true,
			h(
				"p.quiet",
				null,
				"Send people the link of their role. The room has QR codes and more codes.",
			),
			h("ul.invitations", null, lines),
			h("a.button.primary", { href: `/console/rooms/${room.id}` }, "Go to the room"),
		);
	}
	draw_template();
	draw_room();
	fill(
		third,
		"Invite people",
		false,
		h("p.quiet", null, "Everyone with a join link can join, in the role of its code."),
	);
	return {
		title: "Overview",
		element: h(
			"div.page.narrow",
			null,
			page_head({
				title: "Your first meeting",
				about: ["Three steps to a room that people can join."],
			}),
			h("ol.steps", null, first, second, third),
		),
	};
}
