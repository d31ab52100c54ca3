/* What the largest bodies cost: for each row of a table, two calls in process with a body as large
 * as the route allows, over the durable store; the second call meets what the first one stored.
 * Prints the status, the size of the body, the processor time in seconds, and the MiB by which the
 * process grew.
 *
 *     bench/bodies [PART-OF-A-NAME]
 *
 * Limits: 0.5 s and 64 MiB per call; 5 s and 512 MiB for bulk and import. Exits with 1 if a row
 * exceeds them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "accounts/accounts.h"
#include "accounts/token.h"
#include "base/clock.h"
#include "base/text.h"
#include "directory.h"
#include "resources/retries/kept_usage.h"
#include "resources/misses.h"
#include "resources/backends/signing_keys.h"
#include "service/service.h"
#include "store/gdbm/store_gdbm.h"
#include "suite.h"

#define SMALL .size = CALL_BODY_MOST
#define LARGE .size = CALL_LARGE_BODY_MOST
#define UNITS(n) .units_most = (n)

/* The body is `before`, then `unit` repeated as often as the size allows, separated by commas, and
 * `after`. With `other`, units fill only half of the body; `between` and others follow. In a unit,
 * # is a different number each time, and $ a different code. <t> stands for the ID of a template,
 * <r> and <s> for rooms, <c> for a code. */
struct row {
	const char *name;
	enum method method;
	const char *path;
	const char *before, *unit, *after;
	size_t size;
	size_t units_most; /* 0 for no limit */
	bool is_strict;
	const char *between, *other;
};

