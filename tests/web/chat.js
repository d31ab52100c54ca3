// The chat of a call: what is read of the packets that arrive, without a browser and by tables; then its panel, as the
// people in a call use it, and what others can do to it.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { readFileSync } from "node:fs";
import { deflateRawSync } from "node:zlib";
import { close, control, focused, load, make_call, note, open_call, says } from "./call.js";
import { SIZES, accessible, group, ok } from "./stand.js";

const { clean, clean_name, limit, text_reader } = await load("chat/texts.js");

// ---- what is read of packets ----

const bytes = (text) => new TextEncoder().encode(text);
/** The packets of a text stream: header, chunks, trailer. */
const head = (more = {}) => ["streamHeader", { streamId: "1", topic: "lk.chat", contentHeader: { case: "textHeader", value: { operationType: 0 } }, attributes: {}, compression: 0, ...more }];
const whole = (text, more) => head({ inlineContent: bytes(text), ...more });
const part = (text, i = 0, streamId = "1") => ["streamChunk", { streamId, chunkIndex: BigInt(i), content: bytes(text) }];
const tail = (more = {}) => ["streamTrailer", { streamId: "1", reason: "", attributes: {}, ...more }];
const deflated = (text) => ({ inlineContent: new Uint8Array(deflateRawSync(text)), compression: 1 });
const LONG = "x".repeat(8001);

