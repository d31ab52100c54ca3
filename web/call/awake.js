// Keeps the screen on during a call.
//
// SPDX-License-Identifier: GPL-3.0-or-later

/** @param {AbortSignal} signal lets the screen go off again */
export function stay_awake(signal) {
	/** @type {WakeLockSentinel | null} */
	let lock = null;
	const release = () => void lock?.release().catch(() => {});
	async function ask() {
		if (document.hidden) return;
		lock = (await navigator.wakeLock?.request("screen").catch(() => null)) ?? null;
		if (signal.aborted) release();
	}
	// Browsers end it when the page is hidden.
	document.addEventListener("visibilitychange", ask, { signal });
	signal.addEventListener("abort", release, { once: true });
	ask();
}
