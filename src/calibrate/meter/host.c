/*
 * host.c - identifies the machine, as comments in the raw data: "# name: value".
 */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "calibrate/meter/meter.h"

/* The value of "name : value" in a file of /proc, or "unknown". Without a newline. */
static void find_value(const char *path, const char *name, char *out, size_t size)
{
    char line[512];
    FILE *file = fopen(path, "r");
    snprintf(out, size, "unknown");
    while (file && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, name, strlen(name)) != 0 || !colon)
            continue;
        colon += 1 + strspn(colon + 1, " \t");
        colon[strcspn(colon, "\n")] = 0;
        snprintf(out, size, "%s", colon);
        break;
    }
    if (file)
        fclose(file);
}

void meter_print_host(const struct meter *n)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING], value[200], date[40] = "unknown";
    struct utsname system;
    time_t now = time(NULL);
    struct tm parts;
    int length;
    MPI_Get_library_version(text, &length);
    for (char *at = text; *at; at++) /* the first line has the version, the second the date */
        if (*at == '\t' || (*at == '\n' && (*at = 0, 1)))
            *at = *at ? ' ' : 0;
    find_value("/proc/cpuinfo", "model name", value, sizeof value);
    printf("# cpu: %s\n# cores: %d\n", value, n->cores);
    find_value("/proc/meminfo", "MemTotal", value, sizeof value);
    printf("# memory: %s\n# mpi: %.80s\n", value, text);
    if (uname(&system) == 0)
        printf("# kernel: %s %s %s\n", system.sysname, system.release, system.machine);
    if (gmtime_r(&now, &parts))
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &parts);
    printf("# date: %s\n# ranks: %d\n# nodes: %d\n# ranks_on_node: %d\n", date, n->ranks, n->nodes,
           n->most_on_node);
}
