/*
 * Random programs for prop_analysis.c. A small MPI is executed in one global order, in which
 * messages arrive as they are sent, so it is known which receive gets which message; times follow
 * from that.
 *
 * One test program is one translation unit that includes this header.
 */
#ifndef ANALYSIS_PROGRAM_H
#define ANALYSIS_PROGRAM_H

#include <math.h>
#include <stdlib.h>

#include "analysis/analysis.h"
#include "base/rng.h"
#include "trace_build.h"

#define RANKS_MOST 5
#define STEPS 120
#define CALLS_MOST 4000
#define ITEMS_MOST 8

struct message {
    unsigned from, to;
    int tag, receive; /* -1: no receive is posted for it */
    int64_t sent, ideal;
    int done; /* call that completes its receive, or -1 */
};

struct receive {
    unsigned rank;
    int source, tag; /* -2, -1: any */
    int message;
    int64_t posted;
};

struct call {
    unsigned rank;
    int64_t enter, leave;
    int receives[ITEMS_MOST], sends[ITEMS_MOST]; /* messages that it waits for */
    unsigned receive_count, send_count;
    /* a collective: this rank waits for the entry of that one */
    int kind; /* enum analysis_wait, or -1 */
    int64_t until;
    unsigned cause;
};

struct open_request {
    int number, message, receive; /* a send or a receive */
};

static struct world {
    struct rng rng;
    struct build build;
    unsigned ranks;
    int has_wildcards;
    int has_ties; /* calls take no time, and ranks do things at the same time */
    uint8_t edges[RANKS_MOST * RANKS_MOST]; /* of communicator 2: from, to */
    int64_t clock[RANKS_MOST], ideal[RANKS_MOST], file[RANKS_MOST];
    int next_request[RANKS_MOST];
    struct open_request open[RANKS_MOST][64];
    unsigned open_count[RANKS_MOST];
    struct message messages[CALLS_MOST];
    int message_count;
    struct receive receives[CALLS_MOST];
    int receive_count;
    struct call calls[CALLS_MOST];
    int call_count;
} w;

static uint64_t below(uint64_t n)
{
    return rng_below(&w.rng, n);
}

/* Times of different ranks are never the same, unless requested. */
static int64_t tick(unsigned rank, int64_t least)
{
    return w.has_ties ? least : (least / 16 + 1) * 16 + rank;
}

/* A call of a rank, after it has computed for a while. */
static struct call *begin(unsigned rank)
{
    struct call *c = &w.calls[w.call_count++];
    int64_t enter = tick(rank, w.clock[rank] + (int64_t)below(w.has_ties ? 3 : 3000));
    w.ideal[rank] += enter - w.clock[rank];
    *c = (struct call){.rank = rank, .enter = enter, .leave = enter, .kind = -1};
    return c;
}

static void end(struct call *c, const char *name, const char *args)
{
    c->leave = tick(c->rank, c->leave + (int64_t)below(w.has_ties ? 1 : 50));
    w.clock[c->rank] = c->leave;
    build_call(&w.build, c->rank, name, c->enter, c->leave, args);
}

/* ---- messages ---- */

static int fits(const struct receive *v, const struct message *m)
{
    return v->rank == m->to && (v->source == -2 || v->source == (int)m->from) &&
           (v->tag == -1 || v->tag == m->tag);
}

static int send(unsigned rank, unsigned to, int tag, int64_t enter)
{
    struct message *m = &w.messages[w.message_count];
    *m = (struct message){rank, to, tag, -1, enter, w.ideal[rank], -1};
    for (int i = 0; i < w.receive_count && m->receive < 0; i++)
        if (w.receives[i].message < 0 && fits(&w.receives[i], m)) {
            w.receives[i].message = w.message_count;
            m->receive = i;
        }
    return w.message_count++;
}

static int post(unsigned rank, int source, int tag, int64_t enter)
{
    struct receive *v = &w.receives[w.receive_count];
    *v = (struct receive){rank, source, tag, -1, enter};
    for (int i = 0; i < w.message_count && v->message < 0; i++)
        if (w.messages[i].receive < 0 && fits(v, &w.messages[i])) {
            w.messages[i].receive = w.receive_count;
            v->message = i;
        }
    return w.receive_count++;
}

/* The call waits for the message, or for the receiver of it. */
static void await_message(struct call *c, int message)
{
    struct message *m = &w.messages[message];
    c->receives[c->receive_count++] = message;
    m->done = (int)(c - w.calls);
    if (m->sent > c->leave)
        c->leave = m->sent;
    if (w.ideal[c->rank] < m->ideal)
        w.ideal[c->rank] = m->ideal;
}

