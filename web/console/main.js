// The console: the session, the frame around the pages, the keyboard shortcuts. A page is fetched when it
// is first opened, except for the two lists that people start with.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { Refusal, call, hooks } from "../lib/api.js";
import { changed, on_change, written } from "../lib/changes.js";
import { announcer, h, icon, put } from "../lib/dom.js";
import { Missing, abandon, go, route, show, start, unsaved } from "../lib/router.js";
import { browser_storage, tab_storage } from "../lib/storage.js";
import { dialog, empty, menu, sentence, toast, toast_place } from "../lib/ui.js";
import { forget_visits, note_visit, open_palette } from "./palette.js";
import { rooms_page } from "./rooms.js";
import { forget_session, known_session, may, renew_session, session } from "./session.js";
import { templates_page } from "./templates.js";

/** @typedef {import("../lib/router.js").Maker} Maker */
/** @typedef {{ name: string, symbol: string, words: string, key: string, scope: string }} Section */

/** @type {Section[]} */
const SECTIONS = [
	{ name: "overview", symbol: "home", words: "Overview", key: "o", scope: "all lists" },
	{ name: "templates", symbol: "template", words: "Templates", key: "t", scope: "templates:read" },
	{ name: "rooms", symbol: "room", words: "Rooms", key: "r", scope: "rooms:read" },
	{ name: "events", symbol: "events", words: "Events", key: "e", scope: "events:read" },
	{ name: "sessions", symbol: "people", words: "Sessions", key: "n", scope: "sessions:read" },
	{ name: "recordings", symbol: "record", words: "Recordings", key: "d", scope: "recordings:read" },
	{ name: "bans", symbol: "ban", words: "Bans", key: "b", scope: "bans:read" },
	{ name: "webhooks", symbol: "webhook", words: "Webhooks", key: "w", scope: "webhooks:write" },
	{ name: "keys", symbol: "key", words: "API keys", key: "k", scope: "keys:write" },
	{ name: "media", symbol: "media", words: "Media servers", key: "m", scope: "backends:write" },
	{ name: "service", symbol: "service", words: "Service", key: "s", scope: "operator" },
];
// The number of sections in the bar of a phone; the rest are in a menu.
const IN_BAR = 4;
const HINT = "signed-in";
const FORBIDDEN = 403;

/** @param {Section} section */
function allowed({ scope }) {
	if (scope === "operator") return known_session()?.operator === true;
	return scope === "all lists" ? may("templates:read") && may("rooms:read") : may(scope);
}

/** @param {Section} section */
const section_link = (section) =>
	h(
		"a",
		{ href: `/console/${section.name}`, "data-section": section.name },
		icon(section.symbol),
		h("span", null, section.words),
	);

function frame() {
	const rest = SECTIONS.slice(IN_BAR);
	const more = h("div.more-sections");
	put(
		document.body,
		h("a.skip", { href: "#page" }, "Skip to content"),
		h(
			"div.frame",
			null,
			h(
				"header.side",
				null,
				h(
					"a.mark",
					{ href: "/console/" },
					h("span.door", { "aria-hidden": "true" }),
					h("span", null, "Anteroom"),
				),
				h(
					"button.find",
					{ type: "button", "aria-keyshortcuts": "Control+K", onclick: find },
					icon("search"),
					h("span", null, "Search"),
					h("kbd", { "aria-hidden": "true" }, "Ctrl K"),
				),
				h("nav.sections", { "aria-label": "Main navigation" }, SECTIONS.map(section_link)),
				h(
					"div.account",
					null,
					h("div.who", { id: "account" }),
					h(
						"button.plain.square",
						{ type: "button", "aria-label": "Sign out", title: "Sign out", onclick: sign_out },
						icon("out"),
					),
				),
			),
			h("main", { id: "page", tabindex: "-1" }),
		),
		h(
			"nav.tabs",
			{ "aria-label": "Quick navigation" },
			SECTIONS.slice(0, IN_BAR).map(section_link),
			more,
		),
		toast_place(),
		announcer(),
	);
	session().then(() => {
		fill_account();
		const entries = rest.filter(allowed).map(({ name, symbol, words }) => ({
			symbol,
			words,
			action: () => go(`/console/${name}`),
		}));
		const face = [icon("more"), h("span", null, "More")];
		if (entries.length > 0) put(more, menu("More sections", entries, { face, class: "tab" }));
		mark_section();
	}, ignore);
}

function ignore() {}

