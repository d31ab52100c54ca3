/* Ordered indexes: B+ trees of byte strings, whose nodes are entries of the table STORE_INDEX. GDBM
 * files are hashed and have no order of their own. A tree without nodes is empty.
 *
 * A change writes one leaf of at most 1 KB, and inner nodes only when a leaf is split or removed.
 * Ascending keys fill their leaves. An empty node is removed immediately; partly filled nodes are
 * not merged.
 *
 * Faults: FAULT_DAMAGED when a node is missing or malformed.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_BTREE_H
#define STORE_GDBM_BTREE_H

#include "store/store.h"

#define BTREE_NAME_MAX 16
#define BTREE_KEY_MAX STORE_NAME_MAX
#define BTREE_VALUE_MAX STORE_NAME_MAX
#define BTREE_DEPTH 12

/* The name of a tree. */
struct btree {
	char name[BTREE_NAME_MAX];
	size_t name_size;
};

struct btree_node {
	struct slice bytes; /* data NULL if there is no node */
	uint32_t number;
	uint32_t place; /* index of the item that the path goes through */
};

/* The path from the root to the leaf that has the key, or would have it. */
struct btree_path {
	unsigned depth; /* 0 if the tree is empty */
	struct btree_node nodes[BTREE_DEPTH];
	bool is_there;
};

/* The last result of btree_get in a WRITE transaction: most calls look up a name and then add
 * it. */
struct btree_memory {
	bool is_valid; /* no index has changed since */
	struct btree tree;
	char key[BTREE_KEY_MAX];
	size_t key_size;
	struct btree_path path;
};

/* Looks up a key. value->data is NULL if the key is not present. */
bool btree_get(struct transaction *transaction, const struct btree *tree, struct slice key,
	       struct slice *value, struct fault *fault);
/* Adds the key or replaces its value. */
bool btree_put(struct transaction *transaction, const struct btree *tree, struct slice key,
	       struct slice value, struct fault *fault);
/* Adds the key. *is_new is false if it was already present; then nothing has changed. */
bool btree_add(struct transaction *transaction, const struct btree *tree, struct slice key,
	       struct slice value, bool *is_new, struct fault *fault);
/* Removes the key, if it is present. */
bool btree_remove(struct transaction *transaction, const struct btree *tree, struct slice key,
		  struct fault *fault);

/* A cursor for one direction. The tree must not change while it is used. */
struct btree_cursor {
	struct transaction *transaction;
	const struct btree *tree;
	bool goes_back;
	unsigned depth; /* nodes in the path, from the root to the leaf; 0 at the end */
	struct btree_node path[BTREE_DEPTH];
};

/* Positions the cursor: forward at the first key that is not below `key`, backward at the last key
 * below it. */
bool btree_seek(struct btree_cursor *cursor, struct transaction *transaction,
		const struct btree *tree, struct slice key, bool goes_back, struct fault *fault);
/* Returns the key at the cursor and its value; key->data is NULL at the end. */
bool btree_at(const struct btree_cursor *cursor, struct slice *key, struct slice *value,
	      struct fault *fault);
bool btree_step(struct btree_cursor *cursor, struct fault *fault);

/* Tells which node of which tree an entry with this key of the table STORE_INDEX is. False if it is
 * not such a key. */
bool btree_of_key(struct slice key, struct btree *tree, uint32_t *number);

/* A node that was verified. */
struct btree_checked {
	struct btree tree;
	struct btree_node node;
	size_t next; /* index of the item that btree_checked_next returns */
};

/* For `check`: verifies the node whose entry has this key: the order of its items, that its
 * children exist, and that it is reachable. */
bool btree_check(struct transaction *transaction, struct slice key, struct btree_checked *checked,
		 struct fault *fault);
/* Returns the next key of a leaf and its value; false at the end, and for any other node. */
bool btree_checked_next(struct btree_checked *checked, struct slice *key, struct slice *value);

#endif
