/* Values that tests/scripts/gdb.sh prints with the pretty printers in tests/gdb.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/arena.h"
#include "base/fault.h"
#include "base/id.h"
#include "base/slice.h"

/* Global, so that gdb finds them however the program was optimised. */
struct slice printed_slice, printed_absent, printed_long;
struct buffer printed_buffer;
struct id printed_id;
struct fault printed_fault, printed_no_fault;
struct arena *printed_arena;
json_t *printed_json, *printed_list, *printed_no_json;

/* The breakpoint. */
void printed_are_set(void);

__attribute__((noinline)) void printed_are_set(void)
{
	__asm__ volatile("" ::: "memory");
}

int main(void)
{
	static const char all[] =
		"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	struct buffer text;

	printed_arena = arena_open();
	(void)arena_alloc(printed_arena, 1000);
	(void)arena_json(printed_arena, json_object());
	text = BUFFER_INITIAL(printed_arena);
	for (int i = 0; i < 4; i++)
		buffer_append_text(&text, all);
	printed_slice = SLICE("a \"quoted\" \xc3\xa9\n\x01\xff");
	printed_long = buffer_slice(&text);
	printed_buffer = BUFFER_INITIAL(printed_arena);
	buffer_append_text(&printed_buffer, "grows");
	printed_id = id_lowest(0x6925c841, 0xb1);
	(void)fault_explain(&printed_fault, FAULT_NOT_FOUND, "Room not found", "no room %d", 7);
	(void)fault_cause(&printed_fault, FAULT_DAMAGED, 0, "a second fault is not kept");
	printed_json = json_pack("{s:s, s:i, s:f, s:b, s:n, s:[i, {s:s}], s:{}}", "name", "monday",
				 "size", -12, "ratio", 0.5, "enabled", 1, "none", "items", 1,
				 "deep", "value", "empty");
	printed_list = json_array();
	for (int i = 0; i < 25; i++)
		array_put(printed_list, json_integer(i));
	printed_fault.details = printed_list;
	printed_are_set();
	json_decref(printed_list);
	json_decref(printed_json);
	arena_close(printed_arena);
	return 0;
}
