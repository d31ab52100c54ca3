/* See resources/backends/backends.h. A write builds the complete document from the stored one and
 * the body, with the stored secrets that the body leaves out, and checks it against all rules.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/backends/backends.h"

#include <stdlib.h>

#include "base/json_writer.h"
#include "base/text.h"
#include "records/kinds.h"
#include "resources/asking.h"
#include "resources/audit.h"
#include "resources/misses.h"
#include "resources/lists.h"
#include "resources/live/live_merge.h"
#include "resources/media/placing.h"
#include "resources/public_url.h"
#include "resources/stored.h"
#include "rules/media_rules.h"

static bool load_of_path(struct call *call, const struct load *load, struct fault *fault)
{
	struct id id;

	if (!load_media.load(call, load, fault))
		return false;
	call->backend = id_parse(call->parameters[0], &id) ? media_backend(call->media, &id) : NULL;
	return call->backend != NULL || fault_set(fault, FAULT_NOT_FOUND, "Backend not found");
}

static const struct read reads_of_path[] = { READ_ONLY(kind_media), READS_END };
const struct loading load_backend = { .load = load_of_path, .reads = reads_of_path };

/* ---- documents ---- */

json_t *backend_document(struct call *call, const struct backend *backend)
{
	json_t *document = arena_json(call->arena, json_object());

	object_put(document, "name", json_of_text(backend->name));
	object_put(document, "type", json_string(backend_type_name(backend->type)));
	object_put(document, "url", json_of_text(backend->url));
	object_put(document, "default", json_boolean(backend->is_default));
	object_put(document, "ttl", json_integer(backend->ttl));
	object_put(document, "config",
		   json_incref(stored_json(call, backend->config, "backend", &backend->id)));
	if (backend->api_url.size > 0)
		object_put(document, "api_url", json_of_text(backend->api_url));
	if (backend->pool.size > 0)
		object_put(document, "pool", json_of_text(backend->pool));
	if (backend->weight != 0)
		object_put(document, "weight", json_integer(backend->weight));
	if (backend->region != REGION_NONE)
		object_put(document, "region", json_string(backend_region_names[backend->region]));
	if (backend->is_draining)
		object_put(document, "draining", json_true());
	return document;
}

/* ---- pools ---- */

/* Returns true if the backend shows the members of pools. */
static bool is_pooled(const struct backend *backend)
{
	return backend->pool.size > 0 || backend->weight != 0;
}

/* Returns true if both are in one pool. A backend in no pool is one by itself. */
static bool are_mates(const struct backend *a, const struct backend *b)
{
	return a == b || backend_is_in(a, b->pool);
}

/* Reads the loads of the backends that show theirs: of all, or of the pool of one. The result has
 * as many as the record has backends. */
static bool read_loads(struct call *call, const struct backend *one, struct backend_load **loads,
		       struct fault *fault)
{
	const struct media *media = call->media;
	struct store_expected *expected = arena_zero(call->arena,
						     (media->backend_count + 1) * sizeof *expected);
	size_t n = 0;

	*loads = arena_zero(call->arena, (media->backend_count + 1) * sizeof **loads);
	if (one != NULL && !is_pooled(one))
		return true;
	for (size_t i = 0; i < media->backend_count; i++) {
		const struct backend *backend = &media->backends[i];

		if (is_pooled(backend) && (one == NULL || are_mates(backend, one)))
			expected[n++] = (struct store_expected){
				.kind = &kind_backend_load,
				.finding = STORE_FIND_ID,
				.id = &backend->id,
			};
	}
	if (n > 0)
		store_expect(call->transaction, STORE_EACH, expected, n);
	for (size_t i = 0, j = 0; j < n; i++) {
		if (id_compare(&media->backends[i].id, expected[j].id) != 0)
			continue;
		if (!record_get(&backend_load_table, call->transaction, expected[j++].id,
				STORE_TO_SHOW, &(*loads)[i], fault))
			return false;
	}
	return true;
}

/* Returns a part of a whole in percent, with one decimal. */
static json_t *percent(uint64_t part, uint64_t whole)
{
	return json_real(whole == 0 ? 0 : (double)((part * 1000 + whole / 2) / whole) / 10);
}