/** Each packet with its sender: "A 0" is from Ada, at millisecond 0. Shown: names, texts, and who got them; lost: the causes. */
const PACKETS = [
	{ name: "a text in one packet", packets: [["A", whole("Hi")]], shown: "Ada: Hi" },
	{ name: "a text in chunks", packets: [["A", head()], ["A", part("H")], ["A", part("i", 1)], ["A", tail()]], shown: "Ada: Hi" },
	{ name: "a compressed text", packets: [["A", head(deflated("Hi, hi, hi, hi, hi!"))]], shown: "Ada: Hi, hi, hi, hi, hi!" },
	{ name: "a letter that is cut by a chunk", packets: [["A", head()], ["A", ["streamChunk", { streamId: "1", chunkIndex: 0n, content: bytes("é").slice(0, 1) }]], ["A", ["streamChunk", { streamId: "1", chunkIndex: 1n, content: bytes("é").slice(1) }]], ["A", tail()]], shown: "Ada: é" },
	{ name: "one topic", packets: [["A", whole("Hi", { topic: "lk-chat-topic" })], ["A", whole("Hi", { topic: "" })]], shown: "" },
	{ name: "no bytes for a file", packets: [["A", whole("Hi", { contentHeader: { case: "byteHeader", value: {} } })]], shown: "" },
	{ name: "no change of an earlier text", packets: [["A", whole("Hi", { contentHeader: { case: "textHeader", value: { operationType: 1 } } })]], shown: "" },
	{ name: "no unknown compression", packets: [["A", whole("Hi", { compression: 7 })]], shown: "" },
	{ name: "nothing without a sender", packets: [["", whole("I am the service")]], shown: "" },
	{ name: "no chunk of somebody else", packets: [["A", head()], ["B", part("I am Ada")], ["A", part("Hi")], ["B", tail()], ["A", part("!", 1)], ["A", tail()]], shown: "Ada: Hi!" },
	{ name: "two with the same number of a stream", packets: [["A", head()], ["B", head()], ["B", part("No")], ["A", part("Hi")], ["A", tail()], ["B", tail()]], shown: "Ada: Hi, Ben: No" },
	{ name: "no second header of a stream", packets: [["A", head({ attributes: {} }), ["M"]], ["A", head(), []], ["A", part("Hi")], ["A", tail()]], shown: "Ada: Hi (me)" },
	{ name: "no chunk twice", packets: [["A", head()], ["A", part("Hi")], ["A", part("Hi")], ["A", tail()]], shown: "Ada: Hi" },
	{ name: "nothing with a chunk missing", packets: [["A", head()], ["A", part("H")], ["A", part("!", 2)], ["A", tail()]], shown: "" },
	{ name: "nothing shorter than was said", packets: [["A", head({ totalLength: 9n })], ["A", part("Hi")], ["A", tail()]], shown: "" },
	{ name: "nothing that its sender gave up", packets: [["A", head()], ["A", part("Hi")], ["A", tail({ reason: "cancelled" })]], shown: "" },
	{ name: "nothing after ten seconds", packets: [["A", head()], ["A", part("Hi")], ["A 10000", tail()]], shown: "" },
	{ name: "to you alone", packets: [["A", whole("Hi"), ["M"]]], shown: "Ada: Hi (me)" },
	{ name: "to you alone, twice", packets: [["A", whole("Hi"), ["M", "M"]]], shown: "Ada: Hi (me)" },
	{ name: "to some people", packets: [["A", whole("Hi"), ["M", "B"]]], shown: "Ada: Hi (2)" },
	{ name: "to a role", packets: [["A", whole("Hi", { attributes: { "anteroom.to": "guest" } }), ["M", "B"]]], shown: "Ada: Hi (guest)" },
	{ name: "to a role that not all of them have", packets: [["A", whole("Hi", { attributes: { "anteroom.to": "host" } }), ["M", "B"]]], shown: "Ada: Hi (2)" },
	{ name: "a role is no recipient", packets: [["A", whole("Hi", { attributes: { "anteroom.to": "guest" } })]], shown: "Ada: Hi" },
	{ name: "a role from the header alone", packets: [["A", head(), ["M", "B"]], ["A", part("Hi")], ["A", tail({ attributes: { "anteroom.to": "guest" } })]], shown: "Ada: Hi (2)" },
	{ name: "no name that the sender writes", packets: [["A", whole("Hi", { attributes: { name: "Ben", identity: "B", sender: "B" } })]], shown: "Ada: Hi" },
	{ name: "nothing of who may not write", packets: [["C", whole("Hi")]], shown: "" },
	{ name: "of somebody who comes a moment later", packets: [["N", whole("Hi")], ["come"]], shown: "Nora: Hi" },
	{ name: "nothing of who never comes", packets: [["X", whole("Hi")], ["come"]], shown: "" },
	{ name: "of somebody who has left since", packets: [["A", head()], ["A", part("Bye")], ["leave"], ["A", tail()]], shown: "Ada: Bye" },
	{ name: "2,000 characters", packets: [["A", whole(`${"ä".repeat(1999)}z and more`)]], shown: `Ada: ${"ä".repeat(1999)}z` },
	{ name: "2,000 large characters", packets: [["A", whole("😀".repeat(2000))]], shown: `Ada: ${"😀".repeat(2000)}` },
	{ name: "no 8,001 bytes", packets: [["A", whole(LONG)], ["A", head({ totalLength: 8001n })]], shown: "", lost: "long,long" },
	{ name: "no 8,001 bytes in chunks", packets: [["A", head()], ["A", part(LONG)], ["A", part("Hi", 1)], ["A", tail()]], shown: "", lost: "long" },
	{ name: "no 8,001 bytes that were compressed", packets: [["A", head(deflated("x".repeat(1e6)))]], shown: "", lost: "long" },
	{ name: "no damaged compression", packets: [["A", head({ inlineContent: bytes("\u0001\u0002"), compression: 1 })]], shown: "", lost: "long" },
	{ name: "4 open streams", packets: ["1", "2", "3", "4", "5"].flatMap((streamId) => [["A", head({ streamId })]]).concat([["A", part("Hi", 0, "5")], ["A", tail({ streamId: "5" })], ["A", part("Hi", 0, "4")], ["A", tail({ streamId: "4" })]]), shown: "Ada: Hi", lost: "fast" },
	{ name: "again after ten seconds", packets: ["1", "2", "3", "4"].flatMap((streamId) => [["A", head({ streamId })]]).concat([["A 10000", whole("Hi", { streamId: "5" })]]), shown: "Ada: Hi" },
	{ name: "5 in 5 seconds", packets: [1, 2, 3, 4, 5, 6, 7].map((n) => ["A", whole(String(n))]).concat([["B", whole("Hi")]]), shown: "Ada: 1, Ada: 2, Ada: 3, Ada: 4, Ada: 5, Ben: Hi", lost: "fast,fast" },
	{ name: "5 in 5 seconds, in a window that slides", packets: [0, 4000, 4000, 4000, 4000, 4999, 5000, 8999, 9000].map((at, n) => [`A ${at}`, whole(String(n))]), shown: "Ada: 0, Ada: 1, Ada: 2, Ada: 3, Ada: 4, Ada: 6, Ada: 8", lost: "fast,fast" },
	{ name: "in their order, compressed or not", packets: [["A", head(deflated("one, one, one, one, one"))], ["A", whole("two")]], shown: "Ada: one, one, one, one, one, Ada: two" },
	{ name: "no empty text", packets: [["A", whole(" \u202e\n\t")]], shown: "" },
	{ name: "neither control characters nor those that turn a line around", packets: [["A", whole("\u202eab\u0000c\u2066\r\nd\u200f\u0085e\u001b[1m")]], shown: "Ada: abc\nd\ne[1m" },
	{ name: "HTML as it was written", packets: [["A", whole("<img src=x onerror=alert(1)>")]], shown: "Ada: <img src=x onerror=alert(1)>" },
	{ name: "a name in one line", packets: [["W", whole("Hi")]], shown: "An no: Hi" },
];

