#!/bin/sh
# The manual pages: the formatters do not complain, the pages describe every option of the program and no
# other, and no command twice; the page of the service has the events of its log, and no others; every metric
# that the pages name exists, and their examples run as printed and print what the page says.
#
# A display (.Bd) after the comment `run` is run, together with all others of its page in one shell. With a
# word after `run`, it is run only if that command exists; the command reach-service exists if the program
# can reach a service. A display after the comment `prints` is the output of the displays since the previous
# one; "..." in it is any text.
set -u
test=tests/scripts/manual.sh
. "${SOURCE_DIR:-$(dirname "$0")/../..}/tests/tools/servers.sh"

# ---- the events of the log ----

# Prints the events that the sources log: the literals wherever an event is given. A function that gets the
# event from its caller has to be known here.
logged_events()
{
	grep -rnE 'log_event\([A-Z_]+, [^"]' src --include='*.c' |
		grep -vE '^src/(background/(damage_log|media_client)|delivery/sender|store/gdbm/background)\.c:' |
		sed 's/$/: unknown to manual.sh/'
	find src -name '*.c' -exec cat {} + | tr '\n\t' '  ' | tr -s ' ' | grep -oE \
		'(log_event\(LOG_LEVEL_[A-Z]+, |(damage_log_add|log_stuck|_pass_over)\([^,;]*, |event = |define NOT_[A-Z]+ )"[a-z_]+"' |
		sed 's/.*"\(.*\)"/\1/' | LC_ALL=C sort -u
}

# Checks that the page of the service, or that of the recorder, has each of them, and no other.
check_events()
{
	logged=$(cd "$source" && logged_events)
	described=$(sed -n 's/^\.It Li \([a-z_]*\) Pq [a-z, ]*$/\1/p' \
		"$source/packaging/man/anteroom-serve.8" "$source/packaging/man/anteroom-record.8" | LC_ALL=C sort)
	[ "$logged" = "$described" ] || {
		say "$test: anteroom-serve.8, Log messages, and anteroom-record.8, LOG: events that it lacks, that it has twice, or that do not exist:"
		printf '%s\n' "$logged" "$described" | sort | awk '{ n[$0]++ } END { for (i in n) if (n[i] != 2) print i }'
		exit 1
	}
}

# ---- what is to be looked at ----

