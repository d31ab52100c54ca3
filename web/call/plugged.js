// Tells which devices are plugged in, with a button that uses them, and which loudspeaker is gone. Loaded when that
// happens for the first time.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { browser_storage } from "../lib/storage.js";
import { KEPT } from "./choose.js";
import { named_devices, short } from "./troubles.js";
import { words } from "./words.js";

// Milliseconds: a headset comes as several devices, one after the other.
const GATHER = 700;
// Names that browsers give to the device that the system has chosen, beside its own.
const ALIASES = ["default", "communications", ""];
/** @type {Partial<Record<MediaDeviceKind, "audio" | "video">>} */
const KIND = { audioinput: "audio", videoinput: "video" };
const SYMBOLS = { audioinput: "mic", audiooutput: "headset", videoinput: "camera" };

/**
 * @param {{ note: import("./notes.js").Notes, 
 *   complain: (kind: "audio" | "video", error: unknown) => void, kinds: () => string[],
 *   link: () => import("./media.js").Connection | null, signal: AbortSignal }} call as in troubles.js
 * @param {MediaDeviceInfo[]} known the devices before @param {string | undefined} used_speaker the loudspeaker before
 */
export function watch_devices({ note, complain, kinds, link, signal }, known, used_speaker) {
	/** @param {MediaDeviceInfo[]} devices of one thing, as a headset */
	async function use(devices) {
		for (const { kind, deviceId } of devices) {
			try {
				await link()?.switch_to(kind, deviceId);
				browser_storage.set(KEPT[kind] ?? "", deviceId);
			} catch (error) {
				const own = KIND[kind];
				if (own) complain(own, error);
				else note.warn(words.not_now, kind);
			}
		}
	}
	/** Tells what was plugged in, with a button that uses it. @param {MediaDeviceInfo[]} devices */
	function plugged(devices) {
		const idle = devices.filter(({ kind, deviceId }) => link()?.active(kind) !== deviceId);
		const [first] = idle;
		if (!first) return;
		const act = { text: words.use_it, do: () => use(idle) };
		const symbol = devices.length > 1 ? "headset" : SYMBOLS[first.kind];
		note.say(words.plugged(short(first.label)), { key: `plugged ${first.groupId}`, symbol, act });
	}
	/** @param {MediaDeviceInfo[]} gone @param {MediaDeviceInfo[]} now */
	function pulled(gone, now) {
		for (const { groupId } of gone) note.drop(`plugged ${groupId}`);
		const speaker = gone.find(({ kind, deviceId }) => kind === "audiooutput" && deviceId === used_speaker);
		// For a headset, the note about its microphone is enough.
		if (!speaker || gone.some(({ kind, groupId }) => kind === "audioinput" && groupId === speaker.groupId)) return;
		const id = link()?.active("audiooutput");
		const next = now.find((one) => one.kind === "audiooutput" && one.deviceId === id) ?? now.find((one) => one.kind === "audiooutput");
		if (next) note.warn(words.fell_back(words.what.speaker, short(next.label)), "speaker");
	}

	const is_own = (/** @type {MediaDeviceInfo} */ { kind, deviceId }) =>
		!ALIASES.includes(deviceId) && (kind === "audiooutput" ? "setSinkId" in HTMLMediaElement.prototype : kinds().includes(KIND[kind] ?? ""));
	async function compare() {
		const now = await named_devices();
		if (signal.aborted) return;
		const lacks = (/** @type {MediaDeviceInfo[]} */ all, /** @type {MediaDeviceInfo} */ one) =>
			!all.some((other) => other.kind === one.kind && other.deviceId === one.deviceId);
		const gone = known.filter((one) => lacks(now, one));
		// Names are told only after a device was used: then all of them are new.
		const come = known.length === 0 ? [] : now.filter((one) => is_own(one) && lacks(known, one));
		known = now;
		const thing = (/** @type {MediaDeviceInfo} */ one) => one.groupId || one.deviceId;
		for (const one of new Set(come.map(thing))) plugged(come.filter((other) => thing(other) === one));
		pulled(gone, now);
	}
	/** @type {ReturnType<typeof setTimeout> | undefined} */
	let timer;
	function later() {
		clearTimeout(timer);
		timer = setTimeout(() => {
			timer = undefined;
			compare();
		}, GATHER);
	}
	navigator.mediaDevices.addEventListener(
		"devicechange",
		() => {
			// A moment later the library has taken another one in its place.
			if (!timer) used_speaker = link()?.active("audiooutput");
			later();
		},
		{ signal },
	);
	signal.addEventListener("abort", () => clearTimeout(timer));
	later();
}
