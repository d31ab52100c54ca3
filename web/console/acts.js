// What can be done with the people inside a room: a message, another name or role, mute, remove, and the end
// for all. The service asks the media server, which may refuse or be away; a refusal is told as a sentence.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { Refusal, call, get, openapi, segment } from "../lib/api.js";
import { changed as tell_tabs } from "../lib/changes.js";
import { announce, h } from "../lib/dom.js";
import { set_text } from "../lib/rows.js";
import { changed, only } from "../lib/schema.js";
import { count_of } from "../lib/text.js";
import { busy, dialog, menu, sentence, show_call, toast } from "../lib/ui.js";
import { maker } from "./editor.js";
import { form_for } from "./hints.js";
import { may } from "./session.js";
import { role_choices, shown_name } from "./title.js";

/** @typedef {import("./inside.js").Peer} Peer */
/** @typedef {import("../lib/schema.js").Plain} Plain */
/** @typedef {{ id: string, name: string, title?: string, template_id: string }} Room */
/**
 * @typedef {object} Acts
 * @property {() => Room} room as it is now
 * @property {() => void} done called after something was done with somebody
 * @property {() => Promise<any>} locked called after the room was disabled
 */
/** @typedef {{ id: string, name: string, peer: Peer }} Person */
/** @typedef {{ type: string, source: string, mute: boolean }} Track */

/** How long a ban lasts, by the value of the field. @type {[string, string][]} */
const BANS = [
	["", "No"],
	["3600", "For 1 hour"],
	["86400", "For 1 day"],
	["604800", "For 1 week"],
	["2592000", "For 30 days"],
	["true", "Until the ban is deleted"],
];
/** What somebody can publish: the type of the API, its name, and words for one who publishes none.
 * @type {[string, string, string][]} */
const KINDS = [
	["audio", "Microphone", "Off"],
	["video", "Camera", "Off"],
	["screen", "Screen", "Not shared"],
];
/** What is muted of all people, by the value of the field. @type {[string, string][]} */
const SOURCES = [
	["audio", "All sound"],
	["video", "Cameras"],
];
/** What holds afterwards, by the value of the field. @type {[string, string][]} */
const HOLDS = [
	["", "As it is now"],
	["true", "Nobody can unmute themselves until the session ends"],
	["false", "Everyone can unmute themselves again; mute nobody"],
];
/** What a media server may not enforce of a role. @type {Record<string, string>} */
const UNENFORCED = {
	"publish.audio": "that the role publishes no audio",
	"publish.video": "that the role publishes no video",
	"publish.screen": "that the role shares no screen",
	subscribe: "whom the role sees and hears",
	max_peers: "the participant limit",
	moderation: "what moderators may do",
	expiry: "when access expires",
};
const GONE = 404;
const FORBIDDEN = 403;
const INVALID = 400;
const UNSURE = 504;

/** Returns what a refusal means, as a sentence. @param {Refusal} error @param {string} name of the person */
function told(error, name) {
	const after = error.retry_after > 1 ? ` Try again in ${error.retry_after} seconds.` : "";
	if (error.status === UNSURE)
		return "The media server did not answer in time. It may have been done: look at the list before you try again.";
	if (error.status !== GONE) return sentence(error) + (error.status === 429 ? "" : after);
	if (/track/.test(error.message)) return `${name} does not share this now.`;
	if (/^peer/i.test(error.message)) return `${name} is no longer inside.`;
	return /^session/i.test(error.message)
		? "Nobody is inside any more."
		: "This room no longer exists.";
}

/**
 * Opens a dialog with a form about people inside. It stays open if the service refuses.
 * @param {{ title: string, text?: string, schema: Plain, value?: any, folded?: string[], verb: string,
 *   danger?: boolean, name?: string, send: (value: any) => Promise<string> }} what `send` sends the request
 * and returns the message that confirms it
 */
