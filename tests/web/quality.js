// What is received of each video, by tables: web/call/quality.js without a browser and without a media server. Then
// what the page of a call asks for, by the settings of roles.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { close, connected, knows_role, load, make_call, open_call, open_join, press_join } from "./call.js";
import { BASE, accessible, group, new_page, ok, sign_in } from "./stand.js";

const { loss_watch, priority_of, seats, share_out } = await load("quality.js");
const { audio_encodings, camera_encodings, screen_encodings } = await load("sent.js");

const LAYERS = [
	{ height: 180, kbps: 100 },
	{ height: 360, kbps: 300 },
	{ height: 720, kbps: 1000 },
];
const NO_LIMIT = { most: Infinity, asked: Infinity };

/** A video in a tile of 400 pixels, for which the largest layer is wanted. */
const video = (id, priority, more = {}) => ({ id, priority, spoken: 0, wanted: 400, layers: LAYERS, kbps: 0, ...more });
const one_layer = (kbps) => ({ layers: [{ height: 720, kbps }] });

/** What is received as a text: `a2` is the layer 2 of a, `a2s` that with fewer frames, `a-` nothing. */
const text_of = ({ given }) => [...given].map(([id, { layer, slow }]) => `${id}${layer < 0 ? "-" : `${layer}${slow ? "s" : ""}`}`).join(" ");

const SHARES = [
	{ name: "nothing is short", videos: [video("a", 1), video("b", 5)], limits: {}, gives: "a2 b2" },
	{ name: "the layer of the place", videos: [video("a", 1, { wanted: 180 }), video("b", 1, { wanted: 181 })], limits: {}, gives: "a0 b1" },
	{ name: "the largest layer is less than the place", videos: [video("a", 1, { wanted: 2000 })], limits: {}, gives: "a2" },
	{ name: "frames first", videos: [video("a", 1), video("b", 5)], limits: { most: 1600 }, gives: "a2 b2s" },
	{ name: "then layers", videos: [video("a", 1), video("b", 5)], limits: { most: 1200 }, gives: "a2 b1s" },
	{ name: "then smaller ones", videos: [video("a", 1), video("b", 5)], limits: { most: 1100 }, gives: "a2 b0s" },
	{ name: "then the video", videos: [video("a", 1), video("b", 5)], limits: { most: 1000 }, gives: "a2 b-" },
	{ name: "then the next priority", videos: [video("a", 1), video("b", 5)], limits: { most: 999 }, gives: "a2s b-" },
	{ name: "nothing is left", videos: [video("a", 1), video("b", 5)], limits: { most: 50 }, gives: "a- b-" },
	{ name: "each priority in turn", videos: [video("a", 3), video("b", 5), video("c", 4), video("d", 1), video("e", 2)], limits: { most: 2200 }, gives: "a1s b- c- d2 e2" },
	{
		name: "among equals, who spoke last keeps longer",
		videos: [video("a", 2, { spoken: 1 }), video("b", 2, { spoken: 3 }), video("c", 2, { spoken: 2 })],
		limits: { most: 2600 },
		gives: "a2s b2 c2",
	},
	{
		name: "a video more, of who spoke last",
		videos: [video("a", 2, { spoken: 1, ...one_layer(1000) }), video("b", 2, { spoken: 2, ...one_layer(1000) })],
		limits: { most: 700 },
		gives: "a- b0s",
	},
	{ name: "among silent people, who came first", videos: [video("a", 1), video("b", 1)], limits: { most: 1600 }, gives: "a2 b2s" },
	{ name: "what is stated", videos: [video("a", 1, { kbps: 10 }), video("b", 1, { kbps: 10 })], limits: { asked: 1600 }, gives: "a2 b2s" },
	{ name: "what arrives", videos: [video("a", 1, { kbps: 400 }), video("b", 1, { kbps: 400 })], limits: { most: 800 }, gives: "a2 b2" },
	{ name: "more arrives than is stated", videos: [video("a", 1, { kbps: 2000 }), video("b", 2, { kbps: 100 })], limits: { most: 2000 }, gives: "a2 b-" },
	{ name: "only what is in sight", videos: [video("a", 1), video("b", 1), video("c", 1)], limits: { most: 2000, in_sight: 2 }, gives: "a2 b2 c2" },
	{ name: "the most expensive may be in sight", videos: [video("a", 1), video("b", 1, one_layer(10)), video("c", 1)], limits: { most: 1999, in_sight: 2 }, gives: "a2 b0 c2s" },
	{ name: "a step for lost packets", videos: [video("a", 1), video("b", 5)], limits: { steps: 1 }, gives: "a2 b2s" },
	{ name: "three steps", videos: [video("a", 1), video("b", 5)], limits: { steps: 3 }, gives: "a2 b0s" },
	{ name: "steps beyond the limits", videos: [video("a", 1), video("b", 5)], limits: { most: 1000, steps: 1 }, gives: "a2s b-" },
	{ name: "more steps than there are", videos: [video("a", 1)], limits: { steps: 9 }, gives: "a-", unused: 5 },
	{ name: "a screen counts one better", videos: [video("a", 1), video("s", priority_of(1, true))], limits: { most: 1000 }, gives: "a- s2" },
	{ name: "not two better", videos: [video("a", 1), video("s", priority_of(3, true))], limits: { most: 1000 }, gives: "a2 s-" },
];

