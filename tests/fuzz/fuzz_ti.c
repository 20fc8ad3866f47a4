/* Fuzz target: time-independent traces of SimGrid, as one file. */
#include "fuzz/fuzz_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_read(fuzz_save("t.ti", data, size));
    return 0;
}
