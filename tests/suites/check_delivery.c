/* The senders: which addresses they connect to, and how they treat the responses of receivers; and
 * requests to object storage. The program is named by $ANTEROOM, else ./anteroom.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <arpa/inet.h>
#include <check.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "bucket_server.h"
#include "delivery/address.h"
#include "delivery/bucket.h"
#include "delivery/sender.h"
#include "directory.h"
#include "names.h"
#include "receiver.h"
#include "suite.h"

#define PATIENCE 1500 /* milliseconds per delivery */
#define WAIT_MOST 20000

/* ---- addresses ---- */

/* clang-format off */
static const struct { const char *address; bool is_global; } addresses[] = {
	{ "8.8.8.8", true },
	{ "0.0.0.0", false }, { "0.255.255.255", false }, { "1.0.0.0", true },
	{ "9.255.255.255", true }, { "10.0.0.0", false }, { "10.255.255.255", false }, { "11.0.0.0", true },
	{ "100.63.255.255", true }, { "100.64.0.0", false }, { "100.127.255.255", false }, { "100.128.0.0", true },
	{ "126.255.255.255", true }, { "127.0.0.1", false }, { "127.255.255.255", false }, { "128.0.0.0", true },
	{ "169.253.255.255", true }, { "169.254.0.0", false }, { "169.254.169.254", false }, { "169.255.0.0", true },
	{ "172.15.255.255", true }, { "172.16.0.0", false }, { "172.31.255.255", false }, { "172.32.0.0", true },
	{ "191.255.255.255", true }, { "192.0.0.0", false }, { "192.0.0.255", false }, { "192.0.1.0", true },
	{ "192.0.2.1", false }, { "192.0.3.0", true }, { "192.88.98.255", true }, { "192.88.99.1", false },
	{ "192.167.255.255", true }, { "192.168.0.0", false }, { "192.168.255.255", false }, { "192.169.0.0", true },
	{ "198.17.255.255", true }, { "198.18.0.0", false }, { "198.19.255.255", false }, { "198.20.0.0", true },
	{ "198.51.100.7", false }, { "198.51.101.0", true }, { "203.0.113.7", false }, { "203.0.114.0", true },
	{ "223.255.255.255", true }, { "224.0.0.1", false }, { "239.255.255.255", false },
	{ "240.0.0.0", false }, { "255.255.255.255", false },

	{ "2600::1", true }, { "2a00:1450::5", true },
	{ "::", false }, { "::1", false }, { "::2", false },
	{ "::127.0.0.1", false }, { "::8.8.8.8", true },
	{ "::ffff:127.0.0.1", false }, { "::ffff:10.1.2.3", false }, { "::ffff:169.254.169.254", false },
	{ "::ffff:8.8.8.8", true }, { "::ffff:0:192.168.0.1", false }, { "::ffff:0:8.8.8.8", true },
	{ "64:ff9b::127.0.0.1", false }, { "64:ff9b::a9fe:a9fe", false }, { "64:ff9b::8.8.8.8", true },
	{ "64:ff9b:1::8.8.8.8", false },
	{ "2002:7f00:1::", false }, { "2002:a00:1::1", false }, { "2002:808:808::1", true },
	{ "2001:0:808:808::f7f7:f7f7", true },		/* Teredo, server and client 8.8.8.8 */
	{ "2001:0:a00:1::f7f7:f7f7", false },		/* server 10.0.0.1 */
	{ "2001:0:808:808::80ff:fffe", false },		/* client 127.0.0.1 */
	{ "2001:2::1", false }, { "2001:10::1", false }, { "2001:1ff:ffff::1", false }, { "2001:200::1", true },
	{ "2001:db8::1", false }, { "2001:db9::1", true }, { "3fff::1", false }, { "3fff:fff::1", false },
	{ "3fff:1000::1", true },
	{ "2600::5efe:127.0.0.1", false }, { "2600::200:5efe:10.0.0.1", false }, { "2600::5efe:8.8.8.8", true },
	{ "fc00::1", false }, { "fd12:3456::1", false }, { "fe80::1", false }, { "febf::1", false },
	{ "fec0::1", false }, { "ff02::1", false }, { "ff0e::1", false },
	{ "100::1", false }, { "1fff::1", false }, { "4000::1", false }, { "5f00::1", false },
};
/* clang-format on */

START_TEST(an_address_is_global_or_not)
{
	const char *text = addresses[_i].address;
	struct sockaddr_in four = { .sin_family = AF_INET };
	struct sockaddr_in6 six = { .sin6_family = AF_INET6 };
	const bool is_four = inet_pton(AF_INET, text, &four.sin_addr) == 1;

	ck_assert_msg(is_four || inet_pton(AF_INET6, text, &six.sin6_addr) == 1, "%s", text);
	ck_assert_msg(address_is_global(is_four ? (const struct sockaddr *)&four
						: (const struct sockaddr *)&six) ==
			      addresses[_i].is_global,
		      "%s", text);
}
END_TEST

START_TEST(other_address_families_are_not_global)
{
	const struct sockaddr local = { .sa_family = AF_UNIX };

	ck_assert(!address_is_global(&local));
}
END_TEST

/* clang-format off */
static const struct { const char *range; const char *in[3], *out[3]; } ranges[] = {
	{ "127.0.0.0/8", { "127.0.0.1", "127.255.255.255", "::ffff:127.0.0.1" }, { "128.0.0.1", "126.1.1.1", "::1" } },
	{ "10.1.2.3", { "10.1.2.3" }, { "10.1.2.2", "10.1.2.4" } },
	{ "0.0.0.0/0", { "1.2.3.4", "127.0.0.1" }, { "::1", "fd00::1" } },
	{ "fd00::/8", { "fd12::1", "fdff::" }, { "fc00::1", "::ffff:253.0.0.1" } },
	{ "::1", { "::1" }, { "::2", "127.0.0.1" } },
	{ "10.0.0.0/8,::1,192.168.0.1", { "10.9.9.9", "::1", "192.168.0.1" }, { "192.168.0.2", "::2" } },
	{ "192.168.4.0/22", { "192.168.4.0", "192.168.7.255" }, { "192.168.3.255", "192.168.8.0" } },
};
static const char *const bad_ranges[] = {
	"", "/8", "127.0.0.0/", "127.0.0.0/33", "127.0.0.0/-1", "127.0.0.1/8", "127.0.0/8", "host", "fd00::/129",
	"fd00::1/64", "10.0.0.0/8/8", "10.0.0.0/8,", ",", "10.0.0.0/8,,::1", "10.0.0.0/ 8", "127.0.0.0/99999999999999999999",
	"1111:1111:1111:1111:1111:1111:1111:1111:1111:1111/1",
};
/* clang-format on */

