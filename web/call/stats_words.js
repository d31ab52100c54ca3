// The texts of the panel of the connection, in the language of the join page.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { texts_of } from "../join/words.js";

/** @typedef {typeof import("./words/stats/en.js").default} Words */

/** @type {Record<string, () => Promise<{ default: Words }>>} */
export const LANGUAGES = {
	en: () => import("./words/stats/en.js"),
	de: () => import("./words/stats/de.js"),
};

export const stats_words = await texts_of(LANGUAGES);
