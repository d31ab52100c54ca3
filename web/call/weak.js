// Tells people that their own connection is weak, with the remedy that helps most.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { words } from "./words.js";

// Milliseconds that it is weak until it is told, and between two times that it is told.
const PATIENCE = 10000;
const PAUSE = 300000;

/**
 * @param {{ note: ReturnType<typeof import("./notes.js").notes>,
 *   view: { element: HTMLElement, show_fewer?: () => void, shows_fewer?: () => boolean }, signal: AbortSignal }} call
 * @returns {(is_weak: boolean) => void} takes whether it is weak now
 */
export function weak_watch({ note, view, signal }) {
	let told = -Infinity;
	/** @type {ReturnType<typeof setTimeout> | undefined} */
	let timer;
	signal.addEventListener("abort", () => clearTimeout(timer));
	function tell() {
		told = performance.now();
		const { show_fewer, shows_fewer } = view;
		const act = show_fewer && !shows_fewer?.() && { text: words.fewer_on, do: show_fewer };
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
