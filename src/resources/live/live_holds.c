/* See resources/live/live_holds.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/live/live_holds.h"

#include <string.h>

#include "resources/media/media_join.h"
#include "resources/templates/template_parts.h"

/* The holds of one source, by role. */
struct source_holds {
	bool of_all;
	bool own[ROLES_MOST]; /* of the role alone */
	bool freed[ROLES_MOST]; /* of all but the role */
};

static bool hold_is_of(const struct hold *hold, const struct template_record *template, size_t role)
{
	return hold->role.size > 0 && template_role_index_ever(template, hold->role) == role;
}

unsigned live_held(const struct live *live, const struct template_record *template, size_t role,
		   const json_t *document)
{
	unsigned of_all = 0, own = 0, freed = 0;

	if (live->hold_count == 0 || media_permits(document, "mute"))
		return 0;
	for (size_t i = 0; i < live->hold_count; i++) {
		const struct hold *hold = &live->holds[i];
		const unsigned bit = 1U << hold->source;

		if (hold->role.size == 0)
			of_all |= bit;
		else if (hold_is_of(hold, template, role))
			*(hold->is_freed ? &freed : &own) |= bit;
	}
	return (of_all & ~freed) | own;
}

static struct source_holds read_source(const struct live *live,
				       const struct template_record *template,
				       enum held_source source)
{
	struct source_holds holds = { .of_all = false };

	for (size_t i = 0; i < live->hold_count; i++) {
		const struct hold *hold = &live->holds[i];
		size_t role;

		if (hold->source != source)
			continue;
		if (hold->role.size == 0) {
			holds.of_all = true;
			continue;
		}
		role = template_role_index_ever(template, hold->role);
		if (role < template->role_count && role < ROLES_MOST)
			*(hold->is_freed ? &holds.freed[role] : &holds.own[role]) = true;
	}
	return holds;
}

/* Replaces the holds of the source. */
static void write_source(struct call *call, struct live *live,
			 const struct template_record *template, enum held_source source,
			 const struct source_holds *holds)
{
	struct hold *written = arena_alloc(call->arena, HOLDS_MOST * sizeof *written);
	size_t n = 0;

	for (size_t i = 0; i < live->hold_count; i++) {
		if (live->holds[i].source != source)
			written[n++] = live->holds[i];
	}
	if (holds->of_all)
		written[n++] = (struct hold){ .source = source, .role = SLICE("") };
	for (size_t i = 0; i < template->role_count && i < ROLES_MOST; i++) {
		if (holds->of_all ? holds->freed[i] : holds->own[i])
			written[n++] = (struct hold){
				.source = source,
				.role = template->roles[i].name,
				.is_freed = holds->of_all,
			};
	}
	live->holds = written;
	live->hold_count = n;
}

static bool role_mutes(struct call *call, const struct template_record *template, size_t role)
{
	return media_permits(template_role_document(call, template, &template->roles[role]),
			     "mute");
}

/* Nobody is left who is held for all. */
static bool frees_all(struct call *call, const struct template_record *template,
		      const struct source_holds *holds)
{
	bool has_freed = false;

	for (size_t i = 0; i < template->role_count && i < ROLES_MOST; i++) {
		if (!holds->freed[i] && !role_mutes(call, template, i))
			return false;
		has_freed = has_freed || holds->freed[i];
	}
	return has_freed;
}

bool live_hold(struct call *call, struct live *live, const struct template_record *template,
	       enum held_source source, struct slice role, bool holds)
{
	const struct source_holds before = read_source(live, template, source);
	const size_t place = role.data == NULL ? 0 : template_role_index(template, role);
	struct source_holds after = before;

	if (role.data == NULL) {
		after = (struct source_holds){ .of_all = holds };
	} else if (place < ROLES_MOST && place < template->role_count) {
		const bool mutes = role_mutes(call, template, place);

		after.own[place] = holds && !after.of_all && !mutes;
		after.freed[place] = !holds && after.of_all && !mutes;
	}
	if (after.of_all && frees_all(call, template, &after))
		after = (struct source_holds){ .of_all = false };
	if (memcmp(&before, &after, sizeof before) == 0)
		return false;
	write_source(call, live, template, source, &after);
	return true;
}

static void write_hold(struct json_writer *body, enum held_source source, struct slice role)
{
	writer_open(body, NULL, '{');
	writer_plain(body, "type", slice_of(held_source_names[source]));
	if (role.size > 0)
		writer_text(body, "role", role);
	writer_close(body, '}');
}

void live_holds_write(struct call *call, const struct live *live,
		      const struct template_record *template, struct json_writer *body)
{
	for (enum held_source source = 0; source < HELD_SOURCES; source++) {
		const struct source_holds holds = read_source(live, template, source);
		bool has_freed = false;

		for (size_t i = 0; i < ROLES_MOST; i++)
			has_freed = has_freed || holds.freed[i];
		if (holds.of_all && !has_freed) {
			write_hold(body, source, SLICE(""));
			continue;
		}
		for (size_t i = 0; i < template->role_count && i < ROLES_MOST; i++) {
			if ((holds.of_all ? !holds.freed[i] : holds.own[i]) &&
			    !role_mutes(call, template, i))
				write_hold(body, source, template->roles[i].name);
		}
	}
}
