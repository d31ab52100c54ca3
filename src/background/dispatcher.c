/* See background/dispatcher.h. One thread does everything: it reads the event logs, fills the
 * sender, takes outcomes and stores them, and waits for the sender or for the next delivery that is
 * due.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "background/dispatcher.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/counter.h"
#include "base/digest.h"
#include "base/json_text.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "records/record.h"
#include "background/dispatcher_parts.h"
#include "resources/audit.h"
#include "resources/recordings/job_links.h"
#include "resources/events/events.h"

/* Milliseconds between two refreshes from the event logs; the second is for a database, which each
 * refresh queries. */
#define REFRESH_AFTER 200
#define REFRESH_AFTER_SHARED 500
/* Milliseconds to wait if there is nothing to do. */
#define PAUSE 1000
/* Events that are read together: few while they are wanted, many while they are not. */
#define READ_FEW 8
#define READ_MANY AUDIT_READ_MOST
#define SINGLES_MOST 1024
/* The log line for an event that is passed over. */
#define NOT_SENT "webhook_entry_not_sent"
/* Milliseconds after which the sender must have reported an outcome. */
#define SENDER_SILENT ((int64_t)(SENDER_PATIENCE + 30) * 1000)

const struct schedule schedule_usual = {
	.seconds = { 0, 5, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600, 14 * 3600, 20 * 3600,
		     24 * 3600 },
	.count = 10,
};

/* ---- what is sent ---- */

/* Returns whether the webhook wants the event: its `events` match, and the event is not about the
 * webhook itself. */
static bool webhook_wants(struct arena *arena, const struct webhook *webhook,
			  const struct audit_entry *entry)
{
	struct slice events = webhook->events;
	char id[ID_TEXT_SIZE + 1];
	bool wants = false;

	while (!wants && events.data != NULL)
		wants = event_type_matches(text_split(events, '\n', &events), entry->type);
	if (!wants || !slice_begins(entry->type, SLICE("webhook.")))
		return wants;
	/* No webhook gets the events about itself. If the data cannot be read, webhook_message
	 * reports it. */
	id_print(&webhook->id, id);
	return !slice_is(text_of_json(json_object_get(
				 json_text_read_stored(arena, entry->data, NULL), "id")),
			 id);
}

/* The types of events in rooms. Their bodies have members that the bodies of 100ms have. */
static bool is_live(struct slice type)
{
	static const char *const beginnings[] = { "session.", "peer.", "role.change.",
						  "room.end." };

	for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++) {
		if (slice_begins(type, slice_of(beginnings[i])))
			return true;
	}
	return false;
}

static struct slice message_body(struct arena *arena, const struct id *account,
				 const struct audit_entry *entry)
{
	const struct slice id = id_as_text(arena, account);
	struct json_writer text = writer_begin(arena, false);

	writer_plain(&text, "version", SLICE("2.0"));
	writer_text(&text, "id", entry->id);
	writer_plain(&text, "account_id", id);
	if (is_live(entry->type)) {
		/* If the data cannot be read, webhook_message reports it. */
		const json_t *data = json_text_read_stored(arena, entry->data, NULL);
		const struct slice template = text_of_json(json_object_get(data, "template_id"));

		writer_plain(&text, "app_id", id);
		if (template.data != NULL)
			writer_text(&text, "template_id", template);
	}
	writer_time_milliseconds(&text, "timestamp", entry->time);
	writer_text(&text, "type", entry->type);
	writer_json(&text, "data", entry->data);
	writer_integer(&text, "seq", (int64_t)entry->seq);
	writer_json(&text, "actor", entry->actor);
	return writer_end(&text);
}

static void append_signature(struct buffer *headers, struct slice secret, struct slice text)
{
	unsigned char mac[DIGEST_SIZE];

	digest_hmac_sha256(secret, text, mac);
	buffer_append_text(headers, " v1,");
	buffer_append(headers,
		      text_base64(headers->arena, (struct slice){ (const char *)mac, sizeof mac }));
}

/* Makes the delivery of an event: in the envelope of 100ms, which is also that of Standard Webhooks
 * 1.0.0, and signed as it says. now: the time of the attempt, in milliseconds. *delivery is in the
 * arena or borrowed. FAULT_DAMAGED if the event or the webhook's headers are not JSON; then there
 * is no delivery. */
