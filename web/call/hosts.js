// What hosts have beside everybody's controls: who waits, the lock, everybody's microphones, the raised hands. Loaded for
// those who may do one of these things; each has its own permission.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { h, icon, put } from "../lib/dom.js";
import "./dialogs.js"; // They open at once when they are asked for.
import { door } from "./door.js";
import { lock } from "./lock.js";
import { menu, menu_button } from "./menu.js";
import { mute_all } from "./mute_all.js";
import { refusal } from "./refused.js";
import { words } from "./words.js";

/** @typedef {import("./media.js").Person} Person */
/** @typedef {ReturnType<typeof hosts>} Hosts */

/**
 * @param {{ server: import("./service.js").Service, note: import("./notes.js").Notes, me: () => import("./service.js").Me | null,
 *   may: (permission: string) => boolean, people: () => Person[], role_shown: (name: string) => string, list: { open: () => boolean, focus: () => void },
 *   show_list: () => void, draw_count: () => void, draw_lock: (is_locked: boolean) => void, refresh: () => Promise<void>,
 *   signal: AbortSignal }} call `refresh` asks who you are again
 */
export function hosts({ server, note, me, may, people, role_shown, list, show_list, draw_count, draw_lock, refresh, signal }) {
	const changed = () => {
		draw();
		draw_count();
	};
	const room = lock({ server, note, changed, read: () => waiting.read() });
	const silence = mute_all({ server, note, people, me, role_shown, changed, refresh });
	const waiting = door({
		server,
		note,
		is_open: list.open,
		show: show_list,
		changed: draw_count,
		elsewhere: list.focus,
		role_shown,
		take_door: room.take,
		signal,
	});

	const options = menu_button("plain.square", "more", words.room_options, (button) => menu(button, room.entries()));
	const mute = h("button.small.split", { type: "button", onclick: () => silence.run() });
	const whom = menu_button("small.split-more", "down", words.mute_whom, (button) => menu(button, silence.entries()));
	const both = h("div.split-button", null, mute, whom);
	const lock_button = h("button.small", { type: "button", onclick: room.toggle });
	const tools = h("div.tools", null, both, lock_button);
	const locked = h("p.panel-note", null, icon("lock"), h("span", null, words.locked));
	const held = h(
		"p.panel-note",
		null,
		icon("mic-off"),
		h("span", null, words.cannot_unmute),
		h("button.small", { type: "button", onclick: silence.free }, words.allow_unmute),
	);

	let drawn = "";
	function draw() {
		const is_locked = may("removeOthers") && room.is_locked();
		draw_lock(is_locked);
		const now = JSON.stringify([may("mute"), may("removeOthers"), is_locked, silence.is_busy(), silence.is_held()]);
		if (now === drawn) return;
		drawn = now;
		both.hidden = !may("mute");
		lock_button.hidden = options.hidden = !may("removeOthers");
		mute.setAttribute("aria-disabled", String(silence.is_busy()));
		put(mute, silence.is_busy() ? h("span.ring") : icon("mic-off"), silence.is_busy() ? words.muting : words.mute_all);
		const text = is_locked ? words.unlock : words.lock;
		lock_button.setAttribute("aria-label", text);
		lock_button.title = text;
		put(lock_button, icon(is_locked ? "unlock" : "lock"), is_locked ? words.unlock_short : words.lock_short);
		locked.hidden = !is_locked;
		held.hidden = !may("mute") || !silence.is_held();
	}
	draw();
	return {
		options,
		tools,
		parts: [waiting.element, waiting.denied, locked, held],
		draw,
		/** What you may do is known, or has changed. */
		take() {
			silence.take();
			waiting.allow(may("removeOthers"));
			changed();
		},
		/** Reads who waits, and the door. */
		read: waiting.read,
		waiting: waiting.count,
		focus: waiting.focus,
		entry: waiting.entry,
		mute_all: () => may("mute") && silence.run(),
		lock: () => may("removeOthers") && room.toggle(),
		async lower_all() {
			const n = people().filter((one) => one.hand && !one.me).length;
			try {
				await server.lower_all();
				note.say(words.lowered_all(n), { symbol: "check" });
			} catch (error) {
				note.warn(refusal(error));
			}
		},
	};
}
