/* See recorder/joiner.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "recorder/joiner.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/directory.h"
#include "base/json_text.h"
#include "base/json_writer.h"
#include "base/memory.h"
#include "base/text.h"
#include "recorder/chat.h"
#include "recorder/part.h"

#define NICE 10
#define ARGUMENTS_MOST 48
#define NAME_SIZE 64
#define PRINTED_MOST ((size_t)64 << 10)
/* Milliseconds that a program may take, besides as long as the media is. */
#define PATIENCE 600000
#define FILE_BYTES_MOST ((int64_t)4 << 30)
/* Parts, a copy, and the file. */
#define ROOM_TIMES 2
#define JOINED "joined.json"
#define NOTHING_RECORDED "nothing was recorded"

/* What ffprobe finds. */
struct figures {
	int64_t pictures, width, height;
	int64_t length_ms;
};

/* A file in the folder of the parts that becomes a piece of the recording. */
struct item {
	char name[NAME_SIZE];
	const struct piece *piece;
	size_t part;
	struct figures figures;
	int64_t bytes;
};

/* The steps; each runs one program. */
enum step {
	STEP_COUNT_PART, /* the pictures of a part before it is copied */
	STEP_COPY_PART,
	STEP_COUNT_COPY,
	STEP_CUT_PIECE,
	STEP_COUNT_PIECE,
	STEP_JOIN_FILE,
	STEP_COUNT_FILE
};

struct joiner {
	struct children *children;
	struct arena *arena;
	struct join_task task;
	char folder[FOLDER_PATH_SIZE];
	struct kept_part *parts;
	struct figures *part_figures;
	struct piece *pieces;
	struct item *items;
	size_t parts_count, pieces_count;
	struct span *excluded;
	size_t excluded_count;
	int64_t length_ms; /* of all media */

	enum step step;
	size_t index; /* of the part, the piece, or the file's first piece */
	size_t file_end; /* behind the file's last piece */
	struct recorded_file files[FILES_MOST];
	size_t files_count;
	struct figures counted;

	struct child child;
	int printed_from; /* -1 if it is not read */
	struct buffer printed;
	struct tail says;
	int64_t deadline;
};

/* ---- running a program ---- */

/* Starts a program in the folder of the parts. arguments: ends with NULL. */
static bool start_program(struct joiner *joiner, const char *const *arguments, struct fault *fault)
{
	struct child_start start = {
		.arguments = arguments,
		.directory = joiner->folder,
		.descriptors = { -1, -1, -1, -1, -1 },
		.nice = NICE,
	};
	int ends[2] = { -1, -1 };
	bool is_started;

	joiner->printed = BUFFER_INITIAL(joiner->arena);
	joiner->deadline = clock_monotonic() + PATIENCE + joiner->length_ms;
	start.descriptors[2] = tail_open(&joiner->says);
	if (start.descriptors[2] < 0 || pipe2(ends, O_CLOEXEC) != 0)
		is_started = fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot start %s",
					 arguments[0]);
	else {
		start.descriptors[1] = ends[1];
		joiner->printed_from = descriptor_unblocked(ends[0]);
		is_started = child_start(joiner->children, &joiner->child, &start, fault);
	}
	if (ends[1] >= 0)
		close(ends[1]);
	if (start.descriptors[2] >= 0)
		close(start.descriptors[2]);
	return is_started;
}

static void end_program(struct joiner *joiner)
{
	child_end(joiner->children, &joiner->child);
	tail_close(&joiner->says);
	if (joiner->printed_from >= 0)
		close(joiner->printed_from);
	joiner->printed_from = -1;
}

/* Reads what the program prints. */
static void read_printed(struct joiner *joiner)
{
	ssize_t got = 1;

	(void)tail_read(&joiner->says);
	while (joiner->printed_from >= 0 && joiner->printed.size < PRINTED_MOST && got != 0) {
		got = read(joiner->printed_from, buffer_reserve(&joiner->printed, 4096), 4096);
		if (got > 0)
			joiner->printed.size += (size_t)got;
		else if (got < 0 && errno != EINTR)
			return;
	}
}

