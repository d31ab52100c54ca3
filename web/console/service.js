// The state of the service for operators: its metrics, read every two seconds while the page is visible, and
// charts of up to 24 hours, which the service keeps.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { address, get } from "../lib/api.js";
import { chart } from "../lib/chart.js";
import { h, icon, put } from "../lib/dom.js";
import { health, quantile, rate, read, sum } from "../lib/metrics.js";
import { set_query } from "../lib/router.js";
import { ago, bytes, duration, number } from "../lib/text.js";
import { empty, page_head, sentence } from "../lib/ui.js";
import { session } from "./session.js";

/** @typedef {import("../lib/metrics.js").Reading} Reading */
/** @typedef {import("../lib/metrics.js").Labels} Labels */
/** The values of the charts at a time, or in the minute before it. @typedef {{ time: number, values: (number | null)[][] }} Point */

const EVERY = 2000;
const LONGEST = 30000;
const MINUTE = 60000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const REQUESTS = "anteroom_requests_total";
const TIMES = "anteroom_request_duration_seconds";
const SYNCS = "anteroom_journal_sync_duration_seconds";
const CALLS = 12;
/** Readings of this page that are kept. */
const LIVE = 90;

/** Ranges of the charts, by the parameter `range`: words and milliseconds; 0 for the readings of this page.
 * @type {Record<string, [string, number]>} */
const RANGES = {
	live: ["Live", 0],
	hour: ["1 hour", HOUR],
	hours: ["6 hours", 6 * HOUR],
	day: ["24 hours", DAY],
};

/** @param {number} seconds */
function span(seconds) {
	if (seconds >= 1) return `${seconds.toFixed(1)} s`;
	if (seconds >= 0.01) return `${Math.round(seconds * 1000)} ms`;
	if (seconds >= 0.001) return `${(seconds * 1000).toFixed(1)} ms`;
	return `${Math.round(seconds * 1e6)} µs`;
}

/** @param {number} value */
const per_second = (value) =>
	value >= 10 || value === 0 ? number(Math.round(value)) : value.toFixed(1);

/** Leaves out the requests of this page itself. @param {Labels} labels */
const of_others = (labels) => !/metrics$/.test(labels.route ?? "");
/** @param {string} digit */
const status = (digit) => (/** @type {Labels} */ labels) => labels.status?.[0] === digit;

