// Plays a playlist: with the browser's own player of HLS, if it tells the dates of the stream, or else with hls.js, which
// is not part of Anteroom. The page names its file if it was installed; without it, any player of the browser will do.
//
// SPDX-License-Identifier: GPL-3.0-or-later

const TYPE = "application/vnd.apple.mpegurl";
// Milliseconds until a player that has failed begins again.
const AGAIN = 3000;

/** The date of the picture that is shown, in milliseconds since 1970, or null. @typedef {() => number | null} Date_of */
/** @typedef {{ kind: "own" | "library", date_of: Date_of, to_live: () => void, close: () => void }} Player */

const library_path = () => document.querySelector("meta[name='hls.js']")?.getAttribute("content") ?? "";

/** Whether the browser's own player tells the dates of a stream, without which nobody knows how far behind it is. @param {HTMLVideoElement} video */
const tells_dates = (video) => "getStartDate" in video;

/** @param {HTMLVideoElement} video */
export const plays_by_itself = (video) => video.canPlayType(TYPE) !== "";
export const has_library = () => library_path() !== "";

/** The end of what the browser's own player has. @param {HTMLVideoElement} video */
const end_of = (video) => (video.seekable.length > 0 ? video.seekable.end(video.seekable.length - 1) : null);

/** @param {HTMLVideoElement} video @param {string} url @returns {Player} */
function own_player(video, url) {
	/** @type {ReturnType<typeof setTimeout> | undefined} */
	let timer;
	const begin = () => {
		video.src = url;
	};
	const fail = () => {
		clearTimeout(timer);
		timer = setTimeout(begin, AGAIN);
	};
	video.addEventListener("error", fail);
	begin();
	return {
		kind: "own",
		date_of: () => {
			/** Safari has it. @type {(() => Date) | undefined} */
			const start = Reflect.get(video, "getStartDate")?.bind(video);
			const began = start?.().getTime() ?? NaN;
			return Number.isNaN(began) ? null : began + video.currentTime * 1000;
		},
		to_live: () => {
			const end = end_of(video);
			if (end !== null) video.currentTime = Math.max(0, end - 6);
		},
		close: () => {
			clearTimeout(timer);
			video.removeEventListener("error", fail);
		},
	};
}

/** @param {HTMLVideoElement} video @param {string} url @returns {Promise<Player | null>} */
async function library_player(video, url) {
	await import(library_path());
	/** @type {any} */
	const Hls = Reflect.get(globalThis, "Hls");
	if (!Hls?.isSupported()) return null;
	// Its worker would be made of a text, which the page does not allow.
	const hls = new Hls({ enableWorker: false, lowLatencyMode: false, backBufferLength: 60 });
	/** @type {ReturnType<typeof setTimeout> | undefined} */
	let timer;
	hls.on(Hls.Events.ERROR, (/** @type {unknown} */ _event, /** @type {any} */ data) => {
		if (!data.fatal) return;
		if (data.type === Hls.ErrorTypes.MEDIA_ERROR) return hls.recoverMediaError();
		clearTimeout(timer);
		timer = setTimeout(() => hls.loadSource(url), AGAIN);
	});
	hls.loadSource(url);
	hls.attachMedia(video);
	return {
		kind: "library",
		date_of: () => hls.playingDate?.getTime() ?? null,
		to_live: () => {
			if (hls.liveSyncPosition) video.currentTime = hls.liveSyncPosition;
		},
		close: () => {
			clearTimeout(timer);
			hls.destroy();
		},
	};
}

/**
 * Begins to play. Returns null if this browser cannot.
 * @param {HTMLVideoElement} video @param {string} url @returns {Promise<Player | null>}
 */
export async function play(video, url) {
	const plays = plays_by_itself(video);
	if (has_library() && !(plays && tells_dates(video))) {
		const player = await library_player(video, url).catch(() => null);
		if (player) return player;
	}
	return plays ? own_player(video, url) : null;
}
