/* Responses of handlers, and conditional requests.
 *
 * The ETag of an object identifies the last write that changed what GET shows of it. All our ETags
 * are strong. A proxy that compresses a response turns "x" into W/"x" or into "x-gzip" and the
 * like, and clients send that back, so these match "x" too.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/call.h"

#include <assert.h>

#include "accounts/accounts.h"
#include "base/text.h"

static const char *const method_names[] = {
	[METHOD_GET] = "GET",	  [METHOD_HEAD] = "HEAD",     [METHOD_POST] = "POST",
	[METHOD_PATCH] = "PATCH", [METHOD_DELETE] = "DELETE", [METHOD_OPTIONS] = "OPTIONS",
	[METHOD_OTHER] = "other",
};

const char *const join_refusal_names[JOIN_REFUSALS] = {
#define JOIN_REFUSAL(name, label) [JOIN_##name] = (label),
	EACH_JOIN_REFUSAL(JOIN_REFUSAL)
#undef JOIN_REFUSAL
};

const char *method_name(enum method method)
{
	return method_names[method];
}

enum method method_named(struct slice name)
{
	enum method method = METHOD_GET;

	while (method < METHOD_OTHER && !slice_is(name, method_names[method]))
		method++;
	return method;
}

void call_part(struct call *call, struct slice bytes)
{
	struct answer *answer = &call->answer;

	if (bytes.size == 0)
		return;
	answer->parts = arena_room(call->arena, answer->parts, answer->part_count + 1,
				   &answer->part_capacity, sizeof *answer->parts);
	answer->parts[answer->part_count++] = bytes;
	answer->size += bytes.size;
}

bool call_answer(struct call *call, struct slice body)
{
	call->answer.status = 200;
	call_part(call, body);
	return true;
}

bool call_answer_created(struct call *call, struct slice body)
{
	(void)call_answer(call, body);
	call->answer.status = 201;
	return true;
}

bool call_answer_nothing(struct call *call)
{
	call->answer.status = 204;
	return true;
}

void call_header(struct call *call, const char *name, struct slice value)
{
	struct answer *answer = &call->answer;

	assert(answer->header_count < ANSWER_HEADERS);
	answer->headers[answer->header_count++] = (struct header){ name,
								   arena_copy(call->arena, value) };
}

struct slice call_find_header(const struct call *call, const char *name)
{
	const struct answer *answer = &call->answer;

	for (size_t i = 0; i < answer->header_count; i++) {
		if (strcmp(answer->headers[i].name, name) == 0)
			return answer->headers[i].value;
	}
	return SLICE("");
}

bool call_keep_instead(struct call *call, struct slice body)
{
	call->answer.kept = body;
	return true;
}

bool call_write_instead(struct call *call)
{
	assert(!call_is_writing(call));
	call->run.wants_write = true;
	return true;
}

bool call_is_writing(const struct call *call)
{
	return call->transaction->access == STORE_WRITE;
}

void call_reset_answer(struct call *call)
{
	call->answer.header_count = call->answer.lasting_count;
	call->answer.part_count = 0;
	call->answer.size = 0;
	call->answer.kept = (struct slice){ NULL, 0 };
}

enum store_reading call_reading(const struct call *call)
{
	return call_is_writing(call) ? STORE_TO_CHANGE : STORE_TO_SHOW;
}

void call_set_account(struct call *call)
{
	id_print(&call->account, call->account_text);
	store_set_account(call->transaction, &call->account);
}

bool call_is_anonymous(const struct call *call)
{
	const struct roster *roster = accounts_current(call->environment->accounts);
	const struct account *account = roster_by_id(roster, &call->account);
	const bool is_so = account != NULL && !account->keeps_people;

	accounts_release(call->environment->accounts, roster);
	return is_so;
}

bool call_account_is_enabled(const struct call *call)
{
	const struct roster *roster = accounts_current(call->environment->accounts);
	const struct account *account = roster_by_id(roster, &call->account);
	const bool is_enabled = account != NULL && account->is_enabled;

	accounts_release(call->environment->accounts, roster);
	return is_enabled;
}

void call_raise_time(struct call *call, int64_t time)
{
	if (call_is_writing(call) && (call->is_part ? call->now < time : call->now <= time))
		call->now = time + 1;
}

struct id call_new_id(const struct call *call, const struct id *newest, uint64_t number)
{
	int64_t seconds = call->now / 1000;

	if (seconds < id_seconds(newest))
		seconds = id_seconds(newest);
	if (seconds > UINT32_MAX)
		seconds = UINT32_MAX;
	return id_make(call->environment->clock, (uint32_t)seconds, number);
}

void call_draw_etag(struct call *call)
{
	do {
		clock_random(call->environment->clock, &call->etag, sizeof call->etag);
		call->etag >>= 1;
	} while (call->etag == 0);
}

#define ETAG_SIZE 18 /* 16 digits in quotes */

