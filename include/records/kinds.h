/* The kinds of records that the resources store (store/store.h). A new kind gets a row in the list
 * here, and a struct store_kind in kinds.c. Letters and flags of a kind never change; a kind that
 * needs others becomes another one (records/upgrade.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RECORDS_KINDS_H
#define RECORDS_KINDS_H

#include "store/store.h"

/* The id zero, for kinds of which an account has one record. */
extern const struct id kind_only_id;

/* All kinds except the lease, in the order of a dump: records come after those they refer to. For
 * each NAME here, kind_NAME is its struct store_kind, and NAME_kind its struct record_kind
 * (resources/record_kind.h). */
/* clang-format off */
#define EACH_KIND(KIND) \
	/* An account's media servers and signing keys: one record with the id zero. */ \
	KIND(media) \
	/* The data that the API keys of an account share, one record with the id zero; and an \
	 * API key, whose name is its id as text and whose parent is the id zero. */ \
	KIND(keys) \
	KIND(key) \
	KIND(template) \
	/* A deleted role. Its parent is the template; its id contains the role's identity \
	 * (deleted_role.c). */ \
	KIND(role) \
	/* An account's default template: one record with the id zero. */ \
	KIND(default) \
	/* A room. Its parent is the template, its name is in lower case, its switch is \
	 * `enabled`. */ \
	KIND(room) \
	/* The data that a room's codes share; its id is the room's. */ \
	KIND(codes) \
	/* A code. Its name is the code, its parent the room; its switch is off when its role no \
	 * longer exists. */ \
	KIND(code) \
	/* How far the creation times of rooms differ from the times in their ids \
	 * (resources/stored/room_times.h): one record with the id zero. */ \
	KIND(room_times) \
	/* The range of the numbers in an account's event log, one record with the id zero; and \
	 * an event (resources/audit_record.h), whose id is its number. */ \
	KIND(audit) \
	KIND(entry) \
	/* An account's webhooks (resources/stored/webhook_record.h), with the id zero; the \
	 * position of each webhook in the event log, with the webhook's id; and a delivery with \
	 * a failed attempt, whose switch is on while it is pending. */ \
	KIND(webhooks) \
	KIND(webhook_position) \
	KIND(webhook_delivery) \
	/* Live rooms (resources/stored/live_record.h): a session, whose parent is the room and \
	 * whose switch is on while it is active; a peer, whose parent is the session, whose name \
	 * is its public id, and whose switch is on while it is inside; a room in session, with \
	 * the room's id; and what the account used on a day. */ \
	KIND(session) \
	KIND(peer) \
	KIND(live) \
	/* A recording or a stream (resources/stored/job_record.h), whose parent is the room, \
	 * whose name holds the room, and whose switch is on until it has ended; and a file that \
	 * it made, whose parent is the job. */ \
	KIND(job) \
	KIND(asset) \
	/* A role that a call gave to somebody, whose parent is the session; and what must not \
	 * come back: the entry of a token, or the id of a deleted room, which is its name. */ \
	KIND(given_role) \
	KIND(revocation) \
	KIND(usage) \
	/* A person or a code that is banned (resources/stored/ban_record.h); its parent is the \
	 * room, or the id zero for every room. */ \
	KIND(ban) \
	/* The account that owns a code even after the code and its room are deleted, so that an \
	 * old link never leads to another account. Its name is the code. A custom code has this \
	 * record from the start, a generated code from its revocation. */ \
	KIND(words) \
	/* The kinds that follow are not in a dump. */ \
	/* How often an account asked for codes of other accounts \
	 * (resources/stored/code_words.h): one record with the id zero. */ \
	KIND(words_asked) \
	/* A stored response (resources/retries/kept_answer.h), whose name is the \
	 * Idempotency-Key; and the number of an account's stored responses, one record with the \
	 * id zero. */ \
	KIND(kept_answer) \
	KIND(kept_usage) \
	/* A deleted room, template or webhook some of whose children are not removed yet; its \
	 * id is the id of what was deleted. */ \
	KIND(garbage) \
	/* Whether an account's media servers answer (resources/media/backend_health.h): one \
	 * record with the id zero. */ \
	KIND(backend_healths) \
	/* Where a room of a pool is (resources/stored/place_record.h), with the room's id, whose \
	 * parent is the media server; and how many people and rooms a media server has, with \
	 * its id. */ \
	KIND(place) \
	KIND(backend_load) \
	/* The stays of a person inside a room, found by the entry of the token, whose parent is \
	 * the room; and what the account's rooms have now, one record with the id zero. */ \
	KIND(inside) \
	KIND(usage_now) \
	/* A name that people inside a room have (resources/live/live_names.h), whose parent is \
	 * the room. */ \
	KIND(shown_name) \
	/* The door of a room where people wait to be let in, with the room's id; the ticket of \
	 * somebody who waits, whose name is a hash; and who was denied, or has a code with a \
	 * user_id (resources/stored/door_record.h). The parent of both is the room. */ \
	KIND(door) \
	KIND(door_ticket) \
	KIND(visitor) \
	/* The numbers of an account's jobs and the bytes of their files, one record with the id \
	 * zero. */ \
	KIND(jobs) \
	/* A recorder that has reported, whose id follows from its name; and what a recorder does \
	 * or is to do, whose parent is the recorder or a queue \
	 * (resources/stored/recorder_record.h). Both belong to no account. */ \
	KIND(recorder) \
	KIND(work) \
	/* A file of a recording that is to be deleted (resources/stored/gone_file.h). Belongs to \
	 * no account. */ \
	KIND(gone_file) \
	/* The account of a media server, with the id of the media server. The record belongs to \
	 * no account. */ \
	KIND(backend_account) \
	/* An account that has webhooks, with the account's id. The record belongs to no \
	 * account. */ \
	KIND(webhook_account) \
	/* An event that waits for its number. The record belongs to no account. */ \
	KIND(queue)

#define KIND_DECLARED(name_) extern const struct store_kind kind_##name_;
EACH_KIND(KIND_DECLARED)
#define KIND_COUNTED(name_) + 1
#define RECORD_KINDS (0 EACH_KIND(KIND_COUNTED))
/* clang-format on */

/* The lease of the process that numbers events (background/lease.h). Its one record belongs to no
 * account, and has no struct record_kind. */
extern const struct store_kind kind_lease;

/* In the order of the list; the lease is the last. */
#define KINDS (RECORD_KINDS + 1)
extern const struct store_kind *const all_kinds[KINDS];

#endif
