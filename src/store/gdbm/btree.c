/* The nodes of the trees.
 *
 * A node: its level (0: a leaf), the number of the tree's next new node (in the root only), the
 * count of its items, the offset of each, the items. An item: the size of its key, the key, the
 * size of its value, the value. In an inner node the value is the number of a child; the key is
 * above all keys of the previous child and not above those of this one; the first key is empty. The
 * root has the number 0.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gdbm/btree.h"

#include <assert.h>

#include "base/encode.h"
#include "base/text.h"
#include "store/gdbm/entries.h"
#include "store/gdbm/store_gdbm_parts.h"

#define AT_LEVEL 0
#define AT_NEXT 1
#define AT_COUNT 5
#define AT_OFFSETS 7
#define CHILD_SIZE 4

#define NODE_KEY_MAX (BTREE_NAME_MAX + 4)
#define LEAF_MOST 1024
#define INNER_MOST 4096
#define ENTRY_MOST (2 + 1 + BTREE_KEY_MAX + 1 + BTREE_VALUE_MAX)
#define ITEMS_MOST (INNER_MOST / (2 + 1 + 1 + CHILD_SIZE) + 2)

struct item {
	struct slice key, value;
};

/* ---- reading ---- */

static struct slice node_key(const struct btree *tree, uint32_t number, char bytes[NODE_KEY_MAX])
{
	memcpy(bytes, tree->name, tree->name_size);
	encode_32(bytes + tree->name_size, number);
	return (struct slice){ bytes, tree->name_size + 4 };
}

bool btree_of_key(struct slice key, struct btree *tree, uint32_t *number)
{
	if (key.size <= 4 || key.size - 4 > BTREE_NAME_MAX)
		return false;
	tree->name_size = key.size - 4;
	memcpy(tree->name, key.data, tree->name_size);
	*number = decode_32(key.data + tree->name_size);
	return true;
}

static bool damaged(const struct btree *tree, uint32_t number, struct fault *fault)
{
	char bytes[NODE_KEY_MAX], text[2 * NODE_KEY_MAX + 1];
	const struct slice key = node_key(tree, number, bytes);

	text_hex(key.data, key.size, text);
	text[2 * key.size] = '\0';
	return fault_cause(fault, FAULT_DAMAGED, 0, "%s %s: the node of the index is damaged",
			   store_table_name(STORE_INDEX), text);
}

static size_t node_count(const struct btree_node *node)
{
	return node->bytes.data == NULL ? 0 : decode_16(node->bytes.data + AT_COUNT);
}

static unsigned node_level(const struct btree_node *node)
{
	return node->bytes.data == NULL ? 0 : (unsigned char)node->bytes.data[AT_LEVEL];
}

/* Reads an item. False if it is outside the node or too large. */
static bool item_at(const struct btree_node *node, size_t i, struct item *item)
{
	const size_t size = node->bytes.size;
	size_t at = decode_16(node->bytes.data + AT_OFFSETS + 2 * i);

	if (at >= size)
		return false;
	item->key = (struct slice){ node->bytes.data + at + 1,
				    (unsigned char)node->bytes.data[at] };
	at += 1 + item->key.size;
	if (at >= size || item->key.size > BTREE_KEY_MAX)
		return false;
	item->value = (struct slice){ node->bytes.data + at + 1,
				      (unsigned char)node->bytes.data[at] };
	return at + 1 + item->value.size <= size && item->value.size <= BTREE_VALUE_MAX;
}

/* A missing root means an empty tree; any other missing node is damage. */
static bool read_node(struct transaction *transaction, const struct btree *tree, uint32_t number,
		      struct btree_node *node, struct fault *fault)
{
	char key[NODE_KEY_MAX];

	node->number = number;
	node->place = 0;
	if (!entry_get(transaction, STORE_INDEX, node_key(tree, number, key), &node->bytes, fault))
		return false;
	if (node->bytes.data == NULL)
		return number == 0 || damaged(tree, number, fault);
	return (node->bytes.size >= AT_OFFSETS &&
		node->bytes.size <= (node_level(node) == 0 ? LEAF_MOST : INNER_MOST) &&
		node->bytes.size >= AT_OFFSETS + 2 * node_count(node) && node_count(node) > 0 &&
		node_level(node) < BTREE_DEPTH) ||
	       damaged(tree, number, fault);
}

