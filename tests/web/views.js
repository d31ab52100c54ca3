// How a call is shown: grid and speaker, a shared screen with people or alone, enlarged, without your own picture, with
// few videos.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { close, control, load, make_call, note, open_call, share, tiles } from "./call.js";
import { SIZES, accessible, group, ok } from "./stand.js";

const { few } = await load("quality.js");
const { voice } = await load("voice.js");

/**
 * Who speaks from which time on (`m` is yourself), and whom the speaker view then follows, with the time. `from` is when
 * the view is chosen.
 */
const VOICES = [
	{ name: "after 1.5 s", speaks: "0:a", follows: "a@1500" },
	{ name: "not before", speaks: "0:a 1499:", follows: "" },
	{ name: "nobody speaks any more", speaks: "0:a 2000: 9000:", follows: "a@1500" },
	{ name: "the next", speaks: "0:a 2000: 3000:b 4600:", follows: "a@1500 b@4500" },
	{ name: "a pause begins anew", speaks: "0:a 1000: 1100:a 2500:", follows: "" },
	{ name: "an interjection", speaks: "0:a 3000:ab 3800:a 9000:", follows: "a@1500" },
	{ name: "two at once", speaks: "0:a 2000:ab 9000:", follows: "a@1500" },
	{ name: "two from the start", speaks: "0:ab 9000:", follows: "" },
	{ name: "one of two goes on", speaks: "0:a 2000:ab 5000:b", follows: "a@1500 b@5000" },
	{ name: "one of two goes on, not long enough", speaks: "0:a 2000:ab 3000:b", follows: "a@1500 b@3500" },
	{ name: "not yourself", speaks: "0:m 9000:", follows: "" },
	{ name: "nor are you one of two", speaks: "0:ma", follows: "a@1500" },
	{ name: "the same again", speaks: "0:a 2000: 4000:a 8000:", follows: "a@1500" },
	{ name: "many changes around", speaks: "0:a 300:am 700:a 1100:am 1400:a", follows: "a@1500" },
	{ name: "no other view", speaks: "0:a 9000:", from: Infinity, follows: "" },
	{ name: "a view that is chosen later", speaks: "0:a", from: 1000, follows: "a@1500" },
	{ name: "a view that is chosen much later", speaks: "0:a", from: 5000, follows: "a@5000" },
];

/** Runs one row, with timers and a clock of its own. */
function follow({ speaks, from = 0 }) {
	const real = { setTimeout, clearTimeout, now: performance.now };
	let now = 0;
	let timers = [];
	globalThis.setTimeout = (act, time) => {
		const one = { act, at: now + time };
		timers.push(one);
		return one;
	};
	globalThis.clearTimeout = (one) => {
		timers = timers.filter((other) => other !== one);
	};
	performance.now = () => now;
	let most = 0;
	const until = (time) => {
		for (;;) {
			most = Math.max(most, timers.length);
			const [next] = timers.filter((one) => one.at <= time).sort((a, b) => a.at - b.at);
			if (!next) break;
			timers = timers.filter((one) => one !== next);
			now = next.at;
			next.act();
		}
		now = time;
	};
	try {
		const found = [];
		const followed = voice((id) => found.push(`${id}@${now}`));
		const events = speaks.split(" ").map((one) => one.split(":"));
		const steps = events.map(([at, who]) => [Number(at), () => followed.speaking(new Set([...who].map((id) => (id === "m" ? "me" : id))))]);
		if (from < Infinity) steps.push([from, () => followed.follow(true)]);
		for (const [at, act] of steps.sort((a, b) => a[0] - b[0])) {
			until(at);
			act();
		}
		until(20000);
		return { text: found.join(" "), most, left: timers.length };
	} finally {
		Object.assign(globalThis, { setTimeout: real.setTimeout, clearTimeout: real.clearTimeout });
		performance.now = real.now;
	}
}

const video = (id, priority, spoken, is_first = false) => ({ id, priority, spoken, is_first });
const FEW = [
	{ name: "all, if there are few", videos: [video("a", 1, 0), video("b", 1, 0)], left: "ab" },
	{ name: "those who came first", videos: [..."abcdef"].map((id) => video(id, 1, 0)), left: "abcd" },
	{ name: "who spoke last", videos: [..."abcdef"].map((id, i) => video(id, 1, i)), left: "cdef" },
	{ name: "a higher priority", videos: [..."abcdef"].map((id, i) => video(id, i < 2 ? 1 : 2, i)), left: "abef" },
	{ name: "your own and the large one count", videos: [video("m", 5, 0, true), ...[..."abcd"].map((id, i) => video(id, 1, i)), video("l", 5, 0, true)], left: "mlcd" },
];

