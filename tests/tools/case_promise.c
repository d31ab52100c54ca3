/*
 * Checks what the interface promises for every response, whatever the request: the form of errors,
 * the headers that are always present, and those that never are. Cases need not mention it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "case_check.h"

#include <stdlib.h>
#include <string.h>

static void check_header_is(struct run *run, const char *name, const char *wanted)
{
	const char *value = answer_header(run, name);

	if (value == NULL || strcmp(value, wanted) != 0) {
		problem(run, "header %s must be \"%s\", is %s%s%s", name, wanted,
			value == NULL ? "absent" : "\"", value == NULL ? "" : value,
			value == NULL ? "" : "\"");
	}
}

static bool is_head(const struct run *run)
{
	return strcmp(run->request.method, "HEAD") == 0;
}

/* Compact JSON has no blanks outside strings. */
static bool json_is_compact(const struct case_answer *answer)
{
	bool quoted = false;

	for (size_t n = 0; n < answer->body_length; n++) {
		char letter = answer->body[n];

		if (quoted && letter == '\\') {
			n++;
		} else if (letter == '"') {
			quoted = !quoted;
		} else if (!quoted && strchr(" \t\r\n", letter) != NULL) {
			return false;
		}
	}
	return true;
}

/* Compares a detail with its fault. A detail is "<pointer>: <message>", with long names in the
 * pointer cut, or only the message if there is no pointer. */
static bool says_the_same(const char *detail, const json_t *fault)
{
	const char *pointer = json_string_value(json_object_get(fault, "pointer"));
	const char *message = json_string_value(json_object_get(fault, "message"));
	size_t before;

	if (pointer == NULL || message == NULL || json_object_size(fault) != 2 ||
	    strlen(detail) < strlen(message))
		return false;
	before = strlen(detail) - strlen(message);
	if (strcmp(detail + before, message) != 0)
		return false;
	if (*pointer == '\0')
		return before == 0;
	return before > 2 && strncmp(detail + before - 2, ": ", 2) == 0 &&
	       (strlen(pointer) > 64 ||
		(before == strlen(pointer) + 2 && strncmp(detail, pointer, before - 2) == 0));
}

/* Checks that `faults` of a 400 repeats `details` in parts. */
static void check_faults_of(struct run *run, const json_t *details)
{
	const json_t *faults = json_object_get(run->document, "faults");
	size_t n;
	json_t *detail;

	if ((faults != NULL) != (run->answer.status == 400 && details != NULL)) {
		problem(run, "an error must have faults exactly if it is a 400 with details");
		return;
	}
	if (faults == NULL)
		return;
	if (json_array_size(faults) != json_array_size(details))
		problem(run, "there must be as many faults as details");
	json_array_foreach(details, n, detail) {
		if (!says_the_same(json_string_value(detail), json_array_get(faults, n)))
			problem(run, "fault %zu differs from its detail", n);
	}
}

/* Checks the form of an error. */
static void check_error_body(struct run *run)
{
	static const char *const names[] = { "code", "message", "details", "faults" };
	const json_t *details = json_object_get(run->document, "details");
	size_t at = 0;
	const char *key;
	json_t *value;
	size_t n;

	json_object_foreach(run->document, key, value) {
		if (at == 4 || strcmp(key, names[at]) != 0) {
			problem(run,
				"an error must have code, message, details, faults, in this order, not \"%s\"",
				key);
			break;
		}
		at++;
	}
	if (at < 2 ||
	    json_integer_value(json_object_get(run->document, "code")) != run->answer.status) {
		problem(run, "an error must have its status as code, and a message");
	}
	if (json_string_length(json_object_get(run->document, "message")) == 0)
		problem(run, "the message of an error must be a sentence");
	if (details != NULL && (json_array_size(details) == 0 || json_array_size(details) > 50))
		problem(run, "an error must have 1 to 50 details, or none");
	json_array_foreach(details, n, value) {
		if (json_string_length(value) == 0)
			problem(run, "each detail must be a sentence");
	}
	check_faults_of(run, details);
}

static void check_error_headers(struct run *run)
{
	const json_t *message = json_object_get(run->document, "message");

	switch (run->answer.status) {
	case 401:
		check_header_is(run, "WWW-Authenticate", "Bearer error=\"invalid_token\"");
		if (!is_head(run) &&
		    (json_string_length(message) == 0 ||
		     strcmp(json_string_value(message), "Token validation error") != 0 ||
		     json_object_get(run->document, "details") == NULL)) {
			problem(run,
				"a 401 says \"Token validation error\" and the reason in details");
		}
		break;
	case 405:
		if (answer_header(run, "Allow") == NULL)
			problem(run, "a 405 must have the header Allow");
		break;
	case 429:
	case 503:
		if (answer_header(run, "Retry-After") == NULL)
			problem(run, "a %d must have the header Retry-After", run->answer.status);
		break;
	}
}

/* Returns true for the paths of a live room that people inside use, too. */
static bool is_of_live_room(const char *target)
{
	static const char *const ends[] = {
		"",	 "/me",		  "/peers",	   "/mute",	"/tickets",
		"/door", "/remove-peers", "/send-message", "/end-room", "/lower-hands",
	};
	static const char *const begins[] = { "/peers/", "/tickets/" };
	static const char start[] = "/v2/active-rooms/";
	const char *rest;
	size_t length;

	if (strncmp(target, start, strlen(start)) != 0)
		return false;
	rest = target + strlen(start);
	rest += strcspn(rest, "/?");
	length = strcspn(rest, "?");
	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		if (length == strlen(ends[i]) && strncmp(rest, ends[i], length) == 0)
			return true;
	}
	for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++) {
		const size_t size = strlen(begins[i]);

		if (strncmp(rest, begins[i], size) == 0 &&
		    (strcspn(rest + size, "/?") == length - size ||
		     strncmp(rest + length - 5, "/mute", 5) == 0))
			return true;
	}
	return false;
}

