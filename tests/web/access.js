// Accessibility, page sizes and preferences of the pages; takes the pictures of the manual.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
	BASE,
	api,
	SIZES,
	accessible,
	group,
	make_room,
	new_page,
	ok,
	picture,
	sign_in,
} from "./stand.js";

/** Every view, and the element that must exist before it is checked. */
const views = ({ template, room, codes, hook }) => [
	["overview", "/console/overview", ".tiles"],
	["templates", "/console/templates", ".row-link"],
	["new template", "/console/templates/new", ".cards"],
	["template", `/console/templates/${template.id}`, ".role-card"],
	["role", `/console/templates/${template.id}/roles/host`, ".section"],
	["settings", `/console/templates/${template.id}/settings`, ".section"],
	["destinations", `/console/templates/${template.id}/destinations`, ".section"],
	["JSON", `/console/templates/${template.id}/json`, ".code-block"],
	["rooms", "/console/rooms", ".row-link"],
	["new room", "/console/rooms/new", ".panel"],
	["room", `/console/rooms/${room.id}`, ".codes .switch"],
	["events", "/console/events", ".event-type"],
	["webhooks", "/console/webhooks", ".list-place > *"],
	["webhook", `/console/webhooks/${hook.id}`, "#about-hook"],
	["bans", "/console/bans", ".list-place > *"],
	["keys", "/console/keys", ".list-place > *"],
	["media", "/console/media", "#signing"],
	["new media server", "/console/media/new", ".panel"],
	["service", "/console/service?range=live", ".chart .stroke"],
	["not found", "/console/rooms/0123456789abcdef01234567", ".empty h1"],
	["join", `/join/${codes.host}`, ".join-form"],
	["join, viewer", `/join/${codes.viewer}`, ".join-form"],
	["join, no code", "/join", "#code"],
];

/** The views that the manual has a picture of, light or dark. */
const PICTURED = {
	overview: "light",
	templates: "light",
	template: "dark",
	role: "light",
	room: "light",
	events: "light",
	service: "dark",
	join: "light",
};

/** Waits until the preview plays and its buttons have their colours. */
const preview_moves = (page) =>
	page.waitForFunction(
		() =>
			document.querySelector(".stage video")?.currentTime > 0.5 &&
			document.getAnimations().every((one) => one.playState !== "running"),
	);

/** Sends requests at a varying rate until the charts have a minute of readings. */
async function charts_fill(page, { template }) {
	for (let reading = 0; reading < 30; reading++) {
		const calls = 10 + Math.round(8 * Math.sin(reading / 4));
		for (let i = 0; i < calls; i++)
			await api("GET", i % 3 ? "/v2/templates?limit=10" : "/v2/rooms");
		const name = `All-views-${reading % 3}`;
		if (reading % 8 < 6) await api("POST", "/v2/rooms", { name, template_id: template.id });
		await page.waitForFunction(
			(least) =>
				(document.querySelector(".chart .stroke")?.getAttribute("d").match(/[ML]/g) ?? []).length >
				least,
			reading,
		);
	}
}

const SETTLED = { join: preview_moves, service: charts_fill };

/** All views in all sizes, light and dark: axe, the sizes of touch targets, unique names. */
export const all_views = (browser) =>
	group("all views", async () => {
		const made = await make_room("All views");
		made.hook = await api("POST", "/v2/webhooks", { url: "https://hooks.example.org/views" });
		const state = await signed_in(browser);
		for (const [size, options] of Object.entries(SIZES)) {
			for (const colorScheme of ["light", "dark"]) {
				const page = await new_page(browser, { ...options, colorScheme, storageState: state });
				for (const [name, path, wanted] of views(made)) {
					await page.goto(BASE + path);
					await page.waitForSelector(wanted, { state: "attached", timeout: 15000 });
					await accessible(page, `${name}, ${size}, ${colorScheme}`);
					if (size === "narrow") await touchable(page, name);
					if (colorScheme === "light") await named(page, `${name}, ${size}`);
					if (size === "desktop" && PICTURED[name] === colorScheme)
						await picture(page, name, () => SETTLED[name]?.(page, made));
				}
				await with_dialogs(page, made, `${size}, ${colorScheme}`);
				await page.context().close();
			}
		}
		await api("DELETE", `/v2/webhooks/${made.hook.id}`);
	});

/** Touch targets have 24 pixels. */
async function touchable(page, name) {
	const small = await page.evaluate(() =>
		[...document.querySelectorAll("button, a.button, select, input")]
			.filter((one) => one.checkVisibility() && !one.closest(".off-screen, p, li.token"))
			.map((one) => [one, (one.closest("label") ?? one).getBoundingClientRect()])
			.filter(([, box]) => box.width > 0 && Math.min(box.width, box.height) < 24)
			.map(([one]) => one.outerHTML.slice(0, 120)),
	);
	ok(`targets of 24 px: ${name}`, small.length === 0, small.join("\n"));
}

