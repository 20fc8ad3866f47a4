/*
 * build.h - builds an .orr file from a trace of another format. Readers add ranks one after the
 * other, with their threads in any order; the handles of a rank may be defined at any time while it
 * is the current one.
 *
 *     format_build_open(&b, path, ranks, &err);
 *     format_build_rank(&b, 0);
 *     struct format_call call;
 *     format_call_begin(&call, &b, "MPI_Send");
 *     format_call_number(&call, "dest", 1); ...
 *     format_build_call(&b, 0, &call, enter, leave);
 *     format_build_close(&b, 1, &err);
 */
#ifndef FORMATS_BUILD_H
#define FORMATS_BUILD_H

#include "formats/notes.h"
#include "trace/copy.h"
#include "trace/part.h"

#define FORMAT_NO_COMM UINT64_MAX /* identity of none */

struct format_build {
    struct trace_header header; /* add properties before format_build_start */
    struct trace_part part;
    struct format_notes *notes;
    char *path, *part_path;
    uint64_t rank;
    struct trace_stream locals;
    struct trace_stream *threads; /* of the current rank */
    size_t thread_count;
    int has_rank;
    /* local numbers of the current rank, + 1 */
    struct map names;          /* of regions, by hash */
    struct map comms;          /* by identity */
    struct map types, ops;     /* by hash of the definition */
    uint64_t next[TRACE_CALL]; /* local numbers, by kind of definition */
};

/* Prepares the header. */
void format_build_init(struct format_build *, const char *path, uint64_t ranks,
                       struct format_notes *);
int format_build_start(struct format_build *, struct err *);
/* Completes the file, or with `keep` 0 removes it. Also after a failed start. */
int format_build_close(struct format_build *, int keep, struct err *);

/* Makes this the current rank; each may be current only once. */
void format_build_rank(struct format_build *, uint64_t rank);

/* ---- definitions ---- */

void format_build_nodes(struct format_build *, const int64_t *nodes);
void format_build_node_name(struct format_build *, uint64_t node, const char *name);
/* Defines the members of a communicator, once for all ranks. */
void format_build_comm(struct format_build *, uint64_t identity, int kind, const int64_t *ranks,
                       size_t count, const int64_t *others, size_t other_count);
void format_build_comm_name(struct format_build *, uint64_t identity, const char *name);
uint64_t format_build_site(struct format_build *, const char *text);

/* Local numbers of the current rank, which are defined when they are first used. */
int64_t format_local_comm(struct format_build *, uint64_t identity, int kind, int64_t rank,
                          uint64_t size, uint64_t other_size);
int64_t format_local_type(struct format_build *, const char *name, uint64_t size, int64_t lower,
                          int64_t extent);
int64_t format_local_op(struct format_build *, const char *name, int commutes);
/* Local numbers of objects that the program creates: each call defines another one. */
int64_t format_local_own_type(struct format_build *, uint64_t size);
int64_t format_local_own_op(struct format_build *, int commutes);
int64_t format_local_win(struct format_build *, int64_t comm, int64_t bytes, int64_t unit);
int64_t format_local_file(struct format_build *, const char *name);
int64_t format_local_group(struct format_build *, const int64_t *ranks, size_t count);
/* Adds a definition as it is in a trace, with its local number. */
void format_local_raw(struct format_build *, enum trace_head kind, const void *payload,
                      size_t bytes);

/* ---- records ---- */

/* A call under construction; all that is not set is null, zero or empty. */
struct format_call {
    struct trace_event event;
    const struct trace_fn *fn; /* NULL: no such function */
};

/* Whether the function is known. */
int format_call_begin(struct format_call *, const struct format_build *, const char *function);
/* Sets arguments by name; names that the function does not have are ignored. What is pointed to
 * must live until the call is added. */
void format_call_number(struct format_call *, const char *name, int64_t value);
void format_call_items(struct format_call *, const char *name, const int64_t *items, size_t count);
void format_call_statuses(struct format_call *, const char *name, const struct trace_status *,
                          size_t count);

/* Times are ticks of the header. A time that is earlier than that of the previous record is
 * replaced by that, and counted. */
void format_build_call(struct format_build *, unsigned thread, struct format_call *, int64_t enter,
                       int64_t leave);
void format_build_enter(struct format_build *, unsigned thread, int64_t time, const char *region);
void format_build_leave(struct format_build *, unsigned thread, int64_t time);
/* A call that did not end. */
void format_build_open_call(struct format_build *, unsigned thread, int64_t enter, int64_t time,
                            const char *function);
void format_build_lost(struct format_build *, unsigned thread, int64_t time, uint64_t records);

#endif