static void await_receiver(struct call *c, int message)
{
    c->sends[c->send_count++] = message;
    int receive = w.messages[message].receive;
    if (receive >= 0 && w.receives[receive].posted > c->leave && below(2))
        c->leave = w.receives[receive].posted;
}

static void do_send(unsigned rank)
{
    char args[128];
    unsigned to = (unsigned)below(w.ranks);
    int tag = (int)below(2), is_blocking = (int)below(2);
    if (!is_blocking && w.open_count[rank] == 60)
        return;
    struct call *c = begin(rank);
    int message = send(rank, to, tag, c->enter);
    if (is_blocking) {
        await_receiver(c, message);
        snprintf(args, sizeof args, "count=7 datatype=1 dest=%u tag=%d comm=0", to, tag);
        end(c, "MPI_Send", args);
        return;
    }
    int number = w.next_request[rank]++;
    w.open[rank][w.open_count[rank]++] = (struct open_request){number, message, -1};
    snprintf(args, sizeof args, "count=7 datatype=1 dest=%u tag=%d comm=0 request=%d", to, tag,
             number);
    end(c, "MPI_Isend", args);
}

static void spec(int *source, int *tag)
{
    *source = (int)below(w.ranks);
    *tag = (int)below(2);
    if (w.has_wildcards && below(3) == 0)
        *source = -2;
    if (w.has_wildcards && below(3) == 0)
        *tag = -1;
}

static void do_irecv(unsigned rank)
{
    char args[128];
    int source, tag, number = w.next_request[rank];
    if (w.open_count[rank] == 60)
        return;
    spec(&source, &tag);
    struct call *c = begin(rank);
    w.next_request[rank]++;
    w.open[rank][w.open_count[rank]++] = (struct open_request){number, -1,
                                                               post(rank, source, tag, c->enter)};
    snprintf(args, sizeof args, "count=7 datatype=1 source=%d tag=%d comm=0 request=%d", source,
             tag, number);
    end(c, "MPI_Irecv", args);
}

/* Only if the message has arrived: it is sent before in the global order, but perhaps not in
 * time. */
static void do_recv(unsigned rank)
{
    char args[128];
    int source, tag;
    spec(&source, &tag);
    struct receive probe = {rank, source, tag, -1, 0};
    for (int i = 0; i < w.message_count; i++) {
        if (w.messages[i].receive >= 0 || !fits(&probe, &w.messages[i]))
            continue;
        struct call *c = begin(rank);
        int receive = post(rank, source, tag, c->enter);
        const struct message *m = &w.messages[w.receives[receive].message];
        await_message(c, w.receives[receive].message);
        snprintf(args, sizeof args, "count=7 datatype=1 source=%d tag=%d comm=0 status=%u:%d:56",
                 source, tag, m->from, m->tag);
        end(c, "MPI_Recv", args);
        return;
    }
}

/* Completes some requests: sends, and receives that have a message. */
static void do_wait(unsigned rank)
{
    char args[512], numbers[128] = "", statuses[256] = "";
    struct open_request taken[ITEMS_MOST];
    unsigned count = 0, kept = 0, want = 1 + (unsigned)below(4);
    for (unsigned i = 0; i < w.open_count[rank]; i++) {
        struct open_request *q = &w.open[rank][i];
        int is_ready = q->receive < 0 || w.receives[q->receive].message >= 0;
        if (is_ready && count < want && below(2))
            taken[count++] = *q;
        else
            w.open[rank][kept++] = *q;
    }
    w.open_count[rank] = kept;
    if (!count)
        return;
    struct call *c = begin(rank);
    for (unsigned i = 0; i < count; i++) {
        size_t n = strlen(numbers), s = strlen(statuses);
        snprintf(numbers + n, sizeof numbers - n, "%s%d", i ? "," : "", taken[i].number);
        if (taken[i].receive < 0) {
            await_receiver(c, taken[i].message);
            snprintf(statuses + s, sizeof statuses - s, "%snone", i ? "," : "");
        } else {
            const struct message *m = &w.messages[w.receives[taken[i].receive].message];
            await_message(c, w.receives[taken[i].receive].message);
            snprintf(statuses + s, sizeof statuses - s, "%s%u:%d:56", i ? "," : "", m->from,
                     m->tag);
        }
    }
    snprintf(args, sizeof args, "count=%u array_of_requests=%s array_of_statuses=%s", count,
             numbers, statuses);
    end(c, "MPI_Waitall", args);
}

/* ---- collectives ---- */

