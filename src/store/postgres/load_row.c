/* The table load: one row that a running load keeps locked, and one that is its mark.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "base/memory.h"
#include "store/postgres/store_postgres_parts.h"

struct store_load {
	struct wire_target target;
	struct wire lock, wire;
};

bool store_postgres_load_begin(const char *url, struct store_load **load, struct fault *fault)
{
	struct store_load *begun = memory_check(calloc(1, sizeof *begun));
	bool is_open;

	begun->lock.target = begun->wire.target = &begun->target;
	*load = NULL;
	is_open = wire_target_open(url, true, &begun->target, fault) &&
		  wire_reopen(&begun->lock, fault) && wire_reopen(&begun->wire, fault);
	if (is_open) {
		wire_add(&begun->lock, BEGIN_WRITE, NULL);
		wire_add(&begun->lock, LOAD_LOCK, NULL);
		is_open = wire_fly(&begun->lock, false, fault);
		if (!is_open && fault->kind == FAULT_AGAIN) {
			*fault = FAULT_INITIAL;
			fault_cause(fault, FAULT_CONFLICT, 0,
				    "another load into this database is in progress");
		}
	}
	if (is_open)
		*load = begun;
	else
		store_postgres_load_end(begun);
	return is_open;
}

bool store_postgres_load_marked(struct store_load *load, struct arena *arena, struct slice *text,
				struct fault *fault)
{
	*text = (struct slice){ NULL, 0 };
	wire_add(&load->wire, LOAD_MARKED, NULL);
	if (!wire_fly(&load->wire, false, fault))
		return false;
	if (wire_rows(&load->wire, 0) == 1)
		*text = arena_copy(arena, wire_bytes(&load->wire, 0, 0, 0));
	return true;
}

bool store_postgres_load_mark(struct store_load *load, struct slice text, struct fault *fault)
{
	struct parameters parameters = PARAMETERS_INITIAL;

	/* Both statements are one transaction, because they are in one flight. */
	wire_add(&load->wire, LOAD_UNMARK, NULL);
	if (text.data != NULL) {
		parameters_bytes(&parameters, text);
		wire_add(&load->wire, LOAD_MARK, &parameters);
	}
	return wire_fly(&load->wire, false, fault);
}

void store_postgres_load_end(struct store_load *load)
{
	if (load == NULL)
		return;
	wire_close(&load->lock);
	wire_close(&load->wire);
	wire_target_close(&load->target);
	free(load);
}
