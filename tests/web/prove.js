// Tests the console and the join page in a real browser against the real program. `prove.js brief` runs the
// groups of `make check`, `prove.js all` runs all groups, `prove.js live` those of rooms in session, `prove.js
// call` those of the call, `prove.js rest` all others, and `prove.js NAME,...` single groups of the first two.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import * as access from "./access.js";
import * as codes_in_use from "./codes.js";
import * as in_call from "./call.js";
import * as chats from "./chat.js";
import * as consented from "./consent.js";
import * as comforts from "./comfort.js";
import * as connections from "./connection.js";
import * as embedded from "./embed.js";
import * as administrator from "./console.js";
import * as doors from "./door.js";
import * as frame from "./frame.js";
import * as hosting from "./hosts.js";
import * as guest from "./join.js";
import * as inside from "./inside.js";
import * as kept from "./kept.js";
import * as live from "./live.js";
import * as moves from "./move.js";
import * as pools from "./pools.js";
import * as pictures from "./pictures.js";
import * as recorded from "./recording.js";
import * as quality from "./quality.js";
import * as recordings from "./recorded.js";
import * as streamed from "./streaming.js";
import * as titled from "./title.js";
import * as trust from "./trust.js";
import * as views from "./views.js";
import * as watched from "./watch.js";
import { BASE, complaints, end, hosts, launch, make_room, new_page, ok, sign_in } from "./stand.js";

const rest = process.argv[2] === "rest";
const all = rest || process.argv[2] === "all";
const browser = await launch();

async function live_rooms() {
	await live.people_inside(browser);
	await live.acting(browser);
	await live.bans(browser);
	await live.large_room(browser);
	await live.sessions(browser);
	await live.scopes(browser);
	await live.media_and_events(browser);
	await pools.pools_in_console(browser);
	await pools.pools_of_the_service(browser);
	await live.views_in_all_sizes(browser);
}

async function calls() {
	await in_call.call(browser);
	await in_call.standing_still(browser);
	await in_call.roles_in_calls(browser);
	await in_call.moderating(browser);
	await in_call.ends(browser);
	await in_call.reloads(browser);
	await in_call.devices_in_calls(browser);
	await in_call.grids(browser);
	await in_call.keyboard_in_calls(browser);
	await in_call.call_budgets(browser);
	await in_call.forwarding_to_clients(browser);
	await in_call.views_of_calls(browser);
	await views.voices();
	await views.speaker_view(browser);
	await views.choosing_views(browser);
	await views.few_videos(browser);
	await views.zooming(browser);
	await views.from_the_right(browser);
	await views.views_in_all_windows(browser);
	await quality.received_videos();
	await quality.sent_videos();
	await quality.sending_by_role(browser);
	await quality.priorities_in_calls(browser);
	await quality.effects_in_console(browser);
	await inside.inside_before(browser);
	await inside.inside_again(browser);
	await inside.inside_after(browser);
	await comforts.comfort(browser);
	await connections.lengths(browser);
	await connections.panels(browser);
	await connections.weakness(browser);
	await connections.listed_keys(browser);
	await connections.devices_plugged(browser);
	await connections.networks(browser);
	await connections.claims_of_people(browser);
	await connections.hostile_people(browser);
	await connections.coming_and_going(browser);
	await moves.moved_calls(browser);
	await moves.lost_servers(browser);
	await moves.first_connections(browser);
	await kept.nothing_kept(browser);
	await titled.titles(browser);
	await embedded.framed(browser);
	await embedded.events_of_frames(browser);
	await trust.words_of_others(browser);
	await trust.tracks_of_others(browser);
	await trust.claims_of_others(browser);
	await trust.changes_of_role(browser);
	await chats.texts_of_packets();
	await chats.panels_in_calls(browser);
	await chats.chat_in_calls(browser);
	await chats.limits_of_chat(browser);
	await chats.unread_in_chat(browser);
	await chats.views_of_chat(browser);
	await doors.waiting_guests(browser);
	await doors.denials(browser);
	await doors.admitting(browser);
	await doors.keeping_out(browser);
	await doors.doors_in_console(browser);
	await doors.doors_of_the_service(browser);
	await doors.views_of_doors(browser);
	await hosting.lists_of_hosts(browser);
	await hosting.raised_hands(browser);
	await hosting.muting_all(browser);
	await hosting.held_devices(browser);
	await hosting.locking(browser);
	await hosting.notes_at_the_door(browser);
	await hosting.denials_taken_back(browser);
	await hosting.views_of_hosts(browser);
	await recorded.told_of_recordings(browser);
	await recorded.recording_calls(browser);
	await recorded.views_of_recording(browser);
	await streamed.streaming_calls(browser);
	await recorded.recordings_at_join(browser);
	await recorded.recordings_in_console(browser);
	await recorded.recordings_kept_in_console(browser);
	await consented.consent_at_join(browser);
	await consented.consent_kept(browser);
	await consented.consent_in_calls(browser);
	await consented.consent_of_hosts(browser);
	await consented.consent_of_the_service(browser);
	await consented.consent_in_console(browser);
	await consented.views_of_consent(browser);
	await recordings.recorded_picture(browser);
	await recordings.recorded_people();
	await recordings.recorded_sizes();
	await recordings.recorded_changes();
	await recordings.recorded_consent();
	await recordings.recorded_chunks();
	await recordings.recorded_ends();
}

