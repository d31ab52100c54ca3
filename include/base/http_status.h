/* The HTTP statuses that the service responds with, and their reason phrases (RFC 9110). Every
 * status in base/fault.h must be listed here.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_HTTP_STATUS_H
#define BASE_HTTP_STATUS_H

#define HTTP_STATUSES(X) \
	X(200, "OK") \
	X(201, "Created") \
	X(202, "Accepted") \
	X(204, "No Content") \
	X(304, "Not Modified") \
	X(400, "Bad Request") \
	X(401, "Unauthorized") \
	X(403, "Forbidden") \
	X(404, "Not Found") \
	X(405, "Method Not Allowed") \
	X(409, "Conflict") \
	X(410, "Gone") \
	X(412, "Precondition Failed") \
	X(413, "Payload Too Large") \
	X(422, "Unprocessable Content") \
	X(429, "Too Many Requests") \
	X(500, "Internal Server Error") \
	X(501, "Not Implemented") \
	X(502, "Bad Gateway") \
	X(503, "Service Unavailable") \
	X(504, "Gateway Timeout")

/* The position of each status in the table. */
enum http_status {
#define HTTP_STATUS(status, reason) HTTP_##status,
	HTTP_STATUSES(HTTP_STATUS)
#undef HTTP_STATUS
		HTTP_STATUS_COUNT
};

#endif
