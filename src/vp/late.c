/*
 * late.c - loads libraries for single ranks while they run (see late.h).
 *
 * The base image of a library is its data after relocation and before the first constructor. That
 * moment is known, since the `_init` that every linker adds calls __gmon_start__ (libc/load.c) if
 * there is one. The first such call of a load finds all new objects as they were mapped. The rank
 * that loads them runs their constructors in dlopen; for ranks that open them later they are run
 * here.
 *
 * What a rank has opened is private data itself (struct opened), so it costs ranks nothing that
 * load nothing. An object is in use while the rank has opened it or one that needs it. When its use
 * ends, its destructors are run and its data is fresh again; the mapping stays for the others.
 *
 * Ranks cannot have libraries in the global scope (RTLD_GLOBAL): others would find their symbols.
 */
#include "vp/late.h"

#include <assert.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "base/mem.h"
#include "vp/libc/libc.h"
#include "vp/object.h"

#if defined(__x86_64__)
#define RELOC_NONE R_X86_64_NONE
#elif defined(__aarch64__)
#define RELOC_NONE R_AARCH64_NONE
#endif

/* What a rank has done with an object; private data. */
struct opened {
    uint32_t count; /* times that it was opened */
    uint32_t built; /* its number in the order of construction; 0: it is not constructed */
    int is_kept;    /* until the rank ends */
    int is_over;    /* destructed, but its data is not fresh yet */
};

struct late {
    struct vp_object o;
    const char *from, *to; /* its segments */
    char *tls;             /* its thread-local data, or NULL */
    size_t tls_bytes;
    struct opened *mine; /* the running rank's */
    const char *refused; /* why it cannot be used, or NULL */
    int is_used;         /* for find_used */
};

static struct late *late;
static size_t late_count;

/* The running rank's; private data once something was loaded. */
static struct {
    uint32_t built;
    int closing, again; /* a destructor may close other libraries */
} own;
static int own_is_private;

/* Loads that have begun and not ended; one of them may be in a constructor of another. */
static struct {
    const struct vp_rank *rank;
    int depth;
    int is_seen; /* the new objects of the innermost */
} loading;

/* ---- what was loaded before ---- */

static const void **before; /* dynamic sections */
static size_t before_count;

static int note_before(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    ARRAY_EXTEND(before, before_count);
    before[before_count++] = vp_object_dynamic(info);
    return 0;
}

static struct late *find_late(const void *dynamic)
{
    for (size_t i = 0; i < late_count; i++)
        if (late[i].o.dyn == dynamic)
            return &late[i];
    return NULL;
}

static int was_before(const void *dynamic)
{
    for (size_t i = 0; i < before_count; i++)
        if (before[i] == dynamic)
            return 1;
    return 0;
}

int vp_late_begin(void)
{
    int token = loading.is_seen;

    if (loading.depth && loading.rank != vp_current() && !loading.rank->ended)
        log_fatal("rank %llu loads a library while rank %llu waits in a constructor of another, "
                  "which ranks that share a process cannot do; run it with --host process",
                  (unsigned long long)vp_hooks->rank(vp_current()),
                  (unsigned long long)vp_hooks->rank((struct vp_rank *)loading.rank));
    if (loading.depth && loading.rank != vp_current())
        loading.depth = token = 0; /* it ended in a constructor */
    loading.rank = vp_current();
    loading.depth++;
    loading.is_seen = 0;
    before_count = 0;
    dl_iterate_phdr(note_before, NULL);
    return token;
}

/* ---- new objects ---- */

/* Does a relocation refer to a symbol that the object has or wants? */
static int refers(const struct vp_object *o, int (*is)(const struct vp_object *, const ElfW(Sym) *))
{
    for (size_t i = 0; i < o->rela_count; i++) {
        size_t symbol = ELF64_R_SYM(o->rela[i].r_info);

        if (ELF64_R_TYPE(o->rela[i].r_info) != RELOC_NONE && symbol && is(o, &o->symtab[symbol]))
            return 1;
    }
    return 0;
}

static int is_start(const struct vp_object *o, const ElfW(Sym) * s)
{
    return strcmp(o->strtab + s->st_name, "__gmon_start__") == 0;
}

/* The dynamic linker keeps what defines such a symbol. */
static int is_unique(const struct vp_object *o, const ElfW(Sym) * s)
{
    (void)o;
    return ELF64_ST_BIND(s->st_info) == STB_GNU_UNIQUE && s->st_shndx != SHN_UNDEF;
}

static void find_segments(const struct dl_phdr_info *info, struct late *l)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        const char *at = (const char *)info->dlpi_addr + p->p_vaddr;

        if (p->p_type != PT_LOAD)
            continue;
        if (!l->from || at < l->from)
            l->from = at;
        if (at + p->p_memsz > l->to)
            l->to = at + p->p_memsz;
    }
}

