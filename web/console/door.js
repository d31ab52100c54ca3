// The door of a room: what it does, and who waits to be let in, which is read again and again while the page is visible.
// The section appears when somebody waits or the door has a state, and stays until the page is left.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { Refusal, call, segment } from "../lib/api.js";
import { announce, h } from "../lib/dom.js";
import { poll } from "../lib/poll.js";
import { renew_times, rows_in, set_text } from "../lib/rows.js";
import { clock, count_of, number } from "../lib/text.js";
import { busy, dialog, sentence, toast } from "../lib/ui.js";
import { maker } from "./editor.js";
import { exact_time, person_name, person_note, put_once, table_of } from "./inside.js";

/** Somebody who waits, since a time, or was denied, until a time.
 * @typedef {{ id: string, name: string, user_id: string, role: string, since: string, until: string }} Ticket */

const GONE = 404;
const DECIDED = 409;
const LONGEST_REASON = 256;

/** @type {import("../lib/schema.js").Plain} */
const REASON = {
	kind: "text",
	description: "Shown to the person. Optional.",
	unit: "",
	fallback: undefined,
	required: false,
	write_only: false,
	least: undefined,
	most: LONGEST_REASON,
	step: undefined,
	options: [],
	item: null,
	fields: [],
	rules: [],
};
/** @type {import("../lib/schema.js").Plain} */
const DENIAL = { ...REASON, kind: "object", description: "", most: undefined, fields: [["reason", REASON]] };

/** What the door can do; "" for null. @type {[string, string][]} */
const STATES = [
	["", "As roles and codes say"],
	["open", "Open: everyone joins at once"],
	["ask", "Ask: people wait until somebody admits them"],
	["locked", "Locked: nobody else can join"],
];
/** @type {import("../lib/schema.js").Plain} */
const STATE = {
	...REASON,
	kind: "choice",
	description: "Until the session ends, or an hour has passed without one.",
	fallback: "",
	most: undefined,
	options: STATES.map(([value]) => value),
	words: STATES.map(([, words]) => words),
	label: "People with a code",
};
/** @type {import("../lib/schema.js").Plain} */
const DOOR = { ...DENIAL, fields: [["state", STATE]] };
const SECTION = "waiting";
const CHANGED = "door";

/** Asks what the door of a room is to do. @param {string} room_id */
export async function set_door(room_id) {
	const path = `/v2/active-rooms/${segment(room_id)}`;
	const { data } = await call("GET", `${path}/tickets`);
	const { element } = maker({
		schema: DOOR,
		value: { state: data.state ?? "" },
		verb: "Set door",
		cancel: h("button", { type: "button", onclick: () => box.close() }, "Cancel"),
		async send({ state }) {
			await call("POST", `${path}/door`, { body: { state: state || null } });
			box.close();
			toast("Door set.");
			document.getElementById(SECTION)?.dispatchEvent(new Event(CHANGED));
		},
	});
	const box = dialog("Set door", [element], { class: "form-dialog" });
	box.querySelector("select")?.focus();
}

/** Creates the section with the people who wait, and with those who were denied.
 * @param {string} room_id @param {(name: string) => string} role_shown returns what people see of a role
 * @param {AbortSignal} signal */
