/* The kinds of records that the resources store (store/store.h). A new kind gets a row here;
 * letters and flags of a kind never change.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_KINDS_H
#define RESOURCES_KINDS_H

#include "store/store.h"

/* The account's default template: one record with the id zero. */
extern const struct store_kind kind_default;
extern const struct store_kind kind_template;
/* A role that was deleted; its parent is the template, the number in its id is the role's identity. */
extern const struct store_kind kind_role;
/* A room; its parent is the template, its name is in lower case, its switch is `enabled`. */
extern const struct store_kind kind_room;
/* What a room's codes have in common; its id is the room's. */
extern const struct store_kind kind_codes;
/* A code; its name is the code, its parent the room, its switch is off when its role is gone for
 * good. */
extern const struct store_kind kind_code;
/* Words that a client chose for a code; its name is them. It stays when code and room are gone, so
 * that a link that is about never leads to another account. */
extern const struct store_kind kind_words;
/* An answer that is kept (resources/kept_answer.h); its name is the Idempotency-Key. How many there
 * are: one record with the id zero. */
extern const struct store_kind kind_kept_answer;
extern const struct store_kind kind_kept_usage;
/* What an account has for media servers: one record with the id zero. */
extern const struct store_kind kind_media;
/* A room or template that is gone while some of its children are not removed yet; its id is theirs. */
extern const struct store_kind kind_garbage;

#define KINDS 11
extern const struct store_kind *const all_kinds[KINDS];

#endif
