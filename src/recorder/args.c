/*
 * args.c - the arguments of a call, by their roles.
 *
 * A pointer is followed only where the call itself has followed it: arrays that matter only at the
 * root are skipped elsewhere, and so are the results of a call that failed, or of a test that found
 * nothing.
 */
#include <string.h>

#include "base/array.h"
#include "base/hostile.h"
#include "recorder/recorder_internal.h"

#define TEXT_MOST 4096
#define ITEMS_ON_STACK HOSTILE(1, 64)

struct call {
    struct recorder_rank *r;
    struct recorder_lane *lane;
    struct mpi_rank *self;
    const struct trace_fn *fn;
    const struct recorder_call *seen;
    const struct mpi_arg *args; /* all of the function */
    unsigned count;
    int has_results;       /* its results are valid */
    uint32_t next_request; /* of the stored requests */
    uint32_t next_done;    /* where the search for the next completed receive begins */
};

static const struct mpi_effect *does(const struct call *c)
{
    return &mpi_fn_effect[c->seen->fn];
}

/* Objects that a rank numbers; requests and messages are numbered separately. */
static int is_numbered(unsigned role)
{
    static const uint8_t is_object[MPI_ROLES] = {
        [MPI_ROLE_COMM] = 1, [MPI_ROLE_GROUP] = 1, [MPI_ROLE_DATATYPE] = 1, [MPI_ROLE_OP] = 1,
        [MPI_ROLE_WIN] = 1,  [MPI_ROLE_FILE] = 1,  [MPI_ROLE_SESSION] = 1,
    };
    return is_object[role];
}

int recorder_frees(enum mpi_fn fn)
{
    const struct mpi_effect *s = &mpi_fn_effect[fn];
    return s->frees && is_numbered(s->frees - 1u) ? s->object : -1;
}

void recorder_freed(struct recorder_rank *r, struct recorder_lane *lane, enum mpi_fn fn)
{
    if (__builtin_expect(recorder_frees(fn) >= 0, 0) && lane->gone)
        recorder_forget(r, mpi_fn_effect[fn].frees - 1u, lane->gone);
}

void recorder_unfree(struct recorder_rank *r, struct recorder_lane *lane, enum mpi_fn fn)
{
    if (recorder_frees(fn) >= 0 && lane->gone && lane->given >= 0)
        recorder_name(r, mpi_fn_effect[fn].frees - 1u, lane->gone, lane->given);
}

int recorder_looks_at(enum mpi_fn fn)
{
    return mpi_fn_effect[fn].is_given;
}

/* The communicator that is passed to the call; 0: there is none. */
static int comm_of(const struct call *c, struct recorder_comm *comm)
{
    int arg = does(c)->comm;
    return arg >= 0 && !c->args[arg].pointers &&
           recorder_mpi->comm(c->self, (uint32_t)c->seen->args[arg], comm);
}

static uint64_t comm_handle(const struct call *c)
{
    return (uint32_t)c->seen->args[does(c)->comm];
}

/* ---- how long an array is ---- */

static int64_t length_of(const struct call *c, const struct mpi_arg *arg);

/* An item of another array of the call. */
static int64_t item_of(const struct call *c, unsigned arg, int64_t i)
{
    uint64_t at = c->seen->args[arg] + (uint64_t)i * c->args[arg].bytes;
    return recorder_word(&(struct mpi_arg){.pointers = 1, .bytes = c->args[arg].bytes}, at);
}

static int64_t other_length(const struct call *c, const struct mpi_arg *arg)
{
    const struct mpi_arg *other = &c->args[arg->length_of];
    int64_t count = length_of(c, other), sum = 0;
    if (arg->length == MPI_LENGTH_LAST)
        return count > 0 ? item_of(c, arg->length_of, count - 1) : 0;
    for (int64_t i = 0; i < count; i++)
        sum += item_of(c, arg->length_of, i);
    return sum;
}

/* Of a topology or datatype; graphs are asked for the neighbours of a member. */
static int64_t amount(const struct call *c, const struct mpi_arg *arg)
{
    const uint64_t *words = &c->seen->args[arg->length_of];
    return recorder_mpi->amount(c->self, (enum mpi_length)arg->length, (uint32_t)words[0],
                                arg->length == MPI_LENGTH_NEIGHBORS ? (int)words[1] : 0);
}

