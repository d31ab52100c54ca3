// Makes chunks of a picture and a sound, and counts them.
//
// SPDX-License-Identifier: GPL-3.0-or-later

// Milliseconds of a chunk, and between two key frames.
const CHUNK = 1000;
const KEY = 2000;
const KBIT = 1000;
// The frames per second that Chromium's encoder assumes of a picture that does not state its own: it spends so much of
// the bit rate on each frame.
const ASSUMED = 60;
const VIDEO = "video/x-matroska;codecs=avc1,opus";
const AUDIO = ["audio/x-matroska;codecs=opus", "audio/webm;codecs=opus"];

/** Returns the base64 of a chunk. @param {Blob} blob @returns {Promise<string>} */
const base64 = (blob) =>
	new Promise((done, failed) => {
		const reader = new FileReader();
		// The type in the address has a comma too.
		reader.onload = () => done(String(reader.result).slice(String(reader.result).lastIndexOf(",") + 1));
		reader.onerror = () => failed(reader.error);
		reader.readAsDataURL(blob);
	});

/**
 * Returns what records; throws if this browser cannot.
 * @param {import("./cast.js").Look} look @param {MediaStream} stream
 * @param {{ chunk: (chunk: { n: number, at: number, media_ms: number, data: string }) => void, failed: (text: string) => void }} on
 */
export function recorder({ fps, video_kbps, audio_kbps, audio_only = false }, stream, on) {
	const type = (audio_only ? AUDIO : [VIDEO]).find((one) => MediaRecorder.isTypeSupported(one));
	if (!type) throw new Error(`this browser does not make ${audio_only ? "Opus" : "H.264"}`);
	/** @type {MediaRecorderOptions & { videoKeyFrameIntervalDuration: number }} */
	const options = {
		mimeType: type,
		audioBitsPerSecond: audio_kbps * KBIT,
		...(!audio_only && { videoBitsPerSecond: Math.round((video_kbps * KBIT * ASSUMED) / fps) }),
		videoKeyFrameIntervalDuration: KEY,
	};
	const media = new MediaRecorder(stream, options);
	let n = 0;
	/** Milliseconds that were recorded until it last stood still, and since when it runs. */
	let before = 0;
	let since = NaN;
	const recorded = () => Math.round(before + (performance.now() - since || 0));
	/** The chunks are sent one after another. */
	let sending = Promise.resolve();
	media.ondataavailable = ({ data }) => {
		if (data.size === 0) return;
		const chunk = { n: n++, at: Date.now(), media_ms: recorded() };
		sending = sending.then(async () => on.chunk({ ...chunk, data: await base64(data) })).catch((error) => on.failed(String(error)));
	};
	media.onerror = (event) => on.failed(String(/** @type {any} */ (event).error ?? "MediaRecorder failed"));
	function stand() {
		before = recorded();
		since = NaN;
	}
	const event = (/** @type {string} */ name) => new Promise((done) => media.addEventListener(name, done, { once: true }));
	return {
		/** Records from now on, or again. */
		async run() {
			if (media.state === "recording") return;
			const runs = event(media.state === "paused" ? "resume" : "start");
			if (media.state === "paused") media.resume();
			else media.start(CHUNK);
			await runs;
			since = performance.now();
		},
		/** Stands still; returns once what was recorded has been sent. */
		async pause() {
			if (media.state === "recording") {
				const [stands, rest] = [event("pause"), event("dataavailable")];
				media.pause();
				stand();
				media.requestData();
				await Promise.all([stands, rest]);
			}
			await sending;
		},
		/** Ends; returns the number of chunks once all have been sent. */
		async stop() {
			if (media.state !== "inactive") {
				const ends = event("stop");
				media.stop();
				stand();
				await ends;
			}
			await sending;
			return n;
		},
	};
}
