// The texts of the panel of the connection in German.
//
// SPDX-License-Identifier: GPL-3.0-or-later

/** @type {typeof import("./en.js").default} */
export default {
	connection_title: "Verbindung",
	connection_good: "Ihre Verbindung ist gut.",
	connection_weak: "Ihre Verbindung ist schwach: Viele Pakete gehen verloren.",
	connection_unknown: "Ihr Browser gibt keine Auskunft über die Verbindung.",
	route: "Weg",
	routes: { udp: "Direkt (UDP)", tcp: "Direkt (TCP)", relay: "Weitergeleitet (TURN)" },
	round_trip: "Hin und zurück",
	lost_sent: "Verlust beim Senden",
	lost_received: "Verlust beim Empfang",
	sending: "Sie senden",
	receiving: "Sie empfangen",
	of_video: (size, fps, kbps) => `${size}, ${fps} pro Sekunde, ${kbps} kbit/s`,
	of_audio: (kbps) => `${kbps} kbit/s`,
	nothing_sent_now: "Im Moment nichts",
	copy_details: "Angaben kopieren",
	details_hint: "Ohne Namen und Adressen, für alle, die Ihnen helfen.",
	copied: "Kopiert.",
	screen: "Bildschirm",
};
