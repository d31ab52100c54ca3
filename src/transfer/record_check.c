/* See transfer/record_check.h. The check of a record fails only when something cannot be read: that
 * becomes a finding of this record.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "transfer/record_check.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/json_text.h"
#include "base/text.h"
#include "accounts/scopes.h"
#include "resources/events/audit_record.h"
#include "resources/codes/code_life.h"
#include "resources/codes/code_words.h"
#include "resources/templates/default_template.h"
#include "resources/templates/deleted_role.h"
#include "resources/garbage.h"
#include "resources/retries/kept_answer.h"
#include "resources/retries/kept_usage.h"
#include "resources/access/key_record.h"
#include "resources/media/media_record.h"
#include "resources/packed.h"
#include "resources/rooms/room_record.h"
#include "resources/events/webhook_record.h"
#include "resources/rooms/room_times.h"

#define PROBLEM_MOST 400
#define CODES_AT_ONCE 256

/* The record that is checked. */
struct subject {
	struct call *call;
	const struct store_kind *kind;
	const struct store_record *record;
	struct record_findings *findings;
};

static bool found(const struct subject *subject, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Tells a finding. True, so that the check goes on. */
static bool found(const struct subject *subject, const char *format, ...)
{
	char problem[PROBLEM_MOST], id[ID_TEXT_SIZE + 1];
	const char *key = "(a code)";
	va_list arguments;

	/* The name of a key is its id, and no secret. */
	if (subject->kind->naming != STORE_NAME_ANYWHERE || subject->kind == &kind_key) {
		id_print(&subject->record->id, id);
		key = arena_text(subject->call->arena, "%s/%s", subject->call->account_text, id);
	}
	va_start(arguments, format);
	(void)vsnprintf(problem, sizeof problem, format, arguments);
	va_end(arguments);
	subject->findings->tell(subject->findings, subject->kind->name, key, problem);
	return true;
}

static json_t *parsed(const struct subject *subject, struct slice text)
{
	return json_text_read_stored(subject->call->arena, text, NULL);
}

static bool says(const json_t *object, const char *name, struct slice text)
{
	struct slice value = text_of_json(json_object_get(object, name));

	return value.data != NULL && slice_equal(value, text);
}

/* ---- default templates ---- */

static bool check_default(const struct subject *subject, struct fault *fault)
{
	struct template_record record;
	struct id id;
	bool is_set, is_there;

	if (!default_template_load(subject->call, &id, &is_set, fault) ||
	    !template_find(subject->call, &id, STORE_TO_SHOW, &record, &is_there, fault))
		return false;
	return is_there || found(subject, "it is not there");
}

/* ---- templates ---- */

static void check_texts(const struct subject *subject, const struct template_record *record)
{
	const struct slice texts[] = {
		record->parts[PART_SETTINGS].text,
		record->parts[PART_SETTINGS].hidden,
		record->parts[PART_DESTINATIONS].text,
		record->parts[PART_DESTINATIONS].hidden,
		record->recording,
		record->text,
	};

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		if (parsed(subject, texts[i]) == NULL)
			found(subject, "text %zu of the record is not JSON", i);
	}
	if (record->plugins.size > 0 && parsed(subject, record->plugins) == NULL)
		found(subject, "its plugins are not JSON");
	for (size_t i = 0; i < record->role_count; i++) {
		if (!says(parsed(subject, record->roles[i].text), "name", record->roles[i].name))
			found(subject, "the text of role %zu is not that of its name", i);
	}
}

/* The text is exactly what its parts give. */
static bool check_assembled(const struct subject *subject, const struct template_record *record,
			    struct fault *fault)
{
	struct call *call = subject->call;
	struct template_record again = *record;

	again.roles = arena_alloc(call->arena, (record->role_count + 1) * sizeof *again.roles);
	if (record->role_count > 0)
		memcpy(again.roles, record->roles, record->role_count * sizeof *again.roles);
	if (!template_assemble(call, &again, fault))
		return false;
	return slice_equal(again.text, record->text) ||
	       found(subject, "its text is not what its parts give");
}

