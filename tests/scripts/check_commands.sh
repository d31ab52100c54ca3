#!/bin/sh
# Command lines with their exit statuses and messages, as a table. ANTEROOM names the program (default:
# ./anteroom).
set -u
. "${SOURCE_DIR:-$(dirname "$0")/../..}/tests/tools/drawn.sh"
program=${ANTEROOM:-./anteroom}
case $program in /*) ;; *) program=$PWD/$program ;; esac
directory=$(mktemp -d "${TMPDIR:-/tmp}/anteroom-commands.XXXXXX") || exit 1
server=
trap 'test -z "$server" || kill "$server"; rm -rf "$directory"' EXIT
trap 'exit 1' HUP INT TERM
cd "$directory" || exit 1
unset ANTEROOM_DATA
: >file
mkdir data
failed=0

fail()
{
	echo "check_commands: $*: status $status"
	cat out err
	failed=1
}

# check STATUS WORDS ARGUMENT...: if the status is 0, stdout must contain the words (or be empty if there
# are no words); otherwise stderr must contain them, and stdout must be empty.
check()
{
	expected=$1
	words=$2
	shift 2
	"$program" "$@" >out 2>err </dev/null
	status=$?
	test "$status" -eq "$expected" || fail "$*"
	if test -z "$words"; then
		test ! -s out || fail "$*: something on stdout"
	elif test "$expected" -eq 0; then
		grep -qF -e "$words" out || fail "$*: not on stdout: $words"
	else
		grep -qF -e "$words" err || fail "$*: not on stderr: $words"
		test ! -s out || fail "$*: something on stdout"
	fi
}

# Prints the value after a word in the last output.
printed()
{
	sed -n "s/^$1: //p" out
}

# ---- the command ----
check 2 'which command?'
check 2 'unknown command "frobnicate"' frobnicate
check 2 'unknown command "account"' account
check 2 'unknown command "account remove"' account remove
check 2 'unknown command "help"' help help
check 2 'unknown command "frobnicate"' help frobnicate
check 2 'unknown command "account frobnicate"' help account frobnicate
check 0 'anteroom account add NAME' help
check 0 'anteroom account rotate' help account
check 0 'Usage: anteroom account rotate ACCOUNT' help account rotate
check 0 'Usage: anteroom restore BACKUP [DIR]' help restore
check 0 'anteroom account add NAME' -h
check 0 'anteroom ' -V
check 2 'unknown command "serv"' serv
check 0 'anteroom account add NAME' --help
check 0 'anteroom account rotate' account --help
check 0 'anteroom ' --version
drawn >commands <<'END'
serve
account add
account list
account disable
account enable
account set
account rotate
account delete
token
store create
store upgrade
check
stat
backup
restore
dump
load
END
while read -r command; do
	# Unquoted, because two words are two arguments.
	check 0 "Usage: anteroom $command" $command --help
	check 0 "Usage: anteroom $command" $command -h
	check 0 "Usage: anteroom $command" help $command
	check 0 'anteroom ' $command --version
	check 0 'anteroom ' $command -V
	check 2 'unknown option --frobnicate, or it takes no value' $command --frobnicate
	check 2 'unknown option -d: ' $command -data data
	check 2 'unknown option -d: ' $command -d
	check 2 'needs a value' $command --data
	check 2 '--data must not be empty' $command --data ''
done <commands

# The commands for a running service have no data directory.
drawn >commands <<'END'
room add
room list
room show
room enable
room disable
room end
room mute
peer list
peer role
peer mute
peer unmute
peer hand
peer lower
peer remove
door list
door admit
door deny
door denied
door allow
door set
code add
code list
code show
code link
code enable
code disable
code rotate
code delete
key add
key list
key remove
ban add
ban list
ban remove
backend list
backend add
backend set
backend test
backend drain
backend undrain
backend move
backend remove
session list
session show
session attendance
recording list
recording show
recording start
recording stop
recording pause
recording resume
recording link
recording download
recording delete
recording adopt
recording purge
recording test
stream live start
stream live stop
stream live list
stream live show
stream external start
stream external stop
stream external list
stream external show
usage
setup-livekit
END
while read -r command; do
	check 0 "Usage: anteroom $command" $command --help
	check 0 "Usage: anteroom $command" help $command
	check 2 'unknown option --data,' $command --data data
	check 2 '--url needs a value' $command --url
	check 2 '--token-file must not be empty' $command --token-file ''
done <commands

# Options that are those of the route's table.
while IFS='|' read -r command line; do
	# shellcheck disable=SC2086
	check 0 "$line" $command --help
done <<'END'
room add|--template ID             template of the room (default: the account's default template)
room add|--opens-at TIME           people can join from this time, such as 2026-11-23T09:00:00Z
room end|--reason REASON           what the people inside are told
peer list|--user-id ID              only people with exactly this user ID
code add|--max-uses N              how many times the code can be used
code add|--admission open|ask      with ask, people wait until somebody lets them in (default: as for the role)
code list|--state role_deleted|disabled|expired|used_up|not_yet_valid|active
session list|--after TIME              only sessions created then or later
session attendance|--separator SEPARATOR     what separates the cells: a comma, a semicolon or a tab (default: a comma)
usage|--before DAY              the last day, in UTC (default: today)
END

# ---- wrong use ----
# A machine with the package installed has a directory that these commands would use.
if ! test -e /var/lib/anteroom; then
	check 2 'serve: the data directory is missing: give DIR or --data DIR, or set ANTEROOM_DATA' serve
	check 2 'account add: the data directory is missing' account add x
	check 2 'account list: the data directory is missing' account list
	check 2 'backup: DEST is missing' backup data
	check 2 'restore: the data directory is missing' restore data
fi
check 2 'account add: NAME is missing' account add --data data
check 2 'unexpected operand "y"' account add x y --data data
check 2 'unexpected operand "x"' account list x --data data
check 2 'account disable: ACCOUNT is missing' account disable --data data
check 2 'account rotate: ACCOUNT is missing' account rotate --finish --data data
check 2 'account delete: ACCOUNT is missing' account delete --force --data data
check 2 'token: ACCOUNT is missing' token --data data
check 2 'token: ACCOUNT is missing' token '' --data data
check 2 'the data directory none does not exist' account list --data none
check 2 'the data directory none does not exist' token x --data none
check 2 'file is not a directory' account list --data file
check 2 'file is not a directory' account add x --data file
for number in 0 1025 -1 +8 8x ' 8' 0x8 8.0 99999999999999999999; do
	check 2 '--threads must be a whole number from 1 to 1024' serve --data data --threads "$number"
done
for mode in 0888 1777 66666 rw- -1; do
	check 2 '--socket-mode must be an octal mode' serve --data data --socket-mode "$mode"
done
check 2 'room list: unexpected operand "x";' room list x
check 2 'room add: unexpected operand "y"' room add x y
check 2 'room show: ROOM is missing' room show
check 2 'room end: ROOM is missing' room end --lock
check 2 'room mute: audio|video is missing' room mute x
check 2 'room mute: --hold and --free cannot be combined' room mute x audio --hold --free
check 2 'peer role: ROLE is missing' peer role x y
check 2 'peer mute: audio|video|screen is missing' peer mute x y
check 2 'peer hand: up|down is missing' peer hand x y
check 2 'door set: open|ask|locked|roles is missing' door set x
check 2 'peer remove: PEER is missing' peer remove x
check 2 'code add: ROOM is missing' code add
check 2 'code rotate: ROLE is missing' code rotate x
check 2 'code delete: CODE is missing' code delete
check 2 'code link: CODE is missing' code link --qr
check 2 'ban add: unexpected operand "x"' ban add x
check 2 'ban remove: BAN is missing' ban remove
check 2 'backend add: URL is missing' backend add lk livekit
check 2 'backend set: NAME is missing' backend set
check 2 'backend drain: NAME is missing' backend drain --move
check 2 'backend move: NAME is missing' backend move
check 2 'backend remove: unexpected operand "y"' backend remove x y
check 2 'session show: SESSION is missing' session show
check 2 'session attendance: SESSION is missing' session attendance
check 2 'recording show: RECORDING is missing' recording show
check 2 'recording start: ROOM is missing' recording start
check 2 'recording stop: ROOM is missing' recording stop
check 2 'recording link: RECORDING is missing' recording link
check 2 'recording link: --seconds must be' recording link x --seconds 59
check 2 'recording download: --output is missing' recording download x
check 2 'recording delete: RECORDING is missing' recording delete
check 2 'recording test: ROOM is missing' recording test
check 2 'recording adopt: FILE is missing' recording adopt
check 2 'stream live start: ROOM is missing' stream live start
check 2 'stream live show: STREAM is missing' stream live show
check 2 'stream external stop: ROOM is missing' stream external stop
check 2 'stream external start: --addresses needs a value' stream external start x --addresses
check 2 'unknown command "stream live"' stream live
check 2 'unknown command "stream live"' stream live pause
check 0 'anteroom stream external show STREAM' stream --help
check 0 'anteroom stream external show STREAM' stream live --help
check 2 'recording purge: give either FILE or --all' recording purge
check 2 'recording purge: give either FILE or --all' recording purge x --all
check 2 'setup-livekit: URL is missing' setup-livekit
check 2 'unknown option --json,' session attendance x --json
check 2 'usage: unexpected operand "x";' usage x
for number in 0 1000001 -1 x; do
	check 2 '--max-uses must be a whole number from 1 to 1000000' code add x y --max-uses "$number"
done
check 2 '--limit must be a whole number from 1' room list --limit 0
drawn >durations <<'END'
0s
24
h
-1h
1.5h
24H
24hours
3651d
9223372036854775807d
 1h
1h1m
END
while IFS= read -r duration; do
	check 2 '--ttl must be a whole number followed by s, m, h or d' token x --data data --ttl "$duration"
	check 2 '--expires-in must be a whole number' code add x y --expires-in "$duration"
	check 2 '--expires-in must be a whole number' ban add --user-id x --expires-in "$duration"
	check 2 '--ban-for must be a whole number' peer remove x y --ban-for "$duration"
	check 2 '--grace must be a whole number' code rotate x y --grace "$duration"
	check 2 '--token-ttl must be a whole number' serve --data data --token-ttl "$duration"
done <durations
for duration in 0 -1s s 3651d; do
	check 2 '--session-grace must be a whole number' serve --data data --session-grace "$duration"
	check 2 '--session-keep must be a whole number' serve --data data --session-keep "$duration"
done
for days in 0 -1 3651 1d; do
	check 2 '--recordings-keep must be a whole number' serve --data data --recordings-keep "$days"
done
for mode in ON '' offwatch wat 'on '; do
	check 2 '--live must be off, watch or on: got' serve --data data --live "$mode"
done
check 2 'takes no value' serve --data data --access-log=yes

# ---- where the data is ----
# DIR and --data DIR, then the environment, then the directory of the package.
"$program" store create one 2>err
"$program" store create --data two 2>err
"$program" account add first one >out 2>err
first=$(printed id)
"$program" account add second --data two >out 2>err
second=$(printed id)
check 0 "$first" account list one
check 0 "$first" account list --data one
check 0 'eyJ' token first one
check 2 'unexpected operand "two": an option already specifies the data' account list two --data one
check 2 '--data specifies the data twice: got "two"' account list --data one --data two
check 2 '--store specifies the data twice' account list --data one --store postgresql://x/y
check 2 'unexpected operand "two"' account list two --store postgresql://x/y
check 2 'this command works on data directories' restore one postgresql://x/y
check 2 'this command works on data directories' backup postgresql://x/y one
check 2 'unknown option --store,' restore one --store postgresql://x/y
check 2 'unexpected operand "two"' check two --data one
check 0 'accounts                                1' stat one
check 0 'accounts                                1' stat --data one
check 0 "$first" dump --data one
check 2 'file is not a directory' account list file
check 0 '' backup --data one three
check 0 '' restore three --data four
check 0 '' restore three five
for command in 'account list' dump; do
	check 0 "$first" $command four
	check 0 "$first" $command five
done
export ANTEROOM_DATA=two
check 0 "$second" account list
check 0 "$second" dump
check 0 'eyJ' token second
check 0 'accounts                                1' stat
check 2 '"operator" has no =' account set second operator
check 2 'operator must be on or off' account set second operator=yes
check 2 'sessions must be on or off' account set second sessions=
check 2 'live_log must be on or off' account set second live_log=maybe
check 2 'session is not one of operator, log_joins, sessions, live_log, client_url, embed, recordings and recordings_gb' account set second session=on
check 2 'client_url must not have placeholders in its scheme, host or port' account set second 'client_url=https://{role}.a/'
check 2 'client_url may contain {join.link} only after a #' account set second 'client_url=https://a/{join.link}'
check 2 'client_url may contain {token} only after a #' account set second 'client_url=https://a/?t={token}'
check 2 'client_url may contain {join.token} only after a #' account set second 'client_url=https://a/?t={join.token}'
check 1 'no account has the name' account set nobody operator=on
check 0 '' account set second operator=on
check 0 '' account set second 'client_url=https://a/#{token}'
check 0 'second  operator=on  client_url=https://a/#{token}' account list
check 0 '"client_url": "https://a/#{token}"' account list --json
check 0 '' account set second client_url=
check 2 'embed must have origins without a path' account set second 'embed=https://a/'
check 0 '' account set second 'embed=https://a,http://localhost:8080'
check 0 '  embed=https://a,http://localhost:8080' account list
check 0 '"embed": "https://a,http://localhost:8080"' account list --json
check 0 '' account set second embed=
check 0 '' account set second operator=off
check 0 '' account set second sessions=off
check 0 '' account set second live_log=off
check 0 'second  sessions=off  live_log=off' account list
check 0 '"live_log": false' account list --json
check 0 '' account set second sessions=on
check 0 '' account set second live_log=on
check 0 '' account disable second
check 0 '' backup six
check 0 "$second" account list six
check 0 "$first" account list --data one
check 0 "$first" account list one
check 2 'DEST is missing' backup
check 2 'BACKUP is missing' restore
ANTEROOM_DATA=none
check 2 'the data directory none does not exist' account list
unset ANTEROOM_DATA
if unshare -rm true 2>/dev/null && test -d /var/lib; then
	for given in '' 'ANTEROOM_DATA='; do
		# shellcheck disable=SC2016
		unshare -rm sh -c 'mount -t tmpfs none /var/lib && mkdir /var/lib/anteroom &&
			"$1" account add packaged >&2 && exec env $2 "$1" account list' \
			- "$program" "$given" >out 2>err
		status=$?
		test "$status" -eq 0 && grep -qF packaged out || fail "the package's directory: $given"
	done
fi

# ---- accounts ----
check 2 'a name must be' account add ' x' --data data
check 0 'name: first' account add first --data data
grep -qF 'The secret is not shown again.' err || fail 'account add: does not say that the secret is shown once'
id=$(printed id) key=$(printed access_key) secret=$(printed secret)
test "${#id}" -eq 24 && test "${#key}" -eq 24 && test "${#secret}" -ge 43 ||
	fail "account add: id $id, access key $key"
check 1 'first' account add first --data data
check 0 'name: second' account add second --data new
grep -qF 'created the directory new' err || fail 'account add: does not say that it created the directory'
test -d new/store || fail 'account add: no new directory'
check 0 "$key" account list --data data
check 0 "\"access_key\": \"$key\"" account list --json --data data
"$program" account list --data data --json | grep -qF -e "$secret" && fail 'account list: shows the secret'
for command in 'account disable' 'account enable' 'account rotate' 'account rotate --finish' token; do
	check 1 'name, ID or access key "nobody"; see anteroom account list' \
		$command nobody --data data
done
for which in first "$id" "$key"; do
	check 0 'eyJ' token "$which" --data data --ttl 90s
	test "$(wc -l <out)" -eq 1 && test ! -s err || fail 'token: more than the token'
	check 0 '' account disable "$which" --data data
	check 0 disabled account list --data data
	check 1 'is disabled' token "$which" --data data
	check 0 '' account enable "$which" --data data
done
check 1 'only one secret' account rotate first --finish --data data
check 0 'secret: ' account rotate first --data data
test "$(printed secret)" != "$secret" || fail 'account rotate: the same secret'
check 1 'two secrets' account rotate first --data data
check 0 '' account rotate first --finish --data data
check 1 'only one secret' account rotate first --finish --data data
# If other users can read the accounts file, each command that uses it prints a warning.
for command in 'account list --data data' 'token first --data data' 'account disable first --data data' \
	'account enable first --data data' 'account rotate first --data data' \
	'account rotate first --finish --data data' 'account add mode --data data' 'check data'; do
	chmod 640 data/accounts.json
	"$program" $command >out 2>err
	status=$?
	test "$status" -eq 0 && grep -qF 'data/accounts.json has mode 0640, so other users can read the secrets in it; run: chmod 600 data/accounts.json' err ||
		fail "$command: does not report the mode of accounts.json"
	case $command in
	*able* | *rotate* | *add*)
		test "$(stat -c %a data/accounts.json)" = 600 || fail "$command: keeps the mode"
		;;
	esac
done
chmod 600 data/accounts.json
check 0 first account list --data data
test ! -s err || fail 'account list: warns of mode 0600'
# Commands that only read work where nothing can be written, and do not report the owner instead.
if unshare -rm true 2>/dev/null; then
	for command in 'account list' 'token first' 'account add third'; do
		# shellcheck disable=SC2016
		unshare -rm sh -c 'mount --bind data data && mount -o remount,ro,bind data && exec "$@"' \
			- "$program" $command --data data >out 2>err
		status=$?
		case $command in
		*add*)
			test "$status" -eq 1 && grep -q 'cannot use the data directory data: Read-only' err ||
				fail "$command: on a read-only file system"
			;;
		*) test "$status" -eq 0 && test -s out || fail "$command: on a read-only file system" ;;
		esac
	done
fi
echo '{' >data/accounts.json
check 1 'accounts file' account list --data data
rm data/accounts.json
# Anyone who can write to the directory can put anything there: no command waits for the other end of a
# FIFO.
for name in accounts.json accounts.lock; do
	for kind in mkdir mkfifo 'ln -s ../file'; do
		rm -rf data/$name
		$kind data/$name
		for command in 'account list' 'token first' 'account add third'; do
			case "$name $command" in
			*lock*list | *lock*token*) continue ;;
			esac
			timeout 20 "$program" $command --data data >out 2>err
			status=$?
			test "$status" -eq 1 && grep -qF "data/$name is not a regular file" err ||
				fail "$command: $name was created by $kind"
		done
	done
	rm -rf data/$name
done
# The same in the store, and for load, which first looks for the mark of an earlier load.
check 0 '' store create planted
for case in 'lock:load planted file' 'manifest:check planted' 'journal.mark:check planted'; do
	name=${case%%:*}
	mv planted/store/"$name" kept
	mkfifo planted/store/"$name"
	timeout 20 "$program" ${case#*:} >out 2>&1
	status=$?
	test "$status" -eq 1 && grep -q "cannot .* planted/store/$name.*No such device" out ||
		fail "${case#*:}: store/$name is a FIFO"
	rm planted/store/"$name"
	mv kept planted/store/"$name"
done
mkfifo planted/load.unfinished
timeout 20 "$program" load planted file >out 2>err
status=$?
test "$status" -eq 1 && grep -qF 'planted/load.unfinished is not a regular file' err ||
	fail 'load: load.unfinished is a FIFO'
# Others who can write to the directory can replace its contents, unless it has the sticky bit.
check 0 'secret: ' account add first --data open
for mode in 0777 0770 0702; do
	chmod $mode open
	"$program" account list --data open >out 2>err
	status=$?
	test "$status" -eq 0 && grep -qF "open has mode $mode, so other users can replace the accounts in it; run: chmod go-w open" err ||
		fail "account list: mode $mode of the directory"
done
for mode in 1777 0755 0700; do
	chmod $mode open
	check 0 first account list --data open
	test ! -s err || fail "account list: warns of mode $mode of the directory"
done
if test -c /dev/full; then
	for command in 'account list --data new' --help --version 'account --help' 'serve --help' \
		'token --version'; do
		"$program" $command >/dev/full 2>err
		status=$?
		test "$status" -eq 1 && grep -q 'cannot write to standard output: ' err ||
			fail "$command: a full disk is not a failure, or is not named"
	done
fi

# ---- serve refuses to start ----
if test "$(id -u)" -eq 0; then
	check 2 'refuses to run as root; use --user USER' serve --data new --listen ./socket
	check 2 '--user root is root' serve --data new --listen ./socket --user root
	user='--user nobody'
	chmod 755 .
else
	check 2 'only root can switch to the user daemon' serve --data new --listen ./socket --user daemon
	user=
fi
check 2 'unknown user "no-such-user"' serve --data new --listen ./socket --user no-such-user
check 2 'unknown group "no-such-group"' serve --data new --listen ./socket --socket-group no-such-group $user
for path in 127.0.0.1:9000 :9000 socket; do
	check 2 "--listen $path must be a path" serve --data new --listen $path $user
	test ! -e "$path" || fail "serve: makes $path"
done
check 2 'no socket to listen on; use --listen PATH' serve --data new $user
check 2 'file exists and is not a socket' serve --data new --listen ./file $user
check 1 'none/socket' serve --data new --listen none/socket $user
check 2 'the data directory none/data does not exist' serve --data none/data --listen ./socket $user
ANTEROOM_DATA=none
export ANTEROOM_DATA
check 2 'the data directory none does not exist' serve --listen ./socket $user
for mode in off watch on; do
	check 2 'the data directory none does not exist' serve --listen ./socket --live $mode $user \
		--session-grace 0s --session-keep 0s
done
# An empty folder of recordings is none; other texts must not be empty.
check 2 'the data directory none does not exist' serve --listen ./socket --recordings= $user
check 2 '--recording-times must not be empty' serve --listen ./socket --recording-times= $user
unset ANTEROOM_DATA
test ! -e socket || fail 'serve: leaves its socket behind'

# If the user has no access, the error names the user who has.
if test "$(id -u)" -eq 0; then
	mkdir -m 700 theirs
	chown nobody theirs
	for command in 'account list' 'account add x' 'token x' check stat dump 'backup copy' load; do
		setpriv --reuid 1 --regid 1 --clear-groups "$program" $command --data theirs \
			>out 2>err </dev/null
		status=$?
		test "$status" -ne 0 && grep -qF "$(id -nu 1) cannot use the data directory theirs: it belongs to nobody; use sudo" err ||
			fail "$command: does not say which user may"
		setpriv --reuid 1 --regid 1 --clear-groups "$program" $command --data theirs/below \
			>out 2>err </dev/null
		grep -qE 'cannot (reach the data directory|create the directory) theirs/below' err || fail "$command: below"
	done
fi

# ---- serve starts and stops ----
mkdir run
mkfifo log
mkdir -m 700 served
test "$(id -u)" -ne 0 || chown nobody run served
check 0 '' store create served
# shellcheck disable=SC2086
"$program" serve --data served --listen run/socket $user 2>log &
server=$!
exec 3<log
read -r line <&3
case $line in
*' serving '*) ;;
*)
	status=none
	fail "serve: $line"
	;;
esac
test "$(stat -c %a served)" = 700 || fail 'serve: others can look into the data directory'
test "$(stat -c %a run/socket)" = 660 || fail 'serve: the mode of the socket'
check 1 'another process listens on run/socket' serve --data other --listen run/socket $user
check 1 '' serve --data served --listen run/socket2 $user
test -S run/socket || fail 'serve: a second one takes the socket away'
kill -TERM "$server"
wait "$server"
status=$?
server=
test "$status" -eq 0 || fail 'serve: ends with an error'
test ! -e run/socket || fail 'serve: leaves its socket behind'
grep -q ' stopped' <&3 || fail 'serve: does not say that it stopped'

exit "$failed"
