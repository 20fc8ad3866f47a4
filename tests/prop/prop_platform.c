/*
 * Property: a random machine, written as a platform file and read over the default one, or passed
 * as bytes, is the same to the last bit. Every field of every table takes part.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "platform/lists_internal.h"
#include "platform/read.h"
#include "tap.h"

#define ROUNDS 300
#define ITEMS_MAX 5

static struct rng rng;

/* Texts that YAML would like to understand otherwise. */
static void random_text(char *out, size_t size)
{
    static const char *const hard[] = {"yes",      "null",
                                       "~",        "- a",
                                       "a: b",     "#x",
                                       "0x10",     "\"",
                                       "\\",       "'",
                                       "{}",       "[",
                                       "&a",       "*a",
                                       "!t",       "|",
                                       ">",        "%",
                                       "@",        "\t",
                                       " ",        "\x01",
                                       "\xc2\x85", "\xe2\x80\xa8",
                                       "\xc3\xa9", "\xf0\x9f\x98\x80",
                                       "1e5",      "."};
    size_t words = rng_below(&rng, 4), used = 0;
    memset(out, 0, size);
    for (size_t i = 0; i < words; i++) {
        const char *word = hard[rng_below(&rng, sizeof hard / sizeof hard[0])];
        if (used + strlen(word) < size - 1)
            used += (size_t)snprintf(out + used, size - used, "%s", word);
    }
}

static void random_value(const struct key *key, char *text, size_t size)
{
    unsigned long long bits = rng_next(&rng) >> (1 + rng_below(&rng, 62));
    unsigned small = (unsigned)(1 + rng_below(&rng, 100000));
    static const char *const times[] = {"ps", "ns", "us", "ms", "s"};
    switch (key->type) {
    case KEY_TIME:
        snprintf(text, size, "%u%s", small, times[rng_below(&rng, 5)]);
        break;
    case KEY_BANDWIDTH:
        snprintf(text, size, rng_below(&rng, 8) ? "%.17g%s" : "inf", 1 + rng_double(&rng) * 1e6,
                 rng_below(&rng, 2) ? "bps" : "Gbps");
        break;
    case KEY_SIZE:
    case KEY_COUNT:
        snprintf(text, size, "%llu", 1 + bits / 2);
        break;
    case KEY_FACTOR:
        snprintf(text, size, "%.17g", 1e-9 + rng_double(&rng));
        break;
    case KEY_NAME:
        random_text(text, PLATFORM_NAME_MAX);
        break;
    case KEY_TEXT:
        random_text(text, size);
        break;
    case KEY_PATH:
        random_text(text + 1, size - 1);
        text[0] = '/';
        break;
    case KEY_DIMS:
        snprintf(text, size, "%ux%ux7", small, 1 + small / 3);
        break;
    case KEY_NODE:
        snprintf(text, size, "%u", small);
        break;
    case KEY_RANGE:
        snprintf(text, size, "%u-%u", small, small + (unsigned)rng_below(&rng, 9));
        break;
    case KEY_FLAG:
        snprintf(text, size, "%s", rng_below(&rng, 2) ? "true" : "false");
        break;
    case KEY_TYPES:
        break;
    }
}

/* Values that are refused, such as empty names where one is needed, leave the field as it is. */
static void randomise(const struct key *keys, size_t count, void *object)
{
    for (size_t i = 0; i < count; i++) {
        char text[200];
        struct err err;
        if (rng_below(&rng, 3) == 0 && keys[i].value)
            continue;
        do
            random_value(&keys[i], text, sizeof text);
        while (field_set(&keys[i], object, text, &err) && !keys[i].value);
    }
}

static void random_machine(struct platform *p)
{
    size_t count;
    const struct key *keys = config_keys(&count);
    platform_init(p);
    randomise(keys, count, &p->config);
    for (int k = 0; k < PLATFORM_LISTS; k++) {
        const struct list_type *type = list_type((enum platform_list_kind)k);
        for (size_t i = rng_below(&rng, ITEMS_MAX); i > 0 && !type->from_file; i--) {
            size_t before = p->lists[k].count;
            struct err err;
            randomise(type->fields, type->count,
                      platform_list_extend(p, (enum platform_list_kind)k, 1));
            if (list_check(p, (enum platform_list_kind)k, before, &err))
                platform_list_cut(p, (enum platform_list_kind)k, before);
        }
    }
}

static int as_file(const struct platform *p)
{
    struct platform_preset_dirs none = {0};
    struct platform again;
    struct err err;
    struct buf text;
    buf_init(&text);
    platform_init(&again);
    platform_write(p, NULL, &text);
    int rc = platform_read_text(&again, &none, "/m.yaml", buf_str(&text), text.len, NULL, &err);
    int same = rc == 0 && platform_equal(p, &again);
    if (!same)
        diag("%s\n%s", rc ? err.text : "differs", buf_str(&text));
    platform_fini(&again);
    buf_fini(&text);
    return same;
}

static int as_bytes(const struct platform *p)
{
    struct platform view;
    struct err err;
    struct buf bytes;
    buf_init(&bytes);
    platform_pack(p, &bytes);
    int same = platform_unpack(&view, buf_str(&bytes), bytes.len, &err) == 0 &&
               platform_equal(p, &view);
    buf_fini(&bytes);
    return same;
}

int main(void)
{
    int files = 1, bytes = 1;
    size_t items = 0;
    plan_auto();
    rng_seed(&rng, 20261116);
    diag("seed 20261116");
    for (int i = 0; i < ROUNDS && files && bytes; i++) {
        struct platform p;
        random_machine(&p);
        for (int k = 0; k < PLATFORM_LISTS; k++)
            items += p.lists[k].count;
        files = as_file(&p);
        bytes = as_bytes(&p);
        platform_fini(&p);
    }
    ok(files, "machines come back from files");
    ok(bytes, "machines come back from bytes");
    ok(items > ROUNDS, "there were items of lists");
    return done_testing();
}
