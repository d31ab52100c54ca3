/* Joins the parts of a recording to files, with ffmpeg and ffprobe, a step at a time:
 *
 *   - Each part is copied, so that its picture is its first stream and its sound the second
 *     (MediaRecorder writes them in either order, and ffmpeg joins by number), and the copy takes
 *     its place.
 *   - What lies within a pause or after the stop is cut out (recorder/cuts.h).
 *   - The pieces are joined: the picture is copied, the sound becomes AAC. Another size of the
 *     picture, and 4 GiB, begin a further file.
 *   - Pictures and seconds of the result are counted. If more than one in a hundred is missing, the
 *     join has failed, and the parts stay.
 *   - The files get their names in the folder of the finished recordings, and the parts are
 *     removed.
 *
 * Each step may be killed and done again.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RECORDER_JOINER_H
#define RECORDER_JOINER_H

#include "recorder/children.h"
#include "recorder/folder.h"

struct join_task {
	const struct folder *folder;
	const char *account, *job;
	json_t *order; /* the joiner takes a reference of its own */
	const char *ffmpeg, *ffprobe;
};

struct joiner;

/* Begins. Fails if there are no parts or there is not enough room. */
bool joiner_begin(struct children *children, const struct join_task *task, struct joiner **joiner,
		  struct fault *fault);

enum join_progress { JOIN_WORKS, JOIN_DONE, JOIN_FAILED };

/* Does what can be done without waiting. error: why it failed. */
enum join_progress joiner_step(struct joiner *joiner, struct fault *fault);
/* A descriptor that is readable when there may be a step, or -1. SIGCHLD means one too. */
int joiner_descriptor(const struct joiner *joiner);
/* Ends what runs. NULL is allowed. */
void joiner_close(struct joiner *joiner);

/* Reads which files an earlier join has made. Returns their number; 0 if there was none. */
size_t joined_files(const struct folder *folder, const char *account, const char *job,
		    struct recorded_file files[FILES_MOST]);
/* Writes the path of one of these files, or of their folder if the name is empty. Returns false if
 * there was no join, or it did not say where. */
bool joined_path(const struct folder *folder, const char *account, const char *job,
		 const char *name, char path[FOLDER_PATH_SIZE]);

#endif
