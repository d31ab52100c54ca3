/* See recorder/chromium.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "recorder/chromium.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json_text.h"
#include "base/memory.h"
#include "base/text.h"
#include "recorder/folder.h"

/* Messages: the largest has a chunk in base64. */
#define MESSAGE_MOST ((size_t)24 << 20)
#define READ_SIZE ((size_t)256 << 10)
/* Memory that is kept between messages. */
#define KEPT_MOST ((size_t)2 << 20)
#define RULES_SIZE 4096
/* Numbers of the first messages; those of chromium_call follow. */
enum {
	CALL_CREATE = 1,
	CALL_ATTACH,
	CALL_RUNTIME,
	CALL_INSPECTOR,
	CALL_BINDING,
	CALL_NAVIGATE,
	CALL_END,
	CALL_FIRST
};

struct chromium {
	struct child child;
	int to, from; /* ends of the pipe */
	struct tail says; /* standard error */
	char *profile, *page;
	char session[64];
	unsigned calls;
	char *received;
	size_t received_size, received_capacity, scanned;
	char *unsent;
	size_t unsent_size, unsent_capacity;
};

const char *chromium_find(void)
{
	static const char *const programs[] = { "chromium-headless-shell", "chromium",
						"chromium-browser", "google-chrome" };

	for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
		if (program_exists(programs[i]))
			return programs[i];
	}
	return NULL;
}

/* ---- which names it knows ---- */

struct rules {
	const struct chromium_options *options;
	char text[RULES_SIZE]; /* in the new process: the argument */
};

/* Appends to the rules. Names have no character that would end one. */
__attribute__((format(printf, 2, 3))) static void append_rule(struct rules *rules,
							      const char *format, ...)
{
	const size_t used = strlen(rules->text);
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(rules->text + used, sizeof rules->text - used, format, arguments);
	va_end(arguments);
}

static bool is_host(const char *host)
{
	return host[0] != '\0' && strlen(host) < 256 &&
	       host[strspn(host, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
				 ".-_:[]")] == '\0';
}

static bool is_allowed(const struct sockaddr *address, const struct address_ranges *ranges)
{
	return address_is_global(address) || address_is_within(address, ranges);
}

/* Resolves the host of the media server and maps it to the first address that is allowed. Runs in
 * the new process, because nobody waits for it there. Returns the exit status, 0 if it is allowed.
 */
static int map_media_host(struct rules *rules)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	const char *host = rules->options->media_host;
	char bare[256], shown[NI_MAXHOST];
	struct addrinfo *found = NULL, *one;
	const size_t size = strlen(host);
	int error;

	/* An IPv6 address has brackets in a URL. */
	if (size > 2 && host[0] == '[' && host[size - 1] == ']')
		(void)snprintf(bare, sizeof bare, "%.*s", (int)size - 2, host + 1);
	else
		(void)snprintf(bare, sizeof bare, "%s", host);
	error = getaddrinfo(bare, NULL, &hints, &found);
	if (error != 0) {
		dprintf(STDERR_FILENO, "the media server %s is not found: %s\n", bare,
			gai_strerror(error));
		return EXIT_FAILURE;
	}
	one = found;
	while (one != NULL && !is_allowed(one->ai_addr, rules->options->media_ranges))
		one = one->ai_next;
	if (one == NULL || getnameinfo(one->ai_addr, one->ai_addrlen, shown, sizeof shown, NULL, 0,
				       NI_NUMERICHOST) != 0) {
		dprintf(STDERR_FILENO, CHROMIUM_NOT_ALLOWED "\n");
		freeaddrinfo(found);
		return EXIT_FAILURE;
	}
	/* An address needs no rule but the exception; a name is that address and no other. */
	if (strcmp(bare, shown) == 0)
		append_rule(rules, ", EXCLUDE %s", bare);
	else
		append_rule(rules, one->ai_family == AF_INET6 ? ", MAP %s [%s]" : ", MAP %s %s",
			    bare, shown);
	freeaddrinfo(found);
	return 0;
}

