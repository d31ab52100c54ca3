// The door of a call: people who wait on the join page, and those inside who let them in.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { close, connected, control, make_call, note, open_call, open_join, press_join, says, title } from "./call.js";
import { BASE, SIZES, accessible, body_of, button, group, new_page, ok, sign_in, stop_service } from "./stand.js";

const waiting = title("Waiting to be let in");

const LATE = 20000;

/** Waits until something holds outside the page. */
async function until(page, holds) {
	const end = Date.now() + LATE;
	while (!holds()) {
		if (Date.now() > end) throw new Error(`not in time: ${holds}`);
		await page.waitForTimeout(20);
	}
}
const answered = (page) => page.waitForResponse((one) => /\/v2\/tickets\//.test(one.url()));

const error = (status, message, details = []) => ({ status, json: { code: status, message, details } });

/** The door of a room, as the service has it. */
export class Door {
	asks = true;
	/** What a knock is refused with, and the status of all answers while the service is away. */
	refusal = null;
	away = 0;
	retry_after = 0.2;
	knocks = 0;
	decisions = [];
	/** The door of the room, and what it was before it was locked. */
	state = null;
	was = null;
	/** What it was set to. */
	states = [];
	/** Milliseconds that a denial holds. */
	lasts = 600000;
	reads = [];
	#tickets = new Map();

	add(name, code = null) {
		const ticket = `${this.#tickets.size}`.padStart(43, "t");
		const id = `${this.#tickets.size}`.padStart(24, "0");
		this.#tickets.set(ticket, { id, name, code, user_id: "", role: "guest", since: "2026-11-23T09:00:00Z", state: "waiting" });
		return ticket;
	}
	all = () => [...this.#tickets.values()];
	#waiting = () => this.all().filter((one) => one.state === "waiting");
	lose(name) {
		for (const [ticket, one] of this.#tickets) if (!name || one.name === name) this.#tickets.delete(ticket);
	}
	decide(state, reason = "", ids = null) {
		for (const one of this.all()) {
			const is_meant = one.state === "waiting" ? !ids || ids.includes(one.id) : ids?.includes(one.id);
			if (is_meant) Object.assign(one, { state, reason, until: Date.now() + this.lasts });
		}
	}

	/** Answers the requests of a guest. */
	async answer(page) {
		await page.route("**/v2/join/*", async (route) => {
			const response = await route.fetch();
			const json = await response.json();
			await route.fulfill({ response, json: this.asks ? { ...json, admission: "ask" } : json });
		});
		await page.route("**/v2/token", (route) => {
			const { name, code, wait } = body_of(route.request());
			if (this.away) return route.fulfill(error(this.away, "Service unavailable"));
			if (this.refusal) return route.fulfill(error(403, ...this.refusal));
			if (!wait) return route.fulfill(error(403, "Admission is needed"));
			this.knocks += 1;
			const json = { ticket: this.add(name, code), retry_after: this.retry_after, expires_at: "2026-11-23T09:01:00Z" };
			return route.fulfill({ status: 202, json });
		});
		await page.route("**/v2/tickets/*", async (route) => {
			const ticket = route.request().url().split("/").at(-1);
			const one = this.#tickets.get(ticket);
			if (this.away) return route.fulfill(error(this.away, "Service unavailable"));
			if (!one) return route.fulfill(error(404, "ticket not found"));
			if (route.request().method() === "DELETE") {
				this.#tickets.delete(ticket);
				return route.fulfill({ status: 204 });
			}
			const { state, reason, code, name } = one;
			if (state === "waiting") return route.fulfill({ json: { state, retry_after: this.retry_after } });
			if (state === "denied") return route.fulfill({ json: { state, reason } });
			const body = JSON.stringify({ code, name });
			const response = await fetch(`${BASE}/v2/token`, { method: "POST", headers: { "Content-Type": "application/json" }, body });
			return route.fulfill({ json: { state, ...(await response.json()) } });
		});
	}
	/** Answers the requests of somebody inside. */
	async report(page) {
		await page.route(/\/v2\/active-rooms\/\w+\/tickets/, async (route) => {
			const request = route.request();
			const [, id] = /\/tickets\/(\w+)$/.exec(request.url()) ?? [];
			if (request.method() === "GET") {
				const tickets = this.#waiting().map(({ state, reason, code, until, ...one }) => one);
				const denied = this.all()
					.filter((one) => one.state === "denied")
					.map(({ id, name, user_id, role, until }) => ({ id, name, user_id, role, until: new Date(until).toISOString() }));
				const { state, was } = this;
				const etag = `"${[...tickets, ...denied].map((one) => one.id).join()}:${tickets.length}:${state}:${was}"`;
				const is_known = request.headers()["if-none-match"] === etag;
				this.reads.push(is_known ? 304 : 200);
				const json = { tickets: tickets.slice(0, 100), count: tickets.length, denied, state, ...(state === "locked" && { was }) };
				return route.fulfill(is_known ? { status: 304, headers: { ETag: etag } } : { headers: { ETag: etag }, json });
			}
			const body = body_of(request);
			this.decisions.push({ id, ...body });
			if (!id) {
				const meant = this.#waiting().filter((one) => body.admit === "all" || body.admit.includes(one.id));
				this.decide("admitted", "", meant.map((one) => one.id));
				return route.fulfill({ json: { admitted: meant.length } });
			}
			const one = this.all().find((other) => other.id === id);
			if (!one) return route.fulfill(error(404, "ticket not found"));
			if (one.state === "admitted" && body.state === "denied") return route.fulfill(error(409, "Ticket was decided"));
			this.decide(body.state, body.reason, [id]);
			return route.fulfill({ json: { id, state: body.state } });
		});
		await page.route(/\/v2\/active-rooms\/\w+\/door/, (route) => {
			this.state = body_of(route.request()).state;
			this.states.push(this.state);
			return route.fulfill({ json: { state: this.state } });
		});
	}
}

/** Opens the join page of a guest, who knocks. */
async function knock(browser, stand, door, options) {
	const page = await open_join(browser, stand, stand.codes.guest, options, () => {}, (one) => door.answer(one));
	await page.waitForSelector(button("Ask to join"));
	await press_join(page, "Nora Fuchs");
	await page.waitForSelector(waiting);
	return page;
}

/** The page of a guest who waits, until somebody decides. */
export const waiting_guests = (browser) =>
	group("waiting at the door", async () => {
		const stand = await make_call("Door");
		const door = new Door();
		const page = await open_join(browser, stand, stand.codes.guest, {}, () => {}, (one) => door.answer(one));
		await page.waitForSelector(button("Ask to join"));
		ok("a page says that somebody has to admit", (await page.textContent(".foot")) === "Someone in the room has to let you in.");
		await page.waitForFunction(() => document.querySelector("video")?.videoWidth > 0);
		await page.evaluate(() => {
			window.preview = document.querySelector("video").srcObject;
		});
		await press_join(page, "Nora Fuchs");
		await page.waitForSelector(waiting);
		const goes_on = await page.evaluate(() => document.querySelector("video").srcObject === window.preview && window.preview.active);
		ok("the preview goes on", goes_on);
		ok("the heading has the focus", (await page.evaluate(() => document.activeElement.tagName)) === "H1");
		await accessible(page, "waiting at the door");
		await answered(page);
		await page.reload();
		await page.waitForSelector(waiting);
		await answered(page);
		ok("a reload keeps the place", door.knocks === 1, door.knocks);
		door.away = 503;
		await page.waitForSelector(".fault:has-text('The server cannot be reached at the moment.')");
		await accessible(page, "the service is away");
		door.away = 0;
		await page.waitForSelector(".fault:has-text('cannot be reached')", { state: "hidden" });
		ok("a restart of the service: the page goes on", await page.isVisible(waiting));
		door.lose();
		await until(page, () => door.knocks === 2);
		ok("a lost ticket: the page knocks again", await page.isVisible(waiting));
		door.retry_after = 600;
		await answered(page);
		const again_and_again = (send) => page.evaluate(`window.sending = setInterval(${send}, 50)`);
		await again_and_again(() => dispatchEvent(new Event("online")));
		await answered(page);
		ok("it asks when the network is back", true);
		await page.evaluate(() => clearInterval(window.sending));
		door.decide("admitted");
		await again_and_again(() => document.dispatchEvent(new Event("visibilitychange")));
		await connected(page);
		ok("an admitted guest is in the call", (await page.evaluate(() => sessionStorage.getItem("waiting"))) === null);
		ok("with the camera of the preview", await page.evaluate(() => fake.room.localParticipant.isCameraEnabled));
		await close(page);

		door.retry_after = 0.2;
		const again = await knock(browser, stand, door);
		await again.click(button("Stop waiting"));
		await again.waitForSelector(button("Ask to join"));
		ok("who stops waiting gives the place up", door.all().every((one) => one.state !== "waiting"));
		ok("and can ask again", (await again.inputValue("#name")) === "Nora Fuchs" && (await again.isVisible(".device-choices")));
		await again.click(button("Ask to join"));
		await again.waitForSelector(waiting);
		await close(again);
		door.lose();

		const late = await open_join(browser, stand, stand.codes.guest, {}, () => {}, (one) => {
			door.asks = false;
			return door.answer(one);
		});
		await late.waitForSelector(button("Join"));
		await press_join(late, "Nora Fuchs");
		await late.waitForSelector(waiting);
		ok("a door that was closed meanwhile", true);
		await close(late);
		stand.livekit.stop();
	});

/** How waiting can end, each with its sentence. */
export const denials = (browser) =>
	group("denials at the door", async () => {
		const stand = await make_call("Denials");
		for (const [name, reason, heading, text] of [
			["denied", "", "You were not let in", "You can ask again in 10 minutes."],
			["denied with a reason", "Come back at noon.", "You were not let in", "The host wrote: “Come back at noon.”"],
			["full", "Room is full", "The room is full", "As many people as it allows"],
			["used up", "Room code was used up", "This invitation has already been used", "Ask for a new one."],
			["closed", "Room is closed", "This room is closed", "Ask the people who run it."],
			["expired", "Room code has expired", "This invitation has expired", "Ask for a new one."],
			["disabled", "Room is disabled", "This link is not active", "The room is closed for now."],
			["locked", "Room is locked", "The room is locked", "A host has locked it, so nobody else can join."],
			["banned", "Banned from this room", "You cannot join this room", "excluded you from it"],
		]) {
			const door = new Door();
			const page = await knock(browser, stand, door);
			door.decide("denied", reason);
			await page.waitForSelector(title(heading));
			const said = await page.textContent("main");
			ok(`${name}: the sentence`, said.includes(text) && !said.includes("null"), said);
			const live = await page.evaluate(() => [...document.querySelectorAll("video")].length);
			ok(`${name}: the camera is off`, live === 0, live);
			if (name === "denied") await accessible(page, "not let in");
			await close(page);
		}
		const locked = Object.assign(new Door(), { refusal: ["Room is locked"] });
		const outside = await open_join(browser, stand, stand.codes.guest, {}, () => {}, (one) => locked.answer(one));
		await press_join(outside, "Nora Fuchs");
		await outside.waitForSelector(title("The room is locked"));
		await accessible(outside, "a locked room, outside");
		locked.refusal = null;
		await outside.click(button("Try again"));
		await outside.waitForSelector(button("Ask to join"));
		ok("a locked room can be tried again", true);
		await close(outside);
		const door = new Door();
		door.refusal = ["Not admitted", ["reason: Not today."]];
		const page = await open_join(browser, stand, stand.codes.guest, {}, () => {}, (one) => door.answer(one));
		await press_join(page, "Nora Fuchs");
		await page.waitForSelector(title("You were not let in"));
		ok("knocking again too early", (await page.textContent("main")).includes("Not today."));
		await close(page);
		stand.livekit.stop();
	});

/** Those inside see who waits, and decide. */
export const admitting = (browser) =>
	group("admitting people", async () => {
		const stand = await make_call("Admitting");
		const door = new Door();
		const with_tones = () => {
			window.tones = 0;
			const real = AudioContext.prototype.createOscillator;
			AudioContext.prototype.createOscillator = function () {
				window.tones += 1;
				return real.call(this);
			};
		};
		const host = await open_call(browser, stand, "host", {}, with_tones, (one) => door.report(one));
		const told = (count) => host.evaluate((n) => fake.room.say("anteroom", { type: "waiting", count: n }), count);
		const guest = await knock(browser, stand, door);
		await told(1);
		await host.waitForSelector(note("Nora Fuchs is waiting to join."));
		await says(host, control("people"), "People, 1, 1 waiting to join");
		ok("the number is on the control", (await host.getAttribute(".count.waiting", "data-count")) === "1");
		ok("and a sound is heard", (await host.evaluate(() => window.tones)) === 2);
		await accessible(host, "somebody waits");
		await host.click(button("Show"));
		const focused = () => host.evaluate(() => document.activeElement.getAttribute("aria-label") ?? document.activeElement.tagName);
		ok("Show goes to Admit", (await focused()) === "Admit Nora Fuchs", await focused());
		await accessible(host, "the list of who waits");
		const start = Date.now();
		await host.click("[aria-label='Admit Nora Fuchs']");
		await connected(guest);
		const took = Date.now() - start;
		ok("admitted within 3 s", took < 3000, took);
		await host.waitForSelector(note("Nora Fuchs was admitted."));
		await says(host, control("people"), "People, 1");
		ok("the focus stays in the list", (await focused()) === "H2", await focused());
		await close(guest);

		for (const name of ["Emil Storm", "Ola", "Mara"]) door.add(name);
		await told(3);
		await host.waitForSelector("h3:text-is('Waiting to join (3)')");
		await host.focus("[aria-label='Deny Ola']");
		await host.keyboard.press("Enter");
		await host.waitForSelector(note("Ola was not admitted."));
		const [, denied] = door.decisions;
		ok("a denial asks nothing", denied.state === "denied" && !(await host.isVisible(".call-dialog")), JSON.stringify(denied));
		ok("the focus goes to the next Admit", (await focused()) === "Admit Emil Storm", await focused());
		door.lose("Mara");
		await host.click("[aria-label='Admit Mara']");
		await host.waitForSelector(note("Mara is no longer waiting."));
		ok("somebody who has gone is told", true);
		door.add("Kim");
		await told(2);
		await host.click(`.people >> ${button("Admit all")}`);
		await host.waitForSelector(note("2 people were admitted."));
		ok("all are admitted by one request", door.decisions.at(-1).admit.length === 2, JSON.stringify(door.decisions.at(-1)));
		await told(0);
		await host.waitForResponse((one) => one.url().endsWith("/tickets") && one.status() === 304);
		ok("a list that is the same is not sent again", true);

		await host.keyboard.press("Escape");
		await host.click(control("more"));
		await host.click(".menu-item:has-text('Turn off alerts for people waiting')");
		const tones = await host.evaluate(() => window.tones);
		door.add("Lena");
		const read = host.waitForResponse((one) => one.url().endsWith("/tickets") && one.status() === 200);
		await told(1);
		await read;
		await host.click(control("people"));
		await host.waitForSelector("[aria-label='Admit Lena']");
		ok("without alerts there is neither note nor sound", (await host.evaluate(() => window.tones)) === tones && !(await host.isVisible(note("Lena"))));
		ok("nor a number", !(await host.isVisible(".count.waiting")));
		await close(host);

		const other = await open_call(browser, stand, "guest", {}, () => {}, (one) => door.report(one));
		door.reads.length = 0;
		await other.evaluate(() => fake.room.say("anteroom", { type: "waiting", count: 1 }));
		await other.click(control("people"));
		await other.waitForSelector(".person");
		ok("a guest does not ask who waits", door.reads.length === 0 && !(await other.isVisible(".waiting-list")));
		await close(other);
		stand.livekit.stop();
	});

/** Removed people are kept out: by a ban, or by a door that is closed for their link. */
export const keeping_out = (browser) =>
	group("keeping people out", async () => {
		const stand = await make_call("Keeping out");
		const page = await open_call(browser, stand, "host");
		let asked = null;
		let json = {};
		await page.route("**/remove-peers", (route) => {
			asked = body_of(route.request());
			return route.fulfill({ json });
		});
		await page.evaluate(() => {
			fake.room.come("PA_1", "Nora Fuchs", [], { identity: "nora", attributes: { role: "guest", user_id: "nora" } });
			fake.room.come("PA_2", "Ola", [], { identity: "x#0123abcd", attributes: { role: "guest", user_id: "x" } });
		});
		const door = "Only let them back in after asking";
		const ban = "Ban them from this room";
		for (const [name, label, answer, told] of [
			["Nora Fuchs", ban, {}, "Nora Fuchs was removed and banned."],
			["Nora Fuchs", ban, { not_enforced: ["ban"] }, "could not be banned"],
			["Ola", door, { not_enforced: ["ban"], door: "ask" }, "New people with the same link now wait"],
			["Ola", null, {}, "Ola was removed."],
		]) {
			json = answer;
			await page.hover(`.tile:has-text('${name}')`);
			await page.click(`[aria-label='Options for ${name}']`);
			await page.click(".menu-item:has-text('Remove from call')");
			await page.waitForSelector(".call-dialog");
			if (told.includes("New people")) await accessible(page, "keeping somebody out");
			if (label) await page.check(`.call-dialog >> label:text-is("${label}")`);
			await page.click(".call-dialog [value=yes]");
			await page.waitForSelector(note(told));
			const is_asked = label ? asked.ban === true && asked.door === "ask" : !("ban" in asked || "door" in asked);
			ok(`removing: ${told}`, is_asked, JSON.stringify(asked));
		}
		await close(page);
		stand.livekit.stop();
	});

/** The console shows who waits for a room, and decides. */
export const doors_in_console = (browser) =>
	group("the door in the console", async () => {
		const stand = await make_call("Door in the console");
		await stand.api("PATCH", `/v2/templates/${stand.template.id}/roles/guest`, { title: "Guests of the lesson" });
		const door = new Door();
		const page = await new_page(browser);
		await door.report(page);
		await sign_in(page, `/console/rooms/${stand.room.id}`, stand.key, stand.secret);
		await page.waitForSelector("#inside");
		const section = "section[aria-labelledby=waiting]";
		ok("nobody waits: nothing is shown", !(await page.isVisible(section)));
		for (const [state, words] of [["locked", "Locked: nobody else can join"], ["", "As roles and codes say"]]) {
			await page.click("button[aria-label='Room actions']");
			await page.click("[role=menuitem]:has-text('Set door')");
			await page.waitForSelector("dialog[open] h2:text-is('Set door')");
			if (state) await accessible(page, "setting the door in the console");
			await page.selectOption("dialog[open] select", state);
			await page.click("dialog[open] button:text-is('Set door')");
			await page.waitForSelector(".toast:has-text('Door set.')");
			if (state) await page.waitForSelector(`${section} >> text=Door: ${words}.`);
			else await page.waitForSelector(`${section} >> text=Door:`, { state: "hidden" });
		}
		ok("the door is set", JSON.stringify(door.states) === '["locked",null]', JSON.stringify(door.states));
		for (const name of ["Nora Fuchs", "Emil Storm", "Ola"]) door.add(name);
		await page.waitForSelector(`${section} >> text=Emil Storm`);
		await accessible(page, "who waits, in the console");
		await page.click("[aria-label='Admit Nora Fuchs']");
		await page.waitForSelector(".toast:has-text('Nora Fuchs admitted.')");
		await page.waitForSelector("[aria-label='Admit Nora Fuchs']", { state: "detached" });
		await page.click("[aria-label='Deny Ola']");
		await page.waitForSelector("dialog[open] h2:text-is('Deny Ola?')");
		await accessible(page, "denying somebody in the console");
		await page.fill("dialog[open] input", "Wrong room.");
		await page.click("dialog[open] button:text-is('Deny')");
		await page.waitForSelector(".toast:has-text('Ola denied.')");
		const [admitted, denied] = door.decisions;
		ok("one is admitted", admitted.state === "admitted", JSON.stringify(admitted));
		ok("one is denied with a reason", denied.state === "denied" && denied.reason === "Wrong room.", JSON.stringify(denied));
		const denied_row = `${section} table[aria-label='People denied'] tr:has-text('Ola')`;
		await page.waitForSelector(`${denied_row} >> text=Guests of the lesson`);
		await accessible(page, "who was denied, in the console");
		await page.click(`${denied_row} >> ${button("Admit")}`);
		await page.waitForSelector(denied_row, { state: "detached" });
		ok("a denial is taken back", door.decisions.at(-1).state === "admitted" && door.decisions.at(-1).id === denied.id);
		door.add("Kim");
		await page.click(`${section} >> ${button("Admit all")}`);
		await page.waitForSelector(".toast:has-text('2 people admitted.')");
		await page.waitForSelector(`${section} >> text=Nobody is waiting.`);
		const focused = await page.evaluate(() => document.activeElement.id);
		ok("the focus stays in the section", focused === "waiting", focused);
		await until(page, () => door.reads.includes(304));
		ok("a list that is the same is not sent again", true);
		await page.context().close();
		stand.livekit.stop();
	});

/** Guests and a host with the service itself, from the knock to the call. */
export const doors_of_the_service = (browser) =>
	group("the door of the service", async () => {
		const stand = await make_call("Door of the service");
		const { room, template, codes } = stand;
		const role = `/v2/templates/${template.id}/roles/guest`;
		await stand.api("PATCH", role, { admission: "ask" });
		const host = await open_call(browser, stand, "host");
		const come_to_door = async (name, code = codes.guest) => {
			const page = await open_join(browser, stand, code);
			await page.waitForSelector(button("Ask to join"));
			await press_join(page, name);
			await page.waitForSelector(waiting);
			return page;
		};
		const guest = await come_to_door("Nora Fuchs");
		// As the media server passes it on.
		const told = () => host.evaluate(() => fake.room.say("anteroom", { type: "waiting", count: 1 }));
		await until(host, () => stand.livekit.messages.some((one) => one.includes('"waiting"')));
		await told();
		await host.waitForSelector(note("Nora Fuchs is waiting to join."));
		const start_again = await stop_service();
		await guest.waitForSelector(".fault:has-text('The server cannot be reached at the moment.')");
		start_again();
		await guest.waitForSelector(".fault:has-text('cannot be reached')", { state: "hidden" });
		ok("a restart of the service keeps people waiting", await guest.isVisible(waiting));
		await guest.reload();
		await guest.waitForSelector(waiting);
		await told();
		await host.click(button("Show"));
		const start = Date.now();
		await host.click("[aria-label='Admit Nora Fuchs']");
		await connected(guest);
		const took = Date.now() - start;
		ok("admitted: in the call within 3 s", took < 3000, took);

		// Somebody with a link for all is removed: the link asks from now on.
		await stand.api("PATCH", role, { admission: "open" });
		const nora = await guest.evaluate(() => {
			const { sid, identity, attributes } = fake.room.localParticipant;
			return { sid, identity, attributes };
		});
		await host.evaluate((one) => fake.room.come(one.sid, "Nora Fuchs", [], one), nora);
		await host.click(".people [aria-label='Options for Nora Fuchs']");
		await host.click(".menu-item:has-text('Remove from call')");
		await host.check(".call-dialog >> label:text-is('Only let them back in after asking')");
		await host.click(".call-dialog [value=yes]");
		await host.waitForSelector(note("New people with the same link now wait to be admitted."));
		const { admission } = await (await fetch(`${BASE}/v2/join/${codes.guest}`)).json();
		ok("who was removed has to ask", admission === "ask", admission);
		await host.evaluate((sid) => fake.room.go(sid), nora.sid);
		await stand.api("PATCH", role, { admission: "ask" });
		await close(guest);

		const denied = await come_to_door("Emil Storm");
		await told();
		const tickets = `/v2/active-rooms/${room.id}/tickets`;
		const [emil] = (await stand.api("GET", tickets)).tickets;
		await stand.api("POST", `${tickets}/${emil.id}`, { state: "denied", reason: "Come back at noon." });
		await denied.waitForSelector(title("You were not let in"));
		ok("denied with the reason", (await denied.textContent("main")).includes("The host wrote: “Come back at noon.”"));
		await denied.reload();
		await denied.waitForSelector(title("You were not let in"));
		ok("and again after a reload", (await denied.textContent("main")).includes("Come back at noon."));
		const taken_back = "section[aria-labelledby=denied-title] [aria-label='Admit Emil Storm after all']";
		await host.click(taken_back);
		await host.waitForSelector(taken_back, { state: "detached" });
		await connected(denied);
		ok("a denial that was taken back lets in", true);
		await close(denied);

		const once = await stand.api("POST", `/v2/room-codes/room/${room.id}/role/guest`, { max_uses: 1 });
		const [first, second] = [await come_to_door("Ola", once.code), await come_to_door("Kim", once.code)];
		await told();
		await host.waitForSelector("[aria-label='Admit Kim']");
		await host.click(button("Admit all"));
		const ended = (page) =>
			Promise.race([
				connected(page).then(() => "in the call"),
				page.waitForSelector(title("This invitation has already been used")).then(() => "used up"),
			]);
		const both = (await Promise.all([ended(first), ended(second)])).sort().join();
		ok("two are admitted with a code for one use", both === "in the call,used up", both);
		await close(first);
		await close(second);

		const late = await come_to_door("Lena", (await stand.api("POST", `/v2/room-codes/room/${room.id}/role/guest`, { label: "late" })).code);
		await stand.api("PATCH", `/v2/rooms/${room.id}`, { enabled: false });
		await late.waitForSelector(title("This link is not active"));
		ok("a room that is disabled meanwhile", true);
		await close(late);
		await close(host);
		stand.livekit.stop();
	});

/** The wait and the list in all sizes, light and dark. */
export const views_of_doors = (browser) =>
	group("views of the door", async () => {
		const stand = await make_call("Views of doors");
		for (const [size, options] of Object.entries(SIZES)) {
			for (const colorScheme of ["light", "dark"]) {
				const door = new Door();
				const page = await knock(browser, stand, door, { ...options, colorScheme });
				await accessible(page, `waiting, ${size}, ${colorScheme}`);
				await close(page);
				door.add("Emil Storm");
				const host = await open_call(browser, stand, "host", { ...options, colorScheme }, () => {}, (one) => door.report(one));
				await host.waitForSelector(note("2 people are waiting to join."));
				await accessible(host, `a note that people wait, ${size}, ${colorScheme}`);
				await host.click(button("Show"));
				await accessible(host, `the list of who waits, ${size}, ${colorScheme}`);
				await close(host);
			}
		}
		stand.livekit.stop();
	});
