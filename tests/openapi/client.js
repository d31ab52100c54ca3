// Sends requests over kept connections, a few at a time.
//
// SPDX-License-Identifier: GPL-3.0-or-later
import http from "node:http";
import { setTimeout as delay } from "node:timers/promises";

const CONNECTIONS = 8;

// Returns true if the web server refused a request of somebody who joins; the program names details.
const isOfWebServer = ({ target }, { status, json }) =>
	/^\/v2\/(token|livekit|join|tickets)\b/.test(target) && status === 429 && !json?.details;

export class Client {
	constructor(base) {
		this.base = new URL(base);
		this.agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS });
		this.count = 0;
	}

	// Returns { status, headers, text, json }; json is undefined if the text is not JSON. If the web
	// server refuses because there were many requests, sends the request again when it may be sent.
	async send(request) {
		for (;;) {
			const answer = await this.#sendOnce(request);

			if (!isOfWebServer(request, answer)) return answer;
			await delay(1000 * (answer.headers["retry-after"] ?? 1));
		}
	}

	#sendOnce({ method, target, token, headers = {}, body }) {
		const sent = { "Anteroom-Console": "1", ...headers };

		if (token) sent.Authorization = `Bearer ${token}`;
		if (body !== undefined) sent["Content-Length"] = Buffer.byteLength(body);
		this.count++;
		return new Promise((resolve, reject) => {
			const options = {
				method,
				path: target,
				headers: sent,
				agent: this.agent,
				host: this.base.hostname,
				port: this.base.port,
			};
			const request = http.request(options, (answer) => {
				const chunks = [];

				answer.on("data", (chunk) => chunks.push(chunk));
				answer.on("error", reject);
				answer.on("end", () =>
					resolve(received(answer, Buffer.concat(chunks).toString())),
				);
			});

			request.on("error", reject);
			request.end(body);
		});
	}

	close() {
		this.agent.destroy();
	}
}

function received(answer, text) {
	let json;

	try {
		json = JSON.parse(text);
	} catch {
		json = undefined;
	}
	return { status: answer.statusCode, headers: answer.headers, text, json };
}

// Processes all items, a few at a time.
export async function each(items, work, atOnce = CONNECTIONS) {
	const rest = items[Symbol.iterator]();
	const workers = Array.from({ length: atOnce }, async () => {
		for (const item of { [Symbol.iterator]: () => rest }) await work(item);
	});

	await Promise.all(workers);
}
