// A row of the list of people: who it is, the role, what is off, and the hand with its number.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { h, icon, put } from "../lib/dom.js";
import { face } from "../lib/face.js";
import { host_mark } from "./host_mark.js";
import { menu_button } from "./menu.js";
import { words } from "./words.js";

/** @typedef {import("./media.js").Person} Person */
/** @typedef {ReturnType<typeof person_row>} Row */

/** A mark with the words that it stands for. @param {string} symbol @param {string} text @param {string} [kind] */
const mark = (symbol, text, kind = "") =>
	h(`span.person-mark${kind}`, { title: text }, icon(symbol), h("span.off-screen", null, `, ${text}`));

/**
 * @param {Person} first @param {{ role_shown: (name: string) => string,
 *   options: (person: Person, button: HTMLElement) => void, lower: (person: Person) => void }} call
 */
export function person_row(first, { role_shown, options, lower }) {
	let person = first;
	let drawn = "";
	const name = h("bdi");
	const role = h("span.person-role");
	const marks = h("span.person-marks");
	const picture = h("span", { "aria-hidden": "true" });
	const count = h("span", { "aria-hidden": "true" });
	const chip = h(
		"button.hand-number",
		{ type: "button", hidden: true, title: words.lower_hand, onclick: () => lower(person) },
		icon("hand"),
		count,
		icon("close"),
	);
	const button = menu_button("plain.square", "more", "", () => options(person, button));
	const text = h("span.person-text", null, h("span.person-name", null, name), role);
	const root = h("li.person", null, picture, text, marks, chip, button);
	return {
		root,
		chip,
		button,
		/** @param {Person} next @param {number} number of the raised hand, or 0 @param {boolean} lowers whether the hand can be lowered here */
		draw(next, number, lowers) {
			person = next;
			const { mic, camera_on, host, weak, shares, publishes, unrecorded } = next;
			const shown = role_shown(next.role);
			const now = JSON.stringify([next.name, shown, mic, camera_on, host, weak, shares, publishes, unrecorded, number, lowers]);
			if (now === drawn) return;
			drawn = now;
			const said = words.hand_number(number);
			put(picture, face(next.name));
			put(name, next.me ? words.name_you(next.name) : next.name);
			put(role, host && host_mark(`${words.host}, `), h("bdi", null, shown));
			put(
				marks,
				shares && mark("screen", words.shares(next.name)),
				unrecorded && mark("record-off", words.unrecorded),
				weak && mark("weak", words.weak, ".weak"),
				publishes && mic !== "on" && mark("mic-off", words.mic_off),
				publishes && !camera_on && mark("camera-off", words.camera_off),
				number > 0 && !lowers && h("span.hand-number", { title: said }, icon("hand"), h("span", { "aria-hidden": "true" }, number), h("span.off-screen", null, `, ${said}`)),
			);
			chip.hidden = number === 0 || !lowers;
			put(count, number);
			chip.setAttribute("aria-label", `${words.lower_hand}, ${next.name}, ${said}`);
			button.setAttribute("aria-label", words.options_for(next.me ? words.you : next.name));
		},
		/** Hides the menu of somebody about whom nothing can be done. @param {boolean} has_options */
		offer(has_options) {
			button.hidden = !has_options;
		},
	};
}
