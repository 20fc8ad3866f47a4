/*
 * replay.h - the replayer: an MPI program that makes the calls of a trace again, and writes a new
 * one.
 *
 * It runs in the simulator (model replay) and on a real MPI (real-time re-enactment). Between two
 * calls each rank spends the time that the trace shows; how long a call takes is what the MPI makes
 * of it. What is non-deterministic stays so (Böhme et al., section 3.1): see complete.c and
 * probe.c.
 *
 *     main.c           options, the loop over the records of a rank
 *     functions.c      how each function is replayed
 *     words.c          the arguments of a call, from a record
 *     scratch.c         their memory
 *     objects.c        communicators, datatypes, operations, windows, messages: numbers to handles
 *     requests.c       request numbers to handles, which may be remapped
 *     persistent.c     persistent receives with wildcards, in deterministic mode
 *     wait_usual.c     Wait, in the usual case
 *     complete.c       Wait and Test of one request and of all
 *     complete_some.c  of some
 *     batch.c          what these share
 *     ask.c            questions that complete nothing
 *     probe.c          probes, and the receives that follow them
 *     dynamic.c        ranks that come later, and ports
 *     threads.c        ranks with several threads
 *     threads_wait.c   calls in which these wait
 *     output.c         the new trace
 *     clock.c          the time: virtual or real
 *     stuck.c          real time: ranks that wait for long
 */
#ifndef REPLAY_REPLAY_H
#define REPLAY_REPLAY_H

#include <mpi.h>

#include "base/map.h"
#include "mpi_invoke.h"
#include "mpi_roles.h"
#include "replay/agreed.h"
#include "trace/local.h"
#include "trace/part.h"
#include "whatif/got.h"

#define REPLAY_ARGS 16  /* of a function, at most */
#define REPLAY_WHATS 64 /* hypotheses */

/* How a call is replayed. */
enum replay_how {
    REPLAY_TIME, /* its time passes */
    REPLAY_CALL, /* it is made again */
    REPLAY_WAIT,
    REPLAY_WAITALL,
    REPLAY_WAITANY,
    REPLAY_WAITSOME,
    REPLAY_TEST,
    REPLAY_TESTALL,
    REPLAY_TESTANY,
    REPLAY_TESTSOME,
    REPLAY_GET_STATUS,
    REPLAY_PROBE,  /* MPI_Probe, MPI_Mprobe */
    REPLAY_IPROBE, /* MPI_Iprobe, MPI_Improbe */
    REPLAY_PARRIVED,
    REPLAY_WIN_TEST,
    REPLAY_CANCEL,
    REPLAY_SPLIT_TYPE,
    REPLAY_WIN_DYNAMIC,
    REPLAY_DYNAMIC, /* ranks that come later, and ports: dynamic.c */
    REPLAY_END,     /* MPI_Abort: the trace ends here */
    REPLAY_REFUSED, /* cannot be replayed */
};

/* A function of the trace. Positions are among the arguments of its records; -1: it has none. */
struct replay_fn {
    const char *name;
    const struct mpi_signature *signature;
    int (*invoke)(const uint64_t *words);
    uint8_t how;      /* enum replay_how */
    uint8_t step;     /* enum mpi_step */
    uint8_t receives; /* it receives, or its request does */
    uint8_t replaces; /* what it sends by what it receives: its count is that of both */
    uint8_t begins;   /* it makes a request */
    uint8_t reduces;  /* it has an operation */
    uint8_t is_init, is_finalize, makes_window, makes_comm, is_persistent;
    uint8_t starts, starts_all; /* persistent requests: one, or several */
    uint8_t is_timed;           /* it communicates, but only its time passes */
    int8_t comm, win, source, tag, request, message, flag, index, status, count, outcount, datatype,
        size;
    int8_t kept[REPLAY_ARGS]; /* by position in the signature */
    /* words.c: what each word is, those that are numbers of the record and the others, those that
     * have results, where operation and datatype are */
    uint8_t kinds[REPLAY_ARGS], numbers[REPLAY_ARGS], others[REPLAY_ARGS], results[REPLAY_ARGS];
    uint8_t number_count, other_count, result_count;
    int8_t op_word;
    uint8_t has_type; /* one datatype, or several */
};

