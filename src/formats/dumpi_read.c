/*
 * dumpi_read.c - traces of DUMPI. The files are read twice: first for the communicators that all ranks together make,
 * then for the calls. Numbers of requests are used again by DUMPI, and get new ones here for each life.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "formats/dumpi_file.h"
#include "formats/dumpi_in.h"
#include "formats/table.h"
#include "formats/textfile.h"
#include "mpi_roles.h"
#include "trace/definitions.h"
#include "trace/local.h"

#define META_MOST 65536
#define RANKS_MOST (1 << 24)

/* A request: what belongs to it. */
struct request {
    int64_t number;
    int64_t comm; /* DUMPI's number */
    int is_recv;
};

struct dumpi_in {
    struct format_build build;
    struct format_notes *notes;
    struct dumpi_layout *layouts;
    struct call_shape *shapes;
    struct dumpi_comms comms;
    char *folder, *prefix;
    uint64_t ranks;
    int version;
    int64_t start; /* second that is time 0 */
    /* of the current rank */
    uint64_t rank;
    struct dumpi_file file;
    size_t next_creation;
    struct map local[MPI_ROLES]; /* from DUMPI's number to the local one + 1 */
    struct map comm_of;          /* DUMPI's number of a communicator to its position in comms + 1 */
    struct map requests;         /* DUMPI's number to position + 1 */
    struct request *request_items;
    size_t request_count;
    int64_t next_request;
    int64_t last;
    /* of the current call */
    int64_t *items;
    size_t item_count;
    struct trace_status *statuses;
    size_t status_count;
};

/* ---- what a record has ---- */

static const struct dumpi_raw *value_of(const struct dumpi_layout *l, const struct dumpi_record *r,
                                        const char *name)
{
    for (unsigned i = l->count; i > 0; i--)
        if (l->fields[i - 1].name && r->values[i - 1].is_there &&
            strcmp(l->fields[i - 1].name, name) == 0)
            return &r->values[i - 1];
    return NULL;
}

static int64_t number_of(const struct dumpi_layout *l, const struct dumpi_record *r,
                         const char *name, int64_t otherwise)
{
    const struct dumpi_raw *v = value_of(l, r, name);
    return v ? v->number : otherwise;
}

/* The communicator that a call is on, and the one that it makes; 0: none. */
static int64_t old_comm(const struct dumpi_layout *l, const struct dumpi_record *r)
{
    static const char *const names[] = {"comm", "comm_old", "local_comm", "intercomm"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (value_of(l, r, names[i]))
            return value_of(l, r, names[i])->number;
    return 0;
}

static int64_t new_comm(const struct dumpi_layout *l, const struct dumpi_record *r)
{
    static const char *const names[] = {"newcomm", "comm_cart", "comm_graph", "newintercomm",
                                        "newintracomm"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (value_of(l, r, names[i]))
            return value_of(l, r, names[i])->number;
    return 0;
}

/* ---- the first reading ---- */

static void add_creation(struct dumpi_in *in, const struct dumpi_layout *l,
                         const struct dumpi_record *r)
{
    const struct dumpi_raw *dims = value_of(l, r, "dims"), *remain = value_of(l, r, "remain_dims");
    int64_t made = new_comm(l, r), from = old_comm(l, r);
    const char *name = call_bare_name(&in->build.header.schema->fns[l->fn]);
    struct dumpi_creation c = {.fn = l->fn,
                               .color = number_of(l, r, "color", 0),
                               .key = number_of(l, r, "key", 0)};
    if (!made)
        return;
    dims = dims ? dims : remain;
    if (dims && dims->count) {
        c.ndims = dims->count;
        c.dims = mem_alloc(c.ndims * sizeof *c.dims);
        memcpy(c.dims, in->file.items + dims->first, c.ndims * sizeof *c.dims);
    }
    if (strncmp(name, "Intercomm_", 10) == 0 || strncmp(name, "Comm_accept", 11) == 0 ||
        strncmp(name, "Comm_connect", 12) == 0)
        from = 0; /* members of both sides are not known */
    dumpi_comms_add(&in->comms, in->rank, from, made, c);
}

static int open_rank(struct dumpi_in *in, uint64_t rank, struct err *err)
{
    size_t length = strlen(in->folder) + strlen(in->prefix) + 48;
    char *path = mem_alloc(length);
    snprintf(path, length, "%s%s-%04" PRIu64 ".bin", in->folder, in->prefix, rank);
    in->rank = rank;
    int rc = dumpi_file_open(&in->file, path, in->version, err);
    mem_free(path);
    return rc;
}

static void read_comms(struct dumpi_in *in)
{
    struct err err;
    struct dumpi_record r;
    in->start = INT64_MAX;
    for (uint64_t rank = 0; rank < in->ranks; rank++) {
        if (open_rank(in, rank, &err) != 0)
            continue;
        if (in->file.wall < in->start)
            in->start = in->file.wall;
        while (dumpi_file_next(&in->file, in->layouts, &r) > 0)
            if (r.function < dumpi_functions())
                add_creation(in, &in->layouts[r.function], &r);
        dumpi_file_close(&in->file);
    }
    if (in->start == INT64_MAX)
        in->start = 0;
    dumpi_comms_resolve(&in->comms, in->build.header.schema, in->notes);
    for (size_t i = 1; i < in->comms.count; i++)
        format_build_comm(&in->build, in->comms.comms[i].identity, TRACE_COMM_INTRA,
                          in->comms.comms[i].ranks, in->comms.comms[i].count, NULL, 0);
}

/* ---- handles ---- */

static int64_t rank_in(const struct dumpi_comm *c, uint64_t rank)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->ranks[i] == (int64_t)rank)
            return (int64_t)i;
    return -1;
}

