/*
 * functions.c - how each function of a trace is replayed.
 *
 * Functions that the API list flags with `acts` are called again, those that complete requests or
 * probe with a care of their own; of all others the time passes.
 */
#include <dlfcn.h>
#include <string.h>

#include "base/mem.h"
#include "calls/calls.h"
#include "replay/replay.h"

/* Functions that are replayed in a way of their own. */
static const struct {
    unsigned short fn;
    uint8_t how;
} special[] = {
    {MPI_FN_COMM_SPLIT_TYPE, REPLAY_SPLIT_TYPE},
    {MPI_FN_WIN_CREATE_DYNAMIC, REPLAY_WIN_DYNAMIC},
    {MPI_FN_COMM_JOIN, REPLAY_REFUSED},
};

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static enum replay_how how_to_complete(const struct mpi_effect *s)
{
    static const uint8_t waits[] = {[MPI_AMOUNT_ONE] = REPLAY_WAIT,
                                    [MPI_AMOUNT_ALL] = REPLAY_WAITALL,
                                    [MPI_AMOUNT_ANY] = REPLAY_WAITANY,
                                    [MPI_AMOUNT_SOME] = REPLAY_WAITSOME},
                         tests[] = {[MPI_AMOUNT_ONE] = REPLAY_TEST,
                                    [MPI_AMOUNT_ALL] = REPLAY_TESTALL,
                                    [MPI_AMOUNT_ANY] = REPLAY_TESTANY,
                                    [MPI_AMOUNT_SOME] = REPLAY_TESTSOME};
    return s->form == MPI_FORM_POLLING ? tests[s->amount] : waits[s->amount];
}

/* Is it about ranks that come later, or meets them by a port? */
static int is_dynamic(const struct mpi_effect *s)
{
    return s->step == MPI_STEP_SPAWN || s->step == MPI_STEP_PARENT || s->step == MPI_STEP_MEET ||
           (s->kind == MPI_DOES_PORT && (s->step == MPI_STEP_OPEN || s->step == MPI_STEP_CLOSE));
}

static enum replay_how how_of(int number)
{
    const struct mpi_effect *s = &mpi_fn_effect[number];
    int polls = s->form == MPI_FORM_POLLING;
    for (size_t i = 0; i < COUNT_OF(special); i++)
        if (special[i].fn == number)
            return special[i].how;
    if (is_dynamic(s))
        return REPLAY_DYNAMIC;
    switch (s->kind) {
    case MPI_DOES_COMPLETE:
        return how_to_complete(s);
    case MPI_DOES_INQUIRE:
        return REPLAY_GET_STATUS;
    case MPI_DOES_PROBE:
        return polls ? REPLAY_IPROBE : REPLAY_PROBE;
    case MPI_DOES_CANCEL:
        return REPLAY_CANCEL;
    case MPI_DOES_ABORT:
        return REPLAY_END;
    case MPI_DOES_PARTITION:
        return polls ? REPLAY_PARRIVED : REPLAY_CALL;
    default:
        break;
    }
    if (s->kind == MPI_DOES_EPOCH && polls)
        return REPLAY_WIN_TEST;
    return mpi_fn_flags[number] & MPI_FNFLAG_ACTS ? REPLAY_CALL : REPLAY_TIME;
}

/* Does the simulator send messages for it, although a replay only spends its time? What is asked
 * of a file is with the rank. */
static int is_timed(int number)
{
    const struct mpi_effect *s = &mpi_fn_effect[number];
    return (s->kind == MPI_DOES_FILE && s->step != MPI_STEP_QUERY) || s->kind == MPI_DOES_PORT;
}

/* A program that imports MPI_Cancel makes the simulator take care of it: only if it is called. */
static int invoke_cancel(const uint64_t *words)
{
    int (*cancel)(MPI_Request *) = (int (*)(MPI_Request *))dlsym(RTLD_DEFAULT, "MPI_Cancel");
    return cancel ? cancel((MPI_Request *)(uintptr_t)words[0]) : MPI_ERR_OTHER;
}

static int8_t either(int8_t one, int8_t other)
{
    return one >= 0 ? one : other;
}

/* MPI_Sendrecv and its relatives have two tags, types and counts: those of the receive count. */
static struct replay_fn function_of(const struct trace_fn *fn, const struct mpi_effect *s)
{
    return (
        struct replay_fn){.name = fn->name,
                          .how = REPLAY_REFUSED,
                          .step = s->step,
                          .comm = s->comm,
                          .win = s->win,
                          .reduces = s->op >= 0,
                          .is_init = s->kind == MPI_DOES_INIT,
                          .makes_window = s->base == MPI_FN_WIN_CREATE,
                          .size = (int8_t)calls_arg(fn, "size"),
                          .is_finalize = s->kind == MPI_DOES_FINALIZE,
                          .source = s->source,
                          .tag = either(s->recv_tag, s->send_tag),
                          .request = s->request,
                          .message = s->message,
                          .flag = s->flag,
                          .index = s->index,
                          .status = s->status,
                          .count = either(s->recv_count, s->send_count),
                          .outcount = s->out_count,
                          .datatype = either(s->recv_type, s->send_type),
                          .receives = s->kind == MPI_DOES_RECEIVE || s->kind == MPI_DOES_EXCHANGE,
                          .replaces = s->base == MPI_FN_SENDRECV_REPLACE,
                          .is_persistent = s->form == MPI_FORM_PERSISTENT,
                          .begins = s->form == MPI_FORM_NONBLOCKING ||
                                    s->form == MPI_FORM_PERSISTENT,
                          .starts = s->kind == MPI_DOES_START,
                          .starts_all = s->kind == MPI_DOES_START && s->amount == MPI_AMOUNT_ALL};
}

static int learn(struct replay_fn *to, const struct trace_fn *fn, const struct mpi_effect *does,
                 struct err *err)
{
    *to = function_of(fn, does);
    memset(to->kept, -1, sizeof to->kept);
    if (fn->number < 0)
        return 0; /* refused if it is met */
    to->signature = &mpi_fn_signature[fn->number];
    if (to->signature->count > REPLAY_ARGS) {
        to->how = REPLAY_TIME;
        return 0;
    }
    to->how = (uint8_t)how_of(fn->number);
    to->is_timed = to->how == REPLAY_TIME && is_timed(fn->number);
    to->invoke = to->how == REPLAY_CANCEL ? invoke_cancel : mpi_invoke[fn->number];
    for (unsigned i = 0; i < to->signature->count; i++)
        to->kept[i] = (int8_t)calls_arg(fn, to->signature->args[i].name);
    replay_words_learn(to);
    if (to->how != REPLAY_TIME && to->how < REPLAY_DYNAMIC && !to->invoke)
        return err_set(err, ERR_INPUT, "function '%s' has no entry", fn->name);
    return 0;
}

int replay_functions_init(struct replay *r, struct err *err)
{
    const struct trace_schema *schema = r->trace.header.schema;
    int rc = 0;
    r->fns = mem_zalloc(schema->count * sizeof *r->fns);
    r->shapes = calls_of(schema);
    for (unsigned i = 0; i < schema->count && rc == 0; i++)
        rc = learn(&r->fns[i], &schema->fns[i], &r->shapes[i], err);
    return rc;
}
