/* Handlers of room codes. Those with a room in the path check in this order: room not found, room
 * disabled, role not found. Handlers that show the codes of a room start reading, and run again as
 * a write if there is a code to create.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/codes/room_codes.h"

#include "base/text.h"
#include "resources/audit.h"
#include "resources/codes/code_life.h"
#include "resources/codes/code_terms.h"
#include "resources/stored/code_words.h"
#include "resources/lists.h"
#include "resources/stored/media_record.h"
#include "records/record.h"
#include "resources/public_url.h"
#include "resources/codes/qr.h"
#include "resources/stored/room_record.h"
#include "rules/room_code_rules.h"

/* Codes that are read at a time if most of them may not be wanted. */
#define CODES_SEARCHED_AT_ONCE 256

/* What view=link adds to a code. */
struct code_link {
	struct slice public_url;
	struct media media; /* contains the key of the hash */
};

static bool asks_for_link(const struct call *call)
{
	return call_query_text(call, "view").data != NULL;
}

/* Sets call->run.link for the codes that the call shows. If the account has no key yet, one is
 * stored first: a reading call then sets call->run.wants_write, to be run again. */
static bool open_link(struct call *call, struct fault *fault)
{
	struct code_link *link;
	bool is_there;

	if (!asks_for_link(call))
		return true;
	link = arena_alloc(call->arena, sizeof *link);
	link->public_url = public_url_of(call);
	if (!call_is_writing(call)) {
		if (!media_find(call, STORE_TO_SHOW, &link->media, &is_there, fault))
			return false;
		if (!is_there)
			return call_write_instead(call);
	} else if (!media_load_lasting(call, &link->media, fault)) {
		return false;
	}
	call->run.link = link;
	return true;
}

bool room_codes_are_hashed(const struct call *call)
{
	return call_is_writing(call) || asks_for_link(call);
}

/* Sets FAULT_FORBIDDEN unless the room is enabled. */
static bool check_enabled(const struct room_subject *subject, struct fault *fault)
{
	return subject->room.is_enabled || fault_set(fault, FAULT_FORBIDDEN, "Room is disabled");
}

/* ---- events ---- */

/* type: "room_code.created" and so on. changes: NULL unless the code was updated. */
static bool code_note(struct call *call, const char *type, const struct code *code,
		      struct slice role, struct changes *changes, struct fault *fault)
{
	struct audit_data data = {
		.kind = "room_code",
		.name = SLICE(""),
		.changes = changes,
		.more = { { "room_id", id_as_text(call->arena, &code->room), false },
			  { "role", role, false } },
	};
	struct media media;

	/* Creates the key of the hash if the account has none. */
	if (!media_load_lasting(call, &media, fault))
		return false;
	data.id = media_code_hash(call->arena, &media, code->letters);
	data.more[2] = (struct audit_member){ "code_hash", data.id, false };
	audit_note(call, type, &data);
	return true;
}

/* ---- responses ---- */

/* Codes have no characters that a URL would have to escape. */
static struct slice join_url(struct call *call, struct slice public_url, const struct code *code)
{
	struct buffer url = BUFFER_INITIAL(call->arena);

	buffer_append(&url, public_url);
	buffer_append_text(&url, "/join/");
	buffer_append(&url, code->letters);
	return buffer_slice(&url);
}

/* Writes the members of room_code_shape, in its order. */
static struct slice code_text(struct call *call, const struct code *code,
			      const struct shown_code *shown)
{
	struct json_writer text = writer_begin(call->arena, false);

	writer_plain(&text, "code", code->letters);
	writer_plain(&text, "room_id", id_as_text(call->arena, &code->room));
	writer_text(&text, "role", shown->role);
	writer_flag(&text, "enabled", shown->is_enabled);
	writer_time(&text, "created_at", shown->created * 1000);
	writer_time(&text, "updated_at", shown->updated * 1000);
	if (code->terms.set != 0)
		code_terms_write(call, code, shown, &text);
	if (call->run.link != NULL) {
		writer_text(&text, "join_url", join_url(call, call->run.link->public_url, code));
		writer_plain(&text, "code_hash",
			     media_code_hash(call->arena, &call->run.link->media, code->letters));
	}
	return writer_end(&text);
}