static bool webhook_message(struct arena *arena, const struct webhook *webhook,
			    const struct id *account, const struct audit_entry *entry, int64_t now,
			    struct delivery *delivery, struct fault *fault)
{
	const struct id number = audit_id_of(entry->seq);
	struct buffer headers = BUFFER_INITIAL(arena), text = BUFFER_INITIAL(arena);
	json_t *own = json_text_read_stored(arena, webhook->headers, NULL), *value;
	const char *name;

	*delivery = (struct delivery){
		.url = webhook->url,
		.body = message_body(arena, account, entry),
	};
	if (own == NULL)
		return record_damaged("webhook", &webhook->id, fault);
	if (json_text_read_stored(arena, delivery->body, NULL) == NULL)
		return record_damaged("event", &number, fault);
	buffer_append(&text, entry->id);
	buffer_append_byte(&text, '.');
	buffer_append_integer(&text, now / 1000);
	buffer_append_byte(&text, '.');
	buffer_append(&text, delivery->body);
	buffer_append_text(&headers, "content-type: application/json\nwebhook-id: ");
	buffer_append(&headers, entry->id);
	buffer_append_text(&headers, "\nwebhook-timestamp: ");
	buffer_append_integer(&headers, now / 1000);
	/* A signature for each valid secret. The signature of the current secret comes first. */
	buffer_append_text(&headers, "\nwebhook-signature:");
	append_signature(&headers, webhook->secret, buffer_slice(&text));
	for (size_t i = 0; i < webhook->former_count; i++) {
		if (webhook->former[i].until > now)
			append_signature(&headers, webhook->former[i].secret, buffer_slice(&text));
	}
	json_object_foreach(own, name, value) {
		buffer_append_byte(&headers, '\n');
		buffer_append_text(&headers, name);
		buffer_append_text(&headers, ": ");
		buffer_append(&headers, text_of_json(value));
	}
	delivery->headers = buffer_slice(&headers);
	return true;
}

/* ---- attempts ---- */

static struct attempt *free_attempt(struct dispatcher *dispatcher)
{
	size_t i = 0;

	while (i < SENDER_MOST && dispatcher->attempts[i].state != ATTEMPT_NONE)
		i++;
	return i < SENDER_MOST ? &dispatcher->attempts[i] : NULL;
}

/* How many of the sender's places are used. */
struct use {
	size_t unused; /* used by nobody */
	size_t account, webhook; /* used by this account and this webhook */
};

static struct use use_of(const struct dispatcher *dispatcher, const struct id *account,
			 const struct id *webhook)
{
	struct use use = { .unused = 0 };

	for (size_t i = 0; i < SENDER_MOST; i++) {
		const struct attempt *attempt = &dispatcher->attempts[i];

		if (attempt->state == ATTEMPT_NONE)
			use.unused++;
		else if (id_compare(&attempt->account, account) == 0) {
			use.account++;
			use.webhook += id_compare(&attempt->webhook, webhook) == 0;
		}
	}
	return use;
}

/* Returns whether another delivery or single may use a place. No account takes the last free
 * places: however many of its receivers hang, deliveries of other accounts continue. */
static bool has_place(const struct use *use)
{
	return use->webhook < AT_ONCE_MOST && use->unused > use->account;
}

/* Returns whether another delivery of the webhook may begin. A receiver that hangs keeps its place
 * for a long time, so once an account uses a few places, each of its webhooks gets only one. */
static bool has_room(const struct dispatcher *dispatcher, const struct target *target)
{
	const struct use use = use_of(dispatcher, &target->account, &target->id);

	return has_place(&use) && (use.webhook == 0 || use.account < ACCOUNT_FEW);
}

/* Gives a delivery to the sender. Its number contains the place of the attempt and tells the
 * attempts at that place apart. error: NULL, or why it fails without being sent. */
