/* See accounts/scopes.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "accounts/scopes.h"

#include "base/text.h"

static const struct {
	unsigned scope, included;
} inclusions[] = {
	{ SCOPE_BIT(TEMPLATES_WRITE), SCOPE_BIT(TEMPLATES_READ) },
	{ SCOPE_BIT(ROOMS_WRITE), SCOPE_BIT(ROOMS_READ) },
	{ SCOPE_BIT(CODES_WRITE), SCOPE_BIT(CODES_READ) },
	{ SCOPE_BIT(WEBHOOKS_WRITE), SCOPE_BIT(EVENTS_READ) },
	{ SCOPE_BIT(LIVE_WRITE), SCOPE_BIT(LIVE_READ) },
	{ SCOPE_BIT(SESSIONS_WRITE), SCOPE_BIT(SESSIONS_READ) },
	{ SCOPE_BIT(BANS_WRITE), SCOPE_BIT(BANS_READ) },
	{ SCOPE_BIT(RECORDINGS_WRITE), SCOPE_BIT(RECORDINGS_READ) },
};

unsigned scopes_with_included(unsigned scopes)
{
	for (size_t i = 0; i < sizeof inclusions / sizeof inclusions[0]; i++) {
		if ((scopes & inclusions[i].scope) != 0)
			scopes |= inclusions[i].included;
	}
	return scopes;
}

const char *scopes_missing(unsigned held, unsigned needed)
{
	for (size_t i = 0; i < SCOPES; i++) {
		if ((needed & ~held & 1u << i) != 0)
			return scope_names[i];
	}
	return NULL;
}

/* Returns the bit of a scope, or 0 if there is no scope with this name. */
static unsigned scope_named(struct slice name)
{
	for (size_t i = 0; i < SCOPES; i++) {
		if (slice_is(name, scope_names[i]))
			return 1u << i;
	}
	return 0;
}

unsigned scopes_of_text(struct slice names)
{
	unsigned scopes = 0;

	while (names.size > 0)
		scopes |= scope_named(text_split(names, ' ', &names));
	return scopes;
}

unsigned scopes_of_list(const json_t *names)
{
	unsigned scopes = 0;

	for (size_t i = 0; i < json_array_size(names); i++)
		scopes |= scope_named(text_of_json(json_array_get(names, i)));
	return scopes;
}

struct slice scopes_text(struct arena *arena, unsigned scopes)
{
	struct buffer text = BUFFER_INITIAL(arena);

	for (size_t i = 0; i < SCOPES; i++) {
		if ((scopes & 1u << i) == 0)
			continue;
		if (text.size > 0)
			buffer_append_byte(&text, ' ');
		buffer_append_text(&text, scope_names[i]);
	}
	return buffer_slice(&text);
}

json_t *scopes_list(unsigned scopes)
{
	json_t *names = json_array();

	for (size_t i = 0; i < SCOPES; i++) {
		if ((scopes & 1u << i) != 0)
			array_put(names, json_string(scope_names[i]));
	}
	return names;
}
