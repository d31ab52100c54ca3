/* What Anteroom asks media servers: the requests that arrive at a server, what its answers mean,
 * calls that wait for them (resources/asking.h), and surveys of rooms (background/live_watch.h).
 * The server is a receiver; the requests are made by the real sender process. The program is named
 * by $ANTEROOM, else ./anteroom.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_SERVERS_KIT_H
#define TESTS_SERVERS_KIT_H

#include <check.h>
#include <pthread.h>

#include "world.h"

#define SECRET "0123456789abcdef0123456789abcdef"

extern struct world stand;

void set_up(void);
void tear_down(void);

/* ---- calls ---- */

/* A call whose media server is being asked. */
struct wait {
	pthread_mutex_t lock;
	pthread_cond_t ended;
	bool has_ended;
};

/* The `done` of a call that asks, with its wait. */
void end_wait(void *context, struct asking *asking);

/* The requests of calls find no place at the media server. */
extern bool has_no_place;

/* Does with a call what the edge does. */
void carry_out(struct call *call);

/* Goes on with a call whose media server is to be asked. */
void carry_on(struct call *call);

/* What calls send as Authorization; NULL: a management token. */
extern const char *bearer;

/* Sets the request of the call, with a management token or the bearer. */
void set_request(struct call *call, enum method method, const char *path, const char *body);

/* The body of the response, in the arena of the test. */
const char *body_of(const struct call *call);

/* key: an Idempotency-Key, or NULL. Returns the response. */
const char *ask_with(const char *key, int status, enum method method, const char *path,
		     const char *body);

/* Makes a call that must have this status. Returns the response. */
const char *ask(int status, enum method method, const char *path, const char *body);

/* Returns a copy in which `part` is replaced once. */
struct slice replaced(struct slice text, const char *part, const char *by);
json_t *parsed(const char *text);
const char *text_at(const json_t *object, const char *name);

/* Creates a LiveKit at this URL; returns the path of the backend. */
const char *make_backend(const char *url);

/* Returns the URL of this path of the receiver. */
const char *url_of(const char *path);

/* Asks whether the media server is there. Returns the response. */
json_t *test_backend(const char *backend);
const json_t *health_of(const char *backend);

/* Returns the number of events of the type. */
size_t events(const char *type);

/* ---- a media server with a room ---- */

enum how {
	ANSWERS,
	HANGS,
	TELLS_NONSENSE,
	TELLS_TOO_MUCH,
	HAS_ANOTHER_KEY,
	FAILS,
	LACKS_EVERYBODY,
	UNMUTES, /* answers, and is configured so */
	LOSES_ACTS /* answers who is there, and does not say whether it did something */
};

#define PEOPLE_MOST 300

/* What the media server has. The receiver reads it in its own thread. */
extern struct kit {
	pthread_mutex_t lock;
	enum how how;
	char room[25], sid[32];
	json_int_t created; /* milliseconds */
	struct {
		const char *sid, *identity, *user_id, *entry;
		const char *code; /* or NULL */
		char role[32], name[64];
		char metadata[128], hand[24], consent[24]; /* attributes; empty: none */
		char permission[200]; /* JSON; empty: the server does not say */
		json_int_t joined;
	} people[PEOPLE_MOST];
	size_t count;
	size_t removed, left_before_ada; /* people: in all; before Ada */
	const char *tracks; /* of everybody, as JSON; NULL: some */
	bool hides_rights; /* in lists, so that surveys do not know them */
} kit;

/* Sets how the media server answers. */
void kit_set(enum how how);

/* Somebody joins the room. The media server knows people by their user_id if that is certain. */
void kit_join(const char *sid, const char *identity, const char *user_id, const char *entry);

/* Replaces the people of the room by this one. NULL: nobody is inside. */
void kit_people(const char *sid, const char *entry);

/* Sets the id of the room at the media server, and when it was made. */
void kit_room(const char *sid, json_int_t created);

/* Surveys of rooms; NULL if it does not run. */
extern struct live_watch *watch;

void start_watch(void);
void stop_watch(void);

/* The program starts again, so all media servers are surveyed. */
void restart_watch(void);

/* Paths of the media server and of the room that is in session there. */
extern const char *backend_path, *room_path;

/* The fixture with the media server and a room in session, in which is ada. */
void set_up_kit(void);
void tear_down_kit(void);

/* Asks until the response contains the text, at most so many milliseconds. Returns the response. */
const char *ask_for(const char *path, const char *text, int64_t most);

/* The same, at most 30 s. */
const char *ask_until(const char *path, const char *text);

/* ---- what was asked and told ---- */

/* Returns the first peer of the first session. */
const json_t *first_peer(void);

/* Sends an event of the media server; authorization NULL: signed. */
int tell(const char *authorization, const char *event);

/* Returns the event of a person who has joined. */
const char *joined_event(const char *sid);

/* Returns a join token that was made so many seconds ago. */
const char *token_made(const char *entry, int64_t ago);

/* Returns a join token that is made now. */
const char *token_with_entry(const char *entry);

/* Returns the path of the person inside. */
const char *peer_path(void);

/* Returns the last request with this method that arrived, or NULL. */
const json_t *last_request(const char *method);

/* Returns the number of requests with this method that arrived. */
size_t requests_of(const char *method);

#define GONE "{\"code\":404,\"message\":\"peer not found\"}"
#define MUTED "{\"message\":\"peer mute request submitted\"}"
#define REMOVED "{\"message\":\"peer remove request submitted\"}"
#define ENDED "{\"message\":\"session is ending\"}"
#define REMOVE "RemoveParticipant"
#define END "DeleteRoom"

/* In a body, PEER stands for the one who is inside. */
#define UPDATE "UpdateParticipant"

/* Returns the text with the ids that its letters stand for. */
const char *filled(const char *text);

/* Waits until the media server has got this request, at most 30 s. */
const json_t *await_request(const char *method);

/* Returns the id of the peer with this user_id. */
const char *id_of_peer(const char *user_id);

#define SENT "{\"message\":\"message sent\"}"

/* ---- rooms that do not make themselves ---- */

void set_up_making(void);

/* ---- the files of the suite ---- */

/* Each adds its tests to these cases. */
void add_asked(TCase *asked);
void add_surveys(TCase *live, TCase *promises);
void add_acts(TCase *live, TCase *promises, TCase *inside);
void add_door(TCase *live, TCase *inside);
void add_holds(TCase *holds);
void add_inside(TCase *live, TCase *inside);
void add_events(TCase *live);
void add_making(TCase *making);
void add_placing(TCase *placing);
void add_consent(TCase *consent);
void add_deaths(TCase *deaths);
void add_pools(TCase *pools, TCase *moved);

#endif
