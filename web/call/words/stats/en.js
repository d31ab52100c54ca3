// The texts of the panel of the connection in English. Each language has a file with the same members; stats_words.js
// chooses.
//
// SPDX-License-Identifier: GPL-3.0-or-later

/** @typedef {string} S */

export default {
	connection_title: "Connection",
	connection_good: "Your connection is good.",
	connection_weak: "Your connection is weak: many packets are lost.",
	connection_unknown: "Your browser does not tell how the connection is.",
	route: "Route",
	routes: { udp: "Direct (UDP)", tcp: "Direct (TCP)", relay: "Relayed (TURN)" },
	round_trip: "Round trip",
	lost_sent: "Lost, sent",
	lost_received: "Lost, received",
	sending: "You send",
	receiving: "You receive",
	of_video: (/** @type {S} */ size, /** @type {S} */ fps, /** @type {S} */ kbps) => `${size}, ${fps} per second, ${kbps} kbps`,
	of_audio: (/** @type {S} */ kbps) => `${kbps} kbps`,
	nothing_sent_now: "Nothing at the moment",
	copy_details: "Copy details",
	details_hint: "Without names and addresses, for the people who support you.",
	copied: "Copied.",
	screen: "Screen",
};
