// The call that this tab is in. It is kept until somebody leaves, so that a reload returns to the call with the same
// token: the code may be for one use. Another tab that has a copy of it asks before it takes the call over.
//
// SPDX-License-Identifier: GPL-3.0-or-later

/** What was joined with a code, and which devices were on.
 * @typedef {{ path: string, code: string, room: { name: string }, role: { name: string, publishParams: any },
 *   token: string, room_id: string, name: string, audio: boolean, video: boolean, restarted_at?: number }} Entry */

const KEY = "call";
// Milliseconds that the page before a reload takes to let go of its call.
const PATIENCE = 400;

/** @param {Entry} entry */
export const keep = (entry) => sessionStorage.setItem(KEY, JSON.stringify(entry));

let let_go = () => {};

export function forget() {
	sessionStorage.removeItem(KEY);
	let_go();
}

/** Returns the call of this tab if it was joined at this address, else null. @returns {Entry | null} */
export function kept() {
	try {
		const entry = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
		return entry?.path === location.pathname ? entry : null;
	} catch {
		return null;
	}
}

/**
 * Makes a call this tab's. Returns false if another tab has it and it is not to be taken over. Browsers that cannot
 * tell (over plain HTTP) return true; the media server then ends the call in the other tab.
 * @param {Entry} entry @param {boolean} [steal] @returns {Promise<boolean>}
 */
export async function claim({ token }, steal = false) {
	if (!navigator.locks) return true;
	let_go();
	/** @type {LockOptions} */
	const options = steal ? { steal } : { signal: AbortSignal.timeout(PATIENCE) };
	return new Promise((done) => {
		const hold = () => {
			done(true);
			return new Promise((free) => {
				let_go = () => free(undefined);
			});
		};
		navigator.locks.request(`call ${token.slice(-16)}`, options, hold).catch(() => done(false));
	});
}
