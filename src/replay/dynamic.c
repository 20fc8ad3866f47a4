/*
 * dynamic.c - ranks that come later, and ports (MPI-4.0, chapter 11).
 *
 * A rank that was spawned is another replayer, which learns from its arguments which rank of the
 * trace it is. A port has another name than in the recording, if MPI chooses it: in the simulator
 * names follow from the rank and the order of its calls, so they are the same again.
 *
 * The functions are looked up: a program that imports them makes the simulator provide for them.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/replay.h"

#define WORDS_MOST (2 * REPLAY_WHATS + 16)
#define COMMANDS_MOST 64

static void *function(struct replay_rank *k, const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    if (!found)
        replay_fail(k, "the MPI has no such function");
    return found;
}

static struct trace_value *arg(struct replay_rank *k, const char *name)
{
    return whatif_arg(&k->changed, k->event, name);
}

static MPI_Comm comm_of(struct replay_rank *k)
{
    return (MPI_Comm)replay_handle(k, MPI_ROLE_COMM, arg(k, "comm")->number);
}

static int root_of(struct replay_rank *k, MPI_Comm comm, int *is_root)
{
    int me;
    PMPI_Comm_rank(comm, &me);
    int root = (int)arg(k, "root")->number;
    *is_root = me == root;
    return root;
}

static void made(struct replay_rank *k, const char *name, MPI_Comm comm)
{
    if (comm != MPI_COMM_NULL)
        PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    replay_handle_set(k, MPI_ROLE_COMM, arg(k, name)->number, (uint32_t)comm);
}

/* ---- spawn ---- */

/* The arguments of the new replayers, in scratch memory. */
static char **arguments(struct replay_rank *k, int64_t first)
{
    const struct replay_options *o = &k->replay->options;
    char **words = replay_scratch(k, WORDS_MOST * sizeof *words), *text = replay_scratch(k, 64);
    size_t n = 0;
    snprintf(text, 32, "%lld", (long long)first);
    snprintf(text + 32, 32, "%lld", (long long)k->epoch);
    words[n++] = (char *)o->trace;
    if (o->output) {
        words[n++] = "--output";
        words[n++] = (char *)o->output;
    }
    for (size_t i = 0; i < o->what_count; i++) {
        words[n++] = "--what-if";
        words[n++] = (char *)o->whats[i];
    }
    if (o->deterministic)
        words[n++] = "--deterministic";
    if (o->busy_sleep) {
        words[n++] = "--busy";
        words[n++] = "sleep";
    }
    words[n++] = REPLAY_FIRST;
    words[n++] = text;
    words[n++] = REPLAY_EPOCH;
    words[n++] = text + 32;
    words[n] = NULL;
    return words;
}

/* The first of the new ranks in the trace: they are a range. */
static int64_t first_of(struct replay_rank *k, uint64_t *count)
{
    const int64_t *ranks = replay_peers(k, arg(k, "intercomm")->number, count);
    if (!ranks || *count == 0)
        replay_fail(k, "the trace does not say which ranks it starts");
    for (uint64_t i = 0; i < *count; i++)
        if (ranks[i] != ranks[0] + (int64_t)i)
            replay_fail(k, "the ranks that it starts have no consecutive numbers");
    return ranks[0];
}

/* How many ranks each command starts: as asked for, if all came. */
static int processes_of(struct replay_rank *k, uint64_t count, int *processes)
{
    const struct trace_value *list = arg(k, "array_of_maxprocs");
    uint64_t sum = 0;
    for (uint64_t i = 0; list && i < list->count && i < COMMANDS_MOST; i++)
        sum += (uint64_t)(processes[i] = (int)list->items[i]);
    if (sum == count)
        return (int)list->count;
    processes[0] = (int)count;
    return 1;
}

static void spawn(struct replay_rank *k)
{
    int (*one)(const char *, char **, int, MPI_Info, int, MPI_Comm, MPI_Comm *, int *);
    int (*several)(int, char **, char ***, const int *, const MPI_Info *, int, MPI_Comm, MPI_Comm *,
                   int *);
    char *names[COMMANDS_MOST], **words[COMMANDS_MOST];
    MPI_Info infos[COMMANDS_MOST];
    int processes[COMMANDS_MOST], commands = 0, is_root;
    MPI_Comm comm = comm_of(k), inter = MPI_COMM_NULL;
    int root = root_of(k, comm, &is_root);
    uint64_t count;
    int64_t first = first_of(k, &count);
    if (is_root)
        commands = processes_of(k, count, processes);
    for (int i = 0; i < commands; i++) {
        names[i] = (char *)k->replay->options.program;
        words[i] = arguments(k, first);
        infos[i] = MPI_INFO_NULL;
    }
    if (arg(k, "array_of_maxprocs")) {
        several = function(k, "MPI_Comm_spawn_multiple");
        replay_check(k, several(commands, names, words, processes, infos, root, comm, &inter,
                                MPI_ERRCODES_IGNORE));
    } else {
        one = function(k, "MPI_Comm_spawn");
        replay_check(k, one(names[0], is_root ? words[0] : NULL, (int)count, MPI_INFO_NULL, root,
                            comm, &inter, MPI_ERRCODES_IGNORE));
    }
    made(k, "intercomm", inter);
}

static void get_parent(struct replay_rank *k)
{
    MPI_Comm parent;
    if (arg(k, "parent")->number < 0)
        return;
    replay_check(k, PMPI_Comm_get_parent(&parent));
    made(k, "parent", parent);
}

/* ---- ports ---- */

/* The name as recorded; "" at ranks that do not need one. */
static char *port_of(struct replay_rank *k)
{
    const struct trace_value *v = arg(k, "port_name");
    char *name = replay_scratch(k, MPI_MAX_PORT_NAME);
    snprintf(name, MPI_MAX_PORT_NAME, "%.*s", v ? (int)v->count : 0, v ? v->text : "");
    return name;
}

static void port(struct replay_rank *k, const struct replay_fn *fn)
{
    char *text = port_of(k);
    if (!replay_is_simulated() || (*text && strncmp(text, "orrery-port-", 12) != 0))
        replay_fail(k, "the port has another name than in the recording, which only the program "
                       "knows");
    if (fn->step == MPI_STEP_OPEN) {
        int (*open)(MPI_Info, char *) = function(k, fn->name);
        replay_check(k, open(MPI_INFO_NULL, text));
        return;
    }
    if (fn->step == MPI_STEP_CLOSE) {
        int (*close)(const char *) = function(k, fn->name);
        replay_check(k, close(text));
        return;
    }
    int (*meet)(const char *, MPI_Info, int, MPI_Comm, MPI_Comm *) = function(k, fn->name);
    MPI_Comm comm = comm_of(k), inter = MPI_COMM_NULL;
    replay_check(k, meet(text, MPI_INFO_NULL, (int)arg(k, "root")->number, comm, &inter));
    made(k, "newcomm", inter);
}

void replay_dynamic(struct replay_rank *k, const struct replay_fn *fn)
{
    if (fn->step == MPI_STEP_SPAWN)
        spawn(k);
    else if (fn->step == MPI_STEP_PARENT)
        get_parent(k);
    else
        port(k, fn);
}