/** A room in the place of the library's, with people by a letter. */
function room_of_packets() {
	const listeners = new Map();
	const on = (name, listener) => listeners.set(name, listener);
	const person = (identity, name, more = {}) => [identity, { identity, name, attributes: { role: "guest" }, permissions: { canPublishData: true }, ...more }];
	const room = {
		on,
		localParticipant: { identity: "M", attributes: { role: "guest" } },
		remoteParticipants: new Map([person("A", "Ada", { attributes: { role: "host" } }), person("B", "Ben"), person("C", "Cleo", { permissions: { canPublishData: false } }), person("W", "An\n\u202eno")]),
	};
	return { room, tell: (name, value) => listeners.get(name)?.(value), nora: person("N", "Nora")[1] };
}

/** The texts of packets, whatever packets come. */
export const texts_of_packets = () =>
	group("texts of packets", async () => {
		const event = { ParticipantConnected: "come" };
		for (const { name, packets, shown, lost = "" } of PACKETS) {
			const { room, tell, nora } = room_of_packets();
			const found = [];
			const causes = [];
			let now = 0;
			performance.now = () => now;
			const only_of = (only) => (only === null ? "" : ` (${only.me ? "me" : (only.role ?? only.n)})`);
			const text = (one) => found.push(`${one.name}: ${one.text}${only_of(one.only)}`);
			const read = text_reader(room, event, { text, text_lost: (from, name, why) => causes.push(why) }, new AbortController().signal);
			for (const [who, packet, to = []] of packets) {
				await new Promise((turn) => setImmediate(turn));
				const [from, at = "0"] = who.split(" ");
				now = Number(at);
				if (who === "come") tell("come", nora);
				else if (who === "leave") room.remoteParticipants.delete("A");
				else read({ participantIdentity: from, destinationIdentities: to, value: { case: packet[0], value: packet[1] } });
			}
			delete performance.now;
			// Decompressing takes turns of its own.
			const end = Date.now() + 2000;
			while (Date.now() < end && (found.join(", ") !== shown || causes.join() !== lost)) await new Promise((turn) => setImmediate(turn));
			ok(`texts: ${name}`, found.join(", ") === shown && causes.join() === lost, `${found.join(", ").slice(0, 200)}; lost: ${causes}`);
		}
		const { room } = room_of_packets();
		const over = new AbortController();
		const late = [];
		const read_late = text_reader(room, event, { text: (one) => late.push(one), text_lost() {} }, over.signal);
		over.abort();
		read_late({ participantIdentity: "A", value: { case: "streamHeader", value: whole("Hi")[1] } });
		await new Promise((turn) => setImmediate(turn));
		ok("texts: none after the end", late.length === 0, late.length);
		// A flood takes the page little time.
		const flood = room_of_packets();
		let dropped = 0;
		const read_flood = text_reader(flood.room, event, { text() {}, text_lost: () => dropped++ }, new AbortController().signal);
		const packets = Array.from({ length: 20000 }, (_, i) => ({ participantIdentity: i % 2 ? "A" : "B", destinationIdentities: [], value: { case: "streamHeader", value: whole("flood", { streamId: String(i) })[1] } }));
		const began = process.cpuUsage();
		packets.forEach(read_flood);
		// Ten seconds of a flood.
		const took = process.cpuUsage(began).user / 1000;
		ok("texts: 20,000 packets take less than 500 ms", took < 500 && dropped === 19990, `${took} ms, ${dropped}`);
		const sent = limit();
		const waits = [0, 0, 0, 0, 0, 0, 2000, 5000].map((at) => [sent.wait(at), sent.wait(at) || sent.count(at)][0]);
		ok("texts: what one may send", waits.join() === "0,0,0,0,0,5000,3000,0", waits.join());
		ok("texts: what is typed", clean(" \u2067a\r\nb\u0007 ") === "a\nb" && clean_name("a\nb") === "a b");
	});

// ---- the panel ----

const rows = (page) =>
	page.locator(".chat-log :is(.chat-entry, .chat-line)").evaluateAll((all) =>
		all.map((one) => {
			const by = [...one.querySelectorAll(".chat-by > :not(time):not(svg)")].map((part) => part.textContent.trim()).join(" ");
			return `${by && `${by}: `}${(one.querySelector(".chat-text") ?? one).textContent}`;
		}),
	);
const come = (page, people) =>
	page.evaluate((all) => {
		for (const [sid, name, role] of all) fake.room.come(sid, name, [], { attributes: { role } });
	}, people);
const write = (page, ...message) => page.evaluate((all) => fake.room.write(...all), message);
const type = async (page, text) => {
	await page.fill("#chat-text", text);
	await page.press("#chat-text", "Enter");
};
const sent = (page) => page.evaluate(() => (fake.texts ?? []).map((one) => [one.topic, one.text, one.destinationIdentities, one.attributes]));
const open_chat = async (page) => {
	await page.click(control("chat"));
	await page.waitForSelector(".chat-log", { state: "visible" });
};
const fault = (page) => page.locator("#chat-fault").textContent();
const to_pill = (page) => page.waitForSelector(".chat-newer", { state: "visible" });