/* Returns whether the program has ended well. */
static bool check_program(struct joiner *joiner, const char *name, struct fault *fault)
{
	const int status = joiner->child.status;
	char line[TAIL_SIZE + 1];

	read_printed(joiner);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return true;
	(void)tail_line(&joiner->says, line);
	if (WIFSIGNALED(status))
		return fault_cause(fault, FAULT_UNAVAILABLE, 0, "%s was ended by signal %d", name,
				   WTERMSIG(status));
	return fault_cause(fault, FAULT_UNAVAILABLE, 0, "%s failed: %s", name,
			   line[0] == '\0' ? "it says nothing" : line);
}

/* ---- the programs ---- */

#define MS_TEXT_SIZE 32

/* Writes milliseconds as seconds. */
static const char *seconds_text(int64_t ms, char text[MS_TEXT_SIZE])
{
	(void)snprintf(text, MS_TEXT_SIZE, "%lld.%03lld", (long long)(ms / 1000),
		       (long long)(ms % 1000));
	return text;
}

static bool start_count(struct joiner *joiner, const char *name, struct fault *fault)
{
	const char *const arguments[] = { joiner->task.ffprobe,
					  "-v",
					  "error",
					  "-protocol_whitelist",
					  "file,pipe",
					  "-count_packets",
					  "-select_streams",
					  "v:0",
					  "-show_entries",
					  "stream=nb_read_packets,width,height:format=duration",
					  "-of",
					  "json",
					  name,
					  NULL };

	return start_program(joiner, arguments, fault);
}

/* Copies a part, or the media from from_ms to to_ms of it: ffmpeg leaves out the pictures before
 * the first key frame behind from_ms, so that nothing is shown which was cut out. */
static bool start_copy(struct joiner *joiner, const char *from, const char *to,
		       const struct piece *piece, struct fault *fault)
{
	const char *arguments[ARGUMENTS_MOST] = { joiner->task.ffmpeg,
						  "-nostdin",
						  "-v",
						  "error",
						  "-y",
						  "-protocol_whitelist",
						  "file,pipe",
						  "-i",
						  from,
						  "-map",
						  "0:v:0?",
						  "-map",
						  "0:a:0",
						  "-c",
						  "copy" };
	char begin[MS_TEXT_SIZE], length[MS_TEXT_SIZE];
	size_t n = 15;

	if (piece != NULL) {
		arguments[n++] = "-ss";
		arguments[n++] = seconds_text(piece->from_ms, begin);
		arguments[n++] = "-t";
		arguments[n++] = seconds_text(piece->to_ms - piece->from_ms, length);
	}
	arguments[n++] = "-f";
	arguments[n++] = "matroska";
	arguments[n] = to;
	return start_program(joiner, arguments, fault);
}

/* Joins the items of a file, whose names are in a list. */
static bool start_join(struct joiner *joiner, const char *list, const char *to, struct fault *fault)
{
	const json_t *look = json_object_get(joiner->task.order, "look");
	const json_int_t kbps = json_integer_value(json_object_get(look, "audio_kbps"));
	char rate[MS_TEXT_SIZE];
	const char *const arguments[] = { joiner->task.ffmpeg, "-nostdin", "-v", "error", "-y",
					  "-protocol_whitelist", "file,pipe", "-f", "concat", "-i",
					  list, "-map", "0:v:0?", "-map", "0:a:0", "-c:v", "copy",
					  "-c:a", "aac", "-aac_coder", "fast", "-b:a", rate,
					  /* Where packets are missing, there is silence. */
					  "-af", "aresample=async=1000", "-movflags", "+faststart",
					  "-f", "mp4", to, NULL };

	(void)snprintf(rate, sizeof rate, "%lldk",
		       (long long)(kbps >= 16 && kbps <= 320 ? kbps : 96));
	return start_program(joiner, arguments, fault);
}

