/*
 * tape.c - opens and checks files of recorded compute times.
 */
#include "run/tape.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/sys.h"

static const char magic[24] = TAPE_MAGIC;
static const char no_record[] = "it is not a record of compute times (--record-compute)";

static int bad(const char *path, const char *why, struct err *err)
{
    return err_set(err, ERR_INPUT, "cannot replay '%s': %s", path, why);
}

static int map_file(struct tape_file *f, const char *path, struct err *err)
{
    int fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0);
    struct stat st;

    if (fd < 0)
        return bad(path, strerror(errno), err);
    if (sys_fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
        (size_t)st.st_size < sizeof(struct tape_head)) {
        sys_close(fd);
        return bad(path, no_record, err);
    }
    f->size = (size_t)st.st_size;
    f->data = mmap(NULL, f->size, PROT_READ, MAP_PRIVATE, fd, 0);
    sys_close(fd);
    return f->data == MAP_FAILED ? bad(path, strerror(errno), err) : 0;
}

int tape_next(const struct tape_file *f, size_t *at, struct tape_block *b,
              const unsigned char **data)
{
    if (*at == 0)
        *at = sizeof(struct tape_head);
    if (f->size - *at < sizeof *b)
        return 0;
    memcpy(b, f->data + *at, sizeof *b);
    *data = f->data + *at + sizeof *b;
    if (f->size - *at - sizeof *b < b->bytes)
        return 0;
    *at += sizeof *b + b->bytes;
    return 1;
}

/* The error in the blocks, or NULL. */
static const char *check_blocks(const struct tape_file *f)
{
    const unsigned char *data;
    struct tape_block b;
    size_t at = 0;
    int complete = 0, named = 0;

    while (tape_next(f, &at, &b, &data)) {
        if (tape_checksum(b.rank, data, b.bytes) != b.checksum)
            return "it is damaged (a checksum differs)";
        if (!named && (b.rank != TAPE_NAMES || b.bytes == 0 || data[b.bytes - 1] != 0))
            return "it is damaged (the names of functions are missing)";
        named = 1;
        complete |= b.rank == TAPE_END;
    }
    if (at != f->size && !(at == 0 && f->size == sizeof(struct tape_head)))
        return "it is cut off";
    return complete ? NULL : "the run that recorded it did not finish";
}

const char *tape_names(const struct tape_file *f, size_t *bytes)
{
    const unsigned char *data = NULL;
    struct tape_block b;
    size_t at = 0;

    *bytes = tape_next(f, &at, &b, &data) ? b.bytes : 0;
    return (const char *)data;
}

int tape_open(struct tape_file *f, const char *path, uint64_t ranks, struct err *err)
{
    const char *why = NULL;
    struct tape_head head;
    char text[80];
    int rc = map_file(f, path, err);

    if (rc)
        return rc;
    memcpy(&head, f->data, sizeof head);
    if (memcmp(head.magic, magic, sizeof head.magic) != 0) {
        why = no_record;
    } else if (head.ranks != ranks) {
        snprintf(text, sizeof text, "it is of %llu ranks, this run has %llu",
                 (unsigned long long)head.ranks, (unsigned long long)ranks);
        why = text;
    } else {
        why = check_blocks(f);
    }
    if (!why)
        return 0;
    tape_close(f);
    return bad(path, why, err);
}

void tape_close(struct tape_file *f)
{
    munmap((void *)f->data, f->size);
    f->data = NULL;
}