static bool answer_code(struct call *call, const struct room_subject *subject,
			const struct code *code, struct fault *fault)
{
	struct shown_code shown;

	if (!code_show(call, &subject->codes, code, &subject->template, &shown, fault) ||
	    !open_link(call, fault))
		return false;
	return call->run.wants_write || call_answer(call, code_text(call, code, &shown));
}

/* ---- one code for each role ---- */

static bool make_lacking(struct call *call, struct room_subject *subject, struct fault *fault)
{
	struct room_codes *codes = &subject->codes;
	const size_t made = call->run.codes_made;
	struct audit_data data = { .kind = "room_code", .id = SLICE(""), .name = SLICE("") };
	char *number;

	if (!codes_make_due(call, codes, &subject->template, fault))
		return false;
	for (size_t i = 0; i < subject->template.role_count; i++) {
		uint32_t identity = subject->template.roles[i].identity;
		struct code code = { .is_former = false };

		if (codes_of_role(codes, identity).enabled == 0 &&
		    !codes_add(call, codes, identity, call->now / 1000, &code, fault))
			return false;
	}
	codes->was_asked = true;
	if (call->run.codes_made > made) {
		number = arena_text(call->arena, "%zu", (size_t)(call->run.codes_made - made));
		data.more[0] = (struct audit_member){ "room_id",
						      id_as_text(call->arena, &codes->room),
						      false };
		data.more[1] = (struct audit_member){ "count", slice_of(number), true };
		audit_note(call, "room_code.created", &data);
	}
	return codes_store(call, codes, &subject->template, fault);
}

/* Lets the next page begin at the first place that can have an enabled plain code of a role that
 * has no text yet. */
static void skip_to_oldest(const struct room_subject *subject, const struct slice *texts,
			   struct code_page *page)
{
	const struct room_codes *codes = &subject->codes;
	uint64_t oldest = UINT64_MAX;

	for (size_t i = 0; i < codes->group_count; i++) {
		const struct template_role *role = template_live_role(&subject->template,
								      codes->groups[i].identity);

		if (role != NULL && codes->groups[i].oldest < oldest &&
		    texts[role - subject->template.roles].data == NULL)
			oldest = codes->groups[i].oldest;
	}
	if (oldest != UINT64_MAX && oldest > page->after)
		page->after = oldest - 1;
}

/* Sets the text of the oldest enabled plain code of each role, in template order. Each role must
 * have such a code. */
static bool gather_oldest(struct call *call, const struct room_subject *subject,
			  struct slice *texts, struct fault *fault)
{
	const struct template_record *template = &subject->template;
	struct code_page page = { .side = STORE_ON, .most = CODES_AT_ONCE };
	size_t left = template->role_count;
	struct shown_code shown;

	while (left > 0) {
		skip_to_oldest(subject, texts, &page);
		if (!codes_page(call, &subject->room.id, &page, fault))
			return false;
		for (size_t i = 0; i < page.count; i++) {
			const struct code *code = &page.codes[i];
			size_t role;

			if (!code->is_enabled || !code_is_plain(code))
				continue;
			if (!code_show(call, &subject->codes, code, template, &shown, fault))
				return false;
			role = shown.has_role ? template_role_index(template, shown.role)
					      : template->role_count;
			if (role == template->role_count || texts[role].data != NULL)
				continue;
			texts[role] = code_text(call, code, &shown);
			left--;
		}
		if (left > 0 && page.is_last)
			return record_missing("an enabled code of the room", &subject->room.id,
					      fault);
	}
	return true;
}

bool room_codes_create_all(struct call *call, struct fault *fault)
{
	struct room_subject *subject = call->subject;
	bool lacks_a_code;
	struct slice *texts;

	if (!check_enabled(subject, fault))
		return false;

	lacks_a_code = !subject->codes.was_asked ||
		       codes_are_due(&subject->codes, &subject->template);
	for (size_t i = 0; i < subject->template.role_count && !lacks_a_code; i++) {
		const uint32_t identity = subject->template.roles[i].identity;

		lacks_a_code = codes_of_role(&subject->codes, identity).enabled == 0;
	}
	if (lacks_a_code) {
		if (!call_is_writing(call))
			return call_write_instead(call);
		if (!make_lacking(call, subject, fault))
			return false;
	}
	if (!open_link(call, fault))
		return false;
	if (call->run.wants_write)
		return true;
	texts = arena_zero(call->arena, (subject->template.role_count + 1) * sizeof *texts);
	if (!gather_oldest(call, subject, texts, fault))
		return false;
	call_answer(call, SLICE("{\"data\":["));
	for (size_t i = 0; i < subject->template.role_count; i++) {
		if (i > 0)
			call_part(call, SLICE(","));
		call_part(call, texts[i]);
	}
	call_part(call, SLICE("]}"));
	return true;
}

