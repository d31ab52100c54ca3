# Functions that nginx/quickstart and tests/run source with `.`: find missing packages, install them, and
# configure a build directory. The caller sets `program` (its name, for messages) and works in the top
# folder of the source tree.
# shellcheck shell=sh

# Debian installs nginx there, and not every user's PATH has it.
PATH=$PATH:/usr/sbin:/sbin
export PATH

missing=
wanted=

say()
{
	printf '%s\n' "$*"
}

die()
{
	printf '%s: %s\n' "${program:?}" "$*" >&2
	exit 1
}

# need command|module|header|file NAME PACKAGE: adds the Debian package to missing if NAME does not exist.
need()
{
	case $1 in
	command) command -v "$2" >/dev/null ;;
	module) pkg-config --exists "$2" 2>/dev/null ;;
	header) printf '#include <%s>\n' "$2" | cc -E - >/dev/null 2>&1 ;;
	file) [ -e "$2" ] ;;
	esac || case " $missing " in
	*" $3 "*) ;;
	*) missing="$missing $3" ;;
	esac
}

# want KIND NAME PACKAGE: adds the package to wanted if NAME, which is optional, does not exist.
want()
{
	needed=$missing
	missing=$wanted
	need "$@"
	wanted=$missing
	missing=$needed
}

need_for_building()
{
	need command cc gcc
	need header stdio.h libc6-dev
	need command make make
	need command pkg-config pkg-config
	need module fcgi libfcgi-dev
	need module jansson libjansson-dev
	need header gdbm.h libgdbm-dev
	need module libpcre2-8 libpcre2-dev
	need module libcrypto libssl-dev
	need header unicase.h libunistring-dev
	need module libcurl libcurl4-openssl-dev
	need module libqrencode libqrencode-dev
	need module librtmp librtmp-dev
	test -f configure || need_autotools
}

need_autotools()
{
	need command autoconf autoconf
	need command automake automake
}

need_for_running()
{
	need command nginx nginx-light
	need command curl curl
}

# with_progress LABEL LOG COMMAND...: runs the command, whose output goes to the file LOG, and shows that it works: on
# a terminal by one line that moves, else by a line now and then. Returns the status of the command.
with_progress()
{
	progress_label=$1
	progress_log=$2
	shift 2
	[ -t 1 ] || say "$progress_label ..."
	show_progress &
	progress=$!
	"$@" >"$progress_log" 2>&1 </dev/null
	progress_status=$?
	# A command that fails at once can end before the subshell has taken off the traps of this shell: it would take
	# another signal for one of theirs, and go on.
	kill -KILL $progress 2>/dev/null
	wait $progress 2>/dev/null
	[ ! -t 1 ] || printf '\r\033[K'
	return $progress_status
}

# Shows each second, or without a terminal every progress_every seconds, for how long it has been working, and the
# last line of the log. It ends with the shell that started it.
progress_every=20
show_progress()
{
	seconds=0
	columns=$({ stty size </dev/tty; } 2>/dev/null | cut -d ' ' -f 2)
	# Some terminals do not know.
	[ "${columns:-0}" -ge 20 ] || columns=80
	while kill -0 $$ 2>/dev/null; do
		now=$(tail -c 1000 "$progress_log" 2>/dev/null | tr '\r' '\n' | tr -cd '[:print:]\n' | grep . | tail -n 1)
		if [ -t 1 ]; then
			printf '\r\033[K%s' "$(say "$progress_label ... $seconds s  $now" | cut -c "1-$((columns - 1))")"
		elif [ $seconds -gt 0 ] && [ $((seconds % progress_every)) = 0 ]; then
			say "$progress_label ... $seconds s  $now"
		fi
		sleep 1 >/dev/null 2>&1
		seconds=$((seconds + 1))
	done
}

