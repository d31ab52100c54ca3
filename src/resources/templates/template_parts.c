/* See resources/templates/template_parts.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/templates/template_parts.h"

#include <assert.h>

#include "base/text.h"
#include "resources/codes/code_life.h"
#include "resources/route.h"
#include "resources/stored/deleted_role.h"
#include "resources/stored.h"
#include "rules/destination_rules.h"
#include "rules/role_rules.h"
#include "rules/room_rules.h"
#include "rules/template_rules.h"

static const struct {
	const char *name;
	const struct shape *shape;
} parts[PART_COUNT] = {
	[PART_SETTINGS] = { "settings", &settings_shape },
	[PART_DESTINATIONS] = { "destinations", &destinations_shape },
};

const struct shape *template_part_shape(enum template_part part)
{
	return parts[part].shape;
}

static json_t *inner_member(const json_t *document, const char *first, const char *second)
{
	return json_object_get(json_object_get(document, first), second);
}

/* ---- stored members that a new document keeps ---- */

struct slice upload_endpoint(const json_t *upload)
{
	const struct slice endpoint = text_of_json(inner_member(upload, "options", "endpoint"));

	return endpoint.data == NULL ? SLICE("") : endpoint;
}

bool upload_is_same(const json_t *one, const json_t *other)
{
	const struct slice endpoint = upload_endpoint(one), other_endpoint = upload_endpoint(other);

	return json_equal(json_object_get(one, "type"), json_object_get(other, "type")) &&
	       json_equal(json_object_get(one, "location"), json_object_get(other, "location")) &&
	       slice_equal(endpoint, other_endpoint);
}

json_t *upload_kept_credentials(const json_t *stored, const json_t *upload)
{
	if (upload == NULL || json_object_get(upload, "credentials") != NULL ||
	    !upload_is_same(stored, upload))
		return NULL;
	return json_object_get(stored, "credentials");
}

