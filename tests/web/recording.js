// Recordings in a call: what everybody is told, and what those who may record have. The test answers in place of the
// service what it has for recordings.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { close, control, enter_call, focused, make_call, note, open_join } from "./call.js";
import { BASE, SIZES, accessible, api, button, group, make_room, new_page, ok, sign_in } from "./stand.js";

const ROOM = /\/v2\/recordings\/room\/\w+\/(start|stop|pause|resume)$/;
const mark = ".recorded:visible .recorded-mark, .recorded-line:visible .recorded-mark";
const heard = (page, text) => page.waitForFunction((wanted) => document.getElementById("announcer").textContent.includes(wanted), text);

/** The service, as far as it is for recordings. */
class Recorder {
	may = [];
	recordings = [];
	/** What was asked for. */
	asked = [];
	/** What the next start is refused with. */
	refusal = null;
	/** What the service says of the recording "job". */
	job = { id: "job", status: "starting", started_at: null, stopped_at: null, reason: "" };
	assets = [];

	async serve(page) {
		await page.route("**/me", async (route) => {
			const response = await route.fetch();
			if (!response.ok()) return route.fulfill({ response });
			const me = await response.json();
			this.me = me.peer.id;
			return route.fulfill({ response, json: { ...me, may: this.may, recordings: this.recordings } });
		});
		await page.route(ROOM, (route) => {
			const what = ROOM.exec(route.request().url())[1];
			this.asked.push(what);
			if (this.refusal) return route.fulfill(this.refusal);
			if (what === "start") this.recordings = [this.one("starting", { by: this.me, name: "The host" })];
			if (what === "pause") this.recordings = [this.one("paused")];
			if (what === "resume") this.recordings = [this.one("running")];
			if (what !== "stop") return route.fulfill({ json: this.job });
			this.recordings = [];
			this.job = { ...this.job, status: "post_processing", started_at: "2026-01-01T10:00:00.000Z", stopped_at: "2026-01-01T10:42:30.000Z" };
			return route.fulfill({ json: { data: [this.job] } });
		});
		await page.route("**/v2/recordings/job", (route) => route.fulfill({ json: this.job }));
		await page.route("**/v2/recording-assets?*", (route) => route.fulfill({ json: { data: this.assets } }));
		await page.route("**/presigned-url?*", (route) => route.fulfill({ json: { url: "about:blank#recording" } }));
	}
	one = (state, more = {}) => ({ type: "recording", state, since: "2026-01-01T10:00:00.000Z", by: "", name: "", ...more });
	/** The state changes, and people are told to ask. */
	async change(page, recordings) {
		this.recordings = recordings;
		await page.evaluate(() => fake.room.say("anteroom", { type: "recordings" }));
	}
}

/** Opens a call with a recorder. @returns {Promise<[any, Recorder]>} */
async function enter(browser, stand, role, recorder = new Recorder(), options = {}) {
	const page = await open_join(browser, stand, stand.codes[role], options, () => {}, (one) => recorder.serve(one));
	await page.waitForSelector("button.round:has([href$='#mic'])");
	await enter_call(page, role);
	return [page, recorder];
}
const more_has = async (page, text) => {
	await page.click(control("more"));
	await page.waitForSelector(".menu");
	const has = (await page.locator(`.menu-item:has-text("${text}")`).count()) === 1;
	await page.keyboard.press("Escape");
	await page.waitForSelector(".menu", { state: "detached" });
	return has;
};

/** What becomes of a recording, the note of it, and the mark; an empty mark: there is none. */
const RUN = [
	[[["starting", { by: "peer", name: "Mara" }]], "Mara started a recording.", "The recording is starting…"],
	[[["running", { by: "peer", name: "Mara" }]], "", "This call is being recorded"],
	[[["paused"]], "The recording is paused.", "The recording is paused"],
	[[["running"]], "The recording has resumed.", "This call is being recorded"],
	[[["interrupted"]], "The recording is interrupted.", "Recording interrupted"],
	[[["running"]], "The recording continues.", "This call is being recorded"],
	[[["running"], ["running", { type: "live", name: "Ben" }]], "Ben started a stream.", "This call is being recorded. This call is being streamed"],
	[[["running"]], "The stream has stopped.", "This call is being recorded"],
	[[], "The recording has stopped.", ""],
	[[["running"]], "A recording has started.", "This call is being recorded"],
	[[], "The recording has stopped.", ""],
	[[["starting"]], "A recording has started.", "The recording is starting…"],
	[[], "The recording could not be started.", ""],
];

