/*
 * proctree.c - reads /proc/PID/stat. The name of a program may contain anything, so fields are
 * counted from its closing bracket.
 */
#include "launch/proctree.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/sys.h"

#define HELPER "hydra_"

int launch_proc_read(pid_t pid, struct launch_proc *out)
{
    char path[64], text[1024];
    int parent;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (sys_read_text(path, text, sizeof text) < 0)
        return -1;
    const char *open = strchr(text, '('), *close = strrchr(text, ')');
    if (!open || !close || sscanf(close + 1, " %c %d", &out->state, &parent) != 2)
        return -1;
    snprintf(out->name, sizeof out->name, "%.*s", (int)(close - open - 1), open + 1);
    out->pid = pid;
    out->parent = parent;
    out->status = atoi(strrchr(text, ' ')); /* the last field */
    return 0;
}

/* All processes. */
static size_t read_all(struct launch_proc **out)
{
    size_t count = 0, room = 0;
    DIR *folder = opendir("/proc");
    *out = NULL;
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        ARRAY_RESERVE(*out, room, count + 1, 256);
        count += launch_proc_read((pid_t)atoi(entry->d_name), &(*out)[count]) == 0;
    }
    if (folder)
        closedir(folder);
    return count;
}

size_t launch_proc_below(pid_t root, struct launch_proc **out)
{
    struct launch_proc *all;
    size_t total = read_all(&all), count = 0;
    *out = mem_alloc((total + 1) * sizeof **out);
    for (size_t i = 0; i <= count; i++) { /* the root, then each process found */
        pid_t parent = i ? (*out)[i - 1].pid : root;
        for (size_t k = 0; k < total; k++)
            if (all[k].parent == parent)
                (*out)[count++] = all[k];
    }
    mem_free(all);
    return count;
}

int launch_proc_is_stopped(pid_t pid, struct launch_proc *out)
{
    return pid > 0 && launch_proc_read(pid, out) == 0 && out->state == 'T';
}

int launch_proc_is_helper(const struct launch_proc *proc)
{
    return strncmp(proc->name, HELPER, strlen(HELPER)) == 0;
}
