/* A recorder whose finished files go to object storage: a stand-in for the service, which signs the
 * addresses, and one for the storage. No Chromium runs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit.h"
#include "suite.h"

/* More than sockets keep. */
#define FILE_SIZE ((int64_t)20 << 20)
#define CHAT "a,b\r\n"

static struct stand_in stand_in;
static struct recorder_process recorder;
static uint64_t file_sum;

static void make_folder(const char *relative)
{
	char path[4300];

	(void)snprintf(path, sizeof path, "%s/%s", recorder.folder, relative);
	ck_assert_int_eq(mkdir(path, 0770), 0);
	if (geteuid() == 0)
		ck_assert_int_eq(chown(path, NOBODY, NOBODY), 0);
}

static void make_file(const char *relative, const char *text)
{
	char path[4300];
	FILE *file;

	(void)snprintf(path, sizeof path, "%s/%s", recorder.folder, relative);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	if (text != NULL) {
		ck_assert_int_ge(fputs(text, file), 0);
	} else {
		file_sum = 0;
		for (int64_t i = 0; i < FILE_SIZE; i++) {
			(void)putc((int)(i & 0xff), file);
			file_sum += (uint64_t)(i & 0xff);
		}
	}
	ck_assert_int_eq(fclose(file), 0);
	if (geteuid() == 0)
		ck_assert_int_eq(chown(path, NOBODY, NOBODY), 0);
}

static bool is_there(const char *relative)
{
	char path[4300];

	(void)snprintf(path, sizeof path, "%s/%s", recorder.folder, relative);
	return access(path, F_OK) == 0;
}

/* What a recorder leaves that has joined a recording and then ended. */
static void set_up(void)
{
	char joined[400];

	stand_in_open(&stand_in);
	stand_in.storage = bucket_server_open();
	recorder_prepare(&recorder);
	make_folder("incoming");
	make_folder("incoming/" ACCOUNT "-" JOB);
	make_folder(ACCOUNT);
	make_folder(ACCOUNT "/" ROOM);
	make_folder(FOLDER_OF_JOB);
	make_file(FOLDER_OF_JOB "/recording.mp4", NULL);
	make_file(FOLDER_OF_JOB "/chat.csv", CHAT);
	make_file("incoming/" ACCOUNT "-" JOB "/order.json",
		  "{\"recorder\":\"test\",\"epoch\":1,\"dir\":\"" FOLDER_OF_JOB "\"}");
	(void)snprintf(joined, sizeof joined,
		       "{\"dir\":\"" FOLDER_OF_JOB "\",\"files\":[{\"name\":\"recording.mp4\","
		       "\"bytes\":%lld,\"duration_ms\":60000,\"width\":640,\"height\":360},"
		       "{\"name\":\"chat.csv\",\"bytes\":%zu}]}",
		       (long long)FILE_SIZE, strlen(CHAT));
	make_file("incoming/" ACCOUNT "-" JOB "/joined.json", joined);
	stand_in_want(&stand_in, "stop");
}

static void tear_down(void)
{
	recorder_remove(&recorder);
	stand_in_close(&stand_in);
	bucket_server_close(stand_in.storage);
}

static void check_objects(void)
{
	uint64_t sum;

	ck_assert_int_eq(
		bucket_server_object(stand_in.storage, FOLDER_OF_JOB "/recording.mp4", &sum),
		FILE_SIZE);
	ck_assert_uint_eq(sum, file_sum);
	ck_assert_int_eq(bucket_server_object(stand_in.storage, FOLDER_OF_JOB "/chat.csv", &sum),
			 (int64_t)strlen(CHAT));
	ck_assert_uint_eq(bucket_server_heard(stand_in.storage).badly_signed, 0);
}

/* No address is in the log. */
static void check_log(void)
{
	char path[4300], line[4096];
	FILE *file;

	(void)snprintf(path, sizeof path, "%s/log", recorder.directory);
	file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof line, file) != NULL)
		ck_assert_msg(strstr(line, "X-Amz") == NULL, "%s", line);
	(void)fclose(file);
}

static bool log_has(const char *text)
{
	char path[4300], line[4096];
	bool is_found = false;
	FILE *file;

	(void)snprintf(path, sizeof path, "%s/log", recorder.directory);
	file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof line, file) != NULL)
		is_found = is_found || strstr(line, text) != NULL;
	(void)fclose(file);
	return is_found;
}

START_TEST(files_are_sent_and_then_go)
{
	recorder_start(&recorder, &stand_in);
	(void)stand_in_wait(&stand_in, "done", 0, 0);
	check_objects();
	ck_assert(is_there(FOLDER_OF_JOB "/recording.mp4"));
	pthread_mutex_lock(&stand_in.lock);
	stand_in.erases = true;
	pthread_mutex_unlock(&stand_in.lock);
	stand_in_want(&stand_in, "drop");
	(void)stand_in_wait(&stand_in, "", 0, 0);
	ck_assert(!is_there(FOLDER_OF_JOB));
	ck_assert(!is_there("incoming/" ACCOUNT "-" JOB));
	recorder_signal(&recorder, SIGTERM);
	check_log();
}
END_TEST

