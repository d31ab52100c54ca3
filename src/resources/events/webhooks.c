/* See resources/events/webhooks.h. A write builds the complete document from the stored one and the
 * body, with *** for the values of headers that stay, and checks it against all rules.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/events/webhooks.h"

#include <strings.h>

#include "base/json_writer.h"
#include "base/text.h"
#include "resources/audit.h"
#include "resources/garbage.h"
#include "records/kinds.h"
#include "resources/lists.h"
#include "resources/misses.h"
#include "resources/stored.h"
#include "resources/route.h"
#include "rules/webhook_rules.h"

/* Deliveries that are read together to find one. */
#define DELIVERIES_READ 1000

static bool load_all(struct call *call, const struct load *load, struct fault *fault)
{
	call->webhooks = arena_alloc(call->arena, sizeof *call->webhooks);
	return webhooks_load(call->transaction, load_reading(call, load), call->webhooks, fault);
}

static bool load_of_path(struct call *call, const struct load *load, struct fault *fault)
{
	struct id id;

	if (!load_all(call, load, fault))
		return false;
	call->webhook = id_parse(call->parameters[0], &id) ? webhook_find(call->webhooks, &id)
							   : NULL;
	return call->webhook != NULL || fault_set(fault, FAULT_NOT_FOUND, "Webhook not found");
}

static const struct read reads_of_all[] = { READ_ONLY(kind_webhooks), READS_END };
const struct loading load_webhooks = { .load = load_all, .reads = reads_of_all };
const struct loading load_webhook = { .load = load_of_path, .reads = reads_of_all };

/* ---- documents ---- */

/* The document has *** for the values of the headers. */
static json_t *document_of(struct call *call, const struct webhook *webhook)
{
	json_t *document = arena_json(call->arena, json_object());
	json_t *stored = stored_json(call, webhook->headers, "webhook", &webhook->id), *value;
	json_t *events = json_array(), *headers = json_object();
	struct slice left = webhook->events;
	const char *name;

	while (left.data != NULL)
		array_put(events, json_of_text(text_split(left, '\n', &left)));
	json_object_foreach(stored, name, value)
		object_put(headers, name, json_string(WEBHOOK_KEPT_VALUE));
	object_put(document, "url", json_of_text(webhook->url));
	object_put(document, "events", events);
	object_put(document, "enabled", json_boolean(webhook->is_enabled));
	object_put(document, "description", json_of_text(webhook->description));
	object_put(document, "headers", headers);
	return document;
}

json_t *webhook_document(struct call *call, const struct webhook *webhook)
{
	json_t *document = document_of(call, webhook);

	object_put(document, "headers",
		   json_incref(stored_json(call, webhook->headers, "webhook", &webhook->id)));
	return document;
}

static json_t *webhook_answer(struct call *call, const struct webhook *webhook)
{
	json_t *document = document_of(call, webhook);

	object_put(document, "id", json_of_text(id_as_text(call->arena, &webhook->id)));
	if (webhook->end != WEBHOOK_NOT_ENDED)
		object_put(document, "disabled_reason", json_string(webhook_ends[webhook->end]));
	object_put(document, "created_at", json_time_seconds(webhook->created));
	object_put(document, "updated_at", json_time_seconds(webhook->updated));
	return document;
}

static struct slice webhook_text(struct call *call, const struct webhook *webhook, bool with_secret)
{
	const struct slice secret = text_base64(call->arena, webhook->secret);
	json_t *document = webhook_answer(call, webhook);

	if (with_secret)
		object_put(
			document, "secret",
			json_sprintf(WEBHOOK_SECRET_PREFIX "%.*s", (int)secret.size, secret.data));
	return document_as_text(call->arena, &webhook_shape, document, with_secret);
}

/* A repeated response (Idempotency-Key) does not show the secret. */
static bool answer_webhook(struct call *call, const struct webhook *webhook, bool with_secret)
{
	if (with_secret)
		call_keep_instead(call, webhook_text(call, webhook, false));
	return call_answer(call, webhook_text(call, webhook, with_secret));
}

