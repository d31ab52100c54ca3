// The call, as the people in it use it. livekit-client is replaced by fake_client.js, which has no media; the
// service and its media server are those of the other tests.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { readFileSync } from "node:fs";
import { make_stand } from "./live.js";
import { BASE, SIZES, accessible, body_of, group, new_page, ok, program, sign_in } from "./stand.js";

const LIBRARY = "/web/fake-client.js";
const library = readFileSync(new URL("fake_client.js", import.meta.url), "utf8");
export const control = (name) => `[data-control="${name}"]`;
export const note = (text) => `.note:has-text("${text}")`;
export const title = (text) => `:is(h1, h1 > bdi):text-is("${text}")`;
const join_button = ".join-form button[type=submit]";

const VIDEO = { width: 1280, height: 720, frameRate: 30, bitRate: 1200 };
const LAYERS = [
	{ rid: "f", scaleResolutionDownBy: 1, maxBitrate: 1200, maxFramerate: 30 },
	{ rid: "h", scaleResolutionDownBy: 2, maxBitrate: 350, maxFramerate: 20 },
	{ rid: "q", scaleResolutionDownBy: 4, maxBitrate: 110, maxFramerate: 15 },
];
const publish = {
	allowed: ["audio", "video", "screen"],
	video: VIDEO,
	simulcast: { video: { layers: LAYERS } },
};

/** Creates an account with a room on LiveKit, and the codes of a host, a guest, a speaker and a viewer. */
export async function make_call(name, room_name = "planning") {
	const stand = await make_stand(name);
	const template = await stand.api("POST", "/v2/templates", {
		name: "Call",
		roles: {
			host: {
				permissions: { endRoom: true, removeOthers: true, mute: true, unmute: true, changeRole: true },
				publishParams: publish,
			},
			guest: { priority: 2, publishParams: publish },
			speaker: { priority: 3, publishParams: { allowed: ["audio"] } },
			viewer: {
				priority: 4,
				publishParams: { allowed: [] },
				subscribeParams: { subscribeToRoles: ["host"] },
			},
		},
	});
	const room = await stand.api("POST", "/v2/rooms", { name: room_name, template_id: template.id });
	const { data } = await stand.api("POST", `/v2/room-codes/room/${room.id}`);
	const codes = Object.fromEntries(data.map((one) => [one.role, one.code]));
	return { ...stand, template, room, codes };
}

/** Puts the fake library in place, and lets people into the room of the media server. `around`: the pages that may
 * show the join page, in place of what the site says. */
export async function with_library(page, stand, around = "'none'") {
	await page.route(`**${LIBRARY}`, (route) => route.fulfill({ contentType: "text/javascript", body: library }));
	await page.route(/\/(join|record)\//, async (route) => {
		if (route.request().resourceType() !== "document") return route.continue();
		const response = await route.fetch();
		const body = (await response.text()).replace('name="livekit-client" content=""', `name="livekit-client" content="${LIBRARY}"`);
		const headers = response.headers();
		const policy = headers["content-security-policy"].replace(/frame-ancestors [^;]*/, `frame-ancestors ${around}`);
		await route.fulfill({ response, body, headers: { ...headers, "content-security-policy": policy } });
	});
	await page.exposeFunction("let_in", async ({ room, identity, name, attributes }) => {
		const { sid } = await stand.livekit.join(room, identity, { shown: name, attributes });
		return sid;
	});
}

/** Opens the join page of a code, with a library; `prepare` runs in the page first, and `serve` before all. */
export async function open_join(browser, stand, code, options = {}, prepare = () => {}, serve = () => {}) {
	const page = await new_page(browser, options);
	await with_library(page, stand);
	await serve(page);
	await page.addInitScript(prepare);
	await page.goto(`${BASE}/join/${code}`);
	await page.waitForSelector(".join-form");
	return page;
}
export async function press_join(page, name) {
	await page.fill("#name", name);
	await page.click(join_button);
}
export const connected = (page) =>
	page.waitForFunction(() => performance.getEntriesByName("connected").length > 0 && document.querySelector(".call"));
export const knows_role = (page) => page.waitForResponse((one) => one.url().endsWith("/me") && one.ok());

/** Opens a call. */
export async function open_call(browser, stand, role, options, prepare, serve) {
	const page = await open_join(browser, stand, stand.codes[role], options, prepare, serve);
	await enter_call(page, role);
	return page;
}
/** Joins from the page of a link. */
export async function enter_call(page, role) {
	const known = knows_role(page);
	await press_join(page, `The ${role}`);
	await connected(page);
	await known;
}
export const close = async (page) => {
	// The page asks before it is left.
	await page.close({ runBeforeUnload: false });
	await page.context().close();
};
export const tiles = (page) =>
	page.locator(".tile").evaluateAll((all) => all.map((one) => one.querySelector(".who").textContent));
/** The name of what has the focus. */
export const focused = (page) => page.evaluate(() => document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent);
/** Imports a module of the call that needs no other. */
export const load = (name) => import(`data:text/javascript,${encodeURIComponent(readFileSync(`${process.env.WEB_SOURCE}/call/${name}`, "utf8"))}`);
/** Somebody begins to share a screen. */
export const share = (page, sid) =>
	page.evaluate((id) => {
		const one = fake.room.remoteParticipants.get(id);
		fake.room.emit("TrackSubscribed", one.add("screen_share").track, null, one);
	}, sid);
/** Returns what makes the page read what flows, where a script of the test has kept the readings. */
export const reader = (page) => async (times) => {
	for (let i = 0; i < times; i++) await page.evaluate(() => Promise.all(window.readings.map((act) => act())));
};
export const says = (page, selector, name) => page.waitForSelector(`${selector}[aria-label="${name}"]`);

