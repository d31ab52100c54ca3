#!/bin/sh
# Checks which module may include which (every arrow points down, except that a driver includes store/), and
# in resources/ which folder; that its sources do not include each other in a circle; which file may use which
# library, that every source is in Makefile.am, and that the files that texts name exist. Prints each
# violation as file:line.
set -u
cd "${SOURCE_DIR:-$(dirname "$0")/../..}" || exit 1

# module: the modules whose headers its files may include. A driver of the store is a separate module. For
# other modules, resources/ is one with all its folders.
modules='
base          base
schema        base schema
store         base store
store/gdbm    base store store/gdbm
store/postgres base store store/postgres
rules         base schema rules
accounts      base schema store store/postgres rules accounts
delivery      base delivery
recorder      base delivery recorder
media         base schema rules delivery media
records       base schema store records
resources     base schema store rules accounts delivery media records resources
transfer      base schema store rules accounts media records resources transfer
background    base schema store rules accounts delivery records resources background
service       base schema store rules accounts delivery records resources background service
edge          base store resources service edge
command       base store store/gdbm store/postgres rules accounts delivery recorder records resources transfer background service edge command
main          base delivery command
'

# folder of resources/: the folders, of those above it in this table, whose headers its files may include. All
# may include those of the first row, which are in resources/ itself.
floors='
resources
stored
events        stored
access        stored
retries
codes         stored
templates     stored codes
bans          stored codes
media         stored templates
entry_rules   stored codes templates media
rooms         stored codes templates media
live          stored events templates bans media entry_rules rooms codes
door          stored entry_rules live
recordings    stored codes templates media entry_rules rooms live door
joining       stored templates media entry_rules live door recordings
backends      stored media live
import        stored codes templates rooms
'

# third-party header: the only file that may include it
libraries='
fcgiapp\.h      src/edge/fastcgi\.c
fcgi_.*\.h      no-file
pcre2\.h        src/base/pattern\.c
gdbm\.h         src/store/gdbm/gdbm_library\.c
openssl/.*\.h   src/(base/digest|media/signing|delivery/stream_process)\.c
librtmp/.*\.h   src/delivery/stream_process\.c
libpq-fe\.h     src/store/postgres/connection\.h
curl/.*\.h      src/(command/http_client|delivery/sender_process)\.c
uni(case|ctype|norm)\.h src/base/text_name\.c
qrencode\.h     src/resources/codes/qr\.c
'

