/* The accounts as the service uses them. Rosters are immutable: when the file changes, a new roster
 * becomes current, and the old one is freed when its last user releases it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "accounts/accounts.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "accounts/accounts_file.h"
#include "store/store.h"

struct pinned_roster {
	struct pinned_roster *next; /* an older roster still in use */
	struct roster *roster;
	size_t references; /* users of the roster, plus one if it is the current one */
};

struct accounts {
	char *path; /* NULL if the accounts are in `store` */
	struct store *store;
	/* number of the last refresh that has finished */
	atomic_uint_least64_t refreshes_begun, refresh_done;

	/* Held while reading the file. */
	pthread_mutex_t reading;
	struct file_mark complained; /* the state that the log last complained of */
	uint64_t complained_of; /* the same for accounts in a store: their generation */
	/* kept open so that its inode number is not reused; -1 if there is no file */
	atomic_int file;
	uint64_t generation;

	/* Held for a few instructions only; may be taken while holding `reading`. */
	pthread_mutex_t lock;
	struct file_mark seen; /* the state that was read, and need not be read again */
	struct pinned_roster *current;
};

static void lock_accounts(pthread_mutex_t *mutex)
{
	if (pthread_mutex_lock(mutex) != 0)
		ABORT("a lock failed");
}

static void unlock_accounts(pthread_mutex_t *mutex)
{
	if (pthread_mutex_unlock(mutex) != 0)
		ABORT("a lock failed");
}

/* --- The current roster; with the lock held --- */

/* Returns the roster if this was the last reference, else NULL. The caller closes it after
 * unlocking. */
static struct roster *unpin(struct accounts *accounts, const struct roster *roster)
{
	struct pinned_roster **place = &accounts->current;

	while ((*place)->roster != roster)
		place = &(*place)->next;

	struct pinned_roster *pinned = *place;
	struct roster *unused = pinned->roster;

	if (--pinned->references > 0)
		return NULL;
	*place = pinned->next;
	free(pinned);
	return unused;
}

/* --- Reading; with `reading` held --- */

/* Marks this state as read. `file` is -1 if there is no file. The old file is closed last, because
 * its inode number cannot be reused until then. */
static void settle_mark(struct accounts *accounts, const struct file_mark *mark, int file)
{
	const int kept = atomic_load(&accounts->file);

	lock_accounts(&accounts->lock);
	accounts->seen = *mark;
	unlock_accounts(&accounts->lock);
	/* The new file replaces the old one under the same descriptor, so that a concurrent fstat
	 * sees one of them. Without a new file the old one stays open. */
	if (kept < 0) {
		atomic_store(&accounts->file, file);
	} else if (file >= 0) {
		while (dup3(file, kept, O_CLOEXEC) < 0)
			if (errno != EINTR && errno != EBUSY)
				ABORT("cannot replace a descriptor");
		close(file);
	}
}

static void replace_roster(struct accounts *accounts, struct roster *roster, uint64_t generation)
{
	struct pinned_roster *pinned = memory_check(malloc(sizeof *pinned));
	struct roster *unused = NULL;

	roster->generation = generation;
	lock_accounts(&accounts->lock);
	*pinned = (struct pinned_roster){
		.next = accounts->current,
		.roster = roster,
		.references = 1,
	};
	accounts->current = pinned;
	if (pinned->next != NULL)
		unused = unpin(accounts, pinned->next->roster);
	unlock_accounts(&accounts->lock);
	roster_close(unused);
}

static void warn_of(const char *path, mode_t mode, const char *remedy)
{
	char digits[8], command[PATH_MAX + 16];

	(void)snprintf(digits, sizeof digits, "%04o", (unsigned)mode);
	(void)snprintf(command, sizeof command, "%s %s", remedy, path);
	log_event(LOG_LEVEL_WARNING, "accounts_for_others", "file", path, "mode", digits, "remedy",
		  command, NULL);
}

/* Reads the file and sets *mark to the state that was read. A file that was read but is not an
 * accounts file need not be read again. A file that cannot be opened must be read again, because
 * the reason may disappear without a change of the file. */
static bool read_accounts_file(struct accounts *accounts, struct file_mark *mark,
			       struct fault *fault)
{
	struct opened_file opened;
	struct file_mark named;
	struct roster *roster;
	mode_t mode;

