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
	/** The one that runs, or ran last; each makes a file of its own, which begins with a key frame. @type {MediaRecorder | null} */
	let media = null;
	let n = 0;
	/** Milliseconds that the last one recorded, and since when the one that runs does. */
	let before = 0;
	let since = NaN;
	const recorded = () => Math.round(before + (performance.now() - since || 0));
	/** The chunks are sent one after another. */
	let sending = Promise.resolve();
	function make() {
		const made = new MediaRecorder(stream, options);
		[n, before, since] = [0, 0, NaN];
		made.ondataavailable = ({ data }) => {
			if (data.size === 0) return;
			const chunk = { n: n++, at: Date.now(), media_ms: recorded() };
			sending = sending.then(async () => on.chunk({ ...chunk, data: await base64(data) })).catch((error) => on.failed(String(error)));
		};
		made.onerror = (event) => on.failed(String(/** @type {any} */ (event).error ?? "MediaRecorder failed"));
		return made;
	}
	const happens = (/** @type {MediaRecorder} */ one, /** @type {string} */ name) => new Promise((done) => one.addEventListener(name, done, { once: true }));
	/** Ends the file; returns once what was recorded has been sent. */
	async function end() {
		if (media?.state === "recording") {
			const ends = happens(media, "stop");
			media.stop();
			before = recorded();
			since = NaN;
			await ends;
		}
		await sending;
	}
	return {
		/** Records from now on, or again: then into another file, whose first chunk is number 0. */
		async run() {
			if (media?.state === "recording") return;
			media = make();
			const runs = happens(media, "start");
			media.start(CHUNK);
			await runs;
			since = performance.now();
		},
		pause: end,
		/** Ends; returns the number of chunks of the last file once all have been sent. */
		async stop() {
			await end();
			return n;
		},
	};
}