static void check_identities(const struct subject *subject, const struct template_record *record)
{
	for (size_t i = 0; i < record->role_count; i++) {
		const struct template_role *role = &record->roles[i];

		if (role->identity == 0 || role->identity > record->last_identity)
			found(subject, "the identity %u of role %zu was never given out",
			      role->identity, i);
		if (template_live_role(record, role->identity) != role)
			found(subject, "role %zu has the identity of another one", i);
		if (template_role_index(record, role->name) != i)
			found(subject, "role %zu has the name of another one", i);
	}
}

static bool check_named_backend(const struct subject *subject, const struct template_record *record,
				struct fault *fault)
{
	struct media media;

	if (record->backend.data == NULL)
		return true;
	if (!media_load(subject->call, STORE_TO_SHOW, &media, fault))
		return false;
	return media_backend_named(&media, record->backend) != NULL ||
	       found(subject, "it names a backend that is not there");
}

static bool check_template(const struct subject *subject, struct fault *fault)
{
	struct template_record record;

	if (!template_unpack(subject->call, subject->record, &record, fault))
		return false;
	check_texts(subject, &record);
	check_identities(subject, &record);
	return check_assembled(subject, &record, fault) &&
	       check_named_backend(subject, &record, fault);
}

/* Whether the parent, a template, is there or was deleted a short time ago. */
static bool check_role(const struct subject *subject, struct fault *fault)
{
	const struct id *parent = &subject->record->parent;
	struct template_record record;
	bool is_there, is_garbage = false;

	if (!template_find(subject->call, parent, STORE_TO_SHOW, &record, &is_there, fault) ||
	    (!is_there && !garbage_has(subject->call, parent, &is_garbage, fault)))
		return false;
	if (!is_there)
		return is_garbage || found(subject, "its template is not there");
	return template_live_role(&record, id_seconds(&subject->record->id)) == NULL ||
	       found(subject, "was deleted, but the template has it");
}

/* ---- rooms ---- */

static void check_room_texts(const struct subject *subject, const struct room_record *room,
			     const struct template_record *owner)
{
	struct call *call = subject->call;
	const json_t *text = parsed(subject, room_text(call, room, owner));
	char id[ID_TEXT_SIZE + 1];

	id_print(&room->id, id);
	if (!says(text, "id", slice_of(id)) || !says(text, "name", room->name) ||
	    !says(text, "customer_id", slice_of(call->account_text)) ||
	    !says(text, "template", owner->name) ||
	    json_is_true(json_object_get(text, "enabled")) != room->is_enabled)
		found(subject, "its text is not what its parts give");
	if (parsed(subject, room->hidden) == NULL)
		found(subject, "its hidden part is not JSON");
}

static bool check_room_time(const struct subject *subject, const struct room_record *room,
			    struct fault *fault)
{
	struct room_times times = { 0, 0 };

	if (room_times_cover(&times, &room->id, room->created))
		return true;
	return room_times_load(subject->call, &times, fault) &&
	       (room_times_cover(&times, &room->id, room->created) ||
		found(subject, "its id begins with another time than the list of rooms expects"));
}

static bool check_room(const struct subject *subject, struct fault *fault)
{
	struct call *call = subject->call;
	struct room_record room;
	struct template_record owner;
	bool is_there;

	if (!room_read(call, subject->record, &room, fault) ||
	    !template_find(call, &room.template_id, STORE_TO_SHOW, &owner, &is_there, fault))
		return false;
	if (is_there)
		check_room_texts(subject, &room, &owner);
	else
		found(subject, "its template is not there");
	if (!slice_equal(text_lower(call->arena, room.name), subject->record->name))
		found(subject, "it is found by another name");
	return check_room_time(subject, &room, fault);
}

static bool check_room_times(const struct subject *subject, struct fault *fault)
{
	struct room_times times;

	return room_times_load(subject->call, &times, fault);
}

/* ---- codes ---- */