# Prints a line for each part of this test, as stamp.sh wants it: the form of each page, and everything else
# (`use`).
parts()
{
	script=$(checksum <"$source/$test")
	forms=$(for tool in mandoc man groff; do command -v "$tool"; done | xargs -r cat | checksum)
	for page in "$source"/packaging/man/*.[178]; do
		say "$(say "$script $forms $(checksum <"$page")" | checksum) $(basename "$page")"
	done
	say "$({
		say "$script" && cat "$program" "$source/tests/tools/servers.sh"
		find "$source/nginx" "$source/packaging" "$source/web" -type f ! -path '*/node_modules/*' | LC_ALL=C sort |
			xargs cat
		for tool in nginx spawn-fcgi jq openssl curl; do
			command -v "$tool" && cat "$(command -v "$tool")"
		done
	} | checksum) use"
}

# The user nobody neither sees the sources nor can write the stamp.
if [ -z "${MANUAL_PARTS-}" ]; then
	stamp=manual
	. "$source/tests/tools/stamp.sh"
	check_events
	all=$(parts)
	MANUAL_PARTS=$(say "$all" | not_passed | cut -d ' ' -f 2)
	[ -n "$MANUAL_PARTS" ] || { say 'nothing has changed since it passed' && exit; }
	export MANUAL_PARTS
	sh "$source/$test" &
	trap 'kill $!; exit 1' INT TERM HUP
	wait $!
	status=$?
	[ $status != 0 ] || say "$all" | note_passed
	exit $status
fi

is_to_be_checked()
{
	say "$MANUAL_PARTS" | grep -qxF "$1"
}

become_ordinary
make_scratch
pages=$source/packaging/man
left_out=

# ---- form ----

# The formatters print a bold letter as the letter, a backspace and the letter again.
backspace=$(printf '\b')
plain()
{
	LC_ALL=C.UTF-8 sed "s/.$backspace//g" | expand
}

# Checks that every section the page refers to exists; in a browser the references are links.
check_links()
{
	mandoc -Thtml "$page" >"$name.html"
	grep -oE '(href="#|id=")[^"]*"' "$name.html" | awk -F '"' '
		/^id=/ { has[$2] = 1; next }
		{ links[substr($2, 2)] = 1 }
		END { for (link in links) if (!(link in has)) print link }' >"$name.links"
	[ ! -s "$name.links" ] || fail "$name has no section $(cat "$name.links")"
}

# Checks that the page describes no command twice.
check_once()
{
	twice=$(grep '^\.It Cm ' "$1" | sort | uniq -d)
	[ -z "$twice" ] || fail "$(basename "$1") describes twice: $twice"
}

# Formats the page as people read it, into NAME.text, and checks its form if it may be wrong.
format()
{
	page=$1
	name=$(basename "$page")
	! have mandoc || mandoc -Tascii "$page" | plain >"$name.text"
	is_to_be_checked "$name" || [ ! -s "$name.text" ] || return 0
	if have mandoc; then
		# Whether other pages are installed does not matter.
		mandoc -Tlint -W style "$page" 2>&1 | grep -vE 'lacks .* entry|manual not found' >"$name.lint"
		[ ! -s "$name.lint" ] || fail "mandoc: $(cat "$name.lint")"
		check_links
	fi
	if have groff && have man; then
		LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -l "$page" 2>"$name.warnings" |
			plain >"$name.groff"
		# groff 1.23 warns about lines of one long name, which have no space to stretch.
		grep -v ': cannot adjust line$' "$name.warnings" >"$name.lint"
		[ ! -s "$name.lint" ] || fail "man: $(cat "$name.lint")"
		[ -s "$name.text" ] || cp "$name.groff" "$name.text"
	fi
	[ -s "$name.text" ] || { say 'needs mandoc, or groff and man' && exit 77; }
}

# ---- the examples ----

# Extracts from a page NAME.script, which runs its examples and writes the output of each to NAME.N, and
# NAME.N.expected.
extract()
{
	name=$(basename "$1")
	awk -v name="$name" -v q="'" '
	function plain(line)
	{
		sub(/^\\&/, "", line)
		gsub(/\\\(aq/, q, line)
		gsub(/\\\(ti/, "~", line)
		gsub(/\\\(ha/, "^", line)
		gsub(/\\\(ga/, "`", line)
		gsub(/\\-/, "-", line)
		gsub(/\\e/, "\\", line)
		return line
	}
	/^\.\\" run/    { kind = "run"; needs = $3 }
	/^\.\\" prints/ { kind = "prints" }
	/^\.Bd/ && kind == "run" {
		if (needs != "")
			print "if command -v " needs " >/dev/null; then" >(name ".script")
		print "{" >(name ".script")
	}
	/^\.Ed/ && kind == "run" {
		print "} >>" name "." n + 0 >(name ".script")
		if (needs != "")
			print "fi" >(name ".script")
	}
	/^\.Ed/ && kind == "prints" { n++ }
	/^\.Ed/ { kind = ""; inside = 0 }
	inside {
		print plain($0) >(name (kind == "run" ? ".script" : "." n + 0 ".expected"))
		print plain($0) >(name ".literal")
	}
	/^\.Bd/ { inside = kind != "" }
	' "$1"
}

# Checks that the formatter prints each line of an example as it is run.
check_printed()
{
	awk '
		{ sub(/^[[:space:]]+/, ""); gsub(/\t/, " ") }
		FNR == NR { printed[$0] = 1; next }
		{ sub(/ +$/, "") }
		!($0 in printed)' "$1.text" "$1.literal" >"$1.missing"
	[ ! -s "$1.missing" ] || fail "$1: not printed as it is run: $(cat "$1.missing")"
}

# matches TEXT EXPECTED: compares line by line; spaces count as one, "..." is any text.
matches()
{
	awk '
	function pattern(line)
	{
		gsub(/[[:space:]]+/, " ", line)
		gsub(/[][\\.^$*+?(){}|\/]/, "\\\\&", line)
		gsub(/\\\.\\\.\\\./, ".*", line)
		return "^" line "$"
	}
	FNR == NR { wanted[++n] = pattern($0); next }
	{ gsub(/[[:space:]]+/, " "); if ($0 !~ wanted[++i]) bad = 1 }
	END { exit bad || i != n }
	' "$2" "$1"
}

# Creates a new HOME for examples, with a service that uses its directory anteroom.
serve_at_home()
{
	new_home
	"$program" store create home/anteroom 2>store.log || fail "store create: $(cat store.log)"
	"$program" serve --data home/anteroom --listen home/anteroom.sock 2>serve.log &
	echo $! >serve.pid
	note "$scratch/serve.pid" TERM
	tries=0
	until [ -S home/anteroom.sock ] && "$program" stat home/anteroom >/dev/null 2>&1; do
		tries=$((tries + 1))
		[ $tries -lt 3000 ] || fail 'serve does not start'
		sleep 0.1
	done
}

new_home()
{
	end_all
	rm -rf home && mkdir home || exit 1
}

# Runs the examples of a page, with the program under its own name.
run_examples()
{
	name=$(basename "$1")
	extract "$1"
	[ -s "$name.script" ] || return 0
	check_printed "$name"
	mkdir "bin.$name" && ln -s "$program" "bin.$name/anteroom" || exit 1
	[ -z "${base-}" ] || ln -s "$(command -v true)" "bin.$name/reach-service" || exit 1
	(
		HOME=$scratch/home
		PATH=$scratch/bin.$name:$PATH
		BASE=${base-}
		TOKEN=${token-}
		ANTEROOM_URL=${base-}
		export HOME PATH BASE TOKEN ANTEROOM_URL
		unset ANTEROOM_TOKEN XDG_CONFIG_HOME
		exec timeout 1200 sh -eu "$name.script" 2>"$name.log"
	) || fail "$name: an example failed"
	end TERM home/anteroom.pid
	for expected in "$name".*.expected; do
		[ -e "$expected" ] || continue
		matches "${expected%.expected}" "$expected" || fail "$name says

$(cat "$expected")

but it is

$(cat "${expected%.expected}")"
	done
}

# ---- the help of the program ----

# Prints the options that a page describes or shows, at the beginning of a line.
described_options()
{
	sed -nE 's/\\-/-/g; s/^\.(It |Op )?Fl -([^ ]*)( .*)?$/\2/p' "$1"
}

# Checks that a page has each long option in the help of a command, and collects the options in
# options.all.
check_options()
{
	page=$1
	shift
	"$program" "$@" --help | sed -n 's/^ *--\([a-z-]*\).*/\1/p' >options.help
	cat options.help >>options.all
	missing=$(described_options "$page" | awk '
		FNR == NR { described[$1] = 1; next }
		$1 != "help" && $1 != "version" && !($1 in described) { print "--" $1 }' - options.help)
	# shellcheck disable=SC2086
	[ -z "$missing" ] || fail "$(basename "$page") does not have $*" $missing
}

# Checks that the page has no other option.
check_no_other_option()
{
	unknown=$(sed 's/\\-/-/g' "$1" | grep -oE 'Fl -[a-z-]+' | awk '
		FNR == NR { known["-" $1] = 1; next }
		!($2 in known) { print "-" $2 }' options.all -)
	# shellcheck disable=SC2086
	[ -z "$unknown" ] || fail "$(basename "$1"): unknown option" $unknown
}

check_commands()
{
	: >options.all
	"$program" --help | sed -n 's/^  anteroom \([a-z-]*\( [a-z][a-z]*\)\{0,2\}\) .*/\1/p' \
		>commands.help
	while read -r command; do
		sed 's/\\-/-/g' "$pages/anteroom.1" | grep -q "^\.Cm $command\( \|\$\)" ||
			fail "anteroom.1 does not have $command"
		# shellcheck disable=SC2086
		case $command in serve | record) ;; *) check_options "$pages/anteroom.1" $command ;; esac
	done <commands.help
	check_no_other_option "$pages/anteroom.1"
	: >options.all
	check_options "$pages/anteroom-serve.8" serve
	check_no_other_option "$pages/anteroom-serve.8"
	: >options.all
	check_options "$pages/anteroom-record.8" record
	check_no_other_option "$pages/anteroom-record.8"
}

