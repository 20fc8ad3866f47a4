/*
 * spawn_api.c - MPI_Comm_spawn, MPI_Comm_spawn_multiple: the client side (MPI-4.0, 11.8).
 *
 * Only the root's arguments matter, except for communicator and root. The root sends a request to
 * the agent of rank 0 (spawn.h) and tells the others the result, so that all of them succeed, or
 * all raise the same error. Earlier errors, such as a command that is not a program, need no agent.
 */
#include <string.h>

#include "base/mem.h"
#include "mpi/coll/coll.h"
#include "mpi/comm/check.h"
#include "mpi/create/create.h"
#include "mpi/dynamic/spawn.h"
#include "mpi/info.h"
#include "mpi/p2p/service.h"
#include "mpi_impl.h"

/* The arguments of either call, as the root has them. */
struct commands {
    int count;
    char **names;
    char ***argv; /* NULL: none has arguments */
    const int *processes;
    const MPI_Info *infos;
};

/* What the root tells the others; followed by `counts` on success, else by `why`. */
struct outcome {
    int32_t error; /* an MPI class */
    mpi_comm_desc desc;
    uint32_t commands;
    uint32_t why_bytes;
};

/* How many ranks a command was to have, and has. */
struct counts {
    int32_t wanted, started;
};

/* ---- the root's request ---- */

static int fail(struct buf *why, int error, const char *text)
{
    buf_adds(why, text);
    return error;
}

static int check_command(const struct commands *c, int i, struct buf *why)
{
    MPI_Info info = c->infos ? c->infos[i] : MPI_INFO_NULL;
    const char *soft;

    if (!c->names[i])
        return fail(why, MPI_ERR_ARG, "the command is a null pointer");
    if (c->processes[i] < 0)
        return fail(why, MPI_ERR_ARG, "the number of processes at the root is negative");
    if (info != MPI_INFO_NULL && !mpi_info_exists(info))
        return fail(why, MPI_ERR_INFO, "the info of the root is not an info object");
    soft = mpi_info_lookup(info, "soft");
    if (soft && !spawn_soft_valid(soft))
        return fail(why, MPI_ERR_INFO_VALUE,
                    "the value of the info key 'soft' is not a list of "
                    "numbers, a:b or a:b:c");
    return spawn_is_this_program(c->names[i], mpi_info_lookup(info, "path"),
                                 mpi_info_lookup(info, "wdir"), why)
               ? MPI_SUCCESS
               : MPI_ERR_SPAWN;
}

static int check_commands(const struct commands *c, struct buf *why)
{
    int64_t sum = 0;
    int error;

    if (c->count < 0 || (c->count && (!c->names || !c->processes)))
        return fail(why, MPI_ERR_ARG,
                    "the number of commands is negative, or an array is a null "
                    "pointer");
    for (int i = 0; i < c->count; i++) {
        error = check_command(c, i, why);
        if (error)
            return error;
        sum += c->processes[i];
    }
    if (sum == 0)
        return fail(why, MPI_ERR_SPAWN, "no processes are asked for");
    return sum <= INT32_MAX ? MPI_SUCCESS
                            : fail(why, MPI_ERR_SPAWN, "more processes than an int can count");
}

static void add_text(struct buf *to, const char *text)
{
    buf_add(to, text ? text : "", text ? strlen(text) + 1 : 1);
}

static void add_command(const struct commands *c, int i, struct buf *to)
{
    MPI_Info info = c->infos ? c->infos[i] : MPI_INFO_NULL;
    struct spawn_command command = {.processes = c->processes[i], .argc = 1};
    char **args = c->argv ? c->argv[i] : NULL;
    size_t at = to->len;

    buf_add(to, &command, sizeof command);
    add_text(to, mpi_info_lookup(info, "soft"));
    add_text(to, mpi_info_lookup(info, "wdir"));
    add_text(to, c->names[i]);
    for (; args && *args; args++, command.argc++)
        add_text(to, *args);
    command.texts = to->len - at - sizeof command;
    memcpy(to->data + at, &command, sizeof command);
}

/* The bytes of a request that count for its time: not texts, which depend on where programs are. */
static uint64_t order_bytes(const struct buf *order, const struct commands *what)
{
    struct spawn_head head;

    memcpy(&head, order->data, sizeof head);
    return sizeof head + head.list + (uint64_t)what->count * sizeof(struct spawn_command);
}

/* The request as bytes. */
static void write_order(struct mpi_rank *self, const struct mpi_comm *c,
                        const struct commands *what, struct buf *to)
{
    struct mpi_group *g = mpi_comm_group_ref(self, c);
    struct spawn_head head = {.parents = mpi_group_to_wire(g), .commands = (uint32_t)what->count};

    head.list = mpi_group_wire_list(&head.parents) * sizeof *g->list;
    buf_add(to, &head, sizeof head);
    buf_add(to, g->list, head.list);
    for (int i = 0; i < what->count; i++)
        add_command(what, i, to);
    mpi_group_unref(g);
}

/* Sends a request to the agent of rank 0. May switch. Returns an MPI class. */
static int ask(struct mpi_rank *self, const struct buf *order, uint64_t bytes,
               struct spawn_answer *a)
{
    struct mpi_req shown = {.kind = MPI_REQ_WORK, .mode = MPI_MODE_PORT};
    struct mpi_msg *m = mpi_service_new(self, 0, MPI_SERVICE_SPAWN, order->len);