static void give(struct dispatcher *dispatcher, struct attempt *attempt, struct delivery *delivery,
		 const char *error)
{
	dispatcher->number += SENDER_MOST;
	delivery->number = dispatcher->number + (uint64_t)(attempt - dispatcher->attempts);
	attempt->outcome = (struct outcome){ .number = delivery->number };
	attempt->begun = clock_now(dispatcher->environment->clock);
	attempt->given = clock_monotonic();
	attempt->state = ATTEMPT_SENT;
	if (attempt->target != NULL)
		attempt->target->under_way++;
	/* What the sender does not take is lost with it: see lose. */
	if (error == NULL && !sender_give(dispatcher->sender, delivery))
		error = "event too large";
	if (error != NULL) {
		(void)snprintf(attempt->outcome.error, sizeof attempt->outcome.error, "%s", error);
		attempt->state = ATTEMPT_ENDED;
	}
}

/* Adds to an event what it has only when it is sent. */
static bool complete_entry(struct dispatcher *dispatcher, struct transaction *transaction,
			   const struct id *account, struct audit_entry *entry, struct fault *fault)
{
	struct call call = {
		.environment = dispatcher->environment,
		.arena = dispatcher->arena,
		.account = *account,
		.transaction = transaction,
		.now = clock_now(dispatcher->environment->clock),
	};

	id_print(account, call.account_text);
	return job_event_links(&call, entry->type, entry->data, &entry->data, fault);
}

static void send_entry(struct dispatcher *dispatcher, struct transaction *transaction,
		       struct target *target, const struct webhook *webhook,
		       const struct audit_entry *logged, struct waiting *waiting)
{
	struct attempt *attempt = free_attempt(dispatcher);
	struct fault fault = FAULT_INITIAL;
	struct audit_entry completed = *logged, *entry = &completed;
	struct delivery delivery = { .url = webhook->url };
	const char *error = NULL;

	if (!complete_entry(dispatcher, transaction, &target->account, entry, &fault) ||
	    !webhook_message(dispatcher->arena, webhook, &target->account, entry,
			     clock_now(dispatcher->environment->clock), &delivery, &fault)) {
		(void)dispatcher_pass_over(dispatcher, NOT_SENT, &target->account, &fault);
		error = "event or headers are damaged";
	}
	*attempt = (struct attempt){
		.target = target,
		.account = target->account,
		.webhook = target->id,
		.seq = entry->seq,
	};
	(void)snprintf(attempt->event_id, sizeof attempt->event_id, "%.*s", (int)entry->id.size,
		       entry->id.data);
	(void)snprintf(attempt->type, sizeof attempt->type, "%.*s", (int)entry->type.size,
		       entry->type.data);
	if (waiting != NULL) {
		attempt->is_repeated = true;
		attempt->has_record = true;
		attempt->record = waiting->record;
		waiting->is_under_way = true;
	}
	give(dispatcher, attempt, &delivery, error);
}

/* ---- filling ---- */

/* Gives up a delivery whose event cannot be read; the receiver is not to blame. */
static void give_up_entry(struct dispatcher *dispatcher, struct target *target,
			  struct waiting *waiting, const char *why)
{
	struct attempt *attempt = free_attempt(dispatcher);

	*attempt = (struct attempt){
		.state = ATTEMPT_ENDED,
		.target = target,
		.account = target->account,
		.webhook = target->id,
		.is_given_up = true,
		.is_repeated = true,
		.has_record = true,
		.record = waiting->record,
		.seq = waiting->seq,
	};
	(void)snprintf(attempt->outcome.error, sizeof attempt->outcome.error, "%s", why);
	waiting->is_under_way = true;
	target->under_way++;
}

static bool repeat_due(struct dispatcher *dispatcher, struct transaction *transaction,
		       struct target *target, const struct webhook *webhook,
		       const struct source *source, struct fault *fault)
{
	const int64_t now = clock_now(dispatcher->environment->clock);

	for (size_t i = 0; i < target->waiting_count && has_room(dispatcher, target); i++) {
		struct waiting *waiting = &target->waiting[i];
		struct audit_entry entry;

		if (waiting->is_under_way || waiting->next > now)
			continue;
		if (waiting->seq < source->first || waiting->seq > source->last) {
			give_up_entry(dispatcher, target, waiting, "event is no longer in the log");
			continue;
		}
		if (audit_read(transaction, waiting->seq, 1, &entry, fault))
			send_entry(dispatcher, transaction, target, webhook, &entry, waiting);
		else if (dispatcher_pass_over(dispatcher, NOT_SENT, &target->account, fault))
			give_up_entry(dispatcher, target, waiting, "event is damaged");
		else
			return false;
	}
	return true;
}

