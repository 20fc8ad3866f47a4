/*
 * Working directory, umask and locale of each rank.
 *
 * While a rank runs, the process has the rank's values (vp_extra_switch sets them), so all other
 * functions (open, getcwd, printf, strtod ...) stay libc's. Directories are kept as O_PATH
 * descriptors, one per distinct directory, shared by the ranks in it.
 *
 * setlocale would change the locale of all ranks. Instead a rank gets a locale object made by
 * newlocale, whose names answer queries. Objects that a program sets with uselocale remain the
 * program's.
 */
#include "vp/libc/libc.h"

#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/sys.h"

/* ---- directory ---- */

struct cwd {
    dev_t device;
    ino_t inode;
    int fd;
    unsigned refs;
};
static struct cwd *cwds; /* as many as there were directories in use at one time */
static size_t cwd_count;

/* A descriptor of the process's current directory, with one more reference; -1 with errno. */
static int cwd_ref(void)
{
    struct cwd *free_slot = NULL;
    struct stat st;
    int fd = sys_open(".", O_PATH | O_DIRECTORY, 0);

    if (fd < 0 || fstat(fd, &st) != 0)
        return -1;
    for (size_t i = 0; i < cwd_count; i++) {
        struct cwd *c = &cwds[i];
        if (c->refs == 0) {
            free_slot = c;
        } else if (c->device == st.st_dev && c->inode == st.st_ino) {
            sys_close(fd);
            c->refs++;
            return c->fd;
        }
    }
    if (!free_slot) {
        cwds = mem_realloc(cwds, (cwd_count + 1) * sizeof *cwds);
        free_slot = &cwds[cwd_count++];
    }
    *free_slot = (struct cwd){st.st_dev, st.st_ino, fd, 1};
    return fd;
}

void libc_cwd_unref(int fd)
{
    for (size_t i = 0; i < cwd_count; i++)
        if (cwds[i].refs > 0 && cwds[i].fd == fd && --cwds[i].refs == 0)
            sys_close(fd);
}

/* Called before the first rank changes its directory: remembers the initial one. */
static int keep_base_cwd(void)
{
    if (libc_process.base_cwd < 0)
        libc_process.base_cwd = sys_open(".", O_PATH | O_DIRECTORY, 0);
    return libc_process.base_cwd < 0 ? -1 : 0;
}

/* The process has changed to the rank's new directory: records it, or changes back and fails. */
static int moved(void)
{
    struct vp_extra *x = vp_extra_get();
    int fd = cwd_ref(), saved;

    if (fd < 0) {
        saved = errno;
        if (REAL(fchdir)(x->cwd_fd < 0 ? libc_process.base_cwd : x->cwd_fd) != 0)
            saved = errno;
        errno = saved;
        return -1;
    }
    if (x->cwd_fd >= 0)
        libc_cwd_unref(x->cwd_fd);
    x->cwd_fd = libc_process.cwd_fd = fd;
    return 0;
}

VP_EXPORT int chdir(const char *path)
{
    if (!vp_current_sharing())
        return REAL(chdir)(path);
    if (keep_base_cwd() != 0 || REAL(chdir)(path) != 0)
        return -1;
    return moved();
}

VP_EXPORT int fchdir(int fd)
{
    if (!vp_current_sharing())
        return REAL(fchdir)(fd);
    if (keep_base_cwd() != 0 || REAL(fchdir)(fd) != 0)
        return -1;
    return moved();
}

VP_EXPORT mode_t umask(mode_t mask)
{
    if (!vp_current_sharing())
        return REAL(umask)(mask);
    struct vp_extra *x = vp_extra_get();
    mode_t old = REAL(umask)(mask);
    if (x->umask < 0)
        libc_process.base_umask = (int)old;
    x->umask = libc_process.umask = (int)(mask & 0777);
    return old;
}

/* ---- locale ---- */

