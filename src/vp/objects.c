/*
 * objects.c - the loaded objects: which are private to a rank, where their writable data is, and
 * how to run their constructors and destructors.
 *
 * The program and every library are private, except the language runtimes below. libgfortran is
 * private on purpose: its unit tables belong to a program, and its constructor builds them for each
 * rank.
 *
 * Writable data is every writable segment less RELRO and jump slots, plus the calling thread's
 * block of the object's thread-local storage. Data that the program holds for a shared object by a
 * COPY relocation (stdout, std::cout) belongs to that object and is excluded; libc/ adds back what
 * must be per rank.
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/array.h"
#include "base/log.h"
#include "base/mem.h"
#include "vp/vp_internal.h"

#if defined(__x86_64__)
#define RELOC_COPY R_X86_64_COPY
#elif defined(__aarch64__)
#define RELOC_COPY R_AARCH64_COPY
#endif

typedef void (*init_fn)(int, char **, char **);

struct object {
    const char *name;
    ElfW(Addr) base;
    const ElfW(Dyn) * dyn;
    void (*init)(void);
    void (*fini)(void);
    init_fn *preinit_array, *init_array;
    void (**fini_array)(void);
    size_t preinit_count, init_count, fini_count;
    const char *strtab, *soname;
    const ElfW(Sym) * symtab;
    const ElfW(Rela) * rela;
    size_t rela_count;
    char *pltgot; /* jump slots: three words, then one per relocation */
    size_t plt_count;
    int is_main;
    int is_ordered; /* in `order` already */
};

static struct object *objects;
static size_t object_count;
static size_t *order; /* dependencies first */
static size_t order_count;
static int exec_stack;

/* Libraries whose data all ranks share: file names up to the version. */
static const char *const shared_runtimes[] = {
    "libc.so",      "libm.so",       "libgcc_s.so",   "libstdc++.so",   "libpthread.so",
    "libdl.so",     "librt.so",      "libmvec.so",    "libquadmath.so", "libresolv.so",
    "libutil.so",   "linux-vdso.so", "linux-gate.so", "ld-linux",       "libc++.so",
    "libc++abi.so", "libnss_",       "libasan.so",    "libubsan.so",    "libanl.so",
};

static int is_runtime(const char *path)
{
    const char *name = strrchr(path, '/');

    name = name ? name + 1 : path;
    for (size_t i = 0; i < sizeof shared_runtimes / sizeof *shared_runtimes; i++)
        if (strncmp(name, shared_runtimes[i], strlen(shared_runtimes[i])) == 0)
            return 1;
    return 0;
}

static int contains(const struct dl_phdr_info *info, const void *addr)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        ElfW(Addr) at = info->dlpi_addr + p->p_vaddr;

        if (p->p_type == PT_LOAD && (ElfW(Addr))addr >= at && (ElfW(Addr))addr < at + p->p_memsz)
            return 1;
    }
    return 0;
}

/* ld.so has relocated the addresses in the dynamic section, except in some objects. */
static void *dyn_address(const struct object *o, ElfW(Addr) value)
{
    return (void *)(value < o->base ? value + o->base : value);
}

static void read_dynamic(struct object *o)
{
    ElfW(Addr) soname = 0;
    int has_soname = 0;

    for (const ElfW(Dyn) *d = o->dyn; d && d->d_tag != DT_NULL; d++) {
        void *p = dyn_address(o, d->d_un.d_ptr);

        switch (d->d_tag) {
        case DT_INIT:
            o->init = (void (*)(void))p;
            break;
        case DT_FINI:
            o->fini = (void (*)(void))p;
            break;
        case DT_PREINIT_ARRAY:
            o->preinit_array = p;
            break;
        case DT_PREINIT_ARRAYSZ:
            o->preinit_count = d->d_un.d_val / sizeof(void *);
            break;
        case DT_INIT_ARRAY:
            o->init_array = p;
            break;
        case DT_INIT_ARRAYSZ:
            o->init_count = d->d_un.d_val / sizeof(void *);
            break;
        case DT_FINI_ARRAY:
            o->fini_array = p;
            break;
        case DT_FINI_ARRAYSZ:
            o->fini_count = d->d_un.d_val / sizeof(void *);
            break;
        case DT_STRTAB:
            o->strtab = p;
            break;
        case DT_SYMTAB:
            o->symtab = p;
            break;
        case DT_RELA:
            o->rela = p;
            break;
        case DT_RELASZ:
            o->rela_count = d->d_un.d_val / sizeof(ElfW(Rela));
            break;
        case DT_PLTGOT:
            o->pltgot = p;
            break;
        case DT_PLTRELSZ:
            o->plt_count = d->d_un.d_val / sizeof(ElfW(Rela));
            break;
        case DT_SONAME:
            soname = d->d_un.d_val;
            has_soname = 1;
            break;
        default:
            break;
        }
    }
    if (has_soname)
        o->soname = o->strtab + soname;
}