/** Everybody is told, once, and sees the mark as long as it is true. */
export const told_of_recordings = (browser) =>
	group("told of recordings", async () => {
		const stand = await make_call("Told of recordings");
		const [page, recorder] = await enter(browser, stand, "guest");
		const loaded = () => page.evaluate(() => performance.getEntriesByType("resource").filter((one) => /call\/recording\.js/.test(one.name)).length);
		ok("nothing is loaded without a recording", (await loaded()) === 0);
		for (const [now, said, shown] of RUN) {
			await recorder.change(page, now.map(([state, more]) => recorder.one(state, more)));
			if (said) await page.waitForSelector(note(said));
			await page.waitForFunction(
				([wanted, selector]) => (document.querySelector(selector)?.title ?? "") === wanted,
				[shown, ".recorded .recorded-mark"],
			);
			ok(`mark: ${shown || "none"}`, true);
			if (shown) ok("it is no button for a guest", (await page.locator("button.recorded-mark").count()) === 0);
		}
		ok("a guest cannot record", !(await more_has(page, "Record…")));
		await recorder.change(page, [recorder.one("running")]);
		await page.waitForSelector(mark);
		await accessible(page, "a call that is recorded, a guest");
		await close(page);

		const late = new Recorder();
		late.recordings = [late.one("running", { by: "peer", name: "Mara" })];
		const [other] = await enter(browser, stand, "guest", late);
		await heard(other, "This call is being recorded.");
		ok("who joins hears it", true);
		ok("and has no note of it", (await other.locator(".note").count()) === 0);
		// The flag of the media server, which other recorders set, counts while the service knows of none.
		await other.evaluate(() => {
			fake.room.isRecording = true;
			fake.room.emit("RecordingStatusChanged", true);
		});
		await late.change(other, [late.one("paused")]);
		await other.waitForSelector(".recorded .recorded-mark[title='The recording is paused']");
		ok("the service's word goes before the flag", true);
		await close(other);
		const [flagged] = await enter(browser, stand, "guest");
		await flagged.evaluate(() => {
			fake.room.isRecording = true;
			fake.room.emit("RecordingStatusChanged", true);
		});
		await flagged.waitForSelector(".recorded .recorded-mark[title='This call is being recorded']");
		ok("a recorder that is not the service's", true);
		await flagged.evaluate(() => {
			fake.room.isRecording = false;
			fake.room.emit("RecordingStatusChanged", false);
		});
		await flagged.waitForSelector(".recorded-mark", { state: "detached" });
		await close(flagged);
		stand.livekit.stop();
	});

