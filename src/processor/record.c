/*
 * record.c - records how long slices took (--record-compute), for recorded.c.
 *
 * The format is in run/tape.h.
 *
 * A rank keeps up to TAPE_MAX bytes, which then go to the process's buffer; that is appended to the
 * file when it is full. Appending is atomic, so several processes share a file. The file is
 * reopened each time, because the rank that appends may be a separate process.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/sys.h"
#include "processor/processor_internal.h"
#include "run/tape.h"

#define TAPE_LEAST 64
#define TAPE_MAX 4096 /* a power of two times TAPE_LEAST */
#define BUFFER_MAX ((size_t)1 << 20)

static struct {
    const char *path;
    struct buf out;
    int cause; /* errno of a write that failed */
} record;

static void append(void)
{
    int fd = path_reopen(record.path, NULL, O_APPEND);

    if (fd < 0 || sys_write_all(fd, record.out.data, record.out.len) < 0)
        record.cause = errno;
    if (fd >= 0)
        sys_close(fd);
    buf_clear(&record.out);
}

static void put_block(uint32_t rank, const unsigned char *data, size_t len)
{
    struct tape_block block = {rank, (uint32_t)len, tape_checksum(rank, data, len), 0};

    buf_add(&record.out, &block, sizeof block);
    buf_add(&record.out, data, len);
    if (record.out.len >= BUFFER_MAX)
        append();
}

/* Numbers in the file index these names, so that a build that numbers functions differently can
 * read it. */
static void put_names(void)
{
    struct buf names;

    buf_init(&names);
    for (unsigned call = 0; call < processor_host->calls; call++) {
        const char *name = processor_host->call_name(call);

        buf_add(&names, name, strlen(name) + 1);
    }
    put_block(TAPE_NAMES, (const unsigned char *)names.data, names.len);
    buf_fini(&names);
}

int processor_record_init(const struct run_options *o, struct err *err)
{
    struct tape_head head = {TAPE_MAGIC, o->ranks};
    int fd;

    record.path = o->record_path;
    buf_init(&record.out);
    if (processor_host->map->proc)
        return 0;
    buf_add(&record.out, &head, sizeof head);
    put_names();
    fd = path_create(record.path, NULL, err);
    if (fd < 0)
        return err->code;
    if (sys_write_all(fd, record.out.data, record.out.len) < 0)
        return err_set(err, ERR_SYSTEM, "cannot write '%s': %s", record.path, strerror(errno));
    sys_close(fd);
    buf_clear(&record.out);
    return 0;
}

void processor_record(uint32_t index, unsigned call, vtime dt)
{
    struct processor_tape *t = processor_tape_get(index);

    if (t->room >= TAPE_MAX && t->len + 2 * TAPE_VARINT_MAX > t->room) {
        put_block(processor_rank_id(index), t->data, t->len);
        t->len = 0;
    }
    ARRAY_RESERVE(t->data, t->room, t->len + 2 * TAPE_VARINT_MAX, TAPE_LEAST);
    t->len += tape_put(t->data + t->len, call);
    t->len += tape_put(t->data + t->len, (uint64_t)dt);
}

int processor_record_finish(struct err *err)
{
    for (uint32_t i = 0; i < processor_host->map->room; i++) {
        struct processor_state *state = processor_state(i);

        if (state && state->tape && state->tape->len)
            put_block(processor_rank_id(i), state->tape->data, state->tape->len);
    }
    put_block(TAPE_END, (const unsigned char *)"", 0);
    append();
    buf_fini(&record.out);
    if (record.cause)
        return err_set(err, ERR_SYSTEM, "cannot write '%s': %s", record.path,
                       strerror(record.cause));
    return 0;
}
