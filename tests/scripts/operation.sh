#!/bin/sh
# What operators of the service see, through a real nginx: health, readiness, the metrics (read by
# Prometheus's own parser if promtool is installed), and the log. Only the local machine may see them.
set -u
test=tests/scripts/operation.sh
. "${SOURCE_DIR:-$(dirname "$0")/../..}/tests/tools/servers.sh"
for needed in nginx spawn-fcgi curl; do
	have $needed || { say "needs $needed" && exit 77; }
done
helper=abuser
become_ordinary
begun=$(date +%s)
make_scratch
start_responder operation
start_nginx operation

# expect STATUS PATH [ARGUMENT...]: writes the body to body, and the headers to headers.
expect()
{
	status=$1
	path=$2
	shift 2
	: >body
	got=$(printf 'header = "Authorization: Bearer %s"\n' "$token" |
		curl --config - -sS --max-time 120 --path-as-is -D headers -o body \
			-w '%{http_code}' "$@" "$base$path" 2>&1)
	[ "$got" = "$status" ] || fail "$path: $got, not $status: $(head -c 300 body)"
}

# sample NAME: prints the value of a sample on the page in `page`.
sample()
{
	awk -v name="$1" '$1 == name { print $2 }' page
}

expect 200 /healthz
expect 200 /readyz
[ "$(cat body)" = '{"status":"ready"}' ] || fail "/readyz: $(cat body)"
expect 405 /readyz -d '{}'

# The files that show the memory of a process that leaves no core and cannot be traced belong to root.
# (The leak checker of AddressSanitizer needs access to the process.)
if ! grep -q __asan_init "$program"; then
	[ "$(stat -c %u "/proc/$(cat operation.responder)/mem")" = 0 ] || fail 'the process may dump core'
fi

# The counters.
expect 200 /v2/templates -d '{"name":"one","roles":{"host":{}}}'
expect 200 /v2/templates -d '{"name":"two"}'
expect 200 /v2/templates
expect 400 '/v2/templates?limit=1'
expect 404 /v2/token -d '{"code":"abc-defg-hij"}'
expect 404 /nowhere
expect 200 /metrics
mv body page
grep -qi '^Content-Type: text/plain; version=0.0.4; charset=utf-8' headers ||
	fail "the content type: $(cat headers)"
templates='route="/v2/templates"'
while read -r name value; do
	[ "$(sample "$name")" = "$value" ] || fail "$name is $(sample "$name"), not $value"
done <<END
anteroom_requests_total{method="POST",$templates,status="200"} 2
anteroom_requests_total{method="GET",$templates,status="200"} 1
anteroom_requests_total{method="GET",$templates,status="400"} 1
anteroom_requests_total{method="POST",route="/v2/token",status="404"} 1
anteroom_requests_total{method="",route="",status="404"} 1
anteroom_request_duration_seconds_count{method="POST",$templates} 2
anteroom_request_duration_seconds_bucket{method="POST",$templates,le="+Inf"} 2
anteroom_code_misses_total 1
anteroom_code_misses_per_minute 1
anteroom_tokens_remembered 1
anteroom_store_writable 1
anteroom_files_damaged 0
anteroom_checksum_failures_total 0
END
# Two templates and, after some time, the figures of the account.
case $(sample anteroom_transactions_total) in
2 | 3) ;;
*) fail "anteroom_transactions_total is $(sample anteroom_transactions_total)" ;;
esac
[ "$(sample anteroom_journal_sync_duration_seconds_count)" -ge 1 ] || fail 'no sync was counted'
[ "$(sample anteroom_overlay_bytes)" -gt 0 ] || fail 'the overlay is empty'
grep -q "$token" page && fail 'a token is on the page'

