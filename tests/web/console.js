// The console, as an administrator uses it.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { readFileSync } from "node:fs";
import http from "node:http";
import {
	ACCESS_KEY,
	BASE,
	SECRET,
	SECURE_URL,
	TOKEN,
	api,
	button,
	group,
	make_room,
	ok,
	program,
	sign_in,
	stop_service,
} from "./stand.js";

const field = (pointer) => `[data-pointer="${pointer}"] input`;
const fault = (pointer) => `[data-pointer="${pointer}"] .fault:not([hidden])`;
const shown = "dialog[open]";

/** Signing in: returns to the page that was opened; scripts and other sites get no secret. */
export const signing_in = (page) =>
	group("signing in", async () => {
		await page.goto(`${BASE}/console/rooms`);
		await page.waitForSelector("#secret");
		ok("signed out leads to sign-in", page.url().includes("sign-in?then=%2Fconsole%2Frooms"));
		const answers = [];
		page.on("response", async (response) => {
			const refused = response.status() === 401 && response.request().method() === "POST";
			if (refused) answers.push(await response.text());
		});
		const wrong = async (key, secret) => {
			await page.fill("#access_key", key);
			await page.fill("#secret", secret);
			await page.keyboard.press("Enter");
			await page.waitForFunction(() => document.activeElement?.getAttribute("role") === "alert");
			const told = await page.textContent("[role=alert]:not([hidden])");
			ok("a wrong secret is told, with the focus on it", told.includes("access key or the secret is wrong"));
		};
		await wrong(ACCESS_KEY, "no");
		await wrong("unknown", "no");
		ok("the same bytes", answers.length === 2 && answers[0] === answers[1], answers.join());
		await page.fill("#access_key", ACCESS_KEY);
		await page.fill("#secret", SECRET);
		await page.keyboard.press("Enter");
		await page.waitForSelector(".row-link, .empty");
		ok("back to where one wanted to go", page.url() === `${BASE}/console/rooms`, page.url());
		ok("no cookie for scripts", await page.evaluate(() => document.cookie === ""));
		const kept = await page.evaluate(() =>
			[...Object.values(localStorage), ...Object.values(sessionStorage)].join(),
		);
		ok("no secret is stored", !kept.includes(SECRET) && !kept.includes("eyJ"), kept);
		const [cookie] = await page.context().cookies();
		ok("the cookie is HttpOnly and Strict", cookie.httpOnly && cookie.sameSite === "Strict");
	});

/** Over HTTPS the cookie is valid for this host only. */
export const over_https = (browser) =>
	group("over https", async () => {
		const context = await browser.newContext({ ignoreHTTPSErrors: true });
		const page = await context.newPage();
		await page.goto(`${SECURE_URL}/console/rooms`);
		await page.fill("#access_key", ACCESS_KEY);
		await page.fill("#secret", SECRET);
		await page.keyboard.press("Enter");
		await page.waitForSelector(".row-link, .empty");
		const [{ name, secure, httpOnly }] = await context.cookies();
		ok("a cookie of this host", name === "__Host-anteroom" && secure && httpOnly, name);
		await context.close();
	});

/** Requests that the cookie does not allow. */
export const forgery = (page) =>
	group("forgery", async () => {
		const status = await page.evaluate(
			async () => (await fetch("/v2/rooms", { method: "POST", body: "{}" })).status,
		);
		ok("a write without the header is refused", status === 403, status);
		const kept = await page.evaluate(async () => {
			const one = async (path) => (await fetch(path)).headers.get("Cache-Control");
			return [await one("/v2/rooms"), await one("/v2/session")].join(" and ");
		});
		ok("answers to a cookie are kept nowhere", kept === "no-store and no-store", kept);
		const evil = http.createServer((_, response) => {
			response.setHeader("Content-Type", "text/html");
			response.end("<p>another site");
		});
		await new Promise((listening) => evil.listen(0, "127.0.0.1", listening));
		const other = await page.context().newPage();
		await other.goto(`http://127.0.0.1:${evil.address().port}/`);
		const tried = await other.evaluate(async (base) => {
			const one = async (options) => {
				try {
					return (await fetch(`${base}/v2/rooms`, { credentials: "include", ...options })).status;
				} catch {
					return "blocked";
				}
			};
			const headers = { "Anteroom-Console": "1" };
			return [await one({}), await one({ method: "POST", body: "{}", headers })];
		}, BASE);
		ok("another site neither reads nor writes", tried.join() === "blocked,blocked", tried);
		await other.close();
		evil.close();
		const [{ name, value }] = await page.context().cookies();
		const as = async (headers) => (await fetch(`${BASE}/v2/templates`, { headers })).status;
		ok("a token is no cookie", (await as({ Cookie: `${name}=${TOKEN}` })) === 401);
		ok("a session is no token", (await as({ Authorization: `Bearer ${value}` })) === 401);
	});

