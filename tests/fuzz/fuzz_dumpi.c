/* Fuzz target: the file of a rank of DUMPI; there are two such ranks. */
#include "fuzz/fuzz_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char meta[] =
        "numprocs=2\nfileprefix=d\nversion=0\nsubversion=6\nsubsubversion=2\n";
    fuzz_save("d-0000.bin", data, size);
    fuzz_save("d-0001.bin", data, size);
    fuzz_read(fuzz_save("d.meta", meta, sizeof meta - 1));
    return 0;
}
