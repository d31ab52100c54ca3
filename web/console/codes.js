// The codes of a room: join link, QR code, validity and state; creates, edits, rotates and deletes codes.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { address, call, get, openapi, segment } from "../lib/api.js";
import { announce, h, icon, put } from "../lib/dom.js";
import { differences, steps } from "../lib/form.js";
import { changed, only } from "../lib/schema.js";
import { ago, count_of, moment, number } from "../lib/text.js";
import {
	busy,
	copy_button,
	dialog,
	empty,
	menu,
	remove_with,
	sentence,
	show_call,
	toast,
} from "../lib/ui.js";
import { maker } from "./editor.js";
import { form_for } from "./hints.js";
import { print_sheet, qr_dialog } from "./qr.js";
import { may } from "./session.js";

/**
 * @typedef {object} Code
 * @property {string} code
 * @property {string} room_id
 * @property {string} role
 * @property {boolean} enabled
 * @property {string} created_at
 * @property {string} join_url
 * @property {string} [not_before]
 * @property {string} [expires_at]
 * @property {number} [max_uses]
 * @property {number} [uses]
 * @property {string} [user_id]
 * @property {string} [name]
 * @property {string} [label]
 * @property {Record<string, string>} [metadata]
 * @property {string} [state]
 */

const LIMIT = 100;
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
const GRACE = /** @type {const} */ ([
	[0, "Stop working now"],
	[300, "Keep working for 5 minutes"],
	[3600, "Keep working for 1 hour"],
	[86400, "Keep working for 1 day"],
	[604800, "Keep working for 1 week"],
]);
// The fields that people fill in most often; the others are folded.
const USUAL = ["label", "expires_at", "max_uses"];

/** Returns the API path of a code. @param {string} code */
const path_of = (code) => `/v2/room-codes/code/${segment(code)}`;

/**
 * @param {any} room @param {string[]} roles of its template @param {import("./session.js").Session} who
 * @param {AbortSignal} signal
 */