static char *page_of(const void *addr)
{
    return (char *)((uintptr_t)addr & ~(uintptr_t)4095);
}

/* Adds a writable segment less the RELRO part of the object. */
static void add_writable(const struct dl_phdr_info *info, const ElfW(Phdr) * segment)
{
    char *from = (char *)info->dlpi_addr + segment->p_vaddr, *to = from + segment->p_memsz;
    char *zeros = page_of(from + segment->p_filesz + 4095);

    zeros = zeros < to ? zeros : to;
    if (zeros > from)
        vp_image_add(from, (size_t)(zeros - from));
    if (zeros < to)
        vp_image_add_zeros(zeros, (size_t)(to - zeros));
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];

        if (p->p_type == PT_GNU_RELRO)
            vp_image_exclude((char *)info->dlpi_addr + p->p_vaddr, p->p_memsz);
    }
}

static int visit(struct dl_phdr_info *info, size_t size, void *unused)
{
    struct object o = {.name = info->dlpi_name, .base = info->dlpi_addr};

    (void)size;
    (void)unused;
    o.is_main = object_count == 0; /* the first one reported is the program */
    if (!o.is_main && (is_runtime(info->dlpi_name) || contains(info, (void *)visit)))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        char *at = (char *)info->dlpi_addr + p->p_vaddr;

        if (p->p_type == PT_LOAD && (p->p_flags & PF_W))
            add_writable(info, p);
        else if (p->p_type == PT_TLS && info->dlpi_tls_data)
            vp_image_add(info->dlpi_tls_data, p->p_memsz);
        else if (p->p_type == PT_GNU_STACK)
            exec_stack |= (p->p_flags & PF_X) != 0;
        else if (p->p_type == PT_DYNAMIC)
            o.dyn = (const ElfW(Dyn) *)at;
    }
    read_dynamic(&o);
    if (o.pltgot) /* bound at start (LD_BIND_NOW), so the same in all ranks */
        vp_image_exclude(o.pltgot, (3 + o.plt_count) * sizeof(void *));
    ARRAY_EXTEND(objects, object_count);
    objects[object_count++] = o;
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

/* Shares this library's writable segment, less RELRO and what stays private. */
static int share(struct dl_phdr_info *info, size_t size, void *unused)
{
    char *from = NULL, *to = NULL, *own = (char *)&vp_private;

    (void)size;
    (void)unused;
    if (!contains(info, (void *)share))
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
    share_pages(from, own);
    share_pages(own + sizeof vp_private, to);
    return 1;
}

void vp_objects_share(void)
{
    dl_iterate_phdr(share, NULL);
}

static struct object *find_object(const char *soname)
{
    for (size_t i = 0; i < object_count; i++) {
        const struct object *o = &objects[i];
        const char *file = strrchr(o->name, '/');

        if ((o->soname && strcmp(o->soname, soname) == 0) ||
            strcmp(file ? file + 1 : o->name, soname) == 0)
            return &objects[i];
    }
    return NULL;
}

/* Depth-first over DT_NEEDED, so that dependencies come before their users. */
static void add_in_order(struct object *o)
{
    if (o->is_ordered)
        return;
    o->is_ordered = 1;
    for (const ElfW(Dyn) *d = o->dyn; d && d->d_tag != DT_NULL; d++) {
        struct object *needed;

        if (d->d_tag == DT_NEEDED && (needed = find_object(o->strtab + d->d_un.d_val)))
            add_in_order(needed);
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

static void exclude_copies(const struct object *o)
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
    dl_iterate_phdr(visit, NULL);
    order = mem_alloc(object_count * sizeof *order);
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

static void construct(const struct object *o, const struct vp_program *p)
{
    for (size_t i = 0; o->is_main && i < o->preinit_count; i++)
        o->preinit_array[i](p->argc, p->argv, p->envp);
    if (o->init)
        o->init();
    for (size_t i = 0; i < o->init_count; i++)
        o->init_array[i](p->argc, p->argv, p->envp);
}

static void destruct(const struct object *o)
{
    for (size_t i = o->fini_count; i-- > 0;)
        o->fini_array[i]();
    if (o->fini)
        o->fini();
}

void vp_objects_run(int fini, const struct vp_program *program)
{
    for (size_t i = 0; i < order_count; i++) {
        if (fini)
            destruct(&objects[order[order_count - 1 - i]]);
        else
            construct(&objects[order[i]], program);
    }
}