# Prints the members of roles, settings and destinations, a line each.
members()
{
	"$program" openapi | jq -r '
		. as $doc |
		def followed:
			if has("$ref") then .["$ref"] as $to | $doc | getpath($to | split("/")[1:]) | followed
			elif has("anyOf") then first(.anyOf[] | select(.type != "null")) | followed
			else . end;
		def members($path):
			followed |
			if .properties then .properties | to_entries[] | .key as $key | .value | members($path + [$key])
			elif .items then .items | if followed.properties then members($path) else $path end
			elif (.additionalProperties | type) == "object" then .additionalProperties | members($path)
			else $path end;
		.components.schemas |
		(.Role | members([])), (.Settings | members(["settings"])), (.Destinations | members(["destinations"])) |
		join(".")' | LC_ALL=C sort -u
}

# Prints what the manual says that each of them does: the name, a tab, and the text.
manual_effects()
{
	awk '
	function tell() { for (i = 1; i <= n; i++) print names[i] "\t" text }
	/^\.Sh/ { if (inside) tell(); inside = /WHAT A TEMPLATE DOES/; n = 0; next }
	!inside { next }
	/^\.It Li / { tell(); n = split(substr($0, 8), names, / , /); text = ""; next }
	/^\.El/ { tell(); n = 0 }
	/^\.Pp/ { next }
	{ gsub(/\\-/, "-"); text = text (text == "" ? "" : " ") $0 }
	' "$pages/anteroom-api.7" | LC_ALL=C sort
}

