/*
 * Fuzz target: raw measurements. Whatever is accepted can be fitted or is refused with a reason,
 * and what was fitted is a platform that can be written, read again, reported and drawn.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "calibrate/report.h"
#include "cli/machine.h"
#include "cli/uses.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(const struct calibrate_machine *m, const struct calibrate_raw *raw)
{
    struct platform p;
    struct err err = {0};
    struct buf text;
    platform_init(&p);
    buf_init(&text);
    calibrate_machine_settings(m, raw, "fuzz", &p);
    calibrate_machine_comments(m, raw, NULL, &text);
    platform_write(&p, cli_uses_setting, &text);
    if (cli_machine_check_text("m.yaml", &text, &p, &err))
        abort();
    calibrate_report_text(m, raw, &text);
    calibrate_report_svg(m, raw, &text);
    for (int i = 0; i < 2; i++)
        for (uint64_t n = 0; m->curves[i].count && n < CALIBRATE_BYTES_MAX; n = 2 * n + 1)
            if (!(calibrate_predict(&m->curves[i], n) >= 0))
                abort();
    buf_fini(&text);
    platform_fini(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct calibrate_machine m;
    struct calibrate_raw raw;
    struct err err = {0};
    if (calibrate_raw_read(&raw, "raw.csv", (const char *)data, size, &err)) {
        if (!err.text[0])
            abort();
        return 0;
    }
    if (raw.count > 2000) { /* the fit is quadratic */
        calibrate_raw_fini(&raw);
        return 0;
    }
    if (calibrate_machine_fit(&m, &raw, &err) == 0)
        use(&m, &raw);
    else if (!err.text[0])
        abort();
    calibrate_raw_fini(&raw);
    return 0;
}
