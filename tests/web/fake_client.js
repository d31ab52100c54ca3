// In the place of livekit-client, for the tests of the call: a room without media, whose people the test moves.
// The page loads it as a module; the test reaches it as globalThis.fake.
//
// SPDX-License-Identifier: GPL-3.0-or-later

const names = (list) => Object.fromEntries(list.split(" ").map((name) => [name, name]));

export const RoomEvent = names(
	"ParticipantConnected ParticipantDisconnected TrackPublished TrackUnpublished TrackSubscribed TrackUnsubscribed " +
		"TrackMuted TrackUnmuted LocalTrackPublished LocalTrackUnpublished ConnectionQualityChanged " +
		"ParticipantMetadataChanged ParticipantNameChanged ParticipantPermissionsChanged ParticipantAttributesChanged " +
		"ActiveSpeakersChanged DataReceived SignalConnected SignalReconnecting Reconnecting Reconnected " +
		"AudioPlaybackStatusChanged RecordingStatusChanged Disconnected",
);
export const TrackEvent = names("Ended Restarted UpstreamPaused UpstreamResumed");
const Source = { Microphone: "microphone", Camera: "camera", ScreenShare: "screen_share", ScreenShareAudio: "screen_share_audio" };
const SOUNDS = [Source.Microphone, Source.ScreenShareAudio];
export const Track = { Source };
export const setLogLevel = () => {};

export class VideoPreset {
	constructor(width, height, maxBitrate, maxFramerate) {
		Object.assign(this, { width, height, encoding: { maxBitrate, maxFramerate } });
	}
}

