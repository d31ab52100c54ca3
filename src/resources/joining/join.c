/* The calls that name a code: the exchange, LiveKit's token endpoint, and what a code opens. See
 * resources/joining/join.h. The request does not name an account: the code determines it. Unknown
 * and malformed codes get the same response. They count as misses (resources/misses.h),
 * unless the text does not look like a code.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/joining/join.h"

#include <string.h>

#include "base/json_writer.h"
#include "base/text.h"
#include "records/kinds.h"
#include "resources/code_typed.h"
#include "resources/joining/exchange.h"
#include "resources/live/live_rooms.h"
#include "resources/media/media_join.h"
#include "resources/public_url.h"
#include "resources/recordings/job_answer.h"
#include "resources/recordings/recorders.h"
#include "resources/recordings/recording_files.h"
#include "resources/recordings/recording_start.h"

/* Finds the code and its room, and sets call->account. */
static bool find_typed_code(struct call *call, struct slice text, struct exchange *exchange,
			    struct fault *fault)
{
	const struct typed_code typed = code_typed(call->arena, text);
	const struct slice meant[] = { typed.code, typed.grouped };
	const size_t n = typed.grouped.data == NULL ? 1 : 2;
	bool is_there = false;

	if (typed.code.data == NULL)
		return typed.is_guess ? entry_refuse(&exchange->entrant, ENTRY_CODE_UNKNOWN, fault)
				      : fault_set(fault, FAULT_NOT_FOUND, "%s",
						  entry_rules[ENTRY_CODE_UNKNOWN].message);
	for (size_t i = 0; i < n && !is_there; i++) {
		if (!code_find(call, meant[i], call_reading(call), &exchange->code, &call->account,
			       &is_there, fault))
			return false;
	}
	if (!is_there)
		return entry_refuse(&exchange->entrant, ENTRY_CODE_UNKNOWN, fault);
	call_set_account(call);
	return exchange_find_room(call, exchange, &is_there, fault) &&
	       (is_there || entry_refuse(&exchange->entrant, ENTRY_CODE_UNKNOWN, fault));
}

/* text: the code as typed. */
static bool exchange_typed(struct call *call, struct slice text, struct exchange *exchange,
			   struct fault *fault)
{
	struct accounts *accounts = call->environment->accounts;
	const struct roster *roster;
	const struct account *account;
	bool is_done;

	if (!find_typed_code(call, text, exchange, fault) ||
	    !entrant_find_media(&exchange->entrant, &exchange->media, fault))
		return false;
	roster = accounts_current(accounts);
	account = roster_by_id(roster, &call->account);
	is_done = exchange_code(call, exchange, account, fault);
	exchange_note(call, account, exchange, is_done);
	accounts_release(accounts, roster);
	return is_done;
}

bool join(struct call *call, struct fault *fault)
{
	struct exchange exchange = {
		.entrant = { .call = call, .moment = ENTRY_EXCHANGE },
		.sent_user = call_text(call, "user_id"),
		.sent_name = call_text(call, "name"),
	};

	return exchange_typed(call, call_text(call, "code"), &exchange, fault);
}

bool join_settle(struct call *call, struct fault *fault)
{
	return join(call, fault);
}

bool join_livekit(struct call *call, struct fault *fault)
{
	const struct livekit_request request = livekit_request_of(call);
	struct exchange exchange = {
		.entrant = { .call = call, .moment = ENTRY_LIVEKIT },
		.sent_user = call_text(call, "participant_identity"),
		.sent_name = call_text(call, "participant_name"),
		.livekit = &request,
	};

	return exchange_typed(call, call->parameters[0], &exchange, fault);
}

bool join_livekit_settle(struct call *call, struct fault *fault)
{
	return join_livekit(call, fault);
}

/* ---- what a code opens ---- */

/* Writes the title of a document, if it has one. */
static void write_title(struct call *call, struct json_writer *body, const json_t *document)
{
	const struct slice title = text_shown_title(call->arena, document);

	if (title.data != NULL)
		writer_text(body, "title", title);
}

/* Writes a member of a document, or null. */
static void write_member(struct json_writer *body, const char *name, const json_t *document)
{
	const json_t *value = json_object_get(document, name);

	writer_value(body, name, value != NULL ? value : json_null());
}

/* True if the service keeps recordings. */
static bool keeps_recordings(const struct call *call)
{
	const struct recordings *recordings = call->environment->recordings;

	return recordings != NULL && recordings->folder != NULL;
}

