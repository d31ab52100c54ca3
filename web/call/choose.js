// The menu of devices at a control.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { browser_storage } from "../lib/storage.js";
import { menu } from "./menu.js";
import { words } from "./words.js";

/** @typedef {"audio" | "video"} Which */

/** The kinds of devices that a control offers. @type {Record<Which, [MediaDeviceKind, string][]>} */
const OFFERED = {
	audio: [
		["audioinput", words.microphone.label],
		["audiooutput", words.speaker],
	],
	video: [["videoinput", words.camera.label]],
};

/** Where the choice is kept, as on the join page. @type {Partial<Record<MediaDeviceKind, string>>} */
export const KEPT = { audioinput: "microphone", audiooutput: "speaker", videoinput: "camera" };

/** Returns the entries of a menu. @param {Which} which @param {import("./media.js").Connection} link @param {(error: unknown) => void} failed */
async function entries_of(which, link, failed) {
	const devices = (await navigator.mediaDevices?.enumerateDevices().catch(() => [])) ?? [];
	const can_choose = (/** @type {MediaDeviceKind} */ kind) =>
		kind !== "audiooutput" || "setSinkId" in HTMLMediaElement.prototype;
	return OFFERED[which].flatMap(([kind, title]) => {
		const found = devices.filter((one) => one.kind === kind && one.deviceId !== "" && can_choose(kind));
		const used = link.active(kind) ?? "default";
		const take = async (/** @type {string} */ id) => {
			try {
				await link.switch_to(kind, id);
				const name = KEPT[kind];
				if (name) browser_storage.set(name, id);
			} catch (error) {
				failed(error);
			}
		};
		const choices = found.map((one) => ({
			text: one.label || title,
			chosen: one.deviceId === used,
			act: () => take(one.deviceId),
		}));
		return choices.length > 0 ? [{ title }, ...choices] : [];
	});
}

/** Returns the entries of several menus. @param {Which[]} all @param {import("./media.js").Connection | null} link @param {(which: Which, error: unknown) => void} failed */
export const device_entries = async (all, link, failed) =>
	(await Promise.all(all.map((which) => (link ? entries_of(which, link, (error) => failed(which, error)) : [])))).flat();

/** Opens the menu at its button. @param {HTMLElement} button @param {Which} which @param {import("./media.js").Connection} link @param {(error: unknown) => void} failed */
export async function choose_device(button, which, link, failed) {
	const entries = await entries_of(which, link, failed);
	if (entries.length === 0) return;
	const box = menu(button, entries);
	// A device that is plugged in or out is in the menu at once.
	const again = () => box.isConnected && choose_device(button, which, link, failed);
	navigator.mediaDevices.addEventListener("devicechange", again, { once: true });
}