static bool is_token_path(const char *target)
{
	static const char *const paths[] = { "/v2/token", "/v2/token/", "/v2/token/join",
					     "/v2/token/join/" };
	const size_t length = strcspn(target, "?");

	if (strncmp(target, "/v2/join/", 9) == 0 || strncmp(target, "/v2/livekit/", 12) == 0 ||
	    strncmp(target, "/v2/tickets/", 12) == 0 || is_of_live_room(target))
		return true;
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		if (length == strlen(paths[i]) && strncmp(target, paths[i], length) == 0)
			return true;
	}
	return false;
}

static bool is_of_key_sets(const char *target)
{
	return strncmp(target, "/v2/jwks/", 9) == 0;
}

/* Returns true if a success returns a QR code; errors are JSON everywhere. */
static bool is_of_qr_code(const char *target)
{
	const size_t length = strcspn(target, "?");

	return strncmp(target, "/v2/room-codes/code/", 20) == 0 && length >= 23 &&
	       strncmp(target + length - 3, "/qr", 3) == 0;
}

static const char *content_type(const struct run *run)
{
	if (run->answer.status < 400 && strcmp(run->request.target, "/v2/service/metrics") == 0)
		return "text/plain; version=0.0.4; charset=utf-8";
	if (run->answer.status < 400 && is_of_qr_code(run->request.target))
		return "image/svg+xml";
	if (run->answer.status < 400 && strstr(run->request.target, "/attendance.csv") != NULL)
		return "text/csv; charset=utf-8";
	if (run->answer.status >= 400 || !is_of_key_sets(run->request.target))
		return "application/json; charset=utf-8";
	return strstr(run->request.target, ".pem") != NULL ? "application/x-pem-file"
							   : "application/jwk-set+json";
}

/* Returns true for the paths of recordings, most of which people inside use, too. */
static bool is_of_recordings(const char *target)
{
	return strncmp(target, "/v2/recordings", 14) == 0 ||
	       strncmp(target, "/v2/live-streams", 16) == 0 ||
	       strncmp(target, "/v2/external-streams", 20) == 0 ||
	       strncmp(target, "/v2/recording-assets", 20) == 0;
}

/* Returns true if the path is below that of a live room, and no path of the API. */
static bool is_unknown_live_path(const struct run *run)
{
	return run->answer.status == 404 &&
	       strncmp(run->request.target, "/v2/active-rooms/", 17) == 0;
}

#define ID_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"

static void check_headers_of_all(struct run *run)
{
	const char *id = answer_header(run, "X-Request-Id");
	const char *origin = answer_header(run, "Access-Control-Allow-Origin");

	/* strspn, because compiling a regular expression with such a large bound takes a
	 * millisecond. */
	if (id == NULL || *id == '\0' || strlen(id) > 128 || id[strspn(id, ID_LETTERS)] != '\0')
		problem(run, "every response must have the header X-Request-Id, got %s",
			id == NULL ? "none" : id);
	if (is_token_path(run->request.target)) {
		check_header_is(run, "Access-Control-Allow-Origin", "*");
	} else if (origin != NULL && !is_of_key_sets(run->request.target) &&
		   !is_unknown_live_path(run) && !is_of_recordings(run->request.target)) {
		problem(run,
			"only /v2/token, /v2/join, /v2/tickets, /v2/jwks, live rooms and recordings "
			"may be open to other origins");
	}
	if (origin != NULL)
		check_header_is(run, "Access-Control-Expose-Headers",
				"Retry-After, X-Request-Id, ETag");
}

static void check_body_of_all(struct run *run)
{
	const struct case_answer *answer = &run->answer;
	const char *length = answer_header(run, "Content-Length");
	char wanted[32];

	if (answer->status == 204 || answer->status == 304) {
		if (answer->body_length > 0)
			problem(run, "a %d must not have a body", answer->status);
		return;
	}
	check_header_is(run, "Content-Type", content_type(run));
	if (run->transport->wire) {
		snprintf(wanted, sizeof wanted, "%zu", answer->body_length);
		if (length == NULL || (!is_head(run) && strcmp(length, wanted) != 0)) {
			problem(run, "expected Content-Length %s, got %s", wanted,
				length == NULL ? "absent" : length);
		}
		if (is_head(run)) {
			if (answer->body_length > 0)
				problem(run, "the response to HEAD has a body");
			return;
		}
	}
	if (is_head(run))
		return;
	if (strncmp(content_type(run), "application/j", 13) != 0)
		return;
	if (run->document == NULL) {
		problem(run, "the response is not JSON");
	} else if (!json_is_compact(answer)) {
		problem(run, "the JSON is not compact");
	}
	if (answer->status >= 400)
		check_error_body(run);
}

void check_every_answer(struct run *run)
{
	check_headers_of_all(run);
	check_body_of_all(run);
	check_error_headers(run);
	if (run->answer.body != NULL && (strstr(run->answer.body, run->a.secret) != NULL ||
					 strstr(run->answer.body, run->b.secret) != NULL)) {
		problem(run, "the response contains an account's secret");
	}
}

void check_no_surprise(struct run *run)
{
	const char *unknown = answer_header(run, "X-Unknown-Fields");

	if (run->answered && unknown != NULL && !run->unknown_fields_checked)
		problem(run, "unexpected header X-Unknown-Fields: %s", unknown);
}