/* Adds what a backend shows of its pool. loads: as read_loads has them; NULL for none. */
static void add_pool(struct call *call, const struct backend *backend,
		     const struct backend_load *loads, json_t *document)
{
	const struct media *media = call->media;
	json_t *shown = arena_json(call->arena, json_object());
	const struct backend_load *own = NULL;
	uint64_t people = 0, weights = 0;

	object_put(document, "weight", json_integer(backend_weight(backend)));
	object_put(document, "draining", json_boolean(backend->is_draining));
	if (loads == NULL)
		return;
	for (size_t i = 0; i < media->backend_count; i++) {
		const struct backend *other = &media->backends[i];

		if (other == backend)
			own = &loads[i];
		if (!are_mates(other, backend))
			continue;
		people += loads[i].people;
		weights += other->is_draining ? 0 : backend_weight(other);
	}
	object_put(shown, "rooms", json_integer((json_int_t)own->rooms));
	object_put(shown, "people", json_integer((json_int_t)own->people));
	object_put(shown, "share", percent(own->people, people));
	object_put(shown, "target",
		   percent(backend->is_draining ? 0 : backend_weight(backend), weights));
	object_put(document, "load", json_incref(shown));
}

/* ---- responses ---- */

/* healths: NULL if nothing is known. loads: of read_loads; NULL for a text that is only compared,
 * which has everything that can be set. */
static struct slice backend_text(struct call *call, const struct backend *backend,
				 const struct backend_healths *healths,
				 const struct backend_load *loads)
{
	static const char *const switches[] = { "room_admin", "create_rooms" };
	const struct slice type = slice_of(backend_type_name(backend->type));
	json_t *document = backend_document(call, backend);
	json_t *config = call_copy_member(document, "config");
	const struct slice id = id_as_text(call->arena, &backend->id);
	const struct slice place = public_url_of(call);
	const struct backend_health *health = healths == NULL
						      ? NULL
						      : backend_health_of(healths, &backend->id);
	const int64_t last_event = healths == NULL ? 0 : backend_last_event(healths, &backend->id);
	json_t *capabilities = arena_json(call->arena, json_array());
	json_t *shown_health = arena_json(call->arena, json_object());

	/* Switches that were not set are shown as false. */
	for (size_t i = 0; i < sizeof switches / sizeof switches[0]; i++) {
		if (backend_has_member(type, (struct slice){ NULL, 0 }, switches[i]) &&
		    json_object_get(config, switches[i]) == NULL)
			object_put(config, switches[i], json_false());
	}
	object_put(document, "id", json_of_text(id));
	object_put(document, "created_at", json_time_seconds(backend->created));
	object_put(document, "updated_at", json_time_seconds(backend->updated));
	object_put(document, "capabilities", json_incref(capabilities));
	for (enum server_capability i = 0; i < SERVER_CAPABILITIES; i++) {
		if (server_can(backend->type, i))
			array_put(capabilities, json_string(server_capability_names[i]));
	}
	if (server_can(backend->type, SERVER_LIST))
		object_put(document, "events_url",
			   json_of_text(slice_of(arena_text(
				   call->arena, "%.*s/v2/backends/%.*s/events", (int)place.size,
				   place.data, (int)id.size, id.data))));
	object_put(document, "last_event_at",
		   last_event == 0 ? json_null() : json_time_seconds(last_event));
	object_put(document, "health", json_incref(shown_health));
	object_put(shown_health, "state",
		   json_string(health == NULL  ? "unknown"
			       : health->is_up ? "up"
					       : "down"));
	object_put(shown_health, "since",
		   health == NULL ? json_null() : json_time_seconds(health->since));
	object_put(shown_health, "message",
		   json_of_text(health == NULL ? SLICE("") : health->message));
	if (loads == NULL || is_pooled(backend)) {
		add_pool(call, backend, loads, document);
	} else {
		(void)json_object_del(document, "region");
		(void)json_object_del(document, "draining");
	}
	return document_as_text(call->arena, &backend_shape, document, false);
}

/* Sets the backend from a complete document that obeys new_backend_shape. If it becomes the default
 * backend, it replaces the current one. */