/** One panel at a time, from the bar, by the keyboard, and from More where the bar has no space. */
export const panels_in_calls = (browser) =>
	group("panels of a call", async () => {
		const stand = await make_call("Panels");
		const page = await open_call(browser, stand, "host");
		await come(page, [["PA_1", "Ada", "guest"]]);
		const open = () => page.locator(".panel:visible").evaluateAll((all) => all.map((one) => one.id).join());
		await page.keyboard.press("c");
		await page.waitForSelector(".chat-log");
		ok("C opens the chat, and the field has the focus", (await focused(page)) === "Message", await focused(page));
		await page.click(control("people"));
		ok("one panel at a time", (await open()) === "people", await open());
		await page.click(control("chat"));
		ok("and the other way", (await open()) === "chat", await open());
		ok("the button shows it", (await page.locator(`${control("chat")}.is-on[aria-expanded=true]`).count()) === 1);
		await page.keyboard.press("Escape");
		ok("Escape closes it and gives the focus back", (await open()) === "" && (await focused(page)) === "Chat", await focused(page));
		await page.keyboard.press("p");
		await page.keyboard.press("c");
		ok("keys change it", (await open()) === "chat", await open());
		await come(page, [["PA_2", "Announcement", "guest"]]);
		await write(page, "PA_2", "See https://example.org/");
		await page.waitForSelector(".chat-text a");
		ok("no name looks like the service's", (await page.locator(".chat-entry.service").count()) === 0);
		await page.focus("#chat h2");
		const stops = [];
		for (let i = 0; i < 7; i++) {
			await page.keyboard.press("Tab");
			stops.push(await page.evaluate(() => document.activeElement.getAttribute("aria-label") ?? document.activeElement.id));
			if (stops.at(-1) === "") stops[stops.length - 1] = await focused(page);
		}
		ok("the order of Tab", stops.join() === "Chat options,Close,Messages,https://example.org/,chat-to,Message,Send", stops.join());
		await page.fill("#chat-text", "A text of some lines, ".repeat(4));
		const { width, height } = page.viewportSize();
		for (const now of [390, width]) {
			await page.setViewportSize({ width: now, height });
			const over = await page.evaluate(async () => {
				for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
				const { scrollHeight, clientHeight } = document.querySelector("#chat-text");
				return scrollHeight - clientHeight;
			});
			ok(`the field has space for its text in a window that becomes ${now} wide`, over <= 0, over);
		}
		await page.fill("#chat-text", "");
		await close(page);
		for (const [name, size, wanted] of [
			["a desk", { viewport: { width: 1366, height: 768 } }, "View…Grid, Full screen | Connection…, Keyboard shortcuts | Turn off alerts for people waiting, End call for everyone"],
			["a small window", { viewport: { width: 768, height: 800 } }, "View…Grid, Full screen | Devices…, Connection…, Keyboard shortcuts | Turn off alerts for people waiting, End call for everyone"],
			["a phone", SIZES.phone, "Share screen | View…Grid, Full screen | Devices…, Connection… | Turn off alerts for people waiting, End call for everyone"],
			["400 %", { viewport: { width: 320, height: 256 } }, "Raise hand, People (1), Share screen | View…Grid, Full screen | Devices…, Connection…, Keyboard shortcuts | Turn off alerts for people waiting, End call for everyone"],
		]) {
			const small = await open_call(browser, stand, "host", size, () => Object.assign(navigator.mediaDevices ?? {}, { getDisplayMedia() {} }));
			// Once the list has them, the controls of hosts are loaded.
			await small.keyboard.press("p");
			await small.waitForSelector("#people .tools");
			await small.keyboard.press("p");
			await small.click(control("more"));
			const groups = await small.locator(".menu-group").evaluateAll((all) => all.map((one) => [...one.querySelectorAll(".menu-item")].map((item) => item.textContent).join(", ")).join(" | "));
			ok(`More in ${name}`, groups === wanted, groups);
			const cut = await small.evaluate(() => [...document.querySelectorAll(".call-bar button")].filter((one) => one.checkVisibility() && (one.getBoundingClientRect().right > innerWidth || one.getBoundingClientRect().left < 0)).length);
			ok(`no control is cut in ${name}`, cut === 0, cut);
			if (wanted.includes("Devices")) {
				await small.click(".menu-item:has-text('Devices…')");
				await small.waitForSelector(".menu-item:has-text('Back to More')");
				const others = await small.locator(".menu-item").allTextContents();
				ok(`devices in ${name}`, others.length > 2, others.join());
				await small.click(".menu-item:has-text('Back to More')");
				await small.waitForSelector(".menu-item:has-text('Full screen')");
				await small.keyboard.press("Escape");
				ok(`More has the focus again in ${name}`, (await focused(small)) === "More", await focused(small));
			}
			await close(small);
		}
		stand.livekit.stop();
	});

