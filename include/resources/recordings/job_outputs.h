/* The addresses to which an external stream is sent. All behind the last / of the path of an
 * address is secret. The service shows an address masked, stores it sealed with a key of the
 * account, and erases that when the stream ends; in the clear it is only in the order of the
 * recorder.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_RECORDINGS_JOB_OUTPUTS_H
#define RESOURCES_RECORDINGS_JOB_OUTPUTS_H

#include "base/json_writer.h"
#include "resources/recordings/job_merge.h"

/* Returns an address without its secret part: rtmp://example.org/live/{abc...xyz}, or {...} in its
 * place if it has less than 12 characters. Lives in the arena. */
struct slice output_mask(struct arena *arena, struct slice url);
/* Judges an address that is written with numbers (127.1, 0x7f000001, [::1]): whether the recorder
 * may connect to it. True for a name, which is judged when the recorder connects. */
bool output_address_is_allowed(const struct call *call, struct slice url);

/* Fills the outputs of a job that starts. urls: an array of addresses that were checked. Returns
 * false if the account has no secret any more. */
bool job_outputs_fill(struct call *call, const json_t *urls, struct job *job);
/* Opens the addresses, in the arena. Returns false if one cannot be opened: the job has ended, or
 * the secret of the account is gone with whose key it was sealed. */
bool job_outputs_open(struct call *call, const struct job *job, struct slice *urls);
/* Returns a text of the recorder without the addresses and their secret parts. */
struct slice job_outputs_clean(struct call *call, const struct job *job, struct slice text);

/* Writes the members `rtmp_urls`, with these addresses (masked if NULL), and `outputs`. */
void job_outputs_write_urls(struct json_writer *body, const char *name, const struct job *job,
			    const struct slice *urls);
void job_outputs_write(struct json_writer *body, const struct job *job);

#endif