/** From the link to a call and out again: what a role may do has a control. */
export const call = (browser) =>
	group("a call", async () => {
		const stand = await make_call("Call");
		const page = await open_join(browser, stand, stand.codes.host);
		await page.waitForFunction(() => document.querySelector("video")?.videoWidth > 0);
		let exchanges = 0;
		page.on("request", (request) => {
			if (request.url().endsWith("/v2/token")) exchanges += 1;
		});
		const known = knows_role(page);
		await press_join(page, "Anna");
		await connected(page);
		await known;
		ok("the address stays", page.url() === `${BASE}/join/${stand.codes.host}`, page.url());
		ok("one exchange", exchanges === 1, exchanges);
		await page.waitForSelector(".stage-line:has-text('Nobody else is here yet')");
		ok("alone, one tile", (await tiles(page)).join() === "You");
		const options = await page.evaluate(() => fake.room.options.publishDefaults);
		const sent = options.videoSimulcastLayers.map((one) => [one.width, one.height, one.encoding.maxBitrate, one.encoding.maxFramerate]);
		ok(
			"the layers of the role",
			JSON.stringify(sent) === "[[320,180,110000,15],[640,360,350000,20]]" &&
				options.videoEncoding.maxBitrate === 1200000 &&
				options.videoEncoding.maxFramerate === 30 &&
				options.audioPreset.maxBitrate === 32000,
			JSON.stringify(options),
		);
		await says(page, control("audio"), "Turn microphone off");
		await page.keyboard.press("m");
		await says(page, control("audio"), "Turn microphone on");
		await page.keyboard.press("v");
		await says(page, control("video"), "Turn camera on");
		await page.waitForFunction(() => document.querySelector(".tile video").hidden);
		ok("keys switch microphone and camera", true);
		await page.evaluate(() => document.activeElement.blur());
		await page.keyboard.down(" ");
		await says(page, control("audio"), "Turn microphone off");
		await page.keyboard.up(" ");
		await says(page, control("audio"), "Turn microphone on");
		ok("the space bar lets somebody speak while it is held", true);

		await page.evaluate(() => fake.room.come("PA_1", "Nora Fuchs"));
		await page.waitForSelector(".pair");
		ok("two people: the other one is large", (await tiles(page)).join() === "You,Nora Fuchs");
		await page.waitForFunction(() => document.getElementById("announcer").textContent.includes("Nora Fuchs joined."));
		ok("who joins is announced", true);
		await page.evaluate(() => fake.room.come("PA_2", "Ola", ["microphone"], { metadata: '{"isHandRaised":true}' }));
		await page.waitForSelector(note("Ola raised a hand."));
		await page.waitForSelector(".tile:has-text('Ola') .mark.hand");
		ok("a raised hand is told", true);
		await page.click(`${note("Ola raised a hand.")} .note-close`);
		for (const up of [false, true]) {
			await page.evaluate((is_up) => {
				fake.room.remoteParticipants.get("PA_2").metadata = is_up ? '{"isHandRaised":true}' : "{}";
				fake.room.emit("ParticipantMetadataChanged");
			}, up);
			await page.waitForSelector(".tile:has-text('Ola') .mark.hand", { state: up ? "attached" : "detached" });
		}
		ok("a hand is told of once in ten seconds", (await page.$(note("Ola raised a hand."))) === null);
		/** What the page asked to be set of the person, and the answers to it. */
		const asked = [];
		let status = 200;
		await page.route("**/peers/*", (route) => {
			asked.push(body_of(route.request()));
			return route.fulfill({ status, json: {} });
		});
		await page.evaluate(() => {
			fake.room.localParticipant.metadata = '{"seat":4}';
		});
		await page.keyboard.press("h");
		await says(page, control("hand"), "Lower hand");
		ok("a hand keeps what else is in the metadata", asked[0].metadata === '{"seat":4,"isHandRaised":true}', JSON.stringify(asked));
		await page.evaluate(() => {
			fake.room.localParticipant.metadata = '{"seat":4,"isHandRaised":true}';
			fake.room.emit("ParticipantMetadataChanged");
		});
		await page.waitForSelector(".tile.me .mark.hand");
		status = 502;
		await page.keyboard.press("h");
		await page.waitForSelector(note("That is not possible right now."));
		await says(page, control("hand"), "Lower hand");
		ok("a hand that could not be lowered stays up", asked.length === 2);
		await page.evaluate(() => {
			fake.room.localParticipant.metadata = "just text";
			fake.room.emit("ParticipantMetadataChanged");
		});
		await page.waitForSelector(control("hand"), { state: "hidden" });
		ok("metadata that is no object: no hand", true);
		await page.unroute("**/peers/*");
		await page.evaluate(() => fake.room.come("PA_3", "Mara", [], { permissions: { canPublish: false } }));
		await says(page, control("people"), "People, 4, 1 raised hand");
		ok("who only watches has no tile", (await tiles(page)).length === 3);
		await page.click(control("people"));
		await page.waitForSelector(".watching:has-text('1 person is watching')");
		const listed = await page.locator(".person-name").allTextContents();
		ok("the list: hands, you, names", listed.join() === "Ola,Anna (you),Mara,Nora Fuchs", listed.join());
		await page.keyboard.press("Escape");
		ok("Escape closes it", !(await page.isVisible(".people")));
		await page.evaluate(() => fake.room.emit("ActiveSpeakersChanged", [fake.room.remoteParticipants.get("PA_1")]));
		await page.waitForSelector(".tile.speaks:has-text('Nora')");
		ok("nobody moves for a speaker", (await tiles(page)).join() === "You,Nora Fuchs,Ola");
		await page.evaluate(() => {
			const one = fake.room.remoteParticipants.get("PA_1");
			fake.room.emit("TrackSubscribed", one.add("screen_share").track, null, one);
		});
		await page.waitForSelector(".tile.screen >> text=Nora Fuchs is sharing a screen");
		ok("a shared screen is large", (await tiles(page))[0].startsWith("Nora Fuchs is sharing"));

		await page.evaluate(() => fake.room.say("chat", "Five minutes left."));
		await page.waitForSelector(note("Five minutes left."));
		// Nobody is told yet of PA_9, or PA_9 has left: the library then has no participant for what was sent.
		await page.evaluate(() => {
			for (const from of ["PA_1", "PA_9", undefined]) {
				fake.room.emit("DataReceived", new TextEncoder().encode(`I am ${from}.`), fake.room.remoteParticipants.get(from), 0, "chat", 0, from);
			}
		});
		await page.evaluate(() => fake.room.say("anteroom", { type: "ended", cause: "closed", reason: "" }, "PA_9"));
		const notes = (await page.locator(".note").allTextContents()).filter((one) => /I am/.test(one));
		ok("only messages of the service are shown", notes.length === 0, notes.join());
		await page.evaluate(() => {
			fake.room.canPlaybackAudio = false;
			fake.room.emit("AudioPlaybackStatusChanged");
		});
		await page.click(".note >> text=Turn sound on");
		await page.waitForSelector(note("blocked the sound"), { state: "detached" });
		ok("sound that the browser blocks can be turned on", true);

		await page.evaluate(() => fake.room.emit("Reconnecting"));
		await page.evaluate(() => fake.room.remoteParticipants.clear());
		await page.evaluate(() => fake.room.emit("ParticipantDisconnected"));
		await page.waitForSelector(note("Connection lost. Reconnecting"));
		ok("a lost connection: people stay where they are", (await tiles(page)).length === 4);
		await page.evaluate(() => fake.room.come("PA_1", "Nora Fuchs"));
		await page.evaluate(() => fake.room.emit("Reconnected"));
		await page.waitForSelector(note("Connection lost"), { state: "detached" });
		await page.waitForFunction(() => document.querySelectorAll(".tile").length === 2);
		ok("and back", true);
		await page.evaluate(() => {
			Object.defineProperty(navigator, "onLine", { configurable: true, value: false });
			dispatchEvent(new Event("offline"));
		});
		await page.waitForSelector(note("Connection lost. Reconnecting"));
		await page.evaluate(() => delete navigator.onLine);
		await page.waitForSelector(note("Connection lost"), { state: "detached" });
		ok("offline is told at once, and that it is over", true);

		await page.click(control("leave"));
		await page.click(".call-dialog [value=leave]");
		await page.waitForSelector(title("You have left the call"));
		ok("leaving forgets the token", (await page.evaluate(() => sessionStorage.getItem("call"))) === null);
		await accessible(page, "left");
		await page.click("text=Join again");
		await connected(page);
		ok("joining again needs no other exchange", exchanges === 1, exchanges);
		await close(page);
		stand.livekit.stop();
	});

