# Prints the prose of source files, one text per line: FILE:LINE:TEXT. The variable "part" chooses the
# comments or the strings of C and JavaScript, the comments of shell scripts, or all text of manual pages
# and plain files: c-comments, c-strings, hash-comments, manual, plain. A comment over several lines is one
# text, so that phrases across a line break are found.
#
# SPDX-License-Identifier: GPL-3.0-or-later

function put(text)
{
	gsub(/@[a-z]+ (\{[^@]*\} )?/, "", text)
	gsub(/SPDX-License-Identifier: [^ ]+|clang-format o(n|ff)/, "", text)
	gsub(/[ \t]+/, " ", text)
	gsub(/^ | $/, "", text)
	if (text ~ /[A-Za-z]/)
		print file ":" from ":" text
}

# Ends the text that several lines form.
function flush()
{
	if (whole != "")
		put(whole)
	whole = ""
}

function add(text)
{
	if (whole == "") {
		file = FILENAME
		from = FNR
	}
	whole = whole " " text
}

# Reads a line of C or JavaScript from left to right: comments, strings, everything else.
function read_code(line,    at, quote, text)
{
	while (line != "") {
		if (in_comment) {
			at = index(line, "*/")
			text = at ? substr(line, 1, at - 1) : line
			sub(/^[ \t]*\* ?/, "", text)
			if (part == "c-comments")
				add(text)
			if (!at)
				return
			in_comment = 0
			flush()
			line = substr(line, at + 2)
			continue
		}
		if (!match(line, /\/\*|\/\/|["'`]/)) {
			flush()
			return
		}
		# A comment of // continues on the next line if nothing else is in front of it.
		if (substr(line, 1, RSTART - 1) ~ /[^ \t]/)
			flush()
		quote = substr(line, RSTART, RLENGTH)
		line = substr(line, RSTART + RLENGTH)
		if (quote == "/*") {
			flush()
			in_comment = 1
			sub(/^\*/, "", line)
			continue
		}
		if (quote == "//") {
			if (part == "c-comments")
				add(line)
			return
		}
		text = ""
		while (line != "" && substr(line, 1, 1) != quote) {
			at = substr(line, 1, 1) == "\\" ? 2 : 1
			text = text (at == 2 ? " " : substr(line, 1, 1))
			line = substr(line, at + 1)
		}
		line = substr(line, 2)
		if (part == "c-strings" && text ~ / / && quote != "'") {
			file = FILENAME
			from = FNR
			put(text)
		}
	}
	flush()
}

FNR == 1 {
	flush()
	in_comment = 0
}

part ~ /^c-/ {
	if ($0 !~ /^[ \t]*\/\// && !in_comment)
		flush()
	read_code($0)
	next
}

part == "hash-comments" {
	if ($0 ~ /^[ \t]*#([^!]|$)/) {
		sub(/^[ \t]*#+ ?/, "")
		if ($0 == "")
			flush()
		else
			add($0)
	} else
		flush()
	next
}

# Requests of mdoc(7) that end a sentence's line are no words; their arguments are.
part == "manual" {
	if ($0 ~ /^\.\\"/)
		next
	if ($0 ~ /^\.(Sh|Ss|It|Pp|Bl|El|Bd|Ed|Nd)/)
		flush()
	if ($0 ~ /^\.(Li|Bd|Ed|Bl|El|Pp|Xr|Ic|Fl|Nm|Pa|Dd|Dt|Os)( |$)/)
		next
	gsub(/^\.[A-Z][a-z]|\\[a-z&-]/, "")
	add($0)
	next
}

/^[ \t]*$/ {
	flush()
	next
}

{
	add($0)
}

END {
	flush()
}