static int prepare_chromium(void *context, const char **arguments)
{
	struct rules *rules = context;
	const struct chromium_options *options = rules->options;
	struct slice rest = slice_of(options->hosts);

	(void)snprintf(rules->text, sizeof rules->text, "--host-resolver-rules=");
	/* The first rule that fits counts, except that an exclusion counts always. */
	if (options->media_host != NULL) {
		struct rules own = { .options = options };

		if (map_media_host(&own) != 0)
			return EXIT_FAILURE;
		append_rule(rules, "%s, ", own.text + 2);
	}
	append_rule(rules, "MAP * ~NOTFOUND");
	if (options->page_host != NULL)
		append_rule(rules, ", EXCLUDE %s", options->page_host);
	while (rest.data != NULL) {
		const struct slice host = text_split(rest, ',', &rest);

		if (host.size > 0)
			append_rule(rules, ", EXCLUDE %.*s", (int)host.size, host.data);
	}
	for (size_t i = 0; arguments[i] != NULL; i++) {
		if (strcmp(arguments[i], "RULES") == 0)
			arguments[i] = rules->text;
	}
	return 0;
}

/* ---- messages ---- */

static void write_unsent(struct chromium *chromium)
{
	while (chromium->unsent_size > 0) {
		const ssize_t n = write(chromium->to, chromium->unsent, chromium->unsent_size);

		if (n < 0 && errno == EINTR)
			continue;
		/* If it has ended, reading says so. */
		if (n < 0)
			return;
		chromium->unsent_size -= (size_t)n;
		memmove(chromium->unsent, chromium->unsent + n, chromium->unsent_size);
	}
}

/* Sends a message. parameters: a new value. */
static void send_message(struct chromium *chromium, unsigned number, const char *method,
			 bool to_page, json_t *parameters)
{
	json_t *message = memory_check(json_object());
	char *text;
	size_t size;

	object_put(message, "id", json_integer(number));
	object_put(message, "method", json_string(method));
	object_put(message, "params", parameters);
	if (to_page)
		object_put(message, "sessionId", json_string(chromium->session));
	text = memory_check(json_dumps(message, JSON_COMPACT));
	size = strlen(text) + 1;
	chromium->unsent = memory_room_secret(chromium->unsent, chromium->unsent_size + size,
					      &chromium->unsent_capacity, 1);
	memcpy(chromium->unsent + chromium->unsent_size, text, size);
	chromium->unsent_size += size;
	explicit_bzero(text, size);
	free(text);
	json_decref(message);
	write_unsent(chromium);
}

unsigned chromium_call(struct chromium *chromium, const char *expression)
{
	const unsigned number = CALL_FIRST + chromium->calls++;
	json_t *parameters = memory_check(json_object());

	object_put(parameters, "expression", json_string(expression));
	object_put(parameters, "userGesture", json_true());
	object_put(parameters, "awaitPromise", json_true());
	object_put(parameters, "silent", json_true());
	send_message(chromium, number, "Runtime.evaluate", true, parameters);
	return number;
}

void chromium_ask_end(struct chromium *chromium)
{
	send_message(chromium, CALL_END, "Browser.close", false, json_object());
}

/* ---- start and end ---- */

static char *copy_text(const char *text)
{
	return memory_check(strdup(text));
}

