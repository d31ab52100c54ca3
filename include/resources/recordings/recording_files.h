/* Links to the files of recordings, which need no token: the signature in them is made with a key
 * that follows from the secret of the account. The service checks a link and names the file to the
 * web server, which sends it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_RECORDINGS_RECORDING_FILES_H
#define RESOURCES_RECORDINGS_RECORDING_FILES_H

#include "resources/stored/job_record.h"

/* Returns the URL of a link that is valid until `expires` (seconds since 1970). is_inline: browsers
 * show the file instead of saving it. Data NULL if the account does not exist any more. */
struct slice recording_link(struct call *call, const struct asset *asset, int64_t expires,
			    bool is_inline);

/* Answers with a link as the query wants it (presigned_url_query in rules/start_rules.h). */
bool recording_answer_link(struct call *call, const struct asset *asset, struct fault *fault);

/* Finds the file of an asset in the folder of the service. Returns false if it is not there. */
bool recording_file_is_there(const struct call *call, const struct asset *asset);

#endif