/** A template with its roles; a role with errors at its fields; two people who save the same role. */
export const templates = (page) =>
	group("templates and roles", async () => {
		const name = "Proof of roles";
		await page.goto(`${BASE}/console/templates`);
		await page.waitForSelector(".page");
		await page.keyboard.press("c");
		await page.waitForSelector(".cards");
		await page.fill(field("/name"), "bad/name!");
		await page.check(field("/default"));
		await page.click("text=Webinar");
		await page.click(button("Create template"));
		await page.waitForSelector(fault("/name"));
		await page.fill(field("/name"), name);
		ok("a fault goes when it is mended", (await page.locator(fault("/name")).count()) === 0);
		const chosen = await page.textContent(".card-choice:has(:checked) strong");
		const still = await page.isChecked(field("/default"));
		ok("all else is kept", chosen === "Webinar" && still, `${chosen} ${still}`);
		await page.click(button("Create template"));
		await page.waitForSelector(".role-card");
		const roles = await page.locator(".role-card h2").allTextContents();
		ok("made with its roles", roles.join() === "host,speaker,viewer", roles);
		const id = page.url().split("/").pop();
		ok("no warning", (await page.locator(".notice.warn").count()) === 0);
		await api("PATCH", `/v2/templates/${id}/roles/host`, { admission: "ask" });
		await page.reload();
		await page.waitForSelector(".notice.warn:has-text('nobody inside can let people in.')");
		await api("PATCH", `/v2/templates/${id}/roles/host`, { admission: null });

		await page.goto(`${BASE}/console/templates/new`);
		await page.fill(field("/name"), name);
		await page.click(button("Create template"));
		await page.waitForSelector(fault("/name"));
		const left = await api("GET", `/v2/templates/${id}`);
		ok("a name that is taken overwrites nothing", Object.keys(left.roles).length === 3);

		await page.goto(`${BASE}/console/templates/${id}`);
		await page.click(".role-card a:text-is('speaker')");
		await page.waitForSelector(".section");
		await page.fill(field("/publishParams/video/bitRate"), "9000");
		await page.fill(field("/publishParams/video/frameRate"), "x");
		await page.fill(field("/priority"), "9");
		const layers = "/publishParams/simulcast/video/layers";
		await page.check(`[data-pointer='/publishParams/simulcast'] > .group-head .switch`);
		await page.check(`[data-pointer='/publishParams/simulcast/video'] > .group-head .switch`);
		// The role begins with as many layers as there may be.
		for (let layer = 2; layer >= 0; layer--)
			await page.click(`[data-pointer='${layers}'] button[aria-label^="Remove"] >> nth=${layer}`);
		for (const layer of [0, 1]) {
			await page.click(`[data-pointer='${layers}'] ${button("Add layer")}`);
			await page.fill(field(`${layers}/${layer}/maxFramerate`), "99");
		}
		const refusal = page.waitForResponse((response) => response.status() === 400);
		await page.keyboard.press("Control+s");
		const { details } = await (await refusal).json();
		await page.waitForSelector(".faults:not([hidden])");
		const count = await page.locator(".faults li").count();
		ok("all faults at once", count >= 5 && count === details.length, `${count} ${details}`);
		const undescribed = await page.evaluate(() =>
			[...document.querySelectorAll(".fault:not([hidden])")]
				.filter((one) => !document.querySelector(`[aria-describedby~="${one.id}"]`))
				.map((one) => one.textContent),
		);
		const described = await page.locator(".fault:not([hidden])").count();
		ok("each stands at its field", described === count && undescribed.length === 0, undescribed);
		const at_layers = await page.locator(`[data-pointer^='${layers}/'] [aria-invalid=true]`).count();
		ok("in the layers too", at_layers >= 2, at_layers);
		const focus = await page.evaluate(() => document.activeElement.className);
		ok("the focus is on the summary", focus === "faults", focus);
		await page.click(".faults a >> nth=0");
		const said = await page.evaluate(() => {
			const input = document.activeElement;
			const ids = input.getAttribute("aria-describedby").split(" ");
			return [
				input.closest("[data-pointer]").dataset.pointer,
				input.getAttribute("aria-invalid"),
				ids.map((one) => document.getElementById(one)?.textContent).join(" "),
			];
		});
		const [pointer, invalid, words] = said;
		ok("a link leads to its field", pointer === "/publishParams/video/bitRate", pointer);
		ok("the field says what is wrong", invalid === "true" && /30 to 2000/.test(words), words);
		await page.fill(field("/publishParams/video/bitRate"), "900");
		await page.fill(field("/publishParams/video/frameRate"), "30");
		await page.fill(field("/priority"), "2");
		await page.uncheck(`[data-pointer='/publishParams/simulcast'] > .group-head .switch`);
		await page.keyboard.press("Control+s");
		await page.waitForSelector(".save-bar", { state: "hidden" });
		const path = `/v2/templates/${id}/roles/speaker`;
		ok("saved", (await api("GET", path)).publishParams.video.bitRate === 900);

		await api("PATCH", path, { maxPeerCount: 3 });
		await page.fill(field("/priority"), "4");
		await page.keyboard.press("Control+s");
		await page.waitForSelector(`${shown}:has-text("Someone else has changed")`);
		await page.click(`${shown} ${button("Cancel")}`);
		ok("Cancel overwrites nothing", (await api("GET", path)).priority === 2);
		ok("Cancel keeps what was typed", (await page.inputValue(field("/priority"))) === "4");
		await page.keyboard.press("Control+s");
		await page.click(`${shown} ${button("Replace their changes")}`);
		await page.waitForSelector(".save-bar", { state: "hidden" });
		ok("Replace their changes writes", (await api("GET", path)).priority === 4);

		await page.fill(field("/priority"), "5");
		await page.click(".way a >> nth=0");
		await page.waitForSelector(`${shown}:has-text("Leave without saving")`);
		await page.click(`${shown} ${button("Cancel")}`);
		await page.goBack();
		await page.waitForSelector(`${shown}:has-text("Leave without saving")`);
		await page.click(`${shown} ${button("Cancel")}`);
		ok("a link and Back are asked about", page.url().endsWith("/roles/speaker"), page.url());
		const asked = page.waitForEvent("dialog");
		await page.evaluate(() => setTimeout(() => location.reload()));
		const question = await asked;
		await question.dismiss();
		const kept = await page.inputValue(field("/priority"));
		ok("and so is a reload", question.type() === "beforeunload" && kept === "5", kept);
		await page.click(`.save-bar ${button("Discard")}`);
		ok("Discard restores", (await page.inputValue(field("/priority"))) === "4");

		const room = await api("POST", "/v2/rooms", { name: "proof-of-roles", template_id: id });
		const list = await api("POST", `/v2/room-codes/room/${room.id}`);
		const { code } = list.data.find((one) => one.role === "speaker");
		await page.fill(field("/name"), "panel list");
		await page.keyboard.press("Control+s");
		await page.waitForURL(/roles\/panel%20list$/);
		const joined = await api("POST", "/v2/token", { code, user_id: "ann" });
		ok("a role that is renamed keeps its codes", joined.role === "panel list");
		await page.click("[aria-label='Role actions']");
		await page.click(":popover-open [role=menuitem]:has-text('Delete')");
		await page.waitForSelector(`${shown}:has-text("cannot be enabled again")`);
		await page.click(`${shown} ${button("Delete role")}`);
		await page.waitForURL(new RegExp(`templates/${id}$`));
		await page.waitForSelector(".role-card");
		ok("a role is deleted", (await page.locator(".role-card").count()) === 2);
	});