/** Starting, pausing, stopping, and the link to what was recorded. */
export const recording_calls = (browser) =>
	group("recording a call", async () => {
		const stand = await make_call("Recording calls");
		const recorder = new Recorder();
		recorder.may = ["record"];
		const [page] = await enter(browser, stand, "host", recorder);
		// What records is loaded after the join.
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
		await choose("Record…");
		await page.waitForSelector("dialog:has-text('Everyone in the call is told.')");
		ok("the focus is on the button that starts", (await focused(page)) === "Start recording", await focused(page));
		await accessible(page, "before a recording");
		await page.click(button("Cancel"));
		ok("Cancel starts nothing", recorder.asked.length === 0);
		await choose("Record…");
		await page.keyboard.press("Enter");
		await page.waitForSelector(note("You started a recording."));
		await page.waitForSelector(".recorded button.recorded-mark[title='The recording is starting…']");
		await page.click("button.recorded-mark:visible");
		ok("one that starts can be stopped, not paused", (await page.locator(".menu-item").allTextContents()).join() === "Stop recording");
		await page.keyboard.press("Escape");
		ok("the mark has the focus again", (await focused(page)).startsWith("The recording is starting"), await focused(page));
		await recorder.change(page, [recorder.one("running", { by: recorder.me, name: "The host" })]);
		await page.waitForSelector(".recorded button.recorded-mark[title='This call is being recorded']");
		ok("the focus stays on the mark", (await focused(page)).startsWith("This call is being recorded"), await focused(page));
		await accessible(page, "a call that is recorded, a host");
		await page.click("button.recorded-mark:visible");
		await page.click(".menu-item:has-text('Pause recording')");
		await page.waitForSelector(note("The recording is paused."));
		await choose("Resume recording");
		await page.waitForSelector(note("The recording has resumed."));
		await page.click("button.recorded-mark:visible");
		await page.click(".menu-item:has-text('Stop recording')");
		await page.waitForSelector(note("Saved: 42 min, ready in a minute"));
		ok("in this order", recorder.asked.join() === "start,pause,resume,stop", recorder.asked.join());
		recorder.job.status = "completed";
		recorder.assets = [{ id: "chat", job_id: "job", type: "chat" }, { id: "other", job_id: "before", type: "room-composite" }, { id: "file", job_id: "job", type: "room-composite" }];
		await page.waitForSelector(note("The recording is ready: 42 min"), { timeout: 15000 });
		const [shown] = await Promise.all([page.context().waitForEvent("page"), page.click(button("Watch"))]);
		ok("its link is opened", shown.url() === "about:blank#recording", shown.url());
		await shown.close();

		// A recording that nobody carries out.
		recorder.job = { ...recorder.job, status: "failed", reason: "failure: NO_RECORDER" };
		await choose("Record…");
		await page.keyboard.press("Enter");
		await page.waitForSelector(".recorded button.recorded-mark[title='The recording is starting…']");
		await recorder.change(page, []);
		await page.waitForSelector(note("No recorder is free."));
		ok("why it has not started", true);
		const refused = [
			[409, "No recorder is installed", "This server has no recorder."],
			[409, "No storage for recordings", "nowhere to store recordings"],
			[503, "Not enough space for recordings", "There is not enough space"],
			[409, "Too many recordings at once", "Too many recordings"],
			[409, "Nobody is in the room", "could not be started"],
			[400, "Invalid body param", "several destinations", "/destination"],
			[429, "Too many requests", "Wait a few seconds"],
			[403, "Missing permission browserRecording", "Your role does not allow this any more."],
		];
		for (const [status, message, said, pointer] of refused) {
			recorder.refusal = { status, json: { code: status, message, details: [], faults: pointer && [{ pointer, message: "is required" }] } };
			await choose("Record…");
			await page.keyboard.press("Enter");
			await page.waitForSelector(note(said));
			ok(`refused: ${message}`, true);
		}
		recorder.refusal = null;
		recorder.may = [];
		await page.evaluate(() => fake.room.say("anteroom", { type: "recordings" }));
		await page.waitForFunction(() => !document.querySelector("button.recorded-mark"));
		ok("who may no longer record has no entry", !(await more_has(page, "Record…")));
		await close(page);
		stand.livekit.stop();
	});

/** The mark covers nobody, in every size. */
export const views_of_recording = (browser) =>
	group("views of a recording", async () => {
		const stand = await make_call("Views of recordings");
		const sizes = { ...SIZES, wide: { viewport: { width: 1366, height: 768 } }, landscape: { viewport: { width: 780, height: 360 } } };
		for (const [name, size] of Object.entries(sizes)) {
			for (const colorScheme of ["light", "dark"]) {
				const recorder = new Recorder();
				recorder.may = ["record"];
				recorder.recordings = [recorder.one("running")];
				const [page] = await enter(browser, stand, "host", recorder, { ...size, colorScheme });
				await page.waitForSelector(mark);
				const shown = page.locator(mark);
				ok(`${name}, ${colorScheme}: one mark`, (await shown.count()) === 1);
				const box = await shown.boundingBox();
				const covered = await page.locator(".tile").evaluateAll((all, { x, y, width, height }) => all.some((one) => {
					const at = one.getBoundingClientRect();
					return at.left < x + width && at.right > x && at.top < y + height && at.bottom > y;
				}), box);
				ok(`${name}, ${colorScheme}: it covers nobody`, !covered);
				const is_short = await page.isVisible(".recorded .recorded-short");
				ok(`${name}, ${colorScheme}: the sentence where there is space`, is_short === (size.viewport.width <= 1100 && size.viewport.width > 700 && size.viewport.height > 480));
				await accessible(page, `a recording, ${name}, ${colorScheme}`);
				await close(page);
			}
		}
		stand.livekit.stop();
	});

