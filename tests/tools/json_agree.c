/* See json_agree.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "json_agree.h"

#include <math.h>

#include "base/json_text.h"
#include "base/text.h"

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

static size_t depth_of(json_t *value)
{
	size_t deepest = 0, i;
	const char *name;
	json_t *below;

	if (json_is_object(value))
		json_object_foreach(value, name, below)
			deepest = larger(deepest, depth_of(below));
	else if (json_is_array(value))
		json_array_foreach(value, i, below)
			deepest = larger(deepest, depth_of(below));
	else
		return 0;
	return deepest + 1;
}

/* The same double: integers below 2^53 must be integers in ours, and fractions must not. */
static bool same_real(json_t *ours, json_t *theirs)
{
	const double value = json_number_value(ours), other = json_real_value(theirs);

	return !(value < other || value > other) &&
	       (!json_is_integer(ours) || fabs(value) < 9007199254740992.0);
}

static bool same_members(json_t *ours, json_t *theirs)
{
	void *i = json_object_iter(ours);
	void *j = json_object_iter(theirs);

	for (; i != NULL && j != NULL;
	     i = json_object_iter_next(ours, i), j = json_object_iter_next(theirs, j)) {
		struct slice name = { json_object_iter_key(i), json_object_iter_key_len(i) };
		struct slice other = { json_object_iter_key(j), json_object_iter_key_len(j) };

		if (!slice_equal(name, other) ||
		    !json_same_value(json_object_iter_value(i), json_object_iter_value(j)))
			return false;
	}
	return i == NULL && j == NULL;
}

static bool same_items(const json_t *ours, const json_t *theirs)
{
	if (json_array_size(ours) != json_array_size(theirs))
		return false;
	for (size_t i = 0; i < json_array_size(ours); i++)
		if (!json_same_value(json_array_get(ours, i), json_array_get(theirs, i)))
			return false;
	return true;
}

bool json_same_value(json_t *ours, json_t *theirs)
{
	if (json_is_real(theirs))
		return json_is_number(ours) && same_real(ours, theirs);
	/* jansson reads -0 as 0. */
	if (json_is_real(ours) && json_is_integer(theirs))
		return json_integer_value(theirs) == 0 && json_real_value(ours) == 0.0;
	if (json_typeof(ours) != json_typeof(theirs))
		return false;
	switch (json_typeof(ours)) {
	case JSON_OBJECT:
		return same_members(ours, theirs);
	case JSON_ARRAY:
		return same_items(ours, theirs);
	case JSON_REAL:
	case JSON_STRING:
	case JSON_INTEGER:
	case JSON_TRUE:
	case JSON_FALSE:
	case JSON_NULL:
		break;
	}
	return json_equal(ours, theirs) == 1;
}

static bool reads_back(struct arena *arena, const json_t *value, json_t *theirs)
{
	const struct slice written = json_as_text(arena, value);
	json_t *read = json_text_read_stored(arena, written, NULL);

	return read != NULL && json_same_value(read, theirs) &&
	       slice_equal(json_as_text(arena, read), written);
}

bool json_agrees(struct arena *arena, struct slice text)
{
	struct json_flaw flaw = { 0 };
	json_t *ours = json_text_read(arena, text, &flaw);
	json_t *theirs = json_loadb(text.data, text.size, JSON_REJECT_DUPLICATES, NULL);
	/* jansson ignores a NUL byte after a number. */
	bool is_good = json_is_object(theirs) && depth_of(theirs) <= JSON_TEXT_DEPTH &&
		       memchr(text.data, '\0', text.size) == NULL;
	bool agrees;

	if (ours == NULL)
		agrees = !is_good && flaw.line > 0 && flaw.column > 0 && flaw.sentence != NULL;
	else
		agrees = is_good && json_same_value(ours, theirs) &&
			 reads_back(arena, ours, theirs);
	json_decref(theirs);
	return agrees;
}
