#!/bin/sh
# The work of packagers: installing, also over an earlier installation, the scripts of the Debian package, the
# containers, `configure`, and building a package.
set -u
source=$(cd "${SOURCE_DIR:-$(dirname "$0")/../..}" && pwd) || exit 1
build=$(cd "$(dirname "${ANTEROOM:-build/anteroom}")" && pwd) || exit 1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM HUP
unset MAKEFLAGS MAKELEVEL

fail()
{
	echo "tests/scripts/packaging.sh: $*" >&2
	exit 1
}

install_data()
{
	make -C "$build" install-data DESTDIR="$scratch/root" >"$scratch/log" 2>&1 ||
		fail "make install-data: $(tail -n 3 "$scratch/log")"
}

# Your own site survives an upgrade, and the installed files that it includes exist and are replaced.
install_data
site=$(find "$scratch/root" -path '*/share/anteroom/nginx/site.conf')
[ -n "$site" ] || fail 'no site to copy is installed'
included=$(sed -n 's/^[[:space:]]*include \([^;]*\);.*$/\1/p' "$site")
[ "$(echo "$included" | grep -c .)" = 3 ] || fail "the site includes: $included"
for part in $included; do
	[ -f "$scratch/root$part" ] || fail "the site includes $part, which is not installed"
	cp "$scratch/root$part" "$scratch/before"
	echo '# of an earlier version' >"$scratch/root$part"
	grep -nE '^[[:space:]]*#?(listen|server_name|ssl_)' "$scratch/before" &&
		fail "$part has settings that a site must be able to change"
done
mkdir -p "$scratch/root/etc/nginx/conf.d" || exit 1
own=$scratch/root/etc/nginx/conf.d/anteroom.conf
sed 's/server_name localhost;/server_name rooms.example.org;/' "$site" >"$own"
cp "$own" "$scratch/own"
install_data
cmp "$own" "$scratch/own" || fail "an upgrade changed the copied site"
for part in $included; do
	grep -q 'an earlier version' "$scratch/root$part" && fail "an upgrade left $part as it was"
done

# The pages for browsers are complete: the files that they load exist, also compressed, and no file of an
# earlier version is left.
pages=$(find "$scratch/root" -path '*/share/anteroom/web')
[ -n "$pages" ] || fail 'no pages are installed'
for page in console join record watch; do
	named=$(sed -n 's/.*\(href\|src\)="\(\/[^"]*\)".*/\2/p' "$pages/$page.html")
	[ "$(echo "$named" | grep -c .)" -ge 5 ] || fail "$page.html names: $named"
	for file in "/$page.html" $named; do
		[ -s "$pages$file" ] || fail "$page.html names $file, which is not installed"
		gzip -dc "$pages$file.gz" | cmp -s - "$pages$file" || fail "$file.gz is not $file"
	done
done
version=$(find "$pages/web" -mindepth 1 -maxdepth 1)
[ "$(echo "$version" | grep -c .)" = 1 ] || fail "versions of the pages: $version"
sh "$source/web/build.sh" "$source/web" "$scratch/pages" || exit 1
diff -r "$scratch/pages" "$pages" >"$scratch/log" || fail "the pages: $(head -n 3 "$scratch/log")"
(cd "$source/web" && find call console join lib record style -name '*.js' -o -name '*.css') | while read -r file; do
	[ -s "$version/$file" ] && [ -s "$version/$file.gz" ] || fail "web/$file is not installed"
done || exit 1