/* ---- the event log ---- */

static struct audit_data data_of(struct arena *arena, const struct webhook *webhook,
				 struct changes *changes)
{
	return (struct audit_data){
		.kind = "webhook",
		.id = id_as_text(arena, &webhook->id),
		.name = webhook->description,
		.changes = changes,
	};
}

static void note_webhook(struct call *call, const char *type, const struct webhook *webhook)
{
	const struct audit_data data = data_of(call->arena, webhook, NULL);

	audit_note(call, type, &data);
}

/* For headers and the secret, the event says only that they changed. */
static void note_webhook_update(struct call *call, const struct webhook *former,
				const struct webhook *webhook)
{
	static const char *const ignored[] = { "updated_at", "headers", NULL };
	struct changes changes = CHANGES_INITIAL(call->arena);
	const struct audit_data data = data_of(call->arena, webhook, &changes);

	changes_find(&changes, SLICE(""), webhook_answer(call, former),
		     webhook_answer(call, webhook), ignored);
	if (!slice_equal(former->headers, webhook->headers))
		changes_add(&changes, SLICE("/headers"));
	if (!text_equal_secret(former->secret, webhook->secret))
		changes_add(&changes, SLICE("/secret"));
	audit_note(call, "webhook.updated", &data);
}

void webhook_end_entry(struct arena *arena, const struct clock *clock,
		       const struct webhook *webhook, int64_t now, struct audit_entry *entry)
{
	struct changes changes = CHANGES_INITIAL(arena);
	const struct audit_data data = data_of(arena, webhook, &changes);

	changes_add(&changes, SLICE("/disabled_reason"));
	changes_add(&changes, SLICE("/enabled"));
	*entry = (struct audit_entry){
		.time = now,
		.id = uuid_as_text(arena, clock),
		.type = SLICE("webhook.updated"),
		.actor = audit_service_text(arena),
		.request_id = SLICE(""),
		.data = audit_data_text(arena, &data),
	};
}

/* ---- writing ---- */

bool webhooks_check(struct call *call, json_t *body, bool is_strict, struct fault *fault)
{
	struct fault of_table = FAULT_INITIAL;
	bool is_https;

	findings_keep_order(&call->findings, body);
	(void)schema_check(call->route->body, body, route_mode(call->route), is_strict,
			   &call->findings, &of_table);
	if (webhook_url_parse(text_of_json(json_object_get(body, "url")), &is_https) && !is_https &&
	    !call->environment->allows_http)
		findings_add(&call->findings, "/url", "must be an https URL");
	return findings_result(&call->findings, fault);
}

/* Returns the value of a stored header, by its name in any case. */
static json_t *stored_header(json_t *stored, const char *name)
{
	const char *other;
	json_t *value;

	json_object_foreach(stored, other, value) {
		if (strcasecmp(other, name) == 0)
			return value;
	}
	return NULL;
}

/* Returns the headers of the document, with stored values in place of ***. Sets *keeps to true if
 * there is such a value. */
static struct slice document_headers(struct call *call, const json_t *document,
				     const struct webhook *former, bool *keeps)
{
	json_t *sent = json_object_get(document, "headers"), *value;
	json_t *stored = former == NULL
				 ? NULL
				 : stored_json(call, former->headers, "webhook", &former->id);
	json_t *headers = arena_json(call->arena, json_object());
	const char *name;

	*keeps = false;
	json_object_foreach(sent, name, value) {
		struct buffer pointer = BUFFER_INITIAL(call->arena);

		if (slice_is(text_of_json(value), WEBHOOK_KEPT_VALUE)) {
			value = stored_header(stored, name);
			*keeps = *keeps || value != NULL;
		}
		buffer_append_text(&pointer, "/headers");
		text_pointer(&pointer, slice_of(name));
		buffer_append_byte(&pointer, '\0');
		if (value == NULL)
			findings_add(&call->findings, pointer.data, "has no stored value to keep");
		else
			json_object_set(headers, name, value);
	}
	return json_as_text(call->arena, headers);
}