/* True if a job of this type would start by itself in a room of the template. */
static bool starts_by_itself(struct call *call, const struct template_record *template,
			     enum job_type type)
{
	return (type == JOB_EXTERNAL || keeps_recordings(call)) &&
	       recording_starting(call, template, type) != NULL;
}

/* Finds out whether the room is recorded and streamed, or will be by itself; empty if it is not. */
static bool find_recording(struct call *call, const struct exchange *exchange,
			   const struct backend *backend, struct live_recorded *found,
			   struct fault *fault)
{
	const struct template_record *template = &exchange->subject.template;
	struct job *jobs;
	int64_t since;
	size_t n = 0;

	*found = (struct live_recorded){ SLICE(""), SLICE("") };
	if (backend == NULL || backend->type != BACKEND_LIVEKIT)
		return true;
	/* Without a recorder, nothing is read. */
	if (!recorders_serve_account(call))
		return true;
	if (!jobs_of_room(call, &exchange->subject.room.id, &jobs, &n, fault))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (job_people_see(&jobs[i], &since) == SEES_NOTHING)
			continue;
		if (jobs[i].type == JOB_RECORDING)
			found->recording = SLICE("running");
		else
			found->streaming = SLICE("running");
	}
	if (found->recording.size == 0 && starts_by_itself(call, template, JOB_RECORDING))
		found->recording = SLICE("automatic");
	if (found->streaming.size == 0 && (starts_by_itself(call, template, JOB_LIVE) ||
					   starts_by_itself(call, template, JOB_EXTERNAL)))
		found->streaming = SLICE("automatic");
	return true;
}

static bool answer_opened(struct call *call, struct exchange *exchange,
			  const struct account *account, struct fault *fault)
{
	const char *client_url = public_url_client(call, account);
	const struct backend *backend = exchange->entrant.backend;
	const struct room_record *room = &exchange->subject.room;
	const struct code_terms *terms = &exchange->code.terms;
	const json_t *room_shown = room_document(call, room);
	const json_t *role_shown = entrant_role(&exchange->entrant);
	struct json_writer body = writer_begin(call->arena, false);
	struct slice rest = slice_of(account->embed);
	struct live_recorded recorded;

	writer_plain(&body, "code", exchange->code.letters);
	writer_open(&body, "room", '{');
	writer_text(&body, "name", room->name);
	write_member(&body, "description", room_shown);
	write_title(call, &body, room_shown);
	writer_close(&body, '}');
	writer_open(&body, "role", '{');
	writer_text(&body, "name", exchange->entrant.role);
	write_title(call, &body, role_shown);
	write_member(&body, "publishParams", role_shown);
	writer_close(&body, '}');
	if (client_url != NULL)
		writer_text(&body, "client_url", slice_of(client_url));
	else
		writer_value(&body, "client_url", json_null());
	/* The join page cannot open a client_url that needs what the media server does not give. */
	if ((backend == NULL || !backend_has_page(backend->type)) &&
	    (client_url == NULL ||
	     strstr(client_url, backend != NULL ? "{join.link}" : "{join.") != NULL))
		writer_plain(&body, "call", SLICE("none"));
	else if (client_url == NULL && backend->type == BACKEND_LIVEKIT)
		/* The join page itself shows the call. */
		writer_plain(&body, "call", slice_of(backend_type_name(BACKEND_LIVEKIT)));
	if ((terms->set & CODE_NOT_BEFORE) != 0)
		writer_time(&body, "not_before", terms->not_before * 1000);
	if ((terms->set & CODE_EXPIRES_AT) != 0)
		writer_time(&body, "expires_at", terms->expires_at * 1000);
	if (room->opens_at != INT64_MIN)
		writer_time(&body, "opens_at", room->opens_at * 1000);
	if (room->closes_at != INT64_MAX)
		writer_time(&body, "closes_at", room->closes_at * 1000);
	if ((terms->set & CODE_NAME) != 0)
		writer_text(&body, "name", exchange_code_name(call, exchange));
	if (exchange->entrant.asks)
		writer_plain(&body, "admission", SLICE("ask"));
	if (account->embed[0] != '\0') {
		writer_open(&body, "embed", '[');
		while (rest.data != NULL)
			writer_text(&body, NULL, text_split(rest, ',', &rest));
		writer_close(&body, ']');
	}
	if (keeps_recordings(call) && media_lacks_to_start(role_shown, "browserRecording") == NULL)
		writer_value(&body, "recordings", json_true());
	return find_recording(call, exchange, backend, &recorded, fault) &&
	       live_answer_opened(call, &room->id, &exchange->subject.template, role_shown, backend,
				  &recorded, &body, fault);
}

