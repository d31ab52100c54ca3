// A list of what has happened, newest first, page by page, which can be read again as far as it is shown.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { address, get } from "../lib/api.js";
import { on_change } from "../lib/changes.js";
import { h, put } from "../lib/dom.js";
import { renew_times, rows_in, set_text } from "../lib/rows.js";
import { count_of } from "../lib/text.js";
import { busy, sentence } from "../lib/ui.js";
import { put_once, table_of } from "./inside.js";

/**
 * @template {{ id: string }} T
 * @param {{ path: string | (() => string), kind: string, noun: string, label: string, columns: string[], limit: number, query: () => Record<string, any>,
 *   row: (item: T) => { element: HTMLElement, update: (item: T) => void }, prepare?: (items: T[]) => Promise<any>,
 *   none: () => HTMLElement, signal: AbortSignal }} what `kind` is what other tabs say has changed; `prepare` fetches what
 *   the rows need besides
 */
export function newest({ path, kind, noun, label, columns, limit, query, row, prepare = async () => {}, none, signal }) {
	/** @type {T[]} */
	let items = [];
	let last = "";
	const body = h("tbody");
	const show_rows = rows_in(body, (/** @type {T} */ one) => one.id, row);
	const table = table_of(columns, body, label);
	const state = h("p.list-state");
	const more = h("button.small", { type: "button" }, "Show older");
	more.addEventListener("click", () => busy(more, () => take(last, [...items])));
	const foot = h("div.list-foot", null, state, more);
	const place = h("div.list-place", null, h("p.list-foot", null, "Loading…"));

	/** @param {string} start @returns {Promise<{ data: T[], last: string }>} */
	async function page(start) {
		const answer = await get(address(typeof path === "string" ? path : path(), { ...query(), limit, start }), signal);
		const data = answer.data ?? [];
		return { data, last: data.length < limit ? "" : answer.last };
	}
	/** Adds a page to items, and shows them. @param {string} start @param {T[]} before */
	async function take(start, before) {
		const next = await page(start);
		await prepare(next.data);
		items = [...before, ...next.data];
		last = next.last;
		draw();
	}
	function draw() {
		show_rows(items);
		set_text(state, `${last ? "First " : ""}${count_of(items.length, noun)}`);
		more.hidden = last === "";
		renew_times(body);
		if (items.length > 0) put_once(place, table, foot);
		else put(place, none());
	}
	/** Reads as many items as are shown. */
	async function restart() {
		const wanted = items.length;
		/** @type {T[]} */
		let found = [];
		let start = "";
		do {
			const next = await page(start);
			found = [...found, ...next.data];
			start = next.last;
		} while (start !== "" && found.length < wanted);
		await prepare(found);
		items = found;
		last = start;
		draw();
	}
	on_change((change, own) => {
		if (change.kind === kind && !own) restart().catch(failed);
	}, signal);
	/** @param {unknown} error */
	function failed(error) {
		if (signal.aborted) return;
		set_text(state, `${sentence(error)} Retrying…`);
		put_once(place, ...(items.length > 0 ? [table, foot] : [foot]));
	}
	return {
		element: place,
		restart,
		failed,
		/** Shows an item as it is now, if it is in the list. @param {T} one */
		renew(one) {
			items = items.map((old) => (old.id === one.id ? one : old));
			draw();
		},
		items: () => items,
	};
}