bool chromium_open(struct children *children, const struct chromium_options *options,
		   struct chromium **chromium, struct fault *fault)
{
	struct rules rules = { .options = options };
	char profile[PATH_MAX], window[64];
	const char *const arguments[] = {
		options->program,
		"--headless=new",
		"--remote-debugging-pipe",
		"--no-first-run",
		"--no-default-browser-check",
		"--disable-extensions",
		"--disable-component-update",
		"--disable-background-networking",
		"--disable-sync",
		"--disable-default-apps",
		"--disable-domain-reliability",
		"--metrics-recording-only",
		"--no-pings",
		"--disable-breakpad",
		"--disable-client-side-phishing-detection",
		"--password-store=basic",
		"--use-mock-keychain",
		"--autoplay-policy=no-user-gesture-required",
		"--disable-background-timer-throttling",
		"--disable-renderer-backgrounding",
		"--disable-backgrounding-occluded-windows",
		"--disable-dev-shm-usage",
		"--hide-scrollbars",
		"--force-device-scale-factor=1",
		/* A media server on this machine. */
		"--allow-loopback-in-peer-connection",
		"RULES",
		window,
		profile,
		"about:blank",
		NULL,
	};
	struct child_start start = {
		.arguments = arguments,
		.home = options->profile,
		.descriptors = { -1, -1, -1, -1, -1 },
		.prepare = prepare_chromium,
		.context = &rules,
	};
	struct chromium *made = memory_check(calloc(1, sizeof *made));
	int in[2] = { -1, -1 }, out[2] = { -1, -1 };
	bool is_started;

	if (snprintf(profile, sizeof profile, "--user-data-dir=%s", options->profile) >=
	    (int)sizeof profile)
		profile[0] = '\0';
	(void)snprintf(window, sizeof window, "--window-size=%lld,%lld",
		       (long long)(options->width > 0 ? options->width : 640),
		       (long long)(options->height > 0 ? options->height : 360));
	*made = (struct chromium){ .to = -1, .from = -1, .says.descriptor = -1 };
	made->profile = copy_text(options->profile);
	made->page = copy_text(options->page);
	if ((options->media_host != NULL && !is_host(options->media_host)) ||
	    (options->page_host != NULL && !is_host(options->page_host)))
		is_started = fault_cause(fault, FAULT_UNAVAILABLE, 0, CHROMIUM_NOT_ALLOWED);
	else if (profile[0] == '\0' || mkdir(options->profile, 0700) != 0 ||
		 pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0 ||
		 (start.descriptors[2] = tail_open(&made->says)) < 0)
		is_started = fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot start Chromium");
	else {
		made->to = descriptor_unblocked(in[1]);
		made->from = descriptor_unblocked(out[0]);
		in[1] = out[0] = -1;
		start.descriptors[1] = start.descriptors[2];
		start.descriptors[3] = in[0];
		start.descriptors[4] = out[1];
		is_started = child_start(children, &made->child, &start, fault);
	}
	for (int i = 0; i < 2; i++) {
		if (in[i] >= 0)
			close(in[i]);
		if (out[i] >= 0)
			close(out[i]);
	}
	if (start.descriptors[2] >= 0)
		close(start.descriptors[2]);
	if (!is_started) {
		chromium_close(children, made);
		return false;
	}
	send_message(made, CALL_CREATE, "Target.createTarget", false,
		     json_pack("{s:s}", "url", "about:blank"));
	*chromium = made;
	return true;
}

void chromium_close(struct children *children, struct chromium *chromium)
{
	if (chromium == NULL)
		return;
	child_end(children, &chromium->child);
	if (chromium->to >= 0)
		close(chromium->to);
	if (chromium->from >= 0)
		close(chromium->from);
	tail_close(&chromium->says);
	folder_remove(chromium->profile);
	free(chromium->profile);
	free(chromium->page);
	free(chromium->received);
	if (chromium->unsent != NULL)
		explicit_bzero(chromium->unsent, chromium->unsent_capacity);
	free(chromium->unsent);
	free(chromium);
}

void chromium_descriptors(const struct chromium *chromium, int descriptors[CHROMIUM_DESCRIPTORS])
{
	descriptors[0] = chromium->from;
	descriptors[1] = chromium->says.descriptor;
}

int chromium_writes_to(const struct chromium *chromium)
{
	return chromium->unsent_size > 0 ? chromium->to : -1;
}

