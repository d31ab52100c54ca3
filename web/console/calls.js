// Whether join links end in a call, and what to do if they do not; for developers, what a client receives.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { all_of, call, get, segment } from "../lib/api.js";
import { h, icon, put } from "../lib/dom.js";
import { busy, code_block, dialog } from "../lib/ui.js";
import { server_of } from "./servers.js";
import { may, session } from "./session.js";

/** Media servers that have neither a page of their own nor a call on the join page. */
const WITHOUT_PAGE = ["janus", "jwt"];

/** Returns true if the join page names livekit-client. */
async function has_library() {
	const response = await fetch("/join");
	return !response.ok || /<meta name="livekit-client" content="\//.test(await response.text());
}

/** @param {import("../lib/dom.js").Child[]} content */
const notice = (...content) =>
	h("p.notice", null, icon("info"), h("span", null, "Join links do not lead to a call yet. ", content));

/** Says what to do if livekit-client is missing, else returns null. */
export async function library_notice() {
	if (await has_library()) return null;
	return notice(
		"livekit-client is missing: run ",
		h("code", null, "share/anteroom/get-livekit-client"),
		" on the server.",
	);
}

/**
 * Says what to do if the join links of a room lead to no call and to no client, else returns null.
 * @param {any} room @param {AbortSignal} signal
 */
export async function call_notice(room, signal) {
	if (!may("templates:read") || !may("backends:read") || (await session()).client_url) return null;
	const [settings, backends] = await Promise.all([
		get(`/v2/templates/${segment(room.template_id)}/settings`, signal),
		all_of("/v2/backends", {}, signal),
	]);
	const backend = server_of(backends, settings);
	if (!backend) {
		return notice(
			"The room has no media server: ",
			h("a", { href: "/console/media" }, "add one"),
			", and make it the default or name it in the template.",
		);
	}
	if (WITHOUT_PAGE.includes(backend.type)) {
		return notice(
			`The media server ${backend.name} has no page for guests. Set the address of your client: `,
			h("code", null, "anteroom account set ACCOUNT client_url=URL"),
			".",
		);
	}
	return backend.type === "livekit" ? library_notice() : null;
}

/** Shows developers what a client receives for a code. @param {string} code */
export function show_exchange(code) {
	const place = h("div.stack");
	const button = h("button.primary", { type: "button" }, "Exchange code");
	button.addEventListener("click", () =>
		busy(button, async () => {
			const { data } = await call("POST", "/v2/token", { body: { code } });
			put(place, code_block(JSON.stringify(data, null, 2), "Response", "tall"));
		}),
	);
	put(place, h("div.dialog-foot", null, button));
	dialog(
		"For developers",
		[
			h(
				"p.hint",
				null,
				"This is what a client receives from POST /v2/token for this code. Exchanging the code counts as a use. Anyone who has the tokens can join.",
			),
			place,
		],
		{ class: "wide" },
	);
}
