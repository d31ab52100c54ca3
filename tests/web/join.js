// The join page, as a guest uses it.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import {
	BASE,
	SECRET,
	accessible,
	api,
	group,
	launch,
	logged,
	make_room,
	new_page,
	ok,
	program,
} from "./stand.js";

const note = (text) => `.device-note:has-text("${text}")`;
const not_set_up = "h1:text-is('Calls are not set up yet')";
/** Where people go who join, as tests/scripts/web.sh sets it. */
const client = /healthz-client/;
const button = ".join-form button[type=submit]";

/** Records which devices a page requests, and lets the requests fail as `fail` says. */
function devices_that(fail) {
	window.wishes = [];
	const real = navigator.mediaDevices?.getUserMedia.bind(navigator.mediaDevices);
	if (!real) return;
	const list = navigator.mediaDevices.enumerateDevices.bind(navigator.mediaDevices);
	window.lacks = fail.lacks ?? [];
	navigator.mediaDevices.enumerateDevices = async () => (await list()).filter(({ kind }) => !window.lacks.includes(kind));
	navigator.mediaDevices.getUserMedia = (wish) => {
		window.wishes.push(wish);
		// In Firefox, an OverconstrainedError is not a DOMException.
		const error = (name) => (name === "OverconstrainedError" ? Object.assign(new Error("no"), { name }) : new DOMException("no", name));
		if (fail.video && wish.video) return Promise.reject(error(fail.video));
		if (fail.audio && wish.audio) return Promise.reject(error(fail.audio));
		return real(wish);
	};
	if (fail.denied) navigator.permissions.query = async () => ({ state: "denied" });
}

/** Opens the page of a code, with devices that fail as `fail` says. */
async function join_page(browser, code, fail = {}, options = {}) {
	const page = await new_page(browser, options);
	await page.addInitScript(devices_that, fail);
	await page.goto(`${BASE}/join/${code}`);
	return page;
}

const close = (page) => page.context().close();

export const preview = (browser, codes) =>
	group("preview", async () => {
		const page = await join_page(browser, codes.host);
		await page.waitForFunction(() => document.querySelector("video")?.videoWidth > 0);
		ok("no browser lays a button on it", (await page.getAttribute("video", "disablepictureinpicture")) !== null);
		const [wish] = await page.evaluate(() => window.wishes);
		const { width, height, frameRate } = wish.video;
		ok(
			"the role's size is wished for",
			width.ideal === 1280 && height.ideal === 720 && frameRate.max === 30,
			JSON.stringify(wish),
		);
		ok(
			"both devices at once",
			wish.audio && (await page.evaluate(() => window.wishes.length)) === 1,
		);
		await page.waitForFunction(
			() => Number(document.querySelector("[role=meter]").getAttribute("aria-valuenow")) > 5,
		);
		ok("the microphone is heard", true);
		await page.click(".preview button[aria-label^='Turn camera']");
		const stopped = await page.evaluate(() => document.querySelector("video").srcObject === null);
		ok("the camera is switched off", stopped);
		await page.click(button);
		ok("a name is asked for", await page.locator("#name-fault").isVisible());
		await page.fill("#name", "Zoë <b>&");
		await page.click(button);
		await page.waitForURL(client);
		await close(page);

		const quiet = await join_page(browser, codes.viewer);
		await quiet.waitForSelector(".join-form");
		ok("a viewer is asked for no device", (await quiet.evaluate(() => window.wishes.length)) === 0);
		await close(quiet);
		const voice = await join_page(browser, codes.listener);
		await voice.waitForSelector(".join-form");
		await voice.waitForFunction(() => window.wishes.length > 0);
		const asked = await voice.evaluate(() => window.wishes);
		ok(
			"a role with a voice is asked for no camera",
			asked.every((one) => !one.video),
		);
		await close(voice);
	});