static void make_secret(struct call *call, struct webhook *webhook)
{
	char *bytes = arena_alloc(call->arena, WEBHOOK_SECRET_SIZE);

	clock_random(call->environment->clock, bytes, WEBHOOK_SECRET_SIZE);
	webhook->secret = (struct slice){ bytes, WEBHOOK_SECRET_SIZE };
}

/* Sets the webhook from a document. former: the stored webhook, or NULL. Adds findings for
 * errors. */
static bool webhook_set(struct call *call, struct webhook *webhook, const struct webhook *former,
			const json_t *document, struct fault *fault)
{
	const json_t *enabled = json_object_get(document, "enabled");
	const struct slice description = text_of_json(json_object_get(document, "description"));
	const struct slice secret = text_of_json(json_object_get(document, "secret"));
	const json_t *events = json_object_get(document, "events"), *event;
	struct buffer names = BUFFER_INITIAL(call->arena);
	bool keeps;
	size_t i;

	webhook->url = text_of_json(json_object_get(document, "url"));
	webhook->description = description.data == NULL ? SLICE("") : description;

	json_array_foreach(events, i, event) {
		if (i > 0)
			buffer_append_byte(&names, '\n');
		buffer_append(&names, text_of_json(event));
	}
	webhook->events = events == NULL ? SLICE("*") : buffer_slice(&names);

	webhook->headers = document_headers(call, document, former, &keeps);
	webhook->is_enabled = enabled == NULL || json_is_true(enabled);
	webhook->updated = call->now;
	if (former != NULL && keeps && !url_same_place(former->url, webhook->url))
		findings_add(&call->findings, "/headers", "send the values again");
	if (secret.data != NULL) {
		(void)webhook_secret_bytes(call->arena, secret, &webhook->secret);
		webhook->former_count = 0;
	}
	return findings_result(&call->findings, fault);
}

static bool begin_series(struct call *call, struct webhook *webhook, struct fault *fault)
{
	webhook->series++;
	webhook->end = WEBHOOK_NOT_ENDED;
	return webhook_position_begin(call->transaction, webhook, fault);
}

bool webhooks_create(struct call *call, struct fault *fault)
{
	struct webhooks *webhooks = call->webhooks;
	struct webhook *webhook = &webhooks->items[webhooks->count];

	*webhook = (struct webhook){ .created = call->now };
	make_secret(call, webhook);
	if (!webhook_set(call, webhook, NULL, call->body, fault))
		return false;
	if (webhooks->count == WEBHOOKS_MOST)
		return fault_set(fault, FAULT_CONFLICT, "Too many webhooks");
	webhook->id = call_new_id(call, webhooks->count > 0 ? &webhook[-1].id : &kind_only_id,
				  ++webhooks->last);
	webhooks->count++;
	note_webhook(call, "webhook.created", webhook);
	return begin_series(call, webhook, fault) &&
	       webhooks_put(call->transaction, webhooks, fault) &&
	       answer_webhook(call, webhook, true);
}

static bool save_webhook(struct call *call, const json_t *document, struct fault *fault)
{
	struct webhook *webhook = call->webhook;
	const struct webhook former = *webhook;
	const bool sets_secret = call_member(call, "secret") != NULL;

	if (!document_finish(&webhook_shape, document, &call->findings, fault) ||
	    !webhook_set(call, webhook, &former, document, fault))
		return false;
	if (webhook->is_enabled && !former.is_enabled && !begin_series(call, webhook, fault))
		return false;
	note_webhook_update(call, &former, webhook);
	return webhooks_put(call->transaction, call->webhooks, fault) &&
	       answer_webhook(call, webhook, sets_secret);
}

bool webhooks_replace(struct call *call, struct fault *fault)
{
	return save_webhook(call, call->body, fault);
}

bool webhooks_patch(struct call *call, struct fault *fault)
{
	json_t *document = document_of(call, call->webhook);

	document_merge(&webhook_shape, document, call->body);
	return save_webhook(call, document, fault);
}

