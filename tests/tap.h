/*
 * Test Anything Protocol for C tests, in one header.
 *
 *     int main(void)
 *     {
 *         plan_auto();
 *         ok(1 + 1 == 2, "sums");
 *         is_int(6 * 7, 42, "products");
 *         return done_testing();
 *     }
 *
 * Every check evaluates its arguments once, prints "ok" or "not ok", and on failure the file,
 * line and what differs; it returns whether it passed. The state is static: one test program is
 * one translation unit that includes this header.
 */
#ifndef TAP_H
#define TAP_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int tap_count, tap_failed;

/* Starts the output; the plan line comes at the end. */
#define plan_auto() setvbuf(stdout, NULL, _IOLBF, 0)

/* A comment line, for instance the seed of a property test. */
__attribute__((unused, format(printf, 1, 2))) static void diag(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    printf("# ");
    vprintf(fmt, args);
    printf("\n");
    va_end(args);
}

__attribute__((unused, format(printf, 4, 5))) static int tap_ok(int pass, const char *file,
                                                                int line, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    printf("%s %d - ", pass ? "ok" : "not ok", ++tap_count);
    vprintf(fmt, args);
    printf("\n");
    va_end(args);
    if (!pass) {
        tap_failed++;
        diag("failed at %s:%d", file, line);
    }
    return pass;
}

__attribute__((unused)) static int tap_is_int(long long got, long long want, const char *file,
                                              int line, const char *name)
{
    int pass = tap_ok(got == want, file, line, "%s", name);
    if (!pass)
        diag("     got: %lld\n# expected: %lld", got, want);
    return pass;
}

__attribute__((unused)) static int tap_is_str(const char *got, const char *want, const char *file,
                                              int line, const char *name)
{
    int same = got && want ? strcmp(got, want) == 0 : got == want;
    int pass = tap_ok(same, file, line, "%s", name);
    if (!pass)
        diag("     got: '%s'\n# expected: '%s'", got ? got : "(null)", want ? want : "(null)");
    return pass;
}

#define ok(cond, ...) tap_ok(!!(cond), __FILE__, __LINE__, __VA_ARGS__)
#define is_int(got, want, name) \
    tap_is_int((long long)(got), (long long)(want), __FILE__, __LINE__, name)
#define is_str(got, want, name) tap_is_str(got, want, __FILE__, __LINE__, name)

/* Prints the plan; the exit status of the test: 0 if something ran and all of it passed. */
__attribute__((unused)) static int done_testing(void)
{
    printf("1..%d\n", tap_count);
    if (tap_failed)
        diag("%d of %d failed", tap_failed, tap_count);
    fflush(stdout);
    return tap_failed != 0 || tap_count == 0;
}

#endif
