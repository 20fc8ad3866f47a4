/*
 * objects.c - the objects that are loaded when the program starts: which are private to a rank, and
 * how to run their constructors and destructors.
 *
 * The program and every library are private, except the language runtimes (object.c). libgfortran
 * is private on purpose: its unit tables belong to a program, and its constructor builds them for
 * each rank.
 *
 * Data that the program holds for a shared object by a COPY relocation (stdout, std::cout) belongs
 * to that object and is excluded; libc/ adds back what must be per rank.
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/log.h"
#include "base/mem.h"
#include "vp/late.h"
#include "vp/object.h"
#include "vp/process.h"
#include "vp/vp_internal.h"

#if defined(__x86_64__)
#define RELOC_COPY R_X86_64_COPY
#elif defined(__aarch64__)
#define RELOC_COPY R_AARCH64_COPY
#endif

static VP_OWN struct vp_object *objects; /* in private memory, too */
static VP_OWN size_t object_count;
static VP_OWN size_t *order; /* dependencies first */
static VP_OWN size_t order_count;
static VP_OWN int exec_stack;

static int visit(struct dl_phdr_info *info, size_t size, void *unused)
{
    int is_main = object_count == 0; /* the first one reported is the program */
    struct vp_object o;

    (void)size;
    (void)unused;
    if (!is_main && (vp_object_is_runtime(info->dlpi_name) || vp_object_is_own(info)))
        return 0;
    o = vp_object_read(info);
    o.is_main = is_main;
    exec_stack |= o.exec_stack;
    vp_object_make_private(info, &o);
    objects[object_count++] = o;
    return 0;
}

static char *page_of(const void *addr)
{
    return (char *)((uintptr_t)addr & ~(uintptr_t)4095);
}

static int count(struct dl_phdr_info *info, size_t size, void *all)
{
    (void)info;
    (void)size;
    ++*(size_t *)all;
    return 0;
}

/* Replaces the pages [from, to) by shared memory with the same content. */
static void share_pages(char *from, char *to)
{
    size_t bytes = (size_t)(to - from);
    void *copy;

    if (to <= from)
        return;
    copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
        log_fatal("no memory to share with the processes of ranks");
    memcpy(copy, from, bytes);
    if (mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, from) == MAP_FAILED)
        log_fatal("cannot share the library's variables with the processes of ranks");
}

/* By the linker: the variables of a process's own. */
extern char __start_orrery_own[], __stop_orrery_own[];

/* The linker aligns a section as that of its variables which asks for most. So these have pages of
 * their own if the section that follows is that of vp_turns. */
static VP_OWN __attribute__((aligned(4096), used)) char first_own;

static void check_pages(void)
{
    char *turns = (char *)&vp_turns;

    if (page_of(__start_orrery_own) != __start_orrery_own || page_of(turns) != turns ||
        (char *)&vp_private > __start_orrery_own || turns < __stop_orrery_own)
        log_fatal("the library's variables are not where they should be: build it again");
}

/* Shares this library's writable segment, less RELRO and what stays private. */
static int share(struct dl_phdr_info *info, size_t size, void *unused)
{
    char *from = NULL, *to = NULL, *own = (char *)&vp_private;

    (void)size;
    (void)unused;
    if (!vp_object_is_own(info))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        char *at = (char *)info->dlpi_addr + p->p_vaddr, *end = at + p->p_memsz;

        if (p->p_type == PT_LOAD && (p->p_flags & PF_W)) {
            from = from ? from : page_of(at);
            to = page_of(end + 4095);
        } else if (p->p_type == PT_GNU_RELRO) {
            from = page_of(end);
        }
    }
    check_pages();
    share_pages(from, own);
    share_pages(own + sizeof vp_private, __start_orrery_own);
    share_pages(page_of(__stop_orrery_own + 4095), to);
    return 1;
}

void vp_objects_share(void)
{
    dl_iterate_phdr(share, NULL);
}

int vp_objects_have(const void *dynamic)
{
    for (size_t i = 0; i < object_count; i++)
        if (objects[i].dyn == dynamic)
            return 1;
    return 0;
}

const struct vp_object *vp_objects_find(const char *name)
{
    for (size_t i = 0; i < object_count; i++)
        if (vp_object_is_called(&objects[i], name))
            return &objects[i];
    return NULL;
}

/* Depth-first over DT_NEEDED, so that dependencies come before their users. */
static void add_in_order(struct vp_object *o)
{
    const char *name;

    if (o->is_ordered)
        return;
    o->is_ordered = 1;
    for (size_t n = 0; (name = vp_object_needs(o, n)); n++) {
        const struct vp_object *needed = vp_objects_find(name);

        if (needed)
            add_in_order(&objects[needed - objects]);
    }
    order[order_count++] = (size_t)(o - objects);
}

/* Does a private library define the symbol that the program copied? */
static int defined_privately(const char *symbol)
{
    for (size_t i = 1; i < object_count; i++) {
        void *lib = dlopen(objects[i].name, RTLD_LAZY | RTLD_NOLOAD);
        void *at = lib ? dlsym(lib, symbol) : NULL;
        Dl_info where;
        int found = at && dladdr(at, &where) && (ElfW(Addr))where.dli_fbase == objects[i].base;

        if (lib)
            dlclose(lib);
        if (found)
            return 1;
    }
    return 0;
}

static void exclude_copies(const struct vp_object *o)
{
    for (size_t i = 0; i < o->rela_count; i++) {
        const ElfW(Rela) *r = &o->rela[i];
        const ElfW(Sym) * s;

        if (ELF64_R_TYPE(r->r_info) != RELOC_COPY)
            continue;
        s = &o->symtab[ELF64_R_SYM(r->r_info)];
        if (!defined_privately(o->strtab + s->st_name))
            vp_image_exclude((char *)o->base + r->r_offset, s->st_size);
    }
}

void vp_image_capture(void)
{
    size_t all = 0;

    dl_iterate_phdr(count, &all);
    objects = mem_zalloc_private(all * sizeof *objects);
    order = mem_zalloc_private(all * sizeof *order);
    dl_iterate_phdr(visit, NULL);
    for (size_t i = 0; i < object_count; i++)
        if (!objects[i].is_main)
            add_in_order(&objects[i]);
    add_in_order(&objects[0]);
}

void vp_image_exclude_copies(void)
{
    exclude_copies(&objects[0]);
}

int vp_objects_exec_stack(void)
{
    return exec_stack;
}

void vp_objects_run(int fini, const struct vp_program *program)
{
    for (size_t i = 0; i < order_count; i++) {
        struct vp_object *o = &objects[order[fini ? order_count - 1 - i : i]];

        if (!fini) {
            vp_object_construct(o, program);
            continue;
        }
        vp_object_destruct(o);
        if (o->is_main)
            vp_late_destruct();
    }
}
