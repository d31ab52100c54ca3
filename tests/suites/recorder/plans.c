/* What the recorder plans and says: the list of cuts, reports, responses, orders, and the parts in
 * a folder.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/id.h"
#include "base/json_text.h"
#include "base/text.h"
#include "directory.h"
#include "fast_disk.h"
#include "kit.h"
#include "recorder/chat.h"
#include "recorder/cuts.h"
#include "recorder/folder.h"
#include "recorder/part.h"
#include "recorder/recorder.h"
#include "recorder/work.h"
#include "suite.h"

#define END INT64_MAX
#define MOST 6

static struct arena *arena;

static void set_up(void)
{
	arena = arena_open();
}

static void tear_down(void)
{
	arena_close(arena);
}

/* ---- how busy the processors are ---- */

#define BEFORE "cpu  1000 2000 300 4000 100 10 20 30 7 8\n"
/* clang-format off */
static const struct {
	const char *now;
	double busy;
} loads[] = {
	{ "cpu  1000 2000 300 5000 100 10 20 30 7 8\n", 0 },
	{ "cpu  1500 2000 300 4500 100 10 20 30 7 8\n", 0.5 },
	/* What runs with a low priority gives way. */
	{ "cpu  1000 3000 300 4000 100 10 20 30 7 8\n", 0 },
	{ "cpu  1100 2900 300 4000 100 10 20 30 7 8\n", 0.1 },
	/* So does what waits for a disk; the system, interrupts and other machines do not. */
	{ "cpu  1000 2000 300 4000 1100 10 20 30 7 8\n", 0 },
	{ "cpu  1000 2000 600 4000 300 110 120 330 7 8\n", 0.8 },
	{ "cpu  2000 2000 300 4000 100 10 20 30\n", 1 },
	/* Without a second reading, nothing is known. */
	{ BEFORE, 0 },
	{ "", 0 },
	{ "cpu0 9000 2000 300 4000 100 10 20 30 7 8\n", 0 },
};
/* clang-format on */

START_TEST(what_gives_way_is_not_busy)
{
	const double busy = recorder_busy(BEFORE, loads[_i].now);

	ck_assert_msg(busy > loads[_i].busy - 0.0015 && busy < loads[_i].busy + 0.0015, "%s: %f",
		      loads[_i].now, busy);
}
END_TEST

/* ---- cuts ---- */

/* clang-format off */
static const struct {
	const char *name;
	struct { int64_t begin, chunks; } parts[MOST]; /* chunks of a second each */
	struct span excluded[MOST];
	struct { size_t part; int64_t from, to; bool is_whole; } pieces[MOST];
	struct gap gaps[MOST];
} plans[] = {
	{ "a part", { { 1000, 5 } }, { { 0 } }, { { 0, 0, 5000, true } }, { { 0 } } },
	{ "two parts", { { 1000, 5 }, { 8000, 3 } }, { { 0 } },
	  { { 0, 0, 5000, true }, { 1, 0, 3000, true } }, { { 5000, 2000 } } },
	{ "an overlap belongs to the later part", { { 1000, 5 }, { 4500, 3 } }, { { 0 } },
	  { { 0, 0, 3500, false }, { 1, 0, 3000, true } }, { { 0 } } },
	{ "a short part is left out", { { 1000, 5 }, { 3000, 0 }, { 9000, 2 } }, { { 0 } },
	  { { 0, 0, 5000, true }, { 2, 0, 2000, true } }, { { 5000, 3000 } } },
	{ "the stop", { { 1000, 5 }, { 8000, 3 } }, { { 9500, END } },
	  { { 0, 0, 5000, true }, { 1, 0, 1500, false } }, { { 5000, 2000 } } },
	{ "a stop before the second part", { { 1000, 5 }, { 8000, 3 } }, { { 7000, END } },
	  { { 0, 0, 5000, true } }, { { 0 } } },
	{ "pauses, not sorted", { { 1000, 9 } }, { { 7000, 8000 }, { 3500, 4000 } },
	  { { 0, 0, 2500, false }, { 0, 3000, 6000, false }, { 0, 7000, 9000, false } },
	  { { 2500, 500 }, { 5500, 1000 } } },
	{ "pauses within each other", { { 1000, 9 } }, { { 3000, 8000 }, { 4000, 5000 } },
	  { { 0, 0, 2000, false }, { 0, 7000, 9000, false } }, { { 2000, 5000 } } },
	{ "a part that begins when a pause ends", { { 1000, 3 }, { 6000, 3 } }, { { 3000, 6099 } },
	  { { 0, 0, 2000, false }, { 1, 0, 3000, true } }, { { 2000, 3000 } } },
	{ "a part that begins before a pause ends", { { 1000, 3 }, { 6000, 3 } }, { { 3000, 6100 } },
	  { { 0, 0, 2000, false }, { 1, 100, 3000, false } }, { { 2000, 3100 } } },
	{ "a pause over the end of a part", { { 1000, 3 }, { 6000, 3 } }, { { 3000, 7000 } },
	  { { 0, 0, 2000, false }, { 1, 1000, 3000, false } }, { { 2000, 4000 } } },
	{ "a piece too short to be cut out", { { 1000, 4 } }, { { 2000, 3000 }, { 3100, 4000 } },
	  { { 0, 0, 1000, false }, { 0, 3000, 4000, false } }, { { 1000, 2000 } } },
	{ "everything is excluded", { { 1000, 4 } }, { { 0, END } }, { { 0 } }, { { 0 } } },
	{ "nothing", { { 0 } }, { { 0 } }, { { 0 } }, { { 0 } } },
};
/* clang-format on */

