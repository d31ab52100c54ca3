// The texts of the page that plays a live stream, in German.
//
// SPDX-License-Identifier: GPL-3.0-or-later

/** @typedef {string} S */

/** @type {import("../words.js").Words} */
export default {
	live: "Live",
	stream: "Liveübertragung",
	started: (/** @type {S} */ time) => `Begonnen um ${time}`,
	ended_at: (/** @type {S} */ time) => `Beendet um ${time}`,
	waiting_title: "Hier gibt es keine Übertragung",
	waiting: "Vielleicht hat sie noch nicht begonnen: Diese Seite zeigt sie, sobald sie beginnt. Beendete Übertragungen verschwinden nach einer Stunde.",
	loading: "Die Übertragung wird geladen …",
	behind: (/** @type {number} */ seconds) => `${seconds} Sekunden verzögert`,
	to_live: "Zum Livebild",
	full: "Vollbild",
	sound: "Ton einschalten",
	interrupted: "Die Übertragung ist unterbrochen. Sie geht weiter, sobald es möglich ist.",
	ended: "Diese Übertragung ist beendet",
	no_player: "Dieser Browser kann die Übertragung nicht abspielen. Versuchen Sie es mit einem anderen.",
	no_library: "Dieser Browser braucht ein Abspielprogramm, das auf diesem Server nicht installiert ist. Sagen Sie es denen, die ihn betreiben, oder versuchen Sie es mit Safari.",
	unreachable: "Der Server ist nicht erreichbar. Es wird erneut versucht …",
};
