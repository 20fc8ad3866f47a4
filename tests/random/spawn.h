/*
 * spawn.h - ranks that are spawned: they exchange messages with their parents, and end. A native
 * run may not be able to add ranks: it leaves this out.
 */
#ifndef TESTS_RANDOM_SPAWN_H
#define TESTS_RANDOM_SPAWN_H

#include "comms.h"

/* Both sides: a sum over each group arrives at the other one, and a ring through all. */
static void spawn_talk(MPI_Comm between, int is_child)
{
    struct comm c, one;
    MPI_Comm merged;
    int word, sum = 0, parents, children;
    MPI_Status s;
    comm_look(&c, between, !is_child);
    parents = is_child ? c.others : c.size;
    children = is_child ? c.size : c.others;
    word = c.rank + (is_child ? 100 : 0);
    MPI_Allreduce(&word, &sum, 1, MPI_INT, MPI_SUM, between);
    CHECK(sum == (is_child ? parents * (parents - 1) / 2
                           : children * (children - 1) / 2 + 100 * children));
    MPI_Intercomm_merge(between, is_child, &merged);
    comm_look(&one, merged, 1);
    CHECK(one.size == parents + children);
    word = one.rank;
    MPI_Sendrecv_replace(&word, 1, MPI_INT, (one.rank + 1) % one.size, 3, MPI_ANY_SOURCE, 3, merged,
                         &s);
    CHECK(word == (one.rank + one.size - 1) % one.size);
    MPI_Comm_free(&merged);
}

static void act_spawn(const struct comm *c, char *program)
{
    struct draw d = draw_shared(), own = draw_own();
    char *words[] = {(char *)"child", NULL};
    int count = 1 + (int)draw(&d, 2), root = (int)draw(&d, (uint32_t)c->size), codes[2];
    MPI_Comm between;
    if (!check_virtual())
        return;
    spend(&own);
    if (count == 2 && draw(&d, 2))
        MPI_Comm_spawn_multiple(2, (char *[]){program, program}, (char **[]){words, words},
                                (int[]){1, 1}, (MPI_Info[]){MPI_INFO_NULL, MPI_INFO_NULL}, root,
                                c->comm, &between, codes);
    else
        MPI_Comm_spawn(program, words, count, MPI_INFO_NULL, root, c->comm, &between, codes);
    spawn_talk(between, 0);
    MPI_Comm_disconnect(&between);
}

/* Two halves connect through a port, whose name goes by a message or is published. */
static void act_ports(const struct comm *c)
{
    struct draw d = draw_shared(), own = draw_own();
    int cut = c->size / 2, is_first = c->rank < cut, by_name = (int)draw(&d, 2);
    char port[MPI_MAX_PORT_NAME] = "", name[64];
    MPI_Comm half, between;
    if (!check_virtual() || c->size < 2)
        return;
    snprintf(name, sizeof name, "random-%d-%d", run.action, run.rank - c->rank);
    MPI_Comm_split(c->comm, is_first, c->rank, &half);
    if (c->rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        if (by_name)
            MPI_Publish_name(name, MPI_INFO_NULL, port);
        MPI_Send(by_name ? name : port, MPI_MAX_PORT_NAME, MPI_CHAR, cut, 4, c->comm);
    } else if (c->rank == cut) {
        MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 4, c->comm, MPI_STATUS_IGNORE);
        if (by_name) {
            memcpy(name, port, sizeof name);
            MPI_Lookup_name(name, MPI_INFO_NULL, port);
        }
    }
    spend(&own);
    if (is_first)
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &between);
    else
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &between);
    spawn_talk(between, !is_first);
    if (c->rank == 0 && by_name)
        MPI_Unpublish_name(name, MPI_INFO_NULL, port);
    if (c->rank == 0)
        MPI_Close_port(port);
    MPI_Comm_disconnect(&between);
    MPI_Comm_free(&half);
}

static void child_main(void)
{
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    CHECK(parent != MPI_COMM_NULL);
    spawn_talk(parent, 1);
    MPI_Comm_disconnect(&parent);
}

#endif
