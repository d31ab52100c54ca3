/* Webhooks: the endpoints, and what a receiver gets. The service runs in this process, with a
 * durable store and a clock that the tests move; the sender is the program (named by $ANTEROOM,
 * else ./anteroom).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_WEBHOOKS_HOOKS_H
#define TESTS_WEBHOOKS_HOOKS_H

#include <check.h>

#include "background/dispatcher.h"
#include "world.h"

#define MINUTE ((int64_t)60 * 1000)
#define HOUR (60 * MINUTE)

/* Maximum number of simultaneous deliveries of a webhook. */
#define AT_ONCE 4

/* ---- the service ---- */

/* A durable world whose sender is one of webhooks. */
extern struct world stand;

/* When attempts are made; a test may set another one. */
extern struct schedule schedule;

void move_clock(int64_t milliseconds);

/* The fixture. */
void set_up(void);
void tear_down(void);

/* ---- requests ---- */

/* Makes a call that must have this status. Returns the response. */
const char *ask(int status, enum method method, const char *path, const char *body);
json_t *parsed(const char *text);
json_t *ask_json(int status, enum method method, const char *path, const char *body);
const char *text_at(const json_t *object, const char *name);

/* Returns the path of the webhook, and what follows it. */
const char *path_of(const json_t *webhook, const char *more);

/* Returns the URL of this path of the receiver. */
const char *url_of(const char *path);

/* Creates a webhook for this path of the receiver; more: additional members. */
json_t *make(const char *path, const char *more);

/* Creates so many rooms, each with a name of its own. */
void make_rooms(unsigned n);

/* The webhook gets only events of rooms; a template for rooms exists. */
#define ROOMS ",\"events\":[\"room.*\"]"

void make_template(void);

/* Waits until this holds, at most 30 s. Returns false if it does not. */
bool wait_until(bool (*holds)(const void *), const void *context);

/* Returns the deliveries of the webhook in this state; empty: all. */
const json_t *deliveries(const json_t *webhook, const char *state);

/* Waits until so many deliveries have this state. */
void expect_deliveries(const json_t *webhook, const char *state, size_t n);

/* Waits until so many deliveries have succeeded. */
void expect_delivered(uint64_t n);

/* Waits until n attempts have a stored outcome. */
void expect_ended(uint64_t n);

/* Returns true if a signature was made with the secret in the response. */
bool is_signed(const struct received *received, const char *signature, const char *secret);

/* Returns true if the webhook is disabled. */
bool is_disabled(const void *context);

/* Gives the webhook another path of the receiver. */
void point_to(const json_t *webhook, const char *path);

/* Adds an account, which makes the calls from now on. */
void use_account(const char *name);

/* Expects each of the rooms to have arrived at least once. */
void expect_all_rooms(size_t n);

/* ---- the files of the suite ---- */

/* Each adds its tests to these cases. */
void add_endpoints(TCase *calls);
void add_deliveries(TCase *sent);
void add_once(TCase *sent);
void add_damage(TCase *sent, TCase *damaged);

#endif
