/*
 * UTF-8, as far as writers of text must know it.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

static inline int utf8_continues(const unsigned char *s, int n)
{
    for (int i = 1; i <= n; i++) {
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    }
    return 1;
}

/* The length of the UTF-8 character at s (RFC 3629: no surrogates, shortest form), or 0. */
static inline int utf8_length(const unsigned char *s)
{
    if (s[0] < 0x80)
        return 1;
    if (s[0] >= 0xC2 && s[0] <= 0xDF)
        return utf8_continues(s, 1) ? 2 : 0;
    if (s[0] >= 0xE0 && s[0] <= 0xEF) {
        if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F))
            return 0;
        return utf8_continues(s, 2) ? 3 : 0;
    }
    if (s[0] >= 0xF0 && s[0] <= 0xF4) {
        if ((s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F))
            return 0;
        return utf8_continues(s, 3) ? 4 : 0;
    }
    return 0;
}

#endif