async function everything() {
	const page = await new_page(browser);
	const { codes } = await make_room("Guests");

	await administrator.signing_in(page);
	await administrator.forgery(page);
	await administrator.templates(page);
	await administrator.rooms(page);
	await codes_in_use.rows_stay(page);
	await codes_in_use.support(page);
	await frame.session_end(page);
	await frame.conflicts(page);
	await guest.preview(browser, codes);
	await guest.without_server(browser, codes);
	await guest.languages(browser, codes);
	if (!all) {
		await live.people_inside(browser);
		await in_call.call(browser);
	}
	if (all) {
		if (!rest) {
			await live_rooms();
			await calls();
		}
		await administrator.odd_names(page);
		await administrator.whole_forms(page);
		await administrator.hints(page);
		await administrator.palette(page);
		await codes_in_use.preselected(page, browser);
		await codes_in_use.sheets(page);
		await codes_in_use.names(page);
		await codes_in_use.joins(page);
		await codes_in_use.several(page);
		await frame.order(page);
		await frame.returning(page);
		await frame.two_tabs(page);
		await frame.search(page);
		await frame.long_search(page);
		await frame.save_bar(browser);
		await frame.overview(browser);
		await frame.events(page);
		await frame.deliveries(page);
		await administrator.keys_and_events(page);
		await guest.troubles(browser, codes);
		await guest.codes_told(browser, codes);
		await guest.forwarding(browser, codes);
		await guest.plain_http(codes);
		const operator = await new_page(browser);
		await sign_in(operator);
		await administrator.service(operator);
		await operator.context().close();
		const other = await new_page(browser);
		await administrator.no_operator(other);
		await other.context().close();
		await administrator.over_https(browser);
		await administrator.lists(page, 3000);
		await access.qr_codes(browser);
		await access.all_views(browser);
		await pictures.pictures_of_calls(browser);
		await access.preferences(browser);
		await access.budgets(browser);
		await watched.watching(browser);
		await watched.watching_elsewhere(browser);
		await administrator.keyboard(await new_page(browser));
		const last = await new_page(browser);
		await sign_in(last);
		await administrator.signing_out(last);
	}
}

/** Single groups of checks by their names, of those that need a browser alone. */
const modules = [in_call, recorded, chats, embedded, titled, trust, inside, quality, kept, comforts, connections, doors, hosting, live, pictures, views, access, recordings, consented, watched, streamed, moves, pools];
function named(name) {
	const module = modules.find((one) => one[name]);
	if (!module) throw Error(`there is no group ${name}`);
	return module[name];
}
const whole = { brief: everything, all: everything, rest: everything, live: live_rooms, call: calls }[process.argv[2]];
for (const one of whole ? [whole] : process.argv[2].split(",").map(named)) await one(browser);
ok("no request to another host", [...hosts].join() === new URL(BASE).host, [...hosts].join());
ok("no errors in the browser's console", complaints.length === 0, complaints.join("\n"));
await browser.close();
end();
