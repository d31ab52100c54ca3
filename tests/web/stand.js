// Helpers of the tests: the browser, signed-in pages, API requests outside the browser, and the number of
// checks that passed.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { execFileSync } from "node:child_process";
import { openSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { chromium, firefox } from "playwright-core";

/** Set by tests/scripts/web.sh: the addresses of the service and the credentials. */
export const {
	BASE_URL: BASE,
	ACCESS_KEY,
	SECRET,
	TOKEN,
	SECURE_URL,
	DATA,
	ANTEROOM,
	PICTURES = "",
	CHROMIUM = "/usr/bin/chromium",
	BROWSER = "",
	FIREFOX = "/usr/bin/firefox-esr",
} = process.env;

export const SIZES = {
	desktop: { viewport: { width: 1280, height: 860 } },
	phone: {
		viewport: { width: 390, height: 844 },
		deviceScaleFactor: 2,
		isMobile: true,
		hasTouch: true,
	},
	tablet: { viewport: { width: 768, height: 1024 } },
	narrow: {
		viewport: { width: 320, height: 640 },
		deviceScaleFactor: 2,
		isMobile: true,
		hasTouch: true,
	},
};

/** Returns the selector of a button with a text. */
export const button = (words) => `button:text-is("${words}")`;

let passed = 0;
let failed = 0;

/** Counts a check, and prints it if it fails. */
export function ok(name, holds, more = "") {
	if (holds) passed += 1;
	else {
		failed += 1;
		console.log(`failed: ${name}${more === "" ? "" : `: ${String(more).slice(0, 500)}`}`);
	}
}

/** Runs a group of checks. An exception counts as a failure; the other groups still run. */
export async function group(name, checks) {
	const start = Date.now();
	try {
		await checks();
	} catch (error) {
		ok(name, false, error.stack);
	}
	if (process.env.TIMES) console.log(`${name}: ${Date.now() - start} ms`);
}

export function end() {
	console.log(`${passed} checks passed, ${failed} failed`);
	process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
}

/** What Firefox needs: devices without a prompt, a clipboard without a menu, and a mouse, which it lacks without a window. */
const PREFERENCES = {
	"media.navigator.streams.fake": true,
	"media.navigator.permission.disabled": true,
	"media.autoplay.default": 0,
	"dom.events.testing.asyncClipboard": true,
	"ui.primaryPointerCapabilities": 6,
	"ui.allPointerCapabilities": 6,
};
const is_firefox = BROWSER === "firefox";

/** Starts the browser. @param {string[]} more further arguments of Chromium */
export const launch = (more = []) =>
	is_firefox
		? firefox.launch({ channel: "moz-firefox", executablePath: FIREFOX, firefoxUserPrefs: PREFERENCES })
		: chromium.launch({
				executablePath: CHROMIUM,
				args: [
					// Each frame of the camera is drawn by a processor, and no test counts them.
					"--use-fake-device-for-media-stream=fps=5",
					"--use-fake-ui-for-media-stream",
					"--no-sandbox",
					"--disable-gpu",
					...more,
				],
			});

/** The hosts that the pages sent requests to, and the errors on their consoles; checked at the end. */
export const hosts = new Set();
export const complaints = [];

/** Records the requests and errors of a page. Error responses do not count: the checks provoke them. */
export function watch(page) {
	page.on("request", (request) => {
		if (!request.url().startsWith("blob:")) hosts.add(new URL(request.url()).host);
	});
	// Firefox asks for the icon of the page of the tests that has none.
	page.on("pageerror", (error) => /favicon\.ico/.test(String(error)) || complaints.push(error.stack || String(error)));
	page.on("console", (message) => {
		const text = message.text();
		if (/Failed to load resource: the server responded|net::ERR_/.test(text)) return;
		if (message.type() === "error" || /Content Security|Trusted/.test(text)) complaints.push(`${text} ${message.location().url}`);
	});
	return page;
}

const axe = readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** Makes the page send each body in a header too: in Firefox, the driver does not tell the bodies of requests. */
function tell_bodies() {
	const { fetch } = globalThis;
	globalThis.fetch = (path, options = {}) => {
		const { body, headers } = options;
		return fetch(path, typeof body === "string" ? { ...options, headers: { ...headers, "X-Body": encodeURIComponent(body) } } : options);
	};
}
/** Returns the JSON that a page has sent. */
export const body_of = (request) => (is_firefox ? JSON.parse(decodeURIComponent(request.headers()["x-body"] ?? "null")) : request.postDataJSON());

/** Opens a page in a new context; `options.storageState` can be that of a signed-in page. */
export async function new_page(browser, options = {}) {
	const context = await browser.newContext({
		...SIZES.desktop,
		permissions: ["clipboard-read", "clipboard-write", "camera", "microphone"],
		...options,
	});
	if (is_firefox) await context.addInitScript(tell_bodies);
	return watch(await context.newPage());
}

export async function sign_in(
	page,
	path = "/console/templates",
	key = ACCESS_KEY,
	secret = SECRET,
) {
	await page.goto(BASE + path);
	await page.waitForSelector("#secret");
	await page.fill("#access_key", key);
	await page.fill("#secret", secret);
	await page.keyboard.press("Enter");
	await page.waitForSelector(".frame .page");
}

/** Checks that axe finds no violations; `name` is for the output. */
export async function accessible(page, name) {
	// Wait for animations: elements that fade in do not have their final colours.
	await page.evaluate(() => {
		const fading = document
			.getAnimations()
			.filter((one) => one.effect.getTiming().iterations === 1);
		return Promise.allSettled(fading.map((one) => one.finished));
	});
	// Only a page that is looked at reads axe. The Content-Security-Policy does not apply to scripts that the debugger
	// adds.
	if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe);
	const found = await page.evaluate(async (rules) => {
		const { violations } = await window.axe.run(document, { runOnly: rules });
		return violations.map((one) => `${one.id}: ${one.nodes.length} × ${one.nodes[0].target}`);
	}, RULES);
	ok(`axe: ${name}`, found.length === 0, found.join("\n"));
	// On a phone, what does not fit makes innerWidth grow.
	const { width } = page.viewportSize();
	const over = (await page.evaluate(() => document.documentElement.scrollWidth)) - width;
	ok(`no sideways scrolling: ${name}`, over <= 0, over);
}

