// Whether people agree to be recorded: what the join page asks, what the call offers and shows, and the forms of the
// console. Where the words of the rules change while the test runs, it answers in place of the service.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { createHash } from "node:crypto";
import { close, connected, control, enter_call, make_call, note, open_join, title, with_library } from "./call.js";
import { AROUND, forget_others, open_framed } from "./embed.js";
import { BASE, SIZES, accessible, api, body_of, button, group, make_room, new_page, ok, program, sign_in } from "./stand.js";

const TEXT = "This call may be recorded or streamed. I agree.";
/** The beginnings of the SHA-256 of the sentences that people have agreed to: another sentence has another version. */
const SENTENCES = { "en-1": "b652311b028fa507", "de-1": "eee5d2d6a0d07901" };
const NEEDED = { status: 403, json: { code: 403, message: "Consent to recording is needed", details: [] } };
const join = ".join-form button[type=submit]";
const box = "#consent";
const fault = "#consent-fault:not([hidden])";
// A window of 1280 by 1024 pixels at 400 %.
const ENLARGED = { viewport: { width: 320, height: 256 } };

/** Answers of the service that ask for consent, and what was sent to it. */
class Rules {
	sent = [];
	refuses = false;
	/** @param {string} word "" if nobody is asked */
	constructor(word, more = {}) {
		Object.assign(this, { word, more });
	}
	async serve(page) {
		await page.route("**/v2/join/*", async (route) => {
			const response = await route.fetch();
			await route.fulfill({ response, json: { ...(await response.json()), ...this.more, ...(this.word && { consent: this.word }) } });
		});
		await page.route(/\/v2\/token(\/join)?$/, (route) => {
			const body = body_of(route.request());
			this.sent.push(body);
			if (this.refuses && body.consent !== true && body.code) return route.fulfill(NEEDED);
			// The service of before knows nothing of consent.
			return route.continue();
		});
	}
}
/** What was last sent of consent. */
const said = ({ sent }) => JSON.stringify({ consent: sent.at(-1)?.consent, text: sent.at(-1)?.consent_text });
const open = (browser, stand, rules, options = {}, role = "guest") => open_join(browser, stand, stand.codes[role], options, () => {}, (page) => rules.serve(page));
const described = (page, id) => page.locator(id).evaluate((one) => one.getAttribute("aria-describedby").split(" ").map((each) => document.getElementById(each)?.textContent).join("|"));

