// A question over the call.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { h, put } from "../lib/dom.js";

/** @typedef {{ value: string, text: string, class?: string, focus?: boolean }} Button */

/**
 * Opens a dialog. Returns the value of the button that was pressed; "" for Escape and a press beside it.
 * @param {{ title: string, content: import("../lib/dom.js").Child[], buttons: Button[] }} what
 * @returns {Promise<string>}
 */
export function dialog({ title, content, buttons }) {
	return new Promise((done) => {
		const box = h("dialog.call-dialog", { "aria-labelledby": "dialog-title" });
		const end = (/** @type {string} */ value) => {
			box.close();
			box.remove();
			done(value);
		};
		const answer = (/** @type {SubmitEvent} */ event) => {
			event.preventDefault();
			end(/** @type {HTMLButtonElement | null} */ (event.submitter)?.value ?? "");
		};
		put(
			box,
			h(
				"form",
				{ method: "dialog", onsubmit: answer },
				h("h2", { id: "dialog-title" }, title),
				content,
				h(
					"div.dialog-buttons",
					null,
					buttons.map((one) =>
						h(
							"button",
							{ type: "submit", value: one.value, class: one.class ?? "", autofocus: one.focus },
							one.text,
						),
					),
				),
			),
		);
		box.addEventListener("cancel", (event) => {
			event.preventDefault();
			end("");
		});
		box.addEventListener("click", (event) => event.target === box && end(""));
		document.body.append(box);
		box.showModal();
	});
}
