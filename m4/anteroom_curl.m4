dnl ANTEROOM_CURL
dnl --with-curl: builds the commands for a live service, and webhooks, if libcurl is available.
AC_DEFUN([ANTEROOM_CURL], [
  AC_ARG_WITH([curl],
    [AS_HELP_STRING([--with-curl=yes|no|auto],
      [the commands for a live service, and webhooks, with libcurl (auto)])],
    [], [with_curl=auto])
  AS_CASE([$with_curl],
    [no|yes|auto], [],
    [AC_MSG_ERROR([--with-curl must be yes, no or auto])])
  dnl CURLOPT_QUICK_EXIT needs 7.87. The end-to-end tests use libcurl even with --without-curl.
  PKG_CHECK_MODULES([CURL], [libcurl >= 7.87], [have_curl=yes], [
    AS_IF([test "$with_curl" = yes],
      [AC_MSG_ERROR([libcurl 7.87 or later is missing; on Debian: apt-get install libcurl4-openssl-dev])])
    have_curl=no
  ])
  AS_IF([test "$with_curl" != no], [with_curl=$have_curl])
  AM_CONDITIONAL([WITH_CURL], [test "$with_curl" = yes])
])