/** No media for 4 seconds: the connection is lost, or those who send have stopped. */
export const standing_still = (browser) =>
	group("a call that stands still", async () => {
		const stand = await make_call("Standing still");
		// The page reads every second what flows; here, when the test says so.
		const page = await open_call(browser, stand, "guest", {}, () => {
			const real = window.setInterval;
			window.readings = [];
			window.setInterval = (act, time) => (time === 1000 ? window.readings.push(act) : real(act, time));
		});
		const read = reader(page);
		await page.evaluate(() => fake.room.come("PA_1", "Nora Fuchs"));
		await page.waitForSelector(".pair");
		const lost = note("Connection lost. Reconnecting");
		await read(1);
		await page.evaluate(() => {
			let n = 0;
			Object.assign(fake, { silent: true, packets: () => (n += 5) });
		});
		await read(6);
		ok("the other person sends nothing more: the connection is there", !(await page.isVisible(lost)));
		await page.evaluate(() => {
			fake.packets = () => 1000;
		});
		await read(5);
		ok("nothing at all arrives: it is told", await page.isVisible(lost));
		await page.evaluate(() => {
			fake.packets = () => 1005;
		});
		await read(1);
		ok("and that it is back", !(await page.isVisible(lost)));
		// A browser that does not tell what arrived.
		await page.evaluate(() => {
			fake.packets = () => 0;
			fake.silent = false;
		});
		await read(1);
		await page.evaluate(() => {
			fake.silent = true;
		});
		await read(4);
		ok("and by the media alone", await page.isVisible(lost));
		await close(page);
		stand.livekit.stop();
	});

