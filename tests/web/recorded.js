// The recorder's page, in the place of the program that opens it: what it draws and hears, its chunks, and how it ends.
// livekit-client is replaced by fake_client.js, whose people have colours for pictures and tones for sounds.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { close, make_call, open_call, with_library } from "./call.js";
import { BASE, BROWSER, group, launch, new_page, ok } from "./stand.js";

const LOOK = { width: 640, height: 480, fps: 25, video_kbps: 600, audio_kbps: 96, audio_only: false, consent: "notice", chat: true };
const TOKEN = `e30.${Buffer.from(JSON.stringify({ sub: "recorder-1-1", name: "", video: { room: "r", canPublish: false } })).toString("base64url")}.x`;
/** The argument of Chromium without which sound needs somebody who presses something. */
const SOUND = "--autoplay-policy=no-user-gesture-required";

/** What runs in the page first: pictures that move if they are to, sounds, and a way to the picture that is recorded. */
function prepare() {
	globalThis.fake = { on_demand: true };
	const { MediaRecorder: Real } = globalThis;
	globalThis.MediaRecorder = class extends Real {
		constructor(stream, options) {
			super(stream, options);
			Object.assign(globalThis, { recorded_stream: stream, recorded_options: options });
			globalThis.watch?.(stream);
		}
	};
	fake.paint = (canvas, owner, source) => {
		const pen = canvas.getContext("2d");
		const draw = () => {
			pen.fillStyle = source === "screen_share" ? "#208020" : (owner.colour ?? "#804020");
			pen.fillRect(0, 0, canvas.width, canvas.height);
			if (!owner.noise) return;
			const picture = pen.getImageData(0, 0, canvas.width, canvas.height);
			crypto.getRandomValues(new Uint8Array(picture.data.buffer, 0, 65536 / 2));
			pen.putImageData(picture, 0, 0);
		};
		draw();
		// A canvas gives a frame when it is drawn.
		setInterval(draw, owner.noise ? 40 : 500);
	};
	const context = new AudioContext();
	fake.tone = ({ pitch = 440, loud = 1 }) => {
		const tone = context.createOscillator();
		const volume = context.createGain();
		const out = context.createMediaStreamDestination();
		tone.frequency.value = pitch;
		volume.gain.value = loud;
		tone.connect(volume).connect(out);
		tone.start();
		return out.stream.getAudioTracks()[0];
	};
	/** Returns the picture that is recorded now. */
	globalThis.frame = async () => {
		const video = document.createElement("video");
		video.muted = true;
		video.srcObject = new MediaStream(recorded_stream.getVideoTracks());
		await video.play();
		await new Promise((turn) => video.requestVideoFrameCallback(turn));
		const canvas = document.createElement("canvas");
		[canvas.width, canvas.height] = [video.videoWidth, video.videoHeight];
		canvas.getContext("2d").drawImage(video, 0, 0);
		return canvas;
	};
	globalThis.colour_at = async (x, y) => [...(await frame()).getContext("2d").getImageData(x, y, 1, 1).data].slice(0, 3);
	globalThis.png = async () => (await frame()).toDataURL().split(",")[1];
}

/** Opens the recorder's page; returns it with what it tells, and a function that waits for one of that. */
async function open_recorder(browser, has_library = true) {
	const page = await new_page(browser, { permissions: [], viewport: { width: 1280, height: 800 } });
	const told = [];
	const waiting = new Set();
	await page.exposeFunction("anteroom", (text) => {
		told.push(JSON.parse(text));
		for (const one of waiting) one();
	});
	if (has_library) await with_library(page, null);
	await page.addInitScript(prepare);
	await page.goto(`${BASE}/record/`);
	/** Waits for the first of what the page tells that fits, from a place on. */
	const hear = (fits, from = 0) =>
		new Promise((done, failed) => {
			const timer = setTimeout(() => failed(new Error(`not told: ${fits}; told: ${told.map(({ type }) => type)}`)), 20000);
			const look = () => {
				const found = told.slice(from).find(fits);
				if (!found) return;
				waiting.delete(look);
				clearTimeout(timer);
				done(found);
			};
			waiting.add(look);
			look();
		});
	await hear(({ type }) => type === "loaded");
	return { page, told, hear };
}
const start = (page, look = {}, more = {}) =>
	page.evaluate((order) => anteroom_start(order), { join: { url: "wss://media.example.org", token: TOKEN }, look: { ...LOOK, ...look }, ...more });
const is = (type) => (one) => one.type === type;
const people = (n) => (one) => one.type === "people" && one.n === n;

/** A group of checks with a browser of its own, which a recorder needs: Chromium alone makes what it makes. */
const recorder_group = (name, checks) =>
	group(name, async () => {
		if (BROWSER === "firefox") return;
		const own = await launch([SOUND]);
		try {
			await checks(own);
		} finally {
			await own.close();
		}
	});

