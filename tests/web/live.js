// Rooms in session: who is inside, sessions with attendance, media servers, and the events of all these. An
// account of its own has a media server, which is livekit.js.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { readFileSync } from "node:fs";
import { start_livekit } from "./livekit.js";
import {
	BASE,
	SIZES,
	accessible,
	api,
	button,
	group,
	new_page,
	ok,
	program,
	sign_in,
} from "./stand.js";

const shown = "dialog[open]";
const inside = "section[aria-labelledby=inside]";
/** The pages ask every two seconds, and a busy machine may miss one. */
const LATE = 4000;

/** Creates an account with a media server, a template and a room. */
export async function make_stand(name) {
	const printed = program("account", "add", name);
	const of = (what) => new RegExp(`^${what}: *(.*)$`, "m").exec(printed)[1];
	const headers = { Authorization: `Bearer ${program("token", name).trim()}` };
	const livekit = await start_livekit();
	const own = (method, path, body) => api(method, path, body, headers);
	const backend = await own("POST", "/v2/backends", {
		name: "studio",
		type: "livekit",
		url: livekit.url,
		default: true,
		config: { api_key: livekit.key, api_secret: livekit.secret },
	});
	livekit.told.events_url = backend.events_url;
	const template = await own("POST", "/v2/templates", {
		name: "Lecture",
		default: true,
		roles: { host: {}, guest: {}, chair: { maxPeerCount: 1 } },
	});
	const make_room = (name) => own("POST", "/v2/rooms", { name, template_id: template.id });
	return {
		name,
		livekit,
		backend,
		api: own,
		make_room,
		room: await make_room("physics"),
		key: of("access_key"),
		secret: of("secret"),
	};
}

/** Asks for a list until it has something: events are recorded a moment after they were taken. */
async function some(ask) {
	for (;;) {
		const { data } = await ask();
		if (data?.length > 0) return data;
	}
}

/** Opens a page of the console, signed in to the account of the stand. */
async function open(browser, stand, path, options) {
	const page = await new_page(browser, options);
	await sign_in(page, path, stand.key, stand.secret);
	return page;
}

/** Checks that a page shows something in time after an action. */
async function in_time(name, act, wait) {
	const start = Date.now();
	await act();
	await wait();
	const took = Date.now() - start;
	ok(`${name}, in time`, took <= LATE, `${took} ms`);
}

/** Returns the cells of the rows of a table, by line. */
const cells = (page, where) =>
	page.locator(`${where} tbody tr`).evaluateAll((rows) =>
		rows.map((row) =>
			[...row.cells].map((cell) => cell.querySelector(".row-name")?.textContent ?? cell.textContent),
		),
	);

/** Waits until the table has these names, in this order. */
const names_are = (page, where, names) =>
	page.waitForFunction(
		([where, names]) =>
			[...document.querySelectorAll(`${where} tbody td:first-child .row-name`)]
				.map((one) => one.textContent)
				.join() === names,
		[where, names.join()],
		{ polling: 20, timeout: 8000 },
	);

