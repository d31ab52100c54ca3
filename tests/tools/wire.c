/* See wire.h. Both servers get sockets that are already listening, so there is nothing to wait for:
 * early requests wait in the queue. All files are in one directory, which is removed at the end. If
 * started by root, both drop privileges to `nobody`.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "wire.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "accounts/token.h"
#include "base/arena.h"
#include "base/clock.h"
#include "database.h"
#include "directory.h"
#include "suite.h"

#define SECONDS_MOST 120L
#define ARGUMENTS 16
#define TOKEN_SECONDS 86400

static struct wire *wire_of(struct transport *transport)
{
	return (struct wire *)(void *)transport;
}

/* ---- processes ---- */

/* Runs in the child: `input` becomes descriptor 0 and `output` descriptor 1, unless they are -1.
 * The child ends with this process. */
static void become(const char *const *arguments, int input, int output)
{
	if ((input >= 0 && dup2(input, STDIN_FILENO) < 0) ||
	    (output >= 0 && dup2(output, STDOUT_FILENO) < 0) ||
	    prctl(PR_SET_PDEATHSIG, SIGTERM) != 0)
		_exit(126);
	/* exec takes them without const, but does not change them. */
	execvp(arguments[0], (char *const *)(uintptr_t)arguments);
	perror(arguments[0]);
	_exit(127);
}

static pid_t start(const char *const *arguments, int input, int output)
{
	pid_t child = fork();

	if (child == 0)
		become(arguments, input, output);
	return child;
}

/* Returns true if the child exited successfully within the time; kills it otherwise. */
static bool stop(pid_t child, const char *name)
{
	int status = 0;

	if (child <= 0)
		return true;
	kill(child, SIGTERM);
	for (int turns = 0; turns < 12000; turns++) {
		if (waitpid(child, &status, WNOHANG) == child) {
			if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
				return true;
			fprintf(stderr, "%s ended with status %x\n", name, (unsigned)status);
			return false;
		}
		(void)poll(NULL, 0, 10);
	}
	fprintf(stderr, "%s did not end\n", name);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	return false;
}

