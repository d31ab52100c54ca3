/* The only place that knows GDBM. Reading: a file keeps a few open handles; who reads takes one and
 * puts it back, so that there are as many as are used at once and memory stays small (each has a
 * cache of whole buckets). Writing: one handle, unmapped, into names that end in `.new`.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/stack.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <gdbm.h>
#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "store/checksum.h"
#include "store/encode.h"
#include "store/stack_index.h"

/* GDBM reads buckets whole, of the size of a block, and a large file has so many that nearly every
 * read is of another one: with blocks of 16 KB, copying the bucket was three fifths of a read's time,
 * with these it is twice as fast. Files are a tenth larger for it. For the same reason a large cache
 * in a handle helps nothing; when writing, in order, two buckets would do. */
#define GDBM_BLOCK 4096
#define READ_CACHE 16
#define WRITE_CACHE 64
#define HANDLES_MOST 64
#define VALUE_HEAD ((size_t)8)
#define VALUE_FORMAT 1
#define SYNC_BYTES ((uint64_t)8 << 20)
/* What GDBM and the index take beside key and value. */
#define RECORD_OVERHEAD (VALUE_HEAD + 24 + 8)

#define STAMP_MAGIC "AnteStck"
#define STAMP_VERSION 1
#define STAMP_SIZE 40

/* No table has an empty letter. */
static char stamp_key[1] = { 0 };

typedef _Atomic(GDBM_FILE) handle_place;

struct stack_file {
	struct stack_place place;
	struct stack_info info;
	struct stack_index *index;
	int opened; /* for the checksums of its blocks */
	atomic_uint holders;
	atomic_bool is_retired;
	atomic_bool is_damaged;
	size_t n_handles;
	handle_place handles[];
};

struct stack_build {
	struct stack_place place;
	uint64_t id;
	char path[PATH_MAX]; /* ends in .new */
	GDBM_FILE handle;
	struct index_build *index;
	char *value; /* the head, then the value */
	size_t capacity;
	uint64_t bytes;
	uint64_t unsynced;
};

uint64_t stack_record_bytes(size_t key_size, size_t value_size)
{
	return key_size + key_size + value_size + RECORD_OVERHEAD;
}

static void stack_path(const struct stack_place *place, const char *name, const char *end,
		       char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%s%s", place->directory, name, end);
}

static void stamp_write(const struct stack_place *place, uint64_t id, char stamp[STAMP_SIZE])
{
	memset(stamp, 0, STAMP_SIZE);
	memcpy(stamp, STAMP_MAGIC, 8);
	encode_32(stamp + 8, STAMP_VERSION);
	memcpy(stamp + 16, place->installation.bytes, INSTALLATION_SIZE);
	encode_64(stamp + 32, id);
}

/* GDBM calls this when it finds no way out of an error; it ends the process then by itself. */
static void gdbm_gave_up(const char *message)
{
	log_event(LOG_LEVEL_ERROR, "gdbm_fatal", "error", message, NULL);
}

static datum datum_of(struct slice bytes)
{
	/* GDBM's type has no const; it does not write into keys. */
	return (datum){ .dptr = (char *)(size_t)bytes.data, .dsize = (int)bytes.size };
}

/* Handles. */

static GDBM_FILE handle_open(const struct stack_file *file, struct fault *fault)
{
	char name[STACK_NAME_SIZE], path[PATH_MAX];
	size_t cache = READ_CACHE;
	GDBM_FILE handle;

	stack_gdbm_name(file->info.id, name);
	stack_path(&file->place, name, "", path);
	errno = 0;
	handle = gdbm_open(path, 0, GDBM_READER | GDBM_NOLOCK | GDBM_CLOEXEC, 0, gdbm_gave_up);
	if (handle == NULL) {
		fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot open %s: %s", path,
			    gdbm_strerror(gdbm_errno));
		return NULL;
	}
	if (gdbm_setopt(handle, GDBM_SETCACHESIZE, &cache, sizeof cache) == 0)
		return handle;
	fault_cause(fault, FAULT_UNAVAILABLE, 0, "cannot open %s: %s", path,
		    gdbm_db_strerror(handle));
	gdbm_close(handle);
	return NULL;
}

