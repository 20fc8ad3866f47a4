/*
 * Fuzz target: hypotheses, as text. What is accepted has a kind and the subject that it needs; what
 * is not is refused as input, with a text.
 */
#include "fuzz/fuzz_line.h"
#include "whatif/whatif.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char file[] = ".yaml";
    struct whatif_list list = {0};
    struct err err = {0};
    char *line = fuzz_line(data, size);
    if (strstr(line, file)) /* it would be read */
        line[0] = 0;
    if (whatif_parse(&list, line, &err)) {
        if (err.code != ERR_INPUT || !err.text[0])
            abort();
    } else if (list.count != 1 || !list.items[0].kind ||
               (list.items[0].names && !list.items[0].subject)) {
        abort();
    }
    whatif_fini(&list);
    free(line);
    return 0;
}