/** Whom the speaker view follows and which videos few are, by tables. */
export const voices = () =>
	group("voices", async () => {
		for (const row of VOICES) {
			const found = follow(row);
			ok(`the voice: ${row.name}`, found.text === row.follows, found.text);
			ok(`the voice: ${row.name}: one timer at most, and none in the end`, found.most <= 1 && found.left === 0, JSON.stringify(found));
		}
		for (const { name, videos, left } of FEW) {
			const found = few(videos, 4);
			ok(`few videos: ${name}`, [...left].every((id) => found.has(id)) && found.size === left.length, [...found].join(""));
		}
	});

const come = (page, n, more = {}) =>
	page.evaluate(
		([count, rest]) => {
			for (let i = 1; i <= count; i++) fake.room.come(`PA_${i}`, `Person ${i}`, ["microphone", "camera"], rest);
		},
		[n, more],
	);
const unshare = (page, sid = "PA_2") =>
	page.evaluate((id) => {
		const one = fake.room.remoteParticipants.get(id);
		one.trackPublications.delete("screen_share");
		fake.room.emit("TrackUnpublished", {}, one);
	}, sid);
const speak = (page, ...sids) =>
	page.evaluate((ids) => fake.room.emit("ActiveSpeakersChanged", ids.map((id) => (id === "me" ? fake.room.localParticipant : fake.room.remoteParticipants.get(id)))), sids);
const wait_for_tiles = (page, n) => page.waitForFunction((wanted) => document.querySelectorAll(".tile").length === wanted, n);
/** Opens the menu of views. */
async function open_views(page) {
	await page.click(control("more"));
	await page.click(".menu-item:has-text('View…')");
	await page.waitForSelector(".menu-item:has-text('Back to More')");
}
async function choose(page, text) {
	await open_views(page);
	await page.click(`.menu-item:has-text("${text}")`);
}
/** The entries of the menu that is open; chosen or ticked ones have a star. */
const entries = async (page) =>
	(
		await page
			.locator(".menu-item")
			.evaluateAll((all) => all.map((one) => one.querySelector(".menu-text").textContent + (one.getAttribute("aria-checked") === "true" ? "*" : "")))
	).join();
const largest = (page) =>
	page.evaluate(() => {
		const [first] = [...document.querySelectorAll(".tile")].sort((a, b) => b.offsetWidth * b.offsetHeight - a.offsetWidth * a.offsetHeight);
		return first.querySelector(".who").textContent;
	});

const WINDOWS = {
	desk: { viewport: { width: 1366, height: 768 } },
	"768": SIZES.tablet,
	portrait: SIZES.phone,
	landscape: { ...SIZES.phone, viewport: { width: 844, height: 390 } },
	"400 %": { viewport: { width: 320, height: 256 } },
};

/** What is wrong with where things are. */
const misplaced = (page) =>
	page.evaluate(() => {
		const found = [];
		const of = (one) => one.getBoundingClientRect();
		const name = (one) => one.className.baseVal ?? one.className;
		const is_in = (a, b) => a.left >= b.left - 1 && a.top >= b.top - 1 && a.right <= b.right + 1 && a.bottom <= b.bottom + 1;
		const area = of(document.querySelector(".stage-area"));
		const boxes = [...document.querySelectorAll(".tile, .rest:not([hidden])")].map((one) => [one, of(one)]);
		const scrolls = document.querySelector(".scrolls") !== null;
		boxes.forEach(([one, box], i) => {
			if (!scrolls && !is_in(box, area)) found.push(`${name(one)} is outside`);
			for (const [other, its] of boxes.slice(i + 1)) {
				const apart = box.right <= its.left || its.right <= box.left || box.bottom <= its.top || its.bottom <= box.top;
				if (!apart) found.push(`${name(one)} is over ${name(other)}`);
			}
		});
		const screen = document.querySelector(".tile.screen");
		if (!screen) return found.join("; ");
		const [line, pane, tile] = [".caption", ".pane"].map((one) => of(screen.querySelector(one))).concat(of(screen));
		if (line.height !== 40) found.push(`the line is ${line.height} pixels high`);
		if (pane.bottom > line.top + 0.5) found.push("the line is over the picture");
		if (Math.abs(pane.height + line.height - tile.height) > 1 || pane.height < 20) found.push(`the picture is ${pane.height} pixels high`);
		const small = matchMedia("(max-width: 700px), (max-height: 480px), (pointer: coarse)").matches ? 40 : 24;
		for (const one of screen.querySelectorAll("button")) {
			if (!one.checkVisibility()) continue;
			const box = of(one);
			if (!is_in(box, line)) found.push(`${name(one)} is outside of the line`);
			if (box.width < small || box.height < small) found.push(`${name(one)} is ${box.width} x ${box.height}`);
			const hit = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
			if (!one.contains(hit)) found.push(`${name(one)} is below ${name(hit)}`);
		}
		const speaker = document.querySelector(".hidden-speaker");
		if (!speaker.hidden && of(speaker).bottom > line.top && of(speaker).top < line.bottom) found.push("the speaker is named over the line");
		return found.join("; ");
	});

