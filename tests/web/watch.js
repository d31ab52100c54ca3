// The page that plays a live stream, with streams that ffmpeg makes and the test serves in the place of the web
// server. Some browsers have a player of HLS of their own; hls.js is tried in any.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BASE, SIZES, accessible, button, group, new_page, ok } from "./stand.js";

const KEY = "AbCdEfGhIjKlMnOpQrStUv";
const SEGMENTS = 30;
const LIBRARY = "/web/hls.js-1.7.4.js";
const library = readFileSync(new URL("node_modules/hls.js/dist/hls.light.min.js", import.meta.url));

/** A stream of SEGMENTS segments of a second, of which the newest ones are listed as time goes by. */
class Stream {
	folder = mkdtempSync(join(tmpdir(), "stream-"));
	began = Date.now();
	title = "Lesson <1>";
	/** Whether there is one; whether it stands still, and since when; whether it has ended. */
	exists = true;
	still = 0;
	ended = false;
	info_ended = false;
	asked = 0;

	constructor() {
		const out = join(this.folder, "1-%d.ts");
		const more = ["-c:v", "libx264", "-preset", "ultrafast", "-g", "25", "-keyint_min", "25", "-sc_threshold", "0", "-pix_fmt", "yuv420p", "-c:a", "aac"];
		const ways = ["-f", "segment", "-segment_time", "1", "-segment_format", "mpegts", out];
		const sources = ["-f", "lavfi", "-i", `testsrc=s=320x180:r=25:d=${SEGMENTS}`, "-f", "lavfi", "-i", `sine=d=${SEGMENTS}`];
		execFileSync("ffmpeg", ["-v", "error", ...sources, ...more, ...ways]);
	}
	remove() {
		rmSync(this.folder, { recursive: true });
	}
	/** How many segments there are now. */
	get count() {
		const time = this.still || Date.now();
		return Math.min(readdirSync(this.folder).length, 1 + Math.floor((time - this.began) / 1000));
	}
	list() {
		const first = Math.max(0, this.count - 6);
		const lines = ["#EXTM3U", "#EXT-X-VERSION:6", "#EXT-X-TARGETDURATION:1", `#EXT-X-MEDIA-SEQUENCE:${first}`];
		for (let i = first; i < this.count; i++) lines.push(`#EXT-X-PROGRAM-DATE-TIME:${new Date(this.began + (i - 1) * 1000).toISOString()}`, "#EXTINF:1.000,", `1-${i}.ts`);
		if (this.ended) lines.push("#EXT-X-ENDLIST");
		return lines.join("\n") + "\n";
	}
	answer(name) {
		const is_segment = /^1-\d+\.ts$/.test(name);
		if (!this.exists) return { status: 404, body: "" };
		if (name === "live.m3u8") return { contentType: "application/vnd.apple.mpegurl", body: this.list() };
		if (is_segment) return { contentType: "video/mp2t", body: readFileSync(join(this.folder, name)) };
		const ended_at = this.info_ended ? "2026-01-01T11:00:00.000Z" : null;
		return { contentType: "application/json", body: JSON.stringify({ title: this.title, started_at: "2026-01-01T10:00:00.000Z", ended_at }) };
	}
	async serve(page) {
		await page.route(`**/live/${KEY}/*`, (route) => {
			this.asked++;
			return route.fulfill(this.answer(new URL(route.request().url()).pathname.split("/").pop()));
		});
	}
}

/** Opens the page of a stream. @param {boolean} with_library hls.js is installed @param {boolean} own the browser may use a player of its own */
async function open_watch(browser, stream, with_library, options = {}, own = false) {
	const page = await new_page(browser, options);
	await stream.serve(page);
	await page.route(`**${LIBRARY}`, (route) => route.fulfill({ contentType: "text/javascript", body: library }));
	await page.route("**/watch/*", async (route) => {
		const response = await route.fetch();
		const body = await response.text();
		return route.fulfill({ response, body: with_library ? body.replace('name="hls.js" content=""', `name="hls.js" content="${LIBRARY}"`) : body });
	});
	if (!own)
		await page.addInitScript(() => {
			HTMLMediaElement.prototype.canPlayType = () => "";
		});
	await page.goto(`${BASE}/watch/${KEY}`);
	return page;
}
const heard = (page, text) => page.waitForFunction((wanted) => document.getElementById("announcer").textContent.includes(wanted), text);
const close = (page) => page.context().close();
const state = (page, text) => page.waitForFunction((wanted) => document.querySelector(".watch-state")?.textContent.includes(wanted), text);
const plays = (page) => page.waitForFunction(() => (document.querySelector("video")?.currentTime ?? 0) > 1, null, { timeout: 60000 });

