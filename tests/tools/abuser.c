/* Opens two hundred badly behaved connections for tests/scripts/abuse.sh: ten kinds, twenty of
 * each, from one address to a web server on another address of this machine, until standard input
 * ends. Then it prints how much of their planned work the connections did and, one line for each
 * kind, how often each status was returned.
 *
 *     tests/tools/abuser PORT [KIND N]    opens N connections of one kind instead
 *
 * The first line of standard input is a management token. The program prints `there` when all
 * connections have existed for two seconds and, if there are slow readers, each of them has
 * received the beginning of its response.
 *
 * A connection acts ten times a second, which is as often as a client 100 ms away can send a
 * request and get its response. The slow kinds send or receive a few bytes a second; the kinds with
 * large bodies send two megabytes a second each, in pieces, as a network would deliver them.
 *
 * The program shares the processors with the well-behaved client, so it gives way to all other
 * programs (SCHED_IDLE): the test measures what the server spends on bad connections, not what it
 * costs to produce them, which real attackers pay on their own machines.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "suite.h"

#define FROM 0x7f000002u /* 127.0.0.2 */
#define TO 0x7f000001u
#define OF_A_KIND 20
#define STATUSES 600
#define TOKEN_SIZE 1024

#define HEAD(method, path) method " " path " HTTP/1.1\r\nHost: localhost\r\n"
#define JSON "Content-Type: application/json\r\n"

/* `%t` in the text stands for the token. The text is followed by this many letters. */
struct kind {
	const char *name;
	const char *text;
	size_t letters;
	int pause; /* milliseconds between two actions */
	size_t send_most; /* bytes per action; 0 for no limit */
	size_t take_most;
	bool hangs_up; /* reconnects afterwards */
};

/* clang-format off */
static const struct kind kinds[] = {
	{ "slow-heads", HEAD("GET", "/v2/templates") "X-Slow: ", 100000, 500, 10, 0, false },
	{ "slow-bodies", HEAD("POST", "/v2/templates") "Authorization: Bearer %t\r\n" JSON "Content-Length: 200000\r\n\r\n", 200000, 500, 1000, 0, false },
	{ "slow-readers", HEAD("GET", "/v2/templates?limit=100") "Authorization: Bearer %t\r\n\r\n", 0, 500, 0, 250, false },
	{ "half-requests", HEAD("POST", "/v2/templates") JSON "Content-Length: 1000\r\n\r\n{", 100, 100, 0, 0, true },
	{ "large-bodies", HEAD("POST", "/v2/templates") JSON "Content-Length: 2000000\r\n\r\n", 2000000, 50, 100000, 0, true },
	{ "large-heads", HEAD("GET", "/v2/templates") "X-Large: ", 100000, 100, 0, 0, true },
	{ "comers-and-goers", "", 0, 100, 0, 0, true },
	{ "guesses", HEAD("POST", "/v2/token") JSON "Content-Length: 23\r\n\r\n{\"code\":\"abc-defg-hij\"}", 0, 100, 0, 0, false },
	{ "bad-tokens", HEAD("GET", "/v2/templates") "Authorization: Bearer x%t\r\n\r\n", 0, 100, 0, 0, false },
	{ "bad-bodies", HEAD("POST", "/v2/templates") "Authorization: Bearer %t\r\n" JSON "Content-Length: 20\r\n\r\n{\"roles\":{\"a\":[[[[[[", 0, 100, 0, 0, false },
};
/* clang-format on */

#define KINDS ROWS(kinds)
#define CONNECTIONS_MOST 4096

struct connection {
	const struct kind *kind;
	int descriptor; /* -1 if closed */
	int64_t first; /* time of the first action */
	int64_t next; /* time of the next action */
	size_t sent;
	size_t may_send; /* limit of `sent` until the next action */
	size_t may_take; /* bytes it may receive until the next action */
};

struct abuser {
	struct sockaddr_in server;
	char *texts[KINDS];
	size_t sizes[KINDS];
	struct connection connections[CONNECTIONS_MOST];
	size_t count;
	size_t awaited; /* responses that must have begun before `there` is printed */
	int64_t began;
	unsigned long acts;
	unsigned long answers[KINDS][STATUSES];
};

