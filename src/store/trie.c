/* Reading and writing nodes: nothing that is read is believed before it was looked at whole.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/trie.h"

#include <assert.h>

#include "base/text.h"

/* The root has a child for each value of the bits of a number that are left at its level. */
#define ROOT_BITS ((UINT64_C(2) << (ID_NUMBER_MAX >> (TRIE_CHILD_BITS * TRIE_ROOT_LEVEL))) - 1)

#define BITS_SIZE 8
#define SECONDS_SIZE 4
#define NODE_MAX (BITS_SIZE + TRIE_CHILDREN * SECONDS_SIZE)

static_assert(ID_NUMBER_MAX >> (TRIE_CHILD_BITS * (TRIE_ROOT_LEVEL + 1)) == 0,
	      "the root covers all numbers");
static_assert(TRIE_KEY_MAX <= STORE_KEY_MAX, "a node's key is a key");

static void big_endian_write(char *bytes, size_t size, uint64_t value)
{
	for (size_t i = size; i-- > 0; value >>= 8)
		bytes[i] = (char)(value & 0xff);
}

uint64_t trie_number_read(const char *bytes, size_t size)
{
	uint64_t value = 0;

	for (size_t i = 0; i < size; i++)
		value = value << 8 | (unsigned char)bytes[i];
	return value;
}

struct slice trie_key_make(struct trie_key *key, struct slice list, unsigned level, uint64_t number)
{
	assert(list.data != NULL && list.size <= SEQUENCE_LIST_MAX);
	assert(number <= ID_NUMBER_MAX);
	memcpy(key->bytes, list.data, list.size);
	big_endian_write(key->bytes + list.size, TRIE_LEVEL_SIZE, level);
	big_endian_write(key->bytes + list.size + TRIE_LEVEL_SIZE, TRIE_INDEX_SIZE,
			 trie_index(level, number));
	key->size = list.size + TRIE_LEVEL_SIZE + TRIE_INDEX_SIZE;
	return (struct slice){ key->bytes, key->size };
}

bool trie_damaged(const struct trie_key *key, struct fault *fault)
{
	char text[2 * TRIE_KEY_MAX + 1];

	text_hex(key->bytes, key->size, text);
	text[2 * key->size] = '\0';
	return fault_cause(fault, FAULT_DAMAGED, 0, "%s %s: the node of the list is damaged",
			   store_table_name(STORE_SEQUENCE), text);
}

bool trie_leaf_read(struct transaction *transaction, struct slice list, uint64_t number,
		    struct slice *leaf, struct fault *fault)
{
	struct trie_key key;

	if (!store_get(transaction, STORE_SEQUENCE, trie_key_make(&key, list, 0, number), leaf,
		       fault))
		return false;
	if (leaf->data == NULL)
		return true;
	if (leaf->size == 0 || leaf->size > TRIE_LEAF_MAX || leaf->size % ID_SIZE != 0)
		return trie_damaged(&key, fault);
	for (size_t i = 0; i < trie_leaf_count(*leaf); i++) {
		const struct id *id = trie_leaf_id(*leaf, i);

		if (trie_index(0, id_number(id)) != trie_index(0, number))
			return trie_damaged(&key, fault);
		if (i > 0 && id_number(trie_leaf_id(*leaf, i - 1)) >= id_number(id))
			return trie_damaged(&key, fault);
	}
	return true;
}

bool trie_node_read(struct transaction *transaction, struct slice list, unsigned level,
		    uint64_t number, struct trie_node *node, struct fault *fault)
{
	struct trie_key key;
	struct slice value;
	size_t offset = BITS_SIZE;

	node->bits = 0;
	if (!store_get(transaction, STORE_SEQUENCE, trie_key_make(&key, list, level, number),
		       &value, fault))
		return false;
	if (value.data == NULL)
		return true;
	if (value.size < BITS_SIZE)
		return trie_damaged(&key, fault);
	node->bits = trie_number_read(value.data, BITS_SIZE);
	if (node->bits == 0 || (level == TRIE_ROOT_LEVEL && node->bits > ROOT_BITS) ||
	    value.size != BITS_SIZE + SECONDS_SIZE * (size_t)__builtin_popcountll(node->bits))
		return trie_damaged(&key, fault);
	for (unsigned child = 0; child < TRIE_CHILDREN; child++) {
		if (!(node->bits >> child & 1))
			continue;
		node->seconds[child] = (uint32_t)trie_number_read(value.data + offset,
								  SECONDS_SIZE);
		offset += SECONDS_SIZE;
	}
	return true;
}

bool trie_node_write(struct transaction *transaction, struct slice list, unsigned level,
		     uint64_t number, const struct trie_node *node, struct fault *fault)
{
	struct trie_key key;
	char value[NODE_MAX];
	size_t size = BITS_SIZE;

	trie_key_make(&key, list, level, number);
	if (node->bits == 0)
		return store_remove(transaction, STORE_SEQUENCE,
				    (struct slice){ key.bytes, key.size }, fault);
	big_endian_write(value, BITS_SIZE, node->bits);
	for (unsigned child = 0; child < TRIE_CHILDREN; child++) {
		if (!(node->bits >> child & 1))
			continue;
		big_endian_write(value + size, SECONDS_SIZE, node->seconds[child]);
		size += SECONDS_SIZE;
	}
	return store_put(transaction, STORE_SEQUENCE, (struct slice){ key.bytes, key.size },
			 (struct slice){ value, size }, fault);
}
