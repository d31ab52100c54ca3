/* The functions check, stat and backup. They open the parts of a store as of one moment, without
 * changing anything.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gdbm/inspect.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "store/gdbm/journal_format.h"
#include "store/gdbm/journal_list.h"
#include "store/gdbm/journal_segment.h"
#include "store/gdbm/manifest.h"
#include "store/gdbm/merge.h"
#include "store/gdbm/stack_index.h"
#include "store/gdbm/store_gdbm_parts.h"

#define ATTEMPTS 20
#define COPY_BYTES ((size_t)1 << 20)
/* Large enough for the name of a stack file or a segment. */
#define NAME_SIZE 40
#define WHOLE UINT64_MAX

struct inspection {
	struct stack_place place;
	struct manifest manifest;
	struct stack_file **files; /* as in the manifest; NULL if the file could not be opened */
	struct fault *faults; /* why a file could not be opened */
	struct journal_options journal;
	struct journal_end end;
};

/* Returns whether the manifest is unchanged since everything was opened. */
static bool is_unchanged(const struct inspection *inspection)
{
	const struct manifest *then = &inspection->manifest;
	struct fault ignored = FAULT_INITIAL;
	struct manifest now;
	bool is_there, is_same;

	is_same = manifest_read(inspection->place.files, inspection->place.directory, UINT_MAX,
				&now, &is_there, &ignored) &&
		  is_there && now.number == then->number && now.n == then->n;
	/* Only ids are compared, because the file with a given id never changes and ids are not
	 * reused. */
	for (size_t i = 0; is_same && i < now.n; i++)
		is_same = now.files[i].id == then->files[i].id;
	manifest_free(&now);
	return is_same;
}

/* Opens everything once; *is_whole tells whether no damage was found. */
static bool open_once(struct inspection *inspection, bool *is_whole, struct fault *fault)
{
	size_t n;
	bool is_there;

	*is_whole = false;
	if (!manifest_read(inspection->place.files, inspection->place.directory, UINT_MAX,
			   &inspection->manifest, &is_there, fault))
		return false;
	if (!is_there)
		return fault_cause(fault, FAULT_UNAVAILABLE, 0,
				   "%s is not a store: it has no manifest",
				   inspection->place.directory);
	inspection->place.installation = inspection->manifest.installation;
	n = inspection->manifest.n;
	inspection->files = memory_check(calloc(n + 1, sizeof *inspection->files));
	inspection->faults = memory_check(calloc(n + 1, sizeof *inspection->faults));
	*is_whole = true;
	for (size_t i = 0; i < n; i++)
		if (!stack_file_open(&inspection->place, &inspection->manifest.files[i],
				     &inspection->files[i], &inspection->faults[i]))
			*is_whole = false;
	inspection->journal = (struct journal_options){
		.files = inspection->place.files,
		.directory = inspection->place.directory,
		.installation = inspection->place.installation,
		.is_live = true,
		.has_mark = true,
	};
	if (!journal_replay(&inspection->journal, inspection->manifest.number, NULL, NULL,
			    &inspection->end, fault))
		return false;
	*is_whole = *is_whole && !inspection->end.is_damaged;
	return true;
}

static void inspection_close(struct inspection *inspection)
{
	for (size_t i = 0; inspection->files != NULL && i < inspection->manifest.n; i++)
		if (inspection->files[i] != NULL)
			stack_file_release(inspection->files[i]);
	free(inspection->files);
	free(inspection->faults);
	manifest_free(&inspection->manifest);
	journal_end_free(&inspection->end);
	*inspection = (struct inspection){ .files = NULL };
}

/* Opens a store for inspection. False if there is no store, or if its manifest or journal cannot be
 * read. Damage is described in *inspection. A live directory may seem damaged because it has just
 * changed, so only damage that remains after several attempts counts. */
static bool inspection_open(const char *directory, const struct file_system *files,
			    struct inspection *inspection, struct fault *fault)
{
	bool is_open = false, is_whole = false;
	struct fault last = FAULT_INITIAL;

	*inspection = (struct inspection){ .files = NULL };
	for (int i = 0; i < ATTEMPTS && !(is_open && is_whole && is_unchanged(inspection)); i++) {
		inspection_close(inspection);
		inspection->place.files = files == NULL ? &file_system_posix : files;
		inspection->place.directory = directory;
		last = FAULT_INITIAL;
		is_open = open_once(inspection, &is_whole, &last);
	}
	if (is_open)
		return true;
	inspection_close(inspection);
	if (fault->kind == FAULT_NONE)
		*fault = last;
	return false;
}

