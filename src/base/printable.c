/*
 * printable.c - replaces what a terminal must not see (see printable.h).
 */
#include "base/printable.h"

#include <string.h>

#include "base/utf8.h"

/* U+0080 to U+009F: some terminals take them for escape sequences. */
static int is_control(const char *at, int length)
{
    unsigned char c = (unsigned char)at[0];
    if (length == 1)
        return c < ' ' || c == 0x7f;
    return length == 2 && c == 0xc2 && (unsigned char)at[1] < 0xa0;
}

/* The character at the beginning of a text that need not be terminated; 0 if it is none. */
static int character(const char *at, size_t left)
{
    unsigned char part[5] = "";
    if ((unsigned char)*at < 0x80)
        return 1;
    memcpy(part, at, left < 4 ? left : 4);
    return utf8_length(part);
}

void printable(char *text, size_t length, int lines)
{
    for (size_t i = 0; i < length;) {
        int n = character(text + i, length - i);
        int stays = text[i] == '\t' || (lines && text[i] == '\n');
        if (n > 0 && (stays || !is_control(text + i, n))) {
            i += (size_t)n;
            continue;
        }
        for (n = n > 0 ? n : 1; n > 0; n--)
            text[i++] = '?';
    }
}