static void backend_set(struct call *call, struct media *media, struct backend *backend,
			const json_t *document)
{
	static const char *const with_default[] = { "group", "alg", "checksum" };
	const struct slice type = text_of_json(json_object_get(document, "type"));
	const json_t *ttl = json_object_get(document, "ttl");
	json_t *config = json_object_get(document, "config");

	backend->name = text_of_json(json_object_get(document, "name"));
	backend->type = BACKEND_LIVEKIT;
	while (backend->type < BACKEND_JWT && !slice_is(type, backend_type_name(backend->type)))
		backend->type++;
	backend->url = text_of_json(json_object_get(document, "url"));
	backend->api_url = text_of_json(json_object_get(document, "api_url"));
	backend->ttl = ttl == NULL ? strtoll(shape_field(&backend_shape, "ttl")->standard, NULL, 10)
				   : json_integer_value(ttl);

	config = config == NULL ? arena_json(call->arena, json_object()) : call_copy(call, config);
	for (size_t i = 0; i < sizeof with_default / sizeof with_default[0]; i++) {
		const char *standard = backend_default(type, with_default[i]);

		if (standard != NULL && json_object_get(config, with_default[i]) == NULL)
			object_put(config, with_default[i], json_string(standard));
	}
	backend->config = json_as_text(call->arena, config);
	backend->alg = SIGNING_ALGS; /* unless a key of the account signs */
	(void)signing_alg_named(text_of_json(json_object_get(config, "alg")), &backend->alg);

	backend->pool = text_of_json(json_object_get(document, "pool"));
	backend->weight = (uint32_t)json_integer_value(json_object_get(document, "weight"));
	backend->region = REGION_NONE;
	for (enum backend_region i = REGION_IN; i < BACKEND_REGIONS; i++) {
		if (slice_is(text_of_json(json_object_get(document, "region")),
			     backend_region_names[i]))
			backend->region = i;
	}
	backend->is_draining = json_is_true(json_object_get(document, "draining"));
	if (!backend->is_draining)
		backend->moved_by = SLICE("");

	backend->is_default = json_is_true(json_object_get(document, "default"));
	for (size_t i = 0; backend->is_default && i < media->backend_count; i++) {
		if (&media->backends[i] != backend)
			media->backends[i].is_default = false;
	}
}

/* ---- writing ---- */

/* Returns another backend that is in the pool; NULL if there is none. */
static const struct backend *find_mate(const struct media *media, const struct backend *former,
				       struct slice pool)
{
	for (size_t i = 0; i < media->backend_count; i++) {
		if (&media->backends[i] != former && backend_is_in(&media->backends[i], pool))
			return &media->backends[i];
	}
	return NULL;
}

/* Returns true if templates name the pool that the backend is the last one of. */
static bool is_needed(const struct media *media, const struct backend *backend)
{
	const struct pool *pool = media_pool_named(media, backend->pool);

	return pool != NULL && pool->uses > 0 && find_mate(media, backend, backend->pool) == NULL;
}

/* Checks the backend against the stored ones: a signing backend needs a key, a pool has one type,
 * and the names of backends and pools are unique. */
static bool check_backend(struct call *call, const struct media *media,
			  const struct backend *former, const struct backend *backend,
			  struct fault *fault)
{
	const struct backend *holder = media_backend_named(media, backend->name);
	const struct backend *mate = find_mate(media, former, backend->pool);
	const struct backend *namesake = media_backend_named(media, backend->pool);

	if (backend->alg != SIGNING_ALGS && media_active_key(media, backend->alg) == NULL)
		findings_add(&call->findings, "/config/alg", "no active signing key");
	if (mate != NULL && mate->type != backend->type)
		findings_add(&call->findings, "/type", "the pool has %s",
			     backend_type_name(mate->type));
	if (!findings_result(&call->findings, fault))
		return false;
	if ((holder != NULL && holder != former) || (namesake != NULL && namesake != former) ||
	    slice_equal(backend->pool, backend->name) ||
	    find_mate(media, former, backend->name) != NULL)
		return fault_set(fault, FAULT_CONFLICT, "Overwrite error");
	if (former != NULL &&
	    ((former->uses > 0 && !slice_equal(former->name, backend->name)) ||
	     (is_needed(media, former) && !slice_equal(former->pool, backend->pool))))
		return fault_set(fault, FAULT_CONFLICT, "Backend is in use");
	return true;
}

static void note_backend(struct call *call, const char *type, const struct backend *backend,
			 struct changes *changes)
{
	const struct audit_data data = {
		.kind = "backend",
		.id = id_as_text(call->arena, &backend->id),
		.name = backend->name,
		.changes = changes,
	};

	audit_note(call, type, &data);
}