/* A communicator whose members are not known. */
static int64_t unknown_comm(struct dumpi_in *in, int64_t number)
{
    uint64_t identity = (in->rank + 1) << 32 ^ in->next_creation << 16 ^ (uint64_t)number;
    format_note(in->notes, "not known: members of communicators");
    return format_local_comm(&in->build, (identity | UINT64_C(1) << 62) & ~(UINT64_C(1) << 63),
                             TRACE_COMM_INTRA, -1, 0, 0);
}

/* A call has made a communicator of this number. */
static void make_comm(struct dumpi_in *in, int64_t number)
{
    const struct dumpi_rank_creations *own = &in->comms.by_rank[in->rank];
    const struct dumpi_creation *c = in->next_creation < own->count ? &own->items[in->next_creation]
                                                                    : NULL;
    in->next_creation++;
    if (number <= 1)
        return;
    uint64_t *local = map_insert(&in->local[MPI_ROLE_COMM], (uint64_t)number, NULL);
    map_remove(&in->comm_of, (uint64_t)number);
    if (!c || c->comm < 0) {
        *local = (uint64_t)unknown_comm(in, number) + 1;
        return;
    }
    const struct dumpi_comm *comm = &in->comms.comms[c->comm];
    *map_insert(&in->comm_of, (uint64_t)number, NULL) = (uint64_t)c->comm + 1;
    *local = (uint64_t)format_local_comm(&in->build, comm->identity, TRACE_COMM_INTRA,
                                         rank_in(comm, in->rank), comm->count, 0) +
             1;
}

static int64_t comm_handle(struct dumpi_in *in, int64_t number)
{
    if (number <= 1)
        return -1;
    if (number <= 3)
        return number == 2 ? TRACE_LOCAL_WORLD : TRACE_LOCAL_SELF;
    uint64_t *local = map_insert(&in->local[MPI_ROLE_COMM], (uint64_t)number, NULL);
    if (!*local)
        *local = (uint64_t)unknown_comm(in, number) + 1;
    return (int64_t)*local - 1;
}

