/* Lists, node by node, and each as a whole: see transfer/record_check.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "transfer/record_subject.h"
#include "store/sequence.h"

/* The letters are those of resources/account_record.h. */
enum list_kind {
	LIST_TEMPLATES = 't',
	LIST_ON = 'e',
	LIST_OFF = 'd',
	LIST_TEMPLATE_ON = 'E',
	LIST_TEMPLATE_OFF = 'D'
};

static bool belongs(const struct subject *subject, struct slice list, const struct id *id,
		    bool *does, struct fault *fault)
{
	struct call *call = subject->call;
	struct template_record record;
	struct room_record room;

	if (list.data[0] == LIST_TEMPLATES)
		return template_find(call, id, &record, does, fault);
	if (!room_find(subject->call, id, &room, does, fault))
		return false;
	if (*does && list.size > 1 + ID_SIZE)
		*does = memcmp(room.template_id.bytes, list.data + 1 + ID_SIZE, ID_SIZE) == 0;
	*does = *does &&
		room.is_enabled == (list.data[0] == LIST_ON || list.data[0] == LIST_TEMPLATE_ON);
	return true;
}

static bool list_is_ours(const struct subject *subject, struct slice list)
{
	struct id account;

	if (list.size < 1 + ID_SIZE)
		return false;
	account = subject_id_at(list, 1);
	survey_of_account(subject->survey, &account);
	switch (list.data[0]) {
	case LIST_TEMPLATES:
	case LIST_ON:
	case LIST_OFF:
		return list.size == 1 + ID_SIZE;
	case LIST_TEMPLATE_ON:
	case LIST_TEMPLATE_OFF:
		return list.size == 1 + 2 * ID_SIZE;
	}
	return false;
}

static bool check_leaf(const struct subject *subject, const struct sequence_node *node,
		       struct fault *fault)
{
	char text[ID_TEXT_SIZE + 1];
	bool is_right;

	for (size_t i = 0; i < node->count; i++) {
		id_print(&node->ids[i], text);
		if (!belongs(subject, node->list, &node->ids[i], &is_right, fault))
			return false;
		if (!is_right)
			subject_found(subject, "lists %s, which does not belong there", text);
		if (!subject_listed(subject->call, node->list, &node->ids[i], &is_right, fault))
			return false;
		if (!is_right)
			subject_found(subject, "%s cannot be found from the top of the list", text);
	}
	return true;
}

/* The whole list from its root: numbers and times go down together. Lets go of what it read, page by
 * page. */
static bool check_order(const struct subject *subject, struct slice list, struct fault *fault)
{
	struct sequence_walk walk;
	struct id last, id;
	bool has_last = false, is_there = true;
	char name[1 + 2 * ID_SIZE];

	memcpy(name, list.data, list.size);
	list.data = name;
	while (is_there) {
		survey_forget(subject->survey);
		sequence_start(&walk, subject->call->transaction, list, has_last ? &last : NULL);
		for (size_t i = 0; i < PAGE_MOST && is_there; i++) {
			if (!sequence_next(&walk, &id, &is_there, fault))
				return false;
			if (is_there && has_last &&
			    (id_number(&id) >= id_number(&last) ||
			     id_seconds(&id) > id_seconds(&last)))
				return subject_found(subject, "its list is not in order");
			last = id;
			has_last = true;
		}
	}
	return true;
}

bool subject_check_sequence(const struct subject *subject, struct fault *fault)
{
	struct sequence_node node;

	if (!sequence_look(subject->call->transaction, subject->key, &node, fault))
		return false;
	if (!list_is_ours(subject, node.list))
		return subject_found(subject, "belongs to no list of ours");
	return node.is_root ? check_order(subject, node.list, fault)
			    : check_leaf(subject, &node, fault);
}
