/* See resources/template_parts.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/template_parts.h"

#include <assert.h>

#include "base/text.h"
#include "resources/deleted_role.h"
#include "resources/packed.h"
#include "rules/destination_rules.h"
#include "rules/template_rules.h"

/* Sets a part and its hidden members; the ETag is replaced only when one of them changed. */
static void set_part(struct call *call, struct slice text, struct slice hidden, struct slice *part,
		     struct slice *hidden_part, uint64_t *etag)
{
	if (!slice_equal(*part, text) || !slice_equal(*hidden_part, hidden))
		*etag = call->etag;
	*part = text;
	*hidden_part = hidden;
}

static json_t *member_at(const json_t *document, const char *first, const char *second)
{
	return json_object_get(json_object_get(document, first), second);
}

/* ---- settings ---- */

/* "A body that has an upload with the stored type and location and no credentials keeps the stored
 * ones." */
static const json_t *keep_credentials(struct call *call, const struct template_record *record,
				      const json_t *settings)
{
	const json_t *upload = member_at(settings, "recording", "upload");
	const json_t *stored;
	json_t *credentials, *kept;

	if (upload == NULL || json_object_get(upload, "credentials") != NULL ||
	    record->hidden_settings.size == 0)
		return settings;
	stored = template_settings_document(call, record);
	stored = member_at(stored, "recording", "upload");
	credentials = json_object_get(stored, "credentials");
	if (credentials == NULL ||
	    !json_equal(json_object_get(stored, "type"), json_object_get(upload, "type")) ||
	    !json_equal(json_object_get(stored, "location"), json_object_get(upload, "location")))
		return settings;
	kept = call_copy(call, settings);
	json_object_set(call_copy_member(call_copy_member(kept, "recording"), "upload"),
			"credentials", credentials);
	return kept;
}

static void put_settings(struct call *call, struct template_record *record,
			 const struct settings_text *text)
{
	record->echo = text->echo;
	set_part(call, text->shown, text->hidden, &record->settings, &record->hidden_settings,
		 &record->settings_etag);
	record->region = text->region;
	if (!slice_equal(text->recording, record->recording))
		record->rooms_etag = call->etag;
	record->recording = text->recording;
}

void template_set_settings(struct call *call, struct template_record *record,
			   const json_t *settings, const json_t *sent, enum part_origin origin)
{
	const bool is_echoed = settings_have_credentials(sent);
	struct settings_text text;

	if (origin == PART_REPLACED)
		settings = keep_credentials(call, record, settings);
	text = settings_write(call, settings, is_echoed);
	put_settings(call, record, &text);
}

json_t *template_settings_document(struct call *call, const struct template_record *record)
{
	json_t *document = packed_json(call->arena, record->settings);

	document_unhide(&settings_shape, document,
			packed_json(call->arena, record->hidden_settings));
	return document;
}

/* ---- destinations ---- */

/* "browserRecordings.*.role not supplied for a stored destination of that name is kept." */
static const json_t *keep_recording_roles(struct call *call, const struct template_record *record,
					  const json_t *destinations)
{
	const json_t *stored;
	const char *name;
	json_t *recording, *kept = NULL, *recordings = NULL;

	if (record->hidden_destinations.size == 0)
		return destinations;
	stored = json_object_get(packed_json(call->arena, record->hidden_destinations),
				 "browserRecordings");
	json_object_foreach(json_object_get(destinations, "browserRecordings"), name, recording) {
		json_t *role = member_at(stored, name, "role");

		if (role == NULL || json_object_get(recording, "role") != NULL)
			continue;
		if (kept == NULL) {
			kept = call_copy(call, destinations);
			recordings = call_copy_member(kept, "browserRecordings");
		}
		json_object_set(call_copy_member(recordings, name), "role", role);
	}
	return kept == NULL ? destinations : kept;
}

static void put_destinations(struct call *call, struct template_record *record,
			     const struct part_text *text)
{
	set_part(call, text->shown, text->hidden, &record->destinations,
		 &record->hidden_destinations, &record->destinations_etag);
}

void template_set_destinations(struct call *call, struct template_record *record,
			       const json_t *destinations, const json_t *sent,
			       enum part_origin origin)
{
	struct part_text text;

