// The texts of the chat's panel, in the language of the join page.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { language } from "../../join/words.js";

/** @typedef {typeof import("./en.js").default} Words */

/** @type {Record<string, () => Promise<{ default: Words }>>} */
const LANGUAGES = {
	en: () => import("./en.js"),
	de: () => import("./de.js"),
};

const load = /** @type {() => Promise<{ default: Words }>} */ (LANGUAGES[language]);

export const words = (await load()).default;
