// Requests to the service. The session is a cookie that no script can read; every write has a header that
// a page of another site cannot send.
//
// SPDX-License-Identifier: GPL-3.0-or-later

/** An error in a body: its place (JSON Pointer, "" for the whole body) and its message.
 * @typedef {{ pointer: string, message: string }} Fault */
/** @typedef {{ body?: any, etag?: string | null, seen?: string | null, create?: boolean, signal?: AbortSignal,
 *   token?: string }} Options */
/** `at` is when the service answered, in milliseconds by its clock; NaN if it does not say.
 * @typedef {{ data: any, etag: string | null, at: number }} Answer */

/** An error response, or a request without a response (status 0). */
export class Refusal extends Error {
	/**
	 * @param {number} status
	 * @param {{ message?: string, details?: string[], faults?: Fault[] }} body
	 * @param {Headers} headers
	 */
	constructor(status, body, headers) {
		super(body.message ?? `The server responded with status ${status}.`);
		this.status = status;
		this.details = body.details ?? [];
		this.faults = body.faults ?? [];
		this.retry_after = Number(headers.get("retry-after") ?? 0);
	}

	/**
	 * Returns the value of a detail such as "expires_at: 2026-11-23T09:00:00Z", or null.
	 * @param {string} name
	 */
	detail(name) {
		const start = `${name}: `;
		return this.details.find((one) => one.startsWith(start))?.slice(start.length) ?? null;
	}
}

/** Called for a 401, which returns true to send the request again, and after each successful write.
 * @type {{ ended: (method: string, path: string) => Promise<boolean>,
 *   written: (path: string, body: any, data: any) => void }} */
export const hooks = { ended: async () => false, written() {} };

/**
 * Sends a request and returns the response; throws a Refusal or an AbortError.
 * @param {string} method @param {string} path @param {Options} [options] `etag` is sent as If-Match;
 * `create` fails with 412 if an object with the same name exists; `token` takes the place of the session; `seen` is
 * the ETag of what is known already: the data is null if that is still the same
 * @returns {Promise<Answer>}
 */
export async function call(method, path, options = {}) {
	for (;;) {
		try {
			const answer = await send(method, path, options);
			if (method !== "GET") hooks.written(path, options.body, answer.data);
			return answer;
		} catch (error) {
			const ended = error instanceof Refusal && error.status === 401;
			if (!ended || !(await hooks.ended(method, path))) throw error;
		}
	}
}

/** @param {string} method @param {string} path @param {Options} options @returns {Promise<Answer>} */
async function send(method, path, options) {
	/** @type {Record<string, string>} */
	const headers = {};
	if (method !== "GET") headers["Anteroom-Console"] = "1";
	if (options.body !== undefined) headers["Content-Type"] = "application/json";
	if (options.etag) headers["If-Match"] = options.etag;
	if (options.create) headers["If-None-Match"] = "*";
	if (options.seen) headers["If-None-Match"] = options.seen;
	if (options.token) headers.Authorization = `Bearer ${options.token}`;
	/** @type {Response} */
	let response;
	let text = "";
	try {
		response = await fetch(path, {
			method,
			headers,
			credentials: options.token ? "omit" : "same-origin",
			signal: options.signal ?? null,
			cache: "no-store",
			body: options.body === undefined ? null : JSON.stringify(options.body),
		});
		text = await response.text();
	} catch (error) {
		if (error instanceof DOMException && error.name === "AbortError") throw error;
		const message = "The server could not be reached. Check your connection and try again";
		throw new Refusal(0, { message }, new Headers());
	}
	const at = Date.parse(response.headers.get("date") ?? "");
	if (response.status === 304) return { data: null, etag: options.seen ?? null, at };
	const data = parsed(response, text);
	if (!response.ok)
		throw new Refusal(response.status, typeof data === "object" ? data : {}, response.headers);
	return { data, etag: response.headers.get("etag"), at };
}

/** Returns the body, parsed if it is JSON. @param {Response} response @param {string} text @returns {any} */
function parsed(response, text) {
	if (text === "" || !response.headers.get("content-type")?.includes("json")) return text;
	try {
		return JSON.parse(text);
	} catch {
		return text;
	}
}

/** @param {string} path @param {AbortSignal} [signal] */
export const get = async (path, signal) => (await call("GET", path, signal ? { signal } : {})).data;

/**
 * Returns the path with a query; empty values are left out.
 * @param {string} path @param {Record<string, string | number | boolean | null | undefined>} query
 */
export function address(path, query) {
	const parameters = new URLSearchParams();
	for (const [key, value] of Object.entries(query)) {
		if (value !== null && value !== undefined && value !== "") parameters.set(key, String(value));
	}
	const text = parameters.toString();
	return text === "" ? path : `${path}?${text}`;
}

/**
 * Returns all items of a list, loaded page by page, at most `most`.
 * @param {string} path @param {Record<string, any>} query @param {AbortSignal} [signal]
 * @param {number} [most] @returns {Promise<any[]>}
 */
export async function all_of(path, query, signal, most = 5000) {
	const found = [];
	let start = "";
	while (found.length < most) {
		const page = await get(address(path, { ...query, limit: 100, start }), signal);
		const data = page.data ?? [];
		found.push(...data);
		if (data.length < 100) break;
		start = page.last;
	}
	return found;
}

/** @type {Promise<any> | null} */
let described = null;

/** Returns the OpenAPI document of the service, fetched once. */
export function openapi() {
	described ??= get_document();
	return described;
}

async function get_document() {
	try {
		const response = await fetch("/v2/openapi.json");
		if (!response.ok) throw new Refusal(response.status, {}, response.headers);
		return await response.json();
	} catch (error) {
		described = null;
		throw error;
	}
}

/** Encodes a text as one segment of a path. @param {string} text */
export const segment = (text) => encodeURIComponent(text);
