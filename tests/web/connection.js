// The connection of a call, its length, and your own devices: what is told of them, and what others cannot do with what
// they send.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { close, control, make_call, note, open_call, reader } from "./call.js";
import { SIZES, accessible, group, ok } from "./stand.js";

const MINUTE = 60000;
const length = (page) => page.textContent(".call-length");
const has_length = (page, text) =>
	page.waitForFunction((wanted) => document.querySelector(".call-length")?.textContent === wanted, text);
const hhmm = (time) => new Date(time).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", timeZone: "UTC" });

/** Answers when the call began and when it ends, in minutes before and after `now`, which is the time of the service. */
export const answer_length = (page, now, of) =>
	page.route("**/me", async (route) => {
		const response = await route.fetch();
		const me = await response.json();
		const { began, ends } = of();
		const iso = (time) => time && new Date(time).toISOString();
		Object.assign(me, { started_at: iso(began), ends_at: iso(ends) });
		await route.fulfill({ response, json: me, headers: { ...response.headers(), date: new Date(now()).toUTCString() } });
	});

/** The length in whole minutes by the service's clock, and the warnings before the end. */
export const lengths = (browser) =>
	group("the length of a call", async () => {
		const stand = await make_call("Lengths");
		const options = { timezoneId: "UTC" };
		// The service's clock is an hour ahead of the device's.
		const now = () => Date.now() + 60 * MINUTE;
		for (const [name, since, left, wanted, warned] of [
			["in the first minute", 0.2, null, "0 min", ""],
			["without an end", 24.1, null, "24 min", ""],
			["with an end", 24.1, 30, "24 min · until TIME", ""],
			["with an end that is far away", 24.1, 2 * 1440, "24 min", ""],
			["in the last minutes", 24.1, 4.9, "5 min left", "The room closes in 5 minutes, at TIME."],
			["in the last minute", 24.1, 0.8, "1 min left", "The room closes in 1 minute, at TIME."],
		]) {
			const [began, ends] = [now() - since * MINUTE, left && now() + left * MINUTE];
			const page = await open_call(browser, stand, "guest", options, () => {}, (page) => answer_length(page, now, () => ({ began, ends })));
			const filled = (text) => text.replace("TIME", hhmm(ends));
			await page.waitForSelector(".call-length:not(:empty)");
			const said = await length(page);
			ok(`the length ${name}`, said === filled(wanted), said);
			const notes = (await page.locator(".note span").allTextContents()).join();
			ok(`the note ${name}`, notes === filled(warned), notes);
			ok(`the mark ${name}`, (await page.locator(".call-length.soon").count()) === Number(warned !== ""));
			if (left) await accessible(page, `the length ${name}`);
			await close(page);
		}
		// The end is asked for again before it is told, because it may have been moved.
		const start = now();
		let asked = 0;
		let late = 0;
		const times = { began: start - 20.5 * MINUTE, ends: start + 6.5 * MINUTE };
		const answers = (page) =>
			answer_length(page, () => now() + late, () => {
				asked += 1;
				return times;
			});
		const prepare = () => {
			const [wait, time] = [window.setTimeout, Date.now];
			Math.random = () => 0;
			window.late = 0;
			Date.now = () => time() + window.late;
			// The clock goes on when the test says so.
			window.setTimeout = (act, ...more) => {
				if (!["tick", "ask_again"].includes(act.name)) return wait(act, ...more);
				window.go_on = act;
			};
		};
		const page = await open_call(browser, stand, "guest", options, prepare, answers);
		const advance = (page) =>
			page.evaluate(async (ms) => {
				window.late = ms;
				window.go_on();
				// It asks first.
				if (window.go_on.name === "ask_again") await window.go_on();
			}, late);
		const pass = async (minutes, wanted) => {
			late += minutes * MINUTE;
			await advance(page);
			await has_length(page, wanted);
		};
		const end = () => hhmm(times.ends);
		const closing = (n) => note(`The room closes in ${n}, at ${end()}.`);
		await has_length(page, `20 min · until ${end()}`);
		await pass(1, `21 min · until ${end()}`);
		ok("a minute later, nothing is asked", asked === 1, asked);
		await pass(0.6, "5 min left");
		await page.waitForSelector(closing("5 minutes"));
		ok("before it is told, the end is asked for again", asked === 2, asked);
		await pass(1, "4 min left");
		await page.waitForSelector(`${closing("4 minutes")} span[aria-live=off]`);
		ok("the note counts in silence, and stays", true);
		await page.click(`${closing("4 minutes")} .note-close`);
		await pass(1, "3 min left");
		ok("a note that was closed stays closed", (await page.locator(".note").count()) === 0);
		await pass(1, "2 min left");
		await pass(1, "1 min left");
		await page.waitForSelector(closing("1 minute"));
		ok("and is there again in the last minute", asked === 3, asked);
		await close(page);
		late = 0;
		asked = 0;
		const moved = await open_call(browser, stand, "guest", options, prepare, answers);
		await has_length(moved, `20 min · until ${end()}`);
		times.ends += 30 * MINUTE;
		late = 1.6 * MINUTE;
		await advance(moved);
		await has_length(moved, `22 min · until ${end()}`);
		ok("an end that was moved is not told", asked === 2 && (await moved.locator(".note").count()) === 0, asked);
		await close(moved);
		stand.livekit.stop();
	});

