/* Checks records against each other: whether what they refer to exists, and whether the numbers
 * that count them are right.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_RECORD_CHECK_H
#define RESOURCES_RECORD_CHECK_H

#include "resources/record_kind.h"

/* Whether what a member refers to exists. */
enum record_referred {
	RECORD_REFERRED_THERE, /* or it may be missing */
	RECORD_REFERRED_LEFT, /* it is deleted, and the record is still to be removed with it */
	RECORD_REFERRED_GONE
};
bool record_find_referred(struct call *call, const struct member *member, const void *record,
			  enum record_referred *referred, struct fault *fault);

/* Adds a finding for each member that refers to what does not exist; then sets *are_there to
 * false. */
bool record_check_relations(struct call *call, const struct record_table *table, const void *record,
			    bool *are_there, struct findings *findings, struct fault *fault);
/* Counts a new record where its rows say that it is counted, unless that is an item of a list. Adds
 * a finding instead if there are too many. For a load. */
bool record_count_loaded(struct call *call, const struct record_table *table, const void *record,
			 const char *pointer, struct findings *findings, struct fault *fault);

/* Checks a record: its rows (record_verify), what it refers to, and, if is_whole, its derived
 * members. Returns false if something cannot be read. */
bool record_check(struct call *call, const struct record_kind *kind, const void *record,
		  bool is_whole, struct findings *findings, struct fault *fault);

#endif
