/*
 * guest.h - the library that `orrery hybrid` loads into the real program: what the generated
 * wrappers call (api/generate.py: mpi_guests.c), and what its files share.
 *
 *     guest.c           the calls: what is sent to the stand-in (wire.h), and when
 *     guest_link.c      messages to the simulator, and its answers
 *     guest_lookup.c    programs that look up the functions of the MPI by name
 *     guest_start.c     MPI_Init and MPI_Finalize, the program's own MPI_COMM_WORLD
 *     guest_sessions.c     MPI without MPI_Init
 *     guest_top.c       ranks that end without MPI_Init, and the exit status of ranks
 *     guest_complete.c  calls whose outcome the simulator decides
 *     guest_held.c      receives that the real MPI must not see before the simulator has decided
 *                       which message they get
 *     guest_stash.c     messages for them
 *     guest_told.c      the same calls if the real MPI decides that
 *     guest_message.c   what calls send and receive
 *     guest_pair.c      the sends of MPI_Isendrecv
 *     guest_wrong.c     calls that the real MPI refuses
 *     guest_wrong_coll.c  collectives among them
 *     guest_callbacks.c functions of the program that the MPI calls with a communicator
 *     guest_clock.c     virtual clocks
 *     guest_threads.c   threads that call MPI at the same time
 *     guest_rest.c      whether they compute
 *     guest_blocking.c  their blocking messages
 *
 * A call is sent before it is made, if it may block; its time is decided by the stand-in, so the
 * process needs an answer only when it reads a clock, or when the outcome depends on time. The real
 * MPI moves the data.
 *
 * Below MPI_THREAD_MULTIPLE, threads of a process take turns, and a thread that reads a clock while
 * another one is in a call sees the time that was last read. With it, guest.lock protects all of
 * this. It is released while a call of the real MPI may block (guest_go, guest_come_back), and
 * while an answer is awaited: what is known of tables must be found again then.
 */
#ifndef HYBRID_GUEST_H
#define HYBRID_GUEST_H

#include <pthread.h>
#include <stdatomic.h>

#include "hybrid/wire.h"
#include "native/native.h"

struct guest_call {
    struct native_call call;
    int rc;
    uint8_t is_inside; /* from guest_enter to guest_leave */
    uint8_t is_early;  /* it was sent before it is made */
    uint8_t tells;     /* what comes of it is sent afterwards */
    uint8_t is_wrong;  /* the real MPI refuses it */
    uint8_t is_kept;   /* MPI_Finalize: MPI is needed longer */
    uint8_t is_idle;   /* it does nothing */
    uint8_t is_void;   /* nothing comes of it, even if the real MPI returns no error */
    uint64_t other[4]; /* arguments of another call that the stand-in makes in its place */
};

/* Before and after the real call. 0: the call is none of the program's. */
int guest_enter(struct guest_call *);
int guest_leave(struct guest_call *);
/* At the end of the variable: an exception may have left the call. */
void guest_end(struct guest_call *);
#define GUEST_CALL __attribute__((cleanup(guest_end)))
/* Where the real function writes its statuses. */
MPI_Status *guest_statuses(struct guest_call *, MPI_Status *);
/* Makes the call in another way than by the same call of the real MPI; 0: it need not. */
int guest_does(struct guest_call *);

/* ---- what the files share ---- */

/* Whether the thread is inside / it enters the library, and returns 0 if another one is inside / it
 * leaves. */
int guest_am_inside(void);
int guest_try_enter(void);
void guest_go_out(void);
/* Whether it is the thread that has initialised MPI; is_this: it is. */
int guest_is_first(int is_this);

/* What the guest does with a call, beside recording it and making it. It follows from what the call
 * does (calls/calls.h), but for functions that concern the MPI itself. */