const dialog = ".call-dialog";
export const open_panel = async (page) => {
	await page.click(control("more"));
	await page.click(".menu-item:has-text('Connection…'), .menu-item:has-text('Verbindung …')");
	await page.waitForSelector(`${dialog} .verdict`);
};
/** Runs in the page: the report of a connection on a way. */
export const way = ({ type = "host", protocol = "udp", round_trip = 0.034 }) => {
	fake.way = new Map([
		["T", { type: "transport", selectedCandidatePairId: "P" }],
		["Q", { id: "Q", type: "candidate-pair", nominated: true, state: "succeeded", localCandidateId: "M" }],
		["P", { id: "P", type: "candidate-pair", localCandidateId: "L", currentRoundTripTime: round_trip }],
		["L", { id: "L", type: "local-candidate", candidateType: type, protocol, address: "192.0.2.7" }],
		["M", { id: "M", type: "local-candidate", candidateType: "host", protocol: "udp" }],
	]);
};
const come = (page) =>
	page.evaluate(() => {
		fake.room.come("PA_1", "Nora Fuchs");
		fake.room.come("PA_2", "Ola", ["microphone"]);
	});

/** The panel with what is sent and received. */
export const panels = (browser) =>
	group("the panel of a connection", async () => {
		const stand = await make_call("Connection panels");
		const page = await open_call(browser, stand, "guest");
		await come(page);
		const stats = async () => (await page.locator(`${dialog} .stat`).evaluateAll((all) => all.map((one) => [...one.children].map((part) => part.textContent).join(": ")))).join("\n");
		const rows = [
			["direct", {}, {}, ["Your connection is good.", "Route: Direct (UDP)", "Round trip: 34 ms", "Lost, sent: 0.1 %", "Lost, received: 0 %"]],
			["over TCP", { protocol: "tcp" }, {}, ["Your connection is good.", "Route: Direct (TCP)"]],
			["relayed", { type: "relay", round_trip: 0.31 }, {}, ["Route: Relayed (TURN)", "Round trip: 310 ms"]],
			["with losses", {}, { loss: 0.11 }, ["Your connection is weak: many packets are lost.", "Lost, received: 11 %"]],
			["weak, as the media server says", {}, { quality: "poor" }, ["Your connection is weak"]],
			["that the browser does not tell of", null, { is_mute: true }, ["Your browser does not tell how the connection is."]],
		];
		for (const [name, at, more, wanted] of rows) {
			await page.evaluate(({ quality = "good", loss = 0, is_mute = false }) => {
				Object.assign(fake, { loss, is_mute, way: undefined });
				fake.room.localParticipant.connectionQuality = quality;
				for (const id of ["PA_1", "PA_2"]) fake.room.go(id);
				fake.room.come("PA_1", "Nora Fuchs");
				fake.room.come("PA_2", "Ola", ["microphone"]);
			}, more);
			if (at) await page.evaluate(way, at);
			await page.waitForSelector(".tile:has-text('Ola')");
			await open_panel(page);
			const said = `${await page.textContent(`${dialog} .verdict`)}\n${await stats()}`;
			const lacks = wanted.filter((one) => !said.includes(one));
			ok(`a connection ${name}`, lacks.length === 0, `${lacks.join("; ")}: ${said}`);
			await accessible(page, `a connection ${name}`);
			await page.keyboard.press("Escape");
		}
		await page.evaluate(way, {});
		await page.evaluate(() => Object.assign(fake, { is_mute: false, loss: 0 }));
		await open_panel(page);
		ok("the panel begins at its title", (await page.evaluate(() => document.activeElement.textContent)) === "Connection");
		// The rates are those between two readings.
		await page.waitForFunction(() => /Camera.*1280 × 720, 30 per second, 11[45]\d kbps/.test(document.querySelector(".call-dialog").textContent));
		const said = await stats();
		for (const one of [/^Camera: 1280 × 720, 30 per second, 11[45]\d kbps$/m, /^Microphone: 3[123] kbps$/m, /^Nora Fuchs: 640 × 360, 25 per second, 3[45]\d kbps$/m, /^Ola: 2[789] kbps$/m]) {
			ok(`the numbers: ${one}`, one.test(said), said);
		}
		await page.click("button:has-text('Copy details')");
		await page.waitForSelector(`${dialog} .hint:text-is("Copied.")`);
		const copied = await page.evaluate(() => navigator.clipboard.readText());
		const host = new URL(stand.livekit.url).host;
		ok("the details name room, media server, browser and version", [stand.room.id, host, "Mozilla/5.0", "Anteroom "].every((one) => copied.includes(one)), copied);
		ok("and neither names nor addresses of the device", !/Nora|Ola|The guest|192\.0\.2/.test(copied), copied);
		ok("with the numbers", copied.includes("1280 × 720, 30 per second"), copied);
		await page.keyboard.press("Escape");
		const reads = () => page.evaluate(() => fake.read);
		await page.waitForTimeout(100);
		// Others read once a second, to notice that nothing arrives.
		const closed = await page.evaluate(async () => {
			let n = 0;
			const wait = window.setTimeout;
			for (const one of fake.room.remoteParticipants.values()) {
				for (const { track } of one.trackPublications.values()) {
					const { getStats } = track.receiver;
					track.receiver.getStats = () => ((n += 1), getStats());
				}
			}
			await new Promise((done) => wait(done, 2600));
			return n;
		});
		ok("the browser is asked only while it is open", closed <= 3, `${closed} of ${await reads()}`);
		await page.evaluate(() => {
			navigator.clipboard.writeText = () => Promise.reject(new DOMException("no", "NotAllowedError"));
		});
		await open_panel(page);
		await page.click("button:has-text('Copy details')");
		await page.waitForSelector("textarea.details:visible");
		await accessible(page, "details to copy by hand");
		ok("where pages cannot copy, people can", (await page.inputValue("textarea.details")).includes(stand.room.id));
		await close(page);
		for (const [size, options] of Object.entries({ ...SIZES, zoomed: { viewport: { width: 320, height: 256 } } })) {
			for (const [colorScheme, locale] of [
				["light", "en-GB"],
				["dark", "de-DE"],
			]) {
				const view = await open_call(browser, stand, "guest", { ...options, colorScheme, locale });
				await come(view);
				await view.evaluate(way, {});
				await open_panel(view);
				await accessible(view, `the panel of a connection, ${size}, ${colorScheme}`);
				await close(view);
			}
		}
		stand.livekit.stop();
	});

