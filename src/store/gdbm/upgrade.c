/* See store/gdbm/upgrade.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gdbm/upgrade.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/memory.h"
#include "store/gdbm/inspect.h"
#include "store/gdbm/store_gdbm_parts.h"

struct names {
	char store[PATH_MAX], staged[PATH_MAX], former[PATH_MAX], parent[PATH_MAX];
};

struct store_gdbm_upgrade {
	struct names names;
	const struct store_form *form;
	int lock;
	struct store *store; /* in the second directory */
	bool is_staged; /* the second directory is there, and not yet exchanged */
};

static bool set_names(const char *directory, struct names *names, struct fault *fault)
{
	const int size = snprintf(names->staged, PATH_MAX, "%s.upgrade", directory);

	if (size < 0 || size >= PATH_MAX)
		return fault_cause(fault, FAULT_UNAVAILABLE, ENAMETOOLONG, "cannot use %s",
				   directory);
	(void)snprintf(names->store, PATH_MAX, "%s", directory);
	(void)snprintf(names->former, PATH_MAX, "%s.former", directory);
	directory_of(directory, names->parent);
	return true;
}

/* Removes a directory of a store, if it exists. */
static bool remove_store(const char *directory, struct fault *fault)
{
	const struct file_system *files = &file_system_posix;
	char path[PATH_MAX], *names = files->list(files, directory);
	bool is_done;

	if (names == NULL && errno == ENOENT)
		return true;
	/* Without its manifest it is no store, whatever else is left of it. */
	(void)snprintf(path, sizeof path, "%s/" MANIFEST_NAME, directory);
	is_done = names != NULL && (unlink(path) == 0 || errno == ENOENT);
	for (const char *name = names; is_done && *name != '\0'; name = file_next_name(name)) {
		(void)snprintf(path, sizeof path, "%s/%s", directory, name);
		is_done = unlink(path) == 0 || errno == ENOENT;
	}
	free(names);
	return (is_done && rmdir(directory) == 0) ||
	       fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot remove %s", directory);
}

static bool cannot_rename(const char *path, struct fault *fault)
{
	return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot rename %s", path);
}

/* Renames a store, durably. */
static bool rename_store(const struct names *names, const char *from, const char *to,
			 struct fault *fault)
{
	if (rename(from, to) != 0)
		return cannot_rename(from, fault);
	return directory_sync(names->parent) ||
	       fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot sync %s", names->parent);
}

/* ---- after the exchange ---- */

/* The second name now has the earlier store, which is kept. */
static bool keep_former(const struct names *names, struct fault *fault)
{
	return remove_store(names->former, fault) &&
	       rename_store(names, names->staged, names->former, fault);
}

bool store_gdbm_upgrade_recover(const char *directory, const struct store_form *form,
				bool *is_unfinished, struct fault *fault)
{
	struct names names;
	unsigned number;

	*is_unfinished = false;
	if (!set_names(directory, &names, fault))
		return false;
	*is_unfinished = access(names.staged, F_OK) == 0;
	if (!*is_unfinished || access(names.store, F_OK) == 0)
		return true;
	/* Killed between the two renames of a file system that cannot exchange names. */
	if (!store_gdbm_check_form(names.staged, form, &number, fault))
		return false;
	if (number < form->number())
		return true;
	*is_unfinished = false;
	return rename_store(&names, names.staged, names.store, fault);
}

/* ---- the upgrade ---- */

bool store_gdbm_upgrade_begin(const char *directory, unsigned wait, bool (*gives_up)(void),
			      const struct store_form *form, struct store_gdbm_upgrade **upgrade,
			      struct store **store, unsigned *number, struct fault *fault)
{
	struct store_gdbm_upgrade *begun = memory_check(calloc(1, sizeof *begun));
	struct store_options options = { .is_upgrade = true, .form = form };
	const struct names *names = &begun->names;
	unsigned staged;

	*store = NULL;
	*upgrade = begun;
	begun->form = form;
	begun->lock = -1;
	if (!set_names(directory, &begun->names, fault) ||
	    !store_gdbm_lock_for(directory, wait, gives_up, &begun->lock, fault) ||
	    !store_gdbm_check_form(directory, form, number, fault))
		return false;
	if (*number == form->number()) {
		/* If the other directory has an earlier form, the names were exchanged. */
		if (access(names->staged, F_OK) != 0)
			return true;
		return store_gdbm_check_form(names->staged, form, &staged, fault) &&
		       (staged < form->number() ? keep_former(names, fault)
						: remove_store(names->staged, fault));
	}
	options.directory = names->staged;
	begun->is_staged = true;
	if (!remove_store(names->staged, fault) ||
	    !store_gdbm_link(directory, names->staged, fault) ||
	    !store_gdbm_open(&options, &begun->store, fault))
		return false;
	*store = begun->store;
	return true;
}

/* Writes the manifest of the upgraded store with the form of the program. */
static bool set_form(const struct store_gdbm_upgrade *upgrade, struct fault *fault)
{
	const struct file_system *files = &file_system_posix;
	struct arena *arena = arena_open();
	bool is_there, is_replaced, is_broken = false, is_done;
	struct manifest manifest;

	is_done = manifest_read(files, upgrade->names.staged, upgrade->form->number(), &manifest,
				&is_there, fault);
	if (is_done) {
		manifest_set_form(&manifest, upgrade->form->number(), upgrade->form->text(arena));
		is_done = manifest_write(files, upgrade->names.staged, &manifest, &is_replaced,
					 &is_broken, fault);
	}
	manifest_free(&manifest);
	arena_close(arena);
	return is_done;
}

/* If the file system cannot exchange two names, there is a moment without a store, after which
 * store_gdbm_upgrade_recover puts the upgraded one in its place. */
static bool exchange(const struct names *names, struct fault *fault)
{
	if (syscall(SYS_renameat2, AT_FDCWD, names->staged, AT_FDCWD, names->store,
		    RENAME_EXCHANGE) == 0)
		return directory_sync(names->parent) ? keep_former(names, fault)
						     : cannot_rename(names->store, fault);
	if (errno != EINVAL && errno != ENOSYS && errno != EPERM)
		return cannot_rename(names->store, fault);
	return remove_store(names->former, fault) &&
	       rename_store(names, names->store, names->former, fault) &&
	       rename_store(names, names->staged, names->store, fault);
}

bool store_gdbm_upgrade_finish(struct store_gdbm_upgrade *upgrade, struct fault *fault)
{
	const struct names *names = &upgrade->names;
	/* A backup is as old as before. */
	const int64_t backup = store_gdbm_backup_time(names->store, NULL);

	store_close(upgrade->store);
	upgrade->store = NULL;
	upgrade->is_staged = false;
	return (backup == 0 || store_gdbm_note_backup(names->staged, NULL, backup, fault)) &&
	       set_form(upgrade, fault) && exchange(names, fault);
}

void store_gdbm_upgrade_end(struct store_gdbm_upgrade *upgrade)
{
	struct fault ignored = FAULT_INITIAL;

	if (upgrade == NULL)
		return;
	store_close(upgrade->store);
	/* It was given up; what a full disk has kept from being removed, the next one removes. */
	if (upgrade->is_staged)
		(void)remove_store(upgrade->names.staged, &ignored);
	if (upgrade->lock >= 0)
		close(upgrade->lock);
	free(upgrade);
}
