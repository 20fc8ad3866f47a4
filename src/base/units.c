/*
 * units.c - prints quantities. Numbers are printed in the C locale whatever locale the program has
 * set, and the unit is chosen after rounding, so that 999.9999999 us prints as "1 ms".
 */
#include "base/units.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* How to print one kind of quantity. */
struct scale {
    int digits;   /* significant digits */
    double step;  /* from each unit to the next */
    double limit; /* values from here on would round to `step`: use the next unit */
    double whole; /* values from here on have no fraction in `digits` digits */
    int count;    /* of units */
    const char *names[7];
};

static const struct scale time_scale = {6, 1000, 999.9995, 1e5, 5, {"ps", "ns", "us", "ms", "s"}};
static const struct scale byte_scale = {4,   1024, 1023.5,
                                        1e3, 7,    {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}};
static const struct scale rate_scale =
    {4,   1000, 999.95,
     1e3, 7,    {"bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s", "Pbit/s", "Ebit/s"}};

static char *print_scaled(char *out, size_t n, const struct scale *scale, double value)
{
    int k = 0;
    for (; k + 1 < scale->count && value >= scale->limit; k++)
        value /= scale->step;
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* static: cannot fail */
    locale_t saved = uselocale(c_locale);
    if (value >= scale->whole && value < 1e15)
        snprintf(out, n, "%.0f %s", value, scale->names[k]); /* %g would print an exponent */
    else
        snprintf(out, n, "%.*g %s", scale->digits, value, scale->names[k]);
    uselocale(saved);
    freelocale(c_locale);
    return out;
}

char *units_format_time(char *out, size_t n, vtime t)
{
    if (t == VTIME_NEVER) {
        snprintf(out, n, "never");
    } else if (t == 0) {
        snprintf(out, n, "0 s");
    } else if (t < 0 && n > 1) {
        out[0] = '-';
        print_scaled(out + 1, n - 1, &time_scale, -(double)t);
    } else {
        print_scaled(out, n, &time_scale, (double)t);
    }
    return out;
}

char *units_format_bytes(char *out, size_t n, uint64_t bytes)
{
    return print_scaled(out, n, &byte_scale, (double)bytes);
}

char *units_format_rate(char *out, size_t n, double bits_per_s)
{
    if (!isinf(bits_per_s))
        return print_scaled(out, n, &rate_scale, bits_per_s);
    snprintf(out, n, "infinite");
    return out;
}

char *units_format_count(char *out, size_t n, uint64_t count)
{
    char digits[32], grouped[UNITS_TEXT_MAX];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
    char *to = grouped;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    snprintf(out, n, "%s", grouped);
    return out;
}

char *units_format_double(char *out, size_t n, double value)
{
    char text[UNITS_TEXT_MAX];
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t saved = uselocale(c_locale);
    /* Texts of up to 15 digits survive normal doubles, so %.15g finds them; 17 always suffice. */
    for (int digits = fabs(value) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    uselocale(saved);
    freelocale(c_locale);
    snprintf(out, n, "%s", text);
    return out;
}