/** Roles that publish less, or nothing, and see only some. */
export const roles_in_calls = (browser) =>
	group("roles in a call", async () => {
		const stand = await make_call("Roles");
		const shown = (page) =>
			page.locator(".call-bar button:visible").evaluateAll((all) => all.map((one) => one.dataset.control).join());
		const guest = await open_call(browser, stand, "guest");
		const all = "audio,audio-devices,video,video-devices,screen,hand,leave,chat,people,more";
		ok("a guest has all controls", (await shown(guest)) === all, await shown(guest));
		await guest.evaluate(() => fake.room.come("PA_1", "Nora Fuchs"));
		await guest.hover(".tile:has-text('Nora Fuchs')");
		await guest.click("[aria-label='Options for Nora Fuchs']");
		const offered = await guest.locator(".menu-item").allTextContents();
		ok("a guest moderates nobody", offered.join() === "Keep large,Send message", offered.join());
		await guest.click(".menu-item");
		await guest.waitForSelector(".tile:has-text('Nora Fuchs') .mark");
		ok("a person can be kept large", true);
		await close(guest);
		const speaker = await open_call(browser, stand, "speaker");
		ok("a speaker has no camera", (await shown(speaker)) === "audio,audio-devices,hand,leave,chat,people,more", await shown(speaker));
		await close(speaker);
		const viewer = await open_call(browser, stand, "viewer");
		ok("a viewer has no devices", (await shown(viewer)) === "hand,leave,chat,people,more", await shown(viewer));
		ok("and no tile", (await tiles(viewer)).length === 0);
		const heard = await viewer.evaluate(() => {
			const host = fake.room.come("PA_1", "Anna", ["camera"], { attributes: { role: "host" } });
			const guest = fake.room.come("PA_2", "Nora", ["camera"]);
			for (const one of [host, guest]) fake.room.emit("TrackPublished", one.getTrackPublication("camera"), one);
			const desired = (one) => one.getTrackPublication("camera").isDesired;
			return [fake.room.connected_with.autoSubscribe, desired(host), desired(guest)].join();
		});
		ok("nobody is subscribed whose role is not seen", heard === "false,true,false", heard);
		await close(viewer);
		stand.livekit.stop();
	});

/** What a host does to others, through the service. */
export const moderating = (browser) =>
	group("moderation in a call", async () => {
		const stand = await make_call("Moderation");
		const { livekit, room } = stand;
		const tracks = [{ sid: "TR_1", type: "AUDIO", source: "MICROPHONE", muted: false }];
		const nora = await livekit.join(room.id, "nora", { shown: "Nora Fuchs", tracks });
		const page = await open_call(browser, stand, "host");
		await page.evaluate((sid) => fake.room.come(sid, "Nora Fuchs"), nora.sid);
		const choose = async (text) => {
			await page.hover(".tile:has-text('Nora Fuchs')");
			await page.click("[aria-label='Options for Nora Fuchs']");
			await page.click(`.menu-item:has-text("${text}")`);
		};
		await page.hover(".tile:has-text('Nora Fuchs')");
		await page.click("[aria-label='Options for Nora Fuchs']");
		const offered = await page.locator(".menu-item").allTextContents();
		ok(
			"a host is offered what the role may",
			offered.join() === "Keep large,Send message,Turn microphone off,Turn camera off,Change role…,Remove from call…",
			offered.join(),
		);
		await page.keyboard.press("Escape");
		await choose("Turn microphone off");
		await page.waitForSelector(note("Nora Fuchs was muted."));
		const [, muted] = livekit.asked.find(([method]) => method === "MutePublishedTrack");
		ok("muting goes through the service", muted.track_sid === "TR_1" && muted.muted === true, JSON.stringify(muted));
		for (const [message, told] of [
			["Role is full", "As many people as it allows have this role already."],
			["Role admits nobody", "This role is closed to everyone at the moment."],
			["Missing permission changeRole", "Your role does not allow this any more."],
		]) {
			await page.route("**/peers/*", (route) => route.fulfill({ status: 403, json: { code: 403, message } }));
			await choose("Change role");
			await page.selectOption("#new-role", "viewer");
			await page.click(".call-dialog [value=yes]");
			await page.waitForSelector(note(told));
			await page.unroute("**/peers/*");
		}
		ok("why a role was not given is told", true);
		const asked = [];
		const demote = async (answers) => {
			await page.route("**/peers/*", (route) => {
				asked.push(body_of(route.request()));
				return route.fulfill({ json: answers.shift() });
			});
			await choose("Change role");
			await page.selectOption("#new-role", "viewer");
			await page.click(".call-dialog [value=yes]");
		};
		const again = note("Nora Fuchs now has the role viewer, but can come back as guest with the same link.");
		await demote([{ role: "viewer", not_enforced: ["role"] }, { role: "viewer" }]);
		await page.waitForSelector(again);
		await accessible(page, "a role that its link gives again");
		await page.click(`${again} button:text-is("Let people with this link in only after asking")`);
		await page.waitForSelector(note("New people with the same link now wait to be admitted."));
		ok("the door of the link is closed", JSON.stringify(asked) === '[{"role":"viewer"},{"role":"viewer","door":"ask"}]', JSON.stringify(asked));
		ok("and the question is gone", (await page.locator(again).count()) === 0);
		await page.unroute("**/peers/*");
		await demote([{ role: "viewer", not_enforced: ["role"] }, { role: "viewer", not_enforced: ["role"] }]);
		await page.click(`${again} .small`);
		await page.waitForSelector(note("That is not possible right now."));
		ok("a door that cannot be closed is told", true);
		await page.unroute("**/peers/*");
		await demote([{ role: "viewer" }]);
		await page.waitForSelector(note("Nora Fuchs now has the role viewer."));
		ok("nothing is asked where the role stays", (await page.locator(again).count()) === 0);
		await page.unroute("**/peers/*");
		const lesser = await open_call(browser, stand, "host", {}, undefined, (page) =>
			page.route("**/me", async (route) => {
				const response = await route.fetch();
				const me = await response.json();
				me.role.permissions.removeOthers = false;
				await route.fulfill({ response, json: me });
			}),
		);
		await lesser.evaluate((sid) => fake.room.come(sid, "Nora Fuchs"), nora.sid);
		await lesser.route("**/peers/*", (route) => route.fulfill({ json: { role: "viewer", not_enforced: ["role"] } }));
		await lesser.hover(".tile:has-text('Nora Fuchs')");
		await lesser.click("[aria-label='Options for Nora Fuchs']");
		await lesser.click(".menu-item:has-text('Change role')");
		await lesser.selectOption("#new-role", "viewer");
		await lesser.click(".call-dialog [value=yes]");
		await lesser.waitForSelector(again);
		ok("who may not remove people is offered no door", (await lesser.locator(`${again} .small`).count()) === 0);
		await close(lesser);
		await choose("Remove from call");
		await page.waitForSelector(".call-dialog");
		await accessible(page, "removing somebody");
		await page.fill("#reason", "See you next week.");
		await page.click(".call-dialog [value=yes]");
		await page.waitForSelector(note("Nora Fuchs was removed."));
		const [, message] = livekit.asked.find(([method]) => method === "SendData");
		const told = JSON.parse(Buffer.from(message.data, "base64"));
		ok("with the reason", told.cause === "removed" && told.reason === "See you next week.", JSON.stringify(told));
		ok("and a removal", livekit.asked.some(([method, body]) => method === "RemoveParticipant" && body.identity === "nora"));
		await page.evaluate(() => fake.room.go([...fake.room.remoteParticipants.keys()][0]));
		await page.evaluate(() => fake.room.localParticipant.mute("microphone", true));
		await page.waitForSelector(note("A host muted your microphone."));
		ok("who is muted is told", true);
		await page.click(control("more"));
		await page.click(".menu-item:has-text('End call for everyone')");
		await page.click(".call-dialog [value=end]");
		await page.waitForFunction(() => !document.querySelector(".call-dialog"));
		while (!livekit.asked.some(([method]) => method === "DeleteRoom")) await page.evaluate(() => 0);
		ok("the call is ended for everyone", true);
		await close(page);
		livekit.stop();
	});