static bool read_count(struct joiner *joiner, struct figures *figures, struct fault *fault)
{
	const json_t *json = json_text_read_stored(joiner->arena, buffer_slice(&joiner->printed),
						   NULL);
	const json_t *stream = json_array_get(json_object_get(json, "streams"), 0);
	const struct slice pictures = text_of_json(json_object_get(stream, "nb_read_packets"));
	const struct slice length =
		text_of_json(json_object_get(json_object_get(json, "format"), "duration"));
	double seconds = 0;
	bool is_integer;

	*figures = (struct figures){
		.width = json_integer_value(json_object_get(stream, "width")),
		.height = json_integer_value(json_object_get(stream, "height")),
	};
	if (json == NULL || (pictures.data != NULL && !text_integer(pictures, &figures->pictures)))
		return fault_cause(fault, FAULT_UNAVAILABLE, 0, "ffprobe prints no figures");
	/* A part that was not copied yet has no length. */
	if (length.data != NULL && text_real(joiner->arena, length, &seconds, &is_integer))
		figures->length_ms = (int64_t)(seconds * 1000);
	return true;
}

/* ---- the steps ---- */

/* Returns whether `have` is at least 99 % of `want`. */
static bool is_enough(int64_t have, int64_t want)
{
	return have >= want - want / 100;
}

static bool is_used(const struct joiner *joiner, size_t part)
{
	for (size_t i = 0; i < joiner->pieces_count; i++) {
		if (joiner->pieces[i].part == part)
			return true;
	}
	return false;
}

static const char *part_name(const struct joiner *joiner, size_t part, const char *suffix,
			     char name[NAME_SIZE])
{
	(void)snprintf(name, NAME_SIZE, "e%lldp%lld%s", (long long)joiner->parts[part].epoch,
		       (long long)joiner->parts[part].number, suffix);
	return name;
}

static bool in_folder(const struct joiner *joiner, const char *name, char path[PART_PATH_SIZE])
{
	return snprintf(path, PART_PATH_SIZE, "%s/%s", joiner->folder, name) < PART_PATH_SIZE;
}

static const char *file_name(size_t file, char name[FILE_NAME_SIZE])
{
	if (file == 0)
		(void)snprintf(name, FILE_NAME_SIZE, "recording.mp4");
	else
		(void)snprintf(name, FILE_NAME_SIZE, "recording-%zu.mp4", file + 1);
	return name;
}

#define OUTPUT_SIZE (FILE_NAME_SIZE + 256)

/* Writes the path of an unfinished file, from the folder of the parts. It is in the folder of the
 * finished recordings from its beginning, because a file takes over who may read it from the folder
 * in which it is made. */
static const char *output_path(const struct joiner *joiner, char path[OUTPUT_SIZE])
{
	char name[FILE_NAME_SIZE];

	(void)snprintf(path, OUTPUT_SIZE, "../../%s/.%s", order_folder(joiner->task.order),
		       file_name(joiner->files_count, name));
	return path;
}

/* Writes the path of a file in the folder of the finished recordings. */
static void finished_path(const struct joiner *joiner, const char *prefix, const char *name,
			  char path[PART_PATH_SIZE])
{
	(void)snprintf(path, PART_PATH_SIZE, "%s/%s/%s%s", joiner->task.folder->path,
		       order_folder(joiner->task.order), prefix, name);
}

/* Makes the empty file that ffmpeg fills. */
static bool make_output(const struct joiner *joiner, struct fault *fault)
{
	char path[PART_PATH_SIZE], name[FILE_NAME_SIZE];
	int file;

	if (!folder_make(joiner->task.folder, order_folder(joiner->task.order), fault))
		return false;
	finished_path(joiner, ".", file_name(joiner->files_count, name), path);
	(void)unlink(path);
	file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
	if (file < 0)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot write %s", path);
	close(file);
	return true;
}