/** Shows the account and its sections, both known once the service has responded. */
function fill_account() {
	const known = known_session();
	const place = document.getElementById("account");
	if (!known || !place) return;
	put(
		place,
		h("strong", null, known.account.name),
		h("span.mono.small-text", { title: "Account ID" }, known.account.id),
	);
	for (const section of SECTIONS) {
		for (const link of document.querySelectorAll(`[data-section="${section.name}"]`)) {
			/** @type {HTMLElement} */ (link).hidden = !allowed(section);
		}
	}
}

function mark_section() {
	const here = location.pathname.split("/")[2];
	for (const link of document.querySelectorAll("[data-section]")) {
		if (link.getAttribute("data-section") === here) link.setAttribute("aria-current", "page");
		else link.removeAttribute("aria-current");
	}
	// On a narrow screen some sections are in a menu.
	const behind = SECTIONS.slice(IN_BAR).some(({ name }) => name === here);
	const button = document.querySelector(".tabs .tab");
	if (behind) button?.setAttribute("aria-current", "true");
	else button?.removeAttribute("aria-current");
}

async function sign_out() {
	try {
		await call("DELETE", "/v2/session");
	} catch (error) {
		// A session that has already ended is signed out too.
		if (!(error instanceof Refusal && error.status === 401)) {
			toast(sentence(error), "bad");
			return;
		}
	}
	changed("session");
	leave("/console/sign-in");
}

/** Leaves the page without asking: after the session no change can be saved. @param {string} to */
function leave(to) {
	browser_storage.remove(HINT);
	forget_session();
	forget_visits();
	abandon();
	location.replace(to);
}

const here = () => encodeURIComponent(location.pathname + location.search);

const find = () =>
	open_palette(
		SECTIONS.filter(allowed).map(({ name, symbol, words }) => [symbol, words, `/console/${name}`]),
	);

/** @type {Promise<boolean> | null} */
let asking = null;
/** True if the user has closed the dialog: only a write asks again. */
let declined = false;

/**
 * Asks to sign in again when the session has ended, over the page, and returns true if the request is to be
 * sent again.
 * @param {string} method @param {string} path
 */
async function sign_in_again(method, path) {
	const before = known_session();
	// Signing in and out handles its errors itself.
	if (path === "/v2/session" && method !== "GET") return false;
	if (!document.querySelector(".frame") || (declined && method === "GET")) return false;
	if (!before) {
		leave(`/console/sign-in?then=${here()}`);
		return await new Promise(ignore);
	}
	asking ??= ask(before).finally(() => {
		asking = null;
	});
	return await asking;
}

/** @param {import("./session.js").Session} before */
async function ask(before) {
	const { sign_in_dialog } = await import("./sign_in.js");
	const elsewhere = new AbortController();
	on_change(({ kind, id }) => {
		if (kind === "session" && id === before.account.id) elsewhere.abort();
	}, elsewhere.signal);
	const signed_in = await sign_in_dialog(before.account.name, elsewhere.signal);
	elsewhere.abort();
	declined = !signed_in;
	if (!signed_in) return false;
	const { account } = await renew_session();
	changed("session", account.id);
	if (account.id !== before.account.id) return await begin_anew();
	fill_account();
	return true;
}

/** Leaves everything of the account that was signed in before. @returns {Promise<never>} */
function begin_anew() {
	forget_visits();
	abandon();
	location.replace("/console/");
	return new Promise(ignore);
}

/** Kinds of objects that a page shows, by section; the ID of the page must be that of the object if it has
 * one. The lists of templates, rooms, sessions, recordings and bans follow changes themselves. @type {Record<string, string[]>} */
const SHOWN = {
	overview: ["templates", "rooms", "webhooks"],
	templates: ["templates"],
	rooms: ["rooms", "codes"],
	sessions: ["sessions"],
	recordings: ["recordings", "recording-assets"],
	webhooks: ["webhooks"],
	keys: ["keys"],
	media: ["backends", "signing-keys"],
};

/** Follows another tab that has signed in or, if the ID is "", out. @param {string} id @param {string} own */
function follow_session(id, own) {
	if (id !== "" && id !== own) begin_anew();
	else if (id === "" && !unsaved()) leave(`/console/sign-in?then=${here()}`);
}

/** @param {import("../lib/changes.js").Change} change */
function concerns({ kind, id }) {
	const [, , section = "", own = ""] = location.pathname.split("/");
	const list = ["templates", "rooms", "sessions", "recordings"].includes(section) && own === "";
	if (list || own === "new") return false;
	return (SHOWN[section] ?? []).includes(kind) && (own === "" || id === "" || own === id);
}

