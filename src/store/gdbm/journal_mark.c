/* See store/gdbm/journal_mark.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gdbm/journal_mark.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/encode.h"

#define MAGIC "AnteMark"
#define VERSION 1
#define SLOT ((size_t)512)
#define SLOTS 2
#define SIZE_MOST ((size_t)1 << 20)

static void slot_write(char slot[SLOT], const struct installation *installation,
		       const struct journal_mark *mark)
{
	memset(slot, 0, SLOT);
	memcpy(slot, MAGIC, 8);
	encode_32(slot + 8, VERSION);
	encode_32(slot + 12, mark->is_clean);
	memcpy(slot + 16, installation->bytes, INSTALLATION_SIZE);
	encode_64(slot + 32, mark->count);
	encode_64(slot + 40, mark->newest);
	encode_64(slot + 48, mark->size);
	encode_64(slot + 56, mark->durable);
	encode_32(slot + SLOT - 4, checksum(0, slot, SLOT - 4));
}

static bool slot_read(const char *slot, const struct installation *installation,
		      struct journal_mark *mark)
{
	*mark = (struct journal_mark){
		.count = decode_64(slot + 32),
		.newest = decode_64(slot + 40),
		.size = decode_64(slot + 48),
		.durable = decode_64(slot + 56),
		.is_clean = decode_32(slot + 12) == 1,
	};
	return memcmp(slot, MAGIC, 8) == 0 && decode_32(slot + 8) == VERSION &&
	       memcmp(slot + 16, installation->bytes, INSTALLATION_SIZE) == 0 &&
	       checksum(0, slot, SLOT - 4) == decode_32(slot + SLOT - 4);
}

bool mark_read(const struct file_system *files, const char *directory,
	       const struct installation *installation, struct journal_mark *mark,
	       struct fault *fault)
{
	char path[PATH_MAX], *bytes;
	struct journal_mark each;
	bool is_right = false;
	size_t size;

	snprintf(path, sizeof path, "%s/" MARK_NAME, directory);
	if (!file_read_whole(files, path, SIZE_MOST, &bytes, &size))
		return fault_cause(fault, FAULT_UNAVAILABLE, errno,
				   "cannot read %s; see DATA DAMAGE in anteroom-serve(8)", path);
	for (size_t i = 0; i < SLOTS && size >= (i + 1) * SLOT; i++) {
		if (!slot_read(bytes + i * SLOT, installation, &each) ||
		    (is_right && each.count < mark->count))
			continue;
		*mark = each;
		is_right = true;
	}
	free(bytes);
	return is_right || fault_cause(fault, FAULT_UNAVAILABLE, 0,
				       "%s is damaged; see DATA DAMAGE in anteroom-serve(8)", path);
}

bool mark_create(const struct file_system *files, const char *directory,
		 const struct installation *installation, const struct journal_mark *mark,
		 bool *is_broken, struct fault *fault)
{
	char path[PATH_MAX], slots[SLOTS * SLOT] = { 0 };
	bool is_replaced;

	snprintf(path, sizeof path, "%s/" MARK_NAME, directory);
	slot_write(slots + mark->count % SLOTS * SLOT, installation, mark);
	return file_replace(files, directory, path, slots, sizeof slots, &is_replaced, is_broken) ||
	       fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot write %s", path);
}

int mark_open(const struct file_system *files, const char *directory)
{
	char path[PATH_MAX];

	snprintf(path, sizeof path, "%s/" MARK_NAME, directory);
	return files->open(files, path, O_WRONLY, 0);
}

bool mark_write(const struct file_system *files, int file, const struct installation *installation,
		struct journal_mark *mark, bool *is_broken)
{
	struct journal_mark next = *mark;
	char slot[SLOT];

	next.count++;
	slot_write(slot, installation, &next);
	if (!file_write_all(files, file, slot, sizeof slot, (off_t)(next.count % SLOTS * SLOT)))
		return false;
	if (files->fdatasync(files, file) < 0) {
		*is_broken = true;
		return false;
	}
	*mark = next;
	return true;
}
