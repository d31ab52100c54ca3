// What a phone or a computer should receive.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { phone } from "./device.js";

// kbit/s of all videos together.
const MOST_PHONE = 3000;
const MOST = 12000;
// The maxSubsBitRate that every role has unless it says something else; it counts as not set, as 0 does.
const USUAL = 3200;
// Frames per second of a video that has fewer, and of others: more than any sends.
export const SLOW_FPS = 8;
export const ALL_FPS = 60;

/** Device pixels per CSS pixel that a video is worth. */
export const density = () => (phone() ? 1 : Math.min(devicePixelRatio, 2));

/** kbit/s that all videos may take. */
export const most = () => (phone() ? MOST_PHONE : MOST);

/** Returns the kbit/s that a role asks for at most. @param {any} subscribe its subscribeParams */
export const asked_of = (subscribe) => {
	const rate = subscribe?.maxSubsBitRate ?? 0;
	return rate === 0 || rate === USUAL ? Infinity : rate;
};