enum guest_kind {
    GUEST_PLAIN,
    /* also while there is no simulator */
    GUEST_STARTS,
    GUEST_FINALIZES,
    GUEST_OPENS_SESSION,
    /* only with one */
    GUEST_ABORTS,
    GUEST_CLOSES_SESSION,
    GUEST_FINDS_GROUP, /* of a process set; information of it */
    GUEST_FINDS_INFO,
    GUEST_TELLS_STATE, /* whether MPI is initialised, or finalised */
    GUEST_SETS_HANDLER,
    GUEST_PASSES_FUNCTIONS, /* of the program, to the MPI */
    GUEST_POSTS,            /* a receive, or frees it */
    GUEST_RECEIVES,         /* waits for a message: receives and probes */
    GUEST_LOOKS,            /* for a message */
    GUEST_TAKES_MATCHED,    /* receives what a matched probe has found */
    GUEST_WAITS,            /* for all of its requests */
    GUEST_WAITS_SOME,       /* for one of them, or more */
    GUEST_TESTS,            /* requests */
    GUEST_CANCELS,
    GUEST_TESTS_OTHER, /* windows and partitions */
};
enum guest_kind guest_kind(enum mpi_fn);

/* A thread of the program, if several may call MPI at the same time; else all are the first one. */
struct guest_thread {
    struct guest_thread *next;
    uint32_t number;
    struct native_lane lane;
    uintptr_t frame;   /* where the program's call is on the stack; 0: it is in none */
    uint64_t failures; /* calls that have failed */
    int64_t computed;  /* picoseconds */
    int64_t clock;     /* virtual time when `computed` was clock_computed */
    int64_t clock_computed;
    int is_clock_known;  /* nothing has been sent since `clock` was learnt */
    uint64_t serial;     /* guest.serial then: whether another thread has sent something */
    uint32_t readings;   /* of clocks, since the last call */
    int64_t read;        /* what was computed when a clock was last read */
    int64_t started;     /* ns; when the program last returned from a call */
    uint8_t is_running;  /* since then */
    uint8_t is_inside;   /* a call, or the library itself */
    uint8_t is_out;      /* in a call of the real MPI, without the lock */
    uint8_t is_counted;  /* in guest.inside_count */
    uint8_t has_answer;  /* that it has asked for */
    uint8_t has_asked;   /* for the result of the call that it is in */
    uint32_t generation; /* how many threads have had this place */
    uint8_t is_used;     /* there is such a thread */
    pid_t tid;           /* of the system; 0: it has not run yet */
    pthread_t handle;    /* of the program, if that has one */
    int *joiner;         /* of the thread that waits for its end: whether it is counted; or NULL */
    const struct hybrid_answer *answer; /* the last one */
    struct hybrid_match *matches;       /* for its next message */
    uint32_t match_count, match_room;
    int32_t *indices;
    uint32_t index_count, index_room;
};

struct guest {
    int is_open; /* the simulator is there */
    /* The thread that is in a call, or in the library itself; NULL: none is. */
    _Atomic(const void *) inside;
    int is_threaded;         /* MPI_THREAD_MULTIPLE: `lock` takes its place */
    pthread_mutex_t lock;    /* for everything here; not while a call of the real MPI may block */
    struct guest_thread *me; /* the thread that has it */
    struct guest_thread *threads;
    uint32_t live;              /* threads that the program has */
    uint32_t inside_count;      /* threads in calls that may block */
    uint32_t asking;            /* those of them that wait for an answer */
    uint32_t joining;           /* threads that wait for the end of another */
    uint64_t serial;            /* messages, and calls that were left */
    _Atomic(uint32_t) arriving; /* threads that wait for the lock, to enter */
    int rests;                  /* as was said: no thread computes */
    int is_over;
    int is_real;    /* --order real */
    int may_cancel; /* receives */
    uint32_t ranks; /* of the program */
    int first_here; /* the first rank on this computer */
    MPI_Comm quiet; /* nobody sends messages here: looking for one makes the MPI do its work */
    struct trace_sink sink;
    int may_forgive; /* some may have that returned no error: the program has its own handlers */
};
extern struct guest guest;

