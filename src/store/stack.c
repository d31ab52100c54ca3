/* The only place that knows GDBM (store/stack_handle.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/stack_handle.h"

#include <errno.h>
#include <gdbm.h>
#include <setjmp.h>
#include <unistd.h>

#include "base/log.h"
#include "store/file.h"

/* Of a large file nearly every read is of another bucket: a large cache in a handle helps nothing. */
#define READ_CACHE 16

/* When a call of its own to the system fails, GDBM calls the function it was given and then ends the
 * process. That a disk cannot be read must not end ours, so the function does not return: it jumps back
 * to where GDBM was called. The handle is good for nothing then but to be closed, which may fail in the
 * same way. The function is given nothing but a text, so the way back must be the thread's. */
static _Thread_local jmp_buf *way_back;

static void gdbm_gave_up(const char *message)
{
	if (way_back != NULL)
		longjmp(*way_back, 1);
	log_event(LOG_LEVEL_ERROR, "gdbm_gave_up", "error", message, NULL);
}

/* The calls of GDBM that may end that way. */

static GDBM_FILE guarded_open(const char *path, int flags)
{
	GDBM_FILE handle;
	jmp_buf here;

	if (setjmp(here) != 0) {
		way_back = NULL;
		return NULL;
	}
	way_back = &here;
	handle = gdbm_open(path, 0, flags | GDBM_READER | GDBM_NOLOCK | GDBM_CLOEXEC, 0,
			   gdbm_gave_up);
	way_back = NULL;
	return handle;
}

static datum guarded_fetch(GDBM_FILE handle, datum key, gdbm_error *error)
{
	datum found;
	jmp_buf here;

	if (setjmp(here) != 0) {
		way_back = NULL;
		*error = GDBM_FILE_READ_ERROR;
		return (datum){ .dptr = NULL };
	}
	way_back = &here;
	found = gdbm_fetch(handle, key);
	way_back = NULL;
	*error = gdbm_errno;
	return found;
}

/* What fails does not matter: nothing was written. */
void handle_close(GDBM_FILE handle)
{
	const int file = gdbm_fdesc(handle);
	jmp_buf here;

	if (setjmp(here) != 0) {
		way_back = NULL;
		close(file);
		return;
	}
	way_back = &here;
	gdbm_close(handle);
	way_back = NULL;
}

static datum datum_of(struct slice bytes)
{
	/* GDBM's type has no const; it does not write into keys. */
	return (datum){ .dptr = (char *)(size_t)bytes.data, .dsize = (int)bytes.size };
}

static GDBM_FILE open_with(const char *path, int flags, struct fault *fault)
{
	size_t buckets = READ_CACHE;
	GDBM_FILE handle;

	errno = 0;
	handle = guarded_open(path, flags);
	if (handle != NULL && gdbm_setopt(handle, GDBM_SETCACHESIZE, &buckets, sizeof buckets) == 0)
		return handle;
	fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot open %s: %s", path,
		    gdbm_strerror(gdbm_errno));
	if (handle != NULL)
		handle_close(handle);
	return NULL;
}

/* What cannot be mapped (a process may have so many mappings, and so much memory) is read like any
 * other file. */
GDBM_FILE handle_open(const char *path, struct fault *fault)
{
	struct fault ignored = FAULT_INITIAL;
	GDBM_FILE handle = open_with(path, 0, &ignored);

	if (handle != NULL)
		return handle;
	return open_with(path, GDBM_NOMMAP, fault);
}

static bool failed(GDBM_FILE handle, struct fault *fault)
{
	return fault_cause(fault, FAULT_UNAVAILABLE, gdbm_last_syserr(handle), "GDBM says: %s",
			   gdbm_db_strerror(handle));
}

/* All but these say that the file is not what was written. */
static enum handle_answer read_failed(GDBM_FILE handle, gdbm_error error, struct fault *fault)
{
	failed(handle, fault);
	if (error == GDBM_MALLOC_ERROR || error == GDBM_FILE_READ_ERROR)
		return HANDLE_FAILED;
	return HANDLE_DAMAGED;
}

enum handle_answer handle_fetch(GDBM_FILE handle, struct slice key, struct slice *value,
				struct fault *fault)
{
	gdbm_error error;
	datum found = guarded_fetch(handle, datum_of(key), &error);

	if (found.dptr != NULL) {
		*value = (struct slice){ found.dptr, (size_t)found.dsize };
		return HANDLE_FOUND;
	}
	return error == GDBM_ITEM_NOT_FOUND ? HANDLE_ABSENT : read_failed(handle, error, fault);
}

enum handle_answer handle_count(GDBM_FILE handle, uint64_t *n, struct fault *fault)
{
	gdbm_count_t count;

	if (gdbm_count(handle, &count) != 0)
		return read_failed(handle, gdbm_errno, fault);
	*n = count;
	return HANDLE_FOUND;
}

bool handle_is_usable(GDBM_FILE handle)
{
	return !gdbm_needs_recovery(handle);
}
