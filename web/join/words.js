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

/** @returns {Promise<Words>} */
export async function words_of_page() {
	document.documentElement.lang = language;
	const fetched = LANGUAGES[language];
	return (await /** @type {() => Promise<{ default: Words }>} */ (fetched)()).default;
}

const format = new Intl.DateTimeFormat(language, { dateStyle: "full", timeStyle: "short" });

/** Returns a time in the language and time zone of the user. @param {string} iso */
export const moment = (iso) => format.format(new Date(iso));
