/*
 * Fuzz target: records of compute times (--compute replay). In what is accepted all blocks can be
 * walked, to the end of the file, and all slices of a block be read.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_file.h"
#include "run/tape.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t ranks_of(const uint8_t *data, size_t size)
{
    struct tape_head head = {.ranks = 1};
    if (size >= sizeof head)
        memcpy(&head, data, sizeof head);
    return head.ranks;
}

static void walk(const struct tape_file *f)
{
    const unsigned char *data;
    struct tape_block b;
    size_t at = 0, bytes;
    uint64_t sum = 0;
    const char *names = tape_names(f, &bytes);
    if (bytes == 0 || names[bytes - 1] != 0)
        abort();
    while (tape_next(f, &at, &b, &data)) {
        uint32_t read = 0;
        uint64_t function, time;
        if (data < f->data || data + b.bytes > f->data + f->size)
            abort();
        while (b.rank < TAPE_NAMES && read < b.bytes && tape_get(data, b.bytes, &read, &function) &&
               tape_get(data, b.bytes, &read, &time))
            sum += time;
        if (read > b.bytes)
            abort();
    }
    if (at != f->size || sum == UINT64_MAX)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tape_file f;
    struct err err = {0};
    char path[FUZZ_PATH_MAX];
    int fd = fuzz_file(data, size, path);
    if (tape_open(&f, path, ranks_of(data, size), &err) == 0) {
        walk(&f);
        tape_close(&f);
    } else if (err.code != ERR_INPUT || !strstr(err.text, path)) {
        abort();
    }
    close(fd);
    return 0;
}
