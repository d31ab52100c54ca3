// The call goes with its room to another media server: because the room was moved, because the connection is lost, and
// because a first one could not be made. Where the room is, the service says; here, the test does.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { close as close_page, connected, control, make_call, note, open_call, open_join, press_join, reader, says, tiles, title } from "./call.js";
import { body_of, group, ok } from "./stand.js";

const JOIN = "**/v2/token/join";

/** What the service answers to the question where the room is, and the questions. */
class Place {
	/** The name of the media server. */
	at = "studio";
	status = 200;
	/** Of a refusal. */
	headers = {};
	asked = [];
	serve = async (page) => {
		await page.route(JOIN, async (route) => {
			this.asked.push(body_of(route.request()).failed ?? "");
			if (this.status !== 200) return route.fulfill({ status: this.status, headers: this.headers, json: { code: this.status, message: "Room is full" } });
			const response = await route.fetch();
			const data = await response.json();
			data.join.backend = this.at;
			await route.fulfill({ response, json: data });
		});
	};
	/** Waits for so many questions. */
	async were(n) {
		const until = Date.now() + 20000;
		while (this.asked.length < n && Date.now() < until) await new Promise((done) => setTimeout(done, 20));
		return this.asked.length >= n;
	}
	/** Returns the questions until now, and forgets them. */
	take = () => this.asked.splice(0).join();
}

/** Runs in the page: random moments are now, pauses of two seconds are short, and the test decides how long a connection is lost. */
const prepare = () => {
	Math.random = () => 0;
	const [wait, clear, every, now] = [window.setTimeout, window.clearTimeout, window.setInterval, performance.now.bind(performance)];
	Object.assign(window, { telling: null, ahead: 0, readings: [] });
	performance.now = () => now() + window.ahead;
	window.setTimeout = (act, time, ...values) => {
		if (act.name === "follow" && values[0] === "lost") {
			window.telling = { time, tell: () => act(...values) };
			return -1;
		}
		if (!(time > 1500 && time <= 2000)) return wait(act, time, ...values);
		window.ahead += time;
		return wait(act, 10, ...values);
	};
	window.clearTimeout = (id) => (id === -1 ? (window.telling = null) : clear(id));
	window.setInterval = (act, time) => (time === 1000 ? window.readings.push(act) : every(act, time));
	const ask = navigator.mediaDevices?.getUserMedia.bind(navigator.mediaDevices);
	window.devices = 0;
	if (ask) navigator.mediaDevices.getUserMedia = (wish) => ((window.devices += 1), ask(wish));
};
/** Closes a page whose questions may be on their way. */
async function close(page) {
	await page.unrouteAll({ behavior: "ignoreErrors" });
	await close_page(page);
}
const come = (page, list) =>
	page.evaluate((all) => {
		for (const [id, name, sid] of all) fake.room.come(id, name, ["microphone", "camera"], sid ? { sid } : {});
	}, list);
/** The media server says that a room has moved, and the page asks. */
const say_move = (page) =>
	page.evaluate(() => {
		fake.former = fake.room;
		fake.left = false;
		fake.former.on("Disconnected", () => (fake.left = true));
		fake.room.say("anteroom", { type: "move" });
	});
const elsewhere = (page) => page.waitForFunction(() => fake.room !== fake.former && fake.room.localParticipant.sid);
const is_on = (page) => page.evaluate(() => [fake.room.localParticipant.isMicrophoneEnabled, fake.room.localParticipant.isCameraEnabled, fake.room.localParticipant.isScreenShareEnabled].join());
const live = (page) =>
	page.evaluate(() => [...fake.room.localParticipant.trackPublications.values()].filter(({ isMuted }) => !isMuted).every(({ track }) => track.mediaStreamTrack.readyState === "live"));

