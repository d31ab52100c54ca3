// Who is inside, before and after the join, as the settings of the template say.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { close, connected, control, make_call, open_join, press_join } from "./call.js";
import { BASE, accessible, group, ok } from "./stand.js";

const line = ".join-inside";
/** Has time pass for a page, and shows it again. @param {number} ms */
const later = (page, ms) =>
	page.evaluate((ms) => {
		const now = Date.now;
		Date.now = () => now() + ms;
		document.dispatchEvent(new Event("visibilitychange"));
	}, ms);
/** More than the time between two questions, and less, in milliseconds. */
const LATE = 11000;
const SOON = 4000;

/** Creates a call whose hosts are told who is inside. */
async function make_told(name, state) {
	const stand = await make_call(name);
	const template = `/v2/templates/${stand.template.id}`;
	await stand.api("PATCH", `${template}/settings`, { roomState: { enabled: true, sendPeerList: true, ...state } });
	for (const role of ["host", "guest"]) await stand.api("PATCH", `${template}/roles/${role}`, { permissions: { sendRoomState: true } });
	return stand;
}

/** Waits until the service knows that so many are inside. */
async function counted(stand, n) {
	for (;;) {
		const { inside } = await (await fetch(`${BASE}/v2/join/${stand.codes.host}`)).json();
		if (inside?.peer_count === n) return;
	}
}

/** What the join page says of any number of people; `come` are the names of those who come. */
const LINES = [
	{ come: [], en: "Nobody is here yet" },
	{ come: ["Ann"], en: "Ann is here" },
	{ come: ["Ben"], en: "Ann and Ben are here", de: "Ann und Ben sind da" },
	{ come: ["Cem"], en: "Ann, Ben and Cem are here", de: "Ann, Ben und Cem sind da" },
	{ come: ["Dan"], en: "Ann, Ben and 2 others are here", de: "Ann, Ben und 2 weitere sind da" },
	{ come: ["Eva", "Fay"], en: "Ann, Ben and 4 others are here", de: "Ann, Ben und 4 weitere sind da" },
];

export const inside_before = (browser) =>
	group("who is inside, before the join", async () => {
		const stand = await make_told("Inside before");
		let n = 0;
		let joined = Date.now() - 60000;
		for (const { come, ...says } of LINES) {
			for (const shown of come) {
				n += 1;
				joined += 1000;
				await stand.livekit.join(stand.room.id, shown, { shown, joined });
			}
			await counted(stand, n);
			for (const [locale, text] of Object.entries(says)) {
				const page = await open_join(browser, stand, stand.codes.host, { locale });
				await page.waitForSelector(line);
				const said = await page.textContent(line);
				ok(`${n} people in ${locale}`, said.endsWith(text), said);
				const faces = await page.locator(`${line} .face`).count();
				ok(`${n} people in ${locale}: the faces of those who are named`, faces === Math.min(n, 3), faces);
				const heard = await page.textContent("#announcer");
				ok(`${n} people in ${locale}: not announced`, !heard.includes(text), heard);
				if (n === 6) await accessible(page, `who is inside, in ${locale}`);
				await close(page);
			}
		}
		const viewer = await open_join(browser, stand, stand.codes.viewer);
		ok("a role that is not told sees nothing", (await viewer.locator(line).count()) === 0);
		await close(viewer);
		await stand.api("PATCH", `/v2/templates/${stand.template.id}/settings`, { roomState: { sendPeerList: false } });
		const number = await open_join(browser, stand, stand.codes.host);
		await number.waitForSelector(line);
		ok("without a list a number", (await number.textContent(line)) === "6 people are here", await number.textContent(line));
		await close(number);
		stand.livekit.stop();
	});

/** The line follows, with as few requests as possible. */
export const inside_again = (browser) =>
	group("who is inside, asked again", async () => {
		const stand = await make_told("Inside again");
		await stand.livekit.join(stand.room.id, "ann", { shown: "Ann" });
		await counted(stand, 1);
		const statuses = [];
		const is_look = (one) => one.url().includes("/v2/join/");
		const page = await open_join(browser, stand, stand.codes.host, {}, () => {}, (page) =>
			page.on("response", (one) => is_look(one) && statuses.push(one.status())),
		);
		const asked = () => page.waitForResponse(is_look);
		await page.waitForSelector(`${line}:has-text("Ann is here")`);
		await page.waitForLoadState("networkidle");
		await later(page, SOON);
		await Promise.all([asked(), later(page, LATE)]);
		ok("not sooner, and nothing has changed", statuses.join() === "200,304", statuses);
		await stand.livekit.join(stand.room.id, "ben", { shown: "Ben" });
		await counted(stand, 2);
		await Promise.all([asked(), later(page, LATE)]);
		await page.waitForSelector(`${line}:has-text("Ann and Ben are here")`);
		ok("somebody has come", statuses.join() === "200,304,200", statuses);
		const hide = (hidden) =>
			page.evaluate((value) => Object.defineProperty(document, "hidden", { value, configurable: true }), hidden);
		await hide(true);
		await later(page, LATE);
		await hide(false);
		await Promise.all([asked(), later(page, 0)]);
		ok("not while the page is hidden, and at once when it is shown again", statuses.join() === "200,304,200,304", statuses);
		await stand.api("PATCH", `/v2/rooms/${stand.room.id}`, { enabled: false });
		await Promise.all([asked(), later(page, LATE)]);
		await stand.api("PATCH", `/v2/rooms/${stand.room.id}`, { enabled: true });
		await later(page, LATE);
		await press_join(page, "Dora");
		await connected(page);
		ok("not again after a refusal", statuses.length === 5 && statuses.at(-1) === 403, statuses);
		await close(page);
		stand.livekit.stop();
	});

/** Once inside, nobody asks, or whoever has no list of people gets their number. */
export const inside_after = (browser) =>
	group("who is inside, after the join", async () => {
		for (const [stop, count] of [
			[true, "1"],
			[false, "4"],
		]) {
			const stand = await make_told(`Inside after ${stop}`, { sendPeerList: false, stopRoomStateOnJoin: stop });
			for (const one of ["ann", "ben", "cem"]) await stand.livekit.join(stand.room.id, one, { shown: one });
			await counted(stand, 3);
			const page = await open_join(browser, stand, stand.codes.host);
			let asked = 0;
			page.on("request", (one) => {
				if (one.url().includes("/v2/join/")) asked += 1;
			});
			await press_join(page, "Dora");
			await connected(page);
			await counted(stand, 4);
			await later(page, LATE);
			await page.waitForSelector(`.count[data-count="${count}"]`, { state: "attached" });
			ok(`stopRoomStateOnJoin ${stop}: the number`, true);
			ok(`stopRoomStateOnJoin ${stop}: asked`, stop ? asked === 0 : asked > 0, asked);
			const label = await page.getAttribute(control("people"), "aria-label");
			ok("the button says it", label === `People, ${count}`, label);
			const said = await page.textContent(".stage-line");
			ok("so does the stage", said.startsWith(stop ? "Nobody else is here yet" : "4 people are here"), said);
			// The media server names somebody: what was told before is older.
			await page.evaluate(() => fake.room.come("PA_x", "Xaver"));
			await page.waitForSelector(`.count[data-count="2"]`, { state: "attached" });
			await close(page);
			stand.livekit.stop();
		}
	});
