/*
 * object.c - reads the dynamic section of a loaded object, and finds its writable data.
 *
 * Writable data is every writable segment less RELRO and jump slots, plus the calling thread's
 * block of the object's thread-local storage.
 */
#include "vp/object.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>

/* Of the dynamic linker, in no header. */
struct tls_index {
    unsigned long module, offset;
};
void *__tls_get_addr(struct tls_index *);

/* Libraries whose data all ranks share: file names up to the version. */
static const char *const shared_runtimes[] = {
    "libc.so",      "libm.so",       "libgcc_s.so",   "libstdc++.so",   "libpthread.so",
    "libdl.so",     "librt.so",      "libmvec.so",    "libquadmath.so", "libresolv.so",
    "libutil.so",   "linux-vdso.so", "linux-gate.so", "ld-linux",       "libc++.so",
    "libc++abi.so", "libnss_",       "libasan.so",    "libubsan.so",    "libanl.so",
};

int vp_object_is_runtime(const char *path)
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

int vp_object_is_own(const struct dl_phdr_info *info)
{
    return contains(info, (void *)vp_object_is_own);
}

/* ld.so has relocated the addresses in the dynamic section, except in some objects. */
static void *dyn_address(const struct vp_object *o, ElfW(Addr) value)
{
    return (void *)(value < o->base ? value + o->base : value);
}

static void read_dynamic(struct vp_object *o)
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
        case DT_FLAGS_1:
            o->no_delete = (d->d_un.d_val & DF_1_NODELETE) != 0;
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

const ElfW(Dyn) * vp_object_dynamic(const struct dl_phdr_info *info)
{
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            return (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    return NULL;
}

struct vp_object vp_object_read(const struct dl_phdr_info *info)
{
    struct vp_object o = {.name = info->dlpi_name,
                          .base = info->dlpi_addr,
                          .dyn = vp_object_dynamic(info)};

    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_GNU_STACK)
            o.exec_stack |= (info->dlpi_phdr[i].p_flags & PF_X) != 0;
    read_dynamic(&o);
    return o;
}

void *vp_object_tls(const struct dl_phdr_info *info, size_t *bytes)
{
    struct tls_index first = {info->dlpi_tls_modid, 0};

    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_TLS)
            *bytes = info->dlpi_phdr[i].p_memsz;
    if (info->dlpi_tls_data || !first.module)
        return info->dlpi_tls_data;
    return __tls_get_addr(&first); /* allocates it */
}

void vp_object_make_private(const struct dl_phdr_info *info, const struct vp_object *o)
{
    size_t bytes = 0;
    void *tls = vp_object_tls(info, &bytes);

    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && (info->dlpi_phdr[i].p_flags & PF_W))
            add_writable(info, &info->dlpi_phdr[i]);
    if (tls)
        vp_image_add(tls, bytes);
    if (o->pltgot) /* bound at start (LD_BIND_NOW), so the same in all ranks */
        vp_image_exclude(o->pltgot, (3 + o->plt_count) * sizeof(void *));
}

int vp_object_is_called(const struct vp_object *o, const char *name)
{
    const char *file = strrchr(o->name, '/');

    return (o->soname && strcmp(o->soname, name) == 0) || strcmp(o->name, name) == 0 ||
           strcmp(file ? file + 1 : o->name, name) == 0;
}

const char *vp_object_needs(const struct vp_object *o, size_t n)
{
    for (const ElfW(Dyn) *d = o->dyn; d && d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_NEEDED && n-- == 0)
            return o->strtab + d->d_un.d_val;
    return NULL;
}

void vp_object_construct(const struct vp_object *o, const struct vp_program *p)
{
    for (size_t i = 0; o->is_main && i < o->preinit_count; i++)
        o->preinit_array[i](p->argc, p->argv, p->envp);
    if (o->init)
        o->init();
    for (size_t i = 0; i < o->init_count; i++)
        o->init_array[i](p->argc, p->argv, p->envp);
}

void vp_object_destruct(const struct vp_object *o)
{
    for (size_t i = o->fini_count; i-- > 0;)
        o->fini_array[i]();
    if (o->fini)
        o->fini();
}
