/* A row of the route table (service/routes.h): which requests it matches, how they are checked,
 * what they read, and which handler runs them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_ROUTE_H
#define RESOURCES_ROUTE_H

#include "resources/reads.h"

enum route_access {
	ROUTE_STATELESS, /* needs no store */
	ROUTE_READ,
	ROUTE_WRITE,
	ROUTE_READ_FIRST /* starts in a READ transaction; see call_write_instead */
};

enum route_body {
	BODY_IGNORED, /* GET, DELETE */
	BODY_NONE, /* any JSON object is accepted and ignored */
	BODY_WHOLE,
	BODY_PARTIAL,
	BODY_PATCH
};

/* A rule that depends on stored data and leads to 400. The last row has no name. */
struct route_rule {
	const char *name;
	const char *doc; /* the rule as a sentence */
};

struct route {
	enum method method; /* GET serves HEAD too */
	const char *path; /* "/v2/templates/{template_id}" */
	enum route_access access;
	handler *run;
	const char *name; /* operationId of the OpenAPI document */
	const struct load *loads; /* what the path names; NULL if nothing */
	/* With a store: its round trips to a database, the fewest and the most. */
	unsigned char trips_from, trips_to;
	const struct read *reads; /* NULL if none, or if the handler announces them itself */
	/* Runs after the media server was asked (resources/asking.h), in a WRITE transaction; NULL
	 * if the route asks none. After a survey for the caller, `run` runs once more instead. */
	handler *settle;
	const struct load *settle_loads; /* for `settle`, as long as nothing was done; or NULL */
	bool acts; /* `settle` may not know whether the media server did something (504) */
	handler *prepare; /* runs once before the transaction, without a store; may be NULL */
	enum route_body body_kind;
	const struct shape *body;
	body_check *check; /* NULL for schema_check alone */
	size_t body_most; /* largest body in bytes; 0: CALL_BODY_MOST */
	size_t objects_most; /* items of all lists in the body together; 0 for no limit */
	const struct shape *query; /* NULL if there are no parameters */
	const struct shape *answer; /* NULL for no body (204), or one of content_type */
	const struct shape *accepted; /* of 202; NULL if that never is the status */
	const char *content_type; /* NULL: JSON */
	bool is_list; /* the response is {"data":[...]} of that shape, with limit and last if
				 * the route has a query */
	bool creates; /* the status of its response is 201 */
	bool accepts; /* it is 202 */
	bool is_open; /* needs no Authorization header */
	bool begins_session; /* the body authenticates; the response is 204 with a cookie */
	unsigned scopes; /* scopes the caller needs (accounts/scopes.h) */
	bool takes_app_token; /* Authorization has a join token, not a management token */
	bool is_from_inside; /* it may have a join token, too (resources/live/live_caller.h) */
	bool is_for_all_origins; /* CORS allows pages of any origin to call it */
	bool is_limited; /* rejected while the address has used up its budget of unknown codes */
	bool drops_old; /* what it returns may no longer be kept (410) */
	bool has_etag; /* supports conditional requests */
	const char *etag_when; /* when a response has an ETag; NULL: always, with has_etag */
	bool is_bulk; /* may be an operation of a bulk request (service/bulk.h) */
	bool is_alone; /* calls of all such routes run one at a time, with more memory;
			* an is_open route must not have it */
	bool has_conditions; /* the body contains conditions, so the status may be 412 */
	unsigned char
		job_type; /* enum job_type (resources/stored/job_record.h), of calls for jobs */
	bool is_internal; /* for operators, not part of the interface */
	/* For the OpenAPI document, a sentence each; NULL if the status does not occur. */
	const char *forbidden; /* 403 */
	const char *retry_after; /* this header of a success; NULL if it has none */
	const char *conflict; /* 409 */
	bool tests_server; /* tells whether the media server answers; never 502 */
	const char *too_large; /* 413 of a response; NULL if it never is, or is that of a list */
	const char *too_many; /* 429; NULL with is_limited for the common sentence */
	const struct route_rule *rules; /* 400; NULL for the rules of the tables alone */
	const char *doc;
};

/* Returns how the body of a route is checked. */
enum schema_mode route_mode(const struct route *route);
/* True if calls of the route may ask a media server. */
bool route_asks(const struct route *route);
/* True if calls of the route may change something: all but GET and HEAD. */
bool route_is_for_writing(const struct route *route);
/* Reads both headers of a conditional write whose route has an ETag (call_condition_read). Sets
 * FAULT_BAD_REQUEST. */
bool route_read_conditions(struct call *call, struct fault *fault);

#endif
