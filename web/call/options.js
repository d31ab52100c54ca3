// The publishParams of a role, in the terms of livekit-client.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { density } from "./budget.js";
import { chosen_device } from "./device.js";

const KBIT = 1000;
// Milliseconds before each attempt to connect again: five minutes. The library alone gives up after 44 seconds.
const RETRIES = [0, 300, 1200, 2700, 4800, ...Array.from({ length: 42 }, () => 7000)];

/** @typedef {{ scaleResolutionDownBy?: number, maxBitrate?: number, maxFramerate?: number }} Layer */

/** @param {any} lk livekit-client @param {any} publish the role's publishParams */
export function options_of(lk, { audio, video, screen, simulcast }) {
	/** @type {Layer[]} */
	const [top, ...lower] = simulcast?.video?.layers ?? [];
	const preset = (/** @type {Layer} */ { scaleResolutionDownBy: scale = 1, maxBitrate, maxFramerate }) =>
		new lk.VideoPreset(
			Math.round(video.width / scale),
			Math.round(video.height / scale),
			(maxBitrate || video.bitRate / scale) * KBIT,
			maxFramerate || video.frameRate,
		);
	return {
		// Each element requests the layer of its size, and none while it is out of sight.
		adaptiveStream: { pixelDensity: density() },
		dynacast: true,
		// The library would leave at "beforeunload", even if people then choose to stay.
		disconnectOnPageLeave: false,
		reconnectPolicy: {
			nextRetryDelayInMs: (/** @type {{ retryCount: number }} */ { retryCount }) => RETRIES[retryCount] ?? null,
		},
		videoCaptureDefaults: {
			resolution: { width: video.width, height: video.height, frameRate: video.frameRate },
			...chosen_device("camera"),
		},
		audioCaptureDefaults: {
			echoCancellation: true,
			noiseSuppression: true,
			autoGainControl: true,
			...chosen_device("microphone"),
		},
		publishDefaults: {
			videoCodec: "vp8",
			simulcast: lower.length > 0,
			videoEncoding: {
				maxBitrate: (top?.maxBitrate || video.bitRate) * KBIT,
				maxFramerate: Math.min(top?.maxFramerate || video.frameRate, video.frameRate),
			},
			// The library expects the smallest layer first.
			videoSimulcastLayers: lower.map(preset).reverse(),
			screenShareEncoding: { maxBitrate: screen.bitRate * KBIT, maxFramerate: screen.frameRate },
			screenShareSimulcastLayers: [],
			audioPreset: { maxBitrate: audio.bitRate * KBIT },
			dtx: true,
			// Redundant audio would double its bit rate.
			red: false,
		},
	};
}

// The highest bit rate of the API, in kbit/s.
const HIGHEST = 2000;

/**
 * Returns the most that a camera of a role sends, in kbit/s, or one of its layers.
 * @param {any} publish the role's publishParams, if they are known @param {number} [height] of the layer
 */
export function most_of(publish, height = Infinity) {
	if (!publish) return HIGHEST;
	const { video, simulcast } = publish;
	/** @type {Layer[]} */
	const layers = simulcast?.video?.layers ?? [{}];
	const scale_of = (/** @type {Layer} */ { scaleResolutionDownBy = 1 }) => scaleResolutionDownBy;
	// The largest comes first. Pixels are rounded.
	const layer = layers.findLast((one) => video.height / scale_of(one) >= height - 2) ?? layers[0];
	return layer ? layer.maxBitrate || video.bitRate / scale_of(layer) : HIGHEST;
}

/** Returns the most that a shared screen of a role sends, in kbit/s. @param {any} publish as above */
export const most_of_screen = (publish) => publish?.screen.bitRate ?? HIGHEST;

/** @param {any} publish the role's publishParams */
export const screen_options = ({ screen: { width, height, frameRate } }) => ({
	audio: true,
	contentHint: "detail",
	resolution: { width, height, frameRate },
	selfBrowserSurface: "exclude",
	surfaceSwitching: "include",
	systemAudio: "include",
});
