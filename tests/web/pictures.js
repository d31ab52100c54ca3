// The pictures of the call for the manual: each view with people who are drawn, without media. PICTURES says where
// they go; 30-firefox-light is made by hand.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { close, connected, control, knows_role, make_call, note, open_join, press_join, share as share_screen, title } from "./call.js";
import { answer_length, open_panel, plug, way } from "./connection.js";
import { Door } from "./door.js";
import { House } from "./hosts.js";
import { PICTURES, group, picture } from "./stand.js";

const NAMES =
	"Mara,Jonas,Ada,Ravi,Lena,Tomas,Yuki,Noor,Elif,Piet,Sofia,Ben,Irma,Oskar,Wen,Amara,Karl,Zoe,Hugo,Mina,Ivo,Ruth,Sam,Tilda,Omar,Nele,Luca,Priya,Finn,Clara,Dario,Anja,Kofi,Maja,Theo,Rosa,Eda,Nils,Alba,Jan,Hana,Leo,Vera,Max,Ida,Pablo,Greta,Aziz".split(
		",",
	);

const wide = { viewport: { width: 1440, height: 900 } };
const touch = { deviceScaleFactor: 2, isMobile: true, hasTouch: true };
const portrait = { viewport: { width: 390, height: 844 }, ...touch };
const landscape = { viewport: { width: 844, height: 390 }, ...touch };

/** Runs in the page first: what cameras and screens show is drawn. */
function drawn() {
	const of = (list, i) => list[i % list.length];
	/** A person before a wall, who differs by number. */
	function person(canvas, i) {
		const [w, h] = [canvas.width, canvas.height];
		const c = canvas.getContext("2d");
		const unit = h / 100;
		const oval = (colour, x, y, rx, ry) => {
			c.fillStyle = colour;
			c.beginPath();
			c.ellipse(w / 2 + x * unit, y * unit, rx * unit, ry * unit, 0, 0, 7);
			c.fill();
		};
		c.fillStyle = of(["#cfd8de", "#dcd9cd", "#d3dfd8", "#c8cfdb", "#ded3d6", "#47525c"], i);
		c.fillRect(0, 0, w, h);
		c.fillStyle = of(["#f4f7f7", "#a58d70", "#8fae9b"], i);
		c.fillRect(of([0.06, 0.74, 0.7], i) * w, 0.12 * h, 0.2 * w, of([0.5, 0.05, 0.32], i) * h);
		const hair = of(["#2b2422", "#6b4a30", "#191a1e", "#91918f", "#a4794b"], i);
		const skin = of(["#efc8a4", "#b67a50", "#d6a179", "#7c513a", "#f2d5bc"], i * 2 + 1);
		if (i % 3 === 0) oval(hair, 0, 50, 19, 28);
		oval(of(["#2a4a5d", "#7d3d36", "#4e6449", "#c1a25c", "#5c4b79", "#1f5b54"], i), 0, 104, 42, 32);
		oval(skin, 0, 70, 7, 14);
		oval(hair, 0, 39, 16.5, 19);
		oval(skin, 0, 46, 14, 17.5);
		oval(hair, of([-4, 4], i), 30, 13, 6);
		for (const x of [-5.5, 5.5]) oval("#2b2320", x, 44, 1.3, 1.5);
		c.strokeStyle = "#7c3f36";
		c.lineWidth = unit;
		c.beginPath();
		c.arc(w / 2, 50 * unit, 5 * unit, 0.4, Math.PI - 0.4);
		c.stroke();
	}
	/** A shared screen: a plan of a week. */
	function screen(canvas) {
		Object.assign(canvas, { width: 1600, height: 1000 });
		const c = canvas.getContext("2d");
		c.fillStyle = "#fdfdfb";
		c.fillRect(0, 0, 1600, 1000);
		c.fillStyle = "#1d4f49";
		c.fillRect(0, 0, 1600, 90);
		c.fillStyle = "#ffffff";
		c.font = "40px sans-serif";
		c.fillText("Plan of the week", 40, 60);
		for (let day = 0; day < 5; day++) {
			c.fillStyle = "#e4e4de";
			c.fillRect(40 + day * 310, 130, 290, 830);
			for (let k = 0; k < 4; k++) {
				c.fillStyle = ["#7fb8ad", "#d9b36a", "#9aa9cf", "#c98f86"][(day + k) % 4];
				c.fillRect(55 + day * 310, 150 + k * 200 + ((day * 37) % 60), 260, 90 + ((k * 53 + day * 29) % 70));
			}
		}
	}
	globalThis.fake = {
		paint(canvas, { number = 0 }, source) {
			if (source === "screen_share") screen(canvas);
			else {
				Object.assign(canvas, { width: 640, height: 360 });
				person(canvas, number);
			}
			// Elements that come later show the next picture.
			setInterval(() => canvas.getContext("2d").fillRect(0, 0, 0, 0), 200);
		},
	};
	const real = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
	navigator.mediaDevices.getUserMedia = async (wish) => {
		if (!wish.video) return real(wish);
		const canvas = Object.assign(document.createElement("canvas"), { width: 1280, height: 720 });
		setInterval(() => person(canvas, 20), 100);
		const stream = canvas.captureStream(10);
		if (wish.audio) for (const one of (await real({ audio: wish.audio })).getAudioTracks()) stream.addTrack(one);
		return stream;
	};
}
/** As drawn, and the browser blocks both devices. */
function blocked() {
	navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException("no", "NotAllowedError"));
	navigator.permissions.query = async () => ({ state: "denied" });
}

