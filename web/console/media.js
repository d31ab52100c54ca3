// The media servers of the account (`backend` in the API) and its signing keys.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { all_of, call, get, openapi, segment } from "../lib/api.js";
import { h, icon, put } from "../lib/dom.js";
import { choice_name } from "../lib/labels.js";
import { poll } from "../lib/poll.js";
import { go, show } from "../lib/router.js";
import { renew_times } from "../lib/rows.js";
import { body_of, changed } from "../lib/schema.js";
import { ago, moment, seconds_ago_words } from "../lib/text.js";
import {
	busy,
	code_block,
	copy_button,
	dialog,
	empty,
	menu,
	page_head,
	remove_with,
	sentence,
	show_call,
	toast,
} from "../lib/ui.js";
import { library_notice } from "./calls.js";
import { editor, maker } from "./editor.js";
import { form_for, worded } from "./hints.js";
import { pools_section } from "./pools.js";
import { may, session } from "./session.js";

const PATH = "/v2/backends";
const KEYS = "/v2/signing-keys";

/** What a state of a media server means. @type {Record<string, string>} */
const STATES = {
	up: "The media server answers, and accepts the secrets.",
	down: "The media server cannot be used.",
	unknown: "The connection to the media server was not tested yet.",
};
/** What a message means, by its beginning. @type {[string, string][]} */
const MEANINGS = [
	["no such name", "Its host name has no address."],
	["refused", "Nothing accepts connections at its address."],
	["timed out", "It does not answer in time."],
	["address not allowed", "Its address is private. Allow it with anteroom serve --media-allow."],
	["TLS:", "The connection cannot be encrypted."],
	["wrong key", "It rejects the API key or the API secret."],
	["clock differs", "Its clock and the clock of this service differ."],
	["room.auto_create", "Nobody gets into its rooms: turn on “Create the rooms”."],
	["not a", "Something else answers at this address."],
	["status ", "It answers with an error."],
	["too many people", "Its list of rooms or people is too long to read."],
];

/** @param {{ state: string, since: string | null, message: string }} health */
function health_notice({ state, since, message }) {
	const meaning = MEANINGS.find(([start]) => message.startsWith(start))?.[1] ?? "";
	const shape = { up: message ? "warn" : "ok", down: "warn" }[state] ?? "";
	return h(
		"div.notice",
		{ class: shape },
		icon(shape === "ok" ? "check" : shape === "warn" ? "warning" : "media"),
		h(
			"span",
			null,
			`${STATES[state]} ${meaning}${message ? ` (${message})` : ""} `,
			since && ["Since ", ago(since)],
		),
	);
}

/** The state of a media server that can be asked, with a button that asks it. `told` gets the media server each
 * time that it is read.
 * @param {string} path @param {any} backend @param {AbortSignal} signal @param {(backend: any) => void} told */
function health_section(path, backend, signal, told) {
	const place = h("div", { role: "status" });
	let shown = "";
	/** @param {any} health @param {boolean} [again] shows it also if it is the same */
	function show_health(health, again = false) {
		const text = JSON.stringify(health);
		if (text === shown && !again) {
			renew_times(place);
			return;
		}
		shown = text;
		put(place, health_notice(health));
	}
	/** @param {boolean} [again] */
	async function read(again) {
		const found = await get(path, signal);
		show_health(found.health, again);
		told(found);
	}
	show_health(backend.health);
	poll(() => read(), signal);
	const test = h("button.small", { type: "button" }, icon("refresh"), "Test connection");
	test.addEventListener("click", () =>
		busy(test, async () => {
			const { data } = await call("POST", `${path}/test`);
			await read(true);
			// What only a test finds, and is to be set here.
			if (data.state === "up" && data.message) put(place, health_notice({ since: null, ...data }));
		}),
	);
	return h(
		"section",
		{ "aria-labelledby": "health" },
		h(
			"div.toolbar.between",
			null,
			h("h2.section-title", { id: "health" }, "Connection"),
			h("div.actions", null, test),
		),
		place,
	);
}

/** Whether the events of a LiveKit arrive. @param {string | null} last when the last one did */
function events_notice(last) {
	if (!last) {
		const text =
			"No event yet: add these lines to LiveKit’s configuration and restart it. LiveKit then tells Anteroom at once who joins and leaves.";
		return h("p.notice.warn", null, icon("warning"), h("span", null, text));
	}
	const time = h("time", { datetime: last, title: moment(last, true) }, seconds_ago_words(new Date(last)));
	return h("p.notice.ok", null, icon("check"), h("span", null, "Last event ", time, "."));
}

/** Whether LiveKit sends its events, without which rooms are followed only every half a minute, and how it is told to.
 * Returns what is shown, and `tell`, which gets the media server as it is now.
 * @param {any} backend */
