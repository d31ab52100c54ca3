/* Opening a durable store: lock, file names, manifest, files, journal, threads.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/directory.h"
#include "base/log.h"
#include "base/memory.h"
#include "store/gdbm/background.h"
#include "store/gdbm/journal_format.h"
#include "store/gdbm/store_gdbm_parts.h"

#define LOCK_NAME "lock"
#define LOCK_PAUSE 5000000L /* nanoseconds */
#define OVERLAY_BYTES ((size_t)12 << 20)
#define READERS 8
/* Attempts to open a live directory, which may change in the meantime. */
#define ATTEMPTS 20

struct opening {
	const struct store_options *options;
	struct store_gdbm *store;
	bool has_manifest;
	bool has_others; /* journal or stack files */
	bool has_earlier_form;
	bool is_salvage; /* damage is passed to options->salvage */
	struct journal_options journal;
	struct journal_end end;
	struct stack_file **files;
	size_t n_files;
};

static bool directory_make(const struct opening *opening, struct fault *fault)
{
	const struct file_system *files = opening->store->place.files;
	const char *directory = opening->store->directory;
	char parent[PATH_MAX];

	if (!opening->options->creates || opening->options->is_read_only)
		return true;
	if (files->mkdir(files, directory, 0700) < 0) {
		if (errno == EEXIST)
			return true;
		return fault_cause(fault, FAULT_UNAVAILABLE, errno,
				   "cannot create the directory %s", directory);
	}
	directory_of(directory, parent);
	if (files->sync_directory(files, parent) < 0)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot sync %s", parent);
	return true;
}

static bool lock_refuse(const struct file_system *files, int file, const char *path, int error,
			struct fault *fault)
{
	char pid[32] = "";
	ssize_t n = files->pread(files, file, pid, sizeof pid - 1, 0);

	pid[n > 0 ? n : 0] = '\0';
	pid[strcspn(pid, "\n")] = '\0';
	files->close(files, file);
	if (error != EWOULDBLOCK)
		return fault_cause(fault, FAULT_UNAVAILABLE, error, "cannot lock %s", path);
	return fault_cause(
		fault, FAULT_UNAVAILABLE, 0,
		"the store is in use by process %s (which holds %s); stop it first, together "
		"with its systemd socket, which would start it again",
		pid[0] == '\0' ? "?" : pid, path);
}

/* Pauses, because flock(2) cannot wait with a timeout. False if there is no time left. */
static bool lock_pause(const struct store_options *options, int64_t deadline)
{
	const struct timespec pause = { .tv_nsec = LOCK_PAUSE };

	if (clock_monotonic() >= deadline || (options->gives_up != NULL && options->gives_up()))
		return false;
	(void)nanosleep(&pause, NULL);
	return true;
}

/* Waits for the lock. False and errno on failure; EWOULDBLOCK after the timeout. */
static bool lock_wait(const struct file_system *files, const struct store_options *options,
		      int64_t deadline, int file)
{
	while (files->lock(files, file, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK)
			return false;
		if (!lock_pause(options, deadline)) {
			errno = EWOULDBLOCK;
			return false;
		}
	}
	return true;
}

/* Takes the lock. The directory may be replaced while waiting: then the lock belongs to the old
 * directory, and the file is opened again, as soon as the new directory is there. */
static bool lock_take(const struct file_system *files, const struct store_options *options,
		      int *lock, struct fault *fault)
{
	const int64_t deadline = clock_monotonic() + options->wait;
	bool was_replaced = false;
	char path[PATH_MAX], pid[32];
	int file, n;

	snprintf(path, sizeof path, "%s/" LOCK_NAME, options->directory);
	for (;;) {
		file = files->open(files, path, O_RDWR | O_CREAT, 0600);
		if (file < 0 && errno == ENOENT && was_replaced && lock_pause(options, deadline))
			continue;
		if (file < 0)
			return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot open %s", path);
		if (!lock_wait(files, options, deadline, file))
			return lock_refuse(files, file, path, errno, fault);
		if (files->is_named(files, file, path))
			break;
		was_replaced = true;
		files->close(files, file);
	}
	*lock = file;
	n = snprintf(pid, sizeof pid, "%ld\n", (long)getpid());
	/* The pid is used only in the message of lock_refuse. */
	if (files->ftruncate(files, file, 0) < 0 || !file_write_all(files, file, pid, (size_t)n, 0))
		log_event(LOG_LEVEL_WARNING, "store_lock", "file", path, "error", strerror(errno),
			  NULL);
	return true;
}

