/* A list as a trie over the number in the id. Level 0 are the leaves: the node that holds a number
 * at level n has the index number >> 6 * (n + 1). A leaf is its ids, ascending. An inner node is
 * the bits of its children, 8 bytes big-endian, then for each bit, from child 0 up, 4 bytes
 * big-endian: the lowest seconds of all ids put below that child since it was last empty.
 *
 * These seconds are a lower bound: the id that brought them may be gone again. A search by them can
 * therefore come out in a leaf (or node) where nothing is below the bound; but then, because numbers
 * and seconds rise together, everything in the next lower leaf is, so one step back is enough
 * (see child_below).
 *
 * A key is the list's name, the level (1 byte), the index (5 bytes big-endian).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/sequence.h"

#include <assert.h>

#define CHILDREN 64
#define CHILD_BITS 6
#define ROOT_LEVEL 6

#define LEVEL_SIZE 1
#define INDEX_SIZE 5
#define KEY_MAX (SEQUENCE_LIST_MAX + LEVEL_SIZE + INDEX_SIZE)

/* The root has a child for each value of the bits of a number that are left at its level. */
#define ROOT_BITS ((UINT64_C(2) << (ID_NUMBER_MAX >> (CHILD_BITS * ROOT_LEVEL))) - 1)

#define BITS_SIZE 8
#define SECONDS_SIZE 4
#define NODE_MAX (BITS_SIZE + CHILDREN * SECONDS_SIZE)
#define LEAF_MAX (CHILDREN * ID_SIZE)

static_assert(ID_NUMBER_MAX >> (CHILD_BITS * (ROOT_LEVEL + 1)) == 0, "the root covers all numbers");
static_assert(KEY_MAX <= STORE_KEY_MAX, "a node's key is a key");

/* An inner node, decoded. */
struct node {
	uint64_t bits;
	uint32_t seconds[CHILDREN]; /* of the children whose bit is set */
};

struct node_key {
	char bytes[KEY_MAX];
	size_t size;
};

static uint64_t index_of(unsigned level, uint64_t number)
{
	return number >> (CHILD_BITS * (level + 1));
}

/* Which child of the node at `level` a number belongs to. */
static unsigned child_of(unsigned level, uint64_t number)
{
	return (unsigned)(number >> (CHILD_BITS * level)) % CHILDREN;
}

static void big_endian_write(char *bytes, size_t size, uint64_t value)
{
	for (size_t i = size; i-- > 0; value >>= 8)
		bytes[i] = (char)(value & 0xff);
}

static uint64_t big_endian_read(const char *bytes, size_t size)
{
	uint64_t value = 0;

	for (size_t i = 0; i < size; i++)
		value = value << 8 | (unsigned char)bytes[i];
	return value;
}

static struct slice node_key(struct node_key *key, struct slice list, unsigned level,
			     uint64_t number)
{
	assert(list.data != NULL && list.size <= SEQUENCE_LIST_MAX);
	assert(number <= ID_NUMBER_MAX);
	memcpy(key->bytes, list.data, list.size);
	big_endian_write(key->bytes + list.size, LEVEL_SIZE, level);
	big_endian_write(key->bytes + list.size + LEVEL_SIZE, INDEX_SIZE, index_of(level, number));
	key->size = list.size + LEVEL_SIZE + INDEX_SIZE;
	return (struct slice){ key->bytes, key->size };
}

/* The key is shown in hex: what a list is called is up to its resource. */
static bool damaged(const struct node_key *key, struct fault *fault)
{
	static const char digits[] = "0123456789abcdef";
	char text[2 * KEY_MAX + 1];

	for (size_t i = 0; i < key->size; i++) {
		text[2 * i] = digits[(unsigned char)key->bytes[i] >> 4];
		text[2 * i + 1] = digits[(unsigned char)key->bytes[i] & 0xf];
	}
	text[2 * key->size] = '\0';
	return fault_cause(fault, FAULT_UNAVAILABLE, 0, "%s %s: the node of the list is damaged",
			   store_table_name(STORE_SEQUENCE), text);
}

