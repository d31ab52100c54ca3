// LiveKit as the call sees it: people with a microphone, a camera, a screen.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { chosen_device, chosen_speaker } from "./device.js";
import { watch_flow } from "./flow.js";
import { watch_loss } from "./loss.js";
import { shown_name } from "./names.js";
import { most_of, most_of_screen, options_of, screen_options } from "./options.js";
import { audio_encodings, camera_encodings, screen_encodings } from "./sent.js";

/** @typedef {"audio" | "video" | "screen"} Kind */
/** A video that an element can show.
 * @typedef {{ attach: (video: HTMLVideoElement) => any, detach: (video: HTMLVideoElement) => any }} Shown */
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
 * or 0; `host` is true if the role may mute or remove others.
 * @typedef {{ id: string, sid: string, identity: string, name: string, role: string, me: boolean, publishes: boolean, known: boolean,
 *   mic: "on" | "off" | "none", voice_on: boolean, screen_on: boolean, camera: Shown | null, camera_on: boolean, faces_me: boolean,
 *   priority: number, camera_in: Received, screen_in: Received, screen: Shown | null, shares: boolean, hand: boolean, raised: number,
 *   host: boolean, weak: boolean, joined: number }} Person
 */
/** Something that is sent or received, `id` and `name` as in a person; `read` returns what the browser says of it.
 * @typedef {{ id: string, name: string, kind: Kind | "screen_audio", kbps: number, read: () => Promise<any> }} Stream */
/**
 * What happens. `put_off`: somebody else switched off something of yours; `allowed`: what you may publish has changed; `recorded`:
 * the media server begins or ends to say that it records. A
 * device of yours is `unplugged` if nothing took its place, else it `fell_back` to the one named; `taken` if another
 * program has it.
 * @typedef {{ changed: () => void, speaking: (ids: Set<string>) => void, role: () => void, allowed: () => void, recorded: () => void,
 *   message: (topic: string, text: string) => void, state: (state: "connected" | "reconnecting") => void,
 *   standing: (stands: boolean) => void, sound: (plays: boolean) => void,
 *   trouble: (kind: "audio" | "video", error: unknown) => void, unplugged: (kind: "audio" | "video") => void,
 *   fell_back: (kind: "audio" | "video", name: string) => void, taken: (kind: "audio" | "video", yes: boolean) => void,
 *   loss: (by: number) => void, put_off: (kind: Kind) => void, ended: (reason: number | undefined) => void }} Events
 */
/** @typedef {{ audio: MediaStreamTrack | null, video: MediaStreamTrack | null }} Tracks */

/** A video of which nothing arrives. @type {Received} */
const NOTHING = { layers: [], kbps: 0, ask() {} };

// Milliseconds: many changes at once are one; the time until your own change has come back from the library.
const GATHER = 40;
const ECHO = 300;
// Milliseconds in which the library finds another device; how much longer than drawing the pause after it is, and at
// most how long: somebody who changes all the time leaves the page time for you.
const ANOTHER = 1000;
const PAUSE = 4;
const LONGEST = 1000;
const KBIT = 1000;
// kbit/s of a video whose layers are not known yet.
const UNKNOWN = 300;
// Packets of texts that are kept until the chat is loaded.
const EARLY = 200;
// Tracks of a kind that are received of one person: a microphone and the sound of a screen, a camera and a screen.
const MOST = 2;
// What LiveKit's permissions call the sources.
const NUMBERS = { video: 1, audio: 2 };

/** A track of the preview, shown until the library has it. @param {MediaStreamTrack} track @returns {Shown} */
export const shown_track = (track) => ({
	attach(video) {
		video.srcObject = new MediaStream([track]);
	},
	detach(video) {
		video.srcObject = null;
	},
});

/** @param {MediaStreamTrack | undefined} track */
const faces_me = (track) => track?.getSettings().facingMode !== "environment";

/**
 * Returns yourself as the page shows you until the connection is there.
 * @param {string} name @param {string} role @param {boolean} publishes @param {Tracks} preview @param {Shown | null} camera
 * @returns {Person}
 */
