/*
 * schema.c - the JSON schema of platform files, for editors; generated from the tables that the
 * reader uses.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "platform/read_internal.h"

#define NUMBER "[0-9]+(\\.[0-9]*)?([eE][-+]?[0-9]+)?"

struct schema {
    struct json json;
    const char *(*choice)(const char *key, unsigned i);
};

static void put(struct json *j, const char *key, const char *text)
{
    json_key(j, key);
    json_string(j, text);
}

/* Writes {"type": TYPE, "pattern": PATTERN}; without a pattern if that is NULL. */
static void put_form(struct json *j, const char *type, const char *pattern)
{
    json_object_begin(j);
    put(j, "type", type);
    if (pattern)
        put(j, "pattern", pattern);
    json_object_end(j);
}

/* The forms that a value may have: a text, and for some types a number or a list. */
static const struct {
    const char *pattern; /* of a text */
    const char *type;    /* besides */
} forms[KEY_TYPES] = {
    [KEY_TIME] = {"^(" NUMBER " *(ps|ns|us|ms|s|min|h)|0)?$", NULL},
    [KEY_BANDWIDTH] = {"^(" NUMBER " *([kKMGTP]i?)?(bps|bit/s|b/s|Bps|B/s)|inf|infinite|0)?$",
                       NULL},
    [KEY_SIZE] = {"^(" NUMBER " *([kKMGTP]i?)?B?)?$", "integer"},
    [KEY_COUNT] = {"^(" NUMBER " *([kKMGTP]i?)?)?$", "integer"},
    [KEY_FACTOR] = {"^(" NUMBER ")?$", "number"},
    [KEY_NAME] = {NULL, NULL},
    [KEY_PATH] = {NULL, NULL},
    [KEY_TEXT] = {NULL, NULL},
    [KEY_DIMS] = {"^([1-9][0-9]*(x[1-9][0-9]*)*)?$", "array"},
    [KEY_NODE] = {NULL, "integer"},
    [KEY_RANGE] = {"^[0-9]+(-[0-9]+)?$", "integer"},
    [KEY_FLAG] = {NULL, "boolean"},
};

static void put_number(struct json *j, const char *type, int positive)
{
    json_object_begin(j);
    put(j, "type", type);
    json_key(j, positive ? "exclusiveMinimum" : "minimum");
    json_uint(j, 0);
    json_object_end(j);
}

static void put_forms(struct json *j, const struct key *key)
{
    const char *type = forms[key->type].type;
    json_key(j, "anyOf");
    json_array_begin(j);
    if (key->type != KEY_FLAG && key->type != KEY_NODE)
        put_form(j, "string", forms[key->type].pattern);
    if (key->type == KEY_TIME || (key->type == KEY_BANDWIDTH && !key->positive)) {
        json_object_begin(j);
        json_key(j, "const");
        json_uint(j, 0);
        json_object_end(j);
    } else if (type && strcmp(type, "array") == 0) {
        json_object_begin(j);
        put(j, "type", type);
        json_key(j, "items");
        put_number(j, "integer", 1);
        json_key(j, "maxItems");
        json_uint(j, PLATFORM_DIMS_MAX);
        json_object_end(j);
    } else if (type && strcmp(type, "boolean") == 0) {
        put_form(j, type, NULL);
    } else if (type) {
        put_number(j, type, key->positive);
    }
    json_array_end(j);
}

static void put_choices(struct schema *s, const char *name)
{
    json_key(&s->json, "enum");
    json_array_begin(&s->json);
    for (unsigned i = 0; s->choice(name, i); i++) {
        const char *word = s->choice(name, i);
        if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0) /* as YAML has them */
            json_bool(&s->json, word[0] == 't');
        else
            json_string(&s->json, word);
    }
    json_array_end(&s->json);
}

/* `name` is the full name, for choices. */
static void put_field(struct schema *s, const struct key *key, const char *name)
{
    json_object_begin(&s->json);
    put(&s->json, "description", key->help);
    if (key->value && *key->value)
        put(&s->json, "default", key->value);
    if (strcmp(name, "nodes.placement") == 0) {
        json_key(&s->json, "anyOf");
        json_array_begin(&s->json);
        json_object_begin(&s->json);
        put_choices(s, name);
        json_object_end(&s->json);
        json_object_begin(&s->json);
        put(&s->json, "type", "array");
        json_key(&s->json, "items");
        put_number(&s->json, "integer", 0);
        json_object_end(&s->json);
        json_array_end(&s->json);
    } else if (s->choice && s->choice(name, 0)) {
        put_choices(s, name);
    } else {
        put_forms(&s->json, key);
    }
    json_object_end(&s->json);
}

