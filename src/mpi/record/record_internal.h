/*
 * record_internal.h - what the parts of the recorder share.
 */
#ifndef MPI_RECORD_RECORD_INTERNAL_H
#define MPI_RECORD_RECORD_INTERNAL_H

#include <mpi.h>

#include "base/map.h"
#include "mpi/observer.h"
#include "mpi_roles.h"
#include "trace/part.h"

/* A receive that a call has completed. */
struct record_done {
    int64_t number; /* of the request; -1: of the call itself */
    struct trace_status status;
};

/* Of a thread of a rank. */
struct record_lane {
    struct trace_stream stream;
    uint32_t depth; /* calls that it is in: callbacks may make some */
    uint32_t fn;    /* of the outermost */
    vtime enter;
    int64_t *requests; /* numbers of those that the call was given */
    uint32_t request_count, request_room;
    int64_t given; /* number of the object that the call was given by a pointer */
    struct record_done *done;
    uint32_t done_count, done_room;
    struct record_lane *next; /* that of another thread */
};

#define RECORD_REQUESTS 16

/* Of a rank. What every call needs comes first. */
struct record_rank {
    struct record_lane lane; /* its first thread's */
    uint32_t type;           /* the datatype mentioned last ... */
    uint32_t type_number;    /* ... and its number + 1; 0: there is none */
    /* The first few requests that are pending, by handle; 0: free. Others are in `numbers`. */
    uint32_t requests[RECORD_REQUESTS];
    int64_t request_numbers[RECORD_REQUESTS];
    int64_t next_request;
    struct trace_stream locals;
    struct map numbers;       /* of handles, by role and handle: + 1 */
    struct map regions;       /* names, by hash: + 1 */
    struct map comms;         /* how many communicators with the same members, by their hash */
    uint32_t next[MPI_ROLES]; /* numbers, by role */
    uint32_t next_region;
    uint16_t lanes;
};

/* What the recorder needs to know of a function: positions among its arguments, -1: it has none. */
struct record_fn {
    int8_t flag, comm, root, indices;
    uint8_t is_given; /* requests, or handles that it may set to null */
};

void record_learn_functions(const struct trace_schema *);

/* The local number of a handle, defined when it is first met; -1: null. */
int64_t record_number(struct record_rank *, struct mpi_rank *self, unsigned role, uint64_t handle);
/* The same for one that the call has just made. */
int64_t record_new_number(struct record_rank *, struct mpi_rank *self, const struct mpi_seen_call *,
                          unsigned arg);
/* That of a request that is pending, or -1. */
int64_t record_request(const struct record_rank *, uint32_t handle);
void record_forget_request(struct record_rank *, uint32_t handle);
/* The handle does not mean this any more. */
void record_forget(struct record_rank *, unsigned role, uint64_t handle);
int64_t record_region(struct record_rank *, vtime t, const char *name);

/* All arguments of a call that the trace keeps. */
void record_args(struct record_rank *, struct record_lane *, struct mpi_rank *self,
                 const struct trace_fn *, const struct mpi_seen_call *);
/* Requests that a call is given, before it changes them. */
void record_requests(struct record_rank *, struct record_lane *, struct mpi_rank *self,
                     const struct trace_fn *, const struct mpi_seen_call *);

/* Where common definitions go. */
struct trace_part *record_part(void);

/* An argument's value: a number that was passed, or that a pointer leads to. */
static inline int64_t record_word(const struct mpi_arg *arg, uint64_t word)
{
    if (arg->pointers)
        return !word             ? 0
               : arg->bytes == 4 ? *(const int32_t *)(uintptr_t)word
                                 : *(const int64_t *)(uintptr_t)word;
    return arg->bytes == 4 ? (int32_t)word : (int64_t)word;
}

#endif
