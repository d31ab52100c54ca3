/* The kinds of records that the resources store (store/store.h). A new kind gets a row here;
 * letters and flags of a kind never change.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RECORDS_KINDS_H
#define RECORDS_KINDS_H

#include "store/store.h"

/* The id zero: of records of which an account has one. */
extern const struct id kind_only_id;

/* The account's default template: one record with the id zero. */
extern const struct store_kind kind_default;
extern const struct store_kind kind_template;
/* A role that was deleted; its parent is the template, its id holds the role's identity
 * (deleted_role.c). */
extern const struct store_kind kind_role;
/* A room; its parent is the template, its name is in lower case, its switch is `enabled`. */
extern const struct store_kind kind_room;
/* What a room's codes have in common; its id is the room's. */
extern const struct store_kind kind_codes;
/* A code; its name is the code, its parent the room, its switch is off when its role is gone for
 * good. */
extern const struct store_kind kind_code;
/* Whose a code is when code and room are gone, so that a link that is about never leads to another
 * account; its name is the code. Words that a client chose have the record from the beginning,
 * other codes from their end. */
extern const struct store_kind kind_words;
/* How often an account asked for codes of others (resources/codes/code_words.h): one record with
 * the id zero. */
extern const struct store_kind kind_words_asked;
/* An answer that is kept (resources/retries/kept_answer.h); its name is the Idempotency-Key. How
 * many there are: one record with the id zero. */
extern const struct store_kind kind_kept_answer;
extern const struct store_kind kind_kept_usage;
/* What an account has for media servers: one record with the id zero. */
extern const struct store_kind kind_media;
/* A key; its name is its id as text, its parent the id zero. What the keys of an account have in
 * common: one record with the id zero. */
extern const struct store_kind kind_key;
extern const struct store_kind kind_keys;
/* A room or template that is gone while some of its children are not removed yet; its id is
 * theirs. */
extern const struct store_kind kind_garbage;

/* An entry of the log (resources/events/audit_record.h); its id is its number. How far the log
 * goes: one record with the id zero. */
extern const struct store_kind kind_entry;
extern const struct store_kind kind_audit;
/* An entry that waits for its number, and who gives the numbers (background/lease.h): of no
 * account. */
extern const struct store_kind kind_queue;
extern const struct store_kind kind_lease;

/* An account's webhooks (resources/events/webhook_record.h), with the id zero; how far each is in
 * the log, with its id; its deliveries of which an attempt failed, whose switch is on while they
 * are pending; and, of no account, the accounts that have webhooks, with their id. */
extern const struct store_kind kind_webhooks;
extern const struct store_kind kind_webhook_position;
extern const struct store_kind kind_webhook_delivery;
extern const struct store_kind kind_webhook_account;

/* How the times of rooms differ from those of their ids (resources/rooms/room_times.h): one record
 * with the id zero. */
extern const struct store_kind kind_room_times;

#define KINDS 23
extern const struct store_kind *const all_kinds[KINDS];

#endif