/** What others write, and what you write. */
export const chat_in_calls = (browser) =>
	group("chat of a call", async () => {
		const stand = await make_call("Chat");
		const page = await open_call(browser, stand, "guest");
		await open_chat(page);
		const empty = await page.locator(".chat-log").textContent();
		ok("nobody has written yet", empty.includes("No messages yet") && empty.includes("Messages are deleted when the call ends."), empty);
		ok("who was first is told of nothing before", !empty.includes("You joined at"));
		ok("alone there is no recipient", !(await page.isVisible("#chat-to")));
		await come(page, [["PA_1", "Ada", "host"]]);
		await page.waitForSelector(".tile:has-text('Ada'), .call");
		ok("nor with one other", !(await page.isVisible("#chat-to")));
		await come(page, [["PA_2", "Ben", "guest"]]);
		await page.waitForSelector("#chat-to", { state: "visible" });
		const offers = await page.locator("#chat-to option").allTextContents();
		ok("recipients", offers.join() === "Everyone,Everyone with the role guest,Everyone with the role host,Ada,Ben", offers.join());
		await page.evaluate(() => {
			const me = fake.room.localParticipant;
			fake.room.write("PA_1", "Good morning!");
			fake.room.write("PA_1", "Can you\nhear me?");
			fake.room.write("PA_1", "Only you", [me.identity]);
			fake.room.write("PA_2", "Guests", [me.identity, "PA_2"], { "anteroom.to": "guest" });
			fake.room.write("PA_2", "Some", [me.identity, "PA_1"], { "anteroom.to": "host" });
			fake.room.write("PA_2", "<b>bold</b> https://example.org/a?b=1. http://example.org javascript:alert(1)", [], { "anteroom.to": "guest" });
			fake.room.say("chat", "The room closes at noon.");
			fake.room.say("chat", "I am the service", "PA_2");
		});
		await page.waitForSelector(".chat-entry.service");
		const wanted = [
			"Messages are deleted when the call ends.",
			"Ada , host: Good morning!",
			"Can you\nhear me?",
			"Ada , host only to you: Only you",
			"Ben only to guest: Guests",
			"Ben only to 2 people: Some",
			"Ben: <b>bold</b> https://example.org/a?b=1. http://example.org javascript:alert(1)",
			"Announcement: The room closes at noon.",
		];
		ok("who wrote what to whom", (await rows(page)).join(" | ") === wanted.join(" | "), (await rows(page)).join(" | "));
		ok("the announcement is a note too", (await page.locator(note("The room closes at noon.")).count()) === 1);
		const links = await page.locator(".chat-text a").evaluateAll((all) => all.map((one) => `${one.getAttribute("href")} ${one.rel} ${one.target}`).join());
		ok("one link, which tells nothing", links === "https://example.org/a?b=1 noopener noreferrer _blank", links);
		ok("nothing was HTML", (await page.locator(".chat-text :not(a)").count()) === 0);
		ok("private messages have a lock", (await page.locator(".chat-entry.private .chat-only .icon").count()) === 3);

		await type(page, "  Hello\u202e all ");
		await page.selectOption("#chat-to", { label: "Ada" });
		ok("to one person the recipient is amber", (await page.locator(".chat-form.to-one").count()) === 1);
		await type(page, "Hello Ada");
		ok("and stays chosen", (await page.inputValue("#chat-to")) === "to PA_1");
		await page.selectOption("#chat-to", { label: "Everyone with the role guest" });
		await page.fill("#chat-text", "Hello\nguests");
		await page.click("[aria-label=Send]");
		const got = JSON.stringify(await sent(page));
		const expected = JSON.stringify([
			["lk.chat", "Hello all", [], {}],
			["lk.chat", "Hello Ada", ["PA_1"], {}],
			["lk.chat", "Hello\nguests", ["PA_2"], { "anteroom.to": "guest" }],
		]);
		ok("what is sent, and to whom", got === expected, got);
		const own = (await rows(page)).slice(-3).join(" | ");
		ok("your own are shown", own === "You: Hello all | You only to Ada: Hello Ada | You only to guest: Hello\nguests", own);
		ok("the field is empty and has the focus", (await page.inputValue("#chat-text")) === "" && (await focused(page)) === "Message");
		await page.press("#chat-text", "Shift+Enter");
		ok("Shift Enter makes a line", (await page.inputValue("#chat-text")) === "\n");

		await page.selectOption("#chat-to", { label: "Ada" });
		await page.evaluate(() => fake.room.go("PA_1"));
		await page.waitForSelector("#chat-fault:has-text('Ada has left. Choose someone else.')");
		await type(page, "Bye");
		ok("nothing goes to who has left", (await sent(page)).length === 3 && (await page.inputValue("#chat-text")) === "Bye");
		await page.selectOption("#chat-to", { label: "Everyone" });
		ok("somebody else can be chosen", (await fault(page)) === "", await fault(page));
		await come(page, [["PA_1", "Ada", "host"]]);

		await page.fill("#chat-text", "x".repeat(1799));
		ok("no number while there is space", !(await page.isVisible("#chat-count")));
		await page.fill("#chat-text", "x".repeat(1800));
		ok("then the number of characters left", (await page.textContent("#chat-count")) === "200 characters left");
		await type(page, "x".repeat(2001));
		ok("too long is said and not sent", (await fault(page)).startsWith("The message is too long") && (await sent(page)).length === 3);
		ok("and stays", (await page.inputValue("#chat-text")).length === 2001);
		await type(page, "😀".repeat(2000));
		ok("2,000 characters are sent, whatever they are", (await sent(page)).length === 4);

		// The list and the tiles write to a person.
		await page.click(control("people"));
		await page.click(".person [aria-label='Options for Ben']");
		await page.click(".menu-item:has-text('Send message')");
		await page.waitForSelector(".chat-log", { state: "visible" });
		ok("Send message chooses the recipient", (await page.inputValue("#chat-to")) === "to PA_2" && (await focused(page)) === "Message");
		await close(page);

		// Who comes later.
		const late = await open_call(browser, stand, "guest", {}, () => {
			globalThis.fake = { first: (room) => room.come("PA_1", "Ada", []) };
		});
		await open_chat(late);
		const line = await late.locator(".chat-log").textContent();
		ok("who comes later is told so", /You joined at .*\d+.* You cannot see earlier messages/.test(line), line);
		await close(late);
		stand.livekit.stop();
	});

