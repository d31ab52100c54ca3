// How a call ends: the sentence for each cause, and what can be done then.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { Refusal } from "../lib/api.js";
import { words } from "./words.js";

/** What the service says before it puts somebody out (the topic "anteroom"); `backend`, when it is asked: where the room is.
 * @typedef {{ cause: string, reason: string, backend?: string | undefined }} Told */
/** A page of one sentence. `retry` is the word of the button that joins again; `keep` leaves the call kept; `over` says
 * that the call has ended for everybody.
 * @typedef {{ symbol: string, title: string, text: string, retry?: string, keep?: boolean, over?: boolean }} End */

/** The reasons of LiveKit's Disconnected. */
export const REASON = { other_tab: 2, restart: 3, removed: 4, ended: 5 };

/** Why somebody may not join again, as the cause of a message. @type {Record<string, string>} */
const CAUSES = {
	"Banned from this room": "banned",
	"Role admits nobody": "not_admitted",
	"Role is full": "full",
	"Room is closed": "closed",
	"Room is disabled": "disabled",
	"Room is full": "full",
	"Room is locked": "locked",
	"room is disabled": "disabled",
};

/**
 * Asks the service why somebody was put out. Without an answer there is no cause; who may join again hears where.
 * @param {import("./service.js").Service} server @returns {Promise<Told>}
 */
export async function ask_why(server) {
	try {
		const { data } = await server.join();
		return { cause: "", reason: "", backend: data.join?.backend };
	} catch (error) {
		if (error instanceof Refusal) return { cause: CAUSES[error.message] ?? "", reason: error.detail("reason") ?? "" };
	}
	return { cause: "", reason: "" };
}

/**
 * @param {number | undefined} reason of the media server @param {Told | null} told @param {boolean} was_connected
 * @param {import("../join/words.js").Words} joining the texts of the join page
 * @param {boolean} lacks_room whether the media server says that it does not have the room @returns {End}
 */
export function end_of(reason, told, was_connected, joining, lacks_room) {
	const text = told?.reason ?? "";
	switch (told?.cause) {
		case "banned":
			return { symbol: "lock", title: joining.banned_title, text: joining.banned };
		case "full":
			return { symbol: "people", title: joining.full_title, text: joining.full, retry: joining.try_again };
		case "locked":
			return { symbol: "lock", title: joining.locked_title, text: joining.locked, retry: joining.try_again };
		case "closed":
			return { symbol: "clock", title: words.ended_title, text: words.closed, over: true };
		case "duration":
			return { symbol: "clock", title: words.ended_title, text: words.duration, over: true };
		case "disabled":
			return { symbol: "lock", title: words.ended_title, text: joining.room_off, over: true };
		case "not_admitted":
			return { symbol: "lock", title: joining.removed_title, text: words.not_admitted };
		default:
	}
	switch (reason) {
		case REASON.removed:
			return { symbol: "out", title: joining.removed_title, text: joining.removed(text) };
		case REASON.ended:
			return { symbol: "out", title: words.ended_title, text: words.ended(text), over: true };
		case REASON.other_tab:
			return { symbol: "people", title: words.elsewhere_title, text: words.elsewhere, retry: joining.use_here, keep: true };
		default:
			if (lacks_room) {
				return { symbol: "warning", title: words.failed_title, text: words.not_open, retry: joining.try_again, keep: true };
			}
			return was_connected
				? { symbol: "weak", title: words.lost_title, text: words.lost, retry: words.rejoin, keep: true }
				: { symbol: "warning", title: words.failed_title, text: words.failed, retry: joining.try_again, keep: true };
	}
}
