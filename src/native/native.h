/*
 * native.h - what the parts of the native recorder share: the one state of the process, which is
 * one rank. The library of `orrery hybrid` uses some of them, too.
 *
 * `lock` guards everything but the lanes of threads: threads of the program record concurrently,
 * and a thread of the recorder writes records that have been in memory for a while, so that little
 * is lost if the program is killed. The lock is never held during the program's own call.
 */
#ifndef NATIVE_NATIVE_H
#define NATIVE_NATIVE_H

#include <pthread.h>

#include "calls/calls.h"
#include "native/wrap.h"
#include "recorder/objects.h"
#include "recorder/recorder.h"

#define NATIVE_WRITE_AFTER 20000000 /* ns; this much is lost if the program is killed */

/* A communicator, kept until the program frees it and no request uses it. */
struct native_comm {
    uint32_t size, others; /* members; those of the other group of an intercommunicator */
    int32_t rank;
    uint32_t users;
    uint8_t is_inter, is_gone;
    int64_t *members;          /* world ranks: of the group, then of the other one */
    uint64_t hash, other_hash; /* of them */
};

/* A pending request. Its number identifies it: MPI may use one handle for several at once. */
struct native_request {
    uint32_t handle;
    uint32_t next; /* with the same handle, or free; 0: none */
    uint32_t last; /* the one before it with the same handle; for the first: the last one */
    uint8_t is_receive, is_send, is_taken;
    uint64_t where; /* the program's variable when it was started */
    struct native_comm *comm;
};

/* Of a thread. */
struct native_lane {
    struct recorder_lane *recorder;
    /* Requests that were passed to the call: their numbers from 1 on, or MPI_REQUEST_NULL. */
    uint32_t *ids;
    uint32_t id_count, id_room;
    MPI_Status *statuses; /* instead of those that the program ignores */
    uint32_t status_room;
};

struct native {
    int is_ready;                               /* the functions of the real MPI are known */
    int is_begun;                               /* MPI has been initialised */
    int is_open;                                /* the part is open */
    int is_finalized;                           /* MPI has been finalised */
    int is_failed;                              /* nothing can be recorded */
    int is_over;                                /* the part is closed */
    int is_cut;                                 /* the part lacks records: the program must fail */
    int keeps_sites, is_profile, stops_on_full; /* options */
    const char *path;                           /* of the trace */
    pid_t pid;                                  /* a child of this process records nothing */
    pthread_mutex_t lock;
    struct trace_part part;
    struct trace_header header;
    struct recorder_rank rank;
    int64_t began;   /* when the process started */
    int64_t written; /* when everything was last written */
    /* Rank in the trace of rank 0 of this MPI_COMM_WORLD: not 0 in processes that were spawned. */
    int64_t base;
    int size, self; /* of MPI_COMM_WORLD */
    MPI_Group world;
    uint32_t sessions;   /* that are open */
    MPI_Comm world_comm; /* in place of MPI_COMM_WORLD, if that has other processes, too; or 0 */
    const void *const *no_arrays[2]; /* MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY of the real MPI */
    int may_ask;                     /* the call has succeeded: its handles may be queried */
    int may_fail; /* it has not been made yet, so its handles may be wrong: queries return errors */
    int may_ask_builtin;  /* it has failed, but not because of a datatype or an operation */
    struct map comms;     /* struct native_comm, by handle */
    struct map messages;  /* the communicator's, by handle */
    struct map by_handle; /* requests: the first with that handle */
    struct map by_place;  /* requests: the last one started there */
    struct native_request *requests;
    uint32_t request_count, request_room, free_request; /* 0: none */
};

extern struct native native;

/* What a call does. */
static inline const struct mpi_effect *native_does(const struct native_call *c)
{
    return &mpi_fn_effect[c->fn];
}

/* calls.c: the clock of this computer, in nanoseconds. */
int64_t native_now(void);
/* The lane of the calling thread. */
struct native_lane *native_own_lane(void);
/* Adds a definition that ranks share. */
void native_define(unsigned kind, const void *payload, size_t bytes);

/* seen.c: the call begins and ends, and is recorded at its end. */
void native_seen_enter(struct native_lane *, struct native_call *);
void native_seen_leave(struct native_lane *, struct native_call *, int rc, int64_t now);
/* In place of the end: it is recorded before it is made, and then it has ended. What it makes has a
 * number before it exists. */
void native_seen_early(struct native_lane *, struct native_call *);
void native_seen_late(struct native_lane *, struct native_call *, int rc);

/* start.c: called before the first call; 0: nothing will be recorded. */
int native_prepare(void);
/* Opens the part when MPI has been initialised. */
void native_begin(void);
/* A session was opened. */
void native_session_begin(MPI_Session);
/* Writes all records in memory. */
void native_write(int64_t now);
/* Called when the program ends or calls MPI_Abort. Sets `is_cut` if records are lost and the
 * program must fail. */
void native_end(void);
/* Says how the process ends (status.h): well after MPI_Finalize, or with a status, which counts
 * whatever was said before. */
void native_say_end(int status);
/* Called after a failure to write. */
void native_check_disk(void);

/* find.c: a symbol of the real MPI, or NULL. */
void *native_find(const char *symbol);
/* Fills `native_real`. */
void native_find_all(void);
/* Loads an MPI into a process that has none; returns whether there is one. */
int native_load(void);

/* objects.c: what the recorder asks about objects; `define` gets definitions that ranks share. */
struct recorder_mpi native_objects(void (*define)(unsigned kind, const void *payload,
                                                  size_t bytes));
/* The communicator that the real MPI is asked about. */
MPI_Comm native_comm_real(MPI_Comm);
/* The communicator of a handle, or NULL. */
struct native_comm *native_comm(uint64_t handle);
/* The rank in the trace of a source. */
int32_t native_source(const struct native_comm *, int source);
void native_comm_release(struct native_comm *);
/* Learns the members of communicators that a call has returned, while all of them are in that
 * call. */
void native_comm_created(uint64_t handle);
void native_comm_gone(uint64_t handle);

/* requests.c: whether the request in that variable is a receive, or a send. */
int native_request_receives(const uint32_t *where);
int native_request_sends(const uint32_t *where);
/* Before the call, after it and before it is recorded, and after that. */
void native_requests_enter(struct native_lane *, struct native_call *, uint64_t *words);
void native_requests_leave(struct native_lane *, struct native_call *, uint64_t *words, int rc);
void native_requests_forget(struct native_lane *, struct native_call *);

/* regions.c */
void native_pcontrol(struct native_lane *, const struct native_call *, int64_t now);

/* clocks.c */
void native_clocks_begin(void);
void native_clocks_end(void);

#endif
