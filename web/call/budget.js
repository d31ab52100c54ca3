// What a phone or a computer should receive.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { phone } from "./device.js";

// kbit/s of all videos together.
const MOST_PHONE = 3000;
const MOST = 12000;
// The maxSubsBitRate that every role has unless it says something else; it counts as not set, as 0 does.
const USUAL = 3200;
// Pixels that a tile is wide at least, on windows whose shorter side is below 600 pixels and on others.
const LEAST_SMALL = 104;
const LEAST = 72;
const SMALL_WINDOW = 600;

/** Device pixels per CSS pixel that a video is worth. */
export const density = () => (phone() ? 1 : Math.min(devicePixelRatio, 2));

/** kbit/s that all videos may take. */
export const most = () => (phone() ? MOST_PHONE : MOST);

/** Pixels that a tile is wide at least, beyond which the stage scrolls. */
export const least = () => (Math.min(innerWidth, innerHeight) < SMALL_WINDOW ? LEAST_SMALL : LEAST);

/** Returns the kbit/s that a role asks for at most. @param {any} subscribe its subscribeParams */
export const asked_of = (subscribe) => {
	const rate = subscribe?.maxSubsBitRate ?? 0;
	return rate === 0 || rate === USUAL ? Infinity : rate;
};
