/* The bodies and queries of the calls that start recordings and streams and read them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RULES_START_RULES_H
#define RULES_START_RULES_H

#include "rules/text_rules.h"

/* Sizes of a picture, in pixels: of one that is at least as wide as it is high, and of one that is
 * higher than wide. Sizes are even. */
#define PICTURE_WIDTH_LEAST 500
#define PICTURE_WIDTH_MOST 1920
#define PICTURE_HEIGHT_LEAST 480
#define PICTURE_HEIGHT_MOST 1080
#define UPRIGHT_LEAST 500
#define UPRIGHT_WIDTH_MOST 1080
#define UPRIGHT_HEIGHT_MOST 1920

/* How long a link to a recording is valid, in seconds. */
#define LINK_SECONDS_LEAST 60
#define LINK_SECONDS_MOST 604800
#define LINK_SECONDS_USUAL 259200

extern const struct shape recording_start_shape, live_start_shape, external_start_shape;
extern const struct shape recording_list_query, stream_list_query;
extern const struct shape recording_asset_list_query;
extern const struct shape presigned_url_query;
/* The query of a link. */
extern const struct shape recording_file_query;
/* A finished file that a call names by its path, and one that no record knows. */
extern const struct shape finished_file_shape, orphan_shape;
/* Most addresses of an external stream, and bytes of one. */
#define STREAM_ADDRESSES_MOST 5
#define STREAM_ADDRESS_SIZE_MOST 2048
/* An address to which a stream is sent: rtmp://HOST[:PORT]/APPLICATION/KEY, or rtmps. Slices are
 * borrowed from it. */
struct stream_address {
	struct slice host; /* an IPv6 address without its brackets */
	struct slice secret; /* all behind the last / of the path, with the query; may be empty */
};
/* Parses an address. Returns false if it breaks the rule (STREAM_ADDRESS_SENTENCE). */
#define STREAM_ADDRESS_SENTENCE \
	"must be an rtmp or rtmps URL of at most 2048 bytes with a host, without user info, blanks, " \
	"control characters, quotes and backslashes; a port is 1 to 65535"
bool stream_address_parse(struct slice text, struct stream_address *address);

/* The response of presigned-url. */
extern const struct shape presigned_url_shape;

#endif
