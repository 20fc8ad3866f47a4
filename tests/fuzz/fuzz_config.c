/*
 * Fuzz target: settings. Whatever is accepted must print as a text that is accepted again and
 * gives the same bits.
 */
#include "fuzz/fuzz_line.h"
#include "net/net.h"
#include "platform/lists.h"
#include "settings_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Accepted settings do not change by conversion to text and back. */
static void print_and_read(const struct platform *p)
{
    struct platform again;
    struct err err = {0};
    struct buf text;
    platform_init(&again);
    buf_init(&text);
    print_settings(&p->config, &text);
    if (platform_set(&again, buf_str(&text), NULL, &err) ||
        memcmp(&p->config, &again.config, sizeof again.config) != 0)
        abort();
    buf_fini(&text);
    platform_fini(&again);
}

/* The machine does not change by conversion to bytes and back. */
static void pack_and_unpack(const struct platform *p)
{
    struct platform view;
    struct err err = {0};
    struct buf bytes;
    buf_init(&bytes);
    platform_pack(p, &bytes);
    if (platform_unpack(&view, buf_str(&bytes), bytes.len, &err) || !platform_equal(p, &view))
        abort();
    if (platform_check(p, &err) && !err.text[0])
        abort();
    buf_fini(&bytes);
}

/* A network can be made, or is refused. */
static void make_network(const struct platform *p)
{
    struct platform machine = {.config = p->config};
    struct err err = {0};
    struct net net;
    if (net_init(&net, &machine, 2, &err))
        return;
    if (net_delay(&net, 0, 1, 1000, 0) < 0)
        abort();
    net_fini(&net);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct platform p;
    struct err err = {0};
    char *line = fuzz_line(data, size);
    platform_init(&p);
    if (platform_set(&p, line, NULL, &err) == 0) {
        print_and_read(&p);
        pack_and_unpack(&p);
        make_network(&p);
    } else if (err.code != ERR_INPUT || !err.text[0]) {
        abort();
    }
    platform_fini(&p);
    free(line);
    return 0;
}