/* Sets which pieces the next file has: up to another size, or 4 GiB. */
static void set_file_end(struct joiner *joiner)
{
	const struct item *first = &joiner->items[joiner->index];
	int64_t bytes = first->bytes;
	size_t end = joiner->index + 1;

	while (end < joiner->pieces_count && bytes + joiner->items[end].bytes <= FILE_BYTES_MOST &&
	       joiner->items[end].figures.width == first->figures.width &&
	       joiner->items[end].figures.height == first->figures.height)
		bytes += joiner->items[end++].bytes;
	joiner->file_end = end;
}

static bool write_list(struct joiner *joiner, struct fault *fault)
{
	struct buffer list = BUFFER_INITIAL(joiner->arena);
	char path[PART_PATH_SIZE];

	buffer_append_text(&list, "ffconcat version 1.0\n");
	for (size_t i = joiner->index; i < joiner->file_end; i++)
		buffer_append_text(&list,
				   arena_text(joiner->arena, "file %s\n", joiner->items[i].name));
	(void)in_folder(joiner, "list", path);
	return small_file_write(path, buffer_slice(&list), fault);
}

/* Starts the program of the step. Steps for which there is nothing to do are passed over. *is_over:
 * there is none left. */
static bool start_step(struct joiner *joiner, bool *is_over, struct fault *fault)
{
	char name[NAME_SIZE], to[NAME_SIZE], output[OUTPUT_SIZE];

	*is_over = false;
	switch (joiner->step) {
	case STEP_COUNT_PART:
		while (joiner->index < joiner->parts_count && !is_used(joiner, joiner->index))
			joiner->index++;
		if (joiner->index < joiner->parts_count)
			return start_count(joiner, part_name(joiner, joiner->index, ".mkv", name),
					   fault);
		joiner->step = STEP_CUT_PIECE;
		joiner->index = 0;
		return start_step(joiner, is_over, fault);
	case STEP_COPY_PART:
		return start_copy(joiner, part_name(joiner, joiner->index, ".mkv", name),
				  part_name(joiner, joiner->index, ".copy", to), NULL, fault);
	case STEP_COUNT_COPY:
		return start_count(joiner, part_name(joiner, joiner->index, ".copy", name), fault);
	case STEP_CUT_PIECE:
		while (joiner->index < joiner->pieces_count &&
		       joiner->pieces[joiner->index].is_whole) {
			const size_t part = joiner->pieces[joiner->index].part;

			joiner->items[joiner->index].figures = joiner->part_figures[part];
			joiner->items[joiner->index].bytes = joiner->parts[part].bytes;
			part_name(joiner, part, ".mkv", joiner->items[joiner->index].name);
			joiner->index++;
		}
		if (joiner->index < joiner->pieces_count) {
			const struct piece *piece = &joiner->pieces[joiner->index];

			(void)snprintf(joiner->items[joiner->index].name, NAME_SIZE, "piece%zu",
				       joiner->index);
			return start_copy(joiner, part_name(joiner, piece->part, ".mkv", name),
					  joiner->items[joiner->index].name, piece, fault);
		}
		joiner->step = STEP_JOIN_FILE;
		joiner->index = 0;
		return start_step(joiner, is_over, fault);
	case STEP_COUNT_PIECE:
		return start_count(joiner, joiner->items[joiner->index].name, fault);
	case STEP_JOIN_FILE:
		*is_over = joiner->index == joiner->pieces_count;
		if (*is_over)
			return true;
		if (joiner->files_count == FILES_MOST - 1)
			return fault_cause(fault, FAULT_UNAVAILABLE, 0,
					   "the recording would have more than %d files",
					   FILES_MOST - 1);
		set_file_end(joiner);
		return write_list(joiner, fault) && make_output(joiner, fault) &&
		       start_join(joiner, "list", output_path(joiner, output), fault);
	case STEP_COUNT_FILE:
		return start_count(joiner, output_path(joiner, output), fault);
	}
	return false;
}

