/* A row of the route table (service/routes.h): which requests it is for, how they are checked, what
 * they read, and the handler that runs them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_ROUTE_H
#define RESOURCES_ROUTE_H

#include "resources/reads.h"

enum route_access {
	ROUTE_STATELESS, /* needs no store */
	ROUTE_READ,
	ROUTE_WRITE,
	ROUTE_READ_FIRST /* a READ transaction; call_write_instead runs it again in a WRITE one */
};

enum route_body {
	BODY_IGNORED, /* GET, DELETE */
	BODY_NONE, /* any JSON object is accepted and ignored */
	BODY_WHOLE,
	BODY_PARTIAL,
	BODY_PATCH
};

/* A rule that needs stored data and is refused with 400; the last row has no name. */
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
	const struct read *reads; /* NULL: nothing, or the handler itself says it */
	handler *prepare; /* NULL, or run once before the transaction, without a store */
	enum route_body body_kind;
	const struct shape *body;
	body_check *check; /* NULL: schema_check alone */
	size_t body_most; /* the largest body in bytes; 0: CALL_BODY_MOST */
	size_t objects_most; /* items of all lists in the body together; 0: any number */
	const struct shape *query; /* NULL: no parameters */
	const struct shape *answer; /* NULL: no body (204), or one of content_type */
	const char *content_type; /* NULL: JSON */
	bool is_list; /* the answer is {"data":[...]} of that shape; with limit and last when
				 * the route has a query */
	bool is_open; /* no Authorization */
	bool begins_session; /* its body proves who calls; the answer is 204 with a cookie */
	unsigned scopes; /* that the caller needs (accounts/scopes.h) */
	bool takes_app_token; /* Authorization has a token for joining, not a management token */
	bool is_for_all_origins; /* CORS lets pages of any origin call it */
	bool is_limited; /* refused while the address has used up its budget of unknown codes */
	bool drops_old; /* what was there may be gone (410) */
	bool has_etag; /* conditional requests */
	bool is_bulk; /* may be an operation of a bulk (service/bulk.h) */
	bool is_alone; /* calls of all such routes run one at a time, and may have more memory;
			* not of a route that is_open */
	bool has_conditions; /* the body has conditions, so the answer may be 412 */
	bool is_internal; /* for operators, not part of the interface */
	/* For the OpenAPI document: a sentence each; NULL: this refusal does not happen here. */
	const char *forbidden; /* 403 */
	const char *conflict; /* 409 */
	const char *too_many; /* 429; of a route that is_limited: as of all of these */
	const struct route_rule *rules; /* 400; NULL: none but those of the tables */
	const char *doc;
};

/* How the body of a route is checked. */
enum schema_mode route_mode(const struct route *route);
/* Whether a call of the route may change something: not GET or HEAD. */
bool route_is_for_writing(const struct route *route);

#endif
