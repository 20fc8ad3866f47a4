/*
 * otf2_read.c - reads OTF2 archives.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/otf2.h"
#include "formats/otf2_in.h"
#include "formats/otf2_out.h"
#include "formats/table.h"
#include "formats/textfile.h"

static void add_properties(struct otf2_in *in)
{
    char *creator = NULL, *value = NULL, name[64];
    if (!in->is_own && OTF2_Reader_GetCreator(in->reader, &creator) == OTF2_SUCCESS && creator)
        trace_header_add(&in->build.header, "recorder", creator);
    free(creator);
    for (unsigned i = 0; in->is_own; i++) {
        snprintf(name, sizeof name, OTF2_OUT_PROPERTY "%u", i);
        if (OTF2_Reader_GetProperty(in->reader, name, &value) != OTF2_SUCCESS || !value)
            break;
        char *equals = strchr(value, '=');
        if (equals) {
            *equals = '\0';
            trace_header_add(&in->build.header, value, equals + 1);
        }
        free(value);
        value = NULL;
    }
}

/* Reads local definitions: maps from numbers of a location to global ones, and offsets of
 * clocks. */
static void read_maps(struct otf2_in *in)
{
    if (OTF2_Reader_OpenDefFiles(in->reader) != OTF2_SUCCESS)
        return; /* an archive need not have any */
    for (size_t i = 0; i < in->location_count; i++) {
        uint64_t count = 0;
        OTF2_DefReader *d = OTF2_Reader_GetDefReader(in->reader, in->locations[i].ref);
        if (!d)
            continue;
        OTF2_ErrorCode rc = OTF2_Reader_ReadAllLocalDefinitions(in->reader, d, &count);
        if (rc != OTF2_SUCCESS)
            format_note(in->notes, "left out: definitions of location %llu after a damaged one: %s",
                        (unsigned long long)in->locations[i].ref, OTF2_Error_GetDescription(rc));
        OTF2_Reader_CloseDefReader(in->reader, d);
    }
    OTF2_Reader_CloseDefFiles(in->reader);
}

static int has_sites(const struct otf2_in *in)
{
    const struct otf2_parameter *parameters = in->parameters.items;
    for (size_t i = 0; i < in->parameters.count && in->is_own; i++)
        if (strcmp(otf2_string(in, parameters[i].name), OTF2_OUT_SITE) == 0)
            return 1;
    return 0;
}

static int by_rank(const void *a, const void *b)
{
    const struct otf2_location *p = a, *q = b;
    if (p->rank != q->rank)
        return p->rank < q->rank ? -1 : 1;
    return (p->thread > q->thread) - (p->thread < q->thread);
}

static int read_all(struct otf2_in *in, const char *path, const char *orr, struct err *err)
{
    if (otf2_in_definitions(in, path, err) != 0)
        return err->code;
    if (in->ranks > UINT32_MAX)
        return err_set(err, ERR_INPUT, "cannot read '%s': too many ranks", path);
    for (size_t i = 0; i < in->location_count; i++)
        OTF2_Reader_SelectLocation(in->reader, in->locations[i].ref);
    format_build_init(&in->build, orr, in->ranks, in->notes);
    uint64_t ps = UINT64_C(1000000000000);
    in->build.header.tick = in->resolution && ps % in->resolution == 0 ? ps / in->resolution : 1;
    add_properties(in);
    in->build.header.has_sites = has_sites(in);
    in->shapes = calls_of(in->build.header.schema);
    int rc = format_build_start(&in->build, err);
    if (rc == 0) {
        otf2_in_define(in);
        read_maps(in);
        if (OTF2_Reader_OpenEvtFiles(in->reader) != OTF2_SUCCESS)
            format_note(in->notes, "the archive has no files of events");
        if (in->location_count)
            qsort(in->locations, in->location_count, sizeof *in->locations, by_rank);
        int64_t rank = -1;
        for (size_t i = 0; i < in->location_count; i++) {
            const struct otf2_location *l = &in->locations[i];
            if (l->rank < 0)
                continue;
            if (l->rank != rank) {
                format_build_rank(&in->build, (uint64_t)l->rank);
                otf2_in_locals(in, l);
            }
            rank = l->rank;
            otf2_in_events(in, l);
        }
        OTF2_Reader_CloseEvtFiles(in->reader);
    }
    int closed = format_build_close(&in->build, rc == 0, err);
    return rc != 0 ? rc : closed;
}

/* The library would allocate and clear any size that a damaged file states. */
static int has_sane_chunks(OTF2_Reader *reader)
{
    uint64_t events = 0, definitions = 0;
    return OTF2_Reader_GetChunkSize(reader, &events, &definitions) == OTF2_SUCCESS &&
           events >= OTF2_CHUNK_SIZE_MIN && events <= OTF2_CHUNK_SIZE_MAX &&
           definitions >= OTF2_CHUNK_SIZE_MIN && definitions <= OTF2_CHUNK_SIZE_MAX;
}

/*
 * Checks the anchor file: 46 bytes of numbers, three texts that end with NUL, and a number of
 * properties, which the library trusts: a damaged one would keep it busy for minutes. Returns 0 if
 * it is implausible.
 */
static int has_sane_anchor(const char *path)
{
    enum { NUMBERS = 46, ANCHOR_MOST = 1 << 24, LITTLE_ENDIAN_MARK = 'B', KNOWN_VERSION = 3 };
    struct buf text;
    struct err err;
    uint32_t properties = 0;
    if (textfile_read(path, ANCHOR_MOST, &text, &err) != 0)
        return 0;
    const char *data = buf_str(&text), *at = data + NUMBERS, *end = data + text.len;
    int is_known = text.len > NUMBERS && data[1] == LITTLE_ENDIAN_MARK && data[7] == KNOWN_VERSION;
    for (int i = 0; is_known && at && i < 3; i++) {
        at = memchr(at, '\0', (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
    int is_sane = !is_known || (at && end - at >= (ptrdiff_t)sizeof properties);
    if (is_known && is_sane) {
        memcpy(&properties, at, sizeof properties);
        is_sane = properties <= (size_t)(end - at) / 2;
    }
    buf_fini(&text);
    return is_sane;
}

static int read_archive(const char *path, const char *orr, struct format_notes *notes,
                        struct err *err)
{
    struct otf2_in in = {.notes = notes, .path = path};
    if (otf2_begin(err) != 0)
        return ERR_SYSTEM;
    in.reader = has_sane_anchor(path) ? OTF2_Reader_Open(path) : NULL;
    if (!in.reader)
        return err_set(err, ERR_INPUT, "cannot read '%s': it is not a complete OTF2 archive", path);
    int rc = has_sane_chunks(in.reader)
                 ? read_all(&in, path, orr, err)
                 : err_set(err, ERR_INPUT, "cannot read '%s': its chunk size is damaged", path);
    OTF2_Reader_Close(in.reader);
    otf2_in_fini(&in);
    return rc;
}

/* The anchor file starts with a mark, a letter for the byte order, and "OTF2". */
static int otf2_detect(const char *path, const uint8_t *head, size_t bytes)
{
    (void)path;
    return bytes >= 6 && memcmp(head + 2, "OTF2", 4) == 0;
}

const struct trace_format format_otf2 = {
    .name = "otf2",
    .suffix = ".otf2",
    .about = "OTF2: archives of Score-P, Vampir and Scalasca",
    .detect = otf2_detect,
    .read = read_archive,
    .write = otf2_write,
};