/** Shows a page again when another tab has changed its objects, unless the user is typing or a dialog is
 * open. */
function follow_changes() {
	let stale = "";
	const look = () => {
		if (stale !== location.pathname || document.visibilityState !== "visible") return;
		if (unsaved() || document.querySelector("dialog[open], :popover-open:not(#toasts)")) return;
		if (
			document.activeElement?.matches("#page :is(input[type=text], input[type=search], textarea)")
		)
			return;
		stale = "";
		show();
	};
	on_change((change, own) => {
		const known = known_session();
		if (own || !known) return;
		if (change.kind === "session") follow_session(change.id, known.account.id);
		if (!concerns(change)) return;
		stale = location.pathname;
		look();
	});
	document.addEventListener("visibilitychange", look);
	for (const event of ["close", "toggle", "focusout"])
		document.addEventListener(event, () => setTimeout(look), true);
}

function show_keys() {
	/** @type {[string, string][]} */
	const rows = [
		["Ctrl K", "Search templates, rooms, codes and pages"],
		["/", "Search this list"],
		["j  k", "Next or previous row"],
		["c", "Create a new item"],
		["Ctrl S", "Save changes"],
		...SECTIONS.filter(allowed).map(
			({ key, words }) => /** @type {[string, string]} */ ([`g ${key}`, `Go to ${words}`]),
		),
		["?", "Show this list"],
	];
	const list = rows.map(([key, words]) =>
		h("div", null, h("dt", null, h("kbd", null, key)), h("dd", null, words)),
	);
	dialog("Keyboard shortcuts", [h("dl.key-list", null, list)]);
}

/** @param {EventTarget | null} target */
const is_field = (target) =>
	target instanceof HTMLElement && target.matches("input, textarea, select, [contenteditable]");

function listen_to_keys() {
	let went = 0;
	document.addEventListener("keydown", (event) => {
		if (!document.querySelector(".frame")) return;
		if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
			event.preventDefault();
			find();
			return;
		}
		const modified = event.ctrlKey || event.metaKey || event.altKey;
		if (modified || is_field(event.target) || document.querySelector("dialog[open]")) return;
		const chosen = SECTIONS.find((section) => section.key === event.key && allowed(section));
		if (event.timeStamp - went < 1200 && chosen) {
			went = 0;
			go(`/console/${chosen.name}`);
		} else if (event.key === "g") went = event.timeStamp;
		else if (event.key === "?") show_keys();
		else {
			/** @type {Record<string, string>} */
			const targets = { "/": "input[type=search]", c: "[data-create]" };
			const wanted = targets[event.key];
			const found = wanted && document.querySelector(`#page ${wanted}`);
			if (!(found instanceof HTMLElement)) return;
			event.preventDefault();
			if (event.key === "c") found.click();
			else found.focus();
		}
	});
}

/** Returns what a page says about an error: its title and a sentence. @param {unknown} error */
function told(error) {
	const status = error instanceof Refusal ? error.status : error instanceof Missing ? 404 : 0;
	switch (status) {
		case 401:
			return ["Your session has ended", "Sign in again to continue."];
		case FORBIDDEN: {
			const needs = /** @type {Refusal} */ (error).details[0]?.replace(/^needs /, "") ?? "";
			const words = `This page needs the scope ${needs}.`;
			return ["Your session may not see this", needs ? words : sentence(error)];
		}
		case 404:
			return error instanceof Missing
				? ["Not found", "There is no page at this address."]
				: ["Not found", "It may have been deleted, or it belongs to another account."];
		default:
			return ["Something went wrong", sentence(error)];
	}
}

/** Returns the page for an error. @param {unknown} error @returns {import("../lib/router.js").Page} */
function failed(error) {
	const [title = "", text = ""] = told(error);
	const button = (
		/** @type {string} */ symbol,
		/** @type {string} */ words,
		/** @type {() => any} */ onclick,
	) => h("button", { type: "button", onclick }, icon(symbol), words);
	const status = error instanceof Refusal ? error.status : 0;
	const again =
		status === 401
			? button("out", "Sign in", () => leave(`/console/sign-in?then=${here()}`))
			: ![404, FORBIDDEN].includes(status) &&
				!(error instanceof Missing) &&
				button("refresh", "Try again", () => show());
	const home = h("a.button", { href: "/console/" }, "Go to the start page");
	return {
		title,
		element: h(
			"div.page",
			null,
			empty("warning", title, text, h("div.row-of-buttons", null, again, home), "h1"),
		),
	};
}