/** Names with characters of JSON Pointers: each error is shown at its field. */
export const odd_names = (page) =>
	group("odd names", async () => {
		const odd = "a: b";
		const template = await api("POST", "/v2/templates", { name: odd, roles: { [odd]: {} } });
		await page.goto(`${BASE}/console/templates/${template.id}/roles/${encodeURIComponent(odd)}`);
		await page.waitForSelector(".section");
		await page.fill(field("/priority"), "9");
		await page.keyboard.press("Control+s");
		await page.waitForSelector(fault("/priority"));
		ok("a role named with a colon", true);
		await api("POST", `/v2/templates/${template.id}/destinations`, {
			rtmpDestinations: { "<x>": { name: "<x>" }, "a: b": { name: "a: b" } },
		});
		await page.goto(`${BASE}/console/templates/${template.id}/destinations`);
		await page.waitForSelector(".section");
		const maps = await page.locator("details.entry").count();
		ok("named destinations are shown", maps === 2, maps);
		for (const name of ["<x>", "a: b"]) {
			await page.click(`details.entry:has-text("${name}") summary`);
			const width = `[data-pointer='/rtmpDestinations/${name}'] [data-kind=integer] input`;
			await page.locator(width).first().fill("x");
		}
		await page.keyboard.press("Control+s");
		await page.waitForSelector(".faults:not([hidden])");
		for (const name of ["<x>", "a: b"]) {
			const at = await page.locator(`[data-pointer='/rtmpDestinations/${name}'] .wrong`).count();
			ok(`a destination named ${name}`, at === 1, await page.textContent(".faults"));
		}
		await page.click(button("Discard"));
	});

/** Every field of the OpenAPI document has a control. */
export const whole_forms = (page) =>
	group("whole forms", async () => {
		const { template, room } = await make_room("Whole forms");
		const doc = await api("GET", "/v2/openapi.json");
		const follow = (one) => {
			const inner = (one.anyOf ?? []).find((part) => part.type !== "null") ?? one;
			if (!inner.$ref) return { ...inner, ...one };
			return inner.$ref
				.slice(2)
				.split("/")
				.reduce((at, step) => at[step], doc);
		};
		// Each map has an entry named x; each list of objects has one item.
		const inside = (one) => {
			if (one.properties) return [one, ""];
			if (follow(one.items ?? {}).properties) return [one.items, "/0"];
			if (follow(one.additionalProperties || {}).properties) return [one.additionalProperties, "/x"];
			return null;
		};
		const members = (schema, pointer = "") =>
			Object.entries(follow(schema).properties ?? {}).flatMap(([name, one]) => {
				const inner = { ...follow(one), ...(one.readOnly ? { readOnly: true } : {}) };
				// The key of an entry is its name.
				if (inner.readOnly || (name === "name" && pointer.endsWith("/x"))) return [];
				const at = `${pointer}/${name}`;
				const more = inside(inner);
				return [at, ...(more ? members(more[0], at + more[1]) : [])];
			});
		/** Returns a value with an entry in each map and an item in each list of objects. */
		const filled = (schema) =>
			Object.fromEntries(
				Object.entries(follow(schema).properties ?? {}).flatMap(([name, one]) => {
					const more = inside(follow(one));
					if (!more) return [];
					const value = filled(more[0]);
					return [[name, { "": value, "/0": [value], "/x": { x: value } }[more[1]]]];
				}),
			);
		/** Adds a field to each object of a form; each schema is visited once. */
		const grown = new Set();
		const grow = (schema) => {
			const { properties } = follow(schema);
			if (!properties || grown.has(properties)) return;
			grown.add(properties);
			for (const one of Object.values(properties)) {
				const more = inside(follow(one));
				if (more) grow(more[0]);
			}
			properties.newMember = { type: "integer", minimum: 1, maximum: 9, default: 2 };
		};
		const body = (path, method) =>
			doc.paths[path][method].requestBody.content["application/json"].schema;
		const at = "/v2/templates/{template_id}";
		for (const [name, schema, where] of [
			["role", body(`${at}/roles/{role_name}`, "post"), `templates/${template.id}/roles/host`],
			["settings", body(`${at}/settings`, "post"), `templates/${template.id}/settings`],
			["destinations", body(`${at}/destinations`, "post"), `templates/${template.id}/destinations`],
			["room", body("/v2/rooms/{room_id}", "patch"), `rooms/${room.id}`],
		]) {
			await page.goto(`${BASE}/console/${where}`);
			await page.waitForSelector(".form-root");
			ok(`the ${name}: nothing is changed by reading`, await page.locator(".save-bar").isHidden());
			grow(schema);
			await page.route("**/v2/openapi.json", (route) => route.fulfill({ json: doc }));
			const answered = (url) => url.pathname === `/v2/${where}`;
			await page.route(answered, async (route) => {
				const response = await route.fetch();
				await route.fulfill({
					response,
					json: { ...(await response.json()), ...filled(schema) },
				});
			});
			await page.reload();
			await page.waitForSelector(".form-root");
			const there = await page.evaluate(() =>
				[...document.querySelectorAll("[data-pointer]")].map((one) => one.dataset.pointer),
			);
			const wanted = members(schema);
			const missing = wanted.filter((pointer) => !there.includes(pointer));
			ok(`every member of the ${name} has a control`, missing.length === 0, missing);
			const fresh = wanted.filter((pointer) => pointer.endsWith("/newMember")).length;
			ok(`so has a new one in the ${name}`, fresh > 0, fresh);
			await page.unrouteAll();
		}
		// Saving a sample unchanged does not change a byte.
		const sample = (name) =>
			JSON.parse(readFileSync(new URL(`samples/${name}.json`, import.meta.url), "utf8"));
		const samples = [
			["roles/host", sample("role")],
			["settings", sample("settings")],
			["destinations", sample("destinations")],
			["roles/guest", sample("template-sparse").roles.guest],
		];
		const bytes = async (path) =>
			(await fetch(BASE + path, { headers: { Authorization: `Bearer ${TOKEN}` } })).text();
		await api("POST", `/v2/templates/${template.id}/roles/guest`, {});
		for (const [where, value] of samples) {
			const path = `/v2/templates/${template.id}/${where}`;
			await api("POST", path, value);
			const before = await bytes(path);
			await page.goto(`${BASE}/console/templates/${template.id}/${where}`);
			await page.waitForSelector(".form-root");
			ok(`${where}: no difference`, await page.locator(".save-bar").isHidden());
			const saved = page.waitForResponse((one) => one.request().method() === "POST");
			await page.evaluate(() => {
				document.querySelector(".save-bar").hidden = false;
				document.querySelector("form.editor").requestSubmit();
			});
			ok(`${where}: saved`, (await saved).status() === 200, await (await saved).text());
			ok(`${where}: the same bytes`, (await bytes(path)) === before, await bytes(path));
		}
	});