START_TEST(parts_are_cut)
{
	struct part_media parts[MOST];
	struct chunk chunks[MOST][10];
	struct span excluded[MOST];
	struct piece *pieces;
	struct gap *gaps;
	size_t parts_count = 0, excluded_count = 0, wanted = 0, n;

	for (; plans[_i].parts[parts_count].begin > 0; parts_count++) {
		const int64_t begin = plans[_i].parts[parts_count].begin;
		const int64_t count = plans[_i].parts[parts_count].chunks;

		for (int64_t k = 0; k < count; k++)
			chunks[parts_count][k] = (struct chunk){ begin + 1000 * (k + 1),
								 1000 * (k + 1) };
		parts[parts_count] = (struct part_media){ .chunks = chunks[parts_count],
							  .count = (size_t)count };
	}
	for (; plans[_i].excluded[excluded_count].to > 0; excluded_count++)
		excluded[excluded_count] = plans[_i].excluded[excluded_count];
	n = cuts_make(arena, parts, parts_count, excluded, excluded_count, &pieces);
	while (plans[_i].pieces[wanted].to > 0)
		wanted++;
	ck_assert_msg(n == wanted, "%s: %zu pieces", plans[_i].name, n);
	for (size_t i = 0; i < n; i++)
		ck_assert_msg(pieces[i].part == plans[_i].pieces[i].part &&
				      pieces[i].from_ms == plans[_i].pieces[i].from &&
				      pieces[i].to_ms == plans[_i].pieces[i].to &&
				      pieces[i].is_whole == plans[_i].pieces[i].is_whole,
			      "%s: piece %zu of part %zu from %lld to %lld", plans[_i].name, i,
			      pieces[i].part, (long long)pieces[i].from_ms,
			      (long long)pieces[i].to_ms);
	n = cuts_gaps(arena, pieces, n, &gaps);
	for (wanted = 0; plans[_i].gaps[wanted].missing_ms > 0;)
		wanted++;
	ck_assert_msg(n == wanted, "%s: %zu gaps", plans[_i].name, n);
	for (size_t i = 0; i < n; i++)
		ck_assert_msg(gaps[i].at_ms == plans[_i].gaps[i].at_ms &&
				      gaps[i].missing_ms == plans[_i].gaps[i].missing_ms,
			      "%s: at %lld, %lld missing", plans[_i].name, (long long)gaps[i].at_ms,
			      (long long)gaps[i].missing_ms);
}
END_TEST

/* clang-format off */
static const struct {
	const char *name;
	int64_t short_ms; /* of the second part */
	bool has_pauses; /* around it */
	size_t pieces;
} shorts[] = {
	{ "a short part of its own", 999, false, 2 },
	{ "half a second between two pauses", 500, true, 3 },
	{ "the least between two pauses", 200, true, 3 },
	{ "too little between two pauses", 199, true, 2 },
};
/* clang-format on */

START_TEST(what_is_short_is_kept_between_two_pauses)
{
	const int64_t short_ms = shorts[_i].short_ms;
	const bool has_pauses = shorts[_i].has_pauses;
	const struct chunk first = { 4000, 3000 }, second = { 6000 + short_ms, short_ms },
			   third = { 12000, 3000 };
	const struct part_media parts[] = { { &first, 1, has_pauses },
					    { &second, 1, has_pauses },
					    { &third, 1, has_pauses } };
	struct span excluded[] = { { 4000, 6000 }, { 6000 + short_ms, 9000 } };
	struct piece *pieces;
	const size_t n = cuts_make(arena, parts, 3, excluded, has_pauses ? 2 : 0, &pieces);

	ck_assert_msg(n == shorts[_i].pieces, "%s: %zu pieces", shorts[_i].name, n);
	ck_assert_int_eq(cuts_length(pieces, n), n == 3 ? 6000 + short_ms : 6000);
	ck_assert(n == 2 || (pieces[1].part == 1 && pieces[1].is_whole));
}
END_TEST

