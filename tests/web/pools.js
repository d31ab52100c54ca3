// Pools of media servers in the console: with what the test says of them, and with the service's own.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { make_stand } from "./live.js";
import { start_livekit } from "./livekit.js";
import { SIZES, accessible, body_of, group, new_page, ok, program, sign_in } from "./stand.js";

const button = (name) => `button:has-text("${name}"):visible`;
const row = (name) => `tr:has(.row-name:text-is("${name}"))`;
const toast = (text) => `.toast:has-text("${text}")`;

/** Serves the media servers of the account as if they were in pools. */
class Pools {
	/** What each has of its pool, by name. */
	of = {
		"media-1": { pool: "munich", weight: 100, region: "eu", draining: false, load: { rooms: 3, people: 30, share: 30, target: 50 } },
		"media-2": { pool: "munich", weight: 100, draining: false, load: { rooms: 1, people: 70, share: 70, target: 50 } },
		"media-3": { pool: "bonn", weight: 100, draining: false, load: { rooms: 0, people: 0, share: 0, target: 100 } },
	};
	/** Where each room in session is, by its id. */
	rooms = { a: ["Algebra", 17, "media-1"], b: ["Biology", 12, "media-1"], c: ["Chemistry", 70, "media-2"], d: ["<i>Drama</i>", 1, "media-1"] };
	failed = 0;
	asked = [];
	refused = null;
	with_pool = (one) => ({ ...one, ...this.of[one.name] });
	serve = async (page) => {
		await page.route(/\/v2\/backends(\?|$)/, async (route) => {
			const response = await route.fetch();
			const list = await response.json();
			await route.fulfill({ response, json: { ...list, data: list.data.map(this.with_pool) } });
		});
		await page.route(/\/v2\/backends\/[^/]+$/, async (route) => {
			const response = await route.fetch({ method: "GET", postData: undefined });
			const own = await response.json();
			if (route.request().method() === "PATCH") {
				const body = body_of(route.request());
				this.asked.push(`${own.name} ${JSON.stringify(body)}`);
				Object.assign(this.of[own.name], body);
			}
			await route.fulfill({ response, json: this.with_pool(own) });
		});
		await page.route(/\/v2\/backends\/[^/]+\/move$/, async (route) => {
			this.asked.push("move");
			if (this.refused) return route.fulfill({ status: 409, json: { code: 409, message: this.refused } });
			Object.assign(this.of["media-1"].load, { rooms: 0, people: 0, share: 0, target: 0 });
			await route.fulfill({ status: 202, json: { rooms: 3 } });
		});
		const room = (id) => ({ id, name: this.rooms[id][0], session: { id, created_at: "2026-11-23T09:00:00Z", peers: [] }, peer_count: this.rooms[id][1], roles: {}, seen_at: null });
		await page.route(/\/v2\/sessions\?/, (route) => route.fulfill({ json: { limit: 100, data: Object.keys(this.rooms).map((id) => ({ id, room_id: id })), last: "" } }));
		await page.route(/\/v2\/active-rooms\/[^/]+$/, (route) => {
			const id = route.request().url().split("/").at(-1);
			if (!this.rooms[id]) return route.continue();
			return route.fulfill({ json: { ...room(id), backend: this.rooms[id][2] } });
		});
		await page.route("**/v2/service/metrics", async (route) => {
			const response = await route.fetch();
			await route.fulfill({ response, body: `${await response.text()}\nanteroom_backend_failed_total{backend="media-2"} ${this.failed}\n` });
		});
	};
}

/** Closes a page that asks again and again. */
async function leave(page) {
	await page.unrouteAll({ behavior: "ignoreErrors" });
	await page.context().close();
}

/** An account with three media servers that can be in pools, and one in none. */
async function make_pools(name) {
	const stand = await make_stand(name);
	const add = (name) =>
		stand.api("POST", "/v2/backends", { name, type: "livekit", url: stand.livekit.url, config: { api_key: stand.livekit.key, api_secret: stand.livekit.secret } });
	for (const name of ["media-1", "media-2", "media-3"]) await add(name);
	return stand;
}