	accounts_file_read(accounts->path, &roster, &opened, fault);
	if (roster != NULL) {
		replace_roster(accounts, roster, ++accounts->generation);
		/* Only warns: rejecting the file would stop the service without protecting a secret
		 * that others may already have read. */
		if (accounts_file_is_for_others(accounts->path, &mode))
			warn_of(accounts->path, mode, "chmod 600");
	}
	if (opened.file >= 0) {
		*mark = opened.mark;
		/* A file that lost its name before the mark was taken would keep that mark for
		 * ever; it is read again next time. */
		named = accounts_file_mark(accounts->path);
		if (file_mark_equal(&named, mark))
			settle_mark(accounts, mark, opened.file);
		else
			close(opened.file);
	}
	return roster != NULL;
}

static void complain(struct accounts *accounts, const struct file_mark *mark, const char *cause)
{
	if (file_mark_equal(&accounts->complained, mark))
		return;
	accounts->complained = *mark;
	log_event(LOG_LEVEL_ERROR, "accounts_unreadable", "file", accounts->path, "error", cause,
		  "effect", "keeping the accounts as last read", NULL);
}

static void read_again(struct accounts *accounts)
{
	struct file_mark mark = accounts_file_mark(accounts->path);
	struct fault fault = FAULT_INITIAL;

	/* Another thread may have read it in the meantime. `seen` changes only under `reading`. */
	if (file_mark_equal(&mark, &accounts->seen))
		return;
	if (mark.error != 0) {
		complain(accounts, &mark, strerror(mark.error));
		settle_mark(accounts, &mark, -1);
		return;
	}
	if (!read_accounts_file(accounts, &mark, &fault)) {
		complain(accounts, &mark, fault.cause);
		return;
	}
	accounts->complained = (struct file_mark){ .error = 0 };
	log_event(LOG_LEVEL_NOTICE, "accounts_read", "accounts",
		  LOG_NUMBER(accounts->current->roster->count), NULL);
}

/* --- In a store; with `reading` held --- */

static bool read_stored(struct accounts *accounts, struct fault *fault)
{
	struct arena *arena = arena_open();
	struct roster *roster = NULL;
	struct slice text;
	uint64_t generation;

	arena_set_limit(arena, SIZE_MAX);
	if (store_roster(accounts->store, arena, &generation, &text, fault))
		roster = roster_parse_stored(text, fault);
	arena_close(arena);
	if (roster != NULL)
		replace_roster(accounts, roster, generation);
	return roster != NULL;
}

static bool is_current(struct accounts *accounts)
{
	bool is;

	lock_accounts(&accounts->lock);
	is = accounts->current->roster->generation == store_roster_generation(accounts->store);
	unlock_accounts(&accounts->lock);
	return is;
}

static void read_stored_again(struct accounts *accounts)
{
	const uint64_t generation = store_roster_generation(accounts->store);
	struct fault fault = FAULT_INITIAL;

	if (is_current(accounts))
		return;
	if (!read_stored(accounts, &fault)) {
		if (accounts->complained_of == generation)
			return;
		accounts->complained_of = generation;
		log_event(LOG_LEVEL_ERROR, "accounts_unreadable", "error",
			  fault.cause[0] != '\0' ? fault.cause : fault.detail, "effect",
			  "keeping the accounts as last read", NULL);
		return;
	}
	accounts->complained_of = 0;
	log_event(LOG_LEVEL_NOTICE, "accounts_read", "accounts",
		  LOG_NUMBER(accounts->current->roster->count), NULL);
}

/* --- Public functions --- */

static struct accounts *make_accounts(void)
{
	struct accounts *made = memory_check(calloc(1, sizeof *made));

	if (pthread_mutex_init(&made->reading, NULL) != 0 ||
	    pthread_mutex_init(&made->lock, NULL) != 0)
		ABORT("cannot create a lock");
	atomic_init(&made->file, -1);
	return made;
}

/* Sets *accounts if they were read, else closes them. */
static bool keep_if_read(struct accounts *made, bool is_read, struct accounts **accounts)
{
	if (!is_read)
		accounts_close(made);
	*accounts = is_read ? made : NULL;
	return is_read;
}

