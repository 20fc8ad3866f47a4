/*
 * comms.h - the communicators that actions use: made, duplicated, split, freed at random.
 *
 * All ranks have the same list. Where a rank is no member, its entry is null; where an entry was
 * split, ranks have different communicators in it, and act in them at the same time.
 */
#ifndef TESTS_RANDOM_COMMS_H
#define TESTS_RANDOM_COMMS_H

#include "draw.h"

enum { COMMS_MAX = 7 };

struct comm {
    MPI_Comm comm; /* MPI_COMM_NULL: not a member */
    int rank, size;
    int is_inter, others;
    int is_first, first_size; /* of the two groups of an intercommunicator: my own, or the other */
};

static struct comm comms[COMMS_MAX];
static int comm_count;

static void comm_look(struct comm *c, MPI_Comm comm, int is_first)
{
    *c = (struct comm){.comm = comm};
    if (comm == MPI_COMM_NULL)
        return;
    MPI_Comm_rank(comm, &c->rank);
    MPI_Comm_size(comm, &c->size);
    MPI_Comm_test_inter(comm, &c->is_inter);
    c->is_first = 1;
    c->first_size = c->size;
    if (c->is_inter) {
        MPI_Comm_remote_size(comm, &c->others);
        c->is_first = is_first;
        c->first_size = is_first ? c->size : c->others;
    }
}

static void comm_add(MPI_Comm comm, int is_first)
{
    comm_look(&comms[comm_count++], comm, is_first);
}

static void comms_init(void)
{
    comm_add(MPI_COMM_WORLD, 1);
}

/* The list keeps its first entry. */
static void comms_drop(int i)
{
    if (comms[i].comm != MPI_COMM_NULL)
        MPI_Comm_free(&comms[i].comm);
    memmove(&comms[i], &comms[i + 1], (size_t)(comm_count - i - 1) * sizeof comms[0]);
    comm_count--;
}

static void comms_fini(void)
{
    while (comm_count > 1)
        comms_drop(comm_count - 1);
}

/* ---- making them ---- */

static MPI_Comm split(const struct comm *c, struct draw *d)
{
    MPI_Comm made;
    int parts = 2 + (int)draw(d, 2), order = draw(d, 2) ? 1 : -1;
    int leaves_out = draw(d, 3) == 0, color = c->rank % parts;
    if (leaves_out && color == 0)
        color = MPI_UNDEFINED;
    MPI_Comm_split(c->comm, color, order * c->rank, &made);
    return made;
}

/* Of some members, chosen alike by all. */
static MPI_Group some_members(const struct comm *c, struct draw *d)
{
    MPI_Group all, group;
    int ranks[64], count = 0, first = (int)draw(d, (uint32_t)c->size);
    for (int i = 0; i < c->size; i++)
        if (i == first || draw(d, 3))
            ranks[count++] = i;
    MPI_Comm_group(c->comm, &all);
    MPI_Group_incl(all, count, ranks, &group);
    MPI_Group_free(&all);
    return group;
}

static MPI_Comm from_group(const struct comm *c, struct draw *d)
{
    MPI_Comm made = MPI_COMM_NULL;
    int by_all = (int)draw(d, 2), rank;
    MPI_Group group = some_members(c, d);
    MPI_Group_rank(group, &rank);
    if (by_all)
        MPI_Comm_create(c->comm, group, &made);
    else if (rank != MPI_UNDEFINED)
        MPI_Comm_create_group(c->comm, group, 9, &made);
    MPI_Group_free(&group);
    return made;
}

/* Rows of a grid; or all, in a communicator with other hints. */
static MPI_Comm by_grid(const struct comm *c, struct draw *d)
{
    int dims[2] = {0, 0}, periods[2] = {0, 1}, keeps[2] = {0, 1};
    MPI_Comm grid, made;
    if (draw(d, 2)) {
        MPI_Comm_dup_with_info(c->comm, MPI_INFO_NULL, &made);
        return made;
    }
    MPI_Dims_create(c->size, 2, dims);
    MPI_Cart_create(c->comm, 2, dims, periods, 0, &grid);
    MPI_Cart_sub(grid, keeps, &made);
    MPI_Comm_free(&grid);
    return made;
}

/* Two halves, joined by an intercommunicator. */
static MPI_Comm join(const struct comm *c, struct draw *d, int *is_first)
{
    MPI_Comm half, made;
    int cut = 1 + (int)draw(d, (uint32_t)(c->size - 1));
    *is_first = c->rank < cut;
    MPI_Comm_split(c->comm, !*is_first, c->rank, &half);
    MPI_Intercomm_create(half, 0, c->comm, *is_first ? cut : 0, 6, &made);
    MPI_Comm_free(&half);
    return made;
}

/* Two at a time, overlapping a collective; they are used in another order than they were begun. */
static MPI_Comm idup(const struct comm *c, struct draw *d, struct draw *own)
{
    MPI_Comm made[2] = {MPI_COMM_NULL, MPI_COMM_NULL};
    MPI_Request r[3];
    MPI_Status s[3];
    int one = c->rank + 1, all = 0, n = c->is_inter ? 2 : 2 + (int)draw(d, 2);
    int kept = (int)draw(d, 2);
    MPI_Comm_idup(c->comm, &made[0], &r[0]);
    if (n == 3)
        MPI_Iallreduce(&one, &all, 1, MPI_INT, MPI_SUM, c->comm, &r[2]);
    spend(own);
    MPI_Comm_idup_with_info(c->comm, MPI_INFO_NULL, &made[1], &r[1]);
    complete((int)draw(own, COMPLETIONS), n, r, s);
    CHECK(n == 2 || all == c->size * (c->size + 1) / 2);
    MPI_Barrier(made[1]);
    MPI_Barrier(made[0]);
    MPI_Comm_free(&made[!kept]);
    return made[kept];
}

static MPI_Comm make_from_inter(const struct comm *c, struct draw *d, struct draw *own)
{
    MPI_Comm made;
    switch (draw(d, 3)) {
    case 0:
        MPI_Comm_dup(c->comm, &made);
        return made;
    case 1:
        return idup(c, d, own);
    default:
        MPI_Intercomm_merge(c->comm, c->is_first, &made);
        return made;
    }
}

static MPI_Comm make_comm(const struct comm *c, struct draw *d, struct draw *own, int *is_first)
{
    MPI_Comm made = MPI_COMM_NULL;
    *is_first = c->is_first;
    if (c->is_inter)
        return make_from_inter(c, d, own);
    switch (draw(d, 8)) {
    case 0:
        MPI_Comm_dup(c->comm, &made);
        return made;
    case 5:
        return by_grid(c, d);
    case 1:
    case 2:
        return idup(c, d, own);
    case 3:
        return from_group(c, d);
    case 4:
        if (c->size > 1)
            return join(c, d, is_first);
        /* fall through */
    default:
        return split(c, d);
    }
}

/* One more, or one less if there are many. */
static void act_comms(int which)
{
    struct draw d = draw_shared(), own = draw_own();
    MPI_Comm made = MPI_COMM_NULL;
    int is_first = 1;
    if (comm_count == COMMS_MAX) {
        comms_drop(1 + (int)draw(&d, COMMS_MAX - 1));
        return;
    }
    spend(&own);
    if (comms[which].comm != MPI_COMM_NULL)
        made = make_comm(&comms[which], &d, &own, &is_first);
    comm_add(made, is_first);
}

#endif
