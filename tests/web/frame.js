// What holds on all pages of the console: a session that ends, Back and reload, two tabs, changes of two
// people, search, the overview.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import {
	ACCESS_KEY,
	BASE,
	SECRET,
	SIZES,
	accessible,
	api,
	button,
	group,
	make_room,
	new_page,
	ok,
	program,
	sign_in,
} from "./stand.js";

const field = (pointer) => `[data-pointer="${pointer}"] input`;
const shown = "dialog[open]";

/** Creates an account; returns its credentials. */
function account(name) {
	const printed = program("account", "add", name);
	const of = (what) => new RegExp(`^${what}: *(.*)$`, "m").exec(printed)[1];
	return { key: of("access_key"), secret: of("secret") };
}

/** Creates rooms with numbered names. */
async function many_rooms(prefix, count, template) {
	const operations = Array.from({ length: count }, (_, i) => ({
		method: "POST",
		path: "/v2/rooms",
		body: { name: `${prefix}-${String(i).padStart(4, "0")}`, template_id: template.id },
	}));
	for (let i = 0; i < count; i += 1000) {
		await api("POST", "/v2/bulk", { operations: operations.slice(i, i + 1000) });
	}
}

/** The session ends while a form is open. */
export const session_end = (page) =>
	group("a session that ends", async () => {
		const { template } = await make_room("Session end");
		const path = `/v2/templates/${template.id}/roles/host`;
		await page.goto(`${BASE}/console/templates/${template.id}/roles/host`);
		await page.waitForSelector(".section");
		await page.fill(field("/priority"), "3");
		await page.context().clearCookies();
		await page.keyboard.press("Control+s");
		await page.waitForSelector(`${shown} #secret`);
		await page.keyboard.press("Escape");
		await page.waitForSelector(shown, { state: "detached" });
		ok("closing the dialog keeps the form", (await page.inputValue(field("/priority"))) === "3");
		await page.keyboard.press("Control+s");
		await page.waitForSelector(`${shown} #secret`);
		const enter = async (key, secret) => {
			await page.fill(`${shown} #access_key`, key);
			await page.fill(`${shown} #secret`, secret);
			await page.keyboard.press("Enter");
		};
		await enter(ACCESS_KEY, "no");
		await page.waitForSelector(`${shown} [role=alert]:not([hidden])`);
		ok("a wrong secret changes nothing", (await api("GET", path)).priority === 1);
		await enter(ACCESS_KEY, SECRET);
		await page.waitForSelector(".save-bar", { state: "hidden" });
		ok("the same request is sent again", (await api("GET", path)).priority === 3);

		await page.fill(field("/priority"), "4");
		await page.context().clearCookies();
		await page.keyboard.press("Control+s");
		await page.waitForSelector(`${shown} #secret`);
		const other = account("Somebody else");
		await enter(other.key, other.secret);
		await page.waitForURL(`${BASE}/console/overview`);
		await page.waitForSelector("#account strong:text-is('Somebody else')");
		ok("another account starts anew", (await api("GET", path)).priority === 3);
		await page.click("[aria-label='Sign out']");
		await page.waitForSelector("#secret");
		await sign_in(page);
	});

/** Returns the place of the focused link in the window, its words, and the number of rows. */
const place = (page) =>
	page.evaluate(() => {
		const link = document.activeElement;
		const { top } = link.getBoundingClientRect();
		return [Math.round(top), link.textContent, document.querySelectorAll(".row-link").length];
	});

/** Lists in the order of names. */
export const order = (page) =>
	group("order", async () => {
		const { template } = await make_room("Order");
		await many_rooms("Z-ordered", 60, template);
		await api("POST", "/v2/rooms", { name: "a-first", template_id: template.id });
		for (const [list, first] of [
			["rooms", /^(a-first|[-.0-9:_])/],
			["templates", /./],
		]) {
			await page.goto(`${BASE}/console/${list}`);
			await page.waitForSelector(".row-link");
			await page.selectOption("[aria-label='Order']", "name");
			await page.waitForFunction(
				(list) => {
					const names = [...document.querySelectorAll(".row-name")].map((one) => one.textContent);
					const keys = list === "rooms" ? names.map((one) => one.toLowerCase()) : names;
					const more = document.querySelector(".list-foot button");
					more.scrollIntoView();
					return more.hidden && keys.every((one, i) => i === 0 || keys[i - 1] < one);
				},
				list,
				{ polling: 50 },
			);
			const names = await page.locator(".row-name").allTextContents();
			ok(`${list} by name`, first.test(names[0]) && new Set(names).size === names.length, names[0]);
			ok("the address keeps the order", page.url().endsWith("sort=name"), page.url());
		}
	});

