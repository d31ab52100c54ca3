/* One request on its way: what came, what is known about it, what goes back; and the row of the
 * route table that says how it is treated. A call belongs to one thread at a time; it is made by the
 * edge (or a test), carried through service_answer (service/service.h), may be parked until its
 * transaction is durable, and is then sent. All memory it refers to is its arena's.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_CALL_H
#define RESOURCES_CALL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/id.h"
#include "base/slice.h"
#include "schema/schema.h"
#include "store/store.h"

struct accounts;
struct token_memory;
struct misses;
struct metrics;

/* What all calls share; const after the start, but for what the named modules guard themselves. */
struct environment {
	const struct clock *clock;
	struct store *store;
	struct accounts *accounts;
	struct token_memory *tokens; /* verified ones (accounts/token.h), or NULL */
	struct misses *misses; /* the budget of unknown codes (resources/misses.h) */
	struct metrics *metrics; /* of requests (service/metrics.h), or NULL */
	int64_t join_seconds; /* how long a token for joining is valid */
	struct slice document; /* the OpenAPI document; made by service_open */
};

/* The largest body, in bytes (decisions.md section 2, 413). */
#define CALL_BODY_MOST ((size_t)256 << 10)

enum method {
	METHOD_GET,
	METHOD_HEAD,
	METHOD_POST,
	METHOD_PATCH,
	METHOD_DELETE,
	METHOD_OPTIONS,
	METHOD_OTHER
};

/* "GET" and so on; "other" for METHOD_OTHER. */
const char *method_name(enum method method);
enum method method_named(struct slice name);

/* As it came. A header that was not sent has data NULL. */
struct request {
	enum method method;
	struct slice uri; /* path and query, never decoded */
	struct slice body;
	bool body_is_too_large; /* then body is not all of it */
	struct slice authorization;
	struct slice if_match;
	struct slice if_none_match;
	struct slice prefer;
	struct slice request_id;
	struct slice address; /* of the client, as text */
};

#define ANSWER_HEADERS 12

struct header {
	const char *name;
	struct slice value;
};

/* The body is a list of parts in the arena, sent one after the other, so that a list of templates
 * is never copied together. */
struct answer {
	int status;
	struct header headers[ANSWER_HEADERS]; /* Content-Length is the edge's */
	size_t header_count;
	struct slice *parts;
	size_t part_count;
	size_t part_capacity;
	size_t size; /* of all parts */
	bool is_head; /* send the headers alone */
	uint64_t number; /* to be sent when the store says this number is durable; 0: at once */
};

struct call;
typedef bool handler(struct call *call, struct fault *fault);

enum route_access {
	ROUTE_STATELESS, /* needs no store */
	ROUTE_READ,
	ROUTE_WRITE,
	ROUTE_READ_FIRST /* begins reading; call_write_instead starts it again as a WRITE */
};

enum route_body {
	BODY_IGNORED, /* GET, DELETE */
	BODY_NONE, /* "Request body: none": any JSON object is accepted and ignored */
	BODY_WHOLE,
	BODY_PARTIAL,
	BODY_PATCH
};

#define ROUTE_PARAMETERS 2

/* What a handler refuses with 400 because of what is stored; the last has no name. */
struct route_rule {
	const char *name;
	const char *doc; /* the rule as a sentence */
};

/* A row of the route table (service/routes.h). */
struct route {
	enum method method; /* GET serves HEAD too */
	const char *path; /* "/v2/templates/{template_id}" */
	enum route_access access;
	handler *run;
	const char *name; /* operationId of the OpenAPI document */
	enum route_body body_kind;
	const struct shape *body;
	const struct shape *query; /* NULL: no parameters */
	const struct shape *answer; /* NULL: no body (204) */
	handler *prepare; /* what of a write needs nothing that is stored: runs before the
				   * transaction, while others write; NULL: nothing */
	bool is_list; /* the answer is {"data":[...]} of that shape; with limit and last when
				 * the route has a query */
	bool is_open; /* no Authorization */
	bool is_shared; /* for browsers of any origin (CORS) */
	bool has_etag; /* conditional requests */
	bool is_internal; /* for those who run the service: no part of the interface */
	/* For the OpenAPI document: a sentence each; NULL: this refusal does not happen here. */
	const char *forbidden; /* 403 */
	const char *conflict; /* 409 */
	const struct route_rule *rules; /* 400; NULL: none but those of the tables */
	const char *doc;
};