static bool take_copy(struct joiner *joiner, struct fault *fault)
{
	const int64_t before = joiner->part_figures[joiner->index].pictures;
	char from[PART_PATH_SIZE], to[PART_PATH_SIZE], name[NAME_SIZE];
	struct figures figures;
	struct stat status;
	int file;
	bool is_synced;

	if (!read_count(joiner, &figures, fault))
		return false;
	if (!is_enough(figures.pictures, before))
		return fault_cause(fault, FAULT_UNAVAILABLE, 0,
				   "the copy of a part has %lld of %lld pictures",
				   (long long)figures.pictures, (long long)before);
	(void)in_folder(joiner, part_name(joiner, joiner->index, ".copy", name), from);
	(void)in_folder(joiner, part_name(joiner, joiner->index, ".mkv", name), to);
	file = open(from, O_RDONLY | O_CLOEXEC);
	is_synced = file >= 0 && fsync(file) == 0 && fstat(file, &status) == 0;
	if (file >= 0)
		close(file);
	if (!is_synced || rename(from, to) != 0)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot write %s", to);
	joiner->parts[joiner->index].bytes = (int64_t)status.st_size;
	joiner->part_figures[joiner->index] = figures;
	joiner->index++;
	joiner->step = STEP_COUNT_PART;
	return true;
}

/* A piece begins with sound, and its picture with the next key frame, at most 2 s later. */
#define KEY_FRAMES_MS 2500

static bool take_piece(struct joiner *joiner, struct fault *fault)
{
	struct item *item = &joiner->items[joiner->index];
	const struct piece *piece = &joiner->pieces[joiner->index];
	const struct figures *part = &joiner->part_figures[piece->part];
	const int64_t length = piece->to_ms - piece->from_ms;
	const int64_t shown = length > KEY_FRAMES_MS ? length - KEY_FRAMES_MS : 0;
	char path[PART_PATH_SIZE];
	struct stat status;

	if (!read_count(joiner, &item->figures, fault))
		return false;
	if (part->length_ms > 0 &&
	    !is_enough(item->figures.pictures, part->pictures * shown / part->length_ms * 9 / 10))
		return fault_cause(fault, FAULT_UNAVAILABLE, 0,
				   "a piece of %lld ms has only %lld pictures", (long long)length,
				   (long long)item->figures.pictures);
	/* A piece before the first key frame has sound alone: its size is that of the part. */
	item->figures.width = part->width;
	item->figures.height = part->height;
	(void)in_folder(joiner, item->name, path);
	item->bytes = stat(path, &status) == 0 ? (int64_t)status.st_size : 0;
	joiner->index++;
	joiner->step = STEP_CUT_PIECE;
	return true;
}

/* The page says how long a chunk is, the file how long its packets are. */
#define PIECE_INEXACT_MS 500

static bool take_file(struct joiner *joiner, struct fault *fault)
{
	struct recorded_file *file = &joiner->files[joiner->files_count];
	const int64_t length = cuts_length(joiner->pieces + joiner->index,
					   joiner->file_end - joiner->index);
	const int64_t inexact = PIECE_INEXACT_MS * (int64_t)(joiner->file_end - joiner->index);
	char path[PART_PATH_SIZE];
	struct figures figures;
	struct stat status;
	int64_t pictures = 0;

	if (!read_count(joiner, &figures, fault))
		return false;
	for (size_t i = joiner->index; i < joiner->file_end; i++)
		pictures += joiner->items[i].figures.pictures;
	if (!is_enough(figures.pictures, pictures) ||
	    !is_enough(figures.length_ms + inexact, length))
		return fault_cause(fault, FAULT_UNAVAILABLE, 0,
				   "the joined file has %lld of %lld pictures and %lld of %lld ms",
				   (long long)figures.pictures, (long long)pictures,
				   (long long)figures.length_ms, (long long)length);
	file_name(joiner->files_count, file->name);
	finished_path(joiner, ".", file->name, path);
	if (stat(path, &status) != 0)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot read %s", path);
	file->bytes = (int64_t)status.st_size;
	file->duration_ms = figures.length_ms;
	file->width = figures.width;
	file->height = figures.height;
	joiner->files_count++;
	joiner->index = joiner->file_end;
	joiner->step = STEP_JOIN_FILE;
	return true;
}