/* ---- check ---- */

struct checking {
	const struct store_watch *watch;
	struct store_check *check;
	uint64_t done;
	uint64_t all;
};

static void damage(struct checking *checking, const char *file, const char *what)
{
	checking->check->damages++;
	if (checking->watch->damage != NULL)
		checking->watch->damage(checking->watch->context, file, what);
}

static void progress(struct checking *checking, uint64_t bytes)
{
	checking->done += bytes;
	if (checking->done > checking->all)
		checking->done = checking->all;
	if (checking->watch->progress != NULL)
		checking->watch->progress(checking->watch->context, checking->done, checking->all);
}

/* Reads every key of the index with its value, and compares the counts of index, GDBM file and
 * manifest. */
static void check_entries(struct checking *checking, struct stack_file *file, const char *name)
{
	struct merge *merge = merge_open(NULL, 0, 0, &file, 1);
	struct arena *arena = arena_open();
	struct fault fault = FAULT_INITIAL;
	struct merge_entry entry;
	struct slice value;
	uint64_t n = 0, counted = 0;
	bool is_there;

	while (merge_next(merge, &entry, &is_there, &fault) && is_there) {
		struct fault of_value = FAULT_INITIAL;

		n++;
		arena_reset(arena);
		if (!merge_value(merge, &entry, arena, &value, &of_value))
			damage(checking, name, of_value.cause);
	}
	if (fault.kind != FAULT_NONE)
		damage(checking, name, fault.cause);
	else if (!stack_file_count(file, &counted, &fault))
		damage(checking, name, fault.cause);
	else if (counted != n || n != stack_file_info(file)->entries)
		damage(checking, name, "its records do not match the index and the manifest");
	checking->check->records += n;
	arena_close(arena);
	merge_close(merge);
}

static void check_file(struct checking *checking, const struct inspection *inspection, size_t i)
{
	struct stack_file *file = inspection->files[i];
	uint64_t damages = checking->check->damages, body, block = 0;
	char name[STACK_NAME_SIZE];
	bool is_last;

	stack_gdbm_name(inspection->manifest.files[i].id, name);
	checking->check->files++;
	if (file == NULL) {
		damage(checking, name, inspection->faults[i].cause);
		return;
	}
	/* Every block is verified, even after a damaged one. */
	body = stack_index_body_blocks(stack_file_index(file));
	do {
		struct fault fault = FAULT_INITIAL;

		if (!stack_file_verify_block(file, block, &is_last, &fault))
			damage(checking, name, fault.cause);
		if (block >= body)
			progress(checking, STACK_BLOCK);
		block++;
	} while (!is_last);
	checking->check->blocks += block;
	/* Entries of a damaged file cannot be checked, because reading it fails. */
	if (checking->check->damages == damages)
		check_entries(checking, file, name);
}

bool store_gdbm_check(const char *directory, const struct file_system *files,
		      const struct store_watch *watch, struct store_check *check,
		      struct fault *fault)
{
	struct checking checking = { .watch = watch, .check = check };
	struct inspection inspection;
	const struct journal_end *end = &inspection.end;

	*check = (struct store_check){ 0 };
	if (!inspection_open(directory, files, &inspection, fault))
		return false;
	for (size_t i = 0; i < inspection.manifest.n; i++)
		checking.all += inspection.manifest.files[i].gdbm_size;
	for (size_t i = 0; i < inspection.manifest.n; i++)
		check_file(&checking, &inspection, i);
	check->last = end->last;
	check->transactions = end->last - inspection.manifest.number;
	if (end->is_damaged) {
		char name[SEGMENT_NAME_SIZE], how[JOURNAL_TEXT_SIZE], what[JOURNAL_TEXT_SIZE + 50];

		segment_name(end->damaged_segment, name);
		journal_end_describe(end, how);
		snprintf(what, sizeof what, "%s; everything before it can be saved", how);
		damage(&checking, name, what);
	}
	progress(&checking, checking.all - checking.done);
	inspection_close(&inspection);
	return true;
}

/* ---- the journal ---- */

