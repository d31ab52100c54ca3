/* The mark of the journal: a small file, `journal.mark`, that says where the journal ends. The
 * segments alone cannot tell: if the newest one is missing or truncated, that looks like a power
 * failure. Before a transaction in a new segment is acknowledged, the mark names that segment and
 * the number up to which everything is durable. A clean stop writes the last number.
 *
 * The file has two slots of 512 bytes, written in turn, each by one pwrite and one fdatasync. A
 * power failure can only destroy the slot that is being written, and both slots are already
 * allocated when the disk is full. A slot, little-endian: 0 magic (8), 8 version (4), 12 whether
 * the stop was clean (4), 16 installation (16), 32 count of marks written before (8), 40 newest, 48
 * size, 56 durable (8 each), zeros, 508 CRC32C of bytes 0 to 507 (4).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_JOURNAL_MARK_H
#define STORE_GDBM_JOURNAL_MARK_H

#include "store/gdbm/entry_key.h"
#include "store/gdbm/file.h"

#define MARK_NAME "journal.mark"

struct journal_mark {
	uint64_t count; /* number of marks written before this one */
	uint64_t newest; /* the first number of the newest segment; 0 if there is none */
	uint64_t size; /* minimum size of that segment's file in bytes */
	uint64_t durable;
	bool is_clean; /* nothing follows `durable` */
};

/* Reads the newest valid slot. FAULT_UNAVAILABLE if there is no file or no valid slot. */
bool mark_read(const struct file_system *files, const char *directory,
	       const struct installation *installation, struct journal_mark *mark,
	       struct fault *fault);
/* Creates or replaces the file, with one slot. *is_broken as in file_sync. */
bool mark_create(const struct file_system *files, const char *directory,
		 const struct installation *installation, const struct journal_mark *mark,
		 bool *is_broken, struct fault *fault);
/* Opens the file for mark_write. Returns the descriptor, or -1 and errno. */
int mark_open(const struct file_system *files, const char *directory);
/* Writes and syncs the mark, and increments its count. False and errno on failure; *is_broken as in
 * file_sync. */
bool mark_write(const struct file_system *files, int file, const struct installation *installation,
		struct journal_mark *mark, bool *is_broken);

#endif
