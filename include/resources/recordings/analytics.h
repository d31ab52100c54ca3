/* The events of a room in the form in which the analytics of 100ms return them: the event log,
 * filtered, with the data that webhooks get.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_RECORDINGS_ANALYTICS_H
#define RESOURCES_RECORDINGS_ANALYTICS_H

#include "resources/call.h"

/* GET /v2/analytics/events */
handler analytics_list;

#endif
