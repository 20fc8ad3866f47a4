/*
 * read_internal.h - declarations shared by the readers.
 */
#ifndef PLATFORM_READ_INTERNAL_H
#define PLATFORM_READ_INTERNAL_H

#include "platform/lists_internal.h"
#include "platform/read.h"

#define READ_YAML_MAX ((size_t)16 << 20) /* bytes of a platform file */
#define READ_TEXT_MAX ((size_t)1 << 30)  /* of a graph, of noise */

/* Appends the content of a regular file of at most `most` bytes. */
int read_whole(const char *path, size_t most, struct buf *out, struct err *);

/* Resolves a path given in a file, relative to that file; ERR_INPUT: too long. */
int read_path(const char *file, const char *path, char *out, size_t size, struct err *);

#endif
