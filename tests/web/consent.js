// Whether people agree to be recorded: what the join page asks, what the call offers and shows, and the forms of the
// console. Where the words of the rules change while the test runs, it answers in place of the service.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { close, connected, control, enter_call, make_call, open_join, title, with_library } from "./call.js";
import { SIZES, accessible, body_of, button, group, make_room, new_page, ok, sign_in } from "./stand.js";

const TEXT = "This call may be recorded or streamed. I agree.";
/** The sentences that people have agreed to, by what the service keeps of them: another sentence has another version. */
const SENTENCES = {
	"en-1": TEXT,
	"de-1": "Dieser Anruf kann aufgenommen oder live übertragen werden. Ich stimme zu.",
};
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
			ok(`${version}: its sentence`, text === SENTENCES[version], text);
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
		stand.livekit.stop();
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
			}
		}
		stand.livekit.stop();
	});
