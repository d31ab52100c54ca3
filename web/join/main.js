// The join page: shows the room, asks for a name, previews camera and microphone, then becomes the call, or opens
// the client. It asks only for devices that the role publishes with, and guests can join without them.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { Refusal, call, segment } from "../lib/api.js";
import { announce, announcer, h, icon, put } from "../lib/dom.js";
import { face } from "../lib/face.js";
import { browser_storage, tab_storage } from "../lib/storage.js";
import { code_of, wrong_character } from "./code.js";
import { devices } from "./devices.js";
import { browser_id, claim, forget, has_consented, keep, keep_consent, kept, kept_waiter, rejoins_of, wait_to_rejoin } from "./kept.js";
import { moment, words_of_page } from "./words.js";

/**
 * @typedef {object} Described
 * @property {string} code
 * @property {{ name: string, description: string, title?: string }} room
 * @property {{ name: string, title?: string, publishParams: any }} role
 * @property {string | null} client_url
 * @property {"livekit" | "none"} [call] "livekit" if the call is shown here, "none" if nothing shows one
 * @property {"ask"} [admission] if somebody inside has to let people in
 * @property {string} [expires_at]
 * @property {string} [closes_at]
 * @property {string} [name] of the person the code is for
 * @property {string[]} [embed] the origins whose pages may show this one
 * @property {import("./inside.js").Inside} [inside] who is there already, if the person is told before the join
 * @property {import("./inside.js").State} [room_state] with `inside`
 * @property {"running" | "automatic"} [recording] if the call is recorded, or will be
 * @property {"running" | "automatic"} [streaming]
 * @property {"asked" | "required"} [consent] if people are asked whether they agree to that; "required": nobody joins without
 * @property {true} [recordings] if the code lists what was recorded in the room
 * @property {string | null} [etag] of this description
 */

const words = await words_of_page();
const frame = parent === self ? null : await import("./frame.js");
const place = h("main", { id: "page" });
// What keeps people out of a room, and not from its recordings.
const OUTLIVED = ["Room is closed", "Room is not open yet", "Room is full", "Role is full", "Room is locked"];
// Seconds; limits the requests if the device's clock is wrong.
const SHORTEST_WAIT = 5;
const DAY = 86400000;
// Milliseconds until the code of the call is loaded, at the latest.
const IDLE = 1500;
// What the service says to somebody who has to agree to be recorded.
const CONSENT_NEEDED = "Consent to recording is needed";
// People whose faces are shown, and who are named, if not more are inside.
const NAMES = 3;
// Seconds until a page that was loaded again asks about its ticket: the devices are started meanwhile.
const SOON = 1;

/** @param {string} title */
function entitle(title) {
	document.title = `${title} – Anteroom`;
}

const has_library = () => Boolean(document.querySelector("meta[name=livekit-client]")?.getAttribute("content"));
/** Loads the code of the call. */
const load_call = () => import("../call/main.js");
/** Loads what follows who is inside. */
const load_inside = () => import("./inside.js");
/** Shows below the page what was recorded in the room, if the code lists it. @param {string} code */
async function show_recordings(code) {
	const page = place.firstElementChild;
	const { recordings_of } = await import("./recordings.js");
	const list = await recordings_of(code, words);
	if (list && page?.isConnected) page.append(list);
}
/** Loads the code of the door. */
const load_door = () => import("./door.js");

/** Creates a box in the middle of the page. @param {import("../lib/dom.js").Child[]} content */
const box = (...content) => h("div.join-box.small-box", null, content);

const LETTERS = /^([a-z]{3})([a-z]{4})([a-z]{3})$/;
const GROUPS = /^[a-z]{3}-[a-z]{4}-[a-z]{3}$/;

/** Decodes the code in the address; an invalid escape is left as it is. @param {string} segment */
function text_of_address(segment) {
	try {
		return decodeURIComponent(segment);
	} catch {
		return segment;
	}
}

/** Says what is wrong with a code that no room has. @param {string} typed */
function no_room(typed) {
	const wrong = wrong_character(typed);
	if (!wrong) return words.no_room;
	return (wrong.is_digit ? words.code_digit : words.code_character)(wrong.character);
}

