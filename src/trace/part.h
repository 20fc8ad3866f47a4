/*
 * part.h - a part: the file to which one process of a run writes its streams while it records them
 * (format.h). It is a sink of streams, which collects pieces and writes them in frames of about a
 * megabyte. After a failure, such as a full disk, what was written stays readable, later records
 * are dropped and counted, and closing the part returns the error. Definitions are still written if
 * there is room, as earlier records need them. The file is opened anew for every frame: several
 * processes may write it in turn, which share memory but no descriptors.
 */
#ifndef TRACE_PART_H
#define TRACE_PART_H

#include "base/buf.h"
#include "base/err.h"
#include "base/path.h"
#include "trace/header.h"
#include "trace/stream.h"

#define TRACE_PART_SUFFIX ".part-" /* of the trace's path; the number of the process follows */

/* What goes into the next frame. */
struct trace_pieces {
    struct buf heads, body;
    uint64_t count;
};

struct trace_part {
    struct trace_sink sink; /* must be first: streams know only this */
    char *path;
    struct path_file file;
    uint64_t offset;                    /* bytes of whole frames */
    struct trace_pieces pieces, locals; /* with records, and with definitions of ranks */
    struct buf define;                  /* definitions for the next frame of them */
    uint64_t waiting;                   /* records for the next frame */
    uint64_t last_start, last_end;      /* the last frame of records that was written: offsets */
    uint64_t last_records;
    uint64_t lost;   /* records dropped after a failure */
    struct err err;  /* code 0: no failure yet */
    size_t flush_at; /* bytes of body */
};

/* Creates the file and writes its header. The path is absolute. */
int trace_part_open(struct trace_part *, const char *path, const struct trace_header *,
                    struct err *);
/* Adds a definition that ranks share (definitions.h); it may be added more than once. */
void trace_part_define(struct trace_part *, unsigned kind, const void *payload, size_t bytes);
/* Writes what was collected. */
void trace_part_flush(struct trace_part *);
/* Flushes; returns the first failure, if there was one. */
int trace_part_close(struct trace_part *, struct err *);

#endif