/** The page waits less long where the test says so (fake.hurry). */
const hurry = (page) =>
	page.evaluate(() => {
		const [wait, now] = [globalThis.setTimeout, performance.now.bind(performance)];
		let ahead = 0;
		performance.now = () => now() + ahead;
		globalThis.setTimeout = (act, time, ...values) => {
			const soon = fake.hurry ? Math.min(time, 10) : time;
			// Its clock goes on meanwhile.
			if (time > soon) ahead += time - soon;
			return wait(act, soon, ...values);
		};
	});

/** Every end is a sentence. */
export const ends = (browser) =>
	group("ends of a call", async () => {
		const stand = await make_call("Ends");
		for (const [name, end, wanted, text, again, refused] of [
			["removed", () => fake.room.end(4), "You were removed from the call", "A host removed you.", ""],
			[
				"removed with a message",
				() => fake.room.end(4),
				"You were removed from the call",
				"The host wrote: “Be kind.”",
				"",
				{ message: "Removed from this room", details: ["reason: Be kind."] },
			],
			[
				"removed, whatever a message says of it",
				() => {
					fake.room.say("anteroom", { type: "removed", cause: "banned", reason: "Go." });
					fake.room.end(4);
				},
				"You were removed from the call",
				"A host removed you.",
				"",
			],
			["not admitted", () => fake.room.end(4), "You were removed from the call", "Your role is closed", "", { message: "Role admits nobody" }],
			["ended", () => fake.room.end(5), "The call has ended", "A host ended it for everyone.", ""],
			[
				"closed",
				() => {
					fake.room.say("anteroom", { type: "ended", cause: "closed", reason: "" });
					fake.room.end(5);
				},
				"The call has ended",
				"The room has closed.",
				"",
			],
			[
				"full",
				() => fake.room.end(4),
				"The room is full",
				"As many people",
				"Try again",
				{ message: "Role is full" },
			],
			["locked", () => fake.room.end(4), "The room is locked", "A host has locked it", "Try again", { message: "Room is locked" }],
			["another tab", () => fake.room.end(2), "The call continues in another tab", "", "Use it here"],
			[
				"lost",
				() => {
					Object.assign(fake, { refuses: null, hurry: true });
					fake.room.end(undefined);
				},
				"The connection was lost",
				"could not be reached. Check your internet connection",
				"Join again",
			],
		]) {
			const page = await open_call(browser, stand, "guest");
			await hurry(page);
			let joins = 0;
			page.on("request", (one) => (joins += one.url().endsWith("/v2/token/join")));
			if (refused) await page.route("**/v2/token/join", (route) => route.fulfill({ status: 403, json: { code: 403, ...refused } }));
			await page.evaluate(end);
			await page.waitForSelector(title(wanted));
			const said = await page.textContent("main");
			ok(`${name}: the sentence`, said.includes(text), said);
			const buttons = await page.locator("main button").allTextContents();
			if (name === "lost") ok("lost: after it has tried to join again for half a minute", joins > 3 && joins <= 17, joins);
			ok(`${name}: the button`, buttons.join() === again, buttons.join());
			const kept = await page.evaluate(() => sessionStorage.getItem("call") !== null);
			ok(`${name}: the token`, kept === ["another tab", "lost"].includes(name), kept);
			const focused = await page.evaluate(() => document.activeElement.tagName);
			ok(`${name}: the heading has the focus`, focused === "H1", focused);
			await close(page);
		}
		const failed = await open_join(browser, stand, stand.codes.guest, {}, () => {
			globalThis.fake = { refuses: null, hurry: true };
		});
		await hurry(failed);
		await press_join(failed, "Nora");
		await failed.waitForSelector(title("The call could not be started"));
		const devices = await failed.evaluate(() => [...document.querySelectorAll("video")].length);
		ok("a call that cannot start says so", devices === 0);
		await close(failed);
		const absent = await open_join(browser, stand, stand.codes.guest, {}, () => {
			globalThis.fake = { refuses: null, status: 404, hurry: true };
		});
		await hurry(absent);
		await press_join(absent, "Nora");
		await absent.waitForSelector(title("The call could not be started"));
		const said = await absent.textContent("main");
		ok("a room that the media server does not have: the sentence", said.includes("The room is not open at the media server."), said);
		await close(absent);
		// A restart that the media server tells of, and one that is only noticed.
		for (const reason of [3, undefined]) {
			const restarted = await open_call(browser, stand, "guest");
			const [response] = await Promise.all([
				restarted.waitForResponse((one) => one.url().endsWith("/v2/token/join")),
				restarted.evaluate((value) => {
					fake.former = fake.room;
					fake.room.end(value);
				}, reason),
			]);
			await restarted.waitForFunction(() => fake.room !== fake.former && fake.room.localParticipant.sid);
			ok(`after a restart of the media server it joins by itself: ${reason}`, response.ok());
			await close(restarted);
		}
		stand.livekit.stop();
	});