static bool is_within(const char *text, const struct address_ranges *range)
{
	struct sockaddr_in four = { .sin_family = AF_INET };
	struct sockaddr_in6 six = { .sin6_family = AF_INET6 };

	if (inet_pton(AF_INET, text, &four.sin_addr) == 1)
		return address_is_within((const struct sockaddr *)&four, range);
	ck_assert_int_eq(inet_pton(AF_INET6, text, &six.sin6_addr), 1);
	return address_is_within((const struct sockaddr *)&six, range);
}

START_TEST(a_range_has_its_addresses)
{
	struct address_ranges range;

	ck_assert(address_ranges_read(slice_of(ranges[_i].range), &range));
	for (size_t i = 0; i < 3; i++) {
		if (ranges[_i].in[i] != NULL)
			ck_assert_msg(is_within(ranges[_i].in[i], &range), "%s", ranges[_i].in[i]);
		if (ranges[_i].out[i] != NULL)
			ck_assert_msg(!is_within(ranges[_i].out[i], &range), "%s",
				      ranges[_i].out[i]);
	}
}
END_TEST

START_TEST(a_bad_range_is_refused)
{
	struct address_ranges range;

	ck_assert(!address_ranges_read(slice_of(bad_ranges[_i]), &range));
}
END_TEST

/* ---- deliveries ---- */

static const char *program(void)
{
	const char *named = getenv("ANTEROOM");

	return named != NULL ? named : "./anteroom";
}

static struct sender *open_sender(struct sender_options *options)
{
	struct fault fault = FAULT_INITIAL;
	struct sender *sender;

	options->purpose = options->purpose != NULL ? options->purpose : &sender_of_webhooks;
	options->program = program();
	if (options->purpose != &sender_of_uploads)
		options->patience = PATIENCE;
	ck_assert_msg(sender_open(options, &sender, &fault), "%s", fault_reason(&fault));
	return sender;
}

static enum sender_result wait_for_result(struct sender *sender, struct outcome *outcome)
{
	const int64_t until = clock_monotonic() + WAIT_MOST;
	enum sender_result taken;

	while ((taken = sender_take(sender, outcome)) == SENDER_NOTHING &&
	       clock_monotonic() < until) {
		struct pollfd polled = { .fd = sender_descriptor(sender), .events = POLLIN };

		(void)poll(&polled, 1, 100);
	}
	return taken;
}

static struct outcome deliver(struct sender *sender, const char *url)
{
	const struct delivery delivery = {
		.number = 77,
		.url = slice_of(url),
		.headers = SLICE("Content-Type: application/json\nwebhook-id: one\nX-Own: 1"),
		.body = SLICE("{\"a\":1}"),
	};
	struct outcome outcome;

	ck_assert(sender_give(sender, &delivery));
	ck_assert_int_eq(wait_for_result(sender, &outcome), SENDER_OUTCOME);
	ck_assert_uint_eq(outcome.number, 77);
	return outcome;
}

/* In seconds: stands for any Retry-After of at least 365 days. */
#define YEARS ((int64_t)365 * 24 * 60 * 60)

static const struct {
	const char *path;
	int status;
	int64_t retry_after;
	const char *error;
} answers[] = {
	{ "/200", 200, 0, "" },
	{ "/204", 204, 0, "" },
	{ "/410", 410, 0, "" },
	{ "/500", 500, 0, "" },
	{ "/429/7", 429, 7, "" },
	{ "/503/90000", 503, 90000, "" },
	{ "/503/0", 503, 0, "" },
	{ "/503/-7", 503, 0, "" },
	{ "/503/7s", 503, 0, "" },
	{ "/503/soon", 503, 0, "" },
	{ "/503/Thu,_31_Dec_2020_23:59:59_GMT", 503, 0, "" },
	{ "/503/Fri,_31_Dec_2100_23:59:59_GMT", 503, YEARS, "" },
	{ "/503/99999999999999999999", 503, YEARS, "" },
	{ "/redirect", 302, 0, "" },
	{ "/held", 0, 0, "timed out" },
	{ "/close", 0, 0, "connection closed" },
	{ "/middle", 200, 0, "connection closed" },
	{ "/endless", 200, 0, "" },
	{ "/trickle", 200, 0, "response headers too large" },
	{ "/wide", 200, 0, "response headers too large" },
	{ "/other", 0, 0, "no HTTP response" },
	{ "/length/x", 200, 0, "no HTTP response" },
	{ "/length/99999999999999999999", 200, 0, "" },
	{ "/length/5", 200, 0, "connection closed" },
};

START_TEST(a_response_gives_an_outcome)
{
	struct receiver *receiver = receiver_open();
	struct sender_options options = { .allows_http = true, .allows_private = true };
	struct sender *sender = open_sender(&options);
	struct outcome outcome;
	char url[100], value[100];

	(void)snprintf(url, sizeof url, "http://127.0.0.1:%u%s", receiver_port(receiver),
		       answers[_i].path);
	outcome = deliver(sender, url);
	ck_assert_str_eq(outcome.error, answers[_i].error);
	ck_assert_int_eq(outcome.status, answers[_i].status);
	if (answers[_i].retry_after == YEARS)
		ck_assert_int_ge(outcome.retry_after, YEARS);
	else
		ck_assert_int_eq(outcome.retry_after, answers[_i].retry_after);
	/* A redirect is not followed. */
	ck_assert_uint_eq(receiver_count(receiver), 1);
	ck_assert_str_eq(receiver_request(receiver, 0)->body, "{\"a\":1}");
	ck_assert(
		received_header(receiver_request(receiver, 0), "User-Agent", value, sizeof value));
	ck_assert_str_eq(value, "Anteroom/" PACKAGE_VERSION);
	ck_assert(received_header(receiver_request(receiver, 0), "Content-Type", value,
				  sizeof value));
	ck_assert_str_eq(value, "application/json");
	sender_close(sender);
	receiver_close(receiver);
}
END_TEST