/* Begins to look at the place of its processor, so that the same threads find the same handles. */
static size_t place_of_processor(const struct stack_file *file)
{
	int processor = sched_getcpu();

	return processor < 0 ? 0 : (size_t)processor % file->n_handles;
}

static GDBM_FILE handle_take(struct stack_file *file, struct fault *fault)
{
	size_t at = place_of_processor(file), i;

	for (i = 0; i < file->n_handles; i++) {
		handle_place *place = &file->handles[(at + i) % file->n_handles];
		GDBM_FILE handle = NULL;

		if (atomic_load_explicit(place, memory_order_relaxed) != NULL)
			handle = atomic_exchange(place, NULL);
		if (handle != NULL)
			return handle;
	}
	return handle_open(file, fault);
}

static void handle_put(struct stack_file *file, GDBM_FILE handle)
{
	size_t at = place_of_processor(file), i;

	/* After some errors a handle answers nothing any more. */
	if (!gdbm_needs_recovery(handle))
		for (i = 0; i < file->n_handles; i++) {
			GDBM_FILE none = NULL;

			if (atomic_compare_exchange_strong(
				    &file->handles[(at + i) % file->n_handles], &none, handle))
				return;
		}
	gdbm_close(handle);
}

/* Opening and closing. */

static struct stack_file *file_make(const struct stack_place *place, const struct stack_info *info)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	size_t n = processors < 1 ? 2 : (size_t)processors + 1, i;
	struct stack_file *file;

	if (n > HANDLES_MOST)
		n = HANDLES_MOST;
	file = malloc(sizeof *file + n * sizeof *file->handles);
	if (file == NULL)
		abort();
	file->place = *place;
	file->info = *info;
	file->index = NULL;
	file->opened = -1;
	atomic_init(&file->holders, 1);
	atomic_init(&file->is_retired, false);
	atomic_init(&file->is_damaged, false);
	file->n_handles = n;
	for (i = 0; i < n; i++)
		atomic_init(&file->handles[i], NULL);
	return file;
}

static bool size_check(struct stack_file *file, const char *path, struct fault *fault)
{
	const struct file_system *files = file->place.files;
	off_t size;

	file->opened = files->open(files, path, O_RDONLY, 0);
	if (file->opened < 0 || files->size(files, file->opened, &size) < 0)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot open %s", path);
	if ((uint64_t)size != file->info.gdbm_size)
		return fault_cause(fault, FAULT_UNAVAILABLE, 0,
				   "%s has %lld bytes, and %llu in the manifest", path,
				   (long long)size, (unsigned long long)file->info.gdbm_size);
	return true;
}

static bool stamp_check(const struct stack_file *file, GDBM_FILE handle, const char *path,
			struct fault *fault)
{
	datum found = gdbm_fetch(handle, datum_of((struct slice){ stamp_key, 1 }));
	char stamp[STAMP_SIZE];
	bool is_ours, is_of_our_format;

	stamp_write(&file->place, file->info.id, stamp);
	is_ours = found.dptr != NULL && found.dsize == STAMP_SIZE &&
		  memcmp(found.dptr, stamp, 8) == 0 &&
		  memcmp(found.dptr + 16, stamp + 16, STAMP_SIZE - 16) == 0;
	is_of_our_format = is_ours && memcmp(found.dptr, stamp, STAMP_SIZE) == 0;
	free(found.dptr);
	if (!is_ours)
		return fault_cause(fault, FAULT_UNAVAILABLE, 0,
				   "%s is not the file that the manifest names", path);
	return is_of_our_format ||
	       fault_cause(fault, FAULT_UNAVAILABLE, 0,
			   "%s has a format that this program does not read", path);
}

