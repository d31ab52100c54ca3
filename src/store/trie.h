/* The nodes of the tries that lists are (store/sequence.h): where they are kept and what stands in
 * them. Level 0 are the leaves: the node that holds a number at level n has the index
 * number >> 6 * (n + 1). A leaf is its ids, ascending. An inner node is the bits of its children, 8
 * bytes big-endian, then for each bit, from child 0 up, 4 bytes big-endian: the lowest seconds of all
 * ids put below that child since it was last empty.
 *
 * A key is the list's name, the level (1 byte), the index (5 bytes big-endian). Used by sequence.c
 * and sequence_look.c alone.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_TRIE_H
#define STORE_TRIE_H

#include "base/id.h"
#include "store/sequence.h"

#define TRIE_CHILDREN 64
#define TRIE_CHILD_BITS 6
#define TRIE_ROOT_LEVEL 6

#define TRIE_LEVEL_SIZE 1
#define TRIE_INDEX_SIZE 5
#define TRIE_KEY_MAX (SEQUENCE_LIST_MAX + TRIE_LEVEL_SIZE + TRIE_INDEX_SIZE)
#define TRIE_LEAF_MAX (TRIE_CHILDREN * ID_SIZE)

/* An inner node, decoded. */
struct trie_node {
	uint64_t bits;
	uint32_t seconds[TRIE_CHILDREN]; /* of the children whose bit is set */
};

struct trie_key {
	char bytes[TRIE_KEY_MAX];
	size_t size;
};

static inline uint64_t trie_index(unsigned level, uint64_t number)
{
	return number >> (TRIE_CHILD_BITS * (level + 1));
}

/* Which child of the node at `level` a number belongs to. */
static inline unsigned trie_child(unsigned level, uint64_t number)
{
	return (unsigned)(number >> (TRIE_CHILD_BITS * level)) % TRIE_CHILDREN;
}

/* The lowest number of the node at `level` that holds this number. */
static inline uint64_t trie_first(unsigned level, uint64_t number)
{
	return trie_index(level, number) << (TRIE_CHILD_BITS * (level + 1));
}

/* The key of the node that holds the number at `level`; the same as a slice of *key. */
struct slice trie_key_make(struct trie_key *key, struct slice list, unsigned level,
			   uint64_t number);
/* Of a key, `size` bytes big-endian. */
uint64_t trie_number_read(const char *bytes, size_t size);
/* False, always: FAULT_DAMAGED, with the key shown in hex, since what a list is called is up to
 * its resource. */
bool trie_damaged(const struct trie_key *key, struct fault *fault);

/* *leaf: data NULL when there is none. One that is no leaf is damaged. */
bool trie_leaf_read(struct transaction *transaction, struct slice list, uint64_t number,
		    struct slice *leaf, struct fault *fault);
/* An id of the leaf, borrowed from it (an id has the alignment of a byte). */
static inline const struct id *trie_leaf_id(struct slice leaf, size_t i)
{
	return (const struct id *)(leaf.data + i * ID_SIZE);
}

static inline size_t trie_leaf_count(struct slice leaf)
{
	return leaf.size / ID_SIZE;
}

/* A node that is not there has no bits, and one without bits is removed. */
bool trie_node_read(struct transaction *transaction, struct slice list, unsigned level,
		    uint64_t number, struct trie_node *node, struct fault *fault);
bool trie_node_write(struct transaction *transaction, struct slice list, unsigned level,
		     uint64_t number, const struct trie_node *node, struct fault *fault);

#endif