bool store_gdbm_journal(const char *directory, const struct file_system *files,
			const struct store_kind *const *kinds, size_t n, store_journal_visit *visit,
			void *context, struct store_journal *journal, struct fault *fault)
{
	const struct journal_list list = {
		.kinds = kinds, .n = n, .visit = visit, .context = context
	};
	struct inspection inspection;
	struct journal_end end;
	bool is_listed;

	*journal = (struct store_journal){ 0 };
	if (!inspection_open(directory, files, &inspection, fault))
		return false;
	is_listed = journal_list(&list, &inspection.journal, inspection.manifest.number,
				 &inspection.end, &end, fault);
	if (is_listed && end.is_damaged && !inspection.end.is_damaged)
		is_listed = fault_cause(fault, FAULT_UNAVAILABLE, 0,
					"the journal changed while it was read; try again");
	if (is_listed) {
		const uint64_t before = end.superfluous < end.n ? end.segments[end.superfluous] - 1
								: inspection.manifest.number;

		journal->segments = end.n - end.superfluous;
		journal->is_damaged = end.is_damaged;
		journal->transactions = end.last > before ? end.last - before : 0;
		if (inspection.manifest.number > before)
			journal->in_files = inspection.manifest.number - before;
		if (journal->in_files > journal->transactions)
			journal->in_files = journal->transactions;
	}
	journal_end_free(&end);
	inspection_close(&inspection);
	return is_listed;
}

/* ---- stat ---- */

bool store_gdbm_stat(const char *directory, const struct file_system *files,
		     struct store_stat *stat, struct fault *fault)
{
	struct inspection inspection;
	const struct journal_end *end = &inspection.end;
	char path[PATH_MAX];
	off_t size;

	*stat = (struct store_stat){ .last = 0 };
	if (!inspection_open(directory, files, &inspection, fault))
		return false;
	stat->last = end->last;
	stat->journal_segments = end->n - end->superfluous;
	files = inspection.place.files;
	for (size_t i = end->superfluous; i < end->n; i++) {
		segment_path(&inspection.journal, end->segments[i], path);
		int file = files->open(files, path, O_RDONLY, 0);

		/* A segment that was removed in the meantime is not counted. */
		if (file < 0)
			continue;
		if (files->size(files, file, &size) == 0)
			stat->journal_bytes += (uint64_t)size;
		files->close(files, file);
	}
	stat->n_files = inspection.manifest.n;
	stat->files = memory_check(calloc(stat->n_files + 1, sizeof *stat->files));
	for (size_t i = 0; i < stat->n_files; i++) {
		const struct stack_info *info = &inspection.manifest.files[i];
		const uint64_t bytes = info->gdbm_size + info->index_size;

		stat->files[i] = (struct store_stat_file){ info->id, info->entries, info->removals,
							   bytes };
		stat->stack_bytes += bytes;
		stat->superfluous_bytes += info->superseded;
	}
	inspection_close(&inspection);
	return true;
}

/* ---- backup ---- */

static_assert(STACK_NAME_SIZE <= NAME_SIZE && SEGMENT_NAME_SIZE <= NAME_SIZE,
	      "each name of a file fits");

/* All files are opened before the first byte is copied, because a live store may remove their
 * names. A shared lock on the directory prevents the store from reusing segments. The last segment
 * is copied up to its last complete record. */

struct source {
	int file;
	char name[NAME_SIZE];
	uint64_t size; /* bytes to copy */
	bool is_stack; /* it never changes */
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
	bool links; /* gives stack files a second name instead of copying them, if possible */
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
	char name[NAME_SIZE];

	backup->sources =
		memory_check(calloc(2 * manifest->n + end->n + 1, sizeof *backup->sources));
	for (size_t i = 0; i < manifest->n; i++) {
		stack_gdbm_name(manifest->files[i].id, name);
		if (!source_add(backup, name, manifest->files[i].gdbm_size, fault))
			return false;
		backup->sources[backup->n - 1].is_stack = true;
		stack_index_name(manifest->files[i].id, name);
		if (!source_add(backup, name, manifest->files[i].index_size, fault))
			return false;
		backup->sources[backup->n - 1].is_stack = true;
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

/* If a file disappears before it is opened, a live store has removed it, and everything starts
 * again. */
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
				"the journal is damaged; anteroom check shows where, and "
				"--salvage saves what can be read");
		if (sources_open(backup, &each))
			return true;
		sources_close(backup);
	}
	*fault = each;
	return false;
}