function events_section({ events_url, config, last_event_at }) {
	// Not announced: it changes every few seconds.
	const state = h("div", null, events_notice(last_event_at));
	const lines = [
		"webhook:",
		`  api_key: ${config.api_key}`,
		"  urls:",
		`    - ${events_url}`,
	];
	const element = h(
		"section",
		{ "aria-labelledby": "events-in" },
		h("h2.section-title", { id: "events-in" }, "Events from LiveKit"),
		h(
			"div.stack",
			null,
			state,
			h(
				"p.hint.id",
				null,
				h("span", null, "URL for events:"),
				h("span.mono.break", null, events_url),
				copy_button(events_url, "Copy the URL for events"),
			),
			code_block(lines.join("\n"), "Configuration"),
		),
	);
	const tell = (/** @type {any} */ now) => put(state, events_notice(now.last_event_at));
	return { element, tell };
}

/** @type {import("../lib/router.js").Maker} */
export async function media_page(_, signal) {
	const backends = await all_of(PATH, {}, signal);
	const add = (/** @type {Record<string, any>} */ props) =>
		h(
			"a.button.primary",
			{ href: "/console/media/new", ...props },
			icon("plus"),
			"New media server",
		);
	const text =
		"A media server carries the audio and video. Add your LiveKit, Jitsi Meet, Galene, BigBlueButton or Janus server, and people who join a room get a token or link for it.";
	const pools = await pools_section(backends, signal);
	const single = backends.filter(({ pool }) => !pool);
	const rows = single.map((one) =>
		h(
			"tr",
			null,
			h(
				"td",
				{ "data-label": "Name" },
				h(
					"a.row-link",
					{ href: `/console/media/${one.id}` },
					h(
						"span.name-cell",
						null,
						h("span.row-name", null, one.name),
						one.default && h("span.badge.accent", null, "Default"),
						one.health.state === "down" && h("span.badge.off", null, "Down"),
					),
				),
			),
			h("td", { "data-label": "Type" }, choice_name("type", one.type)),
			h("td", { "data-label": "URL" }, h("span.quiet.break", null, one.url)),
			h("td", { "data-label": "Updated" }, ago(one.updated_at)),
		),
	);
	const head = ["Name", "Type", "URL", "Updated"].map((name) => h("th", { scope: "col" }, name));
	const list = h(
		"div.list-place",
		null,
		backends.length === 0
			? empty("media", "No media servers yet", text, add({}))
			: h("table.list.things", null, h("thead", null, h("tr", null, head)), h("tbody", null, rows)),
	);
	return {
		title: "Media servers",
		element: h(
			"div.page",
			null,
			page_head({
				title: "Media servers",
				actions: [backends.length > 0 && add({ "data-create": "" })],
			}),
			pools,
			pools && rows.length > 0 && h("h2.section-title", null, "In no pool"),
			(!pools || rows.length > 0) && list,
			may("keys:write") && (await keys_section(signal)),
		),
	};
}

/** @type {import("../lib/router.js").Maker} */
export async function backend_page({ id = "" }, signal) {
	const doc = await openapi();
	/** @type {[string, string][]} */
	const way = [["Media servers", "/console/media"]];
	if (id === "new") return new_backend(doc, way);
	const path = `${PATH}/${segment(id)}`;
	const own = await call("GET", path, { signal });
	const edit = editor({
		schema: form_of_type(doc, `PATCH ${PATH}/{}`, own.data.type),
		path,
		method: "PATCH",
		value: own.data,
		etag: own.etag,
		saved() {
			toast("Media server saved.");
			show();
		},
	});
	const remove = () =>
		remove_with(
			{
				kind: "Media server",
				title: `Delete media server “${own.data.name}”?`,
				text: "People who join from now on are no longer let into it. A media server that a template uses cannot be deleted.",
				verb: "Delete media server",
			},
			async () => {
				await call("DELETE", path);
				await go("/console/media", { force: true });
			},
		);
	const head = page_head({
		way,
		title: own.data.name,
		badge: h("span.badge", null, choice_name("type", own.data.type)),
		about: [
			h(
				"span.id",
				null,
				h("span.mono", null, own.data.id),
				copy_button(own.data.id, "Copy ID"),
			),
		],
		actions: [
			menu("Media server actions", [
				{ symbol: "terminal", words: "Show API request", action: () => show_call("GET", path) },
				{ symbol: "trash", words: "Delete media server", danger: true, action: remove },
			]),
		],
	});
	const events = own.data.events_url ? events_section(own.data) : null;
	const no_call = own.data.type === "livekit" ? await library_notice() : null;
	return {
		title: own.data.name,
		leave: edit.leave,
		unsaved: edit.unsaved,
		element: h(
			"div.page",
			null,
			head,
			no_call,
			own.data.capabilities.includes("list") &&
				health_section(path, own.data, signal, (now) => events?.tell(now)),
			events?.element,
			edit.element,
		),
	};
}

/** @typedef {import("../lib/schema.js").Plain} Plain */

/**
 * Returns the form for a media server of a type, with the fields of `config` that the type has: the OpenAPI
 * document names the types of each field.
 * @param {any} doc @param {string} which the endpoint @param {string} type @returns {Plain}
 */