/** Pools with their servers: what they have, and what empties one. */
export const pools_in_console = (browser) =>
	group("pools in the console", async () => {
		const stand = await make_pools("Pools");
		program("account", "set", stand.name, "operator=on");
		const pools = new Pools();
		const page = await new_page(browser);
		// The page reads the numbers of the service every 5 seconds.
		await page.addInitScript(() => {
			const now = Date.now;
			window.ahead = 0;
			Date.now = () => now() + window.ahead;
		});
		await pools.serve(page);
		await sign_in(page, "/console/media", stand.key, stand.secret);
		await page.waitForSelector(row("media-1"));
		const sections = await page.locator(".pools section").evaluateAll((all) => all.map((one) => `${one.getAttribute("aria-label")}: ${[...one.querySelectorAll(".row-name")].map((name) => name.textContent).sort()}`));
		ok("each pool with its servers", sections.join("; ") === "Pool bonn: media-3; Pool munich: media-1,media-2", sections.join("; "));
		const about = await page.textContent("[aria-label='Pool munich'] .pool-about");
		ok("what a pool has", about === "2 servers, 4 rooms, 100 people.", about);
		const cells = (name) => page.locator(`${row(name)} td`).evaluateAll((all) => all.map((one) => one.textContent).join("|"));
		const first = await cells("media-1");
		ok("a server: state, load against target, region", first.includes("Not tested|3 rooms, 30 people30 % of the people, target 50 %|Europe|"), first);
		ok("those in no pool are listed below", await page.isVisible(`.list-place:not(.pools *) ${row("studio")}`));
		await accessible(page, "pools");

		await page.click(`${row("media-1")} ${button("Drain")}`);
		await page.waitForSelector(toast("media-1 gets no new rooms."));
		ok("one press drains a server", pools.asked.splice(0).join() === 'media-1 {"draining":true}');
		await page.waitForSelector(`${row("media-1")} >> text=Draining: 3 rooms left.`);
		const focus = await page.evaluate(() => document.activeElement.getAttribute("aria-label"));
		ok("the focus stays in the row", focus === "Undo draining of media-1", focus);
		await page.click(`${toast("gets no new rooms")} ${button("Undo")}`);
		await page.waitForSelector(`${row("media-1")} ${button("Drain")}`);
		ok("that can be undone", pools.asked.splice(0).join() === 'media-1 {"draining":false}');
		await page.click(`${row("media-1")} ${button("Drain")}`);
		await page.click(`${row("media-1")} ${button("Move rooms")}`);
		await page.waitForSelector("dialog[open] .moving");
		const said = await page.textContent("dialog[open]");
		const listed = await page.locator("dialog[open] .moving li").allTextContents();
		ok("before rooms are moved: how many rooms and people", said.includes("3 rooms, 30 people inside."), said);
		ok("and which", listed.join() === "Algebra17 people,Biology12 people,<i>Drama</i>1 person", listed.join());
		await accessible(page, "before rooms are moved");
		await page.click(`dialog[open] ${button("Cancel")}`);
		ok("nothing is moved yet", !pools.asked.includes("move"));
		pools.refused = "No other server";
		await page.click(`${row("media-1")} ${button("Move rooms")}`);
		await page.click(`dialog[open] ${button("Move rooms")}`);
		await page.waitForSelector(toast("No other server"));
		ok("why they cannot be moved", (await page.locator("dialog[open]").count()) === 0);
		pools.refused = null;
		await page.click(`${row("media-1")} ${button("Move rooms")}`);
		await page.click(`dialog[open] ${button("Move rooms")}`);
		await page.waitForSelector(toast("Moving 3 rooms."));
		await page.waitForSelector(`${row("media-1")} >> text=Empty: it can be stopped.`);
		ok("a server that is empty can be stopped", !(await page.isVisible(`${row("media-1")} ${button("Move rooms")}`)));
		await page.click(`${row("media-1")} ${button("Undo")}`);
		await page.waitForSelector(toast("media-1 gets new rooms again."));
		ok("and takes rooms again", pools.asked.at(-1) === 'media-1 {"draining":false}', pools.asked.join());

		pools.failed = 12;
		await page.evaluate(() => {
			window.ahead = 6000;
		});
		await page.waitForSelector(".notice:has-text('People cannot connect to media-2 (12 in the last minute)')");
		ok("to which people cannot connect", true);
		await page.evaluate(() => {
			window.ahead = 90000;
		});
		await page.waitForSelector(".notice:has-text('People cannot connect')", { state: "detached" });
		ok("for a minute", true);

		await page.goto(`${page.url().split("/console")[0]}/console/templates/${(await stand.api("GET", "/v2/templates")).data[0].id}/settings`);
		await page.waitForSelector("option:text-is('munich')", { state: "attached" });
		const choices = await page.locator("select option").allTextContents();
		ok("templates can name a server or a pool", ["media-1", "munich", "bonn", "studio"].every((one) => choices.includes(one)), choices.join());
		await page.route(`**/v2/rooms/${stand.room.id}`, async (route) => {
			const response = await route.fetch();
			await route.fulfill({ response, json: { ...(await response.json()), backend: "media-2" } });
		});
		await page.goto(`${page.url().split("/console")[0]}/console/rooms/${stand.room.id}`);
		await page.waitForSelector(".page-head >> text=On media-2");
		ok("a room's page says where it is", true);
		await page.route(`**/v2/active-rooms/${stand.room.id}`, async (route) => {
			const response = await route.fetch();
			await route.fulfill({ response, json: { ...(await response.json()), backend: "media-1" } });
		});
		await stand.livekit.join(stand.room.id, "ann", { role: "host", shown: "Ann" });
		await page.waitForSelector(".page-head >> text=On media-1");
		ok("and where it is moved", true);
		await leave(page);

		// All servers in pools, so that the signing keys follow them.
		pools.of.studio = pools.of["media-3"];
		for (const [size, options] of Object.entries(SIZES)) {
			for (const colorScheme of ["light", "dark"]) {
				const view = await new_page(browser, { ...options, colorScheme });
				await pools.serve(view);
				await sign_in(view, "/console/media", stand.key, stand.secret);
				await view.waitForSelector(row("media-1"));
				await accessible(view, `pools, ${size}, ${colorScheme}`);
				const [bars, below, held] = await view.evaluate(() => {
					const box = (one) => one.getBoundingClientRect();
					const acts = [...document.querySelectorAll(".pool-acts")];
					return [[...document.querySelectorAll("[aria-label='Pool munich'] .load-bar")].map((one) => Math.round(box(one).width)), box(document.querySelector(".pools + section")).top - box(document.querySelector(".pools")).bottom, acts.every((one) => one.scrollWidth <= one.clientWidth + 1)];
				});
				ok(`bars can be compared, ${size}`, new Set(bars).size === 1, bars.join());
				ok(`what follows the pools keeps its distance, ${size}`, below >= 20, below);
				ok(`buttons are within their row, ${size}`, held);
				await leave(view);
			}
		}
		stand.livekit.stop();
	});

