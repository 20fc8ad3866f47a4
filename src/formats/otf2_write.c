/*
 * otf2_write.c - a trace as an OTF2 archive (otf2_out.h), for Score-P's tools, Vampir and Scalasca.
 *
 * One location after the other is written and closed, so that few files are open; definitions follow at the end.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/rng.h"
#include "formats/otf2.h"
#include "formats/otf2_out.h"

const char *const otf2_status_parts[OTF2_STATUS_PARTS] = {"", ".source", ".tag", ".bytes"};

/* ---- definitions by name ---- */

static uint64_t hash(const char *text, size_t length, uint64_t state)
{
    for (size_t i = 0; i < length; i++) {
        state = state * RNG_SPLITMIX_STEP ^ (uint8_t)text[i];
        state = rng_splitmix(&state);
    }
    return state;
}

static uint32_t intern(struct otf2_names *names, const char *text, size_t length, uint64_t kind,
                       int *is_new)
{
    uint64_t *number = map_insert(&names->by_hash, hash(text, length, kind + length), is_new);
    if (*is_new) {
        ARRAY_EXTEND(names->items, names->count);
        char *copy = mem_alloc(length + 1);
        memcpy(copy, text, length);
        copy[length] = '\0';
        names->items[names->count++] = (struct otf2_name){.text = copy};
        *number = names->count;
    }
    return (uint32_t)*number - 1;
}

uint32_t otf2_out_string(struct otf2_out *o, const char *text, size_t length)
{
    int is_new;
    const char *end = memchr(text, '\0', length); /* strings of OTF2 end with a NUL */
    return intern(&o->strings, text, end ? (size_t)(end - text) : length, 0, &is_new);
}

uint32_t otf2_out_region(struct otf2_out *o, const char *name, OTF2_RegionRole role, int is_mpi)
{
    int is_new;
    uint32_t number = intern(&o->regions, name, strlen(name), (uint64_t)is_mpi, &is_new);
    if (is_new) {
        struct otf2_name *item = &o->regions.items[number];
        item->string = otf2_out_string(o, name, strlen(name));
        item->kind = (uint8_t)role;
        item->is_mpi = (uint8_t)is_mpi;
    }
    return number;
}

uint32_t otf2_out_parameter(struct otf2_out *o, const char *name, OTF2_ParameterType type)
{
    int is_new;
    uint32_t number = intern(&o->parameters, name, strlen(name), type, &is_new);
    if (is_new) {
        o->parameters.items[number].string = otf2_out_string(o, name, strlen(name));
        o->parameters.items[number].kind = (uint8_t)type;
    }
    return number;
}

static void names_fini(struct otf2_names *names)
{
    for (uint32_t i = 0; i < names->count; i++)
        mem_free(names->items[i].text);
    mem_free(names->items);
    map_fini(&names->by_hash);
}

uint32_t otf2_out_comm(const struct trace *t, const struct trace_local_item *item)
{
    if (!item)
        return OTF2_UNDEFINED_COMM;
    if (item->identity == TRACE_COMM_WORLD)
        return 0;
    if (item->identity >> 63)
        return 1;
    const struct trace_comm *c = trace_definitions_comm(&t->definitions, item->identity);
    return c ? (uint32_t)(c - t->definitions.comms) + 2 : OTF2_UNDEFINED_COMM;
}