/** A reload, a code for one use, a second tab. */
export const reloads = (browser) =>
	group("reloads of a call", async () => {
		const stand = await make_call("Reloads");
		const once = await stand.api("POST", `/v2/room-codes/room/${stand.room.id}/role/guest`, { max_uses: 1 });
		const page = await open_join(browser, stand, once.code);
		page.on("dialog", (one) => one.accept());
		await press_join(page, "Nora");
		await connected(page);
		const held = await page.evaluate(async () => (await navigator.locks.query()).held.length);
		ok("the call is this tab's", held === 1, held);
		await page.reload();
		await connected(page);
		ok("a reload returns to the call, also with a code for one use", true);
		const on = await page.evaluate(() => fake.room.localParticipant.isCameraEnabled || new Promise((turn) => fake.room.on("LocalTrackPublished", () => turn(fake.room.localParticipant.trackPublications.size > 0))));
		ok("with the devices that were on", on);
		await page.route("**/v2/token/join", (route) =>
			route.fulfill({ status: 429, headers: { "Retry-After": "2" }, json: { code: 429, message: "Too many requests" } }),
		);
		await page.reload();
		await page.waitForSelector(title("Too many attempts from your network"));
		await page.unroute("**/v2/token/join");
		await connected(page);
		ok("after too many requests it returns too", true);
		const kept = await page.evaluate(() => sessionStorage.getItem("call"));
		const second = await page.context().newPage();
		await with_library(second, stand);
		await second.addInitScript((value) => sessionStorage.setItem("call", value), kept);
		await second.goto(page.url());
		await second.waitForSelector(title("This call is already open in another tab"));
		await accessible(second, "a second tab");
		await second.click("button:has-text('Use it here')");
		await connected(second);
		ok("a second tab asks first", true);
		await second.close();
		await stand.api("POST", `/v2/room-codes/code/${once.code}`, { enabled: false });
		await page.reload();
		await page.waitForSelector(title("This link is not active"));
		ok("a reload after the link was disabled says so", true);
		ok("and forgets the call", (await page.evaluate(() => sessionStorage.getItem("call"))) === null);
		await close(page);
		stand.livekit.stop();
	});

/** Devices that cannot be used are one note, and the call goes on. */
export const devices_in_calls = (browser) =>
	group("devices in a call", async () => {
		const stand = await make_call("Devices");
		const denied = await open_call(browser, stand, "guest", {}, () => {
			Object.assign(navigator.mediaDevices ?? {}, { getUserMedia: () => Promise.reject(new DOMException("no", "NotAllowedError")) });
			navigator.permissions.query = async () => ({ state: "denied" });
		});
		await denied.waitForSelector(note("Your browser is blocking the camera and microphone"));
		ok("both blocked are one note", (await denied.locator(".note").count()) === 1);
		ok("the controls show it", (await denied.locator(".alarm").count()) === 2);
		const videos = await denied.locator("video").evaluateAll((all) => all.map((one) => one.hasAttribute("disablepictureinpicture")));
		ok("no browser lays a button on the videos", videos.length > 0 && !videos.includes(false), videos.join());
		await denied.click(control("audio"));
		await denied.waitForSelector(note("Your browser is blocking the microphone."));
		ok("pressing tries again and says what is wrong", true);
		await close(denied);
		const busy = await open_call(browser, stand, "guest", {}, () => {
			const real = navigator.mediaDevices?.getUserMedia.bind(navigator.mediaDevices);
			const refuse = (wish) =>
				wish.video ? Promise.reject(new DOMException("no", "NotReadableError")) : real(wish);
			Object.assign(navigator.mediaDevices ?? {}, { getUserMedia: refuse });
		});
		await busy.waitForSelector(note("Your camera is in use."));
		await busy.evaluate(() => {
			fake.no_screen = "NotAllowedError";
		});
		await busy.click(control("screen"));
		await busy.evaluate(() => {
			fake.no_screen = "NotReadableError";
		});
		await busy.click(control("screen"));
		await busy.waitForSelector(note("The screen could not be shared."));
		ok("closing the browser's question is no error", (await busy.locator(note("could not be shared")).count()) === 1);
		await busy.evaluate(() => fake.room.localParticipant.getTrackPublication("microphone").track.emit("Ended"));
		await busy.waitForSelector(note("Your microphone was disconnected."));
		ok("an unplugged device is told", true);
		await close(busy);
		stand.livekit.stop();
	});