/* An id of the leaf, borrowed from it (an id has the alignment of a byte). */
static const struct id *leaf_id(struct slice leaf, size_t i)
{
	return (const struct id *)(leaf.data + i * ID_SIZE);
}

static size_t leaf_count(struct slice leaf)
{
	return leaf.size / ID_SIZE;
}

/* *leaf: data NULL when there is none. */
static bool leaf_read(struct transaction *transaction, struct slice list, uint64_t number,
		      struct slice *leaf, struct fault *fault)
{
	struct node_key key;

	if (!store_get(transaction, STORE_SEQUENCE, node_key(&key, list, 0, number), leaf, fault))
		return false;
	if (leaf->data == NULL)
		return true;
	if (leaf->size == 0 || leaf->size > LEAF_MAX || leaf->size % ID_SIZE != 0)
		return damaged(&key, fault);
	for (size_t i = 0; i < leaf_count(*leaf); i++) {
		const struct id *id = leaf_id(*leaf, i);

		if (index_of(0, id_number(id)) != index_of(0, number))
			return damaged(&key, fault);
		if (i > 0 && id_number(leaf_id(*leaf, i - 1)) >= id_number(id))
			return damaged(&key, fault);
	}
	return true;
}

/* A node that is not there has no bits. */
static bool node_read(struct transaction *transaction, struct slice list, unsigned level,
		      uint64_t number, struct node *node, struct fault *fault)
{
	struct node_key key;
	struct slice value;
	size_t offset = BITS_SIZE;

	node->bits = 0;
	if (!store_get(transaction, STORE_SEQUENCE, node_key(&key, list, level, number), &value,
		       fault))
		return false;
	if (value.data == NULL)
		return true;
	if (value.size < BITS_SIZE)
		return damaged(&key, fault);
	node->bits = big_endian_read(value.data, BITS_SIZE);
	if (node->bits == 0 || (level == ROOT_LEVEL && node->bits > ROOT_BITS) ||
	    value.size != BITS_SIZE + SECONDS_SIZE * (size_t)__builtin_popcountll(node->bits))
		return damaged(&key, fault);
	for (unsigned child = 0; child < CHILDREN; child++) {
		if (!(node->bits >> child & 1))
			continue;
		node->seconds[child] = (uint32_t)big_endian_read(value.data + offset, SECONDS_SIZE);
		offset += SECONDS_SIZE;
	}
	return true;
}

static bool node_write(struct transaction *transaction, struct slice list, unsigned level,
		       uint64_t number, const struct node *node, struct fault *fault)
{
	struct node_key key;
	char value[NODE_MAX];
	size_t size = BITS_SIZE;

	node_key(&key, list, level, number);
	if (node->bits == 0)
		return store_remove(transaction, STORE_SEQUENCE,
				    (struct slice){ key.bytes, key.size }, fault);
	big_endian_write(value, BITS_SIZE, node->bits);
	for (unsigned child = 0; child < CHILDREN; child++) {
		if (!(node->bits >> child & 1))
			continue;
		big_endian_write(value + size, SECONDS_SIZE, node->seconds[child]);
		size += SECONDS_SIZE;
	}
	return store_put(transaction, STORE_SEQUENCE, (struct slice){ key.bytes, key.size },
			 (struct slice){ value, size }, fault);
}

/* Tells the nodes above the leaf that an id came which is the lowest there. */
static bool nodes_add(struct transaction *transaction, struct slice list, const struct id *id,
		      struct fault *fault)
{
	const uint64_t number = id_number(id);
	const uint32_t seconds = id_seconds(id);
	struct node node;

	for (unsigned level = 1; level <= ROOT_LEVEL; level++) {
		const unsigned child = child_of(level, number);

		if (!node_read(transaction, list, level, number, &node, fault))
			return false;
		if (node.bits >> child & 1 && node.seconds[child] <= seconds)
			return true;
		node.bits |= UINT64_C(1) << child;
		node.seconds[child] = seconds;
		if (!node_write(transaction, list, level, number, &node, fault))
			return false;
	}
	return true;
}