/* ---- reports ---- */

#define LONG 1199

/* Sixteen works with all that they may have. */
START_TEST(a_report_is_never_too_long)
{
	struct work_news works[REPORT_WORKS_MOST];
	struct gap gaps[150];
	struct recorded_file files[FILES_MOST] = { { .name = "recording.mp4",
						     .bytes = INT64_MAX } };
	static struct output_news output = { .state = OUTPUT_LIVE, .since = 1764500000123 };
	char error[LONG + 1];
	struct report report = {
		.boot = "0123456789abcdefghijkl",
		.folder = "folder",
		.n = 7,
		.slots = 1,
		.busy = 0.125,
		.works = works,
		.works_count = REPORT_WORKS_MOST,
	};
	struct slice text;
	json_t *json;

	/* 300 characters of four bytes, of which JSON needs no escape. */
	for (size_t i = 0; i < LONG; i += 4)
		memcpy(error + i, "\xf0\x9f\x98\x80", i + 4 > LONG ? LONG - i : 4);
	error[LONG - LONG % 4] = '\0';
	memset(output.url, 'x', sizeof output.url - 1);
	for (size_t i = 0; i < 150; i++)
		gaps[i] = (struct gap){ INT64_MAX - (int64_t)i, INT64_MAX };
	for (size_t i = 0; i < REPORT_WORKS_MOST; i++)
		works[i] = (struct work_news){
			.account = ACCOUNT,
			.job = JOB,
			.state = WORK_SENDING,
			.media_at = 1764500000123,
			.gaps = gaps,
			.gaps_count = _i == 0 ? 150 : 0,
			.files = files,
			.files_count = 1,
			.outputs = { &output, &output, &output, &output, &output },
			.outputs_count = OUTPUTS_MOST,
			.error = error,
			.needs_put = true,
		};
	text = report_write(arena, &report);
	ck_assert_uint_le(text.size, REPORT_MOST);
	json = json_text_read(arena, text, NULL);
	ck_assert_ptr_nonnull(json);
	ck_assert_uint_eq(json_array_size(json_object_get(json, "works")), REPORT_WORKS_MOST);
	ck_assert_uint_eq(json_array_size(json_object_get(json, "needs")), REPORT_WORKS_MOST);
	json = json_array_get(json_object_get(json, "works"), 3);
	ck_assert_str_eq(json_string_value(json_object_get(json, "state")), "sending");
	ck_assert_str_eq(json_string_value(json_object_get(json, "media_at")),
			 "2025-11-30T10:53:20.123Z");
	/* The gaps are left out first. */
	ck_assert_uint_eq(json_array_size(json_object_get(json, "gaps")), 0);
	ck_assert_ptr_nonnull(json_object_get(json, "error"));
	json = json_array_get(json_object_get(json, "outputs"), 4);
	ck_assert_str_eq(json_string_value(json_object_get(json, "state")), "live");
	ck_assert_uint_eq(json_string_length(json_object_get(json, "url")), 100);
	ck_assert_ptr_null(json_object_get(json, "error"));
}
END_TEST

START_TEST(a_report_has_the_newest_gaps)
{
	struct gap gaps[150];
	const struct work_news work = {
		.account = ACCOUNT,
		.job = JOB,
		.gaps = gaps,
		.gaps_count = 150,
		.error = "",
		.needs_order = true,
	};
	const struct report report = {
		.boot = "b", .folder = "f", .works = &work, .works_count = 1
	};
	json_t *json;

	for (size_t i = 0; i < 150; i++)
		gaps[i] = (struct gap){ (int64_t)i, 200 };
	json = json_text_read(arena, report_write(arena, &report), NULL);
	ck_assert_ptr_nonnull(json);
	json = json_object_get(json_array_get(json_object_get(json, "works"), 0), "gaps");
	ck_assert_uint_eq(json_array_size(json), REPORT_GAPS_MOST);
	ck_assert_int_eq(json_integer_value(json_object_get(json_array_get(json, 0), "at_ms")), 50);
}
END_TEST

/* ---- responses ---- */

#define NOW "\"now\":\"2025-11-30T10:53:20.123Z\",\"n\":5"
#define WORKS(work) \
	"{\"now\":\"2025-11-30T10:53:20.123Z\",\"n\":5,\"every_ms\":1000,\"lease_ms\":15000," \
	"\"works\":[" work "]}"
