// The microphone that a host has turned off for all: its control stays and says so.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { announce } from "../lib/dom.js";
import { words } from "./words.js";

/**
 * @param {{ note: import("./notes.js").Notes, hand: ReturnType<typeof import("./hand.js").own_hand>,
 *   begins: () => void }} call `begins` is called when it is turned off
 */
export function held_microphone({ note, hand, begins }) {
	let is_held = false;
	let is_known = false;
	return {
		is: () => is_held,
		/** @param {import("./service.js").Me} me */
		take({ held = [] }) {
			const now = held.includes("audio");
			const was = is_held;
			const is_first = !is_known;
			is_held = now;
			is_known = true;
			if (now === was) return;
			// The name of the control says it, and no note.
			note.drop("off audio");
			note.drop("held");
			if (now) begins();
			if (!is_first) announce(now ? words.microphone_locked : words.microphone.off);
		},
		/** Says why nothing happens. */
		tell() {
			const raise = !hand.up() && hand.can() && { act: { text: words.hand.off, do: hand.turn } };
			note.say(words.microphone_locked_note, { key: "held", symbol: "lock", ...raise });
		},
	};
}
