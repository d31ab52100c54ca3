// What a page keeps in the browser. Browsers can block their storage, and it can be full: what cannot be kept is then
// remembered until the page is left.
//
// SPDX-License-Identifier: GPL-3.0-or-later

/** @param {() => Storage} real which throws where the browser blocks it */
function storage(real) {
	/** @type {Map<string, string>} */
	const memory = new Map();
	/** @template T @param {(store: Storage) => T} act @param {() => T} otherwise @returns {T} */
	function attempt(act, otherwise) {
		try {
			return act(real());
		} catch {
			return otherwise();
		}
	}
	const drop = (/** @type {string} */ key) => attempt((store) => store.removeItem(key), () => {});
	return {
		/** @param {string} key @returns {string | null} */
		get: (key) => memory.get(key) ?? attempt((store) => store.getItem(key), () => null),
		/** Returns the value in a text, or null if there is none, or it cannot be read. @param {string} key @returns {any} */
		get_json(key) {
			try {
				return JSON.parse(this.get(key) ?? "null");
			} catch {
				return null;
			}
		},
		/** @param {string} key @param {string} value */
		set(key, value) {
			memory.delete(key);
			attempt(
				(store) => store.setItem(key, value),
				() => {
					// A former value must not come back with the next page.
					drop(key);
					memory.set(key, value);
				},
			);
		},
		/** @param {string} key */
		remove(key) {
			memory.delete(key);
			drop(key);
		},
		/** Returns true if values stay after the page is left. */
		works: () =>
			attempt(
				(store) => {
					store.setItem("works", "");
					store.removeItem("works");
					return true;
				},
				() => false,
			),
	};
}

/** Kept for all tabs, until somebody clears it. */
export const browser_storage = storage(() => localStorage);
/** Kept for this tab, also over a reload. */
export const tab_storage = storage(() => sessionStorage);
