/*
 * otf2_out_calls.c - a call as records of OTF2: ENTER, its arguments, what it did, LEAVE.
 */
#include <stdio.h>
#include <string.h>

#include "formats/otf2_out.h"

const char *const otf2_status_parts[OTF2_STATUS_PARTS] = {"", ".source", ".tag", ".bytes"};

static OTF2_RegionRole role_of(const struct mpi_effect *s)
{
    switch (s->kind) {
    case MPI_DOES_SEND:
    case MPI_DOES_RECEIVE:
    case MPI_DOES_EXCHANGE:
    case MPI_DOES_COMPLETE:
    case MPI_DOES_START:
    case MPI_DOES_PROBE:
        return OTF2_REGION_ROLE_POINT2POINT;
    case MPI_DOES_RMA:
    case MPI_DOES_EPOCH:
        return OTF2_REGION_ROLE_RMA;
    case MPI_DOES_FILE:
        return OTF2_REGION_ROLE_FILE_IO;
    case MPI_DOES_COLLECTIVE:
        break;
    default:
        return OTF2_REGION_ROLE_FUNCTION;
    }
    switch (s->makes || s->frees ? MPI_CLASS_GROUP : s->class) {
    case MPI_CLASS_BARRIER:
        return OTF2_REGION_ROLE_BARRIER;
    case MPI_CLASS_ONE_TO_ALL:
        return OTF2_REGION_ROLE_COLL_ONE2ALL;
    case MPI_CLASS_ALL_TO_ONE:
        return OTF2_REGION_ROLE_COLL_ALL2ONE;
    case MPI_CLASS_ALL_TO_ALL:
        return OTF2_REGION_ROLE_COLL_ALL2ALL;
    default:
        return OTF2_REGION_ROLE_COLL_OTHER;
    }
}

/* ---- arguments ---- */

void otf2_out_number(struct otf2_out *o, OTF2_TimeStamp t, const char *name, int64_t value)
{
    OTF2_EvtWriter_ParameterInt(o->events, NULL, t,
                                otf2_out_parameter(o, name, OTF2_PARAMETER_TYPE_INT64), value);
}

static void put_text(struct otf2_out *o, OTF2_TimeStamp t, const char *name, const char *text,
                     size_t length)
{
    OTF2_EvtWriter_ParameterString(o->events, NULL, t,
                                   otf2_out_parameter(o, name, OTF2_PARAMETER_TYPE_STRING),
                                   otf2_out_string(o, text, length));
}

static void put_status(struct otf2_out *o, OTF2_TimeStamp t, const char *name,
                       const struct trace_status *s)
{
    const int64_t parts[OTF2_STATUS_PARTS] = {s->is_set | s->is_cancelled << 1, s->source, s->tag,
                                              (int64_t)s->bytes};
    char text[64];
    for (unsigned i = 0; i < (s->is_set ? OTF2_STATUS_PARTS : 1u); i++) {
        snprintf(text, sizeof text, "%s%s", name, otf2_status_parts[i]);
        otf2_out_number(o, t, text, parts[i]);
    }
}

static void put_arg(struct otf2_out *o, OTF2_TimeStamp t, const struct trace_fn *fn,
                    unsigned fn_number, unsigned i, const struct trace_value *v)
{
    const struct trace_arg *arg = &fn->args[i];
    if (arg->class == TRACE_TEXT) {
        put_text(o, t, arg->name, v->text, v->count);
    } else if (arg->class == TRACE_STATUS) {
        for (uint64_t k = 0; k < (arg->is_array ? v->count : 1); k++)
            put_status(o, t, arg->name, &v->statuses[k]);
    } else {
        uint32_t *number = &o->parameter_of[fn_number * TRACE_ARGS_MAX + i];
        if (!*number)
            *number = otf2_out_parameter(o, arg->name, OTF2_PARAMETER_TYPE_INT64) + 1;
        for (uint64_t k = 0; k < (arg->is_array ? v->count : 1); k++)
            OTF2_EvtWriter_ParameterInt(o->events, NULL, t, *number - 1,
                                        arg->is_array ? v->items[k] : v->number);
    }
}