class Emitter {
	#listeners = new Map();
	on(name, listener) {
		this.#listeners.set(name, [...(this.#listeners.get(name) ?? []), listener]);
	}
	once(name, listener) {
		this.on(name, listener);
	}
	emit(name, ...values) {
		for (const listener of this.#listeners.get(name) ?? []) listener(...values);
	}
}

/** A track whose picture is a colour. */
class FakeTrack extends Emitter {
	constructor(source, media, owner) {
		super();
		const canvas = document.createElement("canvas");
		[canvas.width, canvas.height] = source === Source.ScreenShare ? [160, 100] : [160, 90];
		canvas.getContext("2d").fillRect(0, 0, 160, 100);
		if (!media) globalThis.fake.paint?.(canvas, owner ?? {}, source);
		const tone = SOUNDS.includes(source) ? globalThis.fake.tone?.(owner ?? {}) : null;
		this.mediaStreamTrack = media ?? tone ?? canvas.captureStream(1).getVideoTracks()[0];
		Object.assign(this, { source, kind: SOUNDS.includes(source) ? "audio" : "video" });
		Object.assign(this, { attachedElements: [] });
		// What has arrived, and what the connection has received beside the media.
		this.receiver = { getStats: async () => new Map([["I", this.#packets()], ["T", { type: "transport", packetsReceived: globalThis.fake.packets?.() ?? performance.now() }]]) };
	}
	#from = performance.now();
	#lost = 0;
	/** A packet for each millisecond since the last time, of which globalThis.fake.loss is lost. */
	#received = 0;
	#packets() {
		const now = performance.now();
		const lost = (now - this.#from) * (globalThis.fake.loss ?? 0);
		this.#lost += lost;
		this.#received += now - this.#from - lost;
		this.#from = now;
		globalThis.fake.read = (globalThis.fake.read ?? 0) + 1;
		const count = { packetsLost: this.#lost, packetsReceived: this.#received };
		if (globalThis.fake.is_mute) return { type: "unknown" };
		return { type: "inbound-rtp", ...count, bytesReceived: (now * (this.kind === "video" ? 350 : 28)) / 8, ...(this.kind === "video" && { frameWidth: 640, frameHeight: 360, framesPerSecond: 25 }) };
	}
	get currentBitrate() {
		return globalThis.fake.silent ? 0 : 1000;
	}
	attach(element = document.createElement(this.kind)) {
		this.attachedElements.push(element);
		if (this.kind === "video") element.srcObject = new MediaStream([this.mediaStreamTrack]);
		return element;
	}
	detach(element) {
		const gone = element ? [element] : this.attachedElements;
		this.attachedElements = this.attachedElements.filter((one) => !gone.includes(one));
		for (const one of gone) one.srcObject = null;
		return gone;
	}
	stop() {
		this.mediaStreamTrack.stop();
	}
}
class LocalTrack extends FakeTrack {
	constructor(media, constraints) {
		super(media.kind === "audio" ? Source.Microphone : Source.Camera, media);
		this.constraints = constraints;
	}
}
export { LocalTrack as LocalAudioTrack, LocalTrack as LocalVideoTrack };

class Participant {
	constructor(room, more) {
		Object.assign(this, { room, attributes: {}, metadata: "", connectionQuality: "good", trackPublications: new Map() }, more);
	}
	getTrackPublication(source) {
		return this.trackPublications.get(source);
	}
	/** Publishes a track, under its source or, if there is one already, under another name. */
	add(source, track = new FakeTrack(source, null, this), name = source) {
		const { kind } = track;
		const publication = { source, kind, track, isMuted: false, isEnabled: true, isDesired: false, setVideoFPS: (fps) => (publication.fps = fps), setVideoQuality: (quality) => (publication.quality = quality) };
		publication.setSubscribed = (yes) => {
			publication.isDesired = yes;
			if (globalThis.fake.on_demand) this.#send(publication, yes ? track : undefined);
		};
		if (globalThis.fake.on_demand) publication.track = undefined;
		publication.trackInfo = { layers: [{ quality: 0, height: 180, bitrate: 110000 }, { quality: 2, height: 720, bitrate: 1200000 }] };
		this.trackPublications.set(name, publication);
		return publication;
	}
	/** With globalThis.fake.on_demand, what is published arrives while it is wanted. */
	#send(publication, track) {
		const before = publication.track;
		if (before === track) return;
		publication.track = track;
		this.room.emit(track ? RoomEvent.TrackSubscribed : RoomEvent.TrackUnsubscribed, track ?? before, publication, this);
	}
	mute(source, yes) {
		const publication = this.getTrackPublication(source);
		publication.isMuted = yes;
		this.room.emit(yes ? RoomEvent.TrackMuted : RoomEvent.TrackUnmuted, publication, this);
	}
}
class LocalParticipant extends Participant {
	/** Keeps what is sent in globalThis.fake.texts; with globalThis.fake.no_texts nothing can be sent. */
	async sendText(text, options) {
		if (globalThis.fake.no_texts) throw new Error("not sent");
		(globalThis.fake.texts ??= []).push({ text, ...options });
	}
	get isMicrophoneEnabled() {
		return this.#is_on(Source.Microphone);
	}
	get isCameraEnabled() {
		return this.#is_on(Source.Camera);
	}
	get isScreenShareEnabled() {
		return this.#is_on(Source.ScreenShare);
	}
	#is_on(source) {
		const publication = this.getTrackPublication(source);
		return Boolean(publication && !publication.isMuted);
	}
	async publishTrack(track, options) {
		if (globalThis.fake.held?.includes(options.source)) throw new Error("insufficient permissions");
		this.options = { ...this.options, [options.source]: options };
		const n = options.source === Source.Camera && options.simulcast ? 1 + options.videoSimulcastLayers.length : 1;
		let encodings = Array.from({ length: n }, () => ({ active: true }));
		const sent = () => ({ type: "outbound-rtp", bytesSent: (performance.now() * (track.kind === "video" ? 1150 : 32)) / 8, packetsSent: performance.now(), ...(track.kind === "video" && { frameWidth: 1280, frameHeight: 720, framesPerSecond: 30 }) });
		track.sender = { getStats: async () => new Map(globalThis.fake.is_mute ? [] : [["O", sent()], ["R", { type: "remote-inbound-rtp", packetsLost: performance.now() / 1000, roundTripTime: 0.05 }]]), getParameters: () => ({ encodings: structuredClone(encodings) }), setParameters: async (params) => ({ encodings } = params) };
		this.room.emit(RoomEvent.LocalTrackPublished, this.add(options.source, track));
	}
	async #turn(source, yes, wish) {
		if (this.getTrackPublication(source)) return this.mute(source, !yes);
		if (!yes) return;
		const stream = await navigator.mediaDevices.getUserMedia(wish);
		await this.publishTrack(new LocalTrack(stream.getTracks()[0]), { source });
	}
	setMicrophoneEnabled(yes) {
		return this.#turn(Source.Microphone, yes, { audio: true });
	}
	setCameraEnabled(yes) {
		return this.#turn(Source.Camera, yes, { video: true });
	}
	async setScreenShareEnabled(yes) {
		if (globalThis.fake.no_screen) throw new DOMException("closed", globalThis.fake.no_screen);
		if (yes) this.add(Source.ScreenShare);
		else this.trackPublications.delete(Source.ScreenShare);
		this.room.emit(RoomEvent.LocalTrackPublished, { source: Source.ScreenShare, track: new FakeTrack(Source.ScreenShare) });
	}
}

const claims_of = (token) => JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0))));

