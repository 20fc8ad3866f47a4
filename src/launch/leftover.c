/*
 * leftover.c - files in /dev/shm, and System V segments. A file is in use if a process has it
 * mapped or open; a segment if a process is attached, or its creator is still alive. A file is open
 * before it is mapped, so open files are checked first; otherwise one that is just being mapped
 * would be missed.
 */
#include "launch/leftover.h"

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER "/dev/shm"

/* Files of MPICH, and of UCX, which MPICH uses. */
static const char *const starts[] = {"mpich_", "ucx_shm_posix_"};

static int is_native(const char *name)
{
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        if (strncmp(name, starts[i], strlen(starts[i])) == 0)
            return 1;
    return 0;
}

/* ---- files ---- */

static int is_mapped(const char *pid, const char *path)
{
    char name[64], *line = NULL;
    size_t room = 0;
    int found = 0;
    snprintf(name, sizeof name, "/proc/%.20s/maps", pid);
    FILE *maps = fopen(name, "re");
    while (maps && !found && getline(&line, &room, maps) > 0)
        found = strstr(line, path) != NULL;
    free(line);
    if (maps)
        fclose(maps);
    return found;
}

static int is_open(const char *pid, const char *path)
{
    char name[64], link[64 + 256], target[512];
    int found = 0;
    snprintf(name, sizeof name, "/proc/%.20s/fd", pid);
    DIR *folder = opendir(name);
    for (struct dirent *entry; folder && !found && (entry = readdir(folder));) {
        snprintf(link, sizeof link, "%s/%s", name, entry->d_name);
        ssize_t n = readlink(link, target, sizeof target - 1);
        target[n > 0 ? n : 0] = 0;
        found = strcmp(target, path) == 0;
    }
    if (folder)
        closedir(folder);
    return found;
}

static int is_used(const char *path)
{
    DIR *folder = opendir("/proc");
    int found = !folder; /* unknown */
    for (struct dirent *entry; folder && !found && (entry = readdir(folder));)
        found = isdigit((unsigned char)entry->d_name[0]) &&
                (is_open(entry->d_name, path) || is_mapped(entry->d_name, path));
    if (folder)
        closedir(folder);
    return found;
}

static void remove_files(time_t since)
{
    char path[sizeof FOLDER + 256];
    struct stat st;
    DIR *folder = opendir(FOLDER);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        snprintf(path, sizeof path, "%s/%s", FOLDER, entry->d_name);
        if (is_native(entry->d_name) && lstat(path, &st) == 0 && S_ISREG(st.st_mode) &&
            st.st_uid == geteuid() && st.st_ctime >= since && !is_used(path))
            unlink(path);
    }
    if (folder)
        closedir(folder);
}

/* ---- segments ---- */

static void remove_segments(time_t since)
{
    struct shm_info info;
    struct shmid_ds ds;
    int last = shmctl(0, SHM_INFO, (struct shmid_ds *)(void *)&info);
    for (int i = 0; i <= last; i++) {
        int id = shmctl(i, SHM_STAT, &ds);
        if (id >= 0 && ds.shm_perm.cuid == geteuid() && ds.shm_perm.__key == IPC_PRIVATE &&
            ds.shm_nattch == 0 && ds.shm_ctime >= since && kill(ds.shm_cpid, 0) != 0)
            shmctl(id, IPC_RMID, NULL);
    }
}

void launch_leftover_remove(time_t since)
{
    remove_files(since);
    remove_segments(since);
}