static void put_required(struct json *j, const struct list_type *type)
{
    json_key(j, "required");
    json_array_begin(j);
    for (size_t f = 0; f < type->count; f++)
        if (!type->fields[f].value)
            json_string(j, type->fields[f].name);
    json_array_end(j);
}

static void put_list(struct schema *s, const struct list_type *type)
{
    struct json *j = &s->json;
    int plain = !*type->fields[0].name;
    json_object_begin(j);
    put(j, "description", type->help);
    if (!plain) {
        put(j, "type", "array");
    } else {
        json_key(j, "type");
        json_array_begin(j);
        json_string(j, "array");
        json_string(j, "string"); /* the name of a file */
        json_array_end(j);
    }
    json_key(j, "items");
    if (plain) {
        put_number(j, "integer", 0);
    } else {
        json_object_begin(j);
        put(j, "type", "object");
        json_key(j, "properties");
        json_object_begin(j);
        for (size_t f = 0; f < type->count; f++) {
            char name[64];
            snprintf(name, sizeof name, "%s.%s", type->key, type->fields[f].name);
            json_key(j, type->fields[f].name);
            put_field(s, &type->fields[f], name);
        }
        json_object_end(j);
        put_required(j, type);
        json_key(j, "additionalProperties");
        json_bool(j, 0);
        json_object_end(j);
    }
    json_object_end(j);
}

/* If the key is in the section of this length, returns where its own part begins. */
static const char *below(const char *key, const char *section, size_t length)
{
    if (length == 0)
        return key;
    return strncmp(key, section, length) == 0 && key[length] == '.' ? key + length + 1 : NULL;
}

static void put_section(struct schema *s, const char *section, size_t length);

/* Writes what is directly in the section: settings, subsections at their first setting, lists. */
static void put_members(struct schema *s, const char *section, size_t length)
{
    size_t count;
    const struct key *keys = config_keys(&count);
    for (size_t i = 0; i < count; i++) {
        const char *part = below(keys[i].name, section, length);
        size_t end = part ? strcspn(part, ".") : 0,
               whole = part ? (size_t)(part - keys[i].name) + end : 0;
        int seen = !part;
        for (size_t k = 0; k < i && !seen && part[end]; k++)
            seen = strncmp(keys[k].name, keys[i].name, whole + 1) == 0;
        if (seen)
            continue;
        char name[64] = "";
        memcpy(name, part, end < sizeof name ? end : sizeof name - 1);
        json_key(&s->json, name);
        if (part[end])
            put_section(s, keys[i].name, whole);
        else
            put_field(s, &keys[i], keys[i].name);
    }
    for (int i = 0; i < PLATFORM_LISTS; i++) {
        const struct list_type *type = list_type((enum platform_list_kind)i);
        const char *part = below(type->key, section, length);
        if (!part || strchr(part, '.') || type->from_file)
            continue;
        json_key(&s->json, part);
        put_list(s, type);
    }
}

static void put_section(struct schema *s, const char *section, size_t length)
{
    json_object_begin(&s->json);
    put(&s->json, "type", "object");
    json_key(&s->json, "properties");
    json_object_begin(&s->json);
    put_members(s, section, length);
    json_object_end(&s->json);
    json_key(&s->json, "additionalProperties");
    json_bool(&s->json, 0);
    json_object_end(&s->json);
}

void platform_schema(const char *(*choice)(const char *key, unsigned i), struct buf *out)
{
    struct schema s = {.choice = choice};
    struct json *j = &s.json;
    json_init(j, out);
    json_object_begin(j);
    put(j, "$schema", "https://json-schema.org/draft/2020-12/schema");
    put(j, "title", "Orrery platform file");
    put(j, "description", "A machine for 'orrery run --platform'.");
    put(j, "type", "object");
    json_key(j, "properties");
    json_object_begin(j);
    json_key(j, "base");
    json_object_begin(j);
    put(j, "description", "a preset, or a file, whose values hold where this file says nothing");
    put(j, "type", "string");
    json_object_end(j);
    put_members(&s, "", 0);
    json_object_end(j);
    json_key(j, "additionalProperties");
    json_bool(j, 0);
    json_object_end(j);
    json_fini(j);
}
