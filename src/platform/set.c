/*
 * set.c - assignments "key=value,key=value", as --set takes them, to settings and to items of
 * lists.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "platform/lists_internal.h"
#include "platform/origins.h"

#define ASSIGNMENT_MAX 640

/* The i-th name that can be set; NULL beyond the last. */
static const char *name_at(size_t i)
{
    size_t count;
    const struct key *keys = config_keys(&count);
    if (i < count)
        return keys[i].name;
    return i < count + PLATFORM_LISTS ? list_type((enum platform_list_kind)(i - count))->key : NULL;
}

/* Is it the end of a longer name, such as "latency" of net.latency, or its beginning? */
static int is_part(const char *name, const char *part)
{
    size_t n = strlen(name), m = strlen(part);
    return m >= 3 && n > m &&
           ((name[n - m - 1] == '.' && strcmp(name + n - m, part) == 0) ||
            strncmp(name, part, m) == 0);
}

/* The names that it may be a part of, or a misspelling of; NULL if there are none. */
static const char *suggest(const char *name, char *list, size_t size)
{
    struct nearest whole = {.word = name}, last = {.word = name};
    const char *best = NULL, *candidate, *of_last = NULL;
    size_t used = 0;
    for (size_t i = 0; (candidate = name_at(i)); i++) {
        const char *dot = strrchr(candidate, '.'), *before = last.best;
        nearest_offer(&whole, candidate);
        nearest_offer(&last, dot ? dot + 1 : candidate);
        of_last = last.best != before ? candidate : of_last;
        if (!is_part(candidate, name) || strlen(candidate) + 6 > size - used || used > 60)
            continue;
        used += (size_t)snprintf(list + used, size - used, "%s'%s'", used ? " or " : "", candidate);
        best = best ? best : candidate;
    }
    if (!best && (whole.best || of_last)) {
        best = whole.best ? whole.best : of_last;
        snprintf(list, size, "'%s'", best);
    }
    return best;
}

int platform_suggest(const char *name, char *list, size_t size)
{
    return suggest(name, list, size) != NULL;
}

static int unknown_key(const char *name, struct err *err)
{
    char list[200];
    if (suggest(name, list, sizeof list))
        return err_set(err, ERR_INPUT, "unknown setting '%s': did you mean %s?", name, list);
    return err_set(err, ERR_INPUT, "unknown setting '%s': 'orrery help settings' lists them", name);
}

/* ---- items of lists ---- */

static int find_list(const char *name, enum platform_list_kind *out)
{
    for (int i = 0; i < PLATFORM_LISTS; i++) {
        const struct list_type *type = list_type((enum platform_list_kind)i);
        if (!type->from_file && strcmp(type->key, name) == 0) {
            *out = (enum platform_list_kind)i;
            return 1;
        }
    }
    return 0;
}

/* The number of the item for "2", "-1" or "+"; the one after the last has yet to be added. */
static int read_index(const struct platform_list *list, const char *text, size_t *out,
                      struct err *err)
{
    char *end;
    long long index = strtoll(text, &end, 10);
    if (strcmp(text, "+") == 0) {
        *out = list->count;
        return 0;
    }
    if (end == text || *end)
        return err_set(err, ERR_INPUT,
                       "bad item '%s': expected a number from 0, -1 for the last, or + "
                       "to add one",
                       text);
    if (index < 0)
        index += (long long)list->count;
    if (index < 0 || (unsigned long long)index >= list->count)
        return err_set(err, ERR_INPUT, "there is no item %s, the list has %zu: use [+] to add one",
                       text, list->count);
    *out = (size_t)index;
    return 0;
}

static const struct key *find_field(const struct list_type *type, const char *name, struct err *err)
{
    const struct key *key = field_find(type->fields, type->count, name);
    struct nearest nearest = {.word = name};
    if (key)
        return key;
    for (size_t i = 0; i < type->count; i++)
        nearest_offer(&nearest, type->fields[i].name);
    if (!*name)
        err_set(err, ERR_INPUT, "expected a field of the item, as in %s[+].%s=VALUE", type->key,
                type->fields[0].name);
    else if (nearest.best)
        err_set(err, ERR_INPUT, "unknown field '%s': did you mean '%s'?", name, nearest.best);
    else
        err_set(err, ERR_INPUT, "unknown field '%s': 'orrery help %s' lists them", name, type->key);
    return NULL;
}

