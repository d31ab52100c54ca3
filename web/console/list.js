// A list that is loaded page by page: rows are shown as soon as they arrive, and the next page is fetched
// when the user scrolls near the end. The browser does not render rows that are out of sight
// (content-visibility), so rows stay in the document.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { address, get } from "../lib/api.js";
import { changed_since, on_change } from "../lib/changes.js";
import { announce, h, icon, put } from "../lib/dom.js";
import { returned, set_query } from "../lib/router.js";
import { count_of, number } from "../lib/text.js";
import { sentence } from "../lib/ui.js";
import { by_name, code_of, meant, object_of, search } from "./find.js";

const LIMIT = 50;
// The most that the service returns at once; used to load what was shown before.
const MOST = 100;
// Milliseconds without typing after which a search starts.
const PAUSE = 180;

/** @typedef {{ href: string, cells: (Node | string)[], dim?: boolean }} Row */
/**
 * @typedef {object} List
 * @property {string} path
 * @property {AbortSignal} signal
 * @property {URLSearchParams} query of the address of the page
 * @property {string} noun what the list contains, in the singular
 * @property {string} search label of the search field
 * @property {string[]} columns
 * @property {(one: any) => Row} row
 * @property {() => HTMLElement} none what an empty list shows
 * @property {{ name: string, control: HTMLSelectElement }[]} [filters] by the name of the parameter
 * @property {{ head: () => HTMLElement, cell: (one: any) => HTMLElement }} [pick] the boxes of several.js
 */