/** People come into a room that is open in the console, and go. */
export const people_inside = (browser) =>
	group("people inside", async () => {
		const stand = await make_stand("Inside");
		const { livekit, room } = stand;
		const page = await open(browser, stand, `/console/rooms/${room.id}`);
		await page.waitForSelector(`${inside} >> text=Nobody is inside.`);
		ok("an empty room is no error", (await page.locator(".toast").count()) === 0);
		await accessible(page, "nobody inside");
		// What screen readers read, and rows that are replaced.
		await page.evaluate(() => {
			window.heard = [];
			new MutationObserver(() => {
				const text = document.querySelector("#announcer").textContent;
				if (text) window.heard.push(text);
			}).observe(document.querySelector("#announcer"), { childList: true });
		});
		await page.focus("[aria-label='Copy ID']");
		await in_time(
			"somebody who joins is shown",
			() => livekit.join(room.id, "ann", { role: "host", shown: "Ann" }),
			() => names_are(page, inside, ["Ann"]),
		);
		await page.evaluate(() => {
			document.querySelector("section[aria-labelledby=inside] tbody tr").first = true;
		});
		await livekit.join(room.id, "bob", { shown: "<b>Bob</b>" });
		await livekit.join(room.id, "42", { shown: "" });
		await names_are(page, inside, ["Ann", "<b>Bob</b>", "42"]);
		const [ann] = await cells(page, inside);
		ok("with name, role and time", /^host$/.test(ann[1]) && /^just now\d+:\d+/.test(ann[2]), ann);
		const chips = await page.locator(`${inside} .chip`).allTextContents();
		ok("people by role", chips.sort().join() === "guest 2,host 1", chips);
		ok("in words", await page.isVisible(`${inside} >> text=3 people are inside.`));
		await accessible(page, "people inside");
		await in_time(
			"somebody who leaves goes",
			() => livekit.leave(room.id, "bob"),
			() => names_are(page, inside, ["Ann", "42"]),
		);
		const kept = await page.evaluate(() => [
			document.querySelector("section[aria-labelledby=inside] tbody tr").first,
			document.activeElement.getAttribute("aria-label"),
		]);
		ok("rows and focus stay", kept.join() === "true,Copy ID", kept);
		const heard = await page.evaluate(() => window.heard);
		ok("screen readers hear it once", heard.length === 1, heard);
		ok("in words", heard[0] === "Ann joined. 1 person inside.", heard[0]);

		let asked = 0;
		page.on("request", () => {
			asked += 1;
		});
		await page.evaluate(() => {
			Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
			document.dispatchEvent(new Event("visibilitychange"));
		});
		// Requests that are on their way end.
		await page.waitForLoadState("networkidle");
		asked = 0;
		await livekit.join(room.id, "eve", { shown: "Eve" });
		await new Promise((turn) => setTimeout(turn, LATE));
		ok("a hidden page asks for nothing", asked === 0, asked);
		await in_time(
			"and is up to date when it is seen",
			() =>
				page.evaluate(() => {
					delete document.visibilityState;
					document.dispatchEvent(new Event("visibilitychange"));
				}),
			() => names_are(page, inside, ["Ann", "42", "Eve"]),
		);
		await page.click(".sections a:has-text('Templates')");
		await page.waitForSelector("h1:text-is('Templates')");
		await page.waitForLoadState("networkidle");
		asked = 0;
		await new Promise((turn) => setTimeout(turn, LATE));
		ok("a page that was left asks for nothing", asked === 0, asked);

		await page.goBack();
		await names_are(page, inside, ["Ann", "42", "Eve"]);
		const seen_at = "2026-01-01T00:00:00.000Z";
		const active = `**/v2/active-rooms/${room.id}`;
		await page.route(active, async (route) => {
			const response = await route.fetch();
			await route.fulfill({ response, json: { ...(await response.json()), seen_at } });
		});
		await page.waitForSelector(`${inside} >> text=/The media server was last heard .* out of date/`);
		ok("news that is old is marked", true);
		await page.unrouteAll();
		await page.route(active, (route) => route.abort());
		await page.waitForSelector(`${inside} >> text=/could not be reached.* Retrying/`);
		ok("without a server the rows stay", (await cells(page, inside)).length === 3);
		await page.unrouteAll();
		await page.waitForSelector(`${inside} >> text=Retrying`, { state: "hidden" });
		await in_time(
			"the end of the session is shown",
			() => livekit.end(room.id),
			() => page.waitForSelector(`${inside} >> text=Nobody is inside.`),
		);
		await page.context().close();
		livekit.stop();
	});

