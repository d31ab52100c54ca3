// The state of the service for operators: its metrics, read every two seconds while the page is visible.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { get } from "../lib/api.js";
import { chart } from "../lib/chart.js";
import { h, icon, put } from "../lib/dom.js";
import { quantile, rate, read, sum } from "../lib/metrics.js";
import { bytes, count_of, number } from "../lib/text.js";
import { page_head, sentence } from "../lib/ui.js";
import { session } from "./session.js";

/** @typedef {import("../lib/metrics.js").Reading} Reading */
/** @typedef {import("../lib/metrics.js").Labels} Labels */

const EVERY = 2000;
const LONGEST = 30000;
const REQUESTS = "anteroom_requests_total";
const TIMES = "anteroom_request_duration_seconds";
const SYNCS = "anteroom_journal_sync_duration_seconds";
const CALLS = 12;

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
export async function service_page(_, signal) {
	const { operator } = await session();
	if (!operator) {
		throw new Error(
			"Only operators can see this page. To make your account an operator, run: anteroom account set ACCOUNT operator=on",
		);
	}
	const state = h("div.notice", { role: "status" }, "Loading…");
	const tiles = h("dl.tiles");
	const body = h("tbody");
	const least = 0.001;
	const asked = chart({
		title: "Requests per second",
		lines: [{ name: "Reads", filled: true }, { name: "Writes" }, { name: "Joins" }],
		format: per_second,
		least: 1,
	});
	const quantiles = [{ name: "p50", filled: true }, { name: "p99" }];
	const times = chart({ title: "Response time", lines: quantiles, format: span, least });
	const syncs = chart({ title: "Journal sync time", lines: quantiles, format: span, least });
	const refused = chart({
		title: "Error responses per second",
		lines: [{ name: "4xx", filled: true }, { name: "5xx" }],
		format: per_second,
		least: 1,
	});
	/** @type {Reading | null} */
	let before = null;
	/** @type {ReturnType<typeof setTimeout> | undefined} */
	let timer;
	let failures = 0;

	async function tick() {
		clearTimeout(timer);
		if (signal.aborted || document.visibilityState !== "visible") return;
		try {
			const now = read(await get("/v2/service/metrics", signal));
			failures = 0;
			tell_state(now);
			if (before) draw(before, now);
			before = now;
		} catch (error) {
			if (signal.aborted) return;
			failures += 1;
			state.className = "notice warn";
			put(state, icon("warning"), h("span", null, `${sentence(error)} Retrying…`));
		}
		timer = setTimeout(tick, Math.min(EVERY * 2 ** failures, LONGEST));
	}

	/** @param {Reading} now */
	function tell_state(now) {
		const stopped =
			now.series.has("anteroom_store_writable") && sum(now, "anteroom_store_writable") !== 1;
		const damaged = sum(now, "anteroom_files_damaged");
		const good = !stopped && damaged === 0;
		const words = stopped
			? "The store cannot write. Check the free space on its disk."
			: damaged > 0
				? `${count_of(damaged, "damaged file")}. Run “anteroom check” on the server.`
				: "Healthy. The store accepts writes, and no damage was found.";
		// Screen readers read a status aloud each time it is written, so it is written only when it changes.
		if (state.textContent !== words)
			put(state, icon(good ? "check" : "warning"), h("span", null, words));
		state.className = good ? "notice ok" : "notice warn";
		/** @type {[string, string][]} */
		const facts = [
			["Requests", number(sum(now, REQUESTS))],
			["Transactions", number(sum(now, "anteroom_transactions_total"))],
			["Stored records", number(sum(now, "anteroom_files_records"))],
			["Size on disk", bytes(sum(now, "anteroom_files_bytes"))],
			["Buffered in memory", bytes(sum(now, "anteroom_overlay_bytes"))],
			["Unknown codes per minute", number(sum(now, "anteroom_code_misses_per_minute"))],
		];
		put(
			tiles,
			facts.map(([name, value]) => h("div.tile", null, h("dt", null, name), h("dd", null, value))),
		);
	}

	/** @param {Reading} was @param {Reading} now */
	function draw(was, now) {
		const reads = (/** @type {Labels} */ one) => one.method === "GET" && of_others(one);
		const joins = (/** @type {Labels} */ one) => one.route === "/v2/token";
		const writes = (/** @type {Labels} */ one) => one.method !== "GET" && !joins(one);
		asked.add([reads, writes, joins].map((which) => rate(was, now, REQUESTS, which)));
		times.add([0.5, 0.99].map((q) => quantile(was, now, TIMES, q, of_others)));
		syncs.add([0.5, 0.99].map((q) => quantile(was, now, SYNCS, q)));
		refused.add(["4", "5"].map((digit) => rate(was, now, REQUESTS, status(digit))));
		put(body, calls(was, now));
	}

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
			page_head({ title: "Service", about: ["Updated every 2 seconds. Charts start when you open this page."] }),
			state,
			tiles,
			h("div.charts", null, asked.element, times.element, syncs.element, refused.element),
			h("h2.section-title", null, "Requests by endpoint since the service started"),
			h(
				"div.list-place",
				null,
				h("table.list.calls", null, h("thead", null, h("tr", null, head)), body),
			),
		),
	};
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
