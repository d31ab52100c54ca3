/* See command/upgrade.h; and anteroom store upgrade.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/upgrade.h"

#include <stdlib.h>

#include "command/command.h"
#include "command/data_directory.h"
#include "command/options.h"
#include "command/progress.h"
#include "store/gdbm/upgrade.h"
#include "store/postgres/store_postgres.h"

bool upgrade_recover(const char *path, const struct store_form *form, bool *is_unfinished,
		     struct fault *fault)
{
	char *store = data_directory_store(path);
	const struct store_options options = { .directory = store, .form = form };
	bool is_done = true;

	*is_unfinished = false;
	if (!store_postgres_is_url(path))
		is_done = store_gdbm_upgrade_recover(&options, is_unfinished, fault);
	free(store);
	return is_done;
}

static bool check_form(const struct upgrade_order *order, unsigned *number, struct fault *fault)
{
	char *store = data_directory_store(order->path);
	const bool is_right = store_postgres_is_url(order->path)
				      ? store_postgres_check_form(order->path, order->form, number,
								  fault)
				      : store_gdbm_check_form(store, order->form, number, fault);

	free(store);
	return is_right;
}

/* Converts the records of the open store, if they are not too many. */
static bool convert(const struct upgrade_order *order, struct store *store, unsigned number,
		    struct upgrade_outcome *outcome, struct fault *fault)
{
	if (!store_upgrade_count(store, order->upgrades, number, &outcome->records, fault))
		return false;
	if (order->most != 0 && outcome->records > order->most)
		return fault_cause(
			fault, FAULT_UNAVAILABLE, 0,
			"the data was written by an earlier version of Anteroom, and "
			"converting its %llu records takes longer than a minute; stop the "
			"service and run: anteroom store upgrade",
			(unsigned long long)outcome->records);
	if (store_upgrade_records(store, order->upgrades, number, order->watch, fault))
		return true;
	/* Nobody else uses the store, so only a lost connection can ask for this. */
	if (fault->kind != FAULT_AGAIN && fault->kind != FAULT_BUSY)
		return false;
	*fault = FAULT_INITIAL;
	return fault_cause(fault, FAULT_UNAVAILABLE, 0,
			   "the connection to the database was lost; nothing was changed");
}

static bool upgrade_directory(const struct upgrade_order *order, struct upgrade_outcome *outcome,
			      struct fault *fault)
{
	char *directory = data_directory_store(order->path);
	const struct store_options options = {
		.directory = directory,
		.wait = order->wait,
		.gives_up = order->gives_up,
		.form = order->form,
	};
	struct store_gdbm_upgrade *upgrade;
	struct store *store;
	unsigned number;
	bool is_done;

	is_done = store_gdbm_upgrade_begin(&options, &upgrade, &store, &number, fault);
	if (is_done && store != NULL) {
		is_done = convert(order, store, number, outcome, fault) &&
			  store_gdbm_upgrade_finish(upgrade, fault);
		outcome->was_done = is_done;
	}
	store_gdbm_upgrade_end(upgrade);
	free(directory);
	return is_done;
}

static bool upgrade_database(const struct upgrade_order *order, struct upgrade_outcome *outcome,
			     struct fault *fault)
{
	struct store *store;
	unsigned number;
	bool is_done = store_postgres_upgrade_begin(order->path, order->form, &store, &number,
						    fault);

	if (is_done && store != NULL) {
		is_done = convert(order, store, number, outcome, fault) &&
			  store_postgres_upgrade_finish(store, order->form, fault);
		outcome->was_done = is_done;
	}
	store_close(store);
	return is_done;
}

bool upgrade_data(const struct upgrade_order *order, struct upgrade_outcome *outcome,
		  struct fault *fault)
{
	bool is_unfinished;
	unsigned number;

	*outcome = (struct upgrade_outcome){ .was_done = false };
	if (!upgrade_recover(order->path, order->form, &is_unfinished, fault) ||
	    !check_form(order, &number, fault))
		return false;
	if (number == order->form->number() && !is_unfinished)
		return true;
	return store_postgres_is_url(order->path) ? upgrade_database(order, outcome, fault)
						  : upgrade_directory(order, outcome, fault);
}

/* ---- the command ---- */

struct watch {
	struct store_upgrade_watch watch;
	struct progress progress;
};

static void show_progress(struct store_upgrade_watch *watch, uint64_t done, uint64_t all)
{
	progress_show(&((struct watch *)watch)->progress, done, all);
}

/* Prepares like a command that writes into the data. */
static bool begin_upgrade(const char *path, struct fault *fault)
{
	struct identity owner;
	bool ignored;

	return data_directory_check(path, true, &owner, fault) &&
	       data_directory_become(&owner, fault) &&
	       upgrade_recover(path, &record_form, &ignored, fault) &&
	       data_directory_has_store(path, fault);
}

int command_store_upgrade(const struct command *command, int argc, char **argv)
{
	struct watch watch = { .watch.progress = show_progress };
	struct upgrade_order order = {
		.upgrades = &record_upgrades,
		.form = &record_form,
		.watch = &watch.watch,
	};
	const struct option_row rows[] = { DATA_ROW(&order.path) };
	int status = OPTIONS_PARSE(command, rows, argc, argv, NULL);
	struct store_postgres_version version = { .is_renewed = false };
	struct upgrade_outcome outcome;
	struct fault fault = FAULT_INITIAL;
	bool is_done;

	if (status != OPTIONS_GO)
		return status;
	progress_begin(&watch.progress, command, "records converted");
	is_done = begin_upgrade(order.path, &fault) && upgrade_data(&order, &outcome, &fault);
	progress_end(&watch.progress);
	/* What only has more than before is not converted. */
	if (is_done && !outcome.was_done && store_postgres_is_url(order.path))
		is_done = store_postgres_renew(order.path, &record_form, &version, &fault);
	if (!is_done)
		return command_failed(command, &fault);
	if (outcome.was_done && !store_postgres_is_url(order.path))
		command_remark(
			command,
			"upgraded the store; %llu records were converted, and the earlier store "
			"is kept in %s/store.former until the next upgrade",
			(unsigned long long)outcome.records, order.path);
	else if (outcome.was_done)
		command_remark(command, "upgraded the store; %llu records were converted",
			       (unsigned long long)outcome.records);
	else if (version.is_renewed)
		command_remark(command, "the store now has the form of this version");
	else
		command_remark(command,
			       "the store already has the form of this version; nothing was "
			       "changed");
	return EXIT_SUCCESS;
}