/** Limits, failures, roles that only read, and a connection that is lost. */
export const limits_of_chat = (browser) =>
	group("limits of the chat", async () => {
		const stand = await make_call("Chat limits");
		let may_write = true;
		const page = await open_call(browser, stand, "guest", {}, undefined, async (one) => {
			await one.route("**/me", async (route) => {
				const response = await route.fetch();
				const me = await response.json();
				if (!may_write) me.role.permissions.chat = false;
				await route.fulfill({ response, json: me });
			});
		});
		await page.clock.install();
		await come(page, [["PA_1", "Ada", "guest"], ["PA_2", "Ben", "guest"]]);
		await open_chat(page);
		for (let i = 1; i <= 6; i++) await type(page, `Message ${i}`);
		ok("six are too many", /^Wait [1-5] seconds? before you send the next message\.$/.test(await fault(page)), await fault(page));
		ok("the text stays", (await page.inputValue("#chat-text")) === "Message 6" && (await sent(page)).length === 5);
		await page.clock.fastForward(5100);
		await page.waitForFunction(() => document.querySelector("#chat-fault").textContent === "");
		await page.press("#chat-text", "Enter");
		ok("then sending works again by itself", (await sent(page)).length === 6, (await sent(page)).length);

		await page.evaluate(() => {
			for (let i = 1; i <= 19; i++) fake.room.write("PA_1", `Flood ${i}`);
			for (let i = 1; i <= 2; i++) fake.room.write("PA_2", "x".repeat(9000));
			fake.room.write("PA_2", "Calm");
		});
		await page.clock.fastForward(1000);
		await page.waitForFunction(() => document.querySelector(".chat-log").textContent.includes("Calm"));
		const said = (await rows(page)).filter((one) => /Flood|not shown|Calm/.test(one)).join(" | ");
		const lines = "14 messages from Ada not shown: too many at once. | 2 messages from Ben not shown: too long.";
		ok("a flood is one line", said.includes(lines) && said.match(/Flood/g).length === 5 && said.endsWith("Calm"), said);
		await page.evaluate(() => fake.room.write("PA_1", "Flood 20"));
		await page.clock.fastForward(1000);
		ok("which counts on", (await rows(page)).some((one) => one.startsWith("15 messages from Ada")));
		await page.clock.fastForward(6000);
		await page.evaluate(() => {
			for (let i = 1; i <= 6; i++) fake.room.write("PA_1", `Again ${i}`);
		});
		await page.waitForFunction(() => document.querySelector(".chat-log").textContent.includes("1 message from Ada not shown"));
		ok("the next burst is a new line", true);

		await page.evaluate(() => (fake.no_texts = true));
		await type(page, "Lost");
		await page.waitForSelector(".chat-entry .fault:visible");
		ok("what was not sent says so", (await page.locator(".chat-entry .fault:visible").textContent()).trim() === "Not sent. Try again");
		await page.evaluate(() => (fake.no_texts = false));
		await page.click("button:text-is('Try again')");
		await page.waitForFunction(() => fake.texts.length === 7);
		const own = (await rows(page)).filter((one) => one.includes("Lost"));
		ok("and is sent again, once", own.length === 1 && (await page.locator(".chat-entry .fault:visible").count()) === 0, own.join());

		await page.fill("#chat-text", "Half a sen");
		await page.evaluate(() => fake.room.emit("Reconnecting"));
		await page.waitForSelector("#chat-fault:has-text('You can send messages again when you are reconnected.')");
		await page.type("#chat-text", "tence");
		await page.press("#chat-text", "Enter");
		ok("nothing is sent while reconnecting, and typing goes on", (await sent(page)).length === 7 && (await page.inputValue("#chat-text")) === "Half a sentence" && (await page.isDisabled("[aria-label=Send]")));
		await page.evaluate(() => fake.room.emit("Reconnected"));
		await page.waitForFunction(() => document.querySelector("#chat-fault").textContent === "");
		ok("then it can be sent", await page.isEnabled("[aria-label=Send]"));

		may_write = false;
		await page.evaluate(() => fake.room.say("anteroom", { type: "role" }));
		await page.clock.fastForward(5000);
		await page.waitForSelector("text=Your role can read messages but not write any.");
		ok("a role that only reads has no field", !(await page.isVisible("#chat-text")) && (await page.isVisible(control("chat"))));
		await write(page, "PA_2", "Still read");
		await page.waitForSelector(".chat-text:text-is('Still read')");
		await page.click(control("people"));
		ok("nor does it write from the list", (await page.locator(".person [aria-label='Options for Ben']:visible").count()) === 0 || !(await page.locator(".menu-item:has-text('Send message')").count()));
		await page.evaluate(() => {
			fake.room.remoteParticipants.get("PA_2").permissions = { canPublish: true, canPublishData: false };
			fake.room.write("PA_2", "I may not");
			fake.room.write("PA_1", "I may");
		});
		await page.click(control("chat"));
		await page.clock.fastForward(6000);
		await page.evaluate(() => fake.room.write("PA_1", "I may"));
		await page.waitForSelector(".chat-text:text-is('I may')");
		ok("what comes of who may not write is not shown", !(await rows(page)).some((one) => one.includes("I may not")));
		await come(page, [["PA_4", "\u202eYOU", "guest"]]);
		await write(page, "PA_4", "From somebody else");
		await page.waitForSelector(".chat-text:text-is('From somebody else')");
		ok("nobody else is taken for you", (await rows(page)).includes("YOU (2): From somebody else"), (await rows(page)).at(-1));
		await close(page);
		stand.livekit.stop();
	});