/** Each view in each window. */
export const views_in_all_windows = (browser) =>
	group("views in all windows", async () => {
		const stand = await make_call("Windows");
		for (const [size, options] of Object.entries(WINDOWS)) {
			for (const colorScheme of ["light", "dark"]) {
				const page = await open_call(browser, stand, "host", { ...options, colorScheme });
				const check = async (what) => {
					const name = `${what}, ${size}, ${colorScheme}`;
					const wrong = await misplaced(page);
					ok(`everything has its place: ${name}`, wrong === "", wrong);
					await accessible(page, name);
				};
				await come(page, 11);
				await wait_for_tiles(page, 12);
				await check("grid");
				await page.keyboard.press("g");
				await page.waitForFunction(() => document.querySelectorAll(".tile").length < 13 && document.querySelector(".tile").offsetWidth > 140);
				await check("speaker");
				await speak(page, "PA_11");
				await share(page, "PA_2");
				await page.waitForFunction(() => document.querySelector(".tile.screen video")?.videoWidth > 0);
				await check("screen and people");
				const ratio = await page.locator(".pane").evaluate((one) => one.clientWidth / one.clientHeight);
				ok(`the picture has no bars: ${size}`, Math.abs(ratio - 1.6) < 0.05 || size === "400 %", ratio);
				const shown = await page.locator(".zoom-fit, .caption-view span").evaluateAll((all) => all.map((one) => one.checkVisibility()).join());
				ok(`"100 %" and the word of the view: ${size}`, shown === (["desk", "768"].includes(size) ? "true,true" : "false,false"), shown);
				await page.keyboard.press("g");
				await wait_for_tiles(page, 1);
				await page.waitForSelector(".hidden-speaker:has-text('Person 11 is speaking')");
				await page.keyboard.press("+");
				await page.waitForSelector(".zoom-fit:has-text('150 %')", { state: "attached" });
				await check("screen only, enlarged");
				ok(`"150 %" is there: ${size}`, size === "400 %" || (await page.isVisible(".zoom-fit")));
				await open_views(page);
				await accessible(page, `the menu of views, ${size}, ${colorScheme}`);
				await close(page);
			}
		}
		stand.livekit.stop();
	});