const LESSON = { id: "a1", job_id: "j1", type: "room-composite", duration: 2530, size: 1000, status: "completed", created_at: "2026-01-02T10:00:00.000Z" };
const LISTED = [
	LESSON,
	{ ...LESSON, id: "a2", type: "chat", duration: 0 },
	{ ...LESSON, id: "a3", status: "missing", duration: 20, created_at: "2026-01-01T10:00:00.000Z" },
];

/** Where a storage without https would have a file. */
const PLAIN = `${BASE.replace("127.0.0.1", "localhost")}/healthz`;
/** Presses what plays a file, and returns the address of the tab that opens. */
async function opened(page, press) {
	const [tab] = await Promise.all([page.context().waitForEvent("page"), press()]);
	await tab.waitForURL(/./);
	const url = tab.url();
	await tab.close();
	return url;
}

/** What the join page says before the join, and what a code that may record has on it. */
export const recordings_at_join = (browser) =>
	group("recordings on the join page", async () => {
		const stand = await make_call("Recordings at the join");
		let plain = false;
		const serve = (more, refusal = null, all = LISTED) => async (page) => {
			await page.route("**/v2/join/*", async (route) => {
				if (refusal) return route.fulfill(refusal);
				const response = await route.fetch();
				return route.fulfill({ response, json: { ...(await response.json()), ...more } });
			});
			await page.route("**/v2/recording-files/*", (route) => route.fulfill({ contentType: "video/mp4", body: "" }));
			await page.route("**/v2/join/*/recordings", (route) => route.fulfill({ json: { data: all } }));
			await page.route("**/v2/join/*/recordings/*/presigned-url*", (route) => {
				const [, asset, query] = /recordings\/(\w+)\/presigned-url(.*)$/.exec(route.request().url());
				return asset === "a1" && query ? route.fulfill({ json: { url: plain ? PLAIN : `/v2/recording-files/${asset}` } }) : route.fulfill({ status: 404, json: { message: "gone" } });
			});
		};
		for (const [kind, state, said] of [
			["recording", "running", "This call is being recorded."],
			["recording", "automatic", "This call is recorded from the start."],
			["streaming", "running", "This call is being streamed."],
			["streaming", "automatic", "This call is streamed from the start."],
		]) {
			const page = await open_join(browser, stand, stand.codes.guest, {}, () => {}, serve({ [kind]: state }));
			ok(said, (await page.textContent(".recorded-notice")) === said);
			ok("before Join", await page.evaluate(() => Boolean(document.querySelector(".recorded-notice").compareDocumentPosition(document.querySelector(".join-form [type=submit]")) & Node.DOCUMENT_POSITION_FOLLOWING)));
			if (state === "running") await accessible(page, `the join page, ${kind}`);
			await close(page);
		}
		const guest = await open_join(browser, stand, stand.codes.guest, {}, () => {}, serve({}));
		await guest.waitForLoadState("networkidle");
		ok("nothing is said without a recording", (await guest.locator(".recorded-notice, .join-recordings").count()) === 0);
		await close(guest);
		for (const [name, options] of [["desktop", {}], ["phone", SIZES.phone]]) {
			const page = await open_join(browser, stand, stand.codes.host, options, () => {}, serve({ recordings: true }));
			await page.waitForSelector(".join-recordings");
			const rows = await page.locator(".join-recordings li").allTextContents();
			ok(`${name}: newest first`, rows.length === 3 && rows[0].includes("42 min") && rows[1].includes("Chat") && rows[2].includes("The file no longer exists."), rows.join());
			ok("what is missing has no button", (await page.locator("li:has-text('no longer exists') button").count()) === 0);
			await page.click("li:has-text('42 min') button:has-text('Watch')");
			await page.waitForSelector(".join-recordings video");
			ok(`${name}: it plays in place, by keys`, await page.evaluate(() => document.activeElement.matches("video[controls]")));
			plain = true;
			const url = await opened(page, () => page.click("li:has-text('42 min') button:has-text('Watch')"));
			ok(`${name}: what the page may not play is opened`, url === PLAIN, url);
			plain = false;
			await page.click("li:has-text('Chat') button:has-text('Download')");
			await page.waitForSelector("li:has-text('Chat') .fault:has-text('could not be opened')");
			await accessible(page, `recordings on the join page, ${name}`);
			await close(page);
		}
		const refusal = { status: 403, json: { code: 403, message: "Room is closed", details: [] } };
		const after = await new_page(browser);
		await serve({}, refusal)(after);
		await after.goto(`${BASE}/join/${stand.codes.host}`);
		await after.waitForSelector(".join-recordings");
		ok("after the room has closed", (await after.textContent("h1")) === "This room is closed");
		await accessible(after, "recordings of a closed room");
		await close(after);
		stand.livekit.stop();
	});

