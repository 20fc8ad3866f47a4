/*
 * getopt, getopt_long and getopt_long_only with per-rank state.
 *
 * The visible variables (optind, optarg, opterr, optopt) are libc's and private data; the hidden
 * state is in struct vp_getopt. Behaviour and messages are those of GNU getopt (the manual's
 * section "Parsing program options using getopt"), because programs depend on the details.
 *
 *     argv:  [0] [ options done ] [ non-options skipped ] [ not yet seen ]
 *                                 ^ first               ^ last ... optind
 *
 * When permuting, the next step moves the options found after `last` before `first`.
 */
#include "vp/libc/libc.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum order { ORDER_PERMUTE, ORDER_STOP, ORDER_RETURN };

struct vp_getopt {
    char *next;      /* rest of the cluster of short options, or NULL */
    int first, last; /* skipped non-options: [first, last) */
    int letter;      /* optopt: what the program stores there is overwritten by the next call */
    uint8_t order;   /* enum order */
    uint8_t ready;
};

/* One call: its arguments, and whether to print. */
struct call {
    struct vp_getopt *state;
    int argc;
    char **argv;
    const char *shorts; /* without the order character */
    const struct option *longs;
    int *index;
    int only, print;
};

void libc_getopt_drop(struct vp_getopt *g)
{
    libc_free(g, sizeof *g);
}

static struct vp_getopt *getopt_state(void)
{
    struct vp_extra *x = vp_extra_get();

    if (!x->getopt) {
        x->getopt = libc_alloc(sizeof *x->getopt);
        memset(x->getopt, 0, sizeof *x->getopt);
    }
    return x->getopt;
}

static int is_option(const char *arg)
{
    return arg[0] == '-' && arg[1] != '\0';
}

/* The result for a missing argument. */
static int missing(const struct call *c)
{
    return c->shorts[0] == ':' ? ':' : '?';
}

/* ---- permutation ---- */

static void reverse(char **v, int from, int to)
{
    while (from < --to) {
        char *held = v[from];
        v[from++] = v[to];
        v[to] = held;
    }
}

/* Moves the options in [last, optind) before the non-options in [first, last). */
static void exchange(struct vp_getopt *g, char **argv)
{
    reverse(argv, g->first, g->last);
    reverse(argv, g->last, optind);
    reverse(argv, g->first, optind);
    g->first += optind - g->last;
    g->last = optind;
}

/* Moves to the next element; -1 at the end, 1 for a non-option to return, else 0. */
static int advance(const struct call *c)
{
    struct vp_getopt *g = c->state;

    if (g->last > optind) /* the program moved optind back */
        g->last = optind;
    if (g->first > optind)
        g->first = optind;
    if (g->order == ORDER_PERMUTE) {
        if (g->first != g->last && g->last != optind)
            exchange(g, c->argv);
        else if (g->last != optind)
            g->first = optind;
        while (optind < c->argc && !is_option(c->argv[optind]))
            optind++;
        g->last = optind;
    }
    if (optind != c->argc && strcmp(c->argv[optind], "--") == 0) {
        optind++;
        if (g->first != g->last && g->last != optind)
            exchange(g, c->argv);
        else if (g->first == g->last)
            g->first = optind;
        g->last = optind = c->argc;
    }
    if (optind == c->argc) {
        if (g->first != g->last)
            optind = g->first;
        return -1;
    }
    if (is_option(c->argv[optind]))
        return 0;
    if (g->order == ORDER_STOP)
        return -1;
    optarg = c->argv[optind++];
    return 1;
}

/* ---- long options ---- */

static int is_same(const struct option *a, const struct option *b)
{
    return a->has_arg == b->has_arg && a->flag == b->flag && a->val == b->val;
}

/* The first option of which `name` is a prefix; *ambiguous if it is a prefix of a different one,
 * too. */
