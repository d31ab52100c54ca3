/* The requests of a background thread to media servers or object storage, one at a time each, from
 * when they are made until their answers have been used. One thread calls these functions; the
 * media client ends the requests in its own.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BACKGROUND_REQUEST_LIST_H
#define BACKGROUND_REQUEST_LIST_H

#include <pthread.h>

#include "resources/asking.h"

/* The first member of what its owner keeps with a request. */
struct listed_request {
	struct listed_request *next;
	struct request_list *list;
	struct arena *arena; /* it holds this object, and what lives as long */
	struct asking asking; /* of one request, `asked`; its account is set */
	struct asked asked;
	bool has_ended; /* protected by the lock of the list */
};

struct request_list {
	struct listed_request *first; /* those under way, the newest first */
	pthread_mutex_t lock;
};

void request_list_open(struct request_list *list);
/* Frees what is left. The client has ended all requests. */
void request_list_close(struct request_list *list);

/* Returns a request of this size, zeros but for the members above. */
struct listed_request *listed_request_open(const struct id *account, size_t size);
void listed_request_close(struct listed_request *request);
/* Has the client make the request, which belongs to the list until it is taken. */
void request_list_ask(struct request_list *list, struct media_client *client,
		      struct listed_request *request);
/* Takes one that has ended out of the list, for the caller to close; NULL if there is none. */
struct listed_request *request_list_take(struct request_list *list);
/* Returns how many are under way; *own: how many of them of this account. */
size_t request_list_count(const struct request_list *list, const struct id *account, size_t *own);

#endif