static bool target_may_read(const struct target *target, const struct source *source, int64_t now)
{
	return target->read < source->last && target->read - target->position < WINDOW - 1 &&
	       target->waiting_count < WAITING_MOST && target->not_before <= now;
}

/* Returns false if the event has to wait, for a place or for its time. */
static bool take_entry(struct dispatcher *dispatcher, struct transaction *transaction,
		       struct target *target, const struct webhook *webhook,
		       const struct audit_entry *entry)
{
	const int64_t since = dispatcher->schedule->seconds[0] * 1000;

	if (target->done[entry->seq % WINDOW]) {
		target->read = entry->seq;
		return true;
	}
	if (!webhook_wants(dispatcher->arena, webhook, entry)) {
		target->done[entry->seq % WINDOW] = true;
		target->read = entry->seq;
		return true;
	}
	target->wants_few = true;
	target->not_before = since > 0 ? entry->time + since : 0;
	if (target->not_before > clock_now(dispatcher->environment->clock) ||
	    !has_room(dispatcher, target))
		return false;
	send_entry(dispatcher, transaction, target, webhook, entry, NULL);
	target->read = entry->seq;
	return true;
}

/* Reads events one at a time, so that only a damaged one is passed over. */
static bool read_singly(struct dispatcher *dispatcher, struct transaction *transaction,
			struct target *target, const struct webhook *webhook, uint64_t n,
			struct fault *fault)
{
	bool goes_on = true;

	for (uint64_t i = 0; i < n && goes_on; i++) {
		const uint64_t seq = target->read + 1;
		struct audit_entry entry;

		if (audit_read(transaction, seq, 1, &entry, fault)) {
			goes_on = take_entry(dispatcher, transaction, target, webhook, &entry);
			continue;
		}
		if (!dispatcher_pass_over(dispatcher, NOT_SENT, &target->account, fault))
			return false;
		target->done[seq % WINDOW] = true;
		target->read = seq;
	}
	return true;
}

static bool target_fill_in(struct dispatcher *dispatcher, struct transaction *transaction,
			   struct target *target, struct source *source, struct fault *fault)
{
	const int64_t now = clock_now(dispatcher->environment->clock);
	struct audit_entry entries[READ_MANY];
	const struct webhook *webhook;
	struct webhooks webhooks;
	struct audit_state state;
	uint64_t n, room;
	bool goes_on = true;

	store_set_account(transaction, &target->account);
	if (!webhooks_load(transaction, STORE_TO_SHOW, &webhooks, fault) ||
	    !audit_state_load(transaction, STORE_TO_SHOW, &state, fault))
		return false;
	source->first = state.first;
	source->last = state.last;
	webhook = webhook_find(&webhooks, &target->id);
	if (webhook == NULL || !webhook->is_enabled || webhook->series != target->series) {
		source->change = 0;
		return true;
	}

	/* Events that the log dropped before they were reached are skipped; those that are still
	 * kept and are done remain done. */
	if (source->first <= source->last + 1 && target->position + 1 < source->first) {
		if (target->read < source->first) {
			memset(target->done, 0, sizeof target->done);
			target->position = target->read = source->first - 1;
		}
		while (target->position + 1 < source->first)
			target->done[++target->position % WINDOW] = false;
	}
	/* If the log is shorter, the account was loaded from a dump without its log. */
	if (target->read > source->last) {
		memset(target->done, 0, sizeof target->done);
		if (target->position > source->last)
			target->position = source->last;
		target->read = target->position;
	}

	if (!repeat_due(dispatcher, transaction, target, webhook, source, fault))
		return false;
	if (!target_may_read(target, source, now) || !has_room(dispatcher, target))
		return true;

	room = WINDOW - 1 - (target->read - target->position);
	n = source->last - target->read;
	if (n > (target->wants_few ? READ_FEW : READ_MANY))
		n = target->wants_few ? READ_FEW : READ_MANY;
	if (n > room)
		n = room;
	if (!audit_read(transaction, target->read + 1, (size_t)n, entries, fault)) {
		if (fault->kind != FAULT_DAMAGED)
			return false;
		*fault = FAULT_INITIAL;
		return read_singly(dispatcher, transaction, target, webhook, n, fault);
	}
	target->wants_few = false;
	for (size_t i = 0; i < n && goes_on; i++)
		goes_on = take_entry(dispatcher, transaction, target, webhook, &entries[i]);
	return true;
}

