// A list that is loaded page by page: rows are shown as soon as they arrive, and the next page is fetched
// when the user scrolls near the end. The browser does not render rows that are out of sight
// (content-visibility), so rows stay in the document.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { address, get } from "../lib/api.js";
import { announce, h, icon, put } from "../lib/dom.js";
import { count_of } from "../lib/text.js";
import { sentence } from "../lib/ui.js";

const LIMIT = 50;
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
 */

/** @param {List} what */
export function list_of(what) {
	const filters = what.filters ?? [];
	let start = "";
	let done = false;
	let loading = false;
	let shown = 0;
	// Counts the searches: the response to an older one is dropped.
	let turn = 0;
	const body = h("tbody");
	const names = what.columns.map((name) => h("th", { scope: "col" }, name));
	const table = h("table.list", null, h("thead", null, h("tr", null, names)), body);
	const state = h("p.list-state");
	const more = h("button", { type: "button", hidden: true, onclick: () => load() }, "Show more");
	const place = h("div.list-place", null, table, h("div.list-foot", null, state, more));
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
	for (const { name, control } of filters) {
		control.value = what.query.get(name) ?? "";
		control.addEventListener("change", restart);
	}

	const asked = () => Object.fromEntries(filters.map(({ name, control }) => [name, control.value]));
	const narrowed = () => input.value.trim() !== "" || Object.values(asked()).some(Boolean);

	/** Loads the list from the start, and stores the search in the address. */
	function restart() {
		const here = new URL(location.href);
		for (const [name, value] of Object.entries({ search: input.value, ...asked() })) {
			if (value) here.searchParams.set(name, value);
			else here.searchParams.delete(name);
		}
		history.replaceState(null, "", here);
		turn += 1;
		start = "";
		done = false;
		loading = false;
		shown = 0;
		return load();
	}

	async function load() {
		if (loading || done) return;
		loading = true;
		const mine = turn;
		const first = start === "";
		try {
			const prefix = input.value.trim();
			const answer = await get(
				address(what.path, {
					view: "summary",
					limit: LIMIT,
					start,
					name_prefix: prefix,
					...asked(),
				}),
				what.signal,
			);
			if (mine !== turn) return;
			const data = answer.data ?? [];
			if (first) put(body);
			body.append(...data.map(line));
			shown += data.length;
			start = answer.last;
			done = data.length < answer.limit;
			more.hidden = done;
			tell(prefix, first);
			if (shown === 0 && !narrowed()) put(place, what.none());
		} catch (error) {
			if (!what.signal.aborted) put(state, sentence(error));
		} finally {
			if (mine === turn) {
				loading = false;
				// An observer reports only crossings. Observing again makes it report an end that is
				// still in sight.
				near.unobserve(more);
				if (!done) near.observe(more);
			}
		}
	}

	/** @param {string} prefix @param {boolean} first */
	function tell(prefix, first) {
		const words = count_of(shown, what.noun);
		const none = prefix
			? `No ${what.noun} has a name that starts with “${prefix}”.`
			: `No ${what.noun}s match these filters.`;
		put(state, shown === 0 ? none : done ? words : `First ${words}`);
		if (first) announce(state.textContent ?? "");
	}

	/** @param {any} one */
	function line(one) {
		const { href, cells, dim } = what.row(one);
		const fill = (/** @type {Node | string} */ cell, /** @type {number} */ i) =>
			h("td", { "data-label": what.columns[i] }, i > 0 ? cell : h("a.row-link", { href }, cell));
		return h("tr", { class: dim ? "dim" : "" }, cells.map(fill));
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
			if (entries.some((entry) => entry.isIntersecting) && shown > 0) load();
		},
		{ rootMargin: "600px" },
	);
	const search = h(
		"div.search",
		null,
		icon("search"),
		input,
		h("kbd", { "aria-hidden": "true" }, "/"),
	);
	const selects = filters.map(({ control }) => h("div.select", null, control, icon("down")));
	return {
		element: h("div.list-holder", null, h("div.toolbar", null, search, selects), place),
		load,
	};
}