static int64_t type_handle(struct dumpi_in *in, int64_t number)
{
    const char *name = dumpi_type_name((unsigned)number);
    uint64_t size = (size_t)number < in->file.size_count ? in->file.sizes[number]
                                                         : dumpi_type_size((unsigned)number);
    if (number <= 1)
        return -1;
    if (name)
        return format_local_type(&in->build, name, size, 0, (int64_t)size);
    uint64_t *local = map_insert(&in->local[MPI_ROLE_DATATYPE], (uint64_t)number, NULL);
    if (!*local)
        *local = (uint64_t)format_local_own_type(&in->build, size) + 1;
    return (int64_t)*local - 1;
}

static int64_t op_handle(struct dumpi_in *in, int64_t number)
{
    const char *name = dumpi_op_name((unsigned)number);
    if (number == 0 || number == 14)
        return -1;
    if (name)
        return format_local_op(&in->build, name, 1);
    uint64_t *local = map_insert(&in->local[MPI_ROLE_OP], (uint64_t)number, NULL);
    if (!*local)
        *local = (uint64_t)format_local_own_op(&in->build, 1) + 1;
    return (int64_t)*local - 1;
}

/* Groups, windows, files: each that a call returns is a new one. */
static int64_t other_handle(struct dumpi_in *in, const struct dumpi_layout *l,
                            const struct dumpi_record *r, const struct dumpi_field *f,
                            int64_t number, int is_new)
{
    if (number <= (f->role == MPI_ROLE_GROUP))
        return -1;
    uint64_t *local = map_insert(&in->local[f->role], (uint64_t)number, NULL);
    if (*local && !is_new)
        return (int64_t)*local - 1;
    if (f->role == MPI_ROLE_GROUP) {
        *local = (uint64_t)format_local_group(&in->build, NULL, 0) + 1;
        format_note(in->notes, "not known: members of groups");
    } else if (f->role == MPI_ROLE_WIN) {
        *local = (uint64_t)format_local_win(&in->build, comm_handle(in, old_comm(l, r)),
                                            number_of(l, r, "size", 0),
                                            number_of(l, r, "disp_unit", 1)) +
                 1;
    } else {
        const struct dumpi_raw *name = value_of(l, r, "filename");
        char *text = mem_alloc(name ? name->count + 1 : 1);
        memcpy(text, name ? name->text : "", name ? name->count : 0);
        text[name ? name->count : 0] = '\0';
        *local = (uint64_t)format_local_file(&in->build, text) + 1;
        mem_free(text);
    }
    return (int64_t)*local - 1;
}

static int64_t request_handle(struct dumpi_in *in, const struct dumpi_layout *l,
                              const struct dumpi_record *r, int64_t number, int is_new)
{
    if (number <= 1)
        return -1;
    uint64_t *at = map_insert(&in->requests, (uint64_t)(uint32_t)number, NULL);
    if (!*at || is_new) {
        const struct call_shape *shape = &in->shapes[l->fn];
        if (!is_new)
            format_note(in->notes, "requests are completed that were not started");
        ARRAY_EXTEND(in->request_items, in->request_count);
        in->request_items[in->request_count++] = (struct request){in->next_request++,
                                                                  old_comm(l, r),
                                                                  shape->kind == CALL_RECV};
        *at = in->request_count;
    }
    return in->request_items[*at - 1].number;
}

static int64_t handle_of(struct dumpi_in *in, const struct dumpi_layout *l,
                         const struct dumpi_record *r, const struct dumpi_field *f,
                         const struct trace_arg *arg, int64_t number)
{
    int is_new = arg->is_out && !arg->is_in;
    switch (f->role) {
    case MPI_ROLE_COMM:
        return comm_handle(in, number);
    case MPI_ROLE_DATATYPE:
        return type_handle(in, number);
    case MPI_ROLE_OP:
        return op_handle(in, number);
    case MPI_ROLE_REQUEST:
        return request_handle(in, l, r, number, is_new);
    default:
        return other_handle(in, l, r, f, number, is_new);
    }
}

/* ---- statuses ---- */

/* The world rank of a source in a communicator. */
static int64_t world_rank(const struct dumpi_in *in, int64_t comm, int64_t source)
{
    const uint64_t *at = map_find(&in->comm_of, (uint64_t)comm);
    if (comm == 2)
        return source;
    if (comm == 3)
        return (int64_t)in->rank;
    if (!at)
        return -1;
    const struct dumpi_comm *c = &in->comms.comms[*at - 1];
    return source >= 0 && (size_t)source < c->count ? c->ranks[source] : -1;
}