/** A weak connection is told after 10 seconds, at most once in 5 minutes, with what helps. */
export const weakness = (browser) =>
	group("a weak connection", async () => {
		const stand = await make_call("Weakness");
		const page = await open_call(browser, stand, "guest", {}, () => {
			const [wait, now] = [window.setTimeout, performance.now.bind(performance)];
			window.ahead = 0;
			performance.now = () => now() + window.ahead;
			window.setTimeout = (act, time, ...more) => {
				if (!(time >= 9000 && time <= 300000)) return wait(act, time, ...more);
				window.later = { act, time: Math.round(time / 1000) };
			};
		});
		await come(page);
		const set = async (quality) => {
			await page.evaluate((value) => {
				fake.room.localParticipant.connectionQuality = value;
				fake.room.emit("ConnectionQualityChanged");
			}, quality);
			await page.waitForSelector(".tile.me .mark.weak", { state: quality === "good" ? "detached" : "attached" });
		};
		const due = () => page.evaluate(() => window.later?.time);
		const told = note("Your connection is weak.");
		await set("poor");
		await page.waitForFunction(() => window.later);
		ok("a weak connection is not told at once", (await due()) === 10 && (await page.locator(told).count()) === 0, await due());
		await page.evaluate(() => window.later.act());
		await page.waitForSelector(told);
		ok("it is told after 10 seconds", true);
		await accessible(page, "a weak connection");
		await page.evaluate(() => {
			window.later = null;
		});
		await set("good");
		ok("the note goes when it is good again", (await page.locator(told).count()) === 0);
		await page.evaluate(() => {
			window.ahead = 60000;
		});
		await set("lost");
		await page.waitForFunction(() => window.later);
		const next = await due();
		ok("and comes again only 5 minutes after the last one", next > 200 && next <= 240, next);
		await close(page);
		const other = await open_call(browser, stand, "guest");
		const offers = await other.evaluate(async () => {
			const main = document.querySelector("script[type=module]").src;
			const { weak_watch } = await import(new URL("../call/weak.js", main).href);
			const { signal } = new AbortController();
			const found = [];
			const wait = window.setTimeout;
			window.setTimeout = (act) => act();
			for (const [fewer, many] of [[false, true], [true, true], [false, false]]) {
				const view = { shows_fewer: () => fewer, has_many: () => many, show_fewer: () => found.push("pressed") };
				const note = { say: (_, { act }) => (act ? act.do() : found.push("none")), drop() {} };
				weak_watch({ note, view, signal })(true);
			}
			window.setTimeout = wait;
			return found.join();
		});
		ok("fewer videos are offered unless there are few", offers === "pressed,none,none", offers);
		await close(other);
		stand.livekit.stop();
	});

