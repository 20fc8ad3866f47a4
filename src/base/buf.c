/*
 * The text buffer. Invariant: data is NULL with cap 0, or len < cap and data[len] is NUL.
 */
#include "base/buf.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/hostile.h"
#include "base/log.h"
#include "base/mem.h"

void buf_init(struct buf *buf)
{
    *buf = (struct buf){0};
}

void buf_fini(struct buf *buf)
{
    mem_free(buf->data);
    buf_init(buf);
}

/* Makes room for n more bytes and the NUL. */
static void reserve(struct buf *buf, size_t n)
{
    assert_hot(buf->data ? buf->len < buf->cap : !buf->cap && !buf->len);
    if (buf->cap - buf->len > n)
        return;
    if (n >= PTRDIFF_MAX / 2 - buf->len)
        log_fatal("out of memory: text of %zu bytes", n);
    size_t need = buf->len + n + 1;
    size_t cap = HOSTILE(need + need / 16, buf->cap ? buf->cap * 2 : 64);
    buf->cap = cap > need ? cap : need;
    buf->data = mem_realloc(buf->data, buf->cap);
}

void buf_add(struct buf *buf, const void *data, size_t n)
{
    assert_hot(!buf->data || !buf->data[buf->len]);
    reserve(buf, n);
    if (n)
        memcpy(buf->data + buf->len, data, n);
    buf->len += n;
    buf->data[buf->len] = '\0';
}

void buf_adds(struct buf *buf, const char *text)
{
    buf_add(buf, text, strlen(text));
}

void buf_addc(struct buf *buf, char c)
{
    buf_add(buf, &c, 1);
}

void buf_add_csv(struct buf *buf, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        buf_adds(buf, text);
        return;
    }
    buf_addc(buf, '"');
    for (; *text; text++) {
        if (*text == '"')
            buf_addc(buf, '"');
        buf_addc(buf, *text);
    }
    buf_addc(buf, '"');
}

void buf_addf(struct buf *buf, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    reserve(buf, 63);
    size_t room = buf->cap - buf->len;
    int n = vsnprintf(buf->data + buf->len, room, fmt, args);
    if (n < 0)
        log_fatal("cannot format text '%s'", fmt);
    if ((size_t)n >= room) {
        reserve(buf, (size_t)n);
        vsnprintf(buf->data + buf->len, (size_t)n + 1, fmt, again);
    }
    buf->len += (size_t)n;
    va_end(again);
    va_end(args);
}

void buf_cut(struct buf *buf, size_t len)
{
    assert(len <= buf->len);
    buf->len = len;
    if (buf->data)
        buf->data[len] = '\0';
}

void buf_clear(struct buf *buf)
{
    buf_cut(buf, 0);
}

const char *buf_str(const struct buf *buf)
{
    return buf->data ? buf->data : "";
}

char *buf_take(struct buf *buf)
{
    char *data = buf->data ? buf->data : mem_strdup("");
    buf_init(buf);
    return data;
}
