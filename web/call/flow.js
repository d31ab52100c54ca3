// Notices that nothing arrives: no media from anybody, and no other packet; and that the device is in another network.
// The connection is then made again: livekit-client itself takes about 20 seconds to notice that it is lost.
//
// SPDX-License-Identifier: GPL-3.0-or-later

// Milliseconds between two readings, and readings without a byte until it is told: 4 seconds. The checks of a
// connection are answered more often, and the library renews the bit rate of a track every 2 seconds.
const EVERY = 1000;
const READINGS = 4;
// Readings without a byte until the connection is made again, and between two attempts.
const RESUME = 3;
const AGAIN = 10;
// Milliseconds between two readings after which the device has slept: then one reading is enough.
const SLEPT = 10000;

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
 * Calls `standing` when media stops, and when it flows again. Returns what tells for how many milliseconds nothing has
 * arrived.
 * @param {any} room @param {(stands: boolean) => void} standing @param {AbortSignal} signal ends it @returns {() => number}
 */
export function watch_flow(room, standing, signal) {
	// Where the browser does not tell, only tracks that had a bit rate before can stop.
	const flowed = new WeakSet();
	const own = () => [...room.localParticipant.trackPublications.values()].find((one) => one.track)?.track;
	let before = 0;
	let empty = 0;
	let stands = false;
	function tell(/** @type {boolean} */ now) {
		if (now !== stands) standing(now);
		stands = now;
	}
	/** Returns true if something arrived since the last reading. @param {any[]} tracks */
	async function arrives(tracks) {
		const now = await received([tracks[0].receiver, own()?.sender]);
		const has_grown = now !== before;
		before = now;
		if (now > 0) return has_grown;
		const flowing = tracks.filter((track) => track.currentBitrate > 0);
		for (const track of flowing) flowed.add(track);
		return flowing.length > 0 || !tracks.some((track) => flowed.has(track));
	}
	// This is what the library does when it has noticed by itself.
	const resume = () => room.state === "connected" && room.simulateScenario("signal-reconnect").catch(() => {});
	let last = Date.now();
	async function read() {
		const now = Date.now();
		if (now - last > SLEPT) empty = Math.max(empty, RESUME - 1);
		last = now;
		const tracks = [...room.remoteParticipants.values()]
			.flatMap((one) => [...one.trackPublications.values()])
			.filter(should_flow)
			.map((one) => one.track);
		const is_fine = tracks.length === 0 || (await arrives(tracks));
		if (signal.aborted) return;
		empty = is_fine ? 0 : empty + 1;
		if (is_fine) tell(!navigator.onLine);
		else if (empty >= READINGS) tell(true);
		if (empty >= RESUME && (empty - RESUME) % AGAIN === 0) resume();
	}
	const timer = setInterval(read, EVERY);
	addEventListener("offline", () => tell(true), { signal });
	const network = /** @type {any} */ (navigator).connection;
	let type = network?.type;
	network?.addEventListener(
		"change",
		() => {
			// Its speed changes all the time.
			if (network.type === type) return;
			type = network.type;
			if (type !== "none") resume();
		},
		{ signal },
	);
	signal.addEventListener("abort", () => clearInterval(timer));
	return () => empty * EVERY;
}
