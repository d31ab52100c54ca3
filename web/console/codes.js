// The codes of a room: join link, QR code, validity and state. Rows keep their place until the page is opened
// again, so that a click never hits another code than the one that was under the pointer.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { address, all_of, call, get } from "../lib/api.js";
import { announce, h, icon, put } from "../lib/dom.js";
import { choice_name } from "../lib/labels.js";
import { ago, count_of, moment, number } from "../lib/text.js";
import {
	busy,
	confirm_with,
	copy_button,
	empty,
	menu,
	remove_with,
	sentence,
	show_call,
	toast,
} from "../lib/ui.js";
import { show_exchange } from "./calls.js";
import { LINK, QUICK, change_code, create_code, new_code, path_of, rotate } from "./code_forms.js";
import { share_dialog, sheet_dialog, sheets_of } from "./qr.js";
import { may } from "./session.js";
import { bulk, names_of, several } from "./several.js";
import { role_choices, role_words, shown_name } from "./title.js";

/**
 * @typedef {object} Code
 * @property {string} code
 * @property {string} room_id
 * @property {string} role
 * @property {boolean} enabled
 * @property {string} created_at
 * @property {string} join_url
 * @property {string} code_hash names the code in the event log
 * @property {string} [not_before]
 * @property {string} [expires_at]
 * @property {number} [max_uses]
 * @property {number} [uses]
 * @property {string} [user_id]
 * @property {string} [name]
 * @property {string} [label]
 * @property {Record<string, string>} [metadata]
 * @property {"open" | "ask"} [admission]
 * @property {string} [state]
 * @property {string} [role_shown] what people see of the role
 */

const LIMIT = 100;
// The most codes on the sheets to print.
const MOST_PRINTED = 1000;
/** @type {[string, string][]} */
const STATES = [
	["", "All codes"],
	["active", "Active"],
	["not_yet_valid", "Not valid yet"],
	["expired", "Expired"],
	["used_up", "Used up"],
	["disabled", "Disabled"],
	["role_deleted", "Role deleted"],
];

/** The order in which the codes of the last room were shown, until the console is loaded again. */
const shown_last = { room: "", codes: /** @type {string[]} */ ([]) };

/** Returns true if people can join with the code now. @param {Code} code */
const is_good = (code) => code.enabled && (code.state ?? "active") === "active";

/** Returns true if people can join with the code now or later. @param {Code} code */
const is_printed = (code) => is_good(code) || (code.enabled && code.state === "not_yet_valid");

/**
 * Creates the section with the codes of a room. `find` returns the loaded code with a hash of the event log.
 * @param {any} room @param {Record<string, any>} roles_of_room of its template, by name @param {import("./session.js").Session} who
 * @param {AbortSignal} signal
 */
