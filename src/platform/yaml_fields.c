/*
 * yaml_fields.c - walks the document of a platform file, using the tables of settings and lists.
 *
 * Sections are the parts of dotted names: "net: {intra: {latency: 1us}}" is net.intra.latency.
 * Aliases cost nothing to store, but could be walked over and over, so visits are counted.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/nearest.h"
#include "platform/yaml_internal.h"

#define VISITS_MAX 4000000
#define KEYS_MAX 256
#define NAME_MAX_LENGTH 80

int reader_fail(const struct reader *r, const yaml_node_t *at, const char *field, struct err *err,
                const char *fmt, ...)
{
    char text[600];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return err_set(err, ERR_INPUT, "%s:%zu: %s%s%s", r->file, at->start_mark.line + 1,
                   field ? field : "", field ? ": " : "", text);
}

int reader_fail_value(const struct reader *r, const yaml_node_t *at, const char *field,
                      struct err *err)
{
    char text[sizeof err->text];
    memcpy(text, err->text, sizeof text);
    return reader_fail(r, at, field, err, "%.500s", text);
}

yaml_node_t *reader_node(struct reader *r, int id)
{
    return yaml_document_get_node(r->document, id);
}

static const char *kind_name(const yaml_node_t *node)
{
    return node->type == YAML_MAPPING_NODE    ? "a section"
           : node->type == YAML_SEQUENCE_NODE ? "a list"
                                              : "a single value";
}

const char *reader_scalar(const struct reader *r, const yaml_node_t *node, const char *field,
                          const char *expected, struct err *err)
{
    const char *text = (const char *)node->data.scalar.value;
    if (node->type != YAML_SCALAR_NODE) {
        reader_fail(r, node, field, err, "%s was given: expected %s", kind_name(node), expected);
        return NULL;
    }
    if (strlen(text) != node->data.scalar.length) {
        reader_fail(r, node, field, err, "the value has a NUL character");
        return NULL;
    }
    if (node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
        (!*text || strcmp(text, "~") == 0 || strcmp(text, "null") == 0)) {
        reader_fail(r, node, field, err, "no value was given: expected %s", expected);
        return NULL;
    }
    return text;
}

static int visit(struct reader *r, const yaml_node_t *node, struct err *err)
{
    if (++r->visits > VISITS_MAX)
        return reader_fail(r, node, NULL, err, "more than %d values, aliases followed", VISITS_MAX);
    return 0;
}

/* ---- single values ---- */

static const char *const expected_of[KEY_TYPES] = {
    [KEY_TIME] = "a time, such as 5us",
    [KEY_BANDWIDTH] = "a bandwidth, such as 10Gbps",
    [KEY_SIZE] = "a size, such as 64KiB",
    [KEY_COUNT] = "a number, such as 16",
    [KEY_FACTOR] = "a number, such as 1.5",
    [KEY_NAME] = "a name",
    [KEY_PATH] = "the name of a file",
    [KEY_TEXT] = "a text",
    [KEY_DIMS] = "sizes, such as 4x4x2 or [4, 4, 2]",
    [KEY_NODE] = "the number of a node",
    [KEY_RANGE] = "nodes, such as 3 or 0-15",
    [KEY_FLAG] = "true or false",
};

/* [4, 4, 2] as "4x4x2". */
static int join_sizes(struct reader *r, const yaml_node_t *node, const char *field, char *out,
                      size_t size, struct err *err)
{
    size_t used = 0;
    *out = 0;
    for (yaml_node_item_t *i = node->data.sequence.items.start; i < node->data.sequence.items.top;
         i++) {
        const char *text = reader_scalar(r, reader_node(r, *i), field, "a number", err);
        if (!text)
            return ERR_INPUT;
        int n = snprintf(out + used, size - used, "%s%s", used ? "x" : "", text);
        if (n < 0 || (size_t)n >= size - used)
            return reader_fail(r, node, field, err, "too many sizes: expected up to %d",
                               PLATFORM_DIMS_MAX);
        used += (size_t)n;
    }
    return 0;
}

