#!/bin/sh
# check, stat, backup, dump, load and openapi, with a directory of a stopped service, of a running
# service, a damaged directory, and one whose load was killed. ANTEROOM names the program (default:
# ./anteroom). FULL=yes makes larger stores, and damages one with GDBM files.
set -u
program=${ANTEROOM:-./anteroom}
case $program in /*) ;; *) program=$PWD/$program ;; esac
test -x "$program" || {
	echo "store_commands: there is no program $program"
	exit 1
}
directory=$(mktemp -d "${TMPDIR:-/tmp}/anteroom-store.XXXXXX") || exit 1
server=
second=
stop()
{
	test -z "$server" || kill -KILL "$server" 2>/dev/null
	test -z "$second" || kill -KILL "$second" 2>/dev/null
	rm -rf "$directory"
}
trap stop EXIT
trap 'exit 1' HUP INT TERM
cd "$directory" || exit 1
unset ANTEROOM_DATA
failed=0
# The templates of account a, those of account b, and the codes of one room. Load has 256 lines a transaction, so
# that each of them is several.
few=${FULL:+300}
few=${few:-50}
many=${FULL:+2000}
many=${many:-150}
codes=${FULL:+2500}
codes=${codes:-600}

fail()
{
	echo "store_commands: $*: status $status"
	head -c 2000 out err
	failed=1
}

# expect STATUS WORDS ARGUMENT...: stdout or stderr must contain the words, if there are any.
expect()
{
	expected=$1
	words=$2
	shift 2
	"$program" "$@" >out 2>err
	status=$?
	test "$status" -eq "$expected" || fail "$* (expected $expected)"
	test -z "$words" || cat out err | grep -qF -e "$words" || fail "$*: does not say: $words"
}

# as_json ARGUMENT...: stdout begins and ends like a JSON object.
as_json()
{
	"$program" "$@" >out 2>err
	test "$(head -c 1 out)" = '{' && test "$(tail -n 1 out)" = '}' || fail "$*: no JSON object"
}

# The first line of a dump, which has the form of this program.
"$program" store create made 2>/dev/null
head=$("$program" dump made 2>/dev/null | head -n 1)
rm -rf made

# Prints a dump of one account: templates 1 to $2, a room and two codes for each, the newest first. $1 is
# a hex digit for the account, and a letter for its codes.
make_dump()
{
	awk -v digit="$1" -v n="$2" -v head="$head" '
	function repeat(text, times,   all) {
		while (times-- > 0)
			all = all text
		return all
	}
	function letters(number,   text) {
		while (length(text) < 6) {
			text = sprintf("%c", 97 + number % 26) text
			number = int(number / 26)
		}
		return digit "aa-a" substr(text, 1, 3) "-" substr(text, 4)
	}
	function code(room, number, place) {
		return sprintf("{\"code\":{\"place\":\"00000000%010x000000\",\"room\":\"%s\",\"former\":false," \
			"\"code\":\"%s\",\"enabled\":true,\"group\":%d," \
			"\"created_at\":\"2026-01-01T00:00:00Z\",\"updated_at\":\"2026-01-01T00:00:00Z\"}}\n", \
			place, room, letters(number), place)
	}
	BEGIN {
		time = "\"2026-01-01T00:00:00.000Z\""
		account = repeat(digit, 24)
		times = "\"created_at\":" time ",\"updated_at\":" time
		print head
		print "{\"account\":{\"id\":\"" account "\",\"name\":\"account " digit \
			"\",\"access_key\":\"" account "\",\"enabled\":true,\"created_at\":" time \
			",\"secrets\":[{\"secret\":\"" repeat(digit, 43) "\",\"created_at\":" time "}]}}"
		for (i = n; i > 0; i--) {
			id = sprintf("6955b900%010x000000", i)
			print "{\"template\":{\"id\":\"" id "\",\"name\":\"t" i "\"," times ",\"last_identity\":2," \
				"\"settings_hidden\":{},\"destinations_hidden\":{},\"settings\":{},\"destinations\":{}," \
				"\"roles\":[{\"identity\":1,\"added_at\":" time ",\"role\":{\"name\":\"host\"}}]}}"
			print "{\"deleted_role\":{\"template_id\":\"" id "\",\"identity\":2,\"name\":\"gone\",\"deleted_at\":" time "}}"
		}
		print "{\"default_template\":{\"template_id\":\"6955b9000000000001000000\"}}"
		for (i = n; i > 0; i--) {
			id = sprintf("6955b900%010x000000", i)
			print "{\"room\":{\"id\":\"" id "\",\"template_id\":\"" id "\"," times ",\"hidden\":{}," \
				"\"document\":{\"name\":\"r" i "\",\"enabled\":true,\"recording_source_template\":true," \
				"\"template_id\":\"" id "\",\"region\":\"eu\"}}}"
			print "{\"codes\":{\"room\":\"" id "\",\"asked\":true,\"last_identity\":2,\"last_place\":2502," \
				"\"last_group\":2,\"groups\":[{\"number\":1,\"identity\":1},{\"number\":2,\"identity\":2}]," \
				"\"due_roles\":[]}}"
			printf "%s%s", code(id, 2 * i, 1), code(id, 2 * i + 1, 2)
		}
		print "{\"end\":{\"accounts\":1,\"lines\":{\"template\":" n ",\"deleted_role\":" n \
			",\"default_template\":1,\"room\":" n ",\"codes\":" n ",\"code\":" 2 * n "}}}"
	}' >"$3"
}

# The dump of $1 with one template and one room, which has $codes more codes of 2 KB each: more than a
# transaction of load has.
make_many()
{
	make_dump c 1 "$1.one" && awk -v codes="$codes" '
	/^\{"end"/ {
		for (metadata = "x"; length(metadata) < 256;)
			metadata = metadata metadata
		for (i = 0; i < 8; i++)
			members = members (i > 0 ? "," : "") "\"m" i "\":\"" metadata "\""
		for (i = 0; i < codes; i++)
			printf "{\"code\":{\"place\":\"00000000%010x000000\",\"room\":\"6955b9000000000001000000\"," \
				"\"former\":false,\"code\":\"zzz-%c%c%c%c-zzz\",\"enabled\":true,\"group\":1," \
				"\"created_at\":\"2026-01-01T00:00:00Z\",\"updated_at\":\"2026-01-01T00:00:00Z\"," \
				"\"max_uses\":%d,\"uses\":0,\"metadata\":{%s}}}\n", i + 3, 97 + i / 17576 % 26, \
				97 + i / 676 % 26, 97 + i / 26 % 26, 97 + i % 26, i + 1, members
		sub(/"code":2/, "\"code\":" codes + 2)
	}
	{ print }' "$1.one" >"$1"
}

# Prints all lines of the dump of a directory, or of the account $2, except the first, which contains the
# time.
dumped()
{
	"$program" dump "$1" ${2:+--account "$2"} 2>/dev/null | tail -n +2
}

same()
{
	dumped "$1" "${3-}" >first
	dumped "$2" "${3-}" >second
	status=0
	test -s first && cmp -s first second || fail "$1 and $2 have different contents"
}

make_dump a "$few" a.dump
make_dump b "$many" b.dump
: >file
mkdir full empty
: >full/file

# ---- wrong use ----
# A machine with the package installed has a directory that these commands would use.
if ! test -e /var/lib/anteroom; then
	for command in 'store create' check stat dump load backup; do
		expect 2 'the data directory is missing' $command
	done
	expect 2 'DEST is missing' backup data
	expect 2 'BACKUP is missing' restore
	expect 2 'the data directory is missing' restore full
fi
expect 2 'unknown command "store"' store
expect 2 'unexpected operand "z"' backup x y z
expect 2 'unexpected operand "z"' load x y z
expect 2 'unexpected operand "y"' check x y
expect 2 'unexpected operand "y"' openapi y
for command in check stat dump; do
	expect 2 'the data directory none does not exist' "$command" none
	expect 2 'file is not a directory' "$command" file
done
expect 0 'secrets' dump --help
expect 2 'cannot open none' load data none
test ! -e data || fail 'load: does something before it has the dump'

# ---- a store is created only on request, not by a command that finds none ----
user=
if test "$(id -u)" -eq 0; then
	user='--user nobody'
	chmod 755 .
fi

# own DIRECTORY: gives the data to the user that serve runs as.
own()
{
	test -z "$user" || chown -R nobody "$1"
}

# Lists all files and their checksums, except the lock of the accounts file.
state_of()
{
	find "$1" ! -name accounts.lock | sort
	find "$1" -type f ! -name accounts.lock -exec cksum {} + | sort
}

# lost STORE: creates a directory new/ with an account whose store is missing or damaged as STORE says.
lost()
{
	rm -rf new
	mkdir new
	own new
	"$program" account add a --data new >out 2>err
	status=$?
	test "$status" -eq 0 || fail 'account add: in an empty directory'
	case $1 in
	missing) rm -rf new/store ;;
	empty) rm -rf new/store/* ;;
	half-made)
		rm -rf new/store/*
		install -m 600 /dev/null new/store/lock
		install -m 600 file new/store/manifest.new
		;;
	esac
	own new
	state_of new >before
}

for store in missing empty half-made; do
	lost $store
	for command in "serve --listen ./socket --data new $user" 'check new' 'stat new' 'dump new' \
		'backup new copy' 'load new a.dump' 'account add b --data new'; do
		# shellcheck disable=SC2086
		timeout 30 "$program" $command >out 2>err
		status=$?
		test "$status" -eq 2 && grep -qF 'create an empty store with: anteroom store create DIR' err ||
			fail "$command: accepts a directory whose store is $store"
		state_of new | cmp -s before - || fail "$command: changes the directory ($store)"
		test ! -e socket || fail 'serve: leaves its socket behind'
	done
	expect 0 'eyJ' token a --data new
	expect 0 '' store create new
	test "$(stat -c %a-%U new/store)" = "700-$(stat -c %U new)" || fail 'store create: mode or owner'
	test -z "$(find new/store -perm /077)" || fail 'store create: other users may use its files'
	expect 0 'No damage' check new
	expect 1 'the data directory new already has a store' store create new
	expect 0 '' account add b --data new
done
# A process that is killed between creating the store and writing the accounts leaves only a store, or
# half a store.
for store in empty half-made whole; do
	lost $store
	rm new/accounts.json
	expect 0 'name: again' account add again --data new
	expect 0 'accounts                                1' stat new
	lost $store
	rm new/accounts.json
	expect 0 "Loaded 1 accounts, $few" load new a.dump
	expect 0 'accounts                                1' stat new
done
# If there are files of a store, but no manifest, nothing is created over them.
rm new/store/manifest
expect 1 'other files of a store; restore a backup' dump new
expect 1 'already has a store' store create new
rm -rf new
expect 0 'created the directory new' store create new
test "$(stat -c %a new)" = 700 || fail 'store create: the mode of the directory'
expect 0 'No damage' check new
rm -rf new
for n in 1 2 3 4 5 6; do
	"$program" account add "$n" --data new >/dev/null 2>>all &
	adding="${adding-} $!"
done
status=0
for process in $adding; do
	wait "$process" || status=1
done
test "$status" -eq 0 || fail "account add: six at once in a new directory: $(cat all)"
expect 0 'accounts                                6' stat new
if test -n "$user"; then
	mkdir -m 777 others
	chown nobody others
	setpriv --reuid 1 --regid 1 --clear-groups "$program" store create others >out 2>err
	status=$?
	test "$status" -eq 1 && grep -q 'only nobody, the owner of others, can create its store; use sudo' err ||
		fail 'store create: in the directory of another user'
fi
rm -rf new

# ---- load ----
expect 0 "Loaded 1 accounts, $few templates, $few rooms" load data a.dump
test ! -e data/load.unfinished || fail 'load: leaves its mark'
test "$(stat -c %a data/accounts.json)" = 600 || fail 'load: the mode of accounts.json'
expect 0 'account a' account list --data data
expect 0 'No damage' check data
as_json check data --json
grep -qF '"damaged": false' out || fail 'check --json: damage'
expect 0 ' transactions in ' check data --journal
grep -qE '^journal-[0-9a-f]{16}$' out || fail 'check --journal: no segment'
grep -qE '^  transaction [0-9]+ at [0-9]+(, in files)?$' out || fail 'check --journal: no transaction'
grep -qE '^    put     record, room [0-9a-f]{24}, account a{24}, parent [0-9a-f]{24}, on, "r1", [0-9]+ bytes$' out ||
	fail 'check --journal: no room'
grep -qE '^    put     record, room code [0-9a-f]{24}, account a{24}, parent [0-9a-f]{24}, on, [0-9]+ bytes$' out ||
	fail 'check --journal: no code'
grep -q 'aaa-a' out && fail 'check --journal: prints codes'
expect 0 '"table":"record","kind":"template","account":"aaaaaaaaaaaaaaaaaaaaaaaa","id":"' check data --journal --json
expect 2 'a database has no journal' check --journal --store postgresql://127.0.0.1:1/none
expect 0 "templates                            $(printf %4d "$few")" stat data
as_json stat data --json
grep -qF "\"codes\": $((2 * few))" out || fail 'stat --json: codes'
expect 1 'an account with this value already exists' load data a.dump
expect 0 'No damage' check data
"$program" load piped <a.dump 2>/dev/null
same data piped

# ---- dump ----
"$program" dump data --output dumped >out 2>err
status=$?
test "$status" -eq 0 && test ! -s out && test "$(stat -c %a dumped)" = 600 || fail 'dump --output'
expect 2 'already exists; choose another file' dump data --output dumped
expect 0 'Loaded' load again dumped
same data again
expect 0 'Loaded' load data b.dump
expect 1 'no account has the name' dump data --account nobody
test -z "$(ls | grep nobody)" || fail 'dump: a file for an account that does not exist'
for which in 'account b' bbbbbbbbbbbbbbbbbbbbbbbb; do
	"$program" dump data --account "$which" 2>/dev/null | tail -n +2 >first
	grep -qF '"name":"account a"' first && fail "dump --account $which: another account"
	grep -qF '{"end":{"accounts":1,"lines":{"template":'"$many"',"deleted_role":'"$many"',"default_template":1,"room":'"$many"',"codes":'"$many"',"code":'"$((2 * many))"'}}}' first || fail 'dump --account'
done
if test -c /dev/full; then
	"$program" dump data >/dev/full 2>err
	status=$?
	test "$status" -eq 1 || fail 'dump: a full disk is not a failure'
fi

# ---- a room with more codes than a transaction has ----
make_many many.dump
expect 0 'Loaded 1 accounts, 1 templates, 1 rooms' load many many.dump
expect 0 '' dump many --output lines.dump
test "$(grep -c '^{"code":{"place":' lines.dump)" = $((codes + 2)) || fail 'dump: the lines of codes'
grep -qF '"codes":1,"code":'"$((codes + 2))"'}' lines.dump || fail 'dump: the count of lines of codes'
expect 0 'Loaded 1 accounts, 1 templates, 1 rooms' load many.again lines.dump
same many many.again
expect 0 'No damage' check many.again
expect 0 '' dump many --salvage --output saved.dump
tail -n +2 lines.dump >first
tail -n +2 saved.dump | cmp -s - first || fail 'dump --salvage: the dump differs from that without it'
expect 0 '' load many lines.dump --replace
same many many.again
head -n 4 lines.dump >cut.dump
expect 1 'the dump is incomplete' load many.cut cut.dump
sed 5d lines.dump >gap.dump
expect 1 'do not match the dump' load many.cut gap.dump
sed 's/"max_uses":501,/"max_uses":0,/' lines.dump >faulty.dump
expect 1 'line 510: ' load many.cut faulty.dump
grep -q '^  /code/max_uses: must' err || fail 'load: does not say which code'
test ! -e many.cut || fail 'load: what was refused left a directory'

# ---- a load that is refused, and one that is killed, leave nothing ----
sed '301s/"name":"t/"name":" t/' b.dump >faulty.dump
expect 1 'line 301: Invalid body param' load again faulty.dump
grep -qF '  /template/name: must be' err || fail 'load: does not say what is wrong'
expect 1 'the line "end" is missing' load again /dev/null
head -n $((many * 2)) b.dump >cut.dump
expect 1 'the dump is incomplete' load again cut.dump
expect 0 'No damage' check again
dumped again >second
tail -n +2 dumped | cmp -s - second || fail 'load: what was refused left something'
# The dump does not end until the process has exited.
mkfifo pipe
"$program" load again pipe 2>err &
loader=$!
exec 4>pipe
cat cut.dump >&4
while ! grep -qF bbbbbb again/load.unfinished 2>/dev/null; do
	kill -0 "$loader" || break
done
expect 1 'in use by process' load again a.dump
kill -KILL "$loader"
wait "$loader" 2>/dev/null
exec 4>&-
test -e again/load.unfinished || fail 'load: no mark of a load that was killed'
dumped again >second
tail -n +2 dumped | cmp -s - second || fail 'load: a killed load left visible records'
expect 0 "Loaded 1 accounts, $many" load again b.dump
grep -qF 'an interrupted load' err || fail 'load: does not say that it removes what was left'
test ! -e again/load.unfinished || fail 'load: leaves the mark of an earlier load'
expect 0 'No damage' check again
same data again

# ---- backup ----
expect 0 '' backup data copy
test "$(stat -c %a copy/accounts.json)" = 600 || fail 'backup: the mode of accounts.json'
expect 0 'No damage' check copy
same data copy
expect 0 '' backup data empty
same data empty
expect 2 'is not empty' backup data full
expect 2 'is not empty' backup data copy
expect 1 'none/copy' backup data none/copy

# It prints what it did, its destination is outside of the source, and it leaves nothing if it fails.
expect 0 'Copied ' backup data said
grep -qE '^Copied [0-9]+ files, [0-9]+ bytes, from data to said' err ||
	fail 'backup: does not say how much it copied, and where'
expect 2 'is inside the data directory data' backup data data/copy
test ! -e data/copy || fail 'backup: makes a directory inside the data'
mkdir unwritable filled
(
	ulimit -f 100
	exec "$program" backup data unfinished >out 2>err
)
status=$?
test "$status" -eq 1 && grep -qF 'File too large' err || fail 'backup: a limit of files'
test ! -e unfinished || fail 'backup: leaves a directory when it fails'
(
	ulimit -f 100
	exec "$program" backup data filled >out 2>err
)
test -d filled && test -z "$(ls filled)" || fail 'backup: leaves files when it fails'

# ---- restore ----
# To a new directory, to an empty one, and over another, which is kept under another name.
expect 0 'Restored ' restore copy restored
same data restored
test "$(stat -c %a restored)" = 700 || fail 'restore: the mode of a new directory'
mkdir -m 750 restored2
expect 0 'Restored ' restore copy restored2/
same data restored2
test "$(stat -c %a restored2)" = 750 || fail 'restore: does not keep the mode of an empty directory'
"$program" load other a.dump 2>/dev/null
chmod 711 other
ln -s other link
expect 2 'other contains data; choose another directory, or use --replace' restore copy link
expect 0 'The previous contents are in' restore copy link --replace
kept=$(sed -n 's/^The previous contents are in \(.*\)\. Remove them.*/\1/p' err)
same data other
test "$(stat -c %a other)" = 711 && test -L link || fail 'restore --replace: the mode, or the link'
expect 0 "templates                            $(printf %4d "$few")" stat "$kept"
rm -rf "$kept"
rmdir other/none 2>/dev/null
expect 2 'contains files that are not Anteroom' restore copy full --replace
expect 2 'contains files that are not Anteroom' load full a.dump
expect 2 'is inside the data directory' restore copy copy
expect 2 'is inside the data directory' restore copy copy/x
expect 2 'full is not a backup (it has no store)' restore full new
expect 2 'the backup none does not exist' restore none new
expect 2 'its parent directory none' restore copy none/new
test ! -e new || fail 'restore: creates a directory although its source is not a backup'
state_of other | grep -v '/lock$' >before
(
	ulimit -f 100
	exec "$program" restore copy other --replace >out 2>err
)
status=$?
test "$status" -eq 1 && state_of other | grep -v '/lock$' | cmp -s - before || fail 'restore: fails, but changes the directory'
test -z "$(ls -d other.* 2>/dev/null)" || fail 'restore: leaves a directory when it fails'
if test -n "$user"; then
	mkdir -m 700 served
	chown nobody:daemon served
	expect 0 'they belong to nobody' restore copy served
	test "$(find served -user nobody -group daemon | wc -l)" -eq "$(find served | wc -l)" ||
		fail 'restore: does not keep the owner'
	expect 0 'The previous contents' restore copy served --replace
	test "$(find served -user nobody -group daemon | wc -l)" -eq "$(find served | wc -l)" ||
		fail 'restore --replace: does not keep the owner'
	cp -R copy theirs
	chown -R 1 theirs
	setpriv --reuid 1 --regid 1 --clear-groups "$program" restore theirs served --replace >out 2>err
	status=$?
	test "$status" -ne 0 && grep -qF 'use sudo' err || fail 'restore: does not say which user may'
	expect 0 'The previous contents' load served a.dump --replace
	test "$(find served -user nobody -group daemon | wc -l)" -eq "$(find served | wc -l)" ||
		fail 'load --replace: does not keep the owner'
	rm -rf served* theirs