static const struct option *find_prefix(const struct call *c, const char *name, size_t length,
                                        int *ambiguous)
{
    const struct option *found = NULL;

    *ambiguous = 0;
    for (const struct option *o = c->longs; o->name; o++) {
        if (strncmp(o->name, name, length) != 0)
            continue;
        if (!found)
            found = o;
        else if (c->only || !is_same(found, o))
            *ambiguous = 1;
    }
    return found;
}

static const struct option *find_exact(const struct call *c, const char *name, size_t length)
{
    for (const struct option *o = c->longs; o->name; o++)
        if (strncmp(o->name, name, length) == 0 && o->name[length] == '\0')
            return o;
    return NULL;
}

static int report_ambiguous(const struct call *c, const char *prefix, size_t length,
                            const struct option *first)
{
    struct vp_getopt *g = c->state;

    if (c->print) {
        fprintf(stderr, "%s: option '%s%s' is ambiguous; possibilities:", c->argv[0], prefix,
                g->next);
        for (const struct option *o = c->longs; o->name; o++)
            if (strncmp(o->name, g->next, length) == 0 &&
                (o == first || c->only || !is_same(first, o)))
                fprintf(stderr, " '%s%s'", prefix, o->name);
        fputc('\n', stderr);
    }
    g->next += strlen(g->next);
    optind++;
    optopt = 0;
    return '?';
}

static int report_unknown(const struct call *c, const char *prefix)
{
    if (c->print)
        fprintf(stderr, "%s: unrecognized option '%s%s'\n", c->argv[0], prefix, c->state->next);
    c->state->next = NULL;
    optind++;
    optopt = 0;
    return '?';
}

/* The option is known; `rest` is what follows its name: nothing or "=argument". */
static int accept_long(const struct call *c, const char *prefix, const struct option *o, char *rest)
{
    optind++;
    c->state->next = NULL;
    if (*rest && !o->has_arg) {
        if (c->print)
            fprintf(stderr, "%s: option '%s%s' doesn't allow an argument\n", c->argv[0], prefix,
                    o->name);
        optopt = o->val;
        return '?';
    }
    if (*rest) {
        optarg = rest + 1;
    } else if (o->has_arg == required_argument) {
        if (optind >= c->argc) {
            if (c->print)
                fprintf(stderr, "%s: option '%s%s' requires an argument\n", c->argv[0], prefix,
                        o->name);
            optopt = o->val;
            return missing(c);
        }
        optarg = c->argv[optind++];
    }
    if (c->index)
        *c->index = (int)(o - c->longs);
    if (!o->flag)
        return o->val;
    *o->flag = o->val;
    return 0;
}

/* state->next is at the name. -1: not a long option after all, try short ones. */
static int parse_long(const struct call *c, const char *prefix)
{
    char *name = c->state->next;
    size_t length = strcspn(name, "=");
    const struct option *o = find_exact(c, name, length);
    int ambiguous;

    if (!o) {
        o = find_prefix(c, name, length, &ambiguous);
        if (ambiguous)
            return report_ambiguous(c, prefix, length, o);
    }
    if (o)
        return accept_long(c, prefix, o, name + length);
    if (c->only && c->argv[optind][1] != '-' && strchr(c->shorts, *name))
        return -1;
    return report_unknown(c, prefix);
}

/* ---- short options ---- */

static int report_missing(const struct call *c, char letter)
{
    if (c->print)
        fprintf(stderr, "%s: option requires an argument -- '%c'\n", c->argv[0], letter);
    optopt = letter;
    return missing(c);
}

/* "-W name": the long option `name`. */
static int parse_w(const struct call *c)
{
    struct vp_getopt *g = c->state;
    struct call inner = *c;

    if (!*g->next) {
        if (optind == c->argc)
            return report_missing(c, 'W');
        g->next = c->argv[optind];
    }
    optarg = NULL;
    inner.only = 0;
    return parse_long(&inner, "-W ");
}

/* The option takes an argument: the rest of this element or, unless optional, the next one. */
static int take_argument(const struct call *c, char letter, int optional)
{
    struct vp_getopt *g = c->state;
    int result = letter;

    if (*g->next) {
        optarg = g->next;
        optind++;
    } else if (!optional) {
        if (optind == c->argc)
            result = report_missing(c, letter);
        else
            optarg = c->argv[optind++];
    }
    g->next = NULL;
    return result;
}

