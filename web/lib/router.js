// Shows the page for an address. A function makes the page; leaving the page aborts its requests. Back and
// Forward return to the place in the page that was left.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { h, put } from "./dom.js";
import { tab_storage } from "./storage.js";

/**
 * @typedef {object} Page
 * @property {string} title
 * @property {HTMLElement} element
 * @property {() => boolean | Promise<boolean>} [leave] asks about unsaved changes; false to stay
 * @property {() => boolean} [unsaved] true if a reload would lose changes
 * @property {() => void} [gone] called when the page is left
 */
/** @typedef {(parameters: Record<string, string>, signal: AbortSignal, query: URLSearchParams) =>
 *   Promise<Page> | Page} Maker */

/** @typedef {(path: string, title: string, there: boolean) => void} Shown there: false if the page is that of an
 *   error */

/** @typedef {{ rows: any[], last: string }} Kept the rows of a list, and where to continue */
/** The place in a page: the link that had the focus, with its distance from the top of the window, and the
 * list. After a reload, only the number of rows is known.
 * @typedef {{ top: number, href: string, offset: number, count: number, kept?: Kept, time?: number }} Place */

/** @type {{ pattern: RegExp, names: string[], maker: Maker }[]} */
const routes = [];
/** @type {Page | null} */
let page = null;
let shown_at = "";
let going = new AbortController();
/** @type {(error: unknown) => Page} */
let on_error = () => ({ title: "Error", element: h("div") });
/** @type {Shown} */
let on_shown = () => {};

/** The key of the history entry that is shown. */
let entry = "";
/** Places by the key of their history entry, the most recent last. @type {Map<string, Place>} */
const places = new Map();
const MOST_PLACES = 30;
// The place that a reload returns to, in the storage of the tab.
const STORED = "place";
/** Where to return to; null if the page is new. @type {Place | null} */
let returning = null;
/** @type {(() => Kept) | null} */
let keeper = null;

const page_place = () => /** @type {HTMLElement} */ (document.getElementById("page"));
const new_state = () => ({ key: crypto.getRandomValues(new Uint32Array(2)).join("-") });

/** @param {string} pattern such as "/console/rooms/:id" @param {Maker} maker */
export function route(pattern, maker) {
	/** @type {string[]} */
	const names = [];
	const source = pattern.replace(/:([a-z]+)/g, (_, name) => {
		names.push(name);
		return "([^/]+)";
	});
	routes.push({ pattern: new RegExp(`^${source}/?$`), names, maker });
}

/** Replaces the query of the address, without showing the page again. @param {Record<string, string>} values "" removes one */
export function set_query(values) {
	const here = new URL(location.href);
	for (const [name, value] of Object.entries(values)) {
		if (value) here.searchParams.set(name, value);
		else here.searchParams.delete(name);
	}
	history.replaceState(history.state, "", here);
}

/**
 * Returns the place to return to if the user comes back to a page, and keeps its rows when the user leaves.
 * A maker calls it for the list that the page consists of.
 * @param {AbortSignal} signal of the page @param {() => Kept} keep
 */
export function returned(signal, keep) {
	if (signal === going.signal) keeper = keep;
	return returning;
}

/** Notes the place in the page that is shown. */
function note_place() {
	if (!page) return;
	const links = [...page_place().querySelectorAll("a[href]")];
	const link = links.includes(/** @type {Element} */ (document.activeElement))
		? document.activeElement
		: null;
	const kept = keeper?.();
	/** @type {Place} */
	const place = {
		top: scrollY,
		href: link?.getAttribute("href") ?? "",
		offset: link?.getBoundingClientRect().top ?? 0,
		count: kept?.rows.length ?? 0,
		time: performance.now(),
		...(kept && { kept }),
	};
	places.delete(entry);
	places.set(entry, place);
	for (const key of places.keys()) if (places.size > MOST_PLACES) places.delete(key);
	return place;
}

/** Scrolls to a place, and puts the focus on its link. @param {Place} place */
function return_to(place) {
	scrollTo(0, place.top);
	const link = [...page_place().querySelectorAll("a[href]")].find(
		(one) => one.getAttribute("href") === place.href,
	);
	if (!(link instanceof HTMLElement)) return false;
	link.focus({ preventScroll: true });
	link.closest("tr")?.classList.add("fresh");
	// Rows that were never in sight have an estimated height, so the first step may miss.
	const approach = () => scrollBy(0, link.getBoundingClientRect().top - place.offset);
	approach();
	requestAnimationFrame(approach);
	return true;
}

/**
 * Goes to an address of the console, unless the user decides to stay on a page with unsaved changes.
 * @param {string} to @param {{ replace?: boolean, force?: boolean }} [options]
 */
