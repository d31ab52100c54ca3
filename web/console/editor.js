// A form with a bar that counts the changes and has the buttons to save and discard them. If someone else
// has saved the same object, the editor shows their changes beside yours and asks which to save.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { Refusal, call } from "../lib/api.js";
import { h, icon, put } from "../lib/dom.js";
import { differences, form_of, merged, steps, value_at } from "../lib/form.js";
import { choice_name, label_of } from "../lib/labels.js";
import { count_of } from "../lib/text.js";
import { busy, confirm_with, dialog, show_call, toast } from "../lib/ui.js";
import { may } from "./session.js";

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
 * @property {(before: any, now: any) => Promise<boolean>} [agrees] asks before it is saved; false if it is not to be
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

/** Returns the labels of the fields on the way to a pointer. @param {string} pointer */
const way_to = (pointer) =>
	steps(pointer)
		.map((step) => (/^\d+$/.test(step) ? String(Number(step) + 1) : label_of(step)))
		.join(" › ");

/** Returns a value as people read it. @param {string} pointer @param {any} value */
function shown(pointer, value) {
	if (value === undefined || value === null || value === "") return "Not set";
	if (typeof value === "boolean") return value ? "Yes" : "No";
	if (typeof value === "object") {
		const plain = Array.isArray(value) && value.every((one) => typeof one === "string");
		return plain ? value.join(", ") || "None" : JSON.stringify(value, null, 1);
	}
	return choice_name(steps(pointer).at(-1) ?? "", String(value));
}

/**
 * Shows the changes of someone else beside those of the form, and asks which to save.
 * @param {any} before what the form was filled with @param {any} theirs @param {any} yours
 * @returns {Promise<"theirs" | "both" | "yours" | null>} null to leave everything as it is
 */
