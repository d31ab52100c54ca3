#!/bin/sh
# Generators of clients other than those of clients.sh run over the OpenAPI document: swagger-typescript-api,
# openapi-generator for seven languages, and ogen and oapi-codegen if they are installed. TypeScript and Go are
# compiled; Java, Python and Rust are, as far as it goes without the libraries of the client; only what is
# installed is used. Needs Node, Java, the npm packages in tests/generators/package.json and openapi-generator
# itself, which its package fetches; skipped without them.
set -u
test=tests/scripts/generators.sh
. "${SOURCE_DIR:-$(dirname "$0")/../..}/tests/tools/servers.sh"

# made NAME COMMAND...: runs a generator, quietly unless it fails, and looks for files with one name.
made()
{
	name=$1
	shift
	said=$(cd "$PROOF" && timeout 300 "$@" 2>&1) || fail "$name: $said"
	same=$(cd "$PROOF/$name" && find . | tr '[:upper:]' '[:lower:]' | sort | uniq -d)
	[ -z "$same" ] || fail "$name: files with one name: $same"
}

# expect_none NAME OUTPUT PATTERN: fails if a compiler says something that has nothing to do with libraries.
expect_none()
{
	! grep -E "$3" "$PROOF/$2" >&2 || fail "$1: what it generated does not compile"
}

compile_typescript()
{
	(cd "$PROOF" && node node_modules/typescript/bin/tsc --noEmit --strict --skipLibCheck --target es2022 \
		--module es2022 --moduleResolution bundler --lib es2022,dom,dom.iterable --types node "$2" \
		>tsc.log 2>&1) || fail "$1: $(cat "$PROOF/tsc.log")"
}

# The one library of the client is replaced by the function that the client calls.
compile_go()
{
	have go || return 0
	mkdir -p "$PROOF/validator"
	printf 'module gopkg.in/validator.v2\n\ngo 1.18\n' >"$PROOF/validator/go.mod"
	printf 'package validator\n\nfunc Validate(value any) error { return nil }\n' >"$PROOF/validator/validator.go"
	cat >"$PROOF/go/go.mod" <<-END
		module example.org/client

		go 1.18

		require gopkg.in/validator.v2 v2.0.1

		replace gopkg.in/validator.v2 => ../validator
	END
	(cd "$PROOF/go" && rm -rf test &&
		export GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local GOCACHE="${GOCACHE:-$PROOF/go-cache}" &&
		go build ./... >../go.log 2>&1) ||
		fail "go: $(cat "$PROOF/go.log")"
}

fetch_proof generators
scratch=$PROOF
have java || left_out 'java is not installed'
"$program" openapi >"$PROOF/printed.json" || fail 'the document is not printed'
generator=node_modules/@openapitools/openapi-generator-cli/main.js
(cd "$PROOF" && timeout 120 node $generator version >version.log 2>&1) || left_out 'openapi-generator cannot be fetched'

made swagger node node_modules/swagger-typescript-api/dist/cli.mjs generate -p printed.json -o swagger -n client.ts
compile_typescript swagger swagger/client.ts
for language in typescript-fetch go java python rust csharp kotlin; do
	made $language node $generator generate -i printed.json -g $language -o $language
done
compile_typescript typescript-fetch typescript-fetch/index.ts
compile_go
if have javac; then
	find "$PROOF/java/src/main" -name '*.java' >"$PROOF/java.files"
	javac -proc:none -Xmaxerrs 100000 -d "$PROOF/java.out" "@$PROOF/java.files" >"$PROOF/java.log" 2>&1
	expect_none java java.log 'already defined|duplicate class|illegal|expected'
fi
if have python3; then
	python3 -m compileall -q "$PROOF/python" >"$PROOF/python.log" 2>&1 || fail "python: $(cat "$PROOF/python.log")"
fi
if have rustc; then
	(cd "$PROOF/rust" && rustc --edition 2021 --crate-type lib --emit metadata -o "$PROOF/rust.out" src/lib.rs) \
		>"$PROOF/rust.log" 2>&1
	expect_none rust rust.log 'error\[E0(124|128|201|252|255|413|415|416|428)\]'
fi
for other in ogen oapi-codegen; do
	have $other || continue
	mkdir "$PROOF/$other"
	case $other in
		ogen) made ogen ogen --target ogen --package client --clean printed.json ;;
		*) made oapi-codegen oapi-codegen -generate types,client -package client -o oapi-codegen/client.go printed.json ;;
	esac
done
