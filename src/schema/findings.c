/* The findings of one body. They are collected during the walk, then sorted by position and turned
 * into one fault. The first finding copies the outline of the body, because the walk removes faulty
 * members and findings are sorted in the order of the body as sent. A body without findings costs
 * nothing. The walk ends at fault_most findings.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdarg.h>
#include <stdio.h>

#include "base/log.h"
#include "base/text.h"
#include "schema/walk.h"

/* The parser limits bodies to 32 levels, and a pointer adds at most one segment. */
#define DEPTH_MOST 33

struct finding {
	struct slice pointer;
	const char *sentence;
	/* NULL for the standard message */
	const char *message;
	/* Index of the member or item at each level. */
	size_t depth;
	uint32_t positions[DEPTH_MOST];
};

void findings_open(struct findings *findings, struct arena *arena)
{
	*findings = (struct findings){ .arena = arena, .fault_most = FINDINGS_FAULT_MOST };
}

struct arena *rule_arena(struct rule_context *context)
{
	return context->findings->arena;
}

int64_t rule_now(const struct rule_context *context)
{
	return clock_now(context->findings->clock) / 1000;
}

/* Appends the JSON Pointer of the place. The recursion is as deep as the table. */
static void place_print(const struct place *place, struct buffer *pointer)
{
	if (place->up == NULL)
		return;
	place_print(place->up, pointer);
	if (place->name.data != NULL) {
		text_pointer(pointer, place->name);
		return;
	}
	buffer_append_byte(pointer, '/');
	buffer_append_integer(pointer, (json_int_t)place->index);
}

static struct slice pointer_to(struct arena *arena, const struct place *place, const char *rest)
{
	struct buffer pointer = BUFFER_INITIAL(arena);

	place_print(place, &pointer);
	buffer_append_text(&pointer, rest);
	return buffer_slice(&pointer);
}

/* Returns a copy in which every value except objects, arrays and null is true: only the names of
 * members and the numbers of items determine the order of findings. The recursion is as deep as the
 * body. */
static json_t *outline(const json_t *value)
{
	json_t *copy;

	if (json_is_object(value)) {
		copy = json_object();
		for (void *i = first_member(value); i != NULL; i = next_member(value, i)) {
			struct slice name = member_key(i);

			if (json_object_setn_new_nocheck(copy, name.data, name.size,
							 outline(json_object_iter_value(i))) != 0)
				ABORT("cannot change a JSON value");
		}
		return copy;
	}
	if (!json_is_array(value))
		return json_is_null(value) ? json_null() : json_true();
	copy = json_array();
	for (size_t i = 0; i < json_array_size(value); i++)
		array_put(copy, outline(json_array_get(value, i)));
	return copy;
}

void findings_keep_order(struct findings *findings, const json_t *body)
{
	findings->sent = arena_json(findings->arena, outline(body));
}

bool findings_are_full(const struct findings *findings)
{
	return findings->fault_count >= findings->fault_most;
}

/* Returns the place of one more fault, or NULL at the limit. */
static struct finding *next_finding(struct findings *findings)
{
	const size_t count = findings->fault_count++;

	if (count >= findings->fault_most)
		return NULL;
	findings->faults = arena_room(findings->arena, findings->faults, count + 1,
				      &findings->fault_capacity, sizeof *findings->faults);
	if (findings->sent == NULL && findings->body != NULL)
		findings->sent = arena_json(findings->arena, outline(findings->body));
	return &findings->faults[count];
}

static void add_finding(struct findings *findings, const struct place *place, const char *rest,
			const char *sentence, va_list arguments)
	__attribute__((format(printf, 4, 0)));

/* Adds a finding whose pointer is the place, followed by `rest`. */
static void add_finding(struct findings *findings, const struct place *place, const char *rest,
			const char *sentence, va_list arguments)
{
	struct finding *finding = next_finding(findings);
	struct slice shown;
	char text[512];

	if (finding == NULL)
		return;
	(void)vsnprintf(text, sizeof text, sentence, arguments);
	shown = text_cut(slice_of(text), sizeof text - 2);
	*finding = (struct finding){
		.pointer = pointer_to(findings->arena, place, rest),
		.sentence = arena_copy(findings->arena, shown).data,
	};
}