/** Back from a page returns to the row, and so does a reload. */
export const returning = (page) =>
	group("returning to a list", async () => {
		const { template } = await make_room("Returning");
		await many_rooms("row", 230, template);
		await page.goto(`${BASE}/console/rooms?search=row-`);
		await page.waitForSelector(".row-link");
		const rows = page.locator(".row-link");
		while ((await rows.count()) < 150) {
			await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
			await page.waitForFunction(
				(count) => document.querySelectorAll(".row-link").length > count,
				(await rows.count()) - 1,
			);
		}
		await rows.nth(120).focus();
		const [top, name] = await place(page);
		await page.keyboard.press("Enter");
		await page.waitForSelector("#about-room");
		await page.goBack();
		await page.waitForFunction((wanted) => document.activeElement?.textContent === wanted, name);
		await page.evaluate(() => new Promise((turn) => requestAnimationFrame(turn)));
		const [again, , count] = await place(page);
		ok("Back returns to the row", Math.abs(again - top) < 3, `${top} ${again}`);
		ok("with the rows that were loaded", count >= 150, count);
		await page.reload();
		await page.waitForFunction((wanted) => document.activeElement?.textContent === wanted, name);
		ok("a reload too", Math.abs((await place(page))[0] - top) < 3, await place(page));
		await page.keyboard.press("Enter");
		await page.waitForSelector("#about-room");
		await page.fill(field("/name"), "row-renamed");
		await page.keyboard.press("Control+s");
		await page.waitForSelector("h1:text-is('row-renamed')");
		await page.goBack();
		await page.waitForSelector(".row-name:text-is('row-renamed')");
		ok("Back shows what was changed", true);
	});

/** What one tab changes shows in another, without requests in between. */
export const two_tabs = (page) =>
	group("two tabs", async () => {
		const { template, room } = await make_room("Two tabs");
		const other = await page.context().newPage();
		let asked = 0;
		await other.goto(`${BASE}/console/rooms`);
		await other.waitForSelector(".row-name:text-is('Two-tabs')");
		await other.waitForLoadState("networkidle");
		other.on("request", () => {
			asked += 1;
		});
		await page.goto(`${BASE}/console/rooms/${room.id}`);
		await page.fill(field("/name"), "two-tabs-renamed");
		ok("nothing is asked before a change", asked === 0, asked);
		await page.keyboard.press("Control+s");
		await other.waitForSelector(".row-name:text-is('two-tabs-renamed')");
		ok("a list shows the change", true);
		await other.goto(`${BASE}/console/rooms/${room.id}`);
		await other.waitForSelector("#about-room");
		await page.locator(".labelled-switch input").click();
		await other.waitForSelector(".page-title .badge:text-is('Disabled')");
		await page.locator(".labelled-switch input").click();
		await other.waitForSelector(".page-title .badge:text-is('Disabled')", { state: "detached" });
		ok("a room shows the change", true);
		await other.fill(field("/description"), "typed");
		await page.locator(".labelled-switch input").click();
		await page.waitForSelector(".page-title .badge:text-is('Disabled')");
		await page.locator(".labelled-switch input").click();
		await page.waitForSelector(".page-title .badge:text-is('Disabled')", { state: "detached" });
		ok("what is typed stays", (await other.inputValue(field("/description"))) === "typed");
		await other.goto(`${BASE}/console/rooms`);
		await other.waitForSelector(".row-link");
		await page.click("[aria-label='Sign out']");
		await other.waitForSelector("#secret");
		ok("signing out holds for all tabs", true);
		await sign_in(page);
		await other.goto(`${BASE}/console/rooms`);
		await other.waitForSelector(".row-link");
		await page.context().clearCookies();
		for (const one of [page, other]) {
			await one.click(".sections a:has-text('Webhooks')");
			await one.waitForSelector(`${shown} #secret`);
		}
		await page.fill(`${shown} #access_key`, ACCESS_KEY);
		await page.fill(`${shown} #secret`, SECRET);
		await page.keyboard.press("Enter");
		await other.waitForSelector(shown, { state: "detached" });
		await other.waitForSelector("h1:text-is('Webhooks')");
		ok("signing in again too", true);
		await other.close();
		await api("DELETE", `/v2/rooms/${room.id}`);
		await api("DELETE", `/v2/templates/${template.id}`);
	});