# The unit for LiveKit, as far as it can be checked without a livekit-server.
unit=$(dirname "$pages")/../../lib/systemd/system/anteroom-livekit.service
grep -qx 'ExecStart=livekit-server --config %d/livekit.yaml' "$unit" || fail 'anteroom-livekit.service does not start LiveKit'
if command -v systemd-analyze >/dev/null; then
	sed -e 's|^ExecStart=.*|ExecStart=/bin/true|' -e '/^Documentation=/d' "$unit" >"$scratch/anteroom-livekit.service" || exit 1
	problem=$(systemd-analyze verify "$scratch/anteroom-livekit.service" 2>&1) && [ -z "$problem" ] ||
		fail "anteroom-livekit.service: $problem"
	exposure=$(systemd-analyze security --offline=true "$scratch/anteroom-livekit.service" 2>/dev/null |
		sed -n 's/.*exposure level for .*: \([0-9.]*\) .*/\1/p')
	[ "${exposure%.*}" -le 2 ] || fail "anteroom-livekit.service: exposure $exposure"
fi

# get-livekit-client puts the library beside them, and nothing else.
library=$(dirname "$pages")/get-livekit-client
[ -x "$library" ] || fail 'get-livekit-client is not installed'
"$library" --from "$scratch" >"$scratch/log" 2>&1 && fail 'get-livekit-client takes a directory without it'
grep -q 'does not contain dist/livekit-client.umd.js' "$scratch/log" || fail "$(cat "$scratch/log")"
mkdir -p "$scratch/other/dist" && echo other >"$scratch/other/dist/livekit-client.umd.js" || exit 1
"$library" --from "$scratch/other" >"$scratch/log" 2>&1 && fail 'get-livekit-client takes another file'
grep -q 'is not that of version' "$scratch/log" || fail "$(cat "$scratch/log")"
# The same script with the digest of that file.
digest=$(sha256sum <"$scratch/other/dist/livekit-client.umd.js")
sed "s/^file_sha256=.*/file_sha256=${digest%% *}/" "$library" >"$scratch/get" || exit 1
cp "$scratch/get" "$library" || exit 1
"$library" --from "$scratch/other" >"$scratch/log" 2>&1 || fail "$(cat "$scratch/log")"
named=$(sed -n 's/.*name="livekit-client" content="\([^"]*\)".*/\1/p' "$pages/join.html")
cmp -s "$pages$named" "$scratch/other/dist/livekit-client.umd.js" || fail "join.html names $named"
grep -q "content=\"$named\"" "$pages/record.html" || fail 'record.html does not name it'
gzip -dc "$pages$named.gz" | cmp -s - "$pages$named" || fail "$named.gz is not $named"
for page in join record; do
	gzip -dc "$pages/$page.html.gz" | cmp -s - "$pages/$page.html" || fail "$page.html.gz is not $page.html"
done
"$library" --from "$scratch/other" >"$scratch/log" 2>&1 || fail "$(cat "$scratch/log")"
[ "$(grep -c "$named" "$pages/join.html")" = 2 ] || fail "twice: $(grep "$named" "$pages/join.html")"

# get-hls does the same with the player of live streams.
library=$(dirname "$pages")/get-hls
[ -x "$library" ] || fail 'get-hls is not installed'
mkdir -p "$scratch/player/dist" && echo player >"$scratch/player/dist/hls.light.min.js" || exit 1
"$library" --from "$scratch/player" >"$scratch/log" 2>&1 && fail 'get-hls takes another file'
digest=$(sha256sum <"$scratch/player/dist/hls.light.min.js")
sed "s/^file_sha256=.*/file_sha256=${digest%% *}/" "$library" >"$scratch/get" && cp "$scratch/get" "$library" || exit 1
"$library" --from "$scratch/player" >"$scratch/log" 2>&1 || fail "$(cat "$scratch/log")"
named=$(sed -n 's/.*name="hls.js" content="\([^"]*\)".*/\1/p' "$pages/watch.html")
cmp -s "$pages$named" "$scratch/player/dist/hls.light.min.js" || fail "watch.html names $named"
gzip -dc "$pages/watch.html.gz" | cmp -s - "$pages/watch.html" || fail 'watch.html.gz is not watch.html'