/* Tells the nodes above the leaf of this number that it is empty. */
static bool nodes_remove(struct transaction *transaction, struct slice list, uint64_t number,
			 struct fault *fault)
{
	struct node node = { .bits = 0 };

	for (unsigned level = 1; level <= ROOT_LEVEL && node.bits == 0; level++) {
		if (!node_read(transaction, list, level, number, &node, fault))
			return false;
		node.bits &= ~(UINT64_C(1) << child_of(level, number));
		if (!node_write(transaction, list, level, number, &node, fault))
			return false;
	}
	return true;
}

/* How many ids of the leaf have a lower number. */
static size_t leaf_place(struct slice leaf, uint64_t number)
{
	size_t place = 0;

	while (place < leaf_count(leaf) && id_number(leaf_id(leaf, place)) < number)
		place++;
	return place;
}

/* Whether the leaf has the id at this place; another of the same number would be our mistake. */
static bool leaf_has(struct slice leaf, size_t place, const struct id *id)
{
	if (place == leaf_count(leaf) || id_number(leaf_id(leaf, place)) != id_number(id))
		return false;
	assert(id_compare(leaf_id(leaf, place), id) == 0);
	return true;
}

bool sequence_add(struct transaction *transaction, struct slice list, const struct id *id,
		  struct fault *fault)
{
	struct node_key key;
	struct slice leaf;
	char bytes[LEAF_MAX];
	size_t place;
	size_t before;

	if (!leaf_read(transaction, list, id_number(id), &leaf, fault))
		return false;
	place = leaf_place(leaf, id_number(id));
	if (leaf_has(leaf, place, id))
		return true;

	before = place * ID_SIZE;
	assert(leaf.size + ID_SIZE <= sizeof bytes);
	if (before > 0)
		memcpy(bytes, leaf.data, before);
	memcpy(bytes + before, id->bytes, ID_SIZE);
	if (leaf.size > before)
		memcpy(bytes + before + ID_SIZE, leaf.data + before, leaf.size - before);
	return store_put(transaction, STORE_SEQUENCE, node_key(&key, list, 0, id_number(id)),
			 (struct slice){ bytes, leaf.size + ID_SIZE }, fault) &&
	       (place > 0 || nodes_add(transaction, list, id, fault));
}

bool sequence_remove(struct transaction *transaction, struct slice list, const struct id *id,
		     struct fault *fault)
{
	struct node_key key;
	struct slice leaf;
	char bytes[LEAF_MAX];
	size_t place;
	size_t before;

	if (!leaf_read(transaction, list, id_number(id), &leaf, fault))
		return false;
	place = leaf_place(leaf, id_number(id));
	if (!leaf_has(leaf, place, id))
		return true;

	node_key(&key, list, 0, id_number(id));
	if (leaf_count(leaf) == 1)
		return store_remove(transaction, STORE_SEQUENCE,
				    (struct slice){ key.bytes, key.size }, fault) &&
		       nodes_remove(transaction, list, id_number(id), fault);
	before = place * ID_SIZE;
	memcpy(bytes, leaf.data, before);
	memcpy(bytes + before, leaf.data + before + ID_SIZE, leaf.size - before - ID_SIZE);
	return store_put(transaction, STORE_SEQUENCE, (struct slice){ key.bytes, key.size },
			 (struct slice){ bytes, leaf.size - ID_SIZE }, fault);
}

/* The highest child below `end` that is not empty; false: none. */
static bool child_before(const struct node *node, unsigned end, unsigned *child)
{
	const uint64_t lower = end == CHILDREN ? UINT64_MAX : (UINT64_C(1) << end) - 1;
	const uint64_t bits = node->bits & lower;

	if (bits == 0)
		return false;
	*child = CHILDREN - 1 - (unsigned)__builtin_clzll(bits);
	return true;
}