bool accounts_open(const char *directory, struct accounts **accounts, struct fault *fault)
{
	struct accounts *made = make_accounts();
	struct file_mark mark;
	bool is_read = true;
	mode_t mode;

	made->path = accounts_file_path(directory, ACCOUNTS_FILE);
	/* Checked only at start, because the mark of the file does not show a change of the
	 * directory's mode. */
	if (accounts_directory_is_for_others(directory, &mode))
		warn_of(directory, mode, "chmod go-w");
	mark = accounts_file_mark(made->path);
	if (mark.error == ENOENT) {
		replace_roster(made, roster_empty(), ++made->generation);
		settle_mark(made, &mark, -1);
	} else {
		is_read = read_accounts_file(made, &mark, fault);
	}
	return keep_if_read(made, is_read, accounts);
}

bool accounts_open_stored(struct store *store, struct accounts **accounts, struct fault *fault)
{
	struct accounts *made = make_accounts();

	made->store = store;
	return keep_if_read(made, read_stored(made, fault), accounts);
}

void accounts_close(struct accounts *accounts)
{
	if (accounts == NULL)
		return;
	if (accounts->current != NULL) {
		assert(accounts->current->references == 1 && accounts->current->next == NULL);
		roster_close(unpin(accounts, accounts->current->roster));
	}
	if (atomic_load(&accounts->file) >= 0)
		close(atomic_load(&accounts->file));
	pthread_mutex_destroy(&accounts->reading);
	pthread_mutex_destroy(&accounts->lock);
	free(accounts->path);
	free(accounts);
}

/* Pins the current roster. Returns NULL if `mark` differs from the state `seen`. mark: NULL to pin
 * the current roster in any case. */
static const struct roster *pin(struct accounts *accounts, const struct file_mark *mark)
{
	const struct roster *roster = NULL;

	lock_accounts(&accounts->lock);
	if (mark == NULL || file_mark_equal(mark, &accounts->seen)) {
		accounts->current->references++;
		roster = accounts->current->roster;
	}
	unlock_accounts(&accounts->lock);
	return roster;
}

/* If another thread begins a refresh after this call began, its result is used here too. */
bool accounts_refresh(struct accounts *accounts, const struct roster **roster, bool *has_changed,
		      struct fault *fault)
{
	uint64_t before, generation;
	bool is_done;

	*has_changed = false;
	if (accounts->store == NULL)
		return true;
	before = atomic_load(&accounts->refreshes_begun);
	lock_accounts(&accounts->reading);
	if (atomic_load(&accounts->refresh_done) <= before) {
		const uint64_t refresh = atomic_fetch_add(&accounts->refreshes_begun, 1) + 1;

		if (store_roster(accounts->store, NULL, &generation, NULL, fault) &&
		    (generation == accounts->current->roster->generation ||
		     read_stored(accounts, fault)))
			atomic_store(&accounts->refresh_done, refresh);
	}
	is_done = atomic_load(&accounts->refresh_done) > before;
	unlock_accounts(&accounts->reading);
	lock_accounts(&accounts->lock);
	*has_changed = accounts->current->roster->generation != (*roster)->generation;
	unlock_accounts(&accounts->lock);
	if (*has_changed) {
		accounts_release(accounts, *roster);
		*roster = accounts_current(accounts);
	}
	return is_done;
}

const struct roster *accounts_current(struct accounts *accounts)
{
	if (accounts->store != NULL) {
		if (!is_current(accounts)) {
			lock_accounts(&accounts->reading);
			read_stored_again(accounts);
			unlock_accounts(&accounts->reading);
		}
		return pin(accounts, NULL);
	}

	const int file = atomic_load(&accounts->file);
	const struct file_mark mark = file < 0 ? accounts_file_mark(accounts->path)
					       : accounts_file_mark_open(file);
	const struct roster *roster = pin(accounts, &mark);

	if (roster != NULL)
		return roster;
	lock_accounts(&accounts->reading);
	read_again(accounts);
	unlock_accounts(&accounts->reading);
	return pin(accounts, NULL);
}

void accounts_release(struct accounts *accounts, const struct roster *roster)
{
	lock_accounts(&accounts->lock);

	struct roster *unused = unpin(accounts, roster);

	unlock_accounts(&accounts->lock);
	roster_close(unused);
}