/* ---- a new code ---- */

/* Reserves a custom code for the account, unless another code or account has it. */
static bool take_words(struct call *call, struct slice words, struct fault *fault)
{
	struct store_record code;
	struct id account;
	bool is_claimed;

	if (!code_words_check_budget(call, fault) ||
	    !code_words_find(call, words, &account, &is_claimed, fault) ||
	    !store_get_named(call->transaction, &kind_code, words, STORE_TO_SHOW, &code, fault))
		return false;
	if (is_claimed && id_compare(&account, &call->account) != 0)
		call->run.words_asked++;
	else if (code.value.data == NULL)
		return is_claimed || code_words_claim(call, words, fault);
	return fault_set(fault, FAULT_CONFLICT, "Room code already exists");
}

/* Finds the role of the path, and creates all due codes. */
static bool find_role(struct call *call, struct room_subject *subject, uint32_t *identity,
		      struct fault *fault)
{
	size_t role;

	if (!check_enabled(subject, fault))
		return false;
	role = template_role_index(&subject->template, call->parameters[1]);
	if (role == subject->template.role_count)
		return fault_set(fault, FAULT_NOT_FOUND, "Role not found");
	*identity = subject->template.roles[role].identity;
	return codes_make_due(call, &subject->codes, &subject->template, fault);
}

bool room_codes_create(struct call *call, struct fault *fault)
{
	const struct slice words = text_of_json(call_member(call, "code"));
	struct room_subject *subject = call->subject;
	struct code code = { .letters = words, .is_enabled = true };
	uint32_t identity;

	if (!find_role(call, subject, &identity, fault))
		return false;
	code_terms_read(call, call->body, &code.terms);
	if (!codes_check_count(subject, NULL, &code, fault))
		return false;
	/* A call that only validates must not reveal whether a custom code is taken, so it draws
	 * random letters instead. */
	if (call->validates_only)
		code.letters = (struct slice){ NULL, 0 };
	return (code.letters.data == NULL || take_words(call, words, fault)) &&
	       codes_add(call, &subject->codes, identity, call->now / 1000, &code, fault) &&
	       codes_store(call, &subject->codes, &subject->template, fault) &&
	       code_note(call, "room_code.created", &code, call->parameters[1], NULL, fault) &&
	       answer_code(call, subject, &code, fault);
}

/* ---- rotation ---- */

/* Disables the enabled plain codes of the group or, with a grace period, lets them expire. */
static bool retire_group(struct call *call, struct room_codes *codes,
			 const struct code_group *group, int64_t grace, struct fault *fault)
{
	struct code_walk walk = {
		.page = {
			.side = STORE_ON,
			.after = group->oldest > 0 ? group->oldest - 1 : 0,
			.most = CODES_SEARCHED_AT_ONCE,
		},
	};
	const struct code *code;
	struct code retired;

	while (group->enabled > 0) {
		if (!codes_next(call, &codes->room, &walk, &code, fault))
			return false;
		if (code == NULL)
			return record_missing("an enabled code of the room", &codes->room, fault);
		if (code->group != group->number || !code->is_enabled || !code_is_plain(code))
			continue;
		retired = *code;
		if (grace == 0) {
			retired.is_enabled = false;
			retired.updated = call->now / 1000;
		} else {
			retired.terms.set |= CODE_EXPIRES_AT;
			retired.terms.expires_at = call->now / 1000 + grace;
		}
		if (!codes_replace(call, codes, code, &retired, fault))
			return false;
	}
	return true;
}

/* If the room has the maximum of plain codes, deletes the oldest disabled one. */
static bool make_place(struct call *call, struct room_subject *subject, struct fault *fault)
{
	struct code_walk walk = { .page = { .side = STORE_ON, .most = CODES_SEARCHED_AT_ONCE } };
	struct shown_code shown;
	const struct code *code;

	if (codes_count(&subject->codes, &subject->template).plain < CODES_MOST)
		return true;
	for (;;) {
		if (!codes_next(call, &subject->room.id, &walk, &code, fault))
			return false;
		if (code == NULL)
			return true;
		if (code->is_enabled || !code_is_plain(code))
			continue;
		if (!code_show(call, &subject->codes, code, &subject->template, &shown, fault))
			return false;
		if (shown.has_role)
			return code_note(call, "room_code.deleted", code, shown.role, NULL,
					 fault) &&
			       codes_remove(call, &subject->codes, code, fault);
	}
}

