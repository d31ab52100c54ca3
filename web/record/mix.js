// The sound of a recording: all who are heard, mixed.
//
// SPDX-License-Identifier: GPL-3.0-or-later

const RATE = 48000;
// Of the tone of a test: its pitch in Hz, and how loud it is.
const PITCH = 440;
const LOUD = 0.2;

/** Returns the mix, of nobody yet. @param {(text: string) => void} failed */
export function mix(failed) {
	const context = new AudioContext({ sampleRate: RATE, latencyHint: "interactive" });
	context.addEventListener("error", () => failed("the sound cannot be mixed any more"));
	const out = context.createMediaStreamDestination();
	const constant = context.createConstantSource();
	const level = context.createGain();
	// Without something that always plays, silence would have no packets.
	level.gain.value = 0;
	constant.connect(level).connect(out);
	constant.start();
	/** @type {Map<MediaStreamTrack, MediaStreamAudioSourceNode>} */
	const sources = new Map();
	return {
		/** @type {MediaStreamTrack} */
		track: /** @type {MediaStreamTrack} */ (out.stream.getAudioTracks()[0]),
		/** Returns once it plays. */
		begin: () => context.resume(),
		/** Mixes these tracks, and no others. @param {Set<MediaStreamTrack>} tracks */
		hear(tracks) {
			for (const [track, source] of sources) {
				if (tracks.has(track)) continue;
				source.disconnect();
				sources.delete(track);
			}
			for (const track of tracks) {
				if (sources.has(track)) continue;
				const source = context.createMediaStreamSource(new MediaStream([track]));
				source.connect(out);
				sources.set(track, source);
			}
		},
		/** Plays the tone of a test. */
		test() {
			const tone = context.createOscillator();
			const loud = context.createGain();
			tone.frequency.value = PITCH;
			loud.gain.value = LOUD;
			tone.connect(loud).connect(out);
			tone.start();
		},
	};
}