# The files for other web servers, shells, monitoring and fail2ban.
for file in anteroom/apache/server.conf anteroom/lighttpd/server.conf anteroom/fetch-100ms bash-completion/completions/anteroom zsh/site-functions/_anteroom \
	doc/anteroom/examples/monitoring/alerts.yml doc/anteroom/examples/monitoring/dashboard.json \
	doc/anteroom/examples/monitoring/prometheus.yml doc/anteroom/examples/fail2ban/filter.conf \
	doc/anteroom/examples/fail2ban/jail.conf doc/anteroom/examples/three-machines/patroni.yml; do
	found=$(find "$scratch/root" -path "*/share/$file" -size +0)
	[ -n "$found" ] || fail "$file is not installed"
	! grep -n '@[A-Z]*@' "$found" || fail "$file is not complete"
done
for server in apache lighttpd; do
	grep -qi "^[[:space:]]*include[a-z]* \"*/usr/share/anteroom/$server/server.conf\"*\$" \
		"$source/packaging/examples/$server.conf" || fail "the example for $server does not include what is installed"
done
# The scripts of the Debian package, below a root of their own and with other programs in the place of nginx and
# of those that need root. `calls` has what they called.
debian=$scratch/debian
mkdir -p "$debian/bin" "$debian/root/usr/share/anteroom" "$debian/root/run" || exit 1
for name in anteroom systemd-sysusers systemd-tmpfiles nginx dpkg-query; do
	printf '#!/bin/sh\necho "%s $*" >>"%s"\n' $name "$debian/calls" >"$debian/bin/$name" || exit 1
done
printf 'test ! -e "%s"\n' "$debian/broken" >>"$debian/bin/nginx"
printf 'cat "%s"\n' "$debian/conffiles" >>"$debian/bin/dpkg-query"
for name in postinst postrm; do
	sed -E -e "s#/(etc|run|usr/lib|usr/share|var)/#$debian/root/\\1/#g" -e 's/ -o [a-z-]+ -g [a-z]+//' \
		"$source/packaging/debian/anteroom.$name" >"$debian/bin/$name" || exit 1