static const struct {
    int category, mask;
    const char *name;
} categories[] = {
    /* the order of categories in glibc's name of a mixed locale */
    {LC_CTYPE, LC_CTYPE_MASK, "LC_CTYPE"},
    {LC_NUMERIC, LC_NUMERIC_MASK, "LC_NUMERIC"},
    {LC_TIME, LC_TIME_MASK, "LC_TIME"},
    {LC_COLLATE, LC_COLLATE_MASK, "LC_COLLATE"},
    {LC_MONETARY, LC_MONETARY_MASK, "LC_MONETARY"},
    {LC_MESSAGES, LC_MESSAGES_MASK, "LC_MESSAGES"},
    {LC_PAPER, LC_PAPER_MASK, "LC_PAPER"},
    {LC_NAME, LC_NAME_MASK, "LC_NAME"},
    {LC_ADDRESS, LC_ADDRESS_MASK, "LC_ADDRESS"},
    {LC_TELEPHONE, LC_TELEPHONE_MASK, "LC_TELEPHONE"},
    {LC_MEASUREMENT, LC_MEASUREMENT_MASK, "LC_MEASUREMENT"},
    {LC_IDENTIFICATION, LC_IDENTIFICATION_MASK, "LC_IDENTIFICATION"},
};
enum { CATEGORIES = sizeof categories / sizeof categories[0] };

/* Keeps one copy of each distinct name until the process ends: callers keep the pointers. */
static char *intern(const char *name)
{
    static struct interned {
        struct interned *next;
        char text[];
    } * all;

    for (struct interned *i = all; i; i = i->next)
        if (strcmp(i->text, name) == 0)
            return i->text;
    struct interned *i = mem_alloc(sizeof *i + strlen(name) + 1);
    strcpy(i->text, name);
    i->next = all;
    all = i;
    return i->text;
}

static const char *name_of(locale_t locale, int category)
{
    return nl_langinfo_l(NL_LOCALE_NAME(category), locale);
}

static char *whole_name(locale_t locale)
{
    const char *first = name_of(locale, LC_CTYPE);
    struct buf text;
    int mixed = 0;

    for (int i = 0; i < CATEGORIES; i++)
        mixed |= strcmp(name_of(locale, categories[i].category), first) != 0;
    if (!mixed)
        return intern(first);
    buf_init(&text);
    for (int i = 0; i < CATEGORIES; i++)
        buf_addf(&text, "%s%s=%s", i ? ";" : "", categories[i].name,
                 name_of(locale, categories[i].category));
    char *name = intern(buf_str(&text));
    buf_fini(&text);
    return name;
}

static char *query(locale_t locale, int category)
{
    return category == LC_ALL ? whole_name(locale) : intern(name_of(locale, category));
}

static int mask_of(int category)
{
    for (int i = 0; i < CATEGORIES; i++)
        if (categories[i].category == category)
            return categories[i].mask;
    return category == LC_ALL ? LC_ALL_MASK : 0;
}

/* Makes the rank's functions use its locale from now on. */
static void apply_locale(struct libc_extra *x)
{
    x->pub.locale = x->thread_locale ? x->thread_locale : x->global_locale;
    libc_process.locale = x->pub.locale;
    REAL(uselocale)(x->pub.locale ? x->pub.locale : LC_GLOBAL_LOCALE);
}

VP_EXPORT char *setlocale(int category, const char *name)
{
    struct vp_rank *f = vp_current_sharing();

    if (!f)
        return REAL(setlocale)(category, name);
    int mask = mask_of(category);
    if (!mask) {
        errno = EINVAL;
        return NULL;
    }
    locale_t before = f->extra ? libc_extra_of(f->extra)->global_locale : NULL;
    if (!name)
        return before ? query(before, category) : REAL(setlocale)(category, NULL);
    locale_t base = duplocale(before ? before : LC_GLOBAL_LOCALE);
    locale_t made = base ? newlocale(mask, name, base) : NULL;
    if (!made) {
        if (base)
            freelocale(base);
        return NULL;
    }
    struct libc_extra *x = libc_extra_of(vp_extra_get());
    x->global_locale = made;
    apply_locale(x);
    if (before)
        freelocale(before);
    return query(made, category);
}

/* The language runtimes set a locale and restore the old one within one call that does not switch.
 * That needs no record, and so no memory for every rank that prints. */
VP_EXPORT locale_t uselocale(locale_t locale)
{
    struct vp_rank *f = vp_current_sharing();

    if (!f || libc_from_runtime(__builtin_return_address(0)))
        return REAL(uselocale)(locale);
    locale_t before = f->extra ? libc_extra_of(f->extra)->thread_locale : NULL;
    if (locale) {
        struct libc_extra *x = libc_extra_of(vp_extra_get());
        x->thread_locale = locale == LC_GLOBAL_LOCALE ? NULL : locale;
        apply_locale(x);
    }
    return before ? before : LC_GLOBAL_LOCALE;
}
ALIAS(__uselocale, uselocale);