/** The box before the join: what it says, what is sent, and that nobody joins without where it is required. */
export const consent_at_join = (browser) =>
	group("consent at the join", async () => {
		const stand = await make_call("Consent at the join");
		const none = new Rules("");
		const without = await open(browser, stand, none);
		ok("where nobody is asked there is no box", (await without.locator(box).count()) === 0);
		await enter_call(without, "guest");
		ok("and nothing is sent", said(none) === "{}", said(none));
		await close(without);

		for (const [word, hint] of [["asked", "You can join without agreeing."], ["required", "Nobody can join this call without agreeing."]]) {
			const rules = new Rules(word, { recording: "automatic" });
			const page = await open(browser, stand, rules);
			ok(`${word}: not ticked beforehand`, !(await page.isChecked(box)));
			ok(`${word}: its name`, (await page.getByRole("checkbox", { name: TEXT, exact: true }).count()) === 1);
			ok(`${word}: what that means`, (await described(page, box)).startsWith(hint), await described(page, box));
			ok(`${word}: a screen reader is told whether it must be`, (await page.getAttribute(box, "aria-required")) === (word === "required" ? "true" : null));
			const order = await page.evaluate(() => [".recorded-notice", "#consent", ".join-form [type=submit]"].map((one) => document.querySelector(one)).every((one, i, all) => i === 0 || Boolean(all[i - 1].compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING)));
			ok(`${word}: after what is recorded, before Join`, order);
			await accessible(page, `consent ${word}`);
			await close(page);
		}

		const asked = new Rules("asked");
		const free = await open(browser, stand, asked);
		await enter_call(free, "guest");
		ok("asked: who does not agree joins all the same, and that is sent", said(asked) === '{"consent":false}', said(asked));
		await close(free);
		const other = new Rules("asked");
		const agreeing = await open(browser, stand, other);
		await agreeing.click(`label:has-text("${TEXT}")`);
		await enter_call(agreeing, "guest");
		ok("asked: who agrees sends the version of the sentence", said(other) === '{"consent":true,"text":"en-1"}', said(other));
		await close(agreeing);

		// By the keyboard alone.
		const required = new Rules("required");
		const page = await open(browser, stand, required);
		await page.fill("#name", "Nora");
		await page.press("#name", "Enter");
		await page.waitForSelector(fault);
		ok("required: nothing is sent without the tick", required.sent.length === 0);
		ok("the box has the focus and says why", (await page.evaluate(() => document.activeElement.id)) === "consent" && (await page.textContent(fault)).includes("To join, agree to be recorded or streamed."));
		ok("it is said aloud", (await page.getAttribute("#consent-fault", "role")) === "alert" && (await described(page, box)).includes("To join, agree"));
		ok("and marked as wrong", (await page.getAttribute(box, "aria-invalid")) === "true");
		await accessible(page, "consent that is missing");
		await page.keyboard.press("Space");
		ok("the tick takes the fault away", (await page.isChecked(box)) && (await page.locator(fault).count()) === 0 && (await page.getAttribute(box, "aria-invalid")) === null);
		await page.keyboard.press("Tab");
		ok("Join is next", await page.evaluate(() => document.activeElement.matches(".join-form [type=submit]")));
		await page.keyboard.press("Enter");
		await connected(page);
		ok("then it is sent", said(required) === '{"consent":true,"text":"en-1"}', said(required));
		await close(page);

		// The room asks for more since the page was opened.
		const since = new Rules("");
		since.refuses = true;
		const late = await open(browser, stand, since);
		await late.fill("#name", "Nora");
		await late.click(join);
		await late.waitForSelector(fault);
		ok("a room that asks meanwhile: the box comes, with the focus", (await late.evaluate(() => document.activeElement.id)) === "consent");
		await late.click(join);
		ok("Join needs it now", since.sent.length === 1, since.sent.length);
		await late.check(box);
		await late.click(join);
		await connected(late);
		ok("and joins with it", said(since) === '{"consent":true,"text":"en-1"}', said(since));
		await close(late);

		for (const [language, version] of [["en-US", "en-1"], ["de-DE", "de-1"]]) {
			const rules = new Rules("asked");
			const page = await open(browser, stand, rules, { locale: language });
			const text = await page.textContent("label[for=consent]");
			ok(`${version}: its sentence`, createHash("sha256").update(text).digest("hex").startsWith(SENTENCES[version]), text);
			await page.check(box);
			await page.fill("#name", "Nora");
			await page.click(join);
			await connected(page);
			ok(`${version}: is sent`, said(rules) === JSON.stringify({ consent: true, text: version }), said(rules));
			await close(page);
		}
		stand.livekit.stop();
	});

