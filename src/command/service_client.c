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

bool service_client_call(struct service_client *client, enum service_method method,
			 const char *path, const json_t *body, struct service_reply *answer,
			 struct fault *fault)
{
	static const char *const methods[] = {
		[SERVICE_GET] = "GET",
		[SERVICE_POST] = "POST",
		[SERVICE_CREATE] = "POST",
		[SERVICE_DELETE] = "DELETE",
	};
	struct arena *arena = client->arena;
	struct buffer text = BUFFER_INITIAL(arena);
	struct http_request request = {
		.method = methods[method],
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
	if (method != SERVICE_GET) {
		uuid_make(&clock_system, key);
		*header++ = arena_text(arena, "Idempotency-Key: %s", key);
	}
	if (method == SERVICE_CREATE)
		*header = "If-None-Match: *";
	*answer = (struct service_reply){ .status = 0 };
	return send_until_answered(client, &request, &raw, fault) &&
	       read_answer(client, &raw, answer, fault);
}

/* ---- lists ---- */

struct list_walk {
	struct service_client *client;
	const char *path;
	unsigned page; /* items per page */
	char last[64]; /* empty before the first page */
};

static bool get_page(struct list_walk *walk, struct service_reply *answer, struct fault *fault)
{
	const struct service_member query[] = {
		{ "limit", .number = walk->page },
		{ "start", .text = walk->last[0] == '\0' ? NULL : walk->last },
	};

	return service_client_call(walk->client, SERVICE_GET,
				   service_client_query(walk->client, walk->path, query, 2), NULL,
				   answer, fault);
}

/* Asks again for a shorter page if a page of the usual length is too long for a response. */
static bool get_page_that_fits(struct list_walk *walk, struct service_reply *answer,
			       struct fault *fault)
{
	struct fault each = FAULT_INITIAL;

	if (get_page(walk, answer, &each))
		return true;
	if (answer->status == 413 && walk->page > PAGE_LEAST) {
		walk->page = PAGE_LEAST;
		return get_page(walk, answer, fault);
	}
	*fault = each;
	return false;
}

bool service_client_walk(struct service_client *client, const char *path, unsigned most,
			 service_client_visit *visit, void *context, struct fault *fault)
{
	struct list_walk walk = { .client = client, .path = path, .page = PAGE_MOST };
	bool is_last = false;
	unsigned seen = 0;

	if (most > 0 && most < PAGE_MOST)
		walk.page = most < PAGE_LEAST ? PAGE_LEAST : most;
	while (!is_last) {
		struct arena_mark mark = arena_mark(client->arena);
		struct service_reply answer;
		const json_t *items;
		struct slice last;
		size_t n;

		/* The details of a fault are in the arena. */
		if (!get_page_that_fits(&walk, &answer, fault))
			return false;
		items = json_object_get(answer.json, "data");
		n = json_array_size(items);
		for (size_t i = 0; i < n && (most == 0 || seen < most); i++, seen++)
			visit(context, json_array_get(items, i));
		is_last = n < walk.page || seen == most;
		last = text_of_json(json_object_get(answer.json, "last"));
		if (!is_last && (last.size == 0 || last.size >= sizeof walk.last))
			return fault_set(fault, FAULT_INTERNAL,
					 "%d, but the response is not a list; check the URL",
					 answer.status);
		(void)snprintf(walk.last, sizeof walk.last, "%.*s", (int)last.size,
			       last.data == NULL ? "" : last.data);
		arena_release(client->arena, &mark);
	}
	return true;
}
