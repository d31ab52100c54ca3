/* Backup: copies a store, which may be in use.
 *
 * All files are opened before the first byte is copied, because a live store may remove their
 * names. A shared lock on the directory keeps it from reusing segments. The last segment is copied
 * up to its last whole record.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>

#include "base/memory.h"
#include "store/gdbm/inspect.h"
#include "store/gdbm/inspection.h"
#include "store/gdbm/journal_format.h"

#define COPY_BYTES ((size_t)1 << 20)
#define NAME_SIZE 40
#define ATTEMPTS 20
#define WHOLE UINT64_MAX

struct source {
	int file;
	char name[NAME_SIZE];
	uint64_t size; /* bytes to copy */
};

struct backup {
	const struct file_system *files;
	const char *to;
	const struct store_watch *watch;
	struct inspection inspection;
	struct source *sources;
	size_t n;
	uint64_t done;
	uint64_t all;
};

/* size: bytes to copy, or WHOLE. */
static bool source_add(struct backup *backup, const char *name, uint64_t size, struct fault *fault)
{
	struct source *source = &backup->sources[backup->n];
	char path[PATH_MAX];
	off_t whole = 0;

	snprintf(path, sizeof path, "%s/%s", backup->inspection.place.directory, name);
	snprintf(source->name, sizeof source->name, "%s", name);
	source->file = backup->files->open(backup->files, path, O_RDONLY, 0);
	if (source->file < 0)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot open %s", path);
	backup->n++;
	if (size == WHOLE && backup->files->size(backup->files, source->file, &whole) < 0)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot read %s", name);
	source->size = size == WHOLE ? (uint64_t)whole : size;
	backup->all += source->size;
	return true;
}

static bool sources_open(struct backup *backup, struct fault *fault)
{
	const struct manifest *manifest = &backup->inspection.manifest;
	const struct journal_end *end = &backup->inspection.end;
	char name[STACK_NAME_SIZE];

	backup->sources =
		memory_check(calloc(2 * manifest->n + end->n + 1, sizeof *backup->sources));
	for (size_t i = 0; i < manifest->n; i++) {
		stack_gdbm_name(manifest->files[i].id, name);
		if (!source_add(backup, name, manifest->files[i].gdbm_size, fault))
			return false;
		stack_index_name(manifest->files[i].id, name);
		if (!source_add(backup, name, manifest->files[i].index_size, fault))
			return false;
	}
	for (size_t i = end->superfluous; i < end->n; i++) {
		segment_name(end->segments[i], name);
		if (!source_add(backup, name, i + 1 < end->n ? WHOLE : end->offset, fault))
			return false;
	}
	return true;
}

static void sources_close(struct backup *backup)
{
	while (backup->n > 0)
		backup->files->close(backup->files, backup->sources[--backup->n].file);
	free(backup->sources);
	backup->sources = NULL;
	backup->all = 0;
	inspection_close(&backup->inspection);
}

/* A file that disappears before it is opened was removed by a live store: then all starts again. */
static bool backup_open(struct backup *backup, const char *directory, struct fault *fault)
{
	struct fault each;

	for (int i = 0; i < ATTEMPTS; i++) {
		each = FAULT_INITIAL;
		if (!inspection_open(directory, backup->files, &backup->inspection, fault))
			return false;
		if (backup->inspection.end.is_damaged)
			return fault_cause(
				fault, FAULT_UNAVAILABLE, 0,
				"the journal is damaged; `anteroom check` says where, and "
				"--salvage saves what can be read");
		if (sources_open(backup, &each))
			return true;
		sources_close(backup);
	}
	*fault = each;
	return false;
}

static bool bytes_copy(struct backup *backup, const struct source *source, int to)
{
	const struct file_system *files = backup->files;
	char *bytes = memory_check(malloc(COPY_BYTES));
	bool is_copied = true;

	for (uint64_t at = 0; is_copied && at < source->size; at += COPY_BYTES) {
		size_t n = source->size - at < COPY_BYTES ? (size_t)(source->size - at)
							  : COPY_BYTES;

		is_copied = file_read_all(files, source->file, bytes, n, (off_t)at) &&
			    file_write_all(files, to, bytes, n, (off_t)at);
		backup->done += n;
		if (backup->watch->progress != NULL)
			backup->watch->progress(backup->watch->context, backup->done, backup->all);
	}
	free(bytes);
	return is_copied && files->fsync(files, to) == 0;
}

