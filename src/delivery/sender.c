/* See delivery/sender.h: the service's side.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "delivery/sender.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "delivery/sender_wire.h"

/* Seconds that sending a message may take. The process does nothing but read messages. */
#define SEND_SECONDS 10
/* Minimum milliseconds between two starts of the process. */
#define START_PAUSE 1000

const struct sender_purpose sender_of_webhooks = {
	.argument = "webhook-sender",
	.event = "webhook_sender",
	.down_event = "webhook_sender_down",
	.waiting = "restarting the sender; webhooks wait",
	.most = SENDER_MOST,
	.patience = SENDER_PATIENCE * 1000,
};

const struct sender_purpose sender_of_media = {
	.argument = "media-sender",
	.event = "media_sender",
	.down_event = "media_sender_down",
	.waiting = "restarting the sender; media servers are not asked until then",
	.most = SENDER_MEDIA_MOST,
	.patience = 5000,
};

const struct sender_purpose sender_of_reports = {
	.argument = "report-sender",
	.event = "report_sender",
	.down_event = "report_sender_down",
	.waiting = "restarting the sender; the service gets no reports until then",
	.most = 4,
	.patience = 5000,
};

const struct sender_purpose sender_of_uploads = {
	.argument = "upload-sender",
	.event = "upload_sender",
	.down_event = "upload_sender_down",
	.waiting = "restarting the sender; files wait",
	.most = 4,
	.patience = 12 * 60 * 60 * 1000,
};

struct sender {
	const struct sender_options *options;
	pid_t process; /* -1 if there is none */
	int socket; /* -1 if there is none */
	bool is_lost; /* sender_take has not reported it yet */
	int64_t started; /* time of the last start (clock_monotonic) */
};

/* ---- starting ---- */

/* Starts the process without anything of the service: no descriptor except the socket, no
 * environment (it may name a proxy or a file for TLS keys), no blocked signals. */
static int spawn(const struct sender_options *options, int socket, pid_t *process)
{
	const char *program = options->program != NULL ? options->program : "/proc/self/exe";
	char name[] = "anteroom", argument[32];
	char *const arguments[] = { name, argument, NULL }, *const environment[] = { NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, all;
	int error;

	(void)snprintf(argument, sizeof argument, "%s", options->purpose->argument);
	sigemptyset(&none);
	sigfillset(&all);
	if (posix_spawn_file_actions_init(&actions) != 0 || posix_spawnattr_init(&attributes) != 0)
		ABORT("cannot describe a process");
	if (posix_spawnattr_setsigmask(&attributes, &none) != 0 ||
	    posix_spawnattr_setsigdefault(&attributes, &all) != 0 ||
	    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) !=
		    0 ||
	    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDWR, 0) != 0 ||
	    posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDOUT_FILENO) != 0 ||
	    posix_spawn_file_actions_adddup2(&actions, socket, SENDER_SOCKET) != 0 ||
	    posix_spawn_file_actions_addclosefrom_np(&actions, SENDER_SOCKET + 1) != 0)
		ABORT("cannot describe a process");
	error = posix_spawn(process, program, &actions, &attributes, arguments, environment);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return error;
}

static bool send_options(struct sender *sender)
{
	const struct sender_options *options = sender->options;
	struct wire_options wire = {
		.allows_http = options->allows_http,
		.allows_private = options->allows_private,
		.most = options->purpose->most,
		.patience = options->patience != 0 ? options->patience : options->purpose->patience,
		.connect_patience = options->connect_patience,
		.stall_patience = options->stall_patience != 0 ? options->stall_patience
							       : SENDER_STALL,
		.ranges = options->ranges,
		.storage_ranges = options->storage_ranges,
	};

	if (options->authorities != NULL &&
	    snprintf(wire.authorities, sizeof wire.authorities, "%s", options->authorities) >=
		    (int)sizeof wire.authorities) {
		errno = ENAMETOOLONG;
		return false;
	}
	return send(sender->socket, &wire, sizeof wire, MSG_NOSIGNAL) == (ssize_t)sizeof wire;
}

static bool is_ready(struct sender *sender, struct fault *fault)
{
	struct wire_ready ready;
	ssize_t size;

	do {
		size = recv(sender->socket, &ready, sizeof ready, 0);
	} while (size < 0 && errno == EINTR);
	if (size != (ssize_t)sizeof ready)
		return fault_cause(fault, FAULT_UNAVAILABLE, size < 0 ? errno : 0,
				   "cannot start the process %s",
				   sender->options->purpose->argument);
	return ready.error == 0 || fault_cause(fault, FAULT_UNAVAILABLE, ready.error,
					       "cannot read %s", sender->options->authorities);
}

static void stop_process(struct sender *sender)
{
	if (sender->socket >= 0)
		close(sender->socket);
	sender->socket = -1;
	if (sender->process > 0) {
		(void)kill(sender->process, SIGKILL);
		while (waitpid(sender->process, NULL, 0) < 0 && errno == EINTR)
			continue;
	}
	sender->process = -1;
}

static bool start_process(struct sender *sender, struct fault *fault)
{
	const struct timeval patience = { .tv_sec = SEND_SECONDS };
	int ends[2], error;

	sender->started = clock_monotonic();
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot create a socket");
	sender->socket = ends[0];
	error = spawn(sender->options, ends[1], &sender->process);
	close(ends[1]);
	if (error != 0)
		sender->process = -1;
	if (error != 0 ||
	    setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) != 0 ||
	    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0 ||
	    !send_options(sender))
		fault_cause(fault, FAULT_UNAVAILABLE, error != 0 ? error : errno,
			    "cannot start the process %s", sender->options->purpose->argument);
	else if (is_ready(sender, fault))
		return true;
	stop_process(sender);
	return false;
}