bool room_codes_rotate(struct call *call, struct fault *fault)
{
	const int64_t grace = json_integer_value(call_member(call, "grace_seconds"));
	struct room_subject *subject = call->subject;
	struct code code = { .is_former = false };
	struct code_count count, of_role;
	uint32_t identity;

	if (!find_role(call, subject, &identity, fault))
		return false;
	count = codes_count(&subject->codes, &subject->template);
	of_role = codes_of_role(&subject->codes, identity);
	if (grace > 0 && count.others + of_role.enabled > CODES_OTHERS_MOST)
		return codes_refuse_count(fault, "Too many codes", "codes that are not plain",
					  CODES_OTHERS_MOST);
	if (count.enabled - of_role.enabled >= CODES_ENABLED_MOST)
		return codes_refuse_count(fault, "Too many enabled codes", "enabled codes",
					  CODES_ENABLED_MOST);
	return retire_group(call, &subject->codes, codes_group_of(call, &subject->codes, identity),
			    grace, fault) &&
	       make_place(call, subject, fault) &&
	       codes_add(call, &subject->codes, identity, call->now / 1000, &code, fault) &&
	       codes_store(call, &subject->codes, &subject->template, fault) &&
	       code_note(call, "room_code.rotated", &code, call->parameters[1], NULL, fault) &&
	       answer_code(call, subject, &code, fault);
}

/* ---- the list ---- */

/* The filters of a list of codes. */
struct code_filter {
	const json_t *enabled; /* NULL: both */
	const char *state; /* NULL: any */
	struct slice user_id, label; /* data NULL: any */
	struct slice role; /* data NULL: any */
	bool shows_role; /* the template has the role, or a code of the room shows it */
	uint64_t after; /* number of a place: only codes after it are listed */
};

/* Adds codes until the page is full. If it is not known whether any code shows the role, reads the
 * codes before the page too. Former codes are never enabled. */
static bool list_codes(struct call *call, const struct room_subject *subject,
		       struct code_filter *filter, struct fault *fault)
{
	const bool is_enabled = json_is_true(filter->enabled);
	struct list *list = call->list;
	struct code_walk walk = {
		.page = {
			.side = is_enabled && filter->shows_role ? STORE_ON : STORE_BOTH_SIDES,
			.after = filter->shows_role ? filter->after : 0,
			.most = list->page.most,
		},
	};
	const struct code *code;
	struct shown_code shown;
	bool is_of_role;

	while (!list_is_full(list)) {
		if (!codes_next(call, &subject->room.id, &walk, &code, fault))
			return false;
		if (code == NULL)
			break;
		if (!code_show(call, &subject->codes, code, &subject->template, &shown, fault))
			return false;
		is_of_role = filter->role.data == NULL || slice_equal(filter->role, shown.role);
		filter->shows_role = filter->shows_role || is_of_role;
		if (!is_of_role || id_number(&code->place) <= filter->after)
			continue;
		if ((filter->enabled != NULL && is_enabled != shown.is_enabled) ||
		    (filter->state != NULL &&
		     strcmp(filter->state, code_state(code, &shown, call->now)) != 0) ||
		    (filter->user_id.data != NULL &&
		     !slice_equal(filter->user_id, code->terms.user_id)) ||
		    (filter->label.data != NULL && !slice_equal(filter->label, code->terms.label)))
			continue;
		list_add(list, code->letters);
		call_part(call, code_text(call, code, &shown));
	}
	return true;
}

