/*
 * log_module.c - which modules log, and how their lines begin (see log_module.h).
 */
#include "base/log_module.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "base/log.h"
#include "base/units.h"

#define X(name, word, what) word,
static const char *const modules[LOG_MODULES] = {LOG_MODULE_LIST(X)};
#undef X
static const char *const levels[LOG_LEVELS] = {"info", "debug"};
_Static_assert(LOG_MODULES *LOG_LEVELS <= 32, "the mask has a bit for each");

uint32_t log_wanted;
static int64_t process = -1; /* its number, if there are others */

/* ---- what is wanted ---- */

static int index_of(const char *const *words, int count, const char *word, size_t length)
{
    for (int i = 0; i < count; i++)
        if (strlen(words[i]) == length && memcmp(words[i], word, length) == 0)
            return i;
    return -1;
}

static int refuse(const char *item, size_t length, struct err *err)
{
    char list[128];
    size_t used = 0;

    for (int i = 0; i < LOG_MODULES; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s, ", modules[i]);
    return err_set(err, ERR_INPUT,
                   ENV_LOG " has '%.*s': expected MODULE:LEVEL with a module of %sall, and a level "
                           "of %s, %s",
                   (int)length, item, list, levels[0], levels[1]);
}

/* The bits of one module for a level and those below it. */
static uint32_t bits_of(int module, int level)
{
    return ((1u << (level + 1)) - 1) << (LOG_LEVELS * module);
}

static int read_item(const char *item, size_t length, uint32_t *wanted, struct err *err)
{
    const char *colon = memchr(item, ':', length);
    size_t name = colon ? (size_t)(colon - item) : length;
    int is_all = name == 3 && memcmp(item, "all", 3) == 0;
    int module = index_of(modules, LOG_MODULES, item, name);
    int level = colon ? index_of(levels, LOG_LEVELS, colon + 1, length - name - 1) : -1;

    if (level < 0 || (module < 0 && !is_all))
        return refuse(item, length, err);
    for (int i = 0; i < LOG_MODULES; i++)
        if (is_all || i == module)
            *wanted |= bits_of(i, level);
    return ERR_OK;
}

static int read_all(const char *text, uint32_t *wanted, struct err *err)
{
    uint32_t all = 0;

    for (;; text++) {
        size_t length = strcspn(text, ",");
        int rc = read_item(text, length, &all, err);

        if (rc)
            return rc;
        text += length;
        if (!*text)
            break;
    }
    *wanted = all;
    return ERR_OK;
}

int log_modules_init(struct err *err)
{
    const char *text = getenv(ENV_LOG);

    log_wanted = 0;
    return text && *text ? read_all(text, &log_wanted, err) : ERR_OK;
}

void log_modules_process(uint32_t number)
{
    process = number;
}

/* ---- lines ---- */

/* Appends to a text of `room` bytes; returns its new length. */
__attribute__((format(printf, 4, 5))) static size_t add(char *line, size_t used, size_t room,
                                                        const char *fmt, ...)
{
    va_list args;
    int n;

    va_start(args, fmt);
    n = vsnprintf(line + used, room - used, fmt, args);
    va_end(args);
    return n < 0 ? used : used + (size_t)n < room ? used + (size_t)n : room - 1;
}

void log_module_line(enum log_module module, uint64_t rank, vtime t, const char *fmt, ...)
{
    char head[128], when[UNITS_TEXT_MAX];
    size_t used = add(head, 0, sizeof head, "%s: ", modules[module]);
    va_list args;

    if (process >= 0)
        used = add(head, used, sizeof head, "process %lld: ", (long long)process);
    if (t != VTIME_NEVER)
        used = add(head, used, sizeof head, "%s: ", units_format_time(when, sizeof when, t));
    if (rank != LOG_NO_RANK)
        add(head, used, sizeof head, "rank %llu: ", (unsigned long long)rank);
    va_start(args, fmt);
    log_line(head, fmt, args);
    va_end(args);
}
