// The picture of a recording: the call's stage, drawn by a worker. The stage lays out the tiles, the worker has the
// videos; no element plays one.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { h, put } from "../lib/dom.js";
import { stage } from "../call/stage.js";
import { icon_paths, items_of } from "./paper.js";

/** @typedef {import("../call/room.js").Person} Person */
/** @typedef {import("../call/room.js").Shown} Shown */

// What Chromium has besides what all browsers have.
const { MediaStreamTrackGenerator, MediaStreamTrackProcessor, trustedTypes } = /** @type {any} */ (globalThis);

// Milliseconds in which videos that change their size are laid out once.
const GATHER = 200;
/** Every video is received in the size of its place: nothing of it is given up. */
const LIMITS = { density: () => 1, most: () => Infinity, least: () => 0 };

function worker_of_picture() {
	const url = new URL("./worker.js", import.meta.url).href;
	const policy = trustedTypes?.createPolicy("anteroom-worker", { createScriptURL: (/** @type {string} */ text) => text });
	return new Worker(policy ? policy.createScriptURL(url) : url, { type: "module" });
}

/**
 * @param {import("./cast.js").Look} look @param {{ wanted: () => void, sized: () => void, fps: (fps: number) => void, failed: (text: string) => void }} on
 * `wanted`: other videos are shown than before; `sized`: a video has another size
 */
export async function picture({ width, height, fps, test = false }, on) {
	const worker = worker_of_picture();
	const generator = new MediaStreamTrackGenerator({ kind: "video" });
	const nothing = () => {};
	const view = stage({ options: nothing, everyone: nothing, stop_sharing: nothing, switch_view: nothing, failed: nothing }, LIMITS);
	// The largest layer that a place is worth is asked for, which the library does by itself only for elements.
	view.limit(Number.MAX_VALUE);
	const paper = h("div.call", null, view.element);
	paper.style.width = `${width}px`;
	paper.style.height = `${height}px`;
	put(/** @type {Element} */ (document.querySelector("main")), paper);

	/** The videos that tiles have, by their elements, and those that are received, by what is published. @type {Map<HTMLVideoElement, number>} */
	const places = new Map();
	/** @type {WeakMap<any, Shown & { key: number, is_shown: boolean, size: () => { videoWidth?: number, videoHeight?: number } }>} */
	const known = new WeakMap();
	/** @type {Map<number, { videoWidth: number, videoHeight: number }>} */
	const sizes = new Map();
	let last = 0;
	let gathering = 0;
	worker.onmessage = ({ data: { type, ...of } }) => {
		if (type === "failed") return on.failed("the pictures are not taken any more");
		if (type === "fps") return on.fps(of.fps);
		sizes.set(of.key, { videoWidth: of.width, videoHeight: of.height });
		gathering ||= setTimeout(() => {
			gathering = 0;
			on.sized();
		}, GATHER);
	};
	worker.onerror = ({ message }) => on.failed(message);
	/** What the worker draws at the moment, as a text. */
	let drawn = "";
	function draw() {
		/** @type {import("./paper.js").Item} */
		const ground = { type: "box", at: [0, 0, width, height], radius: 0, fill: getComputedStyle(document.body).backgroundColor };
		const items = [ground, ...items_of(paper, (video) => places.get(video))];
		const text = JSON.stringify(items);
		if (text === drawn) return;
		drawn = text;
		worker.postMessage({ type: "items", items });
	}
	const icons = await icon_paths();
	worker.postMessage({ type: "begin", width, height, fps, is_test: test, icons, writable: generator.writable }, [generator.writable]);
	return {
		/** @type {MediaStreamTrack} */
		track: generator,
		/** Returns what shows a video that somebody publishes. @param {any} publication */
		shown(publication) {
			let one = known.get(publication);
			if (one) return one;
			last += 1;
			const key = last;
			const { width: videoWidth = 0, height: videoHeight = 0 } = publication.dimensions ?? {};
			one = {
				key,
				is_shown: false,
				attach(video) {
					places.set(video, key);
					this.is_shown = true;
				},
				detach(video) {
					places.delete(video);
					this.is_shown = false;
				},
				size: () => sizes.get(key) ?? { videoWidth, videoHeight },
			};
			known.set(publication, one);
			return one;
		},
		/** Whether a tile shows what somebody publishes. @param {any} publication */
		is_shown: (publication) => known.get(publication)?.is_shown === true,
		/** A video arrives. @param {any} publication @param {MediaStreamTrack} track */
		receive(publication, track) {
			const { key } = this.shown(publication);
			const { readable } = new MediaStreamTrackProcessor({ track, maxBufferSize: 1 });
			worker.postMessage({ type: "video", key, readable }, [readable]);
		},
		/** A video does not arrive any more. @param {any} publication */
		drop(publication) {
			const key = known.get(publication)?.key;
			if (key === undefined) return;
			sizes.delete(key);
			worker.postMessage({ type: "gone", key });
		},
		/** @param {Person[]} people */
		show(people) {
			const before = [...places.values()].join();
			view.show(people);
			if ([...places.values()].join() !== before) on.wanted();
			draw();
		},
		/** @param {Set<string>} ids */
		speaking(ids) {
			const before = [...places.values()].join();
			view.speaking(ids);
			if ([...places.values()].join() !== before) on.wanted();
			draw();
		},
	};
}
