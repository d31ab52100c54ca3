/* See service/bulk.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "service/bulk.h"

#include "base/json_text.h"
#include "base/text.h"
#include "resources/stored.h"
#include "resources/route.h"
#include "resources/stored/template_record.h"
#include "rules/bulk_rules.h"
#include "service/router.h"

#define NO_OPERATION SIZE_MAX

struct operation {
	struct call call; /* as it was checked; a copy of it is run */
	struct slice ref; /* data is NULL if the operation has no ref */
	size_t referred[CALL_PARAMETERS]; /* the operation that a parameter refers to */
	bool is_referred;
	struct slice id; /* of the answered object, if another operation refers to it */
	struct slice kept; /* see call_keep_instead; data is NULL if the body is kept */
	size_t body; /* index of its body among the parts of the answer */
};

struct bulk {
	struct operation *operations;
	size_t count;
	json_t *refs; /* maps each ref to the number of its operation */
	struct template_memo memo; /* for one run */
};

/* ---- checking ---- */

/* Returns the JSON Pointer of an operation in the body. */
static const char *operation_pointer(struct call *call, size_t number, const char *member)
{
	return arena_text(call->arena, "/operations/%zu%s", number, member);
}

static bool refuse_path(struct call *call, size_t number, const char *sentence)
{
	findings_add(&call->findings, operation_pointer(call, number, "/path"), "%s", sentence);
	return false;
}

static bool find_referred(struct call *call, struct bulk *bulk, size_t number, size_t parameter,
			  struct slice ref)
{
	const json_t *found = json_object_getn(bulk->refs, ref.data, ref.size);
	const struct route *route;
	struct operation *earlier;

	if (found == NULL)
		return refuse_path(call, number,
				   arena_text(call->arena, "no earlier operation has the ref %.*s",
					      (int)text_first(ref, 64).size, ref.data));
	earlier = &bulk->operations[json_integer_value(found)];
	route = earlier->call.route;
	/* Only a single room or code has an id. */
	if (route != NULL && (route->answer == NULL || route->is_list))
		return refuse_path(
			call, number,
			arena_text(call->arena, "the ref %.*s has no id", (int)ref.size, ref.data));
	earlier->is_referred = true;
	bulk->operations[number].referred[parameter] = (size_t)json_integer_value(found);
	return true;
}

/* Sets the route and the parameters; parameters that are references are resolved later. */
static bool find_route(struct call *call, size_t number, struct operation *operation)
{
	const struct router *router = call->environment->router;
	struct call *part = &operation->call;
	struct fault unused = FAULT_INITIAL;
	struct slice query;
	bool is_for_all_origins;

	if (memchr(part->request.uri.data, '?', part->request.uri.size) == NULL &&
	    part->request.method != METHOD_OPTIONS && part->request.method != METHOD_HEAD &&
	    router_find(router, part, &query, &is_for_all_origins, &unused) && part->route->is_bulk)
		return true;
	part->route = NULL;
	part->answer = (struct answer){ .status = 0 };
	return refuse_path(call, number, "not a bulk operation");
}

static bool check_parameters(struct call *call, struct bulk *bulk, size_t number)
{
	struct call *part = &bulk->operations[number].call;
	struct fault fault = FAULT_INITIAL;
	bool is_right = true;

	for (size_t i = 0; i < CALL_PARAMETERS; i++) {
		const struct slice segment = part->parameters[i];

		/* A whole segment of the path can be a reference, {REF}; the ref is not decoded. */
		if (segment.size >= 3 && segment.data[0] == '{' &&
		    segment.data[segment.size - 1] == '}' &&
		    !find_referred(call, bulk, number, i,
				   (struct slice){ segment.data + 1, segment.size - 2 }))
			is_right = false;
	}
	if (!router_decode(part, &fault))
		return refuse_path(call, number, fault.message);
	return is_right;
}

static void check_condition(struct call *call, size_t number, const char *member,
			    struct slice *condition)
{
	const struct slice shown = text_first(*condition, 64);

	if (!call_condition_read(condition))
		findings_add(&call->findings, operation_pointer(call, number, member),
			     "%s, got %.*s", CALL_CONDITION_SENTENCE, (int)shown.size, shown.data);
}

static void check_part_body(struct call *call, size_t number, struct call *part, json_t *sent,
			    bool is_strict)
{
	struct fault unused = FAULT_INITIAL;
	json_t *body = sent;

	if (part->route->body_kind == BODY_IGNORED)
		return;
	if (body == NULL || (json_is_array(body) && json_array_size(body) == 0))
		body = arena_json(call->arena, json_object());
	if (!json_is_object(body)) {
		findings_add(&call->findings, operation_pointer(call, number, "/body"),
			     "must be an object, got %s", schema_kind_of(body));
		return;
	}
	part->body = body;
	if (part->route->body == NULL)
		return;
	(void)schema_check(part->route->body, body, route_mode(part->route), is_strict,
			   &part->findings, &unused);
	findings_take(&call->findings, operation_pointer(call, number, "/body"), &part->findings);
}

