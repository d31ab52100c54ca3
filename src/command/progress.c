/* See command/progress.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"

/* milliseconds */
#define SILENT 1000
#define PAUSE_TERMINAL 200
#define PAUSE_OTHERS 10000

#define ERASE_LINE "\r\033[K"

void progress_begin(struct progress *progress, const struct command *command, const char *what)
{
	*progress = (struct progress){
		.command = command,
		.what = what,
		.began = clock_monotonic(),
		.is_terminal = isatty(STDERR_FILENO) == 1,
	};
	progress->next = progress->began + SILENT;
}

void progress_show(struct progress *progress, uint64_t done, uint64_t all)
{
	int64_t now = clock_monotonic();
	char share[16] = "";

	if (now < progress->next)
		return;
	progress->next = now + (progress->is_terminal ? PAUSE_TERMINAL : PAUSE_OTHERS);
	progress->is_shown = true;
	if (all > 0)
		(void)snprintf(share, sizeof share, " (%u %%)",
			       (unsigned)((double)done / (double)all * 100));
	fprintf(stderr, "%santeroom %s: %llu %s%s, %lld s%s",
		progress->is_terminal ? ERASE_LINE : "", progress->command->name,
		(unsigned long long)done, progress->what, share,
		(long long)(now - progress->began) / 1000, progress->is_terminal ? "" : "\n");
	fflush(stderr);
}

void progress_end(struct progress *progress)
{
	if (progress->is_shown && progress->is_terminal)
		fputs(ERASE_LINE, stderr);
	progress->is_shown = false;
}