bool store_gdbm_lock_for(const struct store_options *options, int *lock, struct fault *fault)
{
	*lock = -1;
	return lock_take(options->files == NULL ? &file_system_posix : options->files, options,
			 lock, fault);
}

bool store_gdbm_lock(const char *directory, int *lock, struct fault *fault)
{
	const struct store_options options = { .directory = directory };

	return store_gdbm_lock_for(&options, lock, fault);
}

static bool is_named_by(const struct manifest *manifest, uint64_t id)
{
	for (size_t i = 0; i < manifest->n; i++)
		if (manifest->files[i].id == id)
			return true;
	return false;
}

static void remove_name(const struct opening *opening, const char *name)
{
	const struct file_system *files = opening->store->place.files;
	char path[PATH_MAX];

	snprintf(path, sizeof path, "%s/%s", opening->store->directory, name);
	if (files->unlink(files, path) < 0)
		log_event(LOG_LEVEL_WARNING, "store_remove", "file", path, "error", strerror(errno),
			  NULL);
}

/* Removes unfinished files (except the prepared segment, which the journal's thread removes) and,
 * if there is a manifest, stack files that it does not name. Other programs' files stay. */
static void handle_name(struct opening *opening, const char *name)
{
	const bool is_read_only = opening->options->is_read_only;
	bool is_unfinished = false;
	uint64_t number;
	const bool is_stack = stack_name_parse(name, &number, &is_unfinished);

	if (is_unfinished || strcmp(name, MANIFEST_NAME ".new") == 0 ||
	    strcmp(name, BACKUP_NAME ".new") == 0) {
		if (!is_read_only)
			remove_name(opening, name);
	} else if (is_stack) {
		opening->has_others = true;
		if (opening->has_manifest && !is_read_only &&
		    !is_named_by(&opening->store->manifest, number))
			remove_name(opening, name);
	} else if (journal_segment_name(name, &number)) {
		opening->has_others = true;
	} else if (!is_read_only && strcmp(name, MANIFEST_NAME) != 0 &&
		   strcmp(name, LOCK_NAME) != 0 && strcmp(name, SEGMENT_AHEAD) != 0 &&
		   strcmp(name, MARK_NAME) != 0 && strcmp(name, BACKUP_NAME) != 0) {
		log_event(LOG_LEVEL_NOTICE, "store_foreign_name", "directory",
			  opening->store->directory, "name", name, NULL);
	}
}

/* Sets the form that a new manifest has, or one that has an earlier form. */
static void set_form(struct opening *opening)
{
	const struct store_form *form = opening->options->form;
	struct arena *arena = arena_open();

	if (form != NULL)
		manifest_set_form(&opening->store->manifest, form->number(), form->text(arena));
	arena_close(arena);
}

static bool accept_form(struct opening *opening, struct fault *fault)
{
	const struct store_options *options = opening->options;
	const struct manifest *manifest = &opening->store->manifest;
	bool ignored;

	if (options->is_upgrade)
		return manifest_check(manifest, options->directory, options->form, &ignored,
				      &ignored, fault);
	return manifest_accept(manifest, options->directory, options->form,
			       &opening->has_earlier_form, fault);
}

/* Replaces an earlier form, before anything can be written. */
static bool renew_form(struct opening *opening, struct fault *fault)
{
	struct store_gdbm *store = opening->store;
	bool is_replaced, is_broken = false;

	if (!opening->has_earlier_form)
		return true;
	set_form(opening);
	return manifest_write(store->place.files, store->directory, &store->manifest, &is_replaced,
			      &is_broken, fault);
}

static bool installation_make(struct opening *opening, struct fault *fault)
{
	struct store_gdbm *store = opening->store;
	const struct journal_mark empty = { .is_clean = true };
	bool is_replaced, is_broken = false;

	if (opening->has_others || !opening->options->creates || opening->options->is_read_only)
		return fault_cause(fault, FAULT_UNAVAILABLE, 0, "%s %s", store->directory,
				   opening->has_others
					   ? "has no manifest, but other files of a store; "
					     "restore a backup"
					   : "is not a store: it has no manifest");
	clock_random(&clock_system, store->manifest.installation.bytes, INSTALLATION_SIZE);
	store->manifest.next_id = 1;
	store->manifest.form_number = STORE_FORM_FIRST;
	set_form(opening);
	return mark_create(store->place.files, store->directory, &store->manifest.installation,
			   &empty, &is_broken, fault) &&
	       manifest_write(store->place.files, store->directory, &store->manifest, &is_replaced,
			      &is_broken, fault);
}