/* clang-format off */
#define TEMPLATE "/v2/templates/<t>"
#define ROOM "/v2/rooms/<r>"
#define CODES "/v2/room-codes/room/<r>/role/host"
#define HLS "{\"destinations\":{\"hlsDestinations\":{\"a\":{"
#define RECORDED "{\"destinations\":{\"hlsDestinations\":{\"a\":{\"layers\":[{\"width\":1920}],\"recording\":{\"layers\":["
#define SUBSCRIBED "{\"roles\":{\"a\":{\"subscribeParams\":{\"subscribeToRoles\":["
static const struct row rows[] = {
	/* any body */
	{ "template: []", METHOD_POST, "/v2/templates", "{\"x\":[", "[]", "]}", SMALL },
	{ "template: {}", METHOD_POST, "/v2/templates", "{\"x\":[", "{}", "]}", SMALL },
	{ "template: {\"a\":1}", METHOD_POST, "/v2/templates", "{\"x\":[", "{\"a\":1}", "]}", SMALL },
	{ "template: {} and a fault", METHOD_POST, "/v2/templates", "{\"name\":1,\"x\":[", "{}", "]}", SMALL },
	{ "template: {\"a\":1} and a fault", METHOD_POST, "/v2/templates", "{\"name\":1,\"x\":[", "{\"a\":1}", "]}", SMALL },
	{ "template: numbers", METHOD_POST, "/v2/templates", "{\"x\":[", "1", "]}", SMALL },
	{ "template: unknown", METHOD_POST, "/v2/templates", "{", "\"#\":1", "}", SMALL },
	{ "template: unknown, strict", METHOD_POST, "/v2/templates", "{", "\"#\":1", "}", SMALL, .is_strict = true },
	{ "template: unknown and faults", METHOD_POST, "/v2/templates", "{", "\"#\":1", ",\"name\":1,\"roles\":{\"a\":{\"priority\":9,\"maxPeerCount\":-9}}}", SMALL },
	/* the maps and lists of a template */
	{ "roles: {}", METHOD_POST, "/v2/templates", "{\"roles\":{", "\"#\":{}", "}}", SMALL },
	{ "roles: 100", METHOD_POST, "/v2/templates", "{\"roles\":{", "\"#\":{}", "}}", SMALL, UNITS(100) },
	{ "roles: null", METHOD_PATCH, TEMPLATE, "{\"roles\":{", "\"#\":null", "}}", SMALL },
	{ "roles: {} patched", METHOD_PATCH, TEMPLATE, "{\"roles\":{", "\"#\":{}", "}}", SMALL },
	{ "roles: bad names", METHOD_POST, "/v2/templates", "{\"roles\":{", "\"/#\":{}", "}}", SMALL },
	{ "roles: faults", METHOD_POST, "/v2/templates", "{\"roles\":{", "\"#\":1", "}}", SMALL },
	{ "roles: unknown", METHOD_POST, "/v2/templates", "{\"roles\":{\"a\":{", "\"#\":1", "}}}", SMALL },
	{ "subscribeToRoles", METHOD_POST, "/v2/templates", SUBSCRIBED, "\"#\"", "]}}}}", SMALL },
	{ "subscribeToRoles, same", METHOD_POST, "/v2/templates", SUBSCRIBED, "\"a\"", "]}}}}", SMALL },
	{ "subscribeToRoles, faults", METHOD_POST, "/v2/templates", SUBSCRIBED, "1", "]}}}}", SMALL },
	{ "subscribeToRoles of 100", METHOD_POST, "/v2/templates", "{\"roles\":{", "\"#\":{\"subscribeParams\":{\"subscribeToRoles\":[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\"]}}", "}}", SMALL, UNITS(100) },
	{ "allowed, same", METHOD_POST, "/v2/templates", "{\"roles\":{\"a\":{\"publishParams\":{\"allowed\":[", "\"audio\"", "]}}}}", SMALL },
	{ "simulcast layers", METHOD_POST, "/v2/templates", "{\"roles\":{\"a\":{\"publishParams\":{\"simulcast\":{\"video\":{\"layers\":[", "{}", "]}}}}}}", SMALL },
	{ "simulcast layers, whole", METHOD_POST, "/v2/templates", "{\"roles\":{\"a\":{\"publishParams\":{\"simulcast\":{\"video\":{\"layers\":[", "{\"rid\":\"f\",\"scaleResolutionDownBy\":1,\"maxFramerate\":1}", "]}}}}}}", SMALL },
	{ "browserRecordings: {}", METHOD_POST, "/v2/templates", "{\"destinations\":{\"browserRecordings\":{", "\"#\":{}", "}}}", SMALL },
	{ "browserRecordings: roles", METHOD_POST, "/v2/templates", "{\"destinations\":{\"browserRecordings\":{", "\"#\":{\"role\":\"a\"}", "}}}", SMALL },
	{ "browserRecordings: roles, patched", METHOD_PATCH, TEMPLATE, "{\"destinations\":{\"browserRecordings\":{", "\"#\":{\"role\":\"a\"}", "}}}", SMALL },
	{ "browserRecordings: roles, replaced", METHOD_POST, TEMPLATE "/destinations", "{\"browserRecordings\":{", "\"#\":{\"role\":\"a\"}", "}}", SMALL },
	{ "rtmpDestinations: urls", METHOD_POST, "/v2/templates", "{\"destinations\":{\"rtmpDestinations\":{\"a\":{\"rtmpUrls\":[", "\"a\"", "]}}}}", SMALL },
	{ "rtmpDestinations: {}", METHOD_POST, "/v2/templates", "{\"destinations\":{\"rtmpDestinations\":{", "\"#\":{}", "}}}", SMALL },
	{ "hlsDestinations: {}", METHOD_POST, "/v2/templates", "{\"destinations\":{\"hlsDestinations\":{", "\"#\":{}", "}}}", SMALL },
	{ "hlsDestinations: null", METHOD_PATCH, TEMPLATE "/destinations", "{\"hlsDestinations\":{", "\"#\":null", "}}", SMALL },
	{ "hls layers: {}", METHOD_POST, "/v2/templates", HLS "\"layers\":[", "{}", "]}}}}", SMALL },
	{ "hls layers: rising", METHOD_POST, "/v2/templates", HLS "\"layers\":[", "{\"videoBitrate\":#}", "]}}}}", SMALL },
	{ "hls recorded layers: {}", METHOD_POST, "/v2/templates", RECORDED, "{}", "]}}}}}", SMALL },
	{ "hls recorded layers: none agrees", METHOD_POST, "/v2/templates", RECORDED, "{\"width\":1918}", "]}}}}}", SMALL },
	{ "hls layers, twice", METHOD_POST, "/v2/templates", HLS "\"layers\":[", "{\"width\":144,\"videoBitrate\":5}", "]}}}}}", SMALL,
	  .between = "],\"recording\":{\"layers\":[", .other = "{\"width\":146,\"audioBitrate\":#}" },
	{ "hls offsets", METHOD_POST, "/v2/templates", HLS "\"recording\":{\"thumbnails\":{\"offsets\":[", "1", "]}}}}}}", SMALL },
	{ "transcriptions", METHOD_POST, "/v2/templates", "{\"destinations\":{\"transcriptions\":{\"a\":[", "{}", "]}}}", SMALL },
	{ "plugins", METHOD_POST, "/v2/templates", "{\"plugins\":{", "\"#\":0", "}}", SMALL },
	{ "plugins, 16 KiB", METHOD_PATCH, TEMPLATE, "{\"plugins\":{", "\"#\":0", "}}", .size = KEPT_BYTES_MOST },
	{ "settings: unknown", METHOD_POST, TEMPLATE "/settings", "{", "\"#\":{}", "}", SMALL },
	{ "role: unknown", METHOD_POST, TEMPLATE "/roles/x", "{", "\"#\":{}", "}", SMALL },
	{ "role: subscribeToRoles", METHOD_POST, TEMPLATE "/roles/x", "{\"subscribeParams\":{\"subscribeToRoles\":[", "\"#\"", "]}}", SMALL },
	{ "role: subscribeToRoles, patched", METHOD_PATCH, TEMPLATE "/roles/host", "{\"subscribeParams\":{\"subscribeToRoles\":[", "\"#\"", "]}}", SMALL },
	/* rooms and codes */
	{ "room: unknown", METHOD_POST, "/v2/rooms", "{", "\"#\":{}", "}", SMALL },
	{ "room: polls", METHOD_POST, "/v2/rooms", "{\"polls\":[", "{}", "]}", SMALL },
	{ "room: webhook", METHOD_PATCH, ROOM, "{\"webhook\":{", "\"#\":[]", "}}", SMALL },
	{ "room: name", METHOD_POST, "/v2/rooms", "{\"name\":\"a", "a", "\"}", SMALL },
	{ "code: metadata", METHOD_POST, CODES, "{\"metadata\":{", "\"#\":\"\"", "}}", SMALL },
	{ "code: metadata null", METHOD_PATCH, "/v2/room-codes/code/<c>", "{\"metadata\":{", "\"#\":null", "}}", SMALL },
	{ "code: metadata, bad names", METHOD_PATCH, "/v2/room-codes/code/<c>", "{\"metadata\":{", "\"/#\":\"\"", "}}", SMALL },
	{ "code: unknown", METHOD_POST, CODES, "{", "\"#\":{}", "}", SMALL },
	{ "codes of all roles", METHOD_POST, "/v2/room-codes/room/<r>", "{\"x\":[", "{}", "]}", SMALL },
	{ "switch: unknown", METHOD_POST, "/v2/room-codes/code", "{\"code\":\"<c>\",\"enabled\":true,", "\"#\":{}", "}", SMALL },
	{ "rotate: unknown", METHOD_POST, CODES "/rotate", "{", "\"#\":{}", "}", SMALL },
	/* the others */
	{ "backend: unknown", METHOD_POST, "/v2/backends", "{\"name\":\"a\",\"type\":\"livekit\",\"url\":\"wss://a\",\"config\":{", "\"#\":{}", "}}", SMALL },
	{ "webhook: events", METHOD_POST, "/v2/webhooks", "{\"url\":\"https://a.example/\",\"events\":[", "\"a.#\"", "]}", SMALL },
	{ "webhook: events, right", METHOD_POST, "/v2/webhooks", "{\"url\":\"https://a.example/\",\"events\":[", "\"a.*\"", "]}", SMALL },
	{ "webhook: headers", METHOD_POST, "/v2/webhooks", "{\"url\":\"https://a.example/\",\"headers\":{", "\"#\":\"a\"", "}}", SMALL },
	{ "webhook: headers, ours", METHOD_POST, "/v2/webhooks", "{\"url\":\"https://a.example/\",\"headers\":{", "\"content-#\":\"a\"", "}}", SMALL },
	{ "key: scopes", METHOD_POST, "/v2/keys", "{\"name\":\"a\",\"scopes\":[", "\"rooms:read\"", "]}", SMALL },
	{ "signing key: unknown", METHOD_POST, "/v2/signing-keys", "{\"alg\":\"ES256\",", "\"#\":{}", "}", SMALL },
	{ "token: unknown", METHOD_POST, "/v2/token", "{\"code\":\"<c>\",\"x\":[", "{}", "]}", SMALL },
	{ "token: 8 KiB", METHOD_POST, "/v2/token", "{\"code\":\"<c>\",\"x\":[", "{}", "]}", .size = CALL_OPEN_BODY_MOST },
	{ "session: unknown", METHOD_POST, "/v2/session", "{\"x\":[", "{}", "]}", SMALL },
	{ "join: unknown", METHOD_POST, "/v2/token/join", "{\"x\":[", "{}", "]}", SMALL },
	/* bulk */
	{ "bulk: []", METHOD_POST, "/v2/bulk", "{\"x\":[", "[]", "]}", LARGE },
	{ "bulk: {}", METHOD_POST, "/v2/bulk", "{\"operations\":[", "{}", "]}", LARGE },
	{ "bulk: {}, 2000", METHOD_POST, "/v2/bulk", "{\"operations\":[", "{}", "]}", LARGE, UNITS(2000) },
	{ "bulk: faults, 2000", METHOD_POST, "/v2/bulk", "{\"operations\":[", "{\"method\":\"POST\",\"path\":\"/v2/rooms\",\"body\":{\"name\":1,\"size\":-1,\"large_room\":1,\"enabled\":1}}", "]}", LARGE, UNITS(2000) },
	{ "bulk: deep faults, 2000", METHOD_POST, "/v2/bulk", "{\"operations\":[", "{\"method\":\"POST\",\"path\":\"" CODES "\",\"body\":{\"metadata\":{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,\"h\":1,\"i\":1,\"j\":1,\"k\":1,\"l\":1,\"m\":1,\"n\":1,\"o\":1,\"p\":1,\"q\":1,\"r\":1,\"s\":1,\"t\":1,\"u\":1,\"v\":1,\"w\":1,\"x\":1,\"y\":1,\"z\":1}}}", "]}", LARGE, UNITS(2000) },
	{ "bulk: unknown", METHOD_POST, "/v2/bulk", "{\"operations\":[{\"method\":\"POST\",\"path\":\"/v2/rooms\",\"body\":{", "\"#\":1", "}}]}", LARGE },
	{ "bulk: unknown in each", METHOD_POST, "/v2/bulk", "{\"operations\":[", "{\"method\":\"POST\",\"path\":\"/v2/rooms\",\"body\":{\"#\":1,\"a\":2}}", "]}", LARGE, UNITS(2000) },
	{ "bulk: refs, 2000", METHOD_POST, "/v2/bulk", "{\"operations\":[{\"method\":\"POST\",\"path\":\"/v2/rooms\",\"ref\":\"a\"},", "{\"method\":\"POST\",\"path\":\"/v2/rooms/{a}\",\"ref\":\"b#\",\"body\":{\"description\":\"#\"}}", "]}", LARGE, UNITS(1999) },
	{ "bulk: ref of the one before", METHOD_POST, "/v2/bulk", "{\"operations\":[{\"method\":\"POST\",\"path\":\"/v2/rooms\",\"ref\":\"b\"},", "{\"method\":\"POST\",\"path\":\"/v2/rooms/{b}\",\"ref\":\"b#\",\"body\":{\"description\":\"#\"}}", "]}", LARGE, UNITS(1999) },
	{ "bulk: unknown refs", METHOD_POST, "/v2/bulk", "{\"operations\":[", "{\"method\":\"POST\",\"path\":\"/v2/rooms/{none}\",\"ref\":\"b#\"}", "]}", LARGE, UNITS(2000) },
	{ "bulk: rooms", METHOD_POST, "/v2/bulk", "{\"operations\":[", "{\"method\":\"POST\",\"path\":\"/v2/rooms\",\"body\":{\"name\":\"n#\"}}", "]}", LARGE, UNITS(2000) },
	{ "bulk: one room", METHOD_POST, "/v2/bulk", "{\"operations\":[", "{\"method\":\"POST\",\"path\":\"" ROOM "\",\"body\":{\"description\":\"n#\"}}", "]}", LARGE, UNITS(2000) },
	{ "bulk: codes", METHOD_POST, "/v2/bulk", "{\"operations\":[", "{\"method\":\"POST\",\"path\":\"" CODES "\",\"body\":{\"max_uses\":1}}", "]}", LARGE, UNITS(100) },
	{ "bulk: rotations", METHOD_POST, "/v2/bulk", "{\"operations\":[", "{\"method\":\"POST\",\"path\":\"" CODES "/rotate\"}", "]}", LARGE, UNITS(2000) },
	{ "bulk: codes of all roles", METHOD_POST, "/v2/bulk", "{\"operations\":[", "{\"method\":\"POST\",\"path\":\"/v2/room-codes/room/<r>\"}", "]}", LARGE, UNITS(2000) },
	/* import */
	{ "import: {}", METHOD_POST, "/v2/import", "{\"rooms\":[", "{}", "]}", LARGE },
	{ "import: codes {}", METHOD_POST, "/v2/import", "{\"room_codes\":[", "{}", "]}", LARGE },
	{ "import: codes {}, skipped", METHOD_POST, "/v2/import?skip_invalid=true", "{\"room_codes\":[", "{}", "]}", LARGE },
	{ "import: codes {}, 10000", METHOD_POST, "/v2/import", "{\"room_codes\":[", "{}", "]}", LARGE, UNITS(10000) },
	{ "import: codes {}, 10000 skipped", METHOD_POST, "/v2/import?skip_invalid=true", "{\"room_codes\":[", "{}", "]}", LARGE, UNITS(10000) },
	{ "import: rooms {}, 10000", METHOD_POST, "/v2/import", "{\"rooms\":[", "{}", "]}", LARGE, UNITS(10000) },
	{ "import: rooms, 10000", METHOD_POST, "/v2/import", "{\"rooms\":[", "{\"name\":\"r#\",\"description\":\"some words on it\",\"size\":100}", "]}", LARGE, UNITS(10000) },
	{ "import: many faults, skipped", METHOD_POST, "/v2/import?skip_invalid=true", "{\"templates\":[", "{\"roles\":{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,\"h\":1,\"i\":1,\"j\":1,\"k\":1}}", "]}", LARGE, UNITS(10000) },
	{ "import: 50 faults, skipped", METHOD_POST, "/v2/import?skip_invalid=true", "{\"templates\":[", "{\"roles\":{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,\"h\":1,\"i\":1,\"j\":1,\"k\":1,\"l\":1,\"m\":1,\"n\":1,\"o\":1,\"p\":1,\"q\":1,\"r\":1,\"s\":1,\"t\":1,\"u\":1,\"v\":1,\"w\":1,\"x\":1,\"y\":1,\"z\":1,\"A\":1,\"B\":1,\"C\":1,\"D\":1,\"E\":1,\"F\":1,\"G\":1,\"H\":1,\"I\":1,\"J\":1,\"K\":1,\"L\":1,\"M\":1,\"N\":1,\"O\":1,\"P\":1,\"Q\":1,\"R\":1,\"S\":1,\"T\":1,\"U\":1,\"V\":1,\"W\":1,\"X\":1}}", "]}", LARGE, UNITS(10000) },
	{ "import: unknown members and faults, skipped", METHOD_POST, "/v2/import?skip_invalid=true", "{", "\"#\":1", "]}", LARGE,
	  .between = ",\"room_codes\":[", .other = "{\"code\":\"much too long for a code\",\"room_id\":1,\"role\":1,\"enabled\":1}" },
	{ "import: conflicts", METHOD_POST, "/v2/import", "{\"rooms\":[", "{\"name\":\"r\"}", "]}", LARGE, UNITS(10000) },
	{ "import: same name, skipped", METHOD_POST, "/v2/import?skip_invalid=true", "{\"rooms\":[{\"id\":\"600000000000000000000001\",\"name\":\"r\"},", "{\"id\":\"60000000000000000000000a\",\"name\":\"r\"}", "]}", LARGE, UNITS(9999) },
	{ "import: of no template", METHOD_POST, "/v2/import", "{\"rooms\":[", "{\"template_id\":\"600000000000000000000001\"}", "]}", LARGE, UNITS(10000) },
	{ "import: of no template, skipped", METHOD_POST, "/v2/import?skip_invalid=true", "{\"rooms\":[", "{\"template_id\":\"600000000000000000000001\"}", "]}", LARGE, UNITS(10000) },
	{ "import: templates {}", METHOD_POST, "/v2/import", "{\"templates\":[", "{}", "]}", LARGE, UNITS(10000) },
	{ "import: templates of 12 roles", METHOD_POST, "/v2/import", "{\"templates\":[", "{\"roles\":{\"a\":{},\"b\":{},\"c\":{},\"d\":{},\"e\":{},\"f\":{},\"g\":{},\"h\":{},\"i\":{},\"j\":{},\"k\":{},\"l\":{}}}", "]}", LARGE, UNITS(10000) },
	{ "import: templates of 50 roles", METHOD_POST, "/v2/import", "{\"templates\":[", "{\"roles\":{\"a\":{},\"b\":{},\"c\":{},\"d\":{},\"e\":{},\"f\":{},\"g\":{},\"h\":{},\"i\":{},\"j\":{},\"k\":{},\"l\":{},\"m\":{},\"n\":{},\"o\":{},\"p\":{},\"q\":{},\"r\":{},\"s\":{},\"t\":{},\"u\":{},\"v\":{},\"w\":{},\"x\":{},\"y\":{},\"z\":{},\"A\":{},\"B\":{},\"C\":{},\"D\":{},\"E\":{},\"F\":{},\"G\":{},\"H\":{},\"I\":{},\"J\":{},\"K\":{},\"L\":{},\"M\":{},\"N\":{},\"O\":{},\"P\":{},\"Q\":{},\"R\":{},\"S\":{},\"T\":{},\"U\":{},\"V\":{},\"W\":{},\"X\":{}}}", "]}", LARGE, UNITS(10000) },
	{ "import: codes of one room", METHOD_POST, "/v2/import", "{\"room_codes\":[", "{\"code\":\"$\",\"room_id\":\"<r>\",\"role\":\"host\",\"enabled\":false}", "]}", LARGE, UNITS(1000) },
	{ "import: codes of deleted roles", METHOD_POST, "/v2/import", "{\"room_codes\":[", "{\"code\":\"$\",\"room_id\":\"<r>\",\"role\":\"a#\"}", "]}", LARGE, UNITS(900) },
	{ "import: codes of one room, too many", METHOD_POST, "/v2/import", "{\"room_codes\":[", "{\"code\":\"$\",\"room_id\":\"<r>\",\"role\":\"host\",\"enabled\":false}", "]}", LARGE, UNITS(10000) },
	{ "import: codes of one room, skipped", METHOD_POST, "/v2/import?skip_invalid=true", "{\"room_codes\":[", "{\"code\":\"$\",\"room_id\":\"<r>\",\"role\":\"host\",\"enabled\":false}", "]}", LARGE, UNITS(10000) },
	{ "import: codes of two rooms in turn", METHOD_POST, "/v2/import?skip_invalid=true", "{\"room_codes\":[", "{\"code\":\"$\",\"room_id\":\"<r>\",\"role\":\"host\",\"enabled\":false},{\"code\":\"$\",\"room_id\":\"<s>\",\"role\":\"host\",\"enabled\":false}", "]}", LARGE, UNITS(900) },
	{ "import: hls layers, twice", METHOD_POST, "/v2/import", "{\"templates\":[" HLS "\"layers\":[", "{\"width\":144,\"videoBitrate\":5}", "]}}}}}]}", LARGE,
	  .between = "],\"recording\":{\"layers\":[", .other = "{\"width\":146,\"audioBitrate\":#}" },
	{ "import: unknown", METHOD_POST, "/v2/import", "{", "\"#\":1", "}", LARGE },
	{ "import: unknown in objects", METHOD_POST, "/v2/import", "{\"rooms\":[", "{\"#\":1}", "]}", LARGE, UNITS(10000) },
};
/* clang-format on */

