/* For how long the files of recordings are kept: recordingRules.keepDays of a template, and what it
 * was before. A lower number counts only a day after it was set, so that a mistake can be undone.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_STORED_KEEP_RULE_H
#define RESOURCES_STORED_KEEP_RULE_H

#include <stdbool.h>
#include <stdint.h>

#define KEEP_DAYS_MOST 3650

/* Numbers of days; 0 stands for `usual`, the number of the service, which may be 0 too: for ever.
 */
struct keep_rule {
	uint32_t days;
	uint32_t before; /* what counted before the last change, for a day after it */
	int64_t changed; /* the last change; 0 if there was none */
};

/* Returns the rule with other days, from `now` on. */
struct keep_rule keep_rule_change(const struct keep_rule *rule, uint32_t days, uint32_t usual,
				  int64_t now);
bool keep_rule_equal(const struct keep_rule *a, const struct keep_rule *b);

/* Returns the time from which on files are kept: older ones are to be deleted. INT64_MIN if all are
 * kept. */
int64_t keep_rule_since(const struct keep_rule *rule, uint32_t usual, int64_t now);

#endif