static OTF2_RegionRole role_of(const struct trace_fn *fn, const struct call_shape *s)
{
    switch (s->kind) {
    case CALL_SEND:
    case CALL_RECV:
    case CALL_SENDRECV:
    case CALL_COMPLETE:
    case CALL_START:
    case CALL_PROBE:
        return OTF2_REGION_ROLE_POINT2POINT;
    case CALL_COLLECTIVE:
        switch (s->coll) {
        case COLL_BARRIER:
            return OTF2_REGION_ROLE_BARRIER;
        case COLL_BCAST:
        case COLL_SCATTER:
        case COLL_SCATTERV:
            return OTF2_REGION_ROLE_COLL_ONE2ALL;
        case COLL_GATHER:
        case COLL_GATHERV:
        case COLL_REDUCE:
            return OTF2_REGION_ROLE_COLL_ALL2ONE;
        case COLL_SCAN:
        case COLL_EXSCAN:
        case COLL_NEIGHBOR:
        case COLL_CREATE:
        case COLL_DESTROY:
            return OTF2_REGION_ROLE_COLL_OTHER;
        default:
            return OTF2_REGION_ROLE_COLL_ALL2ALL;
        }
    case CALL_RMA:
        return OTF2_REGION_ROLE_RMA;
    default:
        return strncmp(call_bare_name(fn), "File_", 5) == 0 ? OTF2_REGION_ROLE_FILE_IO
                                                            : OTF2_REGION_ROLE_FUNCTION;
    }
}

/* ---- arguments ---- */

static void put_int(struct otf2_out *o, OTF2_TimeStamp t, const char *name, int64_t value)
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
        put_int(o, t, text, parts[i]);
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
        put_int(o, t, OTF2_OUT_ERROR, e->failed);
    if (site)
        put_text(o, t, OTF2_OUT_SITE, site, strlen(site));
}

/* ---- what calls did ---- */

static OTF2_CollectiveOp coll_of(const struct action *a, const struct walk *w,
                                 const struct trace_event *e)
{
    static const OTF2_CollectiveOp ops[COLL_KINDS] = {
        [COLL_BARRIER] = OTF2_COLLECTIVE_OP_BARRIER,
        [COLL_BCAST] = OTF2_COLLECTIVE_OP_BCAST,
        [COLL_GATHER] = OTF2_COLLECTIVE_OP_GATHER,
        [COLL_GATHERV] = OTF2_COLLECTIVE_OP_GATHERV,
        [COLL_SCATTER] = OTF2_COLLECTIVE_OP_SCATTER,
        [COLL_SCATTERV] = OTF2_COLLECTIVE_OP_SCATTERV,
        [COLL_ALLGATHER] = OTF2_COLLECTIVE_OP_ALLGATHER,
        [COLL_ALLGATHERV] = OTF2_COLLECTIVE_OP_ALLGATHERV,
        [COLL_ALLTOALL] = OTF2_COLLECTIVE_OP_ALLTOALL,
        [COLL_ALLTOALLV] = OTF2_COLLECTIVE_OP_ALLTOALLV,
        [COLL_ALLTOALLW] = OTF2_COLLECTIVE_OP_ALLTOALLW,
        [COLL_REDUCE] = OTF2_COLLECTIVE_OP_REDUCE,
        [COLL_ALLREDUCE] = OTF2_COLLECTIVE_OP_ALLREDUCE,
        [COLL_REDUCE_SCATTER] = OTF2_COLLECTIVE_OP_REDUCE_SCATTER,
        [COLL_REDUCE_SCATTER_BLOCK] = OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK,
        [COLL_SCAN] = OTF2_COLLECTIVE_OP_SCAN,
        [COLL_EXSCAN] = OTF2_COLLECTIVE_OP_EXSCAN,
        [COLL_CREATE] = OTF2_COLLECTIVE_OP_CREATE_HANDLE,
        [COLL_DESTROY] = OTF2_COLLECTIVE_OP_DESTROY_HANDLE,
    };
    int allocates = strstr(w->trace->header.schema->fns[e->fn].name, "_allocate") != NULL;
    return allocates ? OTF2_COLLECTIVE_OP_CREATE_HANDLE_AND_ALLOCATE : ops[a->coll];
}

static int is_known(struct otf2_out *o, struct walk *w, const struct action *a)
{
    (void)o;
    if (a->kind <= ACTION_IRECV_DONE && a->kind != ACTION_ISEND_DONE && a->kind != ACTION_IRECV &&
        (a->peer < 0 || !a->comm)) {
        format_note(w->notes, "left out: messages whose peer or communicator is not known");
        return 0;
    }
    if (a->kind >= ACTION_COLL && a->coll == COLL_NEIGHBOR) {
        format_note(w->notes, "neighbourhood collectives are regions with parameters only");
        return 0;
    }
    return 1;
}

