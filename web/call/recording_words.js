// The texts of recordings and streams, in the language of the join page.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { texts_of } from "../join/words.js";

/** @typedef {typeof import("./words/recording/en.js").default} Words */

/** @type {Record<string, () => Promise<{ default: Words }>>} */
export const LANGUAGES = {
	en: () => import("./words/recording/en.js"),
	de: () => import("./words/recording/de.js"),
};

export const recording_words = await texts_of(LANGUAGES);
