/*
 * otf2_define.c - writes the definitions of an OTF2 archive, after all events.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "formats/otf2_out.h"

#define PICOSECONDS UINT64_C(1000000000000) /* in a second */

struct defining {
    struct otf2_out *o;
    struct trace *t;
    OTF2_GlobalDefWriter *to;
    struct format_notes *notes;
    uint32_t next_group;
};

static uint32_t text(struct defining *d, const char *words)
{
    return otf2_out_string(d->o, words, strlen(words));
}

/* Writes the strings that were added since the last time. */
static void put_strings(struct defining *d, uint32_t *done)
{
    for (; *done < d->o->strings.count; ++*done)
        OTF2_GlobalDefWriter_WriteString(d->to, *done, d->o->strings.items[*done].text);
}

/* ---- machine ---- */

static void put_system(struct defining *d, uint32_t *done)
{
    const struct trace *t = d->t;
    uint64_t nodes = t->definitions.nodes ? t->definitions.node_count : 1;
    uint32_t machine = text(d, "machine"), node = text(d, "node"), empty = text(d, "");
    uint32_t mpi = text(d, "MPI"), user = text(d, "user");
    char words[64];
    put_strings(d, done);
    OTF2_GlobalDefWriter_WriteParadigm(d->to, OTF2_PARADIGM_MPI, mpi, OTF2_PARADIGM_CLASS_PROCESS);
    OTF2_GlobalDefWriter_WriteParadigm(d->to, OTF2_PARADIGM_USER, user,
                                       OTF2_PARADIGM_CLASS_PROCESS);
    OTF2_GlobalDefWriter_WriteSystemTreeNode(d->to, 0, machine, machine,
                                             OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    for (uint64_t i = 0; i < nodes; i++) {
        uint32_t name = text(d, walk_node_name(t, i, words, sizeof words));
        put_strings(d, done);
        OTF2_GlobalDefWriter_WriteSystemTreeNode(d->to, (uint32_t)i + 1, name, node, 0);
        OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(d->to, (uint32_t)i + 1,
                                                       OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY);
    }
    (void)empty;
}

static void put_locations(struct defining *d, uint32_t *done)
{
    uint64_t ranks = d->t->header.ranks;
    char words[64];
    for (uint64_t rank = 0; rank < ranks; rank++) {
        snprintf(words, sizeof words, "MPI Rank %llu", (unsigned long long)rank);
        uint32_t name = text(d, words);
        put_strings(d, done);
        OTF2_GlobalDefWriter_WriteLocationGroup(d->to, (uint32_t)rank, name,
                                                OTF2_LOCATION_GROUP_TYPE_PROCESS,
                                                (uint32_t)walk_node(d->t, rank) + 1,
                                                OTF2_UNDEFINED_LOCATION_GROUP);
        for (uint32_t i = 0; i < d->o->threads[rank]; i++) {
            snprintf(words, sizeof words, i ? "Thread %u" : "Master thread", i);
            name = text(d, words);
            put_strings(d, done);
            OTF2_GlobalDefWriter_WriteLocation(d->to, rank + i * ranks, name,
                                               OTF2_LOCATION_TYPE_CPU_THREAD,
                                               d->o->counts[d->o->location_at[rank] + i],
                                               (uint32_t)rank);
        }
    }
}

/* ---- communicators ---- */

static uint32_t put_group(struct defining *d, uint32_t *done, const char *name, OTF2_GroupType type,
                          const int64_t *members, uint64_t count)
{
    uint64_t *items = mem_alloc((count + 1) * sizeof *items);
    uint32_t string = text(d, name);
    for (uint64_t i = 0; i < count; i++)
        items[i] = members ? (uint64_t)members[i] : i;
    put_strings(d, done);
    OTF2_GlobalDefWriter_WriteGroup(d->to, d->next_group, string, type, OTF2_PARADIGM_MPI,
                                    OTF2_GROUP_FLAG_NONE, (uint32_t)count, items);
    mem_free(items);
    return d->next_group++;
}

static void put_comms(struct defining *d, uint32_t *done)
{
    const struct trace_definitions *all = &d->t->definitions;
    uint64_t ranks = d->t->header.ranks;
    uint32_t world = text(d, "MPI_COMM_WORLD"), self = text(d, "MPI_COMM_SELF");
    char words[64];
    put_group(d, done, "MPI ranks", OTF2_GROUP_TYPE_COMM_LOCATIONS, NULL, ranks);
    uint32_t group = put_group(d, done, "all", OTF2_GROUP_TYPE_COMM_GROUP, NULL, ranks);
    OTF2_GlobalDefWriter_WriteComm(d->to, 0, world, group, OTF2_UNDEFINED_COMM,
                                   OTF2_COMM_FLAG_NONE);
    group = put_group(d, done, "self", OTF2_GROUP_TYPE_COMM_SELF, NULL, 0);
    OTF2_GlobalDefWriter_WriteComm(d->to, 1, self, group, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
    for (size_t i = 0; i < all->comm_count; i++) {
        const struct trace_comm *c = &all->comms[i];
        uint32_t name = text(d, c->name ? c->name : "");
        snprintf(words, sizeof words, OTF2_OUT_GROUP "%016llx", (unsigned long long)c->identity);
        group = put_group(d, done, words, OTF2_GROUP_TYPE_COMM_GROUP, c->ranks, c->size);
        if (c->kind == TRACE_COMM_INTER) {
            uint32_t other = put_group(d, done, words, OTF2_GROUP_TYPE_COMM_GROUP, c->others,
                                       c->other_size);
            OTF2_GlobalDefWriter_WriteInterComm(d->to, (uint32_t)i + 2, name, group, other, 0,
                                                OTF2_COMM_FLAG_NONE);
        } else {
            OTF2_GlobalDefWriter_WriteComm(d->to, (uint32_t)i + 2, name, group, 0,
                                           OTF2_COMM_FLAG_NONE);
        }
    }
}

/* ---- the rest ---- */

static void put_names(struct defining *d)
{
    const struct otf2_names *regions = &d->o->regions, *parameters = &d->o->parameters;
    for (uint32_t i = 0; i < regions->count; i++) {
        const struct otf2_name *r = &regions->items[i];
        OTF2_GlobalDefWriter_WriteRegion(d->to, i, r->string, r->string, 0, r->kind,
                                         r->is_mpi ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_USER,
                                         OTF2_REGION_FLAG_NONE, 0, 0, 0);
    }
    for (uint32_t i = 0; i < parameters->count; i++)
        OTF2_GlobalDefWriter_WriteParameter(d->to, i, parameters->items[i].string,
                                            parameters->items[i].kind);
}

static void put_wins(struct defining *d, uint32_t *done)
{
    char words[64];
    for (uint32_t i = 0; i < d->o->win_count; i++) {
        struct trace_local_item comm = {.identity = d->o->win_items[i].comm};
        snprintf(words, sizeof words, "window %u", i);
        uint32_t name = text(d, words);
        put_strings(d, done);
        OTF2_GlobalDefWriter_WriteRmaWin(d->to, i, name, otf2_out_comm(d->t, &comm),
                                         OTF2_RMA_WIN_FLAG_CREATE_DESTROY_EVENTS);
    }
}

/* Writes what a rank's handles mean, as the bytes that are in the trace. */
static void put_local(struct defining *d, uint64_t rank, uint32_t *done)
{
    struct trace_cursor c;
    struct trace_event e;
    struct err err;
    struct buf hex;
    int more;
    uint64_t number = 0;
    char words[64];
    buf_init(&hex);
    trace_cursor_open(&c, d->t, rank, 0, TRACE_LOCAL_DEFINITIONS);
    while ((more = trace_cursor_next(&c, &e, &err)) != 0) {
        if (more < 0 || e.head >= TRACE_CALL)
            continue;
        buf_clear(&hex);
        for (size_t i = 0; i < e.bytes; i++)
            buf_addf(&hex, "%02x", e.payload[i]);
        snprintf(words, sizeof words, OTF2_OUT_DEFINE "%u %llu", e.head,
                 (unsigned long long)number++);
        uint32_t name = text(d, words), value = otf2_out_string(d->o, buf_str(&hex), hex.len);
        put_strings(d, done);
        OTF2_GlobalDefWriter_WriteLocationProperty(d->to, rank, name, OTF2_TYPE_STRING,
                                                   (OTF2_AttributeValue){.stringRef = value});
    }
    trace_cursor_close(&c);
    buf_fini(&hex);
}

int otf2_out_define(struct otf2_out *o, struct trace *t, struct format_notes *notes,
                    struct err *err)
{
    struct defining d = {.o = o, .t = t, .notes = notes};
    uint32_t done = 0;
    d.to = OTF2_Archive_GetGlobalDefWriter(o->archive);
    if (!d.to)
        return err_set(err, ERR_SYSTEM, "cannot write definitions");
    OTF2_GlobalDefWriter_WriteClockProperties(d.to, PICOSECONDS / t->header.tick, 0,
                                              (uint64_t)o->end + 1, OTF2_UNDEFINED_TIMESTAMP);
    put_strings(&d, &done);
    put_system(&d, &done);
    put_locations(&d, &done);
    put_names(&d);
    put_comms(&d, &done);
    put_wins(&d, &done);
    for (uint64_t rank = 0; rank < t->header.ranks; rank++)
        put_local(&d, rank, &done);
    return 0;
}
