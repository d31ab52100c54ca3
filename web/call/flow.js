// Notices that no media arrives from anybody. livekit-client itself takes about 20 seconds to notice a lost
// connection.
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
 * Calls `standing` when media stops, and when it flows again.
 * @param {any} room @param {(stands: boolean) => void} standing @param {AbortSignal} signal ends it
 */
export function watch_flow(room, standing, signal) {
	// Only tracks that had a bit rate before can stop.
	const flowed = new WeakSet();
	let empty = 0;
	let stands = false;
	function tell(/** @type {boolean} */ now) {
		if (now !== stands) standing(now);
		stands = now;
	}
	function read() {
		const tracks = [...room.remoteParticipants.values()]
			.flatMap((one) => [...one.trackPublications.values()])
			.filter(should_flow)
			.map((one) => one.track);
		const flowing = tracks.filter((track) => track.currentBitrate > 0);
		for (const track of flowing) flowed.add(track);
		const has_stopped = flowing.length === 0 && tracks.some((track) => flowed.has(track));
		empty = has_stopped ? empty + 1 : 0;
		if (flowing.length > 0 || tracks.length === 0) tell(!navigator.onLine);
		else if (empty >= READINGS) tell(true);
	}
	const timer = setInterval(read, EVERY);
	addEventListener("offline", () => tell(true), { signal });
	signal.addEventListener("abort", () => clearInterval(timer));
}