/** Two people change the same role; Discard can be undone. */
export const conflicts = (page) =>
	group("conflicts", async () => {
		const { template } = await make_room("Conflicts");
		const path = `/v2/templates/${template.id}/roles/speaker`;
		const role = async () => await api("GET", path);
		await page.goto(`${BASE}/console/templates/${template.id}/roles/speaker`);
		await page.waitForSelector(".section");
		await api("PATCH", path, { maxPeerCount: 7 });
		await page.fill(field("/priority"), "4");
		await page.keyboard.press("Control+s");
		await page.waitForSelector(`${shown} .conflict`);
		const table = await page.locator(`${shown} .conflict tbody tr`).allInnerTexts();
		const words = table
			.map((one) => one.replace(/\s+/g, " "))
			.sort()
			.join("; ");
		ok(
			"both changes stand side by side",
			words === "Participant limit 0 7 0; Priority 2 2 4",
			words,
		);
		await page.click(`${shown} ${button("Keep both")}`);
		await page.waitForSelector(".save-bar", { state: "hidden" });
		let now = await role();
		ok("both are kept", now.priority === 4 && now.maxPeerCount === 7, JSON.stringify(now));
		await api("PATCH", path, { priority: 1 });
		await page.fill(field("/priority"), "5");
		await page.fill(field("/maxPeerCount"), "9");
		await page.keyboard.press("Control+s");
		await page.click(`${shown} ${button("Keep theirs, save the rest")}`);
		await page.waitForSelector(".save-bar", { state: "hidden" });
		now = await role();
		ok("theirs is kept where both changed", now.priority === 1 && now.maxPeerCount === 9);

		await page.fill(field("/priority"), "2");
		await page.click(`.save-bar ${button("Discard")}`);
		await page.waitForSelector(".save-bar", { state: "hidden" });
		ok("Discard restores", (await page.inputValue(field("/priority"))) === "1");
		await page.click(`.toast ${button("Undo")}`);
		await page.waitForSelector(".save-bar:not([hidden])");
		ok("and can be undone", (await page.inputValue(field("/priority"))) === "2");
		await page.keyboard.press("Control+s");
		await page.keyboard.press("Control+k");
		await page.keyboard.type("webhooks");
		await page.keyboard.press("Enter");
		await page.waitForURL(`${BASE}/console/webhooks`);
		ok("Ctrl K takes keys while the page saves", (await role()).priority === 2);
	});

/** An empty account reaches a room with links on one page. */
export const overview = (browser) =>
	group("overview", async () => {
		const { key, secret } = account("New here");
		const page = await new_page(browser);
		await sign_in(page, "/console/", key, secret);
		await page.click("button:has-text('Create the template')");
		await page.waitForSelector(".step.done");
		await page.fill(field("/name"), "first-room");
		await page.keyboard.press("Enter");
		await page.waitForSelector(".invitations");
		await accessible(page, "the first steps");
		await page.click("[aria-label='Copy join link for guest']");
		const link = await page.evaluate(() => navigator.clipboard.readText());
		ok("three steps lead to a link", link.startsWith(`${BASE}/join/`), link);
		await page.reload();
		await page.waitForSelector(".tiles");
		const tiles = await page.locator(".tile").allInnerTexts();
		ok("then it shows what there is", /Rooms\s+1/.test(tiles.join()), tiles.join());
		const newest = await page.locator(".event-type").first().textContent();
		ok("the last change first", newest === "room_code.created", newest);
		await page.context().close();
	});

