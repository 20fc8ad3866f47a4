/*
 * Fuzz target: platform files. Whatever is accepted must be written as a text that is accepted
 * again and gives the same bits.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "platform/read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct platform_preset_dirs dirs = {0};
    struct platform p, again;
    struct err err = {0};
    struct buf text;
    platform_init(&p);
    platform_init(&again);
    buf_init(&text);
    if (platform_read_text(&p, &dirs, "m.yaml", (const char *)data, size, NULL, &err) == 0) {
        platform_write(&p, NULL, &text);
        if (platform_read_text(&again, &dirs, "m.yaml", buf_str(&text), text.len, NULL, &err) ||
            !platform_equal(&p, &again))
            abort();
    } else if (!err.text[0]) {
        abort();
    }
    buf_fini(&text);
    platform_fini(&again);
    platform_fini(&p);
    return 0;
}
