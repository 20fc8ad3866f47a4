/* Fuzz target: schedules of LogGOPSim. */
#include "fuzz/fuzz_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_read(fuzz_save("t.goal", data, size));
    return 0;
}