static bool directory_read(struct opening *opening, struct fault *fault)
{
	struct store_gdbm *store = opening->store;
	const struct file_system *files = store->place.files;
	char *names;

	if (!manifest_read(files, store->directory, store_form_number(opening->options->form),
			   &store->manifest, &opening->has_manifest, fault) ||
	    (opening->has_manifest && !accept_form(opening, fault)))
		return false;
	names = files->list(files, store->directory);
	if (names == NULL)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot list %s",
				   store->directory);
	for (const char *name = names; *name != '\0'; name = file_next_name(name))
		handle_name(opening, name);
	free(names);
	if (!opening->has_manifest && !installation_make(opening, fault))
		return false;
	store->place.installation = store->manifest.installation;
	return true;
}

static bool files_open(struct opening *opening, struct fault *fault)
{
	const struct store_gdbm *store = opening->store;

	opening->files = memory_check(calloc(store->manifest.n + 1, sizeof *opening->files));
	for (size_t i = 0; i < store->manifest.n; i++) {
		if (!stack_file_open(&store->place, &store->manifest.files[i], &opening->files[i],
				     fault))
			return false;
		opening->n_files++;
	}
	return true;
}

/* Adds a change to the overlay. An overlay is frozen only between two transactions. */
static void replay_visit(void *context, uint64_t number, const struct change *change)
{
	struct store_gdbm *store = context;
	struct entry_key key;

	if (store->lock_file >= 0 && overlay_size(store->active) >= store->overlay_bytes &&
	    number > overlay_last(store->active))
		store_gdbm_freeze(store);
	entry_key_make(&store->place.installation, change->table, change->key, &key);
	overlay_put(store->active, &key, number, change->value);
}

static bool journal_damaged(const struct opening *opening, struct fault *fault)
{
	const struct journal_end *end = &opening->end;
	char name[SEGMENT_NAME_SIZE], what[JOURNAL_TEXT_SIZE];

	journal_end_describe(end, what);
	segment_name(end->damaged_segment, name);
	if (!opening->is_salvage)
		return fault_cause(fault, FAULT_UNAVAILABLE, 0,
				   "%s of %s is damaged: %s; dump --salvage saves "
				   "everything before it",
				   name, opening->store->directory, what);
	opening->options->salvage(opening->options->salvage_context, name, what);
	return true;
}

/* Returns whether there is a mark. If there is no mark, the journal is read up to the first
 * damage. */
static bool salvage_has_mark(const struct opening *opening)
{
	const struct store_gdbm *store = opening->store;
	struct fault fault = FAULT_INITIAL;
	struct journal_mark ignored;

	if (mark_read(store->place.files, store->directory, &store->place.installation, &ignored,
		      &fault))
		return true;
	opening->options->salvage(opening->options->salvage_context, MARK_NAME, fault.cause);
	return false;
}

static bool journal_read(struct opening *opening, struct fault *fault)
{
	struct store_gdbm *store = opening->store;
	struct journal_end *end = &opening->end;

	opening->journal = (struct journal_options){
		.files = store->place.files,
		.directory = store->directory,
		.installation = store->place.installation,
		.segment_bytes = opening->options->segment_bytes,
		.is_live = opening->options->is_read_only,
		.has_mark = !opening->is_salvage || salvage_has_mark(opening),
	};
	store->overlay_memory = overlay_memory_open();
	store->active = overlay_open(store->overlay_memory, store->overlay_bytes);
	store->views = views_open(opening->options->readers == 0 ? READERS
								 : opening->options->readers,
				  store->active, opening->files, opening->n_files);
	opening->n_files = 0; /* the views own the references now */
	if (!journal_replay(&opening->journal, store->manifest.number, replay_visit, store, end,
			    fault))
		return false;
	if (end->is_damaged && !journal_damaged(opening, fault))
		return false;
	store->last = end->last;
	return true;
}