/* The first page is known unless the place of `start`, or the role, must be found first. */
static void prepare_codes(struct call *call)
{
	struct code_filter *filter = arena_alloc(call->arena, sizeof *filter);
	struct list *list = list_prepare(call, filter);
	bool is_search;

	*filter = (struct code_filter){
		.enabled = json_object_get(call->query, "enabled"),
		.state = json_string_value(json_object_get(call->query, "state")),
		.user_id = call_query_text(call, "user_id"),
		.label = call_query_text(call, "label"),
		.role = call_query_text(call, "role"),
	};
	/* A list of enabled codes is not a search: the index has a side for them. */
	is_search = filter->state != NULL || filter->user_id.data != NULL ||
		    filter->label.data != NULL || filter->role.data != NULL ||
		    json_is_false(filter->enabled);
	list->page = (struct store_page){
		.order = STORE_OLDEST_FIRST,
		.side = json_is_true(filter->enabled) ? STORE_ON : STORE_BOTH_SIDES,
		.most = is_search ? CODES_SEARCHED_AT_ONCE : list->limit,
	};
	list->has_page = json_object_get(call->query, "start") == NULL && filter->role.data == NULL;
}

static const struct read reads_of_list[] = {
	{ .kind = &kind_code,
	  .finding = STORE_FIND_PAGE,
	  .from = READ_PATH,
	  .page = list_first_page },
	READS_END,
};
const struct loading load_codes = { .prepare = prepare_codes, .reads = reads_of_list };

bool room_codes_list(struct call *call, struct fault *fault)
{
	struct code_filter *filter = call->list->filter;
	struct room_subject *subject = call->subject;
	const struct slice start = call_query_text(call, "start");
	struct id account;
	struct code code;
	bool is_there;

	if (codes_are_due(&subject->codes, &subject->template) && subject->room.is_enabled) {
		if (!call_is_writing(call))
			return call_write_instead(call);
		if (!codes_make_due(call, &subject->codes, &subject->template, fault) ||
		    !codes_store(call, &subject->codes, &subject->template, fault))
			return false;
	}

	filter->after = 0;
	if (start.data != NULL) {
		if (!code_find(call, start, STORE_TO_SHOW, &code, &account, &is_there, fault))
			return false;
		if (!is_there || id_compare(&account, &call->account) != 0 ||
		    id_compare(&code.room, &subject->room.id) != 0)
			return fault_member(fault, FAULT_INVALID_QUERY, NULL, "start",
					    "must be a code of this room");
		filter->after = id_number(&code.place);
	}

	if (!check_enabled(subject, fault) || !open_link(call, fault))
		return false;
	if (call->run.wants_write)
		return true;
	list_open(call->list);
	filter->shows_role = filter->role.data == NULL ||
			     template_role_index(&subject->template, filter->role) <
				     subject->template.role_count;
	if (!list_codes(call, subject, filter, fault))
		return false;
	if (!filter->shows_role)
		return fault_set(fault, FAULT_NOT_FOUND, "Role not found");
	return list_close(call->list, fault);
}

/* ---- by code ---- */

/* Treats codes of other accounts and of deleted rooms as unknown. */
static bool find_code(struct call *call, struct slice letters, struct room_subject *subject,
		      struct code *code, bool *is_there, struct fault *fault)
{
	const enum store_reading reading = call_reading(call);
	struct id account;

	if (!code_find(call, letters, reading, code, &account, is_there, fault))
		return false;
	*is_there = *is_there && id_compare(&account, &call->account) == 0;
	return !*is_there || room_subject_of_code(call, code, reading, subject, is_there, fault);
}

static bool load_by_code(struct call *call, struct slice letters, struct room_subject *subject,
			 struct code *code, struct fault *fault)
{
	bool is_there;

	return find_code(call, letters, subject, code, &is_there, fault) &&
	       (is_there || fault_set(fault, FAULT_NOT_FOUND, "Room code not found"));
}

bool room_codes_get(struct call *call, struct fault *fault)
{
	struct room_subject subject;
	struct code code;

	return load_by_code(call, call->parameters[0], &subject, &code, fault) &&
	       answer_code(call, &subject, &code, fault);
}

bool room_codes_qr(struct call *call, struct fault *fault)
{
	struct room_subject subject;
	struct slice svg;
	struct code code;

	if (!load_by_code(call, call->parameters[0], &subject, &code, fault))
		return false;
	if (!qr_is_there())
		return fault_set(fault, FAULT_NOT_FOUND,
				 "QR codes are not available in this build");
	if (!qr_svg(call->arena, join_url(call, public_url_of(call), &code), &svg))
		return fault_cause(fault, FAULT_INTERNAL, 0,
				   "cannot create a QR code for the link");
	call_header(call, "Content-Type", SLICE(QR_TYPE));
	return call_answer(call, svg);
}