fi
# A load to a new directory is visible either completely or not at all.
expect 0 'The previous contents are in' load other a.dump --replace
expect 0 "templates                            $(printf %4d "$few")" stat other
same piped other
rm -rf other.before*
head -n 3 a.dump >short.dump
expect 1 'the dump is incomplete' load other short.dump --replace
same piped other
test -z "$(ls -d other.* 2>/dev/null)" || fail 'load --replace: leaves a directory when it fails'
expect 1 'the dump is incomplete' load unmade short.dump
test ! -e unmade || fail 'load: leaves a directory when it fails'
rm -rf other restored restored2 said filled link

# ---- data of another version ----
# Each command says in one sentence which version wrote the data, calls nothing damaged, and changes nothing.
"$program" load elsewhere a.dump 2>/dev/null
own elsewhere
# numbered N WORDS: the number in front of the manifest of elsewhere/ is N.
numbered()
{
	printf "\\$(printf %o "$1")" | dd of=elsewhere/store/manifest bs=1 seek=8 conv=notrunc 2>/dev/null
	state_of elsewhere | grep -v '/lock$' >before
	for command in "serve --listen ./strange.sock --data elsewhere $user" 'check elsewhere' \
		'check elsewhere --json' 'check elsewhere --journal' 'stat elsewhere' 'dump elsewhere' \
		'dump elsewhere --salvage' 'backup elsewhere strange' 'backup elsewhere strange --salvage' \
		'restore elsewhere strange' 'load elsewhere b.dump' 'account add x --data elsewhere' \
		'account list elsewhere' 'account rotate a --data elsewhere' \
		'account delete aaaaaaaaaaaaaaaaaaaaaaaa --force --data elsewhere' \
		'token aaaaaaaaaaaaaaaaaaaaaaaa --data elsewhere'; do
		# shellcheck disable=SC2086
		timeout 30 "$program" $command >out 2>err
		status=$?
		test "$status" -eq 1 && test ! -s out && test "$(wc -l <err)" -eq 1 &&
			grep -qF "the data in elsewhere/store was written by $2" err ||
			fail "$command: data with the number $1"
		state_of elsewhere | grep -v '/lock$' | cmp -s before - || fail "$command: changes data with the number $1"
		test ! -e strange && test ! -e socket || fail "$command: leaves something"
	done
}
# The usual run has one of the numbers of unreleased versions.
for n in ${FULL:+2 3 4 5} 6; do
	numbered $n 'an unreleased version of Anteroom; dump with that one'
