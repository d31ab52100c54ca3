/* See resources/access/keys.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/access/keys.h"

#include "base/text.h"
#include "accounts/scopes.h"
#include "resources/audit.h"
#include "resources/stored/key_record.h"
#include "records/kinds.h"
#include "resources/lists.h"
#include "resources/route.h"
#include "rules/key_rules.h"

/* ---- the body, and what its sender may give ---- */

/* Returns the time in seconds since 1970, or 0 if the API key never expires. */
static int64_t key_expiry(const json_t *document)
{
	const struct slice text = text_of_json(json_object_get(document, "expires_at"));
	int64_t seconds;

	return text_time_parse_seconds(text, &seconds) ? seconds : 0;
}

/* A limited caller cannot give scopes that it lacks, nor create an API key that outlives it. */
static bool check_gift(const struct call *call, const json_t *body, struct fault *fault)
{
	const struct actor *actor = &call->actor;
	const bool gives_expiry = call->route->body_kind != BODY_PATCH ||
				  json_object_get(body, "expires_at") != NULL;
	const int64_t expires_at = key_expiry(body);

	if (!actor->is_limited)
		return true;
	if (!actor_may(actor, scopes_of_list(json_object_get(body, "scopes")), fault))
		return false;
	if (!gives_expiry || actor->gives_until == 0 ||
	    (expires_at != 0 && expires_at <= actor->gives_until))
		return true;
	fault_explain(fault, FAULT_FORBIDDEN, "Insufficient scope", "needs an earlier expires_at");
	fault->scope = scope_names[SCOPE_KEYS_WRITE];
	return false;
}

bool keys_check(struct call *call, json_t *body, bool is_strict, struct fault *fault)
{
	struct findings *findings = &call->findings;
	struct fault of_table = FAULT_INITIAL;
	struct slice expiry;
	int64_t seconds;

	findings_keep_order(findings, body);
	(void)schema_check(call->route->body, body, route_mode(call->route), is_strict, findings,
			   &of_table);
	expiry = text_of_json(json_object_get(body, "expires_at"));
	/* A malformed time is a finding of the table. */
	if (text_time_parse_seconds(expiry, &seconds) &&
	    seconds <= clock_now(call->environment->clock) / 1000)
		findings_add(findings, "/expires_at", "must be in the future");
	return findings_result(findings, fault) && check_gift(call, body, fault);
}

/* ---- documents ---- */

json_t *key_document(struct call *call, const struct api_key *key)
{
	json_t *document = arena_json(call->arena, json_object());

	object_put(document, "name", json_of_text(key->name));
	object_put(document, "scopes", scopes_list(key->scopes));
	if (key->expires_at != 0)
		object_put(document, "expires_at", json_time_seconds(key->expires_at * 1000));
	return document;
}

/* secret: the text of the API key, or NULL. */
static struct slice api_key_text(struct call *call, const struct api_key *key, const char *secret)
{
	json_t *document = key_document(call, key);

	object_put(document, "id", json_of_text(id_as_text(call->arena, &key->id)));
	object_put(document, "created_at", json_time_seconds(key->created));
	if (secret != NULL)
		object_put(document, "key", json_string(secret));
	return document_as_text(call->arena, &made_key_shape, document, false);
}

/* Sets the members that a client sends. */
static void key_set(struct api_key *key, const json_t *document)
{
	key->name = text_of_json(json_object_get(document, "name"));
	key->scopes = scopes_of_list(json_object_get(document, "scopes"));
	key->expires_at = key_expiry(document);
}

/* changes: NULL if the API key was created or deleted. */
static void note_api_key(struct call *call, const char *type, const struct api_key *key,
			 struct changes *changes)
{
	const struct audit_data data = {
		.kind = "key",
		.id = id_as_text(call->arena, &key->id),
		.name = key->name,
		.changes = changes,
	};

	audit_note(call, type, &data);
}

/* ---- creating ---- */