/* ---- bodies ---- */

static struct slice replaced(struct arena *arena, const char *text, const char *const *names,
			     const char *const *values)
{
	struct buffer result = BUFFER_INITIAL(arena);

	while (*text != '\0') {
		size_t i = 0;

		while (names[i] != NULL && strncmp(text, names[i], strlen(names[i])) != 0)
			i++;
		if (names[i] == NULL) {
			buffer_append_byte(&result, *text++);
			continue;
		}
		buffer_append_text(&result, values[i]);
		text += strlen(names[i]);
	}
	buffer_append_byte(&result, '\0');
	result.size--;
	return buffer_slice(&result);
}

static void append_unit(struct buffer *body, const char *unit, size_t *number)
{
	for (; *unit != '\0'; unit++) {
		if (*unit == '#') {
			buffer_append_text(body, arena_text(body->arena, "%zu", ++*number));
		} else if (*unit == '$') {
			size_t rest = ++*number * 2654435761u;
			char code[] = "aaa-aaaa-aaa";

			for (size_t i = 0; code[i] != '\0'; i++) {
				if (code[i] == '-')
					continue;
				code[i] = (char)('a' + rest % 26);
				rest /= 26;
			}
			buffer_append_text(body, code);
		} else {
			buffer_append_byte(body, *unit);
		}
	}
}

