#!/bin/sh
# The systemd units: systemd accepts them, and the service is as restricted as promised (an exposure of
# at most 3.0). Nothing is started: systemd-analyze only reads files.
set -u
test=tests/scripts/units.sh
source=$(cd "${SOURCE_DIR:-$(dirname "$0")/../..}" && pwd) || exit 1
command -v systemd-analyze >/dev/null || {
	echo 'needs systemd-analyze'
	exit 77
}
# If systemd was never started, systemd-analyze of Debian 13 would create this directory.
[ -d /run/systemd ] || [ "$(id -u)" = 0 ] || {
	echo 'needs /run/systemd'
	exit 77
}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM HUP

fail()
{
	echo "$test: $*" >&2
	exit 1
}

# The program in the unit must exist for the verification.
mkdir "$scratch/bin" && ln -s "$(command -v env)" "$scratch/bin/anteroom" &&
	cp "$source/packaging/systemd/anteroom.socket" "$scratch" || exit 1
for unit in anteroom.service anteroom-recorder.service recordings.conf; do
	sed "s|@bindir@|$scratch/bin|" "$source/packaging/systemd/$unit.in" >"$scratch/$unit" || exit 1
done
cd "$scratch" || exit 1

complaints=$(systemd-analyze verify --man=no --recursive-errors=no ./anteroom.service \
	./anteroom.socket 2>&1) || fail "$complaints"
[ -z "$complaints" ] || fail "$complaints"
exposure=$(systemd-analyze security --offline=true --threshold=30 ./anteroom.service 2>&1) ||
	fail "$exposure"
echo "$exposure" | tail -n 1
# Chromium's sandbox needs namespaces, and its pages the network.
complaints=$(systemd-analyze verify --man=no --recursive-errors=no ./anteroom-recorder.service 2>&1) ||
	fail "$complaints"
[ -z "$complaints" ] || fail "$complaints"
exposure=$(systemd-analyze security --offline=true --threshold=30 ./anteroom-recorder.service 2>&1) ||
	fail "$exposure"
echo "$exposure" | tail -n 1
mkdir anteroom.service.d && mv recordings.conf anteroom.service.d || exit 1
complaints=$(SYSTEMD_UNIT_PATH="$scratch:" systemd-analyze verify --man=no --recursive-errors=no \
	./anteroom.service 2>&1) || fail "with recordings: $complaints"
[ -z "$complaints" ] || fail "with recordings: $complaints"
rm -r anteroom.service.d
# With the database of several machines, it needs the network and nothing else.
mkdir anteroom.service.d && sed "s|/usr/bin|$scratch/bin|" \
	"$source/packaging/examples/three-machines/database.conf" >anteroom.service.d/database.conf || exit 1
complaints=$(SYSTEMD_UNIT_PATH="$scratch:" systemd-analyze verify --man=no --recursive-errors=no \
	./anteroom.service 2>&1) || fail "with the drop-in: $complaints"
[ -z "$complaints" ] || fail "with the drop-in: $complaints"
systemd-analyze security --offline=true --threshold=1 ./anteroom.service >/dev/null 2>&1 &&
	fail 'any exposure is accepted'

if command -v systemd-sysusers >/dev/null; then
	{
		mkdir -p root/etc
		systemd-sysusers --root="$scratch/root" \
			--replace=/usr/lib/sysusers.d/anteroom.conf \
			"$source/packaging/systemd/sysusers.d/anteroom.conf"
	} >sysusers.log 2>&1 || fail "sysusers: $(cat sysusers.log)"
	grep -q '^anteroom:.*:/var/lib/anteroom:' root/etc/passwd || fail 'no user anteroom'
	{
		systemd-sysusers --root="$scratch/root" \
			--replace=/usr/lib/sysusers.d/anteroom-recorder.conf \
			"$source/packaging/systemd/sysusers.d/anteroom-recorder.conf"
	} >sysusers.log 2>&1 || fail "sysusers: $(cat sysusers.log)"
	grep -q '^anteroom-recordings:.*anteroom.*anteroom-recorder\|^anteroom-recordings:.*anteroom-recorder.*anteroom' \
		root/etc/group || fail 'no group anteroom-recordings with both users'
fi
