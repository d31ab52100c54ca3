// Join links to pass on: a dialog with the link of a code, its QR code, and ways to send it; and sheets to
// print with all codes of a room. The service draws the QR codes.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { segment } from "../lib/api.js";
import { h, icon, put } from "../lib/dom.js";
import { moment, number } from "../lib/text.js";
import { busy, copy_button, dialog } from "../lib/ui.js";
import { shown_name } from "./title.js";

/** @typedef {import("./codes.js").Code} Code */

// Pixels of a side, enough for a poster.
const PNG = 1024;

/** Creates the QR code of a join link. @param {Code} code @param {Record<string, string>} [more] */
const picture_of = (code, more = { class: "qr" }) =>
	h("img", {
		...more,
		src: `/v2/room-codes/code/${segment(code.code)}/qr`,
		alt: `QR code for ${code.join_url}`,
		width: "264",
		height: "264",
	});

/** @param {Code} code */
const role_of = (code) => code.role_shown ?? code.role;

/** Returns a file name without an ending. @param {any} room @param {Code} code */
const file_of = (room, code) => `${shown_name(room)}-${role_of(code)}`.replace(/[^\p{L}\p{M}\p{N}_.-]+/gu, "-");

/** Returns what limits a code: "until 27 Nov 2026, 14:00 · one use". @param {Code} code */
function limits_of({ not_before, expires_at, max_uses }) {
	const from = not_before && Date.parse(not_before) > Date.now() && `from ${moment(not_before)}`;
	const until = expires_at && `until ${moment(expires_at)}`;
	const uses = max_uses && (max_uses === 1 ? "one use" : `${number(max_uses)} uses`);
	return [from, until, uses].filter(Boolean).join(" · ");
}

/** Returns an address that opens a new message with the join link. @param {any} room @param {Code} code */
function mail_of(room, code) {
	const limits = limits_of(code);
	const lines = [
		`You are invited to join ${shown_name(room)} as ${role_of(code)}:`,
		code.join_url,
		limits && `Valid ${limits}.`,
	];
	const query = {
		subject: `Invitation to ${shown_name(room)}`,
		body: lines.filter(Boolean).join("\r\n\r\n"),
	};
	const parts = Object.entries(query).map(([key, value]) => `${key}=${encodeURIComponent(value)}`);
	return `mailto:?${parts.join("&")}`;
}

/**
 * Shows the link of a code, to be passed on.
 * @param {string} title @param {any} room @param {Code} code
 * @param {{ qr: boolean, print: () => Promise<void> }} can qr: the service draws QR codes
 */
export function share_dialog(title, room, code, { qr, print }) {
	const picture = qr ? picture_of(code) : null;
	const name = file_of(room, code);
	const limits = limits_of(code);
	const copy = copy_button(code.join_url, "Copy link", { symbol: "link", words: "Copy link" });
	copy.classList.add("primary");
	copy.autofocus = true;
	const printing = h("button", { type: "button" }, icon("print"), "Print");
	printing.addEventListener("click", () => busy(printing, print));
	const files = picture && [
		h(
			"a.button.small",
			{ href: picture.src, download: `${name}.svg`, "aria-label": "Download SVG" },
			icon("download"),
			"SVG",
		),
		h(
			"button.small",
			{
				type: "button",
				"aria-label": "Download PNG",
				onclick: () => save_png(picture, `${name}.png`),
			},
			icon("download"),
			"PNG",
		),
	];
	const content = h(
		"div.qr-card",
		null,
		picture,
		h(
			"p.qr-role",
			null,
			"Join as ",
			h("strong", null, role_of(code)),
			code.name && `, for ${code.name}`,
		),
		h("p.qr-code", null, code.code),
		h("p.qr-link", null, code.join_url),
		limits && h("p.qr-limits", null, icon("clock"), `Valid ${limits}`),
		h(
			"div.row-of-buttons",
			null,
			copy,
			h("a.button", { href: mail_of(room, code) }, icon("send"), "Mail"),
			printing,
		),
		files && h("div.row-of-buttons", null, files),
	);
	return dialog(title, [content], { class: "qr-dialog" });
}

/** @param {HTMLImageElement} picture @param {string} name */
function save_png(picture, name) {
	const canvas = h("canvas", { width: String(PNG), height: String(PNG) });
	const context = canvas.getContext("2d");
	if (!context) return;
	context.imageSmoothingEnabled = false;
	context.fillStyle = "#fff";
	context.fillRect(0, 0, PNG, PNG);
	context.drawImage(picture, 0, 0, PNG, PNG);
	canvas.toBlob((blob) => {
		if (!blob) return;
		const href = URL.createObjectURL(blob);
		h("a", { href, download: name }).click();
		setTimeout(() => URL.revokeObjectURL(href), 1000);
	});
}

/**
 * Creates a card for each code, to be printed.
 * @param {any} room @param {Code[]} codes @param {boolean} qr
 * @param {"sheet" | "paper"} kind shown in a dialog, or only printed
 * @param {"eager" | "lazy"} [loading]
 */
function cards_of(room, codes, qr, kind, loading = "eager") {
	return codes.map((code) =>
		h(
			"div",
			{ class: `card-to-print ${kind}-card` },
			qr && picture_of(code, { class: kind === "sheet" ? "qr" : "", loading }),
			h("strong", null, shown_name(room)),
			h("span", null, `Join as ${role_of(code)}`, code.name && `, for ${code.name}`),
			h("code", null, code.code),
			h("span.quiet.break", null, code.join_url.slice(0, -code.code.length - 1)),
			h("span.quiet", null, limits_of(code)),
		),
	);
}

/**
 * Creates the sheets of a room. They are in its page, so that the browser prints them instead of the page, and
 * are not shown. The browser loads their pictures when it prints.
 * @param {any} room @param {boolean} qr
 */
export function sheets_of(room, qr) {
	const element = h("div.paper");
	return {
		element,
		/** @param {Code[]} codes */
		write: (codes) => put(element, cards_of(room, codes, qr, "paper", "lazy")),
		/** Prints sheets with other codes. @param {Code[]} codes */
		async print(codes) {
			const usual = [...element.childNodes];
			put(element, cards_of(room, codes, qr, "paper"));
			const pictures = [...element.querySelectorAll("img")];
			await Promise.all(pictures.map((one) => one.decode().catch(() => {})));
			addEventListener("afterprint", () => put(element, usual), { once: true });
			print();
		},
	};
}

/**
 * Shows the sheets of a room before they are printed.
 * @param {any} room @param {Code[]} codes @param {boolean} qr @param {() => Promise<void>} print
 */
export function sheet_dialog(room, codes, qr, print) {
	const button = h("button.primary", { type: "button" }, icon("print"), "Print");
	button.addEventListener("click", () => busy(button, print));
	const none = h("p.quiet", null, "There are no active codes to print.");
	const cards = cards_of(room, codes, qr, "sheet");
	dialog(
		`QR codes for ${shown_name(room)}`,
		[
			cards.length > 0 ? h("div.sheet", null, cards) : none,
			h("div.dialog-foot", null, cards.length > 0 && button),
		],
		{ class: "wide sheet-dialog" },
	);
}