/** Every language has each text of the page. */
export const languages = (browser, codes) =>
	group("languages", async () => {
		const page = await join_page(browser, codes.viewer);
		await page.waitForSelector(".join-form");
		const found = await page.evaluate(async () => {
			const main = document.querySelector("script[type=module]").src;
			const files = ["words.js", "../call/words.js", "../call/stats_words.js", "../call/recording_words.js", "../call/chat/words.js"].map((one) => new URL(one, main).href);
			const [page_words, ...others] = await Promise.all(files.map((file) => import(file)));
			const { LANGUAGES } = page_words;
			/** The members with their types; functions are called, so that their texts count too. */
			const texts = (words, name = "") =>
				Object.entries(words).flatMap(([key, one]) => {
					if (typeof one === "object") return texts(one, `${name}${key}.`);
					const list = [["audio"], ["audio", "video", "screen"], []];
					const said = typeof one === "string" ? [one] : list.map((kinds) => one(kinds, kinds, kinds));
					const bad = said.some((text) => text.trim() === "" || text.includes("undefined"));
					return [[`${name}${key}: ${bad ? "no text" : typeof one}`, said.join("|")]];
				});
			const all = Object.entries(LANGUAGES).map(async ([language, load]) => {
				const { default: words } = await load();
				const more = await Promise.all(others.map((one) => one.LANGUAGES[language]()));
				return [language, [...texts(words), ...more.flatMap((one) => texts(one.default, "call."))]];
			});
			return Promise.all(all);
		});
		const [[first, english], ...others] = found;
		ok("languages: English is the first", first === "en" && others.length > 0, first);
		for (const [language, texts] of [[first, english], ...others]) {
			const names = texts.map(([name]) => name);
			const wanted = english.map(([name]) => name);
			const differ = [...wanted, ...names].filter(
				(one) => !names.includes(one) || !wanted.includes(one) || one.endsWith("no text"),
			);
			ok(`${language} is complete`, differ.length === 0, differ.join());
		}
		for (const [language, texts] of others) {
			// These are the same word in both languages, or an example.
			const same = texts.filter(
				([name, text]) =>
					english.some(([other, said]) => other === name && said === text) &&
					!/^code|^recording_chat|^camera\.numbered|^call\.(more_people|keys|chat|chat_said|zoomed|streaming\.running\.1)\b/.test(name),
			);
			ok(`${language} is translated`, same.length === 0, same.join());
		}
		await close(page);
	});

/** Every problem with a device is shown, and the guest can still join. */
export const troubles = (browser, codes) =>
	group("problems with devices", async () => {
		for (const [name, fail, text, asked] of [
			["no camera", { video: "NotFoundError" }, "No camera found"],
			["no camera is there", { lacks: ["videoinput"] }, "No camera found", "audio"],
			["no camera fits", { video: "OverconstrainedError" }, "No camera found"],
			["no microphone is there", { lacks: ["audioinput"] }, "No microphone found", "video"],
			["camera in use", { video: "NotReadableError" }, "Your camera is in use"],
			[
				"denied",
				{ video: "NotAllowedError", audio: "NotAllowedError", denied: true },
				"is blocking the camera",
			],
		]) {
			const page = await join_page(browser, codes.host, fail);
			await page.waitForSelector(note(text));
			if (asked) {
				const wishes = await page.evaluate(() => window.wishes.map((one) => Object.keys(one).join()).join(";"));
				ok(`${name}: it is not asked for`, wishes === asked, wishes);
				await page.evaluate(() => {
					window.lacks = [];
					navigator.mediaDevices.dispatchEvent(new Event("devicechange"));
				});
				await page.waitForSelector(note(text), { state: "detached" });
				ok(`${name}: once plugged in, it is used`, true);
			}
			if (!fail.audio) await page.waitForSelector("[role=meter]:not([hidden])");
			else ok("a denied permission is shown for each device", (await page.locator(".device-note .fault").count()) === 2);
			await accessible(page, `join, ${name}`);
			await page.fill("#name", "Kofi");
			await page.click(button);
			await page.waitForURL(client);
			ok(`joins: ${name}`, true);
			await close(page);
		}
	});

