// What hosts do in a call: everybody's microphones, raised hands, the lock, who knocks and who was denied; and what
// the others see of it. The test answers in place of the service what it has for hosts.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { close, connected, control, enter_call, focused, make_call, note, open_join, press_join, says, title } from "./call.js";
import { Door } from "./door.js";
import { SIZES, accessible, body_of, button, group, ok } from "./stand.js";

const refusal = (status, message = "refused") => ({ status, json: { code: status, message, details: [] } });
/** What is said of a request that was refused, by its status. */
const REFUSALS = [
	[403, "Your role does not allow this any more."],
	[502, "That is not possible right now. Try again."],
];
const heard = (page, text) => page.waitForFunction((wanted) => document.getElementById("announcer").textContent.includes(wanted), text);
const texts = async (page, selector) => (await page.locator(selector).allTextContents()).join();

/** The service for a room, as far as it is for hosts. */
export class House extends Door {
	held = [];
	holds = [];
	/** What was asked for: the end of the path, and the body. */
	asked = [];
	/** What the next requests are refused with. */
	refusal = null;
	muted = { muted: 3, missed: 0 };
	/** Resolved when answers may go out. */
	gate = Promise.resolve();

	async serve(page) {
		await this.report(page);
		await page.route("**/me", async (route) => {
			const response = await route.fetch();
			if (!response.ok()) return route.fulfill({ response });
			const me = await response.json();
			for (const role of me.roles) role.host = role.name === "host";
			me.role.publishParams.allowed = me.role.publishParams.allowed.filter((one) => !this.held.includes(one));
			const holds = me.role.permissions.mute ? { holds: this.holds } : {};
			return route.fulfill({ response, json: { ...me, held: this.held, ...holds, door: this.state } });
		});
		await page.route(/\/v2\/active-rooms\/\w+\/(mute|door|lower-hands|peers\/\w+)$/, async (route) => {
			const path = /\w+\/([\w/-]+)$/.exec(route.request().url().split("active-rooms/")[1])[1];
			const body = body_of(route.request());
			this.asked.push([path, body]);
			await this.gate;
			if (this.refusal) return route.fulfill(this.refusal);
			if (path === "mute") {
				if (body.hold !== undefined) this.holds = body.hold ? [{ type: body.type, ...(body.role && { role: body.role }) }] : [];
				return route.fulfill({ json: { message: "mute request submitted", ...this.muted } });
			}
			if (path === "door") {
				if (body.state === "locked") this.was = this.state;
				this.state = body.state;
				return route.fulfill({ json: { state: this.state, ...(this.state === "locked" && { was: this.was }) } });
			}
			return route.fulfill({ json: { message: "hands are lowered" } });
		});
	}
	last = () => JSON.stringify(this.asked.at(-1));
}

/** Opens a call with a house. @returns {Promise<[any, House]>} */
async function enter(browser, stand, role = "host", options = {}, house = new House(), prepare = () => {}) {
	const page = await open_join(browser, stand, stand.codes[role], options, prepare, (one) => house.serve(one));
	// Whoever joins before the microphone has started joins without it.
	await page.waitForSelector("button.round:has([href$='#mic'])");
	await enter_call(page, role);
	return [page, house];
}
/** People come: `[id, name, role, when the hand went up]`. */
const come = (page, people) =>
	page.evaluate((all) => {
		for (const [sid, name, role = "guest", raised = 0] of all) {
			const attributes = { role, ...(raised && { hand: String(raised) }) };
			fake.room.come(sid, name, ["microphone"], { attributes, metadata: raised ? '{"isHandRaised":true}' : "" });
		}
	}, people);
const lower = (page, sid) =>
	page.evaluate((id) => {
		const one = fake.room.remoteParticipants.get(id);
		one.metadata = "{}";
		delete one.attributes.hand;
		fake.room.emit("ParticipantMetadataChanged");
	}, sid);
const open_list = async (page) => {
	await page.click(control("people"));
	await page.waitForSelector(".people .person");
};

