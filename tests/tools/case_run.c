/*
 * Runs a case line by line. A line that begins with a method starts a request, the lines after it
 * add to it, and the first line that expects something (`=`, `refused`, `malformed`) sends it; the
 * following lines check the response. A case ends at the first exchange that fails, because later
 * exchanges depend on it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "case_check.h"
#include "case_verbs.h"
#include "suite.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct verb {
	const char *word;
	void (*run)(struct run *run, const char *rest);
	bool checks; /* checks the response, so a response is needed */
};

static void run_lines(struct run *run, const struct case_line *from, const struct case_line *to);

static void request_begin(struct run *run, const char *text)
{
	const char *target;
	const char *method = expanded(run, first_word(&run->pool, text, &target)).bytes;

	if (run->pending)
		problem(run, "the previous request was not sent");
	check_no_surprise(run);
	run->answered = false;
	run->request = (struct case_request){
		.method = method,
		.target = expanded(run, target).bytes,
		.from = scope_get(&run->scope, "address")->bytes,
	};
	run->account = "a";
	run->authorized = false;
	run->body = bytes_text(&run->pool, "");
	run->body_given = false;
	run->pending = true;
}

static void request_header(struct run *run, const char *name, const char *value)
{
	if (run->request.n_headers < CASE_HEADERS) {
		run->request.headers[run->request.n_headers++] = (struct case_header){ name,
										       value };
	} else {
		problem(run, "too many headers");
	}
}

static bool request_has_header(const struct run *run, const char *name)
{
	for (size_t n = 0; n < run->request.n_headers; n++) {
		if (strcasecmp(run->request.headers[n].name, name) == 0)
			return true;
	}
	return false;
}

static void request_authorize(struct run *run)
{
	const char *variable = strcmp(run->account, "b") == 0 ? "token_b" : "token";
	const struct bytes *token = scope_get(&run->scope, variable);
	struct bytes value;

	if (run->authorized || strcmp(run->account, "nobody") == 0)
		return;
	value = bytes_join(&run->pool, bytes_text(&run->pool, "Bearer "), *token);
	request_header(run, "Authorization", value.bytes);
}

static void answer_clear(struct case_answer *answer)
{
	for (size_t n = 0; n < answer->n_headers; n++) {
		free(answer->names[n]);
		free(answer->values[n]);
	}
	free(answer->body);
	*answer = (struct case_answer){ 0 };
}

static void request_send(struct run *run)
{
	char trouble[256] = "";

	if (!run->pending || run->problems > 0) {
		if (!run->pending)
			problem(run, "there is no request to send");
		return;
	}
	request_authorize(run);
	if (run->body_given && !request_has_header(run, "Content-Type"))
		request_header(run, "Content-Type", "application/json");
	run->request.body = run->body_given ? run->body.bytes : NULL;
	run->request.body_length = run->body_given ? run->body.length : 0;
	answer_clear(&run->answer);
	run->document = NULL;
	run->pending = false;
	if (!run->transport->send(run->transport, &run->request, &run->answer, trouble)) {
		problem(run, "no response: %s", trouble);
		return;
	}
	run->answered = true;
	run->unknown_fields_checked = false;
	if (run->answer.body != NULL) {
		run->document = pool_json(
			&run->pool, json_loadb(run->answer.body, run->answer.body_length,
					       JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL));
	}
	check_every_answer(run);
}

static void verb_expect(struct run *run, const char *rest)
{
	request_send(run);
	if (run->answered)
		check_status(run, expanded(run, rest).bytes);
}

static void verb_refused(struct run *run, const char *rest)
{
	request_send(run);
	if (run->answered)
		check_refused(run, rest);
}

static void verb_malformed(struct run *run, const char *rest)
{
	request_send(run);
	if (run->answered)
		check_malformed(run, rest);
}

static void verb_body(struct run *run, const char *rest)
{
	struct bytes text = expanded(run, rest);

	if (run->body_given)
		run->body = bytes_join(&run->pool, run->body, bytes_text(&run->pool, "\n"));
	run->body = bytes_join(&run->pool, run->body, text);
	run->body_given = true;
}

static void verb_file(struct run *run, const char *rest)
{
	char *path = NULL;
	char *text = NULL;
	size_t room = 0;
	FILE *stream;
	ssize_t length;

	if (asprintf(&path, "%s/%s", run->list->folder, rest) < 0)
		abort();
	stream = fopen(path, "r");
	free(path);
	length = stream == NULL ? -1 : getdelim(&text, &room, '\0', stream);
	if (length < 0) {
		problem(run, "cannot read %s", rest);
	} else {
		run->body = bytes_copy(&run->pool, text, (size_t)length);
		run->body_given = true;
	}
	if (stream != NULL)
		fclose(stream);
	free(text);
}

