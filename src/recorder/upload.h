/* Sends finished files to the object storage for which the service has signed addresses (`put` of a
 * response), by a process of its own (delivery/sender.h), which starts with the first file, or at
 * once if it has further authorities, because their file may be missing. At most four files are on
 * their way at a time, and one of an account. A file that did not arrive is sent again from its
 * beginning, at first soon, then once an hour, as long as the service wants it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RECORDER_UPLOAD_H
#define RECORDER_UPLOAD_H

#include "recorder/work.h"

struct uploads;

/* Fails with FAULT_UNAVAILABLE and a cause if the file of further authorities cannot be read. */
bool uploads_open(const struct recorder_options *options, struct uploads **uploads,
		  struct fault *fault);
/* What is on its way is lost. NULL is allowed. */
void uploads_close(struct uploads *uploads);

/* Begins what can be sent of the works, takes what came of the others, and asks for addresses when
 * it is time. */
void uploads_step(struct uploads *uploads, struct work_stand *stand, struct work *first);
/* Returns a descriptor that is readable when there may be a step, or -1. */
int uploads_descriptor(const struct uploads *uploads);

#endif
