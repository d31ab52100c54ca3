/* The folder of recordings: no path leaves it, no link is followed, and nothing is removed in a
 * folder that is not the one.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "directory.h"
#include "resources/recordings/recording_folder.h"
#include "suite.h"

#define ID "0123456789abcdef01234567"

static struct arena *arena;
static char *top; /* has the folder, and a file next to it */
static const char *folder;

static const char *below(const char *name)
{
	return arena_text(arena, "%s/%s", top, name);
}

static void make_file(const char *name, const char *text)
{
	FILE *file = fopen(below(name), "w");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(text, file), 0);
	ck_assert_int_eq(fclose(file), 0);
}

static bool is_there(const char *name)
{
	struct stat status;

	return lstat(below(name), &status) == 0;
}

/* f/ is the folder. Outside are a file and a folder, to which links lead. */
static void set_up(void)
{
	static const char *const folders[] = { "f",	  "f/a",	"f/a/r",	  "f/a/r/j",
					       "f/a/r/k", "f/incoming", "f/incoming/a-j", "out",
					       "out/r" };

	arena = arena_open();
	top = directory_make();
	folder = below("f");
	for (int i = 0; i < ROWS(folders); i++)
		ck_assert_int_eq(mkdir(below(folders[i]), 0700), 0);
	make_file("f/.anteroom", ID "\n");
	make_file("f/a/r/j/recording.mp4", "12345");
	make_file("f/a/r/j/chat.csv", "1");
	make_file("f/a/r/k/recording.mp4", "1");
	make_file("secret", "secret");
	make_file("out/r/recording.mp4", "secret");
	ck_assert_int_eq(symlink("../../../../secret", below("f/a/r/j/link.mp4")), 0);
	ck_assert_int_eq(symlink("../out", below("f/linked")), 0);
	ck_assert_int_eq(symlink("f", below("other")), 0);
	ck_assert_int_eq(mkfifo(below("f/a/r/j/pipe.mp4"), 0600), 0);
}

static void tear_down(void)
{
	directory_remove(top);
	arena_close(arena);
}

/* clang-format off */
static const struct path {
	const char *path;
	bool is_right;
	enum folder_result found;
} paths[] = {
	{ "a/r/j/recording.mp4", true, FOLDER_DONE },
	{ "a/r/j/none.mp4", true, FOLDER_NOT_THERE },
	{ "a/none/j/recording.mp4", true, FOLDER_NOT_THERE },
	{ "a/r/j", true, FOLDER_NOT_THERE },
	{ "a/r/j/recording.mp4/x", true, FOLDER_NOT_THERE },
	{ "a/r/j/link.mp4", true, FOLDER_NOT_THERE },
	{ "a/r/j/pipe.mp4", true, FOLDER_NOT_THERE },
	{ "linked/r/recording.mp4", true, FOLDER_NOT_THERE },
	{ "1/2/3/4/5/6/7/8/9/10", true, FOLDER_NOT_THERE },
	{ "", false, FOLDER_NOT_THERE },
	{ "/a/r/j/recording.mp4", false, FOLDER_NOT_THERE },
	{ "a//r/j/recording.mp4", false, FOLDER_NOT_THERE },
	{ "a/r/j/", false, FOLDER_NOT_THERE },
	{ "../secret", false, FOLDER_NOT_THERE },
	{ "a/../../secret", false, FOLDER_NOT_THERE },
	{ "a/./r/j/recording.mp4", false, FOLDER_NOT_THERE },
	{ ".anteroom", false, FOLDER_NOT_THERE },
	{ "a/r/j/recording mp4", false, FOLDER_NOT_THERE },
	{ "a/r/j/recording%2emp4", false, FOLDER_NOT_THERE },
	{ "a/r/j/\xc3\xa4.mp4", false, FOLDER_NOT_THERE },
};
/* clang-format on */

START_TEST(a_path_stays_in_the_folder)
{
	const struct path *row = &paths[_i];
	struct folder_file file;

	ck_assert_int_eq(folder_path_is_right(slice_of(row->path)), row->is_right);
	ck_assert_int_eq(folder_find(folder, slice_of(row->path), &file), row->found);
	if (row->found == FOLDER_DONE)
		ck_assert_uint_eq(file.size, 5);
}
END_TEST

