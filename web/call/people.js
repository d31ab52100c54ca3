// The list of people: raised hands in their order, then everybody. It is drawn only while it is open. What hosts have
// beside it (hosts.js) has its places here.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { language } from "../join/words.js";
import { h, icon, put } from "../lib/dom.js";
import { close_button } from "./panels.js";
import { person_row } from "./person_row.js";
import { rove } from "./rove.js";
import { words } from "./words.js";

/** @typedef {import("./media.js").Person} Person */
/** @typedef {import("./person_row.js").Row} Row */

// From so many people on, the list can be searched.
const SEARCHED = 10;
const { compare } = new Intl.Collator(language, { numeric: true });

/** Yourself first, the others by name. @param {Person} a @param {Person} b */
const by_name = (a, b) => Number(b.me) - Number(a.me) || compare(a.name, b.name);

/** Returns the people with a raised hand, in the order in which they raised it. @param {Person[]} people */
const raised = (people) =>
	people.filter((one) => one.hand).sort((a, b) => (a.raised || Infinity) - (b.raised || Infinity) || a.joined - b.joined || compare(a.name, b.name));

/** @param {HTMLElement} list @param {Row[]} rows */
function place(list, rows) {
	rows.forEach(({ root }, i) => {
		if (list.children[i] !== root) list.insertBefore(root, list.children[i] ?? null);
	});
	while (list.children.length > rows.length) list.lastElementChild?.remove();
}

/**
 * @param {{ people: () => Person[], role_shown: (name: string) => string, options: (person: Person, button: HTMLElement) => void,
 *   has_options: (person: Person) => boolean, lowers: () => boolean, lower: (person: Person) => void, lower_all: () => void,
 *   host: () => import("./hosts.js").Hosts | null, close: () => void }} call `lowers` tells whether you may lower hands
 */
export function people_list({ people, role_shown, options, has_options, lowers, lower, lower_all, host, close }) {
	const title = h("h2", { tabindex: "-1" });
	const of_head = h("div.head-buttons", null, close_button(close));
	const of_tools = h("div.panel-tools");
	const of_host = h("div");
	const hands_title = h("h3", { id: "hands-title" });
	const all_down = h("button.small", { type: "button", onclick: () => lower_all() }, words.lower_all);
	const hands_rows = h("ul.people-rows", { role: "list", "aria-labelledby": "hands-title" });
	const hands = h("section.list-part", { hidden: true }, h("div.part-head", null, hands_title, all_down), hands_rows);
	const rows_title = h("h3", null, words.in_call);
	const rows = h("ul.people-rows", { role: "list", "aria-label": words.in_call });
	const search = h("input.people-search", {
		type: "search",
		"aria-label": words.find_person,
		placeholder: words.find_person,
		oninput: () => show(people()),
	});
	const find = h("div.find", null, icon("search"), search);
	const nobody = h("p.quiet.nobody", { role: "status" });
	const watching = h("p.quiet.small-text.watching");
	const body = h(
		"div.people-body",
		{ tabindex: "-1" },
		of_host,
		hands,
		h("section.list-part", null, rows_title, find, nobody, rows),
		watching,
	);
	const element = h(
		"aside.panel.people",
		{ id: "people", hidden: true, "aria-label": words.people },
		h("div.panel-head", null, title, of_head),
		of_tools,
		body,
	);
	/** @type {Map<string, Row>} */
	const known = new Map();
	/** The rows as they are shown. @type {Row[]} */
	let shown = [];

	// The hands are one stop of the Tab key, the options another; arrows go from row to row.
	const groups = () =>
		[shown.map((one) => one.chip), shown.map((one) => one.button)].map((all) => all.filter((one) => !one.hidden));
	function set_stops() {
		for (const all of groups()) rove(all, all.find((one) => one.tabIndex === 0) ?? all[0]);
	}
	body.addEventListener("focusin", ({ target }) => {
		const all = groups().find((one) => one.some((button) => button === target));
		if (all) rove(all, /** @type {HTMLElement} */ (target));
	});
	body.addEventListener("keydown", (event) => {
		const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
		const all = groups().find((one) => one.some((button) => button === document.activeElement));
		if (!step || !all) return;
		event.preventDefault();
		const at = all.findIndex((one) => one === document.activeElement);
		all[(at + step + all.length) % all.length]?.focus();
	});

	/** @param {Person} person @param {number} number */
	function row_of(person, number) {
		const one = known.get(person.id) ?? person_row(person, { role_shown, options, lower });
		known.set(person.id, one);
		one.draw(person, number, lowers());
		one.offer(has_options(person));
		return one;
	}
	/** @param {Person[]} all */
	function show(all) {
		put(title, words.people_title(all.length));
		if (element.hidden) return;
		host()?.draw();
		const focused = /** @type {HTMLElement | null} */ (document.activeElement);
		const had_focus = body.contains(focused);
		find.hidden = all.length < SEARCHED;
		const asked = find.hidden ? "" : search.value.trim().toLocaleLowerCase();
		const fits = (/** @type {Person} */ one) => one.name.toLocaleLowerCase().includes(asked);
		const up = raised(all);
		const found = all.filter((one) => !one.hand && fits(one)).sort(by_name);
		const upper = up.map((one, i) => row_of(one, i + 1));
		const lower_rows = found.map((one) => row_of(one, 0));
		place(hands_rows, upper);
		place(rows, lower_rows);
		shown = [...upper, ...lower_rows];
		const ids = new Set(all.map((one) => one.id));
		for (const id of known.keys()) if (!ids.has(id)) known.delete(id);
		hands.hidden = up.length === 0;
		rows_title.hidden = up.length === 0;
		put(hands_title, words.hands_title(up.length));
		all_down.hidden = !lowers() || up.filter((one) => !one.me).length < 2;
		put(nobody, found.length === 0 && asked !== "" && !up.some(fits) && words.no_match);
		set_stops();
		const n = all.filter((one) => !one.publishes).length;
		put(watching, n > 0 && words.watching(n));
		if (!had_focus || document.activeElement === focused) return;
		// A row that has moved keeps the focus; of one that is gone, the next hand has it, or the title.
		const next = focused?.isConnected && focused.offsetParent ? focused : upper.find((one) => !one.chip.hidden)?.chip;
		(next ?? title).focus();
	}
	return {
		element,
		show,
		open: () => !element.hidden,
		focus: () => title.focus(),
		/** Puts what hosts have into its places. @param {import("./hosts.js").Hosts} parts */
		equip({ options: button, tools, parts }) {
			of_head.prepend(button);
			of_tools.append(tools);
			of_host.append(...parts);
			show(people());
		},
		/** @param {boolean} yes */
		toggle(yes) {
			element.hidden = !yes;
			search.value = "";
			if (!yes) return;
			show(people());
			const of_hosts = host();
			if (of_hosts) of_hosts.focus();
			else title.focus();
		},
	};
}
