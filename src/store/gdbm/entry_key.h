/* Keys of entries, and other types that all parts of the durable driver use: tables, the
 * installation, changes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_ENTRY_KEY_H
#define STORE_GDBM_ENTRY_KEY_H

#include "base/slice.h"
#include "store/store.h"

/* Tables of entries. STORE_NAMED contains the records whose name is unique in the store. */
enum store_table { STORE_RECORD, STORE_NAMED, STORE_COUNTER, STORE_INDEX, STORE_TABLE_COUNT };

/* The letter is part of the file format and never changes. */
char store_table_letter(enum store_table table);
const char *store_table_name(enum store_table table);
bool store_table_find(char letter, enum store_table *table);

/* Maximum bytes of an entry's key, and of the head before a record's value. */
#define STORE_KEY_MAX 256
#define ENTRY_HEAD_MAX 512

/* The id of an installation: sixteen random bytes, made once and stored in each file. It is also
 * the key of the hash below, and part of the checksum of each group in the journal, so that no
 * client can forge a group. */
#define INSTALLATION_SIZE 16
struct installation {
	unsigned char bytes[INSTALLATION_SIZE];
};

/* The key of an entry in memory and in the GDBM files: eight bytes of hash (SipHash-1-3), the
 * table's letter, the key. The hash comes first because a client that chooses names can make GDBM's
 * own hash collide, and GDBM cannot split a bucket of equal hashes. */
#define ENTRY_KEY_MAX (8 + 1 + STORE_KEY_MAX)
struct entry_key {
	uint64_t hash;
	size_t size;
	char bytes[ENTRY_KEY_MAX];
};

void entry_key_make(const struct installation *installation, enum store_table table,
		    struct slice key, struct entry_key *entry_key);
/* Like entry_key_make, for a key whose hash is known. */
void entry_key_remake(uint64_t hash, enum store_table table, struct slice key,
		      struct entry_key *entry_key);
uint64_t entry_key_hash(struct slice entry_key);
/* Parses an entry key; *key borrows from its bytes. False if the bytes are not a valid entry
 * key. */
bool entry_key_parse(struct slice entry_key, enum store_table *table, struct slice *key);

/* The order in which entries are written and merged: by GDBM's hash of the key, then by its bytes.
 * So the buckets of a GDBM file are complete one after the other, and the file can be written
 * sequentially (store/gdbm/gdbm_writer.h). */
uint32_t entry_key_order(struct slice entry_key);
int entry_key_compare(uint32_t order_a, struct slice a, uint32_t order_b, struct slice b);

/* One change of a transaction: a put, or a removal if value.data is NULL. */
struct change {
	enum store_table table;
	struct slice key;
	struct slice value;
};

#endif
