// Small things of the call that people run into: what is out of reach, in the way, forgotten, or told twice.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { close, connected, control, make_call, note, open_call, open_join, press_join, share } from "./call.js";
import { BASE, SIZES, accessible, group, new_page, ok, sign_in } from "./stand.js";

const come = (page, n, name = "Person") =>
	page.evaluate(
		([count, called]) => {
			for (let i = 1; i <= count; i++) fake.room.come(`PA_${i}`, `${called} ${i}`, ["microphone"]);
		},
		[n, name],
	);

/** The button for those who have no tile is beside the tiles, and in reach. */
export const rest_in_reach = (browser) =>
	group("the rest in reach", async () => {
		const stand = await make_call("Rest");
		const page = await open_call(browser, stand, "host");
		await come(page, 20);
		await share(page, "PA_1");
		await page.keyboard.press("s");
		await page.waitForSelector(".sharing:visible");
		await page.waitForSelector(".rest:visible");
		const covered = await page.evaluate(() => {
			const of = (one) => one.getBoundingClientRect();
			const rest = of(document.querySelector(".rest"));
			const is_over = (a) => a.left < rest.right - 1 && rest.left < a.right - 1 && a.top < rest.bottom - 1 && rest.top < a.bottom - 1;
			return [...document.querySelectorAll(".tile")].filter((one) => is_over(of(one))).map((one) => one.textContent).join();
		});
		ok("it covers nobody while somebody shares", covered === "", covered);
		await close(page);
		const phone = await open_call(browser, stand, "host", SIZES.phone);
		await come(phone, 58);
		await phone.waitForSelector(".scrolls .tile >> nth=47");
		const reached = await phone.evaluate(() => {
			const area = document.querySelector(".stage-area");
			area.scrollTop = area.scrollHeight;
			const { left, top, width, height } = document.querySelector(".rest").getBoundingClientRect();
			return Boolean(document.elementFromPoint(left + width / 2, top + height / 2)?.closest(".rest"));
		});
		ok("in a grid that scrolls it is at its end", reached);
		await close(phone);
		stand.livekit.stop();
	});

/** A shared screen on a phone, and a bar that is enlarged. */
export const small_windows = (browser) =>
	group("small windows of a call", async () => {
		const stand = await make_call("Small");
		const page = await open_call(browser, stand, "guest", SIZES.phone);
		await come(page, 3);
		await share(page, "PA_1");
		await page.waitForSelector(".caption-name:has-text('Person 1 is sharing a screen')");
		ok("who shares is not said over the screen", (await page.locator(".tile.screen .tag").count()) === 0);
		await page.evaluate(() => {
			Element.prototype.requestFullscreen = async function () {
				window.filled = this.className;
			};
		});
		await page.click(".tile.screen .options");
		await page.click(".menu-item:has-text('Full screen')");
		ok("it can be shown alone", (await page.evaluate(() => window.filled)).includes("screen"));
		await close(page);
		for (const [width, height] of [
			[320, 215],
			[320, 256],
			[426, 240],
		]) {
			const zoomed = await open_call(browser, stand, "host", { viewport: { width, height } });
			const out = await zoomed.locator(".call-bar button:visible").evaluateAll((all) =>
				all
					.map((one) => [one.dataset.control, one.getBoundingClientRect()])
					.filter(([, at]) => at.top < 0 || at.left < 0 || at.bottom > innerHeight || at.right > innerWidth)
					.map(([name]) => name)
					.join(),
			);
			ok(`all controls are in ${width} x ${height}`, out === "", out);
			await accessible(zoomed, `a call in ${width} x ${height}`);
			await close(zoomed);
		}
		stand.livekit.stop();
	});

