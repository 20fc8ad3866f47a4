/*
 * machine.c - the machine of a run. The command that the user started makes it once, and passes it
 * to every process of the run as bytes in a memory file.
 */
#define _GNU_SOURCE 1
#include "cli/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sys.h"
#include "cli/collectives.h"
#include "cli/uses.h"
#include "net/net.h"
#include "net/topology/topology.h"
#include "platform/nodes.h"

#define NODES_DRAWN 16 /* if the machine has as many nodes as the ranks need */

void cli_machine_fini(struct cli_machine *m)
{
    platform_origins_fini(&m->origins);
    mem_free((void *)m->sets);
    memset(m, 0, sizeof *m);
}

void cli_machine_add(struct cli_machine *m, const char *assignments)
{
    const char **sets = mem_realloc((void *)m->sets, (m->set_count + 1) * sizeof *sets);
    sets[m->set_count++] = assignments;
    m->sets = sets;
}

/* ---- presets ---- */

static void add_dir(struct cli_preset_dirs *p, const char *text, size_t length)
{
    size_t n = p->list.count;
    p->directories = mem_realloc(p->directories, (n + 1) * sizeof *p->directories);
    p->directories[n] = mem_alloc(length + 1);
    memcpy(p->directories[n], text, length);
    p->directories[n][length] = 0;
    p->list.directories = (const char *const *)p->directories;
    p->list.count = n + 1;
}

void cli_preset_dirs_init(struct cli_preset_dirs *p)
{
    static const char *const beside[] = {"/platforms", "/../share/orrery/platforms"};
    const char *given = getenv("ORRERY_PLATFORMS");
    char self[PATH_MAX + 64];
    memset(p, 0, sizeof *p);
    for (size_t length; given && *given; given += length + (given[length] == ':')) {
        length = strcspn(given, ":");
        if (length)
            add_dir(p, given, length);
    }
    ssize_t length = readlink("/proc/self/exe", self, PATH_MAX);
    if (length <= 0)
        return;
    self[length] = 0;
    length = strrchr(self, '/') - self;
    for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
        snprintf(self + length, sizeof self - (size_t)length, "%s", beside[i]);
        add_dir(p, self, strlen(self));
    }
}

void cli_preset_dirs_fini(struct cli_preset_dirs *p)
{
    for (size_t i = 0; i < p->list.count; i++)
        mem_free(p->directories[i]);
    mem_free(p->directories);
    memset(p, 0, sizeof *p);
}

/* ---- making a machine ---- */

static int read_platform(struct cli_machine *m, struct platform *out, struct err *err)
{
    struct cli_preset_dirs dirs;
    cli_preset_dirs_init(&dirs);
    int rc = platform_read(out, &dirs.list, m->platform, &m->origins, err);
    cli_preset_dirs_fini(&dirs);
    return rc;
}

int cli_machine_make(struct cli_machine *m, struct platform *out, struct err *err)
{
    int rc = 0;
    platform_init(out);
    platform_origins_fini(&m->origins);
    platform_origins_init(&m->origins);
    if (m->platform)
        rc = read_platform(m, out, err);
    m->origins.layers++;
    for (size_t i = 0; i < m->set_count && rc == 0; i++)
        if ((rc = platform_set(out, m->sets[i], &m->origins, err)))
            err_prefix(err, "--set");
    if (rc == 0)
        rc = platform_check(out, err);
    if (rc == 0 && (rc = platform_read_files(out, err)))
        platform_origins_explain(&m->origins, err);
    if (rc)
        platform_fini(out);
    return rc;
}

/* ---- inspecting a machine ---- */

void cli_machine_explain(const struct cli_machine *m, struct err *err)
{
    if (m->origins.of)
        platform_origins_explain(&m->origins, err);
}

int cli_machine_is_sized(const struct platform *p)
{
    const struct platform_config *c = &p->config;
    return c->nodes_count || c->topo_dims.count || c->topo_down.count || c->topo_groups ||
           c->topo_routers || p->lists[PLATFORM_EDGES].count;
}