/**
 * Takes a small picture for the manual if PICTURES is set. `settle` first waits until the page shows its
 * content.
 */
export async function picture(page, name, settle) {
	if (!PICTURES) return;
	await settle();
	const debug = await page.context().newCDPSession(page);
	const { width, height } = page.viewportSize();
	const { data } = await debug.send("Page.captureScreenshot", {
		format: "webp",
		quality: 50,
		clip: { x: 0, y: await page.evaluate(() => scrollY), width, height, scale: 0.75 },
	});
	writeFileSync(`${PICTURES}/${name}.webp`, Buffer.from(data, "base64"));
}

/** Sends an API request outside the browser, with the management token. */
export async function api(method, path, body, headers = {}) {
	const response = await fetch(BASE + path, {
		method,
		headers: { Authorization: `Bearer ${TOKEN}`, ...headers },
		body: body === undefined ? null : JSON.stringify(body),
	});
	const text = await response.text();
	if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
	return text === "" ? null : JSON.parse(text);
}

/** Runs a command of the program with the data directory of the service. */
export const program = (...words) =>
	execFileSync(ANTEROOM, [...words, "--data", DATA], { encoding: "utf8" });

// The options of the service, as web.sh has them.
const OPTIONS = ["--media-allow", "127.0.0.0/8"];

/** Stops the service behind nginx; returns a function that starts it again, as web.sh did. */
export async function stop_service() {
	const pid = Number(readFileSync(`${DATA}.responder`, "utf8"));
	const is_there = () => {
		try {
			return process.kill(pid, 0);
		} catch {
			return false;
		}
	};
	process.kill(pid, "SIGTERM");
	while (is_there()) await new Promise((turn) => setImmediate(turn));
	const log = openSync(`${DATA}.log`, "a");
	const words = ["-s", `${DATA}.sock`, "-M", "0600", "-P", `${DATA}.responder`, "--"];
	return () =>
		execFileSync("spawn-fcgi", [...words, ANTEROOM, "serve", "--data", DATA, ...OPTIONS], {
			stdio: ["ignore", log, log],
		});
}

/** Returns the logs of the service and of nginx. */
export const logged = () =>
	[
		`${DATA}.log`,
		...["access", "error"].map((name) => `${dirname(DATA)}/nginx-service/${name}.log`),
	]
		.map((file) => readFileSync(file, "utf8"))
		.join("\n");

const HOST = { endRoom: true, removeOthers: true, mute: true, unmute: true, changeRole: true };

/** Creates a template and a room; returns them with the room's codes by role. */
export async function make_room(name, more = {}) {
	const template = await api("POST", "/v2/templates", {
		name,
		roles: {
			host: {
				permissions: HOST,
				publishParams: { video: { width: 1280, height: 720, bitRate: 1500, frameRate: 30 } },
			},
			speaker: { priority: 2 },
			listener: { priority: 3, publishParams: { allowed: ["audio"] } },
			viewer: {
				priority: 4,
				publishParams: { allowed: [] },
				subscribeParams: { subscribeToRoles: ["host", "speaker"] },
			},
		},
	});
	const room = await api("POST", "/v2/rooms", {
		name: name.replace(/ /g, "-"),
		template_id: template.id,
		description: "Once a term",
		...more,
	});
	const list = await api("POST", `/v2/room-codes/room/${room.id}`);
	const codes = Object.fromEntries(list.data.map((one) => [one.role, one.code]));
	return { template, room, codes };
}
