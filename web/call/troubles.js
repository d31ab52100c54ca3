// What is told of your own devices: what cannot be used and why, what is gone, and what another program has taken.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { trouble_of } from "./device.js";
import { words } from "./words.js";

/** A device of your own, by what it sends. @typedef {"audio" | "video"} Device */
/** @typedef {Partial<Record<Device, string | undefined>>} Causes */

export const DEVICES = /** @type {Device[]} */ (["audio", "video"]);
// The states of the preview that are problems with a device.
export const TROUBLES = ["denied", "missing", "busy", "failed", "insecure"];

/** Returns the devices whose names the browser tells, as it does after one was used. */
export const named_devices = async () =>
	(await navigator.mediaDevices.enumerateDevices().catch(() => [])).filter((one) => one.label !== "");

/** Returns a device's name without the number of its maker. @param {string} label */
export const short = (label) => label.replace(/ \([0-9a-f]{4}:[0-9a-f]{4}\)$/i, "");

/**
 * @param {{ note: import("./notes.js").Notes, view: import("./weak.js").View, causes: Causes, kinds: () => string[],
 *   link: () => import("./media.js").Connection | null, signal: AbortSignal }} call `causes` says why a device is off;
 *   `kinds` is what can be published; `view` can show fewer videos
 */
export function troubles({ note, view, causes, kinds, link, signal }) {
	/** @param {string} cause @param {Device | "both"} what */
	const tell = (cause, what) => note.warn(words.trouble[/** @type {import("./device.js").Trouble} */ (cause)](words.what[what]), what);

	/** @param {Device} kind @param {unknown} error */
	function complain(kind, error) {
		const cause = trouble_of(error);
		causes[kind] = cause;
		tell(cause, kind);
	}
	/** Begins to tell what is plugged in and out; loads what does it when something is. */
	async function watch() {
		const devices = navigator.mediaDevices;
		if (!devices) return;
		const before = await named_devices();
		const first = async () => {
			const speaker = link()?.active("audiooutput");
			const { watch_devices } = await import("./plugged.js");
			watch_devices({ note, complain, kinds, link, signal }, before, speaker);
		};
		devices.addEventListener("devicechange", () => first().catch(() => {}), { signal, once: true });
	}
	/** What follows a weak connection, once there was one. @type {Promise<(is_weak: boolean) => void> | undefined} */
	let weak;
	return {
		complain,
		/** Whether your own connection is weak now. @param {boolean} yes */
		weak(yes) {
			if (!yes && !weak) return;
			weak ??= import("./weak.js").then(({ weak_watch }) => weak_watch({ note, view, signal }));
			weak.then(
				(watch) => watch(yes),
				() => (weak = undefined),
			);
		},
		/** Tells which devices could not be used, both for the same reason in one sentence, and what is plugged in from now on. */
		begin() {
			watch();
			const [audio = "", video = ""] = DEVICES.map((kind) => (kinds().includes(kind) ? causes[kind] : undefined));
			if (TROUBLES.includes(audio) && audio === video) return tell(audio, "both");
			if (TROUBLES.includes(audio)) tell(audio, "audio");
			if (TROUBLES.includes(video)) tell(video, "video");
		},
		/** A device that was used is gone, and no other one was found. @param {Device} kind */
		unplugged(kind) {
			causes[kind] = "missing";
			note.warn(words.trouble.unplugged(words.what[kind]), kind);
		},
		/** A device that was used is gone, and another one took its place. @param {Device} kind @param {string} name */
		fell_back(kind, name) {
			delete causes[kind];
			note.warn(words.fell_back(words.what[kind], short(name)), kind);
		},
		/** Another program has taken a device, or gave it back. @param {Device} kind @param {boolean} yes */
		taken(kind, yes) {
			if (yes) note.say(words.taken[kind], { key: kind, symbol: "warning", bad: true, stay: true });
			else note.drop(kind);
		},
	};
}