struct replay_options {
    const char *program;        /* the path of the replayer */
    const char *trace, *output; /* output: NULL: none */
    const char *whats[REPLAY_WHATS];
    size_t what_count;
    int deterministic;
    int busy_sleep;
    int64_t idle_limit; /* in real time: picoseconds in a call that are long; 0: no limit */
};

/* What was done otherwise than in the recording. */
struct replay_counts {
    uint64_t events;     /* calls of the trace */
    uint64_t remapped;   /* another request, or another message, came first */
    uint64_t drawn;      /* completions moved forward to a test that had failed */
    uint64_t forced;     /* waits in place of a test that had succeeded */
    uint64_t removed;    /* calls with nothing left to do */
    uint64_t unfinished; /* ranks whose records end without MPI_Finalize */
    uint64_t timed;      /* calls that communicate, of which only the time passes */
};

/* What the program that replays does about an event that cannot be replayed, for a reason or with
 * the error of a call. `fail` does not return. */
struct replay_rank;
struct replay_program {
    void (*fail)(struct replay_rank *, const char *why);
    void (*failed)(struct replay_rank *, int rc);
};

/* Of a process; its ranks share it. */
struct replay {
    const struct replay_program *program;
    struct replay_options options;
    struct trace trace;
    struct whatif_list whats;
    struct trace_header header; /* of the new trace */
    struct trace_part part;
    struct replay_fn *fns; /* by number in the trace's schema */
    struct mpi_effect *shapes;
    char *send_room, *receive_room;
    struct replay_counts counts;
    struct err err;            /* of reading */
    struct replay_rank *ranks; /* a list */
    int is_open, is_tried, is_ready;
    int is_foreign;                 /* the trace is of another tool */
    int is_threaded;                /* some rank of it has several threads */
    int is_plain;                   /* it is replayed as it is: see replay_is_certain */
    int has_counts;                 /* receives with wildcards get no more than they ask for */
    const struct replay_fn **forms; /* then the non-blocking form of each function, or NULL */
};

enum replay_request_state {
    REPLAY_REQUEST_NONE, /* the slot is free */
    REPLAY_REQUEST_LIVE,
    REPLAY_REQUEST_DRAWN, /* complete ahead of its record, and kept, as it is persistent */
    REPLAY_REQUEST_GONE,  /* complete ahead of its record, and freed */
};

/* A request, by its number in the trace; after a remapping the number has another one. */
struct replay_request {
    int64_t number;
    int64_t origin; /* the number it was started with */
    /* memory of the call that made it, which the MPI may use until then */
    struct replay_kept *kept;
    MPI_Request handle;
    uint32_t comm : 28;      /* local number; for receives */
    uint32_t receives : 1;   /* a message */
    uint32_t makes_comm : 1; /* MPI_Comm_idup: its communicator will be in `kept` */
    uint32_t state : 2;      /* enum replay_request_state */
};

/* Handles by local number; 0: not known. */
struct replay_handles {
    uint64_t *items;
    size_t room;
};

struct replay_unnamed {
    int64_t request; /* number */
    int64_t number;  /* of the communicator; -1: an old trace, which does not say it */
    MPI_Comm comm;   /* MPI_COMM_NULL: not complete yet */
};

/* A probe with wildcards found another message than in the recording: the receives change places.
 * */
struct replay_kind {
    int64_t source, tag;
};

struct replay_probed {
    int64_t comm;
    struct replay_kind from, to; /* as recorded, and now */
};

/* A probe that had failed found a message: its record comes later. */
struct replay_drawn_probe {
    int64_t comm, source, tag; /* what was asked for */
    MPI_Message message;
    MPI_Status status;
};

struct replay_chunk;
struct replay_kept;
struct replay_thread;
struct replay_persistent;
struct replay_watch;

/* What belongs to one thread of a rank: a rank has that of the thread whose record is replayed, and
 * exchanges it when another one goes on (threads.c). */
