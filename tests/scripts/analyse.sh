#!/bin/sh
# Static analysis of all sources with cppcheck, clang-tidy and gcc -fanalyzer, each with the checks
# selected here. Any finding is a failure. Tools that are not installed are named and skipped, and the
# exit status is then 77. The only argument is a configured build directory, whose config.h is needed;
# the default is build/check.
set -u
cd "${SOURCE_DIR:-$(dirname "$0")/../..}" || exit 1
build=${1-build/check}
[ -e "$build/config.h" ] || {
	echo "tests/scripts/analyse.sh: $build has no config.h: configure it" >&2
	exit 1
}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
log=$scratch/log
failed=0
missing=
processors=$(nproc)
libpq=$(sed -n 's|^POSTGRESQL_CFLAGS = *||p' "$build/Makefile")

# clang-tidy and gcc look at one file at a time. These definitions tell them what each function that sets
# a fault returns, so that they do not follow paths that the program never takes. Statements that ignore
# the value then have no effect.
for name in set detail explain member cause; do
	echo "#define fault_$name(...) ((void)(fault_$name)(__VA_ARGS__), false)"
done >"$scratch/returns.h"
printf '#include "%s"\n' "$(cd "$build" && pwd)/config.h" base/fault.h "$scratch/returns.h" \
	>"$scratch/before.h"
options="-std=c11 -I include -I src -Wno-unused-value $libpq"

# Prints the sources, except the one that defines those functions.
sources()
{
	find src -name '*.c' ! -path src/base/fault.c -print0
}

# Suppressed where cppcheck is wrong: it does not know that NULL is a pointer in C (varFuncNullUB, in all
# calls that log), that the callee fills an array (uninitvar), or that a pointer to a local variable may
# be in a struct with the same lifetime (autoVariables). It does not read system headers, so the one loop
# macro of jansson is defined here.
analyse_with_cppcheck()
{
	cppcheck -j "$processors" --quiet --error-exitcode=1 --inline-suppr --std=c11 \
		--enable=warning,performance,portability --suppress=missingIncludeSystem \
		--suppress=varFuncNullUB --suppress=uninitvar:src/base/id.c \
		--suppress=autoVariables:src/command/store_commands.c \
		-I include -I src --include="$build/config.h" -D'_Static_assert(x,y)=' \
		-D'json_object_keylen_foreach(o,k,n,v)=for ((v)=(o); (v)!=0;)' src
}

# All checks of bugprone, cert, the analyser and performance, except:
#   easily-swappable-parameters, branch-clone, narrowing-conversions, assignment-in-if-condition
#                                  matters of taste, or covered by -Wconversion
#   reserved-identifier, dcl37, dcl51  _GNU_SOURCE in config.h
#   macro-parentheses              the words of our tables
#   sizeof-expression              arrays of pointers
#   misplaced-widening-cast, implicit-widening  64-bit sums as arguments of printf; constants
#   err33, dcl16, DeprecatedOrUnsafe  intended truncation by snprintf; lower-case suffixes; memcpy_s
#   not-null-terminated-result     slices are not null-terminated
#   no-int-to-ptr                  a const that a C interface lacks
#   UnixAPI                        calloc of size 0
#   NonNullParam, CallAndMessage   it does not know that a slice with a size has bytes, or that an enum is
#                                  inside its table; UBSan checks both
tidy_checks='-*,bugprone-*,cert-*,clang-analyzer-*,performance-*,misc-redundant-expression,
	misc-misplaced-const,-bugprone-easily-swappable-parameters,-bugprone-branch-clone,
	-bugprone-narrowing-conversions,-bugprone-reserved-identifier,-bugprone-macro-parentheses,
	-bugprone-sizeof-expression,-bugprone-misplaced-widening-cast,
	-bugprone-assignment-in-if-condition,-bugprone-not-null-terminated-result,
	-bugprone-implicit-widening-of-multiplication-result,-cert-dcl37-c,-cert-dcl51-cpp,
	-cert-err33-c,-cert-dcl16-c,
	-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling,
	-clang-analyzer-optin.portability.UnixAPI,-clang-analyzer-core.NonNullParamChecker,
	-clang-analyzer-core.CallAndMessage,-performance-no-int-to-ptr'

analyse_with_clang_tidy()
{
	sources | xargs -0 -n 1 -P "$processors" sh -c '
		clang-tidy --quiet --warnings-as-errors="*" --checks="$1" "$4" \
			-- -include "$2" $3 2>/dev/null
		' tidy "$(echo "$tidy_checks" | tr -d '[:space:]')" "$scratch/before.h" "$options"
}

# The checks that work well for C in gcc 12: double free, use after free, and signal handlers. The others
# fail if a value is set through a pointer.
analyse_with_gcc()
{
	# shellcheck disable=SC2086 # several options
	sources | xargs -0 -n 1 -P "$processors" \
		gcc -include "$scratch/before.h" $options -O1 -fanalyzer \
		-Wno-analyzer-use-of-uninitialized-value -Wno-analyzer-malloc-leak \
		-Wno-analyzer-file-leak -Wno-analyzer-null-argument -Werror -c -o /dev/null
}

# analyse NAME COMMAND FUNCTION
analyse()
{
	if ! command -v "$2" >/dev/null; then
		missing="$missing $2"
	elif "$3" >"$log" 2>&1; then
		echo "$1 finds nothing"
	else
		failed=1
		echo "$1:"
		grep -vE '^[0-9]+ warnings? ' "$log"
	fi
}

analyse cppcheck cppcheck analyse_with_cppcheck
analyse clang-tidy clang-tidy analyse_with_clang_tidy
analyse 'gcc -fanalyzer' gcc analyse_with_gcc
[ -z "$missing" ] || echo "left out: analysis that needs$missing"
[ -z "$missing" ] || [ $failed = 1 ] || exit 77
exit $failed