/** Codes that are typed or pasted, and codes that people cannot join with. */
export const codes_told = (browser, codes) =>
	group("codes", async () => {
		const page = await join_page(browser, "zzz-zzzz-zzz");
		await page.waitForSelector("#code-fault:not([hidden])");
		ok(
			"an unknown code is told",
			(await page.textContent("#code-fault")).includes("No room has this code"),
		);
		for (const [typed, text] of [
			["abc-dëfg-hij", "No code has the character “ë”. Check"],
			["abc_defg_hij", "No code has the character “_”. Check"],
			["abcdef0hij", "check the “0”"],
			["abc-de1g-hij", "check the “1”"],
			["abc-defg-hik", "No room has this code. Check the spelling"],
			["see you on monday at nine in the usual room, all of you", "No room has this code. Check"],
		]) {
			await page.fill("#code", typed);
			await page.keyboard.press("Enter");
			await page.waitForSelector(`#code-fault:has-text("${text}")`);
			ok(`told what is wrong: ${typed}`, true);
		}
		await page.fill("#code", "");
		await page.locator("#code").pressSequentially(codes.host.replaceAll("-", "").toUpperCase());
		ok("hyphens are inserted", (await page.inputValue("#code")) === codes.host);
		await page.keyboard.press("Enter");
		await page.waitForSelector(".join-form");
		ok("a typed code works", true);
		for (const pasted of [
			`Join here: ${BASE}/join/${codes.host}?x=1.`,
			`\u201c${codes.host.replaceAll("-", "\u2011")}\u201d`,
		]) {
			await page.goto(`${BASE}/join`);
			await page.fill("#code", pasted);
			await page.keyboard.press("Enter");
			await page.waitForSelector(".join-form");
		}
		ok("a pasted code works", true);
		await page.goto(`${BASE}/join/%E2%80%9C${codes.host}%E2%80%9D`);
		await page.waitForSelector(".join-form");
		ok("a code in quotes in the URL works", true);
		await page.goto(`${BASE}/join/%ff%fe`);
		await page.waitForSelector("#code-fault:not([hidden])");
		ok("an invalid URL is reported", true);
		const told = async (code, text) => {
			await page.goto(`${BASE}/join/${code}`);
			await page.waitForSelector(`h1:has-text("${text}")`);
			ok(`reported: ${text}`, true);
		};
		const { room } = await make_room("Kind words");
		const at = `/v2/room-codes/room/${room.id}/role/host`;
		const make = async (body) => (await api("POST", at, body)).code;
		const off = await make({});
		await api("POST", `/v2/room-codes/code/${off}`, { enabled: false });
		await told(off, "is not active");
		const used = await make({ max_uses: 1 });
		await api("POST", "/v2/token", { code: used, user_id: "ann" });
		await told(used, "has already been used");
		const old = await make({ label: "old" });
		await api("PATCH", `/v2/room-codes/code/${old}`, { expires_at: "2020-01-01T00:00:00Z" });
		await told(old, "has expired");
		await told(await make({ not_before: "2099-01-01T00:00:00Z" }), "You are early");
		const { codes: shut } = await make_room("Closed room", { closes_at: "2020-01-01T00:00:00Z" });
		await told(shut.host, "This room is closed");
		const soon = new Date(Date.now() + 7000).toISOString();
		const { codes: opening } = await make_room("Opening room", { opens_at: soon });
		await told(opening.host, "You are early");
		ok("the time is counted down", /\d\d:\d\d/.test(await page.textContent(".countdown")));
		await page.waitForSelector(".join-form", { timeout: 20000 });
		ok("it goes on when the room opens", true);
		await page.goto(`${BASE}/join/${await make({ name: "Zoë <b>", max_uses: 1 })}`);
		await page.waitForSelector(".welcome:has-text('Welcome, Zoë <b>!')");
		ok("a personal code asks for no name", (await page.locator("#name").count()) === 0);
		await page.click(button);
		await page.waitForURL(client);
		const kept = await page.evaluate(() => localStorage.getItem("name"));
		ok("a greeted guest joins by that name, which is not kept", kept === null, kept);
		const words = await make({ code: "our-own-words-2" });
		await page.goto(`${BASE}/join`);
		await page.locator("#code").pressSequentially(words);
		await page.keyboard.press("Enter");
		await page.waitForSelector(".join-form");
		ok("a custom code can be typed", true);
		await page.route("**/v2/join/**", (route) =>
			route.fulfill({
				status: 429,
				headers: { "Retry-After": "2" },
				json: { code: 429, message: "Too many requests" },
			}),
		);
		await page.goto(`${BASE}/join/${codes.host}`);
		await page.waitForSelector("h1:has-text('Too many attempts')");
		await page.unroute("**/v2/join/**");
		await page.waitForSelector(".join-form");
		ok("after too many attempts, it continues automatically", true);
		await close(page);
		const german = await join_page(browser, codes.host, {}, { locale: "de-DE" });
		await german.waitForSelector(".join-form button:has-text('Beitreten')");
		ok("in German", (await german.getAttribute("html", "lang")) === "de");
		await close(german);
		const before = JSON.stringify(await api("GET", `/v2/room-codes/code/${codes.host}`));
		for (let i = 0; i < 1000; i += 1) await (await fetch(`${BASE}/v2/join/${codes.host}`)).text();
		const after = JSON.stringify(await api("GET", `/v2/room-codes/code/${codes.host}`));
		ok("describing a code changes nothing", before === after);
	});