bool keys_create(struct call *call, struct fault *fault)
{
	struct api_key key = { .created = call->now };
	struct api_keys keys;
	const char *text;

	if (!api_keys_load(call, STORE_TO_CHANGE, &keys, fault))
		return false;
	if (keys.count >= API_KEYS_MOST)
		return fault_set(fault, FAULT_CONFLICT, "Too many keys");
	key.id = call_new_id(call, &keys.newest, id_number(&keys.newest) + 1);
	key_set(&key, call->body);
	text = api_key_draw(call, &key);
	api_keys_count_added(&keys, &key);
	if (!api_keys_put(call, &keys, fault) || !api_key_put(call, &key, fault))
		return false;
	note_api_key(call, "key.created", &key, NULL);
	return call_keep_instead(call, api_key_text(call, &key, NULL)) &&
	       call_answer(call, api_key_text(call, &key, text));
}

/* ---- reading ---- */

static bool add_keys(struct list *list, const struct store_record *records, size_t n,
		     struct fault *fault)
{
	struct api_key key;

	for (size_t i = 0; i < n && !list_is_full(list); i++) {
		if (!record_read(&api_key_table, NULL, &records[i], &key, fault))
			return false;
		list_add_item(list, &key.id);
		call_part(list->call, api_key_text(list->call, &key, NULL));
	}
	return true;
}

static void prepare_keys(struct call *call)
{
	api_keys_set_page(&list_prepare(call, NULL)->page);
}

static const struct read reads_of_list[] = { READ_LIST(kind_key, list_first_page), READS_END };
const struct loading load_keys = { .prepare = prepare_keys, .reads = reads_of_list };

bool keys_list(struct call *call, struct fault *fault)
{
	list_open(call->list);
	return list_add_pages(call->list, &kind_key, add_keys, fault) &&
	       list_close(call->list, fault);
}

static bool load_of_path(struct call *call, const struct load *load, struct fault *fault)
{
	bool is_there;

	call->key = arena_alloc(call->arena, sizeof *call->key);
	return api_key_find(call->transaction, call->parameters[0], load_reading(call, load),
			    call->key, &is_there, fault) &&
	       ((is_there && id_compare(&call->key->stored.account, &call->account) == 0) ||
		fault_set(fault, FAULT_NOT_FOUND, "API key not found"));
}

static const struct read reads_of_path[] = {
	{ .kind = &kind_key, .finding = STORE_FIND_NAME, .from = READ_PATH },
	READS_END,
};
const struct loading load_key = { .load = load_of_path, .reads = reads_of_path };

bool keys_get(struct call *call, struct fault *fault)
{
	(void)fault;
	return call_answer(call, api_key_text(call, call->key, NULL));
}

/* ---- changing ---- */

/* Sets FAULT_FORBIDDEN if the API key has scopes beyond the caller's. */
static bool check_scopes(const struct call *call, struct fault *fault)
{
	return !call->actor.is_limited || actor_may(&call->actor, call->key->scopes, fault);
}

bool keys_patch(struct call *call, struct fault *fault)
{
	struct changes changes = CHANGES_INITIAL(call->arena);
	struct api_key *key = call->key;
	json_t *former, *document;

	if (!check_scopes(call, fault))
		return false;
	former = key_document(call, key);
	document = key_document(call, key);
	document_merge(&key_shape, document, call->body);
	if (!document_finish(&key_shape, document, &call->findings, fault))
		return false;
	key_set(key, document);
	changes_find(&changes, SLICE(""), former, key_document(call, key), NULL);
	note_api_key(call, "key.updated", key, &changes);
	return api_key_put(call, key, fault) && call_answer(call, api_key_text(call, key, NULL));
}

bool keys_delete(struct call *call, struct fault *fault)
{
	struct api_keys keys;

	if (!check_scopes(call, fault) || !api_keys_load(call, STORE_TO_CHANGE, &keys, fault))
		return false;
	keys.count--;
	note_api_key(call, "key.deleted", call->key, NULL);
	return api_keys_put(call, &keys, fault) &&
	       store_remove(call->transaction, &kind_key, &call->key->stored, fault) &&
	       call_answer_nothing(call);
}
