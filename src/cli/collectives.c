/*
 * collectives.c - checks the names in mpi.collectives, mpi.bcast and the like before a run, and
 * lists them for help. All come from the list of algorithms, mpi/coll/coll_list.h.
 */
#include "cli/collectives.h"

#include <string.h>

#include "mpi/coll/coll_list.h"

#define WIDTH 80
#define INDENT 28

static const struct {
    const char *operation, *name;
    int needs;
} algorithms[] = {
#define ROW(operation, name, needs) {#operation, #name, needs},
    MPI_COLL_ALGORITHMS(ROW)
#undef ROW
};
#define ALGORITHMS (sizeof algorithms / sizeof algorithms[0])

static const char *const operations[] = {
#define NAME(operation) #operation,
    MPI_COLL_OPERATIONS(NAME)
#undef NAME
};

static const struct {
    const char *name, *about;
} selectors[] = {
#define ROW(name, about) {#name, about},
    MPI_COLL_SELECTORS(ROW)
#undef ROW
};
#define SELECTORS (sizeof selectors / sizeof selectors[0])

/* Settings that select algorithms, which the model does not use, and vice versa. */
static const char *const algorithm_settings[] = {
#define NAME(operation) "mpi." #operation,
    MPI_COLL_OPERATIONS(NAME)
#undef NAME
        "mpi.algorithms",
    NULL,
};
static const char *const model_settings[] = {"mpi.collective_factor", NULL};

/* Indexed by the bits of enum mpi_coll_need. */
static const char *const needs[] = {
    "a power of two of ranks",
    "an operation that commutes",
    "an item for each of the largest power of two of ranks",
    "MPI_IN_PLACE",
    "no MPI_IN_PLACE",
    "an even number of ranks",
    "several nodes, one of them with several ranks",
    "an item for each rank",
};

/* ---- checks ---- */

/* Checks that it is an algorithm of the operation; the error lists them, or the operations. */
static int check_algorithm(const char *operation, const char *name, struct err *err)
{
    struct buf names;

    buf_init(&names);
    for (size_t i = 0; i < ALGORITHMS; i++) {
        if (strcmp(algorithms[i].operation, operation))
            continue;
        if (strcmp(algorithms[i].name, name) == 0) {
            buf_fini(&names);
            return 0;
        }
        buf_addf(&names, "%s%s", names.len ? ", " : "", algorithms[i].name);
    }
    if (names.len)
        err_set(err, ERR_INPUT, "unknown algorithm '%s' of %s: expected one of: %s", name,
                operation, buf_str(&names));
    else
        err_set(err, ERR_INPUT, "unknown collective '%s': 'orrery help collectives' lists them",
                operation);
    buf_fini(&names);
    return ERR_INPUT;
}

static int check_selector(const char *name, struct err *err)
{
    struct buf names;

    buf_init(&names);
    for (size_t i = 0; i < SELECTORS; i++) {
        if (strcmp(selectors[i].name, name) == 0) {
            buf_fini(&names);
            return 0;
        }
        buf_addf(&names, "%s%s", i ? ", " : "", selectors[i].name);
    }
    err_set(err, ERR_INPUT, "mpi.collectives: unknown name '%s': expected one of: %s", name,
            buf_str(&names));
    buf_fini(&names);
    return ERR_INPUT;
}

static int check_setting(const struct platform_config *config, size_t i, struct err *err)
{
    const char *name = config->mpi_algorithm[i];

    if (strcmp(name, "auto") == 0 || check_algorithm(operations[i], name, err) == 0)
        return 0;
    return err_prefix(err, "mpi.%s", operations[i]);
}

int cli_collectives_check(const struct platform *machine, struct err *err)
{
    const struct platform_list *list = &machine->lists[PLATFORM_RULES];
    const struct platform_rule *rule = list->items;
    int rc = check_selector(machine->config.mpi_collectives, err);

    for (size_t i = 0; i < PLATFORM_COLLECTIVES && rc == 0; i++)
        rc = check_setting(&machine->config, i, err);
    for (size_t i = 0; i < list->count && rc == 0; i++) {
        rc = check_algorithm(rule[i].op, rule[i].algorithm, err);
        if (rc)
            err_prefix(err, "mpi.algorithms[%zu]", i);
    }
    return rc;
}

/* "auto", then the algorithms of the operation. */
static const char *choose_algorithm(const char *operation, unsigned i)
{
    unsigned seen = 0;

    for (size_t k = 0; k < ALGORITHMS; k++)
        if (strcmp(algorithms[k].operation, operation) == 0 && ++seen >= (i ? i : 1))
            return i ? algorithms[k].name : "auto";
    return NULL;
}

const char *cli_collectives_choice(const char *key, unsigned i)
{
    if (strcmp(key, "mpi.collectives") == 0)
        return cli_collectives_name(i);
    if (strcmp(key, "mpi.algorithms.op") == 0)
        return i < sizeof operations / sizeof operations[0] ? operations[i] : NULL;
    return strncmp(key, "mpi.", 4) == 0 ? choose_algorithm(key + 4, i) : NULL;
}

const char *cli_collectives_name(unsigned i)
{
    return i < SELECTORS ? selectors[i].name : NULL;
}

const char *const *cli_collectives_uses(unsigned i)
{
    return strcmp(selectors[i].name, "model") == 0 ? model_settings : algorithm_settings;
}

/* ---- the list ---- */

/* Appends bits as note numbers: " [2,7]". */
static void add_notes(struct buf *out, int bits)
{
    const char *before = " [";

    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
        if (bits >> i & 1) {
            buf_addf(out, "%s%zu", before, i + 1);
            before = ",";
        }
    }
    buf_adds(out, bits ? "]" : "");
}

static void list_operation(struct buf *out, const char *operation)
{
    struct buf word;
    size_t column = INDENT;

    buf_addf(out, "  mpi.%-*s", INDENT - 6, operation);
    for (size_t i = 0, any = 0; i < ALGORITHMS; i++) {
        if (strcmp(algorithms[i].operation, operation))
            continue;
        buf_init(&word);
        buf_adds(&word, algorithms[i].name);
        add_notes(&word, algorithms[i].needs);
        if (any && column + word.len + 3 > WIDTH) {
            buf_addf(out, ",\n%*s", INDENT, "");
            column = INDENT;
        } else if (any) {
            buf_adds(out, ", ");
            column += 2;
        }
        buf_adds(out, buf_str(&word));
        column += word.len;
        buf_fini(&word);
        any = 1;
    }
    buf_adds(out, "\n");
}

void cli_collectives_help(struct buf *out)
{
    buf_adds(out,
             "How collectives are carried out: --collectives NAME, or mpi.collectives=NAME\n\n");
    for (size_t i = 0; i < SELECTORS; i++)
        buf_addf(out, "  %-10s %s\n", selectors[i].name, selectors[i].about);
    buf_adds(out,
             "\nAlgorithms that a setting may ask for instead, such as --set mpi.bcast=chain;\n"
             "where one does not work the choice above applies:\n\n");
    for (size_t i = 0; i < PLATFORM_COLLECTIVES; i++)
        list_operation(out, operations[i]);
    buf_adds(out, "\nNotes:\n");
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++)
        buf_addf(out, "  [%zu] works with %s\n", i + 1, needs[i]);
}
