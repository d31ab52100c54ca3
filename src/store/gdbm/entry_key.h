/* Common types of the durable driver: the installation, tables and keys of entries, changes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_ENTRY_KEY_H
#define STORE_GDBM_ENTRY_KEY_H

#include "base/slice.h"
#include "store/store.h"

/* Tables of entries. NAMED has the records whose name is unique in the store. */
enum store_table { STORE_RECORD, STORE_NAMED, STORE_COUNTER, STORE_INDEX, STORE_TABLE_COUNT };

/* The letter is part of the files and never changes. */
char store_table_letter(enum store_table table);
const char *store_table_name(enum store_table table);
bool store_table_find(char letter, enum store_table *table);

/* The longest key of an entry, in bytes, and what the value of a record's entry has in front. */
#define STORE_KEY_MAX 256
#define ENTRY_HEAD_MAX 512

/* Every file of a store carries its installation's id: sixteen random bytes, drawn once. They are
 * also the key of the hash below, and part of every checksum of a journal's group head, so that
 * nothing a client sends can be taken for one. */
#define INSTALLATION_SIZE 16
struct installation {
	unsigned char bytes[INSTALLATION_SIZE];
};

/* A record's key in memory and in the GDBM files: eight bytes of hash, the table's letter, the key.
 * The hash (SipHash-1-3) stands in front because GDBM's own hash can be made to collide by a client
 * that chooses names, and a bucket of it that cannot be split would end all writing of files. */
#define ENTRY_KEY_MAX (8 + 1 + STORE_KEY_MAX)
struct entry_key {
	uint64_t hash;
	size_t size;
	char bytes[ENTRY_KEY_MAX];
};

void entry_key_make(const struct installation *installation, enum store_table table,
		    struct slice key, struct entry_key *entry_key);
/* The same, of a key whose hash is known. */
void entry_key_remake(uint64_t hash, enum store_table table, struct slice key,
		      struct entry_key *entry_key);
uint64_t entry_key_hash(struct slice entry_key);
/* False when the bytes are none of ours. The key is borrowed from the bytes. */
bool entry_key_parse(struct slice entry_key, enum store_table *table, struct slice *key);

/* The order in which records are written and merged: by GDBM's hash of the key, then by the key's
 * bytes. In this order one bucket of a GDBM file is complete after the other, so that the file can
 * be written from front to back (store/gdbm/gdbm_writer.h), and a merge reads it so; it is also
 * where a record is looked for (store/gdbm/gdbm_reader.h). */
uint32_t entry_key_order(struct slice entry_key);
int entry_key_compare(uint32_t order_a, struct slice a, uint32_t order_b, struct slice b);

/* One put (value.data is not NULL) or one removal of a transaction. */
struct change {
	enum store_table table;
	struct slice key;
	struct slice value;
};

#endif