/** A page with the recorder inside, which records. */
async function recording(browser, look, more) {
	const one = await open_recorder(browser);
	await one.page.evaluate(() => {
		globalThis.let_in = async () => "PA_recorder";
	});
	await start(one.page, look, more);
	await one.hear(is("joined"));
	return one;
}
const shut = (page) => page.context().close();

/** What is shown and received, by name and kind: what is in the document, what the media server sends. */
const shown = (page) => page.locator(".tile").evaluateAll((all) => all.map((one) => one.querySelector(".who").textContent));
const received = (page) =>
	page.evaluate(() =>
		[...fake.room.remoteParticipants.values()]
			.flatMap((one) => [...one.trackPublications].filter(([, { isDesired }]) => isDesired).map(([source]) => `${one.name} ${source}`))
			.sort()
			.join(),
	);

/** Compares two pictures in a page of its own: the share of pixels that differ clearly. */
async function difference(browser, one, other) {
	const page = await (await browser.newContext()).newPage();
	const share = await page.evaluate(
		async (pictures) => {
			const data = [];
			for (const text of pictures) {
				const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(text), (each) => each.charCodeAt(0))]));
				const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
				const pen = canvas.getContext("2d");
				pen.drawImage(bitmap, 0, 0);
				data.push([bitmap.width, bitmap.height, pen.getImageData(0, 0, bitmap.width, bitmap.height).data]);
			}
			const [[w, h, a], [other_w, other_h, b]] = data;
			if (w !== other_w || h !== other_h) return `${w}x${h}, ${other_w}x${other_h}`;
			let n = 0;
			for (let i = 0; i < a.length; i += 4) if ([0, 1, 2].some((c) => Math.abs(a[i + c] - b[i + c]) > 48)) n += 1;
			return n / (w * h);
		},
		[one, other],
	);
	await page.context().close();
	return share;
}

/** One painter: the recording looks as the call's stage does. */
export const recorded_picture = (browser) =>
	recorder_group("the picture of a recording", async (own) => {
		const stand = await make_call("Recorded");
		// Somebody who sees everyone and has no tile.
		await stand.api("PATCH", `/v2/templates/${stand.template.id}/roles/viewer`, { subscribeParams: { subscribeToRoles: ["host", "guest"] } });
		const call = await open_call(browser, stand, "viewer", { colorScheme: "dark" }, prepare);
		const area = await call.locator(".stage-area").boundingBox();
		const look = { width: Math.floor(area.width / 2) * 2, height: Math.floor(area.height / 2) * 2 };
		await call.setViewportSize({ width: 1280 - area.width + look.width, height: 860 - area.height + look.height });
		const { page, hear } = await recording(own, look);
		const both = (act, value) => Promise.all([call.evaluate(act, value), page.evaluate(act, value)]);
		const places = (of) =>
			of.evaluate(() => {
				const { x, y } = document.querySelector(".stage-area").getBoundingClientRect();
				return [...document.querySelectorAll(".tile")].map((one) => {
					const box = one.getBoundingClientRect();
					return [one.querySelector(".who").textContent, box.x - x, box.y - y, box.width, box.height].join(" ");
				});
			});
		const settled = (n) => Promise.all([call, page].map((one) => one.waitForFunction((n) => document.querySelectorAll(".tile").length === n, n)));
		async function compare(name, n) {
			await settled(n);
			const [wanted, found] = [await places(call), await places(page)];
			ok(`${name}: the places are the stage's`, found.length === n && found.join() === wanted.join(), `${found} / ${wanted}`);
			await call.mouse.move(0, 0);
			// Pictures arrive some frames later.
			let share = 1;
			for (let i = 0; i < 40 && !(share < 0.005); i++) {
				const picture = await call.locator(".stage-area").screenshot({ animations: "disabled" });
				share = await difference(own, picture.toString("base64"), await page.evaluate(() => png()));
			}
			ok(`${name}: and so is the picture`, share < 0.005, share);
		}
		await both(() => {
			fake.room.come("PA_1", "Mara Lindt", ["microphone", "camera"], { colour: "#a02020" });
			fake.room.come("PA_2", "Ola", ["microphone"]);
		});
		await hear(people(2));
		await compare("two people", 2);
		await both(() => {
			fake.room.come("PA_3", "A very long name that no tile of this size can show in one line, whatever one does", ["camera"], { colour: "#2020a0" });
			["Person 4", "\u05dc\u05d9\u05d0\u05ea (2)", "\u0633\u0627\u0631\u0629", "Zo\u00eb \u{1f600} \u5c71\u7530"].forEach((name, i) => fake.room.come(`PA_${4 + i}`, name, i % 2 ? ["microphone", "camera"] : [], { colour: "#408080", metadata: '{"isHandRaised":true}' }));
			fake.room.emit("ActiveSpeakersChanged", [fake.room.remoteParticipants.get("PA_2")]);
		});
		await compare("seven people, of whom one speaks", 7);
		const [x, y] = await page.evaluate(() => {
			const box = document.querySelector(".tile").getBoundingClientRect();
			return [box.x + box.width / 2, box.y + box.height / 2];
		});
		const colour = await page.evaluate(([x, y]) => colour_at(x, y), [x, y]);
		ok("a video is where its tile is", Math.abs(colour[0] - 0xa0) < 12 && colour[1] < 60 && colour[2] < 60, colour);
		await both(() => {
			const one = fake.room.remoteParticipants.get("PA_1");
			const publication = one.add("screen_share");
			fake.room.emit("TrackPublished", publication, one);
			if (publication.track) fake.room.emit("TrackSubscribed", publication.track, publication, one);
		});
		await call.waitForSelector(".tile.screen");
		await page.waitForSelector(".tile.screen");
		// The stage follows the size of the picture, as soon as it is known.
		const ratio = (of) => of.waitForFunction(() => Math.abs(document.querySelector(".tile.screen .pane").clientWidth / document.querySelector(".tile.screen .pane").clientHeight - 1.6) < 0.02);
		await Promise.all([ratio(call), ratio(page)]);
		const tiles_of = (of) => of.locator(".tile").count();
		const n = await tiles_of(call);
		await settled(n);
		ok("what only people at a screen need is missing", await page.evaluate(() => [...document.querySelectorAll(".options, .zoom, .caption-view")].every((one) => one.getBoundingClientRect().width === 0)));
		await call.evaluate(() => {
			const rules = [...document.styleSheets].find((one) => one.href.endsWith("call.css"));
			rules.insertRule(".tile .options, .caption :is(.zoom, .caption-view) { display: none }", rules.cssRules.length);
		});
		ok("there are people beside the screen", n > 2, n);
		await compare("a shared screen", n);
		const green = await page.evaluate(() => {
			const box = document.querySelector(".tile.screen .pane").getBoundingClientRect();
			return colour_at(box.x + box.width / 2, box.y + box.height / 2);
		});
		ok("and the screen is in its place", green[1] > 100 && green[0] < 60, green);
		await shut(page);
		await close(call);
		stand.livekit.stop();
	});

