// The join page in a frame of another page: it runs there only if the account allows that page, and tells it of the
// call.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { connected, make_call, press_join, title, with_library } from "./call.js";
import { BASE, complaints, group, hosts, new_page, ok, program } from "./stand.js";

// The page around has another origin than the service, because of its host.
export const AROUND = BASE.replace("127.0.0.1", "localhost");
const OTHER = "https://www.example.org";
const refused = title("This page cannot be shown here");

/** What a browser does that does not know ancestorOrigins. */
const without_ancestors = (page) =>
	page.route("**/join/frame.js", async (route) => {
		const response = await route.fetch();
		const body = (await response.text()).replace("location.ancestorOrigins", "undefined");
		await route.fulfill({ response, body });
	});

/** Opens a page with the join page of a code in a frame; returns both. */
export async function open_framed(browser, stand, code, { policy = "origin", old = false, serve = () => {} } = {}) {
	const page = await new_page(browser);
	await with_library(page, stand, AROUND);
	await serve(page);
	if (old) await without_ancestors(page);
	const body = `<!doctype html><title>Around</title><script>
		window.told = [];
		addEventListener("message", ({ origin, data }) => told.push({ origin, ...data }));
		</script><iframe src="${BASE}/join/${code}" referrerpolicy="${policy}" width="900" height="700"
		allow="camera; microphone; display-capture; fullscreen; screen-wake-lock"></iframe>`;
	await page.route(`${AROUND}/around`, (route) => route.fulfill({ contentType: "text/html", body }));
	page.on("dialog", (dialog) => dialog.accept());
	await page.goto(`${AROUND}/around`);
	const handle = await page.waitForSelector("iframe");
	return { page, frame: await handle.contentFrame() };
}
const told = (page, count) =>
	page.waitForFunction((count) => window.told.length >= count, count).then(() => page.evaluate(() => window.told));

export const framed = (browser) =>
	group("the join page in a frame", async () => {
		const stand = await make_call("Framed");
		for (const [name, embed, how, runs] of [
			["of no account", "", {}, false],
			["of another account's page", OTHER, {}, false],
			["of the account's page", AROUND, {}, true],
			["of one of the account's pages", `${OTHER},${AROUND}`, {}, true],
			["by the referrer", AROUND, { old: true }, true],
			["by the referrer of another", OTHER, { old: true }, false],
			["without a referrer", AROUND, { old: true, policy: "no-referrer" }, false],
		]) {
			program("account", "set", stand.name, `embed=${embed}`);
			const { page, frame } = await open_framed(browser, stand, stand.codes.viewer, how);
			await frame.waitForSelector(runs ? ".join-form" : refused);
			ok(`${name}: ${runs ? "runs" : "does not run"}`, (await frame.locator(".join-form").count()) === (runs ? 1 : 0));
			if (!runs) {
				const link = frame.locator("a.button");
				const [address, target] = [await link.getAttribute("href"), await link.getAttribute("target")];
				ok(`${name}: a link to it`, address === `${BASE}/join/${stand.codes.viewer}` && target === "_blank", address);
			}
			await page.context().close();
		}
		const own = await new_page(browser);
		await with_library(own, stand);
		await own.goto(`${BASE}/join/${stand.codes.viewer}`);
		await own.waitForSelector(".join-form");
		ok("a page of its own runs without a list", true);
		await own.context().close();
		forget_others();
	});

export const events_of_frames = (browser) =>
	group("what the page around is told", async () => {
		const stand = await make_call("Told");
		program("account", "set", stand.name, `embed=${OTHER},${AROUND}`);
		const { page, frame } = await open_framed(browser, stand, stand.codes.guest);
		await frame.waitForFunction(() => document.querySelector("video")?.videoWidth > 0);
		ok("the camera works in a frame", true);
		const expect = async (count, type) => {
			const all = await told(page, count);
			const last = all.at(-1);
			ok(
				`${count}: ${type}`,
				all.length === count && last.type === type && last.room_id === stand.room.id && last.origin === BASE,
				JSON.stringify(all),
			);
		};
		await press_join(frame, "Zoë");
		await connected(frame);
		await expect(1, "joined");
		await frame.evaluate(() => location.reload());
		await expect(2, "left");
		// Browsers that keep nothing for a page in a frame of another begin again.
		const begins = await frame.waitForSelector(".join-form, .call");
		if (await begins.evaluate((one) => one.matches(".join-form"))) await press_join(frame, "Zoë");
		await connected(frame);
		await expect(3, "joined");
		await frame.click("[data-control='leave']");
		await frame.waitForSelector(title("You have left the call"));
		await expect(4, "left");
		await frame.click("button:text-is('Join again')");
		await connected(frame);
		await expect(5, "joined");
		await frame.evaluate(() => globalThis.fake.room.end(5));
		await frame.waitForSelector(title("The call has ended"));
		await expect(6, "ended");
		await page.context().close();
		forget_others();
	});

/** The pages of these tests have another host, and the browser complains of messages that are not for them. */
export function forget_others() {
	hosts.delete(new URL(AROUND).host);
	for (let i = complaints.length; i-- > 0; ) if (complaints[i].includes("The target origin provided")) complaints.splice(i, 1);
}
