/* What those who run the service ask it: whether it is up, whether it can do its work, what it has
 * done. Handlers of internal routes, which nginx shows to its own machine alone.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SERVICE_HEALTH_H
#define SERVICE_HEALTH_H

#include "resources/call.h"

/* GET /healthz: 200 as long as anything is answered. */
handler health_live;

/* GET /readyz: 200 when the store can write and none of its files is damaged; else 503, with the
 * reason as a detail. */
handler health_ready;

/* GET /metrics: the text format of Prometheus, version 0.0.4. */
handler health_metrics;

#endif