/** Who is drawn and heard, by what people have said and by whom the recording may hear. */
export const recorded_people = () =>
	recorder_group("the people of a recording", async (own) => {
		const yes = { entry: "e1", consent: "1764500000" };
		for (const [name, look, people_inside, expected] of [
			["all", {}, [["Mara", {}], ["Ola", {}]], "Mara,Ola"],
			["asked", { consent: "asked" }, [["Mara", { attributes: { role: "guest", ...yes } }], ["Ola", {}]], "Mara"],
			["required", { consent: "required" }, [["Mara", {}], ["Ola", { attributes: { role: "guest", ...yes } }]], "Ola"],
			["an empty consent is none", { consent: "required" }, [["Mara", { attributes: { role: "guest", consent: "" } }]], ""],
			["a consent is a time", { consent: "required" }, [["Mara", { attributes: { ...yes, consent: "true" } }], ["Ola", { attributes: { ...yes, consent: "01" } }]], ""],
			["who was not let in by the service agrees to nothing", { consent: "asked" }, [["Phone", { kind: 3, attributes: { consent: "1764500000" } }], ["Ola", { kind: 0, attributes: yes }]], "Ola"],
			["a word of later versions asks", { consent: "sworn" }, [["Mara", {}], ["Ola", { attributes: yes }]], "Ola"],
			["roles", { roles: ["host"] }, [["Mara", { attributes: { role: "host" } }], ["Ola", {}]], "Mara"],
			["a telephone has no role", { roles: ["host"] }, [["Phone", { attributes: {} }]], ""],
			["all roles, with a telephone", {}, [["Phone", { attributes: {} }]], "Phone"],
			["an agent", {}, [["Agent", { kind: 4 }], ["Ola", {}]], "Ola"],
			["who is hidden", {}, [["Nobody", { permissions: { canPublish: true, hidden: true } }]], ""],
			["who only watches", {}, [["Viewer", { permissions: { canPublish: false } }], ["Ola", {}]], "Ola"],
			["a test", { test: true }, [["Mara", {}]], ""],
		]) {
			const { page, hear } = await recording(own, look);
			await page.evaluate((all) => all.forEach(([name, more], i) => fake.room.come(`PA_${i}`, name, ["microphone", "camera"], more)), people_inside);
			const all = expected === "" ? [] : expected.split(",");
			await hear(people(all.length));
			await page.waitForFunction((n) => document.querySelectorAll(".tile").length === n, all.length);
			ok(`${name}: who is shown`, (await shown(page)).join() === expected, await shown(page));
			const wanted = all.flatMap((one) => [`${one} camera`, `${one} microphone`]).join();
			await page.waitForFunction((n) => [...fake.room.remoteParticipants.values()].flatMap((one) => [...one.trackPublications.values()]).filter((one) => one.isDesired).length === n, 2 * all.length);
			ok(`${name}: and received`, (await received(page)) === wanted, await received(page));
			await shut(page);
		}
	});

