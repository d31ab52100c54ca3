// Your own hand: raised and lowered by you, or lowered by a host.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { announce } from "../lib/dom.js";
import { words } from "./words.js";

// Milliseconds that the media server takes at most to tell what you have done yourself.
const ECHO = 3000;

/**
 * @param {{ link: () => import("./media.js").Connection | null, server: import("./service.js").Service,
 *   note: import("./notes.js").Notes, draw: () => void }} call `link` returns null until the connection is there
 */
export function own_hand({ link, server, note, draw }) {
	let up = false;
	let is_busy = false;
	/** What the media server has, and what you asked for, until it has that. */
	let seen = false;
	/** @type {boolean | null} */
	let asked = null;
	let asked_at = 0;
	const metadata = () => link()?.hand(!up) ?? null;

	async function turn() {
		const connection = link();
		const text = metadata();
		if (is_busy || !connection || text === null) return;
		up = !up;
		asked = up;
		is_busy = true;
		draw();
		try {
			await server.set_metadata(connection.sid(), text);
			announce((up ? words.now_on : words.now_off).hand, "hand");
		} catch {
			up = !up;
			asked = null;
			note.warn(words.not_now);
		}
		is_busy = false;
		asked_at = performance.now();
		draw();
	}
	return {
		up: () => up,
		/** Returns true if you can raise it: your metadata is an object. */
		can: () => metadata() !== null,
		turn,
		/** The media server says whether it is up. @param {boolean} now */
		see(now) {
			if (now === seen) return;
			seen = now;
			// What the media server had before your last press may still arrive.
			const waits = asked !== null && (is_busy || performance.now() - asked_at < ECHO);
			if (!waits || now === asked) asked = null;
			if (waits) return;
			const was = up;
			up = now;
			if (was && !now && metadata() !== null) note.say(words.lowered_by, { key: "hand", symbol: "hand" });
		},
		/** What is there when the connection is made. @param {boolean} now */
		begin(now) {
			up = now;
			seen = now;
		},
	};
}
