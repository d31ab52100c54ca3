/* A roster: the accounts at one moment, parsed from the text of the accounts file, searched, and
 * written as text. One thread builds it; then it is const.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ACCOUNTS_ROSTER_H
#define ACCOUNTS_ROSTER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "accounts/client_url.h"
#include "base/arena.h"
#include "base/fault.h"
#include "base/id.h"
#include "base/slice.h"

#define ACCOUNT_NAME_MOST 128
#define ACCOUNT_SECRETS 2
/* 32 random bytes as base64url. The key of the signature is this text. */
#define SECRET_TEXT_SIZE 43

struct secret {
	char text[SECRET_TEXT_SIZE + 1];
	int64_t created_at; /* milliseconds, as all times here */
};

struct account {
	struct id id; /* customerId */
	struct id access_key;
	char id_text[ID_TEXT_SIZE + 1];
	char access_key_text[ID_TEXT_SIZE + 1];
	char name[ACCOUNT_NAME_MOST + 1];
	bool is_enabled;
	int64_t created_at;
	struct secret secrets[ACCOUNT_SECRETS]; /* active secrets, the older first */
	size_t secret_count; /* 1 or 2 */
	bool is_operator; /* may see how the service is doing */
	bool logs_joins;
	int64_t times_disabled; /* so far; a session ends when it changes */
	char client_url[CLIENT_URL_MOST + 1]; /* empty: the service's own */
};

/* Sets a member by the name and the value that commands and the file have for it: operator,
 * log_joins (on or off), client_url (empty: none). NULL when it was done, else what is wrong, a
 * clause that follows the name. */
const char *account_set(struct account *account, struct slice name, struct slice value);
/* All members of the account, secrets included, as a new object. */
json_t *account_json(const struct account *account);
/* The same, with the number of secrets in their place. */
json_t *account_summary(const struct account *account);

struct roster {
	struct account *accounts; /* in order of creation */
	size_t count;
	/* The accounts sorted for the roster_by_* functions. */
	const struct account **by_id;
	const struct account **by_access_key;
	const struct account **by_name;
	uint64_t generation; /* differs whenever the accounts differ; not 0 */
};

/* Parses the text. NULL and FAULT_INTERNAL with a cause, which shows no secret, when the text is
 * not an accounts file, its checksum is wrong, or two accounts share an id, a name or an access
 * key. */
struct roster *roster_parse(struct slice text, struct fault *fault);
/* The same of the text in a store, which is empty before the first account. */
struct roster *roster_parse_stored(struct slice text, struct fault *fault);
/* A roster without accounts. */
struct roster *roster_empty(void);
void roster_close(struct roster *roster);

/* The text of the accounts file, with its checksum. */
struct slice roster_text(struct arena *arena, const struct account *accounts, size_t count);

/* The account, enabled or not, or NULL. It lives as long as the roster. */
const struct account *roster_by_id(const struct roster *roster, const struct id *id);
const struct account *roster_by_access_key(const struct roster *roster,
					   const struct id *access_key);
const struct account *roster_by_name(const struct roster *roster, struct slice name);
/* `which` is a name, else an id, else an access key. */
const struct account *roster_find(const struct roster *roster, const char *which);

/* 1 to 128 of a-z A-Z 0-9 space - . _ : without a space at either end. */
bool account_name_is_allowed(struct slice name);

#endif
