/* What the store keeps of an account: how far it has counted, and its default template. Keys: the
 * account. (Names, access keys and secrets are in the accounts file, accounts/accounts.h.)
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_ACCOUNT_RECORD_H
#define RESOURCES_ACCOUNT_RECORD_H

#include "resources/call.h"

struct account_record {
	uint64_t template_number; /* of the youngest template; 0: none yet */
	uint64_t room_number;
	int64_t last_time; /* of the youngest id, milliseconds */
	bool has_default;
	struct id default_template;
};

/* All zero for an account that has nothing yet. */
bool account_load(struct call *call, struct account_record *record, struct fault *fault);
bool account_put(struct call *call, const struct account_record *record, struct fault *fault);

/* The next id of a counter of this record. When the clock went back, call->now becomes the time of
 * the youngest id: ids and creation times never go back within an account. After ID_TIME_MAX it stands
 * still there. */
struct id account_next_id(struct call *call, struct account_record *record, uint64_t *number);

/* The lists of an account and of a template (store/sequence.h). */
struct slice list_of_templates(const struct call *call);
struct slice list_of_rooms(const struct call *call, bool enabled);
struct slice list_of_template_rooms(const struct call *call, const struct id *template_id,
				    bool enabled);

#endif
