/*
 * presets.c - presets: files NAME.yaml in a few directories; the first one of a name is used.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/nearest.h"
#include "platform/read_internal.h"

#define SUFFIX ".yaml"

static int ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0;
}

int platform_is_preset(const char *name)
{
    return !strchr(name, '/') && !ends_with(name, ".yaml") && !ends_with(name, ".yml");
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_name(char ***names, size_t *count, const char *file)
{
    size_t length = strlen(file) - strlen(SUFFIX);
    char *name = mem_strdup(file);
    name[length] = 0;
    for (size_t i = 0; i < *count; i++)
        if (strcmp((*names)[i], name) == 0) {
            mem_free(name);
            return;
        }
    *names = mem_realloc(*names, (*count + 1) * sizeof **names);
    (*names)[(*count)++] = name;
}

char **platform_presets(const struct platform_preset_dirs *dirs, size_t *count)
{
    char **names = mem_alloc(sizeof *names);
    *count = 0;
    for (size_t i = 0; i < dirs->count; i++) {
        DIR *directory = opendir(dirs->directories[i]);
        struct dirent *entry;
        while (directory && (entry = readdir(directory)))
            if (entry->d_name[0] != '.' && ends_with(entry->d_name, SUFFIX))
                add_name(&names, count, entry->d_name);
        if (directory)
            closedir(directory);
    }
    qsort(names, *count, sizeof *names, compare);
    return names;
}

static int no_preset(const struct platform_preset_dirs *dirs, const char *name, struct err *err)
{
    struct nearest nearest = {.word = name};
    size_t count;
    char **names = platform_presets(dirs, &count), list[400] = "";
    for (size_t i = 0; i < count; i++) {
        size_t used = strlen(list);
        nearest_offer(&nearest, names[i]);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
    }
    if (count == 0)
        err_set(err, ERR_INPUT,
                "unknown platform '%.80s': no presets were found; set ORRERY_PLATFORMS to "
                "their directory, or give a file that ends in .yaml",
                name);
    else if (nearest.best)
        err_set(err, ERR_INPUT, "unknown platform '%.80s': did you mean '%s'? There are: %s", name,
                nearest.best, list);
    else
        err_set(err, ERR_INPUT,
                "unknown platform '%.80s': expected a file that ends in .yaml, or one of: "
                "%s",
                name, list);
    for (size_t i = 0; i < count; i++)
        mem_free(names[i]);
    mem_free(names);
    return ERR_INPUT;
}

int platform_preset_path(const struct platform_preset_dirs *dirs, const char *name, char *path,
                         size_t size, struct err *err)
{
    for (size_t i = 0; i < dirs->count && *name; i++) {
        int n = snprintf(path, size, "%s/%s" SUFFIX, dirs->directories[i], name);
        if (n > 0 && (size_t)n < size && access(path, F_OK) == 0)
            return 0;
    }
    return no_preset(dirs, name, err);
}
