// Asks again and again who is inside a room, as its template says, while the page is visible.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { Refusal, call, segment } from "../lib/api.js";

/** Who is inside. Without `peers`, only their number is told. @typedef {{ peer_count: number, peers?: { name: string }[] }} Inside */
/** How often to ask, in seconds, and whether that ends with the join.
 * @typedef {{ messageInterval: number, stopRoomStateOnJoin: boolean }} State */

// Seconds between two questions, at least.
const LEAST = 10;

/**
 * @param {{ code: string, etag: string | null, state: State, is_shown: () => boolean, tell: (inside: Inside) => void,
 *   at_once?: boolean }} room `etag` is that of what is known already; nothing is asked while `is_shown` returns false
 * @param {AbortSignal} signal ends it
 */
export function watch_inside({ code, etag, state, is_shown, tell, at_once = false }, signal) {
	const every = Math.max(LEAST, state.messageInterval) * 1000;
	const over = new AbortController();
	const ended = over.signal;
	signal.addEventListener("abort", () => over.abort());
	let asked = at_once ? 0 : Date.now();
	/** @type {Inside | undefined} */
	let inside;
	/** @type {ReturnType<typeof setTimeout> | undefined} */
	let timer;
	async function ask() {
		asked = Date.now();
		try {
			const answer = is_shown() && (await call("GET", `/v2/join/${segment(code)}`, { seen: etag, signal: ended }));
			if (ended.aborted) return;
			if (answer) etag = answer.etag;
			if (answer && answer.data) inside = answer.data.inside;
			if (answer && inside) tell(inside);
		} catch (error) {
			// The code does not open the room any more.
			if (error instanceof Refusal && error.status >= 400 && error.status < 500 && error.status !== 429) over.abort();
		}
		wait();
	}
	function wait() {
		clearTimeout(timer);
		if (document.hidden || ended.aborted) return;
		timer = setTimeout(ask, Math.max(0, asked + every - Date.now()));
	}
	document.addEventListener("visibilitychange", wait, { signal: ended });
	ended.addEventListener("abort", () => clearTimeout(timer));
	wait();
}
