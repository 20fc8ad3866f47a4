/*
 * file.c - reads and writes the frames of trace files. Only the command uses this: simulated and
 * recorded programs write parts (part.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/mem.h"
#include "library/library.h"
#include "trace/file.h"

/* Of compression: most of what level 1 saves, in less than half of its time, which is a large part
 * of what recording costs. */
#define LEVEL (-3)
#define WRITE_AT ((size_t)256 << 10)

/* ---- reading ---- */

static int map(struct trace_file *f, int fd, struct err *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return err_set(err, ERR_SYSTEM, "cannot read '%s': %s", f->path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_INPUT, "'%s' is not a regular file", f->path);
    f->size = (size_t)st.st_size;
    if (f->size < sizeof(struct trace_frame))
        return err_set(err, ERR_INPUT, "'%s' is not a trace: it has only %zu bytes", f->path,
                       f->size);
    void *data = mmap(NULL, f->size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED)
        return err_set(err, ERR_SYSTEM, "cannot read '%s': %s", f->path, strerror(errno));
    f->data = data;
    return 0;
}

int trace_file_open(struct trace_file *f, const char *path, struct err *err)
{
    *f = (struct trace_file){.path = mem_strdup(path)};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe cannot be mapped */
    int rc = fd < 0 ? err_set(err, ERR_SYSTEM, "cannot read '%s': %s", path, strerror(errno))
                    : map(f, fd, err);
    if (fd >= 0)
        close(fd);
    uint32_t magic = 0;
    if (rc == 0)
        rc = library_load(LIBRARY_zstd, err);
    if (rc == 0)
        memcpy(&magic, f->data, sizeof magic);
    if (rc == 0 && magic != TRACE_MAGIC)
        rc = err_set(err, ERR_INPUT, "'%s' is not a trace of Orrery", path);
    if (rc != 0)
        trace_file_close(f);
    return rc;
}

void trace_file_close(struct trace_file *f)
{
    if (f->data)
        munmap((void *)(uintptr_t)f->data, f->size);
    mem_free(f->path);
    *f = (struct trace_file){0};
}

static uint64_t raw_most(uint64_t stored)
{
    return TRACE_RATIO_FREE + TRACE_RATIO_MAX * stored;
}

/* Whether the header of a frame is plausible. */
static int is_possible(const struct trace_frame *frame)
{
    return frame->raw <= TRACE_FRAME_MAX && frame->raw <= raw_most(frame->stored) &&
           frame->method <= TRACE_ZSTD &&
           (frame->method != TRACE_STORED || frame->raw == frame->stored);
}

int trace_file_head(const struct trace_file *f, uint64_t offset, struct trace_frame *frame,
                    struct err *err)
{
    if (offset > f->size || f->size - offset < sizeof *frame)
        return err_set(err, ERR_INPUT, "'%s' is cut off at byte %llu", f->path,
                       (unsigned long long)offset);
    memcpy(frame, f->data + offset, sizeof *frame);
    if (frame->magic != TRACE_MAGIC)
        return err_set(err, ERR_INPUT, "'%s' is damaged at byte %llu", f->path,
                       (unsigned long long)offset);
    if (frame->version > TRACE_VERSION)
        return err_set(err, ERR_INPUT,
                       "'%s' has version %u of the format, and this orrery reads version %d: "
                       "use a newer orrery",
                       f->path, frame->version, TRACE_VERSION);
    if (f->size - offset - sizeof *frame < frame->stored)
        return err_set(err, ERR_INPUT, "'%s' is cut off in the frame at byte %llu", f->path,
                       (unsigned long long)offset);
    return 0;
}

int trace_file_frame(const struct trace_file *f, uint64_t offset, struct trace_frame *frame,
                     struct err *err)
{
    if (trace_file_head(f, offset, frame, err) != 0)
        return ERR_INPUT;
    if (!is_possible(frame) || trace_check(frame, f->data + offset + sizeof *frame) != frame->check)
        return err_set(err, ERR_INPUT, "'%s' is damaged in the frame at byte %llu", f->path,
                       (unsigned long long)offset);
    return 0;
}