static int64_t whole_length(const struct call *c, const struct mpi_arg *arg)
{
    const struct mpi_arg *of = &c->args[arg->length_of];
    uint64_t word = c->seen->args[arg->length_of];
    struct recorder_comm comm;
    switch (arg->length) {
    case MPI_LENGTH_VALUE:
    case MPI_LENGTH_TARGET:
        return recorder_word(of, word);
    case MPI_LENGTH_SIZE:
        return comm_of(c, &comm) ? comm.size : 0;
    case MPI_LENGTH_PEERS:
        return !comm_of(c, &comm) ? 0 : comm.is_inter ? comm.others : comm.size;
    case MPI_LENGTH_SUM:
    case MPI_LENGTH_LAST:
        return other_length(c, arg);
    case MPI_LENGTH_NONE:
    case MPI_LENGTH_ALL:
        return 0;
    default:
        return amount(c, arg);
    }
}

/* The caller may have room for less. What is behind the end of an array is what the program had
 * there before, and no part of the call. */
static int64_t length_of(const struct call *c, const struct mpi_arg *arg)
{
    int64_t length = whole_length(c, arg);
    if (!arg->room_of || length <= 0)
        return length;
    int64_t room = recorder_word(&c->args[arg->room_of - 1], c->seen->args[arg->room_of - 1]);
    return length < room ? length : room;
}

/* ---- what may be read ---- */

static int am_root(const struct call *c)
{
    int arg = does(c)->root;
    struct recorder_comm comm;
    if (arg < 0 || !comm_of(c, &comm))
        return 1;
    int root = (int)c->seen->args[arg];
    return comm.is_inter ? root == MPI_ROOT : root == comm.rank;
}

static int is_readable(const struct call *c, const struct trace_arg *kept,
                       const struct mpi_arg *arg, uint64_t word)
{
    if (!word || !recorder_has_done(c->seen->rc) || (!kept->is_in && !c->has_results) ||
        !am_root(c))
        return 0;
    const struct mpi_effect *s = does(c);
    int is_sent = kept->position == s->send_counts || kept->position == s->send_displs ||
                  kept->position == s->send_types;
    if (is_sent && arg->length == MPI_LENGTH_PEERS && s->send_buf >= 0 &&
        recorder_buffer(c->seen->args[s->send_buf]) == TRACE_BUFFER_IN_PLACE)
        return 0;
    return !recorder_mpi->is_no_array((const void *)(uintptr_t)word);
}

/* ---- arguments before the call ---- */

static int64_t handle_number(struct call *c, unsigned role, const struct mpi_arg *arg,
                             uint64_t word)
{
    uint64_t handle = arg->bytes == 4 ? (uint32_t)recorder_word(arg, word)
                                      : (uint64_t)recorder_word(arg, word);
    return recorder_number(c->r, c->self, role, handle);
}

static void __attribute__((noinline)) grow_requests(struct recorder_lane *lane)
{
    ARRAY_RESERVE_FEW(lane->requests, lane->request_room, lane->request_count + 1,
                      lane->few_requests);
}

static void keep_request(struct recorder_lane *lane, int64_t number)
{
    if (lane->request_count == lane->request_room)
        grow_requests(lane);
    lane->requests[lane->request_count++] = number;
}

/* A handle that the call may set to null. A message handle ends when its message is received, and
 * may be reused. */
static void keep_given(struct call *c, const struct mpi_arg *arg, uint64_t word)
{
    c->lane->given = word ? handle_number(c, arg->role, arg, word) : -1;
    c->lane->gone = !word             ? 0
                    : arg->bytes == 4 ? (uint32_t)recorder_word(arg, word)
                                      : (uint64_t)recorder_word(arg, word);
    if (word && arg->role == MPI_ROLE_MESSAGE)
        recorder_forget(c->r, arg->role, (uint32_t)recorder_word(arg, word));
}

static inline struct call call_of(struct recorder_rank *r, struct recorder_lane *lane,
                                  struct mpi_rank *self, const struct trace_fn *fn,
                                  const struct recorder_call *seen)
{
    return (struct call){.r = r,
                         .lane = lane,
                         .self = self,
                         .fn = fn,
                         .seen = seen,
                         .args = mpi_fn_signature[seen->fn].args,
                         .count = mpi_fn_signature[seen->fn].count};
}

