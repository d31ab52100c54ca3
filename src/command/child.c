/* See command/child.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/child.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/data_directory.h"

static const int ending_signals[] = { SIGINT, SIGTERM, SIGHUP };
#define ENDING_SIGNALS (sizeof ending_signals / sizeof ending_signals[0])

static void fill_signals(sigset_t *signals)
{
	sigemptyset(signals);
	sigaddset(signals, SIGCHLD);
	for (size_t i = 0; i < ENDING_SIGNALS; i++)
		sigaddset(signals, ending_signals[i]);
}

void child_hold_signals(void)
{
	sigset_t signals;

	fill_signals(&signals);
	(void)sigprocmask(SIG_BLOCK, &signals, NULL);
}

int child_run(const struct command *command, int (*work)(void *context), void *context)
{
	const struct timespec at_once = { .tv_sec = 0 };
	sigset_t signals, former;
	pid_t child;
	int status = 0, signal_number;

	fill_signals(&signals);
	(void)fflush(NULL);
	(void)sigprocmask(SIG_BLOCK, &signals, &former);
	child = fork();
	if (child < 0) {
		command_complain(command, "cannot start a process: %s", strerror(errno));
		(void)sigprocmask(SIG_SETMASK, &former, NULL);
		return EXIT_FAILURE;
	}
	if (child == 0) {
		(void)sigprocmask(SIG_UNBLOCK, &signals, NULL);
		status = work(context);
		(void)fflush(NULL);
		_exit(status);
	}
	/* Passes terminating signals on until the child has ended. */
	while (waitpid(child, &status, WNOHANG) == 0) {
		signal_number = sigwaitinfo(&signals, NULL);
		if (signal_number > 0 && signal_number != SIGCHLD)
			(void)kill(child, SIGTERM);
	}
	if (WIFEXITED(status)) {
		status = WEXITSTATUS(status);
	} else {
		command_complain(command, "was ended by a signal: %s", strsignal(WTERMSIG(status)));
		status = EXIT_FAILURE;
	}
	/* Signals that arrived while the child was ending must not end the caller once they are
	 * unblocked. */
	while (sigtimedwait(&signals, NULL, &at_once) > 0)
		continue;
	(void)sigprocmask(SIG_SETMASK, &former, NULL);
	return status;
}

/* ---- removing ---- */

struct tree {
	const char *path;
	const struct identity *owner;
};

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
	(void)status;
	if (place->level > 0 && (kind == FTW_DP ? rmdir(path) : unlink(path)) != 0)
		return errno;
	return 0;
}

static int remove_contents(void *context)
{
	const struct tree *tree = context;
	struct fault fault = FAULT_INITIAL;

	if (tree->owner != NULL && !data_directory_become(tree->owner, &fault))
		return EXIT_FAILURE;
	return nftw(tree->path, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0 ? EXIT_SUCCESS
									  : EXIT_FAILURE;
}

void child_remove_tree(const struct command *command, const char *path,
		       const struct identity *owner, bool keeps)
{
	struct tree tree = { .path = path, .owner = owner };
	struct fault fault = FAULT_INITIAL;
	bool is_empty = false, is_removed;

	/* An owner who cannot reach the directory has written nothing into it. */
	is_removed = data_directory_is_empty(path, &is_empty, &fault) && is_empty;
	is_removed = is_removed || child_run(command, remove_contents, &tree) == EXIT_SUCCESS;
	is_removed = is_removed && (keeps || rmdir(path) == 0);
	if (!is_removed)
		command_complain(command,
				 "%s is incomplete and could not be removed; remove it yourself",
				 path);
}