static int read_value(struct reader *r, const struct key *key, void *object,
                      const yaml_node_t *node, const char *field, struct err *err)
{
    char joined[PLATFORM_PATH_MAX];
    const char *text = joined;
    int rc = 0;
    if (key->type == KEY_DIMS && node->type == YAML_SEQUENCE_NODE)
        rc = join_sizes(r, node, field, joined, sizeof joined, err);
    else if (!(text = reader_scalar(r, node, field, expected_of[key->type], err)))
        rc = ERR_INPUT;
    if (rc)
        return rc;
    if (key->type == KEY_PATH && *text) {
        if (read_path(r->file, text, joined, sizeof joined, err))
            return reader_fail_value(r, node, field, err);
        text = joined;
    }
    return field_set(key, object, text, err) ? reader_fail_value(r, node, field, err) : 0;
}

static void note_origin(struct reader *r, size_t key, const yaml_node_t *node)
{
    if (r->origins)
        platform_origins_note(r->origins, key, r->file, (unsigned)node->start_mark.line + 1);
}

static void note_list(struct reader *r, enum platform_list_kind kind, const yaml_node_t *node)
{
    if (r->origins)
        platform_origins_note_list(r->origins, kind, r->file, (unsigned)node->start_mark.line + 1);
}

static void note_item(struct reader *r, enum platform_list_kind kind, const yaml_node_t *node)
{
    unsigned line = (unsigned)node->start_mark.line + 1;
    if (r->origins)
        buf_add(&r->origins->lines[kind], &line, sizeof line);
}

/* ---- lists ---- */

static int unknown_field(const struct reader *r, const yaml_node_t *at, const char *field,
                         const struct nearest *nearest, const char *list, struct err *err)
{
    if (strchr(nearest->word, '.'))
        return reader_fail(r, at, field, err,
                           "unknown field: sections are nested, as in net: {latency: 5us}");
    if (nearest->best)
        return reader_fail(r, at, field, err, "unknown field: did you mean '%s'?", nearest->best);
    return reader_fail(r, at, field, err, "unknown field: expected one of: %s", list);
}

/* The name of a member, which must not repeat in its mapping; on failure NULL, with the error
 * set. */
static const char *member_name(struct reader *r, const yaml_node_t *mapping,
                               const yaml_node_pair_t *pair, const char *prefix, struct err *err)
{
    const yaml_node_t *key = reader_node(r, pair->key);
    const char *name = reader_scalar(r, key, *prefix ? prefix : NULL, "the name of a field", err);
    const yaml_node_pair_t *first = mapping->data.mapping.pairs.start;
    if (!name)
        return NULL;
    if (strlen(name) > NAME_MAX_LENGTH || pair - first > KEYS_MAX) {
        reader_fail(r, key, *prefix ? prefix : NULL, err, "field '%.20s...': %s", name,
                    strlen(name) > NAME_MAX_LENGTH ? "the name is too long" : "too many fields");
        return NULL;
    }
    for (const yaml_node_pair_t *p = first; p < pair; p++) {
        const yaml_node_t *other = reader_node(r, p->key);
        if (strcmp((const char *)other->data.scalar.value, name) == 0) {
            reader_fail(r, key, *prefix ? prefix : NULL, err, "'%s' was already given in line %zu",
                        name, other->start_mark.line + 1);
            return NULL;
        }
    }
    return name;
}

