/*
 * Fuzz target: settings. Whatever is accepted must print as a text that is accepted again and
 * gives the same bits.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "net/net.h"
#include "platform/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
    free(line);
    return 0;
}