void recorder_requests(struct recorder_rank *r, struct recorder_lane *lane, struct mpi_rank *self,
                       const struct trace_fn *fn, const struct recorder_call *seen, int64_t t)
{
    struct call c = call_of(r, lane, self, fn, seen);
    if (!mpi_fn_effect[seen->fn].is_given)
        return;
    r->now = t;
    for (unsigned i = 0; i < fn->count; i++) {
        const struct trace_arg *kept = &fn->args[i];
        const struct mpi_arg *arg = &c.args[kept->position];
        uint64_t word = seen->args[kept->position];
        if (kept->class == TRACE_HANDLE && kept->is_in && arg->pointers == 1 && !kept->is_array)
            keep_given(&c, arg, word);
        if (kept->class != TRACE_REQUEST || !kept->is_in)
            continue;
        int64_t count = kept->is_array ? length_of(&c, arg) : 1;
        for (int64_t k = 0; k < count; k++) {
            uint32_t handle = arg->pointers ? word ? ((const uint32_t *)(uintptr_t)word)[k]
                                                   : (uint32_t)MPI_REQUEST_NULL
                                            : (uint32_t)word;
            keep_request(lane, recorder_number(r, self, MPI_ROLE_REQUEST, handle));
        }
    }
}

static void put_requests(struct call *c, const struct trace_arg *kept)
{
    struct trace_stream *s = &c->lane->stream;
    if (!kept->is_in) {
        int64_t number = c->has_results
                             ? recorder_new_number(c->r, c->self, c->seen, kept->position)
                             : -1;
        recorder_begin_request(c->r, number);
        trace_put_request(s, number);
    } else if (!kept->is_array) {
        trace_put_request(s, c->next_request < c->lane->request_count
                                 ? c->lane->requests[c->next_request]
                                 : -1);
        c->next_request++;
    } else {
        trace_put_array(s, c->lane->requests + c->next_request,
                        c->lane->request_count - c->next_request);
        c->next_request = c->lane->request_count;
    }
}

/* ---- statuses ---- */

/* Requests complete in the order of the array, or nearly. */
static struct trace_status done_of(struct call *c, int64_t number)
{
    uint32_t count = c->lane->done_count;
    for (uint32_t i = 0, at = c->next_done; i < count; i++, at++) {
        at = at < count ? at : 0;
        if (c->lane->done[at].number == number) {
            c->next_done = at + 1;
            return c->lane->done[at].status;
        }
    }
    return (struct trace_status){0};
}

/* The status as the program sees it: for probes, which no observer reports. */
static struct trace_status given_status(const struct call *c, uint64_t word)
{
    const MPI_Status *status = (const MPI_Status *)(uintptr_t)word;
    struct recorder_comm comm;
    if (!status || status == MPI_STATUS_IGNORE || !comm_of(c, &comm))
        return (struct trace_status){0};
    int source = status->MPI_SOURCE;
    if (source >= 0 && (uint32_t)source < (comm.is_inter ? comm.others : comm.size))
        source = (int)recorder_mpi->member(c->self, comm_handle(c), comm.is_inter,
                                           (uint32_t)source);
    return (struct trace_status){source, status->MPI_TAG, recorder_status_bytes(status), 1, 0};
}

static void put_status(struct call *c, const struct trace_arg *kept)
{
    struct trace_status status = {0};
    if (c->has_results && c->lane->done_count)
        status = c->lane->done[0].status;
    else if (c->has_results && !c->lane->request_count)
        status = given_status(c, c->seen->args[kept->position]);
    trace_put_status(&c->lane->stream, &status);
}

/* The statuses of the requests whose indices the call has returned, or of all. */
static void put_statuses(struct call *c)
{
    struct trace_stream *s = &c->lane->stream;
    int indices = does(c)->index;
    int64_t count = !c->has_results ? 0
                    : indices < 0   ? c->lane->request_count
                                    : length_of(c, &c->args[indices]);
    if (count < 0)
        count = 0;
    trace_put_varint(s, (uint64_t)count);
    for (int64_t i = 0; i < count; i++) {
        int64_t at = indices < 0 ? i : item_of(c, (unsigned)indices, i);
        int64_t number = at >= 0 && at < c->lane->request_count ? c->lane->requests[at] : -1;
        struct trace_status status = number < 0 ? (struct trace_status){0} : done_of(c, number);
        trace_put_status(s, &status);
    }
}

