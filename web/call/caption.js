// The line below a shared screen: whose it is, its size, and how it is shown.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { announce, h, icon, put } from "../lib/dom.js";
import { COVERED } from "./panels.js";
import { words } from "./words.js";

/** @typedef {import("./zoom.js").Zoom} Zoom */
/** @typedef {"in" | "out" | "fit"} Step */
/** What the line can do beside the options. @typedef {{ switch_view: () => void, failed: () => void }} Acts */

/** The parts of the picture that one press of an arrow key goes. @type {Record<string, [number, number]>} */
const ARROWS = { ArrowLeft: [0.2, 0], ArrowRight: [-0.2, 0], ArrowUp: [0, 0.2], ArrowDown: [0, -0.2] };

/**
 * @param {HTMLVideoElement} video @param {HTMLElement} marks over its place @param {HTMLElement} options the button
 * @param {Acts} acts
 */
export function caption(video, marks, options, acts) {
	let percent = 100;
	const pane = h("div.pane", null, video, marks);
	const name = h("span.who");
	const state = h("span.off-screen");
	const button = (/** @type {string} */ symbol, /** @type {string} */ text, /** @type {Step} */ step) =>
		h("button.caption-button", { type: "button", "aria-label": text, title: text, onclick: () => zoom(step) }, icon(symbol));
	const fit = h("button.caption-button.zoom-fit", { type: "button", title: words.zoom_fit, onclick: () => zoom("fit") });
	const larger = button("zoom-in", words.zoom_in, "in");
	const zooms = h("div.zoom", null, button("zoom-out", words.zoom_out, "out"), fit, larger);
	const view = h("button.caption-view", { type: "button", onclick: acts.switch_view });
	const element = h("div.caption", null, h("p.caption-name", null, icon("screen"), name, state), zooms, view, options);

	/** @type {Promise<Zoom> | null} */
	let loading = null;
	/** What enlarges the picture. Loading it is tried again when it is asked for. */
	const zoomer = () =>
		(loading ??= import("./zoom.js")
			.then((module) => module.zoom(pane, video, show))
			.catch((error) => {
				loading = null;
				throw error;
			}));
	zoomer().catch(() => {});

	/** @param {number} next in percent */
	function show(next) {
		percent = next;
		put(fit, `${percent} %`);
		fit.setAttribute("aria-label", `${words.zoom_fit}, ${words.zoomed(percent)}`);
		// Small windows have no place for it then.
		if (percent === 100 && document.activeElement === fit && matchMedia(COVERED).matches) larger.focus();
		fit.classList.toggle("at-100", percent === 100);
	}
	/** @param {Step} step */
	function zoom(step) {
		zoomer().then((one) => {
			one[step]();
			announce(words.zoomed(percent), "zoom");
		}, acts.failed);
	}
	zooms.addEventListener("keydown", (event) => {
		const way = ARROWS[event.key];
		if (!way || percent === 100) return;
		event.preventDefault();
		event.stopPropagation();
		zoomer().then((one) => one.pan(way[0] * pane.clientWidth, way[1] * pane.clientHeight), () => {});
	});
	show(100);
	return {
		elements: [pane, element],
		zoom,
		/** @param {string} text @param {string | false} says a state @param {boolean} is_only whether the screen is shown alone */
		draw(text, says, is_only) {
			put(name, text);
			name.title = text;
			put(state, says && `, ${says}`);
			const other = is_only ? words.view_beside : words.view_only;
			put(view, icon(is_only ? "people" : "full"), h("span", null, other));
			view.setAttribute("aria-label", other);
			view.title = other;
		},
		/** Another picture begins. */
		reset() {
			if (percent !== 100) zoomer().then((one) => one.fit(), () => {});
		},
	};
}
