/* A command of the program is a row in the table of main. To add one, write its function, declare
 * it below and add its row.
 *
 * Commands use one thread; only `serve` starts others.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COMMAND_COMMAND_H
#define COMMAND_COMMAND_H

#include "base/fault.h"

/* The exit status for wrong usage; EXIT_FAILURE (1) is for all other failures. */
#define EXIT_WRONG_USE 2
/* The exit status of `dump --salvage` and `backup --salvage` when some data could not be read. */
#define EXIT_LOST 3

struct command;
/* argv[0] is the last word of the name. Returns the exit status. */
typedef int command_run(const struct command *command, int argc, char **argv);

struct command {
	const char *name; /* one word or two: "serve", "account add" */
	/* The operands ("NAME"), or NULL. Several words ("NAME [FILE]") are several operands; those
	 * in brackets are optional, the last one may be repeated if it ends in "...". [DIR] is the
	 * data directory (command/options.h). */
	const char *operand;
	const char *help; /* a clause that follows the name: "creates an account ..." */
	command_run *run;
};

command_run command_serve;
command_run command_account_add;
command_run command_account_list;
command_run command_account_switch; /* account enable, account disable */
command_run command_account_rotate;
command_run command_account_set;
command_run command_account_delete;
command_run command_recorder_add;
command_run command_recorder_list;
command_run command_recorder_remove;
command_run command_token;
command_run command_store_create;
command_run command_store_upgrade;
command_run command_check;
command_run command_stat;
command_run command_backup;
command_run command_restore;
command_run command_dump;
command_run command_load;
/* All commands for rooms, codes and keys of a running service; the command's name tells which. */
command_run command_client;
command_run command_code_link;
command_run command_recording_link;
command_run command_recording_download;
command_run command_recording_delete;
command_run command_recording_purge;
command_run command_recording_test;
command_run command_backend_write;
command_run command_backend_drain;
command_run command_setup_livekit;
command_run command_record;
command_run command_openapi;

/* ---- for the implementations ---- */

/* Print one line to stderr: "anteroom serve: ...", or "anteroom: ..." if command is NULL. On the
 * systemd journal the line starts with its level, error or notice. */
void command_complain(const struct command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void command_remark(const struct command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Prints the details of a fault to stderr, one per line. */
void command_print_details(const struct fault *fault);

/* Complains with the fault's cause or, if it has none, its message, detail and details. Returns the
 * exit status: EXIT_WRONG_USE for FAULT_BAD_REQUEST, otherwise EXIT_FAILURE. */
int command_failed(const struct command *command, const struct fault *fault);

/* Flushes standard output and returns the exit status, so that a full disk or a closed pipe counts
 * as a failure. command: as above. */
int command_printed(const struct command *command);

#endif