/** The service says that the room has moved: everything stays as it is. */
export const moved_calls = (browser) =>
	group("a call that is moved", async () => {
		const stand = await make_call("Moved");
		const place = new Place();
		const page = await open_call(browser, stand, "guest", {}, prepare, place.serve);
		const raised = [];
		await page.route("**/peers/*", async (route) => {
			const { metadata } = body_of(route.request());
			raised.push(route.request().url().split("/").at(-1));
			await route.fulfill({ json: {} });
			await page.evaluate((text) => {
				fake.room.localParticipant.metadata = text;
				fake.room.emit("ParticipantMetadataChanged");
			}, metadata);
		});
		await come(page, [["PA_1", "Nora"], ["PA_2", "Ola"]]);
		await page.waitForSelector(".tile:has-text('Ola')");
		await page.dblclick(".tile:has-text('Ola')");
		await page.waitForSelector(".tile:has-text('Ola') .mark[title='kept large']");
		await page.keyboard.press("h");
		await says(page, control("hand"), "Lower hand");
		await page.waitForSelector(".tile.me .mark.hand");
		await page.click(control("screen"));
		await page.waitForSelector(".sharing:visible");
		await page.click(control("chat"));
		await page.waitForSelector(".chat-log");
		await page.evaluate(() => fake.room.write("PA_1", "Hello from before"));
		await page.waitForSelector(".chat-text:has-text('Hello from before')");
		await page.fill("#chat-text", "Half a sen");
		const before = (await tiles(page)).join();

		await say_move(page);
		ok("the page asks where the room is", await place.were(1));
		await page.waitForLoadState("networkidle");
		ok("once, and without a fault", place.take() === "", "");
		ok("nobody goes who is there already", await page.evaluate(() => fake.room === fake.former && !fake.left));

		place.at = "second";
		const devices = await page.evaluate(() => window.devices);
		await say_move(page);
		await elsewhere(page);
		ok("the room is elsewhere: the page goes there", place.take() === "");
		await page.waitForFunction(() => fake.room.localParticipant.isScreenShareEnabled);
		ok("with microphone, camera and screen", (await is_on(page)) === "true,true,true", await is_on(page));
		ok("the former connection is not left yet", !(await page.evaluate(() => fake.left)));
		ok("people stay where they are until they arrive", (await tiles(page)).join() === before, (await tiles(page)).join());
		await page.keyboard.press("Escape");
		await page.keyboard.press("m");
		await says(page, control("audio"), "Turn microphone on");
		ok("what is turned off is off at both", await page.evaluate(() => !fake.former.localParticipant.isMicrophoneEnabled && !fake.room.localParticipant.isMicrophoneEnabled));
		await page.keyboard.press("m");
		await says(page, control("audio"), "Turn microphone off");
		await page.click(control("chat"));
		await come(page, [["PA_1", "Nora", "PB_1"]]);
		await page.evaluate(() => {
			const { track } = (fake.shown_late = fake.room.remoteParticipants.get("PA_1").getTrackPublication("camera"));
			Object.defineProperty(track.mediaStreamTrack, "muted", { get: () => track.attachedElements.length === 0 });
		});
		const is_there = () => {
			const video = [...document.querySelectorAll(".tile")].find((one) => one.textContent.includes("Nora")).querySelector("video");
			return video.srcObject?.getTracks()[0] === fake.shown_late.track.mediaStreamTrack;
		};
		const arrived = page.waitForFunction(is_there, null, { timeout: 5000 });
		ok("a video arrives that the server sends only to an element", await arrived.then(() => true, () => false));
		await page.waitForFunction(() => !fake.former.remoteParticipants.get("PA_1").getTrackPublication("microphone").isDesired);
		ok("who has arrived is heard once", await page.evaluate(() => fake.former.remoteParticipants.get("PA_2").getTrackPublication("microphone").isDesired));
		ok("the former connection stays for the other", !(await page.evaluate(() => fake.left)));
		await page.evaluate(() => {
			fake.room.come("PA_2", "Ola", ["microphone", "camera"], { sid: "PB_2" });
			fake.late = fake.room.remoteParticipants.get("PA_2").getTrackPublication("camera").track.mediaStreamTrack;
			Object.defineProperty(fake.late, "muted", { value: true, configurable: true });
		});
		await page.waitForFunction(() => !fake.former.remoteParticipants.get("PA_2").getTrackPublication("microphone").isDesired);
		await page.evaluate(() => void (window.ahead += 1200));
		await page.waitForTimeout(500);
		ok("it stays until their pictures are there", !(await page.evaluate(() => fake.left)));
		await page.evaluate(() => delete fake.late.muted);
		await page.waitForFunction(() => fake.left);
		ok("it is left when all are there", true);
		ok("the stage alone shows them", (await page.locator("video:not(.tile video)").count()) === 0);
		ok("all stay where they are", (await tiles(page)).join() === before, (await tiles(page)).join());
		ok("who was large is large", await page.isVisible(".tile:has-text('Ola') .mark[title='kept large']"));
		ok("everything goes on", (await live(page)) && (await is_on(page)) === "true,true,true", await is_on(page));
		ok("no device was asked for again, but the microphone", (await page.evaluate(() => window.devices)) - devices <= 1);
		await page.waitForSelector(".tile.me .mark.hand");
		const sid = await page.evaluate(() => fake.room.localParticipant.sid);
		ok("the hand is raised there", raised.at(-1) === sid && raised.length === 2, raised.join());
		ok("and nobody has lowered it", (await page.locator(note("lowered")).count()) === 0);
		ok("the chat is open, with what was said and what was begun", (await page.isVisible(".chat-text:has-text('Hello from before')")) && (await page.inputValue("#chat-text")) === "Half a sen");
		await page.evaluate(() => fake.room.write("PA_2", "Hello from there"));
		await page.waitForSelector(".chat-text:has-text('Hello from there')");
		ok("what is written there is read, once", (await page.locator(".chat-text:has-text('Hello from there')").count()) === 1);
		ok("nothing was told", (await page.locator(".note").count()) === 0, (await page.locator(".note").allTextContents()).join());
		const speaks = () => fake.room.emit("ActiveSpeakersChanged", [fake.room.remoteParticipants.get("PA_1")]);
		await page.evaluate(speaks);
		await page.waitForSelector(".tile.speaks:has-text('Nora')");
		ok("who speaks is shown", true);
		await page.evaluate(() => fake.former.emit("Reconnecting"));
		ok("what the former connection says is past", !(await page.isVisible(note("Connection lost"))));

		// Back again, where one of two does not come.
		place.at = "studio";
		await say_move(page);
		await elsewhere(page);
		await come(page, [["PA_1", "Nora", "PC_1"]]);
		await page.waitForFunction(() => fake.left);
		await page.waitForFunction(() => document.querySelectorAll(".tile").length === 2);
		ok("who does not come is shown for some seconds", (await tiles(page)).join().includes("Nora"), (await tiles(page)).join());
		await close(page);

		// The former server ends the room before the page has asked.
		const late = new Place();
		const ended = await open_call(browser, stand, "guest", {}, prepare, late.serve);
		late.at = "second";
		await ended.evaluate(() => {
			fake.former = fake.room;
			fake.room.end(5);
		});
		await elsewhere(ended);
		ok("a room that ends because it was moved is joined again", (await ended.locator(title("The call has ended")).count()) === 0);
		await close(ended);
		stand.livekit.stop();
	});

