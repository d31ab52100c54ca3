// The recordings of a room, for a code whose role may record: to watch and to download, without joining.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { call, segment } from "../lib/api.js";
import { h, icon, put } from "../lib/dom.js";
import { plays } from "../lib/media.js";
import { language } from "./words.js";

/** A file of a recording.
 * @typedef {{ id: string, type: "room-composite" | "chat", duration: number, status: "completed" | "missing", created_at: string }} Asset */

const MINUTE = 60;
const format = new Intl.DateTimeFormat(language, { dateStyle: "long", timeStyle: "short" });

/**
 * Returns the list; null if there is nothing in it, or the code may not have it.
 * @param {string} code @param {import("./words.js").Words} words
 */
export async function recordings_of(code, words) {
	const path = `/v2/join/${segment(code)}/recordings`;
	/** @type {Asset[]} */
	const all = (await call("GET", path).catch(() => ({ data: { data: [] } }))).data.data;
	if (all.length === 0) return null;
	const link = async (/** @type {Asset} */ one, inline = "") => (await call("GET", `${path}/${one.id}/presigned-url${inline}`)).data.url;
	/** @param {Asset} one */
	function item(one) {
		const time = format.format(new Date(one.created_at));
		const is_video = one.type === "room-composite";
		const fault = h("p.fault", { role: "alert", hidden: true });
		const player = h("div");
		/** @param {() => Promise<void>} doing */
		async function act(doing) {
			fault.hidden = true;
			try {
				await doing();
			} catch {
				put(fault, icon("warning"), words.recording_failed);
				fault.hidden = false;
			}
		}
		const watch = async () => {
			const src = await link(one, "?inline=1");
			if (!plays(src)) return void open(src, "_blank", "noopener");
			const video = h("video", { controls: true, autoplay: true, playsinline: true, src, "aria-label": `${words.recording}, ${time}` });
			put(player, video);
			video.focus();
		};
		const button = (/** @type {string} */ symbol, /** @type {string} */ text, /** @type {() => Promise<void>} */ doing) =>
			h("button.small", { type: "button", "aria-label": `${text}, ${is_video ? words.recording : words.recording_chat}, ${time}`, onclick: () => act(doing) }, icon(symbol), text);
		return h(
			"li",
			null,
			h(
				"div.recording",
				null,
				h("span", null, h("b", null, time), h("span.quiet", null, ` · ${is_video ? words.length(Math.round(one.duration / MINUTE)) : words.recording_chat}`)),
				one.status === "missing"
					? h("span.quiet", null, words.recording_missing)
					: [is_video && button("play", words.watch, watch), button("download", words.download, async () => location.assign(await link(one)))],
			),
			fault,
			player,
		);
	}
	const id = "recordings-title";
	return h("section.join-recordings", { "aria-labelledby": id }, h("h2", { id }, words.recordings), h("ul", null, all.map(item)));
}