bool backends_create(struct call *call, struct fault *fault)
{
	struct media *media = call->media;
	struct backend *backend = &media->backends[media->backend_count];
	struct backend_load *loads;

	*backend = (struct backend){ .created = call->now, .updated = call->now };
	backend_set(call, media, backend, call->body);
	if (!check_backend(call, media, NULL, backend, fault))
		return false;
	if (media->backend_count == BACKENDS_MOST)
		return fault_set(fault, FAULT_CONFLICT, "Too many backends");
	backend->id = call_new_id(call, media->backend_count > 0 ? &backend[-1].id : &kind_only_id,
				  ++media->last_backend);
	media->backend_count++;
	media_settle_pools(call, media);
	note_backend(call, "backend.created", backend, NULL);
	return (!server_can(backend->type, SERVER_LIST) ||
		backend_account_put(call, &backend->id, fault)) &&
	       read_loads(call, backend, &loads, fault) && media_put(call, media, fault) &&
	       call_answer(call, backend_text(call, backend, NULL, loads));
}

/* Returns whether people and Anteroom still reach the server at the same places. */
static bool stays_there(struct call *call, const struct backend *backend, struct slice url,
			struct slice api_url)
{
	return url_same_place(backend->url, url) &&
	       url_same_place(backend_api_url(call, backend->url, backend->api_url),
			      backend_api_url(call, url, api_url));
}

/* Keeps secrets that the body leaves out, as long as the backend uses them and stays at the same
 * URL. If the URL changes, the secrets must be sent again: otherwise anyone who may change a
 * backend could have them sign for a server of their own. */
static void keep_secrets(struct call *call, const struct backend *backend, json_t *document)
{
	json_t *stored = stored_json(call, backend->config, "backend", &backend->id), *value;
	json_t *config = call_copy_member(document, "config");
	const struct slice type = slice_of(backend_type_name(backend->type));
	const struct slice alg = text_of_json(json_object_get(config, "alg"));
	const struct slice url = text_of_json(json_object_get(document, "url"));
	const struct slice api_url = text_of_json(json_object_get(document, "api_url"));
	const bool stays = stays_there(call, backend, url, api_url);
	const json_t *sent = call_member(call, "config");
	const char *name;

	json_object_foreach(stored, name, value) {
		if (!backend_member_is_secret(name))
			continue;
		if (!backend_has_member(type, alg, name)) {
			/* The patch has kept it, but it was not sent. */
			if (json_object_get(sent, name) == NULL)
				json_object_del(config, name);
		} else if (json_object_get(sent, name) == NULL) {
			json_object_set(config, name, value);
			if (!stays)
				findings_add(&call->findings,
					     arena_text(call->arena, "/config/%s", name),
					     "must be sent again when the address changes");
		}
	}
}

static bool save_backend(struct call *call, json_t *document, struct fault *fault)
{
	static const char *const ignored[] = { "updated_at", NULL };
	struct media *media = call->media;
	struct backend *backend = call->backend;
	const struct slice type = text_of_json(json_object_get(document, "type"));
	const struct backend former = *backend;
	struct backend changed = former;
	struct changes changes = CHANGES_INITIAL(call->arena);
	struct backend_healths healths;
	struct backend_load *loads;
	bool is_there;

	if (!slice_is(type, backend_type_name(former.type))) {
		findings_add(&call->findings, "/type", "cannot be changed");
		return findings_result(&call->findings, fault);
	}

	keep_secrets(call, backend, document);
	if (!document_finish(&new_backend_shape, document, &call->findings, fault))
		return false;
	changed.updated = call->now;
	backend_set(call, media, &changed, document);
	if (!check_backend(call, media, backend, &changed, fault))
		return false;
	*backend = changed;
	media_settle_pools(call, media);

	changes_find_in_texts(&changes, SLICE(""), backend_text(call, &former, NULL, NULL),
			      backend_text(call, backend, NULL, NULL), ignored);
	changes_find_hidden(
		&changes, SLICE(""), &backend_shape,
		document_hidden(call->arena, &backend_shape, backend_document(call, &former)),
		document_hidden(call->arena, &backend_shape, backend_document(call, backend)));
	note_backend(call, "backend.updated", backend, &changes);

	/* What is known of a server does not hold for another one, nor for other keys. */
	is_there = stays_there(call, &former, changed.url, changed.api_url);
	if (!(is_there && slice_equal(former.config, changed.config)) &&
	    !backend_health_remove(call, &backend->id, is_there, fault))
		return false;
	return backend_healths_load(call, STORE_TO_SHOW, &healths, fault) &&
	       read_loads(call, backend, &loads, fault) && media_put(call, media, fault) &&
	       call_answer(call, backend_text(call, backend, &healths, loads));
}

