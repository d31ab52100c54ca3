// Tells all tabs of the browser about changes, without requests to the service: each write of a tab is a
// message to the others.
//
// SPDX-License-Identifier: GPL-3.0-or-later

/** Kind and ID of the object: the kind as in the path of the API, or "codes", with the ID of the room;
 * "session", with the ID of the account that signed in, or "" if it signed out. Otherwise, an ID "" stands for
 * all objects of the kind.
 * @typedef {{ kind: string, id: string }} Change */
/** @typedef {(change: Change, here: boolean) => void} Listener here: true if this tab made the change */

/** @type {Set<Listener>} */
const listeners = new Set();
/** Null where the browser blocks it. */
const channel = (() => {
	try {
		return new BroadcastChannel("anteroom");
	} catch {
		return null;
	}
})();
/** When each kind was last changed, as performance.now() returns it. @type {Map<string, number>} */
const last = new Map();

/** @param {Change} change @param {boolean} here */
function tell(change, here) {
	last.set(change.kind, performance.now());
	for (const listener of listeners) listener(change, here);
}

channel?.addEventListener("message", ({ data }) => tell(data, false));

/** Tells this tab and all others that an object has changed. @param {string} kind @param {string} [id] */
export function changed(kind, id = "") {
	const change = { kind, id };
	channel?.postMessage(change);
	tell(change, true);
}

/** @param {Listener} listener @param {AbortSignal} [signal] ends it */
export function on_change(listener, signal) {
	listeners.add(listener);
	signal?.addEventListener("abort", () => listeners.delete(listener));
}

/** Returns true if an object of one of the kinds has changed since a time. @param {string[]} kinds @param {number} time */
export const changed_since = (kinds, time) => kinds.some((kind) => (last.get(kind) ?? -1) > time);

/** Tells what a write has changed. @param {string} path @param {any} body @param {any} data of the response */
export function written(path, body, data) {
	const { pathname, searchParams } = new URL(path, location.origin);
	const [, , kind = "", id = "", more = ""] = pathname.split("/");
	if (searchParams.has("validate_only")) return;
	if (kind === "bulk") {
		const paths = body.operations.map((/** @type {{ path: string }} */ one) => one.path);
		const kinds = paths.map((/** @type {string} */ one) => one.split("/")[2]);
		for (const one of new Set(kinds)) changed(one === "room-codes" ? "codes" : String(one));
	} else if (kind === "room-codes") changed("codes", id === "room" ? more : data?.room_id);
	else if (kind !== "session") changed(kind, id || data?.id);
}