int cli_machine_topology(const struct cli_machine *m, const struct platform *p, struct topo **out,
                         struct err *err)
{
    uint64_t own = p->config.nodes_count ? p->config.nodes_count : 1;
    uint64_t nodes = cli_machine_is_sized(p) ? own : NODES_DRAWN;
    int rc = nodes > UINT32_MAX ? err_set(err, ERR_INPUT, "nodes.count: at most 2^32 - 1 nodes")
                                : topo_create(out, p, (uint32_t)nodes, err);
    if (rc)
        cli_machine_explain(m, err);
    return rc;
}

static int check_parts(const struct platform *p, struct err *err)
{
    struct platform_nodes nodes;
    struct net net;
    int rc = platform_nodes_init(&nodes, p, 1, err);
    if (rc == 0)
        rc = cli_collectives_check(p, err);
    if (rc == 0 && (rc = net_init(&net, p, 1, err)) == 0)
        net_fini(&net);
    return rc ? rc : cli_collectives_check(p, err);
}

static void add_dims(const struct platform *p, const struct topo *topo, struct cli_size *size)
{
    size_t length = 0;
    uint32_t n;
    size->dims[0] = 0;
    size->example = NODES_DRAWN;
    for (uint32_t d = 0;
         !p->config.topo_dims.count && (n = topo_grid_size(topo, d)) && length < sizeof size->dims;
         d++)
        length += (size_t)snprintf(size->dims + length, sizeof size->dims - length, "%s%u",
                                   d ? "x" : "", n);
}

int cli_machine_check(const struct cli_machine *m, const struct platform *p, struct cli_size *size,
                      struct err *err)
{
    struct topo *topo;
    int rc = check_parts(p, err);
    if (rc) {
        cli_machine_explain(m, err);
        return rc;
    }
    rc = cli_machine_topology(m, p, &topo, err);
    if (rc)
        return rc;
    size->nodes = cli_machine_is_sized(p) && !p->config.nodes_count ? topo_nodes(topo)
                                                                    : p->config.nodes_count;
    add_dims(p, topo, size);
    topo_destroy(topo);
    return 0;
}

int cli_machine_check_text(const char *file, const struct buf *text, const struct platform *meant,
                           struct err *err)
{
    struct cli_machine given = {0};
    struct cli_size size;
    struct cli_preset_dirs dirs;
    struct platform p;
    struct buf notes;
    platform_init(&p);
    platform_origins_init(&given.origins);
    cli_preset_dirs_init(&dirs);
    buf_init(&notes);
    int rc = platform_read_text(&p, &dirs.list, file, buf_str(text), text->len, &given.origins,
                                err);
    if (rc == 0)
        rc = platform_check(&p, err);
    if (rc == 0 && !platform_equal(&p, meant))
        rc = err_set(err, ERR_INPUT, "%s: a value changes when it is read again", file);
    if (rc == 0)
        rc = cli_machine_check(&given, &p, &size, err);
    if (rc == 0)
        rc = cli_uses_check(&given, &p, &notes, err);
    buf_fini(&notes);
    cli_preset_dirs_fini(&dirs);
    platform_fini(&p);
    cli_machine_fini(&given);
    return rc;
}

/* ---- passing it on ---- */

int cli_machine_share(const struct platform *p, int *fd, struct err *err)
{
    struct buf bytes;
    int file = memfd_create("orrery-machine", 0), rc = 0;
    buf_init(&bytes);
    platform_pack(p, &bytes);
    if (file < 0 || sys_write_all(file, buf_str(&bytes), bytes.len) != 0) {
        rc = err_set(err, ERR_SYSTEM, "cannot write a memory file: %s%s", strerror(errno),
                     errno == EFBIG ? "; see 'ulimit -f'" : "");
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
