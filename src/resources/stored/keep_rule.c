/* See resources/stored/keep_rule.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/stored/keep_rule.h"

#define DAY ((int64_t)24 * 60 * 60 * 1000)

/* Returns the number of days that keeps files longer. */
static uint32_t longer_days(uint32_t a, uint32_t b, uint32_t usual)
{
	const uint32_t days_a = a > 0 ? a : usual, days_b = b > 0 ? b : usual;

	return days_a == 0 || (days_b > 0 && days_a >= days_b) ? a : b;
}

static uint32_t days_at(const struct keep_rule *rule, uint32_t usual, int64_t now)
{
	return rule->changed != 0 && now < rule->changed + DAY
		       ? longer_days(rule->days, rule->before, usual)
		       : rule->days;
}

struct keep_rule keep_rule_change(const struct keep_rule *rule, uint32_t days, uint32_t usual,
				  int64_t now)
{
	return (struct keep_rule){
		.days = days,
		.before = days_at(rule, usual, now),
		.changed = now,
	};
}

bool keep_rule_equal(const struct keep_rule *a, const struct keep_rule *b)
{
	return a->days == b->days && a->before == b->before && a->changed == b->changed;
}

int64_t keep_rule_since(const struct keep_rule *rule, uint32_t usual, int64_t now)
{
	const uint32_t days = days_at(rule, usual, now);
	const int64_t kept = days > 0 ? days : usual;

	return kept == 0 ? INT64_MIN : now - kept * DAY;
}
