/* Who may be inside a room. Everybody who lets people in or puts them out asks one table of rules
 * (entry_rules.c):
 *
 *     exchange    POST /v2/token: a code is exchanged for a join token
 *     livekit     the same at LiveKit's token endpoint
 *     look        GET /v2/join: what a code opens; nothing is counted
 *     waiting     GET /v2/tickets: nothing is decided about the ticket. First the room alone is
 *                 asked about; only if that keeps people out are the code and the person
 *     admitted    the same, once it is admitted: it is exchanged as the code would be
 *     token       POST /v2/token/join: a join token gives access to the media server
 *     caller      a call from inside a room, with a join token
 *     new inside  a stay that a media server tells of for the first time (live_merge.h)
 *     inside      a room in session, and the people in it (live_judge.h)
 *     role        somebody inside is given another role
 *
 * What is asked, in this order; the lists are in entry_rules.c:
 *
 *     exchange, livekit, admitted   code (known, room, role, switch, account, times and uses), ban,
 *                                   opening times, user_id, role (livekit), door (not admitted),
 *                                   places
 *     look, waiting                 the same without door and places; look without bans, waiting
 *                                   whether or not the room is open yet
 *     token, caller                 room, opening times, code, user_id, ban, removal; and, before
 *                                   the media server is asked, role and places
 *     new inside                    ban, removal
 *     inside                        the room (deleted, disabled, longest duration, opening times);
 *                                   each person (removal, ban, role, opening times); places
 *     role                          role, places of the role
 *
 * A rule is a row: what it asks, whom it is about, and what follows from it: the refusal, and why
 * somebody inside leaves. What it asks are facts. A struct entrant has those that its owner has
 * read anyway; all others are read when a rule first asks for them, so what costs a read stands
 * after what costs none, and a rule that is not asked reads nothing. What an endpoint wants to know
 * in addition, such as whether the media server is a LiveKit, is not a rule and stays with the
 * endpoint.
 *
 * Threads: an entrant belongs to one call; the tables are constant.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_ENTRY_RULES_ENTRY_RULES_H
#define RESOURCES_ENTRY_RULES_ENTRY_RULES_H

#include "accounts/accounts.h"
#include "resources/codes/code_life.h"
#include "resources/live/live_limits.h"
#include "resources/stored/media_record.h"

enum entry_moment {
	ENTRY_EXCHANGE,
	ENTRY_LIVEKIT,
	ENTRY_LOOK,
	ENTRY_WAITING,
	ENTRY_ADMITTED,
	ENTRY_TOKEN,
	ENTRY_CALLER,
	ENTRY_NEW_INSIDE,
	ENTRY_INSIDE,
	ENTRY_ROLE,
	ENTRY_MOMENTS
};

enum entry_rule_name {
	ENTRY_NO_RULE,
	ENTRY_CODE_UNKNOWN,
	ENTRY_ACCOUNT_UNKNOWN,
	ENTRY_ROOM_DELETED,
	ENTRY_ROOM_DISABLED,
	ENTRY_ROLE_DELETED,
	ENTRY_CODE_DISABLED,
	ENTRY_ACCOUNT_DISABLED,
	ENTRY_CODE_EXPIRED,
	ENTRY_CODE_USED_UP,
	ENTRY_CODE_NOT_YET_VALID,
	ENTRY_BANNED,
	ENTRY_REMOVED,
	ENTRY_ROOM_NOT_OPEN,
	ENTRY_ROOM_CLOSED,
	ENTRY_SESSION_TOO_LONG,
	ENTRY_OTHER_USER,
	ENTRY_DENIED,
	ENTRY_NEEDS_ADMISSION,
	ENTRY_ROLE_ADMITS_NOBODY,
	ENTRY_ROLE_FULL,
	ENTRY_ROOM_FULL,
	ENTRY_RULES
};

/* Whom a rule is about. Inside, a rule of the room ends the room. */
enum entry_scope {
	ENTRY_OF_ROOM = 1 << 0, /* everybody */
	ENTRY_OF_PERSON = 1 << 1, /* by the code, the token or the stay */
	ENTRY_OF_DOOR = 1 << 2, /* a person who is to wait until somebody lets them in */
	ENTRY_OF_ROLE = 1 << 3, /* everybody with the role */
	/* Whoever comes when others are inside. Among those inside, the last of the role or of the
	 * room must go: the judge goes by the numbers, and does not ask about each person. */
	ENTRY_OF_PLACE = 1 << 4
};

struct entrant;

/* Returns true if the rule keeps the entrant out. */
typedef bool entry_question(struct entrant *entrant);