export async function door_section(room_id, role_shown, signal) {
	const path = `/v2/active-rooms/${segment(room_id)}/tickets`;
	/** @type {Ticket[]} */
	let tickets = [];
	/** @type {Ticket[]} */
	let denied = [];
	let count = 0;
	/** @type {string | null | undefined} */
	let door_state = null;
	/** @type {string | null} */
	let etag = null;

	/** Decides, and says how it went. @param {Ticket} one @param {"admitted" | "denied"} state @param {string} [reason] */
	async function decide(one, state, reason) {
		const name = person_name(one);
		try {
			await call("POST", `${path}/${segment(one.id)}`, { body: { state, reason: reason || undefined } });
			toast(state === "admitted" ? `${name} admitted.` : `${name} denied.`);
		} catch (error) {
			if (!(error instanceof Refusal) || error.status === 401) throw error;
			const is_gone = error.status === GONE || error.status === DECIDED;
			toast(is_gone ? `${name} is no longer waiting.` : sentence(error), "bad");
		}
		await refresh();
	}
	/** @param {Ticket} one */
	function deny(one) {
		const { element } = maker({
			schema: DENIAL,
			verb: "Deny",
			danger: true,
			cancel: h("button", { type: "button", onclick: () => box.close() }, "Cancel"),
			async send({ reason }) {
				await decide(one, "denied", reason);
				box.close();
			},
		});
		const text = h("p", null, "The person is told that they were not let in, and can ask again in 10 minutes.");
		const box = dialog(`Deny ${person_name(one)}?`, [text, element], { class: "form-dialog" });
		box.querySelector("input")?.focus();
	}
	/** @param {Ticket} one */
	function admit_button(one) {
		const button = h("button.small", { type: "button", "aria-label": `Admit ${person_name(one)}` }, "Admit");
		button.addEventListener("click", () => busy(button, () => decide(one, "admitted")));
		return button;
	}
	/** @param {Ticket} first @param {string} column @param {Node} time @param {HTMLElement[]} buttons */
	function row(first, column, time, buttons) {
		const name = h("span.row-name");
		const role = h("td", { "data-label": "Role" });
		return {
			element: h(
				"tr",
				null,
				h("td", { "data-label": "Name" }, name, h("span.note.break", null, person_note(first))),
				role,
				h("td", { "data-label": column }, time),
				h("td.menu-cell", null, h("div.row-of-buttons", null, buttons)),
			),
			/** @param {Ticket} one */
			update(one) {
				set_text(name, person_name(one));
				set_text(role, role_shown(one.role));
			},
		};
	}
	/** Returns a table, and a function that shows people in it.
	 * @param {string} label @param {string} column the time's @param {(one: Ticket) => ReturnType<typeof row>} make
	 * @returns {[HTMLElement, (people: Ticket[]) => void]} */
	function people_table(label, column, make) {
		const body = h("tbody");
		return [table_of(["Name", "Role", column, ""], body, label), rows_in(body, (one) => one.id, make)];
	}
	const SINCE = "Waiting since";
	const UNTIL = "Denied until";
	const [table, show_rows] = people_table("People waiting", SINCE, (one) => {
		const words = { type: "button", "aria-label": `Deny ${person_name(one)}`, onclick: () => deny(one) };
		const yes = admit_button(one);
		yes.classList.add("primary");
		return row(one, SINCE, exact_time(one.since), [h("button.small", words, "Deny"), yes]);
	});
	const [denied_table, show_denied] = people_table("People denied", UNTIL, (one) =>
		row(one, UNTIL, h("span", null, clock(Date.parse(one.until))), [admit_button(one)]),
	);
	const state = h("p.list-state");
	const foot = h("div.list-foot", null, state);
	const nobody = h("p.quiet", null, "Nobody is waiting.");
	const place = h("div.list-place");
	const door = h("p.quiet");
	const title = h("h2.section-title", { id: SECTION, tabindex: "-1" }, "Waiting to join");
	title.addEventListener(CHANGED, () => void refresh().catch(() => undefined));
	const all = h("button.primary", { type: "button" }, "Admit all");
	all.addEventListener("click", () =>
		busy(all, async () => {
			const { data } = await call("POST", path, { body: { admit: "all" } });
			toast(`${count_of(data.admitted, "person", "people")} admitted.`);
			await refresh();
		}),
	);
	const actions = h("div.actions", null, all);
	const element = h(
		"section",
		{ "aria-labelledby": SECTION, hidden: true },
		h("div.toolbar.between", null, title, actions),
		door,
		place,
	);

	function draw() {
		const has_focus = element.contains(document.activeElement);
		show_rows(tickets);
		if (count > 0) element.hidden = false;
		all.hidden = count < 2;
		set_text(state, `The ${count_of(tickets.length, "person", "people")} who have waited longest, of ${number(count)}.`);
		foot.hidden = tickets.length === count;
		show_denied(denied);
		if (denied.length > 0 || door_state) element.hidden = false;
		set_text(door, `Door: ${STATES.find(([value]) => value === (door_state ?? ""))?.[1] ?? door_state}.`);
		door.hidden = !door_state;
		put_once(place, ...(count > 0 ? [table, foot] : [nobody]), ...(denied.length > 0 ? [denied_table] : []));
		renew_times(place);
		if (has_focus && !element.contains(document.activeElement)) title.focus();
	}
	async function refresh() {
		const answer = await call("GET", path, { signal, seen: etag });
		if (!answer.data) return renew_times(place);
		const known = new Set(tickets.map((one) => one.id));
		etag = answer.etag;
		({ tickets, count, denied, state: door_state } = answer.data);
		const fresh = tickets.filter((one) => !known.has(one.id));
		draw();
		const [first] = fresh;
		if (first) {
			announce(
				fresh.length === 1
					? `${person_name(first)} is waiting to join.`
					: `${count_of(fresh.length, "person", "people")} are waiting to join.`,
			);
		}
	}
	// Without an answer nobody is known to wait: the page asks again.
	await refresh().catch((error) => {
		if (signal.aborted) throw error;
	});
	poll(refresh, signal);
	return element;
}