/** The mark of hosts, the groups and their order, the search. */
export const lists_of_hosts = (browser) =>
	group("the list of hosts", async () => {
		const stand = await make_call("Lists of hosts");
		const [page] = await enter(browser, stand);
		const names = () => texts(page, ".people-rows .person-name");
		await come(page, [
			["PA_1", "Eltern 10"],
			["PA_2", "Eltern 2"],
			["PA_3", "Ben", "host"],
		]);
		await page.waitForSelector(".tile:has-text('Ben') .is-host:visible");
		ok("hosts have their mark at the tile", (await page.locator(".tile .is-host:visible").count()) === 2);
		ok("and it is read", (await page.textContent(".tile:has-text('Ben') .tag > .off-screen")).startsWith(", host"));
		await open_list(page);
		ok("yourself, then by name with numbers in order", (await names()) === "The host (you),Ben,Eltern 2,Eltern 10", await names());
		const roles = await texts(page, ".person-role");
		ok("and in the list, before the role", roles === "host, host,host, host,guest,guest", roles);
		ok("few people are not searched", !(await page.isVisible(".people-search")));
		await come(page, Array.from({ length: 6 }, (_, i) => [`PB_${i}`, `Person ${i}`]));
		await page.waitForSelector(".people-search:visible");
		await page.fill(".people-search", "ELTERN");
		ok("ten are searched", (await names()) === "Eltern 2,Eltern 10", await names());
		await page.fill(".people-search", "zz");
		ok("nobody is found", (await texts(page, ".nobody")) === "Nobody has this name.");
		await accessible(page, "a search that finds nobody");
		await come(page, [["PC_1", "Anna (2)"]]);
		await page.fill(".people-search", "anna");
		ok("the number of a name that is taken is no initial", (await texts(page, ".people-rows .face")) === "A", await texts(page, ".people-rows .face"));
		await close(page);
		const [guest] = await enter(browser, stand, "guest");
		await come(guest, [["PA_3", "Ben", "host"]]);
		await open_list(guest);
		await guest.waitForSelector(".person:has-text('Ben') .host-mark");
		ok("guests see who is a host", true);
		ok("and have none of their controls", (await guest.locator(".tools, [aria-label='Room options']").count()) === 0);
		const loaded = await guest.evaluate(() => performance.getEntriesByType("resource").filter((one) => /call\/(hosts|door|lock)\.js/.test(one.name)).length);
		ok("nor are they loaded", loaded === 0, loaded);
		await close(guest);
		stand.livekit.stop();
	});

