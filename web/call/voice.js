// Decides whom the speaker view follows: whoever has spoken for a moment, alone. It knows neither a page nor a media
// server.
//
// SPDX-License-Identifier: GPL-3.0-or-later

// Milliseconds that somebody speaks until the view follows.
const LONG_ENOUGH = 1500;

/** @param {(id: string) => void} changed called when it follows somebody else */
export function voice(changed) {
	/** When each of those who speak began. @type {Map<string, number>} */
	let since = new Map();
	let follows = false;
	/** @type {string | null} */
	let current = null;
	/** @type {ReturnType<typeof setTimeout> | undefined} */
	let timer;

	function look() {
		clearTimeout(timer);
		const [one, other] = since;
		if (!follows || !one || other || one[0] === current) return;
		const left = one[1] + LONG_ENOUGH - performance.now();
		if (left > 0) timer = setTimeout(look, left);
		else changed((current = one[0]));
	}
	return {
		/** @param {Set<string>} ids of all who speak; what you say yourself does not count */
		speaking(ids) {
			const now = performance.now();
			since = new Map([...ids].filter((id) => id !== "me").map((id) => [id, since.get(id) ?? now]));
			look();
		},
		/** Follows from now on, or no longer. @param {boolean} yes */
		follow(yes) {
			follows = yes;
			look();
		},
		/** Whom it follows. @returns {string | null} */
		current: () => current,
		/** Goes on with somebody whom the view has chosen. @param {string | null} id */
		begin(id) {
			current = id;
		},
	};
}
