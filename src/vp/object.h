/*
 * object.h - a loaded object, the program or a library, as its dynamic section describes it.
 */
#ifndef VP_OBJECT_H
#define VP_OBJECT_H

#include <link.h>
#include <stddef.h>

#include "vp/vp_internal.h"

typedef void (*vp_init_fn)(int, char **, char **);

struct vp_object {
    const char *name;
    ElfW(Addr) base;
    const ElfW(Dyn) * dyn;
    void (*init)(void);
    void (*fini)(void);
    vp_init_fn *preinit_array, *init_array;
    void (**fini_array)(void);
    size_t preinit_count, init_count, fini_count;
    const char *strtab, *soname;
    const ElfW(Sym) * symtab;
    const ElfW(Rela) * rela;
    size_t rela_count;
    char *pltgot; /* jump slots: three words, then one per relocation */
    size_t plt_count;
    int is_main;
    int is_ordered; /* in the order of construction (objects.c) */
    int no_delete;  /* dlclose does not unload it */
    int exec_stack; /* it needs executable stacks */
};

/* Is it a language runtime, whose data all ranks share? By its path. */
int vp_object_is_runtime(const char *path);
/* Is it this library? */
int vp_object_is_own(const struct dl_phdr_info *);
/* The dynamic section, which also identifies an object. */
const ElfW(Dyn) * vp_object_dynamic(const struct dl_phdr_info *);
/* Describes it. `name` and the sections are the dynamic linker's. */
struct vp_object vp_object_read(const struct dl_phdr_info *);
/* Makes its writable data private to each rank; the present content is the base. */
void vp_object_make_private(const struct dl_phdr_info *, const struct vp_object *);
/* This thread's block of its thread-local data, and its size; NULL if it has none. */
void *vp_object_tls(const struct dl_phdr_info *, size_t *bytes);
/* May another object need it by that name? */
int vp_object_is_called(const struct vp_object *, const char *name);
/* The n-th name that it needs, or NULL. */
const char *vp_object_needs(const struct vp_object *, size_t n);

/* Objects that are private since the start (objects.c): the one that may be needed by that name, or
 * NULL; and whether one has that dynamic section. */
const struct vp_object *vp_objects_find(const char *name);
int vp_objects_have(const void *dynamic);

void vp_object_construct(const struct vp_object *, const struct vp_program *);
void vp_object_destruct(const struct vp_object *);

#endif
