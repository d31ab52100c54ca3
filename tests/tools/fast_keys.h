/* Few RSA keys, for suites that make one for each room of a media server: libcrypto takes a tenth
 * of a second and more to find the primes of one. Nor is a private key read twice: libcrypto looks
 * for a decoder among all that it has, which was a quarter of the time of the suite of dumps and
 * checks. That each key is another one, and what is a key, is tested by check_media, and by the
 * program in end_to_end and the scripts.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_FAST_KEYS_H
#define TESTS_FAST_KEYS_H

/* From now on, this process makes four RSA keys, and then returns copies of them in turn, and it
 * remembers the keys that it has read, by all of their bytes. Other keys are made as ever. Called
 * before the first thread. */
void fast_keys(void);

#endif
