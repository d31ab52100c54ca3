// The recorder: a participant whom nobody sees. It joins a room, shows the call's stage to nobody, and hands picture and
// sound over in chunks to the program that has opened this page, anteroom-record(8), with which it talks by the functions
// at the end and the binding `anteroom`.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { watch_flow } from "../call/flow.js";
import { library } from "../call/library.js";
import { STAYS, others_of } from "../call/room.js";
import { cast, consents, may_be_recorded } from "./cast.js";
import { mix } from "./mix.js";
import { picture } from "./picture.js";
import { recorder } from "./recorder.js";

/** @typedef {import("./cast.js").Look} Look */
/** @typedef {{ join: { url: string, token: string }, look: Look, paused?: boolean }} Order */

// Characters of a sentence for the program.
const MOST = 300;
// The reasons of LiveKit's Disconnected: put out, the room was deleted, the server closed the empty room.
/** @type {Record<number, string>} */
const REASONS = { 4: "removed", 5: "removed", 10: "closed" };
// What another look must have in common with the first one, because it is that of a file.
const FIXED = /** @type {const} */ (["width", "height", "fps", "audio_only", "test"]);

/** Tells the program something. @param {string} type @param {object} [more] */
const tell = (type, more = {}) => /** @type {any} */ (globalThis).anteroom?.(JSON.stringify({ type, ...more }));

let has_failed = false;
/** @param {unknown} error */
function fail(error) {
	if (has_failed) return;
	has_failed = true;
	const text = error instanceof Error ? error.message : String(error);
	tell("failed", { text: text.slice(0, MOST) });
}
addEventListener("error", ({ message }) => fail(message));
addEventListener("unhandledrejection", ({ reason }) => fail(reason));