done
numbered 8 'a newer version of Anteroom'
expect 0 'The previous contents are in' load elsewhere a.dump --replace
expect 0 "templates                            $(printf %4d "$few")" stat elsewhere
rm -rf elsewhere*
# dump_of EDIT WORDS: a dump whose first line was changed by sed.
dump_of()
{
	sed "1$1" a.dump >other.dump
	expect 1 "line 1: the dump was written by $2" load elsewhere other.dump
	test ! -e elsewhere || fail 'load: leaves a directory when it fails'
}
dump_of 's/"form":"[^"]*",//' 'an unreleased version of Anteroom'
said='"program":"[^"]*"'
for n in ${FULL:+2 3 4 5} 6; do
	dump_of "s/\"format\":1/\"format\":$n/;1s/$said/\"program\":\"0.1.0\"/" 'an unreleased version of Anteroom'
	dump_of "s/\"format\":1,\"number\":[0-9]*,\"form\":\"[^\"]*\"/\"format\":$n/;1s/$said/\"program\":\"0.1.0\"/" \
		'an unreleased version of Anteroom'
done
dump_of 's/"format":1/"format":6/;1s/"program":"[^"]*"/"program":"0.2.0"/' 'a newer version of Anteroom'
dump_of 's/"format":1/"format":7/' 'a newer version of Anteroom'
# Fewer rows and kinds are no change, more of them are of a newer version, and others of another one.
sed '1s/ y=3:[0-9a-f]*"/"/' a.dump >other.dump
expect 0 "Loaded 1 accounts, $few" load elsewhere other.dump
rm -rf elsewhere other.dump
dump_of 's/ y=3:/ 0=1:00000000 y=3:/' 'a newer version of Anteroom'
dump_of 's/ y=3:/ y=4:/' 'a newer version of Anteroom'
dump_of 's/ y=3:/ y=2:/' 'an unreleased version of Anteroom'

