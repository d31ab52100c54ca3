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
	"<p>This server manages video rooms for applications. If someone sent you a link to a room,\n"
	"open that link.</p>\n"
	"<ul>\n"
	"<li>API reference: <a href=\"/v2/openapi.json\">the OpenAPI document</a>, or anteroom-api(7) in\n"
	"the manual.</li>\n"
	"<li>API requests need a management token or an API key, which you get from the\n"
	"administrator.</li>\n"
	"</ul>\n"
	"</html>\n";

bool welcome_get(struct call *call, struct fault *fault)
{
	(void)fault;
	call_header(call, "Content-Type", SLICE("text/html; charset=utf-8"));
	return call_answer(call, SLICE(page));
}