/** The answer is kept for this tab: before the join, at a reload of the call, and for who waits at the door. */
export const consent_kept = (browser) =>
	group("consent that is kept", async () => {
		const stand = await make_call("Consent kept");
		const rules = new Rules("required");
		const page = await open(browser, stand, rules);
		page.on("dialog", (one) => one.accept());
		const again = async () => {
			await page.reload();
			await page.waitForSelector(box);
		};
		await page.check(box);
		await again();
		ok("a tick is kept for a reload", await page.isChecked(box));
		await page.uncheck(box);
		await again();
		ok("and so is taking it back", !(await page.isChecked(box)));
		await page.check(box);
		await page.goto(page.url().replace(stand.codes.guest, stand.codes.viewer));
		await page.waitForSelector(box);
		ok("it is not for another code", !(await page.isChecked(box)));
		const second = await page.context().newPage();
		await with_library(second, stand);
		await rules.serve(second);
		await second.goto(page.url().replace(stand.codes.viewer, stand.codes.guest));
		await second.waitForSelector(box);
		ok("nor for another tab", !(await second.isChecked(box)));
		await second.close();
		await page.goto(page.url().replace(stand.codes.viewer, stand.codes.guest));
		await page.waitForSelector(box);
		await page.evaluate(() => sessionStorage.setItem("consent", sessionStorage.getItem("consent").replace("en-1", "en-0")));
		await again();
		ok("nor for another version of the sentence", !(await page.isChecked(box)));

		await page.check(box);
		await enter_call(page, "guest");
		ok("the join has it", said(rules) === '{"consent":true,"text":"en-1"}' && rules.sent.at(-1).code, said(rules));
		await page.reload();
		await connected(page);
		ok("a reload of the call sends it again", said(rules) === '{"consent":true,"text":"en-1"}' && !rules.sent.at(-1).code, said(rules));
		await page.click(control("leave"));
		await page.click("text=Join again");
		await connected(page);
		ok("and so does joining again", said(rules) === '{"consent":true,"text":"en-1"}' && rules.sent.length === 3, said(rules));
		await close(page);

		const free = new Rules("asked");
		const other = await open(browser, stand, free);
		other.on("dialog", (one) => one.accept());
		await enter_call(other, "guest");
		await other.reload();
		await connected(other);
		ok("no consent is sent again too", said(free) === '{"consent":false}' && free.sent.length === 2, said(free));
		await close(other);
		// A token of before is let in and not recorded; if it is refused, the page asks.
		const before = await open(browser, stand, new Rules(""));
		before.on("dialog", (one) => one.accept());
		await enter_call(before, "guest");
		await before.route("**/v2/token/join", (route) => route.fulfill(NEEDED));
		await before.route("**/v2/join/*", async (route) => {
			const response = await route.fetch();
			await route.fulfill({ response, json: { ...(await response.json()), consent: "required" } });
		});
		await before.reload();
		await before.waitForSelector(box);
		ok("a join that is refused for it leads to the box", true);
		await close(before);

		// At the door.
		const door = new Rules("required", { admission: "ask" });
		door.refuses = true;
		const guest = await open(browser, stand, door);
		let answer = { status: 200, json: { state: "waiting", retry_after: 0.2 } };
		const knocks = [];
		await guest.route("**/v2/token", (route) => {
			knocks.push(body_of(route.request()));
			return route.fulfill({ status: 202, json: { ticket: "t".repeat(43), retry_after: 0.2, expires_at: "2026-11-23T09:01:00Z" } });
		});
		await guest.route("**/v2/tickets/*", (route) => route.fulfill(answer));
		await guest.fill("#name", "Nora");
		await guest.click(join);
		await guest.waitForSelector(fault);
		ok("nobody asks to be let in without it", knocks.length === 0);
		await guest.check(box);
		await guest.click(join);
		await guest.waitForSelector(title("Waiting to be let in"));
		ok("a knock has it", knocks[0].wait === true && knocks[0].consent === true && knocks[0].consent_text === "en-1", JSON.stringify(knocks));
		await guest.reload();
		await guest.waitForSelector(title("Waiting to be let in"));
		answer = { status: 404, json: { code: 404, message: "ticket not found" } };
		while (knocks.length < 2) await guest.waitForTimeout(20);
		answer = { status: 200, json: { state: "waiting", retry_after: 0.2 } };
		ok("and so has another knock after a reload", knocks.length >= 2 && knocks.at(-1).consent === true, JSON.stringify(knocks));
		for (const [name, refusal] of [["refused", NEEDED], ["told as a denial", { status: 200, json: { state: "denied", reason: "Consent to recording is needed" } }]]) {
			answer = refusal;
			await guest.waitForSelector(fault);
			ok(`who is admitted and ${name} for it sees the box`, (await guest.evaluate(() => document.activeElement.id)) === "consent");
			answer = { status: 200, json: { state: "waiting", retry_after: 0.2 } };
			await guest.check(box);
			await guest.click(join);
			await guest.waitForSelector(title("Waiting to be let in"));
		}
		await close(guest);

		// In a frame of another page.
		program("account", "set", stand.name, `embed=${AROUND}`);
		const framed = new Rules("required");
		const { page: around, frame } = await open_framed(browser, stand, stand.codes.guest, { serve: (page) => framed.serve(page) });
		await frame.fill("#name", "Nora");
		await frame.click(join);
		await frame.waitForSelector(fault);
		ok("in a frame nobody joins without it", framed.sent.length === 0);
		await frame.check(box);
		await frame.click(join);
		await connected(frame);
		ok("and it is sent", said(framed) === '{"consent":true,"text":"en-1"}', said(framed));
		await frame.click(control("leave"));
		await frame.click("button:text-is('Join again')");
		await connected(frame);
		ok("also when somebody joins again there", said(framed) === '{"consent":true,"text":"en-1"}' && framed.sent.length === 2, said(framed));
		await around.context().close();
		forget_others();
		stand.livekit.stop();
	});

