/*
 * units_parse.c - reads quantities.
 *
 * A number is read as an exact decimal, digits * 10^exponent, and multiplied by its unit in 128
 * bits, so "0.1us" is exactly 100 ns and "18446744073709551615" keeps its last digit. At most 20
 * significant digits are kept; `inexact` remembers that a non-zero digit was dropped. The only
 * floating-point results (rates and plain numbers) come from strtod in the C locale.
 */
#include "base/units.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MAX 20       /* as many as 2^64 has */
#define EXPONENT_MAX 100000 /* far beyond any result, far below overflow */
#define TIME_UNITS "ps, ns, us, ms, s, min or h"
#define SIZE_UNITS "B, kB, MB, GB, TB, KiB, MiB, GiB or TiB"
#define RATE_UNITS "bps, kbps, Mbps, Gbps, Tbps, or bytes: MBps, GBps, MiBps, GiBps, or inf"
#define COUNT_UNITS "k, M, G, T, Ki, Mi, Gi or Ti"

struct decimal {
    unsigned __int128 digits; /* below 10^20 */
    long exponent;
    int inexact;
};

struct unit {
    const char *name;
    uint64_t factor;
};

static int bad(struct err *err, const char *kind, const char *text, const char *why)
{
    return err_set(err, ERR_INPUT, "bad %s '%.200s': %s", kind, text, why);
}

static int bad_unit(struct err *err, const char *kind, const char *text, const char *unit,
                    const char *allowed)
{
    if (!*unit)
        return err_set(err, ERR_INPUT, "bad %s '%.200s': a unit is needed: %s", kind, text,
                       allowed);
    return err_set(err, ERR_INPUT, "bad %s '%.200s': unknown unit '%.200s', allowed are %s", kind,
                   text, unit, allowed);
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *skip_spaces(const char *s)
{
    while (*s == ' ' || *s == '\t')
        s++;
    return s;
}

/* Takes one digit; `fraction` says that it follows the decimal point. */
static void add_digit(struct decimal *number, int *kept, int digit, int fraction)
{
    if (*kept == DIGITS_MAX) {
        number->inexact |= digit != 0;
        if (!fraction && number->exponent < EXPONENT_MAX)
            number->exponent++;
        return;
    }
    number->digits = number->digits * 10 + (unsigned)digit;
    if (number->digits)
        ++*kept;
    if (fraction && number->exponent > -EXPONENT_MAX)
        number->exponent--;
}

/* "e9", "E-3"; returns s itself if there is no exponent at s. */
static const char *scan_exponent(const char *s, struct decimal *number)
{
    const char *at = s;
    long value = 0;
    if (*at != 'e' && *at != 'E')
        return s;
    at++;
    int negative = *at == '-';
    if (*at == '-' || *at == '+')
        at++;
    if (!is_digit(*at))
        return s;
    for (; is_digit(*at); at++)
        value = value < EXPONENT_MAX ? value * 10 + (*at - '0') : value;
    number->exponent += negative ? -value : value;
    return at;
}

/* Reads a decimal number; returns the character after it, or NULL if there is no number at s. */
static const char *scan_decimal(const char *s, struct decimal *number)
{
    int kept = 0;
    *number = (struct decimal){0};
    if (!is_digit(*s) && !(*s == '.' && is_digit(s[1])))
        return NULL;
    for (; is_digit(*s); s++)
        add_digit(number, &kept, *s - '0', 0);
    if (*s == '.') {
        for (s++; is_digit(*s); s++)
            add_digit(number, &kept, *s - '0', 1);
    }
    return scan_exponent(s, number);
}

/*
 * Splits text into number and unit, both without the spaces around them; the unit is copied into
 * `unit` (n bytes).
 */
static int split(const char *kind, const char *text, struct decimal *number, char *unit, size_t n,
                 struct err *err)
{
    const char *s = skip_spaces(text);
    if (!*s)
        return bad(err, kind, text, "it is empty");
    if (*s == '-')
        return bad(err, kind, text, "it must not be negative");
    s = scan_decimal(*s == '+' ? s + 1 : s, number);
    if (!s)
        return bad(err, kind, text, "it must start with a number");
    s = skip_spaces(s);
    size_t length = strlen(s);
    while (length > 0 && (s[length - 1] == ' ' || s[length - 1] == '\t'))
        length--;
    if (length >= n)
        return bad(err, kind, text, "the number is followed by text that is not a unit");
    memcpy(unit, s, length);
    unit[length] = '\0';
    return 0;
}

/*
 * number * factor as an integer, rounded to nearest. 0, or -1 if it is above `limit`. *exact
 * says whether nothing was rounded away. Factors are below 2^52, so value stays below 2^119 and
 * divisor below 20 * 2^119.
 */
static int scale_decimal(const struct decimal *number, uint64_t factor, uint64_t limit,
                         uint64_t *out, int *exact)
{
    unsigned __int128 value = number->digits * factor;
    unsigned __int128 divisor = 1;
    long exponent = number->exponent;
    *exact = !number->inexact;
    for (; exponent > 0 && value != 0; exponent--) {
        if (value > limit)
            return -1;
        value *= 10;
    }
    for (; exponent < 0 && divisor <= value * 2; exponent++)
        divisor *= 10;
    *exact &= value % divisor == 0 && (exponent == 0 || value == 0);
    value = exponent < 0 ? 0 : value / divisor + (value % divisor >= divisor - divisor / 2);
    if (value > limit)
        return -1;
    *out = (uint64_t)value;
    return 0;
}

/* k K M G T P, optionally followed by i: its length (0 if none), and its factor. */
static int scan_prefix(const char *s, uint64_t *factor)
{
    static const char letters[] = "kMGTP";
    const char *at = *s == 'K' ? letters : *s ? strchr(letters, *s) : NULL;
    *factor = 1;
    if (!at)
        return 0;
    int binary = s[1] == 'i';
    for (const char *p = letters; p <= at; p++)
        *factor *= binary ? 1024 : 1000;
    return 1 + binary;
}

int units_parse_time(const char *text, vtime *out, struct err *err)
{
    static const struct unit units[] = {
        {"ps", VTIME_PS}, {"ns", VTIME_NS}, {"us", VTIME_US},      {"\xC2\xB5s", VTIME_US},
        {"ms", VTIME_MS}, {"s", VTIME_S},   {"min", 60 * VTIME_S}, {"h", 3600 * VTIME_S},
    };
    struct decimal number;
    char name[32];
    uint64_t ps;
    int exact;
    int rc = split("time", text, &number, name, sizeof name, err);
    if (rc < 0)
        return rc;
    if (!*name && number.digits == 0) {
        *out = 0;
        return 0;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(name, units[i].name) != 0)
            continue;
        if (scale_decimal(&number, units[i].factor, (uint64_t)VTIME_LIMIT, &ps, &exact) < 0)
            return bad(err, "time", text, "it is above the limit of 2^62 ps (53 days)");
        *out = (vtime)ps;
        return 0;
    }
    return bad_unit(err, "time", text, name, TIME_UNITS);
}

