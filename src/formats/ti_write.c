/*
 * ti_write.c - writes a trace for SimGrid's replay (ti.h).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/path.h"
#include "formats/table.h"
#include "formats/textfile.h"
#include "formats/ti.h"
#include "formats/walk.h"

static const struct ti_coll colls[] = {
    {"barrier", "MPI_Barrier", TI_BARRIER},
    {"bcast", "MPI_Bcast", TI_ROOTED},
    {"reduce", "MPI_Reduce", TI_REDUCE},
    {"allreduce", "MPI_Allreduce", TI_REDUCED},
    {"scan", "MPI_Scan", TI_REDUCED},
    {"exscan", "MPI_Exscan", TI_REDUCED},
    {"alltoall", "MPI_Alltoall", TI_EXCHANGE},
    {"allgather", "MPI_Allgather", TI_EXCHANGE},
    {"gather", "MPI_Gather", TI_GATHER},
    {"scatter", "MPI_Scatter", TI_GATHER},
    {"gatherv", "MPI_Gatherv", TI_GATHERV},
    {"allgatherv", "MPI_Allgatherv", TI_ALLGATHERV},
    {"scatterv", "MPI_Scatterv", TI_SCATTERV},
    {"alltoallv", "MPI_Alltoallv", TI_ALLTOALLV},
    {"reducescatter", "MPI_Reduce_scatter", TI_REDUCE_SCATTER},
};

const struct ti_coll *ti_coll_at(size_t i)
{
    return i < sizeof colls / sizeof colls[0] ? &colls[i] : NULL;
}

/* By SimGrid's number. */
static const struct {
    const char *name;
    unsigned size;
} types[] = {
    {"MPI_DOUBLE", 8},         {"MPI_INT", 4},
    {"MPI_CHAR", 1},           {"MPI_SHORT", 2},
    {"MPI_LONG", 8},           {"MPI_FLOAT", 4},
    {"MPI_BYTE", 1},           {"MPI_LONG_LONG", 8},
    {"MPI_SIGNED_CHAR", 1},    {"MPI_UNSIGNED_CHAR", 1},
    {"MPI_UNSIGNED_SHORT", 2}, {"MPI_UNSIGNED", 4},
    {"MPI_UNSIGNED_LONG", 8},  {"MPI_UNSIGNED_LONG_LONG", 8},
    {"MPI_LONG_DOUBLE", 16},   {"MPI_WCHAR", 4},
    {"MPI_C_BOOL", 1},         {"MPI_INT8_T", 1},
    {"MPI_INT16_T", 2},        {"MPI_INT32_T", 4},
    {"MPI_INT64_T", 8},        {"MPI_UINT8_T", 1},
    {"MPI_UINT16_T", 2},       {"MPI_UINT32_T", 4},
    {"MPI_UINT64_T", 8},
};
#define TYPES ((int)(sizeof types / sizeof types[0]))
#define BYTE 6

/* SimGrid's number of a datatype, or -1. */
static int type_number(const char *name)
{
    for (int i = 0; i < TYPES; i++)
        if (strcmp(types[i].name, name) == 0)
            return i;
    return -1;
}

const char *ti_type_name(int number, unsigned *size)
{
    if (number < 0 || number >= TYPES)
        return NULL;
    *size = types[number].size;
    return types[number].name;
}

/* ---- counts ---- */

struct ti {
    struct textfile file;
    char *folder; /* of the files of ranks */
    struct buf index;
    int64_t last; /* end of the last call */
};

/* A count of items, as SimGrid would count them: in its own datatype, or in bytes. */
struct amount {
    int type;
    int is_bytes;
};

static struct amount type_of(const struct walk *w, const struct trace_event *e, int arg)
{
    int64_t number = arg >= 0 ? e->args[arg].number : -1;
    const struct trace_local_item *item = trace_local_find(&w->local, TRACE_DEFINE_TYPE, number);
    int type = item ? type_number(item->text) : -1;
    return (struct amount){type < 0 ? BYTE : type, type < 0};
}

static uint64_t count_of(struct walk *w, const struct trace_event *e, int64_t count, int type,
                         struct amount a)
{
    if (count < 0)
        return 0;
    return a.is_bytes && type >= 0 ? actions_bytes(&w->actions, count, e->args[type].number)
                                   : (uint64_t)count;
}

/* Appends all items of an array, one for each rank. */
static uint64_t add_counts(struct buf *out, struct walk *w, const struct trace_event *e, int at,
                           int type, struct amount a)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < w->trace->header.ranks; i++) {
        int64_t count = at >= 0 && i < e->args[at].count ? e->args[at].items[i] : 0;
        uint64_t n = count_of(w, e, count, type, a);
        buf_addf(out, " %" PRIu64, n);
        sum += n;
    }
    return sum;
}

