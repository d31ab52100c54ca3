#!/bin/sh
# What Apache's mod_fcgid starts, with the listening socket on descriptor 0. See README beside it.
#
# SPDX-License-Identifier: GPL-3.0-or-later

# Not every host passes HOME on.
home=${HOME:-$(eval "echo ~$(id -un)")}
# mod_fcgid starts the next process before the one that it replaces has ended.
exec "$home/bin/anteroom" serve --wait --data "$home/anteroom"
