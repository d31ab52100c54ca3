// What the join page says, in English. Every language has a file with the same members; words.js chooses.
//
// SPDX-License-Identifier: GPL-3.0-or-later

/** @type {Record<string, string>} What a role may publish, as what a person can do. */
const can = { audio: "speak", video: "be seen", screen: "share your screen" };

/** @param {string[]} parts */
const list = (parts) =>
	parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;

export default {
	join: "Join",
	join_a_room: "Join a room",
	code: "Code",
	code_hint: "It is in your invitation, and looks like abc-defg-hij.",
	code_example: "abc-defg-hij",
	code_missing: "Type the code of your invitation.",
	go_on: "Go on",
	moment: "One moment …",
	no_room: "No room has this code. Is it spelled right?",
	another_code: "Another code",
	try_again: "Try again",
	trouble: "That did not work",
	unreachable: "The service cannot be reached. Are you connected?",
	off_title: "This link does not work at the moment",
	off: "It was switched off by those who run the room. Ask them for another one.",
	room_off: "The room is closed for the moment by those who run it. Try again later, or ask them.",
	expired_title: "This invitation has ended",
	expired: (/** @type {string} */ time) => `It was valid until ${time}. Ask for a new one.`,
	used_up_title: "This invitation was used already",
	used_up: "It was made for a number of times, and these are over. Ask for a new one.",
	other_user_title: "This invitation is for somebody else",
	other_user: "Ask for one of your own.",
	early_title: "You are early",
	not_yet: (/** @type {string} */ time) => `This invitation is valid from ${time} on.`,
	not_open: (/** @type {string} */ time) => `The room opens on ${time}.`,
	waits: "This page goes on by itself.",
	closed_title: "The room has closed",
	closed: (/** @type {string} */ time) => `It closed on ${time}.`,
	nobody_title: "Nobody can join like this at the moment",
	nobody: "The role of this invitation admits nobody. Ask those who run the room.",
	many_title: "Too many tries from your network",
	many: (/** @type {number} */ seconds) => `This page goes on by itself in ${seconds} seconds.`,
	about_to: "You are about to join",
	as: (/** @type {string} */ role) => `as ${role}`,
	you_can: (/** @type {string[]} */ kinds) =>
		kinds.length === 0
			? "You will watch and listen."
			: `You can ${list(kinds.map((kind) => can[kind] ?? kind))}.`,
	until: (/** @type {string} */ time) => `Until ${time}.`,
	name: "Your name",
	name_example: "How others will see you",
	name_missing: "Say who you are.",
	nothing_sent: "Nothing is sent before you join.",
	off_now_title: "This link does not work any more",
	only_watching: "This role only watches: no camera and no microphone are needed.",
	only_speaking: "This role speaks, and is not seen.",
	start_title: "One step more",
	start: "As a moderator you start the meeting first. Then go in.",
	start_link: "Start the meeting",
	go_in: "Go in",
	allowed: (/** @type {string} */ name) => `You may join, ${name}`,
	no_client: (/** @type {string} */ room) =>
		`No client is set up to take you to ${room}. This is what one would get; it is of use to developers.`,
	copy: "Copy",
	copied: "Copied",
	level: "Microphone level",
	preview: "Your camera",
	insecure: "Browsers give cameras and microphones to https pages only. You can join without.",
	camera: {
		name: "Camera",
		numbered: (/** @type {number} */ i) => `Camera ${i}`,
		none: "No camera",
		turn_off: "Camera on, turn it off",
		turn_on: "Camera off, turn it on",
		starting: "Allow the camera when the browser asks.",
		off: "Your camera is off.",
		denied: "The browser does not let this page use the camera.",
		denied_help:
			"Click the symbol at the left of the address, allow the camera, and try again. You can also join without it.",
		missing: "No camera was found.",
		missing_help: "You can join without one.",
		busy: "The camera is in use.",
		busy_help: "Another program has it. Close that and try again, or join without it.",
		failed: "The camera did not start.",
		failed_help: "Try again, or join without it.",
	},
	microphone: {
		name: "Microphone",
		numbered: (/** @type {number} */ i) => `Microphone ${i}`,
		none: "No microphone",
		turn_off: "Microphone on, turn it off",
		turn_on: "Microphone off, turn it on",
		starting: "Allow the microphone when the browser asks.",
		off: "Your microphone is off.",
		denied: "The browser does not let this page use the microphone.",
		denied_help:
			"Click the symbol at the left of the address, allow the microphone, and try again. You can also join and only listen.",
		missing: "No microphone was found.",
		missing_help: "You can join and listen.",
		busy: "The microphone is in use.",
		busy_help: "Another program has it. Close that and try again, or join and listen.",
		failed: "The microphone did not start.",
		failed_help: "Try again, or join and listen.",
	},
};
