// The forms that create, edit and rotate codes.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { call, openapi, segment } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { differences, steps } from "../lib/form.js";
import { changed, only } from "../lib/schema.js";
import { dialog, toast } from "../lib/ui.js";
import { maker } from "./editor.js";
import { form_for } from "./hints.js";

/** @typedef {import("./codes.js").Code} Code */

const GRACE = /** @type {const} */ ([
	[0, "Stop working now"],
	[300, "Keep working for 5 minutes"],
	[3600, "Keep working for 1 hour"],
	[86400, "Keep working for 1 day"],
	[604800, "Keep working for 1 week"],
]);
// The fields that people fill in most often; the others are folded.
const USUAL = ["label", "name", "expires_at", "max_uses"];
const HOUR = 3600;

/** @param {number} seconds */
const in_seconds = (seconds) => new Date(Date.now() + seconds * 1000);
const end_of_today = () => new Date(new Date().setHours(23, 59, 59, 0));
/** @param {Date} time */
const iso = (time) => time.toISOString().replace(/\.\d+/, "");

/** Returns an ID that no other person has. */
const new_person = () =>
	`guest-${crypto.getRandomValues(new Uint32Array(2)).reduce((text, one) => text + one.toString(36), "")}`;

/** Limits that a code can get with one click. @type {[string, () => Record<string, any>][]} */
const PRESETS = [
	["1 hour", () => ({ expires_at: iso(in_seconds(HOUR)) })],
	["2 hours", () => ({ expires_at: iso(in_seconds(2 * HOUR)) })],
	["Today", () => ({ expires_at: iso(end_of_today()) })],
	["One use", () => ({ max_uses: 1 })],
	["One person", () => ({ user_id: new_person() })],
];

/** Codes that are created with one click. @type {[string, () => Record<string, any>][]} */
export const QUICK = [
	["Valid for 1 hour", () => ({ expires_in: HOUR })],
	["Valid for 2 hours", () => ({ expires_in: 2 * HOUR })],
	["Valid today", () => ({ expires_at: iso(end_of_today()) })],
	["One use", () => ({ max_uses: 1 })],
	["One use, 1 hour", () => ({ max_uses: 1, expires_in: HOUR })],
	["One use, 2 hours", () => ({ max_uses: 1, expires_in: 2 * HOUR })],
];

/** Returns the API path of a code. @param {string} code */
export const path_of = (code) => `/v2/room-codes/code/${segment(code)}`;

/** Makes a response contain the link and the hash of each code. */
export const LINK = "?view=link";

/** Creates a code. @param {string} room_id @param {string} role @param {any} body @returns {Promise<Code>} */
export async function create_code(room_id, role, body) {
	const path = `/v2/room-codes/room/${room_id}/role/${segment(role)}${LINK}`;
	return (await call("POST", path, { body })).data;
}

/**
 * Creates the buttons that fill in a limit, or empty it again.
 * @param {ReturnType<typeof maker>["form"]} form
 */
function presets_of(form) {
	const buttons = PRESETS.map(([words, fill]) => {
		/** @type {Record<string, any>} */
		let filled = {};
		const button = h("button.small", { type: "button", "aria-pressed": "false" }, words);
		const look = () => {
			const now = form.read();
			const entries = Object.entries(filled);
			const on = entries.length > 0 && entries.every(([key, value]) => now[key] === value);
			button.setAttribute("aria-pressed", String(on));
		};
		button.addEventListener("click", () => {
			const on = button.getAttribute("aria-pressed") === "false";
			const next = fill();
			const none = Object.fromEntries(Object.keys(next).map((key) => [key, undefined]));
			filled = on ? next : {};
			form.write({ ...form.read(), ...(on ? next : none) });
			form.element.dispatchEvent(new Event("input"));
			if (on && "user_id" in next) {
				/** @type {HTMLElement | null} */
				const name = form.element.querySelector('[data-pointer="/name"] input');
				name?.focus();
			}
		});
		form.element.addEventListener("input", look);
		form.element.addEventListener("change", look);
		return button;
	});
	return h("div.presets", { role: "group", "aria-label": "Limits" }, buttons);
}

/**
 * Asks what a new code is for, and creates it.
 * @param {{ id: string }} room @param {[string, string][]} roles names, and what people see of them @param {string} role that is chosen; "" for none
 * @param {(made: Code) => void} done
 */
export async function new_code(room, roles, role, done) {
	const schema = form_for(await openapi(), "POST /v2/room-codes/room/{}/role/{}");
	const rest = schema.fields.map(([name]) => name).filter((name) => !USUAL.includes(name));
	const ordered = only(schema, [...USUAL, ...rest]);
	// With one role there is nothing to choose.
	const chosen = role || (roles.length === 1 ? roles[0]?.[0] : "");
	/** @type {[string, string][]} */
	const choices = chosen ? roles : [["", "Choose a role"], ...roles];
	/** @type {import("../lib/schema.js").Plain} */
	const of_role = {
		kind: "choice",
		description: "",
		unit: "",
		fallback: undefined,
		required: true,
		write_only: false,
		least: undefined,
		most: undefined,
		step: undefined,
		options: choices.map(([name]) => name),
		words: choices.map(([, shown]) => shown),
		item: null,
		fields: [],
		rules: [],
	};
	const { element, form } = maker({
		schema: { ...ordered, fields: [["role", of_role], ...ordered.fields] },
		value: { role: chosen || undefined },
		extras: { folded: rest },
		verb: "Create code",
		async send({ role: to, ...body }) {
			if (!to) {
				form.show("", [{ pointer: "/role", message: "choose who the code is for" }]);
				return;
			}
			const made = await create_code(room.id, to, body);
			box.close();
			done(made);
		},
	});
	form.element.querySelector('[data-pointer="/role"]')?.after(presets_of(form));
	const box = dialog("New code", [element], { class: "form-dialog" });
	/** @type {HTMLElement | null} */
	const first = box.querySelector(chosen ? ".presets button" : "select");
	first?.focus();
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

/** @param {Code} code @param {(changed: Code) => void} done */
export async function change_code(code, done) {
	const schema = form_for(await openapi(), "PATCH /v2/room-codes/code/{}");
	const names = schema.fields.map(([name]) => name).filter((name) => name !== "enabled");
	const { element, form } = maker({
		schema: only(schema, names),
		value: code,
		verb: "Save",
		async send(value) {
			const body = patch(before, value);
			done((await call("PATCH", path_of(code.code) + LINK, { body })).data);
			box.close();
			toast("Code saved.");
		},
	});
	const before = form.read();
	const box = dialog(`Edit code ${code.code} (${code.role})`, [element], { class: "form-dialog" });
	box.querySelector("input")?.focus();
}

/** @param {Code} code @param {(made: Code) => Promise<void>} done */
export async function rotate(code, done) {
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
			const path = `/v2/room-codes/room/${code.room_id}/role/${segment(code.role)}/rotate${LINK}`;
			const body = { grace_seconds: Number(value.grace_seconds) };
			const made = await call("POST", path, { body });
			box.close();
			await done(made.data);
		},
	});
	const box = dialog(`Rotate codes for ${code.role}`, [element]);
	box.querySelector("select")?.focus();
}