bool webhooks_delete(struct call *call, struct fault *fault)
{
	const struct id id = call->webhook->id;

	note_webhook(call, "webhook.deleted", call->webhook);
	webhook_remove(call->webhooks, call->webhook);
	return garbage_add(call, &kind_webhooks, &id, fault) &&
	       webhooks_put(call->transaction, call->webhooks, fault) && call_answer_nothing(call);
}

bool webhooks_rotate(struct call *call, struct fault *fault)
{
	struct webhook *webhook = call->webhook, former = *webhook;
	size_t n = 1;

	/* The current secret becomes a previous one, which still signs for a while. Expired secrets
	 * are removed and, if there are too many, the oldest. */
	while (n <= webhook->former_count && n < FORMER_SECRETS_MOST &&
	       webhook->former[n - 1].until > call->now)
		n++;
	memmove(&webhook->former[1], &webhook->former[0], (n - 1) * sizeof webhook->former[0]);
	webhook->former[0].until = call->now + FORMER_SECRET_LASTS;
	webhook->former[0].secret = webhook->secret;
	webhook->former_count = n;
	make_secret(call, webhook);
	webhook->updated = call->now;
	note_webhook_update(call, &former, webhook);
	return webhooks_put(call->transaction, call->webhooks, fault) &&
	       answer_webhook(call, webhook, true);
}

bool webhooks_send_test(struct call *call, struct fault *fault)
{
	struct webhook_test *test = arena_alloc(call->arena, sizeof *test);
	struct json_writer text = writer_begin(call->arena, false);
	const struct webhook *webhook = call->webhook;

	if (!misses_count_test(call, &webhook->id, "the webhook got", fault))
		return false;
	/* Reads the headers now, so that damage is reported in the response: the message is built
	 * after it. */
	(void)stored_json(call, webhook->headers, "webhook", &webhook->id);
	test->webhook = *webhook;
	test->actor = audit_caller_text(call);
	test->time = call->now;
	uuid_make(call->environment->clock, test->event_id);
	call->run.test = test;
	writer_plain(&text, "event_id", slice_of(test->event_id));
	return call_answer(call, writer_end(&text));
}

/* ---- reading ---- */

bool webhooks_get(struct call *call, struct fault *fault)
{
	(void)fault;
	return call_answer(call, webhook_text(call, call->webhook, false));
}

bool webhooks_list(struct call *call, struct fault *fault)
{
	struct list *list = call->list;

	list_open(list);
	for (size_t i = call->webhooks->count; i-- > 0 && !list_is_full(list);) {
		const struct webhook *webhook = &call->webhooks->items[i];

		if (list->is_bounded && id_compare(&webhook->id, &list->start) >= 0)
			continue;
		list_add_item(list, &webhook->id);
		call_part(call, webhook_text(call, webhook, false));
	}
	return list_close(list, fault);
}

/* ---- deliveries ---- */

static const char *const delivery_states[] = { DELIVERY_STATES };

/* A pending delivery of an earlier series has failed. Ending a series does not write this into each
 * of its deliveries. */
static enum delivery_state shown_state(const struct webhook *webhook,
				       const struct webhook_delivery *delivery)
{
	if (!webhook_delivery_is_pending(delivery))
		return delivery->state;
	return webhook->is_enabled && delivery->series == webhook->series ? DELIVERY_PENDING
									  : DELIVERY_FAILED;
}

static struct slice delivery_text(struct call *call, const struct webhook_delivery *delivery,
				  enum delivery_state state)
{
	json_t *document = arena_json(call->arena, json_object());