/* Subtracts the codes of the room from the counts of `codes`. */
static bool subtract_codes(const struct subject *subject, struct room_codes *codes,
			   struct fault *fault)
{
	struct code_page page = { .most = CODES_AT_ONCE };

	do {
		if (!codes_page(subject->call, &codes->room, &page, fault))
			return false;
		for (size_t i = 0; i < page.count; i++) {
			const struct code *code = &page.codes[i];
			const struct code_group *group = code->is_former
								 ? NULL
								 : codes_group(codes, code->group);
			const uint64_t place = id_number(&code->place);

			if (place > codes->last_place)
				found(subject, "the place of a code was never given out");
			if (!code->is_former && group == NULL)
				found(subject, "a code has a group that is not there");
			else if (!codes_count_removed(codes, code, fault))
				return false;
			else if (group != NULL && code->is_enabled && code_is_plain(code) &&
				 place < group->oldest)
				found(subject, "a code is older than its group says");
		}
	} while (!page.is_last);
	return true;
}

static bool check_groups(const struct subject *subject, const struct room_codes *codes,
			 const struct template_record *owner, struct fault *fault)
{
	struct deleted_role deleted;

	for (size_t i = 0; i < codes->group_count; i++) {
		const struct code_group *group = &codes->groups[i];

		if (codes_group(codes, group->number) != group)
			found(subject, "group %zu has the number of another one", i);
		if (group->identity != 0 && template_live_role(owner, group->identity) == NULL &&
		    !deleted_role_load(subject->call, &owner->id, group->identity, &deleted, fault))
			return false;
		if (group->count != 0 || group->enabled != 0 || group->others != 0)
			found(subject, "group %zu does not have as many codes as it says", i);
	}
	return (codes->former_count == 0 && codes->former_others == 0) ||
	       found(subject, "there are not as many former codes as it says");
}

static bool check_codes(const struct subject *subject, struct fault *fault)
{
	struct call *call = subject->call;
	struct template_record owner;
	struct room_record room;
	struct room_codes codes;
	bool is_there;

	if (!codes_load(call, &subject->record->id, STORE_TO_SHOW, &codes, fault) ||
	    !room_find(call, &codes.room, STORE_TO_SHOW, &room, &is_there, fault))
		return false;
	if (!is_there)
		return found(subject, "the room of these codes is not there");
	if (!template_find(call, &room.template_id, STORE_TO_SHOW, &owner, &is_there, fault))
		return false;
	if (!is_there)
		return true; /* a finding of the room */
	if (codes.last_seen > owner.last_identity)
		found(subject, "has seen roles that its template never had");
	for (size_t i = 0; i < codes.due_count; i++) {
		if (!codes_due_is_right(&codes, i))
			found(subject, "its due role %zu has a code, or cannot be due", i);
	}
	return subtract_codes(subject, &codes, fault) &&
	       check_groups(subject, &codes, &owner, fault);
}

/* The words of a code are its account's; other letters are kept only when the code is gone. */
static bool check_claim(const struct subject *subject, const struct code *code, struct fault *fault)
{
	struct id account;
	bool is_claimed;

	if (!code_words_find(subject->call, code->letters, &account, &is_claimed, fault))
		return false;
	if (!code_is_words(code->letters))
		return !is_claimed || found(subject, "is kept for an account as if it were gone");
	return (is_claimed && id_compare(&account, &subject->record->account) == 0) ||
	       found(subject, "its words are not the account's");
}

static bool check_code(const struct subject *subject, struct fault *fault)
{
	struct call *call = subject->call;
	struct room_subject room;
	struct shown_code shown;
	struct code code;
	struct id account;
	bool is_there;

	if (!code_find(call, subject->record->name, STORE_TO_SHOW, &code, &account, &is_there,
		       fault))
		return false;
	if (!is_there)
		return found(subject, "is not a code");
	if (!room_subject_of_code(call, &code, STORE_TO_SHOW, &room, &is_there, fault) ||
	    (is_there && !code_show(call, &room.codes, &code, &room.template, &shown, fault)))
		return false;
	if ((code.terms.set & CODE_METADATA) != 0 && parsed(subject, code.terms.metadata) == NULL)
		found(subject, "its metadata are not JSON");
	return check_claim(subject, &code, fault);
}

