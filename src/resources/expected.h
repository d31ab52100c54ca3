/* What a call is going to read, collected for store_expect: a driver behind a network reads it in
 * one round trip. Each function adds an item and returns its index, for what it leads to. Ids and
 * pages are copied.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_EXPECTED_H
#define RESOURCES_EXPECTED_H

#include "resources/call.h"
#include "resources/kinds.h"

#define EXPECTED_MOST 14

struct expected {
	struct call *call;
	struct store_expected items[EXPECTED_MOST];
	size_t n;
};

/* False: the driver does not use it, and nothing needs to be collected. */
bool expected_open(struct call *call, struct expected *expected);

size_t expected_get(struct expected *expected, const struct store_kind *kind, const struct id *id,
		    enum store_reading reading);
size_t expected_named(struct expected *expected, const struct store_kind *kind, struct slice name,
		      enum store_reading reading);
/* The parent of what the item `from` finds, which may be added after it. */
size_t expected_parent(struct expected *expected, const struct store_kind *kind, size_t from,
		       enum store_reading reading);
size_t expected_value(struct expected *expected, const struct store_kind *kind, size_t from);
/* The record `id` of the account of what `from` finds by a name that is unique anywhere, which was
 * added before. To be shown. */
size_t expected_own(struct expected *expected, const struct store_kind *kind, size_t from,
		    const struct id *id);
size_t expected_page(struct expected *expected, const struct store_kind *kind,
		     const struct store_page *page);
void expected_children(struct expected *expected, const struct store_kind *kind,
		       const struct id *parent);
void expected_new_id(struct expected *expected, const struct store_kind *kind);

/* Tells the store, before the first read; what a call with an Idempotency-Key reads comes last. */
void expected_tell(struct expected *expected);

#endif
