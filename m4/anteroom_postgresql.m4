dnl ANTEROOM_POSTGRESQL
dnl --with-postgresql: builds the driver for PostgreSQL if libpq is available.
AC_DEFUN([ANTEROOM_POSTGRESQL], [
  AC_ARG_WITH([postgresql],
    [AS_HELP_STRING([--with-postgresql=yes|no|auto],
      [the store in a PostgreSQL database, for several machines (auto)])],
    [], [with_postgresql=auto])
  AS_CASE([$with_postgresql],
    [no], [],
    [yes|auto], [
      dnl Pipelines need 14.
      PKG_CHECK_MODULES([POSTGRESQL], [libpq >= 14], [have_postgresql=yes], [
        AS_IF([test "$with_postgresql" = yes],
          [AC_MSG_ERROR([libpq 14 or later is missing; on Debian: apt-get install libpq-dev])])
        have_postgresql=no
      ])
    ],
    [AC_MSG_ERROR([--with-postgresql must be yes, no or auto])])
  with_postgresql=${have_postgresql-no}
  AM_CONDITIONAL([HAVE_POSTGRESQL], [test "$with_postgresql" = yes])
  AS_IF([test "$with_postgresql" = yes],
    [AC_DEFINE([HAVE_POSTGRESQL], [1], [Define to 1 to build the driver for PostgreSQL.])])
])