	(void)sent; /* nothing of destinations is echoed */
	if (origin == PART_REPLACED)
		destinations = keep_recording_roles(call, record, destinations);
	text = destinations_write(call, destinations);
	put_destinations(call, record, &text);
}

void template_set_plugins(struct call *call, struct template_record *record, const json_t *plugins)
{
	struct buffer text = BUFFER_INITIAL(call->arena);

	if (plugins != NULL && !json_is_null(plugins))
		buffer_append_json(&text, plugins);
	record->plugins = buffer_slice(&text);
}

json_t *template_plugins_document(struct call *call, const struct template_record *record)
{
	return record->plugins.size == 0 ? NULL : packed_json(call->arena, record->plugins);
}

json_t *template_destinations_document(struct call *call, const struct template_record *record)
{
	json_t *document = packed_json(call->arena, record->destinations);

	document_unhide(&destinations_shape, document,
			packed_json(call->arena, record->hidden_destinations));
	return document;
}

/* ---- roles ---- */

size_t template_roles_most(void)
{
	const struct field *roles = shape_field(&template_shape, "roles");

	assert(roles != NULL && roles->most > 0);
	return roles->most;
}

json_t *template_role_document(struct call *call, const struct template_role *role)
{
	return packed_json(call->arena, role->text);
}

static size_t index_of_name(const json_t *names, struct slice name)
{
	size_t i = 0;

	while (i < json_array_size(names) &&
	       !slice_equal(text_of_json(json_array_get(names, i)), name))
		i++;
	return i;
}

/* Takes a name out of a list, or puts another in its place, unless that is in the list already.
 * Says whether the list changed. */
static bool replace_name(json_t *names, struct slice name, const struct slice *other)
{
	size_t i = index_of_name(names, name);

	if (i == json_array_size(names))
		return false;
	if (other == NULL || index_of_name(names, *other) < json_array_size(names))
		json_array_remove(names, i);
	else
		json_array_set_new(names, i, json_stringn(other->data, other->size));
	return true;
}

static void set_role_text(struct call *call, struct template_role *role, struct slice text)
{
	if (!slice_equal(role->text, text))
		role->etag = call->etag;
	role->text = text;
}

/* The same in every role of the record but the one at `index`. Roles that do not name it keep
 * their bytes. */
static void replace_name_in_others(struct call *call, struct template_record *record, size_t index,
				   struct slice name, const struct slice *other)
{
	for (size_t i = 0; i < record->role_count; i++) {
		struct template_role *role = &record->roles[i];
		json_t *document;

		if (i == index)
			continue;
		document = template_role_document(call, role);
		if (replace_name(role_subscriptions(document), name, other))
			set_role_text(call, role, role_write(call, document, role->name));
	}
}

static json_t *names_of_roles(struct call *call, const struct template_record *record)
{
	json_t *names = arena_json(call->arena, json_array());

	for (size_t i = 0; i < record->role_count; i++)
		json_array_append_new(names, json_stringn(record->roles[i].name.data,
							  record->roles[i].name.size));
	return names;
}

/* Roles with room for one more, so that a new one can be added in place. */
static void make_room_for_role(struct call *call, struct template_record *record)
{
	struct template_role *roles = arena_zero(call->arena,
						 (record->role_count + 1) * sizeof *roles);

	if (record->role_count > 0)
		memcpy(roles, record->roles, record->role_count * sizeof *roles);
	record->roles = roles;
}

/* The role with another name of its own in the list that it subscribes to. */
static const json_t *renamed_in_list(struct call *call, const json_t *role, struct slice former,
				     const struct slice *name)
{
	const json_t *names = role_subscriptions(role);
	json_t *renamed, *parameters;

	if (index_of_name(names, former) == json_array_size(names))
		return role;
	renamed = call_copy(call, role);
	parameters = call_copy_member(renamed, "subscribeParams");
	replace_name(call_copy_member(parameters, "subscribeToRoles"), former, name);
	return renamed;
}

void template_set_role(struct call *call, struct template_record *record, size_t index,
		       struct slice name, const json_t *document)
{
	struct template_role *role;
	struct slice former;