    memcpy(m->payload, order->data, order->len);
    m->cookie = (uintptr_t)a;
    a->done = 0;
    mpi_clock_add(self, mpi_world.send_overhead);
    mpi_service_send(m, (struct device_send){.t = self->ent.clock, .bytes = bytes});
    mpi_service_await(self, &a->done, &a->arrival, &shown);
    return a->error;
}

static int say_full(struct buf *why)
{
    buf_addf(why,
             "there is no room for so many ranks: the run may have %u in all, see --universe "
             "of 'orrery run'",
             mpi_world.room);
    return MPI_ERR_SPAWN;
}

/* At the root. May switch. */
static struct outcome spawn(struct mpi_rank *self, const struct mpi_comm *c,
                            const struct commands *what, struct counts *counts, struct buf *why)
{
    struct outcome out = {.desc = MPI_COMM_DESC_NULL, .commands = (uint32_t)what->count};
    struct spawn_answer a = {.desc = MPI_COMM_DESC_NULL};
    struct buf order;

    out.error = check_commands(what, why);
    if (out.error)
        return out;
    buf_init(&order);
    write_order(self, c, what, &order);
    a.started = mem_zalloc((size_t)what->count * sizeof *a.started);
    out.error = ask(self, &order, order_bytes(&order, what), &a);
    out.desc = a.desc;
    for (int i = 0; i < what->count; i++)
        counts[i].started = a.started[i];
    if (out.error)
        out.error = say_full(why);
    mem_free(a.started);
    buf_fini(&order);
    return out;
}

/* ---- all ranks ---- */

static void fill_codes(const struct counts *counts, uint32_t n, int *codes)
{
    for (uint32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < counts[i].wanted; k++)
            *codes++ = k < counts[i].started ? MPI_SUCCESS : MPI_ERR_SPAWN;
}

/* Distributes the root's *out, *counts (allocated for the others) and *why to all. May switch. */
static int spread(struct mpi_rank *self, struct mpi_comm *c, int root, struct outcome *out,
                  struct counts **counts, struct buf *why)
{
    struct mpi_type *byte = mpi_type_get(MPI_BYTE);
    int is_root = mpi_comm_my_rank(c, self) == root, rc;

    out->why_bytes = (uint32_t)why->len;
    rc = mpi_coll_bcast(self, c, out, sizeof *out, byte, root);
    if (rc)
        return rc;
    if (!is_root) {
        *counts = mem_zalloc(out->commands * sizeof **counts);
        for (uint32_t i = 0; i < out->why_bytes; i++)
            buf_addc(why, ' ');
    }
    rc = mpi_coll_bcast(self, c, *counts, out->commands * sizeof **counts, byte, root);
    if (!rc && out->why_bytes)
        rc = mpi_coll_bcast(self, c, why->data, out->why_bytes, byte, root);
    return rc;
}

/* With counts for each command, which the root sets as far as they are valid. */
static struct counts *make_counts(const struct commands *what)
{
    int n = what->count > 0 && what->processes ? what->count : 0;
    struct counts *counts = mem_zalloc((size_t)n * sizeof *counts);

    for (int i = 0; i < n; i++)
        counts[i].wanted = what->processes[i] > 0 ? what->processes[i] : 0;
    return counts;
}

static int spawn_all(struct mpi_rank *self, struct mpi_comm *c, const struct commands *what,
                     int root, MPI_Comm *intercomm, int *codes)
{
    struct counts *counts = NULL;
    struct outcome out = {.error = MPI_SUCCESS};
    struct buf why;
    int rc;

    buf_init(&why);
    if (mpi_comm_my_rank(c, self) == root) {
        counts = make_counts(what);
        out = spawn(self, c, what, counts, &why);
        if (out.error == MPI_ERR_ARG)
            out.commands = 0;
    }
    rc = spread(self, c, root, &out, &counts, &why);
    *intercomm = MPI_COMM_NULL;
    if (!rc && codes != MPI_ERRCODES_IGNORE)
        fill_codes(counts, out.commands, codes);
    mem_free(counts);
    if (!rc && !out.error)
        *intercomm = mpi_comm_adopt(self, c, out.desc);
    else if (!rc)
        rc = mpi_raise(self, c->handle, out.error, "%s", buf_str(&why));
    buf_fini(&why);
    return rc;
}

int mpi_comm_spawn(struct mpi_rank *self, const char *command, char *argv[], int maxprocs,
                   MPI_Info info, int root, MPI_Comm comm, MPI_Comm *intercomm,
                   int array_of_errcodes[])
{
    char *name = (char *)command;
    struct commands what = {1, &name, argv == MPI_ARGV_NULL ? NULL : &argv, &maxprocs, &info};
    struct mpi_comm *c;
    int rc = mpi_check_intra(self, comm, &c);

    return rc ? rc : spawn_all(self, c, &what, root, intercomm, array_of_errcodes);
}

int mpi_comm_spawn_multiple(struct mpi_rank *self, int count, char *array_of_commands[],
                            char **array_of_argv[], const int array_of_maxprocs[],
                            const MPI_Info array_of_info[], int root, MPI_Comm comm,
                            MPI_Comm *intercomm, int array_of_errcodes[])
{
    struct commands what = {count, array_of_commands,
                            array_of_argv == MPI_ARGVS_NULL ? NULL : array_of_argv,
                            array_of_maxprocs, array_of_info};
    struct mpi_comm *c;
    int rc = mpi_check_intra(self, comm, &c);

    return rc ? rc : spawn_all(self, c, &what, root, intercomm, array_of_errcodes);
}
