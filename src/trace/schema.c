/*
 * schema.c - functions and the roles of their arguments, from the API list and from the header of a
 * trace.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "mpi_roles.h"
#include "trace/schema.h"

/* How an argument is written, by its role; arguments of other roles are not recorded. */
static const struct {
    const char *role;
    enum trace_class class;
} classes[] = {
    {"count", TRACE_NUMBER},    {"peer", TRACE_NUMBER},         {"tag", TRACE_NUMBER},
    {"root", TRACE_NUMBER},     {"displacement", TRACE_NUMBER}, {"size", TRACE_NUMBER},
    {"flag", TRACE_NUMBER},     {"index", TRACE_NUMBER},        {"value", TRACE_NUMBER},
    {"keyval", TRACE_NUMBER},   {"comm", TRACE_HANDLE},         {"datatype", TRACE_HANDLE},
    {"op", TRACE_HANDLE},       {"win", TRACE_HANDLE},          {"file", TRACE_HANDLE},
    {"group", TRACE_HANDLE},    {"message", TRACE_HANDLE},      {"session", TRACE_HANDLE},
    {"request", TRACE_REQUEST}, {"status", TRACE_STATUS},       {"text", TRACE_TEXT},
    {"buffer", TRACE_BUFFER},
};
#define CLASSES (sizeof classes / sizeof classes[0])

static int class_of(const char *role)
{
    for (size_t i = 0; i < CLASSES; i++)
        if (strcmp(classes[i].role, role) == 0)
            return (int)classes[i].class;
    return -1;
}