function ask(what) {
	const cancel = h("button", { type: "button", onclick: () => box.close() }, "Cancel");
	const { element, form } = maker({
		schema: what.schema,
		value: what.value ?? {},
		extras: { folded: what.folded ?? [] },
		verb: what.verb,
		danger: what.danger === true,
		cancel,
		async send(value) {
			try {
				const words = await what.send(value);
				box.close();
				toast(words);
			} catch (error) {
				if (!(error instanceof Refusal) || [0, INVALID, 401].includes(error.status)) throw error;
				const about_role = error.status === FORBIDDEN && /^Role (.*)$/.exec(error.message);
				if (about_role) form.show("", [{ pointer: "/role", message: about_role[1] ?? "" }]);
				else if (error.status === GONE) {
					box.close();
					toast(told(error, what.name ?? ""), "bad");
				} else form.show(told(error, what.name ?? ""), []);
			}
		},
	});
	const text = what.text ? h("p", null, what.text) : null;
	const box = dialog(what.title, [text, element], { class: "form-dialog" });
	/** @type {HTMLElement | null} */
	const first = box.querySelector("form :is(input, select)");
	first?.focus();
}

/** Returns the path of a room in session. @param {Acts} acts */
const path_of = (acts) => `/v2/active-rooms/${segment(acts.room().id)}`;

/** Returns the roles of the room's template; none if the session may not see them.
 * @param {Acts} acts @returns {Promise<{ name: string, title?: string }[]>} */
async function roles_of(acts) {
	if (!may("templates:read")) return [];
	const template = await get(`/v2/templates/${segment(acts.room().template_id)}`);
	return Object.values(template.roles ?? {});
}


/** Shows errors before a dialog is open. @param {() => Promise<any>} open */
const opened = (open) => () =>
	open().catch((error) => toast(error instanceof Refusal ? told(error, "") : String(error), "bad"));

/** @param {string} name of the field @param {Plain} schema @param {[string, string][]} options */
const with_choice = (name, schema, options) =>
	changed(schema, name, {
		kind: "choice",
		fallback: options[0]?.[0],
		options: options.map(([value]) => value),
		words: options.map(([, words]) => words),
	});

/**
 * Sends a message.
 * @param {Acts} acts @param {Person | null} person null for everyone, or for one role
 */
async function send_message(acts, person) {
	const [doc, roles] = await Promise.all([openapi(), person ? [] : roles_of(acts)]);
	const whole = form_for(doc, "POST /v2/active-rooms/{}/send-message");
	/** @type {[string, string][]} */
	const to = [["", "Everyone"], ...role_choices(roles)];
	const names = person || roles.length === 0 ? ["message", "type"] : ["message", "role", "type"];
	ask({
		title: person ? `Message to ${person.name}` : "Message to people inside",
		schema: with_choice("role", only(whole, names), to),
		folded: ["type"],
		verb: "Send message",
		name: person?.name ?? "",
		async send(value) {
			const body = { ...value, role: value.role || undefined, peer_id: person?.id };
			await call("POST", `${path_of(acts)}/send-message`, { body });
			return "Message sent.";
		},
	});
}

/** @param {Acts} acts @param {Person} person */
async function edit(acts, person) {
	const [doc, roles] = await Promise.all([openapi(), roles_of(acts)]);
	const whole = form_for(doc, "POST /v2/active-rooms/{}/peers/{}");
	const { name, role, metadata } = person.peer;
	const schema = only(whole, ["role", "name", "metadata"]);
	const before = { name, role, metadata };
	ask({
		title: `Edit ${person.name}`,
		schema: roles.length > 0 ? with_choice("role", schema, role_choices(roles)) : schema,
		value: before,
		folded: ["metadata"],
		verb: "Save",
		name: person.name,
		async send(value) {
			const now = { ...value, metadata: value.metadata ?? "" };
			const names = /** @type {("name" | "role" | "metadata")[]} */ (["name", "role", "metadata"]);
			// An empty name or role would leave it as it is.
			const different = names.filter((one) => (now[one] ?? before[one]) !== before[one]);
			if (different.length === 0) return "Nothing was changed.";
			const body = Object.fromEntries(different.map((one) => [one, now[one]]));
			const { data } = await call("POST", `${path_of(acts)}/peers/${segment(person.id)}`, { body });
			acts.done();
			/** @type {string[]} */
			const rest = data.not_enforced ?? [];
			// Whoever came by an open code has its role again by it.
			if (rest.includes("role")) return `Saved. With the same link, ${data.name || person.name} can come back as ${before.role}.`;
			return rest.length > 0
				? `Saved. The media server cannot enforce ${rest.map((one) => UNENFORCED[one] ?? one).join(", ")}.`
				: `${data.name || person.name} saved.`;
		},
	});
}

