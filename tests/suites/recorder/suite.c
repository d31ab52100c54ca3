/* The recorder: what it plans (plans.c), how it joins (joining.c), itself with a Chromium and a
 * stand-in for the service (running.c, streams.c), and how it sends files (sending.c). All but the
 * first need ffmpeg, and all but the first two Chromium; they are left out where these are not
 * installed.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>

#include "delivery/sender.h"
#include "kit.h"
#include "recorder/chromium.h"
#include "suite.h"

int main(void)
{
	Suite *suite = suite_create("recorder");

	suite_add_tcase(suite, recorder_plans());
	if (has_program("ffmpeg") && has_program("ffprobe"))
		suite_add_tcase(suite, recorder_joining());
	else
		puts("left out: joining and running (need ffmpeg)");
	if (has_program("ffmpeg") && chromium_find() != NULL && sender_is_built()) {
		suite_add_tcase(suite, recorder_running());
		suite_add_tcase(suite, recorder_sending());
		suite_add_tcase(suite, recorder_streams());
		suite_add_tcase(suite, recorder_outputs());
	} else {
		puts("left out: running (needs chromium-headless-shell, ffmpeg and libcurl)");
	}
	return suite_run_apart(suite);
}
