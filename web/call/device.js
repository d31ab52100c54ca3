// What the call needs to know about the device that it runs on, and what the person chose on it.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { state_of } from "../join/devices.js";
import { browser_storage } from "../lib/storage.js";

/** Returns true on a phone: touch, and a screen whose shorter side is below 600 pixels. */
export const phone = () =>
	matchMedia("(pointer: coarse)").matches && Math.min(screen.width, screen.height) < 600;

/** Constraints for the device that was chosen here or on the join page. @param {"camera" | "microphone"} what */
export function chosen_device(what) {
	const id = browser_storage.get(what);
	return id ? { deviceId: { ideal: id } } : {};
}

/** The loudspeaker that was chosen here, as livekit-client wants it. */
export function chosen_speaker() {
	const deviceId = browser_storage.get("speaker");
	return deviceId ? { audioOutput: { deviceId } } : {};
}

/** @typedef {"denied" | "missing" | "busy" | "failed" | "insecure"} Trouble */

/** Returns why a device could not be used. @param {unknown} error @returns {Trouble} */
export const trouble_of = (error) => (isSecureContext ? state_of(error) : "insecure");
