// A menu at a button, by the keys of a menu: arrows, Home, End, Escape.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { h, icon } from "../lib/dom.js";

/**
 * An entry of a menu. One with `chosen` is a choice among others; one with `title` alone begins a group.
 * @typedef {{ title?: string, icon?: string, text?: string, act?: () => void, danger?: boolean, chosen?: boolean }} Entry
 */

// Pixels between the menu and its button, and between the menu and the edges of the window.
const GAP = 6;
const EDGE = 8;

/** @param {Entry} entry @param {() => void} close */
function item_of(entry, close) {
	const is_choice = entry.chosen !== undefined;
	return h(
		"button.menu-item",
		{
			type: "button",
			role: is_choice ? "menuitemradio" : "menuitem",
			tabindex: "-1",
			"aria-checked": is_choice ? String(entry.chosen) : null,
			class: entry.danger ? "danger" : "",
			onclick: () => {
				close();
				entry.act?.();
			},
		},
		is_choice ? (entry.chosen ? icon("check") : h("span.icon")) : icon(entry.icon ?? "dash"),
		h("span", null, entry.text),
	);
}

/** Puts the box below the button, or above it in the lower half of the window. @param {HTMLElement} box @param {Element} button */
function put_at(box, button) {
	const at = button.getBoundingClientRect();
	const { width, height } = box.getBoundingClientRect();
	const top = at.top < innerHeight / 2 ? at.bottom + GAP : at.top - height - GAP;
	const inside = (/** @type {number} */ value, /** @type {number} */ most) => Math.max(EDGE, Math.min(value, most - EDGE));
	box.style.left = `${inside(at.left + at.width / 2 - width / 2, innerWidth - width)}px`;
	box.style.top = `${inside(top, innerHeight - height)}px`;
}

/** Opens a menu at a button, which gets the focus back. Returns the menu. @param {HTMLElement} button @param {(Entry | false | null | undefined)[]} entries */
export function menu(button, entries) {
	const box = h("div.menu", {
		role: "menu",
		popover: "auto",
		"aria-label": button.getAttribute("aria-label") ?? "",
	});
	const close = () => {
		box.hidePopover();
		button.focus();
	};
	/** @type {HTMLButtonElement[]} */
	const items = [];
	/** @type {HTMLElement} */
	let group = box;
	for (const entry of entries) {
		if (!entry) continue;
		if (entry.title) {
			group = h(
				"div",
				{ role: "group", "aria-label": entry.title },
				h("p.menu-title", { "aria-hidden": "true" }, entry.title),
			);
			box.append(group);
			continue;
		}
		const item = item_of(entry, close);
		items.push(item);
		group.append(item);
	}
	box.addEventListener("keydown", (event) => {
		const at = items.findIndex((one) => one === document.activeElement);
		/** @type {Record<string, number>} */
		const targets = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 };
		const to = targets[event.key];
		if (to !== undefined) {
			event.preventDefault();
			event.stopPropagation();
			items.at(to % items.length)?.focus();
		} else if (event.key === "Tab") close();
	});
	box.addEventListener("toggle", (event) => {
		if (/** @type {ToggleEvent} */ (event).newState !== "closed") return;
		button.setAttribute("aria-expanded", "false");
		setTimeout(() => box.remove());
	});
	document.querySelector("main")?.append(box);
	box.showPopover();
	button.setAttribute("aria-expanded", "true");
	put_at(box, button);
	(items.find((one) => one.getAttribute("aria-checked") === "true") ?? items[0])?.focus();
	return box;
}
