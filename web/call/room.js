// The others in a room of LiveKit: who they are, what they send, and what is received of it. The call adds yourself
// (media.js); a recorder has nobody to add (record/).
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { shown_name } from "./names.js";
import { most_of, most_of_screen } from "./quality.js";

/** @typedef {"audio" | "video" | "screen"} Kind */
/** A video that an element can show; `size`, if not the element knows the size of its picture.
 * @typedef {{ attach: (video: HTMLVideoElement) => any, detach: (video: HTMLVideoElement) => any,
 *   size?: () => { videoWidth?: number, videoHeight?: number } }} Shown */
/**
 * A video that can be received: its layers as far as the sender tells, the smallest first, and what arrives in kbit/s,
 * 0 if that is not known. `ask` says what is wanted: frames per second, and the largest layer, -1 if it does not matter.
 * @typedef {{ layers: { height: number, kbps: number }[], kbps: number, ask: (fps: number, layer: number) => void }} Received
 */
/**
 * A person in the call. `id` is "me" for yourself, else the server's ID of the stay, `sid`; `identity` stays the same
 * over a reload. `priority` is the role's, 1 to 5; `faces_me` is false for a rear camera; `known` is true if the service
 * knows who it is, so that the person can be banned. `mic` tells of all their sound, `voice_on` of all but a screen's;
 * `shares` of the picture of a screen, `screen_on` of its sound too. `raised` is when the hand went up, in ms since 1970,
 * or 0; `host` is true if the role may mute or remove others; `unrecorded` if people are asked, and this one has not agreed
 * to be recorded.
 * @typedef {{ id: string, sid: string, identity: string, name: string, role: string, me: boolean, publishes: boolean, known: boolean,
 *   mic: "on" | "off" | "none", voice_on: boolean, screen_on: boolean, camera: Shown | null, camera_on: boolean, faces_me: boolean,
 *   priority: number, camera_in: Received, screen_in: Received, screen: Shown | null, shares: boolean, hand: boolean, raised: number,
 *   host: boolean, weak: boolean, joined: number, unrecorded: boolean }} Person
 */
/** Something that is sent or received, `id` and `name` as in a person; `read` returns what the browser says of it.
 * @typedef {{ id: string, name: string, kind: Kind | "screen_audio", kbps: number, read: () => Promise<any> }} Stream */
/** Since when people are there, and by which `id`, by their identities. @typedef {Map<string, { id: string, joined: number }>} Known */
/**
 * What happens to the others, and to the connection.
 * @typedef {{ changed: () => void, speaking: (ids: Set<string>) => void, message: (topic: string, text: string) => void,
 *   state: (state: "connected" | "reconnecting") => void, ended: (reason: number | undefined) => void }} News
 */

// Milliseconds: many changes at once are one. How much longer than drawing the pause after it is, and at most how long:
// somebody who changes all the time leaves the page time for you.
const GATHER = 40;
const PAUSE = 4;
const LONGEST = 1000;
const KBIT = 1000;
// kbit/s of a video whose layers are not known yet.
const UNKNOWN = 300;
// Packets of texts that are kept until the chat is loaded.
const EARLY = 200;
// When somebody agreed to be recorded, in seconds since 1970, as the service writes it.
const AGREED = /^[1-9]\d{0,11}$/;
// Tracks of a kind that are received of one person: a microphone and the sound of a screen, a camera and a screen.
const MOST = 2;
// Milliseconds before each attempt to connect again: five minutes. The library alone gives up after 44 seconds.
const RETRIES = [0, 300, 1200, 2700, 4800, ...Array.from({ length: 42 }, () => 7000)];

/** The options of a room that stays. */
export const STAYS = {
	// The library would leave at "beforeunload", even if people then choose to stay.
	disconnectOnPageLeave: false,
	reconnectPolicy: {
		nextRetryDelayInMs: (/** @type {{ retryCount: number }} */ { retryCount }) => RETRIES[retryCount] ?? null,
	},
};

/** Returns the object in a text, or null. An empty text is an empty object. @param {string | undefined} text @returns {any} */
export function object_of(text) {
	try {
		const value = JSON.parse(text?.trim() || "{}");
		return value && typeof value === "object" && !Array.isArray(value) ? value : null;
	} catch {
		return null;
	}
}

