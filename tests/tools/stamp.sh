# What a test has found right in this build, so that it need not look at it again. A stamp is a file in the
# build directory with a line for each part that has passed: the checksum of everything that the part depends
# on, and its name. A script sources this file after it has set $stamp to its name. If ANTEROOM, which says
# where the build is, is not set, nothing is remembered.
#
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh

stamp=${ANTEROOM:+$(dirname "$ANTEROOM")/tests/${stamp:?}.stamp}

# Prints the checksum of standard input.
checksum()
{
	sha256sum | cut -d ' ' -f 1
}

# Prints those lines of standard input that are not in the stamp.
not_passed()
{
	if [ -n "$stamp" ] && [ -f "$stamp" ]; then
		awk 'FNR == NR { passed[$0] = 1; next } !($0 in passed)' "$stamp" -
	else
		cat
	fi
}

# Replaces the stamp by standard input. It is no failure if the build directory cannot be written.
note_passed()
{
	[ -n "$stamp" ] && [ -w "$(dirname "$stamp")" ] || return 0
	cat >"$stamp.$$" && mv "$stamp.$$" "$stamp"
}
