/* Links to the files of recordings, which need no token. In a link to the folder of the service,
 * the signature is made with a key that follows from the secret of the account: the service checks
 * it and names the file to the web server, which sends it. A link to object storage is one of its
 * own, signed with the credentials that the room or its template has (recording_storage.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_RECORDINGS_RECORDING_FILES_H
#define RESOURCES_RECORDINGS_RECORDING_FILES_H

#include "resources/stored/job_record.h"

/* Sets *url to a link that is valid for so many seconds. is_inline: browsers show the file instead
 * of saving it. Data NULL if the account does not exist any more, or nobody has the credentials. */
bool recording_link(struct call *call, const struct asset *asset, int64_t seconds, bool is_inline,
		    struct slice *url, struct fault *fault);

/* Answers with a link as the query wants it (presigned_url_query in rules/start_rules.h). */
bool recording_answer_link(struct call *call, const struct asset *asset, struct fault *fault);

/* Finds the file of an asset in the folder of the service. Returns false if it is not there. */
bool recording_file_is_there(const struct call *call, const struct asset *asset);

#endif
