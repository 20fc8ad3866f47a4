/* Fuzz target: traces, complete or parts. */
#include "fuzz/fuzz_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace t;
    struct err err = {0};
    struct buf out;
    buf_init(&out);
    if (trace_open(&t, fuzz_save("t.orr", data, size), &err) == 0) {
        trace_verify(&t, &out);
        trace_close(&t);
    } else if (err.code >= 0 || !err.text[0]) {
        abort();
    }
    buf_fini(&out);
    return 0;
}