done
chmod 755 "$debian"/bin/* || exit 1
share=$debian/root/usr/share/anteroom
parts=$debian/root/etc/nginx/anteroom
site=$debian/root/etc/nginx/sites-available/anteroom
run_script()
{
	: >"$debian/calls"
	(PATH=$debian/bin:$PATH && "$@") >"$scratch/log" 2>&1 || fail "$*: $(cat "$scratch/log")"
}
# version N: puts the files of version N there, as dpkg would.
version()
{
	mkdir -p "$share/nginx"
	for name in http operation server site; do
		echo "# $name.conf of version $1" >"$share/nginx/$name.conf"
	done
}
# has FILE TEXT: the file has the text as a line.
has()
{
	grep -qxF "$2" "$1" || fail "$1 has not \"$2\": $(cat "$1" 2>&1)"
}
: >"$debian/conffiles"
version 1
run_script postinst configure ''
has "$site" '# site.conf of version 1'
has "$parts/server.conf" '# server.conf of version 1'
! grep -q '^nginx' "$debian/calls" || fail "nginx, which does not run: $(cat "$debian/calls")"
# The service has what anteroom-recorder adds before it starts, if both are installed at once.
! grep -q recorder "$debian/calls" || fail "without anteroom-recorder: $(cat "$debian/calls")"
mkdir -p "$debian/root/usr/lib/sysusers.d" && : >"$debian/root/usr/lib/sysusers.d/anteroom-recorder.conf" || exit 1
run_script postinst configure ''
has "$debian/calls" 'systemd-sysusers anteroom-recorder.conf'
has "$debian/calls" 'systemd-tmpfiles --create anteroom-recorder.conf'
# An upgrade keeps the site, changed or deleted, replaces what it includes, and reloads an nginx that runs, unless
# its configuration has an error.
echo $$ >"$debian/root/run/nginx.pid"
echo 'server_name rooms.example.org;' >"$site"
version 2
run_script postinst configure 1
[ "$(cat "$site")" = 'server_name rooms.example.org;' ] || fail "an upgrade changed the site: $(cat "$site")"
for name in http operation server; do
	has "$parts/$name.conf" "# $name.conf of version 2"
done
[ "$(grep '^nginx' "$debian/calls")" = "$(printf 'nginx -t -q\nnginx -s reload')" ] ||
	fail "an upgrade with nginx: $(cat "$debian/calls")"
[ "$(cd "$parts" && echo *)" = 'http.conf operation.conf server.conf' ] || fail "an upgrade left: $(ls "$parts")"
: >"$debian/broken"
rm "$site"
run_script postinst configure 2
grep -q '^anteroom: nginx was not reloaded' "$scratch/log" || fail "an error in nginx.conf: $(cat "$scratch/log")"
! grep -q '^nginx -s' "$debian/calls" || fail 'nginx was reloaded with an error in its configuration'
[ ! -e "$site" ] || fail 'a deleted site came back'
# Data are converted before the service starts; a failure is no failure of the package, but says the command.
data=$debian/root/var/lib/anteroom
mkdir -p "$data/store" || exit 1
: >"$data/store/manifest"
run_script postinst configure 2
grep -qx "anteroom store upgrade $data" "$debian/calls" || fail "no upgrade of the data: $(cat "$debian/calls")"
printf '#!/bin/sh\necho "anteroom: the store is in use" >&2\nexit 1\n' >"$debian/bin/anteroom"
run_script postinst configure 2
grep -q "^anteroom: .*anteroom store upgrade $data\$" "$scratch/log" ||
	fail "an upgrade of the data that fails: $(cat "$scratch/log")"
rm -r "$debian/root/var/lib"
# If the service does not run after an upgrade, the package says why, and what to run.
mkdir -p "$debian/root/run/systemd/system" || exit 1
printf '#!/bin/sh\necho "error serve_failed cause=the-database-is-in-use"\n' >"$debian/bin/journalctl"
printf '#!/bin/sh\n[ "$2" != is-active ] || test ! -e "%s"\n' "$debian/down" >"$debian/bin/systemctl"
chmod 755 "$debian/bin/journalctl" "$debian/bin/systemctl" || exit 1
run_script postinst configure 2
! grep -q 'does not run' "$scratch/log" || fail "a service that runs: $(cat "$scratch/log")"
: >"$debian/down"
run_script postinst configure 2
grep -q 'the-database-is-in-use' "$scratch/log" &&
	grep -q '^anteroom: .*systemctl start anteroom.socket anteroom.service$' "$scratch/log" ||
	fail "a service that does not run: $(cat "$scratch/log")"
rm -r "$debian/root/run/systemd" "$debian/bin/journalctl" "$debian/bin/systemctl"
# What was changed in a file that was a conffile is saved; what was not changed is replaced.
echo changed >"$parts/http.conf"
echo original >"$parts/server.conf"
printf ' %s 0123456789abcdef0123456789abcdef\n' "$parts/http.conf" >"$debian/conffiles"
printf ' %s %s obsolete\n' "$parts/server.conf" "$(md5sum <"$parts/server.conf" | cut -d ' ' -f 1)" >>"$debian/conffiles"
run_script postinst configure 2
has "$parts/http.conf.dpkg-old" changed
[ ! -e "$parts/server.conf.dpkg-old" ] && has "$parts/server.conf" '# server.conf of version 2'
run_script postrm remove
has "$parts/server.conf" '# server.conf of version 2'
run_script postrm purge
[ ! -e "$debian/root/etc/nginx" ] || fail "purging leaves $(find "$debian/root/etc")"
# What README names is not compressed, as dh_compress does with more than 4 KiB.
if grep -q '/usr/share/doc/anteroom/README.Debian:' "$source/README"; then
	grep -q 'dh_compress --exclude=README.Debian$' "$source/packaging/debian/rules" ||
		fail 'README names /usr/share/doc/anteroom/README.Debian, which the package would compress'
fi
# dpkg asks about files below /etc: the package has none.
! grep -n 'debian/anteroom/etc' "$source/packaging/debian/rules" || fail 'the package has conffiles'

# Each file of packaging/ is in the tarball, individually or with its folder.
(cd "$source" && find packaging -type f ! -name site.conf ! -name server.conf ! -name '*.service') | while read -r file; do
	named=$file
	until grep -qE "(^|[[:space:]])$named([[:space:]]|\$)" "$source/Makefile.am"; do
		case $named in
		*/*) named=${named%/*} ;;
		*) fail "$file is not in the tarball" ;;
		esac
	done
done || exit 1

# So are the files that the containers are built from.
sed -n 's/^COPY \([^-].*\) [^ ]*$/\1/p' "$source/packaging/container/Containerfile" | tr ' ' '\n' >"$scratch/copied"
[ "$(grep -c . "$scratch/copied")" -ge 5 ] || fail 'the Containerfile copies nothing'
while read -r part; do
	[ -e "$source/$part" ] || fail "the Containerfile copies $part, which does not exist"
done <"$scratch/copied"
# So is every folder in the Makefile, except the tests.
for folder in "$source"/*/; do
	folder=$(basename "$folder")
	case $folder in
	tests | build*) continue ;;
	esac
	! grep -qE "(^|[[:space:]])$folder/" "$source/Makefile.am" || grep -qx "$folder" "$scratch/copied" ||
		fail "the Containerfile does not copy $folder"
