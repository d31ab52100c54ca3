// Parts that the pages share: toasts, dialogs, menus, copy buttons, the head of a page.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { Refusal } from "./api.js";
import { announce, h, icon, put, unique } from "./dom.js";
import { count_of } from "./text.js";

// Milliseconds that a message stays: a confirmation, one that can be undone, and an error.
const STAY = { ok: 3500, undo: 10000, bad: 9000 };

/**
 * Shows a message for a few seconds; with `undo`, it has a button that runs it. The message stays while the
 * pointer or the focus is on the button.
 * @param {string} text @param {"ok" | "bad" | { undo: () => Promise<any> }} [mood]
 */
export function toast(text, mood = "ok") {
	const place = document.getElementById("toasts");
	if (!place) return;
	const kind = typeof mood === "string" ? mood : "undo";
	const message = h(
		"div.toast",
		{ class: kind },
		icon(kind === "bad" ? "warning" : "check"),
		h("span", null, text),
	);
	const remove = () => {
		message.remove();
		if (!place.firstChild) place.hidePopover();
	};
	const later = () =>
		setTimeout(() => {
			if (message.matches(":hover, :focus-within")) later();
			else remove();
		}, STAY[kind]);
	if (typeof mood === "object") {
		const button = h("button", { type: "button" }, "Undo");
		button.addEventListener("click", async () => {
			await busy(button, mood.undo);
			remove();
		});
		message.append(button);
	}
	place.append(message);
	// Open dialogs are in the top layer of the page; showing the popover again puts it above them.
	if (place.matches(":popover-open")) place.hidePopover();
	place.showPopover();
	announce(text);
	later();
}

/** Creates the element that shows toasts. */
export const toast_place = () =>
	h("div", { id: "toasts", popover: "manual", role: "region", "aria-label": "Messages" });

/** Returns an error as a sentence. @param {unknown} error */
export function sentence(error) {
	if (!(error instanceof Refusal)) return error instanceof Error ? error.message : String(error);
	if (error.status === 429) {
		return `Too many requests. Try again in ${count_of(error.retry_after || 1, "second")}.`;
	}
	if (error.status === 401) return "Your session has ended. Sign in and try again.";
	const details = error.details.length > 0 ? `: ${error.details.join("; ")}` : "";
	return `${error.message.replace(/\.$/, "")}${details}.`;
}

/**
 * Runs the action of a button. While it runs, the button is marked as busy and does not start it again.
 * Errors are shown as a toast.
 * @param {HTMLElement} button @param {() => Promise<any>} action
 */
export async function busy(button, action) {
	if (button.getAttribute("aria-busy") === "true") return;
	button.setAttribute("aria-busy", "true");
	try {
		await action();
	} catch (error) {
		const left = error instanceof DOMException && error.name === "AbortError";
		if (!left) toast(sentence(error), "bad");
	} finally {
		button.removeAttribute("aria-busy");
	}
}

/** @param {string} text */
async function copy(text) {
	try {
		await navigator.clipboard.writeText(text);
	} catch {
		// Only secure pages can use the clipboard; on others, a selection can be copied.
		const area = h("textarea", { class: "off-screen", readonly: true, "aria-hidden": "true" });
		const holder = document.querySelector("dialog[open]") ?? document.body;
		area.value = text;
		holder.append(area);
		area.select();
		document.execCommand("copy");
		area.remove();
	}
}

/**
 * Creates a button that copies a text and confirms it for a moment.
 * @param {string} text @param {string} label @param {{ symbol?: string, words?: string }} [options]
 */
export function copy_button(text, label, { symbol = "copy", words = "" } = {}) {
	const face = () => [icon(symbol), words];
	const button = h(
		"button",
		{ type: "button", "aria-label": words ? null : label, title: words ? null : label },
		face(),
	);
	if (!words) button.className = "plain";
	button.addEventListener("click", async () => {
		button.focus();
		await copy(text);
		button.focus();
		put(button, icon("check"), words && "Copied");
		announce("Copied");
		setTimeout(() => put(button, face()), 1400);
	});
	return button;
}