/* What happens when a call begins: what it sends. */
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

/* And when it returns. */
static void put_end(struct otf2_out *o, struct walk *w, const struct trace_event *e,
                    const struct action *a, OTF2_TimeStamp t)
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
        OTF2_EvtWriter_MpiCollectiveEnd(o->events, NULL, t, coll_of(a, w, e), comm, root, a->sent,
                                        a->received);
        break;
    case ACTION_ICOLL:
        OTF2_EvtWriter_NonBlockingCollectiveRequest(o->events, NULL, t, request);
        break;
    case ACTION_ICOLL_DONE:
        OTF2_EvtWriter_NonBlockingCollectiveComplete(o->events, NULL, t, coll_of(a, w, e), comm,
                                                     root, a->sent, a->received, request);
        break;
    default:
        break;
    }
}

/* ---- records ---- */

OTF2_TimeStamp otf2_out_time(struct otf2_out *o, struct walk *w, int64_t ticks)
{
    if (ticks < 0) {
        format_note(w->notes, "times before zero were moved there");
        ticks = 0;
    }
    if (ticks < o->last) {
        format_note(w->notes, "times that went back were moved to that of the record before");
        ticks = o->last;
    }
    o->last = ticks;
    if (ticks > o->end)
        o->end = ticks;
    return (OTF2_TimeStamp)ticks;
}

static void put_call(struct otf2_out *o, struct walk *w, const struct trace_event *e)
{
    const struct trace_fn *fn = &w->trace->header.schema->fns[e->fn];
    if (!o->region_of[e->fn])
        o->region_of[e->fn] = otf2_out_region(o, fn->name, role_of(fn, &w->shapes[e->fn]), 1) + 1;
    uint32_t region = o->region_of[e->fn] - 1;
    OTF2_TimeStamp t = otf2_out_time(o, w, e->enter);
    OTF2_EvtWriter_Enter(o->events, NULL, t, region);
    put_args(o, w, e, t);
    for (size_t i = 0; i < w->actions.count; i++)
        put_begin(o, w, &w->actions.list[i], t);
    otf2_out_rma(o, w, e, 0, t);
    t = otf2_out_time(o, w, e->leave);
    for (size_t i = 0; i < w->actions.count; i++)
        put_end(o, w, e, &w->actions.list[i], t);
    otf2_out_rma(o, w, e, 1, t);
    OTF2_EvtWriter_Leave(o->events, NULL, t, region);
}

/* A call that did not end is entered and not left. */
static void put_open(struct otf2_out *o, struct walk *w, const struct trace_event *e)
{
    const uint8_t *at = e->payload, *end = at + e->bytes;
    uint64_t fn = 0, since = 0;
    if ((at = trace_varint_get(at, end, &fn)))
        at = trace_varint_get(at, end, &since);
    if (!at || fn >= w->trace->header.schema->count)
        return;
    const struct trace_fn *f = &w->trace->header.schema->fns[fn];
    OTF2_EvtWriter_Enter(o->events, NULL, otf2_out_time(o, w, e->enter - (int64_t)since),
                         otf2_out_region(o, f->name, role_of(f, &w->shapes[fn]), 1));
}

/* The region of a name, to be left again. */
struct open_regions {
    uint32_t *items;
    size_t count;
};

struct writing {
    struct otf2_out out;
    struct open_regions open;
};