/** While the panel is closed, while one reads what is above, and what stays of it. */
export const unread_in_chat = (browser) =>
	group("unread messages", async () => {
		const stand = await make_call("Unread", "a:b");
		const page = await open_call(browser, stand, "guest");
		await page.clock.install();
		await come(page, [["PA_1", "Ada", "guest"], ["PA_2", "Ben", "guest"]]);
		await write(page, "PA_1", `Thank you! ${"x".repeat(300)}`);
		await says(page, control("chat"), "Chat, 1 unread");
		await page.clock.fastForward(1000);
		await page.waitForSelector(note("Ada: Thank you!"));
		const told = await page.locator(note("Thank you")).locator("span").textContent();
		ok("a note has the first lines", told.endsWith("x…") && told.length < 220, told);
		await page.evaluate(() => fake.room.write("PA_2", "Hello", [fake.room.localParticipant.identity]));
		await page.clock.fastForward(1000);
		await page.waitForSelector(note("Ben, only to you: Hello"));
		ok("one takes the place of the other", (await page.locator(note("Thank you")).count()) === 0);
		await page.evaluate(() => {
			for (let i = 1; i <= 3; i++) fake.room.write("PA_2", `Many ${i}`);
		});
		await page.clock.fastForward(1000);
		await page.waitForSelector(note("3 new messages"));
		ok("many at once are a number", (await page.locator(".note").count()) === 1);
		const count = () => page.locator(".count.unread").getAttribute("data-count");
		ok("all are counted", (await count()) === "5", await count());
		await open_chat(page);
		ok("the number goes when they are read", !(await page.isVisible(".count.unread")) && (await page.locator(note("new messages")).count()) === 0);
		await page.click("[aria-label='Chat options']");
		await page.click(".menu-item:has-text('Turn off message alerts')");
		await page.keyboard.press("Escape");
		await page.clock.fastForward(6000);
		await write(page, "PA_1", "Quiet");
		await page.clock.fastForward(2000);
		await says(page, control("chat"), "Chat, 1 unread");
		ok("without alerts there is no note, but the number", (await page.locator(note("Quiet")).count()) === 0);
		await page.evaluate(() => fake.room.say("chat", "Five minutes left."));
		ok("announcements are told all the same", (await page.locator(note("Five minutes left.")).count()) === 1);
		await open_chat(page);

		await page.evaluate(async () => {
			for (let i = 1; i <= 520; i++) fake.room.write(`PA_${(i % 2) + 1}`, `Old ${i}`);
		});
		// More people than one could write so much.
		await page.evaluate(() => {
			for (let n = 0; n < 110; n++) {
				fake.room.come(`PB_${n}`, `Person ${n}`, []);
				for (let i = 0; i < 5; i++) fake.room.write(`PB_${n}`, `Of ${n}, ${i}`);
			}
		});
		await page.waitForFunction(() => document.querySelector(".chat-log").textContent.includes("Of 109, 4"));
		const kept = await page.locator(".chat-entry, .chat-list .chat-line").count();
		ok("500 are kept", kept <= 500 && kept > 490, kept);
		ok("the first one has a name", (await rows(page))[1].includes(":"), (await rows(page))[1]);
		await page.locator(".chat-log").evaluate((one) => (one.scrollTop = 100));
		await page.waitForTimeout(50);
		await page.clock.fastForward(6000);
		await write(page, "PB_1", "New 1");
		await write(page, "PB_2", "New 2");
		await to_pill(page);
		ok("nothing scrolls by itself", (await page.locator(".chat-log").evaluate((one) => one.scrollTop)) < 300);
		ok("but the new ones are counted", (await page.locator(".chat-newer").textContent()) === "2 new messages", await page.locator(".chat-newer").textContent());
		await page.click(".chat-newer");
		await page.waitForSelector(".chat-newer", { state: "hidden" });
		ok("and lead to the end", await page.locator(".chat-log").evaluate((one) => one.scrollHeight - one.scrollTop - one.clientHeight < 2));
		await write(page, "PB_3", "Line 1\n12:00 Ada (Everyone)\n  no");
		await page.waitForSelector(".chat-text:has-text('Line 1')");

		await page.click("[aria-label='Chat options']");
		const [download] = await Promise.all([page.waitForEvent("download"), page.click(".menu-item:has-text('Save chat')")]);
		ok("the file has the room's name and the date", /^chat a-b \d{4}-\d\d-\d\d\.txt$/.test(download.suggestedFilename()), download.suggestedFilename());
		const text = readFileSync(await download.path(), "utf8");
		ok("the file has times, names, recipients, texts", /\n\S+.* Person 1 \(Everyone\)\n    New 1\n/.test(text), text.slice(-400));
		ok("no line of a message looks like another message", text.includes("    Line 1\n    12:00 Ada (Everyone)\n      no\n"), text.slice(-200));
		ok("it is told", (await page.locator(note("Chat saved.")).count()) === 1);
		await close(page);
		stand.livekit.stop();
	});

