/* What the disk can do: so many writers append records to a bare file, each waits until its own
 * record is durable, and one sync serves all that wait. Prints records per second.
 *
 *     disk DIR WRITERS BYTES SECONDS
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "crowd.h"

#define BYTES_MOST ((int64_t)1 << 20)
#define SECONDS_MOST 3600

static bool number_of(const char *text, int64_t most, int64_t *number)
{
	return text_integer(slice_of(text), number) && *number > 0 && *number <= most;
}

int main(int argc, char **argv)
{
	int64_t writers, bytes, seconds;
	struct target *bare;

	if (argc != 5 || !number_of(argv[2], WRITERS_MOST, &writers) ||
	    !number_of(argv[3], BYTES_MOST, &bytes) ||
	    !number_of(argv[4], SECONDS_MOST, &seconds)) {
		fprintf(stderr, "usage: disk DIR WRITERS BYTES SECONDS (at most %d, %d, %d)\n",
			WRITERS_MOST, (int)BYTES_MOST, SECONDS_MOST);
		return EXIT_FAILURE;
	}
	bare = bare_open(argv[1], (size_t)bytes);
	printf("%.0f\n", crowd_run(bare, (unsigned)writers, seconds * 1000, NULL));
	bare_close(bare);
	return EXIT_SUCCESS;
}