/** Whoever speaks is large, by a clock that the test moves. */
export const speaker_view = (browser) =>
	group("the speaker view", async () => {
		const stand = await make_call("Speaker");
		const page = await open_call(browser, stand, "host", WINDOWS.desk);
		await come(page, 11);
		await wait_for_tiles(page, 12);
		await page.clock.install();
		// The clock stands still but for what the test lets pass.
		await page.clock.pauseAt(Date.now() + 60000);
		const grid = (await tiles(page)).join();
		await speak(page, "PA_3");
		await speak(page);
		ok("the grid stays whoever speaks", (await tiles(page)).join() === grid);
		await page.keyboard.press("g");
		await page.waitForSelector(".rest:has-text('+8')");
		ok("who spoke last is large, from the start", (await tiles(page)).join() === "Person 3,You,Person 1,Person 2", (await tiles(page)).join());
		ok("the rest has its place in the strip", await page.evaluate(() => document.querySelector(".rest").offsetWidth === document.querySelectorAll(".tile")[1].offsetWidth));
		const moving = await page.evaluate(() => document.getAnimations().length);
		ok("nothing moves between views", moving === 0, moving);
		await speak(page, "PA_2");
		await page.clock.runFor(1400);
		ok("not before 1.5 s", (await largest(page)) === "Person 3", await largest(page));
		await page.clock.runFor(100);
		ok("after 1.5 s", (await largest(page)) === "Person 2", await largest(page));
		ok("the two change places, nobody else", (await tiles(page)).join() === "Person 2,You,Person 1,Person 3", (await tiles(page)).join());
		await speak(page);
		await page.clock.runFor(60000);
		ok("the last one stays while nobody speaks", (await largest(page)) === "Person 2");
		await speak(page, "PA_1", "PA_3");
		await page.clock.runFor(60000);
		ok("two at once: nobody changes", (await largest(page)) === "Person 2");
		await speak(page, "me");
		await page.clock.runFor(60000);
		ok("oneself is never large", (await largest(page)) === "Person 2");
		await speak(page, "PA_9");
		await page.clock.runFor(1500);
		ok("who had no place in the strip", (await largest(page)) === "Person 9" && (await tiles(page)).includes("Person 2"), (await tiles(page)).join());
		const [button] = await page.$$(".tile:nth-child(3) .options");
		await button.focus();
		await speak(page, "PA_2");
		await page.clock.runFor(1500);
		const is_focused = await button.evaluate((one) => one === document.activeElement);
		ok("a tile that stays keeps the focus", is_focused && (await largest(page)) === "Person 2");
		await page.dblclick(".tile:has-text('Person 9') .face-place", { force: true });
		await page.waitForSelector(".tile:has-text('Person 9') .mark[title='kept large']", { state: "attached" });
		await speak(page, "PA_2");
		await page.clock.runFor(3000);
		ok("a pinned person stays", (await largest(page)) === "Person 9");
		await share(page, "PA_2");
		await page.clock.runFor(100);
		await speak(page, "PA_9");
		await page.clock.runFor(3000);
		ok("also when somebody shares", (await largest(page)) === "Person 9");
		await page.dblclick(".tile:first-child .face-place", { force: true });
		await page.waitForSelector(".tile.screen");
		await speak(page, "PA_1");
		await page.clock.runFor(3000);
		ok("a shared screen wins", (await largest(page)) === "Person 2 is sharing a screen", await largest(page));
		await unshare(page);
		await page.clock.runFor(100);
		ok("and then the voice", (await largest(page)) === "Person 1", await largest(page));
		await page.evaluate(() => fake.room.go("PA_1"));
		await page.clock.runFor(100);
		const next = await largest(page);
		ok("who is large leaves: who spoke last before", next === "Person 9", next);
		await page.keyboard.press("g");
		await wait_for_tiles(page, 11);
		ok("the grid is in its order again", (await tiles(page)).join() === "You,Person 2,Person 3,Person 4,Person 5,Person 6,Person 7,Person 8,Person 9,Person 10,Person 11", (await tiles(page)).join());
		await close(page);

		// A person of a higher priority, whom nobody has heard yet.
		const ranked = await open_call(browser, stand, "host", WINDOWS.desk, () => localStorage.setItem("view", "speaker"));
		await come(ranked, 3);
		await wait_for_tiles(ranked, 4);
		await ranked.evaluate(() => fake.room.come("PA_9", "Anna", ["microphone"], { attributes: { role: "host" }, joinedAt: new Date(9e9) }));
		await wait_for_tiles(ranked, 5);
		ok("who was large first stays, though somebody of a higher priority comes", (await largest(ranked)) === "Person 1", await largest(ranked));
		await ranked.keyboard.press("g");
		await ranked.keyboard.press("g");
		ok("and is still the one after another view", (await largest(ranked)) === "Person 1", await largest(ranked));
		await ranked.evaluate(() => fake.room.go("PA_1"));
		await wait_for_tiles(ranked, 4);
		ok("who is chosen then has the highest priority", (await largest(ranked)) === "Anna", await largest(ranked));
		await ranked.evaluate(() => ["PA_2", "PA_3"].forEach((id) => fake.room.go(id)));
		await ranked.waitForSelector(".pair");
		ok("of two people the other one is large in any case", (await largest(ranked)) === "Anna");
		await close(ranked);
		stand.livekit.stop();
	});