/** The largest and the smallest pictures, upright ones, many people: everybody is in the picture. */
export const recorded_sizes = () =>
	recorder_group("sizes of a recording", async (own) => {
		for (const [width, height, n] of [
			[1920, 1080, 3],
			[1080, 1920, 25],
			[500, 480, 25],
			[500, 500, 1],
		]) {
			const name = `${width}x${height}, ${n} people`;
			const { page, hear } = await recording(own, { width, height });
			await page.evaluate((n) => {
				for (let i = 1; i <= n; i++) fake.room.come(`PA_${i}`, `Person ${i}`, ["microphone"]);
			}, n);
			await hear(people(n));
			await page.waitForFunction((n) => document.querySelectorAll(".tile").length === n, n);
			const boxes = await page.locator(".tile").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().toJSON()));
			const inside = ({ left, top, right, bottom }) => left >= 0 && top >= 0 && right <= width && bottom <= height;
			ok(`${name}: all are in it`, boxes.length === n && boxes.every(inside), JSON.stringify(boxes.find((one) => !inside(one))));
			const size = await page.evaluate(async () => {
				const { width, height } = await frame();
				return `${width}x${height}`;
			});
			ok(`${name}: and it has the size of the order`, size === `${width}x${height}`, size);
			await shut(page);
		}
	});

/** Consent that is given and withdrawn, roles that change, who speaks among many, pauses and texts. */
export const recorded_changes = () =>
	recorder_group("changes in a recording", async (own) => {
		const { page, told, hear } = await recording(own, { consent: "asked" });
		await page.evaluate(() => {
			fake.room.come("PA_1", "Mara", ["microphone", "camera"], { attributes: { role: "host", entry: "e1", consent: "1", user_id: "mara" } });
			fake.room.come("PA_2", "Ola", ["microphone", "camera", "screen_share", "screen_share_audio"]);
			globalThis.change = (sid, attributes) => {
				const one = fake.room.remoteParticipants.get(sid);
				one.attributes = attributes;
				fake.room.emit("ParticipantAttributesChanged", attributes, one);
			};
		});
		await hear(people(1));
		ok("a screen of somebody who has not agreed is not shown", (await page.locator(".tile.screen").count()) === 0);
		await page.evaluate(() => change("PA_2", { role: "guest", entry: "e2", consent: "2" }));
		await hear(people(2));
		await page.waitForSelector(".tile.screen");
		ok("who agrees is in it, with the screen", (await received(page)).includes("Ola screen_share,Ola screen_share_audio"), await received(page));
		const at_once = await page.evaluate(() => {
			change("PA_2", { role: "guest", entry: "e2" });
			const wanted = [...fake.room.remoteParticipants.get("PA_2").trackPublications.values()].filter((one) => one.isDesired).length;
			return [wanted, document.querySelectorAll(".tile").length].join();
		});
		ok("who withdraws is gone at once", at_once === "0,1", at_once);
		const looks = await page.evaluate(() => {
			const { getComputedStyle: real } = globalThis;
			let n = 0;
			globalThis.getComputedStyle = (...of) => {
				n += 1;
				return real(...of);
			};
			for (let i = 0; i < 2000; i++) change("PA_1", { role: "host", entry: "e1", consent: "1", user_id: "mara", mood: String(i) });
			globalThis.getComputedStyle = real;
			return n;
		});
		ok("who changes all the time is not drawn each time", looks === 0, looks);

		let from = told.length;
		await page.evaluate(() => {
			fake.room.write("PA_1", "to all");
			fake.room.write("PA_2", "not agreed");
			fake.room.write("PA_1", "to one", ["recorder-1-1"]);
			fake.room.say("chat", "of the service");
		});
		await hear((one) => one.message === "of the service", from);
		await hear((one) => one.message === "to all", from);
		const texts = told.filter(is("chat"));
		ok("texts to everyone are kept, of those who have agreed", texts.map((one) => one.message).sort().join() === "of the service,to all", JSON.stringify(texts));
		const { peer_id, name, user_id, roles, kind, sent_at } = texts.find((one) => one.message === "to all");
		ok("with who wrote them", [peer_id, name, user_id, roles, kind].join() === "PA_1,Mara,mara,host,chat" && Math.abs(sent_at - Date.now()) < 60000);

		await hear(is("chunk"));
		await page.evaluate(() => anteroom_pause(true));
		from = told.length;
		ok("while it is paused nothing is received", (await received(page)) === "", await received(page));
		await page.evaluate(() => fake.room.write("PA_1", "in the pause"));
		await page.evaluate(() => anteroom_pause(true));
		await page.evaluate(() => anteroom_pause(false));
		await hear(is("chunk"), from);
		ok("then it goes on", (await received(page)) === "Mara camera,Mara microphone", await received(page));
		ok("and nothing is kept of the pause", !told.some((one) => one.message === "in the pause"));
		const files = [told.slice(0, from), told.slice(from)].map((part) => part.filter(is("chunk")));
		ok("the chunks of each file are numbered", files.every((chunks) => chunks.every(({ n }, i) => n === i)), JSON.stringify(files.map((chunks) => chunks.map(({ n }) => n))));
		ok("behind a pause is another file", files.every(([first]) => Buffer.from(first.data, "base64").subarray(0, 4).toString("hex") === "1a45dfa3" && first.media_ms < 3000));

		await page.evaluate(() => anteroom_look({ width: 640, height: 480, fps: 25, video_kbps: 600, audio_kbps: 96, audio_only: false, consent: "notice", chat: false }));
		await hear(people(2), from);
		ok("another look is taken at once", (await page.locator(".tile.screen").count()) === 1);
		await page.evaluate(() => fake.room.write("PA_1", "not kept"));
		await page.evaluate(() => {
			fake.room.remoteParticipants.get("PA_2").trackPublications.delete("screen_share");
			fake.room.emit("TrackUnpublished", null, fake.room.remoteParticipants.get("PA_2"));
			for (let i = 3; i <= 30; i++) fake.room.come(`PA_${i}`, `Person ${i}`, ["microphone", "camera"]);
		});
		await hear(people(25), from);
		await page.waitForFunction(() => document.querySelectorAll(".tile").length === 25);
		const before = await shown(page);
		await page.evaluate(() => fake.room.emit("ActiveSpeakersChanged", [fake.room.remoteParticipants.get("PA_30")]));
		await page.waitForSelector(".tile:has-text('Person 30')");
		const after = await shown(page);
		ok("of many, who speaks has a place, and nobody else moves", after.length === 25 && after.filter((one, i) => one !== before[i]).join() === "Person 30", after);
		ok("25 are heard", ((await received(page)).match(/microphone/g) ?? []).length === 25, await received(page));
		ok("the smallest layer of small tiles", await page.evaluate(() => fake.room.remoteParticipants.get("PA_5").getTrackPublication("camera").quality === 0));
		ok("what was written without the wish is not kept", !told.some((one) => one.message === "not kept"));
		await page.evaluate(() => fake.room.emit("Reconnecting"));
		await page.evaluate(() => {
			const all = [...fake.room.remoteParticipants];
			fake.room.remoteParticipants.clear();
			fake.room.emit("ParticipantDisconnected");
			globalThis.back = () => all.forEach(([sid, one]) => fake.room.remoteParticipants.set(sid, one));
		});
		await page.waitForTimeout(100);
		ok("while the connection is made again, people stay", (await shown(page)).length === 25);
		await page.evaluate(() => {
			back();
			fake.room.emit("Reconnected");
		});
		await shut(page);
	});