/* The request that status k of a call belongs to; NULL: the call itself, or not known. */
static const struct request *request_of(const struct dumpi_in *in, const struct dumpi_layout *l,
                                        const struct dumpi_record *r, size_t k)
{
    const struct dumpi_raw *all = value_of(l, r, "array_of_requests"),
                           *one = value_of(l, r, "request"),
                           *indices = value_of(l, r, "array_of_indices"),
                           *index = value_of(l, r, "indx");
    int64_t number = one ? one->number : 0;
    if (all) {
        int64_t at = indices ? k < indices->count ? in->file.items[indices->first + k] : -1
                     : index ? index->number
                             : (int64_t)k;
        number = at >= 0 && (size_t)at < all->count ? in->file.items[all->first + (size_t)at] : 0;
    }
    const uint64_t *known = map_find(&in->requests, (uint64_t)(uint32_t)number);
    return number > 1 && known ? &in->request_items[*known - 1] : NULL;
}

static struct trace_status status_of(const struct dumpi_in *in, const struct dumpi_layout *l,
                                     const struct dumpi_record *r, size_t k,
                                     const struct dumpi_status *s)
{
    const struct request *q = request_of(in, l, r, k);
    int has_request = in->shapes[l->fn].request >= 0;
    int64_t comm = q ? q->comm : old_comm(l, r);
    if (s->is_cancelled)
        return (struct trace_status){s->source, s->tag, 0, 1, 1};
    if ((has_request && (!q || !q->is_recv)) || s->source < 0)
        return (struct trace_status){0};
    return (struct trace_status){(int32_t)world_rank(in, comm, s->source), s->tag, s->bytes, 1, 0};
}

/* ---- calls ---- */

static void set_value(struct dumpi_in *in, const struct dumpi_layout *l,
                      const struct dumpi_record *r, unsigned field, struct format_call *call)
{
    const struct dumpi_field *f = &l->fields[field];
    const struct dumpi_raw *raw = &r->values[field];
    const struct trace_arg *arg = &call->fn->args[f->arg];
    struct trace_value *v = &call->event.args[f->arg];
    int is_handle = arg->class == TRACE_HANDLE || arg->class == TRACE_REQUEST;
    if (f->primitive == DUMPI_STATUS) {
        v->number = (int64_t)in->status_count;
        for (size_t i = 0; i < raw->count; i++) {
            ARRAY_EXTEND(in->statuses, in->status_count);
            in->statuses[in->status_count++] = status_of(in, l, r, i,
                                                         &in->file.statuses[raw->first + i]);
        }
        v->count = raw->count;
    } else if (f->primitive == DUMPI_TEXT) {
        v->text = raw->text;
        v->count = raw->count;
    } else if (f->primitive == DUMPI_ARRAY) {
        v->number = (int64_t)in->item_count;
        for (size_t i = 0; i < raw->count; i++) {
            int64_t item = in->file.items[raw->first + i];
            item = is_handle ? handle_of(in, l, r, f, arg, item) : dumpi_value_in(f, item);
            ARRAY_EXTEND(in->items, in->item_count);
            in->items[in->item_count++] = item;
        }
        v->count = raw->count;
    } else if (f->primitive == DUMPI_INT) {
        v->number = is_handle ? handle_of(in, l, r, f, arg, raw->number)
                              : dumpi_value_in(f, raw->number);
    }
}

/* Arrays may have moved while the call was put together. */
static void point(struct dumpi_in *in, struct format_call *call)
{
    for (unsigned i = 0; i < call->fn->count; i++) {
        const struct trace_arg *arg = &call->fn->args[i];
        struct trace_value *v = &call->event.args[i];
        if (arg->class == TRACE_STATUS && v->count)
            v->statuses = in->statuses + v->number;
        else if (arg->is_array && arg->class != TRACE_STATUS)
            v->items = v->count ? in->items + v->number : NULL;
    }
}

