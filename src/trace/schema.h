/*
 * schema.h - what the records of a trace mean: the functions, by their numbers in the trace, and
 * which of their arguments are recorded. A trace carries its own schema, so that versions can read
 * it that know more or other functions than the one that wrote it.
 */
#ifndef TRACE_SCHEMA_H
#define TRACE_SCHEMA_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define TRACE_ARGS_MAX 24

/* How an argument is written; format.h. */
enum trace_class {
    TRACE_NUMBER,
    TRACE_HANDLE,
    TRACE_REQUEST,
    TRACE_BUFFER,
    TRACE_TEXT,
    TRACE_STATUS,
};

struct trace_arg {
    const char *name;
    const char *role; /* as in api/mpi_functions.txt: "count", "peer" */
    uint8_t class;    /* enum trace_class */
    uint8_t is_array;
    uint8_t is_in, is_out; /* the call reads it, writes it, or both */
    uint8_t position;      /* among the arguments of the function; not in the file */
};

struct trace_fn {
    const char *name; /* "MPI_Send" */
    const struct trace_arg *args;
    unsigned count;
    int number; /* enum mpi_fn of this version, or -1: unknown here */
};

struct trace_schema {
    const struct trace_fn *fns;
    unsigned count;
    char *text; /* names point into it, if it was read */
};

/* The schema of this version: function n is enum mpi_fn n. Free it with trace_schema_free. */
struct trace_schema *trace_schema_make(void);

/* The number of a function in a schema, or -1. */
int trace_schema_find(const struct trace_schema *, const char *name);

/* One line for each function, in its order: "MPI_Wait <>request:request >status:status". */
void trace_schema_write(const struct trace_schema *, struct buf *out);
/* Reads such lines; ERR_INPUT names the function. Free it with trace_schema_free. */
int trace_schema_read(const char *text, struct trace_schema **out, struct err *);
void trace_schema_free(struct trace_schema *);

#endif