#define REPLAY_LANE                                                                       \
    struct whatif_stage *records; /* what the hypotheses make of the trace */             \
    struct whatif_stage *ahead;   /* reads them ahead in deterministic mode; or NULL */   \
    struct trace_event *event;    /* the record that is being replayed */                 \
    int64_t duration;             /* of the call in the trace */                          \
    int64_t last;                 /* when the last record ended */                        \
    int may_fail;   /* class of the error of a receive whose message did not fit, or 0 */ \
    int is_changed; /* arguments of the event are not as they were read */                \
    struct trace_stream out;                                                              \
    struct replay_chunk *scratch;                                                         \
    size_t scratch_used;                                                                  \
    struct replay_kept *kept; /* of the call that is being made */                        \
    uint64_t words[REPLAY_ARGS];                                                          \
    struct whatif_got got; /* from ahead */

struct replay_lane {
    REPLAY_LANE
};

/* What every call needs comes first: of many ranks each begins with all of it out of the caches. */
struct replay_rank {
    struct replay *replay;
    int64_t epoch; /* the clock at which the trace begins */
    union {
        struct {
            REPLAY_LANE
        };
        struct replay_lane lane;
    };
    struct replay_handles comms, types, ops;
    struct replay_request *requests; /* requests.c */
    uint32_t request_count, request_room;
    struct replay_persistent *persistent; /* a list: persistent.c */
    struct replay_thread *threads;        /* or NULL: it has one */
    struct replay_watch *watch;           /* in real time: stuck.c; or NULL */
    MPI_Request made;                     /* results of the call */
    MPI_Status status;
    int is_begun, is_own; /* MPI is initialised, and not by a record */
    int is_spawned;       /* it is not of the first MPI_COMM_WORLD */
    int was_free;         /* it has received what came first, or cancelled a receive */
    uint32_t drawn_probe_count, probed_count;
    struct replay_drawn_probe *drawn_probes;
    struct replay_probed *probed;
    struct replay_rank *next, *before; /* in the list */
    uint64_t rank;
    unsigned thread_count, current; /* current: whose lane this is */
    struct whatif_rank changed;     /* what the hypotheses know of it */
    struct trace_local locals;
    int new_byte_type; /* the trace has none */
    MPI_Op any_op;     /* see replay_op_for_bytes */
    struct replay_handles wins, messages;
    struct replay_handles message_comms; /* numbers of communicators + 1, by message */
    struct map created;                  /* communicators, by identity */
    struct map drawn_wins;               /* windows whose test succeeded early */
    /* communicators of MPI_Comm_idup, in order of the calls: in traces of earlier versions they
     * have no numbers before they are used */
    struct replay_unnamed *unnamed;
    uint32_t unnamed_count;
};

/* Ends the run of the replayer. */
void replay_stop(const char *text) __attribute__((noreturn));
/* The event that is being replayed cannot be. */
void replay_fail(struct replay_rank *, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn));
/* Ends the run with the error of a call. One that had failed so when it was recorded only notes
 * it. */
void replay_failed(struct replay_rank *, int rc) __attribute__((cold, noinline));
static inline void replay_check(struct replay_rank *k, int rc)
{
    if (__builtin_expect(rc != MPI_SUCCESS, 0))
        replay_failed(k, rc);
}

/* Whether receives get the recorded messages for certain: messages of one kind do not overtake each
 * other, so only a receive of whatever comes first can get another one, and then those after it. */
static inline int replay_is_certain(const struct replay_rank *k)
{
    return k->replay->is_plain && !k->was_free;
}

/* ---- functions.c ---- */
int replay_functions_init(struct replay *, struct err *);

/* ---- clock.c ---- */
int replay_is_simulated(void);
/* After MPI_Init, and what else there is to do before the trace begins: all ranks begin at once. */
void replay_synchronise(struct replay_rank *);
/* Picoseconds since the beginning of the trace. */
int64_t replay_now(const struct replay_rank *);
/* Computes until then. */
void replay_until(struct replay_rank *, int64_t t);