/** The people of whom every picture and every sound is looked through: their colours and their tones. */
const SEEN = { Mara: ["#a02020", 1000], Ola: ["#2020a0", 2300], screen: ["#208020", 0], Twin: ["#a0a020", 3100] };

/** What runs in the page before a recording: keeps of each picture and each 10 ms of sound whom it has. */
function look_through(people) {
	globalThis.seen = { pictures: [], sounds: [], wished: [] };
	const canvas = new OffscreenCanvas(64, 48);
	const pen = canvas.getContext("2d", { willReadFrequently: true });
	const colours = Object.entries(people).map(([name, [colour]]) => [name, [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16))]);
	function in_picture(picture) {
		pen.drawImage(picture, 0, 0, 64, 48);
		const { data } = pen.getImageData(0, 0, 64, 48);
		const has = (wanted) => {
			let n = 0;
			for (let i = 0; i < data.length; i += 4) if (wanted.every((value, c) => Math.abs(data[i + c] - value) < 24)) n += 1;
			return n > 8;
		};
		return colours.filter(([, wanted]) => has(wanted)).map(([name]) => name);
	}
	function in_sound(sound) {
		const samples = new Float32Array(sound.numberOfFrames);
		sound.copyTo(samples, { planeIndex: 0, format: "f32-planar" });
		const loud = (pitch) => {
			let [x, y] = [0, 0];
			samples.forEach((value, i) => {
				const turn = (2 * Math.PI * pitch * i) / sound.sampleRate;
				x += value * Math.cos(turn);
				y += value * Math.sin(turn);
			});
			return (2 * Math.hypot(x, y)) / samples.length;
		};
		return Object.entries(people).filter(([, [, pitch]]) => pitch > 0 && loud(pitch) > 0.04).map(([name]) => name);
	}
	async function read(track, keep) {
		const reader = new MediaStreamTrackProcessor({ track }).readable.getReader();
		for (;;) {
			const { value, done } = await reader.read();
			if (done) return;
			keep(value);
			value.close();
		}
	}
	globalThis.watch = (stream) => {
		read(stream.getVideoTracks()[0], (picture) => seen.pictures.push(in_picture(picture).join()));
		read(stream.getAudioTracks()[0], (sound) => seen.sounds.push(in_sound(sound).join()));
	};
	/** Somebody comes; what is asked of the media server is kept. */
	globalThis.come = (room, sid, name, attributes, sources) => {
		const [colour, pitch] = people[name];
		const one = room.come(sid, name, [], { attributes: { role: "guest", ...attributes }, colour, pitch, loud: 0.2 });
		for (const source of sources) {
			const publication = one.add(source);
			const ask = publication.setSubscribed;
			publication.setSubscribed = (yes) => {
				seen.wished.push(`${name} ${source} ${yes}`);
				ask(yes);
			};
			room.emit("TrackPublished", publication, one);
		}
	};
	globalThis.change = (sid, attributes) => {
		const one = fake.room.remoteParticipants.get(sid);
		one.attributes = attributes;
		fake.room.emit("ParticipantAttributesChanged", attributes, one);
	};
}