/** Returns what a video gets as a number that grows: by layer first, then by frames. */
const rank_of = ({ layer, slow }) => (layer < 0 ? 0 : 2 * layer + (slow ? 1 : 2));

/** For each sum of costs: nobody gets more than somebody of a higher priority, and all keep within the limits. */
function broken_rules() {
	const found = [];
	const videos = Array.from({ length: 12 }, (_, i) => video(`v${i}`, i % 6, { spoken: (i * 7) % 5 }));
	for (let limit = 0; limit <= 13000; limit += 37) {
		for (const limits of [{ most: limit }, { asked: limit }, { steps: limit / 37 }]) {
			const { given } = share_out(videos, { ...NO_LIMIT, ...limits });
			const got = videos.map((one) => ({ ...one, ...given.get(one.id), rank: rank_of(given.get(one.id)) }));
			const wrong = got.find((low) => got.some((high) => high.priority < low.priority && high.rank < low.rank));
			if (wrong) found.push(`${JSON.stringify(limits)}: ${wrong.id}`);
			const sum = got.reduce((all, { layer, slow }) => all + (LAYERS[layer]?.kbps ?? 0) * (slow ? 0.6 : 1), 0);
			if (sum > (limits.most ?? limits.asked ?? Infinity)) found.push(`${JSON.stringify(limits)}: ${sum}`);
		}
	}
	return found;
}

const person = (id, priority, me = false) => ({ id, me, priority });
const SEATS = [
	{ name: "room for all", all: [person("a", 5), person("b", 1)], room: 3, seated: "ab" },
	{ name: "those who came first", all: [person("a", 1), person("b", 1), person("c", 1)], room: 2, seated: "ab" },
	{ name: "a higher priority", all: [person("a", 5), person("b", 4), person("c", 1)], room: 2, seated: "bc" },
	{ name: "never your own", all: [person("a", 5, true), person("b", 5), person("c", 1), person("d", 1)], room: 2, seated: "ac" },
	{ name: "who had one", all: [person("a", 1), person("b", 1), person("c", 1)], before: "c", room: 2, seated: "ca" },
	{ name: "who speaks", all: [person("a", 1), person("b", 1), person("c", 1)], room: 2, speaks: "c", spoken: { a: 1, b: 2 }, seated: "bc" },
	{ name: "who speaks takes a place of another", all: [person("a", 1), person("b", 1), person("c", 1)], before: "ab", room: 2, speaks: "c", spoken: { a: 1, b: 2 }, seated: "cb" },
	{ name: "who spoke last", all: [person("a", 1), person("b", 1), person("c", 1)], room: 2, spoken: { a: 1, b: 3, c: 2 }, seated: "bc" },
	{ name: "who spoke last, of a place that comes", all: [person("a", 1), person("b", 1), person("c", 1)], before: "a", room: 2, spoken: { c: 2 }, seated: "ac" },
	{ name: "who spoke last, where places go", all: [person("a", 1), person("b", 1), person("c", 1)], before: "abc", room: 2, spoken: { b: 1, c: 2 }, seated: "bc" },
	{ name: "a higher priority, where places go", all: [person("a", 2), person("b", 1), person("c", 1)], before: "abc", room: 2, spoken: { a: 9 }, seated: "bc" },
	{ name: "your own comes back first", all: [person("a", 1, true), person("b", 1), person("c", 1)], before: "bc", room: 2, spoken: { c: 1 }, seated: "ac" },
	{ name: "not of somebody who speaks", all: [person("a", 1), person("b", 1), person("c", 1)], room: 2, speaks: "ac", seated: "ac" },
	{ name: "nor of a higher priority", all: [person("a", 1), person("b", 1), person("c", 2)], room: 2, speaks: "c", seated: "ab" },
];