function ask_conflict(before, theirs, yours) {
	const changed = differences(before, theirs);
	const own = differences(before, yours);
	const pointers = [...new Set([...changed, ...own])];
	const touches = (/** @type {string} */ a, /** @type {string} */ b) =>
		a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`);
	const clash = changed.some((one) => own.some((other) => touches(one, other)));
	const cell = (
		/** @type {string} */ name,
		/** @type {any} */ value,
		/** @type {boolean} */ is_new,
	) => h("td", { "data-label": name, class: is_new ? "new-value" : "" }, value);
	const rows = pointers.map((pointer) => {
		const [was, other, mine] = [before, theirs, yours].map((one) =>
			shown(pointer, value_at(one, pointer)),
		);
		return h(
			"tr",
			null,
			h("th", { scope: "row" }, way_to(pointer)),
			cell("Before", was, false),
			cell("Theirs", other, other !== was),
			cell("Yours", mine, mine !== was),
		);
	});
	const head = ["Field", "Before", "Theirs", "Yours"].map((name) =>
		h("th", { scope: "col" }, name),
	);
	return new Promise((answer) => {
		const button = (
			/** @type {string} */ words,
			/** @type {"both" | "yours" | null} */ choice,
			kind = "",
		) =>
			h(
				"button",
				{
					type: "button",
					class: kind,
					autofocus: choice === null,
					onclick() {
						answer(choice);
						box.close();
					},
				},
				words,
			);
		const about = clash
			? "The same fields were changed. Saving yours replaces theirs; if you cancel, your changes stay in the form, unsaved."
			: "You have changed other fields, so both can be kept. If you cancel, your changes stay in the form, unsaved.";
		const box = dialog(
			"Someone else has changed this",
			[
				h("p", null, about),
				h(
					"div.conflict",
					{ tabindex: "0", role: "group", "aria-label": "Changes" },
					h("table", null, h("thead", null, h("tr", null, head)), h("tbody", null, rows)),
				),
				h(
					"div.dialog-foot.wrap",
					null,
					button("Cancel", null),
					button("Replace their changes", "yours", "danger"),
					button(clash ? "Keep theirs, save the rest" : "Keep both", "both", "primary"),
				),
			],
			{ class: "wide", firm: true },
		);
		box.addEventListener("close", () => answer(null));
	});
}

/** Scopes that a form needs, by the path of its object. @type {[string, string][]} */
const SCOPES = [
	["/v2/templates", "templates:write"],
	["/v2/rooms", "rooms:write"],
];

/** @param {Edited} what */
export function editor(what) {
	let { etag } = what;
	const form = form_of(what.schema, what.value, what.extras ?? {});
	const scope = SCOPES.find(([path]) => what.path.startsWith(path))?.[1] ?? "";
	if (scope && !may(scope)) return reader(form.element, scope);
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
		const appears = bar.hidden && changed.length > 0;
		bar.hidden = changed.length === 0;
		if (appears) uncover();
		const names = changed.slice(0, 3).map((one) => label_at(what.schema, one));
		const rest = changed.length > 3 ? "…" : "";
		put(
			words,
			h("strong", null, count_of(changed.length, "change")),
			h("span.quiet.wide-only", null, ` ${names.join(", ")}${rest}`),
		);
	}

	/** Scrolls so that the bar, which has just appeared, does not cover the field with the focus. */
	function uncover() {
		const field = document.activeElement;
		if (!field || !element.contains(field)) return;
		const over = field.getBoundingClientRect().bottom - bar.getBoundingClientRect().top + 24;
		if (over > 0) scrollBy(0, over);
	}

	/** @param {string | null} match */
	async function send(match) {
		try {
			if (what.agrees && !(await what.agrees(kept, form.read()))) return;
			const answer = await call(what.method, what.path, { body: body(), etag: match });
			etag = answer.etag;
			form.write(answer.data);
			kept = form.read();
			look();
			what.saved(answer);
		} catch (error) {
			if (!(error instanceof Refusal)) throw error;
			if (error.status === 412) await settle();
			else if (error.status === 400 || error.status === 409) {
				const told =
					error.details.length > error.faults.length ? `: ${error.details.join("; ")}` : "";
				form.show(error.message + told, error.faults);
			} else throw error;
		}
	}

	/** Asks which changes to save after someone else has saved, and saves them. */
	async function settle() {
		const now = await call("GET", what.path);
		const yours = form.read();
		// The form reads their version too, so that fields without a control do not count.
		form.write(now.data);
		const theirs = form.read();
		form.write(yours);
		const choice = await ask_conflict(kept, theirs, yours);
		if (!choice) return;
		if (choice === "both") form.write(merged(kept, theirs, yours));
		if (choice === "both" || what.method === "PATCH") kept = theirs;
		etag = now.etag;
		look();
		if (bar.hidden) what.saved(now);
		else await send(etag);
	}

	/** The request that saves, while it runs. @type {Promise<any>} */
	let saving = Promise.resolve();
	discard.addEventListener("click", () => {
		const typed = form.read();
		form.write(kept);
		look();
		toast("Changes discarded.", {
			async undo() {
				form.write(typed);
				look();
			},
		});
	});
	element.addEventListener("input", look);
	element.addEventListener("change", look);
	element.addEventListener("submit", (event) => {
		event.preventDefault();
		if (!bar.hidden) saving = busy(save, () => send(etag));
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
		/** Takes over what another request changed, and keeps what was typed. @param {import("../lib/api.js").Answer} answer */
		renew(answer) {
			const yours = form.read();
			form.write(answer.data);
			const theirs = form.read();
			form.write(merged(kept, theirs, yours));
			kept = theirs;
			etag = answer.etag;
			look();
		},
		async leave() {
			await saving;
			return (
				bar.hidden ||
				confirm_with(
					"Leave without saving?",
					"Your changes on this page will be lost.",
					"Leave page",
				)
			);
		},
	};
}

/** Shows a form that the session may not save. @param {HTMLElement} form @param {string} scope */
function reader(form, scope) {
	const words = `You can look at this, but not change it: your session does not have the scope ${scope}.`;
	const notice = h("p.notice", null, icon("lock"), words);
	return {
		element: h("div.stack", null, notice, h("fieldset", { disabled: true }, form)),
		unsaved: () => false,
		renew() {},
		leave: async () => true,
	};
}

/**
 * A short form that creates something. It shows each error at its field; a name that is already taken (412)
 * is an error of the field "name".
 * @param {{ schema: Plain, value?: any, extras?: import("../lib/form.js").Extras, verb: string,
 *   danger?: boolean, between?: Node | null, cancel?: HTMLElement, send: (value: any) => Promise<any>,
 *   taken?: string }} what
 * `send` sends the request and continues with the response; `taken` is the message for a 412
 */
export function maker(what) {
	const form = form_of(what.schema, what.value ?? {}, what.extras ?? {});
	const kind = what.danger ? "danger solid" : "primary";
	const button = h("button", { type: "submit", class: kind }, what.verb);
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
