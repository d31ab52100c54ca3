/* The types of media servers; see media/type.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "media/type.h"

const char *const backend_type_names[] = {
	[BACKEND_LIVEKIT] = "livekit", [BACKEND_JITSI] = "jitsi",
	[BACKEND_GALENE] = "galene",   [BACKEND_BIGBLUEBUTTON] = "bigbluebutton",
	[BACKEND_JANUS] = "janus",     [BACKEND_JWT] = "jwt",
};

/* clang-format off */

/* A restriction that is true here is not enforced there. */
const struct media_type media_types[BACKEND_TYPES_COUNT] = {
	[BACKEND_LIVEKIT] = {
		livekit_write_access, &livekit_functions, .has_page = true,
		.part_of_roles = true, .peers = true, .gives_more = livekit_gives_room_admin,
	},
	[BACKEND_JITSI] = {
		jitsi_write_access, .has_page = true, .any_source = true, .any_guest = true,
		.part_of_roles = true, .all_roles = true, .peers = true, .moderation = true,
	},
	[BACKEND_GALENE] = {
		galene_write_access, .has_page = true, .any_source = true,
		.part_of_roles = true, .all_roles = true, .peers = true,
	},
	[BACKEND_BIGBLUEBUTTON] = {
		bigbluebutton_write_access, .has_page = true, .any_source = true, .any_guest = true,
		.part_of_roles = true, .all_roles = true, .peers = true, .expiry = true,
	},
	[BACKEND_JANUS] = {
		janus_write_access, .any_source = true, .any_guest = true,
		.part_of_roles = true, .all_roles = true, .peers = true,
	},
	[BACKEND_JWT] = { .write_access = jwt_write_access },
};

/* clang-format on */

const char *backend_type_name(enum backend_type type)
{
	return backend_type_names[type];
}

bool backend_has_page(enum backend_type type)
{
	return media_types[type].has_page;
}
