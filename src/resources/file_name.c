/* See resources/file_name.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/file_name.h"

#include <string.h>

#include "base/text.h"

struct slice file_name_header(struct arena *arena, const struct file_name *file)
{
	struct buffer plain = BUFFER_INITIAL(arena), exact = BUFFER_INITIAL(arena);
	struct buffer header = BUFFER_INITIAL(arena);

	for (struct slice rest = file->name; rest.size > 0;) {
		const struct slice before = rest;
		const uint32_t character = text_take_character(&rest);
		const bool is_rejected = character < ' ' ||
					 memchr("/\\:*?\"<>|%", *before.data, 10) != NULL;

		buffer_append_byte(&plain, is_rejected || character >= 0x7f ? '_' : *before.data);
		if (is_rejected && *before.data != '%')
			buffer_append_byte(&exact, '_');
		else
			buffer_append(&exact,
				      (struct slice){ before.data, before.size - rest.size });
	}
	buffer_append_text(&header, file->is_inline ? "inline" : "attachment");
	buffer_append_text(&header, "; filename=\"");
	buffer_append_text(&header, file->before);
	buffer_append(&header, buffer_slice(&plain));
	buffer_append_byte(&header, ' ');
	buffer_append(&header, file->day);
	buffer_append_text(&header, file->suffix);
	buffer_append_text(&header, "\"; filename*=UTF-8''");
	text_encode(&header, slice_of(file->before));
	text_encode(&header, buffer_slice(&exact));
	buffer_append_text(&header, "%20");
	buffer_append(&header, file->day);
	buffer_append_text(&header, file->suffix);
	return buffer_slice(&header);
}