export async function codes_section(room, roles, who, signal) {
	const place = h("div.list-place");
	const head = (/** @type {Child[]} */ ...actions) =>
		h(
			"div.toolbar.between",
			null,
			h("h2.section-title", { id: "codes" }, "Room codes"),
			h("div.actions", null, actions),
		);
	const section = (/** @type {Node[]} */ ...content) =>
		h("section", { "aria-labelledby": "codes" }, content);
	if (!room.enabled) {
		const words = "This room is disabled, so its codes do not work. They work again when you enable the room.";
		return section(head(), h("p.notice", null, icon("info"), words));
	}
	const writing = may("codes:write");
	/** @type {Code[]} */
	let codes = [];
	let start = "";
	let complete = false;
	const filter = h(
		"select",
		{ "aria-label": "Filter codes by state", onchange: () => read(true) },
		STATES.map(([value, words]) => h("option", { value }, words)),
	);
	const filter_box = h("div.select.compact", null, filter, icon("down"));
	const body = h("tbody");
	const columns = ["Role", "Code", "Link", "Validity", "Enabled", ""];
	const table = h(
		"table.list.codes",
		null,
		h(
			"thead",
			null,
			h(
				"tr",
				null,
				columns.map((name) =>
					h("th", { scope: "col" }, name || h("span.off-screen", null, "Actions")),
				),
			),
		),
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
			await call("POST", `/v2/room-codes/room/${room.id}`);
			await read(true);
			announce("Every role has a code now.");
		}),
	);
	const making =
		writing &&
		roles.length > 0 &&
		h(
			"button.primary",
			{
				type: "button",
				"data-create": "",
				onclick: () => new_code(room, roles, (made) => add(made)),
			},
			icon("plus"),
			"New code",
		);
	const printing =
		who.qr &&
		h(
			"button",
			{
				type: "button",
				onclick: () =>
					print_sheet(
						room,
						codes.filter((code) => is_good(code)),
					),
			},
			icon("print"),
			"Print QR codes",
		);

	/** @param {Code} code @returns {Code} */
	const linked = (code) => ({
		...code,
		join_url: `${who.public_url}/join/${segment(code.code)}`,
	});
	/** @param {boolean} fresh true to load from the start, false to load the next page */
	async function read(fresh) {
		const query = { limit: LIMIT, start: fresh ? "" : start, state: filter.value };
		const page = await get(address(`/v2/room-codes/room/${room.id}`, query), signal);
		/** @type {Code[]} */
		const data = (page.data ?? []).map(linked);
		codes = fresh ? data : [...codes, ...data];
		start = page.last;
		complete = data.length < LIMIT;
		draw();
	}
	/** @param {Code} code */
	function add(code) {
		codes = [...codes, linked(code)];
		draw();
	}
	/** Replaces a row with the code that a request returned. @param {Code} code */
	function replace(code) {
		codes = codes.map((one) => (one.code === code.code ? linked(code) : one));
		draw();
	}
	function draw() {
		const missing = roles.some((role) => !codes.some((one) => one.role === role && one.enabled));
		all.hidden = !writing || !complete || !missing || filter.value !== "";
		more.hidden = complete;
		filter_box.hidden = codes.length < 8 && filter.value === "";
		if (printing) printing.hidden = codes.length === 0;
		if (codes.length === 0 && filter.value === "") {
			const text = "People join with a code. Each code is for one role of this room.";
			put(place, empty("key", "No codes yet", text, all));
			return;
		}
		put(body, codes.toSorted((a, b) => Number(b.enabled) - Number(a.enabled)).map(row));
		const off = codes.filter((one) => !one.enabled).length;
		const on = `${count_of(codes.length - off, "code")} enabled`;
		put(state, off > 0 ? `${on}, ${number(off)} disabled` : on, !complete && ", more below");
		put(place, table, foot);
		if (!all.hidden) foot.append(all);
		else all.remove();
	}

	/** @param {Code} code */
	function row(code) {
		const qr_label = `QR code for ${code.role}`;
		const qr =
			who.qr &&
			h(
				"button.plain",
				{
					type: "button",
					"aria-label": qr_label,
					title: qr_label,
					onclick: () => qr_dialog(room, code),
				},
				icon("qr"),
			);
		const notes = [code.label, code.name ?? code.user_id].filter(Boolean).join(" · ");
		return h(
			"tr",
			{ class: is_good(code) ? "" : "dim" },
			h(
				"td",
				{ "data-label": "Role" },
				h("span.role-name", null, code.role),
				notes && h("span.note", null, notes),
			),
			h(
				"td",
				{ "data-label": "Code" },
				h(
					"span.code-cell",
					null,
					h("code", null, code.code),
					copy_button(code.code, `Copy code for ${code.role}`),
				),
			),
			h(
				"td",
				{ "data-label": "Link" },
				h(
					"span.code-cell",
					null,
					copy_button(code.join_url, `Copy join link for ${code.role}`, { symbol: "link" }),
					qr,
				),
			),
			h("td", { "data-label": "Validity" }, validity_of(code)),
			h("td", { "data-label": "Enabled" }, flip(code)),
			h("td.menu-cell", null, menu(`Actions for code ${code.code}`, code_actions(code))),
		);
	}
	/** @param {Code} code */
	function flip(code) {
		const input = h("input.switch", {
			type: "checkbox",
			role: "switch",
			checked: code.enabled,
			disabled: !writing,
			"aria-label": `Code ${code.code} (${code.role})`,
		});
		input.addEventListener("change", async () => {
			try {
				const body = { enabled: input.checked };
				replace((await call("PATCH", path_of(code.code), { body })).data);
			} catch (error) {
				input.checked = !input.checked;
				toast(sentence(error), "bad");
			}
			/** @type {HTMLElement | null} */
			const again = body.querySelector(`[aria-label="${input.getAttribute("aria-label")}"]`);
			again?.focus();
		});
		return input;
	}
	/** @param {Code} code */
	function code_actions(code) {
		return [
			{
				symbol: "open",
				words: "Open join page",
				action: () => window.open(code.join_url, "_blank", "noopener"),
			},
			writing && { symbol: "pen", words: "Edit", action: () => change_code(code, replace) },
			writing &&
				roles.includes(code.role) && {
					symbol: "refresh",
					words: `Rotate codes for ${code.role}`,
					action: () => rotate(code, () => read(true)),
				},
			{
				symbol: "terminal",
				words: "Show API request",
				action: () => show_call("GET", path_of(code.code)),
			},
			writing && {
				symbol: "trash",
				words: "Delete code",
				danger: true,
				action: () => delete_code(code),
			},
		];
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
				codes = codes.filter((one) => one.code !== code.code);
				draw();
			},
		);
	}

	await read(true);
	return section(head(filter_box, printing, making), place);
}