/** Search finds any word of a name, a code, a join link and an ID, in the list and with Ctrl K. */
export const search = (page) =>
	group("search", async () => {
		const { room, codes } = await make_room("Botany Seminar Thursday");
		await page.goto(`${BASE}/console/rooms`);
		await page.waitForSelector(".row-link");
		const names = async () => await page.locator(".row-name").allTextContents();
		const find_room = async (what, typed) => {
			await page.fill("input[type=search]", typed);
			await page.waitForFunction((wanted) => {
				const rows = [...document.querySelectorAll(".row-name")].map((one) => one.textContent);
				return rows.length === 1 && rows[0] === wanted;
			}, room.name);
			ok(`the list finds ${what}`, (await names()).join() === room.name);
		};
		await find_room("words in any order", "thursday bot");
		await find_room("a join link", `${BASE}/join/${codes.viewer}`);
		await find_room("a code", codes.host.replaceAll("-", "").toUpperCase());
		await find_room("an ID", room.id);
		await page.fill("input[type=search]", "no such words");
		await page.waitForSelector(".list-state:has-text('No room matches')");
		ok("and says when there is none", (await names()).length === 0);

		const open = async () => {
			await page.keyboard.press("Control+k");
			await page.waitForSelector("dialog.palette");
		};
		for (const [what, typed, kind] of [
			["any word", "seminar", "Room"],
			["any word of a template", "seminar thursday", "Template"],
			["a join link", `${BASE}/join/${codes.host}?name=Ann`, "Code"],
			["an ID", room.id, "Room"],
		]) {
			await open();
			await page.fill("dialog.palette input", typed);
			await page.waitForSelector(`[role=option]:has(.quiet:text-is("${kind}"))`);
			ok(`Ctrl K finds ${what}`, true);
			await page.keyboard.press("Escape");
		}
		await open();
		await page.keyboard.type("botany");
		await page.keyboard.press("Enter");
		await page.waitForURL(`${BASE}/console/rooms/${room.id}`);
		await page.waitForSelector("#about-room");
		ok("Enter waits for the results", true);
		await page.goto(`${BASE}/console/overview`);
		await page.waitForSelector(".tiles");
		await open();
		await page.waitForSelector("[role=option]");
		const first = await page.locator("[role=option]").first().textContent();
		ok("what was opened last is first", first.startsWith(room.name), first);
		await page.keyboard.press("Escape");
		const operations = Array.from({ length: 7 }, (_, i) => ({
			method: "POST",
			path: "/v2/rooms",
			body: { name: `zoology-${i}`, template_id: room.template_id },
		}));
		await api("POST", "/v2/bulk", { operations });
		await open();
		await page.keyboard.type("zoology");
		await page.waitForSelector("[role=option]:has-text('Show all rooms')");
		const found = await page.locator("[role=option]").allTextContents();
		ok("the newest first", found[0].startsWith("zoology-6"), found.join());
		await page.click("[role=option]:has-text('Show all rooms')");
		await page.waitForFunction(() => document.querySelectorAll(".row-link").length === 7);
		ok(
			"Show all leads to the list",
			page.url().endsWith("/console/rooms?search=zoology"),
			page.url(),
		);
	});

/** A search goes on by itself through the short pages of a long list. */
export const long_search = (page) =>
	group("a long search", async () => {
		let calls = 0;
		let go_on = () => {};
		const seen = new Promise((turn) => {
			go_on = turn;
		});
		await page.route("**/v2/rooms?*q=rare*", async (route) => {
			calls += 1;
			const last = calls < 4 ? `6b08fac5000000000000000${calls}` : "";
			const one = { id: "6b08fac50000000000000009", name: "rare", enabled: true, template: "T" };
			one.updated_at = "2026-01-01T00:00:00Z";
			if (calls === 3) await seen;
			await route.fulfill({ json: { limit: 50, data: calls < 4 ? null : [one], last } });
		});
		await page.goto(`${BASE}/console/rooms`);
		await page.waitForSelector(".row-link");
		await page.fill("input[type=search]", "rare");
		await page.waitForSelector(".list-state:has-text('Searched 20,000 rooms, found 0')");
		go_on();
		await page.waitForSelector(".row-name:text-is('rare')");
		ok("it says how far it is, and goes on to the end", calls === 4, calls);
		await page.unrouteAll();
	});

