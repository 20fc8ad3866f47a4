/*
 * functions.c - how each function of a trace is replayed.
 *
 * Functions that the API list flags with `acts` are called again, those that complete requests or
 * probe with a care of their own; of all others the time passes.
 */
#include <dlfcn.h>
#include <string.h>

#include "base/mem.h"
#include "replay/replay.h"

static const struct {
    const char *name;
    enum replay_how how;
} special[] = {
    {"MPI_Wait", REPLAY_WAIT},
    {"MPI_Waitall", REPLAY_WAITALL},
    {"MPI_Waitany", REPLAY_WAITANY},
    {"MPI_Waitsome", REPLAY_WAITSOME},
    {"MPI_Test", REPLAY_TEST},
    {"MPI_Testall", REPLAY_TESTALL},
    {"MPI_Testany", REPLAY_TESTANY},
    {"MPI_Testsome", REPLAY_TESTSOME},
    {"MPI_Request_get_status", REPLAY_GET_STATUS},
    {"MPI_Probe", REPLAY_PROBE},
    {"MPI_Mprobe", REPLAY_PROBE},
    {"MPI_Iprobe", REPLAY_IPROBE},
    {"MPI_Improbe", REPLAY_IPROBE},
    {"MPI_Parrived", REPLAY_PARRIVED},
    {"MPI_Win_test", REPLAY_WIN_TEST},
    {"MPI_Cancel", REPLAY_CANCEL},
    {"MPI_Comm_split_type", REPLAY_SPLIT_TYPE},
    {"MPI_Win_create_dynamic", REPLAY_WIN_DYNAMIC},
    {"MPI_Abort", REPLAY_END},
    {"MPI_Comm_spawn", REPLAY_DYNAMIC},
    {"MPI_Comm_spawn_multiple", REPLAY_DYNAMIC},
    {"MPI_Comm_get_parent", REPLAY_DYNAMIC},
    {"MPI_Open_port", REPLAY_DYNAMIC},
    {"MPI_Close_port", REPLAY_DYNAMIC},
    {"MPI_Comm_accept", REPLAY_DYNAMIC},
    {"MPI_Comm_connect", REPLAY_DYNAMIC},
    {"MPI_Comm_join", REPLAY_REFUSED},
};

/* They receive a message, or start to; large-count forms are alike. */
static const char *const receivers[] = {
    "MPI_Recv",
    "MPI_Irecv",
    "MPI_Recv_init",
    "MPI_Mrecv",
    "MPI_Imrecv",
    "MPI_Sendrecv",
    "MPI_Sendrecv_replace",
    "MPI_Isendrecv",
    "MPI_Isendrecv_replace",
    "MPI_Precv_init",
};

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static int is_receiver(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(receivers); i++) {
        size_t length = strlen(receivers[i]);
        if (strncmp(name, receivers[i], length) == 0 &&
            (!name[length] || strcmp(name + length, "_c") == 0))
            return 1;
    }
    return 0;
}

static enum replay_how how_of(const char *name, int number)
{
    for (size_t i = 0; i < COUNT_OF(special); i++)
        if (strcmp(special[i].name, name) == 0)
            return special[i].how;
    return mpi_fn_flags[number] & MPI_FNFLAG_ACTS ? REPLAY_CALL : REPLAY_TIME;
}

static int8_t find_name(const struct trace_fn *fn, const char *name)
{
    for (unsigned i = 0; i < fn->count; i++)
        if (strcmp(fn->args[i].name, name) == 0)
            return (int8_t)i;
    return -1;
}

static int8_t find_role(const struct trace_fn *fn, const char *role)
{
    return (int8_t)trace_fn_find(fn, role);
}

/* MPI_Sendrecv and its relatives have two tags, types and counts: those of the receive count. */
static int8_t find_received(const struct trace_fn *fn, const char *own, const char *role)
{
    int8_t found = find_name(fn, own);
    return found >= 0 ? found : find_role(fn, role);
}

/* A program that imports MPI_Cancel makes the simulator take care of it: only if it is called. */
static int invoke_cancel(const uint64_t *words)
{
    int (*cancel)(MPI_Request *) = (int (*)(MPI_Request *))dlsym(RTLD_DEFAULT, "MPI_Cancel");
    return cancel ? cancel((MPI_Request *)(uintptr_t)words[0]) : MPI_ERR_OTHER;
}

static int learn(struct replay_fn *to, const struct trace_fn *fn, struct err *err)
{
    *to = (struct replay_fn){.name = fn->name,
                             .how = REPLAY_REFUSED,
                             .comm = find_role(fn, "comm"),
                             .win = find_role(fn, "win"),
                             .reduces = find_role(fn, "op") >= 0,
                             .is_init = strcmp(fn->name, "MPI_Init") == 0 ||
                                        strcmp(fn->name, "MPI_Init_thread") == 0,
                             .makes_window = strcmp(fn->name, "MPI_Win_create") == 0 ||
                                             strcmp(fn->name, "MPI_Win_create_c") == 0,
                             .size = find_name(fn, "size"),
                             .is_finalize = strcmp(fn->name, "MPI_Finalize") == 0,
                             .source = find_name(fn, "source"),
                             .tag = find_received(fn, "recvtag", "tag"),
                             .request = find_role(fn, "request"),
                             .message = find_role(fn, "message"),
                             .flag = find_role(fn, "flag"),
                             .index = find_role(fn, "index"),
                             .status = find_role(fn, "status"),
                             .count = find_received(fn, "recvcount", "count"),
                             .outcount = find_name(fn, "outcount"),
                             .datatype = find_received(fn, "recvtype", "datatype"),
                             .receives = (uint8_t)is_receiver(fn->name),
                             .replaces = strstr(fn->name, "_replace") != NULL,
                             .is_persistent = strstr(fn->name, "_init") != NULL,
                             .starts = strncmp(fn->name, "MPI_Start", strlen("MPI_Start")) == 0,
                             .starts_all = strcmp(fn->name, "MPI_Startall") == 0};
    memset(to->kept, -1, sizeof to->kept);
    if (fn->number < 0)
        return 0; /* refused if it is met */
    to->signature = &mpi_fn_signature[fn->number];
    if (to->signature->count > REPLAY_ARGS) {
        to->how = REPLAY_TIME;
        return 0;
    }
    to->how = (uint8_t)how_of(fn->name, fn->number);
    to->invoke = to->how == REPLAY_CANCEL ? invoke_cancel : mpi_invoke[fn->number];
    for (unsigned i = 0; i < to->signature->count; i++) {
        const struct mpi_arg *arg = &to->signature->args[i];
        to->kept[i] = find_name(fn, arg->name);
        if (arg->role == MPI_ROLE_REQUEST && arg->direction == MPI_DIRECTION_OUT)
            to->begins = 1;
    }
    replay_words_learn(to);
    if (to->how != REPLAY_TIME && to->how < REPLAY_DYNAMIC && !to->invoke)
        return err_set(err, ERR_INPUT, "function '%s' has no entry", fn->name);
    return 0;
}

int replay_functions_init(struct replay *r, struct err *err)
{
    const struct trace_schema *schema = r->trace.header.schema;
    r->fns = mem_zalloc(schema->count * sizeof *r->fns);
    for (unsigned i = 0; i < schema->count; i++)
        if (learn(&r->fns[i], &schema->fns[i], err) != 0)
            return err->code;
    return 0;
}
