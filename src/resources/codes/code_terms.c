/* See resources/codes/code_terms.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/codes/code_terms.h"

#include "base/text.h"
#include "resources/stored.h"

#define LIMITS ((unsigned)(CODE_NOT_BEFORE | CODE_EXPIRES_AT | CODE_MAX_USES))

static bool has(const struct code_terms *terms, enum code_term term)
{
	return (terms->set & term) != 0;
}

/* ---- in a response ---- */

void code_terms_write(struct call *call, const struct code *code, const struct shown_code *shown,
		      struct json_writer *text)
{
	const struct code_terms *terms = &code->terms;

	if (has(terms, CODE_NOT_BEFORE))
		writer_time(text, "not_before", terms->not_before * 1000);
	if (has(terms, CODE_EXPIRES_AT))
		writer_time(text, "expires_at", terms->expires_at * 1000);
	if (has(terms, CODE_MAX_USES)) {
		writer_integer(text, "max_uses", terms->max_uses);
		writer_integer(text, "uses", terms->uses);
	}
	if (has(terms, CODE_USER_ID))
		writer_text(text, "user_id", terms->user_id);
	if (has(terms, CODE_NAME))
		writer_text(text, "name", terms->name);
	if (has(terms, CODE_LABEL))
		writer_text(text, "label", terms->label);
	if (has(terms, CODE_METADATA))
		writer_json(text, "metadata", terms->metadata);
	if (terms->admission != ADMISSION_OF_ROLE)
		writer_plain(text, "admission", slice_of(admission_names[terms->admission]));
	if ((terms->set & LIMITS) != 0)
		writer_plain(text, "state", slice_of(code_state(code, shown, call->now)));
}

/* ---- as a document ---- */

json_t *code_terms_document(struct call *call, const struct code *code, bool is_enabled)
{
	const struct code_terms *terms = &code->terms;
	json_t *document = arena_json(call->arena, json_object());

	object_put(document, "enabled", json_boolean(is_enabled));
	if (has(terms, CODE_NOT_BEFORE))
		object_put(document, "not_before", json_time_seconds(terms->not_before * 1000));
	if (has(terms, CODE_EXPIRES_AT))
		object_put(document, "expires_at", json_time_seconds(terms->expires_at * 1000));
	if (has(terms, CODE_MAX_USES))
		object_put(document, "max_uses", json_integer(terms->max_uses));
	if (has(terms, CODE_USER_ID))
		object_put(document, "user_id", json_of_text(terms->user_id));
	if (has(terms, CODE_NAME))
		object_put(document, "name", json_of_text(terms->name));
	if (has(terms, CODE_LABEL))
		object_put(document, "label", json_of_text(terms->label));
	if (has(terms, CODE_METADATA))
		json_object_set(
			document, "metadata",
			stored_json(call, terms->metadata, "code of the room", &code->room));
	if (terms->admission != ADMISSION_OF_ROLE)
		object_put(document, "admission", json_string(admission_names[terms->admission]));
	return document;
}

/* ---- from a document ---- */

static void read_time_term(const json_t *document, const char *name, enum code_term term,
			   struct code_terms *terms, int64_t *seconds)
{
	const struct slice text = text_of_json(json_object_get(document, name));

	if (text_time_parse_seconds(text, seconds))
		terms->set |= term;
}

static void read_text_term(const json_t *document, const char *name, enum code_term term,
			   struct code_terms *terms, struct slice *value)
{
	const struct slice text = text_of_json(json_object_get(document, name));

	if (text.data == NULL)
		return;
	terms->set |= term;
	*value = text;
}

void code_terms_read(struct call *call, const json_t *document, struct code_terms *terms)
{
	const struct code_terms former = *terms;
	const json_t *expires_in = json_object_get(document, "expires_in");
	const json_t *max_uses = json_object_get(document, "max_uses");
	const json_t *metadata = json_object_get(document, "metadata");
	const struct slice admission = text_of_json(json_object_get(document, "admission"));

	*terms = (struct code_terms){ .set = 0 };
	read_time_term(document, "not_before", CODE_NOT_BEFORE, terms, &terms->not_before);
	read_time_term(document, "expires_at", CODE_EXPIRES_AT, terms, &terms->expires_at);
	if (expires_in != NULL) {
		terms->set |= CODE_EXPIRES_AT;
		terms->expires_at = call->now / 1000 + json_integer_value(expires_in);
	}
	if (max_uses != NULL) {
		terms->set |= CODE_MAX_USES;
		terms->max_uses = (uint32_t)json_integer_value(max_uses);
		terms->uses = former.uses;
		terms->last_use = former.last_use;
		terms->last_user = former.last_user;
		terms->last_repeats = former.last_repeats;
	}
	read_text_term(document, "user_id", CODE_USER_ID, terms, &terms->user_id);
	read_text_term(document, "name", CODE_NAME, terms, &terms->name);
	read_text_term(document, "label", CODE_LABEL, terms, &terms->label);
	if (metadata != NULL) {
		terms->set |= CODE_METADATA;
		terms->metadata = json_as_text(call->arena, metadata);
	}
	if (admission.data != NULL) {
		terms->set |= CODE_DOOR;
		terms->admission = slice_is(admission, "ask") ? ADMISSION_ASK : ADMISSION_OPEN;
	}
	if (id_compare(&former.asks_in, &kind_only_id) != 0) {
		terms->set |= CODE_DOOR;
		terms->asks_in = former.asks_in;
	}
}