export function form_of_type(doc, which, type) {
	const schema = body_of(doc, which);
	const config = schema.fields.find(([name]) => name === "config")?.[1];
	if (!config) return schema;
	const word = new RegExp(`\\b${type}\\b`);
	const fields = config.fields.filter(([, one]) => word.test(one.description));
	const of_type = {
		...schema,
		fields: schema.fields.filter(([name, one]) => name !== "api_url" || word.test(one.description)),
	};
	const own = changed(of_type, "config", { fields, rules: [], description: "" });
	return worded(worded(own, "backend"), type);
}

/** @param {any} doc @param {[string, string][]} way @returns {import("../lib/router.js").Page} */
function new_backend(doc, way) {
	const title = "New media server";
	const schema = body_of(doc, `POST ${PATH}`);
	const types = schema.fields.find(([name]) => name === "type")?.[1].options ?? [];
	const place = h("div");
	const kinds = h("div.segmented.wrapped", { role: "group", "aria-label": "Type" });
	/** @param {string} type */
	function choose(type) {
		const button = (/** @type {string} */ one) =>
			h(
				"button",
				{ type: "button", "aria-pressed": String(one === type), onclick: () => choose(one) },
				choice_name("type", one),
			);
		put(kinds, types.map(button));
		const whole = form_of_type(doc, `POST ${PATH}`, type);
		const { element } = maker({
			schema: { ...whole, fields: whole.fields.filter(([name]) => name !== "type"), rules: [] },
			verb: "Add media server",
			cancel: h("a.button", { href: "/console/media" }, "Cancel"),
			async send(body) {
				const made = await call("POST", PATH, { body: { ...body, type } });
				await go(`/console/media/${made.data.id}`, { force: true });
			},
		});
		put(place, element);
	}
	choose(types[0] ?? "");
	const panel = h("div.panel.stack", null, kinds, place);
	return { title, element: h("div.page.narrow", null, page_head({ way, title }), panel) };
}

/** @param {AbortSignal} signal */
async function keys_section(signal) {
	const place = h("div.list-place");
	const add = h("button", { type: "button" }, icon("plus"), "New signing key");
	add.addEventListener("click", () => busy(add, () => new_key(read)));
	async function read() {
		const keys = await all_of(KEYS, {}, signal);
		const text =
			"Media servers verify tokens with the public part of a signing key. You need one for Galene, for Jitsi Meet with RS256, and for other servers that take a JWT.";
		const head = ["Key", "State", "Created", ""].map((name) =>
			h("th", { scope: "col" }, name || h("span.off-screen", null, "Actions")),
		);
		if (keys.length === 0) put(place, empty("key", "No signing keys yet", text));
		else
			put(
				place,
				h(
					"table.list.things",
					null,
					h("thead", null, h("tr", null, head)),
					h("tbody", null, keys.map(row)),
				),
			);
	}
	/** @param {any} key */
	function row(key) {
		const path = `${KEYS}/${segment(key.kid)}`;
		const activate = async () => {
			try {
				await call("POST", `${path}/activate`);
				toast("Signing key activated.");
				await read();
			} catch (error) {
				toast(sentence(error), "bad");
			}
		};
		const remove = () =>
			remove_with(
				{
					kind: "Signing key",
					title: `Delete signing key ${key.alg}?`,
					text: "Media servers reject tokens signed with it as soon as they reload the public keys. This cannot be undone.",
					verb: "Delete signing key",
				},
				async () => {
					await call("DELETE", path);
					await read();
				},
			);
		return h(
			"tr",
			null,
			h(
				"td",
				{ "data-label": "Key" },
				h("span.row-name", null, key.alg),
				h("span.note.mono.break", null, key.kid),
			),
			h(
				"td",
				{ "data-label": "State" },
				h("span.badge", { class: key.state === "active" ? "accent" : "" }, choice_name("state", key.state)),
			),
			h("td", { "data-label": "Created" }, ago(key.created_at)),
			h(
				"td.menu-cell",
				null,
				menu(`Actions for signing key ${key.kid}`, [
					key.state === "next" && { symbol: "check", words: "Activate", action: activate },
					{ symbol: "trash", words: "Delete signing key", danger: true, action: remove },
				]),
			),
		);
	}
	await read();
	const { account, public_url } = await session();
	const url = `${public_url}/v2/jwks/${account.id}.json`;
	return h(
		"section",
		{ "aria-labelledby": "signing" },
		h(
			"div.toolbar.between",
			null,
			h("h2.section-title", { id: "signing" }, "Signing keys"),
			h("div.actions", null, add),
		),
		place,
		h(
			"p.hint.id",
			null,
			h("span", null, "Public keys:"),
			h("span.mono.break", null, url),
			copy_button(url, "Copy the URL of the public keys"),
		),
	);
}

/** @param {() => Promise<void>} done */
async function new_key(done) {
	const { element } = maker({
		schema: form_for(await openapi(), `POST ${KEYS}`),
		verb: "Create signing key",
		async send(body) {
			await call("POST", KEYS, { body });
			box.close();
			await done();
		},
	});
	const box = dialog("New signing key", [element]);
	box.querySelector("select")?.focus();
}