#define IDS "\"account\":\"" ACCOUNT "\",\"job\":\"" JOB "\""
#define RUN IDS ",\"epoch\":2,\"rev\":3,\"inside\":4,\"want\":"

/* clang-format off */
static const struct {
	const char *text;
	bool is_read;
} answers[] = {
	{ WORKS(""), true },
	{ WORKS("{" RUN "\"run\"}"), true },
	{ WORKS("{" RUN "\"stop\",\"order\":{\"dir\":\"a/b\"},\"other\":1}"), true },
	{ WORKS("{" IDS ",\"want\":\"drop\",\"erase\":true}"), true },
	{ WORKS("{" IDS ",\"want\":\"run\"}"), false },
	{ WORKS("{" RUN "\"dance\"}"), false },
	{ WORKS("{\"account\":\"../../etc\",\"job\":\"" JOB "\",\"want\":\"drop\"}"), false },
	{ WORKS("7"), false },
	{ "{\"now\":\"soon\",\"n\":5,\"every_ms\":1000,\"lease_ms\":15000,\"works\":[]}", false },
	{ "{" NOW ",\"every_ms\":0,\"lease_ms\":15000,\"works\":[]}", false },
	{ "{" NOW ",\"every_ms\":1000,\"lease_ms\":15000}", false },
	{ "<html>", false },
	{ "", false },
};
/* clang-format on */

START_TEST(a_response_is_read_or_not)
{
	struct fault fault = FAULT_INITIAL;
	struct answer answer;

	ck_assert_msg(answer_read(arena, slice_of(answers[_i].text), &answer, &fault) ==
			      answers[_i].is_read,
		      "%s", answers[_i].text);
	if (answers[_i].is_read) {
		ck_assert_int_eq(answer.now, 1764500000123);
		ck_assert_int_eq(answer.n, 5);
	}
}
END_TEST

/* clang-format off */
static const struct {
	const char *folder;
	bool is_taken;
} folders[] = {
	{ FOLDER_OF_JOB, true },
	{ "a", true },
	{ "", false },
	{ "/a", false },
	{ "a/", false },
	{ "a//b", false },
	{ "../a", false },
	{ "a/../b", false },
	{ "a/.b", false },
	{ "a b", false },
};

static const struct {
	const char *url, *host;
} hosts[] = {
	{ "ws://127.0.0.1:7880", "127.0.0.1" },
	{ "wss://Media.Example.org/path", "media.example.org" },
	{ "wss://[2001:db8::1]:443", "[2001:db8::1]" },
	{ "wss://media.example.org:99999", NULL },
	{ "nothing", NULL },
};
/* clang-format on */

START_TEST(a_folder_is_made_of_names)
{
	const json_t *order = arena_json(arena, json_pack("{s:s}", "dir", folders[_i].folder));

	ck_assert_msg(order_has_folder(order) == folders[_i].is_taken, "%s", folders[_i].folder);
}
END_TEST

START_TEST(a_media_server_has_a_host)
{
	/* As it is in the order, and as the service answers people. */
	const json_t *plain = arena_json(arena,
					 json_pack("{s:{s:s}}", "join", "url", hosts[_i].url));
	const json_t *nested =
		arena_json(arena, json_pack("{s:{s:{s:s}}}", "join", "join", "url", hosts[_i].url));
	const char *host = order_media_host(arena, plain);

	if (hosts[_i].host == NULL) {
		ck_assert_ptr_null(host);
		return;
	}
	ck_assert_str_eq(host, hosts[_i].host);
	ck_assert_str_eq(order_media_host(arena, nested), hosts[_i].host);
}
END_TEST

START_TEST(a_kept_order_has_no_token)
{
	const json_t *order = arena_json(
		arena, json_pack("{s:s, s:{s:s}, s:{s:[{s:s}]}, s:s, s:b, s:{s:s}}", "page",
				 "/record/", "join", "token", "SECRET", "rtmp", "urls", "url",
				 "rtmp://x/SECRET", "dir", "a", "file", 0, "hls", "key", "K"));
	const struct slice text = order_kept(arena, order, "r1", 4);

	ck_assert_ptr_null(memmem(text.data, text.size, "SECRET", 6));
	ck_assert_ptr_nonnull(memmem(text.data, text.size, "\"epoch\":4", 9));
	/* After a restart it says what a stop needs. */
	order = json_text_read(arena, text, NULL);
	ck_assert(json_is_true(json_object_get(order, "streams")));
	ck_assert(!order_keeps_file(order));
	ck_assert_ptr_nonnull(json_object_get(json_object_get(order, "hls"), "key"));
}
END_TEST

/* ---- the folder ---- */

