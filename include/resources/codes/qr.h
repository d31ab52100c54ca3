/* Draws QR codes of links (ISO/IEC 18004): level M, a quiet zone of 4 modules. Not available in a
 * build without libqrencode. Threads: any.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_CODES_QR_H
#define RESOURCES_CODES_QR_H

#include "base/arena.h"

/* True if this build can draw QR codes. */
bool qr_is_there(void);
/* Draws a text as SVG, in the arena. Returns false if the text is too long, or QR codes are not
 * available. */
bool qr_svg(struct arena *arena, struct slice text, struct slice *svg);
/* Draws a text for a terminal: lines of half blocks, each two modules high, in which light modules
 * are drawn. */
bool qr_lines(struct arena *arena, struct slice text, struct slice *lines);

#endif