/* The highest child in which an id below the bound can be; false: none. Let s be its seconds: an id
 * with this number of seconds was once added there. If s is below the bound's seconds, or equal to
 * them while the child's lowest number is not above the bound's, every id of a lower child, having a
 * lower number and no later seconds, is below the bound. */
static bool child_below(const struct node *node, unsigned level, uint64_t first,
			const struct id *bound, unsigned *child)
{
	const uint32_t seconds = id_seconds(bound);

	for (*child = CHILDREN; child_before(node, *child, child);) {
		const uint64_t lowest = first + ((uint64_t)*child << (CHILD_BITS * level));

		if (node->seconds[*child] < seconds ||
		    (node->seconds[*child] == seconds && lowest <= id_number(bound)))
			return true;
	}
	return false;
}

static uint64_t first_of(unsigned level, uint64_t number)
{
	return index_of(level, number) << (CHILD_BITS * (level + 1));
}

/* A node without the child, or a child without the node, is damage that the walk may not take for
 * the end of the list. */
static bool walk_damaged(const struct sequence_walk *walk, unsigned level, uint64_t number,
			 struct fault *fault)
{
	struct node_key key;

	node_key(&key, walk->list, level, number);
	return damaged(&key, fault);
}

static bool walk_take_leaf(struct sequence_walk *walk, uint64_t number, struct fault *fault)
{
	walk->leaf_number = number;
	if (!leaf_read(walk->transaction, walk->list, number, &walk->leaf, fault))
		return false;
	return walk->leaf.data != NULL || walk_damaged(walk, 0, number, fault);
}

/* Takes the newest leaf below the node that holds `number` at `level`; 0 is the leaf itself. */
static bool walk_down(struct sequence_walk *walk, unsigned level, uint64_t number,
		      struct fault *fault)
{
	struct node node;
	unsigned child;

	for (; level > 0; level--) {
		if (!node_read(walk->transaction, walk->list, level, number, &node, fault))
			return false;
		if (!child_before(&node, CHILDREN, &child))
			return walk_damaged(walk, level, number, fault);
		number = first_of(level, number) + ((uint64_t)child << (CHILD_BITS * level));
	}
	return walk_take_leaf(walk, number, fault);
}

/* Takes the leaf before the node that holds `number` at `level`; the leaf is NULL when there is
 * none. */
static bool walk_back(struct sequence_walk *walk, unsigned level, uint64_t number,
		      struct fault *fault)
{
	struct node node;
	unsigned child;

	walk->leaf = (struct slice){ NULL, 0 };
	while (level++ < ROOT_LEVEL) {
		if (!node_read(walk->transaction, walk->list, level, number, &node, fault))
			return false;
		if (!(node.bits >> child_of(level, number) & 1))
			return walk_damaged(walk, level, number, fault);
		if (!child_before(&node, child_of(level, number), &child))
			continue;
		number = first_of(level, number) + ((uint64_t)child << (CHILD_BITS * level));
		return walk_down(walk, level - 1, number, fault);
	}
	return true;
}

/* Takes the leaf where the newest id below the bound is, or the one above that leaf. */
static bool walk_find(struct sequence_walk *walk, struct fault *fault)
{
	struct node node;
	uint64_t number = 0;
	unsigned child;

	if (!node_read(walk->transaction, walk->list, ROOT_LEVEL, number, &node, fault))
		return false;
	if (node.bits == 0)
		return true;
	if (!walk->is_bounded)
		return walk_down(walk, ROOT_LEVEL, number, fault);

	for (unsigned level = ROOT_LEVEL; level > 0; level--) {
		if (level < ROOT_LEVEL &&
		    !node_read(walk->transaction, walk->list, level, number, &node, fault))
			return false;
		if (node.bits == 0)
			return walk_damaged(walk, level, number, fault);
		if (!child_below(&node, level, number, &walk->bound, &child))
			return walk_back(walk, level, number, fault);
		number += (uint64_t)child << (CHILD_BITS * level);
	}
	return walk_take_leaf(walk, number, fault);
}

