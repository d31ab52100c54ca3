#!/bin/sh
# The files for monitoring: promtool runs the alert rules and their cases, the dashboard has the form
# that Grafana expects, and a service has every metric that they name. Each check also gets wrong input,
# which it must reject.
set -u
test=tests/scripts/monitoring.sh
. "${SOURCE_DIR:-$(dirname "$0")/../..}/tests/tools/servers.sh"
. "$source/tests/tools/drawn.sh"
for needed in nginx spawn-fcgi curl jq openssl; do
	have $needed || { say "needs $needed" && exit 77; }
done
beside=tests/data/alerts.yml
become_ordinary
make_scratch
cp "$source"/packaging/examples/monitoring/* "$scratch" || exit 1

# ---- the dashboard's form ----

# The part of Grafana's format that the dashboard uses. Prints the errors.
cat >form.jq <<'END'
def source: .datasource == {type: "prometheus", uid: "${datasource}"};
def overlap($a; $b): $a.x < $b.x + $b.w and $b.x < $a.x + $a.w and
	$a.y < $b.y + $b.h and $b.y < $a.y + $a.h;
def wrong:
	if .gridPos | (.x | type) == "number" and .x >= 0 and .w > 0 and .x + .w <= 24 and .h > 0 and .y >= 0
		then empty else "is not on the grid" end,
	if (.title // "") == "" then "has no title" else empty end,
	if .type == "row" then empty
	elif (.type | IN("timeseries", "stat") | not) then "has the type \(.type)"
	else
		if source and (.targets | length > 0 and all(source)) then empty else "has another data source" end,
		if (.description // "") == "" then "has no description" else empty end,
		if .targets | all((.expr | type) == "string" and (.legendFormat | type) == "string") and
			(map(.refId) | length == (unique | length)) then empty else "has wrong targets" end,
		if .fieldConfig | (.overrides | type) == "array" and (.defaults.unit | type) == "string" and
			.defaults.thresholds.mode == "absolute" and
			.defaults.thresholds.steps[0].value == null then empty else "has wrong fields" end
	end;
[
	if .title == "Anteroom" and .uid == "anteroom" and .id == null and
		(.schemaVersion | type == "number" and . >= 36) and
		(.panels | type) == "array" and .time.from and .time.to then empty else "the head is wrong" end,
	if [.templating.list[] | [.name, .type]] == [["datasource", "datasource"], ["instance", "query"]]
		then empty else "the variables are wrong" end,
	if .panels | map(.id) | length == (unique | length) then empty else "ids are not unique" end,
	(.panels[] | "panel \(.id) \(.title): \(wrong)"),
	([.panels[] | {id, gridPos}] | combinations(2) | select(.[0].id < .[1].id)
		| select(overlap(.[0].gridPos; .[1].gridPos)) | "panels \(.[0].id) and \(.[1].id) overlap")
] | .[]
END

form_of()
{
	jq -r -f form.jq "$1" 2>&1
}

wrong=$(form_of dashboard.json)
[ -z "$wrong" ] || fail "the dashboard: $wrong"
while read -r change; do
	jq "$change" dashboard.json >changed.json || fail "jq: $change"
	[ -n "$(form_of changed.json)" ] || fail "not noticed in the dashboard: $change"
done <<'END'
.schemaVersion = "37"
.panels[1].gridPos.x = 20
.panels[1].id = .panels[2].id
.panels[1].type = "singlestat"
.panels[2].gridPos = .panels[1].gridPos
.panels[6].targets[0].datasource.uid = "P1"
.panels[6].targets += [.panels[6].targets[0]]
del(.panels[1].title)
del(.panels[1].fieldConfig.defaults.unit)
del(.templating.list[1])
END

# ---- the metrics ----

start_responder monitoring
start_nginx monitoring
curl -sS -o body -H "Authorization: Bearer $token" "$base/v2/templates" || fail 'a request'
curl -sS -o backend -H "Authorization: Bearer $token" "$base/v2/backends" \
	-d '{"type":"livekit","name":"here","url":"wss://127.0.0.1:1","config":{"api_key":"key","api_secret":"'"$token"'"}}'
events=$base/v2/backends/$(jq -r .id backend)/events
room='{"sid":"RM_1","name":"6925c84100000000000000b1"}'
# STATUS SECRET BODY
while read -r status secret body; do
	[ "$(say "$body" | tell key "$secret" "$events")" = "$status" ] || fail "an event: $(cat told.answer)"
done <<END
401 wrong {"event":"room_finished","room":$room}
401 wrong {}
204 $token {"event":"track_published","room":$room}
204 $token {"event":"room_finished","room":$room}
END
# The servers of a pool are counted soon.
curl -sS -o changed -H "Authorization: Bearer $token" -X PATCH "$base/v2/backends/$(jq -r .id backend)" -d '{"pool":"all"}'
waited=0
until curl -sS --fail -o page "$base/metrics" && grep -q '^anteroom_backend_rooms{' page; do
	waited=$((waited + 1))
	[ $waited -lt 200 ] || fail "no rooms of a pool: $(grep anteroom_backend page)"
	sleep 0.1
done
for counted in 'refused"} 2' 'ignored"} 1' 'taken"} 1' 'dropped"} 0'; do
	grep -qF "anteroom_live_events_total{result=\"$counted" page || fail "not $counted: $(grep anteroom_live page)"
done

# metrics_of FILE: prints the metrics that it names, as in the TYPE lines of the metrics page.
metrics_of()
{
	grep -oE 'anteroom_[a-z_]+' "$1" | sed -E 's/_(bucket|sum|count)$//' | sort -u
}

# unknown_in FILE: prints the metrics that are not on the page.
unknown_in()
{
	metrics_of "$1" | while read -r metric; do
		grep -q "^# TYPE $metric " page || say "$metric"
	done
}

for file in dashboard.json alerts.yml; do
	[ "$(metrics_of $file | grep -c .)" -ge 6 ] || fail "$file names no metrics"
	unknown=$(unknown_in $file)
	[ -z "$unknown" ] || fail "$file names metrics that are not on the page: $unknown"
	sed 's/anteroom_store_writable/anteroom_store_writeable/' $file >changed
	[ -n "$(unknown_in changed)" ] || fail "an unknown metric in $file is not noticed"
done
# The dashboard shows all metrics.
sed -n 's/^# TYPE \([^ ]*\) .*/\1/p' page | sort >there
metrics_of dashboard.json | comm -13 - there >not.shown
[ ! -s not.shown ] || fail "the dashboard does not show $(cat not.shown)"
# The labels exist too.
jq -r '.panels[].targets[]?.expr' dashboard.json | grep -oE 'by \([a-z, ]+\)|[a-z]+=~' |
	sed 's/^by//; s/=~//' | tr -cs 'a-z' '\n' | grep . | sort -u | grep -vx instance |
	while read -r label; do
		grep -q "[{,]$label=\"" page || say "$label"
	done >unknown
