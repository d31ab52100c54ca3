// The call that this tab is in. It is kept until somebody leaves, so that a reload returns to the call with the same
// token: the code may be for one use; so is the place of somebody who waits. Another tab that has a copy of it asks before it takes the call over.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { tab_storage } from "../lib/storage.js";

/** What was joined with a code, and which devices were on. The name of the room is the one that people see.
 * @typedef {{ path: string, code: string, room: { name: string }, role: { name: string, title?: string, publishParams: any },
 *   token: string, room_id: string, name: string, audio: boolean, video: boolean, embed?: string[] | undefined,
 *   rejoins?: number, rejoined_at?: number, room_state?: import("./inside.js").State, consent?: Consent,
 *   hides_me?: boolean, fewer?: boolean }} Entry `consent` if the person was asked; `hides_me` and `fewer`: your own picture
 *   is hidden, few videos are shown */
/** Whether somebody agrees to be recorded, and the version of the sentence.
 * @typedef {{ consent: boolean, consent_text?: string }} Consent */

const KEY = "call";
// The page before a reload may take a moment to let go of its call: attempts, and milliseconds between them.
const TRIES = 5;
const RETRY = 100;

/** @param {Entry} entry */
export const keep = (entry) => tab_storage.set(KEY, JSON.stringify(entry));

let let_go = () => {};

export function forget() {
	tab_storage.remove(KEY);
	let_go();
}

/** Returns the call of this tab if it was joined at this address, else null. @returns {Entry | null} */
export function kept() {
	const entry = tab_storage.get_json(KEY);
	return entry?.path === location.pathname ? entry : null;
}

// Milliseconds before each attempt to join again by itself, and after which they count anew.
const REJOINS = [0, 2000, 5000];
const ANEW = 60000;

/** Returns how often the call was joined again by itself lately. @param {Entry} entry */
export const rejoins_of = ({ rejoins = 0, rejoined_at = 0 }) => (Date.now() - rejoined_at < ANEW ? rejoins : 0);

/** Waits until the call may be joined again by itself. Returns false if that was tried enough. @param {Entry} entry */
export async function wait_to_rejoin(entry) {
	const rejoins = rejoins_of(entry);
	if (rejoins === REJOINS.length) return false;
	await new Promise((done) => setTimeout(done, REJOINS[rejoins]));
	// A device that wakes up is without a network for a moment.
	if (!navigator.onLine) await new Promise((done) => addEventListener("online", done, { once: true }));
	Object.assign(entry, { rejoins: rejoins + 1, rejoined_at: Date.now() });
	return true;
}

/** Who waits to be let in, and for what; `denied` is the reason of a denial that may be taken back.
 * @typedef {{ path: string, what: import("./main.js").Described, name: string, ticket: string, denied?: string }} Waiter */

const WAITING = "waiting";
// Milliseconds after which a tab that is opened again does not go on waiting by itself.
const FORGOTTEN = 2 * 3600000;

/** @param {Waiter} waiter */
export const keep_waiter = (waiter) => tab_storage.set(WAITING, JSON.stringify({ ...waiter, at: Date.now() }));
export const forget_waiter = () => tab_storage.remove(WAITING);

/** Returns who waits in this tab at this address, or null. @returns {Waiter | null} */
export function kept_waiter() {
	const waiter = tab_storage.get_json(WAITING);
	return waiter?.path === location.pathname && Date.now() - waiter.at < FORGOTTEN ? waiter : null;
}

const CONSENT = "consent";

/**
 * Keeps for this tab whether somebody agrees to be recorded in the room of a code; returns what the service is told.
 * @param {string} code @param {string} version of the sentence @param {boolean} agrees @returns {Consent}
 */
export function keep_consent(code, version, agrees) {
	if (agrees) tab_storage.set(CONSENT, `${code} ${version}`);
	else tab_storage.remove(CONSENT);
	return agrees ? { consent: true, consent_text: version } : { consent: false };
}

/** Whether somebody has agreed to this version of the sentence before. @param {string} code @param {string} version */
export const has_consented = (code, version) => tab_storage.get(CONSENT) === `${code} ${version}`;

const BROWSER = "browser";
/** @type {(() => Storage)[]} either may be blocked or full */
const STORAGES = [() => localStorage, () => sessionStorage];
let browser = "";

/** Returns 22 random characters by which the door knows this browser, or at least this tab or this page, again. */
export function browser_id() {
	browser ||= btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(16))))
		.replace(/\+/g, "-")
		.replace(/\//g, "_")
		.replace(/=/g, "");
	for (const storage of STORAGES) {
		try {
			const found = storage().getItem(BROWSER);
			if (found?.length === browser.length) return found;
			storage().setItem(BROWSER, browser);
			return browser;
		} catch {
			// The next one may work.
		}
	}
	return browser;
}

/**
 * Makes a call this tab's. Returns false if another tab has it and it is not to be taken over. Browsers that cannot
 * tell (over plain HTTP) return true; the media server then ends the call in the other tab.
 * @param {Entry} entry @param {boolean} [steal] @returns {Promise<boolean>}
 */
export function claim({ token }, steal = false) {
	// The lock of a claim that is under way can only be let go once it is there.
	claimed = claimed.then(() => claim_lock(token, steal));
	return claimed;
}
let claimed = Promise.resolve(true);

/** @param {string} token @param {boolean} steal @returns {Promise<boolean>} */
async function claim_lock(token, steal) {
	if (!navigator.locks) return true;
	let_go();
	for (let tries = 1; ; tries++) {
		const is_ours = await take_lock(`call ${token.slice(-16)}`, steal);
		if (is_ours || tries === TRIES) return is_ours;
		await new Promise((done) => setTimeout(done, RETRY));
	}
}

/** Takes a lock and holds it until let_go. @param {string} name @param {boolean} steal @returns {Promise<boolean>} */
const take_lock = (name, steal) =>
	new Promise((done) => {
		const hold = (/** @type {Lock | null} */ lock) => {
			done(lock !== null);
			return (
				lock &&
				new Promise((free) => {
					let_go = () => free(undefined);
				})
			);
		};
		// The promise is rejected when another tab takes the lock over, and where the browser blocks its storage: it
		// then does not tell of other tabs either.
		navigator.locks.request(name, steal ? { steal } : { ifAvailable: true }, hold).catch(() => done(true));
	});