/** Shows the form for a code. @param {string} [fault] @param {string} [value] */
function ask(fault = "", value = "") {
	entitle(words.join);
	const input = h("input.code-input.mono", {
		id: "code",
		type: "text",
		placeholder: words.code_example,
		autocomplete: "off",
		autocapitalize: "none",
		spellcheck: "false",
		value,
		"aria-describedby": "code-hint code-fault",
	});
	const message = h("p.fault", { id: "code-fault", role: "alert" });
	const tell = (/** @type {string} */ text) => {
		put(message, text && icon("warning"), text);
		message.hidden = text === "";
	};
	// Hyphens are inserted at the tenth letter, and removed if a longer custom code follows.
	let hyphened = false;
	input.addEventListener("input", () => {
		tell("");
		const typed = input.value.toLowerCase();
		if (input.selectionStart !== typed.length) return;
		if (LETTERS.test(typed)) {
			hyphened = true;
			input.value = typed.replace(LETTERS, "$1-$2-$3");
		} else if (hyphened && typed.replaceAll("-", "").length > 10) {
			hyphened = false;
			input.value = typed.replaceAll("-", "");
		}
	});
	const form = h(
		"form.join-box.small-box",
		{ novalidate: true },
		h("h1", { tabindex: "-1" }, words.join_a_room),
		h(
			"div.field",
			null,
			h("label.label", { for: "code" }, words.code),
			input,
			h("p.hint", { id: "code-hint" }, words.code_hint),
			message,
		),
		h("button.primary.full.big", { type: "submit" }, words.go_on),
	);
	form.addEventListener("submit", (event) => {
		event.preventDefault();
		// Inserted hyphens are not sent: ten letters can also be a custom code.
		const is_typed = !hyphened || !GROUPS.test(input.value);
		const code = code_of(is_typed ? input.value : input.value.replaceAll("-", ""));
		if (code === null) {
			tell(input.value.trim() === "" ? words.code_missing : no_room(input.value));
			input.focus();
			return;
		}
		history.pushState(null, "", `/join/${segment(code)}`);
		describe(code);
	});
	tell(fault);
	put(place, form);
	input.focus();
}

/** @param {string} code */
async function describe(code) {
	put(
		place,
		h("div.join-box.small-box", { "aria-busy": "true" }, h("p.quiet", null, words.moment)),
	);
	try {
		const { data, etag } = await call("GET", `/v2/join/${segment(code)}`);
		// Before anybody is asked for a camera.
		if (data.call === "none") not_set_up(words.no_server, words.not_set_up_server);
		else if (data.call && !has_library()) not_set_up(words.not_set_up, words.not_set_up_library);
		else enter({ ...data, etag });
	} catch (error) {
		refused(error, code);
	}
}

/** Shows why the guest cannot join, and what helps. @param {unknown} error @param {string} code */
function refused(error, code) {
	const again = () => describe(code);
	if (!(error instanceof Refusal)) throw error;
	if (error.status === 404) return ask(no_room(code), code);
	if (error.status === 429) return wait(error.retry_after || 60, again);
	if (error.status !== 403) {
		return stop(words.trouble, error.status === 0 ? words.unreachable : `${error.message}.`, again);
	}
	const time = (/** @type {string} */ name) => {
		const iso = error.detail(name);
		return iso && moment(iso);
	};
	// The lesson that was recorded in a room can be watched while nobody can join it.
	if (OUTLIVED.includes(error.message)) setTimeout(() => show_recordings(code).catch(() => {}));
	switch (error.message) {
		case "Room code has expired":
			return stop(words.expired_title, words.expired(time("expires_at")));
		case "Room code was used up":
			return stop(words.used_up_title, words.used_up);
		case "Room code is for another user":
			return stop(words.other_user_title, words.other_user);
		case "Room code is not valid yet":
			return wait_until(error.detail("not_before") ?? "", words.not_yet, again);
		case "Room is not open yet":
			return wait_until(error.detail("opens_at") ?? "", words.not_open, again);
		case "Room is closed":
			return stop(words.closed_title, words.closed(time("closes_at")));
		case "Banned from this room":
			return stop(words.banned_title, words.banned);
		case "Not admitted":
			return stop(words.denied_title, words.denied(error.detail("reason") ?? ""));
		case "Removed from this room":
			return stop(words.removed_title, words.removed(error.detail("reason") ?? ""));
		case "Room is full":
		case "Role is full":
			return stop(words.full_title, words.full, again);
		case "Room is locked":
			return stop(words.locked_title, words.locked, again);
		case "Role admits nobody":
			return stop(words.nobody_title, words.nobody);
		case CONSENT_NEEDED:
			return again();
		case "Room is disabled":
		case "room is disabled":
			return stop(words.off_title, words.room_off, again);
		default:
			return stop(words.off_title, words.off, again);
	}
}