/* "NAME[INDEX]" or "NAME[INDEX].FIELD", cut at the bracket: `rest` is what follows it. */
static int set_item(struct platform *p, enum platform_list_kind kind, char *rest, const char *value,
                    struct err *err)
{
    const struct list_type *type = list_type(kind);
    size_t count = p->lists[kind].count, index = 0;
    char *close = strchr(rest, ']');
    const struct key *key;
    int rc;
    if (!close || (close[1] && close[1] != '.'))
        return err_set(err, ERR_INPUT, "expected [NUMBER].FIELD after the name of the list");
    *close = 0;
    rc = read_index(&p->lists[kind], rest, &index, err);
    key = rc ? NULL : find_field(type, close[1] ? close + 2 : "", err);
    if (!key)
        return ERR_INPUT;
    if (index == count)
        platform_list_extend(p, kind, 1);
    rc = field_set(key, list_item(p, kind, index), value, err);
    if (rc)
        platform_list_cut(p, kind, count);
    return rc;
}

/* All items at once: nothing, or plain values. */
static int set_all(struct platform *p, enum platform_list_kind kind, char *value, struct err *err)
{
    const struct list_type *type = list_type(kind);
    size_t before = p->lists[kind].count;
    char *save = NULL;
    if (*type->fields[0].name && *value)
        return err_set(err, ERR_INPUT,
                       "'%s' cannot be given as a whole: use %s[+].FIELD=VALUE to add an "
                       "item, %s= to empty it",
                       type->key, type->key, type->key);
    for (char *word = strtok_r(value, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        platform_list_extend(p, kind, 1);
        int rc = field_set(&type->fields[0], list_item(p, kind, p->lists[kind].count - 1), word,
                           err);
        if (rc) {
            platform_list_cut(p, kind, before);
            return rc;
        }
    }
    size_t after = p->lists[kind].count;
    if (before && after > before)
        memmove(list_item(p, kind, 0), list_item(p, kind, before), (after - before) * type->size);
    platform_list_cut(p, kind, after - before);
    return 0;
}

/* Is the assignment for a list? Then *rc is the result. */
static int set_list(struct platform *p, char *name, char *value, struct platform_origins *origins,
                    int *rc, struct err *err)
{
    char *bracket = strchr(name, '['), given[80];
    enum platform_list_kind kind;
    snprintf(given, sizeof given, "%.70s", name);
    if (bracket)
        *bracket = 0;
    if (!find_list(name, &kind)) {
        if (!bracket)
            return 0;
        *rc = unknown_key(name, err);
        return 1;
    }
    *rc = bracket ? set_item(p, kind, bracket + 1, value, err) : set_all(p, kind, value, err);
    if (*rc)
        err_prefix(err, "%s", given);
    else if (origins)
        platform_origins_note_list(origins, kind, NULL, 0);
    return 1;
}

/* ---- assignments ---- */

/* One "key=value" without the comma. */
static int set_one(struct platform *p, const char *item, size_t length,
                   struct platform_origins *origins, struct err *err)
{
    char text[ASSIGNMENT_MAX];
    size_t count;
    const struct key *keys = config_keys(&count), *key;
    int rc = 0;
    if (length >= sizeof text || memchr(item, 0, length))
        return err_set(err, ERR_INPUT, "setting '%.20s...' is too long", item);
    memcpy(text, item, length);
    text[length] = 0;
    char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return err_set(err, ERR_INPUT,
                       "bad setting '%s': expected KEY=VALUE, such as "
                       "net.latency=10us",
                       text);
    *equals = 0;
    key = field_find(keys, count, text);
    if (key && field_set(key, &p->config, equals + 1, err))
        return err_prefix(err, "%s", key->name);
    if (key && origins)
        platform_origins_note(origins, (size_t)(key - keys), NULL, 0);
    if (key)
        return 0;
    if (set_list(p, text, equals + 1, origins, &rc, err))
        return rc;
    return unknown_key(text, err);
}

int platform_set(struct platform *p, const char *assignments, struct platform_origins *origins,
                 struct err *err)
{
    for (const char *item = assignments;;) {
        size_t length = strcspn(item, ",");
        int rc = set_one(p, item, length, origins, err);
        if (rc || !item[length])
            return rc;
        item += length + 1;
    }
}
