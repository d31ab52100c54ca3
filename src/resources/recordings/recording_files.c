/* See resources/recordings/recording_files.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/recordings/recording_files.h"

#include <stdlib.h>

#include "accounts/accounts.h"
#include "base/digest.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "records/kinds.h"
#include "resources/public_url.h"
#include "resources/recordings/job_answer.h"
#include "resources/recordings/job_merge.h"
#include "resources/recordings/recording_folder.h"
#include "resources/recordings/recording_storage.h"
#include "resources/recordings/recordings.h"
#include "rules/start_rules.h"

#define KEY_LABEL "recording-files"
#define SIGNATURE_SIZE (2 * DIGEST_SIZE)
/* The location of nginx that has the files (nginx/server.conf.in). */
#define NGINX_LOCATION "/anteroom-recordings/"

/* ---- signatures ---- */

/* What a link says; texts as they stand in it. */
struct link {
	struct slice account, asset, expires;
	bool is_inline;
};

static void link_sign(struct arena *arena, const struct link *link, const struct secret *secret,
		      char signature[SIGNATURE_SIZE])
{
	const char *text = arena_text(arena, "%.*s\n%.*s\n%.*s\n%s", (int)link->account.size,
				      link->account.data, (int)link->asset.size, link->asset.data,
				      (int)link->expires.size, link->expires.data,
				      link->is_inline ? "inline" : "");
	unsigned char key[DIGEST_SIZE], mac[DIGEST_SIZE];

	digest_derive_key(slice_of(secret->text), KEY_LABEL, key);
	digest_hmac_sha256((struct slice){ (const char *)key, sizeof key }, slice_of(text), mac);
	explicit_bzero(key, sizeof key);
	text_hex(mac, sizeof mac, signature);
}

/* Compares in constant time. */
static bool signatures_are_equal(const char *signature, const char *other)
{
	const bool begin = digest_equal(signature, other);
	const bool end = digest_equal(signature + DIGEST_SIZE, other + DIGEST_SIZE);

	return begin && end;
}

/* Returns a link to a file in the folder of the service. */
static struct slice link_to_file(struct call *call, const struct asset *asset, int64_t expires,
				 bool is_inline)
{
	struct accounts *accounts = call->environment->accounts;
	const struct roster *roster = accounts_current(accounts);
	const struct account *account = roster_by_id(roster, &call->account);
	struct buffer url = BUFFER_INITIAL(call->arena);
	char signature[SIGNATURE_SIZE];
	const struct link link = {
		.account = slice_of(call->account_text),
		.asset = id_as_text(call->arena, &asset->stored.id),
		.expires = slice_of(arena_text(call->arena, "%lld", (long long)expires)),
		.is_inline = is_inline,
	};

	/* The newest secret, which lasts longest. */
	if (account != NULL)
		link_sign(call->arena, &link, &account->secrets[account->secret_count - 1],
			  signature);
	accounts_release(accounts, roster);
	if (account == NULL)
		return (struct slice){ NULL, 0 };
	buffer_append(&url, public_url_of(call));
	buffer_append_text(&url, "/v2/recording-files/");
	buffer_append(&url, link.account);
	buffer_append_byte(&url, '/');
	buffer_append(&url, link.asset);
	buffer_append_text(&url, "?expires=");
	buffer_append(&url, link.expires);
	buffer_append_text(&url, "&signature=");
	buffer_append(&url, (struct slice){ signature, sizeof signature });
	if (is_inline)
		buffer_append_text(&url, "&inline=1");
	return buffer_slice(&url);
}

/* Returns a link to an object, whose storage sends it. */
static bool link_to_object(struct call *call, const struct asset *asset, int64_t seconds,
			   bool is_inline, struct slice *url, struct fault *fault)
{
	const struct bucket_pair parameters[] = {
		{ "response-content-disposition",
		  asset_name_of_file(call->arena, asset, is_inline) },
		{ "response-content-type", slice_of(asset_type_of_file(asset)) },
	};
	struct bucket bucket;
	bool is_there;

	*url = (struct slice){ NULL, 0 };
	if (!storage_find_of_asset(call, asset, &bucket, &is_there, fault))
		return false;
	if (is_there)
		*url = bucket_link(call->arena, &bucket, "GET", asset->path, call->now / 1000,
				   seconds, parameters, 2);
	return true;
}

bool recording_link(struct call *call, const struct asset *asset, int64_t seconds, bool is_inline,
		    struct slice *url, struct fault *fault)
{
	if (asset->storage.size > 0)
		return link_to_object(call, asset, seconds, is_inline, url, fault);
	*url = link_to_file(call, asset, call->now / 1000 + seconds, is_inline);
	return true;
}

