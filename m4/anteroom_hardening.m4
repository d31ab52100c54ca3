dnl ANTEROOM_HARDENING
dnl HARDENING_CFLAGS and HARDENING_LDFLAGS: flags that make errors in this program harder to exploit.
dnl _FORTIFY_SOURCE is set in config.h, so that it neither warns in a build without optimisation nor
dnl conflicts with a value from the user or the distribution. The sanitizers have checks of their own.
AC_DEFUN([ANTEROOM_HARDENING], [
  AC_ARG_ENABLE([hardening],
    [AS_HELP_STRING([--disable-hardening], [build without the compiler's protections])],
    [], [enable_hardening=yes])
  AS_IF([test "$enable_hardening" = yes], [
    ANTEROOM_FLAGS([HARDENING_CFLAGS], [compile], [-fstack-protector-strong \
      -fstack-clash-protection -fcf-protection -fPIE])
    ANTEROOM_FLAGS([HARDENING_LDFLAGS], [link], [-pie -Wl,-z,relro -Wl,-z,now \
      -Wl,-z,noexecstack])
    AS_IF([test -z "$SANITIZER_FLAGS"],
      [AC_DEFINE([FORTIFY], [1], [Define to 1 to let the C library check buffer sizes.])])
  ])
  AC_SUBST([HARDENING_CFLAGS])
  AC_SUBST([HARDENING_LDFLAGS])
  AH_BOTTOM([#if defined FORTIFY && defined __OPTIMIZE__ && !defined _FORTIFY_SOURCE
# define _FORTIFY_SOURCE 2
#endif])
])