static bool check_words(const struct subject *subject, struct fault *fault)
{
	struct id account;
	bool is_there;

	if (!code_can_be(subject->record->name))
		return found(subject, "are not words for a code, nor a code");
	return code_words_find(subject->call, subject->record->name, &account, &is_there, fault);
}

static bool check_kept_answer(const struct subject *subject, struct fault *fault)
{
	struct kept_answer kept;

	if (!kept_answer_read(subject->record, &kept, fault))
		return false;
	if (kept.body.size > 0 && parsed(subject, kept.body) == NULL)
		found(subject, "its body is not JSON");
	return true;
}

static bool check_kept_usage(const struct subject *subject, struct fault *fault)
{
	return kept_usage_check_record(subject->record, fault);
}

static bool check_words_asked(const struct subject *subject, struct fault *fault)
{
	return code_words_check_asked(subject->record, fault);
}

static void check_signing_key(const struct subject *subject, const struct media *media, size_t i)
{
	const struct signing_key *key = &media->keys[i];
	struct slice kid, jwk;

	if (!signing_describe(subject->call->arena, key->alg, key->private_key, &kid, &jwk))
		found(subject, "signing key %zu is no private key for its alg", i);
	else if (!slice_equal(kid, key->kid) || !slice_equal(jwk, key->jwk))
		found(subject, "the public part of signing key %zu is not its own", i);
	if (key->state == KEY_ACTIVE && media_active_key(media, key->alg) != key)
		found(subject, "signing key %zu is active, as another one of its alg", i);
}

/* Subtracts the templates of the account from the uses of the backends that they name. */
static bool subtract_uses(const struct subject *subject, const struct media *media,
			  struct fault *fault)
{
	struct page page = { .count = 0 };
	struct template_record record;
	struct backend *backend;
	bool is_there;

	do {
		if (!page_of_ids(subject->call, &kind_template, &page, fault))
			return false;
		for (size_t i = 0; i < page.count; i++) {
			const struct arena_mark mark = arena_mark(subject->call->arena);

			if (!template_find(subject->call, &page.ids[i], STORE_TO_SHOW, &record,
					   &is_there, fault))
				return false;
			backend = is_there ? media_backend_named(media, record.backend) : NULL;
			if (backend != NULL)
				backend->uses--;
			arena_release(subject->call->arena, &mark);
		}
	} while (page.count > 0);
	return true;
}

static void check_backend(const struct subject *subject, const struct media *media, size_t i)
{
	const struct backend *backend = &media->backends[i];

	if (parsed(subject, backend->config) == NULL)
		found(subject, "the config of backend %zu is not JSON", i);
	if (backend->is_default && media_default_backend(media) != backend)
		found(subject, "backend %zu is the default, as another one", i);
	if (media_backend_named(media, backend->name) != backend)
		found(subject, "backend %zu has the name of another one", i);
	if (backend->alg != SIGNING_ALGS && media_active_key(media, backend->alg) == NULL)
		found(subject, "no signing key is active for backend %zu", i);
	if (backend->uses != 0)
		found(subject, "not as many templates name backend %zu as it says", i);
}

static bool check_media(const struct subject *subject, struct fault *fault)
{
	struct call *call = subject->call;
	struct media media;

	if (!media_read(call->arena, subject->record, call->now, &media, fault))
		return false;
	for (size_t i = 0; i < media.key_count; i++)
		check_signing_key(subject, &media, i);
	if (!subtract_uses(subject, &media, fault))
		return false;
	for (size_t i = 0; i < media.backend_count; i++)
		check_backend(subject, &media, i);
	return true;
}

