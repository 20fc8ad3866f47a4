/*
 * file.h - frames of a trace file: read from the mapped file, and written compressed.
 */
#ifndef TRACE_FILE_H
#define TRACE_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/newfile.h"
#include "trace/format.h"

/* ---- reading ---- */

struct trace_file {
    char *path;
    const uint8_t *data;
    size_t size;
};

/* Maps the file; ERR_INPUT if it does not start with a frame of a trace. */
int trace_file_open(struct trace_file *, const char *path, struct err *);
void trace_file_close(struct trace_file *);

/* Reads the header of the frame at this offset. Fails if the frame is not complete; does not verify
 * its checksum. */
int trace_file_head(const struct trace_file *, uint64_t offset, struct trace_frame *, struct err *);
/* trace_file_head that also verifies the checksum. The error says what is wrong. */
int trace_file_frame(const struct trace_file *, uint64_t offset, struct trace_frame *,
                     struct err *);

/* The payload of a frame that trace_file_frame has checked: in the file itself if it is not
 * compressed, otherwise decompressed into `room`, which has space for frame->raw bytes. NULL if
 * that fails. */
const uint8_t *trace_file_payload(const struct trace_file *, uint64_t offset,
                                  const struct trace_frame *, void *room);

/* ---- writing ---- */

struct trace_out {
    struct newfile *file;
    char *path;
    uint64_t offset;     /* of the next frame */
    struct buf waiting;  /* frames that are not written yet */
    void *zstd, *packed; /* the compressor and its output */
    size_t packed_room;
};

/* The file gets its name only when it is complete. */
int trace_out_open(struct trace_out *, const char *path, struct err *);
int trace_out_frame(struct trace_out *, enum trace_frame_kind, const void *payload, size_t bytes,
                    struct err *);
/* Gives the file its name, or, with `keep` 0, removes it. */
int trace_out_close(struct trace_out *, int keep, struct err *);

#endif