/** @param {string} title @param {string} text @param {() => void} [again] */
function stop(title, text, again) {
	entitle(title);
	const retry =
		again &&
		h("button.primary", { type: "button", onclick: again }, icon("refresh"), words.try_again);
	const buttons = h(
		"div.row-of-buttons",
		null,
		retry,
		h("a.button", { href: "/join" }, words.another_code),
	);
	show_empty("warning", title, [h("p", null, text), buttons]);
}

/** @param {string} text @param {string} help for administrators */
function not_set_up(text, help) {
	entitle(words.not_set_up_title);
	show_empty("warning", words.not_set_up_title, [
		h("p", null, text),
		h("p.small-text", null, help),
	]);
}

/** @param {string} symbol @param {string} title @param {Node[]} content */
function show_empty(symbol, title, content) {
	const heading = h("h1", { tabindex: "-1" }, title);
	put(place, box(h("div.empty", null, icon(symbol), heading, content)));
	heading.focus();
}

/** @param {number} seconds @param {() => void} again */
function wait(seconds, again) {
	entitle(words.many_title);
	const text = h("p", null, words.many(seconds));
	show_empty("clock", words.many_title, [text]);
	const timer = setInterval(() => {
		seconds -= 1;
		put(text, words.many(seconds));
		if (seconds > 0) return;
		clearInterval(timer);
		again();
	}, 1000);
}

/** Waits until a time, then continues. @param {string} iso @param {(time: string) => string} says @param {() => void} again */
function wait_until(iso, says, again) {
	if (!iso) return again();
	entitle(words.early_title);
	const rest = h("p.countdown", { role: "timer", "aria-live": "off" });
	show_empty("clock", words.early_title, [
		h("p", null, says(moment(iso))),
		rest,
		h("p.quiet", null, words.waits),
	]);
	const end = Math.max(Date.parse(iso), Date.now() + SHORTEST_WAIT * 1000);
	const tick = () => {
		const left = Math.ceil((end - Date.now()) / 1000);
		if (left > 0) {
			put(
				rest,
				left < 86400 && new Date(left * 1000).toISOString().slice(left < 3600 ? 14 : 11, 19),
			);
			return;
		}
		clearInterval(timer);
		again();
	};
	const timer = setInterval(tick, 1000);
	tick();
}

/**
 * Shows who is inside, and follows it, unless that is not told. Returns what it is shown in.
 * @param {Described} what @param {AbortSignal} signal ends it
 */
function show_inside({ code, call, inside, room_state: state, etag = null }, signal) {
	if (!inside || !state) return null;
	const line = h("p.quiet.join-inside");
	/** @param {import("./inside.js").Inside} now */
	function tell({ peer_count, peers = [] }) {
		const all = peers.slice(0, NAMES).map((one) => one.name);
		const faces = all.includes("") ? [] : all;
		const names = faces.slice(0, peer_count > NAMES ? NAMES - 1 : NAMES);
		const pictures = faces.length > 0 ? h("span.faces", null, faces.map(face)) : icon("people");
		put(line, pictures, h("span", null, words.inside(names, peer_count)));
		// Elsewhere people may be where nobody tells of them.
		line.hidden = peer_count === 0 && call !== "livekit";
	}
	tell(inside);
	load_inside()
		.then(({ watch_inside }) => watch_inside({ code, etag, state, is_shown: () => line.isConnected, tell }, signal))
		.catch(() => {});
	return line;
}

/**
 * Asks whether somebody agrees to be recorded. An answer is kept for the next time that this tab opens the page.
 * @param {string} code @param {boolean} is_required whether nobody joins without
 */
function consent_box(code, is_required) {
	const { text, version, missing, ...hints } = words.consent;
	const input = h("input", {
		type: "checkbox",
		id: "consent",
		checked: has_consented(code, version),
		"aria-required": is_required ? "true" : null,
		"aria-describedby": "consent-hint consent-fault",
	});
	const fault = h("p.fault", { id: "consent-fault", role: "alert", hidden: true });
	input.addEventListener("change", () => {
		keep_consent(code, version, input.checked);
		fault.hidden = true;
		input.removeAttribute("aria-invalid");
	});
	return {
		element: h("div.consent", null, input, h("label", { for: "consent" }, text), h("p.hint", { id: "consent-hint" }, is_required ? hints.required : hints.asked), fault),
		/** What is sent with the join. */
		answer: () => keep_consent(code, version, input.checked),
		lacks: () => is_required && !input.checked,
		/** Says that nobody joins without. */
		complain() {
			put(fault, icon("warning"), missing);
			fault.hidden = false;
			input.setAttribute("aria-invalid", "true");
			input.focus();
		},
	};
}

