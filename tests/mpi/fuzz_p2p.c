/* test: n=2,5,16 native=4 args="7 12" schedules=30
 * Random valid point-to-point traffic among all ranks, drawn from a seed: all send modes, named and
 * wildcard receives, probes of all kinds, persistent requests, sendrecv. Contents are checked, and
 * that messages of one source come in order; the sums printed do not depend on timing.
 *
 *     fuzz_p2p [seed [rounds]]
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { MESSAGES_MAX = 400, BYTES_MAX = 150000, PER_RANK = 6 };

struct message {
    int src, dst, tag, mode, comm;
    int bytes;
    uint64_t id; /* rises for each source */
};

static struct message messages[MESSAGES_MAX];
static int count, rank, size, rounds_done;
static MPI_Comm comms[2];
static uint64_t state, sum;
static unsigned char *out[MESSAGES_MAX], *in[MESSAGES_MAX];

static uint32_t rnd(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % n;
}

static unsigned char byte_of(uint64_t id, int i)
{
    return (unsigned char)(id * 2654435761u + (uint64_t)i * 40503u + (uint64_t)(i >> 8));
}

static unsigned char *buffer(const struct message *m)
{
    unsigned char *b = malloc((size_t)m->bytes + 1);
    for (int i = 0; i < m->bytes; i++)
        b[i] = i < 8 ? (unsigned char)(m->id >> 8 * i) : byte_of(m->id, i);
    return b;
}

/* Makes a list that is the same on every rank. Sizes lie around the usual limits of eager
 * messages. */
static void make_round(void)
{
    static const int sizes[] = {8, 9, 100, 4096, 65535, 65536, 65537, 140000};
    count = 0;
    for (int s = 0; s < size; s++)
        for (int k = (int)rnd(PER_RANK); k > 0; k--) {
            struct message *m = &messages[count];
            m->src = s;
            m->dst = (int)rnd((uint32_t)size);
            m->tag = (int)rnd(3);
            m->mode = (int)rnd(4);
            m->comm = (int)rnd(2);
            m->bytes = sizes[rnd(8)];
            m->id = (uint64_t)(rounds_done + 1) << 32 | (uint64_t)s << 16 | (uint64_t)++count;
        }
}

static void start_send(int i, int ready, MPI_Request *r)
{
    const struct message *m = &messages[i];
    MPI_Comm c = comms[m->comm];
    out[i] = buffer(m);
    if (ready)
        MPI_Irsend(out[i], m->bytes, MPI_BYTE, m->dst, m->tag, c, r);
    else if (m->mode == 0)
        MPI_Isend(out[i], m->bytes, MPI_BYTE, m->dst, m->tag, c, r);
    else if (m->mode == 1)
        MPI_Issend(out[i], m->bytes, MPI_BYTE, m->dst, m->tag, c, r);
    else if (m->mode == 2)
        MPI_Ibsend(out[i], m->bytes, MPI_BYTE, m->dst, m->tag, c, r);
    else {
        MPI_Send_init(out[i], m->bytes, MPI_BYTE, m->dst, m->tag, c, r);
        MPI_Start(r);
    }
}

/* One received message: is it one that was sent to me, whole, and in its source's order? */
static uint64_t last[64][3][2];

static void received(const unsigned char *b, const MPI_Status *s, int comm)
{
    uint64_t id = 0;
    int n, wrong = 0;
    const struct message *m = NULL;
    MPI_Get_count(s, MPI_BYTE, &n);
    CHECK(n >= 8);
    memcpy(&id, b, 8);
    for (int i = 0; i < count; i++)
        if (messages[i].id == id)
            m = &messages[i];
    CHECK(m != NULL);
    if (!m)
        return;
    CHECK(m->src == s->MPI_SOURCE && m->dst == rank && m->tag == s->MPI_TAG);
    CHECK(m->bytes == n && m->comm == comm);
    for (int i = 8; i < n; i++)
        wrong += b[i] != byte_of(id, i);
    CHECK(wrong == 0);
    CHECK(id > last[m->src][m->tag][comm]);
    last[m->src][m->tag][comm] = id;
    sum += id * 31 + (uint64_t)n;
}

/* ---- receiving what was sent to me ---- */

static int mine[MESSAGES_MAX], mine_count;

/* Named or by tag only, posted at once (how < 0: they are already), completed in some way. */
static void receive_posted(int how, int wild, MPI_Request *r)
{
    MPI_Status s[MESSAGES_MAX];
    int left = mine_count, n;
    for (int i = 0; i < mine_count && how >= 0; i++) {
        const struct message *m = &messages[mine[i]];
        int source = wild ? MPI_ANY_SOURCE : m->src;
        in[i] = malloc(BYTES_MAX);
        MPI_Irecv(in[i], BYTES_MAX, MPI_BYTE, source, m->tag, comms[m->comm], &r[i]);
    }
    if (how <= 0)
        MPI_Waitall(mine_count, r, s);
    while (how > 0 && left > 0) {
        MPI_Status got[MESSAGES_MAX];
        int at[MESSAGES_MAX];
        n = 1;
        if (how == 1)
            MPI_Waitany(mine_count, r, &at[0], &got[0]);
        else if (how == 2)
            MPI_Waitsome(mine_count, r, &n, at, got);
        else
            MPI_Testsome(mine_count, r, &n, at, got);
        for (int i = 0; i < n; i++)
            s[at[i]] = got[i];
        left -= n;
    }
    /* Order holds for the order of posting: check in that. */
    for (int i = 0; i < mine_count; i++) {
        received(in[i], &s[i], messages[mine[i]].comm);
        free(in[i]);
    }
}