/** Lets n people be there; most have a picture, few a microphone that is on. */
const come = (page, n) =>
	page.evaluate((names) => {
		fake.room.remoteParticipants.clear();
		names.forEach((name, i) => {
			const has_camera = i % 7 !== 4;
			const one = fake.room.come(`PA_${i}`, name, ["microphone", ...(has_camera ? ["camera"] : [])], { number: i + 1 });
			if (![0, 5].includes(i)) one.mute("microphone", true);
			if (name === "Ada") one.metadata = '{"isHandRaised":true}';
		});
		fake.room.emit("ParticipantMetadataChanged");
	}, NAMES.slice(0, n));
const speaks = (page, i) =>
	page.evaluate((id) => fake.room.emit("ActiveSpeakersChanged", [fake.room.remoteParticipants.get(id)]), `PA_${i}`);
/** Waits until each video that is shown has a picture. */
const settled = (page) =>
	page.waitForFunction(() => [...document.querySelectorAll("video")].every((one) => one.hidden || one.videoWidth > 0));

/** Each view: its name, the window, how many others there are, and what is done before. That returns how it is undone; panels are closed in any case. */
const VIEWS = [
	["01-one-light", wide, 0],
	["01-one-dark", wide, 0],
	["01-one-portrait-dark", portrait, 0],
	["02-two-light", wide, 1],
	["02-two-dark", wide, 1],
	["02-two-portrait-light", portrait, 1],
	["02-two-landscape-dark", landscape, 1],
	["05-five-light", wide, 4],
	["05-five-dark", wide, 4],
	["05-five-portrait-dark", portrait, 4],
	["09-nine-light", wide, 8],
	["09-nine-dark", wide, 8],
	["09-nine-portrait-light", portrait, 8],
	["09-nine-landscape-dark", landscape, 8],
	["10-screen-light", wide, 8, share],
	["10-screen-dark", wide, 8, share],
	["10-screen-portrait-dark", portrait, 8, share],
	["10-screen-landscape-light", landscape, 8, share],
	["11-people-light", wide, 8, (page) => page.click(control("people"))],
	["11-people-portrait-dark", portrait, 8, (page) => page.click(control("people"))],
	["11-more-light", wide, 8, show_more],
	["11-more-portrait-light", portrait, 8, show_more],
	["11-chat-light", wide, 8, chat],
	["11-chat-dark", wide, 8, chat],
	["11-chat-portrait-light", portrait, 8, chat],
	["11-chat-portrait-dark", portrait, 8, chat],
	["11-chat-menu-light", wide, 8, chat_options],
	["11-chat-unread-light", wide, 8, unread],
	["11-chat-unread-portrait-dark", portrait, 8, unread],
	["12-moderation-menu-dark", wide, 2, options_of_a_person],
	["12-remove-dialog-dark", wide, 2, remove_a_person],
	["12-removed-note-dark", wide, 2, removed_a_person],
	["13-devices-dark", wide, 8, show_devices],
	["14-shortcuts-light", wide, 8, show_keys],
	["15-keep-large-light", wide, 8, keep_large],
	["16-speaker-light", wide, 8, speaker_view],
	["16-speaker-dark", wide, 8, speaker_view],
	["16-speaker-portrait-light", portrait, 8, speaker_view],
	["16-speaker-portrait-dark", portrait, 8, speaker_view],
	["16-screen-only-light", wide, 8, screen_only],
	["16-screen-only-dark", wide, 8, screen_only],
	["16-screen-enlarged-portrait-light", portrait, 8, screen_enlarged],
	["16-screen-enlarged-portrait-dark", portrait, 8, screen_enlarged],
	["16-view-menu-light", wide, 8, view_menu],
	["16-view-menu-dark", wide, 8, view_menu],
	["16-view-menu-portrait-light", portrait, 8, view_menu],
	["16-view-menu-portrait-dark", portrait, 8, view_menu],
	["16-hidden-self-light", wide, 8, hide_self],
	["16-hidden-self-dark", wide, 8, hide_self],
	["16-fewer-videos-dark", wide, 8, fewer_videos],
	["16-fewer-videos-portrait-light", portrait, 8, fewer_videos],
	["25-reconnecting-light", wide, 1, reconnect],
	["25-people-light", wide, 24],
	["25-people-dark", wide, 24],
	["25-people-portrait-dark", portrait, 24],
	["49-people-light", wide, 48],
	["49-people-dark", wide, 48],
	["49-people-portrait-light", portrait, 48],
	["49-people-landscape-dark", landscape, 48],
];

