// The page that plays a live stream: /watch/KEY. What it shows besides the picture is in /live/KEY/info.json, which
// the recorder writes: the title, the beginning, and, once it is over, the end.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { announce, announcer, h, icon, put } from "../lib/dom.js";
import { language } from "../join/words.js";
import { has_library, play, plays_by_itself } from "./player.js";
import { words } from "./words.js";

/** @typedef {{ title: string, started_at: string | null, ended_at: string | null }} About */

// Milliseconds: how often the page asks whether the stream has begun, or ended, and looks how far behind it is; after
// how long a picture that stands still is an interruption.
const ASK = 4000;
const LOOK = 1000;
const STILL = 6000;
// Seconds: who is further behind is offered to go to live.
const FAR = 30;

const key = /^\/watch\/([\w-]+)\/?$/.exec(location.pathname)?.[1] ?? "";
const url = `/live/${key}/live.m3u8`;
const time_of = (/** @type {string} */ time) => new Intl.DateTimeFormat(language, { timeStyle: "short" }).format(new Date(time));

const place = h("main");
document.documentElement.lang = language;
document.body.append(place, announcer());

const pause = (/** @type {number} */ milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

/** From the clock of this device to that of the server, whose dates are whole seconds. */
let clock_offset = 0;

/** What is known of the stream: null if there is none; undefined if nobody answers. @returns {Promise<About | null | undefined>} */
async function ask() {
	try {
		const response = await fetch(`/live/${key}/info.json`, { cache: "no-cache" });
		const date = Date.parse(response.headers.get("Date") ?? "");
		if (!Number.isNaN(date)) clock_offset = date + 500 - Date.now();
		if (response.status === 404) return null;
		return response.ok ? await response.json() : undefined;
	} catch {
		return undefined;
	}
}

/** @param {string} title @param {string} text */
function show_box(title, text) {
	document.title = `${title} – Anteroom`;
	put(place, h("div.watch-head", null, h("h1", null, title)), h("p", { role: "status" }, text));
}

/** Waits until there is a stream. */
async function wait_for_stream() {
	let shown = "";
	for (;;) {
		const about = key === "" ? null : await ask();
		if (about) return about;
		const text = about === null ? words.waiting : words.unreachable;
		if (text !== shown) show_box(words.waiting_title, text);
		shown = text;
		await pause(ASK);
	}
}

/** Plays the stream until it ends. @param {About} about */
async function show(about) {
	const title = about.title || words.stream;
	document.title = `${title} – Anteroom`;
	const video = h("video", { controls: true, playsinline: true, "aria-label": title });
	const times = h("span.quiet");
	const state = h("p.watch-state");
	const to_live = h("button", { type: "button", hidden: true }, icon("play"), words.to_live);
	const sound = h("button", { type: "button", hidden: true, onclick: () => turn_sound_on() }, icon("sound"), words.sound);
	const full = h("button", { type: "button", onclick: () => fill_screen() }, icon("full"), words.full);
	put(
		place,
		h("div.watch-head", null, h("h1", null, title), times),
		h("div.watch-picture", null, video),
		h("div.watch-foot", null, state, to_live, sound, full),
	);
	put(times, about.started_at && words.started(time_of(about.started_at)));
	put(state, words.loading);

	function fill_screen() {
		if (document.fullscreenElement) return document.exitFullscreen();
		// The phones of Apple have only this.
		if (video.requestFullscreen) video.requestFullscreen().catch(() => {});
		else Reflect.get(video, "webkitEnterFullscreen")?.call(video);
	}
	function turn_sound_on() {
		video.muted = false;
		sound.hidden = true;
		video.focus();
	}
	// Browsers begin with sound only if the person was here before.
	const begin = () =>
		video.play().catch((error) => {
			if (error.name !== "NotAllowedError" || video.muted) return;
			video.muted = true;
			sound.hidden = false;
			begin();
		});
	video.addEventListener("volumechange", () => {
		if (!video.muted) sound.hidden = true;
	});
	// A player that begins again leaves the picture standing still.
	let is_fresh = true;
	video.addEventListener("loadstart", () => {
		is_fresh = true;
	});
	video.addEventListener("canplay", () => {
		if (is_fresh) begin();
		is_fresh = false;
	});

	const player = await play(video, url).catch(() => null);
	if (!player) {
		full.hidden = true;
		put(state, h("span.fault", { role: "alert" }, icon("warning"), plays_by_itself(video) || has_library() ? words.no_player : words.no_library));
		return;
	}
	to_live.addEventListener("click", () => {
		player.to_live();
		begin();
	});

	/** What the line says: announced when it is something else. */
	let said = "";
	let moved_at = performance.now();
	let position = -1;
	let is_over = false;
	video.addEventListener("ended", () => {
		is_over = true;
		look();
	});
	function look() {
		const now = performance.now();
		if (video.currentTime !== position || (video.paused && !video.ended)) moved_at = now;
		position = video.currentTime;
		const date = player?.date_of() ?? null;
		const behind = date === null ? null : Math.max(0, Math.round((Date.now() + clock_offset - date) / 1000));
		const is_still = position > 0 && now - moved_at >= STILL;
		const ends = is_over || video.ended || (is_still && Boolean(about.ended_at));
		to_live.hidden = ends || Boolean(about.ended_at) || behind === null || behind < FAR;
		full.hidden = ends && position <= 0;
		const what = ends ? words.ended : is_still ? words.interrupted : position > 0 ? words.live : words.loading;
		if (what === words.live) {
			const far = behind === null ? "" : ` · ${words.behind(behind)}`;
			if (state.textContent !== `${words.live}${far}`) put(state, h("span.watch-live", null, words.live), h("span.quiet", null, far));
		} else if (what !== said) {
			put(state, what);
		}
		if (what !== said && what !== words.loading) announce(`${what}.`, "stream");
		said = what;
		if (!ends) return true;
		is_over = true;
		sound.hidden = to_live.hidden = true;
		put(times, about.started_at && words.started(time_of(about.started_at)), about.ended_at && ` · ${words.ended_at(time_of(about.ended_at))}`);
		return false;
	}
	let asked_at = performance.now();
	while (look()) {
		await pause(LOOK);
		if (performance.now() - asked_at < ASK) continue;
		const news = await ask();
		asked_at = performance.now();
		// Nothing is left of it.
		if (news === null) is_over = true;
		else if (news) about = news;
	}
	player.close();
	// For its end, which the recorder writes behind the playlist.
	if (!about.ended_at) {
		await pause(ASK);
		about = (await ask()) ?? about;
		look();
	}
}

const about = await wait_for_stream();
if (about.ended_at) {
	show_box(about.title || words.stream, words.ended);
	announce(`${words.ended}.`, "stream");
	put(
		/** @type {Element} */ (place.firstElementChild),
		h("h1", null, about.title || words.stream),
		h("span.quiet", null, about.started_at && words.started(time_of(about.started_at)), ` · ${words.ended_at(time_of(about.ended_at))}`),
	);
} else {
	await show(about);
}
