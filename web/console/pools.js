// The pools of media servers: how the rooms are shared out, and what takes a server out for an update. Read again and
// again while the page is visible.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { all_of, call, get, segment } from "../lib/api.js";
import { h, icon, put } from "../lib/dom.js";
import { choice_name } from "../lib/labels.js";
import { read, sum } from "../lib/metrics.js";
import { poll } from "../lib/poll.js";
import { rows_in, set_text } from "../lib/rows.js";
import { count_of } from "../lib/text.js";
import { busy, dialog, sentence, toast } from "../lib/ui.js";
import { table_of } from "./inside.js";
import { may, session } from "./session.js";
import { shown_name } from "./title.js";

/** @typedef {{ id: string, name: string, type: string, default: boolean, health: { state: string }, pool?: string, region?: string,
 *   weight: number, draining: boolean, load: { rooms: number, people: number, share: number, target: number } }} Server */

const PATH = "/v2/backends";
const FAILED = "anteroom_backend_failed_total";
const MINUTE = 60000;
// Milliseconds between two readings of how often people could not connect.
const READ = 5000;
// Rooms in session that are looked at to find those of a server, so many at once, and rooms that are named.
const LOOKED = 300;
const AT_ONCE = 6;
const NAMED = 12;

const percent = (/** @type {number} */ value) => `${Math.round(value)} %`;
const rooms_of = (/** @type {number} */ n) => count_of(n, "room");
const people_of = (/** @type {number} */ n) => count_of(n, "person", "people");

/** What people could not connect to, as it was read: when, and how often by the name of the media server. @type {{ time: number, counts: Map<string, number> }[]} */
let readings = [];

/** Returns how often people could not connect to each of the media servers in the last minute, as far as it was read. @param {AbortSignal} signal */
async function failures(signal) {
	const last = readings.at(-1);
	if (!last || Date.now() - last.time >= READ) {
		const now = read(await get("/v2/service/metrics", signal));
		const names = (now.series.get(FAILED) ?? []).map(({ labels }) => labels.backend ?? "");
		const counts = new Map(names.map((name) => [name, sum(now, FAILED, ({ backend }) => backend === name)]));
		readings = [...readings.filter(({ time }) => Date.now() - time < MINUTE), { time: Date.now(), counts }];
	}
	const [first] = readings;
	const newest = readings.at(-1);
	return new Map([...(newest?.counts ?? [])].map(([name, count]) => [name, count - (first?.counts.get(name) ?? 0)]));
}

/**
 * Returns the rooms in session at a server.
 * @param {Server} server @param {AbortSignal} signal @returns {Promise<{ name: string, people: number }[]>}
 */
async function rooms_at({ name, load }, signal) {
	if (!may("live:read") || !may("sessions:read") || load.rooms === 0) return [];
	const sessions = (await all_of("/v2/sessions", { active: true }, signal, LOOKED)).slice(0, LOOKED);
	/** @type {{ name: string, people: number }[]} */
	const found = [];
	async function look() {
		for (let one = sessions.shift(); one && found.length < load.rooms; one = sessions.shift()) {
			// It may have ended in between.
			const now = await get(`/v2/active-rooms/${segment(one.room_id)}`, signal).catch(() => null);
			if (now?.backend === name) found.push({ name: shown_name(now), people: now.peer_count });
		}
	}
	await Promise.all(Array.from({ length: AT_ONCE }, look));
	return found.sort((a, b) => b.people - a.people);
}

/**
 * Says which rooms a server has and how many people are inside, and moves them if that is wanted.
 * @param {Server} server @param {() => Promise<any>} renew @param {AbortSignal} signal
 */
