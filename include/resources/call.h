/* A call: one request, the state of its handling, and the response. A call belongs to one thread at
 * a time. The edge (or a test) creates it and service_answer (service/service.h) handles it; it may
 * then be parked until its transaction is durable, before its response is sent. All memory that it
 * refers to lives as long as the content of its arena.
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

/* The largest body in bytes: of most routes, of routes open to anyone, of LiveKit's token endpoint,
 * and of any route. */
#define CALL_BODY_MOST ((size_t)256 << 10)
#define CALL_OPEN_BODY_MOST ((size_t)8 << 10)
#define CALL_LIVEKIT_BODY_MOST ((size_t)16 << 10)
#define CALL_LARGE_BODY_MOST ((size_t)1 << 20)
/* The memory limit of a call whose route is_alone, instead of ARENA_LIMIT. */
#define CALL_ALONE_MEMORY_MOST (8 * ARENA_LIMIT)
/* The largest response of a list, a bulk request or an import, in bytes. It has room for ten
 * templates of the largest size (TEMPLATE_TEXT_MOST). */
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

/* Returns "GET" and so on; "other" for METHOD_OTHER. */
const char *method_name(enum method method);
enum method method_named(struct slice name);

/* Why an existing code cannot be exchanged, and the label of each reason in events and metrics. */
#define EACH_JOIN_REFUSAL(X) \
	X(DISABLED, "disabled") \
	X(ROOM_DISABLED, "room_disabled") \
	X(ACCOUNT_DISABLED, "account_disabled") \
	X(ROLE_DELETED, "role_deleted") \
	X(EXPIRED, "expired") \
	X(USED_UP, "used_up") \
	X(NOT_YET_VALID, "not_yet_valid") \
	X(NOT_OPEN, "not_open") \
	X(CLOSED, "closed") \
	X(OTHER_USER, "other_user") \
	X(OTHER_ROOM, "other_room") \
	X(NO_SUCH_AGENT, "no_such_agent") \
	X(BANNED, "banned") \
	X(ROLE_FULL, "role_full") \
	X(ROOM_FULL, "room_full") \
	X(NEEDS_ADMISSION, "needs_admission") \
	X(NOT_ADMITTED, "not_admitted") \
	X(ROOM_LOCKED, "room_locked") \
	X(CONSENT, "consent")

enum join_refusal {
	JOIN_NOT_REFUSED,
#define JOIN_REFUSAL(name, label) JOIN_##name,
	EACH_JOIN_REFUSAL(JOIN_REFUSAL)
#undef JOIN_REFUSAL
		JOIN_REFUSALS
};
extern const char *const join_refusal_names[JOIN_REFUSALS];

/* A request as received. A header that was not sent has data NULL. */
struct request {
	enum method method;
	struct slice uri; /* path and query, never decoded */
	struct slice body;
	bool body_is_too_large; /* above CALL_LARGE_BODY_MOST; the body is then incomplete */
	struct slice authorization;
	struct slice if_match;
	struct slice if_none_match;
	struct slice prefer;
	struct slice idempotency_key;
	struct slice request_id;
	struct slice cookie;
	struct slice host; /* host that the client addressed */
	struct slice https; /* "on" if the client used https */
	struct slice software; /* name of the web server, if it says so */
	struct slice console; /* Anteroom-Console */
	struct slice asked_headers; /* Access-Control-Request-Headers */
	struct slice address; /* of the client, as text */
};

#define ANSWER_HEADERS 12

struct header {
	const char *name;
	struct slice value;
};

/* A response. Its body is a list of parts in the arena, sent one after the other, so that the items
 * of a list are never copied into one text. */
struct answer {
	int status;
	struct header headers[ANSWER_HEADERS]; /* without Content-Length, which the edge adds */
	size_t header_count;
	size_t lasting_count; /* leading headers that stay even if the response is replaced */
	struct slice *parts;
	size_t part_count;
	size_t part_capacity;
	size_t size; /* of all parts */
	bool is_head; /* only the headers are sent */
	struct slice kept; /* body to store instead (call_keep_instead); data may be NULL */
	uint64_t awaited; /* transaction that must be durable before sending; 0 for none */
};

struct call;
struct route; /* resources/route.h */
typedef bool handler(struct call *call, struct fault *fault);
/* Checks a body whose rules go beyond its table; calls schema_check. */
typedef bool body_check(struct call *call, json_t *body, bool is_strict, struct fault *fault);

/* The random bytes of the ticket of somebody who waits at a door. */
#define CALL_TICKET_SIZE 32

/* Most parameters of a path. */
#define CALL_PARAMETERS 2

/* The events that a run has noted (resources/audit.h). */
struct notes {
	struct noted *first, *last;
	size_t count;
};

