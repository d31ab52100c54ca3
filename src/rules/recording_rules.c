/* See rules/recording_rules.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/recording_rules.h"

#include "base/text.h"
#include "rules/template_rules.h"

/* clang-format off */

#define UPLOAD_TYPE ONE_OF("s3", "gs", "oss", "azure"), FLAGS(FIELD_REQUIRED), \
	DOC("The kind of storage.")
/* Returned only to the request that sent them, and never merged with stored credentials. */
#define CREDENTIALS_FLAGS FLAGS(FIELD_WRITE_ONLY | FIELD_ECHO | FIELD_ATOMIC | FIELD_SECRET)

static const struct text_rule endpoint_text = {
	.sentence = "must be at most 512 bytes",
	.longest = 512,
	.counts_bytes = true,
};
static const struct field upload_options_fields[] = {
	{ "region",   TEXT(any_text), DOC("Region of the bucket's account.") },
	{ "endpoint", TEXT(endpoint_text), EXAMPLE("https://s3.example.org"),
	  DOC("The address of a server that speaks the protocol of Amazon S3; absent or empty: the vendor's own.") },
};
static schema_rule check_endpoint;
static const struct rule upload_options_rules[] = {
	{ "uploadEndpoint",
	  "endpoint is empty, or https:// with a host and perhaps a port; or the same with http:// for a server whose "
	  "address the service allows.",
	  check_endpoint },
	{ NULL, NULL, NULL },
};
static const struct shape upload_options_shape = {
	"UploadOptions", FIELDS(upload_options_fields), .rules = upload_options_rules,
	.doc = "Options of a storage location.",
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

static const struct field upload_test_fields[] = {
	{ "state",   ONE_OF("up", "down"), FLAGS(FIELD_REQUIRED),
	  DOC("up if an empty object could be stored and deleted.") },
	{ "message", TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("What is wrong; empty if all is well.") },
};
const struct shape upload_test_shape = {
	"StorageState", FIELDS(upload_test_fields), .doc = "Result of a test of the storage of recordings.",
};
/* clang-format on */

static void check_endpoint(struct rule_context *context, const json_t *object)
{
	const struct slice endpoint = text_of_json(json_object_get(object, "endpoint"));

	if (endpoint.size > 0 && !text_url_is_origin(endpoint))
		schema_fault(context, "/endpoint",
			     "must be https:// with a host, and a port if any, and nothing else");
}