static uint64_t add_array(struct buf *out, struct walk *w, const struct trace_event *e, int at,
                          int type, struct amount a)
{
    struct buf items;
    buf_init(&items);
    uint64_t sum = add_counts(&items, w, e, at, type, a);
    buf_addf(out, " %" PRIu64 "%s", sum, buf_str(&items));
    buf_fini(&items);
    return sum;
}

/* ---- collectives ---- */

/* What the rank passes to a collective; with MPI_IN_PLACE that is in its receive buffer. */
static uint64_t own_count(struct walk *w, const struct trace_event *e, const struct mpi_effect *s,
                          struct amount a)
{
    int64_t count = calls_send_count(s, e, w->rank);
    return count < 0 ? 0 : count_of(w, e, count, calls_meant(s, e, s->send_type), a);
}

static void put_coll(struct ti *ti, struct walk *w, const struct trace_event *e,
                     const struct ti_coll *coll)
{
    const struct mpi_effect *s = &w->shapes[e->fn];
    struct buf *out = &ti->file.text;
    int send_type = calls_meant(s, e, s->send_type),
        send_counts = calls_meant(s, e, s->send_counts);
    struct amount send = type_of(w, e, send_type), recv = type_of(w, e, s->recv_type);
    uint64_t sent = own_count(w, e, s, send),
             received = s->recv_count < 0
                            ? 0
                            : count_of(w, e, e->args[s->recv_count].number, s->recv_type, recv);
    int64_t root = s->root >= 0 ? e->args[s->root].number : 0;
    buf_addf(out, "%" PRIu64 " %s", w->rank, coll->name);
    switch (coll->form) {
    case TI_BARRIER:
        break;
    case TI_ROOTED:
        buf_addf(out, " %" PRIu64 " %" PRId64 " %d", sent, root, send.type);
        break;
    case TI_REDUCE:
        buf_addf(out, " %" PRIu64 " 0 %" PRId64 " %d", sent, root, send.type);
        break;
    case TI_REDUCED:
        buf_addf(out, " %" PRIu64 " 0 %d", sent, send.type);
        break;
    case TI_EXCHANGE:
        buf_addf(out, " %" PRIu64 " %" PRIu64 " %d %d", sent, received, send.type, recv.type);
        break;
    case TI_GATHER:
        buf_addf(out, " %" PRIu64 " %" PRIu64 " %" PRId64 " %d %d", sent, received, root, send.type,
                 recv.type);
        break;
    case TI_GATHERV:
        buf_addf(out, " %" PRIu64, sent);
        add_counts(out, w, e, s->recv_counts, s->recv_type, recv);
        buf_addf(out, " %" PRId64 " %d %d", root, send.type, recv.type);
        break;
    case TI_ALLGATHERV:
        buf_addf(out, " %" PRIu64, sent);
        add_counts(out, w, e, s->recv_counts, s->recv_type, recv);
        buf_addf(out, " %d %d", send.type, recv.type);
        break;
    case TI_SCATTERV:
        add_counts(out, w, e, s->send_counts, s->send_type, send);
        buf_addf(out, " %" PRIu64 " %" PRId64 " %d %d", received, root, send.type, recv.type);
        break;
    case TI_ALLTOALLV:
        add_array(out, w, e, send_counts, send_type, send);
        add_array(out, w, e, s->recv_counts, s->recv_type, recv);
        buf_addf(out, " %d %d", send.type, recv.type);
        break;
    case TI_REDUCE_SCATTER:
        add_counts(out, w, e, s->recv_counts, s->recv_type, recv);
        buf_addf(out, " 0 %d", recv.type);
        break;
    }
    buf_addc(out, '\n');
}

static void coll(struct ti *ti, struct walk *w, const struct trace_event *e, const struct action *a)
{
    const char *name = w->trace->header.schema->fns[e->fn].name;
    if (a->does->makes || a->does->frees) {
        format_note(w->notes, "left out: %s: a time-independent trace has only MPI_COMM_WORLD",
                    name);
        return;
    }
    if (!a->comm || a->comm->size != w->trace->header.ranks || a->comm->other_size) {
        format_note(w->notes, "left out: collectives on communicators other than MPI_COMM_WORLD");
        return;
    }
    for (size_t i = 0; i < sizeof colls / sizeof colls[0]; i++)
        if (strcmp(colls[i].function, mpi_fn_name[a->does->base]) == 0) {
            put_coll(ti, w, e, &colls[i]);
            return;
        }
    format_note(w->notes, "left out: %s: SimGrid's replay does not know it", name);
}

/* ---- messages ---- */