# The version, the start, the true size on the disk, and the time of the last backup.
version=$("$program" --version | head -n 1 | sed 's/.* //')
[ "$(sample "anteroom_build_info{version=\"$version\"}")" = 1 ] || fail "the version is not $version"
started=$(sample anteroom_start_time_seconds)
[ "$started" -le "$(date +%s)" ] && [ "$started" -ge "$begun" ] || fail "it started at $started"
[ -z "$(sample anteroom_backup_time_seconds)" ] || fail 'there was no backup'
"$program" backup operation copy 2>backup.log || fail "backup: $(cat backup.log)"
size_is_told()
{
	curl -sS -o page "$base/metrics" || return 1
	[ "$(sample anteroom_store_disk_bytes)" = \
		"$(find operation/store -type f -printf '%s\n' | awk '{ n += $1 } END { print n }')" ]
}
tries=0
until size_is_told; do
	tries=$((tries + 1))
	[ $tries -lt 100 ] || fail "the size is not $(sample anteroom_store_disk_bytes)"
	sleep 0.05
done
[ "$(sample anteroom_backup_time_seconds)" -ge "$started" ] || fail 'the backup is not noticed'
[ ! -e copy/store/backup.mark ] || fail 'the copy has the mark of its origin'

if have promtool; then
	promtool check metrics <page >promtool.log 2>&1 || fail "promtool: $(cat promtool.log)"
	[ ! -s promtool.log ] || fail "promtool: $(cat promtool.log)"
	say 'promtool has read the page.'
fi

# Not from other addresses, and not with another spelling of the path. (In the installed site they are
# not part of the public server: tests/scripts/site.sh.)
for path in /healthz /readyz /metrics '/metrics?x' /%6detrics; do
	expect 403 "$path" --interface 127.0.0.2
	[ "$(cat body)" = '{"code":403,"message":"Forbidden"}' ] || fail "$path: $(cat body)"
done
for path in /metrics/ //metrics /./metrics /v2/../metrics '/metrics;' /metrics%2F; do
	got=$(curl -sS --max-time 120 --path-as-is --interface 127.0.0.2 -o body \
		-w '%{http_code}' "$base$path")
	[ "$got" = 403 ] || [ "$got" = 404 ] || fail "$path: $got"
done

# The request ID of a failure is in the response, in nginx's log and in the service log.
expect 404 /v2/templates/000000000000000000000000 -H 'X-Request-Id: watched.1'
# nginx logs its own errors in another format; the ordinary format shows no code.
head -c 300000 /dev/zero | tr '\0' x >large
expect 413 /v2/rooms --data-binary @large
expect 404 /v2/room-codes/code/abc-defg-hij
expect 404 /v2/join/summer-party
for path in /v2/livekit/summer-party /v2/livekit//summer-party /v2//livekit/summer-party; do
	expect 404 "$path" -d '{}'
done
expect 200 '/v2/rooms?name=abc-defg-hij'
# Nothing behind /record/, /live/ and /watch/ is logged.
for path in /record/summer-party /record//summer-party '/record/?order=summer-party' \
	/watch/summer-party /watch//summer-party /w%61tch/summer-party /live/summer-party/live.m3u8; do
	expect 404 "$path"
done
# Nor does the error log, whatever goes wrong: a body that is too large, no process behind the socket, no
# socket.
code_paths='/v2/room-codes/code/abc-defg-hij
/v2/join/abc-defg-hij
/v2/join/abc-defg-hij/
/v2/livekit/abc-defg-hij
/v2/livekit//abc-defg-hij
/v2//livekit/abc-defg-hij
/v2/%72oom-codes/code/abc-defg-hij
/v2/room-codes/room/000000000000000000000000?start=abc-defg-hij'
for path in $code_paths; do
	expect 413 "$path" --data-binary @large
	expect 413 "$path" --data-binary @large -H 'Transfer-Encoding: chunked'
done
# The URL of the page that someone joins from may contain the code.
page='Referer: https://app.example/abc-defg-hij'
for path in /v2/token /v2/token/; do expect 413 "$path" -H "$page" --data-binary @large; done
end TERM operation.responder
for path in $code_paths /v2/templates; do expect 502 "$path"; done
for path in /v2/token /v2/token/; do expect 502 "$path" -H "$page" -d '{}'; done
mv operation.sock moved
for path in $code_paths; do expect 502 "$path"; done
rm moved
end QUIT nginx-operation/nginx.pid
grep -q 'request: "GET /v2/templates ' nginx-operation/error.log ||
	fail "nginx does not log the error: $(cat nginx-operation/error.log)"
grep abc-defg-hij nginx-operation/error.log && fail 'nginx logs codes with its errors'
grep -q ' POST /v2/rooms 413 ' nginx-operation/access.log ||
	fail "the log of nginx's own errors: $(cat nginx-operation/access.log)"
for path in /v2/room-codes/code /v2/join; do
	grep -q " GET $path/\.\.\. 404 " nginx-operation/access.log ||
		fail "the log of the responder's errors: $(cat nginx-operation/access.log)"
done
[ "$(grep -cE ' POST /v2/?/livekit/\.\.\. 404 ' nginx-operation/access.log)" = 3 ] ||
	fail "the log of LiveKit's token endpoint: $(cat nginx-operation/access.log)"
[ "$(grep -c ' GET /record/\.\.\. 404 ' nginx-operation/access.log)" = 3 ] ||
	fail "the log of the recorder's page: $(cat nginx-operation/access.log)"
[ "$(grep -cE ' GET /(watch|w%61tch|live)/\.\.\. 404 ' nginx-operation/access.log)" = 4 ] ||
	fail "the log of live streams: $(cat nginx-operation/access.log)"
grep -E 'abc-defg-hij|summer-party' nginx-operation/access.log && fail 'nginx logs codes'
grep -q ' 404 .* watched.1$' nginx-operation/access.log || fail 'nginx does not log the request id'
grep -qE ' /(healthz|readyz|metrics) 200 ' nginx-operation/access.log && fail 'scrapes are logged'
end_all

# One line per request with --access-log. The process makes itself untraceable, and an unprivileged
# tracer cannot read names in such a process, so the tracer suppresses that one system call.
# ThreadSanitizer opens files to find the names of what it must suppress.
rm -f operation.sock operation/store/lock
traced=
if ldd "$program" | grep -q libtsan; then
	say 'which files are opened is looked at in other builds: ThreadSanitizer opens some'
elif have strace && strace -f -o /dev/null -e inject=prctl:retval=0 true 2>/dev/null; then
	traced='strace -f -qq -o trace -e trace=%file,connect,prctl -e inject=prctl:retval=0'
else
	say 'left out: the opened files (strace is not installed or cannot trace)'
fi
# shellcheck disable=SC2086
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 $traced "$program" serve --data "$scratch/operation" --listen ./operation.sock --access-log \
	2>operation.log &
tries=0
# The file exists, but is empty, before its number is written.
until [ -S operation.sock ] && responder=$(cat operation/store/lock 2>/dev/null) && [ -n "$responder" ]; do
	tries=$((tries + 1))
	[ $tries -lt 2000 ] || fail 'it does not start'
	sleep 0.05
done
echo "$responder" >operation.responder
note "$scratch/operation.responder" TERM
start_nginx operation
expect 200 /healthz
: >>trace
seen=$(wc -l <trace)
expect 404 /v2/templates/000000000000000000000000 -H 'X-Request-Id: watched.2'
expect 404 /v2/room-codes/code/abc-defg-hij
expect 404 '/no%0Ainfo%20where="x"%0D' -H 'X-Request-Id: with a blank'
expect 404 /v2/token -d '{"code":"abc-defg-hij"}'
expect 404 /v2/join/summer-party
expect 404 /v2/livekit/summer-party -d '{}'
expect 404 /v2/livekit//summer-party -d '{}'
expect 404 /v2//livekit/summer-party -d '{}'
# Invalid URLs.
expect 404 /v2/room-code/abc-defg-hij
expect 404 //v2/room-codes/code/abc-defg-hij
expect 404 /v2/templates/xabc-defg-hijx
expect 404 /v2/rooms/abc%2ddefg-hij
expect 404 /v2/rooms/%61bc-defg%2Dhij
expect 404 '/v2/room-codes/abc-defg-hij?x'
expect 404 "/v2/rooms/$token"
expect 404 "/v2/rooms/%65yJ${token#eyJ}"
roles=$(i=0; while [ $i -lt 100 ]; do printf '%s"r%s":{}' "${comma-}" $i && comma=, && i=$((i + 1)); done)
printf '{"roles":{%s}}' "$roles" >many
# make_large N: creates N templates of about 110 KB.
make_large()
{
	made=$(printf 'header = "Authorization: Bearer %s"\n' "$token" |
		curl --config - -sS --max-time 600 -o /dev/null -w '%{http_code}\n' \
			--data-binary @many "$base/v2/templates?[1-$1]" | grep -c '^200$')
	[ "$made" = "$1" ] || fail "$made of $1 large templates were created"
}
make_large 70
# About 8 MB, more than nginx keeps in memory, and nearly the maximum of a response.
expect 200 '/v2/templates?limit=100'
[ "$(wc -c <body)" -gt 7500000 ] && tail -c 40 body | grep -q '"last":"[0-9a-f]*"}$' ||
	fail 'a large response is incomplete'
# Of forty clients from one address that do not read, eight are rejected, and the responses to the others
# are in temporary files of at most 8 MB. Another address is served.
mkfifo hold
exec 4<>hold
: >abusers
"$(helper_path)" "$port" slow-readers 40 <hold >abusers 2>abuser.log 4>&- &
abuser=$!
say "$token" >&4
tries=0
until grep -q there abusers; do
	tries=$((tries + 1))
	[ $tries -lt 4000 ] || fail 'the slow clients do not connect'
	sleep 0.05
done
expect 200 '/v2/templates?limit=100'
# Prints the sizes of the temporary files that nginx's workers have open; these files no longer have
# names.
nginx=$(cat nginx-operation/nginx.pid)
files=$(for worker in $(cat "/proc/$nginx/task/$nginx/children"); do
	for file in "/proc/$worker/fd"/*; do
		case $(readlink "$file") in
		*/temporary/*) stat -L -c %s "$file" 2>/dev/null ;;
		esac
	done
done)
exec 4>&-
wait $abuser || fail 'the slow clients failed'
[ "$(sed -n 's/^slow-readers//p' abusers)" = ' 200:32 429:8' ] || fail "the slow clients: $(cat abusers)"
[ "$(say "$files" | grep -c .)" -ge 20 ] || fail "the answers are not in temporary files: $files"
say "$files" | awk '{ if ($1 > 8 * 1024 * 1024) exit 1 }' || fail "a temporary file is too large: $files"
# About 25 MB, so much that an overlay is written to a file. A page of a hundred would be 11 MB.
make_large 130
expect 413 '/v2/templates?limit=100'
grep -q '"message":"Too much for one request","details":\["[^"]*limit[^"]*"\]' body || fail "$(cat body)"
end_all
wait
time='[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z'
grep -qE "^$time"' info request method=GET path=/v2/templates/0{24} status=404 .*request_id=watched\.2 account=' \
	operation.log || fail "the access log: $(cat operation.log)"
grep -q ' path=/v2/join/ status=404 ' operation.log || fail 'looking up a code is not logged'
[ "$(grep -cE ' path=/v2/?/livekit/ status=404 ' operation.log)" = 3 ] ||
	fail "LiveKit's token endpoint is not logged"
grep -q ' path=/v2/room-code/ status=404 ' operation.log || fail 'an address that is wrong is not logged'
[ "$(grep -c ' path=/v2/rooms/ status=404 ' operation.log)" = 4 ] &&
	[ "$(grep -c ' GET /v2/rooms/\.\.\. 404 ' nginx-operation/access.log)" = 4 ] ||
	fail 'paths that contain secrets are not logged up to the secret'
# One line per event: the time, a level, its name, and key=value.
expected="^$time"' (error|warning|notice|info) [a-z_]+( [a-z_]+=("([^"\\]|\\.)*"|[^ "=]+))*$'
grep -vE "$expected" operation.log && fail 'a line of the log is not an event'

# The secrets: the tokens, the secrets of the accounts (43 characters each), and room codes.
secret=$(sed -n 's/.*"secret":"\([^"]*\)".*/\1/p' operation/accounts.json)
[ ${#secret} = 43 ] || fail 'there is no secret to search for'
for secret in "$token" "${token#eyJ}" "$secret" defg; do
	grep -qF -e "$secret" ./*.log nginx-operation/*.log && fail "a secret is in a log: $secret"
done
readable=$(find operation -perm /077)
[ -z "$readable" ] || fail "other users may use $readable"
if [ -n "$traced" ]; then
	# System calls that name files, except for the socket, which is removed at the end, and except
	# those of the sender processes, which keep exiting because the tracer blocks it.
	grep -E 'webhook-sender|media-sender' trace | sed 's/ .*/ /; s/^/^/' | sort -u >senders
	tail -n +$((seen + 1)) trace | grep -v -f senders | grep '"..*"' | grep -v 'prctl(' |
		grep -vF '"./operation.sock"' >named
	grep -q '/store/stack-' named || fail 'no overlay was written to a file'
	grep -vF "\"$scratch/operation/" named && fail 'it uses files outside its data directory'
	say 'After the start nothing outside the data directory was used.'
fi

# A file that the scrub finds damaged is logged and counted, and the service is not ready.
damaged=$(find operation/store -name 'stack-*.gdbm' -size +400k | head -n 1)
[ -n "$damaged" ] || fail "no file to damage: $(ls -l operation/store)"
printf 'damaged' | dd of="$damaged" bs=1 seek=200000 conv=notrunc 2>/dev/null || fail 'dd'
"$program" serve --data "$scratch/operation" --listen ./operation.sock 2>operation.log &
echo $! >operation.responder
note "$scratch/operation.responder" TERM
start_nginx operation
tries=0
until [ "$(curl -sS --max-time 120 -o body -w '%{http_code}' "$base/readyz")" = 503 ]; do
	tries=$((tries + 1))
	[ $tries -lt 4000 ] || fail "the damage is not noticed: $(cat body)"
	sleep 0.05
done
[ "$(cat body)" = '{"code":503,"message":"A file of the store is damaged"}' ] || fail "$(cat body)"
expect 200 /healthz
expect 200 /metrics
mv body page
[ "$(sample anteroom_files_damaged)" = 1 ] || fail 'the damaged file is not counted'
[ "$(sample anteroom_checksum_failures_total)" -ge 1 ] || fail 'the checksum is not counted'
[ "$(sample anteroom_files)" -ge 1 ] || fail 'no files are counted'
[ "$(sample anteroom_files_merged_total)" = 0 ] || fail 'a merge is counted'
grep -q " error store_file_damaged .*file=${damaged##*/}" operation.log ||
	fail "the damage is not in the log: $(cat operation.log)"
end_all
have promtool || { say 'promtool is not installed: the page was not parsed' && exit 77; }
exit 0
