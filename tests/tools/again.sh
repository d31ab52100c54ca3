# Builds a program of the tests again, with some sources compiled otherwise than in the build, from which
# everything else comes. A script sources this file after it has set $build, the build directory, and $scratch,
# in which the results are.
#
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2016

# Prints text in which variables of the Makefile are replaced, also below another make.
of_makefile()
{
	MAKEFLAGS='' make -s --no-print-directory -C "${build:?}" print-list LIST=WANTED WANTED="$1"
}

# again_begin TREE FLAG...: the sources and headers of TREE, compiled with these flags after those of the build.
again_begin()
{
	tree=$1
	shift
	again_compile=$(of_makefile "\$(CC) -I$tree/include -I$tree/src -I$tree/tests/tools \$(DEFS) \\
		\$(DEFAULT_INCLUDES) \$(AM_CPPFLAGS) \$(CPPFLAGS) \$(AM_CFLAGS) \$(CFLAGS) $*") &&
		again_link=$(of_makefile '$(CCLD) $(AM_CFLAGS) $(CFLAGS) $(AM_LDFLAGS) $(LDFLAGS)') &&
		again_libraries=$(of_makefile '$(LDADD)')
}

# again PROGRAM FILE...: builds $scratch/PROGRAM with these files of the tree. Objects are kept for the next.
again()
{
	again_objects=
	again_program=$1
	shift
	for again_file; do
		again_object=${scratch:?}/$(echo "$again_file" | tr / -).o
		[ -e "$again_object" ] ||
			(cd "$build" && eval "$again_compile -c \"$tree/$again_file\" -o \"$again_object\"") || return 1
		again_objects="$again_objects $again_object"
	done
	(cd "$build" && eval "$again_link -o \"$scratch/$again_program\" $again_objects $again_libraries")
}
