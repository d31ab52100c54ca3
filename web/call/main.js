// The call: takes the page over from the join page, and gives it back with a sentence.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { announce, h, icon, put } from "../lib/dom.js";
import { forget, keep, rejoins_of, wait_to_rejoin } from "../join/kept.js";
import { bar } from "./bar.js";
import { stay_awake } from "./awake.js";
import { asked_of } from "./budget.js";
import { chat } from "./chat.js";
import { clock } from "./clock.js";
import { trouble_of } from "./device.js";
import { REASON, ask_why, end_of } from "./ends.js";
import { own_hand } from "./hand.js";
import { held_microphone } from "./held.js";
import { keys } from "./keys.js";
import { library } from "./library.js";
import { connection, shown_track, yourself } from "./media.js";
import { moderation } from "./moderation.js";
import { muted_listener } from "./muted.js";
import { news } from "./news.js";
import { notes } from "./notes.js";
import { open_more } from "./more.js";
import { panels } from "./panels.js";
import { people_list } from "./people.js";
import { service } from "./service.js";
import { DEVICES, TROUBLES, troubles } from "./troubles.js";
import { views } from "./views.js";
import { words } from "./words.js";

/** @typedef {import("./media.js").Kind} Kind */
/** @typedef {import("./media.js").Person} Person */
/** @typedef {import("./troubles.js").Device} Device */
/**
 * The join page, as the call needs it: its place, its texts, a page of one sentence, and joining again.
 * @typedef {{ place: HTMLElement, words: import("../join/words.js").Words,
 *   stop: (end: { symbol: string, title: string, text: string, retry?: string, again?: () => void }) => void,
 *   come_back: (entry: import("../join/kept.js").Entry, steal?: boolean) => void,
 *   tell: (type: "joined" | "left" | "ended", room_id: string) => void }} Page
 */
/** What the preview hands over. `trouble` says why a device is off.
 * @typedef {{ audio: MediaStreamTrack | null, video: MediaStreamTrack | null, trouble: { audio?: string | undefined, video?: string | undefined } }} Media */

const KINDS = /** @type {Kind[]} */ (["audio", "video", "screen"]);
// The longest message that is shown, in characters.
const MESSAGE = 300;
// Milliseconds: for how long a new role is asked for, and how often. If a role has changed, people ask at random times, not
// all at once: within SPREAD, or if what they may publish has changed, within SPREAD_BY for each person inside. For how
// long the connection is lost until the service is told; all who were at a media server lose it at once, so they tell
// it within SPREAD more.
const PATIENCE = 10000;
const AGAIN = 300;
const SPREAD = 4000;
const SPREAD_BY = 20;
const LOST = 8000;

/** @type {Promise<unknown> | null} */
let style = null;

/** Loads the styles of the call. */
function styles() {
	style ??= new Promise((done) => {
		const href = new URL("../style/call.css", import.meta.url).pathname;
		document.head.append(h("link", { rel: "stylesheet", href, onload: done, onerror: done }));
	});
	return style;
}

/** Loads what the call needs while the preview is shown. */
export const prepare = () => Promise.allSettled([library(), styles()]);

/**
 * @param {Page} page @param {import("../join/kept.js").Entry} entry @param {import("./move.js").Join} join
 * @param {Media} media
 */