breaches=$(
	# file:line:"layer/module.h"
	find src include -name '*.[ch]' \
		-exec grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' /dev/null {} + |
	awk -v modules="$modules" -v floors="$floors" '
	function folder(name)
	{
		sub(/^resources\/?/, "", name)
		return name == "" ? "resources" : name
	}
	BEGIN {
		n = split(modules, rows, "\n")
		for (i = 1; i <= n; i++) {
			count = split(rows[i], words, " ")
			for (j = 2; j <= count; j++)
				allowed[words[1], words[j]] = 1
			if (count)
				known[words[1]] = 1
		}
		n = split(floors, rows, "\n")
		for (i = 1; i <= n; i++) {
			count = split(rows[i], words, " ")
			for (j = 2; j <= count; j++) {
				if (!(words[j] in floor))
					print "tests/scripts/layers.sh: the floor " words[j] " is not below " words[1]
				below[words[1], words[j]] = 1
			}
			if (count) {
				floor[words[1]] = 1
				below[words[1], words[1]] = below[words[1], "resources"] = 1
			}
		}
	}
	{
		split($0, quoted, "\"")
		split($0, parts, ":")
		from = parts[1]
		sub(/^[^\/]*\//, "", from)
		to = quoted[2]
		if (from == "main.c")
			from = "main"
		else
			sub(/\/[^\/]*$/, "", from)
		sub(/\/[^\/]*$/, "", to)
		from_floor = from ~ /^resources/ ? folder(from) : ""
		to_floor = to ~ /^resources/ ? folder(to) : ""
		sub(/^resources\/.*/, "resources", from)
		sub(/^resources\/.*/, "resources", to)
		if (!(from in known))
			print parts[1] ": " from " is no module"
		else if (!((from, to) in allowed))
			print parts[1] ":" parts[2] ": " from " must not include " quoted[2]
		else if (from_floor != "" && !(from_floor in floor))
			print parts[1] ": " from_floor " is no floor of resources/"
		else if (from_floor != "" && to_floor != "" && !((from_floor, to_floor) in below))
			print parts[1] ":" parts[2] ": " from_floor " must not include " quoted[2]
	}'

	# No circle of sources in resources/. A source and its header are one. What includes nothing that is left
	# is taken away, again and again, and then what nothing includes; circles are left.
	find src/resources include/resources -name '*.[ch]' \
		-exec grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"resources/' /dev/null {} + |
	awk '
	function unit(name)
	{
		sub(/\.[ch]$/, "", name)
		return name
	}
	{
		split($0, quoted, "\"")
		split($0, parts, ":")
		from = parts[1]
		sub(/^[^\/]*\//, "", from)
		if (unit(from) != unit(quoted[2]))
			arrows[unit(from), unit(quoted[2])] = parts[1] ":" parts[2] ": " quoted[2]
	}
	END {
		for (end = 2; end >= 1; end--) {
			do {
				split("", has)
				for (arrow in arrows) {
					split(arrow, ends, SUBSEP)
					has[ends[3 - end]] = 1
				}
				gone = 0
				for (arrow in arrows) {
					split(arrow, ends, SUBSEP)
					if (!(ends[end] in has)) {
						delete arrows[arrow]
						gone = 1
					}
				}
			} while (gone)
		}
		for (arrow in arrows)
			print arrows[arrow] " makes a circle of sources"
	}'

	echo "$libraries" | while read -r header owner; do
		test -n "$header" || continue
		grep -rnE "^[[:space:]]*#[[:space:]]*include[[:space:]]*<$header>" src include |
			grep -vE "^$owner:" | sed 's/$/ belongs elsewhere/'
	done

	# Our own aborts log the reason (ABORT of base/log.h).
	grep -rnE '(^|[^_[:alnum:]])abort\(\)' src include --include='*.[ch]' |
		grep -vE '^src/base/(log|clock)\.c:' | sed 's/$/: ABORT says why/'

	find src include tests -name '*.[ch]' \
		-exec grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<].*\.c[">]' /dev/null {} + |
		sed 's/$/ includes a source/'

	# include/ has the headers that other modules and tests use; src/ has those that only one module
	# uses.
	find src -name '*.h' | sed 's|^src/||' | while read -r header; do
		grep -rlE "^[[:space:]]*#[[:space:]]*include[[:space:]]*\"$header\"" src include |
			grep -vE "^(src|include)/${header%/*}/" |
			sed "s|\$|: $header is private to its module|"
	done

	# The files that both pages share do not import either page, and no text is interpreted as HTML
	# or code.
	grep -nE '(from|import\() ?"\.\./(console|join)/' web/lib/*.js | sed 's/$/: web\/lib imports a page/'
	grep -rnE 'innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\(|new Function|[( ]style:|style=' \
		web --include='*.js' --include='*.in' | sed 's/$/: banned/'
	grep -rnE '(https?:)?//[a-z0-9-]+\.[a-z]' web --include='*.js' --include='*.in' --include='*.css' \
		--include='*.svg' | grep -vF 'http://www.w3.org/' | sed 's/$/: an external address/'
	find web -type f ! -name '.*' ! -path 'web/web/*' ! -name '*.html' ! -name '*.gz' | while read -r file; do
		grep -qE "(^|[[:space:]])$file([[:space:]]|\$)" Makefile.am || echo "$file: not in Makefile.am"
	done

	# The files that texts for people who change the program name exist, by the ends of their paths. Words
	# in capitals stand for any name.
	find src include tests web nginx packaging m4 -type f ! -path '*/node_modules/*' | awk '
	function names(line,   word)
	{
		while (match(line, /[A-Za-z0-9_.\/-]*[A-Za-z0-9_-]+\.(c|h|sh|py|js|case)([^A-Za-z0-9_]|$)/)) {
			word = substr(line, RSTART, RLENGTH)
			line = substr(line, RSTART + RLENGTH)
			sub(/[^A-Za-z0-9_]$/, "", word)
			if (!(word in ends) && word !~ /(TYPE|NAME)\./)
				print FILENAME ":" FNR ": " word " does not exist"
		}
	}
	FILENAME == "-" {
		n = split($0, parts, "/")
		end = ""
		for (i = n; i > 0; i--)
			ends[end = parts[i] (end == "" ? "" : "/" end)] = 1
		next
	}
	{ names($0) }
	' - $(ls CONTRIBUTING README src/README tests/COVERAGE tests/cases/README 2>/dev/null)

	# A test program is listed by its name.
	find src include tests -name '*.[ch]' | while read -r file; do
		grep -qE "(^|[[:space:]])${file%.*}(\.${file##*.})?([[:space:]]|\$)" Makefile.am ||
			echo "$file: not in Makefile.am"
	done
)

test -z "$breaches" || {
	echo "$breaches"
	exit 1
}
