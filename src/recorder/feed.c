/* See recorder/feed.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "recorder/feed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"

/* An ffmpeg that has this much to read, or has read nothing for so long, hangs. */
#define WAITING_MOST ((size_t)16 << 20)
#define HANGS_MS 15000
#define ARGUMENTS_MOST 48

/* ---- bytes that wait ---- */

void waiting_add(struct waiting *waiting, struct slice bytes)
{
	if (waiting->begin > 0 && waiting->begin >= waiting->end - waiting->begin) {
		waiting->end -= waiting->begin;
		memmove(waiting->bytes, waiting->bytes + waiting->begin, waiting->end);
		waiting->begin = 0;
	}
	waiting->bytes = memory_room(waiting->bytes, waiting->end + bytes.size, &waiting->capacity,
				     1);
	if (bytes.size > 0)
		memcpy(waiting->bytes + waiting->end, bytes.data, bytes.size);
	waiting->end += bytes.size;
}

int64_t waiting_write(struct waiting *waiting, int descriptor)
{
	int64_t written = 0;

	while (waiting->begin < waiting->end) {
		const ssize_t n = write(descriptor, waiting->bytes + waiting->begin,
					waiting->end - waiting->begin);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? written : -1;
		waiting->begin += (size_t)n;
		written += n;
	}
	return written;
}

void waiting_free(struct waiting *waiting)
{
	free(waiting->bytes);
	*waiting = (struct waiting){ NULL, 0, 0, 0 };
}

/* ---- Matroska ---- */

static const char cluster[] = { 0x1f, 0x43, (char)0xb6, 0x75 };

struct slice feed_from_cluster(struct slice bytes)
{
	const char *at = bytes.data == NULL
				 ? NULL
				 : memmem(bytes.data, bytes.size, cluster, sizeof cluster);

	if (at == NULL)
		return (struct slice){ NULL, 0 };
	return (struct slice){ at, bytes.size - (size_t)(at - bytes.data) };
}

size_t feed_header_size(struct slice bytes)
{
	const struct slice rest = feed_from_cluster(bytes);

	return rest.data == NULL ? 0 : bytes.size - rest.size;
}

/* ---- ffmpeg ---- */

bool feed_open(struct children *children, struct feed *feed, const char *ffmpeg,
	       const char *const *arguments, const char *directory, struct fault *fault)
{
	const char *all[ARGUMENTS_MOST + 1] = {
		ffmpeg,	     "-v",	 "error",    "-nostdin",   "-protocol_whitelist",
		"pipe,file", "-fflags",	 "nobuffer", "-probesize", "200000",
		"-f",	     "matroska", "-i",	     "pipe:0"
	};
	struct child_start start = {
		.arguments = all,
		.directory = directory,
		.descriptors = { -1, -1, -1, -1, -1 },
	};
	int in[2] = { -1, -1 }, out[2] = { -1, -1 }, errors;
	size_t n = 0;
	bool is_open;

	*feed = (struct feed){ .input = -1, .output = -1, .says = { .descriptor = -1 } };
	while (all[n] != NULL)
		n++;
	for (size_t i = 0; arguments[i] != NULL && n < ARGUMENTS_MOST; i++)
		all[n++] = arguments[i];
	errors = tail_open(&feed->says);
	is_open = errors >= 0 && pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0;
	start.descriptors[0] = in[0];
	start.descriptors[1] = out[1];
	start.descriptors[2] = errors;
	is_open = is_open ? child_start(children, &feed->child, &start, fault)
			  : fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot create a pipe");
	if (errors >= 0)
		close(errors);
	if (in[0] >= 0)
		close(in[0]);
	if (out[1] >= 0)
		close(out[1]);
	feed->input = in[1] < 0 ? -1 : descriptor_unblocked(in[1]);
	feed->output = out[0] < 0 ? -1 : descriptor_unblocked(out[0]);
	feed->moved_at = clock_monotonic();
	if (!is_open)
		feed_close(children, feed);
	return is_open;
}

void feed_close(struct children *children, struct feed *feed)
{
	if (!feed_is_open(feed))
		return;
	child_end(children, &feed->child);
	tail_close(&feed->says);
	if (feed->input >= 0)
		close(feed->input);
	if (feed->output >= 0)
		close(feed->output);
	waiting_free(&feed->waiting);
	*feed = (struct feed){ .input = -1, .output = -1, .says = { .descriptor = -1 } };
}

bool feed_is_open(const struct feed *feed)
{
	return feed->output >= 0 || feed->says.descriptor >= 0;
}

void feed_add(struct feed *feed, struct slice bytes)
{
	if (feed->waiting.begin == feed->waiting.end)
		feed->moved_at = clock_monotonic();
	waiting_add(&feed->waiting, bytes);
}

void feed_end(struct feed *feed)
{
	if (!feed->is_ending)
		feed->moved_at = clock_monotonic();
	feed->is_ending = true;
}

bool feed_step(struct feed *feed, char why[TAIL_SIZE + 1])
{
	const int64_t now = clock_monotonic();
	int64_t written = 0;

	why[0] = '\0';
	(void)tail_read(&feed->says);
	if (feed->input >= 0) {
		written = waiting_write(&feed->waiting, feed->input);
		if (written < 0 || (feed->is_ending && feed->waiting.begin == feed->waiting.end)) {
			close(feed->input);
			feed->input = -1;
		}
	}
	if (written > 0)
		feed->moved_at = now;
	if (feed->child.is_ended) {
		if (!feed->is_ending || !WIFEXITED(feed->child.status) ||
		    WEXITSTATUS(feed->child.status) != 0)
			(void)snprintf(why, TAIL_SIZE + 1, "ffmpeg ended");
		return false;
	}
	if (feed->waiting.end - feed->waiting.begin > WAITING_MOST ||
	    ((feed->is_ending || feed->waiting.begin < feed->waiting.end) &&
	     now - feed->moved_at > HANGS_MS)) {
		(void)snprintf(why, TAIL_SIZE + 1, "ffmpeg hangs");
		return false;
	}
	return true;
}
