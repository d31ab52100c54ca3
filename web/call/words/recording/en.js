// The texts of recordings and streams in a call, in English.
//
// SPDX-License-Identifier: GPL-3.0-or-later

/** @typedef {string} S */

export default {
	/** What the mark says, in full and short, by the state. */
	recording: {
		starting: ["The recording is starting…", "Starting…"],
		running: ["This call is being recorded", "Recording"],
		paused: ["The recording is paused", "Paused"],
		interrupted: ["Recording interrupted", "Interrupted"],
	},
	streaming: {
		starting: ["The stream is starting…", "Starting…"],
		running: ["This call is being streamed", "Live"],
		paused: ["The stream is paused", "Paused"],
		interrupted: ["Stream interrupted", "Interrupted"],
	},
	record: "Record…",
	title: "Record this call?",
	help: "Picture, sound, names and shared screens are recorded. Everyone in the call is told.",
	start: "Start recording",
	pause: "Pause recording",
	resume: "Resume recording",
	stop: "Stop recording",
	options: "Recording options",
	you_started: "You started a recording.",
	started_by: (/** @type {S} */ name) => `${name} started a recording.`,
	started: "A recording has started.",
	streamed_by: (/** @type {S} */ name) => `${name} started a stream.`,
	streamed: "A stream has started.",
	paused: "The recording is paused.",
	resumed: "The recording has resumed.",
	interrupted: "The recording is interrupted. It continues as soon as possible.",
	continues: "The recording continues.",
	stopped: "The recording has stopped.",
	stream_stopped: "The stream has stopped.",
	failed: "The recording could not be started. Try again later.",
	no_recorder: "No recorder is free. Try again in a few minutes.",
	none_installed: "This server has no recorder. Tell the people who run it.",
	no_storage: "This server has nowhere to store recordings. Tell the people who run it.",
	no_space: "There is not enough space for a recording. Tell the people who run the server.",
	too_many: "Too many recordings are running at once. Try again later.",
	too_soon: "Wait a few seconds before you start another recording.",
	saved: (/** @type {S} */ length) => `Saved: ${length}, ready in a minute`,
	ready: (/** @type {S} */ length) => `The recording is ready: ${length}`,
	watch: "Watch",
	minutes: (/** @type {number} */ n) => (n < 1 ? "less than a minute" : `${n} min`),
};
