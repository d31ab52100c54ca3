// Who is signed in. Pages ask here for what the session may do; the service decides.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { get } from "../lib/api.js";

/**
 * @typedef {object} Session
 * @property {{ id: string, name: string }} account
 * @property {string[] | null} scopes null: all
 * @property {string | null} expires_at
 * @property {boolean} operator
 * @property {string} version
 * @property {string} public_url
 * @property {string} [client_url]
 * @property {boolean} qr whether the service makes QR codes
 */

/** @type {Promise<Session> | null} */
let asked = null;
/** @type {Session | null} */
let known = null;

/** Asks once, and answers from memory then. @returns {Promise<Session>} */
export function session() {
	asked ??= get("/v2/session").then((answer) => {
		known = answer;
		return answer;
	});
	return asked;
}

/** The session, as far as it is known already. */
export const known_session = () => known;

export function forget_session() {
	asked = null;
	known = null;
}

/** Whether the session has a scope; every write scope has its read scope. @param {string} scope */
export function may(scope) {
	if (!known?.scopes) return true;
	const writing = scope.replace(/:read$/, ":write");
	return known.scopes.some(
		(one) =>
			one === scope || one === writing || (scope === "events:read" && one === "webhooks:write"),
	);
}
