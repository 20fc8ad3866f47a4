/*
 * The environment of each rank.
 *
 * `environ` itself is private data, so getenv stays libc's. A rank's first change copies the array
 * of pointers. From then on the variable points to the rank's own array, unless the program stores
 * another one there, which is then copied in turn.
 *
 *     extra->env -> array ---> "A=1" (shared), "B=2" (on `strings`), putenv'd (the program's)
 *
 * Strings that a rank set live until it ends: the program may hold pointers from getenv.
 */
#include "vp/libc/libc.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/mem.h"

struct env_string {
    struct env_string *next;
    char text[];
};

struct vp_env {
    char **array; /* `count` strings and a NULL */
    size_t count, cap;
    struct env_string *strings;
};

void libc_env_drop(struct vp_env *e)
{
    while (e->strings) {
        struct env_string *s = e->strings;
        e->strings = s->next;
        mem_free(s);
    }
    mem_free(e->array);
    mem_free(e);
}

/* The rank's own array, equal to `environ`, with room for one more string. */
static struct vp_env *own(void)
{
    struct vp_extra *x = vp_extra_get();
    struct vp_env *e = x->env;
    char **old = environ;

    if (!e)
        e = x->env = mem_zalloc(sizeof *e);
    for (e->count = 0; old && old[e->count]; e->count++) /* the program may have written to it */
        ;
    if (!old || old != e->array) {
        e->cap = e->count + 8;
        char **array = mem_alloc(e->cap * sizeof *array);
        if (old)
            memcpy(array, old, e->count * sizeof *array);
        mem_free(e->array);
        e->array = array;
    } else {
        ARRAY_RESERVE(e->array, e->cap, e->count + 2, 8);
    }
    e->array[e->count] = NULL;
    environ = e->array;
    return e;
}

/* Index of the variable, or count. */
static size_t find(char **array, const char *name, size_t length)
{
    size_t i = 0;

    for (; array && array[i]; i++)
        if (strncmp(array[i], name, length) == 0 && array[i][length] == '=')
            break;
    return i;
}

static void put(char *text, size_t name_length)
{
    struct vp_env *e = own();
    size_t i = find(e->array, text, name_length);

    e->array[i] = text;
    if (i == e->count)
        e->array[++e->count] = NULL;
}

static void take_out(const char *name, size_t length)
{
    struct vp_env *e = own();
    size_t kept = 0;

    for (size_t i = 0; i < e->count; i++)
        if (strncmp(e->array[i], name, length) != 0 || e->array[i][length] != '=')
            e->array[kept++] = e->array[i];
    e->count = kept;
    e->array[kept] = NULL;
}

static int is_name(const char *name)
{
    if (name && *name && !strchr(name, '='))
        return 1;
    errno = EINVAL;
    return 0;
}

VP_EXPORT int setenv(const char *name, const char *value, int overwrite)
{
    if (!vp_current())
        return REAL(setenv)(name, value, overwrite);
    if (!is_name(name))
        return -1;
    size_t length = strlen(name), value_length = strlen(value);
    if (!overwrite && environ && environ[find(environ, name, length)])
        return 0;
    struct env_string *s = mem_alloc(sizeof *s + length + value_length + 2);
    memcpy(s->text, name, length);
    s->text[length] = '=';
    memcpy(s->text + length + 1, value, value_length + 1);
    put(s->text, length);
    struct vp_env *e = vp_extra_get()->env;
    s->next = e->strings;
    e->strings = s;
    return 0;
}

VP_EXPORT int unsetenv(const char *name)
{
    if (!vp_current())
        return REAL(unsetenv)(name);
    if (!is_name(name))
        return -1;
    size_t length = strlen(name);
    if (environ && environ[find(environ, name, length)])
        take_out(name, length);
    return 0;
}

VP_EXPORT int putenv(char *text)
{
    if (!vp_current())
        return REAL(putenv)(text);
    const char *equals = strchr(text, '=');
    if (equals)
        put(text, (size_t)(equals - text));
    else
        return unsetenv(text);
    return 0;
}

VP_EXPORT int clearenv(void)
{
    if (!vp_current())
        return REAL(clearenv)();
    environ = NULL;
    return 0;
}
