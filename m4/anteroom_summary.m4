dnl ANTEROOM_SUMMARY
dnl Prints the configuration, and at the very end what `make check` will complain about.
AC_DEFUN([ANTEROOM_SUMMARY], [
  AC_MSG_NOTICE([
  $PACKAGE_NAME $PACKAGE_VERSION
    compiler      $CC $CFLAGS
    prefix        $prefix
    postgresql    $with_postgresql
    curl          $with_curl
    qrencode      $with_qrencode
    librtmp       $with_librtmp
    calls         $with_livekit_client
    hardening     $enable_hardening
    sanitizers    $enable_sanitizers
    fuzz targets  $enable_fuzzers
    werror        $enable_werror
    left out      ${TESTS_LEFT_OUT:-nothing}
  ])
  AS_IF([test -n "$NO_TESTS"], [AC_MSG_WARN([$NO_TESTS])])
])