const DEGRADATION = { packetLossThreshold: 10, degradeGracePeriodSeconds: 2, recoverGracePeriodSeconds: 4 };
/** Readings each second: lost packets of 100, `-` if nothing arrives, `i` if nothing should. */
const LOSSES = [
	{ name: "nothing is lost", readings: "0 0 0 0", steps: "0 0 0 -1" },
	{ name: "lost for the grace period", readings: "11 11 11 11 11", steps: "0 1 0 1 0" },
	{ name: "not over the threshold", readings: "10 10 10 10 10", steps: "0 0 0 0 0" },
	{ name: "for a second alone", readings: "15 0 0 15 0", steps: "0 0 0 -1 0" },
	{ name: "as much over the whole period", readings: "40 0 40 0", steps: "0 1 0 1" },
	{ name: "fewer for the other period", readings: "50 50 0 0 0 0 0 0 0 0", steps: "0 1 0 0 0 -1 0 0 0 -1" },
	{ name: "no news", readings: "50 - - 50 50", steps: "0 0 0 1 0" },
	{ name: "all are given up", readings: "i i i i", steps: "0 0 0 -1" },
];

const layer = (scaleResolutionDownBy, maxBitrate, maxFramerate) => ({ scaleResolutionDownBy, maxBitrate, maxFramerate });
const THREE = [layer(1, 1200, 30), layer(2, 350, 20), layer(4, 0, 15)];
const HD = { width: 1280, height: 720, bitRate: 1500, frameRate: 25 };
/** What is sent of a role's camera: kbit/s, frames and scale of each layer, the smallest first. */
const SENT = [
	{ name: "one layer", video: HD, n: 1, captured: HD, sends: "1500/25/1" },
	{ name: "all layers", video: HD, layers: THREE, n: 3, captured: HD, sends: "375/15/4 350/20/2 1200/25/1" },
	{ name: "the smallest and the largest", video: HD, layers: THREE, n: 2, captured: HD, sends: "375/15/4 1200/25/1" },
	{ name: "the largest alone", video: HD, layers: THREE, n: 1, captured: HD, sends: "1200/25/1" },
	{ name: "more than the role has", video: HD, n: 3, captured: HD, sends: "375/25/4 750/25/2 1500/25/1" },
	{ name: "a device that sends more pixels", video: { ...HD, width: 640, height: 360 }, n: 1, captured: HD, sends: "1500/25/2" },
	{ name: "an upright device", video: HD, n: 1, captured: { width: 720, height: 1280 }, sends: "1500/25/1" },
	{ name: "a device that sends fewer", video: HD, n: 1, captured: { width: 320, height: 180 }, sends: "1500/25/1" },
];
const sent_text = (encodings) => encodings.map((one) => `${one.maxBitrate / 1000}/${one.maxFramerate}/${one.scaleResolutionDownBy}`).join(" ");

/** What is sent after a role has changed. */
export const sent_videos = () =>
	group("what is sent", async () => {
		for (const { name, video, layers, n, captured, sends } of SENT) {
			const publish = { video, ...(layers && { simulcast: { video: { layers } } }) };
			const found = sent_text(camera_encodings(publish, n, captured));
			ok(`what is sent: ${name}`, found === sends, found);
		}
		const screen = sent_text(screen_encodings({ screen: HD }, 1, { width: 1920, height: 1080 }));
		ok("what is sent: a screen", screen === "1500/25/1.5", screen);
		const [sound] = audio_encodings({ audio: { bitRate: 64 } });
		ok("what is sent: sound", JSON.stringify(sound) === '{"maxBitrate":64000}', JSON.stringify(sound));
	});

