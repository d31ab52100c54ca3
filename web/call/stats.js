// The panel with what is sent and received, and how: for people whose call looks bad, and for those who support them.
// The browser is asked only while it is open. Loaded when it is asked for.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { language } from "../join/words.js";
import { h, icon, put } from "../lib/dom.js";
import { dialog } from "./dialog.js";
import { stats_words } from "./stats_words.js";
import { words } from "./words.js";

/** @typedef {import("./media.js").Connection} Connection */
/** @typedef {import("./media.js").Stream} Stream */
/** The counters of a stream at a time. @typedef {{ at: number, bytes: number, lost: number, packets: number }} Count */
/**
 * What is shown of a stream: its size is "" for sound.
 * @typedef {{ stream: Stream, report: any, count: Count, size: string, fps: number, round_trip: number }} Reading
 */

// Milliseconds between two readings, the first two, and those over which losses are counted.
const EVERY = 2000;
const SOON = 700;
const WINDOW = 10000;
// The share of lost packets from which on the connection is weak.
const WEAK = 0.05;
const VERSION = /\/web\/([^/]+)\//.exec(import.meta.url)?.[1] ?? "";

const whole = new Intl.NumberFormat(language, { maximumFractionDigits: 0, useGrouping: false });
const tenths = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });
const percent = (/** @type {number} */ share) => `${tenths.format(share < 0.1 ? share * 100 : Math.round(share * 100))} %`;

/** @param {Stream} stream @returns {Promise<Reading>} */
async function reading_of(stream) {
	const report = await stream.read().catch(() => null);
	const count = { at: performance.now(), bytes: 0, lost: 0, packets: 0 };
	let [width, height, fps, round_trip] = [0, 0, 0, NaN];
	for (const one of report?.values() ?? []) {
		if (one.type === "inbound-rtp" || one.type === "outbound-rtp") {
			count.bytes += one.bytesReceived ?? one.bytesSent ?? 0;
			count.packets += (one.packetsReceived ?? one.packetsSent ?? 0) + (one.type === "inbound-rtp" ? (one.packetsLost ?? 0) : 0);
			// Of several layers the largest counts.
			if ((one.frameWidth ?? 0) * (one.framesPerSecond ?? 0) >= width * fps) {
				[width, height, fps] = [one.frameWidth ?? 0, one.frameHeight ?? 0, one.framesPerSecond ?? 0];
			}
		}
		if (one.type === "inbound-rtp" || one.type === "remote-inbound-rtp") count.lost += Math.max(0, one.packetsLost ?? 0);
		if (one.type === "remote-inbound-rtp") round_trip = one.roundTripTime ?? round_trip;
	}
	const is_sound = ["audio", "screen_audio"].includes(stream.kind);
	return { stream, report, count, size: is_sound || width === 0 ? "" : `${width} × ${height}`, fps, round_trip };
}

/** Returns the way of the packets and their round trip in seconds. @param {any[]} reports */
function way_of(reports) {
	let [route, round_trip] = ["", NaN];
	for (const report of reports) {
		const all = [...(report?.values() ?? [])];
		const chosen = all.find((one) => one.type === "transport")?.selectedCandidatePairId;
		const pair = all.find((one) => one.type === "candidate-pair" && (chosen ? one.id === chosen : one.nominated && one.state === "succeeded"));
		const local = pair && all.find((one) => one.id === pair.localCandidateId);
		if (local) route = local.candidateType === "relay" ? "relay" : local.protocol === "tcp" ? "tcp" : "udp";
		round_trip = pair?.currentRoundTripTime ?? round_trip;
	}
	return { route, round_trip };
}

/**
 * Opens the panel.
 * @param {Connection} link @param {{ entry: { room_id: string }, join: { url: string }, signal: AbortSignal }} call
 */
