// Keeps the screen of the device on during a call.
//
// SPDX-License-Identifier: GPL-3.0-or-later

/** @param {AbortSignal} signal ends it */
export function stay_awake(signal) {
	/** @type {WakeLockSentinel | null} */
	let lock = null;
	// The browser takes it back when the page is hidden.
	async function take() {
		if (document.hidden) return;
		lock = (await navigator.wakeLock?.request("screen").catch(() => null)) ?? null;
		if (signal.aborted) lock?.release();
	}
	document.addEventListener("visibilitychange", take, { signal });
	signal.addEventListener("abort", () => lock?.release());
	take();
}