	if (index == record->role_count) {
		make_room_for_role(call, record);
		record->roles[index].identity = ++record->last_identity;
		record->roles[index].added = call->now;
		record->roles[index].name = name;
		record->role_count++;
	}
	role = &record->roles[index];
	former = role->name;
	role->name = arena_copy(call->arena, name);
	if (!slice_equal(former, name)) {
		replace_name_in_others(call, record, index, former, &role->name);
		/* Also in a list that was sent: a client reads the role, changes its name, and
		 * sends it back. */
		document = renamed_in_list(call, document, former, &role->name);
	}
	document = role_fill_subscriptions(call, document, names_of_roles(call, record));
	set_role_text(call, role, role_write(call, document, role->name));
}

bool template_remove_role(struct call *call, struct template_record *record, size_t index,
			  struct fault *fault)
{
	struct template_role gone = record->roles[index];

	if (!deleted_role_add(call, record, &gone, fault))
		return false;
	record->role_count--;
	memmove(&record->roles[index], &record->roles[index + 1],
		(record->role_count - index) * sizeof gone);
	replace_name_in_others(call, record, record->role_count, gone.name, NULL);
	return deleted_roles_resolve(call, record, fault);
}

static void drop_gone_names(const json_t *document, const json_t *sent,
			    const struct template_record *former, const json_t *roles)
{
	if (role_subscriptions(sent) != NULL)
		return;
	for (size_t i = 0; i < former->role_count; i++) {
		struct slice name = former->roles[i].name;

		if (json_object_getn(roles, name.data, name.size) == NULL)
			replace_name(role_subscriptions(document), name, NULL);
	}
}

void template_drop_gone_roles(const struct template_record *record, json_t *roles,
			      const json_t *sent)
{
	const char *name;
	size_t length;
	json_t *document;

	json_object_keylen_foreach(roles, name, length, document)
		drop_gone_names(document, json_object_getn(sent, name, length), record, roles);
}

static bool delete_missing(struct call *call, struct template_record *record,
			   const struct template_record *former, const json_t *roles,
			   bool *are_missing, struct fault *fault)
{
	*are_missing = false;
	for (size_t i = 0; i < former->role_count; i++) {
		const struct template_role *role = &former->roles[i];

		if (json_object_getn(roles, role->name.data, role->name.size) != NULL)
			continue;
		*are_missing = true;
		if (!deleted_role_add(call, record, role, fault))
			return false;
	}
	return true;
}

/* "compare by role name: same name, the codes stay": the identity stays. */
static struct template_role role_named(struct template_record *record,
				       const struct template_record *former, struct slice name,
				       int64_t now)
{
	size_t i = template_role_index(former, name);

	if (i < former->role_count)
		return former->roles[i];
	return (struct template_role){
		.name = name,
		.identity = ++record->last_identity,
		.added = now,
	};
}

/* In place of those of `former`. */
static void put_roles(struct call *call, struct template_record *record,
		      const struct template_record *former, const struct role_text *texts, size_t n)
{
	record->roles = arena_zero(call->arena, (n + 1) * sizeof *record->roles);
	for (record->role_count = 0; record->role_count < n; record->role_count++) {
		const struct role_text *text = &texts[record->role_count];
		struct template_role *role = &record->roles[record->role_count];

		*role = role_named(record, former, text->name, call->now);
		set_role_text(call, role, text->text);
	}
}

bool template_set_roles(struct call *call, struct template_record *record, const json_t *roles,
			struct fault *fault)
{
	const struct template_record former = *record;
	bool are_missing;

	if (!delete_missing(call, record, &former, roles, &are_missing, fault))
		return false;
	put_roles(call, record, &former, roles_write(call, roles), json_object_size(roles));
	return !are_missing || deleted_roles_resolve(call, record, fault);
}

/* ---- a new template ---- */

void template_set_texts(struct call *call, struct template_record *record,
			const struct template_texts *texts)
{
	const struct template_record former = *record;

	put_settings(call, record, &texts->settings);
	put_destinations(call, record, &texts->destinations);
	put_roles(call, record, &former, texts->roles, texts->role_count);
}