/* Stores the changed code. shown: what the former code shows; enables: `enabled` in the request. A
 * code of a deleted role becomes a former code, which keeps the time of the deletion. */
static bool save_code(struct call *call, struct room_subject *subject, const struct code *former,
		      const struct shown_code *shown, struct code *code, bool enables,
		      struct fault *fault)
{
	static const char *const ignored[] = { "updated_at", NULL };
	const struct slice before = code_text(call, former, shown);
	struct changes changes = CHANGES_INITIAL(call->arena);
	struct shown_code after;

	if (enables && !shown->has_role)
		return fault_set(fault, FAULT_FORBIDDEN, "The role of this code has been deleted");
	code->is_enabled = enables;
	code->updated = enables != shown->is_enabled ? call->now / 1000 : shown->updated;
	if (!shown->has_role) {
		code->is_former = true;
		code->role = shown->role;
	}
	/* Due codes count against the limits too. */
	if (shown->has_role &&
	    (code_is_plain(code) != code_is_plain(former) || (enables && !shown->is_enabled)) &&
	    (!codes_make_due(call, &subject->codes, &subject->template, fault) ||
	     !codes_check_count(subject, former, code, fault)))
		return false;
	if (!codes_replace(call, &subject->codes, former, code, fault) ||
	    !codes_store(call, &subject->codes, &subject->template, fault) ||
	    !code_show(call, &subject->codes, code, &subject->template, &after, fault))
		return false;
	changes_find_in_texts(&changes, SLICE(""), before, code_text(call, code, &after), ignored);
	return code_note(call, "room_code.updated", code, after.role, &changes, fault);
}

bool room_codes_switch(struct call *call, struct fault *fault)
{
	const struct slice letters = call->parameters[0].data != NULL
					     ? call->parameters[0]
					     : text_of_json(call_member(call, "code"));
	const bool enables = json_is_true(call_member(call, "enabled"));
	struct room_subject subject;
	struct shown_code shown;
	struct code former, code;

	if (!load_by_code(call, letters, &subject, &former, fault) ||
	    !code_show(call, &subject.codes, &former, &subject.template, &shown, fault))
		return false;
	code = former;
	return (enables == shown.is_enabled ||
		save_code(call, &subject, &former, &shown, &code, enables, fault)) &&
	       answer_code(call, &subject, &code, fault);
}

bool room_code_disable(struct call *call, struct slice letters, bool *is_there, struct fault *fault)
{
	struct room_subject subject;
	struct shown_code shown;
	struct code former, code;

	if (!find_code(call, letters, &subject, &former, is_there, fault))
		return false;
	if (!*is_there)
		return true;
	if (!code_show(call, &subject.codes, &former, &subject.template, &shown, fault))
		return false;
	code = former;
	return !shown.is_enabled || save_code(call, &subject, &former, &shown, &code, false, fault);
}

bool room_codes_patch(struct call *call, struct fault *fault)
{
	struct room_subject subject;
	struct shown_code shown;
	struct code former, code;
	json_t *document, *before;

	if (!load_by_code(call, call->parameters[0], &subject, &former, fault) ||
	    !code_show(call, &subject.codes, &former, &subject.template, &shown, fault))
		return false;
	before = code_terms_document(call, &former, shown.is_enabled);
	document = code_terms_document(call, &former, shown.is_enabled);
	document_merge(&code_patch_shape, document, call->body);
	if (!document_finish(&code_patch_shape, document, &call->findings, fault))
		return false;
	code = former;
	code_terms_read(call, document, &code.terms);
	return (json_equal(before, document) ||
		save_code(call, &subject, &former, &shown, &code,
			  json_is_true(json_object_get(document, "enabled")), fault)) &&
	       answer_code(call, &subject, &code, fault);
}

bool room_codes_delete(struct call *call, struct fault *fault)
{
	struct room_subject subject;
	struct shown_code shown;
	struct code code;

	return load_by_code(call, call->parameters[0], &subject, &code, fault) &&
	       code_show(call, &subject.codes, &code, &subject.template, &shown, fault) &&
	       code_note(call, "room_code.deleted", &code, shown.role, NULL, fault) &&
	       codes_remove(call, &subject.codes, &code, fault) &&
	       codes_store(call, &subject.codes, &subject.template, fault) &&
	       call_answer_nothing(call);
}
