/*
 * Lines of a case that neither send nor check. Each function gets the text after its word, in the
 * form that tests/cases/README describes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_CASE_VERBS_H
#define TESTS_CASE_VERBS_H

#include "case_check.h"

void verb_let(struct run *run, const char *rest);
void verb_bytes(struct run *run, const char *rest);
void verb_join(struct run *run, const char *rest);
void verb_fill(struct run *run, const char *rest);
void verb_cut(struct run *run, const char *rest);
void verb_save(struct run *run, const char *rest);
void verb_digest(struct run *run, const char *rest);
void verb_jwt(struct run *run, const char *rest);
void verb_verify(struct run *run, const char *rest);
void verb_account(struct run *run, const char *rest);
void verb_clock(struct run *run, const char *rest);
void verb_fail(struct run *run, const char *rest);
void verb_calls(struct run *run, const char *rest);

/* Sets $account_id, $access_key, $secret and $token, each with the suffix. */
void set_account(struct run *run, const char *suffix, const struct case_account *account);

/* Sets $i. */
void count_to(struct run *run, unsigned long n);

#endif