static int parse_short(const struct call *c)
{
    struct vp_getopt *g = c->state;
    char letter = *g->next++;
    const char *spec = strchr(c->shorts, letter);

    if (*g->next == '\0')
        optind++;
    if (!spec || letter == ':' || letter == ';') {
        if (c->print)
            fprintf(stderr, "%s: invalid option -- '%c'\n", c->argv[0], letter);
        optopt = letter;
        return '?';
    }
    if (spec[0] == 'W' && spec[1] == ';' && c->longs)
        return parse_w(c);
    if (spec[1] == ':')
        return take_argument(c, letter, spec[2] == ':');
    return letter;
}

/* ---- the functions ---- */

static void start(struct vp_getopt *g, const char *shorts, int posix)
{
    if (optind == 0)
        optind = 1;
    g->first = g->last = optind;
    g->next = NULL;
    g->order = shorts[0] == '-'                             ? ORDER_RETURN
               : shorts[0] == '+'                           ? ORDER_STOP
               : posix || getenv("POSIXLY_CORRECT") != NULL ? ORDER_STOP
                                                            : ORDER_PERMUTE;
    g->ready = 1;
}

static int parse_next(struct call *c)
{
    struct vp_getopt *g = c->state;

    if (!g->next || !*g->next) {
        int end = advance(c);
        if (end != 0)
            return end;
        char *arg = c->argv[optind];
        if (c->longs && arg[1] == '-') {
            g->next = arg + 2;
            return parse_long(c, "--");
        }
        g->next = arg + 1;
        if (c->longs && c->only && (arg[2] || !strchr(c->shorts, arg[1]))) {
            int code = parse_long(c, "-");
            if (code != -1)
                return code;
        }
    }
    return parse_short(c);
}

static int step(struct call *c, int posix)
{
    struct vp_getopt *g = c->state = getopt_state();
    int result;

    if (c->argc < 1)
        return -1;
    optarg = NULL;
    optopt = g->letter;
    if (optind == 0 || !g->ready)
        start(g, c->shorts, posix);
    if (c->shorts[0] == '-' || c->shorts[0] == '+')
        c->shorts++;
    c->print = opterr && c->shorts[0] != ':';
    result = parse_next(c);
    g->letter = optopt;
    return result;
}

VP_EXPORT int getopt(int argc, char *const argv[], const char *shorts)
{
    if (!vp_current())
        return REAL(getopt)(argc, argv, shorts);
    struct call c = {.argc = argc, .argv = (char **)argv, .shorts = shorts};
    return step(&c, 0);
}

/* The name of getopt in programs compiled for plain POSIX: it does not permute. */
int __posix_getopt(int, char *const[], const char *);
VP_EXPORT int __posix_getopt(int argc, char *const argv[], const char *shorts)
{
    if (!vp_current())
        return REAL(__posix_getopt)(argc, argv, shorts);
    struct call c = {.argc = argc, .argv = (char **)argv, .shorts = shorts};
    return step(&c, 1);
}

VP_EXPORT int getopt_long(int argc, char *const argv[], const char *shorts,
                          const struct option *longs, int *index)
{
    if (!vp_current())
        return REAL(getopt_long)(argc, argv, shorts, longs, index);
    struct call c = {.argc = argc,
                     .argv = (char **)argv,
                     .shorts = shorts,
                     .longs = longs,
                     .index = index};
    return step(&c, 0);
}

VP_EXPORT int getopt_long_only(int argc, char *const argv[], const char *shorts,
                               const struct option *longs, int *index)
{
    if (!vp_current())
        return REAL(getopt_long_only)(argc, argv, shorts, longs, index);
    struct call c = {.argc = argc,
                     .argv = (char **)argv,
                     .shorts = shorts,
                     .longs = longs,
                     .index = index,
                     .only = 1};
    return step(&c, 0);
}
