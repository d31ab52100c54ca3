dnl ANTEROOM_LIBRTMP
dnl --with-librtmp: builds external streams (RTMP) if librtmp is available.
AC_DEFUN([ANTEROOM_LIBRTMP], [
  AC_ARG_WITH([librtmp],
    [AS_HELP_STRING([--with-librtmp=yes|no|auto],
      [external streams of a recorder, with librtmp (auto)])],
    [], [with_librtmp=auto])
  AS_CASE([$with_librtmp],
    [no|yes|auto], [],
    [AC_MSG_ERROR([--with-librtmp must be yes, no or auto])])
  AS_IF([test "$with_librtmp" != no], [
    PKG_CHECK_MODULES([LIBRTMP], [librtmp libssl >= 3.0], [have_librtmp=yes], [
      AS_IF([test "$with_librtmp" = yes],
        [AC_MSG_ERROR([librtmp is missing; on Debian: apt-get install librtmp-dev])])
      have_librtmp=no
    ])
    with_librtmp=$have_librtmp
  ])
  AM_CONDITIONAL([WITH_LIBRTMP], [test "$with_librtmp" = yes])
])
