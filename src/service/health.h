/* Health checks and metrics for operators: handlers of internal routes, which nginx serves only to
 * its own machine.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SERVICE_HEALTH_H
#define SERVICE_HEALTH_H

#include "resources/call.h"

/* GET /healthz: always 200. */
handler health_live;

/* GET /readyz: 200 if the store can write and none of its files is damaged, otherwise 503 with the
 * reason as a detail. */
handler health_ready;

/* GET /metrics: the Prometheus text format, version 0.0.4. */
handler health_metrics;
/* GET /v2/service/metrics: the same for operators. */
handler health_operator_metrics;
/* FAULT_FORBIDDEN unless the caller is an operator: not for API keys and tokens that are limited to
 * scopes. */
bool health_check_operator(const struct call *call, struct fault *fault);

#endif
