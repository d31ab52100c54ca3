/* Sets faults, and has the status and the standard message of each kind.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/fault.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/http_status.h"
#include "base/text.h"

#define FAULT_KIND(name, status, text) \
	_Static_assert(HTTP_##status < HTTP_STATUS_COUNT, "missing in base/http_status.h");
FAULT_KINDS(FAULT_KIND)
#undef FAULT_KIND

static const struct {
	int status;
	const char *text;
} kinds[] = { [FAULT_NONE] = { 200, "OK" },
#define FAULT_KIND(name, status, text) [FAULT_##name] = { status, text },
	      FAULT_KINDS(FAULT_KIND)
#undef FAULT_KIND
};

int fault_status(enum fault_kind kind)
{
	return kinds[kind].status;
}

const char *fault_text(enum fault_kind kind)
{
	return kinds[kind].text;
}

/* vsnprintf may cut within a character, so it gets room for one more byte, which shows whether it
 * did. */
__attribute__((format(printf, 3, 0))) static void print(char *text, size_t size, const char *format,
							va_list arguments)
{
	char whole[512];
	int wanted = vsnprintf(whole, size + 1, format, arguments);

	if (wanted < 0)
		whole[0] = '\0';

	struct slice kept = text_cut(slice_of(whole), size - 1);

	memcpy(text, kept.data, kept.size);
	text[kept.size] = '\0';
}

/* Returns false if there is an earlier fault. If `message` is NULL, sets the standard message. */
static bool begin(struct fault *fault, enum fault_kind kind, const char *message)
{
	if (fault->kind != FAULT_NONE)
		return false;
	*fault = (struct fault){ .kind = kind };
	(void)snprintf(fault->message, sizeof fault->message, "%s",
		       message == NULL ? fault_text(kind) : message);
	return true;
}

bool fault_set(struct fault *fault, enum fault_kind kind, const char *message, ...)
{
	va_list arguments;

	if (!begin(fault, kind, NULL) || message == NULL)
		return false;
	va_start(arguments, message);
	print(fault->message, sizeof fault->message, message, arguments);
	va_end(arguments);
	return false;
}

bool fault_detail(struct fault *fault, enum fault_kind kind, const char *detail, ...)
{
	va_list arguments;

	if (!begin(fault, kind, NULL))
		return false;
	va_start(arguments, detail);
	print(fault->detail, sizeof fault->detail, detail, arguments);
	va_end(arguments);
	return false;
}

bool fault_explain(struct fault *fault, enum fault_kind kind, const char *message,
		   const char *detail, ...)
{
	va_list arguments;

	if (!begin(fault, kind, message))
		return false;
	va_start(arguments, detail);
	print(fault->detail, sizeof fault->detail, detail, arguments);
	va_end(arguments);
	return false;
}

bool fault_member(struct fault *fault, enum fault_kind kind, const char *message,
		  const char *pointer, const char *sentence, ...)
{
	const size_t before = strlen(pointer) + 2;
	va_list arguments;

	if (!begin(fault, kind, message))
		return false;
	assert(before < sizeof fault->detail);
	(void)snprintf(fault->detail, sizeof fault->detail, "%s: ", pointer);
	fault->pointer_size = before - 2;
	va_start(arguments, sentence);
	print(fault->detail + before, sizeof fault->detail - before, sentence, arguments);
	va_end(arguments);
	return false;
}

bool fault_cause(struct fault *fault, enum fault_kind kind, int errno_value, const char *cause, ...)
{
	va_list arguments;

	if (!begin(fault, kind, NULL))
		return false;
	va_start(arguments, cause);
	print(fault->cause, sizeof fault->cause, cause, arguments);
	va_end(arguments);
	if (errno_value == 0)
		return false;

	size_t size = strlen(fault->cause);

	(void)snprintf(fault->cause + size, sizeof fault->cause - size, ": %s",
		       strerror(errno_value));
	return false;
}

const char *fault_reason(const struct fault *fault)
{
	return fault->cause[0] != '\0' ? fault->cause : fault->message;
}

json_t *fault_parts(const struct fault *fault)
{
	const size_t size = fault->pointer_size;

	if (fault->faults != NULL)
		return json_incref(fault->faults);
	if (fault->detail[0] == '\0')
		return json_array();
	return json_pack("[{s:s%, s:s}]", "pointer", fault->detail, size, "message",
			 size > 0 ? fault->detail + size + 2 : fault->detail);
}

bool fault_is_of_the_store(enum fault_kind kind)
{
	return kind == FAULT_AGAIN || kind == FAULT_BUSY || kind == FAULT_UNAVAILABLE ||
	       kind == FAULT_DAMAGED || kind == FAULT_TOO_LARGE || kind == FAULT_INTERNAL;
}

void fault_add_detail(struct fault *fault, struct arena *arena, const char *text)
{
	json_t *details = arena_json(arena, json_array());

	if (fault->details != NULL)
		(void)json_array_extend(details, fault->details);
	else if (fault->detail[0] != '\0')
		array_put(details, json_string(fault->detail));
	array_put(details, json_string(text));
	fault->details = details;
}
