// Searches pages, templates and rooms by the first letters of their names, and codes.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { address, get, segment } from "../lib/api.js";
import { h, icon, put } from "../lib/dom.js";
import { go } from "../lib/router.js";
import { dialog } from "../lib/ui.js";
import { may } from "./session.js";

// Generated codes: groups of 3, 3 or 4, and 3 letters, with or without hyphens. Then custom codes.
const LETTERS = /^([a-z]{3})[- ]?([a-z]{3,4})[- ]?([a-z]{3})$/i;
const CUSTOM = /^(?=.{6,40}$)[a-z0-9]+(-[a-z0-9]+)*$/i;
const MOST = 5;

/** @typedef {{ symbol: string, words: string, href: string, kind: string }} Found kind: name for people */

/** Returns the code that a text may be, or null. @param {string} text */
function code_in(text) {
	const letters = LETTERS.exec(text);
	if (letters) return letters.slice(1).join("-").toLowerCase();
	return CUSTOM.test(text) ? text.toLowerCase() : null;
}

/** @param {string} text @param {AbortSignal} signal @returns {Promise<Found[]>} */
async function code_of(text, signal) {
	const code = code_in(text);
	if (!code || !may("codes:read")) return [];
	const found = await get(`/v2/room-codes/code/${segment(code)}`, signal);
	const words = `${found.code} – ${found.role}`;
	return [{ symbol: "key", words, href: `/console/rooms/${found.room_id}`, kind: "Code" }];
}

/**
 * @param {"template" | "room"} kind @param {string} text @param {AbortSignal} signal
 * @returns {Promise<Found[]>}
 */
async function named(kind, text, signal) {
	if (!may(`${kind}s:read`)) return [];
	const query = { name_prefix: text, view: "summary", limit: 10 };
	const page = await get(address(`/v2/${kind}s`, query), signal);
	return (page.data ?? []).slice(0, MOST).map((/** @type {any} */ one) => ({
		symbol: kind,
		words: one.name,
		href: `/console/${kind}s/${one.id}`,
		kind: kind === "room" ? "Room" : "Template",
	}));
}

/** @param {string[][]} sections icon, words and address of each */
export function open_palette(sections) {
	if (document.querySelector("dialog.palette")) return;
	/** @type {Found[]} */
	const pages = [
		...sections,
		["plus", "New template", "/console/templates/new"],
		["plus", "New room", "/console/rooms/new"],
	].map(([symbol = "", words = "", href = ""]) => ({ symbol, words, href, kind: "" }));
	let at = 0;
	/** @type {HTMLElement[]} */
	let rows = [];
	/** @type {Found[]} */
	let shown = [];
	let looking = new AbortController();
	const list = h("div.palette-list", {
		role: "listbox",
		id: "palette-list",
		"aria-label": "Results",
	});
	const label = "Search templates, rooms, codes and pages";
	const input = h("input", {
		type: "text",
		role: "combobox",
		"aria-expanded": "true",
		"aria-controls": "palette-list",
		"aria-autocomplete": "list",
		"aria-label": label,
		placeholder: "Search templates, rooms, codes…",
		autocomplete: "off",
		spellcheck: "false",
	});
	const none = h("p.quiet.palette-none", { role: "status" });
	const box = dialog("Search", [h("div.palette-input", null, icon("search"), input), list, none], {
		class: "palette",
	});

	/** @param {Found[]} found */
	function draw(found) {
		shown = found;
		rows = found.map(({ symbol, words, kind }, i) =>
			h(
				"div.palette-row",
				{ role: "option", id: `found-${i}`, onclick: () => open(i) },
				icon(symbol),
				h("span", null, words),
				kind && h("span.quiet", null, kind),
			),
		);
		put(list, rows);
		put(none, rows.length === 0 && "No results.");
		none.hidden = rows.length > 0;
		point(0);
	}
	/** @param {number} to */
	function point(to) {
		at = rows.length === 0 ? 0 : (to + rows.length) % rows.length;
		rows.forEach((row, i) => row.setAttribute("aria-selected", String(i === at)));
		if (rows[at]) input.setAttribute("aria-activedescendant", `found-${at}`);
		else input.removeAttribute("aria-activedescendant");
		rows[at]?.scrollIntoView({ block: "nearest" });
	}
	/** @param {number} i */
	function open(i) {
		const found = shown[i];
		if (!found) return;
		box.close();
		go(found.href);
	}
	async function look() {
		looking.abort();
		looking = new AbortController();
		const { signal } = looking;
		const text = input.value.trim();
		const fitting = pages.filter(({ words }) => words.toLowerCase().includes(text.toLowerCase()));
		if (text === "") return draw(fitting);
		// A search that fails, or that the session may not do, does not hide the other results.
		// Names of templates are case-sensitive, and most start with a capital.
		const capital = text.charAt(0).toUpperCase() + text.slice(1);
		const found = await Promise.all(
			[
				code_of(text, signal),
				named("template", text, signal),
				capital === text ? Promise.resolve([]) : named("template", capital, signal),
				named("room", text, signal),
			].map((one) => one.catch(() => [])),
		);
		if (!signal.aborted) draw([...found.flat(), ...fitting]);
	}
	input.addEventListener("input", look);
	input.addEventListener("keydown", (event) => {
		/** @type {Record<string, () => void>} */
		const keys = {
			ArrowDown: () => point(at + 1),
			ArrowUp: () => point(at - 1),
			Enter: () => open(at),
		};
		const action = keys[event.key];
		if (!action) return;
		event.preventDefault();
		action();
	});
	box.addEventListener("close", () => looking.abort());
	draw(pages);
	input.focus();
}