/** Raised hands in the order in which they went up, also for who comes later; lowered one by one or all at once. */
export const raised_hands = (browser) =>
	group("raised hands", async () => {
		const stand = await make_call("Raised hands");
		const hands = [
			["PA_1", "Ada", "guest", 3000],
			["PA_2", "Ben", "guest", 1000],
			["PA_3", "Emil", "guest", 2000],
			["PA_4", "Kofi"],
		];
		const [page, house] = await enter(browser, stand);
		await come(page, hands);
		await says(page, control("people"), "People, 5, 3 raised hands");
		ok("the number is on the control", (await page.getAttribute(".count.hands", "data-count")) === "3");
		await page.waitForSelector(note("3 people raised a hand."));
		const twice = await page.textContent("#announcer");
		ok("a note of a hand is not announced besides", !twice.includes("raised a hand"), twice);
		await open_list(page);
		const raised = () => texts(page, "section:has(#hands-title) .person-name");
		ok("in the order of time", (await raised()) === "Ben,Emil,Ada", await raised());
		const others = await texts(page, "section:not(:has(#hands-title)) > .people-rows .person-name");
		ok("they are not listed again", others === "The host (you),Kofi", others);
		await accessible(page, "raised hands, a host");
		// Arrows go from hand to hand; all hands are one stop of the Tab key, all options another.
		await page.focus("button.hand-number");
		ok("a hand has its number", (await focused(page)) === "Lower hand, Ben, hand raised, number 1", await focused(page));
		await page.keyboard.press("ArrowDown");
		ok("the next one by an arrow", (await focused(page)).startsWith("Lower hand, Emil"), await focused(page));
		const stops = await page.locator(".people-rows button:visible").evaluateAll((all) => all.filter((one) => one.tabIndex === 0).length);
		ok("two stops of the Tab key", stops === 2, stops);
		await page.keyboard.press("Enter");
		await page.waitForSelector(note("1 hand was lowered."));
		ok("one hand is lowered", house.last() === '["peers/PA_3",{"hand":false}]', house.last());
		await lower(page, "PA_3");
		await page.waitForSelector("#hands-title:text-is('Raised hands (2)')");
		ok("the focus goes to the next hand", (await focused(page)).startsWith("Lower hand, Ben"), await focused(page));
		await page.click(button("Lower all"));
		await page.waitForSelector(note("2 hands were lowered."));
		ok("all hands are lowered", house.last() === '["lower-hands",{}]', house.last());
		for (const [status, said] of REFUSALS) {
			house.refusal = refusal(status);
			await page.click(button("Lower all"));
			await page.waitForSelector(note(said));
			ok(`refused with ${status}`, true);
		}
		house.refusal = null;
		await lower(page, "PA_1");
		await page.waitForSelector(button("Lower all"), { state: "hidden" });
		ok("one hand needs no Lower all", true);
		await lower(page, "PA_2");
		await page.waitForSelector("#hands-title", { state: "hidden" });
		await says(page, control("people"), "People, 5");
		await close(page);

		const [guest, own] = await enter(browser, stand, "guest");
		await come(guest, hands);
		await open_list(guest);
		await guest.waitForSelector("span.hand-number:visible");
		const numbers = await texts(guest, "span.hand-number > span:not(.off-screen)");
		ok("a guest who comes later sees the order", numbers === "1,2,3", numbers);
		ok("and lowers nobody", (await guest.locator("button.hand-number:visible").count()) === 0 && !(await guest.isVisible(button("Lower all"))));
		ok("nor is the number of hands on the control", (await guest.locator(".count.hands").count()) === 0);
		await accessible(guest, "raised hands, a guest");
		const set_own = (up) =>
			guest.evaluate((is_up) => {
				fake.room.localParticipant.metadata = is_up ? '{"isHandRaised":true}' : "{}";
				fake.room.emit("ParticipantMetadataChanged");
			}, up);
		await guest.click(control("hand"));
		await says(guest, control("hand"), "Lower hand");
		await guest.evaluate(() => fake.room.emit("ParticipantNameChanged"));
		await guest.waitForTimeout(80);
		ok("a hand that the media server does not know yet is up", (await guest.getAttribute(control("hand"), "aria-label")) === "Lower hand");
		await set_own(true);
		await guest.waitForSelector(".tile.me .mark.hand");
		await guest.click(control("hand"));
		await set_own(false);
		await guest.waitForSelector(".tile.me .mark.hand", { state: "detached" });
		ok("who lowers their own hand is told nothing of a host", (await guest.locator(note("A host lowered your hand.")).count()) === 0 && own.asked.length === 2);
		// Twice in a row, before the media server tells of the first.
		await guest.click(control("hand"));
		await heard(guest, "Hand raised.");
		await guest.click(control("hand"));
		await heard(guest, "Hand lowered.");
		await set_own(true);
		await guest.waitForSelector(".tile.me .mark.hand");
		await set_own(false);
		await guest.waitForSelector(".tile.me .mark.hand", { state: "detached" });
		const label = await guest.getAttribute(control("hand"), "aria-label");
		ok("a hand that was raised and lowered at once is down", label === "Raise hand" && (await guest.locator(note("A host lowered your hand.")).count()) === 0, label);
		await guest.click(control("hand"));
		await heard(guest, "Hand raised.");
		await set_own(true);
		await guest.waitForSelector(".tile.me .mark.hand");
		await set_own(false);
		await guest.waitForSelector(note("A host lowered your hand."));
		await says(guest, control("hand"), "Raise hand");
		ok("whose hand a host lowers reads it", true);
		await close(guest);
		stand.livekit.stop();
	});

