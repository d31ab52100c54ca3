// Rooms and codes in daily use: rows that stay, codes that are created and passed on, sheets, several at once.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import {
	BASE,
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

const shown = "dialog[open]";
const codes_of = (page) => page.locator(".codes .code-text code").allTextContents();

async function open_room(page, room) {
	await page.goto(`${BASE}/console/rooms/${room.id}`);
	await page.waitForSelector(".codes .switch");
}

/** Switches do not move rows, and can be undone. */
export const rows_stay = (page) =>
	group("rows stay", async () => {
		const { room, codes } = await make_room("Rows stay");
		await open_room(page, room);
		const enabled = async (code) => (await api("GET", `/v2/room-codes/code/${code}`)).enabled;
		const before = await codes_of(page);
		const second = page.locator(`[aria-label="Code ${codes.speaker} (speaker)"]`);
		const { x, y, width } = await second.boundingBox();
		const columns = () =>
			page.evaluate(() => [...document.querySelectorAll(".codes th")].map((one) => one.offsetLeft));
		const [left, places] = [await columns(), [x + width / 2, y + 8]];
		await page.mouse.click(...places);
		await page.waitForSelector(".toast:has-text('disabled')");
		ok(
			"a code that is switched off keeps its row",
			(await codes_of(page)).join() === before.join(),
		);
		ok("and no column moves", (await columns()).join() === left.join(), await columns());
		ok("it is switched off", !(await enabled(codes.speaker)));
		await page.mouse.click(...places);
		await page.waitForSelector(".toast:has-text('enabled')");
		const all = await Promise.all(Object.values(codes).map(enabled));
		ok("a second click in the same place hits the same code", all.every(Boolean), all);
		await page.mouse.click(...places);
		await page.waitForFunction(() => document.querySelectorAll(".toast").length === 3);
		await page.click(`.toast >> nth=2 >> ${button("Undo")}`);
		await page.waitForSelector(".codes tr.dim", { state: "detached" });
		ok("Undo switches it on again", await enabled(codes.speaker));

		await page.fill("[data-pointer='/description'] input", "Typed, not saved");
		await page.click(".labelled-switch input");
		await page.waitForSelector("text=This room is disabled, so its codes");
		const typed = () => page.inputValue("[data-pointer='/description'] input");
		ok("the switch of the room keeps what was typed", (await typed()) === "Typed, not saved");
		await page.click(`.toast:has-text("Room disabled") ${button("Undo")}`);
		await page.waitForSelector(".codes .switch");
		ok("Undo enables the room", (await api("GET", `/v2/rooms/${room.id}`)).enabled);
		await page.keyboard.press("Control+s");
		await page.waitForSelector(".toast:has-text('Room saved')");
		const saved = await api("GET", `/v2/rooms/${room.id}`);
		ok("and saving meets no conflict", saved.description === "Typed, not saved" && saved.enabled);
	});

