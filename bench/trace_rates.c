/*
 * trace_rates.c - how fast records are written to memory and read back from a file.
 *
 * usage: trace_rates ROUNDS FILE.part FILE.orr
 *
 * Writes what the ranks of a halo exchange would, in memory and then to a part, merges it, reads
 * all of it, and prints one line for each: a word, records per second of processor time, bytes per
 * record.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/mem.h"
#include "trace/merge.h"
#include "trace/part.h"
#include "trace/reader.h"

#define RANKS 64
#define NEIGHBOURS 4

struct functions {
    unsigned irecv, isend, waitall, allreduce;
};

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void put_p2p(struct trace_stream *s, unsigned fn, int64_t t, int64_t peer, int64_t request)
{
    trace_call_begin(s, fn, t, t + 300000);
    trace_put_number(s, 1024); /* count, datatype, peer, tag, communicator, request */
    trace_put_varint(s, 1);
    trace_put_number(s, peer);
    trace_put_number(s, 7);
    trace_put_varint(s, 1);
    trace_put_request(s, request);
    trace_record_end(s);
}

static void put_waitall(struct trace_stream *s, const struct functions *f, int64_t t, int64_t first)
{
    int64_t requests[2 * NEIGHBOURS];
    struct trace_status statuses[2 * NEIGHBOURS] = {{0}};
    for (int i = 0; i < 2 * NEIGHBOURS; i++) {
        requests[i] = first + i;
        if (i < NEIGHBOURS)
            statuses[i] = (struct trace_status){i, 7, 8192, 1, 0};
    }
    trace_call_begin(s, f->waitall, t, t + 21000000);
    trace_put_number(s, 2 * NEIGHBOURS);
    trace_put_array(s, requests, 2 * NEIGHBOURS);
    trace_put_statuses(s, statuses, 2 * NEIGHBOURS);
    trace_record_end(s);
}

static void put_allreduce(struct trace_stream *s, const struct functions *f, int64_t t)
{
    trace_call_begin(s, f->allreduce, t, t + 33000000);
    trace_put_varint(s, 0); /* buffers, count, datatype, operation, communicator */
    trace_put_varint(s, 0);
    trace_put_number(s, 1);
    trace_put_varint(s, 1);
    trace_put_varint(s, 1);
    trace_put_varint(s, 1);
    trace_record_end(s);
}

/* Ten records. Times vary as they do when computing is measured. */
static int64_t put_round(struct trace_stream *s, const struct functions *f, int64_t t,
                         int64_t round)
{
    for (int i = 0; i < NEIGHBOURS; i++, t += 400000)
        put_p2p(s, f->irecv, t, i, 8 * round + i);
    for (int i = 0; i < NEIGHBOURS; i++, t += 500000)
        put_p2p(s, f->isend, t, i, 8 * round + NEIGHBOURS + i);
    t += 1000000 + (int64_t)((uint64_t)round * 2654435761u % 4000000);
    put_waitall(s, f, t, 8 * round);
    t += 21000000 + 50000;
    put_allreduce(s, f, t);
    return t + 33000000;
}

static void drop(struct trace_sink *sink, const struct trace_piece *piece)
{
    (void)sink, (void)piece;
}

static uint64_t write_all(struct trace_sink *sink, const struct functions *f, int64_t rounds)
{
    for (uint64_t rank = 0; rank < RANKS; rank++) {
        struct trace_stream s;
        int64_t t = 0;
        trace_stream_init(&s, sink, rank, 0, 0);
        for (int64_t i = 0; i < rounds; i++)
            t = put_round(&s, f, t, i);
        trace_stream_fini(&s);
    }
    return (uint64_t)rounds * (2 * NEIGHBOURS + 2) * RANKS;
}

static uint64_t read_all(struct trace *t)
{
    uint64_t count = 0;
    for (uint64_t rank = 0; rank < RANKS; rank++) {
        struct trace_cursor c;
        struct trace_event e;
        struct err err;
        trace_cursor_open(&c, t, rank, 0, TRACE_RECORDS);
        while (trace_cursor_next(&c, &e, &err) > 0)
            count++;
        trace_cursor_close(&c);
    }
    return count;
}

static void fail(const struct err *err)
{
    fprintf(stderr, "trace_rates: %s\n", err->text);
    exit(1);
}

int main(int argc, char **argv)
{
    struct trace_header header;
    struct trace_part part;
    struct trace t;
    struct err err, missing;
    struct stat status;
    if (argc != 4) {
        fprintf(stderr, "usage: trace_rates ROUNDS FILE.part FILE.orr\n");
        return 2;
    }
    int64_t rounds = atoll(argv[1]);
    trace_header_init(&header, RANKS);
    struct functions f = {(unsigned)trace_schema_find(header.schema, "MPI_Irecv"),
                          (unsigned)trace_schema_find(header.schema, "MPI_Isend"),
                          (unsigned)trace_schema_find(header.schema, "MPI_Waitall"),
                          (unsigned)trace_schema_find(header.schema, "MPI_Allreduce")};

    struct trace_sink memory = {.take = drop, .block = header.block, .piece = header.block};
    double start = cpu_seconds();
    uint64_t records = write_all(&memory, &f, rounds);
    printf("memory %.0f 0\n", (double)records / (cpu_seconds() - start));

    if (trace_part_open(&part, argv[2], &header, &err) != 0)
        fail(&err);
    write_all(&part.sink, &f, rounds);
    const char *parts[] = {argv[2]};
    if (trace_part_close(&part, &err) != 0 || trace_merge(parts, 1, argv[3], &missing, &err) != 0 ||
        trace_open(&t, argv[3], &err) != 0)
        fail(&err);
    start = cpu_seconds();
    if (read_all(&t) != records || stat(argv[3], &status) != 0) {
        err_set(&err, ERR_INPUT, "records were lost");
        fail(&err);
    }
    printf("read %.0f %.3f\n", (double)records / (cpu_seconds() - start),
           (double)status.st_size / (double)records);
    trace_close(&t);
    trace_header_fini(&header);
    return 0;
}