/**
 * Opens a dialog. It is the browser's own element, which keeps the focus inside; closing restores the focus.
 * @param {string} title @param {(Node | string | null | false)[]} content
 * @param {{ class?: string, firm?: boolean }} [options] firm: a click outside does not close it
 */
export function dialog(title, content, options = {}) {
	const id = unique("dialog");
	const close = h(
		"button.plain.square",
		{ type: "button", "aria-label": "Close", onclick: () => element.close() },
		icon("close"),
	);
	const element = h(
		"dialog",
		{ "aria-labelledby": id, class: options.class ?? "" },
		h("div.dialog-head", null, h("h2", { id }, title), close),
		h("div.dialog-body", null, content),
	);
	const opener = document.activeElement;
	// A click outside does not throw away a form that was filled in.
	let filled = options.firm === true;
	element.addEventListener("input", () => {
		filled ||= element.querySelector("form") !== null;
	});
	element.addEventListener("click", (event) => {
		if (event.target === element && !filled) element.close();
	});
	element.addEventListener("close", () => {
		element.remove();
		if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
	});
	document.body.append(element);
	element.showModal();
	return element;
}

/**
 * Asks before something that cannot be undone.
 * @param {string} title @param {string} text @param {string} verb @returns {Promise<boolean>}
 */
export function confirm_with(title, text, verb) {
	return new Promise((answer) => {
		// Answer before closing: the close event may arrive after the next key.
		const end = (/** @type {boolean} */ yes) => () => {
			answer(yes);
			box.close();
		};
		const box = dialog(title, [
			h("p", null, text),
			h(
				"div.dialog-foot",
				null,
				h("button", { type: "button", autofocus: true, onclick: end(false) }, "Cancel"),
				h("button.danger.solid", { type: "button", onclick: end(true) }, verb),
			),
		]);
		box.addEventListener("close", () => answer(false));
	});
}

/**
 * Asks for confirmation, runs the action that deletes, and says that the object is deleted. Errors are shown
 * as a toast.
 * @param {{ kind: string, title: string, text: string, verb: string }} question kind of the object, such as "Room"
 * @param {() => Promise<any>} action
 */
export async function remove_with({ kind, title, text, verb }, action) {
	if (!(await confirm_with(title, text, verb))) return;
	try {
		await action();
		toast(`${kind} deleted.`);
	} catch (error) {
		toast(sentence(error), "bad");
	}
}

/**
 * Shows a secret that no later request returns.
 * @param {string} title @param {string} about @param {string} secret
 */
export function secret_dialog(title, about, secret) {
	const box = dialog(
		title,
		[
			h("p.notice.warn", null, icon("warning"), about),
			h("div.code-block", null, h("pre", { tabindex: "0", class: "secret" }, secret)),
			h(
				"div.dialog-foot",
				null,
				copy_button(secret, "Copy", { words: "Copy" }),
				h("button.primary", { type: "button", onclick: () => box.close() }, "I have saved it"),
			),
		],
		{ firm: true },
	);
	return new Promise((done) => box.addEventListener("close", () => done(null)));
}

/** @typedef {{ symbol: string, words: string, action: () => any, danger?: boolean }} Entry */

/**
 * Creates a button that opens a menu. Keys: up, down, Home, End, Escape.
 * @param {string} label @param {(Entry | null | false)[]} entries
 * @param {{ face?: (Node | string)[], class?: string }} [options] face: replaces the three dots
 */