export async function go(to, options = {}) {
	if (!options.force && page?.leave && !(await page.leave())) return;
	note_place();
	if (options.replace) history.replaceState(new_state(), "", to);
	else if (to !== location.pathname + location.search) history.pushState(new_state(), "", to);
	await show();
}

/** Forgets the page without asking: its changes can no longer be saved. */
export function abandon() {
	going.abort();
	page = null;
}

/** Returns true if the page has changes that are not saved. */
export const unsaved = () => page?.unsaved?.() === true;

/**
 * Shows the page of the current address; creates it again if it is already shown.
 * @param {Place | null} [place] where to return to
 */
export async function show(place = null) {
	going.abort();
	going = new AbortController();
	const { signal } = going;
	page?.gone?.();
	page = null;
	keeper = null;
	returning = place;
	if (!history.state?.key) history.replaceState(new_state(), "");
	entry = history.state.key;
	const holder = page_place();
	holder.setAttribute("aria-busy", "true");
	const again = shown_at === location.pathname && !place;
	/** @type {Page} */
	let next;
	let there = true;
	try {
		next = await make(signal);
	} catch (error) {
		if (signal.aborted) return;
		next = on_error(error);
		there = false;
	}
	if (signal.aborted) {
		next.gone?.();
		return;
	}
	page = next;
	shown_at = location.pathname;
	document.title = `${next.title} – Anteroom`;
	const [top, focused] = [scrollY, again ? like_focused(holder) : null];
	put(holder, next.element);
	holder.removeAttribute("aria-busy");
	on_shown(location.pathname, next.title, there);
	if (again) {
		scrollTo(0, top);
		focused?.()?.focus({ preventScroll: true });
		return;
	}
	if (place && return_to(place)) return;
	if (!place) scrollTo(0, 0);
	const focus = holder.querySelector("[autofocus]") ?? holder.querySelector("h1");
	/** @type {HTMLElement | null} */ (focus)?.focus({ preventScroll: true });
}

/**
 * Returns a function that finds the element in a new page that is like the focused one: the same kind and
 * the same name.
 * @param {HTMLElement} holder
 */
function like_focused(holder) {
	const { activeElement: old } = document;
	if (!old || !holder.contains(old)) return null;
	const name = (/** @type {Element} */ one) =>
		`${one.tagName} ${one.getAttribute("aria-label") ?? one.closest("label")?.textContent ?? one.textContent}`;
	const wanted = name(old);
	return () =>
		/** @type {HTMLElement | undefined} */ (
			[...holder.querySelectorAll(old.tagName)].find((one) => name(one) === wanted)
		);
}

/** @param {AbortSignal} signal */
async function make(signal) {
	for (const { pattern, names, maker } of routes) {
		const found = pattern.exec(location.pathname);
		if (!found) continue;
		const parameters = Object.fromEntries(
			names.map((name, i) => [name, decodeURIComponent(String(found[i + 1]))]),
		);
		return await maker(parameters, signal, new URLSearchParams(location.search));
	}
	throw new Missing();
}

/** An address without a page. */
export class Missing extends Error {}

/**
 * Shows the first page, then follows links, Back and Forward.
 * @param {(error: unknown) => Page} error makes the page for an error that a maker throws
 * @param {Shown} shown
 */
export function start(error, shown) {
	on_error = error;
	on_shown = shown;
	history.scrollRestoration = "manual";
	addEventListener("popstate", async () => {
		const to = location.pathname + location.search;
		const { state } = history;
		if (page?.leave && page.unsaved?.()) {
			// Restores the address while the user is asked.
			history.pushState({ key: entry }, "", shown_at);
			if (!(await page.leave())) return;
			history.replaceState(state, "", to);
		}
		note_place();
		await show(places.get(state?.key) ?? stored());
	});
	addEventListener("beforeunload", (event) => {
		if (page?.unsaved?.()) event.preventDefault();
	});
	addEventListener("pagehide", () => {
		const place = note_place();
		const stored = { ...place, key: entry, kept: undefined, time: undefined };
		if (place) tab_storage.set(STORED, JSON.stringify(stored));
	});
	document.addEventListener("click", (event) => {
		const link = event.target instanceof Element ? event.target.closest("a") : null;
		const changed = event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0;
		if (!link || changed || event.defaultPrevented || link.hasAttribute("download")) return;
		if (link.target || link.origin !== location.origin) return;
		if (!link.pathname.startsWith("/console") || link.hash !== "") return;
		event.preventDefault();
		go(link.pathname + link.search);
	});
	return show(stored());
}

/** Returns the place that was left by a reload, or null if it is that of another page. @returns {Place | null} */
function stored() {
	const place = tab_storage.get_json(STORED);
	return place && place.key === history.state?.key ? place : null;
}
