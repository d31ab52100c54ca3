// The texts of the join page in English. Each language has a file with the same members; words.js chooses.
//
// SPDX-License-Identifier: GPL-3.0-or-later

/** @type {Record<string, string>} What people can do, by what their role publishes. */
const can = { audio: "speak", video: "show your video", screen: "share your screen" };

/** @param {string[]} parts */
const list = (parts) =>
	parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;

export default {
	join: "Join",
	join_a_room: "Join a room",
	code: "Code",
	code_hint: "You can find it in your invitation. It looks like abc-defg-hij.",
	code_example: "abc-defg-hij",
	code_missing: "Enter the code from your invitation.",
	go_on: "Continue",
	moment: "One moment…",
	no_room: "No room has this code. Check the spelling and try again.",
	code_character: (/** @type {string} */ one) => `No code has the character “${one}”. Check the spelling and try again.`,
	code_digit: (/** @type {string} */ one) => `No room has this code. Codes like abc-defg-hij have only letters: check the “${one}”.`,
	another_code: "Use another code",
	try_again: "Try again",
	trouble: "Something went wrong",
	unreachable:
		"The server could not be reached. Check your internet connection and try again.",
	off_title: "This link is not active",
	off: "The people who run the room have disabled it. Ask them for a new link.",
	room_off: "The room is closed for now. Try again later, or ask the people who run it.",
	expired_title: "This invitation has expired",
	expired: (/** @type {string | null} */ time) => `${time ? `It was valid until ${time}. ` : ""}Ask for a new one.`,
	used_up_title: "This invitation has already been used",
	used_up: "It could be used only a limited number of times. Ask for a new one.",
	other_user_title: "This invitation is for someone else",
	other_user: "Ask for an invitation of your own.",
	early_title: "You are early",
	not_yet: (/** @type {string} */ time) => `You can use this invitation from ${time}.`,
	not_open: (/** @type {string} */ time) => `The room opens on ${time}.`,
	waits: "Keep this page open: it continues automatically.",
	closed_title: "This room is closed",
	closed: (/** @type {string | null} */ time) => (time ? `It closed on ${time}.` : "Ask the people who run it."),
	locked_title: "The room is locked",
	locked: "A host has locked it, so nobody else can join. Try again later, or ask the people who are inside.",
	nobody_title: "Nobody can join with this invitation right now",
	nobody: "Its role is closed to everyone. Ask the people who run the room.",
	many_title: "Too many attempts from your network",
	many: (/** @type {number} */ seconds) => `Trying again in ${seconds} ${seconds === 1 ? "second" : "seconds"}.`,
	about_to: "You are about to join",
	welcome: (/** @type {string} */ name) => `Welcome, ${name}! You are about to join`,
	as: (/** @type {string} */ role) => `as ${role}`,
	you_can: (/** @type {string[]} */ kinds) =>
		kinds.length === 0
			? "You can watch and listen."
			: `You can ${list(kinds.map((kind) => can[kind] ?? kind))}.`,
	inside: (/** @type {string[]} */ names, /** @type {number} */ n) => {
		if (n === 0) return "Nobody is here yet";
		const who = names.length === 0 ? [`${n} ${n === 1 ? "person" : "people"}`] : names;
		const more = n - names.length;
		const all = names.length > 0 && more > 0 ? [...who, `${more} ${more === 1 ? "other" : "others"}`] : who;
		return `${list(all)} ${n === 1 ? "is" : "are"} here`;
	},
	told: {
		recording: { running: "This call is being recorded.", automatic: "This call is recorded from the start." },
		streaming: { running: "This call is being streamed.", automatic: "This call is streamed from the start." },
	},
	/** Who agrees agrees to this sentence. `version` is what the service keeps of it: another sentence has another one. */
	consent: {
		text: "This call may be recorded or streamed. I agree.",
		version: "en-1",
		asked: "You can join without agreeing. Recordings and streams then leave you out.",
		required: "Nobody can join this call without agreeing. If you do not agree, ask the people who invited you.",
		missing: "To join, agree to be recorded or streamed.",
	},
	recordings: "Recordings of this room",
	recording: "Recording",
	recording_chat: "Chat",
	recording_missing: "The file no longer exists.",
	recording_failed: "The recording could not be opened. Try again.",
	watch: "Watch",
	download: "Download",
	length: (/** @type {number} */ minutes) => (minutes < 1 ? "less than a minute" : `${minutes} min`),
	until: (/** @type {string} */ time) => `Until ${time}.`,
	name: "Your name",
	name_example: "Shown to others in the room",
	name_missing: "Enter your name.",
	nothing_sent: "Nothing is sent until you join.",
	not_kept: "Your browser does not store anything for this page. After a reload, use your link to join again.",
	only_watching: "You will watch and listen, so you do not need a camera or a microphone.",
	only_speaking: "You join with audio only.",
	start_title: "One more step",
	start: "You are a moderator: start the meeting first, then join it.",
	start_link: "Start meeting",
	go_in: "Join meeting",
	removed_title: "You were removed from the call",
	removed: (/** @type {string} */ reason) => (reason ? `The host wrote: “${reason}”` : "A host removed you."),
	ask: "Ask to join",
	asks_first: "Someone in the room has to let you in.",
	waiting_title: "Waiting to be let in",
	waiting: (/** @type {string} */ room) =>
		`Whoever can let you in to ${room} sees that you are waiting. Keep this page open: you join automatically.`,
	waiting_off: "Your camera and microphone are not sent while you wait.",
	waiting_away: "The server cannot be reached at the moment. Keep this page open: it tries again.",
	stop_waiting: "Stop waiting",
	denied_title: "You were not let in",
	denied_stay: "If the host changes their mind, you join from this page automatically.",
	denied_over: "You can ask to join again now.",
	denied: (/** @type {string} */ reason) =>
		reason ? `The host wrote: “${reason}”` : "The host did not let you in. You can ask again in 10 minutes.",
	banned_title: "You cannot join this room",
	banned: "The people who run the room have excluded you from it.",
	full_title: "The room is full",
	full: "As many people as it allows are in the room. Try again when someone has left.",
	open_title: "This call is already open in another tab",
	open: "Use it here?",
	use_here: "Use it here",
	not_set_up_title: "Calls are not set up yet",
	not_set_up: "This server cannot show the call yet. Ask the people who invited you.",
	no_server: "There is no media server for calls in this room yet. Ask the people who invited you.",
	not_set_up_library:
		"Administrators: livekit-client is missing. Run share/anteroom/get-livekit-client on the server, then reload this page.",
	not_set_up_server: "Administrators: the console says what to do, on the page of the room.",
	framed_title: "This page cannot be shown here",
	framed: "Open it in a window of its own to join.",
	framed_open: "Open in a new window",
	level: "Microphone level",
	preview: "Camera preview",
	insecure:
		"Browsers allow the camera and microphone only on HTTPS pages. You can join without them.",
	camera: {
		name: "Camera",
		numbered: (/** @type {number} */ i) => `Camera ${i}`,
		none: "No camera",
		turn_off: "Turn camera off",
		turn_on: "Turn camera on",
		starting: "Allow access to the camera when your browser asks.",
		off: "Your camera is off.",
		denied: "Your browser is blocking the camera.",
		denied_help:
			"Click the icon to the left of the address, allow the camera, and try again. You can also join without it.",
		missing: "No camera found.",
		missing_help: "You can join without one.",
		busy: "Your camera is in use.",
		busy_help: "Close the program that is using it and try again, or join without it.",
		failed: "The camera could not be started.",
		failed_help: "Try again, or join without it.",
	},
	microphone: {
		name: "Microphone",
		numbered: (/** @type {number} */ i) => `Microphone ${i}`,
		none: "No microphone",
		turn_off: "Turn microphone off",
		turn_on: "Turn microphone on",
		starting: "Allow access to the microphone when your browser asks.",
		off: "Your microphone is off.",
		denied: "Your browser is blocking the microphone.",
		denied_help:
			"Click the icon to the left of the address, allow the microphone, and try again. You can also join and just listen.",
		missing: "No microphone found.",
		missing_help: "You can join and just listen.",
		busy: "Your microphone is in use.",
		busy_help: "Close the program that is using it and try again, or join and just listen.",
		failed: "The microphone could not be started.",
		failed_help: "Try again, or join and just listen.",
	},
};