/** @param {List} what */
export function list_of(what) {
	const filters = what.filters ?? [];
	/** Kinds whose changes change the list: rooms show the names of their templates. */
	const kinds = [what.path.split("/")[2] ?? "", "templates"];
	/** @type {any[]} */
	let items = [];
	let start = "";
	let done = false;
	let loading = false;
	// Counts the searches: the response to an older one is dropped.
	let turn = 0;
	const body = h("tbody");
	const names = what.columns.map((name) => h("th", { scope: "col" }, name));
	const top = h("tr", null, what.pick?.head(), names);
	const table = h("table.list", null, h("thead", null, top), body);
	const state = h("p.list-state");
	const more = h(
		"button",
		{ type: "button", hidden: true, onclick: () => load_next() },
		"Show more",
	);
	const foot = h("div.list-foot", null, state, more);
	const place = h("div.list-place", null, table, foot);
	const input = h("input", {
		type: "search",
		placeholder: what.search,
		"aria-label": what.search,
		value: what.query.get("search") ?? "",
		autocomplete: "off",
		spellcheck: "false",
	});
	/** @type {ReturnType<typeof setTimeout> | undefined} */
	let waiting;
	input.addEventListener("input", () => {
		clearTimeout(waiting);
		waiting = setTimeout(restart, PAUSE);
	});
	const order = h(
		"select",
		{ "aria-label": "Order", onchange: () => restart() },
		h("option", { value: "" }, "Newest first"),
		h("option", { value: "name" }, "By name"),
	);
	order.value = what.query.get("sort") ?? "";
	for (const { name, control } of filters) {
		control.value = what.query.get(name) ?? "";
		control.addEventListener("change", restart);
	}

	const asked = () => Object.fromEntries(filters.map(({ name, control }) => [name, control.value]));
	const text = () => input.value.trim();
	const narrowed = () => text() !== "" || Object.values(asked()).some(Boolean);

	/** Loads the list from the start, and stores the search in the address. */
	function restart() {
		set_query({ search: input.value, sort: order.value, ...asked() });
		turn += 1;
		start = "";
		done = false;
		loading = false;
		items = [];
		return load_next();
	}

	/** Returns the object that a code, a link or an ID leads to. @param {ReturnType<typeof meant>} wanted */
	async function led_to({ code, id }) {
		const of_code = what.path === "/v2/rooms" ? await code_of(code, what.signal) : null;
		return await object_of(what.path, of_code?.room_id ?? id, what.signal);
	}

	/**
	 * Returns the next page.
	 * @param {string} from where to start @param {number} limit
	 * @param {(examined: number, found: any[]) => void} [progress]
	 */
	async function page(from, limit, progress = () => {}) {
		const wanted = meant(text());
		// A search finds the newest first.
		order.disabled = text() !== "";
		const direct = from === "" ? await led_to(wanted) : null;
		const query = { view: "summary", limit, start: from, q: wanted.words, ...asked() };
		if (text() !== "" && wanted.words === "") return { data: direct ? [direct] : [], last: "" };
		if (wanted.words === "") {
			if (order.value) return await by_name(what.path, { ...query, start: "" }, from, what.signal);
			const answer = await get(address(what.path, query), what.signal);
			const data = answer.data ?? [];
			return { data, last: data.length < limit ? "" : answer.last };
		}
		const found = await search(what.path, query, what.signal, progress);
		const others = found.data.filter((one) => one.id !== direct?.id);
		return { data: direct ? [direct, ...others] : others, last: found.last };
	}

	async function load_next() {
		if (loading || done) return;
		loading = true;
		const mine = turn;
		const first = start === "";
		try {
			const progress = (/** @type {number} */ examined, /** @type {any[]} */ found) => {
				const words = `Searched ${number(examined)} ${what.noun}s, found ${number(found.length)}…`;
				if (mine === turn) put(state, words);
			};
			const { data, last } = await page(start, LIMIT, progress);
			if (mine !== turn) return;
			if (first) put(body);
			take(data, last);
			if (first) announce(state.textContent ?? "");
		} catch (error) {
			if (!what.signal.aborted && mine === turn) put(state, sentence(error));
		} finally {
			if (mine === turn) {
				loading = false;
				watch_end();
			}
		}
	}

	/** Adds rows. @param {any[]} data @param {string} last */
	function take(data, last) {
		body.append(...data.map(line));
		items.push(...data);
		start = last;
		done = last === "";
		more.hidden = done;
		tell();
		if (items.length === 0 && !narrowed()) put(place, what.none());
		else if (!table.isConnected && place.firstChild !== table) put(place, table, foot);
	}

	/** An observer reports only crossings. Observing again makes it report an end that is still in sight. */
	function watch_end() {
		near.unobserve(more);
		if (!done) near.observe(more);
	}

	function tell() {
		const words = count_of(items.length, what.noun);
		const none = text()
			? `No ${what.noun} matches “${text()}”.`
			: `No ${what.noun}s match these filters.`;
		put(state, items.length === 0 ? none : done ? words : `First ${words}`);
	}

	/** Loads at least as many rows as are wanted. @param {number} wanted */
	async function load_many(wanted) {
		/** @type {any[]} */
		const rows = [];
		let last = "";
		do {
			const next = await page(last, MOST);
			rows.push(...next.data);
			last = next.last;
		} while (last !== "" && rows.length < wanted);
		return { rows, last };
	}

	/** Loads all rows again; the rows in sight stay in their place. */
	async function refresh() {
		const mine = ++turn;
		loading = true;
		try {
			const { rows, last } = await load_many(Math.max(LIMIT, items.length));
			if (mine !== turn) return;
			const links = () => /** @type {HTMLElement[]} */ ([...body.querySelectorAll("a.row-link")]);
			const held = links().find((one) => one.getBoundingClientRect().bottom > 0);
			const top = held?.getBoundingClientRect().top ?? 0;
			const focus = document.activeElement?.getAttribute("href");
			items = [];
			put(body);
			take(rows, last);
			const like = (/** @type {string | null | undefined} */ href) =>
				href ? links().find((one) => one.getAttribute("href") === href) : undefined;
			like(focus)?.focus({ preventScroll: true });
			const now = like(held?.getAttribute("href"));
			if (now) scrollBy(0, now.getBoundingClientRect().top - top);
		} catch (error) {
			if (!what.signal.aborted && mine === turn) put(state, sentence(error));
		} finally {
			if (mine === turn) {
				loading = false;
				watch_end();
			}
		}
	}

	/** Loads the first rows, or those that were there when the user left. */
	async function load() {
		const was = returned(what.signal, () => ({ rows: items, last: start }));
		if (!was || was.count <= LIMIT) return await load_next();
		const { rows, last } = was.kept ?? (await load_many(was.count));
		take([...rows], last);
		watch_end();
		if (was.kept && changed_since(kinds, was.time ?? 0)) refresh();
	}

	let stale = false;
	const look = () => {
		if (!stale || document.visibilityState !== "visible") return;
		stale = false;
		refresh();
	};
	on_change(({ kind }, own) => {
		stale ||= !own && kinds.includes(kind);
		look();
	}, what.signal);
	document.addEventListener("visibilitychange", look, { signal: what.signal });

	/** @param {any} one */
	function line(one) {
		const { href, cells, dim } = what.row(one);
		const fill = (/** @type {Node | string} */ cell, /** @type {number} */ i) =>
			h("td", { "data-label": what.columns[i] }, i > 0 ? cell : h("a.row-link", { href }, cell));
		return h("tr", { class: dim ? "dim" : "" }, what.pick?.cell(one), cells.map(fill));
	}

	body.addEventListener("keydown", (event) => {
		/** @type {Record<string, number>} */
		const steps = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };
		const step = steps[event.key];
		if (step === undefined) return;
		/** @type {HTMLElement[]} */
		const links = [...body.querySelectorAll("a.row-link")].filter(
			(one) => one instanceof HTMLElement,
		);
		const to = links[links.findIndex((one) => one === document.activeElement) + step];
		if (!to) return;
		event.preventDefault();
		to.focus();
	});
	const near = new IntersectionObserver(
		(entries) => {
			if (entries.some((entry) => entry.isIntersecting) && items.length > 0) load_next();
		},
		{ rootMargin: "600px" },
	);
	const search_box = h(
		"div.search",
		null,
		icon("search"),
		input,
		h("kbd", { "aria-hidden": "true" }, "/"),
	);
	const selects = [...filters.map(({ control }) => control), order].map((control) =>
		h("div.select", null, control, icon("down")),
	);
	return {
		element: h("div.list-holder", null, h("div.toolbar", null, search_box, selects), place),
		load,
		refresh,
	};
}
