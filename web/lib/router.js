// Shows the page for an address. A function makes the page; leaving the page aborts its requests.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { h, put } from "./dom.js";

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

/** @type {{ pattern: RegExp, names: string[], maker: Maker }[]} */
const routes = [];
/** @type {Page | null} */
let page = null;
let shown_at = "";
let going = new AbortController();
/** @type {(error: unknown) => Page} */
let on_error = () => ({ title: "Error", element: h("div") });
/** @type {(path: string) => void} */
let on_shown = () => {};

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

/**
 * Goes to an address of the console, unless the user decides to stay on a page with unsaved changes.
 * @param {string} to @param {{ replace?: boolean, force?: boolean }} [options]
 */
export async function go(to, options = {}) {
	if (!options.force && page?.leave && !(await page.leave())) return;
	if (options.replace) history.replaceState(null, "", to);
	else if (to !== location.pathname + location.search) history.pushState(null, "", to);
	await show();
}

/** Shows the page of the current address; creates it again if it is already shown. */
export async function show() {
	going.abort();
	going = new AbortController();
	const { signal } = going;
	page?.gone?.();
	page = null;
	const place = /** @type {HTMLElement} */ (document.getElementById("page"));
	place.setAttribute("aria-busy", "true");
	const again = shown_at === location.pathname;
	/** @type {Page} */
	let next;
	try {
		next = await make(signal);
	} catch (error) {
		if (signal.aborted) return;
		next = on_error(error);
	}
	if (signal.aborted) {
		next.gone?.();
		return;
	}
	page = next;
	shown_at = location.pathname;
	document.title = `${next.title} – Anteroom`;
	put(place, next.element);
	place.removeAttribute("aria-busy");
	on_shown(location.pathname);
	if (again) return;
	scrollTo(0, 0);
	const focus = place.querySelector("[autofocus]") ?? place.querySelector("h1");
	/** @type {HTMLElement | null} */ (focus)?.focus({ preventScroll: true });
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
	throw new Error("This page does not exist.");
}

/**
 * Shows the first page, then follows links, Back and Forward.
 * @param {(error: unknown) => Page} error makes the page for an error that a maker throws
 * @param {(path: string) => void} shown
 */
export function start(error, shown) {
	on_error = error;
	on_shown = shown;
	addEventListener("popstate", async () => {
		const to = location.pathname + location.search;
		if (page?.leave && page.unsaved?.()) {
			// Restores the address while the user is asked.
			history.pushState(null, "", shown_at);
			if (!(await page.leave())) return;
			history.replaceState(null, "", to);
		}
		await show();
	});
	addEventListener("beforeunload", (event) => {
		if (page?.unsaved?.()) event.preventDefault();
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
	return show();
}
