// The chat: what was written, as long as the call lasts. Its panel is loaded when it is opened, or when the page has
// nothing else to do; a note shows what arrives while the panel is closed.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { h } from "../lib/dom.js";
import { browser_storage } from "../lib/storage.js";
import { limit } from "./texts.js";
import { words } from "./words.js";

/** @typedef {import("./media.js").Person} Person */
/** @typedef {import("./texts.js").Only | { name: string, identity: string }} Only */
/**
 * A message (`text`), an announcement of the service, or a line about messages that are not shown. `mine`: you have
 * sent it; `n` is the number of messages that a line counts.
 * @typedef {{ kind: "text" | "service" | "lost", at: Date, from: string, name: string, role: string, host: boolean, mine: boolean,
 *   text: string, only: Only, state: "" | "sending" | "failed", n: number, why: import("./texts.js").Cause | "" }} Entry
 */

/** Messages that are kept. */
const KEPT = 500;
// Milliseconds: messages that arrive within them are one note; the time until the next message not shown is a new line;
// how often a line changes its number.
const GATHER = 1000;
const PAUSE = 5000;
const COUNT = 500;
// Characters in a note.
const SHOWN = 200;
const ALERTS = "chat-alerts";

/**
 * @param {{ room: string, people: () => Person[], role_shown: (name: string) => string, is_host: (role: string) => boolean,
 *   link: () => import("./media.js").Connection | null, note: ReturnType<typeof import("./notes.js").notes>,
 *   unread: (n: number) => void, busy: (yes: boolean) => void, show: (open: boolean) => void, signal: AbortSignal }} call
 */
export function chat(call) {
	const { note } = call;
	const element = h("aside.panel.chat", { id: "chat", hidden: true, "aria-label": words.chat });
	/** @type {Entry[]} */
	const entries = [];
	/** @type {Promise<ReturnType<typeof import("./chat/panel.js").chat_panel>> | null} */
	let loading = null;
	/** @type {ReturnType<typeof import("./chat/panel.js").chat_panel> | null} */
	let panel = null;
	let unread = 0;
	/** What the next note tells of. @type {Entry[]} */
	let news = [];
	let gathering = 0;
	/** The lines about messages of people that are not shown, by sender and cause. @type {Map<string, { entry: Entry, last: number }>} */
	const lines = new Map();
	let counting = 0;
	const sent = limit();
	const state = { may_write: true, away: false, joined: /** @type {Date | null} */ (null) };
	const alerts = () => browser_storage.get(ALERTS) !== "off";

	/** @param {Partial<Entry>} what @returns {Entry} */
	function add(what) {
		const nobody = { from: "", name: "", role: "", host: false, mine: false };
		/** @type {Entry} */
		const entry = { kind: "text", at: new Date(), ...nobody, text: "", only: null, state: "", n: 0, why: "", ...what };
		entries.push(entry);
		if (entries.length > KEPT) entries.shift();
		panel?.draw();
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
	/** Loads the panel, once. */
	function load() {
		loading ??= import("./chat/panel.js").then(({ chat_panel }) => {
			panel = chat_panel(element, { ...call, entries, state, alerts, turn_alerts, send, retry, wait: () => sent.wait(performance.now()) });
			return panel;
		});
		loading.catch(() => {
			loading = null;
		});
		return loading;
	}
	const turn_alerts = () => browser_storage.set(ALERTS, alerts() ? "off" : "on");

	/**
	 * Sends a text; a failure is shown at it. @param {string} text @param {string[]} identities empty for everyone
	 * @param {Only} only
	 */
	async function send(text, identities, only) {
		sent.count(performance.now());
		const entry = add({ text, only, mine: true, state: "sending" });
		const role = only && "role" in only ? only.role : "";
		try {
			await call.link()?.write(text, identities, role);
			entry.state = "";
		} catch {
			entry.state = "failed";
			if (element.hidden && !call.signal.aborted) note.say(words.chat_said(words.chat, words.chat_failed), { symbol: "warning", bad: true });
		}
		panel?.change(entry);
	}
	/** Takes a message that was not sent out again. @param {Entry} entry */
	function retry(entry) {
		entries.splice(entries.indexOf(entry), 1);
		panel?.draw();
	}
	/** Opens the panel. Returns false if it cannot be loaded. @param {(now: NonNullable<typeof panel>) => void} [then] */
	async function open(then) {
		if (!panel) call.busy(true);
		try {
			const loaded = await load();
			if (call.signal.aborted) return;
			call.show(true);
			then?.(loaded);
		} catch {
			note.say(words.not_now, { symbol: "warning", bad: true });
		}
		call.busy(false);
	}
	return {
		element,
		load,
		/** Opens the panel, or closes it. */
		press: () => (element.hidden ? open() : call.show(false)),
		/** Opens the panel to write to somebody. @param {Person} person */
		write_to: (person) => open((loaded) => loaded.write_to(person)),
		/** @param {boolean} yes */
		toggle(yes) {
			element.hidden = !yes;
			if (!yes) return;
			unread = 0;
			call.unread(0);
			stop();
			note.drop("chat");
			panel?.open();
		},
		/** A message has arrived. @param {import("./texts.js").Text} text */
		text: (text) => tell(add({ ...text, host: call.is_host(text.role) })),
		/** The service has sent a message to people inside. @param {string} text */
		announce: (text) => tell(add({ kind: "service", text })),
		/** A message is not shown. @param {string} from @param {string} name @param {import("./texts.js").Cause} why */
		lost(from, name, why) {
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
				for (const { entry } of lines.values()) panel?.change(entry);
			}, COUNT);
		},
		/** People have come or left, or have another name or role. */
		people: () => panel?.people(),
		/** @param {{ may_write?: boolean, away?: boolean }} now whether you may write; whether the connection is being made again */
		set(now) {
			Object.assign(state, now);
			panel?.people();
		},
		/** You have joined. @param {boolean} late whether somebody was inside before */
		joined(late) {
			if (late) state.joined = new Date();
			panel?.draw();
			(globalThis.requestIdleCallback ?? setTimeout)(() => load().catch(() => {}));
		},
		may_write: () => state.may_write,
	};
}
