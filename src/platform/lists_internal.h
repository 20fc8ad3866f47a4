/*
 * lists_internal.h - the types of list items.
 */
#ifndef PLATFORM_LISTS_INTERNAL_H
#define PLATFORM_LISTS_INTERNAL_H

#include "platform/field_internal.h"
#include "platform/lists.h"

struct list_type {
    const char *key;          /* of the list; of the setting that names its file, if from_file */
    size_t size;              /* of an item */
    const struct key *fields; /* if it has no name, the item is a plain value */
    size_t count;
    int from_file; /* read from a file, not given item by item */
    const char *help;
};

const struct list_type *list_type(enum platform_list_kind);

/* Item i, borrowed. */
void *list_item(const struct platform *, enum platform_list_kind, size_t i);

/* Checks what involves several fields of item i. Errors name the item. */
int list_check(const struct platform *, enum platform_list_kind, size_t i, struct err *);

#endif