const escape = (page) => page.keyboard.press("Escape");
async function show_devices(page) {
	await page.click(control("audio-devices"));
	return () => escape(page);
}
async function share(page) {
	await share_screen(page, "PA_3");
	await page.waitForSelector(".tile.screen video:not([hidden])");
}
async function show_more(page) {
	await page.click(control("more"));
	return () => escape(page);
}
async function chat(page) {
	await page.click(control("chat"));
	await page.waitForSelector(".chat-log", { state: "visible" });
	await page.evaluate(() => {
		if (document.querySelector(".chat-entry")) return;
		fake.room.write("PA_0", "Good morning everyone!");
		fake.room.write("PA_0", "The plan is at https://example.org/plan – please open page 3.");
		fake.room.write("PA_1", "Which table?");
		fake.room.write("PA_2", "May I leave ten minutes early today?", [fake.room.localParticipant.identity]);
		fake.room.say("chat", "The room closes at 10:45.");
		fake.room.write("PA_0", "Thank you! Then I will send you my figures this afternoon.");
	});
	await page.waitForSelector(".chat-entry.service");
	await close_notes(page);
}
async function chat_options(page) {
	await chat(page);
	await page.click("[aria-label='Chat options']");
	return () => escape(page);
}
/** Somebody writes while the chat is closed. */
async function unread(page) {
	await page.evaluate(() => fake.room.write("PA_1", "The figures of October are missing. Shall I ask for them, or do we leave the row empty until Monday?"));
	await page.waitForSelector(note("Jonas"));
	return async () => {
		await close_notes(page);
		await chat(page);
	};
}
async function show_keys(page) {
	await page.keyboard.press("?");
	await page.waitForSelector(".call-dialog");
	return () => escape(page);
}
async function keep_large(page) {
	await page.dblclick(".tile >> nth=4");
	return () => page.dblclick(".tile >> nth=0");
}
async function speaker_view(page) {
	await page.keyboard.press("g");
	return () => page.keyboard.press("g");
}
async function screen_only(page) {
	await share(page);
	await page.keyboard.press("g");
	return () => page.keyboard.press("g");
}
async function screen_enlarged(page) {
	const undo = await screen_only(page);
	await page.click(".caption [aria-label='Zoom in']");
	for (let i = 0; i < 2; i++) await page.keyboard.press("+");
	await page.waitForSelector(".zoom-fit:has-text('250 %')");
	await page.evaluate(() => document.activeElement.blur());
	return undo;
}
async function view_menu(page) {
	await page.click(control("more"));
	await page.click(".menu-item:has-text('View…')");
	await page.waitForSelector(".menu-item:has-text('Back to More')");
	return () => escape(page);
}
/** Ticks an entry in the menu of views, until it is undone. */
async function tick(page, text) {
	const press = async () => {
		await view_menu(page);
		await page.click(`.menu-item:has-text("${text}")`);
	};
	await press();
	return press;
}
function hide_self(page) {
	return tick(page, "Hide your own picture");
}
function fewer_videos(page) {
	return tick(page, "Show fewer videos");
}
async function reconnect(page) {
	await page.evaluate(() => fake.room.emit("Reconnecting"));
	return () => page.evaluate(() => fake.room.emit("Reconnected"));
}
async function options_of_a_person(page) {
	await page.click(control("people"));
	await page.click(".people [aria-label='Options for Jonas']");
	return () => escape(page);
}
async function remove_a_person(page) {
	const undo = await options_of_a_person(page);
	await page.click(".menu .danger");
	await page.fill("#reason", "Please come back at three.");
	return undo;
}
async function removed_a_person(page) {
	await page.route("**/remove-peers", (route) => route.fulfill({ json: {} }));
	await remove_a_person(page);
	await page.click(".call-dialog .danger");
	await page.evaluate(() => fake.room.go("PA_1"));
	await page.waitForSelector(note("Jonas was removed."));
}

