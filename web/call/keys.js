// Keyboard shortcuts of a call. They do nothing while somebody types, in menus and dialogs, and after they were turned
// off.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { browser_storage } from "../lib/storage.js";

/**
 * @typedef {"audio" | "video" | "screen" | "hand" | "people" | "chat" | "full" | "help" | "mute_all" | "lock" | "view" | "zoom_in"
 *   | "zoom_out" | "zoom_fit"} Command
 */

/** @type {Record<string, Command>} */
const KEYS = {
	m: "audio",
	v: "video",
	s: "screen",
	h: "hand",
	p: "people",
	c: "chat",
	g: "view",
	f: "full",
	"+": "zoom_in",
	"-": "zoom_out",
	0: "zoom_fit",
	"?": "help",
};
/** With Shift; Caps Lock makes no difference. @type {Record<string, Command>} */
const SHIFTED = { m: "mute_all", l: "lock" };

/**
 * @param {Record<Command, () => void>} acts @param {(down: boolean) => void} talk for the space bar
 * @param {AbortSignal} signal ends them
 */
export function keys(acts, talk, signal) {
	const is_elsewhere = (/** @type {KeyboardEvent} */ event) =>
		/** @type {Element} */ (event.target).closest("input, textarea, select, [role=menu], dialog") !== null ||
		event.ctrlKey ||
		event.metaKey ||
		event.altKey ||
		browser_storage.get("keys") === "off";
	const down = (/** @type {KeyboardEvent} */ event) => {
		if (is_elsewhere(event)) return;
		// The space bar presses the button that has the focus.
		if (event.key === " " && !(/** @type {Element} */ (event.target).closest("button, a"))) {
			event.preventDefault();
			if (!event.repeat) talk(true);
			return;
		}
		const name = event.key.toLowerCase();
		const command = (event.shiftKey && SHIFTED[name]) || KEYS[name];
		if (!command || event.repeat) return;
		event.preventDefault();
		acts[command]();
	};
	addEventListener("keydown", down, { signal });
	addEventListener("keyup", (event) => event.key === " " && talk(false), { signal });
	addEventListener("blur", () => talk(false), { signal });
}