/**
 * Shows the form to join a room: name and devices.
 * @param {Described} what @param {import("./kept.js").Waiter | null} [waiter] who waited in this tab before a reload
 */
function enter(what, waiter = null) {
	if (frame?.refuses(what.embed, words, show_empty)) return;
	const { room, role } = what;
	const room_name = room.title ?? room.name;
	const role_name = role.title ?? role.name;
	entitle(room_name);
	const kinds = ["audio", "video", "screen"].filter((kind) =>
		role.publishParams.allowed.includes(kind),
	);
	const parts = devices(role.publishParams, words);
	const given = new URLSearchParams(location.search).get("name");
	const name = h("input", {
		id: "name",
		type: "text",
		autocomplete: "name",
		maxlength: "64",
		value: waiter?.name ?? given ?? browser_storage.get("name") ?? "",
		placeholder: words.name_example,
		"aria-describedby": "name-fault",
	});
	const fault = h("p.fault", { id: "name-fault", role: "alert", hidden: true });
	name.addEventListener("input", () => {
		fault.hidden = true;
		name.removeAttribute("aria-invalid");
	});
	const trouble = h("p.fault", { role: "alert", hidden: true });
	const button = h("button.primary.full.big", { type: "submit" });
	const foot = h("p.hint.foot");
	function draw_admission() {
		const asks = what.admission === "ask";
		put(button, asks ? words.ask : words.join);
		put(foot, icon(asks ? "person" : "lock"), asks ? words.asks_first : words.nothing_sent);
	}
	draw_admission();
	let consent = what.consent && consent_box(what.code, what.consent === "required");
	const gone = new AbortController();
	const inside = show_inside(what, gone.signal);
	const end = [what.closes_at, what.expires_at].filter((one) => one !== undefined).sort()[0];
	const soon = end !== undefined && Date.parse(end) - Date.now() < DAY;
	const told = /** @type {const} */ (["recording", "streaming"]).map((kind) => {
		const state = what[kind];
		return state && h("p.recorded-notice", null, h("span.recorded-dot", { "aria-hidden": "true" }), words.told[kind][state]);
	});
	const form = h(
		"form.join-form",
		{ novalidate: true },
		h(
			"div.join-head",
			null,
			what.name
				? h("p.welcome", null, words.welcome(what.name))
				: h("p.eyebrow", null, words.about_to),
			h("h1", { tabindex: "-1" }, h("bdi", null, room_name)),
			room.description && h("p.quiet", null, room.description),
			h(
				"p.join-role",
				null,
				h("span.badge.accent", null, role_name),
				h("span.quiet", null, words.you_can(kinds), soon && ` ${words.until(moment(end))}`),
			),
			inside,
		),
		// Others see a person by the name in the code, so there is nothing to enter.
		!what.name && h("div.field", null, h("label.label", { for: "name" }, words.name), name, fault),
		parts.choices,
		trouble,
		told,
		consent && consent.element,
		button,
		foot,
		!tab_storage.works() && h("p.hint.foot", null, icon("info"), words.not_kept),
	);
	const box_of_page = h("div.join-box", { class: parts.preview ? "two" : "one" }, parts.preview, form);

	/** Exchanges the code. Where somebody has to admit the person, the response has a ticket. @param {string} text the name @returns {Promise<any>} */
	async function exchange(text) {
		const wait = what.admission === "ask" ? { wait: true, browser: browser_id() } : {};
		try {
			return (await call("POST", "/v2/token", { body: { code: what.code, name: text, ...wait, ...(consent && consent.answer()) } })).data;
		} catch (error) {
			if (!(error instanceof Refusal && error.message === "Admission is needed")) throw error;
		}
		// A host has closed the door since this page was opened.
		what.admission = "ask";
		draw_admission();
		return await exchange(text);
	}
	/** Goes in with the response of /v2/token. @param {any} data @param {string} text the name */
	async function go(data, text) {
		gone.abort();
		if (!what.call || !data.join) {
			const chosen = parts.chosen();
			parts.stop();
			return go_in(what, data, text, chosen);
		}
		const { begin } = await load_call();
		const media = parts.give();
		const entry = {
			path: location.pathname,
			code: what.code,
			room: { name: room_name },
			role,
			token: data.token,
			room_id: data.room_id,
			name: text,
			audio: media.audio !== null,
			video: media.video !== null,
			embed: what.embed,
			...(consent && { consent: consent.answer() }),
			...(what.room_state && { room_state: what.room_state }),
		};
		keep(entry);
		claim(entry);
		begin(page, entry, data.join, media);
	}
	/** Waits until somebody decides, with the preview as it is. @param {import("./kept.js").Waiter} who @param {number} after seconds */
	async function wait(who, after) {
		const knock = () => exchange(who.name);
		const { at_the_door } = await load_door();
		/** @param {string | null} reason */
		function denied(reason) {
			// Nothing is filmed of somebody who was sent away.
			parts.stop();
			entitle(words.denied_title);
			const again = h("button.primary", { type: "button", onclick: () => describe(what.code) }, words.ask);
			const content = reason === null ? [h("p", null, words.denied_over), h("div.row-of-buttons", null, again)] : [h("p", null, words.denied(reason)), h("p", null, words.denied_stay)];
			show_empty("warning", words.denied_title, content);
		}
		const door = at_the_door({ waiter: who, after, words, choices: parts.choices, knock, denied });
		form.replaceWith(door.element);
		entitle(words.waiting_title);
		door.show();
		/** @type {any} */
		let data = null;
		try {
			data = await door.decided();
		} finally {
			// Who was denied sees that.
			if (!data && door.element.isConnected) {
				entitle(room_name);
				trouble.before(parts.choices);
				door.element.replaceWith(form);
				button.focus();
			}
		}
		if (data) await go(data, who.name);
	}
	/** Shows why the person cannot join. @param {unknown} error */
	function fail(error) {
		if (error instanceof Refusal && error.message === CONSENT_NEEDED) {
			// The room asks for more than when this page was opened.
			if (!form.isConnected) return void describe(what.code);
			if (consent) consent.element.remove();
			consent = consent_box(what.code, true);
			what.consent = "required";
			button.before(consent.element);
			return consent.complain();
		}
		if (error instanceof Refusal && [403, 404, 429].includes(error.status)) {
			parts.stop();
			refused(error, what.code);
			return;
		}
		const known = error instanceof Refusal && error.status > 0;
		put(
			trouble,
			icon("warning"),
			known ? `${words.trouble}: ${error.message}` : words.unreachable,
		);
		trouble.hidden = false;
	}

	form.addEventListener("submit", async (event) => {
		event.preventDefault();
		const text = what.name ?? name.value.trim();
		if (text === "") {
			put(fault, icon("warning"), words.name_missing);
			fault.hidden = false;
			name.setAttribute("aria-invalid", "true");
			name.focus();
			return;
		}
		if (button.getAttribute("aria-busy") === "true") return;
		if (consent?.lacks()) return consent.complain();
		performance.mark("press");
		if (!what.name) browser_storage.set("name", text);
		button.setAttribute("aria-busy", "true");
		trouble.hidden = true;
		try {
			if (what.call) load_call().catch(() => {});
			if (what.admission === "ask") load_door().catch(() => {});
			const data = await exchange(text);
			if (data.ticket) await wait({ path: location.pathname, what, name: text, ticket: data.ticket }, data.retry_after);
			else await go(data, text);
		} catch (error) {
			fail(error);
		}
		button.removeAttribute("aria-busy");
	});
	put(place, box_of_page);
	if (what.recordings) show_recordings(what.code).catch(() => {});
	performance.mark("ready");
	// While people look at themselves, and after what the page itself needs.
	const early = () => load_call().then(({ prepare }) => prepare());
	if (what.call) {
		if ("requestIdleCallback" in window) requestIdleCallback(early, { timeout: IDLE });
		else setTimeout(early, IDLE);
	}
	if (waiter) {
		wait(waiter, SOON).catch(fail);
		return;
	}
	const greeting = what.name ? `${words.welcome(what.name)} ` : "";
	announce(`${greeting}${room_name}, ${words.as(role_name)}. ${words.you_can(kinds)}`);
	// On a phone, the keyboard would cover the page.
	if (!what.name && matchMedia("(hover: hover)").matches) name.focus();
	else place.querySelector("h1")?.focus({ preventScroll: true });
}

