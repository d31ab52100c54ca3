// Reads off the document how something looks, so that it can be drawn elsewhere: boxes, rings, texts, icons and the
// places of videos, in their order. What the call's stage shows, and how, is said in the call alone.
//
// SPDX-License-Identifier: GPL-3.0-or-later

/** The corner and the size of something, in pixels. @typedef {number[]} At */
/**
 * Something to be drawn. What is in a `group` is cut off at its edges; `room` is the width that a text has; a video that
 * `covers` fills its place.
 * @typedef {{ type: "group", at: At, radius: number, items: Item[] } | { type: "box", at: At, radius: number, fill: string } |
 *   { type: "ring", at: At, radius: number, fill: string, width: number } |
 *   { type: "text", at: At, text: string, font: string, fill: string, room: number } |
 *   { type: "icon", at: At, name: string, fill: string, width: number } | { type: "video", at: At, key: number, covers: boolean }} Item
 */

// What only screen readers read has a box of one pixel.
const UNSEEN = 1;
const is_clear = (/** @type {string} */ colour) => /^rgba\(.*, 0\)$|^transparent$|\/ 0\)$/.test(colour);
/** A shadow that lies inside as a ring: its colour and its width. */
const RING = /^(.*\)|#\w+|\w+) 0px 0px 0px ([\d.]+)px inset$/;

/** Splits a list at the commas outside of brackets. @param {string} text */
const parts_of = (text) => text.split(/,\s*(?![^()]*\))/);

/** @param {CSSStyleDeclaration} style @param {At} at */
function radius_of({ borderTopLeftRadius: text }, [, , w = 0, h = 0]) {
	const number = Number.parseFloat(text) || 0;
	const most = Math.min(w, h) / 2;
	return text.includes("%") ? (number / 50) * most : Math.min(number, most);
}

/** Returns the rings of an element, the widest first: it lies below the others. @param {CSSStyleDeclaration} style @param {At} at @returns {Item[]} */
const rings_of = (style, at) =>
	parts_of(style.boxShadow)
		.map((text) => RING.exec(text))
		.filter((found) => found !== null)
		.map(([, fill = "", width]) => /** @type {Item} */ ({ type: "ring", at, radius: radius_of(style, at), fill, width: Number(width) }))
		.reverse();

/**
 * Returns what is to be drawn of an element.
 * @param {Element} element @param {(video: HTMLVideoElement) => number | undefined} key_of a video that is shown
 * @returns {Item[]}
 */
export function items_of(element, key_of) {
	const style = getComputedStyle(element);
	const box = element.getBoundingClientRect();
	const at = [box.x, box.y, box.width, box.height];
	if (style.display === "none" || style.visibility === "hidden" || style.opacity === "0") return [];
	if (box.width <= UNSEEN || box.height <= UNSEEN) return [];
	if (element instanceof HTMLVideoElement) {
		const key = key_of(element);
		return key === undefined ? [] : [{ type: "video", at, key, covers: style.objectFit === "cover" }];
	}
	if (element instanceof SVGElement) {
		const name = element.querySelector("use")?.getAttribute("href")?.split("#")[1] ?? "";
		return [{ type: "icon", at, name, fill: style.color, width: Number.parseFloat(style.strokeWidth) }];
	}
	/** @type {Item[]} */
	const items = [];
	const radius = radius_of(style, at);
	if (!is_clear(style.backgroundColor)) items.push({ type: "box", at, radius, fill: style.backgroundColor });
	for (const child of element.childNodes) {
		if (child instanceof Element) items.push(...items_of(child, key_of));
		else if (child instanceof Text && child.data.trim() !== "") items.push(text_of(child, element, style, box));
	}
	const after = getComputedStyle(element, "::after");
	if (after.content !== "none") items.push(...rings_of(after, at));
	return style.overflow === "hidden" ? [{ type: "group", at, radius, items }] : items;
}

/** @param {Text} text @param {Element} parent @param {CSSStyleDeclaration} style its own @param {DOMRect} box @returns {Item} */
function text_of(text, parent, style, box) {
	const range = document.createRange();
	range.selectNodeContents(text);
	const place = range.getBoundingClientRect();
	const is_cut = parent.scrollWidth > parent.clientWidth && parent.clientWidth > 0;
	const room = is_cut ? box.right - place.x : Infinity;
	const font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
	return { type: "text", at: [place.x, place.y, place.width, place.height], text: text.data, font, fill: style.color, room };
}

/** Returns the path of a shape in an icon. @param {Element} shape */
function path_of(shape) {
	const of = (/** @type {string} */ name) => Number(shape.getAttribute(name) ?? 0);
	if (shape.localName === "path") return shape.getAttribute("d") ?? "";
	if (shape.localName === "circle") {
		const [x, y, r] = [of("cx"), of("cy"), of("r")];
		return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
	}
	const [x, y, w, h, r] = [of("x"), of("y"), of("width"), of("height"), of("rx")];
	const corner = (/** @type {number} */ dx, /** @type {number} */ dy) => `a${r} ${r} 0 0 1 ${dx} ${dy}`;
	return `M${x + r} ${y}h${w - 2 * r}${corner(r, r)}v${h - 2 * r}${corner(-r, r)}h${2 * r - w}${corner(-r, -r)}v${2 * r - h}${corner(r, -r)}z`;
}

/** Returns the icons of the pages as paths, by their names. @returns {Promise<Record<string, string>>} */
export async function icon_paths() {
	const sprite = await new Promise((done) => {
		const request = new XMLHttpRequest();
		request.open("GET", new URL("../icons.svg", import.meta.url));
		// The document of a request is not parsed by the page.
		request.responseType = "document";
		request.onload = () => done(request.responseXML);
		request.onerror = () => done(null);
		request.send();
	});
	const symbols = /** @type {Element[]} */ ([...(sprite?.querySelectorAll("symbol") ?? [])]);
	return Object.fromEntries(symbols.map((one) => [one.id, [...one.children].map(path_of).join("")]));
}
