// What the join page says, in German. See en.js.
//
// SPDX-License-Identifier: GPL-3.0-or-later

/** @type {Record<string, string>} */
const can = { audio: "sprechen", video: "gesehen werden", screen: "Ihren Bildschirm teilen" };

/** @param {string[]} parts */
const list = (parts) =>
	parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} und ${parts.at(-1)}`;

/** @type {import("../words.js").Words} */
const words = {
	join: "Beitreten",
	join_a_room: "Einem Raum beitreten",
	code: "Code",
	code_hint: "Er steht in Ihrer Einladung und sieht aus wie abc-defg-hij.",
	code_example: "abc-defg-hij",
	code_missing: "Geben Sie den Code Ihrer Einladung ein.",
	go_on: "Weiter",
	moment: "Einen Moment …",
	no_room: "Zu diesem Code gibt es keinen Raum. Ist er richtig geschrieben?",
	another_code: "Anderer Code",
	try_again: "Noch einmal versuchen",
	trouble: "Das hat nicht geklappt",
	unreachable: "Der Dienst ist nicht erreichbar. Sind Sie verbunden?",
	off_title: "Dieser Link gilt im Moment nicht",
	off: "Wer den Raum betreibt, hat ihn abgeschaltet. Bitten Sie dort um einen anderen.",
	room_off: "Der Raum ist im Moment abgeschaltet. Versuchen Sie es später, oder fragen Sie nach.",
	expired_title: "Diese Einladung ist abgelaufen",
	expired: (time) => `Sie galt bis ${time}. Bitten Sie um eine neue.`,
	used_up_title: "Diese Einladung ist verbraucht",
	used_up: "Sie galt für eine bestimmte Zahl von Malen. Bitten Sie um eine neue.",
	other_user_title: "Diese Einladung ist für jemand anderen",
	other_user: "Bitten Sie um eine eigene.",
	early_title: "Sie sind früh dran",
	not_yet: (time) => `Diese Einladung gilt ab ${time}.`,
	not_open: (time) => `Der Raum öffnet am ${time}.`,
	waits: "Es geht dann von selbst weiter.",
	closed_title: "Der Raum ist geschlossen",
	closed: (time) => `Er schloss am ${time}.`,
	nobody_title: "So kann im Moment niemand beitreten",
	nobody: "Die Rolle dieser Einladung lässt niemanden ein. Fragen Sie nach.",
	many_title: "Zu viele Versuche aus Ihrem Netz",
	many: (seconds) => `In ${seconds} Sekunden geht es von selbst weiter.`,
	about_to: "Sie treten gleich bei:",
	as: (role) => `als ${role}`,
	you_can: (kinds) =>
		kinds.length === 0
			? "Sie sehen und hören zu."
			: `Sie können ${list(kinds.map((kind) => can[kind] ?? kind))}.`,
	until: (time) => `Bis ${time}.`,
	name: "Ihr Name",
	name_example: "Unter diesem Namen sehen andere Sie",
	name_missing: "Sagen Sie, wer Sie sind.",
	nothing_sent: "Vor dem Beitreten wird nichts übertragen.",
	off_now_title: "Dieser Link gilt nicht mehr",
	only_watching: "Diese Rolle sieht nur zu: Kamera und Mikrofon werden nicht gebraucht.",
	only_speaking: "Diese Rolle spricht und wird nicht gesehen.",
	start_title: "Noch ein Schritt",
	start: "Wer moderiert, startet erst die Sitzung. Gehen Sie dann hinein.",
	start_link: "Sitzung starten",
	go_in: "Hineingehen",
	allowed: (name) => `Sie dürfen hinein, ${name}`,
	no_client: (room) =>
		`Es ist kein Client eingerichtet, der Sie nach ${room} bringt. Das hier bekäme er; es nützt Entwicklern.`,
	copy: "Kopieren",
	copied: "Kopiert",
	level: "Pegel des Mikrofons",
	preview: "Ihre Kamera",
	insecure:
		"Browser geben Kamera und Mikrofon nur an https-Seiten. Sie können ohne beides beitreten.",
	camera: {
		name: "Kamera",
		numbered: (i) => `Kamera ${i}`,
		none: "Keine Kamera",
		turn_off: "Kamera an, ausschalten",
		turn_on: "Kamera aus, einschalten",
		starting: "Erlauben Sie die Kamera, wenn der Browser fragt.",
		off: "Ihre Kamera ist aus.",
		denied: "Der Browser gibt dieser Seite die Kamera nicht.",
		denied_help:
			"Klicken Sie auf das Zeichen links von der Adresse, erlauben Sie die Kamera, und versuchen Sie es noch einmal. Sie können auch ohne beitreten.",
		missing: "Keine Kamera gefunden.",
		missing_help: "Sie können ohne beitreten.",
		busy: "Die Kamera ist belegt.",
		busy_help: "Ein anderes Programm hat sie. Schließen Sie es, oder treten Sie ohne Kamera bei.",
		failed: "Die Kamera startet nicht.",
		failed_help: "Versuchen Sie es noch einmal, oder treten Sie ohne bei.",
	},
	microphone: {
		name: "Mikrofon",
		numbered: (i) => `Mikrofon ${i}`,
		none: "Kein Mikrofon",
		turn_off: "Mikrofon an, ausschalten",
		turn_on: "Mikrofon aus, einschalten",
		starting: "Erlauben Sie das Mikrofon, wenn der Browser fragt.",
		off: "Ihr Mikrofon ist aus.",
		denied: "Der Browser gibt dieser Seite das Mikrofon nicht.",
		denied_help:
			"Klicken Sie auf das Zeichen links von der Adresse, erlauben Sie das Mikrofon, und versuchen Sie es noch einmal. Sie können auch beitreten und zuhören.",
		missing: "Kein Mikrofon gefunden.",
		missing_help: "Sie können beitreten und zuhören.",
		busy: "Das Mikrofon ist belegt.",
		busy_help: "Ein anderes Programm hat es. Schließen Sie es, oder hören Sie zu.",
		failed: "Das Mikrofon startet nicht.",
		failed_help: "Versuchen Sie es noch einmal, oder hören Sie zu.",
	},
};
export default words;