/** The list of keys has those that do something. */
export const listed_keys = (browser) =>
	group("the list of keys", async () => {
		const stand = await make_call("Listed keys");
		for (const [role, wanted] of [
			["guest", "M,Space,V,S,H"],
			["speaker", "M,Space,H"],
			["viewer", "H"],
		]) {
			const page = await open_call(browser, stand, role);
			await page.keyboard.press("?");
			await page.waitForSelector(".keys");
			const keys = await page.locator(".key").allTextContents();
			const own = keys.filter((one) => ["M", "Space", "V", "S", "H"].includes(one)).join();
			ok(`the keys of a ${role}`, own === wanted && keys.includes("?"), keys.join());
			await accessible(page, `the keys of a ${role}`);
			await close(page);
		}
		stand.livekit.stop();
	});

/** Plugs a device in, as the kinds that it is; the browser tells of it by an event. */
export const plug = async (page, kinds, label) => {
	await page.evaluate(
		([kinds, label]) => {
			window.plugged ??= [];
			window.plugged.push(...kinds.map((kind) => ({ kind, label, deviceId: `${kind} ${label}`, groupId: label })));
			navigator.mediaDevices.real ??= navigator.mediaDevices.enumerateDevices.bind(navigator.mediaDevices);
			navigator.mediaDevices.enumerateDevices = async () => [...(await navigator.mediaDevices.real()), ...window.plugged];
			navigator.mediaDevices.dispatchEvent(new Event("devicechange"));
		},
		[kinds, label],
	);
	await page.waitForSelector(note(`${label.replace(/ \(.*/, "")} was connected.`));
};
const unplug = (page, label) =>
	page.evaluate((label) => {
		window.plugged = window.plugged.filter((one) => one.label !== label);
		navigator.mediaDevices.dispatchEvent(new Event("devicechange"));
	}, label);

