/*
 * yaml.c - reads a platform file: libyaml parses it into a document, which yaml_fields.c walks.
 *
 * A file may name another as its base, which is read first; the chain of bases is kept to detect
 * cycles.
 */
#include <string.h>

#include "platform/yaml_internal.h"

#define NESTING_MAX 100
#define BASES_MAX 16

static int read_file(struct platform *, const struct platform_preset_dirs *, const char *path,
                     struct platform_origins *, const struct reader *above, struct err *);

static const yaml_node_t *find_base(struct reader *r, const yaml_node_t *root)
{
    for (yaml_node_pair_t *pair = root->data.mapping.pairs.start;
         root->type == YAML_MAPPING_NODE && pair < root->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = reader_node(r, pair->key);
        if (key->type == YAML_SCALAR_NODE &&
            strcmp((const char *)key->data.scalar.value, "base") == 0)
            return reader_node(r, pair->value);
    }
    return NULL;
}

static int read_base(struct reader *r, const yaml_node_t *node, struct err *err)
{
    const char *name = reader_scalar(r, node, "base", "the name of a preset or a file", err);
    char path[4096];
    int rc = name ? 0 : ERR_INPUT;
    if (rc)
        return rc;
    rc = platform_is_preset(name) ? platform_preset_path(r->dirs, name, path, sizeof path, err)
                                  : read_path(r->file, name, path, sizeof path, err);
    if (rc)
        return reader_fail_value(r, node, "base", err);
    rc = read_file(r->p, r->dirs, path, r->origins, r, err);
    if (rc && strncmp(err->text, path, strlen(path)) != 0)
        rc = reader_fail_value(r, node, "base", err);
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
    return reader_section(r, root, "", err);
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
                rc = reader_fail(r, root, NULL, err, "a second document: expected one");
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
