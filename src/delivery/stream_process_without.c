/* See delivery/stream_sender.h: a build without librtmp sends no streams.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "delivery/stream_sender.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool stream_sender_is_built(void)
{
	return false;
}

bool stream_sender_is_asked_for(int argc, char **argv)
{
	return argc == 2 && strcmp(argv[1], STREAM_SENDER) == 0;
}

int stream_sender_run(void)
{
	puts("this build has no librtmp");
	return EXIT_FAILURE;
}
