#!/bin/sh
# Carries out what README, README.Debian and anteroom-serve(8) tell administrators to do, on bare Debian
# systems that are booted with systemd: builds and installs the package, then tests the site, a first request,
# a certificate by ACME, backups, a restore and an upgrade under load, fail2ban, and removal. The commands are
# taken from the manual where it has them, so that the printed commands are the ones that run. The systems
# have a separate network without other machines. Needs root, debootstrap, systemd-nspawn and Debian's mirror,
# and takes about three minutes per release.
#
#     sh tests/scripts/installed.sh [RELEASE...]      bookworm and trixie
#
# Set MIRROR in the environment to use another mirror than Debian's own.
set -u
cd "${SOURCE_DIR:-$(dirname "$0")/../..}" || exit 1

say()
{
	printf '%s\n' "$*"
}

[ "$(id -u)" = 0 ] || { say "tests/scripts/installed.sh: needs root" && exit 77; }
for needed in debootstrap systemd-nspawn unshare nsenter chroot git; do
	command -v $needed >/dev/null || { say "tests/scripts/installed.sh: needs $needed" && exit 77; }
done
unshare --mount mount -t cgroup2 cgroup2 /mnt 2>/dev/null || {
	say "tests/scripts/installed.sh: needs cgroup2"
	exit 77
}
[ $# -gt 0 ] || set -- bookworm trixie
releases=$*
scratch=$(mktemp -d) || exit 1
name=anteroom-$$
trap 'clean_up' EXIT
trap 'exit 1' INT TERM HUP
nspawn=
booted=

clean_up()
{
	shut_down
	for system in $releases; do
		for root in "$scratch/$system" "$scratch/$system-build"; do
			umount "$root/dev" "$root/proc" 2>/dev/null
		done
	done
	rm -rf --one-file-system "$scratch"
}

# in_root NAME COMMAND...: runs the command in the directory of that name, which is not booted; its
# output goes to the log.
in_root()
{
	root=$scratch/$1
	shift
	mount -t proc proc "$root/proc" && mount --bind /dev "$root/dev" || exit 1
	timeout 900 chroot "$root" env -i HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
		PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@" </dev/null >"$scratch/log" 2>&1
	status=$?
	umount "$root/dev" "$root/proc" || exit 1
	return $status
}

# boot NAME: starts the system in the directory of that name, in a separate control group, and waits
# until it is up. Sets init to the pid of its first process in this system.
boot()
{
	booted=$1
	# The new system sees only control groups of version 2, whatever this machine has.
	unshare --mount --propagation private sh -c '
		umount -l -R /sys/fs/cgroup 2>/dev/null
		mount -t cgroup2 cgroup2 /sys/fs/cgroup && mkdir "/sys/fs/cgroup/$1" &&
			echo $$ >"/sys/fs/cgroup/$1/cgroup.procs" &&
			exec systemd-nspawn --quiet --boot --register=no --keep-unit --private-network \
				--console=pipe --resolv-conf=off --link-journal=no --machine="$1" --directory="$2"' \
		sh "$name-$1" "$scratch/$1" >"$scratch/console" 2>&1 </dev/null &
	nspawn=$!
	tries=0
	until init=$(cat "/proc/$nspawn/task/$nspawn/children" 2>/dev/null) && [ -n "$init" ] &&
		inside systemctl is-system-running 2>/dev/null | grep -qE 'running|degraded'; do
		tries=$((tries + 1))
		[ $tries -lt 600 ] && kill -0 $nspawn 2>/dev/null || {
			say "tests/scripts/installed.sh: a system of $1 cannot be booted here: $(tail -n 1 "$scratch/console")"
			exit 77
		}
		sleep 0.1
	done
	inside systemctl is-system-running | grep -q running || {
		inside systemctl --failed
		return 1
	}
}

# inside COMMAND...: runs the command in the booted system.
inside()
{
	timeout 900 nsenter --target "${init%% *}" --all env --chdir=/ -i HOME=/root LC_ALL=C.UTF-8 TERM=dumb \
		DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@" </dev/null
}

shut_down()
{
	[ -n "$nspawn" ] || return 0
	inside systemctl poweroff >"$scratch/log" 2>&1
	timeout 60 tail --pid="$nspawn" -s 0.1 -f /dev/null || kill -s KILL "${init%% *}" "$nspawn"
	wait "$nspawn" 2>/dev/null
	nspawn=
	unshare --mount sh -c 'umount -l -R /sys/fs/cgroup 2>/dev/null
		mount -t cgroup2 cgroup2 /sys/fs/cgroup &&
			find "/sys/fs/cgroup/$1" -depth -type d -exec rmdir {} \;' sh "$name-$booted"
	rmdir "/run/systemd/nspawn/propagate/$name-$booted" 2>/dev/null
	return 0
}

# ---- what is done inside ----

cat >"$scratch/steps.sh" <<'END'
set -u
cd /root || exit 1
fail()
{
	echo "$*"
	journalctl --no-pager -n 20 -u anteroom.service -u anteroom.socket
	exit 1
}

# with_readme LINE: checks that README.Debian prints the line as a command.
with_readme()
{
	grep -qxF "    $1" /usr/share/doc/anteroom/README.Debian || fail "README.Debian does not print: $1"
}

# printed BEGINNING: prints the display of anteroom-serve(8) that begins with this text.
printed()
{
	zcat /usr/share/man/man8/anteroom-serve.8.gz | awk -v beginning="$1" '
		/^\.Bd/ { text = ""; inside = 1; next }
		/^\.Ed/ && inside { if (index(text, beginning) == 1) { printf "%s", text; found = 1 } inside = 0 }
		inside { gsub(/\\-/, "-"); sub(/\\e$/, "\\"); text = text $0 "\n" }
		END { exit !found }' || fail "anteroom-serve(8) does not print: $1"
}

# status ARGUMENT...: prints the status of a request with the token; the body goes to body.
status()
{
	printf 'header = "Authorization: Bearer %s"\n' "$token" |
		curl --config - -sS --max-time 60 -o body -w '%{http_code}' "$@" 2>&1
}

expect()
{
	wanted=$1
	shift
	got=$(status "$@")
	[ "$got" = "$wanted" ] || fail "$*: $got, not $wanted: $(head -c 300 body)"
}

is_up()
{
	[ "$(systemctl is-active anteroom.socket anteroom.service)" = "$(printf 'active\nactive')" ] ||
		fail "$1: socket and service are: $(systemctl is-active anteroom.socket anteroom.service)"
}

owner()
{
	stat -c '%U:%G %a' "$1"
}

count_rooms()
{
	anteroom stat | sed -n 's/^rooms *//p'
}

# Two clients create rooms until stop_load, and write the statuses to answers-1 and answers-2. They do
# not use HTTP/2, because the curl of Debian 12 takes the GOAWAY of a reloading nginx for an error.
start_load()
{
	rm -f enough
	for client in 1 2; do
		while [ ! -e enough ]; do
			printf 'header = "Authorization: Bearer %s"\n' "$token" |
				curl --config - --http1.1 -sS --max-time 60 -d '{}' -o /dev/null -w '%{http_code}\n' \
					"$base/v2/rooms?[1-20]"
		done >answers-$client 2>&1 &
	done
	sleep 2
}

stop_load()
{
	sleep 2
	: >enough
	wait
	answered=$(cat answers-1 answers-2 | grep -c '^200$')
	[ "$answered" -gt 20 ] || fail "$1: too few responses"
}

reload_nginx()
{
	systemctl reload nginx || fail "$(nginx -t 2>&1)"
	sleep 1
}

# ---- the package ----

apt install -y ./anteroom_*.deb >log 2>&1 || fail "$(tail log)"
is_up 'after the installation'
[ "$(owner /run/anteroom/anteroom.sock)" = 'anteroom:www-data 660' ] || fail "$(ls -l /run/anteroom)"
[ "$(owner /var/lib/anteroom)" = 'anteroom:anteroom 700' ] || fail "$(ls -ld /var/lib/anteroom)"
[ "$(owner /var/log/nginx/anteroom.log)" = 'www-data:adm 640' ] || fail "$(ls -l /var/log/nginx)"
journalctl -u anteroom -o cat | grep -q '^notice serving version=' || fail 'the journal has no line of the service'

with_readme 'ln -s ../sites-available/anteroom /etc/nginx/sites-enabled/'
with_readme 'systemctl reload nginx'
ln -s ../sites-available/anteroom /etc/nginx/sites-enabled/
sed -i -e 's/worker_connections 768;/worker_connections 4096;/' -e '1i worker_rlimit_nofile 8192;' \
	/etc/nginx/nginx.conf
grep -q 'worker_connections 4096;' /etc/nginx/nginx.conf || fail 'nginx.conf has no worker_connections 768'
reload_nginx
with_readme 'anteroom account add NAME --data /var/lib/anteroom'
with_readme 'anteroom token NAME --data /var/lib/anteroom'
with_readme "curl http://localhost/v2/templates -H 'Authorization: Bearer TOKEN'"
anteroom account add demo --data /var/lib/anteroom >keys 2>&1 || fail "$(cat keys)"
token=$(anteroom token demo --data /var/lib/anteroom) || fail 'no token'
base=http://localhost
expect 200 $base/v2/templates
expect 200 $base/console/
expect 200 $base/join/abc-defg-hij
for path in healthz readyz metrics; do
	expect 200 http://127.0.0.1:9765/$path
done
systemctl stop anteroom.service 2>/dev/null
[ "$(systemctl is-active anteroom.service)" = inactive ] || fail 'the service does not stop'
expect 200 $base/v2/templates
is_up 'after a request to the socket'

# ---- a certificate, with Pebble in the place of Let's Encrypt ----

site=/etc/nginx/sites-available/anteroom
sed -i 's/server_name localhost;/server_name rooms.example.org;/' $site
reload_nginx
openssl req -x509 -newkey rsa:2048 -nodes -days 9 -subj /CN=localhost -addext subjectAltName=DNS:localhost \
	-keyout pebble.key -out pebble.pem 2>log || fail "$(cat log)"
cat >pebble.json <<JSON
{"pebble":{"listenAddress":"127.0.0.1:14000","managementListenAddress":"127.0.0.1:15000",
"certificate":"/root/pebble.pem","privateKey":"/root/pebble.key","httpPort":80,"tlsPort":443,
"ocspResponderURL":"","externalAccountBindingRequired":false}}
JSON
systemd-run --quiet --unit pebble --setenv PEBBLE_VA_NOSLEEP=1 "$(command -v pebble)" -config /root/pebble.json
tries=0
until curl -s -o root.pem --cacert pebble.pem https://localhost:15000/roots/0; do
	tries=$((tries + 1))
	[ $tries -lt 100 ] || fail 'Pebble does not answer'
	sleep 0.1
done
printed 'certbot certonly' >command
printf 'server = https://localhost:14000/dir\nno-verify-ssl = true\nagree-tos = true\nemail = a@example.org\n' \
	>/etc/letsencrypt/cli.ini
certbot()
{
	command certbot --non-interactive "$@"
}
. ./command >log 2>&1 || fail "certbot: $(tail log)"
live=/etc/letsencrypt/live/rooms.example.org
[ -s $live/fullchain.pem ] || fail "no certificate: $(tail log)"
sed -i -e '/without TLS$/d' -e 's/^\([[:space:]]*\)#\([^ ]\)/\1\2/' \
	-e "s|/etc/ssl/certs/anteroom.pem|$live/fullchain.pem|" \
	-e "s|/etc/ssl/private/anteroom.key|$live/privkey.pem|" $site
reload_nginx
mkdir -p /var/www/html/.well-known/acme-challenge && echo answer >/var/www/html/.well-known/acme-challenge/question
expect 200 http://rooms.example.org/.well-known/acme-challenge/question
expect 308 http://rooms.example.org/v2/templates
expect 308 http://rooms.example.org/join/abc-defg-hij
CURL_CA_BUNDLE=/root/root.pem
export CURL_CA_BUNDLE
base=https://rooms.example.org
expect 200 $base/v2/templates
certbot renew --force-renewal --no-random-sleep-on-renew >log 2>&1 || fail "certbot renew: $(tail log)"
sleep 1
served=$(openssl s_client -connect 127.0.0.1:443 -servername rooms.example.org </dev/null 2>/dev/null |
	openssl x509 -noout -serial)
[ "$served" = "$(openssl x509 -noout -serial <$live/cert.pem)" ] || fail 'nginx serves the previous certificate'

# ---- backups ----

printed '#!/bin/sh' >/etc/cron.daily/anteroom-backup
chmod 0755 /etc/cron.daily/anteroom-backup
expect 200 $base/v2/templates -d '{"name":"lessons","default":true,"roles":{"host":{},"guest":{}}}'
expect 200 $base/v2/rooms -d '{"name":"first"}'
back_up()
{
	run-parts --regex '^anteroom-backup$' /etc/cron.daily >log 2>&1
}
run-parts --test /etc/cron.daily | grep -q anteroom-backup || fail 'cron would not run the backup'
back_up || fail "backup: $(cat log)"
expect 200 $base/v2/rooms -d '{"name":"second"}'
# A directory of an interrupted backup.
mkdir -p /var/backups/anteroom.new/store || exit 1
back_up || fail "after an interrupted backup: $(cat log)"
back_up || fail "the third: $(cat log)"
[ "$(cd /var/backups && echo anteroom.*)" = 'anteroom.1 anteroom.2' ] || fail "backups: $(ls /var/backups)"
for copy in 1 2; do
	anteroom check /var/backups/anteroom.$copy >log 2>&1 || fail "anteroom.$copy: $(cat log)"
done

# ---- a restore under load ----

expect 200 $base/v2/rooms -d '{"name":"after-the-backup"}'
before=$(owner /var/lib/anteroom)
start_load
printed 'systemctl stop anteroom.socket' | sed 's|BACKUP|/var/backups/anteroom.1|' >command
[ "$(grep -c . command)" = 3 ] || fail "the restore commands: $(cat command)"
sh -e ./command >log 2>&1 || fail "restore: $(cat log)"
stop_load restore
cat answers-1 answers-2 | grep -vxE '200|502' && fail 'during the restore'
is_up 'after the restore'
[ "$(owner /var/lib/anteroom)" = "$before" ] || fail "after the restore: $(owner /var/lib/anteroom)"
for name in first second; do
	expect 200 "$base/v2/rooms?name=$name"
	grep -q "\"name\":\"$name\"" body || fail "the room $name is missing: $(cat body)"
done
expect 200 "$base/v2/rooms?name=after-the-backup"
! grep -q '"name":"after' body || fail "data newer than the backup exists: $(cat body)"
anteroom check >log 2>&1 || fail "after the restore: $(cat log)"
ls -d /var/lib/anteroom.before-* >/dev/null || fail 'the previous data is missing'

# ---- an upgrade under load, a restart, a rotation of the logs ----

cp $site site || exit 1
rooms=$(count_rooms)
main=$(systemctl show -P MainPID anteroom.service)
start_load
apt install -y ./newer/anteroom_*.deb >log 2>&1 || fail "$(tail log)"
[ "$(systemctl show -P MainPID anteroom.service)" != "$main" ] || fail 'the service was not replaced'
sleep 1
curl -sS --head $base/join/abc-defg-hij | grep -q "connect-src 'self' https: data:" || fail 'nginx was not reloaded'
[ -z "$(dpkg-query -W -f '${Conffiles}' anteroom)" ] || fail 'the package has conffiles'
systemctl restart anteroom.service || fail 'restart'
sleep 1
reload_nginx
logrotate -f /etc/logrotate.d/nginx || fail 'logrotate'
stop_load upgrade
grep -vx 200 answers-1 answers-2 && fail 'the upgrade lost requests'
[ "$(count_rooms)" = $((rooms + answered)) ] || fail "$rooms rooms and $answered more are $(count_rooms)"
echo "$answered rooms were created during the upgrade"
cmp $site site || fail 'the upgrade changed the site'
[ -s /var/log/nginx/anteroom.log.1 ] && [ -e /var/log/nginx/anteroom.log ] || fail "$(ls /var/log/nginx)"

# ---- a second data directory ----

printed 'for unit in socket service' >command
sh -e ./command >log 2>&1 || fail "a second data directory: $(cat log)"
[ "$(systemctl is-active school.socket school.service)" = "$(printf 'active\nactive')" ] ||
	fail "the second service: $(journalctl --no-pager -n 20 -u school.service)"
anteroom account add school --data /var/lib/school >log 2>&1 || fail "$(cat log)"
school=$(anteroom token school --data /var/lib/school) || fail 'no token of the second service'
is_answered()
{
	curl -sS --max-time 60 --resolve school.example.org:80:127.0.0.1 -H "Authorization: Bearer $1" \
		-o body -w '%{http_code}' http://school.example.org/v2/rooms
}
tries=0
until [ "$(is_answered "$school")" = 200 ]; do
	tries=$((tries + 1))
	[ $tries -lt 100 ] || fail "the second service: $(cat body)"
	sleep 0.1
done
[ "$(is_answered "$token")" = 401 ] || fail 'the second service accepts a token of the first'
expect 200 $base/v2/templates
[ "$(owner /var/lib/school)" = 'anteroom:anteroom 700' ] || fail "$(ls -ld /var/lib/school)"
rm /etc/nginx/sites-enabled/school
systemctl disable --quiet --now school.socket school.service

# ---- fail2ban ----

examples=/usr/share/doc/anteroom/examples/fail2ban
cp $examples/filter.conf /etc/fail2ban/filter.d/anteroom.conf
cp $examples/jail.conf /etc/fail2ban/jail.d/anteroom.conf
# As jail.conf says for Debian 12.
! grep -q '^12' /etc/debian_version ||
	sed -i -e 's/^#\(\[sshd\]\)/\1/' -e 's/^#\(backend\)/\1/' /etc/fail2ban/jail.d/anteroom.conf
systemctl restart fail2ban
tries=0
until fail2ban-client status anteroom >log 2>&1; do
	tries=$((tries + 1))
	[ $tries -lt 100 ] || fail "fail2ban: $(cat log; journalctl -u fail2ban --no-pager -n 5)"
	sleep 0.1
done
# From another machine, because fail2ban never bans the addresses of its own machine.
{
	ip netns add guesser && ip link add web type veth peer name guesser netns guesser &&
		ip address add 192.0.2.1/24 dev web && ip link set web up &&
		ip -n guesser address add 192.0.2.7/24 dev guesser && ip -n guesser link set guesser up
} || exit 1
guess()
{
	nsenter --net=/run/netns/guesser curl -s --max-time 5 --resolve rooms.example.org:443:192.0.2.1 \
		-o /dev/null -w '%{http_code}\n' "$base/v2/templates?[1-$1]"
}
guess 40 >log
grep -qx 401 log || fail "without a token: $(sort log | uniq -c)"
tries=0
until fail2ban-client status anteroom | grep -q 'IP list:.*192.0.2.7'; do
	tries=$((tries + 1))
	[ $tries -lt 300 ] || fail "no ban: $(fail2ban-client status anteroom)"
	sleep 0.1
done
tries=0
while [ "$(guess 1)" != 000 ]; do
	tries=$((tries + 1))
	[ $tries -lt 100 ] || fail "a banned client gets responses: $(grep -E 'ERROR|NOTICE' /var/log/fail2ban.log)"
	sleep 0.1
done
expect 200 $base/v2/templates

# ---- removal ----

apt remove -y anteroom >log 2>&1 || fail "$(tail log)"
[ -s /var/lib/anteroom/accounts.json ] || fail 'removing the package deleted the data'
systemctl restart nginx || fail 'nginx does not start without the package'
expect 502 $base/v2/templates
apt install -y ./newer/anteroom_*.deb >log 2>&1 || fail "$(tail log)"
expect 200 $base/v2/templates
apt purge -y anteroom >log 2>&1 || fail "$(tail log)"
for left in /var/lib/anteroom /run/anteroom /etc/nginx/anteroom $site /etc/nginx/sites-enabled/anteroom \
	/var/log/nginx/anteroom.log; do
	[ ! -e $left ] && [ ! -L $left ] || fail "purging leaves $left"
done
systemctl restart nginx || fail 'nginx does not start after the package was purged'
[ "$(systemctl --failed --no-legend)" = '' ] || fail "$(systemctl --failed)"
END

# ---- for each release ----

# walk RELEASE
walk()
{
	release=$1
	began=$(date +%s)
	debootstrap --variant=minbase --include=ca-certificates,cron,dbus,iproute2,logrotate,netbase,systemd-sysv \
		"$release" "$scratch/$release" "${MIRROR:-http://deb.debian.org/debian}" >"$scratch/log" 2>&1 || {
		tail -n 3 "$scratch/log"
		say "tests/scripts/installed.sh: cannot create a system of $release here"
		exit 77
	}
	cp /etc/resolv.conf "$scratch/$release/etc/" || exit 1
	printf '127.0.0.1 localhost rooms.example.org\n::1 localhost\n' >"$scratch/$release/etc/hosts" || exit 1

	# Builds the package as an ordinary user in a separate system. The packages for tests are not
	# installed, and the tests are not run; tests/scripts/releases.sh does that.
	build=$release-build
	cp -a "$scratch/$release" "$scratch/$build" && mkdir "$scratch/$build/source" || exit 1
	git ls-files -z | tar --null -T - -c | tar -x -C "$scratch/$build/source" || exit 1
	in_root "$build" sh -c 'apt-get -q update && apt-get -q -y install dpkg-dev autoconf automake &&
		useradd --create-home builder && chown -R builder: /source' || return 1
	as_builder='su builder -c "cd && DEB_BUILD_PROFILES=nocheck DEB_BUILD_OPTIONS=nocheck \
		sh /source/packaging/build-deb"'
	in_root "$build" sh -c "$as_builder 2>&1" && return 1
	install=$(sed -n 's/^build-deb: missing; as root: //p' "$scratch/log")
	[ -n "$install" ] || return 1
	in_root "$build" sh -c "$install -q -y" || return 1
	in_root "$build" sh -c "$as_builder" || return 1
	# The next version: the same with a higher number, another site, and other headers for the join page.
	in_root "$build" sh -ec 'cd /home/builder; dpkg-deb -R anteroom_*.deb next; mkdir newer
		sed -i "s/^Version: .*/&.1/" next/DEBIAN/control; cd next/usr/share/anteroom/nginx
		echo "# of the next version" >>site.conf; sed -i "s/connect-src .self. https:/& data:/" server.conf
		cd /home/builder; dpkg-deb --root-owner-group -b next newer' ||
		return 1

	mkdir "$scratch/$release/root/newer" &&
		cp "$scratch/$build/home/builder"/anteroom_*.deb "$scratch/steps.sh" "$scratch/$release/root" &&
		cp "$scratch/$build/home/builder/newer"/*.deb "$scratch/$release/root/newer" || exit 1
	rm -rf --one-file-system "${scratch:?}/$build"
	# The booted system cannot reach other machines, so the packages that apt will install are
	# downloaded first, and the programs around Anteroom are installed. None of them is started.
	in_root "$release" sh -c 'printf "#!/bin/sh\nexit 101\n" >/usr/sbin/policy-rc.d &&
		chmod 755 /usr/sbin/policy-rc.d && apt-get -q update &&
		apt-get -q -y --no-install-recommends install certbot curl fail2ban nftables openssl pebble \
			python3-systemd &&
		apt-get -q -y --download-only install /root/anteroom_*.deb && rm /usr/sbin/policy-rc.d' || return 1
	# On Debian 12 it cannot start; jail.conf says what to do.
	rm -f "$scratch/$release"/etc/systemd/system/*.wants/fail2ban.service
	boot "$release" || return 1
	inside sh /root/steps.sh >"$scratch/log" 2>&1 || return 1
	tail -n 1 "$scratch/log"
	shut_down
	rm -rf --one-file-system "${scratch:?}/$release"
	say "$release: $(($(date +%s) - began)) s"
}

for release; do
	walk "$release" || {
		say "tests/scripts/installed.sh: failed: $release"
		tail -n 40 "$scratch/log"
		exit 1
	}
done
