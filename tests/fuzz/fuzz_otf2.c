/*
 * Fuzz target: OTF2 archives of one location. The input is the anchor, the definitions and the
 * events, each after a line with its number of bytes.
 */
#include "fuzz/fuzz_format.h"
#include "otf2_sanitized.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"a.otf2", "a.def", "a/0.evt"};
    char folder[256], anchor[256];
    const uint8_t *end = data + size;
    snprintf(folder, sizeof folder, "%s/a", fuzz_folder());
    mkdir(folder, 0777);
    for (int i = 0; i < 3; i++) {
        char head[16] = "";
        const uint8_t *line = memchr(data, '\n', (size_t)(end - data));
        size_t digits = line && line - data < 15 ? (size_t)(line - data) : 0;
        memcpy(head, data, digits);
        data = line ? line + 1 : end;
        size_t bytes = strtoul(head, NULL, 10);
        bytes = bytes > (size_t)(end - data) ? (size_t)(end - data) : bytes;
        fuzz_save(names[i], data, bytes);
        data += bytes;
    }
    snprintf(anchor, sizeof anchor, "%s/%s", fuzz_folder(), names[0]);
    fuzz_read(anchor);
    return 0;
}