/** Devices that are plugged in and out, and that another program takes. */
export const devices_plugged = (browser) =>
	group("devices that are plugged in and out", async () => {
		const stand = await make_call("Plugged");
		const page = await open_call(browser, stand, "guest");
		await page.evaluate(() => {
			fake.switched = [];
			fake.active = {};
			fake.room.switchActiveDevice = async (kind, id) => {
				fake.switched.push(`${kind}: ${id}`);
				fake.active[kind] = id;
			};
			fake.room.getActiveDevice = (kind) => fake.active[kind] ?? "default";
		});
		const switched = () => page.evaluate(() => fake.switched.splice(0).join());
		for (const [name, kinds, label, wanted, kept] of [
			["a headset", ["audioinput", "audiooutput"], "Headset", "audioinput: audioinput Headset,audiooutput: audiooutput Headset", "microphone"],
			["a camera", ["videoinput"], "Lens (046d:0825)", "videoinput: videoinput Lens (046d:0825)", "camera"],
			["a loudspeaker", ["audiooutput"], "Monitor", "audiooutput: audiooutput Monitor", "speaker"],
		]) {
			await plug(page, kinds, label);
			const told = note(`${label.replace(/ \(.*/, "")} was connected.`);
			await page.waitForSelector(told);
			ok(`${name}: one note`, (await page.locator(".note").count()) === 1);
			await accessible(page, `${name} that is plugged in`);
			ok(`${name}: nothing is switched unasked`, (await switched()) === "");
			await page.click(`${told} button:text-is("Use it")`);
			await page.waitForFunction(() => document.querySelectorAll(".note").length === 0);
			await page.waitForFunction((n) => fake.switched.length === n, kinds.length);
			const done = await switched();
			ok(`${name}: it is used`, done === wanted, done);
			const value = await page.evaluate((key) => localStorage.getItem(key), kept);
			ok(`${name}: and kept`, value === `${kinds[0]} ${label}`, value);
		}
		await unplug(page, "Monitor");
		await page.waitForSelector(note("Your speaker was disconnected. You now use"));
		ok("a loudspeaker that is gone is told, with what is used", true);
		ok("the choice is kept", (await page.evaluate(() => localStorage.getItem("speaker"))) === "audiooutput Monitor");
		await page.evaluate(() => {
			const { track } = fake.room.localParticipant.getTrackPublication("microphone");
			Object.defineProperty(track.mediaStreamTrack, "label", { value: "Desk (0d8c:0014)" });
			track.emit("Ended");
			track.emit("Restarted");
		});
		await page.waitForSelector(note("Your microphone was disconnected. You now use Desk."));
		ok("a microphone in whose place another came is told once", (await page.locator(note("Your microphone")).count()) === 1);
		ok("and its control shows nothing wrong", (await page.locator(".alarm").count()) === 0);
		for (const [kind, text] of [
			["microphone", "Your microphone is silent: another program may be using it."],
			["camera", "Your camera shows nothing: another program may be using it."],
		]) {
			const emit = (event) => page.evaluate(([source, name]) => fake.room.localParticipant.getTrackPublication(source).track.emit(name), [kind, event]);
			await emit("UpstreamPaused");
			await page.waitForSelector(`${note(text)}.stays`);
			await emit("UpstreamResumed");
			await page.waitForSelector(note(text), { state: "detached" });
			ok(`a ${kind} that another program takes is told, and that it is back`, true);
		}
		await close(page);
		stand.livekit.stop();
	});

// Names that others give themselves, and what is shown.
const NAMES = [
	["that turns the direction", "\u202eAnna", "Anna"],
	["with letters that nobody sees", "A\u200bn\u2060na\u{e0041}", "Anna"],
	["of several lines", ["Anna", "", " The call is over."].join("\n"), "Anna The call is over."],
	["that is long", "x".repeat(3000), `${"x".repeat(64)}…`],
	["with a tower of marks", `Z${"\u0300".repeat(40)}oe`, `Z${"\u0300".repeat(4)}oe`],
	["that is yours", "YOU", "YOU (2)"],
	["that is yours in the list", "The guest (you)", "The guest (you) (2)"],
	["with joiners that belong there", "می‌خواهم 👩‍👧", "می‌خواهم 👩‍👧"],
];

