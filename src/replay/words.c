/*
 * words.c - the arguments of a call, from its record, by their roles; and its results.
 *
 * Results, arrays and texts are in scratch memory of the rank, which lasts until the next record: a
 * call may switch to other ranks. All messages share two buffers, whose content does not count.
 */
#include <string.h>

#include "base/mem.h"
#include "replay/replay.h"

/* of one without memory: what derived types reach is not known */
#define WINDOW_BYTES ((int64_t)1 << 48)
#define ADDRESSES ((MPI_Aint)1 << 48)  /* no address of a program is larger */
#define WILD_BYTES ((uint64_t)1 << 30) /* a receive with wildcards may get a message of any size */

/* ---- from a record ---- */

struct trace_value *replay_arg(struct replay_rank *k, int kept)
{
    return kept < 0 || (unsigned)kept >= k->event->argc ? NULL : &k->event->args[kept];
}

static uint64_t place(void *at)
{
    return (uint64_t)(uintptr_t)at;
}

/* A result, or a value that is passed by its address. */
static uint64_t slot(struct replay_rank *k, const struct mpi_arg *arg, int64_t value)
{
    void *at = replay_scratch(k, sizeof value);
    if (arg->bytes == 4)
        *(int32_t *)at = (int32_t)value;
    else
        *(int64_t *)at = value;
    return place(at);
}

static int is_weights(const struct mpi_arg *arg)
{
    return strstr(arg->name, "weights") != NULL;
}

/* Weights of no edges are none, unless the call has others: it has weights at both ends of edges,
 * or at none. */
static uint64_t no_weights(struct replay_rank *k, const struct replay_fn *fn)
{
    for (unsigned i = 0; i < fn->signature->count; i++) {
        const struct trace_value *v = replay_arg(k, fn->kept[i]);
        if (is_weights(&fn->signature->args[i]) && v && v->count)
            return place(MPI_WEIGHTS_EMPTY);
    }
    return place(MPI_UNWEIGHTED);
}

static uint64_t array(struct replay_rank *k, const struct replay_fn *fn, const struct mpi_arg *arg,
                      const struct trace_value *v)
{
    uint64_t count = v ? v->count : 0;
    int is_handle = arg->role == MPI_ROLE_DATATYPE;
    if (count == 0)
        return is_weights(arg) ? no_weights(k, fn) : slot(k, arg, 0);
    char *items = fn->begins ? replay_keep(k, count * arg->bytes)
                             : replay_scratch(k, count * arg->bytes);
    for (uint64_t i = 0; i < count; i++) {
        int64_t item = is_handle ? (int64_t)replay_handle(k, arg->role, v->items[i]) : v->items[i];
        if (arg->bytes == 4)
            ((int32_t *)(void *)items)[i] = (int32_t)item;
        else
            ((int64_t *)(void *)items)[i] = item;
    }
    return place(items);
}

static MPI_Request request_of(struct replay_rank *k, int64_t number)
{
    const struct replay_request *r = replay_request_find(k, number);
    return r ? r->handle : MPI_REQUEST_NULL;
}

static uint64_t request(struct replay_rank *k, const struct mpi_arg *arg,
                        const struct trace_value *v)
{
    if (!arg->pointers)
        return (uint64_t)request_of(k, v ? v->number : -1);
    if (arg->length == MPI_LENGTH_NONE) {
        MPI_Request *at = replay_scratch(k, sizeof *at);
        *at = v ? request_of(k, v->number) : MPI_REQUEST_NULL;
        return place(at);
    }
    MPI_Request *all = replay_scratch(k, (v->count + 1) * sizeof *all);
    for (uint64_t i = 0; i < v->count; i++)
        all[i] = request_of(k, v->items[i]);
    return place(all);
}

static uint64_t handle(struct replay_rank *k, const struct mpi_arg *arg,
                       const struct trace_value *v)
{
    int64_t number = v ? v->number : -1;
    if (!arg->pointers)
        return replay_handle(k, arg->role, number);
    return slot(k, arg,
                arg->direction == MPI_DIRECTION_OUT ? 0
                                                    : (int64_t)replay_handle(k, arg->role, number));
}

