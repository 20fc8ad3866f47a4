/*
 * parse.c - hypotheses as text: the kinds, and the words that follow them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/array.h"
#include "base/units.h"
#include "base/vtime.h"
#include "whatif/whatif.h"

#define WORDS_MOST 64

/* The words with which a hypothesis begins, and its kind. Its subject follows, if it has one, then
 * pairs of words. */
static const struct {
    const char *first, *second; /* second: NULL: none */
    const struct whatif_kind *kind;
    const char *names;            /* what its subject is; NULL: it has none */
    const char *needs, *or_needs; /* words that must follow, or NULL */
    const char *words;            /* that may follow */
} kinds[] = {
    {"scale", NULL, &whatif_scale, "region", "by", NULL, "by ranks nodes visits"},
    {"set", NULL, &whatif_set_time, "region", "to", NULL, "to ranks nodes visits"},
    {"balance", NULL, &whatif_balance, "region", NULL, NULL, "ranks nodes visits"},
    {"speed", NULL, &whatif_speed, NULL, "by", NULL, "by ranks nodes"},
    {"remove", "messages", &whatif_remove_messages, NULL, NULL, NULL,
     "from to tag size comm repair"},
    {"resize", "messages", &whatif_resize_messages, NULL, "to", "by",
     "to by from tag size comm repair"},
    {"insert", "message", &whatif_insert_message, NULL, "size", NULL,
     "from to size tag before after visits"},
    {"remove", "collective", &whatif_remove_collective, "function", NULL, NULL, "comm visits"},
    {"replace", "collective", &whatif_replace_collective, "function", "with", NULL,
     "with size comm visits"},
    {"nonblocking", NULL, &whatif_nonblocking, "function", NULL, NULL,
     "until comm visits ranks nodes"},
};
#define KINDS (sizeof kinds / sizeof kinds[0])

struct words {
    char *at[WORDS_MOST];
    size_t count;
};

static int wrong(const char *text, struct err *err, const char *why)
{
    return err_set(err, ERR_INPUT, "what-if '%s': %s", text, why);
}

/* ---- values ---- */

static int read_number(const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return *text && !*end && errno == 0 ? 0 : -1;
}

static int read_bytes(const char *text, int64_t *out)
{
    uint64_t bytes;
    struct err err;
    if (units_parse_size(text, &bytes, &err) != 0 || bytes > INT64_MAX)
        return -1;
    *out = (int64_t)bytes;
    return 0;
}

static int read_factor(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    if (end == text)
        return -1;
    if (*end == '%' && !end[1])
        *out /= 100;
    else if (*end && strcmp(end, "x") != 0)
        return -1;
    return *out >= 0 && *out < 1e9 ? 0 : -1;
}

/* "3", "0-3", "8-", and several of them with commas. */
static int read_set(struct whatif_set *set, char *text, int (*value)(const char *, int64_t *))
{
    for (char *part = strtok(text, ","); part; part = strtok(NULL, ",")) {
        struct whatif_range range = {0, INT64_MAX};
        char *dash = strchr(part, '-');
        if (dash)
            *dash = '\0';
        if ((*part || !dash) && value(part, &range.first) != 0)
            return -1;
        if (!dash)
            range.last = range.first;
        else if (dash[1] && value(dash + 1, &range.last) != 0)
            return -1;
        ARRAY_EXTEND(set->ranges, set->count);
        set->ranges[set->count++] = range;
    }
    return set->count ? 0 : -1;
}

/* ---- words ---- */

/* Words are separated by blanks; quotes of either kind keep blanks. */
static int split(char *text, struct words *w)
{
    for (char *at = text; *at;) {
        at += strspn(at, " \t");
        if (!*at)
            break;
        char quote = *at == '"' || *at == '\'' ? *at++ : '\0';
        if (w->count == WORDS_MOST)
            return -1;
        w->at[w->count++] = at;
        char *end = quote ? strchr(at, quote) : at + strcspn(at, " \t");
        if (!end)
            return -1;
        at = end + (*end != '\0');
        *end = '\0';
    }
    return 0;
}

