/* Fuzz target: traces, complete or parts. */
#include "fuzz/fuzz_format.h"

#include "trace/text.h"

#define RANKS_MOST 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* As 'orrery trace print --objects' does. */
static void print_rank(struct trace *t, uint64_t rank, struct buf *out)
{
    struct trace_local local;
    struct trace_cursor c;
    struct trace_event e;
    struct err err;
    int more;
    trace_local_read(&local, t, rank);
    trace_text_objects(out, t, &local, rank);
    trace_cursor_open(&c, t, rank, 0, TRACE_RECORDS);
    while ((more = trace_cursor_next(&c, &e, &err)) != 0)
        if (more > 0)
            trace_text_event(out, t, &local, rank, 0, &e);
    trace_cursor_close(&c);
    trace_local_fini(&local);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace t;
    struct err err = {0};
    struct buf out;
    buf_init(&out);
    if (trace_open(&t, fuzz_save("t.orr", data, size), &err) == 0) {
        trace_verify(&t, &out);
        for (uint64_t rank = 0; rank < t.header.ranks && rank < RANKS_MOST; rank++)
            print_rank(&t, rank, &out);
        trace_close(&t);
    } else if (err.code >= 0 || !err.text[0]) {
        abort();
    }
    buf_fini(&out);
    return 0;
}
