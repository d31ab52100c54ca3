/* Handlers of backends, the media servers (anteroom-api(7)).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_BACKENDS_BACKENDS_H
#define RESOURCES_BACKENDS_BACKENDS_H

#include "resources/stored/media_record.h"

/* The backend of the path with the record that it is in, as call->backend and call->media. */
extern const struct loading load_backend;

handler backends_create;
handler backends_list;
handler backends_get;
handler backends_replace;
handler backends_patch;
handler backends_delete;
/* Ask the media server whether it answers (resources/asking.h). */
handler backends_test;
handler backends_settle_test;
/* Has the rooms of a backend that drains moved to others of its pool. */
handler backends_move;

/* Returns the backend as a document that may be changed: as it could be sent, with its secrets. */
json_t *backend_document(struct call *call, const struct backend *backend);

#endif