/** A stream that begins while the page waits, is interrupted, goes on, and ends. */
export const watching = (browser) =>
	group("watching a live stream", async () => {
		const stream = new Stream();
		stream.exists = false;
		const page = await open_watch(browser, stream, true);
		await page.waitForSelector("h1:text-is('There is no stream here')");
		await accessible(page, "a stream that has not started");
		stream.exists = true;
		stream.began = Date.now();
		await page.waitForSelector(`h1:text-is("${stream.title}")`);
		ok("the title is that of the page", (await page.title()) === `${stream.title} – Anteroom`);
		await plays(page);
		await state(page, "Live");
		await state(page, "seconds behind");
		const behind = Number(/(\d+) seconds/.exec(await page.textContent(".watch-state"))[1]);
		ok("it is a few seconds behind", behind >= 1 && behind <= 12, behind);
		ok("it is played by hls.js", (await page.getAttribute("video", "src"))?.startsWith("blob:"));
		ok("without a worker", page.workers().length === 0);
		await accessible(page, "a live stream");
		await page.focus(button("Full screen"));
		await page.keyboard.press("Enter");
		await page.waitForFunction(() => document.fullscreenElement?.localName === "video");
		await page.evaluate(() => document.exitFullscreen());
		stream.still = Date.now();
		await state(page, "The stream is interrupted");
		await heard(page, "interrupted");
		stream.began += Date.now() - stream.still;
		stream.still = 0;
		await state(page, "Live");
		stream.ended = stream.info_ended = true;
		stream.still = Date.now();
		await state(page, "This stream has ended");
		await page.waitForFunction(() => document.querySelector(".watch-head")?.textContent.includes("Ended at"));
		await heard(page, "This stream has ended");
		const { asked } = stream;
		await page.waitForTimeout(6000);
		ok("nothing is asked for after the end", stream.asked - asked <= 1, stream.asked - asked);
		await page.reload();
		await page.waitForSelector("p:text-is('This stream has ended')");
		await accessible(page, "a stream that has ended");
		stream.remove();
		await close(page);
	});

/** Browsers without a player, phones, and German. */
export const watching_elsewhere = (browser) =>
	group("watching elsewhere", async () => {
		const stream = new Stream();
		const page = await open_watch(browser, stream, false);
		await page.waitForSelector("[role=alert]:has-text('a player that is not installed on this server')");
		await accessible(page, "a browser without a player");
		await close(page);
		const phone = await open_watch(browser, stream, true, { ...SIZES.narrow, locale: "de-DE" });
		await plays(phone);
		await state(phone, "Sekunden verzögert");
		ok("the language of the page is German", (await phone.getAttribute("html", "lang")) === "de");
		ok("nothing is wider than the phone", await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
		await accessible(phone, "a live stream on a phone");
		await close(phone);
		stream.began = Date.now();
		const own = await open_watch(browser, stream, false, {}, true);
		if ((await own.evaluate(() => document.createElement("video").canPlayType("application/vnd.apple.mpegurl"))) !== "") {
			await plays(own);
			await state(own, "Live");
			ok("the browser's own player plays it", (await own.getAttribute("video", "src")) === `/live/${KEY}/live.m3u8`);
		}
		await close(own);
		const nowhere = await new_page(browser);
		await nowhere.goto(`${BASE}/watch/`);
		await nowhere.waitForSelector("h1:text-is('There is no stream here')");
		await close(nowhere);
		stream.remove();
	});