static int put_event(void *state, struct walk *w, const struct trace_event *e, struct err *err)
{
    struct writing *writing = state;
    struct otf2_out *o = &writing->out;
    struct open_regions *open = &writing->open;
    uint32_t region;
    (void)err;
    switch (e->head) {
    case TRACE_CALL:
        put_call(o, w, e);
        break;
    case TRACE_REGION_ENTER:
        region = otf2_out_region(o, walk_region(w, e), OTF2_REGION_ROLE_CODE, 0);
        ARRAY_EXTEND(open->items, open->count);
        open->items[open->count++] = region;
        OTF2_EvtWriter_Enter(o->events, NULL, otf2_out_time(o, w, e->enter), region);
        break;
    case TRACE_REGION_LEAVE:
        if (open->count)
            OTF2_EvtWriter_Leave(o->events, NULL, otf2_out_time(o, w, e->enter),
                                 open->items[--open->count]);
        else
            format_note(w->notes, "left out: regions that were left but not entered");
        break;
    case TRACE_OPEN:
        put_open(o, w, e);
        break;
    case TRACE_LOST:
        put_int(o, otf2_out_time(o, w, e->enter), OTF2_OUT_LOST, (int64_t)walk_number(e));
        break;
    default:
        format_note(w->notes, "left out: records of an unknown kind");
    }
    return 0;
}

/* ---- locations ---- */

static int close_location(struct otf2_out *o, struct err *err)
{
    uint64_t events = 0;
    if (!o->events)
        return 0;
    OTF2_EvtWriter_GetNumberOfEvents(o->events, &events);
    o->counts[o->location_count - 1] = events;
    OTF2_ErrorCode rc = OTF2_Archive_CloseEvtWriter(o->archive, o->events);
    o->events = NULL;
    return rc == OTF2_SUCCESS
               ? 0
               : err_set(err, ERR_SYSTEM, "cannot write events: %s", OTF2_Error_GetDescription(rc));
}

static int begin_thread(void *state, struct walk *w, struct err *err)
{
    struct writing *writing = state;
    struct otf2_out *o = &writing->out;
    if (close_location(o, err) != 0)
        return err->code;
    o->last = 0;
    writing->open.count = 0;
    ARRAY_EXTEND(o->counts, o->location_count);
    o->counts[o->location_count++] = 0;
    uint64_t location = w->rank + (uint64_t)w->thread * w->trace->header.ranks;
    OTF2_DefWriter *definitions = OTF2_Archive_GetDefWriter(o->archive, location);
    if (definitions) /* it is empty, but tools want it */
        OTF2_Archive_CloseDefWriter(o->archive, definitions);
    o->events = OTF2_Archive_GetEvtWriter(o->archive, location);
    return o->events ? 0
                     : err_set(err, ERR_SYSTEM, "cannot write events of rank %llu",
                               (unsigned long long)w->rank);
}

static int begin_rank(void *state, struct walk *w, struct err *err)
{
    struct otf2_out *o = &((struct writing *)state)->out;
    otf2_out_rma_reset(o);
    o->location_at[w->rank] = o->location_count;
    o->threads[w->rank] = w->threads;
    if (w->threads)
        return 0;
    o->threads[w->rank] = 1; /* a rank without records has a location, too */
    w->thread = 0;
    return begin_thread(state, w, err);
}

/* ---- the archive ---- */

static OTF2_FlushType before_flush(void *data, OTF2_FileType type, OTF2_LocationRef location,
                                   void *caller, bool final)
{
    (void)data, (void)type, (void)location, (void)caller, (void) final;
    return OTF2_FLUSH;
}

static OTF2_ErrorCode silence(void *data, const char *file, uint64_t line, const char *function,
                              OTF2_ErrorCode code, const char *format, va_list args)
{
    (void)data, (void)file, (void)line, (void)function, (void)format, (void)args;
    return code;
}

void otf2_be_quiet(void)
{
    OTF2_Error_RegisterCallback(silence, NULL);
}