static _Noreturn void give_up(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

/* ---- texts ---- */

static void prepare(struct abuser *abuser, size_t i, const char *token)
{
	const struct kind *kind = &kinds[i];
	size_t size = strlen(kind->text) + strlen(token) + kind->letters;
	char *text = malloc(size + 1);
	char *end = text;

	if (text == NULL)
		give_up("memory");
	for (const char *from = kind->text; *from != '\0'; from++) {
		if (strncmp(from, "%t", 2) == 0) {
			end = stpcpy(end, token);
			from++;
		} else {
			*end++ = *from;
		}
	}
	memset(end, 'x', kind->letters);
	abuser->texts[i] = text;
	abuser->sizes[i] = (size_t)(end - text) + kind->letters;
}

/* ---- connections ---- */

static size_t place_of(const struct connection *connection)
{
	return (size_t)(connection->kind - kinds);
}

static void hang_up(struct connection *connection)
{
	if (connection->descriptor >= 0)
		close(connection->descriptor);
	connection->descriptor = -1;
}

static void come(const struct abuser *abuser, struct connection *connection)
{
	const struct sockaddr_in from = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(FROM) };
	const int small = 4096, yes = 1;
	int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (descriptor < 0 ||
	    setsockopt(descriptor, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof yes) != 0 ||
	    bind(descriptor, (const struct sockaddr *)&from, sizeof from) != 0)
		give_up("a connection");
	if (connection->kind->take_most > 0)
		(void)setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
	if (connect(descriptor, (const struct sockaddr *)&abuser->server, sizeof abuser->server) !=
		    0 &&
	    errno != EINPROGRESS)
		give_up("connect");
	connection->descriptor = descriptor;
	connection->sent = 0;
}

static void send_some(const struct abuser *abuser, struct connection *connection)
{
	size_t place = place_of(connection);
	ssize_t sent;

	if (connection->sent >= connection->may_send)
		return;
	sent = send(connection->descriptor, abuser->texts[place] + connection->sent,
		    connection->may_send - connection->sent, MSG_NOSIGNAL);
	if (sent > 0)
		connection->sent += (size_t)sent;
	else if (errno != EAGAIN)
		connection->sent = connection->may_send;
}

/* The first bytes of a response are the first that recv returns, because each request is sent only
 * after the previous response has arrived. */
static void note_status(struct abuser *abuser, const struct connection *connection,
			const char *bytes, size_t size)
{
	int64_t status;

	if (size >= 12 && memcmp(bytes, "HTTP/1.1 ", 9) == 0 &&
	    text_integer((struct slice){ bytes + 9, 3 }, &status) && status < STATUSES)
		abuser->answers[place_of(connection)][status]++;
}

static void take_some(struct abuser *abuser, struct connection *connection)
{
	char bytes[65536];
	size_t most = connection->may_take < sizeof bytes ? connection->may_take : sizeof bytes;
	ssize_t taken;

	if (most == 0)
		return;
	taken = recv(connection->descriptor, bytes, most, 0);
	if (taken > 0) {
		note_status(abuser, connection, bytes, (size_t)taken);
		connection->may_take -= (size_t)taken;
	} else if (taken == 0 || errno != EAGAIN) {
		hang_up(connection);
	}
}

static size_t or_all(size_t most)
{
	return most == 0 ? SIZE_MAX : most;
}

/* Performs the connection's next action. */
static void act(struct abuser *abuser, struct connection *connection, int64_t now)
{
	const struct kind *kind = connection->kind;
	size_t size = abuser->sizes[place_of(connection)];

	abuser->acts++;
	connection->next += kind->pause;
	if (connection->next <= now)
		connection->next = now + 1;
	if (kind->hangs_up && (kind->send_most == 0 || connection->sent == size))
		hang_up(connection);
	if (connection->descriptor < 0)
		come(abuser, connection);
	if (kind->send_most == 0 && kind->take_most == 0 && connection->sent == size)
		connection->sent = 0;
	connection->may_send = size;
	if (kind->send_most > 0 && size - connection->sent > kind->send_most)
		connection->may_send = connection->sent + kind->send_most;
	connection->may_take = or_all(kind->take_most);
}

/* ---- all connections ---- */

static short wanted_of(const struct connection *connection)
{
	bool sends = connection->sent < connection->may_send;

	return (short)((sends ? POLLOUT : 0) | (connection->may_take > 0 ? POLLIN : 0));
}

/* Fills the array for poll and returns the milliseconds until the next action of any connection. */
static int fill(const struct abuser *abuser, struct pollfd *polled, int64_t now)
{
	int64_t next = now + 1000;

	for (size_t i = 0; i < abuser->count; i++) {
		const struct connection *connection = &abuser->connections[i];
		short wanted = wanted_of(connection);

		polled[i] = (struct pollfd){
			.fd = wanted == 0 ? -1 : connection->descriptor,
			.events = wanted,
		};
		if (connection->next < next)
			next = connection->next;
	}
	polled[abuser->count] = (struct pollfd){ .fd = STDIN_FILENO, .events = POLLIN };
	return next > now ? (int)(next - now) : 0;
}