static struct slice etag_text(const struct call *call, uint64_t etag)
{
	char *text = arena_alloc(call->arena, ETAG_SIZE);
	char *at = text + ETAG_SIZE;

	*--at = '"';
	do {
		*--at = "0123456789abcdef"[etag & 15];
		etag >>= 4;
	} while (etag > 0);
	*--at = '"';
	return (struct slice){ at, (size_t)(text + ETAG_SIZE - at) };
}

void call_etag(struct call *call, uint64_t etag)
{
	call_header(call, "ETag", etag_text(call, etag));
}

/* Removes the suffix that a proxy adds to the tag of a response that it compresses. */
static struct slice without_coding(struct slice tag)
{
	static const char *const codings[] = { "-gzip", "-br", "-deflate", "-zstd" };

	for (size_t i = 0; i < sizeof codings / sizeof codings[0]; i++) {
		const struct slice coding = slice_of(codings[i]);

		if (tag.size > coding.size &&
		    memcmp(tag.data + tag.size - coding.size, coding.data, coding.size) == 0)
			return (struct slice){ tag.data, tag.size - coding.size };
	}
	return tag;
}

/* Takes one entity-tag, without its quotes, off the front of a list. Returns false at the end of
 * the list, or if no entity-tag follows. */
static bool next_tag(struct slice *list, struct slice *tag)
{
	const char *end;

	while (list->size > 0 &&
	       (list->data[0] == ',' || list->data[0] == ' ' || list->data[0] == '\t')) {
		list->data++;
		list->size--;
	}
	if (list->size > 2 && list->data[0] == 'W' && list->data[1] == '/') {
		list->data += 2;
		list->size -= 2;
	}
	if (list->size < 2 || list->data[0] != '"')
		return false;
	end = memchr(list->data + 1, '"', list->size - 1);
	if (end == NULL)
		return false;
	*tag = (struct slice){ list->data + 1, (size_t)(end - list->data) - 1 };
	list->size -= tag->size + 2;
	list->data = end + 1;
	return true;
}

/* True if a field value, `*` or a list of entity-tags, includes the ETag (a text with quotes). */
static bool names(struct slice list, bool exists, struct slice etag)
{
	struct slice tag;

	if (!exists)
		return false;
	if (slice_is(text_trim(list, TEXT_BLANKS), "*"))
		return true;
	while (next_tag(&list, &tag)) {
		tag = without_coding(tag);
		if (tag.size + 2 == etag.size && memcmp(tag.data, etag.data + 1, tag.size) == 0)
			return true;
	}
	return false;
}

bool call_condition_read(struct slice *header)
{
	const struct slice content = text_trim(*header, TEXT_BLANKS);
	struct slice list = content, tag;

	if (content.size == 0)
		*header = (struct slice){ NULL, 0 };
	if (content.size == 0 || slice_is(content, "*"))
		return true;
	while (next_tag(&list, &tag)) {
		list = text_trim(list, TEXT_BLANKS);
		if (list.size == 0 || text_trim(list, ", \t").size == 0)
			return true;
		if (list.data[0] != ',')
			return false;
	}
	return false;
}

bool call_not_modified(struct call *call, uint64_t etag)
{
	struct slice wanted = call->request.if_none_match;

	if (wanted.data == NULL || !names(wanted, true, etag_text(call, etag)))
		return false;
	call->answer.status = 304;
	return true;
}

bool call_precondition(const struct call *call, bool exists, uint64_t etag, struct fault *fault)
{
	const struct request *request = &call->request;
	struct slice current = exists ? etag_text(call, etag) : (struct slice){ 0 };

	if (request->if_match.data != NULL && !names(request->if_match, exists, current))
		return fault_detail(fault, FAULT_PRECONDITION,
				    exists ? "If-Match: the object has changed; read it again"
					   : "If-Match: the object does not exist yet");
	if (request->if_none_match.data != NULL && names(request->if_none_match, exists, current))
		return fault_detail(fault, FAULT_PRECONDITION,
				    "If-None-Match: the object already exists");
	return true;
}

const json_t *call_member(const struct call *call, const char *name)
{
	return json_object_get(call->body, name);
}

json_t *call_share(const json_t *value)
{
	return (json_t *)(uintptr_t)value;
}

json_t *call_copy(struct call *call, const json_t *object)
{
	return arena_json(call->arena, json_copy(call_share(object)));
}

json_t *call_copy_member(json_t *copy, const char *name)
{
	json_t *member = json_object_get(copy, name);

	member = member == NULL ? json_object() : json_copy(member);
	object_put(copy, name, member);
	return member;
}

struct slice call_text(const struct call *call, const char *name)
{
	const struct slice text = text_of_json(call_member(call, name));

	return text.data == NULL ? SLICE("") : text;
}

struct slice call_query_text(const struct call *call, const char *name)
{
	return text_of_json(json_object_get(call->query, name));
}