/* ---- events ---- */

static struct chromium_news gone(struct arena *arena, const char *why)
{
	return (struct chromium_news){ .event = CHROMIUM_GONE,
				       .text = slice_of(arena_text(arena, "%s", why)) };
}

/* Its own words, if it has ended before its page was there: a missing sandbox, for example. */
static struct chromium_news ended(struct chromium *chromium, struct arena *arena)
{
	char line[TAIL_SIZE + 1];

	(void)tail_read(&chromium->says);
	if (chromium->session[0] != '\0' || tail_line(&chromium->says, line)[0] == '\0')
		return gone(arena, "Chromium ended");
	if (strcmp(line, CHROMIUM_NOT_ALLOWED) == 0)
		return gone(arena, line);
	return gone(arena, arena_text(arena, "Chromium does not start: %s", line));
}

/* Goes on with the start: the page is made, attached to, and told where to go. */
static void take_first_answers(struct chromium *chromium, unsigned number, const json_t *result)
{
	const struct slice session = text_of_json(json_object_get(result, "sessionId"));
	const json_t *target = json_object_get(result, "targetId");

	if (number == CALL_CREATE && json_is_string(target))
		send_message(chromium, CALL_ATTACH, "Target.attachToTarget", false,
			     json_pack("{s:s, s:b}", "targetId", json_string_value(target),
				       "flatten", 1));
	/* The next renderer has the binding only if this one has answered. */
	if (number == CALL_BINDING)
		send_message(chromium, CALL_NAVIGATE, "Page.navigate", true,
			     json_pack("{s:s}", "url", chromium->page));
	if (number != CALL_ATTACH || session.size == 0 || session.size >= sizeof chromium->session)
		return;
	memcpy(chromium->session, session.data, session.size);
	send_message(chromium, CALL_RUNTIME, "Runtime.enable", true, json_object());
	send_message(chromium, CALL_INSPECTOR, "Inspector.enable", true, json_object());
	send_message(chromium, CALL_BINDING, "Runtime.addBinding", true,
		     json_pack("{s:s}", "name", "anteroom"));
}

static struct chromium_news take_message(struct chromium *chromium, struct arena *arena,
					 struct slice text)
{
	const json_t *message = json_text_read_stored(arena, text, NULL);
	const json_t *parameters = json_object_get(message, "params");
	const json_t *result = json_object_get(message, "result");
	const json_t *id = json_object_get(message, "id");
	const struct slice method = text_of_json(json_object_get(message, "method"));
	const struct slice error = text_of_json(json_object_get(result, "errorText"));

	if (message == NULL)
		return gone(arena, "Chromium sent what cannot be read");
	if (json_is_integer(id)) {
		const unsigned number = (unsigned)json_integer_value(id);

		take_first_answers(chromium, number, result);
		if (number == CALL_NAVIGATE && error.size > 0)
			return gone(arena, arena_text(arena, "the page does not load: %.*s",
						      (int)error.size, error.data));
		if (number < CALL_FIRST && number != CALL_END &&
		    json_object_get(message, "error") != NULL)
			return gone(arena, "Chromium does not open a page");
		return (struct chromium_news){
			.event = number >= CALL_FIRST ? CHROMIUM_RETURNED : CHROMIUM_NOTHING,
			.number = number,
			.is_error = json_object_get(message, "error") != NULL ||
				    json_object_get(result, "exceptionDetails") != NULL,
		};
	}
	if (slice_is(method, "Inspector.targetCrashed") ||
	    slice_is(method, "Target.targetCrashed") || slice_is(method, "Inspector.detached") ||
	    slice_is(method, "Target.detachedFromTarget"))
		return gone(arena, "the page crashed");
	if (slice_is(method, "Runtime.bindingCalled") &&
	    slice_is(text_of_json(json_object_get(parameters, "name")), "anteroom"))
		return (struct chromium_news){
			.event = CHROMIUM_SAYS,
			.text = text_of_json(json_object_get(parameters, "payload")),
		};
	return (struct chromium_news){ .event = CHROMIUM_NOTHING };
}

