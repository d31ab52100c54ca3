// Several rows of a list at once: a box in each row, a bar with what can be done with the chosen ones, and
// requests that carry out many operations.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { Refusal, call } from "../lib/api.js";
import { h, icon, put } from "../lib/dom.js";
import { count_of } from "../lib/text.js";
import { busy } from "../lib/ui.js";

/**
 * @template T
 * @typedef {{ symbol: string, words: string, danger?: boolean, action: (chosen: T[]) => Promise<any> }} Action
 */
/** @typedef {{ method: "POST" | "PATCH" | "DELETE", path: string, body?: any }} Operation */

/**
 * Creates the boxes and the bar for rows that show one thing each.
 * @template T
 * @param {{ noun: string, name: (one: T) => string, actions: Action<T>[] }} what `name` identifies a thing
 */
export function several({ noun, name, actions }) {
	/** @type {Map<string, T>} */
	const chosen = new Map();
	/** @type {HTMLInputElement | null} */
	let last = null;
	const count = h("strong", { "aria-live": "polite" });
	const all = h("input", { type: "checkbox", "aria-label": `Select all ${noun}s` });
	const clear = h(
		"button.plain.square",
		{ type: "button", "aria-label": "Clear the selection", title: "Clear the selection" },
		icon("close"),
	);
	const bar = h(
		"div.several",
		{ role: "group", "aria-label": `Selected ${noun}s`, hidden: true },
		count,
		actions.map(({ symbol, words, danger, action }) => {
			const button = h(
				"button.small",
				{ type: "button", class: danger ? "danger" : "" },
				icon(symbol),
				words,
			);
			button.addEventListener("click", () => busy(button, () => action([...chosen.values()])));
			return button;
		}),
		clear,
	);
	/** The boxes of the rows that are shown. @returns {HTMLInputElement[]} */
	const boxes = () =>
		[...(all.closest("table")?.querySelectorAll("tbody .pick input") ?? [])].map(
			(one) => /** @type {HTMLInputElement} */ (one),
		);
	function tell() {
		const there = boxes();
		const on = there.filter((one) => one.checked).length;
		all.checked = on > 0 && on === there.length;
		all.indeterminate = on > 0 && !all.checked;
		bar.hidden = chosen.size === 0;
		put(count, `${count_of(chosen.size, noun)} selected`);
	}
	/** @param {HTMLInputElement} box @param {boolean} on */
	function set(box, on) {
		if (box.checked === on) return;
		box.checked = on;
		box.dispatchEvent(new Event("change"));
	}
	all.addEventListener("change", () => {
		const on = all.checked;
		for (const box of boxes()) set(box, on);
	});
	clear.addEventListener("click", () => {
		drop();
		all.focus();
	});
	function drop() {
		for (const box of boxes()) set(box, false);
		chosen.clear();
		tell();
	}
	return {
		bar,
		/** The cell above the boxes. */
		head: () => h("th.pick", { scope: "col" }, h("label", null, all)),
		/** Creates the cell with the box of a thing. @param {T} one */
		cell(one) {
			const key = name(one);
			const box = h("input", {
				type: "checkbox",
				checked: chosen.has(key),
				"aria-label": `Select ${noun} ${key}`,
			});
			box.addEventListener("change", () => {
				if (box.checked) chosen.set(key, one);
				else chosen.delete(key);
				tell();
			});
			// With Shift, all rows from the last box to this one.
			box.addEventListener("click", (event) => {
				const there = boxes();
				const ends = [there.indexOf(box), last ? there.indexOf(last) : -1].toSorted(
					(a, b) => a - b,
				);
				last = box;
				if (!event.shiftKey || ends[0] === -1) return;
				for (const other of there.slice(ends[0], Number(ends[1]) + 1)) set(other, box.checked);
			});
			return h("td.pick", null, h("label", null, box));
		},
		/** Takes over a thing that has changed. @param {T} one */
		renew(one) {
			if (chosen.has(name(one))) chosen.set(name(one), one);
		},
		drop,
	};
}

/**
 * Sends operations in bulk requests, each of which is carried out as a whole or not at all, and passes on the
 * results of each. An error names the operation that failed.
 * @template T
 * @param {T[]} things @param {(one: T) => Operation} operation @param {(one: T) => string} name
 * @param {(one: T, body: any) => void} done @param {number} [most] operations in a request
 */
export async function bulk(things, operation, name, done, most = 500) {
	for (let at = 0; at < things.length; at += most) {
		const part = things.slice(at, at + most);
		try {
			const { data } = await call("POST", "/v2/bulk", {
				body: { operations: part.map(operation) },
			});
			part.forEach((one, i) => done(one, data.results[i]?.body));
		} catch (error) {
			const place = error instanceof Refusal && /^\/operations\/(\d+)/.exec(error.details[0] ?? "");
			const one = place && part[Number(place[1])];
			if (!one) throw error;
			const rest = at > 0 ? ` The first ${at} are done.` : " Nothing was changed.";
			throw new Error(`${name(one)}: ${error.message}.${rest}`, { cause: error });
		}
	}
}

/** Returns "A, B and C", at most five by name. @param {string[]} names */
export function names_of(names) {
	const shown = names.length > 5 ? [...names.slice(0, 4), `${names.length - 4} more`] : names;
	return shown.length < 2 ? shown.join() : `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}`;
}