static void put_call(struct dumpi_in *in, const struct dumpi_record *r)
{
    const struct dumpi_layout *l = &in->layouts[r->function];
    struct format_call call;
    char name[64];
    if (!format_call_begin(&call, &in->build, dumpi_function_name(r->function, name, sizeof name)))
        return;
    in->item_count = in->status_count = 0;
    if (new_comm(l, r))
        make_comm(in, new_comm(l, r));
    for (unsigned i = 0; i < l->count; i++) {
        if (l->fields[i].arg >= 0 && r->values[i].is_there)
            set_value(in, l, r, i, &call);
        if (l->fields[i].primitive == DUMPI_TEXTS && l->fields[i].name &&
            strcmp(l->fields[i].name, "argv") == 0)
            format_call_number(&call, "argc", (int64_t)r->values[i].count);
    }
    point(in, &call);
    format_build_call(&in->build, r->thread, &call, r->enter, r->leave);
}

static const char *function_name(const struct dumpi_file *f, uint64_t address, char *text,
                                 size_t size)
{
    for (size_t i = 0; i < f->address_count; i++)
        if (f->addresses[i].address == address)
            return f->addresses[i].name;
    snprintf(text, size, "0x%" PRIx64, address);
    return text;
}

static void put_record(struct dumpi_in *in, struct dumpi_record *r)
{
    char text[32];
    r->enter = r->enter < 0 ? in->last : r->enter - in->start * 1000000000;
    r->leave = r->leave < 0 ? in->last : r->leave - in->start * 1000000000;
    if (r->enter < 0)
        r->enter = 0;
    if (r->leave < r->enter)
        r->leave = r->enter;
    in->last = r->leave;
    if (r->has_cpu)
        format_note(in->notes, "left out: CPU times: a trace has wall times only");
    if (r->function == DUMPI_FUNCTION_ENTER)
        format_build_enter(&in->build, r->thread, r->enter,
                           function_name(&in->file, r->address, text, sizeof text));
    else if (r->function == DUMPI_FUNCTION_EXIT)
        format_build_leave(&in->build, r->thread, r->enter);
    else
        put_call(in, r);
}

static void read_rank(struct dumpi_in *in, uint64_t rank)
{
    struct dumpi_record r;
    struct err err;
    int more;
    if (open_rank(in, rank, &err) != 0) {
        format_note(in->notes, "%s", err.text);
        return;
    }
    for (unsigned i = 0; i < MPI_ROLES; i++)
        map_init(&in->local[i]);
    map_init(&in->comm_of);
    map_init(&in->requests);
    in->next_creation = in->request_count = 0;
    in->next_request = in->last = 0;
    format_build_rank(&in->build, rank);
    while ((more = dumpi_file_next(&in->file, in->layouts, &r)) > 0)
        put_record(in, &r);
    if (more < 0)
        format_note(in->notes,
                    "rank %" PRIu64 ": cut off or damaged at byte %zu: what follows is missing",
                    rank, (size_t)((in->file.at ? in->file.at : in->file.end) - in->file.data));
    for (unsigned i = 0; i < MPI_ROLES; i++)
        map_fini(&in->local[i]);
    map_fini(&in->comm_of);
    map_fini(&in->requests);
    dumpi_file_close(&in->file);
}

/* ---- all ---- */

/* The value of a line KEY=VALUE, in place; NULL: there is none. */
static const char *meta_value(const char *text, const char *key, char *value, size_t size)
{
    size_t length = strlen(key);
    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n')
        if (strncmp(at, key, length) == 0 && at[length] == '=') {
            snprintf(value, size, "%.*s", (int)strcspn(at + length + 1, "\r\n"), at + length + 1);
            return value;
        }
    return NULL;
}

