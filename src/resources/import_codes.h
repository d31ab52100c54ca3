/* The codes of an import. What the codes of a room have in common is read when the first of them comes,
 * and stored when one of another room does.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_IMPORT_CODES_H
#define RESOURCES_IMPORT_CODES_H

#include "resources/code_life.h"

struct import_codes {
	struct room_subject subject;
	bool is_open; /* the subject was read, and */
	bool is_changed; /* is to be stored */
	bool has_come; /* a code of it came with the import, or was there as it says */
	size_t stored; /* codes of it */
};

#define IMPORT_CODES_INITIAL ((struct import_codes){ .is_open = false })

/* Stores the code in the body of the call, unless it is there and the same. Faults of the client are set
 * before anything of it is stored. *is_new: there was none. */
bool import_code(struct call *call, struct import_codes *codes, bool *is_new, struct fault *fault);
/* Stores what is left; after the last code. */
bool import_codes_close(struct call *call, struct import_codes *codes, struct fault *fault);

#endif
