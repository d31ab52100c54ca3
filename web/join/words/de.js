// The texts of the join page in German. See en.js.
//
// SPDX-License-Identifier: GPL-3.0-or-later

/** @type {Record<string, string>} */
const can = { audio: "sprechen", video: "Ihr Video zeigen", screen: "Ihren Bildschirm teilen" };

/** @param {string[]} parts */
const list = (parts) =>
	parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} und ${parts.at(-1)}`;

/** @type {import("../words.js").Words} */
const words = {
	join: "Beitreten",
	join_a_room: "Einem Raum beitreten",
	code: "Code",
	code_hint: "Sie finden ihn in Ihrer Einladung. Er sieht so aus: abc-defg-hij.",
	code_example: "abc-defg-hij",
	code_missing: "Geben Sie den Code aus Ihrer Einladung ein.",
	go_on: "Weiter",
	moment: "Einen Moment …",
	no_room: "Zu diesem Code gibt es keinen Raum. Bitte prüfen Sie die Schreibweise.",
	code_character: (/** @type {string} */ one) => `Kein Code enthält das Zeichen „${one}“. Bitte prüfen Sie die Schreibweise.`,
	code_digit: (/** @type {string} */ one) =>
		`Zu diesem Code gibt es keinen Raum. Codes wie abc-defg-hij haben nur Buchstaben: Bitte prüfen Sie die „${one}“.`,
	another_code: "Anderen Code eingeben",
	try_again: "Erneut versuchen",
	trouble: "Das hat nicht geklappt",
	unreachable:
		"Der Server ist nicht erreichbar. Prüfen Sie Ihre Internetverbindung und versuchen Sie es erneut.",
	off_title: "Dieser Link ist zurzeit nicht aktiv",
	off: "Er wurde deaktiviert. Bitten Sie die Person, die Sie eingeladen hat, um einen neuen Link.",
	room_off:
		"Der Raum ist zurzeit geschlossen. Versuchen Sie es später noch einmal oder fragen Sie die Person, die Sie eingeladen hat.",
	expired_title: "Diese Einladung ist abgelaufen",
	expired: (time) => `${time ? `Sie war gültig bis ${time}. ` : ""}Bitten Sie um eine neue Einladung.`,
	used_up_title: "Diese Einladung wurde bereits verwendet",
	used_up: "Sie konnte nur begrenzt oft verwendet werden. Bitten Sie um eine neue Einladung.",
	other_user_title: "Diese Einladung ist für eine andere Person",
	other_user: "Bitten Sie um eine eigene Einladung.",
	early_title: "Sie sind früh dran",
	not_yet: (time) => `Diese Einladung ist gültig ab ${time}.`,
	not_open: (time) => `Der Raum öffnet am ${time}.`,
	waits: "Lassen Sie diese Seite geöffnet: Es geht automatisch weiter.",
	closed_title: "Der Raum ist geschlossen",
	closed: (time) =>
		time ? `Er wurde am ${time} geschlossen.` : "Fragen Sie die Person, die Sie eingeladen hat.",
	locked_title: "Der Raum ist gesperrt",
	locked: "Die Moderation hat ihn gesperrt, niemand sonst kann beitreten. Versuchen Sie es später erneut, oder fragen Sie die Personen im Raum.",
	nobody_title: "Mit dieser Einladung kann zurzeit niemand beitreten",
	nobody:
		"Ihre Rolle ist zurzeit für niemanden freigegeben. Fragen Sie die Person, die Sie eingeladen hat.",
	many_title: "Zu viele Versuche aus Ihrem Netzwerk",
	many: (seconds) => `Neuer Versuch in ${seconds} ${seconds === 1 ? "Sekunde" : "Sekunden"}.`,
	about_to: "Sie betreten gleich den Raum",
	welcome: (name) => `Willkommen, ${name}! Sie betreten gleich den Raum`,
	as: (role) => `als ${role}`,
	you_can: (kinds) =>
		kinds.length === 0
			? "Sie können zusehen und zuhören."
			: `Sie können ${list(kinds.map((kind) => can[kind] ?? kind))}.`,
	inside: (names, n) => {
		if (n === 0) return "Noch ist niemand da";
		const who = names.length === 0 ? [`${n} ${n === 1 ? "Person" : "Personen"}`] : names;
		const more = n - names.length;
		const all = names.length > 0 && more > 0 ? [...who, `${more} ${more === 1 ? "weitere Person" : "weitere"}`] : who;
		return `${list(all)} ${n === 1 ? "ist" : "sind"} da`;
	},
	until: (time) => `Bis ${time}.`,
	told: {
		recording: { running: "Dieser Anruf wird aufgenommen.", automatic: "Dieser Anruf wird von Anfang an aufgenommen." },
		streaming: { running: "Dieser Anruf wird live übertragen.", automatic: "Dieser Anruf wird von Anfang an live übertragen." },
	},
	consent: {
		text: "Dieser Anruf kann aufgenommen oder live übertragen werden. Ich stimme zu.",
		version: "de-1",
		asked: "Sie können auch beitreten, ohne zuzustimmen. In Aufnahmen und Übertragungen kommen Sie dann nicht vor.",
		required:
			"Ohne Zustimmung kann niemand diesem Anruf beitreten. Wenn Sie nicht zustimmen möchten, fragen Sie die Person, die Sie eingeladen hat.",
		missing: "Stimmen Sie zu, um beizutreten.",
	},
	recordings: "Aufnahmen in diesem Raum",
	recording: "Aufnahme",
	recording_chat: "Chat",
	recording_missing: "Die Datei gibt es nicht mehr.",
	recording_failed: "Die Aufnahme konnte nicht geöffnet werden. Versuchen Sie es noch einmal.",
	watch: "Ansehen",
	download: "Herunterladen",
	length: (/** @type {number} */ minutes) => (minutes < 1 ? "weniger als eine Minute" : `${minutes} min`),
	name: "Ihr Name",
	name_example: "Wird den anderen im Raum angezeigt",
	name_missing: "Geben Sie Ihren Namen ein.",
	nothing_sent: "Bis zum Beitritt wird nichts übertragen.",
	not_kept: "Ihr Browser speichert nichts für diese Seite. Treten Sie nach dem Neuladen über Ihren Link erneut bei.",
	only_watching: "Sie sehen und hören nur zu und brauchen weder Kamera noch Mikrofon.",
	only_speaking: "Sie nehmen nur mit Ton teil.",
	start_title: "Noch ein Schritt",
	start: "Sie moderieren diese Sitzung: Starten Sie sie zuerst und treten Sie dann bei.",
	start_link: "Sitzung starten",
	go_in: "Beitreten",
	removed_title: "Sie wurden aus der Besprechung entfernt",
	removed: (reason) =>
		reason ? `Nachricht der Moderation: „${reason}“` : "Sie wurden von der Moderation entfernt.",
	ask: "Um Einlass bitten",
	asks_first: "Jemand im Raum muss Sie einlassen.",
	waiting_title: "Sie warten auf Einlass",
	waiting: (room) =>
		`Wer Sie in ${room} einlassen kann, sieht, dass Sie warten. Lassen Sie diese Seite geöffnet: Sie treten automatisch bei.`,
	waiting_off: "Während Sie warten, werden Kamera und Mikrofon nicht übertragen.",
	waiting_away: "Der Server ist zurzeit nicht erreichbar. Lassen Sie diese Seite geöffnet: Es wird weiter versucht.",
	stop_waiting: "Nicht länger warten",
	denied_title: "Sie wurden nicht eingelassen",
	denied_stay: "Wenn die Moderation es sich anders überlegt, treten Sie von dieser Seite aus automatisch bei.",
	denied_over: "Sie können jetzt erneut um Einlass bitten.",
	denied: (reason) =>
		reason
			? `Nachricht der Moderation: „${reason}“`
			: "Sie wurden nicht eingelassen. In 10 Minuten können Sie erneut fragen.",
	banned_title: "Sie können diesem Raum nicht beitreten",
	banned: "Sie wurden von diesem Raum ausgeschlossen.",
	full_title: "Der Raum ist voll",
	full: "Es sind so viele Personen im Raum, wie er zulässt. Versuchen Sie es erneut, wenn jemand gegangen ist.",
	open_title: "Diese Besprechung ist bereits in einem anderen Tab geöffnet",
	open: "Möchten Sie sie hier weiterführen?",
	use_here: "Hier weiterführen",
	not_set_up_title: "Besprechungen sind noch nicht eingerichtet",
	not_set_up:
		"Dieser Server kann die Besprechung noch nicht anzeigen. Fragen Sie die Person, die Sie eingeladen hat.",
	no_server:
		"Für Besprechungen in diesem Raum gibt es noch keinen Medienserver. Fragen Sie die Person, die Sie eingeladen hat.",
	not_set_up_library:
		"Für die Administration: livekit-client fehlt. Führen Sie auf dem Server share/anteroom/get-livekit-client aus und laden Sie diese Seite neu.",
	not_set_up_server: "Für die Administration: Die Konsole nennt auf der Seite des Raums, was zu tun ist.",
	framed_title: "Diese Seite kann hier nicht angezeigt werden",
	framed: "Öffnen Sie sie in einem eigenen Fenster, um teilzunehmen.",
	framed_open: "In neuem Fenster öffnen",
	level: "Mikrofonpegel",
	preview: "Kameravorschau",
	insecure:
		"Browser erlauben Kamera und Mikrofon nur auf HTTPS-Seiten. Sie können auch ohne beides beitreten.",
	camera: {
		name: "Kamera",
		numbered: (i) => `Kamera ${i}`,
		none: "Keine Kamera",
		turn_off: "Kamera ausschalten",
		turn_on: "Kamera einschalten",
		starting: "Erlauben Sie den Zugriff auf die Kamera, wenn der Browser danach fragt.",
		off: "Ihre Kamera ist aus.",
		denied: "Der Browser blockiert die Kamera für diese Seite.",
		denied_help:
			"Klicken Sie auf das Symbol links neben der Adresse, erlauben Sie die Kamera und versuchen Sie es erneut. Sie können auch ohne Kamera beitreten.",
		missing: "Keine Kamera gefunden.",
		missing_help: "Sie können auch ohne Kamera beitreten.",
		busy: "Die Kamera wird bereits verwendet.",
		busy_help:
			"Schließen Sie das Programm, das sie verwendet, und versuchen Sie es erneut, oder treten Sie ohne Kamera bei.",
		failed: "Die Kamera konnte nicht gestartet werden.",
		failed_help: "Versuchen Sie es erneut oder treten Sie ohne Kamera bei.",
	},
	microphone: {
		name: "Mikrofon",
		numbered: (i) => `Mikrofon ${i}`,
		none: "Kein Mikrofon",
		turn_off: "Mikrofon ausschalten",
		turn_on: "Mikrofon einschalten",
		starting: "Erlauben Sie den Zugriff auf das Mikrofon, wenn der Browser danach fragt.",
		off: "Ihr Mikrofon ist aus.",
		denied: "Der Browser blockiert das Mikrofon für diese Seite.",
		denied_help:
			"Klicken Sie auf das Symbol links neben der Adresse, erlauben Sie das Mikrofon und versuchen Sie es erneut. Sie können auch beitreten und nur zuhören.",
		missing: "Kein Mikrofon gefunden.",
		missing_help: "Sie können beitreten und nur zuhören.",
		busy: "Das Mikrofon wird bereits verwendet.",
		busy_help:
			"Schließen Sie das Programm, das es verwendet, und versuchen Sie es erneut, oder hören Sie nur zu.",
		failed: "Das Mikrofon konnte nicht gestartet werden.",
		failed_help: "Versuchen Sie es erneut oder hören Sie nur zu.",
	},
};
export default words;