START_TEST(parts_are_found_in_their_order)
{
	char *directory = directory_make(), path[PART_PATH_SIZE];
	struct fault fault = FAULT_INITIAL;
	struct kept_part *parts;
	struct part part;
	int64_t number = 1;
	size_t n;
	FILE *log;

	/* The number that is there already is passed over. */
	for (int i = 0; i < 11; i++) {
		number = 1;
		ck_assert(part_open(&part, directory, 1, &number, &fault));
		ck_assert_int_eq(number, i + 1);
		/* The first two files are of one run. */
		part.run = i < 2 ? 1 : i;
		ck_assert(part_append(&part, SLICE("media"), 5000 + i, 1000, 6000, &fault));
		ck_assert(part_append(&part, SLICE("more"), 6000 + i, 2000, 7000, &fault));
		part_close(&part);
	}
	part_path(directory, 1, 2, ".log", path);
	log = fopen(path, "a");
	ck_assert_ptr_nonnull(log);
	(void)fputs("2 7000 8", log);
	(void)fclose(log);
	ck_assert(parts_read(arena, directory, &parts, &n, &fault));
	ck_assert_uint_eq(n, 11);
	ck_assert_int_eq(parts[10].number, 11);
	ck_assert_int_eq(parts[1].bytes, 9);
	/* The torn line is none. */
	ck_assert_uint_eq(parts[1].media.count, 2);
	ck_assert_int_eq(parts[1].media.chunks[1].at, 6001);
	ck_assert_int_eq(parts[1].media.chunks[1].media_ms, 2000);
	ck_assert_int_eq(parts[1].run, 1);
	ck_assert(parts[0].media.has_pauses && parts[1].media.has_pauses);
	ck_assert_int_eq(parts[10].run, 10);
	ck_assert(!parts[2].media.has_pauses && !parts[10].media.has_pauses);
	/* A former version did not write the run. */
	log = fopen(path, "w");
	ck_assert_ptr_nonnull(log);
	(void)fputs("0 5000 6000 5 1000\n", log);
	(void)fclose(log);
	ck_assert(parts_read(arena, directory, &parts, &n, &fault));
	ck_assert_uint_eq(parts[1].media.count, 1);
	ck_assert_int_eq(parts[1].run, 2);
	/* A log that cannot be read for now does not make its part one without media. */
	ck_assert_int_eq(remove(path), 0);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	ck_assert(!parts_read(arena, directory, &parts, &n, &fault));
	ck_assert_int_eq(fault.kind, FAULT_UNAVAILABLE);
	directory_remove(directory);
	fault = FAULT_INITIAL;
	ck_assert(parts_read(arena, "/nowhere/at/all", &parts, &n, &fault));
	ck_assert_uint_eq(n, 0);
}
END_TEST

/* A disk without space: the part ends with its last whole chunk. */
START_TEST(a_chunk_that_does_not_fit_is_cut_off)
{
	const struct rlimit limit = { 10, RLIM_INFINITY };
	char *directory = directory_make(), path[PART_PATH_SIZE];
	struct fault fault = FAULT_INITIAL;
	struct stat status;
	int64_t number = 1;
	struct part part;
	bool is_appended;

	ck_assert(part_open(&part, directory, 1, &number, &fault));
	ck_assert(part_append(&part, SLICE("1234567"), 5000, 1000, 6000, &fault));
	(void)signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	is_appended = part_append(&part, SLICE("1234567"), 6000, 2000, 7000, &fault);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){ RLIM_INFINITY, RLIM_INFINITY }),
			 0);
	ck_assert(!is_appended);
	ck_assert_int_eq(part.chunks, 1);
	part_close(&part);
	part_path(directory, 1, 1, ".mkv", path);
	ck_assert_int_eq(stat(path, &status), 0);
	ck_assert_int_eq(status.st_size, 7);
	directory_remove(directory);
}
END_TEST

/* ---- what is on the disk ---- */

/* clang-format off */
static const struct {
	bool drops_media;
	const char *suffix;
	bool is_synced;
} kept_files[] = {
	{ false, ".mkv", true },
	/* Without its lines, media is not joined. */
	{ false, ".log", true },
	/* Nothing is joined of a stream without a file. */
	{ true, ".mkv", false },
	{ true, ".log", false },
};
/* clang-format on */

START_TEST(a_chunk_is_on_the_disk)
{
	char *directory = directory_make(), path[PART_PATH_SIZE];
	struct fault fault = FAULT_INITIAL;
	int64_t number = 1;
	struct part part;

	ck_assert(part_open(&part, directory, 1, &number, &fault));
	part.drops_media = kept_files[_i].drops_media;
	fast_disk_note();
	ck_assert(part_append(&part, SLICE("1234567"), 5000, 1000, 6000, &fault));
	part_close(&part);
	part_path(directory, 1, 1, kept_files[_i].suffix, path);
	ck_assert_int_eq(fast_disk_has_synced(path), kept_files[_i].is_synced);
	directory_remove(directory);
}
END_TEST

