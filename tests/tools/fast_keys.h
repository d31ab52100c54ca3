/* Few RSA keys, for suites that make one for each room of a media server: libcrypto takes a tenth
 * of a second and more to find the primes of one. That each key is another one is tested by
 * check_media, and by the program in end_to_end and the scripts.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_FAST_KEYS_H
#define TESTS_FAST_KEYS_H

/* From now on, this process makes four RSA keys, and then returns copies of them in turn. Other
 * keys are made as ever. Called before the first thread. */
void fast_keys(void);

#endif