/** No picture and no sound has anything of somebody who has not agreed, at any time. */
export const recorded_consent = () =>
	recorder_group("consent in a recording", async (own) => {
		const look = { ...LOOK, consent: "required" };
		const { page, hear } = await open_recorder(own);
		await page.evaluate(look_through, SEEN);
		await page.evaluate(() => {
			globalThis.let_in = async () => "PA_recorder";
			fake.first = (room) => {
				come(room, "PA_2", "Ola", { entry: "e2" }, ["microphone", "camera", "screen_share"]);
				come(room, "PA_1", "Mara", { entry: "e1", consent: "1764500000" }, ["microphone", "camera"]);
			};
		});
		await start(page, look);
		await hear(people(1));
		const seen = () => page.evaluate(() => globalThis.seen);
		/** Waits until pictures and sounds have exactly these, some times after one another. */
		const until = (pictures, sounds) =>
			page.waitForFunction(
				(wanted) => ["pictures", "sounds"].every((kind, i) => seen[kind].length > 20 && seen[kind].slice(-12).every((one) => one === wanted[i])),
				[pictures, sounds],
				{ timeout: 20000 },
			);
		const has = (list, name) => list.filter((one) => one.split(",").includes(name)).length;
		await until("Mara", "Mara");
		const first = await seen();
		ok("from the first picture on, who has not agreed is in none", has(first.pictures, "Ola") + has(first.pictures, "screen") === 0, first.pictures.length);
		ok("nor in any sound", has(first.sounds, "Ola") === 0, first.sounds.length);
		ok("nothing of them is asked for", !first.wished.some((one) => /Ola .* true/.test(one)), first.wished.join());

		/** Does something after which somebody must not be in the recording: what is on its way may be. */
		async function gone(name, act, value, pictures, sounds, whom = "Ola") {
			const before = await page.evaluate(([text, value]) => {
				(0, eval)(`(${text})`)(value);
				return [seen.pictures.length, seen.sounds.length];
			}, [String(act), value]);
			await until(pictures, sounds);
			const after = await seen();
			const late = [has(after.pictures.slice(before[0]), whom), has(after.sounds.slice(before[1]), whom)];
			ok(`${name}: with the next picture`, late[0] <= 5, late);
			ok(`${name}: and the next sound`, late[1] <= 30, late);
			// Without a tile nothing is left to be drawn later.
			ok(`${name}: no tile`, !(await shown(page)).some((one) => one.startsWith(whom)), await shown(page));
		}
		/** Does something after which somebody must not come: looks through what follows. */
		async function stays_out(name, whom, act, ...values) {
			const before = await page.evaluate(() => [seen.pictures.length, seen.sounds.length]);
			await page.evaluate(act, ...values);
			await page.waitForFunction(([pictures, sounds]) => seen.pictures.length > pictures + 30 && seen.sounds.length > sounds + 60, before);
			const after = await seen();
			const found = [has(after.pictures.slice(before[0]), whom), has(after.sounds.slice(before[1]), whom)];
			ok(name, found.join() === "0,0", found);
		}
		const all = ["Mara,Ola,screen", "Mara,Ola"];
		let time = 1764500001;
		const agree = () => page.evaluate((consent) => change("PA_2", { role: "guest", entry: "e2", consent }), String(time++));
		await agree();
		await until(...all);
		ok("who agrees is seen and heard, with the screen", true);
		await gone("withdrawn", () => change("PA_2", { role: "guest", entry: "e2", consent: "" }), null, "Mara", "Mara");
		await stays_out("what was withdrawn does not count again", "Ola", () => change("PA_2", { role: "guest", entry: "e2", consent: "1764500001" }));
		await stays_out("nor for another stay by the same entry", "Ola", () => come(fake.room, "PA_4", "Ola", { entry: "e2", consent: "1764500001" }, ["microphone", "camera"]));
		await page.evaluate(() => fake.room.go("PA_4"));
		await agree();
		await until(...all);
		await stays_out("another connection of the same person agrees by itself", "Twin", () => come(fake.room, "PA_3", "Twin", { entry: "e3", user_id: "ola" }, ["microphone", "camera"]));
		ok("nothing of it is asked for", !(await seen()).wished.some((one) => /Twin .* true/.test(one)));
		await page.evaluate((next) => anteroom_look(next), { ...look, consent: "notice" });
		await until("Mara,Ola,screen,Twin", "Mara,Ola,Twin");
		ok("where nobody is asked, everybody is in it", true);
		await gone("another look", (next) => anteroom_look(next), { ...look, consent: "asked" }, ...all, "Twin");
		await page.evaluate((next) => anteroom_look(next), { ...look, consent: "notice" });
		await until("Mara,Ola,screen,Twin", "Mara,Ola,Twin");
		await page.evaluate(() => fake.room.emit("SignalReconnecting"));
		await gone("another look while the connection is made again", (next) => anteroom_look(next), look, ...all, "Twin");
		await page.evaluate(() => fake.room.emit("Reconnected"));
		await until(...all);
		await gone("withdrawn while the connection is made again", () => {
			fake.room.emit("SignalReconnecting");
			change("PA_2", { role: "guest", entry: "e2" });
		}, null, "Mara", "Mara");
		await page.evaluate(() => fake.room.emit("Reconnected"));
		await page.evaluate((next) => anteroom_look(next), { ...look, consent: "notice" });
		await until("Mara,Ola,screen,Twin", "Mara,Ola,Twin");
		// Another recorder has seen it before: the service says so.
		await page.evaluate((next) => anteroom_look(next), { ...look, withdrawn: [{ entry: "e4", at: 1764500009 }, { entry: "e4", at: 1 }] });
		await until("Mara", "Mara");
		await stays_out("what was withdrawn before the page knew of it does not count", "Twin", () => come(fake.room, "PA_8", "Twin", { entry: "e4", consent: "1764500009" }, ["microphone", "camera"]));
		await page.evaluate(() => change("PA_8", { role: "guest", entry: "e4", consent: "1764500010" }));
		await until("Mara,Twin", "Mara,Twin");
		ok("a later consent does", true);
		await page.evaluate(() => fake.room.go("PA_8"));
		await page.evaluate((next) => anteroom_look(next), { ...look, consent: "notice" });
		await until("Mara,Ola,screen,Twin", "Mara,Ola,Twin");
		// Removed or banned: the media server says so, and the recording has nothing of them from then on.
		const without = ["Mara,Ola,screen", "Mara,Ola"];
		await gone("put out", () => fake.room.go("PA_3"), null, ...without, "Twin");
		await page.evaluate(() => come(fake.room, "PA_5", "Twin", { entry: "e3", user_id: "ola" }, ["microphone", "camera"]));
		await until("Mara,Ola,screen,Twin", "Mara,Ola,Twin");
		await gone("put out again, after an old token let them in", () => fake.room.go("PA_5"), null, ...without, "Twin");
		await page.evaluate(() => come(fake.room, "PA_6", "Twin", { entry: "e3", user_id: "ola" }, ["microphone", "camera"]));
		await until("Mara,Ola,screen,Twin", "Mara,Ola,Twin");
		await gone("put out while the connection is made anew", () => {
			fake.room.emit("Reconnecting");
			fake.room.go("PA_6");
			fake.room.emit("Reconnected");
		}, null, ...without, "Twin");
		await page.evaluate(() => come(fake.room, "PA_7", "Twin", { entry: "e3", user_id: "ola" }, ["microphone", "camera"]));
		await until("Mara,Ola,screen,Twin", "Mara,Ola,Twin");
		// The connection is made anew: the library knows nobody, and the tiles stay.
		await page.evaluate(() => {
			fake.room.emit("Reconnecting");
			fake.room.remoteParticipants.clear();
			fake.room.emit("ParticipantDisconnected");
		});
		ok("while the connection is made anew, people stay", (await shown(page)).length === 4, await shown(page));
		await page.evaluate((next) => anteroom_look(next), look);
		ok("and who has not agreed is gone all the same", (await shown(page)).join() === "Mara", await shown(page));
		await shut(page);
	});

