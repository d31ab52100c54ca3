/* See recorder/folder.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "recorder/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/directory.h"
#include "base/json_text.h"
#include "base/text.h"

#define MARK ".anteroom"
#define INCOMING "incoming"
#define FILE_MOST ((size_t)1 << 20)
#define BOOT_BYTES 16

/* ---- small files ---- */

struct slice small_file_read(struct arena *arena, const char *path)
{
	const int file = regular_file_open(path, O_RDONLY | O_NOFOLLOW, 0);
	struct buffer text = BUFFER_INITIAL(arena);
	ssize_t got = file < 0 ? -1 : 1;

	while (got > 0 && text.size <= FILE_MOST) {
		got = read(file, buffer_reserve(&text, 65536), 65536);
		if (got > 0)
			text.size += (size_t)got;
	}
	if (file >= 0)
		close(file);
	if (got != 0)
		return (struct slice){ NULL, 0 };
	(void)buffer_reserve(&text, 1);
	return buffer_slice(&text);
}

static bool write_all(int file, struct slice text)
{
	while (text.size > 0) {
		const ssize_t n = write(file, text.data, text.size);

		if (n < 0 && errno != EINTR)
			return false;
		if (n > 0)
			text = (struct slice){ text.data + n, text.size - (size_t)n };
	}
	return true;
}

bool small_file_write(const char *path, struct slice text, struct fault *fault)
{
	char fresh[FOLDER_PATH_SIZE + 8];
	bool is_written;
	int file;

	(void)snprintf(fresh, sizeof fresh, "%s.new", path);
	(void)unlink(fresh);
	file = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
	is_written = file >= 0 && write_all(file, text) && fdatasync(file) == 0;
	if (file >= 0)
		close(file);
	return (is_written && rename(fresh, path) == 0) ||
	       fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot write %s", path);
}

bool file_publish(const char *from, const char *to, struct fault *fault)
{
	const int file = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char directory[PATH_MAX];
	bool is_synced = file >= 0 && fchmod(file, 0640) == 0 && fsync(file) == 0;
	int error = errno;

	if (file >= 0)
		close(file);
	directory_of(to, directory);
	is_synced = is_synced && rename(from, to) == 0 && directory_sync(directory);
	error = is_synced ? error : errno;
	return is_synced || fault_cause(fault, FAULT_UNAVAILABLE, error, "cannot write %s", to);
}

/* ---- the folder ---- */

static bool is_folder_id(struct slice id)
{
	if (id.size == 0 || id.size > FOLDER_ID_MOST)
		return false;
	for (size_t i = 0; i < id.size; i++) {
		const char c = id.data[i];

		if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
		      c == '_' || c == '-'))
			return false;
	}
	return true;
}

static bool make_mark(struct folder *folder, const char *path, struct fault *fault)
{
	unsigned char bytes[12];
	char line[sizeof bytes * 2 + 1];
	int file;
	bool is_written;

	clock_random(&clock_system, bytes, sizeof bytes);
	text_hex(bytes, sizeof bytes, line);
	line[sizeof line - 1] = '\n';
	/* Of two recorders that make it at the same time, one does. */
	file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (file < 0 && errno == EEXIST)
		return true;
	is_written = file >= 0 && write_all(file, (struct slice){ line, sizeof line }) &&
		     fchmod(file, 0644) == 0 && fsync(file) == 0;
	if (file >= 0)
		close(file);
	return (is_written && directory_sync(folder->path)) ||
	       fault_cause(fault, FAULT_BAD_REQUEST, errno, "cannot write %s", path);
}

static bool read_mark(struct folder *folder, const char *path, struct fault *fault)
{
	struct arena *arena = arena_open();
	const struct slice id = text_trim(small_file_read(arena, path), TEXT_BLANKS "\r\n");
	const bool is_read = is_folder_id(id);

	if (is_read) {
		memcpy(folder->id, id.data, id.size);
		folder->id[id.size] = '\0';
	}
	arena_close(arena);
	return is_read || fault_cause(fault, FAULT_BAD_REQUEST, 0,
				      "%s does not have the id of a folder: 1 to 64 of A-Z a-z 0-9 "
				      "_ -, on one line",
				      path);
}

bool folder_open(struct folder *folder, const char *path, struct fault *fault)
{
	char file[FOLDER_PATH_SIZE];
	struct stat status;

	*folder = (struct folder){ .path = path, .lock = -1 };
	if (strlen(path) > FOLDER_PATH_SIZE - 512)
		return fault_cause(fault, FAULT_BAD_REQUEST, 0, "--folder is too long");
	if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
		return fault_cause(fault, FAULT_BAD_REQUEST, 0,
				   "%s is not a directory; create it, and give it to the user of "
				   "the recorder",
				   path);
	(void)snprintf(file, sizeof file, "%s/" INCOMING, path);
	if (mkdir(file, 0770) != 0 && errno != EEXIST)
		return fault_cause(fault, FAULT_BAD_REQUEST, errno, "cannot create %s", file);
	if (access(file, R_OK | W_OK | X_OK) != 0)
		return fault_cause(fault, FAULT_BAD_REQUEST, errno, "cannot write to %s", file);
	(void)snprintf(file, sizeof file, "%s/" MARK, path);
	return (access(file, F_OK) == 0 || make_mark(folder, file, fault)) &&
	       read_mark(folder, file, fault);
}

