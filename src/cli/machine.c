/*
 * The machine of a run is made once, by the command that the user started, and handed to every process
 * of the run as bytes in a memory file.
 */
#define _GNU_SOURCE 1
#include "cli/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sys.h"

void cli_machine_fini(struct cli_machine *m)
{
    mem_free((void *)m->sets);
    memset(m, 0, sizeof *m);
}

void cli_machine_add(struct cli_machine *m, const char *assignments)
{
    const char **sets = mem_realloc((void *)m->sets, (m->set_count + 1) * sizeof *sets);
    sets[m->set_count++] = assignments;
    m->sets = sets;
}

int cli_machine_make(const struct cli_machine *m, struct platform *out, struct err *err)
{
    int rc = 0;
    platform_init(out);
    for (size_t i = 0; i < m->set_count && rc == 0; i++)
        if ((rc = platform_set(out, m->sets[i], err)))
            err_prefix(err, "--set");
    if (rc == 0)
        rc = platform_check(out, err);
    if (rc)
        platform_fini(out);
    return rc;
}

int cli_machine_share(const struct platform *p, int *fd, struct err *err)
{
    struct buf bytes;
    int file = memfd_create("orrery-machine", 0), rc = 0;
    buf_init(&bytes);
    platform_pack(p, &bytes);
    if (file < 0 || sys_write_all(file, buf_str(&bytes), bytes.len) != 0) {
        rc = err_set(err, ERR_SYSTEM, "cannot write a memory file: %s", strerror(errno));
        if (file >= 0)
            close(file);
    }
    buf_fini(&bytes);
    if (rc == 0)
        *fd = file;
    return rc;
}

int cli_machine_open(struct platform *out, const char *path)
{
    struct platform view;
    struct stat st;
    struct err err;
    int fd = open(path, O_RDONLY | O_CLOEXEC), done = 0;
    void *bytes = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0)
        bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (fd >= 0)
        close(fd);
    if (bytes == MAP_FAILED)
        return 0;
    if (platform_unpack(&view, bytes, (size_t)st.st_size, &err) == 0) {
        platform_copy(out, &view);
        done = 1;
    }
    munmap(bytes, (size_t)st.st_size);
    return done;
}