done

# What compose.yaml names exists: prints it as lines such as `services.nginx.volumes[]=socket:/run/anteroom`.
container=$source/packaging/container
awk '
	/^ *(#.*)?$/ { next }
	{
		match($0, /^ */)
		depth = RLENGTH / 2
		line = substr($0, RLENGTH + 1)
		path = ""
		for (i = 0; i < depth; i++)
			path = path names[i] (i < depth - 1 ? "." : "")
	}
	line ~ /^- / { item(path, substr(line, 3)); next }
	{
		names[depth] = line
		sub(/:.*/, "", names[depth])
		path = path (depth > 0 ? "." : "") names[depth]
		sub(/^[^:]*: */, "", line)
		if (line ~ /^\[/) {
			count = split(substr(line, 2, length(line) - 2), items, / *, */)
			for (i = 1; i <= count; i++)
				item(path, items[i])
		} else
			print path "=" plain(line)
	}
	function plain(text) { gsub(/^\047|:$|\047$/, "", text); return text }
	function item(path, text) { print path "[]=" plain(text) }
' "$container/compose.yaml" >"$scratch/compose"
# of SERVICE MEMBER: prints the values of a member of a service.
of()
{
	sed -n "s|^services\.$1\.$2\(\[\]\)\{0,1\}=\(..*\)|\2|p" "$scratch/compose"
}
services=$(sed -n 's/^services\.\([^.]*\)=$/\1/p' "$scratch/compose")
[ "$(echo "$services" | tr '\n' ' ')" = 'anteroom nginx connect-livekit livekit ' ] || fail "services: $services"
for service in $services; do
	target=$(of "$service" build.target)
	[ -n "$(of "$service" image)" ] || grep -qx "FROM [^ ]* AS $target" "$container/Containerfile" ||
		fail "the service $service is built from \"$target\", which the Containerfile does not have"
	[ ! "$target" ] || [ -f "$container/$(of "$service" build.context)/$(of "$service" build.dockerfile)" ] ||
		fail "the service $service is not built from the Containerfile"
	! of "$service" network_mode | grep -q . || fail "the service $service has no network for media servers and webhooks"
	for volume in $(of "$service" volumes); do
		grep -qx "volumes\.${volume%%:*}=" "$scratch/compose" || fail "the service $service has the volume $volume"
	done
	for other in $(of "$service" depends_on) $(sed -n "s|^services\.$service\.depends_on\.\([a-z-]*\)=\$|\1|p" "$scratch/compose"); do
		echo "$services" | grep -qx "$other" || fail "the service $service depends on $other"
	done
	case $service in
	*livekit) [ "$(of "$service" profiles)" = livekit ] || fail "$service is not in the profile livekit" ;;
	*) [ -z "$(of "$service" profiles)" ] || fail "$service is in a profile" ;;
	esac
