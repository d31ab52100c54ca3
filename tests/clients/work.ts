// What a program does in its first hour with the service, with the methods of a generated client: a
// template, rooms, codes with times, complete lists, an error with its details, and an update that
// changes nothing else.
//
// SPDX-License-Identifier: GPL-3.0-or-later
import assert from "node:assert/strict";

export interface Room {
	id: string;
	name: string;
	enabled: boolean;
	description: string;
	opens_at?: string;
}
export interface Code {
	code: string;
	role: string;
	expires_at?: string;
	max_uses?: number;
	state?: string;
}
export interface Page<Item> {
	data: Item[] | null;
	last: string;
}
export interface RoomFields {
	name?: string;
	enabled?: boolean;
	description?: string;
	template_id?: string;
	size?: number;
	opens_at?: string;
}
export interface Refusal {
	code: number;
	message: string;
	details?: string[];
	faults?: { pointer: string; message: string }[];
}
// Either `value` or `error` is present.
export interface Outcome<Value> {
	value?: Value;
	error?: Refusal;
	etag: string | null;
}
export interface CodeTerms {
	expires_at: string;
	not_before: string;
	max_uses: number;
}

export interface Calls {
	createTemplate(body: {
		name: string;
		roles: Record<string, { priority?: number }>;
	}): Promise<Outcome<{ id: string }>>;
	createRoom(body: RoomFields, key?: string): Promise<Outcome<Room>>;
	validateRoom(body: RoomFields): Promise<boolean>;
	getRoom(id: string): Promise<Outcome<Room>>;
	patchRoom(
		id: string,
		body: { name?: string; opens_at?: string | null },
		tag: string,
	): Promise<Outcome<Room>>;
	listRooms(template: string, start: string | undefined): Promise<Outcome<Page<Room>>>;
	createCodes(room: string): Promise<Outcome<{ data: Code[] }>>;
	createCode(room: string, role: string, terms: CodeTerms): Promise<Outcome<Code>>;
	listCodes(room: string, start: string | undefined): Promise<Outcome<Page<Code>>>;
}

const ROOMS = 23;
const CODES = 21;
const TERMS: CodeTerms = {
	not_before: "2035-01-01T00:00:00Z",
	expires_at: "2036-01-01T00:00:00Z",
	max_uses: 3,
};

function good<Value>(outcome: Outcome<Value>): Value {
	assert.ok(outcome.value, JSON.stringify(outcome.error));
	return outcome.value;
}

async function all<Item>(page: (start: string | undefined) => Promise<Outcome<Page<Item>>>) {
	const items: Item[] = [];
	let start: string | undefined;

	for (;;) {
		const { data, last } = good(await page(start));

		items.push(...(data ?? []));
		if (last === "" || data === null) return items;
		start = last;
	}
}

async function lists(calls: Calls, template: string, names: string) {
	const made = [];

	for (let n = 0; n < ROOMS; n++)
		made.push(good(await calls.createRoom({ name: `${names}-${n}`, template_id: template })));
	const listed = await all((start) => calls.listRooms(template, start));

	assert.deepEqual(
		listed.map((room) => room.name).sort(),
		made.map((room) => room.name).sort(),
	);
	return made[0]!;
}

async function codes(calls: Calls, room: string) {
	const each = good(await calls.createCodes(room)).data;
	const made = [];

	assert.deepEqual(each.map((code) => code.role).sort(), ["guest", "host"]);
	for (let n = 0; n < CODES; n++) made.push(good(await calls.createCode(room, "guest", TERMS)));
	assert.equal(made[0]!.expires_at, TERMS.expires_at);
	assert.equal(made[0]!.max_uses, TERMS.max_uses);
	assert.equal(made[0]!.state, "not_yet_valid");
	const listed = await all((start) => calls.listCodes(room, start));

	assert.equal(listed.length, each.length + made.length);
}

async function refusals(calls: Calls, template: string) {
	const { error } = await calls.createRoom({ template_id: template, size: -1 });

	assert.equal(error?.code, 400);
	assert.equal(error?.details?.length, 1);
	assert.equal(error?.faults?.[0]?.pointer, "/size");
	assert.equal(await calls.validateRoom({ template_id: template }), true);
}

// A repeated Idempotency-Key creates no second room, and changing the name changes nothing else.
async function updates(calls: Calls, template: string, names: string) {
	const fields = {
		template_id: template,
		enabled: false,
		description: "as it was",
		opens_at: "2035-01-01T00:00:00Z",
	};
	const room = good(await calls.createRoom(fields, `key-of-${names}`));

	assert.equal(good(await calls.createRoom(fields, `key-of-${names}`)).id, room.id);
	const { etag } = await calls.getRoom(room.id);

	assert.ok(etag);
	const changed = good(await calls.patchRoom(room.id, { name: `${names}-renamed` }, etag));

	assert.deepEqual(
		[changed.name, changed.enabled, changed.description, changed.opens_at],
		[`${names}-renamed`, false, fields.description, fields.opens_at],
	);
	assert.equal((await calls.patchRoom(room.id, { name: "late" }, etag)).error?.code, 412);
}

export async function work(calls: Calls, client: string) {
	const names = `${client}-${process.pid}`;
	const roles = { host: { priority: 2 }, guest: {} };
	const template = good(await calls.createTemplate({ name: names, roles })).id;
	const room = await lists(calls, template, names);

	await codes(calls, room.id);
	await refusals(calls, template);
	await updates(calls, template, names);
	console.log(`${client}: the hour's work is done`);
}