/** The menu of views, keys, and what is kept. */
export const choosing_views = (browser) =>
	group("choosing views", async () => {
		const stand = await make_call("Choosing");
		const page = await open_call(browser, stand, "guest", WINDOWS.desk);
		page.on("dialog", (one) => one.accept());
		await come(page, 5);
		await wait_for_tiles(page, 6);
		await page.click(control("more"));
		ok("More has the present view", (await page.textContent(".menu-item:has-text('View…')")) === "View…Grid");
		await page.click(".menu-item:has-text('View…')");
		ok("the views", (await entries(page)) === "Back to More,Grid*,Speaker,Hide your own picture,Show fewer videos", await entries(page));
		ok("the chosen one has the focus", (await page.evaluate(() => document.activeElement.textContent)) === "Grid");
		await page.keyboard.press("Home");
		await page.keyboard.press("Enter");
		await page.waitForSelector(".menu-item:has-text('View…')");
		ok("the first entry leads back", true);
		await page.keyboard.press("Escape");
		await choose(page, "Speaker");
		ok("a view is kept on the device", (await page.evaluate(() => localStorage.getItem("view"))) === "speaker");
		await page.reload();
		await page.waitForFunction(() => performance.getEntriesByName("connected").length > 0);
		await come(page, 5);
		await wait_for_tiles(page, 4);
		await page.click(control("more"));
		ok("also after a reload", (await page.textContent(".menu-item:has-text('View…')")) === "View…Speaker");
		await page.keyboard.press("Escape");
		await page.keyboard.press("g");
		await wait_for_tiles(page, 6);
		ok("G switches", (await page.evaluate(() => localStorage.getItem("view"))) === "grid");
		await page.waitForFunction(() => document.getElementById("announcer").textContent.includes("Grid"));
		ok("and says it", true);

		await share(page, "PA_2");
		await page.waitForSelector(".tile.screen");
		await page.click(control("more"));
		ok("More has the present view of a screen", (await page.textContent(".menu-item:has-text('View…')")) === "View…Screen and people");
		await page.click(".menu-item:has-text('View…')");
		ok("the views of a screen", (await entries(page)).startsWith("Back to More,Screen and people*,Screen only,Hide"), await entries(page));
		await page.click(".menu-item:has-text('Screen only')");
		await wait_for_tiles(page, 1);
		await speak(page, "PA_4");
		await page.waitForSelector(".hidden-speaker:has-text('Person 4 is speaking')");
		ok("screen only: no strip, and who speaks is named", (await tiles(page)).join() === "Person 2 is sharing a screen");
		await page.click(".caption-view:has-text('Screen and people')");
		await page.waitForSelector(".caption-view:has-text('Screen only')");
		ok("the line switches back", (await tiles(page)).length > 3);
		const focused = await page.evaluate(() => document.activeElement.getAttribute("aria-label"));
		ok("and keeps the focus", focused === "Screen only", focused);
		await page.keyboard.press("g");
		await wait_for_tiles(page, 1);
		ok("G switches the views of a screen", true);
		await unshare(page);
		await wait_for_tiles(page, 6);
		ok("the grid is as before", (await page.evaluate(() => localStorage.getItem("view"))) === "grid");
		await share(page, "PA_2");
		await wait_for_tiles(page, 1);
		ok("screen only is kept for this call", true);
		await page.click(control("people"));
		await page.click(".people [aria-label='Options for Person 4']");
		await page.click(".menu-item:has-text('Keep large')");
		await page.waitForFunction(() => document.querySelectorAll(".tile").length > 3);
		ok("a person can be kept large all the same", (await largest(page)) === "Person 4");
		await choose(page, "Screen only");
		await wait_for_tiles(page, 1);
		ok("whoever chooses a view of the screen sees it", (await tiles(page)).join() === "Person 2 is sharing a screen");
		await unshare(page);
		await wait_for_tiles(page, 6);

		const told = note("Your picture is hidden only from you. Others still see it.");
		await choose(page, "Hide your own picture");
		await page.waitForSelector(told);
		await wait_for_tiles(page, 5);
		ok("one's own picture is hidden", !(await tiles(page)).includes("You"));
		ok("the camera stays on", (await page.getAttribute(control("video"), "aria-label")) === "Turn camera off" || (await page.getAttribute(control("video"), "aria-label")) === "Turn camera on");
		const before = await page.getAttribute(control("video"), "aria-label");
		ok("the list has oneself first", (await page.locator(".person-name").first().textContent()) === "The guest (you)");
		await page.click(`${told} .note-close`);
		await open_views(page);
		ok("the tick", (await entries(page)).includes("Hide your own picture*"), await entries(page));
		await page.click(".menu-item:has-text('Hide your own picture')");
		await wait_for_tiles(page, 6);
		await choose(page, "Hide your own picture");
		await wait_for_tiles(page, 5);
		ok("it is told once", (await page.locator(told).count()) === 0);
		ok("and the camera is as it was", (await page.getAttribute(control("video"), "aria-label")) === before);
		await page.reload();
		await page.waitForFunction(() => performance.getEntriesByName("connected").length > 0);
		await come(page, 1);
		await page.waitForFunction(() => document.querySelector(".tile .who")?.textContent === "Person 1");
		ok("it holds for this call, and of two people the other one has the stage", (await tiles(page)).join() === "Person 1", (await tiles(page)).join());
		await close(page);

		const viewer = await open_call(browser, stand, "viewer", WINDOWS.desk);
		await come(viewer, 3);
		await wait_for_tiles(viewer, 3);
		await open_views(viewer);
		ok("who has no picture hides none", (await entries(viewer)) === "Back to More,Grid*,Speaker,Show fewer videos", await entries(viewer));
		await close(viewer);
		stand.livekit.stop();
	});

