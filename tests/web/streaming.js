// Streams in a call: what those who may have for starting and stopping them. The test answers in place of the service
// what it has for streams.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { close, control, enter_call, focused, make_call, note, open_join } from "./call.js";
import { BASE, accessible, button, group, ok } from "./stand.js";

const ROOM = /\/v2\/(live|external)-streams\/room\/\w+\/(start|stop)$/;
const KEY = "AbCdEfGhIjKlMnOpQrStUv";
const STREAM = { id: "stream", status: "running", playback: { url: `https://other.example.org/live/${KEY}/live.m3u8` } };

/** The service, as far as it is for streams. */
class Streamer {
	may = ["live", "stream"];
	recordings = [];
	asked = [];
	refusal = null;

	async serve(page) {
		await page.route("**/me", async (route) => {
			const response = await route.fetch();
			if (!response.ok()) return route.fulfill({ response });
			const me = await response.json();
			this.me = me.peer.id;
			return route.fulfill({ response, json: { ...me, may: this.may, recordings: this.recordings } });
		});
		await page.route(ROOM, (route) => {
			const [, type, what] = ROOM.exec(route.request().url());
			this.asked.push(`${type} ${what}`);
			if (this.refusal) return route.fulfill(this.refusal);
			if (what === "start") this.recordings = [...this.recordings, this.one(type, "starting")];
			else this.recordings = this.recordings.filter((one) => one.type !== type);
			return route.fulfill({ json: what === "stop" ? { data: [STREAM] } : type === "live" ? STREAM : { id: "other" } });
		});
		await page.route("**/v2/live-streams?*", (route) => route.fulfill({ json: { data: [{ ...STREAM, status: "completed", playback: { url: "old" } }, STREAM] } }));
	}
	one = (type, state, by = this.me) => ({ type, state, since: "2026-01-01T10:00:00.000Z", by, name: "The host" });
	async change(page, recordings) {
		this.recordings = recordings;
		await page.evaluate(() => fake.room.say("anteroom", { type: "recordings" }));
	}
}

/** Starting and stopping, the link to watch, and why a start was refused. */
export const streaming_calls = (browser) =>
	group("streaming a call", async () => {
		const stand = await make_call("Streaming calls");
		const streamer = new Streamer();
		const page = await open_join(browser, stand, stand.codes.host, {}, () => {}, (one) => streamer.serve(one));
		await page.waitForSelector("button.round:has([href$='#mic'])");
		await enter_call(page, "host");
		await page.waitForFunction(() => performance.getEntriesByType("resource").some((one) => one.name.includes("/words/recording/")));
		const choose = async (text) => {
			const entry = page.locator(`.menu-item:has-text("${text}")`);
			for (;;) {
				await page.click(control("more"));
				await page.waitForSelector(".menu");
				if ((await entry.count()) > 0) return entry.click();
				await page.keyboard.press("Escape");
			}
		};
		const link = () => page.evaluate(() => navigator.clipboard.readText());
		await choose("Stream live…");
		await page.waitForSelector("dialog:has-text('Anyone who has the link can watch')");
		ok("the focus is on the button that starts", (await focused(page)) === "Start stream", await focused(page));
		await accessible(page, "before a stream");
		await page.click(button("Cancel"));
		ok("Cancel starts nothing", streamer.asked.length === 0);
		await choose("Stream live…");
		await page.keyboard.press("Enter");
		await page.waitForSelector(note("Send the link to those who are to watch."));
		await page.click(button("Copy the link to watch"));
		await page.waitForSelector(note("Link copied."));
		ok("the link is that of the page", (await link()) === `${BASE}/watch/${KEY}`, await link());
		await streamer.change(page, [streamer.one("live", "running")]);
		await page.waitForSelector(".recorded button.recorded-mark[title='This call is being streamed']");
		await page.click("button.recorded-mark:visible");
		const entries = (await page.locator(".menu-item").allTextContents()).join();
		ok("what the mark has", entries === "Copy the link to watch,Stop the live stream,Stream to other services…", entries);
		await page.evaluate(() => navigator.clipboard.writeText("nothing"));
		await page.click(".menu-item:has-text('Copy the link to watch')");
		await page.waitForFunction(async () => (await navigator.clipboard.readText()) !== "nothing");
		ok("of the stream that runs", (await link()) === `${BASE}/watch/${KEY}`, await link());
		await choose("Stream to other services…");
		await page.keyboard.press("Enter");
		await page.waitForFunction(() => !document.querySelector("dialog[open]"));
		await streamer.change(page, [streamer.one("live", "running"), streamer.one("external", "running")]);
		await choose("Stop the live stream");
		await choose("Stop the external stream");
		await page.waitForSelector(note("The stream has stopped."));
		await page.waitForSelector(".recorded-mark", { state: "detached" });
		ok("in this order", streamer.asked.join() === "live start,external start,live stop,external stop", streamer.asked.join());

		await choose("Stream live…");
		await page.keyboard.press("Enter");
		await page.waitForSelector(".recorded button.recorded-mark[title='The stream is starting…']");
		await streamer.change(page, []);
		await page.waitForSelector(note("The stream could not be started."));
		const refused = [
			["live", 409, "No recorder is installed", "nothing that could stream"],
			["live", 409, "No storage for recordings", "nowhere to keep the stream"],
			["external", 400, "Invalid body param", "not set up where this room streams to"],
			["external", 400, "Invalid body param", "several destinations", "/destination"],
			["live", 400, "Invalid body param", "several destinations", "/destination"],
			["external", 429, "Too many requests", "Wait a few seconds"],
			["external", 409, "Too many jobs", "Too many recordings"],
		];
		for (const [type, status, message, said, pointer] of refused) {
			streamer.refusal = { status, json: { code: status, message, details: [], faults: pointer && [{ pointer, message: "is required" }] } };
			await choose(type === "live" ? "Stream live…" : "Stream to other services…");
			await page.keyboard.press("Enter");
			await page.waitForSelector(note(said));
			ok(`refused: ${message}`, true);
		}
		await close(page);
		stand.livekit.stop();
	});