static bool source_copy(struct backup *backup, const struct source *source, struct fault *fault)
{
	const struct file_system *files = backup->files;
	char path[PATH_MAX];
	int to;

	snprintf(path, sizeof path, "%s/%s", backup->to, source->name);
	to = files->open(files, path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (to < 0)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot make %s", path);
	return file_close(files, to, bytes_copy(backup, source, to)) ||
	       fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot write %s", path);
}

/* Verifies a file of the copy by its checksums. */
static bool file_verify(struct backup *backup, const struct stack_info *info, struct fault *fault)
{
	const struct stack_place place = {
		.files = backup->files,
		.directory = backup->to,
		.installation = backup->inspection.manifest.installation,
		.is_read_only = true,
	};
	struct stack_file *file;
	bool is_right, is_last = false;
	uint64_t block = 0;

	if (!stack_file_open(&place, info, &file, fault))
		return false;
	do
		is_right = stack_file_verify_block(file, block++, &is_last, fault);
	while (is_right && !is_last);
	stack_file_release(file);
	return is_right;
}

static bool verify(struct backup *backup, struct fault *fault)
{
	const struct manifest *manifest = &backup->inspection.manifest;
	struct fault each = FAULT_INITIAL;

	for (size_t i = 0; i < manifest->n; i++)
		if (!file_verify(backup, &manifest->files[i], &each))
			return fault_cause(fault, FAULT_UNAVAILABLE, 0,
					   "the copy would be damaged (%s); `anteroom check` says "
					   "whether the original is, and --salvage saves what can "
					   "be read",
					   each.cause);
	return true;
}

/* The journal of the copy ends cleanly. */
static bool mark_copy(struct backup *backup, struct fault *fault)
{
	const struct journal_end *end = &backup->inspection.end;
	const struct journal_mark mark = {
		.newest = end->n == 0 ? 0 : end->segments[end->n - 1],
		.size = end->n == 0 ? 0 : end->offset,
		.durable = end->last,
		.is_clean = true,
	};
	bool is_broken = false;

	return mark_create(backup->files, backup->to, &backup->inspection.manifest.installation,
			   &mark, &is_broken, fault);
}

/* The manifest is written last: without it the copy is no store. */
static bool copy(struct backup *backup, struct fault *fault)
{
	bool is_replaced, is_broken = false;

	for (size_t i = 0; i < backup->n; i++)
		if (!source_copy(backup, &backup->sources[i], fault))
			return false;
	if (backup->files->sync_directory(backup->files, backup->to) < 0)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot sync %s", backup->to);
	if (!verify(backup, fault) || !mark_copy(backup, fault))
		return false;
	return manifest_write(backup->files, backup->to, &backup->inspection.manifest, &is_replaced,
			      &is_broken, fault);
}

static void copy_remove_name(const struct backup *backup, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof path, "%s/%s", backup->to, name);
	backup->files->unlink(backup->files, path);
}

static void copy_remove(const struct backup *backup)
{
	for (size_t i = 0; i < backup->n; i++)
		copy_remove_name(backup, backup->sources[i].name);
	copy_remove_name(backup, MARK_NAME);
	/* The manifest may exist although syncing its name failed. */
	copy_remove_name(backup, MANIFEST_NAME);
}

bool store_gdbm_backup(const char *directory, const char *to, const struct file_system *files,
		       const struct store_watch *watch, struct fault *fault)
{
	struct backup backup = { .files = files == NULL ? &file_system_posix : files,
				 .to = to,
				 .watch = watch };
	int hold = journal_hold(backup.files, directory, LOCK_SH);
	bool is_done;

	if (hold < 0)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot lock %s", directory);
	is_done = backup_open(&backup, directory, fault);
	if (is_done && backup.files->mkdir(backup.files, to, 0700) < 0) {
		is_done = fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot make %s", to);
	} else if (is_done) {
		is_done = copy(&backup, fault);
		if (!is_done)
			copy_remove(&backup);
	}
	sources_close(&backup);
	backup.files->close(backup.files, hold);
	return is_done;
}