/* Leaves out the part of this index if it is shorter than a second: then the picture or the sound
 * may be missing in it. Returns false if it is not, or if nothing is left. */
static bool leave_out_short(struct joiner *joiner, struct fault *fault)
{
	const size_t part = joiner->index;
	const struct part_media *media = &joiner->parts[part].media;
	size_t kept = 0;

	if (media->chunks[media->count - 1].media_ms >= CUTS_PART_LEAST)
		return false;
	for (size_t i = 0; i < joiner->pieces_count; i++) {
		if (joiner->pieces[i].part != part)
			joiner->pieces[kept++] = joiner->pieces[i];
	}
	joiner->pieces_count = kept;
	joiner->index++;
	joiner->step = STEP_COUNT_PART;
	return kept > 0 || fault_cause(fault, FAULT_NOT_FOUND, 0, NOTHING_RECORDED);
}

/* True if a part has no picture, though it is not of sound alone. */
static bool part_lacks_picture(const struct joiner *joiner)
{
	const json_t *look = json_object_get(joiner->task.order, "look");

	return joiner->part_figures[joiner->index].pictures == 0 &&
	       !json_is_true(json_object_get(look, "audio_only"));
}

/* Takes what the program of the step has made, and sets the next step. */
static bool take_step(struct joiner *joiner, struct fault *fault)
{
	const bool counts = joiner->step == STEP_COUNT_PART || joiner->step == STEP_COUNT_COPY ||
			    joiner->step == STEP_COUNT_PIECE || joiner->step == STEP_COUNT_FILE;

	if (joiner->step <= STEP_COPY_PART && WIFEXITED(joiner->child.status) &&
	    WEXITSTATUS(joiner->child.status) != 0 && leave_out_short(joiner, fault))
		return true;
	if (!check_program(joiner, counts ? "ffprobe" : "ffmpeg", fault))
		return false;
	switch (joiner->step) {
	case STEP_COUNT_PART:
		joiner->step = STEP_COPY_PART;
		if (!read_count(joiner, &joiner->part_figures[joiner->index], fault))
			return false;
		return !part_lacks_picture(joiner) || leave_out_short(joiner, fault) ||
		       fault->kind == FAULT_NONE;
	case STEP_COPY_PART:
		joiner->step = STEP_COUNT_COPY;
		return true;
	case STEP_COUNT_COPY:
		return take_copy(joiner, fault);
	case STEP_CUT_PIECE:
		joiner->step = STEP_COUNT_PIECE;
		return true;
	case STEP_COUNT_PIECE:
		return take_piece(joiner, fault);
	case STEP_JOIN_FILE:
		joiner->step = STEP_COUNT_FILE;
		return true;
	case STEP_COUNT_FILE:
		return take_file(joiner, fault);
	}
	return false;
}

/* ---- the end ---- */

static bool note_files(const struct joiner *joiner, struct fault *fault)
{
	struct json_writer writer = writer_begin(joiner->arena, false);
	char path[PART_PATH_SIZE];

	writer_plain(&writer, "dir", slice_of(order_folder(joiner->task.order)));
	writer_open(&writer, "files", '[');
	for (size_t i = 0; i < joiner->files_count; i++) {
		const struct recorded_file *file = &joiner->files[i];

		writer_open(&writer, NULL, '{');
		writer_plain(&writer, "name", slice_of(file->name));
		writer_integer(&writer, "bytes", file->bytes);
		writer_integer(&writer, "duration_ms", file->duration_ms);
		writer_integer(&writer, "width", file->width);
		writer_integer(&writer, "height", file->height);
		writer_close(&writer, '}');
	}
	writer_close(&writer, ']');
	(void)in_folder(joiner, JOINED, path);
	return small_file_write(path, writer_end(&writer), fault);
}

