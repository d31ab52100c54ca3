// One tile: the video of a person or a shared screen, with the name and marks. It is created once and changed in
// place.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { h, icon, put } from "../lib/dom.js";
import { face, hue_of } from "../lib/face.js";
import { caption } from "./caption.js";
import { menu_button } from "./menu.js";
import { words } from "./words.js";

/** @typedef {import("./media.js").Person} Person */
/** @typedef {import("./media.js").Shown} Shown */
/** @typedef {import("./grid.js").Place} Place */
/** @typedef {ReturnType<typeof tile>} Tile */

// Narrower tiles have smaller texts and marks.
const SMALL = 150;

/** Moves something from the corner where the stage begins, at the right if texts are read from there. @param {number} x @param {number} y */
export const shift = (x, y) => `translate(calc(var(--way, 1) * ${x}px), ${y}px)`;

/** @param {string} symbol @param {string} text @param {string} [kind] */
const mark = (symbol, text, kind = "") => h(`span.mark${kind}`, { title: text }, icon(symbol));

/** @param {Person} person */
const off_record = ({ unrecorded }) => unrecorded && mark("record-off", words.unrecorded);

/**
 * @param {string} id @param {boolean} is_screen
 * @param {{ options: (id: string, button: HTMLElement) => void } & import("./caption.js").Acts} acts
 */
export function tile(id, is_screen, acts) {
	// Firefox otherwise lays a button of its own on each video under the mouse, over other tiles, and takes its presses.
	const video = h("video", { autoplay: true, playsinline: true, disablepictureinpicture: true, hidden: true, "aria-hidden": "true", tabindex: "-1" });
	video.muted = true;
	const ground = h("div.face-place");
	const mic = h("span.mic");
	const name = h("span.who");
	const host = h("span.is-host", { title: words.host, hidden: true }, icon("host"));
	const state = h("span.off-screen");
	const marks = h("div.marks", { "aria-hidden": "true" });
	const options = menu_button("options", "more", "", (button) => acts.options(id, button));
	options.tabIndex = -1;
	// What is said of a shared screen stands below it.
	const line = is_screen ? caption(video, marks, options, acts) : null;
	const root = line
		? h("li.tile.screen", { "data-id": id }, line.elements)
		: h("li.tile", { "data-id": id }, ground, video, h("p.tag", null, mic, name, host, state), marks, options);
	/** @type {Shown | null} */
	let track = null;
	/** The latest video that was played. @type {Shown | null} */
	let latest = null;
	let drawn = "";
	let named = "";

	/** @param {Shown | null} next */
	function play(next) {
		if (track === next) return;
		track?.detach(video);
		next?.attach(video);
		track = next;
		video.hidden = !next;
		if (!next) return;
		if (latest && latest !== next) line?.reset();
		latest = next;
	}
	/** @param {Person} person @param {{ speaks: boolean, paused: boolean, large: boolean }} how */
	function draw_person(person, { speaks, paused, large }) {
		root.classList.toggle("speaks", speaks);
		root.classList.toggle("me", person.me);
		video.classList.toggle("mirrored", person.me && person.faces_me);
		if (named !== person.name) {
			named = person.name;
			put(ground, face(person.name));
			root.style.setProperty("--hue", hue_of(person.name));
		}
		put(mic, icon(speaks ? "sound" : person.mic === "on" ? "mic" : "mic-off"));
		mic.classList.toggle("off", person.mic !== "on");
		put(name, person.me ? words.you : person.name);
		host.hidden = !person.host;
		const says = [
			person.host && words.host,
			person.mic !== "on" && words.mic_off,
			!person.camera_on && words.camera_off,
			person.hand && words.hand_up,
			person.weak && words.weak,
			paused && words.saving,
			large && words.kept_large,
			person.unrecorded && words.unrecorded,
		];
		put(
			state,
			says
				.filter(Boolean)
				.map((text) => `, ${text}`)
				.join(""),
		);
		put(
			marks,
			person.hand && mark("hand", words.hand_up, ".hand"),
			person.weak && mark("weak", words.weak, ".weak"),
			paused && mark("saving", words.saving),
			large && mark("pin", words.kept_large),
			off_record(person),
		);
		options.hidden = person.me;
		options.setAttribute("aria-label", words.options_for(person.name));
	}
	return {
		id,
		root,
		video,
		options,
		zoom: line?.zoom,
		/** @type {Place} */
		place: { x: 0, y: 0, width: 0, height: 0 },
		/**
		 * Changes what differs, and nothing else.
		 * @param {Person} person @param {{ speaks: boolean, paused: boolean, large: boolean, only: boolean }} how
		 */
		draw(person, how) {
			play(how.paused ? null : is_screen ? person.screen : person.camera);
			const { mic: sound, camera_on, hand, weak, me, faces_me, host: is_host, unrecorded } = person;
			const now = JSON.stringify([person.name, sound, camera_on, hand, weak, me, faces_me, is_host, unrecorded, how]);
			if (drawn === now) return;
			drawn = now;
			if (!line) return draw_person(person, how);
			put(marks, how.paused && mark("saving", words.saving), off_record(person));
			line.draw(words.shares(person.name), how.paused && words.saving, how.only);
			options.setAttribute("aria-label", words.options_for(words.shares(person.name)));
		},
		/** @param {Place} place @param {number} x @param {number} y of the corner where the stage begins */
		move(place, x, y) {
			this.place = place;
			const set = (/** @type {string} */ property, /** @type {string} */ value) => {
				if (root.style.getPropertyValue(property) !== value) root.style.setProperty(property, value);
			};
			set("transform", shift(place.x + x, place.y + y));
			set("width", `${place.width}px`);
			set("height", `${place.height}px`);
			set("--side", `${Math.min(place.width, place.height)}px`);
			root.classList.toggle("tiny", !is_screen && place.width < SMALL);
		},
		drop() {
			play(null);
			root.remove();
		},
	};
}
