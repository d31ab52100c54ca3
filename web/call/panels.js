// The panels beside the stage. One of them is open at a time; in small windows, it covers everything else.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { h, icon } from "../lib/dom.js";
import { words } from "./words.js";

/** `toggle` shows or hides the panel; a panel that is shown takes the focus.
 * @typedef {{ element: HTMLElement, toggle: (open: boolean) => void }} Panel */

export const COVERED = "(max-width: 700px), (max-height: 480px)";

/** Creates the button that closes a panel. @param {() => void} close */
export const close_button = (close) =>
	h("button.plain.square", { type: "button", "aria-label": words.close, title: words.close, onclick: close }, icon("close"));

/**
 * @template {string} Name
 * @param {Record<Name, Panel>} all @param {HTMLElement[]} covered what a panel covers in small windows
 * @param {(open: Name | null, before: Name | null) => void} changed called when another panel is open, or none
 * @param {AbortSignal} signal ends it
 */
export function panels(all, covered, changed, signal) {
	/** @type {Name | null} */
	let open = null;
	const small = matchMedia(COVERED);
	function cover() {
		for (const one of covered) one.inert = small.matches && open !== null;
	}
	small.addEventListener("change", cover, { signal });
	for (const { element } of /** @type {Panel[]} */ (Object.values(all))) {
		// Escape may be for an input method.
		element.addEventListener("keydown", (event) => event.key === "Escape" && !event.isComposing && show(null));
	}
	/** Opens a panel in the place of the one that is open; null closes that one. @param {Name | null} name */
	function show(name) {
		const before = open;
		if (name === before) return;
		open = name;
		if (before) all[before].toggle(false);
		cover();
		if (name) all[name].toggle(true);
		changed(name, before);
	}
	return {
		show,
		/** @param {Name} name */
		toggle: (name) => show(open === name ? null : name),
	};
}
