/*
 * yaml_internal.h - shared by the files that read platform files: yaml.c reads documents and their
 * bases, yaml_fields.c walks them.
 */
#ifndef PLATFORM_YAML_INTERNAL_H
#define PLATFORM_YAML_INTERNAL_H

#include <sys/stat.h>
#include <yaml.h>

#include "platform/read_internal.h"

struct reader {
    struct platform *p;
    const struct platform_preset_dirs *dirs;
    struct platform_origins *origins;
    const char *file;
    yaml_document_t *document;
    size_t visits;
    const struct reader *above; /* the file whose base this is */
    dev_t device;               /* of the file; 0: it has none */
    ino_t inode;
};

/* Sets the error "FILE:LINE: FIELD: text"; without the field if it is NULL. */
__attribute__((format(printf, 5, 6))) int reader_fail(const struct reader *, const yaml_node_t *at,
                                                      const char *field, struct err *,
                                                      const char *fmt, ...);

/* Puts file, line and field before the error from the reader of the value. */
int reader_fail_value(const struct reader *, const yaml_node_t *at, const char *field,
                      struct err *);

/* The node of this number. */
yaml_node_t *reader_node(struct reader *, int id);

/* The text of a scalar; for anything else NULL, with the error set. */
const char *reader_scalar(const struct reader *, const yaml_node_t *, const char *field,
                          const char *expected, struct err *);

/* Reads the fields of a section whose name is `prefix`; "": the whole document. */
int reader_section(struct reader *, const yaml_node_t *, const char *prefix, struct err *);

#endif