static bool file_check(struct stack_file *file, struct fault *fault)
{
	char name[STACK_NAME_SIZE], path[PATH_MAX];
	GDBM_FILE handle;
	bool is_right;

	stack_gdbm_name(file->info.id, name);
	stack_path(&file->place, name, "", path);
	if (!size_check(file, path, fault))
		return false;
	handle = handle_open(file, fault);
	if (handle == NULL)
		return false;
	is_right = stamp_check(file, handle, path, fault);
	handle_put(file, handle);
	return is_right;
}

bool stack_file_open(const struct stack_place *place, const struct stack_info *info,
		     struct stack_file **file, struct fault *fault)
{
	struct stack_file *opened = file_make(place, info);

	if (!stack_index_open(place, info, &opened->index, fault) || !file_check(opened, fault)) {
		stack_file_let_go(opened);
		return false;
	}
	*file = opened;
	return true;
}

void stack_file_hold(struct stack_file *file)
{
	atomic_fetch_add(&file->holders, 1);
}

void stack_remove(const struct stack_place *place, uint64_t id)
{
	const struct file_system *files = place->files;
	char name[STACK_NAME_SIZE], path[PATH_MAX];

	stack_gdbm_name(id, name);
	stack_path(place, name, "", path);
	files->unlink(files, path);
	stack_index_name(id, name);
	stack_path(place, name, "", path);
	/* What fails is tried again at the next start: no manifest names the file any more. */
	files->unlink(files, path);
}

void stack_file_let_go(struct stack_file *file)
{
	size_t i;

	if (atomic_fetch_sub(&file->holders, 1) > 1)
		return;
	for (i = 0; i < file->n_handles; i++) {
		GDBM_FILE handle = atomic_exchange(&file->handles[i], NULL);

		if (handle != NULL)
			gdbm_close(handle);
	}
	if (file->opened >= 0)
		file->place.files->close(file->place.files, file->opened);
	stack_index_close(&file->place, file->index);
	if (atomic_load(&file->is_retired) && !file->place.is_read_only)
		stack_remove(&file->place, file->info.id);
	free(file);
}

void stack_file_retire(struct stack_file *file)
{
	atomic_store(&file->is_retired, true);
}

const struct stack_info *stack_file_info(const struct stack_file *file)
{
	return &file->info;
}

const struct stack_index *stack_file_index(const struct stack_file *file)
{
	return file->index;
}

void stack_file_damage(struct stack_file *file, const char *what)
{
	char name[STACK_NAME_SIZE];

	stack_gdbm_name(file->info.id, name);
	if (!atomic_exchange(&file->is_damaged, true))
		log_event(LOG_LEVEL_ERROR, "store_file_damaged", "directory", file->place.directory,
			  "file", name, "damage", what, "consequence",
			  "what would be read from it is refused", NULL);
}

bool stack_file_is_damaged(const struct stack_file *file)
{
	return atomic_load_explicit(&file->is_damaged, memory_order_relaxed);
}

/* Reading. */

/* The key of a record for the log and for a fault: its table, and the key with what is not plain
 * as dots and hexadecimal digits. */
