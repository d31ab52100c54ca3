// Tells people that their own connection is weak, with the remedy that helps most. Loaded when it is weak for the first
// time.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { words } from "./words.js";

// Milliseconds that it is weak until it is told, and between two times that it is told.
const PATIENCE = 10000;
const PAUSE = 300000;

/** @typedef {{ show_fewer: () => void, shows_fewer: () => boolean, has_many: () => boolean }} View */

/**
 * @param {{ note: import("./notes.js").Notes, view: View, signal: AbortSignal }} call
 * @returns {(is_weak: boolean) => void} takes whether it is weak now
 */
export function weak_watch({ note, view, signal }) {
	let told = -Infinity;
	/** @type {ReturnType<typeof setTimeout> | undefined} */
	let timer;
	signal.addEventListener("abort", () => clearTimeout(timer));
	function tell() {
		told = performance.now();
		const act = !view.shows_fewer() && view.has_many() && { text: words.fewer_on, do: view.show_fewer };
		note.say(words.weak_note, { key: "weak", symbol: "weak", stay: true, bad: true, ...(act && { act }) });
	}
	return (is_weak) => {
		if (is_weak) {
			timer ??= setTimeout(tell, Math.max(PATIENCE, told + PAUSE - performance.now()));
			return;
		}
		clearTimeout(timer);
		timer = undefined;
		note.drop("weak");
	};
}