static void message(struct ti *ti, struct walk *w, const struct trace_event *e,
                    const struct action *a, const char *name)
{
    const struct mpi_effect *s = &w->shapes[e->fn];
    int is_send = a->kind == ACTION_SEND || a->kind == ACTION_ISEND;
    int type = is_send ? s->send_type : s->recv_type;
    struct amount amount = type_of(w, e, type);
    unsigned size = 1;
    ti_type_name(amount.type, &size);
    if (!walk_is_message(w, a))
        return;
    if (a->bytes % size != 0)
        amount.type = BYTE, size = 1;
    buf_addf(&ti->file.text, "%" PRIu64 " %s %" PRId64 " %" PRId64 " %" PRIu64 " %d\n", w->rank,
             name, a->world, a->tag, a->bytes / size, amount.type);
}

static void wait_or_test(struct ti *ti, struct walk *w, const struct action *a, const char *name,
                         int is_send)
{
    if (a->world < 0 || a->tag < 0)
        return; /* it was counted when it was started */
    buf_addf(&ti->file.text, "%" PRIu64 " %s %" PRIu64 " %" PRIu64 " %" PRId64 "\n", w->rank, name,
             is_send ? w->rank : (uint64_t)a->world, is_send ? (uint64_t)a->world : w->rank,
             a->tag);
}

static void put_action(struct ti *ti, struct walk *w, const struct trace_event *e,
                       const struct action *a)
{
    switch (a->kind) {
    case ACTION_SEND:
        message(ti, w, e, a, "send");
        break;
    case ACTION_RECV:
        message(ti, w, e, a, "recv");
        break;
    case ACTION_ISEND:
        message(ti, w, e, a, "isend");
        break;
    case ACTION_IRECV:
        message(ti, w, e, a, "irecv");
        break;
    case ACTION_ISEND_DONE:
    case ACTION_IRECV_DONE:
        wait_or_test(ti, w, a, "wait", a->kind == ACTION_ISEND_DONE);
        break;
    case ACTION_TESTED:
        format_note(w->notes, "left out: tests that found nothing");
        break;
    case ACTION_CANCELLED:
        format_note(w->notes, "left out: cancelled messages");
        break;
    case ACTION_ICOLL:
        format_note(w->notes, "left out: nonblocking collectives");
        break;
    case ACTION_COLL:
        coll(ti, w, e, a);
        break;
    default:
        break;
    }
}

/* ---- ranks ---- */

static int put_event(void *state, struct walk *w, const struct trace_event *e, struct err *err)
{
    struct ti *ti = state;
    if (!walk_is_call(w, e))
        return 0;
    int64_t enter = walk_time(w, e->enter), gap = enter - ti->last;
    if (gap > 0)
        buf_addf(&ti->file.text, "%" PRIu64 " compute %" PRId64 ".%03" PRId64 "\n", w->rank,
                 gap / 1000, gap % 1000);
    ti->last = walk_time(w, e->leave);
    if (w->shapes[e->fn].kind == MPI_DOES_INIT)
        buf_addf(&ti->file.text, "%" PRIu64 " init\n", w->rank);
    else if (w->shapes[e->fn].kind == MPI_DOES_FINALIZE)
        buf_addf(&ti->file.text, "%" PRIu64 " finalize\n", w->rank);
    else
        walk_note_left_out(w, e);
    for (size_t i = 0; i < w->actions.count; i++)
        put_action(ti, w, e, &w->actions.list[i]);
    return textfile_flush(&ti->file, err);
}

static int begin_rank(void *state, struct walk *w, struct err *err)
{
    struct ti *ti = state;
    size_t length = strlen(ti->folder) + 64;
    char *path = mem_alloc(length);
    snprintf(path, length, "%s/rank-%" PRIu64 ".txt", ti->folder, w->rank);
    ti->last = 0;
    buf_addf(&ti->index, "%s\n", path);
    int rc = textfile_open(&ti->file, path, err);
    mem_free(path);
    return rc;
}

static int end_rank(void *state, struct walk *w, struct err *err)
{
    (void)w;
    return textfile_close(&((struct ti *)state)->file, 1, err);
}

int ti_write(struct trace *t, const char *path, struct format_notes *notes, struct err *err)
{
    static const struct walk_visitor visitor = {.begin = begin_rank,
                                                .event = put_event,
                                                .end = end_rank};
    struct ti ti = {0};
    size_t length = strlen(path) + sizeof "_files";
    ti.folder = mem_alloc(length);
    snprintf(ti.folder, length, "%s_files", path);
    if (path_make_folder(ti.folder, err) != 0) {
        mem_free(ti.folder);
        return err->code;
    }
    buf_init(&ti.index);
    int rc = walk_trace(t, &visitor, &ti, notes, err);
    if (rc == 0)
        rc = buf_write_file(&ti.index, path, err);
    else if (ti.file.path)
        textfile_close(&ti.file, 0, NULL);
    buf_fini(&ti.index);
    mem_free(ti.folder);
    return rc;
}
