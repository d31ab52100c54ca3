// Camera and microphone before joining: preview, level, choice of devices. If a device fails, the page says
// what to do, and the guest can still join.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { announce, h, icon, put, unique } from "../lib/dom.js";
import { browser_storage } from "../lib/storage.js";

/** @typedef {import("./words.js").Words} Words */
/** @typedef {"off" | "starting" | "on" | "denied" | "missing" | "busy" | "insecure" | "failed"} State */
/** @typedef {ReturnType<typeof device>} Device */

// Milliseconds between two readings. The samples cover more time at any usual rate, so no sound is missed.
const METER_EVERY = 80;
const METER_SAMPLES = 8192;

/** Returns why a device could not be used. @param {unknown} error @returns {"denied" | "missing" | "busy" | "failed"} */
export function state_of(error) {
	/** @type {Record<string, "denied" | "missing" | "busy">} */
	const states = {
		NotAllowedError: "denied",
		SecurityError: "denied",
		NotFoundError: "missing",
		OverconstrainedError: "missing",
		NotReadableError: "busy",
		AbortError: "busy",
	};
	// In Firefox, an OverconstrainedError is not a DOMException.
	return states[/** @type {any} */ (error)?.name] ?? "failed";
}

/**
 * Creates the controls for the devices that a role publishes with: a preview with buttons, and device choices.
 * @param {any} publish the role's publishParams @param {Words} words
 */
export function devices(publish, words) {
	const { allowed, video } = publish;
	const camera = allowed.includes("video")
		? device("camera", words, {
				width: { ideal: video.width, max: video.width },
				height: { ideal: video.height, max: video.height },
				frameRate: { ideal: video.frameRate, max: video.frameRate },
			})
		: null;
	const microphone = allowed.includes("audio")
		? device("microphone", words, {
				echoCancellation: true,
				noiseSuppression: true,
				autoGainControl: true,
			})
		: null;
	const all = [microphone, camera].filter((one) => one !== null);
	if (all.length === 0) {
		return {
			preview: null,
			choices: h("p.notice", null, icon("eye"), h("span", null, words.only_watching)),
			chosen: () => ({ audio: false, video: false }),
			give: () => ({ audio: null, video: null, trouble: {} }),
			stop() {},
		};
	}
	const voice = () =>
		h("div.stage", null, h("div.stage-off", null, icon("mic"), h("p", null, words.only_speaking)));
	const buttons = all.map((one) => one.button);
	const preview = h(
		"div.preview",
		null,
		camera?.stage ?? voice(),
		h("div.stage-bar", null, buttons),
	);
	const choices = h(
		"div.device-choices",
		null,
		all.map((one) => one.choice),
	);
	const relist = () => {
		for (const one of all) one.relist();
	};
	if (isSecureContext && navigator.mediaDevices) {
		start_all(microphone, camera).then(() => all.forEach((one) => one.list()));
		navigator.mediaDevices.addEventListener("devicechange", relist);
	} else for (const one of all) one.stop("insecure");
	return {
		preview,
		choices,
		chosen: () => ({ audio: microphone?.state() === "on", video: camera?.state() === "on" }),
		/** Hands the running tracks over: they continue in the call, and the browser asks nothing again. */
		give() {
			navigator.mediaDevices?.removeEventListener("devicechange", relist);
			return {
				audio: microphone?.give() ?? null,
				video: camera?.give() ?? null,
				trouble: { audio: microphone?.state(), video: camera?.state() },
			};
		},
		stop() {
			navigator.mediaDevices?.removeEventListener("devicechange", relist);
			for (const one of all) one.end();
		},
	};
}

/**
 * Requests the devices that there are: both together, so that the browser prompts only once, and each separately if
 * that fails, so that one does not block the other. What is missing is said, and not asked for.
 * @param {Device | null} wanted_microphone @param {Device | null} wanted_camera
 */
