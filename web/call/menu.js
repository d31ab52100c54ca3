// A menu at a button, by the keys of a menu: arrows, Home, End, Escape.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { h, icon } from "../lib/dom.js";
import { words } from "./words.js";

/**
 * An entry of a menu. One with `chosen` is a choice among others, one with `ticked` a switch; `says` stands at its end.
 * One with `title` alone begins a group, as one with `line` does, and one with `head` is no entry but content. One with
 * `entries` opens another menu at the same place, which leads back.
 * @typedef {{ title?: string, line?: boolean, head?: import("../lib/dom.js").Child[], icon?: string, text?: string, says?: string,
 *   act?: () => void, danger?: boolean, chosen?: boolean, ticked?: boolean, entries?: () => Entries | Promise<Entries> }} Entry
 */
/** @typedef {(Entry | false | null | undefined)[]} Entries */

// Pixels between the menu and its button, and between the menu and the edges of the window.
const GAP = 6;
const EDGE = 8;

/** @param {Entry} entry @param {() => void} close */
function item_of(entry, close) {
	const is_switch = entry.ticked !== undefined;
	const is_choice = entry.chosen !== undefined || is_switch;
	const is_on = Boolean(entry.chosen || entry.ticked);
	return h(
		"button.menu-item",
		{
			type: "button",
			role: is_switch ? "menuitemcheckbox" : is_choice ? "menuitemradio" : "menuitem",
			tabindex: "-1",
			"aria-checked": is_choice ? String(is_on) : null,
			class: entry.danger ? "danger" : "",
			onclick: () => {
				close();
				entry.act?.();
			},
		},
		is_choice ? (is_on ? icon("check") : h("span.icon")) : icon(entry.icon ?? "dash"),
		h("span.menu-text", null, entry.text),
		entry.says && h("span.menu-says", null, entry.says),
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

/**
 * Creates a button that opens a menu. Without a label it has no name yet.
 * @param {string} kind its classes @param {string} symbol @param {string} label @param {(button: HTMLButtonElement) => void} open
 */
export function menu_button(kind, symbol, label, open) {
	const name = label && { "aria-label": label, title: label };
	const button = h(
		`button.${kind}`,
		{ type: "button", ...name, "aria-haspopup": "menu", "aria-expanded": "false", onclick: () => open(button) },
		icon(symbol),
	);
	return button;
}

/**
 * Opens a menu at a button, which gets the focus back. Returns the menu.
 * @param {HTMLElement} button @param {Entries} entries @param {string} [label] its name, if it is not the button's
 */
export function menu(button, entries, label = button.getAttribute("aria-label") ?? "") {
	const box = h("div.menu", {
		role: "menu",
		popover: "auto",
		"aria-label": label,
	});
	const close = () => {
		box.hidePopover();
		button.focus();
	};
	/** @type {HTMLButtonElement[]} */
	const items = [];
	/** @type {HTMLElement} */
	let group = box;
	let begins = false;
	for (const entry of entries) {
		if (!entry) continue;
		if (entry.head) {
			box.append(h("div.menu-head", null, entry.head));
			continue;
		}
		if (entry.line) {
			begins = true;
			continue;
		}
		if (entry.title) {
			group = h(
				"div.menu-group",
				{ role: "group", "aria-label": entry.title },
				h("p.menu-title", { "aria-hidden": "true" }, entry.title),
			);
			box.append(group);
			begins = false;
			continue;
		}
		if (begins) {
			group = h("div.menu-group", { role: "group" });
			box.append(group);
			begins = false;
		}
		const { entries: others, text = "" } = entry;
		const open = async () => {
			const back = { icon: "back", text: words.back_to(label), act: () => void menu(button, entries, label) };
			menu(button, [back, ...((await others?.()) ?? [])], text);
		};
		const item = item_of(others ? { ...entry, act: open } : entry, close);
		if (others) item.setAttribute("aria-haspopup", "menu");
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
