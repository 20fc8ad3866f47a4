/*
 * Replays files through a fuzz target, for builds without a fuzzer: every argument is a file or a
 * directory of files. TAP on standard output. A crash is the failure.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int count;

static void replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *data = NULL;
    size_t size = 0;
    if (!file) {
        printf("not ok %d - cannot open %s\n", ++count, path);
        exit(1);
    }
    /* grows in small steps: the block ends where the data does, so that ASan sees over-reads */
    for (;;) {
        data = realloc(data, size + 4096);
        size_t got = data ? fread(data + size, 1, 4096, file) : 0;
        size += got;
        if (got == 0)
            break;
    }
    fclose(file);
    data = realloc(data, size ? size : 1);
    LLVMFuzzerTestOneInput((const uint8_t *)data, size);
    free(data);
    const char *slash = strrchr(path, '/');
    printf("ok %d - %s\n", ++count, slash ? slash + 1 : path);
}

static void replay(const char *path)
{
    DIR *directory = opendir(path);
    struct dirent *entry;
    if (!directory) {
        replay_file(path);
        return;
    }
    while ((entry = readdir(directory)) != NULL) {
        char file[4096];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        replay_file(file);
    }
    closedir(directory);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 1; i < argc; i++)
        replay(argv[i]);
    printf("1..%d\n", count);
    return count == 0;
}