# ---- account delete ----
# The account is deleted after its records; other accounts are not affected. Only its codes stay
# reserved, also in a dump.
"$program" backup data deleted 2>err
expect 1 'no account has the name' account delete nobody deleted
expect 1 'the account "account b" is enabled' account delete 'account b' deleted
expect 0 "templates                            $(printf %4d $((few + many)))" stat deleted
expect 0 '' account disable 'account b' deleted
expect 0 'Deleted the account "account b" and everything it owned' \
	account delete 'account b' deleted
expect 1 'no account has the name' account delete 'account b' deleted
expect 0 'No damage' check deleted
same piped deleted 'account a'
test "$(dumped deleted | grep -c '^{"words":{"words":"baa-a[^"]*","account":"bbbbbbbbbbbbbbbbbbbbbbbb"')" = $((2 * many)) ||
	fail 'account delete: releases its codes'
dumped deleted | grep -v '^{"words"' | grep -q bbbbbbbb && fail 'account delete: leaves more than codes'
"$program" dump deleted --output gone.dump 2>err
expect 0 "Loaded 1 accounts, $few" load bereft gone.dump
test "$(dumped bereft | sort)" = "$(dumped deleted | sort)" || fail "load: deleted objects differ"
rm -rf bereft gone.dump
expect 0 'accounts                                1' stat deleted
expect 0 'Deleted the account' account delete aaaaaaaaaaaaaaaaaaaaaaaa --force --data deleted
expect 0 'accounts                                0' stat deleted
expect 0 'No damage: 0 files with 0 blocks, ' check deleted
grep -qF " $((2 * few + 2 * many)) records" out || fail 'account delete: leaves records, or too few codes'
# An interrupted deletion can be repeated: the account still exists, and is disabled.
"$program" backup data killed 2>err
"$program" account delete 'account b' killed --force >out 2>err &
deleting=$!
while test "$("$program" account list killed --json | grep -c '"enabled": true')" -eq 2; do
	kill -0 "$deleting" 2>/dev/null || break
done
kill -KILL "$deleting" 2>/dev/null
wait "$deleting" 2>/dev/null
expect 0 'No damage' check killed
if "$program" account list killed | grep -qF 'account b'; then
	expect 0 'Deleted the account' account delete 'account b' killed
fi
same piped killed 'account a'
# The deleted account can be loaded again.
expect 0 "Loaded 1 accounts, $many" load killed b.dump
same data killed
rm -rf deleted killed

# ---- damage ----
journal=$(ls copy/store/journal-* | sed -n 2p)
printf 'XXXXXXXX' | dd of="$journal" bs=1 seek=20000 conv=notrunc 2>/dev/null
expect 1 'journal' check copy
as_json check copy --json
grep -qF '"damaged": true' out || fail 'check --json: no damage'
expect 1 'damaged' dump copy
grep -qF -e --salvage err || fail 'dump: does not say how to save what can be read'
# The data before the damage.
"$program" dump copy --salvage --output rest >out 2>err
status=$?
test "$status" -eq 3 || fail 'dump --salvage: the status'
grep -q "lost: journal-[0-9a-f]*: transaction " err || fail 'dump --salvage: what was lost'
expect 0 'Loaded' load saved rest
expect 0 'No damage' check saved
expect 1 '--salvage' backup copy salvaged
expect 3 'lost: journal' backup copy salvaged --salvage
expect 0 'No damage' check salvaged
same saved salvaged
test "$(stat -c %a salvaged/accounts.json)" = 600 || fail 'backup --salvage: the mode'
test "$(ls salvaged)" = "$(ls saved)" || fail 'backup --salvage: leaves a file'
expect 0 '' backup data whole --salvage
same data whole
"$program" dump data --salvage >out 2>err
status=$?
test "$status" -eq 0 || fail 'dump --salvage: of a sound store'
tail -n +2 out >second
dumped data | cmp -s - second || fail 'dump --salvage: of a sound store, the dump differs'
if test -n "${FULL-}"; then
	# One byte in 64 of a GDBM file, whose values and blocks have checksums.
	make_dump c 20000 c.dump
	expect 0 'Loaded' load large c.dump
	file=$(ls large/store/stack-*.gdbm | tail -n 1)
	size=$(wc -c <"$file")
	at=$((size / 64))
	while test "$at" -lt "$size"; do
		printf 'X' | dd of="$file" bs=1 seek="$at" conv=notrunc 2>/dev/null
		at=$((at + size / 64))
	done
	expect 1 '--salvage' dump large --output lines
	"$program" dump large --salvage --output lines >out 2>err
	status=$?
	test "$status" -eq 3 && grep -qF 'lost: ' err || fail 'dump --salvage: a damaged file'
	expect 0 'Loaded' load rescued lines
	expect 0 'No damage' check rescued
	grep -qE '[a-z]{3}-[a-z]{4}-[a-z]{3}' err && fail 'dump --salvage: shows a code'
	expect 1 '--salvage' backup large larger
	test ! -e larger || fail 'backup: leaves a copy that would be damaged'
	expect 3 'lost: ' backup large larger --salvage
	same rescued larger
fi
echo '{' >empty/accounts.json
expect 1 'the accounts file is not JSON' backup empty fresh
test ! -e fresh || fail 'backup: leaves the copy of a store without accounts'
expect 1 'accounts.json: ' check empty
rm empty/accounts.json
expect 1 'the account is not in the accounts file' check empty
grep -qE '[a-z]{3}-[a-z]{4}-[a-z]{3}' out && fail 'check: shows a code'

# ---- a live directory ----
if test "$(id -u)" -eq 0; then
	user='--user nobody'
	# Root works as the owner of a directory, who must be able to reach it.
	mkdir -m 700 closed
	cp -R copy closed/data
	chown -R nobody closed/data
	for command in check stat dump; do
		expect 2 'nobody cannot reach' "$command" closed/data
		grep -qF 'Permission denied' err || fail "$command: does not say why"
		grep -qF 'has no store' err && fail "$command: says that there is no store"
	done
	mkdir -m 755 roots
	expect 2 'roots/all is incomplete and could not be removed' dump closed/data --output roots/all
	expect 1 'no account has the name' dump closed/data --account nobody --output roots/one
	test ! -e roots/one || fail 'dump: a file for an account that does not exist'
	chmod 755 .
	chown -R nobody data
	# A copy that the owner cannot create leaves nothing behind.
	mkdir -m 700 shut shut/empty
	for copy in new empty; do
		expect 1 'the copy is made as nobody, the owner of data, who cannot write' backup data "shut/$copy"
		grep -qF 'could not be removed' err && fail "backup: $(cat err)"
	done
	test "$(ls shut)" = empty || fail 'backup: leaves a directory that the owner cannot reach'
else
	user=
fi
mkfifo log
# shellcheck disable=SC2086
"$program" serve --data data --listen ./socket $user 2>log &
server=$!
exec 3<log
read -r line <&3
case $line in *' serving '*) ;; *) fail "serve: $line" ;; esac
expect 0 'No damage' check data
expect 0 "codes                                $(printf %4d $((2 * few + 2 * many)))" stat data
rm -rf copy
expect 0 '' backup data copy
expect 1 "in use by process $server" load data a.dump
expect 1 "in use by process $server" account delete 'account a' data --force
expect 0 '"enabled": true' account list data --json
expect 1 "in use by process $server" load data a.dump --replace
expect 1 'stop it first' restore copy data --replace
test "$(ls -d data*)" = data || fail 'restore: leaves a directory next to one that is in use'
kill -TERM "$server"
wait "$server"
status=$?
test "$status" -eq 0 || fail 'serve: was disturbed'
server=
same data copy
expect 0 'No damage' check copy