const scheme = (name) => ({ colorScheme: name.endsWith("dark") ? "dark" : "light" });
const shoot = (page, name) =>
	picture(page, name, async () => {
		await page.mouse.move(1, 1);
		await settled(page);
	});

const close_notes = (page) => page.evaluate(() => document.querySelectorAll(".note-close").forEach((one) => one.click()));
/** Opens the call as a host, who is muted: the microphone of the tests beeps. */
async function enter(browser, stand, options, serve, role = "host") {
	const page = await open_join(browser, stand, stand.codes[role], options, drawn, serve);
	await page.waitForFunction(() => document.querySelector(".preview video")?.videoWidth > 0);
	const known = knows_role(page);
	await press_join(page, "Kim Arndt");
	await connected(page);
	await known;
	await page.keyboard.press("m");
	return page;
}
async function views(browser, stand) {
	for (const size of [wide, portrait, landscape]) {
		const page = await enter(browser, stand, size);
		for (const [name, , others, act] of VIEWS.filter((one) => one[1] === size)) {
			await page.emulateMedia(scheme(name));
			await come(page, others);
			if (others > 4) await speaks(page, 5);
			await page.waitForFunction((n) => document.querySelectorAll(".tile").length === n + 1, others);
			await close_notes(page);
			await page.evaluate(() => document.activeElement.blur());
			const undo = await act?.(page);
			await shoot(page, name);
			await undo?.();
			if ((await page.locator(".panel:visible").count()) > 0) await page.click(".panel:visible .panel-head [aria-label=Close]");
		}
		await close(page);
	}
	for (const [name, message, reason, heading] of [
		["24-ended-dark", null, 5, "The call has ended"],
		["21-removed-light", { type: "removed", cause: "removed", reason: "Please come back at three." }, 4, "You were removed from the call"],
	]) {
		const page = await enter(browser, stand, { ...wide, ...scheme(name) });
		await page.evaluate(
			([message, reason]) => {
				if (message) fake.room.say("anteroom", message);
				fake.room.end(reason);
			},
			[message, reason],
		);
		await page.waitForSelector(title(heading));
		await shoot(page, name);
		await close(page);
	}
}
/** The door: those who wait, and the host. */
async function doors(browser, stand) {
	const door = new Door();
	for (const [name, size, who] of [
		["20-waiting-light", wide, "Nora Fuchs"],
		["20-waiting-portrait-dark", portrait, "Emil Storm"],
	]) {
		const page = await open_join(browser, stand, stand.codes.guest, { ...size, ...scheme(name) }, drawn, (one) => door.answer(one));
		await press_join(page, who);
		await page.waitForSelector(title("Waiting to be let in"));
		await shoot(page, name);
		if (size === portrait) {
			door.decide("denied");
			await page.waitForSelector(title("You were not let in"));
			await shoot(page, "23-denied-entry-dark");
		}
		await close(page);
	}
	door.lose();
	for (const name of ["Nora Fuchs", "Emil Storm"]) door.add(name);
	const host = await enter(browser, stand, { ...wide, colorScheme: "light" }, (one) => door.report(one));
	await come(host, 8);
	await speaks(host, 5);
	await host.waitForSelector(".tile >> nth=8");
	await host.waitForSelector(note("2 people are waiting to join."));
	await shoot(host, "20-waiting-note-light");
	await host.click("button:text-is('Show')");
	await close_notes(host);
	await shoot(host, "20-waiting-list-light");
	await close(host);
}
/** The connection, the end that is near, and a headset that is plugged in. */
async function connections(browser, stand) {
	const MINUTE = 60000;
	const ends = Math.ceil(Date.now() / (5 * MINUTE)) * 5 * MINUTE + 5 * MINUTE;
	for (const [name, size, left, act] of [
		["26-connection-light", wide, 21, open_panel],
		["26-connection-weak-portrait-dark", portrait, 21, weak_panel],
		["26-connection-weak-note-dark", wide, 21, weak_note],
		["27-length-light", wide, 21],
		["27-last-minutes-light", wide, 5],
		["27-last-minutes-portrait-dark", portrait, 5],
		["28-plugged-light", wide, 21, (page) => plug(page, ["audioinput", "audiooutput"], "Headset")],
		["28-fell-back-portrait-dark", portrait, 21, fell_back],
	]) {
		const now = () => ends - left * MINUTE;
		const page = await enter(browser, stand, { ...size, ...scheme(name) }, (page) => answer_length(page, now, () => ({ began: now() - 24 * MINUTE, ends })));
		await come(page, 5);
		await page.evaluate(way, {});
		await page.waitForSelector(".tile >> nth=5");
		if (left > 5) await close_notes(page);
		await page.evaluate(() => document.activeElement.blur());
		await act?.(page);
		await shoot(page, name);
		await close(page);
	}
}
async function weak_panel(page) {
	await page.evaluate(way, { type: "relay", round_trip: 0.31 });
	await page.evaluate(() => {
		fake.loss = 0.11;
	});
	await open_panel(page);
}
async function weak_note(page) {
	await page.evaluate(() => {
		const wait = window.setTimeout;
		window.setTimeout = (act, time, ...more) => wait(act, time === 10000 ? 0 : time, ...more);
		fake.room.localParticipant.connectionQuality = "poor";
		fake.room.emit("ConnectionQualityChanged");
	});
	await page.waitForSelector(note("Your connection is weak."));
}
async function fell_back(page) {
	await page.evaluate(() => {
		const { track } = fake.room.localParticipant.getTrackPublication("microphone");
		Object.defineProperty(track.mediaStreamTrack, "label", { value: "Built-in microphone" });
		track.emit("Ended");
		track.emit("Restarted");
	});
	await page.waitForSelector(note("You now use"));
}
/** The join page, devices that the browser blocks, and somebody who is banned. */
async function entries(browser, stand) {
	const before = await open_join(browser, stand, stand.codes.host, { ...wide, colorScheme: "light" }, drawn);
	await before.fill("#name", "Kim Arndt");
	await shoot(before, "00-before-light");
	await close(before);
	const denied = await open_join(browser, stand, stand.codes.host, { ...wide, colorScheme: "light" }, blocked);
	await denied.waitForSelector(".device-note .fault");
	await denied.fill("#name", "Kim Arndt");
	await shoot(denied, "22-denied-preview-light");
	await press_join(denied, "Kim Arndt");
	await connected(denied);
	await denied.waitForSelector(note("Your browser is blocking"));
	await shoot(denied, "22-denied-call-light");
	await close(denied);
	const door = new Door();
	door.refusal = ["Banned from this room"];
	const banned = await open_join(browser, stand, stand.codes.guest, { ...wide, colorScheme: "light" }, drawn, (one) => door.answer(one));
	await press_join(banned, "Kim Arndt");
	await banned.waitForSelector(title("You cannot join this room"));
	await shoot(banned, "24-banned-light");
	await close(banned);
}