export const received_videos = () =>
	group("what is received of videos", async () => {
		for (const { name, videos, limits, gives, unused = 0 } of SHARES) {
			const found = share_out(videos, { ...NO_LIMIT, ...limits });
			ok(`what is received: ${name}`, text_of(found) === gives && found.unused === unused, `${text_of(found)}, ${found.unused}`);
		}
		const wrong = broken_rules();
		ok("what is received: by priority, within the limits", wrong.length === 0, wrong.slice(0, 5).join("; "));
		// What arrived before something else was asked for says nothing.
		const two = (kbps) => [video("a", 1, { kbps }), video("b", 5, { kbps })];
		const limits = { ...NO_LIMIT, most: 1600 };
		const first = share_out(two(1000), limits, new Map(), 0);
		const soon = share_out(two(1000), limits, first.given, 1000);
		const later = share_out([video("a", 1, { kbps: 1000 }), video("b", 5, { kbps: 600 })], limits, soon.given, 5000);
		const texts = [first, soon, later].map(text_of).join();
		ok("what is received: as before, while it settles", texts === "a2 b2s,a2 b2s,a2 b2s", texts);
		for (const { name, all, before = "", room, speaks = "", spoken = {}, seated } of SEATS) {
			const found = seats(all, [...before], room, new Set(speaks), new Map(Object.entries(spoken)));
			const ids = found.map((one) => one.id).join("");
			ok(`places: ${name}`, ids === seated, ids);
		}
		for (const { name, readings, steps } of LOSSES) {
			const watch = loss_watch(DEGRADATION);
			const found = readings.split(" ").map((one, i) => {
				const lost = Number(one) || 0;
				return watch(i * 1000, i * 1000 + 1000, lost, /\d/.test(one) ? 100 - lost : 0, one === "i");
			});
			ok(`lost packets: ${name}`, found.join(" ") === steps, found.join(" "));
		}
	});

/** Waits until a page has asked for this of the videos of some people: their frames per second and layer, or none. */
async function asks(page, name, wanted) {
	const asked = () =>
		page.evaluate(
			(ids) =>
				ids
					.map((id) => {
						const [sid, source] = id.split(" ");
						const { fps, quality, track } = fake.room.remoteParticipants.get(sid).getTrackPublication(source);
						const is_shown = track.attachedElements.length > 0;
						return `${id}: ${is_shown ? `${fps}${quality === undefined ? "" : ` layer ${quality}`}` : "none"}`;
					})
					.join(", "),
			Object.keys(wanted),
		);
	const text = Object.entries(wanted)
		.map((one) => one.join(": "))
		.join(", ");
	const end = Date.now() + 20000;
	let found = await asked();
	while (found !== text && Date.now() < end) {
		await page.evaluate(() => new Promise(requestAnimationFrame));
		found = await asked();
	}
	ok(name, found === text, `${found}, not ${text}`);
}

