// Browsers that keep nothing: storage and cookies that are blocked, and a storage that is full.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { close, connected, control, make_call, open_join, press_join, says, title } from "./call.js";
import { ACCESS_KEY, BASE, SECRET, accessible, complaints, group, new_page, ok } from "./stand.js";

/** As Chromium does it if all cookies are blocked. */
function block() {
	for (const name of ["localStorage", "sessionStorage"]) {
		Object.defineProperty(window, name, {
			get() {
				throw new DOMException("Access is denied for this document.", "SecurityError");
			},
		});
	}
	Object.defineProperty(navigator, "cookieEnabled", { value: false });
	navigator.locks.request = () => Promise.reject(new DOMException("denied", "SecurityError"));
	window.BroadcastChannel = function () {
		throw new DOMException("denied", "SecurityError");
	};
}
function fill() {
	Storage.prototype.setItem = () => {
		throw new DOMException("The quota has been exceeded.", "QuotaExceededError");
	};
}

/** The join page and the call work, and say what is not kept. */
export const nothing_kept = (browser) =>
	group("nothing kept", async () => {
		const stand = await make_call("Nothing kept");
		for (const [name, prepare] of [
			["blocked", block],
			["full", fill],
		]) {
			const page = await open_join(browser, stand, stand.codes.guest, {}, prepare);
			const said = await page.textContent(".join-form");
			ok(`${name}: what is not kept is said`, said.includes("Your browser does not store anything for this page"), said);
			await accessible(page, `${name}: the join page`);
			await press_join(page, "Nora");
			await connected(page);
			await page.keyboard.press("m");
			await says(page, control("audio"), "Turn microphone on");
			await page.click(control("more"));
			await page.click(".menu-item:has-text('Keyboard shortcuts')");
			await page.click("#keys-on");
			await page.keyboard.press("Escape");
			await page.keyboard.press("m");
			await says(page, control("audio"), "Turn microphone on");
			ok(`${name}: the call works, and remembers until it is left`, true);
			await page.click(control("leave"));
			await page.waitForSelector(title("You have left the call"));
			await page.click("text=Join again");
			await connected(page);
			ok(`${name}: one can join again`, true);
			await close(page);
		}
		const usual = await open_join(browser, stand, stand.codes.guest);
		ok("elsewhere nothing is said", !(await usual.textContent(".join-form")).includes("does not store anything"));
		await close(usual);
		stand.livekit.stop();

		const console_ = await new_page(browser);
		await console_.addInitScript(block);
		await console_.route("**/v2/session", async (route) => {
			// The browser stores no cookie.
			const response = await route.fetch();
			const { "set-cookie": _, ...headers } = response.headers();
			await console_.context().clearCookies();
			await route.fulfill({ response, headers });
		});
		await console_.goto(`${BASE}/console/`);
		await console_.waitForSelector("#secret");
		ok("the console says that it needs a cookie", (await console_.textContent(".sign-in")).includes("blocks cookies"));
		await console_.fill("#access_key", ACCESS_KEY);
		await console_.fill("#secret", SECRET);
		await console_.keyboard.press("Enter");
		await console_.waitForSelector(".fault:has-text('blocks cookies')");
		ok("and why nobody is signed in", true);
		await accessible(console_, "signing in without cookies");
		await console_.context().close();
		const full = await new_page(browser);
		await full.addInitScript(fill);
		await full.goto(`${BASE}/console/rooms`);
		await full.fill("#access_key", ACCESS_KEY);
		await full.fill("#secret", SECRET);
		await full.keyboard.press("Enter");
		await full.waitForSelector(".frame .page");
		ok("with a storage that is full, the console works", true);
		await full.context().close();
		ok("nothing throws", complaints.length === 0, complaints.join("\n"));
	});
