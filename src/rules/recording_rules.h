/* What a template says about recordings. Storage locations: `upload` in the settings of a template
 * and `upload_info` of a room, which differ in a name and in required members. Faults show no
 * values from either.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RULES_RECORDING_RULES_H
#define RULES_RECORDING_RULES_H

#include "rules/text_rules.h"

extern const struct shape upload_shape;
extern const struct shape upload_info_shape;
/* Consent, retention and the chat of recordings: `recordingRules` in the settings of a template. */
extern const struct shape recording_rules_shape;

/* Whether somebody agrees to be recorded, and which sentence the person was shown. */
#define AGREES \
	{ \
		"consent", BOOLEAN(), \
			DOC("Whether the person agrees to be recorded and streamed. Ignored unless the template asks for it.") \
	}
#define AGREES_TO \
	{ \
		"consent_text", TEXT(line_64_text), FLAGS(FIELD_ZERO_ABSENT), EXAMPLE("en-1"), \
			DOC("Which sentence the person was shown, such as its language and version. Kept with a consent.") \
	}

#endif
