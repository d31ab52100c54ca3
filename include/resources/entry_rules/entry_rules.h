/* Who may be inside a room. Everybody who lets people in or puts them out asks one table of rules
 * (entry_rules.c):
 *
 *     exchange    POST /v2/token: a code is exchanged for a join token
 *     livekit     the same at LiveKit's token endpoint
 *     describe    GET /v2/join: what a code opens; nothing is counted
 *     waiting     GET /v2/tickets: nothing is decided about the ticket. First the room alone is
 *                 asked about; only if that keeps people out are the code and the person
 *     admitted    the same, once it is admitted: it is exchanged as the code would be
 *     token       POST /v2/token/join: a join token gives access to the media server
 *     caller      a call from inside a room, with a join token
 *     new inside  a stay that a media server reports for the first time (live_merge.h)
 *     inside      a room in session, and the people in it (live_enforcement.h)
 *     role        somebody inside is given another role
 *
 * What is asked, in this order; the lists are in entry_rules.c:
 *
 *     exchange, livekit, admitted   code (known, room, role, switch, account, times and uses), ban,
 *                                   opening times, user_id, consent (not admitted), role
 *                                   (livekit), lock and door (not admitted), places
 *     describe, waiting             the same without consent, lock, door and places; describe
 *                                   without bans, whether or not the room is open yet
 *     token, caller                 room, opening times, code, user_id, ban, removal; and, before
 *                                   the media server is asked, lock, role and places
 *     new inside                    ban, removal, lock
 *     inside                        the room (deleted, disabled, longest duration, opening times);
 *                                   each person (removal, ban, lock, role, opening times); places
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

#include "resources/entry_rules/entrant.h"

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
	ENTRY_NEEDS_CONSENT,
	ENTRY_ROOM_LOCKED,
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
	/* A person who comes when others are inside. Among those inside, the last of the role or of
	 * the room must go: live_enforce goes by the numbers, and does not ask about each
	 * person. */
	ENTRY_OF_PLACE = 1 << 4,
	ENTRY_OF_LOCK = 1 << 5 /* a person who comes while the door is locked */
};

/* Returns true if the rule keeps the entrant out. */
typedef bool entry_question(struct entrant *entrant);

struct entry_rule {
	entry_question *is_broken;
	enum entry_scope scope;
	/* It is broken from `time` on, so the rules are enforced again then. */
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

/* Asks the rules of these scopes that count at the moment, in their order there, up to the first
 * that is broken: *broken, or NULL if the entrant may be inside. Returns false if a fact could not
 * be read. scopes: of enum entry_scope. */
bool entry_find(struct entrant *entrant, unsigned scopes, const struct entry_rule **broken,
		struct fault *fault);
/* Does the same, and refuses with the first rule that is broken. */
bool entry_check(struct entrant *entrant, unsigned scopes, struct fault *fault);
/* Refuses with a rule. */
bool entry_refuse(struct entrant *entrant, enum entry_rule_name name, struct fault *fault);

#endif
