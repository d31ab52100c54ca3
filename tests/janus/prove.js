// Proves that room codes lead into a room of Janus: a browser that exchanges the code of one role
// publishes, another one with the code of another role sees its video move, and Janus rejects
// participants without a token, with an expired token, or with the token of another room. Also
// proves that only the administrator controls a room of the example: only participants can watch, a
// removed participant receives nothing more, and join tokens neither show, edit or destroy a room
// nor record in it.
//
//	BASE_URL=... CODES='{"host":...,"guest":...,"other":...}' SECRET=... ROOM_SECRET=... RECORDINGS=...
//	node prove.js
//
// SECRET is the secret that Janus shares with the service, for signing expired tokens; ROOM_SECRET
// is the secret of the rooms; RECORDINGS is an empty folder to which Janus could write.
//
// SPDX-License-Identifier: GPL-3.0-or-later
import { createHmac } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { createServer } from "node:http";

import { chromium } from "playwright-core";

const MILLISECONDS = 30000; // for each step
const { BASE_URL, CODES, SECRET, ROOM_SECRET, RECORDINGS } = process.env;
const codes = JSON.parse(CODES);
const page = readFileSync(new URL("page.html", import.meta.url));
const flags = [
	"--no-sandbox",
	"--disable-gpu",
	"--use-fake-device-for-media-stream",
	"--use-fake-ui-for-media-stream",
	"--disable-features=WebRtcHideLocalIpsWithMdns",
];

let failed = 0;

function check(what, came, expected) {
	if (expected.test(String(came))) return;
	console.error(`${what}: ${came}`);
	failed++;
}

async function exchange(code) {
	const answer = await fetch(`${BASE_URL}/v2/token`, {
		method: "POST",
		body: JSON.stringify({ code, name: "Somebody" }),
	});

	if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
	return (await answer.json()).join;
}

// Returns the same token with a time in the past.
function expired(token) {
	const [, ...rest] = token.split(":")[0].split(",");
	const signed = [Math.floor(Date.now() / 1000) - 60, ...rest].join(",");

	return `${signed}:${createHmac("sha1", SECRET).update(signed).digest("base64")}`;
}

const server = createServer((_, response) => {
	response.setHeader("Content-Type", "text/html");
	response.end(page);
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: flags });

// Opens the page in a browser context of its own.
async function open() {
	const context = await browser.newContext({ permissions: ["camera", "microphone"] });
	const opened = await context.newPage();

	opened.setDefaultTimeout(MILLISECONDS);
	await opened.goto(`http://127.0.0.1:${server.address().port}/`);
	return opened;
}

async function enter(join, publishes) {
	const opened = await open();
	const came = await opened.evaluate(([one, two]) => enter(one, two), [join, publishes]);

	return { opened, came };
}

const host = await exchange(codes.host);
const guest = await exchange(codes.guest);
const other = await exchange(codes.other);
const publisher = await enter(host, true);
const watcher = await enter(guest, false);

check("the host", publisher.came, /^connected$/);
check("the guest", watcher.came, /^connected$/);
if (watcher.came === "connected")
	check("the picture", await watcher.opened.evaluate(() => movingVideo()), /^320,240$/);

const refusals = {
	"no token": { ...guest, token: undefined },
	"a token that has expired": { ...guest, token: expired(guest.token) },
	"no token of the room": { ...guest, room_token: undefined },
	"a room's token that has expired": { ...guest, room_token: expired(guest.room_token) },
	"another room's token": { ...guest, room_token: other.room_token },
};
for (const [what, join] of Object.entries(refusals))
	check(what, (await enter(join, false)).came, /^(create|join): (Unauthorized|unauthorized)/i);

// ---- actions that the tokens do not allow ----

const { room } = guest;
const recording = { request: "configure", record: true, filename: `${RECORDINGS}/taken` };
const id = ({ opened }) => opened.evaluate(() => entered.id);
const ask = ({ opened }, body) => opened.evaluate((one) => request(one), body);
const alone = await (await open()).evaluate(([one, feed]) => watchAlone(one, feed), [
	guest,
	await id(publisher),
]);
check("watching without joining", alone, /^join: Unauthorized/);
for (const [what, more] of Object.entries({
	edit: { new_description: "mine" },
	destroy: {},
	kick: { id: await id(publisher) },
	moderate: { id: await id(publisher), mid: "0", mute: true },
	enable_recording: { record: true },
})) {
	check(what, await ask(watcher, { request: what, room, ...more }), /^\w+: Missing mandatory element/);
	check(what, await ask(watcher, { request: what, room, ...more, secret: "other" }), /^\w+: Unauth/);
}
check("a new room", await ask(watcher, { request: "create", room: "mine" }), /^create: /);
check("the list", await ask(watcher, { request: "list" }), /^(?!.*[0-9a-f]{24})/);
check("to record", await ask(publisher, recording), /"configured":"ok"/);

// The pictures of another guest serve as a clock.
const clock = await enter(await exchange(codes.guest), false);
check("another guest", clock.came, /^connected$/);
const kick = { request: "kick", room, id: await id(watcher), secret: ROOM_SECRET };
check("the removal", await ask(publisher, kick), /"success"/);
let more = 1;
// Packets that are already on their way still arrive.
for (let tries = 10, received = 0; more !== 0 && tries > 0; tries--) {
	await clock.opened.evaluate(() => pictures(20));
	more = (await watcher.opened.evaluate(() => packets())) - received;
	received += more;
}
check("what a removed guest gets", more, /^0$/);
const again = await watcher.opened.evaluate((one) => watchAgain(one), guest);
check("a removed guest that watches again", again, /^join: Unauthorized/);
check("recordings", readdirSync(RECORDINGS).join(), /^$/);

await browser.close();
server.close();
console.log(failed === 0 ? "everything works" : `${failed} wrong`);
process.exitCode = failed > 0 ? 1 : 0;