static void append_units(struct buffer *body, const char *unit, size_t until, size_t most)
{
	size_t number = 9;

	for (size_t n = 0; n < most; n++) {
		const size_t before = body->size;

		if (n > 0)
			buffer_append_byte(body, ',');
		append_unit(body, unit, &number);
		if (body->size > until) {
			body->size = before;
			break;
		}
	}
}

static struct slice build(struct arena *arena, const struct row *row, const char *const *names,
			  const char *const *values)
{
	const size_t size = row->size - strlen(row->after);
	const size_t most = row->units_most == 0 ? SIZE_MAX : row->units_most;
	struct buffer body = BUFFER_INITIAL(arena);

	buffer_append(&body, replaced(arena, row->before, names, values));
	append_units(&body, replaced(arena, row->unit, names, values).data,
		     row->other == NULL ? size : size / 2, most);
	if (row->other != NULL) {
		buffer_append_text(&body, row->between);
		append_units(&body, row->other, size, most);
	}
	buffer_append(&body, slice_of(row->after));
	return buffer_slice(&body);
}

/* ---- calls ---- */

static struct environment environment;
static struct service *service;
static struct slice authorization;

static int ask(struct arena *arena, enum method method, struct slice path, struct slice body,
	       bool is_strict, struct slice *answer)
{
	struct call call = {
		.arena = arena,
		.request = {
			.method = method,
			.uri = path,
			.body = body,
			.body_is_too_large = body.size > CALL_LARGE_BODY_MOST,
			.authorization = authorization,
			.prefer = is_strict ? SLICE("handling=strict") : SLICE(""),
			.console = SLICE("1"),
			.address = SLICE("192.0.2.1"),
		},
	};
	struct buffer text = BUFFER_INITIAL(arena);
	struct fault fault = FAULT_INITIAL;

	service_answer(service, &call);
	if (call.answer.awaited != 0)
		(void)store_wait(environment.store, call.answer.awaited, &fault);
	for (size_t i = 0; i < call.answer.part_count; i++)
		buffer_append(&text, call.answer.parts[i]);
	buffer_append_byte(&text, '\0');
	*answer = (struct slice){ text.data, text.size - 1 };
	return call.answer.status;
}

