#!/bin/sh
# The join page reads codes like the service: it is checked with each row of
# tests/data/typed_codes.jsonl, as tests/suites/check_text checks the service. Skipped if Node is not installed.
set -u
source=$(cd "${SOURCE_DIR:-$(dirname "$0")/../..}" && pwd) || exit 1
command -v node >/dev/null || {
	echo 'tests/scripts/typed_codes.sh: left out: node is not installed'
	exit 77
}
node --input-type=module - "$source" <<'EOF'
import { readFileSync } from "node:fs";

const source = process.argv[2];
const read = (name) => readFileSync(`${source}/${name}`, "utf8");
const { code_of } = await import(`data:text/javascript,${encodeURIComponent(read("web/join/code.js"))}`);
const rows = read("tests/data/typed_codes.jsonl").trim().split("\n");
let wrong = rows.length > 90 ? 0 : 1;
for (const row of rows) {
	const [parts, wanted] = JSON.parse(row);
	const text = typeof parts === "string" ? parts : parts.map(([part, n]) => part.repeat(n)).join("");
	const found = code_of(text);
	if (found === wanted) continue;
	console.error(`tests/scripts/typed_codes.sh: ${row}: found ${found}`);
	wrong++;
}
process.exit(wrong === 0 ? 0 : 1);
EOF
