// Reads the text of a search, which can be words of a name, a code, a join link, an ID or an address of the
// console, and finds the objects.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { Refusal, address, get, segment } from "../lib/api.js";
import { may } from "./session.js";

// Generated codes: groups of 3, 3 or 4, and 3 letters, with or without hyphens. Then custom codes.
const LETTERS = /^([a-z]{3})[- ]?([a-z]{3,4})[- ]?([a-z]{3})$/i;
const CUSTOM = /^(?=.{6,40}$)[a-z0-9]+(-[a-z0-9]+)*$/i;
const LINK = /\/join\/([^/?#\s]+)/;
const ID = /^[0-9a-f]{24}$|\/[0-9a-f]{24}(?=[/?#]|$)/i;

/** The longest text that the service searches for. */
export const LONGEST = 100;
/** The service examines at most this many objects per request. */
export const EXAMINED = 10000;

/**
 * Returns the code and the ID that a text may be, and the words to search names for.
 * @param {string} text @returns {{ code: string, id: string, words: string }}
 */
export function meant(text) {
	const link = LINK.exec(text)?.[1];
	const id = ID.exec(text)?.[0].replace("/", "").toLowerCase() ?? "";
	const letters = LETTERS.exec(text)?.slice(1).join("-");
	const code = link ?? letters ?? (CUSTOM.test(text) ? text : "");
	const words = link || id || text.includes("://") ? "" : text.slice(0, LONGEST);
	return { code: id ? "" : code.toLowerCase(), id, words };
}

/** Returns the answer, or null if there is no such object. @param {string} path @param {AbortSignal} signal */
async function object_at(path, signal) {
	try {
		return await get(path, signal);
	} catch (error) {
		if (error instanceof Refusal && [400, 403, 404].includes(error.status)) return null;
		throw error;
	}
}

/** Returns the code that a text may be, or null. @param {string} code @param {AbortSignal} signal */
export const code_of = (code, signal) =>
	code && may("codes:read") ? object_at(`/v2/room-codes/code/${segment(code)}`, signal) : null;

/** Returns the room or template with an ID, or null.
 * @param {string} path of the list @param {string} id @param {AbortSignal} signal */
export const object_of = (path, id, signal) => (id ? object_at(`${path}/${id}`, signal) : null);

/**
 * Returns a page of a search in names, newest first. It goes on through pages that are short because the
 * service has looked at enough objects for one request, and tells how many it has looked at.
 * @param {string} path @param {Record<string, any>} query with `q`, `start` and `limit`
 * @param {AbortSignal} signal @param {(examined: number, data: any[]) => void} [progress]
 * @returns {Promise<{ data: any[], last: string }>} `last` is "" at the end
 */
export async function search(path, query, signal, progress = () => {}) {
	/** @type {any[]} */
	const data = [];
	let { start } = query;
	for (let examined = EXAMINED; ; examined += EXAMINED) {
		const page = await get(address(path, { ...query, start }), signal);
		data.push(...(page.data ?? []));
		if (page.last === "" || page.last === start || data.length >= query.limit)
			return { data, last: page.last === start ? "" : page.last };
		start = page.last;
		progress(examined, data);
	}
}

/** The characters that names of each list can begin with, in the order of the list. @type {Record<string, string>} */
const FIRST = {
	"/v2/rooms": "-.0123456789:_abcdefghijklmnopqrstuvwxyz",
	"/v2/templates": "-.0123456789:ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz",
};
// First characters that are asked for at once.
const AT_ONCE = 10;

/**
 * Returns a page in the order of names. The service orders names that have the same beginning, so this asks
 * for one first character after the other.
 * @param {string} path @param {Record<string, any>} query with `limit`
 * @param {string} after the last name of the previous page, or "" @param {AbortSignal} signal
 * @returns {Promise<{ data: any[], last: string }>} `last` is "" at the end
 */
export async function by_name(path, query, after, signal) {
	const firsts = FIRST[path] ?? "";
	const lower = path === "/v2/rooms" ? after.toLowerCase() : after;
	/** @type {any[]} */
	const data = [];
	let start = after;
	for (let at = after ? firsts.indexOf(lower.charAt(0)) : 0; at < firsts.length;) {
		const some = [...firsts.slice(at, at + (start ? 1 : AT_ONCE))];
		const pages = await Promise.all(
			some.map((first) => get(address(path, { ...query, name_prefix: first, start }), signal)),
		);
		for (const page of pages) {
			const found = page.data ?? [];
			data.push(...found);
			if (data.length >= query.limit || found.length === query.limit)
				return { data, last: data.at(-1).name };
			at += 1;
		}
		start = "";
	}
	return { data, last: "" };
}
