/*
 * regions.h - the time that all ranks of a trace spend in each region of the program.
 */
#ifndef CLI_REGIONS_H
#define CLI_REGIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct cli_region {
    char *name;      /* "": outside of all regions */
    int64_t compute; /* picoseconds, in it but not in regions inside of it */
    int64_t mpi;     /* in calls */
    uint64_t visits;
};

struct cli_regions {
    struct cli_region *items; /* in the order in which ranks enter them */
    size_t count;
    int is_threaded; /* the time is that of several threads of a rank */
};

/* Reads a trace, one rank after the other. */
int cli_regions_read(struct cli_regions *, const char *trace, struct err *);
/* The region of that name, or NULL. */
const struct cli_region *cli_regions_find(const struct cli_regions *, const char *name);
void cli_regions_fini(struct cli_regions *);

#endif
