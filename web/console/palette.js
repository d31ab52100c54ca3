// Searches pages, and templates and rooms by any words of their names and titles, by ID, by code and by join link.
// Without a search it shows the objects that were opened last.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { address, get } from "../lib/api.js";
import { h, icon, put } from "../lib/dom.js";
import { go } from "../lib/router.js";
import { tab_storage } from "../lib/storage.js";
import { number } from "../lib/text.js";
import { dialog } from "../lib/ui.js";
import { code_of, meant, object_of, search } from "./find.js";
import { may } from "./session.js";
import { shown_name } from "./title.js";

const MOST = 5;
// Milliseconds without typing after which a search starts.
const PAUSE = 120;
const RECENT = "recent";
const MOST_RECENT = 6;

/** @typedef {{ symbol: string, words: string, href: string, kind: string }} Found kind: name for people */
/** @typedef {"template" | "room"} Kind */

/** @type {Record<Kind, string>} */
const KINDS = { room: "Room", template: "Template" };

/** @param {Kind} kind @param {{ id: string, name: string, title?: string }} one @returns {Found} */
const found_object = (kind, one) => ({
	symbol: kind,
	words: shown_name(one),
	href: `/console/${kind}s/${one.id}`,
	kind: KINDS[kind],
});

/** @returns {Found[]} */
const recent = () => tab_storage.get_json(RECENT) ?? [];

/** Notes that a page was opened. @param {string} path @param {string} title @param {boolean} there false if it has no object */
export function note_visit(path, title, there) {
	const [, kind, id] = /^\/console\/(template|room)s\/([0-9a-f]{24})$/.exec(path) ?? [];
	if (!kind || !id) return;
	const others = recent().filter(({ href }) => href !== path);
	const own = there ? [found_object(/** @type {Kind} */ (kind), { id, name: title })] : [];
	tab_storage.set(RECENT, JSON.stringify([...own, ...others].slice(0, MOST_RECENT)));
}

export const forget_visits = () => tab_storage.remove(RECENT);

/** @param {Kind} kind @param {string} q @param {AbortSignal} signal @param {(found: Found[]) => void} show
 * @param {(examined: number) => void} tell */
async function named(kind, q, signal, show, tell) {
	const query = { q, view: "summary", limit: 10, start: "" };
	const drawn = (/** @type {any[]} */ data) => {
		const found = data.slice(0, MOST).map((one) => found_object(kind, one));
		if (data.length > MOST) {
			const href = address(`/console/${kind}s`, { search: q });
			found.push({ symbol: "search", words: `Show all ${kind}s with “${q}”`, href, kind: "" });
		}
		show(found);
	};
	const { data } = await search(`/v2/${kind}s`, query, signal, (examined, part) => {
		tell(examined);
		drawn(part);
	});
	drawn(data);
}

