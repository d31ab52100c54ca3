/* See rules/transfer_rules.h. No row has a default, because a dump is complete. Faults never show
 * codes or secrets.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/transfer_rules.h"

#include "rules/text_rules.h"

/* clang-format off */

#define REQUIRED FLAGS(FIELD_REQUIRED)

/* ---- the first line and the last ---- */

static const struct field dump_fields[] = {
	{ "format",  INTEGER(1, 1), REQUIRED, DOC("Format of the lines that follow.") },
	{ "number",  INTEGER(1, UNLIMITED), DOC("The number of the form; if it is absent, that of the first version.") },
	{ "form",    TEXT(any_text), REQUIRED, DOC("The form of the records.") },
	{ "program", TEXT(any_text), REQUIRED },
	{ "made_at", TEXT(time_text), REQUIRED },
};
static const struct shape dump_shape = {
	"DumpHead", FIELDS(dump_fields), .doc = "The first line.",
};

static const struct field end_fields[] = {
	{ "accounts", INTEGER(0, UNLIMITED), REQUIRED },
	{ "lines",    KEPT_OBJECT(), REQUIRED, DOC("Number of lines of each kind; a kind without lines is absent.") },
};
static const struct shape end_shape = {
	"DumpEnd", FIELDS(end_fields),
	.doc = "The last line, with the number of lines of each kind before it.",
};

/* ---- accounts ---- */

static const struct field secret_fields[] = {
	{ "secret",     TEXT(bytes_32_text), FLAGS(FIELD_REQUIRED | FIELD_SECRET) },
	{ "created_at", TEXT(time_text), REQUIRED },
};
static const struct shape secret_shape = {
	"DumpSecret", FIELDS(secret_fields), .doc = "An active secret of an account.",
};
static const struct field secret_item = { .name = NULL, OBJECT(secret_shape) };

static const struct field account_fields[] = {
	{ "id",               TEXT(id_text), REQUIRED },
	{ "name",             TEXT(name_text), REQUIRED },
	{ "access_key",       TEXT(id_text), REQUIRED },
	{ "enabled",          BOOLEAN(), REQUIRED },
	{ "created_at",       TEXT(time_text), REQUIRED },
	{ "secrets",          LIST_OF(secret_item), MOST(2), REQUIRED, DOC("Secrets, the older first.") },
	{ "operator",         BOOLEAN(), DOC("false if absent.") },
	{ "log_joins",        BOOLEAN(), DOC("false if absent.") },
	{ "sessions",         BOOLEAN(), DOC("true if absent.") },
	{ "live_log",         BOOLEAN(), DOC("true if absent.") },
	{ "client_url",       TEXT(any_text), DOC("None if absent.") },
	{ "embed",            TEXT(any_text), DOC("None if absent.") },
	{ "recordings",       INTEGER(0, 1000000), DOC("20 if absent.") },
	{ "recordings_gb",    INTEGER(0, 1000000), DOC("0 if absent.") },
	{ "times_disabled",   INTEGER(1, UNLIMITED), DOC("0 if absent.") },
};
static const struct shape account_shape = {
	"DumpAccount", FIELDS(account_fields),
	.doc = "An account. The lines up to the next account belong to it.",
};

/* ---- a line ---- */

static const struct field line_fields[] = {
	{ "dump",    OBJECT(dump_shape) },
	{ "account", OBJECT(account_shape) },
	{ "end",     OBJECT(end_shape) },
};
const struct shape transfer_line_shape = {
	"DumpLine", FIELDS(line_fields), .doc = "A line of a dump, which has one of these members.",
};

/* clang-format on */
