/* The processes that a recorder starts: Chromium, ffmpeg, ffprobe. Each is the leader of a session
 * and of a process group, and ends with the recorder. Processes that they leave behind become
 * children of the recorder, which ends and reaps them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RECORDER_CHILDREN_H
#define RECORDER_CHILDREN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/fault.h"
#include "base/slice.h"

/* A process. Must stay where it is until it has been reaped or child_end has returned. */
struct child {
	pid_t pid; /* 0 before the start */
	bool is_ended;
	int status; /* as of waitpid(2), once it has ended */
	struct child *next;
};

struct children {
	struct child *first;
};

/* Descriptors 0 to 4 of the new process; -1: /dev/null for 0 to 2, closed for 3 and 4. */
#define CHILD_DESCRIPTORS 5

struct child_start {
	const char *const
		*arguments; /* ends with NULL; the first is the program, looked up in PATH */
	const char *directory; /* working directory, or NULL */
	const char *home; /* HOME and TMPDIR, or NULL for those of the recorder */
	int descriptors[CHILD_DESCRIPTORS];
	int nice; /* added to that of the recorder */
	/* Called in the new process before the program; it ends with the status that is not 0. May
	 * be NULL. arguments: an array of its own, which it may change. */
	int (*prepare)(void *context, const char **arguments);
	void *context;
};

/* Makes the recorder the parent of processes that its children leave behind. */
void children_adopt(void);

/* Starts a process. FAULT_UNAVAILABLE if there cannot be another one. */
bool child_start(struct children *children, struct child *child, const struct child_start *start,
		 struct fault *fault);

/* Notes which processes have ended. Call it after SIGCHLD. */
void children_reap(struct children *children);

/* Ends a process, its group and what it leaves behind, at once, and waits for it. Does nothing if
 * it was never started. */
void child_end(struct children *children, struct child *child);

/* Waits until all children have ended, also those that were left behind; at most two seconds. */
void children_wait(struct children *children);

/* Sets that read(2) and write(2) do not wait. Returns the descriptor. */
int descriptor_unblocked(int descriptor);

/* The newest bytes of what a process says. */
#define TAIL_SIZE 512
struct tail {
	int descriptor; /* -1 if there is none */
	char bytes[TAIL_SIZE];
	size_t size;
};

/* Makes a pipe, of which the tail is the reading end. Returns the writing end, or -1. */
int tail_open(struct tail *tail);
/* Reads what is there without waiting. Returns false at the end. */
bool tail_read(struct tail *tail);
void tail_close(struct tail *tail);
/* Returns the last line that is not empty, as printable ASCII in `line`. */
const char *tail_line(const struct tail *tail, char line[TAIL_SIZE + 1]);

/* Returns whether a program is there: a path with a slash, or a name that PATH has. */
bool program_exists(const char *program);

#endif