/** The service inside, where people are asked. */
class Inside {
	word = "asked";
	agreed = false;
	may = [];
	recordings = [];
	/** What was sent of consent, and what else was asked for. */
	sent = [];
	starts = 0;
	fails = false;
	async serve(page) {
		await page.route("**/me", async (route) => {
			const response = await route.fetch();
			if (!response.ok()) return route.fulfill({ response });
			const me = await response.json();
			this.me = me.peer.id;
			const asks = this.word && { consent: this.word, agreed: this.agreed };
			return route.fulfill({ response, json: { ...me, may: this.may, recordings: this.recordings, ...asks } });
		});
		await page.route("**/peers/*", async (route) => {
			const body = body_of(route.request());
			if (this.fails) return route.fulfill({ status: 502, json: { code: 502, message: "media server not reachable" } });
			this.sent.push({ ...body, id: route.request().url().split("/").at(-1) });
			this.agreed = body.consent;
			await route.fulfill({ json: {} });
			await this.write(page, null, body.consent ? "1764500000" : "");
		});
		await page.route(/\/v2\/(recordings|live-streams|external-streams)\/room\/\w+\/start$/, (route) => {
			const [, type] = /\/v2\/(\w+)/.exec(route.request().url());
			this.starts += 1;
			this.recordings = [this.one("running", { type: type === "recordings" ? "recording" : type })];
			return route.fulfill({ json: { id: "job", status: "starting" } });
		});
	}
	one = (state, more = {}) => ({ type: "recording", state, since: "2026-01-01T10:00:00.000Z", by: "", name: "", ...more });
	/** The media server has another consent of somebody; without an id, of yourself. */
	write = (page, sid, consent) =>
		page.evaluate(
			([sid, consent]) => {
				const one = sid ? fake.room.remoteParticipants.get(sid) : fake.room.localParticipant;
				one.attributes = { ...one.attributes, entry: one.attributes.entry ?? sid, consent };
				fake.room.emit("ParticipantAttributesChanged", { consent }, one);
			},
			[sid, consent],
		);
	/** Something changes, and people are told to ask. */
	async change(page, more) {
		Object.assign(this, more);
		await page.evaluate(() => fake.room.say("anteroom", { type: "recordings" }));
	}
}
async function inside_call(browser, stand, service, role = "guest", options = {}) {
	const page = await open_join(browser, stand, stand.codes[role], options, () => {}, (one) => service.serve(one));
	await page.waitForSelector("button.round:has([href$='#mic'])");
	await enter_call(page, role);
	return page;
}
const unrecorded = ".tile .mark:has([href$='#record-off'])";
/** Chooses from the menu More, as soon as it has the entry. */
async function choose(page, text) {
	const entry = page.locator(`.menu-item:has-text("${text}")`);
	for (;;) {
		await page.click(control("more"));
		await page.waitForSelector(".menu");
		if ((await entry.count()) > 0) return entry.click();
		await page.keyboard.press("Escape");
	}
}
const entries_of_more = async (page) => {
	await page.click(control("more"));
	await page.waitForSelector(".menu");
	const all = await page.locator(".menu-item").allTextContents();
	await page.keyboard.press("Escape");
	return all;
};
const marked = (page, text, place = ".recorded") => page.waitForSelector(`${place} .recorded-mark[title="${text}"]`, { state: "attached" });

