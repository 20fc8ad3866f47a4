/*
 * dumpi_read.c - reads traces of DUMPI. Every file is read twice: first for the communicators that
 * the ranks create together, then for the calls.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "formats/dumpi_in.h"
#include "formats/table.h"
#include "formats/textfile.h"
#include "trace/definitions.h"

#define META_MOST 65536
#define RANKS_MOST (1 << 24)

/* ---- the first pass ---- */

static void add_creation(struct dumpi_in *in, const struct dumpi_layout *l,
                         const struct dumpi_record *r)
{
    const struct dumpi_raw *dims = dumpi_record_value(l, r, "dims"),
                           *remain = dumpi_record_value(l, r, "remain_dims");
    int64_t made = dumpi_record_new_comm(l, r), from = dumpi_record_comm(l, r);
    int number = in->build.header.schema->fns[l->fn].number;
    struct dumpi_creation c = {.fn = l->fn,
                               .color = dumpi_record_number(l, r, "color", 0),
                               .key = dumpi_record_number(l, r, "key", 0)};
    if (!made)
        return;
    dims = dims ? dims : remain;
    if (dims && dims->count) {
        c.ndims = dims->count;
        c.dims = mem_alloc(c.ndims * sizeof *c.dims);
        memcpy(c.dims, in->file.items + dims->first, c.ndims * sizeof *c.dims);
    }
    unsigned step = number < 0 ? MPI_STEP_NONE : mpi_fn_effect[number].step;
    if (step == MPI_STEP_MERGE || step == MPI_STEP_MEET)
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
            in->statuses[in->status_count++] = dumpi_status_in(in, l, r, i,
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
            item = is_handle ? dumpi_handle(in, l, r, f, arg, item) : dumpi_value_in(f, item);
            ARRAY_EXTEND(in->items, in->item_count);
            in->items[in->item_count++] = item;
        }
        v->count = raw->count;
    } else if (f->primitive == DUMPI_INT) {
        v->number = is_handle ? dumpi_handle(in, l, r, f, arg, raw->number)
                              : dumpi_value_in(f, raw->number);
    }
}

/* Sets pointers, as arrays may have moved while the call was built. */
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
    if (dumpi_record_new_comm(l, r))
        dumpi_make_comm(in, dumpi_record_new_comm(l, r));
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

static int read_traces(const char *path, const char *orr, struct format_notes *notes,
                       struct err *err)
{
    struct dumpi_in in = {.notes = notes};
    char *meta = meta_path(path);
    int rc = read_meta(&in, meta, err);
    mem_free(meta);
    if (rc == 0)
        rc = open_rank(&in, 0, err); /* at least one must exist */
    if (rc == 0) {
        dumpi_file_close(&in.file);
        format_build_init(&in.build, orr, in.ranks, notes);
        describe(&in);
        in.layouts = dumpi_layouts_make(in.build.header.schema);
        in.shapes = calls_of(in.build.header.schema);
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
    .about = "DUMPI of SST: the named file, and one per rank",
    .detect = dumpi_detect,
    .read = read_traces,
    .write = dumpi_write,
};
