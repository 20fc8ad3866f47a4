/*
 * otf2_defs.c - reads the definitions of an OTF2 archive: ranks and their nodes, communicators,
 * regions.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/rng.h"
#include "formats/otf2_in.h"
#include "formats/otf2_out.h"
#include "trace/definitions.h"

/* ---- tables ---- */

/* Adds a cleared item; adding the next one may move it. */
static void *table_add(struct otf2_table *t, uint64_t ref, size_t size)
{
    int is_new;
    uint64_t *at = map_insert(&t->by_ref, ref, &is_new);
    if (is_new) {
        if (t->count == t->room) {
            t->room = array_room(t->room, t->count + 1, 8);
            t->items = mem_realloc(t->items, t->room * size);
        }
        *at = ++t->count;
    }
    void *item = (char *)t->items + (*at - 1) * size;
    if (is_new)
        memset(item, 0, size);
    return item;
}

void *otf2_table_find(const struct otf2_table *t, uint64_t ref, size_t size)
{
    const uint64_t *at = map_find(&t->by_ref, ref);
    return at ? (char *)t->items + (*at - 1) * size : NULL;
}

static void table_fini(struct otf2_table *t)
{
    map_fini(&t->by_ref);
    mem_free(t->items);
}

const char *otf2_string(const struct otf2_in *in, uint32_t ref)
{
    char *const *text = otf2_table_find(&in->strings, ref, sizeof *text);
    return text ? *text : "";
}

/* ---- callbacks for definitions ---- */

struct tree_node {
    uint32_t name, class, parent;
};