/** Agreeing and withdrawing in the call, who is marked, how many the recording has. */
export const consent_in_calls = (browser) =>
	group("consent in calls", async () => {
		const stand = await make_call("Consent in calls");
		const none = new Inside();
		none.word = "";
		const usual = await inside_call(browser, stand, none);
		await usual.evaluate(() => fake.room.come("PA_1", "Mara"));
		await usual.waitForSelector(".tile:has-text('Mara')");
		ok("where nobody is asked, nobody is marked", (await usual.locator(unrecorded).count()) === 0);
		ok("and nothing is offered", !(await entries_of_more(usual)).some((one) => /agree/.test(one)));
		await none.change(usual, { recordings: [none.one("running")] });
		await marked(usual, "This call is being recorded");
		await close(usual);

		const service = new Inside();
		const page = await inside_call(browser, stand, service);
		await page.evaluate(() => {
			fake.room.come("PA_1", "Mara", ["camera"], { attributes: { role: "guest", entry: "e1", consent: "1764500000" } });
			fake.room.come("PA_2", "Ola", ["camera", "screen_share"], { attributes: { role: "guest", entry: "e2" } });
			fake.room.come("PA_3", "Phone", ["microphone"], { attributes: { consent: "1764500000" } });
		});
		await page.waitForFunction((selector) => document.querySelectorAll(selector).length === 4, unrecorded);
		const who = () => page.locator(".tile").evaluateAll((all) => all.filter((one) => one.querySelector("[href$='#record-off']")).map((one) => one.querySelector(".who").textContent).sort().join());
		ok("marked: who has not agreed, with the screen, and a telephone", (await who()) === "Ola,Ola is sharing a screen,Phone,You", await who());
		ok("it is said to screen readers", (await page.textContent(".tile:has(.who:text-is('Ola')) .tag")).includes("not recorded"));
		await page.click(control("people"));
		await page.waitForSelector(".person:has-text('Ola') .person-mark[title='not recorded']");
		ok("in the list too", (await page.locator(".person-mark[title='not recorded']").count()) === 3 && (await page.locator(".person:has-text('Mara') .person-mark[title='not recorded']").count()) === 0);
		await accessible(page, "who is not recorded");
		await page.keyboard.press("Escape");

		await service.change(page, { recordings: [service.one("running")] });
		await marked(page, "This call is being recorded. 1 of 4 is recorded");
		ok("the mark says how many", (await page.textContent(".recorded .recorded-text")) === "1 of 4 is recorded");
		await page.evaluate(() => {
			globalThis.element = document.querySelector(".recorded .recorded-mark");
		});
		await service.write(page, "PA_2", "1764500009");
		await marked(page, "This call is being recorded. 2 of 4 are recorded");
		ok("and follows", (await who()) === "Phone,You", await who());
		ok("the mark stays the same element", await page.evaluate(() => document.querySelector(".recorded .recorded-mark") === globalThis.element));
		await service.change(page, { recordings: [service.one("running"), service.one("running", { type: "live" })] });
		await marked(page, "This call is being recorded. This call is being streamed. 2 of 4 are recorded. 2 of 4 are streamed");
		for (const state of ["starting", "paused", "interrupted"]) {
			await service.change(page, { recordings: [service.one(state)] });
			await page.waitForFunction((selector) => !/ of /.test(document.querySelector(selector)?.title ?? " of "), ".recorded .recorded-mark");
		}
		ok("nobody is counted while nothing is recorded", true);
		await service.change(page, { recordings: [service.one("running")] });
		await marked(page, "This call is being recorded. 2 of 4 are recorded");

		// Agreeing, withdrawing.
		await choose(page, "Agree to be recorded…");
		await page.waitForSelector("dialog:has-text('Agree to be recorded?')");
		ok("the sentence is the join page's", (await page.textContent(".call-dialog")).includes(TEXT));
		ok("Enter does not agree", await page.evaluate(() => document.activeElement.textContent === "Cancel"));
		await accessible(page, "agreeing in a call");
		await page.keyboard.press("Enter");
		ok("Cancel sends nothing", service.sent.length === 0);
		await choose(page, "Agree to be recorded…");
		await page.click(button("I agree"));
		await page.waitForSelector(note("You have agreed to be recorded."));
		ok("it is sent of oneself", JSON.stringify(service.sent) === JSON.stringify([{ consent: true, consent_text: "en-1", id: service.me }]), JSON.stringify(service.sent));
		await marked(page, "This call is being recorded. 3 of 4 are recorded");
		ok("the own mark goes", (await who()) === "Phone", await who());
		const kept = () => page.evaluate(() => `${sessionStorage.getItem("consent")?.split(" ")[1]} ${JSON.stringify(JSON.parse(sessionStorage.getItem("call")).consent)}`);
		ok("it is kept for the tab", (await kept()) === 'en-1 {"consent":true,"consent_text":"en-1"}', await kept());
		service.fails = true;
		await choose(page, "No longer agree");
		await page.click(button("I no longer agree"));
		await page.waitForSelector(note("That is not possible right now."));
		ok("what the service has not taken is not kept", (await kept()).startsWith("en-1 ") && (await entries_of_more(page)).some((one) => one.startsWith("No longer agree")), await kept());
		service.fails = false;
		await choose(page, "No longer agree");
		await accessible(page, "withdrawing in a call");
		await page.click(button("I no longer agree"));
		await page.waitForSelector(note("Recordings and streams now leave you out."));
		ok("withdrawn", JSON.stringify(service.sent.at(-1)) === JSON.stringify({ consent: false, id: service.me }), JSON.stringify(service.sent.at(-1)));
		await marked(page, "This call is being recorded. 2 of 4 are recorded");
		ok("and kept for the tab", (await kept()) === 'undefined {"consent":false}', await kept());
		const again = page.waitForRequest("**/v2/token/join");
		await page.click(control("leave"));
		await page.click("text=Join again");
		ok("the next join says so", body_of(await again).consent === false);
		await connected(page);
		await page.waitForSelector(".recorded-mark:visible");

		// The rules change, and what others record obeys none.
		await service.change(page, { word: "" });
		await page.waitForFunction((selector) => document.querySelectorAll(selector).length === 0, unrecorded);
		await marked(page, "This call is being recorded");
		ok("rules that ask no more take the marks away", !(await entries_of_more(page)).some((one) => /agree/.test(one)));
		await service.change(page, { word: "required" });
		await page.waitForSelector(unrecorded);
		await service.change(page, { recordings: [] });
		await page.waitForSelector(".recorded-mark", { state: "detached" });
		await page.evaluate(() => {
			fake.room.isRecording = true;
			fake.room.emit("RecordingStatusChanged", true);
		});
		await page.waitForFunction((selector) => document.querySelectorAll(selector).length === 0, unrecorded);
		ok("nobody is called unrecorded while somebody else's recorder runs", true);
		await marked(page, "This call is being recorded");
		await close(page);
		stand.livekit.stop();
	});

