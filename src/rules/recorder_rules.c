/* See rules/recorder_rules.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/recorder_rules.h"

#include <string.h>

#include "base/text.h"
#include "rules/text_rules.h"

/* clang-format off */

#define REQUIRED FLAGS(FIELD_REQUIRED)

/* ---- the list ---- */

static const struct field recorder_fields[] = {
	{ "name",         TEXT(any_text), REQUIRED, DOC("Name of the recorder.") },
	{ "state",        ONE_OF("free", "busy", "full", "draining", "lost"), REQUIRED,
	  DOC("Whether it can take another recording: free and busy can; lost if it has ended, or has not reported in time.") },
	{ "seen_at",      TEXT(time_text), REQUIRED, DOC("When it last reported.") },
	{ "slots",        INTEGER(0, UNLIMITED), DOC("How many recordings it makes at once; only for an operator, like the members below.") },
	{ "works",        INTEGER(0, UNLIMITED), DOC("How many it makes, joins and sends.") },
	{ "busy_percent", INTEGER(0, 100), DOC("How busy its processors are.") },
	{ "free_bytes",   INTEGER(0, UNLIMITED), DOC("Free space of its folder, in bytes.") },
	{ "total_bytes",  INTEGER(0, UNLIMITED), DOC("Size of the file system of its folder, in bytes.") },
	{ "folder",       TEXT(any_text), DOC("Identifier of its folder.") },
};
const struct shape recorder_shape = {
	"Recorder", FIELDS(recorder_fields), .doc = "A program that makes recordings.",
};

/* ---- a report ---- */

static const struct text_rule boot_text = {
	.characters = "A-Za-z0-9_-",
	.sentence = "must be 1 to 64 characters out of A-Z a-z 0-9 _ -",
	.shortest = 1,
	.longest = 64,
};
static const struct text_rule error_text = {
	.sentence = "must be 0 to 300 characters",
	.longest = 300,
};
static const struct text_rule file_text = {
	.sentence = "must be recording.mp4, recording-2.mp4 to recording-16.mp4, or chat.csv",
	.shortest = 1,
	.longest = 64,
};

static const struct field gap_fields[] = {
	{ "at_ms",      INTEGER(0, UNLIMITED), REQUIRED },
	{ "missing_ms", INTEGER(0, UNLIMITED), REQUIRED },
};
static const struct shape gap_shape = { "ReportGap", FIELDS(gap_fields), .doc = "A gap." };
static const struct field gap_item = { .name = NULL, OBJECT(gap_shape) };

static schema_rule check_file, check_files;

static const struct rule file_rules[] = {
	{ "name", "The name is one of the files of a recording; all but the chat have a length and a size.", check_file },
	{ NULL, NULL, NULL },
};
static const struct field file_fields[] = {
	{ "name",        TEXT(file_text), REQUIRED },
	{ "bytes",       INTEGER(0, UNLIMITED), REQUIRED },
	{ "duration_ms", INTEGER(0, UNLIMITED) },
	{ "width",       INTEGER(0, 65535) },
	{ "height",      INTEGER(0, 65535) },
};
static const struct shape file_shape = {
	"ReportFile", FIELDS(file_fields), .rules = file_rules, .doc = "A file.",
};
static const struct field file_item = { .name = NULL, OBJECT(file_shape) };

static const struct rule work_rules[] = {
	{ "files", "No name twice; a work that is done tells its files.", check_files },
	{ NULL, NULL, NULL },
};
static const struct field output_fields[] = {
	{ "url",   TEXT(any_text) },
	{ "state", ONE_OF("connecting", "live", "failed"), REQUIRED },
	{ "since", TIME() },
	{ "error", TEXT(error_text) },
};
static const struct shape output_shape = { "ReportOutput", FIELDS(output_fields), .doc = "An output." };
static const struct field output_item = { .name = NULL, OBJECT(output_shape) };

static const struct field work_fields[] = {
	{ "account",     TEXT(id_text), REQUIRED },
	{ "job",         TEXT(id_text), REQUIRED },
	{ "epoch",       INTEGER(1, UINT32_MAX), REQUIRED },
	{ "state",       ONE_OF("opening", "running", "paused", "waiting", "stopping", "joining", "sending", "done", "broken"), REQUIRED },
	{ "part",        INTEGER(0, 1000000), REQUIRED },
	{ "media_at",    TIME() },
	{ "recorded_ms", INTEGER(0, UNLIMITED), REQUIRED },
	{ "gaps",        LIST_OF(gap_item), MOST(100), REQUIRED },
	{ "people",      INTEGER(0, UNLIMITED), REQUIRED },
	{ "outputs",     LIST_OF(output_item), MOST(REPORT_OUTPUTS_MOST) },
	{ "files",       LIST_OF(file_item), MOST(REPORT_FILES_MOST) },
	{ "error",       TEXT(error_text) },
};
static const struct shape work_shape = {
	"ReportWork", FIELDS(work_fields), .rules = work_rules, .doc = "A work.",
};
static const struct field work_item = { .name = NULL, OBJECT(work_shape) };