export async function codes_section(room, roles_of_room, who, signal) {
	const roles = Object.keys(roles_of_room);
	const choices = role_choices(Object.values(roles_of_room));
	const role_of = (/** @type {Code} */ code) => role_words(roles_of_room)(code.role);
	/** Returns a code as it is passed on. @param {Code} code @returns {Code} */
	const passed_on = (code) => ({ ...code, role_shown: role_of(code) });
	const head = h("div.toolbar.between", null, h("h2.section-title", { id: "codes" }, "Room codes"));
	const place = h("div.list-place");
	const element = h("section", { "aria-labelledby": "codes" }, head);
	const paper = sheets_of(room, who.qr);
	/** @type {Code[]} */
	let codes = [];
	const find = (/** @type {string} */ hash) => codes.find((one) => one.code_hash === hash);
	if (!room.enabled) {
		const words =
			"This room is disabled, so its codes do not work. They work again when you enable the room.";
		element.append(h("p.notice", null, icon("info"), words));
		return { element, find };
	}
	const list_path = `/v2/room-codes/room/${room.id}`;
	const writing = may("codes:write");
	/** The codes that were created here. @type {Set<string>} */
	const fresh = new Set();
	/** @type {Map<string, HTMLElement>} */
	const rows = new Map();
	let start = "";
	let complete = false;

	const filter = h(
		"select",
		{ "aria-label": "Filter codes by state", onchange: () => read(true) },
		STATES.map(([value, words]) => h("option", { value }, words)),
	);
	const filter_box = h("div.select.compact", null, filter, icon("down"));
	const pick = several({
		noun: "code",
		name: (/** @type {Code} */ code) => code.code,
		actions: [
			{ symbol: "check", words: "Enable", action: (some) => flip(some, true) },
			{ symbol: "lock", words: "Disable", action: (some) => flip(some, false) },
			{ symbol: "print", words: "Print", action: (some) => paper.print(some.map(passed_on)) },
			{ symbol: "trash", words: "Delete", danger: true, action: (some) => delete_codes(some) },
		],
	});
	const body = h("tbody");
	const columns = ["Role", "Code", "Link", "Validity", "Enabled", ""];
	const names = columns.map((name) =>
		h("th", { scope: "col" }, name || h("span.off-screen", null, "Actions")),
	);
	const table = h(
		"table.list.codes",
		null,
		h("thead", null, h("tr", null, writing && pick.head(), names)),
		body,
	);
	const state = h("p.list-state");
	const more = h(
		"button.small",
		{ type: "button", onclick: () => busy(more, () => read(false)) },
		"Show more",
	);
	const foot = h("div.list-foot", null, state, more);
	const all = h("button", { type: "button" }, icon("key"), "Create codes for all roles");
	all.addEventListener("click", () =>
		busy(all, async () => {
			await call("POST", list_path);
			await update();
			announce("Every role has a code now.");
		}),
	);
	const making =
		writing &&
		roles.length > 0 &&
		h(
			"button.primary",
			{ type: "button", "data-create": "", onclick: () => new_code(room, choices, "", created) },
			icon("plus"),
			"New code",
		);
	const printing = who.qr && h("button", { type: "button" }, icon("print"), "Print QR codes");
	if (printing) {
		printing.addEventListener("click", () =>
			busy(printing, async () => {
				const printed = await all_printed();
				sheet_dialog(room, printed, who.qr, () => paper.print(printed));
			}),
		);
	}
	head.append(h("div.actions", null, filter_box, printing || null, making || null));
	element.append(place, pick.bar, paper.element);

	/** Returns all codes that belong on the sheets. @returns {Promise<Code[]>} */
	const all_printed = async () =>
		(await all_of(list_path, { enabled: true, view: "link" }, signal, MOST_PRINTED)).filter(
			is_printed,
		);
	// The browser itself prints the sheets too, but with no more codes than were loaded.
	document.addEventListener(
		"keydown",
		async (event) => {
			if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "p") return;
			if (!element.isConnected || event.shiftKey || event.altKey) return;
			event.preventDefault();
			const printed = await all_printed().catch(() => codes.filter(is_printed));
			await paper.print(printed);
		},
		{ signal },
	);

	/** @param {string} from @returns {Promise<{ data: Code[], last: string }>} */
	async function page_from(from) {
		const query = { limit: LIMIT, start: from, state: filter.value, view: "link" };
		const { data, last } = await get(address(list_path, query), signal);
		return { data: data ?? [], last };
	}
	/** Loads the first or the next page. @param {boolean} first */
	async function read(first) {
		const { data, last } = await page_from(first ? "" : start);
		const known = first && shown_last.room === room.id ? shown_last.codes : [];
		const place_of = (/** @type {Code} */ { code, enabled }) =>
			known.includes(code) ? known.indexOf(code) : known.length + (enabled ? 0 : 1);
		const found = data.toSorted((a, b) => place_of(a) - place_of(b));
		codes = first ? found : [...codes, ...found];
		start = last;
		complete = data.length < LIMIT;
		draw();
	}
	/** Reads what is shown again: the rows keep their place, and codes that were not shown come first. */
	async function update() {
		/** @type {Map<string, Code>} */
		const now = new Map();
		let from = "";
		do {
			const { data, last } = await page_from(from);
			for (const one of data) now.set(one.code, one);
			from = last;
			complete = data.length < LIMIT;
		} while (!complete && now.size < codes.length);
		start = from;
		const kept = codes.flatMap((one) => now.get(one.code) ?? []);
		for (const one of kept) now.delete(one.code);
		for (const code of now.keys()) fresh.add(code);
		codes = [...now.values(), ...kept];
		draw();
	}
	/** Shows a code that was created here, and lets it be passed on. @param {Code} made */
	function created(made) {
		fresh.add(made.code);
		codes = [made, ...codes.filter((one) => one.code !== made.code)];
		draw();
		share(made, `Code for ${role_of(made)} created`);
		announce(`Code for ${role_of(made)} created.`);
	}
	/** @param {Code} code @param {string} [title] */
	function share(code, title = shown_name(room)) {
		const own = passed_on(code);
		const print = () => paper.print([own]);
		const box = share_dialog(title, room, own, { qr: who.qr, print });
		box.addEventListener("close", () => rows.get(code.code)?.scrollIntoView({ block: "nearest" }));
	}
	/** Takes over what a request returned, in its row. @param {Code} code */
	function replace(code) {
		const before = codes.find((one) => one.code === code.code);
		if (!before) return;
		const now = { ...code, join_url: before.join_url, code_hash: before.code_hash };
		codes = codes.with(codes.indexOf(before), now);
		pick.renew(now);
		const old = rows.get(code.code);
		const focus = old?.contains(document.activeElement)
			? document.activeElement?.getAttribute("aria-label")
			: null;
		const next = row(now);
		old?.replaceWith(next);
		rows.set(code.code, next);
		if (focus) {
			const same = [...next.querySelectorAll("button, input")].find(
				(one) => one.getAttribute("aria-label") === focus,
			);
			if (same instanceof HTMLElement) same.focus();
		}
		tell();
	}
	function draw() {
		const shown = codes.length > 0 || filter.value !== "";
		if (shown) {
			rows.clear();
			put(
				body,
				codes.map((code) => {
					const line = row(code);
					rows.set(code.code, line);
					return line;
				}),
			);
			put(place, table, foot);
		} else {
			const text = "People join with a code. Each code is for one role of this room.";
			put(place, empty("key", "No codes yet", text, writing ? all : null));
		}
		tell();
	}
	function tell() {
		const shown = codes.length > 0 || filter.value !== "";
		const missing = roles.some((role) => !codes.some((one) => one.role === role && one.enabled));
		all.hidden = !writing || !complete || !missing || filter.value !== "";
		more.hidden = complete;
		filter_box.hidden = codes.length < 8 && filter.value === "";
		if (printing) printing.hidden = codes.length === 0;
		const off = codes.filter((one) => !one.enabled).length;
		const on = `${count_of(codes.length - off, "code")} enabled`;
		put(state, off > 0 ? `${on}, ${number(off)} disabled` : on, !complete && ", more below");
		if (shown && !all.hidden) foot.append(all);
		else if (shown) all.remove();
		paper.write(codes.filter(is_printed).map(passed_on));
		if (filter.value === "") {
			shown_last.room = room.id;
			shown_last.codes = codes.map((one) => one.code);
		}
	}

	/** @param {Code} code */
	function row(code) {
		const notes = [code.label, code.name ?? code.user_id].filter(Boolean).join(" · ");
		return h(
			"tr",
			{ class: `${is_good(code) ? "" : "dim"} ${fresh.has(code.code) ? "fresh new" : ""}` },
			writing && pick.cell(code),
			h(
				"td.code-role",
				{ "data-label": "Role" },
				h("span.role-name", null, role_of(code)),
				fresh.has(code.code) && h("span.badge.accent", null, "New"),
				notes && h("span.note", null, notes),
			),
			h(
				"td.code-text",
				{ "data-label": "Code" },
				h(
					"span.code-cell",
					null,
					h("code", null, code.code),
					copy_button(code.code, `Copy the code ${code.code}`),
				),
			),
			h("td.code-link", { "data-label": "Link" }, is_good(code) ? link_of(code) : another(code)),
			h("td.code-life", { "data-label": "Validity" }, validity_of(code)),
			h("td.code-on", { "data-label": "Enabled" }, switch_of(code)),
			h("td.menu-cell", null, menu(`Actions for code ${code.code}`, code_actions(code))),
		);
	}
	/** @param {Code} code */
	function link_of(code) {
		const words = `QR code of ${code.code}`;
		const open = () => share(code);
		const qr = h("button.plain", { type: "button", "aria-label": words, title: words }, icon("qr"));
		qr.addEventListener("click", open);
		return h(
			"span.code-cell",
			null,
			copy_button(code.join_url, `Copy the link of ${code.code}`, { symbol: "link" }),
			who.qr && qr,
		);
	}
	/** Offers a new code in place of one that nobody can join with. @param {Code} code */
	function another(code) {
		if (!writing || !roles.includes(code.role)) return null;
		const entries = QUICK.map(([words, limits]) => ({
			symbol: "clock",
			words,
			action: () => quick(code.role, limits()),
		}));
		const other = {
			symbol: "more",
			words: "More options…",
			action: () => new_code(room, choices, code.role, created),
		};
		const face = [icon("plus"), h("span", null, "New code")];
		const label = `New code for ${role_of(code)}, instead of ${code.code}`;
		const made = menu(label, [...entries, other], { face, class: "small" });
		made.querySelector("button")?.setAttribute("aria-label", label);
		return made;
	}
	/** @param {string} role @param {any} limits */
	async function quick(role, limits) {
		try {
			created(await create_code(room.id, role, limits));
		} catch (error) {
			toast(sentence(error), "bad");
		}
	}
	/** @param {Code} code */
	function switch_of(code) {
		const input = h("input.switch", {
			type: "checkbox",
			role: "switch",
			checked: code.enabled,
			disabled: !writing,
			"aria-label": `Code ${code.code} (${role_of(code)})`,
		});
		let going = false;
		input.addEventListener("change", async () => {
			if (going) {
				input.checked = !input.checked;
				return;
			}
			going = true;
			try {
				await flip([code], input.checked);
			} catch (error) {
				input.checked = !input.checked;
				toast(sentence(error), "bad");
			}
			going = false;
		});
		return input;
	}
	/** Enables or disables codes; this can be undone. @param {Code[]} some @param {boolean} enabled */
	async function flip(some, enabled) {
		const changed = some.filter((one) => one.enabled !== enabled);
		await set_enabled(changed, enabled);
		const [first] = changed;
		const what =
			changed.length === 1 && first
				? `Code ${first.code} (${role_of(first)})`
				: count_of(changed.length, "code");
		const undo = () => set_enabled(changed, !enabled);
		toast(`${what} ${enabled ? "enabled" : "disabled"}.`, changed.length > 0 ? { undo } : "ok");
	}
	/** @param {Code[]} some @param {boolean} enabled */
	async function set_enabled(some, enabled) {
		const [first] = some;
		const patch = { body: { enabled } };
		if (some.length === 1 && first) {
			replace((await call("PATCH", path_of(first.code) + LINK, patch)).data);
			return;
		}
		await bulk(
			some,
			({ code }) => ({ method: "PATCH", path: path_of(code), ...patch }),
			({ code }) => `Code ${code}`,
			(_, result) => replace(result),
		);
	}
	/** @param {Code} code */
	function code_actions(code) {
		return [
			{ symbol: "send", words: "Share", action: () => share(code) },
			{
				symbol: "open",
				words: "Open join page",
				action: () => window.open(code.join_url, "_blank", "noopener"),
			},
			writing && { symbol: "pen", words: "Edit", action: () => change_code(code, replace) },
			writing &&
				roles.includes(code.role) && {
					symbol: "plus",
					words: `New code for ${role_of(code)}`,
					action: () => new_code(room, choices, code.role, created),
				},
			writing &&
				roles.includes(code.role) && {
					symbol: "refresh",
					words: `Rotate codes for ${role_of(code)}`,
					action: () =>
						rotate(code, async (made) => {
							await update();
							created(made);
						}),
				},
			{
				symbol: "terminal",
				words: "Show API request",
				action: () => show_call("GET", path_of(code.code)),
			},
			{ symbol: "key", words: "For developers", action: () => show_exchange(code.code) },
			writing && {
				symbol: "trash",
				words: "Delete code",
				danger: true,
				action: () => delete_code(code),
			},
		];
	}
	/** @param {Code[]} gone */
	function drop(gone) {
		codes = codes.filter((one) => !gone.includes(one));
		for (const { code } of gone) rows.get(code)?.remove();
		if (codes.length === 0) draw();
		else tell();
	}
	/** @param {Code} code */
	function delete_code(code) {
		return remove_with(
			{
				kind: "Code",
				title: `Delete code ${code.code}?`,
				text: "Its join link stops working: people who open it are told that no room has this code. This cannot be undone.",
				verb: "Delete code",
			},
			async () => {
				await call("DELETE", path_of(code.code));
				drop(codes.filter((one) => one.code === code.code));
			},
		);
	}
	/** @param {Code[]} some */
	async function delete_codes(some) {
		const names = names_of(some.map((one) => `${one.code} (${role_of(one)})`));
		const title = `Delete ${count_of(some.length, "code")}?`;
		const text = `The join links of ${names} stop working: people who open them are told that no room has this code. This cannot be undone.`;
		if (!(await confirm_with(title, text, `Delete ${count_of(some.length, "code")}`))) return;
		await bulk(
			some,
			({ code }) => ({ method: "DELETE", path: path_of(code) }),
			({ code }) => `Code ${code}`,
			({ code }) => drop(codes.filter((one) => one.code === code)),
		);
		pick.drop();
		toast(`${count_of(some.length, "code")} deleted.`);
	}

	await read(true);
	return { element, find };
}

/** Returns the cell with the limits of a code and its state. @param {Code} code */
function validity_of(code) {
	const words = STATES.find(([value]) => value === code.state)?.[1];
	const told = !["active", "disabled", undefined].includes(code.state);
	const parts = [
		told && words && h("span.badge.off", null, words),
		code.not_before &&
			Date.parse(code.not_before) > Date.now() &&
			h("span", null, `From ${moment(code.not_before)}`),
		code.expires_at &&
			h(
				"span",
				{ title: moment(code.expires_at) },
				code.state === "expired" ? "" : "Until ",
				moment(code.expires_at),
			),
		code.max_uses !== undefined &&
			h("span", null, `${number(code.uses ?? 0)} of ${count_of(code.max_uses, "use")}`),
		code.admission === "ask" && h("span", null, choice_name("admission", code.admission)),
	].filter(Boolean);
	if (parts.length > 0) return h("span.life", null, parts);
	return h("span.quiet", null, "No expiry, created ", ago(code.created_at));
}