/* Runs the program with these arguments and copies what it printed; returns false if it failed. */
static bool ask(struct wire *wire, const char *const *words, char *printed, size_t size)
{
	const char *arguments[ARGUMENTS] = { wire->program };
	int pipes[2];
	pid_t child;
	int status = 0;
	size_t length = 0;
	ssize_t n;

	for (size_t i = 0; words[i] != NULL && i + 4 < ARGUMENTS; i++) {
		arguments[i + 1] = words[i];
		arguments[i + 2] = wire->store != NULL ? "--store" : "--data";
		arguments[i + 3] = wire->store != NULL ? wire->store : wire->data;
	}
	if (pipe2(pipes, O_CLOEXEC) != 0)
		return false;
	child = start(arguments, -1, pipes[1]);
	close(pipes[1]);
	while ((n = read(pipes[0], printed + length, size - length - 1)) > 0)
		length += (size_t)n;
	close(pipes[0]);
	printed[length] = '\0';
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* ---- accounts ---- */

/* Copies the value after `name: ` on a line of its own; returns false if there is no such line. */
static bool find_line(const char *printed, const char *name, char *value, size_t size)
{
	size_t length = strlen(name);

	for (const char *line = printed; *line != '\0'; line += *line == '\n') {
		size_t end = strcspn(line, "\n");

		if (strncmp(line, name, length) == 0 && line[length] == ':') {
			snprintf(value, size, "%.*s", (int)(end - length - 2), line + length + 2);
			return true;
		}
		line += end;
	}
	return false;
}

static void sign_token(struct case_account *account)
{
	struct arena *arena = arena_open();
	struct account signer = { .secret_count = 1 };
	struct slice token;

	memcpy(signer.access_key_text, account->access_key, sizeof signer.access_key_text - 1);
	memcpy(signer.secrets[0].text, account->secret, sizeof signer.secrets[0].text - 1);
	token = token_sign_management(arena, &clock_system, &signer, clock_now(&clock_system),
				      TOKEN_SECONDS);
	snprintf(account->token, sizeof account->token, "%.*s", (int)token.size, token.data);
	arena_close(arena);
}

/* Adds a token. The program prints that of the first account; those of the hundreds that cases add
 * are signed here, because a start of the program takes 30 ms. */
static bool add_token(struct wire *wire, struct case_account *account, char problem[static 256])
{
	const char *const words[] = { "token", account->access_key, NULL };

	if (account != &wire->transport.a) {
		sign_token(account);
		return true;
	}
	if (ask(wire, words, account->token, sizeof account->token)) {
		account->token[strcspn(account->token, "\n")] = '\0';
		return true;
	}
	snprintf(problem, 256, "token printed: %.200s", account->token);
	return false;
}

static bool add_account(struct transport *transport, const char *name, struct case_account *account,
			char problem[static 256])
{
	struct wire *wire = wire_of(transport);
	const char *const words[] = { "account", "add", name, NULL };
	char printed[2048];

	if (ask(wire, words, printed, sizeof printed) &&
	    find_line(printed, "id", account->id, sizeof account->id) &&
	    find_line(printed, "access_key", account->access_key, sizeof account->access_key) &&
	    find_line(printed, "secret", account->secret, sizeof account->secret))
		return add_token(wire, account, problem);
	snprintf(problem, 256, "account add printed: %.200s", printed);
	return false;
}

static bool change_account(struct transport *transport, struct case_account *account,
			   enum case_change change, char problem[static 256])
{
	struct wire *wire = wire_of(transport);
	static const char *const verbs[] = {
		[CASE_DISABLE] = "disable", [CASE_ENABLE] = "enable", [CASE_ROTATE] = "rotate",
		[CASE_FINISH] = "rotate",   [CASE_OPERATOR] = "set",  [CASE_ANONYMOUS] = "set",
		[CASE_NAMED] = "set",	    [CASE_EMBEDDED] = "set",
	};
	const char *const words[] = {
		"account",
		verbs[change],
		account->access_key,
		change == CASE_FINISH	   ? "--finish"
		: change == CASE_OPERATOR  ? "operator=on"
		: change == CASE_ANONYMOUS ? "sessions=off"
		: change == CASE_NAMED	   ? "sessions=on"
		: change == CASE_EMBEDDED  ? "embed=" CASE_ORIGINS
					   : NULL,
		NULL,
	};
	char printed[2048];

	if (ask(wire, words, printed, sizeof printed) &&
	    (change != CASE_ROTATE ||
	     (find_line(printed, "secret", account->secret, sizeof account->secret) &&
	      add_token(wire, account, problem))))
		return true;
	snprintf(problem, 256, "account %s printed: %.200s", verbs[change], printed);
	return false;
}

/* ---- requests ---- */

struct answer_reader {
	struct case_answer *answer;
	char *body;
	size_t length;
};

static size_t take_body(char *bytes, size_t one, size_t n, void *context)
{
	struct answer_reader *reader = context;

	reader->body = realloc(reader->body, reader->length + one * n + 1);
	if (reader->body == NULL)
		abort();
	memcpy(reader->body + reader->length, bytes, one * n);
	reader->length += one * n;
	return one * n;
}

static size_t take_header(char *line, size_t one, size_t n, void *context)
{
	struct answer_reader *reader = context;
	size_t size = one * n;
	size_t colon = 0;
	char name[256];
	char value[4096];

	while (colon < size && line[colon] != ':')
		colon++;
	if (colon + 1 >= size)
		return size;
	snprintf(name, sizeof name, "%.*s", (int)colon, line);
	snprintf(value, sizeof value, "%.*s", (int)(size - colon - 1), line + colon + 1);
	value[strcspn(value, "\r\n")] = '\0';
	case_answer_header(reader->answer, name, value + strspn(value, " "));
	return size;
}

/* curl does not send a header without a value, not even its own header of that name. */
static struct curl_slist *header_list(const struct case_request *request)
{
	struct curl_slist *list = curl_slist_append(NULL, "Expect:");
	bool has_type = false;

	for (size_t i = 0; i < request->n_headers; i++) {
		const struct case_header *header = &request->headers[i];
		char *line;

		if (asprintf(&line, "%s:%s%s", header->name, *header->value == '\0' ? "" : " ",
			     header->value) < 0)
			abort();
		list = curl_slist_append(list, line);
		has_type = has_type || strcasecmp(header->name, "Content-Type") == 0;
		free(line);
	}
	return has_type ? list : curl_slist_append(list, "Content-Type:");
}

static void set_body(CURL *curl, const struct case_request *request)
{
	bool writes = strcmp(request->method, "POST") == 0 || strcmp(request->method, "PATCH") == 0;

	if (strcmp(request->method, "HEAD") == 0) {
		curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
		return;
	}
	if (request->body != NULL || writes) {
		curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
				 (curl_off_t)request->body_length);
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS,
				 request->body == NULL ? "" : request->body);
	}
	curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
}

static bool answer_over_the_wire(struct transport *transport, const struct case_request *request,
				 struct case_answer *answer, char problem[static 256])
{
	struct wire *wire = wire_of(transport);
	struct answer_reader reader = { .answer = answer };
	struct curl_slist *headers = header_list(request);
	char source[64];
	long status = 0;
	CURLcode result;