/** What an administrator does with the people in a room, by the keyboard as well. */
export const acting = (browser) =>
	group("acting on people inside", async () => {
		const stand = await make_stand("Acting");
		const { livekit, room } = stand;
		const tracks = [["AUDIO", "MICROPHONE"]];
		await livekit.join(room.id, "ann", { role: "host", shown: "Ann", tracks });
		// The identity is not the user ID, as of people who chose their user ID themselves.
		await livekit.join(room.id, "guest_7", { shown: "Bob", user_id: "bob" });
		await livekit.join(room.id, "cid", { role: "chair", shown: "Cid" });
		const page = await open(browser, stand, `/console/rooms/${room.id}`);
		await names_are(page, inside, ["Ann", "Bob", "Cid"]);
		const focus = () =>
			page.evaluate(
				() => document.activeElement.getAttribute("aria-label") || document.activeElement.textContent,
			);
		/** Opens a dialog of somebody, with the keyboard. */
		const act = async (name, words) => {
			await page.focus(`[aria-label='Actions for ${name}']`);
			await page.keyboard.press("Enter");
			const item = page.locator(`:popover-open [role=menuitem]:has(span:text-is("${words}"))`);
			await item.waitFor();
			await item.press("Enter");
			await page.waitForSelector(shown);
		};
		const closed = () => page.waitForSelector(shown, { state: "detached" });
		const toasted = (words) => page.waitForSelector(`.toast:has-text("${words}")`);

		await act("Ann", "Mute or unmute");
		const row = (words, state) =>
			`.mute-row:has(strong:text-is("${words}")):has(.quiet:text-is("${state}"))`;
		await page.waitForSelector(row("Microphone", "On"));
		ok("what nobody publishes has no button", !(await page.isVisible(`${row("Camera", "Off")} button`)));
		await accessible(page, "muting");
		ok("the focus is on the first button", (await focus()) === "Mute microphone", await focus());
		await page.keyboard.press("Enter");
		await page.waitForSelector(row("Microphone", "Muted"));
		ok("and stays there", (await focus()) === "Unmute microphone", await focus());
		await page.keyboard.press("Enter");
		await page.waitForSelector(row("Microphone", "On"));
		await page.click(`${shown} [aria-label="Mute microphone"]`);
		await page.waitForSelector(row("Microphone", "Muted"));
		livekit.told.unmutes = false;
		await page.keyboard.press("Enter");
		await toasted("The media server cannot do this: unmute: room.enable_remote_unmute is off.");
		ok("what LiveKit refuses is said", await page.isVisible(row("Microphone", "Muted")));
		await page.keyboard.press("Escape");
		await closed();
		ok("the focus returns to the menu", (await focus()) === "Actions for Ann", await focus());

		for (const [hold, words] of [
			["", "Everyone is muted already."],
			["true", "Everyone is muted already."],
			["false", "People can unmute themselves again."],
		]) {
			await page.click(`${inside} ${button("Mute all")}`);
			await page.selectOption(`${shown} [data-pointer='/hold'] select`, hold);
			if (!hold) await accessible(page, "muting all");
			await page.click(`${shown} ${button("Mute")}`);
			await toasted(words);
			await closed();
		}
		ok("all are muted, and may be kept so", true);

		await page.click(`${inside} ${button("Message")}`);
		await page.fill(`${shown} [data-pointer='/message'] input`, "We begin.");
		await page.selectOption(`${shown} [data-pointer='/role'] select`, "host");
		await accessible(page, "a message");
		await page.click(`${shown} ${button("Send message")}`);
		await toasted("Message sent.");
		await act("Bob", "Send message");
		await page.keyboard.type("Hello");
		await page.keyboard.press("Enter");
		await closed();
		const sent = livekit.messages.splice(0).join("; ");
		ok("to a role, and to one", /^chat to ann: We begin\.;.*chat to guest_7: Hello$/.test(sent), sent);

		await act("Bob", "Edit name and role");
		await page.selectOption(`${shown} [data-pointer='/role'] select`, "chair");
		await page.click(`${shown} ${button("Save")}`);
		await page.waitForSelector(`${shown} [data-pointer='/role'] .fault:has-text('is full')`);
		ok("a role that is full is said at the field", true);
		await accessible(page, "a role that is full");
		await page.selectOption(`${shown} [data-pointer='/role'] select`, "host");
		await page.fill(`${shown} [data-pointer='/name'] input`, "Bobby");
		await page.click(`${shown} ${button("Save")}`);
		await page.waitForSelector(`${inside} tr:has-text('Bobby'):has-text('host')`);
		ok("name and role are shown", true);

		await act("Bobby", "Remove");
		await accessible(page, "removing somebody");
		await page.keyboard.type("Noise");
		await page.selectOption(`${shown} [data-pointer='/ban'] select`, "true");
		await page.click(`${shown} ${button("Remove")}`);
		await toasted("Bobby removed, but not banned");
		await names_are(page, inside, ["Ann", "Cid"]);
		ok("the person is told why", livekit.messages.join().includes("Noise"), livekit.messages);
		ok("the focus goes to another row", /^Actions for /.test(await focus()), await focus());
		await act("Cid", "Remove");
		await page.selectOption(`${shown} [data-pointer='/ban'] select`, "3600");
		await page.click(`${shown} ${button("Remove")}`);
		await toasted("Cid removed and banned.");
		const [ban] = (await stand.api("GET", "/v2/bans")).data;
		const left = (Date.parse(ban.expires_at) - Date.now()) / 1000;
		ok("for an hour, from this room", ban.user_id === "cid" && ban.room_id === room.id, ban);
		ok("as long as was chosen", left > 3500 && left <= 3600, left);

		await act("Ann", "Remove");
		await livekit.leave(room.id, "ann");
		await page.waitForSelector(`${inside} >> text=Nobody is inside.`);
		await page.click(`${shown} ${button("Remove")}`);
		// A message of before may still be shown.
		await page.locator(".toast.bad", { hasText: /no longer inside|Nobody is inside any more/ }).waitFor();
		await closed();

		await livekit.join(room.id, "dan", { shown: "Dan" });
		await names_are(page, inside, ["Dan"]);
		livekit.told.broken = 500;
		await page.click(`${inside} ${button("End for all")}`);
		await page.click(`${shown} ${button("End for all")}`);
		await page.waitForSelector(`${shown} :text("The media server does not answer")`);
		ok("a server that is down is said, and the dialog stays", true);
		await accessible(page, "an end that fails");
		livekit.told.broken = 0;
		await page.check(`${shown} [data-pointer='/lock'] input`);
		await page.fill(`${shown} [data-pointer='/reason'] input`, "The talk is over.");
		await page.click(`${shown} ${button("End for all")}`);
		await toasted("Ended for all. The room is disabled.");
		await page.waitForSelector(".page-title .badge:has-text('Disabled')");
		await page.waitForSelector(`${inside} >> text=Nobody is inside.`);
		ok("without people there is nothing to end", !(await page.isVisible(button("End for all"))));
		ok("the focus stays on the page", (await focus()) === "Inside now", await focus());

		const line = (type, words) => `tr:has(.event-type:has-text('${type}')):has-text('${words}')`;
		await page.goto(`${BASE}/console/events`);
		for (const [type, words] of [
			["room.end.success", "Ended for all, and locked (“The talk is over.”)"],
			["peer.leave.success", "removed (“Noise”)"],
			["role.change.success", "Role in physics changed from guest to host"],
			["ban.created", "Banned from one room"],
		]) {
			await page.waitForSelector(line(type, words));
			ok(`in words: ${type}`, true);
		}
		const to = await page.getAttribute(`${line("role.change.success", "")} a.row-name`, "href");
		ok("which lead to the session", /^\/console\/sessions\//.test(to), to);
		await page.context().close();
		livekit.stop();
	});

/** The page of bans: found by person and room, created and deleted. */
export const bans = (browser) =>
	group("bans", async () => {
		const stand = await make_stand("Bans");
		const { room, livekit } = stand;
		const other = await stand.make_room("chemistry");
		const [code] = (await stand.api("POST", `/v2/room-codes/room/${room.id}`)).data;
		const page = await open(browser, stand, "/console/bans");
		await page.waitForSelector("text=No bans");
		await accessible(page, "no bans");
		const persons = (names) => names_are(page, ".page", names);
		const field = (name) => `${shown} [data-pointer='/${name}'] input`;
		const create = async (fields) => {
			await page.click(button("New ban"));
			await page.waitForSelector(shown);
			for (const [name, value] of fields) await page.fill(field(name), value);
			await page.click(`${shown} ${button("Create ban")}`);
		};
		await create([
			["user_id", "mallory"],
			["room_id", "nowhere"],
			["reason", "Noise"],
		]);
		await page.waitForSelector(`${shown} .fault:has-text('no room has this name')`);
		await accessible(page, "a new ban");
		await page.fill(field("room_id"), "physics");
		await page.click(`${shown} ${button("Create ban")}`);
		await persons(["mallory"]);
		ok("a ban is created", await page.isVisible("tr:has-text('physics'):has-text('Never'):has-text('Noise')"));
		await create([["user_id", "eve"]]);
		await persons(["eve", "mallory"]);
		ok("from all rooms", await page.isVisible("tr:has-text('eve'):has-text('All rooms')"));
		await page.click(button("New ban"));
		await page.click(`${shown} summary`);
		await page.fill(field("code"), code.code);
		await page.click(`${shown} ${button("Create ban")}`);
		await persons(["A room code", "eve", "mallory"]);
		await create([]);
		await page.waitForSelector(`${shown} [data-pointer='/user_id'] .fault:has-text('is required')`);
		ok("somebody must be banned", true);
		await page.keyboard.press("Escape");
		await accessible(page, "bans");

		await page.fill("[aria-label='User ID']", "mallory");
		await persons(["mallory"]);
		ok("found by person", page.url().endsWith("?person=mallory"), page.url());
		await page.fill("[aria-label='User ID']", "");
		await persons(["A room code", "eve", "mallory"]);
		await page.fill("[aria-label='Room name or ID']", "physics");
		await persons(["mallory"]);
		await page.fill("[aria-label='Room name or ID']", other.id);
		await page.waitForSelector("text=No matching bans");
		ok("found by room, by its name and its ID", true);
		await page.goto(`${BASE}/console/rooms/${room.id}`);
		await page.click(`${inside} a:text-is('Bans')`);
		await persons(["mallory"]);
		await page.keyboard.press("g");
		await page.keyboard.press("b");
		await page.waitForURL(`${BASE}/console/bans`);
		await persons(["A room code", "eve", "mallory"]);
		ok("g b opens the page", true);

		await page.click("[aria-label='Actions for the ban of mallory']");
		await page.click(":popover-open [role=menuitem]:has-text('Delete ban')");
		await page.click(`${shown} ${button("Cancel")}`);
		ok("deleting asks first", (await stand.api("GET", "/v2/bans")).data.length === 3);
		await page.click("[aria-label='Actions for the ban of mallory']");
		await page.click(":popover-open [role=menuitem]:has-text('Delete ban')");
		await page.click(`${shown} ${button("Delete ban")}`);
		await page.waitForSelector(".toast:has-text('Ban deleted')");
		await persons(["A room code", "eve"]);
		const kept = (await stand.api("GET", "/v2/bans")).data;
		ok("a ban is deleted", kept.every((one) => one.user_id !== "mallory"), kept);
		for (let i = 0; i < 60; i++)
			await stand.api("POST", "/v2/bans", { user_id: `user-${i}`, expires_in: 3600 });
		await page.reload();
		await page.waitForSelector("text=First 50 bans");
		await page.click(button("Show older"));
		await page.waitForSelector("text=/^62 bans$/");
		ok("page by page", (await page.locator("tbody tr").count()) === 62);
		await page.context().close();
		livekit.stop();
	});

/** A room with more people than rows. */
export const large_room = (browser) =>
	group("a large room", async () => {
		const stand = await make_stand("Large");
		const { livekit, room } = stand;
		const start = Date.now() - 600000;
		for (let i = 0; i < 230; i++)
			livekit.add(room.id, `guest-${String(i).padStart(3, "0")}`, { joined: start + i * 1000 });
		await livekit.join(room.id, "last", { role: "host", shown: "The last" });
		const page = await open(browser, stand, `/console/rooms/${room.id}`);
		await page.waitForSelector(`${inside} >> text=231 people are inside.`);
		const said = "The first 200 people of 231 are shown.";
		await page.waitForSelector(`${inside} >> text=${said}`);
		ok("the first 200 are shown", (await cells(page, inside)).length === 200);
		let lists = 0;
		page.on("request", (request) => {
			if (request.url().endsWith("/peers")) lists += 1;
		});
		await livekit.join(room.id, "one-more");
		await page.waitForSelector(`${inside} >> text=232 people are inside.`);
		ok("the list is not read for a row that is not shown", lists === 0, lists);
		await livekit.leave(room.id, "guest-000");
		await page.waitForSelector(`${inside} tr:has-text('guest-200')`);
		ok("the next one moves up", !(await page.isVisible(`${inside} tr:has-text('guest-000')`)));
		await accessible(page, "a large room");
		await page.context().close();
		livekit.stop();
	});

/** The sessions of a room and of the account, attendance, and the overview. */
export const sessions = (browser) =>
	group("sessions", async () => {
		const stand = await make_stand("Sessions");
		const { livekit, room } = stand;
		const page = await open(browser, stand, `/console/rooms/${room.id}`);
		await page.waitForSelector("text=No sessions yet");
		await livekit.join(room.id, "ann", { role: "host", shown: "Ann" });
		const list = "section[aria-labelledby=sessions]";
		await page.waitForSelector(`${list} tr:has-text('In session'):has-text('1 inside')`);
		await livekit.join(room.id, "=1+1", { shown: "Bob" });
		await page.waitForSelector(`${list} tr:has-text('2 inside'):has-text('2 so far')`);
		ok("the session of a room is live", true);

		await page.goto(`${BASE}/console/overview`);
		const tile = (name) => `.tile:has(dt:text-is('${name}')) a`;
		await page.waitForSelector(tile("People inside"));
		const rooms = await page.textContent(tile("Rooms in session"));
		const people = await page.textContent(tile("People inside"));
		ok("the overview shows both", `${rooms} ${people}` === "1 2", `${rooms} ${people}`);
		await in_time(
			"and follows",
			() => livekit.join(room.id, "eve", { shown: "Eve" }),
			() => page.waitForSelector(`${tile("People inside")}:text-is('3')`),
		);
		ok("usage by day", (await page.locator(".chart .stroke").count()) === 3);
		await accessible(page, "an overview with usage");
		await page.click(tile("Rooms in session"));
		await page.waitForURL(`${BASE}/console/sessions?active=true`);
		await page.waitForSelector("tr:has-text('physics'):has-text('3 inside')");
		ok("it leads to the rooms in session", (await page.locator("tbody tr").count()) === 1);
		const other = await stand.make_room("chemistry");
		await in_time(
			"a session that begins is listed",
			() => livekit.join(other.id, "zoe", { shown: "Zoë" }),
			() => page.waitForSelector("tr:has-text('chemistry')"),
		);
		await in_time(
			"one that ends goes",
			() => livekit.end(other.id),
			() => page.waitForSelector("tr:has-text('chemistry')", { state: "detached" }),
		);
		await page.selectOption("[aria-label='State']", "false");
		await page.waitForSelector("tr:has-text('chemistry')");
		ok("and is among the ended ones", page.url().endsWith("active=false"), page.url());
		await page.selectOption("[aria-label='State']", "");
		await page.waitForSelector("tr:has-text('physics')");
		await accessible(page, "sessions");

		await page.click("tr:has-text('physics') a");
		const table = "section[aria-labelledby=attendance]";
		await names_are(page, table, ["Ann", "Bob", "Eve"]);
		await livekit.leave(room.id, "ann");
		await page.waitForSelector(`${table} tr:has-text('Ann') td:nth-child(4) time`);
		await livekit.join(room.id, "ann", { role: "guest", shown: "Ann B" });
		await page.waitForSelector(`${table} tr:has-text('Ann B'):has-text('Inside')`);
		const [ann] = await cells(page, table);
		ok("one row a person, of the last stay", ann[1] === "guest" && ann[5] === "2", ann);
		await page.click("[aria-label='Session actions']");
		await page.waitForSelector(":popover-open [role=menuitem]");
		const items = await page.locator(":popover-open [role=menuitem]").allTextContents();
		ok("an open session cannot be deleted", !items.join().includes("Delete"), items);
		await page.keyboard.press("Escape");
		await livekit.end(room.id);
		await page.waitForSelector(".page-title .badge", { state: "hidden" });
		ok("the end is shown", await page.isVisible(`${table} >> text=/3 people · lasted/`));
		await accessible(page, "a session");
		const [download] = await Promise.all([
			page.waitForEvent("download"),
			page.click("a:has-text('Download CSV')"),
		]);
		const whole = readFileSync(await download.path(), "utf8");
		ok("the CSV says that it is UTF-8", whole.startsWith("\ufeffuser_id,"), whole.slice(0, 8));
		const csv = whole.trim().split("\r\n");
		const { timeZone: zone } = new Intl.DateTimeFormat().resolvedOptions();
		ok("its times are those of the browser", csv[0].includes(`first_joined_at (${zone})`), csv[0]);
		const rows = await cells(page, table);
		const minutes = rows.map((one) => one[4]).join();
		ok("the CSV has a row for each", csv.length === 4 && csv[2].startsWith("'=1+1,Bob,guest"), csv);
		ok("with the same minutes", csv.slice(1).map((one) => one.split(",")[5]).join() === minutes);
		const name = download.suggestedFilename();
		ok("and the name of the room", /^attendance physics \d{4}-\d\d-\d\d\.csv$/.test(name), name);
		const german = await open(browser, stand, new URL(page.url()).pathname, {
			locale: "de-DE",
			timezoneId: "America/St_Johns",
		});
		const saved = async () => {
			const [file] = await Promise.all([
				german.waitForEvent("download"),
				german.click("a:has-text('Download CSV')"),
			]);
			return readFileSync(await file.path(), "utf8").trim().split("\r\n");
		};
		const [head, first] = await saved();
		const here = head.startsWith("user_id;name;role;first_joined_at (America/St_Johns)");
		ok("a German browser gets semicolons, and its own times", here, head);
		const joined = await german.locator(`${table} tbody time`).first().getAttribute("datetime");
		const there = new Date(joined).toLocaleString("sv-SE", { timeZone: "America/St_Johns" });
		ok("which the page has", first.split(";")[3] === there, [first, there]);
		await german.route(/timezone=/, (route) => route.fulfill({ status: 400, json: { code: 400 } }));
		const [plain] = await saved();
		ok("or UTC, if the server does not know its zone", plain.includes(";first_joined_at (UTC);"), plain);
		await german.context().close();

		program("account", "set", stand.name, "sessions=off");
		await page.click("a:has-text('Download CSV')");
		await page.waitForSelector(".toast.bad:has-text('keeps no names (sessions=off)')");
		await livekit.join(room.id, "eve", { shown: "Eve" });
		await page.goto(`${BASE}/console/sessions?active=true`);
		await page.click("tr:has-text('physics') a");
		await page.waitForSelector(`${table} >> text=keeps no names (sessions=off)`);
		const text = await page.textContent(table);
		ok("without names there are numbers", /1 stay without a name/.test(text), text);
		ok("and no table", (await page.locator(`${table} tbody`).count()) === 0);
		await accessible(page, "an anonymous session");
		program("account", "set", stand.name, "sessions=on");
		await livekit.end(room.id);
		await page.waitForSelector(".page-title .badge", { state: "hidden" });

		await page.click("[aria-label='Session actions']");
		await page.click(":popover-open [role=menuitem]:has-text('Delete session')");
		await page.click(`${shown} ${button("Delete session")}`);
		await page.waitForURL(`${BASE}/console/sessions`);
		await page.waitForSelector(".toast:has-text('Session deleted')");
		await page.waitForSelector("tr:has-text('physics')");
		const left = (await stand.api("GET", "/v2/sessions")).data;
		ok("a session is deleted", left.length === 2, left.length);
		await stand.api("DELETE", `/v2/rooms/${room.id}`);
		await page.reload();
		await page.waitForSelector("tr:has-text('Deleted room')");
		ok("sessions outlive their room", true);
		await page.context().close();
		livekit.stop();
	});

/** What a session of the console without the scopes shows. */
export const scopes = (browser) =>
	group("scopes of live rooms", async () => {
		const stand = await make_stand("Scopes");
		const key = await stand.api("POST", "/v2/keys", {
			name: "rooms alone",
			scopes: ["rooms:read", "sessions:read"],
		});
		const page = await new_page(browser);
		await page.goto(`${BASE}/console/`);
		await page.click(button("Token or API key"));
		await page.fill("#token", key.key);
		await page.click(button("Sign in"));
		await page.waitForSelector(".frame .page");
		await page.goto(`${BASE}/console/rooms/${stand.room.id}`);
		await page.waitForSelector("text=No sessions yet");
		ok("no live:read, no people", (await page.locator("#inside").count()) === 0);
		const menu = await page.locator(".sections a:visible").allTextContents();
		ok("sessions are offered", menu.join() === "Rooms,Sessions", menu);
		await stand.livekit.join(stand.room.id, "ann", { shown: "Ann" });
		await page.click("a:has-text('In session')");
		await page.waitForSelector("section[aria-labelledby=attendance] tr:has-text('Ann')");
		await stand.livekit.end(stand.room.id);
		await page.waitForSelector(".page-title .badge", { state: "hidden" });
		await page.click("[aria-label='Session actions']");
		const items = await page.locator(":popover-open [role=menuitem]").allTextContents();
		ok("but nothing is deleted", items.join() === "Show API request", items);
		await page.context().close();
		stand.livekit.stop();
	});

/** The page of a media server, and what the event log says of rooms and people. */
export const media_and_events = (browser) =>
	group("media servers and events of live rooms", async () => {
		const stand = await make_stand("Media");
		const { livekit, backend, room } = stand;
		const page = await open(browser, stand, `/console/media/${backend.id}`);
		await page.click(button("Test connection"));
		await page.waitForSelector(".notice.ok:has-text('accepts the secrets')");
		const lines = await page.textContent("section[aria-labelledby=events-in] pre");
		const wanted = `webhook:\n  api_key: ${livekit.key}\n  urls:\n    - ${backend.events_url}`;
		ok("what LiveKit's configuration needs", lines === wanted, lines);
		await page.waitForSelector("section[aria-labelledby=events-in] .notice.warn:has-text('No event yet: add these lines')");
		await livekit.tell(room.id);
		const last = await page.waitForSelector("section[aria-labelledby=events-in] .notice.ok:has-text('Last event ')");
		ok("when the last event came", /^Last event (now|\d+ seconds? ago)\.$/.test(await last.textContent()), await last.textContent());
		await page.click("[aria-label='Copy the URL for events']");
		const copied = await page.evaluate(() => navigator.clipboard.readText());
		ok("the URL for events is copied", copied === backend.events_url, copied);
		await accessible(page, "a media server");
		livekit.told.lacks_rooms = true;
		await page.click(button("Test connection"));
		await page.waitForSelector(".notice.warn:has-text('Nobody gets into its rooms: turn on “Create the rooms”.')");
		ok("a server that does not create rooms, in words", true);
		livekit.told.lacks_rooms = false;
		for (const [status, words] of [
			[500, "It answers with an error. (status 500)"],
			[401, "It rejects the API key or the API secret. (wrong key)"],
			[200, "Something else answers at this address. (not a LiveKit)"],
		]) {
			livekit.told.broken = status;
			await page.click(button("Test connection"));
			await page.waitForSelector(`.notice.warn:has-text('${words}')`);
			ok(`a server that is down, in words: ${status}`, true);
		}
		livekit.told.broken = 0;
		await in_time(
			"a change of the state is shown",
			() => stand.api("POST", `/v2/backends/${backend.id}/test`),
			() => page.waitForSelector(".notice.ok:has-text('accepts the secrets')"),
		);

		await livekit.join(room.id, "ann", { role: "host", shown: "Ann" });
		await livekit.leave(room.id, "ann");
		await livekit.end(room.id);
		const row = (type, words) => `tr:has(.event-type:has-text('${type}')):has-text('${words}')`;
		await page.goto(`${BASE}/console/events`);
		for (const [type, words] of [
			["session.close.success", "Session closed after less than 1 min"],
			["peer.leave.success", "Left physics after less than 1 min"],
			["peer.join.success", "Joined physics as host"],
			["session.open.success", "Session opened"],
			["backend.up", "Media server is up"],
			["backend.down", "Media server is down: status 500"],
		]) {
			await page.waitForSelector(row(type, words));
			ok(`in words: ${type}`, true);
		}
		const [session] = (await stand.api("GET", "/v2/sessions")).data;
		await stand.api("DELETE", `/v2/sessions/${session.id}`);
		await page.waitForSelector(row("session.deleted", "Session deleted"));
		const only = (wanted) =>
			page.waitForFunction(
				(wanted) =>
					[...document.querySelectorAll(".event-type")].map((one) => one.textContent).join() ===
					wanted,
				wanted,
			);
		await page.selectOption("#page select >> nth=0", "peer.*");
		await only("peer.leave.success,peer.join.success");
		await page.fill("[aria-label='Room name or ID']", "PHYSICS");
		await only("peer.leave.success,peer.join.success");
		await page.click(".event-type >> nth=0");
		const facts = await page.textContent(".event-change .facts");
		ok("a row opens into it", /Role\s*host/.test(facts) && /Room\s*physics/.test(facts), facts);
		await page.selectOption("#page select >> nth=0", "session.*");
		await only("session.deleted,session.close.success,session.open.success");
		ok("filters", true);
		await accessible(page, "events of rooms in session");
		await page.context().close();
		livekit.stop();
	});

/** The views in all sizes, light and dark, with people inside. */
export const views_in_all_sizes = (browser) =>
	group("views of live rooms", async () => {
		const stand = await make_stand("Live views");
		const { livekit, room } = stand;
		const start = Date.now() - 3000000;
		livekit.add(room.id, "ann", { role: "host", shown: "Ann Archer", joined: start });
		livekit.add(room.id, "a-long-identity-of-somebody@example.org", {
			shown: "Somebody with quite a long name, who is Professor of Something",
			joined: start + 100000,
		});
		await livekit.join(room.id, "zoë", { shown: "Zoë", joined: Date.now() - 60000 });
		await stand.make_room("chemistry");
		for (const user_id of ["mallory", "a-long-identity-of-somebody@example.org"])
			await stand.api("POST", "/v2/bans", { user_id, room_id: room.id, reason: "Insulted the speaker." });
		const [session] = await some(() => stand.api("GET", "/v2/sessions"));
		const first = await open(browser, stand, "/console/overview");
		const storageState = await first.context().storageState();
		await first.context().close();
		for (const [size, options] of Object.entries(SIZES)) {
			for (const colorScheme of ["light", "dark"]) {
				const page = await new_page(browser, { ...options, colorScheme, storageState });
				for (const [name, path, wanted] of [
					["a room in session", `/console/rooms/${room.id}`, `${inside} tbody tr`],
					["sessions", "/console/sessions", "tbody tr"],
					["bans", "/console/bans", "tbody tr"],
					["a session", `/console/sessions/${session.id}`, "tbody tr"],
					["an overview with rooms in session", "/console/overview", ".chart .stroke"],
					["a media server", `/console/media/${stand.backend.id}`, "#events-in"],
				]) {
					await page.goto(BASE + path);
					await page.waitForSelector(wanted);
					await accessible(page, `${name}, ${size}, ${colorScheme}`);
				}
				await page.goto(`${BASE}/console/rooms/${room.id}`);
				await page.click("[aria-label='Actions for Zoë']");
				await page.click(":popover-open [role=menuitem]:has-text('Remove')");
				await page.waitForSelector(`${shown} select`);
				await accessible(page, `removing somebody, ${size}, ${colorScheme}`);
				await page.context().close();
			}
		}
		livekit.stop();
	});
