// Notices that somebody talks while muted. A copy of the microphone's track is heard here alone.
//
// SPDX-License-Identifier: GPL-3.0-or-later

// Milliseconds between two readings; the level that counts as talking; readings in a row until it is told; readings
// during which it is not told again.
const EVERY = 100;
const LOUD = 0.06;
const ENOUGH = 6;
const PAUSE = 100;

/** @param {() => void} talks */
export function muted_listener(talks) {
	/** @type {(() => void) | null} */
	let stop = null;

	/** @param {MediaStreamTrack} track */
	function start(track) {
		const copy = track.clone();
		copy.enabled = true;
		const context = new AudioContext();
		const analyser = context.createAnalyser();
		analyser.fftSize = 1024;
		context.createMediaStreamSource(new MediaStream([copy])).connect(analyser);
		const samples = new Float32Array(analyser.fftSize);
		let loud = 0;
		let pause = 0;
		const timer = setInterval(() => {
			analyser.getFloatTimeDomainData(samples);
			const level = Math.sqrt(samples.reduce((sum, one) => sum + one * one, 0) / samples.length);
			loud = level > LOUD ? loud + 1 : Math.max(0, loud - 1);
			pause = Math.max(0, pause - 1);
			if (loud < ENOUGH || pause > 0) return;
			loud = 0;
			pause = PAUSE;
			talks();
		}, EVERY);
		stop = () => {
			clearInterval(timer);
			copy.stop();
			context.close();
			stop = null;
		};
	}
	/** Listens to a muted microphone, or to none. @param {MediaStreamTrack | undefined} track */
	return function listen(track) {
		stop?.();
		if (track?.readyState === "live") start(track);
	};
}