async function ask_to_move(server, renew, signal) {
	const path = `${PATH}/${segment(server.id)}`;
	/** @type {Server} */
	const now = await get(path, signal);
	const rooms = await rooms_at(now, signal);
	const { load } = now;
	const named = rooms.slice(0, NAMED);
	const more = load.rooms - named.length;
	const move = h("button.primary", { type: "button" }, icon("out"), "Move rooms");
	const cancel = h("button", { type: "button", autofocus: true, onclick: () => box.close() }, "Cancel");
	const box = dialog(`Move the rooms of “${now.name}”?`, [
		h("p", null, h("b", null, `${rooms_of(load.rooms)}, ${people_of(load.people)} inside.`)),
		named.length > 0 &&
			h(
				"ul.moving",
				{ "aria-label": "Rooms that are moved" },
				named.map((one) => h("li", null, h("span.break", null, one.name), h("span.quiet", null, people_of(one.people)))),
				more > 0 && h("li", null, h("span.quiet", null, `${count_of(more, "more room")}.`)),
			),
		h(
			"p.quiet",
			null,
			"Each room goes on at another server of the pool. For people with the call page, the picture stands still for a moment. With other clients, people have to join again.",
		),
		h("div.dialog-foot", null, cancel, move),
	]);
	move.addEventListener("click", () =>
		busy(move, async () => {
			try {
				const { data } = await call("POST", `${path}/move`);
				toast(data.rooms === 0 ? "The server has no rooms." : `Moving ${rooms_of(data.rooms)}.`);
			} catch (error) {
				toast(sentence(error), "bad");
			}
			box.close();
			await renew();
		}),
	);
}

/** The states of media servers. @type {Record<string, string>} */
const STATES = { up: "Up", down: "Down" };

/** Returns the state of a server in words, and how far it is emptied. @param {Server} server */
function state_words({ health, draining, load }) {
	const state = STATES[health.state] ?? "Not tested";
	if (!draining) return state;
	if (load.rooms === 0 && load.people === 0) return `${state}. Empty: it can be stopped.`;
	return `${state}. Draining: ${rooms_of(load.rooms)} left.`;
}

/** @param {() => Promise<any>} renew @param {AbortSignal} signal */
const server_row = (renew, signal) => (/** @type {Server} */ first) => {
	let now = first;
	const path = `${PATH}/${segment(first.id)}`;
	const name = h("span.row-name");
	const badge = h("span.badge");
	const state = h("td", { "data-label": "State" });
	const share = h("span");
	const target = h("span.note");
	const bar = h("span.load-bar", { "aria-hidden": "true" });
	const region = h("td", { "data-label": "Region" });
	/** Begins to drain, or ends it. @param {boolean} draining */
	async function drain(draining) {
		await call("PATCH", path, { body: { draining } });
		await renew();
	}
	/** @param {string} words @param {() => Promise<any>} act */
	const button = (words, act) => {
		const one = h("button.small", { type: "button" }, words);
		one.addEventListener("click", () => busy(one, () => act().catch((error) => toast(sentence(error), "bad"))));
		return one;
	};
	const out = button("Drain", async () => {
		await drain(true);
		toast(`${now.name} gets no new rooms.`, { undo: () => drain(false) });
	});
	const move = button("Move rooms", () => ask_to_move(now, renew, signal));
	const undo = button("Undo", async () => {
		await drain(false);
		toast(`${now.name} gets new rooms again.`);
	});
	const element = h(
		"tr",
		null,
		h(
			"td",
			{ "data-label": "Name" },
			h("a.row-link", { href: `/console/media/${first.id}` }, h("span.name-cell", null, name, first.default && h("span.badge.accent", null, "Default"), badge)),
		),
		state,
		h("td", { "data-label": "Load" }, h("span.load", null, share, bar, target)),
		region,
		may("backends:write") && h("td.pool-acts", null, h("div.actions", null, out, move, undo)),
	);
	return {
		element,
		/** @param {Server} server */
		update(server) {
			now = server;
			const { load, draining, health } = server;
			set_text(name, server.name);
			set_text(badge, health.state === "down" ? "Down" : draining ? "Draining" : "");
			badge.classList.toggle("off", health.state === "down");
			badge.hidden = badge.textContent === "";
			set_text(state, state_words(server));
			set_text(share, `${rooms_of(load.rooms)}, ${people_of(load.people)}`);
			set_text(target, draining ? `${percent(load.share)} of the people` : `${percent(load.share)} of the people, target ${percent(load.target)}`);
			bar.style.setProperty("--share", `${load.share}%`);
			bar.style.setProperty("--target", `${load.target}%`);
			bar.classList.toggle("draining", draining);
			set_text(region, server.region ? choice_name("region", server.region) : "–");
			const focus = document.activeElement;
			out.hidden = draining;
			move.hidden = !draining || load.rooms === 0;
			undo.hidden = !draining;
			for (const [one, what] of /** @type {const} */ ([[out, "Drain"], [move, "Move rooms of"], [undo, "Undo draining of"]])) one.setAttribute("aria-label", `${what} ${server.name}`);
			// What had the focus has done its work.
			if (focus instanceof HTMLElement && focus.hidden && element.contains(focus)) (draining ? undo : out).focus();
		},
	};
};

