// Notices that nothing arrives: no media from anybody, and no other packet. livekit-client itself takes about 20
// seconds to notice a lost connection.
//
// SPDX-License-Identifier: GPL-3.0-or-later

// The library renews the bit rate of a track every 2 seconds. Two readings of 0 are 4 seconds without a byte.
const EVERY = 2000;
const READINGS = 2;

/** Returns true if media of the publication should arrive now. @param {any} publication */
const should_flow = ({ track, isMuted, isEnabled }) =>
	track &&
	!isMuted &&
	track.streamState !== "paused" &&
	(track.kind === "audio" || (isEnabled && track.attachedElements.length > 0 && !document.hidden));

/**
 * Returns how much the connection has received, media or not, as far as the browser tells: with nobody's media, the
 * server still answers checks and reports. 0 if nothing is known.
 * @param {any[]} ends senders and receivers
 */
async function received(ends) {
	const reports = await Promise.all(ends.map((one) => one?.getStats?.().catch(() => null)));
	let sum = 0;
	for (const report of reports) {
		for (const { type, packetsReceived = 0, responsesReceived = 0, bytesReceived = 0 } of report?.values() ?? []) {
			if (type === "transport" || type === "candidate-pair") sum += packetsReceived + responsesReceived + bytesReceived;
		}
	}
	return sum;
}

/**
 * Calls `standing` when media stops, and when it flows again.
 * @param {any} room @param {(stands: boolean) => void} standing @param {AbortSignal} signal ends it
 */
export function watch_flow(room, standing, signal) {
	// Only tracks that had a bit rate before can stop.
	const flowed = new WeakSet();
	let empty = 0;
	let heard = 0;
	let stands = false;
	const own = () => [...room.localParticipant.trackPublications.values()].find((one) => one.track)?.track;
	function tell(/** @type {boolean} */ now) {
		if (now !== stands) standing(now);
		stands = now;
	}
	async function read() {
		const tracks = [...room.remoteParticipants.values()]
			.flatMap((one) => [...one.trackPublications.values()])
			.filter(should_flow)
			.map((one) => one.track);
		const flowing = tracks.filter((track) => track.currentBitrate > 0);
		for (const track of flowing) flowed.add(track);
		const has_stopped = flowing.length === 0 && tracks.some((track) => flowed.has(track));
		// Those who send may have stopped, or the connection is lost.
		const before = heard;
		heard = has_stopped ? await received([tracks[0].receiver, own()?.sender]) : 0;
		if (signal.aborted) return;
		const is_alive = before > 0 && heard > before;
		empty = !has_stopped ? 0 : is_alive ? 1 : empty + 1;
		if (flowing.length > 0 || tracks.length === 0 || is_alive) tell(!navigator.onLine);
		else if (empty >= READINGS) tell(true);
	}
	const timer = setInterval(read, EVERY);
	addEventListener("offline", () => tell(true), { signal });
	signal.addEventListener("abort", () => clearInterval(timer));
}