/** @param {Order} order */
async function begin({ join, look: first, paused: begins_paused = false }) {
	let look = first;
	let is_paused = begins_paused;
	const sees = !first.audio_only;
	const lk = await library().catch(() => {
		throw new Error("livekit-client is missing: get-livekit-client puts it into the pages");
	});
	// Nothing has an element, so the library cannot know what is seen.
	const room = new lk.Room({ ...STAYS, adaptiveStream: false });
	const event = lk.RoomEvent;
	const sound = mix(fail);
	const recorded = cast();
	/** Who is recorded, by the server's ID of the stay, as the library knows them. @type {Map<string, any>} */
	let ids = new Map();
	let told = -1;
	/** While the connection is made again, the library may know nobody: people stay where they are, and nobody comes. */
	let is_away = false;
	const consent = consents();
	consent.take(first);
	const may = (/** @type {any} */ one) => may_be_recorded(look, one, consent.of(one));

	const image = sees
		? await picture(first, {
				wanted: () => others.subscribe_all(),
				sized: draw,
				fps: (fps) => tell("fps", { fps }),
				failed: fail,
			})
		: null;
	const others = others_of(
		lk,
		room,
		{
			changed: update,
			speaking(now) {
				const heard = new Set([...now].filter((id) => id !== "me"));
				recorded.speaking(heard, Date.now());
				if ([...heard].some((id) => !ids.has(id))) update();
				image?.speaking(new Set([...heard].filter((id) => ids.has(id))));
			},
			message(topic, text) {
				if (topic === "chat") write({ peer_id: "", name: "", user_id: "", roles: "", message: text });
			},
			state(next) {
				is_away = next === "reconnecting";
				tell("lost", { yes: is_away });
				update();
			},
			ended,
		},
		(one, publication) =>
			!is_paused && may(one) && ids.has(one.sid) && (publication.kind === "audio" || image?.is_shown(publication) === true),
		(publication) => image?.shown(publication) ?? null,
	);
	const tracks = [sound.track, ...(image ? [image.track] : [])];
	const media = recorder(first, new MediaStream(tracks), { chunk: (chunk) => tell("chunk", chunk), failed: fail });
	if (first.test) sound.test();

	/** Those who are drawn or heard now. @type {import("../call/room.js").Person[]} */
	let people = [];
	function draw() {
		image?.show(people);
	}
	/** Takes up who is there, and what of them is received. */
	function update() {
		people = is_away ? people.filter(({ id }) => may(ids.get(id))) : recorded.of(others.people(may).filter((one) => one.publishes));
		const known = new Map([...room.remoteParticipants.values()].map((one) => [one.sid, one]));
		ids = new Map(people.map(({ id }) => [id, known.get(id) ?? ids.get(id)]));
		draw();
		others.subscribe_all();
		hear();
		if (people.length !== told && room.state === "connected") tell("people", { n: people.length });
		if (room.state === "connected") told = people.length;
	}
	/** Mixes the sounds that arrive. */
	function hear() {
		const all = [...room.remoteParticipants.values()].filter((one) => ids.has(one.sid) && !is_paused);
		const sounds = all.flatMap((one) => [...one.trackPublications.values()].filter(({ kind, track, isDesired }) => kind === "audio" && track && isDesired));
		sound.hear(new Set(sounds.map(({ track }) => track.mediaStreamTrack)));
	}
	room.on(event.TrackSubscribed, (/** @type {any} */ track, /** @type {any} */ publication) => {
		if (track.kind === "video") return image?.receive(publication, track.mediaStreamTrack);
		// It is heard in the mix alone; the element has the browser receive it.
		for (const element of track.attachedElements) element.muted = true;
		hear();
	});
	room.on(event.TrackUnsubscribed, (/** @type {any} */ _, /** @type {any} */ publication) => {
		if (publication) image?.drop(publication);
		hear();
	});
	// Whoever withdraws is gone with the next picture. All else is gathered, whatever somebody changes all the time.
	for (const one of [event.ParticipantAttributesChanged, event.ParticipantPermissionsChanged]) {
		room.on(one, (/** @type {any} */ _, /** @type {any} */ who) => who !== room.localParticipant && !may(who) && ids.has(who.sid) && update());
	}

	/** Keeps a text that everyone got. @param {{ peer_id: string, name: string, user_id: string, roles: string, message: string }} text */
	function write(text) {
		if (look.chat && !is_paused) tell("chat", { ...text, sent_at: Date.now(), kind: "chat" });
	}
	others.read_texts({
		text({ from, name, role, text, only }) {
			const one = room.remoteParticipants.get(from);
			if (one && only === null && may(one)) write({ peer_id: one.sid, name, user_id: one.attributes.user_id ?? "", roles: role, message: text });
		},
		text_lost() {},
	});

	/** @type {Promise<unknown>} */
	let doing = Promise.resolve();
	/** Acts of the program happen one after another. @template T @param {() => Promise<T>} act @returns {Promise<T>} */
	function then(act) {
		const done = doing.then(act);
		doing = done.catch(fail);
		return done;
	}
	let is_over = false;
	/** @param {number | undefined} reason */
	async function ended(reason) {
		if (is_over) return;
		is_over = true;
		await then(media.stop);
		tell("away", { reason: REASONS[reason ?? 0] ?? "lost" });
	}
	async function enter() {
		try {
			await room.connect(join.url, join.token, { autoSubscribe: false });
		} catch {
			// What the library says may have the token in it.
			if (!is_over) fail("the media server refused the recorder");
			return;
		}
		watch_flow(room, (stands) => tell("lost", { yes: stands || is_away }), others.signal);
		tell("joined");
		update();
		await sound.begin();
		await then(async () => {
			if (!is_paused && !is_over) await media.run();
		});
	}
	enter().catch(fail);
	return {
		/** @param {Look} next */
		look(next) {
			if (FIXED.every((name) => (next[name] ?? false) === (first[name] ?? false))) {
				look = next;
				consent.take(look);
				return update();
			}
			// What was recorded until now is in this part.
			return then(async () => {
				await media.stop();
				fail("the look changed its size");
			});
		},
		/** @param {boolean} yes */
		pause: (yes) =>
			then(async () => {
				if (is_over) return;
				is_paused = yes;
				update();
				await (yes ? media.pause() : media.run());
			}),
		stop: () =>
			then(async () => {
				is_over = true;
				tell("stopped", { n: await media.stop() });
				await room.disconnect();
			}),
	};
}

document.body.classList.add("in-call");
/** What the program can have done, once there is an order. @type {Promise<Awaited<ReturnType<typeof begin>> | void>} */
let begun = Promise.resolve();
Object.assign(globalThis, {
	/** @param {Order} order */
	anteroom_start(order) {
		begun = begin(order).catch(fail);
	},
	/** @param {Look} look */
	anteroom_look: (look) => begun.then((acts) => acts?.look(look)),
	/** @param {boolean} yes */
	anteroom_pause: (yes) => begun.then((acts) => acts?.pause(yes)),
	anteroom_stop: () => begun.then((acts) => acts?.stop()),
});
tell("loaded");