static bool source_copy(struct backup *backup, const struct source *source, struct fault *fault)
{
	const struct file_system *files = backup->files;
	char path[PATH_MAX], from[PATH_MAX], *bytes;
	bool is_copied = true;
	int to;

	snprintf(path, sizeof path, "%s/%s", backup->to, source->name);
	snprintf(from, sizeof from, "%s/%s", backup->inspection.place.directory, source->name);
	if (backup->links && source->is_stack && files->link(files, from, path) == 0) {
		backup->done += source->size;
		return true;
	}
	to = files->open(files, path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (to < 0)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot create %s", path);
	bytes = memory_check(malloc(COPY_BYTES));
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
	is_copied = is_copied && files->fsync(files, to) == 0;
	return file_close(files, to, is_copied) ||
	       fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot write %s", path);
}

/* Verifies a file of the copy by its checksums. */
static bool file_verify(struct backup *backup, const struct stack_info *info, struct fault *fault)
{
	const struct stack_place place = {
		.files = backup->files,
		.directory = backup->to,
		.installation = backup->inspection.manifest.installation,
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

/* Copies everything. The manifest is written last: without it the copy is not a store. */
static bool copy(struct backup *backup, struct fault *fault)
{
	const struct manifest *manifest = &backup->inspection.manifest;
	const struct journal_end *end = &backup->inspection.end;
	const struct journal_mark mark = {
		.newest = end->n == 0 ? 0 : end->segments[end->n - 1],
		.size = end->n == 0 ? 0 : end->offset,
		.durable = end->last,
		.is_clean = true,
	};
	struct fault each = FAULT_INITIAL;
	bool is_replaced, is_broken = false;

	for (size_t i = 0; i < backup->n; i++)
		if (!source_copy(backup, &backup->sources[i], fault))
			return false;
	if (backup->files->sync_directory(backup->files, backup->to) < 0)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot sync %s", backup->to);
	for (size_t i = 0; i < manifest->n && !backup->links; i++)
		if (!file_verify(backup, &manifest->files[i], &each))
			return fault_cause(fault, FAULT_UNAVAILABLE, 0,
					   "the copy would be damaged (%s); anteroom check shows "
					   "whether the original is, and --salvage saves what can "
					   "be read",
					   each.cause);

	/* The journal of the copy is marked as cleanly ended. */
	if (!mark_create(backup->files, backup->to, &manifest->installation, &mark, &is_broken,
			 fault))
		return false;
	return manifest_write(backup->files, backup->to, manifest, &is_replaced, &is_broken, fault);
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

static bool make_backup(const char *directory, const char *to, const struct file_system *files,
			const struct store_watch *watch, bool links, struct fault *fault)
{
	struct backup backup = { .files = files == NULL ? &file_system_posix : files,
				 .to = to,
				 .watch = watch,
				 .links = links };
	int hold = journal_hold(backup.files, directory, LOCK_SH);
	bool is_done;

	if (hold < 0)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot lock %s", directory);
	is_done = backup_open(&backup, directory, fault);
	if (is_done && backup.files->mkdir(backup.files, to, 0700) < 0) {
		is_done = fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot create %s", to);
	} else if (is_done) {
		is_done = copy(&backup, fault);
		if (!is_done)
			copy_remove(&backup);
	}
	sources_close(&backup);
	backup.files->close(backup.files, hold);
	return is_done;
}

bool store_gdbm_backup(const char *directory, const char *to, const struct file_system *files,
		       const struct store_watch *watch, struct fault *fault)
{
	return make_backup(directory, to, files, watch, false, fault);
}

bool store_gdbm_link(const char *directory, const char *to, const struct file_system *files,
		     struct fault *fault)
{
	const struct store_watch watch = { .context = NULL };

	return make_backup(directory, to, files, &watch, true, fault);
}

bool store_gdbm_note_backup(const char *directory, const struct file_system *files, int64_t seconds,
			    struct fault *fault)
{
	bool is_replaced, is_broken = false;
	char path[PATH_MAX], text[32];
	const int size = snprintf(text, sizeof text, "%lld\n", (long long)seconds);

	(void)snprintf(path, sizeof path, "%s/" BACKUP_NAME, directory);
	return file_replace(files == NULL ? &file_system_posix : files, directory, path, text,
			    (size_t)size, &is_replaced, &is_broken) ||
	       fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot write %s", path);
}

int64_t store_gdbm_backup_time(const char *directory, const struct file_system *files)
{
	char path[PATH_MAX], *bytes;
	int64_t seconds = 0;
	size_t size;

	(void)snprintf(path, sizeof path, "%s/" BACKUP_NAME, directory);
	if (!file_read_whole(files == NULL ? &file_system_posix : files, path, 32, &bytes, &size))
		return 0;
	if (size == 0 || !text_integer((struct slice){ bytes, size - 1 }, &seconds) || seconds < 0)
		seconds = 0;
	free(bytes);
	return seconds;
}