/* clang-format off */
static const struct {
	int64_t opened, obeyed; /* epochs; 0: it is not taken again */
	int64_t recorded_ms;
} epochs[] = {
	/* After a restart it goes on. */
	{ 1, 0, 3000 },
	/* What is of a former epoch the service has counted: another recorder has it now, or the
	 * same one again. */
	{ 2, 0, 0 },
	{ 1, 2, 0 },
};
/* clang-format on */

START_TEST(what_is_told_is_of_this_epoch)
{
	char *directory = directory_make();
	struct fault fault = FAULT_INITIAL;
	struct work_stand stand = { .arena = arena };
	const struct wanted wanted = { .epoch = epochs[_i].obeyed, .want = WANT_RUN };
	char path[FOLDER_PATH_SIZE];
	int64_t number = 1;
	struct work *work;
	struct part part;

	ck_assert(folder_open(&stand.folder, directory, &fault));
	folder_of_job(&stand.folder, ACCOUNT, JOB, path);
	ck_assert_int_eq(mkdir(path, 0770), 0);
	ck_assert(part_open(&part, path, 1, &number, &fault));
	ck_assert(part_append(&part, SLICE("1234567"), 5000, 3000, 6000, &fault));
	part_close(&part);
	work = work_open(&stand, ACCOUNT, JOB, epochs[_i].opened);
	if (epochs[_i].obeyed > 0)
		work_obey(&stand, work, &wanted);
	ck_assert_int_eq(work_tell(work).recorded_ms, epochs[_i].recorded_ms);
	work_close(&stand, work);
	directory_remove(directory);
}
END_TEST

/* What is written to a file that was deleted is nowhere, though writing succeeds. */
START_TEST(a_part_that_was_deleted_ends)
{
	char *directory = directory_make(), path[PART_PATH_SIZE];
	struct fault fault = FAULT_INITIAL;
	int64_t number = 1;
	struct part part;

	ck_assert(part_open(&part, directory, 1, &number, &fault));
	ck_assert(part_append(&part, SLICE("1234567"), 5000, 1000, 6000, &fault));
	part_path(directory, 1, 1, ".mkv", path);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert(!part_append(&part, SLICE("1234567"), 6000, 2000, 7000, &fault));
	ck_assert_str_eq(fault_reason(&fault), "the folder of the recording was deleted");
	ck_assert_int_eq(part.chunks, 1);
	part_close(&part);
	directory_remove(directory);
}
END_TEST

/* One process of a name works with a folder; a restart finds boot and n. */
START_TEST(a_folder_has_a_mark_and_a_lock)
{
	char *directory = directory_make(), path[FOLDER_PATH_SIZE], id[FOLDER_ID_MOST + 1];
	struct fault fault = FAULT_INITIAL;
	struct folder first, second;
	FILE *mark;

	ck_assert(folder_open(&first, directory, &fault));
	ck_assert_uint_eq(strlen(first.id), 24);
	(void)snprintf(id, sizeof id, "%s", first.id);
	ck_assert(folder_lock(&first, "r1", &fault));
	folder_new_boot(&first);
	first.n = 41;
	folder_note(&first);
	ck_assert(folder_open(&second, directory, &fault));
	ck_assert_str_eq(second.id, id);
	ck_assert(!folder_lock(&second, "r1", &fault));
	ck_assert_ptr_nonnull(strstr(fault_reason(&fault), "another process is the recorder r1"));
	folder_close(&second);
	folder_close(&first);

	fault = FAULT_INITIAL;
	ck_assert(folder_open(&second, directory, &fault) && folder_lock(&second, "r1", &fault));
	ck_assert_str_eq(second.boot, first.boot);
	ck_assert_int_eq(second.n, 41);
	folder_close(&second);

	(void)snprintf(path, sizeof path, "%s/.anteroom", directory);
	mark = fopen(path, "w");
	ck_assert_ptr_nonnull(mark);
	(void)fputs("no id\n", mark);
	(void)fclose(mark);
	ck_assert(!folder_open(&second, directory, &fault));
	directory_remove(directory);
}
END_TEST