static OTF2_CallbackCode on_clock(void *data, uint64_t resolution, uint64_t offset, uint64_t length,
                                  uint64_t realtime)
{
    struct otf2_in *in = data;
    (void)length, (void)realtime;
    in->resolution = resolution;
    in->offset = offset;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_string(void *data, OTF2_StringRef self, const char *text)
{
    struct otf2_in *in = data;
    char **item = table_add(&in->strings, self, sizeof *item);
    if (!*item)
        *item = mem_strdup(text ? text : "");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_node(void *data, OTF2_SystemTreeNodeRef self, OTF2_StringRef name,
                                 OTF2_StringRef class, OTF2_SystemTreeNodeRef parent)
{
    struct otf2_in *in = data;
    struct tree_node *node = table_add(&in->nodes, self, sizeof *node);
    *node = (struct tree_node){name, class, parent};
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_process(void *data, OTF2_LocationGroupRef self, OTF2_StringRef name,
                                    OTF2_LocationGroupType type, OTF2_SystemTreeNodeRef node,
                                    OTF2_LocationGroupRef creator)
{
    struct otf2_in *in = data;
    struct otf2_process *p = table_add(&in->processes, self, sizeof *p);
    (void)name, (void)type, (void)creator;
    *p = (struct otf2_process){.node = node, .rank = -1};
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_location(void *data, OTF2_LocationRef self, OTF2_StringRef name,
                                     OTF2_LocationType type, uint64_t events,
                                     OTF2_LocationGroupRef group)
{
    struct otf2_in *in = data;
    (void)name, (void)events;
    ARRAY_EXTEND(in->locations, in->location_count);
    in->locations[in->location_count++] = (struct otf2_location){self, group, type, -1, 0};
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_region(void *data, OTF2_RegionRef self, OTF2_StringRef name,
                                   OTF2_StringRef canonical, OTF2_StringRef description,
                                   OTF2_RegionRole role, OTF2_Paradigm paradigm,
                                   OTF2_RegionFlag flags, OTF2_StringRef file, uint32_t begin,
                                   uint32_t end)
{
    struct otf2_in *in = data;
    struct otf2_region *r = table_add(&in->regions, self, sizeof *r);
    (void)canonical, (void)description, (void)role, (void)flags, (void)file, (void)begin, (void)end;
    *r = (struct otf2_region){name, paradigm == OTF2_PARADIGM_MPI ? 0 : -1};
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_group(void *data, OTF2_GroupRef self, OTF2_StringRef name,
                                  OTF2_GroupType type, OTF2_Paradigm paradigm, OTF2_GroupFlag flags,
                                  uint32_t count, const uint64_t *members)
{
    struct otf2_in *in = data;
    struct otf2_group *g = table_add(&in->groups, self, sizeof *g);
    mem_free(g->members);
    *g = (struct otf2_group){type, paradigm, flags, name, NULL, count};
    g->members = mem_try_alloc((size_t)count + 1, sizeof *members);
    if (!g->members)
        return OTF2_CALLBACK_INTERRUPT;
    if (count)
        memcpy(g->members, members, count * sizeof *members);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_comm(void *data, OTF2_CommRef self, OTF2_StringRef name,
                                 OTF2_GroupRef group, OTF2_CommRef parent, OTF2_CommFlag flags)
{
    struct otf2_in *in = data;
    struct otf2_comm *c = table_add(&in->comms, self, sizeof *c);
    (void)parent, (void)flags;
    *c = (struct otf2_comm){.name = name, .group = group};
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_intercomm(void *data, OTF2_CommRef self, OTF2_StringRef name,
                                      OTF2_GroupRef group, OTF2_GroupRef other, OTF2_CommRef common,
                                      OTF2_CommFlag flags)
{
    struct otf2_in *in = data;
    struct otf2_comm *c = table_add(&in->comms, self, sizeof *c);
    (void)common, (void)flags;
    *c = (struct otf2_comm){.name = name, .group = group, .other = other, .is_inter = 1};
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_parameter(void *data, OTF2_ParameterRef self, OTF2_StringRef name,
                                      OTF2_ParameterType type)
{
    struct otf2_in *in = data;
    struct otf2_parameter *p = table_add(&in->parameters, self, sizeof *p);
    (void)type;
    p->name = name;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_win(void *data, OTF2_RmaWinRef self, OTF2_StringRef name,
                                OTF2_CommRef comm, OTF2_RmaWinFlag flags)
{
    struct otf2_in *in = data;
    uint32_t *win = table_add(&in->wins, self, sizeof *win);
    (void)name, (void)flags;
    *win = comm;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_property(void *data, OTF2_LocationRef location, OTF2_StringRef name,
                                     OTF2_Type type, OTF2_AttributeValue value)
{
    struct otf2_in *in = data;
    if (type != OTF2_TYPE_STRING)
        return OTF2_CALLBACK_SUCCESS;
    ARRAY_EXTEND(in->locals, in->local_count);
    in->locals[in->local_count] = (struct otf2_local){location, in->local_count, name,
                                                      value.stringRef};
    in->local_count++;
    return OTF2_CALLBACK_SUCCESS;
}

/* ---- ranks ---- */

static struct otf2_group *find_group(struct otf2_in *in, uint32_t ref)
{
    return otf2_table_find(&in->groups, ref, sizeof(struct otf2_group));
}

/* The group that lists the locations of MPI ranks. */
static const struct otf2_group *rank_group(const struct otf2_in *in)
{
    const struct otf2_group *groups = in->groups.items;
    for (size_t i = 0; i < in->groups.count; i++)
        if (groups[i].type == OTF2_GROUP_TYPE_COMM_LOCATIONS &&
            groups[i].paradigm == OTF2_PARADIGM_MPI)
            return &groups[i];
    return NULL;
}

/* Gives every process a rank and every location a thread; the location in the list of ranks is the
 * first thread. */
static int number_ranks(struct otf2_in *in, const char *path, struct err *err)
{
    const struct otf2_group *list = rank_group(in);
    struct map by_ref;
    map_init(&by_ref);
    for (size_t i = 0; i < in->location_count; i++)
        *map_insert(&by_ref, in->locations[i].ref, NULL) = i + 1;
    if (!list)
        format_note(in->notes,
                    "the archive does not name MPI ranks: processes are numbered in order");
    in->ranks = 0;
    for (size_t i = 0; i < (list ? list->count : in->location_count); i++) {
        const uint64_t *at = list ? map_find(&by_ref, list->members[i]) : NULL;
        struct otf2_location *l = list ? at ? &in->locations[*at - 1] : NULL : &in->locations[i];
        struct otf2_process *p = l ? otf2_table_find(&in->processes, l->group, sizeof *p) : NULL;
        if (p && p->rank < 0) {
            p->rank = (int64_t)in->ranks;
            p->threads = 1;
            l->rank = p->rank;
        } else if (list) {
            format_note(in->notes, "left out: ranks that have no location, or share a process");
        }
        in->ranks += list || (p && l->rank >= 0);
    }
    map_fini(&by_ref);
    for (size_t i = 0; i < in->location_count; i++) {
        struct otf2_location *l = &in->locations[i];
        struct otf2_process *p = otf2_table_find(&in->processes, l->group, sizeof *p);
        if (l->rank >= 0)
            continue;
        if (!p || p->rank < 0 || l->type != OTF2_LOCATION_TYPE_CPU_THREAD || p->threads > 65000) {
            format_note(in->notes, "left out: locations that are not a thread of a rank");
            continue;
        }
        l->rank = p->rank;
        l->thread = p->threads++;
    }
    return in->ranks ? 0 : err_set(err, ERR_INPUT, "cannot read '%s': it has no ranks", path);
}

/* ---- communicators ---- */

static int64_t *ranks_of(const struct otf2_in *in, const struct otf2_group *g)
{
    int64_t *ranks = mem_alloc(((size_t)g->count + 1) * sizeof *ranks);
    for (uint32_t i = 0; i < g->count; i++) {
        uint64_t member = g->members[i];
        if (g->flags & OTF2_GROUP_FLAG_GLOBAL_MEMBERS)
            for (size_t k = 0; k < in->location_count; k++)
                if (in->locations[k].ref == g->members[i])
                    member = (uint64_t)in->locations[k].rank;
        ranks[i] = member < in->ranks ? (int64_t)member : 0;
    }
    return ranks;
}

static int is_world(const struct otf2_in *in, const struct otf2_comm *c)
{
    if (c->is_inter || c->count != in->ranks)
        return 0;
    for (size_t i = 0; i < c->count; i++)
        if (c->ranks[i] != (int64_t)i)
            return 0;
    return 1;
}

static uint64_t identity_of(const struct otf2_in *in, const struct otf2_group *g, size_t number)
{
    const char *name = otf2_string(in, g->name);
    if (in->is_own && strncmp(name, OTF2_OUT_GROUP, strlen(OTF2_OUT_GROUP)) == 0)
        return strtoull(name + strlen(OTF2_OUT_GROUP), NULL, 16) & ~(UINT64_C(1) << 63);
    uint64_t state = number + 1;
    uint64_t identity = rng_splitmix(&state) & ~(UINT64_C(1) << 63);
    return identity ? identity : 1;
}

static void find_comms(struct otf2_in *in)
{
    struct otf2_comm *comms = in->comms.items, *world = NULL;
    for (size_t i = 0; i < in->comms.count; i++) {
        struct otf2_comm *c = &comms[i];
        const struct otf2_group *g = find_group(in, c->group), *o = find_group(in, c->other);
        c->identity = FORMAT_NO_COMM;
        if (!g || g->type == OTF2_GROUP_TYPE_COMM_SELF || (c->is_inter && !o))
            continue;
        c->ranks = ranks_of(in, g);
        c->count = g->count;
        if (c->is_inter)
            c->others = ranks_of(in, o), c->other_count = o->count;
        c->identity = identity_of(in, g, i);
        /* not all recorders name MPI_COMM_WORLD; it is the first with all ranks */
        int is_named = strstr(otf2_string(in, c->name), "COMM_WORLD") != NULL;
        if (is_world(in, c) &&
            (!world || (is_named && !strstr(otf2_string(in, world->name), "COMM_WORLD"))))
            world = c;
    }
    if (world)
        world->identity = TRACE_COMM_WORLD;
}

/* ---- all ---- */

static int by_location(const void *a, const void *b)
{
    const struct otf2_local *p = a, *q = b;
    if (p->location != q->location)
        return p->location < q->location ? -1 : 1;
    return (p->number > q->number) - (p->number < q->number);
}

static OTF2_GlobalDefReaderCallbacks *make_callbacks(void)
{
    OTF2_GlobalDefReaderCallbacks *c = OTF2_GlobalDefReaderCallbacks_New();
    OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(c, on_clock);
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(c, on_string);
    OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(c, on_node);
    OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(c, on_process);
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(c, on_location);
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(c, on_region);
    OTF2_GlobalDefReaderCallbacks_SetGroupCallback(c, on_group);
    OTF2_GlobalDefReaderCallbacks_SetCommCallback(c, on_comm);
    OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(c, on_intercomm);
    OTF2_GlobalDefReaderCallbacks_SetParameterCallback(c, on_parameter);
    OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback(c, on_win);
    OTF2_GlobalDefReaderCallbacks_SetLocationPropertyCallback(c, on_property);
    return c;
}

int otf2_in_definitions(struct otf2_in *in, const char *path, struct err *err)
{
    OTF2_GlobalDefReader *definitions = OTF2_Reader_GetGlobalDefReader(in->reader);
    uint64_t count = 0;
    char *mark = NULL;
    if (!definitions)
        return err_set(err, ERR_INPUT, "cannot read '%s': its definitions are missing", path);
    if (OTF2_Reader_GetProperty(in->reader, OTF2_OUT_MARK, &mark) == OTF2_SUCCESS)
        in->is_own = 1;
    free(mark);
    OTF2_GlobalDefReaderCallbacks *callbacks = make_callbacks();
    OTF2_Reader_RegisterGlobalDefCallbacks(in->reader, definitions, callbacks, in);
    OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
    OTF2_ErrorCode rc = OTF2_Reader_ReadAllGlobalDefinitions(in->reader, definitions, &count);
    OTF2_Reader_CloseGlobalDefReader(in->reader, definitions);
    if (rc != OTF2_SUCCESS)
        format_note(in->notes, "left out: definitions after a damaged one: %s",
                    OTF2_Error_GetDescription(rc));
    if (number_ranks(in, path, err) != 0)
        return err->code;
    if (in->local_count)
        qsort(in->locals, in->local_count, sizeof *in->locals, by_location);
    find_comms(in);
    return 0;
}

void otf2_in_fini(struct otf2_in *in)
{
    char **strings = in->strings.items;
    struct otf2_group *groups = in->groups.items;
    struct otf2_comm *comms = in->comms.items;
    for (size_t i = 0; i < in->strings.count; i++)
        mem_free(strings[i]);
    for (size_t i = 0; i < in->groups.count; i++)
        mem_free(groups[i].members);
    for (size_t i = 0; i < in->comms.count; i++)
        mem_free(comms[i].ranks), mem_free(comms[i].others);
    table_fini(&in->strings);
    table_fini(&in->regions);
    table_fini(&in->groups);
    table_fini(&in->comms);
    table_fini(&in->parameters);
    table_fini(&in->processes);
    table_fini(&in->nodes);
    table_fini(&in->wins);
    mem_free(in->locations);
    mem_free(in->locals);
    mem_free(in->results);
    mem_free(in->shapes);
}

/* The node of the machine that a process is on: the nearest of class "node", else its parent. */
static uint32_t machine_node(const struct otf2_in *in, uint32_t ref)
{
    uint32_t at = ref;
    for (int depth = 0; depth < 64; depth++) {
        const struct tree_node *n = otf2_table_find(&in->nodes, at, sizeof *n);
        if (!n)
            break;
        if (strcmp(otf2_string(in, n->class), "node") == 0)
            return at;
        at = n->parent;
    }
    return ref;
}

static void define_nodes(struct otf2_in *in)
{
    const struct otf2_process *processes = in->processes.items;
    int64_t *nodes = mem_zalloc((in->ranks + 1) * sizeof *nodes);
    struct map known;
    uint64_t count = 0;
    map_init(&known);
    for (size_t i = 0; i < in->processes.count; i++) {
        if (processes[i].rank < 0)
            continue;
        int is_new;
        uint32_t ref = machine_node(in, processes[i].node);
        uint64_t *number = map_insert(&known, ref, &is_new);
        if (is_new) {
            const struct tree_node *n = otf2_table_find(&in->nodes, ref, sizeof *n);
            *number = count++;
            if (n)
                format_build_node_name(&in->build, *number, otf2_string(in, n->name));
        }
        nodes[processes[i].rank] = (int64_t)*number;
    }
    map_fini(&known);
    format_build_nodes(&in->build, nodes);
    mem_free(nodes);
}

void otf2_in_define(struct otf2_in *in)
{
    const struct otf2_comm *comms = in->comms.items;
    struct otf2_region *regions = in->regions.items;
    for (size_t i = 0; i < in->regions.count; i++)
        if (regions[i].fn == 0)
            regions[i].fn = trace_schema_find(in->build.header.schema,
                                              otf2_string(in, regions[i].name));
    define_nodes(in);
    for (size_t i = 0; i < in->comms.count; i++) {
        const struct otf2_comm *c = &comms[i];
        const char *name = otf2_string(in, c->name);
        if (c->identity == FORMAT_NO_COMM || c->identity == TRACE_COMM_WORLD)
            continue;
        format_build_comm(&in->build, c->identity,
                          c->is_inter ? TRACE_COMM_INTER : TRACE_COMM_INTRA, c->ranks, c->count,
                          c->others, c->other_count);
        if (*name)
            format_build_comm_name(&in->build, c->identity, name);
    }
}

/* ---- handles ---- */

static int nibble(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void define_local(struct otf2_in *in, const char *name, const char *hex)
{
    size_t length = strlen(hex) / 2;
    unsigned long kind = strtoul(name, NULL, 10);
    uint8_t *payload = mem_alloc(length + 1);
    int wrong = kind < TRACE_DEFINE_NAME || kind >= TRACE_CALL;
    for (size_t i = 0; i < length && !wrong; i++) {
        int high = nibble(hex[2 * i]), low = nibble(hex[2 * i + 1]);
        wrong = high < 0 || low < 0;
        payload[i] = (uint8_t)(high * 16 + low);
    }
    if (wrong)
        format_note(in->notes, "left out: damaged definitions of handles");
    else
        format_local_raw(&in->build, (enum trace_head)kind, payload, length);
    mem_free(payload);
}

void otf2_in_locals(struct otf2_in *in, const struct otf2_location *l)
{
    size_t length = strlen(OTF2_OUT_DEFINE), first = 0, last = in->local_count;
    while (first < last) {
        size_t middle = first + (last - first) / 2;
        if (in->locals[middle].location < l->ref)
            first = middle + 1;
        else
            last = middle;
    }
    for (size_t i = first; i < in->local_count && in->locals[i].location == l->ref; i++) {
        const char *name = otf2_string(in, in->locals[i].name);
        if (strncmp(name, OTF2_OUT_DEFINE, length) == 0)
            define_local(in, name + length, otf2_string(in, in->locals[i].value));
    }
}
