// The texts of the page that plays a live stream, in English.
//
// SPDX-License-Identifier: GPL-3.0-or-later

/** @typedef {string} S */

export default {
	live: "Live",
	/** Where a stream has no title. */
	stream: "Live stream",
	started: (/** @type {S} */ time) => `Started at ${time}`,
	ended_at: (/** @type {S} */ time) => `Ended at ${time}`,
	waiting_title: "There is no stream here",
	waiting: "It may not have started yet: this page shows it as soon as it does. Streams that have ended disappear after an hour.",
	loading: "The stream is loading…",
	behind: (/** @type {number} */ seconds) => `${seconds} seconds behind`,
	to_live: "Go to live",
	full: "Full screen",
	sound: "Turn sound on",
	interrupted: "The stream is interrupted. It continues as soon as possible.",
	ended: "This stream has ended",
	no_player: "This browser cannot play the stream. Try another browser.",
	no_library: "This browser needs a player that is not installed on this server. Tell the people who run it, or try Safari.",
	unreachable: "The server could not be reached. Trying again…",
};
