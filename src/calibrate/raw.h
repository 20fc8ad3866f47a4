/*
 * raw.h - measurements, as a text that can be kept and fitted again.
 *
 *     # orrery calibration 1
 *     # cpu: ...                         properties, "name: value"
 *     kind,where,ranks,bytes,samples,outliers,least,q1,median,q3,most,beyond_cores
 *     pingpong,intra,2,8,50,1,310.2,315.0,321.5,330.0,990.1,0
 *     # end
 *
 * Times are nanoseconds. Kinds: clock, resolution, call, test (one rank alone); pingpong, send,
 * recv, gap, eager, unexpected, window, match (two ranks; `where` is intra or inter; of eager only
 * the bytes count; the bytes of match are receives that are pending); peers; in_cache, streaming,
 * random (kernels that so many ranks of a node run at once, in processor time); the collectives. An
 * unknown kind is kept and ignored. Without the last line the measurement did not end.
 */
#ifndef CALIBRATE_RAW_H
#define CALIBRATE_RAW_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define CALIBRATE_KIND_MAX 24
#define CALIBRATE_BYTES_MAX ((uint64_t)1 << 40)

enum calibrate_where { CALIBRATE_INTRA, CALIBRATE_INTER, CALIBRATE_ANYWHERE };

struct calibrate_record {
    char kind[CALIBRATE_KIND_MAX];
    enum calibrate_where where;
    uint32_t ranks;
    uint64_t bytes;
    uint32_t samples, outliers;
    double least, q1, median, q3, most; /* ns; in this order */
    int beyond_cores;                   /* more ranks than cores: the scheduler was measured, too */
};

struct calibrate_property {
    char *name, *value;
};

struct calibrate_raw {
    struct calibrate_record *records;
    size_t count;
    struct calibrate_property *properties;
    size_t property_count;
    uint64_t hash; /* of the text */
};

/* Reads a text; `file` is its name for errors, which say the line. The caller calls fini after
 * success. */
int calibrate_raw_read(struct calibrate_raw *, const char *file, const char *text, size_t length,
                       struct err *);
void calibrate_raw_fini(struct calibrate_raw *);

/* The first record of that kind, within or between nodes (CALIBRATE_ANYWHERE: either), or NULL. */
const struct calibrate_record *calibrate_raw_find(const struct calibrate_raw *, const char *kind,
                                                  enum calibrate_where);
/* The value of a property; "unknown" if there is none. */
const char *calibrate_raw_property(const struct calibrate_raw *, const char *name);
/* The value of a property as a number; 0 if it is not one. */
unsigned calibrate_raw_number(const struct calibrate_raw *, const char *name);

#endif