/** Mute all: at once, with what came of it; kept muted until it is allowed again. */
export const muting_all = (browser) =>
	group("muting all", async () => {
		const stand = await make_call("Muting all");
		const [page, house] = await enter(browser, stand);
		await come(page, [
			["PA_1", "Nora"],
			["PA_2", "Ben", "speaker"],
		]);
		await open_list(page);
		await accessible(page, "the tools of a host");
		let open_gate = () => {};
		house.gate = new Promise((done) => (open_gate = done));
		await page.click(button("Mute all"));
		await page.waitForSelector(button("Muting…"));
		await page.click(button("Muting…"), { force: true });
		open_gate();
		await page.waitForSelector(note("3 people were muted."));
		ok("it takes no second press", house.asked.length === 1 && house.last() === '["mute",{"type":"audio"}]', house.last());
		for (const [answer, said, act] of [
			[{ muted: 1, missed: 0 }, "1 person was muted.", "Keep muted"],
			[{ muted: 0, missed: 0 }, "Everyone else is muted already.", null],
			[{ muted: 98, missed: 2 }, "98 of 100 people were muted. The others could not be reached.", "Try again"],
		]) {
			house.muted = answer;
			await page.click(button("Mute all"));
			await page.waitForSelector(note(said));
			const acts = await texts(page, `${note(said)} button.small`);
			ok(`muted: ${said}`, acts === (act ?? ""), acts);
		}
		for (const [status, said] of REFUSALS) {
			house.refusal = refusal(status);
			await page.click(button("Mute all"));
			await page.waitForSelector(note(said));
			ok(`refused with ${status}`, true);
		}
		house.refusal = null;
		house.muted = { muted: 2, missed: 0 };
		await page.click("[aria-label='Choose whom to mute']");
		const entries = await texts(page, ".menu-item");
		ok("the menu: roles inside, and whether they can unmute", entries === "Mute everyone with the role guest,Mute everyone with the role speaker,People can unmute themselves", entries);
		await accessible(page, "the menu of Mute all");
		await page.click(".menu-item:has-text('role speaker')");
		await page.waitForSelector(note("2 people were muted."));
		ok("those of a role", house.last() === '["mute",{"type":"audio","role":"speaker"}]', house.last());

		await page.keyboard.press("Escape");
		await page.keyboard.press("Shift+M");
		await page.waitForSelector(note("2 people were muted."));
		ok("Shift M anywhere", house.last() === '["mute",{"type":"audio"}]', house.last());
		const asked = house.asked.length;
		await page.evaluate(() => document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "M", bubbles: true })));
		await says(page, control("audio"), "Turn microphone on");
		ok("with Caps Lock alone it is the own microphone", house.asked.length === asked);
		const sent = page.waitForResponse((one) => one.url().endsWith("/mute"));
		await page.evaluate(() => document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "m", shiftKey: true, bubbles: true })));
		await sent;
		ok("and with both it is Shift M", house.asked.length === asked + 1, house.asked.length);
		await page.waitForSelector(note("2 people were muted."));
		await page.click(button("Keep muted"));
		await page.waitForSelector(note("People cannot unmute themselves."));
		ok("kept muted", house.last() === '["mute",{"type":"audio","hold":true}]', house.last());
		await open_list(page);
		const line = ".panel-note:has-text('People cannot unmute themselves.')";
		await page.waitForSelector(line);
		await accessible(page, "people who cannot unmute themselves");
		await page.click(button("Mute all"));
		await page.waitForSelector(note("2 people were muted."));
		ok("who is kept muted is not offered again", (await page.locator(button("Keep muted")).count()) === 0);
		await page.click(`${line} >> ${button("Allow")}`);
		await page.waitForSelector(line, { state: "hidden" });
		ok("allowed again", house.last() === '["mute",{"type":"audio","hold":false}]', house.last());
		await page.click("[aria-label='Choose whom to mute']");
		const tick = () => page.getAttribute("[role=menuitemcheckbox]", "aria-checked");
		ok("the switch is on", (await tick()) === "true");
		await page.click("[role=menuitemcheckbox]");
		await page.waitForSelector(line);
		ok("and holds when it is turned off", house.last() === '["mute",{"type":"audio","hold":true}]', house.last());
		house.holds = [];
		await page.evaluate(() => fake.room.say("anteroom", { type: "hold" }));
		await page.waitForSelector(line, { state: "hidden" });
		await heard(page, "People can unmute themselves again.");
		ok("what another host does is shown and heard", true);
		await page.keyboard.press("?");
		await page.waitForSelector(".keys");
		const keys = await texts(page, ".keys dt");
		ok("the help has the keys of hosts", keys.includes("Shift M,Shift L,?"), keys);
		await close(page);

		const [again] = await enter(browser, stand, "host", {}, Object.assign(new House(), { holds: [{ type: "audio", role: "guest" }] }));
		await open_list(again);
		await again.waitForSelector(line);
		ok("a second host and a reload know", true);
		await close(again);
		const [guest, other] = await enter(browser, stand, "guest");
		await guest.keyboard.press("Shift+M");
		await guest.keyboard.press("Shift+L");
		await guest.keyboard.press("?");
		ok("guests have no such keys", !(await texts(guest, ".keys dt")).includes("Shift") && other.asked.length === 0);
		ok("nor does Shift M turn their microphone off", (await guest.getAttribute(control("audio"), "aria-label")) === "Turn microphone off");
		await close(guest);
		stand.livekit.stop();
	});