/* guest_threads.c */
/* Takes and releases the lock, around a call of the real MPI that may block. */
void guest_go(void);
void guest_come_back(void);
#define GUEST_BLOCKING(call) (guest_go(), (call), guest_come_back())
/* Threads may call MPI at the same time from now on: this one is the first, and has the lock. */
void guest_threads_begin(void);
/* The calling thread; NULL: it is not known. */
struct guest_thread *guest_own(void);
/* The thread is in a call that may block (1), or is not any more. */
void guest_count(int is_inside);
/* Are there several threads, whose order is that of virtual time? */
int guest_must_follow(void);
/* Do all threads wait, in calls or for the end of others? */
int guest_all_wait(void);

/* guest_rest.c: watches threads that are not in calls. */
void guest_rest_begin(void);

/* guest_blocking.c: makes a call that sends or receives a message, in the order in which threads
 * make such calls. Returns 0 if it is another one. */
int guest_block(struct guest_call *);

/* guest_clock.c: time that the program has computed since it last returned from a call. */
void guest_clock_stop(void);
void guest_clock_start(void);
void guest_clock_init(int is_crowded);
/* How computing counts (enum run_counted), and how long the process has waited for a processor. */
unsigned guest_clock_counts(void);
uint32_t guest_clock_kept_us(void);

/* guest_link.c */
void guest_link_open(void);
void guest_link_close(void);
/* Sends all records so far; with a question, waits for the answer. */
void guest_flush(enum hybrid_ask, int is_last);
/* Sends the call that is the only record; what comes of it follows. */
void guest_flush_telling(void);
/* Adds to the next message what is known of a receive, and which request is complete. */
void guest_say_match(int64_t request, int source);
void guest_say_index(int index);
/* Sends that without records, as what has come of the call. */
void guest_send_outcome(int is_failed);
/* The call has ended here: waits until it has in the simulator. */
void guest_follow(void);
/* After the question of a flush, once more. */
void guest_await_answer(void);
/* Something of the threads, beside calls; `other`: the one that begins. */
void guest_say(enum hybrid_kind, uint32_t other);
/* Shows the simulator whether all threads wait. */
void guest_show_threads(int has_changed);
/* Shows the simulator whether the process is in a call. */
void guest_show(int is_inside);
/* Called now and then: what is pending for long is sent. */
void guest_flush_old(void);
const int32_t *guest_answer_indices(void);
const struct hybrid_match *guest_answer_matches(void);

/* guest_start.c */
void guest_begin(void);
void guest_split_type(struct guest_call *);
int guest_init(struct guest_call *);
int guest_errhandler(struct guest_call *);
/* Initialises the real MPI and joins the simulator; returns its error. */
int guest_join(int *argc, char ***argv, int required, int *provided);
int guest_finalize(struct guest_call *);
/* Attributes of MPI_COMM_SELF: notes them, and deletes them before MPI_Finalize does. */
void guest_see_attribute(const struct guest_call *);
void guest_delete_attributes(void);
int guest_abort(struct guest_call *);

/* guest_sessions.c */
int guest_session(struct guest_call *);
int guest_session_end(struct guest_call *);
int guest_session_group(struct guest_call *);
int guest_session_info(struct guest_call *);
int guest_session_state(struct guest_call *);
/* MPI_Init of a program with sessions; returns its error. */
int guest_session_world(int required, int *provided);
/* MPI_Finalize of such a program: it becomes a barrier, which then is made. */
void guest_session_keep(struct guest_call *);
int guest_session_barrier(struct guest_call *);

/* guest_top.c */
/* A process of the rank is about to call MPI_Init. */
void guest_top_mark(void);
/* Is this the first process of the rank, and has none called MPI_Init? */
int guest_top_is_unmarked(void);
/* The run fails with an exit status, whichever process of the rank says so. */
void guest_top_fail(int status);
/* The process ends with an exit status: it is that of the rank if this is the first process. */
void guest_top_end(int status);

/* guest_wrong.c */
/* Whether the real MPI refuses the call, beside what the wrapper has found. */
int guest_is_wrong(struct guest_call *);
/* Whether it refuses that there are items of such a type. */
int guest_is_wrong_buffer(uint64_t buffer, MPI_Datatype);

/* guest_wrong_coll.c: the same for collectives. */
int guest_is_wrong_coll(const struct guest_call *);

/* guest_callbacks.c: calls that pass functions of the program to the MPI. */
int guest_callbacks(struct guest_call *);

