/* One node of a list, for check: whether it agrees with those below and above it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/sequence.h"
#include "store/trie.h"

static bool children_are_there(struct transaction *transaction, struct slice list, unsigned level,
			       uint64_t number, struct fault *fault)
{
	struct trie_key key;
	struct trie_node node;
	struct slice value;

	if (!trie_node_read(transaction, list, level, number, &node, fault))
		return false;
	for (unsigned child = 0; child < TRIE_CHILDREN; child++) {
		const uint64_t first = trie_first(level, number) +
				       ((uint64_t)child << (TRIE_CHILD_BITS * level));

		if (!(node.bits >> child & 1))
			continue;
		if (!store_get(transaction, STORE_SEQUENCE,
			       trie_key_make(&key, list, level - 1, first), &value, fault))
			return false;
		if (value.data == NULL)
			return trie_damaged(&key, fault);
	}
	return true;
}

static bool parent_names_it(struct transaction *transaction, struct slice list, unsigned level,
			    uint64_t number, struct fault *fault)
{
	struct trie_key key;
	struct trie_node node;

	if (!trie_node_read(transaction, list, level + 1, number, &node, fault))
		return false;
	if (node.bits >> trie_child(level + 1, number) & 1)
		return true;
	trie_key_make(&key, list, level + 1, number);
	return trie_damaged(&key, fault);
}

bool sequence_look(struct transaction *transaction, struct slice key, struct sequence_node *node,
		   struct fault *fault)
{
	struct slice list = { key.data, 0 };
	struct slice leaf = { NULL, 0 };
	unsigned level;
	uint64_t index;

	*node = (struct sequence_node){ .is_root = false };
	if (key.size < TRIE_LEVEL_SIZE + TRIE_INDEX_SIZE || key.size > TRIE_KEY_MAX)
		return fault_cause(fault, FAULT_DAMAGED, 0, "the key is none of a list's node");
	list.size = key.size - TRIE_LEVEL_SIZE - TRIE_INDEX_SIZE;
	level = (unsigned char)list.data[list.size];
	index = trie_number_read(list.data + list.size + TRIE_LEVEL_SIZE, TRIE_INDEX_SIZE);
	if (level > TRIE_ROOT_LEVEL || index > trie_index(level, ID_NUMBER_MAX))
		return fault_cause(fault, FAULT_DAMAGED, 0, "the key is none of a list's node");
	index <<= TRIE_CHILD_BITS * (level + 1);
	node->list = list;
	node->is_root = level == TRIE_ROOT_LEVEL;
	if (level > 0 && !children_are_there(transaction, list, level, index, fault))
		return false;
	if (level == 0 && !trie_leaf_read(transaction, list, index, &leaf, fault))
		return false;
	if (leaf.data != NULL)
		node->ids = trie_leaf_id(leaf, 0);
	node->count = trie_leaf_count(leaf);
	return node->is_root || parent_names_it(transaction, list, level, index, fault);
}