static void set_text(char **into, const char *text)
{
    mem_free(*into);
    *into = mem_strdup(text);
}

/* "to" is a time, a number of bytes or a rank, depending on the kind. When messages are resized,
 * the first "to" is the size, unless there is a factor. */
static int read_to(struct whatif *what, char *value)
{
    if (what->kind == &whatif_set_time) {
        vtime time;
        struct err err;
        if (units_parse_time(value, &time, &err) != 0)
            return -1;
        what->time = time;
        return 0;
    }
    if (what->kind == &whatif_resize_messages && !what->is_scaled && what->bytes < 0)
        return read_bytes(value, &what->bytes);
    return read_set(&what->to, value, read_number);
}

static int read_size(struct whatif *what, char *value)
{
    return what->kind == &whatif_insert_message || what->kind == &whatif_replace_collective
               ? read_bytes(value, &what->bytes)
               : read_set(&what->sizes, value, read_bytes);
}

static int read_pair(struct whatif *what, const char *word, char *value)
{
    if (strcmp(word, "nodes") == 0 || strcmp(word, "node") == 0)
        return read_set(&what->nodes, value, read_number);
    if (strcmp(word, "by") == 0)
        return read_factor(value, &what->factor);
    if (strcmp(word, "to") == 0)
        return read_to(what, value);
    if (strcmp(word, "ranks") == 0 || strcmp(word, "rank") == 0)
        return read_set(&what->ranks, value, read_number);
    if (strcmp(word, "visits") == 0 || strcmp(word, "visit") == 0)
        return read_set(&what->visits, value, read_number);
    if (strcmp(word, "from") == 0)
        return read_set(&what->from, value, read_number);
    if (strcmp(word, "size") == 0)
        return read_size(what, value);
    if (strcmp(word, "tag") == 0)
        return read_number(value, &what->tag);
    if (strcmp(word, "comm") == 0)
        return set_text(&what->comm, value), 0;
    if (strcmp(word, "with") == 0)
        return set_text(&what->with, value), 0;
    if (strcmp(word, "repair") == 0) {
        what->repairs = strcmp(value, "yes") == 0;
        return what->repairs || strcmp(value, "no") == 0 ? 0 : -1;
    }
    if (strcmp(word, "until") == 0)
        return set_text(&what->until, value), 0;
    if (strcmp(word, "before") == 0 || strcmp(word, "after") == 0) {
        what->is_after = word[0] == 'a';
        what->names = "region";
        return set_text(&what->subject, value), 0;
    }
    return 1;
}

/* Whether a word is in a list of words with blanks between them; "rank" is short for "ranks". */
static int is_listed(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; *at;) {
        size_t n = strcspn(at, " ");
        int is_short = n == length + 1 && at[length] == 's' && length > 3;
        if ((n == length || is_short) && strncmp(at, word, length) == 0)
            return 1;
        at += n + (at[n] == ' ');
    }
    return 0;
}

static int has_word(const struct words *w, const char *word)
{
    for (size_t i = 1; word && i < w->count; i++)
        if (strcmp(w->at[i], word) == 0)
            return 1;
    return 0;
}

static int find_kind(const struct words *w)
{
    for (size_t i = 0; i < KINDS; i++)
        if (w->count && strcmp(kinds[i].first, w->at[0]) == 0 &&
            (!kinds[i].second || (w->count > 1 && strcmp(kinds[i].second, w->at[1]) == 0)))
            return (int)i;
    return -1;
}

static int list_kinds(const char *text, struct err *err)
{
    char names[400] = "";
    for (size_t i = 0; i < KINDS; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s%s%s", i ? ", " : "", kinds[i].first,
                 kinds[i].second ? " " : "", kinds[i].second ? kinds[i].second : "");
    }
    return err_set(err, ERR_INPUT, "what-if '%s': expected one of: %s", text, names);
}

static int unknown_word(const char *text, const char *word, const char *words, struct err *err)
{
    return err_set(err, ERR_INPUT, "what-if '%s': unknown word '%.40s': expected one of: %s", text,
                   word, words);
}

