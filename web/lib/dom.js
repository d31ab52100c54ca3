// Creates elements. There is no template language and no virtual DOM: a page is created once, and changes
// are made in place. Text is always text: nothing here parses HTML.
//
// SPDX-License-Identifier: GPL-3.0-or-later

/** @typedef {Node | string | number | false | null | undefined} Child */
/** @typedef {Child | Child[] | Child[][]} Children */

/**
 * Creates an element: `h("button.primary", { onclick: save, disabled: true }, "Save")`.
 * A property that begins with "on" is a listener; true sets an attribute without a value; false, null
 * and undefined set no attribute.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K | `${K}.${string}`} tag
 * @param {Record<string, any> | null} [props]
 * @param {Children[]} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, props, ...children) {
	const [name, ...classes] = tag.split(".");
	const element = document.createElement(/** @type {string} */ (name));
	if (classes.length > 0) element.className = classes.join(" ");
	fill(element, props ?? {});
	append(element, children);
	return /** @type {any} */ (element);
}

// Set as properties, because their attributes are only initial values.
const PROPERTIES = new Set(["value", "checked", "selected", "srcObject"]);

/** @param {Element} element @param {Record<string, any>} props */
function fill(element, props) {
	for (const [key, value] of Object.entries(props)) {
		if (value === false || value === null || value === undefined) continue;
		if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
		else if (key === "class") element.classList.add(...String(value).split(" ").filter(Boolean));
		else if (PROPERTIES.has(key)) /** @type {any} */ (element)[key] = value;
		else element.setAttribute(key, value === true ? "" : String(value));
	}
}

/** @param {Node} parent @param {Children[]} children */
function append(parent, children) {
	for (const child of children.flat(4)) {
		if (child === false || child === null || child === undefined || child === "") continue;
		parent.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
	}
}

const SVG = "http://www.w3.org/2000/svg";

/**
 * Creates an SVG element, as h() creates an HTML element.
 * @param {string} tag @param {Record<string, any> | null} [props] @param {Children[]} children
 */
export function s(tag, props, ...children) {
	const element = /** @type {SVGElement} */ (document.createElementNS(SVG, tag));
	fill(element, props ?? {});
	append(element, children);
	return element;
}

const sprite = new URL("../icons.svg", import.meta.url).pathname;

/**
 * Creates one of the icons of icons.svg. Screen readers skip it and read the text next to it.
 * @param {string} name
 */
export function icon(name) {
	const use = s("use", { href: `${sprite}#${name}` });
	return s("svg", { class: "icon", "aria-hidden": "true", focusable: "false" }, use);
}

/**
 * Replaces all children of an element, and returns it.
 * @template {Element} E @param {E} element @param {Children[]} children @returns {E}
 */
export function put(element, ...children) {
	element.replaceChildren();
	append(element, children);
	return element;
}

// Milliseconds: screen readers skip a region whose text does not change, so it is empty for a moment; what is announced
// soon after something else waits, and is read with what else was announced until then.
const EMPTY = 50;
const GATHER = 1000;
/** What waits, by what it tells of. @type {Map<string, string>} */
const waiting = new Map();
let is_read = true;

function read() {
	const region = document.getElementById("announcer");
	const text = [...waiting.values()].join(" ");
	waiting.clear();
	is_read = text === "" || !region;
	if (!region || is_read) return;
	region.textContent = "";
	setTimeout(() => {
		region.textContent = text;
	}, EMPTY);
	setTimeout(read, GATHER);
}

/**
 * Makes screen readers read a text without moving the focus. Of texts that wait with one key, the last one is read.
 * @param {string} text @param {string} [key] what it tells of
 */
export function announce(text, key = text) {
	waiting.delete(key);
	waiting.set(key, text);
	if (!is_read) return;
	is_read = false;
	// With what is announced at the same time.
	setTimeout(read);
}

/** Creates the region that announce() fills. */
export const announcer = () =>
	h("div.off-screen", { id: "announcer", role: "status", "aria-live": "polite" });

let last_id = 0;

/** Returns an ID that no other element of the page has. @param {string} prefix */
export function unique(prefix) {
	last_id += 1;
	return `${prefix}-${last_id}`;
}
