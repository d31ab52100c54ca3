/* Import: objects of the public service that keep their ids and times. The shapes of the objects
 * are defined next to the shapes whose rows they share.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RULES_IMPORT_RULES_H
#define RULES_IMPORT_RULES_H

#include "rules/text_rules.h"

extern const struct shape import_shape;
extern const struct shape import_query;
extern const struct shape import_answer_shape;
/* How many objects of a kind: in the answer, and in the entry of the log. */
extern const struct shape import_count_shape;

/* Seconds that an id or a time may lie in the future. */
#define IMPORT_AHEAD_MOST 60
/* Objects of an import: templates, rooms and codes together. */
#define IMPORT_OBJECTS_MOST 10000
/* Bytes of the records that an import puts: one transaction, for whose commit others wait. Enough
 * for 10,000 templates with a role of defaults each. */
#define IMPORT_STORED_MOST ((size_t)16 << 20)
/* Objects that an answer names as skipped. */
#define IMPORT_SKIPPED_MOST 1000

/* What the members say that only imported objects have, and the rule about them. */
#define IMPORTED_ID(what_) \
	DOC("Kept. When the account has a " what_ \
	    " with it, that is updated; not supplied: one is made.")
#define IMPORTED_CREATION \
	IN_FORMAT("date-time"), \
		DOC("Kept: a time such as 2026-11-23T09:00:00Z. Not supplied: the time of the id, or now.")
#define IMPORTED_UPDATE \
	IN_FORMAT("date-time"), \
		DOC("Kept. Of the year 1, or not supplied for a new object: as the time of creation.")
#define IMPORTED_TIMES(created_, updated_) \
	created_ " and " updated_ \
		 " are times from 1970 on, or of the year 1, which counts as not " \
		 "supplied; these and the time of an id lie at most 60 s in the future."

/* Checks id and the two members for times of such an object. */
void rule_check_import(struct rule_context *context, const json_t *object, const char *created,
		       const char *updated);
/* A time that was checked, in milliseconds since 1970. False: it was not supplied. */
bool import_time(const json_t *object, const char *member, int64_t *time);

#endif
