/* Handlers of sessions, attendance and usage (anteroom-api(7), SESSIONS).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_LIVE_SESSIONS_H
#define RESOURCES_LIVE_SESSIONS_H

#include "resources/reads.h"

extern const struct loading load_session; /* the session of the path, as call->session */

handler sessions_list;
extern const struct loading load_sessions; /* its first page */
handler sessions_get;
handler session_peers_list;
extern const struct loading load_session_peers; /* its first page */
/* CSV: a row for each person. */
handler sessions_attendance;
#define ATTENDANCE_TYPE "text/csv" /* in UTF-8 */
handler sessions_delete;

handler usage_get;
extern const struct loading load_usage; /* its page of days */

#endif
