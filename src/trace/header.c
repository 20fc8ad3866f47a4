/*
 * header.c - the first frame of a trace.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/format.h"
#include "trace/header.h"

#define BLOCK_LEAST 4096u
#define BLOCK_MOST 65536u
#define BLOCKS_IN_ALL \
    ((uint64_t)256 << 20) /* a reader of all ranks at once holds a block of each */
#define RANKS_MOST ((uint64_t)1 << 32)

static uint64_t block_for(uint64_t ranks)
{
    uint64_t block = BLOCKS_IN_ALL / (ranks ? ranks : 1);
    return block < BLOCK_LEAST ? BLOCK_LEAST : block > BLOCK_MOST ? BLOCK_MOST : block;
}

void trace_header_init(struct trace_header *h, uint64_t ranks)
{
    *h = (struct trace_header){.ranks = ranks,
                               .tick = 1,
                               .block = block_for(ranks),
                               .schema = trace_schema_make()};
}

void trace_header_block(struct trace_header *h)
{
    h->block = block_for(h->ranks);
}

void trace_header_fini(struct trace_header *h)
{
    for (size_t i = 0; i < h->property_count; i++) {
        mem_free(h->properties[i].key);
        mem_free(h->properties[i].value);
    }
    mem_free(h->properties);
    trace_schema_free(h->schema);
    *h = (struct trace_header){0};
}

void trace_header_add(struct trace_header *h, const char *key, const char *value)
{
    h->properties = mem_realloc(h->properties, (h->property_count + 1) * sizeof *h->properties);
    h->properties[h->property_count++] = (struct trace_property){mem_strdup(key),
                                                                 mem_strdup(value)};
}

const char *trace_header_get(const struct trace_header *h, const char *key)
{
    for (size_t i = 0; i < h->property_count; i++)
        if (strcmp(h->properties[i].key, key) == 0)
            return h->properties[i].value;
    return NULL;
}

/* ---- writing ---- */

static void add_escaped(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\n')
            buf_adds(out, "\\n");
        else if (*text == '\\')
            buf_adds(out, "\\\\");
        else
            buf_addc(out, *text);
    }
}

void trace_header_write(const struct trace_header *h, struct buf *out)
{
    buf_addf(out, "orrery trace %d\n", TRACE_VERSION);
    buf_addf(out, "ranks %llu\n", (unsigned long long)h->ranks);
    buf_addf(out, "tick %llu\n", (unsigned long long)h->tick);
    buf_addf(out, "block %llu\n", (unsigned long long)h->block);
    if (h->has_sites)
        buf_adds(out, "sites\n");
    if (h->is_profile)
        buf_adds(out, "profile\n");
    if (h->is_part)
        buf_adds(out, "part\n");
    if (h->has_local_clocks)
        buf_adds(out, "clocks local\n");
    for (size_t i = 0; i < h->property_count; i++) {
        buf_addf(out, "property %s ", h->properties[i].key);
        add_escaped(out, h->properties[i].value);
        buf_addc(out, '\n');
    }
    buf_adds(out, "functions\n");
    trace_schema_write(h->schema, out);
}

/* ---- reading ---- */

static void unescape(char *text)
{
    char *to = text;
    for (; *text; text++) {
        if (text[0] == '\\' && text[1]) {
            text++;
            *to++ = *text == 'n' ? '\n' : *text;
        } else {
            *to++ = *text;
        }
    }
    *to = '\0';
}

static int read_number(const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (errno || end == text || *end || *text == '-' || number < least || number > most)
        return -1;
    *value = number;
    return 0;
}

static int read_line(struct trace_header *h, char *line, struct err *err)
{
    char *rest = line + strcspn(line, " ");
    if (*rest)
        *rest++ = '\0';
    int wrong = 0;
    if (strcmp(line, "ranks") == 0)
        wrong = read_number(rest, 1, RANKS_MOST, &h->ranks);
    else if (strcmp(line, "tick") == 0)
        wrong = read_number(rest, 1, UINT64_C(1000000000000), &h->tick);
    else if (strcmp(line, "block") == 0)
        wrong = read_number(rest, 1, UINT32_MAX / 4, &h->block);
    else if (strcmp(line, "sites") == 0)
        h->has_sites = 1;
    else if (strcmp(line, "profile") == 0)
        h->is_profile = 1;
    else if (strcmp(line, "part") == 0)
        h->is_part = 1;
    else if (strcmp(line, "clocks") == 0)
        h->has_local_clocks = strcmp(rest, "local") == 0;
    else if (strcmp(line, "property") == 0) {
        char *value = rest + strcspn(rest, " ");
        if (*value)
            *value++ = '\0';
        unescape(value);
        trace_header_add(h, rest, value);
    }
    return wrong ? err_set(err, ERR_INPUT, "wrong number of %s in the header: '%s'", line, rest)
                 : 0;
}

static int read_version(const char *text, struct err *err)
{
    static const char magic[] = "orrery trace ";
    if (strncmp(text, magic, sizeof magic - 1) != 0)
        return err_set(err, ERR_INPUT, "the header is not that of a trace");
    long version = strtol(text + sizeof magic - 1, NULL, 10);
    return version == TRACE_VERSION ? 0
           : version > TRACE_VERSION
               ? err_set(
                     err, ERR_INPUT,
                     "the trace has version %ld, and this orrery reads version %d: use a newer orrery",
                     version, TRACE_VERSION)
               : err_set(err, ERR_INPUT, "the trace has the unknown version %ld", version);
}

int trace_header_read(struct trace_header *h, const char *text, struct err *err)
{
    *h = (struct trace_header){.tick = 1};
    if (read_version(text, err) != 0)
        return err->code;
    char *copy = mem_strdup(text), *line = copy, *end;
    int rc = 0;
    while ((end = strchr(line, '\n'))) {
        *end = '\0';
        if (strcmp(line, "functions") == 0)
            break;
        if ((rc = read_line(h, line, err)) != 0)
            break;
        line = end + 1;
    }
    if (rc == 0 && (!end || !h->ranks || !h->block))
        rc = err_set(err, ERR_INPUT, "the header is not complete");
    if (rc == 0)
        rc = trace_schema_read(end + 1, &h->schema, err);
    mem_free(copy);
    if (rc != 0)
        trace_header_fini(h);
    return rc;
}