/* ---- scratch.c ---- */
/* Memory until the next record. */
void *replay_scratch(struct replay_rank *, size_t bytes);
void replay_scratch_clear(struct replay_rank *); /* if there is some */
/* The record is done with its memory. Most records use none. */
static inline void replay_scratch_reset(struct replay_rank *k)
{
    if (k->scratch_used)
        replay_scratch_clear(k);
}
void replay_scratch_free(struct replay_rank *);
/* Memory that lasts as long as the request that the call makes. */
void *replay_keep(struct replay_rank *, size_t bytes);
void replay_kept_free(struct replay_kept *);
void *replay_kept_data(struct replay_kept *);

/* ---- words.c ---- */
/* Fills in what the functions below need to know of a function. */
void replay_words_learn(struct replay_fn *);
/* The words of the arguments of the event. */
void replay_words(struct replay_rank *, const struct replay_fn *);
/* Takes the results of the call: new handles, what was freed, statuses. */
void replay_results(struct replay_rank *, const struct replay_fn *);
struct trace_value *replay_arg(struct replay_rank *, int kept);
/* Sets the word of the argument that is at this position of the record. */
void replay_set_word(struct replay_rank *, const struct replay_fn *, int kept, int64_t value);
/* Whether the event is a receive with wildcards. */
int replay_is_wild(struct replay_rank *, const struct replay_fn *);
/* MPI_Win_create_dynamic: a window with room for all addresses. */
void replay_win_dynamic(struct replay_rank *, const struct replay_fn *);
/* MPI_Grequest_complete of a request that was freed. */
int replay_is_freed(struct replay_rank *, const struct replay_fn *);

/* ---- objects.c ---- */
uint64_t replay_handle(struct replay_rank *, unsigned role, int64_t number);
void replay_handle_set(struct replay_rank *, unsigned role, int64_t number, uint64_t handle);
void replay_handles_free(struct replay_rank *);
/* A communicator that no record has named yet: its request was started, or is complete. */
void replay_unnamed_add(struct replay_rank *, int64_t request, int64_t number);
void replay_unnamed_set(struct replay_rank *, int64_t request, MPI_Comm);
/* The communicator of the event: its own, or that of its message. */
int64_t replay_comm_of(struct replay_rank *, const struct replay_fn *);
void replay_message_comm(struct replay_rank *, int64_t message, int64_t comm);
/* Members: from a rank in a communicator to that in the trace, and back. */
int64_t replay_world_rank(const struct replay_rank *, int64_t comm, int64_t rank);
int64_t replay_comm_rank(const struct replay_rank *, int64_t comm, int64_t world);
/* Traces of other tools say which communicators there are, not always how they were made: makes all
 * of them. */
void replay_create_comms(struct replay_rank *);
/* The number of MPI_BYTE among the datatypes of the rank; a new one if it has none. */
int64_t replay_byte_type(struct replay_rank *);
int64_t replay_first_member(const struct replay_rank *, int64_t comm);
/* Predefined ones, which have names. */
int replay_type_is_named(const struct replay_rank *, int64_t type);
int replay_op_is_named(const struct replay_rank *, int64_t op);
/* An operation on items of any kind, in its place: of windows, or of collectives. */
MPI_Op replay_op_for_bytes(struct replay_rank *, int of_windows);
/* Bytes of an item of a datatype. */
uint64_t replay_type_size(const struct replay_rank *, int64_t type);

/* ---- requests.c ---- */
struct replay_request *replay_request_add(struct replay_rank *, int64_t number, MPI_Request,
                                          int64_t comm, int receives);
/* NULL: the number is null, not known, or complete. */
struct replay_request *replay_request_find(struct replay_rank *, int64_t number);
int replay_request_is_drawn(const struct replay_rank *, int64_t number);
/* It is complete, or was freed: forgets it, unless it is persistent. */
void replay_request_done(struct replay_rank *, int64_t number);
/* replay_request_done with the handle that MPI has left of it. */
void replay_request_end(struct replay_rank *, int64_t number, MPI_Request handle);
/* It was never started: counts as complete. */
void replay_request_never(struct replay_rank *, int64_t number);
/* It is complete before the record of that. */
void replay_request_draw(struct replay_rank *, int64_t number);
/* Here is the record. */
void replay_request_undraw(struct replay_rank *, int64_t number);
/* The numbers mean each other's request. */
void replay_request_swap(struct replay_rank *, int64_t a, int64_t b);
void replay_requests_free(struct replay_rank *);