/** What the call needs of this page. @type {import("../call/main.js").Page} */
const page = {
	place,
	words,
	stop({ symbol, title, text, retry, again }) {
		document.body.classList.remove("in-call");
		entitle(title);
		const button =
			again &&
			h("button.primary", { type: "button", onclick: again }, icon("refresh"), retry);
		show_empty(symbol, title, [
			h("p", null, text),
			...(button ? [h("div.row-of-buttons", null, button)] : []),
		]);
	},
	come_back,
	tell: (type, room_id) => frame?.tell(type, room_id),
};

/**
 * Joins a call again with the token of before: after a reload, a connection that was lost, or in place of another
 * tab (`steal`).
 * @param {import("./kept.js").Entry} entry @param {boolean} [steal]
 */
async function come_back(entry, steal = false) {
	document.body.classList.remove("in-call");
	if (frame?.refuses(entry.embed, words, show_empty)) return;
	entitle(entry.room.name);
	put(place, box(h("p.quiet", null, words.moment)));
	if (!(await claim(entry, steal))) {
		const again = () => come_back(entry, true);
		page.stop({ symbol: "people", title: words.open_title, text: words.open, retry: words.use_here, again });
		return;
	}
	const { token, name, consent } = entry;
	try {
		const [{ data }, { begin }] = await Promise.all([
			call("POST", "/v2/token/join", { token, body: { name, ...consent } }),
			load_call(),
		]);
		keep(entry);
		await begin(page, entry, data.join, { audio: null, video: null, trouble: {} });
	} catch (error) {
		if (!(error instanceof Refusal)) throw error;
		if (error.status === 0 || error.status >= 500) {
			if (rejoins_of(entry) > 0 && (await wait_to_rejoin(entry))) return come_back(entry, steal);
			return stop(words.trouble, words.unreachable, () => come_back(entry, steal));
		}
		if (error.status === 429) return wait(error.retry_after || 60, () => come_back(entry, steal));
		forget();
		// The token has expired, or its room is gone: the code says what is possible.
		if (error.status === 403) refused(error, entry.code);
		else describe(entry.code);
	}
}

