/* See service/welcome.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "service/welcome.h"

static const char page[] =
	"<!DOCTYPE html>\n"
	"<html lang=\"en\">\n"
	"<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width\">\n"
	"<title>Anteroom</title>\n"
	"<h1>Anteroom</h1>\n"
	"<p>This is a management service for video rooms: templates, rooms and room codes.\n"
	"It is a service for programs. If somebody gave you a link to a room, the application\n"
	"that the link belongs to is at another address.</p>\n"
	"<ul>\n"
	"<li><a href=\"/v2/openapi.json\">The interface, as an OpenAPI document</a>; in the manual:\n"
	"anteroom-api(7).</li>\n"
	"<li>A call needs a management token, which the administrator of this service gives you.</li>\n"
	"</ul>\n"
	"</html>\n";

bool welcome_get(struct call *call, struct fault *fault)
{
	(void)fault;
	call_header(call, "Content-Type", SLICE("text/html; charset=utf-8"));
	return call_answer(call, SLICE(page));
}