/* The subject, at word *i; `next` is the word that may follow it. */
static int read_subject(struct whatif *what, const struct words *w, size_t *i, const char *next)
{
    int is_region = strcmp(what->names, "region") == 0;
    if (is_region && *i + 1 < w->count && strcmp(w->at[*i], "site") == 0) {
        what->is_site = 1;
        what->names = "call site";
        ++*i;
    } else if (is_region && *i + 1 < w->count && strcmp(w->at[*i], "region") == 0) {
        ++*i;
    } else if (next && *i < w->count && strcmp(w->at[*i], next) == 0) {
        return -1;
    }
    if (*i >= w->count)
        return -1;
    set_text(&what->subject, w->at[(*i)++]);
    return 0;
}

static int read_words(struct whatif *what, struct words *w, struct err *err)
{
    char why[160];
    int kind = find_kind(w);
    if (kind < 0)
        return list_kinds(what->text, err);
    size_t i = kinds[kind].second ? 2 : 1;
    what->kind = kinds[kind].kind;
    what->names = kinds[kind].names;
    what->is_scaled = has_word(w, "by");
    if (what->names && read_subject(what, w, &i, kinds[kind].needs) != 0)
        return wrong(what->text, err, "of what? A name or pattern is missing");
    if (kinds[kind].needs && !has_word(w, kinds[kind].needs) &&
        !has_word(w, kinds[kind].or_needs)) {
        snprintf(why, sizeof why, "'%s' and a value are missing", kinds[kind].needs);
        return wrong(what->text, err, why);
    }
    for (; i < w->count; i += 2) {
        if (i + 1 >= w->count) {
            snprintf(why, sizeof why, "'%.40s' has no value", w->at[i]);
            return wrong(what->text, err, why);
        }
        char *value = mem_strdup(w->at[i + 1]);
        int rc = is_listed(kinds[kind].words, w->at[i]) ? read_pair(what, w->at[i], value) : 1;
        mem_free(value);
        if (rc == 0)
            continue;
        if (rc > 0)
            return unknown_word(what->text, w->at[i], kinds[kind].words, err);
        snprintf(why, sizeof why, "'%.40s' cannot be '%.40s'", w->at[i], w->at[i + 1]);
        return wrong(what->text, err, why);
    }
    return 0;
}

static int check(const struct whatif *what, struct err *err)
{
    if (what->kind == &whatif_speed && !(what->factor > 0))
        return wrong(what->text, err, "the speed must be above 0");
    if (what->kind == &whatif_insert_message &&
        (what->from.count != 1 || what->to.count != 1 || !what->subject))
        return wrong(what->text, err,
                     "expected: insert message from RANK to RANK size BYTES before|after REGION");
    if (what->kind == &whatif_insert_message &&
        (what->from.ranges[0].first != what->from.ranges[0].last ||
         what->to.ranges[0].first != what->to.ranges[0].last))
        return wrong(what->text, err, "a message has one sender and one receiver");
    return 0;
}

static int add_text(struct whatif_list *list, const char *text, struct err *err)
{
    struct words words = {0};
    ARRAY_EXTEND(list->items, list->count);
    struct whatif *what = &list->items[list->count++];
    *what = (struct whatif){.text = mem_strdup(text), .factor = 1, .bytes = -1, .tag = -1};
    char *copy = mem_strdup(text);
    int rc = split(copy, &words) != 0
                 ? wrong(text, err, "a quote is not closed, or there are too many words")
                 : read_words(what, &words, err);
    mem_free(copy);
    return rc ? rc : check(what, err);
}

void whatif_fini(struct whatif_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        struct whatif *what = &list->items[i];
        if (what->kind && what->kind->forget)
            what->kind->forget(what);
        mem_free(what->text);
        mem_free(what->subject);
        mem_free(what->comm);
        mem_free(what->with);
        mem_free(what->until);
        mem_free(what->ranks.ranges);
        mem_free(what->nodes.ranges);
        mem_free(what->visits.ranges);
        mem_free(what->from.ranges);
        mem_free(what->to.ranges);
        mem_free(what->sizes.ranges);
    }
    mem_free(list->items);
    mem_free(list->shapes);
    *list = (struct whatif_list){0};
}