/* What a sender of requests to media servers passes on of a response. path: at a receiver. */
static const struct {
	const char *path;
	size_t answer_most;
	int status;
	enum sender_failure failure;
	size_t size;
} bodies[] = {
	{ "/200", 1000, 200, SENDER_NO_FAILURE, 0 },
	{ "/body/1", 1, 200, SENDER_NO_FAILURE, 1 },
	{ "/body/1000", 1000, 200, SENDER_NO_FAILURE, 1000 },
	{ "/body/1001", 1000, 200, SENDER_TOO_LONG, 0 },
	/* It ends before any of its body, which is not waited for. */
	{ "/length/1001", 1000, 200, SENDER_TOO_LONG, 0 },
	{ "/length/1000", 1000, 200, SENDER_REFUSED, 0 },
	{ "/body/65536", 65536, 200, SENDER_NO_FAILURE, 65536 },
	{ "/body/65537", 100000, 200, SENDER_NO_FAILURE, 65537 },
	{ "/body/3000000", 4000000, 200, SENDER_NO_FAILURE, 3000000 },
	{ "/endless", 1000000, 200, SENDER_TOO_LONG, 0 },
	{ "/middle", 1000, 200, SENDER_REFUSED, 0 },
	{ "/close", 1000, 0, SENDER_REFUSED, 0 },
	{ "/trickle", 1000, 200, SENDER_NO_HTTP, 0 },
	{ "/other", 1000, 0, SENDER_NO_HTTP, 0 },
	{ "/held", 1000, 0, SENDER_TIMED_OUT, 0 },
	{ "/redirect", 1000, 302, SENDER_NO_FAILURE, 0 },
};

START_TEST(a_wanted_body_is_passed_on)
{
	struct receiver *receiver = receiver_open();
	struct sender_options options = { .purpose = &sender_of_media, .allows_http = true };
	struct outcome outcome;
	struct sender *sender;
	struct delivery delivery = {
		.number = 5,
		.headers = SLICE("Content-Type: application/json"),
		.body = SLICE("{}"),
		.answer_most = bodies[_i].answer_most,
	};
	char url[100];

	ck_assert(address_ranges_read(SLICE("127.0.0.0/8"), &options.ranges));
	sender = open_sender(&options);
	(void)snprintf(url, sizeof url, "http://127.0.0.1:%u%s", receiver_port(receiver),
		       bodies[_i].path);
	delivery.url = slice_of(url);
	/* The second one may get a connection that is kept; one that must not be made twice gets
	 * its own. */
	for (unsigned i = 0; i < 3; i++) {
		delivery.is_once = i == 2;
		ck_assert(sender_give(sender, &delivery));
		ck_assert_int_eq(wait_for_result(sender, &outcome), SENDER_OUTCOME);
		ck_assert_int_eq(outcome.status, bodies[_i].status);
		ck_assert_msg(outcome.failure == bodies[_i].failure, "%s", outcome.error);
		ck_assert_uint_eq(outcome.answer_size, bodies[_i].size);
		ck_assert(outcome.was_sent);
		ck_assert((outcome.error[0] == '\0') == (outcome.failure == SENDER_NO_FAILURE));
		ck_assert(outcome.answer == NULL || strspn(outcome.answer, "x") == bodies[_i].size);
		ck_assert_int_eq(outcome.date,
				 strncmp(bodies[_i].path, "/body", 5) == 0 ? 1795773600 : 0);
		free(outcome.answer);
	}
	sender_close(sender);
	receiver_close(receiver);
}
END_TEST

/* A request may wait for less than others, but not for longer. */
START_TEST(a_request_may_have_less_time)
{
	static const unsigned limits[] = { 50, 0, 60000 };
	struct receiver *receiver = receiver_open();
	struct sender_options options = { .purpose = &sender_of_media,
					  .allows_http = true,
					  .allows_private = true };
	struct sender *sender = open_sender(&options);
	struct outcome outcome;
	char url[100];

	(void)snprintf(url, sizeof url, "http://127.0.0.1:%u/held", receiver_port(receiver));
	for (size_t i = 0; i < ROWS(limits); i++) {
		const struct delivery delivery = {
			.number = 5,
			.url = slice_of(url),
			.body = SLICE("{}"),
			.patience = limits[i],
		};
		const int64_t begun = clock_monotonic();

		ck_assert(sender_give(sender, &delivery));
		ck_assert_int_eq(wait_for_result(sender, &outcome), SENDER_OUTCOME);
		ck_assert_int_eq(outcome.failure, SENDER_TIMED_OUT);
		ck_assert_int_eq(clock_monotonic() - begun < PATIENCE, i == 0);
		ck_assert(clock_monotonic() - begun < 60000);
	}
	sender_close(sender);
	receiver_close(receiver);
}
END_TEST

START_TEST(a_range_allows_its_addresses_alone)
{
	struct receiver *receiver = receiver_open();
	struct sender_options options = { .purpose = &sender_of_media, .allows_http = true };
	struct sender *sender;
	struct outcome outcome;
	char url[100];

	ck_assert(address_ranges_read(SLICE("127.0.0.2/31"), &options.ranges));
	sender = open_sender(&options);
	(void)snprintf(url, sizeof url, "http://127.0.0.1:%u/200", receiver_port(receiver));
	outcome = deliver(sender, url);
	ck_assert_int_eq(outcome.failure, SENDER_NOT_ALLOWED);
	ck_assert_str_eq(outcome.error, "address not allowed");
	ck_assert(!outcome.was_sent);
	ck_assert_uint_eq(receiver_count(receiver), 0);
	(void)snprintf(url, sizeof url, "http://127.0.0.2:%u/200", receiver_port(receiver));
	ck_assert_int_eq(deliver(sender, url).failure, SENDER_REFUSED);
	sender_close(sender);
	receiver_close(receiver);
}
END_TEST

/* Names and spellings of internal addresses; no receiver at them gets a connection. */
static const char *const insides[] = {
	"http://127.0.0.1:%u/200",
	"http://localhost:%u/200",
	"http://127.1:%u/200",
	"http://2130706433:%u/200",
	"http://0x7f000001:%u/200",
	"http://0177.0.0.1:%u/200",
	"http://0.0.0.0:%u/200",
	"http://0:%u/200",
	"http://[::1]:%u/200",
	"http://[::]:%u/200",
	"http://[::ffff:127.0.0.1]:%u/200",
	"http://[::ffff:7f00:1]:%u/200",
	"http://[::127.0.0.1]:%u/200",
	"http://[64:ff9b::7f00:1]:%u/200",
	"http://[2002:7f00:1::]:%u/200",
	"http://169.254.169.254:%u/latest/meta-data/",
	"http://10.0.0.1:%u/200",
	"http://[fe80::1]:%u/200",
	"http://[fd00::1]:%u/200",
};

