// LiveKit as the call sees it: the others, and you with a microphone, a camera, a screen.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { chosen_device, chosen_speaker } from "./device.js";
import { watch_flow } from "./flow.js";
import { options_of, screen_options } from "./options.js";
import { object_of, others_of } from "./room.js";

/** @typedef {import("./room.js").Kind} Kind */
/** @typedef {import("./room.js").Person} Person */
/** @typedef {import("./room.js").Shown} Shown */
/** @typedef {import("./room.js").Received} Received */
/** @typedef {import("./room.js").Stream} Stream */
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

// Milliseconds until your own change has come back from the library, and in which it finds another device.
const ECHO = 300;
const ANOTHER = 1000;
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
	unrecorded: false,
});

/**
 * Returns a connection to a room, which `connect` opens.
 * @param {any} lk livekit-client @param {any} publish the role's publishParams @param {Events} on
 * @param {import("./room.js").Known} [met] whom a connection before this one knew
 */
export function connection(lk, publish, on, met) {
	const room = new lk.Room({ ...options_of(lk, publish), ...chosen_speaker() });
	const { Source } = lk.Track;
	const event = lk.RoomEvent;
	const me = room.localParticipant;
	/** @type {Record<Kind, string>} */
	const sources = { audio: Source.Microphone, video: Source.Camera, screen: Source.ScreenShare };
	const kind_of = (/** @type {string} */ source) =>
		/** @type {Kind | undefined} */ (Object.keys(sources).find((kind) => sources[/** @type {Kind} */ (kind)] === source));
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
	/** The subscribeDegradation of your role, and what follows it, once a role has had one. @type {any} */
	let degradation = null;
	/** @type {Promise<void> | null} */
	let following = null;
	/** Whether the role sends something else than when tracks were published. */
	let has_changed = false;
	let quiet = () => 0;
	const others = others_of(lk, room, on, (one) => !heard || heard.has(one.attributes.role ?? ""), undefined, met);
	const { signal, changed, person } = others;
	const track_of = (/** @type {string} */ source) => me.getTrackPublication(source)?.track;

	/** You, as the others see you, and what is on its way. @returns {Person} */
	function myself() {
		const one = person(me);
		const camera = track_of(Source.Camera);
		const early = starting.has("video") && !camera ? preview : null;
		return {
			...one,
			id: "me",
			me: true,
			publishes: publish.allowed.some((/** @type {string} */ kind) => kind in sources),
			mic: starting.has("audio") ? "on" : one.mic,
			camera: early ?? one.camera,
			camera_on: early !== null || one.camera_on,
			faces_me: faces_me(camera?.mediaStreamTrack),
			camera_in: NOTHING,
			screen_in: NOTHING,
		};
	}
	room.on(event.ParticipantAttributesChanged, (/** @type {any} */ values, /** @type {any} */ who) => who === me && "role" in values && on.role());
	room.on(event.ParticipantPermissionsChanged, (/** @type {any} */ _, /** @type {any} */ who) => who === me && on.allowed());
	room.on(event.TrackMuted, (/** @type {any} */ publication, /** @type {any} */ who) => {
		const kind = kind_of(publication.source);
		// The library switches off what was unplugged: nobody else did.
		if (who === me && kind && !turning.has(kind) && !unplugged.has(kind)) on.put_off(kind);
	});
	room.on(event.TrackUnmuted, (/** @type {any} */ { source }, /** @type {any} */ who) => {
		if (who === me) unplugged.delete(kind_of(source));
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
					if (signal.aborted) return;
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
	room.on(event.RecordingStatusChanged, () => on.recorded());
	room.on(event.AudioPlaybackStatusChanged, () => on.sound(room.canPlaybackAudio));
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
			if (!signal.aborted) on.trouble(kind, error);
		}
		starting.delete(kind);
		changed();
	}

	/**
	 * Applies the role to a track that is being sent: its size, and what each of its layers has.
	 * @param {any} track @param {{ width: number, height: number, frameRate: number } | null} size
	 * @param {(n: number, captured: MediaTrackSettings) => import("./sent.js").Encoding[]} encodings_of
	 */
	async function adapt(track, size, encodings_of) {
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
		const [{ audio_encodings, camera_encodings, screen_encodings }] = await Promise.all([import("./sent.js"), ...starting.values()]);
		await Promise.allSettled([
			adapt(track_of(Source.Microphone), null, () => audio_encodings(publish)),
			adapt(track_of(Source.Camera), publish.video, (n, captured) => camera_encodings(publish, n, captured)),
			adapt(track_of(Source.ScreenShare), publish.screen, (n, captured) => screen_encodings(publish, n, captured)),
		]);
	}

	return {
		room,
		on,
		/** For how many milliseconds nothing has arrived. */
		quiet: () => quiet(),
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
			others.subscribe_all();
			on.sound(room.canPlaybackAudio);
			quiet = watch_flow(room, (stands) => on.standing(stands), signal);
		},
		/** You, then the others in the order in which they came. */
		people: () => [myself(), ...others.people()],
		/** Returns your metadata with the hand up or down, or null if it is not an object. @param {boolean} up */
		hand(up) {
			const value = object_of(me.metadata);
			if (!value) return null;
			if (up) value.isHandRaised = true;
			else delete value.isHandRaised;
			return JSON.stringify(value);
		},
		/**
		 * Applies a role: what is published, and who is seen and heard. What others record obeys no consent.
		 * @param {import("./service.js").Me} me @param {boolean} is_new
		 */
		apply({ role: { publishParams, subscribeParams }, roles: all = [], consent, recordings }, is_new) {
			others.know(new Map(all.map((one) => [one.name, one])), Boolean(consent && (recordings?.length || !room.isRecording)));
			degradation = subscribeParams?.subscribeDegradation;
			if (degradation)
				following ??= import("./loss.js").then(
					({ watch_loss }) => watch_loss(room, () => degradation, on.loss, signal),
					() => {
						following = null;
					},
				);
			const was = JSON.stringify(publish);
			publish = publishParams;
			Object.assign(room.options, options_of(lk, publish));
			if (was !== JSON.stringify(publish)) {
				has_changed = true;
				adapt_all().catch(() => {});
			}
			if (heard || is_new) {
				const heard_all = heard === null;
				heard = new Set(subscribeParams?.subscribeToRoles ?? []);
				// Telephone callers and streams have no role.
				if (heard_all) heard.add("");
				others.subscribe_all();
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
		microphone: () => track_of(Source.Microphone)?.mediaStreamTrack,
		/** @param {MediaDeviceKind} kind @param {string} id */
		switch_to: (kind, id) => room.switchActiveDevice(kind, id),
		/** @param {MediaDeviceKind} kind @returns {string | undefined} */
		active: (kind) => room.getActiveDevice(kind),
		/** Everything that is sent and received, you first. */
		streams: () => [...others.streams([me]), ...others.streams()],
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
		read_texts: others.read_texts,
		/** @returns {string} the role that the media server says you have */
		role: () => me.attributes.role ?? "",
		/** Whether the media server says that it records. */
		is_recorded: () => room.isRecording === true,
	};
}

/** @typedef {ReturnType<typeof connection>} Connection */