/** A room of a pool of the service, from its first join to another server. */
export const pools_of_the_service = (browser) =>
	group("pools of the service", async () => {
		const stand = await make_stand("Pools of the service");
		const servers = [await start_livekit(), await start_livekit()];
		for (const [i, { url, key, secret }] of servers.entries()) {
			const made = await stand.api("POST", "/v2/backends", { name: `live-${i}`, type: "livekit", url, pool: "munich", config: { api_key: key, api_secret: secret } });
			servers[i].told.events_url = made.events_url;
			await stand.api("POST", `/v2/backends/${made.id}/test`);
		}
		const { template_id, id } = stand.room;
		await stand.api("PATCH", `/v2/templates/${template_id}/settings`, { backend: "munich" });
		const { data } = await stand.api("POST", `/v2/room-codes/room/${id}`);
		await stand.api("POST", "/v2/token", { code: data[0].code, name: "Nora" });
		const where = async () => (await stand.api("GET", `/v2/rooms/${id}`)).backend;
		const first = await where();
		ok("the room is at one of two", ["live-0", "live-1"].includes(first), first);
		const page = await new_page(browser);
		await sign_in(page, "/console/media", stand.key, stand.secret);
		await page.waitForSelector(`${row(first)} >> text=1 room, 0 people`);
		const at = servers[Number(first.at(-1))];
		await at.join(id, "nora", { role: "guest", shown: "Nora" });
		await page.waitForSelector(`${row(first)} >> text=1 room, 1 person`);
		ok("the console has it there", true);
		await page.click(`${row(first)} ${button("Drain")}`);
		await page.click(`${row(first)} ${button("Move rooms")}`);
		await page.waitForSelector("dialog[open] >> text=1 room, 1 person inside.");
		ok("and names the room", (await page.textContent("dialog[open] .moving")) === "physics1 person", await page.textContent("dialog[open] .moving"));
		await page.click(`dialog[open] ${button("Move rooms")}`);
		await page.waitForSelector(toast("Moving 1 room."));
		await page.waitForSelector(`${row(first)} >> text=0 rooms`);
		const told = () => at.messages.some((one) => one.includes('{"type":"move"}'));
		while (!told()) await page.waitForTimeout(50);
		ok("whoever is inside is told", true);
		const second = await where();
		ok("the room is moved", second !== first && ["live-0", "live-1"].includes(second), `${first} ${second}`);
		await page.click(`${row(second)} ${button("Drain")}`);
		await page.click(`${row(second)} ${button("Move rooms")}`);
		await page.click(`dialog[open] ${button("Move rooms")}`);
		await page.waitForSelector(toast("No other server"));
		ok("without another server it stays", (await where()) === second);
		await page.click(`${row(first)} ${button("Undo")}`);
		await page.waitForSelector(`${row(first)} ${button("Drain")}`);
		await page.click(`${row(first)} .row-link`);
		await page.waitForSelector("[data-pointer='/pool'] input");
		ok("the pool can be changed on the page of a server", (await page.inputValue("[data-pointer='/pool'] input")) === "munich");
		await page.context().close();
		for (const one of [stand.livekit, ...servers]) one.stop();
	});