/** Each hint and each rule of the tables belongs to a field or a rule of the API. */
export const hints = (page) =>
	group("hints", async () => {
		await page.goto(`${BASE}/console/templates/new`);
		await page.waitForSelector(".cards");
		const said = await page.evaluate(async () => {
			const main = document.querySelector("script[type=module]").src;
			const load = (name) => import(new URL(name, main).href);
			const [hints, media] = await Promise.all([load("hints.js"), load("media.js")]);
			const doc = await (await fetch("/v2/openapi.json")).json();
			const known = new Set();
			const rules = new Set();
			/** Collects the keys that the tables can have for a part of a form. */
			const walk = (node, subjects, pointer) => {
				for (const subject of subjects) known.add(subject + pointer);
				for (const rule of node.rules) rules.add(rule);
				for (const [name, one] of node.fields) {
					// The other parts of a template have their own forms.
					const apart = subjects[0] === "template" && !["name", "default"].includes(name);
					if (!apart) walk(one, subjects, `${pointer}/${name}`);
				}
				if (node.item) walk(node.item, subjects, `${pointer}/*`);
			};
			for (const [path, methods] of Object.entries(doc.paths)) {
				for (const [method, { requestBody }] of Object.entries(methods)) {
					const call = `${method.toUpperCase()} ${path.replace(/\{[^}]*\}/g, "{}")}`;
					const [, subject] = hints.SUBJECTS.find(([which]) => which.test(call)) ?? [];
					const { schema } = requestBody?.content["application/json"] ?? {};
					if (!subject || !schema || /bulk|import/.test(call)) continue;
					const form = hints.form_for(doc, call);
					if (subject !== "backend") walk(form, [subject], "");
					else {
						for (const type of form.fields.find(([name]) => name === "type")[1].options) {
							walk(media.form_of_type(doc, call, type), ["backend", type], "");
						}
					}
				}
			}
			const unused = (table, used) => Object.keys(table).filter((one) => !used.has(one));
			return {
				fields: known.size,
				hints: unused(hints.HINTS, known),
				rules: Object.values(hints.RULES).filter((one) => !rules.has(one)),
			};
		});
		ok("forms have fields", said.fields > 100, said.fields);
		ok("each hint has its field", said.hints.length === 0, said.hints.join());
		ok("each rule is one of the API", said.rules.length === 0, said.rules.join("\n"));
	});

