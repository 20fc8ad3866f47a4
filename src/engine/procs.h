/*
 * procs.h - one simulation on several processes: the engine's peers over a link.
 *
 * Messages to entities of another process are collected in a batch for it, which is sent when it is
 * full, when the engine polls, and when nothing is ready here. There is no global step while
 * processes have work. A process that has nothing left to do reports to process 0, the coordinator:
 *
 *     its status (earliest decision, ended entities, ...)
 *     S, the sum of hashes of all batches it has ever sent, and R, of all it has received
 *
 * When all processes have reported and the sums of S and R agree, every batch sent before a report
 * was received before a report. So no process had anything left to do, and no message was in
 * flight: that is quiescence, detected without stopping any process. The coordinator sends the
 * merged status to all, and each engine draws the same conclusion from it.
 *
 *     process 1   run ... report              run ... report ------.
 *     process 0   run ......... report  run ....... (sums differ)   report: agree -> verdict to all
 *
 * A report belongs to an epoch, the number of verdicts its process has seen; reports of older
 * epochs mean nothing.
 *
 * A process that has nothing to do in the step that follows skips it: it gets no verdict, and its
 * report stays valid, as if it had got the verdict and reported the same again. It may learn of the
 * step later, from a message that the step caused. Therefore each batch begins with what the sender
 * knows of the steps (safe_until, reached), and the receiver learns that first: every decision is
 * taken in the same round as in one process. So a round costs messages only to the processes that
 * take part, and none if that is the coordinator alone. With a medium all take part in all steps,
 * and a batch that comes before the verdict it follows from waits for that (procs_early.c).
 *
 * Counting batches instead of hashing them would not work: reports are made at different times, and
 * one batch sent after a report could make up for another received before it.
 *
 * Everything else that processes send each other goes as notes (output, statistics, the end) or as
 * items among the batches (new communicators).
 */
#ifndef ENGINE_PROCS_H
#define ENGINE_PROCS_H

#include "engine/engine.h"
#include "engine/proc_link.h"

#define PROCS_NOTE 16 /* the first tag of notes */
#define PROCS_ITEM 64 /* the first tag of items, which count like batches */
/* Decisions that were to be forced in a row, and there was none, until busy entities look; if none
 * is busy, the run may be over. */
#define PROCS_LOOK_AFTER 20

struct procs_report {
    uint64_t epoch, serial;
    uint64_t progress;       /* serial of the last report before which something had succeeded */
    uint64_t sent, received; /* sums of hashes of batches */
    struct engine_status status;
};

struct procs_verdict {
    uint64_t epoch;
    struct engine_status all;
};

/* The head of a batch: how far the sender has come. */
struct procs_head {
    vtime safe_until, reached;
    uint64_t step; /* verdicts that it has seen */
};

struct procs_box {
    char *data; /* NULL: empty */
    size_t len;
    int listed; /* in `open` */
};

struct procs_batch {
    struct procs_batch *next;
    uint32_t to;
    int tag;
    char *data;
    size_t len;
};

/* State of waiting for others; times in ticks (base/ticks.h). */
struct procs_wait {
    uint64_t since;  /* when it began */
    unsigned sleeps; /* in this wait */
    uint64_t spin,
        glance;  /* how long to poll before sleeping: with and without a processor to spare */
    int pressed; /* others want the processor */
    uint64_t pressed_next;   /* until when `pressed` holds */
    uint64_t asked;          /* when it was last determined */
    uint64_t kept;           /* how long this thread had been kept from running then, in ns */
    uint64_t slept;          /* time slept since `asked` */
    uint64_t gathered_until; /* the processes share a processor; 0: they do not */
};

struct procs_config {
    struct engine *engine;
    struct proc_link link;
    /* A note from another process has arrived. Scheduler context. The data is borrowed. */
    void (*note)(void *owner, uint32_t from, int tag, const void *data, size_t bytes);
    /* Entities are away, and nothing follows from the status of all: whether what is outside waits
     * for a decision. If so, a number for that state, which depends on `serial`; else 0. Called by
     * the coordinator, again and again; NULL: never. */
    uint64_t (*is_stuck)(void *owner, uint64_t serial);
    /* Then: does somebody outside wait for an answer, so that a decision may be forced? */
    int (*asks)(void *owner);
    void *owner;
    /* There is a medium, here or elsewhere: all processes take part in all steps, and what comes
     * from one that is ahead waits until this one has taken the same step. */
    int in_step;
};

struct procs_held;

/* Use the functions. */
struct procs {
    struct procs_config cfg;
    struct engine_peers peers; /* for the engine's configuration */
    struct procs_box *boxes;   /* per process, the batch being filled */
    uint32_t *open;            /* processes whose box may not be empty */
    uint32_t open_count;
    struct procs_batch *full, **full_last; /* batches to be sent, oldest first */
    uint64_t *sent_to, *got_from;          /* batches, per process */
    uint64_t sent, received;               /* sums of hashes */
    uint64_t delivered;                    /* batches */
    uint64_t delivered_before;             /* when the last report was made */
    struct procs_report last;              /* the last report */
    int reported;            /* `last` was made in this epoch and nothing has changed since */
    uint64_t progress;       /* serial of the last report of progress */
    struct procs_head *told; /* per process, in the last batch for it */
    uint64_t epoch;
    struct procs_held *held; /* what came before its verdict, oldest first */
    int has_verdict;
    struct procs_verdict verdict;
    size_t box_size;
    unsigned report_after; /* fruitless looks before a report */
    uint64_t poll_ticks;   /* how often to poll the link */
    struct procs_wait wait;
    struct procs_report
        *reports; /* coordinator: the latest report of each process in its present epoch */
    uint8_t *has_report;
    uint32_t report_count;
    uint64_t *epochs; /* coordinator: of each process */
    /* Coordinator: serial of the report of each that the last verdict rests on. */
    uint64_t *settled;
    uint64_t sum_sent, sum_received;
    int waits; /* coordinator: it waits for those that are away (engine_status_waits) */
    uint64_t report_serial; /* coordinator: number of reports so far */
    uint64_t forced;        /* coordinator: decisions forced so far */
    unsigned futile;        /* coordinator: the last decisions forced that changed nothing */
    /* The state for which all are asked to look, or this process is; 0: none. */
    uint64_t look;
    uint32_t looked;  /* coordinator: how many have */
    uint64_t batches; /* sent in all, for the summary */
};

/* In place. The engine is initialised afterwards, with &procs->peers in its configuration. */
void procs_init(struct procs *, const struct procs_config *);

/* Sends a note; data as in struct proc_link. Scheduler context. */
void procs_note(struct procs *, uint32_t to, int tag, void *data, size_t bytes);

/* Sends an item after all messages sent to that process so far, in any context. There is no
 * quiescence while it is in flight. The receiver's note function gets it. */
void procs_item(struct procs *, uint32_t to, int tag, void *data, size_t bytes);

/* Handles everything that has arrived; returns the number of messages. */
unsigned procs_receive(struct procs *);

/* Sends all batches. */
void procs_flush(struct procs *);

/* Waits for others without wasting the processor: call it with a count of 0 after the first look
 * that finds nothing, and so on; start again at 0 after a look that found something. */
void procs_pause(struct procs *, unsigned *tries);
/* From now on the process runs on all its processors: it is about to start threads, which inherit
 * them. */
void procs_spread(struct procs *);

#endif