/** What support does, with few clicks: find a room, revoke a code, create one, send its link. */
export const support = (page) =>
	group("support", async () => {
		const { room, codes } = await make_room("Support case");
		await page.goto(`${BASE}/console/rooms`);
		await page.waitForSelector(".row-link");
		let clicks = 0;
		const click = async (which) => {
			await page.click(which);
			clicks += 1;
		};
		await page.fill("input[type=search]", "support");
		await page.waitForFunction(() => document.querySelectorAll(".row-link").length === 1);
		await click(".row-link");
		await click(`[aria-label="Code ${codes.listener} (listener)"]`);
		await click(`[aria-label="New code for listener, instead of ${codes.listener}"]`);
		await click(":popover-open [role=menuitem]:has(:text-is('One use, 2 hours'))");
		await page.waitForSelector(`${shown}:has-text("Code for listener created")`);
		await click(`${shown} ${button("Copy link")}`);
		const link = await page.evaluate(() => navigator.clipboard.readText());
		const made = await api("GET", `/v2/room-codes/code/${link.split("/").pop()}`);
		const hours = (Date.parse(made.expires_at) - Date.parse(made.created_at)) / 3600000;
		ok("five clicks", clicks === 5, clicks);
		ok(
			"a code for two hours and one use",
			hours === 2 && made.max_uses === 1,
			JSON.stringify(made),
		);
		ok("of the same role", made.role === "listener" && made.room_id === room.id);
		const off = await api("GET", `/v2/room-codes/code/${codes.listener}`);
		ok("the old one is revoked", off.enabled === false);
		const mail = new URL(await page.getAttribute(`${shown} a:has-text("Mail")`, "href"));
		const text = new URLSearchParams(mail.search).get("body");
		ok("a mail has the link", mail.protocol === "mailto:" && text.includes(link), mail.href);
		await accessible(page, "share, light");
		await page.evaluate(() => {
			window.print = () => {
				const cards = [...document.querySelectorAll(".paper-card code")];
				window.sheet = cards.map((one) => one.textContent).join();
			};
		});
		await page.click(`${shown} ${button("Print")}`);
		await page.waitForFunction(() => window.sheet);
		const sheet = await page.evaluate(() => window.sheet);
		ok("its sheet has this code alone", sheet === made.code, sheet);
		await page.keyboard.press("Escape");
		const [first] = await codes_of(page);
		ok("the new row is the first, and marked", first === made.code);
		const mark = page.locator(`.codes tr:has-text("${made.code}") .badge:text-is("New")`);
		const box = await mark.boundingBox();
		ok("and in view", box.y > 0 && box.y < page.viewportSize().height, JSON.stringify(box));
		await accessible(page, "a room with a disabled code, light");
		const dark = await page.context().newPage();
		await dark.emulateMedia({ colorScheme: "dark" });
		await open_room(dark, room);
		await accessible(dark, "a room with a disabled code, dark");
		await dark.close();
		await page.click(`[aria-label="Actions for code ${codes.host}"]`);
		const wide = await page.locator(".menu:popover-open").boundingBox();
		ok("a menu is as wide as its words", wide.width < 260, wide.width);
		await page.keyboard.press("Escape");
	});

/** Forms select nothing that could be dangerous, and fill in limits on request. */
export const preselected = (page, browser) =>
	group("preselected", async () => {
		const { room } = await make_room("Preselected");
		await open_room(page, room);
		await page.click(button("New code"));
		const role = `${shown} [data-pointer='/role'] select`;
		ok("no role is selected", (await page.inputValue(role)) === "");
		await page.click(`${shown} ${button("Create code")}`);
		await page.waitForSelector(`${shown} [data-pointer='/role'] .fault:not([hidden])`);
		const list = await api("GET", `/v2/room-codes/room/${room.id}`);
		ok("and nothing is created without one", list.data.length === 4, list.data.length);
		await page.selectOption(role, "viewer");
		const pressed = () => page.locator(`${shown} .presets [aria-pressed=true]`).allTextContents();
		for (const words of ["1 hour", "Today", "One use", "2 hours", "One person"])
			await page.click(`${shown} ${button(words)}`);
		ok("limits", (await pressed()).join() === "2 hours,One use,One person", await pressed());
		await page.fill(`${shown} [data-pointer='/name'] input`, "Zoë");
		await page.click(`${shown} ${button("One use")}`);
		const uses = await page.inputValue(`${shown} [data-pointer='/max_uses'] input`);
		ok("a limit is emptied again", uses === "", uses);
		await page.click(`${shown} ${button("Create code")}`);
		await page.waitForSelector(`${shown} .qr-code`);
		const made = await api("GET", `/v2/room-codes/code/${await page.textContent(".qr-code")}`);
		const fits = made.name === "Zoë" && made.max_uses === undefined && made.user_id !== undefined;
		ok("a code for one person", fits && made.expires_at !== undefined, JSON.stringify(made));
		await page.keyboard.press("Escape");

		const usual = (await api("GET", "/v2/templates?view=summary&limit=100")).data.find(
			(one) => one.default,
		);
		if (!usual) await api("PATCH", `/v2/templates/${room.template_id}`, { default: true });
		await page.goto(`${BASE}/console/rooms/new`);
		const chosen = (one) => one.textContent("[data-pointer='/template_id'] option:checked");
		await page.waitForSelector("[data-pointer='/template_id'] select");
		ok("the default template is selected, and says so", /\(default\)$/.test(await chosen(page)));

		const printed = program("account", "add", "fresh");
		const of = (name) => new RegExp(`^${name}: *(.*)$`, "m").exec(printed)[1];
		const other = await new_page(browser);
		await sign_in(other, "/console/rooms", of("access_key"), of("secret"));
		const over = await other.evaluate(() => document.documentElement.scrollHeight - innerHeight);
		ok("a short page is not taller than the window", over === 0, over);
		const token = program("token", "fresh").trim();
		const mine = { Authorization: `Bearer ${token}` };
		const { id } = await api("POST", "/v2/templates", { name: "One", roles: { host: {} } }, mine);
		await other.goto(`${BASE}/console/rooms/new`);
		await other.waitForSelector("[data-pointer='/template_id'] select");
		ok("without a default, no template is", (await chosen(other)) === "Choose a template");
		await other.click(button("Create room"));
		await other.waitForSelector("[data-pointer='/template_id'] .fault:not([hidden])");
		await other.selectOption("[data-pointer='/template_id'] select", id);
		await other.click(button("Create room"));
		await other.waitForSelector(".codes .switch");
		await other.waitForSelector("#joins >> xpath=../.. >> text=account set fresh log_joins=on");
		ok("an account that logs no joins is told how", true);
		await other.context().close();
	});

