// What was written in the chat, as long as the call lasts. A note shows what arrives while the panel is closed.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { browser_storage } from "../../lib/storage.js";
import { words } from "../words.js";
import { chat_panel } from "./panel.js";
import { TO, TOPIC, limit } from "./texts.js";

/** @typedef {import("./texts.js").Only | { name: string, identity: string }} Only */
/**
 * A message (`text`), an announcement of the service, or a line about messages that are not shown. `mine`: you have
 * sent it; `n` is the number of messages that a line counts.
 * @typedef {{ kind: "text" | "service" | "lost", at: Date, from: string, name: string, role: string, host: boolean, mine: boolean,
 *   text: string, only: Only, state: "" | "sending" | "failed", n: number, why: import("./texts.js").Cause | "" }} Entry
 */

/** Messages that are kept. */
const KEPT = 500;
// Milliseconds: in which messages become one note; after which another message that is not shown begins a new line; and
// after which a line shows its new number.
const GATHER = 1000;
const PAUSE = 5000;
const COUNT = 500;
// Characters in a note.
const SHOWN = 200;
const ALERTS = "chat-alerts";

/**
 * @param {HTMLElement} element of the panel @param {import("../chat.js").State} state which the call changes
 * @param {import("../chat.js").Call} call
 */
export function chat_store(element, state, call) {
	const { note } = call;
	/** @type {Entry[]} */
	const entries = [];
	let unread = 0;
	/** What the next note tells of. @type {Entry[]} */
	let news = [];
	let gathering = 0;
	/** The lines about messages of people that are not shown, by sender and cause. @type {Map<string, { entry: Entry, last: number }>} */
	const lines = new Map();
	let counting = 0;
	const sent = limit();
	const alerts = () => browser_storage.get(ALERTS) !== "off";

	/** @param {Partial<Entry>} what @returns {Entry} */
	function add(what) {
		const nobody = { from: "", name: "", role: "", host: false, mine: false };
		/** @type {Entry} */
		const entry = { kind: "text", at: new Date(), ...nobody, text: "", only: null, state: "", n: 0, why: "", ...what };
		entries.push(entry);
		if (entries.length > KEPT) entries.shift();
		panel.draw();
		return entry;
	}
	/** Tells of a message while the panel is closed. @param {Entry} entry */
	function tell(entry) {
		if (!element.hidden) return;
		unread += 1;
		call.unread(unread);
		// The service's has its own note.
		if (entry.kind !== "text" || !alerts()) return;
		news.push(entry);
		gathering ||= setTimeout(say, GATHER);
	}
	function say() {
		const all = news;
		stop();
		if (all.length === 0 || call.signal.aborted) return;
		const short = (/** @type {string} */ text) => (text.length > SHOWN ? `${[...text].slice(0, SHOWN).join("")}…` : text);
		const line = (/** @type {Entry} */ { name, text, only }) =>
			(only && "me" in only ? words.chat_said_private : words.chat_said)(name, short(text));
		const text = all.length > 2 ? words.chat_new(all.length) : all.map(line).join("\n");
		note.say(text, { key: "chat", symbol: "chat" });
	}
	function stop() {
		clearTimeout(gathering);
		gathering = 0;
		news = [];
	}
	const turn_alerts = () => browser_storage.set(ALERTS, alerts() ? "off" : "on");
	const panel = chat_panel(element, { ...call, entries, state, alerts, turn_alerts, send, retry, wait: () => sent.wait(performance.now()) });

	/**
	 * Sends a text; a failure is shown at it. @param {string} text @param {string[]} identities empty for everyone
	 * @param {Only} only
	 */
	async function send(text, identities, only) {
		sent.count(performance.now());
		const entry = add({ text, only, mine: true, state: "sending" });
		const attributes = only && "role" in only ? { [TO]: only.role } : {};
		try {
			const link = call.link();
			if (!link) throw new Error("not connected");
			await link.send_text(text, { topic: TOPIC, compress: false, destinationIdentities: identities, attributes });
			entry.state = "";
		} catch {
			entry.state = "failed";
			if (element.hidden && !call.signal.aborted) note.warn(words.chat_said(words.chat, words.chat_failed));
		}
		panel.change(entry);
	}
	/** Takes a message that was not sent out again. @param {Entry} entry */
	function retry(entry) {
		entries.splice(entries.indexOf(entry), 1);
		panel.draw();
	}
	return {
		/** The panel has been opened. */
		open() {
			unread = 0;
			call.unread(0);
			stop();
			note.drop("chat");
			panel.open();
		},
		/** Chooses who gets the next message. */
		write_to: panel.write_to,
		/** A message has arrived. @param {import("./texts.js").Text} text */
		text: (text) => tell(add({ ...text, host: call.is_host(text.role) })),
		/** The service has sent a message to people inside. @param {string} text */
		announce: (text) => tell(add({ kind: "service", text })),
		/** A message is not shown. @param {string} from @param {string} name @param {import("./texts.js").Cause} why */
		text_lost(from, name, why) {
			const now = performance.now();
			const key = `${why} ${from}`;
			let line = lines.get(key);
			if (!line || line.last + PAUSE < now || !entries.includes(line.entry)) {
				for (const [other, { last }] of lines) if (last + PAUSE < now) lines.delete(other);
				line = { entry: add({ kind: "lost", from, name, why, n: 1 }), last: now };
				lines.set(key, line);
				return;
			}
			line.entry.n += 1;
			line.last = now;
			counting ||= setTimeout(() => {
				counting = 0;
				for (const { entry } of lines.values()) panel.change(entry);
			}, COUNT);
		},
		draw: panel.draw,
		/** People have come or left, or have another name or role. */
		people: panel.people,
	};
}
