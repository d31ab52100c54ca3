// Short notes at the top of the call. They go after some seconds, unless they have a button or describe a state.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { h, icon, put } from "../lib/dom.js";
import { words } from "./words.js";

// Milliseconds, and notes at a time.
const SHOWN = 6000;
const MOST = 3;
// Milliseconds during which a note whose buttons have changed takes no press: it was meant for the previous ones.
const DEAD = 600;

/** @typedef {{ text: string, label?: string, do: () => void }} Act */
/**
 * `also` is a second button; `shown` are milliseconds after which a note with a button goes.
 * @typedef {{ key?: string, symbol?: string, act?: Act, also?: Act, shown?: number, stay?: boolean, bad?: boolean }} Kind
 */

export function notes() {
	const box = h("div.notes", { role: "status", "aria-live": "polite" });
	/** @type {Map<string, HTMLElement>} */
	const shown = new Map();
	/** What a note with buttons said that went, by its key, and when. @type {Map<string, { says: string, at: number }>} */
	const gone = new Map();
	function drop(/** @type {string} */ key) {
		const note = shown.get(key);
		if (note?.querySelector("button.small")) gone.set(key, { says: note.textContent, at: performance.now() });
		note?.remove();
		shown.delete(key);
	}
	/** Shows a note. One with the same key is replaced. @param {string} text @param {Kind} [kind] */
	function say(text, { key = text, symbol = "info", act, also, shown: time = act ? 0 : SHOWN, stay = false, bad = false } = {}) {
		const has_focus = shown.get(key)?.contains(document.activeElement);
		drop(key);
		const button = (/** @type {Act | undefined} */ one, kind = "") => {
			if (!one) return null;
			const press = () => {
				if (made.ariaDisabled === "true") return;
				drop(key);
				one.do();
			};
			const made = h("button.small", { type: "button", class: kind, "aria-label": one.label, onclick: press }, one.text);
			return made;
		};
		const note = h(
			"div.note",
			{ class: bad ? "bad" : "" },
			icon(symbol),
			h("span", null, text),
			button(act, also && "primary"),
			button(also),
			h("button.note-close", { type: "button", "aria-label": words.close, onclick: () => drop(key) }, icon("close")),
		);
		note.classList.toggle("stays", stay);
		const former = gone.get(key);
		const dead = former && former.says !== note.textContent ? former.at + DEAD - performance.now() : 0;
		if (act && dead > 0) {
			const set_dead = (/** @type {boolean} */ yes) => note.querySelectorAll("button.small").forEach((one) => (one.ariaDisabled = yes ? "true" : null));
			set_dead(true);
			setTimeout(set_dead, dead, false);
		}
		shown.set(key, note);
		box.append(note);
		// What tells a state goes last.
		for (const stays of [false, true]) {
			for (const [oldest, one] of shown) if (shown.size > MOST && one.classList.contains("stays") === stays) drop(oldest);
		}
		if (!stay && time > 0) setTimeout(() => shown.get(key) === note && drop(key), time);
		if (has_focus) note.querySelector("button")?.focus();
	}
	return {
		element: box,
		drop,
		say,
		/** Shows that something has failed. @param {string} text @param {string} [key] */
		warn: (text, key = text) => say(text, { key, symbol: "warning", bad: true }),
		has: (/** @type {string} */ key) => shown.has(key),
		/** Changes the text of a note that is shown, without telling screen readers. @param {string} key @param {string} text */
		reword(key, text) {
			const place = shown.get(key)?.querySelector("span");
			if (!place || place.textContent === text) return;
			place.ariaLive = "off";
			put(place, text);
		},
	};
}

/** @typedef {ReturnType<typeof notes>} Notes */
/** @typedef {Notes["say"]} Say */