/** No two buttons of a page have the same name. */
async function named(page, name) {
	const twice = await page.evaluate(() => {
		const names = [...document.querySelectorAll("#page button, #page [role=switch]")]
			.filter((one) => one.checkVisibility())
			.map((one) => {
				const around = one.matches("input") ? one.closest("label, .field, .group, .section") : one;
				return one.getAttribute("aria-label") ?? around?.textContent ?? "";
			});
		return names.filter((one, i) => names.indexOf(one) < i);
	});
	ok(`names are unique: ${name}`, twice.length === 0, twice.join("; "));
	const over = await page.evaluate(() => {
		const end = document.querySelector(".page")?.getBoundingClientRect().bottom ?? innerHeight + 1;
		return end + scrollY <= innerHeight ? document.documentElement.scrollHeight - innerHeight : 0;
	});
	ok(`short pages do not scroll: ${name}`, over === 0, over);
}

/** The same with errors shown and dialogs open. */
async function with_dialogs(page, { template, room }, name) {
	await page.goto(`${BASE}/console/templates/${template.id}/roles/host`);
	await page.waitForSelector(".section");
	await page.fill("[data-pointer='/priority'] input", "9");
	await page.keyboard.press("Control+s");
	await page.waitForSelector(".faults:not([hidden])");
	await accessible(page, `faults, ${name}`);
	await page.fill("[data-pointer='/priority'] input", "2");
	const role = await api("GET", `/v2/templates/${template.id}/roles/host`);
	const limit = { maxPeerCount: role.maxPeerCount + 1 };
	await api("PATCH", `/v2/templates/${template.id}/roles/host`, limit);
	await page.keyboard.press("Control+s");
	await page.waitForSelector(".conflict");
	await accessible(page, `conflict, ${name}`);
	await page.keyboard.press("Escape");
	await page.click("button:text-is('Discard')");
	await page.waitForSelector(".toast");
	await accessible(page, `undo, ${name}`);
	await page.goto(`${BASE}/console/events`);
	await page.click(".event-type >> nth=0");
	await page.waitForSelector(".event-change");
	await accessible(page, `event, ${name}`);
	await page.goto(`${BASE}/console/rooms/${room.id}`);
	await page.waitForSelector(".codes .switch");
	await page.click("button:has-text('New code')");
	await page.waitForSelector("dialog[open]");
	await accessible(page, `new code, ${name}`);
	await page.keyboard.press("Escape");
	await page.keyboard.press("Control+k");
	await page.waitForSelector("dialog.palette");
	await accessible(page, `find, ${name}`);
	await page.keyboard.press("Escape");
	await page.click("[aria-label='Room actions']");
	await page.waitForSelector(":popover-open [role=menuitem]");
	await accessible(page, `menu, ${name}`);
	await page.keyboard.press("Escape");
	await page.context().clearCookies();
	await page.keyboard.press("g");
	await page.keyboard.press("t");
	await page.waitForSelector("dialog[open] #secret");
	await accessible(page, `signing in again, ${name}`);
}

async function signed_in(browser) {
	const page = await new_page(browser);
	await sign_in(page);
	const state = await page.context().storageState();
	await page.context().close();
	return state;
}

/** Returns the path of a program; skips folders of PATH that this user may not search. */
const found_program = (name) =>
	process.env.PATH.split(":")
		.map((folder) => join(folder, name))
		.find((path) => existsSync(path));

/** Replaces an SVG file with a PNG picture of it: not every QR code reader knows SVG. */
async function drawn(browser, path) {
	const page = await browser.newPage();
	await page.goto(`file://${path}`);
	await page.screenshot({ path, type: "png" });
	await page.close();
}

/** QR codes: an independent reader reads the join link, light and dark. */
export const qr_codes = (browser) =>
	group("QR codes", async () => {
		const { room, codes } = await make_room("QR codes");
		const state = await signed_in(browser);
		// A build without libqrencode has no QR codes.
		if (!(await api("GET", "/v2/session")).qr) return;
		const reader = found_program("zbarimg");
		if (!reader) console.log("QR codes are not read: there is no zbarimg");
		const read_code = (file) =>
			execFileSync(reader, ["-q", "--raw", file], { encoding: "utf8" }).trim();
		const directory = mkdtempSync(join(tmpdir(), "qr-"));
		for (const colorScheme of ["light", "dark"]) {
			const page = await new_page(browser, { colorScheme, storageState: state });
			await page.goto(`${BASE}/console/rooms/${room.id}`);
			await page.waitForSelector(".codes .switch");
			await page.click(`[aria-label='QR code of ${codes.host}']`);
			await page.waitForFunction(() => document.querySelector("img.qr")?.naturalWidth > 0);
			const file = join(directory, `${colorScheme}.png`);
			await page.screenshot({ path: file });
			if (reader) {
				const read = read_code(file);
				ok(`a QR code is read, ${colorScheme}`, read === `${BASE}/join/${codes.host}`, read);
			}
			for (const kind of ["SVG", "PNG"]) {
				const [download] = await Promise.all([
					page.waitForEvent("download"),
					page.click(`dialog [aria-label="Download ${kind}"]`),
				]);
				ok(`${kind} is saved`, download.suggestedFilename().endsWith(`.${kind.toLowerCase()}`));
				if (reader) {
					const saved = join(directory, download.suggestedFilename());
					await download.saveAs(saved);
					if (kind === "SVG") await drawn(browser, saved);
					ok(`the saved ${kind} is read`, read_code(saved) === `${BASE}/join/${codes.host}`);
				}
			}
			await page.keyboard.press("Escape");
			await page.click("button:has-text('Print QR codes')");
			await page.waitForFunction(() => {
				const images = [...document.querySelectorAll(".sheet img")];

				return images.length > 0 && images.every((one) => one.naturalWidth > 0);
			});
			ok("a sheet with all", (await page.locator(".sheet-card").count()) === 4);
			await page.emulateMedia({ media: "print" });
			ok("the sheet prints alone", await page.locator(".side").isHidden());
			await page.context().close();
		}
		rmSync(directory, { recursive: true });
	});