/* Sizes and counts: no unit at all, or an optional prefix followed by `base`. */
static int parse_whole(const char *kind, const char *text, const char *base, const char *allowed,
                       uint64_t *out, struct err *err)
{
    struct decimal number;
    char name[32];
    uint64_t factor, value;
    int exact;
    int rc = split(kind, text, &number, name, sizeof name, err);
    if (rc < 0)
        return rc;
    const char *rest = name + scan_prefix(name, &factor);
    if (*name && strcmp(rest, base) != 0)
        return bad_unit(err, kind, text, name, allowed);
    if (scale_decimal(&number, factor, UINT64_MAX, &value, &exact) < 0)
        return bad(err, kind, text, "it does not fit in 64 bits");
    if (!exact)
        return bad(err, kind, text, "it is not a whole number");
    *out = value;
    return 0;
}

int units_parse_size(const char *text, uint64_t *bytes, struct err *err)
{
    return parse_whole("size", text, "B", SIZE_UNITS, bytes, err);
}

int units_parse_count(const char *text, uint64_t *out, struct err *err)
{
    return parse_whole("count", text, "", COUNT_UNITS, out, err);
}

/* strtod in the C locale, whatever locale the program has set. */
static double read_double(const char *text)
{
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* static: cannot fail */
    locale_t saved = uselocale(c_locale);
    double value = strtod(text, NULL);
    uselocale(saved);
    freelocale(c_locale);
    return value;
}

/* Bits per unit of a rate: 1 or 8, or 0 if `name` is not a rate. */
static int rate_bits(const char *name)
{
    if (!strcmp(name, "bps") || !strcmp(name, "bit/s") || !strcmp(name, "b/s"))
        return 1;
    if (!strcmp(name, "Bps") || !strcmp(name, "B/s"))
        return 8;
    return 0;
}

int units_parse_bandwidth(const char *text, double *bits_per_s, struct err *err)
{
    struct decimal number;
    char name[32];
    uint64_t factor;
    const char *start = skip_spaces(text);
    if (!strcmp(start, "inf") || !strcmp(start, "infinite")) {
        *bits_per_s = INFINITY;
        return 0;
    }
    int rc = split("bandwidth", text, &number, name, sizeof name, err);
    if (rc < 0)
        return rc;
    int bits = rate_bits(name + scan_prefix(name, &factor));
    if (!bits)
        return bad_unit(err, "bandwidth", text, name, RATE_UNITS);
    double value = read_double(start) * (double)factor * bits;
    if (!(value > 0))
        return bad(err, "bandwidth", text, "it must be above 0 (inf is allowed)");
    if (!isfinite(value))
        return bad(err, "bandwidth", text, "it is too large (write inf for no limit)");
    *bits_per_s = value;
    return 0;
}

int units_parse_double(const char *text, double *out, struct err *err)
{
    struct decimal number;
    char name[32];
    int rc = split("number", text, &number, name, sizeof name, err);
    if (rc < 0)
        return rc;
    if (*name)
        return bad(err, "number", text, "it must be a plain number without a unit");
    double value = read_double(skip_spaces(text));
    if (!isfinite(value))
        return bad(err, "number", text, "it is too large");
    *out = value;
    return 0;
}