struct entry_rule {
	entry_question *is_broken;
	enum entry_scope scope;
	/* It is broken from `time` on, so the room is judged again then. */
	bool begins;
	bool caps_tokens; /* so join tokens end then */
	/* The permission of a role whose people the rule does not concern; NULL for none. Such a
	 * rule of the room ends the room only if nobody inside has the permission. */
	const char *spares;
	/* The refusal. */
	enum fault_kind status;
	const char *message;
	enum join_refusal refusal; /* the label of the metric; JOIN_NOT_REFUSED: not counted */
	unsigned misses; /* bits of moments at which it is a miss (resources/misses.h) */
	/* Details: the name of a time and the time in milliseconds, or a reason that somebody
	 * wrote. NULL for none. */
	const char *time_name;
	int64_t (*time)(struct entrant *entrant);
	struct slice (*reason)(struct entrant *entrant);
	/* Why somebody inside leaves; and the words for the people (NULL: the name of the cause),
	 * and for the event log if the room ends. */
	enum leave_cause cause;
	const char *word, *logged;
	bool is_of_role; /* ENTRY_OF_PLACE: the places are those of the role */
};

extern const struct entry_rule entry_rules[ENTRY_RULES];

/* Returns the rule that is asked at the moment after `rank` others; ENTRY_NO_RULE after the last
 * one. */
enum entry_rule_name entry_rule_at(enum entry_moment moment, size_t rank);

/* A person whom the rules are asked about, or a room. What is not known at the moment stays zero;
 * its rules do not ask for it. Everything is borrowed. */
struct entrant {
	struct call *call;
	enum entry_moment moment;

	/* ---- facts that the owner sets ---- */

	const struct room_record *room; /* NULL if it is deleted */
	const struct template_record *template; /* unset until the role is known */
	const struct account *account; /* NULL if it does not exist */
	bool names_code; /* the person came by a code */
	const struct code *code; /* NULL if it is not known, or deleted */
	bool code_is_enabled;
	bool is_repeated; /* an exchange that was counted before */
	struct slice role; /* its present name; data NULL if it is not known */
	bool has_no_role; /* that of the code, or of the stay, is deleted */
	struct slice user_id; /* of the person; empty if it has none */
	struct slice claimed_user; /* which the code must have; data NULL for any */
	struct slice entry; /* of the person's token; empty if it has none */
	struct slice code_hash; /* of the code; data NULL until it is known */
	const struct media *media; /* of the account; NULL if it has none */
	const struct backend *backend; /* of the room; NULL if it has none */
	/* At a door. */
	bool is_denied, is_patient; /* is_patient: wants a ticket */
	struct slice denial; /* what a moderator wrote */
	/* Of a room in session. */
	const struct live *live;
	const struct peer *peer; /* NULL: the room is asked about */
	bool checks_bans; /* else what was found when the person came in holds */

	/* ---- facts that are read when they are asked for ---- */

	const json_t *role_document, *room_document;
	struct slice removal; /* what was written when the person was put out */
	int64_t longest_end; /* of the session, in milliseconds; 0 until it is known */
	bool has_fit;
	enum live_fit fit;

	/* ---- results ---- */

	/* The time, in milliseconds, from which on a rule that holds now is broken, if that is
	 * earlier than what was set. */
	int64_t until;
	bool spares_some; /* a rule of the room is broken, but not for somebody inside */
	struct fault *fault; /* of the question being asked */
};

/* Asks the rules of these scopes that count at the moment, in their order there, up to the first
 * that is broken: *broken, or NULL if the entrant may be inside. Returns false if a fact could not
 * be read. scopes: of enum entry_scope. */
bool entry_find(struct entrant *entrant, unsigned scopes, const struct entry_rule **broken,
		struct fault *fault);
/* Does the same, and refuses with the first rule that is broken. */
bool entry_check(struct entrant *entrant, unsigned scopes, struct fault *fault);
/* Refuses with a rule. */
bool entry_refuse(struct entrant *entrant, enum entry_rule_name name, struct fault *fault);

/* ---- facts that others use too ---- */

/* The documents of the role, which must be known, and of the room: decoded when they are first
 * needed, because most exchanges need neither. */
const json_t *entrant_role(struct entrant *entrant);
const json_t *entrant_room(struct entrant *entrant);
/* Returns true if the account set the user_id, not the person. */
bool entrant_user_is_known(const struct entrant *entrant);
/* Sets the role to another one of the template. */
void entrant_set_role(struct entrant *entrant, struct slice role);

#endif