# True if this user can become root; sets as_root.
find_root()
{
	as_root=
	if [ "$(id -u)" != 0 ]; then
		command -v sudo >/dev/null || return 1
		as_root='sudo -n'
		sudo -n true 2>/dev/null || as_root=sudo
		[ "$as_root" != sudo ] || [ -t 0 ] || return 1
	fi
}

# apt_install needed|wanted PACKAGE...: installs the packages. False if that fails, with the reason in
# apt_error.
apt_install()
{
	apt_log=$(mktemp) || exit 1
	# If it asks for a password, it does so before the line that moves.
	[ -z "$as_root" ] || $as_root true
	with_progress "Running apt-get" "$apt_log" $as_root sh -c "$install_script" "$@"
	apt_status=$?
	apt_error=$(grep -E '^(E|dpkg): ' "$apt_log" | head -n 1)
	rm -f "$apt_log"
	return $apt_status
}

# Installs the packages in missing, or exits with one line that says what to do.
install_missing()
{
	test -n "$missing" || return 0
	command -v apt-get >/dev/null ||
		die "missing Debian packages:$missing"
	find_root || die "missing packages; as root, run: apt-get install$missing"
	say "Installing missing packages with apt-get:$missing"
	# shellcheck disable=SC2086
	apt_install needed $missing ||
		die "apt-get cannot install$missing: ${apt_error:-no reason given}"
	missing=
}

# Installs the packages in wanted if this user can and Debian has them, or prints which are missing.
install_wanted()
{
	test -n "$wanted" || return 0
	# These packages are not worth asking for a password.
	if ! command -v apt-get >/dev/null || ! find_root || [ "$as_root" = sudo ]; then
		say "Some tests will be skipped; to run them, as root: apt-get install$wanted"
		return
	fi
	say "Installing packages for tests with apt-get:$wanted"
	# shellcheck disable=SC2086
	apt_install wanted $wanted || say "apt-get cannot install$wanted: ${apt_error:-no reason given}"
	wanted=
}

# Runs as root. The arguments are the packages, after the word needed or wanted: wanted packages that this
# release of Debian does not have are skipped. The policy prevents Debian from starting a new nginx on
# port 80; an existing nginx is not changed.
# shellcheck disable=SC2016
install_script='
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
	trap "rm -f $policy" EXIT
	trap "exit 1" HUP INT TERM
	printf "#!/bin/sh\nexit 101\n" >$policy && chmod 755 $policy
fi
# The PostgreSQL package would create and start a cluster.
cluster=/etc/postgresql-common/createcluster.conf
case " $* " in
*" postgresql "*)
	[ -e $cluster ] || { mkdir -p ${cluster%/*} && echo "create_main_cluster = false" >$cluster; }
	;;
esac
export DEBIAN_FRONTEND=noninteractive
apt-get -q -o DPkg::Lock::Timeout=300 update
if [ $0 = wanted ]; then
	for package; do
		shift
		! apt-cache show "$package" >/dev/null 2>&1 || set -- "$@" "$package"
	done
	[ $# -gt 0 ] || exit 0
fi
apt-get -q -y -o DPkg::Lock::Timeout=300 -o Dpkg::Options::=--force-confold \
	--no-install-recommends install "$@"
'

# configure_in DIRECTORY ARGUMENT...: configures DIRECTORY, below the source tree or an absolute path, as a
# build directory, unless it is one already. Writes the output of the tools to standard output.
configure_in()
{
	directory=$1
	shift
	mkdir -p "$directory" || return 1
	test -f "$directory/Makefile" && return 0
	if command -v automake >/dev/null; then
		# Two processes must not write the same files.
		(flock 9 && autoreconf -i) 2>&1 9<configure.ac || return 1
	fi
	# With a relative path, the tree can be moved.
	case $directory in
	/*) to_source=$PWD ;;
	*) to_source=$(printf '%s\n' "$directory" | sed 's|[^/][^/]*|..|g') ;;
	esac
	(cd "$directory" && "$to_source/configure" "$@") 2>&1
}