/** The connection is lost: the service is told, until it knows another place. */
export const lost_servers = (browser) =>
	group("a media server that is lost", async () => {
		const stand = await make_call("Lost servers");
		const place = new Place();
		const page = await open_call(browser, stand, "guest", {}, prepare, place.serve);
		await come(page, [["PA_1", "Nora"], ["PA_2", "Ola"]]);
		await page.waitForSelector(".tile:has-text('Ola')");
		const read = reader(page);
		const due = () => page.evaluate(() => window.telling && Math.round(window.telling.time / 100) / 10);
		const lost = (event) => page.evaluate((name) => fake.room.emit(name), event);
		const tell = () => page.evaluate(() => void window.telling.tell());
		await lost("SignalReconnecting");
		ok("the service is told after 8 seconds", (await due()) === 8, await due());
		await lost("Reconnected");
		await page.evaluate(() => {
			Math.random = () => 0.5;
		});
		await lost("SignalReconnecting");
		ok("not at the same moment by all who lose it", (await due()) === 10, await due());
		await page.evaluate(() => {
			Math.random = () => 0;
		});
		await lost("Reconnected");
		ok("not if the connection is back", (await due()) === null && place.take() === "", await due());
		await page.evaluate(() => {
			fake.packets = () => 1000;
		});
		await read(4);
		await lost("SignalReconnecting");
		ok("they count from the last media", (await due()) <= 5, await due());
		await tell();
		ok("it is told again and again", await place.were(3));
		ok("which media server is lost", /^studio(,studio)+$/.test(place.asked.join()), place.take());
		ok("that it is not elsewhere changes nothing", await page.isVisible(note("Connection lost. Reconnecting")));
		place.status = 403;
		place.take();
		await place.were(2);
		ok("nor does a refusal", await page.isVisible(note("Connection lost. Reconnecting")));
		place.headers = { "Retry-After": "60" };
		place.status = 502;
		await page.waitForTimeout(50);
		place.take();
		ok("that the server does not answer does not delay the next time", await place.were(3));
		place.headers = {};
		place.status = 200;
		await page.evaluate(() => {
			fake.packets = undefined;
		});
		await lost("Reconnected");
		await read(1);
		await page.waitForSelector(note("Connection lost"), { state: "detached" });
		await page.waitForLoadState("networkidle");
		place.take();
		await page.waitForTimeout(200);
		ok("back again, nothing more is told", place.take() === "");

		const before = (await tiles(page)).join();
		await page.evaluate(() => {
			fake.former = fake.room;
			fake.left = false;
			fake.former.on("Disconnected", () => (fake.left = true));
		});
		await lost("SignalReconnecting");
		await page.evaluate(() => fake.room.remoteParticipants.clear());
		await tell();
		await place.were(1);
		// The other one is not there yet when the service says so.
		await page.evaluate(() => {
			fake.refuses = null;
		});
		place.at = "second";
		await place.were(place.asked.length + 3);
		ok("a server that cannot be reached either is told too", place.asked.at(-1) === "second", place.take());
		await page.evaluate(() => {
			fake.refuses = undefined;
		});
		await page.waitForFunction(() => fake.room.localParticipant.sid && fake.room.url && fake.room !== fake.former);
		await page.waitForSelector(note("Connection lost"), { state: "detached" });
		ok("the call goes on at the other one", (await is_on(page)).startsWith("true,true"), await is_on(page));
		ok("people stay until they arrive", (await tiles(page)).join() === before, (await tiles(page)).join());
		await come(page, [["PA_2", "Ola", "PB_2"], ["PA_1", "Nora", "PB_1"]]);
		await page.waitForFunction(() => fake.left);
		await page.waitForFunction(() => document.querySelectorAll(".tile:not(.me) video:not([hidden])").length === 2);
		ok("in their places, whoever came first", (await tiles(page)).join() === before, (await tiles(page)).join());
		ok("without another start of the devices", await live(page));
		await close(page);
		stand.livekit.stop();
	});

