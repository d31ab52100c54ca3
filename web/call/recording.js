// What people see of recordings and streams: the mark that says so, a note when something changes, where people are
// asked, what agrees to be recorded and takes that back, and for those who may, the menu that starts, pauses and stops a
// recording. Loaded when there is something to show.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { keep, keep_consent } from "../join/kept.js";
import { Refusal, call } from "../lib/api.js";
import { announce, h, put } from "../lib/dom.js";
import { dialog } from "./dialog.js";
import { menu } from "./menu.js";
import { recording_words } from "./recording_words.js";
import { refusal, status_of } from "./refused.js";
import { has_several, streaming } from "./streaming.js";
import { words } from "./words.js";

/** @typedef {"starting" | "running" | "paused" | "interrupted"} State */
/** A recording or stream as the service tells everybody of it.
 * @typedef {{ type: "recording" | "live" | "external", state: State, since: string, by: string, name: string }} Recorded */

// Milliseconds: how often a recording that was stopped is asked for, and for how long; for how long the media server's
// own flag does not count after the end of a recording, because the recorder sets it until it has left.
const AGAIN = 5000;
const PATIENCE = 20 * 60000;
const LEAVES = 15000;
const MINUTE = 60000;

const is_recording = (/** @type {Recorded} */ one) => one.type === "recording";

/** What is said of a start that was refused, by the service's message. @type {Record<string, string>} */
const REFUSALS = {
	"No recorder is installed": recording_words.none_installed,
	"No storage for recordings": recording_words.no_storage,
	"This storage cannot be used for recordings": recording_words.no_storage,
	"Not enough space for recordings": recording_words.no_space,
	"Recordings fill their space": recording_words.no_space,
	"Too many recordings at once": recording_words.too_many,
	"Too many jobs": recording_words.too_many,
};

/**
 * @param {{ entry: import("../join/kept.js").Entry, sentence: { text: string, version: string }, line: Element, stage: Element,
 *   people: () => import("./media.js").Person[], note: import("./notes.js").Notes, own_flag: () => boolean | undefined,
 *   refresh: () => Promise<void>, at_join: boolean, signal: AbortSignal }} page `sentence` is what people agree to; `line` is that of
 *   the bar; `own_flag` tells whether the media server says that it records; `refresh` asks the service who you are again;
 *   `at_join` is false if it said before that nothing runs
 */