async function start_all(wanted_microphone, wanted_camera) {
	const kinds = (await navigator.mediaDevices.enumerateDevices().catch(() => [])).map(({ kind }) => kind);
	// Browsers may hide all devices until one was allowed.
	const is_told = kinds.includes("audioinput") || kinds.includes("videoinput");
	/** @param {Device | null} one @param {MediaDeviceKind} kind */
	const there = (one, kind) => {
		if (!one || !is_told || kinds.includes(kind)) return one;
		one.stop("missing");
		return null;
	};
	const microphone = there(wanted_microphone, "audioinput");
	const camera = there(wanted_camera, "videoinput");
	const all = [microphone, camera].filter((one) => one !== null);
	if (all.length === 0) return;
	try {
		const stream = await navigator.mediaDevices.getUserMedia({
			...(microphone ? { audio: microphone.wish() } : {}),
			...(camera ? { video: camera.wish() } : {}),
		});
		microphone?.take(new MediaStream(stream.getAudioTracks()));
		camera?.take(new MediaStream(stream.getVideoTracks()));
	} catch (error) {
		const state = state_of(error);
		// A user who denied both is not asked again.
		const alone = all.length === 1 || (state === "denied" && !(await differ()));
		for (const one of all) {
			if (alone) one.stop(state);
			else await one.start();
		}
	}
}

/** Returns true if the browser allows one of the two devices, or if that is unknown. */
async function differ() {
	try {
		const [camera, microphone] = await Promise.all(
			["camera", "microphone"].map((name) =>
				navigator.permissions.query({ name: /** @type {PermissionName} */ (name) }),
			),
		);
		return camera?.state !== microphone?.state;
	} catch {
		return true;
	}
}