/** Four videos at most: your own, the large one, then by priority, then who spoke last. */
export const few_videos = (browser) =>
	group("few videos", async () => {
		const stand = await make_call("Few");
		const page = await open_call(browser, stand, "host", WINDOWS.desk);
		await come(page, 8);
		await wait_for_tiles(page, 9);
		await page.waitForFunction(() => !document.querySelector(".tile.me video").hidden);
		/** Whose videos play: in the page, and from the media server. */
		const playing = () =>
			page.evaluate(() => {
				const shown = [...document.querySelectorAll(".tile")].filter((one) => !one.querySelector("video").hidden).map((one) => one.dataset.id);
				const attached = [...fake.room.remoteParticipants.values()].filter((one) => one.getTrackPublication("camera").track.attachedElements.length > 0).map((one) => one.sid);
				return [shown.join(), attached.join()].join(" ");
			});
		ok("all videos", (await playing()) === "me,PA_1,PA_2,PA_3,PA_4,PA_5,PA_6,PA_7,PA_8 PA_1,PA_2,PA_3,PA_4,PA_5,PA_6,PA_7,PA_8", await playing());
		await choose(page, "Show fewer videos");
		ok("four, with one's own", (await playing()) === "me,PA_1,PA_2,PA_3 PA_1,PA_2,PA_3", await playing());
		ok("the others say why", (await page.locator(".tile .mark[title='Video paused to save data']").count()) === 5);
		await accessible(page, "few videos");
		await speak(page, "PA_7");
		ok("who speaks has one", (await playing()) === "me,PA_1,PA_2,PA_7 PA_1,PA_2,PA_7", await playing());
		ok("nobody moves", (await tiles(page)).join() === "You,Person 1,Person 2,Person 3,Person 4,Person 5,Person 6,Person 7,Person 8", (await tiles(page)).join());
		await page.dblclick(".tile:has-text('Person 8') .face-place", { force: true });
		ok("the large one has one", (await playing()).split(" ")[0].split(",").sort().join() === "PA_1,PA_7,PA_8,me", await playing());
		await share(page, "PA_2");
		await page.dblclick(".tile:first-child .face-place", { force: true });
		await page.waitForSelector(".tile.screen");
		const shown = (await playing()).split(" ")[0].split(",");
		ok("a shared screen is one of them", shown.length === 4 && shown[0] === "screen:PA_2" && shown.includes("me") && shown.includes("PA_7"), shown.join());
		await choose(page, "Show fewer videos");
		await unshare(page);
		await wait_for_tiles(page, 9);
		ok("all again", (await playing()).startsWith("me,PA_1,PA_2,PA_3,PA_4,PA_5,PA_6,PA_7,PA_8 "), await playing());
		await close(page);
		stand.livekit.stop();
	});