static bool are_there(const struct abuser *abuser)
{
	size_t answered = 0;

	for (size_t i = 0; i < KINDS; i++)
		for (size_t status = 0; status < STATUSES; status++)
			answered += abuser->answers[i][status];
	return answered >= abuser->awaited && clock_monotonic() - abuser->began >= 2000;
}

static void run(struct abuser *abuser)
{
	struct pollfd polled[CONNECTIONS_MOST + 1];
	bool is_said = false;

	do {
		if (!is_said && are_there(abuser))
			is_said = puts("there") >= 0 && fflush(stdout) == 0;
		if (poll(polled, abuser->count + 1, fill(abuser, polled, clock_monotonic())) < 0)
			give_up("poll");
		for (size_t i = 0; i < abuser->count; i++) {
			struct connection *connection = &abuser->connections[i];
			int64_t now = clock_monotonic();

			if ((polled[i].revents & POLLOUT) != 0)
				send_some(abuser, connection);
			if ((polled[i].revents & (POLLIN | POLLHUP | POLLERR)) != 0)
				take_some(abuser, connection);
			if (now >= connection->next)
				act(abuser, connection, now);
		}
	} while (polled[abuser->count].revents == 0);
}

/* Spreads the first actions evenly over the pause of the kind: independent clients do not act in
 * step either. */
static void place(struct abuser *abuser, const struct kind *from, size_t n)
{
	int64_t now = clock_monotonic();

	abuser->began = now;
	for (size_t i = 0; i < abuser->count; i++) {
		const struct kind *kind = &from[i % n];
		int64_t first = now + (int64_t)i * kind->pause / (int64_t)abuser->count;

		abuser->connections[i] = (struct connection){
			.kind = kind,
			.descriptor = -1,
			.first = first,
			.next = first,
		};
	}
}

static bool place_one_kind(struct abuser *abuser, const char *name, const char *count)
{
	int64_t n;

	if (!text_integer(slice_of(count), &n) || n < 1 || n > CONNECTIONS_MOST)
		return false;
	abuser->count = (size_t)n;
	for (size_t i = 0; i < KINDS; i++) {
		if (strcmp(kinds[i].name, name) == 0) {
			place(abuser, &kinds[i], 1);
			abuser->awaited = kinds[i].take_most > 0 ? abuser->count : 0;
			return true;
		}
	}
	return false;
}

static bool place_all(struct abuser *abuser, int argc, char **argv)
{
	if (argc == 4)
		return place_one_kind(abuser, argv[2], argv[3]);
	abuser->count = KINDS * OF_A_KIND;
	place(abuser, kinds, KINDS);
	return argc == 2;
}

/* Returns the number of actions that would have been due by now without any delay. */
static unsigned long acts_due(const struct abuser *abuser)
{
	int64_t now = clock_monotonic();
	unsigned long due = 0;

	for (size_t i = 0; i < abuser->count; i++) {
		const struct connection *connection = &abuser->connections[i];

		if (now >= connection->first)
			due += (unsigned long)((now - connection->first) /
					       connection->kind->pause) +
			       1;
	}
	return due;
}

static void report(const struct abuser *abuser)
{
	printf("did %lu of %lu\n", abuser->acts, acts_due(abuser));
	for (size_t i = 0; i < KINDS; i++) {
		printf("%s", kinds[i].name);
		for (int status = 0; status < STATUSES; status++)
			if (abuser->answers[i][status] > 0)
				printf(" %d:%lu", status, abuser->answers[i][status]);
		printf("\n");
	}
}

int main(int argc, char **argv)
{
	static struct abuser abuser;
	char token[TOKEN_SIZE];
	int64_t port;

	if (!place_all(&abuser, argc, argv) || !text_integer(slice_of(argv[1]), &port) ||
	    fgets(token, sizeof token, stdin) == NULL) {
		fprintf(stderr, "usage: tests/tools/abuser PORT [KIND N] <TOKEN\n");
		return EXIT_FAILURE;
	}
	token[strcspn(token, "\n")] = '\0';
	abuser.server = (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(TO),
	};
	for (size_t i = 0; i < KINDS; i++)
		prepare(&abuser, i, token);
	if (sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){ .sched_priority = 0 }) != 0)
		give_up("sched_setscheduler");
	run(&abuser);
	report(&abuser);
	for (size_t i = 0; i < abuser.count; i++)
		hang_up(&abuser.connections[i]);
	for (size_t i = 0; i < KINDS; i++)
		free(abuser.texts[i]);
	return EXIT_SUCCESS;
}
