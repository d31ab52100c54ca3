// The requests of a call to the service: about yourself, and about others as far as the role allows it. They
// have the token of the join, which never leaves this closure.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { Refusal, call } from "../lib/api.js";

/** @typedef {{ name: string, publishParams: any, subscribeParams: any, permissions: Record<string, boolean> }} Role */
/** `at` is when the service said it, by its clock.
 * @typedef {{ peer: { id: string }, role: Role, gives: string[], started_at?: string, ends_at?: string | null, at?: number,
 *   roles?: { name: string, title?: string, priority: number, host?: boolean, publishParams: any }[],
 *   may?: ("record" | "live" | "stream")[], recordings?: import("./recording.js").Recorded[], consent?: "asked" | "required", agreed?: boolean, held?: ("audio" | "video")[], holds?: { type: "audio" | "video", role?: string }[] }} Me */
/** @typedef {import("./lock.js").State} Door */

// Milliseconds until the second attempt, which is the last: the service hears of a join a moment after it.
const RETRY = 2000;

/** @param {string} room_id @param {string} token */
export function service(room_id, token) {
	const base = `/v2/active-rooms/${room_id}`;
	const get_me = async () => {
		const { data, at } = await call("GET", `${base}/me`, { token });
		return { ...data, at };
	};
	const post = (/** @type {string} */ path, /** @type {any} */ body) => call("POST", base + path, { token, body });
	return {
		/** Returns who you are here, and what you may do. @returns {Promise<Me>} */
		async me() {
			try {
				return await get_me();
			} catch (error) {
				if (!(error instanceof Refusal) || error.message !== "Not in the room") throw error;
			}
			await new Promise((done) => setTimeout(done, RETRY));
			return get_me();
		},
		/** Asks to join again, to learn why somebody may not, or where the room is. @param {object} [body] @param {AbortSignal} [signal] */
		join: (body = {}, signal) => call("POST", "/v2/token/join", { token, body, ...(signal && { signal }) }),
		/** @param {string} peer @param {string} metadata */
		set_metadata: (peer, metadata) => post(`/peers/${peer}`, { metadata }),
		/**
		 * Gives a person a role; `door` makes everybody with their link wait for admission.
		 * @param {string} peer @param {string} role @param {boolean} [door]
		 */
		set_role: (peer, role, door) => post(`/peers/${peer}`, { role, ...(door && { door: "ask" }) }),
		/** @param {string} peer @param {"audio" | "video" | "screen"} type */
		mute: (peer, type) => post(`/peers/${peer}/mute`, { type, mute: true }),
		/**
		 * Removes a person. `keep_out` bans them, or makes everybody with their link wait for admission, whichever is
		 * possible.
		 * @param {string} peer_id @param {string} reason @param {boolean} keep_out
		 */
		remove: (peer_id, reason, keep_out) =>
			post("/remove-peers", { peer_id, ...(reason && { reason }), ...(keep_out && { ban: true, door: "ask" }) }),
		/** Returns who waits to be let in; no data if that is as it was. @param {string | null} etag */
		waiting: (etag) => call("GET", `${base}/tickets`, { token, seen: etag }),
		/** @param {string} ticket @param {"admitted" | "denied"} state */
		decide: (ticket, state) => post(`/tickets/${ticket}`, { state }),
		/** @param {"all" | string[]} admit the ids of tickets */
		admit: (admit) => post("/tickets", { admit }),
		/** @param {Door} state */
		door: (state) => post("/door", { state }),
		/** Mutes everybody else, or those with a role. @param {string} [role] */
		mute_all: (role) => post("/mute", { type: "audio", ...(role && { role }) }),
		/** Takes everybody's microphone until it is given back. @param {boolean} hold @param {string} [role] */
		hold: (hold, role) => post("/mute", { type: "audio", ...(role && { role }), hold }),
		/** @param {string} peer */
		lower: (peer) => post(`/peers/${peer}`, { hand: false }),
		lower_all: () => post("/lower-hands", {}),
		end: () => post("/end-room", {}),
	};
}

/** @typedef {ReturnType<typeof service>} Service */
