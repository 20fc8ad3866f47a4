/*
 * write.c - writes a machine as a platform file: sections in the order of the table, each field
 * with its help as a comment; and as JSON. Item fields that were not given are omitted. Unused
 * settings are commented out, so that they can be restored when the model changes.
 */
#include <string.h>

#include "base/json.h"
#include "platform/read_internal.h"

#define REMARK_COLUMN 36

/* Plain words, including numbers with units, need no quotes. */
static int is_plain(const char *text)
{
    static const char *const words[] = {"null", "true", "false", "yes", "no", "on", "off", "~"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcasecmp(text, words[i]) == 0)
            return 0;
    size_t good = strspn(text,
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-");
    return *text && *text != '-' && *text != '.' && !text[good];
}

/* Returns the character at *at and advances; bytes that are not UTF-8 count as characters. */
static unsigned long next_character(const char **at)
{
    unsigned char first = (unsigned char)*(*at)++;
    int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
    unsigned long c = more == 3   ? first & 7
                      : more == 2 ? first & 15
                      : more == 1 ? first & 31
                                  : first;
    for (; more && ((unsigned char)**at & 0xc0) == 0x80; more--)
        c = c << 6 | ((unsigned char)*(*at)++ & 0x3f);
    return c;
}

/* Non-ASCII characters are escaped, since some of them are line breaks in YAML. */
static void add_quoted(const char *at, struct buf *out)
{
    buf_addc(out, '"');
    while (*at) {
        unsigned long c = next_character(&at);
        if (c == '"' || c == '\\')
            buf_addf(out, "\\%c", (char)c);
        else if (c < 32 || c >= 127)
            buf_addf(out, "\\U%08lx", c);
        else
            buf_addc(out, (char)c);
    }
    buf_addc(out, '"');
}

static void add_value(const struct key *key, const void *object, struct buf *out)
{
    struct buf text;
    const char *at;
    buf_init(&text);
    field_print(key, object, &text);
    at = buf_str(&text);
    if (is_plain(at) || key->type == KEY_FLAG) {
        buf_adds(out, at);
    } else {
        add_quoted(at, out);
    }
    buf_fini(&text);
}

static void add_comment(struct buf *out, size_t line, const char *help)
{
    size_t column = out->len - line;
    do
        buf_addc(out, ' ');
    while (++column < REMARK_COLUMN);
    buf_addf(out, "# %s\n", help);
}

static void add_indent(struct buf *out, int depth)
{
    for (int i = 0; i < depth; i++)
        buf_adds(out, "  ");
}

static int depth_of(const char *key)
{
    int depth = 0;
    for (; *key; key++)
        depth += *key == '.';
    return depth;
}

static const char *last_part(const char *key)
{
    const char *dot = strrchr(key, '.');
    return dot ? dot + 1 : key;
}

static int is_given(const struct key *key, const void *item)
{
    struct buf text;
    buf_init(&text);
    field_print(key, item, &text);
    int given = text.len > 0;
    buf_fini(&text);
    return given;
}

static int is_used(const struct platform *p, platform_used *used, const char *name)
{
    return !used || used(p, name);
}

/* Begins a line, with '#' if it is a comment. */
static void begin_line(struct buf *out, int depth, int used)
{
    add_indent(out, depth);
    buf_adds(out, used ? "" : "# ");
}

static void write_values(const struct platform *p, enum platform_list_kind kind, int used,
                         struct buf *out)
{
    size_t line = out->len;
    buf_adds(out, " [");
    for (size_t i = 0; i < p->lists[kind].count; i++) {
        buf_adds(out, i ? "," : "");
        if (out->len - line > 80) {
            buf_addc(out, '\n');
            line = out->len;
            begin_line(out, depth_of(list_type(kind)->key) + 2, used);
        } else {
            buf_adds(out, i ? " " : "");
        }
        add_value(&list_type(kind)->fields[0], list_item(p, kind, i), out);
    }
    buf_adds(out, "]\n");
}

static void write_items(const struct platform *p, enum platform_list_kind kind, int used,
                        struct buf *out)
{
    const struct list_type *type = list_type(kind);
    int depth = depth_of(type->key);
    for (size_t i = 0; i < p->lists[kind].count; i++) {
        const void *item = list_item(p, kind, i);
        const char *before = "- {";
        begin_line(out, depth + 1, used);
        for (size_t f = 0; f < type->count; f++)
            if (is_given(&type->fields[f], item)) {
                buf_addf(out, "%s%s: ", before, type->fields[f].name);
                add_value(&type->fields[f], item, out);
                before = ", ";
            }
        buf_adds(out, "}\n");
    }
}

static void write_list(const struct platform *p, enum platform_list_kind kind, int used,
                       struct buf *out)
{
    const struct list_type *type = list_type(kind);
    size_t line = out->len;
    begin_line(out, depth_of(type->key), used);
    buf_addf(out, "%s:", last_part(type->key));
    if (!p->lists[kind].count) {
        buf_adds(out, " []");
        add_comment(out, line, type->help);
    } else if (!*type->fields[0].name) {
        write_values(p, kind, used, out);
    } else {
        add_comment(out, line, type->help);
        write_items(p, kind, used, out);
    }
}

/* Writes the lists of this section, after its settings. */
static void write_lists(const struct platform *p, platform_used *used, const char *section,
                        size_t length, struct buf *out)
{
    for (int i = 0; i < PLATFORM_LISTS; i++) {
        const struct list_type *type = list_type((enum platform_list_kind)i);
        size_t own = (size_t)(last_part(type->key) - type->key);
        if (!type->from_file && own == length + 1 && strncmp(type->key, section, length) == 0)
            write_list(p, (enum platform_list_kind)i, is_used(p, used, type->key), out);
    }
}

static size_t section_length(const char *key)
{
    const char *dot = strrchr(key, '.');
    return dot ? (size_t)(dot - key) : 0;
}

/* Is anything used in the section that `key` names up to its dot? */
static int is_section_used(const struct platform *p, platform_used *used, const char *key,
                           size_t end)
{
    size_t count;
    const struct key *keys = config_keys(&count);
    for (size_t i = 0; i < count; i++)
        if (strncmp(keys[i].name, key, end + 1) == 0 && is_used(p, used, keys[i].name))
            return 1;
    for (int i = 0; i < PLATFORM_LISTS; i++) {
        const struct list_type *type = list_type((enum platform_list_kind)i);
        if (!type->from_file && strncmp(type->key, key, end + 1) == 0 &&
            is_used(p, used, type->key))
            return 1;
    }
    return 0;
}

/* Writes the headings from where two keys differ. */
static void write_headings(const struct platform *p, platform_used *used, const char *before,
                           const char *key, struct buf *out)
{
    size_t length = section_length(key);
    int depth = 0;
    for (size_t at = 0; at < length;) {
        size_t end = at + strcspn(key + at, ".");
        if (strncmp(before, key, end + 1) != 0) {
            if (depth == 0)
                buf_addc(out, '\n');
            begin_line(out, depth, is_section_used(p, used, key, end));
            buf_addf(out, "%.*s:\n", (int)(end - at), key + at);
        }
        depth++;
        at = end + 1;
    }
}

void platform_write(const struct platform *p, platform_used *used, struct buf *out)
{
    size_t count, length = 0;
    const struct key *keys = config_keys(&count);
    const char *before = "";
    for (size_t i = 0; i < count; i++) {
        const char *key = keys[i].name;
        if (section_length(key) != length || strncmp(before, key, length) != 0) {
            if (length)
                write_lists(p, used, before, length, out);
            write_headings(p, used, before, key, out);
            length = section_length(key);
        }
        size_t line = out->len;
        begin_line(out, depth_of(key), is_used(p, used, key));
        buf_addf(out, "%s: ", last_part(key));
        add_value(&keys[i], &p->config, out);
        add_comment(out, line, keys[i].help);
        before = key;
    }
    write_lists(p, used, before, length, out);
}

static void put_field(struct json *json, const struct key *key, const void *object)
{
    struct buf value;
    buf_init(&value);
    field_print(key, object, &value);
    json_key(json, key->name);
    json_string(json, buf_str(&value));
    buf_fini(&value);
}

static void put_items(const struct platform *p, enum platform_list_kind kind, struct json *json)
{
    const struct list_type *type = list_type(kind);
    json_key(json, type->key);
    json_array_begin(json);
    for (size_t i = 0; i < p->lists[kind].count; i++) {
        const void *item = list_item(p, kind, i);
        json_object_begin(json);
        for (size_t f = 0; f < type->count; f++)
            if (is_given(&type->fields[f], item))
                put_field(json, &type->fields[f], item);
        json_object_end(json);
    }
    json_array_end(json);
}

void platform_json(const struct platform *p, struct json *json)
{
    size_t count;
    const struct key *keys = config_keys(&count);
    json_object_begin(json);
    for (size_t i = 0; i < count; i++)
        put_field(json, &keys[i], &p->config);
    for (int i = 0; i < PLATFORM_LISTS; i++) {
        const struct list_type *type = list_type((enum platform_list_kind)i);
        if (!type->from_file && *type->fields[0].name && p->lists[i].count)
            put_items(p, (enum platform_list_kind)i, json);
    }
    json_object_end(json);
}