/* Why a room was moved to another media server (resources/media/placing.h). */
enum move_reason { MOVE_NONE, MOVE_DOWN, MOVE_DRAINED };
#define MOVE_REASONS (MOVE_DRAINED + 1)

/* How far a call has come that takes several transactions, each durable and safe to repeat. */
struct call_step {
	bool is_next; /* false in the first one */
	struct id after; /* the last record that was dealt with */
	unsigned notes; /* private to the handler */
};

/* What one run of the handler leaves for later steps. service/run.c zeroes it before each run, so
 * an earlier run leaves nothing, and a new member needs no code there. */
struct run {
	bool wants_write; /* see call_write_instead */
	size_t codes_made;
	/* Rejected codes that belong to other accounts (resources/stored/code_words.h). */
	unsigned words_asked;
	size_t operations; /* operations of a bulk request that was carried out */
	enum join_refusal refusal;
	struct code_link *link; /* private to resources/codes/room_codes.c */
	struct notes noted;
	const struct joining *joining; /* to log after the response, or NULL */
	struct door_change *door; /* private to resources/door/ (door_change.h) */
	/* For /metrics, once the transaction is committed (resources/media/failures.h): rooms that
	 * were moved to another media server; the name of one that the person cannot reach. */
	size_t moved[MOVE_REASONS];
	struct slice failed;
	/* To send once the transaction is committed (resources/events/webhooks.h), or NULL. */
	const struct webhook_test *test;
	const struct id *old_answers; /* private to resources/retries/kept_answer.c */
	const struct fault *damage; /* of what was read (resources/stored.h), or NULL */
	/* What is wanted of a room once the transaction is committed (live_want in
	 * resources/live/live_merge.h); zero: of several. */
	unsigned wants;
	struct id wanted;
	/* Whose people are to be notified (resources/templates/template_audit.h), or NULL. */
	const struct changed_role *changed_roles;
	/* What the call does is more than one transaction takes: once this one is committed, the
	 * handler is run again, with `step` in the place of call->step. */
	bool goes_on;
	struct call_step step;
};

struct call {
	const struct environment *environment;
	struct arena *arena;
	struct request request;
	const struct route *route;
	struct slice parameters[CALL_PARAMETERS]; /* of the path, decoded */
	/* What the service has loaded (LOADS of the route; resources/reads.h), which lives as long
	 * as the run. Unset without such a load. */
	struct template_record *template;
	struct room_record *room; /* with its template */
	struct room_subject *subject; /* a room with its codes, and its template */
	struct media *media;
	struct backend *backend; /* of `media`, as is the signing key */
	struct signing_key *signing_key;
	struct webhooks *webhooks;
	struct webhook *webhook; /* of `webhooks` */
	struct api_key *key;
	struct ban *ban;
	struct session *session;
	struct job *recording;
	struct asset *recording_asset;
	struct live_view *view; /* who calls about a room in session */
	struct door *door;
	struct door_ticket *door_ticket;
	struct list *list; /* whose pages the handler reads */
	const json_t *body; /* checked and cleaned; NULL if the route has none */
	json_t *query; /* typed; NULL if the route has no parameters */
	struct findings findings;
	struct id account;
	char account_text[ID_TEXT_SIZE + 1];
	struct actor actor; /* unset if the route is open */
	uint64_t roster_generation; /* generation of the accounts when the call was admitted */
	struct transaction *transaction;
	int64_t now; /* the one time of this request, in milliseconds */
	uint64_t etag; /* for everything this run writes; see call_draw_etag */
	bool validates_only; /* the changes are abandoned (validate_only) */
	bool is_part; /* an operation of a bulk request, or an object of an import */
	/* The templates of a part (resources/stored/template_record.h); else NULL. */
	struct template_memo *memo;
	int64_t least_now; /* lower bound of `now` in the next run */
	bool frees_codes; /* codes it removes were never seen, so they are not reserved */
	struct run run;
	struct call_step step;
	struct bulk *bulk; /* private to service/bulk.c */
	const struct import *import; /* private to resources/import/import.c */
	struct slice idempotency_key; /* data NULL if there is none */
	bool has_claim; /* of idempotency_key (service/idempotency.h) */
	int64_t claims_until; /* it waits for the claim until this time of clock_monotonic */
	struct counting *counting; /* private to resources/retries/kept_usage.c */
	struct slice made_key; /* private to resources/backends/signing_keys.c */
	struct asking *asking; /* what it asks a media server (resources/asking.h); else NULL */
	struct asking *asks_next; /* what `settle` asks in addition; else NULL */
	struct app_token *app_token; /* join token, if the route takes one (accounts/token.h) */
	struct answer answer;
	/* Private to resources/door/door.c. */
	unsigned char ticket[CALL_TICKET_SIZE];
	bool has_ticket;
	char id[129]; /* X-Request-Id */
	int64_t started; /* clock_microseconds at its start, for log and metrics */
	bool may_be_deferred; /* see service_answer */
	bool is_deferred; /* it has been deferred */
	/* It would wait in the store for other calls that write the same record. Such calls are
	 * deferred if they can be, and handled one at a time. */
	bool is_serial;
	bool is_counted; /* counted against a limit of its route (misses_count_test) */
	bool is_counted_inside; /* and as a call from inside a room (misses_count_inside) */
};

