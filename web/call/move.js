// Goes with the room to another media server: because the one of this call is lost, or is emptied, or a first connection
// could not be made. The service says where the room is. The new connection is there before the former one is left, and
// people are seen and heard over the former one until they arrive at the new one.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { Refusal } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { library } from "./library.js";
import { connection } from "./media.js";

/** @typedef {import("./media.js").Connection} Connection */
/** @typedef {import("./media.js").Person} Person */
/** @typedef {{ url: string, token: string, backend?: string | undefined }} Join */
/**
 * The call, as a move needs it. Of `now`, `join` says where it is, `link` is its connection, and `set` changes both; `publish` is
 * what the role publishes. `take` goes on with a new connection.
 * @typedef {{ entry: import("../join/kept.js").Entry, server: import("./service.js").Service, media: import("./main.js").Media,
 *   signal: AbortSignal, people: () => Person[], has_hand: () => boolean, is_lost: () => boolean,
 *   now: () => { join: Join, link: Connection | null, publish: any, events: import("./media.js").Events },
 *   set: (link: Connection, join: Join) => void, take: (link: Connection, join: Join) => void, draw: () => void }} Call
 */
/** Why it is asked: the service says that the room has moved; the connection is lost; a first one was not made.
 * @typedef {"move" | "lost" | "first"} Why */

// Milliseconds between two questions, and until one is given up; for how long it is asked.
const AGAIN = 2000;
const ANSWER = 8000;
const PATIENCE = { move: 12000, lost: Infinity, first: 30000 };
// Milliseconds: how often it is looked who has arrived; for how long the former connection stays after all have, and at
// most; how often a hand is raised again, and for how long.
const EVERY = 250;
const AFTER = 1000;
const LONGEST = 9000;
const RAISE = 1000;
const RAISED = 10000;
const KINDS = /** @type {const} */ (["audio", "video", "screen"]);

const pause = (/** @type {number} */ ms) => new Promise((done) => setTimeout(done, ms));

/** Asks where the room is; `failed` is the media server that cannot be reached. @param {Call} call @param {string | undefined} failed @returns {Promise<Join>} */
async function ask({ entry: { name, consent }, server }, failed) {
	const { data } = await server.join({ name, ...consent, ...(failed && { failed }) }, AbortSignal.timeout(ANSWER));
	return data.join;
}

/** The calls that are on their way. @type {WeakSet<Call>} */
const busy = new WeakSet();

/** Asks where the room is, and goes there, unless that is being done. Returns true if there is a new connection. @param {Call} call @param {Why} why */
export async function follow(call, why) {
	if (busy.has(call)) return false;
	busy.add(call);
	const is_new = await find(call, why);
	busy.delete(call);
	return is_new;
}

/**
 * Asks until the room is at another media server than the call, and goes there; a first connection is tried wherever the
 * room is. Returns true if there is a new connection.
 * @param {Call} call @param {Why} why
 */
async function find(call, why) {
	const { signal } = call;
	let failed = why === "move" ? undefined : call.now().join.backend;
	const until = performance.now() + PATIENCE[why];
	const goes_on = () => !signal.aborted && performance.now() < until && (why === "first" || call.is_lost() === (why === "lost"));
	while (goes_on()) {
		const again = performance.now() + AGAIN;
		let wait = 0;
		try {
			// Without a network, nothing is known of the media server.
			const join = navigator.onLine ? await ask(call, failed) : call.now().join;
			const is_elsewhere = join.backend !== call.now().join.backend;
			if (why === "move" && !is_elsewhere && !failed) return false;
			if (navigator.onLine && (is_elsewhere || why === "first") && !signal.aborted) {
				failed = join.backend;
				await go(call, join, why);
				return true;
			}
		} catch (error) {
			if (error instanceof Refusal) {
				if (why === "first" && error.status >= 400 && error.status < 500 && error.status !== 429) return false;
				// That the media server does not answer is why it is asked: the room moves once enough people say so.
				if (error.status !== 502) wait = error.retry_after * 1000;
			}
		}
		await pause(Math.max(wait, again - performance.now()));
	}
	return false;
}

/** Connects, and leaves the former connection; throws if that is not possible. @param {Call} call @param {Join} join @param {Why} why */
async function go(call, join, why) {
	const lk = await library();
	if (why === "first") {
		const { media } = call;
		// The library ends the devices of a connection that fails late.
		for (const kind of /** @type {const} */ (["audio", "video"])) if (media[kind]?.readyState === "ended") media[kind] = null;
		const next = connection(lk, call.now().publish, { ...call.now().events });
		call.set(next, join);
		return next.connect(join, media);
	}
	const former = /** @type {Connection} */ (call.now().link);
	const before = call.people().filter((one) => !one.me);
	const { Source } = lk.Track;
	/** Returns a copy of what is sent now. @param {string} source @returns {MediaStreamTrack | null} */
	const copy = (source) => {
		const { track, isMuted } = former.room.localParticipant.getTrackPublication(source) ?? {};
		return track && !isMuted && track.mediaStreamTrack.readyState === "live" ? track.mediaStreamTrack.clone() : null;
	};
	const copies = { audio: copy(Source.Microphone), video: copy(Source.Camera), screen: copy(Source.ScreenShare), sound: copy(Source.ScreenShareAudio) };
	/** Until it is there, the new connection tells nothing, and from then on the former one only draws. @type {import("./media.js").Events} */
	const silent = Object.assign({ ...call.now().events }, Object.fromEntries(Object.keys(call.now().events).map((name) => [name, () => {}])));
	const on = { ...silent };
	const next = connection(lk, call.now().publish, on, new Map(before.map(({ identity, id, joined }) => [identity, { id, joined }])));
	try {
		await next.connect(join, copies);
	} catch (error) {
		for (const one of Object.values(copies)) one?.stop();
		throw error;
	}
	const { localParticipant, options } = next.room;
	for (const [track, source] of /** @type {const} */ ([[copies.screen, Source.ScreenShare], [copies.sound, Source.ScreenShareAudio]])) {
		if (!track) continue;
		const local = track.kind === "video" ? new lk.LocalVideoTrack(track, {}, false) : new lk.LocalAudioTrack(track, {}, false);
		// Where that is not allowed any more, the screen is no longer shared.
		await localParticipant.publishTrack(local, { ...options.publishDefaults, source }).catch(() => local.stop());
	}
	if (call.signal.aborted) {
		next.leave();
		return former.leave();
	}
	Object.assign(former.on, silent, { changed: former.on.changed });
	Object.assign(on, call.now().events);
	both(call, former, next, { join, before: why === "lost" ? before : null, source: Source });
}