/** The microphone that a host has turned off for all keeps its control; a camera goes. What is published under a wrong source is not taken. */
export const held_devices = (browser) =>
	group("held devices", async () => {
		const stand = await make_call("Held devices");
		const [page, house] = await enter(browser, stand, "guest");
		const named = "Microphone, turned off by a host";
		/** What the media server tells when the service takes a source or gives it back. */
		const allow = (held) => {
			house.held = held;
			return page.evaluate((gone) => {
				const me = fake.room.localParticipant;
				if (gone.includes("audio")) {
					me.mute("microphone", true);
					me.trackPublications.delete("microphone");
					fake.room.emit("LocalTrackUnpublished");
				}
				fake.room.emit("ParticipantPermissionsChanged", null, me);
			}, held);
		};
		await says(page, control("audio"), "Turn microphone off");
		await allow(["audio"]);
		await says(page, control("audio"), named);
		await heard(page, named);
		ok("no note", (await page.locator(".note").count()) === 0, await texts(page, ".note"));
		ok("with a lock", await page.isVisible(`${control("audio")} .lock-mark`));
		await accessible(page, "a held microphone");
		for (const [how, press] of [
			["the control", () => page.click(control("audio"))],
			["the key", () => page.keyboard.press("m")],
		]) {
			await press();
			await page.waitForSelector(note("A host has turned off all microphones. Raise your hand to speak."));
			ok(`it says why, by ${how}`, true);
			await page.click(".note-close");
		}
		await page.evaluate(() => document.activeElement.blur());
		await page.keyboard.down(" ");
		await page.waitForTimeout(100);
		await page.keyboard.up(" ");
		ok("the space bar does nothing", !(await page.evaluate(() => fake.room.localParticipant.isMicrophoneEnabled)) && (await page.locator(".note").count()) === 0);
		await page.click(control("audio"));
		await page.click(`.note >> ${button("Raise hand")}`);
		await says(page, control("hand"), "Lower hand");
		ok("the hand is raised from there", house.asked.at(-1)[1].metadata === '{"isHandRaised":true}', house.last());
		await page.click(control("audio"));
		await page.waitForSelector(note("A host has turned off all microphones."));
		ok("and once it is up, not again", (await page.locator(`.note >> ${button("Raise hand")}`).count()) === 0);
		await allow([]);
		await says(page, control("audio"), "Turn microphone on");
		await heard(page, "Turn microphone on");
		ok("when it ends it is off, without a note", (await page.locator(".note").count()) === 0, await texts(page, ".note"));
		ok("and stays off after a reload", (await page.evaluate(() => JSON.parse(sessionStorage.getItem("call")).audio)) === false);
		await page.click(control("audio"));
		await says(page, control("audio"), "Turn microphone off");
		ok("until it is turned on", true);
		await allow(["video"]);
		await page.waitForSelector(control("video"), { state: "hidden" });
		ok("a held camera is as one that the role does not have", true);

		for (const [name, source, kind, wanted] of [
			["a microphone", "microphone", "audio", true],
			["sound as a camera", "camera", "audio", false],
			["sound as a screen", "screen_share", "audio", false],
			["video as a microphone", "microphone", "video", false],
			["video as the sound of a screen", "screen_share_audio", "video", false],
			["a camera", "camera", "video", true],
			["a screen", "screen_share", "video", true],
			["the sound of a screen", "screen_share_audio", "audio", true],
			["a source that is not known", "unknown", "audio", true],
		]) {
			const [is_desired, mic] = await page.evaluate(
				([from, type]) => {
					const one = fake.room.come("PA_1", "Nora", []);
					const publication = one.add(from);
					Object.assign(publication, { kind: type, isDesired: true });
					fake.room.emit("TrackPublished", publication, one);
					return [publication.isDesired];
				},
				[source, kind],
			);
			ok(`taken or not: ${name}`, is_desired === wanted, `${is_desired} ${mic}`);
			await page.evaluate(() => fake.room.go("PA_1"));
		}
		await close(page);
		// Whoever joins meanwhile, with a microphone that is on.
		const all_held = Object.assign(new House(), { held: ["audio"] });
		const [late] = await enter(browser, stand, "guest", {}, all_held, () => (globalThis.fake = { held: ["microphone"] }));
		await says(late, control("audio"), named);
		const { tracks, notes } = await late.evaluate(() => ({ tracks: [...fake.room.localParticipant.trackPublications.keys()].join(), notes: document.querySelectorAll(".note").length }));
		ok("who joins meanwhile sends no sound, and no note says that the microphone is broken", tracks === "camera" && notes === 0, `${tracks} ${await texts(late, ".note")}`);
		await close(late);
		stand.livekit.stop();
	});