bool join_describe(struct call *call, struct fault *fault)
{
	struct accounts *accounts = call->environment->accounts;
	struct exchange exchange = { .entrant = { .call = call, .moment = ENTRY_DESCRIBE } };
	const struct roster *roster;
	const struct account *account;
	bool is_done;

	if (!find_typed_code(call, call->parameters[0], &exchange, fault))
		return false;
	roster = accounts_current(accounts);
	account = roster_by_id(roster, &call->account);
	is_done = exchange_check(call, &exchange, account, fault) &&
		  entrant_find_media(&exchange.entrant, &exchange.media, fault) &&
		  exchange_asks_at_door(call, &exchange, fault) &&
		  answer_opened(call, &exchange, account, fault);
	accounts_release(accounts, roster);
	return is_done;
}

/* ---- recordings, without coming in ---- */

/* Recordings of the room that are read for the list. */
#define RECORDINGS_MOST 100

/* Finds the room of the code in the path, whose role must be one that may record. */
static bool find_recorded_room(struct call *call, struct exchange *exchange, struct fault *fault)
{
	struct accounts *accounts = call->environment->accounts;
	const struct roster *roster;
	const char *lacks;
	bool is_done;

	if (!find_typed_code(call, call->parameters[0], exchange, fault) ||
	    !entrant_find_media(&exchange->entrant, &exchange->media, fault))
		return false;
	roster = accounts_current(accounts);
	is_done = exchange_check(call, exchange, roster_by_id(roster, &call->account), fault);
	accounts_release(accounts, roster);
	if (!is_done)
		return false;
	lacks = media_lacks_to_start(entrant_role(&exchange->entrant), "browserRecording");
	return lacks == NULL ||
	       fault_explain(fault, FAULT_FORBIDDEN,
			     arena_text(call->arena, "Missing permission %s", lacks), "%s", lacks);
}

bool join_recordings(struct call *call, struct fault *fault)
{
	struct exchange exchange = { .entrant = { .call = call, .moment = ENTRY_RECORDINGS } };
	struct json_writer body = writer_begin(call->arena, false);
	struct store_page page = { .order = STORE_NEWEST_FIRST, .most = RECORDINGS_MOST };
	const struct store_expected jobs_page = {
		.kind = &kind_job,
		.finding = STORE_FIND_PAGE,
		.page = &page,
	};
	struct job *jobs;

	if (!find_recorded_room(call, &exchange, fault))
		return false;
	page.parent = &exchange.subject.room.id;
	page.records = arena_alloc(call->arena, page.most * sizeof *page.records);
	store_expect(call->transaction, STORE_EACH, &jobs_page, 1);
	if (!store_page(call->transaction, &kind_job, &page, fault))
		return false;
	jobs = arena_alloc(call->arena, (page.count + 1) * sizeof *jobs);
	for (size_t i = 0; i < page.count; i++) {
		if (!record_read(&job_table, call->arena, &page.records[i], &jobs[i], fault))
			return false;
	}
	assets_expect(call, jobs, page.count);
	writer_open(&body, "data", '[');
	for (size_t i = 0; i < page.count; i++) {
		struct asset *assets;
		size_t n = 0;

		if (jobs[i].asset_count > 0 &&
		    !assets_of_job(call, &jobs[i].stored.id, &assets, &n, fault))
			return false;
		for (size_t k = n; k-- > 0;) {
			writer_open(&body, NULL, '{');
			asset_write(call, &body, &assets[k], false);
			writer_close(&body, '}');
		}
	}
	writer_close(&body, ']');
	return call_answer(call, writer_end(&body));
}

bool join_recording_link(struct call *call, struct fault *fault)
{
	struct exchange exchange = { .entrant = { .call = call, .moment = ENTRY_RECORDINGS } };
	struct asset asset = { .stored.value = { NULL, 0 } };
	struct id id;

	if (!find_recorded_room(call, &exchange, fault))
		return false;
	if (id_parse(call->parameters[1], &id) &&
	    !record_get(&asset_table, call->transaction, &id, STORE_TO_SHOW, &asset, fault))
		return false;
	if (asset.stored.value.data == NULL ||
	    id_compare(&asset.room, &exchange.subject.room.id) != 0)
		return fault_set(fault, FAULT_NOT_FOUND, "recording asset not found");
	return recording_answer_link(call, &asset, fault);
}