const DONE = {
	id: "6925c84100000000000000d1", room_id: "", session_id: "6925c84100000000000000e1", status: "completed", created_at: "2026-01-02T10:00:00.000Z", started_at: "2026-01-02T10:00:03.000Z",
	updated_at: "2026-01-02T10:42:30.000Z", stopped_at: "2026-01-02T10:42:13.000Z", meeting_url: "", destination: "lessons", started_by: "", stopped_by: "", asset_types: ["room-composite"], type: "recording", room_name: "Algebra",
	paused: false, interrupted_since: null, reason: "client request", error: "", recorded_seconds: 2530, gaps: 1, not_enforced: ["maxDuration"],
};
const FILES = [
	{ id: "6925c84100000000000000f1", type: "room-composite", path: "file:///a/b/c/recording.mp4", thumbnails: null, metadata: { resolution: { height: 720, width: 1280 }, gaps: [{ at_ms: 60000, missing_ms: 4000 }] }, duration: 2530, size: 250000000, status: "completed", created_at: "2026-01-02T10:43:00.000Z" },
	{ id: "6925c84100000000000000f2", type: "chat", path: "file:///a/b/c/chat.csv", thumbnails: null, metadata: {}, duration: 0, size: 900, status: "missing", created_at: "2026-01-02T10:43:00.000Z" },
];

/** Before a lower number of days deletes files, the console says how many. */
export const recordings_kept_in_console = (browser) =>
	group("how long recordings are kept", async () => {
		const template = await api("POST", "/v2/templates", { name: "Kept", settings: { recordingRules: { keepDays: 365 } } });
		const page = await new_page(browser);
		const pages = [{ data: FILES, last: FILES[1].id }, { data: [], last: "6925c84100000000000000f0" }, { data: [FILES[0]], last: FILES[0].id }, { data: [], last: "" }];
		let left = [...pages];
		const asked = [];
		await page.route("**/v2/recording-assets?*", (route) => {
			asked.push(new URL(route.request().url()).searchParams);
			return route.fulfill({ json: { limit: 100, ...left.shift() } });
		});
		const kept = async () => (await api("GET", `/v2/templates/${template.id}/settings`)).recordingRules?.keepDays;
		const days = "[data-pointer='/recordingRules/keepDays'] input";
		await sign_in(page);
		await page.goto(`${BASE}/console/templates/${template.id}/settings`);
		const save = async (number) => {
			await page.fill(days, number);
			await page.click(".save-bar button[type=submit]");
		};
		await save("400");
		await page.waitForSelector(".save-bar[hidden]", { state: "attached" });
		ok("a higher number is saved at once", (await kept()) === 400 && asked.length === 0, asked.length);
		await save("30");
		await page.waitForSelector("dialog:has-text('Keep recordings for 30 days?')");
		const text = await page.textContent("dialog");
		ok("a lower one says how many files go", text.includes("3 files of recordings are older than that. They are deleted 24 hours after you save"), text);
		const until = Date.now() - 30 * 24 * 3600000 - Date.parse(asked[0].get("before"));
		ok("of this template", asked.every((one) => one.get("template_id") === template.id) && until >= 0 && until < 60000, until);
		ok("and of all pages", asked.map((one) => one.get("start") ?? "").join() === `,${pages[0].last},${pages[1].last},${pages[2].last}`, asked.join(" "));
		await accessible(page, "how many files go");
		await page.click("dialog button:text-is('Cancel')");
		await page.waitForSelector("dialog", { state: "detached" });
		ok("nothing is saved without an answer", (await kept()) === 400 && (await page.inputValue(days)) === "30");
		left = [...pages];
		await page.click(".save-bar button[type=submit]");
		await page.click("dialog button:text-is('Save settings')");
		await page.waitForSelector(".save-bar[hidden]", { state: "attached" });
		ok("then it is", (await kept()) === 30);
		left = [{ data: [], last: "" }];
		await save("7");
		await page.waitForSelector(".save-bar[hidden]", { state: "attached" });
		ok("where none goes, nobody is asked", (await kept()) === 7);
		await page.context().close();
	});