/* Only what this recorder wrote last is told after a restart. */
START_TEST(leftovers_are_of_this_recorder)
{
	static const char *const names[] = { ACCOUNT "-" JOB, ACCOUNT "-" ROOM, "something" };
	char *directory = directory_make(), path[FOLDER_PATH_SIZE];
	struct fault fault = FAULT_INITIAL;
	struct leftover *leftovers;
	struct folder folder;

	ck_assert(folder_open(&folder, directory, &fault));
	for (size_t i = 0; i < 3; i++) {
		(void)snprintf(path, sizeof path, "%s/incoming/%s", directory, names[i]);
		ck_assert_int_eq(mkdir(path, 0770), 0);
		(void)snprintf(path, sizeof path, "%s/incoming/%s/order.json", directory, names[i]);
		ck_assert(small_file_write(path,
					   i == 1 ? SLICE("{\"recorder\":\"r2\",\"epoch\":3}")
						  : SLICE("{\"recorder\":\"r1\",\"epoch\":3}"),
					   &fault));
	}
	ck_assert_uint_eq(folder_leftovers(&folder, arena, "r1", &leftovers), 1);
	ck_assert_str_eq(leftovers[0].job, JOB);
	ck_assert_int_eq(leftovers[0].epoch, 3);
	directory_remove(directory);
}
END_TEST

/* ---- the chat ---- */

#define SPACE "6925c84100000000000000e1"
#define HEAD "\xef\xbb\xbfSenderPeerID,SenderName,SenderUserID,Roles,SentAt,Type,Message\r\n"

/* Keeps a message at a time in seconds. */
static enum chat_kept keep(struct chat *chat, const char *folder, const char *order, int64_t epoch,
			   const char *stay, const char *text, int64_t seconds)
{
	json_t *said = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "peer_id", stay, "name",
				 "=Ada", "user_id", "ada", "roles", "host", "kind", "chat",
				 "message", text, "more", "is not kept");
	json_t *parsed = json_loads(order, 0, NULL);
	const enum chat_kept kept = chat_keep(chat, folder, parsed, epoch, said,
					      1764500000000 + seconds * 1000);

	json_decref(parsed);
	json_decref(said);
	return kept;
}

/* clang-format off */
static const struct {
	const char *order, *stay, *text;
	enum chat_kept kept;
	const char *row; /* without what all rows have */
} messages[] = {
	{ "{\"look\":{\"chat\":true},\"peers\":\"" SPACE "\"}", "PA_1", "Hi", CHAT_KEPT, "Hi" },
	{ "{\"look\":{\"chat\":true}}", "PA_1", "Hi", CHAT_KEPT, "Hi" },
	{ "{\"look\":{\"chat\":true},\"peers\":\"x\"}", "PA_1", "Hi", CHAT_KEPT, "Hi" },
	{ "{\"look\":{\"chat\":true},\"peers\":\"" SPACE "\"}", "", "Hi", CHAT_KEPT, "Hi" },
	{ "{\"look\":{\"chat\":true}}", "PA_1", "=cmd()", CHAT_KEPT, "'=cmd()" },
	{ "{\"look\":{\"chat\":true}}", "PA_1", "a, \"b\"\nc", CHAT_KEPT, "\"a, \"\"b\"\" c\"" },
	{ "{\"look\":{\"chat\":true}}", "PA_1", "", CHAT_NOT_WANTED, NULL },
	{ "{\"look\":{\"chat\":false}}", "PA_1", "Hi", CHAT_NOT_WANTED, NULL },
	{ "{\"look\":{}}", "PA_1", "Hi", CHAT_NOT_WANTED, NULL },
	{ "{}", "PA_1", "Hi", CHAT_NOT_WANTED, NULL },
};
/* clang-format on */

START_TEST(a_message_becomes_a_row)
{
	char *directory = directory_make();
	struct chat *chat = chat_open();
	char peer[UUID_TEXT_SIZE];
	struct slice table;
	struct id space;

	ck_assert(id_parse(SLICE(SPACE), &space));
	uuid_of(&space, slice_of(messages[_i].stay), 0, peer);
	if (_i > 0)
		(void)snprintf(peer, sizeof peer, "%s", messages[_i].stay);
	ck_assert_int_eq(keep(chat, directory, messages[_i].order, 1, messages[_i].stay,
			      messages[_i].text, 0),
			 messages[_i].kept);
	table = chat_table(arena, directory, NULL, 0);
	if (messages[_i].row == NULL)
		ck_assert_ptr_null(table.data);
	else
		ck_assert_str_eq(arena_copy(arena, table).data,
				 arena_text(arena,
					    HEAD "%s,'=Ada,ada,host,2025-11-30T10:53:20.000Z,chat,"
						 "%s\r\n",
					    peer, messages[_i].row));
	chat_close(chat);
	directory_remove(directory);
}
END_TEST

#define KEEPS "{\"look\":{\"chat\":true}}"

