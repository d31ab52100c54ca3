// What a role sends, as encodings of a sender that is sending already. Arithmetic alone.
//
// SPDX-License-Identifier: GPL-3.0-or-later

/** @typedef {{ width?: number | undefined, height?: number | undefined }} Size */
/** @typedef {{ maxBitrate: number, maxFramerate?: number, scaleResolutionDownBy?: number }} Encoding */
/** @typedef {{ scaleResolutionDownBy?: number, maxBitrate?: number, maxFramerate?: number }} Layer */

const KBIT = 1000;

/** Returns by how much what is captured is larger than the role says. @param {Size} captured @param {Size} wanted */
function excess({ width = 0, height = 0 }, { width: w = 1, height: h = 1 }) {
	return Math.max(1, Math.min(width, height) / Math.min(w, h));
}

/**
 * Returns the layer of the role for one of `n` that are sent. Where there are fewer than the role has, the library has
 * left out those between the largest and the smallest.
 * @param {Layer[]} layers the largest first @param {number} n @param {number} i 0 for the largest @returns {Layer}
 */
function layer_of(layers, n, i) {
	const last = i === n - 1 && n > 1 && layers.length > 1 ? layers.at(-1) : undefined;
	return (n < layers.length ? last : undefined) ?? layers[i] ?? { scaleResolutionDownBy: 2 ** i };
}

/**
 * Returns the encodings of a camera of which `n` layers are sent, the smallest first.
 * @param {any} publish the role's publishParams @param {number} n @param {Size} captured @returns {Encoding[]}
 */
export function camera_encodings({ video, simulcast }, n, captured) {
	/** @type {Layer[]} */
	const layers = simulcast?.video?.layers?.length ? simulcast.video.layers : [{}];
	return Array.from({ length: n }, (_, i) => {
		const { scaleResolutionDownBy: scale = 1, maxBitrate, maxFramerate } = layer_of(layers, n, i);
		return {
			maxBitrate: Math.round((maxBitrate || video.bitRate / scale) * KBIT),
			maxFramerate: Math.min(maxFramerate || video.frameRate, video.frameRate),
			scaleResolutionDownBy: scale * excess(captured, video),
		};
	}).reverse();
}

/** Returns the encoding of a shared screen. @param {any} publish @param {number} n @param {Size} captured @returns {Encoding[]} */
export const screen_encodings = ({ screen }, n, captured) =>
	Array.from({ length: n }, () => ({
		maxBitrate: screen.bitRate * KBIT,
		maxFramerate: screen.frameRate,
		scaleResolutionDownBy: excess(captured, screen),
	}));

/** Returns the encoding of a microphone. @param {any} publish @returns {Encoding[]} */
export const audio_encodings = ({ audio }) => [{ maxBitrate: audio.bitRate * KBIT }];