/** What the console shows of recordings, and does with them. */
export const recordings_in_console = (browser) =>
	group("recordings in the console", async () => {
		const { room } = await make_room("Algebra");
		let jobs = [{ ...DONE, room_id: room.id }];
		let files = FILES;
		let plain = false;
		const asked = [];
		const page = await new_page(browser);
		await page.route("**/v2/recordings?*", (route) => {
			const status = new URL(route.request().url()).searchParams.get("status");
			return route.fulfill({ json: { limit: 25, last: "", data: jobs.filter((one) => !status || one.status === status) } });
		});
		await page.route(`**/v2/recordings/${DONE.id}`, (route) => route.fulfill({ json: { ...jobs.find((one) => one.id === DONE.id), recording_assets: files } }));
		await page.route(ROOM, (route) => {
			const what = ROOM.exec(route.request().url())[1];
			asked.push(what);
			if (what === "start") jobs = [{ ...DONE, id: "6925c84100000000000000d2", room_id: room.id, status: "running", started_at: new Date().toISOString() }, ...jobs];
			else jobs = jobs.map((one, i) => (i > 0 ? one : { ...one, paused: what === "pause", status: what === "stop" ? "post_processing" : "running" }));
			return route.fulfill({ json: what === "stop" ? { data: [jobs[0]] } : jobs[0] });
		});
		await page.route("**/v2/recording-assets/**", (route) => {
			const { pathname, search } = new URL(route.request().url());
			asked.push(`${route.request().method()} ${pathname.split("/").slice(3).join("/")}${search}`);
			if (route.request().method() === "DELETE") {
				files = files.filter((one) => !pathname.endsWith(one.id));
				return route.fulfill({ status: 204 });
			}
			return route.fulfill({ json: { url: plain ? PLAIN : `${BASE}/v2/recording-files/a/f?expires=1&signature=x` } });
		});
		await page.route("**/v2/recording-files/**", (route) => route.fulfill({ contentType: "video/mp4", body: "" }));
		await page.route("**/v2/recorders", (route) => route.fulfill({ json: { data: [{ name: "studio", state: "busy" }, { name: "attic", state: "lost" }] } }));
		await sign_in(page);
		await page.click("[data-section=recordings]:visible");
		await page.waitForSelector("h1:text-is('Recordings')");
		await page.waitForSelector("tr:has-text('Algebra')");
		const row = await page.locator("tbody tr").first().allTextContents();
		ok("the list has length and state", row[0].includes("42 min") && row[0].includes("Saved"), row[0]);
		await page.waitForSelector("section:has(#recorders) tr:has-text('attic'):has-text('Not reachable')");
		ok("the recorders", (await page.locator("section:has(#recorders) tbody tr").count()) === 2);
		await accessible(page, "recordings in the console");
		await page.selectOption("select[aria-label=State]", "failed");
		await page.waitForSelector(".empty:has-text('No recording has this state.')");
		await page.selectOption("select[aria-label=State]", "");
		await page.click(".row-link:has-text('Algebra')");
		await page.waitForSelector(".recording-file");
		const facts = await page.textContent(".facts");
		ok("why it ended, and what was not done", facts.includes("Somebody stopped it.") && facts.includes("maxDuration"), facts);
		const video = await page.textContent(".recording-file >> nth=0");
		ok("a file has its size and its gaps", video.includes("1280 × 720") && video.includes("250 MB") && video.includes("4 s are missing in one place"), video);
		ok("a file that is gone has no link", (await page.locator(".recording-file >> nth=1 >> text=Download").count()) === 0);
		await page.click(".recording-file button:has-text('Play')");
		await page.waitForSelector("video.recording-player");
		ok("it plays in place", asked.at(-1) === `GET ${FILES[0].id}/presigned-url?inline=1`, asked.at(-1));
		await accessible(page, "a recording in the console");
		plain = true;
		const url = await opened(page, () => page.click(".recording-file button:has-text('Play')"));
		ok("what the page may not play is opened", url === PLAIN, url);
		plain = false;
		for (const [words, seconds] of [["1 hour", 3600], ["1 day", 86400], ["7 days", 604800]]) {
			await page.click(".recording-file >> nth=0 >> [aria-label='File actions']");
			await page.click(`[role=menuitem]:visible:has-text("Link for ${words}")`);
			await page.waitForSelector("dialog pre:has-text('signature=')");
			ok(`a link for ${words}`, asked.at(-1) === `GET ${FILES[0].id}/presigned-url?presign_duration=${seconds}`, asked.at(-1));
			await page.keyboard.press("Escape");
		}
		await page.click(".recording-file >> nth=1 >> [aria-label='File actions']");
		await page.click("[role=menuitem]:visible:has-text('Delete file')");
		await page.click("dialog button:text-is('Delete file')");
		await page.waitForFunction(() => document.querySelectorAll(".recording-file").length === 1);
		ok("it is deleted", asked.at(-1) === `DELETE ${FILES[1].id}`, asked.at(-1));

		// Streams are listed on the same page, one type at a time.
		const stream = { ...DONE, id: "6925c84100000000000000d9", room_id: room.id, asset_types: [], status: "running", started_at: new Date().toISOString(), stopped_at: null, reason: "", not_enforced: [] };
		const streams = {
			"live-streams": { ...stream, type: "live", playback: { url: `${BASE}/live/hZk2m0cVQ1yJw5nT3rXb7A/live.m3u8` } },
			"external-streams": { ...stream, type: "external", outputs: [{ url: "rtmp://a.example/app/{abc...xyz}", state: "failed", since: stream.created_at, error: "no answer" }] },
		};
		for (const [path, one] of Object.entries(streams)) {
			await page.route(`**/v2/${path}?*`, (route) => route.fulfill({ json: { limit: 25, last: "", data: [one] } }));
			await page.route(`**/v2/${path}/${one.id}`, (route) => route.fulfill({ json: { ...one, recording_assets: [] } }));
			await page.route(`**/v2/${path}/${one.id}/stop`, (route) => {
				asked.push(`stop ${path}`);
				one.status = "completed";
				return route.fulfill({ json: one });
			});
			await page.goto(`${BASE}/console/recordings`);
			await page.selectOption("select[aria-label=Type]", one.type);
			await page.waitForSelector("tr:has-text('Streaming')");
			await page.click(".row-link:has-text('Algebra')");
			await page.waitForSelector(`.facts:has-text('${one.type === "live" ? "/live/hZk2m0cVQ1yJw5nT3rXb7A/live.m3u8" : "Given up: no answer"}')`);
			ok(`no pause of a ${one.type} stream`, (await page.locator(button("Pause recording")).count()) === 0);
			await accessible(page, `a stream of the type ${one.type} in the console`);
			await page.click(button(`Stop ${one.type} stream`));
			await page.click(`dialog ${button(`Stop ${one.type} stream`)}`);
			await page.waitForSelector(".badge:has-text('Ended')");
			ok(`a ${one.type} stream is stopped`, asked.at(-1) === `stop ${path}`, asked.at(-1));
		}

		// A room: what starts, pauses and stops a recording there.
		await page.goto(`${BASE}/console/rooms/${room.id}`);
		const section = "section:has(#recordings)";
		for (const [press, shown] of [["Start recording", "Pause recording"], ["Pause recording", "Resume recording"], ["Resume recording", "Pause recording"], ["Stop recording", "Start recording"]]) {
			await page.click(`${section} ${button(press)}`);
			await page.waitForSelector(`${section} ${button(shown)}`);
			ok(press, true);
		}
		ok("in this order", asked.slice(-4).join() === "start,pause,resume,stop", asked.slice(-4).join());
		await accessible(page, "recordings of a room in the console");
		await page.context().close();
	});
