// The chat: its panel.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { h, icon } from "../lib/dom.js";
import { words } from "./words.js";

/** @param {{ close: () => void }} call */
export function chat({ close }) {
	const title = h("h2", { tabindex: "-1" }, words.chat);
	const end = h("button.plain.square", { type: "button", "aria-label": words.close, title: words.close, onclick: close }, icon("close"));
	const element = h("aside.panel", { id: "chat", hidden: true, "aria-label": words.chat }, h("div.panel-head", null, title, end));
	element.addEventListener("keydown", (event) => event.key === "Escape" && close());
	return {
		element,
		/** @param {boolean} yes */
		toggle(yes) {
			element.hidden = !yes;
			if (yes) title.focus();
		},
	};
}