START_TEST(internal_addresses_are_not_allowed)
{
	struct receiver *receiver = receiver_open();
	struct sender_options options = { .allows_http = true };
	struct sender *sender = open_sender(&options);
	struct outcome outcome;
	char url[100];

/* Each row of the table above contains one %u. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	(void)snprintf(url, sizeof url, insides[_i], receiver_port(receiver));
#pragma GCC diagnostic pop
	outcome = deliver(sender, url);
	ck_assert_str_eq(outcome.error, "address not allowed");
	ck_assert_int_eq(outcome.status, 0);
	ck_assert_uint_eq(receiver_count(receiver), 0);
	sender_close(sender);
	receiver_close(receiver);
}
END_TEST

/* ---- names ---- */

/* The addresses of a name at the first look-up and at later ones; the second look-up is by another
 * sender. Only the receiver at the public address gets connections. errors: of the first and the
 * second delivery. */
static const struct {
	const char *first[NAMES_ADDRESSES_MOST + 1], *later[NAMES_ADDRESSES_MOST + 1];
	const char *errors[2];
} namings[] = {
#define REFUSED "address not allowed"
	{ { NAMES_PUBLIC }, { NAMES_PUBLIC }, { "", "" } },
	{ { "127.0.0.1" }, { "10.0.0.1" }, { REFUSED, REFUSED } },
	{ { "169.254.169.254" }, { "0.0.0.0" }, { REFUSED, REFUSED } },
	{ { "::1" }, { "::ffff:127.0.0.1" }, { REFUSED, REFUSED } },
	{ { "64:ff9b::7f00:1" }, { "2002:7f00:1::" }, { REFUSED, REFUSED } },
	{ { "fe80::1" }, { "fc00::1" }, { REFUSED, REFUSED } },
	/* The name has another address at the second look-up. */
	{ { NAMES_PUBLIC }, { "127.0.0.1" }, { "", REFUSED } },
	{ { NAMES_PUBLIC }, { "::ffff:127.0.0.1" }, { "", REFUSED } },
	{ { NAMES_PUBLIC }, { "fe80::1", "fc00::1", "10.0.0.1" }, { "", REFUSED } },
	{ { "127.0.0.1" }, { NAMES_PUBLIC }, { REFUSED, "" } },
	/* Some of the addresses are internal: a public one is used. */
	{ { NAMES_PUBLIC, "127.0.0.1" }, { "127.0.0.1", NAMES_PUBLIC }, { "", "" } },
	{ { "::1", NAMES_PUBLIC }, { "::ffff:127.0.0.1", NAMES_PUBLIC }, { "", "" } },
	{ { NAMES_PUBLIC, "10.0.0.1", "::1" }, { "127.0.0.1", "::1" }, { "", REFUSED } },
};

static bool has_six(const char *const *named)
{
	while (*named != NULL && strchr(*named, ':') == NULL)
		named++;
	return *named != NULL;
}

static bool machine_has_six(void)
{
	const int six = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (six >= 0)
		close(six);
	return six >= 0;
}

/* Returns false if the test must be skipped. */
static bool open_names(void)
{
	if (names_open())
		return true;
	fprintf(stderr, "left out: namespaces are not available\n");
	return false;
}

START_TEST(each_look_up_of_a_name_is_checked)
{
	const struct sender_options options = { .allows_http = true };
	struct receiver *inside, *outside;
	char url[100];
	size_t reached = 0;

	if (!open_names() ||
	    ((has_six(namings[_i].first) || has_six(namings[_i].later)) && !machine_has_six()))
		return;
	inside = receiver_open();
	outside = receiver_open_at(NAMES_PUBLIC, receiver_port(inside));
	names_set(namings[_i].first, namings[_i].later);
	(void)snprintf(url, sizeof url, "http://name.example:%u/200", receiver_port(inside));
	for (unsigned i = 0; i < 2; i++) {
		struct sender_options own = options;
		struct sender *sender = open_sender(&own);
		const struct outcome outcome = deliver(sender, url);

		ck_assert_str_eq(outcome.error, namings[_i].errors[i]);
		reached += outcome.error[0] == '\0';
		sender_close(sender);
		ck_assert_uint_eq(names_looked_up(), i + 1);
	}
	ck_assert_uint_eq(receiver_count(inside), 0);
	ck_assert_uint_eq(receiver_count(outside), reached);
	receiver_close(outside);
	receiver_close(inside);
}
END_TEST

/* The name has two addresses, and no receiver listens on the one that is allowed: the other one is
 * not tried instead. */
START_TEST(a_name_with_an_internal_address_is_not_tried_there)
{
	static const char *const both[] = { NAMES_PUBLIC, "127.0.0.1", NULL };
	struct sender_options options = { .allows_http = true };
	struct receiver *inside;
	struct sender *sender;
	char url[100];

	if (!open_names())
		return;
	inside = receiver_open();
	sender = open_sender(&options);
	names_set(both, both);
	(void)snprintf(url, sizeof url, "http://name.example:%u/200", receiver_port(inside));
	ck_assert_str_eq(deliver(sender, url).error, REFUSED);
	ck_assert_uint_eq(receiver_count(inside), 0);
	sender_close(sender);
	receiver_close(inside);
}
END_TEST

START_TEST(a_redirect_to_an_internal_address_is_not_followed)
{
	static const char *const only[] = { NAMES_PUBLIC, NULL };
	struct sender_options options = { .allows_http = true };
	struct receiver *inside, *outside;
	struct sender *sender;
	struct outcome outcome;
	char url[100];

	if (!open_names())
		return;
	inside = receiver_open();
	outside = receiver_open_at(NAMES_PUBLIC, 0);
	sender = open_sender(&options);
	names_set(only, only);
	(void)snprintf(url, sizeof url, "http://name.example:%u/redirect/%u",
		       receiver_port(outside), receiver_port(inside));
	outcome = deliver(sender, url);
	ck_assert_str_eq(outcome.error, "");
	ck_assert_int_eq(outcome.status, 302);
	ck_assert_uint_eq(receiver_count(outside), 1);
	ck_assert_uint_eq(receiver_count(inside), 0);
	sender_close(sender);
	receiver_close(outside);
	receiver_close(inside);
}
END_TEST

static const struct {
	const char *url, *error;
} refused[] = {
	{ "http://127.0.0.1:1/", "protocol not allowed" },
	{ "ftp://127.0.0.1/", "protocol not allowed" },
	{ "file:///etc/passwd", "protocol not allowed" },
	{ "gopher://127.0.0.1/", "protocol not allowed" },
	{ "https://", "not a valid URL" },
	{ "https://127.0.0.1:1/", "cannot connect" },
	{ "https://no-such-host.invalid/", "host not found" },
};

START_TEST(bad_urls_and_hosts_have_their_errors)
{
	struct sender_options options = { .allows_private = true };
	struct sender *sender = open_sender(&options);
	const struct outcome outcome = deliver(sender, refused[_i].url);

	ck_assert_str_eq(outcome.error, refused[_i].error);
	sender_close(sender);
}
END_TEST

/* A receiver that does not speak TLS. */
START_TEST(a_receiver_without_tls_is_an_error)
{
	struct receiver *receiver = receiver_open();
	struct sender_options options = { .allows_private = true };
	struct sender *sender = open_sender(&options);
	char url[100];

	(void)snprintf(url, sizeof url, "https://127.0.0.1:%u/held", receiver_port(receiver));
	ck_assert_str_ne(deliver(sender, url).error, "");
	sender_close(sender);
	receiver_close(receiver);
}
END_TEST

/* As many deliveries as there may be, all stalled by their receiver, and one more, which is not
 * stalled. */
START_TEST(many_stalled_deliveries_do_not_stop_another)
{
	struct receiver *receiver = receiver_open();
	struct sender_options options = { .allows_http = true, .allows_private = true };
	struct sender *sender = open_sender(&options);
	struct outcome outcome;
	char held[100], quick[100];
	bool seen[SENDER_MOST] = { false };

	(void)snprintf(held, sizeof held, "http://127.0.0.1:%u/held", receiver_port(receiver));
	(void)snprintf(quick, sizeof quick, "http://127.0.0.1:%u/200", receiver_port(receiver));
	for (unsigned i = 0; i < SENDER_MOST; i++) {
		const struct delivery delivery = {
			.number = i,
			.url = slice_of(i + 1 < SENDER_MOST ? held : quick),
			.headers = SLICE(""),
			.body = SLICE("{}"),
		};

		ck_assert(sender_give(sender, &delivery));
	}
	ck_assert_int_eq(wait_for_result(sender, &outcome), SENDER_OUTCOME);
	ck_assert_uint_eq(outcome.number, SENDER_MOST - 1);
	ck_assert(receiver_wait(receiver, SENDER_MOST));
	receiver_release(receiver);
	for (unsigned i = 0; i + 1 < SENDER_MOST; i++) {
		ck_assert_int_eq(wait_for_result(sender, &outcome), SENDER_OUTCOME);
		ck_assert_int_eq(outcome.status, 200);
		ck_assert(!seen[outcome.number]);
		seen[outcome.number] = true;
	}
	ck_assert_uint_eq(receiver_most_at_once(receiver), SENDER_MOST - 1);
	sender_close(sender);
	receiver_close(receiver);
}
END_TEST

/* Returns the only child of this process. */
static pid_t child(void)
{
	char path[100], text[100] = "";
	FILE *file;

	(void)snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
	file = fopen(path, "re");
	ck_assert_ptr_nonnull(file);
	ck_assert_ptr_nonnull(fgets(text, sizeof text, file));
	fclose(file);
	return (pid_t)strtol(text, NULL, 10);
}

START_TEST(a_killed_sender_is_reported)
{
	struct receiver *receiver = receiver_open();
	struct sender_options options = { .allows_http = true, .allows_private = true };
	struct sender *sender = open_sender(&options);
	struct outcome outcome;
	char url[100];

	(void)snprintf(url, sizeof url, "http://127.0.0.1:%u/200", receiver_port(receiver));
	ck_assert_int_eq(deliver(sender, url).status, 200);
	ck_assert_int_eq(kill(child(), SIGTERM), 0);
	ck_assert_int_eq(deliver(sender, url).status, 200);
	ck_assert_int_eq(kill(child(), SIGKILL), 0);
	ck_assert_int_eq(wait_for_result(sender, &outcome), SENDER_LOST);
	while (sender_descriptor(sender) < 0) {
		(void)poll(NULL, 0, 10);
		ck_assert_int_eq(sender_take(sender, &outcome), SENDER_NOTHING);
	}
	ck_assert_int_eq(deliver(sender, url).status, 200);
	sender_close(sender);
	receiver_close(receiver);
}
END_TEST

/* The sender has no descriptors except its socket and those it needs, no environment, and cannot
 * gain privileges. */
START_TEST(the_sender_has_only_what_it_needs)
{
	struct sender_options options = { .allows_http = true };
	struct sender *sender = open_sender(&options);
	char path[100], line[200];
	FILE *file;
	bool has_no_new = false;

	(void)snprintf(path, sizeof path, "/proc/%d/status", (int)child());
	file = fopen(path, "re");
	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof line, file) != NULL)
		has_no_new = has_no_new || strcmp(line, "NoNewPrivs:\t1\n") == 0;
	fclose(file);
	ck_assert(has_no_new);
	sender_close(sender);
}
END_TEST

