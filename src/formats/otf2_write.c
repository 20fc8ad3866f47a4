/*
 * otf2_write.c - writes a trace as an OTF2 archive (otf2_out.h), for Score-P's tools, Vampir and
 * Scalasca.
 *
 * Writes and closes one location after the other, so that few files are open; definitions follow at
 * the end.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/path.h"
#include "formats/otf2.h"
#include "formats/otf2_out.h"
#include "library/library.h"

/* ---- records ---- */

/* Regions that were entered and not left yet. */
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
        otf2_out_call(o, w, e);
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
        otf2_out_open(o, w, e);
        break;
    case TRACE_LOST:
        otf2_out_number(o, otf2_out_time(o, w, e->enter), OTF2_OUT_LOST, (int64_t)walk_number(e));
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
    if (definitions) /* it is empty, but tools expect it */
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

int otf2_begin(struct err *err)
{
    int rc = library_load(LIBRARY_otf2, err);
    if (rc == 0)
        OTF2_Error_RegisterCallback(silence, NULL);
    return rc;
}

/* Creates what the library of OTF2 would create, which it then only opens: it follows links. */
static int create_files(const char *folder, const char *name, struct err *err)
{
    static const char *const suffixes[] = {".otf2", ".def"};
    struct buf path;
    buf_init(&path);
    buf_addf(&path, "%s/%s", folder, name);
    int rc = path_make_folder(buf_str(&path), err);
    size_t length = path.len;
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0] && rc == 0; i++) {
        path.len = length;
        buf_adds(&path, suffixes[i]);
        int fd = path_create(buf_str(&path), NULL, err);
        rc = fd < 0 ? err->code : 0;
        if (fd >= 0)
            close(fd);
    }
    buf_fini(&path);
    return rc;
}

/* The events of "x/run.otf2" go into folder "x/run", and the program may have that name. */
static int check_folder(const char *path, const char *folder, const char *name, struct err *err)
{
    struct buf events;
    struct stat st;
    buf_init(&events);
    buf_addf(&events, "%s/%s", folder, name);
    int is_other = stat(buf_str(&events), &st) == 0 && !S_ISDIR(st.st_mode);
    buf_fini(&events);
    if (!is_other)
        return create_files(folder, name, err);
    return err_set(err, ERR_INPUT,
                   "cannot write '%s': the archive needs a folder '%s' beside it, and a file has "
                   "that name: choose another one, such as '%s-trace.otf2'",
                   path, name, name);
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
    int rc = length ? check_folder(path, folder, name, err) : 0;
    errno = 0;
    if (length && rc == 0)
        o->archive = OTF2_Archive_Open(folder, name, OTF2_FILEMODE_WRITE, OTF2_CHUNK_SIZE_MIN,
                                       OTF2_CHUNK_SIZE_MIN, OTF2_SUBSTRATE_POSIX,
                                       OTF2_COMPRESSION_NONE);
    mem_free(folder);
    mem_free(name);
    if (rc)
        return rc;
    if (!o->archive)
        return err_set(err, ERR_SYSTEM, "cannot write '%s': %s", path,
                       errno ? strerror(errno) : "the archive cannot be created");
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
    otf2_names_fini(&o->strings);
    otf2_names_fini(&o->regions);
    otf2_names_fini(&o->parameters);
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
    if (otf2_begin(err) != 0 || open_archive(o, path, err) != 0)
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
