/*
 * Fuzz target: graphs, noise and maps. The first byte chooses which.
 */
#include <stdint.h>
#include <stdlib.h>

#include "platform/read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct platform p;
    struct err err = {0};
    const char *text = (const char *)data + 1;
    int rc;
    if (size == 0)
        return 0;
    platform_init(&p);
    if (data[0] == 'g')
        rc = platform_read_graph(&p, "f", text, size - 1, &err);
    else if (data[0] == 'n')
        rc = platform_read_noise(&p, "f", text, size - 1, &err);
    else
        rc = platform_read_map(&p, "f", text, size - 1, &err);
    if (rc && !err.text[0])
        abort();
    platform_fini(&p);
    return 0;
}