START_TEST(a_long_path_is_not_right)
{
	char text[1026];

	memset(text, 'a', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	ck_assert(!folder_path_is_right(slice_of(text)));
	text[1024] = '\0';
	ck_assert(folder_path_is_right(slice_of(text)));
}
END_TEST

/* The text of the marker; NULL for none. */
/* clang-format off */
static const struct marker {
	const char *text, *id;
} markers[] = {
	{ ID "\n", ID },
	{ ID, ID },
	{ "a_B-9\n", "a_B-9" },
	{ NULL, NULL },
	{ "", NULL },
	{ "\n", NULL },
	{ "a b\n", NULL },
	{ "a\nb\n", NULL },
	{ "../x\n", NULL },
	{ "0123456789012345678901234567890123456789012345678901234567890123\n",
	  "0123456789012345678901234567890123456789012345678901234567890123" },
	{ "01234567890123456789012345678901234567890123456789012345678901234\n", NULL },
};
/* clang-format on */

START_TEST(a_folder_has_an_id)
{
	const struct marker *row = &markers[_i];
	char id[FOLDER_ID_MOST + 1];

	ck_assert_int_eq(unlink(below("f/.anteroom")), 0);
	if (row->text != NULL)
		make_file("f/.anteroom", row->text);
	ck_assert_int_eq(folder_read_id(folder, id), row->id != NULL);
	if (row->id != NULL)
		ck_assert_str_eq(id, row->id);
}
END_TEST

START_TEST(a_marker_is_no_link)
{
	char id[FOLDER_ID_MOST + 1];

	ck_assert_int_eq(rename(below("f/.anteroom"), below("marker")), 0);
	ck_assert_int_eq(symlink("../marker", below("f/.anteroom")), 0);
	ck_assert(!folder_read_id(folder, id));
	ck_assert(!folder_read_id(NULL, id));
	ck_assert(!folder_read_id(below("none"), id));
	/* The folder itself may be reached by a link. */
	ck_assert_int_eq(unlink(below("f/.anteroom")), 0);
	make_file("f/.anteroom", ID "\n");
	ck_assert(folder_read_id(below("other"), id));
}
END_TEST

/* clang-format off */
static const struct removal {
	const char *path, *id;
	bool has_marker;
	enum folder_result result;
	const char *why, *gone, *left; /* files afterwards; NULL: not looked for */
} removals[] = {
	{ "a/r/j/recording.mp4", ID, true, FOLDER_DONE, NULL, "f/a/r/j/recording.mp4", "f/a/r/j/chat.csv" },
	{ "a/r/k/recording.mp4", ID, true, FOLDER_DONE, NULL, "f/a/r/k", "f/a/r" },
	{ "a/r/j/none.mp4", ID, true, FOLDER_NOT_THERE, NULL, NULL, "f/a/r/j" },
	{ "a/none/recording.mp4", ID, true, FOLDER_NOT_THERE, NULL, NULL, "f/a" },
	{ "a/r/j/link.mp4", ID, true, FOLDER_NOT_THERE, NULL, NULL, "secret" },
	{ "linked/r/recording.mp4", ID, true, FOLDER_NOT_THERE, NULL, NULL, "out/r/recording.mp4" },
	{ "../secret", ID, true, FOLDER_NOT_THERE, NULL, NULL, "secret" },
	{ "a/r/k", ID, true, FOLDER_NOT_THERE, NULL, NULL, "f/a/r/k/recording.mp4" },
	{ ".anteroom", ID, true, FOLDER_NOT_THERE, NULL, NULL, "f/.anteroom" },
	{ "a/r/j/recording.mp4", "other", true, FOLDER_FAILED, "the folder has another id", NULL,
	  "f/a/r/j/recording.mp4" },
	{ "a/r/j/recording.mp4", ID, false, FOLDER_FAILED, "the folder has no id", NULL, "f/a/r/j/recording.mp4" },
	{ "a/none/recording.mp4", ID, false, FOLDER_FAILED, "the folder has no id", NULL, "f/a" },
};
/* clang-format on */

START_TEST(a_file_is_removed_in_its_folder_alone)
{
	const struct removal *row = &removals[_i];
	const char *why = NULL;

	if (!row->has_marker)
		ck_assert_int_eq(unlink(below("f/.anteroom")), 0);
	ck_assert_int_eq(folder_remove_file(folder, slice_of(row->id), slice_of(row->path), &why),
			 row->result);
	if (row->why != NULL)
		ck_assert_str_eq(why, row->why);
	ck_assert(row->gone == NULL || !is_there(row->gone));
	ck_assert(is_there(row->left));
}
END_TEST

START_TEST(a_folder_that_is_not_there_is_no_empty_folder)
{
	const char *why = NULL;

	ck_assert_int_eq(
		folder_remove_file(below("none"), SLICE(ID), SLICE("a/r/j/recording.mp4"), &why),
		FOLDER_FAILED);
	ck_assert_int_eq(folder_remove_file(NULL, SLICE(ID), SLICE("a/r/j/recording.mp4"), &why),
			 FOLDER_FAILED);
}
END_TEST

START_TEST(parts_are_removed_in_bounded_steps)
{
	const char *why = NULL;
	bool is_left = false;

	for (int i = 0; i < FOLDER_AT_ONCE + 1; i++)
		make_file(arena_text(arena, "f/incoming/a-j/%d.mkv", i), "1");
	ck_assert_int_eq(symlink("../../../secret", below("f/incoming/a-j/link")), 0);
	ck_assert_int_eq(folder_empty(folder, SLICE(ID), SLICE("incoming/a-j"), &is_left, &why),
			 FOLDER_DONE);
	ck_assert(is_left);
	ck_assert(is_there("f/incoming/a-j"));
	ck_assert_int_eq(folder_empty(folder, SLICE(ID), SLICE("incoming/a-j"), &is_left, &why),
			 FOLDER_DONE);
	ck_assert(!is_left);
	ck_assert(!is_there("f/incoming/a-j"));
	ck_assert(is_there("secret"));
	ck_assert_int_eq(folder_empty(folder, SLICE(ID), SLICE("incoming/a-j"), &is_left, &why),
			 FOLDER_NOT_THERE);
	ck_assert_int_eq(folder_empty(folder, SLICE(ID), SLICE("linked"), &is_left, &why),
			 FOLDER_NOT_THERE);
	ck_assert(is_there("out/r/recording.mp4"));
	ck_assert_int_eq(folder_empty(folder, SLICE("other"), SLICE("a"), &is_left, &why),
			 FOLDER_FAILED);
}
END_TEST

/* clang-format off */
static const struct list {
	const char *path;
	bool are_folders;
	const char *names;
} lists[] = {
	{ "", true, "a incoming" },
	{ "", false, "" },
	{ "a/r", true, "j k" },
	{ "a/r/j", false, "chat.csv recording.mp4" },
	{ "linked", true, "" },
	{ "none", true, "" },
	{ "../out", true, "" },
};
/* clang-format on */

START_TEST(a_folder_lists_what_is_in_it)
{
	const struct list *row = &lists[_i];
	struct buffer text = BUFFER_INITIAL(arena);
	struct slice *names;
	size_t n;

	folder_list(arena, folder, slice_of(row->path), row->are_folders, &names, &n);
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			buffer_append_byte(&text, ' ');
		buffer_append(&text, names[i]);
	}
	ck_assert(slice_is(buffer_slice(&text), row->names));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("recording_folder");
	TCase *tcase = tcase_create("folder");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_loop_test(tcase, a_path_stays_in_the_folder, 0, ROWS(paths));
	tcase_add_test(tcase, a_long_path_is_not_right);
	tcase_add_loop_test(tcase, a_folder_has_an_id, 0, ROWS(markers));
	tcase_add_test(tcase, a_marker_is_no_link);
	tcase_add_loop_test(tcase, a_file_is_removed_in_its_folder_alone, 0, ROWS(removals));
	tcase_add_test(tcase, a_folder_that_is_not_there_is_no_empty_folder);
	tcase_add_test(tcase, parts_are_removed_in_bounded_steps);
	tcase_add_loop_test(tcase, a_folder_lists_what_is_in_it, 0, ROWS(lists));
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