/**
 * Shows what somebody publishes, with a button that mutes or unmutes each.
 * @param {Acts} acts @param {Person} person
 */
async function mute(acts, person) {
	const path = `${path_of(acts)}/peers/${segment(person.id)}`;
	/** Returns whether something of a kind is muted; null if nothing is published.
	 * @param {Track[]} tracks @param {string} kind */
	const is_muted = (tracks, kind) => {
		const own = tracks.filter(
			({ type, source }) => (source === "screen" ? "screen" : type) === kind,
		);
		return own.length === 0 ? null : own.every((one) => one.mute);
	};
	const read = async () => /** @type {Track[]} */ (Object.values((await get(path)).tracks ?? {}));
	const rows = KINDS.map(([kind, words, off]) => {
		const state = h("span.quiet");
		const button = h("button.small", { type: "button" });
		let muted = false;
		button.addEventListener("click", () =>
			busy(button, async () => {
				const wanted = !muted;
				try {
					await call("POST", `${path}/mute`, { body: { type: kind, mute: wanted } });
					draw(await read());
					announce(`${words} ${wanted ? "muted" : "unmuted"}.`);
				} catch (error) {
					if (!(error instanceof Refusal)) throw error;
					toast(told(error, person.name), "bad");
					if (/^peer not|^session|^room/i.test(error.message)) box.close();
				}
			}),
		);
		return {
			element: h("div.mute-row", null, h("strong", null, words), state, button),
			/** @param {Track[]} tracks */
			draw(tracks) {
				const now = is_muted(tracks, kind);
				muted = now === true;
				set_text(state, now === null ? off : now ? "Muted" : "On");
				set_text(button, muted ? "Unmute" : "Mute");
				button.setAttribute("aria-label", `${muted ? "Unmute" : "Mute"} ${words.toLowerCase()}`);
				button.hidden = now === null;
			},
		};
	});
	/** @param {Track[]} tracks */
	function draw(tracks) {
		for (const row of rows) row.draw(tracks);
	}
	draw(await read());
	const again = h("button", { type: "button" }, "Refresh");
	again.addEventListener("click", () => busy(again, async () => draw(await read())));
	const box = dialog(`Mute ${person.name}`, [
		h(
			"div.mute-rows",
			null,
			rows.map(({ element }) => element),
		),
		h(
			"p.hint",
			null,
			"People can unmute themselves. To keep somebody silent, give them a role that does not publish.",
		),
		h(
			"div.dialog-foot",
			null,
			again,
			h("button", { type: "button", onclick: () => box.close() }, "Done"),
		),
	]);
	/** @type {HTMLElement | null} */
	const first = box.querySelector(".mute-rows button:not([hidden])");
	first?.focus();
}

/** @param {Acts} acts @param {Person} person */
async function remove(acts, person) {
	const whole = form_for(await openapi(), "POST /v2/active-rooms/{}/remove-peers");
	ask({
		title: `Remove ${person.name} from the room?`,
		text: "This ends the connection at once, and the join token no longer works. With a room code, the person can join again, unless you ban them too.",
		schema: with_choice("ban", only(whole, ["reason", "ban"]), BANS),
		verb: "Remove",
		danger: true,
		name: person.name,
		async send({ reason, ban }) {
			const length = ban === "true" ? true : Number(ban);
			const body = { peer_id: person.id, reason, ban: ban ? length : undefined };
			const { data } = await call("POST", `${path_of(acts)}/remove-peers`, { body });
			acts.done();
			if (!ban) return `${person.name} removed.`;
			tell_tabs("bans");
			return data.not_enforced?.includes("ban")
				? `${person.name} removed, but not banned: the user ID is not known for certain. To keep them out, ban the room code.`
				: `${person.name} removed and banned.`;
		},
	});
}

