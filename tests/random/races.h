/*
 * races.h - what only time decides: receives that are cancelled while their message is in flight,
 * requests that are looked at without completing them, and probes that are too early.
 */
#ifndef TESTS_RANDOM_RACES_H
#define TESTS_RANDOM_RACES_H

#include "comms.h"

enum { RACE_TAG = 78, RACES = 3 };

#if RANDOM_HAS_CANCEL
/* A receive is cancelled about when its message comes. If it was too late, it has the message;
 * otherwise another receive gets it. */
static void race_cancel(const struct comm *c, int from, int how, struct draw *own)
{
    unsigned char *b = malloc(BYTES_MAX);
    MPI_Request r;
    MPI_Status s;
    int is_cancelled, source = how & 1 ? MPI_ANY_SOURCE : from, bytes;
    if (how & 2) {
        MPI_Recv_init(b, BYTES_MAX, MPI_BYTE, source, RACE_TAG, c->comm, &r);
        MPI_Start(&r);
    } else {
        MPI_Irecv(b, BYTES_MAX, MPI_BYTE, source, RACE_TAG, c->comm, &r);
    }
    spend(own);
    MPI_Cancel(&r);
    MPI_Wait(&r, &s);
    MPI_Test_cancelled(&s, &is_cancelled);
    note((uint64_t)is_cancelled);
    if (r != MPI_REQUEST_NULL)
        MPI_Request_free(&r);
    if (is_cancelled)
        MPI_Recv(b, BYTES_MAX, MPI_BYTE, from, RACE_TAG, c->comm, &s);
    CHECK(s.MPI_SOURCE == from && s.MPI_TAG == RACE_TAG);
    MPI_Get_count(&s, MPI_BYTE, &bytes);
    CHECK(is_filled(b, id_in(b), bytes));
    run.sum += id_in(b) * (uint64_t)bytes;
    free(b);
}
#endif

/* The message is looked at, by its request or by a probe, before it is received. */
static void race_look(const struct comm *c, int from, int how, struct draw *own)
{
    unsigned char *b = malloc(BYTES_MAX);
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Status s;
    int flag = 0, tries = 0, bytes, tag = how & 1 ? MPI_ANY_TAG : RACE_TAG;
    if (how & 2)
        MPI_Irecv(b, BYTES_MAX, MPI_BYTE, from, tag, c->comm, &r);
    for (; !flag; tries++) {
        if (how & 2)
            MPI_Request_get_status(r, &flag, &s);
        else
            MPI_Iprobe(from, tag, c->comm, &flag, &s);
        if (!flag && tries % 7 == 3)
            spend(own);
    }
    note((uint64_t)tries);
    if (how & 2)
        MPI_Wait(&r, &s);
    else
        MPI_Recv(b, BYTES_MAX, MPI_BYTE, s.MPI_SOURCE, s.MPI_TAG, c->comm, &s);
    CHECK(s.MPI_SOURCE == from && s.MPI_TAG == RACE_TAG);
    MPI_Get_count(&s, MPI_BYTE, &bytes);
    CHECK(is_filled(b, id_in(b), bytes));
    run.sum += id_in(b) * (uint64_t)bytes;
    free(b);
}

/* Everybody sends to the member `shift` away, one message after another. */
static void act_races(const struct comm *c)
{
    struct draw d = draw_shared(), own = draw_own();
    int shift = (int)draw(&d, (uint32_t)c->size), rounds = 1 + (int)draw(&d, RACES);
    int to = (c->rank + shift) % c->size, from = (c->rank - shift + c->size) % c->size;
    MPI_Barrier(c->comm);
    for (int i = 0; i < rounds; i++) {
        int bytes = draw_bytes(&d), what = (int)draw(&d, 2), mode = (int)draw(&d, 3);
        unsigned char *a = malloc((size_t)bytes);
        MPI_Request r;
        fill(a, (uint64_t)run.action << 20 | (uint64_t)(c->rank << 4 | i), bytes);
        spend(&own);
        if (mode == 0)
            MPI_Issend(a, bytes, MPI_BYTE, to, RACE_TAG, c->comm, &r);
        else
            MPI_Isend(a, bytes, MPI_BYTE, to, RACE_TAG, c->comm, &r);
#if RANDOM_HAS_CANCEL
        if (what)
            race_cancel(c, from, (int)draw(&own, 4), &own);
        else
#endif
            race_look(c, from, (int)draw(&own, 4) | what, &own);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        free(a);
        MPI_Barrier(c->comm); /* wildcards must not take what is sent in the next round */
    }
}

#endif