export function menu(label, entries, options = {}) {
	const id = unique("menu");
	const items = entries
		.filter((entry) => entry !== null && entry !== false)
		.map((entry) =>
			h(
				"button",
				{
					type: "button",
					role: "menuitem",
					tabindex: "-1",
					class: entry.danger ? "danger" : "",
					onclick() {
						list.hidePopover();
						button.focus();
						entry.action();
					},
				},
				icon(entry.symbol),
				h("span", null, entry.words),
			),
		);
	const list = h("div.menu", { id, popover: "auto", role: "menu", "aria-label": label }, items);
	const button = h(
		"button",
		{
			type: "button",
			popovertarget: id,
			"aria-haspopup": "menu",
			"aria-label": options.face ? null : label,
			title: options.face ? null : label,
			class: options.class ?? "plain square",
		},
		options.face ?? icon("more"),
	);
	list.addEventListener("toggle", (event) => {
		const open = /** @type {ToggleEvent} */ (event).newState === "open";
		button.setAttribute("aria-expanded", String(open));
		if (!open) return;
		const place = button.getBoundingClientRect();
		const below = place.bottom + 4 + list.offsetHeight <= innerHeight;
		const left = Math.min(place.right, innerWidth - 8) - list.offsetWidth;
		list.style.top = `${below ? place.bottom + 4 : Math.max(8, place.top - 4 - list.offsetHeight)}px`;
		list.style.left = `${Math.max(8, left)}px`;
		items[0]?.focus();
	});
	list.addEventListener("keydown", (event) => {
		const at = items.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
		/** @type {Record<string, number>} */
		const steps = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 };
		const to = steps[event.key];
		if (event.key === "Tab") list.hidePopover();
		if (to === undefined) return;
		event.preventDefault();
		items.at(to % items.length)?.focus();
	});
	return h("div.menu-holder", null, button, list);
}

/**
 * Creates the content of an empty list.
 * @param {string} symbol @param {string} title @param {string} text @param {Node | null} [action]
 * @param {"h1" | "h2"} [heading]
 */
export const empty = (symbol, title, text, action = null, heading = "h2") =>
	h(
		"div.empty",
		null,
		icon(symbol),
		h(heading, { tabindex: "-1" }, title),
		h("p", null, text),
		action,
	);

/**
 * Creates the head of a page.
 * @param {{ way?: [string, string][], title: string, badge?: Node | null,
 *   about?: (Node | string | null | false)[], actions?: (Node | null | false)[] }} what
 * way: names and addresses of the pages above this one
 */
export function page_head({ way = [], title, badge = null, about = [], actions = [] }) {
	const steps = way.map(([text, href], i) => [
		i > 0 && h("span", { "aria-hidden": "true" }, "/"),
		h("a", { href }, text),
	]);
	return h(
		"header.page-head",
		null,
		way.length > 0 && h("nav.way", { "aria-label": "Breadcrumb" }, steps),
		h(
			"div.page-title",
			null,
			h("h1", { tabindex: "-1" }, title),
			badge,
			actions.length > 0 && h("div.actions", null, actions),
		),
		about.length > 0 && h("div.about-line", null, about),
	);
}

/** Creates a block of text with a button that copies it. @param {string} text @param {string} label @param {string} [kind] */
export const code_block = (text, label, kind = "") =>
	h(
		"div.code-block",
		{ class: kind },
		h("pre", { tabindex: "0", role: "region", "aria-label": label }, text),
		copy_button(text, `Copy ${label.charAt(0).toLowerCase()}${label.slice(1)}`),
	);

/**
 * Shows a request as a command for a terminal.
 * @param {string} method @param {string} path @param {any} [body]
 */
export function show_call(method, path, body) {
	const lines = [
		`curl -X ${method} "$BASE_URL${path}"`,
		`-H "Authorization: Bearer $MANAGEMENT_TOKEN"`,
	];
	if (body !== undefined) {
		const quoted = JSON.stringify(body, null, 2).replace(/'/g, "'\\''");
		lines.push("-H 'Content-Type: application/json'", `-d '${quoted}'`);
	}
	dialog(
		"API request",
		[
			h(
				"p.hint",
				null,
				"Set BASE_URL and MANAGEMENT_TOKEN first. An API key works in place of the token.",
			),
			code_block(lines.join(" \\\n  "), "Command"),
		],
		{ class: "wide" },
	);
}
