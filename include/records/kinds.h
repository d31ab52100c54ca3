/* The kinds of records that the resources store (store/store.h). A new kind gets a row here;
 * letters and flags of a kind never change.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RECORDS_KINDS_H
#define RECORDS_KINDS_H

#include "store/store.h"

/* The id zero, for kinds of which an account has one record. */
extern const struct id kind_only_id;

/* An account's default template: one record with the id zero. */
extern const struct store_kind kind_default;
extern const struct store_kind kind_template;
/* A deleted role. Its parent is the template; its id contains the role's identity
 * (deleted_role.c). */
extern const struct store_kind kind_role;
/* A room. Its parent is the template, its name is in lower case, its switch is `enabled`. */
extern const struct store_kind kind_room;
/* The data that a room's codes share; its id is the room's. */
extern const struct store_kind kind_codes;
/* A code. Its name is the code, its parent the room; its switch is off when its role no longer
 * exists. */
extern const struct store_kind kind_code;
/* The account that owns a code even after the code and its room are deleted, so that an old link
 * never leads to another account. Its name is the code. A custom code has this record from the
 * start, a generated code from its removal. */
extern const struct store_kind kind_words;
/* How often an account asked for codes of other accounts (resources/codes/code_words.h): one record
 * with the id zero. */
extern const struct store_kind kind_words_asked;
/* A stored response (resources/retries/kept_answer.h), whose name is the Idempotency-Key; and the
 * number of an account's stored responses, one record with the id zero. */
extern const struct store_kind kind_kept_answer;
extern const struct store_kind kind_kept_usage;
/* An account's media servers and signing keys: one record with the id zero. */
extern const struct store_kind kind_media;
/* Whether an account's media servers answer (resources/media/backend_health.h): one record with the
 * id zero. */
extern const struct store_kind kind_backend_healths;
/* An API key, whose name is its id as text and whose parent is the id zero; and the data that the
 * API keys of an account share, one record with the id zero. */
extern const struct store_kind kind_key;
extern const struct store_kind kind_keys;
/* A deleted room, template or webhook some of whose children are not removed yet; its id is the id
 * of what was deleted. */
extern const struct store_kind kind_garbage;

/* An event (resources/events/audit_record.h), whose id is its number; and the range of the numbers
 * in an account's event log, one record with the id zero. */
extern const struct store_kind kind_entry;
extern const struct store_kind kind_audit;
/* An event that waits for its number, and the lease of the process that assigns the numbers
 * (background/lease.h). These records belong to no account. */
extern const struct store_kind kind_queue;
extern const struct store_kind kind_lease;

/* An account's webhooks (resources/events/webhook_record.h), with the id zero; the position of each
 * webhook in the event log, with the webhook's id; a delivery with a failed attempt, whose switch
 * is on while it is pending; and an account that has webhooks, with the account's id (this record
 * belongs to no account). */
extern const struct store_kind kind_webhooks;
extern const struct store_kind kind_webhook_position;
extern const struct store_kind kind_webhook_delivery;
extern const struct store_kind kind_webhook_account;

/* How far the creation times of rooms differ from the times in their ids
 * (resources/rooms/room_times.h): one record with the id zero. */
extern const struct store_kind kind_room_times;

#define KINDS 24
extern const struct store_kind *const all_kinds[KINDS];

#endif
