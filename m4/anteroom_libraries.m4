dnl ANTEROOM_LIBRARIES
dnl The libraries of the program. One message names all missing libraries by their Debian packages.
AC_DEFUN([ANTEROOM_LIBRARIES], [
  anteroom_missing=
  PKG_CHECK_MODULES([FCGI], [fcgi >= 2.4], [],
    [anteroom_missing="$anteroom_missing libfcgi-dev"])
  PKG_CHECK_MODULES([JANSSON], [jansson >= 2.14], [],
    [anteroom_missing="$anteroom_missing libjansson-dev"])
  PKG_CHECK_MODULES([PCRE2], [libpcre2-8 >= 10.30], [],
    [anteroom_missing="$anteroom_missing libpcre2-dev"])
  PKG_CHECK_MODULES([CRYPTO], [libcrypto >= 3.0], [],
    [anteroom_missing="$anteroom_missing libssl-dev"])

  dnl Debian's GDBM has no .pc file.
  AC_CHECK_HEADER([gdbm.h],
    [AC_CHECK_LIB([gdbm], [gdbm_needs_recovery], [GDBM_LIBS=-lgdbm],
      [anteroom_missing="$anteroom_missing libgdbm-dev"])],
    [anteroom_missing="$anteroom_missing libgdbm-dev"])
  AC_SUBST([GDBM_LIBS])

  dnl libunistring has no .pc file either.
  AC_CHECK_HEADER([unicase.h],
    [AC_CHECK_LIB([unistring], [u8_casefold], [UNISTRING_LIBS=-lunistring],
      [anteroom_missing="$anteroom_missing libunistring-dev"])],
    [anteroom_missing="$anteroom_missing libunistring-dev"])
  AC_SUBST([UNISTRING_LIBS])

  AC_CHECK_LIB([m], [fmax], [MATH_LIBS=-lm])
  AC_SUBST([MATH_LIBS])

  AC_CHECK_FUNC([pthread_create], [], [
    AC_CHECK_LIB([pthread], [pthread_create], [PTHREAD_LIBS=-lpthread],
      [AC_MSG_ERROR([no POSIX threads])])])
  AC_SUBST([PTHREAD_LIBS])

  AS_IF([test -n "$anteroom_missing"],
    [AC_MSG_ERROR([missing libraries; on Debian: apt-get install$anteroom_missing])])
])