const uint8_t *trace_file_payload(const struct trace_file *f, uint64_t offset,
                                  const struct trace_frame *frame, void *room)
{
    const uint8_t *payload = f->data + offset + sizeof *frame;
    if (frame->method == TRACE_STORED)
        return payload;
    size_t got = ZSTD_decompress(room, frame->raw, payload, frame->stored);
    return ZSTD_isError(got) || got != frame->raw ? NULL : room;
}

/* ---- writing ---- */

static int system_error(const struct trace_out *out, struct err *err)
{
    return err_set(err, ERR_SYSTEM, "cannot write '%s': %s", out->path, strerror(errno));
}

int trace_out_open(struct trace_out *out, const char *path, struct err *err)
{
    *out = (struct trace_out){0};
    if (library_load(LIBRARY_zstd, err) != 0 || !(out->file = newfile_open(path, err)))
        return ERR_SYSTEM;
    out->path = mem_strdup(path);
    out->zstd = ZSTD_createCCtx();
    return 0;
}

static int write_waiting(struct trace_out *out, struct err *err)
{
    const char *from = out->waiting.data;
    size_t size = out->waiting.len;
    while (size) {
        ssize_t n = write(newfile_fd(out->file), from, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return system_error(out, err);
        from += n, size -= (size_t)n;
    }
    buf_clear(&out->waiting);
    return 0;
}

/* Frames may be small: several are written at once. */
static int put(struct trace_out *out, const struct trace_frame *frame, const void *payload,
               struct err *err)
{
    buf_add(&out->waiting, frame, sizeof *frame);
    buf_add(&out->waiting, payload, frame->stored);
    out->offset += sizeof *frame + frame->stored;
    return out->waiting.len >= WRITE_AT ? write_waiting(out, err) : 0;
}

/* Adds a frame that zstd skips if `raw` bytes were compressed too well. Returns what is stored. */
static size_t pad(uint8_t *packed, size_t got, size_t raw)
{
    if (raw <= raw_most(got))
        return got;
    size_t least = (raw - TRACE_RATIO_FREE + TRACE_RATIO_MAX - 1) / TRACE_RATIO_MAX;
    uint32_t head[2] = {ZSTD_MAGIC_SKIPPABLE_START, 0};
    head[1] = least > got + sizeof head ? (uint32_t)(least - got - sizeof head) : 0;
    memcpy(packed + got, head, sizeof head);
    memset(packed + got + sizeof head, 0, head[1]);
    return got + sizeof head + head[1];
}

int trace_out_frame(struct trace_out *out, enum trace_frame_kind kind, const void *payload,
                    size_t bytes, struct err *err)
{
    struct trace_frame frame = {.magic = TRACE_MAGIC,
                                .version = TRACE_VERSION,
                                .kind = (uint8_t)kind,
                                .raw = (uint32_t)bytes};
    const void *stored = payload;
    if (bytes > TRACE_FRAME_MAX)
        return err_set(err, ERR_INPUT, "cannot write '%s': a record is larger than 1 GiB",
                       out->path);
    if (kind != TRACE_FRAME_END) {
        size_t room = ZSTD_compressBound(bytes); /* more than what `pad` needs */
        if (room > out->packed_room) {
            mem_free(out->packed);
            out->packed = mem_alloc(room);
            out->packed_room = room;
        }
        size_t got = ZSTD_compressCCtx(out->zstd, out->packed, room, payload, bytes, LEVEL);
        if (!ZSTD_isError(got))
            got = pad(out->packed, got, bytes);
        if (!ZSTD_isError(got) && got < bytes)
            stored = out->packed, bytes = got, frame.method = TRACE_ZSTD;
    }
    frame.stored = (uint32_t)bytes;
    frame.check = trace_check(&frame, stored);
    return put(out, &frame, stored, err);
}

int trace_out_close(struct trace_out *out, int keep, struct err *err)
{
    int rc = keep ? write_waiting(out, err) : 0;
    errno = newfile_close(out->file, keep && rc == 0);
    if (errno)
        rc = system_error(out, err);
    buf_fini(&out->waiting);
    ZSTD_freeCCtx(out->zstd);
    mem_free(out->packed);
    mem_free(out->path);
    return rc;
}
