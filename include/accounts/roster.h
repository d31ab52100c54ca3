/* A roster: the accounts at one moment. It can be parsed from the text of the accounts file,
 * searched, and written as text. One thread builds it; after that it is const.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ACCOUNTS_ROSTER_H
#define ACCOUNTS_ROSTER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "accounts/client_url.h"
#include "accounts/embed_origins.h"
#include "base/arena.h"
#include "base/digest.h"
#include "base/fault.h"
#include "base/id.h"
#include "base/slice.h"

#define ACCOUNT_NAME_MOST 128
#define ACCOUNT_SECRETS 2
/* 32 random bytes in base64url. The text itself is the key of signatures. */
#define SECRET_TEXT_SIZE 43

struct secret {
	char text[SECRET_TEXT_SIZE + 1];
	int64_t created_at; /* milliseconds since 1970, like all times here */
};

struct account {
	struct id id; /* customerId */
	struct id access_key;
	char id_text[ID_TEXT_SIZE + 1];
	char access_key_text[ID_TEXT_SIZE + 1];
	char name[ACCOUNT_NAME_MOST + 1];
	bool is_enabled;
	int64_t created_at;
	struct secret secrets[ACCOUNT_SECRETS]; /* active secrets, the older one first */
	size_t secret_count; /* 1 or 2 */
	bool is_operator; /* may read the metrics of the service */
	bool logs_joins;
	bool keeps_people; /* sessions=on; if false, the sessions of its rooms are anonymous */
	bool logs_live; /* live_log=on: the event log has who came into rooms and left them */
	/* How many recordings and streams may be carried out at once; how many gigabytes their
	 * files may fill, 0 for any number. */
	int64_t recordings, recordings_gb;
	int64_t times_disabled; /* how often it was disabled; a session ends when this changes */
	char client_url[CLIENT_URL_MOST + 1]; /* empty for the service's own */
	char embed[EMBED_TEXT_MOST + 1]; /* origins, separated by commas; empty for none */
};

#define ACCOUNT_RECORDINGS_USUAL 20
/* A million. */
#define ACCOUNT_NUMBER_MOST 1000000

/* What is wrong in an account. */
struct account_flaw {
	const char *member; /* "client_url", "secrets/0" */
	const char *what; /* a predicate that follows it */
};
/* Reads an object such as account_json returns, and clears the secrets in it. */
bool account_read(const json_t *object, struct account *account, struct account_flaw *flaw);
/* Sets the settings that are on or off, and the numbers, to their defaults. */
void account_set_defaults(struct account *account);
/* Sets a member by the name and value that commands and the file use: operator, log_joins,
 * sessions, live_log (on or off), client_url and embed (empty to remove it), recordings and
 * recordings_gb (a number; empty for the usual one). Returns NULL on success, else the problem, as
 * a predicate that follows the name. */
const char *account_set(struct account *account, struct slice name, struct slice value);
/* Returns all members of the account, including secrets, as a new object. */
json_t *account_json(const struct account *account);
/* Returns the same object with the number of secrets in place of the secrets. */
json_t *account_summary(const struct account *account);

/* A program that makes recordings (anteroom record), and the digest of its secret. */
#define RECORDER_NAME_SIZE 64
#define RECORDER_ACCOUNTS_MOST 64
#define ROSTER_RECORDERS_MOST 1000
struct recorder_key {
	char name[RECORDER_NAME_SIZE + 1];
	unsigned char digest[DIGEST_SIZE]; /* SHA-256 of the secret */
	int64_t created_at;
	/* Whose recordings it may make; all accounts if there are none. */
	struct id accounts[RECORDER_ACCOUNTS_MOST];
	size_t account_count;
};
/* Returns true for 1 to 64 characters out of A-Z a-z 0-9 _ and -. */
bool recorder_name_is_allowed(struct slice name);
/* Returns true if the recorder may make recordings of this account. */
bool recorder_key_serves(const struct recorder_key *key, const struct id *account);

struct roster {
	struct account *accounts; /* in order of creation */
	size_t count;
	struct recorder_key *recorders; /* in order of creation */
	size_t recorder_count;
	/* The accounts sorted for the roster_by_* functions. */
	const struct account **by_id;
	const struct account **by_access_key;
	const struct account **by_name;
	uint64_t generation; /* differs whenever the accounts differ; not 0 */
};

/* Parses the text of an accounts file. Returns NULL and sets FAULT_INTERNAL, with a cause that
 * shows no secret, if the text is not an accounts file, its checksum is wrong, or two accounts
 * share an ID, a name or an access key. */
struct roster *roster_parse(struct slice text, struct fault *fault);
/* Parses the text in a store, which is empty before the first account exists. */
struct roster *roster_parse_stored(struct slice text, struct fault *fault);
/* Returns a roster without accounts. */
struct roster *roster_empty(void);
void roster_close(struct roster *roster);

/* Returns the text of the accounts file, with its checksum. */
struct slice roster_text(struct arena *arena, const struct account *accounts, size_t count,
			 const struct recorder_key *recorders, size_t recorder_count);

/* Return the account, enabled or not, or NULL. It lives as long as the roster. */
const struct account *roster_by_id(const struct roster *roster, const struct id *id);
const struct account *roster_by_access_key(const struct roster *roster,
					   const struct id *access_key);
const struct account *roster_by_name(const struct roster *roster, struct slice name);
/* Returns the key of the recorder with this name, or NULL. */
const struct recorder_key *roster_recorder(const struct roster *roster, struct slice name);
/* Finds an account by its name, or else by its ID, or else by its access key. */
const struct account *roster_find(const struct roster *roster, const char *which);

/* Returns true for 1 to 128 characters out of a-z A-Z 0-9 space - . _ : without a space at either
 * end. */
bool account_name_is_allowed(struct slice name);

#endif
