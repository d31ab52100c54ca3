/* See rules/recording_rules.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/recording_rules.h"

/* clang-format off */

#define UPLOAD_TYPE ONE_OF("s3", "gs", "oss", "azure"), FLAGS(FIELD_REQUIRED), \
	DOC("The kind of storage.")
/* Returned only to the request that sent them, and never merged with stored credentials. */
#define CREDENTIALS_FLAGS FLAGS(FIELD_WRITE_ONLY | FIELD_ECHO | FIELD_ATOMIC | FIELD_SECRET)

static const struct field upload_options_fields[] = {
	{ "region", TEXT(any_text), DOC("Region of the bucket's account.") },
};
static const struct shape upload_options_shape = {
	"UploadOptions", FIELDS(upload_options_fields), .doc = "Options of a storage location.",
};

static const struct field upload_credentials_fields[] = {
	{ "key",       TEXT(some_text), FLAGS(FIELD_REQUIRED), DOC("Access key ID.") },
	{ "secretKey", TEXT(some_text), FLAGS(FIELD_REQUIRED), DOC("Secret access key.") },
};
static const struct shape upload_credentials_shape = {
	"UploadCredentials", FIELDS(upload_credentials_fields), .doc = "Credentials of a bucket.",
};

static const struct field upload_fields[] = {
	{ "type",        UPLOAD_TYPE },
	{ "location",    TEXT(some_text), FLAGS(FIELD_REQUIRED), DOC("Bucket name.") },
	{ "prefix",      TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("Upload prefix path.") },
	{ "options",     OBJECT(upload_options_shape), DOC("Options of the storage.") },
	{ "credentials", OBJECT(upload_credentials_shape), CREDENTIALS_FLAGS,
	  DOC("Only the response to the request that sent them contains them.") },
};
const struct shape upload_shape = {
	"Upload", FIELDS(upload_fields), .doc = "The storage location of recordings.",
};

static const struct field upload_info_credentials_fields[] = {
	{ "key",    TEXT(some_text), FLAGS(FIELD_REQUIRED), DOC("Access key ID.") },
	{ "secret", TEXT(some_text), FLAGS(FIELD_REQUIRED), DOC("Secret access key.") },
};
static const struct shape upload_info_credentials_shape = {
	"UploadInfoCredentials", FIELDS(upload_info_credentials_fields),
	.doc = "Credentials of a bucket.",
};

static const struct field upload_info_fields[] = {
	{ "type",        UPLOAD_TYPE },
	{ "location",    TEXT(some_text), FLAGS(FIELD_REQUIRED), DOC("Bucket name.") },
	{ "prefix",      TEXT(any_text), DOC("Upload prefix path.") },
	{ "options",     OBJECT(upload_options_shape), DOC("Options of the storage.") },
	{ "credentials", OBJECT(upload_info_credentials_shape), CREDENTIALS_FLAGS,
	  DOC("Only the response to the request that sent them contains them.") },
};
const struct shape upload_info_shape = {
	"UploadInfo", FIELDS(upload_info_fields), .doc = "The storage location of recordings.",
};

static const struct field recording_rules_fields[] = {
	{ "consent",  ONE_OF("notice", "asked", "required"), DEFAULT("notice"), COMPONENT("RecordingConsent"),
	  DOC("Whether people are told, are asked, or have to agree before they join.") },
	{ "keepDays", INTEGER(1, 3650),
	  DOC("Days after which a file is deleted. Default: as the service says.") },
	{ "chat",     BOOLEAN(), DEFAULT(false), DOC("Whether what is written to everybody is kept, too.") },
};
const struct shape recording_rules_shape = {
	"RecordingRules", FIELDS(recording_rules_fields),
	.doc = "Who is recorded, how long files are kept, and whether the chat is.",
};
