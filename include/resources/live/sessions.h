/* Handlers of sessions, attendance and usage (anteroom-api(7), SESSIONS).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_LIVE_SESSIONS_H
#define RESOURCES_LIVE_SESSIONS_H

#include "resources/reads.h"

handler sessions_list;
read_page sessions_first_page;
handler sessions_get;
handler session_peers_list;
read_page session_peers_first_page;
/* CSV: a row for each person. */
handler sessions_attendance;
#define ATTENDANCE_TYPE "text/csv" /* in UTF-8 */
handler sessions_delete;

handler usage_get;
read_page usage_first_page;

#endif
