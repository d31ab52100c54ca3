/* Import: objects from 100ms, which keep their IDs and times. The shapes of the objects are defined
 * next to the shapes whose rows they share.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RULES_IMPORT_RULES_H
#define RULES_IMPORT_RULES_H

#include "rules/text_rules.h"

extern const struct shape import_shape;
extern const struct shape import_query;
extern const struct shape import_answer_shape;
/* The numbers of imported objects of a kind, in the response and in the event. */
extern const struct shape import_count_shape;

/* Seconds that an ID or a time may be in the future. */
#define IMPORT_AHEAD_MOST 60
/* Maximum number of objects in an import: templates, rooms and codes together. */
#define IMPORT_OBJECTS_MOST 10000
/* Maximum bytes of the records that an import stores. They are one transaction, and others wait for
 * its commit. Enough for 10,000 templates with one role of defaults each. */
#define IMPORT_STORED_MOST ((size_t)16 << 20)
/* Maximum number of skipped objects that a response lists. */
#define IMPORT_SKIPPED_MOST 1000

/* The descriptions of the fields that only imported objects have, and the rule about them. */
#define IMPORTED_ID(what_) \
	DOC("Kept. If the account has a " what_ " with this ID, it is updated. Default: a new ID.")
#define IMPORTED_CREATION \
	IN_FORMAT("date-time"), \
		DOC("Kept: a time such as 2026-11-23T09:00:00Z. Default: the time in the ID, or now.")
#define IMPORTED_UPDATE \
	IN_FORMAT("date-time"), \
		DOC("Kept. Default for a new object, also for a time in the year 1: the time of creation.")
#define IMPORTED_TIMES(created_, updated_) \
	created_ " and " updated_ \
		 " are times from 1970 on, or in the year 1, which counts as not sent. " \
		 "They and the time in an ID are at most 60 s in the future."

/* Checks the ID of an imported object and its fields for the times of creation and update. */
void rule_check_import(struct rule_context *context, const json_t *object, const char *created,
		       const char *updated);
/* Reads a time that was checked, in milliseconds since 1970. Returns false if it was not sent. */
bool import_time(const json_t *object, const char *member, int64_t *time);

#endif