export async function begin(page, entry, join, media) {
	const { room } = entry;
	await styles();
	document.title = `${room.name} – Anteroom`;
	document.body.classList.add("in-call");
	const server = service(entry.room_id, entry.token);
	const over = new AbortController();
	const { signal } = over;
	let publish = entry.role.publishParams;
	const can_share = Boolean(navigator.mediaDevices?.getDisplayMedia);
	/** What the role publishes and the browser can. */
	const kinds_now = () => KINDS.filter((kind) => publish.allowed.includes(kind) && (kind !== "screen" || can_share));
	let kinds = kinds_now();
	/** @type {Media["trouble"]} */
	const trouble = { ...media.trouble };
	/** @type {import("./media.js").Connection | null} */
	let link = null;
	/** @type {import("./service.js").Me | null} */
	let me = null;
	/** @type {"connecting" | "connected" | "reconnecting"} */
	let state = "connecting";
	let stands = false;
	/** Says since when the connection is lost. @type {ReturnType<typeof setTimeout> | undefined} */
	let telling;
	/** Whether the page around this one was told of the join. */
	let is_told = false;
	/** The people as they were last shown. @type {Person[]} */
	let shown = [];
	/** How many people the media server names, and how many are inside, if the service told that since the last change. */
	let named = 0;
	let inside_count = 0;
	let role = entry.role.name;
	/** The latest question for the own role, and whether it is another one. */
	let asking = {};
	let is_role_new = false;
	/** @type {import("./ends.js").Told | null} */
	let told = null;
	const preview = media.video && shown_track(media.video);
	const may = (/** @type {string} */ permission) => me?.role.permissions[permission] === true;
	/** Returns what people see of a role. @param {string} name */
	const role_shown = (name) => [...(me?.roles ?? []), entry.role].find((one) => one.name === name)?.title ?? name;

	// ---- the page ----

	const note = notes();
	const { say, warn } = note;
	/** Whether the role and the browser have what a key does. @param {string} command */
	function has_key(command) {
		/** @type {Record<string, boolean>} */
		const some = { hand: hand.can(), full: document.fullscreenEnabled, mute_all: may("mute"), lock: may("removeOthers") };
		for (const kind of KINDS) some[kind] = kinds.includes(kind);
		return some[command] ?? true;
	}
	const is_host = () => may("mute") || may("removeOthers");
	// While the list is open, it shows the hands.
	const tell = news(room.name, (text, key) => is_host() && !list.open() && say(text, { key, symbol: "hand" }), signal);
	/** The controls of hosts, once they are loaded. @type {import("./hosts.js").Hosts | null} */
	let host = null;
	/** The mark and the menu of recordings, once they are loaded. @type {ReturnType<typeof import("./recording.js").recordings> | null} */
	let recording = null;
	const hand = own_hand({ link: () => (state === "connecting" ? null : link), server, note, draw: draw_controls });
	const held = held_microphone({ note, hand, begins: stop_microphone });
	const { options, has_options, lower } = moderation({
		server,
		note,
		may,
		gives: () => me?.gives ?? [],
		is_inside: ({ id }) => people().some((one) => one.id === id),
		role_shown,
		may_write: () => messages.may_write(),
		write_to: (person) => messages.write_to(person),
		large: () => view.large(),
		keep: (id) => view.keep(id),
		fill: (id) => view.fill(id),
	});
	const list = people_list({
		people,
		role_shown,
		options,
		has_options,
		lowers: () => may("mute"),
		lower: (one) => (one.me ? hand.turn() : lower(one)),
		lower_all: () => host?.lower_all(),
		host: () => host,
		close: () => panel.show(null),
	});
	const messages = chat({
		room: room.name,
		people,
		link: () => link,
		role_shown,
		note,
		signal,
		is_host: (name) => me?.roles?.find((one) => one.name === name)?.host === true,
		unread: (n) => controls.unread(n),
		busy: (yes) => controls.loads_chat(yes),
		show: (open) => panel.show(open ? "chat" : null),
	});
	/** Loads what hosts have, when you are one, and says what you may do. */
	async function equip_host() {
		if (!host && is_host()) {
			const { hosts } = await import("./hosts.js");
			host ??= hosts({
				server,
				note,
				me: () => me,
				may,
				people,
				role_shown,
				list,
				show_list: () => panel.show("people"),
				draw_count,
				draw_lock: controls.lock,
				refresh: learn_role,
				signal,
			});
			list.equip(host);
		}
		host?.take();
	}
	/** Loads what shows recordings, when there is one, or you may start one. @param {boolean} at_join */
	async function equip_recording(at_join) {
		if (!recording && (me?.may?.length || me?.recordings?.length || me?.consent || link?.is_recorded())) {
			const { recordings } = await import("./recording.js");
			recording ??= recordings({ entry, sentence: page.words.consent, line: controls.line, stage: view.element, people, note, own_flag: () => link?.is_recorded(), refresh: learn_role, at_join, signal });
		}
		if (me) recording?.take(me);
	}
	const view = views({
		entry,
		note,
		options(id, button) {
			const person = people().find((one) => one.id === id.replace(/^screen:/, ""));
			if (person) options(person, button, id);
		},
		everyone: () => panel.show("people"),
		stop_sharing: () => turn("screen", false),
	});
	const acts = {
		audio: () => (held.is() ? held.tell() : turn("audio")),
		video: () => turn("video"),
		screen: () => turn("screen"),
		hand: hand.turn,
		leave: ask_to_leave,
		chat: () => void messages.press(),
		people: () => panel.toggle("people"),
		help: () => void import("./keys_list.js").then(({ show_keys }) => show_keys(has_key), () => warn(words.not_now)),
		mute_all: () => host?.mute_all(),
		lock: () => host?.lock(),
		audio_devices: (/** @type {HTMLElement} */ button) => choose(button, "audio"),
		video_devices: (/** @type {HTMLElement} */ button) => choose(button, "video"),
		more: (/** @type {HTMLElement} */ button) =>
			open_more(button, controls, {
				view: view.entries(),
				devices: async () => {
					const { device_entries } = await import("./choose.js");
					return device_entries(DEVICES.filter((one) => kinds.includes(one)), link, own.complain);
				},
				tools: [{ icon: "gauge", text: words.connection, act: show_connection }],
				help: () => acts.help(),
				hosts: [host?.entry(), ...(recording?.entries() ?? []), may("endRoom") && { icon: "leave", text: words.end_all, danger: true, act: ask_to_leave }],
			}),
	};
	const controls = bar(room.name, acts);
	const show_length = clock({ note, draw: controls.length, ask: () => server.me(), signal });
	const own = troubles({ note, view, causes: trouble, kinds: () => kinds, link: () => link, signal });
	const root = h(
		"div.call",
		null,
		h("h1.off-screen", null, room.name),
		note.element,
		view.element,
		list.element,
		messages.element,
		controls.element,
	);
	const panel = panels(
		{ people: list, chat: messages },
		[view.element, controls.element],
		(open, before) => {
			controls.panel(open);
			if (open === "people") note.drop("door");
			if (!open && before) controls.focus_on(before);
		},
		signal,
	);
	put(page.place, root);
	view.say([icon("clock"), h("p", null, words.connecting)]);
	draw();
	controls.focus();
	performance.mark("call");

	keys({ ...acts, ...view.commands }, push_to_talk, signal);
	addEventListener("beforeunload", (event) => state !== "connecting" && event.preventDefault(), { signal });
	let is_hidden = false;
	addEventListener(
		"pagehide",
		() => {
			is_hidden = true;
			tell_around("left");
			link?.leave();
			// Browsers keep a page that is left, for the back button.
			addEventListener("pageshow", ({ persisted }) => persisted && page.come_back(entry), { once: true });
		},
		{ signal },
	);
	stay_awake(signal);

	/** Everyone; until the connection is there, yourself alone with the preview. @returns {Person[]} */
	function people() {
		// While the connection is made again, the library knows nobody: people stay where they are.
		if (state === "reconnecting") return shown;
		if (link && state !== "connecting") return link.people();
		return [yourself(entry.name, entry.role.name, kinds.length > 0, media, preview)];
	}
	function draw() {
		const all = people();
		shown = all;
		view.show(all);
		list.show(all);
		messages.people();
		recording?.draw(all);
		draw_count(all);
		draw_controls();
		if (state !== "connected") return;
		tell(all);
		own.weak(all[0]?.weak === true);
		const others = all.filter((one) => !one.me);
		const title = inside_count > 1 ? page.words.inside([], inside_count) : words.alone;
		view.say(others.length === 0 ? [h("b", null, title), h("p", null, words.alone_help)] : null);
	}
	/** Shows how many are inside, and who wants something. @param {Person[]} [all] whom the media server names */
	function draw_count(all = people()) {
		const n = all.length;
		// What the service told is older than a change.
		if (n !== named) inside_count = 0;
		named = n;
		const hands = may("mute") ? all.filter((one) => one.hand && !one.me).length : 0;
		controls.people(Math.max(n, inside_count), host?.waiting() ?? 0, hands);
	}
	/** Asks how many are inside, for people whom nobody names the others. */
	async function follow_inside() {
		const known = entry.room_state;
		if (!known || known.stopRoomStateOnJoin) return;
		const { watch_inside } = await import("../join/inside.js");
		const tell_inside = (/** @type {import("../join/inside.js").Inside} */ { peer_count, peers }) => {
			inside_count = peers ? 0 : peer_count;
			if (state === "connected") draw();
		};
		watch_inside({ code: entry.code, etag: null, state: known, is_shown: () => true, tell: tell_inside, at_once: true }, signal);
	}
	function draw_controls() {
		for (const kind of kinds) {
			const on = link && state !== "connecting" ? link.is_on(kind) : kind !== "screen" && media[kind] !== null;
			const bad = !on && kind !== "screen" && TROUBLES.includes(trouble[kind] ?? "");
			controls.draw(kind, on ? "on" : bad ? "bad" : "off");
		}
		if (held.is()) controls.draw("audio", "held");
		controls.draw("hand", hand.up() ? "on" : "off");
		controls.allow(held.is() ? [...kinds, "audio"] : kinds, state === "connecting" || hand.can());
	}

	function show_connection() {
		import("./stats.js")
			.then(({ connection_dialog }) => link && connection_dialog(link, { entry, join, signal }))
			.catch(() => warn(words.not_now));
	}

	// ---- your own devices ----

	const listen = muted_listener(() => say(words.muted, { key: "muted", symbol: "mic-off" }));

	/** Keeps which devices are on, for a reload. @param {Device} kind @param {boolean} on */
	function remember(kind, on) {
		entry[kind] = on;
		keep(entry);
	}
	function stop_microphone() {
		remember("audio", false);
		listen(undefined);
	}
	/** @param {Kind} kind @param {boolean} [yes] */
	async function turn(kind, yes = !link?.is_on(kind)) {
		if (!link || state === "connecting" || !kinds.includes(kind)) return;
		try {
			if (yes && !isSecureContext) throw new Error("plain HTTP");
			await link.turn(kind, yes);
			if (kind !== "screen") {
				delete trouble[kind];
				note.drop(kind);
				remember(kind, yes);
			}
			if (kind === "audio") listen(yes ? undefined : link.microphone());
			if (kind === "audio" && yes) note.drop("muted");
			announce((yes ? words.now_on : words.now_off)[kind], kind);
		} catch (error) {
			if (signal.aborted) return;
			if (kind !== "screen") own.complain(kind, error);
			// Whoever closes the browser's prompt has changed their mind.
			else if (trouble_of(error) !== "denied") warn(words.screen_failed);
		}
		draw();
	}
	let talks = false;
	/** @param {boolean} down */
	function push_to_talk(down) {
		if (down === talks || (down && link?.is_on("audio"))) return;
		talks = down;
		turn("audio", down);
	}
	/** @param {HTMLElement} button @param {Device} which */
	async function choose(button, which) {
		try {
			const { choose_device } = await import("./choose.js");
			if (link) await choose_device(button, which, link, (error) => own.complain(which, error));
		} catch {
			warn(words.not_now);
		}
	}

	// ---- leaving and the end ----

	/** Whoever may end the call for everybody says what is meant. */
	async function ask_to_leave() {
		const answer = may("endRoom") ? await import("./dialogs.js").then(({ ask_end }) => ask_end(), () => "leave") : "leave";
		if (answer === "leave") leave();
		if (answer === "end") server.end().catch(() => warn(words.not_now));
	}
	function leave() {
		end({ symbol: "out", title: words.left_title, text: words.left(room.name), retry: words.rejoin });
		link?.leave();
	}
	/** @param {"left" | "ended"} type */
	function tell_around(type) {
		if (is_told) page.tell(type, entry.room_id);
		is_told = false;
	}
	/** @param {import("./ends.js").End} how */
	function end(how) {
		close();
		tell_around(how.over ? "ended" : "left");
		if (!how.keep) forget();
		const again = () => page.come_back(entry, how.keep);
		page.stop({ ...how, ...(how.retry ? { again } : {}) });
	}
	function close() {
		over.abort();
		listen(undefined);
		view.stop();
		// Tracks that the library has not taken over.
		if (state === "connecting") for (const kind of DEVICES) media[kind]?.stop();
		for (const open of document.querySelectorAll("dialog.call-dialog")) open.remove();
		if (document.fullscreenElement) document.exitFullscreen();
	}
	let ends = false;
	/** @param {number | undefined} reason @param {any} [error] why the connection could not be made */
	async function ended(reason, error) {
		if (signal.aborted || ends) return;
		if (is_hidden) return close();
		ends = true;
		const was_connected = state !== "connecting";
		if (reason === REASON.removed || (reason === REASON.ended && !told)) told = await ask_why(server);
		if (signal.aborted) return;
		// A media server that has restarted may not have the room; joining again creates it. One that the room has left ends it.
		const lacks_room = error?.status === 404;
		const has_moved = told?.backend && told.backend !== join.backend;
		if (reason === REASON.restart || (reason === REASON.ended && has_moved) || (!reason && (was_connected || lacks_room))) {
			if (was_connected) state = "reconnecting";
			show_state();
			const is_time = await wait_to_rejoin(entry);
			if (signal.aborted) return;
			if (is_hidden) return close();
			if (is_time) {
				close();
				return page.come_back(entry);
			}
		}
		end(end_of(reason, told, was_connected || rejoins_of(entry) > 0, page.words, lacks_room));
	}

	// ---- the connection ----

	/** Shows whether the connection is there. */
	function show_state() {
		const lost = state === "reconnecting" || stands;
		const was_lost = root.classList.contains("lost");
		root.classList.toggle("lost", lost);
		if (lost === was_lost) return;
		messages.set({ away: lost });
		if (lost) {
			view.speaking(new Set());
			say(words.reconnecting, { key: "state", symbol: "weak", stay: true, bad: true });
			telling = setTimeout(follow, LOST - (link?.quiet() ?? 0) + Math.random() * SPREAD, "lost");
		} else {
			clearTimeout(telling);
			note.drop("state");
			announce(words.back);
		}
	}
	const is_lost = () => root.classList.contains("lost");
	/** Goes with the room to another media server; returns true if there is a new connection. @param {import("./move.js").Why} why */
	async function follow(why) {
		if (signal.aborted) return false;
		try {
			const move = await import("./move.js");
			return await move.follow(call, why);
		} catch {
			return false;
		} finally {
			if (is_lost()) telling = setTimeout(follow, SPREAD, "lost");
		}
	}
	/** @type {import("./move.js").Call} */
	const call = {
		entry,
		server,
		media,
		signal,
		people,
		draw,
		is_lost,
		has_hand: hand.up,
		now: () => ({ publish, events, join, link }),
		set(next, at) {
			link = next;
			join = at;
		},
		take(next, at) {
			call.set(next, at);
			state = "connected";
			stands = false;
			show_state();
			draw();
			messages.joined(false);
			turn_on(next.is_on);
			learn_role(false, true);
		},
	};
	/** Turns on the devices that were on, and are not. @param {any} has */
	function turn_on(has) {
		for (const kind of DEVICES) if (entry[kind] && !trouble[kind] && !has(kind)) turn(kind, true);
	}
	/** Asks who you are until the service has the role that the media server tells of, which is a moment sooner. */
	async function learn_role(is_new = false, must = is_new) {
		is_role_new ||= is_new;
		const ask = {};
		asking = ask;
		const end = Date.now() + PATIENCE;
		/** @type {import("./service.js").Me | null} */
		let found = null;
		for (;;) {
			found = await server.me().catch(() => null);
			// A later change asks by itself.
			if (signal.aborted || !link || asking !== ask) return;
			if ((found && [found.role.name, ""].includes(link.role())) || Date.now() > end) break;
			if (!found && !must && !is_role_new) return;
			await new Promise((turn) => setTimeout(turn, AGAIN));
		}
		if (!found) return;
		const is_other = is_role_new;
		is_role_new = false;
		const at_join = !me;
		me = found;
		show_length(me);
		const { name, publishParams } = me.role;
		publish = publishParams;
		kinds = kinds_now();
		link.apply(me, is_other);
		view.limit(asked_of(me.role.subscribeParams));
		held.take(me);
		equip_host().catch(() => {});
		equip_recording(at_join).catch(() => {});
		messages.set({ may_write: me.role.permissions.chat !== false });
		draw();
		if (is_other && name !== role) say(words.role_now(role_shown(name)), { key: "role", symbol: "key" });
		role = name;
	}
	/** Asks who you are; many who hear of something at once do not all ask at once. */
	const learn_soon = () => void setTimeout(learn_role, Math.random() * Math.min(SPREAD, named * SPREAD_BY), false, true);
	/** @type {import("./media.js").Events} */
	const events = {
		changed() {
			if (state === "reconnecting") return;
			// Somebody else may have lowered it.
			if (state === "connected") hand.see(people()[0]?.hand ?? false);
			draw();
		},
		speaking(ids) {
			if (!signal.aborted && !root.classList.contains("lost")) view.speaking(ids);
		},
		role: () => learn_role(true),
		// With another role, the role is asked for.
		allowed: () => state === "connected" && link?.role() === role && learn_soon(),
		recorded: learn_soon,
		message(topic, text) {
			if (topic === "chat") messages.announce(text);
			if (topic !== "anteroom") return say(text.slice(0, MESSAGE), { symbol: "send" });
			try {
				const message = JSON.parse(text);
				if (message.type === "ended") told = message;
				// The others are occasions to ask. Why somebody was removed is asked at the end.
				if (message.type === "waiting" || message.type === "door") host ? host.read() : equip_host().catch(() => {});
				if (message.type === "hold") learn_role();
				if (message.type === "recordings") learn_soon();
				if (message.type === "role") setTimeout(learn_role, Math.random() * SPREAD, true);
				if (message.type === "move") setTimeout(follow, Math.random() * SPREAD, "move");
			} catch {
				// Not a message of this service.
			}
		},
		state(next) {
			if (state === "connecting" || signal.aborted) return;
			state = next;
			show_state();
			if (next === "connected") draw();
		},
		standing(now) {
			stands = now;
			show_state();
		},
		loss: (by) => view.step(by),
		sound(plays) {
			if (plays) return note.drop("sound");
			const act = { text: words.sound_on, do: () => link?.play() };
			say(words.sound_off, { key: "sound", symbol: "sound-off", act });
		},
		trouble: (kind, error) => own.complain(kind, error),
		unplugged: (kind) => own.unplugged(kind),
		fell_back: (kind, name) => own.fell_back(kind, name),
		taken: (kind, yes) => own.taken(kind, yes),
		put_off(kind) {
			const text = { audio: words.muted_by, video: words.camera_by, screen: words.screen_by }[kind];
			say(text, { key: `off ${kind}`, symbol: kind === "audio" ? "mic-off" : kind === "video" ? "camera-off" : "screen-off" });
			if (kind === "screen") link?.turn("screen", false);
			else remember(kind, false);
			if (kind === "audio") listen(link?.microphone());
			draw();
		},
		// While connecting, connect() tells more, unless you were put out.
		ended: (reason) => (state !== "connecting" || Object.values(REASON).includes(reason ?? 0)) && ended(reason),
	};

	try {
		const lk = await library();
		if (signal.aborted) return;
		link = connection(lk, publish, { ...events });
		await link.connect(join, media).catch(async (error) => {
			if (ends || error?.status === 404 || !(await follow("first"))) throw error;
		});
		if (signal.aborted) return call.now().link?.leave();
		state = "connected";
		is_told = true;
		page.tell("joined", entry.room_id);
		performance.mark("connected");
		draw();
		hand.begin(people()[0]?.hand ?? false);
		draw_controls();
		// After a reload.
		turn_on((/** @type {Device} */ kind) => media[kind]);
		own.begin();
		messages.joined(people().length > 1);
		follow_inside().catch(() => {});
		await learn_role();
	} catch (error) {
		// If you are removed while connecting, the event has told so before.
		ended(undefined, error);
	}
}
