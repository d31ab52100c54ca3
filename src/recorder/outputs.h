/* The outputs of an external stream: the addresses of RTMP to which ffmpeg's FLV goes, each by
 * processes of its own (delivery/stream_sender.h).
 *
 * Each output has its own queue. One that does not take its stream fast enough loses what waits, up
 * to the next key frame; one that takes nothing for a while, or ends, begins again after 1, 3, 10,
 * and then each 30 s, until it was without a connection for too long. So none delays another, or
 * the recording.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RECORDER_OUTPUTS_H
#define RECORDER_OUTPUTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"
#include "delivery/address.h"
#include "delivery/stream_sender.h"
#include "recorder/children.h"
#include "recorder/contract.h"

struct flv_tag;

/* What is sent first on each connection: metadata, header of the picture, that of the sound. */
#define FLV_HEADERS 3

/* An FLV file as it comes. The time goes on from one file to the next. */
struct flv {
	char *bytes; /* that are no whole tag yet */
	size_t size, capacity;
	bool has_begun; /* behind the header of the file */
	struct flv_tag *headers[FLV_HEADERS];
	int64_t offset_ms; /* from the times of the file to those that are sent */
	int64_t last_ms, last_at; /* of the newest tag: what is sent, and when (clock_monotonic) */
	bool has_video;
};

struct output {
	char url[STREAM_URL_MOST + 1];
	struct output_news news;
	struct child child;
	struct tail says;
	int input; /* -1 if there is no process */
	bool is_live, wants_key; /* the next tag that is sent is a key frame */
	int64_t base_ms; /* of the first tag of this connection, whose time is 0; -1 before it */
	int64_t began_at, moved_at, without_since, next_at;
	unsigned failures;
	struct flv_tag *first, *last; /* that wait */
	size_t waiting, sent; /* bytes of them, and of the first one that are sent */
};

struct outputs {
	struct output all[OUTPUTS_MOST];
	size_t count;
	int64_t give_up_ms;
	const struct address_ranges *ranges;
	struct flv flv;
	bool is_flowing; /* there is media */
};

/* Takes the addresses. now: time of the service's clock. */
void outputs_open(struct outputs *outputs, const json_t *order, const struct address_ranges *ranges,
		  int64_t now);
void outputs_close(struct children *children, struct outputs *outputs);

/* A file begins, or the last one has ended. */
void outputs_begin(struct outputs *outputs);
void outputs_pause(struct outputs *outputs);
/* Takes what ffmpeg writes. Returns false if it is not FLV. */
bool outputs_take(struct outputs *outputs, struct slice bytes);

/* Connects, sends, and ends what hangs. Returns whether a state has changed. now: as above. */
bool outputs_step(struct children *children, struct outputs *outputs, int64_t now);
/* Ends the connections as soon as all has been sent. Returns whether all have ended. */
bool outputs_finish(struct outputs *outputs);
/* Ends all connections. With `is_over`, their states stay; else they begin again at the next step.
 */
void outputs_hold(struct children *children, struct outputs *outputs, bool is_over);
/* Adds the descriptors that are readable when there may be a step. Returns their number. */
size_t outputs_descriptors(const struct outputs *outputs, int descriptors[OUTPUTS_MOST]);

/* Writes an address without its key: what is behind the last slash of its path. */
void outputs_mask(const char *url, char masked[STREAM_URL_MOST + 1]);

#endif
