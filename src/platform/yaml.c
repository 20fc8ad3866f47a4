/*
 * yaml.c - reads a platform file: libyaml parses it into a document, which is walked using the
 * tables of settings and lists.
 *
 * Sections are the parts of dotted names: "net: {intra: {latency: 1us}}" is net.intra.latency. A
 * file may name another as its base, which is read first; the chain of bases is kept to detect
 * cycles. Aliases cost nothing to store, but could be walked over and over, so visits are counted.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <yaml.h>

#include "base/mem.h"
#include "base/nearest.h"
#include "platform/read_internal.h"

#define VISITS_MAX 4000000
#define NESTING_MAX 100
#define KEYS_MAX 256
#define BASES_MAX 16
#define NAME_MAX_LENGTH 80

struct reader {
    struct platform *p;
    const struct platform_preset_dirs *dirs;
    struct platform_origins *origins;
    const char *file;
    yaml_document_t *document;
    size_t visits;
    const struct reader *above; /* the file whose base this is */
    dev_t device;               /* of the file; 0: it has none */
    ino_t inode;
};

static int read_file(struct platform *, const struct platform_preset_dirs *, const char *path,
                     struct platform_origins *, const struct reader *above, struct err *);

/* Sets the error "FILE:LINE: FIELD: text"; without the field if it is NULL. */
__attribute__((format(printf, 5, 6))) static int fail(const struct reader *r, const yaml_node_t *at,
                                                      const char *field, struct err *err,
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

/* Puts file, line and field before the error from the reader of the value. */
static int fail_value(const struct reader *r, const yaml_node_t *at, const char *field,
                      struct err *err)
{
    char text[sizeof err->text];
    memcpy(text, err->text, sizeof text);
    return fail(r, at, field, err, "%.500s", text);
}

static yaml_node_t *node_at(struct reader *r, int id)
{
    return yaml_document_get_node(r->document, id);
}

static const char *kind_name(const yaml_node_t *node)
{
    return node->type == YAML_MAPPING_NODE    ? "a section"
           : node->type == YAML_SEQUENCE_NODE ? "a list"
                                              : "a single value";
}

/* The text of a scalar; for anything else NULL, with the error set. */
static const char *scalar(const struct reader *r, const yaml_node_t *node, const char *field,
                          const char *expected, struct err *err)
{
    const char *text = (const char *)node->data.scalar.value;
    if (node->type != YAML_SCALAR_NODE) {
        fail(r, node, field, err, "%s was given: expected %s", kind_name(node), expected);
        return NULL;
    }
    if (strlen(text) != node->data.scalar.length) {
        fail(r, node, field, err, "the value has a NUL character");
        return NULL;
    }
    if (node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
        (!*text || strcmp(text, "~") == 0 || strcmp(text, "null") == 0)) {
        fail(r, node, field, err, "no value was given: expected %s", expected);
        return NULL;
    }
    return text;
}

static int visit(struct reader *r, const yaml_node_t *node, struct err *err)
{
    if (++r->visits > VISITS_MAX)
        return fail(r, node, NULL, err, "more than %d values, aliases followed", VISITS_MAX);
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
        const char *text = scalar(r, node_at(r, *i), field, "a number", err);
        if (!text)
            return ERR_INPUT;
        int n = snprintf(out + used, size - used, "%s%s", used ? "x" : "", text);
        if (n < 0 || (size_t)n >= size - used)
            return fail(r, node, field, err, "too many sizes: expected up to %d",
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
    else if (!(text = scalar(r, node, field, expected_of[key->type], err)))
        rc = ERR_INPUT;
    if (rc)
        return rc;
    if (key->type == KEY_PATH && *text) {
        if (read_path(r->file, text, joined, sizeof joined, err))
            return fail_value(r, node, field, err);
        text = joined;
    }
    return field_set(key, object, text, err) ? fail_value(r, node, field, err) : 0;
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
        return fail(r, at, field, err,
                    "unknown field: sections are nested, as in net: {latency: 5us}");
    if (nearest->best)
        return fail(r, at, field, err, "unknown field: did you mean '%s'?", nearest->best);
    return fail(r, at, field, err, "unknown field: expected one of: %s", list);
}

/* The name of a member, which must not repeat in its mapping; on failure NULL, with the error
 * set. */
static const char *member_name(struct reader *r, const yaml_node_t *mapping,
                               const yaml_node_pair_t *pair, const char *prefix, struct err *err)
{
    const yaml_node_t *key = node_at(r, pair->key);
    const char *name = scalar(r, key, *prefix ? prefix : NULL, "the name of a field", err);
    const yaml_node_pair_t *first = mapping->data.mapping.pairs.start;
    if (!name)
        return NULL;
    if (strlen(name) > NAME_MAX_LENGTH || pair - first > KEYS_MAX) {
        fail(r, key, *prefix ? prefix : NULL, err, "field '%.20s...': %s", name,
             strlen(name) > NAME_MAX_LENGTH ? "the name is too long" : "too many fields");
        return NULL;
    }
    for (const yaml_node_pair_t *p = first; p < pair; p++) {
        const yaml_node_t *other = node_at(r, p->key);
        if (strcmp((const char *)other->data.scalar.value, name) == 0) {
            fail(r, key, *prefix ? prefix : NULL, err, "'%s' was already given in line %zu", name,
                 other->start_mark.line + 1);
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
        return fail(r, node, prefix, err, "%s was given: expected fields, as in {%s: ...}",
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
            return unknown_field(r, node_at(r, pair->key), field, &nearest, list, err);
        }
        if (visit(r, node, err) || read_value(r, key, item, node_at(r, pair->value), field, err))
            return ERR_INPUT;
    }
    return list_check(r->p, kind, index, err) ? fail_value(r, node, NULL, err) : 0;
}

/* nodes.map may be the name of a file, or numbers in one text. */
static int read_map(struct reader *r, const yaml_node_t *node, struct err *err)
{
    const char *text = scalar(r, node, "nodes.map", "a list of nodes, or the name of a file", err);
    char path[PLATFORM_PATH_MAX];
    struct buf words;
    int rc;
    if (!text)
        return ERR_INPUT;
    buf_init(&words);
    if (strspn(text, "0123456789 ") == strlen(text)) {
        buf_adds(&words, text);
        rc = platform_read_map(r->p, r->file, buf_str(&words), words.len, err);
        rc = rc ? fail(r, node, "nodes.map", err, "bad list of nodes '%.40s'", text) : 0;
    } else {
        rc = read_path(r->file, text, path, sizeof path, err);
        if (rc == 0)
            rc = read_whole(path, READ_TEXT_MAX, &words, err);
        if (rc)
            rc = fail_value(r, node, "nodes.map", err);
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
        return fail(r, node, type->key, err,
                    "%s was given: expected a list, each item behind a '-'", kind_name(node));
    platform_list_cut(r->p, kind, 0);
    for (yaml_node_item_t *i = node->data.sequence.items.start; i < node->data.sequence.items.top;
         i++) {
        note_item(r, kind, node_at(r, *i));
        if (visit(r, node, err) || read_item(r, kind, node_at(r, *i), err))
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

static int read_section(struct reader *, const yaml_node_t *, const char *prefix, struct err *);

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
    return read_section(r, node, full, err);
}

static int read_section(struct reader *r, const yaml_node_t *node, const char *prefix,
                        struct err *err)
{
    if (node->type != YAML_MAPPING_NODE)
        return fail(r, node, *prefix ? prefix : NULL, err,
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
        if (read_member(r, node_at(r, pair->key), node_at(r, pair->value), prefix, name, err))
            return ERR_INPUT;
    }
    return 0;
}

/* ---- files ---- */

static const yaml_node_t *find_base(struct reader *r, const yaml_node_t *root)
{
    for (yaml_node_pair_t *pair = root->data.mapping.pairs.start;
         root->type == YAML_MAPPING_NODE && pair < root->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = node_at(r, pair->key);
        if (key->type == YAML_SCALAR_NODE &&
            strcmp((const char *)key->data.scalar.value, "base") == 0)
            return node_at(r, pair->value);
    }
    return NULL;
}

static int read_base(struct reader *r, const yaml_node_t *node, struct err *err)
{
    const char *name = scalar(r, node, "base", "the name of a preset or a file", err);
    char path[4096];
    int rc = name ? 0 : ERR_INPUT;
    if (rc)
        return rc;
    rc = platform_is_preset(name) ? platform_preset_path(r->dirs, name, path, sizeof path, err)
                                  : read_path(r->file, name, path, sizeof path, err);
    if (rc)
        return fail_value(r, node, "base", err);
    rc = read_file(r->p, r->dirs, path, r->origins, r, err);
    if (rc && strncmp(err->text, path, strlen(path)) != 0)
        rc = fail_value(r, node, "base", err);
    return rc;
}

/* A machine without a name gets the name of its file. */
static void name_by_file(struct reader *r)
{
    const char *slash = strrchr(r->file, '/'), *base = slash ? slash + 1 : r->file;
    char *name = r->p->config.name;
    size_t length = strcspn(base, ".");
    if (length >= PLATFORM_NAME_MAX)
        length = PLATFORM_NAME_MAX - 1;
    memset(name, 0, PLATFORM_NAME_MAX);
    memcpy(name, base, length);
    memset(r->p->config.description, 0, sizeof r->p->config.description);
}

static int read_document(struct reader *r, struct err *err)
{
    const yaml_node_t *root = yaml_document_get_root_node(r->document), *base;
    if (!root)
        return err_set(err, ERR_INPUT,
                       "%s:1: the file is empty: expected fields, as in:  name: value", r->file);
    base = find_base(r, root);
    if (base) {
        int rc = read_base(r, base, err);
        if (rc)
            return rc;
    }
    if (r->origins)
        r->origins->layers++;
    name_by_file(r);
    return read_section(r, root, "", err);
}

/* The line of a byte; libyaml gives no better position for text that is not UTF-8. */
static size_t line_of(const char *text, size_t length, size_t offset)
{
    size_t line = 1;
    for (size_t i = 0; i < length && i < offset; i++)
        line += text[i] == '\n';
    return line;
}

static int bad_yaml(const yaml_parser_t *parser, const char *file, const char *text, size_t length,
                    struct err *err)
{
    size_t at = parser->problem_mark.index;
    if (parser->error == YAML_MEMORY_ERROR)
        return err_set(err, ERR_MEMORY, "%s: no memory to read it", file);
    if (parser->error == YAML_READER_ERROR)
        return err_set(err, ERR_INPUT, "%s:%zu: the file is not UTF-8 text: %s", file,
                       line_of(text, length, parser->problem_offset), parser->problem);
    if (at < length && text[at] == '\t')
        return err_set(err, ERR_INPUT, "%s:%zu: a tab: indent by spaces", file,
                       parser->problem_mark.line + 1);
    return err_set(err, ERR_INPUT, "%s:%zu: not YAML: %s%s%s", file, parser->problem_mark.line + 1,
                   parser->context ? parser->context : "", parser->context ? ", " : "",
                   parser->problem ? parser->problem : "unknown problem");
}

/* libyaml takes time proportional to length times depth. Brackets in strings and comments are
 * counted, too, which does no harm. */
static int too_deep(const char *text, size_t length)
{
    size_t depth = 0, most = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '[' || text[i] == '{')
            depth++;
        else if ((text[i] == ']' || text[i] == '}') && depth)
            depth--;
        most = depth > most ? depth : most;
    }
    return most > NESTING_MAX;
}

static int read_text(struct reader *r, const char *text, size_t length, struct err *err)
{
    yaml_parser_t parser;
    yaml_document_t document, second;
    int rc;
    if (too_deep(text, length))
        return err_set(err, ERR_INPUT, "%s: more than %d brackets within brackets", r->file,
                       NESTING_MAX);
    if (!yaml_parser_initialize(&parser))
        return err_set(err, ERR_MEMORY, "%s: no memory to read it", r->file);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    if (!yaml_parser_load(&parser, &document)) {
        rc = bad_yaml(&parser, r->file, text, length, err);
    } else {
        r->document = &document;
        rc = read_document(r, err);
        yaml_document_delete(&document);
    }
    if (rc == 0) {
        if (!yaml_parser_load(&parser, &second)) {
            rc = bad_yaml(&parser, r->file, text, length, err);
        } else {
            const yaml_node_t *root = yaml_document_get_root_node(&second);
            if (root)
                rc = fail(r, root, NULL, err, "a second document: expected one");
            yaml_document_delete(&second);
        }
    }
    yaml_parser_delete(&parser);
    return rc;
}

static int read_file(struct platform *p, const struct platform_preset_dirs *dirs, const char *path,
                     struct platform_origins *origins, const struct reader *above, struct err *err)
{
    struct reader r = {.p = p, .dirs = dirs, .file = path, .origins = origins, .above = above};
    struct stat st;
    struct buf text;
    size_t depth = 0;
    int rc;
    if (stat(path, &st) == 0) {
        r.device = st.st_dev;
        r.inode = st.st_ino;
    }
    for (const struct reader *a = above; a; a = a->above)
        if (++depth > BASES_MAX || (r.inode && a->inode == r.inode && a->device == r.device))
            return err_set(err, ERR_INPUT,
                           depth > BASES_MAX ? "more than %d bases of bases ('%s')"
                                             : "%.0d'%s' is its own base, or that of its base",
                           depth > BASES_MAX ? BASES_MAX : 0, path);
    buf_init(&text);
    rc = read_whole(path, READ_YAML_MAX, &text, err);
    if (rc == 0)
        rc = read_text(&r, buf_str(&text), text.len, err);
    buf_fini(&text);
    return rc;
}

int platform_read_text(struct platform *p, const struct platform_preset_dirs *dirs,
                       const char *file, const char *text, size_t length,
                       struct platform_origins *origins, struct err *err)
{
    struct reader r = {.p = p, .dirs = dirs, .file = file, .origins = origins};
    return read_text(&r, text, length, err);
}

int platform_read(struct platform *p, const struct platform_preset_dirs *dirs, const char *name,
                  struct platform_origins *origins, struct err *err)
{
    char path[4096];
    if (!platform_is_preset(name))
        return read_file(p, dirs, name, origins, NULL, err);
    int rc = platform_preset_path(dirs, name, path, sizeof path, err);
    return rc ? rc : read_file(p, dirs, path, origins, NULL, err);
}
