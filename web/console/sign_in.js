// Signing in. The credentials are sent to the service once and stored nowhere: the response sets a cookie
// that no script can read.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { Refusal, call } from "../lib/api.js";
import { h, icon, put } from "../lib/dom.js";
import { busy, dialog, sentence } from "../lib/ui.js";
import { forget_session } from "./session.js";

/** @typedef {"keys" | "token"} Way */

/** @type {Record<Way, string>} */
const WRONG = {
	keys: "The access key or the secret is wrong, or the account is disabled.",
	token: "This token or API key is invalid or has expired.",
};

const NO_COOKIE =
	"Your browser blocks cookies for this site, and the console needs one to keep you signed in. Allow them, then try again.";

/** @param {() => Promise<void>} done is called when the session has begun */
function sign_in_form(done) {
	/** @type {Way} */
	let way = "keys";
	const fault = h("p.fault", { role: "alert", tabindex: "-1", hidden: true });
	const key = h("input.mono", {
		type: "text",
		id: "access_key",
		name: "username",
		autocomplete: "username",
		autocapitalize: "none",
		spellcheck: "false",
		autofocus: true,
	});
	const secret = h("input.mono", {
		type: "password",
		id: "secret",
		name: "password",
		autocomplete: "current-password",
	});
	const token = h("textarea.mono", {
		id: "token",
		rows: "4",
		spellcheck: "false",
		autocomplete: "off",
		placeholder: "eyJ… or ak_…",
	});
	const field = (
		/** @type {string} */ words,
		/** @type {HTMLElement} */ input,
		/** @type {Node | null} */ hint = null,
	) => h("div.field", null, h("label.label", { for: input.id }, words), input, hint);
	const token_hint = h(
		"p.hint",
		null,
		"Run ",
		h("code", null, "anteroom token ACCOUNT"),
		" to print a token, or paste an API key. If it is limited to scopes, so is this session.",
	);
	const fields = h("div.stack");
	const ways = h("div.segmented", { role: "group", "aria-label": "Sign in with" });

	/** @param {Way} next */
	function choose(next) {
		way = next;
		fault.hidden = true;
		const button = (/** @type {Way} */ one, /** @type {string} */ words) =>
			h(
				"button",
				{ type: "button", "aria-pressed": String(way === one), onclick: () => choose(one) },
				words,
			);
		put(ways, button("keys", "Access key"), button("token", "Token or API key"));
		if (way === "keys") put(fields, field("Access key", key), field("Secret", secret));
		else put(fields, field("Management token or API key", token, token_hint));
	}

	const typed = () =>
		way === "keys"
			? { access_key: key.value.trim(), secret: secret.value.trim() }
			: { token: token.value.trim() };
	const button = h("button.primary.full", { type: "submit" }, "Sign in");
	const form = h("form.stack", { novalidate: true }, ways, fields, fault, button);
	form.addEventListener("submit", (event) => {
		event.preventDefault();
		fault.hidden = true;
		busy(button, async () => {
			try {
				await call("POST", "/v2/session", { body: typed() });
			} catch (error) {
				// A missing field (400) gets the same message as a wrong one (401).
				const refused = error instanceof Refusal && [400, 401].includes(error.status);
				put(fault, icon("warning"), h("span", null, refused ? WRONG[way] : sentence(error)));
				fault.hidden = false;
				fault.focus();
				return;
			}
			try {
				await done();
			} catch (error) {
				if (!(error instanceof Refusal && error.status === 401)) throw error;
				// The service has set the cookie, and does not get it back.
				forget_session();
				put(fault, icon("warning"), h("span", null, NO_COOKIE));
				fault.hidden = false;
				fault.focus();
				return;
			}
			secret.value = "";
			token.value = "";
		});
	});
	choose("keys");
	return form;
}

/** @param {() => Promise<void>} done @returns {import("../lib/router.js").Maker} */
export const sign_in_page = (done) => () => ({
	title: "Sign in",
	element: h(
		"div.sign-in",
		null,
		h(
			"div.sign-in-box",
			null,
			h("div.mark", null, h("span.door", { "aria-hidden": "true" }), h("span", null, "Anteroom")),
			h("h1", { tabindex: "-1" }, "Sign in"),
			!isSecureContext &&
				h(
					"p.notice.warn",
					null,
					icon("warning"),
					"This connection is not encrypted, so others can read what you type. Use HTTPS.",
				),
			!navigator.cookieEnabled && h("p.notice.warn", null, icon("warning"), NO_COOKIE),
			sign_in_form(done),
			h(
				"p.hint.foot",
				null,
				"No account yet? Create one on the server: ",
				h("code", null, "anteroom account add NAME"),
			),
		),
	),
});

/**
 * Asks to sign in over a page whose session has ended. Returns false if the user closes the dialog.
 * @param {string} account its name @param {AbortSignal} signal closes the dialog: another tab has signed in
 * @returns {Promise<boolean>}
 */
export function sign_in_dialog(account, signal) {
	return new Promise((answer) => {
		const box = dialog(
			"Sign in again",
			[
				h(
					"p",
					null,
					"Your session has ended. Sign in to ",
					h("strong", null, account),
					" to continue: what you typed is still here. With another account, the console starts anew.",
				),
				sign_in_form(async () => {
					answer(true);
					box.close();
				}),
			],
			{ firm: true },
		);
		box.addEventListener("close", () => answer(signal.aborted));
		signal.addEventListener("abort", () => box.close());
		box.querySelector("input")?.focus();
	});
}
