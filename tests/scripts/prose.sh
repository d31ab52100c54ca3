#!/bin/sh
# Prints how often the tree uses constructions that are hard to read, per 1,000 words: `make prose`. The
# numbers are for comparison with an earlier release. They never fail, because many hits are good English.
#
# SPDX-License-Identifier: GPL-3.0-or-later
set -u
cd "${SOURCE_DIR:-$(dirname "$0")/../..}" || exit 1
LC_ALL=C
export LC_ALL

# texts AREA PART FILE...: prints the texts of the files, each after the name of its area.
texts()
{
	area=$1
	part=$2
	shift 2
	awk -v part="$part" -f tests/tools/prose.awk "$@" | sed -e 's/^[^:]*:[0-9]*://' -e "s/^/$area:/"
}

# files FOLDER... -- PATTERN...: prints the names of files.
files()
{
	folders=
	while [ "$1" != -- ]; do
		folders="$folders $1"
		shift
	done
	shift
	for pattern; do
		# shellcheck disable=SC2086
		find $folders -type f -name "$pattern" ! -path '*/node_modules/*'
	done | sort
}

# shellcheck disable=SC2046
{
	texts headers c-comments $(files include src -- '*.h')
	texts c-comments c-comments $(files src -- '*.c')
	texts c-strings c-strings $(files src -- '*.c')
	texts tests c-comments $(files tests -- '*.[ch]' '*.js')
	texts tests hash-comments $(files tests -- '*.sh') tests/run
	texts js-comments c-comments $(files web -- '*.js')
	texts js-strings c-strings $(files web -- '*.js' | grep -v '/de\.js$')
	texts manual manual packaging/man/*.[178]
	texts readmes plain README CONTRIBUTING src/README ChangeLog
	texts build hash-comments $(files nginx packaging m4 -- '*.sh' '*.in' '*.m4' '*.conf') Makefile.am \
		nginx/quickstart web/build.sh
} | awk '
function kind(name, pattern)
{
	kinds++
	names[kinds] = name
	gsub(/ /, "  ", pattern)
	# The patterns are for words between spaces; ^ is the beginning of a text.
	patterns[kinds] = pattern ~ /^\^/ ? "^ (" substr(pattern, 2) ") " : " (" pattern ") "
}

BEGIN {
	kind("one, ones for a noun", "ones|(no|this|that|each|every|any|which|other|new|old|last|first|former|own) one|one (is|was|that|which|has|of (those|these|them))")
	kind("what ... as a noun", "what (is|was|are|were|has|had|it|they|we|you|he|she|a|an|the|there|comes|came|stands|follows|belongs|cannot|can|may|does)")
	kind("who ... as a noun", "whoever|[.,:;] who|(for|by|from|of) who")
	kind("that of, those which", "that of|those (of|that|which|who|in|with|for)")
	kind("no, none as predicate", "(is|are|was|were) (no|none)|(has|have|had|of|for) none|none of (it|them|these|those)")
	kind("value: leftover", "(null|empty|false|true|zero|absent|set|0|-1) : (no|none|any|all|it|the|for|as|not|nobody|every)")
	kind("relative for participle", "(that|which) (is|are|was|were) [a-z]+(ed|ade|ept|ent|own|iven|ritten|aken|eft|ound|ead)")
	kind("genitive for compound", "the (key|name|id|list|number|time|size|end|beginning|body|file|page|table|role|code|token|secret|value|address|line|record|account|answer|call|store|server) of (a|an|the|its|their|our|one)")
	kind("odd words", "anew|besides?|behind|meanwhile|at once|for good|by (itself|themselves)|of (its|their|our) own|shall|hence")
	kind("is there, is gone", "(is|are|was|were|be|not) (there|gone)")
	kind("make for create", "(make|makes|making|made) (a|an|the|one|it|them|its|new)|(is|are|was|were) made")
	kind("answer for respond", "answer(s|ed|ing)?")
	kind("things that speak", "(tell|tells|say|says|believes|learns|forgets|knows|looks) (of|it|what|so|that|whether|at|which)|told")
	kind("is to, has to", "(is|are|was|were|has|have|had) to")
	kind("go on", "(go|goes|going|went|gone) on")
	kind("but for except", "(all|none|nothing|nobody) but|but for")
	kind("nobody, somebody", "nobody|somebody")
	kind("starts without a verb", "^(of|with|without|whether|as|one|ones|those|that|what|who|for|in|by|from)")
}

{
	area = $0
	sub(/:.*/, "", area)
	text = tolower(substr($0, length(area) + 2))
	if (!(area in words))
		areas[++n_areas] = area
	gsub(/[.,:;?!]/, " & ", text)
	gsub(/[^a-z0-9.,:;?!-]+/, " ", text)
	words[area] += split(text, list, /[^a-z0-9]+/)
	# Words have two spaces between them: a match takes one on each side.
	gsub(/ +/, "  ", text)
	text = " " text " "
	sub(/^ +/, " ", text)
	for (i = 1; i <= kinds; i++)
		hits[i, area] += gsub(patterns[i], "&", text)
}

END {
	printf "%-24s%8s", "hits per 1,000 words", "all"
	for (k = 1; k <= n_areas; k++)
		printf "%12s", areas[k]
	print ""
	for (i = 1; i <= kinds + 1; i++) {
		line = ""
		sum = 0
		total = 0
		for (k = 1; k <= n_areas; k++) {
			area = areas[k]
			found = i <= kinds ? hits[i, area] : every[area]
			if (i <= kinds)
				every[area] += found
			sum += found
			total += words[area]
			line = line sprintf("%12.1f", 1000 * found / words[area])
		}
		if (total > 0)
			printf "%-24s%8.1f%s\n", i <= kinds ? names[i] : "together", 1000 * sum / total, line
	}
	printf "%-24s%8d", "words", total
	for (k = 1; k <= n_areas; k++)
		printf "%12d", words[areas[k]]
	print ""
}'
exit 0
