// Queries: the same proof for the parameters of lists.
//
// SPDX-License-Identifier: GPL-3.0-or-later
import { cases } from "./cases.js";
import { each } from "./client.js";
import { jsonText } from "./json.js";
import { isRefusal } from "./proof.js";

const times = {
	good: ["2026-01-31", "2026-01-31T12:00:00Z", "2026-01-31T12:00:00.5+01:00", "2024-02-29"],
	bad: ["yesterday", "2026-02-30", "2026-01-31T12:00:00", "31.01.2026"],
};

// Applies to IDs, without name_prefix.
const ids = { good: ["0123456789abcdef01234567"], bad: ["x", "0123456789ABCDEF01234567"] };

// Usage is asked for at most 400 days.
const day = (ago) => new Date(Date.now() - ago * 86400000).toISOString().slice(0, 10);
const days = {
	good: [day(0), day(300)],
	bad: ["yesterday", "2026-02-30", "2026-01-31T12:00:00Z", "2019-01-01"],
};

// Values of parameters that depend on a rule of the operation or on stored objects.
function knownValues(operation, place) {
	switch (operation.id) {
		case "listRooms":
		case "listRoomSummaries":
			return { after: times, before: times, start: ids };
		case "listTemplates":
		case "listTemplateSummaries":
			return { start: ids };
		case "listRoomCodes":
			return {
				start: { good: [place.code], bad: ["abc-defg-hij", "x"] },
				role: { good: [place.role], bad: [] },
			};
		case "listEvents":
			return {
				after: { good: ["1000000000"], bad: ["-1", "x", "1.5"] },
				type: {
					good: ["room.created", "room.*", "no_such.thing", "a.b.c.d", "a.b.*"],
					bad: ["room", "room.", "*", "a.b.c.d.e", "room.*.b", "Room.a"],
				},
			};
		case "listLiveSessions":
			return { after: times, before: times, start: ids };
		case "listLiveSessionPeers":
			return {
				start: { good: [place.peer_id], bad: ["x", "0a6e7c9e-97ad-8d1e-8b1c-5bb2d1a1c2ab"] },
			};
		case "getAttendance":
			return {
				timezone: { good: ["UTC"], bad: ["../localtime", "No/Such_Zone", "Berlin!", "x".repeat(65)] },
				separator: { good: [",", ";", "\t"], bad: [":", ",,", "|"] },
			};
		case "getUsage":
			return { after: days, before: { good: [day(0), "2024-02-29"], bad: days.bad.slice(0, 3) } };
		case "listSigningKeys":
			return { start: { good: [place.kid], bad: ["x", "A".repeat(43)] } };
	}
	return {};
}

// A text that looks like JSON is a value of its type: 7 is an integer.
function obeys(document, schema, text) {
	if (schema.type === "string") return document.obeys(schema, text);
	return /^(true|false|-?\d+)$/.test(text) && document.obeys(schema, JSON.parse(text));
}

function queryTexts(document, values, parameter, known) {
	if (known) return known;
	const texts = [...cases(values, parameter.schema)]
		.filter(({ value }) => typeof value !== "object")
		.map(({ value }) => (typeof value === "string" ? value : jsonText(value)))
		.filter((text) => text !== "");
	const isGood = (text) => obeys(document, parameter.schema, text);

	return { good: texts.filter(isGood), bad: texts.filter((text) => !isGood(text)) };
}

export async function proveQuery(proof, operation, values) {
	const place = await proof.fixtures.once(operation);
	const known = knownValues(operation, place);

	for (const parameter of operation.query) {
		const { name } = parameter;
		const { good, bad } = queryTexts(proof.document, values, parameter, known[name]);
		const pair = (text) => `${name}=${encodeURIComponent(text)}`;

		// For writes, other files test valid queries; here an invalid query is rejected
		// before the body is read.
		await each(operation.method === "GET" ? ["", ...good] : [], async (text) => {
			const answer = await proof.ask(operation, pair(text), { place, query: pair(text) });

			if (answer.status !== 200) proof.problem(operation, pair(text), "refused", answer);
		});
		await each([...bad.map(pair), `${pair(good[0])}&${pair(good[0])}`], async (query) => {
			const answer = await proof.ask(operation, query, { place, query });

			if (!isRefusal(answer, name))
				proof.problem(operation, query, "not refused", answer);
		});
	}
}