/* "x/run.otf2" is archive "run" in folder "x". */
static int open_archive(struct otf2_out *o, const char *path, struct err *err)
{
    static const OTF2_FlushCallbacks flush = {.otf2_pre_flush = before_flush};
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    size_t length = dot && strcmp(dot, ".otf2") == 0 ? (size_t)(dot - base) : strlen(base);
    char *folder = mem_strdup(slash ? path : "."), *name = mem_strdup(base);
    if (slash)
        folder[slash == path ? 1 : slash - path] = '\0';
    name[length] = '\0';
    errno = 0;
    if (length)
        o->archive = OTF2_Archive_Open(folder, name, OTF2_FILEMODE_WRITE, OTF2_CHUNK_SIZE_MIN,
                                       OTF2_CHUNK_SIZE_MIN, OTF2_SUBSTRATE_POSIX,
                                       OTF2_COMPRESSION_NONE);
    mem_free(folder);
    mem_free(name);
    if (!o->archive)
        return err_set(err, ERR_SYSTEM, "cannot write '%s': %s", path,
                       errno ? strerror(errno) : "the archive cannot be made");
    OTF2_Archive_SetFlushCallbacks(o->archive, &flush, NULL);
    OTF2_Archive_SetSerialCollectiveCallbacks(o->archive);
    OTF2_Archive_SetCreator(o->archive, "orrery " ORRERY_VERSION);
    return OTF2_Archive_OpenEvtFiles(o->archive) == OTF2_SUCCESS &&
                   OTF2_Archive_OpenDefFiles(o->archive) == OTF2_SUCCESS
               ? 0
               : err_set(err, ERR_SYSTEM, "cannot write '%s': %s", path, strerror(errno));
}

static void set_properties(struct otf2_out *o, const struct trace *t)
{
    struct buf value;
    char name[64];
    buf_init(&value);
    OTF2_Archive_SetProperty(o->archive, OTF2_OUT_MARK, "1", true);
    for (size_t i = 0; i < t->header.property_count; i++) {
        buf_clear(&value);
        buf_addf(&value, "%s=%s", t->header.properties[i].key, t->header.properties[i].value);
        snprintf(name, sizeof name, OTF2_OUT_PROPERTY "%zu", i);
        OTF2_Archive_SetProperty(o->archive, name, buf_str(&value), true);
    }
    buf_fini(&value);
}

static void out_fini(struct writing *writing)
{
    struct otf2_out *o = &writing->out;
    names_fini(&o->strings);
    names_fini(&o->regions);
    names_fini(&o->parameters);
    otf2_out_rma_reset(o);
    map_fini(&o->wins);
    mem_free(o->win_items);
    mem_free(o->pending);
    mem_free(o->counts);
    mem_free(o->threads);
    mem_free(o->location_at);
    mem_free(o->region_of);
    mem_free(o->parameter_of);
    mem_free(writing->open.items);
}

int otf2_write(struct trace *t, const char *path, struct format_notes *notes, struct err *err)
{
    static const struct walk_visitor visitor = {.begin = begin_rank,
                                                .thread = begin_thread,
                                                .event = put_event};
    struct writing writing = {0};
    struct otf2_out *o = &writing.out;
    otf2_be_quiet();
    if (open_archive(o, path, err) != 0)
        return err->code;
    o->threads = mem_zalloc((t->header.ranks + 1) * sizeof *o->threads);
    o->location_at = mem_zalloc((t->header.ranks + 1) * sizeof *o->location_at);
    o->region_of = mem_zalloc((t->header.schema->count + 1) * sizeof *o->region_of);
    o->parameter_of = mem_zalloc((t->header.schema->count + 1) * TRACE_ARGS_MAX *
                                 sizeof *o->parameter_of);
    otf2_out_string(o, "", 0);
    int rc = walk_trace(t, &visitor, &writing, notes, err);
    if (rc == 0)
        rc = close_location(o, err);
    OTF2_Archive_CloseEvtFiles(o->archive);
    OTF2_Archive_CloseDefFiles(o->archive);
    if (rc == 0)
        rc = otf2_out_define(o, t, notes, err);
    if (rc == 0)
        set_properties(o, t);
    if (OTF2_Archive_Close(o->archive) != OTF2_SUCCESS && rc == 0)
        rc = err_set(err, ERR_SYSTEM, "cannot write '%s': %s", path, strerror(errno));
    out_fini(&writing);
    return rc;
}