/** Events by room, person and time; a row opens into the change. */
export const events = (page) =>
	group("events", async () => {
		const { room, codes } = await make_room("Event filters");
		await api("PATCH", `/v2/rooms/${room.id}`, { description: "New" });
		program("account", "set", "test", "log_joins=on");
		await api("POST", "/v2/token", { code: codes.host, user_id: "ann-42" });
		await page.goto(`${BASE}/console/events`);
		await page.waitForSelector(".event-type");
		const types = () => page.locator(".event-type").allTextContents();
		const seqs = await page
			.locator(".event-type")
			.evaluateAll((all) => all.map((one) => Number(/\d+$/.exec(one.getAttribute("aria-label")))));
		ok(
			"the newest first",
			seqs.every((seq, i) => i === 0 || seq < seqs[i - 1]),
			seqs,
		);
		const wait_for = (wanted) =>
			page.waitForFunction(
				(text) =>
					[...document.querySelectorAll(".event-type")]
						.map((one) => one.textContent)
						.filter((one) => !one.startsWith("join."))
						.join() === text,
				wanted,
			);
		await page.fill("[aria-label='Room name or ID']", room.name);
		await wait_for("room.updated,room_code.created,room.created");
		ok("by the name of a room", true);
		await page.fill("[aria-label='Room name or ID']", room.id);
		await page.waitForURL(new RegExp(`room=${room.id}`));
		await wait_for("room.updated,room_code.created,room.created");
		ok("by the ID of a room", true);
		await page.click(".event-type:has-text('room.updated')");
		const change = await page.textContent(".event-change");
		ok("a row opens into the change", /Changed\s*Description/.test(change), change);
		await page.fill("[aria-label='Room name or ID']", "");
		await page.fill("[aria-label='Person, key or ID']", "ann-42");
		await page.waitForFunction(() => {
			const all = [...document.querySelectorAll(".event-type")].map((one) => one.textContent);
			return all.join() === "join.granted";
		});
		ok("by person", true);
		await page.fill("[aria-label='Person, key or ID']", "");
		await page.selectOption("[aria-label='Time']", "custom");
		await page.fill("[aria-label='Until']", "2020-01-01T10:00");
		await page.waitForSelector("text=No matching events");
		ok("by time", (await types()).length === 0);
		await page.selectOption("[aria-label='Time']", "today");
		await page.waitForSelector(".event-type");
		ok("today", page.url().includes("time=today"));
		await page.goto(`${BASE}/console/overview`);
		await page.waitForSelector(".tiles");
		const joins = await page.textContent(".tile:has-text('Joins today') dd");
		ok("the overview counts joins", Number(joins) > 0, joins);
	});

/** A delivery that failed shows what was sent and what came back, and is sent again. */
export const deliveries = (page) =>
	group("deliveries", async () => {
		// The address is refused, so every attempt fails.
		const hook = await api("POST", "/v2/webhooks", { url: "https://127.0.0.1:9/hook" });
		const { template } = await make_room("Deliveries");
		const path = `/v2/webhooks/${hook.id}/deliveries`;
		await page.goto(`${BASE}/console/webhooks/${hook.id}`);
		await page.waitForSelector("#deliveries");
		const wanted = `tr[data-event]:has-text('template.created')`;
		while ((await page.locator(wanted).count()) === 0) {
			await page.click("[aria-label='Refresh']");
			await page.waitForSelector("[aria-label='Refresh']:not([aria-busy])");
		}
		await page.click(`${wanted} .event-type`);
		await page.waitForSelector(".event-change pre");
		const sent = JSON.parse(await page.textContent(".event-change pre"));
		ok("what was sent", sent.type === "template.created" && sent.data.id === template.id);
		const back = await page.textContent(".event-change .facts");
		ok("what came back", back.includes("address not allowed"), back);
		const attempts = async () => Number(await page.textContent(`${wanted} td.right`));
		const before = await attempts();
		await page.click(`${wanted} button:text-is('Send again')`);
		await page.waitForSelector(".toast:has-text('Sent again')");
		ok("sent again", (await attempts()) > before, await attempts());
		ok("the row stays open", await page.isVisible(".event-change"));
		const { data } = await api("GET", path);
		ok(
			"the service has tried",
			data.some((one) => one.attempts === before + 1),
		);
		await page.goto(`${BASE}/console/overview`);
		await page.waitForSelector("#failing");
		ok("the overview names it", (await page.textContent("section")).includes(hook.url));
		await api("DELETE", `/v2/webhooks/${hook.id}`);
	});

/** On a phone the bar with Save covers no field that has the focus. */
export const save_bar = (browser) =>
	group("the save bar on a phone", async () => {
		const { template } = await make_room("Save bar");
		const page = await new_page(browser, SIZES.phone);
		await sign_in(page, `/console/templates/${template.id}/roles/host`);
		await page.waitForSelector(".section");
		await page.fill(field("/priority"), "3");
		const covered = await page.evaluate(() => {
			const bar = document.querySelector(".save-bar");
			const fields = document.querySelectorAll(".form-root :is(input, select, button)");
			return [...fields]
				.filter((one) => one.checkVisibility())
				.filter((one) => {
					one.focus();
					return one.getBoundingClientRect().bottom > bar.getBoundingClientRect().top;
				})
				.map((one) => one.outerHTML.slice(0, 80));
		});
		ok("no field is covered", covered.length === 0, covered.join("\n"));
		await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
		const gap = await page.evaluate(() => {
			const end = document.querySelector(".form-root").getBoundingClientRect().bottom;
			return document.querySelector(".save-bar").getBoundingClientRect().top - end;
		});
		ok("the last field can be scrolled above it", gap > 0, gap);
		await page.context().close();
	});