static int read_item(struct reader *r, enum platform_list_kind kind, const yaml_node_t *node,
                     struct err *err)
{
    const struct list_type *type = list_type(kind);
    size_t index = r->p->lists[kind].count;
    void *item = platform_list_extend(r->p, kind, 1);
    char prefix[64], field[192];
    snprintf(prefix, sizeof prefix, "%s[%zu]", type->key, index);
    if (!*type->fields[0].name)
        return read_value(r, &type->fields[0], item, node, prefix, err);
    if (node->type != YAML_MAPPING_NODE)
        return reader_fail(r, node, prefix, err, "%s was given: expected fields, as in {%s: ...}",
                           kind_name(node), type->fields[0].name);
    for (yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         pair < node->data.mapping.pairs.top; pair++) {
        const char *name = member_name(r, node, pair, prefix, err);
        if (!name)
            return ERR_INPUT;
        snprintf(field, sizeof field, "%s.%s", prefix, name);
        const struct key *key = field_find(type->fields, type->count, name);
        if (!key) {
            struct nearest nearest = {.word = name};
            char list[256] = "";
            for (size_t f = 0; f < type->count; f++) {
                size_t used = strlen(list);
                nearest_offer(&nearest, type->fields[f].name);
                snprintf(list + used, sizeof list - used, "%s%s", f ? ", " : "",
                         type->fields[f].name);
            }
            return unknown_field(r, reader_node(r, pair->key), field, &nearest, list, err);
        }
        if (visit(r, node, err) ||
            read_value(r, key, item, reader_node(r, pair->value), field, err))
            return ERR_INPUT;
    }
    return list_check(r->p, kind, index, err) ? reader_fail_value(r, node, NULL, err) : 0;
}

/* nodes.map may be the name of a file, or numbers in one text. */
static int read_map(struct reader *r, const yaml_node_t *node, struct err *err)
{
    const char *text = reader_scalar(r, node, "nodes.map", "a list of nodes, or the name of a file",
                                     err);
    char path[PLATFORM_PATH_MAX];
    struct buf words;
    int rc;
    if (!text)
        return ERR_INPUT;
    buf_init(&words);
    if (strspn(text, "0123456789 ") == strlen(text)) {
        buf_adds(&words, text);
        rc = platform_read_map(r->p, r->file, buf_str(&words), words.len, err);
        rc = rc ? reader_fail(r, node, "nodes.map", err, "bad list of nodes '%.40s'", text) : 0;
    } else {
        rc = read_path(r->file, text, path, sizeof path, err);
        if (rc == 0)
            rc = read_whole(path, READ_TEXT_MAX, &words, err);
        if (rc)
            rc = reader_fail_value(r, node, "nodes.map", err);
        else
            rc = platform_read_map(r->p, path, buf_str(&words), words.len, err);
    }
    buf_fini(&words);
    return rc;
}

static int read_list(struct reader *r, enum platform_list_kind kind, const yaml_node_t *node,
                     struct err *err)
{
    const struct list_type *type = list_type(kind);
    note_list(r, kind, node);
    if (kind == PLATFORM_MAP && node->type == YAML_SCALAR_NODE)
        return read_map(r, node, err);
    if (node->type != YAML_SEQUENCE_NODE)
        return reader_fail(r, node, type->key, err,
                           "%s was given: expected a list, each item behind a '-'",
                           kind_name(node));
    platform_list_cut(r->p, kind, 0);
    for (yaml_node_item_t *i = node->data.sequence.items.start; i < node->data.sequence.items.top;
         i++) {
        note_item(r, kind, reader_node(r, *i));
        if (visit(r, node, err) || read_item(r, kind, reader_node(r, *i), err))
            return ERR_INPUT;
    }
    return 0;
}

/* ---- sections ---- */

/* Is `name` the beginning of a longer key, up to a dot? */
static int begins(const char *key, const char *name)
{
    size_t length = strlen(name);
    return strncmp(key, name, length) == 0 && key[length] == '.';
}