/** A first connection that is not made is tried again, wherever the room is. */
export const first_connections = (browser) =>
	group("first connections", async () => {
		const stand = await make_call("First connections");
		const prepared = `(${prepare})(); globalThis.fake = { refuses: null };`;
		const open = async (place) => {
			const page = await open_join(browser, stand, stand.codes.guest, {}, prepared, place.serve);
			await press_join(page, "Nora");
			return page;
		};
		const place = new Place();
		const page = await open(place);
		ok("the service is told that it failed", (await place.were(2)) && place.take().startsWith("studio,studio"));
		place.at = "second";
		await page.evaluate(() => {
			fake.refuses = undefined;
		});
		await connected(page);
		ok("and the page is in the call at the other one", true);
		await page.waitForFunction(() => fake.room.localParticipant.isCameraEnabled && fake.room.localParticipant.isMicrophoneEnabled);
		ok("with the devices", true);
		await close(page);
		const never = new Place();
		const ends = await open(never);
		await ends.waitForSelector(title("The call could not be started"));
		ok("after half a minute it says that the call could not be started", never.asked.length >= 10 && never.asked.length <= 16, never.asked.length);
		await close(ends);
		const refused = new Place();
		refused.status = 403;
		const shut = await open(refused);
		await shut.waitForSelector(title("The call could not be started"));
		ok("at once if nobody may join", refused.asked.length === 1, refused.asked.length);
		await close(shut);
		// Without pools: a media server that was away for a moment.
		const same = new Place();
		const back = await open(same);
		await same.were(1);
		await back.evaluate(() => {
			fake.refuses = undefined;
		});
		await connected(back);
		ok("a server that is back is tried again", true);
		await close(back);
		stand.livekit.stop();
	});