/** A shared screen that is enlarged, in all ways. */
export const zooming = (browser) =>
	group("a shared screen enlarged", async () => {
		const stand = await make_call("Zoom");
		/** The size in percent, and where the picture is in its place. */
		const state = (page) =>
			page.evaluate(() => {
				const [pane, video] = [document.querySelector(".pane"), document.querySelector(".pane video")];
				const [a, b] = [pane.getBoundingClientRect(), video.getBoundingClientRect()];
				const fit = Math.min(b.width / video.videoWidth, b.height / video.videoHeight);
				const [w, h] = [video.videoWidth * fit, video.videoHeight * fit];
				const [left, top] = [b.left + (b.width - w) / 2 - a.left, b.top + (b.height - h) / 2 - a.top];
				return {
					percent: Number(document.querySelector(".zoom-fit").textContent.replace(" %", "")),
					// In shares of the place: where it begins, and how much of it is empty.
					x: left / a.width,
					y: top / a.height,
					empty_x: Math.max(0, left, a.width - left - w) / a.width,
					empty_y: Math.max(0, top, a.height - top - h) / a.height,
				};
			});
		const is = (found, percent, x, y) => found.percent === percent && Math.abs(found.x - x) < 0.01 && Math.abs(found.y - y) < 0.01;
		const page = await open_call(browser, stand, "guest", WINDOWS.desk);
		const loaded = () => page.evaluate(() => performance.getEntriesByType("resource").filter((one) => one.name.endsWith("/call/zoom.js")).length);
		await come(page, 3);
		await wait_for_tiles(page, 4);
		await page.keyboard.press("+");
		ok("nothing is loaded before somebody shares", (await loaded()) === 0);
		await share(page, "PA_2");
		await page.waitForFunction(() => document.querySelector(".tile.screen video")?.videoWidth > 0);
		await page.waitForFunction(() => performance.getEntriesByType("resource").some((one) => one.name.endsWith("/call/zoom.js")));
		await page.waitForFunction(() => document.querySelector(".zoom-fit").getAttribute("aria-label") === "Fit, Zoom 100 %");
		ok("a share begins at 100 %", is(await state(page), 100, 0, 0), JSON.stringify(await state(page)));
		const box = await page.locator(".pane").boundingBox();
		const at = (x, y) => [box.x + x * box.width, box.y + y * box.height];
		const percent = (n) => page.waitForFunction((wanted) => document.querySelector(".zoom-fit")?.textContent === `${wanted} %`, n);
		const check = async (name, n, x, y) => {
			await percent(n);
			const found = await state(page);
			ok(name, is(found, n, x, y), JSON.stringify(found));
		};
		await page.mouse.dblclick(...at(0.2, 0.5));
		await check("a double click enlarges at its point", 250, -0.3, -0.75);
		ok("nobody is kept large by it", (await page.locator(".mark[title='kept large']").count()) === 0);
		await page.mouse.move(...at(0.5, 0.5));
		await page.mouse.down();
		await page.mouse.move(...at(0.4, 0.6), { steps: 3 });
		await page.mouse.up();
		await check("the mouse moves it", 250, -0.4, -0.65);
		await page.mouse.move(...at(0.1, 0.1));
		await page.mouse.down();
		await page.mouse.move(...at(0.9, 0.9), { steps: 3 });
		await page.mouse.up();
		await check("nothing empty is pulled in", 250, 0, 0);
		await page.mouse.dblclick(...at(0.5, 0.5));
		await check("a double click goes back", 100, 0, 0);
		for (let i = 0; i < 3; i++) await page.keyboard.press("+");
		await check("the key +, at the middle", 250, -0.75, -0.75);
		await page.waitForFunction(() => document.getElementById("announcer").textContent.includes("Zoom 250 %"));
		ok("it is said", true);
		await page.keyboard.press("-");
		await check("the key -", 200, -0.5, -0.5);
		for (let i = 0; i < 9; i++) await page.keyboard.press("+");
		await check("at most 400 %", 400, -1.5, -1.5);
		await page.keyboard.press("0");
		await check("the key 0", 100, 0, 0);
		await page.keyboard.press("-");
		await check("at least 100 %", 100, 0, 0);
		await page.click(".caption [aria-label='Zoom in']");
		await check("the button Zoom in", 150, -0.25, -0.25);
		await page.keyboard.press("ArrowRight");
		await check("arrows move it from the line", 150, -0.45, -0.25);
		await page.keyboard.press("ArrowDown");
		await check("also down", 150, -0.45, -0.45);
		await page.click(".caption [aria-label='Zoom out']");
		await check("the button Zoom out", 100, 0, 0);
		await page.keyboard.press("+");
		await percent(150);
		await page.click(".zoom-fit");
		await check("the button Fit", 100, 0, 0);
		await page.mouse.move(...at(1, 1).map((value) => value - 1));
		await page.mouse.wheel(0, -300);
		ok("the wheel alone does nothing", (await state(page)).percent === 100);
		await page.keyboard.down("Control");
		await page.mouse.wheel(0, -300);
		await page.keyboard.up("Control");
		await check("Ctrl and the wheel, at the pointer", 200, -1, -1);
		await page.setViewportSize({ width: 1000, height: 900 });
		await page.waitForFunction(() => document.querySelector(".stage-area").clientWidth < 1010);
		const resized = await state(page);
		ok("another window: nothing empty", resized.empty_x < 0.01 && resized.empty_y < 0.01, JSON.stringify(resized));
		await page.setViewportSize(WINDOWS.desk.viewport);
		await page.keyboard.press("g");
		await wait_for_tiles(page, 1);
		const only = await state(page);
		ok("screen only: it stays enlarged, and uses the whole stage", only.percent === 200 && only.empty_x < 0.01 && only.empty_y < 0.01, JSON.stringify(only));
		await page.keyboard.press("0");
		await percent(100);
		const whole = await state(page);
		ok("and lies in the middle", whole.empty_x > 0.05 && Math.abs(whole.x - whole.empty_x) < 0.01 && whole.empty_y < 0.01, JSON.stringify(whole));
		await page.keyboard.press("+");
		await percent(150);
		await unshare(page);
		await wait_for_tiles(page, 4);
		await share(page, "PA_3");
		await page.waitForSelector(".tile.screen");
		await page.waitForFunction(() => document.querySelector(".tile.screen video")?.videoWidth > 0);
		ok("a new share begins at 100 %", (await state(page)).percent === 100);
		await page.keyboard.press("+");
		await percent(150);
		await share(page, "PA_3");
		await percent(100);
		ok("also of the same person", (await page.locator(".tile.screen").count()) === 1);
		await close(page);

		// Fingers, on a phone: one after another where the test says so.
		const phone = await open_call(browser, stand, "guest", SIZES.phone);
		await come(phone, 3);
		await wait_for_tiles(phone, 4);
		await share(phone, "PA_2");
		await phone.waitForFunction(() => document.querySelector(".tile.screen video")?.videoWidth > 0);
		await phone.waitForFunction(() => document.querySelector(".zoom-fit").getAttribute("aria-label") === "Fit, Zoom 100 %");
		await phone.waitForFunction(() => performance.getEntriesByType("resource").some((one) => one.name.endsWith("/call/zoom.js")));
		const place = await phone.locator(".pane").boundingBox();
		const debug = await phone.context().newCDPSession(phone);
		const touch = (type, ...points) =>
			debug.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y], id) => ({ id, x: place.x + x * place.width, y: place.y + y * place.height })) });
		await touch("touchStart", [0.4, 0.5]);
		await touch("touchStart", [0.4, 0.5], [0.6, 0.5]);
		await touch("touchMove", [0.3, 0.5], [0.7, 0.5]);
		await touch("touchEnd");
		const pinched = await state(phone);
		ok("two fingers enlarge at their middle", is(pinched, 200, -0.5, -0.5), JSON.stringify(pinched));
		await touch("touchStart", [0.4, 0.5]);
		await touch("touchStart", [0.4, 0.5], [0.6, 0.5]);
		await touch("touchMove", [0.5, 0.5], [0.7, 0.5]);
		await touch("touchEnd");
		const moved = await state(phone);
		ok("and move it", is(moved, 200, -0.4, -0.5), JSON.stringify(moved));
		await touch("touchStart", [0.5, 0.5]);
		await touch("touchMove", [0.3, 0.4]);
		await touch("touchEnd");
		const dragged = await state(phone);
		ok("one finger moves it", is(dragged, 200, -0.6, -0.6), JSON.stringify(dragged));
		for (let i = 0; i < 2; i++) {
			await touch("touchStart", [0.5, 0.5]);
			await touch("touchEnd");
		}
		ok("a double tap goes back", is(await state(phone), 100, 0, 0), JSON.stringify(await state(phone)));
		for (let i = 0; i < 2; i++) {
			await touch("touchStart", [0.8, 0.5]);
			await touch("touchEnd");
		}
		const tapped = await state(phone);
		ok("a double tap enlarges at its point", is(tapped, 250, -1.2, -0.75), JSON.stringify(tapped));
		for (const x of [0.1, 0.9]) {
			await touch("touchStart", [x, 0.5]);
			await touch("touchEnd");
		}
		ok("two taps at two places are none", (await state(phone)).percent === 250);
		await close(phone);

		// The file cannot be loaded at first.
		let is_there = false;
		const cut = await open_call(browser, stand, "guest", WINDOWS.desk, undefined, (one) =>
			one.route("**/call/zoom.js", (route) => (is_there ? route.continue() : route.abort())),
		);
		await come(cut, 2);
		await share(cut, "PA_2");
		await cut.waitForSelector(".tile.screen");
		await cut.click(".caption [aria-label='Zoom in']");
		await cut.waitForSelector(note("That is not possible right now. Try again."));
		is_there = true;
		await cut.click(".caption [aria-label='Zoom in']");
		await cut.waitForSelector(".zoom-fit:has-text('150 %')");
		ok("what could not be loaded is said, and tried again", true);
		await close(cut);
		stand.livekit.stop();
	});

