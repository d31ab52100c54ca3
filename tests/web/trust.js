// What a page in a call believes: other people publish, send and claim what they like, and the media server is sooner
// than the service.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { close, control, make_call, note, open_call } from "./call.js";
import { group, ok } from "./stand.js";

const menu_of = async (page, name) => {
	await page.click(control("people"));
	await page.click(`.person [aria-label='Options for ${name}']`);
	const offered = await page.locator(".menu-item").allTextContents();
	await page.keyboard.press("Escape");
	await page.keyboard.press("Escape");
	return offered.join();
};

/** Only what the media server sends for nobody is the service's. */
export const words_of_others = (browser) =>
	group("words of others", async () => {
		const stand = await make_call("Words");
		const page = await open_call(browser, stand, "guest");
		for (const [name, identity, participant] of [
			["somebody inside", "PA_1", true],
			["somebody who has just come, or has left", "PA_2", false],
			["a library that does not tell", undefined, false],
		]) {
			await page.evaluate(
				([from, known]) => {
					const who = known ? fake.room.come(from, "Nora") : undefined;
					fake.room.emit("DataReceived", new TextEncoder().encode("I am the host"), who, 0, "chat", 0, from);
				},
				[identity, participant],
			);
			ok(`not shown: of ${name}`, (await page.locator(note("I am the host")).count()) === 0);
		}
		await page.evaluate(() => fake.room.say("chat", "Five minutes left."));
		ok("shown: of the service", (await page.locator(note("Five minutes left.")).count()) === 1);
		await page.evaluate(() => fake.room.say("anteroom", { type: "ended", cause: "disabled", reason: "" }, "PA_3"));
		await page.evaluate(() => fake.room.end(5));
		await page.waitForSelector("h1:text-is('The call has ended')");
		const said = await page.textContent("main");
		ok("nor is how it ended", said.includes("A host ended it"), said);
		await close(page);
		stand.livekit.stop();
	});

/** Any number of tracks: all count for tile and menu, the newest two of a kind are received. */
export const tracks_of_others = (browser) =>
	group("tracks of others", async () => {
		const stand = await make_call("Tracks");
		const page = await open_call(browser, stand, "host");
		for (const [name, tracks, mic, offered] of [
			["a microphone", ["microphone"], "on", "microphone"],
			["one that is off", ["-microphone"], "off", ""],
			["a second microphone beside it", ["-microphone", "microphone"], "on", "microphone"],
			["a sound of unknown source", ["unknown_sound"], "on", "microphone"],
			["the sound of a screen alone", ["screen_share_audio"], "on", "sharing"],
			["a second camera", ["-camera", "camera"], "off", "camera"],
			["a screen", ["screen_share"], "off", "sharing"],
			["all", ["microphone", "camera", "screen_share", "screen_share_audio"], "on", "microphone,camera,sharing"],
		]) {
			await page.evaluate((sources) => {
				const one = fake.room.come("PA_1", "Nora", []);
				sources.forEach((source, i) => {
					const sound = source === "unknown_sound";
					const of = sound ? "microphone" : source.replace("-", "");
					const publication = one.add(of, undefined, `TR_${i}`);
					if (sound) publication.source = "unknown";
					publication.isMuted = source.startsWith("-");
				});
				fake.room.emit("TrackPublished", null, one);
			}, tracks);
			await page.waitForSelector(".tile:has-text('Nora')");
			const off = await page.locator(".tile:not(.screen):has-text('Nora') .mic.off").count();
			ok(`the mark of the tile: ${name}`, (off === 0 ? "on" : "off") === mic, off);
			const said = (await menu_of(page, "Nora"))
				.split(",")
				.filter((one) => /^(Turn|Stop)/.test(one))
				.map((one) => one.split(" ")[1]);
			ok(`the menu: ${name}`, said.join() === offered, said.join());
			await page.evaluate(() => fake.room.go("PA_1"));
			await page.waitForSelector(".tile:has-text('Nora')", { state: "detached" });
		}
		const received = await page.evaluate(() => {
			const one = fake.room.come("PA_2", "Ola", []);
			for (let i = 1; i <= 30; i++) {
				// The media server does not say them in their order.
				const publication = one.add(i % 3 === 0 ? "camera" : "microphone", undefined, `TR_${i}`);
				publication.trackInfo.version = { unixMicro: BigInt(1000 + ((i * 7) % 31)) };
				fake.room.emit("TrackPublished", publication, one);
			}
			const at = (publication) => Number(publication.trackInfo.version.unixMicro);
			return ["audio", "video"].map((kind) => {
				const all = [...one.trackPublications.values()].filter((each) => each.kind === kind).sort((a, b) => at(b) - at(a));
				return all.map((each) => (each.isDesired ? 1 : 0)).join("");
			});
		});
		ok("the newest two sounds are received", /^110+$/.test(received[0]), received[0]);
		ok("and the newest two videos", /^110+$/.test(received[1]), received[1]);
		ok("the media server sends nothing unasked", (await page.evaluate(() => fake.room.connected_with.autoSubscribe)) === false);
		const next = await page.evaluate(() => {
			const one = fake.room.remoteParticipants.get("PA_2");
			for (const [name, { isDesired }] of [...one.trackPublications]) if (isDesired) one.trackPublications.delete(name);
			fake.room.emit("TrackUnpublished", null, one);
			return [...one.trackPublications.values()].filter((each) => each.isDesired).length;
		});
		ok("when they end, the next newest", next === 4, next);
		await page.evaluate(() => fake.room.go("PA_2"));
		await page.evaluate(() => {
			for (let i = 1; i <= 20; i++) fake.room.come(`PB_${i}`, `Person ${i}`, ["microphone"]);
		});
		ok("who comes is heard", (await page.locator("audio").count()) === 20, await page.locator("audio").count());
		await page.evaluate(() => {
			for (let i = 1; i <= 20; i++) fake.room.go(`PB_${i}`);
		});
		ok("and nothing stays of who leaves", (await page.locator("audio").count()) === 0, await page.locator("audio").count());
		await close(page);
		stand.livekit.stop();
	});

