// The texts of the chat's panel in English. Each language has a file with the same members; words.js chooses.
//
// SPDX-License-Identifier: GPL-3.0-or-later

/** @typedef {string} S */

export default {
	place: "Messages",
	empty: "No messages yet",
	empty_help: "Write to everyone, a role or one person. People who join later cannot read earlier messages.",
	joined: (/** @type {S} */ time) => `You joined at ${time}. You cannot see earlier messages.`,
	ends: "Messages are deleted when the call ends.",
	to: "To",
	everyone: "Everyone",
	role: (/** @type {S} */ role) => `Everyone with the role ${role}`,
	message: "Message",
	hint: "Write a message",
	send: "Send",
	only_to: (/** @type {S} */ name) => `only to ${name}`,
	only_you: "only to you",
	only_people: (/** @type {number} */ n) => `only to ${n} people`,
	announcement: "Announcement",
	left: (/** @type {number} */ n) => (n === 1 ? "1 character left" : `${n} characters left`),
	long: "The message is too long. Shorten it to 2,000 characters.",
	fast: (/** @type {number} */ n) => `Wait ${n === 1 ? "1 second" : `${n} seconds`} before you send the next message.`,
	gone: (/** @type {S} */ name) => `${name} has left. Choose someone else.`,
	lost: {
		fast: (/** @type {number} */ n, /** @type {S} */ name) =>
			`${n === 1 ? "1 message" : `${n} messages`} from ${name} not shown: too many at once.`,
		long: (/** @type {number} */ n, /** @type {S} */ name) =>
			`${n === 1 ? "1 message" : `${n} messages`} from ${name} not shown: too long.`,
	},
	read_only: "Your role can read messages but not write any.",
	away: "You can send messages again when you are reconnected.",
	options: "Chat options",
	save: "Save chat",
	saved: "Chat saved.",
	alerts: { on: "Turn off message alerts", off: "Turn on message alerts" },
};
