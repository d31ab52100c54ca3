/* Implements resources/codes/qr.h in a build without libqrencode: QR codes are not available.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/codes/qr.h"

bool qr_is_there(void)
{
	return false;
}

bool qr_svg(struct arena *arena, struct slice text, struct slice *svg)
{
	(void)arena;
	(void)text;
	(void)svg;
	return false;
}

bool qr_lines(struct arena *arena, struct slice text, struct slice *lines)
{
	return qr_svg(arena, text, lines);
}
