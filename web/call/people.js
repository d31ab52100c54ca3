// The list of people. It is drawn only while it is open.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { language } from "../join/words.js";
import { h, icon, put } from "../lib/dom.js";
import { face } from "./face.js";
import { words } from "./words.js";

/** @typedef {import("./media.js").Person} Person */

// From so many people on, the list can be searched.
const SEARCHED = 10;
const { compare } = new Intl.Collator(language, { numeric: true });

/** Yourself and people with a raised hand first, the others by name. @param {Person} a @param {Person} b */
const order = (a, b) =>
	Number(b.me) - Number(a.me) || Number(b.hand) - Number(a.hand) || compare(a.name, b.name);

/** A mark with the words that it stands for. @param {string} symbol @param {string} text @param {string} [kind] */
const mark = (symbol, text, kind = "") =>
	h(`span.person-mark${kind}`, { title: text }, icon(symbol), h("span.off-screen", null, `, ${text}`));

/** @param {Person} first @param {(name: string) => string} role_shown @param {(person: Person, button: HTMLElement) => void} open_options */
function row(first, role_shown, open_options) {
	let person = first;
	let drawn = "";
	const name = h("span.person-name");
	const role = h("span.person-role");
	const marks = h("span.person-marks");
	const picture = h("span", { "aria-hidden": "true" });
	const button = h(
		"button.plain.square",
		{ type: "button", "aria-haspopup": "menu", "aria-expanded": "false", onclick: () => open_options(person, button) },
		icon("more"),
	);
	const root = h("li.person", null, picture, h("span.person-text", null, name, role), marks, button);
	return {
		root,
		/** @param {Person} next */
		draw(next) {
			person = next;
			const { mic, camera_on, hand, weak, shares, publishes } = next;
			const now = JSON.stringify([next.name, role_shown(next.role), mic, camera_on, hand, weak, shares, publishes]);
			if (now === drawn) return;
			drawn = now;
			put(picture, face(next.name));
			put(name, next.me ? words.name_you(next.name) : next.name);
			put(role, role_shown(next.role));
			put(
				marks,
				hand && mark("hand", words.hand_up, ".hand"),
				shares && mark("screen", words.shares(next.name)),
				weak && mark("weak", words.weak, ".weak"),
				publishes && mic !== "on" && mark("mic-off", words.mic_off),
				publishes && !camera_on && mark("camera-off", words.camera_off),
			);
			button.setAttribute("aria-label", words.options_for(next.me ? words.you : next.name));
		},
		/** Hides the menu of somebody about whom nothing can be done. @param {boolean} has_options */
		offer(has_options) {
			button.hidden = !has_options;
		},
	};
}

/**
 * @param {{ people: () => Person[], role_shown: (name: string) => string, options: (person: Person, button: HTMLElement) => void,
 *   has_options: (person: Person) => boolean, waiting: ReturnType<typeof import("./door.js").door>, close: () => void }} call
 */
export function people_list({ people, role_shown, options, has_options, waiting, close }) {
	const title = h("h2", { tabindex: "-1" });
	const end = h(
		"button.plain.square",
		{ type: "button", "aria-label": words.close, title: words.close, onclick: close },
		icon("close"),
	);
	const rows = h("ul.people-rows", { role: "list", "aria-label": words.in_call });
	const search = h("input.people-search", {
		type: "search",
		hidden: true,
		"aria-label": words.search,
		placeholder: words.search,
		oninput: () => show(people()),
	});
	const watching = h("p.quiet.small-text.watching");
	const element = h(
		"aside.panel.people",
		{ id: "people", hidden: true, "aria-label": words.people },
		h("div.panel-head", null, title, end),
		h("div.people-body", { tabindex: "-1" }, waiting.element, search, rows, watching, waiting.denied),
	);
	element.addEventListener("keydown", (event) => event.key === "Escape" && close());
	/** @type {Map<string, ReturnType<typeof row>>} */
	const known = new Map();

	/** @param {Person[]} all */
	function show(all) {
		put(title, words.people_title(all.length));
		if (element.hidden) return;
		search.hidden = all.length < SEARCHED;
		const asked = search.hidden ? "" : search.value.trim().toLocaleLowerCase();
		const sorted = all.filter((one) => one.name.toLocaleLowerCase().includes(asked)).sort(order);
		const now = new Set(sorted.map((one) => one.id));
		for (const [id, one] of known) {
			if (now.has(id)) continue;
			one.root.remove();
			known.delete(id);
		}
		sorted.forEach((person, i) => {
			const one = known.get(person.id) ?? row(person, role_shown, options);
			known.set(person.id, one);
			one.draw(person);
			one.offer(has_options(person));
			if (rows.children[i] !== one.root) rows.insertBefore(one.root, rows.children[i] ?? null);
		});
		const n = all.filter((one) => !one.publishes).length;
		put(watching, n > 0 && words.watching(n));
	}
	return {
		element,
		show,
		open: () => !element.hidden,
		focus: () => title.focus(),
		/** @param {boolean} yes */
		toggle(yes) {
			element.hidden = !yes;
			search.value = "";
			if (!yes) return;
			show(people());
			if (waiting.waits()) waiting.focus();
			else title.focus();
		},
	};
}