static void verb_as(struct run *run, const char *rest)
{
	run->account = rest;
}

static void verb_from(struct run *run, const char *rest)
{
	run->request.from = expanded(run, rest).bytes;
}

static void verb_use(struct run *run, const char *rest)
{
	const struct case_line *line = run->line;

	for (const struct case_script *at = run->list->scenes; at != NULL; at = at->next) {
		if (strcmp(at->name, rest) == 0) {
			run_lines(run, at->lines, NULL);
			run->line = line;
			return;
		}
	}
	problem(run, "unknown scene: %s", rest);
}

/* Returns the line with `end` or `end STATUS` that closes the block. */
static const struct case_line *end_of_block(const struct case_line *line)
{
	while (line != NULL && strcmp(line->text, "end") != 0 &&
	       strncmp(line->text, "end ", strlen("end ")) != 0)
		line = line->next;
	return line;
}

static void verb_repeat(struct run *run, const char *rest)
{
	unsigned long most = strtoul(expanded(run, rest).bytes, NULL, 10);
	const struct case_line *start = run->line;
	const struct case_line *end = end_of_block(start);
	unsigned long awaited;
	bool come = false;

	if (end == NULL) {
		problem(run, "repeat without end");
		return;
	}
	awaited = strtoul(end->text + strlen("end"), NULL, 10);
	for (unsigned long n = 1; n <= most && !come && run->problems == 0; n++) {
		count_to(run, n);
		run_lines(run, start->next, end);
		come = awaited != 0 && (unsigned long)run->answer.status == awaited;
	}
	run->line = end;
	if (awaited != 0 && !come && run->problems == 0)
		problem(run, "no response had status %lu", awaited);
}

static void verb_end(struct run *run, const char *rest)
{
	(void)rest;
	problem(run, "end without repeat");
}

static const struct verb verbs[] = {
	{ "=", verb_expect, false },
	{ "refused", verb_refused, false },
	{ "malformed", verb_malformed, false },
	{ ">", verb_body, false },
	{ "file", verb_file, false },
	{ "as", verb_as, false },
	{ "from", verb_from, false },
	{ "let", verb_let, false },
	{ "bytes", verb_bytes, false },
	{ "join", verb_join, false },
	{ "fill", verb_fill, false },
	{ "cut", verb_cut, false },
	{ "digest", verb_digest, false },
	{ "jwt", verb_jwt, false },
	{ "account", verb_account, false },
	{ "clock", verb_clock, false },
	{ "fail", verb_fail, false },
	{ "calls", verb_calls, false },
	{ "use", verb_use, false },
	{ "repeat", verb_repeat, false },
	{ "end", verb_end, false },
	{ "compare", check_compare, false },
	{ "save", verb_save, true },
	{ "verify", verb_verify, true },
	{ "header", check_header, true },
	{ "text", check_text, true },
	{ "fault", check_fault, true },
	{ "faults", check_faults, true },
};

static const struct verb *verb_of(const char *text)
{
	size_t length = strcspn(text, " ");

	for (size_t n = 0; n < ROWS(verbs); n++) {
		if (strlen(verbs[n].word) == length && strncmp(verbs[n].word, text, length) == 0)
			return &verbs[n];
	}
	return NULL;
}

/* A method (capital letters, or a variable), a blank, and a slash, an asterisk or a variable. */
static bool is_request(const char *text)
{
	size_t length = *text == '$' ? 1 + strspn(text + 1, "abcdefghijklmnopqrstuvwxyz_")
				     : strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

	return length > 0 && text[length] == ' ' && strchr("/*$", text[length + 1]) != NULL;
}

/* Returns the length of the name in `Name: value`, or 0 if the text is not a header. */
static size_t header_length(const char *text)
{
	size_t length = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-$");

	return text[length] == ':' && (text[length + 1] == ' ' || text[length + 1] == '\0') ? length
											    : 0;
}

/* A pointer, the dot that means the whole document, or a variable that contains a pointer. */
static bool is_pointer(const char *text)
{
	return *text == '/' || (*text == '$' && !is_request(text) && header_length(text) == 0) ||
	       (text[0] == '.' && text[1] == ' ');
}

bool case_line_is_known(const char *text)
{
	return is_request(text) || header_length(text) > 0 || is_pointer(text) ||
	       verb_of(text) != NULL;
}

static void run_header(struct run *run, const char *text)
{
	size_t length = header_length(text);
	const char *name = expanded(run, bytes_copy(&run->pool, text, length).bytes).bytes;
	const char *value = text + length + 1;

	if (strcasecmp(name, "Authorization") == 0)
		run->authorized = true;
	request_header(run, name, expanded(run, value + strspn(value, " ")).bytes);
}

