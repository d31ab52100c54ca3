/* QR codes of links (ISO/IEC 18004): level M, a quiet zone of 4 modules. A build without
 * libqrencode makes none. Any thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_CODES_QR_H
#define RESOURCES_CODES_QR_H

#include "base/arena.h"

/* Whether this build makes them. */
bool qr_is_there(void);
/* The code of a text as SVG, in the arena. False: the text is too long, or this build makes
 * none. */
bool qr_svg(struct arena *arena, struct slice text, struct slice *svg);
/* The same for a terminal: lines of half blocks, two modules high, in which light modules are
 * drawn. */
bool qr_lines(struct arena *arena, struct slice text, struct slice *lines);

#endif
