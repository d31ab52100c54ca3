/* Pinning and replacing views. Pinning needs no lock: a reader first writes the view's address into
 * its slot and then checks that the view is current; a replacement first changes the current view
 * and then reads the slots. All four operations are sequentially consistent, so at least one of the
 * two threads sees the other.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gdbm/view.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/memory.h"

#define CACHE_LINE 64

struct view_slot {
	alignas(CACHE_LINE) _Atomic(struct view *) view;
};

struct views {
	_Atomic(struct view *) current;
	struct view_slot *slots;
	size_t n_slots;
	pthread_mutex_t lock; /* protects replacements and the members below */
	struct view *replaced;
};

static struct view *view_make(size_t n_overlays, size_t n_files)
{
	struct view *view = memory_check(calloc(1, sizeof *view));

	view->overlays = memory_check(calloc(n_overlays, sizeof *view->overlays));
	view->n_overlays = n_overlays;
	view->files = memory_check(calloc(n_files + 1, sizeof *view->files));
	view->n_files = n_files;
	return view;
}

static void view_free(struct view *view)
{
	for (size_t i = 0; i < view->n_overlays; i++)
		overlay_release(view->overlays[i]);
	for (size_t i = 0; i < view->n_files; i++)
		stack_file_release(view->files[i]);
	free(view->overlays);
	free(view->files);
	free(view);
}

struct views *views_open(unsigned readers, struct overlay *overlay, struct stack_file **files,
			 size_t n_files)
{
	struct views *views = memory_check(calloc(1, sizeof *views));
	struct view *view = view_make(1, n_files);

	view->overlays[0] = overlay;
	for (size_t i = 0; i < n_files; i++)
		view->files[i] = files[i];
	atomic_init(&views->current, view);
	/* Two more than readers: for the writer and the background threads. */
	views->n_slots = readers + 2;
	views->slots =
		memory_check(aligned_alloc(CACHE_LINE, views->n_slots * sizeof *views->slots));
	for (size_t i = 0; i < views->n_slots; i++)
		atomic_init(&views->slots[i].view, NULL);
	pthread_mutex_init(&views->lock, NULL);
	return views;
}

void views_close(struct views *views)
{
	if (views == NULL)
		return;
	views_collect(views);
	assert(views->replaced == NULL);
	view_free(atomic_load(&views->current));
	pthread_mutex_destroy(&views->lock);
	free(views->slots);
	free(views);
}

static struct view_slot *slot_take(struct views *views, struct view *view)
{
	int processor = sched_getcpu();
	size_t at = processor < 0 ? 0 : (size_t)processor;

	for (size_t i = 0; i < views->n_slots; i++) {
		struct view_slot *slot = &views->slots[(at + i) % views->n_slots];
		struct view *free_slot = NULL;

		if (atomic_load_explicit(&slot->view, memory_order_relaxed) == NULL &&
		    atomic_compare_exchange_strong(&slot->view, &free_slot, view))
			return slot;
	}
	return NULL;
}

void views_pin(struct views *views, struct pin *pin)
{
	pin->view = atomic_load(&views->current);
	pin->slot = slot_take(views, pin->view);
	if (pin->slot == NULL) {
		pthread_mutex_lock(&views->lock);
		pin->view = atomic_load(&views->current);
		pin->view->counted++;
		pthread_mutex_unlock(&views->lock);
		return;
	}
	for (;;) {
		struct view *current = atomic_load(&views->current);

		if (current == pin->view)
			return;
		pin->view = current;
		atomic_store(&pin->slot->view, current);
	}
}

bool views_is_current(const struct views *views, const struct pin *pin)
{
	return atomic_load(&views->current) == pin->view;
}

void views_unpin(struct views *views, struct pin *pin)
{
	if (pin->slot != NULL) {
		atomic_store_explicit(&pin->slot->view, NULL, memory_order_release);
		return;
	}
	pthread_mutex_lock(&views->lock);
	pin->view->counted--;
	pthread_mutex_unlock(&views->lock);
}

static bool view_is_read(const struct views *views, const struct view *view)
{
	if (view->counted > 0)
		return true;
	for (size_t i = 0; i < views->n_slots; i++)
		if (atomic_load(&views->slots[i].view) == view)
			return true;
	return false;
}

bool views_collect(struct views *views)
{
	struct view **link = &views->replaced, *unread = NULL;
	bool is_something_left;

	pthread_mutex_lock(&views->lock);
	while (*link != NULL) {
		struct view *view = *link;

		if (view_is_read(views, view)) {
			link = &view->next;
			continue;
		}
		*link = view->next;
		view->next = unread;
		unread = view;
	}
	is_something_left = views->replaced != NULL;
	pthread_mutex_unlock(&views->lock);
	/* Freed without the lock, because closing files takes time. */
	while (unread != NULL) {
		struct view *next = unread->next;

		view_free(unread);
		unread = next;
	}
	return is_something_left;
}

static void copy_overlays(struct overlay **to, struct overlay *const *from, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		to[i] = from[i];
		overlay_hold(to[i]);
	}
}

static void copy_files(struct stack_file **to, struct stack_file *const *from, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		to[i] = from[i];
		stack_file_hold(to[i]);
	}
}

/* Replaces the current view: `overlay` (or NULL) is added as the newest, the n_frozen oldest
 * overlays are left out, and `file` (or NULL) replaces n adjacent files, or is added as the newest
 * if n is 0. */
static void view_replace(struct views *views, struct overlay *overlay, size_t n_frozen,
			 struct stack_file *const *files, size_t n, struct stack_file *file)
{
	const size_t new_overlays = overlay != NULL, new_files = file != NULL;
	struct view *old, *view;
	size_t at = 0;

	pthread_mutex_lock(&views->lock);
	old = atomic_load(&views->current);
	while (n > 0 && old->files[at] != files[0])
		at++;
	assert(n_frozen < old->n_overlays + new_overlays && at + n <= old->n_files);
	assert(n == 0 || old->files[at + n - 1] == files[n - 1]);
	view = view_make(old->n_overlays + new_overlays - n_frozen, old->n_files + new_files - n);
	if (overlay != NULL)
		view->overlays[0] = overlay;
	copy_overlays(view->overlays + new_overlays, old->overlays, old->n_overlays - n_frozen);
	copy_files(view->files, old->files, at);
	if (file != NULL)
		view->files[at] = file;
	copy_files(view->files + at + new_files, old->files + at + n, old->n_files - at - n);
	atomic_store(&views->current, view);
	old->next = views->replaced;
	views->replaced = old;
	pthread_mutex_unlock(&views->lock);
}

/* Does not call views_collect, because others wait for the turn to write (turn.h); the background
 * threads call it. */
void views_add_overlay(struct views *views, struct overlay *overlay)
{
	view_replace(views, overlay, 0, NULL, 0, NULL);
}

void views_overlay_to_file(struct views *views, struct stack_file *file)
{
	view_replace(views, NULL, 1, NULL, 0, file);
	views_collect(views);
}

void views_merge_files(struct views *views, struct stack_file *const *files, size_t n,
		       struct stack_file *file)
{
	view_replace(views, NULL, 0, files, n, file);
	views_collect(views);
}
