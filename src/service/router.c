/* See service/router.h. The sorted paths form one expression in which common prefixes occur once,
 *
 *     (?|/v2(?|/rooms(?|/?(*MARK:0)|/([^/]++)/?(*MARK:1))|/templates(?|...)))
 *
 * with the same numbers of captures in every branch. The mark is the number of the path; the method
 * is looked up in the path's list.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "service/router.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/pattern.h"
#include "base/text.h"
#include "resources/route.h"

#define METHODS METHOD_OPTIONS /* the number of methods that a route can have */
#define SEGMENTS_MOST 8 /* in a path; more than any route has */

struct branch {
	const char *path;
	const struct route *routes[METHODS]; /* by enum method; HEAD is the route of GET */
	struct slice allow;
	bool is_for_all_origins; /* the same for all its routes */
};

struct router {
	struct arena *arena;
	struct pattern *pattern;
	struct branch *branches;
	size_t n;
};

/* The dot is the only special character in paths. A name in braces matches one segment, or the text
 * before the dot that follows the name. */
static void append_path_segment(struct buffer *expression, struct slice segment)
{
	if (segment.data[1] == '{') {
		const char *end = memchr(segment.data, '}', segment.size);
		const size_t size = (size_t)(end + 1 - segment.data);

		buffer_append_text(expression, size < segment.size ? "/([^/.]++)" : "/([^/]++)");
		segment.data += size;
		segment.size -= size;
	}
	for (size_t i = 0; i < segment.size; i++) {
		assert(strchr("\\^$[]|()?*+{}", segment.data[i]) == NULL);
		if (segment.data[i] == '.')
			buffer_append_byte(expression, '\\');
		buffer_append_byte(expression, segment.data[i]);
	}
}

/* Returns the next segment of a path with its slash, or an empty slice at the end. */
static struct slice segment_at(const struct branch *branch, size_t offset)
{
	const char *rest = branch->path + offset;

	return (struct slice){ rest, *rest == '\0' ? 0 : 1 + strcspn(rest + 1, "/") };
}

/* Appends the branches from `first` up to `end`, exclusive, whose paths are equal up to `offset`.
 * The recursion is as deep as a path has segments. */
static void append_branches(struct buffer *expression, const struct router *router, size_t first,
			    size_t end, size_t offset)
{
	buffer_append_text(expression, "(?|");
	for (size_t i = first, next; i < end; i = next) {
		struct slice segment = segment_at(&router->branches[i], offset);

		if (i > first)
			buffer_append_byte(expression, '|');
		next = i + 1;
		if (segment.size == 0) {
			buffer_append_text(expression, "/?(*MARK:");
			buffer_append_integer(expression, (json_int_t)i);
			buffer_append_byte(expression, ')');
			continue;
		}
		while (next < end &&
		       slice_equal(segment_at(&router->branches[next], offset), segment))
			next++;
		append_path_segment(expression, segment);
		append_branches(expression, router, i, next, offset + segment.size);
	}
	buffer_append_byte(expression, ')');
}

static int compare_branches(const void *a, const void *b)
{
	const struct branch *left = a, *right = b;

	return strcmp(left->path, right->path);
}

struct router *router_open(const struct route *routes)
{
	struct router *router = memory_check(calloc(1, sizeof *router));
	struct buffer expression;
	size_t n = 0;

	while (routes[n].path != NULL)
		n++;
	router->branches = memory_check(calloc(n, sizeof *router->branches));
	for (size_t i = 0; i < n; i++) {
		struct branch *const end = router->branches + router->n;
		struct branch *branch = router->branches;

		while (branch < end && strcmp(branch->path, routes[i].path) != 0)
			branch++;
		if (branch == end) {
			branch->path = routes[i].path;
			router->n++;
		}
		assert(routes[i].method < METHODS && branch->routes[routes[i].method] == NULL);
		branch->routes[routes[i].method] = &routes[i];
		branch->is_for_all_origins = routes[i].is_for_all_origins;
		if (routes[i].method == METHOD_GET)
			branch->routes[METHOD_HEAD] = &routes[i];
	}
	qsort(router->branches, router->n, sizeof *router->branches, compare_branches);
	router->arena = arena_open();
	for (size_t i = 0; i < router->n; i++) {
		struct buffer allow = BUFFER_INITIAL(router->arena);

		for (size_t method = 0; method < METHODS; method++) {
			if (router->branches[i].routes[method] == NULL)
				continue;
			buffer_append_text(&allow, method_name((enum method)method));
			buffer_append_text(&allow, ", ");
		}
		buffer_append_text(&allow, "OPTIONS");
		router->branches[i].allow = buffer_slice(&allow);
	}