void findings_report(struct findings *findings, const struct place *place, const char *sentence,
		     ...)
{
	va_list arguments;

	va_start(arguments, sentence);
	add_finding(findings, place, "", sentence, arguments);
	va_end(arguments);
}

void schema_fault(struct rule_context *context, const char *pointer, const char *sentence, ...)
{
	va_list arguments;

	va_start(arguments, sentence);
	add_finding(context->findings, context->place, pointer, sentence, arguments);
	va_end(arguments);
}

void findings_add(struct findings *findings, const char *pointer, const char *sentence, ...)
{
	va_list arguments;

	va_start(arguments, sentence);
	add_finding(findings, &PLACE_ROOT, pointer, sentence, arguments);
	va_end(arguments);
}

void findings_message(struct findings *findings, const char *message)
{
	if (findings->fault_count == 1)
		findings->faults[0].message = message;
}

/* Returns NULL at the limit. */
static struct slice *next_unknown(struct findings *findings)
{
	if (findings->unknown_count++ >= FINDINGS_UNKNOWN_MOST)
		return NULL;
	if (findings->unknown == NULL)
		findings->unknown = arena_alloc(findings->arena,
						FINDINGS_UNKNOWN_MOST * sizeof *findings->unknown);
	return &findings->unknown[findings->unknown_count - 1];
}

void findings_unknown(struct findings *findings, const struct place *place)
{
	struct slice *unknown = next_unknown(findings);

	if (unknown != NULL)
		*unknown = pointer_to(findings->arena, place, "");
}

static struct slice pointer_below(struct findings *findings, const char *pointer, struct slice rest)
{
	return slice_of(arena_text(findings->arena, "%s%.*s", pointer, (int)rest.size, rest.data));
}

void findings_take(struct findings *findings, const char *pointer, const struct findings *piece)
{
	for (size_t i = 0; i < piece->fault_count && i < piece->fault_most; i++) {
		struct finding *finding = next_finding(findings);

		if (finding == NULL)
			break;
		*finding = (struct finding){
			.pointer = pointer_below(findings, pointer, piece->faults[i].pointer),
			.sentence = piece->faults[i].sentence,
		};
	}
	for (size_t i = 0; i < piece->unknown_count && i < FINDINGS_UNKNOWN_MOST; i++) {
		struct slice *unknown = next_unknown(findings);

		if (unknown == NULL)
			break;
		*unknown = pointer_below(findings, pointer, piece->unknown[i]);
	}
}

void findings_run_rules(struct findings *findings, const struct shape *shape,
			const struct place *place, const json_t *object)
{
	struct rule_context context = { .findings = findings, .place = place };

	for (const struct rule *rule = shape->rules; rule != NULL && rule->check != NULL; rule++)
		rule->check(&context, object);
}

/* ---- order ---- */

static bool segment_is(struct slice segment, const char *name)
{
	for (size_t i = 0; i < segment.size; i++) {
		char byte = segment.data[i];

		if (byte == '~' && i + 1 < segment.size)
			byte = segment.data[++i] == '0' ? '~' : '/';
		if (*name++ != byte)
			return false;
	}
	return *name == '\0';
}

/* Returns the index of a member or item. A missing member comes after the last one. */
static size_t position(const json_t *within, struct slice segment, const json_t **value)
{
	size_t members = 0;
	int64_t index;

	*value = NULL;
	if (json_is_object(within)) {
		for (void *i = first_member(within); i != NULL; i = next_member(within, i)) {
			if (segment_is(segment, json_object_iter_key(i))) {
				*value = json_object_iter_value(i);
				return members;
			}
			members++;
		}
		return members;
	}
	if (!json_is_array(within) || !text_integer(segment, &index) || index < 0)
		return 0;
	*value = json_array_get(within, (size_t)index);
	return (size_t)index;
}