export class Room extends Emitter {
	engine = new Emitter();
	constructor(options) {
		super();
		this.options = options;
		this.canPlaybackAudio = true;
		this.remoteParticipants = new Map();
		this.localParticipant = new LocalParticipant(this, { joinedAt: new Date() });
		globalThis.fake.room = this;
		// The connection itself, as the test says.
		this.engine.pcManager = { publisher: { getStats: async () => globalThis.fake.way } };
	}
	async connect(url, token, options) {
		const claims = claims_of(token);
		const { sub: identity, name, attributes } = claims;
		Object.assign(this, { url, connected_with: options });
		const numbers = { camera: 1, microphone: 2, screen_share: 3, screen_share_audio: 4 };
		const allowed = (claims.video.canPublishSources ?? []).filter((source) => !globalThis.fake.held?.includes(source));
		this.localParticipant.permissions = { canPublish: claims.video.canPublish ?? true, canPublishSources: allowed.map((source) => numbers[source]) };
		this.emit(RoomEvent.SignalConnected);
		if (globalThis.fake.refuses !== undefined) {
			this.emit(RoomEvent.Disconnected, globalThis.fake.refuses);
			throw Object.assign(new Error("refused"), { status: globalThis.fake.status });
		}
		// The test tells the media server who is there now.
		const sid = await globalThis.let_in({ room: claims.video.room, identity, name, attributes });
		Object.assign(this.localParticipant, { sid, identity, name, attributes });
		// Who was inside before.
		globalThis.fake.first?.(this);
	}
	state = "connected";
	/** Makes the connection again, as the library does when it is lost. */
	async simulateScenario(name) {
		globalThis.fake.scenarios = [...(globalThis.fake.scenarios ?? []), name];
	}
	async disconnect() {
		this.emit(RoomEvent.Disconnected, 1);
	}
	async switchActiveDevice() {}
	getActiveDevice() {
		return "default";
	}
	async startAudio() {
		this.canPlaybackAudio = true;
		this.emit(RoomEvent.AudioPlaybackStatusChanged);
	}
	/** Somebody comes, with the tracks of these sources. */
	come(sid, name, sources = ["microphone", "camera"], more = {}) {
		const one = new Participant(this, { sid, identity: sid, name, joinedAt: new Date(this.remoteParticipants.size * 1000), attributes: { role: "guest" }, permissions: { canPublish: true }, ...more });
		this.remoteParticipants.set(sid, one);
		for (const source of sources) {
			const { track } = one.add(source);
			if (track) this.emit(RoomEvent.TrackSubscribed, track, null, one);
		}
		this.emit(RoomEvent.ParticipantConnected, one);
		return one;
	}
	go(sid) {
		for (const publication of this.remoteParticipants.get(sid)?.trackPublications.values() ?? []) {
			publication.track?.detach();
			if (publication.track) this.emit(RoomEvent.TrackUnsubscribed, publication.track, publication);
		}
		this.remoteParticipants.delete(sid);
		this.emit(RoomEvent.ParticipantDisconnected);
	}
	/** Data arrives: without an identity from the service. Of a sender whom the library does not know, it has the identity alone. */
	say(topic, value, identity = "") {
		const bytes = new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));
		this.emit(RoomEvent.DataReceived, bytes, this.remoteParticipants.get(identity), 0, topic, 0, identity);
	}
	/** A packet of a text stream arrives, as the library's engine tells of it. */
	packet(identity, type, value, to = []) {
		this.engine.emit("dataPacketReceived", { participantIdentity: identity, destinationIdentities: to, value: { case: type, value } });
	}
	/** Somebody sends a text, in one packet as newer clients do. */
	write(identity, text, to = [], attributes = {}) {
		const contentHeader = { case: "textHeader", value: { operationType: 0 } };
		const inlineContent = new TextEncoder().encode(text);
		this.packet(identity, "streamHeader", { streamId: crypto.randomUUID(), topic: "lk.chat", contentHeader, attributes, compression: 0, inlineContent }, to);
	}
	end(reason) {
		this.emit(RoomEvent.Disconnected, reason);
	}
}

globalThis.fake ??= {};
