/* Adding to a list, removing, and walking through it. The nodes are in store/trie.h.
 *
 * The seconds that an inner node has of a child are a lower bound: the id that brought them may be
 * gone again. A search by them can therefore come out in a leaf (or node) where nothing is below the
 * bound; but then, because numbers and seconds rise together, everything in the next lower leaf is,
 * so one step back is enough (see child_below).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/sequence.h"

#include <assert.h>

#include "store/trie.h"

/* Tells the nodes above the leaf that an id came which is the lowest there. */
static bool nodes_add(struct transaction *transaction, struct slice list, const struct id *id,
		      struct fault *fault)
{
	const uint64_t number = id_number(id);
	const uint32_t seconds = id_seconds(id);
	struct trie_node node;

	for (unsigned level = 1; level <= TRIE_ROOT_LEVEL; level++) {
		const unsigned child = trie_child(level, number);

		if (!trie_node_read(transaction, list, level, number, &node, fault))
			return false;
		if (node.bits >> child & 1 && node.seconds[child] <= seconds)
			return true;
		node.bits |= UINT64_C(1) << child;
		node.seconds[child] = seconds;
		if (!trie_node_write(transaction, list, level, number, &node, fault))
			return false;
	}
	return true;
}

/* Tells the nodes above the leaf of this number that it is empty. */
static bool nodes_remove(struct transaction *transaction, struct slice list, uint64_t number,
			 struct fault *fault)
{
	struct trie_node node = { .bits = 0 };

	for (unsigned level = 1; level <= TRIE_ROOT_LEVEL && node.bits == 0; level++) {
		if (!trie_node_read(transaction, list, level, number, &node, fault))
			return false;
		node.bits &= ~(UINT64_C(1) << trie_child(level, number));
		if (!trie_node_write(transaction, list, level, number, &node, fault))
			return false;
	}
	return true;
}

/* How many ids of the leaf have a lower number. */
static size_t leaf_place(struct slice leaf, uint64_t number)
{
	size_t place = 0;

	while (place < trie_leaf_count(leaf) && id_number(trie_leaf_id(leaf, place)) < number)
		place++;
	return place;
}

/* Whether the leaf has the id at this place; another of the same number would be our mistake. */
static bool leaf_has(struct slice leaf, size_t place, const struct id *id)
{
	if (place == trie_leaf_count(leaf) || id_number(trie_leaf_id(leaf, place)) != id_number(id))
		return false;
	assert(id_compare(trie_leaf_id(leaf, place), id) == 0);
	return true;
}

/* The leaf that has the id, or would have it, and its place there. */
static bool leaf_find(struct transaction *transaction, struct slice list, const struct id *id,
		      struct slice *leaf, size_t *place, bool *is_there, struct fault *fault)
{
	if (!trie_leaf_read(transaction, list, id_number(id), leaf, fault))
		return false;
	*place = leaf_place(*leaf, id_number(id));
	*is_there = leaf_has(*leaf, *place, id);
	return true;
}

bool sequence_add(struct transaction *transaction, struct slice list, const struct id *id,
		  struct fault *fault)
{
	struct trie_key key;
	struct slice leaf;
	char bytes[TRIE_LEAF_MAX];
	size_t place, before;
	bool is_there;

	if (!leaf_find(transaction, list, id, &leaf, &place, &is_there, fault))
		return false;
	if (is_there)
		return true;
	before = place * ID_SIZE;
	assert(leaf.size + ID_SIZE <= sizeof bytes);
	if (before > 0)
		memcpy(bytes, leaf.data, before);
	memcpy(bytes + before, id->bytes, ID_SIZE);
	if (leaf.size > before)
		memcpy(bytes + before + ID_SIZE, leaf.data + before, leaf.size - before);
	return store_put(transaction, STORE_SEQUENCE, trie_key_make(&key, list, 0, id_number(id)),
			 (struct slice){ bytes, leaf.size + ID_SIZE }, fault) &&
	       (place > 0 || nodes_add(transaction, list, id, fault));
}

bool sequence_remove(struct transaction *transaction, struct slice list, const struct id *id,
		     struct fault *fault)
{
	struct trie_key key;
	struct slice leaf;
	char bytes[TRIE_LEAF_MAX];
	size_t place, before;
	bool is_there;

	if (!leaf_find(transaction, list, id, &leaf, &place, &is_there, fault))
		return false;
	if (!is_there)
		return true;
	trie_key_make(&key, list, 0, id_number(id));
	if (trie_leaf_count(leaf) == 1)
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
static bool child_before(const struct trie_node *node, unsigned end, unsigned *child)
{
	const uint64_t lower = end == TRIE_CHILDREN ? UINT64_MAX : (UINT64_C(1) << end) - 1;
	const uint64_t bits = node->bits & lower;

	if (bits == 0)
		return false;
	*child = TRIE_CHILDREN - 1 - (unsigned)__builtin_clzll(bits);
	return true;
}

/* The highest child in which an id below the bound can be; false: none. Let s be its seconds: an id
 * with this number of seconds was once added there. If s is below the bound's seconds, or equal to
 * them while the child's lowest number is not above the bound's, every id of a lower child, having a
 * lower number and no later seconds, is below the bound. */
static bool child_below(const struct trie_node *node, unsigned level, uint64_t first,
			const struct id *bound, unsigned *child)
{
	const uint32_t seconds = id_seconds(bound);

	for (*child = TRIE_CHILDREN; child_before(node, *child, child);) {
		const uint64_t lowest = first + ((uint64_t)*child << (TRIE_CHILD_BITS * level));

		if (node->seconds[*child] < seconds ||
		    (node->seconds[*child] == seconds && lowest <= id_number(bound)))
			return true;
	}
	return false;
}

/* A node without the child, or a child without the node, is damage that the walk may not take for
 * the end of the list. */
static bool walk_damaged(const struct sequence_walk *walk, unsigned level, uint64_t number,
			 struct fault *fault)
{
	struct trie_key key;

