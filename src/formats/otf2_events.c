/*
 * otf2_events.c - converts the events of an OTF2 location to calls.
 *
 * The events between ENTER and LEAVE of an MPI function are collected, and become the arguments of
 * a call at LEAVE. Archives that Orrery wrote have all arguments as parameters. In others they are
 * derived from messages and collectives, in bytes; a posted receive is described by the record of
 * its completion, so such locations are read twice. Requests are renumbered, since some recorders
 * reuse their numbers.
 */
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "formats/otf2_location.h"
#include "formats/otf2_out.h"

static int64_t time_of(const struct otf2_in *in, OTF2_TimeStamp t)
{
    uint64_t since = t >= in->offset ? t - in->offset : 0;
    uint64_t ps = UINT64_C(1000000000000);
    if (in->resolution && ps % in->resolution == 0)
        return (int64_t)since;
    return (int64_t)((unsigned __int128)since * ps / (in->resolution ? in->resolution : ps));
}

/* ---- requests ---- */

static int64_t new_request(struct otf2_location_state *s, uint64_t id)
{
    *map_insert(&s->requests, id, NULL) = (uint64_t)s->next_request + 1;
    return s->next_request++;
}

static int64_t end_request(struct otf2_location_state *s, uint64_t id)
{
    const uint64_t *at = map_find(&s->requests, id);
    if (!at) {
        format_note(s->in->notes, "left out: completions of requests that were not started");
        return -1;
    }
    int64_t number = (int64_t)*at - 1;
    map_remove(&s->requests, id);
    return number;
}

/* The first pass: an operation is started, or described. */
static void note_start(struct otf2_location_state *s, uint64_t id)
{
    ARRAY_EXTEND(s->in->results, s->in->result_count);
    s->in->results[s->in->result_count++] = (struct otf2_result){0};
    *map_insert(&s->results, id, NULL) = s->in->result_count;
}

static void note_result(struct otf2_location_state *s, uint64_t id, struct otf2_result what)
{
    const uint64_t *at = map_find(&s->results, id);
    what.is_known = 1;
    if (at)
        s->in->results[*at - 1] = what;
    map_remove(&s->results, id);
}

/* The second pass: what the next started operation will be. */
static struct otf2_result next_result(struct otf2_location_state *s)
{
    return s->next_result < s->in->result_count ? s->in->results[s->next_result++]
                                                : (struct otf2_result){0};
}

void otf2_add_event(struct otf2_location_state *s, enum otf2_call_event_kind kind, int64_t request,
                    struct otf2_result what)
{
    if (!s->calls) {
        format_note(s->in->notes, "left out: messages and collectives outside of calls");
        return;
    }
    ARRAY_EXTEND(s->events, s->event_count);
    s->events[s->event_count++] = (struct otf2_call_event){kind, request, what};
}

/* ---- enter and leave ---- */

struct otf2_location_state *otf2_at_time(void *data, OTF2_TimeStamp t)
{
    struct otf2_location_state *s = data;
    s->last = time_of(s->in, t);
    return s;
}

static OTF2_CallbackCode on_enter(OTF2_LocationRef l, OTF2_TimeStamp t, uint64_t at, void *data,
                                  OTF2_AttributeList *attributes, OTF2_RegionRef ref)
{
    struct otf2_location_state *s = otf2_at_time(data, t);
    const struct otf2_region *region = otf2_table_find(&s->in->regions, ref, sizeof *region);
    int fn = region ? region->fn : -1;
    (void)l, (void)at, (void)attributes;
    if (s->is_first)
        return OTF2_CALLBACK_SUCCESS;
    if (fn >= 0 && s->calls) {
        format_note(s->in->notes, "left out: calls within calls");
        fn = -1;
    } else if (fn >= 0) {
        s->calls++;
        s->fn = fn;
        s->event_count = s->argument_count = s->item_count = s->status_count = 0;
        s->failed = 0;
        s->site = 0;
    } else if (!s->calls) {
        format_build_enter(&s->in->build, s->location->thread, s->last,
                           region ? otf2_string(s->in, region->name) : "");
    }
    ARRAY_EXTEND(s->open, s->depth);
    s->open[s->depth++] = (struct open){ref, s->last, fn};
    return OTF2_CALLBACK_SUCCESS;
}