struct call {
	const struct environment *environment;
	struct arena *arena;
	struct request request;
	const struct route *route;
	struct slice parameters[ROUTE_PARAMETERS]; /* of the path, decoded */
	const json_t *body; /* checked and cleaned; NULL where the route has none */
	json_t *query; /* typed; NULL where the route has no parameters */
	struct findings findings;
	struct id account;
	char account_text[ID_TEXT_SIZE + 1];
	void *prepared; /* what prepare made, for run; in the arena */
	struct transaction *transaction;
	int64_t now; /* the one time of this request, in milliseconds */
	uint64_t
		etag; /* of whatever this run writes: 63 random bits, never 0; see call_draw_etag */
	bool wants_write; /* see call_write_instead */
	struct answer answer;
	char id[129]; /* X-Request-Id */
	int64_t started; /* clock_microseconds, for the log and the metrics */
};

/* ---- what handlers answer with; all return true ---- */

/* 200 and these bytes, which live in the arena or in a table. */
bool call_answer(struct call *call, struct slice body);
/* 204. */
bool call_answer_nothing(struct call *call);
/* One more part of the body of a 200. */
void call_part(struct call *call, struct slice bytes);
/* value is copied; name is a literal. At most ANSWER_HEADERS in all. */
void call_header(struct call *call, const char *name, struct slice value);

/* For a ROUTE_READ_FIRST handler that finds it has to write: ends this run (`return
 * call_write_instead(call);`), the service runs the handler again inside a WRITE transaction. Never
 * called when the transaction is one already. */
bool call_write_instead(struct call *call);
bool call_is_writing(const struct call *call);
/* How a call that may run again as a write reads what it then changes. */
enum store_reading call_reading(const struct call *call);
/* Prepares text and transaction for call->account, when it becomes known. */
void call_of_account(struct call *call);
/* A write comes after what was written before: the time of the call is later than this one (in
 * milliseconds), also when both fall into one millisecond or the clock stepped back. */
void call_after(struct call *call, int64_t time);

/* ---- conditional requests ---- */

/* Draws call->etag. The service calls it before each run that may write. It is random rather than
 * counted: a counter would tell each account how much the others write, and would give a number a
 * second time after a backup was restored. */
void call_draw_etag(struct call *call);
/* Sets the ETag of the answer: `etag` as text in quotes. */
void call_etag(struct call *call, uint64_t etag);
/* Reads: true when If-None-Match names this ETag; the answer is then 304, complete. */
bool call_not_modified(struct call *call, uint64_t etag);
/* Writes: FAULT_PRECONDITION when If-Match or If-None-Match does not allow it. exists false: the
 * thing would be made. */
bool call_precondition(const struct call *call, bool exists, uint64_t etag, struct fault *fault);

/* Members of body or query by name; NULL when not supplied. */
const json_t *call_member(const struct call *call, const char *name);
struct slice call_query_text(const struct call *call, const char *name);

/* ---- documents made of the body, which no handler changes ---- */

/* The same value, as jansson wants it for a document that gets a reference to it. It is shared with
 * the body and never edited. NULL stays NULL. */
json_t *call_share(const json_t *value);
/* An object of the arena with the same members, which are shared. */
json_t *call_copy(struct call *call, const json_t *object);
/* Replaces a member of such a copy by a copy of itself, an empty object where there is none, and gives
 * it: what is on the way to a change is copied, the rest shared. */
json_t *call_copy_member(json_t *copy, const char *name);

#endif