static void put_args(struct otf2_out *o, struct walk *w, const struct trace_event *e,
                     OTF2_TimeStamp t)
{
    const struct trace_fn *fn = &w->trace->header.schema->fns[e->fn];
    const char *site = e->site ? trace_definitions_site(&w->trace->definitions, e->site) : NULL;
    for (unsigned i = 0; i < e->argc; i++)
        put_arg(o, t, fn, e->fn, i, &e->args[i]);
    if (e->failed)
        otf2_out_number(o, t, OTF2_OUT_ERROR, e->failed);
    if (site)
        put_text(o, t, OTF2_OUT_SITE, site, strlen(site));
}

/* ---- what calls did ---- */

static OTF2_CollectiveOp coll_of(const struct action *a)
{
    static const struct {
        unsigned short base;
        OTF2_CollectiveOp op;
    } ops[] = {
        {MPI_FN_BARRIER, OTF2_COLLECTIVE_OP_BARRIER},
        {MPI_FN_BCAST, OTF2_COLLECTIVE_OP_BCAST},
        {MPI_FN_GATHER, OTF2_COLLECTIVE_OP_GATHER},
        {MPI_FN_GATHERV, OTF2_COLLECTIVE_OP_GATHERV},
        {MPI_FN_SCATTER, OTF2_COLLECTIVE_OP_SCATTER},
        {MPI_FN_SCATTERV, OTF2_COLLECTIVE_OP_SCATTERV},
        {MPI_FN_ALLGATHER, OTF2_COLLECTIVE_OP_ALLGATHER},
        {MPI_FN_ALLGATHERV, OTF2_COLLECTIVE_OP_ALLGATHERV},
        {MPI_FN_ALLTOALL, OTF2_COLLECTIVE_OP_ALLTOALL},
        {MPI_FN_ALLTOALLV, OTF2_COLLECTIVE_OP_ALLTOALLV},
        {MPI_FN_ALLTOALLW, OTF2_COLLECTIVE_OP_ALLTOALLW},
        {MPI_FN_REDUCE, OTF2_COLLECTIVE_OP_REDUCE},
        {MPI_FN_ALLREDUCE, OTF2_COLLECTIVE_OP_ALLREDUCE},
        {MPI_FN_REDUCE_SCATTER, OTF2_COLLECTIVE_OP_REDUCE_SCATTER},
        {MPI_FN_REDUCE_SCATTER_BLOCK, OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK},
        {MPI_FN_SCAN, OTF2_COLLECTIVE_OP_SCAN},
        {MPI_FN_EXSCAN, OTF2_COLLECTIVE_OP_EXSCAN},
        {MPI_FN_WIN_ALLOCATE, OTF2_COLLECTIVE_OP_CREATE_HANDLE_AND_ALLOCATE},
        {MPI_FN_WIN_ALLOCATE_SHARED, OTF2_COLLECTIVE_OP_CREATE_HANDLE_AND_ALLOCATE},
    };
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        if (ops[i].base == a->does->base)
            return ops[i].op;
    return a->does->frees ? OTF2_COLLECTIVE_OP_DESTROY_HANDLE : OTF2_COLLECTIVE_OP_CREATE_HANDLE;
}

static int is_known(struct otf2_out *o, struct walk *w, const struct action *a)
{
    (void)o;
    if (a->kind <= ACTION_IRECV_DONE && a->kind != ACTION_ISEND_DONE && a->kind != ACTION_IRECV &&
        (a->peer < 0 || !a->comm)) {
        format_note(w->notes, "left out: messages whose peer or communicator is not known");
        return 0;
    }
    if (a->kind >= ACTION_COLL && a->does->class == MPI_CLASS_NEIGHBOURS) {
        format_note(w->notes, "neighbourhood collectives are regions with parameters only");
        return 0;
    }
    return 1;
}

/* Writes what a call does at its beginning: what it sends. */
static void put_begin(struct otf2_out *o, struct walk *w, const struct action *a, OTF2_TimeStamp t)
{
    uint32_t comm = otf2_out_comm(w->trace, a->comm);
    if (!is_known(o, w, a))
        return;
    if (a->kind == ACTION_SEND)
        OTF2_EvtWriter_MpiSend(o->events, NULL, t, (uint32_t)a->peer, comm, (uint32_t)a->tag,
                               a->bytes);
    else if (a->kind == ACTION_ISEND)
        OTF2_EvtWriter_MpiIsend(o->events, NULL, t, (uint32_t)a->peer, comm, (uint32_t)a->tag,
                                a->bytes, (uint64_t)a->request);
    else if (a->kind == ACTION_COLL)
        OTF2_EvtWriter_MpiCollectiveBegin(o->events, NULL, t);
}