/** Mutes everyone, or a role. @param {Acts} acts */
async function mute_all(acts) {
	const [doc, roles] = await Promise.all([openapi(), roles_of(acts)]);
	const names = roles.length === 0 ? ["type", "hold"] : ["type", "role", "hold"];
	const whole = only(form_for(doc, "POST /v2/active-rooms/{}/mute"), names);
	const held = with_choice("hold", with_choice("type", whole, SOURCES), HOLDS);
	ask({
		title: "Mute people inside",
		schema: with_choice("role", held, [["", "Everyone"], ...role_choices(roles)]),
		value: { type: "audio" },
		verb: "Mute",
		async send({ type, role, hold }) {
			const body = { type, role: role || undefined, hold: hold ? hold === "true" : undefined };
			const { data } = await call("POST", `${path_of(acts)}/mute`, { body });
			const muted = `${count_of(data.muted, "person", "people")} muted.`;
			if (data.missed > 0) return `${muted} ${count_of(data.missed, "person", "people")} could not be reached.`;
			if (hold === "false") return "People can unmute themselves again.";
			return data.muted === 0 ? "Everyone is muted already." : muted;
		},
	});
}

/** @param {Acts} acts */
async function end(acts) {
	const whole = form_for(await openapi(), "POST /v2/active-rooms/{}/end-room");
	ask({
		title: `End “${shown_name(acts.room())}” for all?`,
		text: "Everyone inside is put out. This cannot be undone. People who still have access can come back, unless you disable the room too.",
		schema: only(whole, ["reason", "lock"]),
		verb: "End for all",
		danger: true,
		async send(body) {
			try {
				await call("POST", `${path_of(acts)}/end-room`, { body });
			} catch (error) {
				// The room is disabled first, whatever the media server does.
				const is_locked = error instanceof Refusal && error.details.includes("the room is locked");
				if (is_locked) await lock();
				throw error;
			}
			if (body.lock) await lock();
			acts.done();
			return body.lock ? "Ended for all. The room is disabled." : "Ended for all.";
		},
	});
	async function lock() {
		tell_tabs("rooms", acts.room().id);
		await acts.locked();
	}
}

/** Creates the buttons for all people inside. @param {Acts} acts */
export function crowd_buttons(acts) {
	const message = h("button", { type: "button" }, "Message");
	const silence = h("button", { type: "button" }, "Mute all");
	const finish = h("button.danger", { type: "button" }, "End for all");
	message.addEventListener("click", () => busy(message, opened(() => send_message(acts, null))));
	silence.addEventListener("click", () => busy(silence, opened(() => mute_all(acts))));
	finish.addEventListener("click", () => busy(finish, opened(() => end(acts))));
	return [message, silence, finish];
}

/**
 * Creates the menu of a person.
 * @param {Acts} acts @param {() => Person} now returns the person as they are now
 */
export function person_menu(acts, now) {
	const element = menu(`Actions for ${now().name}`, [
		{ symbol: "send", words: "Send message", action: opened(() => send_message(acts, now())) },
		{ symbol: "mic-off", words: "Mute or unmute", action: opened(() => mute(acts, now())) },
		{ symbol: "pen", words: "Edit name and role", action: opened(() => edit(acts, now())) },
		{
			symbol: "terminal",
			words: "Show API request",
			action: () => show_call("GET", `${path_of(acts)}/peers/${segment(now().id)}`),
		},
		{ symbol: "out", words: "Remove", danger: true, action: opened(() => remove(acts, now())) },
	]);
	const button = element.querySelector("button");
	return {
		element,
		/** Takes over another name. */
		renew() {
			const label = `Actions for ${now().name}`;
			if (!button || button.title === label) return;
			button.title = label;
			button.setAttribute("aria-label", label);
		},
	};
}