bool backends_replace(struct call *call, struct fault *fault)
{
	return save_backend(call, call_copy(call, call->body), fault);
}

bool backends_patch(struct call *call, struct fault *fault)
{
	json_t *document = backend_document(call, call->backend);

	document_merge(&backend_shape, document, call->body);
	return save_backend(call, document, fault);
}

bool backends_delete(struct call *call, struct fault *fault)
{
	struct backend *backend = call->backend;

	if (backend->uses > 0 || is_needed(call->media, backend))
		return fault_set(fault, FAULT_CONFLICT, "Backend is in use");
	note_backend(call, "backend.deleted", backend, NULL);
	if (!backend_health_remove(call, &backend->id, false, fault) ||
	    !live_close_backend(call, &backend->id, fault) ||
	    !backend_account_remove(call, &backend->id, fault))
		return false;
	media_remove_backend(call->media, backend);
	media_settle_pools(call, call->media);
	return media_put(call, call->media, fault) && call_answer_nothing(call);
}

/* ---- reading ---- */

bool backends_get(struct call *call, struct fault *fault)
{
	struct backend_healths healths;
	struct backend_load *loads;

	return backend_healths_load(call, STORE_TO_SHOW, &healths, fault) &&
	       read_loads(call, call->backend, &loads, fault) &&
	       call_answer(call, backend_text(call, call->backend, &healths, loads));
}

bool backends_list(struct call *call, struct fault *fault)
{
	struct backend_healths healths;
	struct backend_load *loads;
	const json_t *name = json_object_get(call->query, "name");
	struct list *list = call->list;

	list_open(list);
	if (!backend_healths_load(call, STORE_TO_SHOW, &healths, fault) ||
	    !read_loads(call, NULL, &loads, fault))
		return false;
	for (size_t i = call->media->backend_count; i-- > 0 && !list_is_full(list);) {
		const struct backend *backend = &call->media->backends[i];

		if ((list->is_bounded && id_compare(&backend->id, &list->start) >= 0) ||
		    (name != NULL && !slice_equal(text_of_json(name), backend->name)))
			continue;
		list_add_item(list, &backend->id);
		call_part(call, backend_text(call, backend, &healths, loads));
	}
	return list_close(list, fault);
}

/* ---- asking the media server ---- */

bool backends_test(struct call *call, struct fault *fault)
{
	const struct backend *backend = call->backend;
	json_t *names = arena_json(call->arena, json_array());
	struct server server;
	struct asking *asking;
	bool makes_rooms;

	if (!server_can(backend->type, SERVER_LIST))
		return fault_detail(fault, FAULT_CANNOT, "%s",
				    server_capability_names[SERVER_LIST]);
	if (!call_can_ask(call, fault) ||
	    !misses_count_test(call, &kind_only_id, "backends got", fault))
		return false;
	server = backend_server(call, backend);
	makes_rooms = server_makes_rooms(backend->type, server.config);
	array_put(names, json_string("none"));
	asking = call_ask(call, &backend->id, makes_rooms ? 1 : 2);
	server_list_rooms(call->arena, &server, call->now / 1000, names, &asking->asked[0].request);
	if (!makes_rooms)
		server_probe_rooms(call->arena, &server, call->now / 1000,
				   &asking->asked[1].request);
	return true;
}

bool backends_settle_test(struct call *call, struct fault *fault)
{
	const struct asked *asked = &call->asking->asked[0];
	struct json_writer answer = writer_begin(call->arena, false);
	struct server_verdict verdict;
	struct server_room *rooms;
	size_t count;
	struct server server;

	if (!asked_has_outcome(asked, fault))
		return false;
	server = backend_server(call, call->backend);
	server_read_rooms(call->arena, &server, call->now / 1000, &asked->outcome, &verdict, &rooms,
			  &count);
	if (!backend_health_note(call, call->backend, &verdict, fault))
		return false;
	/* What is to be set here is not the server's state. */
	if (verdict.is_up && call->asking->count > 1)
		(void)server_read_probe(&server, &call->asking->asked[1].outcome, &verdict);
	writer_plain(&answer, "state", verdict.is_up ? SLICE("up") : SLICE("down"));
	writer_integer(&answer, "milliseconds", asked->took);
	writer_value(&answer, "version", json_null());
	writer_text(&answer, "message", slice_of(verdict.message));
	return call_answer(call, writer_end(&answer));
}