/* Writes what a call does when it returns. */
static void put_end(struct otf2_out *o, struct walk *w, const struct action *a, OTF2_TimeStamp t)
{
    uint32_t comm = otf2_out_comm(w->trace, a->comm);
    uint32_t root = a->root < 0 ? OTF2_UNDEFINED_UINT32 : (uint32_t)a->root;
    uint64_t request = (uint64_t)a->request;
    if (a->kind != ACTION_SEND && a->kind != ACTION_ISEND && !is_known(o, w, a))
        return;
    switch (a->kind) {
    case ACTION_RECV:
        OTF2_EvtWriter_MpiRecv(o->events, NULL, t, (uint32_t)a->peer, comm, (uint32_t)a->tag,
                               a->bytes);
        break;
    case ACTION_ISEND_DONE:
        OTF2_EvtWriter_MpiIsendComplete(o->events, NULL, t, request);
        break;
    case ACTION_IRECV:
        OTF2_EvtWriter_MpiIrecvRequest(o->events, NULL, t, request);
        break;
    case ACTION_IRECV_DONE:
        OTF2_EvtWriter_MpiIrecv(o->events, NULL, t, (uint32_t)a->peer, comm, (uint32_t)a->tag,
                                a->bytes, request);
        break;
    case ACTION_TESTED:
        OTF2_EvtWriter_MpiRequestTest(o->events, NULL, t, request);
        break;
    case ACTION_CANCELLED:
        OTF2_EvtWriter_MpiRequestCancelled(o->events, NULL, t, request);
        break;
    case ACTION_COLL:
        OTF2_EvtWriter_MpiCollectiveEnd(o->events, NULL, t, coll_of(a), comm, root, a->sent,
                                        a->received);
        break;
    case ACTION_ICOLL:
        OTF2_EvtWriter_NonBlockingCollectiveRequest(o->events, NULL, t, request);
        break;
    case ACTION_ICOLL_DONE:
        OTF2_EvtWriter_NonBlockingCollectiveComplete(o->events, NULL, t, coll_of(a), comm, root,
                                                     a->sent, a->received, request);
        break;
    default:
        break;
    }
}

/* ---- records ---- */

OTF2_TimeStamp otf2_out_time(struct otf2_out *o, struct walk *w, int64_t ticks)
{
    if (ticks < 0) {
        format_note(w->notes, "times before zero were set to zero");
        ticks = 0;
    }
    if (ticks < o->last) {
        format_note(w->notes, "times that went backwards were set to that of the record before");
        ticks = o->last;
    }
    o->last = ticks;
    if (ticks > o->end)
        o->end = ticks;
    return (OTF2_TimeStamp)ticks;
}

void otf2_out_call(struct otf2_out *o, struct walk *w, const struct trace_event *e)
{
    const struct trace_fn *fn = &w->trace->header.schema->fns[e->fn];
    if (!o->region_of[e->fn])
        o->region_of[e->fn] = otf2_out_region(o, fn->name, role_of(&w->shapes[e->fn]), 1) + 1;
    uint32_t region = o->region_of[e->fn] - 1;
    OTF2_TimeStamp t = otf2_out_time(o, w, e->enter);
    OTF2_EvtWriter_Enter(o->events, NULL, t, region);
    put_args(o, w, e, t);
    for (size_t i = 0; i < w->actions.count; i++)
        put_begin(o, w, &w->actions.list[i], t);
    otf2_out_rma(o, w, e, 0, t);
    t = otf2_out_time(o, w, e->leave);
    for (size_t i = 0; i < w->actions.count; i++)
        put_end(o, w, &w->actions.list[i], t);
    otf2_out_rma(o, w, e, 1, t);
    OTF2_EvtWriter_Leave(o->events, NULL, t, region);
}

void otf2_out_open(struct otf2_out *o, struct walk *w, const struct trace_event *e)
{
    int64_t enter;
    const struct trace_fn *f = walk_open_call(w, e, &enter);
    if (!f)
        return;
    const struct mpi_effect *shape = &w->shapes[f - w->trace->header.schema->fns];
    OTF2_EvtWriter_Enter(o->events, NULL, otf2_out_time(o, w, enter),
                         otf2_out_region(o, f->name, role_of(shape), 1));
}
