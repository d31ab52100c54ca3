// How the call is shown: as a grid or with the speaker large, a shared screen with people or alone, without your own
// picture, with few videos, on the whole screen. The stage shows it; this has the choices.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { announce } from "../lib/dom.js";
import { browser_storage } from "../lib/storage.js";
import { keep } from "../join/kept.js";
import * as limits from "./budget.js";
import { stage } from "./stage.js";
import { words } from "./words.js";

/** @typedef {import("./menu.js").Entry} Entry */

// Kept on the device, as "grid" or "speaker".
const KEY = "view";

function full_screen() {
	const doing = document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen?.();
	doing?.catch(() => {});
}

/**
 * Returns the stage with its views.
 * @param {{ entry: import("../join/kept.js").Entry, note: import("./notes.js").Notes, options: (id: string, button: HTMLElement) => void,
 *   everyone: () => void, stop_sharing: () => void }} call
 */
export function views({ entry, note, ...acts }) {
	let speaker = browser_storage.get(KEY) === "speaker";
	/** Whether a shared screen is shown alone, for this call. */
	let only = false;
	let is_told = false;
	const view = stage({ ...acts, switch_view: () => set_only(!only), failed: () => note.warn(words.not_now) }, limits);

	function look() {
		view.look({ speaker, only, hides_me: entry.hides_me === true, fewer: entry.fewer === true });
	}
	/** @param {boolean} yes */
	function set_speaker(yes) {
		speaker = yes;
		browser_storage.set(KEY, yes ? "speaker" : "grid");
		look();
	}
	/** @param {boolean} yes */
	function set_only(yes) {
		only = yes;
		// Whoever chooses how a screen is shown wants to see it.
		if (!view.large()?.startsWith("screen:")) view.keep(null);
		look();
	}
	function switch_hidden() {
		entry.hides_me = !entry.hides_me;
		keep(entry);
		look();
		if (entry.hides_me && !is_told) note.say(words.hidden_self, { key: "hidden", symbol: "hide-self" });
		is_told = true;
	}
	/** @param {boolean} yes */
	function set_fewer(yes) {
		entry.fewer = yes;
		keep(entry);
		look();
	}
	/** The views that there are now: the name, whether it is chosen, and what chooses it. @returns {[string, boolean, () => void][]} */
	const choices = () =>
		view.is_shared()
			? [
					[words.view_beside, !only, () => set_only(false)],
					[words.view_only, only, () => set_only(true)],
				]
			: [
					[words.view_grid, !speaker, () => set_speaker(false)],
					[words.view_speaker, speaker, () => set_speaker(true)],
				];
	const present = () => choices().find(([, is_chosen]) => is_chosen)?.[0] ?? "";
	/** @returns {Entry[]} */
	const of_menu = () => [
		{ title: words.view_title },
		...choices().map(([text, chosen, act]) => ({ text, chosen, act })),
		{ line: true },
		...(view.has_me() ? [{ text: words.hide_self, ticked: entry.hides_me === true, act: switch_hidden }] : []),
		{ text: words.fewer_on, ticked: entry.fewer === true, act: () => set_fewer(!entry.fewer) },
	];
	look();
	return {
		...view,
		/** What the menu More has of it. @returns {(Entry | false)[]} */
		entries: () => [
			{ icon: "grid", text: words.view, says: present(), entries: of_menu },
			document.fullscreenEnabled && {
				icon: "full",
				text: document.fullscreenElement ? words.fullscreen.on : words.fullscreen.off,
				act: full_screen,
			},
		],
		/** What keys do. */
		commands: {
			full: full_screen,
			view() {
				choices().find(([, is_chosen]) => !is_chosen)?.[2]();
				announce(present(), "view");
			},
			zoom_in: () => view.zoom("in"),
			zoom_out: () => view.zoom("out"),
			zoom_fit: () => view.zoom("fit"),
		},
		/** Shows few videos, as the menu does. */
		show_fewer: () => set_fewer(true),
		shows_fewer: () => entry.fewer === true,
	};
}
