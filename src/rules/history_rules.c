/* See rules/history_rules.h. The service writes samples itself; these tables only document them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/history_rules.h"

/* clang-format off */

#define COUNT(of) INTEGER(0, UINT32_MAX), FLAGS(FIELD_REQUIRED), DOC(of " of this minute.")
#define SECONDS(of) NUMBER(0, 5), FLAGS(FIELD_REQUIRED | FIELD_NULLABLE), UNIT("s"), \
	DOC(of "; null if there was none.")

static const struct field sample_fields[] = {
	{ "time",     TEXT(time_text), FLAGS(FIELD_REQUIRED), DOC("End of the minute.") },
	{ "reads",    COUNT("Requests with GET") },
	{ "writes",   COUNT("Requests with other methods, except joins,") },
	{ "joins",    COUNT("Exchanges of codes") },
	{ "rejected", COUNT("Responses with a status of 4xx") },
	{ "failed",   COUNT("Responses with a status of 5xx") },
	{ "p50",      SECONDS("Median response time") },
	{ "p99",      SECONDS("99th percentile of the response time") },
	{ "sync_p50", SECONDS("Median time of a sync of the journal, or of a commit of the database") },
	{ "sync_p99", SECONDS("99th percentile of the same") },
};
static const struct shape sample_shape = {
	"ServiceSample", FIELDS(sample_fields), .doc = "A minute of the service, without requests for health, "
	"metrics and history.",
};
static const struct field sample_item = { .name = NULL, OBJECT(sample_shape) };

static const struct field history_fields[] = {
	{ "interval", INTEGER(1, UNLIMITED), FLAGS(FIELD_REQUIRED), UNIT("s"), DOC("Seconds of each sample.") },
	{ "samples",  LIST_OF(sample_item), FLAGS(FIELD_REQUIRED), DOC("At most 1440 samples, oldest first.") },
};
const struct shape history_shape = {
	"ServiceHistory", FIELDS(history_fields), .doc = "The last 24 hours of the service.",
};

/* clang-format on */
