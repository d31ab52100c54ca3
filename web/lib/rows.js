// Tables that change while they are shown: a row stays the same element for as long as its item is there, so
// that nothing flickers and the focus stays.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { ago_words } from "./text.js";

/** Sets the text of an element, unless it has it already. @param {Element} element @param {string} text */
export function set_text(element, text) {
	if (element.textContent !== text) element.textContent = text;
}

/** Brings the times that ago() returned up to date. @param {Element} root of the elements */
export function renew_times(root) {
	for (const one of root.querySelectorAll("time"))
		set_text(one, ago_words(new Date(one.dateTime)));
}

/**
 * Returns a function that shows items as the rows of a table, in their order.
 * @template T
 * @param {HTMLElement} body
 * @param {(item: T) => string} key identifies an item
 * @param {(item: T) => { element: HTMLElement, update: (item: T) => void }} make creates a row, which
 * `update` fills, also the first time
 * @returns {(items: T[]) => void}
 */
export function rows_in(body, key, make) {
	/** @type {Map<string, ReturnType<typeof make>>} */
	const shown = new Map();
	return (items) => {
		const keys = new Set(items.map(key));
		for (const [one, { element }] of shown) {
			if (keys.has(one)) continue;
			move_focus(element);
			element.remove();
			shown.delete(one);
		}
		/** @type {Element | null} */
		let place = body.firstElementChild;
		for (const item of items) {
			const one = key(item);
			const row = shown.get(one) ?? make(item);
			shown.set(one, row);
			row.update(item);
			if (row.element === place) place = place.nextElementSibling;
			else body.insertBefore(row.element, place);
		}
	};
}

/** If a row that is about to go has the focus, gives it to the next row, or to the one before. @param {Element} row */
function move_focus(row) {
	if (!row.contains(document.activeElement)) return;
	const near = row.nextElementSibling ?? row.previousElementSibling;
	/** @type {HTMLElement | null | undefined} */ (near?.querySelector("a, button"))?.focus();
}
