// The place of the chat, and what the chat has to know once it is loaded. The code that reads and shows messages is
// loaded when the page is idle, or when the chat is opened.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { h } from "../lib/dom.js";
import { words } from "./words.js";

/** @typedef {import("./media.js").Person} Person */
/**
 * What the chat needs of the call. `show` opens the panel, or closes it; `busy` shows that it is being loaded.
 * @typedef {{ room: string, people: () => Person[], role_shown: (name: string) => string, is_host: (role: string) => boolean,
 *   link: () => import("./media.js").Connection | null, note: import("./notes.js").Notes,
 *   unread: (n: number) => void, busy: (yes: boolean) => void, show: (open: boolean) => void, signal: AbortSignal }} Call
 */
/** Whether you may write; whether the connection is being made again; when you joined, if somebody was inside before.
 * @typedef {{ may_write: boolean, away: boolean, joined: Date | null }} State */

/** @param {Call} call */
export function chat(call) {
	const element = h("aside.panel.chat", { id: "chat", hidden: true, "aria-label": words.chat });
	/** @type {State} */
	const state = { may_write: true, away: false, joined: null };
	/** @typedef {ReturnType<typeof import("./chat/store.js").chat_store>} Store */
	/** @type {Promise<Store> | null} */
	let loading = null;
	/** @type {Store | null} */
	let store = null;
	/** The connection whose texts are read. @type {unknown} */
	let reads = null;
	/** What the service said before. @type {string[]} */
	const said = [];

	/** Loads the chat, once. */
	function load() {
		loading ??= import("./chat/store.js").then(async ({ chat_store }) => {
			const made = chat_store(element, state, call);
			store = made;
			said.splice(0).forEach(made.announce);
			return made;
		});
		loading.catch(() => {
			loading = null;
		});
		return loading;
	}
	/** Takes the texts that have arrived, once there is a connection. */
	async function read() {
		const link = call.link();
		if (!link || !store || reads === link.room) return;
		reads = link.room;
		await link.read_texts(store);
	}
	/** Opens the panel. @param {Person} [person] whom to write to */
	async function open(person) {
		call.busy(!store);
		try {
			const { write_to } = await load();
			await read();
			if (!call.signal.aborted) call.show(true);
			if (person) write_to(person);
		} catch {
			call.note.warn(words.not_now);
		}
		call.busy(false);
	}
	return {
		element,
		/** Opens the panel, or closes it. */
		press: () => (element.hidden ? open() : call.show(false)),
		/** Opens the panel to write to somebody. @param {Person} person */
		write_to: (person) => open(person),
		/** @param {boolean} yes */
		toggle(yes) {
			element.hidden = !yes;
			if (yes) store?.open();
		},
		/** The service has sent a message to people inside. @param {string} text */
		announce: (text) => (store ? store.announce(text) : said.push(text)),
		/** People have come or left, or have another name or role. */
		people: () => store?.people(),
		/** @param {Partial<State>} now what has changed */
		set(now) {
			Object.assign(state, now);
			store?.people();
		},
		/** There is a connection. @param {boolean} late whether somebody was inside before you */
		joined(late) {
			if (late) state.joined = new Date();
			store?.draw();
			(globalThis.requestIdleCallback ?? setTimeout)(() => load().then(read, () => {}));
		},
		may_write: () => state.may_write,
	};
}
