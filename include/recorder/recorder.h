/* The recorder (anteroom-record(8)): carries out the recordings that a service gives it. It reports
 * what it has, is told what is wanted, runs a Chromium for each recording, writes what its page
 * sends, and joins the parts at the end. One thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RECORDER_RECORDER_H
#define RECORDER_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "delivery/address.h"

#define RECORDER_NAME_MOST 64
#define RECORDER_SLOTS_MOST 16

struct recorder_options {
	const char *url; /* of the service, without a trailing slash */
	const char *name;
	const char *key; /* NAME.SECRET */
	const char *folder;
	unsigned slots;
	const char *chromium, *ffmpeg, *ffprobe; /* programs; NULL for those in PATH */
	const char *hosts; /* names that Chromium may reach, with commas; NULL for none */
	struct address_ranges media_ranges; /* for media servers, besides public addresses */
	struct address_ranges upload_ranges; /* the same for object storage, also by http */
	const char *upload_authorities; /* PEM, further ones for object storage; NULL for none */
	struct address_ranges stream_ranges; /* for external streams, the same */
	/* Seconds without a chunk after which a part ends: at its beginning, and later. */
	int64_t opening, silence;
};

/* Returns the number of recordings that this machine can carry out at the same time. */
unsigned recorder_slots(void);

/* Returns how busy the processors were between two readings of the first line of /proc/stat, from 0
 * to 1, without what ran with a lower priority (nice). */
double recorder_busy(const char *before, const char *now);

/* Runs until SIGTERM or SIGINT. Fails if it cannot begin. */
bool recorder_run(const struct recorder_options *options, struct fault *fault);

/* A finding of recorder_check. */
struct recorder_finding {
	bool is_well;
	char sentence[400]; /* what is so */
	char remedy[300]; /* what to do; empty if all is well */
};

/* Looks at all that a recorder needs, and records and joins a test picture. Calls `tell` with each
 * finding. Returns whether all is well. */
bool recorder_check(const struct recorder_options *options,
		    void (*tell)(const struct recorder_finding *finding));

#endif