/* ---- persistent.c: in deterministic mode ---- */
/* The call of the event has made a persistent receive. */
void replay_persistent_add(struct replay_rank *, const struct replay_fn *);
/* Before the event starts persistent requests: they get what they had got. */
void replay_persistent_start(struct replay_rank *, const struct replay_fn *);
/* The request was freed. */
void replay_persistent_forget(struct replay_rank *, int64_t number);
void replay_persistent_free(struct replay_rank *);

/* ---- wait_usual.c ---- */
/* MPI_Wait and MPI_Waitall for requests that are all as they were recorded: waits, returns 1. Else
 * returns 0, and has done nothing. */
int replay_wait_usual(struct replay_rank *, const struct replay_fn *);

/* ---- complete.c, probe.c ---- */
/* 1: the record stays, with its results; 0: it is dropped. */
int replay_complete(struct replay_rank *, const struct replay_fn *);
int replay_probe(struct replay_rank *, const struct replay_fn *);
/* Whether MPI_Probe or MPI_Mprobe would return at once. */
int replay_probe_is_here(struct replay_rank *, const struct replay_fn *);
/* The source and tag of a receive, in place of those recorded; 0: they are these. */
int replay_probe_receive(struct replay_rank *, int64_t comm, int64_t *source, int64_t *tag);
struct trace_status replay_status(const struct replay_rank *, int64_t comm, const MPI_Status *);
/* Counts a receive with wildcards that got another message than in the recording. */
void replay_compare(struct replay_rank *, const struct trace_status *was,
                    const struct trace_status *is);
/* The message that did not fit is here again: a status tells what fitted, the trace how large it
 * was; and of a derived type the replay does not know where its items end. */
void replay_keep_failure(struct replay_rank *, const struct trace_status *was,
                         struct trace_status *is);

/* ---- dynamic.c ---- */
#define REPLAY_FIRST "--first" /* for a rank that was spawned: the rank in the trace of the first */
#define REPLAY_EPOCH "--epoch" /* its epoch, in real time */
void replay_dynamic(struct replay_rank *, const struct replay_fn *);
/* The ranks that a communicator's calls can address; NULL: 0, 1, 2, ... */
const int64_t *replay_peers(const struct replay_rank *, int64_t comm, uint64_t *size);

/* ---- main.c ---- */
/* Computes until the record, and replays it. */
void replay_item(struct replay_rank *, const struct whatif_item *);
/* The parts of that, for a call that a rank with several threads waits for: replay_item_begin
 * computes and prepares it, replay_item_end writes the record of what began at `began`. */
void replay_item_begin(struct replay_rank *, const struct whatif_item *);
void replay_item_end(struct replay_rank *, int64_t began, int stays);
/* A call is made: counts it, and notes how it may fail. */
void replay_count(struct replay_rank *);
/* Makes the call of the event; 1: its record stays. */
int replay_act(struct replay_rank *, const struct replay_fn *);

/* ---- stuck.c ---- */
/* Watches the rank, whose output is open, until replay_stuck_end. */
void replay_stuck_begin(struct replay_rank *);
void replay_stuck_end(struct replay_rank *);
/* A rank that is watched enters a call, or leaves it. */
void replay_stuck_step(struct replay_rank *);

/* ---- threads.c, threads_wait.c ---- */
/* All records of all threads of a rank. */
void replay_threads(struct replay_rank *);
void replay_threads_init(struct replay *);
/* Passes on what threads have written that the rank does not have now. */
void replay_threads_spill(struct replay_rank *);

/* ---- output.c ---- */
int replay_output_open(struct replay *, unsigned process, struct err *);
void replay_output_begin(struct replay_rank *);
/* Of one more thread, whose lane the rank has. */
void replay_output_thread(struct replay_rank *, unsigned thread);
/* The event, from `enter` to `leave`, in picoseconds. */
void replay_output_event(struct replay_rank *, int64_t enter, int64_t leave);
void replay_output_end(struct replay_rank *);
int replay_output_close(struct replay *);

#endif
