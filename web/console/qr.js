// QR codes of join links: a large one to show, and a page to print with all of them. The service draws
// them.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { segment } from "../lib/api.js";
import { h, icon } from "../lib/dom.js";
import { copy_button, dialog } from "../lib/ui.js";

/** @typedef {import("./codes.js").Code} Code */

// Pixels of a side, enough for a poster.
const PNG = 1024;

/** @param {Code} code */
const picture_of = (code) =>
	h("img.qr", {
		src: `/v2/room-codes/code/${segment(code.code)}/qr`,
		alt: `QR code for ${code.join_url}`,
		width: "264",
		height: "264",
	});

/** Returns a file name without an ending. @param {any} room @param {Code} code */
const file_of = (room, code) => `${room.name}-${code.role}`.replace(/[^\w.-]+/g, "-");

/** @param {any} room @param {Code} code */
export function qr_dialog(room, code) {
	const picture = picture_of(code);
	const name = file_of(room, code);
	const png = h(
		"button",
		{
			type: "button",
			"aria-label": "Download PNG",
			onclick: () => save_png(picture, `${name}.png`),
		},
		icon("download"),
		"PNG",
	);
	const content = h(
		"div.qr-card",
		null,
		picture,
		h("p.qr-role", null, "Join as ", h("strong", null, code.role)),
		h("p.qr-code", null, code.code),
		h("p.qr-link", null, code.join_url),
		h(
			"div.row-of-buttons",
			null,
			copy_button(code.join_url, "Copy link", { symbol: "link", words: "Copy link" }),
			h(
				"a.button",
				{ href: picture.src, download: `${name}.svg`, "aria-label": "Download SVG" },
				icon("download"),
				"SVG",
			),
			png,
		),
	);
	dialog(room.name, [content], { class: "qr-dialog" });
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

/** Shows a page to print, with a card for each code. @param {any} room @param {Code[]} codes */
export function print_sheet(room, codes) {
	const cards = codes.map((code) =>
		h(
			"div.sheet-card",
			null,
			picture_of(code),
			h("strong", null, room.name),
			h("span", null, `Join as ${code.role}`),
			h("code", null, code.code),
			h("span.quiet", null, code.join_url.slice(0, -code.code.length - 1)),
		),
	);
	const button = h(
		"button.primary",
		{ type: "button", onclick: () => print() },
		icon("print"),
		"Print",
	);
	const none = h("p.quiet", null, "There are no active codes to print.");
	dialog(
		`QR codes for ${room.name}`,
		[
			cards.length > 0 ? h("div.sheet", null, cards) : none,
			h("div.dialog-foot", null, cards.length > 0 && button),
		],
		{ class: "wide sheet-dialog" },
	);
}
