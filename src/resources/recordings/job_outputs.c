/* See resources/recordings/job_outputs.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/recordings/job_outputs.h"

#include <netdb.h>
#include <string.h>

#include "accounts/accounts.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/json_text.h"
#include "base/text.h"
#include "delivery/address.h"
#include "rules/start_rules.h"

#define KEY_LABEL "stream-keys"
/* Shorter secrets are hidden as a whole; of longer ones, so many characters are shown at both
 * ends. */
#define SHOWN_FROM 12
#define SHOWN 3
/* Shorter parts of an address are no secrets, and would be found in any text. */
#define SECRET_LEAST 3

/* Characters of several bytes are not cut. */
static bool is_ascii(struct slice text)
{
	size_t i = 0;

	while (i < text.size && (unsigned char)text.data[i] < 0x80)
		i++;
	return i == text.size;
}

struct slice output_mask(struct arena *arena, struct slice url)
{
	struct buffer masked = BUFFER_INITIAL(arena);
	struct stream_address address;
	struct slice secret;

	if (!stream_address_parse(url, &address))
		return SLICE("{...}");
	secret = address.secret;
	buffer_append(&masked, (struct slice){ url.data, url.size - secret.size });
	if (secret.size == 0)
		return buffer_slice(&masked);
	if (secret.size < SHOWN_FROM || !is_ascii(secret)) {
		buffer_append_text(&masked, "{...}");
		return buffer_slice(&masked);
	}
	buffer_append_byte(&masked, '{');
	buffer_append(&masked, (struct slice){ secret.data, SHOWN });
	buffer_append_text(&masked, "...");
	buffer_append(&masked, (struct slice){ secret.data + secret.size - SHOWN, SHOWN });
	buffer_append_byte(&masked, '}');
	return buffer_slice(&masked);
}

bool output_address_is_allowed(const struct call *call, struct slice url)
{
	const struct recordings *recordings = call->environment->recordings;
	const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM };
	struct stream_address address;
	struct addrinfo *found;
	bool is_allowed = true;

	if (!stream_address_parse(url, &address))
		return false;
	if (getaddrinfo(arena_text(call->arena, "%.*s", (int)address.host.size, address.host.data),
			NULL, &hints, &found) != 0)
		return true;
	for (const struct addrinfo *at = found; at != NULL; at = at->ai_next)
		is_allowed = is_allowed &&
			     (address_is_global(at->ai_addr) ||
			      (recordings != NULL &&
			       address_is_within(at->ai_addr, &recordings->streams_allowed)));
	freeaddrinfo(found);
	return is_allowed;
}

/* ---- sealed ---- */

bool job_outputs_fill(struct call *call, const json_t *urls, struct job *job)
{
	struct accounts *accounts = call->environment->accounts;
	const struct roster *roster = accounts_current(accounts);
	const struct account *account = roster_by_id(roster, &call->account);
	const size_t n = json_array_size(urls);
	unsigned char key[DIGEST_SIZE], nonce[SEAL_NONCE_SIZE];

	/* The newest secret, which lasts longest. */
	if (account != NULL)
		digest_derive_key(slice_of(account->secrets[account->secret_count - 1].text),
				  KEY_LABEL, key);
	accounts_release(accounts, roster);
	if (account == NULL)
		return false;
	job->outputs = arena_zero(call->arena, (n + 1) * sizeof *job->outputs);
	for (job->output_count = 0; job->output_count < n; job->output_count++) {
		const struct slice url = text_of_json(json_array_get(urls, job->output_count));
		unsigned char *sealed = arena_alloc(call->arena, url.size + SEAL_MORE);

		clock_random(call->environment->clock, nonce, sizeof nonce);
		digest_seal(key, nonce, url, sealed);
		job->outputs[job->output_count] = (struct job_output){
			.url = output_mask(call->arena, url),
			.sealed = { (const char *)sealed, url.size + SEAL_MORE },
			.since = call->now,
			.error = SLICE(""),
		};
	}
	explicit_bzero(key, sizeof key);
	return true;
}

bool job_outputs_open(struct call *call, const struct job *job, struct slice *urls)
{
	struct accounts *accounts = call->environment->accounts;
	const struct roster *roster = accounts_current(accounts);
	const struct account *account = roster_by_id(roster, &call->account);
	size_t opened = 0;

	for (size_t i = account == NULL ? 0 : account->secret_count; i-- > 0 && opened == 0;) {
		unsigned char key[DIGEST_SIZE];

		digest_derive_key(slice_of(account->secrets[i].text), KEY_LABEL, key);
		for (; opened < job->output_count; opened++) {
			const struct slice sealed = job->outputs[opened].sealed;
			char *text;

			if (sealed.size <= SEAL_MORE)
				break;
			text = arena_alloc(call->arena, sealed.size - SEAL_MORE);
			if (!digest_open(key, sealed, text))
				break;
			urls[opened] = (struct slice){ text, sealed.size - SEAL_MORE };
		}
		explicit_bzero(key, sizeof key);
	}
	accounts_release(accounts, roster);
	return opened == job->output_count;
}

/* ---- texts of the recorder ---- */

/* Puts another text in the place of each occurrence of a part. */
static struct slice text_replace(struct arena *arena, struct slice text, struct slice part,
				 struct slice by)
{
	struct buffer replaced = BUFFER_INITIAL(arena);
	size_t from = 0, at = 0;

	if (part.size < SECRET_LEAST)
		return text;
	while (at + part.size <= text.size) {
		if (memcmp(text.data + at, part.data, part.size) != 0) {
			at++;
			continue;
		}
		buffer_append(&replaced, (struct slice){ text.data + from, at - from });
		buffer_append(&replaced, by);
		from = at += part.size;
	}
	if (from == 0)
		return text;
	buffer_append(&replaced, (struct slice){ text.data + from, text.size - from });
	return buffer_slice(&replaced);
}

struct slice job_outputs_clean(struct call *call, const struct job *job, struct slice text)
{
	struct slice urls[JOB_OUTPUTS_MOST];

	if (text.size == 0 || job->output_count == 0 || !job_outputs_open(call, job, urls))
		return text;
	for (size_t i = 0; i < job->output_count; i++) {
		struct stream_address address;
		struct slice query, path;

		if (!stream_address_parse(urls[i], &address))
			continue;
		path = text_split(address.secret, '?', &query);
		text = text_replace(call->arena, text, urls[i], job->outputs[i].url);
		text = text_replace(call->arena, text, address.secret, SLICE("{...}"));
		text = text_replace(call->arena, text, path, SLICE("{...}"));
		if (query.data != NULL)
			text = text_replace(call->arena, text, query, SLICE("{...}"));
	}
	return text_cut(text, JOB_ERROR_MOST);
}

/* ---- responses ---- */

void job_outputs_write_urls(struct json_writer *body, const char *name, const struct job *job,
			    const struct slice *urls)
{
	writer_open(body, name, '[');
	for (size_t i = 0; i < job->output_count; i++)
		writer_text(body, NULL, urls != NULL ? urls[i] : job->outputs[i].url);
	writer_close(body, ']');
}

void job_outputs_write(struct json_writer *body, const struct job *job)
{
	writer_open(body, "outputs", '[');
	for (size_t i = 0; i < job->output_count; i++) {
		const struct job_output *output = &job->outputs[i];

		writer_open(body, NULL, '{');
		writer_text(body, "url", output->url);
		writer_plain(body, "state", slice_of(output_state_names[output->state]));
		writer_time_milliseconds(body, "since", output->since);
		writer_text(body, "error", output->error);
		writer_close(body, '}');
	}
	writer_close(body, ']');
}