int trace_schema_find(const struct trace_schema *schema, const char *name)
{
    for (unsigned i = 0; i < schema->count; i++)
        if (strcmp(schema->fns[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* ---- of this version ---- */

/* Of buffers, only MPI_IN_PLACE and NULL matter, and only in collectives. */
static int is_kept(const struct mpi_arg *arg)
{
    int class = class_of(mpi_role_name[arg->role]);
    switch (class) {
    case -1:
        return 0;
    case TRACE_BUFFER:
        return strcmp(arg->name, "sendbuf") == 0 || strcmp(arg->name, "recvbuf") == 0;
    case TRACE_TEXT:
        return arg->pointers == 1 && arg->direction == MPI_DIRECTION_IN;
    default:
        return arg->bytes > 0 && arg->pointers <= 1;
    }
}

static struct trace_schema *schema_new(unsigned fns, unsigned args)
{
    struct trace_schema *schema = mem_zalloc(sizeof *schema + fns * sizeof *schema->fns +
                                             args * sizeof *schema->fns->args);
    schema->fns = (struct trace_fn *)(schema + 1);
    schema->count = fns;
    return schema;
}

static void make_args(struct trace_arg *to, unsigned *count, const struct mpi_signature *signature)
{
    for (unsigned i = 0; i < signature->count; i++) {
        const struct mpi_arg *arg = &signature->args[i];
        if (!is_kept(arg))
            continue;
        to[(*count)++] = (struct trace_arg){
            .name = arg->name,
            .role = mpi_role_name[arg->role],
            .class = (uint8_t)class_of(mpi_role_name[arg->role]),
            .is_array = arg->length != MPI_LENGTH_NONE && mpi_role_name[arg->role][0] != 't',
            .is_in = arg->direction != MPI_DIRECTION_OUT,
            .is_out = arg->direction != MPI_DIRECTION_IN,
            .position = (uint8_t)i,
        };
    }
}

struct trace_schema *trace_schema_make(void)
{
    unsigned all = 0;
    for (unsigned i = 0; i < MPI_FN_COUNT; i++)
        all += mpi_fn_signature[i].count;
    struct trace_schema *schema = schema_new(MPI_FN_COUNT, all);
    struct trace_fn *fns = (struct trace_fn *)(schema + 1);
    struct trace_arg *args = (struct trace_arg *)(fns + MPI_FN_COUNT);
    for (unsigned i = 0; i < MPI_FN_COUNT; i++) {
        fns[i] = (struct trace_fn){.name = mpi_fn_name[i], .args = args, .number = (int)i};
        make_args(args, &fns[i].count, &mpi_fn_signature[i]);
        args += fns[i].count;
    }
    return schema;
}

/* ---- as text ---- */

void trace_schema_write(const struct trace_schema *schema, struct buf *out)
{
    for (unsigned i = 0; i < schema->count; i++) {
        buf_adds(out, schema->fns[i].name);
        for (unsigned k = 0; k < schema->fns[i].count; k++) {
            const struct trace_arg *arg = &schema->fns[i].args[k];
            buf_addf(out, " %s%s%s%s:%s", arg->is_in && arg->is_out ? "<" : "",
                     arg->is_out ? ">" : "", arg->role, arg->is_array ? "[]" : "", arg->name);
        }
        buf_addc(out, '\n');
    }
}

/* The next word of the line, terminated in place; NULL at the end of the line. */
static char *next_word(char **at)
{
    char *word = *at + strspn(*at, " ");
    if (*word == '\0' || *word == '\n')
        return NULL;
    size_t length = strcspn(word, " \n");
    *at = word + length;
    if (word[length] == ' ')
        *(*at)++ = '\0';
    return word;
}

static int read_arg(char *word, struct trace_arg *arg, struct err *err)
{
    char *colon = strchr(word, ':'), *array;
    *arg = (struct trace_arg){.is_in = 1};
    if (*word == '<')
        word++, arg->is_out = 1;
    if (*word == '>')
        word++, arg->is_in = arg->is_out, arg->is_out = 1;
    if (!colon || colon == word || !colon[1])
        return err_set(err, ERR_INPUT, "expected ROLE:NAME, not '%s'", word);
    *colon = '\0';
    array = strstr(word, "[]");
    if (array)
        *array = '\0', arg->is_array = 1;
    arg->role = word;
    arg->name = colon + 1;
    int class = class_of(word);
    if (class < 0)
        return err_set(err, ERR_INPUT, "unknown role '%s': the trace has a newer version", word);
    arg->class = (uint8_t) class;
    return 0;
}

/* The number of a function in this version, or -1; a trace of this version has the same. */
static int own_number(const char *name, unsigned in_trace)
{
    if (in_trace < MPI_FN_COUNT && strcmp(mpi_fn_name[in_trace], name) == 0)
        return (int)in_trace;
    for (int i = 0; i < MPI_FN_COUNT; i++)
        if (strcmp(mpi_fn_name[i], name) == 0)
            return i;
    return -1;
}

static int read_line(char *line, unsigned number, struct trace_fn *fn, struct trace_arg *args,
                     struct err *err)
{
    char *at = line, *word;
    fn->name = next_word(&at);
    fn->args = args;
    fn->number = own_number(fn->name, number);
    while ((word = next_word(&at))) {
        if (fn->count == TRACE_ARGS_MAX)
            return err_set(err, ERR_INPUT, "function '%s': more than %d arguments", fn->name,
                           TRACE_ARGS_MAX);
        if (read_arg(word, &args[fn->count++], err) != 0)
            return err_prefix(err, "function '%s'", fn->name);
    }
    return 0;
}

static unsigned count_char(const char *text, char c)
{
    unsigned count = 0;
    for (; *text; text++)
        count += *text == c;
    return count;
}

int trace_schema_read(const char *text, struct trace_schema **out, struct err *err)
{
    unsigned lines = count_char(text, '\n'), words = count_char(text, ' ');
    size_t length = strlen(text);
    struct trace_schema *schema = schema_new(lines, words);
    struct trace_fn *fns = (struct trace_fn *)(schema + 1);
    struct trace_arg *args = (struct trace_arg *)(fns + lines);
    schema->text = mem_alloc(length + 1);
    memcpy(schema->text, text, length + 1);
    char *line = schema->text, *end;
    for (unsigned i = 0; i < lines; i++, line = end + 1) {
        end = strchr(line, '\n');
        *end = '\0';
        if (line[strspn(line, " ")] == '\0') {
            trace_schema_free(schema);
            return err_set(err, ERR_INPUT, "function %u has no name", i);
        }
        if (read_line(line, i, &fns[i], args, err) != 0) {
            trace_schema_free(schema);
            return err->code;
        }
        args += fns[i].count;
    }
    *out = schema;
    return 0;
}

void trace_schema_free(struct trace_schema *schema)
{
    if (schema)
        mem_free(schema->text);
    mem_free(schema);
}
