/* See resources/template_texts.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/template_texts.h"

#include "base/text.h"
#include "rules/destination_rules.h"
#include "rules/role_rules.h"
#include "rules/room_rules.h"
#include "rules/template_rules.h"

static struct slice written(struct call *call, const struct shape *shape, const json_t *document,
			    struct slice key, bool echo)
{
	struct buffer text = BUFFER_INITIAL(call->arena);

	document_write(shape, document, key, echo, &text);
	return buffer_slice(&text);
}

static struct slice hidden_text(struct call *call, const struct shape *shape,
				const json_t *document)
{
	struct buffer text = BUFFER_INITIAL(call->arena);

	buffer_append_json(&text, document_hidden(call->arena, shape, document));
	return buffer_slice(&text);
}

/* ---- settings ---- */

bool settings_have_credentials(const json_t *settings)
{
	const json_t *upload = json_object_get(json_object_get(settings, "recording"), "upload");

	return json_object_get(upload, "credentials") != NULL;
}

/* What rooms that follow their template show: the recording, with the names rooms have for it. */
static struct slice room_recording(struct call *call, const json_t *settings)
{
	const json_t *recording = json_object_get(settings, "recording");
	json_t *upload = json_object_get(recording, "upload");
	json_t *shown = arena_json(call->arena, json_object());

	if (json_object_get(recording, "enabled") != NULL)
		json_object_set(shown, "enabled", json_object_get(recording, "enabled"));
	if (upload != NULL)
		json_object_set(shown, "upload_info", upload);
	return written(call, &recording_info_shape, shown, (struct slice){ 0 }, false);
}

static struct slice region_of(const json_t *settings)
{
	const json_t *region = json_object_get(settings, "region");
	struct slice standard = slice_of(shape_field(&settings_shape, "region")->standard);

	if (region != NULL)
		return text_of_json(region);
	return (struct slice){ standard.data + 1, standard.size - 2 }; /* without its quotes */
}

struct settings_text settings_write(struct call *call, const json_t *settings, bool is_echoed)
{
	const struct slice no_key = { NULL, 0 };

	return (struct settings_text){
		.shown = written(call, &settings_shape, settings, no_key, false),
		.hidden = hidden_text(call, &settings_shape, settings),
		.echo = is_echoed ? written(call, &settings_shape, settings, no_key, true) : no_key,
		.region = region_of(settings),
		.recording = room_recording(call, settings),
	};
}

/* ---- destinations ---- */

struct part_text destinations_write(struct call *call, const json_t *destinations)
{
	return (struct part_text){
		.shown = written(call, &destinations_shape, destinations, (struct slice){ 0 },
				 false),
		.hidden = hidden_text(call, &destinations_shape, destinations),
	};
}

/* ---- roles ---- */

json_t *role_subscriptions(const json_t *role)
{
	return json_object_get(json_object_get(role, "subscribeParams"), "subscribeToRoles");
}

const json_t *role_fill_subscriptions(struct call *call, const json_t *role, json_t *names)
{
	json_t *filled;

	if (role_subscriptions(role) != NULL)
		return role;
	filled = call_copy(call, role);
	json_object_set(call_copy_member(filled, "subscribeParams"), "subscribeToRoles", names);
	return filled;
}

struct slice role_write(struct call *call, const json_t *role, struct slice name)
{
	return written(call, &role_shape, role, name, false);
}

struct role_text *roles_write(struct call *call, const json_t *roles)
{
	struct role_text *texts = arena_alloc(call->arena,
					      (json_object_size(roles) + 1) * sizeof *texts);
	json_t *names = arena_json(call->arena, json_array()), *document;
	const char *name;
	size_t length, n = 0;

	json_object_keylen_foreach(call_share(roles), name, length, document)
		json_array_append_new(names, json_stringn(name, length));
	json_object_keylen_foreach(call_share(roles), name, length, document)
	{
		struct slice key = arena_copy(call->arena, (struct slice){ name, length });

		texts[n++] = (struct role_text){
			.name = key,
			.text = role_write(call, role_fill_subscriptions(call, document, names),
					   key),
		};
	}
	return texts;
}

/* ---- all ---- */

struct template_texts template_write(struct call *call, const json_t *settings,
				     const json_t *destinations, const json_t *roles,
				     const json_t *sent)
{
	return (struct template_texts){
		.settings = settings_write(call, settings, settings_have_credentials(sent)),
		.destinations = destinations_write(call, destinations),
		.roles = roles_write(call, roles),
		.role_count = json_object_size(roles),
	};
}