static bool has_due(const struct target *target, int64_t now)
{
	for (size_t i = 0; i < target->waiting_count; i++) {
		if (!target->waiting[i].is_under_way && target->waiting[i].next <= now)
			return true;
	}
	return false;
}

/* Returns true if there was something to do. */
static bool target_fill(struct dispatcher *dispatcher, struct target *target)
{
	const int64_t now = clock_now(dispatcher->environment->clock);
	struct source *source = dispatcher_source(dispatcher, &target->account);
	const uint64_t read = target->read;
	const size_t under_way = target->under_way;
	struct transaction *transaction;
	struct fault fault = FAULT_INITIAL;

	if (target->is_stale || source == NULL || !has_room(dispatcher, target) ||
	    (!target_may_read(target, source, now) && !has_due(target, now)))
		return false;
	if (store_begin(dispatcher->environment->store, STORE_READ, dispatcher->arena, &transaction,
			&fault)) {
		(void)target_fill_in(dispatcher, transaction, target, source, &fault);
		store_abandon(transaction);
	}
	damage_log_add(&dispatcher->damage, "webhook_entries_not_read", &target->account, &fault);
	arena_reset(dispatcher->arena);
	return target->read != read || target->under_way != under_way;
}

/* ---- what is sent once ---- */

static void dispatcher_wake(const struct dispatcher *dispatcher)
{
	if (eventfd_write(dispatcher->wake, 1) != 0)
		ABORT("cannot write an event");
}

/* Returns a single without contents. */
static struct single *single_open(const struct id *account)
{
	struct arena *arena = arena_open();
	struct single *single = arena_alloc(arena, sizeof *single);

	*single = (struct single){ .arena = arena, .account = *account };
	return single;
}

/* Adds a single, or drops it if its account has used up its share. Takes the single. */
static void single_add(struct dispatcher *dispatcher, struct single *single)
{
	size_t n = 0; /* singles of the account that wait */

	pthread_mutex_lock(&dispatcher->lock);
	for (const struct single *other = dispatcher->singles; other != NULL; other = other->next)
		n += id_compare(&other->account, &single->account) == 0;
	if (SINGLES_MOST - dispatcher->single_count > n) {
		dispatcher->single_count++;
		*dispatcher->last_single = single;
		dispatcher->last_single = &single->next;
		single = NULL;
	}
	pthread_mutex_unlock(&dispatcher->lock);
	if (single != NULL)
		arena_close(single->arena);
}

/* Adds a single for one webhook, with a copy of the delivery. */
static void single_add_delivery(struct dispatcher *dispatcher, const struct id *account,
				const struct id *webhook, const struct delivery *delivery,
				bool is_test)
{
	struct single *single = single_open(account);

	single->is_test = is_test;
	single->webhook = *webhook;
	single->delivery.url = arena_copy(single->arena, delivery->url);
	single->delivery.headers = arena_copy(single->arena, delivery->headers);
	single->delivery.body = arena_copy(single->arena, delivery->body);
	single_add(dispatcher, single);
}

void dispatcher_test(struct dispatcher *dispatcher, const struct id *account,
		     const struct webhook_test *sent)
{
	const struct audit_entry entry = {
		.time = sent->time,
		.id = slice_of(sent->event_id),
		.type = SLICE("webhook.test"),
		.actor = sent->actor,
		.data = SLICE("{}"),
	};
	struct fault fault = FAULT_INITIAL;
	struct arena *arena;
	struct delivery delivery;

	if (dispatcher == NULL)
		return;
	arena = arena_open();
	/* Never fails: the call that asked for the test has already read all of it. */
	if (webhook_message(arena, &sent->webhook, account, &entry, sent->time, &delivery, &fault))
		single_add_delivery(dispatcher, account, &sent->webhook.id, &delivery, true);
	arena_close(arena);
	dispatcher_wake(dispatcher);
}

void dispatcher_send_once(struct dispatcher *dispatcher, const struct id *account,
			  struct slice type, struct slice data, int64_t time)
{
	struct single *single;

