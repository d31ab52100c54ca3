// A receiver of webhooks. Prints its port. Each request is a line `ID SEQ` in one file when it comes, and in
// another one when its answer is given, unless the sender has gone meanwhile. Answers take different times, and
// the first request for each seventh number is answered 500.
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