/** The bytes of the order, the key frames' container, and the end of a file. */
export const recorded_chunks = () =>
	recorder_group("the chunks of a recording", async (own) => {
		const { page, told, hear } = await recording(own, { video_kbps: 500 });
		await page.evaluate(() => fake.room.come("PA_1", "Mara", ["microphone", "camera"], { noise: true }));
		const all = () => told.filter(is("chunk"));
		await hear((one) => one.type === "chunk" && one.media_ms > 2000);
		const first = all().length;
		await hear((one) => one.type === "chunk" && one.media_ms > 10000);
		const measured = all().slice(first);
		const bytes = measured.reduce((sum, one) => sum + Buffer.from(one.data, "base64").length, 0);
		const kbps = (bytes * 8) / (measured.at(-1).media_ms - all()[first - 1].media_ms);
		console.log(`recording: ${Math.round(kbps)} kbit/s of 596`);
		ok("the rate is that of the order", kbps > 596 * 0.6 && kbps < 596 * 1.3, kbps);
		ok("the first chunk begins a Matroska file", Buffer.from(all()[0].data, "base64").subarray(0, 4).toString("hex") === "1a45dfa3");
		const options = await page.evaluate(() => [recorded_options.mimeType, recorded_options.videoKeyFrameIntervalDuration].join());
		ok("H.264 and Opus, a key frame each two seconds", options === "video/x-matroska;codecs=avc1,opus,2000", options);
		ok("chunks of a second", measured.every((one, i) => i === 0 || Math.abs(one.media_ms - measured[i - 1].media_ms - 1000) < 700), measured.map((one) => one.media_ms));
		await page.evaluate(() => anteroom_stop());
		const { n } = await hear(is("stopped"));
		ok("it says how many there were", n === all().length && all().every((one, i) => one.n === i), `${n}, ${all().length}`);
		ok("and has told everything before", told.at(-1).type === "stopped" || told.filter(is("chunk")).at(-1).n === n - 1);
		ok("it leaves the room without a word", !told.some(is("away")) && !told.some(is("failed")), JSON.stringify(told.filter(is("failed"))));
		await shut(page);

		const sound = await recording(own, { audio_only: true, width: 0, height: 0 });
		await sound.page.evaluate(() => fake.room.come("PA_1", "Mara", ["microphone", "camera"]));
		await sound.hear(people(1));
		const { data } = await sound.hear(is("chunk"));
		ok("sound alone is in Matroska too", Buffer.from(data, "base64").subarray(0, 4).toString("hex") === "1a45dfa3");
		ok("no video is received for it", (await received(sound.page)) === "Mara microphone", await received(sound.page));
		await shut(sound.page);

		const later = await recording(own, {}, { paused: true });
		await later.page.evaluate(() => fake.room.come("PA_1", "Mara"));
		await later.hear(people(1));
		ok("one that begins with a pause receives nothing", (await received(later.page)) === "" && !later.told.some(is("chunk")));
		await later.page.evaluate(() => anteroom_pause(false));
		const begun = await later.hear(is("chunk"));
		ok("and begins with the first chunk after it", begun.n === 0 && begun.media_ms < 3000, begun.media_ms);
		await shut(later.page);

		const test = await recording(own, { test: true });
		await test.hear(is("chunk"));
		const [first_bar, last_bar] = await test.page.evaluate(async () => [await colour_at(20, 40), await colour_at(620, 40)]);
		ok("a test has its own picture", first_bar[0] > 150 && last_bar[2] > 120 && last_bar[0] < 60, `${first_bar} ${last_bar}`);
		await shut(test.page);
	});