bool bulk_check(struct call *call, json_t *body, bool is_strict, struct fault *fault)
{
	struct fault of_table = FAULT_INITIAL;
	struct bulk *bulk = arena_zero(call->arena, sizeof *bulk);
	unsigned needed = 0;
	const json_t *list;

	findings_keep_order(&call->findings, body);
	(void)schema_check(call->route->body, body, SCHEMA_WHOLE, is_strict, &call->findings,
			   &of_table);
	list = json_object_get(body, "operations");
	bulk->count = json_array_size(list) <= BULK_OPERATIONS_MOST ? json_array_size(list) : 0;
	bulk->operations = arena_zero(call->arena, (bulk->count + 1) * sizeof *bulk->operations);
	bulk->refs = arena_json(call->arena, json_object());
	for (size_t i = 0; i < bulk->count && !findings_are_full(&call->findings); i++) {
		struct operation *operation = &bulk->operations[i];
		struct call *part = &operation->call;
		const json_t *object = json_array_get(list, i);
		const struct slice ref = i > 0 ? bulk->operations[i - 1].ref
					       : (struct slice){ NULL, 0 };

		/* If a ref is used twice, which is a fault, it stands for the first operation. */
		if (ref.data != NULL && json_object_getn(bulk->refs, ref.data, ref.size) == NULL)
			json_object_setn_new(bulk->refs, ref.data, ref.size,
					     json_integer((json_int_t)i - 1));

		part->environment = call->environment;
		part->arena = call->arena;
		part->request = (struct request){
			.method = method_named(text_of_json(json_object_get(object, "method"))),
			.uri = text_of_json(json_object_get(object, "path")),
			.if_match = text_of_json(json_object_get(object, "if_match")),
			.if_none_match = text_of_json(json_object_get(object, "if_none_match")),
			.address = call->request.address,
		};
		part->account = call->account;
		memcpy(part->account_text, call->account_text, sizeof part->account_text);
		part->actor = call->actor;
		part->roster_generation = call->roster_generation;
		part->validates_only = call->validates_only;
		part->is_part = true;
		findings_open(&part->findings, call->arena);
		part->findings.clock = call->findings.clock;
		operation->ref = text_of_json(json_object_get(object, "ref"));
		for (size_t n = 0; n < CALL_PARAMETERS; n++)
			operation->referred[n] = NO_OPERATION;

		if (json_object_get(object, "path") == NULL ||
		    json_object_get(object, "method") == NULL || !find_route(call, i, operation))
			continue;
		(void)check_parameters(call, bulk, i);
		if (part->route->has_etag) {
			check_condition(call, i, "/if_match", &part->request.if_match);
			check_condition(call, i, "/if_none_match", &part->request.if_none_match);
		}
		check_part_body(call, i, part, json_object_get(object, "body"), is_strict);
	}
	call->bulk = bulk;
	if (!findings_result(&call->findings, fault))
		return false;
	/* A bulk needs all scopes that its operations need. */
	for (size_t i = 0; i < bulk->count; i++)
		needed |= bulk->operations[i].call.route->scopes;
	return actor_may(&call->actor, needed, fault);
}

/* ---- running ---- */

/* pointer: within the body of the operation, or empty for the operation as a whole. */
static void add_fault_part(json_t *faults, size_t number, const char *pointer, const char *message)
{
	array_put(faults, json_pack("{s:o, s:s}", "pointer",
				    json_sprintf(pointer[0] == '/' ? "/operations/%zu/body%s"
								   : "/operations/%zu%s",
						 number, pointer),
				    "message", message));
}

/* Turns the fault of an operation into a fault of the bulk that says which operation failed, and
 * where in it. */
static bool explain_operation(struct call *call, size_t number, struct fault *fault)
{
	const json_t *own = fault->details;
	json_t *details = arena_json(call->arena, json_array());
	json_t *faults = arena_json(call->arena, json_array());
	const json_t *parts = arena_json(call->arena, fault_parts(fault));
	const size_t count = own != NULL ? json_array_size(own) : fault->detail[0] != '\0';

	array_put(details, json_sprintf("/operations/%zu: %s", number, fault->message));
	add_fault_part(faults, number, "", fault->message);
	for (size_t i = 0; i < count; i++) {
		const char *detail = own != NULL ? json_string_value(json_array_get(own, i))
						 : fault->detail;

		array_put(details, json_sprintf(detail[0] == '/' ? "/operations/%zu/body%s"
								 : "/operations/%zu: %s",
						number, detail));
	}
	for (size_t i = 0; i < json_array_size(parts); i++) {
		const json_t *part = json_array_get(parts, i);

		add_fault_part(faults, number, json_string_value(json_object_get(part, "pointer")),
			       json_string_value(json_object_get(part, "message")));
	}
	fault->details = details;
	fault->faults = faults;
	return false;
}

static struct slice part_body(struct call *part)
{
	struct buffer text = BUFFER_INITIAL(part->arena);

