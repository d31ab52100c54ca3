/* What the tests of the recorder share: a stand-in for the service, the program itself, and what a
 * file shows and sounds like.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_RECORDER_KIT_H
#define TESTS_RECORDER_KIT_H

#include <check.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bucket_server.h"
#include "receiver.h"
#include "recorder/contract.h"

#define ACCOUNT "65fa3c41b2d9e07718c4a0f1"
#define JOB "65fa3c41b2d9e07718c4a0f2"
#define ROOM "65fa3c41b2d9e07718c4a0f3"
/* The user as whom a recorder runs that root starts. */
#define NOBODY 65534
#define FOLDER_OF_JOB ACCOUNT "/" ROOM "/" JOB

/* Returns whether the programs are installed, which `name` says. */
bool has_program(const char *name);

/* What the stand-in has heard in the last report. */
struct heard {
	int64_t reports, n, slots, part, recorded_ms, gaps;
	char boot[REPORT_BOOT_SIZE], folder[80], state[16], error[400];
	bool ends;
	size_t works, files;
	int64_t file_ms, file_width;
	size_t outputs;
	struct heard_output {
		char url[256], state[16], error[256];
	} output[OUTPUTS_MOST];
};

/* A service with one job. */
struct stand_in {
	struct receiver *receiver;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Set by the test, with the lock. */
	const char *want; /* NULL: it does not list the job */
	int status; /* of its responses */
	int64_t inside, rev, stopped_at;
	int64_t paused_from, paused_to;
	int64_t epoch, lease_ms;
	int64_t ahead; /* milliseconds by which its clock is ahead of that of the recorder */
	const char *unheard; /* the name of a recorder to which it does not answer, or NULL */
	const char *stream; /* JSON, further members of the order; NULL for none */
	bool keeps_nothing; /* no file is made */
	const char *page; /* HTML; NULL for the test picture */
	const char *media; /* the URL of the media server; NULL for the usual one */
	struct bucket_server *storage; /* where files go; NULL: they stay */
	const char *endpoint; /* its URL; NULL for its own */
	bool has_no_credentials; /* it has no address now */
	bool erases; /* with `drop` */
	struct heard heard;
};

void stand_in_open(struct stand_in *stand_in);
void stand_in_close(struct stand_in *stand_in);
/* Sets what is wanted. A stop has the time of now. */
void stand_in_want(struct stand_in *stand_in, const char *want);
void stand_in_answer(struct stand_in *stand_in, int status);
/* Waits until the last report has this state, and at least so many parts and milliseconds; at most
 * two minutes, then the test fails. Returns what was heard. */
struct heard stand_in_wait(struct stand_in *stand_in, const char *state, int64_t part,
			   int64_t recorded_ms);

/* The same for the slots of the recorder, and for the error of the work. */
void stand_in_wait_slots(struct stand_in *stand_in, int64_t slots);
void stand_in_wait_error(struct stand_in *stand_in, const char *error);
/* The same for an output, by its place. error: NULL for any. */
void stand_in_wait_output(struct stand_in *stand_in, size_t place, const char *state,
			  const char *error);

/* A recorder: `anteroom record` with a folder of its own. */
struct recorder_process {
	char *directory; /* of the test */
	char folder[4096];
	/* Options of the next start. */
	const char *name, *opening, *media_allow, *upload_allow, *stream_allow, *chromium;
	const char *upload_ca; /* NULL: none */
	const char *clock_ahead; /* seconds by which its clock is wrong; NULL: it is right */
	pid_t pid;
	pid_t former; /* another process that still runs, or 0 */
};

void recorder_prepare(struct recorder_process *recorder);
void recorder_start(struct recorder_process *recorder, const struct stand_in *stand_in);
/* Sends the signal, and waits for the end. */
void recorder_signal(struct recorder_process *recorder, int signal_number);
/* Returns the process of the recorder's Chromium, 0 if there is none. */
pid_t recorder_chromium(const struct recorder_process *recorder);
void recorder_remove(struct recorder_process *recorder);

/* Another server on a port of 127.0.0.1. */
struct side_server {
	pid_t pid;
	int port;
};

/* A port that nobody has. With `listens`, a socket that is bound to it and answers nobody. */
int free_port(int *listens);
/* TLS in front of the server on port `behind`, for so many connections, one after another. Its
 * certificate is tls.pem in the directory of the recorder's test, for localhost and 127.0.0.1. */
struct side_server tls_start(const struct recorder_process *recorder, int behind, int connections);
void side_server_stop(pid_t pid);

/* Runs a command of the shell and returns its output, which is freed by the caller. */
char *output_of(size_t *size, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Returns the number of pictures of a file. */
int64_t pictures_of(const char *path);
/* Returns for how many milliseconds at most the picture stands still behind from_ms. */
int64_t picture_stands_still(const char *path, int64_t from_ms);
/* Returns the largest distance of a beep behind from_ms to the next flash in milliseconds, of so
 * many in ten; *beeps: their number. */
int64_t beeps_to_flashes(const char *path, int64_t from_ms, size_t in_ten, int64_t *beeps);

TCase *recorder_plans(void);
TCase *recorder_joining(void);
TCase *recorder_running(void);
TCase *recorder_sending(void);
TCase *recorder_streams(void);
TCase *recorder_outputs(void);

#endif