static const char *made(struct arena *arena, const char *path, const char *body, const char *name)
{
	struct slice answer;
	json_t *object;
	const char *value;

	(void)ask(arena, METHOD_POST, slice_of(path), slice_of(body), false, &answer);
	object = json_loads(answer.data, 0, NULL);
	value = json_string_value(json_object_get(object, name));
	if (value == NULL) {
		fprintf(stderr, "bench/bodies: %s: %s\n", path, answer.data);
		exit(EXIT_FAILURE);
	}
	value = arena_copy(arena, slice_of(value)).data;
	json_decref(object);
	return value;
}

static void check(bool is_right, const struct fault *fault)
{
	if (is_right)
		return;
	fprintf(stderr, "bench/bodies: %s: %s\n", fault->message, fault->cause);
	exit(EXIT_FAILURE);
}

static void open_all(const char *directory, struct arena *arena)
{
	const char *place = arena_text(arena, "%s/store", directory);
	const struct store_options options = { .directory = place, .readers = 2, .creates = true };
	struct fault fault = FAULT_INITIAL;
	const struct roster *roster;
	struct buffer header = BUFFER_INITIAL(arena);

	environment = (struct environment){
		.clock = &clock_system,
		.misses = misses_open(&clock_system),
		.kept_usage = kept_usage_open(),
		.join_seconds = 3600,
		.session_seconds = 3600,
		.signing_key_age = SIGNING_KEY_AGE,
	};
	check(accounts_add(directory, &clock_system, "a", NULL, &fault) &&
		      accounts_open(directory, &environment.accounts, &fault) &&
		      store_gdbm_open(&options, &environment.store, &fault),
	      &fault);
	service = service_open(&environment);
	roster = accounts_current(environment.accounts);
	buffer_append_text(&header, "Bearer ");
	buffer_append(&header, token_sign_management(arena, &clock_system,
						     roster_by_name(roster, SLICE("a")),
						     clock_now(&clock_system), 3600));
	accounts_release(environment.accounts, roster);
	authorization = buffer_slice(&header);
}