/* Its data at this moment is what every rank begins with. */
static int take(struct dl_phdr_info *info, size_t size, void *unused)
{
    struct late l = {0};
    const void *dynamic = vp_object_dynamic(info);

    (void)size;
    (void)unused;
    if (was_before(dynamic) || find_late(dynamic) || vp_object_is_runtime(info->dlpi_name))
        return 0;
    l.o = vp_object_read(info);
    l.o.no_delete |= refers(&l.o, is_unique);
    l.tls = vp_object_tls(info, &l.tls_bytes);
    find_segments(info, &l);
    vp_object_make_private(info, &l.o);
    l.mine = mem_zalloc(sizeof *l.mine);
    vp_image_add(l.mine, sizeof *l.mine);
    if ((l.o.init || l.o.init_count) && (!loading.is_seen || !refers(&l.o, is_start)))
        l.refused = "its constructors cannot be run in each rank";
    if (l.o.exec_stack && !vp_objects_exec_stack())
        l.refused = "it needs executable stacks";
    ARRAY_EXTEND(late, late_count);
    late[late_count++] = l;
    return 0;
}

static struct late *needed(const struct late *l, size_t n)
{
    const char *name = vp_object_needs(&l->o, n);

    for (size_t i = 0; name && i < late_count; i++)
        if (vp_object_is_called(&late[i].o, name))
            return &late[i];
    return NULL;
}

/* Constructs it and what it needs for the running rank. `is_done`: the dynamic linker does. */
static void build(struct late *l, int is_done)
{
    size_t at = (size_t)(l - late); /* constructors may load more, and the array may move */

    if (l->mine->built)
        return;
    l->mine->built = 1; /* of a circle, each once */
    for (size_t n = 0; vp_object_needs(&late[at].o, n); n++)
        if (needed(&late[at], n))
            build(needed(&late[at], n), is_done);
    late[at].mine->built = ++own.built + 1;
    if (!is_done) {
        struct vp_object o = late[at].o;

        vp_object_construct(&o, &vp_program);
    }
}

/* By what name the program may need this library. */
static int visit_own(struct dl_phdr_info *info, size_t size, void *out)
{
    (void)size;
    if (!vp_object_is_own(info))
        return 0;
    *(struct vp_object *)out = vp_object_read(info);
    return 1;
}

/* Libraries that the simulator has loaded for itself have data that ranks cannot have. */
static void check_needs(struct late *l)
{
    struct vp_object library = {0};
    const char *name;

    dl_iterate_phdr(visit_own, &library);
    for (size_t n = 0; (name = vp_object_needs(&l->o, n)); n++)
        if (!needed(l, n) && !vp_objects_find(name) && !vp_object_is_runtime(name) &&
            !vp_object_is_called(&library, name))
            l->refused = "it needs a library that the simulator uses, too";
}

static void take_new(void)
{
    size_t first = late_count;

    if (!own_is_private)
        vp_image_add(&own, sizeof own);
    own_is_private = 1;
    dl_iterate_phdr(take, NULL);
    for (size_t i = first; i < late_count; i++) {
        check_needs(&late[i]);
        build(&late[i], 1);
    }
}

/* A library that needs C++'s runtime: that has been constructed by now. */
static void set_up_cxx(const char *address)
{
    const char *name;

    for (size_t i = 0; i < late_count; i++)
        if (address >= late[i].from && address < late[i].to)
            for (size_t n = 0; (name = vp_object_needs(&late[i].o, n)); n++)
                if (strncmp(name, "libstdc++.so", 12) == 0)
                    libc_cxx_late(name);
}

void vp_late_starting(const void *address)
{
    if (!loading.depth || loading.rank != vp_current())
        return;
    if (!loading.is_seen) {
        loading.is_seen = 1;
        take_new();
    }
    set_up_cxx(address);
}

void vp_late_end(int token)
{
    if (!loading.is_seen)
        take_new();
    loading.is_seen = token;
    loading.depth--;
    libc_runtimes_changed();
}

/* ---- opening and closing ---- */

static int is_of_start(const struct link_map *map)
{
    struct link_map *library = NULL;
    Dl_info info;

    dladdr1((void *)is_of_start, &info, (void **)&library, RTLD_DL_LINKMAP);
    return vp_objects_have(map->l_ld) || map == library;
}

static const char *refusal(const struct late *l)
{
    const struct late *other;

    if (l->refused)
        return l->refused;
    for (size_t n = 0; vp_object_needs(&l->o, n); n++)
        if ((other = needed(l, n)) && other->refused)
            return other->refused;
    return NULL;
}

