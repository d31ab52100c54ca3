/* What moderators have taken from the people in a room until the session closes: their sound, or
 * their cameras. A hold is of all people, or of those with a role; people whose role may mute
 * others are never held. The record of the room in session has the holds (struct hold).
 *
 * Who is held has neither the source in a token nor the right to publish it at the media server:
 * whatever reads what a role may do (media_read_role) takes off what is held. The rules see to it
 * for people inside (live_enforcement.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_LIVE_LIVE_HOLDS_H
#define RESOURCES_LIVE_LIVE_HOLDS_H

#include "base/json_writer.h"
#include "resources/stored/live_record.h"
#include "resources/stored/template_record.h"

/* Returns the sources that are held for people with a role, a set of 1 << enum held_source. role:
 * its index in the template, which is not read if there are no holds. document: of the role. */
unsigned live_held(const struct live *live, const struct template_record *template, size_t role,
		   const json_t *document);
/* Holds a source, or frees it: of a role, or of all if role.data is NULL. The caller stores `live`.
 * Returns false if nothing has changed. */
bool live_hold(struct call *call, struct live *live, const struct template_record *template,
	       enum held_source source, struct slice role, bool holds);
/* Writes the holds in force, in an array that is open. A source that is held of all but some roles
 * is written once for each role of which it is held. */
void live_holds_write(struct call *call, const struct live *live,
		      const struct template_record *template, struct json_writer *body);

#endif