# ---- the service runs on a backup ----
exec 3<&-
# shellcheck disable=SC2086
"$program" serve --data copy --listen ./socket $user 2>log &
server=$!
exec 3<log
read -r line <&3
case $line in *' serving '*) ;; *) fail "serve: $line" ;; esac
kill -TERM "$server"
wait "$server"
server=

# ---- the service exits if its directory is moved or removed ----
# moved WORDS COMMAND...: the log must contain the words after the command.
moved()
{
	rm -rf moving* roof*
	mkdir -m 755 roof
	"$program" backup copy roof/moving 2>err
	exec 3<&-
	# shellcheck disable=SC2086
	"$program" serve --data roof/moving --listen ./socket $user 2>log &
	server=$!
	exec 3<log
	read -r line <&3
	case $line in *' serving '*) ;; *) fail "serve: $line" ;; esac
	"$@"
	timeout 30 tail --pid="$server" -s 0.05 -f /dev/null || kill -KILL "$server"
	wait "$server"
	status=$?
	server=
	read -r line <&3
	test "$status" -eq 1 || fail "serve: after $*"
	case $line in
	*' data_moved data=roof/moving '*) ;;
	*) fail "serve: after $*: $line" ;;
	esac
}
replace()
{
	"$program" backup copy roof/other 2>err
	own roof/other
	mv roof/moving roof/moved
	mv roof/other roof/moving
}
moved replace
expect 0 'No damage' check roof/moving
# A process that waited for the lock of the previous directory gets the lock of the new one.
successor()
{
	# shellcheck disable=SC2086
	"$program" serve --wait --data roof/moving --listen ./waiting.socket $user 2>waiting &
	second=$!
	# An ordinary user must not be able to see it.
	while test -n "$user" && ! ls -l "/proc/$second/fd" 2>/dev/null | grep -q store/lock; do
		kill -0 "$second" || break
	done
	"$program" backup copy roof/other 2>err
	own roof/other
	mv roof/moving roof/moved
	# It gets the old lock before there is a new directory.
	timeout 30 tail --pid="$server" -s 0.05 -f /dev/null
	while ls -l "/proc/$second/fd" 2>/dev/null | grep -q store/lock; do
		kill -0 "$second" || break
	done
	mv roof/other roof/moving
}
moved successor
tries=0
until grep -q ' serving ' waiting; do
	tries=$((tries + 1))
	test "$tries" -lt 100000 && kill -0 "$second" || break
done
status=0
test "$(cat roof/moving/store/lock)" = "$second" ||
	fail "serve --wait: does not have the lock of the new directory: $(cat waiting)"
kill -TERM "$second"
wait "$second"
second=
moved mv roof/moving roof/moved
moved mv roof/moving/store roof/moving/elsewhere
moved mv roof roof2
moved rm -rf roof/moving/store
rm -rf roof*

# ---- openapi ----
as_json openapi
grep -qF '"openapi": "3.1' out || fail 'openapi: no version'

exit "$failed"
