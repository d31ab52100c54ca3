// Keeps a page up to date by short requests, only while it is visible.
//
// SPDX-License-Identifier: GPL-3.0-or-later

/** Milliseconds between two requests: with the time that a change takes to be recorded, it is shown within 2 s. */
const EVERY = 1500;
const LONGEST = 30000;

/**
 * Runs an action again and again while the page is visible, and at once when it becomes visible again. An
 * action that takes long runs less often, as does one that fails.
 * @param {() => Promise<any>} action @param {AbortSignal} signal ends it
 * @param {(error: unknown) => void} [failed] called each time the action throws
 */
export function poll(action, signal, failed = () => {}) {
	/** @type {ReturnType<typeof setTimeout> | undefined} */
	let timer;
	let running = false;
	let failures = 0;
	async function run() {
		clearTimeout(timer);
		if (running || signal.aborted || document.visibilityState !== "visible") return;
		running = true;
		const start = performance.now();
		try {
			await action();
			failures = 0;
		} catch (error) {
			if (signal.aborted) return;
			failures += 1;
			failed(error);
		} finally {
			running = false;
		}
		const took = performance.now() - start;
		wait(Math.min(LONGEST, Math.max(EVERY, 2 * took) * 2 ** failures));
	}
	/** @param {number} time */
	function wait(time) {
		clearTimeout(timer);
		if (!signal.aborted) timer = setTimeout(run, time);
	}
	document.addEventListener("visibilitychange", run, { signal });
	signal.addEventListener("abort", () => clearTimeout(timer));
	wait(EVERY);
}
