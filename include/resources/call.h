/* One request: the input, the state of its handling, and the answer. A call belongs to one thread
 * at a time. The edge (or a test) makes it, service_answer (service/service.h) handles it, it may
 * be parked until its transaction is durable, and is then sent. All memory that it refers to lasts
 * as long as its arena's content.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_CALL_H
#define RESOURCES_CALL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"
#include "base/id.h"
#include "base/slice.h"
#include "resources/actor.h"
#include "resources/environment.h"
#include "schema/schema.h"
#include "store/store.h"

/* The largest body, in bytes: of most routes, of those that anyone may call, and of any. */
#define CALL_BODY_MOST ((size_t)256 << 10)
#define CALL_OPEN_BODY_MOST ((size_t)8 << 10)
#define CALL_LARGE_BODY_MOST ((size_t)1 << 20)
/* The memory of a call of a route that is_alone, in place of ARENA_LIMIT. */
#define CALL_ALONE_MEMORY_MOST (8 * ARENA_LIMIT)
/* The largest answer of a list, a bulk or an import, in bytes. Ten templates fit, as large as they
 * may be (TEMPLATE_TEXT_MOST). */
#define CALL_ANSWER_MOST ((size_t)8 << 20)

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

/* Why a code that is there is not exchanged. */
enum join_refusal {
	JOIN_NOT_REFUSED,
	JOIN_DISABLED,
	JOIN_ROOM_DISABLED,
	JOIN_ACCOUNT_DISABLED,
	JOIN_ROLE_DELETED,
	JOIN_EXPIRED,
	JOIN_USED_UP,
	JOIN_NOT_YET_VALID,
	JOIN_NOT_OPEN,
	JOIN_CLOSED,
	JOIN_OTHER_USER,
	JOIN_REFUSALS
};

/* As received. A header that was not sent has data NULL. */
struct request {
	enum method method;
	struct slice uri; /* path and query, never decoded */
	struct slice body;
	bool body_is_too_large; /* above CALL_LARGE_BODY_MOST; then body is incomplete */
	struct slice authorization;
	struct slice if_match;
	struct slice if_none_match;
	struct slice prefer;
	struct slice idempotency_key;
	struct slice request_id;
	struct slice cookie;
	struct slice host; /* of the address that the client called */
	struct slice https; /* "on" when the client came by https */
	struct slice console; /* Anteroom-Console */
	struct slice asked_headers; /* Access-Control-Request-Headers */
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
	size_t standing_count; /* the first ones, which stay whatever becomes of the call */
	struct slice *parts;
	size_t part_count;
	size_t part_capacity;
	size_t size; /* of all parts */
	bool is_head; /* send the headers alone */
	struct slice kept; /* see call_keep_instead; data NULL: the body */
	uint64_t awaited; /* the transaction that must be durable before it is sent; 0: none */
};

struct call;
struct route; /* resources/route.h */
typedef bool handler(struct call *call, struct fault *fault);
/* The check of a body for which its table is not enough; it begins with schema_check. */
typedef bool body_check(struct call *call, json_t *body, bool is_strict, struct fault *fault);

/* Of a path. */
#define CALL_PARAMETERS 2

/* What a run noted for the log (resources/audit.h). */
struct notes {
	struct noted *first, *last;
	size_t count;
};

/* What one run of the handler leaves for the steps after it. service/run.c zeroes all of it when a
 * run begins, so that an earlier run leaves nothing, and a new member needs no line there. */
struct run {
	bool wants_write; /* see call_write_instead */
	size_t codes_made;
	/* Codes of other accounts, which it refused (resources/codes/code_words.h). */
	unsigned words_asked;
	size_t operations; /* of a bulk that was carried out */
	enum join_refusal refusal;
	struct code_link *link; /* private to resources/codes/room_codes.c */
	struct notes noted;
	const struct joining *joining; /* to be logged after the answer; NULL: nothing is */
	/* To be sent once the transaction is committed (resources/events/webhooks.h); NULL:
	 * nothing. */
	const struct webhook_test *test;
	const struct fault *damage; /* of what was read (resources/stored.h); NULL: none */
};

