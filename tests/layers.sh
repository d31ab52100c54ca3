#!/bin/sh
# Which layer may include which: every arrow points down. Also which file may know a library, and
# that every source is in Makefile.am. Prints each breach as file:line.
set -u
cd "${SOURCE_DIR:-$(dirname "$0")/..}" || exit 1

# layer: the layers whose headers its files may include
layers='
base       base
schema     base schema
store      base store
rules      base schema rules
call       base schema store call
resources  base schema store rules call resources
service    base schema store rules call resources service
edge       base store call resources service edge
main       base edge
'

# third-party header: the one file that may include it
libraries='
fcgiapp\.h      src/edge/fastcgi\.c
fcgi_.*\.h      no-file
pcre2\.h        src/base/pattern\.c
gdbm\.h         src/store/gdbm_library\.c
openssl/.*\.h   src/call/token\.c
'

breaches=$(
	# file:line:"layer/module.h"
	find src include -name '*.[ch]' \
		-exec grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' /dev/null {} + |
	awk -v layers="$layers" '
	BEGIN {
		n = split(layers, rows, "\n")
		for (i = 1; i <= n; i++) {
			count = split(rows[i], words, " ")
			for (j = 2; j <= count; j++)
				allowed[words[1], words[j]] = 1
			if (count)
				known[words[1]] = 1
		}
	}
	{
		split($0, quoted, "\"")
		split($0, parts, ":")
		split(parts[1], path, "/")
		from = parts[1] == "src/main.c" ? "main" : path[2]
		split(quoted[2], target, "/")
		if (!(from in known))
			print parts[1] ": " from " is no layer"
		else if (!((from, target[1]) in allowed))
			print parts[1] ":" parts[2] ": " from " must not include " quoted[2]
	}'

	echo "$libraries" | while read -r header owner; do
		test -n "$header" || continue
		grep -rnE "^[[:space:]]*#[[:space:]]*include[[:space:]]*<$header>" src include |
			grep -vE "^$owner:" | sed 's/$/ belongs elsewhere/'
	done

	find src include tests -name '*.[ch]' \
		-exec grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<].*\.c[">]' /dev/null {} + |
		sed 's/$/ includes a source/'

	# A test program is listed by its own name.
	find src include tests -name '*.[ch]' | while read -r file; do
		grep -qE "(^|[[:space:]])${file%.*}(\.${file##*.})?([[:space:]]|\$)" Makefile.am ||
			echo "$file: not in Makefile.am"
	done
)

test -z "$breaches" || {
	echo "$breaches"
	exit 1
}