START_TEST(missing_authorities_are_refused)
{
	const struct sender_options options = {
		.purpose = &sender_of_webhooks,
		.authorities = "/nonexistent/authorities.pem",
		.program = program(),
	};
	struct fault fault = FAULT_INITIAL;
	struct sender *sender;

	ck_assert(!sender_open(&options, &sender, &fault));
	ck_assert_ptr_nonnull(strstr(fault_reason(&fault), "/nonexistent/authorities.pem"));
}
END_TEST

/* The FIFO has no writer. */
START_TEST(authorities_in_a_fifo_are_refused)
{
	char *directory = directory_make();
	char path[PATH_MAX];
	const struct sender_options options = {
		.purpose = &sender_of_webhooks,
		.authorities = path,
		.program = program(),
	};
	struct fault fault = FAULT_INITIAL;
	struct sender *sender;

	(void)snprintf(path, sizeof path, "%s/authorities.pem", directory);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert(!sender_open(&options, &sender, &fault));
	ck_assert_ptr_nonnull(strstr(fault_reason(&fault), path));
	directory_remove(directory);
}
END_TEST

/* ---- object storage ---- */

/* The examples of "Authenticating Requests (AWS Signature Version 4)" in the Amazon S3 API
 * Reference: three by a header, and a link. */
#define NOTHING "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define WELCOME "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072"
#define MAY_24 1369353600 /* 2013-05-24T00:00:00Z */
#define HOST \
	{ \
		"host", SLICE_OF("examplebucket.s3.amazonaws.com") \
	}
#define DATE \
	{ \
		"x-amz-date", SLICE_OF("20130524T000000Z") \
	}
#define SLICE_OF(text) \
	{ \
		text, sizeof text - 1 \
	}