/** A room: opening times, codes with limits, links, QR codes, switches. */
export const rooms = (page) =>
	group("rooms and codes", async () => {
		const { template } = await make_room("Rooms and codes");
		await page.goto(`${BASE}/console/rooms/new`);
		await page.waitForSelector(field("/name"));
		await page.fill(field("/name"), "proof-of-rooms");
		await page.selectOption("[data-pointer='/template_id'] select", template.id);
		await page.click(button("Create room"));
		await page.waitForSelector(".codes .switch");
		ok("a code for each role", (await page.locator(".codes tbody tr").count()) === 4);
		const id = page.url().split("/").pop();
		const first = (await api("GET", `/v2/room-codes/room/${id}`)).data[0].code;
		await page.click(`[aria-label='Copy the link of ${first}']`);
		const link = await page.evaluate(() => navigator.clipboard.readText());
		ok(
			"the link is copied",
			/\/join\/[a-z]{3}-[a-z]{4}-[a-z]{3}$/.test(link) && link.startsWith(BASE),
			link,
		);
		const code = link.split("/").pop();
		await page.click(`[aria-label='Copy the code ${first}']`);
		const bare = await page.evaluate(() => navigator.clipboard.readText());
		ok("the code is copied", bare === code, bare);

		const off = page.locator("[aria-label^='Code'][aria-label$='(viewer)']");
		await off.click();
		await page.waitForSelector(".codes tr.dim");
		const list = await api("GET", `/v2/room-codes/room/${id}`);
		const viewer = list.data.find((one) => one.role === "viewer");
		ok("a code is switched off", viewer.enabled === false);
		await off.click();
		await page.waitForSelector(".codes tr.dim", { state: "detached" });

		await page.click(button("New code"));
		await page.waitForSelector(shown);
		await page.selectOption(`${shown} [data-pointer='/role'] select`, "speaker");
		await page.fill(`${shown} ${field("/label")}`, "For the panel");
		await page.fill(`${shown} ${field("/max_uses")}`, "0");
		await page.fill(`${shown} ${field("/expires_at")}`, "2020-01-01T10:00");
		await page.click(`${shown} ${button("Create code")}`);
		await page.waitForSelector(`${shown} ${fault("/max_uses")}`);
		await page.fill(`${shown} ${field("/max_uses")}`, "2");
		await page.click(`${shown} ${button("Create code")}`);
		await page.waitForSelector(`${shown} ${fault("/expires_at")}`);
		ok("faults of a new code stand at their fields", true);
		await page.fill(`${shown} ${field("/expires_at")}`, "2099-01-01T10:00");
		await page.click(`${shown} ${button("Create code")}`);
		await page.waitForSelector(`${shown} .qr-code`);
		await page.keyboard.press("Escape");
		const words = await page.textContent(".codes tr:has-text('For the panel')");
		ok("its life is shown", /Until .*2099/.test(words) && words.includes("0 of 2 uses"), words);
		const made = (await api("GET", `/v2/room-codes/room/${id}?label=For%20the%20panel`)).data[0];
		await page.click(`[aria-label='Actions for code ${made.code}']`);
		await page.click(":popover-open [role=menuitem]:has-text('Edit')");
		await page.waitForSelector(shown);
		await page.fill(`${shown} ${field("/max_uses")}`, "");
		await page.fill(`${shown} ${field("/name")}`, "Ann");
		await page.click(`${shown} ${button("Save")}`);
		await page.waitForSelector(shown, { state: "detached" });
		const now = await api("GET", `/v2/room-codes/code/${made.code}`);
		ok(
			"what is emptied is unset, and the rest kept",
			now.max_uses === undefined && now.name === "Ann" && now.expires_at === made.expires_at,
			JSON.stringify(now),
		);
		await page.click(`[aria-label='Actions for code ${made.code}']`);
		await page.click(":popover-open [role=menuitem]:has-text('Delete')");
		await page.click(`${shown} ${button("Delete code")}`);
		await page.waitForSelector(".codes tr:has-text('For the panel')", { state: "detached" });
		await page.click(`[aria-label='Actions for code ${code}']`);
		await page.click(":popover-open [role=menuitem]:has-text('Rotate')");
		await page.selectOption(`${shown} select`, "3600");
		await page.click(`${shown} ${button("Rotate codes")}`);
		await page.waitForSelector(`${shown} .qr-code`);
		await page.keyboard.press("Escape");
		ok(
			"rotated with a grace",
			(await api("GET", `/v2/room-codes/code/${code}`)).expires_at !== undefined,
		);

		await page.fill(field("/opens_at"), "2099-06-01T09:00");
		await page.fill(field("/closes_at"), "2098-06-01T09:00");
		await page.keyboard.press("Control+s");
		await page.waitForSelector(fault("/closes_at"));
		await page.fill(field("/closes_at"), "2099-06-01T11:00");
		await page.keyboard.press("Control+s");
		await page.waitForSelector(".badge:has-text('Not open yet')");
		ok("a room has hours", (await api("GET", `/v2/rooms/${id}`)).opens_at !== undefined);
		await page.fill(field("/opens_at"), "");
		await page.fill(field("/closes_at"), "");
		await page.keyboard.press("Control+s");
		await page.waitForSelector(".badge:has-text('Not open yet')", { state: "detached" });
		ok("its hours are unset", (await api("GET", `/v2/rooms/${id}`)).opens_at === undefined);

		const more = Array.from({ length: 96 }, () => ({
			method: "POST",
			path: `/v2/room-codes/room/${id}/role/host`,
			body: {},
		}));
		await api("POST", "/v2/bulk", { operations: more });
		for (let i = 0; i < 5; i += 1) {
			await page.click(button("New code"));
			await page.selectOption(`${shown} [data-pointer='/role'] select`, "host");
			await page.click(`${shown} ${button("Create code")}`);
			await page.waitForSelector(`${shown} :is(.qr-code, .faults:not([hidden]))`);
			if (await page.locator(`${shown} .faults`).count()) break;
			await page.keyboard.press("Escape");
		}
		const sentence = await page.textContent(`${shown} .faults`);
		ok("one code too many: the service's sentence", /enabled codes/.test(sentence), sentence);
		await page.keyboard.press("Escape");
		await page.click(".labelled-switch input");
		await page.waitForSelector("text=This room is disabled, so its codes");
		ok("a disabled room says so", (await api("GET", `/v2/rooms/${id}`)).enabled === false);
		await page.click(".labelled-switch input");
		await page.waitForSelector(".codes .switch");
	});

