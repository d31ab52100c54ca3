// The texts of the call, in the language of the join page.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { language } from "../join/words.js";

/** @typedef {typeof import("./words/en.js").default} Words */

/** @type {Record<string, () => Promise<{ default: Words }>>} */
export const LANGUAGES = {
	en: () => import("./words/en.js"),
	de: () => import("./words/de.js"),
};

const load = /** @type {() => Promise<{ default: Words }>} */ (LANGUAGES[language]);

export const words = (await load()).default;
