// For those who may: starts and stops a live stream, which anybody with its link watches, and an external stream, which
// goes where the template of the room says.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { Refusal } from "../lib/api.js";
import { recording_words } from "./recording_words.js";
import { refusal, status_of } from "./refused.js";

/** @typedef {"live" | "external"} Type */

const PERMISSION = /** @type {const} */ ({ live: "live", external: "stream" });
const KEY = "recording false";

/** Whether a start was refused because the template has several destinations. @param {unknown} error */
export const has_several = (error) => error instanceof Refusal && error.faults.some(({ pointer }) => pointer === "/destination");

/**
 * @param {{ room_id: string, request: (method: string, path: string) => Promise<{ data: any }>,
 *   ask: (texts: { title: string, help: string, start: string, not_agreed: string }) => Promise<boolean>,
 *   note: import("./notes.js").Notes, refresh: () => Promise<void>, shown: () => import("./recording.js").Recorded[],
 *   signal: AbortSignal }} page `ask` asks whether to start; `shown` is what runs
 */
export function streaming({ room_id, request, ask, note, refresh, shown, signal }) {
	const texts = recording_words.stream;
	/** What is said of a start that was refused, by the service's message. @type {Record<string, string>} */
	const REFUSALS = {
		"No recorder is installed": texts.none_installed,
		"No storage for recordings": texts.no_storage,
		"Not enough space for recordings": recording_words.no_space,
		"Too many recordings at once": recording_words.too_many,
		"Too many jobs": recording_words.too_many,
	};
	let is_busy = false;
	/** The types that you have stopped, so that nobody is told of a failure. @type {Set<string>} */
	const stopped = new Set();
	const running = (/** @type {Type} */ type) => shown().find((one) => one.type === type);

	/** Does one thing at a time. @param {() => Promise<unknown>} doing */
	async function act(doing) {
		if (is_busy) return;
		is_busy = true;
		try {
			await doing();
		} catch (error) {
			const message = error instanceof Refusal ? error.message : "";
			const status = status_of(error);
			const own_text = status === 429 ? texts.too_soon : has_several(error) ? recording_words.several : status === 400 ? texts.no_destination : REFUSALS[message];
			// One that runs already is on the mark as soon as the service is asked.
			if (message !== "A live stream is running" && !signal.aborted) note.warn(own_text ?? refusal(error, { 409: texts.failed, 503: texts.failed }), KEY);
		}
		await refresh().catch(() => {});
		is_busy = false;
	}
	/** @param {string} playback the URL of the playlist */
	async function copy_link(playback) {
		const key = /\/live\/([\w-]+)\//.exec(playback)?.[1] ?? "";
		await navigator.clipboard.writeText(`${location.origin}/watch/${key}`);
		note.say(texts.copied, { key: "stream link", symbol: "check" });
	}
	const copy = () =>
		act(async () => {
			const { data } = await request("GET", `live-streams?room_id=${room_id}`);
			const one = data.data.find((/** @type {any} */ some) => ["starting", "running"].includes(some.status));
			if (one?.playback?.url) await copy_link(one.playback.url);
		});
	/** @param {Type} type */
	async function ask_to_start(type) {
		if (!(await ask({ ...texts, ...texts[type] }))) return;
		stopped.delete(type);
		act(async () => {
			const { data } = await request("POST", `${type}-streams/room/${room_id}/start`);
			if (type === "live" && data.playback?.url) note.say(texts.share, { key: "stream link", symbol: "link", act: { text: texts.copy, do: () => act(() => copy_link(data.playback.url)) } });
		});
	}
	const stop = (/** @type {Type} */ type) =>
		act(() => {
			stopped.add(type);
			return request("POST", `${type}-streams/room/${room_id}/stop`);
		});
	/** @param {Type} type @returns {import("./menu.js").Entries} */
	const entries_of = (type) =>
		running(type)
			? [type === "live" && { icon: "link", text: texts.copy, act: copy }, { icon: "stop", text: texts[type].stop, act: () => stop(type) }]
			: [{ icon: "media", text: texts[type].begin, act: () => void ask_to_start(type) }];
	/** @type {string[]} */
	let may = [];
	const allowed = () => /** @type {Type[]} */ (["live", "external"]).filter((type) => may.includes(PERMISSION[type]));
	return {
		/** @param {string[]} now what you may */
		take: (now) => {
			may = now;
		},
		/** Whether you may stop something that runs. */
		acts: () => allowed().some(running),
		entries: () => allowed().flatMap(entries_of),
		/** A stream has not started. @param {import("./recording.js").Recorded} one @param {string} me */
		tell_failed(one, me) {
			if (one.by === me && !stopped.has(one.type) && !signal.aborted) note.warn(texts.failed, KEY);
		},
	};
}