static int read_meta(struct dumpi_in *in, const char *path, struct err *err)
{
    const char *slash = strrchr(path, '/');
    char value[1024], parts[3][16] = {"8", "1", "0"};
    struct buf text;
    if (textfile_read(path, META_MOST, &text, err) != 0)
        return err->code;
    in->folder = mem_strdup(slash ? path : "");
    if (slash)
        in->folder[slash - path + 1] = '\0';
    long long ranks = meta_value(buf_str(&text), "numprocs", value, sizeof value) ? atoll(value)
                                                                                  : 0;
    const char *prefix = meta_value(buf_str(&text), "fileprefix", value, sizeof value);
    const char *own = strrchr(prefix ? prefix : "", '/');
    in->prefix = mem_strdup(own ? own + 1 : prefix ? prefix : "");
    meta_value(buf_str(&text), "version", parts[0], sizeof parts[0]);
    meta_value(buf_str(&text), "subversion", parts[1], sizeof parts[1]);
    meta_value(buf_str(&text), "subsubversion", parts[2], sizeof parts[2]);
    in->version = DUMPI_VERSION(atoi(parts[0]) & 127, atoi(parts[1]) & 127, atoi(parts[2]) & 127);
    buf_fini(&text);
    if (ranks <= 0 || ranks > RANKS_MOST || !*in->prefix)
        return err_set(err, ERR_INPUT, "cannot read '%s': no line numprocs=N or fileprefix=NAME",
                       path);
    in->ranks = (uint64_t)ranks;
    return 0;
}

static void describe(struct dumpi_in *in)
{
    char text[32];
    snprintf(text, sizeof text, "DUMPI %d.%d.%d", in->version / 10000, in->version / 100 % 100,
             in->version % 100);
    trace_header_add(&in->build.header, "recorder", text);
    in->build.header.tick = 1000;
}

/* The .meta file that a file belongs to; it may be the file of a rank. */
static char *meta_path(const char *path)
{
    size_t length = strlen(path);
    char *meta = mem_alloc(length + sizeof ".meta"), *dash;
    memcpy(meta, path, length + 1);
    if (length > 4 && strcmp(path + length - 4, ".bin") == 0 && (dash = strrchr(meta, '-')))
        strcpy(dash, ".meta");
    return meta;
}

int dumpi_read(const char *path, const char *orr, struct format_notes *notes, struct err *err)
{
    struct dumpi_in in = {.notes = notes};
    char *meta = meta_path(path);
    int rc = read_meta(&in, meta, err);
    mem_free(meta);
    if (rc == 0)
        rc = open_rank(&in, 0, err); /* one at least must be there */
    if (rc == 0) {
        dumpi_file_close(&in.file);
        format_build_init(&in.build, orr, in.ranks, notes);
        describe(&in);
        in.layouts = dumpi_layouts_make(in.build.header.schema);
        in.shapes = call_shapes_make(in.build.header.schema);
        dumpi_comms_init(&in.comms, in.ranks);
        rc = format_build_start(&in.build, err);
        if (rc == 0) {
            read_comms(&in);
            for (uint64_t rank = 0; rank < in.ranks; rank++)
                read_rank(&in, rank);
        }
        int closed = format_build_close(&in.build, rc == 0, err);
        rc = rc != 0 ? rc : closed;
        dumpi_comms_fini(&in.comms);
    }
    mem_free(in.folder);
    mem_free(in.prefix);
    mem_free(in.layouts);
    mem_free(in.shapes);
    mem_free(in.request_items);
    mem_free(in.items);
    mem_free(in.statuses);
    return rc;
}

static int dumpi_detect(const char *path, const uint8_t *head, size_t bytes)
{
    static const uint8_t magic[] = {0xff, 0xaa, 0xdd, 0x44, 0x55, 0x4d, 0x50, 0x49};
    (void)path;
    if (bytes >= sizeof magic && memcmp(head, magic, sizeof magic) == 0)
        return 1;
    return strstr((const char *)head, "numprocs=") && strstr((const char *)head, "fileprefix=");
}

const struct trace_format format_dumpi = {
    .name = "dumpi",
    .suffix = ".meta",
    .about = "DUMPI of SST: a file for each rank beside the named one",
    .detect = dumpi_detect,
    .read = dumpi_read,
    .write = dumpi_write,
};