/** The lock, and who gets in by a link. */
export const locking = (browser) =>
	group("the lock", async () => {
		const stand = await make_call("Locking");
		const [page, house] = await enter(browser, stand);
		const is_locked = () => page.isVisible(".call-lock");
		const line = ".panel-note:has-text('The room is locked. Nobody else can join.')";
		await open_list(page);
		for (const before of [null, "ask", "open"]) {
			house.state = before;
			await page.evaluate(() => fake.room.say("anteroom", { type: "door", state: "x" }));
			await page.waitForResponse((one) => one.url().endsWith("/tickets") && one.ok()).catch(() => {});
			await page.click("[aria-label='Lock room']");
			await page.waitForSelector(note("Room locked."));
			ok(`locked: ${before}`, house.last() === '["door",{"state":"locked"}]' && (await is_locked()) && (await page.isVisible(line)), house.last());
			await page.click("[aria-label='Unlock room']");
			await page.waitForSelector(note("Room unlocked."));
			ok(`unlocked to what it was: ${before}`, house.last() === `["door",{"state":${JSON.stringify(before)}}]` && !(await is_locked()), house.last());
		}
		house.state = null;
		await page.evaluate(() => fake.room.say("anteroom", { type: "door", state: null }));
		await page.waitForResponse((one) => one.url().endsWith("/tickets"));
		for (const [entry, state, said] of [
			["Join at once", "open", "New people now join at once."],
			["Wait until a host admits them", "ask", "New people now wait to be admitted."],
			["Cannot join (room locked)", "locked", "Room locked."],
			["Join as their role says", null, "New people now join as their role says."],
		]) {
			await page.click("[aria-label='Room options']");
			if (state === "open") await accessible(page, "the options of a room");
			await page.click(`.menu-item:has-text('${entry}')`);
			await page.waitForSelector(note(said));
			ok(`the door: ${entry}`, house.last() === JSON.stringify(["door", { state }]), house.last());
			await page.click("[aria-label='Room options']");
			ok(`it is chosen: ${entry}`, (await texts(page, ".menu-item[aria-checked=true]")) === entry);
			await page.keyboard.press("Escape");
		}
		await page.click(".people [aria-label=Close]");
		await page.keyboard.press("Shift+L");
		await page.waitForSelector(".call-lock:visible");
		ok("Shift L anywhere", house.last() === '["door",{"state":"locked"}]', house.last());
		await page.waitForSelector(note("Room locked."));
		await accessible(page, "a locked room");
		Object.assign(house, { state: "ask", was: null });
		await page.evaluate(() => fake.room.say("anteroom", { type: "door", state: "ask" }));
		await page.waitForSelector(".call-lock", { state: "hidden" });
		await heard(page, "Room unlocked.");
		ok("what another host does is shown and heard", true);
		await open_list(page);
		for (const [status, said] of REFUSALS) {
			house.refusal = refusal(status);
			await page.click("[aria-label='Lock room']");
			await page.waitForSelector(note(said));
			ok(`refused with ${status}`, !(await is_locked()));
		}
		await close(page);
		stand.livekit.stop();
	});

