// Shared by all parts of the proof: the document, the program, the problems found, and sending a
// request, whose response is always checked against the document.
//
// SPDX-License-Identifier: GPL-3.0-or-later
import { Client } from "./client.js";
import { Document } from "./document.js";
import { Fixtures } from "./fixtures.js";

// Headers that may be present only if the document says so.
const TOLD = [
	"Access-Control-Allow-Origin",
	"ETag",
	"Preference-Applied",
	"Retry-After",
	"WWW-Authenticate",
	"X-Unknown-Fields",
];

// Operations that need a recorder, or a file that one has made, and the rules that only they have: see
// tests/cases/recordings and tests/suites/check_recording_files.
const NEEDS_RECORDER = [
	"startRecording",
	"stopRecordings",
	"pauseRecordings",
	"resumeRecordings",
	"stopRecording",
	"joinRecording",
	"getRecording",
	"getRecordingAsset",
	"signRecordingAsset",
	"deleteRecordingAsset",
	"getRecordingFile",
	"listCodeRecordings",
	"signCodeRecording",
	"listRoomRecordings",
	"listRecordingAssets",
	"adoptRecordingFile",
	"purgeRecordingFile",
	"startLiveStream",
	"stopLiveStreams",
	"stopLiveStream",
	"sendTimedMetadata",
	"pauseLiveRecording",
	"resumeLiveRecording",
	"getLiveStream",
	"listLiveStreams",
	"startExternalStream",
	"stopExternalStreams",
	"stopExternalStream",
	"getExternalStream",
	"listExternalStreams",
	// Needs a query.
	"listAnalyticsEvents",
];
export const RULES_OF_RECORDERS = ["pictureSize", "streamAddresses", "room", "destinationOfTemplate", "pathOfAccount"];

export class Proof {
	constructor({ base, tokens }) {
		this.client = new Client(base);
		this.fixtures = new Fixtures(this.client, tokens);
		this.problems = [];
		this.brokenRules = new Set();
		this.seen = new Set();
	}

	async open() {
		const served = await this.client.send({ method: "GET", target: "/v2/openapi.json" });

		this.document = new Document(served.text);
		this.operations = this.document
			.operations()
			.filter(({ id }) => !NEEDS_RECORDER.includes(id));
		this.problems.push(...(await this.document.problems()));
		await this.fixtures.open();
	}

	operation(id) {
		return this.operations.find((operation) => operation.id === id);
	}

	// Sends a request of an operation. place: values of the path's parameters.
	async ask(operation, what, { place, query = "", ...request }) {
		const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name) =>
			encodeURIComponent(place[name]),
		);
		const answer = await this.client.send({
			method: operation.method,
			target: query ? `${path}?${query}` : path,
			token: this.fixtures.token(operation),
			...request,
		});

		this.seen.add(`${operation.id} ${answer.status}`);
		for (const wrong of this.wrongWith(operation, answer))
			this.problem(operation, what, wrong, answer);
		return answer;
	}

	problem(operation, what, wrong, answer) {
		const told = answer ? `: ${answer.status} ${answer.text.slice(0, 300)}` : "";

		this.problems.push(`${operation.id}: ${what}: ${wrong}${told}`);
	}

	// Yields how a response differs from the document.
	*wrongWith(operation, answer) {
		const response = operation.responses[answer.status];

		if (response === undefined) return yield "undocumented status";
		const described = this.document.resolve(response);

		yield* this.wrongHeaders(described.headers, answer);
		if (described.content === undefined) {
			if (answer.text) yield "undocumented body";
			return;
		}
		const type = answer.headers["content-type"].split(";")[0];

		if (described.content[type] === undefined) return yield `undocumented type ${type}`;
		const { schema } = described.content[type];

		yield* this.document.answerProblems(
			schema,
			schema.type === "string" ? answer.text : answer.json,
		);
		if (answer.status >= 400 && answer.json?.code !== answer.status)
			yield "its code differs from the status";
	}

	*wrongHeaders(described, { headers, json }) {
		const isValidated = json?.valid === true;

		for (const [name, reference] of Object.entries(described)) {
			const { schema, description } = this.document.resolve(reference);
			const text = headers[name.toLowerCase()];
			const value = schema.type === "integer" ? Number(text) : text;

			if (text !== undefined) yield* this.document.answerProblems(schema, value);
			else if (!description.startsWith("Present if") && !(isValidated && name === "ETag"))
				yield `no ${name}`;
		}
		for (const name of TOLD) {
			if (headers[name.toLowerCase()] !== undefined && !described[name])
				yield `undocumented ${name}`;
		}
	}
}

// Returns a pointer as a fault shows it: with 64 characters of each name.
function shown(pointer) {
	return pointer
		?.split("/")
		.map((name) => ([...name].length > 64 ? `${[...name].slice(0, 64).join("")}...` : name))
		.join("/");
}

// Returns true if the only fault of the response is at this pointer of the body, or this query
// parameter.
export function isRefusal(answer, pointer) {
	const details = answer.json?.details;

	return (
		answer.status === 400 && details?.length === 1 && details[0].startsWith(`${shown(pointer)}:`)
	);
}

// Returns true if one of the faults is at this pointer.
export function isRefusalWith(answer, pointer) {
	const details = answer.json?.details ?? [];

	return answer.status === 400 && details.some((detail) => detail.startsWith(`${shown(pointer)}:`));
}
