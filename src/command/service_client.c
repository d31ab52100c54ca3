/* See command/service_client.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/service_client.h"

#include <poll.h>
#include <stdio.h>

#include "base/id.h"
#include "base/text.h"

#define TRIES 3
#define PAUSES_MOST 10 /* seconds */
#define PAGE_MOST 100
#define PAGE_LEAST 10 /* a page of this many items is never too long */

bool service_client_open(struct service_client *client, struct fault *fault)
{
	client->arena = arena_open();
	return http_client_open(&client->http, fault) &&
	       client_settings_find(client->arena, client->url, client->token_file,
				    &client->settings, fault);
}

int service_client_close(struct service_client *client, bool is_done, const struct fault *fault)
{
	int status = is_done ? command_printed(client->command)
			     : command_failed(client->command, fault);

	http_client_close(client->http);
	arena_close(client->arena);
	return status;
}

/* ---- sending again ---- */

/* A 409 with Retry-After means that the key is in use or that the service is too busy; nothing was
 * changed. What the media server does is not asked for again: it is away for longer, or has done it
 * perhaps. */
static bool is_passing_answer(const struct service_client *client, const struct http_answer *answer)
{
	return answer->status == 503 ||
	       ((answer->status == 502 || answer->status == 504) && !client->acts) ||
	       (answer->status == 409 && answer->retry_after > 0);
}

static bool send_until_answered(struct service_client *client, const struct http_request *request,
				struct http_answer *answer, struct fault *fault)
{
	int64_t pauses = 0, seconds;
	bool is_answered, passes;
	char status[32];

	for (int tries = 1;; tries++) {
		struct fault each = FAULT_INITIAL;

		is_answered = http_client_send(client->http, client->arena, request, answer, &each);
		passes = is_answered ? is_passing_answer(client, answer)
				     : each.kind == FAULT_UNAVAILABLE;
		seconds = is_answered && answer->retry_after > 0 ? answer->retry_after : tries;
		if (!passes || tries == TRIES || seconds > PAUSES_MOST - pauses) {
			*fault = each;
			return is_answered;
		}
		pauses += seconds;
		(void)snprintf(status, sizeof status, "the server responds with %d",
			       answer->status);
		command_remark(client->command, "%s; retrying in %lld s",
			       is_answered ? status : fault_reason(&each), (long long)seconds);
		(void)poll(NULL, 0, (int)(1000 * seconds));
	}
}

/* ---- answers ---- */

static struct slice visible(struct arena *arena, const json_t *text)
{
	return text_visible(arena, text_of_json(text));
}

/* Sets the fault to the status and the texts of a refusal. */
static bool refuse_answer(struct arena *arena, const struct http_answer *answer, const json_t *json,
			  struct fault *fault)
{
	const json_t *details = json_object_get(json, "details");
	const struct slice message = visible(arena, json_object_get(json, "message"));

	if (answer->location != NULL) {
		const struct slice location = text_visible(arena, slice_of(answer->location));

		return fault_set(
			fault, FAULT_INTERNAL,
			"%d, redirect to %.*s; redirects are not followed because they would pass "
			"on the token",
			answer->status, (int)location.size, location.data);
	}
	if (message.data == NULL)
		return fault_set(fault, FAULT_INTERNAL,
				 "%d, and the response is not from Anteroom; check the URL",
				 answer->status);
	fault_set(fault, FAULT_INTERNAL, "%d %.*s", answer->status, (int)message.size,
		  message.data);
	fault->details = arena_json(arena, json_array());
	for (size_t i = 0; i < json_array_size(details); i++) {
		struct slice detail = visible(arena, json_array_get(details, i));

		if (detail.data != NULL)
			array_put(fault->details, json_stringn(detail.data, detail.size));
	}
	return false;
}

static bool read_answer(const struct service_client *client, const struct http_answer *raw,
			struct service_reply *answer, struct fault *fault)
{
	struct arena *arena = client->arena;
	json_t *json = json_loadb(raw->body.data == NULL ? "" : raw->body.data, raw->body.size,
				  JSON_REJECT_DUPLICATES, NULL);

	if (json != NULL)
		arena_json(arena, json);
	*answer = (struct service_reply){ .status = raw->status, .body = raw->body };
	if (raw->status < 200 || raw->status > 299)
		return refuse_answer(arena, raw, json, fault);
	if (json_is_object(json))
		answer->json = json;
	return answer->json != NULL || raw->status == 204 || client->takes_text ||
	       fault_set(fault, FAULT_INTERNAL,
			 "%d, but the response is not a JSON object; check the URL", raw->status);
}

/* ---- calls ---- */

const char *service_client_query(const struct service_client *client, const char *path,
				 const struct service_member *members, size_t n)
{
	struct buffer query = BUFFER_INITIAL(client->arena);

	buffer_append_text(&query, path);
	for (size_t i = 0; i < n; i++) {
		const long long number = members[i].number;

		text_append_parameter(&query, members[i].name,
				      number == 0 ? members[i].text
						  : arena_text(client->arena, "%lld", number));
	}
	buffer_append_byte(&query, '\0');
	return query.data;
}