	if (dispatcher == NULL)
		return;
	single = single_open(account);
	single->is_for_all = true;
	single->entry = (struct audit_entry){
		.time = time,
		.id = uuid_as_text(single->arena, dispatcher->environment->clock),
		.type = arena_copy(single->arena, type),
		.actor = audit_service_text(single->arena),
		.data = arena_copy(single->arena, data),
	};
	single_add(dispatcher, single);
	dispatcher_wake(dispatcher);
}

/* Returns whether the single may be given to the sender now. Single events leave places of their
 * webhook to events of the event log. */
static bool may_be_sent(const struct dispatcher *dispatcher, const struct single *single)
{
	const struct use use = use_of(dispatcher, &single->account, &single->webhook);

	return !single->is_for_all && has_place(&use) &&
	       (single->is_test || use.webhook < AT_ONCE_MOST / 2);
}

/* Takes the oldest single whose webhooks are to be found (is_for_all), or the oldest for which
 * there is a place. Returns NULL if there is none. */
static struct single *next_single(struct dispatcher *dispatcher, bool is_for_all)
{
	struct single **at = &dispatcher->singles, *single;

	pthread_mutex_lock(&dispatcher->lock);
	while (*at != NULL && !(is_for_all ? (*at)->is_for_all : may_be_sent(dispatcher, *at)))
		at = &(*at)->next;
	single = *at;
	if (single != NULL) {
		*at = single->next;
		single->next = NULL;
		COUNTER_LOWER(dispatcher->single_count, 1u);
		if (*at == NULL)
			dispatcher->last_single = at;
	}
	pthread_mutex_unlock(&dispatcher->lock);
	return single;
}

/* Adds a single for each webhook that wants the event. */
static bool find_webhooks(struct dispatcher *dispatcher, struct transaction *transaction,
			  const struct single *single, struct fault *fault)
{
	const int64_t now = clock_now(dispatcher->environment->clock);
	struct webhooks webhooks;

	store_set_account(transaction, &single->account);
	if (!webhooks_load(transaction, STORE_TO_SHOW, &webhooks, fault))
		return false;
	for (size_t i = 0; i < webhooks.count; i++) {
		const struct webhook *webhook = &webhooks.items[i];
		struct delivery delivery;

		if (!webhook->is_enabled ||
		    !webhook_wants(dispatcher->arena, webhook, &single->entry))
			continue;
		if (webhook_message(dispatcher->arena, webhook, &single->account, &single->entry,
				    now, &delivery, fault))
			single_add_delivery(dispatcher, &single->account, &webhook->id, &delivery,
					    false);
		else if (!dispatcher_pass_over(dispatcher, NOT_SENT, &single->account, fault))
			return false;
	}
	return true;
}

/* Finds the webhooks of all singles that are for all that want them. */
static void find_all_webhooks(struct dispatcher *dispatcher)
{
	struct single *single;

	while ((single = next_single(dispatcher, true)) != NULL) {
		struct transaction *transaction;
		struct fault fault = FAULT_INITIAL;

		if (store_begin(dispatcher->environment->store, STORE_READ, dispatcher->arena,
				&transaction, &fault)) {
			(void)find_webhooks(dispatcher, transaction, single, &fault);
			store_abandon(transaction);
		}
		damage_log_add(&dispatcher->damage, "webhook_entries_not_read", &single->account,
			       &fault);
		arena_reset(dispatcher->arena);
		arena_close(single->arena);
	}
}

/* ---- outcomes ---- */

/* The sender has ended. Its deliveries must be sent again, although they may have arrived. */
static void lose(struct dispatcher *dispatcher)
{
	for (size_t i = 0; i < SENDER_MOST; i++) {
		struct attempt *attempt = &dispatcher->attempts[i];
		struct target *target = attempt->target;
		struct waiting *waiting;

		if (attempt->state != ATTEMPT_SENT)
			continue;
		if (target != NULL) {
			COUNTER_LOWER(target->under_way, 1u);
			target->read = target->position;
			waiting = attempt->is_repeated ? target_waiting(target, &attempt->record)
						       : NULL;
			if (waiting != NULL)
				waiting->is_under_way = false;
		}
		*attempt = (struct attempt){ .state = ATTEMPT_NONE };
	}
}

