/*
 * dumpi_file.h - the file of one rank: its tables, and its records as raw values.
 */
#ifndef FORMATS_DUMPI_FILE_H
#define FORMATS_DUMPI_FILE_H

#include "formats/dumpi.h"
#include "trace/stream.h"

struct dumpi_file {
    const uint8_t *data;
    size_t size;
    const uint8_t *at, *end; /* of the records */
    int version;
    int64_t cpu, wall; /* seconds that are added to times */
    uint32_t *sizes;   /* of datatypes */
    size_t size_count;
    struct dumpi_address {
        uint64_t address;
        char *name;
    } * addresses;
    size_t address_count;
    char *host;
    int is_whole; /* it has an index */
    /* of the current record: arrays and statuses */
    int64_t *items;
    size_t item_count;
    struct dumpi_status {
        uint32_t bytes;
        int32_t source, tag;
        uint8_t is_cancelled;
    } * statuses;
    size_t status_count;
};

/* A value of a record. */
struct dumpi_raw {
    int64_t number;
    size_t first, count; /* of items or statuses */
    const char *text;    /* `count` bytes */
    int is_there;        /* 0: only at the root, which this rank is not */
};

struct dumpi_record {
    unsigned function; /* DUMPI's number */
    unsigned thread;
    int64_t enter, leave; /* nanoseconds; -1: not recorded */
    int has_cpu;
    uint64_t address; /* of a function of the program */
    struct dumpi_raw values[DUMPI_FIELDS_MAX];
};

/* `version` is that of the .meta file, for a file that was cut off. ERR_INPUT if it is not a file
 * of DUMPI. */
int dumpi_file_open(struct dumpi_file *, const char *path, int version, struct err *);
void dumpi_file_close(struct dumpi_file *);
/* Returns 1 with the next record, 0 at the end, or -1 if the file is damaged or cut off. */
int dumpi_file_next(struct dumpi_file *, const struct dumpi_layout *, struct dumpi_record *);

#endif
