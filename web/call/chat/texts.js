// The texts that people in a call send each other: text streams of the topic that LiveKit's own components use.
//
// They are read from the library's packets, not with a handler of its own, because anybody can continue a stream of
// somebody else for a handler. Here only packets of the header's sender count, and the sender is who LiveKit says.
//
// SPDX-License-Identifier: GPL-3.0-or-later

export const TOPIC = "lk.chat";
/** The attribute with the role that a text goes to. */
export const TO = "anteroom.to";
/** Characters of a text. */
export const LONGEST = 2000;
// Bytes of a text, texts of a person that can arrive at the same time, and milliseconds in which each has to.
const MOST = 8000;
const OPEN = 4;
const ARRIVES = 10000;
// Texts of a person that are shown within so many milliseconds.
const BURST = 5;
const WITHIN = 5000;
// Texts of people whom the library does not know yet, and people whose limits are remembered.
const UNKNOWN = 20;
const PEOPLE = 200;
// From the protocol: what a header does, and how its text is packed.
const CREATES = 0;
const PLAIN = 0;
const DEFLATED = 1;

/**
 * Who got a text besides its sender: everyone (null), you alone, everyone with a role, or some people.
 * @typedef {{ me: true } | { role: string } | { n: number } | null} Only
 */
/** A text that has arrived. `from` is the identity of its sender. @typedef {{ from: string, name: string, role: string, text: string, only: Only }} Text */
/** Why a text is not shown. @typedef {"fast" | "long"} Cause */

const BREAKS = /\r\n?|[\u0085\u2028\u2029]/g;
const CONTROLS = /[^\P{Cc}\n]|\p{Bidi_C}/gu;

/** Returns a text without what could make it look like something else; line breaks stay. @param {string} text */
export const clean = (text) => text.replace(BREAKS, "\n").replaceAll("\t", " ").replace(CONTROLS, "").trim();

/** Returns a name in one line. @param {string} name */
export const clean_name = (name) => clean(name).replaceAll("\n", " ");

/** Returns the number of characters. @param {string} text */
export const length_of = (text) => [...text].length;

/** Counts what a person sends. */
export function limit() {
	/** @type {number[]} */
	const times = [];
	return {
		/** Returns the milliseconds until another text is allowed. @param {number} now */
		wait(now) {
			while (times[0] !== undefined && times[0] <= now - WITHIN) times.shift();
			return times[0] === undefined || times.length < BURST ? 0 : times[0] + WITHIN - now;
		},
		/** @param {number} now */
		count: (now) => void times.push(now),
	};
}

/** Returns the text in compressed bytes, or null if it is longer than a text can be, or damaged. @param {Uint8Array<ArrayBuffer>} bytes */
async function inflated(bytes) {
	const parts = [];
	let size = 0;
	try {
		const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
		const reader = stream.getReader();
		for (;;) {
			const { done, value } = await reader.read();
			if (done) return joined(parts, size);
			size += value.length;
			parts.push(value);
			if (size > MOST) {
				reader.cancel().catch(() => {});
				return null;
			}
		}
	} catch {
		return null;
	}
}

/** @param {Uint8Array[]} parts @param {number} size */
function joined(parts, size) {
	const all = new Uint8Array(size);
	let at = 0;
	for (const part of parts) {
		all.set(part, at);
		at += part.length;
	}
	return all;
}

/**
 * Returns what reads the packets that arrive in a room. `text_lost` is called for each text that is not shown, with the
 * name that its sender has chosen.
 * @param {any} room @param {Record<string, string>} event the library's @param {{ text: (text: Text) => void, text_lost: (from: string, name: string, why: Cause) => void }} on
 * @param {AbortSignal} signal ends it
 */