/** Names, sounds and hands of others. */
export const claims_of_people = (browser) =>
	group("claims of people", async () => {
		const stand = await make_call("Claims of people");
		const page = await open_call(browser, stand, "host");
		const guest = await open_call(browser, stand, "guest");
		for (const [name, said, wanted] of NAMES) {
			await guest.evaluate((value) => fake.room.come("PA_1", value), said);
			await guest.waitForSelector(".tile >> nth=1");
			const shown = await guest.textContent(".tile:not(.me) .who");
			ok(`a name ${name}`, shown === wanted, JSON.stringify(shown));
			await guest.evaluate(() => fake.room.go("PA_1"));
			await guest.waitForSelector(".tile:not(.me)", { state: "detached" });
		}
		await guest.evaluate(() => fake.room.come("PA_1", "Nora"));
		await guest.waitForSelector(".tile:not(.me) .who");
		await guest.evaluate(() => {
			fake.room.remoteParticipants.get("PA_1").name = "\u202eOla";
			fake.room.emit("ParticipantNameChanged");
		});
		await guest.waitForSelector(".tile:not(.me):not(:has-text('Nora'))");
		const renamed = await guest.textContent(".tile:not(.me) .who");
		ok("and one that changes", renamed === "Ola", JSON.stringify(renamed));
		await close(guest);
		const received = await page.evaluate(() => {
			const one = fake.room.come("PA_1", "Mallory", []);
			const publish = (kind, source) => {
				const publication = one.add(kind, undefined, `${kind} as ${source}`);
				publication.source = source;
				return publication;
			};
			const all = [
				publish("microphone", "camera"),
				publish("camera", "microphone"),
				publish("camera", "screen_share_audio"),
				publish("microphone", "screen_share"),
				publish("microphone", "microphone"),
				publish("camera", "camera"),
			];
			fake.room.emit("TrackPublished", all[0], one);
			return all.map(({ isDesired }) => isDesired).join();
		});
		ok("a track is taken only if its type fits its source", received === "false,false,false,false,true,true", received);
		// Hands that go up one after the other, and those of somebody who comes again and again.
		const told = await page.evaluate(async () => {
			const found = [];
			new MutationObserver((changes) => {
				for (const { addedNodes } of changes) for (const one of addedNodes) if (one.matches?.(".note")) found.push(one.querySelector("span").textContent);
			}).observe(document.querySelector(".notes"), { childList: true });
			const pause = () => new Promise((done) => setTimeout(done, 60));
			for (let i = 1; i <= 20; i++) {
				fake.room.come(`PH_${i}`, `Person ${i}`, [], { metadata: '{"isHandRaised":true}' });
				fake.room.come(`PB_${i}`, "Bob", [], { metadata: '{"isHandRaised":true}' });
				await pause();
				fake.room.go(`PB_${i}`);
			}
			await new Promise((done) => setTimeout(done, 1500));
			return found;
		});
		ok("many hands are few notes", told.length >= 2 && told.length <= 5, told.join(" "));
		await close(page);
		stand.livekit.stop();
	});

/** Runs in the page: presses a key ten times, and returns how long each took until it was seen, in order of length. */
const press_ten = async (page) => {
	await page.evaluate(() => {
		document.activeElement.blur();
		window.pressed = [];
		if (window.is_timed) return;
		window.is_timed = true;
		let begin = 0;
		addEventListener("keydown", ({ timeStamp }) => (begin = timeStamp), true);
		new MutationObserver(() => requestAnimationFrame(() => setTimeout(() => window.pressed.push(performance.now() - begin)))).observe(
			document.querySelector('[data-control="people"]'),
			{ attributes: true, attributeFilter: ["aria-expanded"], attributeOldValue: true },
		);
	});
	for (let i = 1; i <= 10; i++) {
		const before = await page.evaluate(() => window.pressed.length);
		await page.keyboard.press("p");
		await page.waitForFunction((n) => window.pressed.length > n, before);
	}
	const times = await page.evaluate(() => window.pressed);
	return times.slice(0, 10).sort((a, b) => a - b);
};