#define SHOWN_SIZE 200
static void key_show(const struct record_key *record_key, char shown[SHOWN_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	enum store_table table;
	struct slice key;
	size_t i, n;

	if (!record_key_parse((struct slice){ record_key->bytes, record_key->size }, &table,
			      &key)) {
		snprintf(shown, SHOWN_SIZE, "?");
		return;
	}
	n = (size_t)snprintf(shown, SHOWN_SIZE, "%s ", store_table_name(table));
	for (i = 0; i < key.size && n + 3 < SHOWN_SIZE; i++) {
		unsigned char byte = (unsigned char)key.data[i];

		shown[n++] = digits[byte >> 4];
		shown[n++] = digits[byte & 15];
	}
	shown[n] = '\0';
}

static uint32_t value_checksum(struct slice key, const char *value, size_t size)
{
	return checksum(checksum(0, key.data, key.size), value + 4, size - 4);
}

static bool value_damaged(const struct stack_file *file, const struct record_key *key,
			  struct fault *fault)
{
	char name[STACK_NAME_SIZE], shown[SHOWN_SIZE];

	stack_gdbm_name(file->info.id, name);
	key_show(key, shown);
	log_event(LOG_LEVEL_ERROR, "store_value_damaged", "directory", file->place.directory,
		  "file", name, "key", shown, NULL);
	return fault_cause(fault, FAULT_UNAVAILABLE, 0, "the value of %s in %s is damaged", shown,
			   name);
}

static bool value_take(const struct stack_file *file, const struct record_key *key, datum found,
		       struct arena *arena, struct slice *value, struct fault *fault)
{
	struct slice key_bytes = { key->bytes, key->size };
	size_t size = (size_t)found.dsize;

	if (size < VALUE_HEAD || found.dptr[4] != VALUE_FORMAT ||
	    (found.dptr[5] != STACK_PUT && found.dptr[5] != STACK_REMOVAL) ||
	    value_checksum(key_bytes, found.dptr, size) != decode_32(found.dptr))
		return value_damaged(file, key, fault);
	*value = (struct slice){ NULL, 0 };
	if (found.dptr[5] == STACK_REMOVAL)
		return true;
	if (!arena_fits(arena, size + 1))
		return fault_set(fault, FAULT_TOO_LARGE, NULL);
	*value = arena_copy(arena, (struct slice){ found.dptr + VALUE_HEAD, size - VALUE_HEAD });
	return true;
}

static bool fetch_failed(struct stack_file *file, gdbm_error error, struct fault *fault)
{
	/* All but these say that the file is not what was written. */
	if (error != GDBM_MALLOC_ERROR && error != GDBM_FILE_READ_ERROR)
		stack_file_damage(file, gdbm_strerror(error));
	return fault_cause(fault, FAULT_UNAVAILABLE, 0, "cannot read stack file %llu: %s",
			   (unsigned long long)file->info.id, gdbm_strerror(error));
}

bool stack_file_get(struct stack_file *file, const struct record_key *key, struct arena *arena,
		    struct slice *value, bool *is_there, struct fault *fault)
{
	GDBM_FILE handle;
	gdbm_error error;
	datum found;
	bool is_whole;

	*is_there = false;
	if (stack_file_is_damaged(file))
		return fault_cause(fault, FAULT_UNAVAILABLE, 0, "stack file %llu is damaged",
				   (unsigned long long)file->info.id);
	if (!stack_index_may_have(file->index, key->hash))
		return true;
	handle = handle_take(file, fault);
	if (handle == NULL)
		return false;
	found = gdbm_fetch(handle, datum_of((struct slice){ key->bytes, key->size }));
	error = gdbm_errno;
	handle_put(file, handle);
	if (found.dptr == NULL)
		return error == GDBM_ITEM_NOT_FOUND || fetch_failed(file, error, fault);
	*is_there = true;
	is_whole = value_take(file, key, found, arena, value, fault);
	free(found.dptr);
	return is_whole;
}

bool stack_file_count(struct stack_file *file, uint64_t *n, struct fault *fault)
{
	GDBM_FILE handle = handle_take(file, fault);
	gdbm_count_t count = 0;
	gdbm_error error;
	bool is_counted;

	if (handle == NULL)
		return false;
	is_counted = gdbm_count(handle, &count) == 0;
	error = gdbm_errno;
	handle_put(file, handle);
	if (!is_counted)
		return fetch_failed(file, error, fault);
	*n = count == 0 ? 0 : count - 1;
	return true;
}

static bool gdbm_block_is_right(const struct stack_file *file, uint64_t block)
{
	uint64_t at = block * STACK_BLOCK, left = file->info.gdbm_size - at;
	size_t size = left < STACK_BLOCK ? (size_t)left : STACK_BLOCK;
	char *bytes = malloc(size);
	bool is_right;

	if (bytes == NULL)
		abort();
	is_right = file_read_all(file->place.files, file->opened, bytes, size, (off_t)at) &&
		   checksum(0, bytes, size) == stack_index_gdbm_checksum(file->index, block);
	free(bytes);
	return is_right;
}

bool stack_file_verify_block(struct stack_file *file, uint64_t block, bool *is_last,
			     struct fault *fault)
{
	uint64_t body = stack_index_body_blocks(file->index);
	uint64_t all = body + stack_index_gdbm_blocks(file->index);
	char what[80];

	/* The index first: it has the checksums of the other. */
	*is_last = block + 1 >= all;
	if (block < body ? stack_index_body_is_right(file->index, block)
			 : gdbm_block_is_right(file, block - body))
		return true;
	snprintf(what, sizeof what, "wrong checksum of block %llu of the %s",
		 (unsigned long long)(block < body ? block : block - body),
		 block < body ? "index" : "GDBM file");
	stack_file_damage(file, what);
	return fault_cause(fault, FAULT_UNAVAILABLE, 0, "stack file %llu: %s",
			   (unsigned long long)file->info.id, what);
}

/* Writing. */

static bool build_failed(const struct stack_build *build, struct fault *fault)
{
	int error = build->handle == NULL ? errno : gdbm_last_syserr(build->handle);

	return fault_cause(fault, FAULT_UNAVAILABLE, error, "cannot write %s: %s", build->path,
			   build->handle == NULL ? "" : gdbm_db_strerror(build->handle));
}

static bool build_open(struct stack_build *build, struct fault *fault)
{
	char stamp[STAMP_SIZE];
	size_t cache = WRITE_CACHE;

	if (build->place.files->object_begin(build->place.files, build->path) < 0)
		return build_failed(build, fault);
	errno = 0;
	build->handle = gdbm_open(build->path, GDBM_BLOCK,
				  GDBM_NEWDB | GDBM_NOMMAP | GDBM_NOLOCK | GDBM_CLOEXEC, 0600,
				  gdbm_gave_up);
	if (build->handle == NULL)
		return build_failed(build, fault);
	stamp_write(&build->place, build->id, stamp);
	if (gdbm_setopt(build->handle, GDBM_SETCACHESIZE, &cache, sizeof cache) != 0 ||
	    gdbm_store(build->handle, datum_of((struct slice){ stamp_key, 1 }),
		       datum_of((struct slice){ stamp, sizeof stamp }), GDBM_INSERT) != 0)
		return build_failed(build, fault);
	return true;
}

bool stack_build_begin(const struct stack_place *place, uint64_t id, uint64_t most_records,
		       struct stack_build **build, struct fault *fault)
{
	struct stack_build *begun = malloc(sizeof *begun);
	char name[STACK_NAME_SIZE];

	if (begun == NULL)
		abort();
	*begun = (struct stack_build){ .place = *place, .id = id };
	stack_gdbm_name(id, name);
	stack_path(place, name, ".new", begun->path);
	if (!index_build_begin(place, id, most_records, &begun->index, fault) ||
	    !build_open(begun, fault)) {
		stack_build_abandon(begun);
		return false;
	}
	*build = begun;
	return true;
}

static void value_write(struct stack_build *build, struct slice key, struct slice value)
{
	size_t size = VALUE_HEAD + value.size;

	if (size > build->capacity) {
		free(build->value);
		build->capacity = 2 * size;
		build->value = malloc(build->capacity);
		if (build->value == NULL)
			abort();
	}
	memset(build->value, 0, VALUE_HEAD);
	build->value[4] = VALUE_FORMAT;
	build->value[5] = value.data == NULL ? STACK_REMOVAL : STACK_PUT;
	if (value.size > 0)
		memcpy(build->value + VALUE_HEAD, value.data, value.size);
	encode_32(build->value, value_checksum(key, build->value, size));
}

static bool build_sync(struct stack_build *build, bool *is_broken, struct fault *fault)
{
	build->unsynced = 0;
	if (gdbm_sync(build->handle) == 0)
		return true;
	*is_broken = !file_error_passes(gdbm_last_syserr(build->handle));
	return build_failed(build, fault);
}

bool stack_build_add(struct stack_build *build, struct slice key, struct slice value,
		     bool *is_broken, struct fault *fault)
{
	value_write(build, key, value);
	if (gdbm_store(build->handle, datum_of(key),
		       datum_of((struct slice){ build->value, VALUE_HEAD + value.size }),
		       GDBM_INSERT) != 0)
		return build_failed(build, fault);
	build->bytes += stack_record_bytes(key.size, value.size);
	build->unsynced += key.size + value.size;
	/* So that the last sync has little left to do, and no other has to wait behind it. */
	if (build->unsynced >= SYNC_BYTES && !build_sync(build, is_broken, fault))
		return false;
	return index_build_add(build->index, key, (uint32_t)value.size, value.data == NULL, fault);
}

/* GDBM forgets some errors of its writes, and remembers them only as a recovery to be asked for. */
static bool gdbm_finish(struct stack_build *build, bool *is_broken, struct fault *fault)
{
	GDBM_FILE handle = build->handle;

	if (!build_sync(build, is_broken, fault))
		return false;
	if (gdbm_needs_recovery(handle))
		return build_failed(build, fault);
	build->handle = NULL;
	return gdbm_close(handle) == 0 || build_failed(build, fault);
}

static bool files_finish(struct stack_build *build, struct stack_info *info, bool *is_broken,
			 struct fault *fault)
{
	const struct file_system *files = build->place.files;
	int gdbm = files->open(files, build->path, O_RDWR, 0);
	bool is_done;

	if (gdbm < 0)
		return build_failed(build, fault);
	is_done = (file_sync(files, gdbm, is_broken) &&
		   files->object_end(files, build->path) == 0) ||
		  build_failed(build, fault);
	is_done = is_done && index_build_end(build->index, gdbm, info, is_broken, fault);
	files->close(files, gdbm);
	return is_done;
}

static bool names_finish(struct stack_build *build, struct fault *fault)
{
	const struct file_system *files = build->place.files;
	char name[STACK_NAME_SIZE], from[PATH_MAX], to[PATH_MAX];

	stack_index_name(build->id, name);
	stack_path(&build->place, name, ".new", from);
	stack_path(&build->place, name, "", to);
	if (files->rename(files, from, to) < 0)
		return build_failed(build, fault);
	stack_gdbm_name(build->id, name);
	stack_path(&build->place, name, "", to);
	return files->rename(files, build->path, to) == 0 || build_failed(build, fault);
}

bool stack_build_end(struct stack_build *build, struct stack_info *info, bool *is_broken,
		     struct fault *fault)
{
	*info = (struct stack_info){ .bytes = build->bytes };
	if (!gdbm_finish(build, is_broken, fault) || !files_finish(build, info, is_broken, fault) ||
	    !names_finish(build, fault)) {
		stack_build_abandon(build);
		return false;
	}
	index_build_close(build->index);
	free(build->value);
	free(build);
	return true;
}

/* Whatever of it is there, under whichever name. */
void stack_build_abandon(struct stack_build *build)
{
	const struct file_system *files = build->place.files;
	char name[STACK_NAME_SIZE], path[PATH_MAX];

	if (build->handle != NULL)
		gdbm_close(build->handle);
	files->unlink(files, build->path);
	if (build->index != NULL)
		index_build_close(build->index);
	stack_index_name(build->id, name);
	stack_path(&build->place, name, ".new", path);
	files->unlink(files, path);
	stack_remove(&build->place, build->id);
	free(build->value);
	free(build);
}