/**
 * Replaces the placeholders of a URL. A {join.link} at the start is inserted unencoded.
 * @param {string} pattern @param {Record<string, string>} values
 */
const fill = (pattern, values) =>
	pattern.replace(/\{([\w.]+)\}/g, (all, key, at) => {
		const value = values[key];
		if (value === undefined) return all;
		return key === "join.link" && at === 0 ? value : encodeURIComponent(value);
	});

/**
 * Opens the client application: the account's, else the media server's. Without either, says that calls are not set
 * up.
 * @param {Described} what @param {any} data the response of /v2/token @param {string} name
 * @param {{ audio: boolean, video: boolean }} chosen
 */
function go_in(what, data, name, chosen) {
	const { link, url, token } = data.join ?? {};
	const wanted = what.client_url;
	/** @type {Record<string, string | undefined>} */
	const of_server = { "join.link": link, "join.url": url, "join.token": token };
	const is_missing = (/** @type {[string, string | undefined]} */ [key, value]) => !value && wanted?.includes(`{${key}}`);
	if (wanted && !Object.entries(of_server).some(is_missing)) {
		const to = fill(wanted, {
			token: data.token,
			room_id: data.room_id,
			role: data.role,
			user_id: data.user_id,
			name,
			audio: chosen.audio ? "1" : "0",
			video: chosen.video ? "1" : "0",
			"join.link": link ?? "",
			"join.url": url ?? "",
			"join.token": token ?? "",
		});
		location.replace(to);
	} else if (data.join?.start_link) start_first(data.join);
	else if (link) location.replace(link);
	else if (what.call) stop(words.nobody_title, words.nobody);
	else not_set_up(words.no_server, words.not_set_up_server);
}

/** Shows the links of a meeting that a moderator must start first. @param {any} join */
function start_first(join) {
	entitle(words.start_title);
	const first = h(
		"a.button.primary",
		{ href: join.start_link, target: "_blank", rel: "noopener" },
		words.start_link,
	);
	const second = h("a.button", { href: join.link }, words.go_in);
	first.addEventListener("click", () => {
		first.classList.remove("primary");
		second.classList.add("primary");
	});
	show_empty("room", words.start_title, [
		h("p", null, words.start),
		h("div.row-of-buttons", null, first, second),
	]);
}

put(document.body, place, announcer());
addEventListener("popstate", () => location.reload());
const asked = text_of_address(location.pathname.split("/")[2] ?? "");
const code = code_of(asked);
const before = kept();
const waiter = kept_waiter();
if (before) come_back(before);
else if (waiter) enter(waiter.what, waiter);
else if (asked === "") ask();
else if (code === null) ask(no_room(asked), asked);
else describe(code);
