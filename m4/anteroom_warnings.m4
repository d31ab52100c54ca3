dnl ANTEROOM_WARNINGS
dnl WARNING_FLAGS: the warnings that this code is free of; errors with --enable-werror.
AC_DEFUN([ANTEROOM_WARNINGS], [
  AC_ARG_ENABLE([werror],
    [AS_HELP_STRING([--enable-werror], [make compiler warnings errors])],
    [], [enable_werror=no])
  ANTEROOM_FLAGS([WARNING_FLAGS], [compile], [-Wall -Wextra -Wpedantic -Wshadow -Wconversion \
    -Wformat=2 -Wundef -Wvla -Wstrict-prototypes -Wmissing-prototypes])
  AS_IF([test "$enable_werror" = yes], [WARNING_FLAGS="$WARNING_FLAGS -Werror"])
])