export function recordings({ entry, sentence, line, stage, people, note, own_flag, refresh, at_join, signal }) {
	const { room_id, token } = entry;
	const request = (/** @type {string} */ method, /** @type {string} */ path, body = method === "POST" ? {} : undefined) =>
		call(method, `/v2/${path}`, { token, body, signal });
	/** What runs, as far as the service has told. @type {Recorded[] | null} */
	let shown = at_join ? null : [];
	let is_allowed = false;
	/** Whether people are asked, and whether you agree. */
	let asks = false;
	let agrees = false;
	let me = "";
	let is_busy = false;
	/** The recording that you started, until media arrive. */
	let started_id = "";
	let ended_at = -Infinity;
	const own = () => shown?.find(is_recording);
	const streams = streaming({ room_id, request, ask, note, refresh, shown: () => shown ?? [], signal });

	// ---- the mark, in the bar and, where that has no space, above the people ----

	const in_bar = h("span.recorded");
	const above = h("div.recorded-line");
	line.prepend(in_bar);
	// The arrow keys of the bar go by its other buttons.
	in_bar.addEventListener("focusin", (event) => event.stopPropagation());
	stage.prepend(above);

	/**
	 * Returns what the mark says: for screen readers, for the eye, and where there is little space.
	 * @param {Recorded[]} all @param {import("./media.js").Person[]} [inside]
	 * @returns {{ state: State, said: string, text: string, short: string } | null}
	 */
	function mark_of(all, inside = people()) {
		const first = all.find(is_recording) ?? all[0];
		if (!first) return null;
		const n = inside.filter((one) => !one.unrecorded).length;
		const said = new Map(
			all.map((one) => {
				const kind = is_recording(one) ? "recording" : "streaming";
				const { [one.state]: [text = "", short = ""] } = recording_words[kind];
				// What others record obeys no consent.
				if (!asks || one.state !== "running" || one.since === "") return [kind, { full: "", text, short }];
				const { [kind]: count, short: in_short } = recording_words.counted;
				return [kind, { full: text, text: count(n, inside.length), short: in_short(n, inside.length) }];
			}),
		);
		const lines = [said.get("recording"), said.get("streaming")].filter((one) => one !== undefined);
		const text = lines.map((one) => one.text).join(". ");
		return { state: first.state, said: [...lines.map((one) => one.full), text].filter(Boolean).join(". "), text, short: lines[0]?.short ?? "" };
	}
	let drawn = "";
	let written = "";
	/** @param {import("./media.js").Person[]} [inside] */
	function draw(inside) {
		const mark = mark_of(shown ?? [], inside);
		const acts = Boolean(is_allowed && own()) || streams.acts();
		const now = JSON.stringify([mark?.state, acts]);
		const texts = JSON.stringify(mark);
		for (const place of [in_bar, above]) {
			if (now !== drawn) make(place, mark, acts);
			if (mark && texts !== written) write(place.firstElementChild, mark, acts);
		}
		drawn = now;
		written = texts;
	}
	/** @param {Element} place @param {ReturnType<typeof mark_of>} mark @param {boolean} acts whether it is a button */
	function make(place, mark, acts) {
		written = "";
		const has_focus = place.contains(document.activeElement);
		if (!mark) return put(place);
		const content = [
			h("span.recorded-dot", { class: mark.state, "aria-hidden": "true" }),
			h("span.off-screen"),
			h("span.recorded-text", { "aria-hidden": "true" }),
			h("span.recorded-short", { "aria-hidden": "true" }),
		];
		/** @type {HTMLElement} */
		const element = acts
			? h("button.recorded-mark", { type: "button", "aria-haspopup": "menu", "aria-expanded": "false", onclick: () => menu(element, entries()) }, content)
			: h("p.recorded-mark", null, content);
		put(place, element);
		if (has_focus) element.focus();
	}
	/** @param {Element | null} element @param {{ said: string, text: string, short: string }} mark @param {boolean} acts */
	function write(element, { said, text, short }, acts) {
		element?.setAttribute("title", said);
		if (acts) element?.setAttribute("aria-label", `${said}. ${recording_words.options}`);
		[said, text, short].forEach((one, i) => put(/** @type {Element} */ (element?.children[i + 1]), one));
	}

	// ---- what has changed ----

	/** Says what has changed of a recording; for one that has ended, `now` is undefined. @param {Recorded | undefined} before @param {Recorded | undefined} now */
	function tell(before, now) {
		const kind = before ?? now;
		if (!kind || before?.state === now?.state) return;
		const symbol = { key: `recording ${is_recording(kind)}`, symbol: "record" };
		const begun = () => {
			const { by, name } = /** @type {Recorded} */ (now);
			if (!is_recording(kind)) return name ? recording_words.streamed_by(name) : recording_words.streamed;
			return by && by === me ? recording_words.you_started : name ? recording_words.started_by(name) : recording_words.started;
		};
		if (!before) return note.say(begun(), symbol);
		if (!now) {
			if (before.state === "starting") return is_recording(kind) ? tell_failed() : streams.tell_failed(kind, me);
			return note.say(is_recording(kind) ? recording_words.stopped : recording_words.stream_stopped, symbol);
		}
		if (now.state === "starting" || !is_recording(kind)) return;
		if (now.state === "paused") return note.say(recording_words.paused, symbol);
		if (now.state === "interrupted") return note.say(recording_words.interrupted, { ...symbol, bad: true });
		if (before.state === "paused") note.say(recording_words.resumed, symbol);
		if (before.state === "interrupted") note.say(recording_words.continues, symbol);
	}
	/** Says that a recording has not started; to whom started it, why. */
	async function tell_failed() {
		let text = recording_words.failed;
		if (started_id) {
			const { data } = await request("GET", `recordings/${started_id}`).catch(() => ({ data: null }));
			if (data?.reason === "client request") return note.say(recording_words.stopped, { key: "recording true", symbol: "record" });
			if (data?.reason?.endsWith("NO_RECORDER")) text = recording_words.no_recorder;
		}
		started_id = "";
		if (!signal.aborted) note.warn(text, "recording true");
	}
	/** @type {ReturnType<typeof setTimeout> | undefined} */
	let timer;
	signal.addEventListener("abort", () => clearTimeout(timer));
	/** @param {import("./service.js").Me} now */
	function take(now) {
		const before = shown;
		is_allowed = now.may?.includes("record") === true;
		me = now.peer.id;
		asks = now.consent !== undefined;
		agrees = now.agreed === true;
		streams.take(now.may ?? []);
		const all = now.recordings ?? [];
		clearTimeout(timer);
		if (all.length > 0) ended_at = Infinity;
		else if (ended_at === Infinity) ended_at = performance.now();
		if (all.length > 0 || !own_flag()) shown = all;
		else if (performance.now() - ended_at >= LEAVES) shown = [{ type: "recording", state: "running", since: "", by: "", name: "" }];
		else {
			shown = [];
			timer = setTimeout(take, LEAVES, now);
		}
		if (own() && own()?.state !== "starting") started_id = "";
		draw();
		if (!before) {
			const mark = mark_of(shown);
			if (mark && !is_busy) announce(`${mark.said}.`, "recording");
			return;
		}
		for (const type of [true, false]) {
			const [one, other] = [before, shown].map((each) => each.find((some) => is_recording(some) === type));
			tell(one, other);
		}
	}

	// ---- for those who may ----

	/** Does one thing at a time. @param {() => Promise<unknown>} doing */
	async function act(doing) {
		if (is_busy) return;
		is_busy = true;
		try {
			await doing();
		} catch (error) {
			const message = error instanceof Refusal ? error.message : "";
			const own_text = status_of(error) === 429 ? recording_words.too_soon : has_several(error) ? recording_words.several : REFUSALS[message];
			// One that runs already is on the mark as soon as the service is asked.
			if (message !== "A recording is running" && !signal.aborted) note.warn(own_text ?? refusal(error, { 409: recording_words.failed, 503: recording_words.failed }), "recording true");
		}
		await refresh().catch(() => {});
		is_busy = false;
	}
	const of_room = (/** @type {string} */ what) => request("POST", `recordings/room/${room_id}/${what}`);
	/**
	 * Asks whether to start a recording or stream and, where people are asked, whether you agree to be in it. Returns whether to start.
	 * @param {{ title: string, help: string, start: string, not_agreed: string }} texts
	 */
	async function ask(texts) {
		const lacks = asks && !agrees;
		const start = { value: "start", text: lacks ? recording_words.start_without : texts.start };
		const answer = await dialog({
			title: texts.title,
			content: [
				h("p.quiet", null, texts.help),
				asks && h("p.quiet", null, recording_words.left_out),
				lacks && h("p", null, texts.not_agreed),
				lacks && h("p", null, h("b", null, sentence.text)),
			],
			buttons: [
				{ value: "", text: words.cancel },
				// Nobody agrees by pressing Enter.
				...(lacks ? [start, { value: "agree", text: recording_words.start_agreeing, class: "primary" }] : [{ ...start, class: "primary", focus: true }]),
			],
		});
		return answer === "agree" ? set_consent(true) : Boolean(answer);
	}
	async function ask_to_start() {
		if (await ask(recording_words)) act(async () => (started_id = (await of_room("start")).data.id));
	}

	// ---- for everybody, where people are asked ----

	/** Tells the service whether you agree, and keeps it for the next join of this tab. Returns false if that has failed. @param {boolean} yes */
	async function set_consent(yes) {
		const keep_answer = (/** @type {boolean} */ value) => keep_consent(entry.code, sentence.version, value);
		const before = agrees;
		try {
			const answer = keep_answer(yes);
			await request("POST", `active-rooms/${room_id}/peers/${me}`, answer);
			entry.consent = answer;
			keep(entry);
			agrees = yes;
		} catch (error) {
			keep_answer(before);
			if (!signal.aborted) note.warn(refusal(error, {}), "consent");
			return false;
		}
		note.say(yes ? recording_words.agreed : recording_words.withdrawn, { key: "consent", symbol: yes ? "check" : "record-off" });
		await refresh().catch(() => {});
		return true;
	}
	async function ask_to_agree() {
		const answer = await dialog({
			title: recording_words.agree_title,
			content: [h("p", null, sentence.text)],
			buttons: [
				{ value: "", text: words.cancel },
				{ value: "yes", text: recording_words.agree_do, class: "primary" },
			],
		});
		if (answer) set_consent(true);
	}
	async function ask_to_withdraw() {
		const answer = await dialog({
			title: recording_words.withdraw_title,
			content: [h("p.quiet", null, recording_words.withdraw_help)],
			buttons: [
				{ value: "", text: words.cancel, focus: true },
				{ value: "yes", text: recording_words.withdraw_do, class: "primary" },
			],
		});
		if (answer) set_consent(false);
	}

	// ---- the end of a recording ----

	const stop = () =>
		act(async () => {
			const { data } = await of_room("stop");
			const one = data.data?.[0];
			if (one && one.status !== "failed") wait_for(one.id).catch(() => {});
		});
	/** Tells that a recording is saved, and shows it when its file is there. @param {string} id */
	async function wait_for(id) {
		const until = performance.now() + PATIENCE;
		let is_told = false;
		while (performance.now() < until) {
			const { data } = await request("GET", `recordings/${id}`);
			const length = recording_words.minutes(Math.floor((Date.parse(data.stopped_at ?? "") - Date.parse(data.started_at ?? "")) / MINUTE) || 0);
			if (["completed", "failed"].includes(data.status)) {
				const { data: assets } = await request("GET", `recording-assets?room_id=${room_id}`);
				const asset = assets.data.find((/** @type {any} */ one) => one.job_id === id && one.type === "room-composite");
				if (!asset) return note.warn(recording_words.failed, "recording saved");
				const { data: link } = await request("GET", `recording-assets/${asset.id}/presigned-url?inline=1`);
				const watch = { text: recording_words.watch, do: () => void open(link.url, "_blank", "noopener") };
				note.say(recording_words.ready(length), { key: "recording saved", symbol: "check", act: watch });
				return;
			}
			if (!is_told && data.status === "post_processing") {
				note.say(recording_words.saved(length), { key: "recording saved", symbol: "check" });
				is_told = true;
			}
			await new Promise((done) => setTimeout(done, AGAIN));
			if (signal.aborted) return;
		}
	}
	/** @returns {import("./menu.js").Entries} */
	const entries = () => [...recording_entries(), ...streams.entries()];
	/** @returns {import("./menu.js").Entries} */
	function recording_entries() {
		const consent = asks && (agrees ? { icon: "record-off", text: recording_words.withdraw, act: ask_to_withdraw } : { icon: "record", text: recording_words.agree, act: ask_to_agree });
		const one = own();
		// The media server's own recording is not ours to stop.
		if (!is_allowed || one?.since === "") return [consent];
		if (!one) return [consent, { icon: "record", text: recording_words.record, act: ask_to_start }];
		const pause = one.state === "paused" ? "resume" : "pause";
		return [
			consent,
			one.state !== "starting" && { icon: one.state === "paused" ? "record" : "pause", text: recording_words[pause], act: () => act(() => of_room(pause)) },
			{ icon: "stop", text: recording_words.stop, act: stop },
		];
	}
	return { take, entries, draw };
}