/** The size of a page when it is first opened, and the second time. */
export const budgets = (browser) =>
	group("budgets", async () => {
		const { codes } = await make_room("Budgets");
		const state = await signed_in(browser);
		for (const [name, path, wanted, bytes, count] of [
			["console", "/console/templates", ".row-link", 90000, 32],
			["join", `/join/${codes.viewer}`, ".join-form", 36864, 15],
			["watch", "/watch/AbCdEfGhIjKlMnOpQrStUv", "h1", 36864, 15],
		]) {
			const page = await new_page(browser, { ...SIZES.phone, storageState: state });
			const debug = await page.context().newCDPSession(page);
			await debug.send("Network.enable");
			/** @type {Map<string, { url: string, cached?: boolean, size?: number }>} */
			let seen = new Map();
			debug.on("Network.responseReceived", ({ requestId, response }) =>
				seen.set(requestId, {
					url: response.url,
					cached: response.fromDiskCache || seen.get(requestId)?.cached,
				}),
			);
			debug.on("Network.requestServedFromCache", ({ requestId }) =>
				seen.set(requestId, { ...seen.get(requestId), cached: true }),
			);
			debug.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
				const one = seen.get(requestId);
				if (one) one.size = encodedDataLength;
			});
			await page.addInitScript(() => {
				window.shift = 0;
				window.longest = 0;
				new PerformanceObserver((list) => {
					for (const one of list.getEntries()) if (!one.hadRecentInput) window.shift += one.value;
				}).observe({ type: "layout-shift", buffered: true });
				new PerformanceObserver((list) => {
					for (const one of list.getEntries())
						window.longest = Math.max(window.longest, one.duration);
				}).observe({ type: "longtask", buffered: true });
			});
			const load = async () => {
				seen = new Map();
				await page.goto(BASE + path);
				await page.waitForSelector(wanted);
				await page.waitForLoadState("networkidle");
				return [...seen.values()].filter((one) => !one.cached && !/\/(v2|live)\//.test(one.url));
			};
			const first = await load();
			const size = first.reduce((sum, one) => sum + (one.size ?? 0), 0);
			console.log(`${name}: ${first.length} files, ${size} bytes`);
			ok(`${name}: at most ${bytes} bytes`, size <= bytes, size);
			ok(`${name}: at most ${count} requests`, first.length <= count, first.length);
			const { shift, longest } = await page.evaluate(() => ({ shift, longest }));
			ok(`${name}: nothing jumps`, shift < 0.02, shift);
			ok(`${name}: no long task`, longest < 200, longest);
			const second = await load();
			ok(
				`${name}: the second time only the page`,
				second.length === 1,
				second.map((one) => one.url).join(" "),
			);
			await page.context().close();
		}
	});

/** Reduced motion and forced colours. */
export const preferences = (browser) =>
	group("preferences", async () => {
		const { room } = await make_room("Preferences", { opens_at: "2099-01-01T00:00:00Z" });
		const state = await signed_in(browser);
		const page = await new_page(browser, {
			reducedMotion: "reduce",
			forcedColors: "active",
			storageState: state,
		});
		await page.goto(`${BASE}/console/rooms/${room.id}`);
		await page.waitForSelector(".codes .switch");
		await page.click("button:has-text('New code')");
		const moving = await page.evaluate(
			() =>
				document.getAnimations().filter((one) => one.effect.getComputedTiming().duration > 50)
					.length,
		);
		ok("nothing moves", moving === 0, moving);
		const border = await page.evaluate(
			() => getComputedStyle(document.querySelector(".switch")).borderTopWidth,
		);
		ok("forced colours leave switches a border", border !== "0px", border);
		const badge = await page.evaluate(
			() => getComputedStyle(document.querySelector(".badge")).borderTopStyle,
		);
		ok("and badges", badge === "solid", badge);
		const outlines = await page.evaluate(() =>
			[".sections [aria-current]", ".sections a:not([aria-current])"].map(
				(which) => getComputedStyle(document.querySelector(which)).outlineStyle,
			),
		);
		ok("forced colours show the current section", outlines.join() === "solid,none", outlines);
		await page.context().close();
	});