/** Ctrl K finds templates, rooms and codes. */
export const palette = (page) =>
	group("find", async () => {
		const { codes, room } = await make_room("Findable things");
		await page.goto(`${BASE}/console/templates`);
		await page.waitForSelector(".row-link");
		for (const [typed, kind] of [
			["Findable", "Template"],
			["findable t", "Template"],
			["findable-", "Room"],
			[codes.host, "Code"],
			[codes.host.replaceAll("-", "").toUpperCase(), "Code"],
		]) {
			await page.keyboard.press("Control+k");
			await page.waitForSelector("dialog.palette");
			await page.fill("dialog.palette input", typed);
			await page.waitForSelector(`[role=option]:has(.quiet:text-is("${kind}"))`);
			ok(`${kind} found by ${typed}`, true);
			if (kind === "Code") await page.keyboard.press("Enter");
			else await page.keyboard.press("Escape");
		}
		await page.waitForURL(new RegExp(`rooms/${room.id}`));
	});

/** The list: the search in the address, page after page. */
export const lists = (page, count) =>
	group("lists", async () => {
		const operations = Array.from({ length: count }, (_, i) => ({
			method: "POST",
			path: "/v2/rooms",
			body: { name: `many-${String(i).padStart(4, "0")}` },
		}));
		await api("POST", "/v2/templates", { name: "Many", default: true, roles: { host: {} } });
		for (let i = 0; i < count; i += 1000) {
			await api("POST", "/v2/bulk", { operations: operations.slice(i, i + 1000) });
		}
		await page.goto(`${BASE}/console/rooms`);
		await page.waitForSelector(".row-link");
		await page.keyboard.press("/");
		await page.keyboard.type("many-00");
		await page.waitForFunction(() => location.search === "?search=many-00");
		await page.waitForFunction(() =>
			[...document.querySelectorAll(".row-name")].every((one) =>
				one.textContent.startsWith("many-00"),
			),
		);
		ok("only what begins so", (await page.locator(".row-link").count()) > 0);
		await page.click(".row-link >> nth=0");
		await page.waitForURL(/rooms\/[0-9a-f]{24}/);
		await page.goBack();
		await page.waitForSelector(".row-link");
		ok("Back keeps the search", (await page.inputValue("input[type=search]")) === "many-00");
		await page.fill("input[type=search]", "many");
		await page.waitForFunction(() => location.search === "?search=many");
		await page.waitForFunction(
			() => {
				scrollTo(0, document.body.scrollHeight);
				const told = document.querySelector(".list-state").textContent;
				return told.includes("rooms") && !told.includes("First");
			},
			null,
			{ polling: 20, timeout: 60000 },
		);
		const names = await page.locator(".row-name").allTextContents();
		ok(
			"each once, to the last",
			names.length === count && new Set(names).size === count,
			names.length,
		);
	});

/** API keys, events, webhooks, media servers. */
export const keys_and_events = (page) =>
	group("keys, events, webhooks, media servers", async () => {
		await page.goto(`${BASE}/console/keys`);
		await page.click(`${button("New API key")} >> nth=0`);
		await page.click(`${shown} ${button("Create API key")}`);
		await page.waitForSelector(`${shown} ${fault("/name")}`);
		await page.fill(`${shown} ${field("/name")}`, "ci");
		await page.check(`${shown} input[value='rooms:read']`);
		await page.click(`${shown} ${button("Create API key")}`);
		await page.waitForSelector(".secret");
		const key = await page.textContent(".secret");
		const status = async (path) =>
			(await fetch(BASE + path, { headers: { Authorization: `Bearer ${key}` } })).status;
		const found = [await status("/v2/rooms"), await status("/v2/templates")].join();
		ok("a key has its scopes", found === "200,403", found);
		await page.click(button("I have saved it"));
		const limited = await page.context().browser().newPage();
		await limited.goto(`${BASE}/console/`);
		await limited.click(button("Token or API key"));
		await limited.fill("#token", key);
		await limited.click(button("Sign in"));
		await limited.waitForURL(`${BASE}/console/rooms`);
		const sections = await limited.locator(".sections a:visible").allTextContents();
		ok("a limited session sees what it may", sections.join() === "Rooms", sections);
		await limited.close();
		await page.click("[aria-label='Actions for API key ci']");
		await page.click(":popover-open [role=menuitem]:has-text('Delete')");
		await page.click(`${shown} ${button("Delete API key")}`);
		await page.waitForSelector("text=No API keys yet");
		ok("a deleted key opens nothing", (await status("/v2/rooms")) === 401);

		await page.goto(`${BASE}/console/events`);
		await page.waitForSelector(".event-type:has-text('key.deleted')");
		await make_room("Proof of events");
		await page.waitForSelector("tr:has-text('room.created'):has-text('Proof-of-events')");
		ok("events go on by themselves", true);
		await page.selectOption("#page select", "key.*");
		await page.waitForFunction(() =>
			[...document.querySelectorAll(".event-type")].every((one) => /key\./.test(one.textContent)),
		);
		ok("events by type", (await page.locator(".event-type").count()) === 2);

		await page.goto(`${BASE}/console/webhooks`);
		await page.click(`${button("New webhook")} >> nth=0`);
		await page.fill(`${shown} ${field("/url")}`, "ftp://example.org");
		await page.click(`${shown} ${button("Create webhook")}`);
		await page.waitForSelector(`${shown} ${fault("/url")}`);
		await page.fill(`${shown} ${field("/url")}`, "https://hooks.example.org/anteroom");
		await page.click(`${shown} ${button("Create webhook")}`);
		await page.waitForSelector(".secret");
		ok("a webhook's secret is shown", (await page.textContent(".secret")).startsWith("whsec_"));
		await page.click(button("I have saved it"));
		await page.waitForURL(/webhooks\/[0-9a-f]{24}/);
		await page.waitForSelector("#deliveries");
		await page.click("[aria-label='Webhook actions']");
		await page.click(":popover-open [role=menuitem]:has-text('Rotate secret')");
		await page.click(`${shown} ${button("Rotate secret")}`);
		await page.waitForSelector(".secret");
		ok("a new secret", (await page.textContent(".secret")).startsWith("whsec_"));
		await page.click(button("I have saved it"));
		await page.click("[aria-label='Webhook actions']");
		await page.click(":popover-open [role=menuitem]:has-text('Delete')");
		await page.click(`${shown} ${button("Delete webhook")}`);
		await page.waitForSelector("text=No webhooks yet");

		await page.goto(`${BASE}/console/media`);
		const livekit = {
			name: "unreachable",
			type: "livekit",
			url: "ws://192.168.0.1:1",
			config: { api_key: "k", api_secret: "s".repeat(32) },
		};
		const made = await api("POST", "/v2/backends", livekit);
		await page.goto(`${BASE}/console/media/${made.id}`);
		await page.waitForSelector(".notice:has-text('was not tested yet')");
		ok("an API URL for LiveKit", (await page.locator("[data-pointer='/api_url']").count()) === 1);
		await page.click(button("Test connection"));
		await page.waitForSelector(".notice.warn:has-text('Its address is private')");
		await page.goto(`${BASE}/console/media`);
		await page.waitForSelector("tr:has-text('unreachable') .badge:has-text('Down')");
		ok("the connection to a media server is tested", true);
		await page.click(button("New signing key"));
		await page.selectOption(`${shown} select`, "ES256");
		await page.click(`${shown} ${button("Create signing key")}`);
		await page.waitForSelector("tr:has-text('ES256') .badge.accent");
		ok("a signing key is active", true);

		const upload = {
			type: "s3",
			location: "lessons",
			prefix: "",
			options: { endpoint: "https://192.168.0.1:1" },
			credentials: { key: "k", secretKey: "s" },
		};
		const stored = await api("POST", "/v2/templates", { settings: { recording: { upload } } });
		await page.goto(`${BASE}/console/templates/${stored.id}/settings`);
		const endpoint = "[data-pointer='/recording/upload/options/endpoint'] input";
		await page.waitForSelector(endpoint);
		ok("an endpoint of the storage", (await page.inputValue(endpoint)) === upload.options.endpoint);
		await page.click(button("Test storage"));
		await page.waitForSelector(".notice.warn:has-text('address not allowed')");
		await api("PATCH", `/v2/templates/${stored.id}/settings`, { recording: null });
		await page.reload();
		await page.waitForSelector("[data-pointer='/recording']");
		ok("no test without a storage", !(await page.isVisible(button("Test storage"))));
	});