/** Who knocks is admitted in the note; who was denied is admitted after all. */
export const notes_at_the_door = (browser) =>
	group("notes at the door", async () => {
		const stand = await make_call("Notes at the door");
		const [page, house] = await enter(browser, stand);
		const knock = async (...names) => {
			for (const name of names) house.add(name);
			await page.evaluate(() => fake.room.say("anteroom", { type: "waiting", count: 1 }));
		};
		await knock("Lukas");
		await page.waitForSelector(note("Lukas is waiting to join."));
		ok("the note has the answer", (await texts(page, ".note button.small")) === "Admit,Show");
		await accessible(page, "a note that somebody waits");
		await come(page, [1, 2, 3, 4].map((i) => [`PA_${i}`, `Person ${i}`, "guest", i]));
		await page.waitForSelector(note("4 people raised a hand."));
		await page.evaluate(() => [1, 2, 3].forEach((i) => fake.room.say("notice", `Notice ${i}`)));
		await page.waitForSelector(note("Notice 3"));
		ok("it stays until it is decided, whatever else happens", await page.isVisible(note("Lukas is waiting to join.")));
		await page.click(`${note("Lukas is waiting")} >> ${button("Admit")}`);
		await page.waitForSelector(note("Lukas was admitted."));
		ok("admitted in the note", house.decisions.at(-1).state === "admitted", JSON.stringify(house.decisions));
		// A double press does not admit who comes next.
		await knock("Hana", "Piotr");
		await page.waitForSelector(note("2 people are waiting to join."));
		await knock("Olga");
		await page.waitForSelector(note("3 people are waiting to join."));
		const before = house.decisions.length;
		await page.click(`.note >> ${button("Admit all")}`, { force: true });
		ok("a note that has just changed takes no press", house.decisions.length === before && (await page.isVisible(note("3 people are waiting"))));
		// Somebody knocks of whom the note does not know yet.
		house.add("Quinn");
		await page.click(`.note >> ${button("Admit all")}`);
		await page.waitForSelector(note("3 people were admitted."));
		const { admit } = house.decisions.at(-1);
		ok("Admit all admits those whom the note has counted", admit.length === 3 && house.all().find((one) => one.name === "Quinn").state === "waiting", JSON.stringify(admit));
		await page.waitForSelector(note("Quinn is waiting to join."));
		await page.click(`.note >> ${button("Show")}`);
		await page.waitForSelector("[aria-label='Deny Quinn']");
		await page.click("[aria-label='Deny Quinn']");
		const denied = note("Quinn was not admitted.");
		await page.waitForSelector(denied);
		await page.waitForSelector("#denied-title:text-is('Denied (1)')");
		ok("and for how long", (await texts(page, "section:has(#denied-title) .person-role")) === "can ask again in 10 min");
		await accessible(page, "somebody who was denied");
		await page.click(`${denied} >> ${button("Admit after all")}`);
		await page.waitForSelector(note("Quinn was admitted."));
		await page.waitForSelector("#denied-title", { state: "hidden" });
		ok("a denial is taken back in the note", house.decisions.at(-1).state === "admitted");
		house.lasts = 240000;
		await knock("Tom");
		await page.click("[aria-label='Deny Tom']");
		await page.waitForSelector("section:has(#denied-title) .person-role:text-is('can ask again in 4 min')");
		await page.click("[aria-label='Admit Tom after all']");
		await page.waitForSelector(note("Tom was admitted."));
		ok("and in the list", house.all().find((one) => one.name === "Tom").state === "admitted");
		await page.keyboard.press("Escape");
		await knock(...Array.from({ length: 123 }, (_, i) => `Guest ${i}`));
		await page.waitForSelector(note("123 people are waiting to join."));
		await page.click(`.note >> ${button("Show")}`);
		ok("over 100: the first are named", (await texts(page, ".waiting-more")) === "and 23 more" && (await page.locator(".waiting-list .person").count()) === 100);
		await page.click(`.people >> ${button("Admit all")}`);
		await page.waitForSelector(note("123 people were admitted."));
		ok("and all are admitted", house.decisions.at(-1).admit === "all");
		await close(page);
		stand.livekit.stop();
	});

