/* The suite of recordings: what becomes of a job (merge.c), and what recorders and the service say
 * to each other (reports.c).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_RECORDINGS_KIT_H
#define TESTS_RECORDINGS_KIT_H

#include <check.h>

#include "suite.h"

void add_merge(TCase *merge);
/* on_database: over PostgreSQL, where there may be several services. */
void add_reports(TCase *reports, bool on_database);

#endif