/** Sheets with all codes, however the browser is told to print. */
export const sheets = (page) =>
	group("sheets", async () => {
		const names = Array.from({ length: 14 }, (_, i) => `role-${i}`);
		const roles = Object.fromEntries(names.map((name) => [name, {}]));
		const template = await api("POST", "/v2/templates", { name: "Sheets", roles });
		const room = await api("POST", "/v2/rooms", { name: "sheets", template_id: template.id });
		await api("POST", `/v2/room-codes/room/${room.id}`);
		await open_room(page, room);
		const { data } = await api("GET", `/v2/room-codes/room/${room.id}?limit=100`);
		await page.emulateMedia({ media: "print" });
		const cards = page.locator(".paper-card:visible");
		const printed = await page.locator(".paper-card:visible code").allTextContents();
		const all = data.map((one) => one.code).toSorted();
		ok("every enabled code is printed", printed.toSorted().join() === all.join(), printed);
		const rest = await page.locator("h1:visible, .codes:visible, .side:visible").count();
		ok("and nothing else", rest === 0, rest);
		const pages = (await page.pdf({ format: "A4" })).toString("latin1").match(/\/Type \/Page\b/g);
		ok("on as many sheets as it takes", pages?.length >= 3, pages?.length);
		await page.emulateMedia({ media: "screen" });
		const off = data.find((one) => one.role === "role-3").code;
		await page.uncheck(`[aria-label="Code ${off} (role-3)"]`);
		await page.waitForSelector(".codes tr.dim");
		const more = Array.from({ length: 110 }, () => ({
			method: "POST",
			path: `/v2/room-codes/room/${room.id}/role/role-1`,
			body: { max_uses: 5 },
		}));
		await api("POST", "/v2/bulk", { operations: more });
		await page.reload();
		await page.waitForSelector(".codes .switch");
		await page.evaluate(() => {
			window.print = () => {
				window.sheet = [...document.querySelectorAll(".paper-card")].map((one) => [
					one.querySelector("code").textContent,
					one.querySelector("img")?.naturalWidth !== 0,
				]);
			};
		});
		await page.keyboard.press("Control+p");
		await page.waitForFunction(() => window.sheet);
		const sheet = await page.evaluate(() => window.sheet);
		ok("Ctrl P prints more codes than are shown", sheet.length === 13 + 110, sheet.length);
		ok(
			"without the disabled one",
			sheet.every(([code]) => code !== off),
		);
		ok(
			"when their pictures are there",
			sheet.every(([, there]) => there),
		);
		await page.goto(`${BASE}/console/rooms`);
		await page.waitForSelector(".row-link");
		await page.emulateMedia({ media: "print" });
		const list = await page.locator(".row-link:visible").count();
		const frame = await page.locator(".side:visible").count();
		ok("another page prints itself", list > 0 && frame === 0 && (await cards.count()) === 0);
		await page.emulateMedia({ media: "screen" });
	});

