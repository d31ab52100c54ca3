/* Links in webhooks: the event of a file has one when it is sent, and never in the event log, which
 * keeps events for longer than a link may be valid.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_RECORDINGS_JOB_LINKS_H
#define RESOURCES_RECORDINGS_JOB_LINKS_H

#include "resources/call.h"

/* Returns true for the types of events that have links: beam.recording.success and
 * hls.recording.success. */
bool job_event_has_links(struct slice type);
/* Returns the data of an event of the call's account as a webhook gets it. For an event without
 * links, these are the same bytes. Links are empty without --public-url, or if the
 * file is gone. Reads one record. */
bool job_event_links(struct call *call, struct slice type, struct slice data, struct slice *linked,
		     struct fault *fault);

#endif
