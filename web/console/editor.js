// A form with a bar that counts the changes and has the buttons to save and discard them. If someone else
// has saved the same object, the editor asks before it replaces their changes.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { Refusal, call } from "../lib/api.js";
import { h, icon, put } from "../lib/dom.js";
import { differences, form_of, steps } from "../lib/form.js";
import { count_of, label_of } from "../lib/text.js";
import { busy, confirm_with, show_call } from "../lib/ui.js";

/** @typedef {import("../lib/schema.js").Plain} Plain */
/**
 * @typedef {object} Edited
 * @property {Plain} schema of the body
 * @property {string} path
 * @property {"POST" | "PATCH"} method POST replaces the object, PATCH sends only the changed fields
 * @property {any} value as the server returned it
 * @property {string | null} etag
 * @property {import("../lib/form.js").Extras} [extras]
 * @property {any} [unset] value that a PATCH sends for an emptied field; null by default
 * @property {(answer: import("../lib/api.js").Answer) => void} saved
 */

/**
 * Returns the changed fields; an emptied field has the value `unset`.
 * @param {any} before @param {any} now @param {any} unset
 */
function patch_of(before, now, unset) {
	const names = new Set(differences(before, now).map((pointer) => String(steps(pointer)[0])));
	return Object.fromEntries([...names].map((name) => [name, now[name] ?? unset]));
}

/** Returns the label of the field at a pointer. @param {Plain} schema @param {string} pointer */
function label_at(schema, pointer) {
	const name = steps(pointer).at(-1) ?? "";
	const own = schema.fields.find(([field]) => pointer === `/${field}`)?.[1].label;
	return own ?? label_of(name);
}

/** @param {Edited} what */
export function editor(what) {
	let { etag } = what;
	const form = form_of(what.schema, what.value, what.extras ?? {});
	let kept = form.read();
	const body = () =>
		what.method === "POST" ? form.read() : patch_of(kept, form.read(), what.unset ?? null);

	const words = h("span", { "aria-live": "polite" });
	const save = h(
		"button.primary",
		{ type: "submit", "aria-keyshortcuts": "Control+S" },
		"Save",
		h("kbd", { "aria-hidden": "true" }, "Ctrl S"),
	);
	const terminal = h(
		"button.plain",
		{
			type: "button",
			"aria-label": "Show API request",
			onclick: () => show_call(what.method, what.path, body()),
		},
		icon("terminal"),
		h("span.wide-only", null, "Show API request"),
	);
	const discard = h("button", { type: "button" }, "Discard");
	const bar = h(
		"div.save-bar",
		{ hidden: true },
		words,
		h("div.actions", null, terminal, discard, save),
	);
	const element = h("form.editor", { novalidate: true }, form.element, bar);

	function look() {
		const changed = differences(kept, form.read());
		bar.hidden = changed.length === 0;
		const names = changed.slice(0, 3).map((one) => label_at(what.schema, one));
		const rest = changed.length > 3 ? "…" : "";
		put(
			words,
			h("strong", null, count_of(changed.length, "change")),
			h("span.quiet.wide-only", null, ` ${names.join(", ")}${rest}`),
		);
	}

	/** @param {string | null} match */
	async function send(match) {
		try {
			const answer = await call(what.method, what.path, { body: body(), etag: match });
			etag = answer.etag;
			form.write(answer.data);
			kept = form.read();
			look();
			what.saved(answer);
		} catch (error) {
			if (!(error instanceof Refusal)) throw error;
			if (error.status === 412) {
				const overwrite = await confirm_with(
					"Someone else has changed this",
					"Saving now replaces their changes with yours. If you cancel, your changes stay in the form, unsaved.",
					"Replace their changes",
				);
				if (overwrite) await send(null);
			} else if (error.status === 400 || error.status === 409) {
				const told =
					error.details.length > error.faults.length ? `: ${error.details.join("; ")}` : "";
				form.show(error.message + told, error.faults);
			} else throw error;
		}
	}

	discard.addEventListener("click", () => {
		form.write(kept);
		look();
	});
	element.addEventListener("input", look);
	element.addEventListener("change", look);
	element.addEventListener("submit", (event) => {
		event.preventDefault();
		if (!bar.hidden) busy(save, () => send(etag));
	});
	element.addEventListener("keydown", (event) => {
		const { target } = event;
		if ((event.ctrlKey || event.metaKey) && event.key === "s") {
			event.preventDefault();
			element.requestSubmit();
		} else if (event.key === "Enter" && target instanceof HTMLInputElement) {
			// Enter does not submit: the form is too long to be saved by accident.
			if (target.type !== "checkbox") event.preventDefault();
		}
	});
	// Ctrl S also works if the focus is elsewhere on the page.
	const shortcut = (/** @type {KeyboardEvent} */ event) => {
		if (!element.isConnected) document.removeEventListener("keydown", shortcut);
		else if ((event.ctrlKey || event.metaKey) && event.key === "s" && !event.defaultPrevented) {
			event.preventDefault();
			element.requestSubmit();
		}
	};
	document.addEventListener("keydown", shortcut);

	return {
		element,
		unsaved: () => !bar.hidden,
		leave: async () =>
			bar.hidden ||
			confirm_with("Leave without saving?", "Your changes on this page will be lost.", "Leave page"),
	};
}

/**
 * A short form that creates something. It shows each error at its field; a name that is already taken (412)
 * is an error of the field "name".
 * @param {{ schema: Plain, value?: any, extras?: import("../lib/form.js").Extras, verb: string,
 *   between?: Node | null, cancel?: HTMLElement, send: (value: any) => Promise<any>, taken?: string }} what
 * `send` sends the request and continues with the response; `taken` is the message for a 412
 */
export function maker(what) {
	const form = form_of(what.schema, what.value ?? {}, what.extras ?? {});
	const button = h("button.primary", { type: "submit" }, what.verb);
	const foot = h("div.form-foot", null, what.cancel, button);
	const element = h("form.stack", { novalidate: true }, form.element, what.between, foot);
	element.addEventListener("submit", (event) => {
		event.preventDefault();
		busy(button, async () => {
			try {
				await what.send(form.read());
			} catch (error) {
				if (!(error instanceof Refusal) || error.status === 401 || error.status === 0) throw error;
				if (error.status === 412) {
					form.show("", [{ pointer: "/name", message: what.taken ?? "is already taken" }]);
				} else {
					const told = error.faults.length === 0 && error.details.length > 0;
					const message = told ? `${error.message}: ${error.details.join("; ")}` : error.message;
					form.show(message, error.faults);
				}
			}
		});
	});
	return { element, form };
}
