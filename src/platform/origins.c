/*
 * origins.c - where settings were given.
 */
#include "platform/origins.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "platform/lists_internal.h"

void platform_origins_init(struct platform_origins *o)
{
    memset(o, 0, sizeof *o);
    o->of = mem_zalloc(platform_config_count() * sizeof *o->of);
}

void platform_origins_fini(struct platform_origins *o)
{
    for (size_t i = 0; i < platform_config_count() && o->of; i++)
        mem_free(o->of[i].file);
    for (int i = 0; i < PLATFORM_LISTS; i++) {
        mem_free(o->lists[i].file);
        buf_fini(&o->lines[i]);
    }
    mem_free(o->of);
    memset(o, 0, sizeof *o);
}

static void note(struct platform_origin *o, unsigned layer, const char *file, unsigned line)
{
    mem_free(o->file);
    *o = (struct platform_origin){layer, file ? mem_strdup(file) : NULL, line};
}

void platform_origins_note(struct platform_origins *o, size_t setting, const char *file,
                           unsigned line)
{
    note(&o->of[setting], o->layers, file, line);
}

/* A list in a file replaces the previous one; an item added on the command line does not. */
void platform_origins_note_list(struct platform_origins *o, enum platform_list_kind kind,
                                const char *file, unsigned line)
{
    if (file) {
        note(&o->lists[kind], o->layers, file, line);
        buf_clear(&o->lines[kind]);
    } else {
        o->lists[kind].layer = o->layers;
        o->lists[kind].line = 0;
    }
}

const struct platform_origin *platform_origins_find(const struct platform_origins *o,
                                                    const char *name)
{
    for (size_t i = 0; i < platform_config_count(); i++)
        if (strcmp(platform_config_key(i), name) == 0)
            return &o->of[i];
    for (int i = 0; i < PLATFORM_LISTS; i++)
        if (strcmp(list_type((enum platform_list_kind)i)->key, name) == 0)
            return &o->lists[i];
    return NULL;
}

/* The line of "KEY[NUMBER]" of a list that was given in a file. */
static unsigned line_of_item(const struct platform_origins *o, int kind, const char *text)
{
    const char *key = list_type((enum platform_list_kind)kind)->key;
    size_t length = strlen(key), item;
    unsigned line = 0;
    if (!o->lists[kind].file || strncmp(text, key, length) != 0 || text[length] != '[')
        return 0;
    item = strtoul(text + length + 1, NULL, 10);
    if ((item + 1) * sizeof line <= o->lines[kind].len)
        memcpy(&line, buf_str(&o->lines[kind]) + item * sizeof line, sizeof line);
    return line;
}

static int begins_with(const char *text, const char *key)
{
    size_t length = strcspn(text, ":");
    return strlen(key) == length && strncmp(key, text, length) == 0;
}

static void explain(const struct platform_origin *o, struct err *err)
{
    if (o->file && o->line)
        err_prefix(err, "%s:%u", o->file, o->line);
    else if (o->layer)
        err_prefix(err, "--set");
}

void platform_origins_explain(const struct platform_origins *o, struct err *err)
{
    for (size_t i = 0; i < platform_config_count(); i++)
        if (begins_with(err->text, platform_config_key(i))) {
            explain(&o->of[i], err);
            return;
        }
    for (int i = 0; i < PLATFORM_LISTS; i++) {
        unsigned line = line_of_item(o, i, err->text);
        if (line) {
            err_prefix(err, "%s:%u", o->lists[i].file, line);
            return;
        }
        if (begins_with(err->text, list_type((enum platform_list_kind)i)->key)) {
            explain(&o->lists[i], err);
            return;
        }
    }
}
