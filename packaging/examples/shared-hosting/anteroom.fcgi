#!/bin/sh
# The program that Apache's mod_fcgid starts, with the listening socket as descriptor 0. See README.
#
# SPDX-License-Identifier: GPL-3.0-or-later

# Not every host passes HOME to the program.
home=${HOME:-$(eval "echo ~$(id -un)")}
# mod_fcgid starts a new process before the old one has exited.
exec "$home/bin/anteroom" serve --wait --data "$home/anteroom"