/**
 * Returns the maker of a page that is fetched when it is first opened. After an upgrade of the server its
 * file no longer exists; the browser then reloads the console, once.
 * @param {() => Promise<Maker>} fetched @returns {Maker}
 */
const later =
	(fetched) =>
	async (...parameters) => {
		/** @type {Maker} */
		let maker;
		try {
			maker = await fetched();
		} catch (error) {
			const last = Number(tab_storage.get("reloaded") ?? 0);
			if (Date.now() - last < 60000)
				throw new Error(
					"Part of the console could not be loaded. Check your connection, then reload the page.",
					{ cause: error },
				);
			tab_storage.set("reloaded", String(Date.now()));
			location.reload();
			await new Promise(ignore);
			throw error;
		}
		return maker(...parameters);
	};

function add_routes() {
	const template = later(async () => (await import("./template.js")).template_page);
	route("/console", async () => {
		const to = await home();
		queueMicrotask(() => go(to, { replace: true }));
		return { title: "Console", element: h("div") };
	});
	route(
		"/console/sign-in",
		later(async () => (await import("./sign_in.js")).sign_in_page(signed_in)),
	);
	route(
		"/console/overview",
		later(async () => (await import("./overview.js")).overview_page),
	);
	route("/console/templates", templates_page);
	route(
		"/console/templates/new",
		later(async () => (await import("./new.js")).new_template_page),
	);
	route("/console/templates/:id", template);
	route("/console/templates/:id/:part", template);
	route(
		"/console/templates/:id/roles/:role",
		later(async () => (await import("./role.js")).role_page),
	);
	route("/console/rooms", rooms_page);
	route(
		"/console/rooms/new",
		later(async () => (await import("./new.js")).new_room_page),
	);
	route(
		"/console/rooms/:id",
		later(async () => (await import("./room.js")).room_page),
	);
	route(
		"/console/events",
		later(async () => (await import("./events.js")).events_page),
	);
	route(
		"/console/sessions",
		later(async () => (await import("./sessions.js")).sessions_page),
	);
	route(
		"/console/sessions/:id",
		later(async () => (await import("./attendance.js")).session_page),
	);
	route(
		"/console/recordings",
		later(async () => (await import("./recordings.js")).recordings_page),
	);
	route(
		"/console/recordings/:id",
		later(async () => (await import("./recordings.js")).recording_page),
	);
	route(
		"/console/bans",
		later(async () => (await import("./bans.js")).bans_page),
	);
	route(
		"/console/webhooks",
		later(async () => (await import("./webhooks.js")).webhooks_page),
	);
	route(
		"/console/webhooks/:id",
		later(async () => (await import("./webhook.js")).webhook_page),
	);
	route(
		"/console/keys",
		later(async () => (await import("./keys.js")).keys_page),
	);
	route(
		"/console/media",
		later(async () => (await import("./media.js")).media_page),
	);
	route(
		"/console/media/:id",
		later(async () => (await import("./media.js")).backend_page),
	);
	route(
		"/console/service",
		later(async () => (await import("./service.js")).service_page),
	);
}

/** Returns the path of the first page that the session may see. */
async function home() {
	await session();
	return `/console/${SECTIONS.find(allowed)?.name ?? "templates"}`;
}

/** Opens the page that the user wanted before signing in. */
async function signed_in() {
	const { account } = await session();
	browser_storage.set(HINT, "1");
	changed("session", account.id);
	const wanted = new URLSearchParams(location.search).get("then") ?? "";
	frame();
	await go(/^\/console\/./.test(wanted) ? wanted : await home(), { replace: true });
}

async function begin() {
	add_routes();
	const at_door = location.pathname === "/console/sign-in";
	// A user who was signed in recently probably still is, so frame and page do not wait for the response.
	const hint = browser_storage.get(HINT) === "1" && !at_door;
	const known = session().then(
		() => true,
		(error) => {
			if (error instanceof Refusal && error.status === 401) return false;
			throw error;
		},
	);
	if (hint) {
		frame();
		known.catch(ignore);
	} else if (await known.catch(() => false)) {
		browser_storage.set(HINT, "1");
		frame();
	} else {
		forget_session();
		if (!at_door) history.replaceState(null, "", `/console/sign-in?then=${here()}`);
		put(document.body, h("main", { id: "page" }), toast_place(), announcer());
	}
	hooks.ended = sign_in_again;
	hooks.written = written;
	follow_changes();
	listen_to_keys();
	await start(failed, (path, title, there) => {
		mark_section();
		note_visit(path, title, there);
	});
	performance.mark("ready");
}

begin();
