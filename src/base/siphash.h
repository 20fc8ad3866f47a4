/*
 * siphash.h - SipHash-2-4 with a result of 128 bits: who does not know the key can neither compute
 * nor guess it (J.-P. Aumasson and D. J. Bernstein, SipHash: a fast short-input PRF, 2012). By it a
 * process proves that it knows a key without sending that.
 */
#ifndef BASE_SIPHASH_H
#define BASE_SIPHASH_H

#include <stddef.h>

#define SIPHASH_KEY 16
#define SIPHASH_BYTES 16

void siphash(const unsigned char key[SIPHASH_KEY], const void *data, size_t bytes,
             unsigned char out[SIPHASH_BYTES]);

#endif