/* One after another, by probing. */
static void receive_probed(int how)
{
    int left[2] = {0, 0};
    unsigned char *b = malloc(BYTES_MAX);
    for (int i = 0; i < mine_count; i++)
        left[messages[mine[i]].comm]++;
    while (left[0] + left[1] > 0) {
        int c = left[0] > 0 && (left[1] == 0 || rank % 2) ? 0 : 1, flag = 0, n;
        MPI_Message handle;
        MPI_Status s;
        if (how == 0) {
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comms[c], &s);
        } else if (how == 1) {
            MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comms[c], &handle, &s);
        } else if (how == 2) {
            while (!flag)
                MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comms[c], &flag, &s);
        } else {
            while (!flag)
                MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comms[c], &flag, &handle, &s);
        }
        MPI_Get_count(&s, MPI_BYTE, &n);
        CHECK(n >= 8 && n <= BYTES_MAX);
        if (how == 0 || how == 2)
            MPI_Recv(b, n, MPI_BYTE, s.MPI_SOURCE, s.MPI_TAG, comms[c], &s);
        else
            MPI_Mrecv(b, n, MPI_BYTE, &handle, &s);
        received(b, &s, c);
        left[c]--;
    }
    free(b);
}

/* ---- rounds ---- */

static void mixed_round(int way, int ready)
{
    MPI_Request sends[MESSAGES_MAX], receives[MESSAGES_MAX];
    int sent = 0;
    make_round();
    mine_count = 0;
    for (int i = 0; i < count; i++)
        if (messages[i].dst == rank)
            mine[mine_count++] = i;
    for (int i = 0; i < mine_count && ready; i++) {
        const struct message *m = &messages[mine[i]];
        in[i] = malloc(BYTES_MAX);
        MPI_Recv_init(in[i], BYTES_MAX, MPI_BYTE, m->src, m->tag, comms[m->comm], &receives[i]);
    }
    if (ready) {
        MPI_Startall(mine_count, receives);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 0; i < count; i++)
        if (messages[i].src == rank)
            start_send(i, ready, &sends[sent++]);
    if (ready)
        receive_posted(-1, 0, receives);
    else if (way < 8)
        receive_posted(way % 4, way / 4, receives);
    else
        receive_probed(way - 8);
    MPI_Waitall(sent, sends, MPI_STATUSES_IGNORE);
    for (int i = 0, k = 0; i < count; i++)
        if (messages[i].src == rank) {
            if (sends[k] != MPI_REQUEST_NULL)
                MPI_Request_free(&sends[k]);
            k++;
            free(out[i]);
        }
    for (int i = 0; i < mine_count && ready; i++)
        MPI_Request_free(&receives[i]);
}

/* Everybody exchanges with the ranks `shift` away. */
static void shift_round(int shift, int bytes, int replace)
{
    int to = (rank + shift) % size, from = (rank - shift + size) % size, wrong = 0;
    struct message m = {.bytes = bytes, .id = (uint64_t)rank + 1};
    unsigned char *a = buffer(&m), *b = malloc((size_t)bytes);
    MPI_Status s;
    if (replace) {
        MPI_Sendrecv_replace(a, bytes, MPI_BYTE, to, 5, from, 5, comms[1], &s);
        memcpy(b, a, (size_t)bytes);
    } else {
        int source = shift % 2 ? from : MPI_ANY_SOURCE;
        MPI_Sendrecv(a, bytes, MPI_BYTE, to, 5, b, bytes, MPI_BYTE, source, 5, comms[0], &s);
    }
    CHECK(s.MPI_SOURCE == from && b[0] == (unsigned char)(from + 1));
    for (int i = 8; i < bytes; i++)
        wrong += b[i] != byte_of((uint64_t)from + 1, i);
    CHECK(wrong == 0);
    sum += (uint64_t)bytes * (uint64_t)(from + 1);
    free(a);
    free(b);
}

int main(int argc, char **argv)
{
    uint64_t total;
    int room = 16 << 20, rounds;
    char *attached = malloc((size_t)room);
    MPI_Init(&argc, &argv);
    rank = check_rank();
    size = check_size();
    CHECK(size <= 64);
    state = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    rounds = argc > 2 ? atoi(argv[2]) : 12;
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Buffer_attach(attached, room);
    for (rounds_done = 0; rounds_done < rounds; rounds_done++) {
        int way = (int)rnd(12), ready = rnd(6) == 0, shift = (int)rnd((uint32_t)size);
        int bytes = 8 + (int)rnd(2) * 70000, replace = (int)rnd(2);
        mixed_round(way, ready);
        MPI_Barrier(MPI_COMM_WORLD); /* nothing of the next round is received in this one */
        shift_round(shift, bytes, replace);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Buffer_detach(&attached, &room);
    free(attached);
    MPI_Comm_free(&comms[1]);
    MPI_Reduce(&sum, &total, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("sum %llu\n", (unsigned long long)total);
    MPI_Finalize();
    return 0;
}
