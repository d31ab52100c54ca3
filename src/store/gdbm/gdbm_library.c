/* The only file that uses libgdbm.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gdbm/gdbm_library.h"

#include <errno.h>
#include <fcntl.h>
#include <gdbm.h>
#include <setjmp.h>

#include "base/log.h"

/* When a system call fails, libgdbm calls its fatal handler and then ends the process. An
 * unreadable disk must not end ours, so the handler jumps back to the caller of libgdbm. The
 * handler gets only a text, hence the thread-local variable. The handle is not closed then, since
 * closing it may fail in the same way. */
static _Thread_local jmp_buf *way_back;

static void gdbm_gave_up(const char *message)
{
	if (way_back != NULL)
		longjmp(*way_back, 1);
	log_event(LOG_LEVEL_ERROR, "gdbm_gave_up", "error", message, NULL);
}

/* The handle closes its own duplicate of the descriptor. The file is not opened by name, because
 * its name may have been removed. */
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
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "GDBM error in %s: %s", name,
				   gdbm_strerror(gdbm_errno));
	*n = counted;
	return true;
}
