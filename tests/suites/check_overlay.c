/* The overlays of the durable store, which hold in memory what is not in a file yet.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "scratch.h"
#include "store/gdbm/overlay.h"
#include "suite.h"

START_TEST(an_overlay_keeps_versions)
{
	const struct installation installation = { { 1 } };
	struct overlay_memory *memory = overlay_memory_open();
	struct overlay *overlay = overlay_open(memory, 4096);
	struct overlay_entry *entries;
	struct entry_key key, other;
	struct slice value;
	size_t n;

	entry_key_make(&installation, STORE_RECORD, SLICE("a"), &key);
	entry_key_make(&installation, STORE_INDEX, SLICE("a"), &other);
	overlay_put(overlay, &key, 3, SLICE("three"));
	overlay_put(overlay, &key, 5, (struct slice){ NULL, 0 });
	overlay_put(overlay, &key, 8, SLICE(""));
	ck_assert(!overlay_get(overlay, &key, 2, &value));
	ck_assert(overlay_get(overlay, &key, 4, &value) && slice_is(value, "three"));
	ck_assert(overlay_get(overlay, &key, 7, &value) && value.data == NULL);
	ck_assert(overlay_get(overlay, &key, 8, &value) && value.data != NULL && value.size == 0);
	ck_assert(!overlay_get(overlay, &other, 8, &value));
	entries = overlay_sorted(overlay, 2, &n);
	ck_assert_uint_eq(n, 0);
	free(entries);
	entries = overlay_sorted(overlay, 6, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert(entries[0].value.data == NULL);
	free(entries);
	ck_assert_uint_eq(overlay_last(overlay), 8);
	overlay_release(overlay);
	overlay_memory_close(memory);
}
END_TEST

static bool is_mapped(const void *place)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	unsigned char is_there;

	return mincore((char *)((uintptr_t)place & ~(page - 1)), 1, &is_there) == 0;
}

/* Returns where an overlay in this memory would store a value of this size. */
static const char *value_place(struct overlay *overlay, size_t size)
{
	const struct installation installation = { { 1 } };
	struct entry_key key;
	struct slice value = { arena_zero(scratch.arena, size), size };

	entry_key_make(&installation, STORE_RECORD, SLICE("a"), &key);
	overlay_put(overlay, &key, 1, value);
	ck_assert(overlay_get(overlay, &key, 1, &value));
	return value.data;
}

static const struct kept {
	size_t most;
	size_t size; /* of a value */
	bool is_kept;
} kept[] = {
	{ 0, 100, false }, { 1 << 20, 100, true }, { 1000, 100, false }, { 1 << 20, 1 << 20, false }
};

START_TEST(the_memory_of_an_overlay_is_reused)
{
	const struct kept *row = &kept[_i];
	struct overlay_memory *memory = overlay_memory_open();
	struct overlay *overlay = overlay_open(memory, 4096);
	const char *place;

	overlay_memory_keep(memory, row->most);
	place = value_place(overlay, row->size);
	overlay_release(overlay);
	ck_assert_int_eq(is_mapped(place), row->is_kept);
	if (row->is_kept) {
		overlay = overlay_open(memory, 4096);
		ck_assert_ptr_eq(value_place(overlay, row->size), place);
		overlay_release(overlay);
		overlay_memory_keep(memory, 0);
		ck_assert(!is_mapped(place));
	}
	overlay_memory_close(memory);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("overlay");
	TCase *tcase = tcase_create("overlay");

	tcase_add_checked_fixture(tcase, scratch_open, scratch_close);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, an_overlay_keeps_versions);
	tcase_add_loop_test(tcase, the_memory_of_an_overlay_is_reused, 0, ROWS(kept));
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
