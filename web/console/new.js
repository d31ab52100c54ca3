// The pages that create a template and a room.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { call, openapi } from "../lib/api.js";
import { h, icon, unique } from "../lib/dom.js";
import { go } from "../lib/router.js";
import { changed, only } from "../lib/schema.js";
import { page_head } from "../lib/ui.js";
import { maker } from "./editor.js";
import { form_for } from "./hints.js";
import { template_names } from "./templates.js";

// Recordings and streams are not part of Anteroom, and media servers let nobody unmute others unless they are told to:
// what does nothing is not granted.
const ANYBODY = { browserRecording: false, rtmpStreaming: false, hlsStreaming: false };
const MODERATOR = { ...ANYBODY, endRoom: true, removeOthers: true, mute: true, changeRole: true };
const LAYERS = [
	{ rid: "f", scaleResolutionDownBy: 1, maxBitrate: 1200, maxFramerate: 30 },
	{ rid: "h", scaleResolutionDownBy: 2, maxBitrate: 350, maxFramerate: 20 },
	{ rid: "q", scaleResolutionDownBy: 4, maxBitrate: 110, maxFramerate: 15 },
];
const SENDS = {
	allowed: ["audio", "video", "screen"],
	video: { width: 1280, height: 720, frameRate: 30, bitRate: 1200 },
	simulcast: { video: { layers: LAYERS } },
};
const HOST = { permissions: MODERATOR, publishParams: SENDS };
const MEMBER = { priority: 2, permissions: ANYBODY, publishParams: SENDS };

/** Sets of roles that a new template can start with. */
export const STARTS = [
	{
		symbol: "people",
		words: "Meeting",
		roles: { host: HOST, guest: MEMBER },
	},
	{
		symbol: "screen",
		words: "Webinar",
		roles: {
			host: HOST,
			speaker: MEMBER,
			viewer: {
				priority: 3,
				admission: "ask",
				permissions: ANYBODY,
				publishParams: { allowed: [] },
				subscribeParams: { subscribeToRoles: ["host", "speaker"] },
			},
		},
	},
	{
		symbol: "person",
		words: "Class",
		roles: {
			teacher: HOST,
			student: { ...MEMBER, admission: "ask" },
		},
	},
	{ symbol: "template", words: "Blank", roles: {} },
];

const cancel = (/** @type {string} */ href) => h("a.button", { href }, "Cancel");

/** @type {import("../lib/router.js").Maker} */
export async function new_template_page() {
	const schema = only(form_for(await openapi(), "POST /v2/templates"), ["name", "default"]);
	let start = STARTS[0];
	const name = unique("start");
	const cards = STARTS.map((one, i) =>
		h(
			"label.card-choice",
			null,
			h("input", {
				type: "radio",
				name,
				checked: i === 0,
				onchange() {
					start = one;
				},
			}),
			icon(one.symbol),
			h("strong", null, one.words),
			h("span.quiet", null, Object.keys(one.roles).join(", ") || "No roles"),
		),
	);
	const label = unique("label");
	const roles = h(
		"div.field",
		null,
		h("span.label", { id: label }, "Starting roles"),
		h("div.cards", { role: "radiogroup", "aria-labelledby": label }, cards),
		h("p.hint", null, "You can change, rename or delete them later."),
	);
	const { element } = maker({
		schema: changed(schema, "default", {
			fallback: false,
			write_only: false,
		}),
		verb: "Create template",
		between: roles,
		cancel: cancel("/console/templates"),
		taken: "another template already has this name",
		async send(value) {
			const body = { ...value, roles: start?.roles };
			const made = await call("POST", "/v2/templates", { body, create: true });
			await go(`/console/templates/${made.data.id}`, { force: true });
		},
	});
	const head = page_head({ way: [["Templates", "/console/templates"]], title: "New template" });
	return {
		title: "New template",
		element: h("div.page.narrow", null, head, h("div.panel", null, element)),
	};
}

/** @type {import("../lib/router.js").Maker} */
export async function new_room_page(_, signal) {
	const [doc, names] = await Promise.all([openapi(), template_names(signal)]);
	const members = ["title", "name", "description", "template_id", "region", "opens_at", "closes_at"];
	const schema = only(form_for(doc, "POST /v2/rooms"), members);
	const usual = names.find((one) => one.default);
	const called = names.map((one) => (one === usual ? `${one.name} (default)` : one.name));
	const { element, form } = maker({
		schema: changed(with_templates(schema, names), "template_id", {
			required: true,
			options: ["", ...names.map((one) => one.id)],
			words: ["Choose a template", ...called],
		}),
		value: { template_id: usual?.id },
		extras: { folded: ["region", "opens_at", "closes_at"] },
		verb: "Create room",
		between: h("p.hint", null, "The room gets a code for each role of its template."),
		cancel: cancel("/console/rooms"),
		taken: "another room already has this name",
		async send(value) {
			if (!value.template_id) {
				form.show("", [{ pointer: "/template_id", message: "choose the template of the room" }]);
				return;
			}
			const made = await call("POST", "/v2/rooms", { body: value, create: true });
			const { id } = made.data;
			await call("POST", `/v2/room-codes/room/${id}`);
			await go(`/console/rooms/${id}`, { force: true });
		},
	});
	const head = page_head({ way: [["Rooms", "/console/rooms"]], title: "New room" });
	return {
		title: "New room",
		element: h("div.page.narrow", null, head, h("div.panel", null, element)),
	};
}

/**
 * Returns the schema of a room with the template as a choice by name.
 * @param {import("../lib/schema.js").Plain} schema @param {{ id: string, name: string }[]} names
 */
export const with_templates = (schema, names) =>
	changed(schema, "template_id", {
		kind: "choice",
		options: names.map((one) => one.id),
		words: names.map((one) => one.name),
	});