/**
 * Goes on with the new connection, and keeps the former one until all have arrived.
 * @param {Call} call @param {Connection} former @param {Connection} next
 * @param {{ join: Join, before: Person[] | null, source: any }} how `before`: the people of a former connection that is lost
 */
function both(call, former, next, { join, before, source }) {
	const { signal } = call;
	const begin = performance.now();
	let is_left = false;
	let is_raised = false;
	/** When all had arrived. */
	let arrived = Infinity;
	/** Whether what somebody sends from a source arrives. @param {string} identity @param {string} from */
	const arrives = (identity, from) => {
		const track = next.room.remoteParticipants.get(identity)?.getTrackPublication(from)?.track;
		return Boolean(track && !track.mediaStreamTrack?.muted);
	};
	const of_before = () => (is_left ? [] : (before ?? former.people().slice(1)));
	/** What shows new videos until the stage does: the media server sends none that no element shows. @type {Map<any, HTMLVideoElement>} */
	const early = new Map();
	/** Whether the stage shows a video of the former connection, which stays until the new one arrives. @param {any} video */
	const is_shown = (video) => video?.attachedElements.length > 0;
	/** @param {Person} person @param {any} video @param {string} from */
	function expect({ identity }, video, from) {
		const track = next.room.remoteParticipants.get(identity)?.getTrackPublication(from)?.track;
		if (!track || early.has(track) || !is_shown(video)) return;
		const element = h("video.early", { "aria-hidden": "true", tabindex: "-1" });
		element.muted = true;
		document.body.append(element);
		track.attach(element);
		early.set(track, element);
	}
	function people() {
		const [me, ...others] = next.people();
		const now = new Map(others.map((one) => [one.identity, one]));
		const merged = of_before().map((old) => {
			const one = now.get(old.identity);
			now.delete(old.identity);
			if (!one) return old;
			const { camera, camera_on, camera_in, screen, shares, screen_on, screen_in } = old;
			return {
				...one,
				...(is_shown(camera) && !arrives(one.identity, source.Camera) && { camera, camera_on, camera_in }),
				...(is_shown(screen) && !arrives(one.identity, source.ScreenShare) && { screen, shares, screen_on, screen_in }),
			};
		});
		return [...(me ? [{ ...me, hand: is_raised ? me.hand : call.has_hand() }] : []), ...merged, ...now.values()];
	}
	const link = {
		...next,
		people,
		/** @param {import("./media.js").Kind} kind @param {boolean} yes */
		async turn(kind, yes) {
			if (!yes && !is_left) former.turn(kind, false).catch(() => {});
			await next.turn(kind, yes);
		},
		/** Those who have not arrived read it at the former server. @param {string} text @param {any} options */
		send_text: (text, options) => (is_left || before ? next : former).send_text(text, options),
		async leave() {
			leave();
			await next.leave();
		},
	};
	function leave() {
		if (is_left) return;
		is_left = true;
		clearInterval(timer);
		for (const [track, element] of early) {
			track.detach(element);
			element.remove();
		}
		Promise.resolve(former.leave()).catch(() => {});
		end();
	}
	/** Goes on with the new connection alone. */
	function end() {
		if (is_left && is_raised && call.now().link === link) call.set(next, join);
		if (!signal.aborted) call.draw();
	}
	function look() {
		const { remoteParticipants } = former.room;
		for (const one of remoteParticipants.values()) {
			for (const publication of one.trackPublications.values()) {
				// Nobody is heard twice.
				if (publication.isDesired && arrives(one.identity, publication.source)) publication.setSubscribed(false);
			}
		}
		for (const one of of_before()) {
			expect(one, one.camera, source.Camera);
			expect(one, one.screen, source.ScreenShare);
		}
		// What was turned off by somebody else.
		for (const kind of KINDS) if (!next.is_on(kind) && former.is_on(kind)) former.turn(kind, false).catch(() => {});
		const now = performance.now();
		const waits = of_before().some(({ identity, camera, camera_on }) => !(camera_on && is_shown(camera) ? arrives(identity, source.Camera) : next.room.remoteParticipants.has(identity)));
		arrived = waits ? Infinity : Math.min(arrived, now);
		if (now - begin >= LONGEST || now - arrived >= AFTER) leave();
		else call.draw();
	}
	/** Raises your hand again, which the new server does not know of. */
	async function raise() {
		while (!signal.aborted && call.has_hand() && !next.people()[0]?.hand && performance.now() - begin < RAISED) {
			const text = next.hand(true);
			if (text !== null) await call.server.set_metadata(next.sid(), text).catch(() => {});
			await pause(RAISE);
		}
		is_raised = true;
		end();
	}
	const timer = setInterval(look, EVERY);
	signal.addEventListener("abort", leave);
	call.take(link, join);
	raise();
}
