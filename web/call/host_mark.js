// The mark of people who moderate: their role may mute or remove others.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { h, icon } from "../lib/dom.js";
import { words } from "./words.js";

/** Creates the mark that stands beside a name or a role. @param {string} says what screen readers read */
export const host_mark = (says) => h("span.host-mark", { title: words.host }, icon("host"), h("span.off-screen", null, says));