bool folder_lock(struct folder *folder, const char *name, struct fault *fault)
{
	char path[FOLDER_PATH_SIZE], text[128] = "";
	struct slice rest, boot;

	(void)snprintf(path, sizeof path, "%s/" INCOMING "/.boot-%s", folder->path, name);
	folder->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (folder->lock < 0)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot open %s", path);
	if (flock(folder->lock, LOCK_EX | LOCK_NB) != 0)
		return fault_cause(fault, FAULT_BAD_REQUEST, 0,
				   "another process is the recorder %s with this folder; stop it, "
				   "or add another recorder",
				   name);
	if (pread(folder->lock, text, sizeof text - 1, 0) < 0)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot read %s", path);
	boot = text_split(slice_of(text), ' ', &rest);
	if (boot.size == REPORT_BOOT_SIZE - 1 && rest.data != NULL && is_folder_id(boot) &&
	    text_integer(text_split(rest, '\n', &rest), &folder->n) && folder->n >= 0)
		memcpy(folder->boot, boot.data, boot.size);
	return true;
}

void folder_new_boot(struct folder *folder)
{
	unsigned char bytes[BOOT_BYTES];
	struct arena *arena = arena_open();
	struct slice text;

	clock_random(&clock_system, bytes, sizeof bytes);
	text = text_base64url(arena, (struct slice){ (const char *)bytes, sizeof bytes });
	memcpy(folder->boot, text.data, REPORT_BOOT_SIZE - 1);
	arena_close(arena);
	folder->n = 0;
}

void folder_note(const struct folder *folder)
{
	char line[128];
	const int size = snprintf(line, sizeof line, "%s %020lld\n", folder->boot,
				  (long long)folder->n);

	if (folder->lock >= 0)
		(void)!pwrite(folder->lock, line, (size_t)size, 0);
}

void folder_close(struct folder *folder)
{
	if (folder->lock >= 0)
		close(folder->lock);
	folder->lock = -1;
}

bool folder_space(const struct folder *folder, int64_t *free_bytes, int64_t *total_bytes)
{
	struct statvfs space;

	if (statvfs(folder->path, &space) != 0)
		return false;
	*free_bytes = (int64_t)(space.f_bavail * space.f_frsize);
	*total_bytes = (int64_t)(space.f_blocks * space.f_frsize);
	return true;
}

/* ---- the folders of jobs ---- */

void folder_of_job(const struct folder *folder, const char *account, const char *job,
		   char path[FOLDER_PATH_SIZE])
{
	(void)snprintf(path, FOLDER_PATH_SIZE, "%s/" INCOMING "/%s-%s", folder->path, account, job);
}

bool folder_make(const struct folder *folder, const char *relative, struct fault *fault)
{
	char path[FOLDER_PATH_SIZE], parent[PATH_MAX];
	const size_t root = strlen(folder->path) + 1;

	(void)snprintf(path, sizeof path, "%s/%s", folder->path, relative);
	for (char *at = path + root;; at++) {
		const char former = *at;

		if (former != '/' && former != '\0')
			continue;
		*at = '\0';
		directory_of(path, parent);
		if (mkdir(path, 0770) == 0 ? !directory_sync(parent) : errno != EEXIST)
			return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot create %s",
					   path);
		*at = former;
		if (former == '\0')
			return true;
	}
}

/* Reads the name of a folder of parts, ACCOUNT-JOB. */
static bool read_job_name(const char *name, struct leftover *leftover)
{
	struct slice job, account = text_split(slice_of(name), '-', &job);
	struct id account_id, job_id;

	if (!id_parse(account, &account_id) || job.data == NULL || !id_parse(job, &job_id))
		return false;
	id_print(&account_id, leftover->account);
	id_print(&job_id, leftover->job);
	return true;
}

size_t folder_leftovers(const struct folder *folder, struct arena *arena, const char *name,
			struct leftover **leftovers)
{
	char path[FOLDER_PATH_SIZE];
	size_t n = 0, capacity = 0;
	struct dirent *entry;
	DIR *directory;

	*leftovers = NULL;
	(void)snprintf(path, sizeof path, "%s/" INCOMING, folder->path);
	directory = opendir(path);
	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		struct leftover leftover;
		const json_t *order, *epoch;

		if (!read_job_name(entry->d_name, &leftover))
			continue;
		(void)snprintf(path, sizeof path, "%s/" INCOMING "/%s-%s/order.json", folder->path,
			       leftover.account, leftover.job);
		order = json_text_read_stored(arena, small_file_read(arena, path), NULL);
		epoch = json_object_get(order, "epoch");
		if (!slice_is(text_of_json(json_object_get(order, "recorder")), name) ||
		    !json_is_integer(epoch))
			continue;
		leftover.epoch = json_integer_value(epoch);
		*leftovers = arena_room(arena, *leftovers, n + 1, &capacity, sizeof leftover);
		(*leftovers)[n++] = leftover;
	}
	if (directory != NULL)
		closedir(directory);
	return n;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
	(void)status;
	(void)place;
	(void)(kind == FTW_DP ? rmdir(path) : unlink(path));
	return 0;
}

void folder_remove(const char *path)
{
	(void)nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}
