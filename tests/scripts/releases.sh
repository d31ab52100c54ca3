#!/bin/sh
# Runs the commands of README on bare Debian releases: creates a minimal system of each with debootstrap, copies
# the source there, and runs `sh tests/run` and `sh tests/scripts/quickstart.sh` in it as root. Needs root,
# debootstrap and Debian's mirror, and takes about ten minutes per release.
#
#     sh tests/scripts/releases.sh [RELEASE...]      bookworm and trixie
#
# Set MIRROR in the environment to use another mirror than Debian's own.
set -u
cd "${SOURCE_DIR:-$(dirname "$0")/../..}" || exit 1
[ "$(id -u)" = 0 ] || { echo "tests/scripts/releases.sh: needs root" && exit 77; }
for needed in debootstrap unshare pivot_root git; do
	command -v $needed >/dev/null || { echo "tests/scripts/releases.sh: needs $needed" && exit 77; }
done
[ $# -gt 0 ] || set -- bookworm trixie
scratch=$(mktemp -d) || exit 1
trap 'for release in '"$*"'; do
		umount "$scratch/$release/dev" "$scratch/$release/proc" 2>/dev/null
	done
	rm -rf --one-file-system "$scratch"' EXIT
trap 'exit 1' INT TERM HUP

# inside RELEASE COMMAND...: not with chroot, in which the kernel creates no user namespaces: the sandbox of Chromium
# needs them.
# shellcheck disable=SC2016
inside()
{
	root=$scratch/$1
	shift
	timeout 3000 unshare --mount --propagation private sh -c '
		mount --rbind "$1" "$1" && cd "$1" && pivot_root . mnt && cd /source && umount -l /mnt && shift &&
			exec env -i HOME=/root LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"' inside "$root" "$@"
}

failed=
for release; do
	debootstrap --variant=minbase "$release" "$scratch/$release" \
		"${MIRROR:-http://deb.debian.org/debian}" >"$scratch/log" 2>&1 || {
		tail -n 3 "$scratch/log"
		echo "tests/scripts/releases.sh: cannot create a system of $release here"
		exit 77
	}
	mount -t proc proc "$scratch/$release/proc" && mount --bind /dev "$scratch/$release/dev" || exit 1
	cp /etc/resolv.conf "$scratch/$release/etc/" || exit 1
	mkdir "$scratch/$release/source" || exit 1
	git ls-files -z | tar --null -T - -c | tar -x -C "$scratch/$release/source" || exit 1
	for command in tests/run tests/scripts/quickstart.sh; do
		echo "---- $release: sh $command"
		inside "$release" sh $command || failed="$failed $release:$command"
	done
done
[ -z "$failed" ] || { echo "tests/scripts/releases.sh: failed:$failed" && exit 1; }