export async function connection_dialog(link, { entry, join, signal }) {
	const verdict = h("p.verdict");
	const ways = h("dl.stats");
	const sent = h("div");
	const received = h("div");
	const hint = h("p.hint", { role: "status" }, stats_words.details_hint);
	const copied = h("textarea.details", { readonly: true, hidden: true, rows: "6", "aria-label": stats_words.connection_title });
	const copy = h("button", { type: "button", onclick: copy_details }, icon("copy"), stats_words.copy_details);
	/** The text for those who support people. */
	let details = "";
	/** What was counted, by stream, over the last seconds. @type {Map<string, Count[]>} */
	let counted = new Map();

	/** @param {string} name @param {string} text */
	const row = (name, text) => h("div.stat", null, h("dt", null, h("bdi", null, name)), h("dd", null, text));
	/** Returns the kbit/s of a stream since the last reading. @param {Reading} reading */
	function kbps_of({ stream, count }) {
		const last = counted.get(key_of(stream))?.at(-1);
		if (!last || count.bytes < last.bytes) return stream.kbps;
		return (8 * (count.bytes - last.bytes)) / Math.max(1, count.at - last.at);
	}
	const key_of = (/** @type {Stream} */ { id, kind }) => `${kind} ${id}`;
	/** Returns the share of packets that were lost lately; NaN if there were none. @param {Reading[]} readings */
	function loss_of(readings) {
		let [lost, packets] = [0, 0];
		for (const { stream, count } of readings) {
			const first = counted.get(key_of(stream))?.[0] ?? { lost: 0, packets: 0 };
			lost += Math.max(0, count.lost - first.lost);
			packets += Math.max(0, count.packets - first.packets);
		}
		return packets > 0 ? Math.min(1, lost / packets) : NaN;
	}
	/** @param {Reading} reading */
	const numbers = (reading) => {
		const kbps = whole.format(kbps_of(reading));
		return reading.size ? stats_words.of_video(reading.size, whole.format(reading.fps), kbps) : stats_words.of_audio(kbps);
	};
	const own_names = { audio: words.microphone.label, video: words.camera.label, screen: stats_words.screen, screen_audio: stats_words.screen };

	/** Reads everything once, and shows it. */
	async function read() {
		const [reports, readings] = await Promise.all([link.reports().catch(() => []), Promise.all(link.streams().map(reading_of))]);
		const mine = readings.filter(({ stream }) => stream.id === "me");
		// Of a person with a picture, the sound is left out.
		const theirs = readings.filter((one) => one.stream.id !== "me" && kbps_of(one) > 0);
		const seen = theirs.filter(
			({ stream: { id, kind } }) => !/audio/.test(kind) || !theirs.some(({ stream }) => stream.id === id && !/audio/.test(stream.kind)),
		);
		const { route, round_trip: of_pair } = way_of([...reports, readings[0]?.report]);
		const round_trip = Number.isNaN(of_pair) ? Math.max(...mine.map((one) => one.round_trip || 0), 0) || NaN : of_pair;
		const lost = { sent: loss_of(mine), received: loss_of(theirs) };
		const is_weak = link.is_weak() || lost.sent > WEAK || lost.received > WEAK;
		const is_known = route !== "" || readings.some(({ count }) => count.packets > 0);
		const text = is_weak ? stats_words.connection_weak : is_known ? stats_words.connection_good : stats_words.connection_unknown;
		verdict.className = `verdict ${is_weak ? "weak" : is_known ? "" : "unknown"}`;
		put(verdict, icon(is_weak ? "weak" : is_known ? "check" : "info"), text);
		/** @type {[string, string][]} */
		const way = [
			[stats_words.route, /** @type {Record<string, string>} */ (stats_words.routes)[route] ?? ""],
			[stats_words.round_trip, Number.isNaN(round_trip) ? "" : `${whole.format(round_trip * 1000)} ms`],
			[stats_words.lost_sent, Number.isNaN(lost.sent) ? "" : percent(lost.sent)],
			[stats_words.lost_received, Number.isNaN(lost.received) ? "" : percent(lost.received)],
		];
		put(ways, way.map(([name, value]) => row(name, value || "–")));
		ways.hidden = way.every(([, value]) => value === "");
		/** @param {HTMLElement} place @param {string} title @param {Reading[]} list @param {(stream: Stream) => string} name */
		const list_in = (place, title, list, name) =>
			put(
				place,
				h("h3", null, title),
				list.length > 0
					? h("dl.stats", null, list.map((one) => row(name(one.stream), numbers(one))))
					: h("p.quiet", null, stats_words.nothing_sent_now),
			);
		list_in(sent, stats_words.sending, mine, ({ kind }) => own_names[kind]);
		list_in(received, stats_words.receiving, seen, ({ name, kind }) => (kind === "screen" ? words.shares(name) : name));
		details = [
			text,
			...way.map(([name, value]) => `${name}: ${value || "–"}`),
			`${stats_words.sending}:`,
			...mine.map((one) => `${own_names[one.stream.kind]}: ${numbers(one)}`),
			`${stats_words.receiving}:`,
			...seen.map((one, i) => `${i + 1}: ${numbers(one)}`),
			navigator.userAgent,
			`Anteroom ${VERSION}`,
			`${entry.room_id}, ${new URL(join.url).host}, ${new Date().toISOString()}`,
		].join("\n");
		const kept = (/** @type {Count[]} */ all, /** @type {Count} */ now) => [...all.filter((one) => now.at - one.at < WINDOW), now];
		counted = new Map(readings.map(({ stream, count }) => [key_of(stream), kept(counted.get(key_of(stream)) ?? [], count)]));
	}
	async function copy_details() {
		try {
			await navigator.clipboard.writeText(details);
			put(hint, stats_words.copied);
		} catch {
			// If the browser does not let pages copy, people can copy it themselves.
			copied.value = details;
			copied.hidden = false;
			copied.select();
		}
	}

	const over = new AbortController();
	signal.addEventListener("abort", () => over.abort());
	/** @type {ReturnType<typeof setTimeout> | undefined} */
	let timer;
	over.signal.addEventListener("abort", () => clearTimeout(timer));
	async function follow(wait = SOON) {
		await read();
		if (!over.signal.aborted) timer = setTimeout(follow, wait, EVERY);
	}
	await read();
	const closed = dialog({
		title: stats_words.connection_title,
		content: [verdict, ways, sent, received, h("div.copy-details", null, copy, hint), copied],
		buttons: [{ value: "", text: words.close, class: "primary" }],
	});
	// The panel can be longer than the window: it begins at its title.
	const title = verdict.closest("form")?.querySelector("h2");
	if (title) title.tabIndex = -1;
	title?.focus();
	follow();
	await closed;
	over.abort();
}
