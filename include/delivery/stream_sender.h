/* The process that sends a stream to an address of RTMP: this program again, which a recorder
 * starts for each connection.
 *
 * Like the other senders it reads responses from strangers, so it has nothing of the recorder but
 * two pipes, and gives up every right that it does not need. It resolves the name, connects to the
 * first address that is public or in one of the ranges (delivery/address.h), speaks RTMP, for rtmps
 * behind TLS whose certificate it verifies, and ends with its connection.
 *
 *   descriptor 0   a struct stream_target, then the tags of an FLV file, each with its size behind
 *                  it: the metadata first, then the headers of sound and picture
 *   descriptor 1   "live\n" once the server takes the stream; later the reason for the end, a line
 *
 * The address has the key of a stream, so it is in no argument, environment or message.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef DELIVERY_STREAM_SENDER_H
#define DELIVERY_STREAM_SENDER_H

#include <stdbool.h>

#include "delivery/address.h"

/* The only argument with which the program becomes this process. */
#define STREAM_SENDER "stream-sender"
#define STREAM_LIVE "live"
#define STREAM_NOT_ALLOWED "address not allowed"

#define STREAM_URL_MOST 2048
/* A tag is never larger: its size has 24 bits, behind a header of 11 bytes and before its size. */
#define FLV_HEADER_SIZE 11
#define FLV_TRAILER_SIZE 4
#define FLV_TAG_MOST (FLV_HEADER_SIZE + (1 << 24) + FLV_TRAILER_SIZE)

struct stream_target {
	char url[STREAM_URL_MOST + 1]; /* rtmp://HOST[:PORT]/APPLICATION/KEY, or rtmps */
	struct address_ranges ranges; /* allowed besides public addresses */
};

/* Returns whether this build has librtmp. */
bool stream_sender_is_built(void);

bool stream_sender_is_asked_for(int argc, char **argv);
/* The whole life of the process. Returns the status with which it ends. */
int stream_sender_run(void);

#endif