done
sed -n 's/^COPY --from=\([^ ]*\) .*/\1/p; s/^FROM \([a-z-]*\) .*/\1/p' "$container/Containerfile" | while read -r stage; do
	grep -qx "FROM [^ ]* AS $stage" "$container/Containerfile" || fail "the Containerfile has no stage $stage"
done || exit 1
# stage NAME: prints what the Containerfile does in a stage, a command a line.
stage()
{
	sed -e :a -e '/\\$/N; s/\\\n//; ta' "$container/Containerfile" | sed -n "/^FROM .* AS $1\$/,/^FROM .* AS /p" |
		sed '1!{/^FROM /d}'
}
stage anteroom | grep -q '^RUN .*install .* ca-certificates' || fail 'the service has no certificates of authorities'
stage call | grep -qx 'RUN /usr/share/anteroom/get-livekit-client' &&
	stage nginx | grep -qx 'COPY --from=call /usr/share/anteroom /usr/share/anteroom' || fail 'nginx has no call'
# The service may ask media servers in the network of the containers. Both ranges are the same.
range=$(of anteroom command | tail -n 1)
[ "$(of anteroom command | sed -n '4p')" = --media-allow ] && [ -n "$range" ] &&
	grep -qxF "networks.default.ipam.config[]=subnet: $range" "$scratch/compose" ||
	fail "the service may ask $range, the network is: $(grep '^networks' "$scratch/compose")"
echo "$range" | grep -qx '${ANTEROOM_SUBNET:-10\.[0-9.]*/24}' || fail "the network is $range"

# Runs the commands in compose.yaml, with the layout and the settings of the Containerfile, but without a
# container engine: the volume is a directory, which cannot be renamed either, and a container is a
# process.
volume=$scratch/volume
socket=$scratch/socket
as=
mkdir "$volume" "$socket" && cp "$build/anteroom" "$scratch/anteroom" || exit 1
if [ "$(id -u)" = 0 ]; then
	as="setpriv --reuid=nobody --regid=$(id -g nobody) --clear-groups"
	chmod 755 "$scratch" "$scratch/anteroom" && chown nobody "$volume" "$socket" || exit 1
fi
placed()
{
	sed -e "s|/var/lib/anteroom|$volume|g" -e "s|/run/anteroom|$socket|g"
}
ANTEROOM_DATA=$(sed -n 's/^ENV ANTEROOM_DATA=//p' "$container/Containerfile" | placed)
export ANTEROOM_DATA
volumes=$(stage anteroom | sed -n 's/^VOLUME //p' | placed)
[ "$volumes" = "$volume" ] && [ "${ANTEROOM_DATA%/*}" = "$volume" ] ||
	fail "the data, $ANTEROOM_DATA, must be one level below the volume, $volumes"
words=$(of anteroom command | sed 's/^\${[A-Z_]*:-\(.*\)}$/\1/' | tr '\n' ' ' | placed)
case $words in
"$(sed -n 's/^CMD \["serve", \(.*\)\]$/serve \1/p' "$container/Containerfile" | tr -d '",' | placed) "*) ;;
*) fail "compose.yaml starts $words" ;;
esac
serving=
trap '[ -z "$serving" ] || kill "$serving"; rm -rf "$scratch"' EXIT
PATH=$scratch:$PATH
docker()
{
	shift
	entry=anteroom
	case $1 in
	up | start)
		# shellcheck disable=SC2086
		$as anteroom $words 2>>"$scratch/serve.log" &
		serving=$!
		until [ -S "$socket/anteroom.sock" ]; do
			kill -0 "$serving" || return 1
			sleep 0.1
		done
		return
		;;
	stop)
		kill "$serving" && wait "$serving"
		serving=
		return
		;;
	exec) entry= ;;
	run) ;;
	*) return 1 ;;
	esac
	while [ "$1" != anteroom ]; do
		[ "$1" != --entrypoint ] || entry=$2
		shift
	done
	shift
	$as $entry "$@"
}
# LiveKit's own start needs its image; tests/scripts/site.sh runs what precedes it.
sed -n 's/^#     \(docker compose .*\)/\1/p' "$container/compose.yaml" | grep -v -- '--profile livekit up' |
	placed >"$scratch/commands"