/** An account that is not an operator does not see the page of the service. */
export const no_operator = (page) =>
	group("no operator", async () => {
		const printed = program("account", "add", "guests");
		const of = (name) => new RegExp(`^${name}: *(.*)$`, "m").exec(printed)[1];
		await sign_in(page, "/console/rooms", of("access_key"), of("secret"));
		const sections = await page.locator(".sections a:visible").allTextContents();
		ok("no section for the service", sections.length > 3 && !sections.includes("Service"), sections);
		await page.goto(`${BASE}/console/service`);
		await page.waitForSelector(".frame .page h1");
		const nothing = (await page.locator(".chart, .tile").count()) === 0;
		ok("no page of the service", nothing, await page.textContent("#page"));
	});

/** The page of the service: it updates itself, and stops while it is not visible. */
export const service = (page) =>
	group("service", async () => {
		await page.clock.install();
		await page.goto(`${BASE}/console/service`);
		await page.waitForSelector(".notice.ok");
		await page.waitForFunction(
			() => document.querySelectorAll(".chart .stroke").length >= 3,
			null,
			{ timeout: 15000 },
		);
		ok("charts are drawn", true);
		const { version } = await api("GET", "/v2/session");
		const tiles = (await page.locator(".tile").allInnerTexts()).join("; ").replace(/\s+/g, " ");
		const facts = [`Version ${version};`, /Uptime .*min;/, /Size on disk [1-9]/, /Last backup Never;/];
		ok("facts about the service", facts.every((one) => tiles.match(one)), tiles);
		const minutes = Array.from({ length: 600 }, (_, i) => ({
			time: new Date(Math.floor(Date.now() / 60000 - 720 + i + (i < 300 ? 0 : 60)) * 60000).toISOString(),
			...{ reads: 60 * i, writes: 6, joins: 0, p50: 0.001, p99: 0.01 },
			...{ sync_p50: null, sync_p99: null, rejected: 0, failed: 0 },
		}));
		await page.route("**/v2/service/history*", (route) =>
			route.fulfill({ json: { interval: 60, samples: minutes } }),
		);
		await page.reload();
		await page.click("button:text-is('24 hours')");
		await page.waitForFunction(
			() => document.querySelector(".chart .stroke")?.getAttribute("d").split("M").length === 3,
		);
		ok("a day, with a gap where the service was stopped", page.url().endsWith("?range=day"), page.url());
		await page.click("button:text-is('1 hour')");
		await page.waitForFunction(
			() => document.querySelector(".chart .stroke")?.getAttribute("d").split("L").length < 70,
		);
		ok("an hour of it", true);
		await page.unrouteAll();
		const paths = await page.evaluate(async () => {
			const { chart } = await import(new URL("../lib/chart.js", document.scripts[0].src).href);
			const lines = [{ name: "one", filled: true }];
			const drawn = chart({ title: "Gaps", lines, format: String, points: 11 });
			for (const value of [null, 5, null, 2.5, 5, null]) drawn.add([value]);
			return [...drawn.element.querySelectorAll("path")].map((one) => one.getAttribute("d"));
		});
		const [dot, left, right] = ["360.0 8.0", "480.0 65.0", "540.0 8.0"];
		const floor = ["V122H360.0Z", "V122H480.0Z"];
		const wanted = [`M${dot}${floor[0]}M${left}L${right}${floor[1]}`, `M${dot}h0M${left}L${right}`];
		ok("a chart has gaps where nothing was measured", paths.join() === wanted.join(), paths.join());
		let asked = 0;
		page.on("request", (request) => {
			if (request.url().endsWith("/metrics")) asked += 1;
		});
		const start_again = await stop_service();
		await page.waitForSelector(".notice.warn:has-text('Retrying')");
		start_again();
		await page.waitForSelector(".notice.ok", { timeout: 15000 });
		ok("it recovers by itself", true);
		await page.evaluate(() => {
			Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
			document.dispatchEvent(new Event("visibilitychange"));
		});
		await page.waitForLoadState("networkidle");
		asked = 0;
		await page.clock.runFor(10000);
		ok("nothing is asked while nobody looks", asked === 0, asked);
	});

