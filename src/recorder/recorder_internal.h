/*
 * recorder_internal.h - what the files of the recorder share.
 */
#ifndef RECORDER_RECORDER_INTERNAL_H
#define RECORDER_RECORDER_INTERNAL_H

#include "calls/calls.h"
#include "mpi_abi.h"
#include "recorder/objects.h"
#include "recorder/recorder.h"

/* The MPI whose calls are recorded. */
extern const struct recorder_mpi *recorder_mpi;

#define RECORDER_TEXT_MOST 4096 /* bytes of a name */

/* Adds the definition of an object, a window or a file; at the time of the last event. */
void recorder_define_object(struct recorder_rank *, struct mpi_rank *self, unsigned role,
                            uint64_t handle, uint32_t number);
void recorder_define_win(struct recorder_rank *, struct mpi_rank *self,
                         const struct recorder_call *, uint32_t number);
void recorder_define_file(struct recorder_rank *, const struct recorder_call *, uint32_t number);
/* Adds any definition, and frees the payload. */
void recorder_define_local(struct recorder_rank *, enum trace_head kind, int64_t t,
                           struct buf *payload);
/* A hash of two words. */
uint64_t recorder_mix(uint64_t, uint64_t);

/* The local number of a handle, which is defined at its first use; -1: null. */
int64_t recorder_number(struct recorder_rank *, struct mpi_rank *self, unsigned role,
                        uint64_t handle);
/* recorder_number for a handle that the call has just created. */
int64_t recorder_new_number(struct recorder_rank *, struct mpi_rank *self,
                            const struct recorder_call *, unsigned arg);
/* A number for what an early call will make. */
int64_t recorder_reserve(struct recorder_rank *, struct recorder_lane *, unsigned role);
/* A number for the communicator that a call has begun to make, with the members of the one that it
 * was passed, and (`request`) the number of its request. */
int64_t recorder_begin_comm(struct recorder_rank *, struct mpi_rank *self, uint64_t parent,
                            const void *at);
void recorder_begin_request(struct recorder_rank *, int64_t request);
/* Forgets the meaning of a handle. */
void recorder_forget(struct recorder_rank *, unsigned role, uint64_t handle);
/* The handle has this number. */
void recorder_name(struct recorder_rank *, unsigned role, uint64_t handle, int64_t number);
int64_t recorder_region_number(struct recorder_rank *, int64_t t, const char *name);
int64_t recorder_function_number(struct recorder_rank *, int64_t t, const void *address);

/* Functions whose arguments are written by recorder_plain_args; others by recorder_args. */
void recorder_learn_plain(const struct trace_schema *);
int recorder_is_plain(enum mpi_fn);
void recorder_plain_args(struct recorder_rank *, struct recorder_lane *, struct mpi_rank *self,
                         const struct recorder_call *);
/* Writes all arguments of a call that the trace records. */
void recorder_args(struct recorder_rank *, struct recorder_lane *, struct mpi_rank *self,
                   const struct trace_fn *, const struct recorder_call *);
/* Forgets the objects that a call has freed, after it has succeeded. */
void recorder_freed(struct recorder_rank *, struct recorder_lane *, enum mpi_fn);
/* Stores the requests that are passed to a call, before it changes them. */
void recorder_requests(struct recorder_rank *, struct recorder_lane *, struct mpi_rank *self,
                       const struct trace_fn *, const struct recorder_call *, int64_t t);

/* What the trace keeps of a buffer. */
static inline enum trace_buffer recorder_buffer(uint64_t word)
{
    return word == 0                                       ? TRACE_BUFFER_NONE
           : (const void *)(uintptr_t)word == MPI_IN_PLACE ? TRACE_BUFFER_IN_PLACE
                                                           : TRACE_BUFFER_GIVEN;
}

/* An argument's value: a number that was passed, or to which a pointer was. */
static inline int64_t recorder_word(const struct mpi_arg *arg, uint64_t word)
{
    if (arg->pointers)
        return !word             ? 0
               : arg->bytes == 4 ? *(const int32_t *)(uintptr_t)word
                                 : *(const int64_t *)(uintptr_t)word;
    return arg->bytes == 4 ? (int32_t)word : (int64_t)word;
}

#endif
