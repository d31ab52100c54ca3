/* See recorder/children.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "recorder/children.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"

#define ARGUMENTS_MOST 64
/* Descriptors of the recorder are moved here before those of the process are set. */
#define ABOVE 10
#define WAIT_MS 2000

void children_adopt(void)
{
	/* Without it, what Chromium leaves behind is the child of the first process. */
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

int descriptor_unblocked(int descriptor)
{
	(void)fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
	return descriptor;
}

/* ---- starting ---- */

/* Runs in the new process until the program replaces it. */
_Noreturn static void become_program(const struct child_start *start)
{
	const char *arguments[ARGUMENTS_MOST + 1] = { NULL };
	int copies[CHILD_DESCRIPTORS];
	sigset_t none;
	int status;

	(void)setsid();
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	(void)!nice(start->nice);
	for (size_t i = 0; i < ARGUMENTS_MOST && start->arguments[i] != NULL; i++)
		arguments[i] = start->arguments[i];
	for (int i = 0; i < CHILD_DESCRIPTORS; i++) {
		const int from = start->descriptors[i] >= 0 ? start->descriptors[i]
				 : i < 3		    ? open("/dev/null", O_RDWR)
							    : -1;

		copies[i] = from < 0 ? -1 : fcntl(from, F_DUPFD_CLOEXEC, ABOVE);
	}
	for (int i = 0; i < CHILD_DESCRIPTORS; i++) {
		if (copies[i] < 0)
			close(i);
		else
			(void)dup2(copies[i], i);
	}
	if (start->directory != NULL && chdir(start->directory) != 0)
		_exit(126);
	if (start->home != NULL &&
	    (setenv("HOME", start->home, 1) != 0 || setenv("TMPDIR", start->home, 1) != 0))
		_exit(126);
	/* Nothing tells Chromium of a desktop. */
	(void)unsetenv("DISPLAY");
	(void)unsetenv("DBUS_SESSION_BUS_ADDRESS");
	(void)unsetenv("XDG_RUNTIME_DIR");
	(void)signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	status = start->prepare == NULL ? 0 : start->prepare(start->context, arguments);
	if (status != 0)
		_exit(status);
	(void)execvp(arguments[0], (char *const *)(void *)arguments);
	dprintf(STDERR_FILENO, "%s: %s\n", arguments[0], strerror(errno));
	_exit(127);
}

bool child_start(struct children *children, struct child *child, const struct child_start *start,
		 struct fault *fault)
{
	const pid_t pid = fork();

	if (pid < 0)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot start a process");
	if (pid == 0)
		become_program(start);
	*child = (struct child){ .pid = pid, .next = children->first };
	children->first = child;
	return true;
}

/* ---- ending ---- */

static struct child *find_child(const struct children *children, pid_t pid)
{
	struct child *child = children->first;

	while (child != NULL && child->pid != pid)
		child = child->next;
	return child;
}

static void forget_child(struct children *children, const struct child *child)
{
	for (struct child **at = &children->first; *at != NULL; at = &(*at)->next) {
		if (*at == child) {
			*at = child->next;
			return;
		}
	}
}

void children_reap(struct children *children)
{
	struct child *child;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		child = find_child(children, pid);
		if (child != NULL) {
			child->is_ended = true;
			child->status = status;
			forget_child(children, child);
		}
	}
}

/* Ends what the ended process has left behind. Its orphans are children of ours now, in its group
 * or its session. */
static void end_orphans(pid_t group)
{
	char path[64], line[4096];
	FILE *file;

	(void)snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
	file = fopen(path, "re");
	if (file == NULL)
		return;
	if (fgets(line, sizeof line, file) != NULL) {
		struct slice rest = slice_of(line);

		while (rest.data != NULL && rest.size > 0) {
			int64_t pid;

			if (text_integer(text_split(rest, ' ', &rest), &pid) && pid > 1 &&
			    (getpgid((pid_t)pid) == group || getsid((pid_t)pid) == group))
				(void)kill((pid_t)pid, SIGKILL);
		}
	}
	(void)fclose(file);
}

void child_end(struct children *children, struct child *child)
{
	if (child->pid == 0)
		return;
	(void)kill(-child->pid, SIGKILL);
	if (!child->is_ended) {
		while (waitpid(child->pid, &child->status, 0) < 0 && errno == EINTR)
			continue;
		child->is_ended = true;
		forget_child(children, child);
	}
	end_orphans(child->pid);
	child->pid = 0;
}

void children_wait(struct children *children)
{
	const int64_t until = clock_monotonic() + WAIT_MS;
	siginfo_t ended;

	do {
		children_reap(children);
		(void)poll(NULL, 0, 10);
	} while (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
		 clock_monotonic() < until);
}

/* ---- what a process says ---- */

int tail_open(struct tail *tail)
{
	int ends[2];

	*tail = (struct tail){ .descriptor = -1 };
	if (pipe2(ends, O_CLOEXEC) != 0)
		return -1;
	tail->descriptor = descriptor_unblocked(ends[0]);
	return ends[1];
}

bool tail_read(struct tail *tail)
{
	char bytes[4096];

	while (tail->descriptor >= 0) {
		const ssize_t got = read(tail->descriptor, bytes, sizeof bytes);
		size_t added = got < 0 ? 0 : (size_t)got, kept;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno == EAGAIN;
		if (got == 0)
			return false;
		added = added > TAIL_SIZE ? TAIL_SIZE : added;
		kept = tail->size + added > TAIL_SIZE ? TAIL_SIZE - added : tail->size;
		memmove(tail->bytes, tail->bytes + tail->size - kept, kept);
		memcpy(tail->bytes + kept, bytes + (size_t)got - added, added);
		tail->size = kept + added;
	}
	return false;
}

void tail_close(struct tail *tail)
{
	if (tail->descriptor >= 0)
		close(tail->descriptor);
	tail->descriptor = -1;
}

const char *tail_line(const struct tail *tail, char line[TAIL_SIZE + 1])
{
	size_t end = tail->size, begin, size = 0;

	while (end > 0 && (tail->bytes[end - 1] == '\n' || tail->bytes[end - 1] == '\r'))
		end--;
	begin = end;
	while (begin > 0 && tail->bytes[begin - 1] != '\n')
		begin--;
	for (size_t i = begin; i < end; i++) {
		if (tail->bytes[i] >= ' ' && tail->bytes[i] <= '~')
			line[size++] = tail->bytes[i];
	}
	line[size] = '\0';
	return line;
}

bool program_exists(const char *program)
{
	const char *path = getenv("PATH");
	struct slice rest = slice_of(path == NULL ? "/usr/bin:/bin" : path);
	char file[PATH_MAX];

	if (strchr(program, '/') != NULL)
		return access(program, X_OK) == 0;
	while (rest.data != NULL) {
		const struct slice folder = text_split(rest, ':', &rest);

		if (snprintf(file, sizeof file, "%.*s/%s", (int)folder.size, folder.data, program) <
			    (int)sizeof file &&
		    access(file, X_OK) == 0)
			return true;
	}
	return false;
}