# Prints the same of the console.
console_effects()
{
	sed -n 's/^\t"\([a-z]*\/[^"]*\)": \["\(.*\)"\],$/\1\t\2/p' "$source/web/console/effects.js" |
		awk -F '\t' '{
			sub(/^role\//, "", $1)
			gsub(/\/\*/, "", $1)
			gsub(/\//, ".", $1)
			if (sub(/", "/, " Others: ", $2)) $2 = "LiveKit: " $2
			print $1 "\t" $2
		}' | LC_ALL=C sort
}

# Checks that both say it of each member, or of what it is part of, and of nothing else.
check_effects()
{
	manual_effects >effects.manual
	console_effects >effects.console
	diff effects.manual effects.console >effects.diff ||
		fail "anteroom-api.7 and web/console/effects.js differ: $(cat effects.diff)"
	members >members.all
	[ "$(wc -l <members.all)" -gt 60 ] || fail 'the document has too few members'
	wrong=$(awk -F '\t' '
		FNR == NR { does[$1] = 1; next }
		{
			found = 0
			for (part = $1; part != ""; part = sub(/\.[^.]*$/, "", part) ? part : "") {
				if (part in does) { found = 1; used[part] = 1 }
			}
			if (!found) print $1 " has no row;"
		}
		END { for (name in does) if (!(name in used)) print name " does not exist;" }
		' effects.manual members.all)
	# shellcheck disable=SC2086
	[ -z "$wrong" ] || fail "anteroom-api.7, WHAT A TEMPLATE DOES:" $wrong
}

check_metrics()
{
	curl -sS -o metrics "$base/metrics" || fail 'no metrics'
	# Not the variables of the site for nginx.
	unknown=$(sed 's/[$]anteroom_[a-z_]*//g' "$pages/anteroom-serve.8" | grep -oE 'anteroom_[a-z_]+' | awk '
		FNR == NR { if ($1 == "#" && $2 == "TYPE") exists[$3] = 1; next }
		!($1 in exists)' metrics -)
	# shellcheck disable=SC2086
	[ -z "$unknown" ] || fail "these metrics do not exist:" $unknown
}

for page in "$pages"/*.[178]; do
	format "$page"
	check_once "$page"
done
is_to_be_checked use || exit 0
check_commands
if have jq; then
	check_effects
else
	left_out="$left_out what members do (needs jq)"
fi
serve_at_home
if have nginx && ! "$program" room list --url none 2>&1 | grep -q 'without libcurl'; then
	start_nginx home/anteroom
else
	left_out="$left_out anteroom.1, rooms and codes (needs nginx, and a build with libcurl)"
fi
run_examples "$pages/anteroom.1"
new_home
if have spawn-fcgi; then
	run_examples "$pages/anteroom-serve.8"
else
	left_out="$left_out spawn-fcgi"
fi
if have nginx && have spawn-fcgi && have jq; then
	new_home
	start_responder nginx
	start_nginx nginx
	check_metrics
	run_examples "$pages/anteroom-api.7"
	if have openssl; then
		# Each page has a separate account, because each has a default backend.
		for page in "$pages"/anteroom-[!as]*.7; do
			account=$(basename "$page" .7)
			"$program" account add "$account" --data "$scratch/nginx" >/dev/null 2>&1 &&
				token=$("$program" token "$account" --data "$scratch/nginx") || fail "$account"
			run_examples "$page"
		done
	else
		left_out="$left_out media servers (needs openssl)"
	fi
else
	left_out="$left_out anteroom-api.7 (needs nginx, spawn-fcgi and jq)"
fi
[ -z "$left_out" ] || { say "left out:$left_out" && exit 77; }
