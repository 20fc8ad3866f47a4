#include "base/xml.h"

#include "base/utf8.h"

void xml_add_text(struct buf *out, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    while (*s) {
        int n = utf8_length(s);
        if (*s == '&')
            buf_adds(out, "&amp;");
        else if (*s == '<')
            buf_adds(out, "&lt;");
        else if (*s == '>')
            buf_adds(out, "&gt;");
        else if (*s == '"')
            buf_adds(out, "&quot;");
        else if (n == 0 || *s < 32 || *s == 127)
            buf_addc(out, '?');
        else
            buf_add(out, s, (size_t)n);
        s += n ? n : 1;
    }
}
