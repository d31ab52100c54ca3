/* See request_list.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "background/request_list.h"

#include "background/media_client.h"
#include "base/log.h"

void request_list_open(struct request_list *list)
{
	list->first = NULL;
	if (pthread_mutex_init(&list->lock, NULL) != 0)
		ABORT("cannot create a lock or thread");
}

void request_list_close(struct request_list *list)
{
	while (list->first != NULL) {
		struct listed_request *next = list->first->next;

		listed_request_close(list->first);
		list->first = next;
	}
	pthread_mutex_destroy(&list->lock);
}

struct listed_request *listed_request_open(const struct id *account, size_t size)
{
	struct arena *arena = arena_open();
	struct listed_request *request = arena_zero(arena, size);

	request->arena = arena;
	request->asking.account = *account;
	request->asking.asked = &request->asked;
	request->asking.count = 1;
	return request;
}

void listed_request_close(struct listed_request *request)
{
	media_client_release(&request->asking);
	arena_close(request->arena);
}

/* Called by the thread of the media client. */
static void request_done(void *context, struct asking *asking)
{
	struct listed_request *request = context;

	(void)asking;
	pthread_mutex_lock(&request->list->lock);
	request->has_ended = true;
	pthread_mutex_unlock(&request->list->lock);
}

void request_list_ask(struct request_list *list, struct media_client *client,
		      struct listed_request *request)
{
	request->list = list;
	request->next = list->first;
	list->first = request;
	media_client_ask(client, &request->asking, request_done, request);
}

struct listed_request *request_list_take(struct request_list *list)
{
	struct listed_request **place = &list->first, *request;

	pthread_mutex_lock(&list->lock);
	while (*place != NULL && !(*place)->has_ended)
		place = &(*place)->next;
	request = *place;
	if (request != NULL)
		*place = request->next;
	pthread_mutex_unlock(&list->lock);
	return request;
}

size_t request_list_count(const struct request_list *list, const struct id *account, size_t *own)
{
	size_t all = 0;

	*own = 0;
	for (const struct listed_request *other = list->first; other != NULL; other = other->next) {
		all++;
		*own += id_compare(&other->asking.account, account) == 0;
	}
	return all;
}