/** Somebody sends, publishes, comes and goes as much as a client can: the page goes on answering, and keeps nothing. */
export const hostile_people = (browser) =>
	group("hostile people", async () => {
		const stand = await make_call("Hostile");
		const page = await open_call(browser, stand, "host");
		await page.evaluate(() => {
			for (let i = 1; i <= 24; i++) fake.room.come(`PA_${i}`, `Person ${i}`);
		});
		await page.waitForSelector(".tile >> nth=24");
		const debug = await page.context().newCDPSession(page);
		const weigh = async () => {
			await debug.send("HeapProfiler.collectGarbage");
			const { usedSize } = await debug.send("Runtime.getHeapUsage");
			const { nodes } = await debug.send("Memory.getDOMCounters");
			return { kilobytes: Math.round(usedSize / 1024), nodes };
		};
		await press_ten(page);
		const quiet = await press_ten(page);
		const before = await weigh();
		await page.evaluate(() => {
			const text = "EVIL ".repeat(40000);
			const bytes = new TextEncoder().encode(text);
			const forged = new TextEncoder().encode(JSON.stringify({ type: "ended", cause: "banned", reason: "EVIL" }));
			let n = 0;
			window.announced = [];
			const region = document.getElementById("announcer");
			new MutationObserver(() => region.textContent && window.announced.push(region.textContent)).observe(region, { childList: true });
			const one = fake.room.come("PE_0", "Mallory", []);
			const topics = ["chat", "anteroom", "lk.chat", ""];
			const publications = Array.from({ length: 40 }, (_, i) => one.add(i % 2 ? "camera" : "microphone", undefined, `TR_${i}`));
			one.trackPublications.clear();
			/** Publishes a track, or takes it back. */
			const toggle = (publication, name) => {
				if (one.trackPublications.delete(name)) {
					fake.room.emit("TrackUnsubscribed", publication.track);
					fake.room.emit("TrackUnpublished", null, one);
					return;
				}
				one.trackPublications.set(name, publication);
				fake.room.emit("TrackSubscribed", publication.track, publication, one);
				fake.room.emit("TrackPublished", publication, one);
			};
			// 1,000 messages a second; 40 times a second another name, other metadata, a track, somebody comes and goes.
			const attack = () => {
				n += 1;
				for (let i = 0; i < 25; i++) fake.room.emit("DataReceived", i % 2 ? bytes : forged, one, 0, topics[i % 4], 0, "PE_0");
				one.name = `Mallory ${n}`;
				fake.room.emit("ParticipantNameChanged");
				one.metadata = `{"isHandRaised":${n % 2 === 0},"text":"${text.slice(0, 60000)}${n}"}`;
				fake.room.emit("ParticipantMetadataChanged");
				toggle(publications[n % 40], `TR_${n % 40}`);
				if (n > 3) fake.room.go(`PE_${n - 3}`);
				fake.room.come(`PE_${n}`, `Sock ${n}`, [], { metadata: '{"isHandRaised":true}' });
			};
			window.attacking = setInterval(attack, 25);
		});
		const begin = Date.now();
		await press_ten(page);
		const busy = await press_ten(page);
		await page.waitForFunction(() => fake.room.remoteParticipants.size > 0);
		const said = await page.evaluate(() => document.body.innerText);
		const announced = await page.evaluate(() => window.announced);
		const seconds = (Date.now() - begin) / 1000;
		await page.evaluate(() => {
			clearInterval(window.attacking);
			for (const id of [...fake.room.remoteParticipants.keys()]) if (id.startsWith("PE_")) fake.room.go(id);
		});
		await page.waitForFunction(() => document.querySelectorAll(".tile").length === 25);
		const after = await weigh();
		const later = await press_ten(page);
		const slow = (i) => Math.max(quiet[i], later[i]);
		const times = [quiet, busy, later].map((all) => all.map(Math.round).join()).join(" / ");
		// A machine that is busy with other things takes longer for everything.
		ok("nine of ten presses are answered within 200 ms", busy[8] <= Math.max(200, 2 * slow(8)), times);
		ok("and hardly later than before", busy[4] <= Math.max(100, 2 * slow(4)), times);
		console.log(`hostile: ${quiet[8].toFixed()} ms quiet, ${busy[8].toFixed()} ms busy, ${after.kilobytes - before.kilobytes} KB and ${after.nodes - before.nodes} nodes more`);
		ok("nothing that they sent is shown", !said.includes("EVIL"), said.slice(0, 300));
		ok("nor announced", !announced.join().includes("EVIL") && announced.length <= seconds + 2, `${announced.length} in ${seconds} s`);
		ok("memory stays", after.kilobytes - before.kilobytes < 3000 && after.nodes - before.nodes < 500, JSON.stringify([before, after]));
		ok("the call goes on", await page.isVisible(".call-bar"));
		await close(page);
		stand.livekit.stop();
	});

/** Runs in the page: people come with videos, sound, raised hands and a screen, and go again. */
const come_and_go = async ([times, many]) => {
	const until = (holds) =>
		new Promise((done) => {
			const look = () => (holds() ? done() : requestAnimationFrame(look));
			look();
		});
	const rows = () => document.querySelectorAll(".person").length;
	for (let time = 0; time < times; time++) {
		const all = Array.from({ length: many }, (_, i) => {
			const n = (window.came = (window.came ?? 0) + 1);
			const sources = [["camera"], ["camera", "microphone"], []][i % 3];
			return fake.room.come(`PA_${n}`, `Person ${n}`, sources, i % 5 ? {} : { metadata: '{"isHandRaised":true}' });
		});
		fake.room.emit("TrackSubscribed", all[0].add("screen_share").track, null, all[0]);
		fake.room.emit("ActiveSpeakersChanged", all.slice(1, 4));
		await until(() => rows() === many + 1);
		for (const { sid } of all) fake.room.go(sid);
		await until(() => rows() === 1);
	}
};