static const struct {
    const char *name;
    int kind;
} collectives[] = {
    {"MPI_Barrier", ANALYSIS_WAIT_BARRIER}, {"MPI_Allreduce", ANALYSIS_WAIT_NXN},
    {"MPI_Bcast", ANALYSIS_LATE_BROADCAST}, {"MPI_Reduce", ANALYSIS_EARLY_REDUCE},
    {"MPI_Scan", ANALYSIS_EARLY_SCAN},      {"MPI_Neighbor_allgather", ANALYSIS_LATE_NEIGHBOUR},
    {"MPI_Comm_dup", ANALYSIS_WAIT_CREATE}, {"MPI_Comm_disconnect", ANALYSIS_WAIT_FREE},
};

/* Whether member `rank` needs that `of` has entered. */
static int needs(int kind, unsigned rank, unsigned of, unsigned root)
{
    switch (kind) {
    case ANALYSIS_LATE_BROADCAST:
        return rank != root && of == root;
    case ANALYSIS_EARLY_REDUCE:
        return rank == root;
    case ANALYSIS_EARLY_SCAN:
        return of <= rank;
    case ANALYSIS_LATE_NEIGHBOUR:
        return w.edges[of * w.ranks + rank];
    default:
        return 1;
    }
}

static void do_collective(void)
{
    unsigned which = (unsigned)below(sizeof collectives / sizeof collectives[0]);
    unsigned root = (unsigned)below(w.ranks);
    int kind = collectives[which].kind;
    struct call *calls = &w.calls[w.call_count];
    int64_t ideal[RANKS_MOST];
    for (unsigned i = 0; i < w.ranks; i++)
        begin(i);
    memcpy(ideal, w.ideal, sizeof ideal);
    for (unsigned i = 0; i < w.ranks; i++) {
        char args[64];
        struct call *c = &calls[i];
        c->kind = kind;
        for (unsigned k = 0; k < w.ranks; k++) {
            if (!needs(kind, i, k, root))
                continue;
            if (calls[k].enter > c->until)
                c->until = calls[k].enter, c->cause = k;
            if (ideal[k] > w.ideal[i])
                w.ideal[i] = ideal[k];
        }
        if (c->leave < c->until)
            c->leave = c->until;
        snprintf(args, sizeof args, "count=3 datatype=1 root=%u comm=%d", root,
                 kind == ANALYSIS_LATE_NEIGHBOUR ? 2 : 0);
        end(c, collectives[which].name, args);
    }
}

/* An access to a file by one rank alone takes its time on an ideal network, too. */
static void do_file(unsigned rank)
{
    struct call *c = begin(rank);
    end(c, "MPI_File_write_at", "count=3 datatype=1 fh=0");
    w.ideal[rank] += c->leave - c->enter;
    w.file[rank] += c->leave - c->enter;
}

/* ---- execution ---- */

static int has_ready(unsigned rank)
{
    for (unsigned i = 0; i < w.open_count[rank]; i++)
        if (w.open[rank][i].receive < 0 || w.receives[w.open[rank][i].receive].message >= 0)
            return 1;
    return 0;
}

static void play(uint64_t seed, int has_wildcards, int has_ties)
{
    w = (struct world){.has_wildcards = has_wildcards, .has_ties = has_ties};
    rng_seed(&w.rng, seed);
    w.ranks = 1 + (unsigned)below(RANKS_MOST);
    build_begin(&w.build, w.ranks);
    static const int64_t members[RANKS_MOST] = {0, 1, 2, 3, 4};
    for (unsigned i = 0; i < w.ranks * w.ranks; i++)
        w.edges[i] = below(3) == 0;
    build_topology(&w.build, 2, 99, members, w.ranks, w.edges);
    for (unsigned i = 0; i < w.ranks; i++) {
        struct call *c = &w.calls[w.call_count++];
        int64_t start = has_ties ? 0 : i;
        *c = (struct call){.rank = i, .enter = start, .leave = start, .kind = -1};
        w.clock[i] = w.ideal[i] = start;
        build_call(&w.build, i, "MPI_Init", start, start, "");
    }
    for (int step = 0; step < STEPS; step++) {
        unsigned rank = (unsigned)below(w.ranks), what = (unsigned)below(21);
        if (what == 20)
            do_file(rank);
        else if (what < 6)
            do_send(rank);
        else if (what < 11)
            do_irecv(rank);
        else if (what < 14)
            do_recv(rank);
        else if (what < 19)
            do_wait(rank);
        else
            do_collective();
    }
    for (unsigned i = 0; i < w.ranks; i++) /* receives without a message stay open */
        while (has_ready(i))
            do_wait(i);
}

#endif