static bool check_key(const struct subject *subject, struct fault *fault)
{
	struct api_keys keys;
	struct api_key key;
	char id[ID_TEXT_SIZE + 1];

	if (!api_key_read(subject->record, &key, fault) ||
	    !api_keys_load(subject->call, STORE_TO_SHOW, &keys, fault))
		return false;
	if (keys.stored.value.data == NULL)
		found(subject, "the record that counts the keys is missing");
	id_print(&key.id, id);
	if (!slice_is(subject->record->name, id))
		found(subject, "its name is not its id");
	if (key.scopes == 0 || (key.scopes & ~SCOPES_ALL) != 0)
		found(subject, "it has no scopes that there are");
	return true;
}

/* As many keys as they say, and none above the newest. */
static bool check_keys(const struct subject *subject, struct fault *fault)
{
	struct call *call = subject->call;
	struct store_record records[API_KEYS_MOST + 1];
	struct store_page page = { .records = records, .most = API_KEYS_MOST + 1 };
	struct api_keys keys;

	api_keys_set_page(&page);
	if (!api_keys_read(subject->record, &keys, fault) ||
	    !store_page(call->transaction, &kind_key, &page, fault))
		return false;
	if (page.count != keys.count)
		found(subject, "there are not as many keys as it says");
	if (page.count > 0 && id_compare(&records[0].id, &keys.newest) > 0)
		found(subject, "a key is newer than the newest one");
	return true;
}

static bool check_garbage(const struct subject *subject, struct fault *fault)
{
	const struct id *id = &subject->record->id;
	struct template_record record;
	struct room_record room;
	bool is_template, is_room;

	if (!template_find(subject->call, id, STORE_TO_SHOW, &record, &is_template, fault) ||
	    !room_find(subject->call, id, STORE_TO_SHOW, &room, &is_room, fault))
		return false;
	return (!is_template && !is_room) || found(subject, "is of a thing that is there");
}

/* ---- the log ---- */

static bool check_entry(const struct subject *subject, struct fault *fault)
{
	struct audit_state state;
	struct audit_entry entry;

	if (!audit_entry_read(subject->record, &entry, fault) ||
	    !audit_state_load(subject->call->transaction, STORE_TO_SHOW, &state, fault))
		return false;
	if (parsed(subject, entry.actor) == NULL || parsed(subject, entry.data) == NULL)
		found(subject, "its text is not JSON");
	return (entry.seq >= state.first && entry.seq <= state.last) ||
	       found(subject, "its number is not one of the log's, which goes from %llu to %llu",
		     (unsigned long long)state.first, (unsigned long long)state.last);
}

static bool check_audit(const struct subject *subject, struct fault *fault)
{
	struct audit_state state;
	struct audit_entry entry;

	if (!audit_state_read(subject->record, &state, fault))
		return false;
	for (uint64_t seq = state.first; seq <= state.last; seq++) {
		struct fault own = FAULT_INITIAL;
		const struct arena_mark mark = arena_mark(subject->call->arena);

		if (!audit_read(subject->call->transaction, seq, 1, &entry, &own))
			found(subject, "its entry %llu is missing or cannot be read",
			      (unsigned long long)seq);
		arena_release(subject->call->arena, &mark);
	}
	return true;
}

static bool check_queue(const struct subject *subject, struct fault *fault)
{
	struct audit_entry entry;
	struct id account;

	return audit_queued_read(subject->record, &account, &entry, fault);
}

/* ---- webhooks ---- */

static bool check_webhooks(const struct subject *subject, struct fault *fault)
{
	struct call *call = subject->call;
	struct webhook_position position;
	struct webhooks webhooks;

	if (!webhooks_read(call->arena, subject->record, &webhooks, fault))
		return false;
	for (size_t i = 0; i < webhooks.count; i++) {
		const struct webhook *webhook = &webhooks.items[i];

		if (parsed(subject, webhook->headers) == NULL)
			found(subject, "the headers of a webhook are not JSON");
		if (!webhook_position_load(call->transaction, &webhook->id, STORE_TO_SHOW,
					   &position, fault))
			return false;
		if (position.series != webhook->series)
			found(subject, "the position of a webhook is missing");
		if (id_number(&webhook->id) > webhooks.last)
			found(subject, "a webhook is newer than the newest one");
	}
	return true;
}