/** Where tiles are, for thousands of windows: none outside, none over another. */
export const grids = (browser) =>
	group("the grid of a call", async () => {
		const stand = await make_call("Grid");
		const page = await open_join(browser, stand, stand.codes.viewer);
		const wrong = await page.evaluate(async () => {
			const main = document.querySelector("script[type=module]").src;
			const { beside, grid } = await import(new URL("../call/grid.js", main).href);
			const found = [];
			const check = (name, places, w, h) => {
				places.forEach((a, i) => {
					if (a.x < 0 || a.y < 0 || a.x + a.width > w + 1 || a.y + a.height > h + 1) found.push(`${name}: ${i} is outside`);
					for (const b of places.slice(i + 1)) {
						const apart = a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
						if (!apart) found.push(`${name}: ${i} is over another`);
					}
				});
			};
			for (let w = 280; w <= 2000; w += 86) {
				for (let h = 200; h <= 1400; h += 75) {
					for (const n of [1, 2, 3, 4, 5, 7, 9, 12, 16, 25, 36, 49]) {
						const plan = grid(n, w, h, 104);
						check(`${n} in ${w} x ${h}`, plan.places, w, plan.scrolls ? Infinity : h);
						if (plan.scrolls && plan.width < 104) found.push(`${n} in ${w} x ${h}: too narrow`);
						const side = beside(n, w, h, 1.6);
						check(`${n} beside in ${w} x ${h}`, [side.main, ...side.places], w, h);
						if (side.left_out + side.places.length !== n) found.push(`${n} beside: somebody is missing`);
					}
				}
			}
			return found;
		});
		ok("no tile is outside or over another", wrong.length === 0, wrong.slice(0, 5).join("; "));
		await close(page);
		const many = await open_call(browser, stand, "guest");
		await many.evaluate(() => {
			for (let i = 1; i <= 60; i++) fake.room.come(`PA_${i}`, `Person ${i}`);
		});
		await many.waitForSelector(".rest:has-text('+13')");
		ok("48 tiles and the number of the others", (await many.locator(".tile").count()) === 48);
		await many.evaluate(() => fake.room.emit("ActiveSpeakersChanged", [fake.room.remoteParticipants.get("PA_60")]));
		await many.waitForSelector(".tile:has-text('Person 60')");
		ok("who speaks without a tile gets one", (await many.locator(".tile").count()) === 48);
		ok("your own stays", (await tiles(many))[0] === "You");
		await close(many);
		const phone = await open_call(browser, stand, "guest", SIZES.phone);
		await phone.evaluate(() => {
			for (let i = 1; i <= 48; i++) fake.room.come(`PA_${i}`, `Person ${i}`);
		});
		await phone.waitForSelector(".scrolls .tile >> nth=48");
		const width = await phone.locator(".tile").first().evaluate((one) => one.offsetWidth);
		ok("on a phone, tiles are at least 104 pixels wide and the grid scrolls", width >= 104, width);
		const slow = await phone.evaluate(() => [...fake.room.remoteParticipants.values()].map((one) => one.getTrackPublication("camera").fps));
		ok("and what the videos cost stays below the limit", slow.every((fps) => fps === 60), slow[0]);
		await close(phone);
		stand.livekit.stop();
	});

/** The call in all sizes, light and dark: axe, touch targets, no sideways scrolling. */
export const views_of_calls = (browser) =>
	group("views of a call", async () => {
		const stand = await make_call("Views of calls");
		const sizes = { ...SIZES, landscape: { ...SIZES.phone, viewport: { width: 740, height: 360 } }, zoomed: { viewport: { width: 640, height: 430 } } };
		for (const [size, options] of Object.entries(sizes)) {
			for (const colorScheme of ["light", "dark"]) {
				const name = `${size}, ${colorScheme}`;
				const page = await open_call(browser, stand, "host", { ...options, colorScheme });
				await accessible(page, `a call alone, ${name}`);
				await page.evaluate(() => {
					for (let i = 1; i <= 6; i++) fake.room.come(`PA_${i}`, `Person ${i}`, i % 2 ? ["microphone", "camera"] : ["microphone"]);
					const one = fake.room.remoteParticipants.get("PA_2");
					Object.assign(one, { metadata: '{"isHandRaised":true}', connectionQuality: "poor" });
					fake.room.emit("ParticipantMetadataChanged");
					fake.room.emit("ActiveSpeakersChanged", [one]);
				});
				await page.waitForSelector(".tile:has-text('Person 2') .mark.weak");
				await accessible(page, `a call, ${name}`);
				const small = await page.evaluate(() =>
					[...document.querySelectorAll("button")]
						.filter((one) => one.checkVisibility() && one.offsetWidth > 0)
						.filter((one) => Math.min(one.offsetWidth, one.offsetHeight) < 24)
						.map((one) => one.outerHTML.slice(0, 90)),
				);
				ok(`targets of 24 px: a call, ${name}`, small.length === 0, small.join("\n"));
				await page.click(control("people"));
				await page.waitForSelector(".person >> nth=6");
				await accessible(page, `the list of a call, ${name}`);
				await page.keyboard.press("Escape");
				await page.click(control("more"));
				await page.waitForSelector(".menu");
				await accessible(page, `the menu of a call, ${name}`);
				await page.keyboard.press("Escape");
				await page.keyboard.press("?");
				await page.waitForSelector(".call-dialog");
				await accessible(page, `the shortcuts of a call, ${name}`);
				await close(page);
			}
		}
		stand.livekit.stop();
	});

