/* The only place that knows libgdbm (store/gdbm/gdbm_library.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gdbm/gdbm_library.h"

#include <errno.h>
#include <fcntl.h>
#include <gdbm.h>
#include <setjmp.h>

#include "base/log.h"

/* When a call of its own to the system fails, libgdbm calls the function it was given and then ends
 * the process. That a disk cannot be read must not end ours, so the function does not return: it
 * jumps back to where libgdbm was called. The function is given nothing but a text, so the way back
 * must be the thread's. What the handle had is lost then: closing it may fail in the same way. */
static _Thread_local jmp_buf *way_back;

static void gdbm_gave_up(const char *message)
{
	if (way_back != NULL)
		longjmp(*way_back, 1);
	log_event(LOG_LEVEL_ERROR, "gdbm_gave_up", "error", message, NULL);
}

/* The handle closes what it was given. The file is read through its descriptor: it may have lost
 * its name meanwhile. */
static bool count(int file, const char *name, gdbm_count_t *n)
{
	const int own = fcntl(file, F_DUPFD_CLOEXEC, 0);
	GDBM_FILE handle = own < 0 ? NULL
				   : gdbm_fd_open(own, name,
						  GDBM_READER | GDBM_NOLOCK | GDBM_CLOERROR, 0,
						  gdbm_gave_up);
	bool is_counted = handle != NULL && gdbm_count(handle, n) == 0;
	const gdbm_error error = gdbm_errno;

	if (handle != NULL)
		gdbm_close(handle);
	gdbm_errno = error;
	return is_counted;
}

static bool guarded_count(int file, const char *name, gdbm_count_t *n)
{
	jmp_buf here;
	bool is_counted;

	if (setjmp(here) != 0) {
		way_back = NULL;
		gdbm_errno = GDBM_FILE_READ_ERROR;
		return false;
	}
	way_back = &here;
	is_counted = count(file, name, n);
	way_back = NULL;
	return is_counted;
}

bool gdbm_library_count(int file, const char *name, uint64_t *n, struct fault *fault)
{
	gdbm_count_t counted = 0;

	errno = 0;
	if (!guarded_count(file, name, &counted))
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "GDBM says of %s: %s", name,
				   gdbm_strerror(gdbm_errno));
	*n = counted;
	return true;
}