/* A drop that does not say so takes no finished file. */
START_TEST(without_an_address_files_stay)
{
	struct bucket_server *storage = stand_in.storage;

	stand_in.storage = NULL;
	recorder_start(&recorder, &stand_in);
	(void)stand_in_wait(&stand_in, "done", 0, 0);
	stand_in_want(&stand_in, "drop");
	(void)stand_in_wait(&stand_in, "", 0, 0);
	ck_assert(is_there(FOLDER_OF_JOB "/recording.mp4"));
	ck_assert(!is_there("incoming/" ACCOUNT "-" JOB));
	ck_assert_uint_eq(bucket_server_objects(storage), 0);
	recorder_signal(&recorder, SIGTERM);
	stand_in.storage = storage;
}
END_TEST

/* clang-format off */
static const struct {
	enum bucket_mood mood;
	const char *allow, *error;
	bool is_without_address, heals;
} troubles[] = {
	{ BUCKET_REFUSES, "127.0.0.1", "The storage answered 403: AccessDenied.", false, true },
	{ BUCKET_MISSING, "127.0.0.1", "The storage answered 404: NoSuchBucket.", false, false },
	{ BUCKET_FAILS, "127.0.0.1", "The storage answered 500.", false, true },
	{ BUCKET_HALF, "127.0.0.1", "The storage did not answer: connection closed.", false, true },
	{ BUCKET_WELL, "127.0.0.2", "The storage did not answer: address not allowed.", false, false },
	{ BUCKET_WELL, "127.0.0.1", "the service has no credentials for the storage any more", true, false },
};
/* clang-format on */

START_TEST(what_is_wrong_is_told_and_tried_again)
{
	recorder.upload_allow = troubles[_i].allow;
	stand_in.has_no_credentials = troubles[_i].is_without_address;
	bucket_server_set(stand_in.storage, troubles[_i].mood);
	recorder_start(&recorder, &stand_in);
	stand_in_wait_error(&stand_in, troubles[_i].error);
	ck_assert_uint_eq(bucket_server_objects(stand_in.storage), 0);
	if (troubles[_i].heals) {
		bucket_server_set(stand_in.storage, BUCKET_WELL);
		ck_assert_str_eq(stand_in_wait(&stand_in, "done", 0, 0).error, "");
		check_objects();
	}
	recorder_signal(&recorder, SIGTERM);
	ck_assert(is_there(FOLDER_OF_JOB "/recording.mp4"));
	check_log();
}
END_TEST

/* A storage whose certificate only one's own authority has signed. */
START_TEST(a_storage_has_an_authority_of_its_own)
{
	const char *plain = strrchr(bucket_server_endpoint(stand_in.storage), ':') + 1;
	const struct side_server tls = tls_start(&recorder, (int)strtol(plain, NULL, 10), 9);
	char endpoint[64], authority[4300];

	(void)snprintf(endpoint, sizeof endpoint, "https://127.0.0.1:%d", tls.port);
	stand_in.endpoint = endpoint;
	recorder_start(&recorder, &stand_in);
	stand_in_wait_error(&stand_in, "The storage did not answer: certificate not trusted.");
	ck_assert_uint_eq(bucket_server_objects(stand_in.storage), 0);
	recorder_signal(&recorder, SIGTERM);
	(void)snprintf(authority, sizeof authority, "%s/tls.pem", recorder.directory);
	recorder.upload_ca = authority;
	recorder_start(&recorder, &stand_in);
	(void)stand_in_wait(&stand_in, "done", 0, 0);
	check_objects();
	recorder_signal(&recorder, SIGTERM);
	side_server_stop(tls.pid);
}
END_TEST

/* A file that is not there is told at the start, not after the first recording. */
START_TEST(authorities_that_are_missing_are_told)
{
	int status;

	recorder.upload_ca = "/nonexistent/authorities.pem";
	recorder_start(&recorder, &stand_in);
	ck_assert_int_eq(waitpid(recorder.pid, &status, 0), recorder.pid);
	recorder.pid = 0;
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) != 0);
	ck_assert(log_has("cannot read /nonexistent/authorities.pem"));
}
END_TEST

/* One that was killed while it sent begins that file again. */
START_TEST(a_recorder_that_is_killed_sends_again)
{
	bucket_server_set(stand_in.storage, BUCKET_STOPS);
	recorder_start(&recorder, &stand_in);
	(void)stand_in_wait(&stand_in, "sending", 0, 0);
	ck_assert(bucket_server_wait_begun(stand_in.storage));
	recorder_signal(&recorder, SIGKILL);
	bucket_server_set(stand_in.storage, BUCKET_WELL);
	recorder_start(&recorder, &stand_in);
	(void)stand_in_wait(&stand_in, "done", 0, 0);
	check_objects();
	recorder_signal(&recorder, SIGTERM);
}
END_TEST

TCase *recorder_sending(void)
{
	TCase *sending = tcase_create("sending");

	tcase_set_timeout(sending, 200);
	tcase_add_checked_fixture(sending, set_up, tear_down);
	tcase_add_test(sending, files_are_sent_and_then_go);
	tcase_add_test(sending, without_an_address_files_stay);
	tcase_add_loop_test(sending, what_is_wrong_is_told_and_tried_again, 0, ROWS(troubles));
	if (has_program("openssl"))
		tcase_add_test(sending, a_storage_has_an_authority_of_its_own);
	tcase_add_test(sending, authorities_that_are_missing_are_told);
	tcase_add_test(sending, a_recorder_that_is_killed_sends_again);
	return sending;
}
