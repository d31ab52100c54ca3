// Short notes at the top of the call: one line each. They go after some seconds, unless they have a button or
// describe a state.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { h, icon } from "../lib/dom.js";
import { words } from "./words.js";

// Milliseconds, and notes at a time.
const SHOWN = 6000;
const MOST = 3;

/** @typedef {{ key?: string, symbol?: string, act?: { text: string, do: () => void }, stay?: boolean, bad?: boolean }} Kind */

export function notes() {
	const box = h("div.notes", { role: "status", "aria-live": "polite" });
	/** @type {Map<string, HTMLElement>} */
	const shown = new Map();
	function drop(/** @type {string} */ key) {
		shown.get(key)?.remove();
		shown.delete(key);
	}
	return {
		element: box,
		drop,
		/** Shows a note. One with the same key is replaced. @param {string} text @param {Kind} [kind] */
		say(text, { key = text, symbol = "info", act, stay = false, bad = false } = {}) {
			drop(key);
			const doing = () => {
				drop(key);
				act?.do();
			};
			const note = h(
				"div.note",
				{ class: bad ? "bad" : "" },
				icon(symbol),
				h("span", null, text),
				act && h("button.small", { type: "button", onclick: doing }, act.text),
				h("button.note-close", { type: "button", "aria-label": words.close, onclick: () => drop(key) }, icon("close")),
			);
			note.classList.toggle("stays", stay);
			shown.set(key, note);
			box.append(note);
			// What tells a state goes last.
			for (const stays of [false, true]) {
				for (const [oldest, one] of shown) if (shown.size > MOST && one.classList.contains("stays") === stays) drop(oldest);
			}
			if (!stay && !act) setTimeout(() => shown.get(key) === note && drop(key), SHOWN);
		},
	};
}

/** @typedef {ReturnType<typeof notes>["say"]} Say */