[ "$(grep -c . "$scratch/commands")" = 11 ] || fail "compose.yaml names $(cat "$scratch/commands")"
cd "$scratch" || exit 1
while read -r command; do
	eval "$command" >"$scratch/out" 2>"$scratch/log" </dev/null ||
		fail "$command: $(cat "$scratch/log" "$scratch/out")"
	case $command in
	# Data that is lost after the backup comes back with the restore.
	*'account add'*) docker compose exec anteroom anteroom account list | cut -d ' ' -f 1 >"$scratch/before" ;;
	*' rm -r '*/backup)
		[ -e "$scratch/changed" ] || docker compose run anteroom account add later >"$scratch/changed" 2>&1 || exit 1
		;;
	esac
done <"$scratch/commands"
docker compose run anteroom account list | cut -d ' ' -f 1 | cmp -s - "$scratch/before" || fail 'the restored data differs from the backup'
[ ! -e "$volume/backup" ] && ls -d "$volume"/data.before-* >/dev/null || fail "the volume: $(ls "$volume")"
kill "$serving" && wait "$serving"
serving=
unset ANTEROOM_DATA

# Without pkg-config there is one clear message, and no configure that could never work.
if command -v autoreconf >/dev/null && command -v aclocal >/dev/null; then
	mkdir "$scratch/tree" "$scratch/macros" || exit 1
	cp -R "$source/configure.ac" "$source/Makefile.am" "$source/m4" "$scratch/tree" || exit 1
	(cd "$scratch/tree" && ACLOCAL_PATH='' ACLOCAL="aclocal --system-acdir=$scratch/macros" \
		autoreconf -i >"$scratch/log" 2>&1) && fail 'autoreconf succeeds without pkg-config'
	grep -q 'error: pkg-config is missing.*apt-get install pkg-config' "$scratch/log" ||
		fail "autoreconf without pkg-config: $(cat "$scratch/log")"
	[ ! -e "$scratch/tree/configure" ] || fail 'configure was created without pkg-config'
fi

# Packages that are missing for the build are named before anything is done, as arguments for apt-get.
mkdir "$scratch/path" || exit 1
: >"$scratch/anteroom-1.tar.gz"
for command in sh cat dirname basename sed tr mktemp rm; do
	ln -s "$(command -v $command)" "$scratch/path/$command" || exit 1
done
lacks()
{
	(cd "$scratch" && PATH=$scratch/path sh "$source/packaging/build-deb" anteroom-1.tar.gz) \
		>"$scratch/log" 2>&1 && fail 'build-deb does not need its dependencies'
	grep -q "^build-deb: missing; as root: apt-get install $1\$" "$scratch/log" ||
		fail "build-deb, not $1: $(cat "$scratch/log")"
}
lacks 'dpkg-dev check curl debhelper-compat .* libcurl4-openssl-dev libfcgi-dev .* spawn-fcgi tzdata'
# Debian 12 writes Unmet, Debian 13 unmet.
for unmet in Unmet unmet; do
	cat >"$scratch/path/dpkg-checkbuilddeps" <<END
#!/bin/sh
echo 'dpkg-checkbuilddeps: error: $unmet build dependencies: debhelper-compat (= 13) jq libssl-dev (>= 3.0)' >&2
exit 1
END
	chmod 755 "$scratch/path/dpkg-checkbuilddeps"
	lacks 'dpkg-dev debhelper-compat jq libssl-dev'
done
exit 0