/* Fills the positions along the pointer. Returns the value it points to, or NULL. */
static const json_t *locate(struct finding *finding, const json_t *sent)
{
	const json_t *within = sent;
	struct slice rest;

	finding->depth = 0;
	(void)text_split(finding->pointer, '/', &rest);
	while (rest.data != NULL && finding->depth < DEPTH_MOST)
		finding->positions[finding->depth++] =
			(uint32_t)position(within, text_split(rest, '/', &rest), &within);
	return within;
}

bool rule_was_sent(const struct rule_context *context, const char *pointer)
{
	const struct findings *findings = context->findings;
	const json_t *sent = findings->sent != NULL ? findings->sent : findings->body;
	struct finding finding = {
		.pointer = pointer_to(findings->arena, context->place, pointer),
	};
	const json_t *member = locate(&finding, sent);

	return member != NULL && !json_is_null(member);
}

static bool stands_before(const struct finding *a, const struct finding *b)
{
	for (size_t i = 0; i < a->depth && i < b->depth; i++) {
		if (a->positions[i] != b->positions[i])
			return a->positions[i] < b->positions[i];
	}
	return a->depth < b->depth;
}

/* Characters of each name that a pointer shows. */
#define SHOWN_MOST 64

bool findings_close(struct findings *findings, enum fault_kind kind, struct fault *fault)
{
	size_t kept = findings_are_full(findings) ? findings->fault_most : findings->fault_count;
	/* Bytes to omit at the beginning of each pointer. */
	const size_t skip = kind == FAULT_INVALID_QUERY ? 1 : 0;
	json_t *details, *faults;

	if (kept == 0)
		return true;
	if (fault->kind != FAULT_NONE)
		return false;
	for (size_t i = 0; i < kept && findings->sent != NULL; i++)
		(void)locate(&findings->faults[i], findings->sent);
	/* Insertion sort, which is stable and fast enough for at most fifty findings. */
	for (size_t i = 1; i < kept; i++) {
		struct finding *all = findings->faults, finding = all[i];
		size_t place = i;

		for (; place > 0 && stands_before(&finding, &all[place - 1]); place--)
			all[place] = all[place - 1];
		all[place] = finding;
	}

	if (kept == 1 && findings->faults[0].message != NULL)
		(void)fault_set(fault, kind, "%s", findings->faults[0].message);
	else
		(void)fault_set(fault, kind, NULL);

	/* Details show only the beginning of long names; the parts have whole pointers. */
	details = arena_json(findings->arena, json_array());
	faults = arena_json(findings->arena, json_array());
	for (size_t i = 0; i < kept; i++) {
		const struct finding *finding = &findings->faults[i];
		struct buffer text = BUFFER_INITIAL(findings->arena);
		struct slice rest;

		(void)text_split(finding->pointer, '/', &rest);
		while (rest.data != NULL) {
			const struct slice segment = text_split(rest, '/', &rest);
			struct slice shown = text_first(segment, SHOWN_MOST);

			/* Does not cut an escape in half. */
			if (shown.size < segment.size && shown.data[shown.size - 1] == '~')
				shown.size--;
			buffer_append_byte(&text, '/');
			buffer_append(&text, shown);
			buffer_append_text(&text, shown.size < segment.size ? "..." : "");
		}
		if (text.size > 0)
			buffer_append_text(&text, ": ");
		buffer_append_text(&text, finding->sentence);
		array_put(details,
			  json_of_text((struct slice){ text.data + skip, text.size - skip }));
		array_put(faults, json_pack("{s:s%, s:o}", "pointer", finding->pointer.data + skip,
					    finding->pointer.size - skip, "message",
					    json_of_text(slice_of(finding->sentence))));
	}
	fault->details = details;
	fault->faults = faults;
	return false;
}

bool findings_result(struct findings *findings, struct fault *fault)
{
	return findings_close(findings, FAULT_INVALID_BODY, fault);
}
