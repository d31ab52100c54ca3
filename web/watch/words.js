// The texts of the page that plays a live stream, in the language of the join page.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { texts_of } from "../join/words.js";

/** @typedef {typeof import("./words/en.js").default} Words */

/** @type {Record<string, () => Promise<{ default: Words }>>} */
export const LANGUAGES = {
	en: () => import("./words/en.js"),
	de: () => import("./words/de.js"),
};

export const words = await texts_of(LANGUAGES);
