/* See responder.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "responder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accounts/token.h"
#include "resources/door/door_polls.h"
#include "resources/joining/misses.h"
#include "store/postgres/store_postgres.h"

void responder_open(struct responder *responder, const char *url, const struct clock *clock)
{
	const struct store_postgres_options options = { .url = url,
							.connections = RESPONDER_CONNECTIONS };
	struct environment *environment = &responder->environment;
	struct fault fault = FAULT_INITIAL;

	*environment = (struct environment){
		.clock = clock,
		.misses = misses_open(clock),
		.door_polls = door_polls_open(DOOR_ADDRESS_MOST),
		.tokens = token_memory_open(),
		.join_seconds = 3600,
		.live = LIVE_ON,
	};
	if (!store_postgres_open(&options, &environment->store, &fault) ||
	    !accounts_open_stored(environment->store, &environment->accounts, &fault)) {
		(void)fprintf(stderr, "%s\n", fault.cause);
		abort();
	}
	responder->service = service_open(environment);
}

void responder_close(struct responder *responder)
{
	service_close(responder->service);
	accounts_close(responder->environment.accounts);
	store_close(responder->environment.store);
	token_memory_close(responder->environment.tokens);
	door_polls_close(responder->environment.door_polls);
	misses_close(responder->environment.misses);
}

struct reply responder_send(const struct responder *responder, struct arena *arena,
			    const struct request *request)
{
	struct arena *own = arena_open();
	struct call call = { .arena = own, .request = *request };
	struct buffer text = BUFFER_INITIAL(arena);
	struct reply reply = { .has_retry_after = false };

	service_answer(responder->service, &call);
	for (size_t i = 0; i < call.answer.part_count; i++)
		buffer_append(&text, call.answer.parts[i]);
	buffer_append_byte(&text, '\0');
	for (size_t i = 0; i < call.answer.header_count; i++)
		reply.has_retry_after = reply.has_retry_after ||
					strcmp(call.answer.headers[i].name, "Retry-After") == 0;
	reply.status = call.answer.status;
	reply.text = text.data;
	arena_close(own);
	return reply;
}

struct reply responder_ask(const struct responder *responder, const struct account *account,
			   struct arena *arena, enum method method, const char *path,
			   const char *body, const char *key)
{
	struct arena *own = arena_open();
	struct buffer header = BUFFER_INITIAL(own);
	struct reply reply;
	struct request request = {
		.method = method,
		.uri = slice_of(path),
		.body = slice_of(body == NULL ? "" : body),
		.address = SLICE("192.0.2.1"),
	};

	buffer_append_text(&header, "Bearer ");
	buffer_append(&header,
		      token_sign_management(own, &clock_system, account,
					    clock_now(responder->environment.clock), 3600));
	request.authorization = buffer_slice(&header);
	if (key != NULL)
		request.idempotency_key = slice_of(key);
	reply = responder_send(responder, arena, &request);
	arena_close(own);
	return reply;
}
