/*
 * spawn.c - the agent that assigns spare ranks, and how a spawned rank begins (see spawn.h).
 *
 * Invariants 1. Numbers are assigned in order and never twice: the new ranks of a spawn are a
 * range, and so is their MPI_COMM_WORLD. 2. Only its spawn message starts a rank. Messages of
 * others may reach its process before that; they wait. 3. All spawn messages come from rank 0,
 * hence from process 0, which knows of ranks elsewhere that have not begun to write yet
 * (mpi_procs_spawned). They do not go through the network, only take its smallest latency: once a
 * spawn message is sent, it is known when the rank begins.
 */
#include "mpi/dynamic/spawn.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "mpi/create/create.h"
#include "mpi/p2p/service.h"
#include "mpi/state.h"
#include "mpi/procs.h"

/* The message that starts a rank; the texts of its command follow. */
struct spawn {
    mpi_comm_desc world, parent;
    int32_t appnum, argc;
};

enum { REPLY_ANSWER, REPLY_SPAWN }; /* tags */

struct mpi_spawner {
    uint32_t spawned;
};

static char parent_name[] = "MPI_COMM_PARENT"; /* as in MPICH */

/* ---- the agent ---- */

/* A parsed request. */
struct order {
    struct spawn_head head;
    const char *list, *commands; /* in the message */
    int32_t *started;            /* of each command */
    uint32_t first, total;
};

/* Returns the texts of the command at *at, and advances to the next. */
static const char *next_command(const char **at, struct spawn_command *c)
{
    const char *texts = *at + sizeof *c;

    memcpy(c, *at, sizeof *c);
    *at = texts + c->texts;
    return texts;
}

/* How many ranks each command gets; 0 if there are not enough. */
static int deal(struct order *o, uint32_t left)
{
    const char *at = o->commands;
    struct spawn_command c;

    o->total = 0;
    for (uint32_t i = 0; i < o->head.commands; i++) {
        const char *soft = next_command(&at, &c);
        uint32_t most = left < (uint32_t)c.processes ? left : (uint32_t)c.processes;

        o->started[i] = spawn_soft(soft, c.processes, (int32_t)most);
        if (o->started[i] < 0)
            return 0;
        o->total += (uint32_t)o->started[i];
        left -= (uint32_t)o->started[i];
    }
    return o->total > 0;
}

static void send_spawn(struct mpi_rank *self, uint32_t dst, const struct spawn *b,
                       const char *texts, uint64_t bytes, vtime t)
{
    struct mpi_msg *m = mpi_service_new(self, dst, MPI_SERVICE_SPAWN, sizeof *b + bytes);

    m->em.flags |= ENGINE_MSG_SPAWN | ENGINE_MSG_URGENT;
    m->em.arrival = vtime_add(t, mpi_world.net.lookahead);
    m->kind = MPI_MSG_REPLY;
    m->tag = REPLY_SPAWN;
    memcpy(m->payload, b, sizeof *b);
    memcpy(m->payload + sizeof *b, texts, bytes);
    mpi_procs_spawned(dst, m->em.arrival);
    engine_inject(&mpi_world.engine, &m->em);
}

static void send_spawns(struct mpi_rank *self, const struct order *o, struct spawn b, vtime t)
{
    const char *at = o->commands;
    uint32_t number = o->first;
    struct spawn_command c;

    for (uint32_t i = 0; i < o->head.commands; i++) {
        const char *texts = next_command(&at, &c);

        b.appnum = (int32_t)i;
        b.argc = c.argc;
        for (int32_t k = 0; k < o->started[i]; k++)
            send_spawn(self, number++, &b, texts, c.texts, t);
    }
}

static void answer(struct mpi_rank *self, struct mpi_msg *m, int error, mpi_comm_desc desc,
                   const struct order *o, vtime t)
{
    uint64_t bytes = error ? 0 : o->head.commands * sizeof *o->started;
    struct mpi_msg *a = mpi_service_answer(self, m, bytes);

    a->tag = REPLY_ANSWER;
    a->ctx = (uint32_t)error;
    a->bytes = desc;
    a->heap_pos = (uint32_t)bytes;
    memcpy(a->payload, o->started, bytes);
    mpi_service_reply(a, bytes, t);
}

/* Creates the new ranks, from o->first on, and their initial communicators. */
static mpi_comm_desc make_ranks(struct mpi_rank *self, const struct order *o, vtime t)
{
    struct mpi_group *parents = mpi_group_from_wire(&o->head.parents, o->list);
    struct mpi_group *kids = mpi_group_make_range(o->first, 1, o->total);
    struct spawn b = {.appnum = 0};
    mpi_comm_desc desc;

    b.world = mpi_comm_describe(mpi_comm_new(mpi_group_ref(kids), MPI_ERRHANDLER_NULL),
                                MPI_FN_COMM_SPAWN, NULL);
    desc = mpi_comm_describe(mpi_comm_new_inter(parents, kids, MPI_ERRHANDLER_NULL),
                             MPI_FN_COMM_SPAWN, NULL);
    b.parent = mpi_comm_desc_high(desc);
    send_spawns(self, o, b, t);
    return desc;
}