	expression = BUFFER_INITIAL(router->arena);
	append_branches(&expression, router, 0, router->n, 0);
	buffer_append_byte(&expression, '\0');
	router->pattern = pattern_open(expression.data);
	return router;
}

void router_close(struct router *router)
{
	if (router == NULL)
		return;
	pattern_close(router->pattern);
	arena_close(router->arena);
	free(router->branches);
	free(router);
}

/* Paths of the 100ms API that only a media server can offer. */
static const char *const media_paths[] = {
	"/v2/analytics",
	"/v2/polls",
	"/v2/stream-keys",
};

/* Returns the path of the API that is a prefix of the unknown path, or resembles it; NULL if there
 * is none. */
static const char *nearest_path(const struct router *router, struct arena *arena, struct slice path)
{
	struct buffer meant = BUFFER_INITIAL(arena);
	struct slice segment, candidate;
	struct match match;

	/* The path as it may have been meant: with /v2 in front, with single slashes, and no longer
	 * than the path of any route. */
	for (size_t n = 0; n < SEGMENTS_MOST && path.size > 0;) {
		segment = text_split(path, '/', &path);
		if (segment.size == 0)
			continue;
		if (n == 0 && !slice_is(segment, "v2"))
			buffer_append_text(&meant, "/v2");
		buffer_append_byte(&meant, '/');
		buffer_append(&meant, segment);
		n++;
	}

	candidate = buffer_slice(&meant);
	while (candidate.size > 0) {
		if (pattern_match(router->pattern, candidate, &match))
			return router->branches[strtoul(match.mark, NULL, 10)].path;
		do
			candidate.size--;
		while (candidate.data[candidate.size] != '/');
	}
	return NULL;
}

static bool refuse_unknown(const struct router *router, struct call *call, struct slice path,
			   struct fault *fault)
{
	const char *near;

	for (size_t i = 0; i < sizeof media_paths / sizeof media_paths[0]; i++) {
		const struct slice start = slice_of(media_paths[i]);

		if (slice_begins(path, start) &&
		    (path.size == start.size || path.data[start.size] == '/'))
			return fault_set(
				fault, FAULT_NOT_FOUND,
				"Not part of Anteroom: this endpoint needs a media server");
	}
	near = nearest_path(router, call->arena, path);
	if (near == NULL)
		return fault_set(fault, FAULT_NOT_FOUND, "No such path");
	return fault_explain(fault, FAULT_NOT_FOUND, "No such path", "the nearest path is %s",
			     near);
}

bool router_find(const struct router *router, struct call *call, struct slice *query,
		 bool *is_for_all_origins, struct fault *fault)
{
	struct slice path = text_split(call->request.uri, '?', query);
	struct match match;
	const struct branch *branch;

	*is_for_all_origins = false;
	if (!pattern_match(router->pattern, path, &match)) {
		/* If an unknown path begins like one with parameters that pages of any origin may
		 * call, they are to be able to read that it is unknown. */
		for (size_t i = 0; i < router->n && !*is_for_all_origins; i++) {
			struct slice rest, fixed;

			fixed = text_split(slice_of(router->branches[i].path), '{', &rest);
			*is_for_all_origins = router->branches[i].is_for_all_origins &&
					      rest.data != NULL && slice_begins(path, fixed);
		}
		return refuse_unknown(router, call, path, fault);
	}
	branch = &router->branches[strtoul(match.mark, NULL, 10)];
	*is_for_all_origins = branch->is_for_all_origins;
	if (call->request.method == METHOD_OPTIONS) {
		call_header(call, "Allow", branch->allow);
		return call_answer_nothing(call);
	}
	if (call->request.method >= METHODS || branch->routes[call->request.method] == NULL) {
		call_header(call, "Allow", branch->allow);
		return fault_detail(fault, FAULT_METHOD_NOT_ALLOWED, "allowed methods: %.*s",
				    (int)branch->allow.size, branch->allow.data);
	}
	call->route = branch->routes[call->request.method];
	assert(match.n <= CALL_PARAMETERS);
	for (size_t i = 0; i < match.n; i++)
		call->parameters[i] = match.captures[i];
	return true;
}

bool router_decode(struct call *call, struct fault *fault)
{
	for (size_t i = 0; i < CALL_PARAMETERS; i++) {
		struct slice *parameter = &call->parameters[i];

		if (parameter->data != NULL &&
		    !text_decode(call->arena, *parameter, TEXT_PATH, parameter))
			return fault_set(
				fault, FAULT_BAD_REQUEST,
				"The path must be valid percent-encoded UTF-8 without NUL or "
				"an encoded slash");
	}
	return true;
}
