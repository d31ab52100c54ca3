/* See command/load_mark.h. Each line is the ID of an account.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/load_mark.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/memory.h"
#include "accounts/accounts_file.h"
#include "store/postgres/store_postgres.h"

#define MARK_FILE "load.unfinished"

void load_mark_open(struct load_mark *mark, const char *directory)
{
	*mark = (struct load_mark){
		.directory = directory,
		.path = accounts_file_path(directory, MARK_FILE),
		.file = -1,
	};
	if (!store_postgres_is_url(directory))
		return;
	mark->arena = arena_open();
	arena_set_limit(mark->arena, SIZE_MAX);
	mark->text = BUFFER_INITIAL(mark->arena);
}

void load_mark_close(struct load_mark *mark)
{
	if (mark->file >= 0)
		close(mark->file);
	if (mark->former != NULL)
		fclose(mark->former);
	free(mark->path);
	store_postgres_load_end(mark->load);
	if (mark->arena != NULL)
		arena_close(mark->arena);
}

static bool sync_directory(const char *directory, struct fault *fault)
{
	return directory_sync(directory) ||
	       fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot sync %s", directory);
}

static bool cannot_use_mark(const struct load_mark *mark, const char *what, struct fault *fault)
{
	return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot %s %s", what, mark->path);
}

/* Writes the mark in a database. */
static bool write_stored_mark(struct load_mark *mark, struct fault *fault)
{
	struct slice text = buffer_slice(&mark->text);

	return store_postgres_load_mark(mark->load, text.data != NULL ? text : SLICE(""), fault);
}

bool load_mark_make(struct load_mark *mark, struct fault *fault)
{
	if (mark->arena != NULL) {
		/* The open descriptor says that there is something to remove if the load is given
		 * up. */
		mark->file = open("/dev/null", O_WRONLY | O_CLOEXEC);
		return write_stored_mark(mark, fault);
	}
	mark->file = open(mark->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (mark->file < 0)
		return cannot_use_mark(mark, "write", fault);
	return sync_directory(mark->directory, fault);
}

bool load_mark_name(struct load_mark *mark, const struct transfer_input *input, struct fault *fault)
{
	if (mark->accounts == input->counts.accounts)
		return true;
	for (; mark->accounts < input->counts.accounts; mark->accounts++) {
		char line[ID_TEXT_SIZE + 1];

		memcpy(line, input->accounts[mark->accounts].id_text, ID_TEXT_SIZE);
		line[ID_TEXT_SIZE] = '\n';
		if (mark->arena != NULL)
			buffer_append(&mark->text, (struct slice){ line, sizeof line });
		else if (write(mark->file, line, sizeof line) != (ssize_t)sizeof line)
			return cannot_use_mark(mark, "write", fault);
	}
	if (mark->arena != NULL)
		return write_stored_mark(mark, fault);
	return fsync(mark->file) == 0 || cannot_use_mark(mark, "write", fault);
}

bool load_mark_remove(const struct load_mark *mark, struct fault *fault)
{
	if (mark->arena != NULL)
		return store_postgres_load_mark(mark->load, (struct slice){ NULL, 0 }, fault);
	if (unlink(mark->path) != 0)
		return cannot_use_mark(mark, "remove", fault);
	return sync_directory(mark->directory, fault);
}

static bool find_stored_mark(struct load_mark *mark, struct fault *fault)
{
	struct slice text;

	if (!store_postgres_load_begin(mark->directory, &mark->load, fault) ||
	    !store_postgres_load_marked(mark->load, mark->arena, &text, fault))
		return false;
	/* The text is only read. */
	if (text.data != NULL)
		mark->former = memory_check(fmemopen((char *)(uintptr_t)text.data, text.size, "r"));
	return true;
}

static bool find_mark_file(struct load_mark *mark, struct fault *fault)
{
	const int file = regular_file_open(mark->path, O_RDONLY | O_NOFOLLOW, 0);

	if (file < 0 && regular_file_is_missing(errno))
		return fault_cause(fault, FAULT_UNAVAILABLE, 0, "%s is not a regular file",
				   mark->path);
	if (file < 0)
		return errno == ENOENT || cannot_use_mark(mark, "read", fault);
	mark->former = memory_check(fdopen(file, "r"));
	return true;
}

bool load_mark_find(struct load_mark *mark, bool *is_there, struct fault *fault)
{
	if (!(mark->arena != NULL ? find_stored_mark : find_mark_file)(mark, fault))
		return false;
	*is_there = mark->former != NULL;
	return true;
}

bool load_mark_next(const struct load_mark *mark, struct id *account, struct fault *fault)
{
	char line[ID_TEXT_SIZE + 2];

	/* An incomplete line belongs to an account without records, because records are written
	 * after the sync. */
	while (fgets(line, sizeof line, mark->former) != NULL)
		if (id_parse((struct slice){ line, strcspn(line, "\n") }, account))
			return true;
	return ferror(mark->former) != 0 && cannot_use_mark(mark, "read", fault);
}
