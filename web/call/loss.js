// Reads how many packets of the received videos are lost, for roles that have subscribeDegradation.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { loss_watch } from "./quality.js";

// Milliseconds between two readings.
const EVERY = 1000;

/** Returns true if packets of the publication should arrive. @param {any} publication */
const is_awaited = ({ kind, track, isMuted }) =>
	kind === "video" && track?.receiver && !isMuted && track.streamState !== "paused" && track.attachedElements.length > 0;

/** Returns the packets of a video until now. @param {any} track */
async function packets_of(track) {
	const sum = { lost: 0, received: 0 };
	const report = await track.receiver.getStats().catch(() => null);
	for (const { type, packetsLost = 0, packetsReceived = 0 } of report?.values() ?? []) {
		if (type !== "inbound-rtp") continue;
		sum.lost += packetsLost;
		sum.received += packetsReceived;
	}
	return sum;
}

/**
 * Calls `step` with 1 if a step is to be given up, with -1 if one can be taken back, and with -Infinity for all.
 * @param {any} room @param {() => any} params the subscribeDegradation in force, if any
 * @param {(by: number) => void} step @param {AbortSignal} signal ends it
 */
export function watch_loss(room, params, step, signal) {
	/** @type {any} */
	let known = null;
	let watch = loss_watch({ packetLossThreshold: 100, degradeGracePeriodSeconds: 1, recoverGracePeriodSeconds: 1 });
	/** @type {Map<any, { lost: number, received: number }>} */
	let before = new Map();
	let then = 0;
	async function read() {
		const now_known = params();
		if (JSON.stringify(now_known) !== JSON.stringify(known)) {
			known = now_known;
			if (known) watch = loss_watch(known);
			before = new Map();
			step(-Infinity);
		}
		if (!known) return;
		const tracks = [...room.remoteParticipants.values()]
			.flatMap((/** @type {any} */ one) => [...one.trackPublications.values()])
			.filter(is_awaited)
			.map((one) => one.track);
		const now = new Map(await Promise.all(tracks.map(async (one) => /** @type {const} */ ([one, await packets_of(one)]))));
		const at = performance.now();
		let lost = 0;
		let received = 0;
		// Of a video that was paused meanwhile, nothing is known.
		for (const [track, { lost: all_lost, received: all }] of now) {
			const old = before.get(track);
			if (!old || all < old.received) continue;
			lost += all_lost - old.lost;
			received += all - old.received;
		}
		const by = then > 0 && !signal.aborted ? watch(then, at, lost, received, tracks.length === 0) : 0;
		before = now;
		then = at;
		if (by !== 0) step(by);
	}
	if (signal.aborted) return;
	const timer = setInterval(read, EVERY);
	signal.addEventListener("abort", () => clearInterval(timer));
}
