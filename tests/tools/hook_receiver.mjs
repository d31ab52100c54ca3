// A receiver of webhooks. Prints its port. Writes a line `ID SEQ` to one file when a request arrives, and
// to another file when it sends a 2xx response, unless the sender has closed the connection by then.
// Responses take different times, and the first request for each seventh number gets a 500.
//
//	node hook_receiver.mjs ARRIVED TAKEN
//
// SPDX-License-Identifier: GPL-3.0-or-later
import { appendFileSync } from "node:fs";
import { createServer } from "node:http";

const [arrived, taken] = process.argv.slice(2);
const refused = new Set();

function take(request, answer, body) {
	const { id, seq } = JSON.parse(body);
	const isRefused = seq % 7 === 0 && !refused.has(seq);

	if (request.headers["webhook-id"] !== id) throw new Error(`${id} is not the header's`);
	appendFileSync(arrived, `${id} ${seq}\n`);
	setTimeout(
		() => {
			if (request.socket.destroyed) return;
			if (isRefused) refused.add(seq);
			else appendFileSync(taken, `${id} ${seq}\n`);
			answer.writeHead(isRefused ? 500 : 204).end();
		},
		50 + 100 * (seq % 4),
	);
}

const server = createServer((request, answer) => {
	let body = "";

	request.on("data", (bytes) => (body += bytes));
	request.on("end", () => take(request, answer, body));
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
