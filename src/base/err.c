/*
 * err.c - error values. Texts are formatted into a local buffer first, because arguments may point
 * into the text they replace.
 */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *err, enum err_code code, const char *fmt, ...)
{
    char text[sizeof err->text];
    va_list args;
    if (!err)
        return code;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    memcpy(err->text, text, strlen(text) + 1);
    err->code = code;
    return code;
}

int err_prefix(struct err *err, const char *fmt, ...)
{
    char text[sizeof err->text];
    va_list args;
    if (!err)
        return ERR_INPUT;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    size_t used = strlen(text), kept = strlen(err->text);
    size_t room = sizeof text - 1 - used;
    if (room > 2) {
        memcpy(text + used, ": ", 2);
        kept = kept < room - 2 ? kept : room - 2;
        memcpy(text + used + 2, err->text, kept);
        used += 2 + kept;
    }
    memcpy(err->text, text, used);
    err->text[used] = '\0';
    return err->code;
}