/** Whoever presses Record is asked first. */
export const consent_of_hosts = (browser) =>
	group("consent of who records", async () => {
		const stand = await make_call("Consent of hosts");
		for (const [press, sends, starts] of [
			["Cancel", [], 0],
			["Start without me", [], 1],
			["Agree and start", [true], 1],
		]) {
			const service = new Inside();
			service.may = ["record"];
			const page = await inside_call(browser, stand, service, "host");
			await choose(page, "Record…");
			await page.waitForSelector("dialog:has-text('You have not agreed to be recorded yet.')");
			ok(`${press}: the sentence is there`, (await page.textContent(".call-dialog")).includes(TEXT));
			if (press === "Cancel") {
				ok("Enter neither agrees nor starts", await page.evaluate(() => document.activeElement.textContent === "Cancel"));
				await accessible(page, "before a recording, without consent");
			}
			await page.click(button(press));
			if (starts) await page.waitForSelector(".recorded button.recorded-mark");
			ok(`${press}: what is sent`, service.sent.map((one) => one.consent).join() === sends.join() && service.starts === starts, JSON.stringify(service.sent));
			const title = `This call is being recorded. ${sends.length} of 1 ${sends.length === 1 ? "is" : "are"} recorded`;
			if (starts) await marked(page, title);
			if (press === "Start without me") {
				await page.click("button.recorded-mark:visible");
				await page.click(".menu-item:has-text('Agree to be recorded…')");
				await page.click(button("I agree"));
				await marked(page, "This call is being recorded. 1 of 1 is recorded");
				ok("the mark offers to agree later", service.sent.length === 1);
				ok("and has its name", (await page.getAttribute(".recorded button.recorded-mark", "aria-label")) === "This call is being recorded. 1 of 1 is recorded. Recording options");
			}
			await close(page);
		}
		for (const entry of ["Stream live…", "Stream to other services…"]) {
			for (const [press, sends, starts] of [
				["Cancel", [], 0],
				["Start without me", [], 1],
				["Agree and start", [true], 1],
			]) {
				const service = new Inside();
				service.may = ["live", "stream"];
				const page = await inside_call(browser, stand, service, "host");
				await choose(page, entry);
				await page.waitForSelector("dialog:has-text('You have not agreed to be streamed yet.')");
				const shown = await page.textContent(".call-dialog");
				ok(`${entry} ${press}: the sentence is there`, shown.includes(TEXT) && shown.includes("People who have not agreed are left out."), shown);
				if (press === "Cancel") {
					ok(`${entry} Enter neither agrees nor starts`, await page.evaluate(() => document.activeElement.textContent === "Cancel"));
					await accessible(page, "before a stream, without consent");
				}
				await page.click(button(press));
				if (starts) await marked(page, `This call is being streamed. ${sends.length} of 1 ${sends.length === 1 ? "is" : "are"} streamed`);
				ok(`${entry} ${press}: what is sent`, service.sent.map((one) => one.consent).join() === sends.join() && service.starts === starts, JSON.stringify(service.sent));
				await close(page);
			}
		}
		const failing = new Inside();
		Object.assign(failing, { may: ["record"], fails: true });
		const page = await inside_call(browser, stand, failing, "host");
		await choose(page, "Record…");
		await page.click(button("Agree and start"));
		await page.waitForSelector(note("That is not possible right now."));
		ok("without the consent that was wished for nothing starts", failing.starts === 0);
		await close(page);
		const agreed = new Inside();
		Object.assign(agreed, { may: ["record"], agreed: true });
		const other = await inside_call(browser, stand, agreed, "host");
		await choose(other, "Record…");
		await other.waitForSelector("dialog:has-text('People who have not agreed are left out.')");
		ok("who has agreed is not asked again", (await other.locator("dialog:has-text('You have not agreed')").count()) === 0);
		await other.keyboard.press("Enter");
		await other.waitForSelector(".recorded-mark:visible");
		ok("and starts with Enter", agreed.starts === 1 && agreed.sent.length === 0);
		await close(other);
		stand.livekit.stop();
	});