void spawn_serve(struct mpi_rank *self, struct mpi_msg *m, vtime t)
{
    struct mpi_spawner *spawner = mpi_state_make(self, MPI_STATE_spawner, sizeof *spawner);
    mpi_comm_desc desc = MPI_COMM_DESC_NULL;
    int error = MPI_ERR_SPAWN;
    struct order o;

    memcpy(&o.head, m->payload, sizeof o.head);
    o.list = m->payload + sizeof o.head;
    o.commands = o.list + o.head.list;
    o.first = mpi_world.size + spawner->spawned;
    o.started = mem_zalloc(o.head.commands * sizeof *o.started);
    if (deal(&o, mpi_world.room - o.first)) {
        spawner->spawned += o.total;
        t = vtime_add(t, mpi_world.opt->platform.mpi_spawn_cost);
        desc = make_ranks(self, &o, t);
        error = MPI_SUCCESS;
    }
    answer(self, m, error, desc, &o, t);
    mem_free(o.started);
    engine_msg_free(&mpi_world.engine, &m->em);
}

/* ---- answers and spawn messages ---- */

static void take_answer(const struct mpi_msg *m)
{
    struct spawn_answer *a = (struct spawn_answer *)(uintptr_t)m->cookie;

    a->error = (int)m->ctx;
    a->desc = (mpi_comm_desc)m->bytes;
    memcpy(a->started, m->payload, m->heap_pos);
    a->arrival = m->em.arrival;
    a->done = 1;
}

/* The texts and the list of arguments in one block. */
static struct mpi_app *make_app(const struct spawn *b, const char *texts, size_t bytes)
{
    size_t list = ((size_t)b->argc + 1) * sizeof(char *);
    struct mpi_app *app = mem_zalloc(sizeof *app + list + bytes);
    char *at = (char *)(app + 1) + list;

    memcpy(at, texts, bytes);
    app->argv = (char **)(app + 1);
    app->argc = b->argc;
    app->appnum = b->appnum;
    at += strlen(at) + 1; /* `soft` */
    app->wdir = at;
    for (int i = 0; i < b->argc; i++)
        app->argv[i] = at += strlen(at) + 1;
    return app;
}

static void take_spawn(struct mpi_rank *self, const struct mpi_msg *m)
{
    size_t bytes = m->em.size - sizeof *m - sizeof(struct spawn);
    struct mpi_app *app;
    struct spawn b;

    memcpy(&b, m->payload, sizeof b);
    app = make_app(&b, m->payload + sizeof b, bytes);
    app->world_desc = b.world;
    app->parent_desc = b.parent;
    mpi_rare_get(self)->app = app;
}

void spawn_reply(struct mpi_rank *self, struct mpi_msg *m)
{
    if (m->tag == REPLY_ANSWER)
        take_answer(m);
    else
        take_spawn(self, m);
    engine_msg_free(&mpi_world.engine, &m->em);
}

/* ---- spawned ranks ---- */

void mpi_spawn_starting(struct mpi_rank *self, int *argc, char ***argv)
{
    struct mpi_app *app;
    char text[200];

    if (mpi_rank_id(self) < mpi_world.size)
        return;
    mpi_drain(self);
    app = mpi_app_of(self);
    app->world = mpi_comm_adopt_world(self, app->world_desc);
    mpi_comm_adopt(self, app->world, app->parent_desc);
    mpi_comm_of_desc(app->parent_desc)->name = parent_name;
    *argc = app->argc;
    *argv = app->argv;
    if (!app->wdir[0] || chdir(app->wdir) == 0)
        return;
    snprintf(text, sizeof text,
             "cannot start in the directory '%.120s', as the info key 'wdir' of "
             "MPI_Comm_spawn says",
             app->wdir);
    mpi_abort_run(self, MPI_ERR_SPAWN, text);
}

void mpi_spawn_ended(struct mpi_rank *r)
{
    if (!mpi_app_of(r))
        return;
    mem_free(r->ext->rare->app);
    r->ext->rare->app = NULL;
}

int mpi_spawn_serves(const struct mpi_rank *r)
{
    uint32_t id = mpi_rank_id(r);

    /* rank 0 assigns ranks and keeps names; file servers belong to some of the first ranks */
    return (mpi_world.opt->needs & MPI_NEED_SPAWN) &&
           (id == 0 || ((mpi_world.opt->needs & MPI_NEED_FILES) && id < mpi_world.size));
}
