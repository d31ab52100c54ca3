dnl ANTEROOM_TEST_TOOLS
dnl Programs and libraries that only the tests need. The build works without them; TESTS_LEFT_OUT names the
dnl tests that are then skipped. Without libcheck hardly anything would be tested, so `make check` fails;
dnl NO_TESTS says why.
AC_DEFUN([ANTEROOM_TEST_TOOLS], [
  TESTS_LEFT_OUT=
  NO_TESTS=
  PKG_CHECK_MODULES([CHECK], [check >= 0.15], [have_check=yes],
    [have_check=no
     TESTS_LEFT_OUT="$TESTS_LEFT_OUT all Check suites (no libcheck; Debian: check)."
     NO_TESTS="libcheck is not installed (Debian: check), so make check fails"])
  AS_IF([test "$have_curl" = no],
    [TESTS_LEFT_OUT="$TESTS_LEFT_OUT the end-to-end tests (no libcurl; Debian: libcurl4-openssl-dev)."])
  AM_CONDITIONAL([HAVE_CHECK], [test "$have_check" = yes])
  AM_CONDITIONAL([HAVE_CURL], [test "$have_check$have_curl" = yesyes])

  AC_PATH_PROG([NGINX], [nginx], [], [$PATH:/usr/sbin:/usr/local/sbin])
  AS_IF([test -z "$NGINX"],
    [TESTS_LEFT_OUT="$TESTS_LEFT_OUT all tests that need nginx (not found)."])
  AC_PATH_PROGS([CLANG_FORMAT], [clang-format-14 clang-format])
  AC_SUBST([TESTS_LEFT_OUT])
  AC_SUBST([NO_TESTS])
])
