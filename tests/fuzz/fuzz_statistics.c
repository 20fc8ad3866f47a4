/*
 * Fuzz target: statistics as XML, and analyses of traces: whatever the file is. What is read is
 * compared with itself, which must give no error, and written again.
 */
#include "analysis/compare.h"
#include "analysis/tables.h"
#include "fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[FUZZ_PATH_MAX];
    struct tables t;
    struct comparison c;
    struct compare_options o = {0};
    struct err err, warning;
    int fd = fuzz_file(data, size, path);
    if (tables_from_file(&t, path, 0, &warning, &err) == 0) {
        struct buf out;
        buf_init(&out);
        tables_write_xml(&t, &out);
        tables_write_json(&t, &out);
        tables_write_csv(&t, &out);
        buf_fini(&out);
        if (compare_run(&c, &t, &t, &o, &err) == 0) {
            for (size_t i = 0; i < c.group_count; i++)
                if (c.groups[i].mean != 0 || c.groups[i].structure != 0)
                    abort();
            compare_fini(&c);
        }
        tables_fini(&t);
    }
    close(fd);
    return 0;
}
