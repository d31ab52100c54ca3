dnl ANTEROOM_FLAGS(VARIABLE, KIND, FLAGS)
dnl Appends to VARIABLE each of FLAGS that the compiler (KIND "compile") or the compiler as linker
dnl (KIND "link") accepts without a warning. CFLAGS and LDFLAGS belong to the user: they are changed only
dnl for the trial and then restored.
AC_DEFUN([ANTEROOM_FLAGS], [
  AC_SUBST([$1])
  for anteroom_flag in $3; do
    AC_MSG_CHECKING([whether to $2 with $anteroom_flag])
    anteroom_cflags=$CFLAGS
    anteroom_ldflags=$LDFLAGS
    m4_if([$2], [link],
      [LDFLAGS="$LDFLAGS -Werror $$1 $anteroom_flag"
       AC_LINK_IFELSE([AC_LANG_PROGRAM()], [anteroom_takes=yes], [anteroom_takes=no])],
      [CFLAGS="$CFLAGS -Werror $$1 $anteroom_flag"
       AC_COMPILE_IFELSE([AC_LANG_PROGRAM()], [anteroom_takes=yes], [anteroom_takes=no])])
    CFLAGS=$anteroom_cflags
    LDFLAGS=$anteroom_ldflags
    AC_MSG_RESULT([$anteroom_takes])
    AS_IF([test "$anteroom_takes" = yes], [$1="$$1 $anteroom_flag"])
  done
])
