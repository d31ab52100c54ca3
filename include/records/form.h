/* The stored form: what the bytes of all records mean, as far as it follows from the tables
 * (records/record.h). The store keeps the form of its records (struct store_form), and the first
 * line of a dump has that of its lines, so that a program knows before it reads a record whether it
 * can. Nobody counts versions by hand.
 *
 * A form is a text that has a part for each kind, TAG=N:SUM, separated by blanks: the letter of the
 * kind, the number of rows of its table, and the CRC32C of the first N rows in hexadecimal digits.
 * Each member of a kind with the names of a choice (AS_CHOICE) has a part of its own, whose rows
 * are the names: K/role=3:0a1b2c3d.
 *
 * The rows of a kind are those of its table and of the tables of its items, in the order of the
 * versions that they are SINCE and, within a version, in the order in which they are stored. A row
 * is summed with what decides how its bytes are read: its name, its type, its width, its place
 * among the rows of its version and the earlier ones, and when it is stored. Limits, and whether a
 * dump may omit it, are not summed, nor is anything that only describes. The first row is preceded
 * by what the table says about the kind: whether it has names, pages, a parent, a switch and
 * ends.
 *
 * Two forms are compared part by part:
 *
 *  - The same: the first N rows of the present table give the sum. Rows after these are no change
 *    if records without them can be read, because they are SINCE a later version than the first
 *    ones or depend on a bit (WHEN) that these do not use. Nor is a kind, or a name of a choice,
 *    that was added.
 *  - Newer: the other form has more rows than the table, or a kind that this program does not know.
 *  - Another one: any other difference. If the other form is that of an earlier version, its
 *    number says so (records/upgrade.h), and it is compared with the tables of that version.
 *
 * What a program adds is in the store's form before it can write the first record with it, so an
 * older program finds it when it starts. One that was already running does not check the form
 * again: it learns from the version of the first such record (record_read).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RECORDS_FORM_H
#define RECORDS_FORM_H

#include "records/record.h"

/* Returns the form of these tables, in the arena. */
struct slice form_text(struct arena *arena, const struct record_table *const *tables, size_t n);
/* Compares a form that was kept with that of these tables. */
enum store_form_match form_compare(const struct record_table *const *tables, size_t n,
				   struct slice kept);

#endif
