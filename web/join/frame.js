// The join page in a frame of another page, which the account has to allow: otherwise anybody's page could show
// anybody's call. Loaded only in a frame.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { h, icon } from "../lib/dom.js";

/** The origins of the account, as far as the page around is one of them. @type {string[]} */
let origins = [];

/** Returns the origin of the page around this one, or "" if the browser does not tell. */
function origin_around() {
	const nearest = location.ancestorOrigins?.[0];
	if (nearest) return nearest;
	try {
		return new URL(document.referrer).origin;
	} catch {
		return "";
	}
}

/**
 * Shows a link that opens the page in a window, unless the page around is one of the account's. Returns whether it
 * did.
 * @param {string[] | undefined} allowed @param {import("./words.js").Words} words
 * @param {(symbol: string, title: string, content: Node[]) => void} show
 */
export function refuses(allowed = [], words, show) {
	origins = allowed.includes(origin_around()) ? allowed : [];
	if (origins.length > 0) return false;
	const link = h(
		"a.button.primary",
		{ href: location.href, target: "_blank", rel: "noopener" },
		icon("out"),
		words.framed_open,
	);
	show("lock", words.framed_title, [h("p", null, words.framed), h("div.row-of-buttons", null, link)]);
	return true;
}

/**
 * Tells the page around. The browser delivers it only to these origins.
 * @param {"joined" | "left" | "ended"} type @param {string} room_id
 */
export function tell(type, room_id) {
	for (const origin of origins) parent.postMessage({ type, room_id }, origin);
}