	trie_key_make(&key, walk->list, level, number);
	return trie_damaged(&key, fault);
}

static bool walk_take_leaf(struct sequence_walk *walk, uint64_t number, struct fault *fault)
{
	walk->leaf_number = number;
	if (!trie_leaf_read(walk->transaction, walk->list, number, &walk->leaf, fault))
		return false;
	return walk->leaf.data != NULL || walk_damaged(walk, 0, number, fault);
}

/* Takes the newest leaf below the node that holds `number` at `level`; 0 is the leaf itself. */
static bool walk_down(struct sequence_walk *walk, unsigned level, uint64_t number,
		      struct fault *fault)
{
	struct trie_node node;
	unsigned child;

	for (; level > 0; level--) {
		if (!trie_node_read(walk->transaction, walk->list, level, number, &node, fault))
			return false;
		if (!child_before(&node, TRIE_CHILDREN, &child))
			return walk_damaged(walk, level, number, fault);
		number = trie_first(level, number) + ((uint64_t)child << (TRIE_CHILD_BITS * level));
	}
	return walk_take_leaf(walk, number, fault);
}

/* Takes the leaf before the node that holds `number` at `level`; the leaf is NULL when there is
 * none. */
static bool walk_back(struct sequence_walk *walk, unsigned level, uint64_t number,
		      struct fault *fault)
{
	struct trie_node node;
	unsigned child;

	walk->leaf = (struct slice){ NULL, 0 };
	while (level++ < TRIE_ROOT_LEVEL) {
		if (!trie_node_read(walk->transaction, walk->list, level, number, &node, fault))
			return false;
		if (!(node.bits >> trie_child(level, number) & 1))
			return walk_damaged(walk, level, number, fault);
		if (!child_before(&node, trie_child(level, number), &child))
			continue;
		number = trie_first(level, number) + ((uint64_t)child << (TRIE_CHILD_BITS * level));
		return walk_down(walk, level - 1, number, fault);
	}
	return true;
}

/* Most walks go on where a page has ended, in the midst of a leaf. When the leaf of the bound's number
 * has ids on both sides of it, the newest below it is one of them, and the way from the root is saved:
 * ids and numbers rise together. Otherwise the walk has no leaf yet. */
static bool walk_try_bound(struct sequence_walk *walk, struct fault *fault)
{
	const uint64_t number = id_number(&walk->bound);
	struct slice leaf;
	size_t n;

	if (!trie_leaf_read(walk->transaction, walk->list, number, &leaf, fault))
		return false;
	n = trie_leaf_count(leaf);
	if (n > 0 && id_compare(trie_leaf_id(leaf, 0), &walk->bound) < 0 &&
	    id_compare(trie_leaf_id(leaf, n - 1), &walk->bound) >= 0) {
		walk->leaf = leaf;
		walk->leaf_number = trie_first(0, number);
	}
	return true;
}

/* Takes the leaf where the newest id below the bound is, or the one above that leaf. */
static bool walk_find(struct sequence_walk *walk, struct fault *fault)
{
	struct trie_node node;
	uint64_t number = 0;
	unsigned child;

	if (!trie_node_read(walk->transaction, walk->list, TRIE_ROOT_LEVEL, number, &node, fault))
		return false;
	if (node.bits == 0)
		return true;
	if (!walk->is_bounded)
		return walk_down(walk, TRIE_ROOT_LEVEL, number, fault);

	for (unsigned level = TRIE_ROOT_LEVEL; level > 0; level--) {
		if (level < TRIE_ROOT_LEVEL &&
		    !trie_node_read(walk->transaction, walk->list, level, number, &node, fault))
			return false;
		if (node.bits == 0)
			return walk_damaged(walk, level, number, fault);
		if (!child_below(&node, level, number, &walk->bound, &child))
			return walk_back(walk, level, number, fault);
		number += (uint64_t)child << (TRIE_CHILD_BITS * level);
	}
	return walk_take_leaf(walk, number, fault);
}

/* The newest id of the leaf at hand that is below the bound. */
static bool walk_id(const struct sequence_walk *walk, struct id *id)
{
	for (size_t i = trie_leaf_count(walk->leaf); i-- > 0;) {
		if (walk->is_bounded && id_compare(trie_leaf_id(walk->leaf, i), &walk->bound) >= 0)
			continue;
		*id = *trie_leaf_id(walk->leaf, i);
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
	if (walk->leaf.data == NULL && walk->is_bounded && !walk_try_bound(walk, fault))
		return false;
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