/**
 * Returns when somebody agreed to be recorded, or 0. Only the service writes that, for people that it has let in:
 * telephones and streams are not asked.
 * @param {any} one a participant of the library @returns {number}
 */
export const agreed_at = ({ attributes: { entry, consent = "" } }) => (entry && AGREED.test(consent) ? Number(consent) : 0);

/**
 * Returns the others in a room, which the caller connects.
 * @param {any} lk livekit-client @param {any} room @param {News} on
 * @param {(one: any, publication: any) => boolean} wants whether something that somebody publishes is received
 * @param {(publication: any) => Shown | null} [shown] what shows a video
 * @param {Known} [met] whom a connection before this one knew
 */
export function others_of(lk, room, on, wants, shown = ({ track }) => track ?? null, met = new Map()) {
	const { Source } = lk.Track;
	const event = lk.RoomEvent;
	const me = room.localParticipant;
	const sounds = document.createElement("div");
	sounds.hidden = true;
	document.body.append(sounds);
	const over = new AbortController();
	/** The roles, as far as they concern others. @type {Map<string, { priority: number, host?: boolean, publishParams: any }>} */
	let roles = new Map();
	/** Whether people are asked if they agree to be recorded. */
	let asks = false;
	/** The videos of which not the largest layer was asked for. */
	const limited = new WeakSet();
	let gathering = 0;
	/** When it may be drawn again. */
	let free = 0;

	function changed() {
		gathering ||= setTimeout(() => {
			gathering = 0;
			if (over.signal.aborted) return;
			const begin = performance.now();
			const pause = () => {
				const now = performance.now();
				free = now + Math.min(LONGEST, PAUSE * (now - begin));
			};
			on.changed();
			pause();
			// The browser lays it out after the next frame.
			requestAnimationFrame(() => setTimeout(pause));
		}, Math.max(GATHER, free - performance.now()));
	}
	const id_of = (/** @type {any} */ one) => (one === me ? "me" : (met.get(one.identity)?.id ?? one.sid));
	const is_audio = (/** @type {any} */ { kind }) => kind === "audio";
	const is_of_screen = (/** @type {any} */ { source }) => [Source.ScreenShare, Source.ScreenShareAudio].includes(source);
	/** @type {Record<string, string>} */
	const types = { [Source.Microphone]: "audio", [Source.ScreenShareAudio]: "audio", [Source.Camera]: "video", [Source.ScreenShare]: "video" };
	/**
	 * Returns true if the type of a track fits its source. The media server checks the source alone, so that somebody
	 * whose microphone is held could be heard as a camera. Roles allow no unknown sources.
	 */
	const fits = (/** @type {any} */ { kind, source }) => (types[source] ?? kind) === kind;
	/**
	 * What somebody publishes, the newest first: a person can publish any number of tracks. What does not fit is left out.
	 * @param {any} one @returns {any[]}
	 */
	const newest = (one) =>
		[...one.trackPublications.values()]
			.filter(fits)
			.reverse()
			.sort((a, b) => Number(b.trackInfo?.version?.unixMicro ?? 0) - Number(a.trackInfo?.version?.unixMicro ?? 0));
	/**
	 * Returns what can be received of a video, each layer up to what `most` says that the role sends of it, in kbit/s.
	 * @param {any} publication @param {(height?: number) => number} most @returns {Received}
	 */
	function received(publication, most) {
		const sent = (publication?.trackInfo?.layers ?? []).toSorted((/** @type {any} */ a, /** @type {any} */ b) => a.height - b.height);
		const layers = sent.map((/** @type {any} */ { height, bitrate }) => ({ height, kbps: Math.min(bitrate / KBIT, most(height)) }));
		return {
			layers: layers.length > 0 ? layers : [{ height: Infinity, kbps: Math.min(UNKNOWN, most()) }],
			kbps: Math.min(publication?.track?.currentBitrate / KBIT || 0, most()),
			ask(fps, layer) {
				if (!publication?.track) return;
				publication.setVideoFPS(fps);
				const is_limited = layer >= 0 && layer < sent.length - 1;
				const { quality } = sent[is_limited ? layer : sent.length - 1] ?? {};
				// The library then asks for less than the size of the element says, never for more.
				if (is_limited || limited.has(publication)) publication.setVideoQuality(quality);
				if (is_limited) limited.add(publication);
			},
		};
	}

	/** The name and the hand of each person, with the texts that they were read from. @type {WeakMap<any, { metadata: string, hand: boolean, said: string, name: string }>} */
	const known_by = new WeakMap();
	/** Returns the name and the hand of a person, read again only if they have changed. @param {any} one */
	function said_by(one) {
		const { metadata = "" } = one;
		const said = one.name || one.identity || "";
		const known = known_by.get(one);
		if (known && known.metadata === metadata && known.said === said) return known;
		const name = one === me ? said : shown_name(said, me.name ?? "");
		const found = { metadata, said, name, hand: object_of(metadata)?.isHandRaised === true };
		known_by.set(one, found);
		return found;
	}

	/** @param {any} one @returns {Person} */
	function person(one) {
		const all = newest(one);
		const of = (/** @type {(publication: any) => boolean} */ fits) => {
			const found = all.filter(fits);
			return { any: found[0], on: found.find((each) => !each.isMuted) };
		};
		const sound = of(is_audio);
		const cameras = of((each) => !is_audio(each) && !is_of_screen(each));
		const shared = of((each) => !is_audio(each) && is_of_screen(each)).on;
		const { role = "", user_id, hand: raised } = one.attributes;
		const known = roles.get(role);
		const { name, hand } = said_by(one);
		return {
			id: id_of(one),
			sid: one.sid,
			identity: one.identity,
			name,
			role,
			me: false,
			// Somebody with a link for all has a number behind the user ID.
			known: one.identity !== "" && one.identity === user_id,
			publishes: one.permissions?.canPublish ?? true,
			mic: sound.on ? "on" : sound.any ? "off" : "none",
			voice_on: Boolean(of((each) => is_audio(each) && !is_of_screen(each)).on),
			camera: cameras.on ? shown(cameras.on) : null,
			camera_on: Boolean(cameras.on),
			faces_me: true,
			priority: known?.priority ?? 1,
			camera_in: received(cameras.on ?? cameras.any, (height) => most_of(known?.publishParams, height)),
			screen_in: received(shared, () => most_of_screen(known?.publishParams)),
			screen: shared ? shown(shared) : null,
			shares: Boolean(shared),
			screen_on: all.some((each) => is_of_screen(each) && !each.isMuted),
			hand,
			raised: Number(raised) || 0,
			host: known?.host === true,
			weak: ["poor", "lost"].includes(one.connectionQuality),
			joined: met.get(one.identity)?.joined ?? one.joinedAt?.getTime() ?? 0,
			unrecorded: asks && agreed_at(one) === 0,
		};
	}
	const others = () => /** @type {any[]} */ ([...room.remoteParticipants.values()]);
	/** Subscribes to the newest tracks that are wanted of somebody, and to nothing else. @param {any} one */
	function subscribe(one) {
		/** @type {Record<string, number>} */
		const left = { audio: MOST, video: MOST };
		for (const publication of newest(one)) {
			const { kind } = publication;
			const wanted = (left[kind] ?? 0) > 0 && wants(one, publication);
			left[kind] = (left[kind] ?? 0) - 1;
			if (publication.isDesired !== wanted) publication.setSubscribed(wanted);
		}
		for (const publication of one.trackPublications.values()) if (publication.isDesired && !fits(publication)) publication.setSubscribed(false);
	}
	const subscribe_all = () => others().forEach(subscribe);

	for (const one of [
		event.ParticipantConnected,
		event.ParticipantDisconnected,
		event.TrackPublished,
		event.TrackUnpublished,
		event.TrackSubscribed,
		event.TrackMuted,
		event.TrackUnmuted,
		event.LocalTrackPublished,
		event.LocalTrackUnpublished,
		event.ConnectionQualityChanged,
		event.ParticipantMetadataChanged,
		event.ParticipantNameChanged,
		event.ParticipantPermissionsChanged,
	]) {
		room.on(one, changed);
	}
	room.on(event.ParticipantConnected, subscribe);
	for (const one of [event.TrackPublished, event.TrackUnpublished]) {
		room.on(one, (/** @type {any} */ _, /** @type {any} */ who) => others().includes(who) && subscribe(who));
	}
	room.on(event.ParticipantAttributesChanged, (/** @type {any} */ _, /** @type {any} */ who) => {
		if (who !== me) subscribe(who);
		changed();
	});
	/** @type {Map<any, HTMLElement>} */
	const playing = new Map();
	room.on(event.TrackSubscribed, (/** @type {any} */ track) => {
		if (track.kind === "audio") {
			const element = track.attach();
			playing.set(track, element);
			sounds.append(element);
			return;
		}
		// The library takes a video that never had an element for visible, and the server sends it.
		const video = document.createElement("video");
		track.attach(video);
		track.detach(video);
	});
	room.on(event.TrackUnsubscribed, (/** @type {any} */ track) => {
		// The library has detached it already, and does not say from what.
		track.detach();
		playing.get(track)?.remove();
		playing.delete(track);
		changed();
	});
	room.on(event.ActiveSpeakersChanged, (/** @type {any[]} */ speakers) =>
		on.speaking(new Set(speakers.map(id_of))),
	);
	room.on(event.DataReceived, (/** @type {any[]} */ ...[bytes, , , topic, , identity]) => {
		// LiveKit writes the identity of each person, and none for the service. The library knows no participant of
		// people who have just come or left: only the identity tells. What people send each other is not shown.
		if (identity === "") on.message(topic, new TextDecoder().decode(bytes));
	});
	/** Packets of texts that came before what reads them. @type {any[]} */
	const early = [];
	/** @type {(packet: any) => void} */
	let read = (packet) => {
		if (early.length < EARLY) early.push(packet);
	};
	const engines = new WeakSet();
	/** Takes the packets of texts. The library can replace its engine while it connects. */
	function take_texts() {
		const { engine } = room;
		if (!engine || engines.has(engine)) return;
		engines.add(engine);
		engine.on("dataPacketReceived", (/** @type {any} */ packet) => packet.value.case?.startsWith("stream") && read(packet));
	}
	take_texts();
	room.on(event.SignalConnected, take_texts);
	room.on(event.SignalReconnecting, () => on.state("reconnecting"));
	room.on(event.Reconnecting, () => on.state("reconnecting"));
	room.on(event.Reconnected, () => {
		subscribe_all();
		on.state("connected");
	});
	room.on(event.Disconnected, (/** @type {number | undefined} */ reason) => {
		over.abort();
		sounds.remove();
		on.ended(reason);
	});

	return {
		/** Ends with the connection. */
		signal: over.signal,
		changed,
		subscribe_all,
		person,
		/** The others in the order in which they came. @param {(one: any) => boolean} [counts] leaves out some */
		people: (counts = () => true) =>
			others()
				.filter(counts)
				.map(person)
				.sort((a, b) => a.joined - b.joined || (a.sid < b.sid ? -1 : 1)),
		/** Takes what is known of roles, by their names, and whether people are asked. @param {typeof roles} next @param {boolean} do_ask */
		know(next, do_ask) {
			roles = next;
			asks = do_ask;
		},
		/** Everything that some people send, as the library has it. @param {any[]} [all] @returns {Stream[]} */
		streams: (all = others()) =>
			all.flatMap((one) =>
				newest(one)
					.filter(({ track, isMuted }) => track && !isMuted)
					.map(({ track, kind, source }) => ({
						id: id_of(one),
						name: said_by(one).name,
						kind: is_of_screen({ source }) ? (kind === "audio" ? "screen_audio" : "screen") : kind,
						kbps: track.currentBitrate / KBIT || 0,
						read: async () => (track.sender ?? track.receiver)?.getStats?.(),
					})),
			),
		/**
		 * Tells of the texts that arrive, and of those that have arrived, with the names as they are shown.
		 * @param {Parameters<typeof import("./chat/texts.js").text_reader>[2]} told
		 */
		async read_texts(told) {
			const { text_reader } = await import("./chat/texts.js");
			const shown = (/** @type {string} */ name) => shown_name(name, me.name ?? "");
			/** @type {typeof told} */
			const named = {
				text: (text) => told.text({ ...text, name: shown(text.name) }),
				text_lost: (from, name, why) => told.text_lost(from, shown(name || from), why),
			};
			read = text_reader(room, event, named, over.signal);
			early.splice(0).forEach(read);
		},
	};
}