export const yourself = (name, role, publishes, { audio, video }, camera) => ({
	id: "me",
	sid: "",
	identity: "",
	name,
	role,
	me: true,
	known: true,
	publishes,
	mic: audio ? "on" : "off",
	voice_on: audio !== null,
	camera,
	camera_on: video !== null,
	faces_me: faces_me(video ?? undefined),
	priority: 1,
	camera_in: NOTHING,
	screen_in: NOTHING,
	screen: null,
	shares: false,
	screen_on: false,
	hand: false,
	raised: 0,
	host: false,
	weak: false,
	joined: 0,
});

/** Returns the object in a text, or null. An empty text is an empty object. @param {string | undefined} text @returns {any} */
function object_of(text) {
	try {
		const value = JSON.parse(text?.trim() || "{}");
		return value && typeof value === "object" && !Array.isArray(value) ? value : null;
	} catch {
		return null;
	}
}

/**
 * Returns a connection to a room, which `connect` opens.
 * @param {any} lk livekit-client @param {any} publish the role's publishParams @param {Events} on
 */
export function connection(lk, publish, on) {
	const room = new lk.Room({ ...options_of(lk, publish), ...chosen_speaker() });
	const { Source } = lk.Track;
	const event = lk.RoomEvent;
	const me = room.localParticipant;
	/** @type {Record<Kind, string>} */
	const sources = { audio: Source.Microphone, video: Source.Camera, screen: Source.ScreenShare };
	const kind_of = (/** @type {string} */ source) =>
		/** @type {Kind | undefined} */ (Object.keys(sources).find((kind) => sources[/** @type {Kind} */ (kind)] === source));
	const sounds = document.createElement("div");
	sounds.hidden = true;
	document.body.append(sounds);
	const over = new AbortController();
	/** Tracks of the preview that are on their way to the room. @type {Map<Kind, Promise<void>>} */
	const starting = new Map();
	/** @type {Shown | null} */
	let preview = null;
	/** What you are switching yourself at the moment. @type {Set<Kind>} */
	const turning = new Set();
	/** Your devices that have ended. @type {Set<Kind | undefined>} */
	const unplugged = new Set();
	/** The roles that are seen and heard; null for all. @type {Set<string> | null} */
	let heard = null;
	/** The roles, as far as they concern others. @type {Map<string, { priority: number, host?: boolean, publishParams: any }>} */
	let roles = new Map();
	/** The subscribeDegradation of your role. @type {any} */
	let degradation = null;
	/** The videos of which not the largest layer was asked for. */
	const limited = new WeakSet();
	/** Whether the role sends something else than when tracks were published. */
	let has_changed = false;
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
	const priority_of_role = (/** @type {any} */ one) => roles.get(one.attributes.role)?.priority ?? 1;
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
		const own = one === me;
		const all = newest(one);
		const of = (/** @type {(publication: any) => boolean} */ fits) => {
			const found = all.filter(fits);
			return { any: found[0], on: found.find((each) => !each.isMuted) };
		};
		const sound = of(is_audio);
		const voice = of((each) => is_audio(each) && !is_of_screen(each));
		const cameras = of((each) => !is_audio(each) && !is_of_screen(each));
		const screens = of((each) => !is_audio(each) && is_of_screen(each));
		const camera = cameras.on ?? cameras.any;
		const shared = screens.on;
		const params = roles.get(one.attributes.role)?.publishParams;
		const early = own && starting.has("video") && !camera?.track ? preview : null;
		const { name, hand } = said_by(one);
		return {
			id: own ? "me" : one.sid,
			sid: one.sid,
			identity: one.identity,
			name,
			role: one.attributes.role ?? "",
			me: own,
			// Somebody with a link for all has a number behind the user ID.
			known: one.identity !== "" && one.identity === one.attributes.user_id,
			publishes: own ? publish.allowed.some((/** @type {string} */ kind) => kind in sources) : (one.permissions?.canPublish ?? true),
			mic: (own && starting.has("audio")) || sound.on ? "on" : sound.any ? "off" : "none",
			voice_on: Boolean(voice.on),
			camera: early ?? cameras.on?.track ?? null,
			camera_on: early !== null || Boolean(cameras.on),
			faces_me: faces_me(camera?.track?.mediaStreamTrack),
			priority: priority_of_role(one),
			camera_in: own ? NOTHING : received(camera, (height) => most_of(params, height)),
			screen_in: own ? NOTHING : received(shared, () => most_of_screen(params)),
			screen: shared?.track ?? null,
			shares: Boolean(shared),
			screen_on: all.some((each) => is_of_screen(each) && !each.isMuted),
			hand,
			raised: Number(one.attributes.hand) || 0,
			host: roles.get(one.attributes.role)?.host === true,
			weak: ["poor", "lost"].includes(one.connectionQuality),
			joined: one.joinedAt?.getTime() ?? 0,
		};
	}
	const others = () => /** @type {any[]} */ ([...room.remoteParticipants.values()]);
	/** Subscribes to the newest tracks of people whose role is seen and heard, and to nothing else. @param {any} one */
	function subscribe(one) {
		const is_heard = !heard || heard.has(one.attributes.role ?? "");
		/** @type {Record<string, number>} */
		const left = { audio: MOST, video: MOST };
		for (const publication of newest(one)) {
			const { kind } = publication;
			const wanted = is_heard && (left[kind] ?? 0) > 0;
			left[kind] = (left[kind] ?? 0) - 1;
			if (publication.isDesired !== wanted) publication.setSubscribed(wanted);
		}
		for (const publication of one.trackPublications.values()) if (publication.isDesired && !fits(publication)) publication.setSubscribed(false);
	}

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
	room.on(event.ParticipantAttributesChanged, (/** @type {any} */ values, /** @type {any} */ who) => {
		if ("role" in values && who === me) on.role();
		else if (who !== me) subscribe(who);
		changed();
	});
	room.on(event.ParticipantPermissionsChanged, (/** @type {any} */ _, /** @type {any} */ who) => who === me && on.allowed());
	room.on(event.TrackMuted, (/** @type {any} */ publication, /** @type {any} */ who) => {
		const kind = kind_of(publication.source);
		// The library switches off what was unplugged: nobody else did.
		if (who === me && kind && !turning.has(kind) && !unplugged.has(kind)) on.put_off(kind);
	});
	room.on(event.TrackUnmuted, (/** @type {any} */ { source }, /** @type {any} */ who) => {
		if (who === me) unplugged.delete(kind_of(source));
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
	room.on(event.LocalTrackPublished, (/** @type {any} */ { track, source }) => {
		const kind = kind_of(source);
		unplugged.delete(kind);
		if (kind === "audio" || kind === "video") {
			/** @type {ReturnType<typeof setTimeout> | undefined} */
			let wait;
			track.on(lk.TrackEvent.Ended, () => {
				unplugged.add(kind);
				clearTimeout(wait);
				wait = setTimeout(() => {
					if (over.signal.aborted) return;
					on.unplugged(kind);
					changed();
				}, ANOTHER);
			});
			// The library takes another device, if there is one.
			track.on(lk.TrackEvent.Restarted, () => {
				if (!unplugged.delete(kind)) return;
				clearTimeout(wait);
				on.fell_back(kind, track.mediaStreamTrack.label);
				changed();
			});
			track.on(lk.TrackEvent.UpstreamPaused, () => on.taken(kind, true));
			track.on(lk.TrackEvent.UpstreamResumed, () => on.taken(kind, false));
		}
	});
	room.on(event.ActiveSpeakersChanged, (/** @type {any[]} */ speakers) =>
		on.speaking(new Set(speakers.map((one) => (one === me ? "me" : one.sid)))),
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
	room.on(event.RecordingStatusChanged, on.recorded);
	room.on(event.SignalConnected, take_texts);
	room.on(event.SignalReconnecting, () => on.state("reconnecting"));
	room.on(event.Reconnecting, () => on.state("reconnecting"));
	room.on(event.Reconnected, () => {
		others().forEach(subscribe);
		on.state("connected");
	});
	room.on(event.AudioPlaybackStatusChanged, () => on.sound(room.canPlaybackAudio));
	room.on(event.Disconnected, (/** @type {number | undefined} */ reason) => {
		over.abort();
		sounds.remove();
		on.ended(reason);
	});

	/** Returns true if the media server takes a device now: a host may have turned it off for all. @param {"audio" | "video"} kind */
	function takes(kind) {
		const { canPublish = true, canPublishSources = [] } = me.permissions ?? {};
		return canPublish && (canPublishSources.length === 0 || canPublishSources.includes(NUMBERS[kind]));
	}
	/** Publishes a track of the preview. @param {"audio" | "video"} kind @param {MediaStreamTrack} track */
	async function publish_track(kind, track) {
		const { videoCaptureDefaults, audioCaptureDefaults, publishDefaults } = room.options;
		// The library owns the track from here on, so that switching it off frees the device.
		const local =
			kind === "video"
				? new lk.LocalVideoTrack(track, { ...videoCaptureDefaults.resolution, ...chosen_device("camera") }, false)
				: new lk.LocalAudioTrack(track, audioCaptureDefaults, false);
		try {
			if (takes(kind)) await me.publishTrack(local, { ...publishDefaults, source: sources[kind] });
			else local.stop();
		} catch (error) {
			local.stop();
			if (!over.signal.aborted) on.trouble(kind, error);
		}
		starting.delete(kind);
		changed();
	}

	/**
	 * Applies the role to a track that is being sent: its size, and what each of its layers has.
	 * @param {any} publication @param {{ width: number, height: number, frameRate: number } | null} size
	 * @param {(n: number, captured: MediaTrackSettings) => import("./sent.js").Encoding[]} encodings_of
	 */
	async function adapt(publication, size, encodings_of) {
		const track = publication?.track;
		if (!track?.sender) return;
		const { mediaStreamTrack: media, constraints, publishOptions } = track;
		if (size) {
			const { width, height, frameRate } = size;
			// What the library starts the device with when it is switched on again, and what it then sends.
			Object.assign(constraints ?? {}, { width, height, frameRate });
			const { videoEncoding, screenShareEncoding } = room.options.publishDefaults;
			Object.assign(publishOptions ?? {}, { videoEncoding, screenShareEncoding });
			// A device that is off has no size.
			await media.applyConstraints({ width, height, frameRate }).catch(() => {});
		}
		const unlock = await track.senderLock?.lock();
		try {
			const params = track.sender.getParameters();
			const wanted = encodings_of(params.encodings.length, media.getSettings());
			wanted.forEach((one, i) => Object.assign(params.encodings[i], one));
			await track.sender.setParameters(params);
			// The library goes back to these when somebody wants a layer again.
			if (track.encodings) track.encodings = params.encodings;
		} finally {
			unlock?.();
		}
	}
	/** Applies the role to all that is being sent. The number of layers stays. */
	async function adapt_all() {
		await Promise.all(starting.values());
		const sent = (/** @type {string} */ source) => me.getTrackPublication(source);
		await Promise.allSettled([
			adapt(sent(Source.Microphone), null, () => audio_encodings(publish)),
			adapt(sent(Source.Camera), publish.video, (n, captured) => camera_encodings(publish, n, captured)),
			adapt(sent(Source.ScreenShare), publish.screen, (n, captured) => screen_encodings(publish, n, captured)),
		]);
	}

	return {
		/**
		 * Connects, and publishes the tracks of the preview. The event Disconnected tells sooner than the promise
		 * that somebody was put out meanwhile.
		 * @param {{ url: string, token: string, not_enforced?: string[] }} join @param {Tracks} tracks
		 */
		async connect({ url, token, not_enforced = [] }, tracks) {
			preview = tracks.video && shown_track(tracks.video);
			// If not all roles are seen, nobody is subscribed until it is known whom.
			if (not_enforced.includes("subscribe")) heard = new Set();
			room.once(event.SignalConnected, () => {
				for (const kind of /** @type {const} */ (["audio", "video"])) {
					const track = tracks[kind];
					if (track) starting.set(kind, publish_track(kind, track));
				}
			});
			// The media server would send all that anybody publishes.
			await room.connect(url, token, { autoSubscribe: false });
			others().forEach(subscribe);
			on.sound(room.canPlaybackAudio);
			watch_flow(room, on.standing, over.signal);
			watch_loss(room, () => degradation, on.loss, over.signal);
		},
		/** You, then the others in the order in which they came. */
		people: () => [
			person(me),
			...others()
				.map(person)
				.sort((a, b) => a.joined - b.joined || (a.sid < b.sid ? -1 : 1)),
		],
		/** Returns your metadata with the hand up or down, or null if it is not an object. @param {boolean} up */
		hand(up) {
			const value = object_of(me.metadata);
			if (!value) return null;
			if (up) value.isHandRaised = true;
			else delete value.isHandRaised;
			return JSON.stringify(value);
		},
		/**
		 * Applies a role: what is published, and who is seen and heard.
		 * @param {import("./service.js").Me} me @param {boolean} is_new
		 */
		apply({ role: { publishParams, subscribeParams }, roles: all = [] }, is_new) {
			roles = new Map(all.map((one) => [one.name, one]));
			degradation = subscribeParams?.subscribeDegradation;
			const was = JSON.stringify(publish);
			publish = publishParams;
			Object.assign(room.options, options_of(lk, publish));
			if (was !== JSON.stringify(publish)) {
				has_changed = true;
				adapt_all();
			}
			if (heard || is_new) {
				const heard_all = heard === null;
				heard = new Set(subscribeParams?.subscribeToRoles ?? []);
				// Telephone callers and streams have no role.
				if (heard_all) heard.add("");
				others().forEach(subscribe);
			}
		},
		/** @param {Kind} kind @returns {boolean} */
		is_on: (kind) =>
			starting.has(kind) ||
			{ audio: me.isMicrophoneEnabled, video: me.isCameraEnabled, screen: me.isScreenShareEnabled }[kind],
		/** @param {Kind} kind @param {boolean} yes */
		async turn(kind, yes) {
			await starting.get(kind);
			turning.add(kind);
			try {
				if (kind === "audio") await me.setMicrophoneEnabled(yes);
				else if (kind === "video") await me.setCameraEnabled(yes);
				else await me.setScreenShareEnabled(yes, screen_options(publish));
				if (yes && has_changed) await adapt_all();
			} finally {
				setTimeout(() => turning.delete(kind), ECHO);
			}
		},
		/** @returns {MediaStreamTrack | undefined} */
		microphone: () => me.getTrackPublication(Source.Microphone)?.track?.mediaStreamTrack,
		/** @param {MediaDeviceKind} kind @param {string} id */
		switch_to: (kind, id) => room.switchActiveDevice(kind, id),
		/** @param {MediaDeviceKind} kind @returns {string | undefined} */
		active: (kind) => room.getActiveDevice(kind),
		/** Everything that is sent and received, you first. @returns {Stream[]} */
		streams: () =>
			[me, ...others()].flatMap((one) =>
				newest(one)
					.filter(({ track, isMuted }) => track && !isMuted)
					.map(({ track, kind, source }) => ({
						id: one === me ? "me" : one.sid,
						name: said_by(one).name,
						kind: is_of_screen({ source }) ? (kind === "audio" ? "screen_audio" : "screen") : kind,
						kbps: track.currentBitrate / KBIT || 0,
						read: async () => (track.sender ?? track.receiver)?.getStats?.(),
					})),
			),
		/** What the browser says of the connection itself. @returns {Promise<any[]>} */
		async reports() {
			const { publisher, subscriber } = room.engine?.pcManager ?? {};
			return Promise.all([publisher, subscriber].map(async (one) => one?.getStats?.()));
		},
		is_weak: () => ["poor", "lost"].includes(me.connectionQuality),
		play: () => room.startAudio(),
		leave: () => room.disconnect(),
		sid: () => me.sid,
		/** Sends a text stream. @param {string} text @param {any} options the library's @returns {Promise<void>} */
		send_text: (text, options) => me.sendText(text, options),
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
		/** @returns {string} the role that the media server says you have */
		role: () => me.attributes.role ?? "",
		/** Whether the media server says that it records. */
		is_recorded: () => room.isRecording === true,
	};
}

/** @typedef {ReturnType<typeof connection>} Connection */