/* Removes the parts and what was made of them. */
static void remove_parts(const struct joiner *joiner)
{
	char path[PART_PATH_SIZE];

	for (size_t i = 0; i < joiner->parts_count; i++) {
		part_path(joiner->folder, joiner->parts[i].epoch, joiner->parts[i].number, ".mkv",
			  path);
		(void)unlink(path);
	}
	for (size_t i = 0; i < joiner->pieces_count; i++) {
		if (!joiner->pieces[i].is_whole && in_folder(joiner, joiner->items[i].name, path))
			(void)unlink(path);
	}
}

/* Gives the files their names. */
static bool place_files(struct joiner *joiner, struct fault *fault)
{
	const json_t *look = json_object_get(joiner->task.order, "look");
	char from[PART_PATH_SIZE], to[PART_PATH_SIZE];
	struct slice chat = { NULL, 0 };

	for (size_t i = 0; i < joiner->files_count; i++) {
		finished_path(joiner, ".", joiner->files[i].name, from);
		finished_path(joiner, "", joiner->files[i].name, to);
		if (!file_publish(from, to, fault))
			return false;
	}
	if (json_is_true(json_object_get(look, "chat")))
		chat = chat_table(joiner->arena, joiner->folder, joiner->excluded,
				  joiner->excluded_count);
	if (chat.data != NULL) {
		struct recorded_file *file = &joiner->files[joiner->files_count];

		finished_path(joiner, "", CHAT_FILE, to);
		if (!small_file_write(to, chat, fault))
			return false;
		(void)snprintf(file->name, sizeof file->name, CHAT_FILE);
		file->bytes = (int64_t)chat.size;
		joiner->files_count++;
	}
	if (!note_files(joiner, fault))
		return false;
	remove_parts(joiner);
	return true;
}

/* Reads what an earlier join has written. NULL if there was none. */
static const json_t *joined_read(struct arena *arena, const struct folder *folder,
				 const char *account, const char *job)
{
	char path[FOLDER_PATH_SIZE], file[PART_PATH_SIZE];

	folder_of_job(folder, account, job, path);
	(void)snprintf(file, sizeof file, "%s/" JOINED, path);
	return json_text_read_stored(arena, small_file_read(arena, file), NULL);
}

bool joined_path(const struct folder *folder, const char *account, const char *job,
		 const char *name, char path[FOLDER_PATH_SIZE])
{
	struct arena *arena = arena_open();
	/* It obeys the rules of an order, so it is below the folder. */
	const char *relative = order_folder(joined_read(arena, folder, account, job));
	const bool is_there = relative != NULL &&
			      snprintf(path, FOLDER_PATH_SIZE, "%s/%s%s%s", folder->path, relative,
				       name[0] == '\0' ? "" : "/", name) < FOLDER_PATH_SIZE;

	arena_close(arena);
	return is_there;
}

size_t joined_files(const struct folder *folder, const char *account, const char *job,
		    struct recorded_file files[FILES_MOST])
{
	struct arena *arena = arena_open();
	const json_t *list;
	size_t n = 0;

