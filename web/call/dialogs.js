// The dialogs of those who moderate: another role for somebody, putting somebody out, the end for everybody. Loaded when one
// is asked for.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { h, icon } from "../lib/dom.js";
import { dialog } from "./dialog.js";
import { words } from "./words.js";

/** @typedef {import("./media.js").Person} Person */
/** @typedef {import("./moderation.js").Said} Said */
/** @typedef {{ server: import("./service.js").Service, act: import("./moderation.js").Act, may: (permission: string) => boolean,
 *   gives: () => string[], role_shown: (name: string) => string }} Moderator `gives` returns the roles that you may give */

/** Gives a person another role. @param {Moderator} moderator @param {Person} person */
export async function change_role({ server, act, may, gives, role_shown }, person) {
	const select = h(
		"select",
		{ id: "new-role" },
		gives().map((name) => h("option", { value: name, selected: name === person.role }, role_shown(name))),
	);
	const answer = await dialog({
		title: words.role_title(person.name),
		content: [
			h(
				"div.field",
				null,
				h("label.label", { for: "new-role" }, words.role),
				h("div.select", null, select, icon("down")),
			),
		],
		buttons: [
			{ value: "", text: words.cancel },
			{ value: "yes", text: words.role_save, class: "primary" },
		],
	});
	const former = person.role;
	const role = select.value;
	if (answer !== "yes" || role === former) return;
	const close_door = () =>
		act(person, () => server.set_role(person.sid, role, true), ({ not_enforced = [] }) =>
			not_enforced.includes("role") ? { text: words.not_now, symbol: "warning", bad: true } : words.role_door_done,
		);
	/** Whoever came by an open link has its role again by it, unless the link asks at the door. @param {any} data @returns {string | Said} */
	const done = ({ not_enforced = [] }) => {
		const shown = role_shown(role);
		if (!not_enforced.includes("role")) return words.role_done(person.name, shown);
		const text = words.role_again(person.name, shown, role_shown(former));
		const ask = { text: words.role_door, do: close_door };
		return { text, symbol: "warning", ...(may("removeOthers") && { act: ask }) };
	};
	await act(person, () => server.set_role(person.sid, role), done);
}

/** Removes a person. @param {Moderator} moderator @param {Person} person */
export async function remove({ server, act }, person) {
	const reason = h("input", { type: "text", id: "reason", maxlength: "256", autocomplete: "off" });
	const says = person.known ? words.ban : words.door;
	const keep_out = h("input", { type: "checkbox", id: "keep-out", "aria-describedby": "keep-out-help" });
	const answer = await dialog({
		title: words.remove_title(person.name),
		content: [
			h("p.quiet", null, words.remove_help),
			h(
				"div.check",
				null,
				keep_out,
				h("label", { for: "keep-out" }, says.label),
				h("p.hint", { id: "keep-out-help" }, says.help),
			),
			h("div.field", null, h("label.label", { for: "reason" }, words.reason), reason),
		],
		buttons: [
			{ value: "", text: words.cancel, focus: true },
			{ value: "yes", text: words.remove_do, class: "danger solid" },
		],
	});
	if (answer !== "yes") return;
	/** Where nobody can be banned, the door is closed for the link, if there is one. @param {any} data */
	const done = ({ door, not_enforced = [] }) => {
		if (!keep_out.checked) return words.removed_done(person.name);
		if (door === "ask") return words.door.done(person.name);
		return not_enforced.includes("ban") ? words.ban.failed(person.name) : words.ban.done(person.name);
	};
	await act(person, () => server.remove(person.sid, reason.value.trim(), keep_out.checked), done);
}

/** Asks whether to leave, or to end the call for everybody: "leave", "end", or "" for neither. */
export function ask_end() {
	return dialog({
		title: words.leave_title,
		content: [
			h("p.quiet", null, h("b", null, words.leave_only), ": ", words.leave_only_help),
			h("p.quiet", null, h("b", null, words.end_all), ": ", words.end_all_help),
		],
		buttons: [
			{ value: "", text: words.cancel },
			{ value: "end", text: words.end_all, class: "danger" },
			{ value: "leave", text: words.leave_only, class: "primary", focus: true },
		],
	});
}
