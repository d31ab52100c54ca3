# Functions of nginx/quickstart for the recorder of --record: look for the programs that it needs, get its key, run it.
#
# In the data directory, recordings/ has the recordings, recorder.key the key, and recorder.log the log.
# shellcheck shell=sh

check_record_options()
{
	[ $record = no ] || [ "$call$livekit_url" != no ] ||
		wrong_use '--record records calls; use it with --call or --with-livekit'
	[ $record = yes ] || [ -z "$record_options" ] || wrong_use '--record-option needs --record'
}

# Exits with what is missing.
plan_record()
{
	{ command -v chromium-headless-shell || command -v chromium; } >/dev/null ||
		die '--record needs Chromium; on Debian, as root: apt-get install chromium-headless-shell'
	command -v ffmpeg >/dev/null || die '--record needs ffmpeg; on Debian, as root: apt-get install ffmpeg'
}

# Makes the folder of the recordings, and a key for the recorder unless there is one. The folder has its mark before
# the service looks for it.
make_recorder()
{
	mkdir -p recordings || exit 1
	[ -s recordings/.anteroom ] || (set -C && od -An -v -N12 -tx1 /dev/urandom | tr -d ' ' >recordings/.anteroom) ||
		die "cannot write $data/recordings/.anteroom"
	stored recorder list 2>/dev/null | grep -q '[[:space:]]quickstart[[:space:]]' || rm -f recorder.key
	[ ! -s recorder.key ] || return 0
	stored recorder remove quickstart >/dev/null 2>&1
	rm -f recorder.key.new
	(set -C && stored recorder add quickstart >recorder.key.new 2>anteroom.problem) ||
		die "cannot add a recorder: $(cat anteroom.problem)"
	rm -f anteroom.problem
	mv -fT recorder.key.new recorder.key || exit 1
}

# Replaces this shell by the recorder, which may reach media servers on this machine, unless the arguments say
# otherwise.
recorder_in_place()
{
	set -- --media-allow 127.0.0.0/8,::1 "$@"
	become "$binary" record --url "$base" --key-file recorder.key --folder recordings "$@"
}

start_recorder()
{
	exec 7>recorder.lock
	flock -n 7 || exit 1
	(supervise recorder.lock ready recorder_ended "recorder_in_place $record_options" recorder.log) </dev/null \
		>>anteroom.log 2>&1 9>&- &
	exec 7>&-
}