/** The list by number, its search, the loudspeaker, a device that is unplugged. */
export const lists_and_devices = (browser) =>
	group("lists and devices of a call", async () => {
		const stand = await make_call("Lists");
		const page = await open_join(browser, stand, stand.codes.guest, {}, () => localStorage.setItem("speaker", "loud"));
		await page.waitForFunction(() => document.querySelector("video")?.videoWidth > 0);
		ok("no pixels and frames for guests", !/\d+×\d+|fps/.test(await page.textContent("main")));
		await press_join(page, "Nora");
		await connected(page);
		const speaker = await page.evaluate(() => fake.room.options.audioOutput?.deviceId);
		ok("the loudspeaker that was chosen", speaker === "loud", speaker);
		await come(page, 11, "Eltern");
		await page.click(control("people"));
		await page.waitForSelector(".person >> nth=11");
		const names = async () => (await page.locator(".person-name").allTextContents()).join();
		ok("the list counts", (await names()).startsWith("Nora (you),Eltern 1,Eltern 2,Eltern 3"), await names());
		await accessible(page, "the search in the list");
		await page.fill(".people-search", "eltern 1");
		ok("it can be searched", (await names()) === "Eltern 1,Eltern 10,Eltern 11", await names());
		await page.keyboard.press("Escape");
		await page.click(control("people"));
		ok("and is whole when it is opened again", (await page.locator(".person").count()) === 12);
		await page.evaluate(() => {
			const me = fake.room.localParticipant;
			me.getTrackPublication("microphone").track.emit("Ended");
			me.mute("microphone", true);
		});
		await page.waitForSelector(note("Your microphone was disconnected."));
		const told = await page.locator(".note").allTextContents();
		ok("one note for one cause", told.length === 1, told.join());
		await page.evaluate(() => {
			fake.room.localParticipant.mute("microphone", false);
			fake.room.localParticipant.mute("microphone", true);
		});
		await page.waitForSelector(note("A host muted your microphone."));
		ok("a host who mutes later is told", true);
		await close(page);
		stand.livekit.stop();
	});

/** Away by a link, and back by the button of the browser, which has kept the page. */
export const back_to_a_call = (browser) =>
	group("back to a call", async () => {
		const stand = await make_call("Back");
		const page = await open_call(browser, stand, "guest");
		await page.evaluate(() => {
			performance.clearMarks("connected");
			dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true }));
		});
		ok("nothing is said of a lost connection", (await page.locator("h1:text-is('The connection was lost')").count()) === 0);
		await page.evaluate(() => dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true })));
		await connected(page);
		ok("back in the call", true);
		await close(page);
		stand.livekit.stop();
	});

/** What the console makes first sends as well as the call can show, and grants nothing that does nothing. */
export const first_template = (browser) =>
	group("the first template", async () => {
		const stand = await make_call("First");
		for (const { id } of (await stand.api("GET", "/v2/rooms")).data) await stand.api("DELETE", `/v2/rooms/${id}`);
		for (const { id } of (await stand.api("GET", "/v2/templates")).data) await stand.api("DELETE", `/v2/templates/${id}`);
		await stand.api("PATCH", `/v2/backends/${stand.backend.id}`, { default: false });
		const page = await new_page(browser);
		await sign_in(page, "/console/overview", stand.key, stand.secret);
		await page.click("button:has-text('Create the template')");
		await page.fill("li.step input", "first");
		await page.click("button:has-text('Create room')");
		await page.waitForSelector("li.step.done >> nth=1");
		const [first] = (await stand.api("GET", "/v2/templates")).data;
		ok("it uses the only media server", first.settings.backend === "studio", JSON.stringify(first.settings));
		await page.goto(`${BASE}/console/templates/new`);
		for (const [words, asking] of [
			["Meeting", ""],
			["Webinar", "viewer"],
			["Class", "student"],
		]) {
			await page.goto(`${BASE}/console/templates/new`);
			await page.fill("input[type=text]", words.toLowerCase());
			await page.click(`.card-choice:has-text('${words}')`);
			await page.click("button:has-text('Create template')");
			await page.waitForURL(/templates\/[0-9a-f]{24}/);
			const { roles } = await stand.api("GET", `/v2/templates/${/[0-9a-f]{24}/.exec(page.url())[0]}`);
			const asks = Object.keys(roles).filter((name) => roles[name].admission === "ask");
			ok(`${words}: who asks at the door`, asks.join() === asking, asks.join());
			for (const [name, { publishParams, permissions }] of Object.entries(roles)) {
				const { allowed, video, simulcast } = publishParams;
				const sent = [video?.width, video?.height, video?.frameRate, video?.bitRate, simulcast?.video?.layers?.length].join();
				if (allowed.length > 0) ok(`${words}, ${name}: what is sent`, sent === "1280,720,30,1200,3" && allowed.length === 3, sent);
				const idle = Object.keys(permissions).filter((one) => /Recording|Streaming|unmute/.test(one) && permissions[one]);
				ok(`${words}, ${name}: nothing that does nothing`, idle.length === 0, idle.join());
			}
		}
		await page.context().close();
		stand.livekit.stop();
	});

const ALL = [first_template, rest_in_reach, small_windows, lists_and_devices, back_to_a_call];
export async function comfort(browser) {
	for (const one of ALL) await one(browser);
}
