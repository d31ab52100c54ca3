dnl ANTEROOM_LIVEKIT_CLIENT
dnl --with-livekit-client=DIR: installs livekit-client, an unpacked npm package, beside the pages for browsers.
AC_DEFUN([ANTEROOM_LIVEKIT_CLIENT], [
  AC_ARG_WITH([livekit-client],
    [AS_HELP_STRING([--with-livekit-client=DIR],
      [calls on the join page, with the unpacked npm package livekit-client in DIR; without it,
       share/anteroom/get-livekit-client installs it later])],
    [], [with_livekit_client=no])
  AS_CASE([$with_livekit_client],
    [no], [LIVEKIT_CLIENT=],
    [yes], [AC_MSG_ERROR([--with-livekit-client needs the directory of the package])],
    [AS_IF([test -f "$with_livekit_client/dist/livekit-client.umd.js"],
      [LIVEKIT_CLIENT=$(cd "$with_livekit_client" && pwd)],
      [AC_MSG_ERROR([$with_livekit_client does not contain dist/livekit-client.umd.js; get it with: npm pack livekit-client])])])
  AC_SUBST([LIVEKIT_CLIENT])
])