/* ---- responses; functions that return bool always return true ---- */

/* Responds with status 200 and these bytes, which must be in the arena or constant. */
bool call_answer(struct call *call, struct slice body);
/* Does the same with status 201. */
bool call_answer_created(struct call *call, struct slice body);
/* Responds with status 204. */
bool call_answer_nothing(struct call *call);
/* Appends a part to the body. */
void call_part(struct call *call, struct slice bytes);
/* Adds a header, at most ANSWER_HEADERS in all. `value` is copied; `name` must be a literal. */
void call_header(struct call *call, const char *name, struct slice value);

/* Returns the value of an added header, or an empty slice if there is no such header. */
struct slice call_find_header(const struct call *call, const char *name);
/* Stores this body for the request's Idempotency-Key instead of the response's body, because the
 * response shows a secret that must be shown only once. */
bool call_keep_instead(struct call *call, struct slice body);

/* Ends the run of a ROUTE_READ_FIRST handler that must write (`return call_write_instead(call);`):
 * the service runs it again in a WRITE transaction. Must not be called in a WRITE transaction. */
bool call_write_instead(struct call *call);
/* True if the call is in a WRITE transaction. */
bool call_is_writing(const struct call *call);
/* Returns how to read records that the call changes if it is a write. */
enum store_reading call_reading(const struct call *call);
/* Empties the response, except for its lasting headers. */
void call_reset_answer(struct call *call);
/* Sets account_text, and the account of the transaction, from call->account. */
void call_set_account(struct call *call);
/* Returns true if the account keeps nothing of who the people in its rooms are. */
bool call_is_anonymous(const struct call *call);
/* Returns true if the account exists and is enabled. */
bool call_account_is_enabled(const struct call *call);
/* Raises the time of a writing call above `time` (milliseconds), the time of an earlier write. That
 * may be the same millisecond, or later if the clock was set back. An operation of a bulk request
 * may have the time of an earlier operation of the same request. */
void call_raise_time(struct call *call, int64_t time);

/* Returns an id with the time of the call, or with the time of `newest` if that is later, so that
 * the ids of a list in one record rise. number: one above the number of `newest`. */
struct id call_new_id(const struct call *call, const struct id *newest, uint64_t number);

/* ---- conditional requests ---- */

/* Draws call->etag, 63 random bits, never 0, before each run that may write. A counter would show
 * each account how much the others write, and would repeat numbers after a backup is restored. */
void call_draw_etag(struct call *call);
/* The rule for If-Match and If-None-Match as a sentence. Other values could never match. */
#define CALL_CONDITION_SENTENCE \
	"must be * or a list of ETags in double quotes, as responses have them, such as \"5f2a\""
/* Reads a request header. Returns false if it violates the rule. Makes an empty header absent. */
bool call_condition_read(struct slice *header);
/* Sets the ETag header of the response to `etag` as text in quotes. */
void call_etag(struct call *call, uint64_t etag);
/* For reads: returns true, and completes the response as 304, if If-None-Match names this ETag. */
bool call_not_modified(struct call *call, uint64_t etag);
/* For writes: sets FAULT_PRECONDITION if If-Match or If-None-Match does not allow the write.
 * exists: false if the write would create the object. */
bool call_precondition(const struct call *call, bool exists, uint64_t etag, struct fault *fault);

/* Return a member of the body or the query by its name; NULL if it was not sent. */
const json_t *call_member(const struct call *call, const char *name);
/* Returns a text of the body; an empty text if it was not sent. */
struct slice call_text(const struct call *call, const char *name);
struct slice call_query_text(const struct call *call, const char *name);

/* ---- documents made from the body, which handlers must not change ---- */

/* Returns the same value without const, so that a document can refer to it. The value must not be
 * changed. Returns NULL for NULL. */
json_t *call_share(const json_t *value);
/* Returns an object in the arena with the same members, which are shared. */
json_t *call_copy(struct call *call, const json_t *object);
/* Replaces a member of the copy by a copy of that member, or by an empty object if the member is
 * missing, and returns it. So only the objects on the path to a change are copied. */
json_t *call_copy_member(json_t *copy, const char *name);

#endif
