// The texts of the chat's panel, in the language of the join page.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { texts_of } from "../../join/words.js";

/** @typedef {typeof import("./en.js").default} Words */

/** @type {Record<string, () => Promise<{ default: Words }>>} */
export const LANGUAGES = {
	en: () => import("./en.js"),
	de: () => import("./de.js"),
};

export const words = await texts_of(LANGUAGES);