/** The service itself: what the page sends, and what its token, the media server and the session then have. */
export const consent_of_the_service = (browser) =>
	group("consent of the service", async () => {
		const stand = await make_call("Consent of the service");
		const { api: ask, livekit, room, template, codes } = stand;
		const rules = (consent) => ask("PATCH", `/v2/templates/${template.id}/settings`, { recordingRules: { consent } });
		const own = (page) => page.evaluate(() => fake.room.localParticipant.attributes);
		/** The media server passes on what the service has written. */
		async function pass_on(page, wanted) {
			const { user_id } = await own(page);
			const end = Date.now() + 20000;
			const found = () => livekit.asked.filter(([method, body]) => method === "UpdateParticipant" && body.attributes?.user_id === user_id).at(-1)?.[1].attributes;
			while (!wanted(found()?.consent) && Date.now() < end) await page.waitForTimeout(50);
			ok("the service writes it at the media server", wanted(found()?.consent), JSON.stringify(found()));
			await page.evaluate((attributes) => {
				fake.room.localParticipant.attributes = attributes;
				fake.room.emit("ParticipantAttributesChanged", attributes, fake.room.localParticipant);
			}, found());
		}
		const is_time = (text) => /^[1-9]\d{0,11}$/.test(text ?? "");
		await rules("required");
		const page = await open_join(browser, stand, codes.guest);
		page.on("dialog", (one) => one.accept());
		ok("required: the box is not ticked", !(await page.isChecked(box)));
		const refusal = await page.evaluate(async (code) => {
			const response = await fetch("/v2/token", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ code, name: "Nora", consent: false }) });
			return `${response.status} ${(await response.json()).message}`;
		}, codes.guest);
		ok("the service lets nobody in without", refusal === "403 Consent to recording is needed", refusal);
		await page.check(box);
		await enter_call(page, "guest");
		const first = await own(page);
		ok("the media token has the time and the entry", is_time(first.consent) && first.entry !== "", JSON.stringify(first));
		await choose(page, "No longer agree");
		await page.click(button("I no longer agree"));
		await page.waitForSelector(note("Recordings and streams now leave you out."));
		await pass_on(page, (consent) => consent === "");
		await page.waitForSelector(unrecorded);
		ok("who withdraws is marked", true);
		await page.reload();
		await connected(page);
		ok("a reload lets in, and is not recorded", !is_time((await own(page)).consent), JSON.stringify(await own(page)));
		await page.waitForSelector(unrecorded);
		await choose(page, "Agree to be recorded…");
		await page.click(button("I agree"));
		await page.waitForSelector(note("You have agreed to be recorded."));
		await pass_on(page, (consent) => is_time(consent) && Number(consent) > Number(first.consent));
		await page.waitForSelector(unrecorded, { state: "detached" });
		const [session] = (await ask("GET", `/v2/sessions?room_id=${room.id}`)).data;
		const peers = Object.values((await ask("GET", `/v2/sessions/${session.id}`)).peers);
		ok("the session has the time and the version of the sentence", peers.some((one) => one.consented_at && one.consent_text === "en-1"), JSON.stringify(peers));
		await close(page);

		await rules("asked");
		const free = await open_join(browser, stand, codes.guest);
		await enter_call(free, "guest");
		await free.waitForSelector(unrecorded);
		ok("asked: who has not agreed is inside, and marked", !is_time((await own(free)).consent));
		await close(free);
		await rules("notice");
		const told = await open_join(browser, stand, codes.guest);
		ok("notice: no box", (await told.locator(box).count()) === 0);
		await close(told);
		livekit.stop();
	});

const AGREED = "2026-01-02T10:00:05.000Z";
const stay = (id, more) => ({ id, name: id, role: "guest", user_id: id, joined_at: "2026-01-02T10:00:00.000Z", left_at: "2026-01-02T10:30:00.000Z", ...more });
/** Two stays of one person, of whom the first has agreed; somebody who took it back; and somebody who was not asked. */
const STAYS = [
	stay("p1", { name: "Mara", user_id: "mara", consented_at: AGREED }),
	stay("p2", { name: "Mara", user_id: "mara", joined_at: "2026-01-02T10:31:00.000Z" }),
	stay("p3", { name: "Ola", user_id: "ola", consented_at: AGREED, consent_withdrawn_at: "2026-01-02T10:20:00.000Z" }),
	stay("p4", { name: "Nora", user_id: "nora" }),
];

