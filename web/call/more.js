// The menu of what is not needed all the time, in groups. What the window is too small for comes first.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { menu } from "./menu.js";
import { COVERED } from "./panels.js";
import { words } from "./words.js";

/** @typedef {import("./menu.js").Entries} Entries */

const LINE = { line: true };

/**
 * @param {HTMLElement} button @param {ReturnType<typeof import("./bar.js").bar>} controls
 * @param {{ view: Entries, devices: () => Promise<import("./menu.js").Entry[]>, tools: Entries, help: () => void, hosts: Entries }} groups
 *   `tools` are for everybody, `hosts` for roles with permissions; an entry that does not apply is false
 */
export const open_more = (button, controls, { view, devices, tools, help, hosts }) =>
	menu(button, [
		matchMedia(COVERED).matches && { head: controls.about() },
		LINE,
		...controls.left_out(),
		LINE,
		...view,
		LINE,
		controls.lacks_devices() && { icon: "mic", text: words.devices, entries: devices },
		...tools,
		matchMedia("(hover: hover)").matches && { icon: "keys", text: words.shortcuts, act: help },
		LINE,
		...hosts,
	]);