/**
 * Returns the pools, each with its servers, kept up to date; null if there are none.
 * @param {Server[]} backends @param {AbortSignal} signal
 */
export async function pools_section(backends, signal) {
	if (!backends.some(({ pool }) => pool)) return null;
	const { operator } = await session();
	const notices = h("div.stack", { role: "status" });
	const place = h("div");
	const element = h("div.pools", null, notices, place);
	/** @type {Map<string, { element: HTMLElement, draw: (servers: Server[]) => void }>} */
	const shown = new Map();
	/** @param {string} name */
	function pool_of(name) {
		const body = h("tbody");
		const about = h("p.quiet.pool-about");
		const columns = ["Name", "State", "Load", "Region", ...(may("backends:write") ? [""] : [])];
		const title = `Pool ${name}`;
		const show_rows = rows_in(body, (/** @type {Server} */ one) => one.id, server_row(renew, signal));
		return {
			element: h("section", { "aria-label": title }, h("h2.section-title", null, title), about, h("div.list-place", null, table_of(columns, body, title))),
			/** @param {Server[]} servers */
			draw(servers) {
				const all = (/** @type {(one: Server) => number} */ of) => servers.reduce((sum, one) => sum + of(one), 0);
				set_text(about, `${count_of(servers.length, "server")}, ${rooms_of(all(({ load }) => load.rooms))}, ${people_of(all(({ load }) => load.people))}.`);
				show_rows(servers);
			},
		};
	}
	/** @param {Server[]} all */
	function draw(all) {
		const names = [...new Set(all.flatMap(({ pool }) => pool ?? []))].sort();
		for (const [name, { element: gone }] of shown) {
			if (names.includes(name)) continue;
			gone.remove();
			shown.delete(name);
		}
		for (const name of names) {
			const one = shown.get(name) ?? pool_of(name);
			if (!shown.has(name)) place.append(one.element);
			shown.set(name, one);
			one.draw(all.filter(({ pool }) => pool === name));
		}
	}
	let told = "";
	/** Says to which servers people cannot connect, as operators can read. @param {Server[]} all */
	async function tell(all) {
		if (!operator) return;
		const counts = await failures(signal);
		const lines = all.filter(({ name }) => (counts.get(name) ?? 0) > 0).map(({ name }) => `People cannot connect to ${name} (${counts.get(name)} in the last minute)`);
		if (lines.join() === told) return;
		told = lines.join();
		put(notices, lines.map((text) => h("p.notice.warn", null, icon("warning"), h("span", null, text))));
	}
	async function renew() {
		const all = await all_of(PATH, {}, signal);
		draw(all);
		await tell(all);
	}
	draw(backends);
	tell(backends).catch(() => {});
	poll(renew, signal);
	return element;
}
