// Responses that no generated request gets: of the parameter `view`, for which the document has
// operations of their own, and of large bodies.
//
// SPDX-License-Identifier: GPL-3.0-or-later

// How the names of operations and those of their summaries belong together is part of their descriptions.
const SUMMARIES = { listTemplates: "listTemplateSummaries", listRooms: "listRoomSummaries" };
const URL_SIZE = 2000;
const SECRET_SIZE = 200000;
const DESTINATIONS = 36;

export async function proveOthers(proof) {
	for (const [id, summaries] of Object.entries(SUMMARIES)) await proveView(proof, id, summaries);
	for (const id of ["updateTemplate", "patchTemplate"]) await proveLargeReplay(proof, id);
}

async function proveView(proof, id, summaries) {
	const { path, description } = proof.operation(id);
	const operation = proof.operation(summaries);
	const what = `as ${path}?view=summary`;
	const answer = await proof.ask({ ...operation, path }, what, { query: "view=summary" });
	const same = await proof.ask(operation, what, {});

	if (!description.includes(`With view=summary, the same as ${summaries}.`))
		proof.problem(operation, what, "the document does not say so");
	if (answer.status !== 200 || answer.text !== same.text)
		proof.problem(operation, what, "another response", answer);
}

// A template of 430 KB and 200 KB of credentials: 630 KB, of which the credentials are not stored.
async function proveLargeReplay(proof, id) {
	const operation = proof.operation(id);
	const place = { template_id: (await proof.fixtures.template()).id };
	const url = `rtmp://example.org/${"x".repeat(URL_SIZE)}`;
	const what = "a large template again";

	for (const [letter, count] of [["a", DESTINATIONS], ["b", DESTINATIONS]]) {
		const body = {
			rtmpDestinations: Object.fromEntries(
				Array.from({ length: count }, (_, n) => [letter + n, { rtmpUrls: [url, url, url] }]),
			),
		};

		await proof.ask(proof.operation("patchDestinations"), what, {
			place,
			body: JSON.stringify(body),
		});
	}
	const credentials = { key: "key", secretKey: "s".repeat(SECRET_SIZE) };
	const upload = { type: "s3", location: "l", prefix: "p", credentials };
	const request = {
		place,
		body: JSON.stringify({ settings: { recording: { upload } } }),
		headers: { "Idempotency-Key": `large-${id}` },
	};
	const first = await proof.ask(operation, what, request);
	const again = await proof.ask(operation, what, request);

	if (first.status !== 200 || again.headers["idempotency-replayed"] !== "true")
		proof.problem(operation, what, "is not the response of before", again);
	if (again.json?.id !== place.template_id)
		proof.problem(operation, what, "is not the template", again);
}