/** The page of somebody who was denied goes on to ask until the denial ends. */
export const denials_taken_back = (browser) =>
	group("denials taken back", async () => {
		const stand = await make_call("Denials taken back");
		const knock = async (door) => {
			const page = await open_join(browser, stand, stand.codes.guest, {}, () => {}, (one) => door.answer(one));
			await page.waitForSelector(button("Ask to join"));
			await press_join(page, "Nora Fuchs");
			await page.waitForSelector(title("Waiting to be let in"));
			door.decide("denied", "Not yet.");
			await page.waitForSelector(title("You were not let in"));
			return page;
		};
		/** Makes the page ask at once, again and again. */
		const hurry = (page) => page.evaluate(() => void setInterval(() => dispatchEvent(new Event("online")), 50));
		const door = new Door();
		const page = await knock(door);
		const said = await page.textContent("main");
		ok("what happens next", said.includes("Not yet.") && said.includes("If the host changes their mind, you join from this page automatically."), said);
		ok("nothing is filmed", await page.evaluate(() => document.querySelectorAll("video").length === 0));
		await accessible(page, "denied, with the page open");
		await page.reload();
		await page.waitForSelector(title("You were not let in"));
		ok("a reload goes on", door.knocks === 1 && (await page.textContent("main")).includes("Not yet."), door.knocks);
		const id = door.all()[0].id;
		door.decide("admitted", "", [id]);
		await hurry(page);
		await connected(page);
		const { audio, video } = await page.evaluate(() => ({ audio: fake.room.localParticipant.isMicrophoneEnabled, video: fake.room.localParticipant.isCameraEnabled }));
		ok("taken back: in the call, with the devices off", !audio && !video, `${audio} ${video}`);
		ok("and nobody waits in this tab", (await page.evaluate(() => sessionStorage.getItem("waiting"))) === null);
		await close(page);

		const other = new Door();
		const late = await knock(other);
		other.away = 503;
		await hurry(late);
		await late.waitForTimeout(200);
		ok("the service is away: it goes on", await late.isVisible(title("You were not let in")));
		other.away = 0;
		other.lose();
		await late.waitForSelector("text=You can ask to join again now.");
		ok("the denial is over: no knock by itself", other.knocks === 1, other.knocks);
		await accessible(late, "a denial that is over");
		await late.click(button("Ask to join"));
		await late.waitForSelector(".join-form");
		await press_join(late, "Nora Fuchs");
		await late.waitForSelector(title("Waiting to be let in"));
		ok("and can be asked again", other.knocks === 2, other.knocks);
		await close(late);
		stand.livekit.stop();
	});

/** The list of hosts and a held microphone in all sizes, light and dark. */
export const views_of_hosts = (browser) =>
	group("views of hosts", async () => {
		const stand = await make_call("Views of hosts");
		const sizes = { ...SIZES, enlarged: { viewport: { width: 320, height: 256 } } };
		for (const [size, options] of Object.entries(sizes)) {
			for (const colorScheme of ["light", "dark"]) {
				const house = Object.assign(new House(), { state: "locked", was: null, holds: [{ type: "audio" }] });
				house.add("Lukas");
				house.add("Olga");
				house.decide("denied", "", [house.all()[1].id]);
				const [page] = await enter(browser, stand, "host", { ...options, colorScheme }, house);
				await come(page, [
					["PA_1", "Ada", "guest", 1000],
					["PA_2", "Ben", "guest", 2000],
					...Array.from({ length: 9 }, (_, i) => [`PB_${i}`, `Person ${i}`]),
				]);
				await page.waitForSelector(note("Lukas is waiting to join."));
				await accessible(page, `a note of who waits, ${size}, ${colorScheme}`);
				await page.click(`.note >> ${button("Show")}`);
				await page.waitForSelector("#denied-title:visible");
				await accessible(page, `all groups of the list, ${size}, ${colorScheme}`);
				if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/list-${size}-${colorScheme}.png` });
				const small = await page.locator(".people button:visible").evaluateAll((all) => all.filter((one) => Math.min(one.offsetWidth, one.offsetHeight) < 24).length);
				ok(`no target is too small, ${size}`, small === 0, small);
				await close(page);
				const [guest] = await enter(browser, stand, "guest", { ...options, colorScheme }, Object.assign(new House(), { held: ["audio"] }));
				await says(guest, control("audio"), "Microphone, turned off by a host");
				await guest.click(control("audio"));
				await accessible(guest, `a held microphone, ${size}, ${colorScheme}`);
				if (process.env.SHOTS) await guest.screenshot({ path: `${process.env.SHOTS}/held-${size}-${colorScheme}.png` });
				await close(guest);
			}
		}
		stand.livekit.stop();
	});
