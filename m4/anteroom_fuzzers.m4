dnl ANTEROOM_FUZZERS
dnl FUZZER_FLAGS for every object, FUZZER_LDFLAGS only for the fuzz targets (clang's libFuzzer).
AC_DEFUN([ANTEROOM_FUZZERS], [
  AC_ARG_ENABLE([fuzzers],
    [AS_HELP_STRING([--enable-fuzzers], [build the fuzz targets (needs clang)])],
    [], [enable_fuzzers=no])
  AS_IF([test "$enable_fuzzers" = yes], [
    ANTEROOM_FLAGS([FUZZER_FLAGS], [compile], [-fsanitize=fuzzer-no-link])
    AS_IF([test -z "$FUZZER_FLAGS"],
      [AC_MSG_ERROR([--enable-fuzzers needs clang with libFuzzer: try CC=clang])])
    FUZZER_LDFLAGS=-fsanitize=fuzzer
  ])
  AC_SUBST([FUZZER_FLAGS])
  AC_SUBST([FUZZER_LDFLAGS])
  AM_CONDITIONAL([FUZZERS], [test "$enable_fuzzers" = yes])
])