/* ---- files ---- */

/* The words of a map: keys and values in turn. */
static int add_map(yaml_document_t *d, yaml_node_t *map, struct whatif_list *list, struct err *err)
{
    char line[1024];
    size_t used = 0;
    line[0] = '\0';
    for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top;
         p++) {
        yaml_node_t *key = yaml_document_get_node(d, p->key),
                    *value = yaml_document_get_node(d, p->value);
        if (key->type != YAML_SCALAR_NODE || value->type != YAML_SCALAR_NODE)
            return err_set(err, ERR_INPUT, "line %zu: expected KEY: VALUE",
                           key->start_mark.line + 1);
        const char *text = (const char *)value->data.scalar.value;
        int has_blank = strchr(text, ' ') != NULL && used > 0;
        used += (size_t)snprintf(line + used, sizeof line - used, "%s%s %s%s%s", used ? " " : "",
                                 (const char *)key->data.scalar.value, has_blank ? "\"" : "", text,
                                 has_blank ? "\"" : "");
        if (used >= sizeof line)
            return err_set(err, ERR_INPUT, "line %zu: too long", key->start_mark.line + 1);
    }
    return add_text(list, line, err);
}

static int add_document(yaml_document_t *d, struct whatif_list *list, struct err *err)
{
    yaml_node_t *root = yaml_document_get_root_node(d);
    if (root && root->type == YAML_MAPPING_NODE &&
        root->data.mapping.pairs.top - root->data.mapping.pairs.start == 1) {
        yaml_node_t *inner = yaml_document_get_node(d, root->data.mapping.pairs.start->value);
        root = inner && inner->type == YAML_SEQUENCE_NODE ? inner : root;
    }
    if (!root || root->type != YAML_SEQUENCE_NODE)
        return err_set(err, ERR_INPUT, "expected a list of hypotheses, as in: - balance foo");
    for (yaml_node_item_t *i = root->data.sequence.items.start; i < root->data.sequence.items.top;
         i++) {
        yaml_node_t *node = yaml_document_get_node(d, *i);
        struct err why;
        int rc = node->type == YAML_SCALAR_NODE
                     ? add_text(list, (const char *)node->data.scalar.value, &why)
                 : node->type == YAML_MAPPING_NODE
                     ? add_map(d, node, list, &why)
                     : err_set(&why, ERR_INPUT, "expected a text or a map");
        if (rc)
            return err_set(err, rc, "line %zu: %s", node->start_mark.line + 1, why.text);
    }
    return 0;
}

static int add_file(struct whatif_list *list, const char *path, struct err *err)
{
    FILE *file = fopen(path, "r");
    yaml_parser_t parser;
    yaml_document_t document;
    struct err why;
    int rc;
    if (!file)
        return err_set(err, ERR_INPUT, "cannot read '%s': %s", path, strerror(errno));
    if (!yaml_parser_initialize(&parser)) {
        fclose(file);
        return err_set(err, ERR_SYSTEM, "out of memory");
    }
    yaml_parser_set_input_file(&parser, file);
    if (!yaml_parser_load(&parser, &document)) {
        rc = err_set(err, ERR_INPUT, "%s:%zu: %s", path, parser.problem_mark.line + 1,
                     parser.problem ? parser.problem : "not a YAML file");
    } else {
        rc = add_document(&document, list, &why);
        if (rc)
            err_set(err, rc, "%s: %s", path, why.text);
        yaml_document_delete(&document);
    }
    yaml_parser_delete(&parser);
    fclose(file);
    return rc;
}

int whatif_parse(struct whatif_list *list, const char *text, struct err *err)
{
    size_t length = strlen(text);
    int is_file = length > 5 && strcmp(text + length - 5, ".yaml") == 0 && !strchr(text, ' ');
    return is_file ? add_file(list, text, err) : add_text(list, text, err);
}