bool store_gdbm_find(const char *directory, bool *is_there, struct fault *fault)
{
	char *names = file_system_posix.list(&file_system_posix, directory);
	bool is_unfinished;
	uint64_t number;

	*is_there = false;
	if (names == NULL)
		return errno == ENOENT ||
		       fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot list %s", directory);
	/* An incomplete store counts, too. */
	for (const char *name = names; *name != '\0'; name = file_next_name(name)) {
		if (strcmp(name, MANIFEST_NAME) == 0 || journal_segment_name(name, &number) ||
		    (stack_name_parse(name, &number, &is_unfinished) && !is_unfinished))
			*is_there = true;
	}
	free(names);
	return true;
}

bool store_gdbm_check_form(const char *directory, const struct store_form *form, unsigned *number,
			   struct fault *fault)
{
	struct fault each = FAULT_INITIAL;
	struct manifest manifest;
	bool is_there, ignored, is_right = true;

	*number = form->number();
	if (manifest_read(&file_system_posix, directory, form->number(), &manifest, &is_there,
			  &each)) {
		if (is_there)
			*number = manifest.form_number;
		is_right = !is_there ||
			   manifest_check(&manifest, directory, form, &ignored, &ignored, fault);
	} else if (manifest.is_refused) {
		*fault = each;
		is_right = false;
	}
	manifest_free(&manifest);
	return is_right;
}

static bool open_once(const struct store_options *options, bool is_salvage, struct store **opened,
		      struct fault *fault)
{
	struct store_gdbm *store = memory_check(calloc(1, sizeof *store));
	struct opening opening = { .options = options, .store = store, .is_salvage = is_salvage };
	const bool is_read_only = options->is_read_only;
	bool is_open;

	store->base.driver = &store_gdbm_driver;
	store->directory = memory_check(strdup(options->directory));
	store->place.files = options->files == NULL ? &file_system_posix : options->files;
	store->place.directory = store->directory;
	store->place.checksum_failures = &store->checksum_failures;
	store->overlay_bytes = options->overlay_bytes == 0 ? OVERLAY_BYTES : options->overlay_bytes;
	store->lock_file = -1;
	turn_open(&store->turn);
	pthread_mutex_init(&store->manifest_lock, NULL);
	is_open = directory_make(&opening, fault) &&
		  (is_read_only ||
		   lock_take(store->place.files, options, &store->lock_file, fault)) &&
		  directory_read(&opening, fault) && files_open(&opening, fault) &&
		  journal_read(&opening, fault) &&
		  (is_read_only ||
		   (renew_form(&opening, fault) &&
		    journal_open(&opening.journal, &opening.end, &store->journal, fault) &&
		    background_open(store, &store->background, fault)));
	for (size_t i = 0; i < opening.n_files; i++)
		stack_file_release(opening.files[i]);
	free(opening.files);
	journal_end_free(&opening.end);
	if (is_open)
		*opened = &store->base;
	else
		store_gdbm_driver.close(&store->base);
	return is_open;
}

bool store_gdbm_open(const struct store_options *options, struct store **store, struct fault *fault)
{
	struct fault each;

	*store = NULL;
	if (!options->is_read_only)
		return open_once(options, false, store, fault);
	for (int i = 0; i < ATTEMPTS; i++) {
		each = FAULT_INITIAL;
		if (open_once(options, false, store, &each))
			return true;
	}
	/* The failures were not caused by changes of a live directory. */
	if (options->salvage != NULL && open_once(options, true, store, &each))
		return true;
	if (fault->kind == FAULT_NONE)
		*fault = each;
	return false;
}

bool store_gdbm_settle(struct store *base, bool is_all_merged)
{
	struct store_gdbm *store = store_gdbm_of(base);

	pthread_mutex_lock(&store->turn.mutex);
	store_gdbm_freeze(store);
	pthread_mutex_unlock(&store->turn.mutex);
	return background_settle(store->background, is_all_merged);
}

static void medium_failed(int signal_number)
{
	static const char line[] = "error store_medium_failed error=\"a mapped file "
				   "could not be read (SIGBUS)\" consequence=exit\n";
	ssize_t ignored = write(STDERR_FILENO, line, sizeof line - 1);

	(void)signal_number;
	(void)ignored;
	_exit(1);
}

void store_gdbm_watch_medium(void)
{
	struct sigaction action = { .sa_handler = medium_failed };

	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, &action, NULL);
}