bool service_client_call(struct service_client *client, enum method method, const char *path,
			 const json_t *body, struct service_reply *answer, struct fault *fault)
{
	struct arena *arena = client->arena;
	struct buffer text = BUFFER_INITIAL(arena);
	struct http_request request = {
		.method = method_name(method),
		.url = arena_text(arena, "%s%s", client->settings.url, path),
	};
	const char **header = request.headers;
	char key[UUID_TEXT_SIZE];
	struct http_answer raw;

	*header++ = arena_text(arena, "Authorization: Bearer %s", client->settings.token);
	if (body != NULL) {
		buffer_append_json(&text, body);
		request.body = buffer_slice(&text);
		*header++ = "Content-Type: application/json";
		/* An older service would create a code without the limits that it does not know. */
		*header++ = "Prefer: handling=strict";
	}
	if (method != METHOD_GET) {
		uuid_make(&clock_system, key);
		*header++ = arena_text(arena, "Idempotency-Key: %s", key);
	}
	if (method == METHOD_POST && client->creates)
		*header = "If-None-Match: *";
	*answer = (struct service_reply){ .status = 0 };
	return send_until_answered(client, &request, &raw, fault) &&
	       read_answer(client, &raw, answer, fault);
}

const char *service_client_id(struct service_client *client, enum client_noun noun,
			      const char *name, struct fault *fault)
{
	static const struct {
		const char *noun, *path;
	} lists[] = {
		[CLIENT_ROOM] = { "room", "/v2/rooms" },
		[CLIENT_BACKEND] = { "backend", "/v2/backends" },
	};
	/* The smallest limit that the API accepts. */
	const struct service_member query[] = { { "name", .text = name },
						{ "limit", .number = PAGE_LEAST } };
	struct service_reply answer;
	struct id ignored;
	const char *id;

	if (id_parse(slice_of(name), &ignored))
		return name;
	if (!service_client_call(client, METHOD_GET,
				 service_client_query(client, lists[noun].path, query, 2), NULL,
				 &answer, fault))
		return NULL;
	id = json_string_value(
		json_object_get(json_array_get(json_object_get(answer.json, "data"), 0), "id"));
	if (id == NULL)
		fault_set(fault, FAULT_NOT_FOUND, "no %s is named \"%s\"", lists[noun].noun, name);
	return id;
}

/* ---- lists ---- */

struct service_list service_client_list(struct service_client *client, const char *path,
					unsigned most, struct fault *fault)
{
	return (struct service_list){
		.client = client,
		.path = path,
		.fault = fault,
		.most = most,
		.page = most == 0 || most > PAGE_MOST ? PAGE_MOST
			: most < PAGE_LEAST	      ? PAGE_LEAST
						      : most,
	};
}

static bool get_page(struct service_list *list, struct service_reply *answer, struct fault *fault)
{
	const struct service_member query[] = {
		{ "limit", .number = list->page },
		{ "start", .text = list->last[0] == '\0' ? NULL : list->last },
	};

	return service_client_call(list->client, METHOD_GET,
				   service_client_query(list->client, list->path, query, 2), NULL,
				   answer, fault);
}

static bool read_next_page(struct service_list *list)
{
	struct service_reply answer;
	struct fault each = FAULT_INITIAL;
	struct slice last;
	bool is_read;
	size_t n;

	if (list->items != NULL)
		arena_release(list->client->arena, &list->mark);
	list->mark = arena_mark(list->client->arena);
	/* The details of a fault are in the arena. */
	is_read = get_page(list, &answer, &each);
	if (!is_read && (answer.status != 413 || list->page <= PAGE_LEAST)) {
		*list->fault = each;
		return false;
	}
	/* A page of the usual length is too long for a response. */
	if (!is_read) {
		list->page = PAGE_LEAST;
		if (!get_page(list, &answer, list->fault))
			return false;
	}
	list->items = json_object_get(answer.json, "data");
	list->at = 0;
	n = json_array_size(list->items);
	list->is_last = n < list->page || (list->most > 0 && list->seen + n >= list->most);
	last = text_of_json(json_object_get(answer.json, "last"));
	if (!list->is_last && (last.size == 0 || last.size >= sizeof list->last))
		return fault_set(list->fault, FAULT_INTERNAL,
				 "%d, but the response is not a list; check the URL",
				 answer.status);
	(void)snprintf(list->last, sizeof list->last, "%.*s", (int)last.size,
		       last.data == NULL ? "" : last.data);
	return true;
}

const json_t *service_client_next(struct service_list *list)
{
	while (list->at == json_array_size(list->items))
		if (list->is_last || !read_next_page(list))
			return NULL;
	if (list->most > 0 && list->seen == list->most)
		return NULL;
	list->seen++;
	return json_array_get(list->items, list->at++);
}