/** Priorities, maxSubsBitRate and subscribeDegradation of roles, in a call. */
export const priorities_in_calls = (browser) =>
	group("what a call asks for", async () => {
		const stand = await make_call("Priorities");
		const role = (name, more) => stand.api("PATCH", `/v2/templates/${stand.template.id}/roles/${name}`, more);
		const publishParams = { allowed: ["audio", "video", "screen"], video: { width: 1280, height: 720, bitRate: 1200 } };
		await role("viewer", { priority: 5, publishParams });
		await role("guest", { subscribeParams: { subscribeToRoles: ["host", "guest", "viewer"] } });
		/** Opens a call of a guest in which a host, a guest and a viewer are. */
		async function open() {
			const page = await open_call(browser, stand, "guest");
			await page.evaluate(() => {
				for (const [i, role] of ["viewer", "host", "guest"].entries()) fake.room.come(`PA_${role}`, `The ${role}`, ["camera"], { attributes: { role }, joinedAt: new Date(i * 1000) });
				fake.room.emit("TrackPublished", {}, {});
			});
			return page;
		}
		const cameras = (host, guest, viewer) => ({ "PA_host camera": host, "PA_guest camera": guest, "PA_viewer camera": viewer });
		for (const rate of [0, 3200]) {
			await role("guest", { subscribeParams: { maxSubsBitRate: rate } });
			const page = await open();
			await asks(page, `maxSubsBitRate ${rate} is no limit`, cameras("60", "60", "60"));
			await close(page);
		}
		for (const [rate, ...wanted] of [
			[3199, "60", "60", "8"],
			[2470, "60", "60", "8 layer 0"],
			[2450, "60", "60", "none"],
			[2000, "60", "8", "none"],
			[1270, "60", "8 layer 0", "none"],
			[1199, "8", "none", "none"],
			[70, "8 layer 0", "none", "none"],
		]) {
			await role("guest", { subscribeParams: { maxSubsBitRate: rate } });
			const page = await open();
			await asks(page, `maxSubsBitRate ${rate}`, cameras(...wanted));
			if (rate === 2000) {
				const said = await page.locator(".tile:has-text('The viewer')").textContent();
				ok("the tile says that its video is paused", said.includes("Video paused to save data"), said);
			}
			if (rate === 70) {
				// The viewer's screen counts as priority 4.
				await page.evaluate(() => {
					const viewer = fake.room.remoteParticipants.get("PA_viewer");
					fake.room.emit("TrackSubscribed", viewer.add("screen_share").track, null, viewer);
				});
				await page.waitForSelector(".tile.screen .caption-name:has-text('Video paused to save data')");
				ok("a screen has its turn, too", true);
			}
			await close(page);
		}
		const subscribeDegradation = { packetLossThreshold: 10, degradeGracePeriodSeconds: 1, recoverGracePeriodSeconds: 1 };
		await role("guest", { subscribeParams: { maxSubsBitRate: 0, subscribeDegradation } });
		const page = await open();
		await page.evaluate(() => {
			fake.loss = 0.5;
		});
		await asks(page, "packets are lost: frames of the lowest", cameras("60", "60", "8"));
		await asks(page, "packets are lost: its layers", cameras("60", "60", "8 layer 0"));
		await asks(page, "packets are lost: its video", cameras("60", "60", "none"));
		await asks(page, "packets are lost: the next", cameras("60", "8", "none"));
		await page.evaluate(() => {
			fake.loss = 0;
		});
		await asks(page, "and back, step by step", cameras("60", "60", "8 layer 0"));
		await asks(page, "until nothing is given up", cameras("60", "60", "60 layer 2"));
		await close(page);
		stand.livekit.stop();
	});