/** Nothing stays of people who came and went. */
export const coming_and_going = (browser) =>
	group("coming and going", async () => {
		const stand = await make_call("Coming and going");
		const page = await open_call(browser, stand, "host");
		// Everything that is loaded on demand is loaded before.
		await page.click(control("chat"));
		await page.waitForSelector("#chat textarea");
		await page.click(control("people"));
		await page.waitForSelector(`button:text-is("Mute all")`);
		const debug = await page.context().newCDPSession(page);
		const weigh = async () => {
			for (let i = 0; i < 2; i++) await debug.send("HeapProfiler.collectGarbage");
			const { nodes, jsEventListeners } = await debug.send("Memory.getDOMCounters");
			return [nodes, jsEventListeners];
		};
		await page.evaluate(come_and_go, [2, 40]);
		const before = await weigh();
		await page.evaluate(come_and_go, [8, 40]);
		const after = await weigh();
		// A note may have come or gone. One node of each person would be 320.
		const [nodes, listeners] = after.map((n, i) => n - before[i]);
		ok("as many nodes and listeners as before", nodes < 100 && listeners < 10, `${before}; ${after}`);
		await close(page);
		stand.livekit.stop();
	});

/** A connection that is lost without a word, another network, a device that slept. */
export const networks = (browser) =>
	group("networks", async () => {
		const stand = await make_call("Networks");
		// The page reads every second what flows; here, when the test says so.
		const page = await open_call(browser, stand, "guest", {}, () => {
			const [real, time] = [window.setInterval, Date.now];
			window.readings = [];
			window.setInterval = (act, each) => (each === 1000 ? window.readings.push(act) : real(act, each));
			window.slept = 0;
			Date.now = () => time() + window.slept;
			const network = Object.assign(new EventTarget(), { type: "wifi" });
			Object.defineProperty(navigator, "connection", { value: network });
		});
		const read = reader(page);
		const resumed = () => page.evaluate(() => (fake.scenarios ?? []).splice(0).join());
		await page.evaluate(() => fake.room.come("PA_1", "Nora Fuchs"));
		await page.waitForSelector(".pair");
		const flow = (yes) =>
			page.evaluate((flows) => {
				let n = window.n ?? 0;
				fake.packets = () => (window.n = flows ? (n += 5) : n);
			}, yes);
		await flow(true);
		await read(6);
		ok("while something arrives, nothing is made again", (await resumed()) === "");
		await flow(false);
		await read(2);
		ok("nor after two seconds", (await resumed()) === "");
		await read(1);
		ok("after three seconds without a byte the connection is made again", (await resumed()) === "signal-reconnect");
		await read(9);
		ok("not each second", (await resumed()) === "");
		await read(1);
		ok("but again if that did not help", (await resumed()) === "signal-reconnect");
		await flow(true);
		await read(3);
		await flow(false);
		await read(1);
		await page.evaluate(() => {
			window.slept = 60000;
		});
		await read(1);
		ok("after the device slept, at the first reading", (await resumed()) === "signal-reconnect");
		await flow(true);
		await read(1);
		const change = (type) =>
			page.evaluate((value) => {
				navigator.connection.type = value;
				navigator.connection.dispatchEvent(new Event("change"));
			}, type);
		for (const [name, type, wanted] of [
			["the same network", "wifi", ""],
			["no network", "none", ""],
			["another network", "cellular", "signal-reconnect"],
		]) {
			await change(type);
			ok(`${name}: at once`, (await resumed()) === wanted, type);
		}
		await page.evaluate(() => {
			fake.room.state = "reconnecting";
		});
		await change("wifi");
		ok("not while the library does it", (await resumed()) === "");
		// Without a network, joining again is not tried in vain.
		await page.evaluate(() => {
			Object.defineProperty(navigator, "onLine", { configurable: true, value: false });
		});
		let joins = 0;
		page.on("request", (one) => (joins += one.url().endsWith("/v2/token/join")));
		await page.evaluate(() => {
			fake.former = fake.room;
			fake.room.end(undefined);
		});
		await page.waitForTimeout(300);
		ok("offline, it does not join again", joins === 0, joins);
		await page.evaluate(() => {
			delete navigator.onLine;
			dispatchEvent(new Event("online"));
		});
		await page.waitForFunction(() => fake.room !== fake.former && fake.room.localParticipant.sid);
		ok("online, it does", joins === 1, joins);
		await close(page);
		stand.livekit.stop();
	});
