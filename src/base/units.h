/*
 * units.h - quantities with units, as users write and read them.
 *
 * Parsers take a whole string: a decimal number ("12", "1.5", "2e6"), optional spaces, a unit.
 * They refuse negative values, overflow and anything left over with ERR_INPUT and a text that
 * quotes what was given and names what is allowed; *out is written only on success. Prefixes
 * k (or K) M G T P are powers of 1000, Ki Mi Gi Ti Pi of 1024. Integer results are computed
 * exactly, without floating point. No function depends on the locale, allocates or switches.
 */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vtime.h"

/* ps ns us ms s min h; only 0 may have no unit. Rounds to the nearest picosecond. */
int units_parse_time(const char *text, vtime *out, struct err *err);

/*
 * Bits per second: bps, bit/s, b/s, or bytes: Bps, B/s, all with prefixes ("1Gbps", "12.5GBps",
 * "3GiB/s"); "inf" and "infinite" give INFINITY. A bare number is refused, and so is 0.
 */
int units_parse_bandwidth(const char *text, double *bits_per_s, struct err *err);

/* Bytes, bare or with B, kB, KiB, MB, MiB...; a fraction must come out as whole bytes. */
int units_parse_size(const char *text, uint64_t *bytes, struct err *err);

/* A count, bare or with k Ki M Mi G Gi T Ti P Pi; a fraction must come out whole ("1.5k"). */
int units_parse_count(const char *text, uint64_t *out, struct err *err);

/* A finite non-negative decimal number without a unit. */
int units_parse_double(const char *text, double *out, struct err *err);

/* Large enough for the result of any formatter below. */
#define UNITS_TEXT_MAX 40

/* All formatters write at most n bytes with the NUL, and return `out`. */

/* "0 s", "250 ps", "12.345 ms", "1.5 s", 6 significant digits; "never" for VTIME_NEVER. */
char *units_format_time(char *out, size_t n, vtime t);

/* "512 B", "1.5 GiB": binary prefixes, 4 significant digits. */
char *units_format_bytes(char *out, size_t n, uint64_t bytes);

/* "1 Gbit/s", "infinite": decimal prefixes, 4 significant digits. */
char *units_format_rate(char *out, size_t n, double bits_per_s);

/* "1,048,576". */
char *units_format_count(char *out, size_t n, uint64_t count);

/* The shortest decimal text that reads back as the same double ("0.1", "1e+300", "inf"). */
char *units_format_double(char *out, size_t n, double value);

#endif