/* ---- the rest ---- */

static void put_array(struct call *c, const struct trace_arg *kept, const struct mpi_arg *arg,
                      uint64_t word)
{
    int64_t few[ITEMS_ON_STACK], *items = few;
    int64_t count = is_readable(c, kept, arg, word) ? length_of(c, arg) : 0;
    if (count < 0)
        count = 0; /* MPI_UNDEFINED */
    if (count > ITEMS_ON_STACK)
        items = mem_alloc((size_t)count * sizeof *items);
    struct mpi_arg item = {.pointers = 1, .bytes = arg->bytes};
    for (int64_t i = 0; i < count; i++) {
        uint64_t at = word + (uint64_t)i * arg->bytes;
        items[i] = kept->class == TRACE_HANDLE ? handle_number(c, arg->role, &item, at)
                                               : recorder_word(&item, at);
    }
    trace_put_array(&c->lane->stream, items, (size_t)count);
    if (items != few)
        mem_free(items);
}

static int64_t made_number(struct call *c, const struct trace_arg *kept, const struct mpi_arg *arg,
                           uint64_t word)
{
    if (c->seen->is_early)
        return recorder_reserve(c->r, c->lane, arg->role);
    if (!c->has_results)
        return -1;
    if (!calls_makes_request(does(c)))
        return recorder_new_number(c->r, c->self, c->seen, kept->position);
    return arg->role == MPI_ROLE_COMM
               ? recorder_begin_comm(c->r, c->self, comm_handle(c), (const void *)(uintptr_t)word)
               : -1;
}

static void put_handle(struct call *c, const struct trace_arg *kept, const struct mpi_arg *arg,
                       uint64_t word)
{
    int64_t number;
    if (kept->is_out && !kept->is_in)
        number = made_number(c, kept, arg, word);
    else
        number = arg->pointers ? c->lane->given : handle_number(c, arg->role, arg, word);
    trace_put_varint(&c->lane->stream, (uint64_t)(number + 1));
}

static void put_arg(struct call *c, const struct trace_arg *kept)
{
    const struct mpi_arg *arg = &c->args[kept->position];
    uint64_t word = c->seen->args[kept->position];
    struct trace_stream *s = &c->lane->stream;
    const char *text = (const char *)(uintptr_t)word;
    switch (kept->class) {
    case TRACE_REQUEST:
        put_requests(c, kept);
        break;
    case TRACE_STATUS:
        if (kept->is_array)
            put_statuses(c);
        else
            put_status(c, kept);
        break;
    case TRACE_BUFFER:
        trace_put_varint(s, recorder_buffer((uintptr_t)text));
        break;
    case TRACE_TEXT:
        trace_put_text(s, text, text ? strnlen(text, TEXT_MOST) : 0);
        break;
    default:
        if (kept->is_array)
            put_array(c, kept, arg, word);
        else if (kept->class == TRACE_HANDLE)
            put_handle(c, kept, arg, word);
        else
            trace_put_number(s, arg->pointers && !kept->is_in && !c->has_results &&
                                        (c->seen->is_early || kept->position != does(c)->flag)
                                    ? 0
                                    : recorder_word(arg, word));
    }
}

/* A test that found nothing sets nothing but its flag. */
static int has_results(const struct call *c)
{
    int flag = does(c)->flag;
    if (c->seen->is_early || !recorder_has_done(c->seen->rc))
        return 0;
    return flag < 0 || !c->args[flag].pointers || !c->seen->args[flag] ||
           recorder_word(&c->args[flag], c->seen->args[flag]) != 0;
}

void recorder_args(struct recorder_rank *r, struct recorder_lane *lane, struct mpi_rank *self,
                   const struct trace_fn *fn, const struct recorder_call *seen)
{
    struct call c = call_of(r, lane, self, fn, seen);
    c.has_results = has_results(&c);
    for (unsigned i = 0; i < fn->count; i++)
        put_arg(&c, &fn->args[i]);
}