	list = json_object_get(joined_read(arena, folder, account, job), "files");
	while (n < json_array_size(list) && n < FILES_MOST) {
		const json_t *one = json_array_get(list, n);
		const struct slice name = text_of_json(json_object_get(one, "name"));

		files[n] = (struct recorded_file){
			.bytes = json_integer_value(json_object_get(one, "bytes")),
			.duration_ms = json_integer_value(json_object_get(one, "duration_ms")),
			.width = json_integer_value(json_object_get(one, "width")),
			.height = json_integer_value(json_object_get(one, "height")),
		};
		if (name.size == 0 || name.size >= FILE_NAME_SIZE)
			break;
		memcpy(files[n].name, name.data, name.size);
		n++;
	}
	arena_close(arena);
	return n;
}

/* ---- the whole ---- */

bool joiner_begin(struct children *children, const struct join_task *task, struct joiner **joiner,
		  struct fault *fault)
{
	struct joiner *made = memory_check(calloc(1, sizeof *made));
	int64_t bytes = 0, free_bytes = 0, total_bytes;
	struct part_media *media;
	bool has_begun = false;

	made->children = children;
	made->arena = arena_open();
	arena_set_limit(made->arena, SIZE_MAX);
	made->task = *task;
	json_incref(task->order);
	made->printed_from = made->says.descriptor = -1;
	folder_of_job(task->folder, task->account, task->job, made->folder);
	if (!parts_read(made->arena, made->folder, &made->parts, &made->parts_count, fault)) {
		joiner_close(made);
		return false;
	}
	media = arena_alloc(made->arena, (made->parts_count + 1) * sizeof *media);
	for (size_t i = 0; i < made->parts_count; i++) {
		media[i] = made->parts[i].media;
		bytes += made->parts[i].bytes;
	}
	made->excluded_count = order_excluded(made->arena, task->order, &made->excluded);
	made->pieces_count = cuts_make(made->arena, media, made->parts_count, made->excluded,
				       made->excluded_count, &made->pieces);
	made->length_ms = cuts_length(made->pieces, made->pieces_count);
	made->part_figures = arena_zero(made->arena,
					(made->parts_count + 1) * sizeof *made->part_figures);
	made->items = arena_zero(made->arena, (made->pieces_count + 1) * sizeof *made->items);
	for (size_t i = 0; i < made->pieces_count; i++)
		made->items[i].piece = &made->pieces[i];
	(void)folder_space(task->folder, &free_bytes, &total_bytes);
	if (made->pieces_count == 0)
		fault_cause(fault, FAULT_NOT_FOUND, 0, NOTHING_RECORDED);
	else if (free_bytes < ROOM_TIMES * bytes)
		fault_cause(fault, FAULT_UNAVAILABLE, 0,
			    "joining needs %lld MiB, and the folder has %lld MiB left",
			    (long long)(ROOM_TIMES * bytes >> 20) + 1,
			    (long long)(free_bytes >> 20));
	else
		has_begun = true;
	if (has_begun)
		*joiner = made;
	else
		joiner_close(made);
	return has_begun;
}

enum join_progress joiner_step(struct joiner *joiner, struct fault *fault)
{
	bool is_over;

	if (joiner->child.pid != 0 && !joiner->child.is_ended) {
		read_printed(joiner);
		if (clock_monotonic() < joiner->deadline)
			return JOIN_WORKS;
		end_program(joiner);
		fault_cause(fault, FAULT_UNAVAILABLE, 0, "ffmpeg did not end");
		return JOIN_FAILED;
	}
	if (joiner->child.pid != 0) {
		const bool is_taken = take_step(joiner, fault);

		end_program(joiner);
		if (!is_taken)
			return JOIN_FAILED;
	}
	if (!start_step(joiner, &is_over, fault))
		return JOIN_FAILED;
	if (!is_over)
		return JOIN_WORKS;
	return place_files(joiner, fault) ? JOIN_DONE : JOIN_FAILED;
}

int joiner_descriptor(const struct joiner *joiner)
{
	return joiner->printed_from;
}

void joiner_close(struct joiner *joiner)
{
	if (joiner == NULL)
		return;
	end_program(joiner);
	json_decref(joiner->task.order);
	arena_close(joiner->arena);
	free(joiner);
}
