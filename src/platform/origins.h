/*
 * origins.h - where each setting was given, so that errors about several of them can name a file
 * and a line, and so that overriding settings can be distinguished from overridden ones.
 *
 * Layers are numbered from 1 in the order in which they apply: the deepest base, the file based on
 * it, ..., the platform file, and last the command line.
 */
#ifndef PLATFORM_ORIGINS_H
#define PLATFORM_ORIGINS_H

#include "base/buf.h"
#include "platform/lists.h"

struct platform_origin {
    unsigned layer; /* 0: not given, it has its default */
    char *file;     /* NULL: not in a file */
    unsigned line;  /* for a list, 0: some of it was given on the command line */
};

struct platform_origins {
    unsigned layers;                              /* so far */
    struct platform_origin *of;                   /* by the number of the setting */
    struct platform_origin lists[PLATFORM_LISTS]; /* where lists were given */
    struct buf lines[PLATFORM_LISTS];             /* the line of each item, as unsigned */
};

void platform_origins_init(struct platform_origins *);
void platform_origins_fini(struct platform_origins *);

/* Records that a setting, or a list, was given in the last layer; `file` may be NULL. */
void platform_origins_note(struct platform_origins *, size_t setting, const char *file,
                           unsigned line);
void platform_origins_note_list(struct platform_origins *, enum platform_list_kind,
                                const char *file, unsigned line);

/* Where a setting or a list was given, by its name; NULL: there is none of that name. Borrowed. */
const struct platform_origin *platform_origins_find(const struct platform_origins *,
                                                    const char *name);

/* Puts "file:line: " before a text that begins with the name of a setting, or of an item as in
 * "net.links[3]", that was given in a file; "--set: " if it was given on the command line. */
void platform_origins_explain(const struct platform_origins *, struct err *);

#endif
