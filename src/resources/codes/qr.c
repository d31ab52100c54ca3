/* See resources/codes/qr.h. No other file uses libqrencode.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/codes/qr.h"

#include <limits.h>
#include <qrencode.h>

#define QUIET 4

bool qr_is_there(void)
{
	return true;
}

static QRcode *encode(struct slice text)
{
	if (text.size == 0 || text.size > INT_MAX)
		return NULL;
	return QRcode_encodeData((int)text.size, (const unsigned char *)text.data, 0, QR_ECLEVEL_M);
}

/* The coordinates include the quiet zone. */
static bool is_dark(const QRcode *code, int x, int y)
{
	const int width = code->width;

	x -= QUIET;
	y -= QUIET;
	return x >= 0 && y >= 0 && x < width && y < width && (code->data[y * width + x] & 1) != 0;
}

/* Appends a rectangle for the dark modules of row y that begin at `from`. Returns their end. */
static int append_run(struct buffer *svg, const QRcode *code, int from, int y)
{
	int end = from;

	while (is_dark(code, end, y))
		end++;
	buffer_append_byte(svg, 'M');
	buffer_append_integer(svg, from);
	buffer_append_byte(svg, ' ');
	buffer_append_integer(svg, y);
	buffer_append_byte(svg, 'h');
	buffer_append_integer(svg, end - from);
	buffer_append_text(svg, "v1h-");
	buffer_append_integer(svg, end - from);
	buffer_append_byte(svg, 'z');
	return end;
}

bool qr_svg(struct arena *arena, struct slice text, struct slice *svg)
{
	QRcode *code = encode(text);
	struct buffer written = BUFFER_INITIAL(arena);
	int side;

	if (code == NULL)
		return false;
	side = code->width + 2 * QUIET;
	buffer_append_text(&written, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ");
	buffer_append_integer(&written, side);
	buffer_append_byte(&written, ' ');
	buffer_append_integer(&written, side);
	buffer_append_text(&written,
			   "\" shape-rendering=\"crispEdges\"><path fill=\"#fff\" d=\"M0 0h");
	buffer_append_integer(&written, side);
	buffer_append_byte(&written, 'v');
	buffer_append_integer(&written, side);
	buffer_append_text(&written, "H0z\"/><path d=\"");
	for (int y = 0; y < side; y++) {
		for (int x = 0; x < side;)
			x = is_dark(code, x, y) ? append_run(&written, code, x, y) : x + 1;
	}
	buffer_append_text(&written, "\"/></svg>\n");
	QRcode_free(code);
	*svg = buffer_slice(&written);
	return true;
}

bool qr_lines(struct arena *arena, struct slice text, struct slice *lines)
{
	/* Indexed by the upper and the lower module; 1: dark. */
	static const char *const blocks[2][2] = { { "\u2588", "\u2580" }, { "\u2584", " " } };
	QRcode *code = encode(text);
	struct buffer written = BUFFER_INITIAL(arena);
	int side;

	if (code == NULL)
		return false;
	side = code->width + 2 * QUIET;
	for (int y = 0; y < side; y += 2) {
		for (int x = 0; x < side; x++)
			buffer_append_text(&written,
					   blocks[is_dark(code, x, y)][is_dark(code, x, y + 1)]);
		buffer_append_byte(&written, '\n');
	}
	QRcode_free(code);
	*lines = buffer_slice(&written);
	return true;
}