struct call {
	const struct environment *environment;
	struct arena *arena;
	struct request request;
	const struct route *route;
	struct slice parameters[CALL_PARAMETERS]; /* of the path, decoded */
	const json_t *body; /* checked and cleaned; NULL where the route has none */
	json_t *query; /* typed; NULL where the route has no parameters */
	struct findings findings;
	struct id account;
	char account_text[ID_TEXT_SIZE + 1];
	struct actor actor; /* of a route that is not open */
	uint64_t roster_generation; /* the generation of the accounts that admitted the call */
	struct transaction *transaction;
	int64_t now; /* the one time of this request, in milliseconds */
	uint64_t etag; /* of the parts that this run writes; see call_draw_etag */
	bool validates_only; /* what the call would do is abandoned (validate_only) */
	bool is_part; /* an operation of a bulk, or an object of an import */
	/* Of a part (resources/templates/template_record.h); NULL: none. */
	struct template_memo *memo;
	int64_t least_now; /* `now` of the next run is not below this */
	bool forgets_codes; /* those that it removes were never seen: they are not kept */
	struct run run;
	struct bulk *bulk; /* private to service/bulk.c */
	const struct import *import; /* private to resources/import/import.c */
	struct slice idempotency_key; /* data NULL: none */
	struct counting *counting; /* private to resources/retries/kept_usage.c */
	struct slice made_key; /* private to resources/media/signing_keys.c */
	struct app_token *app_token; /* of a route that takes one (accounts/token.h) */
	struct answer answer;
	char id[129]; /* X-Request-Id */
	int64_t started; /* clock_microseconds, for the log and the metrics */
	bool may_be_deferred; /* see service_answer */
	bool is_deferred; /* it was */
	bool is_counted; /* against a limit of its route (misses_tests_count) */
};

/* ---- answers; all functions return true ---- */

/* Status 200 and these bytes, which live in the arena or are constant. */
bool call_answer(struct call *call, struct slice body);
/* Status 204. */
bool call_answer_nothing(struct call *call);
/* Appends a part to the body. */
void call_part(struct call *call, struct slice bytes);
/* Adds a header; value is copied, name is a literal. At most ANSWER_HEADERS in all. */
void call_header(struct call *call, const char *name, struct slice value);

/* The value of a header that was added; empty: there is none. */
struct slice call_find_header(const struct call *call, const char *name);
/* An answer that shows a secret only once: this body is kept with an Idempotency-Key in its
 * place. */
bool call_keep_instead(struct call *call, struct slice body);

/* For a ROUTE_READ_FIRST handler that has to write: it ends its run (`return
 * call_write_instead(call);`), and the service runs it again in a WRITE transaction. Not to be
 * called in a WRITE transaction. */
bool call_write_instead(struct call *call);
/* Whether it is in a WRITE transaction. */
bool call_is_writing(const struct call *call);
/* The reading of records that the call changes if it is a write. */
enum store_reading call_reading(const struct call *call);
/* The answer is empty again, but for its standing headers. */
void call_forget_answer(struct call *call);
/* Sets account_text, and the account of the transaction, from call->account. */
void call_set_account(struct call *call);
/* Raises the time of a writing call above `time` (milliseconds), the time of an earlier write,
 * which may be of the same millisecond, or later when the clock stepped back. The operations of a
 * bulk have one time, which may be that of an earlier one of them. */
void call_raise_time(struct call *call, int64_t time);

/* An id of the time of the call, or of that of `newest` when it is later: so ids of a list in one
 * record rise. number: the one of `newest`, and one more. */
struct id call_new_id(const struct call *call, const struct id *newest, uint64_t number);

/* ---- conditional requests ---- */

/* Draws call->etag, 63 random bits, never 0, before each run that may write. A counter would show
 * each account how much the others write, and would repeat numbers after a backup was restored. */
void call_draw_etag(struct call *call);
/* The rule of If-Match and If-None-Match, as a sentence: other values can never match. */
#define CALL_CONDITION_SENTENCE \
	"must be * or a list of ETags in double quotes, as responses have them, such as \"5f2a\""
/* Reads such a header: false if it breaks the rule. An empty one becomes absent. */
bool call_condition_read(struct slice *header);
/* The same for both headers of a write whose route has an ETag: FAULT_BAD_REQUEST. */
bool call_read_conditions(struct call *call, struct fault *fault);
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

/* The same value without const, for documents that get a reference to it. It must not be changed.
 * NULL stays NULL. */
json_t *call_share(const json_t *value);
/* An object of the arena with the same members, which are shared. */
json_t *call_copy(struct call *call, const json_t *object);
/* Replaces a member of such a copy by a copy, or by an empty object if it is missing, and returns
 * it: only the objects on the way to a change are copied. */
json_t *call_copy_member(json_t *copy, const char *name);

#endif
