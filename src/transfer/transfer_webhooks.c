/* The webhooks of an account in a dump, and back: see transfer/transfer.h. Deliveries are not
 * dumped: a position is that before the oldest one that is pending, so what was to be repeated is
 * sent again.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text.h"
#include "resources/kinds.h"
#include "resources/packed.h"
#include "resources/events/webhooks.h"
#include "rules/webhook_rules.h"
#include "transfer/transfer_lines.h"
#include "transfer/transfer_parts.h"

/* ---- out ---- */

static bool find_position(struct call *call, const struct webhook *webhook, uint64_t *seq,
			  struct fault *fault)
{
	struct store_record records[PAGE_MOST];
	struct store_page page = {
		.order = STORE_OLDEST_FIRST,
		.side = STORE_ON,
		.parent = &webhook->id,
		.records = records,
		.most = PAGE_MOST,
	};
	struct webhook_position position;
	struct webhook_delivery delivery;
	struct id above;

	if (!webhook_position_load(call->transaction, &webhook->id, STORE_TO_SHOW, &position,
				   fault))
		return false;
	*seq = position.seq;
	do {
		if (!store_page(call->transaction, &kind_webhook_delivery, &page, fault))
			return false;
		for (size_t i = 0; i < page.count; i++) {
			if (!webhook_delivery_read(&records[i], &delivery, fault))
				return false;
			if (delivery.series == webhook->series && delivery.seq <= *seq)
				*seq = delivery.seq - 1;
		}
		if (page.count > 0)
			above = records[page.count - 1].id;
		page.above = &above;
	} while (!page.is_last);
	return true;
}

static json_t *former_of(struct call *call, const struct webhook *webhook)
{
	json_t *list = json_array();

	for (size_t i = 0; i < webhook->former_count; i++) {
		json_t *former = json_object();

		object_put(
			former, "secret",
			json_string(webhook_secret_text(call->arena, webhook->former[i].secret)));
		object_put(former, "until", json_time_milliseconds(webhook->former[i].until));
		array_put(list, former);
	}
	return list;
}

static json_t *webhook_value(struct call *call, const struct webhook *webhook, uint64_t position)
{
	json_t *value = json_object(), *document = webhook_document(call, webhook);
	char id[ID_TEXT_SIZE + 1];

	id_print(&webhook->id, id);
	object_put(document, "secret",
		   json_string(webhook_secret_text(call->arena, webhook->secret)));
	object_put(value, "id", json_string(id));
	object_put(value, "created_at", json_time_milliseconds(webhook->created));
	object_put(value, "updated_at", json_time_milliseconds(webhook->updated));
	object_put(value, "position", json_integer((json_int_t)position));
	if (webhook->end != WEBHOOK_NOT_ENDED)
		object_put(value, "disabled_reason", json_string(webhook_ends[webhook->end]));
	object_put(value, "former_secrets", former_of(call, webhook));
	object_put(value, "document", json_incref(document));
	return value;
}

static bool gather(struct call *call, json_t *value, struct fault *fault)
{
	json_t *list = json_array();
	struct webhooks webhooks;

	object_put(value, "webhooks", list);
	if (!webhooks_load(call->transaction, STORE_TO_SHOW, &webhooks, fault))
		return false;
	object_put(value, "last_webhook", json_integer((json_int_t)webhooks.last));
	for (size_t i = 0; i < webhooks.count; i++) {
		uint64_t position;

		if (!find_position(call, &webhooks.items[i], &position, fault))
			return false;
		array_put(list, webhook_value(call, &webhooks.items[i], position));
	}
	return true;
}

bool transfer_line_webhooks(struct survey *survey, struct transfer_output *output,
			    struct fault *fault)
{
	struct call *call = &survey->call;
	json_t *value = arena_json(call->arena, json_object());
	struct fault own = FAULT_INITIAL;

