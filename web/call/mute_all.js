// Everybody else's microphones: muted at once, and kept muted until a host allows them again.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { announce } from "../lib/dom.js";
import { refusal } from "./refused.js";
import { words } from "./words.js";

/** @typedef {import("./media.js").Person} Person */

/**
 * @param {{ server: import("./service.js").Service, note: import("./notes.js").Notes, people: () => Person[],
 *   me: () => import("./service.js").Me | null, role_shown: (name: string) => string, changed: () => void,
 *   refresh: () => Promise<void> }} call `refresh` asks who you are again, which tells what is held
 */
export function mute_all({ server, note, people, me, role_shown, changed, refresh }) {
	const { say, warn } = note;
	let is_busy = false;
	let was_held = false;
	let is_known = false;
	const is_held = () => me()?.holds?.some((one) => one.type === "audio") ?? false;

	/** Does one thing at a time. @param {() => Promise<void>} doing */
	async function act(doing) {
		if (is_busy) return;
		is_busy = true;
		changed();
		try {
			await doing();
		} catch (error) {
			warn(refusal(error), "mute");
		}
		is_busy = false;
		changed();
	}
	/** @param {number} muted @param {number} missed @param {() => void} again */
	const say_some = (muted, missed, again) =>
		say(words.muted_some(muted, muted + missed), { key: "mute", symbol: "warning", bad: true, act: { text: words.try_again, do: again } });
	/** @param {string} [role] everybody, if there is none */
	const run = (role) =>
		act(async () => {
			const { muted, missed } = (await server.mute_all(role)).data;
			if (missed > 0) return say_some(muted, missed, () => run(role));
			if (muted === 0) return say(words.muted_nobody, { key: "mute", symbol: "info" });
			const keep = !is_held() && { act: { text: words.keep_muted, do: () => hold(true, role) } };
			say(words.muted_many(muted), { key: "mute", symbol: "check", ...keep });
		});
	/** @param {boolean} yes @param {string} [role] */
	const hold = (yes, role) =>
		act(async () => {
			const { muted, missed } = (await server.hold(yes, role)).data;
			was_held = yes;
			await refresh();
			if (yes && missed > 0) return say_some(muted, missed, () => hold(yes, role));
			say(yes ? words.cannot_unmute : words.freed, { key: "mute", symbol: yes ? "mic-off" : "mic" });
		});
	function roles_inside() {
		const inside = new Set(people().filter((one) => !one.me).map((one) => one.role));
		return (me()?.roles ?? []).map((one) => one.name).filter((name) => inside.has(name));
	}
	return {
		run,
		is_busy: () => is_busy,
		is_held,
		free: () => hold(false),
		/** Says what another host has done. */
		take() {
			const now = is_held();
			if (is_known && now !== was_held) announce(now ? words.cannot_unmute : words.freed, "hold");
			was_held = now;
			is_known = true;
		},
		entries: () => [
			...roles_inside().map((role) => ({ icon: "mic-off", text: words.mute_role(role_shown(role)), act: () => run(role) })),
			{ line: true },
			{ text: words.can_unmute, ticked: !is_held(), act: () => hold(!is_held()) },
		],
	};
}