/** How a recorder ends, and what it then tells. */
export const recorded_ends = () =>
	recorder_group("the ends of a recorder", async (own) => {
		for (const [name, reason, expected] of [
			["the server closed the empty room", 10, "closed"],
			["put out", 4, "removed"],
			["the room was deleted", 5, "removed"],
			["in another place", 2, "lost"],
			["no reason", undefined, "lost"],
		]) {
			const { page, told, hear } = await recording(own);
			await hear(is("chunk"));
			await page.evaluate((reason) => fake.room.end(reason), reason);
			const away = await hear(is("away"));
			ok(name, away.reason === expected && told.at(-1) === away, JSON.stringify(told.at(-1)).slice(0, 100));
			await page.evaluate(() => anteroom_stop());
			const { n } = await hear(is("stopped"));
			ok(`${name}: a stop afterwards is answered`, n === told.filter(is("chunk")).length, n);
			await shut(page);
		}
		for (const [name, act, expected] of [
			["a look of another size", () => anteroom_look({ width: 800, height: 480, fps: 25, video_kbps: 1, audio_kbps: 1, audio_only: false }), "the look changed its size"],
			["an error", () => void setTimeout(() => { throw new Error("something broke"); }), /something broke/],
		]) {
			const { page, told, hear } = await recording(own);
			// The page's own errors count as complaints elsewhere.
			page.removeAllListeners("pageerror");
			await page.evaluate(act);
			const { text } = await hear(is("failed"));
			ok(name, typeof expected === "string" ? text === expected : expected.test(text), text);
			if (expected === "the look changed its size") ok(`${name}: what was recorded before is told`, told.some(is("chunk")) && told.at(-1).type === "failed");
			await shut(page);
		}
		const refused = await open_recorder(own);
		await refused.page.evaluate(() => {
			globalThis.let_in = async () => "";
			fake.refuses = 7;
		});
		await start(refused.page);
		const { reason } = await refused.hear((one) => one.type === "away" || one.type === "failed");
		ok("a media server that refuses", reason === "lost" || reason === undefined, reason);
		const lacking = await open_recorder(own, false);
		await start(lacking.page);
		const { text } = await lacking.hear(is("failed"));
		ok("without the library, it is said what is missing", text.startsWith("livekit-client is missing"), text);
		await shut(lacking.page);
		ok("no token is told", !JSON.stringify(refused.told).includes(TOKEN));
		await shut(refused.page);
	});