/* Takes the first whole message out of what was received. Returns false if there is none. */
static bool take_received(struct chromium *chromium, struct arena *arena, struct slice *message)
{
	const char *from = chromium->received, *end;

	if (chromium->received_size == chromium->scanned)
		return false;
	end = memchr(from + chromium->scanned, '\0', chromium->received_size - chromium->scanned);
	chromium->scanned = chromium->received_size;
	if (end == NULL)
		return false;
	*message = arena_copy(arena, (struct slice){ from, (size_t)(end - from) });
	chromium->received_size -= message->size + 1;
	memmove(chromium->received, end + 1, chromium->received_size);
	chromium->scanned = 0;
	if (chromium->received_size == 0 && chromium->received_capacity > KEPT_MOST) {
		free(chromium->received);
		chromium->received = NULL;
		chromium->received_capacity = 0;
	}
	return true;
}

struct chromium_news chromium_next(struct chromium *chromium, struct arena *arena)
{
	struct chromium_news news = { .event = CHROMIUM_NOTHING };
	struct slice message;
	ssize_t got;

	/* Debian starts it by a shell, which ends with it. */
	if (chromium->child.is_ended)
		return ended(chromium, arena);
	write_unsent(chromium);
	(void)tail_read(&chromium->says);
	for (;;) {
		while (take_received(chromium, arena, &message)) {
			news = take_message(chromium, arena, message);
			if (news.event != CHROMIUM_NOTHING)
				return news;
		}
		if (chromium->received_size > MESSAGE_MOST)
			return gone(arena, "Chromium sent a message that is too large");
		chromium->received = memory_room(chromium->received,
						 chromium->received_size + READ_SIZE,
						 &chromium->received_capacity, 1);
		got = read(chromium->from, chromium->received + chromium->received_size, READ_SIZE);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN)
			return news;
		if (got <= 0)
			return ended(chromium, arena);
		chromium->received_size += (size_t)got;
	}
}

/* ---- what it can do ---- */

#define PROBE_MS 30000
static const char probe_page[] =
	"data:text/html,<script>anteroom(JSON.stringify({type: MediaRecorder.isTypeSupported("
	"'video/x-matroska;codecs=avc1,opus') ? 'yes' : 'no'}))</script>";

bool chromium_encodes(struct children *children, const char *program, const char *profile,
		      struct arena *arena, const char **error)
{
	const struct chromium_options options = {
		.program = program,
		.profile = profile,
		.page = probe_page,
	};
	const int64_t until = clock_monotonic() + PROBE_MS;
	struct chromium_news news = { .event = CHROMIUM_NOTHING };
	struct fault fault = FAULT_INITIAL;
	struct chromium *chromium;
	const json_t *said;
	struct slice type;

	if (!chromium_open(children, &options, &chromium, &fault)) {
		*error = arena_text(arena, "%s", fault_reason(&fault));
		return false;
	}
	while (news.event != CHROMIUM_SAYS && news.event != CHROMIUM_GONE &&
	       clock_monotonic() < until) {
		struct pollfd polled = { chromium->from, POLLIN, 0 };

		(void)poll(&polled, 1, 100);
		news = chromium_next(chromium, arena);
	}
	chromium_close(children, chromium);
	said = json_text_read_stored(arena, news.text, NULL);
	type = text_of_json(json_object_get(said, "type"));
	if (news.event == CHROMIUM_GONE)
		*error = news.text.data;
	else if (news.event != CHROMIUM_SAYS)
		*error = "Chromium does not respond";
	else
		*error = "this Chromium does not encode H.264";
	return news.event == CHROMIUM_SAYS && slice_is(type, "yes");
}
