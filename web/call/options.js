// The publishParams of a role, in the terms of livekit-client.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { density } from "./budget.js";
import { chosen_device } from "./device.js";
import { STAYS } from "./room.js";

const KBIT = 1000;

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
		...STAYS,
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

/** @param {any} publish the role's publishParams */
export const screen_options = ({ screen: { width, height, frameRate } }) => ({
	audio: true,
	contentHint: "detail",
	resolution: { width, height, frameRate },
	selfBrowserSurface: "exclude",
	surfaceSwitching: "include",
	systemAudio: "include",
});
