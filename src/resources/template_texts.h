/* The texts of the parts of a template, made of their documents alone: the shown members and the
 * hidden ones. They need no stored data, so those of a new template are made before its
 * transaction. The texts are in the call's arena.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_TEMPLATE_TEXTS_H
#define RESOURCES_TEMPLATE_TEXTS_H

#include "resources/call.h"

struct part_text {
	struct slice shown, hidden; /* JSON: the answered members, and the others */
};

struct settings_text {
	struct slice shown, hidden;
	struct slice echo, region, recording; /* as in struct template_record */
};

struct role_text {
	struct slice name, text;
};

struct template_texts {
	struct settings_text settings;
	struct part_text destinations;
	struct role_text *roles; /* the arena's */
	size_t role_count;
};

/* Whether settings as they were sent have credentials, which only that answer shows. NULL: no. */
bool settings_have_credentials(const json_t *settings);
/* is_echoed: the credentials came with this request. */
struct settings_text settings_write(struct call *call, const json_t *settings, bool is_echoed);

struct part_text destinations_write(struct call *call, const json_t *destinations);

/* subscribeParams.subscribeToRoles of a role, or NULL. */
json_t *role_subscriptions(const json_t *role);
/* The role, or, where it does not say what it subscribes to, a copy that subscribes to `names`: all
 * roles that the template has after the request. */
const json_t *role_fill_subscriptions(struct call *call, const json_t *role, json_t *names);
struct slice role_write(struct call *call, const json_t *role, struct slice name);
/* All roles of a template, in their order; fills in what each subscribes to when it does not say. */
struct role_text *roles_write(struct call *call, const json_t *roles);

/* Whole documents. sent: the settings as the request supplied them, or NULL. */
struct template_texts template_write(struct call *call, const json_t *settings,
				     const json_t *destinations, const json_t *roles,
				     const json_t *sent);

#endif
