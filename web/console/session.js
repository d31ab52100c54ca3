// The session of the console. It tells the pages what to offer; the service alone decides what is allowed.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { get } from "../lib/api.js";

/**
 * @typedef {object} Session
 * @property {{ id: string, name: string }} account
 * @property {string[] | null} scopes null for all
 * @property {string | null} expires_at
 * @property {boolean} operator
 * @property {string} version
 * @property {string} public_url
 * @property {string} [client_url]
 * @property {boolean} qr true if the service draws QR codes
 */

/** @type {Promise<Session> | null} */
let asked = null;
/** @type {Session | null} */
let known = null;

/** Fetches the session once; later calls return the same promise. @returns {Promise<Session>} */
export function session() {
	asked ??= get("/v2/session").then((answer) => {
		known = answer;
		return answer;
	});
	return asked;
}

/** Returns the session, or null if it has not been fetched. */
export const known_session = () => known;

/** Fetches the session again. The last one stays known until the response. @returns {Promise<Session>} */
export function renew_session() {
	asked = null;
	return session();
}

export function forget_session() {
	asked = null;
	known = null;
}

/** Returns true if the session has a scope; a write scope includes its read scope. @param {string} scope */
export function may(scope) {
	if (!known?.scopes) return true;
	const writing = scope.replace(/:read$/, ":write");
	return known.scopes.some(
		(one) =>
			one === scope || one === writing || (scope === "events:read" && one === "webhooks:write"),
	);
}