void sender_stop(struct sender *sender)
{
	stop_process(sender);
	sender->is_lost = true;
}

bool sender_open(const struct sender_options *options, struct sender **sender, struct fault *fault)
{
	*sender = memory_check(malloc(sizeof **sender));
	**sender = (struct sender){ .options = options, .process = -1, .socket = -1 };
	if (start_process(*sender, fault))
		return true;
	/* The start fails only for a problem that the administrator must fix. After any other
	 * problem, requests wait. */
	if (options->authorities != NULL) {
		free(*sender);
		*sender = NULL;
		return false;
	}
	log_event(LOG_LEVEL_ERROR, options->purpose->down_event, "cause", fault_reason(fault),
		  "effect", options->purpose->waiting, NULL);
	*fault = FAULT_INITIAL;
	(*sender)->is_lost = true;
	return true;
}

void sender_close(struct sender *sender)
{
	if (sender == NULL)
		return;
	stop_process(sender);
	free(sender);
}

/* ---- requests ---- */

int sender_descriptor(const struct sender *sender)
{
	return sender->socket;
}

static struct iovec vector_of(const void *data, size_t size)
{
	return (struct iovec){ (void *)(uintptr_t)data, size };
}

bool sender_give(struct sender *sender, const struct delivery *delivery)
{
	const struct wire_delivery wire = {
		.number = delivery->number,
		.url_size = (uint32_t)delivery->url.size,
		.headers_size = (uint32_t)delivery->headers.size,
		.body_size = (uint32_t)delivery->body.size,
		.answer_most = (uint32_t)delivery->answer_most,
		.patience = delivery->patience,
		.is_once = delivery->is_once,
		.method = delivery->method,
		.has_file = delivery->has_file,
		.file_size = delivery->file_size,
		.is_to_storage = delivery->is_to_storage,
	};
	struct iovec vectors[] = {
		vector_of(&wire, sizeof wire),
		vector_of(delivery->url.data, delivery->url.size),
		vector_of(delivery->headers.data, delivery->headers.size),
		vector_of(delivery->body.data, delivery->body.size),
	};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .header = { .cmsg_len = CMSG_LEN(sizeof(int)),
				  .cmsg_level = SOL_SOCKET,
				  .cmsg_type = SCM_RIGHTS } };
	const struct msghdr message = {
		.msg_iov = vectors,
		.msg_iovlen = sizeof vectors / sizeof vectors[0],
		.msg_control = delivery->has_file ? &control : NULL,
		.msg_controllen = delivery->has_file ? sizeof control : 0,
	};
	ssize_t size = -1;

	memcpy(CMSG_DATA(&control.header), &delivery->file, sizeof delivery->file);
	if (delivery->url.size + delivery->headers.size + delivery->body.size > SENDER_BYTES_MOST)
		return false;
	while (sender->socket >= 0 &&
	       (size = sendmsg(sender->socket, &message, MSG_NOSIGNAL)) < 0 && errno == EINTR)
		continue;
	/* Where sockets have small buffers, the limit is lower. */
	if (size < 0 && sender->socket >= 0 && errno == EMSGSIZE)
		return false;
	sender->is_lost = sender->is_lost || size < 0;
	return true;
}

static void start_again(struct sender *sender)
{
	struct fault fault = FAULT_INITIAL;

	if (clock_monotonic() - sender->started < START_PAUSE)
		return;
	if (!start_process(sender, &fault))
		log_event(LOG_LEVEL_ERROR, sender->options->purpose->event, "error",
			  fault_reason(&fault), "effect", sender->options->purpose->waiting, NULL);
}

/* Receives the body that follows an outcome. */
static bool receive_answer(struct sender *sender, struct outcome *outcome)
{
	size_t at = 0;

	outcome->answer = NULL;
	if (outcome->answer_size == 0)
		return true;
	outcome->answer = memory_check(malloc(outcome->answer_size + 1));
	while (at < outcome->answer_size) {
		const ssize_t size = recv(sender->socket, outcome->answer + at,
					  outcome->answer_size - at, 0);

		if (size < 0 && errno == EINTR)
			continue;
		if (size <= 0) {
			free(outcome->answer);
			outcome->answer = NULL;
			return false;
		}
		at += (size_t)size;
	}
	outcome->answer[at] = '\0';
	return true;
}

enum sender_result sender_take(struct sender *sender, struct outcome *outcome)
{
	ssize_t size = -1;

	if (!sender->is_lost && sender->socket >= 0) {
		size = recv(sender->socket, outcome, sizeof *outcome, MSG_DONTWAIT);
		if (size == (ssize_t)sizeof *outcome && receive_answer(sender, outcome))
			return SENDER_OUTCOME;
		sender->is_lost = size >= 0 || (errno != EAGAIN && errno != EINTR);
	}
	if (sender->is_lost) {
		log_event(LOG_LEVEL_WARNING, sender->options->purpose->event, "error",
			  "the process ended", "effect", "restarting", NULL);
		stop_process(sender);
		start_again(sender);
		sender->is_lost = false;
		return SENDER_LOST;
	}
	if (sender->socket < 0)
		start_again(sender);
	return SENDER_NOTHING;
}

/* ---- the process ---- */

bool sender_is_asked_for(int argc, char **argv)
{
	return argc == 2 && (strcmp(argv[1], sender_of_webhooks.argument) == 0 ||
			     strcmp(argv[1], sender_of_media.argument) == 0 ||
			     strcmp(argv[1], sender_of_uploads.argument) == 0 ||
			     strcmp(argv[1], sender_of_reports.argument) == 0);
}
