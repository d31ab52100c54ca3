/* Keeps the records of people who wait at doors (resources/door/door.h): writes when their tickets
 * were last asked for or exchanged, many at a time, and removes tickets that have lapsed.
 *
 * Each process does so for the rooms that it was asked about, and finds the others one account
 * after the other. All functions are called by one thread (background/keeper.c).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BACKGROUND_DOOR_WATCH_H
#define BACKGROUND_DOOR_WATCH_H

#include "resources/environment.h"

struct door_watch;

struct door_watch *door_watch_open(const struct environment *environment);
void door_watch_close(struct door_watch *watch);
/* Does what is due. */
void door_watch_round(struct door_watch *watch);

#endif