/** @type {import("../lib/router.js").Maker} */
export async function service_page(_, signal, query) {
	const { operator } = await session();
	if (!operator) {
		const text = "To make your account an operator, run: anteroom account set ACCOUNT operator=on";
		const title = "Only operators can see this page";
		const element = h("div.page", null, empty("lock", title, text, null, "h1"));
		return { title: "Service", element };
	}
	const state = h("div.notice", { role: "status" }, "Loading…");
	const tiles = h("dl.tiles.wide");
	const body = h("tbody");
	const least = 0.001;
	const quantiles = [{ name: "p50", filled: true }, { name: "p99" }];
	const charts = [
		chart({
			title: "Requests per second",
			lines: [{ name: "Reads", filled: true }, { name: "Writes" }, { name: "Joins" }],
			format: per_second,
			least: 1,
		}),
		chart({ title: "Response time", lines: quantiles, format: span, least }),
		chart({ title: "Journal sync time", lines: quantiles, format: span, least }),
		chart({
			title: "Error responses per second",
			lines: [{ name: "4xx", filled: true }, { name: "5xx" }],
			format: per_second,
			least: 1,
		}),
	];
	/** @type {Reading | null} */
	let before = null;
	/** @type {ReturnType<typeof setTimeout> | undefined} */
	let timer;
	let failures = 0;
	/** The minutes that the service keeps, and the readings of this page. @type {Point[]} */
	let minutes = [];
	/** @type {Point[]} */
	let live = [];
	let asked_at = 0;
	let range = query.get("range") ?? "hour";
	if (!RANGES[range]) range = "hour";

	async function tick() {
		clearTimeout(timer);
		if (signal.aborted || document.visibilityState !== "visible") return;
		try {
			await read_history();
			const now = read(await get("/v2/service/metrics", signal));
			failures = 0;
			tell_state(now);
			if (before) add(before, now);
			before = now;
		} catch (error) {
			if (signal.aborted) return;
			failures += 1;
			state.className = "notice warn";
			put(state, icon("warning"), h("span", null, `${sentence(error)} Retrying…`));
		}
		timer = setTimeout(tick, Math.min(EVERY * 2 ** failures, LONGEST));
	}

	/** Reads the minutes that have passed since the last time. */
	async function read_history() {
		if (Date.now() - asked_at < MINUTE) return;
		const newest = minutes.at(-1);
		const since = newest ? new Date(newest.time).toISOString().replace(/\.\d+/, "") : "";
		const { interval, samples } = await get(address("/v2/service/history", { since }), signal);
		asked_at = Date.now();
		minutes.push(...samples.map((/** @type {any} */ one) => point_of(one, interval)));
		minutes = minutes.filter((one) => one.time > Date.now() - DAY);
		draw();
	}

	/** @param {Reading} now */
	function tell_state(now) {
		const [good, words] = health(now);
		// Screen readers read a status aloud each time it is written, so it is written only when it changes.
		if (state.textContent !== words)
			put(state, icon(good ? "check" : "warning"), h("span", null, words));
		state.className = good ? "notice ok" : "notice warn";
		put(
			tiles,
			facts_of(now).map(([name, value, note]) =>
				h(
					"div.tile",
					null,
					h("dt", null, name),
					h("dd", null, value),
					note && h("dd.tile-note", null, note),
				),
			),
		);
	}

	/** Adds a reading of this page. @param {Reading} was @param {Reading} now */
	function add(was, now) {
		const reads = (/** @type {Labels} */ one) => one.method === "GET" && of_others(one);
		const joins = (/** @type {Labels} */ one) => one.route === "/v2/token";
		const writes = (/** @type {Labels} */ one) => one.method !== "GET" && !joins(one);
		live.push({
			time: Date.now(),
			values: [
				[reads, writes, joins].map((which) => rate(was, now, REQUESTS, which)),
				[0.5, 0.99].map((q) => quantile(was, now, TIMES, q, of_others)),
				[0.5, 0.99].map((q) => quantile(was, now, SYNCS, q)),
				["4", "5"].map((digit) => rate(was, now, REQUESTS, status(digit))),
			],
		});
		live = live.slice(-LIVE);
		put(body, calls(was, now));
		draw();
	}

	function draw() {
		const [, size = 0] = RANGES[range] ?? [];
		const until = Date.now();
		const last = minutes.at(-1)?.time ?? 0;
		// The readings of this page continue the minutes of the service.
		const points = size === 0 ? live : [...minutes, ...live.filter(({ time }) => time > last)];
		const over = size === 0 ? null : { from: until - size, until, gap: 2 * MINUTE };
		const within = points.filter(({ time }) => !over || time >= over.from);
		charts.forEach((one, i) =>
			one.set(
				within.map(({ time, values }) => ({ time, values: values[i] ?? [] })),
				over,
			),
		);
	}

	const ranges = h("div.segmented.ranges", { role: "group", "aria-label": "Range of the charts" });
	/** @param {string} next */
	function choose(next) {
		range = next;
		put(
			ranges,
			Object.entries(RANGES).map(([name, [words]]) =>
				h(
					"button",
					{
						type: "button",
						"aria-pressed": String(name === range),
						onclick() {
							set_query({ range: name });
							choose(name);
							/** @type {HTMLElement | null} */ (
								ranges.querySelector("[aria-pressed=true]")
							)?.focus();
						},
					},
					words,
				),
			),
		);
		draw();
	}
	choose(range);

	const seen = () => document.visibilityState === "visible" && tick();
	document.addEventListener("visibilitychange", seen);
	tick();
	const columns = ["Endpoint", "Responses", "Errors", "p99 now"];
	const head = columns.map((name, i) =>
		h("th", { scope: "col", class: i > 0 ? "right" : "" }, name),
	);
	return {
		title: "Service",
		gone() {
			clearTimeout(timer);
			document.removeEventListener("visibilitychange", seen);
		},
		element: h(
			"div.page",
			null,
			page_head({
				title: "Service",
				about: [
					"Updated every 2 seconds. Charts go back to the start of the service, up to 24 hours.",
				],
			}),
			state,
			tiles,
			h("div.toolbar.between", null, h("h2.section-title", null, "Charts"), ranges),
			h(
				"div.charts",
				null,
				charts.map((one) => one.element),
			),
			h("h2.section-title", null, "Requests by endpoint since the service started"),
			h(
				"div.list-place",
				null,
				h("table.list.calls", null, h("thead", null, h("tr", null, head)), body),
			),
		),
	};
}