const char *vp_late_open(const struct link_map *map, int mode, int *hidden)
{
    struct late *l = find_late(map->l_ld);
    struct opened *mine = l ? l->mine : NULL;

    if (!l && (is_of_start(map) || vp_object_is_runtime(map->l_name)))
        return NULL;
    *hidden = (mode & RTLD_NOLOAD) && (!l || !mine->built);
    if (*hidden)
        return NULL;
    if (!l)
        return "the simulator uses it, too";
    if (mode & RTLD_GLOBAL)
        return "its symbols would be visible to all ranks (RTLD_GLOBAL)";
    if (refusal(l))
        return refusal(l);
    build(l, 0);
    mine->count++;
    mine->is_kept |= (mode & RTLD_NODELETE) != 0;
    return NULL;
}

static void use(struct late *l)
{
    struct late *other;

    if (l->is_used)
        return;
    l->is_used = 1;
    for (size_t n = 0; vp_object_needs(&l->o, n); n++)
        if ((other = needed(l, n)))
            use(other);
}

static void find_used(void)
{
    for (size_t i = 0; i < late_count; i++)
        late[i].is_used = 0;
    for (size_t i = 0; i < late_count; i++) {
        struct late *l = &late[i];
        int stays = l->mine->is_kept || l->o.no_delete || vp_handlers_are_in(l->from, l->to);

        if (l->mine->built && (l->mine->count || stays))
            use(l);
    }
}

/* The one constructed last that is not used; NULL: there is none. */
static struct late *last_unused(void)
{
    struct late *last = NULL;

    for (size_t i = 0; i < late_count; i++)
        if (late[i].mine->built && !late[i].is_used &&
            (!last || late[i].mine->built > last->mine->built))
            last = &late[i];
    return last;
}

/* Destructors may load and close libraries, and let other ranks run. */
static void destruct(struct late *l)
{
    struct vp_object o = l->o;

    l->mine->built = 0;
    l->mine->is_over = 1;
    vp_object_destruct(&o);
}

static void make_fresh(struct late *l)
{
    l->mine->is_over = 0;
    vp_image_restore((char *)l->from, (size_t)(l->to - l->from));
    if (l->tls)
        vp_image_restore(l->tls, l->tls_bytes);
}

static void close_unused(void)
{
    struct late *l;

    own.closing = 1;
    do {
        own.again = 0;
        for (find_used(); (l = last_unused()); find_used())
            destruct(l);
        for (size_t i = 0; i < late_count; i++)
            if (late[i].mine->is_over)
                make_fresh(&late[i]);
    } while (own.again);
    own.closing = 0;
}

int vp_late_close(const struct link_map *map)
{
    struct late *l = find_late(map->l_ld);

    if (!l)
        return 0; /* never unloaded */
    if (!l->mine->count)
        return -1;
    if (--l->mine->count)
        return 0;
    if (own.closing)
        own.again = 1;
    else
        close_unused();
    return 0;
}

/* ---- the end of a rank ---- */

static void destruct_all(void)
{
    struct late *l;

    own.closing = 1; /* what is closed now is destructed anyway */
    for (;;) {
        for (size_t i = 0; i < late_count; i++)
            late[i].is_used = 0;
        if (!(l = last_unused()))
            return;
        destruct(l);
    }
}

/* All that the process of a rank has loaded, in its own memory. */
struct listed {
    struct vp_object *all;
    size_t count;
};

static int list(struct dl_phdr_info *info, size_t size, void *out)
{
    struct listed *l = out;
    struct vp_object *all;

    (void)size;
    if (vp_objects_have(vp_object_dynamic(info)) || vp_object_is_own(info) ||
        vp_object_is_runtime(info->dlpi_name))
        return 0;
    all = realloc(l->all, (l->count + 1) * sizeof *all);
    if (!all)
        return 1;
    l->all = all;
    l->all[l->count++] = vp_object_read(info);
    return 0;
}

/* Those that need it come first, then those that were loaded later. */
static void destruct_listed(struct listed *l, struct vp_object *o)
{
    const char *name;

    if (o->is_ordered)
        return;
    o->is_ordered = 1;
    for (size_t i = l->count; i-- > 0;)
        for (size_t n = 0; (name = vp_object_needs(&l->all[i], n)); n++)
            if (vp_object_is_called(o, name))
                destruct_listed(l, &l->all[i]);
    vp_object_destruct(o);
}

void vp_late_destruct(void)
{
    struct listed l = {0};

    if (vp_current_sharing()) {
        destruct_all();
        return;
    }
    dl_iterate_phdr(list, &l);
    for (size_t i = l.count; i-- > 0;)
        destruct_listed(&l, &l.all[i]);
    free(l.all);
}