/** What hosts have in the list, and a microphone that is held. Each: its name, the window, the house, and what is done. */
const HOSTS = [
	["31-hosts-list-light", wide, { waits: ["Nora Fuchs"] }, show_list],
	["31-hosts-list-portrait-dark", portrait, { waits: ["Nora Fuchs"] }, show_list],
	["31-hosts-locked-dark", wide, { state: "locked", holds: [{ type: "audio" }] }, show_list],
	["31-hosts-muted-light", wide, {}, mute_everybody],
	["31-hosts-muted-portrait-dark", portrait, {}, mute_everybody],
	["31-hosts-mute-menu-light", wide, {}, show_mute_menu],
	["31-hosts-room-options-dark", wide, {}, show_room_options],
	["31-hosts-denied-light", wide, { waits: ["Nora Fuchs", "Emil Storm"] }, deny_somebody],
	["31-hosts-knock-portrait-light", portrait, { waits: ["Nora Fuchs", "Emil Storm"] }, see_who_waits],
	["32-held-microphone-light", wide, { held: ["audio"] }, press_microphone, "guest"],
	["32-held-microphone-portrait-dark", portrait, { held: ["audio"] }, press_microphone, "guest"],
];
async function show_list(page) {
	if (await page.isVisible(note("is waiting"))) await page.click("button:text-is('Show')");
	else await page.click(control("people"));
	await page.waitForSelector(".people .person");
}
async function mute_everybody(page) {
	await show_list(page);
	await page.click("button:text-is('Mute all')");
	await page.waitForSelector(note("8 people were muted."));
}
async function show_mute_menu(page) {
	await show_list(page);
	await page.click("[aria-label='Choose whom to mute']");
}
async function show_room_options(page) {
	await show_list(page);
	await page.click("[aria-label='Room options']");
}
async function deny_somebody(page) {
	await page.click("button:text-is('Show')");
	await close_notes(page);
	await page.click("[aria-label='Deny Emil Storm']");
	await page.waitForSelector("#denied-title:visible");
}
async function see_who_waits(page) {
	await page.waitForSelector(note("2 people are waiting to join."));
}
async function press_microphone(page) {
	await page.click(control("audio"));
	await page.waitForSelector(note("A host has turned off all microphones."));
}
async function hosts(browser, stand) {
	for (const [name, size, { waits = [], ...state }, act, role] of HOSTS) {
		const house = Object.assign(new House(), { muted: { muted: 8, missed: 0 } }, state);
		for (const one of waits) house.add(one);
		const page = await enter(browser, stand, { ...size, ...scheme(name) }, (one) => house.serve(one), role);
		await come(page, 8);
		await page.evaluate(() => {
			// In another order than by name.
			["PA_4", "PA_1", "PA_6"].forEach((id, i) => {
				const one = fake.room.remoteParticipants.get(id);
				one.metadata = '{"isHandRaised":true}';
				one.attributes.hand = String(1000 + i);
			});
			const [host] = fake.room.remoteParticipants.values();
			host.attributes.role = "host";
			fake.room.emit("ParticipantMetadataChanged");
		});
		await speaks(page, 5);
		await page.waitForSelector(".tile .mark.hand");
		if (act !== see_who_waits && waits.length === 0) await close_notes(page);
		await act(page);
		if (act !== mute_everybody && act !== deny_somebody && act !== press_microphone && act !== see_who_waits) await close_notes(page);
		await shoot(page, name);
		await close(page);
		// Else the next one has a number behind the name.
		await stand.livekit.end(stand.room.id);
	}
}
export const pictures_of_hosts = (browser) =>
	group("pictures of hosts", async () => {
		if (!PICTURES) return;
		const stand = await make_call("Pictures of hosts", "class-7b");
		await hosts(browser, stand);
		stand.livekit.stop();
	});

export const pictures_of_calls = (browser) =>
	group("pictures of the call", async () => {
		if (!PICTURES) return;
		const stand = await make_call("Pictures", "weekly-planning");
		await entries(browser, stand);
		await doors(browser, stand);
		await connections(browser, stand);
		await views(browser, stand);
		await hosts(browser, stand);
		stand.livekit.stop();
	});
