#!/bin/sh
# Checks the spelling of all files: known misspellings (codespell), American spellings in prose, and the
# names of other projects. tests/data/spelling.words lists the words that codespell takes for
# misspellings; tests/data/spelling.american lists American words with the British spelling.
#
# SPDX-License-Identifier: GPL-3.0-or-later
set -u
cd "${SOURCE_DIR:-$(dirname "$0")/../..}" || exit 1
LC_ALL=C.UTF-8
export LC_ALL
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM HUP

# prose PART PATTERN FOLDER...: prints the prose of files as FILE:LINE:TEXT.
prose()
{
	part=$1
	pattern=$2
	shift 2
	find "$@" -type f -name "$pattern" ! -name de.js ! -path '*/node_modules/*' \
		-exec awk -v part="$part" -f tests/tools/prose.awk {} +
}

{
	prose c-comments '*.[ch]' include src tests
	prose c-comments '*.js' web tests/web
	prose c-strings '*.js' web
	prose hash-comments '*.sh' nginx packaging tests web
	prose hash-comments '*.in' nginx packaging
	prose manual '*.[178]' packaging/man
	prose plain README . src -maxdepth 1
	prose plain CONTRIBUTING . -maxdepth 1
	prose plain ChangeLog . -maxdepth 1
} >"$scratch/prose"
[ "$(wc -l <"$scratch/prose")" -gt 5000 ] || {
	echo 'the files have no prose'
	exit 1
}

failed=0
awk '
	NR == FNR {
		split($0, pair, "->")
		british[pair[1]] = pair[2]
		next
	}
	{
		match($0, /^[^:]*:[0-9]+:/)
		place = substr($0, 1, RLENGTH)
		n = split(tolower(substr($0, RLENGTH + 1)), words, /[^a-z_-]+/)
		for (i = 1; i <= n; i++)
			if (words[i] in british)
				print place " " words[i] ": write " british[words[i]]
	}' tests/data/spelling.american "$scratch/prose" >"$scratch/american"
cat "$scratch/american"
[ ! -s "$scratch/american" ] || failed=1

# Names are spelled as their projects spell them.
wrong='Live Kit|Livekit|LiveKIT|Jitsi meet|Big Blue Button|Bigbluebutton|Postgres|PostgreSql|Postgresql|SystemD|GitHUB|Github|Java Script|Javascript|Typescript|OpenApi|Openapi|OpenSsl|Openssl|FastCgi|Fastcgi'
if grep -wE "$wrong" "$scratch/prose" >"$scratch/names"; then
	sed 's/$/ (the name of a project)/' "$scratch/names"
	failed=1
fi

command -v codespell >/dev/null || {
	[ $failed = 0 ] || exit 1
	echo 'left out: codespell was not found'
	exit 0
}
# Samples, digests and German are not English.
codespell --quiet-level 2 --ignore-words tests/data/spelling.words \
	--skip '*.webp,*.o,*.log,*.trs,*.gz,*/.deps,package-lock.json,go.sum,node_modules,de.js,./web/web,tests/data/corpus' \
	.ci CONTRIBUTING ChangeLog Makefile.am README configure.ac include m4 nginx packaging src tests web || failed=1
exit $failed