/** A call by the keyboard alone. */
export const keyboard_in_calls = (browser) =>
	group("a call by the keyboard", async () => {
		const stand = await make_call("Keyboard");
		const page = await open_call(browser, stand, "host");
		await page.evaluate(() => {
			for (const id of ["PA_1", "PA_2"]) fake.room.come(id, `Person ${id.at(-1)}`);
		});
		await page.waitForSelector(".tile >> nth=2");
		const focused = () => page.evaluate(() => document.activeElement.getAttribute("aria-label") ?? document.activeElement.tagName);
		ok("the first control has the focus", (await focused()) === "Turn microphone off", await focused());
		await page.keyboard.press("ArrowRight");
		await page.keyboard.press("ArrowRight");
		ok("arrows move in the bar", (await focused()) === "Turn camera off", await focused());
		await page.keyboard.press("End");
		ok("End goes to the last control", (await focused()) === "More", await focused());
		await page.keyboard.press("Shift+Tab");
		ok("the stage is one stop", /Options for Person/.test(await focused()), await focused());
		const first = await focused();
		await page.keyboard.press("ArrowRight");
		await page.keyboard.press("ArrowDown");
		await page.keyboard.press("Enter");
		await page.waitForSelector(".menu");
		await page.keyboard.press("Escape");
		ok("a menu gives the focus back", /Options for Person/.test(await focused()), `${first}, ${await focused()}`);
		await page.keyboard.press("p");
		ok("the list takes the focus", (await focused()) === "H2", await focused());
		await page.keyboard.press("Escape");
		ok("and gives it back", (await focused()) === "People, 3", await focused());
		await page.keyboard.press("?");
		await page.waitForSelector(".call-dialog");
		await page.click("#keys-on");
		await page.keyboard.press("Escape");
		await page.keyboard.press("m");
		ok("shortcuts can be turned off", (await page.getAttribute(control("audio"), "aria-label")) === "Turn microphone off");
		await close(page);
		stand.livekit.stop();
	});

/** What the call adds to the page, and how long the page itself takes. */
export const call_budgets = (browser) =>
	group("budgets of the call", async () => {
		const stand = await make_call("Call budgets");
		const page = await open_join(browser, stand, stand.codes.guest);
		const before = await page.evaluate(() => performance.getEntriesByType("resource").filter((one) => one.name.includes("/call") && one.startTime < performance.getEntriesByName("ready")[0].startTime).length);
		ok("the call does not delay the page", before === 0, before);
		const known = knows_role(page);
		await press_join(page, "Nora");
		await connected(page);
		await known;
		const files = await page.evaluate(() =>
			performance
				.getEntriesByType("resource")
				.filter((one) => /\/call\/.*\.js$/.test(one.name))
				.map((one) => one.name),
		);
		// The panel of the chat is loaded when it is opened, or when the page has nothing else to do.
		const own = files.filter((one) => !one.includes("/call/chat/"));
		let sum = 0;
		for (const file of own) {
			const response = await fetch(file, { headers: { "Accept-Encoding": "gzip" } });
			sum += Number(response.headers.get("content-length"));
			await response.arrayBuffer();
		}
		console.log(`call: ${own.length} files, ${sum} bytes`);
		ok("the call's own JavaScript: at most 52 KB", own.length > 10 && sum > 10000 && sum <= 53248, sum);
		await close(page);
		stand.livekit.stop();
	});

/** A client application of the account that wants what LiveKit needs. */
export const forwarding_to_clients = (browser) =>
	group("forwarding with what LiveKit needs", async () => {
		const stand = await make_call("Forwarding");
		const address = `${BASE}/healthz-client?u={join.url}#t={join.token}`;
		program("account", "set", stand.name, `client_url=${address}`);
		const page = await open_join(browser, stand, stand.codes.viewer);
		await press_join(page, "Nora");
		await page.waitForURL(/healthz-client/);
		const to = new URL(page.url());
		ok("the URL of the media server", to.searchParams.get("u") === stand.livekit.url, page.url());
		ok("its token after the #", /^#t=eyJ/.test(to.hash), page.url());
		await close(page);
		program("account", "set", stand.name, "client_url=");
		const missing = await new_page(browser);
		await missing.goto(`${BASE}/join/${stand.codes.viewer}`);
		await missing.waitForSelector(title("Calls are not set up yet"));
		ok("without the library, administrators are told what to do", (await missing.textContent("main")).includes("get-livekit-client"));
		await accessible(missing, "no library");
		await stand.api("POST", "/v2/backends", { name: "gate", type: "janus", url: "wss://janus.example.org/", config: { secret: "s" } });
		await stand.api("PATCH", `/v2/templates/${stand.template.id}/settings`, { backend: "gate" });
		await missing.goto(`${BASE}/join/${stand.codes.viewer}`);
		await missing.waitForSelector(title("Calls are not set up yet"));
		const help = await missing.textContent("main");
		ok("nor is there a call with a server that has no page", help.includes("the console says what to do"), help);
		await close(missing);
		const nobody = { maxPeerCount: -1 };
		await stand.api("PATCH", `/v2/templates/${stand.template.id}/settings`, { backend: "studio" });
		await stand.api("PATCH", `/v2/templates/${stand.template.id}/roles/viewer`, nobody);
		const shut = await open_join(browser, stand, stand.codes.viewer);
		await press_join(shut, "Nora");
		await shut.waitForSelector(title("Nobody can join with this invitation right now"));
		ok("a role that admits nobody", true);
		await close(shut);
		const admin = await new_page(browser);
		await sign_in(admin, `/console/rooms/${stand.room.id}`, stand.key, stand.secret);
		await admin.waitForSelector(".notice:has-text('get-livekit-client')");
		await admin.click(`[aria-label='Actions for code ${stand.codes.guest}']`);
		await admin.click(":popover-open [role=menuitem]:has-text('For developers')");
		await admin.click("dialog[open] button:text-is('Exchange code')");
		await admin.waitForSelector("dialog[open] pre:has-text('eyJ')");
		ok("the console shows developers what a client receives", true);
		await accessible(admin, "for developers");
		await admin.context().close();
		stand.livekit.stop();
	});