/* The part of a key that follows the prefix, up to the next dot. */
static void offer_part(const char *key, const char *prefix, struct nearest *nearest,
                       char (*parts)[32], size_t *count)
{
    size_t skip = *prefix ? strlen(prefix) + 1 : 0, length;
    if (*prefix && !begins(key, prefix))
        return;
    length = strcspn(key + skip, ".");
    for (size_t i = 0; i < *count; i++)
        if (strlen(parts[i]) == length && strncmp(parts[i], key + skip, length) == 0)
            return;
    if (*count == KEYS_MAX || length >= sizeof parts[0])
        return;
    memcpy(parts[*count], key + skip, length);
    parts[*count][length] = 0;
    nearest_offer(nearest, parts[(*count)++]);
}

static int unknown_member(struct reader *r, const yaml_node_t *at, const char *prefix,
                          const char *name, const char *full, struct err *err)
{
    struct nearest nearest = {.word = name};
    char(*parts)[32] = mem_alloc(KEYS_MAX * sizeof *parts), list[500] = "";
    size_t count = 0, keys;
    const struct key *key = config_keys(&keys);
    for (size_t i = 0; i < keys; i++)
        offer_part(key[i].name, prefix, &nearest, parts, &count);
    for (int i = 0; i < PLATFORM_LISTS; i++)
        offer_part(list_type((enum platform_list_kind)i)->key, prefix, &nearest, parts, &count);
    for (size_t i = 0; i < count; i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", parts[i]);
    }
    int rc = unknown_field(r, at, full, &nearest, list, err);
    mem_free(parts);
    return rc;
}

static int is_section(const char *name)
{
    size_t count;
    const struct key *keys = config_keys(&count);
    for (size_t i = 0; i < count; i++)
        if (begins(keys[i].name, name))
            return 1;
    return 0;
}

static int read_setting(struct reader *r, const struct key *key, const yaml_node_t *node,
                        struct err *err)
{
    size_t count;
    const struct key *keys = config_keys(&count);
    int rc;
    note_origin(r, (size_t)(key - keys), node);
    if (node->type == YAML_SEQUENCE_NODE && strcmp(key->name, "nodes.placement") == 0) {
        rc = read_list(r, PLATFORM_MAP, node, err);
        return rc ? rc : field_set(key, &r->p->config, "list", err);
    }
    return read_value(r, key, &r->p->config, node, key->name, err);
}

static int read_member(struct reader *r, const yaml_node_t *at, const yaml_node_t *node,
                       const char *prefix, const char *name, struct err *err)
{
    char full[PLATFORM_NAME_MAX + 2 * NAME_MAX_LENGTH];
    size_t count;
    const struct key *keys = config_keys(&count), *key;
    snprintf(full, sizeof full, "%s%s%s", prefix, *prefix ? "." : "", name);
    if (strchr(name, '.'))
        return unknown_member(r, at, prefix, name, full, err);
    key = field_find(keys, count, full);
    if (key)
        return read_setting(r, key, node, err);
    for (int i = 0; i < PLATFORM_LISTS; i++) {
        const struct list_type *type = list_type((enum platform_list_kind)i);
        if (!type->from_file && strcmp(type->key, full) == 0)
            return read_list(r, (enum platform_list_kind)i, node, err);
    }
    if (!is_section(full))
        return unknown_member(r, at, prefix, name, full, err);
    return reader_section(r, node, full, err);
}

int reader_section(struct reader *r, const yaml_node_t *node, const char *prefix, struct err *err)
{
    if (node->type != YAML_MAPPING_NODE)
        return reader_fail(r, node, *prefix ? prefix : NULL, err,
                           "%s was given: expected fields, as in:  "
                           "name: value",
                           kind_name(node));
    for (yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         pair < node->data.mapping.pairs.top; pair++) {
        const char *name = member_name(r, node, pair, prefix, err);
        if (!name || visit(r, node, err))
            return ERR_INPUT;
        if (!*prefix && strcmp(name, "base") == 0)
            continue; /* was read first */
        if (read_member(r, reader_node(r, pair->key), reader_node(r, pair->value), prefix, name,
                        err))
            return ERR_INPUT;
    }
    return 0;
}