/* guest_complete.c */
int guest_cancel(struct guest_call *);
/* The request is about to be freed. */
void guest_free_cancelled(MPI_Request *, int64_t number);
int guest_test(struct guest_call *);
int guest_complete(struct guest_call *);

/* guest_told.c */
/* A receive is posted: with the number of its request, or -1 if it has none yet. */
void guest_told_post(int64_t number, MPI_Request, MPI_Comm, int source, int tag);
void guest_told_numbered(struct guest_call *);
/* Whether a receive is behind one whose message is not known. */
int guest_told_behind(MPI_Comm, int source, int tag);
/* Before the call is recorded / makes it, unless it returns 0 / after it. */
void guest_told_enter(struct guest_call *);
int guest_told_call(struct guest_call *);
void guest_told_leave(struct guest_call *);
/* Cancels a receive, unless it has its message. */
void guest_told_cancel(MPI_Request *, int64_t number);
/* The request is complete, or freed. */
void guest_told_forget(int64_t number);
/* The answer wants to be told of some requests of the call. */
void guest_told_answer(struct guest_call *);
/* The number of a request that was passed to the call, or -1. */
int64_t guest_number_at(int i);

/* guest_pair.c: starts the send of MPI_Isendrecv; returns its error. */
int guest_pair_send(const struct guest_call *);
void guest_pair_numbered(void);
/* After a call: waits for the sends of requests that it has completed. */
void guest_pair_leave(const struct guest_call *);

/* guest_message.c: the message that a call receives, and the one that it sends. */
struct guest_buffer {
    void *at;
    MPI_Count count;
    MPI_Datatype type;
};
struct guest_message {
    struct guest_buffer buffer;
    MPI_Comm comm;
    int peer, tag;
    void *copy; /* of what is sent, if its buffer is also received into; or NULL */
};
struct guest_message guest_received(const struct guest_call *);
/* To be called before the receive is started. The caller frees the copy when the send is done. */
struct guest_message guest_sent(const struct guest_call *);
/* Start them; return an error of MPI. mode: enum mpi_mode. */
int guest_start_send(const struct guest_message *, unsigned mode, MPI_Request *);
int guest_start_receive(const struct guest_message *, MPI_Request *);

/* guest_stash.c: how many messages are there. */
int guest_stash_count(void);
/* Takes all messages out of the real MPI that such a receive could get. */
void guest_stash_pull(MPI_Comm, int source, int tag);
/* Receives the first such message; probes for it. Returns 0 if there is none. */
int guest_stash_receive(MPI_Comm, int source, int tag, const struct guest_buffer *, MPI_Status *,
                        int *rc);
/* message: of a matched probe, or NULL. */
int guest_stash_probe(MPI_Comm, int source, int tag, MPI_Message *message, MPI_Status *);
/* Receives a message that such a probe has found here; 0: it is not one of those. */
int guest_stash_receive_claimed(MPI_Message *, const struct guest_buffer *, MPI_Status *, int *rc);

/* guest_held.c */
/* Calls that post such receives. */
int guest_hold(struct guest_call *);
/* While an answer is awaited: takes messages for such receives out of the real MPI. */
void guest_pull_held(void);
/* Sends the call that is about to block. If receives are held, waits until it is complete in the
 * simulator: the real call would keep us from posting them. */
void guest_flush_blocking(void);
/* What the answer says: which messages receives have got. Starts those in the real MPI. */
void guest_release(void);
/* Whether a handle is of such a receive. */
int guest_is_held(MPI_Request);
/* Waits until it has its message, which the simulator knows, and leaves the request as it is. */
void guest_held_status(MPI_Request, MPI_Status *);
/* Completes it; is_cancelled: without a message. */
int guest_finish_held(MPI_Request *, MPI_Status *, int is_cancelled);
/* MPI_Recv, MPI_Sendrecv and probes: after the answer, if there must be one. */
int guest_receive(struct guest_call *);
int guest_take_matched(struct guest_call *);
/* The request that was recorded last is that of the receive that was held last. */
void guest_held_numbered(void);

#endif