/** The chat in all sizes, light and dark. */
export const views_of_chat = (browser) =>
	group("views of the chat", async () => {
		const stand = await make_call("Views of the chat");
		const sizes = { ...SIZES, zoomed: { viewport: { width: 320, height: 256 } } };
		for (const [size, options] of Object.entries(sizes)) {
			for (const colorScheme of ["light", "dark"]) {
				const name = `${size}, ${colorScheme}`;
				const page = await open_call(browser, stand, "guest", { ...options, colorScheme });
				await open_chat(page);
				await accessible(page, `an empty chat, ${name}`);
				await come(page, [["PA_1", "Ada", "host"], ["PA_2", "Ben", "guest"]]);
				await page.evaluate(() => {
					const me = fake.room.localParticipant.identity;
					fake.room.write("PA_1", "Good morning everyone! https://example.org/fractions");
					fake.room.write("PA_1", `${"W".repeat(300)} ${"Z\u0337\u0301\u0302\u0303".repeat(40)}`);
					fake.room.write("PA_2", "May I leave early?", [me]);
					fake.room.say("chat", "The room closes at noon.");
					for (let i = 0; i < 7; i++) fake.room.write("PA_2", `${i}`);
					fake.no_texts = true;
				});
				await page.fill("#chat-text", "Not sent");
				await page.click("[aria-label=Send]");
				await page.waitForSelector(".chat-entry .fault:visible");
				await page.evaluate(() => (fake.no_texts = false));
				if (size !== "zoomed") await page.selectOption("#chat-to", { label: "Ada" });
				await page.fill("#chat-text", "x".repeat(2001));
				await accessible(page, `the chat, ${name}`);
				const small = await page.evaluate(() =>
					[...document.querySelectorAll("#chat button, #chat select")]
						.filter((one) => one.checkVisibility() && !one.matches(".as-link"))
						.filter((one) => Math.min(one.offsetWidth, one.offsetHeight) < 24)
						.map((one) => one.outerHTML.slice(0, 90)),
				);
				ok(`targets of 24 px: the chat, ${name}`, small.length === 0, small.join("\n"));
				const wide = await page.locator(".chat-log").evaluate((one) => one.scrollWidth - one.clientWidth);
				ok(`the messages do not scroll sideways, ${name}`, wide <= 0, wide);
				await page.click("[aria-label='Chat options']");
				await page.waitForSelector(".menu");
				await accessible(page, `the menu of the chat, ${name}`);
				await close(page);
			}
		}
		stand.livekit.stop();
	});
