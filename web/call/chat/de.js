// The texts of the chat's panel in German.
//
// SPDX-License-Identifier: GPL-3.0-or-later

/** @type {import("./words.js").Words} */
export default {
	place: "Nachrichten",
	empty: "Noch keine Nachrichten",
	empty_help: "Schreiben Sie an alle, an eine Rolle oder an eine Person. Wer später beitritt, kann frühere Nachrichten nicht lesen.",
	joined: (time) => `Sie sind um ${time} Uhr beigetreten. Frühere Nachrichten können Sie nicht sehen.`,
	ends: "Die Nachrichten werden gelöscht, wenn die Besprechung endet.",
	to: "An",
	everyone: "Alle",
	role: (role) => `Alle mit der Rolle ${role}`,
	message: "Nachricht",
	hint: "Nachricht schreiben",
	send: "Senden",
	only_to: (name) => `nur an ${name}`,
	only_you: "nur an Sie",
	only_people: (n) => `nur an ${n} Personen`,
	announcement: "Durchsage",
	left: (n) => `Noch ${n} Zeichen`,
	long: "Die Nachricht ist zu lang. Kürzen Sie sie auf 2.000 Zeichen.",
	fast: (n) => `Warten Sie ${n === 1 ? "1 Sekunde" : `${n} Sekunden`}, bevor Sie die nächste Nachricht senden.`,
	gone: (name) => `${name} ist nicht mehr da. Wählen Sie jemand anderen.`,
	lost: {
		fast: (n, name) => `${n === 1 ? "1 Nachricht" : `${n} Nachrichten`} von ${name} nicht angezeigt: zu viele auf einmal.`,
		long: (n, name) => `${n === 1 ? "1 Nachricht" : `${n} Nachrichten`} von ${name} nicht angezeigt: zu lang.`,
	},
	read_only: "Ihre Rolle kann Nachrichten lesen, aber keine schreiben.",
	away: "Sie können wieder schreiben, sobald Sie verbunden sind.",
	options: "Optionen für den Chat",
	save: "Chat speichern",
	saved: "Chat gespeichert.",
	alerts: { on: "Hinweise auf Nachrichten ausschalten", off: "Hinweise auf Nachrichten einschalten" },
};
