/* See records/kinds.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "records/kinds.h"

const struct id kind_only_id = { { 0 } };

const struct store_kind kind_default = { .letter = 'a', .name = "default template" };
const struct store_kind kind_template = {
	.letter = 't',
	.name = "template",
	.naming = STORE_NAME_IN_ACCOUNT,
	.has_ids = true,
	.has_pages = true,
};
const struct store_kind kind_role = { .letter = 'r', .name = "deleted role", .has_parent = true };
const struct store_kind kind_room = {
	.letter = 'm',
	.name = "room",
	.naming = STORE_NAME_IN_ACCOUNT,
	.has_ids = true,
	.has_pages = true,
	.has_parent = true,
	.has_switch = true,
	.under = &kind_template,
};
const struct store_kind kind_codes = { .letter = 'd', .name = "room's codes", .after = &kind_room };
const struct store_kind kind_code = {
	.letter = 'c',
	.name = "room code",
	.naming = STORE_NAME_ANYWHERE,
	.has_parent = true,
	.has_switch = true,
	.after = &kind_room,
};
const struct store_kind kind_words = {
	.letter = 'w',
	.name = "reserved code",
	.naming = STORE_NAME_ANYWHERE,
};
const struct store_kind kind_words_asked = { .letter = 'o', .name = "requests for taken codes" };
const struct store_kind kind_kept_answer = {
	.letter = 'i',
	.name = "stored response",
	.naming = STORE_NAME_IN_ACCOUNT,
	.has_ids = true,
	.has_pages = true,
};
const struct store_kind kind_kept_usage = { .letter = 'u', .name = "use of idempotency keys" };
const struct store_kind kind_media = { .letter = 's', .name = "media" };
const struct store_kind kind_backend_healths = { .letter = 'b', .name = "health of backends" };
const struct store_kind kind_key = {
	.letter = 'k',
	.name = "API key",
	.naming = STORE_NAME_ANYWHERE,
	.has_parent = true,
};
const struct store_kind kind_keys = { .letter = 'n', .name = "API keys" };
const struct store_kind kind_garbage = { .letter = 'g',
					 .name = "unfinished removal",
					 .has_pages = true };
const struct store_kind kind_entry = { .letter = 'e', .name = "event" };
const struct store_kind kind_audit = { .letter = 'l', .name = "event log" };
const struct store_kind kind_queue = { .letter = 'q', .name = "queued event", .has_pages = true };
const struct store_kind kind_lease = { .letter = 'y', .name = "lease" };
const struct store_kind kind_room_times = { .letter = 'x', .name = "room times" };

const struct store_kind kind_webhooks = { .letter = 'h', .name = "webhooks" };
const struct store_kind kind_webhook_position = { .letter = 'p', .name = "webhook position" };
const struct store_kind kind_webhook_delivery = {
	.letter = 'f',
	.name = "webhook delivery",
	.has_ids = true,
	.has_parent = true,
	.has_switch = true,
};
const struct store_kind kind_webhook_account = {
	.letter = 'j',
	.name = "account with webhooks",
	.has_pages = true,
};

const struct store_kind kind_session = {
	.letter = 'z',
	.name = "session",
	.has_ids = true,
	.has_pages = true,
	.has_parent = true,
	.has_switch = true,
	.has_ends = true,
};
const struct store_kind kind_peer = {
	.letter = 'P',
	.name = "peer",
	.naming = STORE_NAME_IN_ACCOUNT,
	.has_parent = true,
	.has_switch = true,
	.after = &kind_session,
};
const struct store_kind kind_live = {
	.letter = 'v',
	.name = "live room",
	.has_pages = true,
};
const struct store_kind kind_given_role = {
	.letter = 'G',
	.name = "given role",
	.has_parent = true,
	.after = &kind_session,
};
const struct store_kind kind_revocation = {
	.letter = 'X',
	.name = "revocation",
	.naming = STORE_NAME_IN_ACCOUNT,
	.has_ids = true,
	.has_pages = true,
	.has_ends = true,
};
const struct store_kind kind_ban = {
	.letter = 'A',
	.name = "ban",
	.naming = STORE_NAME_IN_ACCOUNT,
	.has_ids = true,
	.has_pages = true,
	.has_parent = true,
	.has_ends = true,
};
const struct store_kind kind_door = { .letter = 'D', .name = "door", .has_pages = true };
const struct store_kind kind_door_ticket = {
	.letter = 'T',
	.name = "ticket",
	.naming = STORE_NAME_ANYWHERE,
	.has_parent = true,
	.after = &kind_room,
};
const struct store_kind kind_visitor = {
	.letter = 'V',
	.name = "visitor",
	.has_parent = true,
	.after = &kind_room,
};
const struct store_kind kind_inside = { .letter = 'I',
					.name = "person inside",
					.has_parent = true };
const struct store_kind kind_shown_name = { .letter = 'Y',
					    .name = "name of people inside",
					    .has_parent = true };
const struct store_kind kind_usage_now = { .letter = 'N', .name = "use now" };
const struct store_kind kind_usage = { .letter = 'U', .name = "use of a day", .has_pages = true };
const struct store_kind kind_backend_account = {
	.letter = 'B',
	.name = "account of a backend",
	.has_pages = true,
};

const struct store_kind kind_place = {
	.letter = 'L',
	.name = "place of a room",
	.has_pages = true,
	.has_parent = true,
	.has_ends = true,
};
const struct store_kind kind_backend_load = {
	.letter = 'E',
	.name = "load of a backend",
	.has_pages = true,
};

const struct store_kind kind_job = {
	.letter = 'J',
	.name = "job",
	.naming = STORE_NAME_IN_ACCOUNT,
	.has_ids = true,
	.has_pages = true,
	.has_parent = true,
	.has_switch = true,
	.has_ends = true,
};
const struct store_kind kind_asset = {
	.letter = 'F',
	.name = "asset",
	.has_ids = true,
	.has_pages = true,
	.has_parent = true,
	.after = &kind_job,
};
const struct store_kind kind_jobs = { .letter = 'O', .name = "jobs of an account" };
const struct store_kind kind_recorder = { .letter = 'R', .name = "recorder", .has_pages = true };
const struct store_kind kind_work = {
	.letter = 'W',
	.name = "work of a recorder",
	.has_parent = true,
	.has_ends = true,
};

const struct store_kind kind_gone_file = {
	.letter = 'C',
	.name = "file to be deleted",
	.has_ends = true,
};

/* clang-format off */
#define KIND_LISTED(name_) &kind_##name_,
const struct store_kind *const all_kinds[] = { EACH_KIND(KIND_LISTED) &kind_lease };
/* clang-format on */