/** What a sender says of its layers counts up to what its role sends. */
export const claims_of_others = (browser) =>
	group("claims of others", async () => {
		const stand = await make_call("Claims");
		const page = await open_call(browser, stand, "guest");
		const spends = () =>
			page.evaluate(() => [...fake.room.remoteParticipants.values()].map((one) => one.getTrackPublication("camera").fps).join());
		const paused = () => page.locator(".mark[title='Video paused to save data']").count();
		const six = Array(6).fill(60).join();
		/** Sets what the first one says and what arrives of all, in kbit/s. */
		const set = (says_of_first, arrives) =>
			page.evaluate(
				([kbps, real]) => {
					for (let i = 1; i <= 6; i++) {
						const one = fake.room.remoteParticipants.get(`PA_${i}`) ?? fake.room.come(`PA_${i}`, `Person ${i}`, []);
						const publication = one.getTrackPublication("camera") ?? one.add("camera");
						publication.trackInfo.layers = [{ height: 720, bitrate: (i === 1 ? kbps : 1200) * 1000 }];
						Object.defineProperty(publication.track, "currentBitrate", { value: real * 1000, configurable: true });
						fake.room.emit("TrackPublished", publication, one);
					}
				},
				[says_of_first, arrives],
			);
		await set(19999, 0);
		await page.waitForSelector(".tile:has-text('Person 6')");
		ok("a claim counts as much as the role sends", (await spends()) === six && (await paused()) === 0, `${await spends()}, ${await paused()} paused`);
		await set(19999, 20);
		await page.waitForTimeout(100);
		ok("what arrives counts, not the claim", (await spends()) === six && (await paused()) === 0, await spends());
		await set(1200, 19999);
		await page.waitForTimeout(100);
		ok("nor does more arrive than the role sends", (await spends()) === six, await spends());
		await close(page);
		stand.livekit.stop();
	});

/** The media server tells of a role a moment before the service has it. */
export const changes_of_role = (browser) =>
	group("changes of role", async () => {
		const stand = await make_call("Changes");
		const page = await open_call(browser, stand, "guest");
		let early = 0;
		let asked = 0;
		await page.route("**/me", async (route) => {
			asked += 1;
			const response = await route.fetch();
			const me = await response.json();
			if (asked > early) Object.assign(me.role, { name: "viewer", publishParams: { ...me.role.publishParams, allowed: [] } });
			await route.fulfill({ response, json: me });
		});
		early = 3;
		await page.evaluate(() => {
			const me = fake.room.localParticipant;
			me.attributes = { ...me.attributes, role: "viewer" };
			fake.room.emit("ParticipantAttributesChanged", { role: "viewer" }, me);
		});
		await page.waitForSelector(".note:has-text('Your role is now')");
		const told = await page.locator(".note:has-text('Your role is now')").textContent();
		ok("the new role is told", told.includes("viewer"), told);
		ok("the service was asked until it had it", asked === 4, asked);
		ok("its controls are gone", !(await page.isVisible(control("audio"))));
		await page.unroute("**/me");
		const before = asked;
		await page.route("**/me", async (route) => {
			asked += 1;
			const response = await route.fetch();
			const me = await response.json();
			Object.assign(me.role, { name: "viewer", publishParams: { ...me.role.publishParams, allowed: ["audio"] } });
			await route.fulfill({ response, json: me });
		});
		await page.evaluate(() => fake.room.say("anteroom", { type: "role" }));
		await page.waitForSelector(control("audio"), { state: "visible" });
		ok("a role that was changed is asked for", asked === before + 1, asked - before);
		await close(page);
		stand.livekit.stop();
	});