static void dispatcher_take_outcomes(struct dispatcher *dispatcher)
{
	const int64_t now = clock_monotonic();
	struct outcome outcome;
	enum sender_result taken;

	for (size_t i = 0; i < SENDER_MOST; i++) {
		const struct attempt *attempt = &dispatcher->attempts[i];

		/* The sender runs but has not reported for longer than an attempt may take. */
		if (attempt->state == ATTEMPT_SENT && now - attempt->given >= SENDER_SILENT) {
			sender_stop(dispatcher->sender);
			break;
		}
	}
	while ((taken = sender_take(dispatcher->sender, &outcome)) != SENDER_NOTHING) {
		struct attempt *attempt;

		if (taken == SENDER_LOST) {
			lose(dispatcher);
			continue;
		}
		attempt = &dispatcher->attempts[outcome.number % SENDER_MOST];
		if (attempt->state != ATTEMPT_SENT || attempt->outcome.number != outcome.number)
			continue;
		attempt->outcome = outcome;
		attempt->state = ATTEMPT_ENDED;
		if (attempt->target == NULL)
			*attempt = (struct attempt){ .state = ATTEMPT_NONE };
	}
}

/* ---- rounds ---- */

static bool dispatcher_is_ending(struct dispatcher *dispatcher)
{
	bool is;

	pthread_mutex_lock(&dispatcher->lock);
	is = dispatcher->is_ending;
	pthread_mutex_unlock(&dispatcher->lock);
	return is;
}

static void publish_figures(struct dispatcher *dispatcher)
{
	const int64_t now = clock_now(dispatcher->environment->clock);
	uint64_t pending = 0, waiting = 0, failing = 0, ended[WEBHOOK_FAILING + 1] = { 0 };
	int64_t oldest = now;

	for (const struct target *target = dispatcher->targets; target != NULL;
	     target = target->next) {
		const struct source *source = dispatcher_source(dispatcher, &target->account);

		pending += target->waiting_count;
		failing += target->waiting_count > 0;
		if (source != NULL && source->last > target->read)
			waiting += source->last - target->read;
		for (size_t i = 0; i < target->waiting_count; i++) {
			if (target->waiting[i].first < oldest)
				oldest = target->waiting[i].first;
		}
	}
	for (size_t i = 0; i < dispatcher->source_count; i++) {
		for (size_t end = 0; end <= WEBHOOK_FAILING; end++)
			ended[end] += dispatcher->sources[i].ended[end];
	}
	pthread_mutex_lock(&dispatcher->lock);
	dispatcher->figures.pending = pending;
	dispatcher->figures.waiting = waiting;
	dispatcher->figures.oldest = (uint64_t)((now - oldest) / 1000);
	dispatcher->figures.failing = failing;
	memcpy(dispatcher->figures.ended, ended, sizeof ended);
	pthread_mutex_unlock(&dispatcher->lock);
}

/* Returns true if there may be more to do immediately. */
static bool dispatch_round(struct dispatcher *dispatcher)
{
	const int64_t pause = store_is_shared(dispatcher->environment->store) ? REFRESH_AFTER_SHARED
									      : REFRESH_AFTER;
	const bool has_lease = lease_hold(dispatcher->lease);
	struct target *first, *target;
	struct attempt *attempt;
	struct single *single;
	bool was_filled = false;

	dispatcher_take_outcomes(dispatcher);
	if (!has_lease && dispatcher->had_lease) {
		/* Another process sends now, so this one must stop. */
		sender_stop(dispatcher->sender);
		dispatcher_reset(dispatcher);
		publish_figures(dispatcher);
	}
	dispatcher->had_lease = has_lease;
	if (has_lease)
		dispatcher_save(dispatcher, false);

	/* Before the events of the logs, which would take all free places. */
	find_all_webhooks(dispatcher);
	while (sender_descriptor(dispatcher->sender) >= 0 &&
	       (attempt = free_attempt(dispatcher)) != NULL &&
	       (single = next_single(dispatcher, false)) != NULL) {
		*attempt = (struct attempt){
			.account = single->account,
			.webhook = single->webhook,
		};
		give(dispatcher, attempt, &single->delivery, NULL);
		arena_close(single->arena);
	}
	if (!has_lease)
		return false;

	if (clock_monotonic() - dispatcher->refreshed >= pause) {
		dispatcher_refresh(dispatcher);
		dispatcher->refreshed = clock_monotonic();
		publish_figures(dispatcher);
	}
	/* The webhooks in turn, so that none takes all places of the sender. */
	first = dispatcher->turn != NULL ? dispatcher->turn : dispatcher->targets;
	if (first == NULL || sender_descriptor(dispatcher->sender) < 0)
		return false;
	target = first;
	do {
		was_filled = target_fill(dispatcher, target) || was_filled;
		target = target->next != NULL ? target->next : dispatcher->targets;
	} while (target != first && free_attempt(dispatcher) != NULL);
	dispatcher->turn = target != first ? target : first->next;
	return was_filled;
}

