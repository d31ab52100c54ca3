/* See store/gdbm/upgrade.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gdbm/upgrade.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/memory.h"
#include "store/gdbm/inspect.h"
#include "store/gdbm/store_gdbm_parts.h"

struct names {
	const struct file_system *files;
	char store[PATH_MAX], staged[PATH_MAX], former[PATH_MAX], parent[PATH_MAX];
};

struct store_gdbm_upgrade {
	struct names names;
	const struct store_form *form;
	int lock;
	struct store *store; /* in the second directory */
	bool is_staged; /* the second directory is there, and not yet exchanged */
};

static bool set_names(const struct store_options *options, struct names *names, struct fault *fault)
{
	const char *directory = options->directory;
	const int size = snprintf(names->staged, PATH_MAX, "%s.upgrade", directory);

	names->files = options->files == NULL ? &file_system_posix : options->files;
	if (size < 0 || size >= PATH_MAX)
		return fault_cause(fault, FAULT_UNAVAILABLE, ENAMETOOLONG, "cannot use %s",
				   directory);
	(void)snprintf(names->store, PATH_MAX, "%s", directory);
	(void)snprintf(names->former, PATH_MAX, "%s.former", directory);
	directory_of(directory, names->parent);
	return true;
}

/* Removes a directory of a store, if it exists. */
static bool remove_store(const struct file_system *files, const char *directory,
			 struct fault *fault)
{
	char path[PATH_MAX], *names = files->list(files, directory);
	bool is_done;

	if (names == NULL && errno == ENOENT)
		return true;
	/* Without its manifest it is no store, whatever else is left of it. */
	(void)snprintf(path, sizeof path, "%s/" MANIFEST_NAME, directory);
	is_done = names != NULL && (files->unlink(files, path) == 0 || errno == ENOENT);
	for (const char *name = names; is_done && *name != '\0'; name = file_next_name(name)) {
		(void)snprintf(path, sizeof path, "%s/%s", directory, name);
		is_done = files->unlink(files, path) == 0 || errno == ENOENT;
	}
	free(names);
	return (is_done && files->rmdir(files, directory) == 0) ||
	       fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot remove %s", directory);
}

static bool sync_names(const struct names *names, struct fault *fault)
{
	return names->files->sync_directory(names->files, names->parent) == 0 ||
	       fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot sync %s", names->parent);
}

/* Renames a store beside others, and waits until that is on the disk. */
static bool rename_store(const struct names *names, const char *from, const char *to,
			 struct fault *fault)
{
	const struct file_system *files = names->files;

	if (files->rename(files, from, to) != 0)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot rename %s", from);
	return sync_names(names, fault);
}

/* Returns the number of the form of a store, or 0 if it has no manifest or a newer program wrote
 * it. */
static unsigned number_of(const struct names *names, const char *directory,
			  const struct store_form *form)
{
	struct fault ignored = FAULT_INITIAL;
	struct manifest manifest;
	unsigned number = 0;
	bool is_there;

	if (manifest_read(names->files, directory, form->number(), &manifest, &is_there,
			  &ignored) &&
	    is_there)
		number = manifest.form_number;
	manifest_free(&manifest);
	return number;
}

/* ---- after the exchange ---- */

/* The second name now has the earlier store, which is kept. */
static bool keep_former(const struct names *names, struct fault *fault)
{
	return remove_store(names->files, names->former, fault) &&
	       rename_store(names, names->staged, names->former, fault);
}

bool store_gdbm_upgrade_recover(const struct store_options *options, bool *is_unfinished,
				struct fault *fault)
{
	const struct store_form *form = options->form;
	struct names names;
	unsigned number;

	*is_unfinished = false;
	if (!set_names(options, &names, fault))
		return false;
	*is_unfinished = access(names.staged, F_OK) == 0;
	if (!*is_unfinished || access(names.store, F_OK) == 0)
		return true;
	/* Killed between the two renames of a file system that cannot exchange names. */
	if (!store_gdbm_check_form(names.staged, form, &number, fault))
		return false;
	if (number_of(&names, names.staged, form) < form->number())
		return true;
	*is_unfinished = false;
	return rename_store(&names, names.staged, names.store, fault);
}

/* ---- the upgrade ---- */

bool store_gdbm_upgrade_begin(const struct store_options *options,
			      struct store_gdbm_upgrade **upgrade, struct store **store,
			      unsigned *number, struct fault *fault)
{
	struct store_gdbm_upgrade *begun = memory_check(calloc(1, sizeof *begun));
	const struct store_form *form = options->form;
	const struct names *names = &begun->names;
	struct store_options second = *options;
	unsigned staged;

	*store = NULL;
	*upgrade = begun;
	begun->form = form;
	begun->lock = -1;
	if (!set_names(options, &begun->names, fault) ||
	    !store_gdbm_lock_for(options, &begun->lock, fault) ||
	    !store_gdbm_check_form(names->store, form, number, fault))
		return false;
	if (*number == form->number()) {
		/* If the other directory has an earlier form, the names were exchanged. A newer
		 * program may have been stopped just before that. */
		if (access(names->staged, F_OK) != 0)
			return true;
		staged = number_of(names, names->staged, form);
		return staged != 0 && staged < form->number()
			       ? keep_former(names, fault)
			       : remove_store(names->files, names->staged, fault);
	}
	second.directory = names->staged;
	second.is_upgrade = true;
	begun->is_staged = true;
	if (!remove_store(names->files, names->staged, fault) ||
	    !store_gdbm_link(names->store, names->staged, names->files, fault) ||
	    !store_gdbm_open(&second, &begun->store, fault))
		return false;
	*store = begun->store;
	return true;
}

/* Writes the manifest of the upgraded store with the form of the program. */
static bool set_form(const struct store_gdbm_upgrade *upgrade, struct fault *fault)
{
	const struct file_system *files = upgrade->names.files;
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
	const struct file_system *files = names->files;

	/* The upgraded store has its name before the other one gives up its own. */
	if (!sync_names(names, fault))
		return false;
	if (files->exchange(files, names->staged, names->store) == 0)
		return sync_names(names, fault) && keep_former(names, fault);
	if (errno != EINVAL && errno != ENOSYS && errno != EPERM)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot rename %s",
				   names->store);
	return remove_store(files, names->former, fault) &&
	       rename_store(names, names->store, names->former, fault) &&
	       rename_store(names, names->staged, names->store, fault);
}

bool store_gdbm_upgrade_finish(struct store_gdbm_upgrade *upgrade, struct fault *fault)
{
	const struct names *names = &upgrade->names;
	/* A backup is as old as before. */
	const int64_t backup = store_gdbm_backup_time(names->store, names->files);

	store_close(upgrade->store);
	upgrade->store = NULL;
	upgrade->is_staged = false;
	return (backup == 0 ||
		store_gdbm_note_backup(names->staged, names->files, backup, fault)) &&
	       set_form(upgrade, fault) && exchange(names, fault);
}

void store_gdbm_upgrade_end(struct store_gdbm_upgrade *upgrade)
{
	struct fault ignored = FAULT_INITIAL;
	const struct file_system *files;

	if (upgrade == NULL)
		return;
	files = upgrade->names.files;
	store_close(upgrade->store);
	/* It was given up; what a full disk has kept from being removed, the next one removes. */
	if (upgrade->is_staged)
		(void)remove_store(upgrade->names.files, upgrade->names.staged, &ignored);
	if (upgrade->lock >= 0)
		files->close(files, upgrade->lock);
	free(upgrade);
}