static void run_line(struct run *run)
{
	const char *text = run->line->text;
	const struct verb *verb = verb_of(text);

	if ((is_pointer(text) || (verb != NULL && verb->checks)) && !run->answered) {
		problem(run, "there is no response to check");
	} else if (is_request(text)) {
		request_begin(run, text);
	} else if (is_pointer(text)) {
		check_pointer(run, text);
	} else if (verb != NULL) {
		const char *rest = text + strlen(verb->word);

		verb->run(run, *rest == ' ' ? rest + 1 : rest);
	} else {
		run_header(run, text);
	}
}

/* Returns true if a line only checks the response before it. */
static bool is_check(const char *text)
{
	const struct verb *verb = verb_of(text);

	return is_pointer(text) || (verb != NULL && verb->checks);
}

/* Reports all failed checks of one response; after a problem, does not start anything else. */
static void run_lines(struct run *run, const struct case_line *from, const struct case_line *to)
{
	for (run->line = from; run->line != NULL && run->line != to; run->line = run->line->next) {
		if (run->problems > 0 && (!run->answered || !is_check(run->line->text)))
			return;
		run_line(run);
	}
}

static void run_tell(struct run *run)
{
	enum { MOST = 1500 };
	const struct case_request *request = &run->request;

	if (request->method == NULL)
		return;
	fprintf(run->report, "\n  sent: %s %s", request->method, request->target);
	for (size_t n = 0; n < request->n_headers; n++) {
		fprintf(run->report, "\n        %s: %.60s", request->headers[n].name,
			request->headers[n].value);
	}
	fprintf(run->report, "\n        %.*s", MOST,
		run->body.bytes == NULL ? "" : run->body.bytes);
	if (run->answer.status == 0)
		return;
	fprintf(run->report, "\n  came: %d", run->answer.status);
	for (size_t n = 0; n < run->answer.n_headers; n++)
		fprintf(run->report, "\n        %s: %s", run->answer.names[n],
			run->answer.values[n]);
	fprintf(run->report, "\n        %.*s", MOST,
		run->answer.body == NULL ? "" : run->answer.body);
}

/* Gives the run a name that no other run of any case has, and its own address of the loopback
 * network. */
static void run_name_itself(struct run *run, size_t n)
{
	static atomic_uint runs;
	unsigned run_number = (unsigned)n + 1 + 4096 * (atomic_fetch_add(&runs, 1) % 256);
	char text[64];

	snprintf(text, sizeof text, "u%llx.%x.%x", (unsigned long long)time(NULL),
		 (unsigned)getpid(), run_number);
	scope_set_text(&run->scope, "unique", text);
	snprintf(text, sizeof text, "127.%u.%u.%u", 1 + run_number / 62500 % 250,
		 1 + run_number / 250 % 250, 1 + run_number % 250);
	scope_set_text(&run->scope, "address", text);
}

static void run_prepare(struct run *run, const struct case_entry *entry, size_t n)
{
	run->scope.pool = &run->pool;
	run->scope.ahead = run->transport->ahead;
	if (run->transport->clock_hold != NULL)
		run->scope.held = run->transport->clock_hold(run->transport);
	if (run->transport->store_fail != NULL)
		run->transport->store_fail(run->transport, 0);
	run->a = run->transport->a;
	run->b = run->transport->b;
	scope_set_text(&run->scope, "space", " ");
	scope_set_text(&run->scope, "tab", "\t");
	scope_set_text(&run->scope, "newline", "\n");
	scope_set_text(&run->scope, "nothing", "");
	run_name_itself(run, n);
	set_account(run, "", &run->a);
	set_account(run, "_b", &run->b);
	for (size_t column = 0; column < entry->n_columns; column++)
		scope_set_open(&run->scope, entry->columns[column], entry->values[column]);
}

char *case_run(const struct case_list *list, size_t n, struct transport *transport)
{
	const struct case_entry *entry = &list->entries[n];
	struct run run = { .list = list, .transport = transport, .account = "a" };
	char *report = NULL;
	size_t length = 0;

	run.report = open_memstream(&report, &length);
	if (run.report == NULL)
		abort();
	run_prepare(&run, entry, n);
	if (run.problems == 0)
		run_lines(&run, entry->script->lines, NULL);
	if (run.problems == 0) {
		check_no_surprise(&run);
		if (run.pending)
			problem(&run, "the last request was not sent");
	}
	if (run.problems > 0)
		run_tell(&run);
	fclose(run.report);
	answer_clear(&run.answer);
	pool_clear(&run.pool);
	if (run.problems == 0) {
		free(report);
		return NULL;
	}
	return report;
}