	if (part->answer.part_count == 1)
		return part->answer.parts[0];
	for (size_t i = 0; i < part->answer.part_count; i++)
		buffer_append(&text, part->answer.parts[i]);
	return buffer_slice(&text);
}

/* Runs one operation in the transaction of the bulk. */
static bool run_operation(struct call *call, struct bulk *bulk, size_t number, struct fault *fault)
{
	struct operation *operation = &bulk->operations[number];
	struct call part = operation->call;
	struct buffer text = BUFFER_INITIAL(call->arena);
	struct slice body, etag;

	part.transaction = call->transaction;
	part.now = call->now;
	part.run.noted = call->run.noted;
	part.memo = &bulk->memo;
	for (size_t i = 0; i < CALL_PARAMETERS; i++) {
		if (operation->referred[i] != NO_OPERATION)
			part.parameters[i] = bulk->operations[operation->referred[i]].id;
	}
	call_draw_etag(&part);
	if (!stored_sound(&part,
			  loads_run(&part, part.route->loads, fault) &&
				  part.route->run(&part, fault),
			  fault)) {
		call->run.words_asked = part.run.words_asked;
		return fault_is_of_the_store(fault->kind) ? false
							  : explain_operation(call, number, fault);
	}
	/* All operations have the same time, so it is raised and everything is run again. */
	if (part.now > call->now) {
		call->least_now = part.now;
		return fault_set(fault, FAULT_AGAIN, NULL);
	}
	call->run.noted = part.run.noted;
	call->run.codes_made += part.run.codes_made;
	if (call->run.codes_made > BULK_CODES_MOST)
		return fault_member(fault, FAULT_INVALID_BODY, NULL, "/operations",
				    "makes more than %d codes", BULK_CODES_MOST);
	body = part_body(&part);
	if (operation->is_referred) {
		const json_t *answer = json_text_read_stored(call->arena, body, NULL);
		const struct slice id = text_of_json(json_object_get(answer, "id"));

		operation->id = id.data != NULL ? id
						: text_of_json(json_object_get(answer, "code"));
	}

	buffer_append_text(&text, number == 0 ? "{\"status\":" : ",{\"status\":");
	buffer_append_integer(&text, part.answer.status);
	if (body.size > 0)
		buffer_append_text(&text, ",\"body\":");
	call_part(call, buffer_slice(&text));
	operation->kept = part.answer.kept;
	operation->body = call->answer.part_count;
	call_part(call, body);
	text = BUFFER_INITIAL(call->arena);
	etag = call_find_header(&part, "ETag");
	if (etag.size > 0)
		buffer_append_member(&text, ",\"etag\":", etag);
	buffer_append_byte(&text, '}');
	call_part(call, buffer_slice(&text));
	return call->answer.size <= CALL_ANSWER_MOST ||
	       fault_explain(fault, FAULT_TOO_LARGE, "Too much for one request",
			     "the response would be larger than %zu MB", CALL_ANSWER_MOST >> 20);
}

/* Appends the parts of the answer from the index *next up to `end`. */
static void append_parts(struct buffer *text, const struct answer *answer, size_t *next, size_t end)
{
	for (; *next < end; ++*next)
		buffer_append(text, answer->parts[*next]);
}

bool bulk_run(struct call *call, struct fault *fault)
{
	struct bulk *bulk = call->bulk;
	struct buffer text = BUFFER_INITIAL(call->arena);
	size_t next = 0;

	bulk->memo.count = 0;
	/* Announces what the operations will read first: a remote store then needs only one round
	 * trip. */
	if (store_wants_expected(call->transaction)) {
		struct store_expected *items = arena_alloc(call->arena,
							   bulk->count * sizeof *items);
		size_t n = 0;

		for (size_t i = 0; i < bulk->count; i++) {
			struct call *part = &bulk->operations[i].call;

			n += reads_of_bulk(part, part->route->reads, &items[n]);
		}
		store_expect(call->transaction, STORE_EACH, items, n);
	}
	if (!store_fix_time(call->transaction, call->least_now, &call->now, fault))
		return false;
	call->run.operations = bulk->count;
	call_answer(call, SLICE("{\"results\":["));
	for (size_t i = 0; i < bulk->count; i++) {
		if (!store_give_way(call->transaction, fault) ||
		    !run_operation(call, bulk, i, fault))
			return false;
	}
	call_part(call, SLICE("]}"));
	if (call->idempotency_key.data == NULL)
		return true;

	/* What a body shows only once is left out of the stored response. */
	for (size_t i = 0; i < bulk->count; i++) {
		const struct operation *operation = &bulk->operations[i];

		if (operation->kept.data == NULL)
			continue;
		append_parts(&text, &call->answer, &next, operation->body);
		buffer_append(&text, operation->kept);
		next++;
	}
	if (next == 0)
		return true;
	append_parts(&text, &call->answer, &next, call->answer.part_count);
	call_keep_instead(call, buffer_slice(&text));
	return true;
}