/* clang-format off */
static const struct {
	const char *method, *path, *payload;
	struct bucket_pair parameters[5], headers[5];
	const char *signature;
} examples[] = {
	{ "GET", "/test.txt", NOTHING, { { NULL, { NULL, 0 } } },
	  { HOST, { "range", SLICE_OF("bytes=0-9") }, { "x-amz-content-sha256", SLICE_OF(NOTHING) }, DATE },
	  "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41" },
	{ "PUT", "/test%24file.text", WELCOME, { { NULL, { NULL, 0 } } },
	  { { "date", SLICE_OF("Fri, 24 May 2013 00:00:00 GMT") }, HOST, { "x-amz-content-sha256", SLICE_OF(WELCOME) }, DATE,
	    { "x-amz-storage-class", SLICE_OF("REDUCED_REDUNDANCY") } },
	  "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd" },
	{ "GET", "/", NOTHING, { { "max-keys", SLICE_OF("2") }, { "prefix", SLICE_OF("J") } },
	  { HOST, { "x-amz-content-sha256", SLICE_OF(NOTHING) }, DATE },
	  "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7" },
	{ "GET", "/test.txt", "UNSIGNED-PAYLOAD",
	  { { "X-Amz-Algorithm", SLICE_OF("AWS4-HMAC-SHA256") },
	    { "X-Amz-Credential", SLICE_OF("AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request") },
	    { "X-Amz-Date", SLICE_OF("20130524T000000Z") }, { "X-Amz-Expires", SLICE_OF("86400") },
	    { "X-Amz-SignedHeaders", SLICE_OF("host") } },
	  { HOST },
	  "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404" },
};
/* clang-format on */