static void end_call(struct otf2_location_state *s, const struct open *open)
{
    struct format_call call;
    s->calls--;
    if (!format_call_begin(&call, &s->in->build, s->in->build.header.schema->fns[open->fn].name))
        return;
    if (s->in->is_own)
        otf2_call_fill(s, &call);
    else
        otf2_call_assemble(s, &call, open->fn);
    call.event.failed = s->failed;
    call.event.site = s->site;
    format_build_call(&s->in->build, s->location->thread, &call, open->enter, s->last);
}

static OTF2_CallbackCode on_leave(OTF2_LocationRef l, OTF2_TimeStamp t, uint64_t at, void *data,
                                  OTF2_AttributeList *attributes, OTF2_RegionRef ref)
{
    struct otf2_location_state *s = otf2_at_time(data, t);
    (void)l, (void)at, (void)attributes;
    if (s->is_first)
        return OTF2_CALLBACK_SUCCESS;
    if (!s->depth) {
        format_note(s->in->notes, "left out: regions that were left but not entered");
        return OTF2_CALLBACK_SUCCESS;
    }
    struct open open = s->open[--s->depth];
    if (open.region != ref)
        format_note(s->in->notes, "regions were left in another order than entered");
    if (open.fn >= 0)
        end_call(s, &open);
    else if (!s->calls)
        format_build_leave(&s->in->build, s->location->thread, s->last);
    return OTF2_CALLBACK_SUCCESS;
}

/* ---- parameters ---- */

static void take_parameter(struct otf2_location_state *s, uint32_t ref, int64_t value,
                           const char *text)
{
    const struct otf2_parameter *p = otf2_table_find(&s->in->parameters, ref, sizeof *p);
    const char *name = p ? otf2_string(s->in, p->name) : "";
    if (!s->in->is_own || s->is_first)
        return;
    if (!s->calls) {
        if (strcmp(name, OTF2_OUT_LOST) == 0)
            format_build_lost(&s->in->build, s->location->thread, s->last, (uint64_t)value);
        return;
    }
    if (strcmp(name, OTF2_OUT_ERROR) == 0) {
        s->failed = (int)value;
        return;
    }
    if (strcmp(name, OTF2_OUT_SITE) == 0) {
        s->site = text ? format_build_site(&s->in->build, text) : 0;
        return;
    }
    const struct trace_fn *fn = &s->in->build.header.schema->fns[s->fn];
    const char *dot = strchr(name, '.');
    size_t length = dot ? (size_t)(dot - name) : strlen(name);
    unsigned part = 0;
    for (unsigned i = 1; dot && i < OTF2_STATUS_PARTS; i++)
        if (strcmp(dot, otf2_status_parts[i]) == 0)
            part = i;
    for (unsigned i = 0; i < fn->count; i++)
        if (strncmp(fn->args[i].name, name, length) == 0 && !fn->args[i].name[length]) {
            ARRAY_EXTEND(s->arguments, s->argument_count);
            s->arguments[s->argument_count++] = (struct otf2_argument){i, part, value, text};
            return;
        }
    format_note(s->in->notes, "left out: parameters that are not arguments");
}

