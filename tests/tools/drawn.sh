# Draws rows of a test. A script that runs a program for each row of a long table sources this file; the usual run
# of the tests sets ONE_OF to 3 and SEED to a number of its own, and --all runs all rows.
#
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh

# Prints every line of standard input, or, if ONE_OF is set, one of so many, by SEED.
drawn()
{
	awk -v one_of="${ONE_OF:-1}" -v seed="${SEED:-0}" '(NR + seed) % one_of == 0'
}
