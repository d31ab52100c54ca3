/* Ordered indexes: B+ trees of byte strings, whose nodes are entries of the table STORE_INDEX. GDBM
 * files are hashed and have no order of their own. A tree that was never written to is empty.
 *
 * A change of a tree writes one leaf of at most about 1 KB, and inner nodes only when a leaf is
 * split or removed. Keys that only ascend fill their leaves. A node that becomes empty is removed
 * at once; nodes that are partly empty stay.
 *
 * Faults: FAULT_DAMAGED when a node is missing or is not one.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_BTREE_H
#define STORE_GDBM_BTREE_H

#include "store/store.h"

#define BTREE_NAME_MAX 16
#define BTREE_KEY_MAX STORE_NAME_MAX
#define BTREE_VALUE_MAX STORE_NAME_MAX
#define BTREE_DEPTH 12

/* Which tree. */
struct btree {
	char name[BTREE_NAME_MAX];
	size_t name_size;
};

struct btree_node {
	struct slice bytes; /* data NULL: no node */
	uint32_t number;
	uint32_t place; /* of the entry that the way goes through */
};

/* The way from the root to the leaf where a key is, or would be, and its place there. */
struct btree_path {
	unsigned depth; /* 0: the tree is empty */
	struct btree_node nodes[BTREE_DEPTH];
	bool is_there;
};

/* What btree_get found last in a WRITE transaction: most calls look for a name and then add it. */
struct btree_memory {
	bool is_valid; /* no index was changed since */
	struct btree tree;
	char key[BTREE_KEY_MAX];
	size_t key_size;
	struct btree_path path;
};

/* *value: data NULL when the key is not there. */
bool btree_get(struct transaction *transaction, const struct btree *tree, struct slice key,
	       struct slice *value, struct fault *fault);
/* Adds the key, or replaces its value. */
bool btree_put(struct transaction *transaction, const struct btree *tree, struct slice key,
	       struct slice value, struct fault *fault);
/* Adds the key; *is_new false: it was there, and nothing is changed. */
bool btree_add(struct transaction *transaction, const struct btree *tree, struct slice key,
	       struct slice value, bool *is_new, struct fault *fault);
/* Removing a key that is not there changes nothing. */
bool btree_remove(struct transaction *transaction, const struct btree *tree, struct slice key,
		  struct fault *fault);

/* A walk in one direction. The tree must not change meanwhile. */
struct btree_cursor {
	struct transaction *transaction;
	const struct btree *tree;
	bool goes_back;
	unsigned depth; /* nodes in the path, from the root to the leaf; 0: the end */
	struct btree_node path[BTREE_DEPTH];
};

/* Forward: to the first key that is not below `key`. Back: to the last key below it. */
bool btree_seek(struct btree_cursor *cursor, struct transaction *transaction,
		const struct btree *tree, struct slice key, bool goes_back, struct fault *fault);
/* The key at the cursor and its value; *key has data NULL at the end. */
bool btree_at(const struct btree_cursor *cursor, struct slice *key, struct slice *value,
	      struct fault *fault);
bool btree_step(struct btree_cursor *cursor, struct fault *fault);

/* For check: reads the node that an entry of STORE_INDEX is, with `key`, and verifies its order,
 * and that its children are there. `visit` gets every key of a leaf. */
typedef bool btree_visit(void *context, const struct btree *tree, struct slice key,
			 struct slice value, struct fault *fault);
bool btree_check(struct transaction *transaction, struct slice key, btree_visit *visit,
		 void *context, struct fault *fault);

#endif