/** Another publishParams, and another role, change what is being sent. */
export const sending_by_role = (browser) =>
	group("what a call sends after a role has changed", async () => {
		const stand = await make_call("Sending");
		const role = (name, more) => stand.api("PATCH", `/v2/templates/${stand.template.id}/roles/${name}`, more);
		const page = await open_join(browser, stand, stand.codes.guest);
		await page.waitForFunction(() => document.querySelector("video")?.videoWidth > 0);
		const known = knows_role(page);
		await press_join(page, "Nora");
		await connected(page);
		await known;
		await page.waitForFunction(() => ["camera", "microphone"].every((one) => fake.room.localParticipant.getTrackPublication(one)));
		/** Waits until these encodings are sent: kbit/s and frames of each layer. */
		const sends = (name, source, wanted) =>
			page
				.waitForFunction(
					([source, wanted]) => {
						const { encodings } = fake.room.localParticipant.getTrackPublication(source).track.sender.getParameters();
						window.sent = encodings.map((one) => `${one.active} ${one.maxBitrate / 1000} ${one.maxFramerate ?? ""}`.trim()).join();
						return window.sent === wanted;
					},
					[source, wanted],
				)
				.then(
					() => ok(name, true),
					async () => ok(name, false, await page.evaluate(() => window.sent)),
				);
		const size = () => page.evaluate(() => fake.room.localParticipant.getTrackPublication("camera").track.mediaStreamTrack.getSettings());
		ok("the camera has the size of the role", (await size()).width === 1280, JSON.stringify(await size()));
		const layers = [layer(1, 600, 10), layer(2, 150, 8), layer(4, 60, 5)].map((one, i) => ({ ...one, rid: "fhq"[i] }));
		const video = { width: 640, height: 360, frameRate: 10, bitRate: 600 };
		await role("guest", { publishParams: { audio: { bitRate: 64 }, video, simulcast: { video: { layers } } } });
		await page.evaluate(() => fake.room.say("anteroom", { type: "role" }));
		await sends("the camera, when the role has changed", "camera", "true 60 5,true 150 8,true 600 10");
		await sends("the microphone", "microphone", "true 64");
		ok("the size, without a new device", (await size()).width === 640, JSON.stringify(await size()));
		const kept = await page.evaluate(() => fake.room.localParticipant.getTrackPublication("camera").track.constraints);
		ok("the camera is switched on again with this size", kept.width === 640 && kept.frameRate === 10, JSON.stringify(kept));
		await page.evaluate(() => fake.room.localParticipant.getTrackPublication("camera").track.sender.setParameters({ encodings: [{}, {}, {}] }));
		for (let i = 0; i < 2; i++) await page.keyboard.press("v");
		await sends("so do its layers", "camera", "undefined 60 5,undefined 150 8,undefined 600 10");
		await role("host", { publishParams: { video: { bitRate: 900, frameRate: 12 }, simulcast: null } });
		const sid = await page.evaluate(() => fake.room.localParticipant.sid);
		const { peers } = await stand.api("GET", `/v2/active-rooms/${stand.room.id}/peers`);
		await stand.api("POST", `/v2/active-rooms/${stand.room.id}/peers/${Object.keys(peers)[0]}`, { role: "host" });
		await page.evaluate(() => {
			const me = fake.room.localParticipant;
			me.attributes = { ...me.attributes, role: "host" };
			fake.room.emit("ParticipantAttributesChanged", { role: "host" }, me);
		});
		await sends("another role", "camera", "undefined 225 12,undefined 450 12,undefined 900 12");
		ok("it is the same stay", sid === (await page.evaluate(() => fake.room.localParticipant.sid)));
		await close(page);
		stand.livekit.stop();
	});

/** The forms of a role and of the settings say what each field does with the media server. */
export const effects_in_console = (browser) =>
	group("what fields do", async () => {
		const stand = await make_call("Effects");
		const path = `/console/templates/${stand.template.id}`;
		const page = await new_page(browser);
		await sign_in(page, `${path}/roles/guest`, stand.key, stand.secret);
		const hint = async (pointer) => {
			const field = page.locator(`[data-pointer='${pointer}']`).first();
			await field.waitFor({ state: "attached" });
			return field.textContent();
		};
		const PRIORITY = "people of priority 5 lose frames, layers, video and tile before those of 4";
		const NOTHING = "Nothing, because their clients do not know it.";
		ok("with LiveKit", (await hint("/priority")).includes(PRIORITY), await hint("/priority"));
		await accessible(page, "a role with what its fields do");
		await page.goto(`${BASE}${path}/settings`);
		ok("the settings", (await hint("/roomState/enabled")).includes("before they join"), await hint("/roomState/enabled"));
		ok("what does nothing", (await hint("/region")).includes("Nothing, because rooms are where the media server is."), await hint("/region"));
		const config = { app_id: "a", alg: "HS256", app_secret: "0123456789abcdef0123456789abcdef" };
		const meet = await stand.api("POST", "/v2/backends", { name: "meet", type: "jitsi", url: "https://meet.example.org/", default: true, config });
		await page.goto(`${BASE}${path}/roles/guest`);
		ok("with another media server", (await hint("/priority")).includes(NOTHING), await hint("/priority"));
		await stand.api("PATCH", `/v2/templates/${stand.template.id}/settings`, { backend: "studio" });
		await page.goto(`${BASE}${path}/roles/guest`);
		ok("with that of the template", (await hint("/priority")).includes(PRIORITY), await hint("/priority"));
		await stand.api("PATCH", `/v2/templates/${stand.template.id}/settings`, { backend: null });
		await stand.api("DELETE", `/v2/backends/${meet.id}`);
		await page.goto(`${BASE}${path}/roles/guest`);
		ok("with none", (await hint("/priority")).includes("With LiveKit: Who keeps quality longest"), await hint("/priority"));
		await page.context().close();
		stand.livekit.stop();
	});
