dnl ANTEROOM_SANITIZERS
dnl SANITIZER_FLAGS: --enable-sanitizers alone means address,undefined. A finding ends the program.
AC_DEFUN([ANTEROOM_SANITIZERS], [
  AC_ARG_ENABLE([sanitizers],
    [AS_HELP_STRING([--enable-sanitizers@<:@=LIST@:>@],
      [build with run-time checks: address,undefined (default) or thread])],
    [], [enable_sanitizers=no])
  AS_CASE([$enable_sanitizers],
    [no], [],
    [yes], [enable_sanitizers=address,undefined])
  AS_IF([test "$enable_sanitizers" != no], [
    ANTEROOM_FLAGS([SANITIZER_FLAGS], [link], [-fsanitize=$enable_sanitizers])
    AS_IF([test -z "$SANITIZER_FLAGS"],
      [AC_MSG_ERROR([$CC cannot build with -fsanitize=$enable_sanitizers])])
    SANITIZER_FLAGS="$SANITIZER_FLAGS -fno-sanitize-recover=all -fno-omit-frame-pointer"
    AC_DEFINE([COUNTERS_ABORT], [1], [Define to 1 to end when a counter would go below zero.])
  ])
  AC_SUBST([SANITIZER_FLAGS])
])
