/* The stored form of a room. The text of its response is stored in three pieces, because two of its
 * members belong to the template: recording_info, between the first and the second piece (while the
 * room follows its template), and the template's name, between the second and the third. So
 * renaming a template changes no room.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_STORED_ROOM_RECORD_H
#define RESOURCES_STORED_ROOM_RECORD_H

#include "resources/stored/template_record.h"

struct room_record {
	struct store_record stored; /* as it was read; value.data NULL if it is new */
	struct id id;
	struct id template_id;
	int64_t created, updated; /* milliseconds since 1970 */
	uint64_t etag; /* of the room alone; clients see room_etag */
	bool is_enabled;
	bool follows_template; /* recording_source_template */
	bool was_placed; /* it has had a place (place_record.h): only then is there one to read */
	int64_t opens_at, closes_at; /* seconds; INT64_MIN and INT64_MAX if not set */
	struct slice name; /* in the client's spelling */
	struct slice title; /* empty if it has none */
	struct slice key; /* the name by which it is found: in lower case; room_put sets it */
	struct slice pieces[3];
	struct slice recording; /* its own recording_info as JSON text, or empty */
	struct slice hidden; /* the hidden members of its document as JSON text */
	struct slice document; /* only in a dump: the contents of the pieces, as JSON text */
};

extern const struct record_table room_table;

/* The room of the path and its template, as call->room and call->template. */
extern const struct loading load_room;

/* Loads the room by its id as text. Sets FAULT_NOT_FOUND if the account has no such room. */
bool room_load_by_id(struct call *call, struct slice text, enum store_reading reading,
		     struct room_record *record, struct fault *fault);
/* Finds the room with this id. Sets *is_there to false if there is none. */
bool room_find(struct call *call, const struct id *id, enum store_reading reading,
	       struct room_record *record, bool *is_there, struct fault *fault);
/* Finds the room with this name within the account, ignoring ASCII case. */
bool room_find_named(struct call *call, struct slice name, enum store_reading reading,
		     struct room_record *record, bool *is_there, struct fault *fault);
/* Reads the room from a stored record. */
bool room_read(struct call *call, const struct store_record *stored, struct room_record *record,
	       struct fault *fault);
/* Stores the room. The caller has checked that no other room has its name. */
bool room_put(struct call *call, const struct room_record *record, struct fault *fault);

/* Appends the room to the response, as parts borrowed from the record. recording: replaces
 * recording_info, unless data is NULL. Returns true. */
bool room_answer(struct call *call, const struct room_record *record,
		 const struct template_record *template, struct slice recording);
/* Returns the title as people are shown it (text_without_bidi), or the name if there is none. */
struct slice room_shown_name(struct call *call, const struct room_record *record);
/* Returns the item of a list with view=summary. */
struct slice room_summary(struct call *call, const struct room_record *record,
			  const struct template_record *template);
/* Returns the response as one text. */
struct slice room_text(struct call *call, const struct room_record *record,
		       const struct template_record *template);
/* Returns the ETag of the response: the first 63 bits of SHA-256 over the room's own ETag and the
 * template's rooms_etag, 8 bytes each, big-endian, in this order. It is not their XOR or sum: a
 * request that writes both draws one ETag for the two, whose XOR is always 0, and a sum stays the
 * same when they are exchanged. */
uint64_t room_etag(const struct room_record *record, const struct template_record *template);

/* Returns the room as a document that may be changed, with hidden members, and without
 * recording_info while the room follows its template. */
json_t *room_document(struct call *call, const struct room_record *record);
/* Sets the title, the pieces, the recording, the hidden members and the opening times from a
 * complete document and the other members of the record. */
void room_set_document(struct call *call, struct room_record *record, json_t *document);

#endif