bool recording_answer_link(struct call *call, const struct asset *asset, struct fault *fault)
{
	const json_t *sent = json_object_get(call->query, "presign_duration");
	const bool is_inline = json_object_get(call->query, "inline") != NULL;
	struct json_writer body = writer_begin(call->arena, false);
	const int64_t seconds = sent != NULL		     ? json_integer_value(sent)
				: asset->presign_seconds > 0 ? (int64_t)asset->presign_seconds
							     : LINK_SECONDS_USUAL;
	struct slice url;

	if (!recording_link(call, asset, seconds, is_inline, &url, fault))
		return false;
	if (url.data == NULL && asset->storage.size > 0)
		return fault_explain(fault, FAULT_CONFLICT,
				     "This storage cannot be used for recordings",
				     "neither the room nor its template has credentials of the "
				     "storage any more");
	if (url.data == NULL)
		return fault_set(fault, FAULT_NOT_FOUND, "recording asset not found");
	writer_plain(&body, "id", id_as_text(call->arena, &asset->stored.id));
	writer_text(&body, "path", asset_path_text(call->arena, asset));
	writer_text(&body, "url", url);
	writer_integer(&body, "expiry", seconds);
	return call_answer(call, writer_end(&body));
}

/* Returns true if a secret of the account has signed the link, and it has not expired. */
static bool link_is_valid(struct call *call, const struct link *link, struct slice signature,
			  const struct account *account)
{
	char expected[SIGNATURE_SIZE];
	bool is_signed = false;
	int64_t expires;

	if (signature.size != SIGNATURE_SIZE || !text_integer(link->expires, &expires))
		return false;
	for (size_t i = 0; i < account->secret_count; i++) {
		link_sign(call->arena, link, &account->secrets[i], expected);
		is_signed = signatures_are_equal(expected, signature.data) || is_signed;
	}
	return is_signed && call->now / 1000 < expires;
}

/* ---- files ---- */

bool recording_file_is_there(const struct call *call, const struct asset *asset)
{
	const struct recordings *recordings = call->environment->recordings;
	struct folder_file file;

	return recordings != NULL && recordings->folder != NULL && asset->folder.size > 0 &&
	       slice_equal(asset->folder, recordings_folder_id(call)) &&
	       folder_find(recordings->folder, asset->path, &file) == FOLDER_DONE;
}

/* Has the web server send the file. nginx says nothing about itself; it takes an address of its own
 * (X-Accel-Redirect). Apache and lighttpd take a path. */
static bool answer_file(struct call *call, const struct asset *asset, bool is_inline)
{
	const struct slice software = call->request.software;
	struct buffer place = BUFFER_INITIAL(call->arena);
	const bool takes_path = software.size > 0 && !slice_begins(software, SLICE("nginx"));

	buffer_append_text(&place,
			   takes_path ? call->environment->recordings->folder : NGINX_LOCATION);
	if (takes_path)
		buffer_append_byte(&place, '/');
	buffer_append(&place, asset->path);
	call_header(call, "Content-Type", slice_of(asset_type_of_file(asset)));
	call_header(call, "Content-Disposition", asset_name_of_file(call->arena, asset, is_inline));
	call_header(call, takes_path ? "X-Sendfile" : "X-Accel-Redirect", buffer_slice(&place));
	return call_answer(call, SLICE(""));
}

static bool is_not_valid(struct fault *fault)
{
	return fault_set(fault, FAULT_FORBIDDEN, "Link is not valid");
}

bool recording_files_get(struct call *call, struct fault *fault)
{
	struct accounts *accounts = call->environment->accounts;
	const struct slice is_inline = call_query_text(call, "inline");
	const struct link link = {
		.account = call->parameters[0],
		.asset = call->parameters[1],
		.expires = call_query_text(call, "expires"),
		.is_inline = is_inline.data != NULL,
	};
	const struct roster *roster;
	const struct account *account;
	bool is_valid, is_enabled;
	struct asset asset;
	struct id id;

	if (!id_parse(link.account, &call->account) || !id_parse(link.asset, &id) ||
	    link.expires.data == NULL || (link.is_inline && !slice_is(is_inline, "1")))
		return is_not_valid(fault);
	roster = accounts_current(accounts);
	account = roster_by_id(roster, &call->account);
	is_valid = account != NULL &&
		   link_is_valid(call, &link, call_query_text(call, "signature"), account);
	is_enabled = is_valid && account->is_enabled;
	accounts_release(accounts, roster);
	if (!is_valid)
		return is_not_valid(fault);
	if (!is_enabled)
		return fault_set(fault, FAULT_FORBIDDEN, "Account is disabled");
	call_set_account(call);
	if (!record_get(&asset_table, call->transaction, &id, STORE_TO_SHOW, &asset, fault))
		return false;
	if (asset.stored.value.data == NULL || !recording_file_is_there(call, &asset))
		return fault_set(fault, FAULT_NOT_FOUND, "recording asset not found");
	return answer_file(call, &asset, link.is_inline);
}
