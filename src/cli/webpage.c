/*
 * webpage.c - reports in HTML.
 */
#include "cli/webpage.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/cli.h"

int cli_webpage_find(char *path, size_t size, struct err *err)
{
    static const char *const beside[] = {"/web/report.html", "/../share/orrery/report.html"};
    const char *given = getenv("ORRERY_REPORT");
    char self[PATH_MAX];
    if (given && *given) {
        snprintf(path, size, "%s", given);
        return 0;
    }
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = 0;
    char *slash = strrchr(self, '/');
    for (size_t i = 0; slash && i < sizeof beside / sizeof beside[0]; i++) {
        *slash = 0;
        snprintf(path, size, "%s%s", self, beside[i]);
        if (access(path, R_OK) == 0)
            return 0;
    }
    return err_set(err, ERR_INPUT,
                   "cannot write a page: this orrery was built without the front end of reports; "
                   "'make web' builds it (it needs node and npm)");
}

int cli_webpage_show(const char *trace, const char *name, const char *page)
{
    char template[PATH_MAX];
    struct err err;
    struct report report = {.traces = {trace},
                            .names = {name},
                            .count = 1,
                            .page = page,
                            .template = template};
    return cli_webpage_find(template, sizeof template, &err) ? cli_fail(&err)
                                                             : cli_webpage_write(&report);
}

int cli_webpage_write(struct report *report)
{
    struct err err;
    int rc = report_write(report, &err);
    for (size_t i = 0; i < report->count; i++)
        if (report->warnings[i].code)
            log_warn("%s: what follows is missing", report->warnings[i].text);
    return rc ? cli_fail(&err) : EXIT_DONE;
}
