/*
 * outputs.c - checks files to be written.
 */
#include "cli/outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"

int cli_is_stdout(const char *path)
{
    return path && (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0);
}

static int refuse(const struct cli_output *o, const char *why, struct err *err)
{
    return err_set(err, ERR_SYSTEM, "%s: cannot write '%s': %s", o->option, o->path, why);
}

static int check_one(const struct cli_output *o, struct err *err)
{
    struct path_entry entry;
    struct stat st;
    if (!o->path || cli_is_stdout(o->path))
        return 0;
    int cause = path_resolve(o->path, &entry);
    if (cause == EACCES)
        return path_cannot_resolve(o->path, cause, err), err_prefix(err, "%s", o->option);
    path_close(&entry);
    if (stat(o->path, &st) == 0) {
        if (S_ISDIR(st.st_mode))
            return refuse(o, "it is a directory", err);
        return access(o->path, W_OK) == 0 ? 0 : refuse(o, strerror(errno), err);
    }
    if (errno != ENOENT)
        return refuse(o, strerror(errno), err);
    if (strlen(o->path) >= PATH_MAX)
        return refuse(o, "the name is too long", err);
    if (o->path[strlen(o->path) - 1] == '/')
        return refuse(o, "there is no such directory", err);
    cause = path_resolve(o->path, &entry);
    if (cause)
        return refuse(o, strerror(cause), err);
    cause = faccessat(entry.folder, ".", W_OK, 0) == 0 ? 0 : errno;
    path_close(&entry);
    return cause ? refuse(o, strerror(cause), err) : 0;
}

static int is_same(const char *a, const char *b)
{
    struct stat x, y;
    if (cli_is_stdout(a) || cli_is_stdout(b))
        return cli_is_stdout(a) && cli_is_stdout(b);
    if (strcmp(a, b) == 0)
        return 1;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

int cli_outputs_check(const struct cli_output *o, size_t count, struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        int rc = check_one(&o[i], err);
        if (rc)
            return rc;
        for (size_t k = 0; k < i; k++)
            if (o[i].path && o[k].path && is_same(o[i].path, o[k].path))
                return err_set(err, ERR_INPUT,
                               "%s and %s would write to the same place, '%s': give each "
                               "its own",
                               o[k].option, o[i].option, o[i].path);
    }
    return 0;
}

int cli_outputs_check_trace(const char *option, const char *path, struct err *err)
{
    const struct cli_output output = {option, path};
    struct stat st;
    if (cli_is_stdout(path))
        return err_set(err, ERR_INPUT, "%s: cannot write to standard output: give a file", option);
    int rc = check_one(&output, err);
    if (rc || !path || stat(path, &st) != 0 || S_ISREG(st.st_mode))
        return rc;
    return refuse(&output, "it is not a regular file", err);
}

int cli_outputs_check_svg(const char *option, const char *path, struct err *err)
{
    const char *slash = path ? strrchr(path, '/') : NULL, *name = slash ? slash + 1 : path;
    const char *dot = name ? strrchr(name, '.') : NULL;
    if (!dot || strcasecmp(dot, ".svg") == 0)
        return 0;
    return err_set(err, ERR_INPUT,
                   "%s: cannot write '%s': pictures are SVG: give a name that ends in .svg, "
                   "and convert it, such as by rsvg-convert or inkscape",
                   option, path);
}
