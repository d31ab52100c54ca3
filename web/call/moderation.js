// What can be done about a person: the menu at a tile and in the list. What the role may not do is not offered. Nobody
// can switch on another person's microphone.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { Refusal } from "../lib/api.js";
import { menu } from "./menu.js";
import { refusal, status_of } from "./refused.js";
import { words } from "./words.js";

/** @typedef {import("./media.js").Person} Person */
/** @typedef {import("./menu.js").Entry} Entry */
/** @typedef {{ text: string } & import("./notes.js").Kind} Said */
/** Does something about a person and says how it went.
 * @typedef {(person: Person, doing: () => Promise<any>, done: string | ((answer: any) => string | Said)) => Promise<void>} Act */

// Milliseconds until a request about somebody whom the service does not know yet is sent again.
const LATER = 1500;
/** Why nobody can get a role now. @type {Record<string, string>} */
const REFUSED_ROLES = { "Role is full": words.role_full, "Role admits nobody": words.role_nobody };

/**
 * @param {{ server: import("./service.js").Service, note: import("./notes.js").Notes, may: (permission: string) => boolean,
 *   gives: () => string[], is_inside: (person: Person) => boolean, role_shown: (name: string) => string,
 *   may_write: () => boolean, write_to: (person: Person) => void, large: () => string | null,
 *   keep: (id: string | null) => void, fill: (id: string) => void }} call `gives` returns the roles that you may give
 */
export function moderation({ server, note, may, gives, is_inside, role_shown, may_write, write_to, large, keep, fill }) {
	const { say, warn } = note;

	/** @type {Act} */
	async function act(person, doing, done) {
		try {
			const answer = await doing().catch(async (error) => {
				// The service hears of people a moment after the media server has them.
				if (status_of(error) !== 404 || !is_inside(person)) throw error;
				await new Promise((turn) => setTimeout(turn, LATER));
				return doing();
			});
			const said = typeof done === "string" ? done : done(answer.data);
			if (typeof said === "string") say(said, { symbol: "check" });
			else say(said.text, said);
		} catch (error) {
			const of_role = REFUSED_ROLES[error instanceof Refusal ? error.message : ""];
			warn(of_role ?? refusal(error, { 404: words.gone }));
		}
	}
	/** Opens a dialog about a person. @param {"change_role" | "remove"} which @param {Person} person */
	const ask = (which, person) =>
		import("./dialogs.js").then(
			(dialogs) => dialogs[which]({ server, act, may, gives, role_shown }, person),
			() => warn(words.not_now),
		);
	/** @param {Person} person */
	const lower = (person) => act(person, () => server.lower(person.sid), words.lowered_all(1));
	/** @param {Person} person @param {"audio" | "video" | "screen"} type @param {string} symbol @param {string} text @param {string} done @returns {Entry} */
	const mute = (person, type, symbol, text, done) => ({
		icon: symbol,
		text,
		act: () => act(person, () => server.mute(person.sid, type), done),
	});

	/** Returns the menu of a person, or of the screen that they share. @param {Person} person @param {string} id of the tile @returns {import("./menu.js").Entries} */
	function entries_of(person, id) {
		const is_large = large() === id;
		const { name } = person;
		return [
			person.publishes && {
				icon: is_large ? "unpin" : "pin",
				text: is_large ? words.stop_large : words.keep_large,
				act: () => keep(is_large ? null : id),
			},
			!person.me && may_write() && { icon: "chat", text: words.chat_write, act: () => write_to(person) },
			id.startsWith("screen:") && {
				icon: "full",
				text: document.fullscreenElement?.matches(".tile") ? words.fullscreen.on : words.fullscreen.off,
				act: () => fill(id),
			},
			...(person.me
				? []
				: [
						may("mute") && person.hand && { icon: "hand", text: words.lower_hand, act: () => lower(person) },
						may("mute") && person.voice_on && mute(person, "audio", "mic-off", words.mute, words.muted_done(name)),
						may("mute") && person.camera_on && mute(person, "video", "camera-off", words.stop_video, words.video_done(name)),
						may("mute") && person.screen_on && mute(person, "screen", "screen-off", words.stop_sharing, words.screen_done(name)),
						may("changeRole") &&
							gives().some((role) => role !== person.role) && {
								icon: "key",
								text: words.change_role,
								act: () => ask("change_role", person),
							},
						may("removeOthers") && { icon: "out", text: words.remove, danger: true, act: () => ask("remove", person) },
					]),
		];
	}
	return {
		lower,
		/** Opens the menu of a person, or of the screen that they share. @param {Person} person @param {HTMLElement} button @param {string} [id] of the tile */
		options: (person, button, id = person.id) => void menu(button, entries_of(person, id)),
		/** Returns true if the menu of a person has entries. @param {Person} person */
		has_options: (person) => entries_of(person, person.id).some(Boolean),
	};
}
