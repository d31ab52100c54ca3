/* A command of the program: a row of main's table. To add one, write its function, declare it below
 * and add its row.
 *
 * Commands run in one thread; `serve` alone starts others.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COMMAND_COMMAND_H
#define COMMAND_COMMAND_H

#include "base/fault.h"

/* The exit status for wrong use; EXIT_FAILURE (1) is for what failed though it was asked rightly. */
#define EXIT_WRONG_USE 2
/* The exit status of `dump --salvage` and `backup --salvage`: done, but for what could not be read. */
#define EXIT_LOST 3

struct command {
	const char *name; /* one word or two: "serve", "account add" */
	/* What it has to be given besides options ("NAME"), or NULL; several words ("DIR [FILE]")
	 * are several, and in brackets one that may be left out. */
	const char *operand;
	const char *help; /* one clause that follows the name: "makes an account ..." */
	/* argv[0] is the last word of the name. Returns the exit status. */
	int (*run)(const struct command *command, int argc, char **argv);
};

int command_serve(const struct command *command, int argc, char **argv);
int command_account_add(const struct command *command, int argc, char **argv);
int command_account_list(const struct command *command, int argc, char **argv);
int command_account_disable(const struct command *command, int argc, char **argv);
int command_account_enable(const struct command *command, int argc, char **argv);
int command_account_rotate(const struct command *command, int argc, char **argv);
int command_token(const struct command *command, int argc, char **argv);
int command_store_create(const struct command *command, int argc, char **argv);
int command_check(const struct command *command, int argc, char **argv);
int command_stat(const struct command *command, int argc, char **argv);
int command_backup(const struct command *command, int argc, char **argv);
int command_dump(const struct command *command, int argc, char **argv);
int command_load(const struct command *command, int argc, char **argv);
int command_openapi(const struct command *command, int argc, char **argv);

/* ---- for the functions above ---- */

/* One line on stderr: "anteroom serve: ...". command: NULL where none was named: "anteroom: ...". Where
 * the journal of systemd reads stderr, the line has its level in front: an error, and for a remark a
 * notice. */
void command_complain(const struct command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void command_remark(const struct command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Complains with the fault's cause, or else its message and detail. Returns the exit status:
 * EXIT_WRONG_USE for FAULT_BAD_REQUEST, EXIT_FAILURE for all others. */
int command_failed(const struct command *command, const struct fault *fault);

/* Sends what was printed on its way; command: as above. Returns the exit status: a full disk or a
 * closed pipe must not look like success. */
int command_printed(const struct command *command);

#endif