/** Where texts are read from right to left, the first tile is at the right, and what stands on a tile is mirrored. */
export const from_the_right = (browser) =>
	group("from right to left", async () => {
		const stand = await make_call("From the right");
		const page = await open_call(browser, stand, "host");
		await page.evaluate(() => {
			document.documentElement.dir = "rtl";
			for (let i = 1; i <= 3; i++) fake.room.come(`PA_${i}`, `Person ${i}`);
		});
		await page.waitForSelector(".tile >> nth=3");
		const [first, second] = await page.locator(".tile").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().x));
		ok("the first tile is at the right", first > second, `${first} ${second}`);
		const sides = await page.locator(".tile >> nth=1").evaluate((one) => {
			const middle = (box) => box.x + box.width / 2;
			return [".tag", ".options"].map((part) => Math.sign(middle(one.querySelector(part).getBoundingClientRect()) - middle(one.getBoundingClientRect()))).join();
		});
		ok("the name is at the right, the options at the left", sides === "1,-1", sides);
		await page.focus(".tile[data-id=PA_2] .options");
		await page.keyboard.press("ArrowLeft");
		const at = await page.evaluate(() => document.activeElement.closest(".tile")?.dataset.id);
		ok("the arrow to the left goes to the left", at === "PA_3", at);
		await close(page);
		stand.livekit.stop();
	});
