/*
 * epoch.c - reads the start date of a run.
 */
#include "cli/epoch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EPOCH_MAX 253402300799 /* 9999-12-31T23:59:59Z */

/* Parses YYYY-MM-DD or YYYY-MM-DDTHH:MM:SS, followed by nothing but an optional Z. */
static int parse_date(const char *text, struct tm *tm)
{
    int used = 0;
    memset(tm, 0, sizeof *tm);
    if (sscanf(text, "%4d-%2d-%2d%n", &tm->tm_year, &tm->tm_mon, &tm->tm_mday, &used) != 3)
        return 0;
    text += used;
    if (*text == 'T') {
        if (sscanf(text, "T%2d:%2d:%2d%n", &tm->tm_hour, &tm->tm_min, &tm->tm_sec, &used) != 3)
            return 0;
        text += used;
        text += *text == 'Z';
    }
    tm->tm_year -= 1900;
    tm->tm_mon -= 1;
    return *text == 0;
}

int cli_epoch_parse(const char *text, int64_t *out, struct err *err)
{
    struct tm tm, back;
    int64_t epoch = -1;
    if (strspn(text, "0123456789") == strlen(text) && *text && strlen(text) <= 12) {
        epoch = strtoll(text, NULL, 10);
    } else if (parse_date(text, &tm)) {
        time_t t = timegm(&(struct tm){.tm_year = tm.tm_year,
                                       .tm_mon = tm.tm_mon,
                                       .tm_mday = tm.tm_mday,
                                       .tm_hour = tm.tm_hour,
                                       .tm_min = tm.tm_min,
                                       .tm_sec = tm.tm_sec});
        /* timegm turns 31 April into 1 May: the result must equal what was given */
        if (gmtime_r(&t, &back) && back.tm_year == tm.tm_year && back.tm_mon == tm.tm_mon &&
            back.tm_mday == tm.tm_mday && back.tm_hour == tm.tm_hour && back.tm_min == tm.tm_min &&
            back.tm_sec == tm.tm_sec)
            epoch = t;
    }
    if (epoch < 0 || epoch > EPOCH_MAX)
        return err_set(err, ERR_INPUT,
                       "bad date '%s': expected YYYY-MM-DD, "
                       "YYYY-MM-DDTHH:MM:SSZ or seconds since 1970",
                       text);
    *out = epoch;
    return 0;
}
