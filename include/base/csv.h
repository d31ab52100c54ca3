/* Cells of tables that spreadsheets open (CSV, RFC 4180).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_CSV_H
#define BASE_CSV_H

#include "base/arena.h"
#include "base/slice.h"

/* Tells spreadsheets that the text is UTF-8, at its beginning. */
#define CSV_MARK "\xef\xbb\xbf"

/* Appends a cell, UTF-8, without control characters. What looks like a formula gets an apostrophe,
 * also behind a separator: a spreadsheet may expect another one than the table has. */
void csv_append_cell(struct buffer *text, struct slice cell);

#endif