/* Sets the place to the first key of the node that is not below this one. */
static bool find_place(struct btree_node *node, struct slice key)
{
	size_t low = 0, high = node_count(node);
	struct item item;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (!item_at(node, middle, &item))
			return false;
		if (slice_compare(item.key, key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	node->place = (uint32_t)low;
	return true;
}

/* For an inner node: sets the place to the last item whose key is not above this one. */
static bool find_child(struct btree_node *node, struct slice key)
{
	struct item item;

	if (!find_place(node, key))
		return false;
	if (node->place < node_count(node)) {
		if (!item_at(node, node->place, &item))
			return false;
		if (slice_compare(item.key, key) == 0)
			return true;
	}
	node->place -= node->place > 0;
	return true;
}

/* Returns the number of the child, or 0 if the item is damaged. */
static uint32_t child_number(const struct item *item)
{
	return item->value.size == CHILD_SIZE ? decode_32(item->value.data) : 0;
}

/* Reads the child at the place of an inner node. */
static bool read_child(struct transaction *transaction, const struct btree *tree,
		       const struct btree_node *node, struct btree_node *child, struct fault *fault)
{
	struct item item;

	if (!item_at(node, node->place, &item) || child_number(&item) == 0)
		return damaged(tree, node->number, fault);
	if (!read_node(transaction, tree, child_number(&item), child, fault))
		return false;
	return node_level(child) + 1 == node_level(node) || damaged(tree, child->number, fault);
}

static bool go_down(struct transaction *transaction, const struct btree *tree, struct slice key,
		    struct btree_node nodes[BTREE_DEPTH], unsigned *depth, struct fault *fault)
{
	struct btree_node *node = nodes;

	*depth = 0;
	if (!read_node(transaction, tree, 0, node, fault))
		return false;
	if (node->bytes.data == NULL)
		return true;
	for (; node_level(node) > 0; node++) {
		if (!find_child(node, key))
			return damaged(tree, node->number, fault);
		if (!read_child(transaction, tree, node, node + 1, fault))
			return false;
	}
	*depth = (unsigned)(node - nodes) + 1;
	return find_place(node, key) || damaged(tree, node->number, fault);
}

static struct btree_memory *memory_of(struct transaction *transaction)
{
	return &((struct gdbm_transaction *)transaction)->memory;
}

static bool find(struct transaction *transaction, const struct btree *tree, struct slice key,
		 struct btree_path *path, struct item *item, struct fault *fault)
{
	const struct btree_memory *memory = memory_of(transaction);
	const struct btree_node *leaf;

	if (memory->is_valid && memory->tree.name_size == tree->name_size &&
	    memcmp(memory->tree.name, tree->name, tree->name_size) == 0 &&
	    slice_equal((struct slice){ memory->key, memory->key_size }, key)) {
		*path = memory->path;
		if (!path->is_there)
			return true;
		leaf = &path->nodes[path->depth - 1];
		return item_at(leaf, leaf->place, item) || damaged(tree, leaf->number, fault);
	}
	path->is_there = false;
	if (!go_down(transaction, tree, key, path->nodes, &path->depth, fault))
		return false;
	if (path->depth == 0)
		return true;
	leaf = &path->nodes[path->depth - 1];
	if (leaf->place == node_count(leaf))
		return true;
	if (!item_at(leaf, leaf->place, item))
		return damaged(tree, leaf->number, fault);
	path->is_there = slice_compare(item->key, key) == 0;
	return true;
}

bool btree_get(struct transaction *transaction, const struct btree *tree, struct slice key,
	       struct slice *value, struct fault *fault)
{
	struct btree_memory *memory = memory_of(transaction);
	struct btree_path path;
	struct item item;

	*value = (struct slice){ NULL, 0 };
	if (!find(transaction, tree, key, &path, &item, fault))
		return false;
	if (path.is_there)
		*value = item.value;
	assert(key.size <= sizeof memory->key);
	if (transaction->access == STORE_READ)
		return true;
	memory->is_valid = true;
	memory->tree = *tree;
	memory->key_size = key.size;
	memcpy(memory->key, key.data, key.size);
	memory->path = path;
	return true;
}

/* ---- writing ---- */

/* A node that is being changed. */
struct draft {
	unsigned level;
	uint32_t number;
	uint32_t next; /* in the root only */
	size_t count;
	struct item items[ITEMS_MOST];
};

static size_t item_size(const struct item *item)
{
	return 2 + 1 + item->key.size + 1 + item->value.size;
}

static size_t draft_size(const struct draft *draft)
{
	size_t size = AT_OFFSETS;

	for (size_t i = 0; i < draft->count; i++)
		size += item_size(&draft->items[i]);
	return size;
}

static bool draft_open(const struct btree *tree, const struct btree_node *node, struct draft *draft,
		       struct fault *fault)
{
	draft->level = node_level(node);
	draft->number = node->number;
	draft->next = node->bytes.data == NULL ? 1 : decode_32(node->bytes.data + AT_NEXT);
	draft->count = node_count(node);
	if (draft->count > ITEMS_MOST - 2)
		return damaged(tree, node->number, fault);
	for (size_t i = 0; i < draft->count; i++) {
		if (!item_at(node, i, &draft->items[i]))
			return damaged(tree, node->number, fault);
	}
	/* Overlapping items could exceed the size of a node. */
	return draft->count == 0 || draft_size(draft) == node->bytes.size ||
	       damaged(tree, node->number, fault);
}

static void draft_delete(struct draft *draft, size_t place)
{
	draft->count--;
	memmove(&draft->items[place], &draft->items[place + 1],
		(draft->count - place) * sizeof *draft->items);
}

static_assert(BTREE_KEY_MAX <= UINT8_MAX && BTREE_VALUE_MAX <= UINT8_MAX,
	      "the sizes of an item are a byte each");

/* Returns the offset after the item. */
static size_t item_write(char *bytes, size_t at, const struct item *item)
{
	bytes[at++] = (char)item->key.size;
	if (item->key.size > 0)
		memcpy(bytes + at, item->key.data, item->key.size);
	at += item->key.size;
	bytes[at++] = (char)item->value.size;
	if (item->value.size > 0)
		memcpy(bytes + at, item->value.data, item->value.size);
	return at + item->value.size;
}

static bool put_node(struct transaction *transaction, const struct btree *tree, uint32_t number,
		     struct slice bytes, struct fault *fault)
{
	char key[NODE_KEY_MAX];

	memory_of(transaction)->is_valid = false;
	return entry_put(transaction, STORE_INDEX, node_key(tree, number, key), bytes, fault);
}

/* Writes the items [from, to) of the draft as the node `number`. */
static bool write_node(struct transaction *transaction, const struct btree *tree,
		       const struct draft *draft, uint32_t number, size_t from, size_t to,
		       struct fault *fault)
{
	char bytes[INNER_MOST + ENTRY_MOST];
	size_t size = AT_OFFSETS + 2 * (to - from);

	bytes[AT_LEVEL] = (char)draft->level;
	encode_32(bytes + AT_NEXT, draft->next);
	encode_16(bytes + AT_COUNT, (uint16_t)(to - from));
	for (size_t i = from; i < to; i++) {
		struct item item = draft->items[i];

		if (draft->level > 0 && i == from)
			item.key.size = 0;
		assert(size + item_size(&item) <= sizeof bytes);
		encode_16(bytes + AT_OFFSETS + 2 * (i - from), (uint16_t)size);
		size = item_write(bytes, size, &item);
	}
	return put_node(transaction, tree, number, (struct slice){ bytes, size }, fault);
}

static bool remove_node(struct transaction *transaction, const struct btree *tree, uint32_t number,
			struct fault *fault)
{
	char key[NODE_KEY_MAX];

	memory_of(transaction)->is_valid = false;
	return entry_remove(transaction, STORE_INDEX, node_key(tree, number, key), fault);
}

/* Takes the number for a new node; the root stores the next one. */
static bool new_number(struct transaction *transaction, const struct btree *tree, uint32_t *number,
		       struct fault *fault)
{
	struct btree_node root;
	struct draft draft;

	if (!read_node(transaction, tree, 0, &root, fault) ||
	    !draft_open(tree, &root, &draft, fault))
		return false;
	*number = draft.next++;
	return write_node(transaction, tree, &draft, 0, 0, draft.count, fault);
}

/* Returns the index of the first item of the right half. If the last item is the new one, keys are
 * probably added in ascending order, so the left node stays full. */
static size_t place_of_split(const struct draft *draft, size_t added)
{
	const size_t half = draft_size(draft) / 2;
	size_t size = AT_OFFSETS, i = 0;

	if (added + 1 == draft->count)
		return added;
	while (size < half && i + 1 < draft->count)
		size += item_size(&draft->items[i++]);
	return i;
}

/* Returns the shortest key that is above the left item's key and not above the right item's. */
static struct slice separator(const struct item *left, const struct item *right)
{
	size_t size = 0;

	while (size < left->key.size && left->key.data[size] == right->key.data[size])
		size++;
	return (struct slice){ right->key.data, size + 1 };
}

/* The root keeps its number: both halves become new nodes. */
static bool split_root(struct transaction *transaction, const struct btree *tree,
		       const struct draft *draft, size_t right, struct slice key,
		       struct fault *fault)
{
	const uint32_t number = draft->next;
	struct draft root = { .level = draft->level + 1, .next = number + 2, .count = 2 };
	char child[2][CHILD_SIZE];

	if (root.level == BTREE_DEPTH)
		return fault_cause(fault, FAULT_UNAVAILABLE, 0, "the index is too deep");
	encode_32(child[0], number);
	encode_32(child[1], number + 1);
	root.items[0] = (struct item){ { "", 0 }, { child[0], CHILD_SIZE } };
	root.items[1] = (struct item){ key, { child[1], CHILD_SIZE } };
	return write_node(transaction, tree, draft, number, 0, right, fault) &&
	       write_node(transaction, tree, draft, number + 1, right, draft->count, fault) &&
	       write_node(transaction, tree, &root, 0, 0, 2, fault);
}

/* Adds the item to the draft of the node path[at]. A node that is too large is split, and the right
 * half added to its parent, up to the root. */
static bool insert(struct transaction *transaction, const struct btree *tree,
		   const struct btree_path *path, unsigned at, struct draft *draft, size_t place,
		   struct item item, struct fault *fault)
{
	char child[CHILD_SIZE];

	for (;; at--) {
		struct btree_node parent;
		uint32_t number;
		size_t right;

		memmove(&draft->items[place + 1], &draft->items[place],
			(draft->count - place) * sizeof *draft->items);
		draft->items[place] = item;
		draft->count++;
		if (draft_size(draft) <= (draft->level == 0 ? LEAF_MOST : INNER_MOST))
			return write_node(transaction, tree, draft, draft->number, 0, draft->count,
					  fault);
		right = place_of_split(draft, place);
		/* A separator requires keys in ascending order. */
		if (draft->level == 0 &&
		    slice_compare(draft->items[right - 1].key, draft->items[right].key) >= 0)
			return damaged(tree, draft->number, fault);
		item.key = draft->level > 0
				   ? draft->items[right].key
				   : separator(&draft->items[right - 1], &draft->items[right]);
		if (draft->number == 0)
			return split_root(transaction, tree, draft, right, item.key, fault);
		if (!new_number(transaction, tree, &number, fault) ||
		    !write_node(transaction, tree, draft, draft->number, 0, right, fault) ||
		    !write_node(transaction, tree, draft, number, right, draft->count, fault))
			return false;
		encode_32(child, number);
		item.value = (struct slice){ child, CHILD_SIZE };
		place = path->nodes[at - 1].place + 1;
		/* Read again, because new_number may have written the root. */
		if (!read_node(transaction, tree, path->nodes[at - 1].number, &parent, fault) ||
		    !draft_open(tree, &parent, draft, fault))
			return false;
	}
}

/* Adds an item to a leaf that has room for it, which is the usual case: the bytes go to the end,
 * and the offsets keep the order. */
static bool append(struct transaction *transaction, const struct btree *tree,
		   const struct btree_node *leaf, const struct item *item, struct fault *fault)
{
	const size_t n = node_count(leaf), entries = AT_OFFSETS + 2 * n;
	const char *from = leaf->bytes.data;
	char bytes[LEAF_MOST];
	size_t size = leaf->bytes.size + 2;

	memcpy(bytes, from, AT_OFFSETS);
	encode_16(bytes + AT_COUNT, (uint16_t)(n + 1));
	for (size_t i = 0; i <= n; i++) {
		const size_t old = i - (i > leaf->place);
		const size_t offset = i == leaf->place
					      ? size
					      : (size_t)decode_16(from + AT_OFFSETS + 2 * old) + 2;

		encode_16(bytes + AT_OFFSETS + 2 * i, (uint16_t)offset);
	}
	memcpy(bytes + entries + 2, from + entries, leaf->bytes.size - entries);
	size = item_write(bytes, size, item);
	return put_node(transaction, tree, leaf->number, (struct slice){ bytes, size }, fault);
}

/* Adds the item at its path, or replaces the one there. */
static bool put_at(struct transaction *transaction, const struct btree *tree,
		   const struct btree_path *path, const struct item *item, struct fault *fault)
{
	const unsigned at = path->depth > 0 ? path->depth - 1 : 0;
	const struct btree_node *leaf = &path->nodes[at];
	struct draft draft;

	assert(item->key.size > 0 && item->key.size <= BTREE_KEY_MAX);
	assert(item->value.size <= BTREE_VALUE_MAX);
	if (!path->is_there && path->depth > 0 && leaf->bytes.size + item_size(item) <= LEAF_MOST)
		return append(transaction, tree, leaf, item, fault);
	if (!draft_open(tree, leaf, &draft, fault))
		return false;
	if (path->is_there)
		draft_delete(&draft, leaf->place);
	return insert(transaction, tree, path, at, &draft, leaf->place, *item, fault);
}

bool btree_put(struct transaction *transaction, const struct btree *tree, struct slice key,
	       struct slice value, struct fault *fault)
{
	const struct item added = { key, value };
	struct item present = { { NULL, 0 }, { NULL, 0 } };
	struct btree_path path;

	return find(transaction, tree, key, &path, &present, fault) &&
	       ((path.is_there && slice_equal(present.value, value)) ||
		put_at(transaction, tree, &path, &added, fault));
}

bool btree_add(struct transaction *transaction, const struct btree *tree, struct slice key,
	       struct slice value, bool *is_new, struct fault *fault)
{
	const struct item added = { key, value };
	struct item present;
	struct btree_path path;

	if (!find(transaction, tree, key, &path, &present, fault))
		return false;
	*is_new = !path.is_there;
	return path.is_there || put_at(transaction, tree, &path, &added, fault);
}

bool btree_remove(struct transaction *transaction, const struct btree *tree, struct slice key,
		  struct fault *fault)
{
	struct item item;
	struct btree_path path;
	struct btree_node child;
	struct draft draft;
	unsigned at;

	if (!find(transaction, tree, key, &path, &item, fault))
		return false;
	if (!path.is_there)
		return true;
	at = path.depth;
	do {
		const struct btree_node *node = &path.nodes[--at];

		if (!draft_open(tree, node, &draft, fault))
			return false;
		draft_delete(&draft, node->place);
		if (draft.count > 0)
			break;
		if (!remove_node(transaction, tree, node->number, fault))
			return false;
	} while (at > 0);
	if (draft.count == 0)
		return true;
	if (draft.number == 0) {
		/* A root that has one child is replaced by that child. */
		const uint32_t next = draft.next;

		while (draft.level > 0 && draft.count == 1) {
			const uint32_t number = child_number(&draft.items[0]);

			if (number == 0)
				return damaged(tree, 0, fault);
			if (!read_node(transaction, tree, number, &child, fault) ||
			    !draft_open(tree, &child, &draft, fault) ||
			    !remove_node(transaction, tree, number, fault))
				return false;
		}
		draft.number = 0;
		draft.next = next;
	}
	return write_node(transaction, tree, &draft, draft.number, 0, draft.count, fault);
}

/* ---- walking ---- */

/* Goes down to the first or last leaf below the current item. */
static bool walk_down(struct btree_cursor *cursor, struct fault *fault)
{
	struct btree_node *node = &cursor->path[cursor->depth - 1];

	for (; node_level(node) > 0; node++) {
		if (!read_child(cursor->transaction, cursor->tree, node, node + 1, fault))
			return false;
		if (cursor->goes_back)
			node[1].place = (uint32_t)node_count(node + 1) - 1;
		cursor->depth++;
	}
	return true;
}

bool btree_step(struct btree_cursor *cursor, struct fault *fault)
{
	for (; cursor->depth > 0; cursor->depth--) {
		struct btree_node *node = &cursor->path[cursor->depth - 1];

		if (cursor->goes_back ? node->place == 0 : node->place + 1 >= node_count(node))
			continue;
		node->place += cursor->goes_back ? UINT32_MAX : 1;
		return walk_down(cursor, fault);
	}
	return true;
}

bool btree_seek(struct btree_cursor *cursor, struct transaction *transaction,
		const struct btree *tree, struct slice key, bool goes_back, struct fault *fault)
{
	struct btree_node *leaf;

	cursor->transaction = transaction;
	cursor->tree = tree;
	cursor->goes_back = goes_back;
	if (!go_down(transaction, tree, key, cursor->path, &cursor->depth, fault))
		return false;
	if (cursor->depth == 0)
		return true;
	leaf = &cursor->path[cursor->depth - 1];
	if (goes_back ? leaf->place == 0 : leaf->place == node_count(leaf))
		return btree_step(cursor, fault);
	leaf->place -= goes_back;
	return true;
}

bool btree_at(const struct btree_cursor *cursor, struct slice *key, struct slice *value,
	      struct fault *fault)
{
	const struct btree_node *leaf;
	struct item item = { { NULL, 0 }, { NULL, 0 } };

	if (cursor->depth > 0) {
		leaf = &cursor->path[cursor->depth - 1];
		if (!item_at(leaf, leaf->place, &item))
			return damaged(cursor->tree, leaf->number, fault);
	}
	*key = item.key;
	*value = item.value;
	return true;
}

/* ---- checking ---- */

/* Verifies that a search for the node's first key passes through the node. */
static bool check_reached(struct transaction *transaction, const struct btree *tree,
			  const struct btree_node *node, struct fault *fault)
{
	struct btree_cursor first = { .transaction = transaction, .tree = tree, .depth = 1 };
	const struct btree_node *leaf;
	struct btree_path path;
	struct item item;

	first.path[0] = *node;
	if (!walk_down(&first, fault))
		return false;
	leaf = &first.path[first.depth - 1];
	if (!item_at(leaf, 0, &item))
		return damaged(tree, leaf->number, fault);
	if (!go_down(transaction, tree, item.key, path.nodes, &path.depth, fault))
		return false;
	for (unsigned i = 0; i < path.depth; i++) {
		if (path.nodes[i].number == node->number)
			return true;
	}
	return damaged(tree, node->number, fault);
}

bool btree_check(struct transaction *transaction, struct slice key, struct btree_checked *checked,
		 struct fault *fault)
{
	const struct btree *tree = &checked->tree;
	const struct btree_node *node = &checked->node;
	struct item item, before = { { NULL, 0 }, { NULL, 0 } };
	struct btree_node child, at;
	size_t size = AT_OFFSETS;
	uint32_t number;

	checked->next = 0;
	if (!btree_of_key(key, &checked->tree, &number))
		return fault_cause(fault, FAULT_DAMAGED, 0, "not an index key");
	if (!read_node(transaction, tree, number, &checked->node, fault))
		return false;
	if (node->bytes.data == NULL)
		return damaged(tree, node->number, fault);
	at = *node;
	for (size_t i = 0; i < node_count(node); i++) {
		if (!item_at(node, i, &item) || (i > 0 && slice_compare(before.key, item.key) >= 0))
			return damaged(tree, node->number, fault);
		before = item;
		size += item_size(&item);
		if (node_level(node) == 0)
			continue;
		at.place = (uint32_t)i;
		if (!read_child(transaction, tree, &at, &child, fault))
			return false;
	}
	if (size != node->bytes.size)
		return damaged(tree, node->number, fault);
	return check_reached(transaction, tree, node, fault);
}

bool btree_checked_next(struct btree_checked *checked, struct slice *key, struct slice *value)
{
	struct item item;

	if (node_level(&checked->node) > 0 || checked->next == node_count(&checked->node) ||
	    !item_at(&checked->node, checked->next, &item))
		return false;
	checked->next++;
	*key = item.key;
	*value = item.value;
	return true;
}