static uint64_t text(struct replay_rank *k, const struct trace_value *v)
{
    char *at = replay_scratch(k, (v ? v->count : 0) + 1);
    if (v)
        memcpy(at, v->text, v->count);
    at[v ? v->count : 0] = '\0';
    return place(at);
}

/* ---- generalized requests: complete when the trace says so ---- */

static int query(void *state, MPI_Status *status)
{
    (void)state;
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int release(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

static uint64_t callback(const char *name)
{
    return strcmp(name, "query_fn") == 0  ? (uint64_t)(uintptr_t)query
           : strcmp(name, "free_fn") == 0 ? (uint64_t)(uintptr_t)release
                                          : (uint64_t)(uintptr_t)cancel;
}

/* A word that is not one of the frequent kinds below. */
static uint64_t word(struct replay_rank *k, const struct replay_fn *fn, const struct mpi_arg *arg,
                     const struct trace_value *v)
{
    switch (arg->role) {
    case MPI_ROLE_REQUEST:
        return request(k, arg, v);
    case MPI_ROLE_COMM:
        if (fn->begins && arg->direction == MPI_DIRECTION_OUT)
            return place(replay_keep(k, sizeof(MPI_Comm)));
        return handle(k, arg, v);
    case MPI_ROLE_OP:
    case MPI_ROLE_WIN:
    case MPI_ROLE_GROUP:
    case MPI_ROLE_MESSAGE:
        return handle(k, arg, v);
    case MPI_ROLE_DATATYPE:
        return arg->length == MPI_LENGTH_NONE ? handle(k, arg, v) : array(k, fn, arg, v);
    case MPI_ROLE_INFO:
        return (uint64_t)MPI_INFO_NULL;
    case MPI_ROLE_ERRHANDLER:
        return (uint64_t)MPI_ERRORS_RETURN; /* the replayer reports them */
    case MPI_ROLE_CALLBACK:
        return callback(arg->name);
    case MPI_ROLE_TEXT:
        return arg->pointers == 1 ? text(k, v) : 0;
    default:
        break;
    }
    if (arg->length != MPI_LENGTH_NONE)
        return array(k, fn, arg, v);
    if (arg->pointers && !arg->bytes) /* the memory of a window, or where its address goes */
        return arg->direction == MPI_DIRECTION_IN || strcmp(arg->name, "base") == 0
                   ? place(k->replay->receive_room)
                   : slot(k, arg, 0);
    return arg->pointers ? slot(k, arg, v ? v->number : 0) : (uint64_t)(v ? v->number : 0);
}

/* ---- what each word is, found once for each function ---- */

/* Most arguments of most calls are found without looking at their roles again. */
enum {
    WORD_OTHER, /* by its role */
    WORD_NUMBER,
    WORD_SENT,     /* a buffer that is sent */
    WORD_RECEIVED, /* one that is received into */
    WORD_COMM,
    WORD_DATATYPE,
    WORD_OP,
    WORD_REQUEST, /* a new one */
    WORD_STATUS,
};

static unsigned kind_of(const struct mpi_arg *arg)
{
    int is_value = !arg->pointers && arg->length == MPI_LENGTH_NONE;
    switch (arg->role) {
    case MPI_ROLE_BUFFER:
        return arg->direction == MPI_DIRECTION_IN ? WORD_SENT : WORD_RECEIVED;
    case MPI_ROLE_COMM:
        return is_value ? WORD_COMM : WORD_OTHER;
    case MPI_ROLE_DATATYPE:
        return is_value ? WORD_DATATYPE : WORD_OTHER;
    case MPI_ROLE_OP:
        return is_value ? WORD_OP : WORD_OTHER;
    case MPI_ROLE_REQUEST:
        return arg->length == MPI_LENGTH_NONE && arg->direction == MPI_DIRECTION_OUT ? WORD_REQUEST
                                                                                     : WORD_OTHER;
    case MPI_ROLE_STATUS:
        return WORD_STATUS;
    case MPI_ROLE_WIN:
    case MPI_ROLE_GROUP:
    case MPI_ROLE_MESSAGE:
    case MPI_ROLE_INFO:
    case MPI_ROLE_ERRHANDLER:
    case MPI_ROLE_CALLBACK:
    case MPI_ROLE_TEXT:
        return WORD_OTHER;
    default:
        return is_value ? WORD_NUMBER : WORD_OTHER;
    }
}

static int has_result(const struct mpi_arg *arg)
{
    if (arg->direction == MPI_DIRECTION_IN)
        return 0;
    return arg->role == MPI_ROLE_REQUEST   ? arg->pointers > 0
           : arg->role == MPI_ROLE_STATUS  ? 1
           : arg->role == MPI_ROLE_COMM    ? 1
           : arg->role == MPI_ROLE_WIN     ? 1
           : arg->role == MPI_ROLE_MESSAGE ? 1
                                           : 0;
}

void replay_words_learn(struct replay_fn *fn)
{
    fn->op_word = -1;
    for (unsigned i = 0; i < fn->signature->count; i++) {
        const struct mpi_arg *arg = &fn->signature->args[i];
        fn->kinds[i] = (uint8_t)kind_of(arg);
        if (fn->kinds[i] == WORD_NUMBER && fn->kept[i] >= 0)
            fn->numbers[fn->number_count++] = (uint8_t)i;
        else
            fn->others[fn->other_count++] = (uint8_t)i;
        if (fn->kept[i] >= 0 && has_result(arg))
            fn->results[fn->result_count++] = (uint8_t)i;
        if (fn->kinds[i] == WORD_OP)
            fn->op_word = (int8_t)i;
        if (fn->kinds[i] == WORD_DATATYPE)
            fn->has_type = 1;
        if (fn->begins && arg->role == MPI_ROLE_COMM && arg->direction == MPI_DIRECTION_OUT)
            fn->makes_comm = 1;
    }
}

static inline uint64_t known(struct replay_rank *k, const struct replay_handles *table,
                             unsigned role, const struct trace_value *v)
{
    int64_t number = v ? v->number : -1;
    if (__builtin_expect(number >= 0 && (size_t)number < table->room && table->items[number], 1))
        return (uint32_t)table->items[number];
    return replay_handle(k, role, number);
}

static inline uint64_t quick_word(struct replay_rank *k, const struct replay_fn *fn, unsigned i)
{
    struct trace_value *v = fn->kept[i] < 0 ? NULL : &k->event->args[fn->kept[i]];
    switch (fn->kinds[i]) {
    case WORD_NUMBER: /* that the record does not have */
        return 0;
    case WORD_SENT:
        return place(v && v->number == TRACE_BUFFER_IN_PLACE ? MPI_IN_PLACE : k->replay->send_room);
    case WORD_RECEIVED:
        return place(v && v->number == TRACE_BUFFER_IN_PLACE ? MPI_IN_PLACE
                                                             : k->replay->receive_room);
    case WORD_COMM:
        return known(k, &k->comms, MPI_ROLE_COMM, v);
    case WORD_DATATYPE:
        return known(k, &k->types, MPI_ROLE_DATATYPE, v);
    case WORD_OP:
        return known(k, &k->ops, MPI_ROLE_OP, v);
    case WORD_REQUEST:
        k->made = MPI_REQUEST_NULL;
        return place(&k->made);
    case WORD_STATUS:
        k->status.MPI_SOURCE = MPI_PROC_NULL;
        return place(&k->status);
    default:
        return word(k, fn, &fn->signature->args[i], v);
    }
}

/* ---- operations ---- */

/* Whether all datatypes of the call are predefined ones: calls of windows have several. */
static int has_named_types(struct replay_rank *k, const struct replay_fn *fn)
{
    for (unsigned i = 0; i < fn->signature->count; i++)
        if (fn->kinds[i] == WORD_DATATYPE &&
            !replay_type_is_named(k, replay_arg(k, fn->kept[i])->number))
            return 0;
    return 1;
}

/* An operation of MPI needs a type of numbers, but of a derived type only its size is known. */
static void fit_operation(struct replay_rank *k, const struct replay_fn *fn)
{
    int op = fn->op_word;
    if (op < 0 || !fn->has_type)
        return;
    int64_t number = replay_arg(k, fn->kept[op])->number;
    int is_known = number >= 0 && (!replay_op_is_named(k, number) || has_named_types(k, fn));
    if (is_known)
        return;
    k->words[op] = (uint64_t)replay_op_for_bytes(k, fn->win >= 0);
}

/* ---- receives ---- */

static unsigned position_of(const struct replay_fn *fn, int kept)
{
    for (unsigned i = 0; i < fn->signature->count; i++)
        if (fn->kept[i] == kept)
            return i;
    return 0;
}

void replay_set_word(struct replay_rank *k, const struct replay_fn *fn, int kept, int64_t value)
{
    k->words[position_of(fn, kept)] = (uint64_t)value;
}

/* The message that a receive got: its record says it, or the one that completes its request. */
static int got(struct replay_rank *k, const struct replay_fn *fn, struct trace_status *out)
{
    if (fn->begins)
        return whatif_got_take(&k->got, k->ahead, replay_arg(k, fn->request)->number, out);
    *out = *replay_arg(k, fn->status)->statuses;
    return out->is_set;
}

/* A receive with wildcards gets the message that comes first, whatever its size; in deterministic
 * mode the recorded one. A persistent one gets several: see persistent.c. */
static void receive_words(struct replay_rank *k, const struct replay_fn *fn)
{
    int64_t comm = replay_arg(k, fn->comm)->number;
    int64_t source = replay_arg(k, fn->source)->number, tag = replay_arg(k, fn->tag)->number;
    int is_wild = source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG;
    struct trace_status was;
    if (k->ahead && !fn->is_persistent && got(k, fn, &was) && is_wild && was.source >= 0) {
        source = replay_comm_rank(k, comm, was.source);
        tag = was.tag;
    }
    if (k->probed_count && replay_probe_receive(k, comm, &source, &tag)) {
        replay_arg(k, fn->source)->number = source;
        replay_arg(k, fn->tag)->number = tag;
        is_wild = 1; /* of any size */
        k->is_changed = 1;
    }
    if (!is_wild || k->replay->has_counts)
        return;
    k->was_free = 1;
    uint64_t size = replay_type_size(k, replay_arg(k, fn->datatype)->number);
    int64_t most = size ? (int64_t)(WILD_BYTES / size) : 0;
    if (replay_arg(k, fn->count)->number < most && !fn->replaces)
        replay_set_word(k, fn, fn->count, most);
    replay_set_word(k, fn, fn->source, source);
    replay_set_word(k, fn, fn->tag, tag);
}

void replay_words(struct replay_rank *k, const struct replay_fn *fn)
{
    for (unsigned i = 0; i < fn->number_count; i++)
        k->words[fn->numbers[i]] = (uint64_t)k->event->args[fn->kept[fn->numbers[i]]].number;
    for (unsigned i = 0; i < fn->other_count; i++)
        k->words[fn->others[i]] = quick_word(k, fn, fn->others[i]);
    if (fn->receives && fn->source >= 0 && fn->comm >= 0)
        receive_words(k, fn);
    if (fn->reduces)
        fit_operation(k, fn);
    if (fn->makes_window && replay_is_simulated())
        replay_set_word(k, fn, fn->size, WINDOW_BYTES);
}

/* ---- results ---- */

struct trace_status replay_status(const struct replay_rank *k, int64_t comm, const MPI_Status *s)
{
    uint64_t bytes = (uint64_t)((uint32_t)s->count_hi_and_cancelled >> 1) << 32 |
                     (uint32_t)s->count_lo;
    return (struct trace_status){.source = (int32_t)replay_world_rank(k, comm, s->MPI_SOURCE),
                                 .tag = s->MPI_TAG,
                                 .bytes = bytes,
                                 .is_set = 1,
                                 .is_cancelled = s->count_hi_and_cancelled & 1};
}

/* The number of the communicator that the call begins to make. */
static int64_t made_comm(const struct replay_rank *k, const struct replay_fn *fn)
{
    for (unsigned i = 0; i < fn->result_count; i++)
        if (fn->signature->args[fn->results[i]].role == MPI_ROLE_COMM)
            return k->event->args[fn->kept[fn->results[i]]].number;
    return -1;
}

static void take_request(struct replay_rank *k, const struct replay_fn *fn,
                         const struct mpi_arg *arg, uint64_t at, const struct trace_value *v)
{
    const MPI_Request *handles = (const MPI_Request *)(uintptr_t)at;
    if (arg->direction == MPI_DIRECTION_OUT) {
        struct replay_request *made = replay_request_add(k, v->number, *handles,
                                                         replay_comm_of(k, fn), fn->receives);
        if (made) {
            made->kept = k->kept;
            made->makes_comm = fn->makes_comm;
            if (made->makes_comm)
                replay_unnamed_add(k, v->number, made_comm(k, fn));
            k->kept = NULL;
        }
        return;
    }
    struct replay_request *r = replay_request_find(k, v->number);
    if (arg->length == MPI_LENGTH_NONE &&
        r) { /* MPI_Start leaves it as it is, MPI_Request_free does not */
        r->handle = *handles;
        replay_request_done(k, v->number);
    }
}

int replay_is_wild(struct replay_rank *k, const struct replay_fn *fn)
{
    const struct trace_value *source = replay_arg(k, fn->source), *tag = replay_arg(k, fn->tag);
    return source && tag && (source->number == MPI_ANY_SOURCE || tag->number == MPI_ANY_TAG);
}

static void take_status(struct replay_rank *k, const struct replay_fn *fn, uint64_t at,
                        struct trace_value *v)
{
    struct trace_status status, *changed;
    if (!v->statuses->is_set || (replay_is_certain(k) && !k->may_fail))
        return; /* the program had not asked for it, or it is the same */
    status = fn->receives
                 ? replay_status(k, replay_comm_of(k, fn), (const MPI_Status *)(uintptr_t)at)
                 : *v->statuses;
    if (replay_is_wild(k, fn))
        replay_compare(k, v->statuses, &status);
    replay_keep_failure(k, v->statuses, &status);
    if (trace_status_equal(&status, v->statuses))
        return;
    changed = replay_scratch(k, sizeof *changed);
    *changed = status;
    v->statuses = changed;
    k->is_changed = 1;
}

static void take(struct replay_rank *k, const struct replay_fn *fn, unsigned i)
{
    const struct mpi_arg *arg = &fn->signature->args[i];
    struct trace_value *v = &k->event->args[fn->kept[i]];
    switch (arg->role) {
    case MPI_ROLE_REQUEST:
        take_request(k, fn, arg, k->words[i], v);
        break;
    case MPI_ROLE_STATUS:
        take_status(k, fn, k->words[i], v);
        break;
    case MPI_ROLE_COMM:
    case MPI_ROLE_WIN:
    case MPI_ROLE_MESSAGE:
        if (fn->begins && arg->role == MPI_ROLE_COMM)
            break; /* when the request is complete */
        replay_handle_set(k, arg->role, v->number,
                          arg->direction == MPI_DIRECTION_OUT
                              ? *(const uint32_t *)(uintptr_t)k->words[i]
                              : 0);
        break;
    default:
        break;
    }
}

void replay_results(struct replay_rank *k, const struct replay_fn *fn)
{
    for (unsigned i = 0; i < fn->result_count; i++)
        take(k, fn, fn->results[i]);
}

/* ---- calls that are made otherwise ---- */

/* Displacements are addresses of the recording: the window has room for all of them. */
void replay_win_dynamic(struct replay_rank *k, const struct replay_fn *fn)
{
    MPI_Comm comm = (MPI_Comm)replay_handle(k, MPI_ROLE_COMM, replay_arg(k, fn->comm)->number);
    MPI_Win win;
    if (!replay_is_simulated())
        replay_fail(k, "addresses of the recording mean nothing in real time");
    replay_check(k,
                 MPI_Win_create(k->replay->receive_room, ADDRESSES, 1, MPI_INFO_NULL, comm, &win));
    replay_handle_set(k, MPI_ROLE_WIN, replay_arg(k, fn->win)->number, (uint32_t)win);
}

/* MPI_Grequest_complete of a request that was freed: its number means nothing any more. */
int replay_is_freed(struct replay_rank *k, const struct replay_fn *fn)
{
    const struct mpi_arg *arg = &fn->signature->args[0];
    return arg->role == MPI_ROLE_REQUEST && !arg->pointers &&
           !replay_request_find(k, replay_arg(k, fn->request)->number);
}
