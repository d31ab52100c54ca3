// The wait at the door: asks again and again what the people inside decided about this person. The ticket is kept in
// the tab, so that a reload keeps the place in the queue. Loaded when somebody waits.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { Refusal, call, segment } from "../lib/api.js";
import { announce, h, icon, put } from "../lib/dom.js";
import { forget_waiter, keep_waiter } from "./kept.js";

/** @typedef {import("./kept.js").Waiter} Waiter */

// Seconds until the next question if the server could not be reached, the first time and at most; between two questions
// after a denial.
const SOON = 2;
const LATE = 15;
const DENIED = 5;

/** @param {unknown} error @returns {error is Refusal} */
const is_away = (error) => error instanceof Refusal && (error.status === 0 || error.status >= 500);

/**
 * Shows that somebody waits. A denial can be taken back while it holds, so the page then goes on to ask.
 * @param {{ waiter: Waiter, after: number, words: import("./words.js").Words, choices: Node,
 *   knock: () => Promise<any>, denied: (reason: string | null) => void }} door `knock` asks for another ticket when the
 * service has lost this one; `denied` shows a denial, or with null that it is over
 * @returns what is shown, and `decided`, which waits: it returns the response of /v2/token, or null if the person
 * stopped waiting or was denied, and throws the refusal
 */
export function at_the_door({ waiter, after, words, choices, knock, denied }) {
	const room_name = waiter.what.room.title ?? waiter.what.room.name;
	const heading = h("h1", { tabindex: "-1" }, words.waiting_title);
	const trouble = h("p.fault", { role: "status", hidden: true });
	const stop = h("button.full.big", { type: "button" }, words.stop_waiting);
	const element = h(
		"div.join-form",
		null,
		h(
			"div.join-head",
			null,
			h("p.eyebrow", null, room_name),
			heading,
			h("p.quiet", null, words.waiting(room_name)),
		),
		choices,
		trouble,
		stop,
		h("p.hint.foot", null, icon("lock"), words.waiting_off),
	);
	const path = () => `/v2/tickets/${segment(waiter.ticket)}`;
	const over = new AbortController();
	const { signal } = over;
	let misses = 0;

	/** Asks once. @returns {Promise<any>} */
	async function ask() {
		try {
			return (await call("GET", path(), { signal })).data;
		} catch (error) {
			if (!(error instanceof Refusal && error.status === 404)) throw error;
		}
		if (waiter.denied !== undefined) return { state: "over" };
		// The service lost the ticket, or this page did not ask for a minute.
		const answer = await knock();
		if (!answer.ticket) return answer;
		waiter.ticket = answer.ticket;
		return { state: "waiting", retry_after: answer.retry_after };
	}
	/** Waits, less long if the page is shown again or the network is back. @param {number} seconds @returns {Promise<void>} */
	const pause = (seconds) =>
		new Promise((done) => {
			const woken = new AbortController();
			const wake = () => {
				if (document.hidden && !signal.aborted) return;
				clearTimeout(timer);
				woken.abort();
				done();
			};
			const timer = setTimeout(() => {
				woken.abort();
				done();
			}, seconds * 1000);
			document.addEventListener("visibilitychange", wake, woken);
			addEventListener("online", wake, woken);
			signal.addEventListener("abort", wake, woken);
		});
	/** @param {string} text */
	function tell(text) {
		if (trouble.hidden === (text === "")) return;
		trouble.hidden = text === "";
		put(trouble, text && icon("warning"), text);
	}
	async function wait() {
		let seconds = after;
		if (waiter.denied !== undefined) denied(waiter.denied);
		for (;;) {
			await pause(seconds);
			if (signal.aborted) return null;
			try {
				const answer = await ask();
				misses = 0;
				tell("");
				if (answer.state === "over") {
					denied(null);
					return null;
				}
				if (answer.state === "denied") {
					const reason = answer.reason ?? "";
					if (SERVICE.test(reason)) throw new Refusal(403, { message: reason }, new Headers());
					if (waiter.denied !== reason) denied(reason);
					waiter.denied = reason;
				} else if (answer.state !== "waiting") return answer;
				keep_waiter(waiter);
				seconds = answer.retry_after ?? DENIED;
			} catch (error) {
				if (signal.aborted) return null;
				const is_busy = error instanceof Refusal && [409, 429].includes(error.status);
				if (!is_busy && !is_away(error)) throw error;
				seconds = Math.max(Math.min(LATE, SOON * 2 ** misses), is_busy ? error.retry_after : 0);
				misses += 1;
				tell(words.waiting_away);
			}
		}
	}
	async function decided() {
		keep_waiter(waiter);
		try {
			return await wait();
		} finally {
			over.abort();
			forget_waiter();
		}
	}
	stop.addEventListener("click", () => {
		over.abort();
		call("DELETE", path()).catch(() => {});
	});
	return {
		element,
		show() {
			heading.focus();
			announce(words.waiting(room_name));
		},
		decided,
	};
}

// What the service says when an admitted person cannot come in after all; other reasons were written by a host.
const SERVICE = /^(Ro(om|le) (is|admits|code) |Banned from |Removed from |Consent to )/;
