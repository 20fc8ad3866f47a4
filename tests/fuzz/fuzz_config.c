/*
 * Fuzz target: settings. Whatever is accepted must print as a text that is accepted again and
 * gives the same bits.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "net/net.h"
#include "platform/lists.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The same with lists: whatever is accepted must be the same machine after its way as bytes. */
static void set_lists(const char *line)
{
    struct platform p, view;
    struct err err = {0};
    struct buf bytes;
    platform_init(&p);
    buf_init(&bytes);
    if (platform_set(&p, line, NULL, &err) == 0) {
        platform_pack(&p, &bytes);
        if (platform_unpack(&view, buf_str(&bytes), bytes.len, &err) || !platform_equal(&p, &view))
            abort();
        if (platform_check(&p, &err) && !err.text[0])
            abort();
    } else if (err.code != ERR_INPUT || !err.text[0]) {
        abort();
    }
    buf_fini(&bytes);
    platform_fini(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct platform_config config, again;
    struct net net;
    struct err err = {0};
    struct buf text;
    char *line = malloc(size + 1);
    if (!line)
        return 0;
    memcpy(line, data, size);
    line[size] = 0;
    platform_config_init(&config);
    if (platform_config_set(&config, line, &err) == 0) {
        buf_init(&text);
        platform_config_init(&again);
        platform_config_print(&config, &text);
        if (platform_config_set(&again, buf_str(&text), &err) ||
            memcmp(&config, &again, sizeof config) != 0)
            abort();
        buf_fini(&text);
        struct platform machine = {.config = config};

        if (net_init(&net, &machine, 2, &err) == 0) {
            if (net_delay(&net, 0, 1, 1000, 0) < 0)
                abort();
            net_fini(&net);
        }
    } else if (err.code != ERR_INPUT || !err.text[0]) {
        abort();
    }
    set_lists(line);
    free(line);
    return 0;
}
