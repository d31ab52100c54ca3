/* The bodies and queries of the calls that start recordings and read them.
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

extern const struct shape recording_start_shape;
extern const struct shape recording_list_query;
extern const struct shape recording_asset_list_query;
extern const struct shape presigned_url_query;
/* The query of a link. */
extern const struct shape recording_file_query;
/* A finished file that a call names by its path, and one that no record knows. */
extern const struct shape finished_file_shape, orphan_shape;
/* The response of presigned-url. */
extern const struct shape presigned_url_shape;

#endif