[ ! -s unknown ] || fail "the dashboard names labels that are not on the page: $(cat unknown)"
end_all

# ---- the rules ----

have promtool || { say 'promtool is not installed: the rules were not run' && exit 77; }

check_with()
{
	promtool "$@" >promtool.log 2>&1
}

check_with check config prometheus.yml || fail "the configuration: $(cat promtool.log)"
check_with check rules alerts.yml || fail "the rules: $(cat promtool.log)"
grep -q '13 rules found' promtool.log || fail "not thirteen rules: $(cat promtool.log)"
cp "$source/tests/data/alerts.yml" cases.yml || exit 1
check_with test rules cases.yml || fail "the cases: $(cat promtool.log)"

# An alert that fires too early, too late or never fails its case.
mkdir changed.rules && cp cases.yml changed.rules || exit 1
drawn >changes <<'END'
s/for: 2m/for: 1m/
s/for: 2m/for: 20m/
s/ or absent.*//
s/for: 1m/for: 0s/
s/anteroom_store_writable == 0/anteroom_store_writable == 2/
s/ or anteroom_checksum_failures_total > 0//
s/anteroom_files_damaged > 0 or//
s/> 0.01/>= 0.01/
s/> 0.01/> 0.02/
s/> 24e6/>= 24e6/
s/anteroom_files > 48/anteroom_files > 49/
s/for: 10m/for: 5m/
s/for: 5m/for: 3m/
s/_per_minute > 100/_per_minute >= 100/
s/_per_minute > 100/_per_minute > 2000/
s/{state="down"} > 0/{state="down"} > 2/
s/{state="down"} > 0/ > 0/
s/refused|dropped/refused/
s/refused|dropped/dropped/
s/refused|dropped/refused|dropped|taken/
s/> 10$/> 9/
s/> 10$/> 100/
END
while read -r change; do
	sed "$change" alerts.yml >changed.rules/alerts.yml
	cmp -s alerts.yml changed.rules/alerts.yml && fail "changes nothing: $change"
	check_with test rules changed.rules/cases.yml && fail "the cases pass with $change"
done <changes

# Prometheus accepts the expressions of the dashboard.
{
	printf 'groups:\n- name: dashboard\n  rules:\n'
	# A JSON text is also a YAML text.
	# shellcheck disable=SC2016
	jq -r '[.panels[].targets[]?.expr | gsub("\\$__rate_interval"; "5m") | gsub("\\$instance"; ".*")]
		| to_entries[] | "  - record: shown_\(.key)\n    expr: \(.value | @json)"' dashboard.json
} >dashboard.yml
check_with check rules dashboard.yml || fail "the dashboard: $(cat promtool.log)"
sed 's/histogram_quantile(/histogram_quantile((/' dashboard.yml >changed.yml
check_with check rules changed.yml && fail 'promtool accepts any expression'
exit 0