START_TEST(the_examples_of_signatures_are_right)
{
	struct arena *arena = arena_open();
	char signature[BUCKET_SIGNATURE_SIZE + 1] = "";
	struct bucket_signing signing = {
		.method = examples[_i].method,
		.path = slice_of(examples[_i].path),
		.parameters = examples[_i].parameters,
		.headers = examples[_i].headers,
		.payload = slice_of(examples[_i].payload),
		.region = SLICE("us-east-1"),
		.key = SLICE("AKIAIOSFODNN7EXAMPLE"),
		.secret = SLICE("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
		.now = MAY_24,
	};

	while (signing.parameter_count < 5 &&
	       examples[_i].parameters[signing.parameter_count].name != NULL)
		signing.parameter_count++;
	while (signing.header_count < 5 && examples[_i].headers[signing.header_count].name != NULL)
		signing.header_count++;
	bucket_sign(arena, &signing, signature);
	ck_assert_str_eq(signature, examples[_i].signature);
	arena_close(arena);
}
END_TEST

/* Where the bucket is, by its vendor. */
/* clang-format off */
static const struct {
	enum bucket_vendor vendor;
	const char *name, *region, *endpoint, *object, *link, *scope;
} buckets[] = {
	{ BUCKET_S3, "lessons", "", "", "a/b.mp4", "https://lessons.s3.us-east-1.amazonaws.com/a/b.mp4?", "%2Fus-east-1%2Fs3%2F" },
	{ BUCKET_S3, "lessons", "eu-west-3", "", "a", "https://lessons.s3.eu-west-3.amazonaws.com/a?", "%2Feu-west-3%2Fs3%2F" },
	{ BUCKET_S3, "lessons", "cn-north-1", "", "a", "https://lessons.s3.cn-north-1.amazonaws.com.cn/a?", "%2Fcn-north-1%2F" },
	{ BUCKET_S3, "les.sons", "eu-west-3", "", "a", "https://s3.eu-west-3.amazonaws.com/les.sons/a?", "%2Feu-west-3%2F" },
	{ BUCKET_GS, "lessons", "", "", "\xc3\xa4 b/c", "https://storage.googleapis.com/lessons/%C3%A4%20b/c?", "%2Fauto%2Fs3%2F" },
	{ BUCKET_OSS, "lessons", "cn-hangzhou", "", "a", "https://lessons.s3.oss-cn-hangzhou.aliyuncs.com/a?", "%2Fcn-hangzhou%2F" },
	{ BUCKET_OSS, "lessons", "oss-cn-hangzhou", "", "a", "https://lessons.s3.oss-cn-hangzhou.aliyuncs.com/a?", "%2Fcn-hangzhou%2F" },
	{ BUCKET_S3, "lessons", "", "https://Minio.example:9000", "a", "https://minio.example:9000/lessons/a?", "%2Fus-east-1%2F" },
	{ BUCKET_OSS, "lessons", "", "http://10.0.0.1", "a", "http://10.0.0.1/lessons/a?", "%2Fus-east-1%2F" },
};
static const struct {
	struct bucket bucket;
	bool is_right;
} places[] = {
	{ { .name = SLICE_OF("lessons") }, true },
	{ { .name = SLICE_OF("Les_sons.2") }, true },
	{ { .name = SLICE_OF("") }, false },
	{ { .name = SLICE_OF("les/sons") }, false },
	{ { .name = SLICE_OF("evil.example/") }, false },
	{ { .name = SLICE_OF("user@evil") }, false },
	{ { .name = SLICE_OF(".lessons") }, false },
	{ { .name = SLICE_OF("lessons"), .region = SLICE_OF("eu-west-3") }, true },
	{ { .name = SLICE_OF("lessons"), .region = SLICE_OF("evil.example/") }, false },
	{ { .vendor = BUCKET_OSS, .name = SLICE_OF("lessons") }, false },
	{ { .name = SLICE_OF("lessons"), .endpoint = SLICE_OF("https://minio.example:9000") }, true },
	{ { .name = SLICE_OF("lessons"), .endpoint = SLICE_OF("https://[2001:db8::1]:9000") }, true },
	{ { .name = SLICE_OF("lessons"), .endpoint = SLICE_OF("http://10.0.0.1") }, true },
	{ { .name = SLICE_OF("lessons"), .endpoint = SLICE_OF("ftp://minio.example") }, false },
	{ { .name = SLICE_OF("lessons"), .endpoint = SLICE_OF("https://minio.example/") }, false },
	{ { .name = SLICE_OF("lessons"), .endpoint = SLICE_OF("https://minio.example?a") }, false },
	{ { .name = SLICE_OF("lessons"), .endpoint = SLICE_OF("https://user@minio.example") }, false },
	{ { .name = SLICE_OF("lessons"), .endpoint = SLICE_OF("https://minio.example:99999") }, false },
	{ { .name = SLICE_OF("lessons"), .endpoint = SLICE_OF("https://minio example") }, false },
	{ { .name = SLICE_OF("lessons"), .endpoint = SLICE_OF("https://") }, false },
	{ { .name = SLICE_OF("lessons"), .key = SLICE_OF("a\nX-Evil: 1") }, false },
	{ { .name = SLICE_OF("lessons"), .key = SLICE_OF("AKIA/x") }, true },
};
/* clang-format on */

START_TEST(a_bucket_has_its_address)
{
	struct arena *arena = arena_open();
	const struct bucket bucket = { .vendor = buckets[_i].vendor,
				       .name = slice_of(buckets[_i].name),
				       .region = slice_of(buckets[_i].region),
				       .endpoint = slice_of(buckets[_i].endpoint),
				       .key = SLICE("AKID"),
				       .secret = SLICE("secret words") };
	const struct slice link = arena_copy(arena, bucket_link(arena, &bucket, "GET",
								slice_of(buckets[_i].object),
								MAY_24, 600, NULL, 0));

	ck_assert_ptr_null(bucket_problem(&bucket));
	ck_assert_msg(slice_begins(link, slice_of(buckets[_i].link)), "%s", link.data);
	ck_assert_msg(strstr(link.data, buckets[_i].scope) != NULL, "%s", link.data);
	ck_assert_ptr_null(strstr(link.data, "words"));
	arena_close(arena);
}
END_TEST

START_TEST(a_place_is_a_bucket_or_not)
{
	ck_assert((bucket_problem(&places[_i].bucket) == NULL) == places[_i].is_right);
}
END_TEST

/* ---- sending to it ---- */

#define OBJECT "a b/\xc3\xa4.mp4"
#define OBJECT_ENCODED "a%20b/%C3%A4.mp4"
/* Much more than sockets keep. */
#define FILE_SIZE ((int64_t)40 << 20)

static struct bucket bucket_at(const struct bucket_server *server)
{
	return (struct bucket){ .name = SLICE(BUCKET_SERVER_BUCKET),
				.region = SLICE(BUCKET_SERVER_REGION),
				.endpoint = slice_of(bucket_server_endpoint(server)),
				.key = SLICE(BUCKET_SERVER_KEY),
				.secret = SLICE(BUCKET_SERVER_SECRET) };
}

/* Opens a sender for files, which may connect to this range. */
static struct sender *open_uploads(struct sender_options *options, const char *range)
{
	options->purpose = &sender_of_uploads;
	options->stall_patience = 1;
	if (range != NULL)
		ck_assert(address_ranges_read(slice_of(range), &options->storage_ranges));
	return open_sender(options);
}

static FILE *file_of(int64_t size, uint64_t *sum)
{
	FILE *file = tmpfile();
	char bytes[4096];

	ck_assert_ptr_nonnull(file);
	*sum = 0;
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (char)(i * 7);
	for (int64_t at = 0; at < size; at += (int64_t)sizeof bytes) {
		const size_t n = size - at < (int64_t)sizeof bytes ? (size_t)(size - at)
								   : sizeof bytes;

		ck_assert_uint_eq(fwrite(bytes, 1, n, file), n);
		for (size_t i = 0; i < n; i++)
			*sum += (unsigned char)bytes[i];
	}
	ck_assert_int_eq(fflush(file), 0);
	return file;
}

static struct outcome put_file(struct sender *sender, const struct bucket *bucket, FILE *file,
			       int64_t size)
{
	struct arena *arena = arena_open();
	const struct delivery delivery = {
		.number = 5,
		.url = bucket_link(arena, bucket, "PUT", SLICE(OBJECT), time(NULL), 600, NULL, 0),
		.headers = SLICE("Content-Type: video/mp4"),
		.method = SENDER_PUT,
		.has_file = true,
		.file = fileno(file),
		.file_size = (uint64_t)size,
		.is_to_storage = true,
		.is_once = true,
		.answer_most = BUCKET_ANSWER_MOST,
	};
	struct outcome outcome;

	ck_assert(sender_give(sender, &delivery));
	ck_assert_int_eq(wait_for_result(sender, &outcome), SENDER_OUTCOME);
	ck_assert_uint_eq(outcome.number, 5);
	arena_close(arena);
	return outcome;
}

/* clang-format off */
static const struct {
	enum bucket_mood mood;
	int64_t size;
	const char *message;
} moods[] = {
	{ BUCKET_WELL, FILE_SIZE, "" },
	{ BUCKET_WELL, 0, "" },
	{ BUCKET_WELL, 1, "" },
	{ BUCKET_REFUSES, 5000, "The storage answered 403: AccessDenied." },
	{ BUCKET_MISSING, 5000, "The storage answered 404: NoSuchBucket." },
	{ BUCKET_FAILS, 5000, "The storage answered 500." },
	{ BUCKET_HANGS, 5000, "The storage did not answer: timed out." },
	{ BUCKET_STOPS, FILE_SIZE, "The storage did not answer: timed out." },
	{ BUCKET_HALF, FILE_SIZE, "The storage did not answer: connection closed." },
	{ BUCKET_LATE, 5000, "The storage answered 403: AccessDenied; its clock is 86400 s ahead." },
	{ BUCKET_MOVED, 5000, "The storage answered 301: the region or the endpoint is wrong." },
};
/* clang-format on */

START_TEST(a_file_is_stored_or_it_is_said_why_not)
{
	struct bucket_server *server = bucket_server_open();
	const struct bucket bucket = bucket_at(server);
	struct sender_options options = { .purpose = NULL };
	struct sender *sender = open_uploads(&options, "127.0.0.1");
	char message[BUCKET_ERROR_SIZE];
	uint64_t sum, stored = 0;
	FILE *file = file_of(moods[_i].size, &sum);
	struct outcome outcome;

	bucket_server_set(server, moods[_i].mood);
	outcome = put_file(sender, &bucket, file, moods[_i].size);
	/* A second may pass meanwhile. */
	bucket_read_outcome(&outcome, time(NULL), message);
	free(outcome.answer);
	if (moods[_i].mood == BUCKET_LATE) {
		ck_assert_ptr_nonnull(strstr(message, "403: AccessDenied; its clock is 86"));
		ck_assert_ptr_nonnull(strstr(message, " s ahead."));
	} else {
		ck_assert_str_eq(message, moods[_i].message);
	}
	ck_assert_int_eq(bucket_server_object(server, OBJECT_ENCODED, &stored),
			 moods[_i].mood == BUCKET_WELL ? moods[_i].size : -1);
	ck_assert_uint_eq(stored, moods[_i].mood == BUCKET_WELL ? sum : 0);
	if (moods[_i].mood == BUCKET_WELL)
		ck_assert_str_eq(bucket_server_heard(server).type, "video/mp4");
	(void)fclose(file);
	sender_close(sender);
	bucket_server_close(server);
}
END_TEST

/* A file that became shorter is not sent, and what was stored before stays. */
START_TEST(a_shorter_file_is_not_stored)
{
	struct bucket_server *server = bucket_server_open();
	const struct bucket bucket = bucket_at(server);
	struct sender_options options = { .purpose = NULL };
	struct sender *sender = open_uploads(&options, "127.0.0.1");
	char message[BUCKET_ERROR_SIZE];
	uint64_t sum;
	FILE *file = file_of(1000, &sum);
	struct outcome outcome = put_file(sender, &bucket, file, 2000);

	bucket_read_outcome(&outcome, time(NULL), message);
	ck_assert_str_eq(message, "The storage did not answer: the file cannot be read.");
	ck_assert_uint_eq(bucket_server_objects(server), 0);
	free(outcome.answer);
	(void)fclose(file);
	sender_close(sender);
	bucket_server_close(server);
}
END_TEST

/* Requests with a header: what was stored is deleted, and wrong keys are refused. */
START_TEST(an_object_is_deleted)
{
	static const struct {
		const char *method, *secret;
		int status;
		size_t objects;
	} steps[] = {
		{ "PUT", BUCKET_SERVER_SECRET, 200, 1 },
		{ "DELETE", "another secret", 403, 1 },
		{ "DELETE", BUCKET_SERVER_SECRET, 204, 0 },
	};
	struct bucket_server *server = bucket_server_open();
	struct sender_options options = { .purpose = NULL };
	struct sender *sender = open_uploads(&options, "127.0.0.0/8");
	struct arena *arena = arena_open();

	for (size_t i = 0; i < ROWS(steps); i++) {
		struct bucket bucket = bucket_at(server);
		struct delivery delivery = { .is_to_storage = true,
					     .answer_most = BUCKET_ANSWER_MOST };
		struct outcome outcome;

		bucket.secret = slice_of(steps[i].secret);
		delivery.method = steps[i].method[0] == 'P' ? SENDER_PUT : SENDER_DELETE;
		bucket_request(arena, &bucket, steps[i].method, SLICE(OBJECT), time(NULL),
			       &delivery.url, &delivery.headers);
		ck_assert(sender_give(sender, &delivery));
		ck_assert_int_eq(wait_for_result(sender, &outcome), SENDER_OUTCOME);
		ck_assert_int_eq(outcome.status, steps[i].status);
		ck_assert_uint_eq(bucket_server_objects(server), steps[i].objects);
		free(outcome.answer);
	}
	arena_close(arena);
	sender_close(sender);
	bucket_server_close(server);
}
END_TEST

/* The address of a storage is an account's word: ranges of webhooks and media servers do not count
 * for it, nor does http for public addresses. */
START_TEST(a_storage_inside_is_not_reached)
{
	static const char *const allowed[] = { NULL, "127.0.0.2", "10.0.0.0/8" };
	struct bucket_server *server = bucket_server_open();
	struct sender_options options = { .allows_http = true, .allows_private = true };
	struct sender *sender = open_uploads(&options, allowed[_i]);
	struct bucket bucket = bucket_at(server);
	char message[BUCKET_ERROR_SIZE];
	uint64_t sum;
	FILE *file = file_of(10, &sum);
	struct outcome outcome;

	outcome = put_file(sender, &bucket, file, 10);
	bucket_read_outcome(&outcome, time(NULL), message);
	ck_assert_str_eq(message, "The storage did not answer: address not allowed.");
	bucket.endpoint = SLICE("http://192.0.2.1");
	outcome = put_file(sender, &bucket, file, 10);
	ck_assert_str_eq(outcome.error, "address not allowed");
	bucket.endpoint = SLICE("http://8.8.8.8");
	outcome = put_file(sender, &bucket, file, 10);
	ck_assert_str_eq(outcome.error, "address not allowed");
	ck_assert_uint_eq(bucket_server_heard(server).requests, 0);
	(void)fclose(file);
	sender_close(sender);
	bucket_server_close(server);
}
END_TEST

static void add_storage(Suite *suite)
{
	TCase *storage = tcase_create("storage");

	tcase_set_timeout(storage, 60);
	tcase_add_loop_test(storage, a_file_is_stored_or_it_is_said_why_not, 0, ROWS(moods));
	tcase_add_test(storage, a_shorter_file_is_not_stored);
	tcase_add_test(storage, an_object_is_deleted);
	tcase_add_loop_test(storage, a_storage_inside_is_not_reached, 0, 3);
	suite_add_tcase(suite, storage);
}

static void add_sender(Suite *suite)
{
	TCase *sent = tcase_create("sender");

	tcase_set_timeout(sent, 60);
	tcase_add_loop_test(sent, a_response_gives_an_outcome, 0, ROWS(answers));
	tcase_add_loop_test(sent, a_wanted_body_is_passed_on, 0, ROWS(bodies));
	tcase_add_test(sent, a_request_may_have_less_time);
	tcase_add_test(sent, a_range_allows_its_addresses_alone);
	tcase_add_loop_test(sent, internal_addresses_are_not_allowed, 0, ROWS(insides));
	tcase_add_loop_test(sent, each_look_up_of_a_name_is_checked, 0, ROWS(namings));
	tcase_add_test(sent, a_name_with_an_internal_address_is_not_tried_there);
	tcase_add_test(sent, a_redirect_to_an_internal_address_is_not_followed);
	tcase_add_loop_test(sent, bad_urls_and_hosts_have_their_errors, 0, ROWS(refused));
	tcase_add_test(sent, a_receiver_without_tls_is_an_error);
	tcase_add_test(sent, many_stalled_deliveries_do_not_stop_another);
	tcase_add_test(sent, a_killed_sender_is_reported);
	tcase_add_test(sent, the_sender_has_only_what_it_needs);
	tcase_add_test(sent, missing_authorities_are_refused);
	tcase_add_test(sent, authorities_in_a_fifo_are_refused);
	suite_add_tcase(suite, sent);
}

int main(void)
{
	Suite *suite = suite_create("delivery");
	TCase *addressed = tcase_create("addresses"), *signatures = tcase_create("signatures");

	tcase_add_loop_test(addressed, an_address_is_global_or_not, 0, ROWS(addresses));
	tcase_add_test(addressed, other_address_families_are_not_global);
	tcase_add_loop_test(addressed, a_range_has_its_addresses, 0, ROWS(ranges));
	tcase_add_loop_test(addressed, a_bad_range_is_refused, 0, ROWS(bad_ranges));
	suite_add_tcase(suite, addressed);
	tcase_add_loop_test(signatures, the_examples_of_signatures_are_right, 0, ROWS(examples));
	tcase_add_loop_test(signatures, a_bucket_has_its_address, 0, ROWS(buckets));
	tcase_add_loop_test(signatures, a_place_is_a_bucket_or_not, 0, ROWS(places));
	suite_add_tcase(suite, signatures);
	if (sender_is_built()) {
		add_sender(suite);
		add_storage(suite);
	}
	return suite_run_apart(suite);
}