	if (!packed_sound(call, gather(call, value, &own), &own))
		return transfer_leave_out_part(call, output, "webhooks", &own, fault);
	if (json_array_size(json_object_get(value, "webhooks")) == 0)
		return true;
	output->counts.webhooks++;
	return transfer_send(survey, output, "webhooks", value, fault);
}

/* ---- in ---- */

static enum webhook_end end_named(struct slice name)
{
	enum webhook_end end = WEBHOOK_NOT_ENDED;

	for (enum webhook_end i = WEBHOOK_GONE; i <= WEBHOOK_FAILING; i++)
		end = name.data != NULL && slice_is(name, webhook_ends[i]) ? i : end;
	return end;
}

static void read_former(struct transfer_input *input, const json_t *list, const char *pointer,
			struct webhook *webhook)
{
	const json_t *object;
	size_t i;

	json_array_foreach(list, i, object) {
		const char *place = arena_text(input->call.arena, "%s/former_secrets/%zu", pointer,
					       i);

		if (!webhook_secret_bytes(input->call.arena, transfer_text(object, "secret"),
					  &webhook->former[i].secret))
			findings_add(&input->call.findings, place, "has no secret");
		webhook->former[i].until = transfer_time(input, place, object, "until");
		webhook->former_count = i + 1;
	}
}

static bool read_webhook(struct transfer_input *input, const json_t *object, const char *pointer,
			 struct webhooks *webhooks, struct fault *fault)
{
	struct call *call = &input->call;
	const json_t *document = json_object_get(object, "document");
	struct webhook *webhook = &webhooks->items[webhooks->count];
	struct webhook_position position = { .seq = transfer_number(object, "position") };
	int64_t updated;

	*webhook = (struct webhook){
		.id = transfer_id(object, "id"),
		.series = 1,
		.created = transfer_time(input, pointer, object, "created_at"),
		.end = end_named(transfer_text(object, "disabled_reason")),
	};
	updated = transfer_time(input, pointer, object, "updated_at");
	if (json_object_get(document, "secret") == NULL)
		findings_add(&call->findings, arena_text(call->arena, "%s/document", pointer),
			     "has no secret");
	if (id_number(&webhook->id) > webhooks->last ||
	    (webhooks->count > 0 && id_compare(&webhook->id, &webhook[-1].id) <= 0))
		findings_add(&call->findings, arena_text(call->arena, "%s/id", pointer),
			     "must be younger than that of the one before, and not above "
			     "last_webhook");
	/* A log of which nothing could be saved begins anew. */
	if (position.seq > input->last_event)
		position.seq = input->last_event;
	if (!findings_result(&call->findings, fault) ||
	    !webhook_set(call, webhook, NULL, document, fault))
		return false;
	read_former(input, json_object_get(object, "former_secrets"), pointer, webhook);
	if (!findings_result(&call->findings, fault))
		return false;
	webhook->updated = updated;
	webhooks->count++;
	position.series = webhook->series;
	return webhook_position_put(call->transaction, &webhook->id, &position, fault);
}

bool transfer_read_webhooks(struct transfer_input *input, const json_t *object, struct fault *fault)
{
	struct call *call = &input->call;
	const json_t *list = json_object_get(object, "webhooks");
	struct webhooks webhooks;

	if (!webhooks_load(call->transaction, STORE_TO_CHANGE, &webhooks, fault))
		return false;
	webhooks.items = arena_alloc(call->arena,
				     (json_array_size(list) + 1) * sizeof *webhooks.items);
	webhooks.last = transfer_number(object, "last_webhook");
	for (size_t i = 0; i < json_array_size(list); i++) {
		if (!read_webhook(input, json_array_get(list, i),
				  arena_text(call->arena, "/webhooks/webhooks/%zu", i), &webhooks,
				  fault))
			return false;
	}
	input->counts.webhooks++;
	return webhooks_put(call->transaction, &webhooks, fault);
}