/* Returns the process's largest size so far (VmHWM:) or its current size (VmRSS:), in MiB. */
static double size_of_process(const char *name)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	double size = 0;

	while (file != NULL && fgets(line, sizeof line, file) != NULL) {
		if (strncmp(line, name, strlen(name)) == 0)
			size = atof(line + strlen(name)) / 1024;
	}
	if (file != NULL)
		fclose(file);
	return size;
}

static void forget_peak(void)
{
	FILE *file = fopen("/proc/self/clear_refs", "w");

	if (file != NULL) {
		fputs("5", file);
		fclose(file);
	}
}

static bool measure(const struct row *row, struct arena *arena)
{
	static const char *const names[] = { "<t>", "<r>", "<s>", "<c>", NULL };
	const bool is_alone = row->size == CALL_LARGE_BODY_MOST;
	const char *values[4];
	struct slice body, answer = { "", 0 }, path;
	double seconds = 0, grown = 0;
	int status = 0;
	bool is_right;

	values[0] = made(arena, "/v2/templates",
			 "{\"name\":\"t\",\"default\":true,\"roles\":{\"host\":{},\"guest\":{}}}",
			 "id");
	values[1] = made(arena, "/v2/rooms", "{\"name\":\"one\"}", "id");
	values[2] = made(arena, "/v2/rooms", "{\"name\":\"two\"}", "id");
	values[3] = made(arena, arena_text(arena, "/v2/room-codes/room/%s/role/host", values[1]),
			 "{}", "code");
	body = build(arena, row, names, values);
	path = replaced(arena, row->path, names, values);
	for (int i = 0; i < 2; i++) {
		struct arena *own = arena_open();
		double took, before;

		forget_peak();
		before = size_of_process("VmRSS:");
		took = (double)clock_of_thread();
		status = ask(own, row->method, path, body, row->is_strict, &answer);
		took = ((double)clock_of_thread() - took) / 1e6;
		seconds = took > seconds ? took : seconds;
		before = size_of_process("VmHWM:") - before;
		grown = before > grown ? before : grown;
		answer = arena_copy(arena, answer);
		arena_close(own);
	}
	is_right = seconds <= (is_alone ? 5 : 0.5) && grown <= (is_alone ? 512 : 64);
	printf("%-40s %3d %8zu %7.3f %7.1f%s  %.80s\n", row->name, status, body.size, seconds,
	       grown, is_right ? "" : "  TOO MUCH", status >= 400 ? answer.data : "");
	fflush(stdout);
	return is_right;
}

/* Measures a row in its own process and directory. */
static bool measure_apart(const struct row *row)
{
	char *directory = directory_make();
	const pid_t child = fork();
	int status;

	if (child == 0) {
		struct arena *arena = arena_open();

		arena_set_limit(arena, SIZE_MAX);
		open_all(directory, arena);
		_exit(measure(row, arena) ? 0 : 1);
	}
	(void)waitpid(child, &status, 0);
	directory_remove(directory);
	if (!WIFEXITED(status))
		printf("%-38s ended by a signal\n", row->name);
	return status == 0;
}

int main(int count, char **arguments)
{
	bool are_right = true;

	for (int i = 0; i < ROWS(rows); i++) {
		if (count < 2 || strstr(rows[i].name, arguments[1]) != NULL)
			are_right &= measure_apart(&rows[i]);
	}
	return are_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