/** Signing in, creating a template and a room, copying a link: with the keyboard alone. */
export const keyboard = (page) =>
	group("keyboard alone", async () => {
		const press = async (...keys) => {
			for (const key of keys) await page.keyboard.press(key);
		};
		const focus = () =>
			page.evaluate(() => {
				const one = document.activeElement;
				const words = one.getAttribute("aria-label") ?? one.textContent.trim().slice(0, 30);
				return `${one.tagName} ${words} ${one.closest("[data-pointer]")?.dataset.pointer ?? ""}`;
			});
		const tab_to = async (wanted) => {
			for (let i = 0; i < 150; i += 1) {
				await press("Tab");
				if (wanted.test(await focus())) {
					const ring = await page.evaluate(() => document.activeElement.matches(":focus-visible"));
					ok(`the focus is visible: ${wanted}`, ring);
					return;
				}
			}
			throw new Error(`not reached: ${wanted}, but ${await focus()}`);
		};
		await page.goto(`${BASE}/console/`);
		await page.waitForSelector("#access_key");
		await page.waitForFunction(() => document.activeElement?.id === "access_key");
		await page.keyboard.type(ACCESS_KEY);
		await press("Tab");
		await page.keyboard.type(SECRET);
		await press("Enter");
		await page.waitForSelector(".frame .page");
		await press("c");
		await page.waitForSelector(".cards");
		await tab_to(/^INPUT.*\/name$/);
		await page.keyboard.type("By keyboard");
		await press("Enter");
		await page.waitForSelector(".role-card");
		await tab_to(/^A host/);
		await press("Enter");
		await page.waitForSelector(".section");
		await tab_to(/video\/bitRate$/);
		await press("Control+a");
		await page.keyboard.type("700");
		await press("ArrowUp", "Control+s");
		await page.waitForSelector(".save-bar", { state: "hidden" });
		const template = (await api("GET", "/v2/templates?name=By+keyboard")).data[0];
		ok("an arrow is a step", template.roles.host.publishParams.video.bitRate === 701);
		await press("Control+k");
		await page.waitForSelector("dialog.palette");
		await page.keyboard.type("New room");
		await page.waitForFunction(() => document.querySelectorAll("[role=option]").length === 1);
		await press("Enter");
		await page.waitForSelector(field("/name"));
		await tab_to(/^INPUT.*\/name$/);
		await page.keyboard.type("by-keyboard");
		await press("Enter");
		await page.waitForSelector(".codes .switch");
		await tab_to(/Copy the link of/);
		await press("Enter");
		await page.waitForFunction(async () => /\/join\//.test(await navigator.clipboard.readText()));
		ok("a link by keyboard", true);
		await tab_to(/QR code|Actions for code/);
		const opener = await focus();
		await press("Enter");
		await page.waitForSelector("dialog[open], :popover-open");
		await press("Escape");
		ok("Escape gives the focus back", (await focus()) === opener, await focus());
	});

/** The end of a session: signing out, a disabled account, a retired secret. */
export const signing_out = (page) =>
	group("signing out", async () => {
		await page.goto(`${BASE}/console/templates`);
		await page.waitForSelector(".frame .page");
		await page.click("[aria-label='Sign out']");
		await page.waitForSelector("#secret");
		ok("the cookie is gone", (await page.context().cookies()).length === 0);
		await sign_in(page);
		program("account", "disable", "test");
		await page.reload();
		await page.waitForSelector("#secret");
		ok("a disabled account leads to sign-in", true);
		program("account", "enable", "test");
		await page.context().clearCookies();
		await sign_in(page);
		program("account", "rotate", "test", "--finish");
		program("account", "rotate", "test");
		await page.reload();
		await page.waitForSelector(".frame .page");
		ok("a second secret ends no session", await page.locator("#secret").isHidden());
		program("account", "rotate", "test", "--finish");
		await page.reload();
		await page.waitForSelector("#secret");
		ok("a retired secret leads to sign-in", true);
		// From another address, which has had no failed request yet.
		const miss = () =>
			new Promise((resolve, reject) => {
				const options = {
					method: "POST",
					localAddress: "127.0.0.9",
					agent: false,
					headers: { "Anteroom-Console": "1" },
				};
				const request = http.request(`${BASE}/v2/session`, options, (response) => {
					response.resume();
					resolve(response.statusCode);
				});
				request.on("error", reject);
				request.end(JSON.stringify({ access_key: ACCESS_KEY, secret: "no" }));
			});
		const statuses = [];
		for (let i = 0; i < 21; i += 1) statuses.push(await miss());
		const right = statuses.lastIndexOf(401) === 19 && statuses.indexOf(429) === 20;
		ok("the 21st wrong secret in a minute is too many", right, statuses);
	});
