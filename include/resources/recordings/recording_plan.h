/* The plan of a recording or a stream: its destination, its picture and sound, and its times, from
 * the body of a start and from the template. A plan reads no records and changes nothing, so what
 * starts by itself is planned in the same way, with an empty body.
 *
 * A value of a destination that is out of its range is held to it; the name of its member is then
 * in not_enforced, as are those of what has no effect here.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_RECORDINGS_RECORDING_PLAN_H
#define RESOURCES_RECORDINGS_RECORDING_PLAN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"
#include "base/slice.h"
#include "resources/stored/job_record.h"

/* What a template says; borrowed. */
struct recording_sources {
	enum job_type type; /* what is planned */
	json_t *config; /* the template's configuration of recordings; NULL for streams, or if none */
	json_t *destinations; /* by name, those of the type; or NULL */
	/* An object of the template's roles: subscribeToRoles by name. */
	json_t *subscriptions;
};

#define RECORDING_NOT_ENFORCED_MOST 20

/* Slices and documents are borrowed from the sources, or in the arena. */
struct recording_plan {
	struct slice destination; /* its name; empty if there is none */
	bool starts_by_itself; /* autoStart of the destination */
	/* The picture in pixels and pictures a second, and bit rates in kbit/s. */
	uint32_t width, height, fps, video_kbps, audio_kbps;
	bool audio_only;
	/* Of a stream: what is recorded along; the first two of a live stream. */
	bool has_vod, has_single_file, has_recording;
	uint32_t window; /* segments in the playlist of a live stream */
	const json_t *addresses; /* where an external stream is sent */
	bool are_addresses_sent; /* they are those of the body */
	const json_t *roles; /* an array of the roles that are heard and seen; NULL for all */
	/* Seconds. */
	uint32_t duration_most; /* after which it ends */
	uint32_t patience; /* for which nobody may be inside */
	uint32_t link_seconds; /* for which links to its files are valid */
	const char *not_enforced[RECORDING_NOT_ENFORCED_MOST]; /* constants */
	size_t not_enforced_count;
};

/* Makes the plan. body: of the start (rules/start_rules.h); NULL for none. Sets FAULT_INVALID_BODY
 * at /destination if that is not one, or if there are several and none is named. */
bool recording_plan_make(struct arena *arena, const struct recording_sources *sources,
			 const json_t *body, struct recording_plan *plan, struct fault *fault);

/* Finds the role of the destination with this name as the template has it now; empty if the
 * destination has none. Returns false if there is no such destination. */
bool recording_plan_role(const struct recording_sources *sources, struct slice destination,
			 struct slice *role);

/* Returns the name of the destination that starts by itself, the first by name; data NULL if there
 * is none. */
struct slice recording_plan_starting(const struct recording_sources *sources);

#endif
