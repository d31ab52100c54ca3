// The dialog that lists the keyboard shortcuts of a call, and turns them off. Loaded when it is asked for.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { h } from "../lib/dom.js";
import { browser_storage } from "../lib/storage.js";
import { dialog } from "./dialog.js";
import { words } from "./words.js";

/**
 * @param {(command: string) => boolean} has whether the role and the browser have what a key does
 */
export function show_keys(has) {
	const on = h("input", { type: "checkbox", id: "keys-on", checked: browser_storage.get("keys") !== "off", "aria-describedby": "keys-hint" });
	on.addEventListener("change", () => browser_storage.set("keys", on.checked ? "on" : "off"));
	const had = Object.entries(words.keys).filter(([command]) => has(command === "talk" ? "audio" : command));
	const row = (/** @type {[string, string[]]} */ [, [key, text]]) => h("div", null, h("dt", null, h("span.key", null, key)), h("dd", null, text));
	return dialog({
		title: words.shortcuts,
		content: [
			h("dl.keys", null, had.map(row)),
			h(
				"div.check",
				null,
				on,
				h("label", { for: "keys-on" }, words.keys_switch),
				h("p.hint", { id: "keys-hint" }, words.keys_hint),
			),
		],
		buttons: [{ value: "", text: words.close, class: "primary", focus: true }],
	});
}