/* Whether the webhook is there, or its removal goes on. */
static bool has_webhook(const struct subject *subject, const struct id *id, bool *has,
			struct fault *fault)
{
	struct webhooks webhooks;

	if (!webhooks_load(subject->call->transaction, STORE_TO_SHOW, &webhooks, fault))
		return false;
	*has = webhook_find(&webhooks, id) != NULL;
	return *has || garbage_has(subject->call, id, has, fault);
}

static bool check_webhook_position(const struct subject *subject, struct fault *fault)
{
	struct webhook_position position;
	bool has;

	if (!webhook_position_read(subject->record, &position, fault) ||
	    !has_webhook(subject, &subject->record->id, &has, fault))
		return false;
	return has || found(subject, "its webhook is missing");
}

static bool check_webhook_delivery(const struct subject *subject, struct fault *fault)
{
	struct webhook_delivery delivery;
	bool has;

	if (!webhook_delivery_read(subject->record, &delivery, fault) ||
	    !has_webhook(subject, &subject->record->parent, &has, fault))
		return false;
	if (subject->record->is_on != (delivery.state == DELIVERY_PENDING))
		found(subject, "its switch is not as its state");
	return has || found(subject, "its webhook is missing");
}

static bool check_webhook_account(const struct subject *subject, struct fault *fault)
{
	struct webhook_account account;

	return webhook_account_read(subject->record, &account, fault);
}

/* ---- any record ---- */

/* Of no account: what the whole installation has once. */
static bool is_of_none(const struct subject *subject)
{
	return subject->kind == &kind_queue || subject->kind == &kind_lease ||
	       subject->kind == &kind_webhook_account;
}

static void check_account(const struct subject *subject)
{
	struct record_findings *findings = subject->findings;
	const char *account = subject->call->account_text;

	/* Words stay when their account is deleted. */
	if (findings->roster == NULL || subject->kind == &kind_words || is_of_none(subject) ||
	    roster_by_id(findings->roster, &subject->record->account) != NULL)
		return;
	if (findings->unknown_accounts == NULL)
		findings->unknown_accounts = json_object();
	if (json_object_get(findings->unknown_accounts, account) != NULL)
		return;
	object_put(findings->unknown_accounts, account, json_true());
	findings->tell(findings, "account", account,
		       "the accounts file does not have this account; if a load was cut off, "
		       "anteroom load removes its records");
}

static const struct {
	const struct store_kind *kind;
	bool (*check)(const struct subject *subject, struct fault *fault);
} checks[] = {
	{ &kind_default, check_default },
	{ &kind_template, check_template },
	{ &kind_role, check_role },
	{ &kind_room, check_room },
	{ &kind_codes, check_codes },
	{ &kind_code, check_code },
	{ &kind_words, check_words },
	{ &kind_words_asked, check_words_asked },
	{ &kind_kept_answer, check_kept_answer },
	{ &kind_kept_usage, check_kept_usage },
	{ &kind_media, check_media },
	{ &kind_key, check_key },
	{ &kind_keys, check_keys },
	{ &kind_garbage, check_garbage },
	{ &kind_entry, check_entry },
	{ &kind_audit, check_audit },
	{ &kind_queue, check_queue },
	{ &kind_webhooks, check_webhooks },
	{ &kind_webhook_position, check_webhook_position },
	{ &kind_webhook_delivery, check_webhook_delivery },
	{ &kind_webhook_account, check_webhook_account },
	{ &kind_room_times, check_room_times },
};

void record_check(struct survey *survey, const struct store_kind *kind,
		  const struct store_record *record, struct record_findings *findings)
{
	const struct subject subject = { &survey->call, kind, record, findings };
	struct fault fault = FAULT_INITIAL;

	survey_of_account(survey, &record->account);
	check_account(&subject);
	for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
		if (checks[i].kind == kind &&
		    !packed_sound(&survey->call, checks[i].check(&subject, &fault), &fault))
			found(&subject, "%s", fault_reason(&fault));
	}
	survey_forget(survey);
}