/** @typedef {import("../lib/dom.js").Child} Child */

/** Returns true if people can join with the code now. @param {Code} code */
const is_good = (code) => code.enabled && (code.state ?? "active") === "active";

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
	].filter(Boolean);
	if (parts.length > 0) return h("span.life", null, parts);
	return h("span.quiet", null, "No expiry, created ", ago(code.created_at));
}

/**
 * @param {any} room @param {string[]} roles @param {(made: Code) => void} done
 */
async function new_code(room, roles, done) {
	const schema = form_for(await openapi(), "POST /v2/room-codes/room/{}/role/{}");
	const rest = schema.fields.map(([name]) => name).filter((name) => !USUAL.includes(name));
	const ordered = only(schema, [...USUAL, ...rest]);
	/** @type {import("../lib/schema.js").Plain} */
	const role = {
		kind: "choice",
		description: "",
		unit: "",
		fallback: undefined,
		required: true,
		write_only: false,
		least: undefined,
		most: undefined,
		step: undefined,
		options: roles,
		item: null,
		fields: [],
		rules: [],
	};
	const { element } = maker({
		schema: { ...ordered, fields: [["role", role], ...ordered.fields] },
		extras: { folded: rest },
		verb: "Create code",
		async send({ role: of_role, ...body }) {
			const path = `/v2/room-codes/room/${room.id}/role/${segment(of_role)}`;
			const made = await call("POST", path, { body });
			box.close();
			done(made.data);
			toast(`Code for ${of_role} created.`);
		},
	});
	const box = dialog("New code", [element], { class: "form-dialog" });
	box.querySelector("select")?.focus();
}

/**
 * Returns the merge patch from one value to the other; an emptied field is null.
 * @param {any} before @param {any} now @returns {Record<string, any>}
 */
function patch(before, now) {
	/** @type {Record<string, any>} */
	const result = {};
	for (const pointer of differences(before, now)) {
		const [name = "", entry] = steps(pointer);
		if (entry === undefined) result[name] = now[name] ?? null;
		else (result[name] ??= {})[entry] = now[name]?.[entry] ?? null;
	}
	return result;
}

/** @param {Code} code @param {(made: Code) => void} done */
async function change_code(code, done) {
	const schema = form_for(await openapi(), "PATCH /v2/room-codes/code/{}");
	const names = schema.fields.map(([name]) => name).filter((name) => name !== "enabled");
	const { element, form } = maker({
		schema: only(schema, names),
		value: code,
		verb: "Save",
		async send(value) {
			const body = patch(before, value);
			done((await call("PATCH", path_of(code.code), { body })).data);
			box.close();
			toast("Code saved.");
		},
	});
	const before = form.read();
	const box = dialog(`Edit code ${code.code} (${code.role})`, [element], { class: "form-dialog" });
	box.querySelector("input")?.focus();
}

/** @param {Code} code @param {() => Promise<void>} done */
async function rotate(code, done) {
	const schema = form_for(await openapi(), "POST /v2/room-codes/room/{}/role/{}/rotate");
	const { element } = maker({
		schema: changed(schema, "grace_seconds", {
			kind: "choice",
			unit: "",
			description: "",
			options: GRACE.map(([seconds]) => String(seconds)),
			words: GRACE.map(([, words]) => words),
			fallback: "0",
		}),
		verb: "Rotate codes",
		between: h(
			"p.hint",
			null,
			"Creates a new code for this role and retires its current ones. Codes that have a start, an expiry or a use limit, or that are for one person, are not affected.",
		),
		async send(value) {
			const path = `/v2/room-codes/room/${code.room_id}/role/${segment(code.role)}/rotate`;
			await call("POST", path, { body: { grace_seconds: Number(value.grace_seconds) } });
			box.close();
			await done();
			toast(`New code for ${code.role} created.`);
		},
	});
	const box = dialog(`Rotate codes for ${code.role}`, [element]);
	box.querySelector("select")?.focus();
}