	object_put(document, "event_id", json_of_text(delivery->event_id));
	object_put(document, "type", json_of_text(delivery->type));
	object_put(document, "seq", json_integer((json_int_t)delivery->seq));
	object_put(document, "state", json_string(delivery_states[state]));
	object_put(document, "attempts", json_integer(delivery->attempts));
	if (delivery->status != 0)
		object_put(document, "last_status", json_integer(delivery->status));
	if (delivery->error.size > 0)
		object_put(document, "last_error", json_of_text(delivery->error));
	if (state == DELIVERY_PENDING)
		object_put(document, "next_at", json_time_seconds(delivery->next));
	return document_as_text(call->arena, &webhook_delivery_shape, document, false);
}

static bool add_deliveries(struct list *list, const struct store_record *records, size_t n,
			   struct fault *fault)
{
	struct call *call = list->call;
	const struct slice wanted = call_query_text(call, "state");
	struct webhook_delivery delivery;

	for (size_t i = 0; i < n && !list_is_full(list); i++) {
		enum delivery_state state;

		if (!webhook_delivery_read(&records[i], &delivery, fault))
			return false;
		state = shown_state(call->webhook, &delivery);
		if (wanted.data != NULL && !slice_is(wanted, delivery_states[state]))
			continue;
		list_add_item(list, &records[i].id);
		call_part(call, delivery_text(call, &delivery, state));
	}
	return true;
}

static void prepare_deliveries(struct call *call)
{
	const struct slice wanted = call_query_text(call, "state");
	struct list *list = list_prepare(call, NULL);

	if (slice_is(wanted, delivery_states[DELIVERY_PENDING]))
		list->page.side = STORE_ON;
}

static const struct read reads_of_deliveries[] = {
	{ .kind = &kind_webhook_delivery,
	  .finding = STORE_FIND_PAGE,
	  .from = READ_PATH,
	  .page = list_first_page },
	READS_END,
};
const struct loading load_deliveries = { .prepare = prepare_deliveries,
					 .reads = reads_of_deliveries };

bool webhook_deliveries_list(struct call *call, struct fault *fault)
{
	struct list *list = call->list;

	list_open(list);
	list->page.parent = &call->webhook->id;
	return list_add_pages(list, &kind_webhook_delivery, add_deliveries, fault) &&
	       list_close(list, fault);
}

/* Finds the newest delivery of the event. Writers of other accounts go first between two pages. */
static bool find_delivery(struct call *call, const struct webhook *webhook, struct slice event_id,
			  struct webhook_delivery *delivery, struct fault *fault)
{
	struct store_page page = {
		.order = STORE_NEWEST_FIRST,
		.parent = &webhook->id,
		.records = arena_alloc(call->arena, DELIVERIES_READ * sizeof *page.records),
		.most = DELIVERIES_READ,
	};
	struct id below = kind_only_id;

	do {
		if (!store_page(call->transaction, &kind_webhook_delivery, &page, fault))
			return false;
		for (size_t i = 0; i < page.count; i++) {
			if (!webhook_delivery_read(&page.records[i], delivery, fault))
				return false;
			if (slice_equal(delivery->event_id, event_id))
				return true;
			below = page.records[i].id;
		}
		page.below = &below;
	} while (!page.is_last && store_give_way(call->transaction, fault));
	return page.is_last && fault_set(fault, FAULT_NOT_FOUND, "Delivery not found");
}

bool webhook_deliveries_retry(struct call *call, struct fault *fault)
{
	const struct webhook *webhook = call->webhook;
	struct webhook_delivery delivery;

	if (!find_delivery(call, webhook, call->parameters[1], &delivery, fault))
		return false;
	if (!webhook->is_enabled)
		return fault_set(fault, FAULT_CONFLICT, "Webhook is disabled");
	/* The dispatcher writes deliveries only after it has read the webhooks for change, so this
	 * one stays as it is. */
	if (shown_state(webhook, &delivery) != DELIVERY_PENDING)
		delivery.state = DELIVERY_ONCE;
	delivery.series = webhook->series;
	delivery.next = call->now;
	return webhook_delivery_put(call->transaction, &delivery, fault) &&
	       webhooks_put(call->transaction, call->webhooks, fault) &&
	       call_answer(call, delivery_text(call, &delivery, DELIVERY_PENDING));
}