/** Opens the client application of the account. */
export const forwarding = (browser, codes) =>
	group("forwarding to the client application", async () => {
		program(
			"account",
			"set",
			"test",
			`client_url=${BASE}/healthz-client#t={token}&r={role}&n={name}&a={audio}&v={video}&i={room_id}&u={user_id}`,
		);
		const page = await join_page(browser, codes.host);
		const seen = [];
		page.on("request", (request) =>
			seen.push(`${request.url()} ${request.headers().referer ?? ""}`),
		);
		await page.waitForFunction(() => document.querySelector("video")?.videoWidth > 0);
		await page.click(".preview button[aria-label^='Turn microphone']");
		const name = "Zoë <b>&#";
		await page.fill("#name", name);
		await page.click(button);
		await page.waitForURL(/healthz-client/);
		const got = new URLSearchParams(new URL(page.url()).hash.slice(1));
		ok("with role and name", got.get("r") === "host" && got.get("n") === name, page.url());
		ok("with audio and video as chosen", got.get("a") === "0" && got.get("v") === "1");
		const token = got.get("t");
		ok(
			"the token is in no request",
			token.length > 50 && seen.every((one) => !one.includes(token)),
		);
		// Both logs are complete once nginx has logged the last request.
		while (!logged().includes("GET /healthz-client")) await fetch(`${BASE}/healthz-client`);
		ok("no token is in a log", !/eyJ|Bearer/.test(logged()) && !logged().includes(SECRET));
		await page.goBack().catch(() => {});
		ok("no token is in the history", !page.url().includes(token));
		await close(page);
		program("account", "set", "test", `client_url=${BASE}/healthz-client`);
	});

/** Without a media server and without a client application, the page says so before it asks for anything. */
export const without_server = (browser, codes) =>
	group("no media server", async () => {
		program("account", "set", "test", "client_url=");
		const page = await join_page(browser, codes.host);
		await page.waitForSelector(not_set_up);
		const text = await page.textContent("main");
		ok("the missing media server is named", text.includes("There is no media server"), text);
		ok("administrators are told what to do", text.includes("the console says what to do"), text);
		ok("nobody is asked for a name", (await page.locator("input").count()) === 0);
		ok("nor for a camera", (await page.evaluate(() => window.wishes.length)) === 0);
		await accessible(page, "join, not set up");
		await close(page);
		program("account", "set", "test", `client_url=${BASE}/healthz-client`);
	});

/** A page over plain HTTP gets no devices: it says so, and joining works. */
export const plain_http = (codes) =>
	group("plain http", async () => {
		const browser = await launch(["--host-resolver-rules=MAP plain.test 127.0.0.1"]);
		const page = await (await browser.newContext()).newPage();
		await page.goto(`http://plain.test:${new URL(BASE).port}/join/${codes.host}`);
		await page.waitForSelector(note("HTTPS"));
		ok("not a secure context", await page.evaluate(() => !isSecureContext));
		await page.fill("#name", "Kofi");
		await page.click(button);
		await page.waitForURL(client);
		ok("joins over plain http", true);
		await browser.close();
	});