/* Browser recordings without a role keep the role of the stored browser recording of that name. */
static const json_t *keep_recording_roles(struct call *call, const json_t *stored,
					  const json_t *destinations)
{
	const json_t *former = json_object_get(stored, "browserRecordings");
	const char *name;
	json_t *recording, *kept = NULL, *recordings = NULL;

	json_object_foreach(json_object_get(destinations, "browserRecordings"), name, recording) {
		json_t *role = inner_member(former, name, "role");

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

static const json_t *keep_stored(struct call *call, const struct template_record *record,
				 enum template_part part, const json_t *document,
				 const json_t *sent, enum part_origin origin)
{
	const json_t *stored, *former_upload;
	json_t *upload = inner_member(document, "recording", "upload");
	json_t *credentials, *kept;

	if (record->parts[part].hidden.size == 0 || slice_is(record->parts[part].hidden, "{}"))
		return document;
	stored = template_part_document(call, record, part);
	if (part != PART_SETTINGS)
		return origin == PART_REPLACED ? keep_recording_roles(call, stored, document)
					       : document;

	former_upload = inner_member(stored, "recording", "upload");
	if (origin == PART_REPLACED) {
		credentials = upload_kept_credentials(former_upload, upload);
		if (credentials == NULL)
			return document;
		kept = call_copy(call, document);
		json_object_set(call_copy_member(call_copy_member(kept, "recording"), "upload"),
				"credentials", credentials);
		return kept;
	}

	/* If a patch changes the place of the upload without sending new credentials, the stored
	 * ones go: they belong to the former place. */
	if (json_object_get(inner_member(sent, "recording", "upload"), "credentials") == NULL &&
	    !upload_is_same(former_upload, upload))
		json_object_del(upload, "credentials");
	return document;
}

/* ---- settings and destinations ---- */

/* kept: the former rule. */
static struct recording_rules rules_of_settings(const json_t *settings,
						const struct keep_rule *kept)
{
	const json_t *rules = json_object_get(settings, "recordingRules");
	const struct slice word = text_of_json(json_object_get(rules, "consent"));
	struct recording_rules read = {
		.keep = *kept,
		.has_chat = json_is_true(json_object_get(rules, "chat")),
	};

	read.keep.days = (uint32_t)json_integer_value(json_object_get(rules, "keepDays"));
	for (int i = 0; i < RECORDING_CONSENTS; i++) {
		if (word.data != NULL && slice_is(word, recording_consent_names[i]))
			read.consent = (enum recording_consent)i;
	}
	return read;
}

/* Sets the members of the record that follow from the settings. */
static void follow_settings(struct call *call, struct template_record *record,
			    const json_t *settings, const json_t *sent)
{
	const json_t *recording = json_object_get(settings, "recording");
	json_t *upload = json_object_get(recording, "upload");
	json_t *shown = arena_json(call->arena, json_object());
	const struct slice standard = slice_of(shape_field(&settings_shape, "region")->standard);
	const json_t *region = json_object_get(settings, "region");
	struct slice recording_text;

	if (json_object_get(inner_member(sent, "recording", "upload"), "credentials") != NULL)
		record->echo = document_as_text(call->arena, &settings_shape, settings, true);
	/* The default is JSON: a text in quotes. */
	record->region = region != NULL ? text_of_json(region)
					: (struct slice){ standard.data + 1, standard.size - 2 };
	record->backend = text_of_json(json_object_get(settings, "backend"));
	record->has_agents = json_array_size(json_object_get(settings, "agents")) > 0;
	record->rules = rules_of_settings(settings, &record->rules.keep);

	/* As rooms that follow their template show it, with the member names of rooms. */
	if (json_object_get(recording, "enabled") != NULL)
		json_object_set(shown, "enabled", json_object_get(recording, "enabled"));
	if (upload != NULL)
		json_object_set(shown, "upload_info", upload);
	recording_text = document_as_text(call->arena, &recording_info_shape, shown, false);
	if (!slice_equal(recording_text, record->recording))
		record->rooms_etag = call->etag;
	record->recording = recording_text;
}

/* Adds a finding for each numPlaylistSegments above the usual maximum that is not stored already.
 * Requests other than an import cannot set them. */
static void check_segments(struct call *call, const struct template_record *record,
			   const json_t *document)
{
	static const char member[] = "numPlaylistSegments";
	const bool is_alone = call->route->body == &destinations_shape;
	const struct field *hls = shape_field(&destinations_shape, "hlsDestinations");
	const struct field *row = shape_field(hls->item->shape, member);
	const json_t *stored = NULL;
	const char *name;
	json_t *destination;

	json_object_foreach(json_object_get(document, hls->name), name, destination) {
		const json_t *sent = json_object_get(destination, member);

		if (json_integer_value(sent) <= row->usual)
			continue;
		if (stored == NULL && record->parts[PART_DESTINATIONS].text.size > 0)
			stored = template_part_document(call, record, PART_DESTINATIONS);
		if (json_equal(sent,
			       json_object_get(inner_member(stored, hls->name, name), member)))
			continue;
		findings_add(&call->findings,
			     arena_text(call->arena, "%s/%s/%s/%s", is_alone ? "" : "/destinations",
					hls->name, name, member),
			     "must be from %lld to %lld, got %lld", (long long)row->minimum,
			     (long long)row->usual, (long long)json_integer_value(sent));
	}
}

void template_set_part(struct call *call, struct template_record *record, enum template_part part,
		       const json_t *document, const json_t *sent, enum part_origin origin)
{
	const struct shape *shape = parts[part].shape;
	struct template_part_text *stored = &record->parts[part];
	struct slice text, hidden;

	if (part == PART_DESTINATIONS && sent != NULL && !call->is_part)
		check_segments(call, record, document);
	document = keep_stored(call, record, part, document, sent, origin);
	text = document_as_text(call->arena, shape, document, false);
	hidden = json_as_text(call->arena, document_hidden(call->arena, shape, document));
	if (!slice_equal(stored->text, text) || !slice_equal(stored->hidden, hidden))
		stored->etag = call->etag;
	stored->text = text;
	stored->hidden = hidden;
	if (part == PART_SETTINGS)
		follow_settings(call, record, document, sent);
}

json_t *template_part_document(struct call *call, const struct template_record *record,
			       enum template_part part)
{
	json_t *document = stored_json(call, record->parts[part].text, "template", &record->id);

	document_unhide(parts[part].shape, document,
			stored_json(call, record->parts[part].hidden, "template", &record->id));
	return document;
}

/* plugins: as they are stored; NULL or null if there are none. */
static void set_plugins(struct call *call, struct template_record *record, const json_t *plugins)
{
	record->plugins = plugins == NULL || json_is_null(plugins)
				  ? SLICE("")
				  : json_as_text(call->arena, plugins);
}

/* ---- the configuration of recordings ---- */

void template_set_recordings(struct call *call, struct template_record *record,
			     const json_t *document)
{
	const struct slice text = document == NULL
					  ? SLICE("")
					  : document_as_text(call->arena, &recording_config_shape,
							     document, false);

	if (!slice_equal(record->recordings, text))
		record->recordings_etag = call->etag;
	record->recordings = text;
}

json_t *template_recordings(struct call *call, const struct template_record *record)
{
	return record->recordings.size == 0
		       ? NULL
		       : stored_json(call, record->recordings, "template", &record->id);
}

bool template_has_recorded_role(const struct template_record *record, const json_t *document)
{
	const struct slice role = text_of_json(json_object_get(document, "role"));

	return document == NULL || template_role_index(record, role) < record->role_count;
}

/* ---- what a role subscribes to ---- */

/* Returns subscribeParams.subscribeToRoles of a role, or NULL. */
static json_t *role_subscriptions(const json_t *role)
{
	return inner_member(role, "subscribeParams", "subscribeToRoles");
}

/* Returns the role. If it does not say what it subscribes to, returns a copy that subscribes to
 * `names`: all roles of the template after the request. */
static const json_t *fill_subscriptions(struct call *call, const json_t *role, json_t *names)
{
	json_t *filled;

	if (role_subscriptions(role) != NULL)
		return role;
	filled = call_copy(call, role);
	json_object_set(call_copy_member(filled, "subscribeParams"), "subscribeToRoles", names);
	return filled;
}

/* ---- roles ---- */

size_t template_roles_most(void)
{
	const struct field *roles = shape_field(&template_shape, "roles");

	assert(roles != NULL && roles->most > 0);
	return roles->most;
}

json_t *template_role_document(struct call *call, const struct template_record *record,
			       const struct template_role *role)
{
	return stored_json(call, role->text, "template", &record->id);
}

static size_t index_of_name(const json_t *names, struct slice name)
{
	size_t i = 0;

	while (i < json_array_size(names) &&
	       !slice_equal(text_of_json(json_array_get(names, i)), name))
		i++;
	return i;
}

/* Removes a name from a list. If `other` is not NULL, puts that in its place, unless it is in the
 * list already. Returns whether the list changed. */
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

/* Replaces a name in `role` and in the lists of `permissions`. If `other` is NULL, removes it. */
static void replace_role(json_t *object, struct slice name, const struct slice *other)
{
	const json_t *role = json_object_get(object, "role");
	const char *unused;
	json_t *names;

	if (json_is_string(role) && slice_equal(text_of_json(role), name)) {
		if (other == NULL)
			json_object_del(object, "role");
		else
			json_object_set_new(object, "role", json_of_text(*other));
	}
	json_object_foreach(json_object_get(object, "permissions"), unused, names) {
		while (replace_name(names, name, other))
			;
	}
}

/* Does the same in an object that is stored as it was sent, and in the objects in it. */
static void replace_role_below(json_t *kept, struct slice name, const struct slice *other)
{
	const char *unused;
	json_t *member;

	replace_role(kept, name, other);
	json_object_foreach(kept, unused, member)
		replace_role(member, name, other);
}

/* A longer name may make it larger than a request could. */
static void check_kept_size(struct call *call, const json_t *kept, const char *what)
{
	const size_t size = kept == NULL ? 0 : json_as_text(call->arena, kept).size;

	if (size > KEPT_BYTES_MOST)
		findings_add(&call->findings, "/name",
			     "would make %s %zu bytes, more than the %zu allowed", what, size,
			     KEPT_BYTES_MOST);
}

/* Replaces a name wherever the template has it outside roles. If `other` is NULL, removes it. */
static void replace_name_in_parts(struct call *call, struct template_record *record,
				  struct slice name, const struct slice *other)
{
	json_t *destinations = template_part_document(call, record, PART_DESTINATIONS);
	json_t *transcriptions = json_object_get(destinations, "transcriptions");
	json_t *recordings = template_recordings(call, record), *plugins;

	replace_role_below(transcriptions, name, other);
	check_kept_size(call, transcriptions, "destinations.transcriptions");
	template_set_part(call, record, PART_DESTINATIONS, destinations, NULL, PART_MERGED);
	if (record->plugins.size > 0) {
		plugins = stored_json(call, record->plugins, "template", &record->id);
		replace_role_below(json_object_get(plugins, "whiteboard"), name, other);
		check_kept_size(call, plugins, "plugins");
		set_plugins(call, record, plugins);
	}
	replace_role(recordings, name, other);
	template_set_recordings(call, record,
				json_object_get(recordings, "role") != NULL ? recordings : NULL);
}

/* Sets the members of the role that follow from its document. */
static void follow_role(struct template_role *role, const json_t *document)
{
	role->asks = slice_is(text_of_json(json_object_get(document, "admission")), "ask");
}

static void set_role_text(struct call *call, struct template_role *role, const json_t *document)
{
	struct buffer text = BUFFER_INITIAL(call->arena);

	document_write(&role_shape, document, role->name, false, &text);
	if (!slice_equal(role->text, buffer_slice(&text)))
		role->etag = call->etag;
	role->text = buffer_slice(&text);
	follow_role(role, document);
}

/* Replaces a name in the subscriptions of all roles except the one at `index`. Roles whose
 * subscriptions do not contain the name keep their bytes. */
static void replace_name_in_others(struct call *call, struct template_record *record, size_t index,
				   struct slice name, const struct slice *other)
{
	for (size_t i = 0; i < record->role_count; i++) {
		struct template_role *role = &record->roles[i];
		json_t *document;

		if (i == index)
			continue;
		document = template_role_document(call, record, role);
		if (replace_name(role_subscriptions(document), name, other))
			set_role_text(call, role, document);
	}
}

/* Adds a name to the former ones. The oldest are forgotten. */
static struct slice add_former(struct arena *arena, struct slice name, struct slice former)
{
	struct buffer names = BUFFER_INITIAL(arena);

	buffer_append(&names, name);
	while (former.size > 0) {
		const struct slice next = text_split(former, '\n', &former);

		if (buffer_slice(&names).size + 1 + next.size > TEMPLATE_FORMER_MOST)
			break;
		buffer_append_byte(&names, '\n');
		buffer_append(&names, next);
	}
	return buffer_slice(&names);
}

void template_set_role(struct call *call, struct template_record *record, size_t index,
		       struct slice name, const json_t *document)
{
	json_t *names = arena_json(call->arena, json_array());
	struct template_role *role, *roles;
	json_t *subscribed, *renamed;
	struct slice former;

	if (index == record->role_count) {
		roles = arena_zero(call->arena, (record->role_count + 1) * sizeof *roles);
		if (record->role_count > 0)
			memcpy(roles, record->roles, record->role_count * sizeof *roles);
		record->roles = roles;
		record->roles[index].identity = ++record->last_identity;
		record->roles[index].added = call->now;
		record->roles[index].name = name;
		record->role_count++;
	}

	role = &record->roles[index];
	former = role->name;
	role->name = arena_copy(call->arena, name);
	if (!slice_equal(former, name)) {
		role->former = add_former(call->arena, former, role->former);
		replace_name_in_others(call, record, index, former, &role->name);
		replace_name_in_parts(call, record, former, &role->name);
		/* Also in a list that was sent: clients read the role, change its name and send it
		 * back. */
		subscribed = role_subscriptions(document);
		if (index_of_name(subscribed, former) < json_array_size(subscribed)) {
			renamed = call_copy(call, document);
			subscribed = call_copy_member(call_copy_member(renamed, "subscribeParams"),
						      "subscribeToRoles");
			replace_name(subscribed, former, &role->name);
			document = renamed;
		}
	}

	for (size_t i = 0; i < record->role_count; i++)
		array_put(names, json_of_text(record->roles[i].name));
	set_role_text(call, role, fill_subscriptions(call, document, names));
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
	replace_name_in_parts(call, record, gone.name, NULL);
	return codes_resolve_some(call, record, fault);
}

void template_drop_gone_roles(struct call *call, const struct template_record *record,
			      json_t *document, const json_t *sent)
{
	json_t *gone = arena_json(call->arena, json_object()), *role;
	json_t *roles = json_object_get(document, "roles");
	const char *name;
	size_t length;

	for (size_t i = 0; i < record->role_count; i++) {
		const struct slice former = record->roles[i].name;

		if (json_object_getn(roles, former.data, former.size) != NULL)
			continue;
		json_object_setn_new(gone, former.data, former.size, json_true());
		if (inner_member(sent, "destinations", "transcriptions") == NULL)
			replace_role_below(inner_member(document, "destinations", "transcriptions"),
					   former, NULL);
		if (json_object_get(sent, "plugins") == NULL)
			replace_role_below(inner_member(document, "plugins", "whiteboard"), former,
					   NULL);
	}
	if (json_object_size(gone) == 0)
		return;
	json_object_keylen_foreach(roles, name, length, role)
	{
		const json_t *own = json_object_getn(json_object_get(sent, "roles"), name, length);
		json_t *names = role_subscriptions(role);

		if (role_subscriptions(own) != NULL)
			continue;
		for (size_t i = json_array_size(names); i-- > 0;) {
			const struct slice of = text_of_json(json_array_get(names, i));

			if (json_object_getn(gone, of.data, of.size) != NULL)
				json_array_remove(names, i);
		}
	}
}

bool template_delete_gone(struct call *call, struct template_record *record,
			  const struct template_record *former, struct fault *fault)
{
	bool are_gone = false;

	for (size_t i = 0; i < former->role_count; i++) {
		const struct template_role *role = &former->roles[i];

		if (template_live_role(record, role->identity) != NULL)
			continue;
		are_gone = true;
		if (!deleted_role_add(call, record, role, fault))
			return false;
	}
	return !are_gone || codes_resolve_some(call, record, fault);
}

/* Builds the roles again; those of `former` keep their identities. */
static void put_roles(struct call *call, struct template_record *record,
		      const struct template_record *former, const json_t *roles)
{
	json_t *names = arena_json(call->arena, json_array()), *document;
	const char *name;
	size_t length;

	json_object_keylen_foreach(call_share(roles), name, length, document)
		array_put(names, json_stringn(name, length));
	record->roles = arena_zero(call->arena,
				   (json_object_size(roles) + 1) * sizeof *record->roles);
	record->role_count = 0;
	json_object_keylen_foreach(call_share(roles), name, length, document)
	{
		struct slice key = arena_copy(call->arena, (struct slice){ name, length });
		struct template_role *role = &record->roles[record->role_count++];
		const size_t i = template_role_index(former, key);

		/* A role that keeps its name keeps its identity, and so its codes. */
		if (i < former->role_count)
			*role = former->roles[i];
		else
			*role = (struct template_role){
				.name = key,
				.identity = ++record->last_identity,
				.added = call->now,
			};
		set_role_text(call, role, fill_subscriptions(call, document, names));
	}
	/* The configuration of recordings goes with the role that it names. */
	if (!template_has_recorded_role(record, template_recordings(call, record)))
		template_set_recordings(call, record, NULL);
}

/* ---- all ---- */

void template_set_supplied(struct call *call, struct template_record *record)
{
	const struct template_record former = *record;
	const json_t *plugins = call_member(call, "plugins"), *roles = call_member(call, "roles");

	/* First, because parts that were sent keep the names that they have. */
	for (size_t i = 0; roles != NULL && i < former.role_count; i++) {
		const struct slice name = former.roles[i].name;

		if (json_object_getn(roles, name.data, name.size) == NULL)
			replace_name_in_parts(call, record, name, NULL);
	}
	for (enum template_part part = 0; part < PART_COUNT; part++) {
		const json_t *document = call_member(call, parts[part].name);

		if (document != NULL)
			template_set_part(call, record, part, document, document, PART_REPLACED);
	}
	if (plugins != NULL)
		set_plugins(call, record, plugins);
	if (roles != NULL)
		put_roles(call, record, &former, roles);
}

void template_set_all(struct call *call, struct template_record *record, const json_t *document,
		      const json_t *sent, enum part_origin origin)
{
	const struct template_record former = *record;
	const json_t *none = arena_json(call->arena, json_object());
	const json_t *roles = json_object_get(document, "roles");

	for (enum template_part part = 0; part < PART_COUNT; part++) {
		const json_t *member = json_object_get(document, parts[part].name);

		template_set_part(call, record, part, member != NULL ? member : none,
				  json_object_get(sent, parts[part].name), origin);
	}
	set_plugins(call, record, json_object_get(document, "plugins"));
	if (origin == PART_REPLACED)
		template_set_recordings(call, record, NULL);
	put_roles(call, record, &former, roles != NULL ? roles : none);
}

void template_follow_parts(struct call *call, struct template_record *record)
{
	follow_settings(call, record, template_part_document(call, record, PART_SETTINGS), NULL);
	for (size_t i = 0; i < record->role_count; i++)
		follow_role(&record->roles[i],
			    template_role_document(call, record, &record->roles[i]));
}

json_t *template_document(struct call *call, const struct template_record *record)
{
	json_t *document = arena_json(call->arena, json_object());
	json_t *roles = json_object();

	object_put(document, "name", json_of_text(record->name));
	object_put(document, "roles", roles);
	for (size_t i = 0; i < record->role_count; i++)
		json_object_setn(roles, record->roles[i].name.data, record->roles[i].name.size,
				 template_role_document(call, record, &record->roles[i]));
	for (enum template_part part = 0; part < PART_COUNT; part++)
		json_object_set(document, parts[part].name,
				template_part_document(call, record, part));
	if (record->plugins.size > 0)
		json_object_set(document, "plugins",
				stored_json(call, record->plugins, "template", &record->id));
	return document;
}