static OTF2_CallbackCode on_int(OTF2_LocationRef l, OTF2_TimeStamp t, uint64_t at, void *data,
                                OTF2_AttributeList *attributes, OTF2_ParameterRef ref,
                                int64_t value)
{
    (void)l, (void)at, (void)attributes;
    take_parameter(otf2_at_time(data, t), ref, value, NULL);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_text(OTF2_LocationRef l, OTF2_TimeStamp t, uint64_t at, void *data,
                                 OTF2_AttributeList *attributes, OTF2_ParameterRef ref,
                                 OTF2_StringRef string)
{
    struct otf2_location_state *s = otf2_at_time(data, t);
    (void)l, (void)at, (void)attributes;
    take_parameter(s, ref, 0, otf2_string(s->in, string));
    return OTF2_CALLBACK_SUCCESS;
}

/* ---- messages ---- */

int otf2_counts(struct otf2_location_state *s, int in_first)
{
    return !s->in->is_own && s->is_first == in_first;
}

static struct otf2_result message(uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
    return (
        struct otf2_result){.is_known = 1, .peer = peer, .comm = comm, .tag = tag, .bytes = bytes};
}

static OTF2_CallbackCode on_send(OTF2_STANDARD, uint32_t peer, OTF2_CommRef comm, uint32_t tag,
                                 uint64_t bytes)
{
    struct otf2_location_state *s = otf2_at_time(data, t);
    (void)l, (void)at, (void)attributes;
    if (otf2_counts(s, 0))
        otf2_add_event(s, OTF2_DID_SENT, -1, message(peer, comm, tag, bytes));
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_isend(OTF2_STANDARD, uint32_t peer, OTF2_CommRef comm, uint32_t tag,
                                  uint64_t bytes, uint64_t request)
{
    struct otf2_location_state *s = otf2_at_time(data, t);
    (void)l, (void)at, (void)attributes;
    if (otf2_counts(s, 0))
        otf2_add_event(s, OTF2_DID_SENT, new_request(s, request), message(peer, comm, tag, bytes));
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_recv(OTF2_STANDARD, uint32_t peer, OTF2_CommRef comm, uint32_t tag,
                                 uint64_t bytes)
{
    struct otf2_location_state *s = otf2_at_time(data, t);
    (void)l, (void)at, (void)attributes;
    if (otf2_counts(s, 0))
        otf2_add_event(s, OTF2_DID_RECEIVED, -1, message(peer, comm, tag, bytes));
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_irecv(OTF2_STANDARD, uint32_t peer, OTF2_CommRef comm, uint32_t tag,
                                  uint64_t bytes, uint64_t request)
{
    struct otf2_location_state *s = otf2_at_time(data, t);
    struct otf2_result what = message(peer, comm, tag, bytes);
    (void)l, (void)at, (void)attributes;
    if (otf2_counts(s, 1))
        note_result(s, request, what);
    else if (otf2_counts(s, 0))
        otf2_add_event(s, OTF2_DID_RECV_DONE, end_request(s, request), what);
    return OTF2_CALLBACK_SUCCESS;
}

/* A receive or collective is started. */
static OTF2_CallbackCode on_started(OTF2_STANDARD, uint64_t request)
{
    struct otf2_location_state *s = otf2_at_time(data, t);
    (void)l, (void)at, (void)attributes;
    if (otf2_counts(s, 1))
        note_start(s, request);
    else if (otf2_counts(s, 0))
        otf2_add_event(s, OTF2_DID_POSTED, new_request(s, request), next_result(s));
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_isend_done(OTF2_STANDARD, uint64_t request)
{
    struct otf2_location_state *s = otf2_at_time(data, t);
    (void)l, (void)at, (void)attributes;
    if (otf2_counts(s, 0))
        otf2_add_event(s, OTF2_DID_SEND_DONE, end_request(s, request), (struct otf2_result){0});
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_tested(OTF2_STANDARD, uint64_t request)
{
    struct otf2_location_state *s = otf2_at_time(data, t);
    (void)l, (void)at, (void)attributes;
    if (otf2_counts(s, 0)) {
        const uint64_t *known = map_find(&s->requests, request);
        otf2_add_event(s, OTF2_DID_TESTED, known ? (int64_t)*known - 1 : -1,
                       (struct otf2_result){0});
    }
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_cancelled(OTF2_STANDARD, uint64_t request)
{
    struct otf2_location_state *s = otf2_at_time(data, t);
    (void)l, (void)at, (void)attributes;
    if (otf2_counts(s, 0))
        otf2_add_event(s, OTF2_DID_CANCELLED, end_request(s, request), (struct otf2_result){0});
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_coll(OTF2_STANDARD, OTF2_CollectiveOp op, OTF2_CommRef comm,
                                 uint32_t root, uint64_t sent, uint64_t received)
{
    struct otf2_location_state *s = otf2_at_time(data, t);
    (void)l, (void)at, (void)attributes;
    if (otf2_counts(s, 0))
        otf2_add_event(s, OTF2_DID_COLLECTIVE, -1,
                       (struct otf2_result){.is_known = 1,
                                            .comm = comm,
                                            .root = root,
                                            .sent = sent,
                                            .bytes = received,
                                            .op = op});
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_icoll(OTF2_STANDARD, OTF2_CollectiveOp op, OTF2_CommRef comm,
                                  uint32_t root, uint64_t sent, uint64_t received, uint64_t request)
{
    struct otf2_location_state *s = otf2_at_time(data, t);
    struct otf2_result what =
        {.is_known = 1, .comm = comm, .root = root, .sent = sent, .bytes = received, .op = op};
    (void)l, (void)at, (void)attributes;
    if (otf2_counts(s, 1))
        note_result(s, request, what);
    else if (otf2_counts(s, 0))
        otf2_add_event(s, OTF2_DID_COLL_DONE, end_request(s, request), what);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_unknown(OTF2_STANDARD)
{
    struct otf2_location_state *s = otf2_at_time(data, t);
    (void)l, (void)at, (void)attributes;
    format_note(s->in->notes, "left out: records of an unknown kind");
    return OTF2_CALLBACK_SUCCESS;
}

/* ---- a location ---- */

static OTF2_EvtReaderCallbacks *make_callbacks(void)
{
    OTF2_EvtReaderCallbacks *c = OTF2_EvtReaderCallbacks_New();
    OTF2_EvtReaderCallbacks_SetEnterCallback(c, on_enter);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(c, on_leave);
    OTF2_EvtReaderCallbacks_SetParameterIntCallback(c, on_int);
    OTF2_EvtReaderCallbacks_SetParameterStringCallback(c, on_text);
    OTF2_EvtReaderCallbacks_SetMpiSendCallback(c, on_send);
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(c, on_isend);
    OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(c, on_isend_done);
    OTF2_EvtReaderCallbacks_SetMpiRecvCallback(c, on_recv);
    OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(c, on_irecv);
    OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(c, on_started);
    OTF2_EvtReaderCallbacks_SetMpiRequestTestCallback(c, on_tested);
    OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(c, on_cancelled);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(c, on_coll);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(c, on_started);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(c, on_icoll);
    otf2_window_callbacks(c);
    OTF2_EvtReaderCallbacks_SetUnknownCallback(c, on_unknown);
    return c;
}

/*
 * How many events the file of a location can have: each takes two bytes or more. The library would
 * read the last chunk of a file again and again if the mark of its end is damaged.
 */
static uint64_t most_events(const struct otf2_in *in, uint64_t location)
{
    enum { EVENT_LEAST = 2, ZLIB_MOST = 1032 };
    const char *suffix = strrchr(in->path, '.');
    OTF2_Compression method = OTF2_COMPRESSION_NONE;
    struct buf file;
    struct stat st;
    buf_init(&file);
    buf_addf(&file, "%.*s/%llu.evt",
             (int)(suffix ? suffix - in->path : (ptrdiff_t)strlen(in->path)), in->path,
             (unsigned long long)location);
    int is_there = stat(buf_str(&file), &st) == 0;
    buf_fini(&file);
    if (!is_there) /* the library knows where its events are, or that there are none */
        return UINT64_MAX;
    OTF2_Reader_GetCompression(in->reader, &method);
    return (uint64_t)st.st_size / EVENT_LEAST * (method == OTF2_COMPRESSION_NONE ? 1 : ZLIB_MOST);
}

static void read_once(struct otf2_location_state *s)
{
    struct otf2_in *in = s->in;
    uint64_t count = 0, most = most_events(in, s->location->ref);
    OTF2_EvtReader *events = OTF2_Reader_GetEvtReader(in->reader, s->location->ref);
    OTF2_ErrorCode rc = OTF2_ERROR_FILE_CAN_NOT_OPEN;
    if (events) {
        OTF2_EvtReaderCallbacks *callbacks = make_callbacks();
        OTF2_Reader_RegisterEvtCallbacks(in->reader, events, callbacks, s);
        OTF2_EvtReaderCallbacks_Delete(callbacks);
        OTF2_EvtReader_ApplyMappingTables(events, true);
        OTF2_EvtReader_ApplyClockOffsets(events, true);
        rc = OTF2_Reader_ReadLocalEvents(in->reader, events, most, &count);
        if (rc == OTF2_SUCCESS && count == most && most)
            rc = OTF2_ERROR_INTEGRITY_FAULT;
        OTF2_Reader_CloseEvtReader(in->reader, events);
    }
    if (rc != OTF2_SUCCESS && !s->is_first)
        format_note(in->notes, "left out: events of location %llu after a damaged one: %s",
                    (unsigned long long)s->location->ref, OTF2_Error_GetDescription(rc));
}

void otf2_in_events(struct otf2_in *in, const struct otf2_location *location)
{
    struct otf2_location_state s = {.in = in, .location = location};
    in->result_count = 0;
    map_init(&s.requests);
    map_init(&s.results);
    map_init(&s.wins);
    if (!in->is_own) {
        s.is_first = 1;
        read_once(&s);
        s.is_first = 0;
    }
    read_once(&s);
    for (size_t i = s.depth; i > 0; i--)
        if (s.open[i - 1].fn >= 0)
            format_build_open_call(&in->build, location->thread, s.open[i - 1].enter, s.last,
                                   in->build.header.schema->fns[s.open[i - 1].fn].name);
    map_fini(&s.requests);
    map_fini(&s.results);
    map_fini(&s.wins);
    mem_free(s.open);
    mem_free(s.events);
    mem_free(s.arguments);
    mem_free(s.items);
    mem_free(s.statuses);
}