export function text_reader(room, event, on, signal) {
	/** @typedef {{ who: any, only: string[], to: string, packing: number, parts: Uint8Array[], size: number, next: number, ends: number, total: number }} Stream */
	/** @typedef {{ shown: ReturnType<typeof limit>, open: Map<string, Stream>, last: number, queue: Promise<void>, unpacking: number }} Sender */
	/** @type {Map<string, Sender>} */
	const senders = new Map();
	/** Texts of people who have just come. @type {{ from: string, bytes: Uint8Array, stream: Stream }[]} */
	let early = [];

	/** @param {string} from @param {number} now */
	function sender_of(from, now) {
		if (!senders.has(from)) {
			if (senders.size >= PEOPLE)
				for (const [identity, { open, last }] of senders) if (open.size === 0 && last <= now - WITHIN) senders.delete(identity);
			senders.set(from, { shown: limit(), open: new Map(), last: 0, queue: Promise.resolve(), unpacking: 0 });
		}
		const sender = /** @type {Sender} */ (senders.get(from));
		sender.last = now;
		for (const [id, { ends }] of sender.open) if (ends <= now) sender.open.delete(id);
		return sender;
	}
	const person = (/** @type {string} */ from) => room.remoteParticipants.get(from);
	/** @param {string} from @param {any} who @param {Cause} why */
	const lose = (from, who, why) => who && on.text_lost(from, who.name, why);
	/** Who got a text, by whom LiveKit was told to send it to. @param {string[]} identities @param {string} role that the sender names @returns {Only} */
	function only_of(identities, role) {
		const all = [...new Set(identities)];
		if (all.length === 0) return null;
		if (all.length === 1) return { me: true };
		const has_role = (/** @type {string} */ identity) => {
			const one = identity === room.localParticipant.identity ? room.localParticipant : person(identity);
			return !one || one.attributes.role === role;
		};
		return role !== "" && all.every(has_role) ? { role } : { n: all.length };
	}
	/** @param {string} from @param {Uint8Array} bytes @param {Stream} stream */
	function show(from, bytes, { who, only, to }) {
		// What people send who may not write is not shown, even if it arrives.
		if (signal.aborted || who.permissions?.canPublishData === false) return;
		let text = clean(new TextDecoder().decode(bytes));
		if (text.length > LONGEST) text = [...text].slice(0, LONGEST).join("");
		const name = clean_name(who.name) || from;
		if (text !== "") on.text({ from, name, role: who.attributes.role ?? "", text, only: only_of(only, to) });
	}
	/** @param {string} from @param {Sender} sender @param {Uint8Array} bytes @param {Stream} stream */
	function complete(from, sender, bytes, stream) {
		stream.who ??= person(from);
		const now = performance.now();
		if (sender.shown.wait(now) > 0) return lose(from, stream.who, "fast");
		sender.shown.count(now);
		const take = (/** @type {Uint8Array | null} */ found) => {
			stream.who ??= person(from);
			if (!found) lose(from, stream.who, "long");
			else if (stream.who) show(from, found, stream);
			else early = [...early, { from, bytes: found, stream }].slice(-UNKNOWN);
		};
		if (stream.packing === PLAIN && !sender.unpacking) return take(bytes);
		// Texts stay in their order while one is unpacked.
		sender.unpacking += 1;
		sender.queue = sender.queue.then(async () => {
			take(stream.packing === DEFLATED ? await inflated(/** @type {Uint8Array<ArrayBuffer>} */ (bytes)) : bytes);
			sender.unpacking -= 1;
		});
	}
	/** @param {string} from @param {any} header @param {string[]} only */
	function begin(from, header, only) {
		const { contentHeader, topic, streamId, attributes, inlineContent, compression, totalLength } = header;
		if (contentHeader.case !== "textHeader" || topic !== TOPIC || contentHeader.value.operationType !== CREATES) return;
		if (compression !== PLAIN && compression !== DEFLATED) return;
		const now = performance.now();
		const sender = sender_of(from, now);
		const who = person(from);
		const total = totalLength === undefined ? -1 : Number(totalLength);
		if (total > MOST || (inlineContent?.length ?? 0) > MOST) return lose(from, who, "long");
		const to = String(attributes?.[TO] ?? "");
		const stream = { who, only, to, packing: compression, parts: [], size: 0, next: 0, ends: now + ARRIVES, total };
		if (inlineContent) return complete(from, sender, inlineContent, stream);
		if (sender.open.has(streamId)) return;
		if (sender.open.size >= OPEN) return lose(from, who, "fast");
		sender.open.set(streamId, stream);
	}
	/** @param {string} from @param {any} chunk */
	function go_on(from, { streamId, chunkIndex, content }) {
		const sender = senders.get(from);
		const stream = sender?.open.get(streamId);
		if (!sender || !stream || Number(chunkIndex) < stream.next) return;
		stream.size += content.length;
		if (Number(chunkIndex) > stream.next || stream.size > MOST || stream.ends <= performance.now()) {
			sender.open.delete(streamId);
			if (stream.size > MOST) lose(from, stream.who, "long");
			return;
		}
		stream.next += 1;
		stream.parts.push(content);
	}
	/** @param {string} from @param {any} trailer */
	function finish(from, { streamId, reason }) {
		const sender = senders.get(from);
		const stream = sender?.open.get(streamId);
		if (!sender || !stream) return;
		sender.open.delete(streamId);
		const is_short = stream.packing === PLAIN && stream.total > stream.size;
		if (!reason && !is_short && stream.ends > performance.now()) complete(from, sender, joined(stream.parts, stream.size), stream);
	}
	/** @param {any} packet */
	function read(packet) {
		const { participantIdentity: from, destinationIdentities: only, value } = packet;
		// Without a sender it is of no person.
		if (signal.aborted || !from) return;
		if (value.case === "streamHeader") begin(from, value.value, only ?? []);
		else if (value.case === "streamChunk") go_on(from, value.value);
		else if (value.case === "streamTrailer") finish(from, value.value);
	}
	room.on(event.ParticipantConnected, (/** @type {any} */ who) => {
		const mine = early.filter(({ from }) => from === who?.identity);
		if (mine.length === 0) return;
		early = early.filter(({ from }) => from !== who.identity);
		for (const { from, bytes, stream } of mine) if (stream.ends > performance.now()) show(from, bytes, { ...stream, who });
	});
	return read;
}
