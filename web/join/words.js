// Chooses the language of the join page: the first language of the browser that has a file, or English. To
// add a language, add a file in words/ and a line here.
//
// SPDX-License-Identifier: GPL-3.0-or-later

/** @typedef {typeof import("./words/en.js").default} Words */

/** @type {Record<string, () => Promise<{ default: Words }>>} */
export const LANGUAGES = {
	en: () => import("./words/en.js"),
	de: () => import("./words/de.js"),
};

export const language =
	navigator.languages.map((one) => one.slice(0, 2).toLowerCase()).find((one) => one in LANGUAGES) ??
	"en";

/**
 * Loads texts in the language of the page.
 * @template Texts @param {Record<string, () => Promise<{ default: Texts }>>} all of each language
 */
export async function texts_of(all) {
	const load = /** @type {() => Promise<{ default: Texts }>} */ (all[language]);
	return (await load()).default;
}

/** @returns {Promise<Words>} */
export function words_of_page() {
	document.documentElement.lang = language;
	return texts_of(LANGUAGES);
}

const format = new Intl.DateTimeFormat(language, { dateStyle: "full", timeStyle: "short" });

/** Returns a time in the language and time zone of the user. @param {string} iso */
export const moment = (iso) => format.format(new Date(iso));
