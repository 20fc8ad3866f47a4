/*
 * field_internal.h - fields of plain structs, described by tables; reads their values from text and
 * writes them as text that reads back to the same bits.
 */
#ifndef PLATFORM_FIELD_INTERNAL_H
#define PLATFORM_FIELD_INTERNAL_H

#include "platform/config.h"

enum key_type {
    KEY_TIME,      /* vtime */
    KEY_BANDWIDTH, /* double, bits per second */
    KEY_SIZE,      /* uint64_t, bytes */
    KEY_COUNT,     /* uint64_t */
    KEY_FACTOR,    /* double */
    KEY_NAME,      /* char[PLATFORM_NAME_MAX] */
    KEY_PATH,      /* char[PLATFORM_PATH_MAX]; relative to the platform file */
    KEY_TEXT,      /* char[PLATFORM_PATH_MAX] */
    KEY_DIMS,      /* struct platform_dims */
    KEY_NODE,      /* uint32_t */
    KEY_RANGE,     /* uint32_t first and last, written "3-7" or "3" */
    KEY_FLAG,      /* uint8_t, true or false */
    KEY_TYPES
};

struct key {
    const char *name;
    enum key_type type;
    size_t offset;
    int positive;      /* 0, or an empty name, is refused */
    const char *value; /* the default; NULL: required; "" for a number: not given, see field_set */
    const char *help;
};

/*
 * Reads text into the field of the object; nothing changes on failure. Where the default of a time,
 * a bandwidth, a factor, a size or a count is "", "" may be given and becomes VTIME_NEVER, NAN or
 * UINT64_MAX. Errors do not name the field.
 */
int field_set(const struct key *, void *object, const char *text, struct err *);

/* Appends the value as field_set takes it. */
void field_print(const struct key *, const void *object, struct buf *out);

/* Sets all fields to their defaults; fields without one are cleared. */
void field_defaults(const struct key *, size_t count, void *object);

/* Appends name, default and help, wrapped to 80 columns; the prefix goes before the name. */
void field_help(const struct key *, const char *prefix, struct buf *out);

/* The key of that name among `count`, or NULL. */
const struct key *field_find(const struct key *, size_t count, const char *name);

/* The settings, and their number (config.c). */
const struct key *config_keys(size_t *count);

#endif