/** The rules in the form of a template, and who has agreed in a session. */
export const consent_in_console = (browser) =>
	group("consent in the console", async () => {
		const { template, room } = await make_room("Consent");
		const page = await new_page(browser);
		await sign_in(page, `/console/templates/${template.id}/settings`);
		const rules = (name = "") => `[data-pointer='/recordingRules${name}']`;
		await page.check(`${rules()} > .group-head .switch`);
		const words = await page.locator(`${rules("/consent")} option`).allTextContents();
		ok("what people are asked is said in words", words.slice(-3).join() === "Not asked,Asked,Required", words.join());
		ok("the hints", (await page.textContent(rules("/consent"))).includes("Required: nobody joins without agreeing.") && (await page.textContent(rules("/keepDays"))).includes("Leave empty to keep recordings for ever.") && (await page.textContent(rules("/chat"))).includes("Messages to one person are never kept."));
		await accessible(page, "the rules of recordings");
		await page.selectOption(`${rules("/consent")} select`, "required");
		await page.fill(`${rules("/keepDays")} input`, "4000");
		const saved = () => page.click(".save-bar button.primary");
		await saved();
		await page.waitForSelector(`${rules("/keepDays")} .fault:not([hidden])`);
		ok("4000 days are too many", true);
		await page.fill(`${rules("/keepDays")} input`, "90");
		await saved();
		await page.waitForSelector("#toasts:has-text('Settings saved.')");
		const read = async () => JSON.stringify((await api("GET", `/v2/templates/${template.id}/settings`)).recordingRules);
		const stored = JSON.parse(await read());
		ok("they are saved", stored.consent === "required" && stored.keepDays === 90, await read());
		await page.reload();
		await page.waitForSelector(`${rules("/keepDays")} input`);
		ok("and shown", (await page.inputValue(`${rules("/keepDays")} input`)) === "90" && (await page.inputValue(`${rules("/consent")} select`)) === "required");
		await page.uncheck(`${rules()} > .group-head .switch`);
		await saved();
		await page.waitForFunction(async () => document.querySelector(".save-bar")?.checkVisibility() !== true);
		ok("switched off, they are gone", (await read()) === undefined, await read());

		const session = { id: "6925c84100000000000000e1", room_id: room.id, active: false, created_at: STAYS[0].joined_at, updated_at: AGREED, peer_count: 4 };
		for (const [name, peers, agreed] of [
			["asked", STAYS, true],
			["not asked", [STAYS[1], STAYS[3]], false],
		]) {
			await page.route(`**/v2/sessions/${session.id}`, (route) => route.fulfill({ json: { ...session, peers: Object.fromEntries(peers.map((one) => [one.id, one])) } }));
			await page.goto(`${BASE}/console/sessions/${session.id}`);
			const table = "section[aria-labelledby=attendance]";
			await page.waitForSelector(`${table} tr:has-text('Mara')`);
			ok(`${name}: the column`, (await page.isVisible(`${table} th:has-text("Agreed to be recorded")`)) === agreed);
			if (agreed) {
				const cells = await page.locator(`${table} tbody td.consent`).allTextContents();
				ok("who has agreed, and who no longer", cells.length === 3 && /\d/.test(cells[0]) && !cells[0].includes("Withdrawn") && cells[1].includes("Withdrawn") && cells[2] === "", cells.join("|"));
			}
			await accessible(page, `attendance, ${name}`);
			await page.setViewportSize(SIZES.narrow.viewport);
			await accessible(page, `attendance, ${name}, narrow`);
			await page.setViewportSize(SIZES.desktop.viewport);
			await page.unroute(`**/v2/sessions/${session.id}`);
		}
		await page.context().close();
	});

/** The box in every size, at 400 %, light and dark, in a browser that keeps nothing. */
export const views_of_consent = (browser) =>
	group("views of consent", async () => {
		const stand = await make_call("Views of consent");
		for (const [name, options] of Object.entries({ ...SIZES, enlarged: ENLARGED })) {
			for (const colorScheme of ["light", "dark"]) {
				const rules = new Rules("required", { recording: "running" });
				const page = await open(browser, stand, rules, { ...options, colorScheme, locale: "de-DE" });
				await page.fill("#name", "Nora");
				await page.click(join);
				await page.waitForSelector(fault);
				await accessible(page, `consent, ${name}, ${colorScheme}`);
				const seen = await page.locator(box).evaluate((one) => {
					const { left, right, top, bottom } = one.getBoundingClientRect();
					return left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight;
				});
				ok(`${name}, ${colorScheme}: the box that has the focus is in the window`, seen);
				await close(page);
				const service = new Inside();
				service.may = ["record"];
				service.recordings = [service.one("running"), service.one("running", { type: "live" })];
				const call = await inside_call(browser, stand, service, "host", { ...options, colorScheme, locale: "de-DE" });
				await call.evaluate(() => fake.room.come("PA_1", "Mara"));
				await call.waitForSelector(".tile:has-text('Mara')");
				await marked(call, "Dieser Anruf wird aufgenommen. Dieser Anruf wird live übertragen. 0 von 2 werden aufgenommen. 0 von 2 werden übertragen");
				await accessible(call, `a call with consent, ${name}, ${colorScheme}`);
				const over = await call.locator(".recorded-mark:visible").evaluateAll((all) => all.some((one) => one.getBoundingClientRect().right > innerWidth || one.getBoundingClientRect().left < 0));
				ok(`${name}, ${colorScheme}: the mark is in the window`, !over);
				await close(call);
			}
		}
		stand.livekit.stop();
	});
