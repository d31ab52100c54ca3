// The texts of recordings and streams in a call, in German.
//
// SPDX-License-Identifier: GPL-3.0-or-later

/** @typedef {string} S */

/** @type {import("../../recording_words.js").Words} */
export default {
	recording: {
		starting: ["Die Aufnahme beginnt …", "Beginnt …"],
		running: ["Dieser Anruf wird aufgenommen", "Aufnahme"],
		paused: ["Die Aufnahme ist angehalten", "Angehalten"],
		interrupted: ["Aufnahme unterbrochen", "Unterbrochen"],
	},
	streaming: {
		starting: ["Die Übertragung beginnt …", "Beginnt …"],
		running: ["Dieser Anruf wird live übertragen", "Live"],
		paused: ["Die Übertragung ist angehalten", "Angehalten"],
		interrupted: ["Übertragung unterbrochen", "Unterbrochen"],
	},
	record: "Aufnehmen …",
	title: "Diesen Anruf aufnehmen?",
	help: "Aufgenommen werden Bild, Ton, Namen und geteilte Bildschirme. Alle im Anruf erfahren davon.",
	start: "Aufnahme starten",
	pause: "Aufnahme anhalten",
	resume: "Aufnahme fortsetzen",
	stop: "Aufnahme beenden",
	options: "Optionen der Aufnahme",
	you_started: "Sie haben eine Aufnahme gestartet.",
	started_by: (/** @type {S} */ name) => `${name} hat eine Aufnahme gestartet.`,
	started: "Eine Aufnahme hat begonnen.",
	streamed_by: (/** @type {S} */ name) => `${name} hat eine Übertragung gestartet.`,
	streamed: "Eine Übertragung hat begonnen.",
	paused: "Die Aufnahme ist angehalten.",
	resumed: "Die Aufnahme wird fortgesetzt.",
	interrupted: "Die Aufnahme ist unterbrochen. Sie geht weiter, sobald es möglich ist.",
	continues: "Die Aufnahme geht weiter.",
	stopped: "Die Aufnahme ist beendet.",
	stream_stopped: "Die Übertragung ist beendet.",
	failed: "Die Aufnahme konnte nicht gestartet werden. Versuchen Sie es später noch einmal.",
	no_recorder: "Kein Aufnahmegerät ist frei. Versuchen Sie es in einigen Minuten noch einmal.",
	none_installed: "Dieser Server kann nicht aufnehmen. Sagen Sie es denen, die ihn betreiben.",
	no_storage: "Dieser Server hat keinen Platz für Aufnahmen. Sagen Sie es denen, die ihn betreiben.",
	no_space: "Der Platz reicht nicht für eine Aufnahme. Sagen Sie es denen, die den Server betreiben.",
	too_many: "Es laufen zu viele Aufnahmen gleichzeitig. Versuchen Sie es später noch einmal.",
	too_soon: "Warten Sie einige Sekunden, bevor Sie noch eine Aufnahme starten.",
	saved: (/** @type {S} */ length) => `Gespeichert: ${length}, in einer Minute fertig`,
	ready: (/** @type {S} */ length) => `Die Aufnahme ist fertig: ${length}`,
	watch: "Ansehen",
	minutes: (/** @type {number} */ n) => (n < 1 ? "weniger als eine Minute" : `${n} min`),
};