	snprintf(source, sizeof source, "host!%.50s", request->from);
	/* From version 8 on, libcurl reuses connections with another source address. */
	if (strcmp(source, wire->source) != 0) {
		curl_easy_cleanup(wire->curl);
		wire->curl = curl_easy_init();
		memcpy(wire->source, source, sizeof source);
	}
	curl_easy_reset(wire->curl);
	curl_easy_setopt(wire->curl, CURLOPT_URL, wire->url);
	curl_easy_setopt(wire->curl, CURLOPT_REQUEST_TARGET, request->target);
	curl_easy_setopt(wire->curl, CURLOPT_INTERFACE, source);
	curl_easy_setopt(wire->curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(wire->curl, CURLOPT_TIMEOUT, SECONDS_MOST);
	curl_easy_setopt(wire->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(wire->curl, CURLOPT_PROXY, "");
	curl_easy_setopt(wire->curl, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(wire->curl, CURLOPT_WRITEDATA, &reader);
	curl_easy_setopt(wire->curl, CURLOPT_HEADERFUNCTION, take_header);
	curl_easy_setopt(wire->curl, CURLOPT_HEADERDATA, &reader);
	set_body(wire->curl, request);
	result = curl_easy_perform(wire->curl);
	curl_easy_getinfo(wire->curl, CURLINFO_RESPONSE_CODE, &status);
	curl_slist_free_all(headers);
	answer->status = (int)status;
	case_answer_body(answer, reader.body == NULL ? "" : reader.body, reader.length);
	free(reader.body);
	if (result != CURLE_OK)
		snprintf(problem, 256, "%s", curl_easy_strerror(result));
	return result == CURLE_OK;
}

/* ---- start and end ---- */

static int listen_unix(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (strlen(path) < sizeof address.sun_path)
		memcpy(address.sun_path, path, strlen(path));
	if (descriptor < 0 || *address.sun_path == '\0' ||
	    bind(descriptor, (const struct sockaddr *)&address, sizeof address) != 0 ||
	    chmod(path, 0666) != 0 || listen(descriptor, 511) != 0) {
		perror(path);
		return -1;
	}
	return descriptor;
}

/* Binds a free port and listens. Not close-on-exec, because nginx must inherit it; non-blocking, as
 * nginx makes its own sockets: if it wakes two workers for one connection, the second one must not
 * wait. */
static int listen_inet(int *port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t size = sizeof address;
	int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	if (descriptor < 0 ||
	    bind(descriptor, (const struct sockaddr *)&address, sizeof address) != 0 ||
	    listen(descriptor, 511) != 0 ||
	    getsockname(descriptor, (struct sockaddr *)&address, &size) != 0) {
		perror("a port");
		return -1;
	}
	*port = ntohs(address.sin_port);
	return descriptor;
}

/* Copies a file of the source tree into our directory, with its @NAMES@ replaced. */
static bool instantiate(const struct wire *wire, const char *name, const char *to)
{
	const char *source = getenv("SOURCE_DIR");
	const char *const arguments[] = {
		"sh",
		"-c",
		"sed -e \"s|@LISTEN@|127.0.0.1:$3|;s|@SOCKET@|$1/anteroom.sock|\" "
		"-e \"/server unix:/$4\" "
		/* The program is slower under a sanitizer. */
		"-e \"s|^fastcgi_read_timeout 30s|fastcgi_read_timeout "
		"$((30 * ${CK_TIMEOUT_MULTIPLIER:-1}))s|\" "
		"-e 's|@ACCESS_LOG@|access.log|; s|@PAGES@|pages|' -e 's|@PARTS@/||' "
		"-e \"s|@RECORDINGS@|$1/recordings|\" \"$0\" >\"$1/$2\"",
		NULL,
		wire->directory,
		to,
		NULL,
		/* Adds a line for the second responder. */
		wire->store != NULL ? "{p;s|anteroom.sock|second.sock|}" : "s|x|x|",
		NULL,
	};
	const char *filled[ROWS(arguments)];
	char path[4096];
	char port[16];
	int status = 1;
	pid_t child;

	snprintf(path, sizeof path, "%s/nginx/%s", source == NULL ? "." : source, name);
	snprintf(port, sizeof port, "%d", wire->port);
	memcpy(filled, arguments, sizeof arguments);
	filled[3] = path;
	filled[6] = port;
	child = start(filled, -1, -1);
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* Makes the directories, owned by the user who will write there. */
static bool make_directories(struct wire *wire)
{
	static const char *const names[] = { "", "/data", "/temporary" };
	const struct passwd *nobody = geteuid() == 0 ? getpwnam("nobody") : NULL;
	char path[512];

	wire->directory = directory_make();
	snprintf(wire->data, sizeof wire->data, "%s/data", wire->directory);
	for (size_t i = 0; i < ROWS(names); i++) {
		snprintf(path, sizeof path, "%s%s", wire->directory, names[i]);
		if ((i > 0 && mkdir(path, 0700) != 0) ||
		    (nobody != NULL && chown(path, nobody->pw_uid, nobody->pw_gid) != 0)) {
			perror(path);
			return false;
		}
	}
	return true;
}

static bool start_responder(const struct wire *wire, const char *name, pid_t *responder)
{
	const char *arguments[ARGUMENTS] = {
		wire->program,
		"serve",
		wire->store != NULL ? "--store" : "--data",
		wire->store != NULL ? wire->store : wire->data,
	};
	char path[512];
	int listener;

	if (geteuid() == 0) {
		arguments[4] = "--user";
		arguments[5] = "nobody";
	}
	snprintf(path, sizeof path, "%s/%s", wire->directory, name);
	listener = listen_unix(path);
	if (listener < 0)
		return false;
	*responder = start(arguments, listener, -1);
	close(listener);
	return *responder > 0;
}

/* nginx takes over a listening socket named in its environment, as it does when it replaces itself;
 * the configuration has the same address. */
static bool start_nginx(struct wire *wire)
{
	char prefix[512];
	char inherited[16];
	char directives[128] = "daemon off;";
	const struct passwd *nobody = geteuid() == 0 ? getpwnam("nobody") : NULL;
	const struct group *group = nobody == NULL ? NULL : getgrgid(nobody->pw_gid);
	const char *const arguments[] = {
		"nginx", "-p",	      prefix, "-c",	  "nginx.conf",
		"-e",	 "error.log", "-g",   directives, NULL,
	};
	int listener = listen_inet(&wire->port);

	if (listener < 0 || !instantiate(wire, "http.conf.in", "http.conf") ||
	    !instantiate(wire, "server.conf.in", "server.conf") ||
	    !instantiate(wire, "site.conf.in", "site.conf") ||
	    !instantiate(wire, "nginx.conf", "nginx.conf"))
		return false;
	if (group != NULL)
		snprintf(directives, sizeof directives, "daemon off; user nobody %s;",
			 group->gr_name);
	snprintf(prefix, sizeof prefix, "%s/", wire->directory);
	snprintf(inherited, sizeof inherited, "%d;", listener);
	snprintf(wire->url, sizeof wire->url, "http://127.0.0.1:%d/", wire->port);
	setenv("NGINX", inherited, 1);
	wire->nginx = start(arguments, -1, -1);
	unsetenv("NGINX");
	close(listener);
	return wire->nginx > 0;
}

static bool begin(struct wire *wire)
{
	char problem[256] = "";

	if (!make_directories(wire))
		return false;
	if (!add_account(&wire->transport, "a", &wire->transport.a, problem) ||
	    !add_account(&wire->transport, "b", &wire->transport.b, problem)) {
		fprintf(stderr, "%s: %s\n", wire->program, problem);
		return false;
	}
	return start_responder(wire, "anteroom.sock", &wire->responder) &&
	       (wire->store == NULL || start_responder(wire, "second.sock", &wire->second)) &&
	       start_nginx(wire);
}

static bool has_database;

bool wire_use_database(void)
{
	const char *none = database_start();

	if (none != NULL)
		fprintf(stderr, "without PostgreSQL: %s\n", none);
	has_database = none == NULL;
	return has_database;
}

int wire_begin(struct wire *wire)
{
	const char *named = getenv("ANTEROOM");

	*wire = (struct wire){
		.transport = {
			.name = "e2e",
			.wire = true,
			.send = answer_over_the_wire,
			.account_add = add_account,
			.account_change = change_account,
		},
	};
	if (setenv("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin", 1) !=
		    0 ||
	    system("command -v nginx >/dev/null") != 0) {
		fprintf(stderr, "left out: nginx is not installed\n");
		return WIRE_SKIPPED;
	}
	wire->program = realpath(named == NULL ? "./anteroom" : named, NULL);
	if (wire->program == NULL) {
		perror(named == NULL ? "./anteroom" : named);
		return EXIT_FAILURE;
	}
	wire->transport.shared = has_database;
	if (has_database)
		wire->store = database_store();
	curl_global_init(CURL_GLOBAL_DEFAULT);
	signal(SIGPIPE, SIG_IGN);
	if (begin(wire))
		return EXIT_SUCCESS;
	(void)wire_end(wire);
	return EXIT_FAILURE;
}

bool wire_end(struct wire *wire)
{
	bool ended = stop(wire->nginx, "nginx");

	ended = stop(wire->responder, "the responder") && ended;
	ended = stop(wire->second, "the other responder") && ended;
	free(wire->store);
	curl_easy_cleanup(wire->curl);
	curl_global_cleanup();
	directory_remove(wire->directory);
	free(wire->program);
	return ended;
}