/** Returns a minute of the history as values of the charts. @param {any} one @param {number} interval @returns {Point} */
function point_of(one, interval) {
	const rates = (/** @type {string[]} */ ...names) => names.map((name) => one[name] / interval);
	return {
		time: Date.parse(one.time),
		values: [
			rates("reads", "writes", "joins"),
			[one.p50, one.p99],
			[one.sync_p50, one.sync_p99],
			rates("rejected", "failed"),
		],
	};
}

/** Returns facts about the service: name, value and note. @param {Reading} now @returns {[string, any, string?][]} */
function facts_of(now) {
	const of = (/** @type {string} */ name) => (now.series.has(name) ? sum(now, name) : null);
	const version = now.series.get("anteroom_build_info")?.[0]?.labels.version;
	const started = of("anteroom_start_time_seconds");
	const size = of("anteroom_store_disk_bytes");
	const backup = of("anteroom_backup_time_seconds");
	const buffered = of("anteroom_overlay_bytes");
	const failing = sum(now, "anteroom_webhooks_failing");
	const disabled = sum(now, "anteroom_webhooks_disabled");
	const in_files = now.series.has("anteroom_files_bytes");
	const time = (/** @type {number} */ seconds) => ago(new Date(seconds * 1000).toISOString());
	return [
		["Version", version ?? "–"],
		["Uptime", started === null ? "–" : duration(Date.now() / 1000 - started)],
		[
			"Size on disk",
			size === null ? "–" : bytes(size),
			buffered === null ? "" : `${bytes(buffered)} in memory`,
		],
		["Last backup", backup === null ? (in_files ? "Never" : "–") : time(backup)],
		["Failing webhooks", number(failing), disabled > 0 ? `${number(disabled)} disabled` : ""],
		["Requests", number(sum(now, REQUESTS))],
		["Transactions", number(sum(now, "anteroom_transactions_total"))],
		["Unknown codes per minute", number(sum(now, "anteroom_code_misses_per_minute"))],
	];
}

/** Returns rows for the busiest endpoints, with their responses. @param {Reading} was @param {Reading} now */
function calls(was, now) {
	/** @type {Map<string, { route: string, method: string, count: number, faults: number }>} */
	const found = new Map();
	for (const { labels, value } of now.series.get(REQUESTS) ?? []) {
		const { route = "", method = "" } = labels;
		const one = found.get(`${method} ${route}`) ?? { route, method, count: 0, faults: 0 };
		one.count += value;
		if (Number(labels.status) >= 400) one.faults += value;
		found.set(`${method} ${route}`, one);
	}
	const most = [...found.values()].sort((a, b) => b.count - a.count).slice(0, CALLS);
	return most.map(({ route, method, count, faults }) => {
		const own = (/** @type {Labels} */ one) => one.route === route && one.method === method;
		const slowest = quantile(was, now, TIMES, 0.99, own);
		const name = [
			h("span.method", null, method),
			h("span.mono.break", null, route || "(unknown path)"),
		];
		return h(
			"tr",
			null,
			h("td", { "data-label": "Endpoint" }, name),
			h("td.right", { "data-label": "Responses" }, number(count)),
			h("td.right", { "data-label": "Errors" }, faults > 0 ? number(faults) : "–"),
			h("td.right", { "data-label": "p99 now" }, slowest === null ? "–" : span(slowest)),
		);
	});
}