static size_t rows_of(const char *folder)
{
	struct slice rest = chat_table(arena, folder, NULL, 0);
	size_t n = 0;

	for (; rest.data != NULL && rest.size > 0; n++)
		(void)text_split(rest, '\n', &rest);
	return n > 0 ? n - 1 : 0;
}

START_TEST(who_writes_too_much_is_kept_no_more_and_others_are)
{
	char *directory = directory_make(), *text = malloc(20001);
	struct chat *chat = chat_open();
	enum chat_kept kept = CHAT_KEPT;
	size_t n = 0;

	ck_assert_ptr_nonnull(text);
	memset(text, 'a', 20000);
	text[20000] = '\0';
	while (n < 1000 &&
	       (kept = keep(chat, directory, KEEPS, 1, "PA_1", text, (int64_t)n)) == CHAT_KEPT)
		n++;
	ck_assert_int_eq(kept, CHAT_SENDER_FULL);
	/* Each was cut. */
	ck_assert_uint_eq(n, CHAT_SENDER_MOST / 8000 - 1);
	ck_assert_int_eq(keep(chat, directory, KEEPS, 1, "PA_2", "Hi", 1000), CHAT_KEPT);
	ck_assert_uint_eq(rows_of(directory), n + 1);
	/* All together are bounded, too. */
	for (int i = 3; i < 100 && kept != CHAT_FULL; i++) {
		const char *stay = arena_text(arena, "PA_%d", i);

		do
			kept = keep(chat, directory, KEEPS, 1, stay, text, 1001 + i);
		while (kept == CHAT_KEPT);
	}
	ck_assert_int_eq(kept, CHAT_FULL);
	ck_assert_uint_gt(rows_of(directory), n + 1);
	free(text);
	chat_close(chat);
	directory_remove(directory);
}
END_TEST

/* While one recorder takes over from another, both hear the same; people may repeat themselves. */
static const struct {
	int64_t epoch, seconds;
	const char *stay, *text;
} written[] = {
	{ 1, 0, "PA_1", "Yes" },  { 1, 2, "PA_1", "Yes" }, { 2, 2, "PA_1", "Yes" },
	{ 2, 3, "PA_1", "No" },	  { 1, 4, "PA_1", "No" },  { 2, 5, "PA_2", "No" },
	{ 2, 30, "PA_1", "Yes" },
};

START_TEST(what_two_recorders_heard_is_one_row)
{
	char *directory = directory_make();
	struct chat *chat = chat_open();

	for (int i = 0; i < ROWS(written); i++)
		ck_assert_int_eq(keep(chat, directory, KEEPS, written[i].epoch, written[i].stay,
				      written[i].text, written[i].seconds),
				 CHAT_KEPT);
	ck_assert_uint_eq(rows_of(directory), 5);
	chat_close(chat);
	directory_remove(directory);
}
END_TEST

TCase *recorder_plans(void)
{
	TCase *planned = tcase_create("plans");

	tcase_add_checked_fixture(planned, set_up, tear_down);
	tcase_add_loop_test(planned, what_gives_way_is_not_busy, 0, ROWS(loads));
	tcase_add_loop_test(planned, parts_are_cut, 0, ROWS(plans));
	tcase_add_loop_test(planned, what_is_short_is_kept_between_two_pauses, 0, ROWS(shorts));
	tcase_add_loop_test(planned, a_report_is_never_too_long, 0, 2);
	tcase_add_test(planned, a_report_has_the_newest_gaps);
	tcase_add_loop_test(planned, a_response_is_read_or_not, 0, ROWS(answers));
	tcase_add_loop_test(planned, a_folder_is_made_of_names, 0, ROWS(folders));
	tcase_add_loop_test(planned, a_media_server_has_a_host, 0, ROWS(hosts));
	tcase_add_test(planned, a_kept_order_has_no_token);
	tcase_add_test(planned, parts_are_found_in_their_order);
	tcase_add_test(planned, a_chunk_that_does_not_fit_is_cut_off);
	tcase_add_test(planned, a_part_that_was_deleted_ends);
	tcase_add_loop_test(planned, a_chunk_is_on_the_disk, 0, ROWS(kept_files));
	tcase_add_loop_test(planned, what_is_told_is_of_this_epoch, 0, ROWS(epochs));
	tcase_add_test(planned, a_folder_has_a_mark_and_a_lock);
	tcase_add_test(planned, leftovers_are_of_this_recorder);
	tcase_add_loop_test(planned, a_message_becomes_a_row, 0, ROWS(messages));
	tcase_add_test(planned, who_writes_too_much_is_kept_no_more_and_others_are);
	tcase_add_test(planned, what_two_recorders_heard_is_one_row);
	return planned;
}