/** @param {string[][]} sections icon, words and address of each */
export function open_palette(sections) {
	if (document.querySelector("dialog.palette[open]")) return;
	/** @type {Found[]} */
	const pages = [
		...sections,
		...(may("templates:write") ? [["plus", "New template", "/console/templates/new"]] : []),
		...(may("rooms:write") ? [["plus", "New room", "/console/rooms/new"]] : []),
	].map(([symbol = "", words = "", href = ""]) => ({ symbol, words, href, kind: "" }));
	/** The results, in the order of the sources. @type {Found[][]} */
	let parts = [];
	/** @type {Found[]} */
	let shown = [];
	/** @type {HTMLElement[]} */
	let rows = [];
	let at = 0;
	let looking = new AbortController();
	// While a search has no results yet, Enter waits for all of them.
	let running = false;
	let has_results = false;
	let entered = false;
	/** @type {ReturnType<typeof setTimeout> | undefined} */
	let waiting;
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
		placeholder: "Search names, titles, codes, links, IDs…",
		autocomplete: "off",
		spellcheck: "false",
	});
	const state = h("p.quiet.palette-none", { role: "status", hidden: true });
	const box = dialog("Search", [h("div.palette-input", null, icon("search"), input), list, state], {
		class: "palette",
	});

	/** @param {string} words */
	function tell(words) {
		put(state, words);
		state.hidden = words === "";
	}
	function draw() {
		const chosen = shown[at]?.href;
		const known = new Set();
		shown = parts.flat().filter(({ href }) => !known.has(href) && known.add(href));
		rows = shown.map(({ symbol, words, kind }, i) =>
			h(
				"div.palette-row",
				{ role: "option", id: `found-${i}`, onclick: () => open(i) },
				icon(symbol),
				h("span", null, words),
				kind && h("span.quiet", null, kind),
			),
		);
		put(list, rows);
		// Results that arrive later do not move the choice.
		point(
			at === 0
				? 0
				: Math.max(
						0,
						shown.findIndex(({ href }) => href === chosen),
					),
		);
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
	function restart() {
		clearTimeout(waiting);
		looking.abort();
		looking = new AbortController();
		has_results = false;
		entered = false;
		at = 0;
		const text = input.value.trim();
		const wanted = text.toLowerCase();
		const fitting = pages.filter(({ words }) => words.toLowerCase().includes(wanted));
		running = text !== "";
		tell(running ? "Searching…" : "");
		if (running) waiting = setTimeout(() => look(text, fitting, looking.signal), PAUSE);
		else {
			parts = [recent(), [], pages];
			draw();
			newest(looking.signal).catch(() => {});
		}
	}
	/** Adds the newest rooms to what was opened last. @param {AbortSignal} signal */
	async function newest(signal) {
		if (recent().length >= MOST_RECENT || !may("rooms:read")) return;
		const page = await get("/v2/rooms?view=summary&limit=10", signal);
		const rooms = (page.data ?? []).map((/** @type {any} */ one) => found_object("room", one));
		parts[1] = rooms.slice(0, MOST_RECENT - recent().length);
		draw();
	}
	/** @param {string} text @param {Found[]} fitting @param {AbortSignal} signal */
	async function look(text, fitting, signal) {
		const { code, id, words } = meant(text);
		const begins = (/** @type {Found} */ { words }) =>
			words.toLowerCase().startsWith(text.toLowerCase());
		parts = [[], fitting.filter(begins), [], [], [], [], fitting];
		/** @param {number} i @param {Found[]} found */
		const show = (i, found) => {
			if (signal.aborted) return;
			parts[i] = found;
			has_results ||= found.length > 0;
			draw();
		};
		const by_code = async () => {
			const found = await code_of(code, signal);
			if (!found) return;
			const href = `/console/rooms/${found.room_id}`;
			show(0, [{ symbol: "key", words: `${found.code} – ${found.role}`, href, kind: "Code" }]);
		};
		/** @param {Kind} kind @param {number} i */
		const of_kind = (kind, i) => {
			if (!may(`${kind}s:read`)) return [];
			const by_id = async () => {
				const found = await object_of(`/v2/${kind}s`, id, signal);
				if (found) show(i, [found_object(kind, found)]);
			};
			const progress = (/** @type {number} */ examined) =>
				!signal.aborted && tell(`Searching… ${number(examined)} ${kind}s so far`);
			const draw_named = (/** @type {Found[]} */ found) => show(i + 1, found);
			return [by_id(), words && named(kind, words, signal, draw_named, progress)];
		};
		// A search that fails, or that the session may not do, does not hide the other results.
		await Promise.allSettled([by_code(), ...of_kind("room", 2), ...of_kind("template", 4)]);
		if (signal.aborted) return;
		running = false;
		draw();
		tell(rows.length === 0 ? "No results." : "");
		if (entered) open(at);
	}
	input.addEventListener("input", restart);
	input.addEventListener("keydown", (event) => {
		/** @type {Record<string, () => void>} */
		const keys = {
			ArrowDown: () => point(at + 1),
			ArrowUp: () => point(at - 1),
			Enter() {
				entered = running && !has_results;
				if (!entered) open(at);
			},
		};
		const action = keys[event.key];
		if (!action) return;
		event.preventDefault();
		action();
	});
	box.addEventListener("close", () => {
		clearTimeout(waiting);
		looking.abort();
	});
	restart();
	input.focus();
}
