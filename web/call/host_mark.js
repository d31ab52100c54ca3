// The mark of people who moderate: their role may mute or remove others.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { h, icon } from "../lib/dom.js";
import { words } from "./words.js";

/** Returns the mark, for beside a name or a role. @param {string} [after] what follows its word for screen readers */
export const host_mark = (after = "") =>
	h("span.host-mark", { title: words.host }, icon("host"), h("span.off-screen", null, `${words.host}${after}`));