/* Waits until the next refresh, or until the next retry if that is earlier. */
static void wait_for_work(struct dispatcher *dispatcher)
{
	const int64_t now = clock_now(dispatcher->environment->clock);
	int64_t pause = dispatcher->source_count > 0 ? REFRESH_AFTER : PAUSE;
	struct pollfd polled[] = {
		{ .fd = dispatcher->wake, .events = POLLIN },
		{ .fd = sender_descriptor(dispatcher->sender), .events = POLLIN },
	};
	eventfd_t value;

	for (const struct target *target = dispatcher->targets; target != NULL;
	     target = target->next) {
		for (size_t i = 0; i < target->waiting_count; i++) {
			const struct waiting *waiting = &target->waiting[i];

			if (!waiting->is_under_way && waiting->next - now < pause)
				pause = waiting->next - now;
		}
	}
	/* A delivery that is due but cannot be sent now must not make the thread spin. */
	(void)poll(polled, 2, pause < 10 ? 10 : (int)pause);
	if (polled[0].revents != 0)
		(void)eventfd_read(dispatcher->wake, &value);
}

static void *run_dispatcher(void *context)
{
	struct dispatcher *dispatcher = context;

	(void)arena_use_for_json(dispatcher->arena);
	while (!dispatcher_is_ending(dispatcher)) {
		if (!dispatch_round(dispatcher))
			wait_for_work(dispatcher);
	}
	dispatcher_take_outcomes(dispatcher);
	if (dispatcher->had_lease)
		dispatcher_save(dispatcher, true);
	dispatcher_reset(dispatcher);
	(void)arena_use_for_json(NULL);
	return NULL;
}

/* ---- the whole ---- */

struct dispatcher *dispatcher_open(const struct environment *environment, struct lease *lease,
				   struct sender *sender, const struct schedule *schedule)
{
	struct dispatcher *dispatcher = memory_check(calloc(1, sizeof *dispatcher));

	dispatcher->environment = environment;
	dispatcher->lease = lease;
	dispatcher->sender = sender;
	dispatcher->schedule = schedule;
	dispatcher->arena = arena_open();
	dispatcher->last_single = &dispatcher->singles;
	dispatcher->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (dispatcher->wake < 0 || pthread_mutex_init(&dispatcher->lock, NULL) != 0 ||
	    pthread_create(&dispatcher->thread, NULL, run_dispatcher, dispatcher) != 0)
		ABORT("cannot create a lock or thread");
	return dispatcher;
}

void dispatcher_close(struct dispatcher *dispatcher)
{
	struct single *single;

	if (dispatcher == NULL)
		return;
	pthread_mutex_lock(&dispatcher->lock);
	dispatcher->is_ending = true;
	pthread_mutex_unlock(&dispatcher->lock);
	dispatcher_wake(dispatcher);
	pthread_join(dispatcher->thread, NULL);
	while ((single = dispatcher->singles) != NULL) {
		dispatcher->singles = single->next;
		arena_close(single->arena);
	}
	close(dispatcher->wake);
	pthread_mutex_destroy(&dispatcher->lock);
	arena_close(dispatcher->arena);
	free(dispatcher->sources);
	free(dispatcher);
}

void dispatcher_figures(struct dispatcher *dispatcher, struct dispatcher_figures *figures)
{
	pthread_mutex_lock(&dispatcher->lock);
	*figures = dispatcher->figures;
	pthread_mutex_unlock(&dispatcher->lock);
}
