// Who joined a room, with which code, and when: from the event log of the account, which has joins if the
// account logs them. The log is examined from its end, a bounded part at a time.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { address, get } from "../lib/api.js";
import { h, icon, put } from "../lib/dom.js";
import { ago, moment } from "../lib/text.js";
import { busy, empty, sentence } from "../lib/ui.js";
import { known_session } from "./session.js";

/** @typedef {import("./codes.js").Code} Code */
/** @typedef {import("./events.js").Entry} Entry */

// Joins that are looked for at a time, and the most requests for them.
const WANTED = 10;
const MOST_REQUESTS = 10;
/** Why someone could not join, by the reason in the log. @type {Record<string, string>} */
const REASONS = {
	disabled: "the code was disabled",
	room_disabled: "the room was disabled",
	role_deleted: "its role was deleted",
	expired: "the code had expired",
	used_up: "the code was used up",
	not_yet_valid: "the code was not valid yet",
	not_open: "the room was not open yet",
	closed: "the room was closed",
	other_user: "the code is for someone else",
	other_room: "the code is for another room",
	no_such_agent: "the template does not name the agent",
	role_full: "the role was full",
	room_full: "the room was full",
	banned: "the person or the code is banned",
	needs_admission: "somebody has to let people in",
	not_admitted: "the person was not let in",
	room_locked: "the room was locked",
};
const GENERATED = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Creates the section with the joins of a room, which fills itself.
 * @param {{ id: string }} room @param {(hash: string) => Code | undefined} code_of by its hash in the log
 * @param {AbortSignal} signal
 */
export function joins_section(room, code_of, signal) {
	const place = h("div.list-place", null, h("p.list-foot", null, "Loading…"));
	const list = h("ul.joins");
	const state = h("p.list-state");
	const more = h(
		"button.small",
		{ type: "button", onclick: () => busy(more, older) },
		"Look further back",
	);
	const foot = h("div.list-foot", null, state, more);
	const again = h("button.small", { type: "button" }, icon("refresh"), "Refresh");
	again.addEventListener("click", () => busy(again, restart));
	let before = "0";
	let oldest = "";
	let shown = 0;
	let complete = false;

	async function restart() {
		before = "0";
		oldest = "";
		shown = 0;
		complete = false;
		put(list);
		await older();
	}
	/** Shows older joins of the room, as far as they are found in a few requests. */
	async function older() {
		/** @type {Entry[]} */
		const found = [];
		for (let i = 0; i < MOST_REQUESTS && !complete && found.length < WANTED; i += 1) {
			const query = { type: "join.*", before, limit: 100 };
			const { data, last } = await get(address("/v2/events", query), signal);
			found.push(...data.filter((/** @type {Entry} */ one) => one.data.room_id === room.id));
			oldest = data.at(-1)?.timestamp ?? oldest;
			complete = last === before || Number(last) <= 1;
			before = last;
		}
		list.append(...found.map(line));
		shown += found.length;
		draw();
	}
	function draw() {
		more.hidden = complete;
		const end = oldest ? `No more joins since ${moment(oldest)}.` : "";
		put(state, complete ? "" : end);
		foot.hidden = complete;
		put(place, shown > 0 ? list : nothing(), foot);
	}
	function nothing() {
		const off = oldest === "";
		const name = known_session()?.account.name ?? "ACCOUNT";
		const text = off
			? "No joins are logged in this account. Joins are in the event log only if the account logs them. To log them, run on the server: "
			: complete
				? "Nobody has joined this room while joins were logged."
				: "Nobody has joined this room lately.";
		const command = off && h("code.break", null, `anteroom account set ${name} log_joins=on`);
		const none = empty("person", "No joins", text);
		if (command) none.querySelector("p")?.append(command);
		return none;
	}
	/** @param {Entry} entry */
	function line({ type, timestamp, data }) {
		const code = code_of(data.code_hash);
		const user = GENERATED.test(data.user_id ?? "") ? "" : data.user_id;
		const person = h("strong", { title: data.user_id || null }, code?.name || user || "Someone");
		const reason = REASONS[data.reason] ?? String(data.reason).replaceAll("_", " ");
		const granted = type === "join.granted";
		return h(
			"li",
			{ class: granted ? "" : "refused" },
			icon(granted ? "check" : "warning"),
			h(
				"span",
				null,
				person,
				granted ? ` joined as ${data.role} with ` : ` could not join as ${data.role} with `,
				code ? h("code", null, code.code) : "a code that is not listed above",
				code?.label && ` (${code.label})`,
				!granted && `: ${reason}`,
			),
			ago(timestamp),
		);
	}

	older().catch((error) => {
		if (!signal.aborted) put(place, h("p.list-foot", null, sentence(error)));
	});
	return h(
		"section",
		{ "aria-labelledby": "joins" },
		h(
			"div.toolbar.between",
			null,
			h("h2.section-title", { id: "joins" }, "Joins"),
			h("div.actions", null, again),
		),
		place,
	);
}