/** Names for screen readers, codes on one line, columns that stay. */
export const names = (page) =>
	group("names and lines", async () => {
		const { room } = await make_room("Names and lines");
		const path = `/v2/room-codes/room/${room.id}/role/host`;
		await api("POST", path, { label: "another of the host" });
		const code = "a-code-of-forty-characters-for-the-board";
		await api("POST", path, { code, max_uses: 2, expires_in: 86400 });
		await open_room(page, room);
		const twice = await page.evaluate(() => {
			const controls = [...document.querySelectorAll(".codes :is(button, input)")];
			const said = controls
				.filter((one) => !one.closest("[popover]"))
				.map((one) => one.getAttribute("aria-label") ?? one.textContent);
			return said.filter((one, i) => said.indexOf(one) !== i);
		});
		ok("each control has a name of its own", twice.length === 0, twice);
		const lines = await page.evaluate(() =>
			[...document.querySelectorAll(".codes .code-text code")].map(
				(one) => one.getClientRects().length,
			),
		);
		ok(
			"a code is on one line",
			lines.every((one) => one === 1),
			lines,
		);
		const over = await page.evaluate(() => {
			const place = document.querySelector(".list-place");
			return place.scrollWidth - place.clientWidth;
		});
		ok("and the table in its frame", over <= 0, over);
	});

/** Who joined, in words. */
export const joins = (page) =>
	group("joins", async () => {
		const { room, codes } = await make_room("Joins");
		const { room: elsewhere, codes: others } = await make_room("Joins elsewhere");
		program("account", "set", "test", "log_joins=on");
		const path = `/v2/room-codes/room/${room.id}/role/viewer`;
		const own = await api("POST", path, { name: "Zoë", max_uses: 1, label: "Board" });
		const join = (code, user_id) =>
			fetch(`${BASE}/v2/token`, { method: "POST", body: JSON.stringify({ code, user_id }) });
		const logged = async (count) => {
			for (;;) {
				const { data } = await api("GET", "/v2/events?type=join.*&limit=100");
				if (data.filter((one) => one.data.room_id === room.id).length >= count) return;
			}
		};
		await join(codes.host, "ann");
		await join(others.host, "bob");
		await join(own.code);
		await join(own.code, "mallory");
		await logged(3);
		await open_room(page, room);
		await page.waitForSelector(".joins li");
		const said = await page.locator(".joins li > span").allTextContents();
		const wanted = [
			`mallory could not join as viewer with ${own.code} (Board): the code was used up`,
			`Zoë joined as viewer with ${own.code} (Board)`,
			`ann joined as host with ${codes.host}`,
		];
		// A personal code names the person, also if they could not join.
		wanted[0] = wanted[0].replace("mallory", "Zoë");
		ok("who joined, with which code, newest first", said.join("\n") === wanted.join("\n"), said);
		ok("and when", (await page.locator(".joins time").count()) === 3);
		await open_room(page, elsewhere);
		await page.waitForSelector(".joins li:has-text('bob joined as host')");
		ok("each room has its own", (await page.locator(".joins li").count()) === 1);
		program("account", "set", "test", "log_joins=off");
	});