static const struct field need_fields[] = {
	{ "account", TEXT(id_text), REQUIRED },
	{ "job",     TEXT(id_text), REQUIRED },
	{ "what",    ONE_OF("order", "put"), REQUIRED },
};
static const struct shape need_shape = { "ReportNeed", FIELDS(need_fields), .doc = "A need." };
static const struct field need_item = { .name = NULL, OBJECT(need_shape) };

static schema_rule check_works;
static const struct rule report_rules[] = {
	{ "works", "No job twice.", check_works },
	{ NULL, NULL, NULL },
};
static const struct field report_fields[] = {
	{ "boot",        TEXT(boot_text), REQUIRED },
	{ "n",           INTEGER(1, UNLIMITED), REQUIRED },
	{ "version",     INTEGER(1, 1000000), REQUIRED },
	{ "folder",      TEXT(boot_text), REQUIRED },
	{ "slots",       INTEGER(0, REPORT_SLOTS_MOST), REQUIRED },
	{ "free_bytes",  INTEGER(0, UNLIMITED), REQUIRED },
	{ "total_bytes", INTEGER(0, UNLIMITED), REQUIRED },
	{ "busy",        NUMBER(0, 1), REQUIRED },
	{ "ends",        BOOLEAN() },
	{ "needs",       LIST_OF(need_item), MOST(2 * REPORT_WORKS_MOST) },
	{ "works",       LIST_OF(work_item), MOST(REPORT_WORKS_MOST), REQUIRED },
};
const struct shape report_shape = {
	"RecorderReport", FIELDS(report_fields), .rules = report_rules,
	.doc = "What a recorder has and does.",
};

/* clang-format on */

#define FILE_BEGINS "recording"
#define FILE_ENDS ".mp4"

/* recording.mp4, and recording-2.mp4 to recording-16.mp4. */
static bool is_recording(struct slice name)
{
	const size_t begin = sizeof FILE_BEGINS - 1, end = sizeof FILE_ENDS - 1;
	unsigned number = 0;

	if (name.size < begin + end || !slice_begins(name, SLICE(FILE_BEGINS)) ||
	    !slice_ends(name, SLICE(FILE_ENDS)))
		return false;
	if (name.size == begin + end)
		return true;
	if (name.data[begin] != '-' || name.size > begin + end + 3 || name.size < begin + end + 2 ||
	    name.data[begin + 1] == '0')
		return false;
	for (size_t i = begin + 1; i < name.size - end; i++) {
		if (name.data[i] < '0' || name.data[i] > '9')
			return false;
		number = 10 * number + (unsigned)(name.data[i] - '0');
	}
	return number >= 2 && number <= REPORT_FILES_MOST - 1;
}

static void check_file(struct rule_context *context, const json_t *object)
{
	static const char *const members[] = { "/duration_ms", "/width", "/height" };
	const struct slice name = text_of_json(json_object_get(object, "name"));

	if (name.data == NULL || slice_is(name, REPORT_CHAT))
		return;
	if (!is_recording(name))
		schema_fault(context, "/name", "%s", file_text.sentence);
	for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
		if (json_object_get(object, members[i] + 1) == NULL)
			schema_fault(context, members[i], "is required");
	}
}

static void check_files(struct rule_context *context, const json_t *object)
{
	const json_t *files = json_object_get(object, "files");
	const struct slice state = text_of_json(json_object_get(object, "state"));

	if (slice_is(state, "done") && files == NULL)
		schema_fault(context, "/files", "is required when the work is done");
	for (size_t i = 0; i < json_array_size(files); i++) {
		const struct slice name =
			text_of_json(json_object_get(json_array_get(files, i), "name"));

		for (size_t j = 0; j < i && name.data != NULL; j++) {
			if (slice_equal(name, text_of_json(json_object_get(json_array_get(files, j),
									   "name"))))
				schema_fault(context, "/files", "has %.*s twice", (int)name.size,
					     name.data);
		}
	}
}

static void check_works(struct rule_context *context, const json_t *object)
{
	const json_t *works = json_object_get(object, "works");

	for (size_t i = 0; i < json_array_size(works); i++) {
		const json_t *work = json_array_get(works, i);

		for (size_t j = 0; j < i; j++) {
			const json_t *other = json_array_get(works, j);

			if (json_is_string(json_object_get(work, "job")) &&
			    json_equal(json_object_get(work, "job"),
				       json_object_get(other, "job")) &&
			    json_equal(json_object_get(work, "account"),
				       json_object_get(other, "account")))
				schema_fault(context, "/works", "has a job twice");
		}
	}
}
