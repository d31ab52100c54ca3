dnl ANTEROOM_QRENCODE
dnl --with-qrencode: builds QR codes of links if libqrencode is available.
AC_DEFUN([ANTEROOM_QRENCODE], [
  AC_ARG_WITH([qrencode],
    [AS_HELP_STRING([--with-qrencode=yes|no|auto],
      [QR codes of links, with libqrencode (auto)])],
    [], [with_qrencode=auto])
  AS_CASE([$with_qrencode],
    [no|yes|auto], [],
    [AC_MSG_ERROR([--with-qrencode must be yes, no or auto])])
  AS_IF([test "$with_qrencode" != no], [
    PKG_CHECK_MODULES([QRENCODE], [libqrencode >= 4], [have_qrencode=yes], [
      AS_IF([test "$with_qrencode" = yes],
        [AC_MSG_ERROR([libqrencode 4 or later is missing; on Debian: apt-get install libqrencode-dev])])
      have_qrencode=no
    ])
    with_qrencode=$have_qrencode
  ])
  AM_CONDITIONAL([WITH_QRENCODE], [test "$with_qrencode" = yes])
])