/* The newest id of the leaf at hand that is below the bound. */
static bool walk_id(const struct sequence_walk *walk, struct id *id)
{
	for (size_t i = leaf_count(walk->leaf); i-- > 0;) {
		if (walk->is_bounded && id_compare(leaf_id(walk->leaf, i), &walk->bound) >= 0)
			continue;
		*id = *leaf_id(walk->leaf, i);
		return true;
	}
	return false;
}

void sequence_start(struct sequence_walk *walk, struct transaction *transaction, struct slice list,
		    const struct id *before)
{
	*walk = (struct sequence_walk){ .transaction = transaction, .list = list };
	if (before != NULL) {
		walk->bound = *before;
		walk->is_bounded = true;
	}
}

bool sequence_next(struct sequence_walk *walk, struct id *id, bool *is_there, struct fault *fault)
{
	*is_there = false;
	if (walk->leaf.data == NULL && !walk_find(walk, fault))
		return false;
	while (walk->leaf.data != NULL) {
		if (walk_id(walk, id)) {
			*is_there = true;
			walk->bound = *id;
			walk->is_bounded = true;
			return true;
		}
		if (!walk_back(walk, 0, walk->leaf_number, fault))
			return false;
	}
	return true;
}

/* ---- one node, for check ---- */

static bool children_are_there(struct transaction *transaction, struct slice list, unsigned level,
			       uint64_t number, struct fault *fault)
{
	struct node_key key;
	struct node node;
	struct slice value;

	if (!node_read(transaction, list, level, number, &node, fault))
		return false;
	for (unsigned child = 0; child < CHILDREN; child++) {
		const uint64_t first = first_of(level, number) +
				       ((uint64_t)child << (CHILD_BITS * level));

		if (!(node.bits >> child & 1))
			continue;
		if (!store_get(transaction, STORE_SEQUENCE, node_key(&key, list, level - 1, first),
			       &value, fault))
			return false;
		if (value.data == NULL)
			return damaged(&key, fault);
	}
	return true;
}

static bool parent_names_it(struct transaction *transaction, struct slice list, unsigned level,
			    uint64_t number, struct fault *fault)
{
	struct node_key key;
	struct node node;

	if (!node_read(transaction, list, level + 1, number, &node, fault))
		return false;
	if (node.bits >> child_of(level + 1, number) & 1)
		return true;
	node_key(&key, list, level + 1, number);
	return damaged(&key, fault);
}

bool sequence_look(struct transaction *transaction, struct slice key, struct sequence_node *node,
		   struct fault *fault)
{
	struct slice list = { key.data, 0 };
	struct slice leaf = { NULL, 0 };
	unsigned level;
	uint64_t index;

	*node = (struct sequence_node){ .is_root = false };
	if (key.size < LEVEL_SIZE + INDEX_SIZE || key.size > KEY_MAX)
		return fault_cause(fault, FAULT_UNAVAILABLE, 0, "the key is none of a list's node");
	list.size = key.size - LEVEL_SIZE - INDEX_SIZE;
	level = (unsigned char)list.data[list.size];
	index = big_endian_read(list.data + list.size + LEVEL_SIZE, INDEX_SIZE);
	if (level > ROOT_LEVEL || index > index_of(level, ID_NUMBER_MAX))
		return fault_cause(fault, FAULT_UNAVAILABLE, 0, "the key is none of a list's node");
	index <<= CHILD_BITS * (level + 1);
	node->list = list;
	node->is_root = level == ROOT_LEVEL;
	if (level > 0 && !children_are_there(transaction, list, level, index, fault))
		return false;
	if (level == 0 && !leaf_read(transaction, list, index, &leaf, fault))
		return false;
	if (leaf.data != NULL)
		node->ids = leaf_id(leaf, 0);
	node->count = leaf_count(leaf);
	return node->is_root || parent_names_it(transaction, list, level, index, fault);
}