/** @param {"camera" | "microphone"} what @param {Words} words @param {MediaTrackConstraints} limits */
function device(what, words, limits) {
	const says = words[what];
	const is_camera = what === "camera";
	/** @type {State} */
	let state = "starting";
	/** @type {MediaStream | null} */
	let stream = null;
	let is_over = false;
	let wanted = browser_storage.get(what) ?? "";
	const video = h("video.mirrored", {
		autoplay: true,
		playsinline: true,
		disablepictureinpicture: true,
		"aria-label": words.preview,
	});
	video.muted = true;
	const off_words = h("div.stage-off");
	const stage = h("div.stage", null, video, off_words);
	const button = h("button.round", {
		type: "button",
		onclick: () => (state === "on" ? stop("off") : start()),
	});
	const id = unique(what);
	const select = h("select", { id });
	select.addEventListener("change", () => {
		wanted = select.value;
		browser_storage.set(what, wanted);
		start();
	});
	const bar = h("span.level-bar");
	const meter = h(
		"div.level",
		{
			role: "meter",
			"aria-label": words.level,
			"aria-valuemin": "0",
			"aria-valuemax": "100",
			"aria-valuenow": "0",
		},
		bar,
	);
	const note = h("div.device-note", { role: "status" });
	const choice = h(
		"div.field",
		null,
		h("label.label", { for: id }, says.name),
		h("div.select", null, select, icon("down")),
		!is_camera && meter,
		note,
	);

	function draw() {
		const on = state === "on";
		put(button, icon(is_camera ? (on ? "camera" : "camera-off") : on ? "mic" : "mic-off"));
		button.setAttribute("aria-label", on ? says.turn_off : says.turn_on);
		button.title = on ? says.turn_off : says.turn_on;
		button.classList.toggle("off", !on);
		video.hidden = !on;
		meter.hidden = !on;
		off_words.hidden = on;
		put(
			off_words,
			icon(state === "starting" ? "camera" : "camera-off"),
			h("p", null, trouble()?.[0] ?? (state === "off" ? says.off : says.starting)),
		);
		select.disabled = ["denied", "missing", "insecure"].includes(state);
		tell(trouble());
	}
	/** Returns the problem and a remedy, or null. @returns {[string, string] | null} */
	function trouble() {
		switch (state) {
			case "denied":
				return [says.denied, says.denied_help];
			case "missing":
				return [says.missing, says.missing_help];
			case "busy":
				return [says.busy, says.busy_help];
			case "failed":
				return [says.failed, says.failed_help];
			case "insecure":
				return [words.insecure, ""];
			default:
				return null;
		}
	}
	/** @param {[string, string] | null} told */
	function tell(told) {
		if (!told) return put(note);
		const again = h("button.as-link", { type: "button", onclick: () => start() }, words.try_again);
		const help = h(
			"span",
			null,
			h("b", null, told[0]),
			` ${told[1]} `,
			state !== "insecure" && again,
		);
		return put(note, h("p.fault", null, icon("warning"), help));
	}

	const wish = () => ({ ...limits, ...(wanted ? { deviceId: { ideal: wanted } } : {}) });
	async function start() {
		stop("starting");
		try {
			const asked = is_camera ? { video: wish() } : { audio: wish() };
			take(await navigator.mediaDevices.getUserMedia(asked));
			await list();
		} catch (error) {
			stop(state_of(error));
		}
	}
	/** @param {MediaStream} got */
	function take(got) {
		if (is_over) {
			// The browser's question was answered after the preview had ended.
			for (const track of got.getTracks()) track.stop();
			return;
		}
		stream = got;
		state = "on";
		const [track] = got.getTracks();
		track?.addEventListener("ended", () => stream === got && stop("missing"));
		// Another program may take it.
		track?.addEventListener("mute", () => stream === got && tell([says.busy, says.busy_help]));
		track?.addEventListener("unmute", () => stream === got && tell(null));
		if (is_camera) {
			video.srcObject = got;
		} else listen(got);
		draw();
	}
	/** @param {State} next */
	function stop(next) {
		for (const track of stream?.getTracks() ?? []) track.stop();
		stream = null;
		video.srcObject = null;
		state = next;
		draw();
		if (next === "off") announce(says.off);
	}
	function give() {
		const track = state === "on" ? (stream?.getTracks()[0] ?? null) : null;
		stream = null;
		is_over = true;
		return track;
	}
	function end() {
		is_over = true;
		stop("off");
	}
	/** Shows the microphone level until the stream changes. @param {MediaStream} got */
	function listen(got) {
		const context = new AudioContext();
		// In some browsers the context is suspended until the user touches the page.
		// It may be over by then.
		const resume = () => context.resume().catch(() => {});
		resume();
		addEventListener("pointerdown", resume, { once: true });
		const analyser = context.createAnalyser();
		analyser.fftSize = METER_SAMPLES;
		context.createMediaStreamSource(got).connect(analyser);
		const samples = new Uint8Array(analyser.fftSize);
		let level = 0;
		const timer = setInterval(() => {
			if (stream !== got) {
				clearInterval(timer);
				context.close();
				return;
			}
			analyser.getByteTimeDomainData(samples);
			const peak = samples.reduce((most, one) => Math.max(most, Math.abs(one - 128) / 128), 0);
			level = Math.min(1, Math.max(peak * 1.6, level * 0.8));
			bar.style.transform = `scaleX(${level.toFixed(3)})`;
			meter.setAttribute("aria-valuenow", String(Math.round(level * 100)));
		}, METER_EVERY);
	}
	/** Lists the devices, and uses one that was missing. */
	async function relist() {
		if ((await list()) > 0 && state === "missing") await start();
	}
	/** Returns how many there are. */
	async function list() {
		const kind = is_camera ? "videoinput" : "audioinput";
		const found = (await navigator.mediaDevices.enumerateDevices()).filter(
			(one) => one.kind === kind,
		);
		const chosen = stream?.getTracks()[0]?.getSettings().deviceId ?? wanted;
		const options = found.map((one, i) =>
			h(
				"option",
				{ value: one.deviceId, selected: one.deviceId === chosen },
				one.label || says.numbered(i + 1),
			),
		);
		put(select, options.length > 0 ? options : h("option", { value: "" }, says.none));
		return found.length;
	}
	draw();
	return { stage, button, choice, wish, start, take, stop, give, end, list, relist, state: () => state };
}
