/* The only file that includes PCRE2. A thread's match data is created at its first match and freed
 * by the key's destructor when the thread ends.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"

struct pattern {
	pcre2_code *code;
	bool is_compiled_to_machine_code;
};

static pthread_key_t match_data_key;
static pthread_once_t match_data_once = PTHREAD_ONCE_INIT;

static void free_match_data(void *data)
{
	pcre2_match_data_free(data);
}

static void make_match_data_key(void)
{
	if (pthread_key_create(&match_data_key, free_match_data) != 0)
		ABORT("cannot create a thread key");
}

static pcre2_match_data *thread_match_data(void)
{
	pcre2_match_data *data = pthread_getspecific(match_data_key);

	if (data != NULL)
		return data;
	data = pcre2_match_data_create(PATTERN_CAPTURES + 1, NULL);
	if (data == NULL || pthread_setspecific(match_data_key, data) != 0)
		ABORT("PCRE2 failed");
	return data;
}

struct pattern *pattern_open(const char *expression)
{
	struct pattern *pattern = calloc(1, sizeof *pattern);
	PCRE2_UCHAR text[256];
	int error = 0;
	size_t offset = 0;

	if (pattern == NULL || pthread_once(&match_data_once, make_match_data_key) != 0)
		ABORT("out of memory");
	pattern->code = pcre2_compile((PCRE2_SPTR)expression, PCRE2_ZERO_TERMINATED,
				      PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_DOLLAR_ENDONLY |
					      PCRE2_NEVER_UTF,
				      &error, &offset, NULL);
	if (pattern->code == NULL) {
		if (pcre2_get_error_message(error, text, sizeof text) < 0)
			text[0] = '\0';
		(void)fprintf(stderr, "pattern \"%s\": %s at offset %zu\n", expression,
			      (char *)text, offset);
		ABORT("invalid pattern");
	}

	/* Without JIT (no executable memory allowed) the interpreter gives the same results. */
	pattern->is_compiled_to_machine_code = pcre2_jit_compile(pattern->code,
								 PCRE2_JIT_COMPLETE) == 0;
	return pattern;
}

void pattern_close(struct pattern *pattern)
{
	if (pattern == NULL)
		return;
	pcre2_code_free(pattern->code);
	free(pattern);
}

bool pattern_match(const struct pattern *pattern, struct slice subject, struct match *match)
{
	const char *text = subject.data == NULL ? "" : subject.data;
	pcre2_match_data *data = thread_match_data();
	int groups = pattern->is_compiled_to_machine_code
			     ? pcre2_jit_match(pattern->code, (PCRE2_SPTR)text, subject.size, 0, 0,
					       data, NULL)
			     : pcre2_match(pattern->code, (PCRE2_SPTR)text, subject.size, 0, 0,
					   data, NULL);
	const PCRE2_SIZE *offsets;

	if (groups < 0)
		return false;
	if (match == NULL)
		return true;
	/* `groups` is 0 if there are more groups than places. Group 0 is the subject itself. */
	offsets = pcre2_get_ovector_pointer(data);
	match->n = groups == 0 ? PATTERN_CAPTURES : (size_t)groups - 1;
	match->mark = (const char *)pcre2_get_mark(data);
	for (size_t i = 0; i < match->n; i++) {
		PCRE2_SIZE from = offsets[2 * i + 2];
		PCRE2_SIZE to = offsets[2 * i + 3];

		match->captures[i] = from == PCRE2_UNSET ? (struct slice){ NULL, 0 }
							 : (struct slice){ text + from, to - from };
	}
	return true;
}