/** Several codes or rooms at once. */
export const several = (page) =>
	group("several at once", async () => {
		const { room, codes } = await make_room("Several codes");
		await open_room(page, room);
		const state = async () => {
			const { data } = await api("GET", `/v2/room-codes/room/${room.id}`);
			return data.map((one) => `${one.role} ${one.enabled}`).join();
		};
		const bar = ".several:not([hidden])";
		await page.check(`[aria-label="Select code ${codes.speaker}"]`);
		await page.click(`[aria-label="Select code ${codes.viewer}"]`, { modifiers: ["Shift"] });
		ok("a range", (await page.textContent(`${bar} strong`)) === "3 codes selected");
		await page.click(`${bar} ${button("Disable")}`);
		await page.waitForSelector(".toast:has-text('3 codes disabled')");
		ok("are disabled", (await state()) === "host true,speaker false,listener false,viewer false");
		const kept = await page.isChecked(`[aria-label="Select code ${codes.viewer}"]`);
		ok("and stay selected", kept);
		await page.click(`.toast:has-text('3 codes disabled') ${button("Undo")}`);
		await page.waitForSelector(".codes tr.dim", { state: "detached" });
		ok("Undo", (await state()) === "host true,speaker true,listener true,viewer true");
		await accessible(page, "several codes");
		await page.uncheck(`[aria-label="Select code ${codes.speaker}"]`);
		await page.click(`${bar} ${button("Delete")}`);
		await page.click(`${shown} ${button("Delete 2 codes")}`);
		await page.waitForSelector(".toast:has-text('2 codes deleted')");
		ok("are deleted", (await state()) === "host true,speaker true", await state());
		ok("the bar goes", (await page.locator(bar).count()) === 0);

		const rooms = [];
		for (const n of [1, 2, 3]) {
			const body = { name: `several-${n}`, template_id: room.template_id };
			rooms.push(await api("POST", "/v2/rooms", body));
		}
		await page.goto(`${BASE}/console/rooms`);
		await page.waitForSelector(".row-link");
		await page.fill("input[type=search]", "several-");
		await page.waitForFunction(() => document.querySelectorAll(".row-link").length >= 3);
		await page.waitForFunction(() => document.querySelectorAll(".row-link").length <= 4);
		for (const { name } of rooms) await page.check(`[aria-label="Select room ${name}"]`);
		const enabled = async () => {
			const now = await Promise.all(rooms.map((one) => api("GET", `/v2/rooms/${one.id}`)));
			return now.map((one) => one.enabled).join();
		};
		await page.click(`${bar} ${button("Create codes")}`);
		await page.waitForSelector(".toast:has-text('Each role of 3 rooms has a code')");
		const made = await api("GET", `/v2/room-codes/room/${rooms[2].id}`);
		ok("codes for all", made.data.length === 4, made.data.length);
		const order = await page.locator(".row-name").allTextContents();
		await page.click(`${bar} ${button("Disable")}`);
		await page.waitForSelector(".toast:has-text('3 rooms disabled')");
		ok("rooms are disabled", (await enabled()) === "false,false,false", await enabled());
		ok("and say so", (await page.locator("tr.dim .badge.off").count()) === 3);
		const now = await page.locator(".row-name").allTextContents();
		ok("in their rows", now.join() === order.join());
		await accessible(page, "several rooms");
		await page.click(`.toast:has-text('3 rooms disabled') ${button("Undo")}`);
		await page.waitForSelector("tr.dim", { state: "detached" });
		ok("Undo enables them", (await enabled()) === "true,true,true", await enabled());
		await api("DELETE", `/v2/rooms/${rooms[1].id}`);
		await page.click(`${bar} ${button("Delete")}`);
		await page.click(`${shown} ${button("Delete 3 rooms")}`);
		await page.waitForSelector(".toast.bad:has-text('several-2'):has-text('Nothing was changed')");
		ok("all or none, and which one fails", true);
		await page.uncheck(`[aria-label="Select room ${rooms[1].name}"]`);
		await page.click(`${bar} ${button("Delete")}`);
		await page.click(`${shown} ${button("Delete 2 rooms")}`);
		await page.waitForSelector(".toast:has-text('2 rooms deleted')");
		const gone = await api("GET", "/v2/rooms?name_prefix=several-");
		const left = (gone.data ?? []).map((one) => one.name);
		ok(
			"rooms are deleted",
			left.every((name) => !/several-\d/.test(name)),
			left,
		);
	});
